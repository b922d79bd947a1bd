"""Audits of several periods, sampling weights and columns of dates in the files of the report."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from workbench import checks
from workbench.data import frames, roles
from workbench.data.columns import plain_name, spelled
from workbench.misclassification import calendar, designs, files
from workbench.misclassification.confusion import ConfusionCounts
from workbench.misclassification.series import PrevalenceSeries, prevalence_series
from workbench.reports.inputs.unused import unused_columns
from workbench.results import Note
from workbench.results.limits import warn_of_limit
from workbench.results.vocabulary import method_words

PERIOD_NAMES = ("period", "month", "date", "day", "week", "quarter", "year", "timestamp")
OPTIONS = {roles.WEIGHT: "--weight", roles.MONTH: "--period-in-audit"}
NO_COLUMN = "none"


class Audits(NamedTuple):
    """The audits of a file by period, {} where it is one audit, whose period is `period` if the file says so."""

    by_period: dict[str, ConfusionCounts]
    period: str = ""
    notes: tuple[Note, ...] = ()
    column: str = ""


def period_column(source: str, period: str) -> tuple[str, tuple[Note, ...]]:
    """Return the column of the periods in a file of counts: the one named, or the only one called like a period."""
    names = frames.column_names(source)
    alike = _called_periods(names)
    if period != "period" or spelled(period, names) in names or len(alike) != 1:
        return period, ()
    return alike[0], (
        Note(
            "data", f"periods are taken from column {alike[0]!r}, as no column is called 'period'"
        ),
    )


def _called_periods(names: tuple[str, ...]) -> list[str]:
    return [name for name in names if plain_name(name) in PERIOD_NAMES]


def read_audits(
    audit: str,
    months: Mapping,
    *,
    column: str,
    period: str,
    every: str,
    audit_period: str,
    audit_rates: str,
    **columns: str,
) -> Audits:
    """Return the audits of the periods that a column of the audit names.

    Parameters
    ----------
    audit : str
    months : mapping
        Counts by period.
    column : str
        The column; "" for one called as that of the counts or as periods are, "none" for no column.
    period : str
        The column of the counts.
    every, audit_period, audit_rates
        As in `workbench.reports.inputs.misclassification.read`.
    **columns
        Further arguments of `workbench.misclassification.files.load_audits`.
    """
    names = frames.column_names(audit)
    found = column or _audit_column(names, period, columns)
    if column == NO_COLUMN and spelled(column, names) not in names or not found:
        return Audits({})
    try:
        audits = files.load_audits(audit, period=found, every=every, **columns)
    except checks.WrongArgument:
        if column or not every:
            raise
        return Audits({})
    counted = calendar.same_periods([*audits], [*months])
    if not counted and audit_rates == "auto":
        if not column and spelled(found, names) != spelled(period, names):
            return Audits({})
        raise checks.WrongValue(
            "period_in_audit",
            "must name a column with periods of the counts, such as "
            f"{checks.listed(months, 2, quoted=True)}; column {found!r} of {audit!r} has "
            f"{checks.listed(audits, 2, quoted=True)}. Write both alike; or give 'none' and "
            "the audited period as {0}; or give 'pooled' as {1}, which takes the rates of other "
            "periods",
            told="",
            others=("audit_period", "audit_rates"),
        )
    if len(audits) == 1 and counted:
        return _one_period(found, next(iter(counted.values())), audit_period)
    if audit_period:
        raise checks.WrongValue(
            "audit_period",
            f"must not be given, as column {found!r} of {audit!r} has "
            f"{len(audits)} periods; if all items were drawn from one, say 'none' as {{0}}",
            audit_period,
            others=("period_in_audit",),
        )
    return Audits(
        audits,
        notes=(Note("data", f"column {found!r} of the audit says the period of each item"),),
        column=found,
    )


def _one_period(column: str, name: str, audit_period: str) -> Audits:
    if audit_period and audit_period != name:
        raise checks.WrongValue(
            "audit_period",
            f"must be {name!r}, the only period in column {column!r} of the "
            "audit; if that column is something else, say 'none' as {0}",
            audit_period,
            others=("period_in_audit",),
        )
    note = Note("data", f"the audit is of period {name!r}, as its column {column!r} says")
    return Audits({}, name, (note,), column)


def _audit_column(names: tuple[str, ...], period: str, columns: Mapping[str, str]) -> str:
    """Return the column of the audit that says the period of each item, "" where no name tells it."""
    others = {spelled(name, names) for name in columns.values() if name}
    if spelled(period, names) in names and spelled(period, names) not in others:
        return spelled(period, names)
    alike = [name for name in _called_periods(names) if name not in others]
    return alike[0] if len(alike) == 1 else ""


def weighted_series(
    audit: ConfusionCounts, months: Mapping, *, method: str, rates: str, sampled_by: str
) -> PrevalenceSeries:
    """Return the series from an audit with sampling weights, by its weighted rates."""
    used = "misclassification" if method in ("auto", "mle") else method
    corrected = prevalence_series(
        audit, None, months, method=used, rates=rates, sampled_by=sampled_by
    )
    size = audit.effective.sum()
    note = Note(
        "assumption",
        f"the {audit.n:,} audited items are weighted by their sampling weights, which are worth "
        f"{size:.0f} items of a simple random sample: the rates P(prediction | truth) are weighted, and every "
        f"period is corrected by {method_words(used)}",
    )
    warn_of_limit(note.text)
    return replace(corrected, notes=(note, *corrected.notes))


def planned_from(corrected: PrevalenceSeries, months: Mapping) -> Any:
    """Return the counts of the audited items' population: of one period, or of all audited ones together.

    Plans and studies of other proportions begin there.
    """
    if corrected.counts_at_audit is not None:
        return corrected.counts_at_audit
    usable = [not problem for problem in corrected.problems]
    audits = corrected.audits or (None,) * len(usable)
    audited = [
        name
        for name, audit, counted in zip(corrected.periods, audits, usable, strict=True)
        if counted and audit is not None
    ]
    first = corrected.periods[usable.index(True)]
    return tuple(map(sum, zip(*(months[name] for name in audited or [first]), strict=True)))


def with_notes(series: PrevalenceSeries, *notes: Note) -> PrevalenceSeries:
    """Return the series with further notes; a command prints the assumption on several audits first."""
    if series.audits:
        assumptions = [
            note.text for note in series.notes if note.kind == "assumption" and note.where is None
        ]
        warn_of_limit(assumptions[0])  # how the audits are used
    return replace(series, notes=(*series.notes, *notes))


def labeled_rows_note(audit: ConfusionCounts, sampled_by: str) -> tuple[Note, ...]:
    """Return the note that an audit is the labeled rows of its file, where only some rows have a label."""
    texts = [note.text for note in audit.notes if note.where == files.LABELED_ROWS]
    random = ", taken as a random sample of the file" if sampled_by == designs.RANDOM else ""
    return tuple(Note("assumption", text + random, designs.PLACE) for text in texts)


def unused(
    audit: str, counts: str, columns: Mapping[str, str], counted: Mapping[str, str]
) -> tuple[Note, ...]:
    """Return a note for every column of weights, clusters, strata or periods that was not used, of both files."""
    if audit == counts:
        return unused_columns(audit, [*columns.values(), *counted.values()], OPTIONS)
    return (
        *unused_columns(audit, columns.values(), OPTIONS),
        *unused_columns(counts, counted.values(), {roles.MONTH: "--period"}),
    )
