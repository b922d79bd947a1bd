"""Coefficients equal to published ones to the printed digits; intervals against linearization by differences."""

import itertools
import json
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from refusals import refused
from scipy import stats

import workbench as wb
from workbench.labeling.agreement import coefficient

COVERED = json.loads((Path(__file__).parents[1] / "peers" / "agreement_coverage.json").read_text())
# Krippendorff, Computing Krippendorff's alpha-reliability, 2011, example C: four observers, twelve units
OBSERVERS = ["1233214 12.. .", "1233224 125.3", ".3332342 251.", "1233244 1251."]
# Fleiss 1971: thirty patients, six psychiatrists, five diagnoses: how many named each
DIAGNOSES = """00060 03003 01401 00006 03030 20400 00402 20310 20040 00006 10050 11040 03300 10050 02031 00501 30012
               51000 02040 10203 00006 01050 02013 20040 10041 05010 40002 02040 10500 00006"""
# Gwet, the data of irrCAC called cont3x3abstractors: two abstractors, a hundred patients
ABSTRACTORS = [[13, 0, 0], [0, 20, 7], [0, 4, 56]]


def of_table(table):
    return np.array(
        [cell for cell in np.ndindex(*np.shape(table)) for _ in range(table[cell[0]][cell[1]])]
    )


def observers():
    rows = [row.replace(" ", "") for row in OBSERVERS]
    return {
        name: [None if label == "." else int(label) for label in row]
        for name, row in zip("ABCD", rows, strict=True)
    }


def psychiatrists():
    return [
        [k for k, count in enumerate(counts, 1) for _ in range(int(count))]
        for counts in DIAGNOSES.split()
    ]


@pytest.mark.parametrize(
    ("metric", "printed"),
    [("raw", ".8181818"), ("ac1", ".77544"), ("fleiss", ".76117"), ("alpha", ".74342")],
)
def test_four_observers_with_missing_labels(metric, printed):
    """As irrCAC prints them; alpha is .743 in Krippendorff 2011, too."""
    found = wb.agreement(observers()).entry(metric)
    assert found["estimate"] == pytest.approx(float(printed), abs=0.5 * 10 ** (1 - len(printed)))
    assert found["n"] == 11


@pytest.mark.parametrize(
    ("metric", "printed"),
    [("kappa", 0.7964094), ("fleiss", 0.7962397), ("ac1", 0.8493305), ("alpha", 0.7972585)],
)
def test_two_abstractors(metric, printed):
    """As irrCAC prints them; Fleiss' kappa of two people is Scott's pi."""
    found = wb.agreement(of_table(ABSTRACTORS)).entry(metric, "1 & 2" if metric == "kappa" else "")
    assert found["estimate"] == pytest.approx(printed, abs=5e-8)


def test_six_psychiatrists_and_each_diagnosis():
    """Fleiss 1971: .430; per diagnosis as kappam.fleiss of R's irr prints."""
    found = wb.agreement(psychiatrists())
    assert found.entry("fleiss")["estimate"] == pytest.approx(0.4302445, abs=5e-8)
    assert [round(found.entry("fleiss", label=k)["estimate"], 3) for k in range(1, 6)] == [
        0.245,
        0.245,
        0.520,
        0.471,
        0.566,
    ]


def test_cohen_and_his_standard_error():
    """The example of SAS's FREQ procedure, Simple Kappa Coefficient .4842, ASE .1380."""
    codes = of_table([[0, 4, 1], [0, 8, 0], [0, 1, 5]])
    assert wb.agreement(codes).entry("kappa", "1 & 2")["estimate"] == pytest.approx(
        0.4842, abs=5e-5
    )
    estimate, variance = coefficient("kappa", codes, np.ones(len(codes)), 3)
    assert (round(float(estimate), 4), round(float(variance) ** 0.5, 4)) == (0.4842, 0.1380)


@pytest.mark.parametrize(("metric", "printed"), [("fleiss", 0.05905473), ("ac1", 0.04321747)])
def test_standard_errors_of_two_abstractors(metric, printed):
    """irrCAC takes n in the place of n - 1 for two people."""
    _, variance = coefficient(metric, of_table(ABSTRACTORS), np.ones(100), 3)
    assert variance**0.5 == pytest.approx(printed, abs=5e-9)


