"""Items on which two models answered and a judge said of each answer whether it is right."""

from typing import Any

import numpy as np

from workbench import checks
from workbench.data import files, frames, numbers
from workbench.data.scored_items import LOG_ID, ScoredItems, verdicts_of
from workbench.results import Note

WHICH = ("both", "A", "B", "neither")  # whose answer is right, as verdicts and people say it
NO_VERDICT = "is no verdict: write 1 (right) or 0 (wrong), or words for these; grades must be cut into two before"


@frames.in_rows_of("source")
def judged_items(source: Any, judge: str, *, id: str = "") -> ScoredItems:
    """Read the verdicts of a judge on two models' answers to the same items; these are the strata `by`.

    Parameters
    ----------
    source : str, path or data frame
        What `frames.read_columns` reads.
    judge : str
        The columns of the verdicts on A and on B, with a comma between.
    id : str
        Column of identifiers; without it rows are numbered.

    Returns
    -------
    ScoredItems
        Without scores and predictions; `by` is "both", "A", "B" or "neither".

    Raises
    ------
    ValueError
        If there are not two columns, or a cell is missing or no verdict; names the row.

    Examples
    --------
    >>> judged_items({"on_a": [1, 1, 0], "on_b": ["yes", "no", "no"]}, "on_a, on_b").by.tolist()
    ['both', 'A', 'neither']
    """
    columns = [name.strip() for name in checks.instance("judge", judge, str).split(",")]
    if len(columns) != 2 or not all(columns) or columns[0] == columns[1]:
        raise checks.WrongValue(
            "judge",
            "must name two columns with a comma between: the verdicts on the answers of A "
            "and on those of B",
            judge,
        )
    id = checks.instance("id", id, str) or LOG_ID * files.is_evaluation_log(source)
    data, notes = frames.read_columns(source, [*columns, *[id] * bool(id)])
    a, b = (verdicts_of(name, numbers.to_labels(name, data[name]), NO_VERDICT) for name in columns)
    by = np.select([a[0] & b[0], a[0], b[0]], WHICH[:3], WHICH[3])
    alike = [
        Note(
            "data",
            "the verdicts on both models are alike for every item: they do not tell the models apart",
        )
    ]
    return ScoredItems(
        numbers.to_ids(id, data[id]) if id else None,
        np.full(by.size, np.nan),
        score_is="none",
        by=by,
        notes=[*notes, *a[1], *b[1], *alike * bool((a[0] == b[0]).all())],
    )
