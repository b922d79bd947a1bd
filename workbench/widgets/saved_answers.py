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


class SavedAnswers:
    """Predictions and explanations by name.

    Parameters
    ----------
    path : path, optional
        A JSON file. With None, the values are stored in memory. The same happens if the file is
        damaged or cannot be written; `where` then gives the reason, and the file stays unchanged.
    learner : str
        Name of the learner, if each learner has a folder.

    Examples
    --------
    >>> answers = SavedAnswers()
    >>> answers.when_saved("coin", lambda side: print("You said", side))
    >>> answers.save("coin", "heads")
    You said heads
    >>> answers.get("coin")
    'heads'
    """

    def __init__(self, path: str | os.PathLike | None = None, learner: str = "") -> None:
        self.path, self.learner = None if path is None else Path(path), learner
        self._trouble = ""
        self._values: dict[str, Any] = {}
        self._waiting: dict[str, list[Callable[[Any], None]]] = {}
        self._with_file(lambda path: self._values.update(records.recorded(path)))

    def get(self, name: str) -> Any:
        """Return the value saved under a name, or None."""
        return self._values.get(name)

    def save(self, name: str, value: Any) -> None:
        """Save a number, a text or a flat list of these, and call the waiting functions."""
        value = records.plain_answer(value)

        def write(path: Path) -> None:
            if self.learner:
                path.parent.mkdir(parents=True, exist_ok=True)
            records.record(path, name, value)

        self._with_file(write)
        self._values[name] = value
        for react in self._waiting.pop(name, []):
            react(value)

    def when_saved(self, name: str, react: Callable[[Any], None]) -> None:
        """Call `react` with the value saved under a name, now or once it is saved."""
        if name in self._values:
            react(self._values[name])
        else:
            self._waiting.setdefault(name, []).append(react)

    @property
    def where(self) -> str:
        """Return the place of the saved values as text."""
        if not self.path:
            return f"until this notebook's kernel stops{self._trouble}"
        return f"for {self.learner}" if self.learner else f"in {self.path.name}"

    def _with_file(self, act: Callable[[Path], None]) -> None:
        """Read or write the file; if this is not possible, store the values in memory."""
        try:
            if self.path:
                act(self.path)
        except (OSError, ValueError) as error:
            self.path, self._trouble = None, f": {error}"


@functools.cache
def saved_answers() -> SavedAnswers:
    """Return the saved predictions and explanations of the learner of this notebook.

    A Jupyter server gives its kernels the name of the notebook. Voila gives them the address of the
    page, which contains the name or code of the visitor. JupyterLite keeps files in the browser's
    storage. Reports, tests and visitors without a name start with nothing.
    """
    if os.environ.get("JPY_SESSION_NAME") or pages.IN_BROWSER:
        return SavedAnswers(FILE)
    learner = parse_qs(os.environ.get("QUERY_STRING", "")).get("learner", [""])[0].lower()
    if not pages.is_live() or learners.id_problem(learner):
        return SavedAnswers()
    return SavedAnswers(Path(LEARNERS, learner, FILE), learner)
