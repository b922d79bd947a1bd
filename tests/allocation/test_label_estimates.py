"""What filled sheets say, against numpy, scipy, `value_interval` and simulation."""

import numpy as np
import pytest
from oracles import value_interval as oracle
from refusals import refused
from scipy import optimize, stats

import workbench as wb
from workbench.allocation.values.estimates import (
    estimate_values,
    learned_sd,
    next_labels,
    with_next,
)
from workbench.results import Result

NAMES, SIZE = np.array(["a", "b", "c"]), np.array([500, 120, 30])
STRATA = wb.load_strata({"stratum": NAMES, "size": SIZE, "sd": [1.0, 4.0, 20.0]})
RNG = np.random.default_rng(4)
N = np.array([14, 9, 6])
VALUES = np.concatenate(
    [RNG.normal(m, s, n).round(2) for m, s, n in zip((5, 20, 90), (1, 4, 20), N, strict=True)]
)
LABELS = np.repeat(NAMES, N)
SHUFFLE = RNG.permutation(N.sum())


def by_hand(level=0.95):
    """Mean, standard error, and the outer limits of Satterthwaite's t and of Hall's, found as a root."""
    parts = [VALUES[LABELS == name] for name in NAMES]
    weight = SIZE / 650
    mean = sum(w * part.mean() for w, part in zip(weight, parts, strict=True))
    terms = np.array(
        [
            w**2 * (1 - n / size) * part.var(ddof=1) / n
            for w, part, n, size in zip(weight, parts, N, SIZE, strict=True)
        ]
    )
    df = terms.sum() ** 2 / (terms**2 / (N - 1)).sum()
    error = terms.sum() ** 0.5
    skew = (
        sum(
            w**3 * (1 - n / size) ** 1.5 * stats.kstat(part, 3) / n**2
            for w, part, n, size in zip(weight, parts, N, SIZE, strict=True)
        )
        / error**3
    )
    ends = []
    for x in stats.t.interval(level, df):
        root = optimize.brentq(
            lambda t, x=x: t + skew * t**2 / 3 + skew**2 * t**3 / 27 + skew / 6 - x, -50, 50
        )
        ends.append(mean - error * np.array([x, root]))
    return mean, error, (ends[1].min(), ends[0].max())


def test_total_and_mean_are_those_of_the_textbook():
    found = estimate_values(STRATA, LABELS[SHUFFLE], VALUES[SHUFFLE])
    mean, error, limits = by_hand()
    assert (found.estimate, found.standard_error, *found.interval()) == pytest.approx(
        (mean, error, *limits), rel=1e-12
    )
    total, alone = found.quantities()
    assert (
        total["estimate"],
        total["standard_error"],
        total["low"],
        total["high"],
    ) == pytest.approx((650 * mean, 650 * error, 650 * limits[0], 650 * limits[1]), rel=1e-12)
    assert alone["quantity"] == "mean" and found.interval().method == "t"
    assert tuple(found.interval(0.8)) == pytest.approx(by_hand(0.8)[2], rel=1e-12)
    said = wb.sentences(found.interval().notes)[0]
    assert "Student's t, widened for skewed values by Hall's method" in said and "bounds" in said
    assert (
        found.interval().low < mean - stats.t.ppf(0.975, 28) * error
    )  # there are fewer degrees of freedom than 28


def test_with_bounds_it_is_the_value_interval():
    stratum, values = np.repeat(NAMES, [20, 10, 8]), RNG.integers(1, 6, 38)
    found = estimate_values(STRATA, stratum, values, bounds=(1, 5))
    low, high = oracle.limits(
        [
            (size, values[stratum == name].tolist(), 1, 5)
            for size, name in zip(SIZE, NAMES, strict=True)
        ]
    )
    item = 4 / sum(SIZE)  # anything between the bounds is possible: no lattice to round to
    assert found.interval().bounded == pytest.approx((low - item, high + item), abs=1e-9)
    shorter = oracle.limits(
        [
            (size, values[stratum == name].tolist(), 1, 5)
            for size, name in zip(SIZE, NAMES, strict=True)
        ],
        upper=oracle.default_upper_limit,
    )
    assert tuple(found.interval()) == pytest.approx(shorter, abs=1e-9)
    assert found.interval().method == "default" and "Student" not in " ".join(
        wb.sentences(found.interval().notes)
    )
    wrong, rule = np.where(values > 3, 5, values), "must include every value; 5 lies outside 1 to 4"
    refused(lambda: estimate_values(STRATA, stratum, wrong, bounds=(1, 4)), "bounds", rule)


