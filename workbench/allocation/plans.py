"""Plans that divide a budget of labels among strata, compared with other rules.

`load_strata` reads strata or records, `plan_labels` plans a budget, `budget_for_error` finds the
budget for a standard error, and `draw_rows` samples the records to label.
"""

import bisect
from collections.abc import Iterator
from dataclasses import replace
from os import PathLike
from typing import Any

import numpy as np
import scipy
from numpy import ndarray

from workbench import checks
from workbench.allocation import rules, samples
from workbench.allocation.samples import FrameSample, StratumSummary
from workbench.allocation.streams.estimates import moments
from workbench.allocation.values import sheets as value_sheets
from workbench.checks import WrongValue
from workbench.data import frames, numbers
from workbench.data.classes import alike_notes
from workbench.data.columns import crossed_labels, crossed_names, spelled
from workbench.data.scored_items import missing_labels
from workbench.labeling import sheets as label_sheets
from workbench.results import Note, Result, digits, html_table, note_list

COLUMNS = ("stratum", "size", "labels")
FEW_RECORDS = 10  # the standard deviation of 10 normal values has a relative error of a quarter
COSTLY_FLOOR = 1.05  # ratio of the variance to that of the same labels without the floor
SHOWN = 5
HOPELESS = 0.5  # relative error of the total
RULES = {
    "voila": "VOILA",
    "neyman": "capped Neyman",
    "neyman_plus": "Neyman+",
    "neyman_iterated": "iterated Neyman",
    "equal": "equal shares",
    "proportional": "in proportion",
}
AT_RANDOM = "at random"


