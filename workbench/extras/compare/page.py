"""The page of a comparison of models: what its notebook shows, and the function that runs it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench import checks
from workbench.extras.compare import gates
from workbench.extras.compare.comparison import ItemComparison, compare_items
from workbench.extras.compare.reading import read_item_scores
from workbench.extras.compare.slices import compare_slices, worth_reading
from workbench.extras.compare.sources import TASK
from workbench.reports.build import Brief, Targets, input_file, run_report
from workbench.reports.templates import UnrecordedHtml
from workbench.results import Table, html_table, percent
from workbench.results.digits import short_p

if TYPE_CHECKING:
    from workbench.extras.compare.item_scores import ItemScores

NOTEBOOK = Path(__file__).with_name("compare.ipynb")
TITLE, TITLE_OF_ONE = "Which of these models is better?", "How good is this model?"
SHOWN_PAIRS = 66
OPTIONS = (
    *("model", "item", "score", "cluster", "epoch", "repeats", "bounds", "better", "common"),
    *("independent", "by", "level", "adjust", "method", "gate"),
)


@dataclass(frozen=True)
class ScoredComparison:
    """The results of `workbench compare`; `by` is the column of the slices, "" for none."""

    scores: "ItemScores"
    comparison: ItemComparison
    gate: gates.Gate | None
    slices: Table | None
    by: str

    def ranks(self) -> Table:
        """Return a row per model."""
        caption = "Scores, possible ranks, and tie groups of models not shown to differ"
        if len(self.comparison.names) == 1:
            caption = "Mean score with its interval"
        return Table(tuple(self.comparison.ranks()), caption)

    def conditions(self) -> Table:
        """Return a row per condition of the comparison."""
        return Table(tuple(self.comparison.conditions()), "Conditions of this comparison")

    def reading(self) -> Table | None:
        """Return the items on which the best model does worse than the others, None for none."""
        rows = worth_reading(self.scores)
        items = checks.counted(len(rows), "item")
        caption = f"The {items} on which the best model is furthest behind the mean of the others"
        return Table(tuple(rows), caption) if rows else None

    def basis(self) -> str:
        """Return how the chart and the verdicts are meant, "" for one model."""
        level = percent(self.comparison.level)
        if len(self.comparison.names) == 1:
            return ""
        return (
            f"The chart shows mean scores with a separate {level} confidence interval for each "
            f"model. All ranks and verdicts together are valid at the {level} level."
        )

    def power(self) -> str:
        """Return a sentence about the difference that so many items show."""
        difference = self.comparison.detectable()
        text = self.comparison.units(difference, error=difference / 10)
        return (
            f"With {checks.counted(self.comparison.size, 'item')} such as these, a difference of "
            f"{text} between two models is shown in 80% of samples, if only this pair is compared. "
            "To show half this difference, you need four times as many items."
        )

    def pairs(self) -> UnrecordedHtml:
        """Return the differences of pairs as a table that is not recorded as a result."""
        intervals = "a separate interval for each pair"
        if self.comparison.adjust == "holm":
            intervals = "intervals by Holm's rule"
        caption = f"Differences of scores, first minus second, with {intervals}"
        return readable(self.comparison.rows(), caption)


def read(
    files: Sequence[str],
    *,
    by: str = "",
    level: float = 0.95,
    adjust: str = "holm",
    method: str = "default",
    gate: str = "",
    bounds: Sequence[float] | None = None,
    **columns: Any,
) -> ScoredComparison:
    """Read the scores of models and compare them.

    Parameters
    ----------
    files : list of str
        Logs of evaluations or tables.
    by : str
        Column of the slices. "" is the tasks of the logs, if there are several models.
    level, adjust, method
        As in `workbench.compare_items`.
    gate : str
        Condition of the gate, "" for none.
    bounds : (float, float), optional
        Smallest and largest possible score.
    **columns
        Further arguments of `workbench.read_item_scores`.
    """
    limits = (bounds[0], bounds[1]) if bounds else None
    scores = read_item_scores(*files, columns=[by] if by else [], bounds=limits, **columns)
    if not by and TASK in scores.columns and len(scores.models) > 1:
        by = TASK
    with checks.naming(condition="gate"):
        verdict = gates.gate(scores, gate, level=level, method=method) if gate else None
    settings: dict[str, Any] = {"level": level, "adjust": adjust, "method": method}
    comparison = compare_items(scores, **settings)
    slices = compare_slices(scores, by, **settings) if by else None
    return ScoredComparison(scores, comparison, verdict, slices, by)


def write_comparison(
    scored: ScoredComparison,
    targets: Targets,
    *,
    files: Iterable[str],
    values: Mapping[str, Any],
    command: str,
) -> list[Path]:
    """Write the page of a comparison, and its results as JSON and tables if requested.

    Parameters
    ----------
    scored : ScoredComparison
    targets : Targets
    files : iterable of str
        Files that were read.
    values : dict
        Arguments of `read` by name.
    command : str

    Returns
    -------
    list of Path
        Files that were written.
    """
    several = len(scored.comparison.names) > 1
    conditions = {
        "pairs": several,
        "slices": scored.slices is not None,
        "reading": scored.reading() is not None,
    }
    inputs = [input_file("file", Path(file), rows=False) for file in files]
    brief = Brief(TITLE if several else TITLE_OF_ONE, command, inputs, conditions)
    return run_report(NOTEBOOK, dict(values), targets, brief).files


def readable(rows: Sequence[dict], caption: str) -> UnrecordedHtml:
    """Return rows of pairs or items as a table that is not recorded as a result.

    The verdict of a pair comes before its numbers, and its p-value is short. Scores of an item are
    unchanged.
    """
    return UnrecordedHtml(html_table([*map(_readable, rows)], caption, SHOWN_PAIRS))


def _readable(row: dict) -> dict:
    if "item" in row:
        return {
            name: f"{cell:g}" if isinstance(cell, float) else cell for name, cell in row.items()
        }
    if "pvalue" not in row:
        return row
    names = [name for name in row if name not in ("verdict", "pvalue")]
    names.insert(names.index("second") + 1, "verdict")
    p = short_p(row["adjusted_pvalue"])
    return {name: row[name] for name in names} | {"adjusted_pvalue": p}
