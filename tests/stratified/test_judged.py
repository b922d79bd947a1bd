"""Two models under one judge, against the definitions written item by item, and the record of coverage."""

import json

import documented
import judged_coverage
import numpy as np
import pytest
import search_judged
from scipy import stats

import workbench as wb
from workbench.stratified.judged import DRAWN, LIMITS, judged_difference, judged_labels

SIZE = np.array([1400, 250, 200, 150])
ANSWERS = np.array([[55, 4, 2, 1], [5, 9, 1, 2], [4, 1, 7, 1], [0, 1, 0, 7]])
VALUE = np.array([0, 1, -1, 0])  # A less B where both, only A, only B, neither are right
Z = stats.norm.ppf(0.975)


def labels_of(answers):
    """Return each label's pair of verdicts and A less B, one entry a label."""
    pair, said = (np.repeat(codes.ravel(), np.ravel(answers)) for codes in np.indices((4, 4)))
    return pair, VALUE[said]


def outward(center, variance, skewness, df, unit, said):
    """Return the limits from the labels' variance, Johnson's skewness and what one more label may weigh and say."""
    far = [
        0.75 * Z**2 * max(w * (1 + sign * mean) for w, mean in zip(unit, said, strict=True)) ** 2
        for sign in (1, -1)
    ]
    reach = [
        stats.t.ppf(0.975, df(max(far))) * (variance + x**3 / (x + variance) ** 2) ** 0.5
        for x in far
    ]
    skew, total = skewness / (variance + max(far) / 6), SIZE.sum()
    return (
        np.floor(total * (center + min(skew, 0) - reach[0])) / total,
        np.ceil(total * (center + max(skew, 0) + reach[1])) / total,
    )


def johnson(moved, unit, share):
    """Return the skewness of a mean of labels that weigh `unit`, of which `share` of all items are labeled."""
    studentized, own = Z**2 / 2 * (1 - share), (Z**2 - 1) / 6 * (1 - 2 * share)
    return unit**3 * (1 - share) * (studentized - own) * (moved**3).sum()


@pytest.mark.parametrize(
    "answers", [ANSWERS, [[2, 1, 0, 0], [0, 2, 0, 9], [0, 4, 3, 0], [3, 1, 4, 1]]]
)
def test_labels_by_pairs_are_weighed_and_one_of_each_pair_may_be_missed(answers):
    (pair, z), weight = labels_of(answers), SIZE / SIZE.sum()
    n, mean = np.bincount(pair), np.array([z[pair == h].mean() for h in range(4)])
    each = np.array(
        [weight[h] ** 2 * (1 - n[h] / SIZE[h]) * z[pair == h].var(ddof=1) / n[h] for h in range(4)]
    )
    skewness = sum(
        johnson(z[pair == h] - mean[h], weight[h] / n[h], n[h] / SIZE[h]) for h in range(4)
    )
    unit = weight * (1 - n / SIZE) ** 0.5 / (n + 1)
    found = judged_difference(SIZE, answers)
    assert found.estimate == pytest.approx(weight @ mean) and found.variance == pytest.approx(
        each.sum()
    )
    assert tuple(found.interval()) == pytest.approx(
        outward(
            weight @ mean,
            each.sum(),
            skewness,
            lambda far: min(
                (each.sum() + far) ** 2 / (sum(each**2 / (n - 1)) + far**2 / (n - 1).sum()),
                (n - 1).sum(),
            ),
            unit,
            mean,
        )
    )
    assert found.interval().notes[0].kind == "assumption" and found.by_judge == pytest.approx(0.025)
    assert tuple(found.favor()) == pytest.approx(0.025 - np.array(tuple(found.interval()))[::-1])


def test_labels_at_random_are_what_the_verdicts_leave():
    pair, z = labels_of(ANSWERS)
    verdict, everywhere = VALUE[pair], np.repeat(VALUE, SIZE)
    slope = np.clip(np.cov(z, verdict)[0, 1] / everywhere.var(), 0, 1)
    rest, n, share = (z - slope * verdict).mean(), z.size, z.size / SIZE.sum()
    lever = 1 / n + (verdict - verdict.mean()) ** 2 / (n * everywhere.var())
    moved = (z - slope * verdict - rest) / (1 - lever) ** 0.5
    variance = moved @ moved / (n - 1) / n * (1 - share)
    unit = np.minimum(SIZE / SIZE.sum() / (np.bincount(pair) + 1), 1 / n) * (1 - share) ** 0.5
    found = judged_difference(SIZE, ANSWERS, drawn="random")
    center = slope * everywhere.mean() + rest
    assert found.estimate == pytest.approx(center) and found.variance == pytest.approx(variance)
    assert tuple(found.interval()) == pytest.approx(
        outward(
            center,
            variance,
            johnson(moved, 1 / n, share),
            lambda _: n - 2,
            unit,
            slope * VALUE + rest,
        )
    )


