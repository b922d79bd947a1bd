import json
import math

import numpy as np
import pytest
from oracles import value_interval as oracle
from refusals import refused
from scipy import optimize, stats

import workbench as wb
from workbench.allocation.streams.estimates import UNBOUNDED
from workbench.allocation.streams.sampler import StreamSampler
from workbench.intervals.limits import unskewed


def sampler_of(stratum, value, budget, seed, parts=1, minimum=2):
    """One sampler, or the merge of one per part of the stream, in minibatches of 250."""
    samplers = []
    for part, rows in enumerate(np.array_split(np.arange(value.size), parts)):
        samplers.append(StreamSampler(budget, minimum=minimum, rng=10 * seed + part))
        for start in range(0, rows.size, 250):
            batch = rows[start : start + 250]
            samplers[-1].update(stratum[batch], value[batch])
    first, *others = samplers
    for other in others:
        first.merge(other)
    return first


def trending(kind, seed=0, records=4000, strata=8):
    """Strata of unequal frequency whose values grow over time."""
    rng = np.random.default_rng(seed)
    frequency = np.exp(np.linspace(0, 1.5, strata))
    stratum = rng.choice(strata, records, p=frequency / frequency.sum())
    time = np.arange(records) / records
    if kind == "lognormal":
        return stratum, np.exp(2 * rng.standard_normal(records)) * (1 + time)
    if kind == "normal":
        return stratum, rng.normal(stratum, 1 + stratum / 2) * (1 + time)
    rate = kind * (0.2 + 1.6 * stratum / (strata - 1)) * (0.5 + time)
    return stratum, (rng.random(records) < rate).astype(float)


def table(found, values):
    """Counts per stratum and value of what was sampled."""
    parts = np.split(found.values, found.sampled.cumsum()[:-1])
    return np.array([[np.count_nonzero(part == value) for value in values] for part in parts])


# values with stated bounds


@pytest.mark.parametrize("parts", [1, 3])
@pytest.mark.parametrize("rate", [0.02, 0.3])
def test_with_bounds_0_and_1_it_is_the_default_interval_of_the_final_sizes(rate, parts):
    sampler = sampler_of(*trending(rate), 90, 1, parts)
    found = StreamSampler.from_dict(json.loads(json.dumps(sampler.to_dict()))).estimate()
    for level in (0.8, 0.95):
        expected = wb.stratified_interval(
            found.size, found.sampled, table(found, [0, 1])[:, 1], level=level
        )
        interval = wb.Result.from_dict(found.to_dict()).interval(level, bounds=(0, 1))
        # anything between the bounds is possible: up to an item longer than where only 0 and 1 are
        assert (
            0 <= expected.low - interval.low < 1 / found.size.sum()
            or interval.low == expected.low == 0
        )
        assert 0 <= interval.high - expected.high < 1 / found.size.sum()
        assert (interval.level, interval.method) == (level, "default")
        assert interval.limiting_stratum == expected.limiting_stratum


@pytest.mark.parametrize("step, bounds", [(3, (0, 1)), (3, (-1, 2)), (7, (0, 3)), (1, (0, 2))])
def test_with_bounds_it_is_the_interval_for_values_with_the_bounds_declared(step, bounds):
    stratum, _ = trending(0.3)
    value = np.random.default_rng(2).integers(0, step + 1, stratum.size) / step
    found = sampler_of(stratum, value, 70, 5, 3).estimate()
    parts = np.split(found.values, found.sampled.cumsum()[:-1])
    strata = [(size, part.tolist(), *bounds) for size, part in zip(found.size, parts, strict=True)]
    low, high = oracle.limits(strata)
    item = (bounds[1] - bounds[0]) / found.size.sum()
    interval = found.interval(bounds=bounds)
    assert (interval.bounded or tuple(interval)) == pytest.approx(
        (max(low - item, bounds[0]), high + item), abs=1e-9
    )
    low, high = oracle.limits(strata, upper=oracle.default_upper_limit)
    assert -1e-9 < low - interval.low < item + 1e-9 and -1e-9 < interval.high - high < item + 1e-9


