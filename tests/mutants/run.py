"""Change the rooms that estimate in one place at a time, and see whether the room's own tests notice.

    python tests/mutants/run.py                          # 100 mutants a room
    python tests/mutants/run.py --mutants 10 --rooms intervals,stratified

A seed draws the places: comparisons, arithmetic, bounds of clipping, `and`, `or`, `not`, numbers, booleans. The tests
are those of `make quick` in the folder of the same name. What was run stays in build/mutants, under a name made of the
mutant, the file and the tests, so that a run goes on where it stopped; the table is printed and kept in mutants.json
beside this folder. A mutant that `equivalent.toml` names, with the reason why no test can tell it, does not count.
"""
import argparse
import ast
import hashlib
import json
import random
import re
import sys
import tempfile
import time
import tomllib
from collections import Counter
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
ROOT = FOLDER.parents[1]
sys.path.insert(0, str(FOLDER.parent))
from faults.run import copy, run_tests  # noqa: E402

ROOMS = "intervals", "stratified", "replication", "misclassification", "cross_validation", "allocation"
BUILD, RECORD = ROOT / "build" / "mutants", FOLDER.parent / "mutants.json"
QUICK = "not kernel and not browser and not java and not slow and not full"
SIGNS = {ast.Lt: ("<", "<="), ast.LtE: ("<=", "<"), ast.Gt: (">", ">="), ast.GtE: (">=", ">"), ast.Eq: ("==", "!="),
         ast.NotEq: ("!=", "=="), ast.Add: ("+", "-"), ast.Sub: ("-", "+"), ast.Mult: ("*", "/"), ast.Div: ("/", "*"),
         ast.And: ("and", "or"), ast.Or: ("or", "and"), ast.Is: ("is", "is not"), ast.IsNot: ("is not", "is")}
NAMES = {"minimum": "maximum", "maximum": "minimum", "min": "max", "max": "min", "any": "all", "all": "any",
         "floor": "ceil", "ceil": "floor"}


def offsets(text):
    """Return where each line begins, in bytes."""
    lines = text.encode().splitlines(keepends=True)
    return [sum(map(len, lines[:k])) for k in range(len(lines) + 1)]


def places(text):
    """Yield the places (first byte, last byte, new text) of a file in which one change can be made."""
    begins, raw = offsets(text), text.encode()

    def at(node):
        return (begins[node.lineno - 1] + node.col_offset, begins[node.end_lineno - 1] + node.end_col_offset)

    def between(left, right, operator):
        old, new = SIGNS[type(operator)]
        first, last = at(left)[1], at(right)[0]
        found = re.search(rf"(?<![<>=!*/]){re.escape(old)}(?![=*/])".encode(), raw[first:last])
        if found:
            yield first + found.start(), first + found.end(), new

    for node in counted(ast.parse(text)):
        if isinstance(node, ast.Compare) and type(node.ops[0]) in SIGNS:
            yield from between(node.left, node.comparators[0], node.ops[0])
        elif isinstance(node, ast.BinOp) and type(node.op) in SIGNS:
            yield from between(node.left, node.right, node.op)
        elif isinstance(node, ast.BoolOp):
            yield from between(*node.values[:2], node.op)
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            yield at(node)[0], at(node)[0] + len("not "), ""
        elif isinstance(node, ast.Constant) and type(node.value) in (int, float, bool):
            yield *at(node), str(not node.value) if isinstance(node.value, bool) else f"({node.value} + 1)"
        elif isinstance(node, ast.Attribute) and node.attr in NAMES:
            yield at(node)[1] - len(node.attr), at(node)[1], NAMES[node.attr]
        elif isinstance(node, ast.Name) and node.id in NAMES:
            yield *at(node), NAMES[node.id]


def counted(node):
    """Yield the nodes whose value counts: no annotations, no text that is shown, no constants of modules of words."""
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list") or isinstance(node, ast.JoinedStr):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and not isinstance(child, ast.Raise):
                yield child
                yield from counted(child)


