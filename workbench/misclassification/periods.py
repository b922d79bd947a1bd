"""Estimates for many periods from one audit: their shared errors, their limits and their caveats.

Read `Periods` from the top: data, estimates, covariances, limits, expected errors. Then
`check_audit` and `not_estimable` decide which audits allow a method. `doubts` has the caveats of
single periods.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import scipy
from numpy import ndarray
from numpy.typing import ArrayLike

from workbench import checks
from workbench.checks import WrongValue
from workbench.misclassification import doubts, limits, methods
from workbench.misclassification.confusion import ConfusionCounts, fisher_pvalue
from workbench.misclassification.limits import (
    DELTA,
    DRAWN,
    FIELLER,
    LEAST_D,
    ONE_PER_CLASS,
    WHOLE,
)
from workbench.misclassification.methods import METHODS, Slopes, by_row, estimator_of, slopes_of
from workbench.misclassification.theory import LARGE_PART, moments
from workbench.results import Note

DRAWS = 4000
KNOWN_PART = 0.5  # part of the frame; a larger audit limits the proportions by its own items
STRANGE = 0.001  # the probability that a random sample is suspected by mistake
Limits = tuple[ndarray, ...]


@dataclass(frozen=True, eq=False)
class Periods:
    """T periods with usable counts, one audit and one method.

    Attributes
    ----------
    audit : ConfusionCounts
    frame : (K,) array of int or None
    counts : (T, K) array of int
    method, rates : str
    construction : str
        Type of the intervals. It decides how many counts are added to each cell of the audit.
    sampled_by : {"random", "truth", "prediction"}
        Design of the audit.
    audited : int or None
        Position of the audited period. None for the first period with the counts of the frame.
    """

    audit: ConfusionCounts
    frame: ndarray | None
    counts: ndarray
    method: str
    rates: str
    construction: str = DELTA
    sampled_by: str = "random"
    audited: int | None = None

    @property
    def entry(self) -> methods.Method:
        """The entry of the method in `METHODS`."""
        return METHODS[self.method]

    @cached_property
    def half(self) -> ndarray:
        """The audit's table with half a count added per cell, or what the interval needs."""
        return self.audit.effective + limits.added(self.construction, len(self.audit.labels))

    @cached_property
    def frame_size(self) -> int | None:
        """Items in the frame, or None."""
        return None if self.frame is None else int(self.frame.sum())

    @cached_property
    def frame_shares(self) -> ndarray | None:
        """Predicted proportions of the frame, or None."""
        return None if self.frame is None else self.frame / self.frame_size

    @cached_property
    def size(self) -> ndarray:
        """Items per period, (T,)."""
        return self.counts.sum(1)

    @cached_property
    def shares(self) -> ndarray:
        """Predicted proportions per period, (T, K)."""
        return self.counts / self.size[:, None]

    @cached_property
    def own(self) -> ndarray:
        """Marks the audited period: the one that was named, or the first with the same counts."""
        if self.frame is None:
            return np.zeros(len(self.counts), bool)
        if self.audited is not None:
            return np.arange(len(self.counts)) == self.audited
        same = (self.counts == self.frame).all(1)
        return same & (same.cumsum() == 1)

    @cached_property
    def estimate(self) -> ndarray:
        """Estimates from the table without added counts, (T, K); NaN without an estimate."""
        table = self.audit.effective
        shares = self.shares
        return methods.shares_of(self.method, table, self.frame_shares, shares) + self._none

    @cached_property
    def possible(self) -> Limits:
        """Smallest and largest possible proportions, (T, K) each.

        In the audited frame itself the classes of the audited items are known. This matters if
        they are more than half of the frame.
        """
        least = np.zeros(self.shares.shape)
        most = np.ones(self.shares.shape)
        size = self.frame_size
        audited = self.audit.table.sum(1)
        if size and self.own.any() and audited.sum() > KNOWN_PART * size:
            least[self.own] = audited / size
            most[self.own] = (audited + size - audited.sum()) / size
        return least, most

    @cached_property
    def restricted(self) -> ndarray:
        """The estimates as they are shown, (T, K): the nearest possible proportions."""
        return limits.restricted(self.estimate, self.possible[0])

    @cached_property
    def slopes(self) -> Slopes:
        """Slopes at the table with added counts, with higher orders of the variance of 1 / d."""
        slopes = methods.curved(self.method, self._slopes, self.half, self.frame_shares)
        return slopes.within_frame(self.own)

    @cached_property
    def straight(self) -> Slopes:
        """Slopes at the table with added counts, to first order."""
        return self._slopes.within_frame(self.own)

    @cached_property
    def _slopes(self) -> Slopes:
        return self._slopes_of(self.method)

    def _slopes_of(self, method: str) -> Slopes:
        return slopes_of(method, self.half, self.frame_shares, self.shares)

    @cached_property
    def reading(self) -> ndarray:
        """Covariances (T, K, K) that the periods' own items cause."""
        return self._reading(self.method, self.slopes)

    def _reading(self, method: str, slopes: Slopes) -> ndarray:
        return methods.reading_covariance(method, slopes, self.half, self.shares, self.size)

    @cached_property
    def covariance(self) -> ndarray:
        """Covariances of the levels, (T, K, K); NaN where the audit gives no estimate.

        An audit that was sampled by the truth has fixed row sums, so the first order is enough.
        """
        if self.sampled_by == "truth":
            return self._from_audit(self.straight) + self.reading
        least, most = self.possible
        is_open = np.any(most > least, axis=1)
        return self._interval_covariance * is_open[:, None, None]

    @cached_property
    def _interval_covariance(self) -> ndarray:
        """Covariances of the levels from which intervals are made, (T, K, K)."""
        return self._from_audit(self.slopes, self.own) + self.reading

    def change_covariance(self, first: ndarray, last: ndarray) -> ndarray:
        """Return the covariances of the changes from periods `first` to `last`, (C, K, K)."""
        reading = self.reading
        if self.sampled_by == "prediction" and self.rates == "process":
            # the truth of the audited period varies around the rates of the process, too
            reading = self._reading(self.method, self._slopes)
        from_audit = self._from_audit(_difference(self.slopes, first, last))
        return from_audit + reading[first] + reading[last]

    @cached_property
    def _none(self) -> float:
        """NaN where the audit gives no estimate, else 0."""
        return np.nan if self.undefined else 0.0

    def _from_audit(self, slopes: Slopes, own: bool | ndarray = False) -> ndarray:
        """Return the covariances from the audit; `own` marks the audited frame itself."""
        audit = self.audit
        if self.sampled_by != "prediction":
            size = self.frame_size
            rates = self.rates
            return methods.audit_covariance(slopes, self.half, audit.n, size, rates) + self._none
        left_out = np.ones(len(audit.labels))
        if self.frame is not None:
            of_frame = np.reshape(own, (-1, 1)) | (self.rates == "frame")
            audited_part = audit.table.sum(0) / np.maximum(self.frame, 1)
            left_out = np.where(of_frame, 1 - audited_part, 1.0)
        return methods.column_covariance(slopes, self.half, left_out)

    @cached_property
    def draws(self) -> ndarray:
        """Seeded draws of the levels, (DRAWS, T, K)."""
        drawn = methods.draw_estimates(
            self.method,
            self.half,
            self.audit.n,
            self.frame,
            self.shares,
            self.own,
            rates=self.rates,
            draws=DRAWS,
        )
        return drawn + methods.normal_draws(self.reading, DRAWS, rng=np.random.default_rng(1))

    @cached_property
    def constructions(self) -> tuple[str, ...]:
        """Names of the intervals that the reported interval contains."""
        divides = self.entry.divides_by
        if self.undefined or (divides and not self.stability[0] > LEAST_D):
            return (WHOLE,)
        if self.sampled_by == "prediction":
            return (DELTA if len(self.audit.labels) == 2 else ONE_PER_CLASS,)
        cv = self.stability[1] if divides else 0.0
        return limits.constructions(self.method, self.audit.effective, cv)

    @property
    def level_constructions(self) -> tuple[str, ...]:
        """Names of the intervals that the reported interval of a level contains."""
        if self.entry.limits and WHOLE not in self.constructions:
            return DELTA, FIELLER
        return self.constructions

    def level_limits(self, level: float) -> Limits:
        """Return the limits (T, K) of the levels, within the possible proportions."""
        if level not in self._limits_by_level:
            low, high = np.clip(self._unrestricted_limits(level), *self.possible)
            low, high = self._reaching_inside(low, high, level)
            shares = self.restricted
            self._limits_by_level[level] = np.fmin(low, shares), np.fmax(high, shares)
        return self._limits_by_level[level]

    @cached_property
    def _limits_by_level(self) -> dict[float, Limits]:
        return {}

    def _reaching_inside(
        self,
        low: ndarray,
        high: ndarray,
        level: float,
    ) -> Limits:
        """Return the limits, those outside the possible range moved inside from its edge."""
        least, most = self.possible
        outside = (low == high) & (least < most)
        if not outside.any():
            return low, high
        center = self.slopes.estimate
        variance = diagonal(self._interval_covariance)
        below_most = most - limits.beyond_edge(center - most, variance, level)
        above_least = least + limits.beyond_edge(least - center, variance, level)
        lowest = np.maximum(below_most, least)
        highest = np.minimum(above_least, most)
        low = np.where(outside & (center > most), lowest, low)
        return low, np.where(outside & (center < least), highest, high)

    def _unrestricted_limits(self, level: float) -> Limits:
        """Return the limits (T, K) of the levels, within 0 and 1."""
        if not self.entry.limits:
            return self._hull(Periods._levels, self.shares.shape, 0.0, 1.0, level)
        low, high = self.entry.limits(self.audit.effective, self.counts, level)
        lower = np.stack([1 - high, low], 1)
        return lower, np.stack([1 - low, high], 1)

    def change_limits(
        self,
        first: ndarray,
        last: ndarray,
        level: float,
    ) -> Limits:
        """Return the limits (C, K) of the changes from periods `first` to `last`.

        They lie within the differences that both levels allow.
        """
        low, high = self.level_limits(level)
        least = low[last] - high[first]
        most = high[last] - low[first]
        change = self.restricted[last] - self.restricted[first]
        raw = self._hull(
            Periods._changes,
            change.shape,
            -1.0,
            1.0,
            first,
            last,
            level,
        )
        return limits.around(change, *raw, least, most)

    def growth_limits(
        self,
        first: ndarray,
        last: ndarray,
        level: float,
    ) -> Limits:
        """Return the limits (C, K) of the growth rates, of at least -1.

        NaN where a level is not clearly above 0.
        """
        low, high = self.level_limits(level)
        with np.errstate(all="ignore"):
            growth = self.restricted[last] / self.restricted[first] - 1
            raw = self._hull(
                Periods._growths,
                growth.shape,
                -1.0,
                np.inf,
                first,
                last,
                level,
            )
            least = low[last] / high[first] - 1
            most = high[last] / low[first] - 1
            growth_limits = limits.around(growth, *raw, least, most)
        positive = (low[first] > 0) & (self.estimate[last] > 0)
        return tuple(np.where(positive, limit, np.nan) for limit in growth_limits)

    def _hull(
        self,
        construct: Callable,
        shape: tuple,
        least: float,
        most: float,
        *arguments: object,
    ) -> Limits:
        """Return limits that contain all intervals, or `least` and `most` without any."""
        if WHOLE in self.constructions:
            return np.full(shape, least), np.full(shape, most)
        return limits.hull(construct(periods, *arguments) for periods in self._constructed)

    @cached_property
    def _constructed(self) -> list["Periods"]:
        """These periods once for each type of interval."""
        return [
            self if name == self.construction else replace(self, construction=name)
            for name in self.constructions
        ]

    @cached_property
    def beyond(self) -> ndarray:
        """Whether even the 95% interval of a proportion lies outside 0 to 1, (T, K)."""
        if WHOLE in self.constructions:
            return np.zeros(self.shares.shape, bool)
        variance = diagonal(self.covariance)
        low, high = limits.delta(self.slopes.estimate, variance, 0.95, -np.inf, np.inf)
        outside = (high < 0) | (low > 1)
        if outside.any() and len(self.audit.labels) == 2:
            outside &= np.equal(
                *self._unrestricted_limits(0.95)
            )  # the widened one may reach inside
        return outside

    def _levels(self, level: float) -> Limits:
        if self.construction == DRAWN:
            return limits.percentiles(self.draws, level, 0.0)
        if self.construction == FIELLER:
            return self._fieller(self.straight, self.reading, level, 0.0)
        return limits.delta(self.slopes.estimate, diagonal(self._interval_covariance), level, 0.0)

    def _changes(
        self,
        first: ndarray,
        last: ndarray,
        level: float,
    ) -> Limits:
        if self.construction == DRAWN:
            changes = self.draws[:, last] - self.draws[:, first]
            return limits.percentiles(changes, level, -1.0)
        if self.construction == FIELLER:
            slopes = _difference(self.straight, first, last)
            reading = self.reading[first] + self.reading[last]
            return self._fieller(slopes, reading, level, -1.0)
        estimate = self.slopes.estimate
        variance = diagonal(self.change_covariance(first, last))
        return limits.delta(estimate[last] - estimate[first], variance, level, -1.0)

    def _growths(
        self,
        first: ndarray,
        last: ndarray,
        level: float,
    ) -> Limits:
        """Return the limits of later / earlier - 1, by the log ratio, Fieller or draws."""
        if self.construction == DRAWN:
            ratios = self.draws[:, last] / self.draws[:, first]
            return limits.percentiles(ratios - 1, level, -1.0, np.inf)
        if self.construction == FIELLER:
            return self._fieller_growths(first, last, level)
        of_first = self.slopes.of_periods(first)
        of_last = self.slopes.of_periods(last)
        later = 1 / of_last.estimate
        earlier = 1 / of_first.estimate
        of_audit = of_last.scaled(later) - of_first.scaled(earlier)
        reading = diagonal(self.reading)
        of_items = reading[last] * later**2 + reading[first] * earlier**2
        variance = diagonal(self._from_audit(of_audit)) + of_items
        log_ratio = np.log(of_last.estimate / of_first.estimate)
        low, high = limits.delta(log_ratio, variance, level, -np.inf, np.inf)
        return np.expm1(low), np.expm1(high)

    def _fieller(
        self,
        slopes: Slopes,
        reading: ndarray,
        level: float,
        least: float,
    ) -> Limits:
        """Return Fieller's limits of levels or changes, which d divides."""
        log_d = limits.log_d(self.method, slopes, self.half, self.frame_shares)
        reading = limits.without_denominator(reading)
        return limits.of_ratios(
            slopes,
            log_d,
            self._from_audit,
            reading,
            level,
            least,
        )

    def _fieller_growths(
        self,
        first: ndarray,
        last: ndarray,
        level: float,
    ) -> Limits:
        """Return Fieller's limits of later / earlier - 1; the denominator is d times earlier."""
        of_first = self.straight.of_periods(first)
        of_last = self.straight.of_periods(last)
        early = of_first.estimate
        ratio = of_last.estimate / early
        growth = of_last.scaled(1 / early) - of_first.scaled(ratio / early)
        growth = replace(growth, estimate=ratio - 1)
        log_d = limits.log_d(self.method, growth, self.half, self.frame_shares)
        log_denominator = log_d - of_first.scaled(-1 / early)
        reading = diagonal(self.reading)
        later, earlier = (reading[part] / early**2 for part in (last, first))
        shared = -ratio * earlier
        of_ratio = later + ratio**2 * earlier
        covariance = np.stack(
            [
                of_ratio,
                shared,
                shared,
                earlier,
            ],
            -1,
        )
        covariance = covariance.reshape(*ratio.shape, 2, 2)
        return limits.of_ratios(
            growth,
            log_denominator,
            self._from_audit,
            covariance,
            level,
            -1.0,
            np.inf,
        )

    @cached_property
    def stability(self) -> tuple[float, float]:
        """The divisor (d, or the smallest singular value) and its coefficient of variation."""
        if len(self.audit.labels) == 2:
            d = np.trace(by_row(self.half)) - 1
            return float(d), float(methods.slope_cv(self.half))
        sigma, sd = methods.smallest_singular(self.half, 1000)
        return sigma, sd / sigma

    @cached_property
    def undefined(self) -> str:
        """The reason why there is no estimate although there is an interval, or ''."""
        return not_estimable(self.audit, self.method) if self.entry.divides_by else ""

    @cached_property
    def doubts(self) -> tuple[Note, ...]:
        """Notes on why the interval is wider than that of the delta method or of the draws."""
        if not self.entry.divides_by:
            return ()
        if self.undefined:
            text = f"no estimate is possible, and intervals are 0 to 1: {self.undefined}"
            return (Note("undefined", text),)
        return (*doubts.stability_notes(self), *doubts.few_notes(self))

    @cached_property
    def confused(self) -> str:
        """The two classes whose rows of P are most similar, in words."""
        rates = by_row(self.half)
        labels = self.audit.labels
        distance = np.abs(rates[:, None] - rates).sum(-1)
        np.fill_diagonal(distance, np.inf)
        i, j = divmod(int(distance.argmin()), len(rates))
        return (
            f"the classes {labels[i]!r} and {labels[j]!r}, which have the most similar predictions"
        )

    def audit_notes(self) -> Iterator[Note]:
        """Yield the caveats of the audit."""
        audit = self.audit
        table = audit.effective
        labels = audit.labels
        frame = self.frame
        random_sample = self.sampled_by == "random"
        if random_sample and frame is not None and fit_pvalue(audit, frame) < STRANGE:
            yield Note(
                "unreliable",
                "the audit is unlikely to be a random sample of the counts at audit time: "
                f"{doubts.misfit(audit, frame)}. Check for swapped classes, another period or "
                "another file",
            )
        yield from self.doubts
        if self.entry.divides_by:
            for k in np.flatnonzero(np.diag(table) < table.max(1)):
                usual = labels[table[k].argmax()]
                yield Note(
                    "unreliable",
                    f"items of class {labels[k]!r} are predicted {usual!r} more often than "
                    "correctly; check whether the labels are swapped",
                )
        if not self.doubts:
            yield from doubts.few_notes(self)
        part = audit.n / (self.frame_size or np.inf)
        if part > LARGE_PART:
            text = f"the audit is {part:.0%} of the frame: {doubts.LARGE_AUDIT[self.rates]}"
            yield Note("assumption", text)

    def period_notes(self, where: Sequence | None = None) -> tuple[Note, ...]:
        """Return the caveats of single periods; `where` has the place of each note."""
        notes = []
        for t in range(len(self.counts)):
            location = where[t] if where else None
            notes += [Note(kind, text, location) for kind, text in doubts.about_period(self, t)]
        return tuple(notes)

    @cached_property
    def reference(self) -> str:
        """The method that estimates the true proportions if P(prediction | truth) is constant."""
        return "misclassification" if self.frame is None else "mle"

    @cached_property
    def believed_rates(self) -> ndarray:
        """P(prediction | truth) as the reference method estimates it, (K, K)."""
        if self.frame_shares is None:
            return by_row(self.half)
        return by_row(methods.poststratified(self.half, self.frame_shares))

    @cached_property
    def believed(self) -> tuple[ndarray, ndarray]:
        """True proportions at audit time (K,) and per period (T, K).

        They assume that P(prediction | truth) is constant, and lie within 0 and 1. They are NaN if
        the classifier is no better than chance, or if the audit has no item of a class.
        """
        if self.frame is None:
            first = by_row(self.half.sum(1))
        else:
            first = methods.shares_of("calibration", self.half, None, self.frame_shares)
        later = methods.shares_of(self.reference, self.half, self.frame_shares, self.shares)
        by_chance = len(first) == 2 and np.trace(by_row(self.half)) <= 1 + LEAST_D
        if by_chance or not self.audit.effective.sum(1).all():
            later = np.full(later.shape, np.nan)
        later = np.where(self.own[:, None], first, np.clip(later, 1e-3, None))
        return first, by_row(later)

    @cached_property
    def theory(self) -> tuple[dict[str, ndarray], dict[str, ndarray]]:
        """Bias and variance of the second of two classes, dicts of method to (T,)."""
        first, later = self.believed
        (p00, _), (_, p11) = self.believed_rates
        n = max(int(self.audit.effective.sum()), 1)
        sizes = (n, self.frame_size, self.size)
        with np.errstate(divide="ignore", invalid="ignore"):
            return moments(
                first[1],
                later[:, 1],
                p00,
                p11,
                *sizes,
                self.rates,
            )[:2]

    @cached_property
    def bias(self) -> ndarray:
        """Expected error (T, K) at the estimated shift, to order 1/n; NaN if unknown."""
        first, later = self.believed
        divides = self.entry.divides_by
        if self.undefined or (divides and len(first) > 2):
            return np.full(later.shape, np.nan)
        if divides:
            bias = self.theory[0][estimator_of(self.method)]
            return np.stack([-bias, bias], 1)
        rates = self.believed_rates
        table = first[:, None] * rates
        return methods.shares_of(self.method, table, first @ rates, later @ rates) - later

    @cached_property
    def expected_error(self) -> ndarray:
        """Root mean squared error (T, K) at the estimated shift, without an unknown bias.

        The square of an estimated bias is its expectation: the squared estimate plus its variance.
        The variance of the estimator is that of the theory for two classes. For more classes, and
        for the audited frame itself, it is the estimated variance.
        """
        variance = diagonal(self.covariance)
        if len(self.audit.labels) == 2:
            expected = self.theory[1][estimator_of(self.method)][:, None]
            variance = np.where(self.own[:, None] | np.isnan(expected), variance, expected)
        if not self.entry.divides_by:
            variance = variance + self._bias_variance
        error = np.sqrt(variance + np.nan_to_num(self.bias) ** 2)
        return np.where(np.isnan(self.believed[1]), np.nan, error)

    @cached_property
    def _bias_variance(self) -> ndarray:
        """Variances (T, K) of the estimated bias, the difference from the reference method."""
        ours = self._slopes
        reference = self._slopes_of(self.reference)
        frame = self.frame_shares
        if self.method == "baseline" and frame is not None:  # the frame estimates its expectation
            ours = slopes_of("calibration", self.half, None, frame).within_frame(True)
        shares = ours.shares - reference.shares
        distance = replace(ours - reference, estimate=reference.estimate, shares=shares)
        distance = distance.within_frame(self.own)
        covariance = self._from_audit(distance) + self._reading(self.reference, distance)
        return diagonal(covariance)


