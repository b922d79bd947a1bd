"""Losses in long form, one row per model and fold (or item), spread to a column per model."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from workbench import checks


def value_column(names: Sequence[str], value: str, used: Sequence[str]) -> str:
    """Return the column of losses or scores: the one that is named, else the only one that has no other role."""
    if value:
        return value
    left = [name for name in names if name not in used]
    if len(left) != 1:
        raise checks.WrongValue(
            "value",
            "must name the column of losses or scores, as there is a row per model; "
            f"columns without another role: {checks.listed(left, quoted=True) or 'none'}",
        )
    return left[0]


def spread(
    model: np.ndarray, label: dict[str, np.ndarray], columns: dict[str, np.ndarray]
) -> tuple[tuple[str, ...], dict[str, np.ndarray], dict[str, np.ndarray]]:
    """Return models, labels of rows and columns (rows, models) from one row per model and row.

    Parameters
    ----------
    model : (N,) ndarray
        Names.
    label : dict of (N,) ndarray
        Folds, and repeats and items where there are some: what a row of every model has in common.
    columns : dict of (N,) ndarray

    Raises
    ------
    ValueError
        If a model lacks a row that another one has, or has it twice; names model and row.

    Examples
    --------
    >>> names, label, columns = spread(np.array(["a", "b", "b", "a"]), {"fold": np.array([1, 1, 2, 2])},
    ...                                {"loss": np.array([0.1, 0.2, 0.3, 0.4])})
    >>> names, label["fold"].tolist(), columns["loss"].tolist()
    (('a', 'b'), [1, 2], [[0.1, 0.2], [0.4, 0.3]])
    """
    (first_of_model, of), (first, row_of) = _in_order(model), _in_order(cells(label.values()))
    names = model[first_of_model].tolist()
    cell = row_of * len(names) + of
    times = np.bincount(cell, minlength=first.size * len(names))
    for wrong in np.flatnonzero(times != 1)[:1]:
        row, k = divmod(int(wrong), len(names))
        of_row = " of ".join(
            f"{role} {values[first[row]].item()!r}" for role, values in reversed(label.items())
        )
        raise ValueError(
            f"every model must have one row for every {' and '.join(label)}; model {str(names[k])!r} has "
            f"{checks.counted(times[wrong], 'row')} for {of_row}"
        )
    order = np.argsort(cell)
    return (
        tuple(str(name) for name in names),
        {role: values[first] for role, values in label.items()},
        {name: values[order].reshape(first.size, len(names)) for name, values in columns.items()},
    )


def same_for_all(name: str, values: np.ndarray, models: Sequence[str]) -> np.ndarray:
    """Return the one column of (rows, models) that all models have in common, or raise."""
    for row, k in np.argwhere(values != values[:, :1])[:1]:
        raise ValueError(
            f"column {name!r} must be the same for every model; model {models[0]!r} has "
            f"{values[row, 0]:g} where {models[k]!r} has {values[row, k]:g}"
        )
    return values[:, 0]


def cells(columns: Iterable[np.ndarray]) -> np.ndarray:
    """Return a whole number per row, the same where all columns agree."""
    cell: Any = 0
    for values in columns:
        code = np.unique(values, return_inverse=True)[1]
        cell = np.unique(cell * (code.max() + 1) + code, return_inverse=True)[1]
    return cell


def _in_order(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the first row of every value in order of appearance, and the place of each row's value among them."""
    _, first, place = np.unique(values, return_index=True, return_inverse=True)
    order = np.argsort(first)
    return first[order], np.argsort(order)[place]
