"""Total and mean with intervals from the values of an annotation sheet, and the next labels."""

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
ENOUGH = 10  # labels: the sd of 10 normal values has a relative error of a quarter
SHOWN = 5
# in a simulation with four strata, 12 labels each and 112 more, the coverage of 95% intervals was
# 95% for normal values with either kind of sd, 91% for gamma(2) and 85% for lognormal(1) values
LOOKED = Note(
    "assumption",
    "the next labels are allocated by the standard deviations of these labels. With skewed values "
    "the coverage of the interval from all labels is then 2 to 4 percentage points lower than with "
    "standard deviations that were known before",
)


class ValueEstimate(SampledValues, kw_only=True):
    """Mean and total of a population, estimated from a stratified random sample.

    `estimate_values` returns this result.

    Attributes
    ----------
    estimate : float
        Estimated mean; NaN if a stratum has no label.
    variance : float
        Estimated variance of the mean; NaN if a stratum has fewer than two labels.
    stratum : (H,) array
        Names of the strata.
    size : (H,) array of int
        Items per stratum.
    sampled : (H,) array of int
        Labels per stratum.
    mean : (H,) array of float
        Mean of the labels of each stratum; NaN without labels.
    sd : (H,) array of float
        Standard deviation of the labels of each stratum, with ddof=1; NaN with too few labels.
    values : (n,) array of float
        Values of the labels, stratum by stratum.
    planned_sd : (H,) array of float
        Standard deviation within each stratum that the plan used.
    bounds : (float, float) or None
        Smallest and largest value that an item can have, if known.
    to_label : (H,) array of int
        Labels per stratum that are still to be made.
    premise : str
        Assumption that the finding names first if no plan sampled the values; otherwise "".

    See Also
    --------
    estimate_values : Estimate mean and total from the values of a stratified sample.
    LabelPlan : A plan of labels per stratum.
    """

    planned_sd: ndarray
    bounds: tuple | None
    to_label: ndarray
    premise: str = ""

    _unit = "label"

    @property
    def lacking(self) -> list:
        """Return the names of the strata that have too few labels for a standard error."""
        too_few = (self.sampled < 2) & (self.sampled < self.size)
        return self.stratum[too_few].tolist()

    def interval(
        self,
        level: float = 0.95,
        *,
        quantity: str = "mean",
        method: str = "default",
    ) -> Interval:
        """Return a confidence interval for the mean or the total.

        Parameters
        ----------
        level : float, default 0.95
            Confidence level, between 0 and 1.
        quantity : {"mean", "total"}, default "mean"
            Quantity to estimate.
        method : {"default", "bounded", "t"}, default "default"
            Method of the interval, as in `StreamEstimate.interval`.

        Returns
        -------
        Interval
            Limits of the quantity. With known bounds, they are those of `value_interval`. Without
            bounds, they are those of Student's t, widened for skewed values as in `StreamEstimate`.
            The interval is infinite (method "none") if all labels of each stratum are equal.

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
        """Return one row for the total and one for the mean.

        Parameters
        ----------
        level : float, default 0.95
            Confidence level of the intervals, between 0 and 1.

        Returns
        -------
        list of dict
            Estimates with their limits; empty if a stratum has too few labels. Limits are None if
            there is no interval. The limits `bounded_low` and `bounded_high` also allow for values
            inside the bounds that no label shows. They equal `low` and `high` if these allow for
            such values, too.
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
        level : float, default 0.95
            Confidence level of the intervals, between 0 and 1.
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
        level : float, default 0.95
            Confidence level of the intervals, between 0 and 1.
        """
        if self.lacking:
            return self.premise + self.headline(level)
        rows = self.quantities(level)
        if rows[0]["high"] is None:
            total, mean = (_figure(row["estimate"], row) for row in rows)
            alike = f"Total {total}, mean {mean}; all labels are equal; {NO_INTERVAL}"
            return self.premise + alike
        total, low, high = _range(rows[0])
        mean, mean_low, mean_high = _range(rows[1])
        width = rows[0]["high"] - rows[0]["low"]
        is_one_sided = np.ptp(np.sign(self.mean)) < 2
        if width >= 2 * abs(rows[0]["estimate"]) > 0 and is_one_sided:
            between = f"between {low} and {high}"
            after = f"No result: after {self._labels()} the total may be anything {between}"
            return self.premise + after
        interval = f"{percent(level)} confidence interval"
        totals = f"Total {total} ({interval} {low} to {high})"
        return f"{self.premise}{totals}; mean {mean} ({mean_low} to {mean_high})"

    def _labels(self) -> str:
        return checks.counted(self.sampled.sum(), "label")

    def basis(self, level: float = 0.95) -> str:
        """Return the basis of the finding in one line.

        Parameters
        ----------
        level : float, default 0.95
            Confidence level of the intervals, between 0 and 1.
        """
        strata = checks.counted(self.size.size, "stratum", "strata")
        to_label = self.to_label.sum()
        basis = f"From {self._labels()} of {self.size.sum():,} items in {strata}"
        basis += f"; {percent(level)} intervals"
        basis += f"; {to_label:,} still to label." if to_label else "."
        warnings = [note.text for note in self.notes if note.kind == "unreliable"]
        return " ".join([basis, *(f"Warning: {text}." for text in warnings)])

    def rows(self) -> list[dict]:
        """Return one row per stratum: items, labels, mean, sd, planned sd and labels to make."""
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
    """Estimate mean and total of a population from the values of a stratified sample.

    Use it for values such as amounts or errors. The items of each stratum must be a simple random
    sample.

    Parameters
    ----------
    strata : StratumSummary
        Sizes of all strata, for example from `load_strata`.
    stratum : (n,) array_like
        Stratum of each labeled item, with the names of `strata`. The number of labels must not
        depend on their values.
    values : (n,) array_like of float
        Value of each labeled item.
    bounds : (float, float), optional
        Smallest and largest value that an item of the population can have, such as (0, 1) for
        incorrect and correct. Give what you know about the values, not the range of the sample.
    to_label : (H,) array_like of int, optional
        Labels per stratum that are still to be made.
    notes : sequence of Note, optional
        Notes about how the values were read.

    Returns
    -------
    ValueEstimate
        Mean and total with their intervals, and a table per stratum.

    Raises
    ------
    ValueError
        If a stratum is unknown or has more labels than items, or a value lies outside the bounds.

    See Also
    --------
    plan_labels : Plan a budget of labels for named strata, and compare the rules.
    draw_rows : Sample the records that a plan asks for.
    value_interval : Compute a confidence interval for the mean of bounded values.

    Notes
    -----
    The estimated mean and its variance are::

        sum_h N_h ybar_h / N
        sum_h (N_h / N)^2 (1 - n_h / N_h) s_h^2 / n_h

    Stratum h has N_h of the N items and n_h labels with the mean ybar_h and the variance s_h^2.

    Examples
    --------
    >>> import workbench as wb
    >>> strata = wb.load_strata({"stratum": ["a", "b"], "size": [100, 50], "sd": [1, 5]})
    >>> estimate = estimate_values(strata, ["a", "a", "a", "b", "b", "b"], [1, 2, 3, 10, 20, 15])
    >>> print(estimate.headline())      # doctest: +NORMALIZE_WHITESPACE
    Total 950, 95% confidence interval 430 to 1,470; mean 6.3, 95% confidence interval 2.9 to 9.8;
    6 labels of 150 items, 2 strata
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
    """Return the labels per stratum that are still to be made if a budget is planned again.

    Parameters
    ----------
    strata : StratumSummary
        Sizes and standard deviations of the strata.
    sampled : (H,) array_like of int
        Labels that exist. The new plan keeps all of them.
    budget : int
        Labels in total, including those that exist.
    method, minimum
        As in `workbench.plan_labels`.
    sd : (H,) array_like of float, optional
        Standard deviations within the strata, by default those of `strata`. Every interval assumes
        that they were known before labeling, so that the numbers of labels do not depend on the
        labels.

    Returns
    -------
    (H,) array of int
        Labels to make; all 0 if the budget is spent.

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
    """Return an estimate together with the labels of a budget that are still to be made.

    Parameters
    ----------
    estimate : ValueEstimate
        Estimate from the labels so far.
    strata : StratumSummary
        Sizes and standard deviations of the strata.
    begun : (H,) array_like of int
        Field `begun` of `ValueLabels`. Items that were left empty are asked for again.
    budget : int
        Labels in total, including those that exist.
    method, minimum
        As in `next_labels`.
    sd_from : {"planned", "labels"}
        Whether to plan by the standard deviations of `strata`, or by those of the labels in strata
        with at least 10 labels.

    Returns
    -------
    ValueEstimate
        The estimate with the field `to_label`.
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
    """Return the sd of the labels in strata with at least 10 labels, and else the planned one."""
    is_learned = (estimate.sampled >= ENOUGH) & np.isfinite(estimate.sd)
    return np.where(is_learned, estimate.sd, strata.sd)


