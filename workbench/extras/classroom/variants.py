"""The graded exercises: the random task of a student, and its question.

The keys of a task are the arguments of the exercise's judge in `workbench.lessons.checking`. The
ranges of numbers keep the correct answer and those of all named misconceptions further apart than
their tolerances. `use_exercises` adds exercises of the lecturer.
"""

import os
import statistics
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from workbench import checks
from workbench.data import whole_files
from workbench.extras.classroom.seeds import Draws, draws
from workbench.lessons import own_exercises
from workbench.lessons.checking import OWN, load_exercises
from workbench.lessons.stratified.exercises import fifths
from workbench.reports.parameters import ReportError, refusing

AUDIT = "1.1"
LABELS = 100
SHIFT = 4
CODES = (
    1,
    2,
    4,
    5,
    8,
    9,
)  # codes whose standard error by box is far from the naive one, whichever district is left out


@dataclass(frozen=True)
class Variant:
    """A graded exercise.

    Attributes
    ----------
    draw : callable
        Takes random numbers and returns the task, the data of one student.
    ask : callable
        Takes the task and returns the question in Markdown.
    """

    draw: Callable[[Draws], dict]
    ask: Callable[[dict], str]


_added: list[str] = []  # exercises that the lecturer added


def use_exercises(path: str | os.PathLike) -> None:
    """Also grade the exercises of a lecturer's file, instead of those of an earlier file.

    Parameters
    ----------
    path : path
        A file such as `my_exercises.py`, which does not have to exist.

    Raises
    ------
    ReportError
        If the file cannot be used, or has an exercise without an answer.
    """
    _added.clear()
    if not os.path.exists(path):
        return
    try:
        numbers = load_exercises(path)
    except ValueError as error:
        raise ReportError(str(error)) from error
    unanswered = [number for number in numbers if not OWN[number].answer]
    if unanswered:
        listed = checks.listed(unanswered)
        raise ReportError(f"{os.fspath(path)} has no answer to exercise {listed}")
    _added.extend(sorted(numbers))


def write_exercises(path: str | os.PathLike) -> None:
    """Write the exercises that the lecturer added, if any, with their answers."""
    if _added:
        with refusing():
            whole_files.write_text(path, own_exercises.lecturers_file(_added))


def graded() -> list[str]:
    """Return the numbers of all graded exercises, those of the course first."""
    return [*VARIANTS, *_added]


def asked(exercise: str, task: dict) -> str:
    """Return the question of an exercise in Markdown."""
    return OWN[exercise].question if exercise in _added else VARIANTS[exercise].ask(task)


def task_of(secret: bytes, student: str, exercise: str) -> dict:
    """Return the data of a student's exercise, determined by secret, id and exercise."""
    if exercise in _added:  # it is the same for all students
        return {}
    return VARIANTS[exercise].draw(draws(secret, student, exercise))


def _listed(values: list) -> str:
    return ", ".join(f"{value:g}" if isinstance(value, float) else f"{value:,}" for value in values)


