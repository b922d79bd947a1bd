"""The graded exercises: the random task of a student, and its question.

The keys of a task are the arguments of the exercise's judge in `workbench.lessons.checking`. The
ranges of numbers keep the correct answer and those of all named misconceptions further apart than
their tolerances. `use_exercises` adds exercises of the lecturer.
"""

import os
import statistics
from collections.abc import Callable
from dataclasses import dataclass

from workbench import checks
from workbench.data import whole_files
from workbench.data.whole_files import StrPath
from workbench.extras.classroom.seeds import Draws, draws
from workbench.lessons import own_exercises
from workbench.lessons.checking import OWN, load_exercises
from workbench.lessons.stratified.exercises import fifths
from workbench.reports.parameters import ReportError, refusing

AUDIT = "1.1"
LABELS = 100
SHIFT = 4
AUDITED, FRAME, FORMS = 400, 1797, 5000  # forms of the audit, of the year and of a month
# codes whose standard error by box is far from the naive one, whichever district is left out
CODES = (1, 2, 4, 5, 8, 9)


@dataclass(frozen=True)
class Variant:
    """A graded exercise.

    Attributes
    ----------
    draw : callable
        Takes random numbers and returns the task, the data of one student.
    question : str
        The question in Markdown, with fields for the entries of the task. A list of numbers also
        has a field that ends in `_list`, its numbers separated by commas.
    derive : callable
        Takes the task and returns the values of further fields.
    """

    draw: Callable[[Draws], dict]
    question: str
    derive: Callable[[dict], dict] = dict

    def ask(self, task: dict) -> str:
        """Return the question of a task in Markdown."""
        fields = task | self.derive(task)
        for name in ("size", "spread", "labeled", "right", "differences", "folds"):
            numbers = task.get(name, [])
            texts = [f"{x:g}" if isinstance(x, float) else f"{x:,}" for x in numbers]
            fields[f"{name}_list"] = ", ".join(texts)
        return self.question.format(**fields)


def use_exercises(path: StrPath) -> None:
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
    OWN.clear()
    if not os.path.exists(path):
        return
    try:
        numbers = load_exercises(path)
    except ValueError as error:
        raise ReportError(str(error)) from error
    unanswered = [number for number in numbers if not OWN[number].answer]
    if unanswered:
        OWN.clear()
        listed = checks.listed(unanswered)
        raise ReportError(f"{os.fspath(path)} has no answer to exercise {listed}")


def write_exercises(path: StrPath) -> None:
    """Write the exercises that the lecturer added, if any, with their answers."""
    if OWN:
        with refusing():
            whole_files.write_text(path, own_exercises.lecturers_file())


def graded() -> list[str]:
    """Return the numbers of all graded exercises, those of the course first."""
    return [*VARIANTS, *sorted(OWN)]


def question_of(exercise: str, task: dict) -> str:
    """Return the question of an exercise in Markdown."""
    return OWN[exercise].question if exercise in OWN else VARIANTS[exercise].ask(task)


def task_of(secret: bytes, student: str, exercise: str) -> dict:
    """Return the data of a student's exercise, determined by secret, id and exercise."""
    if exercise in OWN:  # it is the same for all students
        return {}
    return VARIANTS[exercise].draw(draws(secret, student, exercise))


