"""The intervals of a class in one chart: each student audited another sample of the same forms."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench import checks, intervals
from workbench.course.answers import answered
from workbench.extras.classroom.grading import OTHERS, Graded, Grades
from workbench.extras.classroom.pages import page, picture
from workbench.extras.classroom.seeds import draws
from workbench.extras.classroom.variants import AUDIT, task_of
from workbench.lessons.stratified.exercises import fifths
from workbench.reports.parameters import ReportError
from workbench.stratified.accuracy import stratified_accuracy

if TYPE_CHECKING:
    import altair as alt

LEVEL = 0.95
VERDICTS = ("contains the true value", "misses it")


@dataclass(frozen=True)
class ClassStrip:
    """The intervals of a class.

    Attributes
    ----------
    truth : float
        The true accuracy.
    rows : tuple of dict
        Estimate, low and high of each interval as the student reported them, and the verdict.
    default_missed : int
        Number of default intervals from the same labels that miss the true accuracy.
    left_out : int
        Number of students without a valid answer.
    copied : int
        Number of students whose answer is correct for another student's labels.
    """

    truth: float
    rows: tuple[dict, ...]
    default_missed: int
    left_out: int
    copied: int = 0

    @property
    def missed(self) -> int:
        """Return the number of reported intervals that miss the true accuracy."""
        return sum(row["verdict"] == VERDICTS[1] for row in self.rows)

    def texts(self) -> tuple[str, str]:
        """Return title and description of the chart."""
        count = len(self.rows)
        intervals_of_class = checks.counted(count, "interval")
        title = f"{self.missed} of our {intervals_of_class} missed the true accuracy"
        text = (
            f"{count} audits of the same forms, each with another random sample of 100 labels. The "
            f"intervals are the reported estimates plus and minus 1.96 standard errors. {title} "
            f"of {self.truth:.3f}; with a coverage of {LEVEL:.0%}, about "
            f"{(1 - LEVEL) * count:.0f} would miss it. Of the default intervals from the same "
            f"labels, {self.default_missed} miss it."
        )
        if self.left_out:
            students = checks.counted(self.left_out, "student")
            text += f" {students} gave no estimate with a standard error."
        if self.copied:
            answers = checks.counted(self.copied, "answer was", "answers were")
            subject = "it is" if self.copied == 1 else "they are"
            text += f" {answers} left out, because {subject} for another student's audit."
        return title, text


def class_strip(grades: Grades, secret: bytes) -> ClassStrip:
    """Return the intervals that a class reported, in an order that identifies nobody.

    Parameters
    ----------
    grades : Grades
        Grades of the class.
    secret : bytes
        Secret of the course.

    Raises
    ------
    ReportError
        If no student gave an estimate and a standard error.
    """
    size, right, _ = fifths()
    truth = float(right.sum() / size.sum())
    copied = {
        student.student
        for student in grades.students
        for row in student.assessments
        if (row.exercise, row.verdict) == (AUDIT, OTHERS)
    }
    own = [student for student in grades.students if student.student not in copied]
    reported = {student.student: _reported(student) for student in own}
    answers = {student: values for student, values in reported.items() if values}
    if not answers:
        raise ReportError(
            f"no student gave an estimate with its standard error in exercise {AUDIT}"
        )
    default_missed = 0
    for student in answers:
        task = task_of(secret, student, AUDIT)
        accuracy = stratified_accuracy(task["size"], task["labeled"], task["right"])
        default_missed += truth not in accuracy.interval(LEVEL)
    order = sorted(
        answers,
        key=lambda student: draws(secret, student, "order in the strip").number(0, 1, 12),
    )
    rows = [_row(number, answers[student], truth) for number, student in enumerate(order, 1)]
    left_out = len(own) - len(answers)
    return ClassStrip(truth, tuple(rows), default_missed, left_out, len(copied))


def _reported(student: Graded) -> list | None:
    """Return estimate and standard error of a student's answer, None if they are not valid."""
    values = answered(student.answers[AUDIT], 2)
    return values if values and 0 <= values[0] <= 1 and 0 <= values[1] <= 0.5 else None


def _row(number: int, values: list[float], truth: float) -> dict:
    estimate, error = values
    low, high = (estimate + sign * intervals.quantile(LEVEL) * error for sign in (-1, 1))
    return {
        "audit": number,
        "estimate": estimate,
        "low": low,
        "high": high,
        "verdict": VERDICTS[not low <= truth <= high],
    }


def chart(strip: ClassStrip) -> "alt.TopLevelMixin":
    """Return the chart: one interval per student, and a line at the true accuracy."""
    import altair as alt

    from workbench.charts import theme

    rows = theme.Chart(theme.rows("intervals", strip.rows))
    count = len(strip.rows)
    x = alt.X(
        "audit:Q",
        title="one audit per student, in random order",
        axis=theme.whole_numbers(count, grid=False),
        scale=theme.span(0.5, count + 0.5),
    )
    y = alt.Y("low:Q", title="accuracy", axis=alt.Axis(format=".0%"), scale=alt.Scale(zero=False))
    color = theme.color("verdict", dict(zip(VERDICTS, (theme.ESTIMATE, theme.MISS), strict=True)))
    shape = theme.shape("verdict", VERDICTS, ("circle", "square"))
    lines = rows.mark_rule(strokeWidth=2).encode(x=x, y=y, y2="high:Q", color=color)
    points = rows.mark_point(filled=True, size=30)
    points = points.encode(x=x, y="estimate:Q", color=color, shape=shape)
    truth = theme.Chart(theme.rows("truth", [{"truth": strip.truth}]))
    truth = truth.mark_rule(style="truth").encode(y="truth:Q")
    return theme.finish(lines + points + truth, *strip.texts(), width=720)


def strip_page(strip: ClassStrip) -> str:
    """Return the chart as a page for the lecture, without names."""
    _, text = strip.texts()
    title = "The audits of the class"  # the picture shows the finding as its own title
    return page("strip.html.j2", title=title, text=text, picture=picture(chart(strip), text))
