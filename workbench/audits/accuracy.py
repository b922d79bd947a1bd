"""One accuracy audit from scored items to an honest interval: plan it, simulate it, or analyze it."""

import functools
import html
import os
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from workbench import checks, intervals
from workbench.allocation import rules
from workbench.audits.plans import SamplePlan
from workbench.data.scored_items import ScoredItems
from workbench.labeling.answers import OTHER
from workbench.labeling.draws import seed_of
from workbench.labeling.sheets import SheetLabels
from workbench.results import (
    FILLED,
    Interval,
    Note,
    Result,
    digits,
    html_table,
    note_list,
    percent,
    stratum_rows,
)
from workbench.stratified import accuracy, skips
from workbench.stratified.default_plan import AUTO, check_trusted, default_labels, strata_wanted
from workbench.stratified.sequential import ROUNDS, labeling_order
from workbench.stratified.strata import STRATIFIERS, Strata, strata_of

ALLOCATIONS = (AUTO, *rules.METHODS)
WRITE = {
    "correct": "Write 1 (right) or 0 (wrong) into",
    "truth": f"Write the true class of each item ({OTHER}: none that is predicted), not right or "
    "wrong, into",
    "which": "Write whose answer is right, A, B, both or neither, into",
}
UNMATCHED = (
    "id of the sheet is not among the items and was not used",
    "ids of the sheet are not among the items and were not used",
)
UNLABELED = "id was skipped", "ids were skipped"
TIMES = (0.5, 1, 2, 4)
SKIPPED = "the skipped item is", "the skipped items are"


