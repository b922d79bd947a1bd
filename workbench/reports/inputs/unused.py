"""Notes on unused columns that seem to be part of the sample's design."""

from collections.abc import Iterable, Mapping
from typing import Any

from workbench.data import roles
from workbench.results import Note
from workbench.results.limits import warn_of_limit

UNRELIABLE = "unreliable"


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
