"""An order of labeling in which the labels are a stratified sample whenever you stop."""

import numpy as np
from numpy import ndarray
from numpy.typing import ArrayLike

from workbench import checks

ROUNDS = 2  # labels of each stratum before proportions decide: a variance needs two


def labeling_order(stratum_size: ArrayLike, n: int, *, share: ArrayLike | None = None) -> ndarray:
    r"""Return the stratum of each label, in an order that lets you stop after any label.

    The order does not depend on the labels. So the first n labels are a stratified simple random
    sample, unless you chose n because of the labels.

    Parameters
    ----------
    stratum_size : (H,) array_like of int
        Items per stratum.
    n : int
        Labels in total, at least 0 and at most the number of items.
    share : (H,) array_like of float, optional
        Relative numbers of labels that the strata should get, at least 0: [1, 1] means equally
        many. By default they are in proportion to stratum size.

    Returns
    -------
    (n,) ndarray of int
        Stratum of each label, numbered from 0.

    Raises
    ------
    ValueError
        If a size is not a whole number, `n` exceeds the number of items, or a `share` is negative
        or all are 0.

    See Also
    --------
    anytime_interval : Compute an interval for accuracy that holds whenever labeling stops.
    allocate : Allocate a budget of labels to strata.

    Notes
    -----
    The first labels go to all strata in turn, two each. Then label t, counted from 1, goes to the
    stratum that is furthest behind its proportion: the one with the largest

    .. math:: t N_h - N n_h

    Stratum h has :math:`N_h` of the N items (with `share`, the part :math:`N_h` of the sum N) and
    :math:`n_h` labels so far. The first of several equal strata gets the label. Strata without
    unlabeled items are left out.

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
