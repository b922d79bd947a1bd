"""Inputs with audits of several periods, sampling weights or columns of dates."""

from collections.abc import Iterable, Mapping
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
    """The audits of a file by period.

    `by_period` is {} for a single audit. Its period is then `period`, if the file states it.
    """

    by_period: dict[str, ConfusionCounts]
    period: str = ""
    notes: tuple[Note, ...] = ()
    column: str = ""


def period_column(source: str, period: str) -> tuple[str, tuple[Note, ...]]:
    """Return the column of periods in a file of counts: the named one, or the only candidate."""
    names = frames.column_names(source)
    columns = _called_periods(names)
    if period != "period" or spelled(period, names) in names or len(columns) != 1:
        return period, ()
    text = f"periods are read from column {columns[0]!r}, because no column is called 'period'"
    return columns[0], (Note("data", text),)


def _called_periods(names: Iterable[str]) -> list[str]:
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
    """Return one audit for each period in a column of the audit.

    Parameters
    ----------
    audit : str
        File of the audit.
    months : mapping
        Counts by period.
    column : str
        The column. "" looks for the name of the counts' column or another name of periods; "none"
        is no column.
    period : str
        The column of periods in the counts.
    every, audit_period, audit_rates
        As in `workbench.reports.inputs.misclassification.read`.
    **columns
        Further arguments of `workbench.misclassification.files.load_audits`.
    """
    names = frames.column_names(audit)
    name = column or _audit_column(names, period, columns)
    if column == NO_COLUMN and spelled(column, names) not in names or not name:
        return Audits({})
    try:
        audits = files.load_audits(audit, period=name, every=every, **columns)
    except checks.WrongArgument:
        if column or not every:
            raise
        return Audits({})
    shared = calendar.same_periods([*audits], [*months])
    if not shared and audit_rates == "auto":
        if not column and spelled(name, names) != spelled(period, names):
            return Audits({})
        raise checks.WrongValue(
            "period_in_audit",
            "must name a column with periods of the counts, such as "
            f"{checks.listed(months, 2, quoted=True)}; column {name!r} of {audit!r} has "
            f"{checks.listed(audits, 2, quoted=True)}. Write both in the same way; or give 'none' "
            "and the audited period as {0}; or give 'pooled' as {1}, which uses the rates of other "
            "periods",
            told="",
            others=("audit_period", "audit_rates"),
        )
    if len(audits) == 1 and shared:
        return _one_period(name, next(iter(shared.values())), audit_period)
    if audit_period:
        raise checks.WrongValue(
            "audit_period",
            f"must not be given, as column {name!r} of {audit!r} has {len(audits)} periods; if all "
            "items were sampled from one period, give 'none' as {0}",
            audit_period,
            others=("period_in_audit",),
        )
    note = Note("data", f"the period of each audited item is in column {name!r}")
    return Audits(audits, notes=(note,), column=name)


def _one_period(column: str, name: str, audit_period: str) -> Audits:
    if audit_period and audit_period != name:
        raise checks.WrongValue(
            "audit_period",
            f"must be {name!r}, the only period in column {column!r} of the "
            "audit; if that column is something else, give 'none' as {0}",
            audit_period,
            others=("period_in_audit",),
        )
    note = Note("data", f"the audit is of period {name!r}, the only one in its column {column!r}")
    return Audits({}, name, (note,), column)


def _audit_column(names: tuple[str, ...], period: str, columns: Mapping[str, str]) -> str:
    """Return the audit's column with the period of each item, "" if no name identifies it."""
    with_role = {spelled(name, names) for name in columns.values() if name}
    free = [name for name in names if name not in with_role]
    if spelled(period, names) in free:
        return spelled(period, names)
    candidates = _called_periods(free)
    return candidates[0] if len(candidates) == 1 else ""


def weighted_series(
    audit: ConfusionCounts, months: Mapping, *, method: str, rates: str, sampled_by: str
) -> PrevalenceSeries:
    """Return the series from the weighted rates of an audit with sampling weights."""
    used = "misclassification" if method in ("auto", "mle") else method
    corrected = prevalence_series(
        audit, None, months, method=used, rates=rates, sampled_by=sampled_by
    )
    size = audit.effective.sum()
    note = Note(
        "assumption",
        f"the {audit.n:,} audited items are weighted by their sampling weights, with an effective "
        f"sample size of {size:.0f}. The rates P(prediction | truth) are weighted, and every "
        f"period is corrected by {method_words(used)}",
    )
    warn_of_limit(note.text)
    return replace(corrected, notes=(note, *corrected.notes))


def planned_from(corrected: PrevalenceSeries, months: Mapping) -> Any:
    """Return the counts of the audited population: of one period, or of all audited ones together.

    Plans and studies of other proportions begin there.
    """
    if corrected.counts_at_audit is not None:
        return corrected.counts_at_audit
    usable = usable_periods(corrected)
    audits = dict(zip(corrected.periods, corrected.audits or (), strict=False))
    audited = [name for name in usable if audits.get(name) is not None]
    return tuple(map(sum, zip(*(months[name] for name in audited or usable[:1]), strict=True)))


def usable_periods(corrected: PrevalenceSeries) -> list[str]:
    """Return the periods that could be corrected."""
    problems = zip(corrected.periods, corrected.problems, strict=True)
    return [name for name, problem in problems if not problem]


def with_notes(series: PrevalenceSeries, *notes: Note) -> PrevalenceSeries:
    """Return the series with more notes; print the assumption on several audits first."""
    if series.audits:
        assumptions = [note for note in series.notes if note.kind == "assumption"]
        # how the audits are used
        warn_of_limit(next(note.text for note in assumptions if note.where is None))
    return replace(series, notes=(*series.notes, *notes))


def labeled_rows_note(audit: ConfusionCounts, sampled_by: str) -> tuple[Note, ...]:
    """Return a note if the audit consists of the labeled rows of a larger file."""
    texts = [note.text for note in audit.notes if note.where == files.LABELED_ROWS]
    random = ", assumed to be a random sample of the file" if sampled_by == designs.RANDOM else ""
    return tuple(Note("assumption", text + random, designs.PLACE) for text in texts)


def unused(
    audit: str, counts: str, audit_columns: list[str], count_columns: list[str]
) -> tuple[Note, ...]:
    """Return a note for each unused column of weights, clusters, strata or periods."""
    if audit == counts:
        return unused_columns(audit, audit_columns + count_columns, OPTIONS)
    return (
        *unused_columns(audit, audit_columns, {**OPTIONS, roles.REPEATED: ""}),
        *unused_columns(counts, count_columns, {roles.MONTH: "--period"}),
    )