class Audit(Result):
    """A labeled random sample: what audits of every question share, the sheet that goes out and what to do with it."""

    mode: str
    stratum_size: np.ndarray
    labeled: np.ndarray
    mean_score: np.ndarray
    expected_half_width: float
    level: float
    stratifier: str
    allocation: str
    confidence_interval: Interval | None = None
    truth: float | None = None
    label_sheet: str = ""
    unmatched: tuple = ()
    unlabeled: tuple = ()
    skipped: tuple = ()
    row_counts: dict = FILLED
    premise: str = ""

    asks = "correct"

    def half_widths(self, labeled: np.ndarray) -> dict[str, float]:
        """Return the expected half-width of each metric for a plan with some labels per stratum.

        Parameters
        ----------
        labeled : (K,) array of int
            At least 2 in each stratum that has them.
        """
        raise TypeError(f"{type(self).__name__} plans no half-widths")

    def plan_rows(self) -> list[dict]:
        """Return labels and half-widths of the plan, and of half its labels to four times as many."""
        least = np.minimum(ROUNDS, self.stratum_size)
        plans = {
            int(labeled.sum()): labeled
            for times in TIMES
            for labeled in [
                np.clip(
                    np.diff(np.rint(self.labeled.cumsum() * times), prepend=0).astype(int),
                    least,
                    self.stratum_size,
                )
            ]
        }
        return [
            {"labels": labels, "metric": name, "half_width": width}
            for labels, labeled in plans.items()
            for name, width in self.half_widths(labeled).items()
        ]

    def interval(self) -> Interval | None:
        """Return the `Interval` that is reported, `confidence_interval`; None for a plan."""
        return self.confidence_interval

    def rows(self) -> list[dict]:
        """Return one row per stratum, counted from 1: size, mean score and labels."""
        return stratum_rows(
            size=self.stratum_size, mean_score=self.mean_score, labeled=self.labeled
        )

    def next_step(self) -> str:
        """Return the next step in words."""
        return self._next_step(self.label_sheet)

    def _next_step(self, sheet: str) -> str:
        if self.mode == "simulated":
            return (
                "The labels were taken from the known truth: this simulates an audit, to show how precise one of "
                "this size is."
            )
        if self.mode == "plan" and not self.label_sheet:
            return "Nothing was labeled. Name a label sheet to get the items to label."
        if self.mode == "plan":
            return (
                f"{WRITE[self.asks]} the column {self.asks} of {sheet}, row after row from the top; "
                "then run the same again with that file as labels. Stop where you like after the first "
                f"{np.minimum(ROUNDS, self.labeled).sum()} rows, but not because of the labels seen. An item that "
                "nobody can label stays empty. Keep scores, strata and seed as they are."
            )
        if self.premise and not self.unmatched:
            return "Say beside the interval how the labeled items were chosen."
        if self.unmatched or any(note.kind == "refused" for note in self.notes):
            return "Do not quote this yet: the sheet does not fit the plan. See the notes."
        if self.skipped:
            return f"Quote the interval; it gets shorter once {SKIPPED[len(self.skipped) > 1]} labeled."
        if self.unlabeled:
            return "Quote the interval with the estimate, if the decision to stop did not depend on the labels seen."
        return "All labels of the sheet are in. Quote the interval with the estimate."

    def sheet_words(self) -> str:
        """Return the number of rows of each kind in the filled sheet, in words; "" if none was read."""
        if not self.row_counts:
            return ""
        kinds = checks.listed(f"{count:,} {kind}" for kind, count in self.row_counts.items())
        return f"Of {checks.counted(sum(self.row_counts.values()), 'row')} of the sheet: {kinds}."

    def basis(self) -> str:
        """Return the basis of the finding in one line."""
        groups = checks.counted(self.labeled.size, "group", "groups")
        if self.premise:
            within_groups = f"counted within {groups} {self._alike()} among {self._among()}"
            return (
                f"From {_labels(self)} that no plan drew, {within_groups}; {percent(self.level)} interval. "
                f"{self.next_step()}"
            )
        drawn = f"{_labels(self)}, sampled at random within {groups} {self._alike()} among {self._among()}"
        if self.mode == "plan":
            return f"{drawn[0].upper()}{drawn[1:]}. {self._next_step(os.path.basename(self.label_sheet))}"
        return f"From {drawn}; {percent(self.level)} interval. {self._known()}{self.next_step()}"

    def _among(self) -> str:
        return checks.counted(self.stratum_size.sum(), "item")

    def _alike(self) -> str:
        return "of similar scores"

    def _to_do(self, items: int, what: str) -> str:
        """Return the number of labels that a plan needs, and the expected half-width, in words."""
        half, labels = self.expected_half_width, f"{self.labeled.sum():,}"
        if digits.nothing(-half, half):
            return f"No result to expect: {labels} labels leave {what} open, so plan more"
        known = f"know {what} {within(half)}" if np.isfinite(half) else f"measure {what}"
        return f"Label {labels} of {checks.counted(items, 'item')} to {known}"

    def _known(self) -> str:
        return "" if self.truth is None else f"The truth is {digits.percents(self.truth)[0]}. "

    def _doubt(self) -> str:
        """Return a warning where the labels must not be quoted."""
        refused = self.mode == "analyzed" and any(note.kind == "refused" for note in self.notes)
        return "; do not quote it yet, the sheet does not fit the plan" if refused else ""

    def _repr_html_(self) -> str:
        lists = "".join(
            f"<p>{checks.counted(len(ids), *what)}: {html.escape(checks.listed(ids, 200))}</p>"
            for ids, what in ((self.unmatched, UNMATCHED), (self.skipped, UNLABELED))
            if ids
        )
        words = f"<p>{html.escape(self.sheet_words())}</p>" if self.row_counts else ""
        return f"{self._tables()}{note_list(self.notes)}{words}{lists}<p>{html.escape(self.next_step())}</p>"

    def _tables(self) -> str:
        return html_table(self.rows(), self.headline())


