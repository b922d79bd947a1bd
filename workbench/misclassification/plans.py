"""How large the next audit has to be, seen from one that is there."""

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
    """Find the smallest audit with the wanted half-width, if rates and shares stay as estimated.

    Parameters
    ----------
    audit : ConfusionCounts
        Of two classes: its rates, half an item added to each cell, and its corrected shares are
        taken for true.
    counts, counts_at_audit : (2,) array_like of int
        Predicted counts of the period of interest and of the period that was audited.
    half_width : float
        Wanted, in (0, 0.5); .01 is one point.
    quantity : {"change", "level"}
        The change of the share since the audited period, or the share itself.
    method, rates, level
        As in `workbench.plan_audit`; a method that takes no inverse is planned as "mle".

    Returns
    -------
    AuditPlan

    Raises
    ------
    ValueError
        If there are more than two classes, or the counted items alone leave a wider interval.

    Examples
    --------
    >>> audit = ConfusionCounts([[331, 18], [7, 44]])
    >>> plan_next_audit(audit, [8100, 1900], [8787, 1213], .03).audited
    110
    """
    checks.instance("audit", audit, ConfusionCounts)
    if len(audit.labels) != 2:
        raise WrongValue(
            "half_width", f"plans audits of two classes; there are {len(audit.labels)}"
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
            "half_width", "needs corrected shares to plan with, and this audit gives none"
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