@pytest.mark.parametrize(
    ("draw", "bounds", "least"),
    [
        (lambda rng, m, n: rng.normal(m, m / 3, n), None, 0.93),
        (lambda rng, m, n: (rng.random(n) < m / 120) * 1.0, (0, 1), 0.945),
    ],
)
def test_the_interval_covers_the_mean_of_the_population(draw, bounds, least):
    rng = np.random.default_rng(7)
    population = [draw(rng, mean, size) for mean, size in zip((10, 40, 90), SIZE, strict=True)]
    truth, hits = np.concatenate(population).mean(), 0
    for _ in range(400):
        sample = [
            rng.choice(values, n, replace=False) for values, n in zip(population, N, strict=True)
        ]
        low, high = estimate_values(
            STRATA, LABELS, np.concatenate(sample), bounds=bounds
        ).interval()
        hits += low - 1e-12 <= truth <= high + 1e-12
    assert hits / 400 >= least - 2 * np.sqrt(0.05 * 0.95 / 400)


def test_a_stratum_without_labels_leaves_no_result():
    found = estimate_values(STRATA, ["a", "a", "b", "b", "c"], [1, 2, 3, 4, 5])
    assert (
        found.headline()
        == "No result yet: fewer than two labels in 'c'; 5 labels of 650 items, 3 strata"
    )
    assert found.quantities() == [] and found.notes[0] == wb.Note(
        "refused", "has fewer than two labels, so there is no standard error yet", ("stratum", "c")
    )
    few = "needs at least two sampled records of every stratum; stratum 'c' has 1 of 30"
    refused(found.interval, "interval", few)
    assert "No result yet" in found._repr_html_() and np.isnan(found.rows()[2]["sd"])
    none = estimate_values(STRATA, [], [])
    assert none.lacking == ["a", "b", "c"] and none.sampled.sum() == 0


def test_labels_that_are_all_alike_leave_no_interval():
    found = estimate_values(STRATA, LABELS, np.ones(29))
    assert tuple(found.interval()) == tuple(found.interval(quantity="total")) == (-np.inf, np.inf)
    assert str(found.interval()) == "Interval(no interval: give bounds)"
    assert found.headline() == (
        "Total 650, no interval: give bounds; mean 1, no interval: give bounds; 29 labels of "
        "650 items, 3 strata"
    )
    assert found.finding() == "Total 650, mean 1; all labels are equal; no interval: give bounds"
    assert found.interval().rows() == [
        {"method": "no interval: give bounds", "level": 0.95, "low": None, "high": None}
    ]
    assert [(row["low"], row["high"], row["interval_method"]) for row in found.quantities()] == [
        (None, None, "no interval: give bounds")
    ] * 2
    assert any(
        "every value is 0 or 1. With bounds 0, 1" in text
        for text in wb.sentences(found.interval().notes)
    )
    assert (
        0.05 < estimate_values(STRATA, LABELS, np.ones(29), bounds=(0, 1)).interval().half_width < 1
    )


def test_means_and_spreads_of_strata_that_hold_no_label_or_one_item():
    """NaN where there are too few labels; of one item, labeled, the spread is 0."""
    strata = wb.load_strata(
        {"stratum": ["a", "one", "none"], "size": [50, 1, 9], "sd": [1.0, 0, 1]}
    )
    found = estimate_values(strata, ["a", "a", "one"], [1, 3, 7])
    assert found.mean.tolist() == pytest.approx([2, 7, np.nan], nan_ok=True) and np.isnan(
        found.estimate
    )
    assert found.sd.tolist() == pytest.approx([2**0.5, 0, np.nan], nan_ok=True) and np.isnan(
        found.variance
    )


