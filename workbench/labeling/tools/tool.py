"""What a labeling tool has to say of itself, and what its records say of items."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from workbench import checks
from workbench.data import numbers
from workbench.data.json_records import kind_of

ACCEPT = "accept"
REJECT = "reject"
Items = Iterable[tuple[str, Mapping[str, str]]]


@dataclass(frozen=True)
class LabelRow:
    """What one row of a sheet, or one person in a record of a tool, says of an item.

    Attributes
    ----------
    number : int
        Row as a spreadsheet shows it; line of JSONL; place in a list, from 1.
    id, label : str
        The item, and the answer as it is written; "" for none.
    by : str
        Who said so, "" where nothing tells.
    position : str
        As a sheet says it.
    verdict : {"", "accept", "reject"}
        Prodigy's answer to the label: "reject" means that it is not the right one.
    chosen : bool
        Whether the verdict is on a choice among options, not on one label.
    skipped : bool
        Whether the annotator passed the item over.
    problem : str
        Why the row cannot be used, "" where it can.
    """

    number: int
    id: str = ""
    label: str = ""
    by: str = ""
    position: str = ""
    verdict: str = ""
    chosen: bool = False
    skipped: bool = False
    problem: str = ""

    @property
    def is_answered(self) -> bool:
        """Whether the row says anything: a label, a verdict or a skip."""
        return bool(self.label or self.verdict or self.skipped)

    def answer(self, asks: str, predicted: str | None, read: Callable[[str], Any]) -> Any:
        """Return what the row says: 1 or 0, or the text of a class as `asks` wants; None where it says neither.

        That a class is rejected tells that it is wrong, but not which one is right.

        Parameters
        ----------
        asks : {"correct", "truth", "which"}
        predicted : str or None
            Class of the item.
        read : callable
            From a label to the answer; raises where it is none.

        Raises
        ------
        ValueError
            If the label is no answer, or a choice or the label "wrong" was rejected: both may mean either.

        Examples
        --------
        >>> row = LabelRow(1, "d-1", "cat", verdict="reject")
        >>> row.answer("correct", "cat", int), row.answer("truth", "cat", str)
        (0, None)
        """
        if not self.verdict or asks != "correct":
            return read(self.label) if self.label and self.verdict != REJECT else None
        right = 1 if self.label in ("", predicted) else read(self.label)
        if self.verdict != REJECT:
            return right
        if self.chosen or not right:
            of = "a choice" if self.chosen else repr(self.label)
            raise ValueError(
                f"its answer is reject of {of}, which may mean right or wrong: choose one and accept it, "
                "or ignore the task"
            )
        return 0


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
        From a file's name without its ending to the person whose labels it holds, "" where it does not tell.
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


def text_and_others(identifier: str, shown: Mapping[str, str]) -> tuple[str, dict[str, str]]:
    """Return the text of a task, and the other columns.

    The text is the column of that name, else all that is shown, else the identifier.
    """
    others = {name: value for name, value in shown.items() if name != "text"}
    return shown.get(
        "text", "\n".join(f"{name}: {value}" for name, value in others.items()) or identifier
    ), others


def one_label(number: int, item: str, by: str, picked: Sequence) -> LabelRow:
    """Return the row of an annotation that may hold one label, or none."""
    if len(picked) > 1:
        return LabelRow(
            number,
            item,
            by=by,
            problem=f"has {len(picked)} labels, {checks.listed(picked, quoted=True)}: keep one",
        )
    if picked and not isinstance(picked[0], (str, int, float)):
        return LabelRow(number, item, by=by, problem=f"its label is {kind_of(picked[0])}, not text")
    return LabelRow(number, item, text_of(picked[0]) if picked else "", by)


def item_of(fields: Any, *names: str) -> str:
    """Return the item that the first of the fields `names` tells, "" where none does."""
    values = [fields.get(name) for name in names] if isinstance(fields, dict) else []
    item = next((value for value in values if value is not None), "")
    return "" if isinstance(item, bool) else text_of(item)


def text_of(value: Any) -> str:
    """Return a value of JSON as text, "" for a list or an object."""
    return "" if isinstance(value, (list, dict)) else numbers.as_text([value])[0]
