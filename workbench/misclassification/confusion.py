"""Confusion tables of audits: counting, pooling, and comparing two audits for drift.

`read_counts` at the end checks predicted counts, which belong to the same classes.

References
----------
.. [1] Newcombe, Interval estimation for the difference between independent proportions, Statistics
   in Medicine 17, 1998: method 10, from two Wilson intervals.
.. [2] Fisher, The logic of inductive inference, JRSS 98, 1935: the exact conditional test.
.. [3] Holm, A simple sequentially rejective multiple test procedure, Scandinavian Journal of
   Statistics 6, 1979.
"""

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy
from numpy import ndarray
from numpy.typing import ArrayLike

from workbench import checks, intervals
from workbench.checks import WrongValue, instance, listed
from workbench.data.classes import class_notes
from workbench.results import FILLED, Note, Result, html_table, note_list, percent

NO_NUMBERS = (
    str,
    bytes,
    bool,
    np.bool_,
)  # types that `float` may accept, but that are no counts


class ConfusionCounts(Result):
    """Confusion table of an audit: audited items by true and predicted class.

    Parameters
    ----------
    table : (K, K) array_like of int
        Counts with true classes in rows and predicted classes in columns, in the order of `labels`.
        K is at least 2, and at least one item must have been audited.
    labels : sequence of K labels, optional
        Class labels, by default 0 to K - 1. With two classes the proportion of the second is
        estimated.
    weighted : (K, K) array_like, optional
        Sums of the sampling weights per cell; `from_labels` computes them.
    squared : (K, K) array_like, optional
        Sums of the squared sampling weights per cell; `from_labels` computes them.

    Raises
    ------
    ValueError
        If the table is not square, is empty, or has a negative, fractional or missing count, or if
        a label repeats.

    See Also
    --------
    load_audit : Read an audit from a file or data frame.
    estimate_prevalence : Estimate true class proportions from an audit and predicted counts.
    compare_audits : Test whether the classifier has drifted between two audits.

    Examples
    --------
    >>> ConfusionCounts([[331, 18], [7, 44]])      # doctest: +NORMALIZE_WHITESPACE
    ConfusionCounts(400 audited items, 93.8% correct; predicted correctly: class 0 94.8%,
    class 1 86.3%)
    """

    table: ndarray
    labels: tuple = FILLED
    weighted: ndarray | None = None
    squared: ndarray | None = None

    if TYPE_CHECKING:

        def __init__(
            self,
            table: ArrayLike,
            labels: ArrayLike | None = None,
            weighted: ArrayLike | None = None,
            squared: ArrayLike | None = None,
            *,
            notes: Sequence[Note] = (),
        ) -> None: ...

    def __post_init__(self) -> None:
        table = checks.plain_array("table", self.table, "cell")
        shape = table.shape
        classes = len(table) if table.ndim else 0
        if shape != (classes, classes) or classes < 2:
            rule = "must be square, with K >= 2 true and predicted classes; got shape"
            raise WrongValue("table", f"{rule} {shape}")
        cells = checks.counts("table", table.ravel(), what="cell (row by row)")
        if not cells.any():
            rule = "must hold at least one audited item; all its counts are 0"
            raise WrongValue("table", rule)
        labels = tuple(range(classes))
        if self.labels is not None:
            labels = tuple(checks.plain_array("labels", self.labels).tolist())
        if len(labels) != classes:
            raise WrongValue("labels", f"must have {classes} entries, one per class", len(labels))
        if len({*labels}) < classes:
            raise WrongValue("labels", "must be distinct", labels)
        object.__setattr__(self, "table", cells.reshape(shape))
        object.__setattr__(self, "labels", labels)
        super().__post_init__()

    @classmethod
    def from_labels(
        cls,
        truth: ArrayLike,
        prediction: ArrayLike,
        labels: ArrayLike | None = None,
        weights: ArrayLike | None = None,
    ) -> "ConfusionCounts":
        """Count audited items by true and predicted class.

        Parameters
        ----------
        truth, prediction : (n,) array_like
            True and predicted class of each item, text or numbers, none missing.
        labels : sequence, optional
            All classes in the order to use. By default the sorted union of both columns.
        weights : (n,) array_like, optional
            Sampling weight of each item, finite and at least 0: the number of items of the
            population that it represents. The rates P(prediction | truth) are then weighted. Items
            of weight 0 are left out.

        Returns
        -------
        ConfusionCounts
            The confusion table.

        Examples
        --------
        >>> ConfusionCounts.from_labels(["no", "no", "yes"], ["no", "yes", "yes"]).table
        array([[1, 1],
               [0, 1]])
        >>> ConfusionCounts.from_labels([0, 0, 1], [0, 1, 1], weights=[3, 1, 2]).reading_rates
        array([[0.75, 0.25],
               [0.  , 1.  ]])
        """
        truth = checks.labels("truth", truth)
        prediction = checks.labels("prediction", prediction, size=truth.size)
        if (truth.dtype.kind in "US") != (prediction.dtype.kind in "US"):
            raise ValueError(
                f"truth and prediction must both be text or both be numbers; got "
                f"{truth[0].item()!r} and {prediction[0].item()!r}"
            )
        occurring, codes = np.unique(np.concatenate([truth, prediction]), return_inverse=True)
        classes = occurring if labels is None else checks.labels("labels", labels, what="label")
        places = {label: code for code, label in enumerate(classes.tolist())}
        missing = [value for value in occurring.tolist() if value not in places]
        if missing:
            names = listed(places, quoted=True)
            rule = f"must name every class of truth and prediction; {missing[0]!r} is not among"
            raise WrongValue("labels", f"{rule} {names}")
        codes = np.array([places[value] for value in occurring.tolist()])[codes]
        size = classes.size
        if size < 2:
            raise ValueError(
                "truth and prediction must hold at least two classes; only "
                f"{occurring[0].item()!r} occurs. Name all classes with labels"
            )
        notes = tuple(class_notes(truth, prediction)) if labels is None else ()
        true_codes, predicted_codes = np.split(codes, 2)
        cell = true_codes * size + predicted_codes

        def table(values: ndarray | None = None) -> ndarray:
            return np.bincount(cell, values, minlength=size**2).reshape(size, size)

        if weights is None:
            return cls(table(), classes, notes=notes)
        values = _read_weights(weights, truth.size)
        items = table(values > 0).astype(int)
        return cls(items, classes, table(values), table(values**2), notes=notes)

    @property
    def n(self) -> int:
        """Return the number of audited items."""
        return int(self.table.sum())

    @cached_property
    def effective(self) -> ndarray:
        """Return the table (K, K), or with sampling weights the effective counts.

        Each row of effective counts holds the weighted rates of a true class times its effective
        sample size. That is the size of a simple random sample whose rates vary as much.

        Notes
        -----
        W_ij and Q_ij are the sums of the weights and of the squared weights in cell (i, j). W_i and
        Q_i are those of row i, and P_ij = W_ij / W_i. The linearized variance of P_ij [1]_ is::

            v_ij = (Q_ij (1 - P_ij)^2 + (Q_i - Q_ij) P_ij^2) / W_i^2

        The effective sample size of row i is sum_j P_ij (1 - P_ij) / sum_j v_ij. It is limited to
        Kish's effective sample size W_i^2 / Q_i [2]_, because a few errors show little of their own
        variance.

        References
        ----------
        .. [1] Saerndal, Swensson & Wretman, Model Assisted Survey Sampling, Springer 1992, section
           5.7: the linearized variance of a ratio, here with items treated as sampled with
           replacement.
        .. [2] Kish, Survey Sampling, Wiley 1965, section 11.7.
        """
        if self.weighted is None or self.squared is None:
            return self.table
        weights = self.weighted.sum(1)
        squares = self.squared.sum(1)
        rates = np.nan_to_num(_normalized(self.weighted, 1))
        of_others = squares[:, None] - self.squared
        spread = self.squared * (1 - rates) ** 2 + of_others * rates**2
        with np.errstate(divide="ignore", invalid="ignore"):
            linearized = (rates * (1 - rates)).sum(1) * weights**2 / spread.sum(1)
            kish = weights**2 / squares
        sizes = np.nan_to_num(np.fmin(linearized, kish))
        return rates * sizes[:, None]

    @property
    def reading_rates(self) -> ndarray:
        """Return P(prediction | truth), (K, K), weighted if the items have weights.

        A row is NaN if no item of the class was audited.
        """
        return _normalized(self.effective, 1)

    @property
    def truth_rates(self) -> ndarray:
        """Return P(truth | prediction), (K, K), by columns.

        A column is NaN if no audited item was predicted to be of the class.
        """
        return _normalized(self.table if self.weighted is None else self.weighted, 0)

    def index(self, label: object) -> int:
        """Return the position of a label in `labels`.

        Parameters
        ----------
        label : label
            One of `labels`.

        Returns
        -------
        int
            The position, counted from 0.
        """
        if label not in self.labels:
            raise WrongValue("label", f"must be one of {listed(self.labels, quoted=True)}", label)
        return self.labels.index(label)

    def merged(self, first: object, second: object) -> "ConfusionCounts":
        """Merge two classes that are often confused into one, at the position of the first.

        Parameters
        ----------
        first, second : label
            Two of `labels`. There must be at least three labels.

        Returns
        -------
        ConfusionCounts
            The table with one class fewer.

        Examples
        --------
        >>> audit = ConfusionCounts([[5, 1, 0], [2, 4, 1], [0, 0, 7]], ["a", "b", "c"])
        >>> audit.merged("a", "b").labels
        ('a+b', 'c')
        """
        i = self.index(first)
        j = self.index(second)
        if i == j or len(self.labels) < 3:
            raise ValueError(
                "first and second must be two of at least three classes; got "
                f"{first!r} and {second!r}"
            )

        def merge(table: ndarray) -> ndarray:
            table = table.copy()
            table[i] += table[j]
            table[:, i] += table[:, j]
            return np.delete(np.delete(table, j, 0), j, 1)

        labels = list(self.labels)
        labels[i] = f"{first}+{second}"
        del labels[j]
        weights = (merge(part) for part in (self.weighted, self.squared) if part is not None)
        return ConfusionCounts(merge(self.table), labels, *weights)

    def headline(self) -> str:
        """Return the size, the accuracy and the proportion of each class predicted correctly."""
        rates = []
        for label, rate in zip(self.labels, np.diag(self.reading_rates), strict=True):
            text = "not audited" if np.isnan(rate) else f"{rate:.1%}"
            rates.append(f"class {label} {text}")
        items = checks.counted(self.n, "audited item")
        table = self.table
        if self.weighted is not None:
            items += f" (effective sample size {self.effective.sum():.0f})"
            table = self.weighted
        accuracy = np.trace(table) / table.sum()
        return f"{items}, {accuracy:.1%} correct; predicted correctly: {', '.join(rates)}"

    def rows(self) -> list[dict]:
        """Return one row per true class, with a column of counts per predicted class."""
        predicted = (f"predicted_{label}" for label in self.labels)
        names = ["truth", *predicted]
        rows = []
        for label, counts in zip(self.labels, self.table.tolist(), strict=True):
            rows.append(dict(zip(names, (label, *counts), strict=True)))
        return rows

    def _repr_html_(self) -> str:
        rows = [
            {name.replace("_", " ", 1): cell for name, cell in row.items()} for row in self.rows()
        ]
        notes = note_list(self.notes) if self.notes else ""
        return html_table(rows, self.headline()) + notes


