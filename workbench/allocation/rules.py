"""Allocating a labeling budget to strata.

References
----------
.. [1] Neyman, On the two different aspects of the representative method, JRSS 97, 1934.
.. [2] Nguyen, Shih, Srivastava, Tirthapura & Xu, Stratified random sampling from streaming and stored
   data, EDBT 2019: VOILA, the optimum when a stratum is smaller than its Neyman share.
.. [3] Wright, Exact optimal sample allocation, The American Statistician 71, 2017: whole numbers.
.. [4] Huntington, The apportionment of representatives in Congress, Trans. AMS 30, 1928: equal proportions.
"""

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from workbench import checks
from workbench.results import Note, Result, stratum_rows

METHODS = ("proportional", "equal", "neyman", "neyman_plus", "neyman_iterated", "voila")
NEED_SD = METHODS[2:]
LEAST_LABELS = 1e-6  # of an allocation in fractions
BLOCK = 2**15
ROUNDING = 1e-13


class Allocation(Result):
    """Labels per stratum.

    Attributes
    ----------
    labeled : (H,) array of int, or of float with integer=False
    variance : float
        Of the estimated mean, `allocation_variance`; NaN without `stratum_sd`.
    bounded : (H,) array of bool
        Strata that are labeled completely; in a reduced sample those that keep all they had.
    unused : int or float
        Part of the budget that was not spent.
    stratum_size : (H,) array of int
    method : str
        One of `METHODS`, or "reduction".
    stratum_sd : (H,) array of float, or None
    minimum : int
    """

    labeled: np.ndarray
    variance: float
    bounded: np.ndarray
    unused: float
    stratum_size: np.ndarray
    method: str
    stratum_sd: np.ndarray | None = None
    minimum: int = 2

    def variance_ratio(self, method: str = "neyman") -> float:
        """Return `variance` over that of another method with the same strata, budget and floor.

        NaN without `stratum_sd` or where both are 0; 0 where only the other method leaves a varying
        stratum without a label.

        Parameters
        ----------
        method : str
            As in `allocate`.
        """
        if self.stratum_sd is None:
            return float("nan")
        budget = int(round(float(self.labeled.sum() + self.unused)))
        other = allocate(
            self.stratum_size,
            budget,
            method,
            stratum_sd=self.stratum_sd,
            minimum=self.minimum,
            integer=self.labeled.dtype.kind == "i",
        ).variance
        return self.variance / other if other > 0 and self.variance < np.inf else float("nan")

    def headline(self) -> str:
        """Return what is spent, the standard error it buys and what VOILA saves against Neyman."""
        error = "" if np.isnan(self.variance) else f", SE {np.sqrt(self.variance):.4g}"
        unused = f", {self.unused:.4g} unused" if self.unused else ""
        shares = (
            " + ".join(f"{n:.4g}" for n in self.labeled)
            if self.labeled.size <= 12
            else f"{self.labeled.sum():,.6g} in {self.labeled.size:,} strata"
        )
        return (
            f"{self.method}: {shares} of {self.stratum_size.sum():,}{error}{unused}{self._saving()}"
        )

    def rows(self) -> list[dict]:
        """Return stratum, counted from 1, size, labels and whether it is full, one row per stratum."""
        return stratum_rows(size=self.stratum_size, labeled=self.labeled, bounded=self.bounded)

    def _saving(self) -> str:
        ratio = self.variance_ratio() if self.method == "voila" else float("nan")
        return (
            f", variance {100 * (1 - ratio):.3g}% below capped Neyman's" if ratio < 1 - 5e-4 else ""
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

    Parameters
    ----------
    stratum_size : (H,) array_like of int
        Items per stratum, N_h >= 1.
    budget : int
        Labels in total, at least sum(min(minimum, N_h)). More than there are items gives a census.
    method : {"voila", "neyman", "neyman_iterated", "neyman_plus", "proportional", "equal"}
        - "proportional" (n_h ~ N_h), "equal": capped at N_h, the excess redistributed.
        - "neyman": n_h ~ N_h S_h [1]_, cut at N_h; what is cut stays in `unused`.
        - "neyman_plus": what is cut goes in equal parts to the strata not yet full, repeated.
        - "neyman_iterated": full strata are taken whole and the rest is shared as N_h S_h among the others, repeated
          [5]_; in whole numbers the real shares, rounded by largest remainders.
        - "voila": the optimum under floor and caps [2]_, in whole numbers exactly [3]_.
    stratum_sd : (H,) array_like of float, optional
        Standard deviation within strata, S_h >= 0 with ddof=1; "proportional" and "equal" need none.
    minimum : int
        Floor per stratum (a smaller stratum is labeled completely).
    integer : bool
        With False the shares stay real numbers; "voila" is then the solution of SSR and FastSSR in [2]_.

    Returns
    -------
    Allocation

    Raises
    ------
    ValueError
        If the budget is below the floor, an sd is missing, negative or not finite; names the stratum.

    Notes
    -----
    VOILA minimizes sum (N_h S_h)^2 / n_h over min(minimum, N_h) <= n_h <= N_h, sum n_h = budget: n_h = t N_h S_h
    between these limits, and in whole numbers the least n_h with t N_h S_h <= sqrt(n_h (n_h + 1)) [4]_. Strata that do
    not vary get no more than the floor until all others are full; where none varies shares are proportional. The sd
    of a stratum of one item is 0, also where NaN is given. Time is a few passes over the strata. In real numbers
    "neyman_iterated" comes to the same shares; what "voila" adds is the best whole numbers.

    References
    ----------
    .. [1] Neyman, On the two different aspects of the representative method, JRSS 97, 1934.
    .. [2] Nguyen, Shih, Srivastava, Tirthapura & Xu, Stratified random sampling from streaming and stored data, EDBT
       2019: VOILA, the optimum when a stratum is smaller than its Neyman share.
    .. [3] Wright, Exact optimal sample allocation, The American Statistician 71, 2017: whole numbers.
    .. [4] Huntington, The apportionment of representatives in Congress, Trans. AMS 30, 1928: equal proportions.
    .. [5] Cochran, Sampling Techniques, 1977, section 5.8: shares of more than a stratum has.

    Examples
    --------
    >>> allocate([1000, 600, 160, 37], 100, "equal").labeled
    array([25, 25, 25, 25])
    >>> allocate([100, 100], 30, "neyman", stratum_sd=[.5, .1])
    Allocation(neyman: 25 + 5 of 200, SE 0.04848)
    """
    size = checks.counts("stratum_size", stratum_size, low=1, copy=False)
    checks.choice("method", method, METHODS)
    budget, minimum, items, notes = _limited(budget, minimum, size, "item", "a census")
    sd = _spread(stratum_sd, size, method)
    if method in NEED_SD and not sd.max() > 0:
        notes.append(Note("data", "no stratum varies: allocated in proportion to size"))
    labeled = (
        size * (1 if integer else 1.0)
        if budget > items
        else allotted(size, budget, method, minimum, sd, integer)
    )
    return _allocation(
        size, None if stratum_sd is None else sd, labeled, size, budget, method, minimum, notes
    )


def allotted(
    size: np.ndarray,
    budget: float,
    method: str,
    floor: int | np.ndarray,
    sd: np.ndarray,
    integer: bool = True,
) -> np.ndarray:
    """Return `allocate` of checked arguments, (H,) array; the floor is a number or one per stratum, (H,)."""
    return _RULES[method](size, budget, floor, sd, integer)


def allotted_above(
    size: np.ndarray,
    budget: int,
    method: str,
    share: float,
    minimum: int,
    sd: np.ndarray,
    rounded: Callable = np.floor,
) -> np.ndarray:
    """Return `allotted` where every stratum keeps a share, rounded, of what it gets in proportion to its size."""
    kept = rounded(np.round(share * allotted(size, budget, "proportional", minimum, sd), 9)).astype(
        np.int64
    )
    return allotted(size, budget, method, np.maximum(np.minimum(minimum, size), kept), sd)


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

    Parameters
    ----------
    stratum_size : (H,) array_like of int
        Items per stratum, N_h >= 1.
    stratum_sd : (H,) array_like of float
        S_h >= 0 with ddof=1.
    current : (H,) array_like of int
        Sampled items per stratum, 0 <= s_h <= N_h; none is added.
    budget : int
        Items to keep, at least sum(min(minimum, s_h)). More than there are keeps all of them.
    minimum : int
        Floor per stratum (a smaller sample is kept completely).
    integer : bool
        With False the sizes stay real numbers: SSR of [1]_.

    Returns
    -------
    Allocation
        `labeled` is what to keep and `bounded` marks the strata that keep all they had.

    Raises
    ------
    ValueError
        If the budget is below the floor or a sample larger than its stratum; names the stratum.

    Notes
    -----
    Minimizes sum (N_h S_h)^2 / n_h over min(minimum, s_h) <= n_h <= s_h, sum n_h = budget: in real numbers
    n_h = t N_h S_h between these limits, in whole numbers the least n_h with t N_h S_h <= sqrt(n_h (n_h + 1)).
    `allocate` with "voila" is the reduction of a census.

    References
    ----------
    .. [1] Nguyen et al., Stratified random sampling from streaming and stored data, EDBT 2019, section 3. Its
       lemma 2 and its one-element rule (lemma 1) hold for real numbers; whole numbers need sqrt(n (n + 1)).

    Examples
    --------
    >>> reduce_sample([1000, 1000, 10], [1, 4, 50], [20, 20, 10], 30)
    Allocation(reduction: 7 + 20 + 3 of 2,010, SE 0.4936)
    """
    size = checks.counts("stratum_size", stratum_size, low=1, copy=False)
    sd = _spread(stratum_sd, size, "voila")
    current = checks.counts("current", current, size=size.size, copy=False)
    checks.at_most("current", current, "stratum_size", size)
    budget, minimum, items, notes = _limited(
        budget, minimum, current, "sampled item", "all are kept"
    )
    if not sd.max() > 0:
        notes.append(Note("data", "no stratum varies: reduced in proportion to size"))
    labeled = reduced(size, sd, current, min(budget, items), minimum, integer)
    return _allocation(size, sd, labeled, current, budget, "reduction", minimum, notes)


def _limited(
    budget: int, minimum: int, most: np.ndarray, item: str, outcome: str
) -> tuple[int, int, int, list[Note]]:
    """Return budget and minimum, checked, how many items there are, and a note where the budget exceeds them."""
    minimum, items = checks.whole("minimum", minimum, 0), int(most.sum())
    budget = checks.whole("budget", budget, 1)
    if budget < minimum * most.size:
        refuse_less(budget, int(np.minimum(minimum, most).sum()), minimum, most.size)
    exceeds = f"the budget of {budget} exceeds the {checks.counted(items, item)}: {outcome}"
    return budget, minimum, items, [Note("design", exceeds)] if budget > items else []


def refuse_less(budget: int, least: int, minimum: int, strata: int) -> None:
    """Raise where a budget is less than what the floors of all strata need together."""
    if budget < least:
        raise checks.WrongValue(
            "budget",
            f"must be at least {least}, {minimum} for each of "
            f"{checks.counted(strata, 'stratum', 'strata')}",
            budget,
        )


def _allocation(
    size: Any, sd: Any, labeled: Any, most: Any, budget: Any, method: Any, minimum: Any, notes: Any
) -> Allocation:
    variance, unused, bounded = _outcome(size, sd, labeled, most, budget)
    if variance == np.inf:
        empty = int(np.flatnonzero((labeled == 0) & (sd > 0))[0])
        notes = [
            *notes,
            Note(
                "undefined", "varies and has no label: the variance is infinite", ("stratum", empty)
            ),
        ]
    for own in (labeled, bounded):  # read-only arrays are not copied again
        own.setflags(write=False)
    return Allocation(labeled, variance, bounded, unused, size, method, sd, minimum, notes=notes)


def _outcome(size: Any, sd: Any, labeled: Any, most: Any, budget: Any) -> tuple:
    """Return the variance, what is left of the budget and which strata are full, reading each block once."""
    variance, unused, bounded = (
        0.0 if sd is not None else math.nan,
        budget,
        np.empty(size.size, bool),
    )
    items = float(size.sum())
    for part in blocks(size.size):
        unused -= labeled[part].sum().item()
        np.greater_equal(labeled[part], most[part], out=bounded[part])
        if sd is not None:
            variance += _part_of_variance(size[part], sd[part], labeled[part], items)
    if isinstance(unused, float) and unused <= 1e-9 * budget:
        unused = 0.0
    return variance, unused, bounded


def unused_notes(unused: float, budget: float) -> tuple[Note, ...]:
    """Return a note where an allocation leaves part of its budget."""
    labels = f"{unused} of {checks.counted(budget, 'label')} {'stays' if unused == 1 else 'stay'}"
    return (
        (Note("design", f"{labels} unused: a stratum is smaller than its share"),) if unused else ()
    )


def allocation_variance(
    stratum_size: ArrayLike, stratum_sd: ArrayLike, labeled: ArrayLike
) -> float:
    """Return the variance of the estimated mean under an allocation.

    Parameters
    ----------
    stratum_size : (H,) array_like of int
    stratum_sd : (H,) array_like of float
        S_h >= 0, ddof=1; a stratum of one item may leave it NaN.
    labeled : (H,) array_like of float
        0 <= n_h <= N_h.

    Returns
    -------
    float
        sum_h W_h^2 (1 - n_h / N_h) S_h^2 / n_h; infinite where a stratum with S_h > 0 has no label.

    Examples
    --------
    >>> round(allocation_variance([100, 100], [.5, .1], [25, 5]), 6)
    0.00235
    """
    size = checks.counts("stratum_size", stratum_size, low=1)
    sd = _spread(stratum_sd, size, "voila")
    labeled = checks.vector("labeled", labeled, size=size.size, low=0, what="stratum")
    checks.refuse(
        "labeled",
        labeled,
        (labeled > 0) & (labeled < LEAST_LABELS),
        f"must be 0 or at least {LEAST_LABELS}",
        "stratum",
    )
    checks.at_most("labeled", labeled, "stratum_size", size)
    items = float(size.sum())
    return float(
        sum(
            _part_of_variance(size[part], sd[part], labeled[part], items)
            for part in blocks(size.size)
        )
    )


def priorities(stratum_size: ArrayLike, stratum_sd: ArrayLike, labeled: ArrayLike) -> np.ndarray:
    """Return N_h S_h / sqrt(k (k + 1)) of strata with k labels, (H,): infinite for k = 0, 0 where all are labeled.

    Its square is what the next label takes from the variance of the estimated total (Wright, Exact optimal sample
    allocation, The American Statistician 71, 2017).

    Examples
    --------
    >>> priorities([100, 100, 2], [3.0, 1.0, 50.0], [1, 1, 2]).round(1)
    array([212.1,  70.7,   0. ])
    """
    size, k = np.asarray(stratum_size, float), np.asarray(labeled, float)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(k < size, size * stratum_sd / np.sqrt(k * (k + 1)), 0.0)


def _part_of_variance(size: np.ndarray, sd: np.ndarray, labeled: np.ndarray, items: float) -> float:
    """Return sum (size / items)^2 sd^2 (1 / labeled - 1 / size), without overflow."""
    everything, n = size.astype(float), labeled.astype(float, copy=False)
    odds = everything - n
    if n.min() > 0:
        odds /= n
    else:
        odds = np.divide(odds, n, out=np.where(sd > 0, np.inf, 0.0), where=n > 0)
    weighted = sd / items
    everything *= weighted
    odds *= weighted
    return max(float(everything @ odds), 0.0)


def _spread(stratum_sd: Any, size: Any, method: Any) -> np.ndarray:
    if stratum_sd is None:
        if method in NEED_SD:
            raise checks.WrongValue(
                "stratum_sd",
                f"must be given for method {method!r}; 'proportional' and 'equal' need none",
            )
        return np.zeros(size.size)
    sd = checks.plain_array("stratum_sd", stratum_sd, "stratum")
    if sd.shape == size.shape and sd.dtype.kind == "f" and np.isnan(sd.min()):
        sd = np.where(np.isnan(sd) & (size == 1), 0.0, sd)
    return checks.vector("stratum_sd", sd, size=size.size, low=0, what="stratum", copy=False)


def fill(share: np.ndarray, total: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Return clip(t * share, low, high) that adds up to `total`, solved for t, (..., H) float.

    Where positive shares cannot hold the total the rest goes to the others in proportion to their room.
    Many small problems at once; `fill_one` is for a large one.
    """
    share, low, high = np.broadcast_arrays(np.asarray(share, float), low, high)
    total = np.broadcast_to(np.asarray(total, float)[..., None], (*share.shape[:-1], 1))
    return _spilled(_water(share, total, low, high), total, high)


def fill_one(
    share: np.ndarray, total: float, low: float | np.ndarray, high: float | np.ndarray
) -> np.ndarray:
    """Return `fill` of one row, (H,) float, in a few passes over it; low may exceed high, which then decides."""
    low, high = (np.broadcast_to(limit, share.shape) for limit in (low, high))
    if total >= _capacity(share, low, high):
        return _spilled(_most(share, low, high).astype(float), np.array([total], float), high)
    filled = np.empty(share.size)
    _level(share, total, low, high, ROUNDING * total, filled)
    return filled


def _capacity(share: np.ndarray, low: np.ndarray, high: np.ndarray) -> int:
    """Return the sum of `_most`, without an array of it."""
    idle = np.flatnonzero(share == 0) if share.min() == 0 else slice(0)
    return high.sum() - np.maximum(high[idle] - low[idle], 0).sum()


def _most(share: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    return high if share.min() > 0 else np.where(share > 0, high, np.minimum(low, high))


def _spilled(filled: np.ndarray, total: np.ndarray, high: np.ndarray) -> np.ndarray:
    rest = total - filled.sum(-1, keepdims=True)
    if (rest <= 1e-9 * (total + 1)).all():
        return filled
    room = high - filled
    open_room = room.sum(-1, keepdims=True)
    extra = np.divide(rest, open_room, out=np.zeros_like(rest), where=open_room > 0)
    return np.where(rest > 1e-9 * (total + 1), filled + room * extra, filled)


def _level(share: Any, total: Any, low: Any, high: Any, tolerance: Any, out: Any = None) -> Any:
    """Return t with sum clip(t share, low, high) = total, and the sum of the shares in between; fill `out`.

    Newton's method on an increasing piecewise linear function, exact once it knows the pieces; inside a
    bracket, where a step that leaves it is replaced by the secant, and which is cut when the steps creep.
    """
    below, above, level = (0.0, total), (np.inf, -np.inf), _first_level(share, total, low, high)
    for step in itertools.count(1):
        filled, free = _filled(level, share, low, high, out)
        gap = total - filled
        newton = level + gap / free if free else level
        if abs(gap) <= tolerance:
            return newton if below[0] < newton < above[0] else level, free
        if not free:
            newton = _next_kink(level, gap, share, low, high)
        below, above = ((level, gap), above) if gap > 0 else (below, (level, gap))
        level = newton if below[0] < newton < above[0] else _secant(below, above)
        if step % 8 == 0 or not below[0] < level < above[0]:
            level = _middle(below[0], above[0])
            if not below[0] < level < above[0]:
                return level, free


def _first_level(share: np.ndarray, total: float, low: np.ndarray, high: np.ndarray) -> float:
    """Return a level to start from: for many strata that of a few, in short runs against periods; saves passes."""
    step = share.size // BLOCK
    if step >= 4:
        some, least, most = (_runs(values, step) for values in (share, low, high))
        part = total * (most.sum(dtype=float) / float(high.sum()))
        if np.minimum(least, most).sum() < part < most[some > 0].sum(dtype=float):
            return _level(some, part, least, most, 1e-3 * part)[0]
    return total / share.sum()


def _runs(values: np.ndarray, step: int, length: int = 64) -> np.ndarray:
    """Return a run of entries of every `step`."""
    return (
        values[: values.size // (step * length) * step * length]
        .reshape(-1, step * length)[:, :length]
        .ravel()
    )


def _secant(below: tuple, above: tuple) -> float:
    (start, gap), (end, excess) = below, above
    return start + (end - start) * (gap / (gap - excess)) if np.isfinite(end) else start


def _filled(
    level: float,
    share: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    out: np.ndarray | None = None,
) -> tuple:
    """Return the sum of clip(level share, low, high), kept in `out`, and that of the shares in between."""
    filled = free = 0.0
    reached, clipped = np.empty((2, min(BLOCK, share.size)))
    for part in blocks(share.size):
        x = reached[: part.stop - part.start]
        y = clipped[: x.size] if out is None else out[part]
        _clip(level, share[part], low[part], high[part], x, y)
        filled += float(y.sum())
        free += float(share[part] @ np.equal(x, y, out=x))
    return filled, free


def _clip(
    level: float,
    share: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    reached: np.ndarray,
    out: np.ndarray,
) -> None:
    """Write level share to `reached` and clip(level share, low, high) to `out`; high decides where low exceeds it."""
    with np.errstate(over="ignore"):
        np.multiply(share, level, out=reached)
    np.maximum(reached, low, out=out)
    np.minimum(out, high, out=out)


def _next_kink(
    level: float, gap: float, share: np.ndarray, low: np.ndarray, high: np.ndarray
) -> float:
    """Return the nearest t, up or down, from which the sum changes."""
    moves = (share > 0) & (low < high)
    share, low, high = share[moves], low[moves], high[moves]
    reached = level * share
    with np.errstate(over="ignore"):  # of a share that is hardly above 0
        if gap > 0:
            return (low / share)[reached <= low].min() * (1 + 1e-15)
        return (high / share)[reached >= high].max() * (1 - 1e-15)


def _middle(below: float, above: float) -> float:
    if np.isinf(above):
        return 4 * below
    return math.sqrt(below) * math.sqrt(above) if below else above / 4


def blocks(size: int) -> list:
    """Return slices that fit into the processor's cache."""
    return [slice(start, min(start + BLOCK, size)) for start in range(0, size, BLOCK)]


def _water(share: np.ndarray, total: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Solve sum clip(t share, low, high) = total: bisect log t to find which strata are free, then divide exactly."""
    positive = share > 0
    with np.errstate(divide="ignore", invalid="ignore"):
        full_at = np.log(np.where(positive, high / share, 1.0))
    start, end = full_at.min(-1, keepdims=True) - 45, full_at.max(-1, keepdims=True) + 1
    for _ in range(64):
        middle = (start + end) / 2
        over = np.clip(np.exp(middle) * share, low, high).sum(-1, keepdims=True) > total
        start, end = np.where(over, start, middle), np.where(over, middle, end)
    reached = np.exp(start) * share
    free = positive & (reached > low) & (reached < high)
    fixed = np.where(free, 0, np.clip(reached, low, high)).sum(-1, keepdims=True)
    free_share = np.where(free, share, 0).sum(-1, keepdims=True)
    level = np.divide(total - fixed, free_share, out=np.exp(start), where=free_share > 0)
    return np.clip(np.where(free, level * share, reached), low, high)


def round_to_total(
    real: np.ndarray, total: float | np.ndarray, low: float | np.ndarray, high: float | np.ndarray
) -> np.ndarray:
    """Round rows of reals to whole numbers in [low, high] that add up to `total`, by largest remainders."""
    real, low, high = np.broadcast_arrays(np.asarray(real, float), low, high)
    whole = np.clip(np.floor(real + 1e-9), low, high)
    missing = np.asarray(total)[..., None] - whole.sum(-1, keepdims=True)
    remainder = np.where(
        whole < high, real - whole - np.arange(real.shape[-1]) * 1e-10, -np.inf
    )  # first of equals
    ordered = np.concatenate([np.full_like(missing, np.inf), -np.sort(-remainder, axis=-1)], -1)
    least = np.take_along_axis(ordered, missing.astype(np.int64), -1)
    return (whole + (remainder >= least)).astype(np.int64)


def _rounded(real: Any, size: Any, total: Any, floor: Any, integer: Any) -> np.ndarray:
    return round_to_total(real, total, floor, size) if integer else real


def _shared(share: Any, size: Any, total: Any, minimum: Any, integer: Any) -> np.ndarray:
    return _rounded(
        fill_one(share.astype(float), total, minimum, size), size, total, minimum, integer
    )


def _neyman(
    size: np.ndarray, total: int, minimum: int | np.ndarray, sd: np.ndarray, integer: bool
) -> np.ndarray:
    if not sd.any():
        return _shared(size, size, total, minimum, integer)
    floor, uncapped = np.minimum(minimum, size), np.full(size.size, total)
    real = fill_one(size * (sd / sd.max()), total, floor, uncapped)
    return np.minimum(_rounded(real, uncapped, total, floor, integer), size)


def _neyman_iterated(
    size: np.ndarray, total: int, minimum: int | np.ndarray, sd: np.ndarray, integer: bool
) -> np.ndarray:
    return _rounded(
        reduced(size, sd, size, total, minimum, integer=False), size, total, minimum, integer
    )


def _neyman_plus(
    size: np.ndarray, total: int, minimum: int | np.ndarray, sd: np.ndarray, integer: bool
) -> np.ndarray:
    real = np.minimum(_neyman(size, total, minimum, sd, False), size).astype(float)
    while (left := total - real.sum()) > 1e-9 * total:
        open_strata = real < size
        real = np.minimum(real + np.where(open_strata, left / open_strata.sum(), 0), size)
    return _rounded(real, size, total, minimum, integer)


def reduced(
    size: np.ndarray,
    sd: np.ndarray,
    current: np.ndarray,
    total: float,
    floor: int | np.ndarray,
    integer: bool = True,
) -> np.ndarray:
    """Return `reduce_sample` of checked arguments, sum min(floor, current) <= total <= sum(current), as (H,) array."""
    most = float(sd.max())
    if not most:
        return _shared(size, current, total, floor, integer)
    spread, exact_scale = np.empty(size.size), 2.0 ** min(-math.frexp(most)[1], 1000)
    for part in blocks(size.size):
        scaled = size[part].astype(float)
        scaled *= sd[part] * exact_scale
        spread[part] = scaled
    return (
        _integer_optimum(spread, total, floor, current)
        if integer
        else fill_one(spread, total, floor, current)
    )


def _integer_optimum(spread: Any, total: Any, floor: Any, cap: Any) -> np.ndarray:
    """Return the whole numbers in [floor, cap] adding up to total that minimize sum spread^2 / n.

    The k-th label of a stratum is worth spread / sqrt(k (k - 1)), the first infinitely much. Two levels of
    worth between which the budget runs out leave few labels to choose from, and the best of these are bought.
    """
    limit = np.broadcast_to(floor, spread.shape)
    if total >= _capacity(spread, limit, cap):
        full = _most(spread, limit, cap)
        return round_to_total(fill_one(cap - full + 1.0, total, full, cap), total, full, cap)
    if np.min(floor) == 0:
        cap = _most(spread, limit, cap)
        first = np.maximum(limit, np.minimum(cap, 1))
        if total < first.sum():
            return _give_to_best(limit, np.where(first > limit, spread, -1.0), total)
    labeled, owner, extra = _bracket(
        spread, total, np.broadcast_to(np.maximum(floor, 1), spread.shape), cap
    )
    return _buy(spread, labeled, owner, extra, total)


def _bracket(spread: np.ndarray, total: int, first: np.ndarray, full: np.ndarray) -> tuple:
    """Return an optimum (H,) of at most `total` and what that of a larger total has more: strata and labels."""
    close = min(
        total / 30, math.sqrt(0.05 * spread.size * total)
    )  # what is left after a step is then below H
    level, free = map(float, _level(spread, total, first, full, max(spread.size / 8, close)))
    labeled, owner, change = _bought(level, spread, first, full), [], np.zeros(0, np.int64)
    spent, low, high, reach = int(labeled.sum()), 0.0, math.inf, 1.25
    while spent != total:
        low, high = (level, high) if spent < total else (low, level)
        level, reach = (
            _step(low, high, level, (total - spent) / max(free, 0.01 * total / level), reach),
            4 * reach,
        )
        owner, change = _changes(level, spread, first, full, labeled)
        found = spent + int(change.sum())
        crossed = spent < total <= found or found <= total < spent
        if crossed and (abs(found - spent) <= spread.size or level in (low, high)):
            break
        labeled[owner] += change
        spent = found
    if spent > total:
        labeled[owner] += change
    return labeled, owner, np.abs(change)


def _step(low: float, high: float, level: float, newton: float, reach: float) -> float:
    """Return the next level: the middle of a bracket, or a step, ever longer, to find its other end."""
    if low and high < math.inf:
        middle = _middle(low, high)
        return middle if low < middle < high else high if level == low else low
    return min(max(level + reach * newton, level / (4 * reach)), 4 * reach * level)


def _bought(level: float, spread: np.ndarray, first: np.ndarray, full: np.ndarray) -> np.ndarray:
    """Return the least s >= first with level * spread <= sqrt(s (s + 1)), at most full, (H,) int."""
    counts, buffer = np.empty(spread.size, np.int64), np.empty(min(BLOCK, spread.size))
    for part in blocks(spread.size):
        np.copyto(
            counts[part],
            _bought_part(level, spread[part], first[part], full[part], buffer),
            casting="unsafe",
        )
    return counts


def _changes(
    level: float, spread: np.ndarray, first: np.ndarray, full: np.ndarray, labeled: np.ndarray
) -> tuple:
    """Return the strata of which `_bought` differs from `labeled`, and by how much."""
    owner, change, buffer = [], [], np.empty(min(BLOCK, spread.size))
    for part in blocks(spread.size):
        s = _bought_part(level, spread[part], first[part], full[part], buffer)
        s -= labeled[part]
        where = np.flatnonzero(s != 0)
        owner.append(where + part.start)
        change.append(s[where].astype(np.int64))
    return np.concatenate(owner), np.concatenate(change)


def _bought_part(
    level: float, spread: np.ndarray, first: np.ndarray, full: np.ndarray, buffer: np.ndarray
) -> np.ndarray:
    s = buffer[: spread.size]
    _clip(level, spread, first, full, s, s)
    s *= s
    s += 0.25
    np.sqrt(s, out=s)
    return np.rint(s, out=s)


def _buy(
    spread: np.ndarray, labeled: np.ndarray, owner: np.ndarray, extra: np.ndarray, total: int
) -> np.ndarray:
    """Return `labeled` with the labels of most worth added, `total` in all, of the `extra` ones of `owner`."""
    missing = total - int(labeled.sum())
    if not missing:
        return labeled
    nth = labeled[owner] + 1
    if extra.max() > 1:
        nth = np.repeat(nth - np.cumsum(extra) + extra, extra) + np.arange(extra.sum())
        owner = np.repeat(owner, extra)
    if missing < owner.size:
        owner = owner[np.argpartition(_cost(spread, owner, nth), missing - 1)[:missing]]
    np.add.at(labeled, owner, 1)
    return labeled


def _cost(spread: Any, owner: Any, nth: Any) -> np.ndarray:
    """Return the reciprocal worth of the n-th label of its owner."""
    cost = np.empty(owner.size)
    for part in blocks(owner.size):
        np.sqrt(nth[part] * (nth[part] - 1.0), out=cost[part])
        cost[part] /= spread[owner[part]]
    return cost


def _give_to_best(labeled: np.ndarray, worth: np.ndarray, total: int) -> np.ndarray:
    labeled, best = labeled.copy(), np.argsort(-worth, kind="stable")[: total - labeled.sum()]
    labeled[best] += 1
    return labeled


_RULES: dict[str, Callable[..., np.ndarray]] = {
    "proportional": lambda size, total, floor, sd, integer: _shared(
        size, size, total, floor, integer
    ),
    "equal": lambda size, total, floor, sd, integer: _shared(
        np.ones(size.size), size, total, floor, integer
    ),
    "neyman": _neyman,
    "neyman_plus": _neyman_plus,
    "neyman_iterated": _neyman_iterated,
    "voila": lambda size, total, floor, sd, integer: reduced(size, sd, size, total, floor, integer),
}
