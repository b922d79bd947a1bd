"""Rules that divide a budget of labels among strata.

`allocate` and `reduce_sample` check their arguments and return an `Allocation`. `allotted` and
`reduced` are the same rules for checked arguments. All rules solve the equation::

    sum clip(t share, low, high) = total

for t. `fill_one` solves one large problem, and `fill` many small ones. `_best_whole_numbers` finds
the optimum in whole numbers.
"""

import math
import sys
from collections.abc import Callable

import numpy as np
from numpy import ndarray
from numpy.typing import ArrayLike

from workbench import checks
from workbench.checks import WrongValue
from workbench.results import Note, Result, stratum_rows

METHODS = ("proportional", "equal", "neyman", "neyman_plus", "neyman_iterated", "voila")
NEED_SD = METHODS[2:]
ROUNDING = 1e-13
BLOCK = 2**15
NEVER_VARIES = "no stratum varies: {} in proportion to size"


class Allocation(Result):
    """Labels per stratum, with the variance that they give.

    `allocate`, `reduce_sample` and `next_wave` return this result.

    Attributes
    ----------
    labeled : (H,) array of int or float
        Labels per stratum; real numbers with ``integer=False``.
    variance : float
        Variance of the estimated mean, as in `allocation_variance`; NaN without `stratum_sd`.
    bounded : (H,) array of bool
        Whether a stratum is labeled completely. In a reduced sample, whether it keeps all items.
    unused : int or float
        Part of the budget that is not spent.
    stratum_size : (H,) array of int
        Items per stratum.
    method : str
        Rule of the allocation.
    stratum_sd : (H,) array of float or None
        Standard deviation within each stratum, if given.
    minimum : int
        Labels that every stratum gets at least.

    See Also
    --------
    allocate : Allocate a budget of labels to strata.
    allocation_variance : Return the variance of an estimated mean under an allocation.
    """

    labeled: ndarray
    variance: float
    bounded: ndarray
    unused: float
    stratum_size: ndarray
    method: str
    stratum_sd: ndarray | None = None
    minimum: int = 2

    def variance_ratio(self, method: str = "neyman") -> float:
        """Return the variance, divided by that of another rule with the same budget and floor.

        Parameters
        ----------
        method : str, default "neyman"
            Rule to compare with, as in `allocate`.

        Returns
        -------
        float
            Ratio of the variances. It is NaN without `stratum_sd`, or if both variances are 0. It
            is 0 if only the other rule leaves a stratum that varies without a label.
        """
        if self.stratum_sd is None:
            return math.nan
        budget = round(float(self.labeled.sum() + self.unused))
        other = allocate(
            self.stratum_size,
            budget,
            method,
            stratum_sd=self.stratum_sd,
            minimum=self.minimum,
            integer=self.labeled.dtype.kind == "i",
        ).variance
        if other == 0 or self.variance == np.inf:
            return math.nan
        return self.variance / other

    def headline(self) -> str:
        """Return the labels, their standard error, and the gain of VOILA over Neyman's rule."""
        labels = " + ".join(f"{n:.4g}" for n in self.labeled)
        if self.labeled.size > 12:
            labels = f"{self.labeled.sum():,.6g} in {self.labeled.size:,} strata"
        parts = [f"{self.method}: {labels} of {self.stratum_size.sum():,}"]
        if not np.isnan(self.variance):
            parts.append(f"SE {np.sqrt(self.variance):.4g}")
        if self.unused:
            parts.append(f"{self.unused:.4g} unused")
        if self.method == "voila" and (ratio := self.variance_ratio()) < 1 - 5e-4:
            parts.append(f"variance {100 * (1 - ratio):.3g}% below capped Neyman's")
        return ", ".join(parts)

    def rows(self) -> list[dict]:
        """Return one row per stratum with its size, its labels, and whether it is full."""
        return stratum_rows(
            size=self.stratum_size,
            labeled=self.labeled,
            bounded=self.bounded,
        )


