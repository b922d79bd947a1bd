"""Exercises of lesson 4."""

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
PASSES, SAID = (
    0.66,
    ((56, 26), (14, 104)),
)  # of all answers; of 200, by people's label and the judge's verdict
CARDS = ("mixed", "calibration", "neither")


def _by_hand(
    values: list, p00: float = 0.92, p11: float = 0.98, base: float = 0.1, counted: float = 0.215
) -> Judged | tuple:
    true = (counted - (1 - p00)) / (p00 + p11 - 1)
    if abs(values[0] - true) <= 1e-3:
        return "right", f"{true:.3f}"
    if abs(values[0] - _calibrated(base, p00, p11, counted)) <= 1e-3:
        return Judged(
            "mistake",
            "that is calibration, which holds P(true | read) constant and stays behind",
            "calibration after a shift",
        )
    if abs(values[0] - counted) <= 1e-3:
        return Judged(
            "mistake",
            f"that is the counted share: {1 - p00:.0%} of the others are read as panels",
            "counted share taken for the true one",
        )
    return "not yet", "counted = share x p11 + (1 - share) x (1 - p00); solve for the share"


def _calibrated(base: float, p00: float, p11: float, counted: float) -> float:
    """Return the share that calibration on an audit at the share `base` makes of a counted one."""
    read = base * p11 + (1 - base) * (1 - p00)
    return counted * base * p11 / read + (1 - counted) * base * (1 - p11) / (1 - read)


def _two_estimators(values: list) -> tuple:
    mixed, calibration = _estimates()
    if np.abs(np.array(values) - (calibration, mixed)).max() <= 5e-4:
        return "mistake", "the right two numbers in the wrong order"
    if abs(values[0] - mixed) > 5e-4:
        return (
            "not yet",
            "mixed = calibration at audit time, plus the counted change over p00 + p11 - 1",
        )
    if abs(values[1] - calibration) > 5e-4:
        return (
            "not yet",
            "calibration multiplies counted shares by P(true | read), the columns of the audit table",
        )
    return "right", f"{mixed:.4f} and {calibration:.4f}"


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
        f"95% interval of mixed with rates='frame', as these months were made: {limits.low:.3f} to "
        f"{limits.high:.3f}; calibration's estimate lies {where}"
    )


def _three_words(answer: Any) -> list | None:
    return parts_of(3)(answer.split() if isinstance(answer, str) else answer)


def _cards(parts: list) -> tuple | None:
    given = [str(part).strip(" .!").lower() for part in parts]
    if not set(given) <= set(CARDS):
        return None
    wrong = [
        name
        for name, mine, right in zip(("subsidy", "lost forms", "camera"), given, CARDS, strict=True)
        if mine != right
    ]
    return (
        ("right", " / ".join(CARDS))
        if not wrong
        else ("not yet", f"think again about: {', '.join(wrong)}")
    )


def _change(
    values: list,
    audit: list | tuple = AUDIT,
    frame: list | tuple = FRAME,
    first: list | tuple = SIX,
    second: list | tuple = TWELVE,
) -> Judged | tuple:
    known = _changes(tuple(map(tuple, audit)), tuple(frame), tuple(first), tuple(second))
    if min(abs(values[0] - change.estimate) for change in known) > 1e-3:
        return "not yet", "the change is the counted one, divided by p00 + p11 - 1"
    if min(abs(values[1] - change.standard_error) for change in known) <= 6e-4:
        return "right", f"{values[0]:.4f} and {values[1]:.4f}"
    if min(abs(values[1] - change.naive_standard_error) for change in known) <= 1.5e-3:
        return Judged(
            "mistake",
            "as if the two levels had independent errors: they share one audit",
            "levels taken as independent",
        )
    return "not yet", "the change is right, its standard error is not"


@lru_cache(1000)
def _changes(
    audit: tuple = AUDIT, frame: tuple = FRAME, first: tuple = SIX, second: tuple = TWELVE
) -> list:
    """Return the change from month 6 to month 12 by two estimators and under both views of the rates."""
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
        f"the audit's error is in both months and nearly cancels: SE {shared.standard_error:.4f}, from level bands "
        f"{shared.naive_standard_error:.4f}; calibration says {calibrated.estimate:.4f}, true is .0300"
    )


def _judge(values: list) -> Judged | tuple:
    (fails, passed), (missed, passes) = SAID
    true, wrong, n = (
        _corrected(),
        (passed + missed) / (fails + passed + missed + passes),
        sum(map(sum, SAID)),
    )
    specificity, sensitivity = fails / (fails + passed), passes / (missed + passes)
    mistakes = {
        PASSES: (
            "that is the judge's own rate: how many of those that it passes are good, it does not know",
            "the judge's own rate trusted",
        ),
        PASSES + wrong: (OF_ERRORS, "error rate added"),
        PASSES - wrong: (OF_ERRORS, "error rate added"),
        (true - 1 + specificity) / (sensitivity + specificity - 1): (
            "that is corrected twice: people's labels by verdict are free of the judge's errors already",
            "corrected twice",
        ),
    }
    if abs(values[0] - true) <= 1e-3:
        return "right", f"{true:.3f}"
    for value, said in mistakes.items():
        if abs(values[0] - value) <= 1e-3:
            return Judged("mistake", *said)
    if abs(values[0] - (missed + passes) / n) <= 1e-3:
        return (
            "not yet",
            "that is what people say of 200; the judge has seen all: weigh by how many it passes",
        )
    return "not yet", "of what passes, people call how many good? And of what fails?"


