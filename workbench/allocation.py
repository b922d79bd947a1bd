"""Allocating a labeling budget to strata.

References
----------
.. [1] Neyman, On the two different aspects of the representative method, JRSS 97, 1934.
.. [2] Nguyen, Shih, Srivastava, Tirthapura & Xu, Stratified random sampling from streaming and stored
   data, EDBT 2019: VOILA, the optimum when a stratum is smaller than its Neyman share.
.. [3] Wright, Exact optimal sample allocation, The American Statistician 71, 2017: whole numbers.
"""
from dataclasses import dataclass

import numpy as np

from workbench import checks
from workbench.results import Result

METHODS = ("proportional", "equal", "neyman", "neyman_plus", "voila")
NEED_SD = ("neyman", "neyman_plus", "voila")


@dataclass(frozen=True, eq=False, repr=False)
class Allocation(Result):
    """Labels per stratum.

    Attributes
    ----------
    labeled : (H,) array of int, or of float with integer=False
    variance : float
        Of the estimated mean, `allocation_variance`; NaN without `stratum_sd`.
    bounded : (H,) array of bool
        Strata that are labeled completely.
    unused : int or float
        Part of the budget that was not spent.
    stratum_size : (H,) array of int
    method : str
    notes : tuple of str
    """

    labeled: np.ndarray
    variance: float
    bounded: np.ndarray
    unused: float
    stratum_size: np.ndarray
    method: str
    notes: tuple = ()

    def headline(self):
        """Return what is spent and the standard error it buys."""
        error = "" if np.isnan(self.variance) else f", SE {np.sqrt(self.variance):.4g}"
        unused = f", {self.unused:.4g} unused" if self.unused else ""
        shares = " + ".join(f"{n:.4g}" for n in self.labeled) if self.labeled.size <= 12 \
            else f"{self.labeled.sum():,.6g} in {self.labeled.size} strata"
        return f"{self.method}: {shares} of {self.stratum_size.sum():,}{error}{unused}"

    def rows(self):
        """Return stratum, size, labels and whether the stratum is full, one row per stratum."""
        return [{"stratum": h, "size": int(size), "labeled": n, "bounded": full} for h, (size, n, full) in enumerate(
            zip(self.stratum_size, self.labeled.tolist(), self.bounded.tolist(), strict=True))]


def allocate(stratum_size, budget, method="voila", *, stratum_sd=None, minimum=2, integer=True):
    """Allocate a budget of labels to strata.

    Parameters
    ----------
    stratum_size : (H,) array_like of int
        Items per stratum, N_h >= 1.
    budget : int
        Labels in total, at least sum(min(minimum, N_h)). More than there are items gives a census.
    method : {"voila", "neyman", "neyman_plus", "proportional", "equal"}
        - "proportional" (n_h ~ N_h), "equal": capped at N_h, the excess redistributed.
        - "neyman": n_h ~ N_h S_h [1]_, cut at N_h; what is cut stays in `unused`.
        - "neyman_plus": what is cut goes in equal parts to the strata not yet full, repeated.
        - "voila": the optimum under floor and caps [2]_, in whole numbers exactly [3]_.
    stratum_sd : (H,) array_like of float, optional
        Standard deviation within strata, S_h >= 0 with ddof=1; needed by the last three methods.
    minimum : int
        Floor per stratum (a smaller stratum is labeled completely).
    integer : bool
        With False the shares stay real numbers.

    Returns
    -------
    Allocation

    Raises
    ------
    ValueError
        If the budget is below the floor, an sd is missing, negative or not finite; names the stratum.

    Examples
    --------
    >>> allocate([1000, 600, 160, 37], 100, "equal").labeled
    array([25, 25, 25, 25])
    >>> allocate([100, 100], 30, "neyman", stratum_sd=[.5, .1])
    Allocation(neyman: 25 + 5 of 200, SE 0.04848)
    """
    size = checks.counts("stratum_size", stratum_size, low=1)
    checks.choice("method", method, METHODS)
    minimum = checks.whole("minimum", minimum, 0)
    floor = np.minimum(minimum, size)
    budget = checks.whole("budget", budget, 1)
    if budget < floor.sum():
        raise ValueError(f"budget must be at least {floor.sum()}, {minimum} for each of {size.size} strata; "
                         f"got {budget}")
    sd = _spread(stratum_sd, size, method)
    spend = min(budget, int(size.sum()))
    labeled = size * (1 if integer else 1.0) if budget > spend else _RULES[method](size, spend, floor, sd, integer)
    variance = float("nan") if stratum_sd is None else allocation_variance(size, sd, labeled)
    unused = budget - labeled.sum()
    return Allocation(labeled, variance, labeled >= size, unused.item() if integer else max(float(unused), 0.0),
                      size, method, tuple(_notes(size, budget, sd, method)))


