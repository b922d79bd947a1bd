"""The papers and their items, loaded on first use."""

import functools
import importlib
import itertools

from workbench import checks
from workbench.extras.papers.items import Item, Paper

FILES = (
    "kumar_raj",
    "micheals_boult",
    "nguyen_samples",
    "nguyen_streams",
    "kloos",
    "grandvalet_bengio",
)


@functools.cache
def papers() -> tuple[Paper, ...]:
    """Return the papers, each with its items."""
    modules = [importlib.import_module(f"workbench.extras.papers.{file}") for file in FILES]
    return tuple(dict.fromkeys(module.PAPER for module in modules))


def all_items() -> list[Item]:
    """Return the items of all papers in order."""
    return list(itertools.chain.from_iterable(paper.items for paper in papers()))


def find(name: str) -> Item:
    """Return the item with this name, or raise an error that suggests a similar name."""
    items = {item.name: item for item in all_items()}
    if name not in items:
        raise checks.WrongValue(
            "name",
            "must be an item of `workbench papers replay list`; got "
            f"{name!r}{checks.suggestion(str(name), items)}",
        )
    return items[name]
