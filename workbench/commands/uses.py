"""The commands that `workbench doctor` suggests for the columns of a table.

`Inspected` holds a table and the probable roles of its columns. `uses_of` yields the commands, by
one function for each question. Extras add functions through `registry.USES`.
"""

import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
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
AGREEMENT = "How well do annotators agree?"
METRICS = "Which metrics do the labeled items have, and how certain are they?"
PROPORTION = "What is the proportion of each class, corrected for misclassification?"
JUDGED = "What proportion is correct, from judge labels of all items and human labels of some?"
BY_FOLDS = "Which model is better, according to a cross-validation?"
OF_VALUES = "What is the total of the values in strata, and where should the next labels go?"
NEEDS_COUNTS = "add --counts with the file of all predictions or of their counts"
NEEDS_FOLDS = (
    "add --folds with the number of folds in one repetition, or --test-share with the proportion "
    "of items in a test set of random splits (ShuffleSplit)"
)
NEEDS_AUDIT = "add --audit with the file of items with true and predicted classes"
LABELS = 300  # of a plan
FEWEST_LABELS = 10
DESIGN = (roles.WEIGHT, roles.POPULATION, roles.TRUTH, roles.PREDICTION)
FEW_VALUES = 12  # groups of items, or days that need no months
MOST_COUNTED = 60  # rows of a file of counts with a row per class
NAMED_PERIOD = ("period", "month", "batch", "release", "date")
COUNTED = ("counted", "flagged", "positives")
ACS_WEIGHTS = r"p?wgtp"  # American Community Survey, successive differences
METHODS = "brr, fay, jk1, jk2, jkn, sdr or bootstrap"


