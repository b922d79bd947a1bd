"""A judge's verdicts and people's labels as files bring them; each mistake is one line before a kernel starts."""

import copy
import json
from pathlib import Path
from unittest import mock

import numpy as np
import pytest
from refusals import refused

from workbench.audits.judges import judge_audit
from workbench.commands.main import main
from workbench.data.frames import column_names
from workbench.reports.inputs.judged import read_judged
from workbench.reports.inputs.misclassification import read

LOG = Path(__file__).parents[1] / "fixtures" / "logs" / "inspect-0.3.285-free.json"
VERDICT = ["pass"] * 28 + ["fail"] * 12
TRUTH = [
    ("pass" if k % 5 else "fail") if k < 28 else ("fail" if k % 4 else "pass") for k in range(40)
]
LABELED = {*range(10), *range(28, 34)}
LABEL = [truth if k in LABELED else "" for k, truth in enumerate(TRUTH)]
IDS = [f"q{k}" for k in range(40)]
EXPECTED = judge_audit(VERDICT, LABEL)


def table(path, **columns):
    rows = zip(*columns.values(), strict=True)
    path.write_text(
        "\n".join([",".join(columns), *(",".join(map(str, row)) for row in rows)]) + "\n"
    )


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    some = sorted(LABELED)
    labeled = {"id": [IDS[k] for k in some], "truth": [TRUTH[k] for k in some]}
    table(tmp_path / "one.csv", id=IDS, verdict=VERDICT, truth=LABEL)
    table(tmp_path / "verdicts.csv", id=IDS, verdict=VERDICT)
    table(tmp_path / "labels.csv", **labeled)
    table(tmp_path / "before.csv", verdict=[VERDICT[k] for k in some], truth=labeled["truth"])
    table(
        tmp_path / "before_ids.csv",
        id=labeled["id"],
        verdict=[VERDICT[k] for k in some],
        truth=labeled["truth"],
    )
    table(tmp_path / "others.csv", id=[f"x{k}" for k in some], truth=labeled["truth"])
    table(tmp_path / "some_others.csv", id=[*labeled["id"][1:], "x1"], truth=labeled["truth"])
    table(tmp_path / "twice.csv", id=["q0", "q0"], truth=["pass", "fail"])
    table(tmp_path / "one_class.csv", id=IDS, verdict=["pass"] * 40, truth=LABEL)
    table(
        tmp_path / "only_failed.csv",
        id=IDS,
        verdict=VERDICT,
        truth=[
            truth if verdict == "fail" else ""
            for truth, verdict in zip(TRUTH, VERDICT, strict=True)
        ],
    )
    table(
        tmp_path / "words.csv", id=IDS, verdict=VERDICT, truth=[label and "good" for label in LABEL]
    )
    table(tmp_path / "gap.csv", id=IDS, verdict=[*VERDICT[:-1], ""], truth=LABEL)
    table(tmp_path / "none.csv", id=IDS, verdict=VERDICT, truth=[""] * 40)
    table(tmp_path / "rerun.csv", id=labeled["id"], verdict=["fail"] * 16, truth=labeled["truth"])
    table(tmp_path / "repeated.csv", id=["q0", *IDS[:-1]], verdict=VERDICT)
    table(tmp_path / "grades.csv", id=IDS, verdict=[k % 10 + 1 for k in range(40)], truth=LABEL)
    table(
        tmp_path / "grades_before.csv", verdict=[k % 10 + 1 for k in some], truth=labeled["truth"]
    )
    return tmp_path