def allocate(
    stratum_size: ArrayLike,
    budget: int,
    method: str = "voila",
    *,
    stratum_sd: ArrayLike | None = None,
    minimum: int = 2,
    integer: bool = True,
) -> Allocation:
    """Allocate a budget of labels to strata.

    Strata that are large or vary much should get more labels. The rule "voila" gives the smallest
    variance of the estimated mean if you know the standard deviations. "proportional" needs none.

    Parameters
    ----------
    stratum_size : (H,) array_like of int
        Items per stratum, at least 1.
    budget : int
        Labels in total, at least enough for the floors of all strata. If it exceeds the number of
        items, all items are labeled.
    method : str, default "voila"
        Rule of the allocation: "voila", "neyman", "neyman_iterated", "neyman_plus", "proportional"
        or "equal". See Notes.
    stratum_sd : (H,) array_like of float, optional
        Standard deviation within each stratum, at least 0, with ddof=1. "proportional" and "equal"
        do not need it.
    minimum : int, default 2
        Floor: labels that every stratum gets at least. A smaller stratum is labeled completely.
    integer : bool, default True
        Whether labels are whole numbers. If not, "voila" gives real numbers, which solve the
        problems SSR and FastSSR of [2]_.

    Returns
    -------
    Allocation
        Labels per stratum, with the variance that they give.

    Raises
    ------
    ValueError
        If the budget is below the floors, or a standard deviation is missing, negative or not
        finite. The message names the stratum.

    See Also
    --------
    allocation_variance : Return the variance of an estimated mean under an allocation.
    plan_labels : Plan a budget of labels for named strata, and compare the rules.
    reduce_sample : Reduce a stratified sample so that the variance grows least.

    Notes
    -----
    Stratum h has N_h items with the standard deviation S_h, and gets n_h labels. The rules are:

    - "proportional": n_h is proportional to N_h.
    - "equal": n_h is the same in all strata.
    - "neyman": n_h is proportional to N_h S_h [1]_, but at most N_h. Labels beyond that stay
      unused.
    - "neyman_plus": as "neyman", but the unused labels are divided equally among the strata that
      are not full. This is repeated until none is left.
    - "neyman_iterated": strata whose Neyman allocation exceeds N_h are labeled completely. The rest
      is allocated by "neyman" to the other strata, again and again [5]_. Rounding is by largest
      remainders.
    - "voila": the optimum under floor and caps [2]_, exact in whole numbers [3]_.

    "proportional" and "equal" allocate labels beyond N_h to the other strata.

    VOILA solves the problem::

        minimize    sum (N_h S_h)^2 / n_h
        subject to  min(minimum, N_h) <= n_h <= N_h  and  sum n_h = budget

    In real numbers, n_h = t N_h S_h between these limits, for a common t. In whole numbers, n_h is
    the smallest number with t N_h S_h <= sqrt(n_h (n_h + 1)) [4]_. In real numbers,
    "neyman_iterated" has the same solution.

    A stratum that does not vary gets no more than the floor until all others are full. If no
    stratum varies, labels are in proportion to size. The standard deviation of a stratum with one
    item is 0, even if NaN is given.

    References
    ----------
    .. [1] Neyman, On the two different aspects of the representative method, JRSS 97, 1934.
    .. [2] Nguyen, Shih, Srivastava, Tirthapura & Xu, Stratified random sampling from streaming and
       stored data, EDBT 2019: VOILA, the optimum if a stratum is smaller than its Neyman
       allocation.
    .. [3] Wright, Exact optimal sample allocation, The American Statistician 71, 2017: whole
       numbers.
    .. [4] Huntington, The apportionment of representatives in Congress, Trans. AMS 30, 1928: equal
       proportions.
    .. [5] Cochran, Sampling Techniques, 1977, section 5.8: allocations that exceed a stratum.

    Examples
    --------
    >>> allocate([1000, 600, 160, 37], 100, "equal").labeled
    array([25, 25, 25, 25])
    >>> allocate([100, 100], 30, "neyman", stratum_sd=[.5, .1])
    Allocation(neyman: 25 + 5 of 200, SE 0.04848)
    """
    size = checks.counts("stratum_size", stratum_size, low=1, copy=False)
    checks.choice("method", method, METHODS)
    budget, minimum, notes = _limited(budget, minimum, size, "item", "all are labeled")
    if stratum_sd is None and method in NEED_SD:
        raise WrongValue(
            "stratum_sd",
            f"must be given for method {method!r}; 'proportional' and 'equal' do not need it",
        )
    sd = np.zeros(size.size) if stratum_sd is None else _checked_sd(stratum_sd, size)
    if method in NEED_SD and not sd.any():
        notes.append(Note("data", NEVER_VARIES.format("allocated")))
    if budget > size.sum():
        labeled = size.astype(int if integer else float)
    else:
        labeled = allotted(size, budget, method, minimum, sd, integer)
    recorded_sd = None if stratum_sd is None else sd
    return _allocation(labeled, size, recorded_sd, size, budget, method, minimum, notes)


