"""Two models on the same items: the difference of their accuracies from one stratified sample."""

from collections.abc import Sequence

import numpy as np
from numpy import ndarray
from numpy.typing import ArrayLike
from scipy import special

from workbench import checks, intervals
from workbench.intervals.values import check_table, interval_of
from workbench.results import Estimate, Interval, Note, Result, digits, percent, stratum_rows
from workbench.stratified import skips

VALUES = np.array([-1.0, 0.0, 1.0])
METHODS = ("default", "short")
SHORT_FROM = 0.95  # at .90 the short interval covers as little as .86
SHORT = Note(
    "unreliable",
    "short does not promise its level: with 10 to 500 labels of a large population it covers at "
    "least .934 at 95%, .987 at 99%, by enumeration; quote the default beside it",
)


class PairedDifference(skips.Bounded, Estimate, Result):
    """The difference of two accuracies on the same items; made by `paired_difference`.

    Attributes
    ----------
    estimate : float
        Accuracy of A less that of B, over all items; NaN where items were skipped, which leaves a
        range, `bounds`.
    variance : float
        Estimated from the sample; 0 where all labels of every stratum agree: the labels then
        show no variance, which does not mean that there is none.
    stratum_size : (H,) array of int
    counts : (H, 3) array of int
        Labels: only B correct, both alike, only A correct.
    agreeing : int
        Items outside the strata on which the models predict the same.
    skipped : (H,) array of int or None
        Items of the sample without a label; None for none.
    """

    estimate: float
    variance: float
    stratum_size: ndarray
    counts: ndarray
    agreeing: int
    skipped: ndarray | None = None

    @property
    def bounds(self) -> tuple:
        """The estimates with only B correct about every skipped item, and with only A correct.

        Without skipped items both are the estimate.
        """
        return tuple(end.estimate for end in self._ends())

    def _completed(self, skipped: ndarray, correct: int) -> "PairedDifference":
        labels = np.multiply.outer(skipped, VALUES == 2 * correct - 1)
        return paired_difference(self.stratum_size, self.counts + labels, agreeing=self.agreeing)

    def interval(self, level: float = 0.95, method: str = "default") -> Interval:
        """Return the `value_interval` of the difference.

        Items on which the models agree are constants.

        Parameters
        ----------
        level : float
            Nominal coverage in (0, 1).
        method : {"default", "short"}
            "short", for one stratum and levels from .95 on, is .88 to .99 as wide from 20 labels
            on; it promises less, as its note says.

        Returns
        -------
        Interval

        Raises
        ------
        ValueError
            If "short" is asked for with several strata or a lower level.

        Notes
        -----
        "short" adds k = z^2 / 3 labels on which only A is correct and as many on which only B is:
        with m = n + 2k and D = (a - b) / m it is D +- t_{n - 1} sqrt(((a + b + 2k) / m - D^2) / m),
        the interval of Agresti & Min [1]_ with other labels and quantile, for all items of the
        strata, cut at what the labels prove. It takes no finite-population factor.

        References
        ----------
        .. [1] Agresti & Min, Simple improved confidence intervals for comparing matched
           proportions, Statistics in Medicine 24, 2005.
        """
        checks.choice("method", method, METHODS)
        level = checks.level(level)
        if self.skipped is not None:
            return skips.between(*(end.interval(level, method) for end in self._ends()))
        return self._short(level) if method == "short" else self._default(level)

    def _default(self, level: float) -> Interval:
        size = self.stratum_size
        counts = self.counts
        outside = int(self.agreeing > 0)
        if outside:
            size = np.append(size, self.agreeing)
            counts = np.vstack([counts, [0, self.agreeing, 0]])
        return interval_of(size, counts, np.broadcast_to(VALUES, counts.shape), level, outside)

    def _short(self, level: float) -> Interval:
        if self.stratum_size.size > 1 or level < SHORT_FROM:
            raise checks.WrongValue(
                "method",
                f"must be 'default' with several strata or a level below {SHORT_FROM}",
                "short",
            )
        (size,) = self.stratum_size
        ((b, tie, a),) = self.counts
        n = a + b + tie
        unseen = size - n
        k = intervals.added_labels(level)
        if not unseen:
            return self._default(level)
        m = n + 2 * k
        balance = a - b
        center = balance / m
        square = (a + b + 2 * k) / m
        variance = (square - center**2) / m
        t = special.stdtrit(n - 1, (1 + level) / 2)
        reach = t * np.sqrt(variance)
        total = size * np.array([center - reach, center + reach])
        total = np.clip(total, balance - unseen, balance + unseen)
        low, high = (total / (size + self.agreeing)).tolist()
        notes = [SHORT]
        notes += intervals.few_notes(self.stratum_size, self.counts.sum(1))
        return Interval(low, high, level, "short", notes=notes)

    def headline(self, level: float = 0.95, models: Sequence[str] = ("A", "B")) -> str:
        """Return the difference and its interval in one sentence.

        Parameters
        ----------
        level : float
            Nominal coverage in (0, 1).
        models : pair of str
            Names of the models.
        """
        low, high = self.interval(level)
        first, second = models
        verdict = "no difference is shown"
        if low > 0 or high < 0:
            verdict = f"{first if low > 0 else second} is better"
        places = max(digits.decimals((high - low) / 2, 4), 3)
        estimate = skips.span(f"{end:+.{places}f}" for end in self.bounds)
        limits = f"{percent(level)} from {low:+.{places}f} to {high:+.{places}f}"
        labels = checks.counted(self.counts.sum(), "label")
        difference = f"accuracy of {first} less {second} {estimate}, {limits}"
        return f"{difference}: {verdict}; {labels}{skips.words(self.skipped)}"

    def rows(self) -> list[dict]:
        """Return one row per stratum, counted from 1."""
        b, tie, a = self.counts.T
        table = stratum_rows(
            size=self.stratum_size,
            only_b=b,
            alike=tie,
            only_a=a,
        )
        return skips.with_skipped(table, self.skipped)