def allocation_variance(stratum_size, stratum_sd, labeled):
    """Return the variance of the estimated mean under an allocation.

    Parameters
    ----------
    stratum_size : (H,) array_like of int
    stratum_sd : (H,) array_like of float
        S_h >= 0, ddof=1; only strata of one item may leave it 0 by definition.
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
    sd = checks.vector("stratum_sd", stratum_sd, size=size.size, low=0, what="stratum")
    labeled = checks.vector("labeled", labeled, size=size.size, low=0, what="stratum")
    checks.at_most("labeled", labeled, "stratum_size", size)
    return float(_variance(size, sd, labeled))


def _variance(size, sd, labeled):
    weight = size / size.sum()
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = weight**2 * np.maximum(1 - labeled / size, 0) * sd**2 / labeled
    return np.where(sd == 0, 0.0, terms).sum(-1)


def _spread(stratum_sd, size, method):
    if stratum_sd is not None:
        return checks.vector("stratum_sd", stratum_sd, size=size.size, low=0, what="stratum")
    if method in NEED_SD:
        raise ValueError(f"stratum_sd must be given for method {method!r}; 'proportional' and 'equal' need none")
    return np.zeros(size.size)


def _notes(size, budget, sd, method):
    if budget > size.sum():
        yield f"the budget of {budget} exceeds the {size.sum()} items: a census"
    if method in NEED_SD and not sd.any():
        yield "no stratum varies: allocated in proportion to size"


def fill(share, total, low, high):
    """Return clip(t * share, low, high) that adds up to `total`, solved for t, (..., H) float.

    Where positive shares cannot hold the total the rest goes to the others in proportion to their room.
    """
    share, low, high = np.broadcast_arrays(np.asarray(share, float), low, high)
    total = np.broadcast_to(np.asarray(total, float)[..., None], (*share.shape[:-1], 1))
    filled = _water(share, total, low, high)
    rest = total - filled.sum(-1, keepdims=True)
    room = high - filled
    open_room = room.sum(-1, keepdims=True)
    extra = np.divide(rest, open_room, out=np.zeros_like(rest), where=open_room > 0)
    return np.where(rest > 1e-9 * (total + 1), filled + room * extra, filled)


def _water(share, total, low, high):
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


def round_to_total(real, total, low, high):
    """Round rows of reals to whole numbers in [low, high] that add up to `total`, by largest remainders."""
    real, low, high = np.broadcast_arrays(np.asarray(real, float), low, high)
    whole = np.clip(np.floor(real + 1e-9), low, high)
    missing = np.asarray(total)[..., None] - whole.sum(-1, keepdims=True)
    first_of_equals = np.arange(real.shape[-1]) * 1e-10
    remainder = np.where(whole < high, real - whole - first_of_equals, -np.inf)
    ordered = np.concatenate([np.full_like(missing, np.inf), -np.sort(-remainder, axis=-1)], -1)
    least = np.take_along_axis(ordered, missing.astype(np.int64), -1)
    return (whole + (remainder >= least)).astype(np.int64)


def _rounded(real, size, total, floor, integer):
    return round_to_total(real, total, floor, size) if integer else real


def _proportional(size, total, floor, sd, integer):
    return _rounded(fill(size, total, floor, size), size, total, floor, integer)


def _equal(size, total, floor, sd, integer):
    return _rounded(fill(np.ones(size.size), total, floor, size), size, total, floor, integer)


def _neyman(size, total, floor, sd, integer):
    if not sd.any():
        return _proportional(size, total, floor, sd, integer)
    uncapped = np.full(size.size, total)
    real = fill(size * sd, total, floor, uncapped)
    return np.minimum(_rounded(real, uncapped, total, floor, integer), size)


def _neyman_plus(size, total, floor, sd, integer):
    real = np.minimum(_neyman(size, total, floor, sd, False), size).astype(float)
    while (left := total - real.sum()) > 1e-9 * total:
        open_strata = real < size
        real = np.minimum(real + np.where(open_strata, left / open_strata.sum(), 0), size)
    return _rounded(real, size, total, floor, integer)


def _voila(size, total, floor, sd, integer):
    if not sd.any():
        return _proportional(size, total, floor, sd, integer)
    if not integer:
        return fill(size * sd, total, floor, size)
    return _integer_optimum(size, size * sd, total, floor)


def _integer_optimum(size, spread, total, floor):
    """Return the whole numbers in [floor, size] adding up to total that minimize sum spread^2 / n.

    The k-th label of a stratum is worth spread / sqrt(k (k - 1)), the first infinitely much: bisect the
    least worth that is still bought, then buy the best of those left (Huntington-Hill apportionment).
    """
    varies = spread > 0
    full = np.where(varies, size, floor)
    if total >= full.sum():
        return round_to_total(fill(size, total, full, size), total, full, size)
    first = np.where(varies, np.maximum(floor, 1), floor)
    if total < first.sum():
        return _give_to_best(floor, np.where(varies & (floor == 0), spread, -1.0), total)

    def bought(worth):
        return np.clip(np.floor((1 + np.sqrt(1 + 4 * (spread / worth) ** 2)) / 2), first, full)

    low, high = np.log((spread[varies] / size[varies]).min()) - 1, np.log(spread.max()) + 1
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if bought(np.exp(middle)).sum() > total else (low, middle)
    labeled = bought(np.exp(high)).astype(np.int64)
    next_worth = np.where(labeled < full, spread / np.sqrt(np.maximum(labeled, 1) * (labeled + 1.0)), -1.0)
    return _give_to_best(labeled, next_worth, total)


def _give_to_best(labeled, worth, total):
    best = np.argsort(-worth, kind="stable")[:total - labeled.sum()]
    labeled = labeled.copy()
    labeled[best] += 1
    return labeled


_RULES = {"proportional": _proportional, "equal": _equal, "neyman": _neyman,
          "neyman_plus": _neyman_plus, "voila": _voila}
