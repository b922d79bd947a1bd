"""Likely copies: incorrect answers that are correct for another student's task."""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

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
    answers: Mapping[str, Mapping[str, Any]],
    wrong: Iterable[str],
    right_for: Callable[[str, Any, str], bool],
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
    right_for : callable
        Takes exercise, answer and another student, and returns whether the answer is correct for
        that student.

    Returns
    -------
    list of LikelyCopy
        The copies that chance does not explain.
    """
    others = [other for other in answers if other != student]
    fitting = {
        exercise: [
            other for other in others if right_for(exercise, answers[student][exercise], other)
        ]
        for exercise in wrong
    }
    found: list[LikelyCopy] = []
    while sources := sorted({other for fits in fitting.values() for other in fits}):
        best = min(
            (_fit(student, source, answers, fitting) for source in sources),
            key=lambda each: each.chance,
        )
        if best.chance > LIKELY:
            break
        found.append(best)
        fitting = {
            exercise: fits for exercise, fits in fitting.items() if exercise not in best.exercises
        }
    return found


def _fit(
    student: str, source: str, answers: Mapping[str, Mapping[str, Any]], fitting: dict
) -> LikelyCopy:
    exercises = tuple(exercise for exercise, fits in fitting.items() if source in fits)
    others = len(answers) - 1
    chances = (
        len(fitting[exercise])
        / others
        * _same_digits(answers[student][exercise], answers[source][exercise])
        for exercise in exercises
    )
    return LikelyCopy(student, source, exercises, others * math.prod(chances))


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
    entries = [
        entry
        for entry in (answer if isinstance(answer, list) else [answer])
        if isinstance(entry, float)
    ]
    digits = (
        len(f"{abs(entry):.15g}".partition("e")[0].replace(".", "").lstrip("0"))
        for entry in entries
    )
    return 10.0 ** -sum(max(0, count - DIGITS_BY_CHANCE) for count in digits)
