"""Coefficients equal to published ones to the printed digits; intervals against linearization by differences."""
import itertools
import json
from pathlib import Path

import numpy as np
import pytest
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
    return np.array([cell for cell in np.ndindex(*np.shape(table)) for _ in range(table[cell[0]][cell[1]])])


def observers():
    rows = [row.replace(" ", "") for row in OBSERVERS]
    return {name: [None if label == "." else int(label) for label in row]
            for name, row in zip("ABCD", rows, strict=True)}


def psychiatrists():
    return [[k for k, count in enumerate(counts, 1) for _ in range(int(count))] for counts in DIAGNOSES.split()]


@pytest.mark.parametrize(("metric", "printed"), [("raw", ".8181818"), ("ac1", ".77544"), ("fleiss", ".76117"),
                                                 ("alpha", ".74342")])
def test_four_observers_with_missing_labels(metric, printed):
    """As irrCAC prints them; alpha is .743 in Krippendorff 2011, too."""
    found = wb.agreement(observers()).entry(metric)
    assert found["estimate"] == pytest.approx(float(printed), abs=.5 * 10 ** (1 - len(printed)))
    assert found["n"] == 11


@pytest.mark.parametrize(("metric", "printed"), [("kappa", .7964094), ("fleiss", .7962397), ("ac1", .8493305),
                                                 ("alpha", .7972585)])
def test_two_abstractors(metric, printed):
    """As irrCAC prints them; Fleiss' kappa of two people is Scott's pi."""
    found = wb.agreement(of_table(ABSTRACTORS)).entry(metric, "1 & 2" if metric == "kappa" else "")
    assert found["estimate"] == pytest.approx(printed, abs=5e-8)


def test_six_psychiatrists_and_each_diagnosis():
    """Fleiss 1971: .430; per diagnosis as kappam.fleiss of R's irr prints."""
    found = wb.agreement(psychiatrists())
    assert found.entry("fleiss")["estimate"] == pytest.approx(.4302445, abs=5e-8)
    assert [round(found.entry("fleiss", label=k)["estimate"], 3) for k in range(1, 6)] == [.245, .245, .520, .471, .566]


def test_cohen_and_his_standard_error():
    """The example of SAS's FREQ procedure, Simple Kappa Coefficient .4842, ASE .1380."""
    codes = of_table([[0, 4, 1], [0, 8, 0], [0, 1, 5]])
    assert wb.agreement(codes).entry("kappa", "1 & 2")["estimate"] == pytest.approx(.4842, abs=5e-5)
    estimate, variance = coefficient("kappa", codes, np.ones(len(codes)), 3)
    assert (round(float(estimate), 4), round(float(variance) ** .5, 4)) == (.4842, .1380)


@pytest.mark.parametrize(("metric", "printed"), [("fleiss", .05905473), ("ac1", .04321747)])
def test_standard_errors_of_two_abstractors(metric, printed):
    """irrCAC takes n in the place of n - 1 for two people."""
    _, variance = coefficient(metric, of_table(ABSTRACTORS), np.ones(100), 3)
    assert variance ** .5 == pytest.approx(printed, abs=5e-9)


def by_definition(metric, table):
    """A coefficient from the labels of each item, in plain loops; weights are (item, weight) pairs."""
    items = [(weight, [label for label in labels if label is not None]) for weight, labels in table]
    paired = [(weight, labels) for weight, labels in items if len(labels) > 1]
    scale = {"alpha": len}.get(metric, lambda labels: 1)
    differ = sum(w * scale(labels) * np.mean([a != b for a, b in itertools.permutations(labels, 2)])
                 for w, labels in paired) / sum(w * scale(labels) for w, labels in paired)
    pool = [(w, labels) for w, labels in (items if metric in ("fleiss", "ac1") else paired) if labels]
    share = {label: sum(w * scale(labels) * labels.count(label) / len(labels) for w, labels in pool)
             / sum(w * scale(labels) for w, labels in pool) for label in {x for _, labels in items for x in labels}}
    same = sum(value ** 2 for value in share.values())
    if metric == "raw":
        return 1 - differ
    return 1 - differ / (1 - (1 - same) / (len(share) - 1) if metric == "ac1" else 1 - same)