class LabelPlan(Result):
    """A plan of labels per stratum, compared with the plans of other rules.

    `plan_labels` returns this result.

    Attributes
    ----------
    stratum : (H,) array
        Names of the strata.
    size : (H,) array of int
        Items per stratum.
    sd : (H,) array of float
        Standard deviation within each stratum; NaN if unknown.
    budget : int
        Labels that were asked for.
    minimum : int
        Labels that every stratum gets at least.
    method : str
        Rule of the plan, as in `allocate`.
    labeled : (H,) array of int
        Labels per stratum.
    others : dict of str to Allocation
        Allocations of all rules, with the same budget and floor.
    wish : Allocation
        Neyman's rule as it is defined: in real numbers, without a floor, and cut at the sizes of
        the strata.
    random_variance : float
        Variance of the mean with the same number of labels sampled at random from all items.
    mean : (H,) array of float or None
        Mean of each stratum, if known.

    See Also
    --------
    plan_labels : Plan a budget of labels for named strata, and compare the rules.
    draw_rows : Sample the records that a plan asks for.
    """

    stratum: ndarray
    size: ndarray
    sd: ndarray
    budget: int
    minimum: int
    method: str
    labeled: ndarray
    others: dict
    wish: rules.Allocation
    random_variance: float
    mean: ndarray | None = None

    @property
    def rule(self) -> str:
        """Return the name that the rule of the plan has in `methods`."""
        return RULES[self.method]

    @property
    def spreads_unknown(self) -> bool:
        """Return True if no standard deviation is known and the plan uses the sizes alone."""
        return bool(np.isnan(self.sd).all())

    def headline(self) -> str:
        """Return the standard errors of the total with this plan and with simpler rules."""
        if self.spreads_unknown:
            return self.finding()
        errors = {row["method"]: _figure(row["standard_error"]) for row in self.methods()}
        simpler = ("capped Neyman", "iterated Neyman", "equal shares", AT_RANDOM)
        compared = [name for name in simpler if name in errors and name != self.rule]
        labels = checks.counted(self.labeled.sum(), "label")
        strata = checks.counted(self.size.size, "stratum", "strata")
        against = ", ".join(f"{name} {errors[name]}" for name in compared)
        return f"{labels}, {strata}: SE of the total {errors[self.rule]}; {against}"

    def finding(self) -> str:
        """Return the number of labels and the expected error of the total, in one sentence."""
        items = int(self.size.sum())
        label = f"Label {self.labeled.sum():,} of {checks.counted(items, 'item')}"
        leave = checks.counted(self.labeled.sum(), "label leaves", "labels leave")
        if self.spreads_unknown:
            return (
                f"{label}; the error of the total depends on the standard deviations within "
                "strata, which are not known"
            )
        error = items * self.others[self.method].variance ** 0.5
        if not np.isfinite(error):
            return f"No result: {leave} a stratum whose values vary without a label"
        if error == 0:
            return f"{label}: the total will have no sampling error"
        mean = np.zeros(1) if self.mean is None else self.mean
        total = float((self.size * mean).sum())
        if np.isnan(total) or total == 0:
            (off,) = digits.numbers(error, error=error)
            (of_mean,) = digits.numbers(error / items, error=error / items)
            errors = f"standard error of the total about {off}, of the mean about {of_mean}"
            return f"{label}: {errors}"
        off, about = digits.numbers(error, total, error=error)
        share = abs(error / total)
        (percent,) = digits.percents(share, error=share)
        if share < HOPELESS:
            errors = f"with a standard error of about {off} ({percent})"
            return f"{label}. The expected total is about {about}, {errors}"
        if np.ptp(np.sign(mean)) < 2:
            hopeless = f"Too few labels for a useful result: {leave} the total of about {about}"
            return f"{hopeless} with a standard error of about {off} ({percent})"
        return f"{label}. The expected total is about {about}, with a standard error of about {off}"

    def basis(self) -> str:
        """Return the labels per stratum and the basis of the finding, in one line."""
        largest = np.sort(np.argsort(-self.labeled, kind="stable")[:SHOWN])
        parts = [f"{self.labeled[h]:,} in {self.stratum[h]}" for h in largest]
        labels = ", ".join(parts)
        more = self.labeled.size - largest.size
        if more:
            rest = self.labeled.sum() - self.labeled[largest].sum()
            labels += f" and {rest:,} in {more} more"
        if self.spreads_unknown:
            equal = "with the same standard deviation assumed in all strata"
            return f"Labels: {labels} (by {self.rule}, {equal})."
        return (
            f"Labels: {labels} (by {self.rule}). The standard error follows from the standard "
            "deviations within strata that are known so far."
        )

    def rows(self) -> list[dict]:
        """Return one row per stratum: size, standard deviation, and labels by three rules."""
        return samples.rows_of(
            stratum=self.stratum,
            size=self.size,
            sd=self.sd,
            labeled=self.labeled,
            bounded=self.labeled == self.size,
            neyman=self.wish.labeled,
            proportional=self.others["proportional"].labeled,
        )

    def methods(self) -> list[dict]:
        """Return one row per rule: labels, unused labels, standard errors and variance ratio.

        The ratio divides the variance of the rule by that of the plan.
        """
        rows = []
        for name, plan in self.others.items():
            labels = float(plan.labeled.sum())
            rows.append(self._method_row(RULES[name], labels, float(plan.unused), plan.variance))
        if np.isfinite(self.random_variance):
            labels = float(self.labeled.sum())
            rows.append(self._method_row(AT_RANDOM, labels, 0.0, self.random_variance))
        return rows

    def _method_row(
        self,
        method: str,
        labeled: float,
        unused: float,
        variance: float,
    ) -> dict:
        error = variance**0.5
        least = self.others[self.method].variance
        return {
            "method": method,
            "labeled": labeled,
            "unused": unused,
            "mean_standard_error": error,
            "standard_error": int(self.size.sum()) * error,
            "variance_ratio": variance / least if least > 0 else float("nan"),
        }

    def write_csv(self, path: str | PathLike[str]) -> None:
        """Write stratum, size and labels to a CSV file.

        Parameters
        ----------
        path : str or path
            File to write. A file that exists is overwritten only if it is an earlier plan.
        """
        label_sheets.refuse_other(path, COLUMNS)
        names = map(str, self.stratum.tolist())
        rows = zip(names, self.size.tolist(), self.labeled.tolist(), strict=True)
        label_sheets.write_rows(path, COLUMNS, rows)

    def _repr_html_(self) -> str:
        return html_table(self.rows(), self.headline(), shown=100) + note_list(self.notes)


