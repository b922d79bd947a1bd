"""Logs of Inspect and lm-evaluation-harness, made by hand, as scored items."""

import json
import re
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

import workbench as wb
from workbench.data import frames
from workbench.extras.compare.evaluation_logs import read_log
from workbench.reports.inputs import stratified as inputs


def sample(name, scores=None, epoch=1, **metadata):
    return {
        "id": name,
        "epoch": epoch,
        "input": [{"role": "user", "content": f"Is {name} wet?"}],
        "target": ["yes", "so"],
        "messages": [],
        "metadata": metadata,
        "output": {
            "model": "m",
            "choices": [
                {"message": {"role": "assistant", "content": "Yes"}, "stop_reason": "stop"}
            ],
        },
        "scores": None
        if scores is None
        else {name: {"value": value} for name, value in scores.items()},
    }


def inspect(*samples, listed=("match",)):
    return {
        "version": 2,
        "status": "success",
        "eval": {"task": "wet", "model": "m"},
        "plan": {"name": "plan"},
        "results": {
            "total_samples": len(samples),
            "scores": [{"name": name, "scorer": name} for name in listed],
        },
        "samples": list(samples),
    }


SAMPLES = [
    sample("s-1", {"match": "C", "judge": 1}, document="d1"),
    sample(2, {"match": "I", "judge": 0}, document="d1"),
    sample("s-3", {"match": float("nan"), "judge": "P"}, document="d2"),
    sample("s-4"),
]


def harness(doc, value=1.0, rule="none", metrics=("exact_match",), **more):
    return (
        {
            "doc_id": doc,
            "doc": {"question": f"q{doc}", "subject": "ab"[doc % 2]},
            "target": "t",
            "resps": [["r"]],
            "arguments": {"gen_args_0": {"arg_0": f"Q: q{doc}", "arg_1": {"until": ["\n"]}}},
            "filtered_resps": ["r"],
            "filter": rule,
            "metrics": list(metrics),
            "doc_hash": "h",
        }
        | dict.fromkeys(metrics, value)
        | more
    )


def saved(folder, content, name=None):
    path = folder / (name or ("log.json" if isinstance(content, dict) else "samples_x.jsonl"))
    path.write_text(
        json.dumps(content) if isinstance(content, dict) else "\n".join(map(json.dumps, content)),
        encoding="utf-8",
    )
    return path


def packed(folder, log):
    with zipfile.ZipFile(folder / "log.eval", "w") as file:
        file.writestr(
            "header.json",
            json.dumps({key: value for key, value in log.items() if key != "samples"}),
        )
        file.writestr("_journal/start.json", "{}")
        for k, each in enumerate(log["samples"], 1):
            file.writestr(f"samples/{k}_epoch_1.json", json.dumps(each))
    return folder / "log.eval"


@pytest.mark.parametrize("save", [saved, packed])
def test_inspect(tmp_path, save):
    path = save(tmp_path, inspect(*SAMPLES))
    log = read_log(str(path), "log")
    assert log.score == "match"
    assert [
        (each.id, each.part, each.scores.get("match"), each.cells.get("metadata.document"))
        for each in log.samples
    ] == [
        ("s-1", "1", 1.0, "d1"),
        ("2", "1", 0.0, "d1"),
        ("s-3", "1", None, "d2"),
        ("s-4", "1", None, None),
    ]
    items = wb.read_scores(path, score="score")
    assert (
        items.id.tolist() == ["s-1", "2"]
        and items.score.tolist() == [1, 0]
        and items.score_is == "confidence"
    )
    assert [note.text for note in items.notes] == [
        "the score is that of scorer 'match', not 'judge'",
        "2 samples have no score of scorer 'match' and are not used: 's-3', 's-4'",
    ]
    shown = frames.read_columns(path, ["input", "answer", "target", "metadata.document"])[0]
    assert [column[0] for column in shown.values()] == [
        "Is s-1 wet?",
        "Yes",
        "yes\nso",
        "d1",
    ] or save is saved
    judged = wb.read_scores(f"{path}#judge", score="score")
    assert judged.id.tolist() == ["s-1", "2", "s-3"] and judged.score.tolist() == [1, 0, 0.5]


