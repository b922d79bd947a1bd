"""Grades of a class: points, the misconception behind each incorrect answer, likely copies.

`grade` is the function to start from, and `Grades` its result.
"""

import functools
import os
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from workbench import checks
from workbench.course.learners import id_problem
from workbench.extras.classroom.copies import lesson_names
from workbench.extras.classroom.keys import key_of
from workbench.extras.classroom.likely_copies import LikelyCopy, likely_copies
from workbench.extras.classroom.misconceptions import SCENES
from workbench.extras.classroom.seeds import fingerprint
from workbench.extras.classroom.submissions import (
    HIDDEN,
    NotPlainError,
    Submission,
    read_submission,
    shown,
    unpacked,
)
from workbench.extras.classroom.variants import graded, task_of
from workbench.extras.classroom.weights import all_weights
from workbench.lessons.checking import is_right, judged
from workbench.reports.parameters import ReportError, refusing

NOT_PLAIN = "not a plain answer"
PACKED = (".zip", ".7z", ".rar", ".tar", ".gz", ".tgz")
OTHERS = "somebody else's"
VERDICTS = ("correct", "mistake", "not yet", OTHERS, NOT_PLAIN, "no answer")
FAR = 0.1  # distance from the correct answer that exceeds every tolerance


@dataclass(frozen=True)
class Mark:
    """The grade of one answer.

    Attributes
    ----------
    exercise : str
        Number of the exercise.
    verdict : {"correct", "mistake", "not yet", "somebody else's", "not a plain answer", "no answer"}
        The verdict.
    message : str
        Explanation of the verdict.
    misconception : str
        Name of the misconception behind a mistake, or ''.
    answer : str
        The student's answer as text.
    points : float
        The points.
    parts : tuple of str
        The correct parts of an answer that is not completely correct.
    """

    exercise: str
    verdict: str
    message: str = ""
    misconception: str = ""
    answer: str = ""
    points: float = 0
    parts: tuple[str, ...] = ()

    @property
    def told(self) -> str:
        """Return the misconception or the verdict, and the correct parts."""
        right = f" (correct: {checks.listed(self.parts)})" if self.parts else ""
        return (self.misconception or self.verdict) + right

    @property
    def scene(self) -> str:
        """Return the scene of the lesson to repeat, or ''."""
        return SCENES.get((self.exercise, self.misconception), "")


@dataclass(frozen=True)
class Graded:
    """A student's marks, one per graded exercise.

    Attributes
    ----------
    student : str
        Id of the student.
    marks : tuple of Mark
        The marks.
    remarks : tuple of str
        Remarks about the folder for lecturer and student.
    answers : dict
        Exercise -> plain answer, None or `NotPlainError`.
    maximum : float
        Largest possible number of points.
    about_others : tuple of str
        Remarks that name other students, only for the lecturer.
    """

    student: str
    marks: tuple[Mark, ...]
    remarks: tuple[str, ...]
    answers: dict
    maximum: float = 0
    about_others: tuple[str, ...] = ()

    @property
    def points(self) -> float:
        """Return the points of all marks."""
        return _sum(mark.points for mark in self.marks)

    def told(self) -> str:
        """Return the result of each answer in one line."""
        return "; ".join(f"{mark.exercise} {mark.told}" for mark in self.marks)


@dataclass(frozen=True)
class Grades:
    """The grades of a class.

    Attributes
    ----------
    students : tuple of Graded
        The students.
    left_out : tuple of str
        Folders that were not graded, with the reason.
    copies : tuple of LikelyCopy
        Likely copies.
    """

    students: tuple[Graded, ...]
    left_out: tuple[str, ...]
    copies: tuple[LikelyCopy, ...] = ()

    def traps(self) -> list[tuple[str, str, int]]:
        """Return exercise, misconception and number of students, the most frequent first."""
        found = Counter(
            (mark.exercise, mark.misconception)
            for student in self.students
            for mark in student.marks
            if mark.misconception
        )
        return [
            (*key, count)
            for key, count in sorted(found.items(), key=lambda each: (-each[1], each[0]))
        ]

    def verdicts(self, exercise: str) -> list[int]:
        """Return the number of students per verdict, in the order of `VERDICTS`."""
        found = Counter(
            mark.verdict
            for student in self.students
            for mark in student.marks
            if mark.exercise == exercise
        )
        return [found[verdict] for verdict in VERDICTS]