@frames.in_rows_of("strata")
def load_strata(
    strata: Any,
    *,
    stratum: str = "stratum",
    size: str = "",
    sd: str = "",
    value: str = "",
) -> StratumSummary:
    """Read strata with their sizes and standard deviations.

    Read them from a table with one row per stratum, or compute them from a file with one row per
    record.

    Parameters
    ----------
    strata : str or data frame
        Table with one row per stratum. If you name the column `value`, it is a file with one row
        per record, of any size, as in `summarize`.
    stratum : str, default "stratum"
        Column of the strata. Several columns with commas between them, such as "sex,status", are
        crossed.
    size : str, default ""
        Column of the numbers of items; "" for a column named size.
    sd : str, default ""
        Column of the standard deviations within strata, with ddof=1; "" for a column named sd. For
        0/1 values with the mean p, it is about sqrt(p (1 - p)). Without such a column, the standard
        deviations are NaN and `plan_labels` assumes that they are equal.
    value : str, default ""
        Column of the values in a file of records; "" for a table of strata.

    Returns
    -------
    StratumSummary
        Sizes, means and standard deviations. The means are NaN for a table of strata.

    See Also
    --------
    summarize : Return size, mean and standard deviation of a column per stratum.
    plan_labels : Plan a budget of labels for named strata, and compare the rules.

    Examples
    --------
    >>> load_strata({"stratum": ["a", "b"], "size": [1000, 600], "sd": [0.5, 0.1]}).size
    array([1000,  600])
    """
    frames.check_source("strata", strata)
    if value:
        return samples.summarize(strata, stratum, value)
    columns = frames.column_names(strata)
    if not size and spelled("size", columns) not in columns:
        raise WrongValue(
            "strata",
            "must have a column 'size' and one row per stratum; there is no such column. Name it "
            "with size. If the file has one row per record, name the column of values with value",
        )
    has_spreads = bool(sd) or spelled("sd", columns) in columns
    size = size or "size"
    sd = sd or "sd"
    measures = [size, sd] if has_spreads else [size]
    to_read = [*crossed_names(stratum, columns), *measures]
    data, notes = frames.read_columns(strata, to_read)
    measured = {name: data.pop(name) for name in measures}
    names = _labels_of(stratum, data)
    numbers.refuse_totals(stratum, names.tolist())
    if repeat := numbers.first_repeat(names.tolist()):
        name = names[repeat[0]].item()
        raise ValueError(
            f"column {stratum!r} must name every stratum once; {name!r} repeats. If the file has "
            "one row per record, name the column of values"
        )
    sizes = numbers.to_numbers(size, measured[size], others=measured, whole=True)
    no_size = (sizes < 1) | (sizes != np.floor(sizes))
    _refuse(size, names, sizes, no_size, "a size must be a whole number of at least 1")
    spreads = unknown = np.full(names.size, np.nan)
    if has_spreads:
        cells = np.array(measured[sd], object)
        cells[sizes == 1] = 0  # also where the cell is empty
        spreads = numbers.to_numbers(sd, cells, others=measured)
        _refuse(sd, names, spreads, spreads < 0, "a standard deviation must be at least 0")
    notes = (*notes, *alike_notes(stratum, names))
    return StratumSummary(names, sizes.astype(int), unknown, spreads, notes=notes)


def _labels_of(stratum: str, columns: dict) -> ndarray:
    """Return the stratum of each row, from one column or from several crossed columns."""
    if len(columns) == 1:
        (cells,) = columns.values()
        return numbers.to_labels(stratum, cells, "text")
    present = {name: numbers.present(name, cells) for name, cells in columns.items()}
    return np.array(crossed_labels(present))


def _refuse(
    column: str,
    strata: ndarray,
    values: ndarray,
    bad: ndarray,
    rule: str,
) -> None:
    for row in np.flatnonzero(bad)[:1]:
        message = f" (stratum {strata[row]}): {rule}; got {values[row]:g}"
        raise numbers.RowError(f"column {column!r}, ", row, message)


def lacks_values(records: Any, value: str) -> bool:
    """Return whether a file of records has both rows with and rows without a value."""
    (cells,) = frames.read_columns(records, [value])[0].values()
    missing = missing_labels(cells, None)[0]
    return bool(missing.any() and not missing.all())


