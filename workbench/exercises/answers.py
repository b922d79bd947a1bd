"""What a learner typed, as numbers."""
import numbers

import numpy as np


def answered(answer, count):
    """Return an answer as `count` finite floats, or None."""
    values = list(np.ravel(answer)) if np.ndim(answer) <= 1 else []
    if len(values) == count and all(isinstance(v, numbers.Real) and np.isfinite(v) for v in values):
        return [float(v) for v in values]
    return None
