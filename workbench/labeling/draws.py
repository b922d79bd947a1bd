"""The random order in which items are sampled and labeled, the same on every engine.

Within a stratum, items are in the order of a key, the first 60 bits of MD5("seed:id"). So the same
seed samples the same items in any order of the rows. `workbench.labeling_order` returns the stratum
of each next label.
"""

import functools
import hashlib
import itertools
from collections.abc import Iterable, Sequence

import numpy as np
from numpy import ndarray

from workbench import checks
from workbench.data import numbers
from workbench.data.scored_items import ScoredItems
from workbench.labeling.ids import refuse_repeated

try:  # a third of the time of OpenSSL's for a short text
    from _md5 import md5  # type: ignore[import-not-found]
except ImportError:
    md5 = functools.partial(hashlib.md5, usedforsecurity=False)

KEY_BITS = 60
PART = 100_000


def random_keys(ids: Iterable, seed: int | str) -> ndarray:
    """Return the random key of each id, which decides the order of sampling.

    Parameters
    ----------
    ids : iterable of int or str
        Identifiers of the items.
    seed : int
        Seed of the sample.

    Returns
    -------
    (n,) ndarray of int
        First 60 bits of MD5("seed:id").

    Examples
    --------
    >>> random_keys([7, "7"], 0) / 2**60
    array([0.52692087, 0.52692087])
    """
    start = f"{seed}:".encode()
    texts = map(str, ids)
    keys = [np.empty(0, int)]
    while part := list(itertools.islice(texts, PART)):
        digests = [md5(start + text.encode()).digest() for text in part]
        first_words = np.frombuffer(b"".join(digests), ">u8")[::2]
        keys.append((first_words >> (64 - KEY_BITS)).astype(int))
    return np.concatenate(keys)


def seed_of(*, rng: int | np.random.Generator) -> int:
    """Return a seed, or a random one from a generator."""
    if isinstance(rng, np.random.Generator):
        return int(rng.integers(2**63))
    return checks.seed("rng", rng)


def id_texts(items: ScoredItems, index: ndarray | slice = slice(None)) -> list[str]:
    """Return the identifiers of items as text, by default the numbers of their rows from 1."""
    if items.id is None:
        rows = np.arange(1, items.size + 1)[index]
        return list(map(str, rows.tolist()))
    return numbers.as_text(items.id[index])


def items_in_turn(
    ids: Sequence,
    stratum: ndarray,
    turns: ndarray,
    seed: int,
) -> ndarray:
    """Return the item that is labeled at each turn.

    It is the next item of that turn's stratum in the order of the keys; equal keys are in the order
    of the rows.

    Parameters
    ----------
    ids : (N,) sequence of int or str
        Identifiers, each once. Equal ids have equal keys, and would be sampled together.
    stratum : (N,) array of int
        Stratum of each item.
    turns : (n,) array of int
        Stratum of each next label.
    seed : int
        Seed of the sample.

    Returns
    -------
    (n,) ndarray of int
        Positions of the items.

    Examples
    --------
    >>> items_in_turn(["a", "b", "c"], np.array([0, 1, 1]), np.array([1, 0, 1]), seed=0).tolist()
    [1, 0, 2]
    """
    keys = random_keys(ids, seed)
    size = np.bincount(stratum)
    labels = np.bincount(turns, minlength=size.size)
    # nearly always enough; four bytes each, as items come by the million
    enough = labels + 10 * np.sqrt(labels) + 10
    share = enough / np.maximum(size, 1)
    bound = (np.minimum(share, 1) * 2.0**KEY_BITS).astype(np.float32)
    likely = np.flatnonzero(keys < bound[stratum])
    if (np.bincount(stratum[likely], minlength=size.size) < labels).any():
        likely = np.arange(stratum.size)
    drawn = keys[likely]
    keys.sort()
    if (keys[1:] == keys[:-1]).any():
        refuse_repeated(ids)
    by_stratum = likely[np.lexsort((drawn, stratum[likely]))]
    unused = np.bincount(stratum[likely], minlength=size.size) - labels
    before = np.repeat(np.cumsum(unused) - unused, labels)
    order = np.empty(turns.size, int)
    by_turn = np.argsort(turns, kind="stable")
    order[by_turn] = by_stratum[before + np.arange(turns.size)]
    return order