def allotted(
    size: ndarray,
    budget: float,
    method: str,
    floor: int | ndarray,
    sd: ndarray,
    integer: bool = True,
) -> ndarray:
    """Return labels as in `allocate`, for checked arguments and one floor or one per stratum."""
    if method in NEED_SD and not sd.any():
        method = "proportional"
    if method == "voila":
        return reduced(size, sd, size, budget, floor, integer)
    if method == "proportional":
        share = size.astype(float)
    elif method == "equal":
        share = np.ones(size.size)
    else:
        share = _scaled_spread(size, sd)
    if method in ("neyman", "neyman_plus"):
        floor = np.minimum(floor, size)
        real = fill_one(share, budget, floor, budget)
        if method == "neyman":
            labeled = round_to_total(real, budget, floor, budget) if integer else real
            return np.minimum(labeled, size)
        real = _spread_evenly(np.minimum(real, size), budget, size)
    else:
        real = fill_one(share, budget, floor, size)
    return round_to_total(real, budget, floor, size) if integer else real


def _spread_evenly(real: ndarray, total: float, size: ndarray) -> ndarray:
    """Return labels, with the missing ones divided equally among the strata that are not full."""
    while (missing := total - real.sum()) > 1e-9 * total:
        has_room = real < size
        equal_part = missing / has_room.sum()
        real = np.minimum(real + has_room * equal_part, size)
    return real


def allotted_above(
    size: ndarray,
    budget: int,
    method: str,
    share: float,
    minimum: int,
    sd: ndarray,
    rounded: Callable = np.floor,
) -> ndarray:
    """Return `allotted` with a floor, the rounded proportion `share` of the proportional labels."""
    proportional = allotted(size, budget, "proportional", minimum, sd)
    least = rounded(np.round(share * proportional, 9)).astype(int)
    floor = np.maximum(np.minimum(minimum, size), least)
    return allotted(size, budget, method, floor, sd)


