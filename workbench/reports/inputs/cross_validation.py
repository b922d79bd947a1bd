"""Inputs of the report on cross-validation: losses and the tests that they allow."""

from dataclasses import dataclass
from typing import Any

from workbench import checks
from workbench.course import clerks
from workbench.cross_validation import comparison, model_columns
from workbench.cross_validation.comparison import ComparedTests, ModelComparison
from workbench.cross_validation.losses import CVLosses
from workbench.data import frames
from workbench.reports.inputs.parameters import Parameters
from workbench.results.limits import warn_of_limit


@dataclass(frozen=True, kw_only=True)
class CrossValidationParameters(Parameters):
    """Parameters of the report, in the order of the notebook's cell.

    Parameters
    ----------
    losses : str
        File of losses. "" is the two clerks of the course.
    fold, item, repeat, models, model, value, size, folds
        As in `workbench.CVLosses.read_csv`.
    better : {"auto", "lower", "higher"}
        "lower" for losses, "higher" for scores. "auto" assumes losses of items. If fold means or
        the names of columns leave this open, it raises an error, as the result could be reversed.
    rho, rope, level
        As in `workbench.compare_tests`.
    splits, test_share
        As in `workbench.CVLosses.read_csv`. A `test_share` of 0 is unknown.
    """

    losses: str = ""
    fold: str = "fold"
    item: str = "item"
    repeat: str = "repeat"
    models: str = ""
    model: str = "model"
    value: str = ""
    size: str = ""
    folds: int = 0
    better: str = "auto"
    splits: str = "auto"
    test_share: float = 0.0
    rho: str = "auto"
    rope: float = 0.01
    level: float = 0.95


@frames.in_rows_of("losses")
def read(
    *, losses: str = "", **parameters: Any
) -> tuple[CVLosses, ModelComparison | None, CVLosses, ComparedTests]:
    """Return the losses, the ranking of models, the best pair and the tests of this pair.

    Parameters
    ----------
    losses : str
        File of losses.
    **parameters
        Other fields of `CrossValidationParameters`.

    Returns
    -------
    losses : CVLosses
        Losses of all models.
    ranking : ModelComparison or None
        Ranking of models, None for one or two.
    pair : CVLosses
        Losses of the best two models, or of all. With scores, the better model is the first.
    tests : ComparedTests
        Tests of the pair.

    Raises
    ------
    ValueError
        If a parameter or a file is wrong.

    Examples
    --------
    >>> losses, ranking, pair, tests = read()
    >>> losses.models, ranking
    (('clerk A', 'clerk B'), None)
    """
    inputs = CrossValidationParameters(losses=losses, **parameters)
    checks.level(inputs.level)
    if not losses:
        measured = clerks.clerk_losses()
    else:
        measured = CVLosses.read_csv(
            losses,
            higher_is_better=inputs.better == "higher",
            size=inputs.size or None,
            **inputs.only("fold", "item", "repeat", "models", "model", "value", "folds"),
            **inputs.only("splits", "test_share"),
        )
        columns = frames.column_names(losses)
        if set(measured.models) <= set(columns):
            columns = measured.models
        elif inputs.value:
            columns = (inputs.value,)
        _refuse_open(measured, inputs.better, columns)
    ranking = None
    if len(measured.models) > 2:
        ranking = comparison.compare_models(measured, **inputs.only("rho", "level"))
    if len(measured.models) > comparison.BEST:
        warn_of_limit(
            f"The page lists the best {comparison.BEST} of {len(measured.models):,} models; "
            "use --tables DIR to write all of them"
        )
    best = [measured.models[k] for k in measured.mean_losses().argsort(kind="stable")[:2]]
    pair = measured.pair(*best) if ranking or (measured.scores and len(best) == 2) else measured
    tests = comparison.compare_tests(pair, **inputs.only("rho", "rope", "level"))
    return measured, ranking, pair, tests


def _refuse_open(measured: CVLosses, better: str, columns: tuple) -> None:
    scores = [name for name in columns if model_columns.kind_of(name) == "scores"]
    why = "" if measured.has_items else "the rows are fold means"
    if scores:
        why = f"the name of column {scores[0]!r} suggests scores"
    if better == "auto" and why:
        raise checks.WrongValue(
            "better",
            f"must be given, because {why}: 'higher' for scores such as accuracies, 'lower' "
            "for losses such as error rates",
        )
