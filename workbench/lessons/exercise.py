"""An exercise: how its answers are read and judged, its hints and its worked solution.

`Exercise` comes first. The rules of its feedback are compared with an answer in their order, and
the first one that applies gives the verdict. A rule has conditions after `if` or `unless`:

- `{part: 1, is: estimate, within: 0.001}`: the first part of the answer is the computed value
  `estimate`, with this tolerance. A tolerance such as `1%` is relative. `test.pvalue` is an
  attribute of a computed value.
- `{part: 1, from: 24, to: 45}`: the first part is in this range. `total` instead of 1 is a computed
  value.
- `fractions`: the value that the exercise computes under this name is true.

The texts of an exercise may show computed values, such as `{estimate:.3f}`.
"""

import functools
import math
import numbers
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from workbench.course.answers import Judged, answered, finite

VERDICTS = ("correct", "mistake", "not yet")
CONDITION = {"part", "is", "within", "from", "to"}  # keys of a condition
KINDS: dict[str, type] = {"number": numbers.Real, "text": str, "any": object}


class Numbers(tuple):
    """Numbers that are formatted one by one, with commas or, after "/", with slashes between.

    Examples
    --------
    >>> f"{Numbers([1, 2.5]):.2f}", f"{Numbers([42, 30]):/}"
    ('1.00, 2.50', '42 / 30')
    """

    def __format__(self, form: str) -> str:
        separator = " / " if form == "/" else ", "
        return separator.join(format(number, form.strip("/")) for number in self)


@dataclass(frozen=True)
class Exercise:
    """An exercise of the course, or of a lecturer.

    Attributes
    ----------
    form : str
        Description of what to answer with.
    feedback : sequence of dict, default None
        The rules. None if answers are only recorded.
    numbers : int
        Number of numbers that the answer consists of, or 0 if this is not known.
    parts : sequence of {"number", "text", "any"}
        The parts of an answer that does not consist of numbers only.
    hint : str
        Text shown after an incorrect answer.
    why : str
        Explanation.
    steps : sequence of str
        Worked solution.
    proportions : bool
        Whether all numbers of the answer are proportions.
    compute : callable
        Function of a task that returns the values used by rules and texts.
    reader : callable, optional
        Function that returns the parts of an answer, or None if it has another form. It replaces
        `parts`.
    examine : callable, optional
        Function of the parts and the computed values. It returns more values, or None if the answer
        has another form.
    question : str
        Text of the question, if a lecturer added the exercise.
    settings : dict
        Arguments of `workbench.exercise` except number and question.
    """

    form: str
    feedback: Sequence[Mapping] | None = None
    numbers: int = 1
    parts: Sequence[str] = ()
    hint: str = ""
    why: str = ""
    steps: Sequence[str] = ()
    proportions: bool = False
    compute: Callable[..., Mapping] = dict
    reader: Callable[[Any], list | None] | None = None
    examine: Callable[[list, Mapping], Mapping | None] | None = None
    question: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for number, rule in enumerate(self.feedback or (), 1):
            is_last = number == len(self.feedback or ())
            if problem := _problem(rule, is_last):
                raise ValueError(f"rule {number} of the feedback {problem}")

    @property
    def answer(self) -> tuple:
        """Return the parts of the correct answer to an exercise that a lecturer added."""
        return tuple(self.settings.get("answer", ()))

    @property
    def points(self) -> float:
        """Return the points for the whole answer to an exercise that a lecturer added."""
        return self.settings.get("points", 1)

    @property
    def count(self) -> int | None:
        """Return the number of numbers of an answer, or None if it has other parts."""
        return None if self.reader or self.parts else self.numbers or None

    def values(self, **task: Any) -> dict[str, Any]:
        """Return the computed values for the practice exercise or for a task."""
        return {
            name: Numbers(value) if isinstance(value, (list, tuple, np.ndarray)) else value
            for name, value in self.compute(**task).items()
        }

    def explanation(self) -> str:
        """Return the explanation with its values."""
        return self.why.format_map(self.values())

    def solution(self, **task: Any) -> list[str]:
        """Return the worked solution with the values of a task."""
        values = self.values(**task)
        return [step.format_map(values) for step in self.steps]

    def read(self, answer: Any) -> list | None:
        """Return the parts of an answer, or None if it has another form."""
        if not finite(answer):
            return None
        if self.reader:
            return self.reader(answer)
        if not self.parts:
            return answered(answer, self.numbers)
        is_list = isinstance(answer, (list, tuple, np.ndarray))
        parts = list(answer) if is_list else [answer]
        if len(parts) != len(self.parts):
            return None
        fits = all(
            isinstance(part, KINDS[kind]) for part, kind in zip(parts, self.parts, strict=True)
        )
        return parts if fits else None

    def judged(self, parts: list | None, values: Mapping[str, Any]) -> Judged:
        """Return the feedback on the parts of an answer."""
        examined: Mapping | None = {}
        if parts is not None and self.examine:
            examined = self.examine(parts, values)
        if parts is None or examined is None:
            return Judged("not yet", f"answer with {self.form}")
        values = {**values, **examined}
        rule = next(rule for rule in self.feedback or () if _applies(rule, parts, values))
        verdict = next(verdict for verdict in VERDICTS if verdict in rule)
        texts = {"answer": parts, "typed": in_words(parts), "form": self.form}
        message = rule[verdict].format_map({**values, **texts})
        return Judged(verdict, message, rule.get("misconception", ""))


