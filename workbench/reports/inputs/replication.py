"""Inputs of the report on clusters: the labeled items of a sample."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from workbench import checks
from workbench.course import digit_forms
from workbench.data import columns, confusion_matrices, frames, roles
from workbench.replication import metrics as clustered
from workbench.replication.designs import DesignError
from workbench.replication.labeled import CANDIDATES, matches
from workbench.replication.metrics import LabeledItems
from workbench.replication.paired import check_comparison, compare_metrics
from workbench.replication.statistics import METRICS
from workbench.reports.inputs.parameters import Parameters
from workbench.reports.inputs.unused import with_unused
from workbench.results.limits import warn_of_limit

SHOWN = 5
DESIGN = ("stratum", "psu", "weight", "fpc", "group")
OPTIONS = {
    roles.STRATUM: "--stratum",
    roles.CLUSTER: "--psu",
    roles.WEIGHT: "--weight",
    roles.MONTH: "--group",
    roles.MODEL: "--group",
    roles.PART: "--group",
    roles.REPEATED: "--psu",
}


@dataclass(frozen=True, kw_only=True)
class ReplicationParameters(Parameters):
    """Parameters of the report, in the order of the notebook's cell.

    Parameters
    ----------
    items : str
        File of labeled items. "" is the digit forms of the course with 9 as the positive class.
    truth, prediction, score, stratum, psu, nest, weight, fpc, replicate_weights
        As in `workbench.load_labeled`.
    rho, coefficients
        As in `workbench.estimate_metrics`.
    group, positive, classes, separator, candidates, rows
        As in `workbench.load_labeled`.
    metrics : str
        As in `workbench.estimate_metrics`. "" takes the metrics that suit the items.
    method, collapse, level
        As in `workbench.estimate_metrics`.
    seed : int
        `rng` of `workbench.estimate_metrics`.
    """

    items: str = ""
    truth: str = "truth"
    prediction: str = "prediction"
    score: str = ""
    stratum: str = "stratum"
    psu: str = ""
    nest: bool = False
    weight: str = ""
    fpc: str = ""
    replicate_weights: str = ""
    rho: str = ""
    coefficients: str = ""
    group: str = ""
    positive: str = ""
    classes: str = "auto"
    separator: str = ""
    candidates: str = CANDIDATES
    rows: str = "auto"
    metrics: str = ""
    method: str = "auto"
    collapse: str = ""
    level: float = 0.95
    seed: int = 0


@checks.naming(rng="seed")
def read(**parameters: Any) -> LabeledItems:
    """Return labeled items for which the requested metrics exist.

    Slow metrics such as the AUC are checked, but not computed.

    Parameters
    ----------
    **parameters
        Fields of `ReplicationParameters`.

    Returns
    -------
    LabeledItems
        The items, with notes on unused columns.

    Raises
    ------
    ValueError
        If a parameter, a file or the design of the sample is wrong.

    Examples
    --------
    >>> read()
    LabeledItems(1,797 labeled items, 10 classes, 10.0% of class 9)
    """
    inputs = ReplicationParameters(**parameters)
    checks.level(inputs.level)
    checks.seed("seed", inputs.seed)
    if inputs.items:
        inputs = _without_needless_prediction(inputs)
        labeled = clustered.load_labeled(
            inputs.items,
            **inputs.only("truth", "prediction", "score", "stratum", "psu", "nest", "weight"),
            **inputs.only("group", "fpc", "positive", "replicate_weights", "classes", "candidates"),
            **inputs.only("separator", "rows"),
        )
    else:
        labeled = digit_forms.digit_forms().labeled(inputs.positive or 9)
    settings: dict[str, Any] = {
        **inputs.only("method", "level", "collapse", "rho", "coefficients"),
        "rng": inputs.seed,
    }
    try:
        _check_metrics(labeled, inputs.metrics or None, settings)
    except DesignError as error:
        raise checks.WrongValue(
            error.argument, error.rule, told=_of_the_command(error, inputs.collapse)
        ) from error
    for text in confusion_matrices.assumptions(labeled.notes):
        warn_of_limit(text)
    for note in labeled.notes:
        if note.kind == "unreliable":
            warn_of_limit(note.text)
    # replicate weights contain the strata and clusters of the design
    if confusion_matrices.is_matrix(labeled.notes) or inputs.replicate_weights:
        return labeled
    used = inputs.only("truth", "prediction", "score", *DESIGN)
    # a second column may divide the strata further, but must not replace them
    has_strata = len({*labeled.stratum}) > 1
    options = OPTIONS | {roles.STRATUM: "--group"} if has_strata else {**OPTIONS}
    if inputs.psu:
        del options[roles.REPEATED]
    return with_unused(labeled, inputs.items, used.values(), options)


def _without_needless_prediction(inputs: ReplicationParameters) -> ReplicationParameters:
    """Return the inputs without a column of predictions if the file has none and needs none.

    It needs none if there is a score, or if all metrics use the truth alone. It also needs none if
    no metric is named and every other column of the file already has a role.
    """
    if inputs.prediction != ReplicationParameters.prediction:
        return inputs
    frames.check_source("items", inputs.items)
    names = frames.column_names(inputs.items)
    if inputs.prediction in map(columns.plain_name, names):
        return inputs
    if any(matches(name, inputs.candidates) for name in names):
        return inputs
    without = replace(inputs, prediction="")
    if inputs.score:
        return without
    if confusion_matrices.read_matrix("items", inputs.items, **inputs.only("truth", "rows")):
        return inputs
    metrics = inputs.metrics.replace(",", " ").split()
    if metrics:
        of_truth = all(name in METRICS and METRICS[name].of_truth for name in metrics)
        return without if of_truth else inputs
    texts = inputs.only("truth", *DESIGN).values()
    with_role = {columns.plain_name(name) for text in texts for name in (text, *text.split(","))}
    free = [name for name in names if columns.plain_name(name) not in with_role]
    if all(matches(name, inputs.replicate_weights) for name in free):
        return without
    raise checks.WrongValue(
        "prediction",
        "must name the column of predicted classes; the file has "
        f"{checks.listed(names, quoted=True)}. "
        f"For the mean or the proportions of {inputs.truth!r} alone, use --metrics mean or "
        "--metrics proportion",
    )


def _check_metrics(labeled: LabeledItems, metrics: str | None, settings: dict[str, Any]) -> None:
    """Raise an error if a metric does not exist; do not compute slow metrics."""
    check: Callable = check_comparison if labeled.models else clustered.check_settings
    compute: Callable = compare_metrics if labeled.models else clustered.estimate_metrics
    names, *_ = check(labeled, metrics, **settings)
    quick = [metric for metric in names if not METRICS[metric].values]
    if quick:
        compute(labeled, quick, **settings)


def _of_the_command(error: DesignError, collapse: str) -> str:
    """Return the problem of a sample, its rows in the file (the header is row 1) and a remedy."""
    rows = " (rows {} and {})".format(*(item + 2 for item in error.items)) if error.items else ""
    remedy = ""
    if error.kind == "repeated":
        remedy = ": if the numbers start again in every stratum, use --nest"
    if error.kind == "alone":
        *alone, neighbor = error.join
        remedy = ": there is no other stratum to join it to"
        if neighbor is not None:
            pairs = [f"{name}={neighbor}" for name in alone if name != neighbor]
            joined = checks.listed([collapse, *pairs] if collapse else pairs, SHOWN)
            remedy = (
                ": join each to another stratum, chosen before you saw the results, for example "
                f'with --collapse "{joined}"'
            )
    return error.seen + rows + remedy
