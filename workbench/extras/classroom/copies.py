"""Students' copies of the lessons, with individual graded exercises and without solutions."""

import copy
import json
import re
import shutil
import tempfile
from collections.abc import Iterable
from pathlib import Path

from workbench import checks
from workbench.data.whole_files import StrPath
from workbench.extras.classroom.seeds import fingerprint
from workbench.extras.classroom.submissions import ANSWERS, course_of
from workbench.extras.classroom.variants import graded, question_of, task_of
from workbench.lessons import own_exercises
from workbench.lessons.checking import OWN, OWN_FILE
from workbench.reports.pages import source
from workbench.reports.parameters import (
    ReportError,
    copy_data,
    load_notebook,
    notebooks_folder,
    refusing,
)

HANDED_IN = f"""

*Graded exercises have your own numbers. `wb.check` records your answer in `{ANSWERS}` next to this
notebook, and does not show whether it is correct. Run the cell again to replace an answer.
Hand in the whole folder.*"""
START = "00-start.ipynb"
BINDER = re.compile(
    r"""https?://[^\s/"'<>()\[\]\\]+/([^\s"'<>()\[\]\\?#]+/)?v2/\w+/[^\s"'<>()\[\]\\]+"""
)
_ADDING = re.compile(r"(?m)^[^#\n]*\bwb\.exercise\(")
_TEXT = re.compile(r"""(["'])([^"'\n]{1,200})\1""")
_CALL = re.compile(r'wb\.check\("([\d.]+)", answer\)')


def lessons(folder: StrPath | None = None) -> dict[str, dict]:
    """Return {file name: notebook} of the lessons, before the graded exercises are filled in.

    Parameters
    ----------
    folder : path, optional
        Folder of a lecturer's own lessons. The default is the lessons of the workbench.

    Raises
    ------
    ReportError
        If there is no notebook, or one has the answer to an exercise.
    """
    home = notebooks_folder() if folder is None else Path(folder)
    notebooks = {name: load_notebook(home / name) for name in lesson_names(home)}
    if not notebooks:
        raise ReportError(
            f"{str(home)!r} has no notebooks; create the folder with: workbench lab DIR --copy-only"
        )
    for name, notebook in notebooks.items():
        for cell in _code_cells(notebook):
            cell |= {"outputs": [], "execution_count": None}
            if _ADDING.search(source(cell)):
                raise ReportError(
                    f"{name} adds an exercise in a cell, so students could read its answer; "
                    f"move wb.exercise(...) to {OWN_FILE} in the same folder"
                )
    return notebooks


def lesson_names(folder: Path | None = None) -> list[str]:
    """Return the file names of the lessons."""
    return sorted(path.name for path in (folder or notebooks_folder()).glob("*.ipynb"))


def _code_cells(notebook: dict) -> list[dict]:
    """Return the code cells of a notebook."""
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def student_lesson(notebook: dict, secret: bytes, student: str) -> dict:
    """Return a lesson with a student's variant of each graded exercise.

    Parameters
    ----------
    notebook : dict
        Notebook from `lessons`.
    secret : bytes
        Secret of the course.
    student : str
        Id of the student.
    """
    notebook = copy.deepcopy(notebook)
    about = notebook["metadata"].setdefault("workbench", {})
    about.update(course=fingerprint(secret), student=student)
    for cell in notebook["cells"]:
        text = source(cell)
        if cell["cell_type"] == "code":
            text = _CALL.sub(_recording, text)
        elif "exercise" in cell["metadata"].get("tags", []):
            text = _with_question(text, secret, student)
        else:
            continue
        cell["source"] = text.splitlines(keepends=True)
    return notebook


def _with_question(text: str, secret: bytes, student: str) -> str:
    """Return the text of an exercise with the student's data and how to hand in answers."""
    title = re.search(r"(?m)^\*\*([\d.]+)\*\*", text)
    if title and title[1] in graded():
        question = question_of(title[1], task_of(secret, student, title[1]))
        text = f"{text[: title.start()]}{title[0]} *(graded)* {question}"
    line = re.search(r"(?m)^[^\n]*`wb\.check\(number, answer\)`[^\n]*", text)
    return text[: line.end()] + HANDED_IN + text[line.end() :] if line else text


def _recording(call: re.Match) -> str:
    """Return the call of `check` for a graded exercise, which records the answer."""
    return f'{call[0][:-1]}, record="{ANSWERS}")' if call[1] in graded() else call[0]


