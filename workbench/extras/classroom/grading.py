"""Grades of a class: points, the misconception behind each incorrect answer, likely copies.

`grade` is the function to start from, and `Grades` its result.
"""

import functools
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from workbench import checks
from workbench.course.learners import id_problem
from workbench.data.whole_files import StrPath
from workbench.extras.classroom.copies import lesson_names
from workbench.extras.classroom.keys import key_of
from workbench.extras.classroom.likely_copies import LikelyCopy, likely_copies
from workbench.extras.classroom.misconceptions import SCENES
from workbench.extras.classroom.seeds import fingerprint
from workbench.extras.classroom.submissions import (
    HIDDEN,
    NotPlainError,
    Submission,
    answer_text,
    entries_of,
    read_submission,
    unpacked,
)
from workbench.extras.classroom.variants import graded, task_of
from workbench.extras.classroom.weights import Weights, all_weights
from workbench.lessons.checking import is_right, judged
from workbench.reports.parameters import ReportError, refusing

NOT_PLAIN = "not a plain answer"
PACKED = (".zip", ".7z", ".rar", ".tar", ".gz", ".tgz")
OTHERS = "somebody else's"
VERDICTS = ("correct", "mistake", "not yet", OTHERS, NOT_PLAIN, "no answer")
FAR = 0.1  # distance from the correct answer that exceeds every tolerance


@dataclass(frozen=True)
class Assessment:
    """The grade of one answer.

    Attributes
    ----------
    exercise : str
        Number of the exercise.
    verdict : str
        The verdict, one of `VERDICTS`.
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
    def feedback(self) -> str:
        """Return the misconception or the verdict, and the correct parts."""
        correct = f" (correct: {checks.listed(self.parts)})" if self.parts else ""
        return (self.misconception or self.verdict) + correct

    @property
    def scene(self) -> str:
        """Return the scene of the lesson to repeat, or ''."""
        return SCENES.get((self.exercise, self.misconception), "")


@dataclass(frozen=True)
class Graded:
    """A student's assessments, one per graded exercise.

    Attributes
    ----------
    student : str
        Id of the student.
    assessments : tuple of Assessment
        The assessments.
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
    assessments: tuple[Assessment, ...]
    remarks: tuple[str, ...]
    answers: dict
    maximum: float = 0
    about_others: tuple[str, ...] = ()

    @property
    def points(self) -> float:
        """Return the points of all answers."""
        return _sum(assessment.points for assessment in self.assessments)


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


