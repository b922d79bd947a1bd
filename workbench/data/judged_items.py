"""Items with the answers of two models, and a judge's labels for each answer."""

from typing import Any

import numpy as np

from workbench import checks
from workbench.data import files, frames, numbers
from workbench.data.scored_items import LOG_ID, ScoredItems, verdicts_of
from workbench.results import Note

WHICH = (
    "both",
    "A",
    "B",
    "neither",
)  # the models whose answer is correct
NO_VERDICT = (
    "is not a judge label. Write 1 (correct) or 0 (incorrect), or words with this meaning. Divide "
    "grades into two groups first"
)


@frames.in_rows_of("source")
def judged_items(source: Any, judge: str, *, id: str = "") -> ScoredItems:
    """Read a judge's labels for the answers of two models to the same items.

    Use it to plan which items annotators should label. The pairs of judge labels become strata.

    Parameters
    ----------
    source : str, path or data frame
        File or data frame, as in `read_scores`.
    judge : str
        Columns of the judge labels of A and of B, with a comma between.
    id : str, default ""
        Column of identifiers; without it, rows are numbered.

    Returns
    -------
    ScoredItems
        Items without scores and predictions. Their strata `by` are "both", "A", "B" or "neither":
        the models whose answer is correct according to the judge.

    Raises
    ------
    ValueError
        If `judge` does not name two columns, or a cell is missing or not a judge label. The message
        names the row.

    See Also
    --------
    read_scores : Read scored items of one or two models.
    judged_audit : Plan or analyze the audit of these items.
    ScoredItems : Items that this function returns.

    Examples
    --------
    >>> table = {"on_a": [1, 1, 0], "on_b": ["yes", "no", "no"]}
    >>> judged_items(table, "on_a, on_b").by.tolist()
    ['both', 'A', 'neither']
    """
    parts = checks.instance("judge", judge, str).split(",")
    columns = list(map(str.strip, parts))
    if len(columns) != 2 or "" in columns or columns[0] == columns[1]:
        rule = (
            "must name two columns with a comma between: the judge labels of A and those of B. For "
            "judge labels of one model, run report misclassification-correction with {0} and {1}"
        )
        raise checks.WrongValue("judge", rule, judge, others=("judge", "truth"))
    checks.instance("id", id, str)
    if not id and files.is_evaluation_log(source):
        id = LOG_ID
    data, read_notes = frames.read_columns(source, [*columns, id] if id else columns)
    notes = [*read_notes]
    verdicts = []
    for name in columns:
        labels = numbers.to_labels(name, data[name])
        is_correct, word_notes = verdicts_of(name, labels, NO_VERDICT)
        verdicts.append(is_correct)
        notes += word_notes
    a, b = verdicts
    if (a == b).all():
        text = "the judge labels of both models are the same for every item"
        notes.append(Note("data", f"{text}, so they do not distinguish the models"))
    *any_correct, neither = WHICH
    by = np.select([a & b, a, b], any_correct, neither)
    ids = numbers.to_ids(id, data[id]) if id else None
    scores = np.full(by.size, np.nan)
    return ScoredItems(
        ids,
        scores,
        score_is="none",
        by=by,
        notes=notes,
    )
