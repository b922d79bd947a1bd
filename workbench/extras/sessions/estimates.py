"""Estimates of an audit session, with intervals that allow for interim analyses.

`SessionEstimate` is the result, and `estimates_of` computes it from the state of a session.
"""

import functools
import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from workbench import checks
from workbench.audits.differences import CALLED
from workbench.audits.judged import called, judged_of, verdict_columns
from workbench.data.judged_items import WHICH
from workbench.extras.sessions.design import next_labels
from workbench.extras.sessions.store import StoredItem
from workbench.extras.sessions.trail import LABELED, OPEN, Trail
from workbench.results import Interval, Note, Result, digits, percent, sentences
from workbench.results.vocabulary import metric_words
from workbench.stratified import skips
from workbench.stratified.accuracy import plan_budget, stratified_accuracy
from workbench.stratified.anytime import anytime_interval
from workbench.stratified.class_metrics import METRICS as CLASS_METRICS
from workbench.stratified.class_metrics import class_metrics
from workbench.stratified.differences import VALUES as DIFFERENCES
from workbench.stratified.differences import paired_difference
from workbench.stratified.second_labels import (
    LEAST_PAIRS,
    UNDECIDED,
    SecondLabels,
    counted_pairs,
    second_labels,
)
from workbench.stratified.waves import wave_accuracy

METHODS = ("planned", "anytime", "looks", "fixed")
OF_WAVES = ("planned", "fixed")
METRICS = {"accuracy": ("accuracy",), "class_metrics": CLASS_METRICS, "difference": ("difference",)}
CORRECTED, BY_FIRST = "corrected", "by first labels"
WORDS = {
    "accuracy": "Accuracy",
    "difference": "Accuracy of A minus accuracy of B",
    CORRECTED: "Accuracy corrected for label errors",
    BY_FIRST: "Accuracy from first labels",
} | {name: metric_words(name) for name in CLASS_METRICS}
BLOCKING = 5  # largest number of missing items that a note names
BEFORE = 0.2  # proportion of the error that is spent before the planned end
SEARCHED_LOOKS = 30, 600, 10  # first, last and step of the interim analyses in the search
SEARCHED_PRICE = 0.1  # proportion of the error that each of them spends
JOINED_PAIRS = 20  # per stratum, if some items have one label; fewer make the interval longer


