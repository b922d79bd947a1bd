"""Simulated streams to test a sampler.

`air_quality_stream` resembles a year of air quality data. No sampler can follow
`adversarial_stream`; `streaming_lower_bound` says how far behind every sampler is.

References
----------
.. [1] Nguyen, Shih, Srivastava, Tirthapura & Xu, Stratified random sampling from streaming and
   stored data, EDBT 2019: section 6.2 and theorem 4.
"""

import numpy as np
from numpy import ndarray
from numpy.random import Generator

from workbench import checks

# beginning and end of a period as proportions of the year, and the number of strata that appear
# then: at the start, in March, from April to October, in November and in December
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
    records: int = 310_000, *, rng: int | Generator = 0
) -> tuple[ndarray, ndarray]:
    """Simulate a year of air quality data with 177 strata, a synthetic stand-in for OpenAQ.

    Use it to test a sampler on a stream in which strata appear over time and rare strata vary more.

    Parameters
    ----------
    records : int, default 310_000
        Number of records, at least 1,000. The default is 1% of the paper's 31 million.
    rng : int or numpy.random.Generator, default 0
        Seed or generator.

    Returns
    -------
    stratum : (records,) array of int
        Stratum of each record, from 0 to 176 in order of appearance.
    values : (records,) array of float
        Value of each record.

    See Also
    --------
    jump_stream : Simulate a stream in which one stratum suddenly varies more.
    simulate_stream : Sample from streams by several methods.

    Notes
    -----
    The paper [1]_ reports 177 strata at the end and 60 at the start. Many new strata appear in
    March, November and December. The rest is assumed here:

    - A stratum is a country and a kind of measurement. Its frequency is lognormal (sigma 1.6).
    - The values of a stratum are lognormal (sigma 0.8), so they have a heavy tail.
    - The scale of the values is larger in rare strata: the frequency to the power -0.85, times a
      lognormal factor (sigma 1.2). This makes some strata so variable that the best allocation
      takes all of their records.
    - A season raises and lowers the values by a half.

    References
    ----------
    .. [1] Nguyen et al., Stratified random sampling from streaming and stored data, EDBT 2019,
       section 6.2.

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


def adversarial_stream(strata: int, copies: int) -> tuple[ndarray, ndarray]:
    """Make a stream that no sampler can follow.

    The last record makes the first stratum vary, when it is too late to sample more of it. The
    proof of theorem 4 of [1]_ uses this stream.

    Parameters
    ----------
    strata : int
        Number of strata r, at least 3.
    copies : int
        Number of records per stratum before the last record, alpha, at least 3.

    Returns
    -------
    stratum : (strata * copies + 1,) array of int
        Stratum of each record, from 1 to `strata`.
    values : (strata * copies + 1,) array of float
        Value of each record.

    See Also
    --------
    streaming_lower_bound : Compute the bound of the theorem.
    simulate_stream : Sample from streams by several methods.

    Notes
    -----
    The strata take turns. Stratum i has one record of value i + 1 / (strata - 1) and copies - 1
    records of value i. The last record is of the first stratum and has the value
    2 - 1 / (strata - 1).

    References
    ----------
    .. [1] Nguyen et al., Stratified random sampling from streaming and stored data, EDBT 2019,
       section 5.1.

    Examples
    --------
    >>> stratum, values = adversarial_stream(3, 3)
    >>> stratum.tolist(), values.tolist()
    ([1, 2, 3, 1, 2, 3, 1, 2, 3, 1], [1.5, 2.5, 3.5, 1.0, 2.0, 3.0, 1.0, 2.0, 3.0, 1.5])
    """
    strata = checks.whole("strata", strata, 3)
    copies = checks.whole("copies", copies, LEAST_COPIES)
    step = 1 / (strata - 1)
    stratum = np.append(np.tile(np.arange(1, strata + 1), copies), 1)
    values = stratum.astype(float)
    values[:strata] += step
    values[-1] = 2 - step
    return stratum, values


def streaming_lower_bound(strata: int, copies: int, budget: int) -> float:
    """Compute the smallest variance ratio that a streaming sampler can reach on the worst stream.

    The ratio compares the variance V of any streaming sampler on `adversarial_stream` with the
    variance V* of the best allocation, by theorem 4 of [1]_.

    Parameters
    ----------
    strata : int
        Number of strata r, as in `adversarial_stream`.
    copies : int
        Number of records per stratum alpha, as in `adversarial_stream`.
    budget : int
        Size of the sample M, above `strata`.

    Returns
    -------
    float
        Lower bound of V / V*.

    See Also
    --------
    adversarial_stream : Make the stream of the theorem.
    simulate_stream : Sample from streams by several methods.

    Notes
    -----
    The sampler has at most M / r + 1 records of the stratum that varies in the end. The
    inequalities of the proof then give

        V / V* >= (alpha / 4 / (M / r + 1) + (alpha - 1) / M) / ((6 alpha - 3) / M),

    which is about r / 24 if M is much larger than r. The bound holds if every stratum has as many
    records as the best allocation needs. With alpha >= M this is always so.

    References
    ----------
    .. [1] Nguyen et al., Stratified random sampling from streaming and stored data, EDBT 2019,
       theorem 4.

    Examples
    --------
    >>> round(streaming_lower_bound(100, 10_000, 10_000), 2)
    4.29
    """
    strata = checks.whole("strata", strata, 3)
    copies = checks.whole("copies", copies, LEAST_COPIES)
    budget = checks.whole("budget", budget, strata + 1)
    return (copies / 4 / (budget / strata + 1) + (copies - 1) / budget) / (
        (6 * copies - 3) / budget
    )