def grade(
    folder: str | os.PathLike,
    secret: bytes,
    students: list[str] | None = None,
    weights: dict[str, dict[str, float]] | None = None,
) -> Grades:
    """Grade the folders of a class, without running any code in them.

    Parameters
    ----------
    folder : path
        Folder with one folder per student, named by the id.
    secret : bytes
        Secret of the course.
    students : list of str, optional
        Students to grade, in this order. The default is all students with a folder, sorted.
    weights : dict, optional
        Exercise -> part -> points.

    Returns
    -------
    Grades
        The grades.

    Raises
    ------
    ReportError
        If the folder cannot be read, has no student's folder, or was made with another secret.
    """
    found, left_out = _folders(Path(folder))
    if students is not None:
        left_out += [
            f"{name!r} is not among the students" for name in sorted(set(found) - set(students))
        ]
    nothing = Submission(dict.fromkeys(graded()), None, (), ("nothing handed in",))
    submissions = {
        student: read_submission(found[student], lesson_names()) if student in found else nothing
        for student in (sorted(found) if students is None else students)
    }
    courses = {submission.course for submission in submissions.values() if submission.course}
    if courses and fingerprint(secret) not in courses:
        raise ReportError(f"the lessons in {str(folder)!r} were made with another secret")
    points = all_weights() if weights is None else weights
    marked = [
        _graded(student, submission, secret, points) for student, submission in submissions.items()
    ]
    copies = _copies(marked, secret)
    return Grades(
        tuple(_without_copies(student, copies) for student in marked),
        tuple(left_out),
        tuple(copies),
    )


def student_folders(folder: str | os.PathLike) -> dict[str, Path]:
    """Return the folder of each student of a class by id."""
    return _folders(Path(folder))[0]


def _folders(folder: Path) -> tuple:
    """Return {id: folder}, and the problems of other folders and of packed files."""
    with refusing(f"cannot read the folder {str(folder)!r}"):
        inside = sorted(folder.iterdir())
    found, left_out = {}, []
    for path in inside:
        if HIDDEN.match(path.name):
            continue
        if not path.is_dir():
            left_out += (
                [f"{path.name!r} is a packed file; unpack it"]
                if path.suffix.lower() in PACKED
                else []
            )
        elif problem := "is a link" if path.is_symlink() else id_problem(path.name):
            left_out.append(f"{path.name!r} {problem}")
        else:
            found[path.name] = unpacked(path)
    if not found:
        raise ReportError(
            f"{str(folder)!r} has no student's folder"
            + (f"; left out: {checks.listed(left_out)}" if left_out else "")
        )
    return found, left_out


def _graded(student: str, submission: Submission, secret: bytes, weights: dict) -> Graded:
    remarks, about, answers = [*submission.remarks], [], submission.answers
    if submission.course not in (None, fingerprint(secret)):
        remarks.append("the lessons are not those of this course")
    if others := [other for other in submission.students if other != student]:
        about.append(f"the lessons were made for {checks.listed(others, quoted=True)}")
    marks = tuple(
        _mark(exercise, answers[exercise], task_of(secret, student, exercise), weights[exercise])
        for exercise in graded()
    )
    return Graded(
        student,
        marks,
        tuple(remarks),
        answers,
        _sum(sum(parts.values()) for parts in weights.values()),
        tuple(about),
    )


def _sum(points: Iterator[float]) -> float:
    return round(sum(points), 6)


