"""The papers' tables, figures and theorems run again, beside what was printed; one file per paper."""

from os import PathLike, fspath

from workbench.extras.papers.items import Item, Setting
from workbench.extras.papers.registry import all_items, find
from workbench.extras.papers.result import Replay
from workbench.results import Table


def replay(
    name: str,
    *,
    full: bool = False,
    data: str | PathLike[str] | None = None,
    learner: str | None = None,
) -> Replay:
    """Run a table, figure or theorem of a paper again and compare it with what was printed.

    Parameters
    ----------
    name : str
        As `replay_list` names it, such as "kloos/theorem1".
    full : bool
        Run the paper's own sizes (of a stream of 31 million records a tenth); by default what takes seconds.
    data : str or path, optional
        A file in the place of the data that the item is run on, where it takes one.
    learner : str, optional
        In the place of the learner that the item is run with, where it takes one: "1nn", "centroid", or
        "module:object" with fit and predict.

    Returns
    -------
    Replay

    Raises
    ------
    ValueError
        If there is no such item, or it takes no file or no learner.

    Examples
    --------
    >>> replay("kloos/table1")
    Replay(kloos/table1: holds 3)
    """
    return run(find(name), Setting(bool(full), None if data is None else fspath(data), learner))


def replay_list() -> Table:
    """Return every numbered item of the papers: what it claims, what running it takes, and on which data.

    Returns
    -------
    Table

    Examples
    --------
    >>> replay_list().rows()[0]["name"]
    'kumar-raj/lemma1'
    """
    return Table(
        tuple(
            {"name": item.name, "claim": item.claim, "seconds": item.seconds, "data": item.data}
            for item in all_items()
        ),
        "What can be replayed",
    )


def run(item: Item, setting: Setting) -> Replay:
    """Return an item run in a setting."""
    if setting.data is not None and not item.takes_file:
        raise ValueError(f"data must not be given for {item.name}: it is run on {item.data}")
    if setting.learner is not None and not item.takes_learner:
        raise ValueError(f"learner must not be given for {item.name}: it takes none")
    found = item.run(setting)
    claims, figure, *told = found if isinstance(found, tuple) else (found, ())
    return Replay(
        item.name,
        item.claim,
        tuple(claims),
        tuple(figure),
        setting.full,
        told[0] if told else setting.data or item.data,
    )