ONE, TWO = "--judge verdict --counts", "--judge verdict --counts verdicts.csv --audit"
MISTAKES = [
    (
        "--judge verdit --counts one.csv",
        "--judge is 'verdit', but one.csv has no such column (did you mean 'verdict'?)",
    ),
    ("--judge verdict", "--counts must name the file of the judge labels"),
    (
        f"{TWO} others.csv",
        "--audit must label items of 'verdicts.csv'; 16 of 16 identifiers are not in it, such as 'x0' (ident",
    ),
    (
        f"{TWO} some_others.csv",
        "--audit must label items of 'verdicts.csv'; 1 of 16 identifiers are not in it, such as 'x1'",
    ),
    (
        "--judge truth --truth verdict --counts one.csv",
        "--judge must have a judge label for every item; 24 of 40 cells are empty, but none of column",
    ),
    (
        f"{ONE} one_class.csv",
        "--judge must hold different judge labels; all 40 are 'pass'",
    ),
    (
        f"{ONE} only_failed.csv",
        "--truth must be given for at least 2 items of every judge label. Of the 28 items with",
    ),
    (
        f"{ONE} words.csv",
        "--truth must be one of two classes, 'fail', 'pass', like the judge labels, or numbers",
    ),
    (f"{ONE} gap.csv", "column 'verdict', row 41 is empty"),
    (
        f"{ONE} none.csv",
        "--truth has no label in 'none.csv': label some items. `workbench audit new none.csv audit.db",
    ),
    (
        f"{ONE} verdicts.csv",
        "--truth is 'truth', but 'verdicts.csv' has no such column. Name the column of human labels",
    ),
    (
        f"{ONE} one.csv --truth verdict",
        "--truth must be a different column than --judge; both are 'verdict'",
    ),
    (f"{TWO} twice.csv", "--audit labels item 'q0' both 'pass' and 'fail'; keep one"),
    (
        f"{TWO} before.csv",
        "--id must name the column that identifies an item; 'before.csv' has no column 'id'",
    ),
    (
        f"{TWO} rerun.csv",
        "--audit must be of the same run of the judge, but column 'verdict' of item 'q0' is 'fail'",
    ),
    (
        f"{TWO} before_ids.csv --batch earlier",
        "--batch must not be 'earlier', because 16 items are in both files",
    ),
    (
        f"{TWO} labels.csv --batch earlier",
        "--batch 'earlier' needs the judge labels of the audited items, but 'labels.c",
    ),
    (
        f"{ONE} one.csv --batch earlier",
        "--batch 'earlier' needs --audit with the file of the earlier batch",
    ),
    (
        "--judge verdict --counts grades.csv --audit grades_before.csv --batch earlier",
        "--batch needs judge labels and human labels of the same two classes",
    ),
    ("--judge verdict --counts repeated.csv --audit labels.csv", "column 'id'"),
    (
        "--judge verdict --counts labels.csv --truth truth --audit one.csv",
        "--judge is 'verdict', but labels.csv has no such column",
    ),
    (f"{ONE} one.csv --method hull", "--method must not be given with --judge"),
    (f"{ONE} one.csv --half-width .02", "--half-width must not be given with --judge"),
    ("--batch earlier", "--batch needs --judge, which was not given"),
]


@pytest.mark.parametrize(("line", "message"), MISTAKES, ids=[line for line, _ in MISTAKES])
def test_a_mistake_is_one_line_before_any_kernel(files, capsys, line, message):
    with mock.patch("papermill.execute_notebook") as kernel, pytest.raises(SystemExit) as ended:
        main(["report", "misclassification-correction", *line.split(), "-o", "r.html"])
    shown = capsys.readouterr()
    assert ended.value.code == 2 and kernel.call_count == 0
    assert len(shown.err.splitlines()) == 1 and message in shown.err, shown.err
    assert not (files / "r.html").exists()


def test_files_of_verdicts_and_labels_that_are_swapped(files):
    table(files / "all.csv", id=IDS, verdict=VERDICT, truth=TRUTH)
    table(files / "few.csv", id=IDS[:5], verdict=VERDICT[:5])
    rule = "has all items of 'few.csv' and 35 more; perhaps you swapped the files"
    refused(lambda: read_judged("few.csv", judge="verdict", audit="all.csv"), "audit", rule)


@pytest.mark.parametrize(
    "given",
    [
        {"counts": "one.csv"},
        {"counts": "verdicts.csv", "audit": "labels.csv"},
        {"counts": "verdicts.csv", "audit": "before_ids.csv"},
    ],
)
def test_one_file_or_two_say_the_same(files, given):
    assert str(read(judge="verdict", **given).rows()) == str(EXPECTED.rows())


def test_an_earlier_batch_is_asked_for(files):
    found = read(judge="verdict", counts="verdicts.csv", audit="before.csv", batch="earlier")
    some = sorted(LABELED)
    expected = judge_audit(VERDICT, [TRUTH[k] for k in some], earlier=[VERDICT[k] for k in some])
    assert found.earlier and str(found.rows()) == str(expected.rows())


def test_a_log_with_a_graded_scorer_and_a_label_sheet(files):
    """Inspect's C and I of 40 samples; the sheet says 1 and 0, as one of an audit does."""
    log = json.loads(LOG.read_text())
    first, log["samples"] = log["samples"][0], []
    for name, verdict in zip(IDS, VERDICT, strict=True):
        sample = copy.deepcopy(first) | {"id": name}
        sample["scores"] = {
            "model_graded_qa": {"value": "C" if verdict == "pass" else "I", "answer": "Paris"}
        }
        log["samples"].append(sample)
    log["results"]["scores"] = [{"name": "model_graded_qa"}]
    (files / "graded.json").write_text(json.dumps(log))
    table(
        files / "sheet.csv",
        id=IDS,
        position=range(1, 41),
        correct=[label and int(label == "pass") for label in LABEL],
    )
    found = read(judge="score", counts="graded.json", audit="sheet.csv", truth="correct")
    assert [row["estimate"] for row in found.rows()] == pytest.approx(
        [row["estimate"] for row in EXPECTED.rows()]
    )
    assert "The proportion that is correct is" in found.finding()


