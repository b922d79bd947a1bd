"""Exercises of lesson 4: judges, hints, explanations and worked solutions.

`EXERCISES` and `STEPS` at the end list them by number.
"""

from functools import lru_cache
from typing import Any

import numpy as np

from workbench.course.answers import Judged
from workbench.lessons.checking import parts_of
from workbench.misclassification.confusion import ConfusionCounts
from workbench.misclassification.prevalence import estimate_prevalence
from workbench.misclassification.series import prevalence_series

AUDIT = ((331, 18), (7, 44))
FRAME = (1579, 218)
SIX, TWELVE = (4309, 691), (4191, 809)
PASSES = 0.66  # proportion of all answers that the judge passes
LABELED = (
    (56, 26),
    (14, 104),
)  # 200 answers: rows are human labels, columns are judge labels
CARDS = ("mixed", "calibration", "neither")


def _by_hand(
    values: list, p00: float = 0.92, p11: float = 0.98, base: float = 0.1, counted: float = 0.215
) -> Judged | tuple:
    true = (counted - (1 - p00)) / (p00 + p11 - 1)
    if abs(values[0] - true) <= 1e-3:
        return "correct", f"{true:.3f}"
    if abs(values[0] - _calibrated(base, p00, p11, counted)) <= 1e-3:
        return Judged(
            "mistake",
            "this is calibration, which assumes that P(true | read) is constant and reports too "
            "small a change",
            "calibration was used although the true proportion has changed",
        )
    if abs(values[0] - counted) <= 1e-3:
        return Judged(
            "mistake",
            f"this is the counted proportion, but {1 - p00:.0%} of the others are read as panels",
            "the classify-and-count estimate was taken as the true proportion",
        )
    return "not yet", "counted = true x p11 + (1 - true) x (1 - p00); solve for true"


def _calibrated(base: float, p00: float, p11: float, counted: float) -> float:
    """Return the estimate by calibration if the true proportion in the audit is `base`."""
    read = base * p11 + (1 - base) * (1 - p00)
    return counted * base * p11 / read + (1 - counted) * base * (1 - p11) / (1 - read)


def _two_estimators(values: list) -> tuple:
    mixed, calibration = _estimates()
    if np.abs(np.array(values) - (calibration, mixed)).max() <= 5e-4:
        return "mistake", "the two numbers are correct, but in the wrong order"
    if abs(values[0] - mixed) > 5e-4:
        return (
            "not yet",
            "mixed = calibration at the time of the audit, plus the counted change / (p00 + p11 - "
            "1)",
        )
    if abs(values[1] - calibration) > 5e-4:
        return (
            "not yet",
            "calibration multiplies the counted proportions by P(true | read), from the columns of "
            "the audit table",
        )
    return "correct", f"{mixed:.4f} and {calibration:.4f}"


def _estimates() -> list:
    return [
        estimate_prevalence(ConfusionCounts(AUDIT), TWELVE, FRAME, method=method).estimate
        for method in ("mixed", "calibration")
    ]


def _why_two_estimators() -> str:
    limits: Any = estimate_prevalence(
        ConfusionCounts(AUDIT), TWELVE, FRAME, method="mixed", rates="frame"
    ).interval()
    where = "inside" if _estimates()[1] in limits else "outside"
    return (
        "The 95% interval of mixed with rates='frame', which fits these months, is "
        f"{limits.low:.3f} to {limits.high:.3f}. The estimate by calibration lies {where}."
    )


def _three_words(answer: Any) -> list | None:
    return parts_of(3)(answer.split() if isinstance(answer, str) else answer)


def _cards(parts: list) -> tuple | None:
    answers = [str(part).strip(" .!").lower() for part in parts]
    if not set(answers) <= set(CARDS):
        return None
    events = ("subsidy", "lost forms", "camera")
    wrong = [
        event
        for event, answer, correct in zip(events, answers, CARDS, strict=True)
        if answer != correct
    ]
    if wrong:
        return "not yet", f"think again about: {', '.join(wrong)}"
    return "correct", " / ".join(CARDS)


