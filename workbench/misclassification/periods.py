"""Estimates for many periods from one audit: their shared errors, limits, and what makes them doubtful."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy
from numpy.typing import ArrayLike

from workbench import checks
from workbench.misclassification import doubts, limits, methods
from workbench.misclassification.confusion import ConfusionCounts, fisher_pvalue
from workbench.misclassification.theory import LARGE_PART, moments
from workbench.results import Note

DRAWS = 4000
KNOWN_PART = 0.5  # of the frame: an audit that bounds the shares by its own items
STRANGE = 0.001  # so many random samples are suspected by mistake


@dataclass(frozen=True, eq=False)
class Periods:
    """T periods whose counts can be used, one audit, one method.

    Attributes
    ----------
    audit : ConfusionCounts
    frame : (K,) array of int or None
    counts : (T, K) array of int
    method, rates : str
    added : float
        Counts added to each cell of the audit.
    sampled_by : {"random", "truth", "prediction"}
        Design of the audit.
    """

    audit: ConfusionCounts
    frame: np.ndarray | None
    counts: np.ndarray
    method: str
    rates: str
    added: float = methods.HALF
    sampled_by: str = "random"

    @property
    def divides(self) -> bool:
        """Whether the method divides by d."""
        return bool(methods.METHODS[self.method].divides_by)

    @cached_property
    def half(self) -> np.ndarray:
        """The audit's table with `added` counts per cell, half a count but for intervals that need more."""
        return self.audit.effective + self.added

    @cached_property
    def frame_size(self) -> int | None:
        """Items in the frame, or None."""
        return None if self.frame is None else int(self.frame.sum())

    @cached_property
    def frame_shares(self) -> np.ndarray | None:
        """Predicted shares of the frame, or None."""
        return None if self.frame is None else self.frame / self.frame_size

    @cached_property
    def size(self) -> np.ndarray:
        """Items per period, (T,)."""
        return self.counts.sum(1)

    @cached_property
    def shares(self) -> np.ndarray:
        """Predicted shares per period, (T, K)."""
        return self.counts / self.size[:, None]

    @cached_property
    def own(self) -> np.ndarray:
        """Which period is the audited frame itself: the first one with its very counts, (T,)."""
        if self.frame is None:
            return np.zeros(len(self.counts), bool)
        same = (self.counts == self.frame).all(1)
        return same & (same.cumsum() == 1)

    @cached_property
    def estimate(self) -> np.ndarray:
        """Shares from the raw table, (T, K); NaN where the audit gives none."""
        return (
            methods.shares_of(self.method, self.audit.effective, self.frame_shares, self.shares)
            + self._none
        )

    @cached_property
    def possible(self) -> tuple[np.ndarray, np.ndarray]:
        """Least and largest possible shares, (T, K) each.

        Of the audited frame itself the audited items are known, which matters where they are most of it.
        """
        least, most = np.zeros(self.shares.shape), np.ones(self.shares.shape)
        if self.own.any() and self.frame_size and self.audit.n > KNOWN_PART * self.frame_size:
            known = self.audit.table.sum(1)
            least[self.own] = known / self.frame_size
            most[self.own] = (known + self.frame_size - self.audit.n) / self.frame_size
        return least, most

    @cached_property
    def restricted(self) -> np.ndarray:
        """The estimates as they are shown, (T, K): the nearest possible shares."""
        return limits.restricted(self.estimate, self.possible[0])

    @cached_property
    def slopes(self) -> methods.Slopes:
        """Slopes at the half counts, with what the variance of 1 / d has beyond the first order."""
        return methods.curved(self.method, self._slopes, self.half, self.frame_shares).within_frame(
            self.own
        )

    @cached_property
    def straight(self) -> methods.Slopes:
        """Slopes at the half counts to the first order."""
        return self._slopes.within_frame(self.own)

    @cached_property
    def _slopes(self) -> Any:
        return methods.slopes_of(self.method, self.half, self.frame_shares, self.shares)

    @cached_property
    def reading(self) -> np.ndarray:
        """Covariances (T, K, K) from the periods' own items."""
        return methods.reading_covariance(
            self.method, self.slopes, self.half, self.shares, self.size
        )

    @cached_property
    def covariance(self) -> np.ndarray:
        """Covariances of the levels, (T, K, K); NaN where the audit gives no estimate.

        An audit that was sampled by the truth has fixed row sums, and the first order is enough.
        """
        if self.sampled_by == "truth":
            return self._from_audit(self.straight) + self.reading + self._none
        return self._interval_covariance * self._unsure

    @cached_property
    def _unsure(self) -> np.ndarray:
        """0 for a period of which every item was audited, else 1, (T, 1, 1)."""
        least, most = self.possible
        return np.any(most > least, axis=1)[:, None, None].astype(float)

    @cached_property
    def _interval_covariance(self) -> np.ndarray:
        """Covariances of the levels from which intervals are made, (T, K, K)."""
        return self._from_audit(self.slopes, self.own) + self.reading + self._none

    def change_covariance(self, first: np.ndarray, last: np.ndarray) -> np.ndarray:
        """Return the covariances of the changes from periods `first` to `last`, (C, K, K)."""
        from_audit = self._from_audit(_weighted(self.slopes, first, last)) + self._none
        reading = self.reading
        if self.sampled_by == "prediction" and self.rates == "process":
            # the truth of the audited period varies around the rates of the process, too
            reading = methods.reading_covariance(
                self.method, self._slopes, self.half, self.shares, self.size
            )
        return from_audit + reading[first] + reading[last]

    @cached_property
    def _none(self) -> float:
        """NaN where the audit gives no estimate, else 0."""
        return np.nan if self.undefined else 0.0

    def _from_audit(self, slopes: Any, own: Any = False) -> np.ndarray:
        """Return the covariances that come from the audit; `own` says which are of the audited frame itself."""
        if self.sampled_by == "prediction":
            return methods.column_covariance(slopes, self.half, self._left_out(own))
        return methods.audit_covariance(
            slopes, self.half, self.audit.n, self.frame_size, self.rates
        )

    def _left_out(self, own: np.ndarray | bool) -> np.ndarray:
        """Return the finite-population factors (..., K) of the predicted classes: 1 - n/N of the frame, or 1."""
        if self.frame is None:
            return np.ones(len(self.audit.labels))
        factor = 1 - self.audit.table.sum(0) / np.maximum(self.frame, 1)
        of_frame = np.array(self.rates == "frame") | own
        return np.where(np.reshape(of_frame, (-1, 1)), factor, 1.0)

    @cached_property
    def draws(self) -> np.ndarray:
        """Seeded draws of the levels, (DRAWS, T, K)."""
        drawn = methods.draw_estimates(
            self.method,
            self.half,
            self.audit.n,
            self.frame_shares,
            self.shares,
            self.own,
            frame_size=self.frame_size,
            rates=self.rates,
            draws=DRAWS,
        )
        return drawn + methods.normal_draws(self.reading, DRAWS, rng=np.random.default_rng(1))

    @cached_property
    def constructions(self) -> tuple[str, ...]:
        """Names of the intervals whose hull is reported."""
        if self.undefined or self.divides and not self.stability[0] > limits.LEAST_D:
            return (limits.WHOLE,)
        if self.sampled_by == "prediction":
            return (limits.DELTA if len(self.audit.labels) == 2 else limits.ONE_PER_CLASS,)
        return limits.constructions(
            self.method, self.audit.effective, self.stability[1] if self.divides else 0.0
        )

    @property
    def level_constructions(self) -> tuple[str, ...]:
        """Names of the intervals whose hull is reported of a level."""
        own = methods.METHODS[self.method].limits and limits.WHOLE not in self.constructions
        return (limits.DELTA, limits.FIELLER) if own else self.constructions

    def level_limits(self, level: float) -> tuple[np.ndarray, ...]:
        """Return the limits (T, K) of the levels, within the possible shares; they contain `restricted`."""
        if level not in self._known_limits:
            least, most = self.possible
            low, high = (np.clip(limit, least, most) for limit in self._unrestricted_limits(level))
            low, high = self._reaching_inside(low, high, level)
            known = np.isfinite(self.restricted)
            self._known_limits[level] = (
                np.where(known, np.fmin(low, self.restricted), low),
                np.where(known, np.fmax(high, self.restricted), high),
            )
        return self._known_limits[level]

    def _reaching_inside(
        self, low: np.ndarray, high: np.ndarray, level: float
    ) -> tuple[np.ndarray, ...]:
        """Return the limits; an interval that lies outside the possible shares reaches inside from their edge."""
        least, most = self.possible
        if not ((low == high) & (least < most)).any():
            return low, high
        center, variance = self.slopes.estimate, _diagonal(self._interval_covariance)
        below, above = (
            (low == high) & (least < most) & outside for outside in (center < least, center > most)
        )
        lowest = np.maximum(most - limits.beyond_edge(center - most, variance, level), least)
        highest = np.minimum(least + limits.beyond_edge(least - center, variance, level), most)
        return np.where(above, lowest, low), np.where(below, highest, high)

    def _unrestricted_limits(self, level: float) -> tuple[np.ndarray, ...]:
        """Return the limits (T, K) of the levels, within 0 and 1."""
        own = methods.METHODS[self.method].limits
        if not own:
            return self._hull(Periods._levels, len(self.counts), 0.0, 1.0, level)
        low, high = own(self.audit.effective, self.counts, level)
        return np.stack([1 - high, low], 1), np.stack([1 - low, high], 1)

    @cached_property
    def _known_limits(self) -> dict[float, tuple[np.ndarray, ...]]:
        return {}

    def change_limits(
        self, first: np.ndarray, last: np.ndarray, level: float
    ) -> tuple[np.ndarray, ...]:
        """Return the limits (C, K) of the changes from periods `first` to `last`, within what both levels allow."""
        raw = self._hull(Periods._changes, len(first), -1.0, 1.0, first, last, level)
        low, high = self.level_limits(level)
        change = self.restricted[last] - self.restricted[first]
        return limits.around(change, *raw, low[last] - high[first], high[last] - low[first])

    def growth_limits(
        self, first: np.ndarray, last: np.ndarray, level: float
    ) -> tuple[np.ndarray, ...]:
        """Return the limits (C, K) of the growth rates, of at least -1; NaN where a level is not clearly above 0."""
        low, high = self.level_limits(level)
        with np.errstate(divide="ignore", invalid="ignore"):
            raw = self._hull(Periods._growths, len(first), -1.0, np.inf, first, last, level)
            growth = self.restricted[last] / self.restricted[first] - 1
            found = limits.around(
                growth, *raw, low[last] / high[first] - 1, high[last] / low[first] - 1
            )
        return tuple(
            np.where((low[first] > 0) & (self.estimate[last] > 0), limit, np.nan) for limit in found
        )

    def _hull(
        self, construct: Callable, rows: int, least: float, most: float, *given: Any
    ) -> tuple[np.ndarray, ...]:
        if limits.WHOLE in self.constructions:
            shape = rows, len(self.audit.labels)
            return np.full(shape, least), np.full(shape, most)
        return limits.hull(
            [construct(self._made[name], name, *given) for name in self.constructions]
        )

    @cached_property
    def beyond(self) -> np.ndarray:
        """Whether even the 95% interval of a share lies outside 0 to 1, (T, K)."""
        if limits.WHOLE in self.constructions:
            return np.zeros(self.shares.shape, bool)
        low, high = limits.delta(
            self.slopes.estimate, _diagonal(self.covariance), 0.95, -np.inf, np.inf
        )
        outside = (high < 0) | (low > 1)
        if outside.any() and len(self.audit.labels) == 2:
            outside &= np.equal(*self._unrestricted_limits(0.95))  # the hull may reach inside
        return outside

    @cached_property
    def _made(self) -> dict:
        """These periods by the name of a construction, with the counts that it adds to the audit's cells."""
        added = {name: limits.added(name, len(self.audit.labels)) for name in self.constructions}
        return {
            name: self if count == self.added else replace(self, added=count)
            for name, count in added.items()
        }

    def _levels(self, name: str, level: float) -> tuple:
        if name == limits.DRAWN:
            return limits.percentiles(self.draws, level, 0.0)
        if name == limits.FIELLER:
            return self._fieller(self.straight, self.reading, level, 0.0)
        return limits.delta(self.slopes.estimate, _diagonal(self._interval_covariance), level, 0.0)

    def _changes(self, name: str, first: np.ndarray, last: np.ndarray, level: float) -> tuple:
        if name == limits.DRAWN:
            return limits.percentiles(self.draws[:, last] - self.draws[:, first], level, -1.0)
        if name == limits.FIELLER:
            return self._fieller(
                _weighted(self.straight, first, last),
                self.reading[first] + self.reading[last],
                level,
                -1.0,
            )
        change = self.slopes.estimate[last] - self.slopes.estimate[first]
        return limits.delta(change, _diagonal(self.change_covariance(first, last)), level, -1.0)

    def _growths(self, name: str, first: np.ndarray, last: np.ndarray, level: float) -> tuple:
        """Return the limits of later / earlier - 1, from the logarithm of the ratio, Fieller's method or draws."""
        if name == limits.DRAWN:
            return limits.percentiles(
                self.draws[:, last] / self.draws[:, first] - 1, level, -1.0, np.inf
            )
        if name == limits.FIELLER:
            return self._fieller_growths(first, last, level)
        ratio = np.log(self.slopes.estimate[last] / self.slopes.estimate[first])
        with np.errstate(over="ignore"):
            return tuple(
                np.expm1(
                    limits.delta(
                        ratio, self._log_ratio_variance(first, last), level, -np.inf, np.inf
                    )
                )
            )

    def _fieller(self, slopes: Any, reading: np.ndarray, level: float, least: float) -> tuple:
        """Return Fieller's limits of levels or changes, which d divides."""
        log_d = limits.log_d(self.method, slopes, self.half, self.frame_shares)
        return limits.of_ratios(
            slopes, log_d, self._from_audit, limits.without_denominator(reading), level, least
        )

    def _log_ratio_variance(self, first: np.ndarray, last: np.ndarray) -> np.ndarray:
        """Return the variances of log(last / first), (C, K)."""
        later, earlier = (1 / self.slopes.estimate[part] for part in (last, first))
        own = [
            _diagonal(self.reading[part]) * scale**2
            for part, scale in ((last, later), (first, earlier))
        ]
        return (
            _diagonal(self._from_audit(_weighted(self.slopes, first, last, earlier, later)))
            + own[0]
            + own[1]
        )

    def _fieller_growths(self, first: np.ndarray, last: np.ndarray, level: float) -> tuple:
        """Return Fieller's limits of later / earlier - 1, whose denominator is d times the earlier share."""
        s, early = self.straight, self.straight.estimate[first]
        ratio = s.estimate[last] / early
        growth = replace(_weighted(s, first, last, ratio / early, 1 / early), estimate=ratio - 1)
        log_d = limits.log_d(self.method, growth, self.half, self.frame_shares)
        later, earlier = (_diagonal(self.reading[part]) / early**2 for part in (last, first))
        reading = np.stack(
            [later + ratio**2 * earlier, -ratio * earlier, -ratio * earlier, earlier], -1
        )
        return limits.of_ratios(
            growth,
            replace(
                log_d,
                table=log_d.table + s.table[first] / early[..., None, None],
                frame=log_d.frame + s.frame[first] / early[..., None],
            ),
            self._from_audit,
            reading.reshape(*ratio.shape, 2, 2),
            level,
            -1.0,
            np.inf,
        )

    @cached_property
    def stability(self) -> tuple[float, float]:
        """(what is divided by, its coefficient of variation): d for two classes, else the smallest singular value."""
        if len(self.audit.labels) == 2:
            return float(np.trace(methods.by_row(self.half)) - 1), float(
                methods.slope_cv(self.half)
            )
        sigma, sd = methods.smallest_singular(self.half, 1000)
        return sigma, sd / sigma

    @cached_property
    def undefined(self) -> str:
        """Why there is no estimate although there is an interval, or ''."""
        return not_estimable(self.audit, self.method) if self.divides else ""

    @cached_property
    def doubts(self) -> tuple[Note, ...]:
        """Why the interval is wider than that of the delta method, or of the draws: a tuple of Note."""
        if not self.divides:
            return ()
        if self.undefined:
            return (
                Note(
                    "undefined", f"no estimate, and intervals are the whole range: {self.undefined}"
                ),
            )
        return (*doubts.stability_notes(self), *doubts.few_notes(self))

    @cached_property
    def confused(self) -> str:
        """The two classes whose rows of P are most alike, in words."""
        rates = methods.by_row(self.half)
        distance = np.abs(rates[:, None] - rates).sum(-1) + 9 * np.eye(len(rates))
        i, j = divmod(int(distance.argmin()), len(rates))
        return f"the classes {self.audit.labels[i]!r} and {self.audit.labels[j]!r}, which are read most alike"

    def audit_notes(self) -> Iterator[Note]:
        """Yield what the reader has to know of the audit."""
        table, labels = self.audit.effective, self.audit.labels
        if (
            self.sampled_by == "random"
            and self.frame is not None
            and fit_pvalue(self.audit, self.frame) < STRANGE
        ):
            read, counted = table.sum(0) / self.audit.n, self.frame / self.frame_size
            k = np.abs(read - counted).argmax()
            yield Note(
                "unreliable",
                "the audit can hardly be a random sample of the counts at audit time: "
                f"{read[k]:.0%} of it are predicted {labels[k]!r} against {counted[k]:.0%} counted; swapped "
                "classes, another period, another file?",
            )
        yield from self.doubts
        for k in np.flatnonzero(np.diag(table) < table.max(1)) if self.divides else ():
            yield Note(
                "unreliable",
                f"class {labels[k]!r} is predicted {labels[table[k].argmax()]!r} more often than "
                "right: are the labels swapped?",
            )
        if not self.doubts:
            yield from doubts.few_notes(self)
        if self.frame_size is not None and self.audit.n / self.frame_size > LARGE_PART:
            part = f"the audit is {self.audit.n / self.frame_size:.0%} of the frame"
            yield Note(
                "assumption",
                f"{part}: the error is that of later periods which share the process that made "
                "the frame; if they have the frame's own rates, rates='frame' gives a smaller one"
                if self.rates == "process"
                else f"{part}: the finite-population factor assumes that later periods have the frame's own rates; "
                "where they only share its process, intervals are too short (with half of the frame audited 95% "
                "intervals cover 79%): then rates='process'",
            )

    def period_notes(self, where: Sequence | None = None) -> tuple[Note, ...]:
        """Return the notes on single periods as a tuple of Note; `where` has the T places."""
        return tuple(
            Note(kind, text, where[t] if where else None)
            for t in range(len(self.counts))
            for kind, text in doubts.about_period(self, t)
        )

    @cached_property
    def reference(self) -> str:
        """The method from which the true shares are taken if P(prediction | truth) is constant."""
        return "misclassification" if self.frame is None else "mle"

    @cached_property
    def believed_rates(self) -> np.ndarray:
        """P(prediction | truth) as the reference takes them, (K, K)."""
        shares = self.frame_shares
        return methods.by_row(
            self.half if shares is None else methods.poststratified(self.half, shares)
        )

    @cached_property
    def believed(self) -> tuple[np.ndarray, np.ndarray]:
        """True shares if P(prediction | truth) is constant: at audit time (K,), per period (T, K); within 0 and 1.

        NaN where two classes are read no better than by chance, or the audit has no item of a class.
        """
        first = (
            methods.by_row(self.half.sum(1))
            if self.frame is None
            else methods.shares_of("calibration", self.half, None, self.frame_shares)
        )
        later = methods.shares_of(self.reference, self.half, self.frame_shares, self.shares)
        by_chance = len(first) == 2 and np.trace(methods.by_row(self.half)) <= 1 + 1e-9
        if by_chance or not self.audit.effective.sum(1).all():
            later = np.full(later.shape, np.nan)
        later = np.where(self.own[:, None], first, np.clip(later, 1e-3, None))
        return first, later / later.sum(1, keepdims=True)

    @cached_property
    def theory(self) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
        """Bias and variance per method, dicts of (T,), of the share of the second of two classes as believed."""
        first, later = self.believed
        (p00, _), (_, p11) = self.believed_rates
        with np.errstate(divide="ignore", invalid="ignore"):
            audited = max(int(self.audit.effective.sum()), 1)
            return moments(
                first[1], later[:, 1], p00, p11, audited, self.frame_size, self.size, self.rates
            )[:2]

    @cached_property
    def bias(self) -> np.ndarray:
        """Expected error (T, K) at the believed shift, to order 1/n for two classes; NaN where no formula is known."""
        first, later = self.believed
        if self.undefined or len(first) > 2 and self.divides:
            return np.full(later.shape, np.nan)
        if self.divides:
            return self.theory[0][methods.estimator_of(self.method)][:, None] * np.array(
                [-1.0, 1.0]
            )
        rates = self.believed_rates
        return (
            methods.shares_of(self.method, first[:, None] * rates, first @ rates, later @ rates)
            - later
        )

    @cached_property
    def expected_error(self) -> np.ndarray:
        """Root mean squared error (T, K) at the believed shift; a bias that is not known, of order 1/n, left out.

        Of a bias that is estimated, the expected square: its variance is added to the square of the estimate. The
        estimator's own variance is that of the theory for two classes, else and for the audited frame itself the
        estimated one.
        """
        variance = _diagonal(self.covariance)
        if len(self.audit.labels) == 2:
            known = self.theory[1][methods.estimator_of(self.method)][:, None]
            variance = np.where(self.own[:, None] | np.isnan(known), variance, known)
        if not self.divides:
            variance = variance + self._bias_variance
        bias = np.where(np.isnan(self.bias), 0, self.bias)
        return np.sqrt(variance + bias**2) + 0 * self.believed[1]

    @cached_property
    def calibrated(self) -> "Periods":
        """The same periods, estimated by calibration."""
        return replace(self, method="calibration")

    @cached_property
    def _bias_variance(self) -> np.ndarray:
        """Variances (T, K) of the bias as it is estimated: by the distance to the reference's estimate."""
        ours, reference = (
            self._slopes,
            methods.slopes_of(self.reference, self.half, self.frame_shares, self.shares),
        )
        shares = self.frame_shares
        if (
            self.method == "baseline" and shares is not None
        ):  # its expectation is known best from the frame
            ours = methods.slopes_of("calibration", self.half, None, shares).within_frame(True)
        distance = replace(
            ours - reference, estimate=reference.estimate, shares=ours.shares - reference.shares
        )
        distance = distance.within_frame(self.own)
        reading = methods.reading_covariance(
            self.reference, distance, self.half, self.shares, self.size
        )
        return _diagonal(self._from_audit(distance) + reading)


