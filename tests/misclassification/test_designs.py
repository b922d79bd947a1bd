"""How an audit was sampled: by the truth, by the prediction or at random, by option or by its margins."""

import numpy as np
import pytest
from scipy import stats

import workbench as wb
from workbench.misclassification import designs, methods
from workbench.results import sentences

# 50 known failures and 50 known passes, of which a judge finds 35 and 45
JUDGE = wb.ConfusionCounts([[35, 15], [5, 45]], ["fail", "pass"])
RELEASE = [300, 700]
# 100 known negatives and 100 known positives from elsewhere; 4 of a herd of 150 test positive
TEST = wb.ConfusionCounts([[90, 10], [5, 95]], ["neg", "pos"])
HERD = [146, 4]


def rogan_gladen(specificity, n0, sensitivity, n1, counted, size):
    """Return share and first-order standard error where n0 negatives and n1 positives were chosen."""
    d = specificity + sensitivity - 1
    share = (counted / size + specificity - 1) / d
    variance = (
        (1 - share) ** 2 * specificity * (1 - specificity) / n0
        + share**2 * sensitivity * (1 - sensitivity) / n1
        + counted / size * (1 - counted / size) / size
    ) / d**2
    return share, variance**0.5


def test_a_judge_calibrated_on_chosen_passes_and_failures():
    share, error = rogan_gladen(0.7, 50, 0.9, 50, 700, 1000)
    assert (share, error) == pytest.approx((0.6667, 0.064), abs=0.0005)
    found = wb.estimate_prevalence(JUDGE, RELEASE, RELEASE)
    assert (found.sampled_by, found.method) == ("truth", "misclassification")
    assert found.estimate == pytest.approx(share) and found.standard_error == pytest.approx(
        error, rel=0.02
    )
    assert tuple(found.interval()) == pytest.approx(
        (share - 1.96 * error, share + 1.96 * error), abs=0.02
    )
    assert any(
        "assumed to be sampled by truth, because its true classes have 50 fail, 50 pass" in text
        for text in found.flags
    )


@pytest.mark.parametrize("frame", [HERD, None])
@pytest.mark.parametrize("sampled_by", ["auto", "truth"])
def test_a_validation_set_from_elsewhere(frame, sampled_by):
    assert rogan_gladen(0.9, 100, 0.95, 100, 4, 150)[0] < 0
    found = wb.estimate_prevalence(TEST, HERD, frame, sampled_by=sampled_by)
    assert (
        found.restricted_estimate == 0 and found.interval().low == 0 < found.interval().high < 0.02
    )
    assert found.sampled_by == "truth" and found.counts_at_audit is None
    series = wb.prevalence_series(TEST, frame, {"herd": HERD}, sampled_by=sampled_by)
    assert (
        series.rows()[0]["estimate"] == 0
        and "The proportion of class pos was 0.00% (95% confidence interval 0.00% to 0."
        in series.finding()
    )
    assert ("assumed" in series.taken) == (sampled_by == "auto") and "by truth" in series.taken


def test_three_classes_by_truth():
    reading = np.array([[0.8, 0.1, 0.1], [0.1, 0.7, 0.2], [0.05, 0.15, 0.8]])
    audit = wb.ConfusionCounts((100 * reading).astype(int), "abc")
    counts = (10_000 * np.array([0.2, 0.5, 0.3]) @ reading).astype(int)
    found = wb.estimate_prevalence(audit, counts, counts)
    assert found.sampled_by == "truth" and found.estimate == pytest.approx(
        [0.2, 0.5, 0.3], abs=1e-4
    )


def test_the_error_by_truth_is_that_of_repeated_audits():
    rng, shares = np.random.default_rng(1), []
    for _ in range(4000):
        right = rng.binomial(60, 0.8), rng.binomial(40, 0.9)
        counted = rng.binomial(1000, 0.3 * 0.9 + 0.7 * 0.2)
        shares.append((counted / 1000 - 1 + right[0] / 60) / (right[0] / 60 + right[1] / 40 - 1))
    audit = wb.ConfusionCounts([[48, 12], [4, 36]])
    found = wb.estimate_prevalence(audit, [590, 410], sampled_by="truth")
    assert found.estimate == pytest.approx(0.3) and found.standard_error == pytest.approx(
        np.std(shares), rel=0.06
    )


