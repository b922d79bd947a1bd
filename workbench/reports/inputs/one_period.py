"""Inputs with a single period, which gives a table of all classes instead of a series."""

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
    """The results of a single period; cells of the notebook are tagged with this class."""

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
    """Return the results of a single period, or None and the notes of a series.

    There is no table if the audit has sampling weights, if the user chose a method, or if a random
    sample has fewer than 2 items of a predicted class.

    Parameters
    ----------
    audit : ConfusionCounts
        The audit.
    comparison : AuditComparison or None
        Its comparison with a second audit.
    months : dict
        The counts of the period.
    inputs : workbench.reports.inputs.misclassification.MisclassificationParameters
        Parameters of the report.
    notes : tuple of Note
        Notes on the files.
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
    """Return the numbers of labeled items; rates would need weights.

    Parameters
    ----------
    audit : ConfusionCounts
        The audit.
    """
    rows = []
    for row in audit.rows():
        rows.append({name.replace("_", " ", 1): cell for name, cell in row.items()})
    return Table(tuple(rows), "Labeled items by true and predicted class", notes=audit.notes)
