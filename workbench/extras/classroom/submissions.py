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
_ASKED = re.compile(r"""\bcheck\(\s*["']([\d.]+)["']""")
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
    told, remarks, left = list[dict[str, str | None]](), [], MOST_STUDENT_BYTES
    found: dict[str, Any] = dict.fromkeys(graded())
    for name in lessons:  # one notebook at a time, to limit the memory
        try:
            for notebook in _notebook(folder / name, min(left, MOST_NOTEBOOK_BYTES)):
                left -= (folder / name).lstat().st_size
                told.append({key: _told(notebook, key) for key in ("course", "student")})
                for source in _code(notebook):
                    found |= _answers_in(source)
        except NotPlainError as error:
            remarks.append(str(error))
    try:
        answers = plain_entries(folder / ANSWERS, "answers by exercise")
        found |= {
            exercise: _plain(answers[exercise]) for exercise in graded() if exercise in answers
        }
    except NotPlainError as error:
        found = dict.fromkeys(graded(), error)
        remarks.append(str(error))
    courses, students = (
        list(filter(None, (each[key] for each in told))) for key in ("course", "student")
    )
    return Submission(
        found,
        next(iter(courses), None),
        tuple(sorted({student for student in students if not id_problem(student)})),
        (*remarks, *_passed_over(folder, lessons)),
    )


def course_of(folder: Path, lessons: list[str]) -> str | None:
    """Return the fingerprint of the secret in the first lesson that has one, or None."""
    for name in lessons:
        with contextlib.suppress(NotPlainError):  # a student's notebook may be anything
            courses = [_told(notebook, "course") for notebook in _notebook(folder / name)]
            if any(courses):
                return courses[0]
    return None


def unpacked(folder: Path) -> Path:
    """Return the folder with the answers, which packing tools may have put into another one."""
    for _ in range(DEEPEST):
        inside = (
            [path for path in folder.iterdir() if not HIDDEN.match(path.name)]
            if _readable(folder)
            else []
        )
        if len(inside) != 1 or not inside[0].is_dir() or inside[0].is_symlink():
            break
        folder = inside[0]
    return folder


def _readable(folder: Path) -> bool:
    return os.access(folder, os.R_OK | os.X_OK)


def _passed_over(folder: Path, lessons: list) -> Iterator[str]:
    """Yield remarks if the answers may be in a file that is ignored."""
    if not _readable(folder):
        yield "the folder cannot be read"
        return
    inside = {path.name for path in folder.iterdir() if not HIDDEN.match(path.name)} - {DATA}
    expected = {*lessons, ANSWERS, OWN_FILE, PREDICTIONS}
    others = [name[:LONGEST_ID] for name in sorted(inside - expected)]
    if ANSWERS not in inside:
        if others:
            yield f"no {ANSWERS}; ignored: {checks.listed(others, quoted=True)}"
        elif not inside & set(lessons):
            yield f"the folder has neither a lesson nor {ANSWERS}"


def plain_file(path: Path, most: int) -> bytes | None:
    """Return the bytes of a small regular file, or None if it does not exist."""
    try:
        details = path.lstat()
        if not stat.S_ISREG(details.st_mode):
            raise NotPlainError(f"{path.name} is not a regular file")
        if details.st_size > most:
            raise NotPlainError(f"{path.name} has {details.st_size:,} bytes; the limit is {most:,}")
        with open(path, "rb", opener=_opened) as file:
            return file.read(most)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise NotPlainError(f"{path.name} cannot be read: {error.strerror}") from error


def _opened(path: str, flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))


def _plain_json(path: Path, most: int) -> list:
    """Return the content of a small JSON file in a list, which is empty without a file."""
    content = plain_file(path, most)
    if content is not None and sum(map(content.count, (b",", b"{", b"["))) > MOST_PARTS:
        raise NotPlainError(f"{path.name} has more than {MOST_PARTS:,} parts")
    try:
        return [] if content is None else [json.loads(content)]
    except UNREADABLE as error:
        raise NotPlainError(f"{path.name} is not valid JSON") from error


