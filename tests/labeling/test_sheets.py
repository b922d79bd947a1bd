import csv
import json
import re
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import refused

import workbench as wb
from workbench.data.scored_items import ScoredItems
from workbench.labeling.sheets import (
    SheetLabels,
    draw_items,
    read_label_sheet,
    write_label_sheet,
    write_rows,
)
from workbench.results import Note, Result

IDS = ("007", "=1+1", 'b;"c\nd', "-5", "é", "@x", "'=y", " =z")
STRATUM = np.array([1, 0, 1, 0, 1, 0, 0, 1])


def scored(ids=IDS):
    values = None if ids is None else np.array(ids, object)
    return ScoredItems(values, np.linspace(0.5, 1, 8 if ids is None else len(ids)))


def cells(path):
    with open(path, encoding="utf-8-sig", newline="") as file:
        return list(csv.reader(file))


def filled(folder, text, encoding="utf-8"):
    path = folder / "filled.csv"
    path.write_bytes(text.encode(encoding))
    return path


def read(path, items=None, stratum=STRATUM, n_strata=2):
    return read_label_sheet(path, items or scored(), stratum, n_strata)


def test_draw_items_per_stratum():
    stratum = np.random.default_rng(0).integers(0, 5, 10_000)
    drawn = draw_items(stratum, [3, 0, 7, 1, 200], rng=4)
    assert np.bincount(stratum[drawn], minlength=5).tolist() == [3, 0, 7, 1, 200]
    assert np.all(np.diff(drawn) > 0)
    assert np.array_equal(drawn, draw_items(stratum, [3, 0, 7, 1, 200], rng=4))
    assert draw_items([0, 0], [0], rng=0).size == 0
    assert draw_items([1, 0, 1], [1, 2], rng=0).tolist() == [0, 1, 2]


def test_draw_items_is_simple_random():
    rng = np.random.default_rng(0)
    hits = np.zeros(6)
    for _ in range(3000):
        hits[draw_items([0, 1, 0, 1, 0, 0], [2, 1], rng=rng)] += 1
    assert np.all(np.abs(hits - 1500) < 4 * np.sqrt(750))


def test_draw_items_checks():
    most, told = "must be at most stratum_size", "stratum 1 has 3 of 2"
    refused(lambda: draw_items([0, 0, 1, 1], [1, 3], rng=0), "labeled", most, told)
    most, told = "must be at most 0", "item 2 is 1"
    refused(lambda: draw_items([0, 0, 1], [1], rng=0), "strata_labels", most, told)


def test_sheet_is_in_the_order_given_and_neutral(tmp_path):
    path = tmp_path / "sheet.csv"
    write_label_sheet(path, scored(), STRATUM, np.arange(8)[::-1])
    assert path.read_bytes().startswith(b"\xef\xbb\xbfid,position,correct\r\n")
    assert cells(path)[1:] == [
        ["'=z", "1", ""],
        ["''=y", "2", ""],
        ["'@x", "3", ""],
        ["é", "4", ""],
        ["'-5", "5", ""],
        ['b;"c\nd', "6", ""],
        ["'=1+1", "7", ""],
        ["007", "8", ""],
    ]
    assert [file.name for file in tmp_path.iterdir()] == ["sheet.csv"]


def test_text_is_quoted_and_no_delimiter_starts_a_formula(tmp_path):
    """A spreadsheet may split lines at semicolons or tabs; a quote then holds only what begins with it."""
    ids = ("x;=1+1", "y\t=2", "a\t-3;@b", 'q"";=1', "=z;=1", "c;'=1", "plain")
    path = tmp_path / "sheet.csv"
    write_label_sheet(path, scored(ids), np.zeros(7, int), np.arange(7))
    lines = path.read_text(encoding="utf-8-sig").splitlines()
    assert lines[1] == '"x;=1+1",1,' and lines[4] == '"q"""";=1",4,' and lines[-1] == '"plain",7,'
    write_rows(
        tmp_path / "records.csv",
        ["id", "stratum", "value"],
        [(7, "g;=1+1", ""), ("=1", "h\t'=2", None), ("c", "d;5", 0.5), ("e", ";\t=1", np.int64(3))],
    )
    assert (tmp_path / "records.csv").read_text(encoding="utf-8-sig").splitlines()[1:] == [
        '7,"g;\'=1+1",',
        '"\'=1","h\t\'\'=2",',
        '"c","d;5",0.5',
        '"e",";\'\t\'=1",3',
    ]
    for file in (path, tmp_path / "records.csv"):
        for delimiter in ",;\t":
            rows = csv.reader(
                file.read_text(encoding="utf-8-sig").splitlines(), delimiter=delimiter
            )
            assert not any(cell.lstrip()[:1] in set("=+-@") for row in rows for cell in row)
    path.write_text(re.sub(r",\n", ",1\n", path.read_text(encoding="utf-8-sig")))
    labels = read(path, scored(ids), np.zeros(7, int), 1)
    assert labels.index.tolist() == list(range(7)) and labels.unmatched == ()


