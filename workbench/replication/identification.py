"""Identification systems: ranks of the true class among similarities, and lists of candidates."""

import numpy as np
from numpy import ndarray
from numpy.typing import ArrayLike

from workbench import checks
from workbench.checks import WrongValue


def identification_ranks(
    similarity: ArrayLike, truth: ArrayLike, *, relative: bool = False
) -> ndarray:
    """Return the rank of the true class of each probe.

    A probe is an item to identify, and the gallery holds the known classes. The rank is the number
    of gallery classes that are at least as similar to the probe as its true class. To estimate the
    mean rank, pass the ranks to `replicate_estimate` with "mean". For the proportion with a rank of
    at most n, pass `ranks <= n` with "proportion".

    Parameters
    ----------
    similarity : (m, G) array_like of float
        Similarity of each probe to each class of the gallery; larger means more similar.
    truth : (m,) array_like of int
        Column of each probe's true class, 0 .. G - 1.
    relative : bool, default False
        Whether to divide by the number of probes m, as in [1]_, so that evaluations of different
        sizes are comparable.

    Returns
    -------
    (m,) array of int, or of float if relative
        Rank of each probe; 1 means that the true class is the most similar one.

    See Also
    --------
    identification_candidates : Return the most similar classes of each probe.
    replicate_estimate : Estimate the mean rank and its variance.

    References
    ----------
    .. [1] Micheals & Boult, A stratified methodology for classifier and recognizer evaluation,
       2001: section 2.2.

    Examples
    --------
    >>> identification_ranks([[.9, .2, .4], [.3, .5, .5]], [0, 1])
    array([1, 2])
    >>> identification_ranks([[.9, .2, .4], [.3, .5, .5]], [0, 1], relative=True)
    array([0.5, 1. ])
    """
    similarity = _similarity(similarity)
    truth = checks.counts("truth", truth, size=len(similarity))
    if truth.max() >= similarity.shape[1]:
        row = int(truth.argmax())
        raise WrongValue(
            "truth",
            f"must be a column of similarity, 0 to {similarity.shape[1] - 1}; row {row} "
            f"is {truth[row]}",
        )
    own = np.take_along_axis(similarity, truth[:, None], 1)
    ranks = (similarity >= own).sum(1)
    if relative:
        return ranks / len(ranks)
    return ranks


def identification_candidates(similarity: ArrayLike, count: int) -> ndarray:
    """Return the most similar classes of each probe, the most similar first.

    Ties are broken by the order of the classes.

    Parameters
    ----------
    similarity : (m, G) array_like of float
        As in `identification_ranks`.
    count : int
        Candidates per probe, 1 to G.

    Returns
    -------
    (m, count) array of int
        Columns of `similarity`, the most similar class first.

    See Also
    --------
    identification_ranks : Return the rank of the true class of each probe.
    load_labeled : Read labeled items with candidates from a file.

    Examples
    --------
    >>> identification_candidates([[.9, .2, .4], [.3, .5, .5]], 2)
    array([[0, 2],
           [1, 2]])
    """
    similarity = _similarity(similarity)
    count = checks.whole("count", count, 1, similarity.shape[1])
    return np.argsort(-similarity, axis=1, kind="stable")[:, :count]


def _similarity(similarity: ArrayLike) -> ndarray:
    similarity = checks.plain_array("similarity", similarity)
    if similarity.ndim != 2 or similarity.dtype.kind not in "biuf" or not similarity.size:
        raise WrongValue(
            "similarity",
            "must hold numbers, one row per probe and one column per class; got "
            f"shape {similarity.shape} of {similarity.dtype}",
        )
    checks.refuse_infinite(
        "similarity",
        similarity,
        "row",
        "column",
        between=" ",
    )
    return similarity.astype(float)
