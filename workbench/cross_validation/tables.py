"""Losses of a cross-validation in a table: the roles of columns, and how test sets were made.

Read `read_losses` first. The module `model_columns` finds columns, `schemes` names the ways to make
test sets, and `long_form` reshapes tables with one row per model.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy import ndarray

from workbench import checks
from workbench.checks import WrongValue, counted, listed
from workbench.cross_validation import long_form, model_columns, schemes, scikit_learn
from workbench.cross_validation.long_form import Arrays, Names
from workbench.cross_validation.sources import named_models
from workbench.data import frames, numbers, shapes
from workbench.data.columns import spelled
from workbench.results import Note
from workbench.results.limits import warn_of_limit

MOST_REPEATS = 100  # more rows per fold must be items
MOST_NAMED = 20
ROW = "number of the row"  # stands for a column of folds in files without one
CONSECUTIVE = (
    "name the column of repeats with {1}. If there is none and splits are numbered in the order of "
    "scikit-learn, give k as {2}"
)
SIZES = ("size", "n_train", "n_test", "n")
MAYBE = "repeat? "  # prefix for the name of a column that may number repeats


Roles = dict[str, str]  # columns by role


class Read(NamedTuple):
    """Content of a file: losses by model, labels by role, items per fold or None, scheme, notes."""

    scores: Arrays
    label: Arrays
    sizes: ndarray | None
    splits: str
    test_share: float | None
    notes: list[Note]


class Columns(NamedTuple):
    """Columns of a file: losses by model, labels by role, sizes by role, and notes."""

    scores: Arrays
    label: Arrays
    sizes: Arrays
    notes: list[Note]


def read_losses(
    source: Any,
    roles: Roles,
    models: Any,
    size: str | None,
    model: str,
    value: str,
    folds: int,
    splits: str,
    test_share: float | None,
    are_scores: bool,
) -> Read:
    """Return the content of a file of losses.

    `splits` and `test_share` must be as `schemes.checked` returns them. `are_scores` is whether the
    user said that the file holds scores.
    """
    names = frames.column_names(source)
    chosen: Names = () if models is None else named_models(models)
    of_model = spelled(model, names)
    is_chosen = bool(chosen) and {*chosen} <= {*names}  # also columns called test_...
    if spelled(roles["fold"], names) not in names and not is_chosen:
        table, note = scikit_learn.split_scores(
            source,
            names,
            of_model,
            value,
            folds,
            splits,
        )
        if table:
            of_table = [name for name in table if name not in ("fold", "repeat")]
            for name in chosen:
                checks.choice("models", name, of_table)
            chosen = chosen or of_table
            splits = "random" if splits == "random" else "folds"
            read = read_losses(
                table,
                roles,
                chosen,
                size,
                "model",
                "",
                0,
                splits,
                test_share,
                are_scores,
            )
            return read._replace(notes=[*read.notes, note])
    if folds and splits == "random":
        raise WrongValue("folds", "is not for random splits", folds)
    roles = roles | {"fold": _fold_column(names, roles, folds, splits)}
    if folds:
        splits = "folds"
    # a column "model" that `models` lists holds losses
    if model != "model" or of_model in names and not {model, of_model} & {*chosen}:
        used = _roles_of(names, roles, size, [of_model]) | {"model": of_model}
        columns = _read_long(
            source,
            names,
            used,
            chosen,
            spelled(value, names),
            splits,
        )
    else:
        chosen = [spelled(name, names) for name in chosen]
        used = _roles_of(names, roles, size, chosen)
        columns = _read_wide(source, names, used, chosen, splits, are_scores)
    if used["fold"] == ROW:
        _refuse_items(columns)
    if folds:
        columns = _in_repeats(columns, used["fold"], folds)
    elif used["fold"] == ROW:
        text = "there is no column of folds, so every row was read as a random split"
        columns.notes.append(Note("data", text))
    return _in_scheme(columns, used, size, splits, test_share)


def _fold_column(names: Names, roles: Roles, folds: int, splits: str) -> str:
    """Return the column of folds, or `ROW` if there is none and rows are folds or splits.

    An error asks how rows were made if no argument says it.
    """
    column = model_columns.fold_column(names, roles["fold"])
    model_columns.refuse_inner("fold", column)
    if column in names or roles["fold"] != "fold" or spelled(roles["item"], names) in names:
        return column
    if not folds and splits != "random":
        raise WrongValue(
            "folds",
            "must be given, because there is no column of folds. If every row is a fold in the "
            "order of scikit-learn, it is the number of folds in one repetition. For random splits "
            "(ShuffleSplit), give {0} instead. If rows are items, name their column of folds with "
            "{1}",
            told=f"available columns: {listed(names, MOST_NAMED, quoted=True)}",
            others=("test_share", "fold"),
        )
    return ROW


def _read_columns(source: Any, used: Roles, columns: Names) -> tuple[Arrays, tuple[Note, ...]]:
    """Return columns and notes; the column `ROW` numbers the rows, those of each model from 0."""
    names = [name for name in (*used.values(), *columns) if name != ROW]
    data, notes = frames.read_columns(source, names)
    if used["fold"] == ROW:
        count = len(data[names[0]])
        model = np.zeros(count, int)
        if "model" in used:
            model = np.array(numbers.as_text(data[used["model"]]))
        data[ROW] = long_form.positions(model)
    return data, notes


def _refuse_items(columns: Columns) -> None:
    """Raise if all values are whole numbers, because rows are then seldom folds."""
    if not any(np.any(values % 1) for values in columns.scores.values()):
        raise ValueError(
            "all values are whole numbers, so rows seem to be items, but there is no column of "
            "folds. Add one"
        )


def _in_repeats(columns: Columns, fold: str, folds: int) -> Columns:
    """Return the columns with folds and repeats of splits that are numbered consecutively.

    The first `folds` splits are the first repeat.
    """
    label = columns.label
    split = label["fold"]
    count = np.unique(split).size
    if "repeat" in label:
        raise WrongValue("folds", "is only for files without a column of repeats", folds)
    if split.dtype.kind == "U" or np.ptp(split) != count - 1:
        rule = f"needs whole numbers without a gap in column {fold!r}"
        raise WrongValue("folds", rule, folds)
    if "item" not in label and not _rows_are_folds(label):
        rule = f"needs a different number for every split, but numbers in column {fold!r} repeat"
        raise WrongValue("folds", f"{rule}. Add columns of repeats and folds", folds)
    if folds < 2 or count % folds or count > MOST_REPEATS * folds:
        rule = f"must divide the {counted(count, 'split')} into 1 to {MOST_REPEATS} repeats"
        raise WrongValue("folds", rule, folds)
    repeat, number = np.divmod(split - split.min(), folds)
    scheme = schemes.words("folds", folds, count // folds, None)
    why = f"column {fold!r} numbers all splits, which"
    if fold == ROW:
        why = "there is no column of folds, so rows"
    text = f"{why} were read in the order of scikit-learn: {scheme}"
    notes = [*columns.notes, Note("data", text)]
    return columns._replace(label=label | {"fold": number, "repeat": repeat}, notes=notes)


def _roles_of(
    names: Names,
    roles: Roles,
    size: str | None,
    chosen: Names,
) -> Roles:
    """Return the column of each role: the named one, or one with a typical name of the role."""
    used = {"fold": roles["fold"]}
    for role in ("item", "repeat"):
        column = spelled(roles[role], names)
        if roles[role] != role or column in names:
            used[role] = column
    if size:
        used["size"] = spelled(size, names)
    taken = {*chosen, *used.values()}
    free = [name for name in names if name not in taken]
    used |= model_columns.size_columns(free)
    if size is not None:
        used.pop("n", None)
    if "repeat" not in used:
        used |= {f"{MAYBE}{name}": name for name in model_columns.repeat_columns(free)}
    return used


def _read_wide(
    source: Any,
    names: Names,
    used: Roles,
    chosen: Names,
    splits: str,
    are_scores: bool,
) -> Columns:
    """Return the columns of a table with one column per model.

    Without `chosen`, all columns that can be models are read.
    """
    columns = chosen or model_columns.may_be_models(names, used.values())
    refuse_shared([*used.values(), *columns])
    data, of_file = _read_columns(source, used, columns)
    if not chosen:
        candidates = {name: data[name] for name in columns}
        columns = model_columns.numeric(candidates)
        texts = {name: cells for name, cells in candidates.items() if name not in columns}
        labels = {name: data[name] for role, name in used.items() if role not in SIZES}
        labels.pop(ROW, None)
        model_columns.refuse_long(texts, labels)
    if not columns:
        used_columns = listed(used.values(), quoted=True)
        raise ValueError(f"there must be a column of losses in addition to {used_columns}")
    label, sizes, of_labels = _labels(data, used, splits)
    others = {name: data[name] for name in columns}
    gaps = "item" not in label and _rows_are_folds(label)
    scores = {name: _numbers(name, data[name], gaps, others) for name in columns}
    notes = [*of_file, *of_labels]
    if not chosen:
        refuse_identifiers(scores)
        model_columns.refuse_doubtful(scores)
        unread = _unread(names, used, sizes, columns)
        if len(columns) > 2 or unread:
            models = listed(columns, MOST_NAMED)
            advice = "To leave some out, list the others in models"
            notes.append(Note("data", f"columns read as models: {models}{unread}. {advice}"))
    notes += model_columns.refuse_mixed(columns, bool(chosen) and are_scores)
    return Columns(scores, label, sizes, notes)


def _unread(names: Names, used: Roles, sizes: Arrays, columns: Names) -> str:
    read = {name for role, name in used.items() if role != "n" or "n" in sizes} | {*columns}
    unread = [name for name in names if name and name not in read]
    return f"; not read: {listed(unread, MOST_NAMED)}" if unread else ""


def _numbers(
    name: str,
    cells: ndarray,
    gaps: bool,
    others: dict | None = None,
) -> ndarray:
    """Return a column as floats; if gaps are allowed, missing cells are NaN."""
    rows = np.flatnonzero(~shapes.gaps(cells, True))
    if not gaps or not rows.size:
        return numbers.to_numbers(name, cells, others=others)
    values = np.full(len(cells), np.nan)
    with shapes.in_rows(rows):
        values[rows] = numbers.to_numbers(name, cells[rows], others=others)
    return values


def _read_long(
    source: Any,
    names: Names,
    used: Roles,
    chosen: Names,
    value: str,
    splits: str,
) -> Columns:
    """Return the columns of a table with one row per model; without `chosen`, of all models."""
    value = long_form.value_column(model_columns.may_be_models(names, used.values()), value)
    refuse_shared([*used.values(), value])
    model_columns.refuse_inner("value", value)
    data, of_file = _read_columns(source, used, [value])
    column = used["model"]
    model = np.array(numbers.as_text(numbers.to_labels(column, data[column], "text")))
    for name in chosen:
        checks.choice("models", name, np.unique(model).tolist())
    rows = np.arange(model.size)
    if chosen:
        rows = np.flatnonzero(np.isin(model, chosen))
    model = model[rows]
    with shapes.in_rows(rows if chosen else None):
        data = {name: cells[rows] for name, cells in data.items()}
        label, sizes, of_labels = _labels(data, used, splits, model == model[0])
        losses = _numbers(value, data[value], "item" not in label)
    models, label, spread = long_form.spread(model, label, sizes | {"loss": losses})
    unread = _unread(names, used, sizes, [value])
    count = counted(len(models), "model")
    text = f"one row per model: {count} in column {column!r}, values in column {value!r}{unread}"
    notes = [*of_file, *of_labels, Note("data", text), *model_columns.best_notes(value)]
    losses = spread.pop("loss")
    scores = {name: losses[:, models.index(name)] for name in chosen or models}
    for role, cells in [*spread.items()]:
        if role == "n" and np.any(cells != cells[:, :1]):
            del spread[role]
        elif np.any(cells != cells[:, :1]):
            raise ValueError(f"column {used[role]!r} must be the same for every model")
    sizes = {role: cells[:, 0] for role, cells in spread.items()}
    return Columns(scores, label, sizes, notes)


def _in_scheme(
    columns: Columns,
    used: Roles,
    size: str | None,
    splits: str,
    test_share: float | None,
) -> Read:
    """Return losses in the scheme that was named or that the columns show, or raise."""
    scores, label, sizes, notes = columns
    share = None
    is_assumed = splits == "auto"
    if "n_train" in sizes and "n_test" in sizes:
        n_test = sizes["n_test"].sum()
        share = n_test / (sizes["n_train"].sum() + n_test)
    if splits == "auto":
        splits = _scheme_of_columns(columns, used["fold"], share)
        if splits == "random":
            text = (
                "the columns of sizes show that the test sets overlap, so they were read as random "
                "splits. Repeats of folds need a column that tells them apart"
            )
            notes.append(Note("data", text))
    if "n" in sizes and "item" not in label and _rows_are_folds(label):
        _refuse_doubtful_sizes(used["n"], sizes["n"])
        text = f"column {used['n']!r} was read as the number of items in each test set"
        notes.append(Note("data", text))
        warn_of_limit(text)
    if splits == "random":
        return _random_splits(columns, test_share or share or schemes.ask_share())
    label = {"repeat": np.zeros(len(label["fold"]), int)} | label
    items = None
    if "item" not in label and _rows_are_folds(label):
        items = _items_of_rows(columns)
        weights = ", weighted by their items" if items.max() > 1 else " of equal folds"
        text = f"one row per fold, so rows were read as fold means{weights}"
        if is_assumed and items.max() == 1 and np.unique(label["repeat"]).size == 1:
            text += f". {schemes.IF_RANDOM}"
        notes.append(Note("data", text))
    elif size:
        raise ValueError(
            f"column {used['size']!r} can hold sizes of folds only if there is one row per fold "
            "and no column of items. Is a repeat column missing?"
        )
    elif "item" not in label and np.unique(label["repeat"]).size == 1:
        text = (
            f"no item column, so {len(label['fold']):,} rows were read as different items. If the "
            "cross-validation was repeated, name item and repeat"
        )
        notes.append(Note("assumption", text))
    return Read(
        scores,
        label,
        items,
        "folds",
        None,
        notes,
    )


def _scheme_of_columns(columns: Columns, fold: str, share: float | None) -> str:
    """Return "folds" or "random" if the columns show it, else raise an error that asks."""
    label = columns.label
    if "item" in label or np.unique(label.get("repeat", 0)).size > 1:
        return "folds"
    rows_of_fold = np.unique(label["fold"], return_counts=True)[1]
    folds = rows_of_fold.size
    rows = rows_of_fold[0]
    if share is not None and rows_of_fold.max() == 1:
        return "folds" if abs(folds * share - 1) < 0.5 / folds else "random"
    if model_columns.numbers_splits(fold):
        schemes.ask(f"column {fold!r} may number folds or random splits", CONSECUTIVE)
    schemes.refuse_unknown_folds(folds, CONSECUTIVE)
    fractions = any(np.any(values % 1) for values in columns.scores.values())
    if 1 < rows <= MOST_REPEATS and np.ptp(rows_of_fold) == 0 and fractions:
        schemes.ask(
            f"every fold has {rows} rows, without a column of items or repeats, so rows may be "
            "items or means of folds in several repeats"
        )
    return "folds"


def _random_splits(columns: Columns, share: float) -> Read:
    """Return one row per random split: the mean of its items and repeats if it has several."""
    label = columns.label
    notes = columns.notes
    split = _cells(label)
    rows_of_split = np.bincount(split)
    first = np.unique(split, return_index=True)[1]
    items = _items_of_rows(columns)[first]
    if rows_of_split.max() > 1:
        text = "several rows per split: they were read as items, and each split has their mean"
        notes.append(Note("data", text))
        items = rows_of_split
    means = {}
    for name, values in columns.scores.items():
        means[name] = np.bincount(split, values) / rows_of_split
    fold = np.arange(first.size) if "repeat" in label else label["fold"][first]
    return Read(
        means,
        {"fold": fold},
        items,
        "random",
        share,
        notes,
    )


def _labels(
    data: Arrays,
    used: Roles,
    splits: str,
    rows: Any = slice(None),
) -> tuple:
    """Return labels by role, sizes by role, and notes; `rows` are the rows of one model."""
    label: Arrays = {}
    maybe: Arrays = {}
    for role, name in used.items():
        if role in ("fold", "item", "repeat"):
            label[role] = numbers.to_labels(name, data[name], "text")
        elif role.startswith(MAYBE):
            maybe[name] = numbers.to_labels(name, data[name], "text")
    if label["fold"].dtype.kind == "U":
        numbers.refuse_totals(used["fold"], label["fold"].tolist())
    notes: list[Note] = []
    if splits == "random" and maybe:
        # rows that differ in any of these columns are different splits
        label["repeat"] = long_form.cells(maybe.values())
    elif maybe:
        of_one = {name: labels[rows] for name, labels in label.items()}
        candidates = {name: labels[rows] for name, labels in maybe.items()}
        repeat, notes = model_columns.repeats_told(
            candidates, of_one, used["fold"], splits == "folds"
        )
        if repeat:
            label["repeat"] = maybe[repeat]
    return label, _sizes(data, used), notes


def _sizes(data: Arrays, used: Roles) -> Arrays:
    """Return the columns of sizes; a column of test sizes may also hold proportions.

    A column such as "n" is returned only without another one, and if its numbers may be sizes.
    """
    sizes: Arrays = {}
    if "n" in used and "n_test" not in used:
        sizes = _possible_sizes(used["n"], data[used["n"]])
    for role in SIZES[:-1]:
        if role in used:
            name = used[role]
            values = numbers.to_numbers(name, data[name], whole=True)
            if role != "size" and np.all((values > 0) & (values < 1)):
                if role == "n_test":
                    sizes |= {"n_train": 1 - values, "n_test": values}
                continue
            for row in np.flatnonzero((values % 1 != 0) | (values < 1))[:1]:
                rule = f"a whole number of at least 1; got {values[row]:g}"
                text = f": the size of a fold must be {rule}"
                raise numbers.RowError(f"column {name!r}, ", row, text)
            sizes[role] = values
    return sizes


def _possible_sizes(name: str, cells: ndarray) -> Arrays:
    """Return {"n": numbers} if they are whole, at least 1 and not all equal, else {}."""
    try:
        values = numbers.to_numbers(name, cells, whole=True)
    except ValueError:
        return {}
    are_sizes = np.all((values % 1 == 0) & (values >= 1)) and np.ptp(values) > 0
    return {"n": values} if are_sizes else {}


def _refuse_doubtful_sizes(name: str, sizes: ndarray) -> None:
    """Raise if numbers in a column such as "n" count up by 1, or differ by more than a factor 2."""
    if np.any(np.diff(sizes) != 1) and sizes.max() <= 2 * sizes.min():
        return
    raise WrongValue(
        "size",
        f"must be given, because column {name!r} may hold the number of items in each test set or "
        f"something else: its values are {sizes.min():g} to {sizes.max():g}. If it holds no sizes, "
        "remove the column",
    )


def _items_of_rows(columns: Columns) -> ndarray:
    """Return the number of items that each row tests, 1 if no column gives it."""
    sizes = columns.sizes.get("size", columns.sizes.get("n_test", columns.sizes.get("n")))
    if sizes is None or sizes.min() < 1:
        return np.ones(len(columns.label["fold"]), int)
    return sizes.astype(int)


def _cells(label: Arrays) -> ndarray:
    return long_form.cells(label[role] for role in ("fold", "repeat") if role in label)


def _rows_are_folds(label: Arrays) -> bool:
    return np.bincount(_cells(label)).max() == 1


def refuse_shared(columns: list[str]) -> None:
    """Raise if a column has two roles."""
    for name in columns:
        if columns.count(name) > 1:
            raise ValueError(f"column {name!r} must have only one role, or be only one model")


def refuse_identifiers(columns: Arrays) -> None:
    """Raise if a column of losses seems to hold identifiers.

    Such a column has a different whole number in every row. In addition, the numbers increase, they
    have no gap, or there are at least 10 of them.
    """
    for name, values in columns.items():
        size = values.size
        if size < 3 or np.any(values % 1) or np.unique(values).size < size:
            continue
        if size >= 10 or np.all(np.diff(values) > 0) or np.ptp(values) == size - 1:
            raise ValueError(
                f"column {name!r} holds a different whole number in every row, so it seems to hold "
                f"identifiers. List the columns of losses in models, or use item={name!r}"
            )
