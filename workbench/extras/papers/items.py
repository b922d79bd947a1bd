"""The items of a paper (tables, figures, theorems) that can be run again."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

KINDS = {"fig": "Figure", "eq": "Equation"}


class Figure(NamedTuple):
    """Rows of the figure of an item, and its data, if these are neither its own nor the user's."""

    rows: Iterable[dict] = ()
    data: str = ""


Claims = Iterator[dict | Figure]


@dataclass(frozen=True)
class Setting:
    """The sizes, the data and the learner of a run.

    Attributes
    ----------
    full : bool
        Whether to run the paper's own sizes.
    data : str or None
        File that replaces the data of the item.
    learner : str or None
        Learner that replaces that of the item, as in
        `workbench.cross_validation.learners.named_learner`.
    scale : float
        Proportion of the default number of runs; tests use a tenth.
    """

    full: bool = False
    data: str | None = None
    learner: str | None = None
    scale: float = 1.0

    def runs(self, default: int, full: int, least: int = 100) -> int:
        """Return the number of runs."""
        return full if self.full else max(least, round(default * self.scale))


@dataclass(frozen=True)
class Item:
    """A table, figure, theorem or other numbered item of a paper.

    Attributes
    ----------
    name : str
        Name, such as "kumar-raj/fig5".
    section : str
        Section of the paper, such as "4.2".
    claim : str
        The claim of the paper.
    seconds : int
        Approximate running time of the default setting on one core.
    data : str
        Data of the item.
    run : callable
        Yields claims (rows of `claims`), and a `Figure` if there is one. It takes a Setting, or
        nothing if its sizes and data are always the same.
    draw : callable or None
        Takes the title and the rows of the figure and returns a chart.
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
    run: Callable[..., Claims]
    draw: Callable[[str, list[dict]], Any] | None
    takes_file: bool
    takes_learner: bool

    @property
    def heading(self) -> str:
        """Return the heading of the item, such as "Figure 5", "Equation 12" or "Cochran"."""
        kind = self.name.split("/")[1].rstrip("0123456789.")
        count = self.name.split("/")[1].removeprefix(kind)
        return f"{KINDS.get(kind, kind.capitalize())} {count}".strip()


class Paper:
    """The items of one paper in their order; the decorator `item` adds a function to them.

    Parameters
    ----------
    name, title, authors : str
    sections : dict
        Names of the items in each section, separated by spaces.
    """

    def __init__(self, name: str, title: str, authors: str, sections: dict[str, str]) -> None:
        self.name, self.title, self.authors = name, title, authors
        self.items: list[Item] = []
        self._section: dict[str, str] = {}
        for section, items in sections.items():
            self._section |= dict.fromkeys(items.split(), section)

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
        """Return a decorator that makes a function the item with this name."""

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
    """Return a function that draws rows with the function of this name in `figures`.

    It imports altair only when it is called.
    """

    def draw(title: str, rows: list[dict]) -> Any:
        from workbench.extras.papers import figures

        return getattr(figures, kind)(title, rows, *keys, **settings)

    return draw