def by_definition(metric, table):
    """A coefficient from the labels of each item, in plain loops; weights are (item, weight) pairs."""
    items = [(weight, [label for label in labels if label is not None]) for weight, labels in table]
    paired = [(weight, labels) for weight, labels in items if len(labels) > 1]
    scale = {"alpha": len}.get(metric, lambda labels: 1)
    differ = sum(
        w * scale(labels) * np.mean([a != b for a, b in itertools.permutations(labels, 2)])
        for w, labels in paired
    ) / sum(w * scale(labels) for w, labels in paired)
    pool = [
        (w, labels) for w, labels in (items if metric in ("fleiss", "ac1") else paired) if labels
    ]
    share = {
        label: sum(w * scale(labels) * labels.count(label) / len(labels) for w, labels in pool)
        / sum(w * scale(labels) for w, labels in pool)
        for label in {x for _, labels in items for x in labels}
    }
    same = sum(value**2 for value in share.values())
    if metric == "raw":
        return 1 - differ
    return 1 - differ / (1 - (1 - same) / (len(share) - 1) if metric == "ac1" else 1 - same)


@pytest.mark.parametrize("metric", ["raw", "fleiss", "ac1", "alpha"])
def test_an_interval_is_t_around_the_coefficient_with_items_added(metric):
    labels = np.random.default_rng(5).choice(["a", "b", "c", None], (40, 3), p=[0.5, 0.2, 0.1, 0.2])
    labels[:25, 1] = labels[:25, 0]
    found = wb.agreement(labels).interval(metric)
    k = stats.norm.ppf(0.975) ** 2 / 3
    sizes = [sum(label is not None for label in row) for row in labels]
    mean = np.mean([m for m in sizes if m > 1]) / 2 if metric == "alpha" else 1
    table = [[1.0, list(row)] for row in labels] + [
        [mean * k / (3 if a == b else 6), [a, b]] for a, b in itertools.product("abc", repeat=2)
    ]
    center, weights = by_definition(metric, table), [row[0] for row in table]
    variance = 0
    for i, weight in enumerate(weights):
        table[i][0] = weight + 1e-6
        variance += weight * ((by_definition(metric, table) - center) / 1e-6) ** 2
        table[i][0] = weight
    if metric == "alpha":
        center = 1 - (1 - center) * (
            1
            - 1
            / sum(
                w * sum(x is not None for x in row)
                for w, row in table
                if sum(x is not None for x in row) > 1
            )
        )
    reach = stats.t.ppf(0.975, sum(m > 1 for m in sizes) - 1) * variance**0.5
    assert tuple(found) == pytest.approx((center - reach, center + reach), abs=1e-6)


def test_who_differs_and_what_to_settle():
    found = wb.agreement(observers())
    assert found.unsettled[0] == 5  # unit 6: four people, three classes
    assert set(found.unsettled) == {1, 5, 7}
    rows = found.who_differs()
    assert rows[0] == {"first": "B", "second": "C", "first_label": 2, "second_label": 3, "count": 2}
    assert sum(row["count"] for row in rows) == 3 + 6 + 3  # units 2, 6 and 8


def test_all_alike_has_a_width_and_one_class_has_no_kappa():
    found = wb.agreement([["a", "a"]] * 30 + [["b", "b"]] * 10)
    for row in found.rows():
        assert row["estimate"] == row["high"] == 1 and row["low"] < 0.95
    found = wb.agreement([["a", "a"]] * 30 + [["b", None]])
    assert np.isnan(found.entry("kappa", "1 & 2")["estimate"]) and tuple(
        found.interval("kappa", "1 & 2")
    ) == (-1, 1)
    assert found.entry("raw")["low"] < found.entry("raw")["high"] == 1
    assert any(note.kind == "undefined" for note in found.notes)


@pytest.mark.parametrize("scale", ["nominal", "ordinal", "interval"])
def test_labels_that_are_all_alike_have_raw_agreement_alone(scale):
    """z^2 / 3 items that agree and as many that differ are added to 40 that agree."""
    result = wb.agreement([[3, 3]] * 40, scale=scale)
    k = 1.959964**2 / 3
    center = (40 + k) / (40 + 2 * k)
    slopes = np.array([1 - center, -center]) / (40 + 2 * k)
    error = np.sqrt((np.array([40 + k, k]) * slopes**2).sum())
    raw = result.entry("raw")
    assert raw["estimate"] == raw["high"] == 1
    assert raw["low"] == pytest.approx(center - stats.t.ppf(0.975, 39) * error)
    others = [row for row in result.rows() if row["metric"] != "raw"]
    assert {row["metric"] for row in others} >= {"fleiss", "ac1", "alpha", "kappa"}
    assert all(np.isnan(row["estimate"]) for row in others)
    assert {(row["low"], row["high"]) for row in others} == {(-1, 1)}
    assert "alpha is undefined; 40 items" in result.headline()
    undefined = [note.text for note in result.notes if note.kind == "undefined"]
    assert len(undefined) == 1 and undefined[0].startswith(
        "all labels are 3, so no difference is expected by chance"
    )