def reduce_sample(
    stratum_size: ArrayLike,
    stratum_sd: ArrayLike,
    current: ArrayLike,
    budget: int,
    *,
    minimum: int = 2,
    integer: bool = True,
) -> Allocation:
    """Reduce a stratified sample to a budget so that the variance grows least.

    Use it if you have a sample and must keep fewer items. The result says how many items each
    stratum keeps. Choose them at random within the stratum.

    Parameters
    ----------
    stratum_size : (H,) array_like of int
        Items per stratum, at least 1.
    stratum_sd : (H,) array_like of float
        Standard deviation within each stratum, at least 0, with ddof=1.
    current : (H,) array_like of int
        Sampled items per stratum, at least 0 and at most the size of the stratum.
    budget : int
        Items to keep, at least enough for the floors of all strata. If it exceeds the sample, all
        items are kept.
    minimum : int, default 2
        Floor: items that every stratum keeps at least. A smaller sample is kept completely.
    integer : bool, default True
        Whether the numbers of items are whole. If not, they solve the problem SSR of [1]_.

    Returns
    -------
    Allocation
        Items to keep per stratum, in the field `labeled`. The field `bounded` marks the strata that
        keep all items.

    Raises
    ------
    ValueError
        If the budget is below the floors, or a sample is larger than its stratum. The message names
        the stratum.

    See Also
    --------
    allocate : Allocate a budget of labels to strata.
    StreamSampler : A stratified sample that is kept while records arrive.

    Notes
    -----
    Stratum h has N_h items with the standard deviation S_h. Of its s_h sampled items, n_h are kept.
    The numbers solve the problem::

        minimize    sum (N_h S_h)^2 / n_h
        subject to  min(minimum, s_h) <= n_h <= s_h  and  sum n_h = budget

    In real numbers, n_h = t N_h S_h between these limits, for a common t. In whole numbers, n_h is
    the smallest number with t N_h S_h <= sqrt(n_h (n_h + 1)). `allocate` with "voila" solves the
    same problem for a sample of all items.

    References
    ----------
    .. [1] Nguyen et al., Stratified random sampling from streaming and stored data, EDBT 2019,
       section 3. Its lemma 2 and its one-element rule (lemma 1) hold for real numbers; whole
       numbers need sqrt(n (n + 1)).

    Examples
    --------
    >>> reduce_sample([1000, 1000, 10], [1, 4, 50], [20, 20, 10], 30)
    Allocation(reduction: 7 + 20 + 3 of 2,010, SE 0.4936)
    """
    size = checks.counts("stratum_size", stratum_size, low=1, copy=False)
    sd = _checked_sd(stratum_sd, size)
    current = checks.counts("current", current, size=size.size, copy=False)
    checks.at_most("current", current, "stratum_size", size)
    budget, minimum, notes = _limited(budget, minimum, current, "sampled item", "all are kept")
    if not sd.any():
        notes.append(Note("data", NEVER_VARIES.format("reduced")))
    total = min(budget, int(current.sum()))
    labeled = reduced(size, sd, current, total, minimum, integer)
    return _allocation(labeled, size, sd, current, budget, "reduction", minimum, notes)


def _limited(
    budget: int,
    minimum: int,
    most: ndarray,
    item: str,
    outcome: str,
) -> tuple:
    """Return the checked budget and minimum, and a note if the budget exceeds the items."""
    minimum = checks.whole("minimum", minimum, 0)
    budget = checks.whole("budget", budget, 1)
    if budget < minimum * most.size:
        refuse_less(budget, np.minimum(minimum, most).sum(), minimum, most.size)
    items = int(most.sum())
    if budget <= items:
        return budget, minimum, []
    exceeds = f"the budget of {budget} exceeds the {checks.counted(items, item)}: {outcome}"
    return budget, minimum, [Note("design", exceeds)]


def refuse_less(
    budget: int,
    least: int,
    minimum: int,
    strata: int,
) -> None:
    """Raise an error if a budget is less than the sum of the floors of all strata."""
    if budget < least:
        floors = f"{minimum} for each of {checks.counted(strata, 'stratum', 'strata')}"
        raise WrongValue("budget", f"must be at least {least}, {floors}", budget)


def _allocation(
    labeled: ndarray,
    size: ndarray,
    sd: ndarray | None,
    most: ndarray,
    budget: int,
    method: str,
    minimum: int,
    notes: list,
) -> Allocation:
    unused = budget - labeled.sum().item()
    if isinstance(unused, float) and unused <= 1e-9 * budget:
        unused = 0.0
    variance = math.nan if sd is None else _variance(size, sd, labeled)
    if sd is not None and variance == np.inf:
        is_unlabeled = (labeled == 0) & (sd > 0)
        infinite = "varies and has no label: the variance is infinite"
        where = ("stratum", int(is_unlabeled.argmax()))
        notes.append(Note("undefined", infinite, where))
    full = labeled >= most
    for array in (labeled, full):  # a result does not copy what is read-only
        array.setflags(write=False)
    return Allocation(labeled, variance, full, unused, size, method, sd, minimum, notes=notes)


