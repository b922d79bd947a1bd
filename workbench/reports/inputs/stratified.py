"""Inputs of the report on accuracy: scored items and the audit."""

import os
from dataclasses import dataclass, replace
from typing import Any, NoReturn

from workbench import checks, registry
from workbench.audits import accuracy, differences, judged
from workbench.audits.accuracy import Audit
from workbench.audits.classes import class_audit
from workbench.course import digit_forms
from workbench.data import files, frames, roles, safe_csv, scored_items
from workbench.data.judged_items import judged_items
from workbench.data.scored_items import ScoredItems
from workbench.labeling.answers import ANSWERS
from workbench.reports.inputs.parameters import Parameters
from workbench.reports.inputs.unused import few_values, with_unused
from workbench.stratified import prices
from workbench.stratified.default_plan import AUTO, STRATA, check_trusted

BUDGET = 100
WITHOUT_JUDGE = (
    *("prediction", "truth", "rival", "model", "probabilities", "positive", "strata_by"),
    *("metrics_of", "half_width"),
)
CLUSTERED = "workbench report brr-orthogonal-arrays"
OPTIONS = {
    roles.STRATUM: "--strata-by",
    roles.CLUSTER: f"{CLUSTERED} --psu",
    roles.WEIGHT: f"{CLUSTERED} --weight",
    roles.MODEL: "--rival FIRST,SECOND --model",
}


@dataclass(frozen=True, kw_only=True)
class StratifiedParameters(Parameters):
    """Parameters of the report, in the order of the notebook's cell.

    Parameters
    ----------
    scores : str
        File of scored items. "" is the digit forms of the course.
    score, prediction, truth, id, score_is, positive, classes, probabilities, leave_out
        As in `workbench.read_scores`.
    labels, label_sheet
        As in `workbench.accuracy_audit`.
    columns : str
        Columns of `scores` that the annotation sheet shows, separated by blanks or commas.
    budget : int
        Labels in total.
    half_width : float
        Target half-width of the interval of the accuracy, instead of a budget. 0 is none.
    assurance : float
        Probability of reaching the half-width, as in `workbench.label_prices`.
    metrics_of : str
        A predicted class, for `workbench.class_audit`. With `rival` instead, the audit is
        `workbench.difference_audit`.
    rival, model : str
        As in `workbench.read_scores`.
    judge : str
        Columns of judge labels on the answers of two models, separated by a comma, for
        `workbench.judged_audit`.
    strata_by : str
        `by` of `workbench.read_scores`.
    n_strata : int
        Number of strata. 0 is "auto" of `workbench.accuracy_audit`, or 5 with `metrics_of` or
        `rival`.
    stratifier, allocation, trust_scores, interval, level
        As in `workbench.accuracy_audit`. With `metrics_of` or `rival`, "auto" is "proportional".
    seed : int
        `rng` of the audit.
    """

    scores: str = ""
    score: str = "score"
    prediction: str = ""
    truth: str = ""
    id: str = ""
    score_is: str = "auto"
    positive: str = ""
    classes: str = "auto"
    probabilities: str = ""
    leave_out: str = ""
    labels: str = ""
    label_sheet: str = ""
    columns: str = ""
    budget: int = BUDGET
    half_width: float = 0.0
    assurance: float = 0.8
    metrics_of: str = ""
    rival: str = ""
    model: str = ""
    judge: str = ""
    strata_by: str = ""
    n_strata: int = 0
    stratifier: str = "equal_size"
    allocation: str = AUTO
    trust_scores: bool = False
    interval: str = "default"
    level: float = 0.95
    seed: int = 0