def test_by_prediction_the_classes_are_strata():
    """Of 50 items read as 0 and 50 read as 1, from a frame of 800 and 200."""
    audit, frame = wb.ConfusionCounts([[45, 10], [5, 40]]), np.array([800, 200])
    share = 0.8 * 5 / 50 + 0.2 * 40 / 50
    variance = sum(
        weight**2 * p * (1 - p) / 50 * (1 - 50 / size)
        for weight, p, size in ((0.8, 0.1, 800), (0.2, 0.8, 200))
    )
    for sampled_by in ("auto", "prediction"):
        found = wb.estimate_prevalence(audit, frame, frame, sampled_by=sampled_by)
        assert (found.sampled_by, found.method) == ("prediction", "calibration")
        assert found.estimate == pytest.approx(share)
        assert found.standard_error == pytest.approx(
            variance**0.5, rel=0.04
        )  # half a count is added to each cell
    later = wb.prevalence_series(
        audit, frame, {"Jan": frame, "Feb": [700, 300]}, sampled_by="prediction"
    )
    assert later.change("Jan", "Feb").estimate == pytest.approx(0.1 * (0.8 - 0.1))


def test_by_prediction_the_error_is_that_of_repeated_audits():
    """The share of the frame itself and the change to a later period of the same process."""
    rng, own, changes = np.random.default_rng(2), [], []
    frame, later, rates = np.array([300, 200]), np.array([500, 500]), np.array([0.1, 0.8])
    for _ in range(6000):
        truth, then = rng.binomial(frame, rates), rng.binomial(later, rates)
        audited = rng.hypergeometric(truth, frame - truth, 100)
        share = frame / 500 @ (audited / 100)
        own.append(share - truth.sum() / 500)
        changes.append(
            later / 1000 @ (audited / 100) - share - (then.sum() / 1000 - truth.sum() / 500)
        )
    audit = wb.ConfusionCounts([[90, 20], [10, 80]])
    series = wb.prevalence_series(audit, frame, {"a": frame, "b": later}, sampled_by="prediction")
    assert series.standard_errors[0] == pytest.approx(np.std(own), rel=0.06)
    assert series.change("a", "b").standard_error == pytest.approx(np.std(changes), rel=0.1)


@pytest.mark.parametrize(
    ("sampled_by", "method"),
    [
        ("truth", "mle"),
        ("truth", "mixed"),
        ("truth", "calibration"),
        ("truth", "baseline"),
        ("prediction", "mle"),
        ("prediction", "misclassification"),
        ("prediction", "hull"),
        ("prediction", "baseline"),
    ],
)
def test_what_a_design_does_not_allow_is_refused(sampled_by, method):
    message = f"method must fit how the audit was sampled: method '{method}' needs a random audit; an audit sampled by"
    for estimate, counts in ((wb.estimate_prevalence, RELEASE), (wb.prevalence_series, [RELEASE])):
        given = [counts, RELEASE] if estimate is wb.estimate_prevalence else [RELEASE, counts]
        with pytest.raises(ValueError, match=message):
            estimate(JUDGE, *given, method=method, sampled_by=sampled_by)
    compared = wb.compare_estimators(JUDGE, RELEASE, RELEASE, sampled_by=sampled_by)
    if method != "hull":
        assert (
            f"sampled by {sampled_by} allows"
            in dict(zip(compared.methods, compared.problems, strict=True))[method]
        )


@pytest.mark.parametrize(
    ("table", "frame", "taken"),
    [
        ([[35, 15], [5, 45]], [300, 700], "truth"),  # 50 and 50
        ([[42, 18], [4, 36]], [300, 700], "truth"),  # 60 and 40
        ([[72, 28], [6, 44]], [3000, 7000], "truth"),  # 100 and 50
        ([[21, 4], [5, 20]], [4000, 1000], "truth"),  # 25 and 25
        ([[45, 10], [5, 40]], [800, 200], "prediction"),  # 50 and 50 predicted
        ([[331, 18], [7, 44]], [1579, 218], "random"),  # the audit of the lesson
        ([[165, 20], [1, 14]], [1670, 330], "random"),
        ([[38, 12], [12, 38]], [500, 500], "random"),
    ],
)  # chosen or not, it fits
def test_what_the_margins_show(table, frame, taken):
    assert wb.estimate_prevalence(wb.ConfusionCounts(table), [600, 400], frame).sampled_by == taken


