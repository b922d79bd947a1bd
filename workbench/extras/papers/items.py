"""An item of a paper, a table or figure or theorem, as something that can be run again."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

KINDS = {"fig": "Figure", "eq": "Equation"}


@dataclass(frozen=True)
class Setting:
    """How an item is run: at the papers' own sizes or quickly, and on which data.

    Attributes
    ----------
    full : bool
    data : str or None
        A file of the user's in the place of the data that the item takes.
    learner : str or None
        A learner of the user's in the place of the one that the item takes, as in
        `workbench.cross_validation.learners.named_learner`.
    scale : float
        Share of the default runs; tests run a tenth.
    """

    full: bool = False
    data: str | None = None
    learner: str | None = None
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
    section : str
        Where the paper has it, such as "4.2".
    claim : str
        What the paper says there.
    seconds : int
        What the default setting takes on one core, roughly.
    data : str
        What it is run on.
    run : callable
        Takes a Setting, returns claims (rows of `claims`), or a tuple of these, the rows of its figure and, where
        that is not `data` or the user's file, what it was run on.
    draw : callable or None
        Takes title and rows of the figure, returns a chart.
    takes_file : bool
        Whether a file may replace the data.
    takes_learner : bool
        Whether a learner may replace the paper's.
    """

    name: str
    section: str
    claim: str
    seconds: int
    data: str
    run: Callable[[Setting], Iterable[dict] | tuple[list[dict], list[dict]]]
    draw: Callable[[str, list[dict]], Any] | None
    takes_file: bool
    takes_learner: bool

    @property
    def heading(self) -> str:
        """What people call it: "Figure 5", "Equation 12", "Cochran"."""
        kind = self.name.split("/")[1].rstrip("0123456789.")
        count = self.name.split("/")[1].removeprefix(kind)
        return f"{KINDS.get(kind, kind.capitalize())} {count}".strip()


class Paper:
    """The items of one paper in its order; `item` adds a function to them.

    Parameters
    ----------
    name, title, authors : str
    sections : dict
        The names of the items in each section, apart by spaces.
    """

    def __init__(self, name: str, title: str, authors: str, sections: dict[str, str]) -> None:
        self.name, self.title, self.authors = name, title, authors
        self.items: list[Item] = []
        self._section = {
            item: section for section, items in sections.items() for item in items.split()
        }

    def item(
        self,
        name: str,
        claim: str,
        *,
        seconds: int = 1,
        data: str = "none needed",
        takes_file: bool = False,
        takes_learner: bool = False,
        draw: Callable | None = None,
    ) -> Callable:
        """Return a decorator that makes a function of a Setting the item of this name."""

        def add(run: Callable) -> Callable:
            self.items.append(
                Item(
                    f"{self.name}/{name}",
                    self._section[name],
                    claim,
                    seconds,
                    data,
                    run,
                    draw,
                    takes_file,
                    takes_learner,
                )
            )
            return run

        return add


def drawn(kind: str, *keys: str, **settings: Any) -> Callable[[str, list[dict]], Any]:
    """Return a function that draws rows as the function of this name in `figures` does, which imports altair."""

    def draw(title: str, rows: list[dict]) -> Any:
        from workbench.extras.papers import figures

        return getattr(figures, kind)(title, rows, *keys, **settings)

    return draw
