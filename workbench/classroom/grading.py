"""Points for what was handed in, and the misconception behind each wrong answer."""

import os
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workbench import checks
from workbench.classroom.copies import lesson_names
from workbench.classroom.misconceptions import SCENES
from workbench.classroom.seeds import fingerprint
from workbench.classroom.students import id_problem
from workbench.classroom.submissions import HIDDEN, NotPlainError, Submission, read_submission, shown, unpacked
from workbench.classroom.variants import VARIANTS, task_of
from workbench.lessons.checking import judged
from workbench.reports.parameters import ReportError, refusing

NOT_PLAIN = "not a plain answer"
PACKED = (".zip", ".7z", ".rar", ".tar", ".gz", ".tgz")
VERDICTS = ("right", "mistake", "not yet", NOT_PLAIN, "no answer")


@dataclass(frozen=True)
class Mark:
    """What one answer earned.

    Attributes
    ----------
    exercise : str
    verdict : {"right", "mistake", "not yet", "not a plain answer", "no answer"}
    message : str
    misconception : str
        Its name where the verdict is a mistake, else ''.
    answer : str
        What the student wrote, as text.
    """

    exercise: str
    verdict: str
    message: str = ""
    misconception: str = ""
    answer: str = ""

    @property
    def points(self) -> int:
        """1 for a right answer, else 0."""
        return int(self.verdict == "right")

    @property
    def scene(self) -> str:
        """The scene of the lesson to repeat, or ''."""
        return SCENES.get((self.exercise, self.misconception), "")


@dataclass(frozen=True)
class Graded:
    """A student's marks, one per graded exercise.

    Attributes
    ----------
    student : str
    marks : tuple of Mark
    remarks : tuple of str
        What the lecturer should know of the folder.
    answers : dict
        Exercise -> plain answer, None or `NotPlainError`.
    """

    student: str
    marks: tuple[Mark, ...]
    remarks: tuple[str, ...]
    answers: dict

    @property
    def points(self) -> int:
        """Right answers."""
        return sum(mark.points for mark in self.marks)


@dataclass(frozen=True)
class Grades:
    """The grades of a class.

    Attributes
    ----------
    students : tuple of Graded
    left_out : tuple of str
        Folders that were not graded, and why.
    """

    students: tuple[Graded, ...]
    left_out: tuple[str, ...]

    def traps(self) -> list[tuple[str, str, int]]:
        """Return exercise, misconception and number of students, the most frequent first."""
        found = Counter((mark.exercise, mark.misconception) for student in self.students for mark in student.marks
                        if mark.misconception)
        return [(*key, count) for key, count in sorted(found.items(), key=lambda each: (-each[1], each[0]))]

    def verdicts(self, exercise: str) -> list[int]:
        """Return the number of students per verdict, in the order of `VERDICTS`."""
        found = Counter(mark.verdict for student in self.students for mark in student.marks
                        if mark.exercise == exercise)
        return [found[verdict] for verdict in VERDICTS]


def grade(folder: str | os.PathLike, secret: bytes, students: list[str] | None = None) -> Grades:
    """Grade the folders of a class; nothing in them is run.

    Parameters
    ----------
    folder : path
        With one folder per student, named by the id.
    secret : bytes
        That the course was made with.
    students : list of str, optional
        Who is graded, in this order, folder or not; by default whoever has a folder, sorted.

    Raises
    ------
    ReportError
        If the folder cannot be read, holds no student's folder, or was made with another secret.
    """
    found, left_out = _folders(Path(folder))
    if students is not None:
        left_out += [f"{name!r} is not among the students" for name in sorted(set(found) - set(students))]
    nothing = Submission(dict.fromkeys(VARIANTS), None, (), ("nothing handed in",))
    submissions = {student: read_submission(found[student], lesson_names()) if student in found else nothing
                   for student in (sorted(found) if students is None else students)}
    courses = {submission.course for submission in submissions.values() if submission.course}
    if courses and fingerprint(secret) not in courses:
        raise ReportError(f"the lessons in {str(folder)!r} were made with another secret")
    return Grades(tuple(_graded(student, submission, secret) for student, submission in submissions.items()),
                  tuple(left_out))


def student_folders(folder: str | os.PathLike) -> dict[str, Path]:
    """Return the folder of each student of a class by the id; other folders do not count."""
    return _folders(Path(folder))[0]


def _folders(folder: Path) -> tuple:
    """Return {id: folder}, and why others are no student's; hidden and plain files do not count, if not packed."""
    with refusing(f"cannot read the folder {str(folder)!r}"):
        inside = sorted(folder.iterdir())
    found, left_out = {}, []
    for path in inside:
        if HIDDEN.match(path.name):
            continue
        if not path.is_dir():
            left_out += [f"{path.name!r} is packed: unpack it"] if path.suffix.lower() in PACKED else []
        elif problem := "is a link" if path.is_symlink() else id_problem(path.name):
            left_out.append(f"{path.name!r} {problem}")
        else:
            found[path.name] = unpacked(path)
    if not found:
        raise ReportError(f"{str(folder)!r} holds no student's folder"
                          + (f"; left out: {checks.listed(left_out)}" if left_out else ""))
    return found, left_out


def _graded(student: str, submission: Submission, secret: bytes) -> Graded:
    remarks, answers = [*submission.remarks], submission.answers
    if submission.course not in (None, fingerprint(secret)):
        remarks.append("the lessons are not those that were handed out")
    if others := [other for other in submission.students if other != student]:
        remarks.append(f"the lessons were handed out to {checks.listed(others, quoted=True)}")
    return Graded(student, tuple(_mark(exercise, answers[exercise], task_of(secret, student, exercise))
                                 for exercise in VARIANTS), tuple(remarks), answers)


def _mark(exercise: str, answer: Any, task: dict) -> Mark:
    if answer is None:
        return Mark(exercise, "no answer")
    if isinstance(answer, NotPlainError):
        return Mark(exercise, NOT_PLAIN, str(answer))
    verdict, message, misconception = judged(exercise, answer, **task)
    return Mark(exercise, verdict, message, misconception, shown(answer))


def summary(grades: Grades) -> str:
    """Return the class in one line.

    Examples
    --------
    >>> summary(Grades((), ()))
    'Graded 0 students in 10 exercises'
    """
    exercises = checks.counted(len(VARIANTS), "exercise")
    said = f"Graded {checks.counted(len(grades.students), 'student')} in {exercises}"
    if not grades.students:
        return said
    mean = sum(student.points for student in grades.students) / len(grades.students)
    remarked = [student.student for student in grades.students if student.remarks]
    return f"{said}, {mean:.1f} points on average" + (f"; remarks on {checks.listed(remarked)}" if remarked else "")