@pytest.mark.parametrize("drawn", DRAWN)
def test_a_census_is_exact_and_no_other_interval_empty(drawn):
    size = [4, 3, 0, 2]
    answers = np.array([[3, 1, 0, 0], [1, 2, 0, 0], [0] * 4, [0, 0, 1, 1]])
    found = judged_difference(size, answers, drawn=drawn)
    assert tuple(found.interval()) == pytest.approx(
        (2 / 9, 2 / 9)
    ) and found.estimate == pytest.approx(2 / 9)
    alike = judged_difference(
        [500, 300, 100, 100], np.outer([40, 30, 10, 10], [1, 0, 0, 0]), drawn=drawn
    )
    assert alike.interval().low < 0 < alike.interval().high


def test_the_estimate_lies_in_its_interval():
    rng = np.random.default_rng(0)
    for drawn in DRAWN:
        for _ in range(300):
            size = rng.integers(5, 400, 4)
            answers = np.stack(
                [
                    rng.multinomial(rng.integers(2, min(k, 40) + 1), rng.dirichlet(np.full(4, 0.3)))
                    for k in size
                ]
            )
            found = judged_difference(size, answers, drawn=drawn)
            assert found.interval().low - 1e-12 <= found.estimate <= found.interval().high + 1e-12


def test_skipped_items_may_speak_for_either_model():
    skipped = [2, 0, 1, 0]
    for drawn in DRAWN:
        found = judged_difference(SIZE, ANSWERS, drawn=drawn, skipped=skipped)
        ends = [
            judged_difference(SIZE, ANSWERS + np.outer(skipped, code), drawn=drawn)
            for code in ([0, 0, 1, 0], [0, 1, 0, 0])
        ]
        assert tuple(found.interval()) == (ends[0].interval().low, ends[1].interval().high)
        assert found.bounds == (ends[0].estimate, ends[1].estimate) and np.isnan(found.estimate)


def test_rates_of_the_judge_are_those_of_a_class_that_it_finds():
    """Right answers of A stand in columns 0 and 1, of B in 0 and 2; the judge passes them in the same rows."""
    rows = {(row["model"], row["metric"]): row for row in judged_difference(SIZE, ANSWERS).rates()}
    share = SIZE[:, None] * ANSWERS / ANSWERS.sum(1, keepdims=True)
    for model, right, passed in (("A", [0, 1], [0, 1]), ("B", [0, 2], [0, 2])):
        wrong, failed = sorted({0, 1, 2, 3} - set(right)), sorted({0, 1, 2, 3} - set(passed))
        assert rows[model, "sensitivity"]["estimate"] == pytest.approx(
            share[np.ix_(passed, right)].sum() / share[:, right].sum()
        )
        assert rows[model, "specificity"]["estimate"] == pytest.approx(
            share[np.ix_(failed, wrong)].sum() / share[:, wrong].sum()
        )
    all_ = judged_difference([900, 0, 0, 0], [[50, 3, 4, 5], *[[0] * 4] * 3])
    assert [row["estimate"] for row in all_.rates()] == [1, 0, 1, 0]
    few = judged_difference([900, 0, 9, 1], [[40, 3, 4, 5], *[[0] * 4] * 3], drawn="random")
    assert [(row["low"], row["high"]) for row in few.rates()][:2] == [(0, 1), (0, 1)]


def test_whom_the_verdicts_favor_is_told_where_it_is_shown():
    fair = judged_difference(SIZE, ANSWERS).remarks()
    assert (
        fair[0].text
        == "the judge labels alone give A minus B +2.5 points; it is not shown that they favor one of "
        "the two"
    )
    unfair = judged_difference(
        [500, 1000, 100, 400], [[40, 0, 5, 5], [10, 5, 20, 65], [0, 0, 10, 0], [0, 0, 5, 35]]
    )
    said = [note.text for note in unfair.remarks(("ours", "theirs"))]
    low, high = (100 * limit for limit in unfair.favor())
    assert low > 0 and f"they favor ours by {low:.1f} to {high:.1f} points" in said[0]
    assert (
        said[1].endswith(
            "it labels as correct 100% of the correct answers of ours, but 61% of those of theirs"
        )
        and len(said) == 4
    )


def test_labels_go_where_people_and_judge_differ_most():
    assert judged_labels(SIZE, 100).tolist() == [62, 17, 13, 8]
    assert judged_labels([9000, 0, 3, 10], 60).tolist() == [53, 0, 3, 4]


@pytest.mark.parametrize(
    ("answers", "drawn", "message"),
    [
        (ANSWERS[:3], "pairs", "answers must have shape \\(4, 4\\); got \\(3, 4\\)"),
        (ANSWERS * 40, "pairs", "answers must be at most stratum_size"),
        (
            np.where(np.eye(4)[3][:, None] > 0, 0, ANSWERS),
            "pairs",
            "must have 3 labels, and with drawn='pairs' 2 of each",
        ),
        (np.eye(4, dtype=int) * [2, 0, 0, 0], "random", "must have 3 labels"),
        (ANSWERS, "pair", "drawn must be one of 'pairs', 'random'"),
    ],
)
def test_tables_that_cannot_be(answers, drawn, message):
    with pytest.raises(ValueError, match=message):
        judged_difference(SIZE, answers, drawn=drawn)
    with pytest.raises(ValueError, match="method must be 'default' with several strata"):
        judged_difference(SIZE, ANSWERS).interval(method="short")


