"""Hadamard matrices from four circulants, for orders that no prime power gives.

Let A, B, C, D be circulant matrices of order n with entries +-1 and AA' + BB' + CC' + DD' = 4 n I.
They make a Hadamard matrix of order 4 n [5]_. Symmetric ones (Williamson) were published for 172
[1]_, 92 [2]_, 156 [3]_ and 116 [4]_. The rows below were found again by a search. It considered
only rows that do not change when positions are multiplied by -1, or by 16 for length 39.

References
----------
.. [1] Williamson, Hadamard's determinant theorem and the sum of four squares, Duke Mathematical
   Journal 11, 1944.
.. [2] Baumert, Golomb & Hall, Discovery of an Hadamard matrix of order 92, Bulletin of the AMS 68,
   1962.
.. [3] Baumert & Hall, Hadamard matrices of the Williamson type, Mathematics of Computation 19,
   1965.
.. [4] Baumert, Hadamard matrices of orders 116 and 232, Bulletin of the AMS 72, 1966.
.. [5] Goethals & Seidel, Orthogonal matrices with zero diagonal, Canadian Journal of Mathematics
   19, 1967.
"""

import numpy as np
from numpy import ndarray

ROWS = {
    92: (
        "+--+-+-++++++++++-+-+--",
        "+--++-+-+-++++-+-+-++--",
        "+++---++--++++--++---++",
        "+--+--+++------+++--+--",
    ),
    116: (
        "+--+-++---++++++++++---++-+--",
        "+-+-++---+--++++++--+---++-+-",
        "+++-++-++++---++---++++-++-++",
        "+-+-+----++-++--++-++----+-+-",
    ),
    156: (
        "++-+---+-+----+-+--+-++-+-++++-+-+++-+-",
        "+--++----++--++--+-+-+-+++++++-+-+-+--+",
        "+--+----++-++------++-----+++-++----+--",
        "++-----++--+----++--+++++-+------++--++",
    ),
    172: (
        "+---++--++++-+-+++-++--++-+++-+-++++--++---",
        "++---++++-+--+--++--------++--+--+-++++---+",
        "+++-+-++--+-+-++++-+----+-++++-+-+--++-+-++",
        "++-++++++----+-+--++-++-++--+-+----++++++-+",
    ),
}


def four_circulants(order: int) -> ndarray:
    """Return the Hadamard matrix of an order of `ROWS`, by the array of Goethals and Seidel.

    Parameters
    ----------
    order : {92, 116, 156, 172}

    Returns
    -------
    (order, order) array of +1 and -1

    Examples
    --------
    >>> H = four_circulants(92).astype(int)
    >>> bool((H @ H.T == 92 * np.eye(92)).all())
    True
    """
    n = order // 4
    shift = (np.arange(n) - np.arange(n)[:, None]) % n
    letters = np.array([list(row) for row in ROWS[order]])
    signs = np.where(letters == "+", 1, -1).astype(np.int8)
    a, *further = signs[:, shift]
    br, cr, dr = (circulant[:, ::-1] for circulant in further)
    btr, ctr, dtr = (circulant.T[:, ::-1] for circulant in further)
    blocks = [
        [a, br, cr, dr],
        [-br, a, dtr, -ctr],
        [-cr, -dtr, a, btr],
        [-dr, ctr, -btr, a],
    ]
    return np.block(blocks)
