"""Confusion matrices as programs and people write them, and tables that only look like one."""

import csv

import numpy as np
import pandas as pd
import pytest
from refusals import refused

from workbench.data.confusion_matrices import ConfusionMatrix, read_matrix

CLASSES = ["cat", "dog", "bird"]
COUNTS = [[41, 6, 3], [4, 52, 4], [1, 2, 27]]
TURNED = [[41, 4, 1], [6, 52, 2], [3, 4, 27]]
BODY = ",cat,dog,bird\ncat,41,6,3\ndog,4,52,4\nbird,1,2,27\n"
TWO = "cat,41,6\ndog,4,52\n"


@pytest.fixture
def read_file(tmp_path):
    def read_text(text, **settings):
        (tmp_path / "matrix.csv").write_text(text, encoding="utf-8")
        return read_matrix("items", str(tmp_path / "matrix.csv"), **settings)

    return read_text


def read(text, **settings):
    """Read the columns of a text as those of a frame, which is faster than a file."""
    header, *rows = csv.reader(text.splitlines())
    columns = dict(zip(header, np.array(rows, object).T, strict=True))
    return read_matrix("items", columns, **settings)


def texts(matrix):
    return list(map(str, matrix.notes))


def test_a_matrix_as_pandas_writes_it(read_file):
    matrix = read_file(BODY)
    assert matrix.labels == CLASSES and matrix.table.tolist() == COUNTS
    assert texts(matrix) == [
        "confusion matrix: rows were read as true classes and columns as predicted classes. If "
        "it is the other way round, use rows prediction (--rows prediction)"
    ]
    assert [note.kind for note in matrix.notes] == ["assumption"]
    assert read_file(BODY, rows="truth").table.tolist() == COUNTS
    turned = read_file(BODY, rows="prediction")
    assert turned.labels == CLASSES and turned.table.tolist() == TURNED
    assert texts(turned) == [
        "confusion matrix: rows are predicted classes, because rows is 'prediction'"
    ]


@pytest.mark.parametrize(
    "text",
    [
        ",bird,cat,dog\ncat,3,41,6\ndog,4,4,52\nbird,27,1,2\n",
        BODY.replace(",", ";"),
        BODY.replace(",", "\t"),
        BODY.replace("\nbird", "\n\nbird") + "\n,,,\n",
        "\ufeff" + BODY.replace(",bird", ", bird ").replace("dog,4", " dog ,4"),
        "Unnamed: 0" + BODY,
        BODY.replace(",41,6,3", ",41.0,6.0,3.0"),
    ],
)
def test_other_orders_delimiters_and_row_numbers(read_file, text):
    matrix = read_file(text)
    assert matrix.labels == CLASSES and matrix.table.tolist() == COUNTS


@pytest.mark.parametrize(
    ("corner", "table"),
    [
        ("truth", COUNTS),
        ("Actual", COUNTS),
        ("True label", COUNTS),
        ("y_true", COUNTS),
        ("actual\\predicted", COUNTS),
        ("Truth / Prediction", COUNTS),
        ("prediction", TURNED),
        ("Predicted class", TURNED),
        ("y_pred", TURNED),
        ("pred\\true", TURNED),
        ("map", TURNED),
        ("map\\reference", TURNED),
        ("model / truth", TURNED),
        ("class | predicted", COUNTS),
    ],
)
def test_the_first_cell_says_what_the_rows_are(corner, table):
    matrix = read(corner + BODY)
    assert matrix.table.tolist() == table
    right, wrong = ("truth", "prediction") if table is COUNTS else ("prediction", "truth")
    assert read(corner + BODY, rows=right).table.tolist() == table
    doubt = f"is in doubt, because the first cell, {corner!r}, or the names disagree"
    refused(lambda: read(corner + BODY, rows=wrong), "rows", doubt)
    classes = {"truth": "true", "prediction": "predicted"}[right]
    assert texts(matrix) == [
        f"confusion matrix: rows are {classes} classes, as the first cell or other names say"
    ]


@pytest.mark.parametrize(
    "corner",
    [
        "columns: predicted; rows: actual",
        "Predicted \N{RIGHTWARDS ARROW} Actual \N{DOWNWARDS ARROW}",
        "columns = true",
    ],
)
@pytest.mark.parametrize("rows", ["auto", "truth", "prediction"])
def test_a_first_cell_with_directions_is_in_doubt(corner, rows):
    refused(lambda: read(corner + BODY, rows=rows), "rows", "is in doubt, because the first cell")


