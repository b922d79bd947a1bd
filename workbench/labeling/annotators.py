"""Labels that several people gave to the same items, read from files for `workbench.labeling.agreement`.

`read_annotators` is the entry. A file is a table with a column for each annotator, a table with a row for each label
(item, annotator, label), a filled annotation sheet, or the export of a labeling tool.
"""

import math
import os
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from os import PathLike

from workbench import checks
from workbench.data import frames, numbers
from workbench.data.columns import plain_name, spelled
from workbench.extras.sessions.annotations import Annotations, read_annotations
from workbench.extras.sessions.label_studio import CHOICE_FIELDS
from workbench.extras.sessions.tool import REJECT, LabelRow
from workbench.results import Note

# how people write a missing label in a table; "none" may be a class
GAPS = (numbers.GONE - {"none"}) | {"-", "--"}
MOST_CLASSES = 50  # more different cells are text or measurements, not the classes of an annotator
ITEM = re.compile(r"(.*[_ .-])?(id|ids|uuid|guid|key)|item|case|nr|no|document|unit|question|index")
ANNOTATOR = re.compile(
    r"(annotator|coder|rater|labell?er|reviewer|worker|grader|completed_by|annotated_by)"
    r"([_ .-]?(id|name|email))?"
)
LABEL = (*CHOICE_FIELDS, "grade", "rating", "score", "code", "correct", "truth", "value")


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

    def add(self, annotator: str, item: str, label: str, place: str) -> None:
        """Take in a label, or raise where the annotator gave the item another one."""
        self.items.setdefault(item)
        labels = self.cells.setdefault(annotator, {})
        if not label:
            return
        if labels.setdefault(item, label) != label:
            raise ValueError(
                f"{place}: {annotator!r} labels item {item!r} {label!r}, and {labels[item]!r} before; "
                "keep one of the two"
            )

    def labels(self) -> dict[str, list]:
        """Return the label of each item by annotator, None for none: numbers where all labels are numbers."""
        texts = [label for labels in self.cells.values() for label in labels.values()]
        meaning = dict(zip(texts, as_labels(texts), strict=True))
        return {
            annotator: [meaning.get(labels.get(item, "")) for item in self.items]
            for annotator, labels in self.cells.items()
        }


def read_annotators(
    *paths: str | PathLike[str],
    annotators: str = "",
    item: str = "",
    annotator: str = "",
    label: str = "",
) -> AnnotatorLabels:
    r"""Read the labels of several people.

    Parameters
    ----------
    *paths : str or path
        Tables, filled sheets or exports of Label Studio, doccano or Prodigy. In several files an annotator without a
        name has the name of the file.
    annotators : str
        Columns of a table that are annotators, with commas between; "" for those that hold the same classes.
    item, annotator, label : str
        Columns of the item, and of a table with a row for each label those of the annotator and the label; "" for those
        that are called so.

    Raises
    ------
    ValueError
        Where the columns cannot be told, a record cannot be read, or an annotator gives an item two labels.

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
    found = AnnotatorLabels()
    for path in paths:
        exported = None if annotators or annotator or label else read_annotations(path)
        person = _stem(path) if len(paths) > 1 else ""
        if exported is not None:
            _add_export(found, exported, person)
        else:
            _add_table(found, path, person, annotators, item, annotator, label)
    people = [name for name, labels in found.cells.items() if labels]
    if len(people) < 2:
        named = checks.listed(os.path.basename(os.fspath(path)) for path in paths)
        raise ValueError(
            f"agreement needs the labels of two or more annotators; {named} holds those of "
            f"{checks.listed(people, quoted=True) or 'nobody'}"
        )
    return found


def _add_export(found: AnnotatorLabels, exported: Annotations, person: str) -> None:
    """Take in the rows of a labeling tool's file."""
    binary = all(
        row.verdict and not row.chosen
        for row in exported.rows
        if row.is_answered and not row.skipped
    )
    for row in exported.rows:
        place = f"{exported.label}, record {row.number}"
        if row.problem:
            raise ValueError(f"{place} {row.problem}")
        found.add(
            row.by or exported.by or person or "nobody named", row.id, _label_of(row, binary), place
        )


def _label_of(row: LabelRow, binary: bool) -> str:
    """Return what a record says: accept or reject where all records are such, else the label that is chosen."""
    if row.skipped:
        return ""
    if binary:
        return row.verdict
    return "" if row.verdict == REJECT else row.label