def test_of_a_class_that_nobody_used_ac1_is_known():
    """A second class is named: AC1 takes the agreement expected by chance for zero."""
    result = wb.agreement([["a", "a"]] * 40, scale="ordinal", order=["a", "b"])
    assert result.entry("ac1")["estimate"] == 1
    assert np.isnan(result.entry("alpha_ordinal")["estimate"])


def test_two_spellings_of_a_class_have_a_note():
    notes = map(str, wb.agreement([["Yes", "yes"], ["no", "no"]]).notes)
    assert (
        "'Yes' and 'yes' are treated as two classes. If they are the same class, use one spelling"
        in notes
    )


def test_of_one_item_every_interval_is_the_whole_range():
    for labels in (["a", "b"], ["a", "a"]):
        rows = wb.agreement([labels]).rows()
        limits = {(row["metric"] == "raw", row["low"], row["high"]) for row in rows}
        assert limits == {(True, 0, 1), (False, -1, 1)}


@pytest.mark.parametrize(
    ("labels", "rule"),
    [
        ([["a"], ["b"]], "must hold the labels of two or more annotators"),
        ([1, 2, 3], "must hold the labels of two or more annotators"),
        ([[None, None]], "must hold an item with labels of two annotators"),
        ([["a", None], [None, "b"]], "must hold an item with labels of two annotators"),
        ([["1", 1], [2, 2]], "must be all text or all numbers"),
    ],
)
def test_what_cannot_be_compared_is_refused(labels, rule):
    refused(lambda: wb.agreement(np.array(labels, object)), "labels", rule)


def test_where_the_search_did_not_go_is_said():
    rng = np.random.default_rng(1)
    truth = rng.choice([0, 1], 200, p=[0.8, 0.2])
    second = np.where(rng.random(200) < 0.1, 1 - truth, truth)
    kinds = [note.kind for note in wb.agreement(np.column_stack([truth, second])).notes]
    assert kinds == ["assumption"]
    for few in (
        np.column_stack([truth, second])[:29],
        np.column_stack([truth, truth]),
        np.column_stack([truth * (rng.random(200) < 0.3), truth * (rng.random(200) < 0.3)]),
    ):
        assert "unreliable" in [note.kind for note in wb.agreement(few).notes]


def test_the_record_covers_what_is_promised():
    assert COVERED["searched"]["below .93"] == 0 and COVERED["searched"]["settings"] == 100
    assert min(COVERED[kind]["least width"] for kind in COVERED) > 0


GRADES = {
    "human": [5, 3, 2, 1, 2, 4, 3, 5, 1, 4, 2, 5, 3, 3, 1, 4, 5, 2, 4, 4],
    "judge": [5, 2, 1, 1, 1, 5, 4, 5, 2, 4, 2, 4, 3, 5, 1, 4, 4, 3, 4, 2],
}


def weighted(metric, table, weights=None):
    """A weighted coefficient in plain loops, from its definition: kappa of two people, alpha of all."""
    rows = [[label for label in row if label is not None] for row in table]
    weights = weights or [1.0] * len(rows)
    kept = [(row, w) for row, w in zip(rows, weights, strict=True) if len(row) > 1]
    if metric.startswith("kappa"):
        power = 1 if metric == "kappa_linear" else 2
        total = sum(w for _, w in kept)
        observed = sum(w * abs(a - b) ** power for (a, b), w in kept) / total
        chance = (
            sum(v * w * abs(a - b) ** power for (a, _), v in kept for (_, b), w in kept) / total**2
        )
        return 1 - observed / chance
    labels = [(label, w) for row, w in kept for label in row]
    n, counts = sum(w for _, w in labels), {}
    for label, w in labels:
        counts[label] = counts.get(label, 0) + w

    def distance(a, b):
        if metric == "alpha_interval":
            return (a - b) ** 2
        low, high = sorted((a, b))  # Krippendorff's ordinal metric, as he writes it
        between = sum(count for label, count in counts.items() if low <= label <= high)
        return (between - (counts[low] + counts[high]) / 2) ** 2

    observed = (
        sum(
            w * distance(a, b) / (len(row) - 1)
            for row, w in kept
            for i, a in enumerate(row)
            for j, b in enumerate(row)
            if i != j
        )
        / n
    )
    expected = (
        sum(p * q * distance(a, b) for a, p in counts.items() for b, q in counts.items())
        / n
        / (n - 1)
    )
    return 1 - observed / expected


