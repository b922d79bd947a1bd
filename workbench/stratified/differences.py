"""Two models on the same items: the difference of their accuracies, from one stratified sample."""

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
    "the short interval does not guarantee its level. In an enumeration with 10 to 500 labels of a "
    "large population, its coverage was at least 93.4% at level 95%, and 98.7% at level 99%. "
    "Report the default interval, too",
)


class PairedDifference(skips.Bounded, Estimate, Result):
    """The difference between the accuracies of two models on the same items.

    `paired_difference` returns this result. If some sampled items could not be labeled, there is no
    single estimate: `bounds` then gives the range of possible estimates.

    Attributes
    ----------
    estimate : float
        Accuracy of A minus that of B over all items; NaN if some items could not be labeled.
    variance : float
        Estimated variance of the estimate; NaN if some items could not be labeled. It is 0 if all
        labels of each stratum agree, although the true variance need not be 0.
    stratum_size : (H,) array of int
        Items per stratum.
    counts : (H, 3) array of int
        Labeled items per stratum: only B correct, both correct or both incorrect, only A correct.
    agreeing : int
        Items outside the strata, for which both models predict the same.
    skipped : (H,) array of int or None
        Sampled items per stratum that could not be labeled; None if there are none.

    See Also
    --------
    paired_difference : Estimate the difference between the accuracies of two models.
    difference_audit : Plan, simulate or analyze an audit that compares two models.
    """

    estimate: float
    variance: float
    stratum_size: ndarray
    counts: ndarray
    agreeing: int
    skipped: ndarray | None = None

    @property
    def bounds(self) -> tuple:
        """Return the lowest and the highest possible estimate.

        For items that could not be labeled, the lowest counts only B as correct, and the highest
        only A. If all sampled items are labeled, both equal the estimate.
        """
        return tuple(end.estimate for end in self._ends())

    def _completed(self, skipped: ndarray, correct: int) -> "PairedDifference":
        labels = np.multiply.outer(skipped, VALUES == 2 * correct - 1)
        return paired_difference(self.stratum_size, self.counts + labels, agreeing=self.agreeing)

    def interval(self, level: float = 0.95, method: str = "default") -> Interval:
        """Return a confidence interval for the difference.

        Parameters
        ----------
        level : float, default 0.95
            Confidence level, between 0 and 1.
        method : {"default", "short"}, default "default"
            Method of the interval. "short" is for a single stratum and levels of at least 0.95.
            With 20 labels or more it is .88 to .99 times as wide as the default, but its coverage
            can be below the level.

        Returns
        -------
        Interval
            Limits of the accuracy of A minus that of B.

        Raises
        ------
        ValueError
            If "short" is asked for with several strata or a lower level.

        Notes
        -----
        The default is the `value_interval` of the values -1, 0 and 1. Items for which the models
        predict the same count as 0.

        The short interval adds k = z^2 / 3 labels with only A correct, and k with only B correct. z
        is the normal quantile. Of the n labels, a have only A correct and b only B::

            m = n + 2 k
            D = (a - b) / m
            limits = D +- t_{n - 1} sqrt(((a + b + 2 k) / m - D^2) / m)

        This is the interval of Agresti & Min [1]_ with other added labels and another quantile. It
        has no finite-population correction, and never exceeds the range that the labels leave
        possible.

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
        level : float, default 0.95
            Confidence level of the interval, between 0 and 1.
        models : pair of str, default ("A", "B")
            Names of the models.
        """
        low, high = self.interval(level)
        first, second = models
        verdict = "no difference is shown"
        if low > 0 or high < 0:
            verdict = f"{first if low > 0 else second} is better"
        places = max(digits.decimals((high - low) / 2, 4), 3)
        estimate = skips.span(f"{end:+.{places}f}" for end in self.bounds)
        limits = f"{percent(level)} confidence interval {low:+.{places}f} to {high:+.{places}f}"
        labels = checks.counted(self.counts.sum(), "label")
        difference = f"accuracy of {first} minus {second} {estimate}, {limits}"
        return f"{difference}: {verdict}; {labels}{skips.words(self.skipped)}"

    def rows(self) -> list[dict]:
        """Return one row per stratum with its size and its labels of each kind."""
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
    """Estimate the difference between the accuracies of two models from one stratified sample.

    Use it if both models predicted the same items. Only items for which their predictions differ
    need labels: for all other items the difference is 0.

    Parameters
    ----------
    stratum_size : (H,) array_like of int
        Items per stratum. Strata of the items for which the models differ are enough.
    counts : (H, 3) array_like of int
        Labeled items per stratum: only B correct, both correct or both incorrect, only A correct.
        Each stratum needs at least 2. A stratum with a single item needs 1.
    agreeing : int, default 0
        Further items for which both models predict the same. They need no labels.
    skipped : (H,) array_like of int, optional
        Further sampled items per stratum that could not be labeled. The lower limit of the interval
        counts only B as correct for each of them, the upper limit only A.

    Returns
    -------
    PairedDifference
        Accuracy of A minus that of B, with its variance and intervals.

    Raises
    ------
    ValueError
        If an argument is outside its domain. The message names the stratum.

    See Also
    --------
    difference_audit : Plan, simulate or analyze an audit that compares two models.
    judged_difference : Estimate the difference if a judge labeled all items.
    value_interval : Compute a confidence interval for the mean of bounded values.

    Notes
    -----
    The estimate is::

        D = sum_h W_h (a_h - b_h) / n_h  with  W_h = N_h / (sum_h N_h + agreeing)

    Stratum h has N_h items and n_h labels. Only A is correct for a_h of them, only B for b_h.
    The interval is the `value_interval` of the values -1, 0 and 1. It allows for values that no
    label shows.

    Examples
    --------
    >>> difference = paired_difference([600, 400], [[8, 3, 14], [5, 2, 18]], agreeing=9000)
    >>> print(difference)     # doctest: +NORMALIZE_WHITESPACE
    PairedDifference(accuracy of A minus B +0.035, 95% confidence interval +0.007 to +0.059:
    A is better; 50 labels)
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