def _problem(rule: Mapping, is_last: bool) -> str:
    """Return what is wrong with a rule of the feedback, or ""."""
    unknown = [name for name in rule if name not in (*VERDICTS, "if", "unless", "misconception")]
    if unknown:
        return f"has the unknown key {unknown[0]!r}"
    if sum(verdict in rule for verdict in VERDICTS) != 1:
        return f"must have one of the verdicts {', '.join(VERDICTS)}"
    if is_last != (not {"if", "unless"} & {*rule}):
        return f"must have {'no condition: it is the last one' if is_last else 'if or unless'}"
    for condition in _conditions(rule):
        if isinstance(condition, str):
            continue
        if "part" not in condition or not {*condition} <= CONDITION:
            return f"has a condition with other keys than {', '.join(sorted(CONDITION))}"
        tolerance = condition.get("within", 0)
        if not (isinstance(tolerance, str) or tolerance >= 0):
            return f"must have a tolerance such as 0.001 or 1%; got {tolerance!r}"
    return ""


def _conditions(rule: Mapping) -> list:
    conditions = rule.get("if", rule.get("unless", []))
    return conditions if isinstance(conditions, list) else [conditions]


def _applies(rule: Mapping, parts: list, values: Mapping) -> bool:
    hold = all(_holds(condition, parts, values) for condition in _conditions(rule))
    return hold != ("unless" in rule)


def _holds(condition: str | Mapping, parts: list, values: Mapping) -> bool:
    if isinstance(condition, str):
        return bool(values.get(condition))
    limits = {name: _value(limit, values) for name, limit in condition.items()}
    part = condition["part"]
    part = values[part] if isinstance(part, str) else parts[part - 1]
    if "is" not in limits:
        return limits.get("from", -math.inf) <= part <= limits.get("to", math.inf)
    targets = limits["is"] if isinstance(limits["is"], (list, Numbers)) else [limits["is"]]
    return any(is_near(part, target, limits.get("within", 0)) for target in targets)


def _value(name: Any, values: Mapping) -> Any:
    """Return the value of a name or of its attribute; other texts and numbers are unchanged."""
    first, *attributes = name.split(".") if isinstance(name, str) else [None]
    return functools.reduce(getattr, attributes, values[first]) if first in values else name


def is_near(part: Any, target: Any, tolerance: float | str) -> bool:
    """Return whether a part of an answer is a number within a tolerance, or the same text.

    Texts are compared without regard to case, spaces and a full stop at the end.
    """
    if isinstance(part, str) or isinstance(target, str):
        return without_spaces(str(part)) == without_spaces(str(target))
    if isinstance(tolerance, str):  # such as "1%"
        return abs(part / target - 1) <= float(tolerance.rstrip("%")) / 100
    return abs(float(part) - float(target)) <= tolerance


def without_spaces(text: str) -> str:
    """Return a text without regard to case, spaces and a full stop at its end."""
    return "".join(text.casefold().split()).rstrip(".!")


def in_words(parts: Sequence) -> str:
    """Return the parts of an answer as text."""
    return ", ".join(f"{part:g}" if isinstance(part, numbers.Real) else str(part) for part in parts)


def compared_labels(labels: list, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return what rules say about labels per stratum with the computed value `optimum`."""
    distance = np.abs(np.array(labels) - values["optimum"]).max()
    return {
        "fractions": any(number % 1 for number in labels),
        "total": sum(labels),
        "least": min(labels),
        "range": max(labels) - min(labels),
        "distance": distance,
    }