class Use(NamedTuple):
    """A question, the command that answers it in words, and what the command still needs.

    `read` reads the sample as the command would read the file, and raises the same errors.
    """

    question: str
    command: list[str]
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

        Human labels are the truth if no other column is.
        """
        column = roles.first_of(self.columns, role)
        if not column and role == roles.TRUTH:
            return roles.first_of(self.columns, roles.HUMAN)
        return column

    def has(self, *any_of: str) -> bool:
        """Return whether a column seems to have one of the roles."""
        return any(column.seems in any_of for column in self.columns)

    def options(self, **role_of_option: str) -> dict[str, Any]:
        """Return the first column of each role, by option, without roles that no column has."""
        options = {option: self.first(role) for option, role in role_of_option.items()}
        return {option: name for option, name in options.items() if name}

    def has_gaps(self, name: str) -> bool:
        """Return whether cells of a column are missing."""
        return any(column.missing for column in self.columns if column.name == name)

    def is_complete(self, role: str) -> bool:
        """Return whether a column has a role and no missing cells."""
        return self.has(role) and not self.has_gaps(self.first(role))

    def called(self, *any_of: str) -> str:
        """Return the first column with one of the names in any spelling, "" for none."""
        return next((name for name in self.data if plain_name(name) in any_of), "")

    def distinct(self, name: str) -> set[str]:
        """Return the texts of a column, without missing cells."""
        return {*numbers.as_text(self.data[name])} - {""}

    def are_whole(self, name: str) -> bool:
        """Return whether the cells of a column are whole numbers from 0, or missing."""
        return all(re.fullmatch(r"[0-9][0-9 ,.']*", text) for text in self.distinct(name))

    def measurements(self) -> list[str]:
        """Return the columns of many different numbers that have no other role.

        Whole numbers that are all different may be identifiers. They count only if there are no
        other columns.
        """
        names, values = [], []
        for column in self.columns:
            name = column.name
            if column.seems != roles.OTHER or not column.holds.startswith("numbers"):
                continue
            names.append(name)
            texts = self.distinct(name)
            if len(texts) < len(self.data[name]) or not all(map(str.isdecimal, texts)):
                values.append(name)
        return values or names


def options_as_words(options: Mapping[str, Any]) -> list[str]:
    """Return options and their values as words of a command line.

    Examples
    --------
    >>> options_as_words({"score_is": "margin", "truth": "y"})
    ['--score-is', 'margin', '--truth', 'y']
    """
    typed = []
    for name, value in options.items():
        typed += [f"--{name.replace('_', '-')}", value]
    return typed


def uses_of(table: Inspected) -> Iterator[Use]:
    """Yield the commands that a table is ready for or nearly ready for, in the order of topics."""
    questions = [of_matrix, of_accuracy, of_metrics, of_values, of_proportions, of_folds]
    if files.comparison_table(table.file):
        questions = []
    elif files.is_evaluation_log(table.file):
        questions = [of_accuracy]
    questions += map(registry.load, registry.USES)
    for uses in questions:
        yield from uses(table)


def _report(
    question: str,
    topic: str,
    options: Mapping[str, Any],
    read: Callable[[], Any] = bool,
    needs: str = "",
) -> Use:
    command = ["workbench", "report", topic, *options_as_words(options)]
    return Use(question, command, read, needs)


def of_matrix(table: Inspected) -> Iterator[Use]:
    """Yield the metrics of a confusion matrix, and its use as an audit."""
    from workbench.data.confusion_matrices import read_matrix

    read = partial(read_matrix, "items", table.file)
    try:
        matrix = read()
    except ValueError:  # the doctor prints it
        if not table.has(roles.ID):
            yield _report(METRICS, CLUSTERS, {"items": table.file}, read)
        return
    if matrix:
        yield _report(METRICS, CLUSTERS, {"items": table.file})
        yield _report(PROPORTION, SHARES, {"audit": table.file}, needs=NEEDS_COUNTS)


def of_accuracy(table: Inspected) -> Iterator[Use]:
    """Yield the plan of an audit of scored items, and the accuracy of those with a label."""
    from workbench.data.scored_items import read_scores

    is_log = files.is_evaluation_log(table.file)  # with identifiers and scores of its own
    options = {} if is_log else _scored(table)
    budget = min(LABELS, table.rows // 2)
    if budget < FEWEST_LABELS or not (is_log or options):
        return
    truth = options.pop("truth", "")
    plan = {"budget": str(budget)}
    uses: list[tuple[str, dict, dict]] = []  # the question, the columns, and the other options
    for asked, columns in _one_or_two_models(options):
        with_truth = columns | {"truth": truth}
        if truth and table.has_gaps(truth):
            uses.append((f"{asked}, estimated from the labels of some rows?", with_truth, {}))
            continue
        uses.append((f"{asked}? Plan {budget:,} labels", columns, plan))
        if truth:
            uses.append((f"{asked}, given the true classes?", with_truth, plan))
    source: Any = table.file if is_log else table.data
    for question, columns, more in uses:
        read = partial(read_scores, source, **{"score": "score"} | columns)
        yield _report(question, ACCURACY, {"scores": table.file, **columns, **more}, read)


def _one_or_two_models(options: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the question about the first model, and the one about two models, with the options."""
    if "model" not in options:
        first = {name: value for name, value in options.items() if name != "rival"}
        yield "How accurate is the classifier", first
    if "rival" in options:
        yield "Which of two models is more accurate", options


def _scored(table: Inspected) -> dict[str, Any]:
    """Return the options that read scored items, {} if the columns hold none."""
    options = table.options(truth=roles.TRUTH, id=roles.ID)
    scores = table.names(roles.SCORE)
    predictions = _predictions(table)
    probabilities = table.names(roles.PROBABILITY)
    if not predictions and "truth" not in options:
        options |= table.options(truth=roles.CORRECT)
    if probabilities:
        used = probabilities
        options = {"probabilities": shapes.pattern_of(probabilities)} | options
    elif not scores or (len(scores) > 1 and len(predictions) not in (1, len(scores))):
        return {}
    elif not predictions and (
        table.has(roles.FOLD, roles.SPLIT, roles.MODEL) or len(table.distinct(scores[0])) <= 2
    ):
        return {}  # the score rates answers or models, as 0 and 1 or by folds; not confidence
    else:
        used = [scores[0], *predictions[:2]]
        options = dict(zip(("score", "prediction", "rival"), used, strict=False)) | options
    model, item = _rows_of_models(table)
    if item and predictions:
        two_models = sorted(table.distinct(model))[:2]
        options |= {"id": item, "model": model, "rival": ",".join(two_models)}
    if any(map(table.has_gaps, used)):
        options["leave_out"] = "missing"
    return options


