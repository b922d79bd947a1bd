"""Samples of an evaluation log, and the log as a whole, in one form for all tools."""

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Sample:
    """A sample of a log.

    `number` is its position in the file from 1, `part` its epoch or filter. `answers` are those
    that belong to one score. `unfit` lists the scores that contradict the choices of the sample.
    `content` is the question, the choices or hash, and the target, as far as the log holds them.
    Samples of one item have the same content.
    """

    number: int
    id: str
    part: str
    scores: dict[str, float | None]
    cells: dict[str, Any]
    answers: dict[str, str] = field(default_factory=dict)
    unfit: tuple[str, ...] = ()
    content: tuple[str, ...] = ()


@dataclass(frozen=True)
class EvaluationLog:
    """Samples in their order, and names of their parts and scores.

    `score` is the score that the log itself selects, "" for none. `part_is` is "epoch" or "filter",
    `score_is` "scorer" or "metric". `unfinished` is Inspect's status of a run that did not end
    normally, such as "error". `model` and `task` are "" if the log does not hold them.
    `unnamed_parts` is true if the log does not name its parts, so that they are numbered.
    """

    label: str
    samples: tuple[Sample, ...]
    score: str
    part_is: str
    score_is: str
    unfinished: str = ""
    model: str = ""
    task: str = ""
    unnamed_parts: bool = False