def grade(
    folder: StrPath,
    secret: bytes,
    students: list[str] | None = None,
    weights: Weights | None = None,
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
    folders, left_out = student_folders(folder)
    if students is None:
        students = sorted(folders)
    strangers = sorted(folders.keys() - students)
    left_out += [f"{name!r} is not among the students" for name in strangers]
    missing = Submission(dict.fromkeys(graded()), None, (), ("nothing handed in",))
    submissions = dict.fromkeys(students, missing)
    for student in students:
        if student in folders:
            submissions[student] = read_submission(folders[student], lesson_names())
    courses = {submission.course for submission in submissions.values() if submission.course}
    if courses and fingerprint(secret) not in courses:
        raise ReportError(f"the lessons in {str(folder)!r} were made with another secret")
    points = weights or all_weights()
    graded_students = [
        _graded(student, submission, secret, points) for student, submission in submissions.items()
    ]
    copies = _copies(graded_students, secret)
    return Grades(
        tuple(_without_copies(student, copies) for student in graded_students),
        tuple(left_out),
        tuple(copies),
    )


def student_folders(folder: StrPath) -> tuple[dict[str, Path], list[str]]:
    """Return {id: folder} of a class, and the problems of other folders and of packed files."""
    with refusing(f"cannot read the folder {str(folder)!r}"):
        paths = sorted(Path(folder).iterdir())
    folders, left_out = {}, []
    for path in paths:
        if HIDDEN.match(path.name):
            continue
        if not path.is_dir():
            if path.suffix.lower() in PACKED:
                left_out.append(f"{path.name!r} is a packed file; unpack it")
            continue
        problem = "is a link" if path.is_symlink() else id_problem(path.name)
        if problem:
            left_out.append(f"{path.name!r} {problem}")
        else:
            folders[path.name] = unpacked(path)
    if not folders:
        problems = f"; left out: {checks.listed(left_out)}" if left_out else ""
        raise ReportError(f"{str(folder)!r} has no student's folder{problems}")
    return folders, left_out


def _graded(student: str, submission: Submission, secret: bytes, weights: Weights) -> Graded:
    """Return the assessments of a student's answers."""
    remarks = list(submission.remarks)
    if submission.course not in (None, fingerprint(secret)):
        remarks.append("the lessons are not those of this course")
    about_others = []
    owners = [owner for owner in submission.students if owner != student]
    if owners:
        listed = checks.listed(owners, quoted=True)
        about_others.append(f"the lessons were made for {listed}")
    assessments = []
    for exercise in graded():
        task = task_of(secret, student, exercise)
        answer = submission.answers[exercise]
        assessments.append(_assessment(exercise, answer, task, weights[exercise]))
    return Graded(
        student,
        tuple(assessments),
        tuple(remarks),
        submission.answers,
        _sum(sum(parts.values()) for parts in weights.values()),
        tuple(about_others),
    )


def _sum(points: Iterator[float]) -> float:
    return round(sum(points), 6)


def _assessment(exercise: str, answer: Any, task: dict, weights: dict[str, float]) -> Assessment:
    """Return the grade of an answer."""
    if answer is None:
        return Assessment(exercise, "no answer")
    if isinstance(answer, NotPlainError):
        return Assessment(exercise, NOT_PLAIN, str(answer))
    verdict, message, misconception = judged(exercise, answer, **task)
    parts: tuple[str, ...] = ()
    points = sum(weights.values())
    if verdict != "correct":
        parts = tuple(_right_parts(exercise, answer, task, tuple(weights)))
        points = sum(weights[part] for part in parts)
    text = answer_text(answer)
    return Assessment(exercise, verdict, message, misconception, text, round(points, 6), parts)


def _right_parts(exercise: str, answer: Any, task: dict, parts: tuple[str, ...]) -> Iterator[str]:
    """Yield the correct parts; the answer is correct if all other parts are replaced."""
    entries = entries_of(answer)
    if len(entries) != len(parts) or len(parts) == 1:
        return
    key = key_of(exercise, task)
    for index, part in enumerate(parts):
        mixed = [*key[:index], entries[index], *key[index + 1 :]]
        if is_right(exercise, mixed, **task):
            yield part


def _copies(students: list[Graded], secret: bytes) -> list[LikelyCopy]:
    """Return the likely copies in a class."""

    @functools.cache
    def cached_key(exercise: str, student: str) -> list:
        return key_of(exercise, task_of(secret, student, exercise))

    def solves(exercise: str, answer: Any, student: str) -> bool:
        # to compare with the key first is faster than the judge of the exercise
        return _is_near(entries_of(answer), cached_key(exercise, student)) and is_right(
            exercise, answer, **task_of(secret, student, exercise)
        )

    answers = {student.student: student.answers for student in students}
    copies = []
    for student in students:
        verdicts = {row.exercise: row.verdict for row in student.assessments}
        wrong = [name for name, verdict in verdicts.items() if verdict in ("mistake", "not yet")]
        copies += likely_copies(student.student, answers, wrong, solves)
    return copies


def _is_near(entries: list, key: list) -> bool:
    """Return whether an answer is near the key: within 1 for whole numbers, or about a tenth."""
    if len(entries) != len(key):
        return False
    for entry, correct in zip(entries, key, strict=True):
        if isinstance(entry, str) or isinstance(correct, str):
            if type(entry) is not type(correct):
                return False
        elif abs(entry - correct) > max(isinstance(correct, int), FAR * abs(correct) + FAR**2):
            return False
    return True


def _without_copies(student: Graded, copies: list[LikelyCopy]) -> Graded:
    """Return the student without points for copied answers; only the lecturer sees the source."""
    assessments = {row.exercise: row for row in student.assessments}
    about_others = list(student.about_others)
    for copy in copies:
        if copy.student != student.student:
            continue
        listed = checks.listed(copy.exercises, len(graded()))
        about_others.append(f"correct for {copy.source!r}: {listed}")
        for exercise in copy.exercises:
            answer = assessments[exercise].answer
            assessments[exercise] = Assessment(
                exercise, OTHERS, "correct for numbers that are not yours", answer=answer
            )
    return replace(
        student, assessments=tuple(assessments.values()), about_others=tuple(about_others)
    )


def summary(grades: Grades) -> str:
    """Return the class in one line.

    Examples
    --------
    >>> summary(Grades((), ()))
    'Graded 0 students in 10 exercises'
    """
    students = grades.students
    exercises = checks.counted(len(graded()), "exercise")
    text = f"Graded {checks.counted(len(students), 'student')} in {exercises}"
    if not students:
        return text
    mean = sum(student.points for student in students) / len(students)
    text += f", {mean:.1f} of {students[0].maximum:g} points on average"
    with_remarks = [row.student for row in students if row.remarks or row.about_others]
    return f"{text}; remarks on {checks.listed(with_remarks)}" if with_remarks else text
