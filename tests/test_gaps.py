"""A missing label is never a class, a stratum or a cluster: functions that take labels, with every kind of gap."""

import csv
import decimal
import io

import numpy as np
import pandas as pd
import polars as pl
import pytest

import workbench as wb
from workbench import checks

PLACE = 2  # where the gap is
TEXT, NUMBERS = list("abababab"), [1, 2] * 4
VALUES = np.arange(8) / 8
NAN = float("nan")


def with_gap(values, gap):
    return [gap if place == PLACE else value for place, value in enumerate(values)]


def masked(values):
    return np.ma.array(values, mask=[place == PLACE for place in range(len(values))])


def by_csv_reader():
    text = "label\n" + "\n".join(with_gap(TEXT, '""'))
    return [row["label"] for row in csv.DictReader(io.StringIO(text))]


OF_TEXT = {
    "None": with_gap(TEXT, None),
    "NaN in a list": with_gap(TEXT, NAN),
    "numpy's NaN": with_gap(TEXT, np.float32("nan")),
    "empty": with_gap(TEXT, ""),
    "blank": with_gap(TEXT, "  "),
    "pandas.NA": with_gap(TEXT, pd.NA),
    "pandas.NaT": with_gap(TEXT, pd.NaT),
    "decimal": with_gap(TEXT, decimal.Decimal("NaN")),
    "a tuple": tuple(with_gap(TEXT, NAN)),
    "NaN that became text": np.array(with_gap(TEXT, NAN)),
    "NaN among objects": np.array(with_gap(TEXT, NAN), object),
    "a list of masked": list(masked(TEXT)),
    "a masked array": masked(TEXT),
    "csv.DictReader": by_csv_reader(),
    "to_dict": pd.DataFrame({"label": with_gap(TEXT, NAN)}).to_dict("list")["label"],
    "pandas": pd.Series(with_gap(TEXT, None)),
    "pandas, objects": pd.Series(with_gap(TEXT, NAN), dtype=object),
    "pandas, string": pd.Series(with_gap(TEXT, None), dtype="string"),
    "pandas, category": pd.Series(with_gap(TEXT, None), dtype="category"),
    "pandas, made text": pd.Series(with_gap(TEXT, NAN), dtype=object).map(str).to_numpy(),
    "polars": pl.Series(with_gap(TEXT, None)),
    "polars, empty": pl.Series(with_gap(TEXT, "")),
}
OF_NUMBERS = {
    "None": with_gap(NUMBERS, None),
    "NaN in a list": with_gap(NUMBERS, NAN),
    "empty": with_gap(NUMBERS, ""),
    "NaN": np.array(with_gap(NUMBERS, NAN)),
    "pandas.NA": with_gap(NUMBERS, pd.NA),
    "a masked array": masked(NUMBERS),
    "pandas, Int64": pd.Series(with_gap(NUMBERS, None), dtype="Int64"),
    "polars": pl.Series(with_gap(NUMBERS, None)),
}
GAPS = {f"text: {name}": (TEXT, labels) for name, labels in OF_TEXT.items()} | {
    f"numbers: {name}": (NUMBERS, labels) for name, labels in OF_NUMBERS.items()
}


def ids_of(labels):
    """Identifiers that differ, with a gap at the same place."""
    hidden = checks.cells_and_gaps("labels", labels)[1]
    entries = list(labels)
    return [entries[place] if gap else f"i{place}" for place, gap in enumerate(hidden)]


def replicates():
    return wb.replicates(wb.SurveyDesign(["all"] * 8, range(8)))


def sampler(labels):
    taken = wb.StreamSampler(4, rng=0)
    taken.update(labels, VALUES)


def item_scores(*labels):
    return wb.ItemScores(np.ones((8, 2)), ["x", "y"], *labels)


def strata():
    return wb.load_strata({"stratum": ["a", "b"], "size": [50, 60], "sd": [1, 1]})


def scores(**columns):
    return wb.read_scores(
        {"p": VALUES, "y": columns.pop("y", TEXT)} | columns,
        score="p",
        prediction="y",
        score_is="confidence",
        **{{"t": "truth", "i": "id"}[name]: name for name in columns},
    )


