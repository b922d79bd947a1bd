"""The commands that `workbench doctor` suggests for the labels of annotators."""

import re
import shlex
from collections.abc import Iterable, Iterator

import click

from workbench import checks
from workbench.commands.doctor import READY, print_uses, printable
from workbench.commands.uses import AGREEMENT, CLUSTERS, METRICS, Inspected, Use, options_as_words
from workbench.data import files, frames, numbers, roles
from workbench.extras.sessions.annotations import JSON_ENDINGS, read_annotations
from workbench.labeling.annotators import read_annotators

COMMAND = ["workbench", "audit", "agreement"]
FRACTION = re.compile("[-+]?[0-9]*[.,][0-9]+")
STEPS = 20  # ratings are multiples of 1/20, such as 0.5 and 0.25
CLOSE = 1e-6
NEEDS_ITEM = "add a column that identifies each row, and name it with --item"
NO_LABELS = {roles.FOLD, roles.PROBABILITY, roles.SPLIT}
NO_ANNOTATORS = {roles.STRATUM, roles.CLUSTER, roles.WEIGHT, roles.REPLICATE, roles.POPULATION}


def describe_export(file: str) -> bool:
    """Print the commands for an export of a labeling tool; return whether the file is one."""
    try:
        exported = read_annotations(file)
    except (ValueError, OSError):  # the doctor reports the problem
        return False
    if exported is None:
        return False
    answered = [row for row in exported.rows if row.is_answered]
    if not answered and all(row.problem for row in exported.rows):
        return False  # such as texts with a label and a prediction, in lines of JSON
    people = {row.by or exported.by for row in answered} - {""}
    labels = checks.counted(len(answered), "annotation")
    annotators = checks.counted(len(people), "named annotator")
    click.echo(printable(f"{file}: {exported.tool}, {labels} by {annotators}"))
    path = shlex.quote(file)
    uses = [f"Import the labels into an audit\n    workbench audit import AUDIT.DB {path}"]
    if len(people) > 1:
        uses.append(f"{AGREEMENT}\n    {shlex.join([*COMMAND, file])}")
    elif not file.lower().endswith(JSON_ENDINGS):
        uses += _metrics(file, len({row.id for row in answered}))
    print_uses(READY, uses)
    return True


def _metrics(file: str, items: int) -> Iterator[str]:
    """Yield the command to compare the labels in a table with predictions next to them."""
    names = list(filter(None, frames.column_names(file)))
    data, _ = frames.read_columns(file, names)
    prediction = roles.first_of(roles.columns_of(data), roles.PREDICTION)
    if not prediction or len(data[prediction]) != items:
        return
    predicted = {*numbers.as_text(data[prediction])}
    for name in names:
        if name != prediction and predicted & {*numbers.as_text(data[name])}:
            options = {"items": file, "truth": name, "prediction": prediction}
            arguments = ["workbench", "report", CLUSTERS, *options_as_words(options)]
            yield f"{METRICS}\n    {shlex.join(arguments)}"
            return


def agreement_use(table: Inspected) -> Iterator[Use]:
    """Yield the command for agreement if a table seems to have the labels of several annotators."""
    if files.is_evaluation_log(table.file) or files.comparison_table(table.file):
        return
    is_of_a_model = table.first(roles.TRUTH) or table.first(roles.SCORE)
    if table.has(*NO_LABELS) or (is_of_a_model and table.has(roles.PREDICTION)):
        return
    try:
        people = read_annotators(table.file).cells
    except ValueError as error:
        # the annotators are known, but values of the item column repeat
        if isinstance(error, checks.WrongArgument) and error.argument == "item":
            yield Use(AGREEMENT, [*COMMAND, table.file], needs=NEEDS_ITEM)
        return
    if any(column.name in people and column.seems in NO_ANNOTATORS for column in table.columns):
        return
    if any(_are_measurements(labels.values()) for labels in people.values()):
        return
    yield Use(AGREEMENT, [*COMMAND, table.file])


def _are_measurements(labels: Iterable[str]) -> bool:
    """Return whether labels are fractions that scales of ratings do not have."""
    steps = [
        float(text.replace(",", ".")) * STEPS for text in {*labels} if FRACTION.fullmatch(text)
    ]
    return sum(abs(step - round(step)) > CLOSE for step in steps) > 2
