"""Choices of a question as people read them, "B. Paris": what logs tell by letters, places and weights."""

import json
import math
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from string import ascii_lowercase, ascii_uppercase, digits
from typing import Any

_ORDERS = (ascii_uppercase, ascii_lowercase, digits[1:], digits)
_LETTERS = re.compile(r"[A-Za-z]|[A-Z0-9]+(?:[ ,]+[A-Z0-9]+)*")
_SAID = re.compile(r"ANSWER\s*:\s*([A-Z0-9](?:[ ,]+[A-Z0-9]\b)*)\b", re.IGNORECASE)
_PLACES = re.compile(r"[0-9]+|\[[0-9, ]*\]")
_WEIGHTS: dict[str, Callable[[float, str, float], float]] = {
    "acc": lambda value, text, alone: value,
    "acc_norm": lambda value, text, alone: value / max(len(text), 1),
    "acc_bytes": lambda value, text, alone: value / max(len(text.encode()), 1),
    "acc_mutual_info": lambda value, text, alone: value - alone,
}


@dataclass(frozen=True)
class Choices:
    """Choices in their order: the log's letter or number of each, "" where it has none, and its text."""

    names: tuple[str, ...]
    texts: tuple[str, ...]

    def told(self, places: Sequence[int] | None = None) -> str:
        r"""Return the choices at some places, or all, one a line.

        Examples
        --------
        >>> lettered(["London", "Paris"]).told(), Choices(("", ""), ("no", "yes")).told([1])
        ('A. London\nB. Paris', 'yes')
        """
        lines = [". ".join(filter(None, each)) for each in zip(self.names, self.texts, strict=True)]
        return "\n".join(lines if places is None else [lines[place] for place in places])

    def meant(self, said: str) -> str:
        """Return the choices that letters mean, or a choice's own text, else what is said.

        Examples
        --------
        >>> capitals = lettered(["London", "Paris"])
        >>> capitals.meant("B"), capitals.meant("Paris"), capitals.meant("Bad"), capitals.meant("C")
        ('B. Paris', 'B. Paris', 'Bad', 'C')
        """
        return self.told(self._places(said)) or said

    def answered(self, said: str) -> str:
        """Return the choices of the one "ANSWER: B" of an answer, else what is said.

        Examples
        --------
        >>> lettered(["London", "Paris"]).answered("It is on the Seine. Answer: b")
        'B. Paris'
        """
        answers = set(map(str.upper, _SAID.findall(said)))
        return (
            self.told(self._places(answers.pop())) or said
            if len(answers) == 1
            else self.meant(said)
        )

    def _places(self, said: str) -> list[int]:
        words = re.findall("[0-9]+|[A-Z]", said.upper()) if _LETTERS.fullmatch(said.strip()) else []
        if words and all(word in self.names for word in words):
            return [self.names.index(word) for word in words]
        return [self.texts.index(said)] if said in self.texts else []


def lettered(texts: Iterable[str]) -> Choices:
    """Return choices with the letters that Inspect gives them: A to Z, then 1, 2 and so on.

    Examples
    --------
    >>> lettered(["x"] * 27).names[-2:]
    ('Z', '1')
    """
    found = tuple(texts)
    return Choices((*ascii_uppercase, *map(str, range(1, len(found))))[: len(found)], found)


@dataclass(frozen=True)
class Weighed:
    """A question whose choices lm-evaluation-harness weighed by their log-likelihood.

    `spoken` is the text that was weighed, `alone` its log-likelihood without the question, 0 where nobody asked, and
    `target` the places of the right choices, none where the record does not tell them.
    """

    input: str
    choices: Choices
    spoken: tuple[str, ...]
    values: tuple[float, ...]
    alone: tuple[float, ...]
    target: tuple[int, ...]

    def picked(self, metric: str) -> int:
        """Return the place of the choice that weighs most, as the metric weighs: `acc_norm` by character."""
        weight = _WEIGHTS.get(metric, _WEIGHTS["acc"])
        weights = [weight(*each) for each in zip(self.values, self.spoken, self.alone, strict=True)]
        return weights.index(max(weights))

    def cells(self, target: str) -> dict[str, str]:
        """Return what people see of the question, whatever the metric; the target as told where it is no choice."""
        return {
            "input": self.input,
            "choices": self.choices.told(),
            "target": self.choices.told(self.target) or target,
        }

    def fits(self, metric: str, score: float | None) -> bool:
        """Return whether picked choice and target say what the metric's score says, as far as they can."""
        told = metric in _WEIGHTS and self.target and score in (0, 1)
        return not told or (self.picked(metric) in self.target) == (score == 1)


