"""What a learner typed, as numbers, and what it earned."""
from __future__ import annotations

import numbers
from typing import Any, NamedTuple

import numpy as np


class Judged(NamedTuple):
    """What an answer earned: a verdict, what is said of it, and the misconception by a name that holds no numbers."""

    verdict: str
    message: str
    misconception: str = ""


def answered(answer: Any, count: int) -> list | None:
    """Return an answer as `count` finite floats, or None."""
    values = answer.tolist() if hasattr(answer, "tolist") else answer
    values = list(values) if isinstance(values, (list, tuple, range)) else [values]
    if len(values) != count or not all(isinstance(value, numbers.Real) for value in values):
        return None
    try:
        found = [float(value) for value in values]
    except OverflowError:       # a whole number beyond all floats
        return None
    return found if np.isfinite(found).all() else None
