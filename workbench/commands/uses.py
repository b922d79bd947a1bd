"""What the columns of a table are good for: the commands that `workbench doctor` prints.

`Inspected` holds a table and the probable roles of its columns. `uses_of` yields the commands, one
function for each question; extras yield theirs through `registry.USES`.
"""

import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from numpy import ndarray

from workbench import checks, registry
from workbench.data import files, numbers, roles, shapes
from workbench.data.columns import plain_name

TOPICS = ACCURACY, CLUSTERS, SHARES, MODELS = (
    "stratified-accuracy",
    "brr-orthogonal-arrays",
    "misclassification-correction",
    "cross-validation-t-tests",
)
VALUES = "voila-vs-neyman"
AGREEMENT = "How far do annotators agree?"
METRICS = "Which metrics do the labeled items have, and how certain are they?"
PROPORTION = "Which proportion of each class is there, corrected for misclassification?"
JUDGED = "Which proportion is correct, by a judge's labels of all items and people's of some?"
BY_FOLDS = "Which model is better, by a cross-validation?"
NEEDS_COUNTS = "add --counts and the file of all predictions, or of their counts"
LABELS = 300  # of a plan
FEWEST_LABELS = 10
FEW_VALUES = 12  # groups of items, or days that need no months
MOST_COUNTED = 60  # rows of a file of counts with a row per class
NAMED_PERIOD = ("period", "month", "batch", "release", "date")
COUNTED = ("counted", "flagged", "positives")
ACS_WEIGHTS = r"p?wgtp"  # successive differences: American Community Survey
METHODS = "brr, fay, jk1, jk2, jkn, sdr or bootstrap"


class Use(NamedTuple):
    """A question and the words of the command that answers it.

    Attributes
    ----------
    question : str
    words : list of str
    read : callable
        Reads the sample as the command reads the file, and raises what the command would.
    needs : str
        What is still to be added to the command; "" for nothing.
    """

    question: str
    words: list[str]
    read: Callable[[], Any] = bool
    needs: str = ""


@dataclass(frozen=True)
class Inspected:
    """A file, its first rows, the probable roles of its columns, and how many rows it has."""

    file: str
    data: dict[str, ndarray]
    columns: list[roles.Column]
    rows: int

    def names(self, role: str) -> list[str]:
        """Return the columns that seem to have a role."""
        return [column.name for column in self.columns if column.seems == role]

    def first(self, role: str) -> str:
        """Return the first column that seems to have a role, "" for none.

        What people say is the truth where no other column is.
        """
        column = roles.first_of(self.columns, role)
        if not column and role == roles.TRUTH:
            return roles.first_of(self.columns, roles.HUMAN)
        return column

    def has(self, *any_of: str) -> bool:
        """Return whether a column seems to have one of the roles."""
        return any(column.seems in any_of for column in self.columns)

    def options(self, **role_of_option: str) -> dict[str, Any]:
        """Return the first column of each role by option, without the roles that no column has."""
        options = {option: self.first(role) for option, role in role_of_option.items()}
        return {option: name for option, name in options.items() if name}

    def has_gaps(self, name: str) -> bool:
        """Return whether cells of a column are missing."""
        return any(column.missing for column in self.columns if column.name == name)

    def called(self, *any_of: str) -> str:
        """Return the first column that is called so in any spelling, "" for none."""
        return next((name for name in self.data if plain_name(name) in any_of), "")

    def measurements(self) -> list[str]:
        """Return the columns of many different numbers that have no other role.

        Whole numbers that are all different may be identifiers, and count only for lack of others.
        """
        names = [
            column.name
            for column in self.columns
            if column.seems == roles.OTHER and column.holds.startswith("numbers")
        ]
        return [name for name in names if not self._may_identify(name)] or names

    def _may_identify(self, name: str) -> bool:
        cells = numbers.as_text(self.data[name])
        return len({*cells}) == len(cells) and all(map(str.isdecimal, cells))


def options_as_words(options: dict[str, Any]) -> list[str]:
    """Return options and their values as words of a command line.

    Examples
    --------
    >>> options_as_words({"score_is": "margin", "truth": "y"})
    ['--score-is', 'margin', '--truth', 'y']
    """
    words = []
    for name, value in options.items():
        words += [f"--{name.replace('_', '-')}", value]
    return words


def uses_of(table: Inspected) -> Iterator[Use]:
    """Yield what a table is ready for, or is one step away from, in the order of the topics."""
    questions = [of_matrix, of_accuracy, of_metrics, of_values, of_proportions, of_folds]
    if files.comparison_table(table.file):
        questions = []
    elif files.is_evaluation_log(table.file):
        questions = [of_log]
    questions += map(registry.load, registry.USES)
    for uses in questions:
        yield from uses(table)


