"""Cells that hold several labels, and classes that only look so."""

import numpy as np
import pytest

from workbench.data.classes import read_classes
from workbench.data.combined import are_lists, list_labels, recognized
from workbench.labeling.annotators import read_annotators


@pytest.mark.parametrize(
    ("texts", "separator"),
    [
        (["a", "b", "a;b"], ";"),
        (["a|b", "b", "a|b|c", "c"], "|"),
        (["a\nb", "b", "a\nb\nc", "c"], "\n"),
        (["a, b", "b", "a"], ","),
        (["A; b", "a", "b"], ";"),  # capitals are compared where labels are read
        (["a;b", "b;c", "c", "a;d", "d", "c;rare"], ";"),
        ([f"w{k};w{k + 1}" for k in range(9)] + ["w3"], ";"),
    ],
)
def test_several_labels_are_evident(texts, separator):
    combined = recognized(texts)
    assert combined.is_evident and combined.separator == separator


@pytest.mark.parametrize(
    "texts",
    [
        ["C", "Java", "C;C++"],
        ["animal", "animal|dog", "animal|cat"],
        ["a;b", "b;c", "a;c"],
        ["a/b", "a", "b"],
        ["a+b", "a", "b"],
        ["cs.CL", "cs.LG", "cs.CL cs.LG"],
        ["1,3", "1", "3"],
        ["Washington", "Washington, D.C.", "Boston"],
    ],
)
def test_some_cells_are_in_doubt(texts):
    assert not recognized(texts).is_evident


@pytest.mark.parametrize(
    "texts",
    [
        ["a", "b"],
        ["a;b", "c", "d"],
        ["Smith; J.", "Doe; A.", "Ng; B."],
        ["Paris, France", "Lyon, France", "Rome, Italy"],
        ["N/A", "a", "b"],
        ["not spam", "spam"],
        ["good", "very good", "bad", "very bad"],
        ["New York", "York", "Boston"],
        ["0,5", "1,5", "0", "1", "2"],
        ["a;", "b"],
        [],
    ],
)
def test_other_cells_are_classes(texts):
    assert recognized(texts) is None


def test_lists_are_read_as_programs_write_them():
    written = [
        '["a", "b c"]',
        "['a', 'b c']",
        "['a' 'b c']",
        '{"choices": ["a", "b c"]}',
        "{'a', 'b c'}",
        "(a, b c)",
    ]
    assert are_lists(written)
    assert [list_labels(text) for text in written] == [["a", "b c"]] * 6
    assert list_labels("[]") == [] and list_labels("[1, 2]") == ["1", "2"]
    assert not are_lists(["[PASS]", "[FAIL]"]) and not are_lists(["['a']", "a"])


def test_classes_elsewhere_are_refused_or_noted():
    evident = {"truth": np.array(["a", "b", "a;b"], object)}
    message = "^column 'truth', data row 3: 'a;b' seems to contain several labels \\('a', 'b'\\), which are"
    with pytest.raises(ValueError, match=message):
        read_classes(evident)
    assert read_classes(evident, "text")[0]["truth"].tolist() == ["a", "b", "a;b"]
    labels, notes = read_classes({"truth": np.array(["C", "C;C++"], object)})
    assert labels["truth"].tolist() == ["C", "C;C++"]
    assert str(notes[-1]).startswith("'C;C++' was read as one class. If it means several labels")
    _, notes = read_classes({"truth": np.array(["['a']", "['a', 'b']"], object)})
    assert "was read as one class. If it means several labels ('a', 'b'), for metrics" in str(
        notes[-1]
    )


def test_agreement_says_that_a_combination_is_a_class(tmp_path):
    file = tmp_path / "labels.csv"
    file.write_text("item,anna,ben\n1,a,a\n2,b,a\n3,a;b,b\n4,b,a;b\n", encoding="utf-8")
    notes = map(str, read_annotators(file).notes)
    assert any(note.startswith("'a;b' was treated as one class. If") for note in notes)