def test_nothing_is_concluded_from_the_values_that_were_drawn():
    """Only 0 and 1 were drawn, and the stream may hold 7."""
    found = sampler_of(*trending(0.02), 90, 1).estimate()
    assert set(found.values) == {0, 1}
    assert found.interval(bounds=(0, 7)).high > found.interval(bounds=(0, 1)).high + 0.1
    assert "may be too short" in found.interval().notes[0].text


def test_a_stream_that_is_kept_completely_has_its_mean_as_interval():
    found = StreamSampler(10).update(["a", "a", "b"], [1, 0, 1]).estimate()
    assert tuple(found.interval(bounds=(0, 1))) == pytest.approx((2 / 3, 2 / 3))
    assert tuple(found.interval()) == pytest.approx((2 / 3, 2 / 3))


def test_few_records_and_the_stratum_that_decides_are_noted():
    sampler = StreamSampler(18, rng=3).update(
        ["quiet"] * 900 + ["wild"] * 100, [0] * 900 + [0, 1] * 50
    )
    found = sampler.estimate()
    assert found.sampled.tolist() == [2, 16]
    assert found.interval(bounds=(0, 1)).limiting_stratum == 0
    assert found.interval(bounds=(0, 1)).notes == (
        wb.Note(
            "unreliable", "only 18 records: the default interval was only checked with 20 or more"
        ),
        wb.Note(
            "design",
            "alone decides a limit: it holds 90.0% of the records but 11.1% of the sample; a larger "
            "minimum would help most",
            ("stratum", "quiet"),
        ),
    )
    numbered = (
        StreamSampler(18, rng=3).update([4] * 900 + [0] * 100, [0] * 900 + [0, 1] * 50).estimate()
    )
    assert str(numbered.interval(bounds=(0, 1)).notes[1]).startswith(
        "stratum 4: alone decides a limit"
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    "rate, parts, budget", [(0.015, 1, 80), (0.015, 4, 80), (0.3, 4, 80), (0.05, 4, 320)]
)
@pytest.mark.slow
def test_the_interval_for_right_and_wrong_covers_where_two_standard_errors_do_not(
    rate, parts, budget
):
    """Trends and merges of 4: 400 sets of keys, the stream fixed. Two standard errors cover .73 to .93."""
    stratum, value = trending(rate)
    hits = []
    for seed in range(400):
        found = sampler_of(stratum, value, budget, seed, parts).estimate()
        low, high = found.interval(bounds=(0, 1))
        hits.append(
            (
                low <= value.mean() <= high,
                abs(found.estimate - value.mean()) <= 2 * found.standard_error,
            )
        )
    covered, plain = np.mean(hits, 0)
    assert covered >= 0.95 - 3 * math.sqrt(0.95 * 0.05 / 400)
    assert plain < covered


@pytest.mark.slow
def test_lognormal_values_with_a_bound_are_covered():
    """Two standard errors cover about .7; bounds that hold the largest record make the interval wide, and right."""
    stratum, value = trending("lognormal")
    found = [sampler_of(stratum, value, 80, seed).estimate() for seed in range(200)]
    intervals = [each.interval(bounds=(0, value.max())) for each in found]
    assert np.mean([value.mean() in interval for interval in intervals]) >= 0.9
    bounded = [interval.bounded or tuple(interval) for interval in intervals]
    assert np.mean([low <= value.mean() <= high for low, high in bounded]) >= 0.95
    warned = [
        any("may be too short" in note.text for note in each.interval().notes) for each in found
    ]
    assert np.mean(warned) > 0.8  # two records of a stratum are few


# values without bounds


