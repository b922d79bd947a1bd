"""Audits of several periods, and audits with sampling weights."""

import numpy as np
import pytest
import scipy.optimize
import scipy.stats
from refusals import refused
from thinned import thinned

import workbench as wb
from workbench.misclassification import audits as of_periods
from workbench.misclassification import files

MONTHLY = {
    "2026-01": [[38, 5], [0, 17]],
    "2026-02": [[38, 8], [4, 10]],
    "2026-03": [[42, 4], [1, 13]],
    "2026-04": [[23, 2], [7, 28]],
}
COUNTS = {
    f"2026-0{k}": (5000 - read, read) for k, read in enumerate((1500, 1700, 1900, 2100, 2300), 1)
}


def audits(tables=None, labels=None):
    return {name: wb.ConfusionCounts(table, labels) for name, table in (tables or MONTHLY).items()}


def rogan_gladen(table, counts):
    """Return the corrected share and its standard error by the delta method, half a count added to each cell."""

    def share(cells):
        false, right = cells[0][1] / sum(cells[0]), cells[1][1] / sum(cells[1])
        return (counts[1] / sum(counts) - false) / (right - false), false, right

    estimate = share(np.asarray(table, float))[0]
    half = np.asarray(table, float) + 0.5
    pi, false, right = share(half)
    d, read = right - false, pi * right * (1 - right) + (1 - pi) * false * (1 - false)
    variance = (
        (1 - pi) ** 2 * false * (1 - false) / half[0].sum()
        + pi**2 * right * (1 - right) / half[1].sum()
        + read / sum(counts)
    ) / d**2
    return estimate, np.sqrt(variance)


def test_rates_are_pooled_over_the_months():
    series = wb.prevalence_series(audits(), None, COUNTS)
    pooled = sum(map(np.array, MONTHLY.values()))
    expected = [rogan_gladen(pooled, counts) for counts in COUNTS.values()]
    assert series.estimates == pytest.approx([estimate for estimate, _ in expected], abs=1e-12)
    assert series.estimates.round(3).tolist() == [0.248, 0.303, 0.357, 0.412, 0.467]
    assert series.standard_errors == pytest.approx([error for _, error in expected], rel=0.02)
    assert (
        series.audit_rates == "pooled"
        and series.method == "misclassification"
        and series.audit_period is None
    )
    assert series.audits[-1] is None and series.audit.table.tolist() == pooled.tolist()
    assert "4 periods audited (240 items): their rates" in str(series.notes[0])
    assert "from 240 audited items of 4 periods (their rates are pooled" in series.basis().lower()
    assert (
        "both from the pooled rates" in series.headline()
        and "P(prediction | truth) is the same" in series.headline()
    )


def test_the_estimates_are_near_those_of_maximum_likelihood():
    """With one proportion per month and common rates; the audited items of a month say little more of it."""

    def minus_log_likelihood(logits):
        right, false, *shares = 1 / (1 + np.exp(-logits))
        rates, total = np.array([[1 - false, false], [1 - right, right]]), 0.0
        for (name, counts), share in zip(COUNTS.items(), shares, strict=True):
            parts, table = (
                np.array([1 - share, share]),
                np.array(MONTHLY.get(name, np.zeros((2, 2)))),
            )
            total += (table * np.log(parts[:, None] * rates)).sum()
            total += ((counts - table.sum(0)) * np.log(parts @ rates)).sum()
        return -total

    best = scipy.optimize.minimize(
        minus_log_likelihood, [1.5, -1.5, 0, 0, 0, 0, 0], method="BFGS"
    ).x
    series = wb.prevalence_series(audits(), None, COUNTS)
    assert series.estimates == pytest.approx(
        1 / (1 + np.exp(-best[2:])), abs=0.2 * series.standard_errors.min()
    )


