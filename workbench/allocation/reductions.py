"""Smaller samples: keep fewer records of each stratum of a sample, with new weights."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy import ndarray

from workbench import checks
from workbench.allocation import rules
from workbench.allocation.plans import load_strata
from workbench.allocation.streams.estimates import moments
from workbench.checks import WrongValue
from workbench.data import frames, numbers
from workbench.data.columns import spelled
from workbench.data.safe_csv import original
from workbench.labeling.draws import random_keys
from workbench.labeling.ids import refuse_repeated

WHOLE = 1e-6


@dataclass(frozen=True)
class Reduction:
    """A reduced sample of `records`: the rows that are kept, their columns, and the allocation."""

    records: int
    index: ndarray
    columns: dict[str, ndarray]
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
    """Reduce a stratified sample so that the variance grows least.

    Parameters
    ----------
    sample : str, path or data frame
        One row per sampled record, as the command ``workbench sample stream`` writes it.
    budget : int
        Records to keep.
    by, value, id : str
        Columns of strata, values and identifiers. With `strata`, `value` is not needed.
    weight : str
        Column of the number of records that each sampled record stands for. With `strata`, it is
        not needed.
    strata : str, path or data frame
        Table of strata with sizes and standard deviations. Without it, sizes are the sums of the
        weights, and standard deviations are those of the sample.
    minimum : int
        Records that every stratum keeps at least, 1 or more.
    seed : int
        Seed of the choice. The kept records of a stratum have the smallest hashes of seed and
        identifier.

    Returns
    -------
    Reduction
        Records that are kept, with new weights.

    Examples
    --------
    >>> rows = {"g": list("aaabbb"), "y": [1, 2, 3, 0, 5, 10], "id": range(6)}
    >>> rows["weight"] = [10] * 3 + [20] * 3
    >>> smaller = smaller_sample(rows, 5, by="g", value="y", id="id")
    >>> smaller.index, smaller.columns["weight"]
    (array([0, 1, 3, 4, 5]), array([15., 15., 20., 20., 20.]))
    """
    minimum = checks.whole("minimum", minimum, 1)
    seed = checks.seed("seed", seed)
    columns = frames.read_columns(sample, frames.column_names(sample))[0]
    by, value, id, weight = (spelled(name, columns) for name in (by, value, id, weight))
    for name in (by, id):
        cells = frames.read_columns(sample, [name])[0][name]
        texts = [original(text) for text in numbers.as_text(cells)]
        columns[name] = numbers.objects(texts)
    ids = columns[id].tolist()
    refuse_repeated(ids)
    labels = numbers.to_labels(by, columns[by], "text")
    names, codes, current = np.unique(labels, return_inverse=True, return_counts=True)
    if strata:
        size, sd = _of_table(strata, names)
    else:
        size, sd = _of_sample(columns, value, weight, names, codes)
    if value:
        columns[value] = numbers.to_numbers(value, columns[value])
    allocation = rules.reduce_sample(size, sd, current, budget, minimum=minimum)
    columns[weight] = (size / allocation.labeled)[codes]
    order = np.lexsort((random_keys(ids, seed), codes))
    sorted_codes = codes[order]
    rank = rules.ranks_among_equals(sorted_codes)
    index = np.sort(order[rank < allocation.labeled[sorted_codes]])
    smaller = {name: cells[index] for name, cells in columns.items()}
    return Reduction(codes.size, index, smaller, allocation)


def _of_table(strata: Any, names: ndarray) -> tuple:
    """Return sizes and standard deviations of a sample's strata from a table of these strata."""
    table = load_strata(strata)
    row_of = {str(name): k for k, name in enumerate(table.stratum.tolist())}
    strange = sorted(row_of.keys() ^ set(names.tolist()))
    if strange:
        rule = f"must be those of the sample; {strange[0]!r} is in only one of the two"
        raise WrongValue("strata", rule)
    rows = [row_of[name] for name in names.tolist()]
    return table.size[rows], table.sd[rows]


def _of_sample(
    columns: dict,
    value: str,
    weight: str,
    names: ndarray,
    codes: ndarray,
) -> tuple:
    """Return sizes and standard deviations of strata from the weights and values of a sample."""
    for argument, name in (("value", value), ("weight", weight)):
        if name not in columns:
            raise WrongValue(
                argument,
                "must name a column of the sample if no table of strata is given; "
                f"it has {checks.listed(columns, quoted=True)}",
                name,
            )
    values = numbers.to_numbers(value, columns[value])
    weights = numbers.to_numbers(weight, columns[weight])
    total = np.bincount(codes, weights)
    size = np.rint(total).astype(int)
    current, _, squares = moments(codes, values, names.size)
    for k in np.flatnonzero((np.abs(total - size) > WHOLE * total) | (size < current))[:1]:
        raise WrongValue(
            "weight",
            "must add up to the number of records in each stratum; the sum is "
            f"{total[k]:g} for {current[k]} sampled records",
            place=("stratum", str(names[k])),
        )
    for k in np.flatnonzero((current < 2) & (size > 1))[:1]:
        raise WrongValue(
            "sample",
            "must have at least two records of each stratum to compute its standard deviation; "
            "give a table of strata instead",
            place=("stratum", str(names[k])),
        )
    return size, np.sqrt(squares / np.maximum(current - 1, 1))