def test_a_long_name_of_a_sheet_can_be_written(tmp_path):
    path = tmp_path / f"{'s' * 250}.csv"
    write_label_sheet(path, scored(), STRATUM, [0])
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


def test_ids_of_a_sheet_may_be_numbers_or_absent(tmp_path):
    path = tmp_path / "sheet.csv"
    write_label_sheet(path, ScoredItems(np.array([7]), np.array([0.5])), [0], [0])
    assert cells(path)[1] == ["7", "1", ""]
    write_label_sheet(path, scored(None), STRATUM, [7, 1])
    assert cells(path)[1:] == [["8", "1", ""], ["2", "2", ""]]


def test_a_recorded_label_is_never_overwritten(tmp_path):
    path = tmp_path / "sheet.csv"
    write_label_sheet(path, scored(), STRATUM, [0, 1])
    write_label_sheet(path, scored(), STRATUM, [2])
    path.write_text("id;correct\n007;\nx;1\n")
    message = (
        f"{str(path)!r} already contains 1 label and was not overwritten. Choose another path, or move the "
        "file away"
    )
    with pytest.raises(ValueError, match=re.escape(message)):
        write_label_sheet(path, scored(), STRATUM, [0])
    path.write_text("my;notes\n1;2\n")
    with pytest.raises(
        ValueError, match="exists, but is not an annotation sheet .*\\. Choose another path"
    ):
        write_label_sheet(path, scored(), STRATUM, [0])
    assert path.read_text() == "my;notes\n1;2\n"


def test_a_failed_write_leaves_nothing(tmp_path, monkeypatch):
    def fail(*_):
        raise OSError(28, "disk full")

    monkeypatch.setattr("workbench.data.whole_files.os.replace", fail)
    with pytest.raises(OSError, match="cannot write '.*sheet.csv': disk full"):
        write_label_sheet(tmp_path / "sheet.csv", scored(), STRATUM, [0])
    assert list(tmp_path.iterdir()) == []


def test_write_checks(tmp_path):
    call = partial(write_label_sheet, "sheet.xlsx", scored(), STRATUM, [0])
    refused(call, "path", "must end in .csv", "got 'sheet.xlsx'")
    with pytest.raises(ValueError, match="no such folder: '.*gone'"):
        write_label_sheet(tmp_path / "gone" / "sheet.csv", scored(), STRATUM, [0])
    with pytest.raises(ValueError, match="index must be below 8, the number of items; got 8"):
        write_label_sheet(tmp_path / "sheet.csv", scored(), STRATUM, [8])
    with pytest.raises(ValueError, match="index must hold each position once; 3 repeats"):
        write_label_sheet(tmp_path / "sheet.csv", scored(), STRATUM, [3, 1, 3])
    call = partial(write_label_sheet, tmp_path / "sheet.csv", scored(), [0], [3])
    refused(call, "stratum", "must have 8 entries", "got 1")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252", "utf-16"])
def test_sheets_saved_by_a_spreadsheet(encoding, tmp_path):
    text = (
        'id;stratum;correct;remark\r\n007;1;1,00;x\r\n\'=1+1;0;0\u002c0;\r\n"b;""c\nd";1;1;\r\né;1;0;\r\n'
        "-5;0;;\r\n''=y;0;1.0;\r\n;;;\r\n"
    )
    labels = read(filled(tmp_path, text, encoding))
    assert labels.labeled.tolist() == [2, 3] and labels.correct.tolist() == [1, 2]
    assert labels.index.tolist() == [0, 1, 2, 4, 6] and labels.right.tolist() == [1, 0, 1, 0, 1]
    assert labels.unlabeled == ("-5",) and labels.unmatched == ()
    assert labels.headline() == "5 labels in 2 strata, 3 correct, 1 still to label"
    assert labels.rows()[1] == {"stratum": 2, "labeled": 3, "correct": 2}
    assert len(labels.notes) == (encoding in ("cp1252", "utf-16"))


