"""The predictions of a class as charts, without names or answers."""

import os
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from workbench import checks, lessons
from workbench.course.records import plain_answer
from workbench.extras.classroom.grading import student_folders
from workbench.extras.classroom.pages import page, picture
from workbench.extras.classroom.submissions import PREDICTIONS, NotPlainError, plain_entries
from workbench.reports.parameters import ReportError

if TYPE_CHECKING:
    import altair as alt

    from workbench.widgets.questions import Prediction

ASKS = "predict_"


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

    def words(self) -> str:
        """Return a description of the chart."""
        told = f"{checks.counted(len(self.answers), 'prediction')}, {self.left_out} missing."
        if self.choices:
            counts = Counter(self.answers)
            return (
                f"{told} "
                + "; ".join(f"{choice}: {counts[choice]}" for choice in self.choices)
                + "."
            )
        ends = [answer[-1] if isinstance(answer, list) else answer for answer in self.answers]
        return (
            f"{told} The {'last values' if self.lines else 'values'} range from {min(ends):g} to "
            f"{max(ends):g}."
        )

    @property
    def lines(self) -> bool:
        """Return whether students drew lines."""
        return any(isinstance(answer, list) for answer in self.answers)


def questions_asked() -> "list[Prediction]":
    """Return the questions of all lessons that ask for a prediction, in order."""
    asked = [
        ask()
        for module in lessons.parts("views")
        for name, ask in vars(module).items()
        if name.startswith(ASKS)
    ]
    return sorted(asked, key=lambda prediction: prediction.name.partition("-")[0])


def class_votes(folder: str | os.PathLike) -> tuple[list[Vote], list[str]]:
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
    kept, unread = [], []
    for student, path in student_folders(folder).items():
        try:
            kept.append(plain_entries(path / PREDICTIONS, "predictions by name"))
        except NotPlainError as error:
            kept.append({})  # a student without a prediction
            unread.append(f"{student}: {error}")
    votes = [vote for asked in questions_asked() if (vote := _vote(asked, kept)).answers]
    if not votes:
        raise ReportError(
            f"no student's folder in {os.fspath(folder)!r} has a prediction ({PREDICTIONS})"
            + (f"; not read: {checks.listed(unread)}" if unread else "")
        )
    return votes, unread


def _vote(asked: "Prediction", kept: list) -> Vote:
    choices = tuple(getattr(asked.control, "options", ()))
    usable = [
        answer
        for found in kept
        if (answer := _usable(found.get(asked.name), asked.control)) is not None
    ]
    return Vote(asked.question, choices, tuple(sorted(usable, key=str)), len(kept) - len(usable))


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

    count = alt.Y("count:Q", title="students", axis=alt.Axis(tickMinStep=1))
    if vote.choices:
        counts = Counter(vote.answers)
        rows = [{"choice": choice, "count": counts[choice]} for choice in vote.choices]
        drawn = (
            theme.Chart(theme.rows("votes", rows))
            .mark_bar(color=theme.ESTIMATE)
            .encode(
                x=alt.X(
                    "choice:N",
                    title="predicted",
                    sort=list(vote.choices),
                    axis=alt.Axis(labelAngle=0),
                ),
                y=count,
            )
        )
    elif vote.lines:
        rows = [
            {"student": k, "step": step, "value": value}
            for k, line in enumerate(vote.answers)
            for step, value in enumerate(line, 1)
        ]
        drawn = (
            theme.Chart(theme.rows("votes", rows))
            .mark_line(opacity=0.4, color=theme.ESTIMATE)
            .encode(
                x=alt.X(
                    "step:Q", title="point of the line", axis=alt.Axis(tickMinStep=1, grid=False)
                ),
                y=alt.Y("value:Q", title="predicted", scale=alt.Scale(zero=False)),
                detail="student:N",
            )
        )
    else:
        rows = [
            {"value": value, "count": number} for value, number in Counter(vote.answers).items()
        ]
        drawn = (
            theme.Chart(theme.rows("votes", rows))
            .mark_bar(width=6, color=theme.ESTIMATE)
            .encode(x=alt.X("value:Q", title="predicted"), y=count)
        )
    return theme.finish(
        drawn, f"What {checks.counted(len(vote.answers), 'student')} predicted", vote.words()
    )


def votes_page(votes: list[Vote]) -> str:
    """Return the predictions as a page for the lecture, without names or answers."""
    shown = [
        {
            "question": vote.question,
            "words": vote.words(),
            "picture": picture(chart(vote), vote.words()),
        }
        for vote in votes
    ]
    return page("votes.html.j2", title="What the class predicted", votes=shown)
