"""The command `workbench doctor`: what a file holds, and what can be done with it."""

import contextlib
import os
import re
import shlex
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import click

from workbench import checks, registry
from workbench.reports.parameters import ReportError

TOPICS = ACCURACY, CLUSTERS, SHARES, MODELS = (
    "stratified-accuracy",
    "brr-orthogonal-arrays",
    "misclassification-correction",
    "cross-validation-t-tests",
)
VALUES = "voila-vs-neyman"
SAMPLE = 50_000  # rows that are looked at
SHOWN_COLUMNS = 30
AGREEMENT = "How far do annotators agree?"
LABELS, LEAST = 300, 10  # of a plan
REPLICATES = r"(rep(licate)?[_ ]?w(eigh)?ts?|repwt|brrwt|bsw|pwgtp|jk2?wt|replicate)[_ ]?[0-9]+"
POPULATIONS = r"fpc|n_?psus?|psus_in_population"  # the number of PSUs of a stratum


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

    if any(describe(file) for describe in map(registry.load, registry.DESCRIBED)):
        return
    data, rows = _sample(file)
    columns = roles.columns_of(data)
    looked = "" if rows <= SAMPLE else f"; what follows is of the first {SAMPLE:,}"
    click.echo(
        f"{file}: {checks.counted(rows, 'row')}, {checks.counted(len(columns), 'column')}{looked}"
    )
    width = min(max(len(column.name) for column in columns), 30)
    for column in columns[:SHOWN_COLUMNS]:
        missing = f"; {column.missing:,} missing" * bool(column.missing)
        click.echo(
            printable(f"  {column.name:<{width}}  {column.seems:<22}  {column.holds}{missing}")
        )
    if len(columns) > SHOWN_COLUMNS:
        click.echo(f"  and {len(columns) - SHOWN_COLUMNS:,} more")
    told: dict[str, list[str]] = {"Ready": [], "Blocked": []}
    for use in _uses(file, data, columns, min(LABELS, rows // 2)):
        why = use.needs if isinstance(use, Blocked) else _refused(use)
        told["Blocked" if why else "Ready"].append(
            f"{use.question}\n    {why or shlex.join(use.words)}"
        )
    for heading, uses in told.items():
        if uses:
            click.echo(printable("\n  ".join([f"\n{heading}", *uses])))


def printable(text: str) -> str:
    """Return text of a user's file so that a terminal obeys nothing in it."""
    return "".join(
        each if each.isprintable() or each == "\n" else repr(each)[1:-1] for each in text
    )


def _sample(file: str) -> tuple[dict, int]:
    """Return the first rows of all columns, and how many rows there are."""
    from workbench.data import files, frames
    from workbench.data.engine import relation_columns
    from workbench.data.numbers import objects

    try:
        if table := files.comparison_table(file):
            return {name: objects(cells[:SAMPLE]) for name, cells in table.items()}, len(
                table["id"]
            )
        names = [
            name for name in frames.column_names(file) if name
        ]  # pandas writes row numbers without one
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
    from workbench.data import files, roles

    def named(**options: str) -> dict[str, str]:
        return {
            option: name
            for option, role in options.items()
            if (name := roles.first_of(columns, role))
        }

    if files.comparison_table(file):
        yield from _of_extras(file, data, columns, named)
        return
    yield from _accuracy(file, data, columns, named, budget)
    yield _replicated(file, data, named)
    yield from _valued(file, data, columns)
    yield _shares(file, data, named)
    yield _compared(file, data, columns, named)
    yield from _of_extras(file, data, columns, named)
    yield from _agreed(file, columns)


def _of_extras(file: str, data: dict, columns: list, named: Callable) -> Iterator[Use | Blocked]:
    for use_of in map(registry.load, registry.USES):
        yield use_of(file, data, columns, named)


def _words(topic: str, **options: str) -> list[str]:
    return ["workbench", "report", topic, *given_options(options)]


def given_options(options: dict[str, str]) -> list[str]:
    """Return options and their values as words of a command line."""
    return [
        word
        for name, value in options.items()
        if value
        for word in (f"--{name.replace('_', '-')}", value)
    ]


def _accuracy(
    file: str, data: dict, columns: list, named: Callable, budget: int
) -> Iterator[Use | Blocked]:
    from workbench.data import files, roles, shapes
    from workbench.data.scored_items import read_scores

    plan, labels = (
        f"How good is the classifier? A plan for {budget:,} labels",
        {"budget": str(budget)},
    )
    if files.is_evaluation_log(file):  # it has its own identifiers and scores
        yield Use(
            plan, _words(ACCURACY, scores=file, **labels), lambda: read_scores(file, score="score")
        )
        return
    of_class = [column.name for column in columns if column.seems == roles.PROBABILITY]
    options = named(score=roles.SCORE, prediction=roles.PREDICTION, truth=roles.TRUTH, id=roles.ID)
    if "truth" not in options and "prediction" not in options:
        options |= named(truth=roles.CORRECT)
    if of_class:
        options = {"probabilities": shapes.pattern_of(of_class)} | {
            role: name for role, name in options.items() if role not in ("score", "prediction")
        }
    if "score" not in options and not of_class:
        yield Blocked(
            plan,
            "a column of scores is needed: how sure the classifier was of each item, from 0 to 1",
        )
        return
    if budget < LEAST:
        yield Blocked(plan, f"{LEAST} labels are the least for a plan; there are too few rows")
        return
    scored = [options.get("score"), options.get("prediction"), *of_class]
    if any(column.missing for column in columns if column.name in scored):
        options["leave_out"] = "missing"
    meant = options | {"truth": ""}
    yield Use(
        plan,
        _words(ACCURACY, scores=file, **meant, **labels),
        lambda: read_scores(data, **{"score": "score"} | meant),
    )
    if options.get("truth"):
        yield Use(
            "How good is it, as the truth is known?",
            _words(ACCURACY, scores=file, **options, **labels),
            lambda: read_scores(data, **{"score": "score"} | options),
        )


def _replicated(file: str, data: dict, named: Callable) -> Use | Blocked:
    from workbench.data import roles, shapes
    from workbench.replication.label_sets import patterns_of
    from workbench.reports.inputs.replication import read

    question = "Which metrics, how sure, for items labeled already (also in clusters or strata)?"
    options = named(
        truth=roles.TRUTH,
        prediction=roles.PREDICTION,
        stratum=roles.STRATUM,
        psu=roles.CLUSTER,
        weight=roles.WEIGHT,
    )
    lacking = [role for role in ("truth", "prediction") if role not in options]
    if lacking:
        alone = "; the mean or the proportions of a column alone: --truth COLUMN --metrics mean"
        return Blocked(
            question,
            f"true and predicted classes are needed, there is no column of {' or '.join(lacking)}"
            f"{alone if 'prediction' in lacking else ''}",
        )
    options |= patterns_of(data, options["truth"], options["prediction"])
    repeated = [name for name in data if re.fullmatch(REPLICATES, name, re.IGNORECASE)]
    if len(repeated) > 1 and "weight" in options:
        options = {role: name for role, name in options.items() if role not in ("stratum", "psu")}
        options["replicate_weights"] = os.path.commonprefix(repeated) + "*"
        typed = shlex.join(_words(CLUSTERS, items=file, **options)[3:])
        return Blocked(
            question,
            f"say how the {len(repeated)} replicate weights were made ({typed}): --method brr, "
            "fay, jk1, jk2, jkn, bootstrap or sdr (American Community Survey)",
        )
    populations = [name for name in data if re.fullmatch(POPULATIONS, name, re.IGNORECASE)]
    if populations and shapes.gaps(data[populations[0]], True).sum() == 0:
        options["fpc"] = populations[0]
    return Use(
        question, _words(CLUSTERS, items=file, **options), lambda: read(items=data, **options)
    )


def _valued(file: str, data: dict, columns: list) -> Iterator[Use]:
    """Yield how to plan labels for values in strata, or to estimate their total."""
    from workbench.allocation import plans
    from workbench.data import roles

    question = "Which total do values in strata have, and where do the next labels go?"
    stratum, size = roles.first_of(columns, roles.STRATUM), roles.first_of(columns, roles.SIZE)
    numeric = [
        column
        for column in columns
        if column.seems == roles.OTHER and column.holds.startswith("numbers")
    ]
    names = (
        [stratum]
        if stratum
        else [
            column.name
            for column in columns
            if column.seems == roles.OTHER and column not in numeric and not column.missing
        ]
    )
    if (
        size
        and names
        and len({*zip(*(data[name].tolist() for name in names), strict=True)}) == len(data[size])
    ):
        options = {"stratum": ",".join(names), "size": size}
        yield Use(
            question,
            _words(VALUES, strata=file, **options),
            lambda: plans.load_strata(data, **options),
        )
    elif stratum and numeric:
        value = max(numeric, key=lambda column: column.missing).name
        options = {"stratum": stratum, "value": value}
        identified = {"id": roles.first_of(columns, roles.ID)}
        yield Use(
            question,
            _words(VALUES, strata=file, **options, **identified),
            lambda: plans.labeled_values(data, stratum, value),
        )


def _shares(file: str, data: dict, named: Callable) -> Use | Blocked:
    from workbench.data import roles, shapes

    question = "Which share does each class have, corrected for misclassification?"
    audit = named(truth=roles.TRUTH, prediction=roles.PREDICTION)
    counts = named(period=roles.MONTH, predicted=roles.PREDICTION)
    if not counts.get("predicted") and counts.get("period") and "counted" in data:
        typed = shlex.join(_words(SHARES, counts=file, period=counts["period"])[3:])
        return Blocked(
            question,
            f"this file can be the counts ({typed}); items with true and predicted classes are "
            "needed: --audit",
        )
    if len(audit) == 2 and shapes.gaps(data[audit["truth"]], True).any():
        from workbench.misclassification.files import load_audit

        items = (
            audit | {"counts": file, "predicted": audit["prediction"]} | named(weight=roles.WEIGHT)
        )
        return Use(question, _words(SHARES, audit=file, **items), lambda: load_audit(data, **audit))
    if len(audit) == 2:
        audit |= named(weight=roles.WEIGHT, period_in_audit=roles.MONTH)
        typed = shlex.join(_words(SHARES, audit=file, **audit)[3:])
        return Blocked(
            question,
            f"this file can be the audit ({typed}); the predictions of each period are needed, or "
            "their counts: --counts",
        )
    if len(counts) == 2:
        counts |= _made_periods(data[counts["period"]])
        typed = shlex.join(_words(SHARES, counts=file, **counts)[3:])
        return Blocked(
            question,
            f"this file can be the counts ({typed}); items with true and predicted classes are "
            "needed: --audit",
        )
    return Blocked(question, "an audit is needed: items with their true and their predicted class")


def _made_periods(cells: Any) -> dict[str, str]:
    """Return the option that makes months of a column of days."""
    from workbench.data import numbers
    from workbench.misclassification import calendar

    names = {*numbers.as_text(cells)} - {""}
    days = len(names) > LEAST and calendar.length_of([*names]) == "day"
    return {"every": "month"} if days else {}


def _compared(file: str, data: dict, columns: list, named: Callable) -> Use | Blocked:
    from workbench.cross_validation import model_columns
    from workbench.cross_validation.losses import CVLosses
    from workbench.data import roles
    from workbench.reports.inputs.cross_validation import SCORES

    question = "Which model is better, by a cross-validation?"
    names = list(data)
    fold = model_columns.fold_column(names, "fold")
    options = named(repeat=roles.REPEAT, model=roles.MODEL, size=roles.SIZE)
    of_scikit = any(column.seems == roles.SPLIT for column in columns)
    if (
        fold in names
        and not model_columns.repeat_columns([fold])
        and (not of_scikit or named(fold=roles.FOLD))
    ):
        options = {"fold": fold} | options | named(item=roles.ID)
    elif not of_scikit:
        return Blocked(
            question,
            "a column that says the fold or split of each row is needed, and the losses of two "
            "models",
        )
    if options.get("size") in model_columns.size_columns(names).values():
        del options["size"]  # read by its name
    are_scores = "fold" not in options or any(
        words & SCORES for words in ({*re.split(r"[\W_]+", name.casefold())} for name in data)
    )
    with contextlib.suppress(ValueError):  # the report lists it under "Blocked"
        are_scores = are_scores or CVLosses.read_csv(data, **options).like_scores
    return Use(
        question,
        _words(MODELS, losses=file, **options, better="higher" if are_scores else "lower"),
        lambda: CVLosses.read_csv(data, **options),
    )


def _agreed(file: str, columns: list) -> Iterator[Use]:
    """Yield how far annotators agree, where the file seems to hold the labels of several."""
    from workbench.data import roles
    from workbench.labeling.annotators import read_annotators

    seen = {column.seems for column in columns}
    if (
        seen & {roles.FOLD, roles.PROBABILITY, roles.SPLIT}
        or {roles.TRUTH, roles.PREDICTION} <= seen
    ):
        return
    use = Use(AGREEMENT, ["workbench", "audit", "agreement", file], lambda: read_annotators(file))
    if not _refused(use):
        yield use
