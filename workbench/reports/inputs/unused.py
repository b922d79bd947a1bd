"""Notes on unused columns that seem to be part of the sample's design."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from workbench.audits.random_sample import reached_values
from workbench.data import frames, roles, shapes
from workbench.data.columns import plain_name
from workbench.results import Note
from workbench.results.limits import warn_of_limit

UNRELIABLE = "unreliable"
LEAST_VALUES = 10  # of a column of clusters; a column with fewer may say that a row is labeled
LEAST_CLUSTERS = 5  # the same for a column whose name is that of clusters
UNLIKELY = 1e-4  # probability below which so few values are no chance
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
        Option of the report by role, as in `workbench.data.roles.unused_notes`.
    warn : bool
        Whether a command prints the notes that cast doubt on the result.
    """
    notes = roles.unused_notes(source, used, options) if source else ()
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
        if values.total < LEAST_CLUSTERS or values.pvalue >= UNLIKELY / len(names):
            continue
        is_cluster = roles.columns_of({name: cells})[0].seems == roles.CLUSTER
        if values.total >= LEAST_VALUES or is_cluster:
            text = (
                f"the labeled rows have only {values.reached:,} of the {values.total:,} values of "
                f"column {name!r}; a random sample would have about {values.expected:,.0f}. If "
                f"rows with the same {name!r} were labeled together, the interval is too short. "
                f"Then run workbench report brr-orthogonal-arrays --psu {name!r} with the labeled "
                "rows instead"
            )
            warn_of_limit(text)
            notes[name] = Note(UNRELIABLE, text)
    return notes
