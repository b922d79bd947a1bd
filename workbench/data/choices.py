"""Choices of a question as people read them, such as "B. Paris".

Logs record choices by letters, positions and weights.
"""

import itertools
import math
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from string import ascii_lowercase, ascii_uppercase, digits
from typing import Any

_ORDERS = (
    ascii_uppercase,
    ascii_lowercase,
    digits[1:],
    digits,
)
_LETTERS = re.compile(r"[A-Za-z]|[A-Z0-9]+(?:[ ,]+[A-Z0-9]+)*")
_SAID = re.compile(r"ANSWER\s*:\s*([A-Z0-9](?:[ ,]+[A-Z0-9]\b)*)\b", re.IGNORECASE)
_PLACES = re.compile(r"[0-9]+|\[[0-9, ]*\]")
_WEIGHTS: dict[str, Callable] = {
    "acc": lambda value, text: value,
    "acc_norm": lambda value, text: value / max(len(text), 1),
    "acc_bytes": lambda value, text: value / max(len(text.encode()), 1),
}


@dataclass(frozen=True)
class Choices:
    """Choices in their order: the letter or number of each in the log (or ""), and its text."""

    names: tuple[str, ...]
    texts: tuple[str, ...]

    def lines(self, places: Sequence[int] | None = None) -> str:
        r"""Return the choices at some positions, or all choices, one per line.

        Examples
        --------
        >>> lettered(["London", "Paris"]).lines(), Choices(("", ""), ("no", "yes")).lines([1])
        ('A. London\nB. Paris', 'yes')
        """
        pairs = zip(self.names, self.texts, strict=True)
        lines = [". ".join(filter(None, pair)) for pair in pairs]
        if places is not None:
            lines = [lines[position] for position in places]
        return "\n".join(lines)

    def meant(self, answer: str) -> str:
        """Return the choices that an answer means by letters or text, else the answer as it is.

        Examples
        --------
        >>> capitals = lettered(["London", "Paris"])
        >>> capitals.meant("B"), capitals.meant("Paris"), capitals.meant("Bad"), capitals.meant("C")
        ('B. Paris', 'B. Paris', 'Bad', 'C')
        """
        letters = []
        if _LETTERS.fullmatch(answer.strip()):
            letters = re.findall("[0-9]+|[A-Z]", answer.upper())
        if letters and set(letters) <= set(self.names):
            return self.lines(list(map(self.names.index, letters)))
        if answer in self.texts:
            return self.lines([self.texts.index(answer)])
        return answer

    def answered(self, answer: str) -> str:
        """Return the choices of the only "ANSWER: B" in an answer, else the answer as it is.

        Examples
        --------
        >>> lettered(["London", "Paris"]).answered("It is on the Seine. Answer: b")
        'B. Paris'
        """
        letters = set(map(str.upper, _SAID.findall(answer)))
        if len(letters) != 1:
            return self.meant(answer)
        letter = letters.pop()
        choice = self.meant(letter)
        if choice == letter:
            return answer
        return choice


def lettered(texts: Iterable[str]) -> Choices:
    """Return choices with the letters that Inspect gives them: A to Z, then 1, 2 and so on.

    Examples
    --------
    >>> lettered(["x"] * 27).names[-2:]
    ('Z', '1')
    """
    texts = tuple(texts)
    names = itertools.chain(ascii_uppercase, map(str, itertools.count(1)))
    return Choices(tuple(itertools.islice(names, len(texts))), texts)


@dataclass(frozen=True)
class Weighed:
    """A question for which lm-evaluation-harness compared choices by their log-likelihood.

    `spoken` are the compared texts. `target` are the positions of the correct choices, none if the
    record does not name them.
    """

    input: str
    choices: Choices
    spoken: tuple[str, ...]
    values: tuple[float, ...]
    target: tuple[int, ...]

    def picked(self, metric: str) -> int:
        """Return the position of the choice with the largest weight by a metric.

        For `acc_norm` the weight is per character.
        """
        weight = _WEIGHTS.get(metric, _WEIGHTS["acc"])
        weights = list(map(weight, self.values, self.spoken))
        return weights.index(max(weights))

    def cells(self, target: str) -> dict[str, str]:
        """Return the cells of the question, with the recorded target if it is not a choice."""
        target = self.choices.lines(self.target) or target
        return {"input": self.input, "choices": self.choices.lines(), "target": target}

    def fits(self, metric: str, score: float | None) -> bool:
        """Return whether the picked choice and the target agree with the score of the metric."""
        if metric not in _WEIGHTS or not self.target or score not in (0, 1):
            return True
        is_correct = self.picked(metric) in self.target
        return is_correct == (score == 1)


