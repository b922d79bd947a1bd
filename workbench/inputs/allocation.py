"""Strata, the plan of labels over them, and the records that it draws."""
from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.allocation import plans
from workbench.course import digit_forms
from workbench.data import label_sheets

if TYPE_CHECKING:
    from workbench.allocation.plans import LabelPlan
    from workbench.allocation.samples import FrameSample, StratumSummary


def read(*, strata: str = "", stratum: str = "stratum", size: str = "", sd: str = "", value: str = "", id: str = "",
         budget: int = 100, minimum: int = 2, method: str = "voila", label_plan: str = "", label_sheet: str = "",
         seed: int = 0, write: bool = True) -> tuple[StratumSummary, LabelPlan, FrameSample | None]:
    """Return strata, the plan of labels over them, and the records to label, drawn if a sheet is asked for.

    Parameters
    ----------
    strata : str
        File of strata or records; "" for the register of the course.
    stratum, size, sd, value
        As in `workbench.load_strata`.
    id : str
        As in `workbench.draw_rows`.
    budget, minimum, method
        As in `workbench.plan_labels`.
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
    drawn : FrameSample or None

    Raises
    ------
    ValueError
        If a parameter or a file does not fit; the message says which.

    Examples
    --------
    >>> strata, plan, drawn = read()
    >>> print(plan.headline())
    100 labels, 4 strata: SE of the total 4,148; capped Neyman 5,750, equal shares 8,997, at random 47,149
    """
    if label_sheet:
        label_sheets.refuse_recorded(label_sheet, "value")
        if not strata:
            raise ValueError("strata must be given with label_sheet: a file with one row per record")
    summary = plans.load_strata(strata, stratum=stratum, size=size, sd=sd, value=value) if strata \
        else digit_forms.digit_forms().register()
    plan = plans.plan_labels(summary, budget, method=method, minimum=minimum)
    if label_plan and write:
        plan.write_csv(label_plan)
    drawn = plans.draw_rows(plan, strata, stratum=stratum, id=id, label_sheet=label_sheet if write else "",
                            seed=seed) if label_sheet else None
    return summary, plan, drawn
