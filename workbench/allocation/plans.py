"""Where a budget of labels goes: the plan for a table of strata or a file, and what other rules would cost."""

from dataclasses import replace
from os import PathLike
from typing import Any

import numpy as np
import scipy

from workbench import checks
from workbench.allocation import rules, samples
from workbench.allocation.samples import FrameSample, StratumSummary
from workbench.allocation.streams.estimates import moments
from workbench.allocation.values import sheets as value_sheets
from workbench.data import frames, numbers
from workbench.data.classes import alike_notes
from workbench.data.columns import crossed_labels, crossed_names, spelled
from workbench.data.scored_items import missing_labels
from workbench.labeling import sheets as label_sheets
from workbench.results import Note, Result, digits, html_table, note_list

COLUMNS = ("stratum", "size", "labels")
FEW_RECORDS = 10  # a standard deviation of 10 normal values is known to a quarter
COSTLY_FLOOR = 1.05  # variance, against that of the same labels without the floor
SHOWN = 5
HOPELESS = 0.5  # of the total


class LabelPlan(Result):
    """Labels per stratum, beside what other rules would give; made by `plan_labels`.

    Attributes
    ----------
    stratum : (H,) array
        Names.
    size : (H,) array of int
    sd : (H,) array of float
    budget, minimum : int
    method : str
    labeled : (H,) array of int
        The plan.
    others : dict of str to Allocation
        Every rule in whole numbers with the same budget and floor.
    wish : Allocation
        Neyman's rule as it is defined: in fractions, without a floor, cut at the strata's sizes.
    random_variance : float
        Of the mean of as many labels at random.
    mean : (H,) array of float or None
        Of each stratum, so far as it is known.
    """

    stratum: np.ndarray
    size: np.ndarray
    sd: np.ndarray
    budget: int
    minimum: int
    method: str
    labeled: np.ndarray
    others: dict
    wish: rules.Allocation
    random_variance: float
    mean: np.ndarray | None = None

    @property
    def rule(self) -> str:
        """Name of the plan's rule in `methods`."""
        return _NAMES[self.method]

    @property
    def spreads_unknown(self) -> bool:
        """Whether no standard deviation was known, so that the plan rests on the sizes alone."""
        return bool(np.isnan(self.sd).all())

    def headline(self) -> str:
        """Return labels, strata and the standard error of the total, beside that of simpler rules."""
        if self.spreads_unknown:
            return self.finding()
        found = {row["method"]: row["standard_error"] for row in self.methods()}
        names = [
            _NAMES[name] for name in ("neyman", "neyman_iterated", "equal") if name != self.method
        ]
        against = [
            f"{name} {_figure(found[name])}" for name in [*names, "at random"] if name in found
        ]
        labels = checks.counted(self.labeled.sum(), "label")
        return (
            f"{labels}, {checks.counted(self.size.size, 'stratum', 'strata')}: SE of the total "
            f"{_figure(found[self.rule])}; {', '.join(against)}"
        )

    def finding(self) -> str:
        """Return how many to label and how far off the total will be, in units of the values and in percent of it."""
        label = f"Label {self.labeled.sum():,} of {checks.counted(self.size.sum(), 'item')}"
        leave = checks.counted(self.labeled.sum(), "label leaves", "labels leave")
        if self.spreads_unknown:
            return f"{label}; how far off the total will be depends on the spreads within strata, which are not known"
        error = self.size.sum() * self.others[self.method].variance ** 0.5
        if not np.isfinite(error):
            return f"No result: {leave} a stratum that varies without one"
        total = np.nan if self.mean is None else float(self.size @ self.mean)
        if error == 0:
            return f"{label}: nothing is left to chance"
        if np.isnan(total) or total == 0:
            off, mean = digits.numbers(error, error=error) + digits.numbers(
                error / self.size.sum(), error=error / self.size.sum()
            )
            return f"{label}: the total will be off by about {off}, the mean by about {mean}"
        off, about = digits.numbers(error, total, error=error)
        part = abs(error / total)
        shown = f" ({digits.percents(part, error=part)[0]})"
        if part >= HOPELESS and self.mean is not None and np.ptp(np.sign(self.mean)) < 2:
            return (
                f"No result to expect: {leave} the total, about {about}, off by about {off}{shown}"
            )
        return f"{label}: the total, about {about}, will be off by about {off}{shown if part < HOPELESS else ''}"

    def basis(self) -> str:
        """Return the labels per stratum and what the finding rests on, in a line."""
        order = np.argsort(-self.labeled, kind="stable")[:SHOWN]
        rest = self.labeled.size - order.size
        said = ", ".join(f"{self.labeled[h]:,} in {self.stratum[h]}" for h in sorted(order))
        more = (
            f" and {self.labeled.sum() - self.labeled[order].sum():,} in {rest} more"
            if rest
            else ""
        )
        if self.spreads_unknown:
            return (
                f"Labels: {said}{more} (by {self.rule}, with spreads taken as equal in all strata)."
            )
        return (
            f"Labels: {said}{more} (by {self.rule}). The error is a standard error, from the spreads "
            "within strata as they are known so far."
        )

    def rows(self) -> list[dict]:
        """Return one row per stratum: size, sd, labels, and labels under Neyman's rule and in proportion."""
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
        """Return one row per rule: labels, unused, standard errors of mean and total, variance over the plan's."""
        items, plan = self.size.sum(), self.others[self.method].variance
        table = [
            (_NAMES[name], float(found.labeled.sum()), float(found.unused), found.variance)
            for name, found in self.others.items()
        ]
        if np.isfinite(self.random_variance):
            table.append(("at random", float(self.labeled.sum()), 0.0, self.random_variance))
        return [
            {
                "method": name,
                "labeled": spent,
                "unused": unused,
                "mean_standard_error": variance**0.5,
                "standard_error": float(items * variance**0.5),
                "variance_ratio": variance / plan if plan > 0 else float("nan"),
            }
            for name, spent, unused, variance in table
        ]

    def write_csv(self, path: str | PathLike[str]) -> None:
        """Write stratum, size and labels to a CSV file, whole or not at all; only a plan is overwritten.

        Parameters
        ----------
        path : str or path
            A file that is not there yet, or an earlier plan.
        """
        label_sheets.refuse_other(path, COLUMNS)
        label_sheets.write_rows(
            path,
            COLUMNS,
            [(str(row["stratum"]), row["size"], row["labeled"]) for row in self.rows()],
        )

    def _repr_html_(self) -> str:
        return html_table(self.rows(), self.headline(), shown=100) + note_list(self.notes)


