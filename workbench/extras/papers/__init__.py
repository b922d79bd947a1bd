"""Replays of the tables, figures and theorems of five papers, one file per paper."""

import inspect
from os import PathLike, fspath

from workbench.extras.papers.items import Figure, Item, Setting
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
    """Replay a table, figure or theorem of a paper, and compare it with the printed numbers.

    Use it before you cite a formula or a table of one of the papers. You get a row per claim with
    the printed number, ours and the verdict.

    Parameters
    ----------
    name : str
        Name of the item in `replay_list`, such as "kloos/theorem1".
    full : bool, default False
        Whether to run the sizes of the paper (of the stream of 31 million records, a tenth). The
        default sizes are smaller and take seconds.
    data : str or path, optional
        File to use instead of the data of the item, if the item takes a file.
    learner : str, optional
        Learner to use instead of that of the item, if the item takes one: "1nn", "centroid", or
        "module:object" with the methods fit and predict.

    Returns
    -------
    Replay
        The claims with their verdicts, and the rows of the figure or table.

    Raises
    ------
    ValueError
        If there is no such item, or it takes no file or no learner.

    See Also
    --------
    replay_list : List the items of all papers.
    Replay : The result.

    Examples
    --------
    >>> replay("kloos/table1")
    Replay(kloos/table1: holds 3)
    """
    return run(find(name), Setting(bool(full), None if data is None else fspath(data), learner))


def replay_list() -> Table:
    """List all numbered items of the papers that can be replayed.

    Use it to find the name that `replay` takes.

    Returns
    -------
    Table
        A row per item with its name, its claim, its running time in seconds, and its data.

    See Also
    --------
    replay : Replay one of the items.

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
        "Items that can be replayed",
    )


def run(item: Item, setting: Setting) -> Replay:
    """Return the result of an item that is run in a setting."""
    if setting.data is not None and not item.takes_file:
        raise ValueError(
            f"data must not be given for {item.name}, which takes no file (its data: {item.data})"
        )
    if setting.learner is not None and not item.takes_learner:
        raise ValueError(f"learner must not be given for {item.name}, which takes no learner")
    takes_setting = bool(inspect.signature(item.run).parameters)
    claims, figure = [], Figure()
    for part in item.run(setting) if takes_setting else item.run():
        if isinstance(part, Figure):
            figure = part
        else:
            claims.append(part)
    return Replay(
        item.name,
        item.claim,
        tuple(claims),
        tuple(figure.rows),
        setting.full,
        figure.data or setting.data or item.data,
    )
