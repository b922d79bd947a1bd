"""A labeling tool, and the row that one of its records gives for an item."""

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
    key, name : str
        How it is asked for, and how it is called.
    ending : str
        Of its files.
    write : callable
        From items and labels to the parts of the text of a file of tasks.
    owns : callable
        From a record of JSON to whether it is one of the tool's.
    read : callable
        From a record's number and the record to the rows that it holds, one for each person.
    reserved : set of str
        Names of fields, in lower case, that a column must not have.
    variable : callable
        From a column's name to that of its field.
    person : callable
        From a file's name without its ending to the person whose labels it holds, "" if unknown.
    interface : callable, optional
        From columns and labels to what a project of the tool has to be given.
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

    The text is the column of that name, else all columns, else the identifier.
    """
    rest = {name: value for name, value in columns.items() if name != "text"}
    lines = "\n".join(f"{name}: {value}" for name, value in rest.items())
    return columns.get("text", lines or identifier), rest


def one_label(number: int, item: str, by: str, picked: Sequence) -> LabelRow:
    """Return the row of an annotation that may hold one label, or none."""
    problem = label = ""
    if len(picked) > 1:
        problem = f"has {len(picked)} labels, {checks.listed(picked, quoted=True)}: keep one"
    elif picked and not isinstance(picked[0], (str, int, float)):
        problem = f"its label is {kind_of(picked[0])}, not text"
    elif picked:
        label = text_of(picked[0])
    return LabelRow(number, item, label, by, problem=problem)


def item_of(fields: Any, *names: str) -> str:
    """Return the item that the first of the fields `names` tells, "" where none does."""
    for name in names if isinstance(fields, dict) else ():
        value = fields.get(name)
        if value is not None:
            return "" if isinstance(value, bool) else text_of(value)
    return ""


def text_of(value: Any) -> str:
    """Return a value of JSON as text, "" for a list or an object."""
    return "" if isinstance(value, (list, dict)) else numbers.as_text([value])[0]
