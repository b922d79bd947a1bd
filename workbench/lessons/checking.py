"""Check an answer to an exercise and return feedback: a verdict, then a hint, then an explanation.

`check` comes first in use. It computes the correct answers from the digit forms; none is stored.

In a student's copy of a lesson, some exercises are graded. They have data of the student's own, and
`check` only records the answer. On a live page, an exercise without an answer shows a text box. An
answer typed there gets the same feedback as one in a cell.
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
MOST_NUMBERS = 6  # numbers that an exercise may ask for
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
ANSWERS = "answers.json"  # the file that students hand in
OWN_FILE = "my_exercises.py"  # in the folder of the notebooks
MARKS = {
    "correct": "&#10003;",
    "mistake": "&#10007;",
    "not yet": "&#8230;",
    "no answer": "?",
    "recorded": "&#9998;",
}
_tries: dict[str, int] = {}
_loading: list[str] = []  # the exercise for which the lecturer's file is being read


class Exercise(NamedTuple):
    """An exercise: how its answers are read and judged, and its texts.

    The last four attributes belong to exercises that a lecturer added.

    Attributes
    ----------
    judge : callable or None
        Function that takes the parts of an answer and the data of a variant, and returns a verdict.
        None if answers are only recorded.
    reader : int or callable
        Number of numbers that the judge takes, or a function that returns the parts of an answer.
    form : str
        Description of what to answer with.
    hint : str
        Text shown after an incorrect answer.
    explanation : callable
        Function that returns the explanation.
    question : str
        Text of the question.
    answer : tuple
        Parts of the correct answer.
    points : float
        Points for the whole answer.
    settings : dict
        Arguments of `workbench.exercise` except number and question.
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
    """Return numbers as text for a step of a solution."""
    return ", ".join(f"{value:.{digits}f}" for value in values)


def parts_of(count: int) -> Callable[[Any], list | None]:
    """Return a function that reads an answer as `count` parts of any kind."""

    def read(answer: Any) -> list | None:
        parts = list(answer) if isinstance(answer, (list, tuple)) else []
        return parts if len(parts) == count else None

    return read


def exercises() -> dict[str, Exercise]:
    """Return every exercise by its number, those of the course first.

    Reader or judge return None for an answer that does not have the required form.
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
        import html

        mark = MARKS.get(self.verdict, "")
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
            _Reading(self.exercise, self.record).feedback_on,
        )


class _Reading:
    """The reader of a text box.

    If a cell would read a text differently, the learner first confirms how it was read.
    """

    def __init__(self, exercise: str, record: str | None) -> None:
        self.exercise, self.record, self.shown = exercise, record, ""

    def feedback_on(self, text: str) -> str:
        """Return the feedback on a typed answer, or how the answer was read, as HTML."""
        import html

        asked = exercises()[self.exercise].reader
        count = asked if isinstance(asked, int) else None
        answer = typed(text, count)
        if text == self.shown or is_as_in_a_cell(text, count):
            return check(self.exercise, answer, record=self.record)._repr_html_()
        self.shown = text
        return (
            f"<p role='status'>Your answer was read as <strong>{html.escape(_in_words(answer))}"
            "</strong>. If that is what you mean, press Check once more.</p>"
        )


def _in_words(answer: Any) -> str:
    return " and ".join(map(str, answer)) if isinstance(answer, (list, tuple)) else str(answer)


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
    judge, _, form, hint, explanation, question, *_ = exercises()[exercise]
    record = ANSWERS if judge is None and record is None else record
    if answer is None:
        request = f"{question} Answer with {form}." if question else f"answer with {form}"
        return Feedback(exercise, "no answer", request, record=record)
    if record is not None:
        kept = records.record(record, exercise, answer)
        message = f"{kept!r}; the exercise asks for {form}"
        return Feedback(exercise, "recorded", message, record=record)
    verdict, message, _ = judged(exercise, answer)
    _tries[exercise] = _tries.get(exercise, 0) + 1
    if verdict == "correct":
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
        place = f" (line {lines[-1]})" if lines else ""
        raise ValueError(f"{name} cannot be used: {error}{place}") from error
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
    found = _verdict(exercise, answer, task)
    if found.verdict == "correct" or not _may_be_in_percent(exercise, found):
        return found
    return _in_percent(exercise, answer, task) or found


def _may_be_in_percent(exercise: str, found: Judged) -> bool:
    """Return whether numbers may be percentages; a lecturer's own mistakes come first."""
    right = exercises()[exercise].answer
    shares = [part for part in right if isinstance(part, float) and abs(part) <= 1]
    return not right or (bool(shares) and found.verdict != "mistake")


def is_right(exercise: str, answer: Any, **task: Any) -> bool:
    """Return whether an answer is correct, with practice data or those of a variant."""
    return _verdict(exercise, answer, task).verdict == "correct"


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
    """Return the mistake of giving percentages, or None.

    It is one if the answer would be correct with some numbers divided by 100, or if a number that
    must be a proportion is above 1.
    """
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
            if tried and tried[0] == "correct":
                return _percent([values[k] for k in chosen])
    above = [values[k] for k in shares if abs(float(values[k])) > 1]
    return _percent(above) if above and exercise in SHARES else None


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
    """Forget all tries, for example for the next student at the same machine."""
    _tries.clear()
