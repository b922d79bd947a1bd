"""Estimates from a filled sheet of values: total and mean with intervals, and the next labels."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy import ndarray
from numpy.typing import ArrayLike

from workbench import checks
from workbench.allocation import rules, samples
from workbench.allocation.samples import StratumSummary
from workbench.allocation.streams.estimates import (
    ROUNDING,
    SampledValues,
    moments,
    with_bounded_note,
)
from workbench.checks import WrongValue, listed
from workbench.results import (
    NO_INTERVAL,
    Interval,
    Note,
    bounded_words,
    digits,
    html_table,
    note_list,
    percent,
    with_bounded,
)

SD_FROM = ("planned", "labels")
ENOUGH = 10  # labels: an sd of 10 normal values is known to a quarter
SHOWN = 5
# four strata, 12 labels each and 112 more, simulated: intervals cover 95% of normal values either
# way, 91% of gamma(2), 85% of lognormal(1)
LOOKED = Note(
    "assumption",
    "the next items follow the standard deviations of these labels: with skewed values the "
    "interval of all labels together covers 2 to 4 points less than with those known before",
)


class ValueEstimate(SampledValues, kw_only=True):
    """Mean and total of a population from a stratified random sample; made by `estimate_values`.

    Attributes
    ----------
    estimate : float
        Mean, sum_h N_h ybar_h / N; NaN where a stratum has no label.
    variance : float
        Of the mean, sum_h (N_h / N)^2 (1 - n_h / N_h) s_h^2 / n_h; NaN where a stratum has fewer
        than two labels.
    stratum : (H,) array
        Names.
    size, sampled : (H,) array of int
        Items and labels, N_h and n_h.
    mean, sd : (H,) array of float
        Of the labels; sd with ddof=1. NaN where there are too few.
    values : (n,) array of float
        Stratum by stratum.
    planned_sd : (H,) array of float
        As the strata were known before.
    bounds : (float, float) or None
        Smallest and largest value that an item can have.
    to_label : (H,) array of int
        Labels that are still to come.
    premise : str
        What the finding takes for granted of values that no plan drew; "" where a plan drew them.
    """

    planned_sd: ndarray
    bounds: tuple | None
    to_label: ndarray
    premise: str = ""

    _unit = "label"

    @property
    def lacking(self) -> list:
        """Strata with too few labels for a standard error."""
        too_few = (self.sampled < 2) & (self.sampled < self.size)
        return self.stratum[too_few].tolist()

    def interval(
        self,
        level: float = 0.95,
        *,
        quantity: str = "mean",
        method: str = "default",
    ) -> Interval:
        """Return an `Interval` for the mean or the total.

        Parameters
        ----------
        level : float
        quantity : {"mean", "total"}
        method : {"default", "bounded", "t"}
            As of `StreamEstimate.interval`.

        Returns
        -------
        Interval
            With bounds the one of `workbench.value_interval` ("default"). Without them Student's
            with Satterthwaite's degrees of freedom, joined with Hall's for skewed values ("t"), as
            of `StreamEstimate`, with a warning where few labels carry the variance; none (method
            "none") where all labels of every stratum are alike.

        Raises
        ------
        ValueError
            If a value lies outside the bounds, or a stratum has fewer than two labels.
        """
        checks.choice("quantity", quantity, ("mean", "total"))
        mean = self._interval(level, self.bounds, method)
        items = self.size.sum() if quantity == "total" else 1
        scaled = replace(
            mean,
            low=mean.low * items,
            high=mean.high * items,
            bounded=mean.bounded and tuple(limit * items for limit in mean.bounded),
        )
        return with_bounded_note(scaled)

    def quantities(self, level: float = 0.95) -> list[dict]:
        """Return one row for the total and one for the mean; [] without a result.

        Limits are None where there is no interval. `bounded_low` and `bounded_high` are the limits
        if values inside the bounds exist that no label shows; they equal `low` and `high` where
        these hold then too.

        Parameters
        ----------
        level : float
        """
        if self.lacking:
            return []
        rows = []
        for quantity, items in (("total", int(self.size.sum())), ("mean", 1)):
            interval = self.interval(level, quantity=quantity)
            limits = {
                "low": interval.low,
                "high": interval.high,
                "interval_method": interval.method,
            }
            limits |= with_bounded(interval)
            if interval.method == "none":
                limits = {**dict.fromkeys(limits), "interval_method": NO_INTERVAL}
            estimate = {
                "quantity": quantity,
                "estimate": items * self.estimate,
                "standard_error": items * self.standard_error,
            }
            rows.append(estimate | limits)
        return rows

    def headline(self, level: float = 0.95) -> str:
        """Return total and mean with their intervals, or the strata with too few labels.

        Parameters
        ----------
        level : float
        """
        strata = checks.counted(self.size.size, "stratum", "strata")
        labels = f"{self._labels()} of {self.size.sum():,} items, {strata}"
        if self.lacking:
            strata = listed(self.lacking, SHOWN, quoted=True)
            return f"No result yet: fewer than two labels in {strata}; {labels}"
        total, mean = (_with_limits(row, level) for row in self.quantities(level))
        return f"Total {total}; mean {mean}; {labels}"

    def finding(self, level: float = 0.95) -> str:
        """Return the total and the mean with their intervals, in a sentence without jargon.

        Parameters
        ----------
        level : float
        """
        if self.lacking:
            return self.premise + self.headline(level)
        rows = self.quantities(level)
        if rows[0]["high"] is None:
            total, mean = (_figure(row["estimate"], row) for row in rows)
            alike = f"Total {total}, mean {mean}; all labels are alike; {NO_INTERVAL}"
            return self.premise + alike
        total, low, high = _range(rows[0])
        mean, mean_low, mean_high = _range(rows[1])
        width = rows[0]["high"] - rows[0]["low"]
        is_one_sided = np.ptp(np.sign(self.mean)) < 2
        if width >= 2 * abs(rows[0]["estimate"]) > 0 and is_one_sided:
            between = f"between {low} and {high}"
            after = f"No result: after {self._labels()} the total may be anything {between}"
            return self.premise + after
        totals = f"Total {total}, between {low} and {high}"
        return f"{self.premise}{totals}; mean {mean}, between {mean_low} and {mean_high}"

    def _labels(self) -> str:
        return checks.counted(self.sampled.sum(), "label")

    def basis(self, level: float = 0.95) -> str:
        """Return the basis of the finding in one line.

        Parameters
        ----------
        level : float
        """
        strata = checks.counted(self.size.size, "stratum", "strata")
        to_label = self.to_label.sum()
        basis = f"From {self._labels()} of {self.size.sum():,} items in {strata}"
        basis += f"; {percent(level)} intervals"
        basis += f"; {to_label:,} still to label." if to_label else "."
        warnings = [note.text for note in self.notes if note.kind == "unreliable"]
        return " ".join([basis, *(f"Warning: {text}." for text in warnings)])

    def rows(self) -> list[dict]:
        """Return one row per stratum: items, labels, mean, sd, planned sd, labels still to come."""
        return samples.rows_of(
            stratum=self.stratum,
            size=self.size,
            labeled=self.sampled,
            mean=self.mean,
            sd=self.sd,
            planned_sd=self.planned_sd,
            to_label=self.to_label,
        )

    def _repr_html_(self) -> str:
        notes = self.notes if self.lacking else self.interval().notes
        return html_table(self.rows(), self.headline()) + note_list(notes)


def estimate_values(
    strata: StratumSummary,
    stratum: ArrayLike,
    values: ArrayLike,
    *,
    bounds: Sequence[float] | None = None,
    to_label: ArrayLike | None = None,
    notes: Sequence[Note] = (),
) -> ValueEstimate:
    """Estimate mean and total of a population from values of a stratified simple random sample.

    Parameters
    ----------
    strata : StratumSummary
        Sizes of all strata, as from `workbench.load_strata`.
    stratum : (n,) array_like
        Stratum of each labeled item, as `strata` names it. How many there are must not depend on
        their values.
    values : (n,) array_like of float
    bounds : (float, float), optional
        Smallest and largest value that an item of the population can have, (0, 1) for right and
        wrong; not what the sample shows.
    to_label : (H,) array_like of int, optional
        Labels still to come, from `next_labels`.
    notes : sequence of Note
        On how the values were read.

    Returns
    -------
    ValueEstimate

    Raises
    ------
    ValueError
        If a stratum is unknown or has more labels than items, or a value lies outside the bounds.

    Examples
    --------
    >>> import workbench as wb
    >>> strata = wb.load_strata({"stratum": ["a", "b"], "size": [100, 50], "sd": [1, 5]})
    >>> estimate = estimate_values(strata, ["a", "a", "a", "b", "b", "b"], [1, 2, 3, 10, 20, 15])
    >>> print(estimate.headline())      # doctest: +NORMALIZE_WHITESPACE
    Total 950, 95% interval 430 to 1,470; mean 6.3, 95% interval 2.9 to 9.8; 6 labels of 150 items,
    2 strata
    """
    checks.instance("strata", strata, StratumSummary)
    code = _codes(strata.stratum, stratum)
    if code.size:
        values = checks.vector("values", values, size=code.size, what="label")
    else:
        values = np.empty(0)
    n = np.bincount(code, minlength=strata.size.size)
    checks.at_most("labels", n, "size", strata.size)
    bounds = None if bounds is None else checks.bounds(bounds)
    if to_label is None:
        to_label = np.zeros(n.size, int)
    else:
        to_label = checks.counts("to_label", to_label, size=n.size)
    _, mean, squares = moments(code, values, n.size)
    mean = np.where(n > 0, mean, np.nan)
    unknown = np.where(n == strata.size, 0.0, np.nan)
    within = np.where(n > 1, squares / np.maximum(n - 1, 1), unknown)
    sd = np.sqrt(within)
    weight = strata.size / strata.size.sum()
    free = 1 - n / strata.size
    variances = weight**2 * free * sd**2 / np.maximum(n, 1)
    order = np.argsort(code, kind="stable")
    estimate = ValueEstimate(
        weight @ mean,
        variances.sum(),
        strata.stratum,
        strata.size,
        n,
        mean,
        sd,
        values[order],
        planned_sd=strata.sd,
        bounds=bounds,
        to_label=to_label,
    )
    if bounds and not estimate.lacking:
        estimate.interval()  # raises where a value lies outside the bounds
    return replace(estimate, notes=[*notes, *_value_notes(estimate)])


def next_labels(
    strata: StratumSummary,
    sampled: ArrayLike,
    budget: int,
    *,
    method: str = "voila",
    minimum: int = 2,
    sd: ArrayLike | None = None,
) -> ndarray:
    """Return how many labels are still to come per stratum when a budget is planned again.

    Parameters
    ----------
    strata : StratumSummary
    sampled : (H,) array_like of int
        Labels that are there: the new plan takes none of them back.
    budget : int
        Labels in total, with those that are there.
    method, minimum
        As in `workbench.plan_labels`.
    sd : (H,) array_like of float, optional
        Standard deviations within the strata, by default those of `strata`: known before any label,
        so that the numbers of labels do not depend on the labels, as every interval assumes.

    Returns
    -------
    (H,) array of int
        All 0 where the budget is spent.

    Examples
    --------
    >>> import workbench as wb
    >>> strata = wb.load_strata({"stratum": ["a", "b"], "size": [100, 50], "sd": [1, 5]})
    >>> next_labels(strata, [10, 4], 30)
    array([ 0, 16])
    """
    n = checks.counts("sampled", sampled, size=strata.size.size)
    checks.at_most("sampled", n, "size", strata.size)
    budget = min(checks.whole("budget", budget, 1), int(strata.size.sum()))
    checks.choice("method", method, rules.METHODS)
    minimum = checks.whole("minimum", minimum, 0)
    floor = np.maximum(n, np.minimum(minimum, strata.size))
    if sd is None:
        sd = strata.sd
    else:
        sd = checks.vector(
            "sd",
            sd,
            size=n.size,
            low=0,
            what="stratum",
        )
    if budget <= floor.sum():
        return _up_to(floor - n, max(0, budget - n.sum()))
    if not sd.max() > 0:
        method = "proportional"
    return rules.allotted(strata.size, budget, method, floor, sd) - n


def with_next(
    estimate: ValueEstimate,
    strata: StratumSummary,
    begun: ArrayLike,
    budget: int,
    *,
    method: str = "voila",
    minimum: int = 2,
    sd_from: str = "planned",
) -> ValueEstimate:
    """Return an estimate with the labels that are still to come of a budget.

    Parameters
    ----------
    estimate : ValueEstimate
    strata : StratumSummary
    begun : (H,) array_like of int
        As the field of `workbench.allocation.values.sheets.ValueLabels`: items passed over are
        asked for again.
    budget : int
        In total, with the labels that are there.
    method, minimum
        As in `next_labels`.
    sd_from : {"planned", "labels"}
        Plan by the standard deviations of `strata`, or by those of the labels where a stratum has
        at least 10.
    """
    checks.choice("sd_from", sd_from, SD_FROM)
    sd = strata.sd if sd_from == "planned" else learned_sd(strata, estimate)
    more = next_labels(
        strata,
        begun,
        budget,
        method=method,
        minimum=minimum,
        sd=sd,
    )
    to_label = np.asarray(begun) + more - estimate.sampled
    notes = [LOOKED] if sd_from == "labels" and to_label.any() else []
    to_label = _up_to(to_label, max(0, budget - estimate.sampled.sum()))
    return replace(estimate, to_label=to_label, notes=[*estimate.notes, *notes])


def learned_sd(strata: StratumSummary, estimate: ValueEstimate) -> ndarray:
    """Return the sd of the labels in strata with at least 10 of them, elsewhere the planned one."""
    is_learned = (estimate.sampled >= ENOUGH) & np.isfinite(estimate.sd)
    return np.where(is_learned, estimate.sd, strata.sd)


def _up_to(labels: ndarray, most: int) -> ndarray:
    """Return labels stratum by stratum, cut where their sum would exceed `most`."""
    return np.diff(np.minimum(np.cumsum(labels), most), prepend=0)


def _codes(names: ndarray, stratum: ArrayLike) -> ndarray:
    """Return the index of each label's stratum; names may be numbers where the labels are text."""
    cells, gaps = checks.cells_and_gaps("stratum", stratum)
    for k in np.flatnonzero(gaps)[:1].tolist():
        raise WrongValue("stratum", "must not be missing", place=("label", k), told=f"label {k} is")
    index = {str(name): code for code, name in enumerate(names.tolist())}
    labels = [str(name) for name in cells.tolist()]
    for k, name in enumerate(labels):
        if name not in index:
            strata = listed(index, SHOWN, quoted=True)
            raise WrongValue("stratum", f"must be one of {strata}; label {k} has {name!r}")
    return np.array([index[name] for name in labels], int)