class AuditError(ValueError):
    """An audit from which a method cannot be computed; the message gives the reason."""


def check_audit(audit: ConfusionCounts, frame: ArrayLike | None, method: str) -> None:
    """Raise if the method has neither an estimate nor an interval.

    Methods that divide by d have an interval, 0 to 1, from every audit whose labels are not
    clearly swapped.
    """
    checks.instance("audit", audit, ConfusionCounts)
    entry = METHODS[method]
    if "frame" in entry.needs and frame is None:
        raise WrongValue(
            "counts_at_audit",
            f"must be given for method {method!r}: the predicted counts of all items from which "
            "the audit was sampled. Without them use 'misclassification', which also assumes a "
            "constant P(prediction | truth)",
        )
    problem = not_estimable(audit, method)
    if not problem:
        return
    computable = len(audit.labels) == 2 or not entry.limits
    has_interval = computable and entry.divides_by and not _weights_unused(audit, method)
    if not has_interval or limits.swapped(audit.effective):
        raise AuditError(problem)


def not_estimable(audit: ConfusionCounts, method: str) -> str:
    """Return the reason why a method has no estimate and an alternative, or ''."""
    table = audit.table
    two = len(audit.labels) == 2
    entry = METHODS[method]
    if _weights_unused(audit, method):
        return (
            f"method {method!r} assumes that the audit is a simple random sample of the counted "
            "items, but its items have sampling weights. Use 'misclassification', whose rates are "
            "weighted"
        )
    if entry.limits and not two:
        return f"method {method!r} is for two classes; the audit has {len(audit.labels)}. Use 'mle'"
    for k, label in enumerate(audit.labels):
        if "rows" in entry.needs and table[k].sum() == 0:
            rate = f"p{k}{k}" if two else f"P(prediction | truth {label!r})"
            return (
                f"{rate} cannot be estimated: no audited item of class {label!r}. Audit items of "
                "this class, or use 'calibration' if P(truth | prediction) is constant"
            )
        if "columns" in entry.needs and table[:, k].sum() == 0:
            return (
                f"P(truth | prediction {label!r}) cannot be estimated: no audited item was "
                f"predicted {label!r}. Audit such items, or use 'misclassification'"
            )
    return _not_invertible(audit) if entry.divides_by else ""


