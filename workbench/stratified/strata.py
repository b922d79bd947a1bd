"""Seven ways to cut scores into strata, by rising score.

References
----------
.. [1] Kumar & Raj, Classifier risk estimation under limited labeling resources, 2016, section 3.5.
.. [2] Dalenius & Hodges, Minimum variance stratification, JASA 54, 1959: cum sqrt f.
.. [3] Singh, Approximately optimum stratification on the auxiliary variable, JASA 66, 1971: cum cbrt f.
.. [4] Hansen, Hurwitz & Madow, Sample survey methods and theory, 1953: equal stratum totals.
"""

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from workbench import checks
from workbench.data.scored_items import ScoredItems
from workbench.results import Note, Result, html_table, sentences, stratum_rows

STRATIFIERS = METHODS = (
    "cum_sqrt_f",
    "cum_cbrt_f",
    "weighted_mean",
    "kmeans",
    "gmm",
    "equal_size",
    "equal_width",
)
DENSITY_POINTS = 512
FINE = 8
BINS = 2048
MIXTURE_SAMPLE = 10_000
RESTARTS = 20


class Strata(Result):
    """A stratification of N scored items.

    Attributes
    ----------
    labels : (N,) array of int
        Stratum of each item, 0 to K - 1 by rising score.
    sizes : (K,) array of int
        Items per stratum, all at least 1.
    edges : (K + 1,) array of float or None
        Cells are (low, high], the first closed below; None where strata are not such cells.
    n_strata : int
        K, after empty strata were dropped.
    method : str
    """

    labels: np.ndarray
    sizes: np.ndarray
    edges: np.ndarray | None
    n_strata: int
    method: str

    def headline(self) -> str:
        """Return number, rule and sizes in one sentence."""
        sizes = (
            f"{self.sizes.min():,}"
            if self.sizes.min() == self.sizes.max()
            else f"{self.sizes.min():,} to {self.sizes.max():,}"
        )
        items = "item" if self.sizes.max() == 1 else "items"
        strata = checks.counted(self.n_strata, "stratum", "strata")
        return f"{strata} of {sizes} {items} by {self.method}" + "".join(
            f"; {text}" for text in sentences(self.notes)
        )

    def rows(self) -> list[dict]:
        """Return stratum, counted from 1, size and edges, one row per stratum; `labels` holds the index, from 0."""
        edges = np.full(self.n_strata + 1, np.nan) if self.edges is None else self.edges
        return stratum_rows(size=self.sizes, above=edges[:-1], up_to=edges[1:])

    def _repr_html_(self) -> str:
        return html_table(self.rows(), self.headline())  # the caption says the notes


def stratify(
    score: ArrayLike,
    n_strata: int,
    method: str = "cum_sqrt_f",
    *,
    rng: int | np.random.Generator = 0,
) -> Strata:
    """Cut items into strata by their score.

    Parameters
    ----------
    score : (N,) array_like of float
        Finite; >= 0 for "weighted_mean". Only its order matters to "equal_size".
    n_strata : int
        Strata wanted, 1 <= K <= N.
    method : str
        - "cum_sqrt_f", "cum_cbrt_f": equal intervals of the cumulated square (cube) root of the density,
          a Gaussian kernel estimate with Scott's bandwidth on 512 points of [min, max] [1]_ [2]_.
        - "weighted_mean": equal totals of the score, W_k mean_k = constant [3]_.
        - "kmeans": scikit-learn's k-means, on at most 2,048 weighted bins.
        - "gmm": scikit-learn's Gaussian mixture, fitted to at most 10,000 equally spaced order statistics,
          then applied to every item; strata need not be intervals.
        - "equal_size": ranks cut at ceil(k N / K), ties ordered by `rng`.
        - "equal_width": equal parts of [min, max].
    rng : int or numpy.random.Generator
        Orders ties ("equal_size") and starts "kmeans" and "gmm".

    Returns
    -------
    Strata
        Items with equal scores stay together in every method but "equal_size". Empty strata are dropped
        and `notes` says so.

    Raises
    ------
    ValueError
        If a score is not finite, all scores are equal (K > 1), or K is not a whole number in 1..N.

    References
    ----------
    .. [1] Dalenius & Hodges, Minimum variance stratification, JASA 54, 1959: cum sqrt f.
    .. [2] Singh, Approximately optimum stratification on the auxiliary variable, JASA 66, 1971: cum cbrt f.
    .. [3] Hansen, Hurwitz & Madow, Sample survey methods and theory, 1953: equal stratum totals.

    Examples
    --------
    >>> stratify([.5, .6, .8, .9, 1., 1.], 3, "equal_width").sizes
    array([2, 1, 3])
    """
    score = checks.vector("score", score, what="item")
    n_strata = checks.whole("n_strata", n_strata, 1, score.size)
    checks.choice("method", method, METHODS)
    rng = checks.generator(rng)
    low, high = float(score.min()), float(score.max())
    if method == "weighted_mean" and low < 0:
        raise checks.WrongValue(
            "score",
            f"must not be negative for method 'weighted_mean'; item {score.argmin()} is {low:g}",
        )
    if n_strata == 1:
        return Strata(
            np.zeros(score.size, np.int64), np.array([score.size]), np.array([low, high]), 1, method
        )
    if low == high:
        raise checks.WrongValue(
            "score",
            f"must differ between items to be cut into {n_strata} strata; all are "
            f"{low:g}: without other scores say {{0}} 1",
            others=("n_strata",),
        )
    if method == "equal_size":
        return _equal_size(score, n_strata, rng)
    if method == "gmm":
        return _mixture(score, n_strata, rng)
    return _cut(score, _EDGES[method](score, n_strata, rng), n_strata, method)