@pytest.mark.parametrize("metric", ["raw", "fleiss", "ac1", "alpha"])
def test_an_interval_is_t_around_the_coefficient_with_items_added(metric):
    labels = np.random.default_rng(5).choice(["a", "b", "c", None], (40, 3), p=[.5, .2, .1, .2])
    labels[:25, 1] = labels[:25, 0]
    found = wb.agreement(labels).interval(metric)
    k = stats.norm.ppf(.975) ** 2 / 3
    sizes = [sum(label is not None for label in row) for row in labels]
    mean = np.mean([m for m in sizes if m > 1]) / 2 if metric == "alpha" else 1
    table = [[1.0, list(row)] for row in labels] + [
        [mean * k / (3 if a == b else 6), [a, b]] for a, b in itertools.product("abc", repeat=2)]
    center, weights = by_definition(metric, table), [row[0] for row in table]
    variance = 0
    for i, weight in enumerate(weights):
        table[i][0] = weight + 1e-6
        variance += weight * ((by_definition(metric, table) - center) / 1e-6) ** 2
        table[i][0] = weight
    if metric == "alpha":
        center = 1 - (1 - center) * (1 - 1 / sum(w * sum(x is not None for x in row) for w, row in table
                                                 if sum(x is not None for x in row) > 1))
    reach = stats.t.ppf(.975, sum(m > 1 for m in sizes) - 1) * variance ** .5
    assert tuple(found) == pytest.approx((center - reach, center + reach), abs=1e-6)


def test_who_differs_and_what_to_settle():
    found = wb.agreement(observers())
    assert found.unsettled[0] == 5                                         # unit 6: four people, three classes
    assert set(found.unsettled) == {1, 5, 7}
    rows = found.who_differs()
    assert rows[0] == {"first": "B", "second": "C", "first_label": 2, "second_label": 3, "count": 2}
    assert sum(row["count"] for row in rows) == 3 + 6 + 3       # units 2, 6 and 8

def test_all_alike_has_a_width_and_one_class_has_no_kappa():
    found = wb.agreement([["a", "a"]] * 30 + [["b", "b"]] * 10)
    for row in found.rows():
        assert row["estimate"] == row["high"] == 1 and row["low"] < .95
    found = wb.agreement([["a", "a"]] * 30 + [["b", None]])
    assert np.isnan(found.entry("kappa", "1 & 2")["estimate"]) and tuple(found.interval("kappa", "1 & 2")) == (-1, 1)
    assert found.entry("raw")["low"] < found.entry("raw")["high"] == 1
    assert any(note.kind == "undefined" for note in found.notes)


@pytest.mark.parametrize(("labels", "told"), [
    ([["a"], ["b"]], "two or more people"), ([1, 2, 3], "two or more people"), ([["a", "a"]], "at least two classes"),
    ([["a", None], [None, "b"]], "labels of two people"), ([["1", 1], [2, 2]], "all text or all numbers")])
def test_what_cannot_be_compared_is_refused(labels, told):
    with pytest.raises(ValueError, match=f"labels must .*{told}"):
        wb.agreement(np.array(labels, object))


def test_where_the_search_did_not_go_is_said():
    rng = np.random.default_rng(1)
    truth = rng.choice([0, 1], 200, p=[.8, .2])
    second = np.where(rng.random(200) < .1, 1 - truth, truth)
    kinds = [note.kind for note in wb.agreement(np.column_stack([truth, second])).notes]
    assert kinds == ["assumption"]
    for few in (np.column_stack([truth, second])[:29], np.column_stack([truth, truth]),
                np.column_stack([truth * (rng.random(200) < .3), truth * (rng.random(200) < .3)])):
        assert "unreliable" in [note.kind for note in wb.agreement(few).notes]


def test_the_record_covers_what_is_promised():
    assert COVERED["searched"]["below .93"] == 0 and COVERED["searched"]["settings"] == 100
    assert min(COVERED[kind]["least width"] for kind in COVERED) > 0