def with_link(notebook: dict, binder: str) -> dict:
    """Return a start page with a link to the course on Binder below its heading.

    The link is text, because Binder's badge would be loaded from another host.

    Parameters
    ----------
    notebook : dict
        The start page.
    binder : str
        Binder address of the course's repository.

    Examples
    --------
    >>> page = with_link({"cells": [{"id": "title"}]}, "https://mybinder.org/v2/gh/me/c/HEAD")
    >>> page["cells"][1]["source"]
    ['[Open this course on Binder](https://mybinder.org/v2/gh/me/c/HEAD) without installing it.']
    """
    link = {
        "cell_type": "markdown",
        "id": "binder",
        "metadata": {},
        "source": [f"[Open this course on Binder]({binder}) without installing it."],
    }
    return notebook | {"cells": [*notebook["cells"][:1], link, *notebook["cells"][1:]]}


def check_binder(binder: str, notebooks: dict[str, dict], home: StrPath | None = None) -> None:
    """Raise ReportError if the start page cannot have a link to this Binder address.

    Parameters
    ----------
    binder : str
        Binder address of the course's repository.
    notebooks : dict
        Notebooks from `lessons`.
    home : path, optional
        Folder of a lecturer's own lessons.
    """
    if START not in notebooks:
        raise ReportError(
            f"--binder adds a link to {START}, but {str(home)!r} has no such notebook"
        )
    if not BINDER.fullmatch(binder):
        raise ReportError(
            "--binder must be the Binder address of your repository, such as "
            f"https://mybinder.org/v2/gh/OWNER/REPOSITORY/HEAD; got {binder!r}"
        )


def write_copies(
    students: list[str],
    secret: bytes,
    folder: StrPath,
    *,
    binder: str | None = None,
    home: StrPath | None = None,
) -> tuple[list[str], list[str]]:
    """Write one folder per student.

    A folder is written completely or not at all. Existing folders are never changed, because they
    may have answers.

    Parameters
    ----------
    students : list of str
        Ids that `workbench.extras.classroom.students` accepts.
    secret : bytes
        Secret of the course.
    folder : path
        Folder to write, created if it does not exist.
    binder : str, optional
        Binder address of the course's repository, for a link on the start page.
    home : path, optional
        Folder of a lecturer's own lessons. Students get its notebooks, the files that these name,
        and the questions of its exercises. The default is the lessons of the workbench.

    Returns
    -------
    written : list of str
        Ids of students whose folder was written.
    existing : list of str
        Ids of students whose folder existed.

    Raises
    ------
    ReportError
        If a folder of these students was made with another secret, or the folder cannot be written.
    """
    folder, sources = Path(folder), lessons(home)
    extra = _extra_files(home, sources.values())
    if extra:
        names = sorted({Path(path).parts[0] for path in extra})
        for notebook in sources.values():
            about = notebook["metadata"].setdefault("workbench", {})
            about["files"] = "\n".join(names)  # for grading, which does not know `home`
    if binder is not None:
        check_binder(binder, sources, home)
        sources[START] = with_link(sources[START], binder)
    with refusing(f"cannot write to {str(folder)!r}"):
        folder.mkdir(parents=True, exist_ok=True)
        existing = {path.name.lower() for path in folder.iterdir()}
        old = [student for student in students if student.lower() in existing]
        new = [student for student in students if student.lower() not in existing]
        strangers = []
        for student in old:
            if course_of(folder / student, lesson_names()) not in (None, fingerprint(secret)):
                strangers.append(student)
        if strangers:
            raise ReportError(
                f"{str(folder)!r} has folders that were made with another secret: "
                f"{checks.listed(strangers)}"
            )
        for student in new:
            _write_copy(folder, student, secret, sources, extra)
    return new, old


def _extra_files(home: StrPath | None, notebooks: Iterable[dict]) -> dict[str, bytes]:
    """Return {path: content} of further files: data that code cells name, and questions."""
    files = {}
    if home is not None:
        folder = Path(home).resolve()
        texts = set()
        for notebook in notebooks:
            for cell in _code_cells(notebook):
                texts |= {text for _, text in _TEXT.findall(source(cell))}
        for path in {(folder / text).resolve() for text in texts}:
            if path.is_file() and folder in path.parents and path.suffix not in (".py", ".ipynb"):
                files[path.relative_to(folder).as_posix()] = path.read_bytes()
    if OWN:
        files[OWN_FILE] = own_exercises.students_file().encode()
    return files


def _write_copy(folder: Path, student: str, secret: bytes, sources: dict, extra: dict) -> None:
    """Write the folder of a student, in a draft that is moved when it is complete."""
    with tempfile.TemporaryDirectory(prefix=".course-", dir=folder) as draft:
        copied = Path(draft) / student
        copied.mkdir()
        copy_data(copied)
        for name, notebook in sources.items():
            lesson = student_lesson(notebook, secret, student)
            text = json.dumps(lesson, indent=1, ensure_ascii=False)
            (copied / name).write_text(text + "\n", encoding="utf-8")
        for name, content in extra.items():
            (copied / name).parent.mkdir(parents=True, exist_ok=True)
            (copied / name).write_bytes(content)
        shutil.move(copied, folder / student)