WEIGHTED = ("kappa_linear", "kappa_quadratic", "alpha_ordinal", "alpha_interval")


@pytest.mark.parametrize("metric", WEIGHTED)
def test_weighted_coefficients_are_their_definitions(metric):
    rng = np.random.default_rng(2)
    table = [
        [
            None if rng.random() < 0.2 else int(np.clip(grade + rng.integers(-1, 2), 1, 5))
            for _ in range(2)
        ]
        for grade in rng.integers(1, 6, 50)
    ]
    found = wb.agreement(
        np.array(table, object), scale="interval" if metric == "alpha_interval" else "ordinal"
    )
    group = "1 & 2" if metric.startswith("kappa") else ""
    assert found.entry(metric, group)["estimate"] == pytest.approx(weighted(metric, table))


def test_weighted_kappa_is_that_of_scikit_learn():
    from sklearn.metrics import cohen_kappa_score

    found = wb.agreement(
        {name: list(map(str, grades)) for name, grades in GRADES.items()}, scale="ordinal"
    )
    for metric, weights in (
        ("kappa", None),
        ("kappa_linear", "linear"),
        ("kappa_quadratic", "quadratic"),
    ):
        assert found.entry(metric, "human & judge")["estimate"] == pytest.approx(
            cohen_kappa_score(*GRADES.values(), weights=weights)
        )


def test_ordinal_and_interval_alpha_of_krippendorffs_example():
    """Krippendorff 2011, example C: ordinal .815, interval .849."""
    for scale, printed in (("ordinal", 0.815), ("interval", 0.849)):
        found = wb.agreement(observers(), scale=scale).entry(f"alpha_{scale}")
        assert found["estimate"] == pytest.approx(printed, abs=5e-4)


@pytest.mark.parametrize("metric", WEIGHTED)
def test_variance_of_weighted_coefficients_by_differences(metric):
    rng = np.random.default_rng(7)
    codes = np.clip(rng.integers(0, 4, 30)[:, None] + rng.integers(-1, 2, (30, 2)), 0, 3)
    weight = rng.random(30) + 0.5
    estimate, variance = coefficient(metric, codes, weight, 4)
    step, slopes = 1e-6, []
    for place in range(30):
        more = weight.copy()
        more[place] += step
        slopes.append((coefficient(metric, codes, more, 4)[0] - estimate) / step)
    if metric.startswith(
        "alpha"
    ):  # the factor (n - 1) / n moves with the weights, too; it is no sampling error
        n = 2 * weight.sum()
        slopes = [
            (slope - (1 - estimate) / (1 - 1 / n) * -2 / n**2) / (1 - 1 / n) for slope in slopes
        ]
    assert variance == pytest.approx(
        sum(w * slope**2 for w, slope in zip(weight, slopes, strict=True)), rel=1e-3
    )


def test_text_has_an_order_if_it_is_named():
    words = dict(zip(range(1, 6), ["awful", "poor", "fair", "good", "great"], strict=True))
    named = {name: [words[grade] for grade in grades] for name, grades in GRADES.items()}
    by_words = wb.agreement(named, scale="ordinal", order=list(words.values()))
    by_numbers = wb.agreement(GRADES, scale="ordinal")
    for metric in ("alpha_ordinal", "kappa_linear"):
        group = "human & judge" if metric.startswith("kappa") else ""
        assert (
            by_words.entry(metric, group)["estimate"] == by_numbers.entry(metric, group)["estimate"]
        )
    number = "must be numbers for scale"
    for scale, order, argument, rule, told in (
        ("ordinal", None, "labels", f"{number} 'ordinal', or you must name all cl", "got 'awful'"),
        ("interval", None, "labels", f"{number} 'interval'", "got 'awful'"),
        ("ordinal", ["awful", "poor"], "order", "must name every class of the labels", "'fair'"),
        ("ordinal", ["awful", "poor", "poor"], "order", "must name every class once", ""),
        ("nominal", [*words.values()], "order", "belongs to scale 'ord", "scale is 'nominal'"),
    ):
        refused(partial(wb.agreement, named, scale=scale, order=order), argument, rule, told)


