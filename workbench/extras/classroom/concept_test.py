"""The concept test before and after a course, compared for the same students."""

from dataclasses import dataclass

import numpy as np

from workbench import checks
from workbench.extras.classroom.students import read_rows
from workbench.intervals.values import value_interval
from workbench.reports.parameters import ReportError
from workbench.results import Interval

KEY = {str(number): letter for number, letter in enumerate("cbcbacdbad", 1)}
CHOICES = ("", "a", "b", "c", "d")
ENDLESS = 10**6


@dataclass(frozen=True)
class ConceptGain:
    """The gain of a class from one concept test to another.

    Attributes
    ----------
    before : (S, 10) array of bool
        Correct answers before the course, of students with both tests.
    after : (S, 10) array of bool
        Correct answers after the course.
    without : tuple of str
        Students with only one test.
    """

    before: np.ndarray
    after: np.ndarray
    without: tuple[str, ...]

    @property
    def gains(self) -> np.ndarray:
        """Return the correct answers after minus those before the course, (S,)."""
        return self.after.sum(1) - self.before.sum(1)

    def interval(self, level: float = 0.95) -> Interval:
        """Return the interval of the mean gain, for students as a sample of many."""
        values = np.arange(-len(KEY), len(KEY) + 1)
        counts = (self.gains[:, None] == values).sum(0)
        return value_interval([ENDLESS], [counts], values, level=level)

    def lines(self) -> list[str]:
        """Return the comparison as lines of text."""
        low, high = self.interval()
        counts = zip(KEY, self.before.sum(0), self.after.sum(0), strict=True)
        lines = ["question  before  after"]
        lines += [f"{number:>8}  {before:>6}  {after:>5}" for number, before, after in counts]
        lines.append(
            f"Mean gain of {checks.counted(len(self.gains), 'student')}: {self.gains.mean():+.2f} "
            f"of {len(KEY)}, 95% confidence interval {low:+.2f} to {high:+.2f}"
        )
        if self.without:
            lines.append(f"Only one test of {checks.listed(self.without)}")
        return lines


def concept_gain(before: str, after: str) -> ConceptGain:
    """Return the gain of students from one file of answers to another.

    Parameters
    ----------
    before, after : str
        CSV files with columns id and 1 to 10, which have the letters a to d or are empty.

    Raises
    ------
    ReportError
        If a file has other columns or letters, or fewer than two students are in both.
    """
    first, second = _correct_answers(before), _correct_answers(after)
    both = [student for student in first if student in second]
    if len(both) < 2:
        raise ReportError(
            f"at least 2 students must be in both {before} and {after}; got {len(both)}"
        )
    return ConceptGain(
        np.array([first[student] for student in both]),
        np.array([second[student] for student in both]),
        tuple(sorted(first.keys() ^ second.keys())),
    )


def _correct_answers(path: str) -> dict[str, list[bool]]:
    """Return {student: whether each answer is correct}."""
    correct = {}
    for number, student, row in read_rows(path, tuple(KEY)):
        letters = {question: row[question].strip().lower() for question in KEY}
        for question, letter in letters.items():
            if letter not in CHOICES:
                raise ReportError(
                    f"{path}, row {number}: question {question} must be a, b, c, d or empty; got "
                    f"{letter[:20]!r}"
                )
        correct[student] = [letters[question] == right for question, right in KEY.items()]
    return correct
