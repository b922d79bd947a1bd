"""Kill processes that record labels, at random moments, and let two of them record at once.

    python tests/peers/audit_crashes.py                     # 1,000 kills, 50 of them while files are made; 60 s of two
    python tests/peers/audit_crashes.py --kills 30 --seconds 3

Each killed process has told which labels were acknowledged. Afterwards the file must open, pass `verify`, hold every
acknowledged label once with its value, and hold at most one more per kill: the one that was durable before its
acknowledgement came through. Ends with exit code 1 and says what was lost.
"""

import argparse
import os
import random
import select
import signal
import sys
import tempfile
import time
from collections import Counter

import numpy as np

from workbench import AuditSession, ScoredItems

BUDGET, ITEMS, LEAST = 500, 30_000, 12


def new_session(folder, name, budget=BUDGET):
    """Write a session file and return its path."""
    items = ScoredItems(np.arange(ITEMS), np.linspace(0.5, 1, ITEMS))
    path = os.path.join(folder, name)
    AuditSession.create(path, items, budget=budget, seed=1).close()
    return path


def value(identifier):
    """Return the label that an item gets."""
    return int(identifier) % 3 % 2


def work(path, name, tell, until=float("inf")):
    """Record labels one by one, `LEAST` however slow the machine is, and tell each after it was acknowledged."""
    recorded = 0
    with AuditSession.open(path) as session:
        session.release(by=name)
        while recorded < LEAST or time.monotonic() < until:
            items = session.next(3, by=name)
            if not items:
                return
            for item in items:
                session.record(item.id, value(item.id), by=name)
                os.write(tell, f"{item.id}\n".encode())
                recorded += 1


def started(path, name, until=float("inf")):
    """Start a recording process; return its id and where it tells what was acknowledged."""
    listen, tell = os.pipe()
    child = os.fork()
    if not child:
        os.close(listen)
        code = 1
        try:
            work(path, name, tell, until)
            code = 0
        finally:
            os._exit(code)
    os.close(tell)
    return child, listen


def told(listen):
    """Return what a process told until its end."""
    with os.fdopen(listen) as file:
        lines = file.read().split("\n")
    return lines[:-1]


def checked(path, acknowledged, spare):
    """Return the number of labels of a file, or raise with what is wrong."""
    with AuditSession.open(path) as session:
        session.verify()
        recorded = [event.body for event in session.events() if event.kind == "labeled"]
    counts = Counter(body["id"] for body in recorded)
    lost = [each for each in acknowledged if each not in counts]
    if lost:
        raise SystemExit(f"{len(lost)} acknowledged labels are lost, such as {lost[0]}")
    if max(counts.values(), default=1) > 1:
        raise SystemExit(f"a label is doubled: {counts.most_common(1)[0]}")
    if any(body["label"] != value(body["id"]) for body in recorded):
        raise SystemExit("a label is not the one that was recorded")
    if len(counts) > len(acknowledged) + spare:
        raise SystemExit(
            f"{len(counts)} labels, but only {len(acknowledged)} acknowledged, and {spare} kills"
        )
    return len(counts)


def kills(folder, rounds, rng):
    """Kill a recording process `rounds` times; return how many labels were acknowledged."""
    total, path, acknowledged, spare = 0, "", set(), 0
    for k in range(rounds):
        if not path or len(acknowledged) > BUDGET - 100:
            path, acknowledged, spare = new_session(folder, f"kills-{k}.db"), set(), 0
        child, listen = started(path, "worker")
        if k % 3:  # while it records; else wherever it is
            select.select([listen], [], [], 10)
        time.sleep(rng.uniform(0, 0.1))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        new, spare = told(listen), spare + 1
        acknowledged.update(new)
        total += len(new)
        checked(path, acknowledged, spare)
    return total


def made(folder, rounds, rng):
    """Kill a process that makes a session `rounds` times; return how often the file was there, whole."""
    whole = 0
    for k in range(rounds):
        child = os.fork()
        if not child:
            new_session(folder, f"made-{k}.db")
            os._exit(0)
        time.sleep(rng.uniform(0, 0.3))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        path = os.path.join(folder, f"made-{k}.db")
        there = os.path.exists(path)
        checked(path if there else new_session(folder, f"made-{k}.db"), [], 0)
        whole += there
    return whole


def together(folder, seconds):
    """Let two processes record at once; return how many labels each acknowledged."""
    path = new_session(folder, "together.db", 20_000)
    until = time.monotonic() + seconds
    children = [started(path, name, until) for name in ("ann", "ben")]
    acknowledged = [told(listen) for _, listen in children]
    codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child, _ in children]
    if any(codes):
        raise SystemExit("a recording process failed")
    ann, ben = map(set, acknowledged)
    if ann & ben or len(ann) < len(acknowledged[0]) or len(ben) < len(acknowledged[1]):
        raise SystemExit("an item was handed out twice")
    checked(path, ann | ben, 0)
    return len(ann), len(ben)


def main():
    """Kill, then record together, and say what was survived."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        total = kills(folder, given.kills, random.Random(given.seed))
        print(
            f"{given.kills} kills: {total} acknowledged labels, none lost, none doubled", flush=True
        )
        whole = made(folder, given.kills // 20, random.Random(given.seed))
        print(
            f"{given.kills // 20} kills while a session is made: {whole} files, all whole; the others could be made"
        )
        ann, ben = together(folder, given.seconds)
        print(f"two processes for {given.seconds:g} s: {ann} and {ben} labels, each once")
    return 0


if __name__ == "__main__":
    sys.exit(main())
