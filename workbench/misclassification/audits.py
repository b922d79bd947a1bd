"""Audits of several periods: a test of equal rates, and estimates from each period's own audit.

If the rates P(prediction | truth) are the same in all periods, they are pooled over the audits.
Every period then gets the estimate of method "misclassification" from one audit of all items
(`periods`). This is valid because, given their true classes, the predictions of the audited items
are independent with the same rates in every period.

If the rates differ, a period's own audit is treated as a random sample of its own counted items.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy
from numpy import ndarray

from workbench.checks import WrongValue, counted, listed
from workbench.misclassification import calendar, designs, limits, methods
from workbench.misclassification.confusion import ConfusionCounts, pool_audits
from workbench.misclassification.designs import TRUTH
from workbench.misclassification.periods import AuditError, Periods, check_audit
from workbench.results import Note

AUDIT_RATES = ("auto", "pooled", "own")
PERMUTATIONS = 9_999
NEWCOMBE = "Newcombe's of two independent intervals"
STACKED = (
    "estimate",
    "restricted",
    "covariance",
    "shares",
    "bias",
    "own",
)  # attributes with one entry per period
Limits = tuple[ndarray, ndarray]


def same_rates_pvalue(audits: Sequence[ConfusionCounts]) -> float:
    """Return the p-value of equal rates P(prediction | truth) in all audits.

    The statistic is the sum of Pearson's statistics of the true classes. Its distribution is that
    of random tables with the same margins [1]_. For weighted audits it is chi-squared, for
    effective counts.

    Parameters
    ----------
    audits : sequence of ConfusionCounts
        Independent audits of the same classes.

    Returns
    -------
    float
        The p-value; NaN if no class was audited in two of them.

    References
    ----------
    .. [1] Patefield, Algorithm AS 159: an efficient method of generating random R x C tables with
       given row and column totals, Applied Statistics 30, 1981.

    Examples
    --------
    >>> first = ConfusionCounts([[40, 10], [5, 45]])
    >>> same_rates_pvalue([first, ConfusionCounts([[20, 30], [5, 45]])])
    0.0006
    >>> same_rates_pvalue([first, ConfusionCounts([[80, 20], [10, 90]])])
    1.0
    """
    tables = np.stack([audit.effective for audit in audits], 1)  # (true class, audit, predicted)
    of_class = []
    for table in tables:
        audited = table[table.sum(1) > 0]
        of_class.append(audited[:, audited.sum(0) > 0])
    if not any(len(table) > 1 for table in of_class):
        return np.nan
    compared = [table for table in of_class if min(table.shape) > 1]
    if not compared:  # all items of every class got the same prediction
        return 1.0
    statistic = sum(float(_pearson(table)) for table in compared)
    if audits[0].weighted is not None:
        freedom = sum((len(table) - 1) * (len(table.T) - 1) for table in compared)
        return float(scipy.special.chdtrc(freedom, statistic))
    from scipy.stats import random_table

    rng = np.random.default_rng(0)
    drawn = np.zeros(PERMUTATIONS)
    for table in compared:
        margins = random_table(table.sum(1), table.sum(0))
        drawn += _pearson(margins.rvs(PERMUTATIONS, random_state=rng))
    as_large = int((drawn >= statistic * (1 - 1e-9)).sum())
    return (1 + as_large) / (1 + PERMUTATIONS)


def _pearson(tables: ndarray) -> ndarray:
    """Return Pearson's statistic of tables (..., R, C)."""
    rows = tables.sum(-1, keepdims=True)
    columns = tables.sum(-2, keepdims=True)
    expected = rows * columns / rows.sum(-2, keepdims=True)
    return ((tables - expected) ** 2 / expected).sum((-1, -2))