# function, argument that the message names
REFUSING = {
    "confusion, truth": (
        lambda full, labels: wb.ConfusionCounts.from_labels(labels, full),
        "truth",
    ),
    "confusion, prediction": (
        lambda full, labels: wb.ConfusionCounts.from_labels(full, labels),
        "prediction",
    ),
    "macro F1, truth": (lambda full, labels: wb.macro_f1(replicates(), labels, full), "truth"),
    "macro F1, prediction": (
        lambda full, labels: wb.macro_f1(replicates(), full, labels),
        "prediction",
    ),
    "accuracy": (
        lambda full, labels: wb.replicate_estimate(replicates(), "accuracy", labels, full),
        "truth",
    ),
    "kappa": (
        lambda full, labels: wb.replicate_estimate(replicates(), "kappa", full, labels),
        "prediction",
    ),
    "survey, stratum": (lambda full, labels: wb.SurveyDesign(labels), "stratum"),
    "survey, psu": (lambda full, labels: wb.SurveyDesign(["all"] * 8, labels), "psu"),
    "item scores, cluster": (lambda full, labels: item_scores(TEXT_IDS, labels), "cluster"),
    "item scores, item": (lambda full, labels: item_scores(ids_of(labels)), "item"),
    "losses, fold": (lambda full, labels: wb.CVLosses(VALUES, labels), "fold"),
    "losses, repeat": (
        lambda full, labels: wb.CVLosses({"m": VALUES}, [0, 0, 1, 1] * 2, repeat=labels),
        "repeat",
    ),
    "losses, item": (
        lambda full, labels: wb.CVLosses({"m": VALUES}, [0, 0, 1, 1, 2, 2, 3, 3], item=labels),
        "item",
    ),
    "population": (
        lambda full, labels: wb.exchangeable_population(np.arange(16.0).reshape(8, 2), labels),
        "y",
    ),
    "stream study": (lambda full, labels: wb.simulate_stream(labels, VALUES, 4), "stratum"),
    "stream sampler": (lambda full, labels: sampler(labels), "strata"),
    "values": (lambda full, labels: wb.estimate_values(strata(), labels, VALUES), "stratum"),
    "items to draw": (
        lambda full, labels: wb.draw_items([0] * 8, [2], rng=0, id=ids_of(labels)),
        "id",
    ),
    "judge": (lambda full, labels: wb.judge_audit(labels, full), "verdict"),
    "scores, prediction": (lambda full, labels: scores(y=labels, t=full), "'y'"),
    "scores, id": (lambda full, labels: scores(i=ids_of(labels)), "'i'"),
    "labeled, prediction": (
        lambda full, labels: wb.load_labeled({"truth": full, "prediction": labels}),
        "'prediction'",
    ),
    "labeled, psu": (
        lambda full, labels: wb.load_labeled(
            {"truth": full, "prediction": full, "site": labels}, psu="site"
        ),
        "'site'",
    ),
    "labeled, stratum": (
        lambda full, labels: wb.load_labeled(
            {"truth": full, "prediction": full, "region": labels}, stratum="region"
        ),
        "'region'",
    ),
    "summary": (lambda full, labels: wb.summarize({"g": labels, "v": VALUES}, "g", "v"), "'g'"),
    "sample": (
        lambda full, labels: wb.sample({"g": labels, "id": range(8)}, "g", {"a": 1}, id="id"),
        "'g'",
    ),
    "stream": (
        lambda full, labels: wb.sample_stream(
            [{"g": labels, "y": VALUES, "id": np.arange(8)}], 4, by="g", value="y", id="id"
        ),
        "'g'",
    ),
}
TEXT_IDS = list("stuvwxyz")
# a number or a row that tells where the gap is; an engine that holds the rows tells how many there are
WHERE = ("item 2", "entry 2", "row 2", "label 2", "data row 3", "none in 1 of 8")


