"""An interval for accuracy that holds at every interim analysis, and whenever labeling stops.

The method bets on each next label. At the true composition of the population, the winnings, mixed
over several rates, are a nonnegative martingale. The interval excludes each number of correct items
against which the bets have won too much [1]_ [2]_. The test is about the total number of correct
items, not about their division among the strata. So the winnings are computed for the division that
is worst for the bets.

References
----------
.. [1] Ville, Etude critique de la notion de collectif, 1939: a nonnegative martingale that starts
   at 1 exceeds 1 / alpha with a chance of at most alpha.
.. [2] Waudby-Smith & Ramdas, Confidence sequences for sampling without replacement, NeurIPS 2020;
   and Estimating means of bounded random variables by betting, JRSS B 86, 2024.
"""

import bisect
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy import ndarray
from numpy.typing import ArrayLike
from scipy import special

from workbench import checks
from workbench.results import Interval

ATOMS = special.expit(np.linspace(-4, 10, 141))  # rates at which bets win
EXPECTED_LABELS = 14  # number of labels that an expected accuracy counts as
TRUSTED = 0.8  # proportion of the bets that follow the expectation
EXPECTED = 0.5, 0.97
NEGLIGIBLE = 12.0  # nats: bets so far behind are left out, which never shortens the interval
TOLERANCE = 1e-4  # nats: error of the worst composition, on the safe side
STEPS = 60
NEARLY_FLAT = 1e-6


def anytime_interval(
    stratum_size: ArrayLike,
    stratum: ArrayLike,
    label: ArrayLike,
    *,
    expected: float | None = None,
    level: float = 0.95,
) -> Interval:
    r"""Compute an interval for accuracy that holds whenever labeling stops.

    Use it if you look at the interval while labeling goes on, and may stop because of it. With the
    probability `level`, all intervals from the first to the last label contain the true accuracy.

    Parameters
    ----------
    stratum_size : (H,) array_like of int
        Items per stratum, at least 1.
    stratum : (n,) array_like of int
        Stratum of each label in the order of labeling, from 0 to H - 1. The order must not depend
        on the labels; use `labeling_order`. Within a stratum, items are sampled at random. May be
        empty.
    label : (n,) array_like of int
        1 if the prediction is correct, 0 if it is incorrect, in the same order.
    expected : float, optional
        Expected accuracy, fixed before labeling. If it is near the truth, the interval is shorter.
        The interval is valid for any value. Values outside .5 to .97 are moved to the nearer end.
    level : float, default 0.95
        Probability that the interval always contains the accuracy, between 0 and 1.

    Returns
    -------
    Interval
        Limits of the accuracy as multiples of 1/N, within the range that the labels leave possible.

    Raises
    ------
    ValueError
        If an argument is outside its domain, or a stratum has more labels than items.

    See Also
    --------
    labeling_order : Return an order of labeling that you can stop at any number of labels.
    stratified_interval : Compute an interval for a number of labels that was fixed beforehand.

    Notes
    -----
    Suppose that T of the N items are correct, :math:`C_h` of them in stratum h with :math:`N_h`
    items. Let :math:`S_t` of the first t labels be correct. Let stratum h have :math:`n_{h,t}` of
    them, :math:`x_{h,t}` of these correct. With

    .. math::
        e_t = \frac{C_h - x_{h,t-1}}{N_h - n_{h,t-1}}, \quad
        m_t = \frac{T - S_{t-1}}{N - t + 1}, \quad
        \lambda_t(p) = \frac{p - m_t}{m_t (1 - m_t)},

    label :math:`y_t` is 1 with the probability :math:`e_t`, and

    .. math:: \prod_t \frac{1 + \lambda_t (y_t - m_t)}{1 + \lambda_t (e_t - m_t)}

    is a nonnegative martingale of mean 1. So is its mixture over p with the weights :math:`w_p`.
    The numerator :math:`R_p(T)` depends only on T. The largest denominator over all C with the sum
    T is :math:`\exp(\Gamma_p(T))`. The interval contains each T with

    .. math:: \sum_p w_p R_p(T) \exp(-\Gamma_p(T)) < 1 / \alpha.

    :math:`\Gamma` is the maximum of a separable concave function. Newton steps find it within the
    box :math:`x_h \le C_h \le N_h - n_h + x_h`, and duality certifies it. That a martingale gives
    such an interval is due to [1]_, and its form for sampling without replacement to [2]_.

    References
    ----------
    .. [1] Ville, Etude critique de la notion de collectif, 1939.
    .. [2] Waudby-Smith & Ramdas, Confidence sequences for sampling without replacement, NeurIPS
       2020.

    Examples
    --------
    >>> anytime_interval([60], [0] * 20, [1] * 9 + [0] + [1] * 3 + [0] + [1] * 5 + [0])
    Interval(0.5833 to 0.95, 0.95 anytime)
    >>> anytime_interval([40, 60], [], [])
    Interval(0 to 1, 0.95 anytime)
    """
    size, stratum, label = _checked(stratum_size, stratum, label)
    level = checks.level(level)
    log_weight = _log_weights(expected)
    limit = -np.log(1 - level)
    total = int(size.sum())
    low = int(label.sum())
    high = total - label.size + low
    if 0 < label.size < total:
        path = _path(size, stratum, label)

        def exact(count: int) -> float:
            return _log_evidence(path, count, log_weight) - limit

        def bound(count: int) -> float:
            wins = log_weight + _log_wins(path, count)
            return np.logaddexp.reduce(wins) - limit

        inside = _first(lambda count: bound(count + 1) >= bound(count), low, high)
        low = _edge(exact, bound, low, inside)
        high = _edge(exact, bound, high, inside)
    return Interval(low / total, high / total, level, "anytime")


