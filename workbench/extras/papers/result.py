"""What running an item of a paper again gives."""

from collections import Counter
from typing import Any

from workbench.extras.papers.claims import VERDICTS, short
from workbench.extras.papers.registry import find
from workbench.results import Result, html_table

SHOWN = ("verdict", "claim", "printed", "ours", "corrected", "reach", "why")


class Replay(Result):
    """An item of a paper run again: its claims with printed numbers, ours, and the verdicts; made by `replay`.

    Attributes
    ----------
    name : str
        Such as "kumar-raj/fig5".
    title : str
        What the paper says there.
    entries : tuple of dict
        The claims, as `rows` returns them.
    figure : tuple of dict
        The series of its figure or the rows of its table; empty where there is none.
    full : bool
        Whether the paper's own sizes were run.
    data : str
        What it was run on.
    """

    name: str
    title: str
    entries: tuple
    figure: tuple
    full: bool
    data: str

    def verdicts(self) -> dict[str, int]:
        """Return how many claims have each verdict, those that occur; what was put in is none."""
        counted = Counter(row["verdict"] for row in self.entries)
        return {verdict: counted[verdict] for verdict in VERDICTS if verdict in counted}

    def headline(self) -> str:
        """Return the verdicts and how many claims have each."""
        said = "; ".join(f"{verdict} {count}" for verdict, count in self.verdicts().items())
        return f"{self.name}: {said or 'nothing to decide'}"

    def rows(self) -> list[dict]:
        """Return one row per claim: what is printed, ours, corrected, the reach that decided it, verdict and why."""
        return list(self.entries)

    def _repr_html_(self) -> str:
        return html_table(
            [{name: short(row[name]) for name in SHOWN} for row in self.rows()], self.headline()
        )

    def chart(self) -> Any:
        """Return the item's figure in the paper's layout, or None where it has none."""
        item = find(self.name)
        return (
            item.draw(f"{item.heading}: {self.title}", list(self.figure))
            if item.draw and self.figure
            else None
        )