def _audit(draw: Draws) -> dict:
    size, right, _ = fifths()
    labeled = [LABELS // 5 + draw.integer(-SHIFT, SHIFT) for _ in range(4)]
    labeled.append(LABELS - sum(labeled))
    strata = zip(right.tolist(), size.tolist(), labeled, strict=True)
    correct = [draw.hits(*stratum) for stratum in strata]
    return {"size": size.tolist(), "labeled": labeled, "right": correct}


def _shares(draw: Draws) -> dict:
    size = [draw.integer(300, 900) for _ in range(5)]
    limits = ((0.44, 0.5), (0.3, 0.4), (0.16, 0.24), (0.08, 0.12))
    spread = [draw.number(low, high, 3) for low, high in limits]
    return {"size": size, "spread": [*spread, 0.0]}


def _districts(draw: Draws) -> dict:
    count = draw.integer(4, 6)
    differences = [draw.number(0.02, 0.14, 3) * (1 - 2 * draw.integer(0, 1)) for _ in range(count)]
    return {"differences": differences}


def _code(draw: Draws) -> dict:
    return {"code": CODES[draw.integer(0, len(CODES) - 1)], "left_out": draw.integer(1, 7)}


def _nine(draw: Draws) -> dict:
    low, high = draw.integer(600, 900), draw.integer(1100, 1500)
    small = [draw.integer(1, 9) for _ in range(5)]
    return {"parts": [small, [draw.integer(low, high) for _ in range(4)]]}


def _three(draw: Draws) -> dict:
    size = [draw.integer(8, 14), draw.integer(80, 140), draw.integer(900, 1400)]
    spread = [draw.integer(45, 70), draw.integer(4, 7), draw.integer(1, 2)]
    return {"size": size, "spread": spread, "budget": draw.integer(60, 75)}


def _share(draw: Draws) -> dict:
    p00 = draw.number(0.88, 0.94, 3)
    p11 = draw.number(0.93, 0.99, 3)
    base = draw.number(0.08, 0.12, 3)
    true = draw.number(0.18, 0.28, 3)
    counted = round(_predicted(true, p00, p11), 3)
    return {"p00": p00, "p11": p11, "base": base, "counted": counted}


def _predicted(true: float, p00: float, p11: float) -> float:
    """Return the expected proportion of items that are predicted to be positive."""
    return true * p11 + (1 - true) * (1 - p00)


def _months(draw: Draws) -> dict:
    p00, p11 = draw.number(0.94, 0.97, 3), draw.number(0.8, 0.9, 3)
    positives = draw.integer(36, 52)
    negatives = AUDITED - positives
    true_positives = draw.flips(p11, positives)
    false_positives = draw.flips(1 - p00, negatives)
    in_frame = round(FRAME * draw.number(0.118, 0.128, 4))
    task = {
        "audit": [
            [negatives - false_positives, false_positives],
            [positives - true_positives, true_positives],
        ],
        "frame": [FRAME - in_frame, in_frame],
    }
    for month, low, high in (("first", 0.09, 0.12), ("second", 0.15, 0.18)):
        predicted = round(FORMS * _predicted(draw.number(low, high, 4), p00, p11))
        task[month] = [FORMS - predicted, predicted]
    return task


def _folds(draw: Draws) -> dict:
    while True:  # at a t of 2.2 the one-sided p is the normal distribution's two-sided one
        folds = [draw.number(-0.1, 0.3, 2) for _ in range(10)]
        if 2.4 < statistics.mean(folds) / (statistics.stdev(folds) / 10**0.5) < 3.6:
            return {"folds": folds}


def _colleague(draw: Draws) -> dict:
    return {"naive_t": (draw.number(3.5, 6.6, 2), draw.number(7.2, 9.5, 2))[draw.integer(0, 1)]}


VARIANTS = {
    AUDIT: Variant(
        _audit,
        f"You labeled {LABELS} of the office's forms, in your own random sample. The fifths have "
        "{size_list} forms. You labeled {labeled_list} of them, and {right_list} were read "
        "correctly. Give the estimate and its standard error.",
    ),
    "1.2": Variant(
        _shares,
        "Five strata have {size_list} forms and standard deviations $S$ = {spread_list}. Allocate "
        f"{LABELS} labels to them by Neyman's rule, at least 2 to each.",
    ),
    "2.1": Variant(
        _districts,
        "There are {count} districts of two boxes. The accuracies of the two boxes differ by "
        "{differences_list}. Compute the standard error of the mean of all {boxes} boxes by hand.",
        lambda task: {
            "count": len(task["differences"]),
            "boxes": 2 * len(task["differences"]),
        },
    ),
    "2.4": Variant(
        _code,
        "Leave out district {left_out}, boxes {first} and {last}. Estimate F1 of code {code} of "
        "reader A from the other twelve boxes. Give the estimate, its standard error and the 95% "
        "interval on the logit scale, with $t$ at 6 degrees of freedom.",
        lambda task: {"first": 2 * task["left_out"] - 1, "last": 2 * task["left_out"]},
    ),
    "3.1": Variant(
        _nine,
        "There are nine numbers: {numbers}. Give the variance of the estimated sum from two random "
        "numbers; from one number of the first five and one of the last four; and the ratio of "
        "both.",
        lambda task: {"numbers": str(sum(task["parts"], []))[1:-1]},
    ),
    "3.2": Variant(
        _three,
        "Three strata of {size_list} items with standard deviations {spread_list}. Allocate "
        "{budget} labels by hand, at least 2 to each stratum.",
    ),
    "4.1": Variant(
        _share,
        "An audit at a true proportion of {base:g} found $p_{{00}}$ = {p00:g} and $p_{{11}}$ = "
        "{p11:g}. The true proportion has changed since then, but these rates have not. Now the "
        "classify-and-count estimate is {counted:g}. What is the true proportion?",
    ),
    "4.4": Variant(
        _months,
        "The audit, a random sample, is {audit}. At the time of the audit, {frame[1]} of 1,797 "
        "were read as panels. In month 6, {first[1]} of 5,000 were read as panels, and in month 12 "
        "{second[1]} of 5,000. Give the change of the true proportion and its standard error.",
    ),
    "5.1": Variant(
        _folds,
        "The ten fold differences are {folds_list}. Give t and p of the naive test, then t and p "
        r"at $\rho = .7$.",
    ),
    "5.3": Variant(
        _colleague,
        "A colleague repeated a ten-fold cross-validation of 100 forms ten times and reports a "
        "naive t of {naive_t:g} over the 100 folds. Correct it by the method of Nadeau and Bengio. "
        "Give t, p, and whether it is significant.",
    ),
}
