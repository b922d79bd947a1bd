"""The result of a replayed item of a paper."""

from collections import Counter
from typing import Any

from workbench.extras.papers.claims import VERDICTS, short
from workbench.extras.papers.registry import find
from workbench.results import Result, html_table

SHOWN = ("verdict", "claim", "printed", "ours", "corrected", "reach", "why")


class Replay(Result):
    """A replayed item of a paper: its claims with printed numbers, our numbers and verdicts.

    `replay` returns it. Print it for the number of claims with each verdict; `rows` returns the
    claims, `chart` the figure.

    Attributes
    ----------
    name : str
        Name of the item, such as "kumar-raj/fig5".
    title : str
        Claim of the paper in words.
    entries : tuple of dict
        The claims, as `rows` returns them.
    figure : tuple of dict
        Rows of the figure or table; empty if there is none.
    full : bool
        Whether the paper's own sizes were run.
    data : str
        Data that were used.

    See Also
    --------
    replay : Replay an item.
    replay_list : List the items of all papers.
    """

    name: str
    title: str
    entries: tuple
    figure: tuple
    full: bool
    data: str

    def verdicts(self) -> dict[str, int]:
        """Return the number of claims with each verdict that occurs.

        Values that were built into a stand-in do not count.
        """
        counts = Counter(row["verdict"] for row in self.entries)
        return {verdict: counts[verdict] for verdict in VERDICTS if verdict in counts}

    def headline(self) -> str:
        """Return the verdicts with the number of claims for each."""
        verdicts = "; ".join(f"{verdict} {count}" for verdict, count in self.verdicts().items())
        return f"{self.name}: {verdicts or 'nothing to decide'}"

    def rows(self) -> list[dict]:
        """Return one row per claim.

        A row holds the printed number, ours, the corrected number, the tolerance used for the
        verdict, the verdict and the reason.
        """
        return list(self.entries)

    def _repr_html_(self) -> str:
        rows = [{name: short(row[name]) for name in SHOWN} for row in self.rows()]
        return html_table(rows, self.headline())

    def chart(self) -> Any:
        """Return the figure of the item in the paper's layout, or None if there is none."""
        item = find(self.name)
        if item.draw is None or not self.figure:
            return None
        return item.draw(f"{item.heading}: {self.title}", list(self.figure))
