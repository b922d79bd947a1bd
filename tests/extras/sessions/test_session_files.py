"""The file of a session: crashes, full disks, folders that may not be written, other versions, changes by hand."""

import contextlib
import csv
import json
import os
import re
import resource
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest
from audited import created, label, population, truths
from thinned import thinned

import workbench as wb
from workbench.extras.sessions import store

CRASHES = Path(__file__).parents[2] / "peers" / "audit_crashes.py"


@pytest.fixture
def known():
    items, truth = population()
    return items, truths(items, truth)


@pytest.fixture
def session(tmp_path, known):
    with created(tmp_path, known[0]) as session:
        label(session, known[1], 12)
        yield session


def opened(session):
    return wb.AuditSession.open(session.path)


@pytest.mark.slow
@thinned("kills, seconds", (12, 1), (30, 2))
def test_killed_processes_lose_nothing_and_two_at_once_double_nothing(kills, seconds):
    done = subprocess.run(
        [sys.executable, CRASHES, "--kills", str(kills), "--seconds", str(seconds)],
        check=False,
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": str(CRASHES.parents[2])},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    told = re.search(rf"{kills} kills: (\d+) .*: (\d+) and (\d+) labels", done.stdout, re.S)
    labels, ann, ben = map(int, told.groups())
    assert labels > 2 / 3 * kills and min(ann, ben) > 10


def test_a_label_is_in_the_file_when_record_returns(session, known):
    item = session.next()[0]
    session.record(item.id, 1)
    with contextlib.closing(sqlite3.connect(f"file:{session.path}?mode=ro", uri=True)) as file:
        kind, body = file.execute("SELECT kind, body FROM events ORDER BY number DESC").fetchone()
        assert (kind, json.loads(body)) == ("labeled", {"id": item.id, "label": 1})
    settings = {
        name: session._store._connection.execute(f"PRAGMA {name}").fetchone()[0]
        for name in ("journal_mode", "synchronous")
    }
    assert settings == {"journal_mode": "delete", "synchronous": 2}


def test_a_full_disk_keeps_what_was_recorded(session, known):
    before, recorded = resource.getrlimit(resource.RLIMIT_FSIZE), 12
    resource.setrlimit(resource.RLIMIT_FSIZE, (os.path.getsize(session.path) + 8192, before[1]))
    try:
        with pytest.raises(ValueError, match="this step was not recorded, earlier labels are safe"):
            for _ in range(400):
                item = session.next()[0]
                session.record(item.id, known[1][item.id][0])
                recorded += 1
                session.undo()
                recorded -= 1
                session.record(item.id, known[1][item.id][0])
                recorded += 1
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert session.status().labeled == recorded
    with opened(session) as again:
        again.verify()
        assert again.status().labeled == recorded
    session.record(session.next()[0].id, 1)  # and it goes on when there is room again
    assert session.status().labeled == recorded + 1


@contextlib.contextmanager
def nobody():
    """Be somebody who may not write everywhere."""
    if os.geteuid():
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.mark.parametrize("kind", ["folder", "file"])
def test_what_may_not_be_written(known, kind):
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        path = Path(folder)
        created(path, known[0]).close()
        os.chmod(path / "audit.db", 0o666 if kind == "folder" else 0o444)
        os.chmod(folder, 0o555 if kind == "folder" else 0o777)
        before = (path / "audit.db").read_bytes()
        with nobody(), wb.AuditSession.open(path / "audit.db") as session:
            for step in (session.next, session.estimate, lambda: session.record("item-00001", 1)):
                with pytest.raises(
                    ValueError,
                    match=r"audit.db': the file or its folder may not be written; nothing",
                ):
                    step()
            assert session.status().labeled == 0 and session.verify().events == 1
        os.chmod(folder, 0o755)
        assert (path / "audit.db").read_bytes() == before and os.listdir(folder) == ["audit.db"]


def test_a_folder_in_which_no_audit_can_be_made(known):
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o555)
        with nobody(), pytest.raises(ValueError, match="may not be written|cannot write"):
            created(Path(folder), known[0])
        assert os.listdir(folder) == []