_NAMES = {
    "voila": "VOILA",
    "neyman": "capped Neyman",
    "neyman_plus": "Neyman+",
    "neyman_iterated": "iterated Neyman",
    "equal": "equal shares",
    "proportional": "in proportion",
}


@frames.in_rows_of("strata")
def load_strata(
    strata: Any, *, stratum: str = "stratum", size: str = "", sd: str = "", value: str = ""
) -> StratumSummary:
    """Return strata with their sizes and spreads: a table of strata or a file of records.

    Parameters
    ----------
    strata : str or data frame
        A table with one row per stratum; with `value` a file of records of any size, as in
        `workbench.summarize`.
    stratum, size, sd : str
        Columns; "" for columns named size and sd. Several columns of strata with commas between
        them, as "sex,status", are crossed. The sd is that of the values within the stratum, ddof=1;
        for 0/1 values of rate p about sqrt(p (1 - p)). A table without a column "sd" is read, too:
        its spreads are NaN, and `plan_labels` takes them as equal.
    value : str
        Column of the values in a file of records, "" for a table of strata.

    Returns
    -------
    StratumSummary
        The mean is NaN where only sizes and spreads are known.

    Examples
    --------
    >>> load_strata({"stratum": ["a", "b"], "size": [1000, 600], "sd": [0.5, 0.1]}).size
    array([1000,  600])
    """
    frames.check_source("strata", strata)
    if value:
        return samples.summarize(strata, stratum, value)
    if not size and "size" not in {name.strip().casefold() for name in frames.column_names(strata)}:
        raise checks.WrongValue(
            "strata",
            "must have a column 'size', one row per stratum; there is none: name it "
            "with size, or, in a file with one row per record, name the column of values with "
            "value",
        )
    columns = frames.column_names(strata)
    has_spreads = bool(sd) or spelled("sd", columns) in columns
    size, sd = size or "size", sd or "sd"
    crossed = crossed_names(stratum, columns)
    data, notes = frames.read_columns(strata, [*crossed, size, *([sd] if has_spreads else [])])
    names = (
        numbers.to_labels(stratum, data[stratum], "text")
        if len(crossed) == 1
        else np.array(crossed_labels({name: numbers.present(name, data[name]) for name in crossed}))
    )
    numbers.refuse_totals(stratum, names.tolist())
    if np.unique(names).size < names.size:
        repeated = next(name for name in names.tolist() if (names == name).sum() > 1)
        raise ValueError(
            f"column {stratum!r} must name every stratum once; {repeated!r} repeats: for a file of "
            "records name the column of values"
        )
    measured = {name: data[name] for name in (size, sd) if name in data}
    sizes = _whole(size, measured, names)
    unknown = np.full(names.size, np.nan)
    spreads = _sd_of(sd, measured, sizes, names) if has_spreads else unknown
    return StratumSummary(
        names, sizes, unknown, spreads, notes=(*notes, *alike_notes(stratum, names))
    )


