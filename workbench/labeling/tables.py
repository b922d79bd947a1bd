"""Read filled sheets as columns of text, with the row numbers that a spreadsheet shows."""

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass

from workbench.data import frames, numbers
from workbench.data.columns import plain_name
from workbench.data.safe_csv import original
from workbench.results import Note

AnyPath = str | os.PathLike[str]
_WHOLE = re.compile(r"([0-9]+)(?:[.,]0*)?")


@dataclass(frozen=True)
class SheetTable:
    """Columns of a sheet as stripped text, "" for an empty cell, with notes of the reader.

    `rows` are the row numbers that a spreadsheet shows. `ids` are without the apostrophe that keeps
    a spreadsheet from executing a cell.
    """

    label: str
    columns: dict[str, list[str]]
    rows: list[int]
    notes: tuple[Note, ...]

    @property
    def ids(self) -> list[str]:
        """The identifiers, column `id`."""
        return self.columns["id"]


def read_table(path: AnyPath, names: Sequence[str], optional: Sequence[str] = ()) -> SheetTable:
    """Read the columns `names` of a sheet, which include `id`, and existing ones of `optional`."""
    header = {plain_name(name) for name in frames.column_names(path)} if optional else set()
    present = [name for name in optional if plain_name(name) in header]
    columns, notes = frames.read_columns(path, [*names, *present])
    texts = {name: numbers.as_text(column) for name, column in columns.items()}
    texts["id"] = [original(cell) for cell in texts["id"]]
    rows = frames.row_numbers(path, len(texts["id"]))
    return SheetTable(repr(os.fspath(path)), texts, rows, tuple(notes))


def whole_number(cell: str) -> int | None:
    """Return a whole number as a spreadsheet may show it, None for other text.

    Examples
    --------
    >>> whole_number("12"), whole_number("12,0"), whole_number("x")
    (12, 12, None)
    """
    number = _WHOLE.fullmatch(cell)
    return int(number[1]) if number else None
