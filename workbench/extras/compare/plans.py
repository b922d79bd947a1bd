"""Plans of a comparison of two models: the number of items, or the difference that they show."""

import itertools
import math
from collections.abc import Callable, Iterator

import numpy as np
from numpy import ndarray
from scipy.special import ndtri

from workbench import checks
from workbench.checks import WrongValue
from workbench.extras.compare.evidence import Independent
from workbench.intervals.limits import three_moment_tail
from workbench.replication.bounded_intervals import Clusters, Sample
from workbench.replication.bounded_intervals import clusters as clusters_of
from workbench.replication.designs import SurveyDesign
from workbench.replication.replicates import replicates

VALUES, BOUNDS = (-1.0, 0.0, 1.0), (-1.0, 1.0)
RUNS, CLUSTERED_RUNS = 20_000, 2_000
EXACT, OF_CLUSTERS = 1e-3, 1e-2  # relative accuracy of a search; 2,000 runs leave 2% to chance
MOST_ITEMS, MOST_CLUSTERS = 10**7, 10**4
AT_ONCE = 200_000  # clusters of all samples: as many as fit into a processor's cache
LEAST_ICC = 1e-12  # below it, items count as independent


def detectable_difference(
    items: int,
    discordance: float,
    *,
    clusters: int | None = None,
    icc: float = 0.0,
    power: float = 0.8,
    level: float = 0.95,
) -> float:
    """Compute the smallest difference of two accuracies that a number of items can show.

    Use it to plan a comparison of two models on the same items. If the true difference is the one
    returned, its 95% confidence interval is above 0 in 80% of samples. `level` and `power` set
    other percentages.

    Parameters
    ----------
    items : int
        Number of items, at least 2.
    discordance : float
        Proportion of items on which exactly one of the models is correct, above 0 and at most 1.
    clusters : int, optional
        Number of clusters of equal size that hold the items, 2 to 10,000. By default, items are
        independent.
    icc : float, default 0
        Correlation of the differences of two items of one cluster, from 0 to below 1. It needs
        `clusters`.
    power : float, default 0.8
        Proportion of samples that show the difference, from 0.5 to below 1.
    level : float, default 0.95
        Confidence level of the interval, in (0, 1).

    Returns
    -------
    float
        The difference, at most `discordance`. NaN if even that is shown less often than in the
        proportion `power`.

    Raises
    ------
    ValueError
        If an argument is outside its range.

    See Also
    --------
    items_to_detect : Number of items that show a given difference.
    compare_items : Compare models on the same items.

    Notes
    -----
    The chance is simulated with samples of the differences -1, 0 and 1. There are 20,000 samples of
    independent items, or 2,000 of clusters, the same in every call. Each sample has the interval
    that `compare_items` gives a single pair. The common part of a cluster's items comes from a
    Dirichlet distribution with correlation `icc`.

    Examples
    --------
    >>> round(detectable_difference(1000, .1), 3)
    0.029
    """
    items, discordance = checks.whole("items", items, 2), _above_0("discordance", discordance, 1.0)
    power, chance = checks.assurance(power), _chance_shown(items, clusters, icc, level)
    low, high = 0.0, discordance
    if chance(high, discordance) < power:
        return float("nan")
    while high - low > EXACT * high:
        middle = (low + high) / 2
        if chance(middle, discordance) >= power:
            high = middle
        else:
            low = middle
    return high


