"""A single period: a table of all classes in the place of a series."""

from dataclasses import replace
from typing import Any, NamedTuple

from workbench import checks
from workbench.audits.classification import ClassificationTable, classification_table
from workbench.misclassification import designs
from workbench.misclassification.confusion import AuditComparison, ConfusionCounts
from workbench.reports.inputs.audited_periods import labeled_rows_note
from workbench.results import Note, Table
from workbench.results.limits import warn_of_limit


class OnePeriod(NamedTuple):
    """What the report shows of a single period; cells are tagged with the name of this class."""

    audit: ConfusionCounts
    comparison: AuditComparison | None
    months: dict
    series: None
    classes: ClassificationTable


def read_one_period(
    audit: ConfusionCounts,
    comparison: AuditComparison | None,
    months: dict,
    inputs: Any,
    notes: tuple[Note, ...],
) -> tuple[OnePeriod | None, tuple[Note, ...]]:
    """Return what the report shows of a single period, or None and the notes of a series.

    There is no table for an audit with sampling weights, with a method of your choice, or where a
    random sample has fewer than 2 items of a predicted class.

    Parameters
    ----------
    audit : ConfusionCounts
    comparison : AuditComparison or None
    months : dict
        The counts of the period.
    inputs : workbench.reports.inputs.misclassification.MisclassificationParameters
    notes : tuple of Note
        On what was read.
    """
    if inputs.method != designs.AUTO or audit.weighted is not None:
        return None, notes
    (counts,) = months.values()
    try:
        table = classification_table(
            audit, counts, sampled_by=inputs.sampled_by, level=inputs.level
        )
    except checks.WrongValue as error:
        if error.argument != "audit" or inputs.sampled_by == designs.PREDICTION:
            raise
        text = f"no table of accuracy, precision and recall: the audit {error.rule}"
        return None, (*notes, Note("design", text))
    if inputs.half_width:
        table.plan(inputs.half_width)
    for note in table.notes:
        if note.where == designs.PLACE:
            warn_of_limit(f"The audit is {note.text}.")
    rows = labeled_rows_note(audit, table.sampled_by)
    table = replace(table, notes=(*table.notes, *notes, *rows))
    return OnePeriod(audit, comparison, months, None, table), notes


def labeled_items(audit: ConfusionCounts) -> Table:
    """Return the numbers of labeled items, without rates, which would need weights.

    Parameters
    ----------
    audit : ConfusionCounts
    """
    rows = []
    for row in audit.rows():
        rows.append({name.replace("_", " ", 1): cell for name, cell in row.items()})
    return Table(tuple(rows), "Labeled items by true and predicted class", notes=audit.notes)
