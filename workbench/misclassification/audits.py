"""Audits of several periods: whether their rates differ, and estimates of each period from its own audit.

Rates P(prediction | truth) that are pooled over the audits give every period the estimate and the
interval of one audit of all their items, by "misclassification" (`periods`): given the truths,
these items are independent draws of the rates, in whichever period they were audited. Where the
rates differ, a period's own audit is taken for a random sample of its own counted items.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy

from workbench import checks
from workbench.misclassification import calendar, designs, limits, methods
from workbench.misclassification.confusion import ConfusionCounts, pool_audits
from workbench.misclassification.periods import AuditError, Periods, check_audit
from workbench.results import Note

AUDIT_RATES = ("auto", "pooled", "own")
PERMUTATIONS = 9_999
NEWCOMBE = "Newcombe's of two independent intervals"


def same_rates_pvalue(audits: Sequence[ConfusionCounts]) -> float:
    """Return the p-value of equal rates P(prediction | truth) in all audits.

    The statistic is the sum of Pearson's over the true classes. Its distribution is that of random
    tables with the same margins [1]_; of weighted audits it is chi-squared, for effective counts.

    Parameters
    ----------
    audits : sequence of ConfusionCounts
        Independent, with the same classes.

    Returns
    -------
    float
        NaN where no class was audited twice.

    References
    ----------
    .. [1] Patefield, Algorithm AS 159: an efficient method of generating random R x C tables with
       given row and column totals, Applied Statistics 30, 1981.

    Examples
    --------
    >>> same_rates_pvalue([ConfusionCounts([[40, 10], [5, 45]]), ConfusionCounts([[20, 30], [5, 45]])])
    0.0006
    >>> same_rates_pvalue([ConfusionCounts([[40, 10], [5, 45]]), ConfusionCounts([[80, 20], [10, 90]])])
    1.0
    """
    tables = np.stack([audit.effective for audit in audits], 1).astype(
        float
    )  # (true class, audit, predicted)
    of_class = [table[table.sum(1) > 0][:, table.sum(0) > 0] for table in tables]
    compared = [table for table in of_class if min(table.shape) > 1]
    if not any(len(table) > 1 for table in of_class):
        return np.nan
    if not compared:  # all items of every class were predicted alike
        return 1.0
    statistic = sum(float(_pearson(table)) for table in compared)
    if audits[0].weighted is not None:
        freedom = sum((table.shape[0] - 1) * (table.shape[1] - 1) for table in compared)
        return float(scipy.special.chdtrc(freedom, statistic))
    from scipy.stats import random_table

    rng = np.random.default_rng(0)
    drawn = np.zeros(PERMUTATIONS)
    for table in compared:
        margins = (table.sum(axis).astype(int) for axis in (1, 0))
        drawn += _pearson(random_table(*margins).rvs(PERMUTATIONS, random_state=rng))
    as_large = int((drawn >= statistic * (1 - 1e-9)).sum())
    return (1 + as_large) / (1 + PERMUTATIONS)


def _pearson(tables: np.ndarray) -> np.ndarray:
    """Return Pearson's statistic of tables (..., R, C)."""
    rows, columns = tables.sum(-1, keepdims=True), tables.sum(-2, keepdims=True)
    expected = rows * columns / rows.sum(-2, keepdims=True)
    return ((tables - expected) ** 2 / expected).sum((-1, -2))


@dataclass(frozen=True, eq=False)
class OwnAudits:
    """T periods, each with an audit of its own: what `PrevalenceSeries` asks of `Periods`.

    Attributes
    ----------
    parts : tuple of Periods
        One of each period, which hold one period each.
    """

    parts: tuple[Periods, ...]

    def __getattr__(self, name: str) -> np.ndarray:
        """Return an array of all periods: `estimate`, `restricted`, `covariance`, `shares`, `bias` or `own`."""
        if name not in ("estimate", "restricted", "covariance", "shares", "bias", "own"):
            raise AttributeError(name)
        return np.concatenate([getattr(part, name) for part in self.parts])

    undefined = ""
    constructions: tuple[str, ...] = (NEWCOMBE,)

    @property
    def doubts(self) -> tuple[Note, ...]:
        """No doubts of all periods: each audit has its own, see `audit_notes`."""
        return ()

    @cached_property
    def size(self) -> np.ndarray:
        """Items per period, (T,)."""
        return np.concatenate([part.size for part in self.parts])

    def change_covariance(self, first: np.ndarray, last: np.ndarray) -> np.ndarray:
        """Return the covariances of the changes from periods `first` to `last`, (C, K, K): independent audits."""
        return self.covariance[first] + self.covariance[last]

    def level_limits(self, level: float) -> tuple[np.ndarray, ...]:
        """Return the limits (T, K) of the levels, within 0 and 1."""
        low, high = zip(*(part.level_limits(level) for part in self.parts), strict=True)
        return np.concatenate(low), np.concatenate(high)

    def change_limits(
        self, first: np.ndarray, last: np.ndarray, level: float
    ) -> tuple[np.ndarray, ...]:
        """Return the limits (C, K) of the changes, within -1 and 1."""
        low, high = self.level_limits(level)
        limits_of_change = _newcombe(self.restricted, low, high, first, last)
        return tuple(np.clip(limit, -1, 1) for limit in limits_of_change)

    def growth_limits(
        self, first: np.ndarray, last: np.ndarray, level: float
    ) -> tuple[np.ndarray, ...]:
        """Return the limits (C, K) of the growth rates; NaN where the earlier level may be 0."""
        low, high = self.level_limits(level)
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = _newcombe(
                *(np.log(np.maximum(values, 0)) for values in (self.restricted, low, high)),
                first,
                last,
            )
        known = (low[first] > 0) & (self.estimate[last] > 0)
        return tuple(
            np.where(known, np.expm1(np.nan_to_num(limit, neginf=-np.inf)), np.nan)
            for limit in logs
        )

    def audit_notes(self) -> tuple[Note, ...]:
        """No notes on all periods: each audit has its own, see `period_notes`."""
        return ()

    def period_notes(self, where: Sequence[tuple]) -> tuple[Note, ...]:
        """Return what the reader has to know of each period and of its audit."""
        notes = []
        for part, place in zip(self.parts, where, strict=True):
            notes += [Note(note.kind, note.text, place) for note in part.audit_notes()]
        return tuple(notes)


