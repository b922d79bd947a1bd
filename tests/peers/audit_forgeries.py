"""Flip bits in the file of an audit, and forge what it holds with a chain that is computed anew.

    python tests/peers/audit_forgeries.py                   # 3,000 flips and 1,500 forgeries
    python tests/peers/audit_forgeries.py 100 100 2         # and the seed

A file with flipped bits must be refused or say what it said before. A forged one must be refused in the workbench's own
words, when it is opened or later, or be an audit that can be looked at, exported and reported. Ends with exit code 1
and says what else happened.
"""

import contextlib
import copy
import json
import os
import shutil
import sqlite3
import sys
import tempfile
import traceback
from pathlib import Path

import numpy as np

import workbench
from workbench import AuditSession, ScoredItems
from workbench.extras.sessions import charts, store
from workbench.extras.sessions.page import read

ROOM = str(Path(workbench.__file__).parent)
WRONG = [
    None,
    True,
    False,
    "",
    "x",
    "\ud800",
    "a\x00b",
    -1,
    0,
    1,
    2,
    0.5,
    2**70,
    1e308,
    -1e308,
    10**400,
    [],
    {},
    [1],
    ["x", None],
    {"a": 1},
    [[]],
    "2020-01-01T00:00:00",
    "9999-12-31T23:59:59+00:00",
]
CELLS = [None, -1, 2**62, 1.5, "x", "", b"\xff\x00", "[]", "{", '{"a":NaN}', "[" * 5000]
AUDITS = (
    {},
    {"asks": "truth"},
    {"question": "class_metrics", "asks": "truth", "metrics_of": "a"},
    {"waves": 2},
    {"second_share": 0.5},
    {"question": "difference", "asks": "truth"},
)


def made(folder):
    """Write an audit of each kind with some steps and return the paths."""
    rng, paths = np.random.default_rng(7), []
    classes = np.array(["a", "b"])
    for k, settings in enumerate(AUDITS):
        items = ScoredItems(
            np.arange(80),
            rng.uniform(0.5, 1, 80),
            prediction=classes[rng.integers(2, size=80)],
            rival=classes[rng.integers(2, size=80)],
        )
        path = os.path.join(folder, f"{k}.db")
        with AuditSession.create(
            path,
            items,
            budget=20,
            n_strata=2,
            seed=3,
            columns={"text": [f"t{i}" for i in range(80)]},
            **settings,
        ) as session:
            for item in session.next(12, by="ann"):
                session.record(item.id, "a" if session.design["asks"] == "truth" else 1, by="ann")
            session.undo(by="ann")
            session.skip(session.next(by="ann")[0].id, by="ann")
            session.estimate("planned" if k in (0, 1, 4) else "fixed" if k == 3 else "looks")
            if not settings.get("waves"):
                session.extend(2)
        paths.append(path)
    return paths


def flipped(path, rng):
    """Flip up to three bits of a file."""
    content = bytearray(Path(path).read_bytes())
    for place in rng.integers(len(content), size=rng.integers(1, 4)):
        content[place] ^= 1 << rng.integers(8)
    Path(path).write_bytes(content)


def spoil(value, rng):
    """Return a value with one thing in it, at any depth, that is another one, or lacks."""
    keys = (
        list(value)
        if isinstance(value, dict)
        else range(len(value))
        if isinstance(value, list)
        else ()
    )
    if not len(keys) or rng.random() < 0.2:
        return WRONG[rng.integers(len(WRONG))]
    key = keys[rng.integers(len(keys))]
    if isinstance(value, dict) and rng.random() < 0.2:
        del value[key]
    else:
        value[key] = spoil(value[key], rng)
    return value


