"""One model's mean, and models that were scored on items of their own."""

import numpy as np
import pytest
from refusals import refused
from scipy import stats

import workbench as wb


@pytest.mark.parametrize(("right", "expected"), [(0, (0, 0.0596)), (60, (0.9404, 1))])
def test_a_mean_at_a_bound_has_the_exact_limit(right, expected):
    scores = wb.ItemScores([[int(k < right)] for k in range(60)], ["m"], range(60))
    (row,) = wb.compare_items(scores).models()
    exact = stats.binomtest(right, 60).proportion_ci(method="exact")
    assert (row["low"], row["high"]) == pytest.approx(tuple(exact), abs=5e-4)
    assert tuple(exact) == pytest.approx(expected, abs=5e-4)
    clustered = wb.ItemScores(scores.score, ["m"], range(60), np.arange(60) % 10)
    (row,) = wb.compare_items(clustered).models()
    exact = stats.binomtest(right // 6, 10).proportion_ci(method="exact")
    assert (row["low"], row["high"]) == pytest.approx(tuple(exact), abs=1e-6)


def test_clusters_of_unequal_sizes_at_a_bound_count_by_their_worth():
    sizes = np.array([20, 10, 5, 5])
    scores = wb.ItemScores(np.zeros((40, 1)), ["m"], range(40), np.repeat(range(4), sizes))
    (row,) = wb.compare_items(scores).models()
    assert row["high"] == pytest.approx(1 - 0.025 ** (1 / (40**2 / (sizes**2).sum())))


def test_what_is_said_of_one_model():
    found = wb.compare_items(
        wb.ItemScores([[1]] * 30 + [[0]] * 10, ["m"], range(40), np.arange(40) % 8)
    )
    ((low, high),) = found.own
    assert found.finding() == (
        f"m has a mean score of 75.0%, 95% confidence interval {low:.1%} to {high:.1%} "
        "(40 items in 8 clusters)"
    )
    assert found.headline() == found.finding() and not found.rows() and np.isnan(found.detectable())
    assert [row["setting"] for row in found.conditions()] == [
        "every score known",
        "every run finished",
        "clusters",
        "enough clusters",
    ]
    graded = wb.compare_items(
        wb.ItemScores([[3], [4], [5], [4]], ["m"], range(4), bounds=(1, 5), better="higher")
    )
    assert graded.finding().startswith("m has a mean score of 4.0, 95% confidence interval ")
    gaps = wb.compare_items(wb.ItemScores([[1], [0], [np.nan], [1]], ["m"], range(4)))
    assert gaps.score[0] == pytest.approx(2 / 3) and "1 of 4 scores is missing" in str(gaps.notes)


def newcombe(a, n, b, m, level=0.95):
    """Newcombe 1998, method 10, from Wilson's limits as scipy has them."""
    first, second = (
        stats.binomtest(x, k).proportion_ci(level, method="wilson") for x, k in ((a, n), (b, m))
    )
    p, q = a / n, b / m
    return (
        p - q - np.hypot(p - first.low, second.high - q),
        p - q + np.hypot(first.high - p, q - second.low),
    )


def two_files(tmp_path, a, b, *, prefix=("a", "b")):
    for name, scores, start in zip("ab", (a, b), prefix, strict=True):
        rows = [f"{start}{k},{score}" for k, score in enumerate(scores)]
        (tmp_path / f"{name}.csv").write_text("\n".join(["q,score", *rows]))
    return [tmp_path / "a.csv", tmp_path / "b.csv"]


@pytest.mark.parametrize(
    ("a", "n", "b", "m"),
    [(60, 100, 84, 120), (56, 70, 48, 80), (9, 10, 3, 10), (10, 10, 0, 20), (0, 30, 0, 40)],
)
def test_two_proportions_have_newcombes_interval(tmp_path, a, n, b, m):
    """Of 56 of 70 and 48 of 80 the paper itself prints .0524 to .3339."""
    files = two_files(tmp_path, [1] * a + [0] * (n - a), [1] * b + [0] * (m - b))
    scores = wb.read_item_scores(*files, item="q", score="score")
    low, high = wb.pair_interval(scores, "b", "a")
    assert (-high, -low) == pytest.approx(newcombe(a, n, b, m), abs=1e-9)
    if (a, n) == (56, 70):
        assert (-high, -low) == pytest.approx((0.0524, 0.3339), abs=5e-5)
    found = wb.compare_items(scores)
    assert found.sizes in ((n, m), (m, n)) and str(found.basis()).startswith(
        f"{n + m} items in independent samples"
    )
    assert (
        found.notes[0].kind == "assumption"
        and "as independent samples, as no identifier occurs for two" in found.notes[0].text
    )
    (row,) = found.rows()
    p = row["pvalue"]
    if 1e-6 < p < 0.99:
        low, high = newcombe(a, n, b, m, 1 - p)
        assert min(abs(low), abs(high)) == pytest.approx(0, abs=1e-6)


def test_graded_scores_are_near_welchs_interval(tmp_path):
    rng = np.random.default_rng(4)
    a, b = np.round(rng.beta(6, 3, 300), 4), np.round(rng.beta(5, 4, 400), 4)
    scores = wb.read_item_scores(*two_files(tmp_path, a, b), item="q", score="score")
    low, high = wb.pair_interval(scores, "a", "b")
    welch = stats.ttest_ind(a, b, equal_var=False).confidence_interval()
    assert (low, high) == pytest.approx((welch.low, welch.high), abs=0.1 * (welch.high - welch.low))
    assert low <= welch.low and high >= welch.high


def test_clusters_of_independent_samples(tmp_path):
    score = np.repeat([[1, 0, 1, 1], [0, 1, 0, 0]], 5, 1)
    frame = {
        "id": [f"{model}{k}" for model in "ab" for k in range(20)],
        "model": ["a"] * 20 + ["b"] * 20,
        "doc": [f"{model}{k // 5}" for model in "ab" for k in range(20)],
        "score": score.ravel().tolist(),
    }
    scores = wb.read_item_scores(frame, model="model", score="score", cluster="doc")
    found = wb.compare_items(scores)
    assert found.clusters == 8 and found.sizes == (20, 20) and found.worth == pytest.approx(4)
    own = [
        wb.compare_items(
            wb.ItemScores(score[k][:, None], ["m"], range(20), np.arange(20) // 5)
        ).own[0]
        for k in (0, 1)
    ]
    (a_low, a_high), (b_low, b_high) = own
    expected = (
        0.5 - np.hypot(0.75 - a_low, b_high - 0.25),
        0.5 + np.hypot(a_high - 0.75, 0.25 - b_low),
    )
    assert found.alone[0] == pytest.approx((max(expected[0], -1), min(expected[1], 1)))


def test_partly_shared_identifiers_are_neither(tmp_path):
    files = two_files(tmp_path, [1, 0] * 20, [1, 1] * 30, prefix=("q", "q"))
    rule = (
        "must be set, as the models were not run on the same items: a lacks 20 items. It uses the "
        "40 items that all have. If equal identifiers denote different items, set independent"
    )
    refused(lambda: wb.read_item_scores(*files, item="q", score="score"), "common", rule)
    assert len(wb.read_item_scores(*files, item="q", score="score", common=True).item) == 40
    apart = wb.read_item_scores(*files, item="q", score="score", independent=True)
    assert apart.sizes == (40, 60)
    assert (
        "as requested: each was scored on items of its own. 40 identifiers that all models have "
        "count "
        "as different items." in apart.notes[0].text
    )
    low, high = wb.pair_interval(apart, "a", "b")
    assert (low, high) == pytest.approx(newcombe(20, 40, 60, 60))


@pytest.mark.parametrize(
    ("spelling", "other", "pair"),
    [
        ("{:03d}", "{}", "'000' of 'a' and '0' of 'b', and 29 more pairs"),
        ("{:02d}", "{}", "'00' of 'a' and '0' of 'b', and 9 more pairs"),  # 10 to 29 are equal
        ("task/{:02d}", "task/{}", "'task/00' of 'a' and 'task/0' of 'b', and 9 more pairs"),
        ("Q{}", "q{}", "'Q0' of 'a' and 'q0' of 'b', and 29 more pairs"),
        ("1.0{}", "1.{}", ""),
        ("a{}", "b{}", ""),
    ],
)
def test_items_with_identifiers_that_differ_in_spelling_are_refused(
    tmp_path, spelling, other, pair
):
    files = []
    for name, form in (("a", spelling), ("b", other)):
        rows = [f"{form.format(k)},{k % 2}" for k in range(30)]
        files.append(tmp_path / f"{name}.csv")
        files[-1].write_text("\n".join(["id,score", *rows]))
    apart = wb.read_item_scores(*files, independent=True)
    assert apart.sizes == (30, 30)
    if not pair:
        assert wb.read_item_scores(*files).sizes == (30, 30)
        return
    message = f"differ only in leading zeros or case: {pair}. Write them"
    for common in (False, True):
        with pytest.raises(ValueError, match=message):
            wb.read_item_scores(*files, common=common)


def test_independent_samples_need_no_identifiers(tmp_path):
    for name, right in (("a", 12), ("b", 20)):
        (tmp_path / f"{name}.csv").write_text(
            "correct\n" + "\n".join(str(int(k < right)) for k in range(30))
        )
    found = wb.read_item_scores(tmp_path / "a.csv", tmp_path / "b.csv", independent=True)
    assert found.models == ("a", "b") and found.sizes == (30, 30)
    assert tuple(wb.pair_interval(found, "a", "b")) == pytest.approx(newcombe(12, 30, 20, 30))


def test_a_gate_slices_and_missing_scores_of_independent_samples(tmp_path):
    score = np.full((60, 2), np.nan)
    score[:30, 0], score[30:, 1] = np.arange(30) < 27, np.arange(30) < 9
    sample, part = np.repeat([0, 1], 30), np.tile(["x", "y"], 30)
    scores = wb.ItemScores(score, ["a", "b"], range(60), columns={"part": part}, sample=sample)
    assert wb.gate(scores, "a > b").verdict == "PASS" and scores.unscored == 0
    for row in wb.compare_slices(scores, "part", adjust="none").rows():
        rights = [int(score[(part == row["slice"]) & (sample == k), k].sum()) for k in (0, 1)]
        assert (row["low"], row["high"]) == pytest.approx(newcombe(rights[0], 15, rights[1], 15))
    score[0, 0] = np.nan
    gaps = wb.ItemScores(score, ["a", "b"], range(60), sample=sample)
    low, high = wb.pair_interval(gaps, "a", "b")
    assert gaps.unscored == 1 and low == pytest.approx(newcombe(26, 30, 9, 30)[0])
    assert high == pytest.approx(max(newcombe(27, 30, 9, 30)[1], newcombe(26, 29, 9, 30)[1]))
    found = wb.compare_items(gaps)
    assert found.difference == pytest.approx([26 / 29 - 0.3]) and gaps.rows()[0] == {
        "model": "a",
        "items": 29,
        "unscored": 1,
    }


@pytest.mark.parametrize(
    ("sample", "rule", "told"),
    [
        ([0, 0, 0, 1], "must have at least 2 items of 'b'", "got 1"),
        ([0, 0, 1, 1], "must give 'a' only items without scores by other models", ""),
    ],
)
def test_samples_that_are_none_are_refused(sample, rule, told):
    score = np.array([[1, np.nan], [1, 1 if sample[2] else np.nan], [np.nan, 0], [np.nan, 1]])
    score[2] = (np.nan, 0) if sample[2] else (1, np.nan)
    models = ["a", "b"]
    refused(lambda: wb.ItemScores(score, models, range(4), sample=sample), "sample", rule, told)
