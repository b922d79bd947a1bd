"""The rows of a filled annotation sheet: the item and the answer of each row.

`opened` reads a sheet or a labeling tool's export. `labels_of` returns the labels of the items, and
`progress` the items without a label.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from numpy import ndarray

from workbench import checks
from workbench.data import frames
from workbench.data.classes import looks, verdict_of
from workbench.data.columns import plain_name
from workbench.data.decimals import is_plain
from workbench.data.safe_csv import original
from workbench.data.scored_items import ScoredItems
from workbench.labeling import draws
from workbench.labeling import ids as sheet_ids
from workbench.labeling.answers import answer_reader, class_texts, named_classes, right_or_wrong
from workbench.labeling.label_rows import Annotations, read_export
from workbench.labeling.tables import AnyPath, SheetTable, read_table, whole_number
from workbench.results import Note

KEPT_DIGITS = 1e-14  # relative; a spreadsheet keeps 15 digits of a number


@dataclass(frozen=True)
class SheetRows(SheetTable):
    """A sheet whose rows `matches` matches to items.

    `names` are the identifiers of the items, and `position_of` their positions. `rows` are the row
    numbers that a spreadsheet shows, or the numbers of a labeling tool's records. `prediction` is
    the column in which a sheet shows the predictions.
    """

    answer: str
    prediction: str
    names: list[str]
    position_of: dict[str, int]

    def sizes(self) -> list:
        """Return the possible numbers of items of the sheet when it was written.

        These are its last position, the number of its identifiers, and the number of known ones.
        """
        positions = map(whole_number, self.columns.get("position", ()))
        last = max(filter(None, positions), default=0)
        ids = set(self.ids) - {""}
        return list(dict.fromkeys((last, len(ids), len(self.known()))))

    def known(self) -> set[int]:
        """Return the positions of the items whose identifiers are in the sheet unchanged."""
        return {self.position_of[cell] for cell in self.ids if cell in self.position_of}

    def unmatched(self, matched: Sequence) -> list[str]:
        """Return the ids of the rows without an item, "" for a row without an id."""
        return [cell for cell, item in zip(self.ids, matched, strict=True) if item is None]

    def matches(self, planned: ndarray | None) -> tuple:
        """Return the position of each row's item, or None, and the changed ids."""
        for row, cell, answer in zip(self.rows, self.ids, self.columns[self.answer], strict=True):
            if answer and not cell:
                raise ValueError(
                    f"column 'id', row {row} is empty, but column {self.answer!r} holds "
                    f"{answer!r}. Write the id of the item into the row"
                )
        sampled = [] if planned is None else [self.names[item] for item in planned.tolist()]
        matched, changed = sheet_ids.matched(self.ids, self.position_of, sampled)
        if all(item is None for item in matched):
            raise ValueError(
                f"no id of {self.label} is an id of the items: its first id is {self.ids[0]!r}, "
                f"and the first item is {self.names[0]!r}. Check that sheet and scores belong "
                "together"
            )
        return matched, changed

    def refuse_other_plan(
        self,
        matched: Sequence,
        stratum: ndarray,
        planned: ndarray | None,
    ) -> None:
        """Raise if a row's stratum or position is not that of its item in the plan."""
        order = () if planned is None else planned.tolist()
        planned_position = {item: str(k) for k, item in enumerate(order, 1)}
        for name, meant, remedy in (
            (
                "stratum",
                lambda item: str(stratum[item]),
                "now. Use the settings with which the sheet was written: number of strata, "
                "stratifier, seed and question (such as the metrics of a class, or a rival)",
            ),
            (
                "position",
                planned_position.get,
                "in the plan. Columns of the sheet may have been sorted separately, so that "
                "answers are in the row of another id. Sort whole rows, or delete the column "
                "position if only that column was changed",
            ),
        ):
            for k, cell in enumerate(self.columns.get(name, ())):
                expected = None if matched[k] is None else meant(matched[k])
                if cell and expected and str(whole_number(cell)) != expected:
                    row = f"id {self.ids[k]!r} (row {self.rows[k]})"
                    raise ValueError(
                        f"{row} has {name} {cell!r} in the sheet, but {expected} {remedy}"
                    )

    def refuse_other_predictions(self, matched: Sequence, items: ScoredItems) -> None:
        """Raise if a row says whether another prediction than that of its item is correct.

        A cell may have been changed by a spreadsheet if it is no predicted class or the same number
        as the prediction. Such a cell is ignored.
        """
        predicted = self.columns.get(self.prediction)
        if self.answer != "correct" or items.prediction is None or not predicted:
            return
        cells = self.columns[self.answer]
        answered = [
            k for k, item in enumerate(matched) if item is not None and cells[k] and predicted[k]
        ]
        predictions = class_texts(items.prediction[[matched[k] for k in answered]]).tolist()
        texts, class_of = named_classes(items.prediction)
        by_look = {looks(text): text for text in texts}
        differing = []
        for k, prediction in zip(answered, predictions, strict=True):
            cell = original(predicted[k])
            shown = class_of(cell) or by_look.get(looks(cell))
            if shown not in (None, prediction) and not _same_number(shown, prediction):
                differing.append(f"id {self.ids[k]!r}: {shown!r} in the sheet, {prediction!r} now")
        if differing:
            raise ValueError(
                f"the sheet shows other predictions than the items in {len(differing):,} of "
                f"{checks.counted(len(answered), 'labeled row')} ({differing[0]}). Its answers are "
                "about the predictions that it shows. Use the file with which the sheet was "
                f"written, label a new sheet, or delete the column {self.prediction!r} from the "
                "sheet if it was only reformatted"
            )

    def answers(self, items: ScoredItems) -> list:
        """Return the answer of each row: 1 or 0, the text of a class, or None if it is empty."""
        cells = self.columns[self.answer]
        if self.answer == "correct":
            return right_or_wrong(self.ids, cells, self.rows, items.prediction)
        read = answer_reader(self.answer, items.prediction, items.rival)
        answers = []
        for row, name, cell in zip(self.rows, self.ids, cells, strict=True):
            try:
                answers.append(read(cell) if cell else None)
            except ValueError as error:
                where = f"column {self.answer!r}, row {row} (id {name!r})"
                raise ValueError(f"{where}: {error}") from None
        return answers

    def order(self, matched: Sequence, planned: ndarray | None) -> list[int] | None:
        """Return the items in the order of labeling, or None if it is unknown.

        The order is that of the plan, or else that of the column position.
        """
        if planned is not None:
            return planned.tolist()
        positions = map(whole_number, self.columns.get("position", ()))
        pairs = [pair for pair in zip(positions, matched, strict=False) if pair[1] is not None]
        if not pairs or any(position is None for position, _ in pairs):
            return None
        return list(dict.fromkeys(item for _, item in sorted(pairs)))


