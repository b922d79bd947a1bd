import itertools
import json
import math
import re
from fractions import Fraction
from pathlib import Path

import advice_misclassification
import documented
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import prevalence
from refusals import refused
from scipy import stats

import workbench as wb
from workbench.misclassification import limits, methods
from workbench.misclassification.methods import estimators
from workbench.misclassification.periods import DRAWS, Periods
from workbench.misclassification.theory import moments
from workbench.results import sentences

QUAPY = json.loads((Path(__file__).parents[1] / "oracles" / "prevalence_quapy.json").read_text())[
    "cases"
]
AUDIT = wb.ConfusionCounts([[331, 18], [7, 44]])
FRAME = [1579, 218]
GOOD = np.array([[0.9, 0.06, 0.04], [0.05, 0.88, 0.07], [0.04, 0.06, 0.9]])
ILL = np.array([[0.5, 0.3, 0.2], [0.3, 0.4, 0.3], [0.25, 0.35, 0.4]])


def audit_of(rates, shares, n):
    return wb.ConfusionCounts(np.rint(n * np.array(shares)[:, None] * rates).astype(int))


# estimators against independent implementations


@st.composite
def audits(draw, classes):
    cell = st.integers(1, 60)
    table = np.array(draw(st.lists(cell, min_size=classes**2, max_size=classes**2))).reshape(
        classes, classes
    )
    table += 60 * np.eye(classes, dtype=int)
    counts = [
        draw(st.lists(st.integers(1, 3000), min_size=classes, max_size=classes)) for _ in range(2)
    ]
    return table, np.array(counts[0]) + table.sum(0), np.array(counts[1])


@given(audits(2))
@settings(max_examples=60, deadline=None)
def test_two_classes_agree_with_the_papers_formulas(case):
    table, frame, counts = case
    expected = prevalence.binary(table.tolist(), frame[1] / frame.sum(), counts[1] / counts.sum())
    for method in estimators():
        found = wb.estimate_prevalence(
            wb.ConfusionCounts(table), counts, frame, method=method, sampled_by="random"
        )
        assert found.estimate == pytest.approx(expected[method], rel=1e-9, abs=1e-9), method


@pytest.mark.parametrize("classes", [2, 3, 5])
@given(st.data())
@settings(max_examples=25, deadline=None)
def test_several_classes_agree_with_linear_systems(classes, data):
    table, frame, counts = data.draw(audits(classes))
    expected = prevalence.several(table, frame / frame.sum(), counts / counts.sum())
    for method in estimators():
        found = methods.shares_of(method, table, frame / frame.sum(), counts / counts.sum())
        assert found == pytest.approx(expected[method], rel=1e-9, abs=1e-9), method
        assert found.sum() == pytest.approx(1, abs=1e-9)


@pytest.mark.parametrize(
    "table, positive, size",
    [
        ([[331, 18], [7, 44]], 218, 1797),
        ([[60, 40], [30, 70]], 480, 1000),
        ([[5, 6], [2, 80]], 900, 1000),
    ],
)
def test_mle_maximizes_the_likelihood_of_audit_and_frame(table, positive, size):
    share, p00, p11 = prevalence.maximum_likelihood(table, positive, size)
    audit, frame = wb.ConfusionCounts(table), [size - positive, positive]
    own, later = (
        wb.estimate_prevalence(audit, counts, frame, sampled_by="random")
        for counts in (frame, [7000, 3000])
    )
    assert own.estimate == pytest.approx(share, abs=2e-5)
    assert later.estimate == pytest.approx((0.3 - 1 + p00) / (p00 + p11 - 1), abs=2e-5)


@pytest.mark.parametrize("case", QUAPY, ids=lambda c: f"{len(c['counts'])} classes")
def test_misclassification_is_the_exact_acc_of_quapy(case):
    found = wb.estimate_prevalence(
        wb.ConfusionCounts(case["table"]), case["counts"], method="misclassification"
    )
    expected = case["estimate"][1] if len(case["counts"]) == 2 else case["estimate"]
    assert found.estimate == pytest.approx(expected, abs=1e-12)


def test_three_estimators_agree_where_the_audit_predicts_as_the_frame():
    table = np.array([[70, 10], [5, 15]])
    found = [
        wb.estimate_prevalence(
            wb.ConfusionCounts(table), [800, 450], 20 * table.sum(0), method=method
        ).estimate
        for method in ("misclassification", "mixed", "mle")
    ]
    assert found == pytest.approx([found[0]] * 3, abs=1e-12)


def test_exact_fractions():
    """The solar panels in whole numbers: 17% counted, 10% true."""
    audit = wb.ConfusionCounts([[828, 72], [2, 98]])
    p00, p11 = Fraction(828, 900), Fraction(98, 100)
    assert wb.estimate_prevalence(
        audit, [8300, 1700], method="misclassification"
    ).estimate == pytest.approx(float((Fraction(17, 100) - 1 + p00) / (p00 + p11 - 1)), abs=1e-15)
    assert wb.estimate_prevalence(
        audit, [8300, 1700], method="calibration"
    ).estimate == pytest.approx(0.1, abs=1e-15)
    assert wb.estimate_prevalence(
        audit, [785, 215], method="misclassification"
    ).estimate == pytest.approx(0.15)
    assert wb.estimate_prevalence(
        audit, [785, 215], method="calibration"
    ).estimate == pytest.approx(0.126, abs=5e-4)


# theory


@given(
    st.floats(0.02, 0.98),
    st.floats(0.02, 0.98),
    st.floats(0.55, 0.99),
    st.floats(0.55, 0.99),
    st.integers(50, 5000),
    st.none() | st.integers(5000, 10**6),
    st.none() | st.integers(100, 10**6),
)
@settings(max_examples=150, deadline=None)
def test_theory_agrees_with_the_printed_formulas(a, t, p00, p11, n, size, new_size):
    found = wb.estimator_theory(a, t, p00, p11, n, size=size, new_size=new_size)
    bias, variance, mle = prevalence.theory(a, t, p00, p11, n, size or np.inf, new_size or np.inf)
    for method in list(estimators())[:-1]:
        assert found.bias[method] == pytest.approx(bias[method], rel=1e-9, abs=1e-12), method
        assert found.variance[method] == pytest.approx(variance[method], rel=1e-9, abs=1e-15), (
            method
        )
    if size is None:
        assert found.variance["mle"] == pytest.approx(mle, rel=1e-9)
        assert found.variance["mle"] <= min(
            found.variance["misclassification"], found.variance["mixed"]
        ) * (1 + 1e-9)


@pytest.mark.parametrize(
    "setting, published",
    [
        ((0.5, 0.6, 0.7), (0.01581, 0.05, 0.03807, 0.05003, 0.01508)),
        ((0.98, 0.94, 0.97), (0.004427, 0.0282, 0.006342, 0.005989, 0.003591)),
    ],
)
def test_the_published_errors_without_shift(setting, published):
    """Kloos, Meertens, Scholtus & Karch 2021, tables 2 and 3, to the printed digits."""
    rmse = wb.estimator_theory(setting[0], *setting, 1000).rmse
    for method, value in zip(estimators(), published, strict=False):
        digits = len(str(value).split(".")[1])
        assert round(rmse[method], digits) == value, method


def test_second_order_of_the_variance():
    """At S1 -> .2 first order is .03386, with the next order .03497, simulated .03506."""
    found = wb.estimator_theory(0.5, 0.2, 0.6, 0.7, 1000)
    assert found.sd["mixed"] == pytest.approx(0.03386, abs=5e-6)
    assert found.second_order**0.5 == pytest.approx(0.03497, abs=5e-6)
    assert wb.rate_variance(0.7, 0.5, 1) == pytest.approx(0.7 * 0.3 / 0.5 * (1 + 0.5 / 0.5))


def test_mixed_can_vary_more_than_misclassification():
    """First order: exactly where (1 - m) A + m B < 0 with m = 2 a' - a; never for mle."""
    rng = np.random.default_rng(1)
    a, t, p00, p11 = (
        rng.uniform(0.02, 0.98, 4000),
        rng.uniform(0.02, 0.98, 4000),
        *rng.uniform(0.51, 0.995, (2, 4000)),
    )
    _, variance, _ = moments(a, t, p00, p11, 1e9)
    middle = 2 * t - a
    rule = (1 - middle) * p00 * (1 - p00) + middle * p11 * (1 - p11)
    sure = np.abs(rule) > 1e-6
    assert ((variance["mixed"] > variance["misclassification"]) == (rule < 0))[sure].all()
    assert (rule < 0).any() and ((t < a / 2) | (1 - t < (1 - a) / 2))[rule < 0].all()
    assert (
        variance["mle"] <= np.minimum(variance["mixed"], variance["misclassification"]) * (1 + 1e-6)
    ).all()


def test_theory_with_the_frames_own_rates_shrinks_what_the_audit_adds():
    whole, part = (
        wb.estimator_theory(0.1, 0.15, 0.96, 0.85, 400, size=size, rates="frame")
        for size in (None, 1600)
    )
    for method in ("baseline", "misclassification", "calibration", "mixed", "mle"):
        assert part.variance[method] == pytest.approx(0.75 * whole.variance[method], rel=1e-9)


@pytest.mark.parametrize(
    "change, message",
    [
        ({"base_rate": 0}, "base_rate must be a number in (0, 1); got 0"),
        ({"p11": 1.0}, "p11 must be a number in (0, 1); got 1.0"),
        (
            {"p00": 0.1},
            "p00 + p11 must be above 1; got 0.1 + 0.8: the classifier is no better than chance, or the labels are swapped",
        ),
        ({"n": 1}, "n must be a whole number of at least 2; got 1"),
        ({"size": 10}, "size must be a whole number of at least 100; got 10"),
    ],
)
def test_theory_refuses_settings_out_of_its_domain(change, message):
    setting = {"base_rate": 0.3, "new_base_rate": 0.4, "p00": 0.9, "p11": 0.8, "n": 100} | change
    with pytest.raises(ValueError) as error:
        wb.estimator_theory(**setting)
    assert str(error.value) == message


# slopes and covariances


@pytest.mark.parametrize("classes, method", list(itertools.product([2, 3], estimators())))
def test_slopes_are_derivatives(classes, method):
    rng = np.random.default_rng(classes)
    table = rng.integers(5, 30, (classes, classes)) + 80.0 * np.eye(classes)
    frame, shares = rng.dirichlet(np.ones(classes), 2)
    slopes = methods.slopes_of(method, table, frame, shares)

    def slope(place, argument):
        values = []
        for sign in (1, -1):
            arguments = [table.copy(), frame.copy(), shares.copy()]
            arguments[argument][place] += sign * 1e-5
            values.append(methods.shares_of(method, *arguments))
        return (values[0] - values[1]) / 2e-5

    for k, place in enumerate(np.ndindex(table.shape)):
        assert slopes.table.reshape(classes, -1)[:, k] == pytest.approx(slope(place, 0), abs=1e-7)
    for j in range(classes):
        assert slopes.frame[:, j] == pytest.approx(slope(j, 1), abs=1e-7)
        assert slopes.shares[:, j] == pytest.approx(slope(j, 2), abs=1e-7)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("rates", ["process", "frame"])
