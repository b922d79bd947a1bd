"""Check an answer to an exercise: right, a named mistake, or not yet; then a hint, then the explanation.

Answers are recomputed from the digit forms; nothing is stored. In a student's copy of a lesson some exercises are
graded: they have data of the student's own, and `check` only records what is answered. On a live page an exercise
without an answer shows a text box, which says the same.
"""

import contextlib
import functools
import itertools
import numbers
import os
import runpy
import traceback
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

from workbench import checks, lessons
from workbench.course import records
from workbench.course.answers import LONGEST_TEXT, Judged, answered, finite, is_as_in_a_cell, typed
from workbench.results import Result

TRIES_BEFORE_EXPLANATION = 3
MOST_NUMBERS = 6  # that an exercise asks for
SHARES = (
    "1.1",
    "2.1",
    "2.4",
    "4.1",
    "4.2",
    "4.4",
    "4.5",
    "5.2",
)  # all numbers of the answer lie between -1 and 1
ANSWERS = "answers.json"  # the file that is handed in
OWN_FILE = "my_exercises.py"  # beside the notebooks
_tries: dict[str, int] = {}
_loading: list[str] = []  # the exercise for which the lecturer's file is read just now


class Exercise(NamedTuple):
    """How an exercise is judged.

    Attributes
    ----------
    judge : callable or None
        Takes what the reader returns and the data of a variant; None where answers are only
        recorded.
    reader : int or callable
        How many numbers the judge takes, or a function that returns what it takes.
    form : str
        What to answer with.
    hint : str
    explanation : callable
        Returns the explanation.
    question : str
        Of an exercise that a lecturer added, as are the next two.
    answer : tuple
        The parts of the right answer.
    points : float
    settings : dict
        The arguments of `workbench.exercise` that made it, but for number and question.
    """

    judge: Any
    reader: Any
    form: str
    hint: str
    explanation: Callable[[], str]
    question: str = ""
    answer: tuple = ()
    points: float = 1
    settings: dict = {}


OWN: dict[str, Exercise] = {}  # exercises that a lecturer added, by number
added: list[str] = []  # their numbers in the order of the calls


def listed(values: Iterable[float], digits: int = 3) -> str:
    """Return numbers for a step of a solution."""
    return ", ".join(f"{value:.{digits}f}" for value in values)


def parts_of(count: int) -> Callable[[Any], list | None]:
    """Return what reads an answer as so many parts of any kind."""

    def read(answer: Any) -> list | None:
        parts = list(answer) if isinstance(answer, (list, tuple)) else []
        return parts if len(parts) == count else None

    return read


def exercises() -> dict[str, Exercise]:
    """Return every exercise by its number, those of the course first.

    For an answer of another form than is asked for, reader or judge return None.
    """
    return course_exercises() | OWN


