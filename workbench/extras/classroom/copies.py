"""Students' copies of the lessons: graded exercises with data of their own, no solution, no output."""

import copy
import json
import os
import re
import shutil
import tempfile
from pathlib import Path

from workbench import checks
from workbench.extras.classroom.seeds import fingerprint
from workbench.extras.classroom.submissions import ANSWERS, course_of
from workbench.extras.classroom.variants import VARIANTS, task_of
from workbench.reports.pages import source
from workbench.reports.parameters import (
    ReportError,
    copy_data,
    load_notebook,
    notebooks_folder,
    refusing,
)

HANDED_IN = f"""

*Graded exercises have numbers of your own: `wb.check` records your answer in `{ANSWERS}` beside this notebook and does
not say whether it is right. Run the cell again to replace an answer. Hand in the whole folder.*"""
START = "00-start.ipynb"
BINDER = re.compile(
    r"""https?://[^\s/"'<>()\[\]\\]+/([^\s"'<>()\[\]\\?#]+/)?v2/\w+/[^\s"'<>()\[\]\\]+"""
)
_CALL = re.compile(r'wb\.check\("([\d.]+)", answer\)')


def lessons() -> dict[str, dict]:
    """Return {file name: notebook} of the lessons as students get them, their graded exercises not yet drawn."""
    return {name: _bare(load_notebook(notebooks_folder() / name)) for name in lesson_names()}


def lesson_names() -> list[str]:
    """Return the file names of the lessons."""
    return sorted(path.name for path in notebooks_folder().glob("*.ipynb"))


def _bare(notebook: dict) -> dict:
    """Return a notebook without outputs; solutions have notebooks of their own."""
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            cell |= {"outputs": [], "execution_count": None}
    return notebook


def student_lesson(notebook: dict, secret: bytes, student: str) -> dict:
    """Return a lesson with a student's variant of each graded exercise.

    Parameters
    ----------
    notebook : dict
        From `lessons`.
    secret : bytes
    student : str
    """
    notebook = copy.deepcopy(notebook)
    notebook["metadata"].setdefault("workbench", {}).update(
        course=fingerprint(secret), student=student
    )
    for cell in notebook["cells"]:
        if "exercise" in cell["metadata"].get("tags", []):
            written = _asked if cell["cell_type"] == "markdown" else _recording
            cell["source"] = written(source(cell), secret, student).splitlines(keepends=True)
    return notebook


def _asked(text: str, secret: bytes, student: str) -> str:
    """Return an exercise's text with the student's data, and how answers are handed in."""
    number = re.search(r"(?m)^\*\*([\d.]+)\*\*", text)
    if number and number[1] in VARIANTS:
        asked = VARIANTS[number[1]].ask(task_of(secret, student, number[1]))
        text = f"{text[: number.start()]}**{number[1]}** *(graded)* {asked}"
    return re.sub(
        r"(?m)^[^\n]*`wb\.check\(number, answer\)`[^\n]*",
        lambda told: told[0] + HANDED_IN,
        text,
        count=1,
    )


def _recording(text: str, secret: bytes, student: str) -> str:
    return _CALL.sub(
        lambda call: (
            f'wb.check("{call[1]}", answer, record="{ANSWERS}")' if call[1] in VARIANTS else call[0]
        ),
        text,
    )


def with_link(notebook: dict, binder: str) -> dict:
    """Return a start page with a link to the course on Binder below its heading.

    The link is text: Binder's badge would be asked of another host.

    Parameters
    ----------
    notebook : dict
    binder : str
        The address at which a Binder starts the course's repository.

    Examples
    --------
    >>> page = with_link({"cells": [{"id": "title"}]}, "https://mybinder.org/v2/gh/me/course/HEAD")
    >>> page["cells"][1]["source"]
    ['[Open this course on Binder](https://mybinder.org/v2/gh/me/course/HEAD), where nothing is installed.']
    """
    if not BINDER.fullmatch(binder):
        raise ReportError(
            "--binder must be the address at which a Binder starts your repository, such as "
            f"https://mybinder.org/v2/gh/OWNER/REPOSITORY/HEAD; got {binder!r}"
        )
    link = {
        "cell_type": "markdown",
        "id": "binder",
        "metadata": {},
        "source": [f"[Open this course on Binder]({binder}), where nothing is installed."],
    }
    return notebook | {"cells": [*notebook["cells"][:1], link, *notebook["cells"][1:]]}


def write_copies(
    students: list[str], secret: bytes, folder: str | os.PathLike, *, binder: str | None = None
) -> tuple[list[str], list[str]]:
    """Write one folder per student; return the ids whose folder was written and those whose folder was there.

    A folder appears whole or not at all, and one that is there is never touched: it may hold answers.

    Parameters
    ----------
    students : list of str
        Ids that `workbench.extras.classroom.students` accepts.
    secret : bytes
    folder : path
        Made where it is missing.
    binder : str, optional
        The address at which a Binder starts the course's repository; the start page links to it.

    Raises
    ------
    ReportError
        If a folder of these students was made with another secret, or the folder cannot be written.
    """
    folder, sources = Path(folder), lessons()
    if binder is not None:
        sources[START] = with_link(sources[START], binder)
    with refusing(f"cannot write to {str(folder)!r}"):
        folder.mkdir(parents=True, exist_ok=True)
        there = {path.name.lower() for path in folder.iterdir()}
        kept = [student for student in students if student.lower() in there]
        _check_secret(folder, kept, secret)
        written = [student for student in students if student.lower() not in there]
        for student in written:
            _write_copy(folder, student, secret, sources)
    return written, kept


def _check_secret(folder: Path, students: list, secret: bytes) -> None:
    names = lesson_names()
    others = [
        student
        for student in students
        if course_of(folder / student, names) not in (None, fingerprint(secret))
    ]
    if others:
        raise ReportError(
            f"{str(folder)!r} holds folders that were made with another secret: {checks.listed(others)}"
        )


def _write_copy(folder: Path, student: str, secret: bytes, sources: dict) -> None:
    with tempfile.TemporaryDirectory(prefix=".course-", dir=folder) as draft:
        copied = Path(draft) / student
        copied.mkdir()
        copy_data(copied)
        for name, notebook in sources.items():
            text = json.dumps(
                student_lesson(notebook, secret, student), indent=1, ensure_ascii=False
            )
            (copied / name).write_text(text + "\n", encoding="utf-8")
        shutil.move(copied, folder / student)
