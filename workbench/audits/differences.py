"""One audit of two models on the same items: labels only where they differ, and the difference of their accuracies."""

import functools
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from workbench import checks
from workbench.audits.accuracy import Audit, checked_seed, draw_settings, turns_of
from workbench.audits.plans import SamplePlan
from workbench.data.classes import refuse_free_text
from workbench.data.scored_items import ScoredItems
from workbench.labeling.answers import class_texts
from workbench.labeling.sheets import check_columns
from workbench.results import Note, digits
from workbench.stratified import skips
from workbench.stratified.differences import PairedDifference, paired_difference
from workbench.stratified.sequential import ROUNDS
from workbench.stratified.strata import refuse_given, stratify_part

ALLOCATIONS = ("proportional", "equal")
NAMES, CALLED = ("A", "B"), ("A (the prediction)", "B (the rival)")


class DifferenceAudit(Audit):
    """What an audit of two models asks for, or by how much A (the prediction) beats B (the rival).

    Attributes
    ----------
    mode : {"plan", "simulated", "analyzed"}
        Labels still to be made; drawn from a known truth; read from a filled label sheet.
    stratum_size, labeled : (K,) array of int
        Strata of the items on which the models differ.
    mean_score : (K,) array of float
        Of A.
    agreeing : int
        Items on which the models predict the same.
    models : (str, str)
        What A and B are called: the columns of the predictions, where they are known.
    difference : PairedDifference or None
        None for a plan.
    confidence_interval : Interval or None
        The difference's; for a plan None.
    expected_half_width : float
        Of that interval if both models are right equally often where they differ; NaN unless it is a plan.
    truth : float or None
        True difference where it is known.
    level : float
    stratifier, allocation : str
    label_sheet : str
        File that was written for the people who label, or "".
    unmatched, unlabeled : tuple of str
        Ids of the filled sheet on which the models do not differ; ids whose label is still missing.
    skipped : tuple of str
    row_counts : dict
    premise : str
        As in `AccuracyAudit`.
    """

    agreeing: int = 0
    models: tuple[str, ...] = NAMES
    difference: PairedDifference | None = None

    asks, expects = "truth", "if both are right equally often there"

    def half_widths(self, labeled: np.ndarray) -> dict[str, float]:
        """Return the half-width of the difference, if both models are right equally often where they differ.

        Parameters
        ----------
        labeled : (K,) array of int
        """
        return {"difference": _half_width(self.stratum_size, labeled, self.agreeing, self.level)}

    def headline(self) -> str:
        """Return the difference, or the plan, in one sentence."""
        where = self._among()
        if self.difference is None:
            strata = checks.counted(self.labeled.size, "stratum", "strata")
            return (
                f"Label {self.labeled.sum():,} of {where}, in {strata}; half-width of the difference "
                f"{100 * self.expected_half_width:.1f} points {self.expects}"
            )
        said = self.difference.headline(self.level, self.models)
        truth = f"; the truth is {self.truth:+.4g}" if self.mode == "simulated" else ""
        return f"{said[0].upper()}{said[1:]} among {where}{truth}"

    def finding(self) -> str:
        """Return which model is more often right, or what to do, in a sentence without jargon."""
        if self.difference is None or self.confidence_interval is None:
            return self._to_do(
                self.stratum_size.sum() + self.agreeing, "the difference of the models"
            )
        (low, high), bounds = self.confidence_interval, self.difference.bounds
        if digits.nothing(low, high):
            return f"{self.premise}No result: {self.labeled.sum():,} labels leave open which of the models is better"
        error = (high - low) / 2
        if low <= 0 <= high:
            found, ends = (
                skips.said_points(*bounds, error=error, signed=True),
                digits.points(low, high, error=error, signed=True),
            )
            what = f"accuracy of {self.models[0]} minus that of {self.models[1]}"
            between = f"between {ends[0]} and {ends[1]}"
            return f"{self.premise}Not shown to be better: {what} {found} points, {between}{self._doubt()}"
        better = "{} is better than {}".format(
            *(self._called() if low > 0 else self._called()[::-1])
        )
        found = skips.said_points(*sorted(map(abs, bounds)), error=error)
        ends = digits.points(*sorted(map(abs, (low, high))), error=error)
        return f"{self.premise}{better}: by {found} points of accuracy, between {ends[0]} and {ends[1]}{self._doubt()}"

    def _called(self) -> tuple[str, ...]:
        return self.models if self.models != NAMES else CALLED

    def _among(self) -> str:
        differing = int(self.stratum_size.sum())
        return f"the {differing:,} of {checks.counted(differing + self.agreeing, 'item')} on which the models differ"

    def _known(self) -> str:
        return (
            ""
            if self.truth is None
            else f"The truth is {digits.points(self.truth, error=0.01, signed=True)[0]} points. "
        )

    def rows(self) -> list[dict]:
        """Return one row per stratum, counted from 1: size, mean score of A, labels and, once known, who was right."""
        table = super().rows()
        if self.difference is not None:
            for row, (b, neither, a) in zip(table, self.difference.counts.tolist(), strict=True):
                row |= {"only_a": a, "only_b": b, "both_wrong": neither}
            table = skips.with_skipped(table, self.difference.skipped)
        return table


