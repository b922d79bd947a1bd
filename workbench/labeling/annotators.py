"""Labels of several annotators for the same items, read from files.

Start with `read_annotators`. A file is one of these:

- a table with a column for each annotator,
- a table with a row for each label (item, annotator, label),
- a filled annotation sheet,
- the export of a labeling tool.
"""

import math
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from workbench import checks
from workbench.checks import WrongValue, listed
from workbench.data import frames, numbers
from workbench.data.classes import alike_notes, looks, usual_spellings, verdict_of
from workbench.data.columns import plain_name, spelled
from workbench.data.combined import recognized
from workbench.labeling.label_rows import CHOICE_FIELDS, REJECT, Annotations, read_export
from workbench.labeling.tables import AnyPath
from workbench.results import Note

# how people write a missing label in a table; "none" may be a class
GAPS = (numbers.GONE - {"none"}) | {"-", "--"}
MOST_CLASSES = 50  # a column with more different cells holds text or measurements
ITEM = re.compile(r"(.*[_ .-])?(id|ids|uuid|guid|key)|item|case|nr|no|document|unit|question|index")
ANNOTATOR = re.compile(
    r"(annotator|coder|rater|labell?er|reviewer|worker|grader|completed_by|annotated_by)"
    r"([_ .-]?(id|name|email))?"
)
# columns with labels that no annotator gave on their own, and identifiers
NO_ANNOTATOR = re.compile(
    r"(.*[_ .-])?(consensus|gold|final|adjudicat(ed|ion)|majority|pred|prediction|predicted)"
    r"([_ .-](label|class|category|answer|vote|standard))?|document|(.*[_ .-])?(id|uuid|guid)"
)
LABEL = (*CHOICE_FIELDS, "grade", "rating", "score", "code", "correct", "truth", "value")


Rows = Iterator[tuple[str, str, str, str]]  # annotator, item, label and place in the file


@dataclass
class AnnotatorLabels:
    """Labels of each annotator for each item.

    Attributes
    ----------
    cells : dict of str to dict
        Annotator, then item, then the label as it is written; missing labels are left out.
    items : dict
        All items in the order of the files, as keys.
    notes : list of Note
        How the files were read.
    """

    cells: dict[str, dict[str, str]] = field(default_factory=dict)
    items: dict[str, None] = field(default_factory=dict)
    notes: list[Note] = field(default_factory=list)

    def add(
        self,
        annotator: str,
        item: str,
        label: str,
        source: str,
    ) -> None:
        """Add a label, or raise if the annotator gave the item another one."""
        self.items.setdefault(item)
        labels = self.cells.setdefault(annotator, {})
        if label and looks(labels.setdefault(item, label)) != looks(label):
            raise ValueError(
                f"{source}: {annotator!r} labels item {item!r} as {label!r}, but as "
                f"{labels[item]!r} before. Keep one of the two"
            )

    def texts(self) -> list[str]:
        """Return all labels as they are written."""
        return [label for labels in self.cells.values() for label in labels.values()]

    def unify_spellings(self) -> None:
        """Turn labels that differ only in capitals or blanks into one class, and add a note."""
        spellings, notes = usual_spellings(self.texts())
        self.notes += notes
        for labels in self.cells.values() if notes else ():
            for item, label in labels.items():
                labels[item] = spellings[label]

    def labels(self) -> dict[str, list]:
        """Return the label of each item by annotator, None for a missing one.

        Labels are numbers if all of them are.
        """
        texts = self.texts()
        meaning = dict(zip(texts, as_labels(texts), strict=True))
        columns = {}
        for annotator, labels in self.cells.items():
            columns[annotator] = [meaning.get(labels.get(item, "")) for item in self.items]
        return columns