class AccuracyAudit(Audit):
    """An audit of the accuracy: which random sample to label, or what its labels say.

    Attributes
    ----------
    mode : {"plan", "simulated", "analyzed"}
        Labels still to be made; drawn from a known truth; read from a filled label sheet.
    stratum_size, labeled : (K,) array of int
    mean_score : (K,) array of float
    estimate : StratifiedEstimate or None
        None for a plan.
    confidence_interval : Interval or None
        The estimate's; for a plan None.
    expected_half_width : float
        Of that interval if the scores (confidences) were the rates; NaN where scores are not probabilities.
    truth : float or None
        True accuracy where it is known.
    level : float
    stratifier, allocation : str
    label_sheet : str
        File that was written for the people who label, or "".
    unmatched, unlabeled : tuple of str
        Ids of the filled sheet that are not among the items; ids whose label is still missing.
    skipped : tuple of str
        Those of `unlabeled` that come before the last label in the order of labeling.
    row_counts : dict
        What became of the rows of the filled sheet: how many are labeled, skipped, not reached, repeated, unmatched,
        empty, or not drawn by the plan.
    premise : str
        What the finding takes for granted of labels that no plan drew; "" where a plan drew them.
    """

    estimate: accuracy.StratifiedEstimate | None = None

    def half_widths(self, labeled: np.ndarray) -> dict[str, float]:
        """Return the half-width of the accuracy, if the scores are honest; where they say nothing, if half are right.

        Parameters
        ----------
        labeled : (K,) array of int
        """
        return {"accuracy": self._default(labeled) * self._longer}

    @functools.cached_property
    def _longer(self) -> float:
        """How much longer the interval of the plan is than the default one."""
        planned = self._default(self.labeled)
        return (
            self.expected_half_width / planned
            if planned and np.isfinite(self.expected_half_width)
            else 1.0
        )

    def _default(self, labeled: np.ndarray) -> float:
        rate = (
            np.clip(self.mean_score, 0, 1)
            if np.isfinite(self.expected_half_width)
            else np.full(labeled.size, 0.5)
        )
        return accuracy.expected_half_width(self.stratum_size, rate, labeled, level=self.level)[0]

    def headline(self) -> str:
        """Return the finding, or the plan, in one sentence."""
        strata = checks.counted(self.labeled.size, "stratum", "strata")
        if self.estimate is None or self.confidence_interval is None:
            return f"Label {self.labeled.sum():,} of {self._among()} in {strata}" + (
                f"; expected half-width {100 * self.expected_half_width:.1f} points if the scores are honest"
                if np.isfinite(self.expected_half_width)
                else ""
            )
        limits = self.confidence_interval
        truth = "" if self.truth is None else f"; the truth is {digits.percents(self.truth)[0]}"
        low, high = digits.percents(limits.low, limits.high)
        return (
            f"Accuracy {skips.said_percent(*self.estimate.bounds)} ({percent(limits.level)} interval: {low} to "
            f"{high}), {_labels(self)}{skips.words(self.estimate.skipped)}, {strata}{truth}"
        )

    def rows(self) -> list[dict]:
        """Return one row per stratum, counted from 1: size, mean score, labels and, once known, right ones and rate."""
        table = super().rows()
        if self.estimate is not None:
            for row, found in zip(table, self.estimate.rows(), strict=True):
                row |= {
                    name: found[name]
                    for name in ("correct", "accuracy", "skipped")
                    if name in found
                }
        return table

    def _alike(self) -> str:
        return "that are given" if self.stratifier == "given" else super()._alike()

    def finding(self) -> str:
        """Return the accuracy with its interval, or what to do, in a sentence without jargon."""
        if self.estimate is None or self.confidence_interval is None:
            return self._to_do(self.stratum_size.sum(), "the accuracy")
        low, high = self.confidence_interval
        if digits.nothing(low, high):
            ends = digits.percents(low, high, error=high - low)
            between = f"between {ends[0]} and {ends[1]}"
            return f"{self.premise}No result: after {_labels(self)} the accuracy may be anything {between}"
        error = (high - low) / 2
        found = skips.said_percent(*self.estimate.bounds, error=error)
        ends = digits.percents(low, high, error=error)
        return f"{self.premise}Accuracy {found}, between {ends[0]} and {ends[1]}{self._doubt()}"


def within(half_width: float) -> str:
    """Return how well a plan will tell something, in words.

    Examples
    --------
    >>> within(0.0734), within(0.0)
    ('to about ±7.3 points', 'exactly')
    """
    return (
        f"to about ±{digits.points(half_width, error=half_width)[0]} points"
        if half_width
        else "exactly"
    )


def _labels(audit: AccuracyAudit | Audit) -> str:
    return checks.counted(audit.labeled.sum(), "label")


class IntervalComparison(Result):
    """The same labels under every interval method; made by `compare_intervals`.

    Attributes
    ----------
    intervals : tuple of Interval
    assumption : str
        Which labels, where none are made yet.
    """

    intervals: tuple
    assumption: str = ""

    def headline(self) -> str:
        """Return shortest and widest in one sentence."""
        low, high = (pick(self.intervals, key=lambda i: i.half_width) for pick in (min, max))
        return (
            f"{self.assumption + ': ' if self.assumption else ''}{len(self.intervals)} intervals from the same "
            f"labels, half-width {low.half_width:.3f} ({low.method}) to {high.half_width:.3f} ({high.method})"
        )

    def rows(self) -> list[dict]:
        """Return one row per method, with what the method is for."""
        uses = USES | {"default": "the default, once there are labels"} if self.assumption else USES
        return [
            {
                "method": i.method,
                "low": i.low,
                "high": i.high,
                "half_width": i.half_width,
                "use": uses[i.method],
            }
            for i in self.intervals
        ]