def _mark(exercise: str, answer: Any, task: dict, weights: dict[str, float]) -> Mark:
    if answer is None:
        return Mark(exercise, "no answer")
    if isinstance(answer, NotPlainError):
        return Mark(exercise, NOT_PLAIN, str(answer))
    verdict, message, misconception = judged(exercise, answer, **task)
    right = (
        tuple(weights)
        if verdict == "correct"
        else tuple(_right_parts(exercise, answer, task, tuple(weights)))
    )
    return Mark(
        exercise,
        verdict,
        message,
        misconception,
        shown(answer),
        _sum(weights[part] for part in right),
        () if verdict == "correct" else right,
    )


def _right_parts(exercise: str, answer: Any, task: dict, parts: tuple[str, ...]) -> Iterator[str]:
    """Yield the correct parts; the answer is correct if all other parts are replaced."""
    entries = answer if isinstance(answer, list) else [answer]
    if len(entries) != len(parts) or len(parts) == 1:
        return
    right = key_of(exercise, task)
    for place, part in enumerate(parts):
        mixed = [*right[:place], entries[place], *right[place + 1 :]]
        if is_right(exercise, mixed, **task):
            yield part


def _copies(marked: list[Graded], secret: bytes) -> list[LikelyCopy]:
    answers = {student.student: student.answers for student in marked}
    right_for = _right_for(secret)
    return [
        copy
        for student in marked
        for copy in likely_copies(
            student.student,
            answers,
            [mark.exercise for mark in student.marks if mark.verdict in ("mistake", "not yet")],
            right_for,
        )
    ]


def _right_for(secret: bytes) -> Callable[[str, Any, str], bool]:
    """Return a function that checks whether an answer is correct for a student.

    It compares with the key first, because this is faster than the judge of the exercise.
    """

    @functools.cache
    def right(exercise: str, student: str) -> list:
        return key_of(exercise, task_of(secret, student, exercise))

    def right_for(exercise: str, answer: Any, student: str) -> bool:
        entries = answer if isinstance(answer, list) else [answer]
        return _near(entries, right(exercise, student)) and is_right(
            exercise, answer, **task_of(secret, student, exercise)
        )

    return right_for


def _near(entries: list, right: list) -> bool:
    """Return whether an answer is near the key: within 1 for whole numbers, or about a tenth."""
    return len(entries) == len(right) and all(
        isinstance(entry, type(wanted))
        if isinstance(wanted, str)
        else not isinstance(entry, str)
        and abs(entry - wanted) <= max(isinstance(wanted, int), FAR * abs(wanted) + FAR**2)
        for entry, wanted in zip(entries, right, strict=True)
    )


def _without_copies(student: Graded, copies: list[LikelyCopy]) -> Graded:
    """Return the student without points for copied answers; only the lecturer sees the source."""
    mine = [copy for copy in copies if copy.student == student.student]
    copied = {exercise for copy in mine for exercise in copy.exercises}
    marks = (
        Mark(mark.exercise, OTHERS, "correct for numbers that are not yours", answer=mark.answer)
        if mark.exercise in copied
        else mark
        for mark in student.marks
    )
    about = (
        f"correct for {copy.source!r}: {checks.listed(copy.exercises, len(graded()))}"
        for copy in mine
    )
    return replace(student, marks=tuple(marks), about_others=(*student.about_others, *about))


def summary(grades: Grades) -> str:
    """Return the class in one line.

    Examples
    --------
    >>> summary(Grades((), ()))
    'Graded 0 students in 10 exercises'
    """
    exercises = checks.counted(len(graded()), "exercise")
    said = f"Graded {checks.counted(len(grades.students), 'student')} in {exercises}"
    if not grades.students:
        return said
    mean = sum(student.points for student in grades.students) / len(grades.students)
    remarked = [
        student.student for student in grades.students if student.remarks or student.about_others
    ]
    return f"{said}, {mean:.1f} of {grades.students[0].maximum:g} points on average" + (
        f"; remarks on {checks.listed(remarked)}" if remarked else ""
    )