def test_ids_without_leading_zeros_are_shown_not_guessed(tmp_path):
    labels = read(filled(tmp_path, "id,correct\n7,1\né,1\nzzz,0\n"))
    assert labels.index.tolist() == [4] and labels.unmatched == ("7", "zzz")
    assert labels.notes == (
        Note("refused", "2 ids of the annotation sheet are not among the items: '7', 'zzz'"),
        Note(
            "data",
            "a spreadsheet may have removed leading zeros: the sheet has '7', the items have "
            "'007'. Format the column id as text and restore the zeros",
        ),
    )


def test_repeated_ids(tmp_path):
    labels = read(filled(tmp_path, "id,correct\né,1\né,\né,1\n007,\n007,0\n"))
    assert labels.index.tolist() == [0, 4] and labels.correct.tolist() == [0, 1]
    assert labels.unlabeled == ()
    assert labels.notes == (
        Note(
            "data",
            "1 id is labeled more than once, always with the same label, and counted once: 'é'",
        ),
    )


@pytest.mark.parametrize(
    "text, message",
    [
        (
            "id,correct\né,1\né,0\n",
            "id 'é' is labeled both 1 and 0, the second time in row 3. Keep one of the rows",
        ),
        (
            "id,correct\né,2\n",
            "column 'correct', row 2 (id 'é'): '2' is not 1 or 0. Write 1 (correct) or 0 "
            "(incorrect), or use one of yes/no, y/n, right/wrong, correct/incorrect, true/false "
            "throughout. These words may also be in German, French or Spanish. If the cells hold "
            "true classes, name the column 'truth'",
        ),
        (
            "id,correct\né,x\n007,\n-5,X\n",
            "column 'correct' holds only 'x', in 2 rows. It is not clear "
            "whether it means correct or incorrect, or what an empty cell means. Write 1 (correct) "
            "or 0 (incorrect) in every row that was checked",
        ),
        (
            "id,correct\né,x\n007,1\n",
            "column 'correct', row 2 (id 'é'): 'x' is not 1 or 0. Write 1 (correct) or 0 "
            "(incorrect), or use one of yes/no, y/n, right/wrong, correct/incorrect, true/false "
            "throughout. These words may also be in German, French or Spanish. If the cells hold "
            "true classes, name the column 'truth'",
        ),
        (
            "id,correct\né,\n007,TRUE\n-5,1.0\n",
            "column 'correct' mixes two kinds of answers: row 3 has 'TRUE', "
            "row 4 has '1.0'. Use one of true/false, 1/0 throughout",
        ),
        (
            "id,correct\né,yes\n007,n\n",
            "column 'correct' mixes two kinds of answers: row 2 has 'yes', "
            "row 3 has 'n'. Use one of yes/no, y/n throughout",
        ),
        (
            "id,correct\né,1\n,1\n",
            "column 'id', row 3 is empty, but column 'correct' holds '1'. Write the id of the item "
            "into the row",
        ),
        (
            "id,stratum,correct\né,0,1\n",
            "id 'é' (row 2) has stratum '0' in the sheet, but 1 now. Use the settings with which the sheet was "
            "written: number of strata, stratifier, seed and question (such as the metrics of a class, or "
            "a rival)",
        ),
    ],
)
def test_sheets_that_contradict(text, message, tmp_path):
    with pytest.raises(ValueError) as error:
        read(filled(tmp_path, text))
    assert str(error.value) == message


