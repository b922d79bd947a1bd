"""Confidence intervals for a weighted mean of stratum proportions, A = sum_k W_k q_k.

Five methods share one signature: `stratified_interval(stratum_size, labeled, correct)`.

- ``"default"``: one more unseen unit in the worst place, then the quantile of a beta distribution
  with three matched moments. One stratum of a large population gives Clopper-Pearson. More right labels
  never lower a limit: the lower one is the largest that the outcome would have with no right label in any of
  some strata, the upper one mirrored. Conservative in every search we made (``make search``), without a proof.
- ``"short"``: inverts an estimated mid-P tail; about 14% shorter; the least coverage found is .9156.
- ``"guaranteed"``: proven coverage; pooled Clopper-Pearson for nearly equal weights, else the
  worst-case Chernoff bound. Its width over the default's: 1 for one stratum, .98 to 1.18 for strata of equal
  size with equal labels; where sizes differ, whole numbers are never quite in proportion, and it is 1.03 to 1.7.
- ``"wald"`` and ``"wilson"``: kept for teaching; with few labels they cover far less than they say.

References
----------
.. [1] Clopper & Pearson, The use of confidence or fiducial limits, Biometrika 26, 1934.
.. [2] Fay & Feuer, Confidence intervals for directly standardized rates, Statistics in Medicine 16,
   1997: an unseen unit at the worst weight.
.. [3] Krishnamoorthy & Thomson, Hypothesis testing about proportions in two finite populations,
   The American Statistician 56, 2002: tails at estimated rates.
.. [4] Kabaila & Lloyd, Profile upper confidence limits from discrete data, Australian & New Zealand
   Journal of Statistics 42, 2000.
.. [5] Hoeffding, On the distribution of the number of successes in independent trials, Annals of
   Mathematical Statistics 27, 1956; and Probability inequalities for sums of bounded random
   variables, JASA 58, 1963 (theorem 4: sampling without replacement).
.. [6] Wilson, Probable inference, the law of succession, and statistical inference, JASA 22, 1927.
.. [7] Holm, A simple sequentially rejective multiple test procedure, Scandinavian Journal of Statistics 6, 1979.
"""

import dataclasses
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy
from numpy.typing import ArrayLike

from workbench import checks
from workbench.intervals.limits import limit_of_moments, limiting_stratum, monotone_limit
from workbench.results import Interval, Note, percent

METHODS = ("default", "short", "guaranteed", "wald", "wilson")
EQUAL_WEIGHTS = 1.08
SAME_WEIGHTS = 1e-9  # weights of a file that differ by rounding
MOST_STRATA = (
    30  # of which `weighted_interval` tries sets: measured at most .5 s, with 100 strata 3 s
)
SEARCHED_FROM = 20  # the search for the least coverage drew designs of at least so many labels
LATTICE = 2**14
LONGEST_LATTICE = 2**20
COARSEST_STEP = 8
GRID, PASSES = 9, 2


