"""A stratum and a random key in one number of 64 bits."""

import numpy as np

from workbench.labeling.draws import KEY_BITS as HASH_BITS

KEY_BITS = 44
SHIFT = np.uint64(HASH_BITS - KEY_BITS)
NOTHING_REJECTED = 2**KEY_BITS
MOST_STRATA = 2 ** (64 - KEY_BITS) - 1


def pack(codes: np.ndarray, keys: np.ndarray) -> np.ndarray:
    """Return strata and keys in one number each, which sorts by stratum and then by key."""
    return (codes.view(np.uint64) << np.uint64(KEY_BITS)) | keys


def stratum_of(packed: np.ndarray) -> np.ndarray:
    """Return the strata of packed numbers."""
    return (packed >> np.uint64(KEY_BITS)).view(np.int64)


def key_of(packed: np.ndarray) -> np.ndarray:
    """Return the keys of packed numbers."""
    return packed & np.uint64(NOTHING_REJECTED - 1)


class Run:
    """Sorted packed keys, and where the live ones of each stratum start and end."""

    def __init__(self, packed: np.ndarray, start: np.ndarray, end: np.ndarray) -> None:
        self.packed, self.start, self.end = packed, start, end

    @property
    def live(self) -> np.ndarray:
        """How many keys of each stratum are live."""
        return self.end - self.start
