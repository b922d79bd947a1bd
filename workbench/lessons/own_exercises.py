"""Exercises that a lecturer adds, in a cell or in `my_exercises.py` next to the notebooks.

`exercise` comes first. Then come how an answer is compared, and what students get of the file.
`checking` reads the file.
"""

import re
from collections.abc import Mapping
from typing import Any

from workbench import checks
from workbench.course.answers import Judged, answered, finite, typed
from workbench.course.records import plain_answer
from workbench.lessons import checking
from workbench.lessons.checking import OWN, Exercise, Feedback

RELATIVE = 0.005  # tolerance of a number with decimals, as a proportion of it
ROUNDING = 1e-9  # a whole number that was computed
_NUMBER = re.compile(r"[1-9]\d?\.[1-9]\d?")
STUDENTS_HEAD = '''"""Exercises of this course. Your answers are recorded, and graded by your lecturer."""

import workbench as wb
'''
LECTURERS_HEAD = '''"""Exercises with their answers, for `workbench grade`. Students must not get this file."""

import workbench as wb
'''


def exercise(
    number: str,
    question: str,
    *,
    answer: Any = None,
    mistakes: Mapping | None = None,
    hint: str = "",
    explanation: str = "",
    tolerance: float | None = None,
    points: float = 1,
    answer_with: str = "",
    numbers: int = 0,
) -> Feedback:
    """Add an exercise of your own, which `check` then knows by its number.

    Parameters
    ----------
    number : str
        Lesson and number, such as "3.5"; not the number of an exercise of the course.
    question : str
    answer : number, str, or list or tuple of these
        The right answer. Without it an answer is only recorded, as in a student's copy.
    mistakes : dict of answer to str
        Wrong answers with what is wrong about each.
    hint : str
        Shown after a wrong answer.
    explanation : str
        Shown after the right answer, and after three wrong ones.
    tolerance : float, optional
        How far a number may be off. By default a whole number must be exact and a number with
        decimals within 0.5%. Texts are compared without regard to case and spaces.
    points : float
        The points of the whole answer in `workbench grade`; parts of an answer count the same.
    answer_with : str
        The form of the answer, such as "(estimate, standard error)"; by default made from the
        answer.
    numbers : int
        How many numbers are asked for, where there is no answer to tell.

    Returns
    -------
    Feedback
        The question, on a live page with a box for the answer.

    Raises
    ------
    ValueError
        If the number is taken or none, or an answer is not one that a student can type.

    Examples
    --------
    >>> made = exercise("3.5", "How many labels do 40 strata need at least?", answer=80,
    ...                 mistakes={40: "one label leaves the variance of a stratum unknown"})
    >>> check = checking.check
    >>> check("3.5", 80).verdict, check("3.5", 40).message
    ('right', 'one label leaves the variance of a stratum unknown')
    >>> _ = OWN.pop("3.5")
    """
    _check_number(number)
    checking.added.append(number)
    mistakes = {} if mistakes is None else mistakes
    texts = {
        "question": question,
        "hint": hint,
        "explanation": explanation,
        "answer_with": answer_with,
    }
    _check_texts(texts, mistakes)
    checks.number("points", points, 0)
    checks.whole("numbers", numbers, 0)
    if answer is None:
        if mistakes:
            raise checks.WrongValue("mistakes", "need an answer beside them")
        reader = numbers or (lambda recorded: recorded)
        OWN[number] = Exercise(None, reader, answer_with or "your answer", hint, str, question)
        return checking.check(number, None)
    right = _typeable("answer", answer)
    tolerance = None if tolerance is None else checks.number("tolerance", tolerance, 0)
    wrong = {
        tuple(_typeable("mistakes", mistake, len(right))): text
        for mistake, text in mistakes.items()
    }
    tolerances = [_tolerance(part, tolerance) for part in right]
    kinds = [isinstance(part, str) for part in right]
    for mistake in wrong:
        if _same(list(mistake), right, tolerances):
            raise checks.WrongValue("mistakes", "must not hold the right answer", _words(mistake))
        if [isinstance(part, str) for part in mistake] != kinds:
            rule = "must have numbers and texts where the answer has them"
            raise checks.WrongValue("mistakes", rule, _words(mistake))

    def judge(values: list) -> Judged:
        if _same(values, right, tolerances):
            return Judged("right", _words(values))
        for mistake, text in wrong.items():
            if _same(values, list(mistake), tolerances):
                return Judged("mistake", text, text)
        return Judged("not yet", "this is not the answer")

    explained = f"the answer is {_words(right)}" + (f"; {explanation}" if explanation else "")

    def explain() -> str:
        return explained

    OWN[number] = Exercise(
        judge,
        _reader(right),
        answer_with or _form(right),
        hint,
        explain,
        question,
        tuple(right),
        points,
        {
            "answer": right,
            "mistakes": wrong,
            "hint": hint,
            "explanation": explanation,
            "tolerance": tolerance,
            "points": points,
            "answer_with": answer_with,
        },
    )
    return checking.check(number, None)


