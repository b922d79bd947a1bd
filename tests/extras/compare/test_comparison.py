"""Pairs, ranks and groups of models on the same items: against the interval's oracle, by hand and by enumeration."""

import itertools

import numpy as np
import pytest
from oracles.value_interval import default_upper_limit, limits, upper_limit
from refusals import refused
from scipy import optimize

import workbench as wb
from workbench.intervals import holm
from workbench.intervals.adjusted import adjustment

ENDLESS = 1e13
RIGHT = ["11110", "11111", "11100", "11111", "11110", "11000", "11111", "11110"]


def random_scores(rng, *, models=None, kind=None):
    """Scores of a random number of items by models that differ a little, some unscored, some in clusters."""
    items, models = int(rng.integers(4, 120)), models or int(rng.integers(2, 7))
    kind = kind or rng.choice(["right", "partial", "graded", "unscored"])
    hard = rng.normal(size=(items, 1)) + rng.normal(
        scale=rng.choice([0.02, 0.3, 1.0]), size=(items, models)
    )
    latent = hard + np.linspace(0, rng.choice([0, 1, 2]), models)
    score = {"partial": np.digitize(latent, [0, 1]) / 2, "graded": np.clip(latent * 3, -5, 5)}.get(
        kind, (latent > 0).astype(float)
    )
    if kind == "unscored":
        score[rng.random(score.shape) < 0.1] = np.nan
    cluster = rng.integers(0, int(rng.integers(3, 20)), items) if rng.random() < 0.5 else None
    cluster = None if cluster is None or np.ptp(cluster) == 0 else cluster
    return wb.ItemScores(
        score,
        [f"m{k}" for k in range(models)],
        range(items),
        cluster,
        (-5, 5) if kind == "graded" else (0, 1),
        better="lower" if rng.random() < 0.2 else "higher",
    )


def defined_limits(values, low, high, method):
    """The interval's definition for one stratum of a population without end."""
    upper = upper_limit if method == "bounded" else default_upper_limit
    return limits([(ENDLESS, list(values), low, high)], upper=upper)


@pytest.mark.parametrize("method", ["bounded", "default"])
@pytest.mark.parametrize("seed", range(6))
def test_independent_items_have_the_interval_of_their_differences(seed, method):
    scores = random_scores(
        np.random.default_rng(seed), models=3, kind=["right", "partial", "graded"][seed % 3]
    )
    scores = wb.ItemScores(scores.score, scores.models, scores.item, None, scores.bounds)
    found, (low, high) = wb.compare_items(scores, adjust="none", method=method), scores.bounds
    for row in found.rows():
        a, b = (scores.score[:, scores.models.index(row[name])] for name in ("first", "second"))
        expected = defined_limits(a - b, low - high, high - low, method)
        assert (row["low"], row["high"]) == pytest.approx(expected, abs=1e-7)
        bounded = defined_limits(a - b, low - high, high - low, "bounded")
        assert (row["bounded_low"], row["bounded_high"]) == pytest.approx(bounded, abs=1e-7)
    for row in found.models():
        own = scores.score[:, scores.models.index(row["model"])]
        assert (row["low"], row["high"]) == pytest.approx(
            defined_limits(own, low, high, method), abs=1e-7
        )


def test_clusters_have_the_golden_interval():
    """Worked out before the code was: 8 clusters of 5; 10 clusters of 6 without an item that differs."""
    right = np.array([[int(item) for item in cluster] for cluster in RIGHT]).ravel()
    scores = wb.ItemScores(
        np.column_stack([right, 0 * right]), [*"ab"], range(40), np.repeat(range(8), 5)
    )
    row = wb.compare_items(scores, method="bounded").models()[0]
    assert (row["low"], row["high"]) == pytest.approx((0.528230, 0.972100), abs=1e-6)
    same = wb.ItemScores(np.ones((60, 2)), [*"ab"], range(60), np.repeat(range(10), 6))
    low, high = wb.pair_interval(same, "a", "b")
    assert (low, high) == pytest.approx((-0.346774, 0.346774), abs=1e-6)


@pytest.mark.parametrize("seed", range(8))
def test_pvalues_invert_the_interval(seed):
    scores = random_scores(np.random.default_rng(100 + seed), models=2)
    (row,) = wb.compare_items(scores, adjust="none").rows()

    def ends(p):
        return np.array(tuple(wb.pair_interval(scores, row["first"], row["second"], level=1 - p)))

    if row["pvalue"] > 0.99:
        assert ends(0.98).min() < 0 < ends(0.98).max()
    else:
        at = optimize.brentq(
            lambda p: np.abs(ends(p)).min() if np.prod(ends(p)) > 0 else -np.abs(ends(p)).min(),
            1e-9,
            0.995,
        )
        assert row["pvalue"] == pytest.approx(at, rel=1e-6)


