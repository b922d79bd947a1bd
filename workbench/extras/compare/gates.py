"""A gate: whether items show a condition on two models, its opposite, or neither."""

import re

from workbench import checks
from workbench.extras.compare.comparison import pair_interval
from workbench.extras.compare.item_scores import ItemScores
from workbench.intervals.unseen import bounded_notes
from workbench.results import Interval, Result, percent, with_bounded
from workbench.results.digits import number

PASS, FAIL, INCONCLUSIVE = "PASS", "FAIL", "INCONCLUSIVE"
_NAME = r"""("[^"]+"|'[^']+'|[^\s<>"'+-]\S*)"""
_LONGEST = re.compile(
    rf"\s*{_NAME}\s*([<>])\s*{_NAME}\s*(?:([-+])\s*([0-9]*\.?[0-9]+(?:[eE][-+]?[0-9]+)?))?\s*"
)
_SHORTEST = re.compile(
    _LONGEST.pattern.replace("*)", "*?)")
)  # "A-2" is A minus 2 if no model has this name


class Gate(Result):
    """The verdict on a condition on two models, such as "B > A - 0.01".

    `gate` returns it. Use `verdict` in scripts, and print the gate for the reason.

    Attributes
    ----------
    condition : str
        The condition as you wrote it.
    first, second : str
        The models on the left and on the right of the condition.
    margin : float
        Value that the first score minus the second must exceed, in units of the score.
    interval : Interval
        Interval of the first score minus the second, of this pair alone.
    reach : float
        Largest possible difference of two scores.

    See Also
    --------
    gate : Test a condition on two models.
    compare_items : Compare all pairs of models.
    """

    condition: str
    first: str
    second: str
    margin: float
    interval: Interval
    reach: float = float("inf")

    @property
    def verdict(self) -> str:
        """Return PASS, FAIL or INCONCLUSIVE.

        PASS: the interval lies above the margin. FAIL: it lies below. INCONCLUSIVE: it contains the
        margin.
        """
        if self.interval.low > self.margin:
            return PASS
        return FAIL if self.interval.high < self.margin else INCONCLUSIVE

    def bounded_sentence(self) -> str:
        """Return the bounded limits with their meaning, "" if they equal the limits."""
        bounded = self.interval.bounded or tuple(self.interval)
        notes = bounded_notes(tuple(self.interval), bounded, of=f"{self.first} minus {self.second}")
        return "".join(f"{note}." for note in notes)

    def headline(self) -> str:
        """Return the verdict with its reason."""
        lies = {PASS: "lies above", FAIL: "lies below", INCONCLUSIVE: "contains"}[self.verdict]
        low, high = (number(end) for end in self.interval)
        certain = ""
        if abs(self.margin) >= self.reach:
            certain = f". This is certain, as scores differ by at most {number(self.reach)}"
        return (
            f"{self.verdict}: {self.condition}; {self.first} minus {self.second} is from {low} to "
            f"{high} ({percent(self.interval.level)} confidence interval), which {lies} "
            f"{number(self.margin)}{certain}"
        )

    def rows(self) -> list[dict]:
        """Return one row: verdict, models, margin, limits and bounded limits."""
        low, high = self.interval
        return [
            {
                "verdict": self.verdict,
                "first": self.first,
                "second": self.second,
                "margin": self.margin,
                "low": low,
                "high": high,
                "level": self.interval.level,
                **with_bounded(self.interval),
            }
        ]


def gate(
    scores: ItemScores, condition: str, *, level: float = 0.95, method: str = "default"
) -> Gate:
    """Test whether items show a condition on two models, its opposite, or neither.

    Use it to decide about a release. The command `workbench compare --gate` ends with an exit code
    by the verdict.

    Parameters
    ----------
    scores : ItemScores
        Scores of the items by each model.
    condition : str
        "B > A", "B > A - 0.01" or "B > A + 0.02", in units of the score; also with <. Write names
        with spaces or operators in quotes.
    level : float, default 0.95
        Confidence level of the interval, for this pair alone, in (0, 1).
    method : {"default", "bounded", "t"}, default "default"
        Method of the interval, as in `compare_items`.

    Returns
    -------
    Gate
        The verdict with its interval. If the true difference equals the margin and the interval has
        its nominal coverage, the verdict is PASS or FAIL in at most 1 - level of samples.

    Raises
    ------
    ValueError
        If the condition has another form, or names a model that has no scores.

    See Also
    --------
    compare_items : Compare all pairs of models.
    pair_interval : Interval of the difference of two models.

    Examples
    --------
    >>> scores = ItemScores([[1, 0]] * 9 + [[0, 1]] + [[1, 1]] * 40, ["A", "new B"], range(50))
    >>> gate(scores, "A > 'new B' - 0.01").verdict
    'PASS'
    """
    scores = checks.instance("scores", scores, ItemScores)
    matches = [pattern.fullmatch(str(condition)) for pattern in (_LONGEST, _SHORTEST)]
    readings = [match.groups() for match in matches if match]
    if not readings:
        raise checks.WrongValue(
            "condition",
            "must be of the form 'B > A' or 'B > A - 0.01', with names in quotes if they have "
            "spaces or operators",
            condition,
        )
    with_model = (reading for reading in readings if _unquoted(reading[2]) in scores.models)
    first, sign, second, direction, size = next(with_model, readings[0])
    margin = float(size or 0) * (-1 if direction == "-" else 1)
    first, second = _unquoted(first), _unquoted(second)
    for name in (first, second):
        if name not in scores.models and re.fullmatch(r"[0-9.]+", name):
            rule = f"must compare two models; {name} is a number"
            raise checks.WrongValue("condition", rule, condition)
    if sign == "<":  # A < B + m says B > A - m
        first, second, margin = second, first, 0.0 - margin
    with checks.naming(first="condition", second="condition"):
        interval = pair_interval(scores, first, second, level=level, method=method)
    return Gate(
        condition,
        first,
        second,
        margin,
        interval,
        scores.bounds[1] - scores.bounds[0],
        notes=interval.notes,
    )


def _unquoted(name: str) -> str:
    return name[1:-1] if name[0] in "\"'" else name