def items_to_detect(
    difference: float,
    discordance: float,
    *,
    cluster_size: int = 1,
    icc: float = 0.0,
    power: float = 0.8,
    level: float = 0.95,
) -> int:
    """Compute the number of items that show a given difference of two accuracies.

    Use it to plan a comparison of two models on the same items. With this number of items, the 95%
    confidence interval of the difference is above 0 in 80% of samples. `level` and `power` set
    other percentages.

    Parameters
    ----------
    difference : float
        Difference of the accuracies, above 0 and at most `discordance`.
    discordance : float
        Proportion of items on which exactly one of the models is correct, above 0 and at most 1.
    cluster_size : int, default 1
        Items per cluster. Whole clusters are sampled, at most 10,000.
    icc : float, default 0
        Correlation of the differences of two items of one cluster, from 0 to below 1.
    power : float, default 0.8
        Proportion of samples that show the difference, from 0.5 to below 1.
    level : float, default 0.95
        Confidence level of the interval, in (0, 1).

    Returns
    -------
    int
        Number of items, a multiple of `cluster_size`. It is exact to 0.1%, or to 1% for clusters.

    Raises
    ------
    ValueError
        If an argument is outside its range, or more than 10 million items or 10,000 clusters are
        needed.

    See Also
    --------
    detectable_difference : Smallest difference that a number of items can show.
    compare_items : Compare models on the same items.

    Examples
    --------
    >>> items_to_detect(.03, .1)
    914
    """
    discordance, power = _above_0("discordance", discordance, 1.0), checks.assurance(power)
    difference = _above_0("difference", difference, discordance)
    size = checks.whole("cluster_size", cluster_size, 1)
    icc = checks.number("icc", icc, 0, 1)
    z = ndtri((1 + checks.level(level)) / 2)
    z_power = ndtri(power)
    accuracy, most = EXACT, MOST_ITEMS
    if size > 1:
        accuracy, most = OF_CLUSTERS, min(MOST_ITEMS // size, MOST_CLUSTERS)
    needed = discordance * (z + z_power) ** 2 / max(difference, 1 / MOST_ITEMS) ** 2
    low, high, groups = 1, most + 1, needed * (1 + (size - 1) * icc) / size
    if groups > 2 * most:  # certainly too many: no samples needed
        low = most
    for turn in itertools.count(1):
        if high - low <= max(1, accuracy * high):
            break
        step = max(1, int(accuracy * low))
        if turn % 3 == 0:  # halve the range even if the guesses are poor
            groups = min(math.sqrt(low * high), 2 * low)
        groups = round(min(max(groups, low + step), high - step))
        clusters = None if size == 1 else groups
        chance = _chance_shown(groups * size, clusters, icc, level)(difference, discordance)
        if chance >= power:
            high = groups
        else:
            low = groups
        # about the power of a normal estimate, whose distance from 0 grows with sqrt(items)
        distance = z + ndtri(min(max(chance, 1e-4), 1 - 1e-4))
        groups *= min(max((z + z_power) / max(distance, z / 4), 1 / 2), 2) ** 2
    if high > most:
        raise WrongValue(
            "difference", f"must be large enough for {most * size:,} items to show it", difference
        )
    return high * size


def _above_0(name: str, value: float, most: float) -> float:
    if checks.number(name, value, 0, most) == 0:
        raise WrongValue(name, "must be above 0", value)
    return float(value)


def _chance_shown(
    items: int, groups: int | None, icc: float, level: float
) -> Callable[[float, float], float]:
    """Return a function of a difference and a discordance.

    It gives the proportion of samples whose lower limit is above 0.
    """
    tail, icc = (1 - checks.level(level)) / 2, checks.number("icc", icc, 0, 1)
    if icc == 1:
        raise WrongValue("icc", "must be below 1", icc)
    if groups is None and icc:
        raise WrongValue("icc", "needs clusters", icc)
    samples_of: Callable = _of_items(items)
    if groups is not None:
        groups = checks.whole("clusters", groups, 2, min(items, MOST_CLUSTERS))
        samples_of = _of_clusters(items, groups, icc)

    def chance(difference: float, discordance: float) -> float:
        worse, better = max(discordance - difference, 0), discordance + difference
        chances = np.array([worse, 2 * (1 - discordance), better]) / 2
        pvalues = [
            three_moment_tail(sample.moments(0, tail), BOUNDS[1], 0.0)
            for sample in samples_of(chances)
        ]
        return float((np.concatenate(pvalues) < tail).mean())

    return chance


def _of_items(items: int) -> Callable[[ndarray], Iterator[Independent]]:
    """Return a function from the probabilities of the values to the moments of samples."""

    def samples(chances: ndarray) -> Iterator[Independent]:
        worse, _, better = np.random.default_rng(0).multinomial(items, chances, RUNS).T
        mean, square = (better - worse) / items, (better + worse) / items
        second, third = square - mean**2, mean - 3 * mean * square + 2 * mean**3
        yield Independent(items, mean, second, third, np.reshape(BOUNDS, (2, 1)), BOUNDS)

    return samples


def _of_clusters(items: int, groups: int, icc: float) -> Callable[[ndarray], Iterator[Clusters]]:
    size = np.diff(np.arange(groups + 1) * items // groups)
    design = SurveyDesign(np.zeros(groups, int))
    drawn, most = replicates(design, "jkn"), -(-AT_ONCE // groups)

    def samples(chances: ndarray) -> Iterator[Clusters]:
        rng = np.random.default_rng(0)
        for start in range(0, CLUSTERED_RUNS, most):
            counts = _in_clusters(size, chances, icc, min(most, CLUSTERED_RUNS - start), rng)
            sample = Sample.of_counts(VALUES, list(counts), np.ones(1))
            yield clusters_of(design, sample, sample.variance(drawn), BOUNDS)

    return samples


def _in_clusters(
    size: ndarray, chances: ndarray, icc: float, runs: int, rng: np.random.Generator
) -> ndarray:
    """Return the counts of each value in clusters, (3, C, runs)."""
    shape = size.size, runs, len(VALUES)
    of_cluster = np.broadcast_to(chances, shape)
    if icc > LEAST_ICC:
        of_cluster = rng.dirichlet(chances * (1 / icc - 1), shape[:2])
    return np.moveaxis(rng.multinomial(size[:, None], of_cluster), -1, 0)
