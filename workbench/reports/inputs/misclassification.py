"""Inputs of the report on class proportions: an audit, predicted counts and their correction."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench import checks
from workbench.audits.judges import JudgeAudit
from workbench.course import solar
from workbench.data import confusion_matrices
from workbench.data.classes import READ_AS
from workbench.data.frames import column_names
from workbench.misclassification import files, plans, series
from workbench.misclassification.confusion import AuditComparison, ConfusionCounts, compare_audits
from workbench.misclassification.designs import AUTO, PREDICTION_MISFIT, TRUTH
from workbench.misclassification.doubts import misfit
from workbench.misclassification.periods import fit_pvalue
from workbench.misclassification.series import PrevalenceSeries
from workbench.reports.inputs import audited_periods as several
from workbench.reports.inputs.judged import read_judged
from workbench.reports.inputs.one_period import OnePeriod, read_one_period
from workbench.reports.inputs.parameters import Parameters
from workbench.results.limits import warn_of_limit
from workbench.simulations.misclassification import shift_study

CERTAIN_MISFIT = 1e-6  # p-value below which chance does not explain counts that fit if swapped


@dataclass(frozen=True, kw_only=True)
class MisclassificationParameters(Parameters):
    """Parameters of the report, in the order of the notebook's cell.

    Parameters
    ----------
    audit : str
        File of audited items or of a confusion matrix. "" is the audit of the course.
    truth, prediction, rows
        As in `workbench.load_audit`.
    classes : str
        `labels` of `workbench.load_audit`; or "text" or "numbers", the type of classes.
    counts : str
        File of predicted counts, or of predictions with one row per item. "" is the months of the
        course.
    period, total, counted
        As in `workbench.load_periods`.
    predicted : str
        As in `workbench.load_periods`. "" is the name in `prediction`.
    audit_period
        As in `workbench.counts_at_audit`.
    method, rates
        As in `workbench.prevalence_series`.
    fresh_audit : str
        A second audit. "" is none.
    half_width : float
        Target half-width, to plan the next audit; 0 is none. It is that of the change of the
        proportion from the audited period to the last one, as in `workbench.plan_next_audit`. For a
        single period, it is that of the precision of every class, as in
        `workbench.plan_classification_table`.
    shift : str
        `new_shares` of `workbench.shift_study`. "" is none.
    judge, id, batch
        As in `workbench.reports.inputs.judged.read_judged`. With a judge, this is also true of
        audit, truth, counts and classes.
    level : float
        Confidence level.
    every : str
        Length of the periods that are made of dates in both files: "day", "week", "month",
        "quarter" or "year". "" is none.
    weight : str
        Column of the audit with sampling weights. "" is none.
    period_in_audit : str
        Column of the audit with the period or date of each item. "" looks for the name of the
        counts' column or another name of periods; "none" is no column.
    audit_rates
        As in `workbench.prevalence_series`, for audits of several periods.
    sampled_by
        As in `workbench.prevalence_series`.
    """

    audit: str = ""
    truth: str = "truth"
    prediction: str = "prediction"
    rows: str = "auto"
    classes: str = ""
    counts: str = ""
    period: str = "period"
    total: str = "n"
    counted: str = "counted"
    predicted: str = ""
    every: str = ""
    period_in_audit: str = ""
    audit_rates: str = "auto"
    weight: str = ""
    audit_period: str = ""
    method: str = "auto"
    sampled_by: str = "auto"
    rates: str = "process"
    fresh_audit: str = ""
    half_width: float = 0.0
    judge: str = ""
    id: str = ""
    batch: str = "same"
    shift: str = ""
    level: float = 0.95


@checks.naming(labels="classes", new_shares="shift")
def read(
    **parameters: Any,
) -> (
    tuple[ConfusionCounts, AuditComparison | None, dict, PrevalenceSeries] | OnePeriod | JudgeAudit
):
    """Return the audit, its comparison with a second one, the counts and the corrected series.

    A single period gives a table of all classes instead. With `judge`, the result is an estimate
    from judge labels of all items and human labels of some.

    Parameters
    ----------
    **parameters
        Fields of `MisclassificationParameters`.

    Returns
    -------
    audited : ConfusionCounts
        The audit.
    comparison : AuditComparison or None
        Comparison of the two audits.
    months : dict
        Counts by period.
    series : PrevalenceSeries
        The corrected series. For a single period, the function returns one OnePeriod instead of
        these four; with a judge, one JudgeAudit.

    Raises
    ------
    ValueError
        If a parameter or a file is wrong.

    Examples
    --------
    >>> audited, comparison, months, series = read()
    >>> audited.n, len(months), series.periods[:2]
    (400, 12, ('1', '2'))
    """
    inputs = MisclassificationParameters(**parameters)
    if inputs.judge:
        _refuse_with_judge(inputs)
        return read_judged(
            inputs.counts,
            **inputs.only("judge", "audit", "truth", "id", "batch", "classes", "rates"),
            level=checks.level(inputs.level),
        )
    for name in inputs.changed("id", "batch"):
        raise checks.WrongValue(name, "needs {0}, which was not given", others=("judge",))
    if bool(inputs.audit) != bool(inputs.counts):
        present, lacking = ("audit", "counts") if inputs.audit else ("counts", "audit")
        raise checks.WrongValue(lacking, "must be given with {0}", others=(present,))
    checks.level(inputs.level)
    is_type = inputs.classes in READ_AS
    columns: dict[str, str] = inputs.only("truth", "prediction", "total")
    columns["classes" if is_type else "labels"] = inputs.classes
    if inputs.audit:
        audited = files.load_audit(inputs.audit, **inputs.only("weight", "rows"), **columns)
    else:
        audited = solar.solar_audit()
    is_matrix = confusion_matrices.is_matrix(audited.notes)
    for text in confusion_matrices.assumptions(audited.notes):
        warn_of_limit(text)
    comparison = None
    if inputs.fresh_audit:
        fresh = files.load_audit(inputs.fresh_audit, rows=inputs.rows, **columns)
        comparison = compare_audits(audited, fresh, level=inputs.level)
    if not inputs.audit:
        months = solar.solar_months().periods()
        corrected = _corrected(audited, several.Audits({}), months, inputs)
    else:
        period, period_notes = several.period_column(inputs.counts, inputs.period)
        predicted = inputs.predicted or inputs.prediction
        months, count_notes = files.read_periods(
            inputs.counts,
            labels=audited.labels,
            period=period,
            predicted=predicted,
            classes=inputs.classes if is_type else "auto",
            **inputs.only("total", "counted", "every"),
        )
        audits = several.Audits({})
        if inputs.period_in_audit or not is_matrix:
            audits = several.read_audits(
                inputs.audit,
                months,
                column=inputs.period_in_audit,
                period=period,
                **inputs.only("every", "audit_period", "audit_rates", "weight"),
                **columns,
            )
        unused = several.unused(
            "" if is_matrix else inputs.audit,
            inputs.counts,
            [*columns.values(), inputs.weight, audits.column],
            [period, inputs.total, inputs.counted, predicted],
        )
        for note in count_notes:
            if note.kind == "unreliable":
                warn_of_limit(note.text)
        notes = (*period_notes, *count_notes, *audits.notes, *unused)
        if len(months) == 1 and not audits.by_period and not inputs.shift:
            one_period, notes = read_one_period(audited, comparison, months, inputs, notes)
            if one_period is not None:
                return one_period
        corrected = _corrected(audited, audits, months, inputs)
        notes = (*notes, *several.labeled_rows_note(audited, corrected.sampled_by))
        corrected = several.with_notes(corrected, *notes)
    if corrected.sampled_by != "random":
        _refuse_plans(corrected.sampled_by, inputs)
    if corrected.taken:
        warn_of_limit(corrected.taken)
    if len(corrected.drawn()) < len(corrected.periods):
        warn_of_limit(
            f"The page plots {len(corrected.drawn())} of {len(corrected.periods):,} periods and "
            f"lists the {series.LISTED} largest changes; use --tables DIR to write all of them"
        )
    at_audit = several.planned_from(corrected, months)
    if inputs.half_width:
        plans.plan_next_audit(
            corrected.audit,
            months[several.usable_periods(corrected)[-1]],
            at_audit,
            inputs.half_width,
            method=corrected.method,
            **inputs.only("rates", "level"),
        )
    if inputs.shift:
        shift_study(corrected.audit, at_audit, inputs.shift, runs=2, rates=inputs.rates)
    return corrected.audit, comparison, months, corrected


def _refuse_with_judge(inputs: MisclassificationParameters) -> None:
    """Raise an error for a parameter that does not apply to judge labels."""
    names = ["sampled_by", "audit_period", "predicted", "fresh_audit", "half_width", "shift"]
    names += ["every", "weight", "period_in_audit", "audit_rates"]
    if inputs.batch == "same":
        names.insert(1, "rates")
    if inputs.method != "mle":
        names.insert(0, "method")
    for name in inputs.changed(*names):
        checks.not_both(**{name: True, "judge": inputs.judge})


def _corrected(
    audited: ConfusionCounts,
    audits: several.Audits,
    months: dict,
    inputs: MisclassificationParameters,
) -> PrevalenceSeries:
    """Return the series of the months, from one audit or from those of several periods."""
    settings = inputs.only("method", "rates", "sampled_by")
    if audits.by_period:
        return series.prevalence_series(
            audits.by_period, None, months, audit_rates=inputs.audit_rates, **settings
        )
    audit_period = audits.period or inputs.audit_period
    at_audit = files.counts_at_audit(months, audit_period, labels=audited.labels)
    if audited.weighted is not None:
        return several.weighted_series(audited, months, **settings)
    has_order = inputs.counts and inputs.counted in column_names(inputs.counts)
    try:
        corrected = series.prevalence_series(audited, audit_period or at_audit, months, **settings)
    except checks.WrongValue as error:
        if error.argument not in ("counts_at_audit", "sampled_by"):
            raise
        _check_period(audit_period or next(iter(months)), sum(at_audit), audited.n)
        if has_order:
            _check_order(audited, np.array(at_audit))
        raise
    is_assumed = inputs.sampled_by == AUTO and corrected.sampled_by == TRUTH
    if has_order and is_assumed and fit_pvalue(audited, np.array(at_audit)) < CERTAIN_MISFIT:
        _check_order(audited, np.array(at_audit))
    return corrected


def _check_order(audited: ConfusionCounts, at_audit: np.ndarray) -> None:
    """Raise if the audit fits the counts of two classes only in the other order."""
    in_other_order = at_audit[::-1]
    contained = (audited.table.sum(0) <= in_other_order).all()
    if contained and fit_pvalue(audited, in_other_order) >= PREDICTION_MISFIT:
        order = ",".join(map(str, audited.labels[::-1]))
        raise checks.WrongValue(
            "labels",
            "seem to be swapped (the second one must be the class that {0} counts; if it is, give "
            "{1})",
            told=f"write {order}. The audit does not fit: {misfit(audited, at_audit)}",
            others=("counted", "sampled_by"),
        )


def _check_period(name: str, items: int, audited: int) -> None:
    if items < audited:
        raise checks.WrongValue(
            "audit_period",
            f"must be a period with at least the {audited:,} audited items, because they "
            "were sampled from it",
            name,
            told=f"{name!r} has {checks.counted(items, 'item')}. If periods are days or hours, "
            "combine them with --every month. If the audited items come from elsewhere, such as "
            "known positives and negatives, use --sampled-by truth",
        )


def _refuse_plans(sampled_by: str, inputs: MisclassificationParameters) -> None:
    """Raise an error for questions that need a random audit."""
    for name in inputs.changed("half_width", "shift"):
        raise checks.WrongValue(
            name,
            f"needs a random audit, but this one was sampled by {sampled_by}; remove it, or "
            "use --sampled-by random if the items were sampled at random",
            getattr(inputs, name),
        )