def read_annotators(
    *paths: AnyPath,
    annotators: str = "",
    item: str = "",
    annotator: str = "",
    label: str = "",
) -> AnnotatorLabels:
    r"""Read the labels of several annotators.

    Parameters
    ----------
    *paths : str or path
        Tables, filled sheets or exports of Label Studio, doccano or Prodigy. With several files, an
        annotator without a name gets the name of the file.
    annotators : str
        Columns of a table that are annotators, separated by commas. By default those that hold the
        same classes, without columns called "gold", "consensus", "final" or "prediction".
    item : str
        Column of the item, by default one with a usual name.
    annotator, label : str
        Columns of the annotator and the label in a table with a row for each label. By default
        those with usual names.

    Raises
    ------
    ValueError
        If the columns cannot be inferred, a record cannot be read, or an annotator gives an item
        two labels.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "grades.csv")
    ...     _ = file.write_text("item,human,judge\na,3,2\nb,2,\n")
    ...     read = read_annotators(file)
    >>> read.labels(), str(read.notes[0])
    ({'human': [3, 2], 'judge': [2, None]}, 'annotators are the columns human, judge')
    """
    checks.not_both(annotators=annotators, annotator=annotator)
    checks.not_both(annotators=annotators, label=label)
    read = AnnotatorLabels()
    for path in paths:
        person = Path(path).stem if len(paths) > 1 else ""
        exported = None if annotators or annotator or label else read_export(path)
        if exported is not None:
            rows = _of_export(exported, person)
        else:
            table = _read_table(path, read.notes)
            by = "" if annotators else table.column("annotator", annotator, ANNOTATOR)
            key = table.column("item", item, ITEM, by)
            if not item and plain_name(key).startswith("document"):
                # a document has several items if both have a column
                key = next((name for name in table.cells if plain_name(name) == "item"), key)
            if by or person:
                rows = _of_long_table(table, by, person, key, label)
            else:
                rows = _of_wide_table(table, key, annotators)
        for row in rows:
            read.add(*row)
    read.unify_spellings()
    people = [name for name, labels in read.cells.items() if labels]
    if len(people) < 2:
        files = listed(Path(path).name for path in paths)
        raise ValueError(
            f"agreement needs the labels of two or more annotators, but {files} holds labels of "
            f"{_quoted(people) or 'none'}"
        )
    _refuse_two_wordings(read)
    read.notes.extend(_notes_on_combined(read))
    return read


def _refuse_two_wordings(read: AnnotatorLabels) -> None:
    """Raise if correct and incorrect are written in two ways, such as TRUE and 1."""
    texts = dict.fromkeys(read.texts())
    if not all(isinstance(label, str) for label in as_labels([*texts])):
        return
    meanings = {text: verdict_of(text) for text in texts}
    if None in meanings.values():
        return
    for meaning in (1, 0):
        wordings = [text for text in texts if meanings[text] == meaning]
        if len(wordings) > 1:
            raise ValueError(
                f"labels must have one spelling. {wordings[0]!r} and {wordings[1]!r} mean the "
                "same, but would count as different labels. Use one of the two everywhere"
            )


def _notes_on_combined(read: AnnotatorLabels) -> Iterator[Note]:
    """Yield a note on a label that seems to be a list of several labels."""
    combined = recognized(read.texts())
    if combined is not None:
        names = _quoted(combined.labels)
        text = (
            f"{combined.text!r} was treated as one class. If it is a list of labels, {names}, then "
            "annotators who agree on only one of them count as if they agreed on none"
        )
        yield Note("assumption", text)


def _of_export(exported: Annotations, person: str) -> Rows:
    """Yield the rows of a labeling tool's file.

    If no record has a choice, the labels are Prodigy's accept and reject.
    """
    answered = [row for row in exported.rows if row.is_answered and not row.skipped]
    binary = all(row.verdict and not row.chosen for row in answered)
    for row in exported.rows:
        source = f"{exported.label}, record {row.number}"
        if row.problem:
            raise ValueError(f"{source} {row.problem}")
        label = row.verdict if binary else row.label
        if row.skipped or (not binary and row.verdict == REJECT):
            label = ""
        yield row.by or exported.by or person or "nobody named", row.id, label, source