OF_ERRORS = "its errors go both ways: some that it passes are bad, some that it fails are good"


def _corrected() -> float:
    (fails, passed), (missed, passes) = SAID
    return PASSES * passes / (passed + passes) + (1 - PASSES) * missed / (fails + missed)


def _steps_of_judge() -> list[str]:
    (fails, passed), (missed, passes) = SAID
    return [
        f"Of {passed + passes} that the judge passes people call {passes} good: {passes / (passed + passes):.2f}.",
        f"Of {fails + missed} that it fails, {missed}: {missed / (fails + missed):.2f}.",
        f"It passes {PASSES:.2f} of all: {PASSES:.2f} x {passes / (passed + passes):.2f} + {1 - PASSES:.2f} x "
        f"{missed / (fails + missed):.2f} = {_corrected():.3f}.",
    ]


def _steps_by_hand(
    p00: float = 0.92, p11: float = 0.98, base: float = 0.1, counted: float = 0.215
) -> list[str]:
    net = p00 + p11 - 1
    return [
        f"Of the others {_point(1 - p00)} are read as panels, of the panels {_point(p11)}.",
        f"Counted = share x {_point(p11)} + (1 - share) x {_point(1 - p00)} = {_point(1 - p00)} + share x "
        f"{_point(net)}.",
        f"So take {_point(1 - p00)} off the count: {_point(counted)} - {_point(1 - p00)} = "
        f"{_point(counted - 1 + p00)}.",
        f"Divided by {_point(p00)} + {_point(p11)} - 1 = {_point(net)}: the true share is "
        f"{(counted - 1 + p00) / net:.3f}.",
    ]


def _point(share: float) -> str:
    return f"{share:.4f}".rstrip("0").removeprefix("0").ljust(3, "0")


def _steps_of_two() -> list[str]:
    (a, b), (c, d) = AUDIT
    mixed, calibration = _estimates()
    p00, p11, (later, base) = (
        a / (a + b),
        d / (c + d),
        (TWELVE[1] / sum(TWELVE), FRAME[1] / sum(FRAME)),
    )
    read, other = d / (b + d), c / (a + c)
    then = base * read + (1 - base) * other
    return [
        f"Columns: of the read {d} of {b + d} = {read:.4f} have panels, of the others {c} of {a + c} = "
        f"{other:.4f}.",
        f"Calibration now: {later:.4f} x {read:.4f} + {1 - later:.4f} x {other:.4f} = {calibration:.4f}.",
        f"At audit time: {base:.4f} x {read:.4f} + {1 - base:.4f} x {other:.4f} = {then:.4f}.",
        f"Mixed: {then:.4f} + ({later:.4f} - {base:.4f}) / ({p00:.4f} + {p11:.4f} - 1) = {mixed:.4f}.",
    ]


def _steps_of_cards() -> list[str]:
    return [
        "Subsidy: more have panels, each form is read as before. P(read | true) stays: mixed.",
        "Lost forms: they are missing by what was read, so P(true | read) stays: calibration.",
        "Camera: everything is read anew, nothing stays: neither.",
    ]


def _steps_of_change(
    audit: list | tuple = AUDIT,
    frame: list | tuple = FRAME,
    first: list | tuple = SIX,
    second: list | tuple = TWELVE,
) -> list[str]:
    net = audit[0][0] / sum(audit[0]) + audit[1][1] / sum(audit[1]) - 1
    counted = second[1] / sum(second) - first[1] / sum(first)
    found = _changes(tuple(map(tuple, audit)), tuple(frame), tuple(first), tuple(second))[0]
    return [
        f"Counted shares: {first[1] / sum(first):.4f} and {second[1] / sum(second):.4f}, a change of "
        f"{counted:.4f}.",
        f"p00 + p11 - 1 of the audit is {net:.4f}; the true change is {counted:.4f} / {net:.4f} = "
        f"{counted / net:.4f}.",
        "Its standard error: of the two months' counts, and of the audit, which is in both months. "
        "wb.prevalence_series(audit, frame, months, method='mixed', rates='frame', "
        "sampled_by='random').change('6', '12') says "
        f"{found.standard_error:.4f}.",
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
        "the share",
        "first take the falsely read others off the count",
        lambda: (
            f"calibration on an audit at a share of .10 would report {_calibrated(0.1, 0.92, 0.98, 0.215):.3f}"
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
        "ask each time: which rate stays what it was?",
        lambda: (
            "the subsidy changes how many have panels, not how they are read; lost forms are missing by what "
            "was read, so P(true | read) stays; a new camera reads anew: audit again"
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
        "the share",
        "of the same items, what people say of each verdict needs no inverse",
        lambda: (
            "the labels are of the same items as the verdicts: each verdict is a stratum, weighed by how many have it"
        ),
    ),
}
