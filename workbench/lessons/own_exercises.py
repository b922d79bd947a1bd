"""Exercises that a lecturer adds, in a cell or in `my_exercises.py` next to the notebooks.

`exercise` comes first. The functions that make the rules of its feedback follow, and then those
that write the files for students and lecturers. `checking` reads the file.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from workbench import checks
from workbench.course.answers import finite, typed
from workbench.course.records import plain_answer
from workbench.lessons import checking
from workbench.lessons.checking import OWN, Feedback
from workbench.lessons.exercise import Exercise, in_words, is_near, without_spaces

RELATIVE = 0.005  # tolerance of a number with decimals, as a proportion of it
ROUNDING = 1e-9  # tolerance of a computed whole number
_NUMBER = re.compile(r"[1-9]\d?\.[1-9]\d?")
STUDENTS_HEAD = '''\
"""Exercises of this course. Your answers are recorded, and graded by your lecturer."""

import workbench as wb
'''
LECTURERS_HEAD = '''\
"""Exercises with their answers, for `workbench course grade`. Students must not get this file."""

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
    """Add an exercise of your own to a lesson.

    Call it in a cell or in `my_exercises.py` next to the notebooks. `check` then accepts the number
    of the exercise.

    Parameters
    ----------
    number : str
        Lesson and number, such as "3.5", but not the number of an exercise of the course.
    question : str
        Text of the question.
    answer : number, str, list or tuple, default None
        The correct answer: numbers and texts, alone or in one list. With None, answers are only
        recorded, as in a student's copy.
    mistakes : dict of answer to str, default None
        Incorrect answers, each with a text that says what is incorrect.
    hint : str, default ""
        Text shown after an incorrect answer.
    explanation : str, default ""
        Text shown after the correct answer, and after three incorrect answers.
    tolerance : float, default None
        Largest accepted difference of a number, at least 0. By default a whole number must be exact
        and a number with decimals must be within 0.5%. Texts are compared without regard to case
        and spaces.
    points : float, default 1
        Points for the whole answer in `workbench course grade`, at least 0. All parts of an answer
        count the same.
    answer_with : str, default ""
        Form of the answer, such as "(estimate, standard error)". By default it follows from
        `answer`.
    numbers : int, default 0
        Number of numbers that the question asks for, if `answer` is None.

    Returns
    -------
    Feedback
        The question, with a text box for the answer on a live page.

    Raises
    ------
    ValueError
        If the number has another form or is taken, or if students cannot type an answer.

    See Also
    --------
    check : Check an answer to an exercise.
    Feedback : Feedback on an answer to an exercise.

    Examples
    --------
    >>> made = exercise("3.5", "How many labels do 40 strata need at least?", answer=80,
    ...                 mistakes={40: "one label leaves the variance of a stratum unknown"})
    >>> import workbench as wb
    >>> wb.check("3.5", 80).verdict, wb.check("3.5", 40).message
    ('correct', 'one label leaves the variance of a stratum unknown')
    >>> _ = OWN.pop("3.5")      # remove this example
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
            raise checks.WrongValue("mistakes", "can be given only together with answer")
        form = answer_with or "your answer"
        OWN[number] = Exercise(form, numbers=numbers, hint=hint, question=question)
        return checking.check(number, None)
    right = _typeable("answer", answer)
    tolerance = None if tolerance is None else checks.number("tolerance", tolerance, 0)
    incorrect = {
        tuple(_typeable("mistakes", mistake, len(right))): text
        for mistake, text in mistakes.items()
    }
    tolerances = [_tolerance(part, tolerance) for part in right]
    kinds = ["any" if isinstance(part, str) else "number" for part in right]
    _check_mistakes(incorrect, right, tolerances)
    explained = f"the answer is {in_words(right)}" + (f"; {explanation}" if explanation else "")
    settings = {
        "answer": right,
        "mistakes": incorrect,
        "hint": hint,
        "explanation": explanation,
        "tolerance": tolerance,
        "points": points,
        "answer_with": answer_with,
    }
    OWN[number] = Exercise(
        answer_with or _form(right),
        _feedback(right, incorrect, tolerances),
        numbers=len(right),
        hint=hint,
        why=_literal(explained),
        parts=kinds if "any" in kinds else (),
        question=question,
        settings=settings,
    )
    return checking.check(number, None)


def _feedback(right: list, mistakes: Mapping, tolerances: list) -> list[dict]:
    """Return the rules: the correct answer, each mistake, and any other answer."""
    rules: list[dict] = [{"if": _conditions(right, tolerances), "correct": "{typed}"}]
    for mistake, text in mistakes.items():
        conditions = _conditions(mistake, tolerances)
        rules.append({"if": conditions, "mistake": _literal(text), "misconception": text})
    return [*rules, {"not yet": "this answer is not correct"}]


