"""Check an answer to an exercise and return feedback: a verdict, then a hint, then an explanation.

Start with `check`. The module `exercise` defines an exercise and how its answers are judged.

In a student's copy of a lesson, some exercises are graded. They have data of the student's own, and
`check` only records the answer. On a live page, an exercise without an answer shows a text box. An
answer typed there gets the same feedback as one in a cell.
"""

import contextlib
import functools
import html
import itertools
import numbers
import os
import runpy
import traceback
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from workbench import checks, lessons
from workbench.course import records
from workbench.course.answers import LONGEST_TEXT, Judged, is_as_in_a_cell, typed
from workbench.lessons.exercise import Exercise
from workbench.results import Result

TRIES_BEFORE_EXPLANATION = 3
MOST_NUMBERS = 6  # numbers that an exercise may ask for
ANSWERS = "answers.json"  # the file that students hand in
OWN_FILE = "my_exercises.py"  # in the folder of the notebooks
SYMBOLS = {
    "correct": "&#10003;",
    "mistake": "&#10007;",
    "not yet": "&#8230;",
    "no answer": "?",
    "recorded": "&#9998;",
}
_tries: dict[str, int] = {}
_loading: list[str] = []  # the exercise for which the lecturer's file is being read
OWN: dict[str, Exercise] = {}  # exercises that a lecturer added, by number
added: list[str] = []  # their numbers in the order of the calls


def exercises() -> dict[str, Exercise]:
    """Return every exercise by its number, those of the course first."""
    return course_exercises() | OWN


@functools.cache
def course_exercises() -> dict[str, Exercise]:
    """Return the exercises of the course by number."""
    return {
        number: exercise
        for part in lessons.parts("exercises")
        for number, exercise in part.exercises().items()
    }


class Feedback(Result):
    """Feedback on an answer to an exercise.

    `check` and `exercise` return it. A notebook shows it with the help that is due.

    Attributes
    ----------
    exercise : str
        Number of the exercise, such as "1.1".
    verdict : {"correct", "mistake", "not yet", "no answer", "recorded"}
        "mistake" is an incorrect answer whose cause is known, "not yet" any other incorrect answer.
    message : str
        The correct values, the mistake, what to answer with, or the recorded answer.
    hint : str
        Hint after an incorrect answer, else "".
    explanation : str
        Explanation after a correct answer or after three tries, else "".
    record : str or None
        File in which the answer is recorded, if any.
    steps : tuple of str
        Worked solution after three incorrect answers, else empty.

    See Also
    --------
    check : Check an answer to an exercise.
    exercise : Add an exercise of your own.

    Examples
    --------
    >>> check("4.3", "mixed mixed neither").message
    'think again about: lost forms'
    """

    exercise: str
    verdict: str
    message: str
    hint: str = ""
    explanation: str = ""
    record: str | None = None
    steps: tuple = ()

    def headline(self) -> str:
        """Return the verdict, the message and the help that is due."""
        lines = (f"{name} {text}" for name, text in self._help())
        return " ".join([f"{self.exercise} {self.verdict}: {self.message}", *lines])

    def _help(self) -> list[tuple[str, str]]:
        solution = " ".join(f"({number}) {step}" for number, step in enumerate(self.steps, 1))
        texts = {"Hint:": self.hint, "Step by step:": solution, "Why:": self.explanation}
        return [(name, text) for name, text in texts.items() if text]

    def rows(self) -> list[dict]:
        """Return the feedback as one row."""
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
        symbol = SYMBOLS.get(self.verdict, "")
        help_lines = "".join(
            f"<br><em>{name}</em> {html.escape(text)}" for name, text in self._help()
        )
        return (
            f"<p role='status'><strong>{symbol} {html.escape(self.exercise)} {self.verdict}"
            f"</strong>: {html.escape(self.message)}{help_lines}</p>"
        )

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict:
        bundle = super()._repr_mimebundle_(include, exclude)
        if self.verdict == "no answer":
            from workbench.widgets import pages

            if pages.is_live():
                return bundle | self._box()._repr_mimebundle_()[0] | {"text/plain": repr(self)}
        return bundle

    def _box(self) -> Any:
        from workbench.widgets.answer_box import AnswerBox

        return AnswerBox(
            self.exercise,
            exercises()[self.exercise].form,
            self._repr_html_(),
            LONGEST_TEXT,
            _Reading(self.exercise, self.record).feedback_on,
        )


