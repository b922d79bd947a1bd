"""Intervals of graded values and of clusters are continuous, nested, equivariant and never of zero width."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import workbench as wb

HUGE = 10**15  # items of a stratum whose means leave nothing to round
STEP = 1e-9
KINDS = ["graded", "few values", "nearly alike", "alike but one", "two values"]


def random_values(kind, size, rng):
    """Return values from 0 to 1."""
    if kind == "graded":
        return rng.beta(*rng.uniform(0.3, 4, 2), size)
    if kind == "few values":
        return rng.integers(0, rng.integers(2, 7), size) / 6
    if kind == "nearly alike":
        return 0.5 + rng.choice([1e-9, 1e-6, 1e-3]) * rng.normal(size=size)
    if kind == "alike but one":
        values = np.full(size, rng.choice([0, 0.3, 1.0]))
        values[0] = rng.random()
        return values
    values = (rng.random(size) < rng.random()).astype(float)
    values[0] = rng.choice([0, 1.0, rng.random()])
    return values


@st.composite
def samples(draw, kinds=KINDS):
    """Return values, the strata of half of the samples, their clusters of unequal sizes, and a generator."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    size = draw(st.integers(4, 60))
    values = random_values(draw(st.sampled_from(kinds)), size, rng)
    clusters = draw(st.integers(2, min(size, 20)))
    cluster = np.concatenate([np.arange(clusters), rng.integers(0, clusters, size - clusters)])
    arrangement = draw(
        st.sampled_from(["unequal clusters", "equal clusters", "clusters that are alike"])
    )
    if arrangement == "equal clusters":
        cluster = np.sort(np.arange(size) % clusters)
    if arrangement == "clusters that are alike":
        cluster = np.append(np.arange(size) // 3, [0, 0, 0])
        values = np.resize(values[:3], cluster.size)
    return values, cluster, rng


def value_limits(values, cluster, level=0.95, method="default"):
    """Limits of one stratum, or of three of unequal sizes where there are enough values."""
    possible = np.unique([*values, 0, 1])
    strata = np.array_split(values, 3 if values.size >= 12 and cluster[-1] % 2 else 1)
    counts = [(part[:, None] == possible).sum(0) for part in strata]
    sizes = [HUGE, HUGE // 2, HUGE // 9][: len(strata)]
    return tuple(wb.value_interval(sizes, counts, possible, level=level, method=method))


def comparison_limits(values, cluster, level=0.95, method="default"):
    scores = wb.ItemScores(np.column_stack([values, 0 * values]), ["a", "b"], range(values.size))
    return tuple(wb.pair_interval(scores, "a", "b", level=level, method=method))


def clustered_comparison_limits(values, cluster, level=0.95, method="default"):
    scores = wb.ItemScores(
        np.column_stack([values, 0 * values]), ["a", "b"], range(values.size), cluster
    )
    return tuple(wb.pair_interval(scores, "a", "b", level=level, method=method))


def replicate_limits(values, cluster, level=0.95, method="default", bounds=(0, 1)):
    replicates = wb.replicates(wb.SurveyDesign([0] * values.size, psu=cluster), "jkn")
    return tuple(
        wb.replicate_estimate(replicates, "mean", values, bounds=bounds).interval(level, method)
    )


INDEPENDENT = [value_limits, comparison_limits]
CLUSTERED = [clustered_comparison_limits, replicate_limits]
doors = pytest.mark.parametrize("limits", [*INDEPENDENT, *CLUSTERED])


@doors
@given(sample=samples())
@settings(max_examples=60, deadline=None)
def test_a_small_change_of_a_value_moves_the_limits_little(limits, sample):
    values, cluster, rng = sample
    moved = values.copy()
    item = rng.integers(values.size)
    moved[item] += STEP if values[item] < 0.5 else -STEP
    change = np.subtract(limits(moved, cluster), limits(values, cluster))
    assert np.abs(change).max() < 1e-6


@doors
@given(sample=samples())
@settings(max_examples=40, deadline=None)
def test_limits_do_not_jump_between_two_samples(limits, sample):
    """Of the way from one value to another the half in which the limits move more, down to a step."""
    values, cluster, rng = sample
    item = rng.integers(values.size)

    def limits_at(value):
        return np.array(limits(np.where(np.arange(values.size) == item, value, values), cluster))

    ends = values[item], rng.random()
    at_ends = limits_at(ends[0]), limits_at(ends[1])
    while abs(ends[1] - ends[0]) > STEP:
        middle = (ends[0] + ends[1]) / 2
        at_middle = limits_at(middle)
        moves = [np.abs(at_end - at_middle).max() for at_end in at_ends]
        half = int(moves[1] > moves[0])
        ends = (middle, ends[1]) if half else (ends[0], middle)
        at_ends = (at_middle, at_ends[1]) if half else (at_ends[0], at_middle)
    assert np.abs(at_ends[1] - at_ends[0]).max() < 1e-6


@doors
@given(sample=samples())
@settings(max_examples=40, deadline=None)
def test_the_default_lies_within_the_bounded_interval_and_holds_the_estimate(limits, sample):
    values, cluster, _ = sample
    low, high = limits(values, cluster)
    least, most = limits(values, cluster, method="bounded")
    assert least - 1e-12 <= low < high <= most + 1e-12
    if limits is not value_limits:
        assert low - 1e-9 <= values.mean() <= high + 1e-9


@doors
@given(sample=samples())
@settings(max_examples=40, deadline=None)
def test_a_higher_level_has_a_longer_interval(limits, sample):
    values, cluster, _ = sample
    low, high = limits(values, cluster, level=0.9)
    least, most = limits(values, cluster, level=0.99)
    assert least - 1e-12 <= low < high <= most + 1e-12


@doors
@given(sample=samples())
@settings(max_examples=40, deadline=None)
def test_mirrored_values_have_mirrored_limits(limits, sample):
    values, cluster, _ = sample
    bounds = {"bounds": (-1, 0)} if limits is replicate_limits else {}
    if limits is value_limits:
        mirrored = np.array(value_limits(1 - values, cluster))[::-1] - 1
    elif limits is comparison_limits or limits is clustered_comparison_limits:
        scores = wb.ItemScores(
            np.column_stack([values, 0 * values]),
            ["a", "b"],
            range(values.size),
            cluster if limits is clustered_comparison_limits else None,
        )
        mirrored = tuple(wb.pair_interval(scores, "b", "a"))[::-1]
    else:
        mirrored = limits(-values, cluster, **bounds)[::-1]
    assert np.negative(mirrored) == pytest.approx(limits(values, cluster), abs=1e-8)


@given(
    sample=samples(), scale=st.sampled_from([0.01, 7, 1000]), shift=st.sampled_from([-5, 0.3, 40])
)
@settings(max_examples=40, deadline=None)
def test_scale_and_shift_move_the_limits_as_the_values(sample, scale, shift):
    values, cluster, _ = sample
    limits = np.array(replicate_limits(values, cluster))
    other = replicate_limits(shift + scale * values, cluster, bounds=(shift, shift + scale))
    assert other == pytest.approx(shift + scale * limits, abs=1e-7 * scale)
    possible = np.unique([*values, 0, 1])
    counts = [(values[:, None] == possible).sum(0)]
    limits = np.array(tuple(wb.value_interval([HUGE], counts, possible)))
    other = wb.value_interval([HUGE], counts, shift + scale * possible)
    assert tuple(other) == pytest.approx(shift + scale * limits, abs=1e-7 * scale)


@pytest.mark.parametrize("limits", INDEPENDENT)
@given(seed=st.integers(0, 2**32), size=st.integers(4, 60))
@settings(max_examples=60, deadline=None)
def test_at_most_three_values_have_the_bounded_interval(limits, seed, size):
    rng = np.random.default_rng(seed)
    three = rng.choice([[0, 1, 1], [0, 0.5, 1], [0.2, 0.25, 0.9], [0, 1e-4, 1]])
    values = rng.choice(three, size)
    cluster = np.arange(size) % 4
    assert limits(values, cluster) == limits(values, cluster, method="bounded")


@doors
@pytest.mark.parametrize("value", [0, 0.4, 1])
@pytest.mark.parametrize("size", [4, 60])
def test_scores_that_are_all_alike_have_a_width(limits, value, size):
    low, high = limits(np.full(size, float(value)), np.arange(size) // 2)
    assert high - low > 0.5 / size


@pytest.mark.parametrize("limits", CLUSTERED)
@pytest.mark.parametrize("clusters", [4, 12, 40])
@pytest.mark.parametrize("wrong", [1, 5])
def test_a_single_cluster_with_errors_leaves_room_on_both_sides(limits, clusters, wrong):
    values = np.ones(5 * clusters)
    values[:wrong] = 0
    low, high = limits(values, np.arange(5 * clusters) // 5)
    assert low < values.mean() - 0.5 / (5 * clusters) and high - values.mean() > 0