def _weights_unused(audit: ConfusionCounts, method: str) -> bool:
    """Return whether a method cannot use the sampling weights of an audit.

    Only the rates P(prediction | truth) are weighted. Audits sampled by the truth show them too.
    """
    return audit.weighted is not None and "truth" not in METHODS[method].designs


def check_frame(frame: ndarray, audit: ConfusionCounts) -> None:
    """Raise unless the audited items can belong to the frame."""
    for k in np.flatnonzero(audit.table.sum(0) > frame):
        audited = audit.table[:, k].sum()
        raise WrongValue(
            "counts_at_audit",
            f"must include the audited items; {audited} audited items were predicted "
            f"{audit.labels[k]!r}, but only {frame[k]} items were counted. Give the counts of the "
            "items from which the audit was sampled. If the audited items were chosen by their "
            "true class, or come from elsewhere, use sampled_by='truth' (--sampled-by truth)",
        )


def _not_invertible(audit: ConfusionCounts) -> str:
    rates = by_row(audit.effective)
    if len(rates) == 2:
        p00, p11 = np.diag(rates)
        if p00 + p11 - 1 < LEAST_D:
            accuracies = f"{p00:.3f} + {p11:.3f}"
            return (
                f"p00 + p11 must be above 1; the audit has {accuracies}. The classifier is no "
                "better than chance, or the labels are swapped"
            )
    elif np.linalg.svd(rates, compute_uv=False)[-1] < LEAST_D:
        return (
            "P(prediction | truth) of the audit must be invertible, but its rows are linearly "
            "dependent because some classes get the same predictions. Merge these classes or audit "
            "more items"
        )
    return ""