def pool_audits(*audits: ConfusionCounts) -> ConfusionCounts:
    """Add up audits of the same classes.

    The pooled rates P(prediction | truth) can be used like those of one audit. Methods "mixed" and
    "mle" also need the counts of the sampled frame. For them, audit the same fraction of each frame
    and give the summed counts of all frames.

    Parameters
    ----------
    *audits : ConfusionCounts
        At least one audit; all have the same labels in the same order.

    Returns
    -------
    ConfusionCounts
        The sum of the tables.

    See Also
    --------
    compare_audits : Test whether two audits have the same rates.
    prevalence_series : Use the audits of several periods.

    Examples
    --------
    >>> first, second = ConfusionCounts([[8, 2], [1, 9]]), ConfusionCounts([[17, 3], [2, 8]])
    >>> pool_audits(first, second).table.tolist()
    [[25, 5], [3, 17]]
    """
    if not audits:
        raise WrongValue("audits", "must hold at least one ConfusionCounts")
    for audit in audits:
        instance("an audit", audit, ConfusionCounts)
    _same_labels(audits)
    weighted = [audit.weighted is not None for audit in audits]
    if any(weighted) != all(weighted):
        raise WrongValue("audits", "must all have sampling weights, or none of them")
    names = ("table", "weighted", "squared") if all(weighted) else ("table",)
    table, *weights = (sum(getattr(audit, name) for audit in audits) for name in names)
    return ConfusionCounts(table, audits[0].labels, *weights)