def forge(path, rng):
    """Change the design, an event, an item or a cell, and compute hashes and chain anew where that can be done."""
    with contextlib.closing(sqlite3.connect(path)) as file, file:
        rows = [
            list(row)
            for row in file.execute(
                "SELECT number, time, who, kind, body FROM events ORDER BY number"
            )
        ]
        items = [
            list(row)
            for row in file.execute(
                "SELECT position, id, stratum, prediction, rival, shown FROM items"
            )
        ]
        what = rng.integers(4)
        if what == 0:
            items[rng.integers(len(items))][rng.integers(1, 6)] = CELLS[rng.integers(len(CELLS))]
        elif what == 1:
            rows[rng.integers(len(rows))][rng.integers(1, 5)] = CELLS[rng.integers(len(CELLS))]
        else:
            row = rows[0 if what == 2 else rng.integers(len(rows))]
            row[4] = spoiled_json(row[4], rng)
        with contextlib.suppress(Exception):  # what cannot be hashed stays with its old hash
            stored = [store.StoredItem(*row[1:5], json.loads(row[5])) for row in items]
            body = json.loads(rows[0][4])
            if "rows" in body:
                rows[0][4] = (
                    store.canonical(body | {"rows": store.digest_of_rows(stored)}).encode().decode()
                )
        chain = ""
        for row in rows:
            with contextlib.suppress(Exception):
                chain = store._chained(chain, *row)
            row.append(chain)
        file.execute("DROP TABLE items")
        file.execute("DROP TABLE events")
        file.execute(
            "CREATE TABLE items (position INTEGER PRIMARY KEY, id, stratum, prediction, rival, shown)"
        )
        file.execute(
            "CREATE TABLE events (number INTEGER PRIMARY KEY, time, who, kind, body, hash)"
        )
        file.executemany("INSERT INTO items VALUES (?, ?, ?, ?, ?, ?)", items)
        file.executemany("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?)", rows)


def spoiled_json(text, rng):
    """Return the text of a JSON object with something wrong in it, as this program or another one writes it."""
    body = spoil(copy.deepcopy(json.loads(text)), rng)
    with contextlib.suppress(ValueError):
        return (
            store.canonical(body).encode("utf-8").decode()
            if rng.random() < 0.8
            else json.dumps(body)
        )
    return json.dumps(body)


def said(path):
    """Return all that a file says."""
    with AuditSession.open(path) as session:
        return session.events(), session._trail.kept, session.status().rows()


def used(path):
    """Do with a file what people do."""
    folder = os.path.dirname(path)
    with AuditSession.open(path) as session:
        session.status(), session.strata(), session.skipped(), session.looks, session.last_hash
        session.verify()
        session.export(os.path.join(folder, "sheet.csv"))
        report = read(path)
        report.basis(), report.look_table(), report.methods(*report.estimates.values())
        charts.finding(report.estimates["planned"], report.rates)
        charts.interim_analyses(report.looks, report.design)
        for item in session.next(3, by="ben"):
            session.record(item.id, "a" if session.design["asks"] == "truth" else 1, by="ben")
    with AuditSession.open(path) as session:
        session.verify()


def problem_of(path, use, allowed=None):
    """Return what is wrong with how a file is used, "" where nothing is."""
    try:
        found = use(path)
    except Exception as error:
        raised = traceback.extract_tb(error.__traceback__)[-1].filename
        own = isinstance(error, ValueError) and raised.startswith(ROOM)
        return "" if own else "".join(traceback.format_exception(error)[-4:])
    return "" if allowed is None or found == allowed else "says something else than before"


def problems(flips, forgeries, seed=1):
    """Yield what went wrong, and at last how many of each were refused when they were opened."""
    rng = np.random.default_rng(seed)
    with tempfile.TemporaryDirectory() as folder:
        paths = made(folder)
        before = {path: said(path) for path in paths}
        place = os.path.join(folder, "changed.db")
        for change, count in ((flipped, flips), (forge, forgeries)):
            refused = 0
            for k in range(count):
                path = paths[rng.integers(len(paths))]
                shutil.copyfile(path, place)
                change(place, rng)
                try:
                    AuditSession.open(place).close()
                except ValueError:
                    refused += 1
                except Exception:  # told below
                    pass
                wrong = (
                    problem_of(place, said, before[path])
                    if change is flipped
                    else problem_of(place, used)
                )
                if wrong:
                    yield f"{change.__name__} {k} of {os.path.basename(path)}: {wrong}"
                Path(folder, "sheet.csv").unlink(missing_ok=True)
            print(f"{change.__name__}: {refused} of {count} refused when opened", flush=True)


if __name__ == "__main__":
    told = [*problems(*map(int, sys.argv[1:] or (3000, 1500)))]
    print("\n".join(told) or "nothing lost, no traceback")
    sys.exit(bool(told))
