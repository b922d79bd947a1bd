"""A gate: whether items show that a model is better than another less a margin, or that it is not, or neither."""

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
)  # "A-2" is A less 2 where no model is called so


class Gate(Result):
    """The verdict on a condition such as "B > A - 0.01".

    Attributes
    ----------
    condition : str
    first, second : str
        The models of the condition's left and right side.
    margin : float
        What first less second must be above, in the score's own unit.
    interval : Interval
        Of first less second, this pair alone.
    reach : float
        Largest difference that scores can have.
    """

    condition: str
    first: str
    second: str
    margin: float
    interval: Interval
    reach: float = float("inf")

    @property
    def verdict(self) -> str:
        """PASS where the interval lies above the margin, FAIL where it lies below, else INCONCLUSIVE."""
        return (
            PASS
            if self.interval.low > self.margin
            else FAIL
            if self.interval.high < self.margin
            else INCONCLUSIVE
        )

    def bounded_sentence(self) -> str:
        """Return the bounded limits with their meaning, "" where they are the limits."""
        bounded = self.interval.bounded or tuple(self.interval)
        notes = bounded_notes(tuple(self.interval), bounded, of=f"{self.first} less {self.second}")
        return "".join(f"{note}." for note in notes)

    def headline(self) -> str:
        """Return the verdict with its reason."""
        lies = {PASS: "lies above", FAIL: "lies below", INCONCLUSIVE: "holds"}[self.verdict]
        low, high = (number(end) for end in self.interval)
        return (
            f"{self.verdict}: {self.condition}; {self.first} less {self.second} is from {low} to {high} "
            f"({percent(self.interval.level)}), which {lies} {number(self.margin)}"
            + f", as any would: scores differ by at most {number(self.reach)}"
            * (abs(self.margin) >= self.reach)
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
    """Return whether items show a condition on two models, its opposite, or neither.

    Parameters
    ----------
    scores : ItemScores
    condition : str
        "B > A", "B > A - 0.01" or "B > A + 0.02", in the score's own unit; also with <. A name with spaces or operators
        stands in quotes.
    level : float
        Of the interval, of this pair alone.
    method : {"default", "bounded", "t"}
        As in `compare_items`.

    Returns
    -------
    Gate
        Where the difference is just the margin it is PASS or FAIL in at most a share 1 - level of samples.

    Examples
    --------
    >>> scores = ItemScores([[1, 0]] * 9 + [[0, 1]] + [[1, 1]] * 40, ["A", "new B"], range(50))
    >>> gate(scores, "A > 'new B' - 0.01")
    Gate(PASS: A > 'new B' - 0.01; A less new B is from 0.0198 to 0.3 (95%), which lies above -0.01)
    """
    scores = checks.instance("scores", scores, ItemScores)
    readings = [
        read for pattern in (_LONGEST, _SHORTEST) if (read := pattern.fullmatch(str(condition)))
    ]
    if not readings:
        raise checks.WrongValue(
            "condition",
            "must be as 'B > A' or 'B > A - 0.01', names with spaces or operators in quotes",
            condition,
        )
    found = next((read for read in readings if _unquoted(read[3]) in scores.models), readings[0])
    left, sign, right, direction, size = found.groups()
    margin = float(size or 0) * (-1 if direction == "-" else 1)
    first, second = _unquoted(left), _unquoted(right)
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