def test_own_audits_are_poststratified_by_their_own_counts():
    series = wb.prevalence_series(audits(), None, COUNTS, audit_rates="own")
    for t, (name, table) in enumerate(MONTHLY.items()):
        table, parts = np.array(table), np.array(COUNTS[name]) / 5000
        assert series.estimates[t] == pytest.approx(parts @ (table[1] / table.sum(0)))
        half = table + 0.5
        share = half[1] / half.sum(0)
        variance = (parts**2 * share * (1 - share) / half.sum(0)).sum() * (1 - 60 / 5000)
        assert series.standard_errors[t] == pytest.approx(np.sqrt(variance), rel=0.03)
    assert np.isnan(series.estimates[4]) and series.problems[4].startswith("it was not audited")
    change = series.change("2026-01", "2026-04")
    assert change.standard_error == pytest.approx(np.hypot(*series.standard_errors[[0, 3]]))
    (low, high), (first, last) = change.limits, (series.levels()[t] for t in (0, 3))
    down = np.hypot(last["estimate"] - last["low"], first["high"] - first["estimate"])
    up = np.hypot(last["high"] - last["estimate"], first["estimate"] - first["low"])
    assert (low, high) == pytest.approx((change.estimate - down, change.estimate + up))
    growth = series.growth_rates()[0]
    assert growth["low"] < growth["growth"] < growth["high"]
    restored = wb.Result.from_dict(series.to_dict())
    assert [*series.levels()[0]][:5] == ["period", "label", "estimate", "low", "high"]
    assert str(restored.levels()) == str(series.levels()) and str(restored.changes()) == str(
        series.changes()
    )
    assert "each from its own audit" in series.headline()


def test_equal_rates_are_tested_class_by_class():
    pairs = [np.array([[40, 10], [5, 45]]), np.array([[30, 20], [5, 45]])]
    found = of_periods.same_rates_pvalue([wb.ConfusionCounts(table) for table in pairs])
    # given the margins the tables of the two classes are independent hypergeometric variables
    p, expected = np.arange(51), 0.0
    first = scipy.stats.hypergeom(100, 30, 50).pmf(p)
    second = scipy.stats.hypergeom(100, 90, 50).pmf(p)

    def statistic(k, read):
        return 2 * (k - read / 2) ** 2 / (read / 2) + 2 * (k - read / 2) ** 2 / (50 - read / 2)

    total = statistic(p[:, None], 30) + statistic(p[None, :], 90)
    expected = (np.outer(first, second) * (total >= statistic(10, 30) - 1e-9)).sum()
    assert found == pytest.approx(
        expected, abs=4 * np.sqrt(expected * (1 - expected) / of_periods.PERMUTATIONS)
    )


@pytest.mark.parametrize(
    ("tables", "expected"),
    [
        ([[[9, 1], [0, 0]], [[0, 0], [1, 9]]], None),  # no class twice
        ([[[9, 0], [0, 9]], [[5, 0], [0, 5]]], 1.0),  # no errors
        ([[[9, 1], [2, 8]]], None),
    ],
)
def test_what_no_test_can_tell(tables, expected):
    found = of_periods.same_rates_pvalue([wb.ConfusionCounts(table) for table in tables])
    assert np.isnan(found) if expected is None else found == expected


DRIFTING = {"Jan": [[95, 5], [5, 45]], "Feb": [[70, 30], [20, 30]]}
TWO = {"Jan": (3300, 1700), "Feb": (2900, 2100)}


def test_rates_that_differ_are_not_pooled_unless_asked():
    auto, own, pooled = (
        wb.prevalence_series(audits(DRIFTING), None, TWO, audit_rates=choice)
        for choice in ("auto", "own", "pooled")
    )
    assert auto.audit_rates == "own" and auto.estimates.tolist() == own.estimates.tolist()
    assert (
        "each period is estimated from its own audit only because the rates P(prediction | truth) differ"
        in str(auto.notes)
    )
    assert pooled.audit_rates == "pooled" and abs(pooled.estimates - own.estimates).max() > 0.05


@thinned(("runs", "band"), few=(150, 0.06), whole=(2000, 0.02))
@pytest.mark.parametrize("choice", ["pooled", "own"])
def test_intervals_cover_what_the_months_hold(choice, runs, band):
    rng, shares, held, changes = (
        np.random.default_rng(11),
        np.array([0.25, 0.3, 0.35, 0.4, 0.45]),
        0,
        0,
    )
    for _ in range(runs):
        tables, counts, true = {}, {}, []
        for month, share in enumerate(shares):
            truth = rng.random(1000) < share
            read = rng.random(1000) < np.where(truth, 0.85, 0.12)
            place = 2 * truth[:60] + read[:60]
            tables[month] = wb.ConfusionCounts(np.bincount(place, minlength=4).reshape(2, 2))
            counts[month] = (1000 - read.sum(), read.sum())
            true.append(truth.mean())
        series = wb.prevalence_series(tables, None, counts, audit_rates=choice)
        held += np.mean(
            [row["low"] <= t <= row["high"] for row, t in zip(series.levels(), true, strict=True)]
        )
        low, high = series.change(0, 4).limits
        changes += low <= true[4] - true[0] <= high
    assert held / runs >= 0.95 - band and changes / runs >= 0.95 - band


