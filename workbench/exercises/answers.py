"""What a learner typed, as numbers."""
from __future__ import annotations

import numbers
from typing import Any

import numpy as np


def answered(answer: Any, count: int) -> list | None:
    """Return an answer as `count` finite floats, or None."""
    values = list(np.ravel(answer)) if np.ndim(answer) <= 1 else []
    if len(values) == count and all(isinstance(v, numbers.Real) and np.isfinite(float(v)) for v in values):
        return [float(v) for v in values]
    return None
