"""An item of a paper, a table or figure or theorem, as something that can be run again; and what running it gives."""
from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from workbench.replays.claims import VERDICTS
from workbench.results import Result


@dataclass(frozen=True)
class Setting:
    """How an item is run: at the papers' own sizes or quickly, and on which data.

    Attributes
    ----------
    full : bool
    data : str or None
        A file of the user's in the place of the data that the item takes.
    scale : float
        Share of the default runs; tests run a tenth.
    """

    full: bool = False
    data: str | None = None
    scale: float = 1.0

    def runs(self, default: int, full: int, least: int = 100) -> int:
        """Return how often something is repeated."""
        return full if self.full else max(least, round(default * self.scale))


@dataclass(frozen=True)
class Item:
    """A table, figure, theorem or other numbered item of a paper.

    Attributes
    ----------
    name : str
        Such as "kumar-raj/fig5".
    claim : str
        What the paper says there.
    seconds : int
        What the default setting takes on one core, roughly.
    data : str
        What it is run on.
    run : callable
        Takes a Setting, returns claims (rows of `claims`) and the rows of its figure.
    draw : callable or None
        Takes title and rows of the figure, returns a chart.
    takes_file : bool
        Whether a file may replace the data.
    """

    name: str
    claim: str
    seconds: int
    data: str
    run: Callable[[Setting], tuple[list[dict], list[dict]]]
    draw: Callable[[str, list[dict]], Any] | None
    takes_file: bool


class Paper:
    """The items of one paper in its order; `item` adds a function to them."""

    def __init__(self, name: str, title: str) -> None:
        self.name, self.title = name, title
        self.items: list[Item] = []

    def item(self, name: str, claim: str, *, seconds: int = 1, data: str = "none needed", takes_file: bool = False,
             draw: Callable | None = None) -> Callable:
        """Return a decorator that makes a function of a Setting the item of this name."""
        def add(run):
            self.items.append(Item(f"{self.name}/{name}", claim, seconds, data, run, draw, takes_file))
            return run
        return add


@dataclass(frozen=True, eq=False, repr=False)
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
        """Return how many claims have each verdict, those that occur."""
        counted = Counter(row["verdict"] for row in self.entries)
        return {verdict: counted[verdict] for verdict in VERDICTS if verdict in counted}

    def headline(self) -> str:
        """Return the verdicts and how many claims have each."""
        said = ", ".join(f"{verdict} {count}" for verdict, count in self.verdicts().items())
        return f"{self.name}: {said}"

    def rows(self) -> list[dict]:
        """Return one row per claim: what is claimed, the printed number, ours, its error, the verdict and why."""
        return list(self.entries)

    def chart(self) -> Any:
        """Return the item's figure in the paper's layout, or None where it has none."""
        from workbench.replays import find
        draw = find(self.name).draw
        return draw(f"{self.name}: {self.title}", list(self.figure)) if draw and self.figure else None