def _change(
    values: list,
    audit: list | tuple = AUDIT,
    frame: list | tuple = FRAME,
    first: list | tuple = SIX,
    second: list | tuple = TWELVE,
) -> Judged | tuple:
    changes = _changes(tuple(map(tuple, audit)), tuple(frame), tuple(first), tuple(second))
    if min(abs(values[0] - change.estimate) for change in changes) > 1e-3:
        return "not yet", "the change is the counted change divided by p00 + p11 - 1"
    if min(abs(values[1] - change.standard_error) for change in changes) <= 6e-4:
        return "correct", f"{values[0]:.4f} and {values[1]:.4f}"
    if min(abs(values[1] - change.naive_standard_error) for change in changes) <= 1.5e-3:
        return Judged(
            "mistake",
            "this treats the errors of the two months as independent, but both months use the same "
            "audit",
            "the errors of the two months were treated as independent",
        )
    return "not yet", "the change is correct, but its standard error is not"


@lru_cache(1000)
def _changes(
    audit: tuple = AUDIT, frame: tuple = FRAME, first: tuple = SIX, second: tuple = TWELVE
) -> list:
    """Return the change from month 6 to 12 by two estimators and both values of `rates`."""
    table, months = ConfusionCounts(audit), {"6": first, "12": second}
    return [
        prevalence_series(
            table, frame, months, method=method, rates=rates, sampled_by="random"
        ).change("6", "12")
        for method in ("mixed", "mle")
        for rates in ("frame", "process")
    ]


def _why_change() -> str:
    shared = _changes()[0]
    calibrated = prevalence_series(
        ConfusionCounts(AUDIT), FRAME, {"6": SIX, "12": TWELVE}, method="calibration"
    ).change("6", "12")
    return (
        "Both months contain the error of the audit, and it nearly cancels. The standard error is "
        f"{shared.standard_error:.4f}. With independent errors it would be "
        f"{shared.naive_standard_error:.4f}. Calibration estimates a change of "
        f"{calibrated.estimate:.4f}, and the true change is .0300."
    )


def _judge(values: list) -> Judged | tuple:
    (fails, passed), (missed, passes) = LABELED
    true = _corrected()
    n = fails + passed + missed + passes
    wrong = (passed + missed) / n
    specificity, sensitivity = fails / (fails + passed), passes / (missed + passes)
    mistakes = {
        PASSES: (
            "this is the proportion that the judge passes; some of these answers are bad, and some "
            "that it fails are good",
            "the proportion that the judge passes was taken as the true proportion",
        ),
        PASSES + wrong: (OF_ERRORS, "the error rate of the judge was added or subtracted"),
        PASSES - wrong: (OF_ERRORS, "the error rate of the judge was added or subtracted"),
        (true - 1 + specificity) / (sensitivity + specificity - 1): (
            "this corrects twice: the proportions of good answers per judge label already correct "
            "the judge's errors",
            "the errors of the judge were corrected twice",
        ),
    }
    if abs(values[0] - true) <= 1e-3:
        return "correct", f"{true:.3f}"
    for value, reasons in mistakes.items():
        if abs(values[0] - value) <= 1e-3:
            return Judged("mistake", *reasons)
    if abs(values[0] - (missed + passes) / n) <= 1e-3:
        return (
            "not yet",
            "this is the proportion in the 200 labeled answers; weight the judge labels by their "
            "proportions in all answers",
        )
    return (
        "not yet",
        "what proportion of the passed answers is good, and what proportion of the failed ones?",
    )


OF_ERRORS = "the judge errs in both directions: it passes bad answers and fails good ones"


def _corrected() -> float:
    (fails, passed), (missed, passes) = LABELED
    return PASSES * passes / (passed + passes) + (1 - PASSES) * missed / (fails + missed)


def _steps_of_judge() -> list[str]:
    (fails, passed), (missed, passes) = LABELED
    return [
        f"Of {passed + passes} passed answers, {passes} are good: "
        f"{passes / (passed + passes):.2f}.",
        f"Of {fails + missed} failed answers, {missed} are good: {missed / (fails + missed):.2f}.",
        f"The judge passes {PASSES:.2f} of all answers: {PASSES:.2f} x "
        f"{passes / (passed + passes):.2f} + {1 - PASSES:.2f} x {missed / (fails + missed):.2f} = "
        f"{_corrected():.3f}.",
    ]


def _steps_by_hand(
    p00: float = 0.92, p11: float = 0.98, base: float = 0.1, counted: float = 0.215
) -> list[str]:
    net = p00 + p11 - 1
    return [
        f"The program reads {_point(1 - p00)} of the others and {_point(p11)} of the panels as "
        "panels.",
        f"Counted = true x {_point(p11)} + (1 - true) x {_point(1 - p00)} = {_point(1 - p00)} + "
        f"true x {_point(net)}.",
        f"Subtract {_point(1 - p00)}: {_point(counted)} - {_point(1 - p00)} = "
        f"{_point(counted - 1 + p00)}.",
        f"Divide by {_point(p00)} + {_point(p11)} - 1 = {_point(net)}: the true proportion is "
        f"{(counted - 1 + p00) / net:.3f}.",
    ]