@pytest.mark.parametrize(
    ("classes", "cells", "right"),
    [
        (["yes", "no", "yes"], ["yes", "no", "no"], None),
        (["Yes", "No", "maybe"], ["1", "0", "NO"], None),
        (["y", "n", "y"], ["n", "y", "n"], None),
        (["True", "False", "True"], ["TRUE", "TRUE", "FALSE"], None),
        (["yes", "no", "yes"], ["correct", "incorrect", "correct"], [1, 0, 1]),
        (["yes", "no", "yes"], ["1", "1", "0"], [1, 1, 0]),
        (["yes", "maybe", "yes"], ["yes", "no", "no"], [1, 0, 0]),
        ([0, 1, 0], ["1", "1", "0"], [1, 1, 0]),
        (["left", "right", "up"], ["right", "wrong", "wrong"], [1, 0, 0]),
    ],
)
def test_words_that_are_predicted_classes_do_not_say_correct(classes, cells, right, tmp_path):
    rows = "".join(f"{k},{cell}\n" for k, cell in enumerate(cells, 1))
    path = filled(tmp_path, "id,correct\n" + rows)
    if right is None:
        with pytest.raises(ValueError, match="is also a predicted class, .* Write 1 .* 'truth'$"):
            read_label_sheet(path, predicted(classes), [0] * 3, 1)
    else:
        found = read_label_sheet(path, predicted(classes), [0] * 3, 1)
        assert found.right.tolist() == right


@pytest.mark.parametrize(
    ("classes", "shown", "differing"),
    [
        (["cat", "dog", "owl"], ["cat", "dog", "owl"], 0),
        (["cat", "dog", "owl"], ["CAT ", "", "owl"], 0),
        (["cat", "dog", "owl"], ["dog", "dog", "owl"], 1),
        (["cat", "dog", "owl"], ["dog", "owl", "owl"], 2),
        (["3-4", "007", "=x"], ["3. Apr", "7", "'=x"], 0),
        ([1, 0, 1], ["1,0", "0.0", "1"], 0),
        ([1, 0, 1], ["1", "1", "1"], 1),
        ([1, 0, 1], ["1", "0", "0"], 0),
        (["01", "1", "2"], ["1", "1", "2"], 0),
        (["01", "1", "2"], ["2", "1", "2"], 1),
        (["1.10", "1.1", "1.2"], ["1.1", "1.1", "1.2"], 0),
        (["1.10", "1.1", "1.2"], ["1.2", "1.2", "1.2"], 2),
        (["1E2", "100", "2"], ["100", "100", "2"], 0),
        (["50%", "7%", "0.5", "0.07"], ["0.5", "0.07", ""], 0),
        (["50%", "7%", "0.5", "0.07"], ["0.07", "0.5", ""], 2),
        (["50%", "5%", "50"], ["50", "5%", ""], 1),
        (["12345678901234567", "x", "12345678901234500"], ["12345678901234500", "x", ""], 0),
        (["a%", "b", "a"], ["a", "b", ""], 1),
    ],
)
def test_a_sheet_of_other_predictions_is_refused(classes, shown, differing, tmp_path):
    """A spreadsheet may rewrite 3-4 as a date; the third row has no answer, so it does not count."""
    cells = zip("123", shown, ["1", "0", ""], strict=True)
    lines = ["id;prediction;correct", *map(";".join, cells)]
    path = filled(tmp_path, "\n".join(lines))
    if not differing:
        found = read_label_sheet(path, predicted(classes), [0] * len(classes), 1)
        assert found.right.tolist() == [1, 0]
        return
    message = (
        f"other predictions than the items in {differing} of 2 .*, or delete the column "
        "'prediction' from the sheet if it was only reformatted$"
    )
    with pytest.raises(ValueError, match=message):
        read_label_sheet(path, predicted(classes), [0] * len(classes), 1)


def test_sheets_without_use(tmp_path):
    message = (
        "is an id of the items: its first id is 'q', and the first item is '007'. Check that sheet"
    )
    with pytest.raises(ValueError, match=message):
        read(filled(tmp_path, "id,correct\nq,1\n"))
    with pytest.raises(ValueError, match="has no label in its column 'correct': write 1 if"):
        read(filled(tmp_path, "id,correct\né, \n"))
    with pytest.raises(ValueError, match="has no column 'correct'; available columns: 'id'"):
        read(filled(tmp_path, "id\né\n"))
    path = filled(tmp_path, "id,correct\né,1\n")
    refused(lambda: read(path, n_strata=1), "stratum", "must be at most 0", "item 0 is 1")