def test_verdicts_of_limits_and_pvalues_never_disagree():
    rng, pairs = np.random.default_rng(7), 0
    while pairs < 10_000:
        scores, level = (
            random_scores(rng, models=int(rng.integers(2, 31))),
            float(rng.choice([0.8, 0.95, 0.99])),
        )
        adjust = str(rng.choice(["holm", "none"]))
        found = wb.compare_items(scores, level=level, adjust=adjust)
        np.testing.assert_array_equal(
            found.adjusted, adjustment(found.pvalue, level, adjust)[0]
        )  # no tie among them
        by_limits = (found.limits[:, 0] > 0) | (found.limits[:, 1] < 0)
        assert (by_limits == (found.adjusted < 1 - level)).all()
        assert (found.pvalue <= found.adjusted).all() and (np.ptp(found.limits, 1) > 0).all()
        sign = -1 if scores.better == "lower" else 1
        assert (sign * found.limits[found.shown] > 0).all() and (
            sign * found.difference >= -1e-12
        ).all()
        pairs += len(found.pairs)


@pytest.mark.parametrize("adjust", ["holm", "none"])
def test_a_tie_that_rounding_decides_shows_nothing(adjust):
    """Of two items A is right about both, B about none: the p-value is .5, and at that level the limit is 0."""
    (row,) = wb.compare_items(
        wb.ItemScores([[1, 0], [1, 0]], ["A", "B"], range(2)), level=0.5, adjust=adjust
    ).rows()
    assert row["pvalue"] == pytest.approx(0.5) and row["adjusted_pvalue"] >= 0.5
    assert row["low"] == 0 and row["verdict"] == "not shown"


def test_holms_levels_by_its_definition():
    """In the order of p each pair stands at its own step until one is not rejected, and all others at that step."""
    p = np.array([0.04, 0.001, 0.012, 0.2, 0.018])
    adjusted, level = adjustment(p, 0.95, "holm")
    assert adjusted == pytest.approx(
        [0.08, 0.005, 0.048, 0.2, 0.054]
    ) and adjusted == pytest.approx(holm(p))
    assert 1 - level == pytest.approx(np.divide(0.05, [3, 5, 4, 3, 3]))


@pytest.mark.parametrize("seed", range(5))
def test_the_order_of_models_and_items_does_not_matter(seed):
    rng = np.random.default_rng(seed)
    scores = random_scores(rng)
    models, items = rng.permutation(len(scores.models)), rng.permutation(len(scores.item))
    other = wb.ItemScores(
        scores.score[items][:, models],
        np.array(scores.models)[models],
        np.array(scores.item)[items],
        None if scores.cluster is None else scores.cluster[items],
        scores.bounds,
        scores.better,
    )
    one, two = wb.compare_items(scores), wb.compare_items(other)
    for before, after in zip(one.rows() + one.ranks(), two.rows() + two.ranks(), strict=True):
        assert before.keys() == after.keys()
        for key, value in before.items():
            assert after[key] == (
                pytest.approx(value, abs=1e-9) if isinstance(value, float) else value
            )


@pytest.mark.parametrize("seed", range(5))
def test_ranks_and_groups_by_enumeration(seed):
    rng = np.random.default_rng(seed)
    score = rng.random((300, 6)) < np.linspace(0.5, 0.9, 6)
    found = wb.compare_items(wb.ItemScores(score, [*"abcdef"], range(300)))
    better = {(row["first"], row["second"]) for row in found.rows() if row["low"] > 0}
    assert better
    for row in found.ranks():
        assert row["best_rank"] == 1 + sum(b == row["model"] for _, b in better)
        assert row["worst_rank"] == 6 - sum(a == row["model"] for a, _ in better)
    runs = [
        found.names[a:b]
        for a, b in itertools.combinations(range(7), 2)
        if not any((x, y) in better for x in found.names[a:b] for y in found.names[a:b])
    ]
    longest = [run for run in runs if not any(set(run) < set(other) for other in runs)]
    assert sorted(found.groups) == sorted(longest)


def test_what_is_not_scored_may_be_anything():
    score = np.array([[1, 0]] * 30 + [[1, 1]] * 20 + [[np.nan, 0], [1, np.nan], [np.nan, np.nan]])
    for cluster in (None, np.arange(53) % 9):

        def limits(*filled, cluster=cluster):
            full = score.copy()
            full[np.isnan(full)] = filled
            return tuple(
                wb.pair_interval(wb.ItemScores(full, [*"ab"], range(53), cluster), "a", "b")
            )

        low, high = wb.pair_interval(wb.ItemScores(score, [*"ab"], range(53), cluster), "a", "b")
        assert (low, high) == pytest.approx((limits(0, 1, 0, 1)[0], limits(1, 0, 1, 0)[1]))
        if cluster is None:
            ends = [limits(*filled) for filled in itertools.product([0, 1], repeat=4)]
            assert (low, high) == pytest.approx((min(a for a, _ in ends), max(b for _, b in ends)))
    found = wb.compare_items(wb.ItemScores(score, [*"ab"], range(53)))
    assert [note.text for note in found.notes if note.kind == "data"] == [
        "4 of 106 scores are missing. The order of the models and the estimates use the items "
        "that both models of a pair have. Limits and verdicts are valid for these items and for "
        "all items, whatever the missing scores are. a minus b on 50 items is 0.60 (0.42 to 0.74, "
        "by itself at 95%). With the worst and best possible values for the missing scores, it is "
        "between 0.36 and 0.75"
    ]
    assert found.difference == pytest.approx([0.6]) and found.score == pytest.approx([1, 0.4])