def test_what_one_label_makes_of_the_variance_counts_the_labels_of_its_stratum():
    """W^2 f off^2 / n (n - 1): a twentieth of each of 20 values that are 10 off; less of the outlier among 200."""
    values = np.r_[np.tile([-10.0, 10], 10), 10.0, np.zeros(199)]
    strata = wb.load_strata({"stratum": ["a", "b"], "size": [10_000, 10_000], "sd": [1, 1]})
    each = (
        np.repeat([(1 - n / 10_000) / (n * (n - 1)) for n in (20, 200)], [20, 200])
        * (values - np.repeat([0, 0.05], [20, 200])) ** 2
    )
    assert (each / each.sum()).max() == pytest.approx(0.05, rel=0.02)
    assert (
        estimate_values(strata, np.repeat(["a", "b"], [20, 200]), values).interval().method == "t"
    )


@pytest.mark.parametrize("values", [[0.1] * 29, [0.1 + 0.2] * 14 + [0.3] * 15])
def test_labels_that_differ_by_rounding_are_alike(values):
    found = estimate_values(STRATA, LABELS, values)
    assert found.standard_error > 0 and found.interval().method == "none"
    assert "all labels are equal" in found.finding()
    wild = estimate_values(STRATA, LABELS, [*values[:28], 7.0])
    assert (
        wild.interval().half_width > 0
        and "Warning: all labels of stratum a are equal" in wild.basis()
    )


EVEN = np.arange(20.0) % 7


@pytest.mark.parametrize(
    ("sizes", "values", "problem"),
    [
        ((900,), EVEN[:19], "there are only 19 labels"),
        ((900,), EVEN, ""),
        ((900, 50), (EVEN, EVEN[:4]), "stratum s1 has only 4 labels"),
        ((900, 4), (EVEN, EVEN[:4]), ""),
        ((900, 50), (EVEN, np.full(7, 0.1)), "all labels of stratum s1 are equal"),
        ((900, 7), (EVEN, np.full(7, 0.1)), ""),
        ((19, 900), (EVEN[:19], EVEN[:19]), "there are only 19"),
        # k of 20 off by 1: each makes (1 - k/20)^2 of k (1 - k/20), so (1 - k/20)/k: .95, .45, .283
        ((900,), np.repeat([0, 1.0], [19, 1]), "one label accounts for 95% of the variance"),
        ((900,), np.repeat([0, 1.0], [18, 2]), "one label accounts for 45% of the variance"),
        ((900,), np.repeat([0, 1.0], [17, 3]), ""),
    ],
)
def test_a_warning_names_why_an_interval_without_bounds_may_be_too_short(sizes, values, problem):
    values = values if isinstance(values, tuple) else (values,)
    names = [f"s{k}" for k in range(len(sizes))]
    strata = wb.load_strata({"stratum": names, "size": sizes, "sd": np.ones(len(sizes))})
    found = estimate_values(
        strata, np.repeat(names, [len(part) for part in values]), np.concatenate(values)
    )
    interval = found.interval()
    assert np.isfinite(tuple(interval)).all() and interval.half_width > 0
    warnings = [note.text for note in interval.notes if note.kind == "unreliable"]
    assert len(warnings) == bool(problem)
    if problem:
        assert warnings[0].startswith(problem) and "may be too short" in warnings[0]


@pytest.mark.parametrize(("factor", "shift"), [(3.0, 0.0), (0.01, -7.0), (1e6, 1e6)])
@pytest.mark.parametrize("labels", [[2, 2], [5, 3], [20, 30]])
def test_an_interval_without_bounds_scales_and_shifts_with_the_values(factor, shift, labels):
    strata = wb.load_strata({"stratum": ["a", "b"], "size": [900, 300], "sd": [1, 1]})
    values = np.random.default_rng(2).lognormal(size=sum(labels))
    first, second = (
        tuple(estimate_values(strata, np.repeat(["a", "b"], labels), numbers).interval())
        for numbers in (values, factor * values + shift)
    )
    assert second == pytest.approx(factor * np.array(first) + shift, abs=1e-6 * factor)