def predicted(classes, rival=None):
    return ScoredItems(
        None,
        np.linspace(0.5, 1, len(classes)),
        np.array(classes),
        rival=None if rival is None else np.array(rival),
    )


def test_a_sheet_that_asks_for_the_true_class_does_not_tell_the_prediction(tmp_path):
    path = tmp_path / "sheet.csv"
    items = ScoredItems(None, np.linspace(0.5, 1, 8), np.arange(8) % 3)
    write_label_sheet(path, items, STRATUM, [7, 1, 0], asks="truth")
    assert cells(path) == [
        ["id", "position", "truth"],
        ["8", "1", ""],
        ["2", "2", ""],
        ["1", "3", ""],
    ]


@pytest.mark.parametrize("asks", ["correct", "truth"])
def test_an_empty_sheet_of_either_kind_is_written_anew_and_a_filled_one_never(asks, tmp_path):
    path = tmp_path / "sheet.csv"
    write_label_sheet(path, scored(None), STRATUM, [0, 1], asks="truth")
    write_label_sheet(path, scored(None), STRATUM, [0, 1], asks=asks)
    path.write_text("id,stratum,truth\n1,1,cat\n2,0,\n")
    with pytest.raises(ValueError, match="already contains 1 label and was not overwritten"):
        write_label_sheet(path, scored(None), STRATUM, [0], asks=asks)


def test_true_classes_are_read_as_right_and_wrong(tmp_path):
    items = predicted(["cat", "dog", "owl", "cat"])
    path = filled(tmp_path, "id,truth\n1,cat\n2,owl\n3,other\n4,\n")
    found = read_label_sheet(path, items, [0, 0, 1, 1], 2, asks="truth")
    assert found.truth.tolist() == ["cat", "owl", "other"] and found.right.tolist() == [1, 0, 0]
    assert found.labeled.tolist() == [2, 1] and found.unlabeled == ("4",)
    again = Result.from_dict(found.to_dict())
    assert again.truth.tolist() == found.truth.tolist()


def test_numbers_are_classes_however_they_are_written(tmp_path):
    path = filled(tmp_path, "id;truth\n1;1,0\n2;true\n3;0.0\n4;other\n")
    found = read_label_sheet(path, predicted([1, 0, 0, 1]), [0] * 4, 1, asks="truth")
    assert found.truth.tolist() == ["1", "1", "0", "other"] and found.right.tolist() == [1, 0, 1, 0]
    assert (
        read_label_sheet(
            path, predicted([1.0, 0.0, 0.0, 1.0]), [0] * 4, 1, asks="truth"
        ).truth.tolist()
        == found.truth.tolist()
    )
    half = read_label_sheet(
        filled(tmp_path, "id,truth\n1,0.5\n2,1\n"),
        predicted([1, 0], [0.5, 1.0]),
        [0, 0],
        1,
        asks="truth",
    )
    assert half.truth.tolist() == ["0.5", "1"] and half.right.tolist() == [0, 0]


def test_true_classes_stand_in_where_right_and_wrong_are_missing(tmp_path):
    items = predicted(["cat", "dog", "dog"])
    for text in ("id,truth\n1,cat\n2,cat\n", "id,correct,truth\n1,,cat\n2,,cat\n"):
        assert read(filled(tmp_path, text), items, [0, 0, 0], 1).right.tolist() == [1, 0]
    both = read(filled(tmp_path, "id,correct,truth\n1,0,cat\n2,1,?\n"), items, [0, 0, 0], 1)
    assert both.right.tolist() == [0, 1] and both.truth is None
    with pytest.raises(
        ValueError, match="has no column 'correct'"
    ):  # what was predicted is not known
        read(filled(tmp_path, "id,truth\n1,cat\n"), scored(None))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "id,truth\n1,Cat\n",
            "column 'truth', row 2 (id '1'): 'Cat' is not a predicted class (did you mean 'cat'?). "
            "Write 'cat', 'dog', or 'other' for a class that is never predicted",
        ),
        (
            "id,truth\n1,1\n",
            "column 'truth', row 2 (id '1'): '1' is not a predicted class. Write 'cat', 'dog', or "
            "'other' for a class that is never predicted",
        ),
        (
            "id,truth\n1,cat\n1,dog\n",
            "id '1' is labeled both cat and dog, the second time in row 3. Keep one of the rows",
        ),
        (
            "id,truth\n,cat\n1,dog\n",
            "column 'id', row 2 is empty, but column 'truth' holds 'cat'. Write the id of the item into the row",
        ),
        (
            "id,truth\n1,\n",
            "'{}' has no label in its column 'truth': write the true class of every item",
        ),
        ("id,correct\n1,1\n", "'{}' has no column 'truth'; available columns: 'id', 'correct'"),
    ],
)
def test_sheets_of_true_classes_that_cannot_be_read(text, message, tmp_path):
    path = filled(tmp_path, text)
    with pytest.raises(ValueError) as error:
        read_label_sheet(path, predicted(["cat", "dog"]), [0, 0], 1, asks="truth")
    assert str(error.value) == message.format(path)


