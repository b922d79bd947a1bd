"""Exercises of lesson 4: the values that their rules and texts in `content.yaml` use."""

import functools
import re
from typing import Any

from workbench.lessons.content import lesson_texts
from workbench.lessons.exercise import Exercise
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
_WORD = re.compile(r"[^\s,/;]+")


def _by_hand(
    p00: float = 0.92, p11: float = 0.98, base: float = 0.1, counted: float = 0.215
) -> dict:
    net, read = p00 + p11 - 1, base * p11 + (1 - base) * (1 - p00)
    calibrated = counted * base * p11 / read + (1 - counted) * base * (1 - p11) / (1 - read)
    true_share = (counted - (1 - p00)) / net
    return {
        "true_share": true_share,
        "calibrated": calibrated,
        "p00": _Share(p00),
        "p11": _Share(p11),
        "false_positives": _Share(1 - p00),
        "net": _Share(net),
        "counted": _Share(counted),
        "difference": _Share(counted - 1 + p00),
    }


class _Share(float):
    """A proportion that is written as .92 without a format."""

    def __format__(self, form: str) -> str:
        if form:
            return super().__format__(form)
        return f"{self:.4f}".rstrip("0").removeprefix("0").ljust(3, "0")


@functools.cache
def _two_estimators() -> dict:
    audit = ConfusionCounts(AUDIT)
    mixed, calibration = (
        estimate_prevalence(audit, TWELVE, FRAME, method=method).estimate
        for method in ("mixed", "calibration")
    )
    fitting = estimate_prevalence(audit, TWELVE, FRAME, method="mixed", rates="frame")
    interval: Any = fitting.interval()
    (a, b), (c, d) = AUDIT
    base, later = FRAME[1] / sum(FRAME), TWELVE[1] / sum(TWELVE)
    read, other = d / (b + d), c / (a + c)
    estimates = {
        "mixed": mixed,
        "calibration": calibration,
        "interval": interval,
        "where": "inside" if calibration in interval else "outside",
        "then": base * read + (1 - base) * other,
        "later": later,
        "later_others": 1 - later,
        "base": base,
        "base_others": 1 - base,
    }
    rates = {
        "audit": AUDIT,
        "read_as_panels": b + d,
        "read_as_others": a + c,
        "read": read,
        "other": other,
        "p00": a / (a + b),
        "p11": d / (c + d),
    }
    return estimates | rates


def _three_words(answer: Any) -> list | None:
    methods = _WORD.findall(answer) if isinstance(answer, str) else answer
    if not isinstance(methods, (list, tuple)) or len(methods) != len(CARDS):
        return None
    return [str(method).strip(" .!").lower() for method in methods]


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
    shares = [month[1] / sum(month) for month in (first, second)]
    counted = shares[1] - shares[0]
    errors = [change.standard_error for change in changes]
    return {
        "changes": [change.estimate for change in changes],
        "errors": errors,
        "naive_errors": [change.naive_standard_error for change in changes],
        "mixed": changes[0],
        "calibrated": _calibrated_change(),
        "shares": shares,
        "counted": counted,
        "net": net,
        "change": counted / net,
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
    errors = (passed + missed) / n
    specificity, sensitivity = fails / (fails + passed), passes / (missed + passes)
    good = [missed / (fails + missed), passes / (passed + passes)]
    true = PASSES * passes / (passed + passes) + (1 - PASSES) * missed / (fails + missed)
    share, passing = (missed + passes) / n, passed + passes
    corrected_twice = (true - 1 + specificity) / (sensitivity + specificity - 1)
    return {
        "true_share": true,
        "passes": PASSES,
        "fails": 1 - PASSES,
        "off_by_errors": [PASSES + errors, PASSES - errors],
        "corrected_twice": corrected_twice,
        "in_sample": share,
        "labeled": LABELED,
        "failed": fails + missed,
        "passed": passing,
        "good": good,
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