class AuditComparison(Result):
    """Comparison of two audits for drift of the classifier; made by `compare_audits`.

    Attributes
    ----------
    labels : tuple
        Class labels.
    reading : (K, 5) array of float
        P(correct | truth) of each class: first audit, second audit, difference, and the limits of
        the difference.
    truth : (K, 5) array of float
        P(correct | prediction) of each class, in the same columns.
    reading_pvalues, truth_pvalues : (K,) array of float
        Exact p-values of equal rates, adjusted by Holm's method within each of the two families.
        NaN if a class was not audited.
    level : float
        Confidence level of the intervals.
    first, second : ConfusionCounts
        The two audits.

    See Also
    --------
    compare_audits : Make this comparison.
    """

    labels: tuple
    reading: ndarray
    truth: ndarray
    reading_pvalues: ndarray
    truth_pvalues: ndarray
    level: float
    first: ConfusionCounts
    second: ConfusionCounts

    @property
    def drifted(self) -> bool:
        """Return whether P(prediction | truth) differs significantly for some class."""
        return bool((self.reading_pvalues < 1 - self.level).any())

    @property
    def calibration_drifted(self) -> bool:
        """Return whether P(truth | prediction) differs significantly for some class."""
        return bool((self.truth_pvalues < 1 - self.level).any())

    def headline(self) -> str:
        """Return the result for both rates in one sentence."""
        reading = self._result("P(prediction | truth)", self.reading, self.reading_pvalues)
        truth = self._result("P(truth | prediction)", self.truth, self.truth_pvalues)
        return f"{self.first.n:,} and {self.second.n:,} audited items: {reading}; {truth}"

    def _result(
        self,
        name: str,
        rates: ndarray,
        pvalues: ndarray,
    ) -> str:
        if np.isnan(pvalues).all():
            return f"{name} cannot be compared"
        k = int(np.nanargmin(pvalues))
        if pvalues[k] < 1 - self.level:
            change = f"{rates[k, 2]:+.3f}, p = {pvalues[k]:.2g}"
            return f"{name} has changed significantly (class {self.labels[k]} {change})"
        _, _, _, low, high = rates.T
        k = int(np.nanargmax(high - low))
        interval = f"{percent(self.level)} confidence interval {low[k]:+.3f} to {high[k]:+.3f}"
        return f"no significant change of {name} (class {self.labels[k]}: {interval})"

    def rows(self) -> list[dict]:
        """Return one row per class and rate."""
        names = "rate", "label", "first", "second", "difference", "low", "high", "pvalue"
        families = {
            "P(correct | truth)": (self.reading, self.reading_pvalues),
            "P(correct | prediction)": (self.truth, self.truth_pvalues),
        }
        rows = []
        for rate, (table, pvalues) in families.items():
            for label, figures, pvalue in zip(self.labels, table, pvalues, strict=True):
                cells = (
                    rate,
                    label,
                    *figures.tolist(),
                    pvalue.item(),
                )
                rows.append(dict(zip(names, cells, strict=True)))
        return rows