@pytest.mark.parametrize("corner", ["class", "", "x", "row_0", "index"])
def test_other_first_cells_say_nothing(corner):
    assert [note.kind for note in read(corner + BODY).notes] == ["assumption"]


def test_columns_of_other_names_are_those_of_a_report():
    assert read("wahr" + BODY, truth="wahr").notes[0].kind == "data"
    assert read("gelesen" + BODY, prediction="gelesen").table.tolist() == TURNED


@pytest.mark.parametrize(
    ("text", "table"),
    [
        (",Predicted cat,Predicted dog\nTrue cat,41,6\nTrue dog,4,52\n", [[41, 6], [4, 52]]),
        (",pred:cat,pred:dog\ntrue:cat,41,6\ntrue:dog,4,52\n", [[41, 6], [4, 52]]),
        (",Actual cat,Actual dog,Total\nPredicted cat,41,6,47\nPredicted dog,4,52,56\n", None),
        (",ref cat,ref dog\nmap cat,41,6\nmap dog,4,52\n", None),
        (",pred_cat,pred_dog\ncat,41,6\ndog,4,52\n", [[41, 6], [4, 52]]),
    ],
)
def test_names_say_what_the_rows_are(text, table):
    matrix = read(text)
    assert matrix.labels == ["cat", "dog"]
    assert matrix.table.tolist() == (table or [[41, 4], [6, 52]])
    assert matrix.notes[0].kind == "data"


def test_classes_called_true_and_false_are_no_words_for_an_axis():
    matrix = read(",False,True\nFalse,50,3\nTrue,4,20\n")
    assert matrix.labels == ["False", "True"] and matrix.table.tolist() == [[50, 3], [4, 20]]
    assert matrix.notes[0].kind == "assumption"


@pytest.mark.parametrize("name", ["All", "total", "SUM", "Grand Total", "Total predicted"])
def test_totals_are_not_counted(name):
    last_row = f"{name},45,58,103\n"
    for text in (
        f",cat,dog,{name}\ncat,41,6,47\ndog,4,52,56\n{last_row}",
        f",cat,dog,{name}\ncat,41,6,47\ndog,4,52,56\n{name},45,58,\n",
        f",{name},cat,dog\n{name},103,45,58\ncat,47,41,6\ndog,56,4,52\n",
        f",cat,dog,{name}\ncat,41,6,47\ndog,4,52,56\n",
        f",cat,dog\n{TWO}{name},45,58\n",
    ):
        matrix = read(text)
        assert matrix.labels == ["cat", "dog"] and matrix.table.tolist() == [[41, 6], [4, 52]]
        assert f"do not count as a class: {name!r}" in str(matrix.notes[-1])


SUMS = "must be a confusion matrix whose totals are the sums, but row "
SAME = "must be a confusion matrix whose rows and columns name the same classes, but "
ALL = ",cat,dog,All\ncat,41,6,47\ndog,4,52,"
MORE = ",cat,dog,{}\ncat,41,6,47\ndog,4,52,56\n"
SUM = ",cat,sum,dog\ncat,41,6,3\nsum,4,52,4\ndog,1,2,27\n"
RATES = ",cat,dog,Recall\ncat,41,6,87.2%\ndog,4,52,92.9%\nPrecision,91.1%,89.7%,\n"
DROP = "Correct it, drop the total, or rename it if it is a class"
ADD = "Add a column of zeros, or rename the row 'Total'"


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        (
            f"{ALL}56\nAll,45,59,103\n",
            f"{SUMS}'All', column 'dog' is 59 and the classes add",
        ),
        (f"{ALL}56\nAll,45,58,104\n", f"{SUMS}'All', column 'All' is 104 and the classes add up "),
        (f"{ALL}56\nAll,0,0,0\n", f"{SUMS}'All', column 'cat' is 0 and the classes add up to 45"),
        (f"{ALL}57\n", f"{SUMS}'dog', column 'All' is 57 and the classes add up to 56"),
        (f",cat,dog\n{TWO},45,59\n", f"{SUMS}'', column 'dog' is 59 and the classes add up to 58"),
        (SUM, f"{SUMS}'cat', column 'sum' is 6 and the classes add up to 44. {DROP}"),
        (MORE.format("support"), f"{SAME}column 'support' has no row; the rows are 'cat', 'd"),
        (MORE.format("zusammen"), f"{SAME}column 'zusammen' has no row; the rows are 'cat', 'd"),
        (f",cat,dog\n{TWO}zusammen,45,58\n", f"{SAME}there is no column for row 'zusammen'. {ADD}"),
        (f",cat,dog\n{TWO}n,45,59\n", f"{SAME}there is no column for row 'n'. {ADD}"),
        (",0,1\n0,41,6\n1,4,52\n2,1,2\n", f"{SAME}there is no column for row '2'"),
        (RATES, f"{SAME}column 'Recall' has no row"),
    ],
)
def test_margins_that_are_no_sums_of_the_classes_are_refused(text, rule):
    refused(lambda: read(text), "items", rule)


