"""Streams to send through a sampler: one like a year of air quality, and the one that no sampler can follow.

References
----------
.. [1] Nguyen, Shih, Srivastava, Tirthapura & Xu, Stratified random sampling from streaming and stored data, EDBT 2019:
   section 6.2 and theorem 4.
"""

import numpy as np

from workbench import checks

# of the year's start, March, April to October, November and December: shares of the strata that appear
APPEAR = (
    (0.0, 0.0, 60),
    (2 / 12, 2.5 / 12, 50),
    (3 / 12, 10 / 12, 27),
    (10 / 12, 10.5 / 12, 30),
    (11 / 12, 1.0, 10),
)
STRATA = sum(count for _, _, count in APPEAR)
LEAST_COPIES = 3
FREQUENCY, SCALE, WITHIN, RARER_VARIES_MORE = 1.6, 1.2, 0.8, 0.85


def air_quality_stream(
    records: int = 310_000, *, rng: int | np.random.Generator = 0
) -> tuple[np.ndarray, np.ndarray]:
    """Simulate a year of measurements with 177 strata, a twin of the OpenAQ data of [1]_.

    As printed there: 177 strata at the end, 60 at the start, many new ones in March, November and December. Assumed
    here: a stratum is a country and a kind of measurement, with a lognormal frequency (sigma 1.6); its values are
    lognormal (sigma 0.8), a heavy tail, times a scale that is larger where the stratum is rarer (frequency to the power
    -0.85, times a lognormal factor, sigma 1.2), which makes some strata bounded, times a season of a half up and down.

    Parameters
    ----------
    records : int
        At least 1,000; a hundredth of the paper's 31 million by default.
    rng : int or numpy.random.Generator

    Returns
    -------
    stratum : (records,) array of int
        0 .. 176, in order of appearance.
    values : (records,) array of float

    References
    ----------
    .. [1] Nguyen et al., Stratified random sampling from streaming and stored data, EDBT 2019, section 6.2.

    Examples
    --------
    >>> stratum, values = air_quality_stream(31_000)
    >>> len(set(stratum[:2500].tolist())) <= 60, stratum.max() > 150, values.min() > 0
    (True, np.True_, np.True_)
    """
    records, rng = checks.whole("records", records, 1000), checks.generator(rng)
    start = np.sort(np.concatenate([rng.uniform(low, high, count) for low, high, count in APPEAR]))
    weight = np.exp(rng.normal(0, FREQUENCY, STRATA))
    scale = weight**-RARER_VARIES_MORE * np.exp(rng.normal(0, SCALE, STRATA))
    phase = rng.uniform(0, 1, STRATA)
    order = np.arange(STRATA)
    bounds = np.append(
        np.maximum.accumulate(np.floor(start * (records - STRATA)).astype(int) - order) + order,
        records,
    )
    stratum = np.empty(records, np.int64)
    for seen, (low, high) in enumerate(zip(bounds[:-1], bounds[1:], strict=True), 1):
        if high > low:
            active = weight[:seen].cumsum()
            stratum[low:high] = np.searchsorted(
                active, rng.random(high - low) * active[-1], side="right"
            )
    stratum[bounds[:-1]] = order
    season = 1 + 0.5 * np.sin(2 * np.pi * (np.arange(records) / records + phase[stratum]))
    return stratum, scale[stratum] * season * np.exp(rng.normal(0, WITHIN, records))


def adversarial_stream(strata: int, copies: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the stream of the proof of theorem 4 of [1]_: one record that makes a stratum vary, too late.

    Each stratum i has copies - 1 records of value i and one of i + 1 / (strata - 1), in turn; then comes one record of
    2 - 1 / (strata - 1) in the first stratum.

    Parameters
    ----------
    strata : int
        r, at least 3.
    copies : int
        alpha, records per stratum before the last one, at least 3.

    Returns
    -------
    stratum : (strata * copies + 1,) array of int
        1 .. strata.
    values : (strata * copies + 1,) array of float

    References
    ----------
    .. [1] Nguyen et al., Stratified random sampling from streaming and stored data, EDBT 2019, section 5.1.

    Examples
    --------
    >>> stratum, values = adversarial_stream(3, 3)
    >>> stratum.tolist(), values.tolist()
    ([1, 2, 3, 1, 2, 3, 1, 2, 3, 1], [1.5, 2.5, 3.5, 1.0, 2.0, 3.0, 1.0, 2.0, 3.0, 1.5])
    """
    strata, copies = checks.whole("strata", strata, 3), checks.whole("copies", copies, LEAST_COPIES)
    step = 1 / (strata - 1)
    stratum = np.append(np.tile(np.arange(1, strata + 1), copies), 1)
    values = stratum.astype(float)
    values[:strata] += step
    values[-1] = 2 - step
    return stratum, values


def streaming_lower_bound(strata: int, copies: int, budget: int) -> float:
    """Return the least ratio of variances that theorem 4 of [1]_ leaves a streaming sampler, V / V*.

    The proof's own inequalities: with at most M / r + 1 records of the stratum that turns out to vary,
    V / V* >= (alpha / 4 / (M / r + 1) + (alpha - 1) / M) / ((6 alpha - 3) / M), about r / 24 where M is much larger
    than r. It holds where every stratum has the records that the best allocation wants: alpha >= M, to be safe.

    Parameters
    ----------
    strata, copies
        As in `adversarial_stream`.
    budget : int
        M, more than strata.

    Returns
    -------
    float

    References
    ----------
    .. [1] Nguyen et al., Stratified random sampling from streaming and stored data, EDBT 2019, theorem 4.

    Examples
    --------
    >>> round(streaming_lower_bound(100, 10_000, 10_000), 2)
    4.29
    """
    strata, copies = checks.whole("strata", strata, 3), checks.whole("copies", copies, LEAST_COPIES)
    budget = checks.whole("budget", budget, strata + 1)
    return (copies / 4 / (budget / strata + 1) + (copies - 1) / budget) / (
        (6 * copies - 3) / budget
    )
