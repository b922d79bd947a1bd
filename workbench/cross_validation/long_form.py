"""Losses in long form (one row per model and fold or item), turned into one column per model."""

import math
from collections.abc import Iterable, Sequence

import numpy as np
from numpy import ndarray

from workbench.checks import WrongValue, counted, listed

Arrays = dict[str, ndarray]  # columns by name, or by role
Names = Sequence[str]


def value_column(names: Names, value: str) -> str:
    """Return the column of losses: the named one, or the only one without another role."""
    if value or len(names) == 1:
        return value or names[0]
    raise WrongValue(
        "value",
        "must name the column of losses or scores, because the file has one row per model. Columns "
        f"without another role: {listed(names, quoted=True) or 'none'}",
    )


def spread(model: ndarray, label: Arrays, columns: Arrays) -> tuple[list[str], Arrays, Arrays]:
    """Return models, labels of rows and columns (rows, models) from one row per model and row.

    Parameters
    ----------
    model : (N,) ndarray
        Name of the model of each row.
    label : dict of (N,) ndarray
        Folds and, if they exist, repeats and items: the labels that all models have in common.
    columns : dict of (N,) ndarray
        Columns of numbers, such as losses and sizes.

    Raises
    ------
    ValueError
        If a model lacks a row that another model has, or has it twice. The message names the model
        and the row.

    Examples
    --------
    >>> label = {"fold": np.array([1, 1, 2, 2])}
    >>> columns = {"loss": np.array([0.1, 0.2, 0.3, 0.4])}
    >>> names, label, columns = spread(np.array(["a", "b", "b", "a"]), label, columns)
    >>> names, label["fold"].tolist(), columns["loss"].tolist()
    (['a', 'b'], [1, 2], [[0.1, 0.2], [0.4, 0.3]])
    """
    first_of_model, model_code = _in_order(model)
    first_of_row, row_code = _in_order(cells(label.values()))
    names = model[first_of_model].tolist()
    shape = first_of_row.size, len(names)
    cell = row_code * len(names) + model_code
    times = np.bincount(cell, minlength=math.prod(shape)).reshape(shape)
    label = {role: values[first_of_row] for role, values in label.items()}
    for row, k in np.argwhere(times != 1)[:1]:
        labels = [f"{role} {values[row].item()!r}" for role, values in label.items()]
        rows = f"{counted(times[row, k], 'row')} for {' of '.join(labels[::-1])}"
        raise ValueError(
            f"every model must have one row for every {' and '.join(label)}; "
            f"model {names[k]!r} has {rows}"
        )
    order = np.argsort(cell)
    values = {name: cells[order].reshape(shape) for name, cells in columns.items()}
    return names, label, values


def cells(columns: Iterable[ndarray]) -> ndarray:
    """Return a whole number per row, the same for rows that agree in all columns."""
    cell: ndarray | int = 0
    for values in columns:
        code = np.unique(values, return_inverse=True)[1]
        cell = cell * (code.max() + 1) + code
        cell = np.unique(cell, return_inverse=True)[1]
    return np.asarray(cell)


def positions(values: ndarray) -> ndarray:
    """Return the position of each entry among the entries with the same value, from 0.

    Examples
    --------
    >>> positions(np.array(["a", "a", "b", "a", "b"])).tolist()
    [0, 1, 0, 2, 1]
    """
    code, counts = np.unique(values, return_inverse=True, return_counts=True)[1:]
    first = np.cumsum(counts) - counts
    position = np.empty(len(values), int)
    position[np.argsort(code, kind="stable")] = np.arange(len(values)) - np.repeat(first, counts)
    return position


def same_partition(first: ndarray, second: ndarray) -> bool:
    """Return whether two columns of labels divide the rows into the same groups.

    Examples
    --------
    >>> same_partition(np.array([0, 0, 1]), np.array(["b", "b", "a"]))
    True
    """
    groups = np.unique(cells([first, second])).size
    return groups == np.unique(first).size == np.unique(second).size


def _in_order(values: ndarray) -> tuple[ndarray, ndarray]:
    """Return the first row of each value in order of appearance, and the code of each row."""
    _, first, code = np.unique(values, return_index=True, return_inverse=True)
    order = np.argsort(first)
    return first[order], np.argsort(order)[code]