def unused_notes(unused: float, budget: float) -> tuple[Note, ...]:
    """Return a note if an allocation does not spend its budget."""
    if not unused:
        return ()
    verb = "stays" if unused == 1 else "stay"
    labels = f"{unused} of {checks.counted(budget, 'label')} {verb} unused"
    return (Note("design", f"{labels}, because a stratum is smaller than its allocation"),)


def allocation_variance(
    stratum_size: ArrayLike,
    stratum_sd: ArrayLike,
    labeled: ArrayLike,
) -> float:
    """Return the variance of an estimated mean under an allocation.

    Parameters
    ----------
    stratum_size : (H,) array_like of int
        Items per stratum, at least 1.
    stratum_sd : (H,) array_like of float
        Standard deviation within each stratum, at least 0, with ddof=1. It may be NaN for a stratum
        with one item.
    labeled : (H,) array_like of float
        Labels per stratum, at least 0 and at most the size of the stratum.

    Returns
    -------
    float
        Variance of the estimated mean. It is infinite if a stratum that varies has no label.

    See Also
    --------
    allocate : Allocate a budget of labels to strata.
    accuracy_variance : Return the true variance of an estimated accuracy.

    Notes
    -----
    The variance is::

        sum_h W_h^2 (1 - n_h / N_h) S_h^2 / n_h

    Stratum h has N_h items, the weight W_h, the standard deviation S_h and n_h labels.

    Examples
    --------
    >>> round(allocation_variance([100, 100], [.5, .1], [25, 5]), 6)
    0.00235
    """
    size = checks.counts("stratum_size", stratum_size, low=1)
    sd = _checked_sd(stratum_sd, size)
    labeled = checks.vector(
        "labeled",
        labeled,
        size=size.size,
        low=0,
        what="stratum",
    )
    checks.at_most("labeled", labeled, "stratum_size", size)
    return _variance(size, sd, labeled)


def priorities(
    stratum_size: ArrayLike,
    stratum_sd: ArrayLike,
    labeled: ArrayLike,
) -> ndarray:
    """Return the priority N_h S_h / sqrt(k (k + 1)) of each stratum with k labels.

    It is infinite for k = 0, and 0 if all items are labeled. Its square is the amount by which the
    next label reduces the variance of the estimated total [1]_.

    References
    ----------
    .. [1] Wright, Exact optimal sample allocation, The American Statistician 71, 2017.

    Examples
    --------
    >>> priorities([100, 100, 2], [3.0, 1.0, 50.0], [1, 1, 2]).round(1)
    array([212.1,  70.7,   0. ])
    """
    size = np.asarray(stratum_size, float)
    k = np.asarray(labeled, float)
    with np.errstate(divide="ignore", invalid="ignore"):
        priority = size * stratum_sd / np.sqrt(k * (k + 1))
    return np.where(k < size, priority, 0.0)


def _variance(size: ndarray, sd: ndarray, labeled: ndarray) -> float:
    """Return sum (size / items)^2 sd^2 (1 / labeled - 1 / size), without overflow."""
    items = size.sum()
    variance = 0.0
    for part in _blocks(size.size):
        unlabeled = size[part] - labeled[part]
        with np.errstate(divide="ignore"):
            odds = unlabeled / labeled[part]
        odds[sd[part] == 0] = 0
        weighted = sd[part] / items
        variance += float((size[part] * weighted) @ (odds * weighted))
    return max(variance, 0.0)


def _checked_sd(stratum_sd: ArrayLike, size: ndarray) -> ndarray:
    """Return standard deviations of at least 0; that of a stratum of one item may be NaN."""
    sd = checks.plain_array("stratum_sd", stratum_sd, "stratum")
    if sd.shape == size.shape and sd.dtype.kind == "f" and np.isnan(sd.min()):
        sd = np.where(np.isnan(sd) & (size == 1), 0.0, sd)
    return checks.vector(
        "stratum_sd",
        sd,
        size=size.size,
        low=0,
        what="stratum",
        copy=False,
    )