USES = {
    "default": "report this one",
    "short": "shorter; covers at least 91% in practice at nominal 95%",
    "guaranteed": "proven coverage",
    "wald": "teaching only: covers too little",
    "wilson": "teaching only",
}


def accuracy_audit(
    items: ScoredItems,
    budget: int = 100,
    *,
    n_strata: int | str = AUTO,
    stratifier: str = "equal_size",
    allocation: str = AUTO,
    trust_scores: bool = False,
    interval: str = "default",
    level: float = 0.95,
    labels: str = "",
    label_sheet: str = "",
    rng: int = 0,
    columns: Mapping[str, ArrayLike] | None = None,
    source: Mapping[str, Any] | None = None,
) -> AccuracyAudit:
    """Run one audit: stratify, allocate, and plan, simulate or analyze the labels.

    Parameters
    ----------
    items : ScoredItems
        With `correct` the audit is simulated on it; without, it is planned. Where only some items have a label, as
        `read_scores` reads them, these are taken for a random sample of all items: strata of similar scores with about
        20 labels each are made afterwards, and `premise` says so.
    budget : int
        Labels in total, from 2 per stratum to N; with `labels` the sheet decides: its plan, its number
        of rows, or, where its items are among those of such a plan, this budget.
    n_strata : int or "auto"
        "auto": 10, from 200 labels on 20, and fewer where one would have less than two labels or two items.
    stratifier
        As in `workbench.stratify`.
    allocation : str
        A method of `workbench.allocate`, or "auto": in proportion; where `n_strata` is "auto", too, at least nine
        tenths of that, and the rest where scores that are probabilities leave most doubt. "voila" and those of
        Neyman take the scores for probabilities, S_k = sqrt(p_k (1 - p_k)) at the mean score p_k, and say so.
    trust_scores : bool
        Whether somebody checked that the scores are right as often as they say: "auto" then keeps three quarters in
        proportion.
    interval, level
        As in `workbench.stratified_interval`.
    labels : str
        A filled label sheet to analyze, or what Label Studio (JSON), doccano or Prodigy (JSONL) exported for its items;
        or a beginning of it: its first rows in the order of labeling, at least two rounds through the strata. Empty
        rows before the last label count as right or as wrong, whichever is worse.
    label_sheet : str
        Where to write the empty sheet of a plan: a row per item, in the order of labeling. Beside it a file that ends
        in .plan.json keeps the settings: at the analysis they must be the same.
    rng : int
        Seed that orders ties and draws the items: the same for plan and analysis.
    columns : dict of (N,) array_like, optional
        What the sheet shows of the items, by name, beside the prediction.
    source : dict, optional
        What the items were read from, such as {"scores": "my.csv", "score_is": "class1"}: kept beside the sheet, and
        told where the items are others at the analysis.

    Returns
    -------
    AccuracyAudit

    Examples
    --------
    >>> import workbench as wb
    >>> wb.accuracy_audit(wb.digit_forms().items(), 100)
    AccuracyAudit(Accuracy 92.9% (95% interval: 86.4% to 97.1%), 100 labels, 10 strata; the truth is 87.7%)
    """
    seed = checked_seed(items, interval, level, stratifier, rng=rng)
    allocation = checks.choice("allocation", allocation, ALLOCATIONS)
    allocation = "proportional" if allocation == AUTO != n_strata else allocation
    trust_scores = check_trusted(trust_scores, allocation == AUTO, items)
    cut = functools.cache(lambda n: strata_of(items, n, stratifier, rng=seed))
    plan = SamplePlan(
        items,
        lambda budget: cut(strata_wanted(n_strata, budget, items)),
        functools.partial(_turns, items, allocation, trust_scores),
        "correct",
        seed,
        draw_settings("accuracy", n_strata, stratifier, allocation, trust_scores=trust_scores),
        source,
        columns,
    )
    fields, sample, _ = plan.collect(budget, labels, label_sheet)
    return AccuracyAudit(
        **accuracy_found(items, fields, sample, interval, level), allocation=allocation
    )


def draw_settings(
    question: str,
    n_strata: int | str,
    stratifier: str,
    allocation: str,
    metrics_of: str = "",
    trust_scores: bool = False,
) -> dict:
    """Return the settings that decide, beside the seed, which items are drawn."""
    return {
        "question": question,
        "metrics_of": metrics_of,
        "n_strata": n_strata,
        "stratifier": stratifier,
        "allocation": allocation,
        "trust_scores": trust_scores,
    }


