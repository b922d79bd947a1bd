"""The command `workbench doctor`: what a file holds, and what can be done with it."""

import re
import shlex
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import click

from workbench import checks
from workbench.reports.parameters import ReportError

TOPICS = ACCURACY, CLUSTERS, SHARES, MODELS = (
    "stratified-accuracy", "brr-orthogonal-arrays", "misclassification-correction", "cross-validation-t-tests")
ALLOCATION = "voila-vs-neyman"
SAMPLE = 50_000     # rows that are looked at
SHOWN_COLUMNS = 30
LABELS, LEAST = 300, 10     # of a plan
MOST_STRATA = 100           # of a table with a row per stratum; more rows are items
_COMPARE = ["workbench", "compare"]
_OF_ONE_MODEL = {"prediction", "truth", "fold", "score of a split", "probability of a class"}


class Use(NamedTuple):
    """A question, the words of the command that answers it, and how the sample is read for it."""

    question: str
    words: list[str]
    read: Callable[[], Any]


class Blocked(NamedTuple):
    """A question that a file cannot answer, and what would change that."""

    question: str
    needs: str
    words: tuple[str, ...] = ()


@click.command()
@click.argument("file")
def doctor(file: str) -> None:
    """Tell what the columns of FILE seem to be, and which commands it is ready for."""
    from workbench.data import roles
    data, rows = _sample(file)
    columns = roles.columns_of(data)
    looked = "" if rows <= SAMPLE else f"; what follows is of the first {SAMPLE:,}"
    click.echo(f"{file}: {checks.counted(rows, 'row')}, {checks.counted(len(columns), 'column')}{looked}")
    width = min(max(len(column.name) for column in columns), 30)
    for column in columns[:SHOWN_COLUMNS]:
        missing = f"; {column.missing:,} missing" * bool(column.missing)
        click.echo(_plain(f"  {column.name:<{width}}  {column.seems:<22}  {column.holds}{missing}"))
    if len(columns) > SHOWN_COLUMNS:
        click.echo(f"  and {len(columns) - SHOWN_COLUMNS:,} more")
    told: dict[str, list[str]] = {"Ready": [], "Blocked": []}
    for use in _uses(file, data, columns, min(LABELS, rows // 2)):
        why = use.needs if isinstance(use, Blocked) else _refused(use)
        told["Blocked" if why else "Ready"].append(f"{use.question}\n    {why or shlex.join(use.words)}")
    for heading, uses in told.items():
        if uses:
            click.echo(_plain("\n  ".join([f"\n{heading}", *uses])))


def _plain(text: str) -> str:
    """Return text of a user's file so that a terminal obeys nothing in it."""
    return "".join(each if each.isprintable() or each == "\n" else repr(each)[1:-1] for each in text)


def _sample(file: str) -> tuple[dict, int]:
    """Return the first rows of all columns, and how many rows there are."""
    from workbench.data import frames
    from workbench.data.engine import relation_columns
    try:
        names = [name for name in frames.column_names(file) if name]     # pandas writes row numbers without one
        with frames.scan(file, names) as found:
            rows = found.native.aggregate("count(*)").fetchall()[0][0]
            data = relation_columns(found.native.limit(SAMPLE), names)
    except (ValueError, OSError) as error:
        raise ReportError(str(error)) from error
    if not rows:
        raise ReportError(f"{file!r} has columns and no data rows")
    return data, rows


def _refused(use: Use) -> str:
    """Return why the sample cannot be read as the command reads the file, in its options; "" where it can."""
    try:
        use.read()
    except checks.WrongArgument as error:
        return error.called(lambda argument: f"--{argument.replace('_', '-')}")
    except ValueError as error:
        return str(error)
    return ""


def _uses(file: str, data: dict, columns: list, budget: int) -> Iterator[Use | Blocked]:
    """Yield what each report would be asked, in the order of the topics."""
    from workbench.data import roles

    def named(**options: str) -> dict[str, str]:
        return {option: name for option, role in options.items() if (name := roles.first_of(columns, role))}
    yield from _accuracy(file, data, columns, named, budget)
    yield from _values(file, data, columns, named)
    yield _replicated(file, data, named)
    yield _shares(file, data, named)
    yield _compared(file, data, columns, named)
    yield _known(file, data, columns, named)


def _words(topic: str, **options: str) -> list[str]:
    return ["workbench", "report", topic, *_given(options)]


def _given(options: dict[str, str]) -> list[str]:
    return [word for name, value in options.items() if value for word in (f"--{name.replace('_', '-')}", value)]


def _accuracy(file: str, data: dict, columns: list, named: Callable, budget: int) -> Iterator[Use | Blocked]:
    from workbench.data import files, roles, shapes
    from workbench.data.scored_items import read_scores
    plan, labels = f"How good is the classifier? A plan for {budget:,} labels", {"budget": str(budget)}
    if files.is_evaluation_log(file):       # it has its own identifiers and scores
        yield Use(plan, _words(ACCURACY, scores=file, **labels), lambda: read_scores(file, score="score"))
        return
    of_class = [column.name for column in columns if column.seems == roles.PROBABILITY]
    options = named(score=roles.SCORE, prediction=roles.PREDICTION, truth=roles.TRUTH, id=roles.ID)
    if "truth" not in options and "prediction" not in options:
        options |= named(truth=roles.CORRECT)
    if of_class:
        options = {"probabilities": shapes.pattern_of(of_class)} | {
            role: name for role, name in options.items() if role not in ("score", "prediction")}
    if "score" not in options and not of_class:
        yield Blocked(plan, "a column of scores is needed: how sure the classifier was of each item, from 0 to 1")
        return
    if budget < LEAST:
        yield Blocked(plan, f"{LEAST} labels are the least for a plan; there are too few rows")
        return
    scored = [options.get("score"), options.get("prediction"), *of_class]
    if any(column.missing for column in columns if column.name in scored):
        options["leave_out"] = "missing"
    meant = options | {"truth": ""}
    yield Use(plan, _words(ACCURACY, scores=file, **meant, **labels),
              lambda: read_scores(data, **{"score": "score"} | meant))
    if options.get("truth"):
        labeled = _labeled_rows(data, options)
        question = f"How good is it, by the {labeled:,} rows that have a label?" if labeled else \
            "How good is it, as the truth is known?"
        yield Use(question, _words(ACCURACY, scores=file, **options, **({} if labeled else labels)),
                  lambda: read_scores(data, **{"score": "score"} | options))


def _labeled_rows(data: dict, options: dict[str, str]) -> int:
    """Return how many rows have a label, 0 where all have one."""
    from workbench.data.scored_items import missing_labels
    missing, _ = missing_labels(data[options["truth"]], data.get(options.get("prediction", "")))
    return int((~missing).sum()) if missing.any() else 0


def _values(file: str, data: dict, columns: list, named: Callable) -> Iterator[Use]:
    """Yield what strata allow: a plan of labels, or the total of values that some rows have."""
    from workbench.allocation.plans import load_strata, plan_labels
    from workbench.allocation.values.records import estimate_records
    from workbench.data import roles
    sizes = named(size=roles.SIZE)
    names = [column.name for column in columns if column.holds.startswith("all different")
             and column.seems in (roles.STRATUM, roles.ID, roles.OTHER)]
    if sizes and names and len(data[names[0]]) <= MOST_STRATA:
        options = {"stratum": names[0]}
        spread = {"sd": next((name for name in data if name.strip().casefold() in ("sd", "std")), "")}
        rule = "" if spread["sd"] else "proportional"
        words = _words(ALLOCATION, strata=file, **options, **sizes, **spread, method=rule)
        yield Use("Where do labels go? A plan over the strata", words,
                  lambda: plan_labels(load_strata(data, **options, **sizes, **spread), method=rule or "voila"))
        return
    options = named(stratum=roles.STRATUM)
    value = next((column.name for column in columns if column.missing and column.seems == roles.OTHER
                  and column.holds.startswith("numbers")), "")
    if value:
        yield Use("What are the total and the mean, by the values that some rows have?",
                  _words(ALLOCATION, strata=file, **options, value=value),
                  lambda: estimate_records(data, value=value, **options))


def _replicated(file: str, data: dict, named: Callable) -> Use | Blocked:
    from workbench.data import roles
    from workbench.replication.labeled import load_labeled
    question = "Which metrics, how sure, for items labeled already (also in clusters or strata)?"
    options = named(truth=roles.TRUTH, prediction=roles.PREDICTION, stratum=roles.STRATUM, psu=roles.CLUSTER,
                    weight=roles.WEIGHT)
    lacking = [role for role in ("truth", "prediction") if role not in options]
    if lacking:
        return Blocked(question, f"true and predicted classes are needed, there is no column of {' or '.join(lacking)}")
    return Use(question, _words(CLUSTERS, items=file, **options),
               lambda: load_labeled(data, **options))


def _shares(file: str, data: dict, named: Callable) -> Use | Blocked:
    from workbench.data import roles
    question = "Which share does each class have, corrected for misclassification?"
    audit = named(truth=roles.TRUTH, prediction=roles.PREDICTION)
    counts = named(period=roles.MONTH, predicted=roles.PREDICTION)
    if len(audit) == 2:
        typed = shlex.join(_words(SHARES, audit=file, **audit)[3:])
        return Blocked(question, f"this file can be the audit ({typed}); the predictions of each period are needed, or "
                       "their counts: --counts")
    if len(counts) == 2:
        typed = shlex.join(_words(SHARES, counts=file, **counts)[3:])
        return Blocked(question, f"this file can be the counts ({typed}); items with true and predicted classes are "
                       "needed: --audit")
    return Blocked(question, "an audit is needed: items with their true and their predicted class")


def _compared(file: str, data: dict, columns: list, named: Callable) -> Use | Blocked:
    from workbench.cross_validation.losses import CVLosses
    from workbench.data import roles
    from workbench.lessons.cross_validation.read import SCORES
    question = "Which model is better, by a cross-validation?"
    options = named(fold=roles.FOLD, repeat=roles.REPEAT, model=roles.MODEL, size=roles.SIZE)
    if "fold" not in options and not any(column.seems == roles.SPLIT for column in columns):
        return Blocked(question, "a column that says the fold of each row is needed, and the losses of two models")
    if "fold" in options:
        options |= named(item=roles.ID)
    sounds_like_scores = "fold" not in options or any(words & SCORES for words in (
        {*re.split(r"[\W_]+", name.casefold())} for name in data))
    return Use(question, _words(MODELS, losses=file, **options,
                                better="higher" if sounds_like_scores else "lower"),
               lambda: CVLosses.read_csv(data, **options))


def _known(file: str, data: dict, columns: list, named: Callable) -> Use | Blocked:
    from workbench.comparisons.reading import ITEM_NAMES, read_item_scores
    from workbench.data import files, roles
    question = "Which of several models is better on the same items, all scored?"
    if files.is_evaluation_log(file):
        return Blocked(question, f"another model's log of the same items is needed: "
                       f"{shlex.join([*_COMPARE, file])} OTHER")
    options = {"item": next((name for name in data if name.lower() in ITEM_NAMES), "")} | named(
        item=roles.ID, model=roles.MODEL, cluster=roles.CLUSTER)
    seen = {column.seems for column in columns}
    scored = [column.name for column in columns if column.inside and column.seems in (
        roles.SCORE, roles.OTHER, *[roles.CORRECT] * ("model" in options))]
    options |= {"score": ",".join(scored[:1])} if "model" in options else {"model": ",".join(scored)}
    if not options["item"] or len(scored) < 2 - ("score" in options) or seen & _OF_ONE_MODEL:
        return Blocked(question, "identifiers and the scores of two models are needed, from 0 to 1: a column each, or "
                       "one beside a column of models")
    return Use(question, [*_COMPARE, file, *_given(options)], lambda: read_item_scores(data, **options))