@checks.naming(rng="seed", by="strata_by")
def read(*, write: bool = True, **parameters: Any) -> tuple[ScoredItems, Audit]:
    """Return scored items and their audit.

    The audit is of the accuracy, of the metrics of one class, or of the difference of two models.

    Parameters
    ----------
    write : bool
        Write the files that the parameters name.
    **parameters
        Fields of `StratifiedParameters`.

    Returns
    -------
    items : ScoredItems
        The items.
    audit : AccuracyAudit, ClassAudit, DifferenceAudit or JudgedAudit
        The audit.

    Raises
    ------
    ValueError
        If a parameter or a file is wrong.

    Examples
    --------
    >>> items, audit = read(budget=100)
    >>> audit     # doctest: +NORMALIZE_WHITESPACE
    AccuracyAudit(Accuracy 92.9% (95% confidence interval 86.4% to 97.1%), 100 labels, 10 strata;
    the true accuracy is 87.7%)
    """
    inputs = StratifiedParameters(**parameters)
    checks.level(inputs.level)
    checks.seed("seed", inputs.seed)
    checks.not_both(metrics_of=inputs.metrics_of, rival=inputs.rival)
    checks.not_both(labels=inputs.labels, truth=inputs.truth)
    if inputs.strata_by and not inputs.scores:
        _ask_for_scores("strata_by", inputs.strata_by, "a column")
    if inputs.label_sheet and not inputs.labels and not inputs.truth:
        _refuse_recorded(inputs.label_sheet)
    if inputs.judge:
        return _judged_audit(inputs, write)
    settings: dict[str, Any] = {
        **inputs.only("score", "prediction", "truth", "id", "rival", "score_is", "positive"),
        **inputs.only("classes", "probabilities", "model", "leave_out"),
    }
    if inputs.scores:
        items = scored_items.read_scores(inputs.scores, by=inputs.strata_by, **settings)
    else:
        items = digit_forms.digit_forms().items()
    source = {
        "scores": os.path.basename(inputs.scores),
        **settings,
        "strata_by": inputs.strata_by,
        "scores_read_as": items.read_as,
    }
    is_labeled = items.labeled is not None
    design: dict[str, Any] = {
        "n_strata": inputs.n_strata or AUTO,
        **inputs.only("stratifier", "allocation", "interval", "level", "labels"),
        "rng": inputs.seed,
        "source": source,
        "label_sheet": inputs.label_sheet if write and not is_labeled else "",
        "columns": {},
    }
    budget = _budget(inputs, items)
    if not inputs.labels and not inputs.truth:
        design["columns"] = shown_columns(inputs.scores, inputs.columns, items)
    audit: Audit
    if not inputs.metrics_of and not inputs.rival:
        audit = accuracy.accuracy_audit(items, budget, **design, trust_scores=inputs.trust_scores)
    else:
        check_trusted(inputs.trust_scores, False, items)
        design["n_strata"] = inputs.n_strata or min(STRATA, items.size)
        if inputs.allocation == AUTO:
            design["allocation"] = "proportional"
        audit = (
            class_audit(items, inputs.metrics_of, budget, **design)
            if inputs.metrics_of
            else differences.difference_audit(items, budget, **design)
        )
    options = {
        **inputs.only("score", "prediction", "truth", "id"),
        **inputs.only("rival", "model", "strata_by", "columns"),
    }
    used = [name.strip() for name in ",".join(options.values()).split(",")]
    if items.labeled is not None and inputs.scores:
        notes = few_values(inputs.scores, used, items.labeled, items.size, items.by)
        if notes:
            names = checks.listed(notes, quoted=True)
            doubt = f"The labeled items have too few values of {names} for a random sample. "
            audit = replace(audit, premise=doubt + audit.premise)._noted(*notes.values())
        used += notes
    warn = bool(audit.premise or inputs.truth)
    return items, with_unused(audit, inputs.scores, used, OPTIONS, warn=warn)


def _budget(inputs: StratifiedParameters, items: ScoredItems) -> int:
    """Return the number of labels, which may follow from a half-width."""
    budget = inputs.budget
    if inputs.half_width:
        checks.not_both(half_width=inputs.half_width, budget=budget != BUDGET)
        checks.not_both(half_width=inputs.half_width, metrics_of=inputs.metrics_of)
        checks.not_both(half_width=inputs.half_width, rival=inputs.rival)
        if items.labeled is not None:
            raise checks.WrongValue(
                "half_width",
                f"plans new labels, but column {inputs.truth!r} already has labels; remove one of "
                "the two",
                inputs.half_width,
            )
        if not inputs.labels:
            needed = prices.label_prices(
                items,
                inputs.half_width,
                n_strata=inputs.n_strata or AUTO,
                rng=inputs.seed,
                **inputs.only("stratifier", "allocation", "trust_scores", "interval", "level"),
                assurance=inputs.assurance,
            )
            budget = int(needed.assured[0])
    return min(budget, items.size) if budget == BUDGET else budget


def _ask_for_scores(name: str, value: str, kind: str) -> NoReturn:
    raise checks.WrongValue(
        name, f"is {value!r}, {kind} of a file; name the file as {{0}}", others=("scores",)
    )


def read_judged(scores: str, judge: str, id: str, settings: dict) -> ScoredItems:
    """Return the items of a file with judge labels; reject other settings that do not apply."""
    if not scores:
        _ask_for_scores("judge", judge, "columns")
    for name in WITHOUT_JUDGE:
        checks.not_both(**{"judge": judge, name: settings.get(name)})
    return judged_items(scores, judge, id=id)


def _judged_audit(inputs: StratifiedParameters, write: bool) -> tuple[ScoredItems, Audit]:
    """Return the items of a file with judge labels and their audit."""
    settings = inputs.only(*WITHOUT_JUDGE)
    items = read_judged(inputs.scores, inputs.judge, inputs.id, settings)
    file = os.path.basename(inputs.scores)
    columns = {} if inputs.labels else shown_columns(inputs.scores, inputs.columns, items)
    return items, judged.judged_audit(
        items,
        _budget(inputs, items),
        **inputs.only("level", "labels"),
        rng=inputs.seed,
        label_sheet=inputs.label_sheet if write else "",
        columns=columns,
        source={"scores": file, "judge": inputs.judge, "identifier": inputs.id},
    )


def shown_columns(scores: str, columns: str, items: ScoredItems) -> dict:
    """Return the columns of a file that an annotation sheet shows; a log has default columns."""
    if not columns.strip() and scores and files.is_evaluation_log(scores):
        existing = frames.column_names(scores)
        columns = ",".join(name for name in registry.LOG_COLUMNS if name in existing)
    if not columns.strip():
        return {}
    if not scores:
        _ask_for_scores("columns", columns, "columns")
    existing, names = frames.column_names(scores), dict[str, None]()
    for part in map(str.strip, columns.split(",")):
        names |= dict.fromkeys([part] if part in existing else part.split())
    cells = frames.read_columns(scores, [*names])[0]
    if items.kept is None:
        return cells
    return {name: column[items.kept] for name, column in cells.items()}


def _refuse_recorded(sheet: str) -> None:
    try:
        safe_csv.refuse_recorded(sheet, *ANSWERS)
    except ValueError as error:
        raise ValueError(f"{error}; to analyze it, use --labels") from error
