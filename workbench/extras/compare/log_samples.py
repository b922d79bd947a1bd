"""Samples of an evaluation's log, and the log as a whole, whichever tool wrote it."""

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Sample:
    """A sample of a log: place in the file from 1, identifier, its part (epoch or filter), scores and other cells.

    `answers` are those that belong to one score; `unfit` are the scores that its choices contradict. Samples of one
    item have the same `content`, as far as both logs tell its parts: what is asked, choices or hash, target.
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
    """Samples in their order; `score` is the one that the log itself puts first, "" where it leaves that open.

    `unfinished` is Inspect's status of a run that did not end well, such as "error". `part_is` says what its
    parts are, "epoch" or "filter", `score_is` what gives a score, "scorer" or "metric"; `model` and `task` are ""
    where the log does not tell them. `unnamed_parts` says that parts are counted, since the log does not name them.
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