def lacks_values(records: Any, value: str) -> bool:
    """Return whether some rows of a file of records have no value, and others have one."""
    cells = next(iter(frames.read_columns(records, [value])[0].values()))
    missing = missing_labels(cells, None)[0]
    return bool(missing.any() and not missing.all())


def labeled_values(
    records: Any, stratum: str, value: str
) -> tuple[StratumSummary, np.ndarray, np.ndarray, Note]:
    """Return the strata and the values of a file of records, of which only some have a value.

    The rows with a value are taken for a simple random sample of the rows of their stratum.

    Parameters
    ----------
    records : str or data frame
    stratum, value : str
        Columns, as of `load_strata`.

    Returns
    -------
    summary : StratumSummary
        Sizes of the strata in all rows; mean and sd of the values that are there.
    strata : (n,) array
        Stratum of each value.
    values : (n,) array of float
    note : Note
        How many rows have a value, and what is assumed of them.

    Raises
    ------
    ValueError
        If a stratum has fewer than two values and more than one row; names it.

    Examples
    --------
    >>> records = {"g": ["a", "a", "a", "b", "b"], "y": [1, None, 3, 5, 7]}
    >>> summary, strata, values, note = labeled_values(records, "g", "y")
    >>> summary.size, strata.tolist(), values
    (array([3, 2]), ['a', 'a', 'b', 'b'], array([1., 3., 5., 7.]))
    """
    crossed = crossed_names(stratum, frames.column_names(records))
    data, _ = frames.read_columns(records, [*crossed, value])
    of_row = (
        numbers.to_labels(stratum, data[stratum], "text")
        if len(crossed) == 1
        else np.array(crossed_labels({name: numbers.present(name, data[name]) for name in crossed}))
    )
    cells = next(cells for name, cells in data.items() if name not in crossed)
    rows = np.flatnonzero(~missing_labels(cells, None)[0])
    values = numbers.to_numbers(value, cells[rows])
    names, code, size = np.unique(of_row, return_inverse=True, return_counts=True)
    labeled = np.bincount(code[rows], minlength=names.size)
    for k in np.flatnonzero(labeled < np.minimum(2, size))[:1]:
        few = f"stratum {str(names[k])!r} has {size[k]:,} rows and {checks.counted(int(labeled[k]), 'value')}"
        raise checks.WrongValue(
            "value",
            f"must be known in at least 2 rows of every stratum; {few}: record more "
            "values there, or name larger strata with {0}",
            others=("stratum",),
        )
    _, mean, squares = moments(code[rows], values, names.size)
    sd = np.sqrt(squares / np.maximum(labeled - 1, 1))
    some = f"values in {rows.size:,} of {of_row.size:,} rows"
    note = Note(
        "assumption",
        f"{some}: the rows with a value were taken for a random sample of each stratum. If they "
        "were chosen for their values, the result is wrong",
    )
    return StratumSummary(names, size, mean, sd), of_row[rows], values, note


