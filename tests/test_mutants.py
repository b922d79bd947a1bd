"""A mutant changes one place of one file, and what it changes counts."""

import ast

import pytest
from mutants import run

TEXT = '''
def f(x: int = 3, *, y=None) -> "3":
    """Add 1 + 1, not 2."""
    if not x <= 2 and y is None:
        raise ValueError(f"{x} < {1 + 1}")
    return np.minimum(x * 2, -y) - True
'''


def changed(text, place):
    first, last, new = place
    raw = text.encode()
    return (raw[:first] + new.encode() + raw[last:]).decode()


def test_places_are_those_whose_value_counts():
    lines = [
        next(
            line.strip()
            for line, old in zip(changed(TEXT, place).splitlines(), TEXT.splitlines(), strict=True)
            if line != old
        )
        for place in sorted(set(run.places(TEXT)))
    ]
    assert lines == [
        'def f(x: int = (3 + 1), *, y=None) -> "3":',
        "if x <= 2 and y is None:",
        "if not x < 2 and y is None:",
        "if not x <= (2 + 1) and y is None:",
        "if not x <= 2 or y is None:",
        "if not x <= 2 and y is not None:",
        "return np.maximum(x * 2, -y) - True",
        "return np.minimum(x / 2, -y) - True",
        "return np.minimum(x * (2 + 1), -y) - True",
        "return np.minimum(x * 2, -y) + True",
        "return np.minimum(x * 2, -y) - False",
    ]


@pytest.mark.parametrize("room", run.ROOMS)
def test_a_seed_draws_mutants_that_are_python_and_differ(room):
    drawn = run.drawn(room, 100, 1)
    assert drawn == run.drawn(room, 100, 1) and len(set(drawn)) == 100
    for mutant in drawn[:20]:
        text = (run.ROOT / mutant[0]).read_text(encoding="utf-8")
        assert ast.dump(ast.parse(changed(text, mutant[1:]))) != ast.dump(ast.parse(text))
        assert run.said(mutant)["old"] != run.said(mutant)["new"]


def test_a_mutant_is_taken_back(tmp_path, monkeypatch):
    mutant = run.drawn("intervals", 1, 1)[0]
    path, before = tmp_path / mutant[0], (run.ROOT / mutant[0]).read_bytes()
    path.parent.mkdir(parents=True)
    path.write_bytes(before)
    lines, seen = {mutant[0]: {line: ["a::b"] for line in run.statement(mutant)}}, []
    for code, verdict in ((0, "survived"), (1, "killed"), (None, "killed")):
        monkeypatch.setattr(
            run,
            "run_tests",
            lambda *given, code=code: seen.append(path.read_bytes()) or (code, "FAILED"),
        )
        assert run.planted(mutant, tmp_path, lines, {})["verdict"] == verdict
        assert seen[-1] != before == path.read_bytes()
    monkeypatch.setattr(run, "run_tests", lambda *given: (4, "no tests"))
    with pytest.raises(RuntimeError, match="no tests"):
        run.planted(mutant, tmp_path, lines, {})
    assert run.planted(mutant, tmp_path, {}, {})["verdict"] == "survived"


def test_what_killed_a_mutant_before_is_tried_first_and_no_longer_than_it_takes(
    tmp_path, monkeypatch
):
    mutant, seen = run.drawn("intervals", 1, 1)[0], []
    path = tmp_path / mutant[0]
    path.parent.mkdir(parents=True)
    path.write_bytes((run.ROOT / mutant[0]).read_bytes())
    lines = {mutant[0]: {line: ["a.py::b", "a.py::c"] for line in run.statement(mutant)}}

    def answers(codes):
        def run_tests(folder, tests, marks, limit):
            seen.append((tests, limit))
            return next(codes), "FAILED a.py::c[2-x.y] - assert 1 == 2"

        monkeypatch.setattr(run, "run_tests", run_tests)
        return run.planted(mutant, tmp_path, lines, {"b": 1, "c": 2}, "a.py::c")

    assert answers(iter([1]))["killer"] == "a.py::c"
    assert answers(iter([4, 1]))["verdict"] == "killed"
    assert answers(iter([0, 0]))["verdict"] == "survived"
    one, both = (
        (["a.py::c"], run.START + 2 * run.SLOWER),
        (["a.py::b", "a.py::c"], run.START + 3 * run.SLOWER),
    )
    assert seen == [one, one, both, one, both]
    assert run.patience(["tests/a"], {"b": 1}) == run.LIMIT


def test_the_tests_of_a_changed_line_are_tried(tmp_path, monkeypatch):
    monkeypatch.setattr(run, "ROOT", tmp_path)
    path = tmp_path / "workbench" / "a" / "b.py"
    path.parent.mkdir(parents=True)
    text = (
        "X = 3\n\n\ndef f(x, y=2):\n    if x < (\n            4):\n        return 5\n    return 6\n"
    )
    path.write_text(text)
    file = "workbench/a/b.py"
    lines = {
        file: {
            1: [""],
            4: [""],
            5: ["t::one", "t::two"],
            6: ["t::one"],
            7: ["t::two"],
            8: ["t::three"],
        }
    }
    places = {text[first:last]: (file, first, last, new) for first, last, new in run.places(text)}
    whole = [["tests/a", "workbench/a"]]
    assert [run.choices(places[old], lines) for old in "32456"] == [
        whole,
        whole,
        [["t::one", "t::two"]],
        [["t::two"]],
        [["t::three"]],
    ]
    many = {file: {8: [f"t::{k}" for k in range(run.FIRST + 2)]}}
    assert [len(part) for part in run.choices(places["6"], many)] == [run.FIRST, 2]
