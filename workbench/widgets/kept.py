"""What a learner wrote, kept until they come back: in a file beside the notebook, or in memory."""

import functools
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from workbench.course import records

FILE = "predictions.json"


class Kept:
    """Predictions and explanations by name.

    Parameters
    ----------
    path : path, optional
        A JSON file. None keeps in memory, as do a damaged file, which stays as it is, and a folder that cannot be
        written; `where` says so.

    Examples
    --------
    >>> kept = Kept()
    >>> kept.when_kept("coin", lambda side: print("You said", side))
    >>> kept.keep("coin", "heads")
    You said heads
    >>> kept.get("coin")
    'heads'
    """

    def __init__(self, path: str | os.PathLike | None = None) -> None:
        self.path = None if path is None else Path(path)
        self._trouble = ""
        self._values: dict[str, Any] = {}
        self._waiting: dict[str, list[Callable[[Any], None]]] = {}
        if self.path is not None:
            self._with_file(lambda: self._values.update(records.recorded(self.path)))

    def get(self, name: str) -> Any:
        """Return what is kept under a name, None if nothing is."""
        return self._values.get(name)

    def keep(self, name: str, value: Any) -> None:
        """Keep a number, a text or a flat list of these, and tell those who wait for it."""
        value = records.plain_answer(value)
        if self.path is not None:
            self._with_file(lambda: records.record(self.path, name, value))
        self._values[name] = value
        for tell in self._waiting.pop(name, []):
            tell(value)

    def when_kept(self, name: str, tell: Callable[[Any], None]) -> None:
        """Call `tell` with what is kept under a name: now, or once it is."""
        if name in self._values:
            tell(self._values[name])
        else:
            self._waiting.setdefault(name, []).append(tell)

    @property
    def where(self) -> str:
        """Where it is kept, for people."""
        return f"in {self.path.name}" if self.path else f"until this notebook's kernel stops{self._trouble}"

    def _with_file(self, act: Callable) -> None:
        try:
            act()
        except (OSError, ValueError) as error:
            self.path, self._trouble = None, f": {error}"


@functools.cache
def kept() -> Kept:
    """Return what the learner of this notebook wrote.

    A Jupyter server tells its kernels the notebook's name, and only then is there a notebook that somebody comes back
    to: reports, tests and Voila's visitors start with nothing.
    """
    return Kept(Path(FILE) if os.environ.get("JPY_SESSION_NAME") else None)
