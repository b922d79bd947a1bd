"""Accuracy corrected for label errors, from items labeled twice and a third label that decides."""

from collections.abc import Iterator

import numpy as np
from numpy import ndarray
from numpy.typing import ArrayLike
from scipy import special

from workbench import checks, intervals
from workbench.intervals.values import raw_limits
from workbench.results import Interval, Note, Result
from workbench.stratified import skips

LEAST_PAIRS = 2  # of a stratum
UNDECIDED = 2
ITERATIONS = 8
ENDLESS = 1e12  # times a stratum's items: no finite-population factor
ADVICE = Note(
    "design",
    "as many labels give a shorter interval where all of fewer items are labeled twice: at "
    "accuracy .95 and 3% wrong labels it is 4.6 points wide from 390 items, 6.6 from 600 of which "
    "30% are",
)


class SecondLabels(Result):
    """Label errors and corrected accuracy from double annotation; made by `second_labels`.

    Attributes
    ----------
    pairs, differing, settled : int
        Items with two labels; those whose labels differ; and those of the latter that a third label
        decided.
    estimate : float
        Accuracy before the correction, from first labels; NaN where a stratum has fewer than 2.
    lowest, highest : float
        Corrected accuracy, its least and largest value over the pairs that are not decided and
        skipped items; NaN with fewer than 2 pairs.
    confidence_interval : Interval or None
        Of the corrected accuracy; None with fewer than 2 pairs.
    """

    pairs: int
    differing: int
    settled: int
    estimate: float
    lowest: float
    highest: float
    confidence_interval: Interval | None

    def interval(self) -> Interval | None:
        """Return the interval of the corrected accuracy."""
        return self.confidence_interval

    @property
    def agreement(self) -> float:
        """Share of pairs that are alike; NaN without pairs."""
        return 1 - self.differing / self.pairs if self.pairs else float("nan")

    def headline(self) -> str:
        """Return agreement and corrected accuracy in one sentence."""
        if not self.pairs:
            return "no item has two labels yet"
        pairs = checks.counted(self.pairs, "item has two labels", "items have two labels")
        alike = f"{100 * self.agreement:.1f}% of them alike"
        text = f"{pairs}, {alike}, {self.settled} of {self.differing} decided"
        if self.confidence_interval is None:
            return text
        low, high = self.confidence_interval
        value = skips.said_percent(self.lowest, self.highest)
        limits = f"{100 * low:.1f}% to {100 * high:.1f}%"
        return f"{text}; accuracy corrected for label errors {value} ({limits})"

    def rows(self) -> list[dict]:
        """Return one row."""
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
    r"""Correct an accuracy for label errors from items that two people labeled.

    A third label decides where the two differ.

    Parameters
    ----------
    stratum_size : (H,) array_like of int
        Items per stratum.
    once : (H, 2) array_like of int
        Items with one label, by it: 0 incorrect, 1 correct. Which items get a second one is
        drawn at random.
    pairs : (H, 2, 2, 3) array_like of int
        Items with two labels, by the first, the second, and what was decided: 0, 1, or 2 for not
        yet. At least 2 per stratum.
    skipped : (H, 2) array_like of int, optional
        Items of the sample that nobody could label, those meant for one label and those meant for
        two.
    level : float
        Nominal coverage in (0, 1).

    Returns
    -------
    SecondLabels
        Pairs that are not decided and skipped items count as incorrect for the lower limit, as
        correct for the upper one.

    Raises
    ------
    ValueError
        If an argument is out of its domain; names the stratum.

    Notes
    -----
    In a stratum the share w = m / n of the items has two labels; f and d are first label and
    decision, d = f where both labels are alike. Then

    .. math:: A = \sum_h W_h \Big(\frac1m \sum_{twice} (w f + d - f) + (1 - w) \bar f_{once}\Big)

    is the accuracy by first labels plus the mean of d - f, no item counted twice: double sampling
    with slope w [1]_. Its limits are those of `value_interval` for two independent samples,
    weighted W and W (1 - w). Where every item has two labels it is the accuracy of the decided
    labels, with the interval of `stratified_accuracy`; otherwise no finite-population factor is
    taken, as a census of labels that err is none. An item that alone in its stratum has one label
    is left out.

    Errors that two labels share cannot be seen. If people err independently given the truth,
    capture and recapture [2]_ expects s1 = n101 n011 / (n11 - s0 + 1) items that are right and
    twice called wrong, s0 = n100 n010 / (n00 - s1 + 1) that are wrong and twice called right; n101
    counts pairs by first label, second label and decision. Estimate and limits move by (s1 - s0) /
    m; s^2 (1 / n101 + 1 / n011) / m^2, and the like, is added to the squares of both halves of the
    interval.

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


def counted_pairs(pairs: ndarray) -> tuple[int, int, int]:
    """Return the numbers of pairs, of pairs that differ, and of those that are decided."""
    differing = _differing(pairs)
    decided = differing[:, :UNDECIDED]
    return int(pairs.sum()), int(differing.sum()), int(decided.sum())


def _differing(pairs: ndarray) -> ndarray:
    """Return pairs that differ, (2, 3), by the first label and the decision."""
    return pairs[:, [0, 1], [1, 0]].sum(0)


def _checked(
    stratum_size: ArrayLike,
    once: ArrayLike,
    pairs: ArrayLike,
    skipped: ArrayLike | None,
) -> tuple[ndarray, ndarray, ndarray, ndarray]:
    """Return the arguments as int arrays, without items that alone in a stratum have one label."""
    size = checks.counts("stratum_size", stratum_size, low=1)
    labels = skips.count_table("once", once, (size.size, 2))
    twice = skips.count_table("pairs", pairs, (size.size, 2, 2, 3))
    none = np.zeros_like(labels)
    unlabeled = none if skipped is None else skips.count_table("skipped", skipped, none.shape)
    if twice[:, 0, 0, 1:].any() or twice[:, 1, 1, ::2].any():
        raise checks.WrongValue("pairs", "must count two labels that are alike as decided that way")
    alone = (labels.sum(1) == 1) & (unlabeled[:, 0] == 0)
    labels[alone] = 0
    m = twice.sum((1, 2, 3)) + unlabeled[:, 1]
    n = labels.sum(1) + unlabeled[:, 0]
    intervals.refuse_few(size, m + n)
    for few in np.flatnonzero((m < LEAST_PAIRS) & (m < size))[:1]:
        raise checks.WrongValue(
            "pairs",
            f"must be at least {LEAST_PAIRS} in every stratum; stratum {few} has {m[few]}"
            ": join strata, or label more items twice",
        )
    return size, labels, twice, unlabeled


def _completed(
    once: ndarray,
    pairs: ndarray,
    skipped: ndarray,
    label: int,
) -> tuple[ndarray, ndarray]:
    """Return labels (H, 2) and pairs (H, 2, 2, 2) with all that is open labeled 0 or 1."""
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
    """Return the accuracy by first labels and corrected, its interval, and the shift."""
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
    """Return the interval of items with two labels and those with one, before shared errors."""
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
    """Yield notes on pairs that differ, (2, 3) by first label and decision, and shared errors."""
    *settled, unsettled = differing.sum(0).tolist()
    pairs = sum(settled)
    second = int(np.trace(differing))
    yield Note(
        "assumption",
        "assumes that decisions are right and that second labels do not copy first ones: neither "
        "would show here; and that two people err independently where the truth is the same, which "
        f"puts errors that both make at {100 * shared:+.2f} points of accuracy",
    )
    if unsettled:
        open_pairs = checks.counted(unsettled, "pair that differs is", "pairs that differ are")
        text = f"{open_pairs} not decided yet and counted both ways: a third person decides"
        yield Note("assumption", text)
    if pairs:
        first = pairs - second
        one_sided = special.bdtr(min(first, second), pairs, 0.5)
        test = f"exact binomial test p = {min(2 * one_sided, 1):.3g}"
        decided = checks.counted(pairs, "decided pair")
        wrong = f"the first label was wrong in {first}, the second in {second}"
        yield Note("data", f"of {decided} {wrong} ({test}); the correction holds either way")
