from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pytest
import refusals

from workbench.checks import WrongType
from workbench.data.scored_items import (
    OR_LEAVE_OUT,
    SYNTHETIC_KINDS,
    ScoredItems,
    read_scores,
    synthetic_scores,
)
from workbench.results import Note, Result


def refused(message, *args, **kwargs):
    with pytest.raises(ValueError) as error:
        read_scores(*args, **kwargs)
    assert str(error.value) == message


def test_confidence_with_classes(tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text("form;p;read;true\n 007;0,9;cat;cat\n7; 0,25;dog;cat\n8;1;cat; owl\n")
    items = read_scores(
        path, score="p", prediction="read", truth="true", id="form", score_is="confidence"
    )
    assert items.id.tolist() == ["007", "7", "8"]
    assert items.score.tolist() == [0.9, 0.25, 1]
    assert items.correct.tolist() == [True, False, False]
    assert items.truth.tolist() == ["cat", "cat", "owl"]
    assert items.score_is == "confidence"
    looks, *others = items.notes
    assert looks.kind == "unreliable" and "'cat'" in looks.text
    assert others == [
        Note("data", "true class 'owl' is never predicted (1 item)"),
        Note("data", "predicted class 'dog' is never true (1 item)"),
    ]
    assert items.size == 3
    assert items.headline() == "3 items, mean confidence 0.7167, accuracy 0.3333"
    assert list(items.rows()[1]) == ["id", "score", "prediction", "truth", "correct"]
    assert list(items.rows()[1].values()) == ["7", 0.25, "dog", "cat", False]


def test_without_prediction_truth_is_correctness():
    items = read_scores({"p": [0.9, 0.8], "right": ["true", "0"]}, score="p", truth="right")
    assert items.truth is None and items.prediction is None
    assert items.correct.tolist() == [True, False]
    only = read_scores({"p": [0.9, 0.8]}, score="p")
    assert only.correct is None
    assert (
        only.headline()
        == "2 items, mean confidence 0.85; scores read as confidence in the prediction"
    )
    assert only.rows() == [{"score": 0.9}, {"score": 0.8}]
    rule = "is not 0 or 1. Without a prediction column, truth must say whether the item was classified correctly"
    refused(
        f"column 'y', data row 2: 3 {rule}", {"p": [0.9, 0.8], "y": [1, 3]}, score="p", truth="y"
    )
    refused(
        f"column 'y', data row 1: 'cat' {rule}", {"p": [0.9], "y": ["cat"]}, score="p", truth="y"
    )


@pytest.mark.parametrize(
    ("cells", "options"),
    [
        ({"yhat": [1, 0, 1]}, {"prediction": "yhat"}),
        ({"yhat": ["1", "2", "3"]}, {"prediction": "yhat"}),
        ({}, {"score_is": "class1"}),
    ],
)
def test_right_and_wrong_are_not_read_as_true_classes(cells, options):
    """Two of three predictions are correct; as classes, 1 0 1 would match the predictions 1 0 1."""
    data = {"p": [0.9, 0.8, 0.7], **cells, "is_correct": [1, 0, 1]}
    with pytest.raises(ValueError, match="^column 'is_correct' holds '0', '1': is it the true"):
        read_scores(data, score="p", truth="is_correct", **options)
    items = read_scores(data, score="p", truth="is_correct", score_is="confidence")
    assert items.correct.mean() == pytest.approx(2 / 3)
    data["truth"] = data.pop("is_correct")
    assert read_scores(data, score="p", truth="truth", **options).truth.tolist() == [1, 0, 1]


VERDICTS = (
    *("was_correct", "Correctness", "match", "is_match", "richtig", "korrekt", "passed", "hit"),
    *("is correct", "Correct?", "accurate", "model_ok", "ok", "right", "gpt4_correct"),
)


def test_classes_that_agree_with_the_predictions_may_have_the_name_of_verdicts():
    rng = np.random.default_rng(5)
    is_true = rng.random(400) < 0.3
    predicted = np.where(rng.random(400) < 0.9, is_true, ~is_true)
    classes = [np.where(column, "yes", "no") for column in (is_true, predicted)]
    for name in VERDICTS:
        data = {"p": rng.uniform(0.5, 1, 400), "yhat": classes[1], name: classes[0]}
        options = {"score": "p", "prediction": "yhat", "truth": name, "score_is": "confidence"}
        items = read_scores(data, **options)
        assert items.correct.mean() == (is_true == predicted).mean()
        kinds = [note.kind for note in items.notes if "read as the true class" in note.text]
        assert kinds == ["assumption"]
        few = np.where(np.arange(400) % 10 == 0, data[name], "")
        few_labels = read_scores(data | {name: few}, **options)
        assert few_labels.labeled_correct.mean() == (is_true == predicted)[::10].mean()
        verdicts = np.where(is_true == predicted, "yes", "no")
        with pytest.raises(ValueError, match=f"^column {name!r} holds".replace("?", "[?]")):
            read_scores(data | {name: verdicts}, **options)


@pytest.mark.parametrize("name", ["incorrect", "correct_label", "right_answer", "status", "book"])
def test_other_names_are_not_those_of_verdicts(name):
    data = {"p": [0.9, 0.8, 0.7], "yhat": [1, 0, 1], name: [1, 1, 0]}
    options = {"score": "p", "prediction": "yhat", "truth": name, "score_is": "confidence"}
    assert read_scores(data, **options).correct.tolist() == [True, False, False]


def test_a_column_of_that_name_may_hold_classes():
    data = {"p": [0.9, 0.8, 0.7], "yhat": ["left", "right", "up"], "right": ["left", "left", "up"]}
    items = read_scores(data, score="p", prediction="yhat", truth="right")
    assert items.correct.tolist() == [True, False, True]


def test_confidence_must_be_one():
    refused(
        "column 'p', data row 2: 1.5 is not a confidence from 0 to 1. If its sign is the "
        "prediction, use score_is='margin' (--score-is margin)",
        {"p": [0.9, 1.5]},
        score="p",
    )
    refused(
        "column 'p', data row 2: nan is not a finite number" + OR_LEAVE_OUT,
        {"p": [0.9, np.nan]},
        score="p",
    )
    refused(
        "column 'p', data row 2 is empty. Fill the cell or delete the row" + OR_LEAVE_OUT,
        pl.DataFrame({"p": [0.9, None]}),
        score="p",
    )


def test_text_against_numbers():
    refused(
        "columns 'a', 'b' contain classes as text and as numbers; code the classes alike",
        {"p": [0.9], "a": [1], "b": ["one"]},
        score="p",
        prediction="a",
        truth="b",
        score_is="confidence",
    )


def test_a_rival_is_read_beside_the_prediction():
    frame = {"p": [0.9, 0.8, 0.7], "a": ["x", "y", "x"], "b": ["y", "y", "z"], "t": ["x", "z", "w"]}
    items = read_scores(frame, score="p", prediction="a", rival="b", truth="t")
    assert items.rival.tolist() == ["y", "y", "z"] and items.rows()[0]["rival"] == "y"
    assert items.notes == (
        Note("data", "true class 'w' is never predicted (1 item)"),
        Note("data", "predicted class 'y' is never true (3 items)"),
        Note("data", "first model's class 'x' is never predicted by the second model (2 items)"),
        Note("data", "second model's class 'z' is never predicted by the first model (1 item)"),
    )
    assert Result.from_dict(items.to_dict()).rows() == items.rows()
    refused(
        "columns 'a', 'n' contain classes as text and as numbers; code the classes alike",
        frame | {"n": [1, 2, 3]},
        score="p",
        prediction="a",
        rival="n",
    )
    codes = {"p": [0.9, 0.2], "b": [1, 2]}
    refused(
        "column 'b', data row 2: 2 is not 0 or 1", codes, score="p", rival="b", score_is="class1"
    )


def test_labels_and_ids_must_be_there():
    frame = {"p": [0.9, 0.8], "a": ["x", ""], "i": ["u", " u "]}
    refused(
        "column 'a', data row 2 is empty. Fill the cell or delete the row" + OR_LEAVE_OUT,
        frame,
        score="p",
        prediction="a",
    )
    refused(
        "column 'i': every item needs an id of its own, but 'u' is in data row 1 and data row 2",
        frame,
        score="p",
        id="i",
    )


def test_ids_of_a_frame_keep_their_type():
    assert (
        read_scores(pd.DataFrame({"p": [0.5, 0.6], "i": [7, 8]}), score="p", id="i").id.dtype.kind
        == "i"
    )


def test_class1_becomes_confidence():
    items = read_scores(
        {"p": [0.9, 0.25, 0.5], "y": [1, 1, 0]}, score="p", truth="y", score_is="class1"
    )
    assert items.prediction.tolist() == [1, 0, 1]
    assert items.score.tolist() == [0.9, 0.75, 0.5]
    assert items.correct.tolist() == [True, False, False]
    assert items.score_is == "confidence"
    assert items.notes == (Note("assumption", "prediction is 1 where 'p' is at least 0.5"),)
    given = read_scores(
        {"p": [0.9, 0.4], "a": [1, 1]}, score="p", prediction="a", score_is="class1"
    )
    assert given.score.tolist() == [0.9, 0.4]
    assert given.notes == (
        Note("data", "1 prediction is not the more likely class according to 'p'"),
    )
    minus = read_scores({"p": [0.9, 0.1], "y": [1, -1]}, score="p", truth="y", score_is="class1")
    assert minus.prediction.tolist() == [1, -1]


def test_class1_needs_coded_classes():
    message = "column 'a', data row 1: 'yes' is not 0 or 1"
    frame = {"p": [0.9], "a": ["yes"], "b": [2], "q": [-1]}
    refused(message, frame, score="p", prediction="a", score_is="class1")
    refused(message, frame, score="p", truth="a", score_is="class1")
    refused(
        "column 'b', data row 1: 2 is not 0 or 1", frame, score="p", truth="b", score_is="class1"
    )
    refused(
        "column 'q', data row 1: -1 is not a probability from 0 to 1. If its sign is the "
        "prediction, use score_is='margin' (--score-is margin)",
        frame,
        score="q",
        score_is="class1",
    )


def test_margin():
    items = read_scores(
        {"m": [2.5, -1, 0], "y": [1, 1, 0]}, score="m", truth="y", score_is="margin"
    )
    assert items.score.tolist() == [2.5, 1, 0]
    assert items.prediction.tolist() == [1, 0, 0]
    assert items.correct.tolist() == [True, False, True]
    assert items.score_is == "margin" and items.notes == ()
    signed = read_scores({"m": [2.5, -1], "y": [1, -1]}, score="m", truth="y", score_is="margin")
    assert signed.prediction.tolist() == [1, -1]
    refused(
        "column 'a', data row 2: 1 contradicts the sign of 'm'",
        {"m": [1, -2], "a": [1, 1]},
        score="m",
        prediction="a",
        score_is="margin",
    )
    refused(
        "column 'y', data row 1: 0 is not -1 or 1",
        {"m": [1, -2], "a": [1, -1], "y": [0, 1]},
        score="m",
        prediction="a",
        truth="y",
        score_is="margin",
    )


@pytest.mark.parametrize(
    ("given", "refusal"),
    [
        ({"score": 3}, ("score", "must be of class str", "got int", WrongType)),
        (
            {"score_is": "margins"},
            (
                "score_is",
                "must be one of 'auto', 'confidence', 'class1', 'margin', 'log_confidence'",
                "got 'margins' (did you mean 'margin'?)",
            ),
        ),
        (
            {"truth": "a"},
            ("truth", "must be a column with at least one label", "column 'a' has none. L"),
        ),
        (
            {"prediction": "b", "truth": "b"},
            ("prediction", "must be a different column from truth", "both are 'b'"),
        ),
        (
            {"rival": "b"},
            ("rival", "'b' is compared with predictions. Name the column of predictions"),
        ),
    ],
)
def test_arguments_that_name_no_score_and_no_column(given, refusal):
    frame = {"p": [0.9, 0.8], "a": ["", None], "b": ["x", "y"]}
    refusals.refused(lambda: read_scores(frame, **{"score": "p"} | given), *refusal)


def test_rounded_scores_are_noted():
    items = read_scores({"p": [0.9, 0.9, 0.9, 0.8, 0.8]}, score="p")
    assert items.notes == (
        Note(
            "data",
            "only 2 of 5 scores are distinct, and 3 items share the score 0.9. Unrounded scores "
            "are better, if you can get them",
        ),
    )


def test_never_predicted_is_one_note():
    items = read_scores(
        {"p": [0.1, 0.2, 0.3], "a": [1, 9, 1], "y": [1, 2, 3]},
        score="p",
        prediction="a",
        truth="y",
        score_is="confidence",
    )
    assert items.notes == (
        Note("data", "2 true classes are never predicted (2 items): 2, 3"),
        Note("data", "predicted class 9 is never true (1 item)"),
    )


def test_scored_items_serialise_and_show_their_notes():
    items = ScoredItems(
        np.array(["<a>", "b"], object),
        np.array([0.5, 1]),
        prediction=np.array(["x", "y"]),
        notes=[Note("data", "<odd>")],
    )
    again = Result.from_dict(items.to_dict())
    assert again.rows() == items.rows() and again.notes == items.notes and again.truth is None
    assert "&lt;odd&gt;" in items._repr_html_() and "&lt;a&gt;" in items._repr_html_()
    many = synthetic_scores("calibrated", size=1000)._repr_html_()
    assert "(the first 20 of 1000 rows)" in many and many.count("<tr>") == 21


@pytest.mark.parametrize("kind", SYNTHETIC_KINDS)
@pytest.mark.parametrize("accuracy", [None, 0.6, 0.97])
def test_synthetic_scores_have_their_accuracy(kind, accuracy):
    items = synthetic_scores(kind, accuracy=accuracy, rng=1)
    expected = accuracy or (0.953 if kind == "rcv1" else 0.88)
    assert abs(items.correct.mean() - expected) < 3 * np.sqrt(
        expected * (1 - expected) / items.size
    )
    assert items.size == {"rcv1": 700_000, "epsilon": 450_000, "news20": 16_000}.get(kind, 20_000)
    assert items.score_is == ("margin" if kind == "epsilon" else "confidence")
    assert items.score.min() > 0 and (kind == "epsilon" or items.score.max() <= 1)
    assert np.array_equal(items.score, synthetic_scores(kind, accuracy=accuracy, rng=1).score)


def test_calibration_of_synthetic_scores():
    def shares(kind):
        items = synthetic_scores(kind, size=200_000)
        sure = items.score > 0.9
        return items.score[sure].mean(), items.correct[sure].mean()

    stated, found = shares("calibrated")
    assert abs(stated - found) < 0.005
    for kind in ("overconfident", "noisy"):
        stated, found = shares(kind)
        assert stated > found + 0.05


@pytest.mark.parametrize(
    ("argument", "value", "rule", "told"),
    [
        ("kind", "nosy", "must be one of 'calibrated', 'ove", "got 'nosy' (did you mean 'noisy'?)"),
        ("accuracy", 0.5, "must be a number in (0.5, 1)", "got 0.5"),
        ("size", 0, "must be a whole number of at least 1", "got 0"),
    ],
)
def test_synthetic_scores_check_their_arguments(argument, value, rule, told):
    given = {"kind": "noisy", argument: value}
    refusals.refused(lambda: synthetic_scores(**given), argument, rule, told)


@pytest.mark.parametrize(
    "score", [np.zeros((0, 2)), np.zeros((3, 2)), np.zeros(0), np.float64(0.5)], ids=str
)
def test_scores_are_one_per_item(score):
    rule, told = "must be one-dimensional and contain at least one item", f"got shape {score.shape}"
    refusals.refused(lambda: ScoredItems(None, score), "score", rule, told)


# what a score means


def frauds(size=400, threshold=0.5):
    """Probabilities of fraud, most of them small, and predictions by a threshold."""
    rng = np.random.default_rng(3)
    p = rng.beta(0.3, 3, size)
    return p, np.where(p >= threshold, "fraud", "fine")


@pytest.mark.parametrize("codes", [("fine", "fraud"), (0, 1), (-1, 1), ("yes", "no")])
@pytest.mark.parametrize("threshold", [0.2, 0.5])
def test_a_probability_of_a_class_is_seen_and_said(codes, threshold):
    p, read = frauds(threshold=threshold)
    prediction = np.array(codes)[(read == "fraud").astype(int)]
    items = read_scores({"p": p, "read": prediction}, score="p", prediction="read", score_is="auto")
    assert items.score == pytest.approx(np.where(read == "fraud", p, 1 - p))
    assert items.read_as == f"probability of class {codes[1]!r}" and items.headline().endswith(
        items.read_as
    )
    falling = read_scores(
        {"p": 1 - p, "read": prediction}, score="p", prediction="read", score_is="auto"
    )
    assert (
        falling.score == pytest.approx(items.score)
        and falling.read_as == f"probability of class {codes[0]!r}"
    )


def test_confidence_is_seen_and_said():
    p, read = frauds()
    sure = np.maximum(p, 1 - p)
    two = read_scores({"p": sure, "read": read}, score="p", prediction="read", score_is="auto")
    thirds = np.array(["a", "b", "c"])[np.arange(p.size) % 3]
    three = read_scores({"p": p, "read": thirds}, score="p", prediction="read", score_is="auto")
    none = read_scores({"p": sure}, score="p", score_is="auto")
    assert (
        two.score.tolist() == none.score.tolist() == sure.tolist()
        and three.score.tolist() == p.tolist()
    )
    assert {items.read_as for items in (two, three, none)} == {"confidence in the prediction"}


def test_a_score_that_may_mean_either_is_refused_with_both_choices():
    p, read = frauds()
    mixed = np.random.default_rng(1).permutation(read)
    for frame, reason in (
        ({"p": p}, "no column of predictions is named, and there are scores below 0.5"),
        ({"p": p, "read": ["fine"] * p.size}, "only one class is predicted"),
        ({"p": p, "read": mixed}, "do not separate the two predicted classes"),
        ({"p": 0.5 + p / 2, "read": read}, "but none is below 0.5"),
    ):
        with pytest.raises(
            ValueError,
            match=f"score_is must say what .* is: 'confidence' for .*, 'class1' for .*; .*{reason}$",
        ):
            read_scores(
                frame,
                score="p",
                score_is="auto",
                **({"prediction": "read"} if "read" in frame else {}),
            )


def test_the_class_that_a_score_speaks_of_can_be_named():
    p, read = frauds(threshold=0.3)
    items = read_scores(
        {"p": p, "read": read}, score="p", prediction="read", positive="fraud", score_is="auto"
    )
    assert items.score == pytest.approx(np.where(read == "fraud", p, 1 - p))
    unlike = ((p >= 0.3) & (p < 0.5)).sum()
    assert (
        str(items.notes[0])
        == f"{unlike} predictions are not the more likely class according to 'p'"
    )
    said = read_scores(
        {"p": p, "read": read}, score="p", prediction="read", score_is="class1", positive="fraud"
    )
    assert said.score.tolist() == items.score.tolist() and said.read_as == ""
    frame, fine = {"p": p, "read": read}, "must be one of 'fine', 'fraud'"
    for score_is, positive, rule, told in (
        ("class1", "Fraud", fine, "got 'Fraud' (did you mean 'fraud'"),
        ("confidence", "fraud", "is only for scores that are", "got 'confidence'"),
    ):
        names = {"score": "p", "prediction": "read", "score_is": score_is, "positive": positive}
        refusals.refused(partial(read_scores, frame, **names), "positive", rule, told)


def test_percent_is_divided_by_a_hundred_not_reinterpreted():
    frame = {"p": [50.0, 99, 0.5], "read": ["a", "b", "a"]}
    for score_is, positive in (("auto", ""), ("confidence", ""), ("class1", "a")):
        with pytest.raises(
            ValueError,
            match="column 'p', data row 1: 50 is not a .* from 0 to 1. Divide the scores by 100",
        ):
            read_scores(frame, score="p", prediction="read", score_is=score_is, positive=positive)


def test_a_confidence_that_looks_like_a_probability_has_a_note():
    p, read = frauds()
    items = read_scores({"p": p, "read": read}, score="p", prediction="read", score_is="confidence")
    assert items.score.tolist() == p.tolist() and items.notes[0].kind == "unreliable"
    assert str(items.notes[0]).endswith(
        "If the scores are the probability of 'fraud', use score_is class1 and positive fraud"
    )
    for other in (np.maximum(p, 1 - p), np.random.default_rng(2).permutation(p)):
        given = {"p": other, "read": read}
        assert not read_scores(given, score="p", prediction="read", score_is="confidence").notes


@pytest.mark.parametrize(
    "gap", ["", "NA", "nan", "-", "None", "unlabeled", None, float("nan"), pd.NA]
)
def test_labels_in_some_rows_are_read_however_a_gap_is_written(gap):
    frame = pd.DataFrame(
        {
            "p": [0.9, 0.8, 0.7, 0.6],
            "a": list("xyxy"),
            "t": pd.Series(["x", gap, "y", gap], dtype=object),
        }
    )
    items = read_scores(frame, score="p", prediction="a", truth="t")
    assert items.truth is items.correct is None and items.labeled.tolist() == [0, 2]
    assert items.labeled_truth.tolist() == ["x", "y"] and items.labeled_correct.tolist() == [
        True,
        False,
    ]
    assert items.headline().startswith("4 items, mean confidence 0.75, 2 labels with accuracy 0.5")
    said = [note.text for note in items.notes if "missing label" in note.text]
    word = isinstance(gap, str) and gap not in ("", "nan")  # NaN is made the text nan by numpy
    assert said == ([f"in column 't', {gap!r} counts as a missing label"] if word else [])


def test_a_word_that_is_a_predicted_class_or_may_be_one_is_a_label():
    frame = {
        "p": [0.9, 0.8, 0.7, 0.6],
        "a": ["None", "y", "None", "y"],
        "t": ["None", "", "y", "y"],
    }
    assert read_scores(frame, score="p", prediction="a", truth="t").labeled.tolist() == [0, 2, 3]
    frame = {"p": [0.9, 0.8, 0.7, 0.6], "a": list("xyxy"), "t": ["x", "", "None", "y"]}
    refused(
        "column 't', data row 3: 'None' never occurs in column 'a'. Empty the cell if it is "
        "missing, or use classes 'text' if it is a class",
        frame,
        score="p",
        prediction="a",
        truth="t",
    )
    assert read_scores(
        frame, score="p", prediction="a", truth="t", classes="text"
    ).labeled.tolist() == [0, 2, 3]


def test_labels_in_some_rows_without_predictions_and_of_numbers():
    frame = pd.DataFrame(
        {
            "p": [0.9, 0.8, 0.7],
            "right": pd.array([True, None, False], "boolean"),
            "number": [1, np.nan, 0],
            "q": [0.9, 0.2, 0.4],
        }
    )
    for name in ("right", "number"):
        items = read_scores(frame, score="p", truth=name)
        assert items.labeled.tolist() == [0, 2] and items.labeled_correct.tolist() == [True, False]
    items = read_scores(frame, score="q", truth="number", score_is="class1")
    assert items.prediction.tolist() == [1, 0, 0] and items.labeled_truth.tolist() == [1, 0]
    assert Result.from_dict(items.to_dict()).labeled.tolist() == [0, 2]


def test_the_meaning_of_a_score_that_only_cuts_strata_is_not_asked():
    frame = {"p": [0.9, 0.4, 0.7, 0.3], "a": list("xxyy"), "t": ["x", "", "y", ""]}
    items = read_scores(frame, score="p", prediction="a", truth="t")
    assert items.score.tolist() == frame["p"] and items.notes[0].kind == "assumption"
    call = partial(read_scores, frame | {"t": list("xyyx")}, score="p", prediction="a", truth="t")
    refusals.refused(call, "score_is", "must say what column 'p' is: 'confidence' for")
