"""Items with several labels: metrics against scikit-learn and loops, and how cells are read."""

import json

import numpy as np
import pytest
from sklearn import metrics as peers

import workbench as wb
from workbench.replication.label_sets import patterns_of

RNG = np.random.default_rng(5)
N, NAMES = 80, ["ant", "bee", "cow", "dog"]
TRUE = RNG.random((N, 4)) < [0.5, 0.4, 0.3, 0.15]
TRUE[:, 3] |= ~TRUE.any(1)  # every item has a label
PREDICTED = TRUE ^ (RNG.random((N, 4)) < 0.15)
STRATUM = np.repeat(["n", "s"], N // 2)
PERSON = np.tile(np.repeat(np.arange(8), 5), 2)  # numbers start again in every stratum
WEIGHT = RNG.uniform(1, 3, N).round(3)
AREA = RNG.choice(["x", "y"], N)
DESIGN = {"stratum": STRATUM, "person": PERSON, "w": WEIGHT, "area": AREA}
JACKKNIFED = {
    "micro_f1": lambda t, p, w: 2 * w @ (t & p).sum(1) / (w @ (t.sum(1) + p.sum(1))),
    "micro_precision": lambda t, p, w: w @ (t & p).sum(1) / (w @ p.sum(1)),
    "micro_recall": lambda t, p, w: w @ (t & p).sum(1) / (w @ t.sum(1)),
    "exact_match": lambda t, p, w: w @ (t == p).all(1) / w.sum(),
    "hamming_loss": lambda t, p, w: w @ (t != p).sum(1) / (4 * w.sum()),
    "macro_f1": lambda t, p, w: np.mean(2 * w @ (t & p) / (w @ t + w @ p)),
}


def cells(sets, separator=";"):
    """Return sets of labels as cells."""
    return [
        separator.join(name for name, has in zip(NAMES, row, strict=True) if has) for row in sets
    ]


def lists(sets):
    """Return sets of labels as lists of Python."""
    return [str([name for name, has in zip(NAMES, row, strict=True) if has]) for row in sets]


FRAME = {"truth": cells(TRUE), "prediction": cells(PREDICTED)} | DESIGN
COLUMNS = {f"y_{name}": TRUE[:, k].astype(int) for k, name in enumerate(NAMES)}
COLUMNS |= {f"y_hat_{name}": PREDICTED[:, k].astype(int) for k, name in enumerate(NAMES)}
WAYS = {
    "cells": (FRAME, {"separator": ";"}),
    "lists": ({"truth": lists(TRUE), "prediction": lists(PREDICTED)} | DESIGN, {}),
    "json": ({"truth": [json.dumps(cell.split(";")) for cell in cells(TRUE)]}, {"prediction": ""}),
    "columns": (COLUMNS | DESIGN, {"truth": "y_*", "prediction": "y_hat_*"}),
}


def values(items, *metrics, **options):
    """Return the rows of an estimate by metric and label."""
    found = wb.estimate_metrics(items, metrics or None, **options)
    return {(row["metric"], row.get("label")): row for row in found.rows()}


@pytest.mark.parametrize("way", WAYS)
def test_cells_lists_and_columns_are_the_same_labels(way):
    frame, options = WAYS[way]
    items = wb.load_labeled(frame, **options)
    assert items.labels == tuple(NAMES) and np.array_equal(items.true_labels, TRUE)
    if way != "json":
        assert np.array_equal(items.predicted_labels, PREDICTED)


def test_metrics_are_those_of_scikit_learn():
    rows = values(wb.load_labeled(FRAME, separator=";"))
    expected = {
        ("exact_match", None): peers.accuracy_score(TRUE, PREDICTED),
        ("hamming_loss", None): peers.hamming_loss(TRUE, PREDICTED),
        ("macro_f1", None): peers.f1_score(TRUE, PREDICTED, average="macro"),
    }
    for metric in ("f1", "precision", "recall"):
        score = getattr(peers, f"{metric}_score")
        expected["micro_" + metric, None] = score(TRUE, PREDICTED, average="micro")
        of_labels = score(TRUE, PREDICTED, average=None)
        expected |= {(metric, name): value for name, value in zip(NAMES, of_labels, strict=True)}
    assert {key: row["estimate"] for key, row in rows.items()} == pytest.approx(expected)
    assert next(iter(rows)) == ("micro_f1", None)
    assert rows["micro_f1", None]["worth"] == pytest.approx(N, rel=0.05)


def test_cells_of_json_are_read_without_a_prediction():
    frame, options = WAYS["json"]
    items = wb.load_labeled(frame, **options)
    assert items.rows()[0] == {"label": "ant", "items": int(TRUE[:, 0].sum())}


@pytest.mark.parametrize("metric", JACKKNIFED)
def test_standard_errors_leave_out_one_cluster_after_the_other(metric):
    items = wb.load_labeled(FRAME, separator=";", psu="person", nest=True, weight="w")
    row = values(items, metric, method="jkn")[metric, None]
    function = JACKKNIFED[metric]
    full = function(TRUE, PREDICTED, WEIGHT)
    variance = 0.0
    for stratum in "ns":
        for person in range(8):
            inside = stratum == STRATUM
            weight = np.where(inside, WEIGHT * 8 / 7, WEIGHT)
            weight[inside & (person == PERSON)] = 0
            variance += 7 / 8 * (function(TRUE, PREDICTED, weight) - full) ** 2
    assert row["estimate"] == pytest.approx(full)
    assert row["standard_error"] == pytest.approx(np.sqrt(variance))
    assert row["low"] < full < row["high"]


def test_naive_errors_are_those_of_independent_items():
    row = values(wb.load_labeled(FRAME, separator=";", weight="w"), "macro_f1", "micro_f1")
    for metric in ("macro_f1", "micro_f1"):
        function = JACKKNIFED[metric]
        ones = np.ones(N)
        full = function(TRUE, PREDICTED, ones)
        steps = 1e-6 * np.eye(N)
        slopes = [(function(TRUE, PREDICTED, ones + step) - full) / 1e-6 for step in steps]
        error = np.sqrt(np.sum(np.square(slopes)))
        low, high = row[metric, None]["naive_low"], row[metric, None]["naive_high"]
        assert row[metric, None]["naive_estimate"] == pytest.approx(full)
        assert (high - low) / 2 == pytest.approx(1.959964 * error, rel=1e-4)


def test_the_interval_is_close_to_that_of_pairs_in_clusters():
    """The same numbers as a row for each pair of an item and a label, the item as the PSU."""
    design = wb.SurveyDesign(np.zeros(4 * N, int), psu=np.repeat(np.arange(N), 4))
    pairs = TRUE.ravel(), PREDICTED.ravel()
    of_pairs = wb.replicate_estimate(wb.replicates(design, "jkn"), "f1", *pairs)
    items = wb.replicates(wb.SurveyDesign(np.zeros(N, int)), "jkn")
    of_sets = wb.replicate_estimate(items, "micro_f1", TRUE, PREDICTED)
    assert of_sets.estimate == pytest.approx(of_pairs.estimate)
    assert of_sets.variance == pytest.approx(of_pairs.variance)
    assert tuple(of_sets.interval()) == pytest.approx(tuple(of_pairs.interval()), abs=0.003)
    assert of_sets.items == N


def test_groups_have_metrics_of_their_own():
    found = wb.estimate_metrics(wb.load_labeled(FRAME, separator=";", group="area"), "micro_f1 f1")
    for row in found.rows():
        if row["group"] is None:
            continue
        inside = row["group"] == AREA
        true, predicted = TRUE[inside], PREDICTED[inside]
        expected = peers.f1_score(true, predicted, average="micro")
        if row["label"]:
            expected = peers.f1_score(true, predicted, average=None)[NAMES.index(row["label"])]
        assert row["estimate"] == pytest.approx(expected)


def test_a_label_can_be_the_positive_class():
    items = wb.load_labeled(FRAME | {"p": RNG.random(N)}, separator=";", positive="bee", score="p")
    rows = values(items, "precision", "accuracy", "auc")
    precision = peers.precision_score(TRUE[:, 1], PREDICTED[:, 1])
    assert rows["precision", None]["estimate"] == pytest.approx(precision)
    assert rows["auc", None]["estimate"] == pytest.approx(
        peers.roc_auc_score(TRUE[:, 1], items.score)
    )
    assert ("exact_match", None) in rows


def test_finding_and_notes_say_what_is_what():
    found = wb.estimate_metrics(wb.load_labeled(FRAME, separator=";"))
    assert "): F1 of all pairs of an item and a label" in found.finding()
    notes = "\n".join(wb.sentences(found.notes))
    assert "were read as several labels, separated by ';': 'ant', 'bee', 'cow', 'dog'" in notes
    assert "scikit-learn calls it accuracy" in notes
    assert "; effective sample size " in found.headline() and found.headline().endswith(" items")


def test_a_mean_over_labels_leaves_out_what_does_not_occur():
    extra = {"y_elk": np.zeros(N, int), "y_hat_elk": np.zeros(N, int)}
    items = wb.load_labeled(COLUMNS | extra, truth="y_*", prediction="y_hat_*", stratum="")
    found = wb.estimate_metrics(items)
    rows = {(row["metric"], row["label"]): row["estimate"] for row in found.rows()}
    assert rows["macro_f1", None] == pytest.approx(peers.f1_score(TRUE, PREDICTED, average="macro"))
    assert ("f1", "elk") not in rows
    notes = "\n".join(wb.sentences(found.notes))
    assert "labels that are neither true nor predicted are left out of the mean: 'elk'" in notes


@pytest.mark.parametrize("way", ["cells", "columns"])
def test_labels_without_a_prediction_have_proportions(way):
    frame, options = WAYS[way]
    frame = {name: column for name, column in frame.items() if "y_hat" not in name}
    rows = values(wb.load_labeled(frame, **options | {"prediction": ""}))
    proportions = [row["estimate"] for row in rows.values()]
    assert proportions == pytest.approx(TRUE.mean(0)) and len(rows) == 4
    items = wb.load_labeled(frame, **options | {"prediction": "", "positive": "bee"})
    [first, second] = items.clusters()
    assert first["share"] == pytest.approx(TRUE[:40, 1].mean())
    assert second["share"] == pytest.approx(TRUE[40:, 1].mean())


def test_values_with_decimal_commas_are_no_labels():
    frame = {"truth": ["1,5", "2,5", "1", "2", "5"], "stratum": ["all"] * 5}
    rows = values(wb.load_labeled(frame, prediction=""))
    assert [*rows] == [("mean", "truth")] and rows["mean", "truth"]["estimate"] == 2.4


# how cells are read


SMALL = {"truth": ["a", "b", "a;b", "b", "a", "b"], "prediction": ["a", "b", "b", "a;b", "a", "a"]}


def with_cells(**columns):
    """Return the small table with some cells replaced, (row, text)."""
    frame = {name: list(column) for name, column in SMALL.items()}
    for name, (row, text) in columns.items():
        frame[name][row] = text
    return frame


def test_an_empty_cell_is_no_label_if_the_separator_is_named():
    items = wb.load_labeled(with_cells(truth=(1, ""), prediction=(4, "")), separator=";")
    assert items.truth.tolist()[:2] == ["['a']", "[]"]
    assert items.true_labels[1].tolist() == [False, False]
    assert "column 'truth' is empty in 1 row: these items have no label there" in map(
        str, items.notes
    )
    rows = values(items, "exact_match")
    assert rows["exact_match", None]["estimate"] == pytest.approx(1 / 6)


def test_classes_text_says_that_a_cell_is_one_class():
    items = wb.load_labeled(SMALL, classes="text")
    assert items.labels == () and items.classes == ["a", "a;b", "b"]
    assert any(str(note).startswith("classes were read as text, so ") for note in items.notes)


@pytest.mark.parametrize(
    ("frame", "options", "message"),
    [
        (
            with_cells(truth=(1, "")),
            {},
            r"^column 'truth' is empty in 1 row, first in data row 2: ",
        ),
        (
            with_cells(truth=(0, "A")),
            {},
            "^column 'truth', a cell: 'A' looks like 'a' in column",
        ),
        (
            with_cells(truth=(2, "a, b")),
            {},
            "^column 'truth', a cell: 'a, b' seems to contain several labels.*; ';' was read as",
        ),
        (
            with_cells(prediction=(1, "")),
            {},
            r"^column 'prediction' is empty in 1 row, first in data row 2: use separator ';' if",
        ),
        (
            SMALL,
            {"separator": "|"},
            "^column 'truth', a cell: 'a;b' seems to contain.*with separator ';'",
        ),
        (SMALL, {"metrics": "kappa"}, "^metrics must suit the items: kappa is for items of one cl"),
        (
            SMALL,
            {"positive": "z"},
            "^positive must be a class of the truth; got 'z', available are a, b$",
        ),
        (
            {"truth": ["C", "Java", "C;C++"] * 2, "prediction": ["C", "Java", "Java"] * 2},
            {},
            r"^separator must be ';' if 'C;C\+\+' means several labels, 'C', 'C\+\+'; if it is one",
        ),
        (
            SMALL | {"b": SMALL["truth"]},
            {"prediction": "prediction,b"},
            "^column 'truth', data row 3: 'a;b' seems to contain several labels",
        ),
        (
            {"truth": list("ab"), "p": list("ab"), "q": list("ab")},
            {"prediction": "p,q", "separator": ";"},
            "^prediction must name one model where items have several labels$",
        ),
        (SMALL | {"candidate_1": list("aaaaaa")}, {"separator": ";"}, "^separator must not be giv"),
        (
            COLUMNS,
            {"truth": "y_*", "prediction": "y_ant"},
            "^prediction must have one asterisk",
        ),
        (
            COLUMNS | {"y_elk": TRUE[:, 0]},
            {"truth": "y_*", "prediction": "y_hat_*"},
            "^prediction must have the labels of truth; only one of the two has a column for 'elk'",
        ),
        (
            COLUMNS | {"y_ant": np.full(N, 0.5)},
            {"truth": "y_*", "prediction": "y_hat_*"},
            "^column 'y_ant', data row 1: '0.5' is neither 0 nor 1",
        ),
        (
            COLUMNS | {"y_ant": np.where(TRUE[:, 0], 1, np.nan)},
            {"truth": "y_*", "prediction": "y_hat_*"},
            r"^column 'y_ant', data row \d+: an empty cell is neither 0 nor 1: .* nobody has label",
        ),
        (
            {"truth": ["['a']", "['a', 'b']"], "prediction": ["['b']", ""]},
            {},
            r"^column 'prediction' is empty in 1 row, first in data row 2: use separator ',' if",
        ),
        (
            {"truth": ["['a']", "['a', 'b']"], "prediction": ["a", "b"]},
            {},
            "^separator must be named if only one of two columns holds lists$",
        ),
        (
            {"truth": list("ab"), "prediction": list("ab")},
            {"metrics": "micro_f1"},
            "micro_f1 is for",
        ),
    ],
)
def test_what_is_in_doubt_is_an_error(frame, options, message):
    options = dict(options)
    metrics = options.pop("metrics", None)
    with pytest.raises(ValueError, match=message):
        wb.estimate_metrics(wb.load_labeled(frame, stratum="", **options), metrics)


def test_cells_of_a_frame_can_be_lists():
    import pyarrow as pa

    of_labels = [[name for name, has in zip(NAMES, row, strict=True) if has] for row in TRUE]
    frame = pa.table({"truth": of_labels, "prediction": cells(PREDICTED)})
    items = wb.load_labeled(frame, stratum="", separator=";")
    assert items.labels == tuple(NAMES) and np.array_equal(items.true_labels, TRUE)


def test_numbers_are_labels_too():
    frame = {"truth": ["1", "2", "1;10", "10"], "prediction": ["1", "2", "10", "1;2"]}
    assert wb.load_labeled(frame, stratum="").labels == (1, 2, 10)


def test_a_label_that_all_items_were_predicted_is_told_first():
    everywhere = np.column_stack([np.ones(N, bool), PREDICTED[:, 1:]])
    items = wb.load_labeled(FRAME | {"prediction": cells(everywhere)}, separator=";")
    finding = wb.estimate_metrics(items).finding()
    assert finding.startswith("Every labeled item is predicted as 'ant'. The results assume that")


def test_items_of_one_predicted_set_show_its_precision_alone():
    items = wb.load_labeled(FRAME | {"prediction": ["ant;bee"] * N}, separator=";")
    rows = values(items)
    assert [*rows] == [("micro_precision", None), ("precision", "ant"), ("precision", "bee")]
    expected = TRUE[:, :2].sum() / (2 * N)
    assert rows["micro_precision", None]["estimate"] == pytest.approx(expected)


def test_matrices_of_other_shapes_are_refused():
    replicates = wb.replicates(wb.SurveyDesign(np.zeros(N, int)), "jkn")
    with pytest.raises(ValueError, match="^predicted_labels must have a column for each of the tr"):
        wb.replicate_estimate(replicates, "micro_f1", TRUE, PREDICTED[:, :3])
    with pytest.raises(
        ValueError, match="^true_labels must be 0 and 1, a row for each of 80 items"
    ):
        wb.replicate_estimate(replicates, "micro_f1", 2.0 * TRUE, PREDICTED)


def test_patterns_are_those_of_columns_that_differ_in_the_label():
    assert patterns_of(COLUMNS, "y_ant", "y_hat_ant") == {"truth": "y_*", "prediction": "y_hat_*"}
    assert patterns_of(COLUMNS | {"y_elk": TRUE[:, 0]}, "y_ant", "y_hat_ant") == {}
    assert patterns_of({"truth": TRUE[:, 0], "pred": TRUE[:, 0]}, "truth", "pred") == {}
