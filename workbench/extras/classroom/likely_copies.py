"""Answers that are right for somebody else's task: too many of them for chance are a copy."""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

LIKELY = 0.05
DIGITS_BY_CHANCE = 3  # to which two students' right numbers agree anyway


@dataclass(frozen=True)
class LikelyCopy:
    """Answers of a student that are right for somebody else.

    Attributes
    ----------
    student, source : str
        Whose answers, and whose task they solve.
    exercises : tuple of str
    chance : float
        How many students of the class one would expect to be fitted as well by chance.
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
    """Return whose tasks a student's wrong answers solve, where chance is no explanation.

    An answer of one number with a wide tolerance is right for some other student by chance, one of several numbers
    hardly ever: the share of the class for which it is right is its chance. Numbers that are written digit by digit as
    the other wrote them have a tenth of it for each digit beyond the third.

    Parameters
    ----------
    student : str
    answers : dict
        Student -> exercise -> plain answer, of the class.
    wrong : iterable of str
        Exercises that the student answered and did not solve.
    right_for : callable
        Takes exercise, answer and another student; whether it is right for that student's task.
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
    """Return the chance that numbers agree in all their digits if they agree in the first ones.

    Examples
    --------
    >>> _same_digits([0.87412, 20], [0.87412, 20]), _same_digits(0.874, 0.874), _same_digits(0.8741, 0.8742)
    (0.01, 1.0, 1.0)
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