def fit_pvalue(audit: ConfusionCounts, frame: ndarray) -> float:
    """Return the p-value of the test that an audit is a random sample of the frame.

    The test compares the predicted classes by Pearson's statistic. If few items of a class are
    expected, it uses exact tests of each class with Bonferroni's correction.
    """
    size = frame.sum()
    occurs = frame > 0
    if audit.n >= size or occurs.sum() == 1:
        return 1.0
    audited = audit.table.sum(0)[occurs]
    counts = frame[occurs]
    unaudited = size - audit.n
    expected = audit.n * counts / size
    if expected.min() < limits.FEW:
        totals = np.array([audit.n, unaudited])
        tables = np.stack([audited, counts - audited], 1)
        pvalues = [fisher_pvalue(table, totals) for table in tables]
        tests = len(pvalues) if len(pvalues) > 2 else 1
        return min(1.0, min(pvalues) * tests)
    deviations = (audited - expected) ** 2 / expected
    statistic = deviations.sum() * (size - 1) / unaudited
    return float(scipy.special.chdtrc(len(audited) - 1, statistic))


def diagonal(covariance: ndarray) -> ndarray:
    """Return the variances (T, K) of covariances (T, K, K)."""
    return np.einsum("tkk->tk", covariance)


def _difference(slopes: Slopes, first: ndarray, last: ndarray) -> Slopes:
    """Return the slopes of the changes from periods `first` to `last`."""
    return slopes.of_periods(last) - slopes.of_periods(first)