def _newcombe(
    estimate: np.ndarray, low: np.ndarray, high: np.ndarray, first: np.ndarray, last: np.ndarray
) -> tuple:
    """Return the limits of differences of independent estimates from the limits of each."""
    change = estimate[last] - estimate[first]
    down = np.hypot(
        np.maximum(estimate[last] - low[last], 0), np.maximum(high[first] - estimate[first], 0)
    )
    up = np.hypot(
        np.maximum(high[last] - estimate[last], 0), np.maximum(estimate[first] - low[first], 0)
    )
    return change - down, change + up


def own_method(method: str, sampled_by: str) -> str:
    """Return the method for a period whose own items were audited.

    "mle" and "mixed" weight the period's audit to its own counts there, which is what "calibration"
    does. An audit that was sampled by truth allows "misclassification" instead.
    """
    if method == designs.AUTO:
        return "misclassification" if sampled_by == designs.TRUTH else "calibration"
    if designs.why_not_allowed(sampled_by, method):
        raise checks.WrongValue(
            "method",
            f"must fit how the audits were sampled: {designs.why_not_allowed(sampled_by, method)}",
        )
    return "calibration" if "frame" in methods.METHODS[method].needs else method


def own_periods(
    audit: ConfusionCounts | None, counts: np.ndarray, method: str, rates: str, sampled_by: str
) -> Periods:
    """Return one period with its own audit, or raise an `AuditError` if that gives no estimate."""
    if audit is None:
        raise AuditError(
            "it was not audited, and each period is estimated from its own audit; 'pooled' as "
            "audit_rates takes the rates of the others for it"
        )
    frame = None if audit.weighted is not None or sampled_by == designs.TRUTH else counts
    check_audit(audit, frame, method)
    if frame is not None and (audit.table.sum(0) > frame).any():
        raise AuditError(
            f"its audit has {audit.table.sum(0).tolist()} items predicted {checks.listed(audit.labels)}, "
            f"more than the {frame.tolist()} that were counted"
        )
    periods = Periods(audit, frame, counts[None], method, rates, sampled_by=sampled_by)
    if periods.undefined or limits.WHOLE in periods.constructions:
        raise AuditError(periods.undefined or "its audit allows no estimate")
    return periods


def matched(audits: Mapping[str, ConfusionCounts], periods: Sequence) -> dict:
    """Return the audits by the period of the counts that each belongs to, those without one by their own name.

    Audits of one period, as those of its days, are added up.
    """
    by_text = {str(period): period for period in periods}
    same = calendar.same_periods([str(name) for name in audits], [*by_text])
    found: dict = {}
    for name, audit in audits.items():
        found.setdefault(by_text.get(same.get(str(name), ""), name), []).append(audit)
    return {
        name: parts[0] if len(parts) == 1 else pool_audits(*parts) for name, parts in found.items()
    }


def choice_note(audits: Mapping, audit_rates: str, pvalue: float, *, own: bool) -> Note:
    """Return what was done with the audits, and on what grounds."""
    items = sum(audit.n for audit in audits.values())
    what = f"{checks.counted(len(audits), 'period')} audited ({checks.counted(items, 'item')})"
    test = (
        "no class was audited in two of them, so that no test can tell whether the rates differ"
        if np.isnan(pvalue)
        else f"p = {pvalue:.2g} of a test of equal rates"
    )
    if own:
        asked = (
            "as asked"
            if audit_rates == "own"
            else "as rates P(prediction | truth) differ between them"
        )
        return Note(
            "assumption",
            f"{what}: each period is estimated from its own audit alone, {asked} ({test})",
        )
    asked = ", as asked" if audit_rates == "pooled" else ""
    return Note(
        "assumption",
        f"{what}: their rates P(prediction | truth) are pooled over the periods{asked}, and "
        f"taken for those of every period ({test})",
    )