def weighed(record: dict) -> Weighed | None:
    """Return the question of a record of the harness, None if choices were not compared."""
    requests = _requests(record)
    values = _likelihoods(record.get("filtered_resps"))
    if len(values) < 2 or len(requests) != len(values):
        return None
    contexts, continuations = zip(*requests, strict=True)
    if "" in contexts:  # the log also has likelihoods without the question
        return None
    if len(set(continuations)) > 1:
        question = contexts[0]
        shared = os.path.commonprefix(continuations)
        blanks = len(shared) - len(shared.lstrip())
        spoken = tuple(text[blanks:] for text in continuations)
    else:  # the choices are in the question, before the continuation
        start, blank, _ = os.path.commonprefix(contexts).rpartition(" ")
        question = f"{start} …{continuations[0]}"
        spoken = tuple(text.removeprefix(start + blank) for text in contexts)
    choices = _choices_of(spoken, record.get("doc"))
    return Weighed(question, choices, spoken, values, _target(record.get("target"), spoken))


def continued(record: dict) -> str:
    """Return the answer of the model if the harness weighed only the target, else "".

    Examples
    --------
    >>> continued({"arguments": [["I am in", " Paris"]], "filtered_resps": [[-0.5, False]]})
    "not 'Paris'"
    """
    requests = _requests(record)
    answers = _listed(record.get("filtered_resps"))
    if len(requests) != 1 or len(_likelihoods(answers)) != 1:
        return ""
    text = requests[0][1].strip()
    if str(answers[0][1]) == "True":
        return text
    return f"not {text!r}"


def _requests(record: dict) -> list:
    """Return context and continuation of each request; none if a request has another form."""
    requests = []
    for request in map(_listed, _listed(record.get("arguments"))):
        pair = tuple(request[:2])
        if len(pair) == 2:
            requests.append(pair)
    if set(map(type, itertools.chain(*requests))) != {str}:
        return []
    return requests


def _listed(values: Any) -> list:
    """Return the values of a list, or of an object as versions since 0.4.3 write lists."""
    if isinstance(values, dict):
        return list(values.values())
    if isinstance(values, list):
        return values
    return []


def _likelihoods(answers: Any) -> tuple:
    """Return the log-likelihoods of answers [log-likelihood, is it the likeliest], else none."""
    values = []
    for answer in _listed(answers):
        try:
            value, is_likeliest = answer
            values.append(float(value))
        except (TypeError, ValueError):
            return ()
        if math.isnan(values[-1]) or str(is_likeliest) not in ("True", "False"):
            return ()
    return tuple(values)


def _choices_of(spoken: tuple, doc: Any) -> Choices:
    """Return choices with names or texts that are missing in the record taken from the document."""
    lists = list(dict.fromkeys(_lists(doc, len(spoken))))
    names = list(filter(None, map(_names, lists)))
    texts = list(itertools.filterfalse(_names, lists))
    if _names(spoken) and len(texts) == 1:
        return Choices(_names(spoken), texts[0])
    if names and not _names(spoken):
        return Choices(names[0], spoken)
    return Choices(("",) * len(spoken), spoken)


def _lists(doc: Any, count: int) -> Iterator:
    """Yield the lists in a document that have `count` texts."""
    for value in doc.values() if isinstance(doc, dict) else ():
        if isinstance(value, list) and len(value) == count and set(map(type, value)) == {str}:
            yield tuple(value)
        yield from _lists(value, count)


def _names(texts: tuple) -> tuple:
    """Return texts without punctuation if they are only names, else none.

    Names are A, B and so on, or 1, 2 and so on.
    """
    bare = tuple(text.strip("(). ") for text in texts)
    for order in _ORDERS:
        if bare == tuple(order[: len(bare)]):
            return bare
    return ()


def _target(target: Any, spoken: tuple) -> tuple:
    """Return the positions of the correct choices, from a number, a list of numbers, or a text."""
    places = target if isinstance(target, list) else [target]
    if isinstance(target, str) and _PLACES.fullmatch(target):
        places = list(map(int, re.findall("[0-9]+", target)))
    if places and all(position in range(len(spoken)) for position in places):
        return tuple(map(int, places))
    if target in spoken:
        return (spoken.index(target),)
    return ()