class _Reading:
    """The reader of a text box.

    If a cell would read a text differently, the learner first confirms how it was read.
    """

    def __init__(self, exercise: str, record: str | None) -> None:
        self.exercise, self.record, self.unconfirmed = exercise, record, ""

    def feedback_on(self, text: str) -> str:
        """Return the feedback on a typed answer, or how the answer was read, as HTML."""
        count = exercises()[self.exercise].count
        answer = typed(text, count)
        if text == self.unconfirmed or is_as_in_a_cell(text, count):
            return check(self.exercise, answer, record=self.record)._repr_html_()
        self.unconfirmed = text
        parts = answer if isinstance(answer, (list, tuple)) else [answer]
        return (
            f"<p role='status'>Your answer was read as <strong>"
            f"{html.escape(' and '.join(map(str, parts)))}</strong>. If that is what you mean, "
            "press Check once more.</p>"
        )


def check(exercise: str, answer: Any, *, record: str | None = None) -> Feedback:
    """Check an answer to an exercise of the course, or record it for grading.

    An incorrect answer gets a hint. After three tries the feedback includes the worked solution and
    an explanation. A correct answer gets the explanation at once.

    Parameters
    ----------
    exercise : str
        Number of the exercise, such as "1.1".
    answer : number, str, list, tuple or None
        The answer in the form that the exercise asks for. None shows this form.
    record : str, default None
        File in which the answer is recorded instead of being checked, as in a student's copy of a
        lesson.

    Returns
    -------
    Feedback
        The verdict with a message, and the help that is due.

    Raises
    ------
    ValueError
        If there is no such exercise, if an answer to record is not made of numbers and texts, or if
        the file is damaged.

    See Also
    --------
    exercise : Add an exercise of your own.
    Feedback : Feedback on an answer to an exercise.

    Examples
    --------
    >>> check("1.1", (0.88, 0.0288)).verdict
    'correct'
    """
    _load_own(exercise)
    _check_exercise(exercise)
    entry = exercises()[exercise]
    record = ANSWERS if entry.feedback is None and record is None else record
    if answer is None:
        request = f"answer with {entry.form}"
        if entry.question:
            request = f"{entry.question} Answer with {entry.form}."
        return Feedback(exercise, "no answer", request, record=record)
    if record is not None:
        stored = records.record(record, exercise, answer)
        message = f"{stored!r}; the exercise asks for {entry.form}"
        return Feedback(exercise, "recorded", message, record=record)
    verdict, message, _ = judged(exercise, answer)
    _tries[exercise] = _tries.get(exercise, 0) + 1
    if verdict == "correct":
        return Feedback(exercise, verdict, message, explanation=entry.explanation())
    if _tries[exercise] < TRIES_BEFORE_EXPLANATION:
        return Feedback(exercise, verdict, message, entry.hint)
    steps = tuple(entry.solution())
    return Feedback(exercise, verdict, message, entry.hint, entry.explanation(), steps=steps)


def _check_exercise(exercise: str) -> None:
    """Raise WrongValue for an unknown number, and say whether the lecturer's file exists."""
    try:
        checks.choice("exercise", exercise, exercises())
    except checks.WrongValue as error:
        is_there = os.path.exists(OWN_FILE)
        missing_file = f"there is no {OWN_FILE} in this folder"
        file = f"{OWN_FILE} has no such exercise" if is_there else missing_file
        error.told = f"{error.told}; {file}"
        raise