def plan_labels(
    strata: StratumSummary, budget: int = 100, *, method: str = "voila", minimum: int = 2
) -> LabelPlan:
    """Plan a budget of labels over strata and compare the rules.

    Parameters
    ----------
    strata : StratumSummary
    budget : int
    method : {"voila", "neyman", "neyman_iterated", "neyman_plus", "equal", "proportional"}
        As in `workbench.allocate`; "voila" is the optimum.
    minimum : int
        Floor per stratum.

    Returns
    -------
    LabelPlan

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
    others = {
        name: rules.allocate(strata.size, budget, name, stratum_sd=strata.sd, minimum=minimum)
        for name in _NAMES
    }
    chosen = others[method]
    wish = rules.allocate(
        strata.size, budget, "neyman", stratum_sd=strata.sd, minimum=0, integer=False
    )
    told = [
        replace(note, where=("stratum", str(strata.stratum[note.where[1]]))) if note.where else note
        for note in chosen.notes
    ]
    notes = (*strata.notes, *told, *_plan_notes(strata, wish, others["neyman"], chosen))
    return LabelPlan(
        strata.stratum,
        strata.size,
        strata.sd,
        int(budget),
        int(minimum),
        method,
        chosen.labeled,
        others,
        wish,
        _random_variance(strata, chosen),
        strata.mean,
        notes=notes,
    )


def _plan_of_sizes(strata: StratumSummary, budget: int, method: str, minimum: int) -> LabelPlan:
    """Return the plan for strata of unknown spreads, which are taken as equal."""
    equal = replace(strata, sd=np.ones(strata.size.size))
    plan = plan_labels(equal, budget, method=method, minimum=minimum)
    note = Note(
        "assumption",
        "no standard deviations are known, so they are taken as equal in all strata: Neyman's "
        "rule and VOILA then spread the labels in proportion to the sizes. A column of standard deviations "
        "makes better plans, and tells how precise they are",
    )
    others = [
        each for each in plan.notes if each.kind != "unreliable"
    ]  # of spreads that are not known
    return replace(plan, sd=strata.sd, random_variance=np.nan, notes=[note, *others])


def budget_for_error(
    strata: StratumSummary,
    standard_error: float,
    *,
    method: str = "voila",
    minimum: int = 2,
    assurance: float = 0.0,
) -> int:
    """Return the least budget whose plan gives the total a wanted standard error.

    The standard error that a sample estimates varies: it is below the plan's in about half of
    samples.

    Parameters
    ----------
    strata : StratumSummary
    standard_error : float
        Of the estimated total, in the units of the values, above 0.
    method, minimum
        As in `plan_labels`.
    assurance : float
        The share of samples, from .5 to below 1, whose estimated standard error is at most the
        wanted one, if values are normal within strata (`minimum` is then at least 2); 0 asks for
        the plan's own standard error. The estimated variance is taken for a multiple of chi-squared
        with Satterthwaite's degrees of freedom [1]_.

    Returns
    -------
    int
        One label fewer does not reach it; with a rule other than "voila" a few fewer may, by luck
        of rounding.

    Raises
    ------
    ValueError
        If a rule that leaves labels unused does not reach it with any budget.

    References
    ----------
    .. [1] Satterthwaite, An approximate distribution of estimates of variance components, Biometrics Bulletin 2, 1946.

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
    wanted = checks.number("standard_error", standard_error, 0, open_ends=True)
    if np.isnan(strata.sd).all():
        raise checks.WrongValue(
            "standard_error",
            "needs the standard deviation of every stratum; name it with {0}",
            others=("sd",),
        )
    if assurance:
        checks.assurance(assurance)
        checks.whole("minimum", minimum, 2)

    def error(budget: int) -> float:
        found = rules.allocate(strata.size, budget, method, stratum_sd=strata.sd, minimum=minimum)
        total = int(strata.size.sum()) * found.variance**0.5
        return total * _assured(strata, found.labeled, assurance) if assurance and total else total

    enough, short = (
        int(strata.size.sum()),
        int(np.minimum(checks.whole("minimum", minimum, 0), strata.size).sum()) - 1,
    )
    if error(enough) > wanted:
        raise checks.WrongValue(
            "standard_error",
            f"{wanted:g} is out of reach: method {method!r} leaves labels unused "
            f"and the total {error(enough):.4g} with any budget",
        )
    while enough - short > 1:
        middle = (enough + short) // 2
        enough, short = (
            (middle, short) if middle > 0 and error(middle) <= wanted else (enough, middle)
        )
    return enough


def _assured(strata: StratumSummary, labeled: np.ndarray, assurance: float) -> float:
    """Return the quantile `assurance` of the estimated standard error, as a multiple of the true one."""
    parts = strata.size * (strata.size - labeled) * strata.sd**2 / labeled
    freedom = parts.sum() ** 2 / (parts**2 / np.maximum(labeled - 1, 1)).sum()
    return (2 * scipy.special.gammaincinv(freedom / 2, assurance) / freedom) ** 0.5


def _whole(name: str, measured: dict, strata: np.ndarray) -> np.ndarray:
    """Return the sizes of strata."""
    sizes = numbers.to_numbers(name, measured[name], beside=measured, whole=True)
    for row in np.flatnonzero((sizes < 1) | (sizes != np.floor(sizes)))[:1]:
        raise numbers.RowError(
            f"column {name!r}, ",
            row,
            f" (stratum {strata[row]}): a size must be a whole number of "
            f"at least 1; got {sizes[row]:g}",
        )
    return sizes.astype(np.int64)


def _sd_of(name: str, measured: dict, sizes: np.ndarray, strata: np.ndarray) -> np.ndarray:
    """Return standard deviations; of a stratum of one item it is 0, also where the cell is empty."""
    cells = np.array(measured[name], object)
    cells[sizes == 1] = 0
    spread = numbers.to_numbers(name, cells, beside=measured)
    for row in np.flatnonzero(spread < 0)[:1]:
        raise numbers.RowError(
            f"column {name!r}, ",
            row,
            f" (stratum {strata[row]}): a standard deviation must be at "
            f"least 0; got {spread[row]:g}",
        )
    return spread


