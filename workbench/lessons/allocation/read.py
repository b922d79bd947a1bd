"""Strata, the plan of labels over them, the records that it draws, and what the filled sheet says."""

from dataclasses import replace
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
from workbench.data import roles
from workbench.labeling import sheets as label_sheets
from workbench.lessons.unused import with_unused
from workbench.results import Note
from workbench.results.limits import warn_of_limit

BUDGET = 100
OPTIONS = {roles.STRATUM: "--stratum"}
ASKED = Note(
    "refused",
    'for an interval say with --bounds "LOW, HIGH" what the smallest and the largest value of an '
    "item can be, in the units of the labels, not the smallest and the largest label",
)


def read(
    *,
    strata: str = "",
    stratum: str = "stratum",
    size: str = "",
    sd: str = "",
    value: str = "",
    id: str = "",
    budget: int = BUDGET,
    standard_error: float = 0.0,
    minimum: int = 2,
    method: str = "voila",
    labels: str = "",
    bounds: str = "",
    sd_from: str = "planned",
    level: float = 0.95,
    label_plan: str = "",
    label_sheet: str = "",
    seed: int = 0,
    write: bool = True,
) -> tuple[StratumSummary, LabelPlan, FrameSample | None, ValueEstimate | None]:
    """Return strata, the plan of labels, the records to label where a sheet is asked for, and what labels say.

    Parameters
    ----------
    strata : str
        File of strata or records; "" for the register of the course.
    stratum, size, sd, value
        As in `workbench.load_strata`.
    id : str
        As in `workbench.draw_rows`.
    budget : int
        Labels in total, with those that are there.
    standard_error : float
        Wanted, of the total in the units of the values, in the place of a budget; 0 for none.
    minimum, method
        As in `workbench.plan_labels`.
    labels : str
        The filled sheet; "" to plan. A label sheet is then the one that goes on.
    bounds : str
        Smallest and largest value that an item can have, as "0, 1"; "" where that is not known.
    sd_from : {"planned", "labels"}
        By which standard deviations the rest of a budget is planned: those known before, or those of the labels.
    level : float
    label_plan : str
        CSV file of the labels per stratum, "" for none.
    label_sheet, seed
        As in `workbench.draw_rows`.
    write : bool
        Write the label plan and the label sheet.

    Returns
    -------
    strata : StratumSummary
    plan : LabelPlan
        With labels those that are there and those still to come.
    drawn : FrameSample or None
    found : ValueEstimate or None

    Raises
    ------
    ValueError
        If a parameter or a file does not fit; the message says which.

    Examples
    --------
    >>> strata, plan, drawn, found = read()
    >>> print(plan.headline())       # doctest: +NORMALIZE_WHITESPACE
    100 labels, 4 strata: SE of the total 4,148; capped Neyman 5,750, iterated Neyman 4,148, equal shares 8,997,
    at random 47,149
    """
    checks.level(level)
    checks.choice("sd_from", sd_from, estimates.SD_FROM)
    limits = checks.bounds_of(bounds) if bounds else None
    if label_sheet:
        if not strata:
            raise checks.WrongValue(
                "strata",
                "must be given with {0}: a file with one row per record",
                others=("label_sheet",),
            )
        if not labels:
            label_sheets.refuse_recorded(label_sheet, "value")
    if labels and not strata:
        raise checks.WrongValue(
            "strata",
            "must be given with {0}: the file of strata or records that was planned with",
            others=("labels",),
        )
    try:
        summary = (
            plans.load_strata(strata, stratum=stratum, size=size, sd=sd, value=value)
            if strata
            else digit_forms.digit_forms().register()
        )
        some_values = None
    except ValueError:
        if not value or not plans.lacks_values(strata, value):
            raise
        summary, *some_values = plans.labeled_values(strata, stratum, value)
        budget = max(budget, len(some_values[0])) if budget == BUDGET else budget
    if bounds and not labels and not some_values:
        raise checks.WrongValue(
            "bounds", "must be given with {0}, whose values they are of", others=("labels",)
        )
    rule: dict[str, Any] = {"method": method, "minimum": minimum}
    if standard_error:
        checks.not_both(standard_error=standard_error, budget=budget != BUDGET)
        budget = plans.budget_for_error(summary, standard_error, **rule)
    plan = plans.plan_labels(summary, budget, **rule)
    if standard_error and minimum > 1:
        assured = plans.budget_for_error(summary, standard_error, **rule, assurance=0.8)
        plan = replace(
            plan,
            notes=[
                *plan.notes,
                Note(
                    "design",
                    f"the standard error that the labels estimate is {standard_error:,g} or less in about half of "
                    f"samples; in 4 of 5 with {assured:,} labels, if values are normal within strata",
                ),
            ],
        )
    names: dict[str, Any] = {"stratum": stratum, "id": id, "seed": seed}
    drawn = found = None
    if some_values:
        checks.not_both(value=value, labels=labels)
        found = _of_some_values(
            summary, *some_values, budget=budget, limits=limits, level=level, rule=rule
        )
        plan = replace(plan, labeled=found.sampled + found.to_label)
        if label_sheet:
            raise checks.WrongValue(
                "label_sheet",
                f"must not be given, as column {value!r} has values in some rows; "
                "to draw further records name a column without gaps, or leave value out",
            )
    elif labels:
        sheet = value_sheets.read_value_sheet(
            labels, summary, records=strata if id else None, **names
        )
        found = estimates.estimate_values(
            summary, sheet.stratum, sheet.values, bounds=limits, notes=sheet.notes
        )
        found = estimates.with_next(
            found, summary, sheet.begun, budget, method=method, minimum=minimum, sd_from=sd_from
        )
        if not found.lacking and found.interval(level).method == "none":
            found = replace(found, notes=[*found.notes, ASKED])
        drawn = (
            _next_records(found, sheet, strata, label_sheet, write, **names)
            if label_sheet
            else None
        )
        plan = replace(plan, labeled=found.sampled + found.to_label)
    elif label_sheet:
        drawn = plans.draw_rows(plan, strata, label_sheet=label_sheet if write else "", **names)
    if label_plan and write:
        plan.write_csv(label_plan)
    used = [stratum, size, sd, value, id]
    plan = with_unused(plan, strata, used, OPTIONS, warn=False)
    found = found and with_unused(found, strata, used, OPTIONS)
    return summary, plan, drawn, found


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
    """Return the estimate from the values that some records of a file have."""
    found = estimates.estimate_values(summary, strata, values, bounds=limits, notes=[note])
    found = estimates.with_next(found, summary, found.sampled, budget, **rule)
    if found.interval(level).method == "none":
        found = replace(found, notes=[*found.notes, ASKED])
    warn_of_limit(note.text)
    premise = (
        f"This takes the {values.size:,} records with a value for a random sample of each stratum. "
    )
    return replace(found, premise=premise)


def _next_records(
    found: ValueEstimate,
    sheet: Any,
    records: str,
    label_sheet: str,
    write: bool,
    *,
    stratum: str,
    id: str,
    seed: int,
) -> FrameSample:
    """Draw the records of a sheet that goes on, and write it."""
    if not id:
        raise checks.WrongValue(
            "id", "must name the column that identifies a record, to draw the records to label"
        )
    if not found.to_label.any():
        raise checks.WrongValue(
            "label_sheet",
            "would be empty, as nothing is left of {0}; give a larger one",
            others=("budget",),
        )
    many = np.maximum(sheet.begun, found.sampled + found.to_label)
    wanted = dict(zip(found.stratum.tolist(), many.tolist(), strict=True))
    drawn = samples.sample(records, stratum, wanted, id=id, seed=seed)
    value_sheets.refuse_lost(label_sheet, sheet, drawn)
    if write:
        value_sheets.write_next_sheet(label_sheet, sheet, drawn)
    return drawn
