"""Check an answer to an exercise: right, a named mistake, or not yet; then a hint, then the explanation.

Answers are recomputed from the digit forms; nothing is stored. In a student's copy of a lesson some exercises are
graded: they have data of the student's own, and `check` only records what is answered. On a live page an exercise
without an answer shows a text box, which says the same.
"""

import functools
import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from workbench import checks, lessons
from workbench.course import records
from workbench.course.answers import LONGEST_TEXT, Judged, answered, typed
from workbench.results import Result

TRIES_BEFORE_EXPLANATION = 3
MOST_NUMBERS = 6        # that an exercise asks for
_tries: dict[str, int] = {}


def parts_of(count: int) -> Callable[[Any], list | None]:
    """Return what reads an answer as so many parts of any kind."""
    def read(answer: Any) -> list | None:
        parts = list(answer) if hasattr(answer, "__iter__") else []
        return parts if len(parts) == count else None

    return read


@functools.cache
def exercises() -> dict[str, tuple]:
    """Return judge, reader, form of the answer, hint and explanation of every exercise, by its number.

    The reader is how many numbers the judge takes, or a function that returns what it takes. For an answer of another
    form than is asked for, reader or judge return None.
    """
    return {number: exercise for part in lessons.parts("exercises") for number, exercise in part.EXERCISES.items()}


class Feedback(Result):
    """What an answer earned.

    Attributes
    ----------
    exercise : str
    verdict : {"right", "mistake", "not yet", "no answer", "recorded"}
    message : str
        What is right, the mistake by its name, what to answer with, or what was recorded.
    hint, explanation : str
        The hint comes after a miss; the explanation after success or three tries.
    record : str, optional
        The file in which answers are recorded.
    """

    exercise: str
    verdict: str
    message: str
    hint: str = ""
    explanation: str = ""
    record: str | None = None

    def headline(self) -> str:
        """Return verdict, message and what help is due."""
        return " ".join([f"{self.exercise} {self.verdict}: {self.message}", *map(" ".join, self._help())])

    def _help(self) -> list[tuple[str, str]]:
        return [(name, text) for name, text in (("Hint:", self.hint), ("Why:", self.explanation)) if text]

    def rows(self) -> list[dict]:
        """Return one row."""
        return [{"exercise": self.exercise, "verdict": self.verdict, "message": self.message, "hint": self.hint,
                 "explanation": self.explanation}]

    def _repr_html_(self) -> str:
        import html
        mark = {"right": "&#10003;", "mistake": "&#10007;", "not yet": "&#8230;", "no answer": "?",
                "recorded": "&#9998;"}[self.verdict]
        help_lines = "".join(f"<br><em>{name}</em> {html.escape(text)}" for name, text in self._help())
        return (f"<p role='status'><strong>{mark} {html.escape(self.exercise)} {self.verdict}</strong>: "
                f"{html.escape(self.message)}{help_lines}</p>")

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict:
        bundle = super()._repr_mimebundle_(include, exclude)
        if self.verdict == "no answer":
            from workbench.widgets import pages
            bundle |= self._box()._repr_mimebundle_()[0] | {"text/plain": repr(self)} if pages.is_live() else {}
        return bundle

    def _box(self) -> Any:
        from workbench.widgets.answer_box import AnswerBox
        return AnswerBox(self.exercise, exercises()[self.exercise][2], self._repr_html_(), LONGEST_TEXT,
                         lambda text: check(self.exercise, typed(text), record=self.record)._repr_html_())


def check(exercise: str, answer: Any, *, record: str | None = None) -> Feedback:
    """Check an answer to an exercise of the course, or record it to be graded.

    Parameters
    ----------
    exercise : str
        Its number, such as "1.1".
    answer : object
        What the exercise asks for; None for no answer yet.
    record : str, optional
        A file in which the answer is recorded instead of being checked, as in a student's copy of a lesson.

    Returns
    -------
    Feedback

    Raises
    ------
    ValueError
        If an answer to record is more than numbers and texts, or the file is damaged.

    Examples
    --------
    >>> check("1.1", (0.88, 0.0288)).verdict
    'right'
    """
    checks.choice("exercise", exercise, exercises())
    _, _, form, hint, explanation = exercises()[exercise]
    if answer is None:
        return Feedback(exercise, "no answer", f"answer with {form}", record=record)
    if record is not None:
        kept = records.record(record, exercise, answer)
        return Feedback(exercise, "recorded", f"{kept!r}; asked for: {form}", record=record)
    verdict, message, _ = judged(exercise, answer)
    _tries[exercise] = _tries.get(exercise, 0) + 1
    due = verdict == "right" or _tries[exercise] >= TRIES_BEFORE_EXPLANATION
    return Feedback(exercise, verdict, message, "" if verdict == "right" else hint, explanation() if due else "")


def judged(exercise: str, answer: Any, **task: Any) -> Judged:
    """Return what an answer earns, with the data of the practice exercise or with others.

    Parameters
    ----------
    exercise : str
    answer : object
    **task
        The data of a variant, as `workbench.classroom.variants` draws them.

    Examples
    --------
    >>> judged("2.1", 0.0616, differences=(0.10, -0.06, 0.04)).misconception
    'sum taken for the mean'
    """
    found = _verdict(exercise, answer, task)
    if found.verdict != "right" and _is_right_in_percent(exercise, answer, task):
        return Judged("mistake", "right in percent; write shares, as .029 for 2.9%", "in percent")
    return found


def is_right(exercise: str, answer: Any, **task: Any) -> bool:
    """Return whether an answer is right, with the data of the practice exercise or with others."""
    return _verdict(exercise, answer, task).verdict == "right"


def _verdict(exercise: str, answer: Any, task: dict) -> Judged:
    judge, read, form, _, _ = exercises()[exercise]
    values = answered(answer, read) if isinstance(read, int) else read(answer)
    verdict = None if values is None else judge(values, **task)
    return Judged(*(verdict or ("not yet", f"answer with {form}")))


def _is_right_in_percent(exercise: str, answer: Any, task: dict) -> bool:
    """Return whether an answer is right once some of its numbers are divided by 100."""
    values: list[Any] = list(answer) if isinstance(answer, (list, tuple, np.ndarray)) else [answer]
    places = [place for place, value in enumerate(values)
              if isinstance(value, (int, float)) and 0 < abs(value) <= 100]
    tried = (subset for count in range(1, len(places) + 1) for subset in itertools.combinations(places, count))
    return len(places) <= MOST_NUMBERS and any(
        is_right(exercise, [value / 100 if place in subset else value for place, value in enumerate(values)], **task)
        for subset in tried)


def start_over() -> None:
    """Forget all tries, as for the next student at the same machine."""
    _tries.clear()