def _conditions(parts: Sequence, tolerances: list) -> list[dict]:
    return [
        {"part": number, "is": part, "within": _within(part, tolerance)}
        for number, (part, tolerance) in enumerate(zip(parts, tolerances, strict=True), 1)
    ]


def _within(part: float | str, tolerance: float) -> float:
    """Return a tolerance that allows for the rounding of a number."""
    return tolerance if isinstance(part, str) else tolerance + ROUNDING * abs(float(part))


def _literal(text: str) -> str:
    """Return a text in which braces are no placeholders."""
    return text.replace("{", "{{").replace("}", "}}")


def _check_mistakes(mistakes: Mapping, right: list, tolerances: list) -> None:
    kinds = [isinstance(part, str) for part in right]
    for mistake in mistakes:
        pairs = zip(mistake, right, tolerances, strict=True)
        if all(is_near(part, other, _within(other, margin)) for part, other, margin in pairs):
            rule = "must not contain the correct answer"
            raise checks.WrongValue("mistakes", rule, in_words(mistake))
        if [isinstance(part, str) for part in mistake] != kinds:
            rule = "must have numbers and texts in the same places as answer"
            raise checks.WrongValue("mistakes", rule, in_words(mistake))


def _check_texts(texts: Mapping, mistakes: Any) -> None:
    for name, text in texts.items():
        if not isinstance(text, str):
            raise checks.WrongType(name, "must be a string", text)
    if not texts["question"].strip():
        raise checks.WrongValue("question", "must not be empty", texts["question"])
    if not isinstance(mistakes, Mapping):
        rule = "must be a dict of incorrect answers and texts"
        raise checks.WrongType("mistakes", rule, mistakes)
    if not all(isinstance(text, str) for text in mistakes.values()):
        rule = "must have a text for each incorrect answer"
        raise checks.WrongType("mistakes", rule, mistakes)


def _check_number(number: str) -> None:
    if not isinstance(number, str) or not _NUMBER.fullmatch(number):
        rule = 'must consist of lesson and number, such as "3.5"'
        raise checks.WrongValue("number", rule, number)
    if number in checking.course_exercises():
        lesson = number.partition(".")[0]
        taken = [name for name in checking.course_exercises() if name.startswith(f"{lesson}.")]
        rule = f"must not be the number of a course exercise: {', '.join(taken)} are taken"
        raise checks.WrongValue("number", rule, number)


def _typeable(argument: str, answer: Any, parts: int | None = None) -> list:
    """Return the parts of an answer that a student can type, or raise."""
    try:
        plain_parts = plain_answer(answer)
    except ValueError as error:
        raise checks.WrongValue(argument, f"cannot be used: {error}", answer) from error
    values = plain_parts if isinstance(plain_parts, list) else [plain_parts]
    if not values or None in values or not finite(values):
        raise checks.WrongValue(argument, "must consist of finite numbers and texts", answer)
    if parts is not None and len(values) != parts:
        expected = checks.counted(parts, "part")
        raise checks.WrongValue(argument, f"must have {expected}, like answer", answer)
    for text in values:
        if isinstance(text, str) and (not isinstance(typed(text), str) or not without_spaces(text)):
            read = f"the text box reads it as {typed(text)!r}"
            rule = "must be texts that students can type"
            raise checks.WrongValue(argument, rule, text, told=read)
    return values


def _tolerance(part: float | str, tolerance: float | None) -> float:
    if tolerance is not None:
        return tolerance
    if isinstance(part, float):
        return max(RELATIVE * abs(part), ROUNDING)
    return ROUNDING


def _form(right: list) -> str:
    names = [_FORMS[type(part)] for part in right]
    return names[0] if len(names) == 1 else f"({', '.join(names)})"


_FORMS = {int: "a whole number", float: "a number", str: "a text"}


def students_file() -> str:
    """Return the students' file of exercises: the questions without their answers."""
    calls = []
    for number, entry in sorted(OWN.items()):
        settings: dict[str, Any] = {"answer_with": entry.form}
        if entry.count is not None:
            settings["numbers"] = entry.count
        calls.append(_call(number, settings))
    return STUDENTS_HEAD + "".join(calls)


def lecturers_file() -> str:
    """Return the lecturer's file of exercises: answers as values, to grade without data."""
    calls = (_call(number, entry.settings) for number, entry in sorted(OWN.items()))
    return LECTURERS_HEAD + "".join(calls)


def _call(number: str, settings: Mapping) -> str:
    arguments = "".join(f",\n    {name}={value!r}" for name, value in settings.items())
    return f"\nwb.exercise(\n    {number!r},\n    {OWN[number].question!r}{arguments},\n)\n"