def test_three_classes():
    tables = {
        "Jan": [[30, 2, 1], [3, 20, 2], [0, 1, 15]],
        "Feb": [[28, 3, 1], [2, 22, 1], [1, 1, 17]],
    }
    counts = {"Jan": (500, 300, 200), "Feb": (450, 300, 250), "Mar": (400, 300, 300)}
    series = wb.prevalence_series(audits(tables, ["a", "b", "c"]), None, counts)
    pooled = sum(map(np.array, tables.values()))
    rates = pooled / pooled.sum(1, keepdims=True)
    for row, read in zip(series.estimates, counts.values(), strict=True):
        assert row == pytest.approx(np.linalg.solve(rates.T, np.array(read) / 1000))
    own = wb.prevalence_series(audits(tables, ["a", "b", "c"]), None, counts, audit_rates="own")
    assert own.estimates[0] == pytest.approx(pooled_share(tables["Jan"], counts["Jan"]))
    assert len(own.changes()) == 3 and all(
        r["low"] <= r["change"] <= r["high"] for r in own.changes()
    )


def pooled_share(table, counts):
    table = np.array(table)
    return table / table.sum(0) @ np.array(counts) / sum(counts)


@pytest.mark.parametrize(
    "names",
    [
        ["Jan 2026", "Feb 2026", "Mar 2026", "Apr 2026"],
        ["2026-1", "2026-2", "2026-3", "2026-4"],
        ["1/2026", "2/2026", "3/2026", "4/2026"],
        ["2026-01-31", "2026-02-01", "2026-03-17", "2026-04-30"],
    ],
)
def test_periods_are_the_same_however_they_are_spelled(names):
    spelled = dict(zip(names, audits().values(), strict=True))
    series = wb.prevalence_series(spelled, None, COUNTS, audit_rates="own")
    assert series.audits[:4] == tuple(spelled.values()) and not any(
        "without counts" in str(n) for n in series.notes
    )


def test_two_audits_of_one_month_are_added_up():
    days = {"2026-01-05": MONTHLY["2026-01"], "2026-01-20": MONTHLY["2026-02"]}
    (pooled,) = of_periods.matched(audits(days), ["2026-01"]).values()
    assert pooled.table.tolist() == [[76, 13], [4, 27]]


def test_an_audit_without_counts_is_named_and_used_for_the_rates():
    later = {name: audit for name, audit in audits().items() if name > "2026-01"}
    old = {"2025-12": wb.ConfusionCounts(MONTHLY["2026-01"])}
    series = wb.prevalence_series(old | later, None, COUNTS)
    assert series.estimates.round(3).tolist() == [0.248, 0.303, 0.357, 0.412, 0.467]
    assert (
        "audited periods without counts: '2025-12'; these audits are used for the rates only"
        in map(str, series.notes)
    )
    own = wb.prevalence_series(old | later, None, COUNTS, audit_rates="own")
    assert np.isnan(own.estimates[0]) and "these audits are not used" in str(own.notes)


def weighted(*weights):
    return wb.ConfusionCounts.from_labels([0, 1, 1], [0, 1, 0], weights=weights)


def series_of(counts_at_audit=None, **options):
    return wb.prevalence_series(audits(), counts_at_audit, COUNTS, **options)


REFUSED = [
    (lambda: series_of(method="mixed"), "method", "must not be 'mixed', which needs one audit of"),
    (
        lambda: series_of(audit_rates="each"),
        "audit_rates",
        "must be one of 'auto', 'pooled', 'own'",
    ),
    (lambda: series_of(method="magic"), "method", "must be one of 'baseline'"),
    (lambda: series_of((3500, 1500)), "counts_at_audit", "must be None for audits of several"),
    (lambda: weighted(1, 2), "weights", "must have 3 entries, one per item", "got 2"),
    (lambda: weighted(1, -1, 2), "weights", "must be finite and at least 0; item 2"),
    (lambda: weighted(0, 0, 0), "weights", "must not all be 0"),
    (lambda: weighted(1, np.inf, 2), "weights", "must be finite and at least 0; item 2 has inf"),
]


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: f"{case[1]} {case[2]}")
def test_wrong_arguments_are_refused_by_name_and_rule(case):
    refused(*case)


# ---- sampling weights

WEIGHTED = {
    (0, 0): (123, 25),
    (0, 1): (9, 15),
    (1, 0): (0, 2),
    (1, 1): (68, 8),
}  # weights of 1, and of 20


