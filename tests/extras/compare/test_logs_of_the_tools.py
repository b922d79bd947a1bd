"""Logs that Inspect and lm-evaluation-harness wrote themselves, in three versions each, through the command line.

`fixtures/logs` holds them and the scripts that had the tools write them: what a model says, what is right and how much
each choice weighs stands there, and from it the values here were worked out by hand.
"""

import csv
import json
import re
import shutil
from pathlib import Path

import pytest
from command import costs_one_line, page_of, run, run_here

import workbench as wb
from workbench.data import frames

LOGS = Path(__file__).parents[2] / "fixtures" / "logs"
CHOICE = [
    f"inspect-{name}"
    for name in (
        "0.3.2-choice.json",
        "0.3.100-choice.json",
        "0.3.100-choice.eval",
        "0.3.285-choice.json",
        "0.3.285-choice.eval",
    )
]
FREE = [name.replace("choice", "free") for name in CHOICE]
HARNESS = ("0.4.0", "0.4.3", "0.4.13")
CAPITALS = {
    "q1": ("London or Paris?", "A. London\nB. Paris\nC. Rome", "B. Paris", "B. Paris"),
    "q2": ("Six sevens?", "A. 40\nB. 41\nC. 42", "A. 40", "C. 42"),
    "q3": ("A metal?", "A. iron\nB. wood\nC. glass", "A. iron", "A. iron"),
    "q4": ("The largest?", "A. ant\nB. cat\nC. whale", "C. whale", "C. whale"),
    "q5": ("A prime, too?", "A. 4\nB. 9\nC. 11", "C. 11", "C. 11"),
}
ACC = ["B. Paris", "A. 40", "B. wood", "B. cat", "C. 11"]
NORM = ["B. Paris", "C. forty-two of them", "B. wood", "A. ant, a small one", "C. 11"]
TARGETS = ["B. Paris", "C. forty-two of them", "A. iron", "C. whale", "C. 11"]


def sheet_of(folder, log, budget):
    """Return the notes of a new audit of a log, and by item what people see on its sheet."""
    done = run(folder, "audit", "new", log, "a.db", "--budget", budget)
    assert done.returncode == 0, done.stderr
    assert run(folder, "audit", "export", "a.db", "sheet.csv").returncode == 0
    with open(folder / "sheet.csv", encoding="utf-8-sig", newline="") as file:
        header, *rows = csv.reader(file)
    assert header[:2] == ["id", "position"] and header[-1] == "correct"
    return done.stdout, header[2:-1], {row[0]: tuple(row[2:-1]) for row in rows}


@pytest.mark.parametrize("name", CHOICE)
def test_a_sheet_of_multiple_choice_in_inspect(tmp_path, name):
    shutil.copy(LOGS / name, tmp_path / name)
    said, header, rows = sheet_of(tmp_path, f"{name}#epoch=2,answer", 5)
    assert header == ["input", "choices", "answer", "target"] and rows == CAPITALS
    assert ("scorer 'answer', not 'choice'" in said) == ("0.3.2-" not in name)
    items = wb.read_scores(f"{LOGS / name}#epoch=2,answer", score="score", by="metadata.kind")
    assert items.id.tolist() == list(CAPITALS) and items.score.tolist() == [1, 0, 1, 1, 1]
    assert items.by.tolist() == ["b", "a", "b", "a", "b"]


@pytest.mark.parametrize("name", FREE)
def test_a_free_answer_in_inspect(name):
    items = wb.read_scores(f"{LOGS / name}#epoch=2,match", score="score")
    assert items.id.tolist() == ["1", "2", "3", "4"] and items.score.tolist() == [0, 1, 0, 0]
    shown = frames.read_columns(f"{LOGS / name}#epoch=2,match", ["input", "answer", "target"])[0]
    assert shown["input"][2] == "Snow is ..." and shown["target"][2] == "white"
    assert shown["answer"].tolist() == ["Lyon", "4", "It is white", "up"]
    assert "choices" not in frames.column_names(f"{LOGS / name}#epoch=2,match")
    if "0.3.2-" not in name:
        assert wb.read_scores(f"{LOGS / name}#epoch=2,includes", score="score").score.tolist() == [
            0,
            1,
            1,
            0,
        ]


def test_a_report_of_a_log_of_today(tmp_path):
    shutil.copy(LOGS / CHOICE[-1], tmp_path / "x.eval")
    done = run_here(
        tmp_path,
        "report",
        "stratified-accuracy",
        "--scores",
        "x.eval#epoch=1,choice",
        "--budget",
        4,
        "--label-sheet",
        "sheet.csv",
        "-o",
        "r.html",
    )
    assert "the score is that of scorer 'choice', not 'answer'" in page_of(done, tmp_path)
    assert "A. 40\nB. 41\nC. 42" in (tmp_path / "sheet.csv").read_text(encoding="utf-8-sig")


@pytest.mark.parametrize("version", HARNESS)
@pytest.mark.parametrize(
    "task, metric, scores, answers",
    [
        ("texts", "acc", [1, 0, 0, 0, 1], ACC),
        ("texts", "acc_norm", [1, 1, 0, 0, 1], NORM),
        ("letters", "acc", [1, 0, 0, 0, 1], ACC),
        ("letters", "", [1, 0, 0, 0, 1], ACC),
    ],
)
def test_a_sheet_of_multiple_choice_in_the_harness(
    tmp_path, version, task, metric, scores, answers
):
    name = f"samples_lm-eval-{version}-{task}.jsonl"
    shutil.copy(LOGS / name, tmp_path / name)
    said, header, rows = sheet_of(tmp_path, f"{name}#metric={metric}" if metric else name, 5)
    assert header == ["input", "choices", "answer", "target"]
    assert [rows[str(k)][2:] for k in range(5)] == list(zip(answers, TARGETS, strict=True))
    assert rows["1"][1] == "A. 40\nB. 41\nC. forty-two of them" and rows["1"][0].startswith(
        "Question: Six sevens?\nAnswer:"
        if task == "texts"
        else "Six sevens?\nA. 40\nB. 41\nC. forty-two of them"
    )
    assert f"the score is that of metric '{metric or 'acc'}'" in said and "does not fit" not in said
    assert (
        wb.read_scores(f"{tmp_path / name}#metric={metric or 'acc'}", score="score").score.tolist()
        == scores
    )