def changed(session, statement, *values):
    with contextlib.closing(sqlite3.connect(session.path)) as file, file:
        file.execute(statement, values)


def test_a_newer_version_is_left_alone(session):
    changed(session, "PRAGMA user_version = 3")
    before = Path(session.path).read_bytes()
    with pytest.raises(
        ValueError,
        match=r"was written by a newer version of the workbench \(format 3; this version reads",
    ):
        opened(session)
    assert Path(session.path).read_bytes() == before


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE events SET body = replace(body, '\"label\":1', '\"label\":0') WHERE number = 5",
        "UPDATE events SET time = '2020-01-01T00:00:00.000+00:00' WHERE number = 4",
        "UPDATE events SET who = 'ben' WHERE number = 4",
        "UPDATE events SET kind = 'skipped' WHERE number = 4",
        "DELETE FROM events WHERE number = 6",
        "UPDATE events SET hash = 'x' WHERE number = 3",
        "DELETE FROM events WHERE number = 1",
        "UPDATE events SET number = number + 1 WHERE number = 14",
        "INSERT INTO events SELECT 15, time, who, kind, body, hash FROM events WHERE number = 14",
    ],
)
def test_events_changed_by_hand_are_found_when_the_file_is_opened(session, statement):
    assert len(session.events()) == 14
    changed(session, statement)
    with pytest.raises(
        ValueError,
        match="was changed by another program: event [0-9]+ is different from the recorded one",
    ):
        opened(session)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE items SET prediction = 'cow' WHERE position = 3",
        "UPDATE items SET id = 'other' WHERE position = 300",
        "DELETE FROM items WHERE position = 399",
        "UPDATE items SET stratum = 0 WHERE stratum = 1",
    ],
)
def test_items_changed_by_hand_are_found(session, statement):
    changed(session, statement)
    for look in (session.verify, lambda: opened(session)):
        with pytest.raises(
            ValueError,
            match="was changed by another program: its items differ from the recorded ones",
        ):
            look()


def test_events_of_a_rewritten_chain_that_make_no_sense(session):
    """Whoever computes the chain anew is believed, as long as it makes sense."""
    with session._store.writing():
        session._store.add([("", "labeled", {"id": "nobody", "label": 1})])
    with pytest.raises(ValueError, match=r"event 15 \(labeled\) is not valid"):
        opened(session)


def test_another_order_than_the_seeds_is_found(tmp_path, known):
    items, _ = known
    session = created(tmp_path, items)
    rows = session._trail.items
    design = dict(session.design)
    rows[2], rows[3] = rows[3], rows[2]
    design["rows"] = store.digest_of_rows(rows)
    store.create_store(tmp_path / "swapped.db", design, rows)
    swapped = wb.AuditSession.open(tmp_path / "swapped.db")
    assert swapped.verify().scores is False
    with pytest.raises(
        ValueError,
        match="item 3 in the order of labeling is .*, which does not follow from the scores and the seed",
    ):
        swapped.verify(items)


def test_other_scores_are_refused(session, known):
    items, _ = known
    score = items.score.copy()
    score[7] += 1e-12
    with pytest.raises(ValueError, match="these are not the scores that the audit was made from"):
        session.verify(
            wb.ScoredItems(items.id, score, prediction=items.prediction, rival=items.rival)
        )
    assert session.verify(items).scores


def test_damage_is_told(session):
    session.close()
    content = bytearray(Path(session.path).read_bytes())
    content[4096 : 4096 + 2000] = os.urandom(2000)
    Path(session.path).write_bytes(content)
    with pytest.raises(ValueError, match="damaged|changed by another program"):
        opened(session).verify()


@pytest.mark.parametrize(
    "content, message",
    [
        (b"", "is not an audit session"),
        (b"id,score\n1,2\n", "is not an audit session"),
        (None, "there is no audit"),
    ],
)
def test_files_that_are_none(tmp_path, content, message):
    if content is not None:
        (tmp_path / "x.db").write_bytes(content)
    with pytest.raises(ValueError, match=message):
        wb.AuditSession.open(tmp_path / "x.db")