def plain_entries(path: Path, what: str) -> dict:
    """Return the entries of a small JSON file by name, {} without a file."""
    (found,) = _plain_json(path, MOST_BYTES) or [{}]
    if not isinstance(found, dict):
        raise NotPlainError(f"{path.name} has no {what}")
    return found


def _plain(value: Any) -> Any:
    try:
        return plain_answer(value)
    except ValueError as error:
        return NotPlainError(str(error))


def _notebook(path: Path, most: int = MOST_NOTEBOOK_BYTES) -> list:
    """Return a notebook in a list, which is empty without a file."""
    found = _plain_json(path, most)
    if any(not isinstance(each, dict) or not isinstance(each.get("cells"), list) for each in found):
        raise NotPlainError(f"{path.name} is not a notebook")
    return found


def _told(notebook: Any, key: Any) -> str | None:
    try:
        told = notebook["metadata"]["workbench"][key]
    except UNREADABLE:
        return None
    return told if isinstance(told, str) else None


def _code(notebook: dict) -> Iterator[str]:
    """Yield the text of the code cells that call `check`."""
    for cell in notebook["cells"]:
        if isinstance(cell, dict) and cell.get("cell_type") == "code":
            lines = cell.get("source")
            text = "".join(
                part
                for part in (lines if isinstance(lines, list) else [lines])
                if isinstance(part, str)
            )
            if _ASKED.search(text[:MOST_SOURCE]):
                yield text


def _answers_in(source: Any) -> Any:
    """Return {exercise: answer or NotPlainError} from the calls of `check` in a cell.

    An answer is a literal, or a name to which the same cell assigns a literal.
    """
    asked = [exercise for exercise in _ASKED.findall(source[:MOST_SOURCE]) if exercise in graded()]
    if len(source) > MOST_SOURCE:
        return dict.fromkeys(
            asked, NotPlainError(f"the cell has more than {MOST_SOURCE:,} characters")
        )
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            statements = ast.parse(source).body
    except UNREADABLE:
        return dict.fromkeys(asked, NotPlainError("the cell is not valid Python"))
    names: dict[str, ast.expr | None] = {}
    found = {}
    for statement in statements:
        names |= _bound(statement)
        for exercise, argument in filter(None, map(_check_of, ast.walk(statement))):
            found[exercise] = _literal(
                names.get(argument.id) if isinstance(argument, ast.Name) else argument
            )
    without = NotPlainError("the cell does not call check with an answer")
    return {exercise: found.get(exercise, without) for exercise in asked}


def _bound(statement: Any) -> dict:
    """Return {name: expression} of a statement, with None if the value is computed."""
    mentioned = (node for node in ast.walk(statement) if isinstance(node, ast.Name))
    names: dict[str, ast.expr | None] = {
        node.id: None for node in mentioned if not isinstance(node.ctx, ast.Load)
    }
    if isinstance(statement, (ast.Assign, ast.AnnAssign)):
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        names |= {target.id: statement.value for target in targets if isinstance(target, ast.Name)}
    return names


def _check_of(node: Any) -> tuple | None:
    """Return exercise and answer if a node calls `check` or `wb.check`, or None."""
    if not isinstance(node, ast.Call):
        return None
    name = (
        node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", None)
    )
    given = [*node.args, *(word.value for word in node.keywords if word.arg == "answer")]
    if name != "check" or len(given) != 2 or not isinstance(given[0], ast.Constant):
        return None
    return (given[0].value, given[1]) if given[0].value in graded() else None


def _literal(node: Any) -> Any:
    with contextlib.suppress(*UNREADABLE):
        return _plain(ast.literal_eval(node))
    return NotPlainError("the answer is computed in the cell; run the cell to record it")


def shown(answer: Any) -> str:
    """Return an answer as text, which still has to be escaped.

    Examples
    --------
    >>> shown([0.8803125, "buy"]), shown(None)
    ("0.88031, 'buy'", '')
    """
    if answer is None or isinstance(answer, NotPlainError):
        return ""
    entries = answer if isinstance(answer, list) else [answer]
    return checks.listed(
        (repr(each) if isinstance(each, str) else f"{each:.5g}" for each in entries), 20
    )
