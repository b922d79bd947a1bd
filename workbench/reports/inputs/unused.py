"""Notes on unused columns that seem to be part of the sample's design."""

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from workbench.audits.random_sample import reached_values
from workbench.data import frames, numbers, roles, shapes
from workbench.data.columns import plain_name, spelled
from workbench.results import Note
from workbench.results.limits import warn_of_limit

UNRELIABLE = "unreliable"
LEAST_VALUES = 10  # of a column of clusters; a column with fewer may say that a row is labeled
UNLIKELY = 1e-4  # probability below which so few values are no chance
# the kind of the note on an unused column of a role, and the name of its content
_UNUSED = {
    roles.WEIGHT: ("unreliable", "sampling weights"),
    roles.CLUSTER: ("unreliable", "clusters"),
    roles.STRATUM: ("data", "strata"),
    roles.MONTH: ("data", "periods"),
    roles.MODEL: ("unreliable", "models, with rows of their own for each item,"),
    roles.VERSION: ("unreliable", "versions of a model, which may have different error rates,"),
    roles.PART: ("unreliable", "training and other items"),
}
# names of columns that say how the labeled rows were sampled
_SAMPLING = re.compile(
    r"(.*[\W_])?((batch|draw|rand|random)([\W_]?id)?|drawn|order|position|sample|sampled)"
    r"([\W_]?(no|nr|number))?"
)


def unused_columns(
    source: str, used: Iterable[str], options: Mapping[str, str], *, warn: bool = True
) -> tuple[Note, ...]:
    """Return a note for each unused column of weights, clusters, strata or periods.

    A command also prints the notes that cast doubt on the result.

    Parameters
    ----------
    source : str
        File of the report. "" is the data of the course, without notes.
    used : iterable of str
        Columns that the report used, as the user named them.
    options : mapping of str to str
        Option of the report by role, as in `unused_notes`.
    warn : bool
        Whether a command prints the notes that cast doubt on the result.
    """
    notes = unused_notes(source, used, options) if source else ()
    for note in notes:
        if warn and note.kind == UNRELIABLE:
            warn_of_limit(note.text)
    return notes


def with_unused(
    result: Any, source: str, used: Iterable[str], options: Mapping[str, str], *, warn: bool = True
) -> Any:
    """Return a result with the notes of `unused_columns` added."""
    notes = unused_columns(source, used, options, warn=warn)
    return result._noted(*notes) if notes else result


def few_values(
    source: str,
    used: Sequence[str],
    index: np.ndarray,
    size: int,
    strata: np.ndarray | None = None,
) -> dict[str, Note]:
    """Return a note for each unused column of which labeled rows have too few values by chance.

    Columns whose names say how the rows were sampled are not compared.

    Parameters
    ----------
    source : str
        File of the report, with a row per item.
    used : list of str
        Columns that the report used.
    index : (n,) ndarray of int
        Positions of the labeled rows.
    size : int
        Number of items. If rows of the file were left out, no column is compared.
    strata : (N,) ndarray, optional
        Stratum of each item, within which the labeled rows are a random sample.
    """
    names = [name for name in frames.column_names(source) if name not in used]
    names = [name for name in names if not _SAMPLING.fullmatch(plain_name(name))]
    columns = frames.read_columns(source, names)[0] if names else {}
    labeled = np.zeros(size, bool)
    labeled[index] = True
    notes: dict[str, Note] = {}
    for name, cells in columns.items():
        if cells.size != size or len(set(cells[index].tolist())) == index.size:
            continue  # rows were left out, or all labeled rows have different values
        filled = ~shapes.gaps(cells, True)
        strata_of_cells = None if strata is None else strata[filled]
        values = reached_values(cells[filled].tolist(), labeled[filled], strata_of_cells)
        if values.total < roles.LEAST_CLUSTERS or values.pvalue >= UNLIKELY / len(names):
            continue
        is_cluster = roles.columns_of({name: cells})[0].seems == roles.CLUSTER
        if values.total >= LEAST_VALUES or is_cluster:
            text = (
                f"the labeled rows have only {values.reached:,} of the {values.total:,} values of "
                f"column {name!r}; a random sample would have about {values.expected:,.0f}. If "
                f"rows with the same {name!r} were labeled together, the interval is too short. "
                f"Then run workbench report brr-orthogonal-arrays --psu {_typed(name)} with the "
                "labeled rows instead"
            )
            warn_of_limit(text)
            notes[name] = Note(UNRELIABLE, text)
    return notes


def unused_notes(
    source: Any, used: Iterable[str], options: Mapping[str, str] | None = None
) -> tuple[Note, ...]:
    """Return a note for each column of weights, clusters, strata or periods that was not used.

    Roles are guessed from the first rows. Identifiers that repeat are noted only if `options` has
    an entry for `REPEATED`: an option, or "" if the report needs one row for each item.

    Call this function after the report has read the source, so that the report refuses a file that
    cannot be read.

    Parameters
    ----------
    source : str, path or data frame
        As for `workbench.data.frames.read_columns`.
    used : iterable of str
        Columns that the report used, as the user named them; "" is ignored, and "a,b" names two.
    options : mapping of str to str
        Option that would use a column of each role, as the user types it, with dashes; or another
        command of the workbench with this option. A column whose role has no option is named, too.

    Examples
    --------
    >>> audit = {"truth": ["no", "yes"] * 3, "region": ["north", "south"] * 3}
    >>> print(*unused_notes(audit, ["truth"], {roles.STRATUM: "strata_by"}))
    column 'region' seems to contain strata but was not used. To use it, add strata_by region
    """
    names = list(used)
    names += ",".join(names).split(",")
    columns = _first_columns(source, list(filter(None, map(str.strip, names))))
    notes = []
    for column in columns:
        is_of_items = column.seems == roles.MODEL and not _has_rows_of_models(source, column.name)
        if column.seems in _UNUSED and not is_of_items:
            notes.append(_unused_note(source, column, options or {}))
    if options and roles.REPEATED in options:
        notes += _repeated_notes(source, columns, options[roles.REPEATED], names)
    return tuple(notes)


