"""Which columns count as models, which tell repeats apart, and what is asked where that is in doubt."""

import re

import numpy as np
import pytest
from refusals import refused

import workbench as wb
from workbench.extras.compare.columns import is_metadata, repeat_columns

RNG = np.random.default_rng(5)
IDS = [f"q{k}" for k in range(40)]


def binary(share=0.6):
    return (RNG.random(40) < share).astype(int).tolist()


def table(**more):
    return {"id": IDS, "gpt": binary(), "claude": binary(0.8)} | more


@pytest.mark.parametrize(
    ("name", "cells"),
    [
        ("is_hard", binary()),
        ("has_image", binary()),
        ("hard", binary()),
        ("n_tokens", list(range(40))),
        ("tokens", list(range(40))),
        ("fit_time", RNG.random(40).tolist()),
        ("latency_ms", RNG.random(40).tolist()),
        ("n_test", [25] * 40),
        ("split", [1, 2] * 20),
        ("rank_test_score", list(range(40))),
        ("weight", [0.5, 2] * 20),
        ("difficulty", RNG.random(40).tolist()),
        ("seed", [1] * 40),
        ("run", [0] * 40),
        ("epoch", list(range(40))),
        ("topic", ["a", "b"] * 20),
        ("comment", [f"note {k}" for k in range(40)]),
        ("document", [1, 1, 2, 3] * 10),
        ("label", binary()),
        ("year", [2024, 2025] * 20),
        ("Unnamed: 0", list(range(40))),
    ],
)
def test_what_describes_items_is_no_model(name, cells):
    found = wb.read_item_scores(table() | {name: cells})
    assert found.models == ("gpt", "claude")
    assert any(
        repr(name) in note.text and "not used as scores" in note.text for note in found.notes
    )
    assert wb.compare_items(found).notes[-1].kind == "data"


def test_a_column_that_is_named_counts_whatever_it_is_called():
    found = wb.read_item_scores(table(is_hard=binary(0.3)), model="gpt,is_hard")
    assert found.models == ("gpt", "is_hard") and not found.notes


def test_names_that_only_look_like_metadata():
    assert not any(
        map(
            is_metadata,
            ["is_correct", "gpt-4", "newsize2", "runner", "old", "new", "n", "w", "timer2b"],
        )
    )
    assert repeat_columns(["run_id", "Trial", "attempts", "rep", "random_seed", "epoch2"]) == [
        "run_id",
        "Trial",
        "rep",
        "random_seed",
    ]


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ({"verbosity": [300 - k for k in range(40)]}, "'verbosity' holds 261 to 300"),
        ({"judge": np.linspace(0, 1, 40).tolist()}, "'judge' holds from 0 to 1"),
        ({"percent": np.linspace(0, 100, 40).tolist()}, "'percent' holds 0 to 100"),
    ],
)
def test_numbers_of_another_kind_are_asked_about(more, told):
    rule = (
        'must name the models\' columns of the table, separated by commas, as in "gpt,claude": '
        f"columns of different kinds may be scores; 'gpt', 'claude' hold 0 and 1; {told}"
    )
    refused(lambda: wb.read_item_scores(table(**more)), "model", rule)


def test_partial_credit_is_of_the_kind_of_right_and_wrong():
    found = wb.read_item_scores(table(partial=[0, 0.5, 1, 1] * 10))
    assert found.models == ("gpt", "claude", "partial")


def repeated(repeat, runs=3):
    """A row per item and run; the scores of item k in run r."""
    rng = np.random.default_rng(3)
    scores = (rng.random((40, runs, 2)) < [0.5, 0.7]).astype(int)
    return scores, {
        "question_id": np.repeat(np.arange(40), runs).tolist(),
        repeat: list(range(runs)) * 40,
        "gpt": scores[:, :, 0].ravel().tolist(),
        "claude": scores[:, :, 1].ravel().tolist(),
    }


@pytest.mark.parametrize(
    "repeat", ["seed", "rep", "repeat", "run", "trial", "attempt", "iteration", "epoch", "Run_ID"]
)
def test_repeats_are_told_apart_and_averaged(repeat):
    scores, rows = repeated(repeat)
    found = wb.read_item_scores(rows)
    assert found.models == ("gpt", "claude") and found.score == pytest.approx(scores.mean(1))
    assert f"the table: {repeat!r} distinguishes the repeats of an item" in [
        note.text for note in found.notes
    ]
    named = wb.read_item_scores(rows, epoch=repeat)
    assert np.array_equal(named.score, found.score)