def drawn(room, count, seed):
    """Return mutants of a room, (file, first byte, last byte, new text), in the order in which a seed draws them."""
    listed = [(path.relative_to(ROOT).as_posix(), *place)
              for path in sorted(ROOT.joinpath("workbench", room).rglob("*.py"))
              for place in sorted(set(places(path.read_text(encoding="utf-8"))))]
    random.Random(f"{seed} {room}").shuffle(listed)
    return listed[:count]


def said(mutant):
    """Return a mutant's file, line, and the line before and after."""
    file, first, last, new = mutant
    raw = (ROOT / file).read_bytes()
    begin, end = raw.rfind(b"\n", 0, first) + 1, raw.find(b"\n", last)
    before, after = raw[begin:end], raw[begin:first] + new.encode() + raw[last:end]
    return {"file": file, "line": raw[:first].count(b"\n") + 1, "old": before.decode().strip(),
            "new": after.decode().strip()}


def planted(mutant, folder):
    """Run the room's tests on one mutant; return whether they noticed, and the seconds."""
    file, first, last, new = mutant
    path, began = folder / file, time.monotonic()
    raw = path.read_bytes()
    path.write_bytes(raw[:first] + new.encode() + raw[last:])
    try:
        code, output = run_tests(folder, [f"tests/{file.split('/')[1]}"], QUICK)
    finally:
        path.write_bytes(raw)
    verdict = {None: "killed", 0: "survived", 1: "killed", 2: "killed"}.get(code)
    if verdict is None:
        raise RuntimeError(f"pytest ended with {code}:\n{output}")
    return {"verdict": verdict, "seconds": round(time.monotonic() - began, 1)}


def key(mutant, room):
    """Return the name under which a mutant's verdict is kept."""
    tests = sorted(path for path in ROOT.joinpath("tests", room).rglob("*.py"))
    text = b"".join([repr(mutant).encode(), (ROOT / mutant[0]).read_bytes(), *(path.read_bytes() for path in tests)])
    return hashlib.sha256(text).hexdigest()[:24] + ".json"


def equivalent():
    """Return the reasons why no test can tell a mutant, by file, old and new line."""
    path = FOLDER / "equivalent.toml"
    listed = tomllib.loads(path.read_text(encoding="utf-8"))["mutant"] if path.exists() else []
    return {(entry["file"], entry["old"], entry["new"]): entry["why"] for entry in listed}


def row(room, options, folder):
    """Run what is missing of a room; return its row of the table."""
    reasons, verdicts, survivors, seconds, end = equivalent(), Counter(), [], 0, time.monotonic() + 60 * options.minutes
    for mutant in drawn(room, options.mutants, options.seed):
        kept, told = BUILD / key(mutant, room), said(mutant)
        if not kept.exists():
            if time.monotonic() > end:
                continue
            kept.write_text(json.dumps(planted(mutant, folder)))
        found = json.loads(kept.read_text())
        same = found["verdict"] == "survived" and reasons.get((told["file"], told["old"], told["new"]))
        verdicts["equivalent" if same else found["verdict"]] += 1
        seconds += found["seconds"]
        survivors += [told] if found["verdict"] == "survived" and not same else []
    return {"mutants": sum(verdicts.values()), **verdicts, "seconds": round(seconds), "survivors": survivors}


def main():
    """Read the options, run, print the table and write it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mutants", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rooms", default=",".join(ROOMS))
    parser.add_argument("--minutes", type=float, default=15, help="for a room, after which it is left as it is")
    options = parser.parse_args()
    BUILD.mkdir(parents=True, exist_ok=True)
    record = json.loads(RECORD.read_text(encoding="utf-8")) if RECORD.exists() else {}
    with tempfile.TemporaryDirectory() as base:
        copy(Path(base))
        for room in options.rooms.split(","):
            code, output = run_tests(Path(base), [f"tests/{room}"], QUICK)
            if code:
                raise SystemExit(f"without any mutant the tests of {room} fail:\n{output}")
            record[room] = found = row(room, options, Path(base))
            tried = found["mutants"] - found.get("equivalent", 0)
            print(f"{room:18} {found['mutants']:4} mutants, {found.get('killed', 0):4} killed, "
                  f"{found.get('equivalent', 0):3} equivalent, {found.get('killed', 0) / max(tried, 1):.0%} "
                  f"({found['seconds']} s)", flush=True)
            RECORD.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
