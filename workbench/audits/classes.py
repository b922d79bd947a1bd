"""One audit of a class: precision, recall and F1 beside accuracy, from strata within the predicted class."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from workbench import checks
from workbench.audits.accuracy import (
    AccuracyAudit,
    accuracy_found,
    checked_seed,
    draw_settings,
    within,
)
from workbench.audits.plans import SamplePlan
from workbench.data.scored_items import ScoredItems
from workbench.labeling.answers import class_texts, named_classes
from workbench.results import FILLED, Note, digits, html_table
from workbench.results.vocabulary import metric_words
from workbench.stratified import skips
from workbench.stratified.class_metrics import (
    METRICS,
    SHARE_OF_PREDICTED,
    ClassMetrics,
    class_metrics,
    expected_half_widths,
)
from workbench.stratified.sequential import labeling_order
from workbench.stratified.strata import Strata, refuse_given, stratify_part


class ClassAudit(AccuracyAudit):
    """An accuracy audit whose strata lie within the predicted class, and that class's metrics; made by `class_audit`.

    Attributes
    ----------
    mode, stratum_size, labeled, mean_score, estimate, confidence_interval, expected_half_width, truth
        As in `AccuracyAudit`, of all items; so are level, stratifier, allocation, label_sheet, unmatched, unlabeled,
        skipped, row_counts, premise.
    metrics_of : str
        The class.
    predicted : (K,) array of bool
        Whether the items of a stratum are predicted members of the class.
    asks : {"correct", "truth"}
        The column of the sheet that is to be filled.
    metrics : ClassMetrics or None
        None for a plan.
    limits : tuple of Interval
        Of precision, recall and F1, at the audit's level.
    known : ClassMetrics or None
        Of all items, where their truth is known.
    rate : (K,) array of float
        Share of the items of a stratum whose prediction about membership is right, if the scores are honest and wrong
        predictions belong to the other classes as often as these are predicted; NaN where scores are no probabilities.
    """

    metrics_of: str = ""
    predicted: np.ndarray = FILLED
    asks: str = "correct"
    metrics: ClassMetrics | None = None
    limits: tuple = ()
    known: ClassMetrics | None = None
    rate: np.ndarray = FILLED

    def half_widths(self, labeled: np.ndarray) -> dict[str, float]:
        """Return the half-widths of precision and recall, if the scores are honest, and of the accuracy.

        Parameters
        ----------
        labeled : (K,) array of int
        """
        others = super().half_widths(labeled)
        if self.rate is None or not np.isfinite(self.rate).all() or not self.predicted.any():
            return others
        return (
            expected_half_widths(self.stratum_size, self.predicted, self.rate, labeled, self.level)
            | others
        )

    def headline(self) -> str:
        """Return the metrics of the class and accuracy, or the plan, in one sentence."""
        if self.metrics is None:
            labels = checks.counted(self.labeled[self.predicted].sum(), "label")
            return f"{super().headline()}; {labels} for items predicted {self.metrics_of!r}"
        said = (
            f"{metric_words(metric)} {skips.said_percent(*self.metrics.bounds(metric))} "
            f"({skips.said_percent(limits.low)} to {skips.said_percent(limits.high)})"
            for metric, limits in zip(METRICS, self.limits, strict=True)
        )
        overall = super().headline()
        return f"Class {self.metrics_of!r}: {', '.join(said)}; {overall[0].lower()}{overall[1:]}"

    def finding(self) -> str:
        """Return accuracy, and precision and recall of the class, or what to do, in a sentence without jargon."""
        if self.metrics is None or self.estimate is None or self.confidence_interval is None:
            return self._plan()
        found = [
            (name, self.metrics.bounds(name), limits)
            for name, limits in zip(METRICS[:2], self.limits[:2], strict=True)
        ]
        said = "; ".join(_said(*each) for each in found)
        overall = _said("accuracy", self.estimate.bounds, self.confidence_interval)
        return f"{self.premise}Class {self.metrics_of}: {said}; {overall}{self._doubt()}"

    def _plan(self) -> str:
        """Return the number of labels, and the expected half-widths of precision and recall, in words."""
        widths = self.half_widths(self.labeled)
        if "recall" not in widths:
            return super().finding()
        open_ = [name for name in METRICS[:2] if digits.nothing(-widths[name], widths[name])]
        known = [f"{name} {within(width)}" for name, width in widths.items() if name not in open_]
        left = (
            f"; {' and '.join(open_)} stay{'s' * (len(open_) == 1)} open, so plan more"
            if open_
            else ""
        )
        return (
            f"Label {self.labeled.sum():,} of {checks.counted(self.stratum_size.sum(), 'item')} to know, of class "
            f"{self.metrics_of}, {', '.join(known[:-1])}{' and ' * (len(known) > 1)}{known[-1]}{left}"
        )

    def _known(self) -> str:
        if self.known is None or self.truth is None:
            return super()._known()
        shares = digits.percents(self.known.precision, self.known.recall, self.truth)
        return "The truth: precision {}, recall {}, accuracy {}. ".format(*shares)

    def metric_rows(self) -> list[dict]:
        """Return one row per metric of the class and one for accuracy: estimate, limits and, where known, truth.

        Where items were skipped, the estimate is a range.
        """
        if self.metrics is None or self.estimate is None:
            return []
        found = [
            *(
                (
                    metric_words(metric),
                    self.metrics.bounds(metric),
                    limits,
                    getattr(self.known, metric, None),
                )
                for metric, limits in zip(METRICS, self.limits, strict=True)
            ),
            ("accuracy", self.estimate.bounds, self.confidence_interval, self.truth),
        ]
        return [
            {
                "metric": name,
                **skips.estimate_cells(bounds, self.estimate.skipped),
                "low": limits.low,
                "high": limits.high,
            }
            | ({} if self.known is None else {"truth": truth})
            for name, bounds, limits, truth in found
        ]

    def rows(self) -> list[dict]:
        """Return one row per stratum, counted from 1, with the class that is predicted there."""
        return [
            {
                "stratum": row["stratum"],
                "prediction": self.metrics_of if member else "another class",
                **row,
            }
            for row, member in zip(super().rows(), self.predicted, strict=True)
        ]

    def _tables(self) -> str:
        if self.metrics is None:
            return super()._tables()
        return html_table(self.metric_rows(), self.headline()) + html_table(
            self.rows(), "Labels per stratum"
        )


def _said(name: str, bounds: tuple, limits: Any) -> str:
    """Return an estimate with its limits, or that nothing is known of it."""
    low, high = limits
    ends = "between {} and {}".format(*digits.percents(low, high, error=limits.half_width))
    if digits.nothing(low, high):
        return f"{name} may be anything {ends}"
    return f"{name} {skips.said_percent(*bounds, error=limits.half_width)}, {ends}"


def class_audit(
    items: ScoredItems,
    metrics_of: str,
    budget: int = 100,
    *,
    n_strata: int = 5,
    stratifier: str = "equal_size",
    allocation: str = "proportional",
    interval: str = "default",
    level: float = 0.95,
    labels: str = "",
    label_sheet: str = "",
    rng: int = 0,
    columns: Mapping[str, ArrayLike] | None = None,
    source: Mapping[str, Any] | None = None,
) -> ClassAudit:
    """Run one audit for precision, recall and F1 of a class beside accuracy: plan, simulate or analyze the labels.

    Parameters
    ----------
    items : ScoredItems
        With predictions. With `truth` the audit is simulated on it; without, it is planned.
    metrics_of : str
        A class that is predicted.
    budget : int
        As in `accuracy_audit`.
    n_strata : int
        Strata among the items predicted as the class, and as many among the others.
    stratifier
        As in `accuracy_audit`.
    allocation : {"proportional"}
        30% of the labels go to the items predicted as the class, in proportion within each part.
    interval, level, labels, label_sheet, rng, columns, source
        As in `accuracy_audit`; `interval` is the accuracy's. The sheet asks for the true class where more than two
        classes are predicted: a wrong prediction of another class may be right about this one. It then shows no
        prediction but one that is among `columns`: people are to say what they see.

    Returns
    -------
    ClassAudit

    Examples
    --------
    >>> import workbench as wb
    >>> wb.class_audit(wb.digit_forms().items(), "9", 200, n_strata=2)     # doctest: +NORMALIZE_WHITESPACE
    ClassAudit(Class '9': precision 73.3% (62.4% to 82.6%), recall 93.4% (72.5% to 99.5%), F1 82.2% (70.6% to 89.4%);
    accuracy 91.7% (95% interval: 87.3% to 94.8%), 200 labels, 4 strata; the truth is 87.7%)
    """
    seed = checked_seed(items, interval, level, stratifier, rng=rng)
    if allocation != "proportional":
        raise checks.WrongValue(
            "allocation",
            "must be 'proportional' for the metrics of a class (30% of the labels "
            "to its predicted members, the rest in proportion)",
            allocation,
        )
    name, asks = audited_class(items, metrics_of)
    strata, predicted = nested_strata(items, name, n_strata, stratifier, rng=seed)
    member = class_texts(np.asarray(items.prediction)) == name
    if asks == "truth" and items.correct is not None and items.truth is None:
        raise checks.WrongValue(
            "items", f"must hold the true classes to simulate the metrics of class {name!r}"
        )
    share = label_shares(strata.sizes, predicted)
    plan = SamplePlan(
        items,
        lambda _: strata,
        lambda _, n: (labeling_order(strata.sizes, n, share=share), []),
        asks,
        seed,
        draw_settings("class_metrics", n_strata, stratifier, allocation, name),
        source,
        columns,
        lambda n: nested_strata(items, name, min(n_strata, max(1, n // 4)), stratifier, rng=seed)[
            0
        ],
        parts=member.astype(np.int64),
    )
    fields, sample, strata = plan.collect(budget, labels, label_sheet)
    predicted = np.bincount(strata.labels, member, strata.n_strata) > 0
    found = accuracy_found(items, fields, sample, interval, level)
    if sample is not None:
        found |= _metrics(items, strata, predicted, name, sample, level, found["notes"])
    return ClassAudit(
        **found,
        allocation=allocation,
        metrics_of=name,
        predicted=predicted,
        asks=asks,
        rate=_rate(items, strata, name),
    )


def _rate(items: ScoredItems, strata: Strata, name: str) -> np.ndarray:
    """Return the share of right predictions about membership in each stratum, if the scores are honest."""
    if items.score_is != "confidence" or items.prediction is None:
        return np.full(strata.n_strata, np.nan)
    _, place, count = np.unique(
        class_texts(items.prediction), return_inverse=True, return_counts=True
    )
    member = class_texts(np.asarray(items.prediction)) == name
    missed = np.where(member, 1.0, member.sum() / np.maximum(items.size - count[place], 1))
    right = 1 - np.clip(1 - items.score, 0, 1) * missed
    return np.bincount(strata.labels, right, strata.n_strata) / strata.sizes


def audited_class(items: Any, metrics_of: Any) -> tuple[str, str]:
    """Return the text of the class, and what a sheet has to ask for."""
    if items.prediction is None:
        raise checks.WrongValue(
            "metrics_of", f"{str(metrics_of)!r} needs predictions; name their column as prediction"
        )
    texts, named = named_classes(items.prediction)
    name = named(str(metrics_of).strip())
    if name is None:
        raise checks.WrongValue(
            "metrics_of",
            "must be a class that is predicted: "
            f"{checks.listed(texts, quoted=True)}; got "
            f"{str(metrics_of)!r}{checks.suggestion(metrics_of, texts)}",
        )
    return name, "correct" if len(texts) <= 2 else "truth"


def nested_strata(
    items: Any, name: str, n_strata: int, stratifier: str, *, rng: int
) -> tuple[Strata, np.ndarray]:
    """Return strata of the items predicted as the class, then of the others, and which are the former."""
    refuse_given(items)
    n_strata = checks.whole("n_strata", n_strata, 1, items.size)
    member = class_texts(np.asarray(items.prediction)) == name
    parts = [
        (part, said)
        for part, said in ((member, f"predicted {name!r}"), (~member, "predicted otherwise"))
        if part.any()
    ]
    cuts = [
        stratify_part(items.score[part], n_strata, stratifier, said, rng=rng)
        for part, said in parts
    ]
    labels = np.where(member, 0, cuts[0].n_strata)
    for (part, _), cut in zip(parts, cuts, strict=True):
        labels[part] += cut.labels
    sizes = np.concatenate([cut.sizes for cut in cuts])
    strata = Strata(
        labels,
        sizes,
        None,
        sizes.size,
        stratifier,
        notes=[note for cut in cuts for note in cut.notes],
    )
    return strata, np.arange(sizes.size) < cuts[0].n_strata


def label_shares(size: np.ndarray, predicted: np.ndarray) -> np.ndarray:
    """Return the share of the labels of each stratum: a fixed one for the predicted members, in proportion within."""
    share = size / np.where(predicted, size[predicted].sum(), size[~predicted].sum())
    if predicted.any() and not predicted.all():
        share = share * np.where(predicted, SHARE_OF_PREDICTED, 1 - SHARE_OF_PREDICTED)
    return share


def _metrics(
    items: ScoredItems,
    strata: Strata,
    predicted: np.ndarray,
    name: str,
    sample: Any,
    level: float,
    notes: list,
) -> dict:
    """Return the fields that hold the metrics of the class."""
    if sample.truth is None:
        notes = [
            *notes,
            Note(
                "assumption",
                f"a wrong prediction was taken for one that is wrong about class {name!r}: "
                "so it is where there are two classes",
            ),
        ]
    right = (
        sample.right == 1
        if sample.truth is None
        else _about(items, name, sample.index, sample.truth)
    )
    metrics = _of_class(strata, predicted, sample.index, right, sample.skipped)
    limits = tuple(metrics.interval(metric, level) for metric in METRICS)
    every = np.arange(items.size)
    known = (
        None
        if items.truth is None
        else _of_class(
            strata, predicted, every, _about(items, name, every, class_texts(items.truth))
        )
    )
    return {
        "metrics": metrics,
        "limits": limits,
        "known": known,
        "notes": [*notes, *metrics.notes, *(note for each in limits for note in each.notes)],
    }


def _of_class(
    strata: Strata,
    predicted: np.ndarray,
    index: np.ndarray,
    right: np.ndarray,
    skipped: np.ndarray | None = None,
) -> ClassMetrics:
    """Return the metrics of the class from some items and whether the prediction was right about their membership."""
    stratum = strata.labels[index]
    return class_metrics(
        strata.sizes,
        predicted,
        np.bincount(stratum, minlength=strata.n_strata),
        np.bincount(stratum, right, strata.n_strata).astype(int),
        skipped=skipped,
    )


def _about(items: Any, name: Any, index: Any, truth: Any) -> np.ndarray:
    """Return whether predictions are right about being in the class."""
    return (truth == name) == (class_texts(items.prediction)[index] == name)