def checked_seed(items: Any, interval: str, level: float, stratifier: str, *, rng: Any) -> int:
    """Return the seed of an audit, or raise where items or settings that every audit has are not what they must be."""
    if checks.instance("items", items, ScoredItems).size == 1:
        raise checks.WrongValue("items", "must be at least two; there is only one item")
    checks.level(level)
    checks.choice("interval", interval, intervals.METHODS)
    checks.choice("stratifier", stratifier, STRATIFIERS)
    return seed_of(rng=rng)


def accuracy_found(
    items: ScoredItems, fields: dict, sample: SheetLabels | None, interval: str, level: float
) -> dict:
    """Return the fields of an `AccuracyAudit` from those that `SamplePlan.collect` returned, and its labels."""
    size, labeled = fields["stratum_size"], fields["labeled"]
    expected = float("nan")
    if fields["mode"] != "analyzed" and items.score_is == "confidence":
        expected = accuracy.expected_half_width(
            size, np.clip(fields["mean_score"], 0, 1), labeled, interval=interval, level=level
        )[0]
    truth = (
        None
        if items.correct is None or fields["mode"] != "simulated"
        else float(items.correct.mean())
    )
    fields = fields | {"level": float(level), "expected_half_width": expected, "truth": truth}
    if sample is None:
        return fields
    estimate = accuracy.stratified_accuracy(size, labeled, sample.correct, skipped=sample.skipped)
    limits = estimate.interval(level, interval)
    return fields | {
        "estimate": estimate,
        "confidence_interval": limits,
        "notes": [*fields["notes"], *estimate.notes, *limits.notes],
    }


def compare_intervals(audit: AccuracyAudit) -> IntervalComparison:
    """Return every interval method on an audit's labels, at the audit's level.

    Parameters
    ----------
    audit : AccuracyAudit
        For a plan the intervals are those of the labels that the scores promise, were they honest; with margins, of
        half the labels being right, the widest case.

    Returns
    -------
    IntervalComparison

    Examples
    --------
    >>> import workbench as wb
    >>> compare_intervals(wb.accuracy_audit(wb.digit_forms().items(), 100))
    IntervalComparison(5 intervals from the same labels, half-width 0.045 (wald) to 0.073 (guaranteed))
    """
    checks.instance("audit", audit, AccuracyAudit)
    estimate, assumption = audit.estimate, ""
    if estimate is None:
        rate = np.clip(audit.mean_score, 0, 1) if np.isfinite(audit.expected_half_width) else 0.5
        assumption = (
            "If the scores are honest"
            if np.isfinite(audit.expected_half_width)
            else "If half are right"
        )
        estimate = accuracy.stratified_accuracy(
            audit.stratum_size, audit.labeled, np.rint(audit.labeled * rate).astype(int)
        )
    return IntervalComparison(
        tuple(estimate.interval(audit.level, method) for method in intervals.METHODS), assumption
    )


def turns_of(size: np.ndarray, method: str, budget: int) -> np.ndarray:
    """Return the stratum of each next label: where labels go in proportion, a larger budget only goes on."""
    if method == "proportional":
        return labeling_order(size, budget)
    return labeling_order(rules.allocate(size, budget, method).labeled, budget)


def _turns(
    items: ScoredItems, method: str, trust_scores: bool, strata: Strata, budget: int
) -> tuple[np.ndarray, list[Note]]:
    """Return the stratum of each next label and the notes of the allocation."""
    if method == AUTO:
        labeled, notes = default_labels(items, strata, budget, trust_scores=trust_scores)
        return labeling_order(strata.sizes, budget, share=labeled), notes
    if method not in rules.NEED_SD:
        return turns_of(strata.sizes, method, budget), []
    if items.score_is != "confidence":
        without = "with margins" if items.score_is == "margin" else "without scores"
        raise checks.WrongValue(
            "allocation",
            f"{method!r} needs scores that are probabilities; {without} use "
            "'proportional' or 'equal'",
        )
    score = np.bincount(strata.labels, items.score) / strata.sizes
    sd = np.sqrt(accuracy.stratum_variance(strata.sizes, np.clip(score, 0, 1)))
    allotted = rules.allocate(strata.sizes, budget, method, stratum_sd=sd)
    trusted = Note(
        "assumption",
        f"allocation {method} took the scores for probabilities: where the classifier is "
        "overconfident it labels too little in the strata that look safe",
    )
    turns = labeling_order(allotted.labeled, int(allotted.labeled.sum()))
    return turns, [trusted, *rules.unused_notes(allotted.unused, budget)]