def test_sheet_and_session_hide_the_verdict(files, capsys):
    """The audit that the report names draws by verdict, and its sheet does not show it."""
    table(files / "asked.csv", id=IDS, verdict=VERDICT, answer=[f"answer {k}" for k in range(40)])
    for words in (
        "new asked.csv audit.db --id id --strata-by verdict --budget 20 --columns answer",
        "export audit.db sheet.csv",
    ):
        with pytest.raises(SystemExit) as ended:
            main(["audit", *words.split()])
        assert not ended.value.code, capsys.readouterr().err
    names = column_names("sheet.csv")
    assert "verdict" not in names and "answer" in names and names[-1] == "correct"
    sheet = (files / "sheet.csv").read_text(encoding="utf-8-sig")
    assert "pass" not in sheet and "fail" not in sheet
    filled = [
        f"{line}{int(TRUTH[int(line.split(',')[0].strip(chr(34))[1:])] == 'pass')}"
        for line in sheet.splitlines()[1:]
    ]
    (files / "sheet.csv").write_text("\n".join([sheet.splitlines()[0], *filled]))
    found = read(judge="verdict", counts="asked.csv", audit="sheet.csv", truth="correct")
    assert found.labeled == 20 and [row["labeled"] for row in found.stratum_rows()] == [6, 14]
    passes, fails = (
        np.mean(
            [
                TRUTH[k] == "pass"
                for k in range(40)
                if VERDICT[k] == verdict
                and f'"{IDS[k]}"' in {line.split(",")[0] for line in filled}
            ]
        )
        for verdict in ("pass", "fail")
    )
    assert found.rows()[0]["estimate"] == pytest.approx(0.7 * passes + 0.3 * fails)


def test_the_advice_is_what_was_measured():
    """The table of the page, from the figures that `tests/peers/judge_advice.py` recorded."""
    root = Path(__file__).parents[2]
    settings = json.loads((root / "tests" / "peers" / "judge_advice.json").read_text())["settings"]
    steady = [figures for name, figures in settings.items() if "falls" not in name]
    (drifted,) = (figures for name, figures in settings.items() if "falls" in name)
    notebook = json.loads(
        (root / "notebooks" / "04-misclassification-correction.ipynb").read_text()
    )
    page = "".join(
        line for cell in notebook["cells"] if cell["id"] == "cell-19j" for line in cell["source"]
    )
    for way in ("same items", "mle", "hull"):
        covered, times = (
            [each[way]["coverage"] for each in steady],
            [each[way]["width"] / each["same items"]["width"] for each in steady],
        )
        said = "1" if way == "same items" else f"{min(times):.1f} to {max(times):.1f}"
        assert (
            f"| {100 * min(covered):.0f}% to {100 * max(covered):.0f}% | {said} | "
            f"{100 * drifted[way]['coverage']:.0f}% |"
        ) in page
    assert min(each["same items"]["coverage"] for each in steady) >= 0.95
    assert "| the same items (**recommended**)" in page


@pytest.mark.parametrize(("name", "option"), [("id", ""), ("answer", "answer")])
def test_identifiers_that_repeat_next_to_the_labels_are_noted(files, name, option):
    rows = [f"{k // 2},{v},{t or ''}" for k, (v, t) in enumerate(zip(VERDICT, LABEL, strict=True))]
    Path("twice.csv").write_text("\n".join([f"{name},verdict,truth", *rows]))
    found = read_judged("twice.csv", judge="verdict", id=option)
    assert str(found.rows()) == str(EXPECTED.rows())
    text = f"{len(rows) // 2:,} identifiers occur more than once in column '{name}', such as '0'"
    assert [note.kind for note in found.notes if note.text.startswith(text)] == ["unreliable"]


def test_words_for_a_missing_label_are_no_class(files):
    rows = [f"{v},{t or 'NA'}" for v, t in zip(VERDICT, LABEL, strict=True)]
    Path("words.csv").write_text("\n".join(["verdict,truth", *rows]))
    found = read_judged("words.csv", judge="verdict")
    assert str(found.rows()) == str(EXPECTED.rows())
    assert "'NA' in column 'truth' is read as a missing label" in map(str, found.notes)