def weighed(record: dict) -> Weighed | None:
    """Return the question of a record of the harness, None where the model did not weigh choices."""
    asked, values = _requests(record.get("arguments")), _likelihoods(record.get("filtered_resps"))
    if len(values) < 2 or len(asked) != len(values):
        return None
    count, alone = len(asked), (0.0,) * len(asked)
    if _asked_alone(asked):
        count, alone = count // 2, tuple(values[count // 2 :])
    contexts, continuations = zip(*asked[:count], strict=True)
    if len(set(continuations)) > 1:
        spoken, question = _without(_blanks(continuations), continuations), contexts[0]
    else:  # the choices stand in the question, before what is weighed
        before = os.path.commonprefix(contexts).rpartition(" ")
        spoken = _without("".join(before[:2]), contexts)
        question = f"{before[0]} …{continuations[0]}"
    return Weighed(
        question,
        _named(spoken, record.get("doc")),
        spoken,
        tuple(values[:count]),
        alone[:count],
        _target(record.get("target"), spoken),
    )


def continued(record: dict) -> str:
    """Return what the model says where the harness weighed one continuation, the target; "" for any other record.

    Examples
    --------
    >>> continued({"arguments": [["The Louvre is in", " Paris"]], "filtered_resps": [[-0.5, False]]})
    "not 'Paris'"
    """
    asked, answers = _requests(record.get("arguments")), record.get("filtered_resps")
    if not answers or len(asked) != 1 or len(_likelihoods(answers)) != 1:
        return ""
    text = asked[0][1].strip()
    return text if str(answers[0][1]) == "True" else f"not {text!r}"


def _requests(arguments: Any) -> list[tuple[str, str]]:
    """Return context and continuation of each request; none where a request has others."""
    pairs = [
        (request[0], request[1]) for request in map(_listed, _listed(arguments)) if len(request) > 1
    ]
    return (
        pairs
        if all(isinstance(one, str) and isinstance(other, str) for one, other in pairs)
        else []
    )


def _listed(values: Any) -> list:
    """Return what stands in a list, or in an object as versions since 0.4.3 write lists."""
    return (
        values
        if isinstance(values, list)
        else list(values.values())
        if isinstance(values, dict)
        else []
    )


def _likelihoods(answers: Any) -> list[float]:
    """Return the log-likelihoods of answers that are [log-likelihood, whether it is the likeliest]; else none."""
    if not isinstance(answers, list) or not all(
        isinstance(each, list) and len(each) == 2 and str(each[1]) in ("True", "False")
        for each in answers
    ):
        return []
    try:
        values = [float(value) for value, _ in answers]
    except (TypeError, ValueError):
        return []
    return [] if any(map(math.isnan, values)) else values


def _asked_alone(asked: list[tuple[str, str]]) -> bool:
    """Return whether each choice was weighed a second time, without the question."""
    half = len(asked) // 2
    return (
        half > 1
        and asked[half:] == [("", continuation) for _, continuation in asked[:half]] != asked[:half]
    )


def _blanks(texts: Sequence[str]) -> str:
    shared = os.path.commonprefix(texts)
    return shared[: len(shared) - len(shared.lstrip())]


def _without(prefix: str, texts: Sequence[str]) -> tuple[str, ...]:
    return tuple(text.removeprefix(prefix) for text in texts)


def _named(spoken: tuple[str, ...], doc: Any) -> Choices:
    """Return choices as the document tells them: the names of texts, or the texts of names."""
    lists, none = list(dict.fromkeys(_lists(doc, len(spoken)))), ("",) * len(spoken)
    if not _names(spoken):
        return Choices(next(filter(None, map(_names, lists)), none), spoken)
    texts = [each for each in lists if not _names(each)]
    if isinstance(doc, dict) and all(isinstance(doc.get(name), str) for name in _names(spoken)):
        texts.append(tuple(doc[name] for name in _names(spoken)))
    return Choices(_names(spoken), texts[0]) if len(texts) == 1 else Choices(none, spoken)


def _lists(doc: Any, count: int) -> Iterator[tuple[str, ...]]:
    for value in doc.values() if isinstance(doc, dict) else ():
        if (
            isinstance(value, list)
            and len(value) == count
            and all(isinstance(each, str) for each in value)
        ):
            yield tuple(value)
        yield from _lists(value, count)


def _names(texts: tuple[str, ...]) -> tuple[str, ...]:
    """Return texts that are only names of choices, A, B, ... or 1, 2, ..., without what stands around; else none."""
    bare = tuple(text.strip("(). ") for text in texts)
    return bare if any(bare == tuple(order[: len(bare)]) for order in _ORDERS) else ()


def _target(target: Any, spoken: tuple[str, ...]) -> tuple[int, ...]:
    """Return the places of the right choices, which a record tells as a number, a list of these, or a text."""
    parsed = json.loads(target) if isinstance(target, str) and _PLACES.fullmatch(target) else target
    places = parsed if isinstance(parsed, list) else [parsed]
    if places and all(isinstance(place, int) and 0 <= place < len(spoken) for place in places):
        return tuple(map(int, places))
    return (spoken.index(target),) if target in spoken else ()