def compare_audits(
    first: ConfusionCounts, second: ConfusionCounts, *, level: float = 0.95
) -> AuditComparison:
    """Test whether the classifier has drifted between two audits, and in which rate.

    Predicted labels alone cannot tell whether P(prediction | truth) or P(truth | prediction) is
    constant. A second, later audit can, as far as its size allows.

    Parameters
    ----------
    first, second : ConfusionCounts
        Two independent audits of the same classes.
    level : float, default 0.95
        Confidence level of the intervals, in (0, 1). A change is significant if an adjusted p-value
        is below 1 - level.

    Returns
    -------
    AuditComparison
        Rates, differences, intervals and p-values of each class.

    See Also
    --------
    pool_audits : Add up audits with the same rates.
    prevalence_series : Use the audits of several periods.

    Notes
    -----
    The interval of each difference is Newcombe's [1]_. The p-values are those of Fisher's exact
    test [2]_, adjusted by Holm's method [3]_.

    References
    ----------
    .. [1] Newcombe, Statistics in Medicine 17, 1998.
    .. [2] Fisher, JRSS 98, 1935.
    .. [3] Holm, Scandinavian Journal of Statistics 6, 1979.

    Examples
    --------
    >>> first, fresh = ConfusionCounts([[331, 18], [7, 44]]), ConfusionCounts([[150, 20], [4, 26]])
    >>> compare_audits(first, fresh).drifted
    True
    """
    instance("first", first, ConfusionCounts)
    instance("second", second, ConfusionCounts)
    _same_labels((first, second))
    level = checks.level(level)
    tables = first.effective, second.effective
    reading, reading_pvalues = _compare_rates(*tables, 1, level)
    truth, truth_pvalues = _compare_rates(*tables, 0, level)
    return AuditComparison(
        first.labels,
        reading,
        truth,
        reading_pvalues,
        truth_pvalues,
        level,
        first,
        second,
    )