class SessionEstimate(Result):
    """An estimate from the labels of an audit session so far.

    `AuditSession.estimate` returns it. Only labels without gaps before them count: every earlier
    item in the order of labeling must be labeled or skipped. In an audit in waves, only whole waves
    count.

    Attributes
    ----------
    question : {"accuracy", "class_metrics", "difference"}
        The question of the audit.
    method : {"planned", "anytime", "looks", "fixed"}
        Method of the interval.
    labeled : int
        Number of labels that count.
    skipped : int
        Number of items among them that could not be labeled.
    waiting : int
        Number of labels that do not count yet, because earlier items or the rest of their wave have
        no label.
    planned : int
        The budget at the start of the audit.
    level : float
        Confidence level.
    lowest : tuple of float
        Estimates per metric if every skipped item is incorrect. NaN if a stratum has fewer than 2
        labels.
    highest : tuple of float
        The same if every skipped item is correct.
    intervals : tuple
        An `Interval` per metric, or None without one; the notes give the reason.
    at_random : Interval or None
        The interval that a simple random sample with the same labels would give. None for the
        metrics of a class.
    second : SecondLabels or None
        The result of double annotation, if there is one. When it corrects the accuracy, `estimate`
        and `interval` use it; `lowest`, `highest` and `intervals` are those of first labels.
    wave : int
        The last wave that was sampled, 0 without waves.
    models : tuple of str
        The names of the two models of a difference.

    See Also
    --------
    AuditSession.estimate : Return the estimate and record this interim analysis.
    Interval : A confidence interval.
    """

    question: str
    method: str
    labeled: int
    skipped: int
    waiting: int
    planned: int
    level: float
    lowest: tuple
    highest: tuple
    intervals: tuple
    at_random: Interval | None = None
    second: SecondLabels | None = None
    wave: int = 0
    models: tuple = CALLED

    @property
    def metrics(self) -> tuple[str, ...]:
        """Return the names of the metrics: accuracy, difference, or precision, recall and f1."""
        return METRICS[self.question]

    @property
    def estimate(self) -> Any:
        """Return the estimate, or the middle of its range; a dict by metric for a class."""
        middle = [(low + high) / 2 for _, low, high, _ in self.quoted]
        return middle[0] if len(middle) == 1 else dict(zip(self.metrics, middle, strict=True))

    def interval(self, metric: str | None = None) -> Interval | None:
        """Return the confidence interval, or None if the method has none yet.

        Parameters
        ----------
        metric : str, optional
            Name of the metric, required for the metrics of a class.

        Returns
        -------
        Interval or None
            The interval.
        """
        if metric is None and len(self.metrics) > 1:
            raise checks.WrongValue(
                "metric", f"must be one of {checks.listed(self.metrics, quoted=True)}; got None"
            )
        return self.quoted[
            0
            if metric is None
            else self.metrics.index(checks.choice("metric", metric, self.metrics))
        ][-1]

    @property
    def is_corrected(self) -> bool:
        """Return whether double annotation corrects the accuracy."""
        return self.second is not None and self.second.interval() is not None

    @property
    def by_labels(self) -> list[tuple[str, float, float, Interval | None]]:
        """Return name, lowest, highest and interval of each metric from first labels alone."""
        names = (BY_FIRST,) if self.second else self.metrics
        return list(zip(names, self.lowest, self.highest, self.intervals, strict=True))

    @property
    def quoted(self) -> list[tuple[str, float, float, Interval | None]]:
        """Return name, lowest, highest and interval to quote, corrected if possible."""
        if self.second is None or not self.is_corrected:
            return self.by_labels
        return [(CORRECTED, self.second.lowest, self.second.highest, self.second.interval())]

    def headline(self) -> str:
        """Return estimates, intervals and the number of labels in one sentence."""
        said = ", ".join(_said(*each, self.level) for each in self.quoted)
        how = (
            f"method {self.method}"
            if self.second is None or not self.is_corrected
            else checks.counted(self.second.pairs, "item labeled twice", "items labeled twice")
        )
        skipped = f", {self.skipped} could not be labeled" if self.skipped else ""
        waits = f"; {self.waits()}" if self.waiting else ""
        labels = f"{self.labeled} of {checks.counted(self.planned, 'planned label')}"
        return f"{said}; {labels}{skipped}, {how}{waits}"

    def waits(self) -> str:
        """Return in a clause which missing label the others wait for."""
        labels = checks.counted(self.waiting, "label does", "labels do")
        if self.wave:
            return f"{labels} not count until the rest of wave {self.wave} is labeled"
        return f"{labels} not count until position {self.labeled + self.skipped + 1} has one"

    def reasons(self) -> tuple[str, ...]:
        """Return why a result is missing or preliminary, as sentences."""
        return sentences(note for note in self.notes if note.kind in ("undefined", "data"))

    def uncorrected(self) -> str:
        """Return the estimate from first labels in one sentence, "" without a correction."""
        return (
            f"{_said(*self.by_labels[0], self.level)}; method {self.method}"
            if self.is_corrected
            else ""
        )

    def finding(self) -> str:
        """Return the result in a plain sentence, or the reason why there is none."""
        known = limited(self.quoted)
        if not known:
            why = (
                [self.waits()]
                if self.waiting
                else [note.text for note in self.notes if note.kind == "undefined"]
            )
            return f"No result yet: {'; '.join(why)}"
        said = "; ".join(_plainly(*each, self.models) for each in known)
        return said[0].upper() + said[1:]

    def gain(self) -> str:
        """Return the comparison with a simple random sample in one sentence, "" if unknown."""
        if self.at_random is None or self.intervals[0] is None or self.is_corrected:
            return ""
        low, high = self.at_random
        other, own = (
            f"{200 * each.half_width:.1f}" for each in (self.at_random, self.intervals[0])
        )
        width = "with the same width" if other == own else f"{other} points wide instead of {own}"
        return (
            "a simple random sample, without strata, with the same labels would have given an "
            f"interval of {100 * low:.1f}% to {100 * high:.1f}%, {width}"
        )

    def rows(self) -> list[dict]:
        """Return one row per metric, preceded by a corrected accuracy if there is one."""
        found = [
            (metric, *each[1:], self.method)
            for metric, each in zip(self.metrics, self.by_labels, strict=True)
        ]
        return [
            {
                "metric": metric,
                "estimate": (low + high) / 2,
                "low": limits and limits.low,
                "high": limits and limits.high,
                "level": self.level,
                "method": method,
                "labeled": self.labeled,
            }
            for metric, low, high, limits, method in [
                *(("accuracy", *each[1:], CORRECTED) for each in self.quoted if self.is_corrected),
                *found,
            ]
        ]


