"""Labels of items as rows: from a filled annotation sheet, or the export of a labeling tool."""

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
    """The label of an item in one row of a sheet, or by one annotator in a record of a tool.

    Attributes
    ----------
    number : int
        Row number that a spreadsheet shows, line of a JSONL file, or place in a list from 1.
    id : str
        Identifier of the item, "" for none.
    label : str
        Answer as it is written, "" for none.
    by : str
        Annotator, "" if not known.
    position : str
        Position in the order of labeling, as it is written in the sheet.
    verdict : {"", "accept", "reject"}
        Prodigy's answer to the label: "reject" means that the label is incorrect.
    chosen : bool
        Whether the answer is to a choice among options, not to one label.
    skipped : bool
        Whether the annotator skipped the item.
    problem : str
        Reason why the row cannot be used, or "".
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
        """Whether the row has a label, an answer to a label, or a skip."""
        return bool(self.label or self.verdict or self.skipped)

    def answer(
        self,
        asks: str,
        predicted: str | None,
        read: Callable[[str], Any],
    ) -> Any:
        """Return 1 or 0, or the text of a class, by `asks`; None for a row without an answer.

        A rejected class is incorrect, but the true class is then unknown.

        Parameters
        ----------
        asks : {"correct", "truth", "which"}
            Column to fill.
        predicted : str or None
            Predicted class of the item.
        read : callable
            Function from a label to the answer. It raises if the label is not an answer.

        Raises
        ------
        ValueError
            If the label is not an answer. Also if a choice or the label "wrong" was rejected,
            because the meaning is then unclear.

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
                f"it rejects {of}, so it is not clear whether the prediction is correct. Choose an "
                "answer and accept it, or ignore the task"
            )
        return 0


@dataclass(frozen=True)
class Annotations:
    """The rows of a file of labels in their order.

    Attributes
    ----------
    label : str
        Name of the file.
    tool : str
        Labeling tool that wrote the file, "" for a sheet.
    rows : tuple of LabelRow
        The rows.
    by : str
        Annotator from the name of the file, as in exports of doccano, or "".
    """

    label: str
    tool: str
    rows: tuple[LabelRow, ...]
    by: str = ""


def read_export(path: str | PathLike[str]) -> Annotations | None:
    """Return the rows of the export of a labeling tool, or None for a table."""
    return registry.load(registry.EXPORTS)(path)