def log_evidence(
    stratum_size: ArrayLike,
    stratum: ArrayLike,
    label: ArrayLike,
    total: int,
    *,
    expected: float | None = None,
) -> float:
    """Return log E(T), the smallest winnings of the bets against `total` correct items.

    Parameters
    ----------
    stratum_size, stratum, label
        As in `anytime_interval`, with at least one label.
    total : int
        Hypothetical number of correct items, T.
    expected : float, optional
        As in `anytime_interval`.

    Returns
    -------
    float
        Log winnings; infinite if the labels rule out T.

    Examples
    --------
    >>> labels = [1] * 9 + [0] + [1] * 3 + [0] + [1] * 5 + [0]
    >>> [round(log_evidence([60], [0] * 20, labels, total), 2) for total in (34, 35, 57)]
    [3.47, 2.93, 0.33]
    """
    path = _path(*_checked(stratum_size, stratum, label))
    total = checks.whole("total", total, 0, path.items)
    return float(_log_evidence(path, total, _log_weights(expected)))


def log_winnings(
    stratum_size: ArrayLike,
    right: ArrayLike,
    stratum: ArrayLike,
    label: ArrayLike,
    *,
    expected: float | None = None,
) -> ndarray:
    """Return the log winnings of the bets at the true composition after each label, (n,).

    Simulations use it. The winnings are a martingale of mean 1 and an upper bound of E at the true
    total. So an interval excludes the truth only if the log winnings exceed log(1 / alpha).

    Parameters
    ----------
    stratum_size : (H,) array_like of int
        Items per stratum.
    right : (H,) array_like of int
        Correct items per stratum.
    stratum, label
        As in `anytime_interval`, with at least one label.
    expected : float, optional
        As in `anytime_interval`.

    Examples
    --------
    >>> log_winnings([4, 6], [3, 4], [0, 1, 1], [1, 1, 0]).round(3)
    array([-0.262, -0.167, -0.918])
    """
    path = _path(*_checked(stratum_size, stratum, label))
    correct = checks.counts("right", right, size=path.low.size)
    chance, bet = _bets(path, correct.sum(), ATOMS)
    expected_label = (correct[path.stratum] - path.correct_here) / path.remaining
    won = np.log1p(bet * (path.label - chance))
    won -= np.log1p(bet * (expected_label - chance))
    in_order = won[:, path.order.argsort()].cumsum(1)
    log_weight = _log_weights(expected)[:, None]
    return np.logaddexp.reduce(log_weight + in_order, axis=0)


@dataclass(frozen=True)
class _Path:
    """Labels sorted by stratum, and the counts before each of them."""

    items: int
    labeled: int
    correct: int
    low: ndarray  # the box of C that the labels allow, (H,)
    high: ndarray
    seen: ndarray  # strata that have labels
    first: ndarray  # index of the first label of each
    order: ndarray  # that sorts the labels by stratum, (n,)
    stratum: ndarray
    label: ndarray
    remaining: ndarray  # N_h - n_{h,t-1}
    correct_here: ndarray  # x_{h,t-1}
    items_left: ndarray  # N - t + 1
    correct_before: ndarray  # S_{t-1}


