"""The order in which strata are labeled: every beginning is a stratified sample."""

import numpy as np
from numpy import ndarray
from numpy.typing import ArrayLike

from workbench import checks

ROUNDS = 2  # labels of each stratum before shares decide: a variance needs two


def labeling_order(stratum_size: ArrayLike, n: int, *, share: ArrayLike | None = None) -> ndarray:
    r"""Return the stratum of each next label.

    Two rounds go through all strata. Then label t, counted from 1, goes to the stratum with the
    largest :math:`t N_h - N n_h`, the one furthest behind its share; the first of equals; a stratum
    without unlabeled items is passed over. The order looks at no label, so the number of labels
    fixes how many each stratum has: every beginning whose length was not chosen by looking at
    labels is a stratified simple random sample.

    Parameters
    ----------
    stratum_size : (H,) array_like of int
        Items per stratum, :math:`N_h` of N.
    n : int
        Labels in total, 0 to N.
    share : (H,) array_like of float, optional
        Wanted shares of the labels, not negative, in any unit; they take the place of :math:`N_h /
        N`.

    Returns
    -------
    (n,) ndarray of int

    Raises
    ------
    ValueError
        If a size is not a whole number, `n` exceeds N, or the shares are negative or all 0.

    Examples
    --------
    >>> labeling_order([10, 30], 10).tolist()
    [0, 1, 0, 1, 1, 1, 1, 1, 1, 0]
    >>> labeling_order([10, 30], 8, share=[1, 1]).tolist()
    [0, 1, 0, 1, 0, 1, 0, 1]
    """
    size = checks.counts("stratum_size", stratum_size)
    total = int(size.sum())
    n = checks.whole("n", n, 0, total)
    if share is None:
        target = size
        unit = total
    else:
        target = checks.vector("share", share, size=size.size, low=0)
        unit = 1
        if not target.any():
            raise checks.WrongValue("share", "must have a positive entry; all are 0")
        target = target / target.sum()
    labeled = np.zeros_like(size)
    order = np.empty(n, np.int64)
    for t in range(n):
        unfinished = labeled < size
        behind = (t + 1) * target - unit * labeled
        least = labeled.min(where=unfinished, initial=n)
        if least < ROUNDS:
            behind = least - labeled
        behind = np.where(unfinished, behind, -np.inf)
        order[t] = behind.argmax()
        labeled[order[t]] += 1
    return order