def test_what_is_no_margin_and_what_is_one():
    assert read(",y,n\ny,41,6\nn,4,52\n").labels == ["y", "n"]
    assert read(f",cat,dog\n{TWO},45,58\n").table.tolist() == [[41, 6], [4, 52]]
    with pytest.raises(ValueError, match="'cat', data row 3: '91.1%' is not a number of items"):
        read(f",cat,dog\n{TWO}Precision,91.1%,89.7%\n")


def test_a_class_that_was_never_predicted():
    matrix = read(f",cat,dog\n{TWO}bird,1,2\n")
    assert matrix.labels == CLASSES
    assert matrix.table.tolist() == [[41, 6, 0], [4, 52, 0], [1, 2, 0]]
    assert "there is no column for row 'bird', so its counts were set to 0" in texts(matrix)[-1]
    with_sums = read(",0,1,All\n0,41,6,47\n1,4,52,56\n2,1,2,3\n")
    assert with_sums.table.tolist() == [[41, 6, 0], [4, 52, 0], [1, 2, 0]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (BODY.replace("\ndog", "\nDog"), r"'dog' has no row; .* \(did you mean 'Dog'\?\). Spell"),
        (
            ",cat,dgo\ncat,41,6\ndog,4,52\n",
            "columns 'cat', 'dgo' contain counts, but the rows have no names. Write",
        ),
        (",cat,dog,bird\ncat,41,6,1\ndog,4,52,2\n", "'bird' has no row; the rows are"),
        (",cat,dog\ncat,41,6\n", None),
        (BODY + "cat,1,1,1\n", "must have one row per class, but row 'cat' occurs twice"),
        (",cat,cat\ncat,41,6\ndog,4,52\n", None),
        (
            ",cat,dog,\ncat,41,6,\ndog,4,52,\n",
            "must name its columns in the first line, but 2 have",
        ),
        (
            ",cat,dog\ncat,.9,.1\ndog,.2,.8\n",
            "column 'cat', data row 1: 0.9 is not a number of items",
        ),
        (
            ",cat,dog\ncat,90%,10%\ndog,4%,96%\n",
            "column 'cat', data row 1: '90%' is not a number of items",
        ),
        (",cat,dog\ncat,1.0,0.0\ndog,0.0,1.0\n", "add up to 1, like proportions"),
        (",cat,dog\ncat,1,0\ndog,1,0\n", "add up to 1, like proportions"),
        (",cat,dog\ncat,9,-1\ndog,2,8\n", "column 'dog', data row 1: -1 is not a number"),
        (",cat,dog\ncat,9,1e20\ndog,2,8\n", "10+ is not a number of items"),
        (
            ",cat,dog\ncat,9,\ndog,2,8\n",
            "'dog', data row 1 is missing. .* 0 if there are none",
        ),
        (BODY.replace("1,2,27", ",,"), "column 'cat', data row 3 is missing"),
        (",cat,dog\ncat,nine,1\ndog,2,8\n", "column 'cat', data row 1: 'nine' is not a number"),
        (
            ",cat,dog\ncat,41.000,3.000\ndog,2.000,8.000\n",
            "without separated thousands and without decimals",
        ),
        ("cat,dog\n41,6\n4,52\n", "must have a column 'truth', or be .* the rows have no names"),
        ("0,1\n0,50\n4,20\n", "must have a column 'truth', or be .* the rows have no names"),
        (f",cat,dog\n{TWO}Total,45.5,58\n", "row 'Total', column 'cat' is 45.5"),
        (
            ",cat,dog\n0,41,6\n1,4,52\n",
            "must have a column 'truth', or be .* the rows have no names",
        ),
    ],
)
def test_what_is_no_whole_matrix_is_refused(read_file, text, message):
    if message is None:
        assert read_file(text) is None
        return
    with pytest.raises(ValueError, match=message):
        read_file(text)