def test_the_audited_frame_itself_gets_the_finite_population_factor(classes, rates):
    """Post-stratified: (1 - n/N) sum_j q_j^2 C_j (1 - C_j) / n_j, where the audit predicts as the frame does."""
    rng = np.random.default_rng(3)
    table = rng.integers(5, 30, (classes, classes)) + 80.0 * np.eye(classes)
    n, shares = table.sum(), table.sum(0) / table.sum()
    column = table / table.sum(0)
    whole = sum(
        shares[j] ** 2
        * (np.diag(column[:, j]) - np.outer(column[:, j], column[:, j]))
        / table[:, j].sum()
        for j in range(classes)
    )
    for method in ("mle", "mixed", "calibration"):
        slopes = methods.slopes_of(method, table, shares, shares).within_frame(True)
        for size in (4 * n, 1000 * n):
            found = methods.audit_covariance(slopes, table, n, size, rates)
            assert found == pytest.approx((1 - n / size) * whole, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize(
    "method", ["mle", "mixed", "misclassification", "subtracted_bias", "calibration", "baseline"]
)
def test_three_class_covariances_agree_with_simulation(method):
    """Audits of 2,000 from a frame of 8,000 that is read anew each time; first order, so within 6%."""
    rng = np.random.default_rng(0)
    n, size, runs = 2000, 8000, 6000
    old, new = np.array([0.5, 0.3, 0.2]), np.array([0.4, 0.35, 0.25])
    audited = rng.multivariate_hypergeometric((size * old).astype(int), n, size=runs)
    table = np.stack([rng.multinomial(audited[:, i], GOOD[i]) for i in range(3)], 1)
    others = sum(rng.multinomial(int(size * old[i]) - audited[:, i], GOOD[i]) for i in range(3))
    frame = (table.sum(1) + others) / size
    shares = sum(rng.multinomial(int(8000 * new[i]), GOOD[i], runs) for i in range(3)) / 8000
    simulated = np.cov(methods.shares_of(method, table, frame, shares).T)
    expected = n * old[:, None] * GOOD
    slopes = methods.slopes_of(method, expected, old @ GOOD, new @ GOOD)
    found = methods.audit_covariance(slopes, expected, n, size)
    if method != "calibration":
        found = found + methods.reading_covariance(method, slopes, expected, new @ GOOD, 8000)
    else:
        reading = np.diag(new @ GOOD) - sum(new[i] * np.outer(GOOD[i], GOOD[i]) for i in range(3))
        found = found + slopes.shares @ reading @ slopes.shares.T / 8000
    assert np.diag(found) == pytest.approx(np.diag(simulated), rel=0.06)
    assert found[0, 1] == pytest.approx(
        simulated[0, 1], abs=0.05 * np.sqrt(found[0, 0] * found[1, 1])
    )


def test_calibration_takes_the_truth_as_random_given_the_predictions():
    found = wb.estimate_prevalence(AUDIT, [838, 162], [157900, 21800], method="calibration")
    large = wb.estimate_prevalence(
        AUDIT, [838 * 10**6, 162 * 10**6], [157900, 21800], method="calibration"
    )
    c0, c1 = 7.5 / 339, 44.5 / 63
    assert found.variance - large.variance == pytest.approx(
        (0.838 * c0 * (1 - c0) + 0.162 * c1 * (1 - c1)) / 1000, rel=1e-4
    )


# intervals


def test_the_two_class_interval_is_estimate_and_error_at_half_counts():
    found = wb.estimate_prevalence(AUDIT, [4191, 809], FRAME)
    half = methods.shares_of(
        "mle", AUDIT.table + 0.5, np.array(FRAME) / 1797, np.array([4191, 809]) / 5000
    )
    low, high = found.interval(level=0.9)
    z = stats.norm.ppf(0.95)
    assert (low, high) == pytest.approx(
        (half[1] - z * found.standard_error, half[1] + z * found.standard_error)
    )
    assert found.interval().method == "delta" and found.interval().notes == ()


def test_estimates_are_not_clipped_but_flagged_and_intervals_are():
    found = wb.estimate_prevalence(AUDIT, [4840, 160], FRAME)
    assert found.estimate < 0 and found.interval().low == 0 < found.interval().high
    assert (
        found.restricted_estimate == found.rows()[0]["estimate"] == 0
        and ": proportion 0 of class 1 (" in found.headline()
    )
    assert any("class 1 lies outside 0 to 1, because the counts" in flag for flag in found.flags)
    assert not any("even the interval" in flag for flag in found.flags)
    assert [note.kind for note in found.notes][:1] == ["unreliable"]
    far = wb.estimate_prevalence(AUDIT, [4990, 10], FRAME)
    assert far.interval().low == 0 < far.interval().high < 0.02
    assert any(
        "even the interval of class 1 lies outside 0 to 1. The rates have changed" in x
        for x in far.flags
    )
    mirrored = wb.estimate_prevalence(
        wb.ConfusionCounts([[44, 7], [18, 331]]), [10, 4990], FRAME[::-1]
    )
    assert any("even the interval of class 1 lies outside 0 to 1" in x for x in mirrored.flags)
    nearest = limits.restricted(np.array([-0.1, 0.3, 0.8]), np.array([0.2, 0.2, 0.1]))
    assert nearest == pytest.approx([0.2, 0.2 + 0.5 / 8, 0.1 + 0.5 * 7 / 8])
    above = wb.estimate_prevalence(
        wb.ConfusionCounts([[90, 10], [10, 90]]), [80, 920], method="misclassification"
    )
    assert above.estimate > 1 and above.interval().high == 1


def three_class_runs(rates, runs, n=1000, size=20_000):
    """Counts of audits and two periods: the audited frame and a later one."""
    rng = np.random.default_rng(4)
    old, new = np.array([0.5, 0.3, 0.2]), np.array([0.35, 0.4, 0.25])
    for _ in range(runs):
        audited = rng.multivariate_hypergeometric((size * old).astype(int), n)
        table = np.stack([rng.multinomial(audited[i], rates[i]) for i in range(3)])
        frame = table.sum(0) + sum(
            rng.multinomial(int(size * old[i]) - audited[i], rates[i]) for i in range(3)
        )
        counts = sum(rng.multinomial(int(size * new[i]), rates[i]) for i in range(3))
        yield wb.prevalence_series(wb.ConfusionCounts(table), frame, [frame, counts]), old, new


@pytest.mark.slow
def test_three_class_intervals_cover():
    """At least .93 for every class, level and change, within two standard errors of 150 runs pooled over classes."""
    level, change = [], []
    for series, old, new in three_class_runs(GOOD, 150):
        assert not any(note.kind == "refused" for note in series.notes)
        low, high = ([row[name] for row in series.levels()[3:]] for name in ("low", "high"))
        level.append((low <= new) & (new <= high))
        change.append(
            [
                i.low <= d <= i.high
                for i, d in zip(series.change(1, 2).limits, new - old, strict=True)
            ]
        )
    for hits in (np.array(level), np.array(change)):
        assert hits.mean() > 0.93 and (hits.mean(0) > 0.93 - 2 * math.sqrt(0.93 * 0.07 / 150)).all()


def test_an_ill_conditioned_classifier_is_loudly_warned_of_and_covered():
    found = list(three_class_runs(ILL, 25))
    said = [" ".join(sentences(series.notes)) for series, *_ in found]
    assert all(
        "too small for this classifier" in text and "merge the classes" in text for text in said
    )
    assert all(
        "intervals are widened to contain the intervals of the delta method" in text
        for text in said
    )
    for series, _, new in found:
        low, high = (
            np.array([row[name] for row in series.levels()[3:]]) for name in ("low", "high")
        )
        assert ((low <= new) & (new <= high)).sum() >= 2


RAREST_OLD, RAREST_NEW = (
    np.array([0.4, 0.27, 0.2, 0.1, 0.03]),
    np.array([0.37, 0.25, 0.18, 0.1, 0.1]),
)


@pytest.mark.parametrize("right", [(0.8, 0.8, 0.8, 0.8, 0.8), (0.7, 0.7, 0.7, 0.7, 0.99)])
@pytest.mark.slow
def test_the_rarest_of_five_classes_is_covered(right):
    """At least .92 over all audits of 300, level and change, within two Monte Carlo errors of 60 runs."""
    rng, runs, hits = np.random.default_rng(8), 60, []
    rates = np.repeat((1 - np.array([right])).T / 4, 5, 1)
    np.fill_diagonal(rates, right)
    for _ in range(runs):
        ones = rng.multivariate_hypergeometric((20_000 * RAREST_OLD).astype(int), 300)
        table = np.stack([rng.multinomial(ones[i], rates[i]) for i in range(5)])
        frame = table.sum(0) + sum(
            rng.multinomial(int(20_000 * RAREST_OLD[i]) - ones[i], rates[i]) for i in range(5)
        )
        counts = sum(rng.multinomial(int(20_000 * RAREST_NEW[i]), rates[i]) for i in range(5))
        series = wb.prevalence_series(wb.ConfusionCounts(table), frame, [frame, counts])
        level, change = series.levels()[-1], series.change(1, 2).limits[-1]
        hits.append([level["low"] <= 0.1 <= level["high"], 0.07 in change])
    assert (np.mean(hits, 0) > 0.92 - 2 * math.sqrt(0.92 * 0.08 / runs)).all()


def test_an_unsure_determinant_widens_by_fiellers_method():
    """Against the inversion of the test that q - f - a (s - f) is 0, by hand, on a grid of shares a."""
    table, counts = [[30, 20], [16, 34]], [600_000, 400_000]
    found = wb.estimate_prevalence(wb.ConfusionCounts(table), counts, method="misclassification")
    f, s = 20.5 / 51, 34.5 / 51
    noise = f * (1 - f) / 51, s * (1 - s) / 51
    share = np.linspace(-3, 3, 600_001)
    inside = share[
        (0.4 - f - share * (s - f)) ** 2
        <= 1.959964**2 * ((1 - share) ** 2 * noise[0] + share**2 * noise[1])
    ]
    assert inside.min() < 0 and found.interval().low == 0
    alone = stats.norm.ppf(0.975) * found.standard_error + (0.4 - f) / (s - f)
    assert found.interval().high == pytest.approx(max(inside.max(), alone), abs=1e-3)
    low, high = limits.fieller(*fieller_parts(found), 0.95, -3.0, 3.0)
    assert (low[0], high[0]) == pytest.approx((inside.min(), inside.max()), abs=1e-3)


def fieller_parts(found):
    periods = Periods(found.audit, None, found.counts[None], found.method, found.rates)
    log_d = limits.log_d(found.method, periods.straight, periods.half, None)
    both = methods.Slopes(
        None,
        np.stack([periods.straight.table[:, 1], log_d.table[:, 1]], 1),
        np.stack([periods.straight.frame[:, 1], log_d.frame[:, 1]], 1),
        None,
    )
    return periods.straight.estimate[:, 1], methods.audit_covariance(
        both, periods.half, found.audit.n
    )


@pytest.mark.parametrize("seed", range(40))
def test_fiellers_limits_are_the_hull_of_the_shares_not_rejected(seed):
    rng = np.random.default_rng(seed)
    ratio, spread = (
        rng.uniform(-1, 2),
        rng.normal(0, 0.6, (2, 2)) * [[1.0], [rng.choice([0.2, 1, 2])]],
    )
    covariance = spread @ spread.T
    share = np.linspace(-1, 1, 200_001)
    x = share - ratio
    variance = covariance[0, 0] - 2 * x * covariance[0, 1] + x**2 * covariance[1, 1]
    kept = share[x**2 <= stats.norm.ppf(0.95) ** 2 * variance]
    low, high = limits.fieller(np.array([ratio]), covariance[None], 0.9, -1.0)
    if kept.size:
        assert (low[0], high[0]) == pytest.approx((kept.min(), kept.max()), abs=2e-5)
    else:
        assert low[0] >= high[0]


@pytest.mark.parametrize("method", ["misclassification", "mixed", "mle"])
def test_slopes_of_log_d_by_differences(method):
    table, frame = np.array([[30.5, 9.5], [6.5, 24.5]]), np.array([0.55, 0.45])

    def log_d(table, frame):
        p = methods.by_row(methods.poststratified(table, frame) if method == "mle" else table)
        return math.log(p[0, 0] + p[1, 1] - 1)

    slopes = methods.slopes_of(method, table, frame, np.array([0.6, 0.4]))
    found = limits.log_d(method, slopes, table, frame)
    for i, j in itertools.product(range(2), range(2)):
        step = np.zeros((2, 2))
        step[i, j] = 1e-5
        assert found.table[1, i, j] == pytest.approx(
            (log_d(table + step, frame) - log_d(table - step, frame)) / 2e-5, abs=1e-7
        )
    for j in range(2):
        step = np.eye(2)[j] * 1e-6
        assert found.frame[1, j] == pytest.approx(
            (log_d(table, frame + step) - log_d(table, frame - step)) / 2e-6, abs=1e-6
        )


@pytest.mark.parametrize("size", [100, 10_000_000])
def test_growth_limits_by_fiellers_method(size):
    """Without the frame, of numerators q - f: the growth g is kept where q2 - f - (1 + g) (q1 - f) may be 0.

    Of items of either class a share f is predicted wrong, which varies by f (1 - f) per item.
    """
    audit, later = (
        wb.ConfusionCounts([[38, 12], [12, 38]]),
        [[size * 5 // 10, size * 5 // 10], [size * 3 // 10, size * 7 // 10]],
    )
    periods = Periods(audit, None, np.array(later), "misclassification", "process")
    low, high = periods._fieller_growths(np.array([0]), np.array([1]), 0.95)
    f = 12.5 / 51
    growth = np.linspace(-1, 5, 600_001)
    kept = growth[
        (0.7 - f - (1 + growth) * (0.5 - f)) ** 2
        <= 1.959964**2 * f * (1 - f) * (growth**2 / 51 + (1 + (1 + growth) ** 2) / size)
    ]
    assert (low[0, 1], high[0, 1]) == pytest.approx((kept.min(), kept.max()), abs=2e-3)


def test_a_doubtful_interval_says_how_it_was_made():
    audit = wb.ConfusionCounts([[30, 20], [16, 34]])
    found = wb.estimate_prevalence(audit, [600, 400], [5400, 4600])
    interval = found.interval()
    assert (
        interval.low == 0
        and 0.5 < interval.high < 1
        and interval.method == "hull of delta, Fieller"
    )
    assert sentences(interval.notes) == (
        "the audit is too small for this classifier: p00 + p11 - 1 is 0.27 with a coefficient of variation of 0.35. The true standard error may be 1.5 times the stated one, or larger; intervals are widened to contain Fieller's interval; audit more items",
    )
    assert interval.notes == found.notes[:1] and interval.notes[0].kind == "unreliable"
    assert (
        wb.estimate_prevalence(audit, [600, 400], method="calibration").interval().method == "delta"
    )
    few = wb.estimate_prevalence(wb.ConfusionCounts([[195, 5], [1, 199]]), [600, 400], [5400, 4600])
    assert few.interval().method == "hull of delta, delta with 1 per cell"
    assert sentences(few.interval().notes) == (
        "1 of 4 cells of the audit holds fewer than 5 items (smallest: 1), so the standard error is rough; intervals are widened to contain the interval with one count added per cell",
    )
    enough = wb.estimate_prevalence(
        wb.ConfusionCounts([[195, 5], [3, 197]]), [600, 400], [5400, 4600]
    )
    assert enough.interval().method == "delta"
    assert sentences(enough.interval().notes)[0].endswith("the standard error is rough")
    five = wb.estimate_prevalence(
        wb.ConfusionCounts([[5, 1, 0], [2, 4, 1], [3, 0, 7]]),
        [30, 30, 40],
        method="misclassification",
    )
    assert five.interval()[0].method == "hull of Dirichlet draws, delta, delta with 1 per class"


def test_one_count_per_cell_is_added_where_errors_are_rare():
    """The limits are the outermost of those of tables with half a count and with one count per cell."""
    table, frame, counts = (
        np.array([[195, 5], [1, 199]]),
        np.array([10_000, 10_000]),
        np.array([6_000, 14_000]),
    )
    found = wb.estimate_prevalence(wb.ConfusionCounts(table), counts, frame).interval()
    both = []
    for name in (limits.DELTA, limits.ONE_ADDED):
        periods = Periods(wb.ConfusionCounts(table), frame, counts[None], "mle", "process", name)
        spread = stats.norm.ppf(0.975) * math.sqrt(periods.covariance[0, 1, 1])
        both.append(periods.slopes.estimate[0, 1] + np.array([-spread, spread]))
    assert tuple(found) == pytest.approx(
        (min(x[0] for x in both), max(x[1] for x in both)), abs=1e-12
    )
    assert both[0][0] != both[1][0]


@pytest.mark.parametrize(
    "table, why",
    [
        (
            [[331, 18], [0, 0]],
            "p11 cannot be estimated: no audited item of class 1. Audit items of this class, or use 'calibration' if P(truth | prediction) is constant",
        ),
        (
            [[50, 50], [50, 50]],
            "p00 + p11 must be above 1; the audit has 0.500 + 0.500. The classifier is no better than chance, or the labels are swapped",
        ),
        (
            [[50, 50], [51, 49]],
            "p00 + p11 must be above 1; the audit has 0.500 + 0.490. The classifier is no better than chance, or the labels are swapped",
        ),
        (
            [[4, 4, 2], [4, 4, 2], [1, 2, 9]],
            "P(prediction | truth) of the audit must be invertible, but its rows are linearly dependent because some classes get the same predictions. Merge these classes or audit more items",
        ),
    ],
)
def test_an_audit_without_an_estimate_leaves_the_whole_range(table, why):
    audit, counts = wb.ConfusionCounts(table), [60, 40, 50][: len(table)]
    found = wb.estimate_prevalence(audit, counts, method="misclassification")
    intervals = [found.interval()] if len(table) == 2 else found.interval()
    assert (
        np.isnan(found.estimate).all()
        and np.isnan(found.standard_error).all()
        and np.isnan(found.bias).all()
    )
    for interval in intervals:
        assert tuple(interval) == (0, 1) and interval.method == "whole range"
        assert sentences(interval.notes) == (
            f"no estimate is possible, and intervals are 0 to 1: {why}",
        )
        assert interval.notes[0].kind == "undefined" and interval.notes[0] in found.notes
    assert found.headline().startswith(
        "misclassification: no estimate, every proportion is possible (see notes); assuming"
    )
    assert math.isnan(found.rows()[0]["estimate"]) and found.rows()[0]["low"] == 0
    assert wb.Result.from_dict(found.to_dict()).interval() is not None
    series = wb.prevalence_series(audit, None, [counts, counts[::-1]], method="misclassification")
    assert [(row["low"], row["high"]) for row in series.changes()] == [(-1, 1)] * len(intervals)
    assert "; no estimates (see notes);" in series.headline()
    problems = wb.compare_estimators(audit, counts).reasons
    assert problems["misclassification"] == why


@pytest.mark.parametrize(
    "table, text",
    [
        ([[350, 150], [160, 340]], None),
        (
            [[60, 40], [30, 70]],
            "the audit is too small for this classifier: p00 + p11 - 1 is 0.30 with a coefficient of variation of "
            "0.22",
        ),
        ([[180, 120], [90, 210]], "p00 + p11 - 1 is 0.30 with a coefficient of variation of 0.13"),
    ],
)
def test_warnings_at_the_thresholds(table, text):
    flags = wb.estimate_prevalence(wb.ConfusionCounts(table), [60_000, 40_000], [5500, 4500]).flags
    assert (
        any(text in flag for flag in flags)
        if text
        else not any("coefficient" in flag for flag in flags)
    )


def test_flags_of_a_period():
    def flags(counts, frame=(157900, 21800), method="mle", audit=AUDIT):
        return " | ".join(
            wb.estimate_prevalence(audit, counts, frame, method=method, sampled_by="random").flags
        )

    assert "fewer than ten per audited item" in flags([1600, 300])
    assert "fewer than ten" not in flags([16000, 3000])
    assert "'mixed' can then have a larger variance than 'misclassification'" in flags(
        [4700, 300], method="mixed"
    )
    assert "larger" not in flags([4700, 300])
    assert "1 of 4 cells of the audit holds fewer than 5 items (smallest: 2)" in flags(
        [900, 100], audit=wb.ConfusionCounts([[400, 90], [2, 88]])
    )
    assert "the audit is 22% of the frame: standard errors assume that later periods" in flags(
        [4000, 1000], FRAME
    )
    assert "taken to be the audited period" in flags(FRAME, FRAME)
    assert (
        "items of class 'b' are predicted 'a' more often than correctly; check whether the labels are swapped"
        in flags(
            [900, 200, 300],
            [2000, 1000, 1000],
            audit=wb.ConfusionCounts([[90, 5, 5], [60, 40, 10], [5, 5, 80]], "abc"),
        )
    )


def test_a_large_part_of_the_frame():
    """rates="frame" takes the factor 1 - n/N on the audit and no error of the frame's counts."""
    later = [4191 * 10**6, 809 * 10**6]
    process, frame = (
        wb.estimate_prevalence(AUDIT, later, FRAME, rates=rates) for rates in ("process", "frame")
    )
    many = wb.estimate_prevalence(AUDIT, later, [157900 * 10**4, 21800 * 10**4])
    assert frame.variance == pytest.approx((1 - 400 / 1797) * many.variance, rel=0.01)
    assert process.variance > many.variance > frame.variance
    own = [
        wb.estimate_prevalence(AUDIT, FRAME, FRAME, rates=rates).variance
        for rates in ("process", "frame")
    ]
    assert own[0] == pytest.approx(own[1], rel=0.02)


def test_expected_bias_is_that_of_the_theory():
    found = wb.compare_estimators(AUDIT, [4191, 809], [157900, 21800])
    half = AUDIT.table + 0.5
    joint = half / half.sum(0) * [1579 / 1797, 218 / 1797]
    p00, p11 = joint[0, 0] / joint[0].sum(), joint[1, 1] / joint[1].sum()
    share = prevalence.binary(half.tolist(), 218 / 1797, 809 / 5000)
    first = prevalence.binary(half.tolist(), 218 / 1797, 218 / 1797)["mle"]
    bias, variance, mle = prevalence.theory(first, share["mle"], p00, p11, 400, 179700, 5000)
    for method, value in zip(found.methods, found.bias, strict=True):
        if method == "mle":
            assert math.isnan(value)
        else:
            assert value == pytest.approx(bias[method], rel=0.02, abs=2e-4), method
            variance[method] += bias[method] ** 2
    variance["mle"] = mle
    for method, value in estimated_bias_variance(first, share["mle"], p00, p11).items():
        variance[method] += value
    assert found.rmse == pytest.approx(
        [variance[method] ** 0.5 for method in found.methods], rel=0.02
    )
    assert found.best == "mle"


def estimated_bias_variance(first, later, p00, p11, draws=400_000):
    """By simulation: how much the distance of each estimate to the mle varies, from audit to audit."""
    rng, size, new_size = np.random.default_rng(8), 179700, 5000
    cells = [(1 - first) * p00, (1 - first) * (1 - p00), first * (1 - p11), first * p11]
    n00, n01, n10, n11 = rng.multinomial(400, cells, draws).T + 0.5
    rest = rng.binomial(size - 400, first * p11 + (1 - first) * (1 - p00), draws)
    q = (n01 + n11 + rest) / size
    new = rng.binomial(new_size, later * p11 + (1 - later) * (1 - p00), draws) / new_size
    c10, c11 = n10 / (n00 + n10), n11 / (n01 + n11)
    share = c10 * (1 - q) + c11 * q
    d = c11 * q / share - (1 - c11) * q / (1 - share)
    mle = share + (new - q) / d
    subtracted = new * (3 - n00 / (n00 + n01) - n11 / (n10 + n11)) - n01 / (n00 + n01)
    return {
        "baseline": np.var(share - mle),
        "classify_and_count": np.var(new - mle),
        "subtracted_bias": np.var(subtracted - mle),
        "calibration": np.var(c10 * (1 - new) + c11 * new - mle),
    }


@pytest.mark.parametrize("setting", [2, 6, 16], ids=str)
def test_the_advice_costs_little_and_seldom_is_the_raw_count(setting):
    ratio, misled = advice_misclassification.followed(
        advice_misclassification.SETTINGS[setting], 150, seed=2
    )
    assert ratio <= 1.1 and misled <= 0.05


@pytest.mark.parametrize("table", [[[90, 10], [0, 0]], [[50, 5, 1], [3, 40, 1], [0, 0, 0]]])
def test_no_advice_from_an_audit_without_a_class(table):
    sizes = [700, 300, 100][: len(table)]
    found = wb.compare_estimators(wb.ConfusionCounts(table), sizes, [800, 200, 150][: len(table)])
    assert (
        found.best is None
        and np.isnan(found.rmse).all()
        and "a class was not audited" in found.headline()
    )


def test_a_useless_classifier_is_reported_as_far_as_possible():
    """Half counts leave d = 0 exactly: no warning of numpy, no expected error, the raw figures stay."""
    audit = wb.ConfusionCounts([[50, 50], [50, 50]])
    found = wb.compare_estimators(audit, [500, 500], [4000, 6000], sampled_by="random")
    assert found.best is None and np.isnan(found.rmse).all()
    assert [not problem for problem in found.problems] == [
        True,
        True,
        True,
        False,
        True,
        False,
        False,
    ]
    assert "no better than chance" in found.headline()
    calibrated = wb.estimate_prevalence(
        audit, [500, 500], [4000, 6000], method="calibration", sampled_by="random"
    )
    assert (
        calibrated.estimate == 0.5
        and math.isnan(calibrated.bias)
        and 0 < calibrated.interval().low < 0.5
    )


# comparison


def test_comparison_lists_what_cannot_be_computed():
    found = wb.compare_estimators(wb.ConfusionCounts([[90, 10], [0, 0]]), [700, 300])
    problems = dict(zip(found.methods, found.problems, strict=True))
    assert (
        problems["mle"]
        == problems["mixed"]
        == "needs counts_at_audit, the predicted counts of the audited frame"
    )
    assert problems["misclassification"].startswith(
        "p11 cannot be estimated: no audited item of class 1"
    )
    assert problems["baseline"] == problems["calibration"] == ""
    assert np.isnan(found.estimate[found.methods.index("misclassification")])
    assert found.estimate[0] == 0 and found.estimate[1] == 0.3
    assert {note.where: note.kind for note in found.notes} == {
        ("method", name): "undefined" for name, problem in problems.items() if problem
    }
    assert found.reasons == {name: problem for name, problem in problems.items() if problem}
    assert (
        "<li>methods mixed, mle: needs counts_at_audit, the predicted counts of the audited frame</li>"
        in found._repr_html_()
    )
    assert [row["problem"] for row in found.rows()] == list(found.problems)


def test_comparison_of_several_classes():
    audit = audit_of(GOOD, [0.5, 0.3, 0.2], 1000)
    found = wb.compare_estimators(audit, [4000, 3500, 2500], [10_000, 6000, 4000])
    assert found.estimate.shape == (7, 3)
    expected = prevalence.several(audit.table, [0.5, 0.3, 0.2], [0.4, 0.35, 0.25])
    for m, method in enumerate(found.methods):
        assert found.estimate[m] == pytest.approx(expected[method], abs=1e-12)
    assert len(found.rows()) == 21 and found.rows()[-1]["constant"].startswith(
        "P(prediction | truth)"
    )
    assert (
        found.best == "mle"
        and "recommended at this shift: mle, assuming P(prediction | truth)" in found.headline()
    )


# series

MONTHS = {"Jan": [1579, 218], "Feb": [4382, 618], "Jun": [4309, 691], "Dec": [4191, 809]}


def test_the_change_has_far_less_error_than_its_levels_suggest():
    """Audit of seed 1: change 6 -> 12 by "mixed" .0291 with an error of .0062, from level bands .0171; true .0300."""
    series = wb.prevalence_series(AUDIT, FRAME, MONTHS, method="mixed")
    change = series.change("Jun", "Dec")
    d = 331 / 349 + 44 / 51 - 1
    assert change.estimate == pytest.approx((809 - 691) / 5000 / d, abs=1e-12)
    assert change.estimate == pytest.approx(0.0291, abs=5e-5)
    assert change.standard_error == pytest.approx(0.0062, abs=0.0006)
    assert change.naive_standard_error == pytest.approx(0.0171, rel=0.1)
    calibration = wb.prevalence_series(AUDIT, FRAME, MONTHS, method="calibration").change(
        "Jun", "Dec"
    )
    assert calibration.estimate == pytest.approx(0.016, abs=5e-4)


def test_series_agrees_with_single_estimates():
    for method in estimators():
        series = wb.prevalence_series(AUDIT, FRAME, MONTHS, method=method)
        for t, counts in enumerate(MONTHS.values()):
            alone = wb.estimate_prevalence(AUDIT, counts, FRAME, method=method)
            assert series.estimates[t] == pytest.approx(alone.estimate, abs=1e-15)
            assert series.standard_errors[t] == pytest.approx(alone.standard_error, abs=1e-15)
            row = series.levels()[t]
            assert (row["low"], row["high"]) == pytest.approx(tuple(alone.interval()), abs=1e-15)
            assert series.bias[t] == pytest.approx(alone.bias, abs=1e-15, nan_ok=True)
    assert series.audit_period == "Jan"
    assert series.raw == pytest.approx([218 / 1797, 618 / 5000, 691 / 5000, 809 / 5000])


def test_change_variances_by_simulation():
    """Two later periods, one audit: the error of the change against draws of audits and counts."""
    rng = np.random.default_rng(6)
    n, p00, p11, runs = 1000, 0.85, 0.9, 8000
    ones = rng.binomial(n, 0.3, runs)
    hits, misses = rng.binomial(ones, p11), rng.binomial(n - ones, 1 - p00)
    table = np.stack([n - ones - misses, misses, ones - hits, hits], 1).reshape(-1, 2, 2)
    q = [
        (
            rng.binomial(round(20_000 * a), p11, runs)
            + rng.binomial(20_000 - round(20_000 * a), 1 - p00, runs)
        )
        / 20_000
        for a in (0.5, 0.6)
    ]
    frame = np.array([0.7 * p00 + 0.3 * 0.1, 0.7 * 0.15 + 0.3 * p11])
    first, last = (methods.shares_of("mle", table, frame, np.stack([1 - x, x], 1))[:, 1] for x in q)
    expected = wb.ConfusionCounts(
        np.rint(n * np.array([[0.7 * p00, 0.7 * 0.15], [0.03, 0.27]])).astype(int)
    )
    counts = [np.rint(20_000 * np.array([1 - x.mean(), x.mean()])).astype(int) for x in q]
    series = wb.prevalence_series(expected, np.rint(frame * 10**7).astype(int), counts)
    change = series.change(1, 2)
    assert change.standard_error == pytest.approx((last - first).std(), rel=0.04)
    assert change.naive_standard_error > 2 * change.standard_error
    growth = last / first - 1
    low, high = change.growth_limits
    assert change.growth == pytest.approx(growth.mean(), rel=0.01)
    assert (high - low) / 2 / stats.norm.ppf(0.975) == pytest.approx(growth.std(), rel=0.05)


def test_growth_rates_need_a_level_above_zero():
    series = wb.prevalence_series(
        AUDIT, FRAME, {"a": [4780, 220], "b": [4500, 500], "c": [4300, 700]}
    )
    assert series.levels()[0]["low"] == 0
    first, second = series.growth_rates()
    assert math.isnan(first["growth"]) and math.isnan(first["low"])
    change = series.change("b", "c")
    assert second["growth"] == pytest.approx(change.estimate / series.estimates[1])
    assert -1 < second["low"] < second["growth"] < second["high"]
    assert [(row["first_period"], row["last_period"]) for row in series.changes()] == [
        ("a", "b"),
        ("b", "c"),
    ]


def test_what_cannot_be_reported_says_so_and_the_rest_is():
    months = {
        "ok": [4382, 618],
        "none": [0, 0],
        "shares": [0.86, 0.14],
        "percent": [86.5, 13.5],
        "missing": [4300, None],
        "nan": [4300, float("nan")],
        "short": [4300],
        "text": ["many", 3],
        "negative": [4300, -1],
        "odd": [4300.5, 2.2],
        "last": [4191, 809],
    }
    series = wb.prevalence_series(AUDIT, FRAME, months)
    said = dict(zip(series.periods, series.problems, strict=True))
    assert said == {
        "ok": "",
        "last": "",
        "none": "no items were counted",
        "shares": "counts must be whole numbers; got 0.86, 0.14. These look like proportions; give the number of items per class",
        "percent": "counts must be whole numbers; got 86.5, 13.5. These look like proportions; give the number of items per class",
        "missing": "the count of class 1 is missing",
        "nan": "the count of class 1 is missing",
        "short": "needs one count per class 0, 1; got 1",
        "text": "the count of class 0 must be a number; got 'many'",
        "negative": "the count of class 1 must be finite and at least 0; got -1",
        "odd": "counts must be whole numbers; got 4300.5, 2.2",
    }
    assert np.isfinite(series.estimates[[0, -1]]).all() and np.isnan(series.estimates[1:-1]).all()
    assert series.headline().startswith(
        "2 of 11 periods estimated by maximum likelihood (mle); ok to last"
    )
    assert [(row["first_period"], row["last_period"]) for row in series.changes()] == [
        ("ok", "last")
    ]
    assert series.levels()[1]["problem"] == "no items were counted"
    with pytest.raises(
        ValueError,
        match="last must be a period that can be reported; 'none': no items were counted",
    ):
        series.change("ok", "none")
    with pytest.raises(
        ValueError,
        match=r"first must be a period of the series; got 'okay' \(did you mean 'ok'\?\)",
    ):
        series.change("okay", "last")
    with pytest.raises(
        ValueError,
        match="counts_by_period must hold at least one period that can be reported; 1: no items",
    ):
        wb.prevalence_series(AUDIT, FRAME, [[0, 0]])
    with pytest.raises(
        ValueError, match="counts_by_period must hold at least one period; got none"
    ):
        wb.prevalence_series(AUDIT, FRAME, {})
    lost = [note for note in series.notes if note.kind == "refused"]
    assert [note.where for note in lost] == [("period", name) for name in series.periods[1:-1]]
    assert "periods shares, percent" not in series._repr_html_()
    assert "<li>periods missing, nan: the count of class 1 is missing</li>" in series._repr_html_()


def test_notes_of_a_series_tell_all_periods_from_single_ones():
    months = {"Jan": FRAME, "Feb": [0, 0], "few": [1600, 300], "far": [4990, 10], "June": [0, 0]}
    series = wb.prevalence_series(AUDIT, FRAME, months)
    misfit, share = [note for note in series.notes if note.where is None]
    assert misfit == wb.Note(  # 338 of 400 audited and 1,579 of 1,797 counted items, p = .02
        "assumption",
        "the audit is assumed to be a random sample of the counts at audit time; "
        "84% of its items are predicted 0, but 88% of all counted items. If its items were chosen by their true class, use sampled_by='truth' (--sampled-by truth)",
    )
    assert share == wb.Note(
        "assumption",
        "the audit is 22% of the frame: standard errors assume that later periods come from the same process as the audited period. If they have exactly its rates, rates='frame' (--rates frame) gives smaller standard errors",
    )
    assert series.problems == ("", "no items were counted", "", "", "no items were counted")
    frame = "its counts equal those at audit time, so it is taken to be the audited period"
    few = "the period has 1,900 items, fewer than ten per audited item; the standard error includes the classification errors of these items"
    flags = [
        [
            note.text
            for note in series.notes
            if note.where == ("period", period) and note.kind != "refused"
        ]
        for period in months
    ]
    assert flags[:3] == [[frame], [], [few]] and flags[4] == []
    assert [text.split(" ")[0] for text in flags[3]] == ["the", "even"]
    assert sentences(series.notes)[0] == "periods Feb, June: no items were counted"
    assert f"period Jan: {frame}" in sentences(series.notes)
    assert [row["flags"] for row in series.levels()] == ["; ".join(texts) for texts in flags]
    assert [row["problem"] for row in series.levels()] == list(series.problems)
    assert set(series.levels()[0]) - set(series.levels(notes=False)[0]) == {"flags", "problem"}
    alone = wb.estimate_prevalence(AUDIT, months["far"], FRAME)
    assert {(note.kind, note.text) for note in alone.notes} == {
        (note.kind, note.text) for note in series.notes if note.where in (None, ("period", "far"))
    }


@pytest.mark.parametrize(
    "periods",
    [
        [1, 2],
        [("2024", 1), ("2024", 2)],
        [np.int64(2023), np.int64(2024)],
        [np.datetime64("2024-01"), np.datetime64("2024-02")],
    ],
)
def test_notes_find_periods_of_any_name(periods):
    series = wb.prevalence_series(
        AUDIT, FRAME, dict(zip(periods, ([1579, 218], [0, 0]), strict=True))
    )
    assert series.problems == ("", "no items were counted") and series.levels()[0]["flags"]


@pytest.mark.parametrize("counts", [[1e308, 1e308], [10**400, 1], [2**53, 2], [1e308, 0.5]])
def test_counts_too_large_to_be_items_are_refused(counts):
    series = wb.prevalence_series(AUDIT, FRAME, {"huge": counts, "ok": [4382, 618]})
    assert series.problems[0] and not series.problems[1]
    for arguments in ((FRAME, [counts]), (counts, [[4382, 618]])):
        with pytest.raises(ValueError, match="count"):
            wb.prevalence_series(AUDIT, *arguments)


def test_counts_too_large_say_so():
    with pytest.raises(
        ValueError, match="^counts: counts must add up to at most 9007199254740992; got inf$"
    ):
        wb.estimate_prevalence(AUDIT, [1e308, 1e308], FRAME)
    with pytest.raises(
        ValueError, match="^counts: the count of class 0 must be finite and at least 0; got inf$"
    ):
        wb.estimate_prevalence(AUDIT, [10**400, 1], FRAME)


@pytest.mark.parametrize(
    ("cell", "said"),
    [
        ([1, 2], "must be a number; got [1, 2]"),
        (1j, "must be a number; got 1j"),
        (True, "must be a number; got True"),
        (None, "is missing"),
        (float("nan"), "is missing"),
        (np.datetime64("NaT"), "is missing"),
    ],
)
def test_a_cell_that_is_no_count_is_the_problem_of_its_period(cell, said):
    series = wb.prevalence_series(AUDIT, FRAME, {"odd": [4300, cell], "ok": [4382, 618]})
    assert series.problems == (f"the count of class 1 {said}", "")


def test_a_series_of_a_weak_classifier_reports_with_its_doubts():
    series = wb.prevalence_series(
        wb.ConfusionCounts([[30, 20], [16, 34]]), [5400, 4600], [[540, 460], [500, 500]]
    )
    change = series.change(1, 2)
    assert (
        change.limits.method == "hull of delta, Fieller"
        and -1 < change.limits.low < 0 < change.limits.high < 1
    )
    assert change.notes == change.limits.notes == change.growth_limits.notes
    assert [note.text for note in change.notes][0].startswith(
        "the audit is too small for this classifier"
    ) and len(change.notes) == 1
    assert np.isfinite(series.estimates).all()


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_periods_from_a_data_frame(library):
    frame = pytest.importorskip(library).DataFrame(
        {"no": [4382, 4191, None], "yes": [618, 809, 700]}
    )
    series = wb.prevalence_series(AUDIT, FRAME, frame)
    expected = wb.prevalence_series(AUDIT, FRAME, [[4382, 618], [4191, 809], [None, 700]])
    assert series.rows()[:2] == expected.rows()[:2]
    assert series.problems == expected.problems == ("", "", "the count of class 0 is missing")


@pytest.mark.slow
@pytest.mark.parametrize(
    "rates, setting", [((0.85, 0.9), (0.75, 0.5, 0.52)), ((0.95, 0.85), (0.1, 0.15, 0.2))]
)
@pytest.mark.slow
def test_changes_between_two_later_periods_cover(rates, setting):
    """Nominal .95 at 200 audited items: within two standard errors of .94 (growth .93) in 500 runs."""
    (p00, p11), (first, earlier, later), size, runs = rates, setting, 20_000, 500
    study = wb.simulate_shifts(
        first, [earlier, later], p00, p11, 200, size, runs=runs, rng=1
    ).studies
    hits, growth = [], []
    for r in range(runs):
        ones = [
            round(size * share)
            for share in (study[0].frame_share[r], study[0].share[r], study[1].share[r])
        ]
        frame, *counts = ([size - x, x] for x in ones)
        audit = wb.ConfusionCounts(study[0].table[r])
        series = wb.prevalence_series(audit, frame, counts, sampled_by="random")
        change = series.change(1, 2)
        hits.append(later - earlier in change.limits)
        growth.append((later - earlier) / earlier in change.growth_limits)
    assert np.mean(hits) > 0.94 - 2 * math.sqrt(0.94 * 0.06 / runs)
    assert np.mean(growth) > 0.93 - 2 * math.sqrt(0.93 * 0.07 / runs)


@pytest.mark.slow
def test_ten_years_of_five_classes():
    rng = np.random.default_rng(0)
    rates = 0.75 * np.eye(5) + 0.05
    audit = audit_of(rates, [0.3, 0.25, 0.2, 0.15, 0.1], 2000)
    frame = audit.table.sum(0) * 10
    months = {
        f"{2015 + m // 12}-{m % 12 + 1:02}": rng.multinomial(20_000, frame / frame.sum())
        for m in range(120)
    }
    series = wb.prevalence_series(audit, frame, months)
    assert (
        len(series.rows()) == 600
        and len(series.changes()) == 595
        and len(series.growth_rates()) == 595
    )
    assert series.estimates.sum(1) == pytest.approx(np.ones(120))
    assert all(row["low"] <= row["estimate"] <= row["high"] for row in series.rows())
    change = series.change("2015-01", "2024-12")
    assert len(change.limits) == 5 and change.variance.shape == (5, 5)
    assert change.naive_standard_error.mean() > 1.1 * change.standard_error.mean()


def test_several_class_draws_have_the_first_order_spread():
    audit = audit_of(GOOD, [0.5, 0.3, 0.2], 4000)
    frame = audit.table.sum(0) * 3
    for rates in ("process", "frame"):
        series = wb.prevalence_series(audit, frame, [frame, [4000, 3500, 2500]], rates=rates)
        draws = series._usable.draws
        assert draws.shape == (DRAWS, 2, 3)
        assert draws.std(0) == pytest.approx(series.standard_errors, rel=0.06)
        change = series.change(1, 2)
        assert (draws[:, 1] - draws[:, 0]).std(0) == pytest.approx(change.standard_error, rel=0.06)
        again = wb.prevalence_series(audit, frame, [frame, [4000, 3500, 2500]], rates=rates)
        assert again.rows() == series.rows()


# audits


def test_audits_from_labels():
    found = wb.ConfusionCounts.from_labels(["no", "yes", "yes", "no"], ["no", "no", "yes", "yes"])
    assert found.labels == ("no", "yes") and found.table.tolist() == [[1, 1], [1, 1]]
    ordered = wb.ConfusionCounts.from_labels([1, 2, 2], [1, 1, 2], labels=[2, 1, 3])
    assert ordered.labels == (2, 1, 3) and ordered.table.tolist() == [
        [1, 1, 0],
        [0, 1, 0],
        [0, 0, 0],
    ]
    assert wb.ConfusionCounts([[1, 2], [3, 4]]).labels == (0, 1)
    assert found.n == 4 and found.rows()[0] == {
        "truth": "no",
        "predicted_no": 1,
        "predicted_yes": 1,
    }


@pytest.mark.parametrize(
    "make, message",
    [
        (
            lambda: wb.ConfusionCounts([[1, 2, 3], [4, 5, 6]]),
            "table must be square, with K >= 2 true and predicted classes; got shape (2, 3)",
        ),
        (
            lambda: wb.ConfusionCounts([[1, -2], [3, 4]]),
            "table must be at least 0; cell (row by row) 1 is -2",
        ),
        (
            lambda: wb.ConfusionCounts([[1, 0.5], [3, 4]]),
            "table must be a whole number; cell (row by row) 1 is 0.5",
        ),
        (
            lambda: wb.ConfusionCounts([[0, 0], [0, 0]]),
            "table must hold at least one audited item; all its counts are 0",
        ),
        (
            lambda: wb.ConfusionCounts([[1, 2], [3, 4]], ["a"]),
            "labels must have 2 entries, one per class; got 1",
        ),
        (
            lambda: wb.ConfusionCounts([[1, 2], [3, 4]], ["a", "a"]),
            "labels must be distinct; got ('a', 'a')",
        ),
        (
            lambda: wb.ConfusionCounts.from_labels(["a", "b"], ["a"]),
            "prediction must have 2 entries; got 1",
        ),
        (
            lambda: wb.ConfusionCounts.from_labels(["0", "1"], [0, 1]),
            "truth and prediction must both be text or both be numbers; got '0' and 0",
        ),
        (
            lambda: wb.ConfusionCounts.from_labels(["a", "b"], ["a", "c"], labels=["a", "b"]),
            "labels must name every class of truth and prediction; 'c' is not among 'a', 'b'",
        ),
        (
            lambda: wb.ConfusionCounts.from_labels(["a", "a"], ["a", "a"]),
            "truth and prediction must hold at least two classes; only 'a' occurs. Name all classes with labels",
        ),
        (
            lambda: wb.ConfusionCounts.from_labels(["a", None], ["a", "b"]),
            "truth must not be missing; item 1 is",
        ),
        (
            lambda: AUDIT.merged(0, 1),
            "first and second must be two of at least three classes; got 0 and 1",
        ),
        (lambda: AUDIT.index("x"), "label must be one of 0, 1; got 'x'"),
    ],
)
def test_audits_that_cannot_be(make, message):
    with pytest.raises(ValueError) as error:
        make()
    assert str(error.value) == message


@pytest.mark.parametrize(
    "table, counts, frame, method, message",
    [
        (
            [[331, 18], [7, 44]],
            [838, 162],
            None,
            "mle",
            "counts_at_audit must be given for method 'mle': the predicted counts of all items from which the audit was sampled. Without them use 'misclassification', which also assumes a constant P(prediction | truth)",
        ),
        (
            [[331, 18], [0, 0]],
            [838, 162],
            [1579, 218],
            "subtracted_bias",
            "p11 cannot be estimated: no audited item of class 1. Audit items of this class, or use 'calibration' if P(truth | prediction) is constant",
        ),
        (
            [[331, 0], [7, 0]],
            [838, 162],
            [1579, 218],
            "calibration",
            "P(truth | prediction 1) cannot be estimated: no audited item was predicted 1. Audit such items, or use 'misclassification'",
        ),
        (
            [[40, 60], [60, 40]],
            [838, 162],
            [1579, 218],
            "misclassification",
            "p00 + p11 must be above 1; the audit has 0.400 + 0.400. The classifier is no better than chance, or the labels are swapped",
        ),
        (
            [[331, 18], [7, 44]],
            [0.84, 0.16],
            [1579, 218],
            "mle",
            "counts: counts must be whole numbers; got 0.84, 0.16. These look like proportions; give the number of items per class",
        ),
        ([[331, 18], [7, 44]], [0, 0], [1579, 218], "mle", "counts: no items were counted"),
        (
            [[331, 18], [7, 44]],
            [838, 162],
            [1579, 21],
            "mle",
            "counts_at_audit must include the audited items; 62 audited items were predicted 1, but only 21 items were counted. Give the counts of the items from which the audit was sampled. If the audited items were chosen by their true class, or come from elsewhere, use sampled_by='truth' (--sampled-by truth)",
        ),
        (
            [[331, 18], [7, 44]],
            [838, 162],
            [1579, 218],
            "mel",
            "method must be one of 'baseline', 'classify_and_count', 'subtracted_bias', 'misclassification', 'calibration', "
            "'mixed', 'mle', 'hull'; got 'mel' (did you mean 'mle'?)",
        ),
    ],
)
def test_estimates_that_cannot_be(table, counts, frame, method, message):
    with pytest.raises(ValueError) as error:
        wb.estimate_prevalence(wb.ConfusionCounts(table), counts, frame, method=method)
    assert str(error.value) == message


def test_an_audit_must_be_confusion_counts():
    with pytest.raises(
        TypeError, match=re.escape("audit must be of class ConfusionCounts; got list")
    ):
        wb.estimate_prevalence([[331, 18], [7, 44]], [838, 162], FRAME)


def test_merged_classes():
    audit = wb.ConfusionCounts([[5, 1, 0], [2, 4, 1], [3, 0, 7]], ["a", "b", "c"])
    assert audit.merged("a", "c").table.tolist() == [[15, 1], [3, 4]]
    assert audit.merged("c", "a").labels == ("b", "c+a")
    assert audit.merged("c", "a").table.tolist() == [[4, 3], [1, 15]]


def test_comparing_audits_against_scipy():
    first, second = wb.ConfusionCounts([[331, 18], [7, 44]]), wb.ConfusionCounts([[80, 9], [2, 14]])
    found = wb.compare_audits(first, second)
    for pvalues, tables in (
        (found.reading_pvalues, ([[331, 18], [80, 9]], [[44, 7], [14, 2]])),
        (found.truth_pvalues, ([[331, 7], [80, 2]], [[44, 18], [14, 9]])),
    ):
        exact = [stats.fisher_exact(table).pvalue for table in tables]
        doubled = min(2 * min(exact), 1)
        assert pvalues == pytest.approx(
            [doubled if p == min(exact) else max(doubled, p) for p in exact]
        )
    wilson = [
        stats.binomtest(x, n).proportion_ci(method="wilson") for x, n in ((331, 349), (80, 89))
    ]
    p, q = 331 / 349, 80 / 89
    low = q - p - math.sqrt((q - wilson[1].low) ** 2 + (wilson[0].high - p) ** 2)
    high = q - p + math.sqrt((wilson[1].high - q) ** 2 + (p - wilson[0].low) ** 2)
    assert found.reading[0] == pytest.approx([p, q, q - p, low, high])
    assert not found.drifted
    assert (
        "no significant change of P(prediction | truth) (class 1: 95% confidence interval"
        in found.headline()
    )


def test_a_fresh_audit_tells_which_rate_stayed():
    """The share has doubled under constant P(prediction | truth): that rate is not shown to move, the other is."""
    first = wb.ConfusionCounts([[1710, 90], [30, 170]])
    second = wb.ConfusionCounts([[1140, 60], [120, 680]])
    found = wb.compare_audits(first, second)
    assert not found.drifted and found.calibration_drifted
    assert "P(truth | prediction) has changed" in found.headline()
    assert found.rows()[0]["rate"] == "P(correct | truth)" and len(found.rows()) == 4
    empty = wb.compare_audits(first, wb.ConfusionCounts([[30, 2], [0, 0]]))
    assert math.isnan(empty.reading_pvalues[1]) and np.isfinite(empty.reading_pvalues[0])


def test_false_alarms_of_the_comparison_are_rare():
    rng = np.random.default_rng(1)
    alarms = [
        wb.compare_audits(
            *(
                wb.ConfusionCounts(rng.multinomial(300, [0.6, 0.1, 0.05, 0.25]).reshape(2, 2))
                for _ in range(2)
            )
        ).drifted
        for _ in range(400)
    ]
    assert np.mean(alarms) < 0.05 + 2 * math.sqrt(0.05 * 0.95 / 400)


def test_pooling():
    pooled = wb.pool_audits(AUDIT, wb.ConfusionCounts([[80, 9], [2, 14]]))
    assert pooled.table.tolist() == [[411, 27], [9, 58]]
    with pytest.raises(
        ValueError,
        match="audits must have the same labels in the same order; got 0, 1 and 'a', 'b'",
    ):
        wb.pool_audits(AUDIT, wb.ConfusionCounts([[80, 9], [2, 14]], "ab"))
    with pytest.raises(ValueError, match="audits must hold at least one"):
        wb.pool_audits()
    with pytest.raises(TypeError, match="second must be of class ConfusionCounts; got list"):
        wb.compare_audits(AUDIT, [[1, 2], [3, 4]])


def test_one_audit_is_its_own_pool():
    assert wb.pool_audits(AUDIT).table.tolist() == AUDIT.table.tolist()


@given(st.lists(st.integers(0, 12), min_size=8, max_size=8))
@settings(max_examples=60, deadline=None)
def test_fishers_test_of_small_tables(cells):
    first, second = np.array(cells).reshape(2, 2, 2)
    if not (first.sum(1).all() and second.sum(1).all()):
        return
    found = wb.compare_audits(wb.ConfusionCounts(first), wb.ConfusionCounts(second)).reading_pvalues
    exact = [stats.fisher_exact([first[k], second[k]]).pvalue for k in range(2)]
    assert found.min() == pytest.approx(min(2 * min(exact), 1)) and found.max() <= 1
    assert found.max() == pytest.approx(max(found.min(), *exact))


@pytest.mark.parametrize(
    ("counts", "shares"),
    [
        ([0.083, 0.917], True),
        ([8.3, 91.7], True),
        ([83.5, 917], False),
        ([-0.0, 2.5], False),
        ([0.3, 0.4], False),
    ],
)
def test_counts_that_look_like_shares(counts, shares):
    with pytest.raises(ValueError, match="^counts: counts must be whole numbers; got") as caught:
        wb.estimate_prevalence(AUDIT, counts, FRAME)
    assert ("These look like proportions" in str(caught.value)) == shares


def test_as_many_items_as_floats_can_count():
    most = 2**53
    assert wb.estimate_prevalence(
        AUDIT, [most // 2, most // 2], method="calibration"
    ).estimate == pytest.approx((7 / 338 + 44 / 62) / 2)
    with pytest.raises(ValueError, match="must add up to at most"):
        wb.estimate_prevalence(AUDIT, [most // 2, most // 2 + 2], method="calibration")


def test_a_plan_takes_as_few_items_as_an_audit_has():
    with pytest.raises(ValueError, match="size must be a whole number of at least 4; got 3"):
        wb.plan_audit(0.5, 0.5, 0.9, 0.9, 0.45, size=3)
    with pytest.raises(ValueError, match="half_width 0.45 is too small"):
        wb.plan_audit(0.5, 0.5, 0.9, 0.9, 0.45, size=4)


# plans


@pytest.mark.parametrize(
    "quantity, rates", list(itertools.product(["level", "change"], ["process", "frame"]))
)
def test_a_planned_audit_gives_the_wanted_half_width(quantity, rates):
    """Against the mean half-width of simulated audits of the planned size; small ones are often wider."""
    setting = (0.3, 0.4, 0.9, 0.85)
    half_width = 0.03 if quantity == "level" else 0.018
    plan = wb.plan_audit(
        *setting, half_width, size=4000, new_size=20_000, quantity=quantity, rates=rates
    )
    study = wb.simulate_prevalence(
        *setting, plan.audited, 4000, new_size=20_000, runs=3000, rates=rates
    )
    low, high = study.limits(quantity=quantity)
    assert ((high - low) / 2).mean() == pytest.approx(
        half_width, rel=0.03 if plan.audited > 200 else 0.05
    )
    assert plan.expected_half_width <= half_width


def test_a_fresh_audit_needs_fewer_items_after_a_large_shift():
    plan = wb.plan_audit(0.1, 0.6, 0.96, 0.85, 0.03)
    assert plan.fresh_audited < plan.audited and plan.fresh_half_width < 0.03
    variance = 0.6 * 0.4 * (1 - wb.estimator_theory(0.6, 0.6, 0.96, 0.85, 100).retained_change)
    assert plan.fresh_audited == pytest.approx(
        variance / (0.03 / stats.norm.ppf(0.975)) ** 2, rel=0.03
    )
    assert [row["items"] for row in plan.rows()] == [plan.audited, plan.audited, plan.fresh_audited]


def test_a_change_between_two_later_periods():
    near = wb.plan_audit(0.1, 0.31, 0.96, 0.85, 0.01, quantity="change", previous_base_rate=0.3)
    far = wb.plan_audit(0.1, 0.4, 0.96, 0.85, 0.01, quantity="change", previous_base_rate=0.3)
    assert near.audited < far.audited / 20


@pytest.mark.parametrize(
    "change, message",
    [
        (
            {"half_width": 0.001, "new_size": 1000},
            "half_width 0.001 is too small: the errors of the predicted labels alone leave ±0.0304, however large the audit is. Count more items per period",
        ),
        ({"half_width": 0.6}, "half_width must be a number in (0, 0.5); got 0.6"),
        ({"quantity": "growth"}, "quantity must be one of 'level', 'change'; got 'growth'"),
        (
            {"method": "calibration"},
            "method must be one of 'misclassification', 'mixed', 'mle'; got 'calibration'",
        ),
    ],
)
def test_plans_that_cannot_be(change, message):
    with pytest.raises(ValueError) as error:
        wb.plan_audit(
            **{"base_rate": 0.3, "new_base_rate": 0.4, "p00": 0.9, "p11": 0.8, "half_width": 0.02}
            | change
        )
    assert str(error.value) == message


def test_a_weak_classifier_is_warned_of_in_the_plan():
    plan = wb.plan_audit(0.5, 0.4, 0.6, 0.7, 0.1)
    assert "coefficient of variation of 0.2" in sentences(plan.notes)[0]
    assert [note.kind for note in plan.notes] == ["unreliable"] * len(plan.notes)
    assert sentences(plan.notes) == tuple(note.text for note in plan.notes)


def test_theory_says_what_is_not_known_and_what_is_rough():
    found = wb.estimator_theory(0.5, 0.5, 0.6, 0.7, 1000, size=5000)
    assert [(note.kind, note.where) for note in found.notes] == [
        ("undefined", ("method", "mle")),
        ("unreliable", None),
        ("unreliable", None),
    ]
    assert found.reasons == {
        "mle": "no formula for the bias is known; it is of order 1/n, and in simulations it is smaller than that of 'mixed'. The variance is first-order"
    }
    assert [row["problem"] for row in found.rows()] == [""] * 6 + [found.reasons["mle"]]
    assert str(found.notes[1]).startswith(
        "the estimated p00 + p11 - 1 has a coefficient of variation of 0.10"
    )
    assert str(found.notes[2]).startswith("the audit is 20% of the frame")


# printing


def test_one_is_one():
    one = wb.ConfusionCounts([[1, 0], [0, 0]])
    assert repr(one) == (
        "ConfusionCounts(1 audited item, 100.0% correct; predicted correctly: class 0 100.0%, class 1 not audited)"
    )
    series = wb.prevalence_series(AUDIT, None, [[1, 0]], method="misclassification")
    assert series.headline().startswith(
        "1 of 1 period estimated by the misclassification estimator; assuming "
    )
    assert any(
        note.text.startswith("the period has 1 item, fewer than ten") for note in series.notes
    )


def test_results_state_their_assumption_and_survive_a_round_trip():
    calibrated = wb.estimate_prevalence(AUDIT, [4191, 809], FRAME, method="calibration")
    assert "assuming P(truth | prediction) is the same as in the audit" in repr(calibrated)
    assert repr(wb.estimate_prevalence(AUDIT, [4191, 809], FRAME)).startswith(
        "PrevalenceEstimate(mle: proportion 0.1558 of class 1 (SE 0.01418), 95% confidence interval 0.1296 to 0.1851; classify-and-count 0.1618; assuming P(prediction | truth) is the same as in the audit; 400 audited items)"
    )
    three = audit_of(GOOD, [0.5, 0.3, 0.2], 1000)
    series = wb.prevalence_series(AUDIT, FRAME, MONTHS)
    for result in (
        AUDIT,
        calibrated,
        wb.estimate_prevalence(three, [40, 35, 25], [5000, 3000, 2000]),
        series,
        series.change("Jan", "Dec"),
        wb.compare_estimators(AUDIT, [4191, 809], FRAME),
        wb.compare_audits(AUDIT, AUDIT),
        wb.estimator_theory(0.5, 0.4, 0.6, 0.7, 100),
        wb.plan_audit(0.3, 0.4, 0.9, 0.8, 0.05),
    ):
        again = wb.Result.from_dict(json.loads(json.dumps(result.to_dict(), allow_nan=False)))
        assert repr(again) == repr(result) and str(again.rows()) == str(result.rows())
        assert "<table" in result._repr_html_()


def test_an_audit_of_the_whole_frame_has_no_error_of_its_own_if_the_frames_rates_stay():
    theory = wb.estimator_theory(0.1, 0.15, 0.96, 0.85, 400, size=400, new_size=5000, rates="frame")
    reading = (0.15 * 0.85 * 0.15 + 0.85 * 0.96 * 0.04) / 5000
    assert (
        theory.variance["mixed"] == pytest.approx(reading / 0.81**2) and theory.bias["mixed"] == 0
    )
    audit = wb.ConfusionCounts([[340, 14], [7, 39]])
    found = wb.estimate_prevalence(audit, [4185, 815], [347, 53], method="mixed", rates="frame")
    assert 0 < found.standard_error < 0.01
    series = wb.prevalence_series(
        audit, [347, 53], {"a": [347, 53], "b": [4185, 815]}, rates="frame"
    )
    assert np.isfinite(series.estimates).all()


@pytest.mark.parametrize(
    ("frame", "strange"),
    [([15790, 2180], False), ([13000, 3000], False), ([9000, 9000], True), ([2180, 15790], True)],
)
def test_an_audit_of_another_frame_is_flagged(frame, strange):
    audit = wb.ConfusionCounts([[331, 18], [7, 44]])
    flags = wb.estimate_prevalence(audit, [1000, 200], frame, sampled_by="random").flags
    assert (
        any(
            "is unlikely to be a random sample of the counts at audit time" in flag
            for flag in flags
        )
        == strange
    )


def test_the_fit_of_an_audit_is_a_test_of_its_level():
    """Honest audits are flagged about once in a thousand; the p-value is uniform enough for that."""
    from workbench.misclassification.periods import fit_pvalue

    rng = np.random.default_rng(3)
    frame = np.array([3000, 900, 600])
    drawn = rng.multivariate_hypergeometric(frame, 1500, 4000)
    pvalues = np.array([fit_pvalue(wb.ConfusionCounts(np.diag(row)), frame) for row in drawn])
    assert abs((pvalues < 0.05).mean() - 0.05) < 0.015 and (pvalues < 0.001).mean() < 0.004


def test_shapes_are_those_of_the_docstrings():
    for table, one, pair in (
        ([[331, 18], [7, 44]], (), ()),
        ([[50, 3, 2], [4, 60, 5], [1, 2, 40]], (3,), (3, 3)),
    ):
        audit, counts = wb.ConfusionCounts(table), np.sum(table, 0) * 10
        found = wb.estimate_prevalence(audit, counts[::-1], counts)
        assert [
            np.shape(value)
            for value in (found.estimate, found.bias, found.standard_error, found.counted)
        ] == [one] * 4 and np.shape(found.variance) == pair
        limits = found.interval()
        assert (
            isinstance(limits, wb.Interval)
            if one == ()
            else [type(each) for each in limits] == [wb.Interval] * 3
        )
        change = wb.prevalence_series(audit, counts, {"a": counts, "b": counts[::-1]}).change(
            "a", "b"
        )
        assert np.shape(change.estimate) == one and np.shape(change.variance) == pair


def fieller_by_hand(tn, n0, tp, n1, x, size, z):
    """Shares a that (q + Sp - 1 - a J)^2 <= z^2 Var leaves, found on a grid."""
    p00, p11, q = (tn + 1) / (n0 + 2), (tp + 1) / (n1 + 2), (x + z * z / 2) / (size + z * z)
    a = np.linspace(0, 1, 1_000_001)
    variance = (
        q * (1 - q) / (size + z * z)
        + (1 - a) ** 2 * p00 * (1 - p00) / (n0 + 2)
        + a**2 * p11 * (1 - p11) / (n1 + 2)
    )
    kept = a[(q + p00 - 1 - a * (p00 + p11 - 1)) ** 2 <= z * z * variance]
    return kept.min(), kept.max()


@pytest.mark.parametrize(
    "right0, audited0, right1, audited1, counted, size",
    [(140, 200, 180, 200, 400, 1000), (38, 40, 9, 10, 30, 1000), (8, 8, 30, 42, 700, 900)],
)
def test_the_hull_is_that_of_both_constructions(right0, audited0, right1, audited1, counted, size):
    audit = wb.ConfusionCounts([[right0, audited0 - right0], [audited1 - right1, right1]])
    found = wb.estimate_prevalence(audit, [size - counted, counted], method="hull")
    same = wb.estimate_prevalence(audit, [size - counted, counted], method="misclassification")
    assert (found.estimate, found.variance, found.bias) == (same.estimate, same.variance, same.bias)
    z = float(stats.norm.ppf(0.975))
    p00, p11, q = (right0 + 0.5) / (audited0 + 1), (right1 + 0.5) / (audited1 + 1), counted / size
    share = (q + p00 - 1) / (p00 + p11 - 1)
    reach = (
        z
        / (p00 + p11 - 1)
        * np.sqrt(
            q * (1 - q) / size
            + (1 - share) ** 2 * p00 * (1 - p00) / (audited0 + 1)
            + share**2 * p11 * (1 - p11) / (audited1 + 1)
        )
    )
    low, high = fieller_by_hand(right0, audited0, right1, audited1, counted, size, z)
    expected = max(min(share - reach, low), 0), min(max(share + reach, high), 1)
    assert tuple(found.interval()) == pytest.approx(expected, abs=2e-6)
    assert found.interval().method == "hull of delta, Fieller"
    assert (
        found.rows()[0]["low"]
        == wb.prevalence_series(audit, None, [[size - counted, counted]], method="hull").levels()[
            0
        ]["low"]
    )
    first, second = np.transpose(
        Periods(audit, None, np.array([[size - counted, counted]]), "hull", "process").level_limits(
            0.95
        )
    )[:, 0]
    assert first.tolist() == pytest.approx(1 - second[::-1]) and second.tolist() == list(
        found.interval()
    )


def test_the_hull_of_a_published_example():
    """Sensitivity .9 and specificity .7 from 200 + 200, 40% of 1,000: .1667, with these limits by hand."""
    found = wb.estimate_prevalence(
        wb.ConfusionCounts([[140, 60], [20, 180]]), [600, 400], method="hull"
    )
    assert found.estimate == pytest.approx(1 / 6) and np.round(found.interval(), 4).tolist() == [
        0.0524,
        0.2687,
    ]


@pytest.mark.parametrize("table", [[[20, 20], [10, 10]], [[6, 4], [4, 6]], [[0, 0], [3, 40]]])
def test_the_hull_is_the_whole_range_where_d_may_be_0(table):
    assert tuple(
        wb.estimate_prevalence(wb.ConfusionCounts(table), [600, 400], method="hull").interval()
    ) == (0, 1)


def test_the_hull_is_for_two_classes():
    audit = wb.ConfusionCounts([[9, 1, 1], [1, 9, 1], [1, 1, 9]])
    with pytest.raises(
        ValueError, match="method 'hull' is for two classes; the audit has 3. Use 'mle'"
    ):
        wb.estimate_prevalence(audit, [9, 9, 9], method="hull")


def test_the_record_of_the_hull_holds_what_is_said():
    record = json.loads((Path(__file__).parents[1] / "peers" / "hull_coverage.json").read_text())
    named = record["named"].values()
    ratios = [found["width over misclassification"] for found in named]
    assert min(found["coverage"] for found in named) >= 0.93 and float(np.median(ratios)) <= 1.1
    assert (
        f"{min(ratios):.2f} to {max(ratios):.2f} times as wide".replace("0.", ".")
        in documented.said()
    )
    assert (
        min(found["least"] for name, found in record.items() if name.startswith("searched")) >= 0.93
    )


@pytest.mark.parametrize(
    ("table", "known"),
    [([[10, 10], [5, 5]], False), ([[40, 60], [50, 40]], False), ([[90, 10], [5, 45]], True)],
)
def test_nothing_is_believed_of_two_classes_that_are_read_by_chance(table, known):
    periods = Periods(
        wb.ConfusionCounts(table), None, np.array([[60, 40]]), "misclassification", "process"
    )
    assert (np.isfinite(periods.believed[1]) == known).all()


def test_a_series_says_what_rose_and_what_fell():
    series = [
        wb.prevalence_series(AUDIT, FRAME, [FRAME, counts]).finding()
        for counts in ([4000, 4000], [9999, 1])
    ]
    assert [
        "The proportion of class 1 rose by" in series[0],
        "The proportion of class 1 fell by" in series[1],
    ] == [True, True]


# limits and orders of 1/n


def reciprocal_variance(cv):
    """Return the variance of 1 / X, X normal with mean 1, to the sixth order: the moments 1, 3 and 15 in its series."""
    moments_of_normal = {0: 1, 2: 1, 4: 3, 6: 15}
    mean = np.polynomial.Polynomial([moments_of_normal.get(k, 0) for k in range(7)])
    square = np.polynomial.Polynomial([(k + 1) * moments_of_normal.get(k, 0) for k in range(7)])
    return (square - mean**2).truncate(7)(cv)


@pytest.mark.parametrize("table", [[[60, 40], [30, 70]], [[33, 18], [7, 44]], [[8, 4], [5, 11]]])
def test_higher_orders_are_those_of_the_reciprocal_of_a_normal_variable(table):
    table, frame, shares = np.array(table) + 0.5, np.array([0.6, 0.4]), np.array([0.3, 0.7])
    (a, b), (c, d) = table.tolist()
    p00, p11 = a / (a + b), d / (c + d)
    cv = math.sqrt(p00 * (1 - p00) / (a + b) + p11 * (1 - p11) / (c + d)) / (p00 + p11 - 1)
    assert methods.slope_cv(table) == pytest.approx(cv)
    factor = reciprocal_variance(cv) / cv**2
    for method in ("misclassification", "mixed"):
        slopes = methods.slopes_of(method, table, frame, shares)
        kept = (
            methods.slopes_of("calibration", table, None, frame).table if method == "mixed" else 0
        )
        found = methods.curved(method, slopes, table, frame).table - kept
        assert found == pytest.approx(math.sqrt(factor) * (slopes.table - kept))
    assert methods.curved("calibration", slopes, table, frame) is slopes


def test_limits_stay_where_shares_and_their_changes_can_be():
    """Draws of an ill-conditioned audit go far beyond; a growth rate has no upper end."""
    audit = audit_of(ILL, [0.4, 0.3, 0.3], 120)
    series = wb.prevalence_series(
        audit, [4000, 3000, 3000], {"a": [4000, 3000, 3000], "b": [1000, 8000, 1000]}
    )
    rows = series.levels(0.95)
    assert all(0 <= row["low"] <= row["high"] <= 1 for row in rows) and any(
        row["high"] == 1 for row in rows
    )
    assert any(row["high"] < 1 for row in rows)
    assert all(-1 <= row["low"] <= row["high"] <= 1 for row in series.changes(0.95))
    draws = np.linspace(-3, 3, 601)[:, None]
    assert [float(end[0]) for end in limits.percentiles(draws, 0.9, -1.0)] == [-1, 1]
    known = np.arange(601) % 3 > 0
    lanes = np.column_stack([draws, np.where(known, draws[:, 0], np.nan)])
    found = np.array(limits.percentiles(lanes, 0.9, -5, 5))
    assert found == pytest.approx(
        np.column_stack([np.quantile(draws, [0.05, 0.95]), np.quantile(draws[known], [0.05, 0.95])])
    )


@pytest.mark.parametrize(
    ("least", "cv", "made"),
    [
        (3, 0.05, (limits.DELTA,)),
        (3, limits.UNSURE, (limits.DELTA,)),
        (2, 0.05, (limits.DELTA, limits.ONE_ADDED)),
        (3, 0.2, (limits.DELTA, limits.FIELLER)),
        (0, 0.2, (limits.DELTA, limits.ONE_ADDED, limits.FIELLER)),
    ],
)
def test_an_interval_is_a_hull_below_three_errors_or_near_chance(least, cv, made):
    assert limits.constructions("mle", np.array([[90, 9], [least, 80]]), cv) == made
    assert limits.constructions("calibration", np.array([[90, 9], [least, 80]]), cv) == (
        limits.DELTA,
    )


def test_a_share_of_exactly_all_is_not_outside():
    audit = wb.ConfusionCounts([[50, 0], [0, 50]])
    for counts in ([0, 100], [100, 0]):
        found = wb.estimate_prevalence(audit, counts, method="misclassification")
        assert found.estimate == counts[1] / 100 and "outside" not in " ".join(
            sentences(found.notes)
        )


def test_the_remark_on_halved_shares():
    """Mixed: a share that has halved, or that of the other class; none without a shift."""

    def remarked(counts):
        return "more than halved" in " ".join(
            sentences(wb.estimate_prevalence(AUDIT, counts, FRAME, method="mixed").notes)
        )

    assert not remarked([3158, 437]) and not remarked([4200, 800])
    assert remarked([4850, 150]) and remarked([400, 4600])


def test_a_frame_may_be_the_audit():
    found = wb.estimate_prevalence(AUDIT, [338, 62], [338, 62])
    assert found.estimate == pytest.approx(51 / 400)
    with pytest.raises(
        ValueError,
        match="must include the audited items; 62 audited items were predicted 1, but only 61 items were counted",
    ):
        wb.estimate_prevalence(AUDIT, [338, 61], [338, 61])


def test_a_rate_of_a_class_of_next_to_nobody():
    assert wb.rate_variance(0.5, 1e-9, 10**15) == pytest.approx(0.25 / 1e6, rel=2e-6)
    with pytest.raises(ValueError, match="share must be from 1e-09 to 1; got 9e-10"):
        wb.rate_variance(0.5, 9e-10, 10**15)


def test_the_theory_of_shares_takes_cells_that_are_empty():
    found = wb.shares_theory([0.5, 0.3, 0.2], [0.6, 0.4, 0], np.eye(3), 500)
    for method in ("classify_and_count", "misclassification", "calibration", "mle"):
        assert found.bias[method] == pytest.approx([0, 0, 0], abs=1e-6), method
    with pytest.raises(
        ValueError, match="new_shares must hold proportions, none below 0, that add up to 1"
    ):
        wb.shares_theory([0.5, 0.3, 0.2], [0.7, 0.4, -0.1], np.eye(3), 500)


@pytest.mark.parametrize(("p00", "p11"), [(0.999, 0.8), (0.8, 0.999)])
def test_a_plan_tells_the_rarer_error(p00, p11):
    plan = wb.plan_audit(0.3, 0.4, p00, p11, 0.04)
    wrong = min(plan.audited * 0.7 * (1 - p00), plan.audited * 0.3 * (1 - p11))
    assert [
        f"contain {wrong:.1f} incorrect predictions" in text for text in sentences(plan.notes)
    ] == [True]
    assert sentences(wb.plan_audit(0.3, 0.4, 0.8, 0.8, 0.02).notes) == ()


def test_a_plan_of_more_than_a_billion_items_is_none():
    near = wb.plan_audit(0.3, 0.4, 0.9, 0.8, 1e-4)
    scale = math.sqrt(near.audited / 1e9)
    assert wb.plan_audit(0.3, 0.4, 0.9, 0.8, 1e-4 * scale * 1.001).audited == pytest.approx(
        1e9, rel=0.01
    )
    with pytest.raises(ValueError, match="is too small"):
        wb.plan_audit(0.3, 0.4, 0.9, 0.8, 1e-4 * scale / 1.001)


def test_a_long_series_shows_its_ends_and_the_audited_period():
    rng = np.random.default_rng(0)
    counts = {str(k): [1000 - x, x] for k, x in enumerate(rng.integers(100, 200, 230).tolist())}
    places = wb.prevalence_series(AUDIT, FRAME, counts).drawn()
    assert {0, 229} <= set(places) <= set(range(230)) and len(places) < 230
    shares = np.array([x for _, x in counts.values()])
    assert {int(shares.argmin()), int(shares.argmax())} <= {
        k for k in range(230) if shares[k] in shares[[*places]]
    }


@pytest.mark.parametrize("method", ["mle", "calibration", "misclassification"])
def test_the_named_period_is_the_audited_one_although_an_earlier_one_has_its_counts(method):
    audit = wb.ConfusionCounts([[260, 20], [30, 90]])
    counts = {"Jan": [290, 110], "Feb": [300, 100], "Mar": [290, 110]}
    named = wb.prevalence_series(audit, "Mar", counts, method=method)
    backward = dict(reversed(counts.items()))
    first = wb.prevalence_series(audit, [290, 110], backward, method=method)
    assert (named.audit_period, first.audit_period) == ("Mar", "Mar")
    assert named.estimates[::-1] == pytest.approx(first.estimates, abs=1e-12)
    assert named.standard_errors[::-1] == pytest.approx(first.standard_errors, abs=1e-12)
    assert named.standard_errors[2] == 0 < named.standard_errors[0]  # all 400 items were audited
    notes = [note.text for note in named.notes if note.where == ("period", "Mar")]
    assert notes[0] == "it is the audited period"
    again = type(named).from_dict(named.to_dict())
    assert again.levels() == named.levels()


def test_a_named_period_must_have_usable_counts():
    audit = wb.ConfusionCounts([[260, 20], [30, 90]])
    counts = {"Jan": [290, 110], "Feb": [0, 0]}
    refused(lambda: wb.prevalence_series(audit, "Mar", counts), "counts_at_audit", "must be")
    with pytest.raises(ValueError, match="no items were counted"):
        wb.prevalence_series(audit, "Feb", counts)
