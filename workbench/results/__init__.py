"""Frozen values that print, tabulate and serialize; how their numbers and their rows are shown."""
from workbench.results.result import (
    FILLED,
    NO_INTERVAL,
    NOTE_KINDS,
    NOTES,
    RECORD,
    RECORDING,
    SHOWN_ROWS,
    Estimate,
    Interval,
    Note,
    Result,
    Table,
    alignment,
    html_table,
    note_list,
    percent,
    plain,
    record,
    sentences,
)

__all__ = [
    "FILLED", "NOTE_KINDS", "NOTES", "NO_INTERVAL", "RECORD", "RECORDING", "SHOWN_ROWS", "Estimate", "Interval", "Note",
    "Result", "Table", "alignment", "html_table", "note_list", "percent", "plain", "record", "sentences",
]