def _point(share: float) -> str:
    return f"{share:.4f}".rstrip("0").removeprefix("0").ljust(3, "0")


def _steps_of_two() -> list[str]:
    (a, b), (c, d) = AUDIT
    mixed, calibration = _estimates()
    p00 = a / (a + b)
    p11 = d / (c + d)
    later = TWELVE[1] / sum(TWELVE)
    base = FRAME[1] / sum(FRAME)
    read = d / (b + d)
    other = c / (a + c)
    then = base * read + (1 - base) * other
    return [
        f"Use the columns: of the forms read as panels, {d} of {b + d} = {read:.4f} have panels; "
        f"of those read as others, {c} of {a + c} = {other:.4f}.",
        f"Calibration now: {later:.4f} x {read:.4f} + {1 - later:.4f} x {other:.4f} = "
        f"{calibration:.4f}.",
        f"Calibration at the time of the audit: {base:.4f} x {read:.4f} + {1 - base:.4f} x "
        f"{other:.4f} = {then:.4f}.",
        f"Mixed: {then:.4f} + ({later:.4f} - {base:.4f}) / ({p00:.4f} + {p11:.4f} - 1) = "
        f"{mixed:.4f}.",
    ]


def _steps_of_cards() -> list[str]:
    return [
        "Subsidy: more houses have panels, and the program reads each form as before. P(read | "
        "true) stays constant: mixed.",
        "Lost forms: the loss depends only on how a form was read. P(true | read) stays constant: "
        "calibration.",
        "Camera: the program may read every form differently. Nothing stays constant: neither.",
    ]


def _steps_of_change(
    audit: list | tuple = AUDIT,
    frame: list | tuple = FRAME,
    first: list | tuple = SIX,
    second: list | tuple = TWELVE,
) -> list[str]:
    net = audit[0][0] / sum(audit[0]) + audit[1][1] / sum(audit[1]) - 1
    counted = second[1] / sum(second) - first[1] / sum(first)
    change = _changes(tuple(map(tuple, audit)), tuple(frame), tuple(first), tuple(second))[0]
    return [
        f"Counted proportions: {first[1] / sum(first):.4f} and {second[1] / sum(second):.4f}, a "
        f"change of {counted:.4f}.",
        f"In the audit, p00 + p11 - 1 is {net:.4f}. The estimated true change is {counted:.4f} / "
        f"{net:.4f} = {counted / net:.4f}.",
        "Its standard error combines the errors of the two counts and of the audit, which both "
        "months share. wb.prevalence_series(audit, frame, months, method='mixed', rates='frame', "
        f"sampled_by='random').change('6', '12') gives {change.standard_error:.4f}.",
    ]


STEPS = {
    "4.1": _steps_by_hand,
    "4.2": _steps_of_two,
    "4.3": _steps_of_cards,
    "4.4": _steps_of_change,
    "4.5": _steps_of_judge,
}
EXERCISES = {
    "4.1": (
        _by_hand,
        1,
        "the proportion",
        "first subtract the others that are read as panels",
        lambda: (
            "Calibration, with an audit at a true proportion of .10, would report "
            f"{_calibrated(0.1, 0.92, 0.98, 0.215):.3f}."
        ),
    ),
    "4.2": (
        _two_estimators,
        2,
        "(mixed, calibration)",
        "wb.estimate_prevalence(audit, counts, counts_at_audit, method=..., rates='frame')",
        _why_two_estimators,
    ),
    "4.3": (
        _cards,
        _three_words,
        "three of 'mixed', 'calibration', 'neither'",
        "for each event, ask which rate stays constant",
        lambda: (
            "The subsidy changes the proportion of panels, not the error rates. The loss depends "
            "only on how a form was read, so P(true | read) stays constant. A new camera changes "
            "all rates, so the office needs a new audit."
        ),
    ),
    "4.4": (
        _change,
        2,
        "(change, standard error)",
        "wb.prevalence_series(..., rates='frame', sampled_by='random').change('6', '12')",
        _why_change,
    ),
    "4.5": (
        _judge,
        1,
        "the proportion",
        "the labeled answers have judge labels, too: treat each judge label as a stratum",
        lambda: (
            "The human labels and the judge labels belong to the same answers. So each judge label "
            "is a stratum, weighted by its proportion in all answers."
        ),
    ),
}