def _compare_rates(
    first: ndarray,
    second: ndarray,
    axis: int,
    level: float,
) -> tuple[ndarray, ndarray]:
    """Return the rates of both audits, their differences with limits, and p-values."""
    correct = np.stack([np.diag(first), np.diag(second)])
    totals = np.stack([first.sum(axis), second.sum(axis)])
    with np.errstate(divide="ignore", invalid="ignore"):
        rates = correct / totals
        low, high = intervals.wilson(rates, totals, intervals.quantile(level))
    below = rates - low
    above = high - rates
    down = np.sqrt(below[1] ** 2 + above[0] ** 2)
    up = np.sqrt(above[1] ** 2 + below[0] ** 2)
    difference = rates[1] - rates[0]
    audited = totals.all(0)
    # weighted audits have effective counts, which are rounded for the exact test
    counts = np.rint([correct, totals]).astype(int)[:, :, audited]
    exact = [fisher_pvalue(*table) for table in np.moveaxis(counts, 2, 0)]
    pvalues = np.full(len(first), np.nan)
    pvalues[audited] = intervals.holm(exact)
    limits = difference - down, difference + up
    return np.stack([*rates, difference, *limits], 1), pvalues


def fisher_pvalue(correct: ndarray, totals: ndarray) -> float:
    """Return Fisher's two-sided p-value: the probability of tables that are no likelier."""
    first, second = totals
    both = correct.sum()
    x = np.arange(max(0, both - second), min(both, first) + 1)
    cells = [
        x,
        first - x,
        both - x,
        second - both + x,
    ]
    log = -sum(scipy.special.gammaln(cell + 1) for cell in cells)
    weight = np.exp(log - log.max())
    likelier = weight > weight[x == correct[0]] * (1 + 1e-7)
    pvalue = weight[~likelier].sum() / weight.sum()
    return float(min(pvalue, 1.0))


