"""Missing scores: order and estimates come from the items that both models have, limits hold whatever is missing."""

import itertools

import numpy as np
import pytest
from refusals import refused

import workbench as wb
from workbench.extras.compare.slices import worth_reading


def with_gaps(rng, *, models=2, share=0.2):
    score = np.round(np.clip(rng.normal(0.7, 0.2, (60, models)), 0, 1), 3)
    score[:, 1] = np.clip(score[:, 1] + 0.05, 0, 1)
    for model in range(1, models):
        score[rng.random(60) < share, model] = np.nan
    return score


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("clustered", [False, True])
def test_two_models_are_ordered_by_what_both_have(seed, clustered):
    score = with_gaps(np.random.default_rng(seed))
    cluster = np.arange(60) % 12 if clustered else None
    found = wb.compare_items(wb.ItemScores(score, ["a", "b"], range(60), cluster))
    both = ~np.isnan(score).any(1)
    means = dict(zip("ab", score[both].mean(0), strict=True))
    assert list(found.names) == sorted(means, key=lambda name: -means[name])
    assert found.score == pytest.approx([means[name] for name in found.names])
    assert found.difference[0] == pytest.approx(abs(means["a"] - means["b"]))
    alone = wb.compare_items(
        wb.ItemScores(
            score[both], ["a", "b"], range(both.sum()), None if cluster is None else cluster[both]
        )
    )
    filled = [np.where(np.isnan(score), [fill], score) for fill in ([0, 0], [1, 1])]
    ends = [
        wb.pair_interval(wb.ItemScores(one, ["a", "b"], range(60), cluster), *found.names)
        for one in filled
    ]
    hull = (
        min(alone.limits[0, 0], *(low for low, _ in ends)),
        max(alone.limits[0, 1], *(high for _, high in ends)),
    )
    assert found.limits[0] == pytest.approx(hull, abs=1e-9)
    note = next(note.text for note in found.notes if note.kind == "data")
    assert f"{found.names[0]} minus {found.names[1]} on {both.sum()} items is " in note


def test_the_middle_no_longer_decides_who_is_best():
    """Of 60 items b lacks 15; with 1/2 for these its mean would be the smaller one."""
    score = np.column_stack([np.full(60, 0.73), np.full(60, 0.75)])
    score[:15, 1] = np.nan
    found = wb.compare_items(wb.ItemScores(score, ["a", "b"], range(60)))
    assert np.where(np.isnan(score), 0.5, score).mean(0).argmax() == 0
    assert found.names == ("b", "a") and "b has the best score" in found.finding()
    assert found.limits[0, 0] < 0 < found.limits[0, 1]


@pytest.mark.parametrize("seed", range(3))
def test_several_models_are_ordered_by_their_differences_on_shared_items(seed):
    score = with_gaps(np.random.default_rng(seed), models=5)
    scores = wb.ItemScores(score, [*"abcde"], range(60))
    found = wb.compare_items(scores)
    merit = {}
    for a in range(5):
        differences = []
        for b in range(5):
            both = ~np.isnan(score[:, [a, b]]).any(1)
            differences.append((score[both, a] - score[both, b]).mean())
        merit["abcde"[a]] = np.mean(differences)
    assert list(found.names) == sorted(merit, key=lambda name: -merit[name])
    for row in found.rows():
        columns = score[:, ["abcde".index(row[name]) for name in ("first", "second")]]
        both = ~np.isnan(columns).any(1)
        assert row["difference"] == pytest.approx((columns[both, 0] - columns[both, 1]).mean())
        assert row["low"] <= row["difference"] <= row["high"] and row["difference"] >= 0


def test_a_third_model_with_few_scores_does_not_decide_the_others():
    """On the 5 items that c has a is better, on all 100 b is: b leads, and is shown to."""
    score = np.column_stack(
        [np.repeat([1, 0], [45, 55]), np.repeat([0, 1], [5, 95]), np.ones(100)]
    ).astype(float)
    score[5:, 2] = np.nan
    found = wb.compare_items(wb.ItemScores(score, [*"abc"], range(100)))
    row = next(row for row in found.rows() if {row["first"], row["second"]} == {"a", "b"})
    assert (row["first"], row["difference"], row["verdict"]) == ("b", pytest.approx(0.5), "better")
    assert "b is better than a" in found.finding() or found.names[0] != "a"


def test_a_gate_does_not_pass_because_failures_are_missing():
    score = np.column_stack([np.ones(100), np.repeat([0.0, 1], [10, 90])])
    score[:10, 1] = np.nan
    scores = wb.ItemScores(score, ["old", "new"], range(100))
    assert wb.gate(scores, "new > old - 0.05").verdict == "INCONCLUSIVE"
    assert wb.gate(scores.some(~np.isnan(score).any(1)), "new > old - 0.05").verdict == "PASS"


def test_slices_take_what_both_models_have():
    score = np.array([[1, 0], [1, 1], [0, np.nan], [1, 0]] * 10, float)
    part = ["x", "x", "y", "y"] * 10
    part[0], part[39] = None, ""
    scores = wb.ItemScores(score, ["a", "b"], range(40), columns={"part": part})
    found = wb.compare_slices(scores, "part")
    rows = {row["slice"]: row for row in found.rows()}
    assert {*rows} == {"x", "y"} and rows["x"]["items"] == 19 and rows["y"]["items"] == 19
    assert rows["y"]["difference"] == pytest.approx(1)
    assert "2 items without a part are in no slice. The overall comparison uses all items" in str(
        found.notes
    )


def test_models_without_shared_scores_are_refused():
    score = np.full((20, 3), np.nan)
    score[:, 0] = 1
    score[:11, 1], score[10:, 2] = 0, 1
    scores = wb.ItemScores(score, [*"abc"], range(20))
    rule = "must name models with scores for at least 2 of the same items"
    told = "1 item has a score by both 'b' and 'c'"
    refused(lambda: wb.compare_items(scores), "model", rule, told)


def test_items_worth_reading_are_scored_by_the_best_and_another():
    score = [[1, 0], [np.nan, 1], [0, np.nan], [0, 1], [1, 0], [1, 0]]
    assert worth_reading(wb.ItemScores(score, ["a", "b"], range(6))) == [
        {"item": "3", "a": 0.0, "b": 1.0}
    ]


def test_limits_hold_for_every_completion():
    rng = np.random.default_rng(2)
    score = (rng.random((12, 2)) < [0.8, 0.4]).astype(float)
    score[[0, 3], 0], score[[3, 7], 1] = np.nan, np.nan
    low, high = wb.pair_interval(wb.ItemScores(score, ["a", "b"], range(12)), "a", "b")
    for filled in itertools.product([0, 1], repeat=4):
        full = score.copy()
        full[np.isnan(full)] = filled
        one, other = wb.pair_interval(wb.ItemScores(full, ["a", "b"], range(12)), "a", "b")
        assert low <= one + 1e-9 and high >= other - 1e-9
