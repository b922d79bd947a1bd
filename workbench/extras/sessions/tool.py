"""The class of labeling tools, and helpers to read their records."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from workbench import checks
from workbench.data import numbers
from workbench.data.json_records import kind_of
from workbench.labeling.label_rows import LabelRow

Items = Iterable[tuple[str, Mapping[str, str]]]


@dataclass(frozen=True)
class Tool:
    """A labeling tool.

    Attributes
    ----------
    key : str
        Name in options.
    name : str
        Name in messages.
    ending : str
        Ending of its files.
    write : callable
        Takes items and labels, and yields the text of a file of tasks in parts.
    owns : callable
        Takes a record of JSON, and returns whether it is one of the tool.
    read : callable
        Takes the number of a record and the record, and yields one row for each annotator.
    reserved : set of str
        Names of fields, in lower case, that a column must not have.
    variable : callable
        Takes the name of a column, and returns the name of its field.
    person : callable
        Takes the name of a file without its ending, and returns the annotator, "" if unknown.
    interface : callable, optional
        Takes columns and labels, and returns the settings that a project of the tool needs.
    """

    key: str
    name: str
    ending: str
    write: Callable[[Items, Sequence[str]], Iterator[str]]
    owns: Callable[[dict], bool]
    read: Callable[[int, dict], Iterator[LabelRow]]
    reserved: frozenset[str] = frozenset({"item"})
    variable: Callable[[str], str] = str
    person: Callable[[str], str] = lambda _: ""
    interface: Callable[[Iterable[str], Iterable[str]], str] | None = None


def text_and_others(identifier: str, columns: Mapping[str, str]) -> tuple[str, dict[str, str]]:
    """Return the text of a task, and the other columns.

    The text is the column `text` if there is one. Otherwise, it is all columns, or the identifier.
    """
    rest = {name: value for name, value in columns.items() if name != "text"}
    lines = "\n".join(f"{name}: {value}" for name, value in rest.items())
    return columns.get("text", lines or identifier), rest


def one_label(number: int, item: str, by: str, picked: Sequence) -> LabelRow:
    """Return the row of an annotation with one label or none."""
    problem = label = ""
    if len(picked) > 1:
        problem = f"has {len(picked)} labels, {checks.listed(picked, quoted=True)}; keep one"
    elif picked and not isinstance(picked[0], (str, int, float)):
        problem = f"has a label that is {kind_of(picked[0])}, not text"
    elif picked:
        label = text_of(picked[0])
    return LabelRow(number, item, label, by, problem=problem)


def item_of(fields: Any, *names: str) -> str:
    """Return the item from the first of the fields `names` that exists, "" without one."""
    for name in names if isinstance(fields, dict) else ():
        value = fields.get(name)
        if value is not None:
            return "" if isinstance(value, bool) else text_of(value)
    return ""


def text_of(value: Any) -> str:
    """Return a value of JSON as text, "" for a list or an object."""
    return "" if isinstance(value, (list, dict)) else numbers.as_text([value])[0]