def difference_audit(
    items: ScoredItems,
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
) -> DifferenceAudit:
    """Run one audit of the difference of two models' accuracies: plan, simulate or analyze the labels.

    Parameters
    ----------
    items : ScoredItems
        With `prediction` (A) and `rival` (B). With `truth` the audit is simulated on it; without, it is planned.
    budget : int
        Labels in total; where it is more than the items on which the models differ, all of these are labeled.
    n_strata : int
        Strata of the items on which the models differ, by the score.
    stratifier
        As in `accuracy_audit`.
    allocation : {"proportional", "equal"}
    interval : {"default"}
        That of `value_interval`.
    level, labels, label_sheet, rng, columns, source
        As in `accuracy_audit`; the sheet asks for the true class and shows no prediction but one that is among
        `columns`.

    Returns
    -------
    DifferenceAudit

    Examples
    --------
    >>> import dataclasses
    >>> import workbench as wb
    >>> forms = wb.digit_forms()
    >>> items = dataclasses.replace(forms.items(), rival=forms.read_b)
    >>> wb.difference_audit(items, 60, n_strata=2)     # doctest: +NORMALIZE_WHITESPACE
    DifferenceAudit(Accuracy of A less B -0.079, 95% from -0.092 to -0.060: B is better; 60 labels among the 189
    of 1,797 items on which the models differ; the truth is -0.08459)
    """
    seed = checked_seed(items, interval, level, stratifier, rng=rng)
    allocation = checks.choice("allocation", allocation, ALLOCATIONS)
    if interval != "default":
        raise checks.WrongValue("interval", "must be 'default' for a difference", interval)
    refuse_given(items)
    where = _differing(items)
    differ = _part(items, where)
    n_strata = checks.whole("n_strata", n_strata, 1, items.size)
    cut = functools.partial(
        stratify_part, differ.score, method=stratifier, part="on which the models differ", rng=seed
    )
    strata = cut(n_strata)
    least = min(checks.whole("budget", budget, 1), differ.size)
    check_columns(columns or {}, items.size)
    shown = {name: np.asarray(values)[where] for name, values in (columns or {}).items()}
    plan = SamplePlan(
        differ,
        lambda _: strata,
        lambda _, n: (turns_of(strata.sizes, allocation, n), []),
        "truth",
        seed,
        draw_settings("difference", n_strata, stratifier, allocation),
        source,
        shown,
        lambda n: cut(min(n_strata, max(1, n // ROUNDS))),
        among=" on which the models differ",
    )
    fields, sample, strata = plan.collect(least, labels, label_sheet)
    agreeing = items.size - differ.size
    given = source or {}
    models = tuple(
        str(given.get(role) or name)
        for role, name in zip(("prediction", "rival"), NAMES, strict=True)
    )
    spared = 0 if fields["mode"] == "analyzed" else budget - least
    notes = [
        *fields.pop("notes"),
        *_scope_notes(differ.size, spared, models, bool(fields.get("premise"))),
    ]
    difference = (
        None
        if sample is None
        else paired_difference(
            strata.sizes, _counts(differ, strata, sample), agreeing=agreeing, skipped=sample.skipped
        )
    )
    limits = None if difference is None else difference.interval(level)
    notes += [
        note for result in (difference, limits) if result is not None for note in result.notes
    ]
    return DifferenceAudit(
        **fields,
        agreeing=agreeing,
        models=models,
        difference=difference,
        notes=notes,
        confidence_interval=limits,
        expected_half_width=_expected(fields, agreeing, level),
        truth=_truth(items),
        level=float(level),
        allocation=allocation,
    )


def differing_items(items: ScoredItems) -> ScoredItems:
    """Return the items on which the models differ, with the identifiers that they have among all."""
    return _part(items, _differing(items))


def _differing(items: ScoredItems) -> np.ndarray:
    """Return the positions of the items on which the models differ."""
    if items.prediction is None or items.rival is None:
        raise checks.WrongValue(
            "items",
            "must hold the predictions of two models: name the columns prediction and rival",
        )
    refuse_free_text(items.prediction, items.rival)
    if items.correct is not None and items.truth is None:
        raise checks.WrongValue(
            "items", "must hold the true classes to simulate the labels of two models"
        )
    differ = np.flatnonzero(class_texts(items.prediction) != class_texts(items.rival))
    if not differ.size:
        raise ValueError(
            "prediction and rival are the same for every item: their accuracies are equal, and there is "
            "nothing to label"
        )
    return differ


def _part(items: ScoredItems, where: np.ndarray) -> ScoredItems:
    """Return some of the items, with the identifiers that they have among all."""
    identifiers = np.arange(1, items.size + 1) if items.id is None else items.id
    columns: dict[str, Any] = {
        name: None if getattr(items, name) is None else getattr(items, name)[where]
        for name in ("score", "prediction", "truth", "correct", "rival")
    }
    if items.labeled is not None:
        kept = np.isin(items.labeled, where)
        columns |= {"labeled": np.searchsorted(where, items.labeled[kept])}
        for name in ("labeled_truth", "labeled_correct"):
            values = getattr(items, name)
            columns[name] = None if values is None else values[kept]
    return ScoredItems(score_is=items.score_is, notes=items.notes, id=identifiers[where], **columns)


def _counts(items: Any, strata: Any, sample: Any) -> np.ndarray:
    """Return labels (K, 3) on which only B is right, neither, only A."""
    a, b = (
        class_texts(labels)[sample.index] == sample.truth
        for labels in (items.prediction, items.rival)
    )
    stratum = strata.labels[sample.index]
    return np.stack(
        [np.bincount(stratum[right], minlength=strata.n_strata) for right in (b, ~(a | b), a)], 1
    )


def _expected(fields: dict, agreeing: int, level: float) -> float:
    """Return the half-width where the labels of every stratum are half for A and half for B."""
    return (
        _half_width(fields["stratum_size"], fields["labeled"], agreeing, level)
        if fields["mode"] == "plan"
        else float("nan")
    )


def _half_width(size: np.ndarray, labeled: np.ndarray, agreeing: int, level: float) -> float:
    counts = np.stack([labeled // 2, 0 * labeled, labeled - labeled // 2], 1)
    return paired_difference(size, counts, agreeing=agreeing).interval(level).half_width


def _truth(items: Any) -> float | None:
    if items.truth is None:
        return None
    a, b = (
        class_texts(labels) == class_texts(items.truth)
        for labels in (items.prediction, items.rival)
    )
    return float(a.mean() - b.mean())


def _scope_notes(differing: int, spared: int, models: tuple, labels_given: bool) -> Iterator[Note]:
    yield Note(
        "remark",
        "A is the prediction, B the rival"
        if models == NAMES
        else f"A is {models[0]}, the prediction; B is {models[1]}, the rival",
    )
    agreeing = (
        "labels of items on which the models agree are not used"
        if labels_given
        else "items on which the models agree were not labeled"
    )
    yield Note(
        "design",
        f"{agreeing}: they cannot change the difference, but the "
        "accuracy of either model needs labels there too",
    )
    if spared:
        yield Note(
            "design",
            f"the models differ on {checks.counted(differing, 'item')}: all of them are labeled, and "
            f"{checks.counted(spared, 'label')} of the budget not needed",
        )