def draw_rows(
    plan: LabelPlan,
    records: Any,
    *,
    stratum: str = "stratum",
    id: str = "id",
    label_sheet: str = "",
    seed: int = 0,
) -> FrameSample:
    """Draw the records that a plan asks for, and write the sheet of those to be labeled.

    Parameters
    ----------
    plan : LabelPlan
        Of the same records.
    records : str or data frame
        As in `workbench.sample`.
    stratum, id : str
        Columns.
    label_sheet : str
        CSV file to write, with the columns id, stratum and an empty value, in an order of which any
        beginning is spread over the strata; "" for none. A sheet in which something was filled in
        is never overwritten.
    seed : int

    Returns
    -------
    FrameSample

    Examples
    --------
    >>> records = {"id": [1, 2, 3, 4, 5, 6], "g": ["a", "a", "a", "b", "b", "b"], "y": [0, 1, 0, 5, 9, 7]}
    >>> import polars
    >>> frame = polars.DataFrame(records)
    >>> plan = plan_labels(load_strata(frame, stratum="g", value="y"), 5)
    >>> draw_rows(plan, frame, stratum="g").drawn
    array([2, 3])
    """
    checks.instance("plan", plan, LabelPlan)
    if not id:
        raise checks.WrongValue(
            "id", "must name the column that identifies a record, to draw the records to label"
        )
    sizes = dict(zip(plan.stratum.tolist(), plan.labeled.tolist(), strict=True))
    drawn = samples.sample(records, stratum, sizes, id=id, seed=seed)
    if label_sheet:
        label_sheets.refuse_recorded(label_sheet, "value")
        order = value_sheets.labeling_order(drawn)
        label_sheets.write_rows(
            label_sheet,
            value_sheets.HEADER,
            [
                (str(item), str(name), "")
                for item, name in zip(drawn.id[order], drawn.stratum[order], strict=True)
            ],
        )
    return drawn


def _random_variance(strata: Any, chosen: Any) -> Any:
    """Variance of the mean of as many labels at random; NaN where the strata's means are unknown."""
    items, labels = int(strata.size.sum()), int(chosen.labeled.sum())
    if items == 1:
        return 0.0
    mean = strata.size @ strata.mean / items
    squares = (strata.size - 1) @ strata.sd**2 + strata.size @ (strata.mean - mean) ** 2
    return float((1 - labels / items) * squares / (items - 1) / labels)


def _plan_notes(strata: Any, wish: Any, neyman: Any, chosen: Any) -> Any:
    over = np.flatnonzero(wish.bounded & (strata.sd > 0))
    if neyman.unused and over.size and not chosen.bounded.all():
        yield Note(
            "design",
            "Neyman's rule wants more labels than there are items in "
            f"{checks.listed(strata.stratum[over], SHOWN)}: who only cuts leaves {neyman.unused} of the budget "
            "unused",
        )
    silent = np.flatnonzero((strata.sd == 0) & (strata.size > chosen.labeled))
    if silent.size:
        yield Note(
            "unreliable",
            f"sd 0 in {checks.listed(strata.stratum[silent], SHOWN)}: if it was estimated from "
            "few records it is not knowledge; the floor is all that insures against it",
        )
    few = np.flatnonzero((strata.size < FEW_RECORDS) & (strata.size > chosen.labeled))
    if few.size:
        yield Note(
            "unreliable",
            f"fewer than {FEW_RECORDS} items in {checks.listed(strata.stratum[few], SHOWN)}: "
            "their sd is rough",
        )
    if chosen.method == "voila" and 0 < chosen.variance < np.inf:
        free = rules.allocate(
            strata.size, int(chosen.labeled.sum()), "voila", stratum_sd=strata.sd, minimum=0
        )
        premium = chosen.variance / free.variance
        if premium > COSTLY_FLOOR:
            yield Note(
                "design",
                f"the floor of {chosen.minimum} makes the variance {100 * (premium - 1):.0f}% larger "
                "than the best plan's: the premium for insurance",
            )
    if chosen.bounded.any() and not chosen.bounded.all():
        yield Note(
            "design",
            f"every item of {checks.listed(strata.stratum[chosen.bounded], SHOWN)} is labeled",
        )


def _figure(value: float) -> str:
    return f"{value:,.0f}" if 1000 <= value < np.inf else f"{value:.4g}"
