"""Samples of an evaluation's log, and the log as a whole, for all tools."""

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Sample:
    """A sample of a log.

    `number` is its place in the file from 1, `part` its epoch or filter. `answers` are those that
    belong to one score; `unfit` are the scores that contradict its choices. Samples of one item
    have the same `content`, as far as logs hold it: question, choices or hash, target.
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

    `score` is the log's own choice of a score, "" for none. `part_is` is "epoch" or "filter",
    `score_is` "scorer" or "metric". `unfinished` is Inspect's status of a run that did not end
    well, such as "error". `model` and `task` are "" if the log does not hold them. `unnamed_parts`:
    parts are numbered, as the log does not name them.
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
