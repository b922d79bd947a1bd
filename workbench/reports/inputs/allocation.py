"""Inputs of the report on allocation: strata, the plan of labels, and a filled annotation sheet."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from workbench import checks
from workbench.allocation import plans, samples
from workbench.allocation.plans import LabelPlan
from workbench.allocation.samples import FrameSample, StratumSummary
from workbench.allocation.values import estimates
from workbench.allocation.values import sheets as value_sheets
from workbench.allocation.values.estimates import ValueEstimate
from workbench.course import digit_forms
from workbench.data import frames, numbers, roles
from workbench.data.columns import spelled
from workbench.data.scored_items import missing_labels
from workbench.labeling import sheets as label_sheets
from workbench.reports.inputs.parameters import Parameters
from workbench.reports.inputs.unused import with_unused
from workbench.results import Note
from workbench.results.limits import warn_of_limit

BUDGET = 100
OPTIONS = {roles.STRATUM: "--stratum"}
NO_BOUNDS = Note(
    "refused",
    "there is no interval, because the possible values of an item are unknown. State the smallest "
    'and largest possible value with --bounds "LOW, HIGH", in the units of the labels (not the '
    "smallest and largest label)",
)


@dataclass(frozen=True, kw_only=True)
class AllocationParameters(Parameters):
    """Parameters of the report, in the order of the notebook's cell.

    Parameters
    ----------
    strata : str
        File of strata or records. "" is the register of the course.
    stratum, size, sd, value
        As in `workbench.load_strata`.
    id : str
        As in `workbench.draw_rows`.
    budget : int
        Labels in total, including existing ones.
    standard_error : float
        Target standard error of the total, in the units of the values, instead of a budget.
        0 is none.
    minimum, method
        As in `workbench.plan_labels`.
    labels : str
        The filled annotation sheet, or "" to plan. With `labels`, `label_sheet` is the next sheet.
    bounds : str
        Smallest and largest possible value of an item, such as "0, 1". "" is unknown.
    sd_from : {"planned", "labels"}
        Standard deviations for planning the rest of a budget: those known before, or those of the
        labels.
    level : float
        Confidence level.
    label_plan : str
        CSV file to write for the labels per stratum. "" is none.
    label_sheet, seed
        As in `workbench.draw_rows`.
    """

    strata: str = ""
    stratum: str = "stratum"
    size: str = ""
    sd: str = ""
    value: str = ""
    id: str = ""
    budget: int = BUDGET
    standard_error: float = 0.0
    minimum: int = 2
    method: str = "voila"
    labels: str = ""
    bounds: str = ""
    sd_from: str = "planned"
    level: float = 0.95
    label_plan: str = ""
    label_sheet: str = ""
    seed: int = 0


def read(
    *, write: bool = True, **parameters: Any
) -> tuple[StratumSummary, LabelPlan, FrameSample | None, ValueEstimate | None]:
    """Return the strata, the plan of labels, the records to label, and the estimate from labels.

    Parameters
    ----------
    write : bool
        Write the files that the parameters name.
    **parameters
        Fields of `AllocationParameters`.

    Returns
    -------
    strata : StratumSummary
        The strata.
    plan : LabelPlan
        The plan. With labels, it has the existing labels and those still to come.
    drawn : FrameSample or None
        The records to label, None without an annotation sheet.
    estimate : ValueEstimate or None
        The estimate, None without labels.

    Raises
    ------
    ValueError
        If a parameter or a file is wrong.

    Examples
    --------
    >>> strata, plan, drawn, estimate = read()
    >>> print(plan.headline())       # doctest: +NORMALIZE_WHITESPACE
    100 labels, 4 strata: SE of the total 4,148; capped Neyman 5,750, iterated Neyman 4,148,
    equal shares 8,997, at random 47,149
    """
    inputs = AllocationParameters(**parameters)
    checks.level(inputs.level)
    checks.choice("sd_from", inputs.sd_from, estimates.SD_FROM)
    limits = checks.bounds_of(inputs.bounds) if inputs.bounds else None
    _check_files(inputs)
    summary, *some_values = _read_strata(inputs)
    if inputs.bounds and not inputs.labels and not some_values:
        raise checks.WrongValue(
            "bounds", "limit the values of {0}, which was not given", others=("labels",)
        )
    budget = inputs.budget
    if some_values and budget == BUDGET:
        budget = max(budget, len(some_values[0]))
    rule: dict[str, Any] = inputs.only("method", "minimum")
    if inputs.standard_error:
        checks.not_both(standard_error=inputs.standard_error, budget=budget != BUDGET)
        budget = plans.budget_for_error(summary, inputs.standard_error, **rule)
    plan = plans.plan_labels(summary, budget, **rule)
    if inputs.standard_error and inputs.minimum > 1:
        assured = plans.budget_for_error(summary, inputs.standard_error, **rule, assurance=0.8)
        note = Note(
            "design",
            f"the estimated standard error will be at most {inputs.standard_error:,g} in about "
            f"half of samples; with {assured:,} labels in 4 of 5 samples, if values are normal "
            "within strata",
        )
        plan = replace(plan, notes=[*plan.notes, note])
    names: dict[str, Any] = inputs.only("stratum", "id", "seed")
    drawn = estimate = None
    if some_values:
        checks.not_both(value=inputs.value, labels=inputs.labels)
        estimate = _of_some_values(
            summary, *some_values, budget=budget, limits=limits, level=inputs.level, rule=rule
        )
        if inputs.label_sheet:
            raise checks.WrongValue(
                "label_sheet",
                f"must not be given, because column {inputs.value!r} has values in some rows; "
                "to sample more records, name a column of values without gaps, or none",
            )
    elif inputs.labels:
        sheet = value_sheets.read_value_sheet(
            inputs.labels, summary, records=inputs.strata if inputs.id else None, **names
        )
        estimate = estimates.estimate_values(
            summary, sheet.stratum, sheet.values, bounds=limits, notes=sheet.notes
        )
        estimate = estimates.with_next(
            estimate, summary, sheet.begun, budget, **rule, sd_from=inputs.sd_from
        )
        if not estimate.lacking:
            estimate = _asking_for_bounds(estimate, inputs.level)
        if inputs.label_sheet:
            drawn = _next_records(
                estimate, sheet, inputs.strata, inputs.label_sheet, write, **names
            )
    elif inputs.label_sheet:
        drawn = plans.draw_rows(
            plan, inputs.strata, label_sheet=inputs.label_sheet if write else "", **names
        )
    if estimate is not None:
        plan = replace(plan, labeled=estimate.sampled + estimate.to_label)
    if inputs.label_plan and write:
        plan.write_csv(inputs.label_plan)
    used = inputs.only("stratum", "size", "sd", "value", "id").values()
    plan = with_unused(plan, inputs.strata, used, OPTIONS, warn=False)
    estimate = estimate and with_unused(estimate, inputs.strata, used, OPTIONS)
    code_notes = _missing_code_notes(inputs)
    plan = plan._noted(*code_notes)
    estimate = estimate and estimate._noted(*code_notes)
    return summary, plan, drawn, estimate


def _missing_code_notes(inputs: AllocationParameters) -> list[Note]:
    """Return and print a note if the first values have codes such as -999 for missing values."""
    if not inputs.strata or not inputs.value:
        return []
    names = frames.column_names(inputs.strata)
    cells = frames.first_rows(inputs.strata, [spelled(inputs.value, names)]).popitem()[1]
    try:
        values = numbers.to_numbers(inputs.value, cells[~missing_labels(cells, None)[0]])
    except ValueError:  # the decimal mark is clear only from later rows
        return []
    notes = numbers.missing_code_notes(inputs.value, values)
    for note in notes:
        warn_of_limit(note.text)
    return notes


def _check_files(inputs: AllocationParameters) -> None:
    """Raise an error for an annotation sheet without its file, or one that has labels."""
    if inputs.label_sheet and not inputs.strata:
        raise checks.WrongValue(
            "strata",
            "must be given with {0}, as a file with one row per record",
            others=("label_sheet",),
        )
    if inputs.label_sheet and not inputs.labels:
        label_sheets.refuse_recorded(inputs.label_sheet, "value")
    if inputs.labels and not inputs.strata:
        raise checks.WrongValue(
            "strata",
            "must be given with {0}, as the file of strata or records that the plan was made from",
            others=("labels",),
        )


def _read_strata(inputs: AllocationParameters) -> tuple:
    """Return the strata; for values of some records, also their strata, values and a note."""
    if not inputs.strata:
        return (digit_forms.digit_forms().register(),)
    try:
        return (plans.load_strata(inputs.strata, **inputs.only("stratum", "size", "sd", "value")),)
    except ValueError:
        if not inputs.value or not plans.lacks_values(inputs.strata, inputs.value):
            raise
        return plans.labeled_values(inputs.strata, inputs.stratum, inputs.value)


def _asking_for_bounds(estimate: ValueEstimate, level: float) -> ValueEstimate:
    """Return the estimate with a note if it has no interval because bounds are unknown."""
    if estimate.interval(level).method != "none":
        return estimate
    return replace(estimate, notes=[*estimate.notes, NO_BOUNDS])


def _of_some_values(
    summary: StratumSummary,
    strata: np.ndarray,
    values: np.ndarray,
    note: Note,
    *,
    budget: int,
    limits: tuple | None,
    level: float,
    rule: dict,
) -> ValueEstimate:
    """Return the estimate from the values of some records of a file."""
    estimate = estimates.estimate_values(summary, strata, values, bounds=limits, notes=[note])
    estimate = estimates.with_next(estimate, summary, estimate.sampled, budget, **rule)
    estimate = _asking_for_bounds(estimate, level)
    warn_of_limit(note.text)
    premise = (
        f"This assumes that the {values.size:,} records with a value are a random sample of each "
        f"stratum. "
    )
    return replace(estimate, premise=premise)


def _next_records(
    estimate: ValueEstimate,
    sheet: Any,
    records: str,
    label_sheet: str,
    write: bool,
    *,
    stratum: str,
    id: str,
    seed: int,
) -> FrameSample:
    """Sample the records of the next annotation sheet and write it."""
    if not id:
        raise checks.WrongValue(
            "id", "must name the column that identifies a record, to sample the records to label"
        )
    if not estimate.to_label.any():
        raise checks.WrongValue(
            "label_sheet",
            "would be empty, because nothing is left of {0}; increase it",
            others=("budget",),
        )
    counts = np.maximum(sheet.begun, estimate.sampled + estimate.to_label)
    labels = dict(zip(estimate.stratum.tolist(), counts.tolist(), strict=True))
    drawn = samples.sample(records, stratum, labels, id=id, seed=seed)
    value_sheets.refuse_lost(label_sheet, sheet, drawn)
    if write:
        value_sheets.write_next_sheet(label_sheet, sheet, drawn)
    return drawn