def labeled_values(
    records: Any,
    stratum: str,
    value: str,
) -> tuple[StratumSummary, ndarray, ndarray, Note]:
    """Return the strata and the values of a file of records of which only some have a value.

    The rows with a value are taken as a simple random sample of the rows of their stratum.

    Parameters
    ----------
    records : str or data frame
        File with one row per record.
    stratum, value : str
        Columns of the strata and the values, as in `load_strata`.

    Returns
    -------
    summary : StratumSummary
        Sizes of the strata from all rows; means and standard deviations from the values.
    strata : (n,) array
        Stratum of each value.
    values : (n,) array of float
        Values of the rows that have one.
    note : Note
        Number of rows with a value, and the assumption about them.

    Raises
    ------
    ValueError
        If a stratum has fewer than two values but more than one row. The message names it.

    Examples
    --------
    >>> records = {"g": ["a", "a", "a", "b", "b"], "y": [1, None, 3, 5, 7]}
    >>> summary, strata, values, note = labeled_values(records, "g", "y")
    >>> summary.size, strata.tolist(), values
    (array([3, 2]), ['a', 'a', 'b', 'b'], array([1., 3., 5., 7.]))
    """
    crossed = crossed_names(stratum, frames.column_names(records))
    data, _ = frames.read_columns(records, [*crossed, value])
    value, cells = data.popitem()
    of_row = _labels_of(stratum, data)
    rows = np.flatnonzero(~missing_labels(cells, None)[0])
    values = numbers.to_numbers(value, cells[rows])
    names, code, size = np.unique(of_row, return_inverse=True, return_counts=True)
    labeled, mean, squares = moments(code[rows], values, names.size)
    for k in np.flatnonzero(labeled < np.minimum(2, size))[:1]:
        has = f"{size[k]:,} rows and {checks.counted(labeled[k], 'value')}"
        raise WrongValue(
            "value",
            f"must be known in at least 2 rows of every stratum; stratum {str(names[k])!r} has "
            f"{has}. Record more values there, or name larger strata with {{0}}",
            others=("stratum",),
        )
    note = Note(
        "assumption",
        f"{rows.size:,} of {of_row.size:,} rows have a value and were taken as a random sample of "
        "each stratum. If they were chosen because of their values, the result is biased",
    )
    sd = np.sqrt(squares / np.maximum(labeled - 1, 1))
    return StratumSummary(names, size, mean, sd), of_row[rows], values, note


def plan_labels(
    strata: StratumSummary,
    budget: int = 100,
    *,
    method: str = "voila",
    minimum: int = 2,
) -> LabelPlan:
    """Plan a budget of labels for named strata, and compare the rules.

    Use it before you label. The plan says how many items of each stratum to label, and how precise
    the estimated total will be with this and with other rules.

    Parameters
    ----------
    strata : StratumSummary
        Strata from `load_strata` or `summarize`.
    budget : int, default 100
        Labels in total.
    method : str, default "voila"
        Rule of the plan: "voila", "neyman", "neyman_iterated", "neyman_plus", "equal" or
        "proportional". `allocate` describes them; "voila" gives the smallest variance.
    minimum : int, default 2
        Labels that every stratum gets at least.

    Returns
    -------
    LabelPlan
        Labels per stratum, and the standard errors of all rules.

    See Also
    --------
    load_strata : Read strata with their sizes and standard deviations.
    budget_for_error : Find the number of labels that a standard error needs.
    draw_rows : Sample the records that a plan asks for.

    Examples
    --------
    >>> import workbench as wb
    >>> plan = plan_labels(wb.digit_forms().register(), 100)
    >>> plan.labeled
    array([ 3, 18, 42, 37])
    >>> print(plan.headline())       # doctest: +NORMALIZE_WHITESPACE
    100 labels, 4 strata: SE of the total 4,148; capped Neyman 5,750, iterated Neyman 4,148, equal
    shares 8,997, at random 47,149
    """
    checks.instance("strata", strata, StratumSummary)
    checks.choice("method", method, rules.METHODS)
    if np.isnan(strata.sd).all():
        return _plan_of_sizes(strata, budget, method, minimum)
    size = strata.size
    sd = strata.sd
    allocations = {}
    for name in RULES:
        allocations[name] = rules.allocate(size, budget, name, stratum_sd=sd, minimum=minimum)
    chosen = allocations[method]
    wish = rules.allocate(
        size,
        budget,
        "neyman",
        stratum_sd=sd,
        minimum=0,
        integer=False,
    )
    notes = [*strata.notes]
    for note in chosen.notes:
        if note.where:
            name = strata.stratum[note.where[1]]
            note = replace(note, where=("stratum", str(name)))
        notes.append(note)
    notes += _plan_notes(strata, wish, allocations["neyman"], chosen)
    return LabelPlan(
        strata.stratum,
        size,
        sd,
        int(budget),
        int(minimum),
        method,
        chosen.labeled,
        allocations,
        wish,
        _random_variance(strata, chosen),
        strata.mean,
        notes=notes,
    )