@pytest.mark.parametrize("sign", [1, -1])
def test_skewed_values_are_seldom_given_a_wrong_interval(sign):
    rng, strata, wrong, plain = (
        np.random.default_rng(3),
        wb.load_strata({"stratum": ["a"], "size": [10**9], "sd": [1.0]}),
        0,
        0,
    )
    for _ in range(400):
        values = sign * rng.lognormal(0, 2, 100)
        found = estimate_values(strata, ["a"] * 100, values)
        low, high = stats.t.interval(0.95, 99, values.mean(), stats.sem(values))
        wrong += sign * np.exp(2) not in found.interval()
        plain += not low <= sign * np.exp(2) <= high
    assert wrong / 400 < 0.1 + 2 * (0.09 / 400) ** 0.5 < plain / 400


def test_a_census_is_known():
    small = wb.load_strata({"stratum": ["a"], "size": [3], "sd": [1.0]})
    found = estimate_values(small, ["a"] * 3, [1, 2, 6])
    assert found.estimate == 3 and tuple(found.interval()) == (3, 3)


def test_labels_that_vary_more_than_planned_are_named():
    """In a the spread is 2.5 sqrt(12/11), or 2.6, where 1 was planned; in c 4.7 of 20."""
    values = np.concatenate([[0, 5] * 6, [0, 1] * 6, [0, 9] * 6])
    found = estimate_values(STRATA, np.repeat(NAMES, [12, 12, 12]), values)
    assert [note.text for note in found.notes if note.kind == "design"] == [
        "the standard deviation of the labels is more than twice the planned one in a. More labels there would help most"
    ]
    assert learned_sd(STRATA, found).tolist() == pytest.approx(
        [np.std([0, 5] * 6, ddof=1), np.std([0, 1] * 6, ddof=1), np.std([0, 9] * 6, ddof=1)]
    )


# what is still to come


def brute(sampled, budget, sd):
    """The best whole numbers that take no label back, by trying them all."""
    best = min(
        (
            (a, b, budget - a - b)
            for a in range(sampled[0], budget + 1)
            for b in range(sampled[1], budget - a + 1)
            if sampled[2] <= budget - a - b <= 30
        ),
        key=lambda n: sum((size * s) ** 2 / k for size, s, k in zip(SIZE, sd, n, strict=True)),
    )
    return np.array(best) - sampled


@pytest.mark.parametrize("sampled", [[14, 9, 6], [2, 2, 2], [2, 2, 30], [25, 3, 4]])
def test_the_rest_of_a_budget_goes_where_it_helps_most(sampled):
    assert (
        next_labels(STRATA, sampled, 50).tolist()
        == brute(np.array(sampled), 50, STRATA.sd).tolist()
    )


@pytest.mark.parametrize("method", ["voila", "neyman", "neyman_plus", "equal", "proportional"])
def test_no_rule_takes_a_label_back_or_spends_more(method):
    for budget in (10, 29, 30, 60, 649, 9999):
        more = next_labels(STRATA, N, budget, method=method)
        assert (more >= 0).all() and (N + more <= SIZE).all() and more.sum() <= max(0, budget - 29)


def test_a_spent_budget_leaves_nothing_and_floors_come_first():
    assert next_labels(STRATA, N, 29).tolist() == [0, 0, 0]
    assert next_labels(STRATA, [20, 0, 0], 23, minimum=2).tolist() == [0, 2, 1]


def test_items_passed_over_are_asked_for_again():
    found = estimate_values(STRATA, LABELS, VALUES)
    again = with_next(found, STRATA, N + [0, 3, 0], 40)
    assert again.to_label.sum() == 11 and again.to_label[1] >= 3
    assert [row["to_label"] for row in again.rows()] == again.to_label.tolist()
    looked = with_next(found, STRATA, N, 40, sd_from="labels")
    assert any(
        "allocated by the standard deviations of these labels" in note.text for note in looked.notes
    )
    assert not any("follow the" in note.text for note in again.notes)