def _add_table(
    found: AnnotatorLabels,
    path: str | PathLike[str],
    person: str,
    annotators: str,
    item: str,
    annotator: str,
    label: str,
) -> None:
    """Take in a table, of a column for each annotator or of a row for each label."""
    names = [name for name in frames.column_names(path) if name]
    columns, notes = frames.read_columns(path, names)
    found.notes += notes
    rows = frames.row_numbers(path, len(columns[names[0]]))
    cells = {name: numbers.as_text(column) for name, column in columns.items()}
    table = _Table(os.path.basename(os.fspath(path)), cells, rows)
    by = table.named("annotator", annotator) or ("" if annotators else table.called(ANNOTATOR))
    key = table.named("item", item) or table.called(ITEM, by)
    if by or person:
        chosen = table.named("label", label) or table.label_column(by, key)
        if not key:
            raise checks.WrongValue(
                "item",
                f"must name the column of {table.label} that identifies an item; it has "
                f"{checks.listed(names, quoted=True)}",
            )
        _add_rows(found, table, by, person, key, chosen)
        return
    people = (
        [table.named("annotators", name.strip()) for name in annotators.split(",")]
        if annotators
        else _annotator_columns(table, key)
    )
    unused = [name for name in names if name not in (*people, key)]
    others = (
        f"; not used: {checks.listed(unused)} (you can name the columns of annotators)"
        if unused
        else ""
    )
    found.notes.append(
        Note("data", f"annotators are the columns {checks.listed(people, 20)}{others}")
    )
    plain = {name: _without_gaps(found, name, table.cells[name]) for name in people}
    for k, row in enumerate(rows):
        identifier = table.cells[key][k] if key else str(row)
        if identifier in found.items:
            raise checks.WrongValue(
                "item",
                f"must name a column that identifies the rows of {table.label}: {key!r} "
                f"has {identifier!r} twice; or, with a row for each label, say {{0}} and {{1}}",
                told=f"row {row} is the second",
                others=("annotator", "label"),
            )
        for name in people:
            found.add(name, identifier, plain[name][k], f"{table.label}, row {row}")


def _add_rows(
    found: AnnotatorLabels, table: "_Table", by: str, person: str, key: str, chosen: str
) -> None:
    """Take in a table with a row for each label."""
    whose = f"of annotator {by!r}" if by else f"of {person}"
    found.notes.append(
        Note("data", f"{table.label}: column {chosen!r} has the label {whose} for item {key!r}")
    )
    labels = _without_gaps(found, chosen, table.cells[chosen])
    for k, row in enumerate(table.rows):
        place, identifier = f"{table.label}, row {row}", table.cells[key][k]
        who = table.cells[by][k] if by else person
        if not labels[k]:
            continue
        for name, cell in ((key, identifier), (by or person, who)):
            if not cell:
                raise ValueError(
                    f"{place}: column {name!r} is missing, but the label is {labels[k]!r}"
                )
        found.add(who, identifier, labels[k], place)


def _without_gaps(found: AnnotatorLabels, name: str, cells: Sequence[str]) -> list[str]:
    """Return cells with "" for words that stand for a missing label, and note these."""
    words = Counter(cell for cell in cells if cell and cell.lower() in GAPS)
    for word, times in words.items():
        found.notes.append(
            Note(
                "data",
                f"column {name!r}: {word!r} in {checks.counted(times, 'cell')} is read as a "
                "missing label",
            )
        )
    return ["" if cell in words else cell for cell in cells]


@dataclass(frozen=True)
class _Table:
    """The columns of a table as text, and the rows as a spreadsheet shows them."""

    label: str
    cells: dict[str, list[str]]
    rows: list[int]

    def named(self, option: str, name: str) -> str:
        """Return the column that an option names, "" for none, or raise where there is none of that name."""
        if not name:
            return ""
        column = spelled(name, self.cells)
        if column not in self.cells:
            raise checks.WrongValue(
                option,
                f"must name a column of {self.label}, which has "
                f"{checks.listed(self.cells, quoted=True)}",
                name,
                told=f"got {name!r}{checks.suggestion(name, self.cells)}",
            )
        return column

    def called(self, pattern: re.Pattern, *others: str) -> str:
        """Return the first column whose name fits, "" for none."""
        return next(
            (
                name
                for name in self.cells
                if name not in others
                and plain_name(name) != "annotation_id"
                and pattern.fullmatch(plain_name(name))
            ),
            "",
        )

    def label_column(self, *others: str) -> str:
        """Return the only column that can hold labels, or raise."""
        left = [name for name in self.cells if name not in others]
        called = [name for name in left if plain_name(name) in LABEL]
        choices = called or left
        if len(choices) == 1:
            return choices[0]
        raise checks.WrongValue(
            "label",
            f"must name the column of {self.label} that holds the labels; it has "
            f"{checks.listed(choices, quoted=True)}",
        )


def _annotator_columns(table: _Table, key: str) -> list[str]:
    """Return the columns of a table that hold the same classes, or raise where they cannot be told."""
    classes = {}
    for name, cells in table.cells.items():
        seen = {cell for cell in cells if cell and cell.lower() not in GAPS}
        if name != key and 0 < len(seen) <= MOST_CLASSES:
            classes[name] = set(as_labels([*seen]))
    groups: list[list[str]] = []
    for name, seen in classes.items():
        alike = [
            group
            for group in groups
            if any(_share_classes(seen, classes[other]) for other in group)
        ]
        groups = [group for group in groups if group not in alike] + [[*sum(alike, []), name]]
    several = [group for group in groups if len(group) > 1]
    if len(several) == 1:
        return [name for name in table.cells if name in several[0]]
    what = (
        "several sets of columns hold the same classes: " + "; ".join(map(checks.listed, several))
        if several
        else f"no two columns hold the same classes, it has {checks.listed(table.cells, quoted=True)}"
    )
    raise checks.WrongValue(
        "annotators",
        f"must name the columns of {table.label} that are annotators, with commas "
        f"between ({what}); or, with a row for each label, say {{0}} and {{1}}",
        others=("annotator", "label"),
    )


def _share_classes(first: set, second: set) -> bool:
    return len(first & second) * 2 >= min(len(first), len(second))


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


def _stem(path: str | PathLike[str]) -> str:
    return os.path.splitext(os.path.basename(os.fspath(path)))[0]
