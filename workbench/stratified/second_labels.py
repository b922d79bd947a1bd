"""Accuracy corrected for label errors, from items with two labels and a third one that decides."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy import ndarray
from numpy.typing import ArrayLike
from scipy import special

from workbench import checks, intervals
from workbench.intervals.values import raw_limits
from workbench.results import Interval, Note, Result, percent
from workbench.stratified import skips

LEAST_PAIRS = 2  # items with two labels per stratum
UNDECIDED = 2
ITERATIONS = 8
ENDLESS = 1e12  # a stratum's items are multiplied by this: no finite-population correction
ADVICE = Note(
    "design",
    "with the same number of labels the interval is shorter if you take fewer items and label all "
    "of them twice. Example: at an accuracy of .95 and 3% incorrect labels, it is 4.6 points wide "
    "from 390 items, but 6.6 points from 600 items of which 30% are labeled twice",
)


class SecondLabels(Result):
    """Label errors, and an accuracy corrected for them, from double annotation.

    `second_labels` returns this result. A pair is an item with two labels.

    Attributes
    ----------
    pairs : int
        Items with two labels.
    differing : int
        Pairs whose labels differ.
    settled : int
        Pairs whose labels differ and that a third label decided.
    estimate : float
        Accuracy before the correction, from first labels; NaN if a stratum has fewer than 2.
    lowest : float
        Corrected accuracy if undecided pairs and items that could not be labeled are incorrect; NaN
        with fewer than 2 pairs.
    highest : float
        Corrected accuracy if these items are correct; NaN with fewer than 2 pairs.
    confidence_interval : Interval or None
        Confidence interval for the corrected accuracy; None with fewer than 2 pairs.

    See Also
    --------
    second_labels : Correct an accuracy for label errors by double annotation.
    """

    pairs: int
    differing: int
    settled: int
    estimate: float
    lowest: float
    highest: float
    confidence_interval: Interval | None

    def interval(self) -> Interval | None:
        """Return the confidence interval for the corrected accuracy."""
        return self.confidence_interval

    @property
    def agreement(self) -> float:
        """Return the proportion of pairs with two equal labels; NaN without pairs."""
        return 1 - self.differing / self.pairs if self.pairs else float("nan")

    def headline(self) -> str:
        """Return the agreement and the corrected accuracy in one sentence."""
        if not self.pairs:
            return "no item has two labels yet"
        pairs = checks.counted(self.pairs, "item has two labels", "items have two labels")
        alike = f"which agree for {100 * self.agreement:.1f}%"
        decided = f"{self.settled} of {self.differing} disagreements are decided"
        text = f"{pairs}, {alike}; {decided}"
        if self.confidence_interval is None:
            return text
        low, high = self.confidence_interval
        value = skips.said_percent(self.lowest, self.highest)
        level = percent(self.confidence_interval.level)
        limits = f"{level} confidence interval {100 * low:.1f}% to {100 * high:.1f}%"
        return f"{text}; accuracy corrected for label errors {value} ({limits})"

    def rows(self) -> list[dict]:
        """Return one row: pairs, pairs that agree, undecided pairs and the corrected accuracy."""
        alike = self.pairs - self.differing
        undecided = self.differing - self.settled
        row = {
            "items": self.pairs,
            "alike": alike,
            "undefined": undecided,
            "estimate": (self.lowest + self.highest) / 2,
        }
        return [row]


def second_labels(
    stratum_size: ArrayLike,
    once: ArrayLike,
    pairs: ArrayLike,
    *,
    skipped: ArrayLike | None = None,
    level: float = 0.95,
) -> SecondLabels:
    r"""Correct an accuracy for label errors by double annotation.

    Use it if annotators sometimes err. Two annotators label a random part of the sample, and a
    third label decides where the two differ.

    Parameters
    ----------
    stratum_size : (H,) array_like of int
        Items per stratum, at least 1.
    once : (H, 2) array_like of int
        Items with one label per stratum: incorrect (0) and correct (1). Which items get a second
        label must be decided at random.
    pairs : (H, 2, 2, 3) array_like of int
        Items with two labels per stratum, by first label, second label and decision. The decision
        is 0, 1, or 2 if it is still open. Each stratum needs at least 2.
    skipped : (H, 2) array_like of int, optional
        Sampled items per stratum that could not be labeled: those meant for one label and those
        meant for two. The lower limit counts them and undecided pairs as incorrect, the upper limit
        as correct.
    level : float, default 0.95
        Confidence level of the interval, between 0 and 1.

    Returns
    -------
    SecondLabels
        Agreement of the labels, and the corrected accuracy with its interval.

    Raises
    ------
    ValueError
        If an argument is outside its domain. The message names the stratum.

    See Also
    --------
    stratified_accuracy : Estimate accuracy from labels that are taken as true.
    AuditSession : An audit that is carried out over several days.

    Notes
    -----
    In a stratum, m of the n items have two labels, the proportion w = m / n. Let f be the first
    label and d the decision, with d = f if both labels agree. The estimate is

    .. math:: A = \sum_h W_h \Big(\frac1m \sum_{twice} (w f + d - f) + (1 - w) \bar f_{once}\Big)

    This is the accuracy by first labels plus the mean of d - f: double sampling with slope w [1]_.
    The limits are those of `value_interval` for two independent samples, with the weights W w and
    W (1 - w). There is no finite-population correction: if all items have a label that may be
    incorrect, the accuracy is still uncertain.

    If every item has two labels, A is the accuracy of the decided labels, and its interval is that
    of `stratified_accuracy`. If a single item of a stratum has one label, that item is left out.

    **Shared errors.** Errors that two labels share cannot be seen. A capture-recapture estimate
    [2]_ gives their number, if two annotators err independently given the truth::

        s1 = n101 n011 / (n11 - s0 + 1)    correct items that were labeled incorrect twice
        s0 = n100 n010 / (n00 - s1 + 1)    incorrect items that were labeled correct twice

    n101 counts pairs by first label, second label and decision; n11 and n00 count pairs that agree.
    The estimate and its limits are shifted by (s1 - s0) / m. The interval is widened by the
    variance of this shift, which is s1^2 (1 / n101 + 1 / n011) / m^2 plus the same for s0.

    References
    ----------
    .. [1] Cochran, Sampling techniques, 3rd ed., 1977, chapter 12.
    .. [2] Chapman, Some properties of the hypergeometric distribution with applications to
       zoological sample censuses, University of California Publications in Statistics 1, 1951.

    Examples
    --------
    >>> pairs = [[[8, 0, 0], [0, 2, 0]], [[1, 4, 0], [0, 65, 0]]]
    >>> corrected = second_labels([5000], [[12, 108]], [pairs])
    >>> corrected.interval()
    Interval(0.831 to 0.9652, 0.95 default)
    >>> corrected.pairs, corrected.differing, round(corrected.lowest, 4)
    (80, 7, 0.904)
    """
    size, once, pairs, skipped = _checked(stratum_size, once, pairs, skipped)
    level = checks.level(level)
    ends = []
    for label in (0, 1):
        labels = _completed(once, pairs, skipped, label)
        ends.append(_corrected(size, *labels, level))
    by_first, (lowest, highest), limits, shared = zip(*ends, strict=True)
    interval = skips.between(*limits)
    notes = list(interval.notes)
    notes += _pair_notes(_differing(pairs), sum(shared) / 2)
    estimate = sum(by_first) / 2
    return SecondLabels(*counted_pairs(pairs), estimate, lowest, highest, interval, notes=notes)


def merged_second_labels(
    size: ndarray,
    once: ndarray,
    pairs: ndarray,
    skipped: ndarray,
    starts: list[int],
    level: float,
) -> SecondLabels:
    """Return the corrected accuracy if some strata have too few pairs of their own.

    The strata from each position in `starts` to the next one are merged. Each item keeps the weight
    of its own stratum, items / sampled items. The distances of the limits from the estimate are
    those of the merged strata, times the root of 1 + c^2, where c is the coefficient of variation
    of the pairs' weights within the merged strata (Kish, Survey sampling, 1965).
    """
    tables = size, once, pairs, skipped
    *counts, left_out = (np.add.reduceat(table, starts) for table in tables)
    merged = second_labels(*counts, skipped=left_out, level=level)
    of_merged = merged.confidence_interval
    if of_merged is None:
        return merged
    m = pairs.sum((1, 2, 3)) + skipped[:, 1]
    weight = size / (m + once.sum(1) + skipped[:, 0])
    group_mean = np.add.reduceat(m * weight, starts) / np.add.reduceat(m, starts)
    weight = weight / np.repeat(group_mean, np.diff([*starts, size.size]))
    wider = np.sqrt(m @ weight**2 / m.sum())  # the mean weight of a pair is 1
    by_first, estimates, limits = [], [], []
    ends = zip((0, 1), (merged.lowest, merged.highest), of_merged, strict=True)
    for label, estimate, limit in ends:
        labels = _completed(once, pairs, skipped, label)
        first, weighted = _group_estimates(size, weight, *labels, starts)
        change = weighted - _group_estimates(size, None, *labels, starts)[1]
        wider_by = (wider - 1) * (limit - estimate)
        by_first.append(first)
        estimates.append(float(np.clip(estimate + change, 0, 1)))
        limits.append(float(np.clip(limit + change + wider_by, 0, 1)))
    interval = replace(of_merged, low=limits[0], high=limits[1])
    lowest, highest = estimates
    return replace(
        merged,
        estimate=sum(by_first) / 2,
        lowest=lowest,
        highest=highest,
        confidence_interval=interval,
    )


def _group_estimates(
    size: ndarray,
    weight: ndarray | None,
    once: ndarray,
    pairs: ndarray,
    starts: list[int],
) -> tuple[float, float]:
    """Return the accuracy by first labels and the corrected one, without shared errors.

    Strata are merged into groups. Without weights, all items of a group have the same one.
    """
    m = pairs.sum((1, 2, 3))
    first = pairs[:, 1].sum((1, 2))
    correct = pairs[..., 1].sum((1, 2))
    labeled = m + once.sum(1)
    weight = np.ones(size.size) if weight is None else weight
    group_size = np.add.reduceat(size, starts)

    def mean(values: ndarray, counts: ndarray) -> float:
        sums = (np.add.reduceat(weight * part, starts) for part in (values, counts))
        return float(group_size @ np.divide(*sums) / size.sum())

    by_first = mean(first + once[:, 1], labeled)
    return by_first, by_first + mean(correct - first, m)


def counted_pairs(pairs: ndarray) -> tuple[int, int, int]:
    """Return the numbers of pairs, of pairs that differ, and of decided pairs among these."""
    differing = _differing(pairs)
    decided = differing[:, :UNDECIDED]
    return int(pairs.sum()), int(differing.sum()), int(decided.sum())


def _differing(pairs: ndarray) -> ndarray:
    """Return the pairs that differ, (2, 3), by first label and decision."""
    return pairs[:, [0, 1], [1, 0]].sum(0)


def _checked(
    stratum_size: ArrayLike,
    once: ArrayLike,
    pairs: ArrayLike,
    skipped: ArrayLike | None,
) -> tuple[ndarray, ndarray, ndarray, ndarray]:
    """Return the arguments as int arrays.

    If a single item of a stratum has one label, that item is left out.
    """
    size = checks.counts("stratum_size", stratum_size, low=1)
    labels = skips.count_table("once", once, (size.size, 2))
    twice = skips.count_table("pairs", pairs, (size.size, 2, 2, 3))
    none = np.zeros_like(labels)
    unlabeled = none if skipped is None else skips.count_table("skipped", skipped, none.shape)
    if twice[:, 0, 0, 1:].any() or twice[:, 1, 1, ::2].any():
        raise checks.WrongValue(
            "pairs", "must have the same decision as both labels where these agree"
        )
    alone = (labels.sum(1) == 1) & (unlabeled[:, 0] == 0)
    labels[alone] = 0
    m = twice.sum((1, 2, 3)) + unlabeled[:, 1]
    n = labels.sum(1) + unlabeled[:, 0]
    intervals.refuse_few(size, m + n)
    for few in np.flatnonzero((m < LEAST_PAIRS) & (m < size))[:1]:
        raise checks.WrongValue(
            "pairs",
            f"must be at least {LEAST_PAIRS} in every stratum; stratum {few} has {m[few]}. "
            "Merge strata, or label more items twice",
        )
    return size, labels, twice, unlabeled


def _completed(
    once: ndarray,
    pairs: ndarray,
    skipped: ndarray,
    label: int,
) -> tuple[ndarray, ndarray]:
    """Return labels (H, 2) and pairs (H, 2, 2, 2), with all open labels set to 0 or 1."""
    once = once.copy()
    decided = pairs[..., :UNDECIDED].copy()
    once[:, label] += skipped[:, 0]
    decided[..., label] += pairs[..., UNDECIDED]
    decided[:, label, label, label] += skipped[:, 1]
    return once, decided


def _corrected(
    size: ndarray,
    once: ndarray,
    pairs: ndarray,
    level: float,
) -> tuple:
    """Return the accuracy by first labels, the corrected one, its interval, and the shift."""
    weight = size / size.sum()
    m = pairs.sum((1, 2, 3))
    n = once.sum(1)
    first = pairs[:, 1].sum((1, 2))
    correct = pairs[..., 1].sum((1, 2))
    all_first = first + once[:, 1]
    by_first = float(weight @ (all_first / (m + n)))
    estimate = by_first + weight @ ((correct - first) / m)
    if n.any():
        interval = _parts_interval(size, once, pairs, level)
    else:
        interval = intervals.stratified_interval(size, m, correct, level=level)
    shared, variance = shared_errors(pairs)
    shift = float(weight @ (shared / m))
    variance = weight**2 @ (variance / m**2)
    reach = intervals.quantile(level) * np.sqrt(variance)
    below = np.hypot(estimate - interval.low, reach)
    above = np.hypot(interval.high - estimate, reach)
    limits = np.array([estimate, estimate - below, estimate + above])
    estimate, low, high = (limits + shift).clip(0, 1).tolist()
    interval = Interval(low, high, level, "default", notes=interval.notes)
    return by_first, estimate, interval, shift


def _parts_interval(
    size: ndarray,
    once: ndarray,
    pairs: ndarray,
    level: float,
) -> Interval:
    """Return the interval from items with two labels and with one, without shared errors."""
    m = pairs.sum((1, 2, 3))
    n = once.sum(1)
    share = m / (m + n)
    some = n > 0
    first_values = np.multiply.outer(share, [0, 0, 1, 1])
    pair_values = first_values + [0, 1, -1, 0]  # by first label and decision
    once_values = np.tile([0, 1, 0, 1], (some.sum(), 1))
    values = np.concatenate([pair_values, once_values])
    parts = np.concatenate([size, (size * (1 - share))[some]])
    pair_counts = pairs.sum(2).reshape(-1, 4)
    once_counts = np.pad(once[some], ((0, 0), (0, 2)))
    counts = np.concatenate([pair_counts, once_counts])
    low, high, exact = raw_limits(ENDLESS * parts, counts, values, level)
    total = parts.sum() / size.sum()
    notes = list(intervals.few_notes(size, m, "pair"))
    notes += intervals.exact_notes(exact)
    return Interval(total * low, total * high, level, "default", notes=notes)


def shared_errors(pairs: ndarray) -> tuple[ndarray, ndarray]:
    """Return s1 - s0 and its variance per stratum, from decided pairs (..., 2, 2, 2)."""
    first = 1.0 * pairs[..., 1, 0, :]
    second = pairs[..., 0, 1, :]
    alike = pairs[..., [0, 1], [0, 1], [0, 1]]
    shared = np.zeros_like(first)
    for _ in range(ITERATIONS):
        not_shared = alike - shared[..., ::-1]
        expected = first * second / (not_shared + 1)
        shared = np.minimum(expected, alike[..., ::-1])
    relative = 1 / np.maximum(first, 1) + 1 / np.maximum(second, 1)
    variance = shared**2 * relative
    return shared[..., 1] - shared[..., 0], variance.sum(-1)


def _pair_notes(differing: ndarray, shared: float) -> Iterator[Note]:
    """Yield notes on shared errors and on the pairs that differ, by first label and decision."""
    *settled, unsettled = differing.sum(0).tolist()
    pairs = sum(settled)
    second = int(np.trace(differing))
    yield Note(
        "assumption",
        "the correction assumes that decisions are correct and that annotators do not copy labels. "
        "The labels cannot show whether this holds. It also assumes that two annotators err "
        "independently given the truth. Errors that both make then change the accuracy by "
        f"{100 * shared:+.2f} points",
    )
    if unsettled:
        open_pairs = checks.counted(unsettled, "pair that differs is", "pairs that differ are")
        text = (
            f"{open_pairs} not decided yet and counted both ways in the interval. Let a third "
            "annotator decide"
        )
        yield Note("assumption", text)
    if pairs:
        first = pairs - second
        one_sided = special.bdtr(min(first, second), pairs, 0.5)
        test = f"exact binomial test p = {min(2 * one_sided, 1):.3g}"
        decided = checks.counted(pairs, "decided pair")
        wrong = f"the first label was incorrect in {first}, the second in {second}"
        text = f"of {decided}, {wrong} ({test}). The correction is valid in either case"
        yield Note("data", text)