def _audit(draw: Draws) -> dict:
    size, right, _ = fifths()
    labeled = [LABELS // 5 + draw.whole(-SHIFT, SHIFT) for _ in range(4)]
    labeled.append(LABELS - sum(labeled))
    found = [
        draw.hits(int(r), int(n), count) for r, n, count in zip(right, size, labeled, strict=True)
    ]
    return {"size": size.tolist(), "labeled": labeled, "right": found}


def _ask_audit(task: dict) -> str:
    return (
        f"You labeled {LABELS} of the office's forms, in your own random sample. The fifths have "
        f"{_listed(task['size'])} forms. You labeled {_listed(task['labeled'])} of them, and "
        f"{_listed(task['right'])} were read correctly. Give the estimate and its standard error."
    )


def _shares(draw: Any) -> dict:
    size = [draw.whole(300, 900) for _ in range(5)]
    return {
        "size": size,
        "spread": [
            draw.number(0.44, 0.5, 3),
            draw.number(0.3, 0.4, 3),
            draw.number(0.16, 0.24, 3),
            draw.number(0.08, 0.12, 3),
            0.0,
        ],
    }


def _ask_shares(task: dict) -> str:
    return (
        f"Five strata have {_listed(task['size'])} forms and standard deviations $S$ = "
        f"{_listed(task['spread'])}. Allocate {LABELS} labels to them by Neyman's rule, at least 2 "
        "to each."
    )


def _districts(draw: Draws) -> dict:
    return {
        "differences": [
            draw.number(0.02, 0.14, 3) * (1 - 2 * draw.whole(0, 1)) for _ in range(draw.whole(4, 6))
        ]
    }


def _ask_districts(task: dict) -> str:
    count = len(task["differences"])
    return (
        f"There are {count} districts of two boxes. The accuracies of the two boxes differ by "
        f"{_listed(task['differences'])}. Compute the standard error of the mean of all "
        f"{2 * count} boxes by hand."
    )


def _code(draw: Draws) -> dict:
    return {"code": CODES[draw.whole(0, len(CODES) - 1)], "left_out": draw.whole(1, 7)}


def _ask_code(task: dict) -> str:
    last = 2 * task["left_out"]
    return (
        f"Leave out district {task['left_out']}, boxes {last - 1} and {last}. Estimate F1 of code "
        f"{task['code']} of reader A from the other twelve boxes. Give the estimate, its standard "
        "error and the 95% interval on the logit scale, with $t$ at 6 degrees of freedom."
    )


def _nine(draw: Draws) -> dict:
    small, large = (
        [draw.whole(low, high) for _ in range(count)]
        for low, high, count in ((1, 9, 5), (draw.whole(600, 900), draw.whole(1100, 1500), 4))
    )
    return {"parts": [small, large]}


def _ask_nine(task: dict) -> str:
    small, large = (", ".join(map(str, part)) for part in task["parts"])
    return (
        f"There are nine numbers: {small}, {large}. Give the variance of the estimated sum from "
        "two random numbers; from one number of the first five and one of the last four; and the "
        "ratio of both."
    )


def _three(draw: Draws) -> dict:
    size = [draw.whole(8, 14), draw.whole(80, 140), draw.whole(900, 1400)]
    spread = [draw.whole(45, 70), draw.whole(4, 7), draw.whole(1, 2)]
    return {"size": size, "spread": spread, "budget": draw.whole(60, 75)}


def _ask_three(task: dict) -> str:
    return (
        f"Three strata of {_listed(task['size'])} items with standard deviations "
        f"{_listed(task['spread'])}. Allocate {task['budget']} labels by hand, at least 2 to each "
        "stratum."
    )


def _share(draw: Draws) -> dict:
    p00, p11, base = (
        draw.number(0.88, 0.94, 3),
        draw.number(0.93, 0.99, 3),
        draw.number(0.08, 0.12, 3),
    )
    true = draw.number(0.18, 0.28, 3)
    return {
        "p00": p00,
        "p11": p11,
        "base": base,
        "counted": round(true * p11 + (1 - true) * (1 - p00), 3),
    }


def _ask_share(task: dict) -> str:
    return (
        f"An audit at a true proportion of {task['base']:g} found $p_{{00}}$ = {task['p00']:g} and "
        f"$p_{{11}}$ = {task['p11']:g}. The true proportion has changed since then, but these "
        f"rates have not. Now the classify-and-count estimate is {task['counted']:g}. What is the "
        "true proportion?"
    )


def _months(draw: Draws) -> dict:
    p00, p11, audited, frame, forms = (
        draw.number(0.94, 0.97, 3),
        draw.number(0.8, 0.9, 3),
        400,
        1797,
        5000,
    )
    positive = draw.whole(36, 52)
    found, missed = draw.flips(p11, positive), draw.flips(1 - p00, audited - positive)
    counted = round(frame * draw.number(0.118, 0.128, 4))
    months = [
        round(forms * (share * p11 + (1 - share) * (1 - p00)))
        for share in (draw.number(0.09, 0.12, 4), draw.number(0.15, 0.18, 4))
    ]
    return {
        "audit": [[audited - positive - missed, missed], [positive - found, found]],
        "frame": [frame - counted, counted],
        "first": [forms - months[0], months[0]],
        "second": [forms - months[1], months[1]],
    }


def _ask_months(task: dict) -> str:
    return (
        f"The audit, a random sample, is {task['audit']}. At the time of the audit, "
        f"{task['frame'][1]} of 1,797 were read as panels. In month 6, {task['first'][1]} of 5,000 "
        f"were read as panels, and in month 12 {task['second'][1]} of 5,000. Give the change of "
        "the true proportion and its standard error."
    )


def _folds(draw: Draws) -> dict:
    while True:  # at a t of 2.2 the one-sided p is the normal distribution's two-sided one
        folds = [draw.number(-0.1, 0.3, 2) for _ in range(10)]
        if 2.4 < statistics.mean(folds) / (statistics.stdev(folds) / 10**0.5) < 3.6:
            return {"folds": folds}


def _ask_folds(task: dict) -> str:
    return (
        f"The ten fold differences are {_listed(task['folds'])}. Give t and p of the naive test, "
        "then t and p at "
        r"$\rho = .7$."
    )


def _colleague(draw: Draws) -> dict:
    return {"naive_t": (draw.number(3.5, 6.6, 2), draw.number(7.2, 9.5, 2))[draw.whole(0, 1)]}


def _ask_colleague(task: dict) -> str:
    return (
        "A colleague repeated a ten-fold cross-validation of 100 forms ten times and reports a "
        f"naive t of {task['naive_t']:g} over the 100 folds. Correct it by the method of Nadeau "
        "and Bengio. Give t, p, and whether it is significant."
    )


VARIANTS = {
    AUDIT: Variant(_audit, _ask_audit),
    "1.2": Variant(_shares, _ask_shares),
    "2.1": Variant(_districts, _ask_districts),
    "2.4": Variant(_code, _ask_code),
    "3.1": Variant(_nine, _ask_nine),
    "3.2": Variant(_three, _ask_three),
    "4.1": Variant(_share, _ask_share),
    "4.4": Variant(_months, _ask_months),
    "5.1": Variant(_folds, _ask_folds),
    "5.3": Variant(_colleague, _ask_colleague),
}