@functools.cache
def course_exercises() -> dict[str, Exercise]:
    """Return the exercises of the course by number."""
    return {
        number: Exercise(*exercise)
        for part in lessons.parts("exercises")
        for number, exercise in part.EXERCISES.items()
    }


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
    steps : tuple of str
        The worked solution, after three misses.
    record : str, optional
        The file in which answers are recorded.
    """

    exercise: str
    verdict: str
    message: str
    hint: str = ""
    explanation: str = ""
    record: str | None = None
    steps: tuple = ()

    def headline(self) -> str:
        """Return verdict, message and what help is due."""
        return " ".join(
            [f"{self.exercise} {self.verdict}: {self.message}", *map(" ".join, self._help())]
        )

    def _help(self) -> list[tuple[str, str]]:
        worked = " ".join(f"({number}) {step}" for number, step in enumerate(self.steps, 1))
        return [
            (name, text)
            for name, text in (
                ("Hint:", self.hint),
                ("Step by step:", worked),
                ("Why:", self.explanation),
            )
            if text
        ]

    def rows(self) -> list[dict]:
        """Return one row."""
        return [
            {
                "exercise": self.exercise,
                "verdict": self.verdict,
                "message": self.message,
                "hint": self.hint,
                "explanation": self.explanation,
            }
        ]

    def _repr_html_(self) -> str:
        import html

        mark = {
            "right": "&#10003;",
            "mistake": "&#10007;",
            "not yet": "&#8230;",
            "no answer": "?",
            "recorded": "&#9998;",
        }[self.verdict]
        help_lines = "".join(
            f"<br><em>{name}</em> {html.escape(text)}" for name, text in self._help()
        )
        return (
            f"<p role='status'><strong>{mark} {html.escape(self.exercise)} {self.verdict}</strong>: "
            f"{html.escape(self.message)}{help_lines}</p>"
        )

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict:
        bundle = super()._repr_mimebundle_(include, exclude)
        if self.verdict == "no answer":
            from workbench.widgets import pages

            bundle |= (
                self._box()._repr_mimebundle_()[0] | {"text/plain": repr(self)}
                if pages.is_live()
                else {}
            )
        return bundle

    def _box(self) -> Any:
        from workbench.widgets.answer_box import AnswerBox

        return AnswerBox(
            self.exercise,
            exercises()[self.exercise].form,
            self._repr_html_(),
            LONGEST_TEXT,
            _Reading(self.exercise, self.record).told,
        )


class _Reading:
    """What a text box reads: a text that a cell would not take so is shown as it was read before it counts."""

    def __init__(self, exercise: str, record: str | None) -> None:
        self.exercise, self.record, self.shown = exercise, record, ""

    def told(self, text: str) -> str:
        import html

        asked = exercises()[self.exercise].reader
        count = asked if isinstance(asked, int) else None
        answer = typed(text, count)
        if text == self.shown or is_as_in_a_cell(text, count):
            return check(self.exercise, answer, record=self.record)._repr_html_()
        self.shown = text
        return (
            f"<p role='status'>Read as <strong>{html.escape(_said(answer))}</strong>. If that is what you mean, "
            "press Check once more.</p>"
        )


def _said(answer: Any) -> str:
    return " and ".join(map(str, answer)) if isinstance(answer, (list, tuple)) else str(answer)


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
    _load_own(exercise)
    _check_exercise(exercise)
    judge, _, form, hint, explanation, question, *_ = exercises()[exercise]
    record = ANSWERS if judge is None and record is None else record
    if answer is None:
        asked = f"{question} Answer with {form}." if question else f"answer with {form}"
        return Feedback(exercise, "no answer", asked, record=record)
    if record is not None:
        kept = records.record(record, exercise, answer)
        return Feedback(exercise, "recorded", f"{kept!r}; asked for: {form}", record=record)
    verdict, message, _ = judged(exercise, answer)
    _tries[exercise] = _tries.get(exercise, 0) + 1
    if verdict == "right":
        return Feedback(exercise, verdict, message, "", explanation())
    due = _tries[exercise] >= TRIES_BEFORE_EXPLANATION
    return Feedback(
        exercise,
        verdict,
        message,
        hint,
        explanation() if due else "",
        steps=tuple(worked(exercise)) if due else (),
    )


def _check_exercise(exercise: str) -> None:
    """Raise WrongValue for an unknown number; say whether the lecturer's file is there."""
    try:
        checks.choice("exercise", exercise, exercises())
    except checks.WrongValue as error:
        is_there = os.path.exists(OWN_FILE)
        file = f"{OWN_FILE} has no such exercise" if is_there else f"there is no {OWN_FILE} here"
        error.told = f"{error.told}; {file}"
        raise


def _load_own(exercise: str) -> None:
    """Read the lecturer's file again for an exercise that the course does not have."""
    if exercise not in course_exercises() and os.path.exists(OWN_FILE) and not _loading:
        _loading.append(exercise)
        try:
            load_exercises(OWN_FILE)
        finally:
            _loading.clear()


