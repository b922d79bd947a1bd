"""The predictions of a class as charts, without names or answers."""

import os
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from workbench import checks, lessons
from workbench.course.records import plain_answer
from workbench.data.whole_files import StrPath
from workbench.extras.classroom.grading import student_folders
from workbench.extras.classroom.pages import page, picture
from workbench.extras.classroom.submissions import PREDICTIONS, NotPlainError, plain_entries
from workbench.reports.parameters import ReportError

if TYPE_CHECKING:
    import altair as alt

    from workbench.widgets.questions import Prediction

PREDICTING = "predict_"  # beginning of the functions of the lessons


@dataclass(frozen=True)
class Vote:
    """The predictions of a class for one question.

    Attributes
    ----------
    question : str
        The question.
    choices : tuple of str
        The choices, empty if the answer is a number or a line of several numbers.
    answers : tuple
        A choice, a number or a list of numbers per student, in an order that identifies nobody.
    left_out : int
        Number of students without a valid prediction.
    """

    question: str
    choices: tuple[str, ...]
    answers: tuple[Any, ...]
    left_out: int

    def description(self) -> str:
        """Return a description of the chart."""
        predictions = checks.counted(len(self.answers), "prediction")
        text = f"{predictions}, {self.left_out} missing."
        if self.choices:
            counts = [f"{choice}: {self.answers.count(choice)}" for choice in self.choices]
            return f"{text} {'; '.join(counts)}."
        values = "last values" if self.lines else "values"
        ends = [answer[-1] if isinstance(answer, list) else answer for answer in self.answers]
        return f"{text} The {values} range from {min(ends):g} to {max(ends):g}."

    @property
    def lines(self) -> bool:
        """Return whether students drew lines."""
        return any(isinstance(answer, list) for answer in self.answers)


def lesson_questions() -> "list[Prediction]":
    """Return the questions of all lessons that ask for a prediction, in order."""
    questions = [
        function()
        for module in lessons.parts("views")
        for name, function in vars(module).items()
        if name.startswith(PREDICTING)
    ]
    return sorted(questions, key=lambda question: question.name.partition("-")[0])


def class_votes(folder: StrPath) -> tuple[list[Vote], list[str]]:
    """Return the predictions of a class, and the problems of files that could not be read.

    No code of students is run.

    Parameters
    ----------
    folder : path
        Folder with one folder per student, named by the id. The lessons write `predictions.json`
        to it.

    Raises
    ------
    ReportError
        If the folder cannot be read, or no student made a prediction.
    """
    classmates: list[dict] = []
    unread = []
    for student, path in student_folders(folder)[0].items():
        try:
            classmates.append(plain_entries(path / PREDICTIONS, "predictions by name"))
        except NotPlainError as error:
            classmates.append({})  # a student without a prediction
            unread.append(f"{student}: {error}")
    votes = []
    for question in lesson_questions():
        values = [_usable(answers.get(question.name), question.control) for answers in classmates]
        answers = tuple(sorted((value for value in values if value is not None), key=str))
        if answers:
            choices = tuple(getattr(question.control, "options", ()))
            votes.append(Vote(question.question, choices, answers, values.count(None)))
    if not votes:
        problems = f"; not read: {checks.listed(unread)}" if unread else ""
        raise ReportError(
            f"no student's folder in {os.fspath(folder)!r} has a prediction ({PREDICTIONS})"
            f"{problems}"
        )
    return votes, unread


def _usable(value: Any, control: Any) -> Any:
    """Return a prediction if the question's control accepts it, or None."""
    from traitlets import TraitError

    try:
        value = plain_answer(value)
        control.value = value
    except (TraitError, TypeError, ValueError):
        return None
    # a control may change a number to be in its range
    return value if control.value == value else None


def chart(vote: Vote) -> "alt.TopLevelMixin":
    """Return a chart of predictions: bars per choice or number, or a line per student."""
    import altair as alt

    from workbench.charts import theme

    if vote.lines:
        rows = [
            {"student": student, "step": step, "value": value}
            for student, line in enumerate(vote.answers)
            for step, value in enumerate(line, 1)
        ]
        points = max(row["step"] for row in rows)
        axis = theme.whole_numbers(points - 1, grid=False)
        layer = theme.Chart(theme.rows("votes", rows)).mark_line(opacity=0.4, color=theme.ESTIMATE)
        layer = layer.encode(
            x=alt.X("step:Q", title="point of the line", axis=axis),
            y=alt.Y("value:Q", title="predicted", scale=alt.Scale(zero=False)),
            detail="student:N",
        )
    else:
        counts = Counter(vote.answers)
        rows = [{"value": value, "count": counts[value]} for value in vote.choices or counts]
        x = alt.X("value:Q", title="predicted")
        size = {"width": 6}
        if vote.choices:
            axis = alt.Axis(labelAngle=0)
            x = alt.X("value:N", title="predicted", sort=list(vote.choices), axis=axis)
            size = {}
        axis = theme.whole_numbers(max(counts.values()))
        y = alt.Y("count:Q", title="students", axis=axis)
        layer = theme.Chart(theme.rows("votes", rows)).mark_bar(color=theme.ESTIMATE, **size)
        layer = layer.encode(x=x, y=y)
    title = f"What {checks.counted(len(vote.answers), 'student')} predicted"
    return theme.finish(layer, title, vote.description())


def votes_page(votes: list[Vote]) -> str:
    """Return the predictions as a page for the lecture, without names or answers."""
    rows = []
    for vote in votes:
        text = vote.description()
        rows.append((vote.question, picture(chart(vote), text), text))
    return page("votes.html.j2", title="What the class predicted", votes=rows)
