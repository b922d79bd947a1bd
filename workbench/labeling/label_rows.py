"""The rows that a filled sheet or the export of a labeling tool gives for items."""

from collections.abc import Callable
from dataclasses import dataclass
from os import PathLike
from typing import Any

from workbench import registry

ACCEPT = "accept"
REJECT = "reject"
# fields that hold the label in the flat exports of labeling tools
CHOICE_FIELDS = (
    "verdict",
    "choice",
    "choices",
    "label",
    "labels",
    "answer",
    "class",
    "category",
    "sentiment",
)


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

    def answer(
        self,
        asks: str,
        predicted: str | None,
        read: Callable[[str], Any],
    ) -> Any:
        """Return 1 or 0, or the text of a class as `asks` wants; None where the row has neither.

        A rejected class is wrong, but which one is right is unknown.

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
            If the label is no answer, or a choice or the label "wrong" was rejected, which may mean
            right or wrong.

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
                f"its answer is reject of {of}, which may mean right or wrong: choose one and "
                "accept it, or ignore the task"
            )
        return 0


@dataclass(frozen=True)
class Annotations:
    """The rows of a file of labels in their order, and the tool that wrote it, "" for a sheet.

    `by` is the annotator that the file's name tells, as doccano's does: one file for each.
    """

    label: str
    tool: str
    rows: tuple[LabelRow, ...]
    by: str = ""


def read_export(path: str | PathLike[str]) -> Annotations | None:
    """Return the rows of the export of a labeling tool, or None for a table."""
    return registry.load(registry.EXPORTS)(path)