@pytest.mark.parametrize(
    ("table", "frame", "named"),
    [
        ([[40, 13], [7, 49]], [200, 800], {}),  # fits nothing, and no margin was chosen
        ([[45, 5], [5, 45]], [900, 100], {}),  # both margins are 50 and 50
        ([[70, 30], [5, 45]], [3000, 7000], {}),  # 100 and 50 true, 75 and 75 predicted
        (
            [[35, 15], [5, 45]],
            [300, 700],
            {"method": "mle"},
        ),  # sampled by truth, and another method is asked for
        ([[45, 10], [5, 40]], [800, 200], {"method": "misclassification"}),
    ],
)
def test_where_the_answer_depends_on_the_design_it_is_asked_for(table, frame, named):
    audit = wb.ConfusionCounts(table)
    with pytest.raises(ValueError, match=r"^sampled_by must be given.*sampled_by='"):
        wb.estimate_prevalence(audit, frame, frame, **named)
    assert (
        wb.estimate_prevalence(audit, frame, frame, sampled_by="random", **named).sampled_by
        == "random"
    )


def test_a_method_for_both_designs_does_not_ask():
    audit = wb.ConfusionCounts([[40, 13], [7, 49]])
    found = wb.estimate_prevalence(audit, [200, 800], [200, 800], method="misclassification")
    assert "is unlikely to be a random sample" in " ".join(found.flags)


def test_an_audit_of_other_items_says_how_it_may_be_used():
    with pytest.raises(ValueError, match="must include the audited items.*sampled_by='truth'"):
        wb.estimate_prevalence(wb.ConfusionCounts([[91, 11], [6, 97]]), HERD, HERD)
    assert (
        wb.estimate_prevalence(
            wb.ConfusionCounts([[91, 11], [6, 97]]), HERD, HERD, sampled_by="truth"
        ).sampled_by
        == "truth"
    )


def test_without_counts_at_the_audit():
    with pytest.raises(ValueError, match="counts_at_audit must be given for method 'mle'"):
        wb.estimate_prevalence(wb.ConfusionCounts([[91, 11], [6, 97]]), HERD)
    calibrated = wb.estimate_prevalence(TEST, HERD, method="calibration")
    assert any(
        "exactly 100 items of every true class. If they were chosen so, method 'calibration' is wrong"
        in x
        for x in calibrated.flags
    )
    assert (
        not wb.estimate_prevalence(TEST, HERD, method="misclassification")
        .flags[0]
        .startswith("audit design")
    )


def test_an_option_that_is_none():
    with pytest.raises(
        ValueError, match="sampled_by must be one of 'auto', 'truth', 'prediction', 'random'"
    ):
        wb.estimate_prevalence(JUDGE, RELEASE, RELEASE, sampled_by="label")


def random_audits(n, share, runs, seed, sensitivity=0.9, specificity=0.8, size=5000):
    """Yield random audits of n items and the counts of their frame."""
    rng = np.random.default_rng(seed)
    for _ in range(runs):
        truth = rng.binomial(size, share)
        cells = np.array(
            [rng.binomial(size - truth, 1 - specificity), rng.binomial(truth, sensitivity)]
        )
        joint = np.array([[size - truth - cells[0], cells[0]], [truth - cells[1], cells[1]]])
        table = rng.multivariate_hypergeometric(joint.ravel(), n).reshape(2, 2)
        if table.sum(1).all() and table.sum(0).all():
            yield wb.ConfusionCounts(table), joint.sum(0)


def decisions(n, share, runs, method="auto"):
    """Return how often random audits are asked about, taken for others by truth, and by prediction."""
    taken = []
    for audit, frame in random_audits(n, share, runs, seed=n):
        try:
            taken.append(designs.read_design(audit, frame, method, "process", "auto").sampled_by)
        except ValueError as error:
            assert "sampled_by must be given" in str(error)
            taken.append("asked")
    return {name: taken.count(name) / len(taken) for name in ("asked", "truth", "prediction")}


@pytest.mark.slow
@pytest.mark.parametrize("n", [50, 100, 300])
def test_random_audits_are_seldom_taken_for_others(n):
    """Over shares from 5% to 95% and at the worst share, near one half."""
    shares = np.linspace(0.05, 0.95, 19)
    found = [decisions(n, share, 400) for share in shares]
    assert (
        max(each["asked"] for each in found) <= 0.01
        and np.mean([each["asked"] for each in found]) < 0.002
    )
    assert (
        np.mean([each["prediction"] for each in found]) < 0.003
        and max(each["prediction"] for each in found) < 0.02
    )
    assert (
        np.mean([each["truth"] for each in found]) < 0.012
        and max(each["truth"] for each in found) < 0.05
    )
    asked = [decisions(n, share, 400, method="mle")["asked"] for share in shares]
    assert np.mean(asked) < 0.012