def _plan_of_sizes(
    strata: StratumSummary,
    budget: int,
    method: str,
    minimum: int,
) -> LabelPlan:
    """Return the plan for unknown standard deviations, which are assumed to be equal."""
    equal = replace(strata, sd=np.ones(strata.size.size))
    plan = plan_labels(equal, budget, method=method, minimum=minimum)
    assumption = Note(
        "assumption",
        "no standard deviations are known, so they are assumed to be equal in all strata. "
        "Neyman's rule and VOILA then allocate labels in proportion to size. Give a column of "
        "standard deviations for a better plan and its precision",
    )
    notes = [note for note in plan.notes if note.kind != "unreliable"]  # they are about sds
    return replace(
        plan,
        sd=strata.sd,
        random_variance=np.nan,
        notes=[assumption, *notes],
    )


def budget_for_error(
    strata: StratumSummary,
    standard_error: float,
    *,
    method: str = "voila",
    minimum: int = 2,
    assurance: float = 0.0,
) -> int:
    """Find the number of labels needed for a given standard error of the total.

    The standard error that a sample estimates varies between samples. In about half of them it is
    below that of the plan. Set `assurance` if it should be so in more samples.

    Parameters
    ----------
    strata : StratumSummary
        Strata with known standard deviations.
    standard_error : float
        Largest standard error of the estimated total, in the units of the values, above 0.
    method : str, default "voila"
        Rule of the plan, as in `plan_labels`.
    minimum : int, default 2
        Labels that every stratum gets at least. With `assurance`, it must be at least 2.
    assurance : float, default 0.0
        Probability that the estimated standard error is small enough, at least 0.5 and below 1, if
        values are normal within strata. 0 asks for the standard error of the plan itself.

    Returns
    -------
    int
        Smallest number of labels. With a rule other than "voila", slightly fewer labels may also
        do, because of rounding.

    Raises
    ------
    ValueError
        If standard deviations are unknown, or a rule that leaves labels unused does not reach the
        standard error with any budget.

    See Also
    --------
    plan_labels : Plan a budget of labels for named strata, and compare the rules.
    plan_budget : Find the number of labels that a half-width of an accuracy needs.

    Notes
    -----
    With `assurance`, the estimated variance is taken as a multiple of a chi-squared variable with
    Satterthwaite's degrees of freedom [1]_.

    References
    ----------
    .. [1] Satterthwaite, An approximate distribution of estimates of variance components,
       Biometrics Bulletin 2, 1946.

    Examples
    --------
    >>> import workbench as wb
    >>> register = wb.digit_forms().register()
    >>> budget_for_error(register, 4148), budget_for_error(register, 2000)
    (100, 206)
    >>> budget_for_error(register, 4148, assurance=.8)
    108
    """
    checks.instance("strata", strata, StratumSummary)
    most = checks.number("standard_error", standard_error, 0, open_ends=True)
    if np.isnan(strata.sd).all():
        raise WrongValue(
            "standard_error",
            "needs the standard deviation of every stratum; name the column with {0}",
            others=("sd",),
        )
    if assurance:
        checks.assurance(assurance)
        checks.whole("minimum", minimum, 2)
    minimum = checks.whole("minimum", minimum, 0)
    items = int(strata.size.sum())

    def error(budget: int) -> float:
        plan = rules.allocate(strata.size, budget, method, stratum_sd=strata.sd, minimum=minimum)
        total = items * plan.variance**0.5
        if assurance and total:
            return total * _assured(strata, plan.labeled, assurance)
        return total

    def is_enough(budget: int) -> bool:
        return error(budget) <= most

    if not is_enough(items):
        raise WrongValue(
            "standard_error",
            f"{most:g} cannot be reached: method {method!r} leaves labels unused, so the standard "
            f"error stays at {error(items):.4g} with any budget. Use the method 'voila'",
        )
    least = max(1, np.minimum(minimum, strata.size).sum())
    return bisect.bisect_left(range(items), True, lo=least, key=is_enough)


def _assured(
    strata: StratumSummary,
    labeled: ndarray,
    assurance: float,
) -> float:
    """Return the quantile `assurance` of the estimated standard error, divided by the true one."""
    unlabeled = strata.size - labeled
    parts = strata.size * unlabeled * strata.sd**2 / labeled
    squares = parts**2 / np.maximum(labeled - 1, 1)
    freedom = parts.sum() ** 2 / squares.sum()
    return (2 * scipy.special.gammaincinv(freedom / 2, assurance) / freedom) ** 0.5