def test_sheet_labels_serialise():
    labels = SheetLabels(
        np.array([1]),
        np.array([1]),
        np.array([3]),
        np.array([1]),
        ("a",),
        (),
        notes=[Note("data", "note")],
    )
    again = Result.from_dict(labels.to_dict())
    assert (
        again.rows() == labels.rows() and again.unmatched == ("a",) and again.index.tolist() == [3]
    )
    assert again.notes == labels.notes == (Note("data", "note"),)
    assert repr(again) == "SheetLabels(1 label in 1 stratum, 1 correct, 1 id not among the items)"


nasty = st.text(
    st.one_of(
        st.sampled_from("=+-@'\";,\n\r\t 0＝é中\u00a0"), st.characters(exclude_categories=["Cs"])
    ),
    min_size=1,
    max_size=12,
)


@pytest.mark.slow
@settings(deadline=None)  # the first example imports DuckDB
@given(st.lists(nasty.map(str.strip).filter(bool), min_size=1, max_size=12, unique=True), st.data())
def test_every_id_survives_the_round_trip(tmp_path_factory, ids, data):
    path = tmp_path_factory.mktemp("round") / "sheet.csv"
    ids = list(dict.fromkeys([*ids, "=1+1", "\uff1dx"]))
    stratum = np.arange(len(ids)) % 3
    answers = data.draw(st.lists(st.sampled_from([0, 1]), min_size=len(ids), max_size=len(ids)))
    write_label_sheet(path, scored(ids), stratum, np.arange(len(ids)))
    rows = cells(path)
    assert not any(row[0].lstrip()[:1] in set("=+-@＝") for row in rows[1:])
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter=";", quoting=csv.QUOTE_ALL)
        writer.writerow(rows[0])
        writer.writerows([*row[:2], answer] for row, answer in zip(rows[1:], answers, strict=True))
    labels = read(path, scored(ids), stratum, 3)
    assert labels.index.tolist() == list(range(len(ids)))
    assert labels.right.tolist() == answers and labels.unmatched == () and labels.notes == ()


def test_two_people_who_differ_in_a_tools_file_are_said_and_the_first_counts(tmp_path):
    said = {
        "d-1": (("ann", "right"), ("ben", "wrong")),
        "d-2": (("ben", "right"),),
        "d-3": (("ann", "wrong"),),
    }
    tasks = [
        {
            "data": {"item": item},
            "annotations": [
                {
                    "completed_by": who,
                    "result": [{"type": "choices", "value": {"choices": [label]}}],
                }
                for who, label in pairs
            ],
        }
        for item, pairs in said.items()
    ]
    path = tmp_path / "x.json"
    path.write_text(json.dumps(tasks), encoding="utf-8")
    items = wb.ScoredItems(
        np.array([*said], object), np.array([0.6, 0.7, 0.8]), prediction=np.array(["a", "b", "a"])
    )
    found = read_label_sheet(path, items, [0, 0, 0], 1)
    assert (found.labeled.tolist(), found.correct.tolist()) == ([3], [2])
    assert any(
        "1 item with different labels by several annotators: the first label in the file counts for d-1"
        in str(note)
        for note in found.notes
    )
    tasks[0]["annotations"][1]["completed_by"] = "ann"
    path.write_text(json.dumps(tasks), encoding="utf-8")
    with pytest.raises(
        ValueError, match="is 'wrong' by ann, but 'right' by ann in record 1. Keep one"
    ):
        read_label_sheet(path, items, [0, 0, 0], 1)