def test_another_database_is_none(tmp_path):
    with contextlib.closing(sqlite3.connect(tmp_path / "x.db")) as file, file:
        file.execute("CREATE TABLE notes (text)")
    with pytest.raises(ValueError, match="is not an audit session"):
        wb.AuditSession.open(tmp_path / "x.db")


def test_a_file_that_exists_is_never_overwritten(tmp_path, known):
    (tmp_path / "audit.db").write_text("mine")
    with pytest.raises(ValueError, match="already exists; choose another name for the new audit"):
        created(tmp_path, known[0])
    assert (tmp_path / "audit.db").read_text() == "mine"


def test_a_step_of_another_process_is_seen(session, known):
    with opened(session) as other:
        names = label(other, known[1], 5)
        assert session.status().labeled == 17
        assert not {item.id for item in session.next(60)} & set(names)


def filled(path, answers):
    """Fill a sheet as a script would; return its rows."""
    with open(path, encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        row["correct"] = answers.get(row["id"], row["correct"])
    return rows


def written(path, rows, encoding="utf-8", delimiter=","):
    with open(path, "w", encoding=encoding, newline="") as file:
        out = csv.DictWriter(file, rows[0].keys(), delimiter=delimiter)
        out.writeheader()
        out.writerows(rows)


def test_a_sheet_goes_out_and_comes_back(session, known, tmp_path):
    assert session.export(tmp_path / "sheet.csv") == 60
    rows = filled(tmp_path / "sheet.csv", {name: right for name, (right, _) in known[1].items()})
    assert list(rows[0]) == ["id", "position", "prediction", "correct"]
    written(tmp_path / "filled.csv", rows, "utf-16", ";")
    found = session.import_labels(tmp_path / "filled.csv", by="ann")
    assert (found.recorded, found.repeated, found.skipped, found.refused) == (48, 12, 0, ())
    again = session.import_labels(tmp_path / "filled.csv")
    assert (again.recorded, again.repeated) == (0, 60)
    with pytest.raises(ValueError, match="already contains 60 labels and was not overwritten"):
        session.export(tmp_path / "filled.csv")


def test_two_machines_by_export_and_import(known, tmp_path):
    """The same audit on two machines: each hands out its own part, and labels come back on sheets."""
    items, said = known
    (tmp_path / "a").mkdir()
    first = created(tmp_path / "a", items)
    first.export(tmp_path / "ann.csv", 20, by="ann")
    first.export(tmp_path / "ben.csv", 20, by="ben")
    for name in ("ben", "ann"):
        rows = filled(tmp_path / f"{name}.csv", {each: right for each, (right, _) in said.items()})
        assert len(rows) == 20
        written(tmp_path / f"{name}-filled.csv", rows)
        assert first.import_labels(tmp_path / f"{name}-filled.csv", by=name).recorded == 20
    assert first.status().labels == {"ann": 20, "ben": 20} and first.estimate("fixed").labeled == 40
    with pytest.raises(ValueError, match="exists"):
        created(tmp_path / "a", items)


def test_blanks_before_the_last_filled_row_are_skipped_and_those_behind_not_reached(
    known, tmp_path
):
    items, said = known
    session = created(tmp_path, items)
    out = session.next(1, by="ben")[0]
    session.export(tmp_path / "sheet.csv")
    rows = filled(tmp_path / "sheet.csv", {})
    for k in (1, 3, 4, 7):
        rows[k]["correct"] = said[rows[k]["id"]][0]
    written(tmp_path / "filled.csv", rows)
    found = session.import_labels(tmp_path / "filled.csv", by="ann")
    assert (found.recorded, found.skipped) == (4, 3)
    assert session.skipped() == [rows[k]["id"] for k in (2, 5, 6)]
    assert rows[0]["id"] == out.id and session.status().pending == 1
    assert session.next(1)[0].id == rows[8]["id"]


def test_a_hostile_sheet_of_ten_thousand_rows(tmp_path):
    rng, size = np.random.default_rng(1), 12_000
    ids = np.array([f"id-{k}" for k in range(size)], object)
    ids[:6] = [
        "=cmd|' /C calc'!A0",
        "+1",
        "@sum(1)",
        "<script>alert(1)</script>",
        "-2;=3",
        "'quoted",
    ]
    items = wb.ScoredItems(ids, rng.uniform(0.5, 1, size))
    text = ['=HYPERLINK("http://x")', "<img src=x onerror=alert(1)>"] * (size // 2)
    session = created(tmp_path, items, budget=10_000, columns={"text": text})
    for each in ids[:6]:
        assert each in session._trail.place
    session.export(tmp_path / "sheet.csv")
    sheet = (tmp_path / "sheet.csv").read_text(encoding="utf-8-sig")
    assert not re.search(r'^"?[=+\-@]', sheet, re.M)
    behind_the_first = re.sub(r'(?m)^"(?:[^"]|"")*"', "", sheet)  # a quoted first cell stays whole
    assert not re.search(r'[,;\t]"?[=+\-@]', behind_the_first)
    rows = filled(tmp_path / "sheet.csv", {})
    for row in rows:
        row["correct"] = "1"
    labels = dict.fromkeys(range(10_000), "1")
    bad = rng.permutation(10_000)[:40].tolist()
    strange, gone, nameless, double = bad[:10], bad[10:20], bad[20:25], bad[25:31]
    for k, value in zip(
        strange,
        ["maybe", "=1+1", "2", "<b>1</b>", "-1", "ja?", "1 0", "NaN", "0.5", "\u200b1"],
        strict=True,
    ):
        rows[k]["correct"] = value
    for k in gone:
        rows[k]["id"] += "x"
    for k in nameless:
        rows[k]["id"] = ""
    for k, other in zip(double[::2], double[1::2], strict=True):
        labels.pop(k)
        rows[other] = rows[k] | {"correct": "0"}
    for k in bad[31:37]:
        rows[k]["correct"] = "wrong?"
    for k in (*strange, *gone, *nameless, *double, *bad[31:37]):
        labels.pop(k, None)
    written(tmp_path / "filled.csv", rows, "utf-16")
    found = session.import_labels(tmp_path / "filled.csv")
    assert len(found.refused) == 37 and found.recorded == 10_000 - 37 == len(labels)
    assert [row for row, _, _ in found.refused] == sorted(k + 2 for k in bad[:37])
    reasons = {row - 2: reason for row, _, reason in found.refused}
    assert reasons[strange[0]] == "'maybe' is not 1 (correct) or 0 (incorrect)"
    assert (
        re.fullmatch(r"item '[^']*' is not in this audit(;.*)?", reasons[gone[0]])
        and reasons[nameless[0]] == "the label '1' has no id"
    )
    pair = sorted(k + 2 for k in double[:2])
    assert (
        reasons[double[0]]
        == f"has different labels, 1 and 0, in rows {pair[0]}, {pair[1]}; none was recorded"
        or reasons[double[0]]
        == f"has different labels, 0 and 1, in rows {pair[0]}, {pair[1]}; none was recorded"
    )
    assert session.status().labeled == 10_000 - 37
    session.verify()


def test_a_sheet_never_corrects_silently(session, known, tmp_path):
    name = session.events()[2].body["id"]
    right = known[1][name][0]
    written(tmp_path / "x.csv", [{"id": name, "correct": 1 - right}])
    found = session.import_labels(tmp_path / "x.csv")
    assert found.recorded == 0 and found.refused[0][:2] == (2, name)
    assert found.refused[0][2].endswith("to correct it, record the new label")


def test_leading_zeros_that_a_spreadsheet_cut(tmp_path):
    items = wb.ScoredItems(
        np.array([f"{k:05d}" for k in range(50)], object), np.linspace(0.5, 1, 50)
    )
    session = created(tmp_path, items, budget=50)
    with pytest.raises(
        ValueError, match="; perhaps a spreadsheet removed the leading zeros of '00007'"
    ):
        session.record("7", 1)
    written(
        tmp_path / "x.csv",
        [
            {"id": "7", "correct": 1},
            {"id": "8", "correct": 0},
            {"id": "00009", "correct": 1},
            {"id": "9", "correct": 0},
        ],
    )
    found = session.import_labels(tmp_path / "x.csv")
    assert found.recorded == 3 and found.refused == (
        (
            5,
            "9",
            "item '9' is not in this audit; perhaps a spreadsheet removed the leading zeros of "
            "'00009'",
        ),
    )
    assert [note.text for note in found.notes] == [
        "2 ids were changed by a spreadsheet and matched to the only sampled "
        "item that it would show like this: '7' is '00007'"
    ]
    assert {
        event.body["id"]: event.body["label"]
        for event in session.events()
        if event.kind == "labeled"
    } == {"00007": 1, "00008": 0, "00009": 1}
    session.close()


@pytest.mark.parametrize(
    ("ids", "cell", "meant"),
    [
        (["12E5", "7", "8"], "1.20E+06", "12E5"),
        (["12345678901234567890", "5"], "12345678901234500000", "12345678901234567890"),
        (["1200000", "1203456", "5"], "1.20E+06", None),
        (["009", "9.0", "5"], "9", None),
    ],
)
def test_an_identifier_taken_for_a_number_is_recorded_where_one_is_meant(
    tmp_path, ids, cell, meant
):
    ids = [*ids, *(f"x{k}" for k in range(20))]
    items = wb.ScoredItems(np.array(ids, object), np.linspace(0.5, 1, len(ids)))
    with created(tmp_path, items, budget=len(ids), n_strata=1) as session:
        written(tmp_path / "x.csv", [{"id": cell, "correct": 1}])
        found = session.import_labels(tmp_path / "x.csv")
        assert [event.body["id"] for event in session.events() if event.kind == "labeled"] == [
            meant
        ] * bool(meant)
        assert len(found.notes) == bool(meant) and len(found.refused) == (not meant)


def test_a_sheet_without_its_columns(session, tmp_path):
    written(tmp_path / "x.csv", [{"name": 1, "correct": 1}])
    with pytest.raises(
        ValueError, match="has no column 'id'; available columns: 'name', 'correct'"
    ):
        session.import_labels(tmp_path / "x.csv")


def test_true_classes_on_a_sheet(tmp_path, known):
    items, said = known
    session = created(tmp_path, items, asks="truth", columns={"text": range(400)})
    session.export(tmp_path / "sheet.csv", 10)
    with open(tmp_path / "sheet.csv", encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == ["id", "position", "text", "truth"]
    for row in rows:
        row["truth"] = said[row["id"]][1]
    rows[3]["truth"] = "cow"
    written(tmp_path / "filled.csv", rows)
    found = session.import_labels(tmp_path / "filled.csv")
    assert found.recorded == 9
    assert found.refused == (
        (
            5,
            rows[3]["id"],
            "'cow' is not a predicted class. Write 'cat', 'dog', 'eel', or 'other' "
            "for a class that is never predicted",
        ),
    )


def test_columns_sorted_apart_are_refused(known, tmp_path):
    session = created(tmp_path, known[0])
    session.export(tmp_path / "sheet.csv")
    rows = filled(tmp_path / "sheet.csv", {name: right for name, (right, _) in known[1].items()})
    for row, name in zip(rows, sorted(row["id"] for row in rows), strict=True):
        row["id"] = name
    written(tmp_path / "filled.csv", rows)
    found = session.import_labels(tmp_path / "filled.csv")
    assert found.recorded == sum(
        row["id"] == item.id for row, item in zip(rows, session._trail.items, strict=False)
    )
    assert "perhaps one column was sorted without the others" in found.refused[0][2]


def test_an_empty_row_that_is_refused_skips_nothing(known, tmp_path):
    session = created(tmp_path, known[0])
    first, second, third = (item.id for item in session.next(3))
    session.release()
    written(
        tmp_path / "filled.csv",
        [
            {"id": first, "position": 2, "correct": ""},
            {"id": second, "position": 2, "correct": ""},
            {"id": third, "position": 3, "correct": 1},
        ],
    )
    found = session.import_labels(tmp_path / "filled.csv")
    assert [refused[:2] for refused in found.refused] == [(2, first)]
    assert (found.recorded, found.skipped, session.skipped()) == (1, 1, [second])
