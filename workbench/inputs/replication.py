"""Labeled items of a clustered sample."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from workbench import checks
from workbench.course import digit_forms
from workbench.replication import metrics as clustered

if TYPE_CHECKING:
    from workbench.replication.metrics import LabeledItems


def read(*, items: str = "", truth: str = "truth", prediction: str = "prediction", score: str = "",
         stratum: str = "stratum", psu: str = "", weight: str = "", fpc: str = "", group: str = "",
         positive: str = "", metrics: str = "accuracy precision recall f1", method: str = "auto", collapse: str = "",
         level: float = 0.95, seed: int = 0) -> LabeledItems:
    """Return labeled items that allow the metrics which are asked for; an AUC, which takes its time, is only begun.

    Parameters
    ----------
    items : str
        File of labeled items; "" for the digit forms of the course, of which 9 is the positive class.
    truth, prediction, score, stratum, psu, weight, fpc, group, positive
        As in `workbench.load_labeled`.
    metrics, method, collapse, level
        As in `workbench.estimate_metrics`.
    seed : int
        `rng` of `workbench.estimate_metrics`.

    Returns
    -------
    LabeledItems

    Raises
    ------
    ValueError
        If a parameter, a file or the design of the sample does not fit; the message says which.

    Examples
    --------
    >>> read()
    LabeledItems(1,797 labeled items, 10 classes, 10.0% of class 9)
    """
    checks.level(level)
    checks.seed("seed", seed)
    labeled = clustered.load_labeled(items, truth=truth, prediction=prediction, score=score, stratum=stratum, psu=psu,
                                     weight=weight, group=group, fpc=fpc, positive=positive) if items else \
        digit_forms.digit_forms().labeled(positive or 9)
    settings: dict[str, Any] = {"method": method, "level": level, "collapse": collapse, "rng": seed}
    quick = [metric for metric in clustered.check_settings(labeled, metrics, **settings)[0] if metric != "auc"]
    if quick:
        clustered.estimate_metrics(labeled, quick, **settings)
    return labeled