def _rows_of_models(table: Inspected) -> tuple[str, str]:
    """Return the columns of models and of items if each model has a row for each item, else ""."""
    model = table.first(roles.MODEL)
    models = len(table.distinct(model)) if model else 0
    for name in table.data if models > 1 else ():
        if name != model and len(table.distinct(name)) * models == table.rows:
            return model, name
    return "", ""


def of_metrics(table: Inspected) -> Iterator[Use]:
    """Yield metrics of labeled items, or means of a column, also in clusters and strata."""
    from workbench.reports.inputs.replication import read

    columns = _labeled(table)
    if not columns:
        return
    design, needs = _design(table)
    groups = _groups(table)
    question = METRICS
    if columns.get("prediction") and len(groups) == 1 and not design:
        columns["group"] = groups[0]
    model, item = _rows_of_models(table)
    if item and columns.get("prediction"):
        columns |= {"group": model, "psu": item}
    columns |= design
    if "prediction" not in columns:
        truth = columns["truth"]
        question = f"What is the mean of {truth!r}, and how certain is it?"
        columns["metrics"] = "proportion" if len(table.distinct(truth)) <= 2 else "mean"
    read_rows = partial(read, items=table.data, **columns)
    yield _report(question, CLUSTERS, {"items": table.file, **columns}, read_rows, needs)


def _design(table: Inspected) -> tuple[dict[str, Any], str]:
    """Return the options of the sample's design, and the option that is still missing."""
    design = table.options(stratum=roles.STRATUM, psu=roles.CLUSTER, weight=roles.WEIGHT)
    if "psu" not in design:
        design |= table.options(psu=roles.REPEATED)
    replicates = table.names(roles.REPLICATE)
    if len(replicates) > 1 and "weight" in design:
        prefix = os.path.commonprefix(replicates)
        design = {"weight": design["weight"], "replicate_weights": f"{prefix}*"}
        if re.fullmatch(ACS_WEIGHTS, prefix, re.IGNORECASE):
            return design | {"method": "sdr"}, ""
        needs = f"state with --method how the {len(replicates)} replicate weights were made"
        return design, f"{needs}: {METHODS}"
    if table.is_complete(roles.POPULATION):
        design["fpc"] = table.first(roles.POPULATION)
    return design, ""


def _labeled(table: Inspected) -> dict[str, Any]:
    """Return the columns of labeled items, or the one of a weighted sample, {} for neither."""
    from workbench.replication.label_sets import patterns_of

    truth = table.first(roles.TRUTH)
    scores = table.names(roles.SCORE)
    if truth:
        predictions = _predictions(table)
        if any(plain_name(name).startswith("map") for name in predictions):
            return {}  # points of a map are sampled by its classes
        patterns = patterns_of(table.data, truth, predictions[0]) if predictions else {}
        if patterns:
            return patterns
        labeled = {"truth": truth, "prediction": ",".join(predictions)}
        is_paired = len(predictions) == len(scores) > 1
        if is_paired or (scores and not predictions):
            labeled["score"] = ",".join(scores)
        if predictions or scores:
            return labeled
    values = table.measurements()
    if not truth and len(values) == 1:
        truth = values[0]
    is_sample = table.has(roles.WEIGHT) or table.is_complete(roles.POPULATION)
    return {"truth": truth} if truth and is_sample and not table.has_gaps(truth) else {}