def _same_number(first: str, second: str) -> bool:
    """Return whether a spreadsheet may read two texts as the same number, such as 50% and 0.5."""
    values = []
    for text in (first, second):
        number = text.rstrip("% ")
        if not is_plain(number):
            return False
        value = float(number.replace(",", "."))
        values.append(value / 100 if number != text else value)
    return math.isclose(*values, rel_tol=KEPT_DIGITS)


def opened(
    path: AnyPath, items: ScoredItems, asks: str, prediction: str = "prediction"
) -> SheetRows:
    """Read the rows of an annotation sheet of `items`, or of the export of a labeling tool.

    `prediction` is the column in which a sheet shows the predictions.
    """
    names = draws.id_texts(items)
    annotated = read_export(path)
    if annotated is not None:
        table, answer = _of_tool(annotated, items, asks, names)
    else:
        usable = [asks]
        if asks == "correct" and items.prediction is not None:
            usable.append("truth")
        header = {plain_name(name) for name in frames.column_names(path)}
        present = [name for name in usable if name in header] or [asks]
        table = read_table(path, ["id", *present], ("stratum", "position", prediction))
        answer = next((name for name in present if any(table.columns[name])), present[0])
    return SheetRows(
        **vars(table),
        answer=answer,
        prediction=prediction,
        names=names,
        position_of=sheet_ids.positions(names),
    )