def draw_rows(
    plan: LabelPlan,
    records: Any,
    *,
    stratum: str = "stratum",
    id: str = "id",
    label_sheet: str = "",
    seed: int = 0,
) -> FrameSample:
    """Sample the records that a plan asks for, and write an annotation sheet for them.

    Parameters
    ----------
    plan : LabelPlan
        Plan for the strata of these records.
    records : str or data frame
        File or data frame with one row per record, as in `sample`.
    stratum : str, default "stratum"
        Column of the strata.
    id : str, default "id"
        Column that identifies a record.
    label_sheet : str, default ""
        CSV file to write, with the columns id, stratum and an empty value; "" for none. The order
        spreads the records over the strata, so you can stop anywhere. A sheet with values is never
        overwritten.
    seed : int, default 0
        Seed of the sample, at least 0. Another seed samples other records.

    Returns
    -------
    FrameSample
        Sampled records.

    See Also
    --------
    plan_labels : Plan a budget of labels for named strata, and compare the rules.
    estimate_values : Estimate mean and total from the values of the sampled records.
    sample : Sample an exact number of rows per stratum.

    Examples
    --------
    >>> import polars
    >>> records = {"id": range(1, 7), "g": list("aaabbb"), "y": [0, 1, 0, 5, 9, 7]}
    >>> frame = polars.DataFrame(records)
    >>> plan = plan_labels(load_strata(frame, stratum="g", value="y"), 5)
    >>> draw_rows(plan, frame, stratum="g").drawn
    array([2, 3])
    """
    checks.instance("plan", plan, LabelPlan)
    if not id:
        raise WrongValue(
            "id", "must name the column that identifies a record, to sample the records to label"
        )
    sizes = dict(zip(plan.stratum.tolist(), plan.labeled.tolist(), strict=True))
    drawn = samples.sample(records, stratum, sizes, id=id, seed=seed)
    if label_sheet:
        label_sheets.refuse_recorded(label_sheet, "value")
        order = value_sheets.labeling_order(drawn)
        ids = drawn.id[order].tolist()
        strata = drawn.stratum[order].tolist()
        cells = [(str(item), str(name), "") for item, name in zip(ids, strata, strict=True)]
        label_sheets.write_rows(label_sheet, value_sheets.HEADER, cells)
    return drawn


def _random_variance(strata: StratumSummary, chosen: rules.Allocation) -> float:
    """Return the variance with the same labels sampled from all items; NaN without the means."""
    items = strata.size.sum()
    labels = chosen.labeled.sum()
    if items == 1:
        return 0.0
    mean = strata.size @ strata.mean / items
    within = (strata.size - 1) @ strata.sd**2
    between = strata.size @ (strata.mean - mean) ** 2
    free = 1 - labels / items
    return float(free * (within + between) / (items - 1) / labels)


def _plan_notes(
    strata: StratumSummary,
    wish: rules.Allocation,
    neyman: rules.Allocation,
    chosen: rules.Allocation,
) -> Iterator[Note]:
    if chosen.bounded.all():
        return
    unlabeled = strata.size > chosen.labeled
    over = wish.bounded & (strata.sd > 0) & (neyman.unused > 0)
    few = strata.size < FEW_RECORDS
    noted = (
        (
            over,
            "design",
            "Neyman's rule asks for more labels than there are items in {}. If its numbers are "
            f"only capped, {neyman.unused} labels of the budget are not used",
        ),
        (
            unlabeled & (strata.sd == 0),
            "unreliable",
            "the standard deviation of {} is 0. If it was estimated from few records, the true one "
            "may be larger, and only the floor guards against that",
        ),
        (
            unlabeled & few,
            "unreliable",
            f"there are fewer than {FEW_RECORDS} items in {{}}: their standard deviations are "
            "uncertain",
        ),
        (chosen.bounded, "design", "every item of {} is labeled"),
    )
    for concerned, kind, text in noted:
        if concerned.any():
            yield Note(kind, text.format(checks.listed(strata.stratum[concerned], SHOWN)))
    if chosen.method == "voila" and 0 < chosen.variance < np.inf:
        labels = chosen.labeled.sum()
        free = rules.allocate(strata.size, labels, stratum_sd=strata.sd, minimum=0)
        premium = chosen.variance / free.variance
        if premium > COSTLY_FLOOR:
            yield Note(
                "design",
                f"the floor of {chosen.minimum} makes the variance {100 * (premium - 1):.0f}% "
                "larger than that of the best plan. It guards against strata that vary more than "
                "expected",
            )


def _figure(value: float) -> str:
    return f"{value:,.0f}" if 1000 <= value < np.inf else f"{value:.4g}"