def _check_texts(texts: Mapping, mistakes: Any) -> None:
    for name, text in texts.items():
        if not isinstance(text, str):
            raise checks.WrongType(name, "must be a text", text)
    if not texts["question"].strip():
        raise checks.WrongValue("question", "must be a text that is not empty", texts["question"])
    if not isinstance(mistakes, Mapping):
        raise checks.WrongType("mistakes", "must be a dict of wrong answers and texts", mistakes)
    if not all(isinstance(text, str) for text in mistakes.values()):
        raise checks.WrongType("mistakes", "must have a text for each wrong answer", mistakes)


def _check_number(number: str) -> None:
    if not isinstance(number, str) or not _NUMBER.fullmatch(number):
        raise checks.WrongValue("number", 'must be lesson and number, such as "3.5"', number)
    if number in checking.course_exercises():
        lesson = number.partition(".")[0]
        taken = [name for name in checking.course_exercises() if name.startswith(f"{lesson}.")]
        raise checks.WrongValue(
            "number", f"must not be one of the course: {', '.join(taken)} are taken", number
        )


def _typeable(argument: str, answer: Any, parts: int | None = None) -> list:
    """Return the parts of an answer that a student can type, or raise."""
    try:
        plain = plain_answer(answer)
    except ValueError as error:
        raise checks.WrongValue(argument, f"cannot be used: {error}", answer) from error
    values = plain if isinstance(plain, list) else [plain]
    if not values or None in values or not finite(values):
        raise checks.WrongValue(argument, "must be finite numbers and texts", answer)
    if parts is not None and len(values) != parts:
        expected = checks.counted(parts, "part")
        raise checks.WrongValue(argument, f"must have {expected}, as the answer has", answer)
    for text in values:
        if isinstance(text, str) and (not isinstance(typed(text), str) or not _spaced(text)):
            read = f"a box for answers reads it as {typed(text)!r}"
            raise checks.WrongValue(argument, "must be texts that can be typed", text, told=read)
    return values


def _tolerance(part: float | str, tolerance: float | None) -> float:
    if tolerance is not None:
        return tolerance
    if isinstance(part, float):
        return max(RELATIVE * abs(part), ROUNDING)
    return ROUNDING


def _same(values: list, others: list, tolerances: list) -> bool:
    """Return whether two answers agree, part by part."""
    return len(values) == len(others) and all(map(_same_part, values, others, tolerances))


def _same_part(value: Any, other: Any, tolerance: float) -> bool:
    if isinstance(value, str) or isinstance(other, str):
        return _spaced(str(value)) == _spaced(str(other))
    return abs(float(value) - float(other)) <= tolerance + ROUNDING * abs(float(other))


def _spaced(text: str) -> str:
    """Return a text without regard to case, spaces and a full stop at its end."""
    return "".join(text.casefold().split()).rstrip(".!")


def _reader(right: list) -> Any:
    """Return what reads an answer with the parts of the right one."""
    kinds = [isinstance(part, str) for part in right]
    if not any(kinds):
        return len(right)

    def read(answer: Any) -> list | None:
        values = list(answer) if isinstance(answer, (list, tuple)) else [answer]
        if len(values) != len(kinds):
            return None
        numeric = [value for value, is_text in zip(values, kinds, strict=True) if not is_text]
        return values if not numeric or answered(numeric, len(numeric)) else None

    return read


def _form(right: list) -> str:
    names = [_FORMS[type(part)] for part in right]
    return names[0] if len(names) == 1 else f"({', '.join(names)})"


_FORMS = {int: "a whole number", float: "a number", str: "a text"}


def _words(values: Any) -> str:
    return ", ".join(value if isinstance(value, str) else f"{value:g}" for value in values)


def students_file(numbers: list[str]) -> str:
    """Return the file of exercises as students get it: questions, and no answers."""
    calls = []
    for number in sorted(numbers):
        entry = OWN[number]
        settings: dict[str, Any] = {"answer_with": entry.form}
        if isinstance(entry.reader, int):
            settings["numbers"] = entry.reader
        calls.append(_call(number, settings))
    return STUDENTS_HEAD + "".join(calls)


def lecturers_file(numbers: list[str]) -> str:
    """Return a file of exercises with their answers as values, for grading without data."""
    return LECTURERS_HEAD + "".join(_call(number, OWN[number].settings) for number in numbers)


def _call(number: str, settings: Mapping) -> str:
    words = "".join(f",\n    {name}={value!r}" for name, value in settings.items())
    return f"\nwb.exercise(\n    {number!r},\n    {OWN[number].question!r}{words},\n)\n"