def load_exercises(path: str | os.PathLike) -> list[str]:
    """Run a lecturer's file of exercises, and return the numbers of those that it adds.

    Parameters
    ----------
    path : path
        A Python file that calls `workbench.exercise`.

    Raises
    ------
    ValueError
        If the file cannot be run, or adds a number twice.
    """
    added.clear()
    name = Path(path).name
    try:
        with contextlib.chdir(Path(path).resolve().parent):  # where the data of the exercises are
            runpy.run_path(name)
    except (Exception, SystemExit) as error:
        lines = [
            frame.lineno
            for frame in traceback.extract_tb(error.__traceback__)
            if Path(frame.filename).name == name
        ]
        place = f" (line {lines[-1]})" if lines else ""
        raise ValueError(f"{name} cannot be used: {error}{place}") from error
    twice = sorted({number for number in added if added.count(number) > 1})
    if twice:
        raise ValueError(f"{name} has two exercises {checks.listed(twice)}")
    return list(added)


def judged(exercise: str, answer: Any, **task: Any) -> Judged:
    """Return what an answer earns, with the data of the practice exercise or with others.

    Parameters
    ----------
    exercise : str
    answer : object
    **task
        The data of a variant, as `workbench.extras.classroom.variants` draws them.

    Examples
    --------
    >>> judged("2.1", 0.0616, differences=(0.10, -0.06, 0.04)).misconception
    'sum taken for the mean'
    """
    found = _verdict(exercise, answer, task)
    if found.verdict == "right" or not _may_be_in_percent(exercise, found):
        return found
    return _in_percent(exercise, answer, task) or found


def _may_be_in_percent(exercise: str, found: Judged) -> bool:
    """Return whether numbers may be shares in percent; a lecturer's own mistakes come first."""
    right = exercises()[exercise].answer
    shares = [part for part in right if isinstance(part, float) and abs(part) <= 1]
    return not right or (bool(shares) and found.verdict != "mistake")


def is_right(exercise: str, answer: Any, **task: Any) -> bool:
    """Return whether an answer is right, with the data of the practice exercise or with others."""
    return _verdict(exercise, answer, task).verdict == "right"


def _values(exercise: str, answer: Any) -> Any:
    read = exercises()[exercise].reader
    return (
        (answered(answer, read) if isinstance(read, int) else read(answer))
        if finite(answer)
        else None
    )


def _verdict(exercise: str, answer: Any, task: dict) -> Judged:
    judge, _, form, *_ = exercises()[exercise]
    values = _values(exercise, answer)
    return Judged(
        *((None if values is None else judge(values, **task)) or ("not yet", f"answer with {form}"))
    )


def _in_percent(exercise: str, answer: Any, task: dict) -> Judged | None:
    """Return the mistake of an answer that would be right, or a share at all, were some numbers not in percent."""
    judge, *_ = exercises()[exercise]
    values = _values(exercise, answer)
    values = values if isinstance(values, list) else []
    shares = [
        k
        for k, value in enumerate(values)
        if isinstance(value, numbers.Real) and 0 < abs(float(value)) <= 100
    ]
    for many in range(len(shares) if len(shares) <= MOST_NUMBERS else 0, 0, -1):
        for chosen in itertools.combinations(shares, many):
            tried = judge(
                [value / 100 if k in chosen else value for k, value in enumerate(values)], **task
            )
            if tried and tried[0] == "right":
                return _percent([values[k] for k in chosen])
    above = [values[k] for k in shares if abs(float(values[k])) > 1]
    return _percent(above) if above and exercise in SHARES else None


def _percent(values: list) -> Judged:
    return Judged(
        "mistake",
        f"{', '.join(f'{value:g}' for value in values)} in percent: give proportions, such as "
        f"{values[0] / 100:g}, or write the percent sign into the text box",
        "in percent",
    )


def worked(exercise: str, **task: Any) -> list[str]:
    """Return the solution of an exercise in steps, with the data of the practice exercise or with others.

    Parameters
    ----------
    exercise : str
    **task
        As in `judged`.

    Examples
    --------
    >>> worked("4.1")[-1]
    'Divide by .92 + .98 - 1 = .90: the true proportion is 0.150.'
    """
    steps = next(
        (
            part.STEPS
            for part in lessons.parts("exercises")
            if exercise in getattr(part, "STEPS", ())
        ),
        None,
    )
    return steps[exercise](**task) if steps else []


def start_over() -> None:
    """Forget all tries, as for the next student at the same machine."""
    _tries.clear()
