"""Exercises of lesson 2: judges, hints, explanations and worked solutions.

`EXERCISES` and `STEPS` at the end list them by number.
"""

from functools import lru_cache
from typing import Any

import numpy as np

from workbench.course.answers import Judged
from workbench.course.digit_forms import digit_forms
from workbench.lessons.checking import listed
from workbench.replication import arrays, estimates, replicates
from workbench.replication.designs import SurveyDesign
from workbench.replication.metrics import naive


def _three_districts(
    values: list, differences: list | tuple = (0.10, -0.06, 0.04)
) -> Judged | tuple:
    count = len(differences)
    right = float(np.sqrt((np.array(differences) ** 2).sum() / 4) / count)
    if abs(values[0] - right) <= 2e-4:
        return "correct", f"{right:.4f}"
    if abs(values[0] - count * right) <= 2e-4 * count:
        return Judged(
            "mistake",
            f"divide by the number of districts: each is only 1/{count} of the mean",
            "the sum over districts was not divided by their number",
        )
    if abs(values[0] - 2 * right) <= 4e-4:
        return Judged(
            "mistake",
            "the variance of a mean of two boxes is d^2 / 4, not d^2",
            "the variance of the mean of two boxes was not divided by four",
        )
    return (
        "not yet",
        "add up the squared differences, divide by 4 and by the square of the number of districts",
    )


def _why_three_districts() -> str:
    design = SurveyDesign([1, 1, 2, 2, 3, 3])
    accuracy = [0.95, 0.85, 0.87, 0.93, 0.90, 0.86]
    mean = estimates.replicate_estimate(replicates.replicates(design), "mean", accuracy)
    halves = ", ".join(f"{value:.3f}" for value in mean.replicate_values)
    return (
        "For example, take boxes with accuracies .95 and .85, .87 and .93, .90 and .86. The four"
        f" balanced half-samples have the means {halves} and give the same standard error."
    )


def _fewest_runs(values: list) -> tuple:
    named = {
        27: (
            "the paper's rule allows 3^3 - 1 = 26 columns, but only (27 - 1) / (3 - 1) = 13 are"
            " balanced"
        ),
        54: "such an array exists (from a difference matrix), but it is not linear",
        29: (
            "no array has fewer runs (Rao's bound, 1 + 14 x 2), but a linear array has a power of 3"
        ),
        9: "nine runs have room for (9 - 1) / (3 - 1) = 4 columns",
        243: "this array is balanced, but the next smaller power of 3 also has room for 14 columns",
        16: "this is enough for two units per stratum; three units need more runs",
        3**14: "these are all combinations: balanced, but 59,049 times too many",
    }
    if values[0] == arrays.smallest_runs(3, 14):
        return "correct", "81"
    if values[0] in named:
        return "mistake", named[values[0]]
    return "not yet", "find the smallest power of 3 with room for 14 columns"


