"""Exercises of lesson 2: the values that their rules and texts in `content.yaml` use."""

import functools
from typing import Any

import numpy as np

from workbench.course.digit_forms import digit_forms
from workbench.lessons.content import lesson_texts
from workbench.lessons.exercise import Exercise
from workbench.replication import arrays, estimates, replicates
from workbench.replication.designs import SurveyDesign
from workbench.replication.metrics import naive

SLACK_OF_LIMITS = 0.012  # accepted difference of a limit from those of all methods


def by_boxes(box: np.ndarray) -> SurveyDesign:
    """Return the design with two boxes per district as primary sampling units of equal weight."""
    return SurveyDesign((box - 1) // 2, psu=box, weight=1 / np.bincount(box)[box])


@functools.cache
def intracluster_correlation() -> float:
    """Return the intracluster correlation of all labels of the digit forms.

    It is (deff - 1) / (m - 1) with m = n / 14 labels per box (Kish, Survey Sampling, 1965). The
    design effect deff is the variance by equally weighted boxes, divided by p (1 - p) / n.
    """
    forms = digit_forms()
    halves = replicates.replicates(by_boxes(forms.box))
    accuracy = estimates.replicate_estimate(halves, "accuracy", forms.digit, forms.read_a)
    _, naive_error = naive("accuracy", forms.digit, forms.read_a)
    design_effect = accuracy.variance / naive_error**2
    labels_per_box = forms.box.size / 14
    return (design_effect - 1) / (labels_per_box - 1)


def _three_districts(differences: list | tuple = (0.10, -0.06, 0.04)) -> dict:
    count, squares = len(differences), np.square(differences)
    quarter = squares.sum() / 4
    error = float(np.sqrt(quarter) / count)
    return {
        "error": error,
        "count": count,
        "undivided": count * error,
        "undivided_tolerance": 2e-4 * count,
        "doubled": 2 * error,
        "squares": squares,
        "sum": squares.sum(),
        "quarter": quarter,
        "variance": quarter / count**2,
        "halves": _half_samples(),
    }


@functools.cache
def _half_samples() -> np.ndarray:
    """Return the means of the four balanced half-samples of three districts."""
    design = SurveyDesign([1, 1, 2, 2, 3, 3])
    accuracy = [0.95, 0.85, 0.87, 0.93, 0.90, 0.86]
    mean = estimates.replicate_estimate(replicates.replicates(design), "mean", accuracy)
    return mean.replicate_values


def _runs() -> dict:
    return {"runs": arrays.smallest_runs(3, 14)}


def _effective_size(per_box: Any) -> float:
    """Return the effective sample size for a budget of 3,000, if a box costs 20 labels."""
    boxes = 3000 / (20 + per_box)
    design_effect = 1 + (per_box - 1) * intracluster_correlation()
    return boxes * per_box / design_effect


def _labels_per_box() -> dict:
    correlation = intracluster_correlation()
    best = np.sqrt(20 * (1 - correlation) / correlation)
    return {
        "correlation": correlation,
        "best": best,
        "best_size": _effective_size(best),
        "size_at_127": _effective_size(127),
        "sizes": ", ".join(f"{m} per box {_effective_size(m):,.0f}" for m in (5, 20, 33, 50, 127)),
    }


def _own_effective_size(parts: list, values: Any) -> dict | None:
    return {"size": _effective_size(parts[0])} if parts[0] >= 1 else None


@functools.lru_cache(128)
def _f1_of_a_code(code: int = 9, left_out: int | None = None) -> dict:
    """Return F1 of a digit under three kinds of replicates; one district may be left out."""
    forms = digit_forms()
    district = (forms.box - 1) // 2 + 1
    used = district != left_out
    true, read = forms.digit[used] == code, forms.read_a[used] == code
    design = SurveyDesign(district[used], psu=forms.box[used])
    by_method = [
        estimates.replicate_estimate(replicates.replicates(design, method), "f1", true, read)
        for method in ("jkn", "fay", "brr")
    ]
    errors = {estimate.method: estimate.standard_error for estimate in by_method}
    intervals = [estimate.interval(method="logit") for estimate in by_method]
    intervals += [estimate.interval() for estimate in by_method]
    limits = np.array([tuple(interval) for interval in intervals])
    low, high = limits.min(0) - SLACK_OF_LIMITS, limits.max(0) + SLACK_OF_LIMITS
    feedback = {
        "code": code,
        "jackknife": by_method[0],
        "naive_error": naive("f1", true, read)[1],
        "least_error": min(errors.values()) - 0.003,
        "largest_error": max(errors.values()) + 0.001,
    }
    reach = {
        "lower_from": low[0],
        "lower_to": high[0],
        "upper_from": low[1],
        "upper_to": high[1],
    }
    solution = {
        "fay": by_method[1],
        "fay_interval": intervals[1],
        "errors": ", ".join(f"{method} {error:.4f}" for method, error in errors.items()),
    }
    return feedback | reach | solution


def _swapped_limits(parts: list, values: Any) -> dict:
    return {"swapped": parts[2] > parts[3]}


def exercises() -> dict[str, Exercise]:
    """Return the exercises of this lesson by number."""
    return lesson_texts("replication").exercises(
        {
            "2.1": {"compute": _three_districts},
            "2.2": {"compute": _runs},
            "2.3": {"compute": _labels_per_box, "examine": _own_effective_size},
            "2.4": {"compute": _f1_of_a_code, "examine": _swapped_limits},
        }
    )
