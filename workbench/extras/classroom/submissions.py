"""The answers in a student's folder, read as data; code of students is never run."""

import ast
import contextlib
import json
import os
import re
import stat
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workbench import checks
from workbench.course.learners import LONGEST_ID, id_problem
from workbench.course.records import plain_answer
from workbench.extras.classroom.variants import graded
from workbench.lessons.checking import ANSWERS, OWN_FILE
from workbench.reports.parameters import DATA

PREDICTIONS = "predictions.json"
HIDDEN = re.compile(r"\.(?!\.)|__")
DEEPEST = 3
MOST_BYTES = 1_000_000
MOST_NOTEBOOK_BYTES = 20_000_000
MOST_STUDENT_BYTES = 60_000_000
MOST_PARTS = 2_000_000  # of a JSON text; each takes about sixty bytes of memory
MOST_SOURCE = 20_000
_CHECKED = re.compile(r"""\bcheck\(\s*["']([\d.]+)["']""")
# errors that parsing of hostile text may raise
UNREADABLE = (
    ValueError,
    TypeError,
    SyntaxError,
    RecursionError,
    MemoryError,
    AttributeError,
    KeyError,
)


Assigned = dict[str, ast.expr | None]


class NotPlainError(ValueError):
    """An answer or a file is not plain; the message gives the reason."""


@dataclass(frozen=True)
class Submission:
    """Answers of one student.

    Attributes
    ----------
    answers : dict
        Exercise -> a plain answer, None, or a `NotPlainError`.
    course : str or None
        Fingerprint of the secret with which the lessons were made.
    students : tuple of str
        Ids of the students for whom the lessons were made.
    remarks : tuple of str
        Files that could not be read or were ignored, with the reason.
    """

    answers: dict[str, Any]
    course: str | None
    students: tuple[str, ...]
    remarks: tuple[str, ...]


def read_submission(folder: Path, lessons: list[str]) -> Submission:
    """Return the answers in a student's folder, from the file of answers or else the notebooks.

    Parameters
    ----------
    folder : Path
        Folder of the student.
    lessons : list of str
        File names of the lessons. Other notebooks are ignored.
    """
    remaining = MOST_STUDENT_BYTES
    courses, students, remarks = [], set(), []
    copied: set[str] = set()  # files that students got with the lessons
    answers: dict[str, Any] = dict.fromkeys(graded())
    for name in lessons:  # one notebook at a time, to limit the memory
        path = folder / name
        try:
            notebook = _notebook(path, min(remaining, MOST_NOTEBOOK_BYTES))
            if path.is_file():
                remaining -= path.stat().st_size
            courses.append(_metadata(notebook, "course"))
            students.add(_metadata(notebook, "student"))
            copied.update(_metadata(notebook, "files").splitlines())
            for source in _code(notebook):
                answers |= _answers_in(source)
        except NotPlainError as error:
            remarks.append(str(error))
    try:
        recorded = plain_entries(folder / ANSWERS, "answers by exercise")
        answers |= {name: _checked(recorded[name]) for name in graded() if name in recorded}
    except NotPlainError as error:
        answers = dict.fromkeys(graded(), error)
        remarks.append(str(error))
    remarks += _ignored_files(folder, lessons, copied)
    valid = sorted(student for student in students if student and not id_problem(student))
    return Submission(answers, next(filter(None, courses), None), tuple(valid), tuple(remarks))


def course_of(folder: Path, lessons: list[str]) -> str | None:
    """Return the fingerprint of the secret in the first lesson that has one, or None."""
    for name in lessons:
        with contextlib.suppress(NotPlainError):  # a student's notebook may be anything
            course = _metadata(_notebook(folder / name), "course")
            if course:
                return course
    return None


def unpacked(folder: Path) -> Path:
    """Return the folder with the answers, which packing tools may have put into another one."""
    for _ in range(DEEPEST):
        paths = _paths(folder)
        if len(paths) != 1 or not paths[0].is_dir() or paths[0].is_symlink():
            break
        folder = paths[0]
    return folder


def _paths(folder: Path) -> list[Path]:
    """Return the paths in a folder that are not hidden, none if it cannot be read."""
    if not os.access(folder, os.R_OK | os.X_OK):
        return []
    return [path for path in folder.iterdir() if not HIDDEN.match(path.name)]


def _ignored_files(folder: Path, lessons: list[str], copied: set[str]) -> Iterator[str]:
    """Yield remarks if the answers may be in a file that is ignored."""
    if not os.access(folder, os.R_OK | os.X_OK):
        yield "the folder cannot be read"
        return
    names = {path.name for path in _paths(folder)}
    ignored = names - {*lessons, *copied, ANSWERS, OWN_FILE, PREDICTIONS, DATA}
    if ANSWERS in names:
        return
    if ignored:
        shortened = [name[:LONGEST_ID] for name in sorted(ignored)]
        yield f"no {ANSWERS}; ignored: {checks.listed(shortened, quoted=True)}"
    elif names.isdisjoint(lessons):
        yield f"the folder has neither a lesson nor {ANSWERS}"


