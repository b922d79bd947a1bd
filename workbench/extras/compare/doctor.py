"""What `workbench doctor` says of a file of scores of several models."""

from collections.abc import Callable

from workbench.commands.doctor import Blocked, Use, given_options
from workbench.data import files, roles
from workbench.extras.compare.columns import item_column, long_columns, score_columns
from workbench.extras.compare.reading import read_item_scores

COMMAND = ["workbench", "compare"]
OF_ONE_MODEL = {"prediction", "truth", "fold", "score of a split", "probability of a class"}


def compare_use(file: str, data: dict, columns: list, named: Callable) -> Use | Blocked:
    """Return the comparison that a file is ready for, or what it lacks."""
    question = "Which of several models is better on the same items, all scored?"
    if files.is_evaluation_log(file):
        return Use(
            "What is the mean score of this log's model? With another log of the same items: which is better?",
            [*COMMAND, file],
            lambda: read_item_scores(file),
        )
    if files.comparison_table(file):
        return Use(question, [*COMMAND, file], lambda: read_item_scores(file))
    needs = (
        "identifiers and the scores of two models are needed, from 0 to 1: a column each, or one beside a column "
        "of models"
    )
    item = item_column([*data], "") or named(item=roles.ID).get("item", "")
    seen = {column.seems for column in columns}
    if not item or seen & OF_ONE_MODEL and roles.MODEL not in seen:
        return Blocked(question, needs)
    options = {"item": item} | named(cluster=roles.CLUSTER)
    free = {name: cells for name, cells in data.items() if name not in options.values()}
    try:
        model, score = long_columns(free, "the table")
        scores = [score] if model else score_columns(free, "the table").models
    except ValueError as error:
        return Blocked(question, str(error))
    if not model and len(scores) < 2:
        return Blocked(question, needs)
    options |= {"model": model, "score": score} if model else {"model": ",".join(scores)}
    return Use(
        question,
        [*COMMAND, file, *given_options(options)],
        lambda: read_item_scores(data, **options),
    )