@dataclass(frozen=True)
class _Table:
    """The columns of a table as text, and the row numbers that a spreadsheet shows."""

    label: str
    cells: dict[str, list[str]]
    rows: list[int]
    notes: list[Note]

    def column(
        self,
        option: str,
        name: str,
        pattern: re.Pattern | None = None,
        taken: str = "",
    ) -> str:
        """Return the column that an option names, or the first that fits the pattern, or ""."""
        if name:
            column = spelled(name, self.cells)
            if column in self.cells:
                return column
            suggestion = checks.suggestion(name, self.cells)
            raise WrongValue(
                option,
                f"must name a column of {self.label}, which has {_quoted(self.cells)}",
                name,
                told=f"got {name!r}{suggestion}",
            )
        for column in self.cells:
            lowered = plain_name(column)
            if column == taken or lowered == "annotation_id":
                continue
            if pattern and pattern.fullmatch(lowered):
                return column
        return ""

    def note(self, text: str) -> None:
        """Add a note to those of the file."""
        self.notes.append(Note("data", text))

    def refuse_totals(self, key: str, items: Sequence[str]) -> None:
        """Raise if an item has the name of a row of totals."""
        for row, item in zip(self.rows, items, strict=True):
            if item.casefold() in numbers.TOTALS:
                raise ValueError(
                    f"{self.label}, row {row}: column {key!r} holds {item!r}, which looks like a "
                    "row of totals. Remove the row"
                )

    def without_gaps(self, name: str) -> list:
        """Return the cells of a column, with "" for words that mean a missing label."""
        cells = self.cells[name]
        gaps = Counter(cell for cell in cells if cell and cell.lower() in GAPS)
        for gap, count in gaps.items():
            times = checks.counted(count, "cell")
            self.note(f"column {name!r}: {gap!r} in {times} was read as a missing label")
        return ["" if cell in gaps else cell for cell in cells]


def _read_table(path: AnyPath, notes: list[Note]) -> _Table:
    """Return all columns of a table, and add the notes on its cells to `notes`."""
    names = list(filter(None, frames.column_names(path)))
    columns, reading_notes = frames.read_columns(path, names)
    notes += reading_notes
    rows = frames.row_numbers(path, len(columns[names[0]]))
    cells = {name: numbers.as_text(column) for name, column in columns.items()}
    return _Table(os.path.basename(path), cells, rows, notes)


def _of_long_table(
    table: _Table,
    by: str,
    person: str,
    key: str,
    label: str,
) -> Rows:
    """Yield the rows of a table with a row for each label."""
    if not key:
        raise WrongValue(
            "item",
            f"must name the column of {table.label} that identifies an item. It has the columns "
            f"{_quoted(table.cells)}",
        )
    chosen = table.column("label", label) if label else _label_column(table, by, key)
    annotator = f"annotator {by!r}" if by else person
    table.note(f"{table.label}: column {chosen!r} has the label of {annotator} for item {key!r}")
    table.refuse_totals(key, table.cells[key])
    people = table.cells[by] if by else [person] * len(table.rows)
    if by:
        table.notes.extend(alike_notes(by, list(filter(None, people))))
    labels = table.without_gaps(chosen)
    for row, name, item, answer in zip(table.rows, people, table.cells[key], labels, strict=True):
        if not answer:
            continue
        source = f"{table.label}, row {row}"
        if not item or not name:
            column = by if item else key
            raise ValueError(f"{source}: column {column!r} is empty, but the label is {answer!r}")
        yield name, item, answer, source


def _label_column(table: _Table, *taken: str) -> str:
    """Return the only column that can hold labels, or raise."""
    unused = [name for name in table.cells if name not in taken]
    choices = [name for name in unused if plain_name(name) in LABEL] or unused
    if len(choices) == 1:
        return choices[0]
    raise WrongValue(
        "label",
        f"must name the column of {table.label} that holds the labels. It has the columns "
        f"{_quoted(choices)}",
    )