def _predictions(table: Inspected) -> list[str]:
    """Return the columns of predictions.

    Without such a role, they are the columns that share the true classes and agree with them more
    often than by chance. Their names are often those of models.
    """
    predictions = table.names(roles.PREDICTION)
    truth = table.first(roles.TRUTH)
    if predictions or not truth:
        return predictions
    for name in table.names(roles.OTHER):
        if roles.agree_on_classes(table.data[name], table.data[truth]):
            predictions.append(name)
    return predictions


def _groups(table: Inspected) -> list[str]:
    """Return the columns of text without another role that have a few values."""
    groups = []
    for name in table.names(roles.PART) + table.names(roles.OTHER):
        values = table.distinct(name)
        is_text = not any(value.replace(".", "").isdigit() for value in values)
        if is_text and 1 < len(values) <= min(FEW_VALUES, table.rows // 5):
            groups.append(name)
    return groups


def of_values(table: Inspected) -> Iterator[Use]:
    """Yield the plan of labels for values in strata, or the estimate of their total."""
    from workbench.allocation import plans

    stratum = table.first(roles.STRATUM)
    size = table.first(roles.SIZE)
    values = table.measurements()
    names = [stratum] if stratum else []
    for name in table.names(roles.OTHER) if not stratum else ():
        if not table.has_gaps(name) and not table.are_whole(name):
            names.append(name)
    read: Callable[[], Any]
    needs = ""
    if size and names and not table.called(*NAMED_PERIOD, *COUNTED):
        cells = [table.data[name].tolist() for name in names]
        if numbers.first_repeat([*zip(*cells, strict=True)]):
            return
        options = {"stratum": ",".join(names), "size": size}
        read = partial(plans.load_strata, table.data, **options)
    elif stratum and values and not table.has(*DESIGN):
        with_gaps = [name for name in values if table.has_gaps(name)] or values
        value = max(with_gaps, key=lambda name: shapes.gaps(table.data[name], True).sum())
        if len(with_gaps) > 1:
            listed = checks.listed(with_gaps, quoted=True)
            needs = f"name the column of values with --value: {listed}"
        options = {"stratum": stratum, "value": value, **table.options(id=roles.ID)}
        read = partial(plans.labeled_values, table.data, stratum, value)
    else:
        return
    yield _report(OF_VALUES, VALUES, {"strata": table.file, **options}, read, needs)


def of_proportions(table: Inspected) -> Iterator[Use]:
    """Yield corrected class proportions: of a judge, of labels in some rows, or of two files."""
    from workbench.misclassification.files import load_audit
    from workbench.reports.inputs.judged import read_judged

    audit = table.options(truth=roles.TRUTH, prediction=roles.PREDICTION)
    judged = table.options(judge=roles.JUDGE, truth=roles.TRUTH)
    has_gaps = table.has_gaps(table.first(roles.TRUTH))
    file = table.file
    if len(table.names(roles.PREDICTION)) > 1:
        return
    if len(judged) == 2 and has_gaps:
        read = partial(read_judged, file, **judged)
        yield _report(JUDGED, SHARES, {"counts": file, **judged}, read)
    elif len(audit) == 2:
        options = {"audit": file, **audit, **table.options(weight=roles.WEIGHT)}
        needs = "" if has_gaps else NEEDS_COUNTS
        if has_gaps:
            options |= {"counts": file, "predicted": audit["prediction"]}
        else:
            options |= table.options(period_in_audit=roles.MONTH)
        yield _report(PROPORTION, SHARES, options, partial(load_audit, table.data, **audit), needs)
    else:
        counts = _counts(table)
        if counts is not None:
            yield _report(PROPORTION, SHARES, {"counts": file, **counts}, needs=NEEDS_AUDIT)


def _counts(table: Inspected) -> dict[str, Any] | None:
    """Return the options that read predictions or their counts, None if the columns hold none.

    Counts have one row per period, with a column per class or one of the second class. Or they have
    one row per class.
    """
    from workbench.misclassification import calendar

    name = table.first(roles.MONTH) or table.called(*NAMED_PERIOD)
    period = {"period": name} if name else {}
    predicted = table.first(roles.PREDICTION) or _only_classes(table)
    if predicted and not table.has(roles.TRUTH) and (period or not table.has(roles.SCORE)):
        dates = table.distinct(name) if name else set()
        if len(dates) > FEW_VALUES and calendar.length_of([*dates]) == "day":
            return period | {"predicted": predicted, "every": "month"}
        return period | {"predicted": predicted}
    columns = [column for column in table.data if column != name]
    counts = [column for column in columns if table.are_whole(column)]
    is_wide = period and len(counts) == len(columns) > 1
    is_long = len(columns) - len(counts) == 1 == len(counts) and table.rows <= MOST_COUNTED
    has_items = table.has(roles.SCORE, roles.FOLD, roles.ID)
    return period if is_wide or (is_long and not has_items) else None


def _only_classes(table: Inspected) -> str:
    """Return the column of classes in a table of dated items without any other role, else ""."""
    groups = _groups(table)
    has_more = any(
        column.seems not in {roles.ID, roles.MONTH, roles.OTHER} for column in table.columns
    )
    is_of_items = table.has(roles.MONTH) and not has_more and not table.measurements()
    return groups[0] if is_of_items and len(groups) == 1 else ""


def of_folds(table: Inspected) -> Iterator[Use]:
    """Yield the comparison of models by the losses or scores of a cross-validation."""
    from workbench.cross_validation import model_columns
    from workbench.cross_validation.losses import CVLosses

    if table.has(roles.TRUTH) and table.has(roles.PREDICTION):
        return  # rows have classes, not losses
    names = list(table.data)
    try:
        fold = model_columns.fold_column(names, "fold")
    except ValueError:  # the doctor prints it
        read = partial(CVLosses.read_csv, table.data)
        yield _report(BY_FOLDS, MODELS, {"losses": table.file}, read)
        return
    options = table.options(repeat=roles.REPEAT, model=roles.MODEL, size=roles.SIZE)
    is_of_scikit = table.has(roles.SPLIT)
    is_repeat = bool(model_columns.repeat_columns([fold]))
    if fold in names and not is_repeat and (not is_of_scikit or table.has(roles.FOLD)):
        options = {"fold": fold} | options | table.options(item=roles.ID)
    elif fold in names and not is_of_scikit:
        if len(table.names(roles.SCORE)) > 1 and not table.has(roles.ID):
            needs = f"name the column of folds or splits with --fold; {fold!r} numbers repeats"
            yield _report(BY_FOLDS, MODELS, {"losses": table.file}, needs=needs)
        return
    elif not is_of_scikit:
        if _are_fold_means(table):
            read = partial(CVLosses.read_csv, table.data, test_share=0.5)
            options = {"losses": table.file, "better": _better(names, read)}
            yield _report(BY_FOLDS, MODELS, options, needs=NEEDS_FOLDS)
        return
    read = partial(CVLosses.read_csv, table.data, **options)
    better = "higher" if "fold" not in options else _better(names, read)
    if better:
        options |= {"better": better}
    yield _report(BY_FOLDS, MODELS, {"losses": table.file, **options}, read)


def _are_fold_means(table: Inspected) -> bool:
    from workbench.cross_validation import model_columns

    return not table.has(roles.PROBABILITY) and model_columns.are_fold_means(table.data)


def _better(names: list[str], read: Callable[..., Any]) -> str:
    """Return "higher" or "lower" for the better values of a cross-validation, "" if unreadable."""
    from workbench.cross_validation.model_columns import kind_of

    if any(kind_of(name) == "scores" for name in names):
        return "higher"
    for options in ({}, {"splits": "folds"}, {"splits": "random", "test_share": 0.5}):
        try:  # the doctor prints why the first way fails
            cv = read(**options)
            is_negative = cv.losses.max() < 0  # scores such as neg_log_loss of scikit-learn
            return "higher" if cv.like_scores or is_negative else "lower"
        except ValueError:
            continue
    return ""
