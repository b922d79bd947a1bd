"""Seven methods that cut scores into strata, in order of increasing score.

References
----------
.. [1] Kumar & Raj, Classifier risk estimation under limited labeling resources, 2016, section 3.5.
.. [2] Dalenius & Hodges, Minimum variance stratification, JASA 54, 1959: cum sqrt f.
.. [3] Singh, Approximately optimum stratification on the auxiliary variable, JASA 66, 1971: cum
   cbrt f.
.. [4] Hansen, Hurwitz & Madow, Sample survey methods and theory, 1953: equal stratum totals.
"""

import itertools
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy import ndarray
from numpy.random import Generator
from numpy.typing import ArrayLike

from workbench import checks
from workbench.data.scored_items import ScoredItems
from workbench.results import Note, Result, html_table, sentences, stratum_rows

if TYPE_CHECKING:
    from sklearn.mixture import GaussianMixture

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
    """A division of N scored items into K strata.

    `stratify` returns this result.

    Attributes
    ----------
    labels : (N,) array of int
        Stratum of each item, 0 to K - 1 in order of increasing score.
    sizes : (K,) array of int
        Items per stratum, all at least 1.
    edges : (K + 1,) array of float or None
        Scores at which strata begin and end. A stratum is the cell (low, high]; the first one also
        contains its lower edge. None if the strata are not such cells.
    n_strata : int
        Number of strata K, after empty strata were dropped.
    method : str
        Method that cut the strata, or "given".

    See Also
    --------
    stratify : Cut items into strata by their score.
    """

    labels: ndarray
    sizes: ndarray
    edges: ndarray | None
    n_strata: int
    method: str

    def headline(self) -> str:
        """Return the number of strata, their sizes and the method in one sentence."""
        least = self.sizes.min()
        most = self.sizes.max()
        items = checks.counted(most, "item")
        if least < most:
            items = f"{least:,} to {items}"
        strata = checks.counted(self.n_strata, "stratum", "strata")
        strata = f"{strata} of {items} by {self.method}"
        return "; ".join([strata, *sentences(self.notes)])

    def rows(self) -> list[dict]:
        """Return one row per stratum with its size and edges.

        Strata are numbered from 1 here, but from 0 in `labels`.
        """
        edges = self.edges
        if edges is None:
            edges = np.full(self.n_strata + 1, np.nan)
        return stratum_rows(
            size=self.sizes,
            above=edges[:-1],
            up_to=edges[1:],
        )

    def _repr_html_(self) -> str:
        return html_table(self.rows(), self.headline())  # the caption contains the notes