@pytest.mark.parametrize(
    "text",
    [
        "truth,prediction\ncat,dog\ndog,cat\n",
        "label,yhat\ncat,dog\ndog,cat\n",
        "id,score,label\n0,.5,1\n1,.7,0\n2,.2,1\n",
        "truth,score\n1,0\n0,1\n",
        "month,truth,cat,dog\n1,cat,3,4\n1,dog,2,3\n2,cat,3,4\n2,dog,2,3\n",
        ",cat\ncat,41\n",
        ",0,1\n" + "".join(f"{row},{row % 2},{row % 3 % 2}\n" for row in range(5)),
    ],
)
def test_other_tables_are_none(read_file, text):
    assert read_file(text) is None
    rule = "is only for a confusion matrix, but items does not contain one"
    refused(lambda: read_file(text, rows="prediction"), "rows", rule)


def test_percentages_of_whole_numbers_are_doubted():
    assert "add up to 100" in str(read(",cat,dog\ncat,90,10\ndog,20,80\n").notes[-1])


def test_separated_thousands_are_counts():
    matrix = read(',cat,dog\ncat,"1,200",30\ndog,2,800\n')
    assert matrix.table.tolist() == [[1200, 30], [2, 800]]


def test_frames_and_files_of_pandas(tmp_path):
    frame = pd.DataFrame(COUNTS, index=CLASSES, columns=CLASSES)
    frame.to_parquet(tmp_path / "m.parquet")
    frame.to_json(tmp_path / "m.json")
    as_dict = {"": CLASSES, **frame.to_dict("list")}
    for source in (frame, as_dict, tmp_path / "m.parquet", tmp_path / "m.json"):
        matrix = read_matrix("items", source)
        assert matrix.labels == CLASSES and matrix.table.tolist() == COUNTS
    floats = read_matrix("items", {"": np.array([0.0, 1.0]), "0": [50, 4], "1": [3, 20]})
    assert floats.labels == ["0", "1"]
    numbered = read_matrix("items", pd.DataFrame(COUNTS))
    assert numbered.labels == ["0", "1", "2"] and numbered.table.tolist() == COUNTS
    with pytest.raises(ValueError, match="the rows have no names"):
        read_matrix("items", pd.DataFrame(COUNTS, columns=CLASSES))


def test_cross_tables_say_what_their_rows_are():
    truth = np.repeat(CLASSES, [50, 60, 30])
    prediction = np.concatenate([np.repeat(CLASSES, row) for row in COUNTS])
    names = {"rownames": ["True"], "colnames": ["Predicted"]}
    table = pd.crosstab(truth, prediction, margins=True, **names)
    for frame in (table, table.T, table.astype(float)):
        matrix = read_matrix("items", frame)
        order = [CLASSES.index(name) for name in matrix.labels]
        assert matrix.table.tolist() == np.array(COUNTS)[np.ix_(order, order)].tolist()
        assert matrix.notes[0].kind == "data"
    doubt = "is in doubt, because the first cell, 'columns: Predicted'"
    refused(lambda: read_matrix("items", table.rename_axis(index=None)), "rows", doubt)


def test_items_of_a_matrix():
    matrix = ConfusionMatrix(["01", "1"], np.array([[2, 0], [1, 1]]), ())
    with pytest.raises(ValueError, match="writes one number in two ways"):
        matrix.items("t", "p")
    columns, _ = matrix.items("t", "p", "text")
    assert columns["t"].tolist() == ["01", "01", "1", "1"]
    assert columns["p"].tolist() == ["01", "01", "01", "1"]
    large = ConfusionMatrix(["a", "b"], np.array([[2_000_000, 0], [1, 0]]), ())
    most, told = "must count at most 2,000,000 items", "the confusion matrix counts 2,000,001"
    refused(lambda: large.items("t", "p"), "items", most, told)


def test_sums_of_any_name_are_no_class():
    source = {"": ["cat", "dog", "celkem"], "cat": [41, 4, 45], "dog": [6, 52, 58]}
    source |= {"celkem": [47, 56, 103]}
    rule = "must contain classes, but row and column 'celkem' are the sums of the others"
    refused(lambda: read_matrix("items", source), "items", rule)
    three = {"": ["a", "b", "c"], "a": [5, 1, 0], "b": [1, 6, 0], "c": [0, 0, 4]}
    assert read_matrix("items", three).table.sum() == 17
    two = {"": ["a", "b"], "a": [5, 5], "b": [5, 9]}
    assert read_matrix("items", two).table.sum() == 24
