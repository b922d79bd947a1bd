"""The commands that `workbench doctor` suggests for scores of models and for folders of logs."""

import os
import shlex
from collections.abc import Iterator
from typing import Any

import click

from workbench import checks
from workbench.commands.doctor import READY, print_uses, printable, problem_of
from workbench.commands.uses import Inspected, Use, options_as_words
from workbench.data import files, numbers, roles
from workbench.extras.compare.columns import item_column, long_columns, score_columns
from workbench.extras.compare.reading import read_item_scores
from workbench.extras.compare.sources import is_of_battles

COMMAND = ["workbench", "compare"]
OF_SEVERAL = "Which of several models is better on the same items?"
OF_ONE = (
    "What is the mean score of this model? With a second file of the same items: which model is "
    "better?"
)
NO_MODELS = {roles.PREDICTION, roles.TRUTH, roles.FOLD, roles.SPLIT, roles.PROBABILITY}


def describe_logs(folder: str) -> bool:
    """Print how to compare the logs in a folder, and return whether the path is a folder."""
    if not os.path.isdir(folder):
        return False
    command = shlex.join([*COMMAND, folder])
    problem = problem_of(Use(OF_SEVERAL, [], lambda: read_item_scores(folder)))
    if problem:
        raise click.ClickException(problem)
    scores = read_item_scores(folder)
    click.echo(
        printable(f"{folder}: a folder with logs of {checks.counted(len(scores.models), 'model')}")
    )
    question = OF_SEVERAL if len(scores.models) > 1 else OF_ONE
    print_uses(READY, [f"{question}\n    {command}"])
    return True


def compare_use(table: Inspected) -> Iterator[Use]:
    """Yield the comparison that a table is ready for."""
    file = table.file
    is_log = files.is_evaluation_log(file)
    if is_log or files.comparison_table(file):
        clusters = table.options(cluster=roles.CLUSTER)
        command = [*COMMAND, file, *options_as_words(clusters)]
        question = OF_ONE if is_log else OF_SEVERAL
        yield Use(question, command, lambda: read_item_scores(file, **clusters))
        return
    if is_of_battles(list(table.data)):
        question = "Which of two models wins more often?"
        yield Use(question, [*COMMAND, file], lambda: read_item_scores(file))
        return
    item = item_column([*table.data], "") or table.first(roles.ID)
    is_of_one_model = table.has(*NO_MODELS) and not table.has(roles.MODEL)
    is_judged = table.has(roles.HUMAN) and table.has(roles.JUDGE)
    ragas = table.called("user_input")
    if ragas and table.has(roles.SCORE):
        for score in table.names(roles.SCORE):
            question = f"What is the mean of {score}? With a second file: which model is better?"
            yield _of_columns(table, question, {"item": ragas, "score": score})
    elif is_judged or is_of_one_model or table.has(roles.WEIGHT, roles.POPULATION):
        return
    elif item:
        yield from _of_items(table, item)


def _of_columns(table: Inspected, question: str, options: dict[str, Any]) -> Use:
    command = [*COMMAND, table.file, *options_as_words(options)]
    return Use(question, command, lambda: read_item_scores(table.data, **options))


def _of_items(table: Inspected, item: str) -> Iterator[Use]:
    """Yield the comparison of the models in columns or rows of a table of items."""
    options = {"item": item} | table.options(cluster=roles.CLUSTER)
    free = {name: cells for name, cells in table.data.items() if name not in options.values()}
    try:
        model, score = long_columns(free, "the table", numbers.as_text(table.data[item]))
        scores = [score] if model else score_columns(free, "the table")[0]
    except ValueError:  # the doctor prints this error
        yield _of_columns(table, OF_SEVERAL, options)
        return
    are_values = table.has(roles.STRATUM) and {*scores} & {*table.measurements()}
    if not scores or are_values:
        return
    if model:
        yield _of_columns(table, OF_SEVERAL, options | {"model": model, "score": score})
    elif len(scores) > 1:
        yield _of_columns(table, OF_SEVERAL, options | {"model": ",".join(scores)})
    else:
        yield _of_columns(table, OF_ONE, options | {"score": scores[0]})
