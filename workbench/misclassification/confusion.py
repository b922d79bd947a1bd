"""Confusion tables of audits: counts, pooling, and whether a classifier has drifted between two of them.

References
----------
.. [1] Newcombe, Interval estimation for the difference between independent proportions, Statistics in Medicine 17,
   1998: method 10, from two Wilson intervals.
.. [2] Fisher, The logic of inductive inference, JRSS 98, 1935: the exact conditional test.
.. [3] Holm, A simple sequentially rejective multiple test procedure, Scandinavian Journal of Statistics 6, 1979.
"""

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy
from numpy.typing import ArrayLike

from workbench import checks, intervals
from workbench.data.classes import class_notes
from workbench.results import FILLED, Note, Result, html_table, note_list


class ConfusionCounts(Result):
    """Audited items by true and predicted class.

    Parameters
    ----------
    table : (K, K) array_like of int
        Rows are the truth, columns the prediction, both in the order of `labels`; K >= 2, at least one item.
    labels : sequence of K labels, optional
        0 .. K-1 by default. With two classes the second is the one whose share is estimated.
    weighted, squared : (K, K) array_like, optional
        Sums of the items' sampling weights and of their squares per cell; `from_labels` makes them.

    Raises
    ------
    ValueError
        If the table is not square, has a negative, fractional or missing count, or is empty; if a label repeats.

    Examples
    --------
    >>> ConfusionCounts([[331, 18], [7, 44]])
    ConfusionCounts(400 audited items, 93.8% right; predicted right: class 0 94.8%, class 1 86.3%)
    """

    table: np.ndarray
    labels: tuple = FILLED
    weighted: np.ndarray | None = None
    squared: np.ndarray | None = None

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
        if table.ndim != 2 or table.shape[0] != table.shape[1] or table.shape[0] < 2:
            raise checks.WrongValue(
                "table",
                "must be square, K true times K predicted classes with K >= 2; got "
                f"shape {table.shape}",
            )
        cells = checks.counts("table", table.ravel(), what="cell (row by row)")
        if cells.sum() == 0:
            raise checks.WrongValue(
                "table", "must hold at least one audited item; all its counts are 0"
            )
        labels = tuple(
            range(len(table))
            if self.labels is None
            else checks.plain_array("labels", self.labels).tolist()
        )
        if len(labels) != len(table):
            raise checks.WrongValue(
                "labels", f"must have {len(table)} entries, one per class", len(labels)
            )
        if len(set(labels)) < len(labels):
            raise checks.WrongValue("labels", "must be distinct", labels)
        object.__setattr__(self, "table", cells.reshape(table.shape))
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
        """Count audited items.

        Parameters
        ----------
        truth, prediction : (n,) array_like
            True and predicted class per item, text or numbers, none missing.
        labels : sequence, optional
            All classes in the wanted order; by default the sorted union of both columns.
        weights : (n,) array_like, optional
            Sampling weight of each item, finite and at least 0: how many items of the population it
            stands for. The rates P(prediction | truth) are then weighted. Items of weight 0 are left out.

        Returns
        -------
        ConfusionCounts

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
        found = np.unique(np.concatenate([truth, prediction]))
        known = found if labels is None else checks.labels("labels", labels, what="label")
        strange = [value for value in found.tolist() if value not in set(known.tolist())]
        if strange:
            raise checks.WrongValue(
                "labels",
                f"must name every class of truth and prediction; {strange[0]!r} is not "
                f"among {checks.listed(known.tolist(), quoted=True)}",
            )
        if known.size < 2:
            raise ValueError(
                f"truth and prediction must hold at least two classes; only {found[0].item()!r} occurs: "
                "name all classes"
            )
        place = {label: k for k, label in enumerate(known.tolist())}
        cell = [
            place[t] * known.size + place[p]
            for t, p in zip(truth.tolist(), prediction.tolist(), strict=True)
        ]
        notes = tuple(class_notes(truth, prediction)) if labels is None else ()
        shape = known.size, known.size

        def table(values: np.ndarray | None = None) -> np.ndarray:
            return np.bincount(cell, values, minlength=known.size**2).reshape(shape)

        if weights is None:
            return cls(table(), known, notes=notes)
        values = _read_weights(weights, truth.size)
        items = table((values > 0).astype(float)).astype(int)
        return cls(items, known, table(values), table(values**2), notes=notes)

    @property
    def n(self) -> int:
        """Audited items."""
        return int(self.table.sum())

    @cached_property
    def effective(self) -> np.ndarray:
        """The table, (K, K); of weighted items their effective counts.

        Each row holds the weighted rates P_ij of a true class times its effective size: the size of a
        simple random sample whose rates vary as much. With the sums W_ij of weights and Q_ij of their
        squares per cell, the variance of P_ij by linearization is v_ij = (Q_ij (1 - P_ij)^2 +
        (Q_i - Q_ij) P_ij^2) / W_i^2 [1]_. The size is sum_j P_ij (1 - P_ij) / sum_j v_ij, and at most
        that of Kish, W_i^2 / Q_i, as few errors tell little of their own variance [2]_.

        References
        ----------
        .. [1] Saerndal, Swensson & Wretman, Model Assisted Survey Sampling, Springer 1992, section 5.7: the
           linearized variance of a ratio, here with items taken as drawn with replacement.
        .. [2] Kish, Survey Sampling, Wiley 1965, section 11.7.
        """
        if self.weighted is None or self.squared is None:
            return self.table
        rates, squares = (
            np.nan_to_num(_normalized(self.weighted, 1)),
            self.squared.sum(1, keepdims=True),
        )
        spread = (self.squared * (1 - rates) ** 2 + (squares - self.squared) * rates**2).sum(1)
        with np.errstate(divide="ignore", invalid="ignore"):
            linearized = (rates * (1 - rates)).sum(1) * self.weighted.sum(1) ** 2 / spread
            kish = self.weighted.sum(1) ** 2 / squares[:, 0]
        return rates * np.nan_to_num(np.fmin(linearized, kish))[:, None]

    @property
    def reading_rates(self) -> np.ndarray:
        """P(prediction | truth), (K, K), weighted where items have weights.

        Rows are NaN where no item of a class was audited.
        """
        return _normalized(self.effective, 1)

    @property
    def truth_rates(self) -> np.ndarray:
        """P(truth | prediction), (K, K), columns add up to 1; NaN columns where a class was never predicted."""
        return _normalized(self.table if self.weighted is None else self.weighted, 0)

    def index(self, label: object) -> int:
        """Return the place of a label.

        Parameters
        ----------
        label : label
            One of `labels`.
        """
        if label not in self.labels:
            raise checks.WrongValue(
                "label", f"must be one of {checks.listed(self.labels, quoted=True)}", label
            )
        return self.labels.index(label)

    def merged(self, first: object, second: object) -> "ConfusionCounts":
        """Return the table with two classes made one, at the place of the first; for classes that are confused.

        Parameters
        ----------
        first, second : label
            Two of `labels`; at least one more class must be left.

        Examples
        --------
        >>> ConfusionCounts([[5, 1, 0], [2, 4, 1], [0, 0, 7]], ["a", "b", "c"]).merged("a", "b").labels
        ('a+b', 'c')
        """
        i, j = self.index(first), self.index(second)
        if i == j or len(self.labels) < 3:
            raise ValueError(
                f"first and second must be two of at least three classes; got {first!r} and {second!r}"
            )
        groups = np.delete(np.eye(len(self.labels), dtype=int), j, 0)
        groups[i - (i > j), j] = 1
        labels = [
            f"{first}+{second}" if label == first else label
            for label in self.labels
            if label != second
        ]
        return ConfusionCounts(
            groups @ self.table @ groups.T,
            labels,
            *(
                table if table is None else groups @ table @ groups.T
                for table in (self.weighted, self.squared)
            ),
        )

    def headline(self) -> str:
        """Return size, accuracy and the share of each class that is predicted right."""
        right = ", ".join(
            f"class {label} {rate:.1%}" if rate == rate else f"class {label} never audited"
            for label, rate in zip(self.labels, np.diag(self.reading_rates), strict=True)
        )
        items = checks.counted(self.n, "audited item")
        if self.weighted is not None:
            items += f", weighted as {self.effective.sum():.0f}"
        table = self.table if self.weighted is None else self.weighted
        return f"{items}, {np.trace(table) / table.sum():.1%} right; predicted right: {right}"

    def rows(self) -> list[dict]:
        """Return one row per true class: counts under `predicted_` and the name of the predicted class."""
        return self._rows("predicted_")

    def _rows(self, prefix: str) -> list[dict]:
        return [
            {
                "truth": label,
                **{f"{prefix}{name}": int(x) for name, x in zip(self.labels, row, strict=True)},
            }
            for label, row in zip(self.labels, self.table, strict=True)
        ]

    def _repr_html_(self) -> str:
        return html_table(self._rows("predicted "), self.headline()) + (
            note_list(self.notes) if self.notes else ""
        )


def pool_audits(*audits: ConfusionCounts) -> ConfusionCounts:
    """Add up audits of the same classes.

    The pooled rates P(prediction | truth) may be used as before. "mixed" and "mle" also take the pooled audit as a
    random sample of the frame whose counts they are given: give them the summed counts of both frames, and draw the
    same fraction of each.

    Parameters
    ----------
    *audits : ConfusionCounts

    Returns
    -------
    ConfusionCounts

    Examples
    --------
    >>> pool_audits(ConfusionCounts([[8, 2], [1, 9]]), ConfusionCounts([[17, 3], [2, 8]])).table.tolist()
    [[25, 5], [3, 17]]
    """
    if not audits:
        raise checks.WrongValue("audits", "must be given: at least one ConfusionCounts")
    for audit in audits:
        _same_labels(audits[0], audit)
    weighted = [audit.weighted is not None for audit in audits]
    if any(weighted) != all(weighted):
        raise checks.WrongValue("audits", "must all have sampling weights, or none")
    names = ("weighted", "squared") if all(weighted) else ()
    return ConfusionCounts(
        sum(audit.table for audit in audits),
        audits[0].labels,
        *(sum(getattr(audit, name) for audit in audits) for name in names),
    )


class AuditComparison(Result):
    """Whether the classifier reads as it did: two audits compared; made by `compare_audits`.

    Attributes
    ----------
    labels : tuple
    reading, truth : (K, 5) array of float
        Per class, P(right | truth) and P(right | prediction): first audit, second audit, difference, and the limits
        of the difference.
    reading_pvalues, truth_pvalues : (K,) array of float
        Exact, of no difference, adjusted by Holm's method within each family; NaN where a class was not audited.
    level : float
    first, second : ConfusionCounts
    """

    labels: tuple
    reading: np.ndarray
    truth: np.ndarray
    reading_pvalues: np.ndarray
    truth_pvalues: np.ndarray
    level: float
    first: ConfusionCounts
    second: ConfusionCounts

    @property
    def drifted(self) -> bool:
        """Whether P(prediction | truth) is shown to differ for some class."""
        return bool((self.reading_pvalues < 1 - self.level).any())

    @property
    def calibration_drifted(self) -> bool:
        """Whether P(truth | prediction) is shown to differ for some class."""
        return bool((self.truth_pvalues < 1 - self.level).any())

    def headline(self) -> str:
        """Return what the two audits say about both assumptions."""
        reading = self._verdict("P(prediction | truth)", self.reading, self.reading_pvalues)
        truth = self._verdict("P(truth | prediction)", self.truth, self.truth_pvalues)
        return f"{self.first.n:,} and {self.second.n:,} audited items: {reading}; {truth}"

    def _verdict(self, name: str, rates: np.ndarray, pvalues: np.ndarray) -> str:
        if np.isnan(pvalues).all():
            return f"{name} cannot be compared"
        if np.nanmin(pvalues) < 1 - self.level:
            k = int(np.nanargmin(pvalues))
            return f"{name} has changed (class {self.labels[k]} {rates[k, 2]:+.3f}, p = {pvalues[k]:.2g})"
        k = int(np.nanargmax(rates[:, 4] - rates[:, 3]))
        return (
            f"no change of {name} is shown, but class {self.labels[k]} may have moved by {rates[k, 3]:+.3f} to "
            f"{rates[k, 4]:+.3f}"
        )

    def rows(self) -> list[dict]:
        """Return one row per class and rate."""
        names = "first", "second", "difference", "low", "high"
        return [
            {
                "rate": rate,
                "label": label,
                **dict(zip(names, row.tolist(), strict=True)),
                "pvalue": float(p),
            }
            for rate, table, pvalues in (
                ("P(right | truth)", self.reading, self.reading_pvalues),
                ("P(right | prediction)", self.truth, self.truth_pvalues),
            )
            for label, row, p in zip(self.labels, table, pvalues, strict=True)
        ]


def compare_audits(
    first: ConfusionCounts, second: ConfusionCounts, *, level: float = 0.95
) -> AuditComparison:
    """Compare a fresh audit with the first: whether the classifier has drifted, and which rate has stayed.

    Predicted labels alone cannot tell whether P(prediction | truth) or P(truth | prediction) is constant; a fresh
    audit can, within its size.

    Parameters
    ----------
    first, second : ConfusionCounts
        Of the same classes, independent.
    level : float
        Of the intervals of the differences; a family of rates has drifted where an adjusted p-value is below
        1 - level.

    Returns
    -------
    AuditComparison

    Notes
    -----
    Newcombe's interval of the difference per class [1]_, Fisher's exact test [2]_, adjusted by Holm [3]_.

    References
    ----------
    .. [1] Newcombe, Statistics in Medicine 17, 1998.
    .. [2] Fisher, JRSS 98, 1935.
    .. [3] Holm, Scandinavian Journal of Statistics 6, 1979.

    Examples
    --------
    >>> r = compare_audits(ConfusionCounts([[331, 18], [7, 44]]), ConfusionCounts([[150, 20], [4, 26]]))
    >>> r.drifted
    True
    """
    _same_labels(first, second, "first", "second")
    level = checks.level(level)
    (reading, of_reading), (truth, of_truth) = (
        _compare_rates(first.effective, second.effective, axis, level) for axis in (1, 0)
    )
    return AuditComparison(first.labels, reading, truth, of_reading, of_truth, level, first, second)


def _compare_rates(first: np.ndarray, second: np.ndarray, axis: int, level: float) -> tuple:
    right = np.stack([np.diag(first), np.diag(second)])
    total = np.stack([first.sum(axis), second.sum(axis)])
    with np.errstate(divide="ignore", invalid="ignore"):
        rate = right / total
        low, high = intervals.wilson(rate, total, intervals.quantile(level))
    difference = rate[1] - rate[0]
    down = np.sqrt((rate[1] - low[1]) ** 2 + (high[0] - rate[0]) ** 2)
    up = np.sqrt((high[1] - rate[1]) ** 2 + (rate[0] - low[0]) ** 2)
    pvalues, known = np.full(len(first), np.nan), total.all(0)
    whole = (
        np.rint(part.T[known]).astype(int) for part in (right, total)
    )  # weighted audits have effective counts
    pvalues[known] = intervals.holm(
        [fisher_pvalue(*columns) for columns in zip(*whole, strict=True)]
    )
    return np.stack([*rate, difference, difference - down, difference + up], 1), pvalues


def fisher_pvalue(right: np.ndarray, total: np.ndarray) -> float:
    """Return the two-sided p-value: tables with these margins that are no likelier than the one seen."""
    x = np.arange(max(0, right.sum() - total[1]), min(right.sum(), total[0]) + 1)
    log = -sum(
        scipy.special.gammaln(part + 1)
        for part in (x, total[0] - x, right.sum() - x, total[1] - right.sum() + x)
    )
    weight = np.exp(log - log.max())
    return float(
        min(weight[weight <= weight[x == right[0]] * (1 + 1e-7)].sum() / weight.sum(), 1.0)
    )


def _same_labels(first: ConfusionCounts, other: ConfusionCounts, *names: str) -> None:
    for name, audit in zip(names or ("an audit",) * 2, (first, other), strict=True):
        checks.instance(name, audit, ConfusionCounts)
    if first.labels != other.labels:
        both = (checks.listed(audit.labels, quoted=True) for audit in (first, other))
        raise checks.WrongValue(
            "audits", f"must have the same labels in the same order; got {' and '.join(both)}"
        )


def _read_weights(weights: ArrayLike, size: int) -> np.ndarray:
    """Return sampling weights as (n,) floats, or raise where one is missing, negative or infinite."""
    values = checks.floats("weights", weights, "item").ravel()
    if values.size != size:
        raise checks.WrongValue("weights", f"must have {size} entries, one per item", values.size)
    for place in np.flatnonzero(~(np.isfinite(values) & (values >= 0)))[:1]:
        raise checks.WrongValue(
            "weights", f"must be finite and at least 0; item {place + 1} has {values[place]:g}"
        )
    if not values.any():
        raise checks.WrongValue("weights", "must not all be 0")
    return values


def _normalized(table: np.ndarray, axis: int) -> np.ndarray:
    with np.errstate(divide="ignore", invalid="ignore"):
        return table / table.sum(axis, keepdims=True)


class CountsError(ValueError):
    """Predicted counts that cannot be used; the message says why, not whose they are."""


def check_counts(name: str, counts: ArrayLike, labels: Sequence) -> np.ndarray:
    """Return predicted counts as a (K,) array of int, or raise with their name before what `read_counts` says."""
    try:
        return read_counts(counts, labels)
    except CountsError as error:
        raise ValueError(f"{name}: {error}") from None


def read_counts(counts: ArrayLike, labels: Sequence) -> np.ndarray:
    """Return predicted counts as a (K,) array of int, or raise a `CountsError`."""
    values = np.ravel(
        np.array(counts.tolist() if isinstance(counts, np.ma.MaskedArray) else counts, dtype=object)
    )
    if values.size != len(labels):
        raise CountsError(
            f"needs one count per class {checks.listed(labels, quoted=True)}; got {values.size}"
        )
    values = np.array([_number(label, value) for label, value in zip(labels, values, strict=True)])
    for label, value in zip(labels, values, strict=True):
        if value < 0 or not np.isfinite(value):
            raise CountsError(
                f"the count of class {label!r} must be finite and at least 0; got {value:g}"
            )
    with np.errstate(over="ignore"):
        total = values.sum()
    if (values != np.floor(values)).any():
        shares = abs(total - 1) < 0.01 or abs(total - 100) < 0.5
        remedy = (
            ": these look like shares; give how many items were predicted in each class"
            if shares
            else ""
        )
        raise CountsError(f"counts must be whole numbers; got {values.tolist()}{remedy}")
    if total == 0:
        raise CountsError("no items were counted")
    if total > checks.LARGEST:
        raise CountsError(f"counts must add up to at most {checks.LARGEST}; got {total:g}")
    return values.astype(np.int64)


def _number(label: Any, value: Any) -> float:
    if checks.is_missing(value):
        raise CountsError(f"the count of class {label!r} is missing")
    wrong = CountsError(f"the count of class {label!r} must be a number; got {value!r}")
    if isinstance(value, (str, bytes, bool, np.bool_)):
        raise wrong
    try:
        return float(value)
    except OverflowError:  # a whole number beyond all floats
        return np.inf
    except (TypeError, ValueError):
        raise wrong from None