@pytest.mark.parametrize("version", HARNESS)
def test_a_free_answer_in_the_harness(tmp_path, version):
    name = f"samples_lm-eval-{version}-free.jsonl"
    shutil.copy(LOGS / name, tmp_path / name)
    said, header, rows = sheet_of(tmp_path, name, 4)
    assert header == ["input", "answer", "target"] and rows["1"] == (
        "Q: Two and two?\nA:",
        "five",
        "4",
    )
    assert "the score is that of metric 'exact_match'" in said
    assert wb.read_scores(LOGS / name, score="score").score.tolist() == [1, 0, 1, 0]


@pytest.mark.parametrize(
    "name, part, message",
    [
        (
            "samples_lm-eval-0.4.0-texts.jsonl",
            "",
            "has 2 metrics; select one metric: '{}#metric=acc' or '{}#metric=acc_norm'",
        ),
        (
            "samples_lm-eval-0.4.13-texts.jsonl",
            "#filter=none",
            "has 2 metrics; select one metric: '{}#filter=none,metric=acc' or "
            "'{}#filter=none,metric=acc_norm'",
        ),
        (
            CHOICE[-1],
            "",
            "; select one epoch: '{}#epoch=1' or '{}#epoch=2'",
        ),
        (
            CHOICE[-1],
            "#epoch=2",
            "has 2 scorers; select one scorer: '{}#epoch=2,scorer=choice' or "
            "'{}#epoch=2,scorer=answer'",
        ),
        (
            CHOICE[-1],
            "#choice",
            "select one epoch: '{}#scorer=choice,epoch=1' or '{}#scorer=choice,epoch=2'",
        ),
        (FREE[-1], "#epoch=1,choice", "has no scorer 'choice'; it has 'includes', 'match'"),
    ],
)
def test_what_is_open_is_asked(tmp_path, name, part, message):
    shutil.copy(LOGS / name, tmp_path / name)
    costs_one_line(
        tmp_path,
        message.replace("{}", name),
        "report",
        "stratified-accuracy",
        "--scores",
        f"{name}{part}",
        "-o",
        "r.html",
    )


@pytest.mark.parametrize(
    "name",
    [
        "samples_lm-eval-0.4.13-texts.jsonl",
        CHOICE[-1],
        f"{CHOICE[-1]}#choice",
        f"{FREE[1]}#epoch=2",
    ],
)
def test_what_a_question_suggests_is_no_question_again(name):
    """Whoever pastes the last thing that each question lists reads the log at last."""
    path, asked, items = str(LOGS / name), set(), None
    while items is None:
        assert path not in asked
        asked.add(path)
        try:
            items = wb.read_scores(path, score="score")
        except ValueError as error:
            path = str(error).split("'")[-2]
    assert len(asked) > 1 and items.size in (4, 5)


def test_a_score_that_the_choices_contradict_is_told(tmp_path):
    records = [
        json.loads(line)
        for line in (LOGS / "samples_lm-eval-0.4.13-letters.jsonl").read_text().splitlines()
    ]
    for record in records[1:3]:
        record["acc"] = 1.0
    (tmp_path / "x.jsonl").write_text("\n".join(map(json.dumps, records)))
    assert ("metric 'acc' contradicts the most probable choice of 2 samples: '1', '2'") in sheet_of(
        tmp_path, "x.jsonl", 4
    )[0]


def damaged(packed):
    """Return an archive in which a piece of the first sample is overwritten."""
    start = packed.index(b"samples/")
    return packed[: start + 100] + b"\0" * 60 + packed[start + 160 :]


def unknown(packed):
    """Return an archive whose members are packed by method 98, which is not read here."""
    return re.sub(b"(PK\1\2.{6})\x5d\0", b"\\1\x62\0", packed, flags=re.DOTALL)


@pytest.mark.parametrize(
    "change, message",
    [
        (lambda packed: packed[:-400], "it is cut off or not a zip archive"),
        (damaged, "is cut off or damaged; copy it again"),
        (unknown, "write it as JSON: inspect log convert x.eval --to json --output-dir ."),
    ],
)
def test_a_damaged_log_of_today(tmp_path, change, message):
    packed = (LOGS / CHOICE[-1]).read_bytes()
    (tmp_path / "x.eval").write_bytes(change(packed))
    assert (tmp_path / "x.eval").read_bytes() != packed
    costs_one_line(
        tmp_path, message, "report", "stratified-accuracy", "--scores", "x.eval", "-o", "r.html"
    )


def test_a_table_whose_first_column_is_a_status_is_no_log(tmp_path):
    (tmp_path / "x.json").write_text('{"status": "success", "score": 0.5}')
    (tmp_path / "y.json").write_text('[{"doc_id": 1, "score": 0.5}]')
    assert frames.column_names(tmp_path / "x.json") == ("status", "score")
    assert frames.column_names(tmp_path / "y.json") == ("doc_id", "score")
