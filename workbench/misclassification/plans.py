"""Size of the next audit, planned from an existing one."""

import numpy as np
from numpy.typing import ArrayLike

from workbench import checks
from workbench.checks import WrongValue
from workbench.misclassification import methods, prevalence, theory
from workbench.misclassification.confusion import ConfusionCounts
from workbench.misclassification.methods import METHODS

INSIDE = 1e-6


def plan_next_audit(
    audit: ConfusionCounts,
    counts: ArrayLike,
    counts_at_audit: ArrayLike,
    half_width: float,
    *,
    quantity: str = "change",
    method: str = "mle",
    rates: str = "process",
    level: float = 0.95,
) -> theory.AuditPlan:
    """Find the smallest next audit with a given half-width, from the rates of an existing audit.

    The plan assumes that the rates and the proportions stay as the existing audit estimates them.

    Parameters
    ----------
    audit : ConfusionCounts
        Existing audit of two classes. Its rates, with half an item added to each cell, and its
        corrected proportions are treated as the true values.
    counts : (2,) array_like of int
        Predicted counts of the period of interest.
    counts_at_audit : (2,) array_like of int
        Predicted counts of the audited period.
    half_width : float
        Half-width of the interval to plan for, in (0, 0.5); 0.01 is one percentage point.
    quantity : {"change", "level"}, default "change"
        The change of the proportion since the audited period, or the proportion itself.
    method : str, default "mle"
        Estimator, as in `plan_audit`. A method that does not divide by p00 + p11 - 1 is planned as
        "mle".
    rates : {"process", "frame"}, default "process"
        As in `plan_audit`.
    level : float, default 0.95
        Confidence level of the interval, in (0, 1).

    Returns
    -------
    AuditPlan
        Number of items to audit, and the expected half-width.

    Raises
    ------
    ValueError
        If there are more than two classes, or if no audit reaches the half-width.

    See Also
    --------
    plan_audit : Plan an audit from assumed rates.
    estimate_prevalence : Estimate proportions from an audit.

    Examples
    --------
    >>> audit = ConfusionCounts([[331, 18], [7, 44]])
    >>> plan_next_audit(audit, [8100, 1900], [8787, 1213], .03).audited
    110
    """
    checks.instance("audit", audit, ConfusionCounts)
    if len(audit.labels) != 2:
        raise WrongValue(
            "half_width", f"can be planned for two classes only; the audit has {len(audit.labels)}"
        )
    checks.choice("method", method, METHODS)
    table = audit.effective + methods.HALF
    p00, p11 = np.diag(methods.by_row(table)).tolist()
    method = methods.estimator_of(method) if METHODS[method].divides_by else "mle"
    estimates = []
    for period in (counts_at_audit, counts):
        result = prevalence.estimate_prevalence(
            audit,
            period,
            counts_at_audit,
            method=method,
            rates=rates,
            sampled_by="random",
        )
        estimates.append(float(result.estimate))
    if not np.isfinite(estimates).all():
        raise WrongValue(
            "half_width", "cannot be planned: this audit gives no corrected proportions"
        )
    base, new = np.clip(estimates, INSIDE, 1 - INSIDE).tolist()
    return theory.plan_audit(
        base,
        new,
        p00,
        p11,
        half_width,
        size=int(np.sum(counts_at_audit)),
        new_size=int(np.sum(counts)),
        quantity=quantity,
        method=method,
        rates=rates,
        level=level,
    )