FAMILIES = {"own": "two models, by verdicts", "random": "two models, at random"}


def test_the_record_holds_what_is_said():
    record = json.loads(judged_coverage.RECORD.read_text())
    searches = [record["searched"], record["searched anywhere"]]
    climbed = json.loads(search_judged.RECORD.read_text())
    lowest = {
        name: min(climbed[family]["coverage"], *(search[name]["least"] for search in searches))
        for name, family in FAMILIES.items()
    }
    for drawn, name in (("pairs", "own"), ("random", "random")):
        least = lowest[name]
        said = judged_difference(SIZE, ANSWERS, drawn=drawn).interval().notes[0].text
        assert f"at least {np.floor(1000 * least) / 10:.1f}% of samples" in said
        assert max(search[name]["width over plain"] for search in searches) <= 1.02
        assert min(found[name][0] for found in record["named"].values()) >= 0.94
    assert min(found["plain"][0] for found in record["named"].values()) >= 0.94
    told = documented.said()
    for name, peer, said in (
        ("own", "plain", "The intervals are {} to {} times as wide as [prediction-powered]"),
        ("random", "plain", "sampled at random from all items, the factor is {} to {}."),
        ("own", "pairs", "The intervals are {} to {} times as wide as those of `paired"),
    ):
        times = sorted(found[name][1] / found[peer][1] for found in record["named"].values())
        assert (
            said.format(*(f"{each:.2f}".replace("0.", ".") for each in (times[0], times[-1])))
            in told
        )
    asked = [found for setting, found in record["named"].items() if setting != "alike, 50 labels"]
    assert max(found["own"][1] / found["plain"][1] for found in asked) <= 1.1
    designs = sum(search["designs"] for search in searches)
    own, random = (f"{np.floor(1e3 * lowest[name]) / 10:.1f}%" for name in ("own", "random"))
    searched = min(climbed[family]["evaluations"] for family in FAMILIES.values())
    for said in (
        f"over more than {searched // 10_000 * 10_000:,} designs, and in a simulation of "
        f"{designs:,} designs, the 95% interval covered the true difference in at least {own} of "
        "samples.",
        f"If items were sampled at random from all items, it covered in at least {random}.",
    ):
        assert said in told
    assert (
        min(search["own"]["least"] for search in searches) >= 0.94
        and record["searched"]["random"]["least"] >= 0.94
    )
    assert climbed["same items"]["coverage"] >= 0.95 and climbed["hull"]["coverage"] >= 0.93


def test_a_design_of_the_record_is_covered_as_it_says():
    worst = json.loads(judged_coverage.RECORD.read_text())["searched anywhere"]["own"]
    tables, rng = np.array(worst["at"]["items"]), np.random.default_rng(5)
    size = tables.sum(1)
    drawn = [
        np.stack(
            [
                rng.multivariate_hypergeometric(table, k)
                for table, k in zip(tables, judged_labels(size, worst["at"]["labels"]), strict=True)
            ]
        )
        for _ in range(300)
    ]
    truth = (tables[:, 2] - tables[:, 0]).sum() / size.sum()
    held = [
        truth in judged_difference(size, np.insert(counts[:, [1, 2, 0]], 3, 0, axis=1)).interval()
        for counts in drawn
    ]
    assert np.mean(held) > worst["least"] - 4 * (0.05 * 0.95 / 300) ** 0.5


def test_it_serializes_without_loss():
    found = judged_difference(SIZE, ANSWERS)
    assert repr(wb.Result.from_dict(found.to_dict())) == repr(found)


def test_two_labels_of_a_verdict_are_enough_for_a_rate():
    """All of model A's answers that the judge fails and people saw were wrong; those it passes mostly right."""
    found = judged_difference(
        [300, 300, 40, 60], [[20, 2, 3, 0], [1, 9, 0, 2], [0, 0, 2, 0], [0, 0, 1, 1]]
    )
    for row in found.rates():
        assert np.isfinite(row["estimate"]) and (row["low"], row["high"]) != (0, 1)


def test_limits_of_many_samples_are_those_of_each():
    samples = np.stack(
        [
            np.insert(labels[:, [2, 1]], 1, labels[:, 0] + labels[:, 3], axis=1)
            for labels in (ANSWERS, ANSWERS.T, ANSWERS[::-1])
        ]
    )
    for drawn, limits in LIMITS.items():
        ends = zip(*limits(SIZE, samples, 0.95), strict=True)
        for found, labels in zip(ends, (ANSWERS, ANSWERS.T, ANSWERS[::-1]), strict=True):
            assert found == tuple(judged_difference(SIZE, labels, drawn=drawn).interval())