def test_grades_that_are_text_are_in_the_order_of_their_numbers():
    grades = {"a": ["9", "10", "2", "10", "9"], "b": ["10", "10", "2", "9", "9"]}
    assert wb.agreement(grades, scale="ordinal").classes == (2, 9, 10)
    values = {name: [int(grade) for grade in column] for name, column in grades.items()}
    assert wb.agreement(grades, scale="interval").entry("alpha_interval") == wb.agreement(
        values, scale="interval"
    ).entry("alpha_interval")


def test_a_note_says_where_numbers_are_taken_without_their_order():
    noted = (
        "the classes are numbers (1, 2, 3, 4, 5), but labels that nearly agree count as different"
    )
    as_text = {name: list(map(str, grades)) for name, grades in GRADES.items()}
    for labels in (GRADES, as_text):
        assert any(str(note).startswith(noted) for note in wb.agreement(labels).notes)
    for labels, scale in (
        (GRADES, "ordinal"),
        ({"a": [0, 1, 1], "b": [0, 1, 0]}, "nominal"),
        ({"a": ["x", "y", "z"], "b": ["x", "y", "y"]}, "nominal"),
    ):
        notes = wb.agreement(labels, scale=scale).notes
        assert not any(str(note).startswith("the classes are numbers") for note in notes)
    rule = "must be one that was computed: ask for agreement(..., scale='ordinal')"
    refused(lambda: wb.agreement(GRADES).entry("kappa_linear", "human & judge"), "metric", rule)


@pytest.mark.parametrize("seed", range(40))
def test_estimates_lie_in_their_intervals_and_limits_where_they_can_be(seed):
    """Also where all agree, nobody does, an item is alone, or a class is rare."""
    rng = np.random.default_rng(seed)
    items, people, classes = (
        int(rng.integers(2, 40)),
        int(rng.integers(2, 5)),
        int(rng.integers(2, 6)),
    )
    labels = rng.choice(
        classes, (items, people), p=rng.dirichlet(np.full(classes, rng.choice([0.3, 3])))
    )
    copied = rng.random(items) < rng.choice([0, 0.5, 1])
    labels[copied] = labels[copied, :1] if seed % 2 else classes - 1 - labels[copied, :1]
    table = labels.astype(object)
    table[rng.random(labels.shape) < rng.choice([0, 0.3])] = None
    table[0], table[1, :2] = [0] * people, [0, 1]
    for scale in ("nominal", "ordinal", "interval"):
        for level in (0.5, 0.95, 0.9999):
            found = wb.agreement(table, scale=scale, level=level)
            for row in found.rows():
                least = 0 if row["metric"] == "raw" else -1
                assert least <= row["low"] <= row["high"] <= 1, row
                if np.isnan(row["estimate"]):
                    assert (row["low"], row["high"]) == (least, 1)
                    assert any(note.kind == "undefined" for note in found.notes)
                else:
                    assert row["low"] <= row["estimate"] <= row["high"], row


@pytest.mark.full
def test_intervals_of_weighted_coefficients_cover():
    """40 settings of three to five grades: people err to neighbors, with shifts and spreads of their own."""
    from workbench.labeling.agreement import limits_of

    rng, least = np.random.default_rng(1), {}
    for _ in range(40):
        classes, items, people = (
            int(rng.integers(3, 6)),
            int(np.exp(rng.uniform(*np.log([30, 300])))),
            int(rng.integers(2, 4)),
        )
        truth, missing = rng.dirichlet(np.full(classes, 3.0)), rng.choice([0, 0.2])
        spread, shift = rng.uniform(0.3, 1.2, people), rng.uniform(-0.3, 0.3, people)
        grades = np.arange(classes)
        says = np.exp(
            -0.5 * ((grades - grades[:, None] - shift[:, None, None]) / spread[:, None, None]) ** 2
        )
        says = says / says.sum(-1, keepdims=True) * (1 - missing)
        says = np.concatenate([says, np.full((people, classes, 1), missing)], -1)
        patterns = np.array(list(itertools.product(range(classes + 1), repeat=people)))
        chance = truth @ np.prod([says[k][:, patterns[:, k]] for k in range(people)], 0)
        codes = np.where(patterns == classes, -1, patterns)
        weight = rng.multinomial(items, chance / chance.sum(), size=1000) * 1.0
        for metric in WEIGHTED:
            part = codes[:, :2] if metric.startswith("kappa") else codes
            truth_of = coefficient(metric, part, chance * 1e9, classes)[0]
            _, low, high, _ = limits_of(metric, part, weight, classes, 0.95)
            least[metric] = min(
                least.get(metric, 1), np.mean((low <= truth_of) & (truth_of <= high))
            )
    assert min(least.values()) > 0.93, least