def _cut(score: np.ndarray, inner: np.ndarray, n_strata: int, method: str) -> Strata:
    """Return the cells (low, high] between inner edges, without the empty ones."""
    labels = np.searchsorted(inner, score, side="left")
    sizes = np.bincount(labels, minlength=n_strata)
    edges = np.concatenate([[score.min()], inner, [score.max()]])
    kept = np.flatnonzero(sizes)
    if kept.size < n_strata:
        labels = np.searchsorted(kept, labels)
        edges = np.concatenate([edges[kept], edges[-1:]])
    return Strata(
        labels, sizes[kept], edges, int(kept.size), method, notes=_dropped(n_strata, kept.size)
    )


def _dropped(wanted: int, kept: int) -> tuple:
    if kept == wanted:
        return ()
    verb = "was" if wanted - kept == 1 else "were"
    return (Note("design", f"{wanted - kept} of {wanted} strata {verb} empty and dropped"),)


def _density(score: np.ndarray) -> tuple:
    """Return the 512 grid points of [min, max] and the kernel density there, by linear binning."""
    low, high = score.min(), score.max()
    nodes = (DENSITY_POINTS - 1) * FINE + 1
    spacing = (high - low) / (nodes - 1)
    position = (score - low) * (1 / spacing)
    left = np.minimum(position.astype(np.int64), nodes - 2)
    part = position - left
    mass = np.bincount(left, 1 - part, nodes) + np.bincount(left + 1, part, nodes)
    bandwidth = score.std(ddof=1) * score.size ** (-1 / 5)
    distance = np.minimum(np.arange(2 * nodes), 2 * nodes - np.arange(2 * nodes)) * spacing
    kernel = np.exp(-0.5 * (distance / bandwidth) ** 2)
    smooth = np.fft.irfft(np.fft.rfft(mass, 2 * nodes) * np.fft.rfft(kernel), 2 * nodes)[
        :nodes:FINE
    ]
    scale = score.size * bandwidth * np.sqrt(2 * np.pi)
    return np.linspace(low, high, DENSITY_POINTS), np.maximum(smooth, 0) / scale