# ---------------------------------------------------------------- one level for all strata


def fill(
    share: ndarray,
    total: ndarray,
    low: ndarray,
    high: ndarray,
) -> ndarray:
    """Return clip(t * share, low, high) for the t with which it adds up to `total`, (..., H) float.

    If the strata with positive shares cannot hold the total, the rest goes to the others in
    proportion to their free items. This solves many small problems at once; `fill_one` solves a
    large one.
    """
    share, low, high = np.broadcast_arrays(share, low, high)
    total = np.broadcast_to(np.expand_dims(total, -1), (*share.shape[:-1], 1))
    return _spilled(_bisected(share, total, low, high), total, high)


def fill_one(
    share: ndarray,
    total: float,
    low: float | ndarray,
    high: float | ndarray,
) -> ndarray:
    """Return `fill` of one row, (H,) float; if low exceeds high, high is used."""
    low = np.broadcast_to(low, share.shape)
    high = np.broadcast_to(high, share.shape)
    most = _most(share, low, high)
    if total >= most.sum():
        return _spilled(most.astype(float), np.array([total], float), high)
    level, _ = _level(share, total, low, high, ROUNDING * total)
    return _clip(level, share, low, high)


def _most(share: ndarray, low: ndarray, high: ndarray) -> ndarray:
    """Return the maximum of each stratum before strata without a share get more than low."""
    if share.min() > 0:
        return high
    return np.where(share > 0, high, np.minimum(low, high))


def _spilled(filled: ndarray, total: ndarray, high: ndarray) -> ndarray:
    """Return labels, with the missing ones divided in proportion to the free items of strata."""
    missing = total - filled.sum(-1, keepdims=True)
    room = high - filled
    all_room = room.sum(-1, keepdims=True)
    extra = np.divide(missing, all_room, out=np.zeros_like(missing), where=all_room > 0)
    is_short = missing > 1e-9 * (total + 1)
    return np.where(is_short, filled + room * extra, filled)


@np.errstate(over="ignore")
def _level(
    share: ndarray,
    total: float,
    low: ndarray,
    high: ndarray,
    tolerance: float,
) -> tuple:
    """Return t with sum clip(t share, low, high) = total, and the sum of the shares in between.

    The sum is increasing and piecewise linear in t. So Newton's method is exact once it has found
    the right piece. A step that leaves the bracket is replaced by the middle of the bracket, and so
    is every eighth step.
    """
    least = share.min() or share[share > 0].min()
    below = low.min() / share.max()
    above = min(high.max() / least, sys.float_info.max)
    level = _first_level(share, total, low, high)
    step = 0
    while True:
        step += 1
        filled, free = _filled(level, share, low, high)
        gap = total - filled
        newton = level + gap / free if free else math.inf
        if abs(gap) <= tolerance:
            return (newton if below < newton < above else level), free
        below, above = (level, above) if gap > 0 else (below, level)
        level = newton
        if step % 8 == 0 or not below < level < above:
            level = _middle(below, above)
            if not below < level < above:
                return level, free


def _first_level(
    share: ndarray,
    total: float,
    low: ndarray,
    high: ndarray,
) -> float:
    """Return a level to start from; for many strata it is that of a sample, to save time."""
    if share.size >= 4 * BLOCK:
        few = slice(None, None, 61)  # a prime number, so that no regular order is sampled unevenly
        part = total * float(high[few].sum() / high.sum())
        least = np.minimum(low[few], high[few])
        most = high[few][share[few] > 0]
        if least.sum() < part < most.sum():
            return _level(share[few], part, low[few], high[few], 1e-3 * part)[0]
    return total / share.sum()