def _of_tool(
    annotated: Annotations,
    items: ScoredItems,
    asks: str,
    names: list,
) -> tuple:
    """Return a labeling tool's export as a sheet with a row for each item, and its answer column.

    If two annotators label an item, the first label in the file counts, and a note says so.
    """
    answer = asks
    predicted: dict = {}
    if items.prediction is not None:
        predicted = dict(zip(names, class_texts(items.prediction).tolist(), strict=True))
        labels = [row.label for row in annotated.rows if row.label and not row.verdict]
        if asks == "correct" and any(verdict_of(label) is None for label in labels):
            answer = "truth"
    read = answer_reader(answer, items.prediction, items.rival)
    answers: dict = {}
    disputed = []
    for row in annotated.rows:
        where = f"{annotated.label}, record {row.number}"
        if row.id:
            where += f" (id {row.id!r})"
        if row.problem:
            raise ValueError(f"{where} {row.problem}")
        try:
            label = row.answer(answer, predicted.get(row.id), read)
        except ValueError as error:
            raise ValueError(f"{where}: {error}") from None
        cell = "" if label is None else str(label)
        before, first = answers.get(row.id, ("", row))
        if not before:
            answers[row.id] = cell, row
        elif cell not in ("", before):
            if not row.by or not first.by or row.by == first.by:
                second_label = f"{row.label or cell!r} by {row.by or 'nobody named'}"
                first_label = f"{first.label or before!r} by {first.by or 'nobody named'}"
                raise ValueError(
                    f"{where} is {second_label}, but {first_label} in record {first.number}. Keep "
                    "one of the two, or use an audit session for labels of several annotators"
                )
            disputed.append(row.id)
    cells, rows = zip(*answers.values(), strict=True)
    notes: tuple = ()
    if disputed:
        disputed = list(dict.fromkeys(disputed))
        count = checks.counted(len(disputed), "item")
        text = (
            f"{count} with different labels by several annotators: the first label in the file "
            f"counts for {checks.listed(disputed, 5)}. An audit session keeps all labels and "
            "corrects for label errors"
        )
        notes = (Note("data", text),)
    columns = {"id": list(answers), answer: list(cells)}
    return SheetTable(annotated.label, columns, [row.number for row in rows], notes), answer


def labels_of(rows: SheetRows, matched: Sequence, answers: Sequence) -> tuple:
    """Return the label of each item with a row, and the ids that are labeled more than once."""
    labels: dict = {}
    repeated = []
    for item, label, name, row in zip(matched, answers, rows.ids, rows.rows, strict=True):
        if item is None:
            continue
        before = labels.get(item)
        if before is None:
            labels[item] = label
        elif label is not None:
            if before != label:
                raise ValueError(
                    f"id {name!r} is labeled both {before} and {label}, the second time in row "
                    f"{row}. Keep one of the rows"
                )
            repeated.append(name)
    return labels, repeated


def progress(labels: dict, order: list[int] | None) -> tuple:
    """Return the items that were skipped and those that were not reached.

    If the order of labeling is not known, all items without a label count as skipped.
    """
    unlabeled = [item for item in order or labels if labels.get(item) is None]
    if order is None:
        return unlabeled, []
    last = 0
    for position, item in enumerate(order, 1):
        if labels.get(item) is not None:
            last = position
    later = order[last:]
    return unlabeled[: len(unlabeled) - len(later)], later


def kinds_of_rows(
    rows: SheetRows,
    matched: Sequence,
    labels: dict,
    skipped: Sequence,
) -> dict:
    """Return the number of rows of each kind; every row is counted once."""
    without_item = rows.unmatched(matched)
    empty = without_item.count("")
    labeled = sum(label is not None for label in labels.values())
    skips = sum(item in labels for item in skipped)
    counts = {
        "labeled": labeled,
        "skipped": skips,
        "not reached": len(labels) - labeled - skips,
        "repeated": len(matched) - len(without_item) - len(labels),
        "unmatched": len(without_item) - empty,
        "empty": empty,
    }
    return {kind: count for kind, count in counts.items() if count}