@frames.in_rows_of("source")
def _has_rows_of_models(source: Any, model: str) -> bool:
    """Return whether each item may have a row for each model; False if identifiers differ.

    A unique column may also number the rows. Then another column repeats, but not within a model.
    """
    data = frames.first_rows(source, list(filter(None, frames.column_names(source))))
    columns = roles.columns_of(data)
    identifier = roles.first_of(columns, roles.ID)
    if not identifier or roles.first_of(columns, roles.REPEATED):
        return True
    models = numbers.as_text(data[model])
    for cells in data.values():
        texts = numbers.as_text(cells)
        if len({*texts}) < len(texts) == len({*zip(texts, models, strict=True)}):
            return True
    identifiers = frames.read_columns(source, [identifier])[0][identifier]
    return len({*numbers.as_text(identifiers)}) < len(identifiers)


def _repeated_notes(
    source: Any, columns: Sequence[roles.Column], option: str, used: Sequence[str]
) -> list[Note]:
    """Return a note for each column of identifiers that repeat, or on a column of repeats."""
    notes = []
    file = _name_of_file(source)
    problem = "so rows are not independent items"
    for column in columns:
        may_repeat = column.seems in (roles.ID, roles.REPEATED, roles.OTHER)
        if not may_repeat or not roles.names_items(column.name):
            continue
        # the first rows may have each item once
        cells = frames.read_columns(source, [column.name])[0][column.name]
        rows = int((~shapes.gaps(cells, True)).sum())
        values = len({*numbers.as_text(cells)} - {""})
        if roles.LEAST_ITEMS <= values < rows and not _are_items(source, column.name, option, used):
            remedy = f"To use it, add {option} {_typed(column.name)}"
            if not option:
                remedy = "If rows with the same value are the same item, keep one row of each"
            counts = f"{values:,} values in {rows:,} rows"
            text = f"values of column {column.name!r}{file} repeat ({counts}), {problem}. {remedy}"
            notes.append(Note("unreliable", text))
    repeat = roles.first_of(columns, roles.REPEAT)
    if repeat and not notes:
        text = f"column {repeat!r}{file} seems to number repeats of the same items, {problem}"
        remedy = f", or add {option} with a column of items" if option else ""
        notes.append(Note("unreliable", f"{text}. Keep the rows of one repeat{remedy}"))
    return notes


def _are_items(source: Any, identifier: str, option: str, used: Sequence[str]) -> bool:
    """Return whether rows are different items although an identifier repeats.

    They are if it starts again in each stratum or group that the report used. Without an option
    for clusters, they are also if another identifier of items does not repeat.
    """
    names = frames.column_names(source)
    groups = {spelled(name, names) for name in used} & {*names} - {""}
    groups = {name for name in groups if not roles.names_part_of_items(name)}
    items = set(filter(roles.names_items, names))
    items = {name for name in items if not plain_name(name).startswith("row")}
    data, _ = frames.read_columns(source, sorted({identifier} | groups | items))
    texts = {name: numbers.as_text(cells) for name, cells in data.items()}
    for name in groups:
        pairs = list(zip(texts[identifier], texts[name], strict=True))
        if 2 * len({*texts[name]}) <= len(pairs) and len({*pairs}) == len(pairs):
            return True
    return not option and any(len({*texts[name]}) == len(texts[name]) for name in items)


@frames.in_rows_of("source")
def _first_columns(source: Any, used: Sequence[str]) -> list[roles.Column]:
    """Return the probable roles of the unused columns of a source, from its first rows."""
    names = frames.column_names(source)
    used_names = {spelled(name, names) for name in used}
    unused = [name for name in names if name and name not in used_names]
    if not unused:
        return []
    varying = {}
    for name, cells in frames.first_rows(source, unused).items():
        texts = set(map(str, cells))
        if len(texts) > 1:
            varying[name] = cells
    return roles.columns_of(varying)


def _unused_note(source: Any, column: roles.Column, options: Mapping[str, str]) -> Note:
    kind, content = _UNUSED[column.seems]
    remedy = ". This report has no option for it"
    if column.seems in options:
        option = f"{options[column.seems]} {_typed(column.name)}"
        remedy = f". To use it, add {option}"
        if option.startswith("workbench "):
            remedy = f". To use it, run {option} instead"
    name = f"column {column.name!r}{_name_of_file(source)}"
    return Note(kind, f"{name} seems to contain {content} but was not used{remedy}")


def _name_of_file(source: Any) -> str:
    is_path = isinstance(source, (str, os.PathLike))
    return f" of {os.path.basename(source)!r}" if is_path else ""


def _typed(name: str) -> str:
    return name if re.fullmatch(r"[\w.-]+", name) else repr(name)
