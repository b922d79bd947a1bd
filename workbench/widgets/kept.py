"""Predictions and explanations of a learner, saved in a file next to the notebook or in memory."""

import functools
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

from workbench.course import learners, records
from workbench.widgets import pages

FILE = "predictions.json"
LEARNERS = (
    "learners"  # contains a folder for each visitor of Voila, which `workbench course votes` reads
)


class Kept:
    """Predictions and explanations by name.

    Parameters
    ----------
    path : path, optional
        A JSON file. With None, the values are kept in memory. The same happens if the file is
        damaged or cannot be written; `where` then gives the reason, and the file stays unchanged.
    learner : str
        Name of the learner, if each learner has a folder.

    Examples
    --------
    >>> kept = Kept()
    >>> kept.when_kept("coin", lambda side: print("You said", side))
    >>> kept.keep("coin", "heads")
    You said heads
    >>> kept.get("coin")
    'heads'
    """

    def __init__(self, path: str | os.PathLike | None = None, learner: str = "") -> None:
        self.path, self.learner = None if path is None else Path(path), learner
        self._trouble = ""
        self._values: dict[str, Any] = {}
        self._waiting: dict[str, list[Callable[[Any], None]]] = {}
        if self.path is not None:
            self._with_file(lambda: self._values.update(records.recorded(self.path)))

    def get(self, name: str) -> Any:
        """Return the value saved under a name, or None."""
        return self._values.get(name)

    def keep(self, name: str, value: Any) -> None:
        """Save a number, a text or a flat list of these, and call the waiting functions."""
        value = records.plain_answer(value)
        if self.path is not None:
            self._with_file(lambda: self._write(name, value))
        self._values[name] = value
        for tell in self._waiting.pop(name, []):
            tell(value)

    def when_kept(self, name: str, tell: Callable[[Any], None]) -> None:
        """Call `tell` with the value saved under a name, now or once it is saved."""
        if name in self._values:
            tell(self._values[name])
        else:
            self._waiting.setdefault(name, []).append(tell)

    @property
    def where(self) -> str:
        """Return the place of the saved values as text."""
        kept = (
            f"for {self.learner}" if self.learner else f"in {self.path.name}" if self.path else ""
        )
        return kept if self.path else f"until this notebook's kernel stops{self._trouble}"

    def _write(self, name: str, value: Any) -> None:
        if self.learner and self.path:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        records.record(self.path, name, value)

    def _with_file(self, act: Callable) -> None:
        try:
            act()
        except (OSError, ValueError) as error:
            self.path, self._trouble = None, f": {error}"


@functools.cache
def kept() -> Kept:
    """Return the saved predictions and explanations of the learner of this notebook.

    A Jupyter server gives its kernels the name of the notebook. Voila gives them the address of the
    page, which contains the name or code of the visitor. JupyterLite keeps files in the browser's
    storage. Reports, tests and visitors without a name start with nothing.
    """
    if os.environ.get("JPY_SESSION_NAME") or pages.IN_BROWSER:
        return Kept(Path(FILE))
    learner = parse_qs(os.environ.get("QUERY_STRING", "")).get("learner", [""])[0].lower()
    if not pages.is_live() or learners.id_problem(learner):
        return Kept()
    return Kept(Path(LEARNERS, learner, FILE), learner)