def stratify(
    score: ArrayLike,
    n_strata: int,
    method: str = "cum_sqrt_f",
    *,
    rng: int | Generator = 0,
) -> Strata:
    """Cut items into strata by their score.

    Items with similar scores are similar in their accuracy, so strata of scores make an estimate
    more precise. All methods except "equal_size" keep items with equal scores together.

    Parameters
    ----------
    score : (N,) array_like of float
        Score of each item, finite; at least 0 for "weighted_mean". "equal_size" uses only the order
        of the scores.
    n_strata : int
        Number of strata K, at least 1 and at most N.
    method : str, default "cum_sqrt_f"
        Method that cuts the scores: "cum_sqrt_f", "cum_cbrt_f", "weighted_mean", "kmeans", "gmm",
        "equal_size" or "equal_width". See Notes.
    rng : int or numpy.random.Generator, default 0
        Seed or generator. It orders equal scores in "equal_size" and starts "kmeans" and "gmm".

    Returns
    -------
    Strata
        Stratum of each item, with sizes and edges. Empty strata are dropped, and a note says so.

    Raises
    ------
    ValueError
        If a score is not finite, if K is outside its domain, or if all scores are equal and K is
        above 1.

    See Also
    --------
    allocate : Allocate a budget of labels to strata.
    stratified_accuracy : Estimate accuracy from the labels of a stratified sample.
    accuracy_audit : Plan, simulate or analyze an accuracy audit.

    Notes
    -----
    The methods are:

    - "cum_sqrt_f" and "cum_cbrt_f" cut the cumulated square root or cube root of the density into
      equal intervals [1]_ [2]_. The density is a Gaussian kernel estimate with Scott's bandwidth,
      on 512 points from the smallest to the largest score.
    - "weighted_mean" gives all strata the same total score [3]_.
    - "kmeans" is scikit-learn's k-means, on at most 2,048 weighted bins.
    - "gmm" is scikit-learn's Gaussian mixture. It is fitted to at most 10,000 equally spaced order
      statistics and then applied to every item. A stratum need not be an interval.
    - "equal_size" gives all strata the same number of items, up to rounding.
    - "equal_width" cuts the range of the scores into intervals of equal width.

    References
    ----------
    .. [1] Dalenius & Hodges, Minimum variance stratification, JASA 54, 1959: cum sqrt f.
    .. [2] Singh, Approximately optimum stratification on the auxiliary variable, JASA 66, 1971: cum
       cbrt f.
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
    low = float(score.min())
    high = float(score.max())
    if method == "weighted_mean" and low < 0:
        raise checks.WrongValue(
            "score",
            f"must not be negative for method 'weighted_mean'; item {score.argmin()} is {low:g}",
        )
    if n_strata == 1:
        return _cut(score, np.empty(0), 1, method)
    if low == high:
        raise checks.WrongValue(
            "score",
            f"must differ between items to be cut into {n_strata} strata; all are "
            f"{low:g}. If you have no other scores, set {{0}} to 1",
            others=("n_strata",),
        )
    if method == "equal_size":
        return _equal_size(score, n_strata, rng)
    if method == "gmm":
        return _mixture(score, n_strata, rng)
    return _cut(score, _EDGES[method](score, n_strata, rng), n_strata, method)


def _cut(
    score: ndarray,
    inner: ndarray,
    n_strata: int,
    method: str,
) -> Strata:
    """Return the cells (low, high] between inner edges, without the empty ones."""
    labels = np.searchsorted(inner, score, side="left")
    sizes = np.bincount(labels, minlength=n_strata)
    edges = np.hstack([score.min(), inner, score.max()])
    nonempty = np.flatnonzero(sizes)
    if nonempty.size < n_strata:
        labels = np.searchsorted(nonempty, labels)
        edges = np.append(edges[nonempty], edges[-1])
    notes = _dropped(n_strata, nonempty.size)
    return Strata(labels, sizes[nonempty], edges, nonempty.size, method, notes=notes)


def _dropped(n_strata: int, nonempty: int) -> list[Note]:
    empty = n_strata - nonempty
    verb = "was" if empty == 1 else "were"
    text = f"{empty} of {n_strata} strata {verb} empty and dropped"
    return [Note("design", text)] if empty else []


def _density(score: ndarray) -> tuple:
    """Return 512 points of [min, max] and a multiple of the kernel density, by linear binning."""
    nodes = (DENSITY_POINTS - 1) * FINE + 1
    grid, spacing = np.linspace(score.min(), score.max(), nodes, retstep=True)
    position = (score - grid[0]) / spacing
    below = np.minimum(position.astype(np.int64), nodes - 2)
    part = position - below
    mass = np.bincount(below, 1 - part, nodes)
    mass += np.bincount(below + 1, part, nodes)
    bandwidth = score.std(ddof=1) * score.size ** (-1 / 5)
    length = 2 * nodes  # of a circle on which no mass meets its own tail
    steps = np.arange(length)
    distance = np.minimum(steps, length - steps) * spacing
    kernel = np.exp(-0.5 * (distance / bandwidth) ** 2)
    spectrum = np.fft.rfft(mass, length) * np.fft.rfft(kernel)
    smooth = np.fft.irfft(spectrum, length)[:nodes:FINE]
    return grid[::FINE], np.maximum(smooth, 0)


def strata_of(
    items: ScoredItems,
    n_strata: int,
    method: str,
    *,
    rng: int | Generator = 0,
) -> Strata:
    """Return the strata that the items name, in order of names, or else those of `stratify`.

    If there are fewer distinct scores than strata, such as 0 and 1, each score is a stratum. A note
    says so.

    Parameters
    ----------
    items : ScoredItems
        Scored items; `items.by` names their strata, if any.
    n_strata, method
        As in `stratify`. They have no effect if `items.by` names the strata.
    rng
        As in `stratify`.

    Examples
    --------
    >>> from workbench import read_scores
    >>> items = read_scores({"kind": ["b", "a", "b"]}, score="score", by="kind")
    >>> strata_of(items, 5, "equal_size").sizes
    array([1, 2])
    """
    if items.by is None:
        distinct = np.unique(items.score[: 100 * n_strata])
        if distinct.size < n_strata:
            distinct = np.unique(items.score)
        if method != "equal_size" or not 1 < distinct.size < n_strata <= items.score.size:
            return stratify(items.score, n_strata, method, rng=rng)
        text = (
            f"there are only {distinct.size} distinct scores: each is a stratum, instead of "
            f"{n_strata} strata"
        )
        strata = _cut(items.score, distinct[:-1], distinct.size, method)
        return replace(strata, notes=[Note("design", text)])
    names, labels, sizes = np.unique(items.by, return_inverse=True, return_counts=True)
    strata = Strata(labels, sizes, None, sizes.size, "given")
    if sizes.size == 1:
        return strata
    strata_sizes = zip(names, sizes, strict=True)
    listed = checks.listed((f"{name} ({size:,})" for name, size in strata_sizes), 12)
    return replace(strata, notes=[Note("design", f"strata are given: {listed}")])


def refuse_given(items: ScoredItems) -> None:
    """Raise an error if strata are given that the question cannot use."""
    if items.by is not None:
        raise ValueError(
            "strata from a column can be used for the accuracy only; metrics of a class and "
            "differences cut their strata from scores"
        )


def stratify_part(
    score: ndarray,
    n_strata: int,
    method: str,
    part: str,
    *,
    rng: int | Generator,
) -> Strata:
    """Return the `Strata` of some of the items, at most as many as there are distinct scores.

    Parameters
    ----------
    score, n_strata, method
        As in `stratify`.
    part : str
        Description of these items, for the note.
    rng
        As in `stratify`.
    """
    distinct = np.unique(score).size
    strata = stratify(score, min(n_strata, distinct), method, rng=rng)
    if distinct >= n_strata:
        return strata
    items = checks.counted(score.size, "item")
    verb = "has" if score.size == 1 else "have"
    scores = checks.counted(distinct, "distinct score")
    text = f"the {items} {part} {verb} only {scores}, so there are no more strata than that"
    return replace(strata, notes=[*strata.notes, Note("design", text)])


def _root_density_edges(
    power: float,
    score: ndarray,
    n_strata: int,
    rng: Generator,
) -> ndarray:
    grid, density = _density(score)
    root = density**power
    areas = (root[1:] + root[:-1]) / 2
    total = np.append(0, areas.cumsum())
    return np.interp(_cuts(total[-1], n_strata), total, grid)


def _cuts(total: float, n_strata: int) -> ndarray:
    """Return the inner ends of equal parts of a total, (K - 1,)."""
    return total * np.arange(1, n_strata) / n_strata


def _equal_total_edges(score: ndarray, n_strata: int, rng: Generator) -> ndarray:
    ordered = np.sort(score)
    total = ordered.cumsum()
    return ordered[np.searchsorted(total, _cuts(total[-1], n_strata))]


def _equal_width_edges(score: ndarray, n_strata: int, rng: Generator) -> ndarray:
    return np.linspace(score.min(), score.max(), n_strata + 1)[1:-1]


def _kmeans_edges(score: ndarray, n_strata: int, rng: Generator) -> ndarray:
    from sklearn.cluster import KMeans
    from threadpoolctl import threadpool_limits

    points, weight = _weighted_bins(score)
    clusters = min(n_strata, points.size)
    seed = int(rng.integers(2**31))
    with threadpool_limits(1):  # small fits are faster on one thread
        model = KMeans(clusters, n_init=RESTARTS, random_state=seed)
        model.fit(points[:, None], sample_weight=weight)
    center = np.sort(model.cluster_centers_[:, 0])
    return (center[1:] + center[:-1]) / 2


def _weighted_bins(score: ndarray) -> tuple:
    """Return at most `BINS` bin means and their counts, or the scores themselves if they are few.

    Bins are cut at equally spaced scores and at equally spaced ranks. So neither a single far score
    nor many close scores make the bins coarse.
    """
    if score.size <= BINS:
        return np.unique(score, return_counts=True)
    half = BINS // 2
    ranks = np.linspace(0, score.size - 1, half).astype(int)
    ranked = np.partition(score, ranks)[ranks]
    spaced = np.linspace(score.min(), score.max(), half)
    cuts = np.unique(np.append(ranked, spaced))
    bins = np.searchsorted(cuts, score)
    count = np.bincount(bins)
    total = np.bincount(bins, score)
    filled = count > 0
    return total[filled] / count[filled], count[filled]


def _equal_size(score: ndarray, n_strata: int, rng: Generator) -> Strata:
    cut = -(-np.arange(1, n_strata) * score.size // n_strata)
    ordered = np.partition(score, np.append(cut - 1, cut))
    inner = ordered[cut - 1]
    tied_scores = np.unique(inner[inner == ordered[cut]])
    if not tied_scores.size:
        return _cut(score, inner, n_strata, "equal_size")
    labels = np.searchsorted(inner, score)
    tie_order = rng.permutation(score.size)
    for tied_score in tied_scores:
        tied = np.flatnonzero(score == tied_score)
        tied = tied[tie_order[tied].argsort()]
        rank = np.count_nonzero(score < tied_score) + np.arange(tied.size)
        labels[tied] = np.searchsorted(cut, rank, side="right")
    sizes = np.diff(cut, prepend=0, append=score.size)
    text = "some items with equal scores are in different strata, assigned at random"
    return Strata(labels, sizes, None, n_strata, "equal_size", notes=[Note("data", text)])


def _mixture(score: ndarray, n_strata: int, rng: Generator) -> Strata:
    import warnings

    from sklearn.exceptions import ConvergenceWarning
    from sklearn.mixture import GaussianMixture
    from threadpoolctl import threadpool_limits

    sample = np.sort(score)
    if sample.size > MIXTURE_SAMPLE:
        ranks = np.linspace(0, sample.size - 1, MIXTURE_SAMPLE)
        sample = sample[ranks.round().astype(int)]
    components = min(n_strata, np.unique(sample).size)
    seed = int(rng.integers(2**31))
    model = GaussianMixture(components, random_state=seed, reg_covar=1e-6 * sample.var())
    with threadpool_limits(1), warnings.catch_warnings():  # small fits are faster on one thread
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(sample[:, None])
    inner = _decision_points(model, sample[0], sample[-1])
    edges = np.hstack([sample[0], inner, sample[-1]])
    middle = (edges[1:] + edges[:-1]) / 2
    component = model.predict(middle[:, None])[np.searchsorted(inner, score)]
    sizes = np.bincount(component, minlength=n_strata)
    mean = np.bincount(component, score, n_strata) / np.maximum(sizes, 1)
    mean[sizes == 0] = np.inf
    order = np.argsort(mean, kind="stable")
    nonempty = int((sizes > 0).sum())
    notes = _dropped(n_strata, nonempty)
    if not model.converged_:
        text = "GaussianMixture did not converge; the strata are those of its last iteration"
        notes.append(Note("design", text))
    labels = np.argsort(order)[component]
    return Strata(labels, sizes[order][:nonempty], None, nonempty, "gmm", notes=notes)


def _decision_points(model: "GaussianMixture", low: float, high: float) -> ndarray:
    """Return the scores between two ends at which two components are equally likely."""
    mean = model.means_[:, 0] - low
    variance = model.covariances_[:, 0, 0]
    scale = np.log(variance) + mean**2 / variance
    constant = np.log(model.weights_) - scale / 2
    log_likelihoods = np.stack([constant, mean / variance, -0.5 / variance], 1)
    roots = [np.empty(0)]
    for first, second in itertools.combinations(log_likelihoods, 2):
        difference = np.polynomial.Polynomial(first - second)
        roots.append(difference.roots().real)
    points = np.unique(np.concatenate(roots)) + low
    return points[(points > low) & (points < high)]


_square_root_edges = partial(_root_density_edges, 1 / 2)
_cube_root_edges = partial(_root_density_edges, 1 / 3)
_EDGES: dict[str, Callable] = {
    "cum_sqrt_f": _square_root_edges,
    "cum_cbrt_f": _cube_root_edges,
    "weighted_mean": _equal_total_edges,
    "kmeans": _kmeans_edges,
    "equal_width": _equal_width_edges,
}
