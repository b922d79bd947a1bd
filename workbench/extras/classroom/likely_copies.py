"""Likely copies: incorrect answers that are correct for another student's task."""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from workbench.extras.classroom.submissions import entries_of

Answers = Mapping[str, Mapping[str, Any]]  # student -> exercise -> plain answer
LIKELY = 0.05
DIGITS_BY_CHANCE = 3  # number of digits in which correct numbers of two students may agree


@dataclass(frozen=True)
class LikelyCopy:
    """Answers of a student that are correct for another student.

    Attributes
    ----------
    student : str
        The student who gave the answers.
    source : str
        The student whose task they solve.
    exercises : tuple of str
        The exercises.
    chance : float
        Number of students in the class whose tasks the answers would solve by chance.
    """

    student: str
    source: str
    exercises: tuple[str, ...]
    chance: float


def likely_copies(
    student: str,
    answers: Answers,
    wrong: Iterable[str],
    solves: Callable[[str, Any, str], bool],
) -> list[LikelyCopy]:
    """Return the likely copies among the incorrect answers of a student.

    The chance of an answer is the proportion of the class for whose tasks it is correct. A single
    number with a wide tolerance is often correct for somebody else, several numbers hardly ever. If
    two students wrote the same digits, the chance is divided by 10 for each digit after the third.

    Parameters
    ----------
    student : str
        The student.
    answers : dict
        Student -> exercise -> plain answer, for the class.
    wrong : iterable of str
        Exercises with an incorrect answer of the student.
    solves : callable
        Takes exercise, answer and another student, and returns whether the answer is correct for
        that student.

    Returns
    -------
    list of LikelyCopy
        The copies that chance does not explain.
    """
    fitting = {}  # the students whose tasks an answer solves, by exercise
    for exercise in wrong:
        answer = answers[student][exercise]
        fitting[exercise] = [
            other for other in answers if other != student and solves(exercise, answer, other)
        ]
    copies: list[LikelyCopy] = []
    while any(fitting.values()):
        sources = sorted(set().union(*fitting.values()))
        candidates = [_copy_of(source, student, answers, fitting) for source in sources]
        best = min(candidates, key=lambda candidate: candidate.chance)
        if best.chance > LIKELY:
            break
        copies.append(best)
        for exercise in best.exercises:
            del fitting[exercise]
    return copies


def _copy_of(source: str, student: str, answers: Answers, fitting: dict) -> LikelyCopy:
    """Return all answers of a student that solve the tasks of a source."""
    exercises = tuple(exercise for exercise, students in fitting.items() if source in students)
    n_others = len(answers) - 1
    chances = []
    for exercise in exercises:
        digits = _same_digits(answers[student][exercise], answers[source][exercise])
        chances.append(len(fitting[exercise]) / n_others * digits)
    return LikelyCopy(student, source, exercises, n_others * math.prod(chances))


def _same_digits(answer: Any, other: Any) -> float:
    """Return the chance that numbers with the same first digits agree in all digits.

    Examples
    --------
    >>> _same_digits([0.87412, 20], [0.87412, 20]), _same_digits(0.874, 0.874)
    (0.01, 1.0)
    >>> _same_digits(0.8741, 0.8742)
    1.0
    """
    if answer != other:
        return 1.0
    excess = 0
    for entry in entries_of(answer):
        if isinstance(entry, float):
            digits = f"{abs(entry):.15g}".partition("e")[0].replace(".", "").lstrip("0")
            excess += max(0, len(digits) - DIGITS_BY_CHANCE)
    return 10.0**-excess