def _of_wide_table(table: _Table, key: str, annotators: str) -> Rows:
    """Yield the rows of a table with a column for each annotator."""
    if annotators:
        people = [table.column("annotators", name.strip()) for name in annotators.split(",")]
    else:
        people = _annotator_columns(table, key)
    text = f"annotators are the columns {listed(people, 20)}"
    unused = [name for name in table.cells if name not in (*people, key)]
    if unused:
        text += f"; not used: {listed(unused)} (you can name the columns of the annotators)"
    table.note(text)
    for name in () if annotators else unused:
        if _is_final(name, table.cells) and {*table.cells[name]} & {*table.cells[people[0]]} - {""}:
            table.note(
                f"column {name!r} holds classes of the annotators, but its name is that of final "
                "labels, predictions or identifiers, so it was left out. If it is an annotator, "
                f"name all columns of annotators: {','.join([*people, name])}"
            )
    items = table.cells[key] if key else [str(row) for row in table.rows]
    table.refuse_totals(key, items)
    repeat = numbers.first_repeat(items)
    if repeat:
        second = repeat[1]
        raise WrongValue(
            "item",
            f"must name a column that identifies the rows of {table.label}, but {key!r} has "
            f"{items[second]!r} again in row {table.rows[second]}. If the table has a row for each "
            "label, give {0} and {1}",
            others=("annotator", "label"),
        )
    for name in people:
        for row, item, label in zip(table.rows, items, table.without_gaps(name), strict=True):
            yield name, item, label, f"{table.label}, row {row}"


def _annotator_columns(table: _Table, key: str) -> list:
    """Return the columns of a table that hold the same classes, or raise if they are unclear.

    A column called "gold" or "prediction" is used only if there is just one annotator next to it.
    """
    classes = {}
    for name, cells in table.cells.items():
        labels = {cell.casefold() for cell in cells if cell and cell.lower() not in GAPS}
        if name != key and 0 < len(labels) <= MOST_CLASSES:
            classes[name] = set(as_labels([*labels]))
    of_people = {
        name: labels for name, labels in classes.items() if not _is_final(name, table.cells)
    }
    groups = _alike_columns(of_people) or _alike_columns(classes)
    if len(groups) == 1:
        return list(*groups)
    problem = f"no two columns hold the same classes; the columns are {_quoted(table.cells)}"
    if groups:
        several = "; ".join(map(listed, groups))
        problem = f"several sets of columns hold the same classes: {several}"
    raise WrongValue(
        "annotators",
        f"must name the columns of {table.label} that are annotators, separated by commas "
        f"({problem}). If the table has a row for each label, give {{0}} and {{1}}",
        others=("annotator", "label"),
    )


def _is_final(name: str, names: Iterable[str]) -> bool:
    """Return whether a column has the name of labels that no annotator gave on their own.

    Next to "silver" or "bronze", "gold" is one of several teams.
    """
    if plain_name(name) == "gold" and {"silver", "bronze"} & {*map(plain_name, names)}:
        return False
    return NO_ANNOTATOR.fullmatch(plain_name(name)) is not None


def _alike_columns(classes: dict[str, set]) -> dict[tuple, None]:
    """Return the sets of columns that share at least half of their classes, as keys."""
    groups: dict[tuple, None] = {}
    for first in classes.values():
        alike = []
        for name, second in classes.items():
            shared = first & second
            if 2 * len(shared) >= min(len(first), len(second)):
                alike.append(name)
        if len(alike) > 1:
            groups[tuple(alike)] = None
    return groups


def _quoted(names: Iterable) -> str:
    return listed(names, quoted=True)


def as_labels(texts: Sequence[str]) -> list:
    """Return texts as numbers if all of them are finite numbers, else as they are.

    Examples
    --------
    >>> as_labels(["1", "2.0", "2.5"]), as_labels(["1", "x"])
    ([1, 2, 2.5], ['1', 'x'])
    """
    try:
        values = [float(text) for text in texts]
    except ValueError:
        return [*texts]
    if not all(map(math.isfinite, values)):
        return [*texts]
    return [int(value) if value.is_integer() else value for value in values]
