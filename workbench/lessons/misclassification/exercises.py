"""Exercises of lesson 4: the values that their rules and texts in `content.yaml` use."""

import functools
from typing import Any

from workbench.lessons.content import lesson_texts
from workbench.lessons.exercise import Exercise, parts_of
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
CARDS = {"subsidy": "mixed", "lost forms": "calibration", "camera": "neither"}


def _by_hand(
    p00: float = 0.92, p11: float = 0.98, base: float = 0.1, counted: float = 0.215
) -> dict:
    read = base * p11 + (1 - base) * (1 - p00)
    net = p00 + p11 - 1
    return {
        "true_share": (counted - (1 - p00)) / net,
        "calibrated": counted * base * p11 / read + (1 - counted) * base * (1 - p11) / (1 - read),
        "counted": counted,
        "false_positives": 1 - p00,
        "point_false": _point(1 - p00),
        "point_p00": _point(p00),
        "point_p11": _point(p11),
        "point_net": _point(net),
        "point_counted": _point(counted),
        "point_rest": _point(counted - 1 + p00),
    }


def _point(share: float) -> str:
    return f"{share:.4f}".rstrip("0").removeprefix("0").ljust(3, "0")


@functools.cache
def _two_estimators() -> dict:
    audit = ConfusionCounts(AUDIT)
    mixed, calibration = (
        estimate_prevalence(audit, TWELVE, FRAME, method=method).estimate
        for method in ("mixed", "calibration")
    )
    limits: Any = estimate_prevalence(
        audit, TWELVE, FRAME, method="mixed", rates="frame"
    ).interval()
    (a, b), (c, d) = AUDIT
    base, read, other = FRAME[1] / sum(FRAME), d / (b + d), c / (a + c)
    return {
        "mixed": mixed,
        "calibration": calibration,
        "low": limits.low,
        "high": limits.high,
        "where": "inside" if calibration in limits else "outside",
        "later": TWELVE[1] / sum(TWELVE),
        "later_others": 1 - TWELVE[1] / sum(TWELVE),
        "base": base,
        "base_others": 1 - base,
        "read": read,
        "other": other,
        "then": base * read + (1 - base) * other,
        "p00": a / (a + b),
        "p11": d / (c + d),
        "panels": d,
        "read_as_panels": b + d,
        "missed": c,
        "read_as_others": a + c,
    }


def _three_words(answer: Any) -> list | None:
    methods = parts_of(3)(answer.split() if isinstance(answer, str) else answer)
    return methods and [str(method).strip(" .!").lower() for method in methods]


def _cards(parts: list, values: Any) -> dict | None:
    if not set(parts) <= set(CARDS.values()):
        return None
    cards = zip(CARDS.items(), parts, strict=True)
    events = [event for (event, method), answer in cards if answer != method]
    return {"incorrect": bool(events), "events": ", ".join(events)}


def _change(
    audit: list | tuple = AUDIT,
    frame: list | tuple = FRAME,
    first: list | tuple = SIX,
    second: list | tuple = TWELVE,
) -> dict:
    changes = _changes(tuple(map(tuple, audit)), tuple(frame), tuple(first), tuple(second))
    net = audit[0][0] / sum(audit[0]) + audit[1][1] / sum(audit[1]) - 1
    shares = first[1] / sum(first), second[1] / sum(second)
    return {
        "changes": [change.estimate for change in changes],
        "errors": [change.standard_error for change in changes],
        "naive_errors": [change.naive_standard_error for change in changes],
        "error": changes[0].standard_error,
        "naive_error": changes[0].naive_standard_error,
        "calibrated": _calibrated_change(),
        "first": shares[0],
        "second": shares[1],
        "counted": shares[1] - shares[0],
        "net": net,
        "change": (shares[1] - shares[0]) / net,
    }


@functools.lru_cache(1000)
def _changes(audit: tuple, frame: tuple, first: tuple, second: tuple) -> list:
    """Return the change from month 6 to 12 by two estimators and both values of `rates`."""
    table, months = ConfusionCounts(audit), {"6": first, "12": second}
    return [
        prevalence_series(
            table, frame, months, method=method, rates=rates, sampled_by="random"
        ).change("6", "12")
        for method in ("mixed", "mle")
        for rates in ("frame", "process")
    ]


@functools.cache
def _calibrated_change() -> Any:
    months = {"6": SIX, "12": TWELVE}
    series = prevalence_series(ConfusionCounts(AUDIT), FRAME, months, method="calibration")
    return series.change("6", "12").estimate


def _judge() -> dict:
    (fails, passed), (missed, passes) = LABELED
    n = fails + passed + missed + passes
    wrong = (passed + missed) / n
    specificity, sensitivity = fails / (fails + passed), passes / (missed + passes)
    good_of_passed, good_of_failed = passes / (passed + passes), missed / (fails + missed)
    true = PASSES * passes / (passed + passes) + (1 - PASSES) * missed / (fails + missed)
    return {
        "true_share": true,
        "passes": PASSES,
        "off_by_errors": [PASSES + wrong, PASSES - wrong],
        "corrected_twice": (true - 1 + specificity) / (sensitivity + specificity - 1),
        "in_sample": (missed + passes) / n,
        "passed": passed + passes,
        "good_passed": passes,
        "good_of_passed": good_of_passed,
        "failed": fails + missed,
        "good_failed": missed,
        "good_of_failed": good_of_failed,
        "fails": 1 - PASSES,
    }


def exercises() -> dict[str, Exercise]:
    """Return the exercises of this lesson by number."""
    return lesson_texts("misclassification").exercises(
        {
            "4.1": {"compute": _by_hand},
            "4.2": {"compute": _two_estimators},
            "4.3": {"reader": _three_words, "examine": _cards},
            "4.4": {"compute": _change},
            "4.5": {"compute": _judge},
        }
    )
