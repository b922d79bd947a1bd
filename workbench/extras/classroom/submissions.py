"""What a student handed in, read as data: nothing of a student's is ever run."""

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
MOST_PARTS = 2_000_000  # of a JSON text; each takes some sixty bytes of memory
MOST_SOURCE = 20_000
_ASKED = re.compile(r"""\bcheck\(\s*["']([\d.]+)["']""")
# what parsing hostile text may raise
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
    """What was handed in is no plain answer; the text says why."""


@dataclass(frozen=True)
class Submission:
    """Answers of one student.

    Attributes
    ----------
    answers : dict
        Exercise -> a plain answer, None, or a `NotPlainError`.
    course : str or None
        The fingerprint of the secret that the lessons say they were made with.
    students : tuple of str
        The ids for whom the lessons say they were made.
    remarks : tuple of str
        What could not be read or was not looked at, and why.
    """

    answers: dict[str, Any]
    course: str | None
    students: tuple[str, ...]
    remarks: tuple[str, ...]


def read_submission(folder: Path, lessons: list[str]) -> Submission:
    """Return what a student's folder answers: the file of answers first, the notebooks where it has no entry.

    Parameters
    ----------
    folder : Path
    lessons : list of str
        File names of the notebooks that were handed out; no other is looked at.
    """
    told, remarks, left = list[dict[str, str | None]](), [], MOST_STUDENT_BYTES
    found: dict[str, Any] = dict.fromkeys(graded())
    for (
        name
    ) in lessons:  # one notebook at a time: a class is read in the room that its largest one takes
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
    """Return the fingerprint that the first lesson tells of the secret it was made with, or None."""
    for name in lessons:
        with contextlib.suppress(NotPlainError):  # a student's notebook may be anything
            courses = [_told(notebook, "course") for notebook in _notebook(folder / name)]
            if any(courses):
                return courses[0]
    return None


def unpacked(folder: Path) -> Path:
    """Return the folder that holds what was handed in: many tools pack or unpack a folder into another one."""
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
    """Yield what the lecturer should know where a student's answers may lie in a file that is not looked at."""
    if not _readable(folder):
        yield "the folder cannot be read"
        return
    inside = {path.name for path in folder.iterdir() if not HIDDEN.match(path.name)} - {DATA}
    expected = {*lessons, ANSWERS, OWN_FILE, PREDICTIONS}
    others = [name[:LONGEST_ID] for name in sorted(inside - expected)]
    if ANSWERS not in inside:
        if others:
            yield f"no {ANSWERS}, and not looked at: {checks.listed(others, quoted=True)}"
        elif not inside & set(lessons):
            yield f"neither a lesson nor {ANSWERS} in the folder"


def plain_file(path: Path, most: int) -> bytes | None:
    """Return a regular file's bytes, or None where there is none; `NotPlainError` where it is no small plain file."""
    try:
        details = path.lstat()
        if not stat.S_ISREG(details.st_mode):
            raise NotPlainError(f"{path.name} is no regular file")
        if details.st_size > most:
            raise NotPlainError(
                f"{path.name} has {details.st_size:,} bytes; at most {most:,} are read"
            )
        with open(path, "rb", opener=_opened) as file:
            return file.read(most)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise NotPlainError(f"{path.name} cannot be read: {error.strerror}") from error


def _opened(path: str, flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))


def _plain_json(path: Path, most: int) -> list:
    """Return what a small plain JSON file holds, in a list that is empty where there is none, or `NotPlainError`."""
    content = plain_file(path, most)
    if content is not None and sum(map(content.count, (b",", b"{", b"["))) > MOST_PARTS:
        raise NotPlainError(f"{path.name} has more than {MOST_PARTS:,} parts")
    try:
        return [] if content is None else [json.loads(content)]
    except UNREADABLE as error:
        raise NotPlainError(f"{path.name} is damaged: it is no JSON text") from error


def plain_entries(path: Path, what: str) -> dict:
    """Return what a small plain JSON file holds by name, {} where there is none, or `NotPlainError`."""
    (found,) = _plain_json(path, MOST_BYTES) or [{}]
    if not isinstance(found, dict):
        raise NotPlainError(f"{path.name} holds no {what}")
    return found


def _plain(value: Any) -> Any:
    try:
        return plain_answer(value)
    except ValueError as error:
        return NotPlainError(str(error))


def _notebook(path: Path, most: int = MOST_NOTEBOOK_BYTES) -> list:
    """Return a notebook in a list, which stays empty where there is none."""
    found = _plain_json(path, most)
    if any(not isinstance(each, dict) or not isinstance(each.get("cells"), list) for each in found):
        raise NotPlainError(f"{path.name} is no notebook")
    return found


def _told(notebook: Any, key: Any) -> str | None:
    try:
        told = notebook["metadata"]["workbench"][key]
    except UNREADABLE:
        return None
    return told if isinstance(told, str) else None


def _code(notebook: dict) -> Iterator[str]:
    """Yield the text of the code cells that ask for a check."""
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
    """Return {exercise: answer or NotPlainError} of the calls of `check` in a cell.

    An argument is a literal, or a name to which the same cell assigns one.
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
        return dict.fromkeys(asked, NotPlainError("the cell is no Python text"))
    names: dict[str, ast.expr | None] = {}
    found = {}
    for statement in statements:
        names |= _bound(statement)
        for exercise, argument in filter(None, map(_check_of, ast.walk(statement))):
            found[exercise] = _literal(
                names.get(argument.id) if isinstance(argument, ast.Name) else argument
            )
    without = NotPlainError("the cell calls no check with an answer")
    return {exercise: found.get(exercise, without) for exercise in asked}


def _bound(statement: Any) -> dict:
    """Return {name: expression} of what a statement binds, None for what only running it would tell."""
    mentioned = (node for node in ast.walk(statement) if isinstance(node, ast.Name))
    names: dict[str, ast.expr | None] = {
        node.id: None for node in mentioned if not isinstance(node.ctx, ast.Load)
    }
    if isinstance(statement, (ast.Assign, ast.AnnAssign)):
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        names |= {target.id: statement.value for target in targets if isinstance(target, ast.Name)}
    return names


def _check_of(node: Any) -> tuple | None:
    """Return exercise and answer's expression where a node calls `check` or `wb.check`, else None."""
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
    return NotPlainError(
        "the answer is computed in the cell, not written there; running the cell records it"
    )


def shown(answer: Any) -> str:
    """Return an answer as text for people, which still has to be escaped.

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