@pytest.mark.parametrize("save", [saved, packed])
def test_a_run_that_did_not_finish_is_noted(tmp_path, save):
    path = save(tmp_path, inspect(*SAMPLES) | {"status": "error"})
    said = [note.text for note in wb.read_scores(path, score="score").notes]
    assert (
        said[0]
        == f"the run of {str(path)!r} did not finish (status 'error'), so samples may be missing"
    )
    assert len(said) == 3


def test_messages_are_read_as_people_read_them(tmp_path):
    path = saved(tmp_path, inspect(*SAMPLES))
    shown = frames.read_columns(path, ["input", "answer", "target"])[0]
    assert [column[0] for column in shown.values()] == ["Is s-1 wet?", "Yes", "yes\nso"]


def test_several_choices_are_right_and_picked(tmp_path):
    """The scorer understood no answer, the message says two; parts of an id may look like folders in the archive."""
    said = [
        {"type": "reasoning", "reasoning": "hm"},
        {"type": "text", "text": "So, then.\nANSWER: A, C"},
    ]
    asked = sample("wet/1", {"choice": "C"}) | {
        "choices": ["sea", "sand", "rain"],
        "target": ["A", "C"],
    }
    asked["scores"]["choice"]["answer"], asked["output"]["choices"][0]["message"]["content"] = (
        "",
        said,
    )
    with zipfile.ZipFile(tmp_path / "log.eval", "w", zipfile.ZIP_BZIP2) as file:
        file.writestr("_journal/start.json", json.dumps({"version": 2, "eval": {"task": "wet"}}))
        file.writestr("samples/wet/1_epoch_1.json", json.dumps(asked))
    shown = frames.read_columns(tmp_path / "log.eval", ["id", "choices", "answer", "target"])[0]
    assert [column[0] for column in shown.values()] == [
        "wet/1",
        "A. sea\nB. sand\nC. rain",
        "A. sea\nC. rain",
        "A. sea\nC. rain",
    ]


def test_the_harness(tmp_path):
    path = saved(
        tmp_path, [harness(0, 1.0), harness(1, 0.0, metrics=("acc", "acc_norm"), acc_norm=1.0)]
    )
    log = read_log(str(path), "log")
    assert [(each.id, each.part, each.scores) for each in log.samples] == [
        ("0", "none", {"exact_match": 1.0}),
        ("1", "none", {"acc": 0.0, "acc_norm": 1.0}),
    ]
    assert wb.read_scores(f"{path}#metric=acc_norm", score="score").score.tolist() == [1]
    assert wb.read_scores(f"{path}#filter=none,metric=acc", score="score").id.tolist() == ["1"]
    shown = frames.read_columns(
        f"{path}#metric=exact_match", ["input", "answer", "target", "doc.subject"]
    )[0]
    assert [column[0] for column in shown.values()] == ["Q: q0", "r", "t", "a"]


TWO = [
    harness(0, 1.0, "strict"),
    harness(0, 0.0, "loose"),
    harness(1, 1.0, "strict"),
    harness(1, 1.0, "loose"),
]
EPOCHS = inspect(
    sample("a", {"match": "C"}), sample("a", {"match": "I"}, 2), sample("b", {"match": "C"}, 2)
)