def _filled(
    level: float,
    share: ndarray,
    low: ndarray,
    high: ndarray,
) -> tuple:
    """Return the sum of clip(level share, low, high), and the sum of the shares in between."""
    filled = free = 0.0
    buffers = np.empty((2, min(BLOCK, share.size)))
    for part in _blocks(share.size):
        reached, clipped = buffers[:, : share[part].size]
        np.multiply(level, share[part], out=reached)
        np.maximum(reached, low[part], out=clipped)
        np.minimum(clipped, high[part], out=clipped)
        filled += float(clipped.sum())
        is_free = np.equal(reached, clipped, out=reached)  # as floats, for the product
        free += float(share[part] @ is_free)
    return filled, free


def _clip(
    level: float,
    share: ndarray,
    low: ndarray,
    high: ndarray,
) -> ndarray:
    """Return clip(level share, low, high); if low exceeds high, high is used."""
    with np.errstate(over="ignore"):
        reached = level * share
    np.maximum(reached, low, out=reached)
    return np.minimum(reached, high, out=reached)


def _middle(below: float, above: float) -> float:
    """Return the geometric mean, without overflow."""
    return math.sqrt(below) * math.sqrt(above) if below else above / 4


def _bisected(
    share: ndarray,
    total: ndarray,
    low: ndarray,
    high: ndarray,
) -> ndarray:
    """Return clip(t share, low, high) that adds up to `total` per row, by bisection of log t."""
    with np.errstate(divide="ignore", invalid="ignore"):
        full_at = np.log(np.where(share > 0, high / share, 1.0))
    start = full_at.min(-1, keepdims=True) - 45
    end = full_at.max(-1, keepdims=True) + 1
    for _ in range(64):
        middle = (start + end) / 2
        filled = np.clip(np.exp(middle) * share, low, high)
        over = filled.sum(-1, keepdims=True) > total
        start = np.where(over, start, middle)
        end = np.where(over, middle, end)
    return np.clip(np.exp(start) * share, low, high)


# ---------------------------------------------------------------- whole numbers


def round_to_total(
    real: ndarray,
    total: float | ndarray,
    low: float | ndarray,
    high: float | ndarray,
) -> ndarray:
    """Round rows of reals to whole numbers in [low, high] that add up to `total`.

    The largest remainders are rounded up, the first of equal ones first.
    """
    real, low, high = np.broadcast_arrays(np.asarray(real, float), low, high)
    rounded = np.clip(np.floor(real + 1e-9), low, high)
    missing = np.expand_dims(total, -1) - rounded.sum(-1, keepdims=True)
    order = np.arange(real.shape[-1])
    remainder = real - rounded - order * 1e-10
    remainder = np.where(rounded < high, remainder, -np.inf)
    falling = -np.sort(-remainder, axis=-1)
    falling = np.concatenate([np.full_like(missing, np.inf), falling], -1)
    least = np.take_along_axis(falling, missing.astype(int), -1)
    return (rounded + (remainder >= least)).astype(int)


def _scaled_spread(size: ndarray, sd: ndarray) -> ndarray:
    """Return sizes times sds, scaled by a power of two to be neither too large nor too small."""
    exponent = math.frexp(sd.max())[1]
    return size * (sd * 2.0 ** min(-exponent, 1000))


def reduced(
    size: ndarray,
    sd: ndarray,
    current: ndarray,
    total: float,
    floor: int | ndarray,
    integer: bool = True,
) -> ndarray:
    """Return labels as in `reduce_sample`, for checked arguments."""
    if not sd.any():
        share = size.astype(float)
    else:
        share = _scaled_spread(size, sd)
        if integer:
            return _best_whole_numbers(share, total, floor, current)
    real = fill_one(share, total, floor, current)
    return round_to_total(real, total, floor, current) if integer else real


