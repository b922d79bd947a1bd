"""One audit of two models under one judge: labels by pairs of verdicts, and the difference of their accuracies."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from workbench import checks
from workbench.audits.accuracy import checked_seed, draw_settings
from workbench.audits.differences import NAMES, DifferenceAudit
from workbench.audits.plans import SamplePlan
from workbench.data.judged_items import WHICH
from workbench.data.scored_items import ScoredItems
from workbench.results import Note, html_table
from workbench.stratified.judged import (
    LEAST,
    SPREAD,
    JudgedDifference,
    judged_difference,
    judged_labels,
)
from workbench.stratified.sequential import labeling_order
from workbench.stratified.strata import Strata

ALLOCATION = "by verdicts"


class JudgedAudit(DifferenceAudit):
    """An audit of two models under one judge: which answers to label, or by how much A beats B.

    Attributes
    ----------
    mode, mean_score, models, confidence_interval, level, stratifier, allocation, label_sheet, unmatched, unlabeled, \
skipped, row_counts, premise
        As in `DifferenceAudit`; `mode` is "plan" or "analyzed", as no `truth` is known and no items are `agreeing`.
    stratum_size, labeled : (K,) array of int
        By pairs of verdicts.
    difference : JudgedDifference or None
    expected_half_width : float
        Of a plan, if people and judge differ as often as the labels are allocated for; else NaN.
    truth : None
    agreeing : int
        0.
    verdicts : tuple of str
        Those of the strata: "both", "A", "B" or "neither" is right.
    judged_in : tuple of str
        The columns of the verdicts on A and on B, where they are known.
    """

    verdicts: tuple[str, ...] = WHICH
    judged_in: tuple[str, ...] = NAMES

    asks, expects = "which", "if people and judge differ as often as planned for"

    def half_widths(self, labeled: np.ndarray) -> dict[str, float]:
        """Return the half-width of the difference, if people and judge differ as often as the labels are allocated for.

        Parameters
        ----------
        labeled : (K,) array of int
        """
        return {
            "difference": _half_width(
                self.stratum_size, labeled, list(map(WHICH.index, self.verdicts)), self.level
            )
        }

    def rows(self) -> list[dict]:
        """Return one row per pair of verdicts: items and labels and, once known, who was right."""
        found = (
            self.difference.rows()
            if self.difference
            else [{"verdict": said} for said in self.verdicts]
        )
        return [
            row | {"size": int(size), "labeled": int(n)}
            for row, size, n in zip(found, self.stratum_size, self.labeled, strict=True)
        ]

    def _called(self) -> tuple[str, ...]:
        return called(self.judged_in)

    def _among(self) -> str:
        return checks.counted(self.stratum_size.sum(), "item")

    def _alike(self) -> str:
        return "of the same verdicts"

    def _tables(self) -> str:
        if not isinstance(self.difference, JudgedDifference):
            return super()._tables()
        return super()._tables() + html_table(
            self.difference.rates(self.level),
            "Right answers that the judge calls "
            "right (sensitivity), and wrong ones that it calls wrong (specificity)",
        )


def judged_audit(
    items: ScoredItems,
    budget: int = 100,
    *,
    level: float = 0.95,
    labels: str = "",
    label_sheet: str = "",
    rng: int = 0,
    columns: Mapping[str, ArrayLike] | None = None,
    source: Mapping[str, Any] | None = None,
) -> JudgedAudit:
    """Run one audit of the difference of two models under one judge: plan it, or analyze the labels.

    Parameters
    ----------
    items : ScoredItems
        As `judged_items` returns them.
    budget, level, labels, label_sheet, rng, columns, source
        As in `accuracy_audit`; the sheet asks whose answer is right, A, B, both or neither, and shows no verdict:
        `columns` should hold both answers. `source["judge"]` names the columns of the verdicts.

    Returns
    -------
    JudgedAudit

    Examples
    --------
    >>> from workbench import judged_items
    >>> verdicts = {"on_a": [1] * 80 + [0] * 20, "on_b": [1] * 70 + [0] * 30}
    >>> judged_audit(judged_items(verdicts, "on_a, on_b"), 40)          # doctest: +NORMALIZE_WHITESPACE
    JudgedAudit(Label 40 of 100 items, in 3 strata; half-width of the difference 12.0 points if people and judge
    differ as often as planned for)
    """
    seed, judged_in = (
        checked_seed(items, "default", level, "equal_size", rng=rng),
        verdict_columns(source),
    )
    refuse_shown(columns or {}, judged_in)
    strata, share = judged_strata(items)
    plan = SamplePlan(
        items,
        lambda _: strata,
        lambda _, n: (labeling_order(strata.sizes, n, share=share(n)), []),
        "which",
        seed,
        draw_settings("difference", strata.n_strata, "equal_size", ALLOCATION),
        source,
        columns,
        merges=False,
    )
    fields, sample, _ = plan.collect(budget, labels, label_sheet)
    notes, places, expected = fields.pop("notes"), np.flatnonzero(pair_sizes(items)), float("nan")
    difference, limits = None, None
    if sample is None:
        expected = _half_width(strata.sizes, fields["labeled"], places, level)
    else:
        answers = [WHICH.index(said) for said in np.asarray(sample.truth).tolist()]
        difference = judged_of(
            pair_sizes(items), strata.labels[sample.index], answers, sample.skipped
        )
        limits = difference.interval(level)
        notes = [*notes, *difference.remarks(level=level), *limits.notes]
    if judged_in != NAMES:
        notes = [*notes, Note("remark", "A is judged in {}, B in {}".format(*judged_in))]
    return JudgedAudit(
        **fields,
        notes=notes,
        difference=difference,
        confidence_interval=limits,
        level=float(level),
        allocation=ALLOCATION,
        expected_half_width=expected,
        judged_in=judged_in,
        verdicts=tuple(np.array(WHICH)[places].tolist()),
    )


def judged_strata(items: ScoredItems) -> tuple[Strata, Callable[[int], np.ndarray]]:
    """Return the strata of items under a judge, one per pair of verdicts that there is, and shares of n labels."""
    size = pair_sizes(items)
    some = np.flatnonzero(size)
    order = np.argsort(WHICH)
    labels = np.searchsorted(
        some, order[np.searchsorted(np.array(WHICH)[order], np.asarray(items.by))]
    )
    said = checks.listed(f"{WHICH[k]} ({size[k]:,})" for k in some)
    strata = Strata(
        labels,
        size[some],
        None,
        some.size,
        "given",
        notes=[Note("design", f"strata are whose answers the judge calls right: {said}")],
    )
    least = int(np.minimum(LEAST, size).sum())
    return strata, lambda n: judged_labels(size, max(n, least))[some]


def pair_sizes(items: ScoredItems) -> np.ndarray:
    """Return the number of items by verdicts, (4,), in the order of `WHICH`."""
    sizes = (
        np.array([(items.by == said).sum() for said in WHICH])
        if items.by is not None
        else np.zeros(4, int)
    )
    if items.prediction is not None or sizes.sum() < items.size:
        raise checks.WrongValue(
            "items", "must hold the verdicts of a judge, as judged_items reads them"
        )
    return sizes


def judged_of(
    size: ArrayLike, stratum: np.ndarray, answers: Any, skipped: ArrayLike = 0
) -> JudgedDifference:
    """Return the difference from strata and answers (n,), codes of `WHICH`, and skipped items per stratum.

    `size` (4,) is that of all verdicts, of which those that there are make the strata.
    """
    verdicts, table, left = (
        np.flatnonzero(size),
        np.zeros((len(WHICH),) * 2, np.int64),
        np.zeros(len(WHICH), np.int64),
    )
    np.add.at(table, (verdicts[stratum], answers), 1)
    left[verdicts] = skipped
    return judged_difference(size, table, skipped=left)


def verdict_columns(source: Mapping[str, Any] | None) -> tuple[str, ...]:
    """Return the columns of the verdicts on A and on B, where they are known."""
    judge = (source or {}).get("judge")
    return tuple(name.strip() for name in judge.split(",")) if judge else NAMES


def called(columns: Sequence[str]) -> tuple[str, ...]:
    """Return the names of the models that are judged in some columns."""
    return tuple(
        name if name == column else f"{name} ({column})"
        for name, column in zip(NAMES, columns, strict=True)
    )


def refuse_shown(columns: Mapping[str, Any], judged_in: Sequence[str]) -> None:
    """Raise where people would see a verdict."""
    for name in columns:
        if name in judged_in:
            raise checks.WrongValue(
                "columns", "must not show a verdict: people would say what the judge says", name
            )


def _half_width(
    size: np.ndarray, labeled: np.ndarray, places: Sequence[int] | np.ndarray, level: float
) -> float:
    """Return the half-width where labels of a stratum are 1 and -1 as often as `SPREAD` says."""
    sizes, answers = np.zeros(4, int), np.zeros((4, 4), int)
    sizes[places], either = size, np.rint(SPREAD[places] ** 2 * labeled / 2).astype(int)
    answers[places] = np.stack([labeled - 2 * either, either, either, 0 * labeled], 1)
    return judged_difference(sizes, answers).interval(level).half_width
