"""A class that is spelled in two ways is said to be so, or refused, before it counts as an error of the classifier."""

import dataclasses

import numpy as np
import polars
import pytest

import workbench as wb
from workbench.data.classes import class_notes, model_notes, read_classes

SHARE_NONE = (
    "truth and prediction have no class in common: 'Ham', 'Spam' against 'hams', 'span'. Check the "
    "names of the columns, or use the same spelling in both"
)


def said(truth, *predictions):
    return [str(note) for note in class_notes(np.array(truth), *map(np.array, predictions))]


def test_the_same_classes_need_no_note():
    assert said(["a", "b"], ["b", "a"]) == said([0, 1], [1, 0]) == []


def test_both_sides_are_named_with_what_was_meant():
    assert said(["Spam", "Spam ", "ham"], ["spam", "ham", "ham"]) == [
        "2 true classes are never predicted (2 items): 'Spam', 'Spam ' (did you mean 'spam'?)",
        "predicted class 'spam' is never true (1 item) (did you mean 'Spam'?)",
    ]
    assert said(["cat", "owl"], ["cat", "dog"]) == [
        "true class 'owl' is never predicted (1 item)",
        "predicted class 'dog' is never true (1 item)",
    ]
    assert said([1, 2], [1, 12]) == [
        "true class 2 is never predicted (1 item)",
        "predicted class 12 is never true (1 item)",
    ]


def test_a_class_of_either_model_is_predicted():
    assert said(["a", "b"], ["a", "a"], ["b", "c"]) == [
        "predicted class 'c' is never true (1 item)"
    ]


@pytest.mark.parametrize(
    "read",
    [
        lambda frame: wb.read_scores(
            frame, score="p", prediction="read", truth="y", score_is="confidence"
        ),
        lambda frame: wb.load_labeled(frame, truth="y", prediction="read", stratum="s"),
        lambda frame: wb.load_audit(frame, truth="y", prediction="read"),
    ],
)
def test_nothing_in_common_is_refused_and_one_other_spelling_said(read):
    frame = polars.DataFrame(
        {
            "p": [0.9, 0.8, 0.7],
            "y": ["Spam", "Ham", "Ham"],
            "read": ["span", "hams", "hams"],
            "s": [1, 1, 1],
        }
    )
    with pytest.raises(ValueError, match=SHARE_NONE):
        read(frame)
    shared = read(frame.with_columns(read=polars.Series(["Spam", "Hams", "Ham"])))
    assert [str(note) for note in shared.notes] == [
        "predicted class 'Hams' is never true (1 item) (did you mean 'Ham'?)"
    ]
    with pytest.raises(
        ValueError,
        match="'hAm' looks like 'Ham' in column 'y'. Spell them alike, or use classes 'text'",
    ):
        read(frame.with_columns(read=polars.Series(["Spam", "hAm", "Ham"])))


def test_models_that_share_no_number_are_refused():
    with pytest.raises(
        ValueError, match="two models have no class in common: 0, 1 against 2, 3. Check the names"
    ):
        list(model_notes(np.array([0, 1]), np.array([2, 3])))


def test_free_text_is_no_class():
    """Two texts may both be right: whether a model is better is not to be seen where they differ."""
    scores = np.linspace(0.5, 0.99, 60)
    said = [f"answer {k}" for k in range(60)]
    items = wb.read_scores(
        {"s": scores, "p": said}, score="s", prediction="p", score_is="confidence"
    )
    message = (
        "the answers are free text: each model gives at least 40 different ones for 60 items. Two different texts "
        "may both be correct, so labels of items with different answers do not show which model is better. Let "
        "annotators or a judge decide for each answer whether it is correct, and compare these scores item by item "
        "(compare_items)"
    )
    for call in (
        lambda: wb.difference_audit(
            dataclasses.replace(items, rival=np.array([*said[:40], *said[:20]]))
        ),
        lambda: wb.read_scores(
            {"s": scores, "p": said, "r": [*said[:40], *said[:20]]},
            score="s",
            prediction="p",
            rival="r",
            score_is="confidence",
        ),
    ):
        with pytest.raises(ValueError) as caught:
            call()
        assert str(caught.value) == message
    few = ["yes", "no"] * 30
    assert (
        wb.read_scores(
            {"s": scores, "p": few, "r": few[::-1]},
            score="s",
            prediction="p",
            rival="r",
            score_is="confidence",
        ).size
        == 60
    )


def test_other_capitals_in_both_columns_are_two_classes_and_said():
    cells = np.array(["Yes", "yes", "No"], object)
    labels, notes = read_classes({"truth": cells, "read": cells[::-1]})
    assert labels["truth"].tolist() == ["Yes", "yes", "No"]
    assert [note.text for note in notes] == [
        "'Yes' and 'yes' were read as two classes. If they are one class, spell them alike"
    ]
    assert "two classes" not in str(read_classes({"truth": cells[1:]})[1])
    assert "two classes" not in str(read_classes({"truth": cells}, "text")[1])