@pytest.mark.parametrize(("kind", "budget"), [("normal", 160), ("lognormal", 1_000)])
def test_without_bounds_it_is_the_union_of_two_intervals(kind, budget):
    """Satterthwaite's t and Hall's, a root of his transformation; third moments by scipy, without replacement f^1.5."""
    stratum, value = trending(kind)
    found = sampler_of(stratum, value, budget, 1, minimum=5).estimate()
    terms, df, third = [], 0, 0
    for h, n in zip(found.stratum, found.sampled, strict=True):
        place = found.stratum.index(h)
        y = found.values[found.sampled[:place].sum() :][:n]
        count = np.count_nonzero(stratum == h)
        terms.append((count / 4000) ** 2 * (1 - n / count) * y.var(ddof=1) / n)
        df += terms[-1] ** 2 / (n - 1)
        third += (count / 4000) ** 3 * (1 - n / count) ** 1.5 * stats.kstat(y, 3) / n**2
    x, error, skew = (
        stats.t.ppf(0.95, sum(terms) ** 2 / df),
        math.sqrt(sum(terms)),
        third / sum(terms) ** 1.5,
    )
    roots = [
        optimize.brentq(
            lambda t, x=end: t + skew * t**2 / 3 + skew**2 * t**3 / 27 + skew / 6 - x, -99, 99
        )
        for end in (x, -x)
    ]
    interval = found.interval(0.9)
    assert tuple(interval) == pytest.approx(
        (found.estimate - error * max(x, roots[0]), found.estimate - error * min(-x, roots[1])),
        rel=1e-9,
    )
    assert interval.method == "t" and interval.notes == (UNBOUNDED,)
    assert (
        interval.half_width > 1.05 * x * error
        if kind == "lognormal"
        else interval.half_width < 1.02 * x * error
    )


@pytest.mark.parametrize("x", [-4, -1, 0.01, 1, 4])
@pytest.mark.parametrize("skewness", [-2, -0.1, 0.1, 2])
def test_halls_transformation_of_its_inverse_is_what_it_was(x, skewness):
    t = unskewed(x, skewness)
    back = t + skewness * t**2 / 3 + skewness**2 * t**3 / 27 + skewness / 6
    assert back == pytest.approx(x, abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["normal", "lognormal", 0.015])
def test_streams_without_bounds_are_seldom_wrong_without_a_warning(kind):
    """With .015 most samples hold a stratum without an error, whose interval is too short."""
    stratum, value = trending(kind)
    intervals = [
        sampler_of(stratum, value, 80, seed, 4, minimum=5).estimate().interval()
        for seed in range(250)
    ]
    warned = np.array(
        [any(note.kind in ("unreliable", "refused") for note in each.notes) for each in intervals]
    )
    wrong = np.array([value.mean() not in each for each in intervals])
    assert np.mean(wrong & ~warned) < 0.1 + 2 * (0.09 / 250) ** 0.5
    assert warned.mean() < 0.05 if kind == "normal" else warned.mean() > 0.5


# errors


@pytest.mark.parametrize(
    ("bounds", "rule", "told"),
    [
        ((0, 1), "must include every value; 9 lies outside 0 to 1", ""),
        ((9, 0), "must be the smallest and the largest value", "got 9 and 0"),
        ([9], "must have 2 entries", "got 1"),
        ((0, math.inf), "must be finite", "entry 1 is inf"),
    ],
)
def test_the_exact_errors_of_bounds(bounds, rule, told):
    found = StreamSampler(9).update(["a"] * 3, [0, 9, 0.5]).estimate()
    refused(lambda: found.interval(bounds=bounds), "bounds", rule, told)


@pytest.mark.parametrize("bounds", [None, (0, 9)])
def test_one_sampled_record_of_several_and_estimates_without_values_are_refused(bounds):
    found = (
        StreamSampler(4, minimum=1, rng=1)
        .update(["a"] * 50 + ["b"] * 50, [1.0, 9.0] * 25 + [3.0] * 50)
        .estimate()
    )
    assert found.sampled.tolist() == [3, 1]
    few = "needs at least two sampled records of every stratum; stratum 'b' has 1 of 50. Choose min"
    refused(lambda: found.interval(bounds=bounds), "interval", few)
    saved = StreamSampler(9).update(["a"] * 3, [0, 9, 0.5]).estimate().to_dict()
    del saved["values"]["values"]
    found, none = (
        wb.Result.from_dict(saved),
        "needs the sampled values, but this estimate was saved",
    )
    refused(lambda: found.interval(bounds=bounds), "interval", none)