def by_boxes(box: np.ndarray) -> SurveyDesign:
    """Return the design with two boxes per district as primary sampling units of equal weight."""
    return SurveyDesign((box - 1) // 2, psu=box, weight=1 / np.bincount(box)[box])


def intracluster_correlation() -> float:
    """Return the intracluster correlation of all labels of the digit forms.

    It is (deff - 1) / (m - 1) with m = n / 14 labels per box (Kish, Survey Sampling, 1965). The
    design effect deff is the variance by equally weighted boxes, divided by p (1 - p) / n.
    """
    forms = digit_forms()
    drawn = replicates.replicates(by_boxes(forms.box))
    accuracy = estimates.replicate_estimate(drawn, "accuracy", forms.digit, forms.read_a)
    _, naive_error = naive("accuracy", forms.digit, forms.read_a)
    design_effect = accuracy.variance / naive_error**2
    labels_per_box = forms.box.size / 14
    return (design_effect - 1) / (labels_per_box - 1)


def _labels_per_box(values: Any) -> Any:
    if values[0] < 1:
        return None
    if 24 <= values[0] <= 45:
        return (
            "correct",
            f"{values[0]:g} per box: effective sample size {_effective_size(values[0]):,.0f}",
        )
    if values[0] > 45:
        return (
            "mistake",
            (
                f"{values[0]:g} labels from one box resemble each other: the effective sample size"
                f" is only {_effective_size(values[0]):,.0f}"
            ),
        )
    return (
        "not yet",
        (
            f"{values[0]:g} per box: effective sample size {_effective_size(values[0]):,.0f},"
            " because most of the money goes into boxes"
        ),
    )


def _effective_size(per_box: Any) -> float:
    """Return the effective sample size for a budget of 3,000, if a box costs 20 labels."""
    boxes = 3000 / (20 + per_box)
    design_effect = 1 + (per_box - 1) * intracluster_correlation()
    return boxes * per_box / design_effect


def _why_labels_per_box() -> str:
    correlation = intracluster_correlation()
    best = np.sqrt(20 * (1 - correlation) / correlation)
    return (
        "The best number is the square root of box price x (1 - ICC) / ICC. This is"
        f" {best:.1f} labels per box, with an effective sample size of"
        f" {_effective_size(best):,.0f}. With 127 labels per box it is"
        f" {_effective_size(127):,.0f}."
    )


@lru_cache(128)
def _f1_by_box(code: int = 9, left_out: int | None = None) -> tuple:
    """Return F1 of a digit under three kinds of replicates, and its naive standard error.

    One district may be left out.
    """
    forms = digit_forms()
    district = (forms.box - 1) // 2 + 1
    kept = district != left_out
    true, read = forms.digit[kept] == code, forms.read_a[kept] == code
    design = SurveyDesign(district[kept], psu=forms.box[kept])
    by_method = [
        estimates.replicate_estimate(replicates.replicates(design, method), "f1", true, read)
        for method in ("jkn", "fay", "brr")
    ]
    _, naive_error = naive("f1", true, read)
    return by_method, naive_error


def _f1_of_a_code(values: list, code: int = 9, left_out: int | None = None) -> Judged | tuple:
    by_method, naive_error = _f1_by_box(code, left_out)
    errors = [estimate.standard_error for estimate in by_method]
    intervals = [estimate.interval(method="logit") for estimate in by_method]
    intervals += [estimate.interval() for estimate in by_method]
    limits = np.array([tuple(interval) for interval in intervals])
    if abs(values[0] - by_method[0].estimate) > 1e-3:
        return (
            "not yet",
            (
                f"F1 needs three counts: forms read as {code}, forms that are a {code}, and forms"
                " that are both"
            ),
        )
    if abs(values[1] - naive_error) <= 1e-3:
        return Judged(
            "mistake",
            "this is the standard error of independent forms, but the boxes differ",
            "the labels were treated as independent, without clusters",
        )
    if not min(errors) - 0.003 <= values[1] <= max(errors) + 0.001:
        return "not yet", "F1 is correct, but its standard error is not"
    if values[2] > values[3]:
        return "mistake", "the lower limit is above the upper limit: swap them"
    if ((limits.min(0) - 0.012 > values[2:]) | (limits.max(0) + 0.012 < values[2:])).any():
        return (
            "not yet",
            (
                "compute the interval on the logit scale, with Student's t at "
                f"{by_method[0].df:g} degrees of freedom"
            ),
        )
    return "correct", f"{values[0]:.4f}, SE {values[1]:.4f}, {values[2]:.3f} to {values[3]:.3f}"


def _why_f1_of_nines() -> str:
    by_method, _ = _f1_by_box()
    errors = ", ".join(f"{estimate.method} {estimate.standard_error:.4f}" for estimate in by_method)
    return (
        "F1 is not linear, so the standard errors by different replicates differ a little"
        f" ({errors}). All are about twice the naive standard error."
    )


def _steps_of_districts(differences: list | tuple = (0.10, -0.06, 0.04)) -> list[str]:
    squares, count = np.square(differences), len(differences)
    return [
        f"The squared differences are {listed(squares, 4)}. Their sum is {squares.sum():.4f}.",
        (
            "The mean of two boxes has the variance d^2 / 4. The sum over all districts is"
            f" {squares.sum() / 4:.5f}."
        ),
        (
            f"Each district is 1/{count} of the mean. Divide by {count}^2:"
            f" {squares.sum() / 4 / count**2:.6f}."
        ),
        f"The square root is the standard error: {(squares.sum() / 4) ** 0.5 / count:.4f}.",
    ]


def _steps_of_runs() -> list[str]:
    return [
        "With three units per stratum, a linear array has 3, 9, 27, 81, ... runs.",
        "3^b runs have room for (3^b - 1) / (3 - 1) columns: 1, 4, 13, 40.",
        f"The smallest array with room for 14 columns has {arrays.smallest_runs(3, 14)} runs.",
    ]


def _steps_of_boxes() -> list[str]:
    tried = ", ".join(f"{m} per box {_effective_size(m):,.0f}" for m in (5, 20, 33, 50, 127))
    return [
        (
            "A box with m labels costs 20 + m. So you can buy 3,000 / (20 + m) boxes and m times as"
            " many labels."
        ),
        (
            f"Divide the number of labels by the design effect 1 + (m - 1) {intracluster_correlation():.4f} to"
            " get the effective sample size."
        ),
        f"Try some values of m: {tried}.",
    ]


def _steps_of_f1(code: int = 9, left_out: int | None = None) -> list[str]:
    (_, estimate, _), _ = _f1_by_box(code, left_out)
    limits = estimate.interval(method="logit")
    return [
        "Take the districts of your exercise: design = wb.SurveyDesign(district, psu=box).",
        (
            f"estimate = wb.replicate_estimate(wb.replicates(design, 'fay'), 'f1', digit == {code},"
            f" read == {code}): {estimate.estimate:.4f}, with the standard error"
            f" {estimate.standard_error:.4f}."
        ),
        (
            f"estimate.interval(method='logit'): {limits.low:.4f} to {limits.high:.4f}, with"
            f" {estimate.df:g} degrees of freedom."
        ),
    ]


STEPS = {
    "2.1": _steps_of_districts,
    "2.2": _steps_of_runs,
    "2.3": _steps_of_boxes,
    "2.4": _steps_of_f1,
}
EXERCISES = {
    "2.1": (
        _three_districts,
        1,
        "the standard error",
        "each district adds d^2 / 4, multiplied by (1/3)^2",
        _why_three_districts,
    ),
    "2.2": (
        _fewest_runs,
        1,
        "a whole number",
        "27 runs have room for (27 - 1) / (3 - 1) columns",
        lambda: "27 runs have room for 13 columns, 81 runs for 40.",
    ),
    "2.3": (
        _labels_per_box,
        1,
        "labels per box",
        "a box costs as much as 20 labels; how much does the tenth label from a box add?",
        _why_labels_per_box,
    ),
    "2.4": (
        _f1_of_a_code,
        4,
        "(F1, standard error, lower, upper limit)",
        (
            "boxes are the clusters, districts the strata; use wb.replicate_estimate(..., 'f1',"
            " digit == 9, read == 9)"
        ),
        _why_f1_of_nines,
    ),
}