@dataclass(frozen=True, eq=False)
class OwnAudits:
    """T periods, each with its own audit, with the interface of `Periods` for a series.

    Attributes
    ----------
    parts : tuple of Periods
        One object per period.
    """

    parts: tuple[Periods, ...]

    def __getattr__(self, name: str) -> ndarray:
        """Return an array of all periods that `Periods` has, such as `estimate`."""
        if name not in STACKED:
            raise AttributeError(name)
        return np.concatenate([getattr(part, name) for part in self.parts])

    undefined = ""
    constructions: tuple[str, ...] = (NEWCOMBE,)
    doubts: tuple[Note, ...] = ()  # each audit has its own, see `period_notes`

    def change_covariance(self, first: ndarray, last: ndarray) -> ndarray:
        """Return the covariances of the changes, (C, K, K); the audits are independent."""
        return self.covariance[first] + self.covariance[last]

    def level_limits(self, level: float) -> Limits:
        """Return the limits (T, K) of the levels, within 0 and 1."""
        low, high = zip(*(part.level_limits(level) for part in self.parts), strict=True)
        return np.concatenate(low), np.concatenate(high)

    def change_limits(
        self,
        first: ndarray,
        last: ndarray,
        level: float,
    ) -> Limits:
        """Return the limits (C, K) of the changes, within -1 and 1."""
        limits_of_change = _newcombe(self.restricted, *self.level_limits(level), first, last)
        low, high = np.clip(limits_of_change, -1, 1)
        return low, high

    def growth_limits(
        self,
        first: ndarray,
        last: ndarray,
        level: float,
    ) -> Limits:
        """Return the limits (C, K) of the growth rates; NaN if the earlier level may be 0."""
        low, high = self.level_limits(level)
        positive = (low[first] > 0) & (self.estimate[last] > 0)
        levels = np.maximum([self.restricted, low, high], 0)
        with np.errstate(divide="ignore", invalid="ignore"):
            limits_of_log = _newcombe(*np.log(levels), first, last)
        growth = np.expm1(np.nan_to_num(limits_of_log, neginf=-np.inf))
        low, high = np.where(positive, growth, np.nan)
        return low, high

    def audit_notes(self) -> tuple[Note, ...]:
        """Return no notes: each audit has its own, see `period_notes`."""
        return ()

    def period_notes(self, where: Sequence[tuple]) -> tuple[Note, ...]:
        """Return the caveats of each period and of its audit."""
        notes: list[Note] = []
        for part, location in zip(self.parts, where, strict=True):
            notes += (replace(note, where=location) for note in part.audit_notes())
        return tuple(notes)


def _newcombe(
    estimate: ndarray,
    low: ndarray,
    high: ndarray,
    first: ndarray,
    last: ndarray,
) -> Limits:
    """Return the limits of differences of independent estimates from the limits of each."""
    below = np.maximum(estimate - low, 0)
    above = np.maximum(high - estimate, 0)
    down = np.hypot(below[last], above[first])
    up = np.hypot(above[last], below[first])
    change = estimate[last] - estimate[first]
    return change - down, change + up


def own_method(method: str, sampled_by: str) -> str:
    """Return the method for a period whose own items were audited.

    There, "mle" and "mixed" weight the audit to the period's own counts, as "calibration" does. An
    audit that was sampled by the truth allows "misclassification" instead.
    """
    if method == designs.AUTO:
        return "misclassification" if sampled_by == TRUTH else "calibration"
    if problem := designs.why_not_allowed(sampled_by, method):
        raise WrongValue("method", f"must fit how the audits were sampled: {problem}")
    return "calibration" if "frame" in methods.METHODS[method].needs else method


def own_periods(
    audit: ConfusionCounts | None,
    counts: ndarray,
    method: str,
    rates: str,
    sampled_by: str,
) -> Periods:
    """Return one period with its own audit, or raise an `AuditError` if that gives no estimate."""
    if audit is None:
        raise AuditError(
            "it was not audited, and each period is estimated from its own audit. Use "
            "audit_rates='pooled' to estimate it with the rates of the other audits"
        )
    frame = None if audit.weighted is not None or sampled_by == TRUTH else counts
    check_audit(audit, frame, method)
    audited = audit.table.sum(0)
    if frame is not None and (audited > frame).any():
        labels = listed(audit.labels)
        raise AuditError(
            f"its audit has {audited.tolist()} items predicted {labels}, but only "
            f"{frame.tolist()} were counted"
        )
    periods = Periods(
        audit,
        frame,
        counts[None],
        method,
        rates,
        sampled_by=sampled_by,
    )
    if periods.undefined or limits.WHOLE in periods.constructions:
        raise AuditError(periods.undefined or "no estimate is possible from its audit")
    return periods


def matched(audits: Mapping[str, ConfusionCounts], periods: Sequence) -> dict:
    """Return the audits by the period to which each belongs.

    Audits of one period, such as those of its days, are added up. Audits without a period keep
    their own name.
    """
    by_text = {str(period): period for period in periods}
    same = calendar.same_periods([str(name) for name in audits], [*by_text])
    parts = defaultdict(list)
    for name, audit in audits.items():
        period = same.get(str(name), "")
        parts[by_text.get(period, name)].append(audit)
    pooled = {}
    for period, same_period in parts.items():
        several = len(same_period) > 1
        pooled[period] = pool_audits(*same_period) if several else same_period[0]
    return pooled


def choice_note(
    audits: Mapping,
    audit_rates: str,
    pvalue: float,
    *,
    own: bool,
) -> Note:
    """Return the note on how the audits are used, with the reason."""
    size = sum(audit.n for audit in audits.values())
    periods = counted(len(audits), "period")
    items = counted(size, "item")
    test = f"test of equal rates: p = {pvalue:.2g}"
    if np.isnan(pvalue):
        test = "no class was audited in two of them, so no test of equal rates is possible"
    reason = ", as asked"
    if audit_rates == "auto":
        reason = " because the rates P(prediction | truth) differ between them" if own else ""
    use = (
        f"their rates P(prediction | truth) are pooled{reason}, and assumed to hold in every period"
    )
    if own:
        use = f"each period is estimated from its own audit only{reason}"
    return Note("assumption", f"{periods} audited ({items}): {use} ({test})")