@pytest.mark.parametrize(
    "content, part, message",
    [
        (
            TWO,
            "",
            "doc_id 0 occurs twice, in records 1 and 2; select one filter: '{}#filter=strict' or "
            "'{}#filter=loose'",
        ),
        (TWO, "#lose", "has no filter 'lose'; it has 'strict', 'loose' (did you mean 'loose'?)"),
        (TWO, "#strict,metric=f1", "has no metric 'f1'; it has 'exact_match'"),
        ([harness(0), harness(0)], "", "doc_id 0 occurs twice, in records 1 and 2: keep one"),
        (
            EPOCHS,
            "",
            "id a occurs twice, in records 1 and 2; select one epoch: '{}#epoch=1' or '{}#epoch=2'",
        ),
        (
            inspect(*SAMPLES, listed=("match", "judge")),
            "",
            "has 2 scorers; select one scorer: '{}#scorer=match' or '{}#scorer=judge'",
        ),
        (inspect(*SAMPLES), "#nobody", "has no scorer 'nobody'; it has 'match', 'judge'"),
        (inspect(*SAMPLES), "#model=x", "'model' cannot be selected; use epoch= or scorer="),
        (
            inspect(sample("a", {"match": "maybe"})),
            "",
            "record 1: the score of 'match' is 'maybe'; it must be C, I, P or N",
        ),
        (
            inspect(sample(None, {"match": 1})),
            "",
            "record 1 has no id, which every sample of a log of Inspect has",
        ),
        (
            inspect() | {"samples": None},
            "",
            "has no samples, only a header; write the log with its samples",
        ),
        (
            [harness(0), harness(1) | {"doc_id": None}],
            "",
            "record 2 has no doc_id: write the samples again",
        ),
        (
            [harness(0), harness(1, metrics=()) | {"metrics": ["acc"]}],
            "",
            "record 2 has no 'acc', although its metrics list it",
        ),
        ([harness(0), 7], "", "record 2 is a number, not a record"),
        (
            [harness(0, 3.0), harness(1, 7.0)],
            "",
            "'score' goes from 3 to 7, but a score must be a probability from 0 to 1. To use",
        ),
    ],
)
def test_what_is_open_or_wrong_is_one_line(tmp_path, content, part, message):
    path = saved(tmp_path, content)
    with pytest.raises(ValueError, match=re.escape(message.replace("{}", str(path)))) as error:
        wb.read_scores(f"{path}{part}", score="score")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("name", ["log.json", "log.eval", "samples_x.jsonl"])
def test_a_log_that_is_cut_off(tmp_path, name):
    path = (
        packed(tmp_path, inspect(*SAMPLES))
        if name == "log.eval"
        else saved(tmp_path, inspect(*SAMPLES) if name == "log.json" else TWO)
    )
    path.write_bytes(path.read_bytes()[:-60])
    with pytest.raises(ValueError, match="cut off"):
        wb.read_scores(path, score="score")


def test_epochs_and_filters_are_chosen(tmp_path):
    assert wb.read_scores(f"{saved(tmp_path, EPOCHS)}#epoch=2", score="score").score.tolist() == [
        0,
        1,
    ]
    assert wb.read_scores(f"{saved(tmp_path, TWO)}#loose", score="score").score.tolist() == [0, 1]


def test_a_table_is_no_log(tmp_path):
    path = saved(tmp_path, {"version": 2, "score": 0.5}, "x.json")
    assert frames.column_names(path) == ("version", "score")
    assert frames.column_names(saved(tmp_path, [{"id": "a", "score": 0.5}], "y.jsonl")) == (
        "id",
        "score",
    )
    with pytest.raises(ValueError, match="only the log of an evaluation has parts to choose"):
        frames.column_names(f"{path}#x")


