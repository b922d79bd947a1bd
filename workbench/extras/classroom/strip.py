"""The class is the simulation: one audit, drawn anew for every student, as one strip of intervals."""

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
VERDICTS = ("contains the truth", "misses it")


@dataclass(frozen=True)
class ClassStrip:
    """The intervals of a class.

    Attributes
    ----------
    truth : float
        The accuracy that every interval is about.
    rows : tuple of dict
        Per interval estimate, low and high as the student reported them, and the verdict; no name.
    default_missed : int
        How many default intervals from the same labels miss the truth.
    left_out : int
        Students without a usable answer.
    copied : int
        Students whose answer is right for somebody else's labels: no audit of their own.
    """

    truth: float
    rows: tuple[dict, ...]
    default_missed: int
    left_out: int
    copied: int = 0

    @property
    def missed(self) -> int:
        """Reported intervals that miss the truth."""
        return sum(row["verdict"] == VERDICTS[1] for row in self.rows)

    def words(self) -> tuple[str, str]:
        """Return title and text alternative of the strip."""
        count = len(self.rows)
        missed = f"{self.missed} of our {checks.counted(count, 'interval')} missed"
        out = f" {checks.counted(self.left_out, 'student')} gave no estimate with a standard error."
        copied = f" {checks.counted(self.copied, 'answer')} to somebody else's audit left out."
        return missed, (
            f"{count} audits of the same forms, each of 100 labels drawn anew; estimates plus and minus 1.96 standard "
            f"errors, as reported. {missed} the true accuracy, {self.truth:.3f}; about {(1 - LEVEL) * count:.0f} would "
            f"if intervals of {LEVEL:.0%} kept their promise. Of the default intervals from the same labels "
            f"{self.default_missed} miss it.{out if self.left_out else ''}{copied if self.copied else ''}"
        )


def class_strip(grades: Grades, secret: bytes) -> ClassStrip:
    """Return the intervals that a class reported for its audits of the digit forms, in an order that names nobody.

    Parameters
    ----------
    grades : Grades
    secret : bytes

    Raises
    ------
    ReportError
        If no student gave an estimate and a standard error.
    """
    size, right, _ = fifths()
    truth = float(right.sum() / size.sum())
    own = [student for student in grades.students if AUDIT not in _copied(student)]
    given = [(student, values) for student in own if (values := _reported(student))]
    if not given:
        raise ReportError(
            f"no student gave an estimate with its standard error in exercise {AUDIT}"
        )
    tasks = [task_of(secret, student.student, AUDIT) for student, _ in given]
    found = [
        stratified_accuracy(task["size"], task["labeled"], task["right"]).interval(LEVEL)
        for task in tasks
    ]
    given.sort(
        key=lambda each: draws(secret, each[0].student, "order in the strip").number(0, 1, 12)
    )
    rows = tuple(_row(number, values, truth) for number, (_, values) in enumerate(given, 1))
    return ClassStrip(
        truth,
        rows,
        sum(truth not in interval for interval in found),
        len(own) - len(given),
        len(grades.students) - len(own),
    )


def _copied(student: Graded) -> set[str]:
    return {mark.exercise for mark in student.marks if mark.verdict == OTHERS}


def _reported(student: Graded) -> list | None:
    """Return estimate and standard error if a student's answer can be drawn."""
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
    """Return the strip: one interval per student, the truth as a line through all of them."""
    import altair as alt

    from workbench.charts import theme

    rows = theme.Chart(theme.rows("intervals", strip.rows))
    order = alt.X(
        "audit:Q",
        title="one audit per student, in no order",
        axis=alt.Axis(tickMinStep=1, grid=False),
        scale=theme.span(0, len(strip.rows) + 1),
    )
    color = theme.color("verdict", dict(zip(VERDICTS, (theme.ESTIMATE, theme.MISS), strict=True)))
    share = alt.Y(
        "low:Q", title="accuracy", axis=alt.Axis(format=".0%"), scale=alt.Scale(zero=False)
    )
    lines = rows.mark_rule(strokeWidth=2).encode(x=order, y=share, y2="high:Q", color=color)
    points = rows.mark_point(filled=True, size=30).encode(
        x=order,
        y="estimate:Q",
        color=color,
        shape=theme.shape("verdict", VERDICTS, ("circle", "square")),
    )
    truth = (
        theme.Chart(theme.rows("truth", [{"truth": strip.truth}]))
        .mark_rule(style="truth")
        .encode(y="truth:Q")
    )
    return theme.finish(lines + points + truth, *strip.words(), width=720)


def strip_page(strip: ClassStrip) -> str:
    """Return the strip as a page to show in the lecture; it names no student."""
    title, words = strip.words()
    return page("strip.html.j2", title=title, words=words, picture=picture(chart(strip), words))