def weighted_items():
    rows = [
        (t, p, w)
        for (t, p), sizes in WEIGHTED.items()
        for w, n in zip((1, 20), sizes, strict=True)
        for _ in range(n)
    ]
    return map(np.array, zip(*rows, strict=True))


def test_rates_are_weighted():
    truth, prediction, weights = weighted_items()
    audit = wb.ConfusionCounts.from_labels(truth, prediction, weights=weights)
    rates = [
        [
            weights[(truth == t) & (prediction == p)].sum() / weights[truth == t].sum()
            for p in (0, 1)
        ]
        for t in (0, 1)
    ]
    assert audit.reading_rates == pytest.approx(np.array(rates))
    assert (audit.reading_rates[1, 1].round(3), audit.reading_rates[0, 1].round(3)) == (
        0.851,
        0.332,
    )
    found = wb.estimate_prevalence(audit, (3000, 2000), method="misclassification")
    assert found.estimate == pytest.approx((0.4 - rates[0][1]) / (rates[1][1] - rates[0][1]))
    assert round(found.estimate, 3) == 0.132
    plain = wb.ConfusionCounts.from_labels(truth, prediction)
    assert (
        round(wb.estimate_prevalence(plain, (3000, 2000), method="misclassification").estimate, 3)
        == 0.312
    )


def test_the_effective_counts_vary_as_the_linearized_rates_do():
    truth, prediction, weights = weighted_items()
    audit = wb.ConfusionCounts.from_labels(truth, prediction, weights=weights)
    for t in (0, 1):
        w, read = weights[truth == t], prediction[truth == t] == 1
        rate = (w * read).sum() / w.sum()
        variance = ((w * (read - rate)) ** 2).sum() / w.sum() ** 2
        assert rate * (1 - rate) / audit.effective[t].sum() == pytest.approx(variance)
        assert audit.effective[t].sum() < w.sum() ** 2 / (w**2).sum()  # Kish's is the larger here


def test_few_errors_of_light_items_are_worth_no_more_than_kishs_size():
    truth, prediction, weights = (
        np.repeat([0, 1], 50),
        np.repeat([0, 1], 50),
        np.tile([1.0, 9.0], 50),
    )
    prediction[0] = 1  # one error, of weight 1
    audit = wb.ConfusionCounts.from_labels(truth, prediction, weights=weights)
    kish = weights[:50].sum() ** 2 / (weights[:50] ** 2).sum()
    assert audit.effective.sum(1) == pytest.approx([kish, kish])


@pytest.mark.parametrize("scale", [1, 7.5])
def test_equal_weights_change_nothing(scale):
    truth, prediction, weights = weighted_items()
    plain = wb.ConfusionCounts.from_labels(truth, prediction)
    equal = wb.ConfusionCounts.from_labels(truth, prediction, weights=np.full(truth.size, scale))
    assert equal.effective == pytest.approx(plain.table)
    results = [
        wb.estimate_prevalence(audit, (3000, 2000), method="hull") for audit in (plain, equal)
    ]
    assert results[0].rows()[0] == pytest.approx(results[1].rows()[0])


def test_weighted_audits_are_pooled_and_merged_by_their_weights():
    truth, prediction, weights = weighted_items()
    whole = wb.ConfusionCounts.from_labels(truth, prediction, weights=weights)
    halves = [
        wb.ConfusionCounts.from_labels(truth[k::2], prediction[k::2], weights=weights[k::2])
        for k in (0, 1)
    ]
    assert wb.pool_audits(*halves).effective == pytest.approx(whole.effective)
    plain = wb.ConfusionCounts(whole.table)
    with pytest.raises(ValueError, match="must all have sampling weights, or none"):
        wb.pool_audits(plain, whole)
    assert "250 audited items (effective sample size 65)" in repr(whole)
    assert wb.compare_audits(whole, plain).rows()[0]["first"] == pytest.approx(
        whole.reading_rates[0, 0]
    )
    restored = wb.Result.from_dict(whole.to_dict())
    assert restored.effective == pytest.approx(whole.effective)


def test_weights_and_a_sample_by_prediction_exclude_each_other():
    truth, prediction, weights = weighted_items()
    audit = wb.ConfusionCounts.from_labels(truth, prediction, weights=weights)
    with pytest.raises(
        ValueError, match="sampled_by must not be 'prediction' .* Leave the weights"
    ):
        wb.prevalence_series(audit, None, {"all": (3000, 2000)}, sampled_by="prediction")