def _checked(
    stratum_size: ArrayLike, stratum: ArrayLike, label: ArrayLike
) -> tuple[ndarray, ndarray, ndarray]:
    size = checks.counts("stratum_size", stratum_size, low=1)
    stratum = checks.plain_array("stratum", stratum, "label")
    if checks.plain_array("label", label, "label").size == stratum.size == 0:
        return size, np.empty(0, np.int64), np.empty(0, np.int64)
    label = checks.zero_one("label", label, what="label").astype(np.int64)
    stratum = checks.counts("stratum", stratum, size=label.size, what="label")
    beyond = stratum >= size.size
    checks.refuse("stratum", stratum, beyond, f"must be at most {size.size - 1}", "label")
    checks.at_most("labels", np.bincount(stratum, minlength=size.size), "stratum_size", size)
    return size, stratum, label


def _path(size: ndarray, stratum: ndarray, label: ndarray) -> _Path:
    items = int(size.sum())
    order = np.argsort(stratum, kind="stable")
    labeled = np.bincount(stratum, minlength=size.size)
    low = np.zeros_like(size)
    np.add.at(low, stratum, label)
    correct_before = (label.cumsum() - label)[order]
    stratum = stratum[order]
    label = label[order]
    seen, first, counts = np.unique(stratum, return_index=True, return_counts=True)
    remaining = size[stratum] - np.arange(label.size) + np.repeat(first, counts)
    correct = label.cumsum() - label
    correct_here = correct - np.repeat(correct[first], counts)
    high = size - labeled + low
    return _Path(
        items,
        label.size,
        int(label.sum()),
        low,
        high,
        seen,
        first,
        order,
        stratum,
        label,
        remaining,
        correct_here,
        items - order,
        correct_before,
    )


def _log_weights(expected: float | None) -> ndarray:
    spread = np.sqrt(ATOMS * (1 - ATOMS))
    weight = spread / spread.sum()
    if expected is not None:
        near = np.clip(checks.number("expected", expected, 0, 1), *EXPECTED)
        likelihood = ATOMS**near * (1 - ATOMS) ** (1 - near)
        informed = likelihood**EXPECTED_LABELS
        trusted = TRUSTED * informed / informed.sum()
        weight = trusted + (1 - TRUSTED) * weight
    return np.log(weight)


def _log_wins(path: _Path, total: int) -> ndarray:
    """Return log R_p(T) of every atom."""
    wrong = path.labeled - path.correct
    sampled = _log_falling(path.items, path.labeled)
    sampled -= _log_falling(total, path.correct)
    sampled -= _log_falling(path.items - total, wrong)
    wins = path.correct * np.log(ATOMS) + wrong * np.log1p(-ATOMS)
    return wins + sampled


def _log_falling(start: int, count: int) -> float:
    return special.gammaln(start + 1.0) - special.gammaln(start - count + 1.0)


def _log_evidence(path: _Path, total: int, log_weight: ndarray) -> float:
    if not path.correct <= total <= path.items - path.labeled + path.correct:
        return np.inf
    wins = log_weight + _log_wins(path, total)
    likely = wins > wins.max() - NEGLIGIBLE
    worst = _worst_composition(path, total, ATOMS[likely])
    return np.logaddexp.reduce(wins[likely] - worst)


def _worst_composition(path: _Path, total: int, atoms: ndarray) -> ndarray:
    """Return upper bounds of Gamma_p(T) that are within `TOLERANCE` of it, (J,)."""
    chance, bet = _bets(path, total, atoms)
    slope = bet / path.remaining
    base = 1 - bet * chance - slope * path.correct_here
    room = path.high - path.low
    rate = (total - path.correct) / max(path.items - path.labeled, 1)
    start = path.low + rate * room
    composition = np.tile(start, (atoms.size, 1))
    bound = np.full(atoms.size, np.inf)
    active = np.arange(atoms.size)
    for _ in range(STEPS):
        growth = slope[active] * composition[:, path.stratum]
        denominator = base[active] + growth
        relative = slope[active] / denominator
        value = np.log(denominator).sum(1)
        gradient = _per_stratum(path, relative)
        curvature = _per_stratum(path, relative**2)
        gap = _gap(path, composition, gradient)
        bound[active] = np.minimum(bound[active], value + gap)
        unsolved = bound[active] - value > TOLERANCE
        if not unsolved.any():
            break
        active = active[unsolved]
        composition = composition[unsolved]
        gradient = gradient[unsolved]
        curvature = curvature[unsolved]
        step = _newton(path, composition, gradient, curvature)
        size = np.sqrt((curvature * step**2).sum(1, keepdims=True))
        damping = np.where(size < 0.25, 1, 1 / (1 + size))
        composition = composition + step * damping
        composition = composition.clip(path.low, path.high)
    return bound