def _best_whole_numbers(
    spread: ndarray,
    total: float,
    floor: int | ndarray,
    cap: ndarray,
) -> ndarray:
    """Return the whole numbers n in [floor, cap] with a given total that minimize sum spread^2 / n.

    The k-th label of a stratum has the priority spread / sqrt(k (k - 1)); that of the first is
    infinite. The search finds two levels of priority between which the budget runs out. Only few
    labels lie between them. Those with the highest priority are taken.
    """
    first = np.broadcast_to(np.maximum(floor, 1), spread.shape)
    floor = np.broadcast_to(floor, spread.shape)
    most = _most(spread, floor, cap)
    if total >= most.sum():
        room = cap - most
        return round_to_total(fill_one(room + 1.0, total, most, cap), total, most, cap)
    if floor.min() == 0:
        lacks_first = floor < np.minimum(most, 1)
        missing = total - floor.sum()
        if missing < lacks_first.sum():
            order = np.argsort(np.where(lacks_first, -spread, 1.0), kind="stable")
            labeled = floor.copy()
            labeled[order[:missing]] += 1
            return labeled
    fewer, more = _bracket(spread, total, first, most)
    missing = total - fewer.sum()
    if not missing:
        return fewer
    gains = np.flatnonzero(more > fewer)
    owner = np.repeat(gains, more[gains] - fewer[gains])
    nth = fewer[owner] + 1 + ranks_among_equals(owner)
    cost = np.sqrt(nth * (nth - 1.0)) / spread[owner]
    cheapest = np.argpartition(cost, missing - 1)[:missing]
    np.add.at(fewer, owner[cheapest], 1)
    return fewer


def _bracket(
    spread: ndarray,
    total: float,
    first: ndarray,
    full: ndarray,
) -> tuple:
    """Return whole numbers that add up to at most and to at least `total`, at two close levels."""
    strata = spread.size
    reach = 1.25
    close = min(total / 30, math.sqrt(0.05 * strata * total))  # a step then leaves less than H
    tolerance = max(strata / 8, close)
    level, free = _level(spread, total, first, full, tolerance)
    below = 0.0
    above = math.inf
    labeled = _bought(level, spread, first, full)
    missing = total - labeled.sum()
    while missing:
        below, above = (level, above) if missing > 0 else (below, level)
        newton = missing / max(free, 0.01 * total / level)
        level = _step(below, above, level, newton, reach)
        reach *= 4
        previous = labeled
        labeled = _bought(level, spread, first, full)
        before = missing
        missing = total - labeled.sum()
        is_close = abs(before - missing) <= strata or level in (below, above)
        if before * missing <= 0 and is_close:
            return (previous, labeled) if before > 0 else (labeled, previous)
    return labeled, labeled


def _step(
    below: float,
    above: float,
    level: float,
    newton: float,
    reach: float,
) -> float:
    """Return the middle of a bracket, or a growing step that looks for its other end."""
    if not below or above == math.inf:
        farthest = 4 * reach
        return min(max(level + reach * newton, level / farthest), farthest * level)
    middle = _middle(below, above)
    if below < middle < above:
        return middle
    return above if level == below else below


def _bought(
    level: float,
    spread: ndarray,
    first: ndarray,
    full: ndarray,
) -> ndarray:
    """Return the smallest s >= first with level * spread <= sqrt(s (s + 1)), at most full."""
    counts = np.empty(spread.size, int)
    for part in _blocks(spread.size):
        real = _clip(level, spread[part], first[part], full[part])
        real *= real
        real += 0.25
        np.sqrt(real, out=real)
        np.rint(real, out=counts[part], casting="unsafe")
    return counts


def ranks_among_equals(codes: ndarray) -> ndarray:
    """Return the rank, from 0, of each entry of a sorted array among the equal ones.

    Examples
    --------
    >>> ranks_among_equals(np.array([2, 2, 2, 5, 5]))
    array([0, 1, 2, 0, 1])
    """
    return np.arange(codes.size) - np.searchsorted(codes, codes)


def _blocks(size: int) -> list:
    """Return slices that fit into the processor's cache."""
    return [slice(start, start + BLOCK) for start in range(0, size, BLOCK)]