@pytest.mark.parametrize("kind", GAPS)
@pytest.mark.parametrize("function", REFUSING)
@pytest.mark.filterwarnings("ignore:Warning. converting a masked element to nan")
def test_a_gap_is_refused_where_it_stands(function, kind):
    call, argument = REFUSING[function]
    full, labels = GAPS[kind]
    with pytest.raises((ValueError, TypeError)) as error:
        call(full, labels)
    message = str(error.value)
    assert argument in message
    # whole numbers with gaps are floats to numpy and pandas, which is what an engine says of them
    assert any(where in message for where in WHERE) or "makes floats of whole numbers" in message


@pytest.mark.parametrize("kind", GAPS)
@pytest.mark.filterwarnings("ignore:Warning. converting a masked element to nan")
def test_a_gap_is_a_gap_of_agreement(kind):
    full, labels = GAPS[kind]
    expected = wb.agreement({"x": with_gap(full, None), "y": full[::-1]})
    found = wb.agreement({"x": labels, "y": full[::-1]})
    assert found.items == 7 and len(found.classes) == 2
    assert [row["estimate"] for row in found.rows()] == [row["estimate"] for row in expected.rows()]


@pytest.mark.parametrize("kind", GAPS)
@pytest.mark.filterwarnings("ignore:Warning. converting a masked element to nan")
def test_a_gap_in_the_truth_is_a_row_without_a_label(kind):
    full, labels = GAPS[kind]
    items = wb.load_labeled({"truth": labels, "prediction": full})
    assert len(items.truth) == 7 and set(items.truth.tolist()) == set(np.asarray(full).tolist())
    scored = scores(y=full, t=labels)
    assert scored.labeled.tolist() == [0, 1, *range(3, 8)] and scored.truth is None


def test_labels_of_three_coders_with_gaps():
    """Alpha by its definition, coincidences of pairs of labels, from what csv.DictReader gives."""
    rng = np.random.default_rng(3)
    truth = rng.choice(["yes", "no"], 60)
    other = {"yes": "no", "no": "yes"}
    table = [[label if rng.random() < 0.8 else other[label] for _ in range(3)] for label in truth]
    cells = [[cell if rng.random() < 0.7 else "" for cell in row] for row in table]
    text = "a,b,c\n" + "\n".join(map(",".join, cells))
    rows = list(csv.DictReader(io.StringIO(text)))
    coincidence = {}
    for row in cells:
        given = [cell for cell in row if cell]
        for i, first in enumerate(given):
            for j, second in enumerate(given):
                if i != j:
                    coincidence[first, second] = coincidence.get((first, second), 0) + 1 / (
                        len(given) - 1
                    )
    total = sum(coincidence.values())
    of_class = {
        label: sum(v for pair, v in coincidence.items() if pair[0] == label) for label in other
    }
    observed = sum(v for pair, v in coincidence.items() if pair[0] != pair[1]) / total
    expected = 2 * of_class["yes"] * of_class["no"] / (total * (total - 1))
    found = wb.agreement({name: [row[name] for row in rows] for name in "abc"})
    assert found.entry("alpha")["estimate"] == pytest.approx(1 - observed / expected)


@pytest.mark.parametrize("word", ["NA", "None", "null", "N/A"])
def test_other_words_are_classes_and_a_note_says_so(word):
    labels = with_gap(TEXT, word)
    assert checks.labels("truth", labels).tolist() == labels
    found = wb.agreement({"x": labels, "y": TEXT})
    assert word in found.classes
    assert any(f"'{word}' (1 label) is treated as a class" in str(note) for note in found.notes)
    assert any(
        f"contains the name '{word}' 1 time" in str(note)
        for note in wb.load_labeled(
            {"truth": TEXT, "prediction": TEXT, "psu": labels}, psu="psu"
        ).notes
    )


def test_items_without_a_slice_are_in_none():
    table = wb.ItemScores(
        np.array([[0, 1], [1, 1], [0, 1], [1, 0], [0, 1]]),
        ["x", "y"],
        list("abcde"),
        columns={"topic": ["s", "s", None, "s", float("nan")]},
    )
    found = wb.compare_slices(table, "topic")
    assert {row["slice"] for row in found.rows()} == {"s"}
    assert "2 items without a topic are in no slice. The overall comparison uses all items" in map(
        str, found.notes
    )