def _bets(path: _Path, total: int, atoms: ndarray) -> tuple:
    """Return the chances m_t (n,) and the bets lambda_t(p) of all atoms (J, n)."""
    chance = (total - path.correct_before) / path.items_left
    spread = chance * (1 - chance)
    none = np.zeros((atoms.size, chance.size))
    distance = atoms[:, None] - chance
    return chance, np.divide(distance, spread, out=none, where=spread > 0)


def _per_stratum(path: _Path, terms: ndarray) -> ndarray:
    """Return the sums (J, H) of terms (J, n)."""
    sums = np.zeros((len(terms), path.low.size))
    sums[:, path.seen] = np.add.reduceat(terms, path.first, axis=1)
    return sums


def _gap(path: _Path, composition: ndarray, gradient: ndarray) -> ndarray:
    """Return a bound on the distance to the maximum, by the best multiplier that is a gradient."""
    excess = gradient[:, None, :] - gradient[:, :, None]
    up = (path.high - composition)[:, None]
    down = (path.low - composition)[:, None]
    room = np.where(excess > 0, up, down)
    return (excess * room).sum(2).min(1)


def _newton(
    path: _Path,
    composition: ndarray,
    gradient: ndarray,
    curvature: ndarray,
) -> ndarray:
    """Return the step to the maximum of the quadratic model in the box, at the same sum of C.

    The maximum is at clip(C + (g - nu) / h) for some multiplier nu. The sum of this falls with nu,
    and is linear between the values of nu at which an entry reaches an end of the box.
    """
    room = np.maximum(path.high - path.low, 1)
    curvature = np.maximum(curvature, NEARLY_FLAT / room**2)
    down = path.low - composition
    up = path.high - composition
    ends = np.concatenate([gradient - curvature * down, gradient - curvature * up], 1)
    ends.sort(1)

    def steps(multiplier: ndarray) -> ndarray:
        excess = gradient[:, None] - multiplier[:, :, None]
        free = excess / curvature[:, None]
        return free.clip(down[:, None], up[:, None])

    moved = steps(ends).sum(2)
    upward = (moved > 0).sum(1, keepdims=True)
    after = np.clip(upward, 1, ends.shape[1] - 1)
    around = np.concatenate([after - 1, after], 1)
    start, end = np.take_along_axis(ends, around, 1).T[..., None]
    above, below = np.take_along_axis(moved, around, 1).T[..., None]
    fall = above - below
    share = np.divide(above, fall, out=np.zeros_like(above), where=fall > 0)
    return steps(start + share * (end - start))[:, 0]


def _first(holds: Callable, low: int, high: int) -> int:
    """Return the first of low, ..., high for which `holds`, or `high`; once true it stays true."""
    return low + bisect.bisect_left(range(low, high), True, key=holds)


def _edge(
    exact: Callable,
    bound: Callable,
    end: int,
    inside: int,
) -> int:
    """Return the last accepted T between `inside` and `end`, the limit that the labels allow.

    `bound` leaves out Gamma, which changes little from one T to the next. Each step corrects it by
    the last difference.
    """
    if exact(end) < 0:
        return end
    toward = 1 if end > inside else -1
    accepted = 0
    refused = abs(end - inside)
    correction = 0.0

    def ruled_out(steps: int) -> bool:
        return bound(inside + toward * steps) + correction >= 0

    while refused - accepted > 1:
        guess = min(_first(ruled_out, accepted + 1, refused), refused - 1)
        evidence = exact(inside + toward * guess)
        correction = evidence - bound(inside + toward * guess)
        if evidence < 0:
            accepted = guess
        else:
            refused = guess
    return inside + toward * accepted