def _same_labels(audits: Sequence[ConfusionCounts]) -> None:
    labels = audits[0].labels
    for audit in audits:
        if audit.labels != labels:
            both = f"{listed(labels, quoted=True)} and {listed(audit.labels, quoted=True)}"
            rule = "must have the same labels in the same order; got"
            raise WrongValue("audits", f"{rule} {both}")


def _read_weights(weights: ArrayLike, size: int) -> ndarray:
    """Return sampling weights as (n,) floats, or raise if one is missing, negative or infinite."""
    values = checks.floats("weights", weights, "item").ravel()
    if values.size != size:
        raise WrongValue("weights", f"must have {size} entries, one per item", values.size)
    usable = np.isfinite(values) & (values >= 0)
    if not usable.all():
        item = usable.argmin()
        rule = f"must be finite and at least 0; item {item + 1} has {values[item]:g}"
        raise WrongValue("weights", rule)
    if not values.any():
        raise WrongValue("weights", "must not all be 0")
    return values


def _normalized(table: ndarray, axis: int) -> ndarray:
    with np.errstate(divide="ignore", invalid="ignore"):
        return table / table.sum(axis, keepdims=True)


class CountsError(ValueError):
    """Predicted counts that cannot be used; the message gives the reason, not the argument."""


def check_counts(name: str, counts: ArrayLike, labels: Iterable) -> ndarray:
    """Return predicted counts as a (K,) array of int, or raise an error that begins with `name`."""
    try:
        return read_counts(counts, labels)
    except CountsError as error:
        raise ValueError(f"{name}: {error}") from None


def read_counts(counts: ArrayLike, labels: Iterable) -> ndarray:
    """Return predicted counts as a (K,) array of int, or raise a `CountsError`."""
    labels = tuple(labels)
    if isinstance(counts, np.ma.MaskedArray):
        counts = counts.tolist()
    entries = np.array(counts, object).ravel().tolist()
    if len(entries) != len(labels):
        names = listed(labels, quoted=True)
        raise CountsError(f"needs one count per class {names}; got {len(entries)}")
    values = list(map(_number, labels, entries))
    total = sum(values)
    if not all(map(float.is_integer, values)):
        texts = [f"{value:.15g}" for value in values]
        problem = f"counts must be whole numbers; got {checks.listed(texts)}"
        if abs(total - 1) < 0.01 or abs(total - 100) < 0.5:
            problem += ". These look like proportions; give the number of items per class"
        raise CountsError(problem)
    if total == 0:
        raise CountsError("no items were counted")
    if total > checks.LARGEST:
        raise CountsError(f"counts must add up to at most {checks.LARGEST}; got {total:g}")
    return np.array(values).astype(np.int64)


def _number(label: Any, value: Any) -> float:
    name = f"the count of class {label!r}"
    if checks.is_missing(value):
        raise CountsError(f"{name} is missing")
    number = np.nan
    if not isinstance(value, NO_NUMBERS):
        try:
            number = float(value)
        except OverflowError:  # a whole number beyond all floats
            number = np.inf
        except (TypeError, ValueError):
            pass
    if np.isnan(number):
        raise CountsError(f"{name} must be a number; got {value!r}")
    if not 0 <= number < np.inf:
        raise CountsError(f"{name} must be finite and at least 0; got {number:g}")
    return number
