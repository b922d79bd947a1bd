"""The algorithms of Nguyen et al. as printed, to be compared with correct solutions.

References
----------
.. [1] Nguyen, Shih, Srivastava, Tirthapura & Xu, Stratified random sampling from streaming and
   stored data, EDBT 2019: algorithms 1, 2, 3 and 6.
"""

import functools
import itertools

import numpy as np
from numpy import ndarray


def single_ssr(size: ndarray, sd: ndarray, counts: ndarray) -> int:
    """Return the stratum from which algorithm 1 takes a record: that with the smallest N S / s.

    Examples
    --------
    >>> single_ssr(np.array([10, 10]), np.array([1.0, 3.0]), np.array([2, 3]))
    0
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        return int(np.argmin(np.where(counts > 0, size * sd / counts, np.inf)))


def ssr(spread: ndarray, counts: ndarray, total: float, steps: list | None = None) -> ndarray:
    """Return the sizes of algorithm 2, which reduces the strata that are oversized.

    Parameters
    ----------
    spread : (H,) array of float
        N S per stratum, above 0.
    counts : (H,) array of float
        Current sizes.
    total : float
        New budget.
    steps : list, optional
        List to which each call appends the number of strata that it visits.

    Examples
    --------
    >>> ssr(np.array([1.0, 3.0]), np.array([4.0, 2.0]), 4.0)
    array([2., 2.])
    """
    sizes, among = np.array(counts, float), np.ones(len(spread), bool)
    while True:
        _count(steps, among.sum())
        share = total * spread / spread[among].sum()
        over = among & (counts > share)
        if over.sum() == among.sum():
            sizes[among] = share[among]
            return sizes
        total -= counts[among & ~over].sum()
        among = over
        if not among.any():
            return sizes


def _count(steps: list | None, amount: int) -> None:
    if steps is not None:
        steps.append(int(amount))


@np.errstate(divide="ignore", invalid="ignore")
def fast_ssr(spread: ndarray, counts: ndarray, total: float, steps: list | None = None) -> ndarray:
    """Return the sizes of algorithm 3, line by line; IndexError or NaN where it fails.

    Parameters
    ----------
    spread, counts, total
        As in `ssr`.
    steps : list, optional
        List to which each comparison and each step of a loop appends a number.

    Examples
    --------
    >>> fast_ssr(np.array([1.0, 3.0]), np.array([4.0, 2.0]), 4.0)
    array([2., 2.])
    """
    filled = counts / spread

    def compared(a: int, b: int) -> int:
        _count(steps, 1)
        return int(filled[a] > filled[b]) - int(filled[a] < filled[b])

    order = sorted(range(len(spread)), key=functools.cmp_to_key(compared))
    _count(steps, 3 * len(spread))
    suffix = np.cumsum(spread[order][::-1])[::-1]
    sizes, new, sums, i = np.full(len(spread), np.nan), total, suffix[0], 0
    while i < len(spread):
        x = order[i]
        if counts[x] > total * spread[x] / sums:
            break
        sizes[x] = counts[x]
        new -= counts[x]
        after = order[i + 1]  # "which must exist"
        if counts[after] > total * spread[after] / sums:
            total, sums = new, suffix[i + 1]
        i += 1
    for x in order[i:]:
        sizes[x] = total * spread[x] / sums
    return sizes


def best_in_whole_numbers(spread: ndarray, cap: ndarray, total: int) -> tuple[tuple, float]:
    """Return the sizes with the smallest sum of spread^2 / s, and that sum, by trying all.

    The sizes are whole numbers from 0 to `cap` that add up to `total`.

    Examples
    --------
    >>> best_in_whole_numbers(np.array([1.0, 3.0]), np.array([4, 4]), 4)
    ((1, 3), 4.0)
    """
    best: tuple = ()
    least = np.inf
    for sizes in itertools.product(*(range(c + 1) for c in cap)):
        value = cost(spread, np.array(sizes, float)) if sum(sizes) == total else np.inf
        if value < least * (1 - 1e-12):
            best, least = sizes, value
    return best, float(least)


def cost(spread: ndarray, sizes: ndarray) -> float:
    """Return the sum of spread^2 / s, which increases with the variance.

    It is infinite if a stratum that varies has no sample.

    Examples
    --------
    >>> cost(np.array([1.0, 3.0]), np.array([1.0, 3.0]))
    4.0
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        return float(np.where(spread > 0, spread**2 / sizes, 0).sum())


def stream_sample(
    strata: list[int],
    values: list[float],
    keys: list[int],
    budget: int,
    least: int,
    steps: list | None = None,
) -> list[int]:
    """Return the records that algorithm 6 holds at the end, with at least `least` of each stratum.

    Parameters
    ----------
    strata : list of int
        0 .. H - 1, per record.
    values : list of float
    keys : list of int
        Keys that are all different.
    budget : int
    least : int
        0 as printed.
    steps : list, optional
        List to which each record appends the number of records and strata visited, and the
        proportion of its stratum that is held.

    Examples
    --------
    >>> stream_sample([0, 0, 1, 1], [1, 2, 3, 9], [4, 1, 2, 3], 3, 1)
    [1, 2, 3]
    """
    count = max(strata) + 1
    samples: list[list[int]] = [[] for _ in range(count)]
    turned_away = [np.inf] * count
    for t, (h, key) in enumerate(zip(strata, keys, strict=True)):
        if key <= turned_away[h]:
            samples[h].append(t)
        full = sum(map(len, samples)) > budget
        if steps is not None:
            looked = 1 + count if full else 1
            steps.append((looked, len(samples[h]) / strata[: t + 1].count(h)))
        if full:
            out = _cheapest(samples, strata[: t + 1], values[: t + 1], least)
            last = max(samples[out], key=keys.__getitem__)
            samples[out].remove(last)
            turned_away[out] = keys[last]
    return sorted(itertools.chain.from_iterable(samples))


def _cheapest(samples: list, strata: list, values: list, least: int) -> int:
    """Return the stratum with the smallest N S / s among those that hold more than `least`."""

    def cost_of_one(h: int) -> float:
        seen = [value for of, value in zip(strata, values, strict=True) if of == h]
        return len(seen) * (np.std(seen, ddof=1) if len(seen) > 1 else 0.0) / len(samples[h])

    return min(
        (h for h, rows in enumerate(samples) if len(rows) > least), key=cost_of_one, default=0
    )