def _value_notes(estimate: ValueEstimate) -> Iterator[Note]:
    """Yield what the reader has to know before they quote the estimate."""
    for name in estimate.lacking:
        few = "has fewer than two labels: there is no standard error yet"
        yield Note("refused", few, ("stratum", str(name)))
    if estimate.bounds is None and not estimate.lacking:
        yield from estimate._warnings()
    if estimate.bounds is None and estimate.values.size and np.isin(estimate.values, (0, 1)).all():
        yield Note(
            "remark", "every value is 0 or 1: with bounds 0, 1 the interval holds for any share"
        )
    planned = np.where(estimate.planned_sd > 0, estimate.planned_sd, np.inf)
    varies_more = (estimate.sampled >= ENOUGH) & (estimate.sd > 2 * planned)
    wide = estimate.stratum[varies_more].tolist()
    if wide:
        yield Note(
            "design",
            "the labels vary more than twice as much as was planned for in "
            f"{listed(wide, SHOWN)}: more labels there would help most",
        )


def _range(row: dict) -> tuple[str, ...]:
    """Return an estimate and its limits as text."""
    half_width = (row["high"] - row["low"]) / 2
    return digits.numbers(row["estimate"], row["low"], row["high"], error=half_width)


def _with_limits(row: dict, level: float) -> str:
    estimate = _figure(row["estimate"], row)
    if row["high"] is None:
        return f"{estimate}, {NO_INTERVAL}"
    names = ("low", "high", "bounded_low", "bounded_high")
    low, high, *bounded = (_figure(row[name], row) for name in names)
    bounded_limits = bounded_words((low, high), bounded)
    return f"{estimate}, {percent(level)} interval {low} to {high}{bounded_limits}"


def _figure(value: float, row: dict) -> str:
    """Return a number to a tenth of its standard error, at most four digits where that is 0."""
    error = row["standard_error"]
    if not ROUNDING * abs(value) < error < 1e15:
        return f"{value:,.4g}"
    decimals = max(0, 1 - math.floor(math.log10(error)))
    return f"{value:,.{decimals}f}"