class AuditError(ValueError):
    """An audit from which a method cannot be computed; the message says why."""


def check_audit(audit: ConfusionCounts, frame: ArrayLike | None, method: str) -> None:
    """Raise where the method has neither estimate nor interval; says what is missing and what else would do.

    Methods that divide by d have an interval, the whole range, from every audit whose labels are not clearly swapped.
    """
    if not isinstance(audit, ConfusionCounts):
        raise checks.WrongType(
            "audit",
            f"must be ConfusionCounts; got {type(audit).__name__}: "
            "ConfusionCounts.from_labels(truth, prediction) counts items",
        )
    if "frame" in methods.METHODS[method].needs and frame is None:
        raise checks.WrongValue(
            "counts_at_audit",
            f"must be given for method {method!r}: the predicted counts of "
            "all items the audit was drawn from; without them use 'misclassification', which "
            "also takes P(prediction | truth) as constant",
        )
    if reason := _weights_unused(audit, method):
        raise AuditError(reason)
    why, entry = not_estimable(audit, method), methods.METHODS[method]
    if why and (
        not entry.divides_by
        or limits.swapped(audit.effective)
        or entry.limits
        and len(audit.labels) > 2
    ):
        raise AuditError(why)


def not_estimable(audit: ConfusionCounts, method: str) -> str:
    """Return why a method has no estimate from an audit and what else would do, or ''."""
    table, two, needs = audit.table, len(audit.labels) == 2, methods.METHODS[method].needs
    if reason := _weights_unused(audit, method):
        return reason
    if methods.METHODS[method].limits and not two:
        return f"method {method!r} is for two classes; the audit has {len(audit.labels)}: use 'mle'"
    for k, label in enumerate(audit.labels):
        if "rows" in needs and table[k].sum() == 0:
            rate = f"p{k}{k}" if two else f"P(prediction | truth {label!r})"
            return (
                f"{rate} cannot be estimated: no audited item of class {label!r}; audit items of this class, or "
                "use 'calibration' if P(truth | prediction) may be taken as constant"
            )
        if "columns" in needs and table[:, k].sum() == 0:
            return (
                f"P(truth | prediction {label!r}) cannot be estimated: no audited item was predicted {label!r}; "
                "audit such items, or use 'misclassification'"
            )
    return _not_invertible(audit) if methods.METHODS[method].divides_by else ""