def _plain_json(path: Path, most: int, default: Any) -> Any:
    """Return the content of a small regular JSON file, or the default without a file."""
    try:
        details = path.lstat()
        if not stat.S_ISREG(details.st_mode):
            raise NotPlainError(f"{path.name} is not a regular file")
        if details.st_size > most:
            raise NotPlainError(f"{path.name} has {details.st_size:,} bytes; the limit is {most:,}")
        with open(path, "rb", opener=_opened) as file:
            content = file.read(most)
    except FileNotFoundError:
        return default
    except OSError as error:
        raise NotPlainError(f"{path.name} cannot be read: {error.strerror}") from error
    if sum(map(content.count, (b",", b"{", b"["))) > MOST_PARTS:
        raise NotPlainError(f"{path.name} has more than {MOST_PARTS:,} parts")
    try:
        return json.loads(content)
    except UNREADABLE as error:
        raise NotPlainError(f"{path.name} is not valid JSON") from error


def _opened(path: str, flags: int) -> int:
    """Open a file, but neither follow a link nor wait for a pipe."""
    return os.open(path, flags | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))


def plain_entries(path: Path, what: str) -> dict:
    """Return the entries of a small JSON file by name, {} without a file."""
    entries = _plain_json(path, MOST_BYTES, {})
    if not isinstance(entries, dict):
        raise NotPlainError(f"{path.name} has no {what}")
    return entries


def _checked(value: Any) -> Any:
    """Return a plain answer, or the error about one that is not plain."""
    try:
        return plain_answer(value)
    except ValueError as error:
        return NotPlainError(str(error))


def _notebook(path: Path, most: int = MOST_NOTEBOOK_BYTES) -> dict:
    """Return a notebook, which has no cells without a file."""
    notebook = _plain_json(path, most, {"cells": []})
    if not isinstance(notebook, dict) or not isinstance(notebook.get("cells"), list):
        raise NotPlainError(f"{path.name} is not a notebook")
    return notebook


def _metadata(notebook: Any, key: str) -> str:
    """Return a text of the workbench in a notebook's metadata, or ''."""
    try:
        entry = notebook["metadata"]["workbench"][key]
    except UNREADABLE:
        return ""
    return entry if isinstance(entry, str) else ""


def _code(notebook: dict) -> Iterator[str]:
    """Yield the text of the code cells that call `check`."""
    for cell in notebook["cells"]:
        if not isinstance(cell, dict) or cell.get("cell_type") != "code":
            continue
        source = cell.get("source")
        lines = source if isinstance(source, list) else [source]
        text = "".join(line for line in lines if isinstance(line, str))
        if _CHECKED.search(text[:MOST_SOURCE]):
            yield text


def _answers_in(source: str) -> dict[str, Any]:
    """Return {exercise: answer or NotPlainError} from the calls of `check` in a cell.

    An answer is a literal, or a name to which the same cell assigns a literal.
    """
    numbers = _CHECKED.findall(source[:MOST_SOURCE])
    exercises = [exercise for exercise in numbers if exercise in graded()]
    problem = "the cell does not call check with an answer"
    statements: list[ast.stmt] = []
    if len(source) > MOST_SOURCE:
        problem = f"the cell has more than {MOST_SOURCE:,} characters"
    else:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                statements = ast.parse(source).body
        except UNREADABLE:
            problem = "the cell is not valid Python"
    answers: dict[str, Any] = dict.fromkeys(exercises, NotPlainError(problem))
    names: Assigned = {}
    for statement in statements:
        names |= _assigned(statement)
        for node in ast.walk(statement):
            exercise, argument = _check_of(node)
            if exercise in answers:
                is_name = isinstance(argument, ast.Name)
                answers[exercise] = _literal(names.get(argument.id) if is_name else argument)
    return answers


def _assigned(statement: ast.stmt) -> Assigned:
    """Return {name: expression} of a statement, with None if the value is computed."""
    mentioned = [node for node in ast.walk(statement) if isinstance(node, ast.Name)]
    names: Assigned = {node.id: None for node in mentioned if not isinstance(node.ctx, ast.Load)}
    if isinstance(statement, (ast.Assign, ast.AnnAssign)):
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        names |= {target.id: statement.value for target in targets if isinstance(target, ast.Name)}
    return names


def _check_of(node: Any) -> tuple[Any, Any]:
    """Return exercise and answer if a node calls `check` or `wb.check`, or (None, None)."""
    if not isinstance(node, ast.Call):
        return None, None
    function = node.func
    name = getattr(function, "attr", getattr(function, "id", None))
    arguments = [*node.args, *(word.value for word in node.keywords if word.arg == "answer")]
    if name != "check" or len(arguments) != 2 or not isinstance(arguments[0], ast.Constant):
        return None, None
    return arguments[0].value, arguments[1]


def _literal(node: Any) -> Any:
    """Return the answer that a literal gives, or the error about another expression."""
    with contextlib.suppress(*UNREADABLE):
        return _checked(ast.literal_eval(node))
    return NotPlainError("the answer is computed in the cell; run the cell to record it")


def entries_of(answer: Any) -> list:
    """Return the entries of an answer, which is a list or a single entry."""
    return answer if isinstance(answer, list) else [answer]


def answer_text(answer: Any) -> str:
    """Return an answer as text, which still has to be escaped.

    Examples
    --------
    >>> answer_text([0.8803125, "buy"])
    "0.88031, 'buy'"
    """
    texts = [repr(e) if isinstance(e, str) else f"{e:.5g}" for e in entries_of(answer)]
    return checks.listed(texts, 20)