def strata_of(
    items: ScoredItems, n_strata: int, method: str, *, rng: int | np.random.Generator = 0
) -> Strata:
    """Return the strata that are given with scored items, in the order of their names, or those cut by `stratify`.

    Fewer distinct scores than strata, such as right or wrong, are not cut by lot: each is one, and a note says so.

    Parameters
    ----------
    items : ScoredItems
    n_strata, method
        As in `stratify`; without effect where `items.by` says the strata.
    rng
        As in `stratify`.

    Examples
    --------
    >>> from workbench import read_scores
    >>> strata_of(read_scores({"kind": ["b", "a", "b"]}, score="score", by="kind"), 5, "equal_size").sizes
    array([1, 2])
    """
    if items.by is None:
        few = np.unique(items.score[: 100 * n_strata])
        few = np.unique(items.score) if few.size < n_strata else few
        if method != "equal_size" or not 1 < few.size < n_strata <= items.score.size:
            return stratify(items.score, n_strata, method, rng=rng)
        note = Note(
            "design",
            f"there are {few.size} distinct scores: each is a stratum, in the place of {n_strata} "
            "strata",
        )
        return replace(_cut(items.score, few[:-1], few.size, method), notes=[note])
    names, labels, sizes = np.unique(items.by, return_inverse=True, return_counts=True)
    shown = checks.listed(
        (f"{name} ({size:,})" for name, size in zip(names, sizes, strict=True)), 12
    )
    return Strata(
        labels,
        sizes,
        None,
        int(sizes.size),
        "given",
        notes=[Note("design", f"strata are given: {shown}")] if sizes.size > 1 else (),
    )


def refuse_given(items: ScoredItems) -> None:
    """Raise where strata are given that a question cannot use."""
    if items.by is not None:
        raise ValueError(
            "strata by a column belong to the accuracy; metrics of a class and differences cut theirs "
            "from scores"
        )


def stratify_part(
    score: np.ndarray, n_strata: int, method: str, part: str, *, rng: int | np.random.Generator
) -> Strata:
    """Return the `Strata` of some of the items, at most as many as these have distinct scores; a note says so.

    Parameters
    ----------
    score, n_strata, method
        As in `stratify`.
    part : str
        What these items are, for the note.
    rng
        As in `stratify`.
    """
    distinct = np.unique(score).size
    found = stratify(score, min(n_strata, distinct), method, rng=rng)
    items, have = checks.counted(score.size, "item"), "has" if score.size == 1 else "have"
    few = [
        Note(
            "design",
            f"the {items} {part} {have} {checks.counted(distinct, 'distinct score')}: no more strata",
        )
    ]
    few *= distinct < n_strata
    return replace(found, notes=[*found.notes, *few])


def _root_density_edges(
    power: float, score: np.ndarray, n_strata: int, rng: np.random.Generator
) -> np.ndarray:
    grid, density = _density(score)
    root = density**power
    total = np.concatenate([[0], np.cumsum((root[1:] + root[:-1]) / 2)])
    return np.interp(total[-1] * np.arange(1, n_strata) / n_strata, total, grid)


def _equal_total_edges(score: np.ndarray, n_strata: int, rng: np.random.Generator) -> np.ndarray:
    ordered = np.sort(score)
    total = ordered.cumsum()
    return ordered[np.searchsorted(total, total[-1] * np.arange(1, n_strata) / n_strata)]


def _kmeans_edges(score: np.ndarray, n_strata: int, rng: np.random.Generator) -> np.ndarray:
    from sklearn.cluster import KMeans

    points, weight = _weighted_bins(score)
    clusters = min(n_strata, points.size)
    fit, _ = _fitted(
        KMeans(clusters, n_init=RESTARTS, random_state=int(rng.integers(2**31))), points, weight
    )
    center = np.sort(fit.cluster_centers_[:, 0])
    return (center[1:] + center[:-1]) / 2