def _up_to(labels: ndarray, most: int) -> ndarray:
    """Return labels per stratum, cut off at the stratum where their sum would exceed `most`."""
    return np.diff(np.minimum(np.cumsum(labels), most), prepend=0)


def _codes(names: ndarray, stratum: ArrayLike) -> ndarray:
    """Return the stratum index of each label; names may be numbers although labels are text."""
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
    """Yield notes that a reader needs before they report the estimate."""
    for name in estimate.lacking:
        few = "has fewer than two labels, so there is no standard error yet"
        yield Note("refused", few, ("stratum", str(name)))
    if estimate.bounds is None and not estimate.lacking:
        yield from estimate._warnings()
    if estimate.bounds is None and estimate.values.size and np.isin(estimate.values, (0, 1)).all():
        yield Note(
            "remark",
            "every value is 0 or 1. With bounds 0, 1 the interval is valid for any true proportion",
        )
    planned = np.where(estimate.planned_sd > 0, estimate.planned_sd, np.inf)
    varies_more = (estimate.sampled >= ENOUGH) & (estimate.sd > 2 * planned)
    wide = estimate.stratum[varies_more].tolist()
    if wide:
        yield Note(
            "design",
            "the standard deviation of the labels is more than twice the planned one in "
            f"{listed(wide, SHOWN)}. More labels there would help most",
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
    return f"{estimate}, {percent(level)} confidence interval {low} to {high}{bounded_limits}"


def _figure(value: float, row: dict) -> str:
    """Return a number to a tenth of its standard error, at most four digits where that is 0."""
    error = row["standard_error"]
    if not ROUNDING * abs(value) < error < 1e15:
        return f"{value:,.4g}"
    decimals = max(0, 1 - math.floor(math.log10(error)))
    return f"{value:,.{decimals}f}"