def _report(topic: str, **options: str) -> list[str]:
    return ["workbench", "report", topic, *options_as_words(options)]


def _budget(table: Inspected) -> int:
    return min(LABELS, table.rows // 2)


def _plan(table: Inspected) -> str:
    return f"How good is the classifier? A plan for {_budget(table):,} labels"


def of_log(table: Inspected) -> Iterator[Use]:
    """Yield the plan of an audit of a log, which has identifiers and scores of its own."""
    from workbench.data.scored_items import read_scores

    if _budget(table) >= FEWEST_LABELS:
        words = _report(ACCURACY, scores=table.file, budget=str(_budget(table)))
        yield Use(_plan(table), words, lambda: read_scores(table.file, score="score"))


def of_matrix(table: Inspected) -> Iterator[Use]:
    """Yield the metrics of a confusion matrix, and its use as an audit."""
    from workbench.data.confusion_matrices import read_matrix

    def read() -> Any:
        return read_matrix("items", table.file)

    try:
        if read() is None:
            return
    except ValueError:  # the doctor prints it
        if not table.has(roles.ID):
            yield Use(METRICS, _report(CLUSTERS, items=table.file), read)
        return
    yield Use(METRICS, _report(CLUSTERS, items=table.file), read)
    yield Use(PROPORTION, _report(SHARES, audit=table.file), needs=NEEDS_COUNTS)


def of_accuracy(table: Inspected) -> Iterator[Use]:
    """Yield the plan of an audit of scored items, and the accuracy of those with a label."""
    from workbench.data.scored_items import read_scores

    options = _scored(table)
    if not options or _budget(table) < FEWEST_LABELS:
        return
    truth = options.pop("truth", "")
    budget = {"budget": str(_budget(table))}
    if not truth or not table.has_gaps(truth):
        words = _report(ACCURACY, scores=table.file, **options, **budget)
        yield Use(
            _plan(table), words, lambda: read_scores(table.data, **{"score": "score"} | options)
        )
    if truth:
        question = "How good is it, as the truth is known?"
        if table.has_gaps(truth):
            question = "How good is it, by the labels in some rows?"
            budget = {}
        with_truth = options | {"truth": truth}
        words = _report(ACCURACY, scores=table.file, **with_truth, **budget)
        yield Use(
            question, words, lambda: read_scores(table.data, **{"score": "score"} | with_truth)
        )


def _scored(table: Inspected) -> dict[str, Any]:
    """Return the options that read scored items, {} where the columns hold none."""
    options = table.options(
        score=roles.SCORE, prediction=roles.PREDICTION, truth=roles.TRUTH, id=roles.ID
    )
    predictions = table.names(roles.PREDICTION)
    if len(predictions) > 1:
        options["rival"] = predictions[1]
    if not predictions and "truth" not in options:
        options |= table.options(truth=roles.CORRECT)
    of_class = table.names(roles.PROBABILITY)
    needed = [options.get("score", ""), *predictions[:2]]
    if of_class:
        for role in ("score", "prediction", "rival"):
            options.pop(role, None)
        options = {"probabilities": shapes.pattern_of(of_class)} | options
        needed = of_class
    elif len(predictions) != 1 and len(table.names(roles.SCORE)) > 1:
        return {}
    elif not predictions and _scores_are_results(table):
        return {}
    if any(map(table.has_gaps, needed)):
        options["leave_out"] = "missing"
    return options if of_class or "score" in options else {}


def _scores_are_results(table: Inspected) -> bool:
    """Return whether scores without predictions are those of models: of folds, several, or 0/1."""
    scores = table.names(roles.SCORE)
    if table.has(roles.FOLD, roles.SPLIT, roles.MODEL):
        return True
    return any(len({*numbers.as_text(table.data[name])} - {""}) <= 2 for name in scores)


def of_metrics(table: Inspected) -> Iterator[Use]:
    """Yield metrics of labeled items, or means of a column, also in clusters and strata."""
    from workbench.reports.inputs.replication import read

    options = _labeled(table)
    if not options:
        return
    replicates = table.names(roles.REPLICATE)
    needs = ""
    if len(replicates) > 1 and "weight" in options:
        prefix = os.path.commonprefix(replicates)
        options = {name: of for name, of in options.items() if name not in ("stratum", "psu")}
        options |= {"replicate_weights": f"{prefix}*"}
        if re.fullmatch(ACS_WEIGHTS, prefix, re.IGNORECASE):
            options["method"] = "sdr"
        else:
            needs = (
                f"say how the {len(replicates)} replicate weights were made, with --method "
                f"and one of {METHODS}"
            )
    elif _is_complete(table, roles.POPULATION):
        options["fpc"] = table.first(roles.POPULATION)
    question = METRICS
    if "prediction" not in options:
        question = f"Which mean does {options['truth']!r} have, and how certain is it?"
        distinct = {*numbers.as_text(table.data[options["truth"]])} - {""}
        options["metrics"] = "proportion" if len(distinct) <= 2 else "mean"
    words = _report(CLUSTERS, items=table.file, **options)
    yield Use(question, words, lambda: read(items=table.data, **options), needs)


def _labeled(table: Inspected) -> dict[str, Any]:
    """Return the options that read labeled items, or a column of a sample, {} for neither."""
    from workbench.replication.label_sets import patterns_of

    design = table.options(stratum=roles.STRATUM, psu=roles.CLUSTER, weight=roles.WEIGHT)
    truth = table.first(roles.TRUTH)
    predictions = table.names(roles.PREDICTION)
    scores = table.names(roles.SCORE)
    if truth and any(plain_name(name).startswith("map") for name in predictions):
        return {}  # points of a map are sampled by its classes
    if truth and predictions:
        patterns = patterns_of(table.data, truth, predictions[0])
        if patterns:
            return patterns | design
        labeled = {"truth": truth, "prediction": ",".join(predictions)}
        if len(predictions) == len(scores) > 1:
            labeled["score"] = ",".join(scores)
        groups = _groups(table)
        if len(groups) == 1 and not design:
            labeled["group"] = groups[0]
        return labeled | design
    if truth and scores:
        return {"truth": truth, "prediction": "", "score": ",".join(scores)} | design
    values = table.measurements()
    if not truth and len(values) == 1:
        truth = values[0]
    is_sample = "weight" in design or _is_complete(table, roles.POPULATION)
    if truth and is_sample and not table.has_gaps(truth):
        return {"truth": truth} | design
    return {}


def _is_complete(table: Inspected, role: str) -> bool:
    name = table.first(role)
    return bool(name) and not table.has_gaps(name)


def _groups(table: Inspected) -> list[str]:
    """Return the columns of text without another role that have a few values."""
    groups = []
    for column in table.columns:
        if column.seems != roles.OTHER or column.name in table.measurements():
            continue
        values = {*numbers.as_text(table.data[column.name])} - {""}
        is_text = not any(value.replace(".", "").isdigit() for value in values)
        if is_text and 1 < len(values) <= min(FEW_VALUES, table.rows // 5):
            groups.append(column.name)
    return groups


def of_values(table: Inspected) -> Iterator[Use]:
    """Yield the plan of labels for values in strata, or the estimate of their total."""
    from workbench.allocation import plans

    question = "Which total do values in strata have, and where do the next labels go?"
    stratum = table.first(roles.STRATUM)
    size = table.first(roles.SIZE)
    values = table.measurements()
    names = [stratum] if stratum else _text_columns(table)
    is_design = table.has(roles.WEIGHT, roles.POPULATION, roles.TRUTH, roles.PREDICTION)
    if size and names and not table.called(*NAMED_PERIOD, *COUNTED):
        strata = {*zip(*(table.data[name].tolist() for name in names), strict=True)}
        options = {"stratum": ",".join(names), "size": size}
        if len(strata) == len(table.data[size]):
            words = _report(VALUES, strata=table.file, **options)
            yield Use(question, words, lambda: plans.load_strata(table.data, **options))
    elif stratum and values and not is_design:
        some = [name for name in values if table.has_gaps(name)] or values
        value = max(some, key=lambda name: int(shapes.gaps(table.data[name], True).sum()))
        options = {"stratum": stratum, "value": value}
        words = _report(VALUES, strata=table.file, **options, **table.options(id=roles.ID))
        needs = ""
        if len(some) > 1:
            needs = f"name the column of values with --value: {checks.listed(some, quoted=True)}"
        yield Use(question, words, lambda: plans.labeled_values(table.data, stratum, value), needs)


def _text_columns(table: Inspected) -> list[str]:
    """Return the columns without gaps and without another role that hold no measurements."""
    return [
        column.name
        for column in table.columns
        if column.seems == roles.OTHER and not column.missing and not _whole(table, column.name)
    ]


def _whole(table: Inspected, name: str) -> bool:
    """Return whether the cells of a column are counts: whole numbers from 0, or missing."""
    cells = numbers.as_text(table.data[name])
    return all(re.fullmatch(r"[0-9][0-9 ,.']*|", cell) for cell in cells)


def of_proportions(table: Inspected) -> Iterator[Use]:
    """Yield corrected class proportions: of a judge, of labels in some rows, or of two files."""
    from workbench.misclassification.files import load_audit
    from workbench.reports.inputs.judged import read_judged

    if len(table.names(roles.PREDICTION)) > 1:
        return
    file = table.file
    audit = table.options(truth=roles.TRUTH, prediction=roles.PREDICTION)
    weight = table.options(weight=roles.WEIGHT)
    judge = table.first(roles.JUDGE)
    truth = audit.get("truth", "")
    has_audit = len(audit) == 2
    if judge and truth and table.has_gaps(truth):
        words = _report(SHARES, counts=file, judge=judge, truth=truth)
        yield Use(JUDGED, words, lambda: read_judged(file, judge=judge, truth=truth))
        return
    if has_audit and table.has_gaps(truth):
        counts = {"counts": file, "predicted": audit["prediction"]}
        words = _report(SHARES, audit=file, **audit, **counts, **weight)
        yield Use(PROPORTION, words, lambda: load_audit(table.data, **audit))
        return
    if has_audit:
        options = audit | weight | table.options(period_in_audit=roles.MONTH)
        words = _report(SHARES, audit=file, **options)
        yield Use(PROPORTION, words, lambda: load_audit(table.data, **audit), NEEDS_COUNTS)
        return
    of_periods = _counts(table)
    if of_periods is not None:
        words = _report(SHARES, counts=file, **of_periods)
        needs = "add --audit and the file of items with true and predicted classes"
        yield Use(PROPORTION, words, needs=needs)


def _counts(table: Inspected) -> dict[str, Any] | None:
    """Return the options that read predictions or their counts, None where the columns hold none.

    Counts have a row per period, with a column per class or of the second class, or a row per
    class.
    """
    period = table.first(roles.MONTH) or table.called(*NAMED_PERIOD)
    predicted = table.first(roles.PREDICTION)
    if predicted and not table.has(roles.TRUTH) and (period or not table.has(roles.SCORE)):
        options: dict[str, Any] = {"predicted": predicted}
        if period:
            options = {"period": period} | options | _made_periods(table.data[period])
        return options
    others = [name for name in table.data if name != period]
    counts = [name for name in others if _whole(table, name)]
    is_wide = period and len(counts) == len(others) > 1
    is_long = len(others) - len(counts) == 1 == len(counts) and table.rows <= MOST_COUNTED
    if is_wide:
        return {"period": period}
    if is_long and not table.has(roles.SCORE, roles.FOLD, roles.ID):
        return {"period": period} if period else {}
    return None


def _made_periods(cells: Any) -> dict[str, Any]:
    """Return the option that makes months of a column of days."""
    from workbench.misclassification import calendar

    names = {*numbers.as_text(cells)} - {""}
    if len(names) > FEW_VALUES and calendar.length_of([*names]) == "day":
        return {"every": "month"}
    return {}


def of_folds(table: Inspected) -> Iterator[Use]:
    """Yield the comparison of models by the losses or scores of a cross-validation."""
    from workbench.cross_validation import model_columns
    from workbench.cross_validation.losses import CVLosses

    names = list(table.data)
    fold = model_columns.fold_column(names, "fold")
    options = table.options(repeat=roles.REPEAT, model=roles.MODEL, size=roles.SIZE)
    is_of_scikit = table.has(roles.SPLIT)
    is_repeat = bool(model_columns.repeat_columns([fold]))
    has_fold = fold in names and not is_repeat
    if has_fold and (not is_of_scikit or table.has(roles.FOLD)):
        options = {"fold": fold} | options | table.options(item=roles.ID)
    elif not is_of_scikit:
        if fold in names and len(table.names(roles.SCORE)) > 1 and not table.has(roles.ID):
            needs = f"name the column of folds or splits with --fold; {fold!r} numbers repeats"
            yield Use(BY_FOLDS, _report(MODELS, losses=table.file), needs=needs)
        return
    if options.get("size") in model_columns.size_columns(names).values():
        del options["size"]  # read by its name
    better = "higher" if _are_scores(table, options) else "lower"
    words = _report(MODELS, losses=table.file, **options, better=better)
    yield Use(BY_FOLDS, words, lambda: CVLosses.read_csv(table.data, **options))


def _are_scores(table: Inspected, options: dict[str, Any]) -> bool:
    """Return whether higher values of a cross-validation are better."""
    from workbench.cross_validation.losses import CVLosses
    from workbench.reports.inputs.cross_validation import SCORES

    if "fold" not in options:
        return True
    for name in table.data:
        if SCORES & {*re.split(r"[\W_]+", name.casefold())}:
            return True
    try:
        return CVLosses.read_csv(table.data, **options).like_scores
    except ValueError:  # the doctor prints it
        return False