def _weighted_bins(score: np.ndarray) -> tuple:
    """Return at most `BINS` points (bin means) and their counts; the scores themselves if so few differ.

    Bins are cut at equally spaced scores and at equally spaced ranks, so that neither a far score nor a
    crowd makes them coarse.
    """
    if score.size <= BINS:
        return np.unique(score, return_counts=True)
    ranks = np.linspace(0, score.size - 1, BINS // 2).astype(np.int64)
    cuts = np.unique(
        np.concatenate(
            [np.partition(score, ranks)[ranks], np.linspace(score.min(), score.max(), BINS // 2)]
        )
    )
    place = np.searchsorted(cuts, score)
    count, total = np.bincount(place), np.bincount(place, score)
    return total[count > 0] / count[count > 0], count[count > 0]


def _equal_size(score: np.ndarray, n_strata: int, rng: np.random.Generator) -> Strata:
    n = score.size
    cut = -(-np.arange(1, n_strata) * n // n_strata)
    edges = np.concatenate([[score.min()], np.partition(score, cut - 1)[cut - 1], [score.max()]])
    labels = np.searchsorted(edges[1:-1], score, side="left")
    sizes = np.diff(np.concatenate([[0], cut, [n]]))
    if (np.bincount(labels, minlength=n_strata) == sizes).all():
        return Strata(labels, sizes, edges, n_strata, "equal_size")
    key = rng.permutation(n)
    for value in np.unique(edges[1:-1]):
        tied = np.flatnonzero(score == value)
        labels[tied[key[tied].argsort()]] = np.searchsorted(
            cut, (score < value).sum() + np.arange(tied.size), "right"
        )
    note = Note(
        "data", "items with equal scores lie on both sides of a cut and were ordered at random"
    )
    return Strata(labels, sizes, None, n_strata, "equal_size", notes=[note])


def _mixture(score: np.ndarray, n_strata: int, rng: np.random.Generator) -> Strata:
    from sklearn.mixture import GaussianMixture

    ordered = np.sort(score)
    if ordered.size > MIXTURE_SAMPLE:
        ordered = ordered[np.linspace(0, ordered.size - 1, MIXTURE_SAMPLE).round().astype(int)]
    components = min(n_strata, np.unique(ordered).size)
    model = GaussianMixture(
        components, random_state=int(rng.integers(2**31)), reg_covar=1e-6 * ordered.var()
    )
    fit, notes = _fitted(model, ordered)
    breaks = _decision_points(fit, ordered[0], ordered[-1])
    ends = np.concatenate([ordered[:1], breaks, ordered[-1:]])
    component_of_cell = fit.predict((ends[1:, None] + ends[:-1, None]) / 2)
    component = component_of_cell[np.searchsorted(breaks, score, side="left")]
    return _by_mean_score(score, component, n_strata, notes)


def _fitted(model: Any, points: np.ndarray, weight: np.ndarray | None = None) -> tuple:
    """Return the fitted model and a note if it did not converge; small fits are faster on one thread."""
    import warnings

    from sklearn.exceptions import ConvergenceWarning
    from threadpoolctl import threadpool_limits

    weights = {} if weight is None else {"sample_weight": weight}
    with threadpool_limits(1), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ConvergenceWarning)
        model.fit(points[:, None], **weights)
    name = type(model).__name__
    failed = any(issubclass(w.category, ConvergenceWarning) for w in caught)
    return model, (
        Note("design", f"{name} did not converge; its strata are as good as it got"),
    ) * failed


def _decision_points(fit: Any, low: float, high: float) -> np.ndarray:
    """Return the sorted scores in (low, high) where two components of a mixture have equal posterior."""
    mean, variance = fit.means_[:, 0], fit.covariances_[:, 0, 0]
    square, linear = -0.5 / variance, mean / variance
    constant = np.log(fit.weights_) - 0.5 * np.log(variance) - mean**2 / (2 * variance)
    i, j = np.triu_indices(mean.size, 1)
    a, b, c = (term[i] - term[j] for term in (square, linear, constant))
    with np.errstate(divide="ignore", invalid="ignore"):
        pivot = -(b + np.where(b < 0, -1, 1) * np.sqrt(b**2 - 4 * a * c)) / 2
        roots = np.concatenate([pivot / a, c / pivot])
    return np.unique(roots[(roots > low) & (roots < high)])


def _by_mean_score(score: np.ndarray, component: np.ndarray, n_strata: int, notes: tuple) -> Strata:
    size = np.bincount(component, minlength=n_strata)
    mean = np.divide(
        np.bincount(component, score, n_strata), size, out=np.full(n_strata, np.inf), where=size > 0
    )
    order, kept = np.argsort(mean, kind="stable"), int((size > 0).sum())
    labels = np.argsort(order)[component]
    return Strata(
        labels, size[order][:kept], None, kept, "gmm", notes=_dropped(n_strata, kept) + notes
    )


_EDGES: Any = {
    "cum_sqrt_f": partial(_root_density_edges, 1 / 2),
    "cum_cbrt_f": partial(_root_density_edges, 1 / 3),
    "weighted_mean": _equal_total_edges,
    "kmeans": _kmeans_edges,
    "equal_width": lambda score, n_strata, rng: np.linspace(score.min(), score.max(), n_strata + 1)[
        1:-1
    ],
}