def test_without_a_score_a_column_says_the_strata_or_there_is_one(tmp_path):
    path = saved(tmp_path, inspect(*[sample(f"s{k}", kind="ab"[k > 3]) for k in range(10)]))
    items = wb.read_scores(path, score="score")
    assert (
        np.isnan(items.score).all()
        and items.score_is == "none"
        and items.headline() == "10 items, no score"
    )
    assert wb.accuracy_audit(items, 4).stratum_size.tolist() == [10]
    given = wb.accuracy_audit(wb.read_scores(path, score="score", by="metadata.kind"), 4)
    assert given.stratum_size.tolist() == [4, 6] and given.stratifier == "given"
    assert "within 2 given strata among 10 items" in given.basis()
    with wb.AuditSession.create(
        tmp_path / "a.db",
        wb.read_scores(path, score="score", by="metadata.kind"),
        budget=8,
        expected=None,
    ) as session:
        assert session.design["stratum_size"] == [4, 6]
        for item in session.next(8):
            session.record(item.id, 1)
        session.verify(wb.read_scores(path, score="score", by="metadata.kind"))
        with pytest.raises(
            ValueError, match="these are not the scores that the audit was made from"
        ):
            session.verify(wb.read_scores(path, score="score"))


def test_strata_by_a_column_are_estimated_as_any_strata():
    """By enumeration of what is counted: the estimate is the mean of the strata's rates, weighted by their sizes."""
    kind = np.repeat(["b", "a"], [30, 10])
    right = np.r_[np.tile([1, 1, 0], 10), np.tile([1, 0], 5)]
    items = wb.read_scores(
        {"id": np.arange(40), "kind": kind, "right": right, "score": np.linspace(0.5, 1, 40)},
        id="id",
        score="score",
        truth="right",
        score_is="confidence",
        by="kind",
    )
    audit = wb.accuracy_audit(items, 20, rng=3)
    assert audit.stratum_size.tolist() == [10, 30]
    rates = audit.estimate.correct / audit.estimate.labeled
    assert audit.estimate.estimate == pytest.approx(0.25 * rates[0] + 0.75 * rates[1])


@pytest.mark.parametrize(
    "function, settings", [(wb.class_audit, {"metrics_of": "cat"}), (wb.difference_audit, {})]
)
def test_strata_by_a_column_belong_to_the_accuracy(function, settings):
    items = wb.ScoredItems(
        None,
        np.linspace(0.5, 1, 40),
        prediction=np.tile(["cat", "dog"], 20),
        rival=np.repeat(["cat", "dog"], 20),
        by=np.tile(["a", "b"], 20),
    )
    with pytest.raises(ValueError, match="strata from a column can be used for the accuracy only"):
        function(items, *settings.values(), 20)


def test_a_column_of_many_values_is_no_strata():
    with pytest.raises(
        ValueError,
        match="by must name a column of at most 50 different values, one per stratum; 'text' has 60",
    ):
        wb.read_scores({"text": [f"t{k}" for k in range(60)]}, score="score", by="text")


def test_people_see_what_a_log_shows(tmp_path):
    path = saved(tmp_path, [harness(k, float(k % 3 > 0)) for k in range(40)])
    _, audit = inputs.read(
        scores=str(path), budget=20, strata_by="doc.subject", label_sheet=str(tmp_path / "s.csv")
    )
    sheet = (tmp_path / "s.csv").read_text(encoding="utf-8-sig").splitlines()
    assert sheet[0] == "id,position,input,answer,target,correct" and len(sheet) == 21
    assert sheet[1].split(",")[2:] == [
        f'"Q: q{json.loads(json.loads(sheet[1].split(",")[0]))}"',
        '"r"',
        '"t"',
        "",
    ]
    assert audit.stratum_size.tolist() == [20, 20]


@pytest.mark.skipif(sys.version_info >= (3, 14), reason="Python reads Zstandard by itself")
def test_only_logs_that_are_packed_by_zstandard_need_its_package(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "backports.zstd", None)
    assert len(read_log(str(packed(tmp_path, inspect(*SAMPLES))), "log").samples) == 4
    log = Path(__file__).parents[2] / "fixtures" / "logs" / "inspect-0.3.285-free.eval"
    with pytest.raises(ValueError, match=r"pip install 'evaluation-workbench\[zstd\]'"):
        read_log(str(log), "log")