def test_the_next_labels_follow_the_spreads_that_are_asked_for():
    """Planned 1 : 1, but of the labels one stratum does not vary: after 12 each, the 26 others go to where it helps."""
    strata = wb.load_strata({"stratum": ["a", "b"], "size": [200, 200], "sd": [1.0, 1.0]})
    found = estimate_values(strata, np.repeat(["a", "b"], 12), np.r_[np.ones(12), np.arange(12.0)])
    for sd_from, expected in (("planned", [13, 13]), ("labels", [0, 26])):
        assert with_next(found, strata, [12, 12], 50, sd_from=sd_from).to_label.tolist() == expected


@pytest.mark.parametrize(
    ("change", "argument", "rule", "told"),
    [
        ({"stratum": ["a", "x"]}, "stratum", "must be one of 'a', 'b', 'c'; label 1 has 'x'", ""),
        ({"values": [1.0]}, "values", "must have 2 entries", "got 1"),
        (
            {"stratum": ["c"] * 31, "values": [1] * 31},
            "labels",
            "must be at most size",
            "stratum 2 has 31 of 30",
        ),
        ({"bounds": (3, 1)}, "bounds", "must be the smallest and the largest", "got 3 and 1"),
    ],
)
def test_mistakes_are_named(change, argument, rule, told):
    given = {"strata": STRATA, "stratum": ["a", "a"], "values": [1.0, 2.0]}
    refused(lambda: estimate_values(**given | change), argument, rule, told)


def test_round_trip():
    found = estimate_values(STRATA, LABELS, VALUES, bounds=(0, 500))
    again = Result.from_dict(found.to_dict())
    assert repr(again) == repr(found) and tuple(again.interval()) == tuple(found.interval())


def test_every_figure_of_small_random_sheets_is_that_of_the_textbook():
    """Many strata and sizes, a census among them, against sums written out; the order of the labels is irrelevant."""
    rng = np.random.default_rng(7)
    for _ in range(20):
        sizes = rng.integers(3, 40, 4)
        sampled = np.minimum(rng.integers(2, 9, 4), sizes)
        parts = [rng.normal(k, k + 1, n) for k, n in enumerate(sampled)]
        names = np.array(list("abcd"))
        strata = wb.load_strata({"stratum": names, "size": sizes, "sd": np.ones(4)})
        labels, values = np.repeat(names, sampled), np.concatenate(parts)
        mix = rng.permutation(values.size)
        found = estimate_values(strata, labels[mix], values[mix])
        weight = sizes / sizes.sum()
        assert found.estimate == pytest.approx(
            sum(w * part.mean() for w, part in zip(weight, parts, strict=True))
        )
        assert found.variance == pytest.approx(
            sum(
                w**2 * (1 - part.size / size) * part.var(ddof=1) / part.size
                for w, part, size in zip(weight, parts, sizes, strict=True)
            )
        )
        assert found.lacking == [] and found.sampled.tolist() == sampled.tolist()


def test_values_that_are_not_all_right_or_wrong_have_no_remark():
    strata = wb.load_strata({"stratum": ["a"], "size": [50], "sd": [1]})
    remarks = [
        any(
            "every value is 0 or 1" in text
            for text in wb.sentences(estimate_values(strata, ["a"] * 4, values, **more).notes)
        )
        for values, more in (
            ([0, 1, 1, 0], {}),
            ([0, 1, 1, 0.5], {}),
            ([0, 1, 1, 0], {"bounds": (0, 1)}),
        )
    ]
    assert remarks == [True, False, False]


def test_a_budget_of_the_floors_is_spent_on_them():
    strata = wb.load_strata({"stratum": ["a", "b"], "size": [100, 50], "sd": [0, 0.5]})
    assert next_labels(strata, [1, 2], 4).tolist() == [1, 0]
    assert next_labels(strata, [0, 0], 10, sd=[0, 0.5]).tolist() == [2, 8]
    assert next_labels(strata, [0, 0], 9, sd=[0, 0]).tolist() == [6, 3]