def _load_own(exercise: str) -> None:
    """Read the lecturer's file again if the course does not have the exercise."""
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
        with contextlib.chdir(Path(path).resolve().parent):  # the folder with the exercises' data
            runpy.run_path(name)
    except (Exception, SystemExit) as error:
        lines = [
            frame.lineno
            for frame in traceback.extract_tb(error.__traceback__)
            if Path(frame.filename).name == name
        ]
        line = f" (line {lines[-1]})" if lines else ""
        raise ValueError(f"{name} cannot be used: {error}{line}") from error
    twice = sorted({number for number in added if added.count(number) > 1})
    if twice:
        raise ValueError(f"{name} must add each exercise once; it repeats {checks.listed(twice)}")
    return list(added)


def judged(exercise: str, answer: Any, **task: Any) -> Judged:
    """Return the verdict on an answer, with the data of the practice exercise or of a variant.

    Parameters
    ----------
    exercise : str
        Number of the exercise.
    answer : object
        The answer.
    **task
        The data of a variant, as `workbench.extras.classroom.variants` samples them.

    Examples
    --------
    >>> judged("2.1", 0.0616, differences=(0.10, -0.06, 0.04)).misconception
    'the sum over districts was not divided by their number'
    """
    entry = exercises()[exercise]
    parts, values = entry.read(answer), entry.values(**task)
    feedback = entry.judged(parts, values)
    shares = [part for part in entry.answer if isinstance(part, float) and abs(part) <= 1]
    # a lecturer's own mistakes come first, and only their shares may be percentages
    is_final = entry.answer and (not shares or feedback.verdict == "mistake")
    if feedback.verdict == "correct" or is_final or not isinstance(parts, list):
        return feedback
    return _in_percent(entry, parts, values) or feedback


def is_right(exercise: str, answer: Any, **task: Any) -> bool:
    """Return whether an answer is correct, with practice data or those of a variant."""
    entry = exercises()[exercise]
    return entry.judged(entry.read(answer), entry.values(**task)).verdict == "correct"


def _in_percent(entry: Exercise, parts: list, values: Mapping) -> Judged | None:
    """Return the mistake of giving percentages, or None.

    It is one if the answer would be correct with some numbers divided by 100, or if a number that
    must be a proportion is above 1.
    """
    indices = [
        index
        for index, part in enumerate(parts)
        if isinstance(part, numbers.Real) and 0 < abs(float(part)) <= 100
    ]
    for percentages in _subsets(indices if len(indices) <= MOST_NUMBERS else []):
        proportions = list(parts)
        for index in percentages:
            proportions[index] = parts[index] / 100
        if entry.judged(proportions, values).verdict == "correct":
            return _percent([parts[index] for index in percentages])
    above = [parts[index] for index in indices if abs(float(parts[index])) > 1]
    return _percent(above) if above and entry.proportions else None


def _subsets(indices: list[int]) -> Iterator[tuple[int, ...]]:
    """Yield the subsets of the indices, the largest first, but not the empty one."""
    for size in range(len(indices), 0, -1):
        yield from itertools.combinations(indices, size)


def _percent(values: list) -> Judged:
    return Judged(
        "mistake",
        f"{', '.join(f'{value:g}' for value in values)} in percent: give proportions, such as "
        f"{values[0] / 100:g}, or write the percent sign into the text box",
        "the answer is in percent",
    )


def worked(exercise: str, **task: Any) -> list[str]:
    """Return the worked solution, with the data of the practice exercise or of a variant.

    Parameters
    ----------
    exercise : str
        Number of the exercise.
    **task
        The data of a variant, as in `judged`.

    Examples
    --------
    >>> worked("4.1")[-1]
    'Divide by .92 + .98 - 1 = .90: the true proportion is 0.150.'
    """
    return exercises()[exercise].solution(**task)