def test_what_is_said_of_the_best_model():
    score = np.repeat([[1, 1, 0], [0, 0, 0], [1, 0, 0]], [50, 30, 20], 0)
    found = wb.compare_items(wb.ItemScores(score, ["B", "D", "A"], range(100), np.arange(100) % 20))
    (ab, ad, da) = (
        (row["low"], row["high"])
        for row in sorted(found.rows(), key=lambda row: -row["difference"])
    )
    assert (
        found.finding()
        == (
            f"B is better than D by {100 * da[0]:.1f} to {100 * da[1]:.1f} percentage points "
            f"and A by {100 * ab[0]:.1f} to {100 * ab[1]:.1f} percentage points "
            "(100 items in 20 clusters)"
        )
        and ad[0] > da[0]
    )
    same = wb.compare_items(wb.ItemScores(np.ones((9, 2)), [*"xy"], range(9)))
    assert same.finding() == "No model is shown to be the best: all have the same score (9 items)"
    near = wb.compare_items(wb.ItemScores([[1, 0]] + [[1, 1]] * 9, [*"xy"], range(10)))
    assert near.finding() == (
        "No model is shown to be the best: x has the best score, but is not shown to be better "
        "than y (10 items)"
    )


def test_lower_scores_can_be_better():
    score = np.repeat([[0.2, 0.5]], 40, 0) + np.linspace(0, 0.1, 40)[:, None]
    found = wb.compare_items(wb.ItemScores(score, [*"ab"], range(40), better="lower"))
    (row,) = found.rows()
    assert (row["first"], row["difference"]) == ("a", pytest.approx(-0.3)) and row["high"] < 0
    assert found.finding().startswith("a is better than b by ")


def test_what_clusters_cost():
    rng = np.random.default_rng(1)
    cluster = np.repeat(np.arange(20), 10)
    score = rng.random((20, 2))[cluster] < 0.5
    found = wb.compare_items(wb.ItemScores(score, [*"ab"], range(200), cluster))
    alone = wb.compare_items(wb.ItemScores(score, [*"ab"], range(200)))
    assert (
        found.cost_of_clusters() == pytest.approx(np.ptp(found.limits) / np.ptp(alone.limits))
        and found.cost_of_clusters() > 2
    )
    assert alone.cost_of_clusters() == 1


@pytest.mark.parametrize(
    ("changed", "argument", "rule", "told"),
    [
        ({"score": [[1, 0]], "item": ["q"]}, "item", "must have at least 2 entries", "got 1"),
        (
            {"score": np.empty((2, 0)), "models": []},
            "models",
            "must have at least 1 entry",
            "got 0",
        ),
        ({"models": [*"aa"]}, "models", "must not repeat", "'a' occurs more than once"),
        (
            {"score": [[1, 0]]},
            "score",
            "must have a row for each of 2 items and a column for each of 2 models",
            "got shape (1, 2)",
        ),
        (
            {"score": [[1, 0], [1, 2]]},
            "score",
            "must be from 0 to 1",
            "item 'q' has the score 2 by b",
        ),
        (
            {"score": [[1, 0], [1, 0.4]], "values": (0, 0.5, 1)},
            "score",
            "must be one of 0, 0.5, 1",
            "item 'q' has the score 0.4 by b",
        ),
        ({"cluster": [3, 3]}, "cluster", "must hold at least 2 clusters", "all 2 items are in 3"),
        ({"better": "more"}, "better", "must be one of 'higher', 'lower'", "got 'more'"),
    ],
)
def test_scores_that_are_none_are_refused(changed, argument, rule, told):
    given = {"score": [[1, 0], [1, 1]], "models": [*"ab"], "item": [*"pq"]} | changed
    refused(lambda: wb.ItemScores(**given), argument, rule, told)


def test_models_that_are_not_there_are_refused():
    scores = wb.ItemScores([[1, 0], [1, 1]], ["old", "new"], [*"pq"])
    near = "got 'nwe' (did you mean 'new'?)"
    refused(
        lambda: wb.pair_interval(scores, "nwe", "old"), "first", "must be one of 'old', 'new'", near
    )
    refused(
        lambda: wb.pair_interval(scores, "old", "old"),
        "second",
        "must differ from the first",
        "got 'old'",
    )