def test_the_fit_of_few_items_is_exact():
    """Of 50 items 3 are of a class of 1%: no rare event, but Pearson's approximation would say so."""
    from workbench.misclassification.periods import fit_pvalue

    found = fit_pvalue(wb.ConfusionCounts([[45, 2], [2, 1]]), np.array([4950, 50]))
    assert 0.005 < found < 0.02
    three = fit_pvalue(wb.ConfusionCounts(np.diag([45, 4, 1])), np.array([9000, 900, 100]))
    assert 0.5 < three <= 1


def test_every_method_names_its_designs():
    assert {name for name, entry in methods.METHODS.items() if "truth" in entry.designs} == {
        "classify_and_count",
        "subtracted_bias",
        "misclassification",
        "hull",
    }
    assert all("random" in entry.designs for entry in methods.METHODS.values())


def test_the_design_survives_a_round_trip():
    series = wb.prevalence_series(JUDGE, RELEASE, [RELEASE])
    for result in (wb.estimate_prevalence(JUDGE, RELEASE, RELEASE), series):
        again = wb.Result.from_dict(result.to_dict())
        assert again.sampled_by == "truth" and repr(again) == repr(result)
    old = series.to_dict()
    del old["values"]["sampled_by"]
    assert wb.Result.from_dict(old).sampled_by == "random"
    assert "design" in " ".join(sentences(series.notes))


def test_audits_of_several_periods_by_truth():
    """50 and 50 true items in each of two months: the rates are pooled, whatever the counts say."""
    audits = {"Jan": JUDGE, "Feb": wb.ConfusionCounts([[34, 16], [4, 46]], ["fail", "pass"])}
    months = {"Jan": RELEASE, "Feb": [250, 750], "Mar": [400, 600]}
    series = wb.prevalence_series(audits, None, months)
    assert (series.sampled_by, series.method, series.audit_rates) == (
        "truth",
        "misclassification",
        "pooled",
    )
    assert series.estimates[0] == pytest.approx((0.7 - 0.31) / (0.69 + 0.91 - 1))
    own = wb.prevalence_series(audits, None, months, audit_rates="own")
    assert (
        own.estimates[0] == pytest.approx(2 / 3)
        and own.method == "misclassification"
        and "measures" in own.assumption
    )
    assert wb.prevalence_series(audits, None, months, sampled_by="random").sampled_by == "random"
    with pytest.raises(
        ValueError, match="sampled_by must be 'random' or 'truth' for audits of several periods"
    ):
        wb.prevalence_series(audits, None, months, sampled_by="prediction")
    with pytest.raises(ValueError, match="method must fit how the audits were sampled"):
        wb.prevalence_series(
            audits, None, months, sampled_by="truth", audit_rates="own", method="calibration"
        )


def test_shares_of_own_audits_are_where_they_can_be():
    audits = {
        "Jan": wb.ConfusionCounts([[90, 10], [1, 9]]),
        "Feb": wb.ConfusionCounts([[85, 15], [2, 8]]),
    }
    months = {"Jan": [990, 10], "Feb": [850, 150]}
    series = wb.prevalence_series(audits, None, months, audit_rates="own", sampled_by="truth")
    first, last = series.levels()
    assert series.estimates[0] < 0 == first["low"] == first["estimate"] <= first["high"]
    [change] = series.changes()
    assert change["change"] == pytest.approx(last["estimate"] - first["estimate"])
    assert (
        last["low"] - first["high"]
        <= change["low"]
        <= change["change"]
        <= change["high"]
        <= last["high"]
    )


@pytest.mark.parametrize("positives", [49, 51, 53])
def test_a_sample_by_the_truth_without_round_numbers_is_not_taken_for_random_in_silence(positives):
    """Sensitivity 43/50 and specificity 36/50, as near as whole numbers allow; 700 of 1,000 are predicted positive."""
    hits, rejected = round(positives * 0.86), round((100 - positives) * 0.72)
    audit = wb.ConfusionCounts(
        [[rejected, 100 - positives - rejected], [positives - hits, hits]], ["fail", "pass"]
    )
    fit = stats.hypergeom(1000, 700, 100)
    predicted = int(audit.table[:, 1].sum())
    assert fit.cdf(predicted) < 0.05
    series = wb.prevalence_series(audit, [300, 700], {"release": [300, 700]})
    assert "sampled_by='truth'" in " ".join(sentences(series.notes))