@dataclass(frozen=True)
class Cells:
    """Independent simple random samples that together estimate a share; rows (..., C) are outcomes.

    The share is known_right + sum_c weight_c * rate_c; weights, `known_right` and `known_wrong` add
    up to one. `unlabeled` is the fraction of the cell that was not labeled, 1 - n_c / N_c.
    """

    weight: np.ndarray
    labeled: np.ndarray
    correct: np.ndarray
    unlabeled: np.ndarray
    known_right: np.ndarray | float = 0.0
    known_wrong: np.ndarray | float = 0.0

    def mirrored(self) -> "Cells":
        """Return the same cells with right and wrong exchanged."""
        return Cells(
            self.weight,
            self.labeled,
            self.labeled - self.correct,
            self.unlabeled,
            self.known_wrong,
            self.known_right,
        )

    def moments(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the estimated share of every outcome and its variance estimate, each (...,) float."""
        rate = self.correct / np.maximum(self.labeled, 1)
        variance = (
            self.weight**2 * self.unlabeled * rate * (1 - rate) / np.maximum(self.labeled - 1, 1)
        )
        return self.known_right + (self.weight * rate).sum(-1), variance.sum(-1)


def stratum_cells(stratum_size: np.ndarray, labeled: np.ndarray, correct: np.ndarray) -> Cells:
    """Return strata as cells; `correct` may have leading axes for many outcomes."""
    size = np.asarray(stratum_size, float)
    return Cells(
        size / size.sum(),
        np.asarray(labeled, float),
        np.asarray(correct, float),
        1 - labeled / size,
    )


def check_sample(
    stratum_size: ArrayLike, labeled: ArrayLike, correct: ArrayLike
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the three arguments as (H,) int arrays, or raise naming the stratum."""
    size = checks.counts("stratum_size", stratum_size, low=1)
    labeled = checks.counts("labeled", labeled, size=size.size)
    correct = checks.counts("correct", correct, size=size.size)
    checks.at_most("correct", correct, "labeled", labeled)
    refuse_few(size, labeled)
    return size, labeled, correct


def check_part(
    stratum_size: ArrayLike, name: str, part: ArrayLike
) -> tuple[np.ndarray, np.ndarray]:
    """Return sizes of strata and how many items of each are meant, as int64, or raise."""
    size = checks.counts("stratum_size", stratum_size, low=1)
    found = checks.counts(name, part, size=size.size)
    checks.at_most(name, found, "stratum_size", size)
    return size, found


def refuse_few(size: np.ndarray, labeled: np.ndarray) -> None:
    """Raise where a stratum has fewer than 2 labels and is not fully labeled, or more labels than items."""
    checks.at_most("labeled", labeled, "stratum_size", size)
    for few in np.flatnonzero((labeled < 2) & (labeled < size))[:1]:
        raise checks.WrongValue(
            "labeled",
            "must be at least 2 in every stratum that is not fully labeled; stratum "
            f"{few} has {labeled[few]} of {size[few]}: label more of it, or plan with fewer strata",
        )


def stratified_interval(
    stratum_size: ArrayLike,
    labeled: ArrayLike,
    correct: ArrayLike,
    *,
    level: float = 0.95,
    method: str = "default",
) -> Interval:
    """Return a confidence interval for a share from a stratified simple random sample.

    Parameters
    ----------
    stratum_size : (H,) array_like of int
        Items per stratum, N_h >= 1.
    labeled : (H,) array_like of int
        Labels per stratum, 2 <= n_h <= N_h (fewer only where the stratum is fully labeled); fixed
        before any label was seen.
    correct : (H,) array_like of int
        Labeled items that were right, 0 <= x_h <= n_h.
    level : float
        Nominal coverage in (0, 1).
    method : {"default", "short", "guaranteed", "wald", "wilson"}

    Returns
    -------
    Interval
        Limits within what the labels prove; all methods but "wald" and "wilson" are rounded outward
        to multiples of 1/N.

    Raises
    ------
    ValueError
        If an argument is out of its domain; names the stratum.

    Examples
    --------
    >>> stratified_interval([360, 359, 360, 359, 359], [20] * 5, [12, 17, 19, 20, 20])
    Interval(0.8075 to 0.9332, 0.95 default)
    >>> stratified_interval([10**7], [20], [17])     # Clopper-Pearson
    Interval(0.6211 to 0.9679, 0.95 default)
    """
    size, labeled, correct = check_sample(stratum_size, labeled, correct)
    checks.choice("method", method, METHODS)
    tail = (1 - checks.level(level)) / 2
    cells = stratum_cells(size, labeled, correct)
    low, high, *exact = _LIMITS[method](size, cells, tail)
    limiting = _limiting(size, cells, tail)
    return Interval(
        low,
        high,
        float(level),
        method,
        limiting,
        notes=_notes(method, level, size, labeled, correct, limiting, all(exact)),
    )


def weighted_interval(
    weight: np.ndarray,
    size: np.ndarray,
    labeled: np.ndarray,
    correct: np.ndarray,
    *,
    level: float = 0.95,
) -> Interval:
    """Return the default interval for a share from strata of known weight and any size, also infinite.

    Weights in proportion to the sizes give the limits of `stratified_interval`. One stratum of infinite size gives
    those of Clopper and Pearson.

    Parameters
    ----------
    weight : (H,) array of float
        Share of the population in each stratum.
    size : (H,) array of float
        Items per stratum; infinite where items were sampled with replacement.
    labeled, correct : (H,) array of float
        As in `stratified_interval`.
    level : float

    Notes
    -----
    With more than `MOST_STRATA` strata the limits are those of `default_limits`, which may be a little
    wider, and a note says so.

    Examples
    --------
    >>> weighted_interval(np.ones(1), np.full(1, np.inf), np.array([20]), np.array([18]))
    Interval(0.683 to 0.9877, 0.95 default)
    """
    in_proportion = np.isfinite(size).all() and np.allclose(
        weight, size / size.sum(), rtol=SAME_WEIGHTS, atol=0
    )
    weight, population = (size / size.sum(), size.sum()) if in_proportion else (weight, np.inf)
    tail = (1 - checks.level(level)) / 2
    cells = Cells(weight, labeled, correct, 1 - labeled / size)
    if size.size > MOST_STRATA:
        low, high, exact = *default_limits(cells, population, tail), False
    else:
        low, high, exact = _limits_of_sets(population, cells, tail)
    limiting = _limiting(weight, cells, tail)
    notes = [*exact_notes(exact), *limiting_notes(weight, labeled, limiting)]
    return Interval(float(low), float(high), float(level), "default", limiting, notes=notes)


def default_limits(cells: Cells, population: float, tail: float) -> tuple:
    """Return lower and upper limits for every outcome of `cells`, each (...,) float: the default's but for one thing.

    The default interval is the shorter where an outcome with fewer right labels has a higher limit, which takes too
    long for thousands of outcomes: `monotone_limits`.
    """
    high = _upper(cells, tail)[0]
    low = 1 - _upper(cells.mirrored(), tail)[0]
    return _in_whole_items(population, cells.labeled, cells.correct, low, high)


def monotone_limits(
    cells_of: Callable[[np.ndarray], Cells],
    labeled: np.ndarray,
    correct: np.ndarray,
    population: float,
    tail: float,
) -> tuple[float, float, bool]:
    """Return the limits of the default interval, which no right label more lowers, and whether they are exact.

    Parameters
    ----------
    cells_of : callable
        Right labels (R, C) of outcomes to their cells.
    labeled, correct : (C,) array
    population : float
        Items, to which the limits are rounded outward; infinite for no rounding.
    tail : float
    """
    (low, exact_low), (high, exact_high) = (
        _monotone_upper(cells_of, labeled, hits, tail) for hits in (labeled - correct, correct)
    )
    return *_in_whole_items(population, labeled, correct, 1 - low, high), exact_low and exact_high


def _in_whole_items(
    population: float, labeled: np.ndarray, correct: np.ndarray, low: Any, high: Any
) -> tuple:
    """Return limits (...,) rounded outward to whole items of a finite population, within what the labels prove."""
    if population == np.inf:
        return low, high
    return _outward(population, low, high, *proven_limits(population, labeled, correct))


def _monotone_upper(
    cells_of: Callable, labeled: np.ndarray, hits: np.ndarray, tail: float
) -> tuple[float, bool]:
    """Return the least upper limit of an outcome and of those with hits alone in some cells, and if it is exact."""
    raised = cells_of(np.where(np.eye(hits.size + 1, hits.size), labeled, hits))
    *estimates, estimate = raised.moments()[0]
    gain = np.where(np.atleast_2d(raised.unlabeled)[0] > 0, estimates - estimate, 0)

    def upper(choice: np.ndarray, known: float) -> np.ndarray:
        return _upper(cells_of(np.where(choice > 0, labeled, hits)), tail, known)[0]

    return monotone_limit(upper, float(estimate), np.where(gain > 0, gain, np.inf)[:, None])[:2]


def proven_limits(population: float, labeled: np.ndarray, correct: np.ndarray) -> tuple:
    """Return the smallest and the largest share that the labels allow, each (...,) float."""
    right = np.asarray(correct).sum(-1)
    wrong = np.asarray(labeled).sum(-1) - right
    return right / population, (population - wrong) / population


def _default(size: np.ndarray, cells: Cells, tail: float) -> tuple:
    return _limits_of_sets(size.sum(), cells, tail)


def _limits_of_sets(population: float, cells: Cells, tail: float) -> tuple:
    return monotone_limits(
        lambda rows: dataclasses.replace(cells, correct=rows),
        cells.labeled,
        cells.correct,
        population,
        tail,
    )


def _limiting(weight: np.ndarray, cells: Cells, tail: float) -> int | None:
    return limiting_stratum(
        weight, cells.labeled, *(_upper(side, tail)[1] for side in (cells.mirrored(), cells))
    )


def _upper(cells: Cells, tail: float, enough: float = np.inf) -> tuple:
    """Return upper limits (...,) and the index of the cell that alone decides each, else -1."""
    n, x = np.broadcast_arrays(cells.labeled, cells.correct)
    rate = x / np.maximum(n, 1)
    spread = rate * (1 - rate)
    return limit_of_moments(
        cells.weight,
        cells.unlabeled,
        n,
        (rate, spread, spread * (1 - 2 * rate)),
        (x == n, np.minimum(x, 1)),
        0.0,
        1.0,
        tail,
        enough=enough,
        known=cells.known_right,
    )


def wald_limits(cells: Cells, tail: float) -> tuple:
    """Return lower and upper limits for every outcome of `cells`, each (...,) float, by standard errors alone."""
    estimate, variance = cells.moments()
    reach = -scipy.special.ndtri(tail) * np.sqrt(variance)
    return np.maximum(estimate - reach, 0), np.minimum(estimate + reach, 1)


def _wilson(size: np.ndarray, cells: Cells, tail: float) -> tuple:
    """Score limits at the effective sample size A(1 - A)/v; with v = 0, at the number of labels."""
    estimate, variance = cells.moments()
    n = estimate * (1 - estimate) / variance if variance > 0 else cells.labeled.sum()
    return tuple(
        map(
            float,
            wilson(estimate, n if cells.unlabeled.any() else np.inf, scipy.special.ndtri(tail)),
        )
    )


def wilson(p: float | np.ndarray, n: float | np.ndarray, z: float | np.ndarray) -> tuple:
    """Return Wilson's score limits (low, high) of shares p of n items at the quantile z [1]_; NaN where n is 0.

    References
    ----------
    .. [1] Wilson, Probable inference, the law of succession, and statistical inference, JASA 22, 1927.

    Examples
    --------
    >>> [round(float(limit), 4) for limit in wilson(0.9, 10, quantile(0.95))]
    [0.5958, 0.9821]
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        center, reach = p + z * z / (2 * n), abs(z) * np.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
        return np.maximum((center - reach) / (1 + z * z / n), 0.0), np.minimum(
            (center + reach) / (1 + z * z / n), 1.0
        )


def quantile(level: float) -> float:
    """Return the normal quantile z of a two-sided interval, P(|Z| <= z) = level.

    Examples
    --------
    >>> round(quantile(0.95), 6)
    1.959964
    """
    return -float(scipy.special.ndtri((1 - checks.level(level)) / 2))


def added_labels(level: float) -> float:
    """Return how many labels of either extreme short intervals add, z^2 / 3.

    Examples
    --------
    >>> round(added_labels(0.95), 4)
    1.2805
    """
    return quantile(level) ** 2 / 3


def holm(pvalues: ArrayLike) -> np.ndarray:
    """Return p-values (P,) adjusted by Holm's rule [1]_; NaN stays NaN and counts as a test never rejected.

    References
    ----------
    .. [1] Holm, A simple sequentially rejective multiple test procedure, Scandinavian Journal of Statistics 6, 1979.

    Examples
    --------
    >>> holm([.01, .04, .03]).round(3).tolist()
    [0.03, 0.06, 0.06]
    """
    pvalues = np.asarray(pvalues, float)
    order = np.argsort(pvalues)  # NaN last: as if never rejected
    stepped = np.maximum.accumulate(pvalues[order] * np.arange(pvalues.size, 0, -1))
    adjusted = np.empty_like(pvalues)
    adjusted[order] = np.minimum(stepped, 1)
    return adjusted


def _from_upper(upper: Callable[[np.ndarray, Cells, float], float]) -> Callable:
    """Return the limits of a method whose lower one is the upper one of the mirrored cells."""

    def limits(size: np.ndarray, cells: Cells, tail: float) -> tuple:
        least, most = proven_limits(size.sum(), cells.labeled, cells.correct)
        if least == most:
            return least, most
        return _outward(
            size.sum(),
            1 - upper(size, cells.mirrored(), tail),
            upper(size, cells, tail),
            least,
            most,
        )

    return limits


def _guaranteed_upper(size: np.ndarray, cells: Cells, tail: float) -> float:
    per_label = cells.weight / cells.labeled
    n = cells.labeled.sum()
    if n * per_label.max() <= EQUAL_WEIGHTS:
        x = cells.correct.sum()
        pooled = (
            1.0 if x == n else max(1 - scipy.special.betaincinv(n - x, x + 1, tail), (x + 1) / n)
        )
        return min(n * per_label.max() * pooled, 1.0)
    return _chernoff_upper(size, cells, tail)


def _chernoff_upper(size: np.ndarray, cells: Cells, tail: float) -> float:
    """Return min over lambda of max{sum W q : sum g(q) >= log(tail) - lambda t}, by weak duality.

    g_k(q) = n_k log(1 - q c_k), or N_k q log(1 - f_k c_k) where q is below the sampling fraction f_k,
    with c_k = 1 - exp(-lambda W_k / n_k): both bound the log moment generating function of the count.
    """
    per_label = cells.weight / cells.labeled
    observed = cells.moments()[0]
    exponent = np.linspace(np.log(0.02 / per_label.max()), np.log(60 / per_label.min()), 40)
    for _ in range(3):
        bounds = _chernoff_bounds(size, cells, per_label, observed, np.exp(exponent), tail)
        best = int(bounds.argmin())
        step = exponent[1] - exponent[0]
        exponent = np.linspace(exponent[best] - step, exponent[best] + step, 40)
    return min(float(bounds.min()), 1.0)


def _chernoff_bounds(
    size: np.ndarray,
    cells: Cells,
    per_label: np.ndarray,
    observed: Any,
    tilt: np.ndarray,
    tail: float,
) -> np.ndarray:
    """Return a valid upper limit for each tilt (T,); every multiplier gives one, bisection the best."""
    exponent = tilt[:, None] * per_label
    c = -np.expm1(-exponent)
    fraction = cells.labeled / size
    floor = np.log(tail) - tilt * observed
    slope = size * _log_moment(fraction, exponent)

    def largest(multiplier: np.ndarray) -> tuple:
        m = multiplier[:, None]
        q = np.clip(1 / c - m * cells.labeled / cells.weight, fraction, 1)
        q = np.where(cells.weight + m * slope <= 0, 0.0, q)
        curve = cells.labeled * _log_moment(q, exponent)
        return q, np.where(q < fraction, q * slope, curve).sum(1)

    low, high = np.full(tilt.size, -60.0), np.full(tilt.size, 30.0)
    for _ in range(60):
        middle = (low + high) / 2
        feasible = largest(np.exp(middle))[1] >= floor
        low, high = np.where(feasible, low, middle), np.where(feasible, middle, high)
    multiplier = np.exp(high)
    q, total = largest(multiplier)
    return (cells.weight * q).sum(1) + multiplier * (total - floor)


def _log_moment(q: np.ndarray, exponent: np.ndarray) -> np.ndarray:
    """Return log(1 - q + q exp(-exponent)), also where the exponential vanishes beside 1."""
    with np.errstate(divide="ignore"):
        return np.logaddexp(np.log1p(-q), np.log(q) - exponent)


def _short_upper(size: np.ndarray, cells: Cells, tail: float) -> float:
    """Return the largest share whose estimated mid-P lower tail still reaches `tail`."""
    steps = _lattice(cells)

    def excess(share: float | np.ndarray) -> np.ndarray:
        return _lower_tail(size, cells, steps, np.atleast_1d(share)) - tail

    low, near = cells.moments()[0], 0.01 / size.sum()
    _, high = proven_limits(size.sum(), cells.labeled, cells.correct)
    for _ in range(PASSES):
        grid = np.linspace(low, high, GRID)
        accepted = np.flatnonzero(excess(grid) >= 0)
        last = accepted[-1] if accepted.size else 0
        low, high = grid[last], grid[min(last + 1, GRID - 1)]
    if high - low <= near or not accepted.size:
        return high
    return min(
        scipy.optimize.brentq(lambda share: excess(share).item(), low, high, xtol=near) + near, high
    )


def _lower_tail(size: np.ndarray, cells: Cells, steps: np.ndarray, share: np.ndarray) -> np.ndarray:
    """Return max over pseudo-counts c = 0, 1 of P(T < t) + P(T = t)/2 at the profile rates, (G,)."""
    masses = (
        _lattice_distribution(size, cells, steps, _profile_rates(cells, share, pseudo))
        for pseudo in (0, 1)
    )
    observed = int((steps * cells.correct).sum())
    return np.maximum(*(mass[:, :observed].sum(1) + mass[:, observed] / 2 for mass in masses))


def _profile_rates(cells: Cells, share: np.ndarray, pseudo: int) -> np.ndarray:
    """Return the (G, H) rates of largest likelihood whose weighted mean is each share."""
    x = cells.correct + pseudo * share[:, None]
    n = cells.labeled + pseudo
    reach = 1e12 * n.max() / cells.weight.min()
    low, high = np.full(share.size, -np.log(reach)), np.full(share.size, np.log(reach))
    for _ in range(70):
        middle = (low + high) / 2
        above = (cells.weight * _root(x, n, _signed(middle), cells.weight)).sum(1) > share
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    return np.clip(_root(x, n, _signed((low + high) / 2), cells.weight), 0, 1)


def _signed(exponent: np.ndarray) -> np.ndarray:
    """Map a real to a multiplier of either sign, exponentially far from 0 and smooth through it."""
    return np.sign(exponent) * np.expm1(np.abs(exponent))


def _root(x: np.ndarray, n: np.ndarray, multiplier: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Return the root in [0, 1] of m W q^2 - (n + m W) q + x = 0."""
    mw = multiplier[:, None] * weight
    b = n + mw
    root = np.sqrt(np.maximum(b**2 - 4 * mw * x, 0))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(b >= 0, 2 * x / (b + root), (b - root) / (2 * mw))


def _lattice(cells: Cells) -> np.ndarray:
    """Return integer steps (H,) proportional to W_h / n_h, exactly where a short lattice allows it."""
    per_label = cells.weight / cells.labeled
    units = np.arange(1, max(int(LATTICE * per_label.min()), 1) + 1)
    scaled = units[:, None] * per_label / per_label.min()
    error = np.abs(np.rint(scaled) / scaled - 1).max(1)
    exact = np.flatnonzero(error < 1e-9)
    scale = units[exact[0] if exact.size else error.argmin()] / per_label.min()
    if not exact.size and scale * per_label.min() < COARSEST_STEP:
        scale = COARSEST_STEP / per_label.min()
    return np.rint(per_label * min(scale, LONGEST_LATTICE)).astype(int)


def _lattice_distribution(
    size: np.ndarray, cells: Cells, steps: np.ndarray, rate: np.ndarray
) -> np.ndarray:
    """Return P(sum_h steps_h X_h = s) for s = 0, 1, ..., a (G, S) array, by fast Fourier transform."""
    length = int((steps * cells.labeled).sum()) + 1
    padded = scipy.fft.next_fast_len(length, real=True)
    spectrum = 1.0
    for h, n in enumerate(cells.labeled.astype(int)):
        placed = np.zeros((rate.shape[0], padded))
        places: Any = slice(None), steps[h] * np.arange(n + 1)
        np.add.at(placed, places, _count_pmf(size[h], rate[:, h], n))
        spectrum = spectrum * scipy.fft.rfft(placed)
    return np.maximum(scipy.fft.irfft(spectrum, padded)[:, :length], 0)


def _count_pmf(size: int, rate: np.ndarray, n: int) -> np.ndarray:
    """Return hypergeometric pmfs (G, n + 1), linear in the number of right items, size * rate."""
    right = size * rate
    whole = np.minimum(np.floor(right), size - 1)
    part = (right - whole)[:, None]
    return (1 - part) * hypergeometric_pmf(size, whole, n) + part * hypergeometric_pmf(
        size, whole + 1, n
    )


def hypergeometric_pmf(size: float, right: np.ndarray, n: int) -> np.ndarray:
    """Return P(X = 0..n) for n draws without replacement from `size` items, `right` of them right.

    Parameters
    ----------
    size : int
        Items, at least n.
    right : (G,) array of float
        Whole numbers from 0 to size.
    n : int
        Draws.

    Returns
    -------
    (G, n + 1) array of float
    """
    right = np.asarray(right, float)[:, None]
    x = np.arange(n + 1)
    possible = (x <= right) & (n - x <= size - right)
    hits, misses = _log_falling(right, size, n), _log_falling(size - right, size, n)[:, ::-1]
    choices = (
        scipy.special.gammaln(n + 1)
        - scipy.special.gammaln(x + 1)
        - scipy.special.gammaln(n - x + 1)
    )
    log_mass = choices + hits + misses - _log_falling(np.full((1, 1), float(size)), size, n)[:, -1:]
    return np.where(possible, np.exp(np.where(possible, log_mass, 0.0)), 0.0)


def _log_falling(start: np.ndarray, size: float, n: int) -> np.ndarray:
    """Return log of start (start - 1) ... (start - k + 1) / size^k for k = 0..n, (G, n + 1)."""
    factors = np.log(np.maximum(start - np.arange(n), 0.5) / size)
    return np.concatenate([np.zeros((factors.shape[0], 1)), factors.cumsum(1)], axis=1)


def _outward(population: float, low: Any, high: Any, least: Any, most: Any) -> tuple:
    """Return limits (...,) rounded outward to whole items, within what the labels prove."""
    low, high = (
        np.floor(low * population + 1e-7) / population,
        np.ceil(high * population - 1e-7) / population,
    )
    return np.clip(low, least, most), np.clip(high, least, most)


def _notes(
    method: Any, level: Any, size: Any, labeled: Any, correct: Any, limiting: Any, exact: Any
) -> Any:
    n, wrong = labeled.sum(), (labeled - correct).sum()
    if method in ("wald", "wilson"):
        yield teaching_note(method, level)
    if method == "short":
        yield Note(
            "unreliable",
            "short does not promise its level: at nominal 95% it covers at least 91% in practice",
        )
        if min(wrong, n - wrong) < 10 or size.size == 1:
            yield Note(
                "unreliable",
                "the rarer outcome was seen fewer than 10 times or there is one stratum: quote "
                "the default beside it",
            )
    if method == "default":
        yield from few_notes(size, labeled)
    yield from exact_notes(exact)
    yield from limiting_notes(size, labeled, limiting)


def few_notes(size: np.ndarray, labeled: np.ndarray, noun: str = "label") -> Iterator[Note]:
    """Yield a note where not fully labeled strata hold fewer labels than the default interval was searched with."""
    sampled = labeled < size
    n, where = labeled[sampled].sum(), "" if sampled.all() else " outside fully labeled strata"
    if n < SEARCHED_FROM and sampled.any():
        yield Note(
            "unreliable",
            f"only {checks.counted(n, noun)}{where}: the default interval was not checked below "
            f"{SEARCHED_FROM}",
        )


def exact_notes(exact: bool) -> Iterator[Note]:
    """Yield a note where a limit is not exact."""
    if not exact:
        yield Note(
            "remark",
            "with so many strata and so few labels not every set of strata was tried: the interval "
            "holds, and may be a little longer than it had to be",
        )


def limiting_notes(size: np.ndarray, labeled: np.ndarray, limiting: int | None) -> Iterator[Note]:
    """Yield a note on the one stratum that alone decides a limit."""
    if limiting is not None:
        share = labeled[limiting] / labeled.sum()
        shares = f"{size[limiting] / size.sum():.1%} of the items but {share:.1%} of the labels"
        yield Note(
            "design",
            f"alone decides a limit: it holds {shares}; more labels there would help most",
            ("stratum", limiting),
        )


def teaching_note(method: str, level: float) -> Note:
    """Return the note of an interval that is kept for teaching."""
    return Note(
        "unreliable",
        f"{method} is for teaching: with few labels it can cover far less than {percent(level)}",
    )


_LIMITS = {
    "default": _default,
    "short": _from_upper(_short_upper),
    "guaranteed": _from_upper(_guaranteed_upper),
    "wilson": _wilson,
    "wald": lambda size, cells, tail: wald_limits(cells, tail),
}