def paired_difference(
    stratum_size: ArrayLike,
    counts: ArrayLike,
    *,
    agreeing: int = 0,
    skipped: ArrayLike | None = None,
) -> PairedDifference:
    """Estimate the accuracy of model A less that of model B from one stratified sample.

    Parameters
    ----------
    stratum_size : (H,) array_like of int
        Items per stratum. To compare two models, strata of the items on which they differ are
        enough.
    counts : (H, 3) array_like of int
        Labeled items per stratum on which only B is correct, both are correct or both incorrect,
        only A is correct; at least 2 per stratum unless it is fully labeled.
    agreeing : int
        Further items, on which both models predict the same: their difference is 0 and needs no
        label.
    skipped : (H,) array_like of int, optional
        Further items of the sample, which nobody could label, as in `stratified_accuracy`: the
        interval goes from its lower limit with only B correct about each of them to its upper
        limit with only A correct.

    Returns
    -------
    PairedDifference

    Raises
    ------
    ValueError
        If an argument is out of its domain; names the stratum.

    Notes
    -----
    D = sum_h W_h (a_h - b_h) / n_h with W_h = N_h / (sum N + agreeing); its interval is
    `value_interval` of the values -1, 0 and 1, of which none has to be seen.

    Examples
    --------
    >>> paired_difference([600, 400], [[8, 3, 14], [5, 2, 18]], agreeing=9000)
    PairedDifference(accuracy of A less B +0.035, 95% from +0.007 to +0.059: A is better; 50 labels)
    """
    agreeing = checks.whole("agreeing", agreeing, 0)
    if skipped is not None and np.any(skipped):
        table = skips.count_table("counts", counts, np.shape(counts))
        skipped = checks.counts("skipped", skipped, size=len(table))
        labels = table + np.multiply.outer(skipped, VALUES == 0)
        size, _, _ = check_table(stratum_size, labels, VALUES)
        return PairedDifference(np.nan, np.nan, size, table, agreeing, skipped)
    size, counts, _ = check_table(stratum_size, counts, VALUES)
    weight = size / (size.sum() + agreeing)
    n = counts.sum(1)
    only_b, _, only_a = counts.T
    mean = (only_a - only_b) / n
    spread = (only_a + only_b) / n - mean**2
    variance = weight**2 * (1 - n / size) * spread
    variance = variance / np.maximum(n - 1, 1)
    return PairedDifference((weight * mean).sum(), variance.sum(), size, counts, agreeing)