def _weights_unused(audit: ConfusionCounts, method: str) -> str:
    """Return why a method cannot use an audit with sampling weights, or ''.

    Only the rates P(prediction | truth) are weighted.
    """
    if audit.weighted is None or method in (
        "misclassification",
        "hull",
        "subtracted_bias",
        "classify_and_count",
    ):
        return ""
    return (
        f"method {method!r} takes the audit for a simple random sample of the counted items, but its items have "
        "sampling weights: use 'misclassification', whose rates are weighted"
    )


def check_frame(frame: np.ndarray, audit: ConfusionCounts) -> None:
    """Raise unless the audited items can belong to the frame."""
    for k in np.flatnonzero(audit.table.sum(0) > frame):
        raise checks.WrongValue(
            "counts_at_audit",
            f"must include the audited items; {audit.table[:, k].sum()} were "
            f"predicted {audit.labels[k]!r}, but only {frame[k]} counted: give the counts of the "
            "frame that the audit was drawn from; of items from elsewhere, or chosen by their true "
            "class, say sampled_by='truth' (--sampled-by truth)",
        )


def _not_invertible(audit: ConfusionCounts) -> str:
    rates = methods.by_row(audit.effective)
    if len(audit.labels) == 2:
        p00, p11 = np.diag(rates)
        if p00 + p11 - 1 < limits.LEAST_D:
            return (
                f"p00 + p11 must be above 1; the audit has {p00:.3f} + {p11:.3f}: no better than chance, or are "
                "the labels swapped?"
            )
    elif np.linalg.svd(rates, compute_uv=False)[-1] < 1e-9:
        return (
            "P(prediction | truth) of the audit must be invertible; its rows are linearly dependent: classes are "
            "read alike, merge them or audit more items"
        )
    return ""


