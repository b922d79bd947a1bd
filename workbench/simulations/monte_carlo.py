"""Figures that all simulation studies have: coverage of intervals, and Monte Carlo errors."""

from typing import Any

import numpy as np
from numpy import ndarray

ROUNDING = 1e-12


def covers(low: ndarray, high: ndarray, truth: float) -> ndarray:
    """Return whether each interval contains the true value, except for rounding."""
    return (low <= truth + ROUNDING) & (truth - ROUNDING <= high)


def error_of_rate(rate: Any, runs: int) -> Any:
    """Return the Monte Carlo standard error of a proportion of runs."""
    return (rate * (1 - rate) / runs) ** 0.5


def error_of_mean(values: ndarray) -> float:
    """Return the Monte Carlo standard error of the mean of one value per run."""
    return float(values.std(ddof=1) / np.sqrt(values.size))
