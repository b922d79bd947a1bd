import numpy as np
import pytest
import search_auc
from oracles import pairs
from scipy import stats
from sklearn.metrics import roc_auc_score

import workbench as wb
from workbench.replication.independent import auc_limits, auc_ranks
from workbench.replication.statistics import naive_auc

TRUTH = np.repeat([1, 0], (5, 6))
SCORE = np.array([3, 4, 4, 6, 7, 1, 2, 4, 5, 0, 3.5])


def estimated(truth, score, **design):
    survey = wb.SurveyDesign([0] * len(truth), **design)
    return wb.replicate_estimate(wb.replicates(survey, "jkn"), "auc", truth, score)


def test_golden_values():
    """From all 30 and all 56 pairs and the roots of Newcombe's equation, by a separate program."""
    found = estimated(TRUTH, SCORE)
    assert tuple(found.interval(0.8)) == pytest.approx((0.432617626, 0.919172478), abs=1e-8)
    assert tuple(found.interval()) == pytest.approx((0.263432988, 1), abs=1e-8)
    assert found.interval().method == "default: ranks"


@pytest.mark.parametrize("seed", range(6))
def test_limits_agree_with_their_definition_pair_by_pair(seed):
    rng = np.random.default_rng(seed)
    truth = rng.permutation(np.repeat([1, 0], rng.integers(2, 40, 2)))
    score = rng.normal(size=truth.size) + truth * rng.choice([0, 2, 9])
    score = np.round(score) if seed % 2 else score
    for level in (0.9, 0.95):
        assert tuple(estimated(truth, score).interval(level)) == pytest.approx(
            pairs.auc_limits(score[truth == 1], score[truth == 0], level), abs=1e-9
        )


def test_it_has_a_length_but_in_a_census():
    truth, score = np.repeat([0, 1], 10), np.arange(20.0)
    low, high = estimated(truth, score).interval()
    assert (high, estimated(truth, score).variance) == (1, 0) and low < 0.8
    half = estimated(truth, score, fpc=[40] * 20).interval()
    assert half.low == pytest.approx(1 - (1 - low) * 0.5**0.5) and half.high == 1
    assert tuple(estimated(truth, score, fpc=[20] * 20).interval()) == (1, 1)


@pytest.mark.parametrize("design", [{"psu": np.arange(11) // 2}, {"weight": [2] + [1] * 10}])
def test_clusters_and_unequal_weights_keep_their_rule(design):
    found = estimated(TRUTH, SCORE, **design)
    assert found.ranks is None and found.interval().method == "default: beta"
    assert found.interval().bounded == tuple(found.interval(method="bounded"))


def test_strata_and_imported_weights_keep_their_rule():
    drawn = wb.replicates(wb.SurveyDesign([0] * 5 + [1] * 6), "jkn")
    imported = wb.imported_replicates(
        np.ones(11), wb.replicates(wb.SurveyDesign([0] * 11), "jkn").weights(), method="jk1"
    )
    for made in (drawn, imported):
        assert wb.replicate_estimate(made, "auc", TRUTH, SCORE).interval().method == "default: beta"


@pytest.mark.parametrize(
    ("positives", "negatives", "distance", "lost"),
    [(10, 79, 1.0, 0.25), (8, 8, 3.0, 0), (40, 15, 0, 0)],
)
def test_it_covers(positives, negatives, distance, lost):
    """Where a quarter of the positives lies below all negatives, where nearly all pairs are right, and at .5."""
    rng, runs = np.random.default_rng(3), 400
    truth = np.repeat([1, 0], (positives, negatives))
    auc = (1 - lost) * stats.norm.cdf(distance / 2**0.5)
    low, high = np.transpose(
        [
            limits_of(
                truth,
                np.where(
                    (rng.random(truth.size) < lost) & (truth == 1),
                    -20,
                    rng.normal(distance * truth),
                ),
            )
            for _ in range(runs)
        ]
    )
    assert 0.93 - 3 * (0.93 * 0.07 / runs) ** 0.5 < np.mean((low <= auc) & (auc <= high))


def limits_of(truth, score):
    estimate = stats.mannwhitneyu(score[truth == 1], score[truth == 0]).statistic / (
        truth.sum() * (1 - truth).sum()
    )
    return auc_limits(float(estimate), auc_ranks(truth, score), 0.025)


def test_the_search_holds_what_the_interval_holds():
    """Its counts of equal scores stand for the items, its equation at the truth for the root."""
    rng = np.random.default_rng(8)
    for _ in range(12):
        design = search_auc.start(rng)
        up, down = search_auc.drawn(design, rng, 4)
        truth, score = search_auc.true_auc(design), np.tile(np.arange(up.shape[1]), 2)
        for row in range(4):
            labels = np.repeat([1, 0], (design.positives, design.negatives))
            low, high = limits_of(labels, np.repeat(score, np.append(up[row], down[row])))
            assert search_auc.holds(up, down, truth)[row] == (low <= truth <= high)


def test_a_saved_estimate_has_the_same_interval():
    found = estimated(TRUTH, SCORE)
    assert tuple(wb.Result.from_dict(found.to_dict()).interval(0.9)) == tuple(found.interval(0.9))


@pytest.mark.parametrize("domain", [None, np.arange(40) < 30])
def test_the_jackknife_of_an_auc_is_that_of_a_loop(domain):
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 40)
    score = np.round(truth + rng.normal(size=40), 1)
    design = wb.SurveyDesign(np.zeros(40), psu=rng.permutation(40))
    estimate = wb.replicate_estimate(
        wb.replicates(design, "jkn"), "auc", truth, score, domain=domain
    )
    rows = np.arange(40) if domain is None else np.flatnonzero(domain)
    auc = roc_auc_score(truth[rows], score[rows])
    left_out = np.full(40, auc)
    for item in rows:
        kept = rows[rows != item]
        left_out[item] = roc_auc_score(truth[kept], score[kept])
    error = np.sqrt(39 / 40 * ((left_out - auc) ** 2).sum())
    assert estimate.standard_error == pytest.approx(error, rel=1e-12)


def test_the_auc_of_many_items_takes_the_jackknife_by_itself():
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 2, 3_000)
    items = wb.load_labeled(
        {"truth": truth, "s": truth + rng.normal(size=3_000)}, score="s", prediction=""
    )
    [by_itself] = wb.estimate_metrics(items, "auc").estimates
    [by_name] = wb.estimate_metrics(items, "auc", method="jkn").estimates
    assert by_itself.standard_error == by_name.standard_error
    assert by_itself.standard_error == pytest.approx(naive_auc(truth, items.score)[1], rel=1e-3)