@pytest.mark.parametrize("method", ["mle", "mixed", "calibration", "baseline"])
def test_methods_that_take_a_simple_random_sample_refuse_weights(method):
    truth, prediction, weights = weighted_items()
    audit = wb.ConfusionCounts.from_labels(truth, prediction, weights=weights)
    with pytest.raises(
        ValueError, match="have sampling weights. Use 'misclassification', whose rates are weighted"
    ):
        wb.estimate_prevalence(audit, (3000, 2000), (3000, 2000), method=method)
    compared = wb.compare_estimators(audit, (3000, 2000), (3000, 2000))
    assert "sampling weights" in dict(zip(compared.methods, compared.problems, strict=True))[method]


def test_items_of_weight_0_are_left_out():
    audit = wb.ConfusionCounts.from_labels([0, 1, 1], [0, 1, 0], weights=[2, 3, 0])
    assert audit.table.tolist() == [[1, 0], [0, 1]] and audit.reading_rates.tolist() == [
        [1, 0],
        [0, 1],
    ]


@thinned(("runs", "band"), few=(200, 0.05), whole=(3000, 0.015))
@pytest.mark.parametrize(
    ("sizes", "drawn", "rates"),
    [
        ((2000, 8000), (100, 100), ((0.3, 0.9, 0.07), (0.2, 0.8, 0.2))),
        ((2000, 8000), (150, 60), ((0.3, 0.9, 0.05), (0.1, 0.9, 0.02))),
    ],
)
def test_weighted_intervals_cover(sizes, drawn, rates, runs, band):
    rng, held = np.random.default_rng(4), 0
    for _ in range(runs):
        parts = []
        for size, n, (share, right, false) in zip(sizes, drawn, rates, strict=True):
            truth = (rng.random(size) < share).astype(int)
            read = (rng.random(size) < np.where(truth, right, false)).astype(int)
            parts.append((truth, read, truth[:n], read[:n], np.full(n, size / n)))
        truth, read, *audited, weights = map(np.concatenate, zip(*parts, strict=True))
        audit = wb.ConfusionCounts.from_labels(*audited, weights=weights)
        low, high = wb.estimate_prevalence(
            audit, np.bincount(read), method="misclassification"
        ).interval()
        held += low <= truth.mean() <= high
    assert held / runs >= 0.95 - band


# ---- files


def long_form(tables=None, name="period", spelled=None):
    rows = [
        (spelled[month] if spelled else month, t, p)
        for month, table in (tables or MONTHLY).items()
        for (t, p), n in np.ndenumerate(np.array(table))
        for _ in range(n)
    ]
    return dict(
        zip(
            (name, "truth", "prediction"),
            (np.array(cells, object) for cells in zip(*rows, strict=True)),
            strict=True,
        )
    )


def test_items_pairs_and_tables_of_several_months_are_the_same_audits():
    pairs = [
        (month, t, p, n)
        for month, table in MONTHLY.items()
        for (t, p), n in np.ndenumerate(np.array(table))
    ]
    of_pairs = dict(
        zip(("period", "truth", "prediction", "n"), zip(*pairs, strict=True), strict=True)
    )
    rows = [(month, t, *row) for month, table in MONTHLY.items() for t, row in enumerate(table)]
    of_tables = dict(zip(("period", "truth", "0", "1"), zip(*rows, strict=True), strict=True))
    for source in (long_form(), of_pairs, of_tables):
        read = files.load_audits(source, period="period")
        assert {name: audit.table.tolist() for name, audit in read.items()} == MONTHLY


def test_a_class_that_one_month_lacks_keeps_its_place():
    items = {"period": ["a", "a", "b"], "truth": ["x", "z", "x"], "prediction": ["x", "y", "x"]}
    read = files.load_audits(items, period="period")
    assert read["b"].labels == ("x", "y", "z") and read["b"].table.tolist() == [
        [1, 0, 0],
        [0, 0, 0],
        [0, 0, 0],
    ]


def test_an_item_without_a_period_is_named():
    with pytest.raises(
        ValueError, match="column 'period', data row 2 is empty. Fill the cell or delete the row"
    ):
        files.load_audits(
            {"period": ["a", None], "truth": [0, 1], "prediction": [0, 1]}, period="period"
        )


def test_weights_of_a_file():
    truth, prediction, weights = weighted_items()
    items = {"truth": truth, "prediction": prediction, "w": weights.astype(str).astype(object)}
    assert wb.load_audit(items, weight="w").reading_rates[1, 1] == pytest.approx(228 / 268)
    with pytest.raises(ValueError, match="weight can be used only with a file of one row per item"):
        wb.load_audit({"truth": [0, 1], "0": [8, 2], "1": [1, 9], "w": [1, 1]}, weight="w")