def fit_pvalue(audit: ConfusionCounts, frame: np.ndarray) -> float:
    """Return the p-value of the audit's predicted classes as a sample without replacement of the frame's.

    The p-value is that of Pearson's test, or where few items of a class are expected that of exact tests of each
    class, by Bonferroni.
    """
    size, known = frame.sum(), frame > 0
    if audit.n >= size:
        return 1.0
    expected = audit.n * frame[known] / size
    if expected.min() < limits.FEW and known.sum() > 1:
        drawn, total = audit.table.sum(0), np.array([audit.n, size - audit.n])
        exact = [
            fisher_pvalue(np.array([drawn[k], frame[k] - drawn[k]]), total)
            for k in np.flatnonzero(known)
        ]
        return min(1.0, min(exact) * (1 if len(exact) == 2 else len(exact)))
    misfit = (
        ((audit.table.sum(0)[known] - expected) ** 2 / expected).sum()
        * (size - 1)
        / (size - audit.n)
    )
    return float(scipy.special.chdtrc(known.sum() - 1, misfit)) if known.sum() > 1 else 1.0


def _diagonal(covariance: np.ndarray) -> np.ndarray:
    return np.einsum("tkk->tk", covariance)


def _weighted(
    slopes: Any,
    first: np.ndarray,
    last: np.ndarray,
    earlier: float | np.ndarray = 1.0,
    later: float | np.ndarray = 1.0,
) -> Any:
    """Return the slopes of later x those of periods `last` - earlier x those of `first`."""

    def weighted(values: np.ndarray) -> np.ndarray:
        factors = [np.reshape(w, np.shape(w) + (1,) * (values.ndim - 2)) for w in (later, earlier)]
        return factors[0] * values[last] - factors[1] * values[first]

    return methods.Slopes(
        *(weighted(getattr(slopes, name)) for name in ("estimate", "table", "frame")),
        slopes.shares[last],
    )