def test_repeats_of_two_columns_and_of_a_long_table():
    scores, rows = repeated("run", 4)
    rows = {
        "question_id": rows["question_id"],
        "seed": [0, 0, 1, 1] * 40,
        "trial": [0, 1] * 80,
        "gpt": rows["gpt"],
        "claude": rows["claude"],
    }
    found = wb.read_item_scores(rows)
    assert found.score == pytest.approx(scores.mean(1))
    assert "'seed', 'trial' distinguish the repeats of an item" in str(found.notes)
    long = {
        "id": rows["question_id"] * 2,
        "seed": rows["seed"] * 2,
        "trial": rows["trial"] * 2,
        "model": ["gpt"] * 160 + ["claude"] * 160,
        "score": rows["gpt"] + rows["claude"],
    }
    found = wb.read_item_scores(long)
    assert found.models == ("gpt", "claude") and found.score == pytest.approx(scores.mean(1))
    assert "column 'model' names the model of each row, 'score' is the score" in str(found.notes)
    rule = "must name the column of scores in the table, together with model 'model'"
    for other in (long["score"], np.linspace(0, 1, len(long["score"]))):
        refused(lambda other=other: wb.read_item_scores(long | {"other": other}), "score", rule)
    confidence = {
        "id": IDS * 2,
        "system": ["old"] * 40 + ["new"] * 40,
        "conf": RNG.random(80),
        "pred": ["spam", "ham"] * 40,
        "truth": ["spam", "ham", "ham", "ham"] * 20,
    }
    refused(lambda: wb.read_item_scores(confidence), "score", rule.replace("'model'", "'system'"))


CLASSES = ["yes", "no", "no", "no"] * 20


@pytest.mark.parametrize(
    ("score", "prediction", "truth", "is_score"),
    [
        (binary() * 2, ["yes", "no"] * 40, CLASSES, True),
        (RNG.random(80), ["yes", "no"] * 40, CLASSES, False),
        (RNG.random(80), list("ab") * 40, list("ba") * 40, False),
        (RNG.random(80), [f"text {k % 30}" for k in range(80)], [*map(str, IDS)] * 2, True),
    ],
)
def test_a_score_next_to_answers_may_be_a_confidence(score, prediction, truth, is_score):
    """A confidence is graded, and its predictions are classes, even if all are incorrect."""
    models = ["old"] * 40 + ["new"] * 40
    rows = {"id": IDS * 2, "model": models, "target": truth, "prediction": prediction}
    if is_score:
        means = wb.read_item_scores(rows | {"score": score}).score.mean(0)
        assert means == pytest.approx([np.mean(score[:40]), np.mean(score[40:])])
        return
    why = (
        "none found; not used as scores: 'target' (it seems to be a truth), 'prediction' (it seems "
        "to be a prediction), 'score' (it seems to be the confidence of a prediction)"
    )
    with pytest.raises(ValueError, match=re.escape(why)):
        wb.read_item_scores(rows | {"score": score})


def test_a_column_called_system_may_describe_the_items():
    found = wb.read_item_scores(table(system=["linux", "mac"] * 20))
    assert found.models == ("gpt", "claude")
    twice = {name: cells * 2 for name, cells in table(system=["old"] * 40).items()}
    twice["system"] = ["old"] * 40 + ["new"] * 40
    rule = "must name the column of scores in the table, together with model 'system'"
    refused(lambda: wb.read_item_scores(twice), "score", rule)


def test_repeats_that_nothing_tells_apart_are_asked_about():
    _, rows = repeated("run")
    del rows["run"]
    rule = "must distinguish repeated items: the table has item '0' twice for gpt"
    refused(lambda: wb.read_item_scores(rows), "epoch", rule)


def test_scores_of_folds_are_sent_to_the_report_on_folds():
    with pytest.raises(
        ValueError, match="Column 'fold' seems to number folds.*cross-validation-t-tests"
    ):
        wb.read_item_scores({"seed": [0, 0], "fold": [0, 1], "old": [0.8, 0.7], "new": [0.9, 0.8]})
