"""A smaller sample from one that was drawn: its records again, fewer of each stratum."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench import checks
from workbench.allocation import rules
from workbench.allocation.plans import load_strata
from workbench.allocation.streams.estimates import moments
from workbench.data import frames, numbers
from workbench.data.columns import spelled
from workbench.data.safe_csv import original
from workbench.labeling.draws import random_keys
from workbench.labeling.ids import refuse_repeated

WHOLE = 1e-6


@dataclass(frozen=True)
class Reduction:
    """Of `records` those that stay: their rows, and all columns with new weights; and how many of each stratum."""

    records: int
    index: np.ndarray
    columns: dict[str, np.ndarray]
    allocation: rules.Allocation


def smaller_sample(
    sample: Any,
    budget: int,
    *,
    by: str,
    value: str,
    id: str,
    weight: str = "weight",
    strata: Any = "",
    minimum: int = 2,
    seed: int = 0,
) -> Reduction:
    """Return the records that stay where a stratified sample is reduced so that the variance grows least.

    Parameters
    ----------
    sample : str, path or data frame
        A row per sampled record, as `workbench stream` writes it.
    budget : int
        Records to keep.
    by, value, id : str
        Columns of strata, values and identifiers; `value` is not needed with `strata`.
    weight : str
        Column of how many records each stands for; not needed with `strata`.
    strata : str, path or data frame
        A table of strata with sizes and sds; without it sizes are the sums of weights, sds those of
        the sample.
    minimum : int
        Floor per stratum, at least 1.
    seed : int
        The records of a stratum that stay have the smallest hashes of seed and identifier.

    Examples
    --------
    >>> rows = {"g": list("aaabbb"), "y": [1, 2, 3, 0, 5, 10], "id": range(6), "weight": [10] * 3 + [20] * 3}
    >>> kept = smaller_sample(rows, 5, by="g", value="y", id="id")
    >>> kept.index, kept.columns["weight"]
    (array([0, 1, 3, 4, 5]), array([15., 15., 20., 20., 20.]))
    """
    minimum, seed = checks.whole("minimum", minimum, 1), checks.seed("seed", seed)
    columns = frames.read_columns(sample, frames.column_names(sample))[0]
    by, value, id, weight = (spelled(name, columns) for name in (by, value, id, weight))
    named = frames.read_columns(sample, [by, id])[0]
    labels, ids = (list(map(original, numbers.as_text(named[name]))) for name in (by, id))
    names, codes = np.unique(
        numbers.to_labels(by, numbers.objects(labels), "text"), return_inverse=True
    )
    refuse_repeated(ids)
    size, sd = (
        _known(strata, names, codes) if strata else _shown(columns, value, weight, names, codes)
    )
    current = np.bincount(codes)
    found = rules.reduce_sample(size, sd, current, budget, minimum=minimum)
    order = np.lexsort((random_keys(ids, seed), codes))
    first = np.repeat(np.cumsum(current) - current, current)
    index = np.sort(order[np.arange(codes.size) - first < found.labeled[codes[order]]])
    written = columns | {
        by: numbers.objects(labels),
        id: numbers.objects(ids),
        weight: (size / found.labeled)[codes],
    }
    if value:
        written[value] = numbers.to_numbers(value, columns[value])
    return Reduction(
        codes.size, index, {name: cells[index] for name, cells in written.items()}, found
    )


def _known(strata: Any, names: np.ndarray, codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return sizes and sds of the strata of a sample, of a table that has these and no others."""
    table = load_strata(strata)
    place = {str(name): k for k, name in enumerate(table.stratum.tolist())}
    strange = sorted(place.keys() ^ set(names.tolist()))
    if strange:
        raise checks.WrongValue(
            "strata", f"must be those of the sample; {strange[0]!r} is in one of the two only"
        )
    rows = [place[name] for name in names.tolist()]
    return table.size[rows], table.sd[rows]


def _shown(columns: dict, value: str, weight: str, names: np.ndarray, codes: np.ndarray) -> tuple:
    """Return sizes and sds of the strata that weights and values of a sample show."""
    for argument, name in (("value", value), ("weight", weight)):
        if name not in columns:
            raise checks.WrongValue(
                argument,
                "must name a column of the sample, where no table of strata is given: "
                f"it has {checks.listed(columns, quoted=True)}",
                name,
            )
    values, weights = (numbers.to_numbers(name, columns[name]) for name in (value, weight))
    total = np.bincount(codes, weights)
    size = np.rint(total).astype(np.int64)
    current, _, squares = moments(codes, values, names.size)
    for k in np.flatnonzero((np.abs(total - size) > WHOLE * total) | (size < current))[:1]:
        raise checks.WrongValue(
            "weight",
            "must add up in each stratum to its records; they are "
            f"{total[k]:g} for {current[k]} sampled ones",
            place=("stratum", str(names[k])),
        )
    for k in np.flatnonzero((current < 2) & (size > 1))[:1]:
        raise checks.WrongValue(
            "sample",
            "must have two records or more of each stratum, for its spread; name a table of strata",
            place=("stratum", str(names[k])),
        )
    return size, np.sqrt(squares / np.maximum(current - 1, 1))
