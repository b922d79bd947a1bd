"""Strength of arrays by OApackage, version 2.7; `python array_strength.py` writes array_strength.json beside it.

Arrays of ours, some that are not orthogonal, and one that pyDOE3 1.6 offers as orthogonal.

OApackage crashes on more than 2,048 runs and looks at every three columns too, so of wide arrays it is shown WIDEST
columns, spread evenly. An array is recorded by the digest of what OApackage was shown.
"""

import hashlib
import json
from importlib.metadata import version
from pathlib import Path

import numpy as np

PRIME_POWERS = 2, 3, 4, 5, 7, 8, 9, 11, 13, 16
MOST_RUNS = 2048
WIDEST = 200


def shapes():
    """Every prime power up to 16 and every number of runs up to 2,048, with the most columns."""
    for levels in PRIME_POWERS:
        dimension = 2
        while levels**dimension <= MOST_RUNS:
            yield levels, (levels**dimension - 1) // (levels - 1)
            dimension += 1


def shown(array):
    """Return the columns that OApackage looks at."""
    factors = array.shape[1]
    chosen = np.linspace(0, factors - 1, min(factors, WIDEST)).astype(int)
    return np.ascontiguousarray(array[:, chosen], "<i4")


def digest(array):
    """Return a digest of the columns that OApackage looks at."""
    return hashlib.sha256(shown(array).tobytes()).hexdigest()[:16]


def others(peer):
    """Name arrays that are not ours, or not orthogonal."""
    from workbench.replication.arrays import hadamard, orthogonal_array

    once = orthogonal_array(3, 13, method="rotation")
    again = np.concatenate([np.roll(once[:-1], -13, 0), once[-1:]])
    yield "all 26 rotations of 27 runs", np.concatenate([once, again], 1)
    yield "Hadamard matrix without its constant column", (1 - hadamard(12)[:, 1:]) // 2
    yield "pyDOE3 L64(2^31)", peer


def main():
    """Write the file."""
    import oapackage
    import pyDOE3

    from workbench.replication.arrays import orthogonal_array

    found = []
    for levels, factors in shapes():
        for method in ("linear", "rotation"):
            array = orthogonal_array(levels, factors, method=method)
            found.append(
                {
                    "levels": levels,
                    "factors": factors,
                    "runs": len(array),
                    "method": method,
                    "digest": digest(array),
                    "strength": int(oapackage.array_link(shown(array)).strength()),
                }
            )
    named = [
        {
            "name": name,
            "strength": int(oapackage.array_link(shown(array)).strength()),
            "array": array.tolist(),
        }
        for name, array in others(pyDOE3.get_orthogonal_array("L64(2^31)"))
    ]
    text = json.dumps(
        {
            "oapackage": oapackage.__version__,
            "pyDOE3": version("pyDOE3"),
            "arrays": found,
            "others": named,
        },
        separators=(",", ":"),
    )
    Path(__file__).with_suffix(".json").write_text(
        text.replace("{", "\n{") + "\n", encoding="utf-8"
    )


if __name__ == "__main__":
    main()
