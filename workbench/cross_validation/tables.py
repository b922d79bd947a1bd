"""Losses of a cross-validation in a table: which columns are what, and by which scheme the rows were made.

Read `read_losses` first. Columns are found by `model_columns`, schemes are named by `schemes`.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from workbench import checks
from workbench.cross_validation import long_form, model_columns, schemes, scikit_learn
from workbench.cross_validation.sources import named_models, no_labels, without_gaps
from workbench.data import frames, numbers, shapes
from workbench.data.columns import spelled
from workbench.results import Note

FEW = 1000
MOST_REPEATS = 100  # more rows of one fold are items
MOST_NAMED = 20
MAYBE = "repeat? "  # before the name of a column that may tell repeats


class Read(NamedTuple):
    """What a file holds: losses by model, labels by role, items per fold or None, the scheme, and notes."""

    scores: dict[str, np.ndarray]
    label: dict[str, np.ndarray]
    sizes: np.ndarray | None
    splits: str
    test_share: float | None
    notes: tuple[Note, ...]


def read_losses(
    source: Any,
    roles: dict[str, str],
    models: Any,
    size: str,
    model: str,
    value: str,
    folds: int,
    splits: str,
    test_share: float | None,
) -> Read:
    """Return what a file of losses holds; `splits` and `test_share` as `schemes.checked` returns them."""
    names = frames.column_names(source)
    of_scikit = spelled(roles["fold"], names) not in names and scikit_learn.split_scores(
        source, names, spelled(model, names), value, folds, splits
    )
    if of_scikit:
        table, note = of_scikit
        scheme = splits if splits == "random" else "folds"
        found = read_losses(
            table,
            roles,
            [name for name in table if name not in ("fold", "repeat")],
            size,
            "model",
            "",
            0,
            scheme,
            test_share,
        )
        return found._replace(notes=(*found.notes, note))
    if folds:
        raise checks.WrongValue(
            "folds", "is for files of scikit-learn without a column of folds", folds
        )
    every = models is None or isinstance(models, str) and not models.strip()
    listed = [] if every else named_models(models)
    of_model = spelled(model, names)
    # a column "model" that `models` lists holds losses
    long = model != "model" or of_model in names and not {model, of_model} & set(listed)
    named = [] if long else [spelled(name, names) for name in listed]
    used = _roles_of(names, roles, size, named)
    if long:
        columns = _read_long(source, names, used, listed, of_model, spelled(value, names), splits)
    else:
        columns = _read_wide(source, names, used, None if every else named, splits)
    scores, label, extra, notes = columns
    return _in_scheme(scores, label, extra, used, bool(size), splits, test_share, notes)


def _roles_of(
    names: Sequence[str], roles: dict[str, str], size: str, chosen: Sequence[str]
) -> dict[str, str]:
    """Return the column of each role that a file has: those that were named, and those that are called so."""
    used = {"fold": model_columns.fold_column(names, roles["fold"])}
    for role in ("item", "repeat"):
        column = spelled(roles[role], names)
        if roles[role] != role or column in names:
            used[role] = column
    if size:
        used["size"] = spelled(size, names)
    free = [name for name in names if name not in chosen]
    for role, column in model_columns.size_columns(free).items():
        if column not in used.values():
            used[role] = column
    if "repeat" not in used:
        found = [name for name in model_columns.repeat_columns(free) if name not in used.values()]
        used |= {f"{MAYBE}{name}": name for name in found}
    return used


def _read_wide(
    source: Any, names: tuple, used: dict[str, str], chosen: list[str] | None, splits: str
) -> tuple:
    every = chosen is None
    candidates = model_columns.may_be_models(names, used.values()) if chosen is None else chosen
    refuse_shared(used, candidates)
    data, notes = frames.read_columns(source, [*used.values(), *candidates])
    if every:
        candidates = model_columns.numeric({name: data[name] for name in candidates})
    if not candidates:
        raise ValueError(
            "there must be a column of losses beside " + ", ".join(map(repr, used.values()))
        )
    label, extra, told = _labels(data, used, splits)
    beside = {name: data[name] for name in candidates}
    gaps_allowed = "item" not in label and _rows_are_folds(label)
    scores = {name: _numbers(name, cells, gaps_allowed, beside) for name, cells in beside.items()}
    if every:
        refuse_identifiers(scores)
        model_columns.refuse_doubtful(scores)
        others = [name for name in names if name not in candidates and name not in used.values()]
        told += _read_as_models(candidates, others)
    return scores, label, extra, (*notes, *told)


def _read_as_models(models: Sequence[str], others: Sequence[str]) -> list[Note]:
    """Return the note of the columns that were taken for models, where it was not plain."""
    if len(models) <= 2 and not others:
        return []
    left = f"; not read: {checks.listed(others, MOST_NAMED)}" if others else ""
    text = f"columns read as models: {checks.listed(models, MOST_NAMED)}{left}"
    return [Note("data", f"{text}; if some are none, list the others in models")]


def _numbers(
    name: str, cells: np.ndarray, gaps_allowed: bool, beside: dict | None = None
) -> np.ndarray:
    """Return a column as floats, NaN where a cell is missing and that is allowed."""
    gone = shapes.gaps(cells, True)
    if not gaps_allowed or not gone.any() or gone.all():
        return numbers.to_numbers(name, cells, beside=beside)
    filled = np.where(gone, 0 if cells.dtype.kind == "f" else "0", cells)
    found = numbers.to_numbers(name, filled, beside=beside)
    found[gone] = np.nan
    return found


def _read_long(
    source: dict | str,
    names: tuple,
    used: dict[str, str],
    listed: list,
    model: str,
    value: str,
    splits: str,
) -> tuple:
    used = used | {"model": model}
    left = model_columns.may_be_models(names, used.values())
    value = long_form.value_column(left, value, [])
    refuse_shared(used | {"value": value}, [])
    data, notes = frames.read_columns(source, [*used.values(), value])
    named = np.array(numbers.as_text(numbers.to_labels(model, data[model], "text")))
    for name in listed:
        checks.choice("models", name, np.unique(named).tolist())
    kept = np.isin(named, listed) if listed else np.ones(named.size, bool)
    label, extra, told = _labels(data, used, splits, named == named[kept][0])
    columns = {"loss": _numbers(value, data[value], "item" not in label), **extra}
    found, label, columns = long_form.spread(
        named[kept],
        {role: values[kept] for role, values in label.items()},
        {name: values[kept] for name, values in columns.items()},
    )
    order = [found.index(name) for name in listed] or range(len(found))
    extra = {role: long_form.same_for_all(used[role], columns[role], found) for role in extra}
    others = [name for name in names if name not in (*used.values(), value)]
    unread = f"; not read: {checks.listed(others, MOST_NAMED)}" if others else ""
    read_as = Note(
        "data",
        f"one row per model: {checks.counted(len(found), 'model')} of column {model!r}, values "
        f"in column {value!r}{unread}",
    )
    return {found[k]: columns["loss"][:, k] for k in order}, label, extra, (*notes, *told, read_as)


def _in_scheme(
    scores: dict[str, np.ndarray],
    label: dict[str, np.ndarray],
    extra: dict[str, np.ndarray],
    used: dict[str, str],
    size_named: bool,
    splits: str,
    test_share: float | None,
    notes: tuple[Note, ...],
) -> Read:
    """Return losses in the scheme that was named, that the columns tell, or raise the question."""
    sized = "n_train" in extra and "n_test" in extra
    known = schemes.share_of_sizes(extra["n_train"], extra["n_test"]) if sized else None
    if splits == "auto":
        splits = _scheme_told(scores, label, used["fold"], known)
        if splits == "random":
            of_sizes = " and ".join(used[role] for role in ("n_train", "n_test") if role in used)
            notes = (
                *notes,
                Note(
                    "data",
                    f"columns {of_sizes} say that the test sets overlap: read as random splits; "
                    "repeats of folds need a column that tells them",
                ),
            )
    if splits == "random":
        share = test_share or known or schemes.ask_share()
        return _random_splits(scores, label, extra, share, notes)
    sizes, read_as = sizes_of_rows(label, used, used.get("size") if size_named else None, extra)
    scores, label, sizes, share, gaps = _without_gaps(scores, label, sizes)
    label = label if "repeat" in label else label | {"repeat": np.zeros(len(label["fold"]), int)}
    return Read(scores, label, sizes, "folds", share, (*notes, *read_as, *gaps))


def _scheme_told(
    scores: dict[str, np.ndarray], label: dict[str, np.ndarray], fold: str, share: float | None
) -> str:
    """Return "folds" or "random" where the columns tell it, else raise the question."""
    repeat = label.get("repeat")
    if "item" in label or repeat is not None and np.unique(repeat).size > 1:
        return "folds"
    folds, rows = np.unique(label["fold"]).size, len(label["fold"])
    if share is not None and folds == rows:
        return "folds" if abs(folds * share - 1) < 0.5 / folds else "random"
    if model_columns.numbers_splits(fold):
        schemes.ask(f"column {fold!r} may number folds or random splits")
    schemes.refuse_unknown_folds(folds, "name the column of repeats with {1}")
    times = np.unique(label["fold"], return_counts=True)[1]
    values = np.concatenate([*scores.values()])
    if 1 < times[0] <= MOST_REPEATS and np.ptp(times) == 0 and np.any(values % 1):
        schemes.ask(
            f"there are {times[0]} rows for every fold and no column of items or repeats, so that rows may be "
            "items, or means of folds in several repeats",
            "name the column of repeats with {1}",
        )
    return "folds"


def _random_splits(
    scores: dict[str, np.ndarray],
    label: dict[str, np.ndarray],
    extra: dict[str, np.ndarray],
    share: float,
    notes: tuple[Note, ...],
) -> Read:
    """Return one row per random split: items and repeats of a split are no more than its mean."""
    of_split = long_form.cells(label[role] for role in ("fold", "repeat") if role in label)
    count = np.bincount(of_split)
    first = np.unique(of_split, return_index=True)[1]
    if count.size < len(of_split):
        sizes = count
        notes = (
            *notes,
            Note("data", "several rows per split: read as items, of which each split has the mean"),
        )
    elif "size" in extra or "n_test" in extra and extra["n_test"].min() >= 1:
        sizes = extra["size" if "size" in extra else "n_test"].astype(int)[first]
    else:
        sizes = np.ones(count.size, int)
    scores = {name: np.bincount(of_split, values) / count for name, values in scores.items()}
    label = {"fold": np.arange(count.size) if "repeat" in label else label["fold"][first]}
    scores, label, kept, _, gaps = _without_gaps(scores, label, sizes)
    return Read(scores, label, kept, "random", share, (*notes, *gaps))


def _without_gaps(
    scores: dict[str, np.ndarray], label: dict[str, np.ndarray], sizes: np.ndarray | None
) -> tuple:
    stacked = np.stack([*scores.values()], 1)
    kept, label, sizes, share, notes = without_gaps(stacked, label, sizes, [*scores])
    return dict(zip(scores, kept.T, strict=True)), label, sizes, share, notes


def _labels(
    data: dict, used: dict[str, str], splits: str, of_one: np.ndarray | None = None
) -> tuple[dict, dict, list[Note]]:
    """Return labels by role, sizes by role, and notes; `of_one` marks the rows of one model in long form."""
    label: dict[str, np.ndarray] = {
        role: numbers.to_labels(used[role], data[used[role]], "text")
        for role in ("fold", "item", "repeat")
        if role in used
    }
    if label["fold"].dtype.kind == "U":
        numbers.refuse_totals(used["fold"], label["fold"].tolist())
    maybe = {
        name: numbers.to_labels(name, data[name], "text")
        for role, name in used.items()
        if role.startswith(MAYBE)
    }
    repeat = ""
    notes: list[Note] = []
    if splits == "random" and maybe:  # whatever differs makes another split
        label["repeat"] = long_form.cells(maybe.values())
    elif maybe:
        rows = np.ones(len(label["fold"]), bool) if of_one is None else of_one
        item = label["item"][rows] if "item" in label else None
        repeat, notes = model_columns.repeats_told(
            {name: labels[rows] for name, labels in maybe.items()},
            label["fold"][rows],
            item,
            used["fold"],
            splits == "folds",
        )
    if repeat:
        label["repeat"] = maybe[repeat]
    refuse_mixed_up(label, used | {"repeat": repeat or used.get("repeat", "repeat")})
    return label, _sizes(data, used), notes


def _sizes(data: dict, used: dict[str, str]) -> dict[str, np.ndarray]:
    """Return the columns of sizes; a column of test sizes may hold proportions, which are then those of 1 item."""
    sizes: dict[str, np.ndarray] = {}
    for role in [role for role in ("size", "n_train", "n_test") if role in used]:
        values = numbers.to_numbers(used[role], data[used[role]], whole=True)
        if role != "size" and np.all((values > 0) & (values < 1)):
            if role == "n_test":
                sizes |= {"n_train": 1 - values, "n_test": values}
            continue
        sizes[role] = whole_sizes(used[role], data[used[role]]).astype(float)
    return sizes


def sizes_of_rows(
    label: dict[str, np.ndarray],
    used: dict[str, str],
    size: str | None,
    extra: dict[str, np.ndarray],
) -> tuple[np.ndarray | None, tuple[Note, ...]]:
    """Return the items per row where rows are fold means, else None, and how the rows were read."""
    weighted = (Note("data", "one row per fold: read as fold means, weighted by their items"),)
    if not size:
        if "item" in label or not _rows_are_folds(label):
            return None, ()
        if "n_test" in extra and extra["n_test"].min() >= 1:
            return extra["n_test"].astype(int), weighted
        return np.ones(len(label["fold"]), int), (
            Note("data", "one row per fold: read as fold means of equal folds"),
        )
    if "item" in label:
        raise ValueError(
            f"column {size!r} cannot hold sizes of folds where column {used['item']!r} names items: "
            f"rows are means of folds or losses of items; drop one of the two"
        )
    if not _rows_are_folds(label):
        raise ValueError(
            f"column {size!r} can hold sizes of folds only where there is one row per fold; column "
            f"{used['fold']!r} repeats a fold: is a repeat column missing?"
        )
    return extra["size"].astype(int), weighted


def _rows_are_folds(label: dict) -> bool:
    cells = long_form.cells(label[role] for role in ("fold", "repeat") if role in label)
    return np.unique(cells).size == cells.size


def refuse_shared(roles: dict[str, str], chosen: Sequence[str]) -> None:
    """Raise where a column has two roles."""
    used: dict = {}
    for role, name in (*roles.items(), *(("a model", name) for name in chosen)):
        if name in used:
            raise ValueError(
                f"column {name!r} cannot be both {used[name]} and {role}"
                if used[name] != role
                else f"models must name each column once; {name!r} repeats"
            )
        used[name] = role


def refuse_identifiers(columns: dict[str, np.ndarray]) -> None:
    """Distinct whole numbers in order or without a gap, or many of them, are a key that was not named, not a loss."""
    for name, values in columns.items():
        if (
            values.size < 3
            or np.any(values != np.floor(values))
            or _repeats(values[:FEW])
            or _repeats(values)
        ):
            continue
        if values.size >= 10 or np.all(np.diff(values) > 0) or np.ptp(values) == values.size - 1:
            otherwise = f", or say item={name!r}" if name.strip() else ""
            raise ValueError(
                f"column {name!r} holds a different whole number in every row, as identifiers do: list "
                f"the columns of losses in models{otherwise}"
            )


def _repeats(values: np.ndarray) -> bool:
    return np.unique(values).size < values.size


def refuse_mixed_up(label: dict[str, np.ndarray], roles: dict[str, str]) -> None:
    """Raise where labels are none, or items fewer than folds."""
    for role in ("fold", "repeat"):
        labels = label.get(role, np.array([]))
        for row in no_labels(labels)[:1]:
            raise numbers.RowError(
                f"column {roles[role]!r}, ",
                row,
                f": a {role} must be a whole number below "
                f"2**53 or text; got {labels[row]:g}: are the columns mixed up?",
            )
    item, folds = label.get("item"), np.unique(label["fold"]).size
    if (
        item is not None
        and np.unique(item[: 2 * folds]).size < folds
        and (items := np.unique(item).size) < folds
    ):
        raise ValueError(
            f"column {roles['fold']!r} has {checks.counted(folds, 'fold')} for the "
            f"{checks.counted(items, 'item')} of column {roles['item']!r}: are the columns mixed up?"
        )


def whole_sizes(size: str, column: np.ndarray) -> np.ndarray:
    """Return the sizes of folds, whole numbers of at least 1, or raise."""
    sizes = numbers.to_numbers(size, column, whole=True)
    for row in np.flatnonzero((sizes != np.floor(sizes)) | (sizes < 1) | (sizes >= checks.LARGEST))[
        :1
    ]:
        raise numbers.RowError(
            f"column {size!r}, ",
            row,
            f": the size of a fold must be a whole number of at least 1; got {sizes[row]:g}",
        )
    return sizes.astype(int)