@dataclass(frozen=True)
class Answers:
    """The first answers in the order of labeling: strata, and values, None for skipped items."""

    design: dict
    stratum: np.ndarray
    values: list

    @property
    def skipped(self) -> int:
        """Return the number of skipped items."""
        return self.values.count(None)

    def first(self, n: int) -> Self:
        """Return the first n answers."""
        return replace(self, stratum=self.stratum[:n], values=self.values[:n])

    def sides(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the values with skipped items at their smallest, and at their largest value."""
        ends = (
            [*map(WHICH.index, "BA")]
            if "judged" in self.design
            else [-1 if self.design["question"] == "difference" else 0, 1]
        )
        worst, best = (
            np.array([end if value is None else value for value in self.values], np.int64)
            for end in ends
        )
        return worst, best


def estimates_of(trail: Trail, methods: Sequence[str]) -> list[SessionEstimate]:
    """Return the estimates from the state of a session, one for each method."""
    design = trail.design
    second = (
        second_labels_of(trail)
        if design["second_share"] and design["question"] == "accuracy"
        else None
    )
    for method in {*methods} - {*OF_WAVES} if trail.waves else ():
        raise checks.WrongValue(
            "method",
            f"must be {' or '.join(map(repr, OF_WAVES))} in an audit in waves, whose "
            "allocation depends on the labels",
            method,
        )
    return [
        _estimate(trail, checks.choice("method", method, METHODS), second) for method in methods
    ]


def methods_for(design: dict) -> list[str]:
    """Return the methods that an audit allows, "planned" first."""
    if design.get("waves"):
        return [*OF_WAVES]
    return [method for method in METHODS if method != "anytime" or design["question"] == "accuracy"]


def wave_labels(trail: Trail) -> list[int]:
    """Return the labels per stratum of the next wave; skipped items count as incorrect."""
    answers, design = answers_of(trail, trail.budget), trail.design
    counts = _table(design, answers.stratum, answers.sides()[0])
    return next_labels(
        design["stratum_size"], trail.waves, design["prior"], counts.sum(1), counts[:, 1]
    ).tolist()


def seen(estimates: Sequence[SessionEstimate]) -> dict:
    """Return the limits that an interim analysis showed, by metric or by method."""
    first, several = estimates[0], len(estimates) > 1
    limits = {CORRECTED: first.interval()} if first.is_corrected else {}
    for each in estimates:
        limits |= {
            " ".join(
                [each.method] * several + [metric] * (not several or len(each.metrics) > 1)
            ): found
            for metric, found in zip(each.metrics, each.intervals, strict=True)
        }
    return {name: found and [found.low, found.high] for name, found in limits.items()}


def _estimate(trail: Trail, method: str, second: SecondLabels | None) -> SessionEstimate:
    design, n = trail.design, trail.countable()
    answers = answers_of(trail, n)
    limits, notes = _BY_METHOD[method](answers, trail)
    lowest, highest = (_estimates(design, answers.stratum, side) for side in answers.sides())
    waiting = [k for k in range(n, trail.budget) if trail.status(k) == LABELED]
    last = trail.budget if trail.waves and waiting else max(waiting, default=n)
    before = [trail.items[k].id for k in range(n, last) if trail.status(k) == OPEN]
    return SessionEstimate(
        design["question"],
        method,
        n - answers.skipped,
        answers.skipped,
        len(waiting),
        design["budget"],
        design["level"],
        lowest,
        highest,
        tuple(limits or [None] * len(lowest)),
        _without_strata(answers, trail, method),
        second,
        trail.wave,
        called(verdict_columns(design["source"])) if "judged" in design else CALLED,
        notes=[
            *notes,
            *_notes(answers, len(waiting), before, lowest, trail.wave),
            *_of_the_judge(answers),
            *(note for each in limits or () for note in each.notes),
            *(second.notes if second else ()),
        ],
    )


def _of_the_judge(answers: Answers) -> list[Note]:
    """Return notes on whom the judge favors, if there is a judge and every item has a label."""
    design = answers.design
    if "judged" not in design or answers.skipped or not _enough(design, answers.stratum):
        return []
    return judged_of(design["judged"], answers.stratum, answers.sides()[0]).remarks(
        level=design["level"]
    )


def _without_strata(answers: Answers, trail: Trail, method: str) -> Interval | None:
    """Return the interval if the same labels were a simple random sample of all items."""
    design = answers.design
    if design["question"] == "class_metrics" or "judged" in design or trail.waves:
        return None
    alike = Answers(
        design | {"stratum_size": [sum(design["stratum_size"])]},
        np.zeros_like(answers.stratum),
        answers.values,
    )
    limits, _ = _BY_METHOD[method](alike, trail)
    return limits[0] if limits else None


def answers_of(trail: Trail, n: int) -> Answers:
    """Return the first labels of the first n items."""
    labels = [trail.labels(k) for k in range(n)]
    values = [
        value_of(trail.design, trail.items[k], said[0].label) if said else None
        for k, said in enumerate(labels)
    ]
    return Answers(
        trail.design, np.array([item.stratum for item in trail.items[:n]], np.int64), values
    )


def value_of(design: dict, item: StoredItem, label: Any) -> int:
    """Return the value of a label: 1 correct or 0 incorrect, or 1, 0 or -1 for A minus B.

    With a judge, it is a code of `WHICH`: which answer is correct.
    """
    if design["asks"] != "truth":
        return label if design["asks"] == "correct" else WHICH.index(label)
    if design["question"] == "accuracy":
        return int(label == item.prediction)
    if design["question"] == "difference":
        return int(label == item.prediction) - int(label == item.rival)
    return int((label == design["metrics_of"]) == (item.prediction == design["metrics_of"]))


def more_labels(trail: Trail, half_width: float) -> int:
    """Return the expected number of further labels for a half-width of the fixed interval."""
    half_width = checks.number("half_width", half_width, 0, 0.5, open_ends=True)
    answers, design = answers_of(trail, trail.beginning()), trail.design
    if trail.waves:
        raise checks.WrongValue(
            "half_width", "cannot be planned in an audit in waves, whose budget is fixed"
        )
    size, n = np.array(design["stratum_size"]), len(answers.values)
    if not _enough(design, answers.stratum):
        raise checks.WrongValue(
            "half_width",
            "needs at least 2 labels in every stratum; label more items first",
        )
    if design["question"] == "accuracy":
        counts = _table(design, answers.stratum, answers.sides()[0])
        rate = (counts[:, 1] + 0.5) / (counts.sum(1) + 1)
        return max(plan_budget(size, rate, half_width, level=design["level"]).budget - n, 0)
    widest = max(each.half_width for each in _bounded(answers, design["level"], "fixed"))
    # the squared width decreases with the number of labels, and is 0 when all items are labeled
    total, ratio = int(size.sum()), (half_width / widest) ** 2
    return max(math.ceil(1 / (ratio * (1 / max(n, 1) - 1 / total) + 1 / total)) - n, 0)


def _planned(answers: Any, trail: Any) -> tuple:
    design, alpha = answers.design, 1 - answers.design["level"]
    end, n = design["budget"], len(answers.values)
    anytime = "anytime" in methods_for(design)
    if n < end and not anytime:
        what, left = (
            "an audit in waves" if trail.waves else "this question",
            checks.counted(end - n, "label is", "labels are"),
        )
        return None, [
            Note(
                "undefined",
                f"{what} has no interval before the planned {end} labels; {left} still missing",
            )
        ]
    if n < end:
        return _anytime_limits(answers, BEFORE * alpha, "planned"), []
    if not anytime:
        late = Note(
            "design",
            f"the interval uses the planned {end} labels; later labels do not make it shorter",
        )
        return _bounded(answers.first(end), design["level"], "planned"), [late] * (n > end)
    at_end = _bounded(answers.first(end), 1 - (1 - BEFORE) * alpha, "planned", design["level"])
    if n == end:
        return at_end, []
    return _both(at_end[0], _anytime_limits(answers, BEFORE * alpha, "planned")[0])


def _both(first: Any, second: Any) -> tuple:
    low, high = max(first.low, second.low), min(first.high, second.high)
    if low <= high:
        return [Interval(low, high, first.level, "planned", notes=first.notes)], []
    return [Interval(high, low, first.level, "planned")], [
        Note(
            "unreliable",
            "the interval at the planned end and the interval of all labels do not overlap. At least "
            "one of them misses the true value. The gap between them is shown",
        )
    ]


def _anytime(answers: Answers, trail: Trail) -> tuple:
    if answers.design["question"] != "accuracy":
        raise checks.WrongValue(
            "method",
            "must not be 'anytime' for this question, because it is proved for accuracy only; "
            "use 'planned', or 'looks' with planned interim analyses",
        )
    return _anytime_limits(answers, 1 - answers.design["level"], "anytime"), []


def _anytime_limits(answers: Answers, alpha: float, method: str) -> list:
    """Return the anytime interval; with skipped items, each limit takes half of the error."""
    design = answers.design
    share = alpha / 2 if answers.skipped else alpha
    worst, best = (
        anytime_interval(
            design["stratum_size"],
            answers.stratum,
            side,
            expected=design["expected"],
            level=1 - share,
        )
        for side in answers.sides()
    )
    return [Interval(worst.low, best.high, design["level"], method)]


def _looks(answers: Answers, trail: Trail) -> tuple:
    design, n, alpha = answers.design, len(answers.values), 1 - answers.design["level"]
    declared = design["looks"]
    if declared:
        reached = [each for each in declared if each <= n]
        if not reached:
            return None, [
                Note(
                    "undefined",
                    "the first interim analysis is planned at "
                    f"{checks.counted(declared[0], 'label')}",
                )
            ]
        at, level = reached[-1], 1 - alpha / len(declared)
        note = Note(
            "design",
            f"this is the interim analysis planned at {checks.counted(at, 'label')}, one of "
            f"{len(declared)}",
        )
    elif design["question"] != "accuracy":
        return None, [
            Note(
                "undefined",
                "no interim analyses were planned at the start, so there is no interval before the "
                "planned end for this question",
            )
        ]
    else:
        first, last, step = SEARCHED_LOOKS
        at, level = min(n // step * step, last), 1 - SEARCHED_PRICE * alpha
        if at < first:
            return None, [Note("undefined", f"the first interim analysis is at {first} labels")]
        note = Note(
            "assumption",
            f"this is the interim analysis at {at} labels, one of those at every {step} labels "
            f"from {first} to {last}. A search supports that the default interval stays valid at "
            "these analyses; there is no proof",
        )
    if not _enough(design, answers.stratum[:at]):
        return None, [note, Note("undefined", "a stratum has fewer than 2 labels")]
    return _bounded(answers.first(at), level, "looks", design["level"]), [note]


def _fixed(answers: Answers, trail: Trail) -> tuple:
    if not _enough(answers.design, answers.stratum):
        return None, [Note("undefined", "a stratum has fewer than 2 labels")]
    return _bounded(answers, answers.design["level"], "fixed"), list(_peeked(answers, trail))


def _peeked(answers: Answers, trail: Trail) -> Iterator[Note]:
    n, end = len(answers.values), answers.design["budget"]
    if n != end and trail.looks:
        labels, looks = (
            checks.counted(n, "label"),
            checks.counted(len(trail.looks), "interim analysis", "interim analyses"),
        )
        yield Note(
            "unreliable",
            f"the method 'fixed' needs a number of labels that was fixed beforehand, but {end} "
            f"labels were planned and this interval is for {labels} after {looks}. If an interim "
            "analysis was the reason to stop, the coverage is below the level. In "
            "simulations with an analysis every 10 labels, 95% intervals missed the true value in "
            "21% of audits (28% in the worst setting)",
        )
    elif n != end:
        yield Note(
            "assumption",
            f"the interval holds only if you decided on {checks.counted(n, 'label')} instead of the "
            f"planned {end} without looking at labels",
        )


def _bounded(answers: Answers, level: float, method: str, said: float | None = None) -> list:
    """Return the default intervals; with skipped items, their lowest and highest limits."""
    worst, best = (
        [interval(level) for _, interval in _measured(answers.design, answers.stratum, side)]
        for side in answers.sides()
    )
    return [
        Interval(
            low.low,
            high.high,
            said or level,
            method,
            high.limiting_stratum,
            notes=[*low.notes, *high.notes],
        )
        for low, high in zip(worst, best, strict=True)
    ]


def _table(design: dict, stratum: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return the number of labels of each stratum with each value, (H, V)."""
    kinds = (
        range(len(WHICH))
        if "judged" in design
        else DIFFERENCES
        if design["question"] == "difference"
        else (0, 1)
    )
    counts = np.zeros((len(design["stratum_size"]), len(kinds)), np.int64)
    np.add.at(counts, (stratum, values - int(kinds[0])), 1)
    return counts


def _enough(design: dict, stratum: np.ndarray) -> bool:
    size = np.array(design["stratum_size"])
    return bool((np.bincount(stratum, minlength=size.size) >= np.minimum(2, size)).all())


def _estimates(design: dict, stratum: np.ndarray, values: np.ndarray) -> tuple:
    if not _enough(design, stratum):
        return (float("nan"),) * len(METRICS[design["question"]])
    return tuple(estimate for estimate, _ in _measured(design, stratum, values))


def _measured(
    design: dict, stratum: np.ndarray, values: np.ndarray
) -> list[tuple[float, Callable]]:
    """Return for each metric its estimate and a function from the level to its interval."""
    size, counts = design["stratum_size"], _table(design, stratum, values)
    if design["question"] == "class_metrics":
        metrics = class_metrics(size, design["predicted"], counts.sum(1), counts[:, 1])
        return [
            (getattr(metrics, name), functools.partial(metrics.interval, name))
            for name in CLASS_METRICS
        ]
    found = (
        judged_of(design["judged"], stratum, values)
        if "judged" in design
        else paired_difference(size, counts, agreeing=design["agreeing"])
        if design["question"] == "difference"
        else wave_accuracy(size, *_by_wave(design, stratum, values))
        if design.get("waves")
        else stratified_accuracy(size, counts.sum(1), counts[:, 1])
    )
    return [(found.estimate, found.interval)]


def _by_wave(
    design: dict, stratum: np.ndarray, values: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the numbers of labels and of correct ones per whole wave and stratum, (T, H)."""
    ends = [end for end in np.cumsum(design["waves"]).tolist() if end <= values.size]
    tables = [
        _table(design, stratum[start:end], values[start:end])
        for start, end in itertools.pairwise([0, *ends])
    ]
    labels = np.array(tables, np.int64).reshape(len(ends), len(design["stratum_size"]), 2)
    return labels.sum(2), labels[:, :, 1]


def _notes(answers: Any, waiting: Any, before: Any, lowest: Any, wave: int) -> Any:
    if answers.skipped:
        items = checks.counted(answers.skipped, "item")
        yield Note(
            "data",
            f"{items} could not be labeled. The lower limit counts such items as incorrect and the "
            "upper limit as correct, whatever the reason",
        )
    if waiting:
        labels = checks.counted(waiting, "label does", "labels do")
        others = f"the rest of wave {wave}" if wave else "earlier items"
        yield Note(
            "data",
            f"{labels} not count yet, because {others} have no label: "
            f"{checks.listed(before, BLOCKING, quoted=True)}; label or skip each of them",
        )
    if math.isnan(lowest[0]) and not all(each == 0 for each in lowest):
        least = "a whole wave" if wave else "at least 2 labels in every stratum"
        yield Note("undefined", f"the estimate needs {least}")


def _said(metric: str, lowest: float, highest: float, limits: Interval | None, level: float) -> str:
    unit = " points" if metric == "difference" else ""
    value, low, high = shown(metric, lowest, highest, limits)
    known = "not yet known" if math.isnan(lowest) else value + unit
    if limits is None:
        return f"{WORDS[metric]} {known} (no interval yet)"
    return f"{WORDS[metric]} {known} ({percent(level)} confidence interval {low} to {high})"


def shown(
    metric: str, lowest: float, highest: float, limits: Interval | None, error: float = 0
) -> tuple[str, ...]:
    """Return an estimate and its limits as text: in points for a difference, or in percent."""
    low, high = limits or (math.nan, math.nan)
    if metric == "difference":
        return (
            skips.said_points(lowest, highest, error=error, signed=True),
            *digits.points(low, high, error=error, signed=True),
        )
    return skips.said_percent(lowest, highest, error=error), *digits.percents(
        low, high, error=error
    )


def limited(
    found: Sequence[tuple[str, float, float, Interval | None]],
) -> list[tuple[str, float, float, Interval]]:
    """Return the estimates that are known and have an interval."""
    return [
        (name, low, high, limits)
        for name, low, high, limits in found
        if limits and not math.isnan(low)
    ]


def _plainly(
    metric: str, lowest: float, highest: float, limits: Interval, models: Sequence[str] = CALLED
) -> str:
    """Return estimate and limits as words of a sentence."""
    word, error = metric_words(metric) if metric in CLASS_METRICS else "accuracy", limits.half_width
    if digits.nothing(*limits):
        ends = digits.percents(*limits, error=2 * error)
        return f"No result: the {word} may be anywhere between {ends[0]} and {ends[1]}"
    value, low, high = shown(metric, lowest, highest, limits, error)
    interval = f"{percent(limits.level)} confidence interval"
    if metric == "difference":
        a, b = models
        better = (
            f"{a} is better than {b}"
            if limits.low > 0
            else f"{b} is better than {a}"
            if limits.high < 0
            else "Neither model is shown to be better"
        )
        return (
            f"{better}: the accuracy of A minus that of B is {value} percentage points "
            f"({interval} {low} to {high})"
        )
    corrected = (
        "; corrected for label errors"
        if metric == CORRECTED
        else "; not corrected for label errors yet"
        if metric == BY_FIRST
        else ""
    )
    return f"{word} {value} ({interval} {low} to {high}){corrected}"


_BY_METHOD: dict[str, Callable] = {
    "planned": _planned,
    "anytime": _anytime,
    "looks": _looks,
    "fixed": _fixed,
}


def second_labels_of(trail: Trail) -> SecondLabels:
    """Return agreement and corrected accuracy from double annotation."""
    answers = answers_of(trail, trail.beginning())
    tables = _doubled_tables(trail, answers)
    pairs, skipped = tables[2:]
    meant = pairs.sum((1, 2, 3)) + skipped[:, 1]
    if meant.sum() < LEAST_PAIRS or not _enough(answers.design, answers.stratum):
        by_first = [
            _estimates(answers.design, answers.stratum, side)[0] for side in answers.sides()
        ]
        return SecondLabels(
            *counted_pairs(pairs),
            sum(by_first) / 2,
            math.nan,
            math.nan,
            None,
            notes=[
                Note(
                    "undefined",
                    f"the correction needs {LEAST_PAIRS} items with two labels and 2 labels in "
                    "every stratum",
                )
            ],
        )
    starts = _joined_strata(
        meant, JOINED_PAIRS if tables[1].any() or skipped[:, 0].any() else LEAST_PAIRS
    )
    size, once, pairs, skipped = (np.add.reduceat(table, starts) for table in tables)
    found = second_labels(size, once, pairs, skipped=skipped, level=answers.design["level"])
    joined = Note(
        "design",
        f"neighboring strata were merged ({meant.size} to {len(starts)}), because few of their "
        "items have two labels",
    )
    return replace(
        found,
        notes=[*found.notes, *_peeked(answers, trail), *[joined] * (len(starts) < meant.size)],
    )


def _doubled_tables(trail: Trail, answers: Answers) -> tuple:
    """Return the first four arguments of `second_labels`.

    Of the skipped items that should have two labels, a proportion counts as having two: the same as
    among the other items.
    """
    size = np.array(answers.design["stratum_size"])
    once, skipped = np.zeros((2, size.size, 2), np.int64)
    pairs, waiting = np.zeros((size.size, 2, 2, 3), np.int64), np.zeros(size.size, np.int64)
    for k, (h, first) in enumerate(zip(answers.stratum, answers.values, strict=True)):
        said = [value_of(answers.design, trail.items[k], entry.label) for entry in trail.labels(k)][
            :3
        ]
        if first is None:
            skipped[h, int(trail.doubled[k])] += 1
        elif len(said) == 1 or not trail.doubled[k]:
            once[h, first] += 1
            waiting[h] += trail.doubled[k]
        else:
            decision = first if said[1] == first else (*said, UNDECIDED)[2]
            pairs[h, first, said[1], decision] += 1
    twice = pairs.sum((1, 2, 3))
    twice = np.rint(skipped[:, 1] * twice / np.maximum(twice + waiting, 1)).astype(np.int64)
    return size, once, pairs, np.stack([skipped.sum(1) - twice, twice], 1)


def _joined_strata(pairs: np.ndarray, least: int) -> list[int]:
    """Return the first stratum of each group of neighbors with at least so many pairs."""
    starts = [0]
    for h in range(1, len(pairs)):
        if min(pairs[starts[-1] : h].sum(), pairs[h:].sum()) >= least:
            starts.append(h)
    return starts


def rates_of(trail: Trail) -> list[dict]:
    """Return a row per stratum, or per wave and stratum, with its labels and correct ones."""
    answers = answers_of(trail, trail.countable())
    if trail.waves:
        return [
            {"wave": t, "stratum": h, "labeled": n, "correct": right}
            for t, (labeled, correct) in enumerate(
                zip(*_by_wave(trail.design, answers.stratum, answers.sides()[0]), strict=True), 1
            )
            for h, (n, right) in enumerate(zip(labeled.tolist(), correct.tolist(), strict=True), 1)
        ]
    said = np.array([-1 if value is None else value for value in answers.values], np.int64)
    counts = _table(trail.design, answers.stratum[said >= 0], said[said >= 0]).tolist()
    return [
        {"stratum": h, "labeled": wrong + right, "correct": right}
        for h, (wrong, right) in enumerate(counts, 1)
    ]
