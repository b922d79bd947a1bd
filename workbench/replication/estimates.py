"""A statistic of items that come in strata and clusters, with its replicate variance and an honest interval.

References
----------
.. [1] Wolter, Introduction to Variance Estimation, 2nd edition, Springer 2007.
.. [2] Korn & Graubard, Confidence intervals for proportions with small expected number of positive counts estimated
   from survey data, Survey Methodology 24, 1998: effective sample size.
.. [3] Woodruff, Confidence intervals for medians and other position measures, JASA 47, 1952.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import scipy
from numpy.typing import ArrayLike

from workbench import checks, intervals
from workbench.intervals.sampled import SampledMoments
from workbench.intervals.unseen import bounded_notes
from workbench.replication import statistics
from workbench.replication.bounded_intervals import Clusters, Sample, clusters, degrees
from workbench.replication.designs import SurveyDesign
from workbench.replication.independent import (
    auc_limits,
    auc_ranks,
    is_exact,
    is_independent,
    sampled_counts,
    sampled_values,
)
from workbench.replication.moments import Moments
from workbench.replication.replicates import Replicates
from workbench.replication.statistics import Metric, Totals
from workbench.replication.unsampled import refuse_unsampled
from workbench.results import (
    Estimate,
    Interval,
    Note,
    Result,
    html_table,
    note_list,
    percent,
    with_bounded,
)

# onto the scale on which Student's t is taken, back, and the slope there
SCALES: dict[str, tuple] = {
    "positive": (np.log, np.exp, lambda x: 1 / x),
    "correlation": (np.arctanh, np.tanh, lambda r: 1 / (1 - r * r)),
}
INTERVALS = ("default", "bounded", "beta", "t", "logit", "wilson")
OF_LABELS = ("truth", "prediction")
MOST_UNDEFINED = 0.05  # the others stand for those left out; beyond it that would be most of a tail
FEW_DF = 30  # t is 4% above the normal quantile
LEAST_DF = 5  # t is 31% above it, and a standard error is known to a third
FEW_CARRIERS = 3
UNLIKE = 0.05  # so far apart may the variances of interval and standard error be
ROUGH = "few clusters tell about it: the standard error is rough, and one unlike them may be unseen"
SELDOM = (
    "fewer than 3 PSUs differ from the rest, or the differences are small against the known bounds: a PSU that "
    "differs more may exist"
)
OTHER_VARIANCE = (
    "the interval rests on the jackknife's variance, over 5% off that of the standard error"
)
FOREIGN = (
    "the replicate weights tell no strata and hardly the PSUs: items that all of them weigh alike count as one "
    "PSU, all PSUs as one stratum"
)
UNBOUNDED = {
    "positive": "no value is the largest possible, so the interval takes logarithms and Student's t: in simulations it "
    "covered 93% to 96% at 95%, of an RMSE 92% with 12 PSUs and 90% with errors of heavy tails (t, 4 df)",
    "correlation": "nothing bounds the values, so the interval takes arctanh and Student's t: in simulations it "
    "covered 92% to 95% at 95%, least with errors of heavy tails (t, 4 df)",
}
SKEWED = (
    "no bounds are known, so the interval takes the PSUs' sums as normal: with skewed values it covers too "
    "little (means of 30 lognormal PSUs of log-sd 1: 88% at 95%, of log-sd 2: 65%)"
)


class ReplicateEstimate(Estimate, Result):
    """A statistic with its replicate variance.

    Attributes
    ----------
    statistic : str
    estimate, variance : float
    df : int
        Degrees of freedom: PSUs less strata among the PSUs with an item of the denominator (for an AUC the smaller
        of that with positives and that with negatives, for F1 with a member of the class), at least 1.
    replicate_values : (R,) array of float
        NaN where a replicate is undefined (0/0).
    undefined : int
        How many are; their coefficients are spread over the others.
    kind : {"proportion", "share", "agreement", "correlation", "positive", "bounded", "number"}
        Accuracy, precision and recall are proportions; F1, AUC and Brier score other shares from 0 to 1; kappa and mcc
        are agreement; log loss and RMSE are positive; a mean with `bounds` is bounded.
    items, psus, strata : int
        Of the domain.
    counted : int
        Items of the domain that the denominator counts: all for an accuracy, the predicted positives for a precision.
    informative_psus : int
        PSUs with an item of the denominator, for an AUC the fewer of those with positives and with negatives.
    effective_psus, effective_df : float
        How many equally heavy PSUs these are, and their degrees of freedom: see
        `workbench.replication.bounded_intervals.degrees`.
    method : str
        Of the replicates.
    bounds : (float, float) or None
        Smallest and largest value that items can have whose mean it is; of kappa and mcc, which are one to first order.
    clusters : (10,) array or None
        Where bounds are known what the interval is made of: of the mean, for F1 that of J = F1 / (2 - F1), the value,
        its variance, and skewness, bounded, carriers and unseen of both limits, as in
        `workbench.replication.bounded_intervals.Clusters`.
    free : float
        Finite-population factor, 1 - n_h / N_h averaged over the PSUs by the square of their weight; 1 without `fpc`.
    variance_ratio : float
        That of the jackknife, on which the interval rests, over that of the replicates; 1 where it is the same.
    ranks : (4,) array or None
        Of an AUC of items that were drawn one by one, without strata and with equal weights: as in
        `workbench.replication.independent.auc_ranks`.
    counts : (4, H) array or None
        Of a proportion, precision, recall or F1 of items without clusters: as in
        `workbench.replication.independent.sampled_counts`.
    moments : (14, H) array or None
        Of a mean of values of items without clusters: as in `workbench.intervals.sampled.SampledMoments`.
    steps : (2, V) array or None
        Of a median the values that occur, rising, and the share of the weight up to each.
    """

    statistic: str
    estimate: float
    variance: float
    df: int
    replicate_values: np.ndarray
    undefined: int
    kind: str
    items: int
    psus: int
    strata: int
    counted: int
    informative_psus: int
    effective_psus: float
    effective_df: float
    method: str
    bounds: tuple | None = None
    clusters: np.ndarray | None = None
    free: float = 1.0
    variance_ratio: float = 1.0
    ranks: np.ndarray | None = None
    counts: np.ndarray | None = None
    moments: np.ndarray | None = None
    steps: np.ndarray | None = None

    def interval(self, level: float = 0.95, method: str = "default") -> Interval:
        """Return a confidence interval; its notes are those of the estimate and its own.

        Parameters
        ----------
        level : float
        method : {"default", "bounded", "t", "logit", "wilson"}
            - "bounded", also "beta": quantiles of beta distributions with variance and skewness of the PSUs and room
              for one that was not drawn: see `workbench.replication.bounded_intervals.Clusters.limits`. The variance
              is that of the jackknife that leaves out one PSU, for an AUC and imported weights that of the
              replicates. Needs known bounds. For a median these are limits of the share below it, and the values at
              them [2]_.
            - "t": estimate +- t SE, t with `df` degrees of freedom, cut at the ends of what the statistic can be.
            - "logit": the same on the logit scale, logit p +- t SE / (p (1 - p)); shares only.
            - "wilson": Wilson's interval at t for the effective number of items, p (1 - p) / v but at most
              `counted` [1]_; where v = 0 for `effective_psus`; shares only.
            - "default": as "bounded" where bounds are known, but shorter where the PSUs show where values end;
              without clusters the interval of `workbench.value_interval`. Otherwise "t" with `effective_df`, for what
              is positive on the scale of its logarithm, for a correlation r on that of arctanh r: where a few strata
              hold most of the weight, t at `df` covers far less than it says. An AUC of items that were drawn one by
              one: `workbench.replication.independent.auc_limits`. A precision, recall or F1 of such items: the exact
              interval of the hits among the items of the denominator [3]_. Both are shortened as much as the standard
              error if the population is finite. A proportion of such items, also in strata with equal weights in
              each: the interval of `workbench.stratified_accuracy`.

        Returns
        -------
        Interval

        References
        ----------
        .. [1] Korn & Graubard, Confidence intervals for proportions with small expected number of positive counts
           estimated from survey data, Survey Methodology 24, 1998: effective sample size.
        .. [2] Woodruff, Confidence intervals for medians and other position measures, JASA 47, 1952.
        .. [3] Clopper & Pearson, The use of confidence or fiducial limits, Biometrika 26, 1934.
        """
        checks.choice("method", method, INTERVALS)
        tail = (1 - checks.level(level)) / 2
        if method == "default" and self.counts is not None:
            return self._of_counts(level)
        name, bounded = method, None
        if method == "default":
            name += ": ranks" if self.ranks is not None else ": beta" if self.bounds else ": t"
        if name.endswith("ranks"):
            low, high = self._shortened(auc_limits(self.estimate, np.asarray(self.ranks), tail))
        elif name in ("bounded", "beta"):
            low, high = self._limits(tail, bounded=True)
        elif name.endswith("beta"):
            low, high = self._limits(tail, bounded=False)
            bounded = tuple(map(float, self._limits(tail, bounded=True)))
        else:
            low, high = self._by_standard_error(tail, method)
        low, high = float(low), float(high)
        notes = [*_interval_notes(self, method), *self.notes]
        if bounded:
            notes.extend(bounded_notes((low, high), bounded))
        return Interval(
            low,
            high,
            float(level),
            name,
            bounded=None if bounded == (low, high) else bounded,
            notes=notes,
        )

    def _limits(self, tail: float, *, bounded: bool) -> tuple:
        """Return the limits of graded values without clusters, or those of PSUs."""
        if self.moments is not None:
            return SampledMoments.of_table(np.asarray(self.moments)).limits(tail, bounded=bounded)
        return self._of_psus(tail, bounded=bounded)

    def _of_counts(self, level: float) -> Interval:
        counts = np.asarray(self.counts)
        proportion = intervals.weighted_interval(*counts, level=level)
        low, high = Metric.of(self.statistic).of_mean(np.array([proportion.low, proportion.high]))
        name = "default: stratified"
        if is_exact(counts):
            name = "default: exact"
            if self.free < 1:
                low, high = self._shortened((low, high))
                name = "default: exact, finite population"
        return Interval(
            float(low),
            float(high),
            proportion.level,
            name,
            proportion.limiting_stratum,
            notes=[*proportion.notes, *self.notes],
        )

    def _shortened(self, limits: tuple) -> np.ndarray:
        """Return limits for an infinite population, shortened as much as the standard error by a finite one."""
        return self.estimate + math.sqrt(self.free) * np.subtract(limits, self.estimate)

    def _of_psus(self, tail: float, *, bounded: bool) -> tuple:
        if self.bounds is None:
            raise ValueError(
                f"method 'bounded' needs known bounds; {self.statistic} has none, take 't'"
            )
        mean, variance = np.asarray(self.clusters)[:2]
        sides = np.asarray(self.clusters)[2:].reshape(-1, 2)
        if len(sides) == 3:  # saved before there was a shorter default
            sides = np.vstack([sides, sides[1]])
        told = Clusters(mean, variance, self.effective_df, self.effective_psus, self.free, *sides)
        limits = np.array(told.limits(tail, self.bounds, bounded=bounded))
        if self.steps is None:
            return Metric.of(self.statistic).of_mean(limits)
        values, below = self.steps
        return values[np.minimum(np.searchsorted(below, limits), values.size - 1)]

    def _by_standard_error(self, tail: float, method: str) -> tuple:
        if method in ("logit", "wilson") and self.kind not in ("proportion", "share"):
            raise ValueError(
                f"method {method!r} is for shares between 0 and 1; {self.statistic} is none, take 't'"
            )
        if method == "logit" and not (0 < self.estimate < 1 and self.variance > 0):
            raise ValueError(
                f"method 'logit' needs an estimate between 0 and 1 and a variance above 0; got "
                f"{self.estimate:g} and {self.variance:g}: take 'wilson'"
            )
        rule, df = ("t", self.effective_df) if method == "default" else (method, self.df)
        t = float(scipy.special.stdtrit(df, 1 - tail))
        if method == "default" and self.kind in SCALES and self.variance > 0:
            onto, back, slope = SCALES[self.kind]
            half = t * self.standard_error * slope(self.estimate)
            return back(onto(self.estimate) - half), back(onto(self.estimate) + half)
        found = limits(rule, self.estimate, self.variance, t, self.counted, self.effective_psus)
        ends = self.bounds if self.kind == "bounded" else statistics.RANGES[self.kind]
        return tuple(np.clip(found, *ends))  # type: ignore[misc]

    @property
    def is_rough(self) -> bool:
        """Whether so few PSUs carry the estimate that its standard error is rough."""
        return self.effective_df < LEAST_DF

    def headline(self) -> str:
        """Return estimate, standard error, interval and design."""
        limits = self.interval()
        design = f"{checks.counted(self.psus, 'PSU')}, {checks.counted(self.strata, 'stratum', 'strata')}"
        return (
            f"{self.statistic} {self.estimate:.4g} (SE {self.standard_error:.4g}), {percent(limits.level)} from "
            f"{limits.low:.4g} to {limits.high:.4g} ({limits.method}){limits.bounded_words()}; {design}, "
            f"{checks.counted(self.replicate_values.size, f'{self.method} replicate')}"
        )

    def rows(self) -> list[dict]:
        """Return one row: statistic, estimate, standard error, df, limits and how they were made."""
        limits = self.interval()
        return [
            {
                "quantity": self.statistic,
                "estimate": self.estimate,
                "standard_error": self.standard_error,
                "df": self.df,
                "low": limits.low,
                "high": limits.high,
                "interval_method": limits.method,
                **with_bounded(limits),
            }
        ]

    def _repr_html_(self) -> str:
        return html_table(self.rows(), self.headline()) + note_list(self.interval().notes)


def replicate_estimate(
    replicates: Replicates,
    statistic: str | Callable,
    *columns: ArrayLike,
    domain: ArrayLike | None = None,
    center: str = "full",
    bounds: tuple[float, float] | None = None,
) -> ReplicateEstimate:
    """Return a statistic with its replicate variance.

    Parameters
    ----------
    replicates : Replicates
    statistic : str or callable
        "proportion"(y) of 0 and 1, "mean"(y), "total"(y), "ratio"(y, x) = total y / total x, "accuracy", "precision",
        "recall" and "f1"(truth, prediction), "auc"(truth, score), "quantile"(y, q), "kappa" and "mcc"(truth,
        prediction), "brier" and "log_loss"(truth, score), "rmse" and "correlation"(truth, prediction), "median"(y),
        "identified"(y) of 0 and 1, "mean_rank"(y, most), y from 1 to most; or a function
        `(weight, *columns)` -> number.
    *columns : (n,) array_like
        Values of the items. 0/1 or booleans for truth and prediction (any labels for accuracy, kappa and mcc, numbers
        for rmse and correlation), numbers for y, x and score, for brier and log_loss probabilities; q in [0, 1] is one
        number.
    domain : (n,) array_like of bool, optional
        The items that count; the design stays that of all.
    center : {"full", "mean"}
        Deviations are from the full estimate or from the mean of the replicates.
    bounds : (float, float), optional
        Of "mean": the smallest and the largest value that an item of the population can have, seen or not, such as
        (-1, 1) for the difference of two models. Without it nothing bounds what was not sampled.

    Returns
    -------
    ReplicateEstimate

    Raises
    ------
    ValueError
        If a column does not fit, a value lies outside `bounds`, the domain is empty, the statistic undefined (0/0), or
        undefined in more than 5% of the replicates. `UndefinedError` also where all items share a prediction, or a
        truth, and the statistic needs others: only predicted positives show no recall, F1 or accuracy.

    Examples
    --------
    >>> from workbench import SurveyDesign, replicates
    >>> design = SurveyDesign([1, 1, 2, 2, 3, 3], weight=[20] * 6)
    >>> print(replicate_estimate(replicates(design), "mean", [.95, .85, .87, .93, .90, .86]).headline())
    mean 0.8933 (SE 0.02055), 95% from 0.8279 to 0.9587 (default: t); 6 PSUs, 3 strata, 4 brr replicates
    """
    checks.instance("replicates", replicates, Replicates)
    checks.choice("center", center, ("full", "mean"))
    estimate = estimate_statistic(
        replicates, statistic, *columns, domain=domain, center=center, bounds=bounds
    )
    if Metric.of(statistic).arguments == OF_LABELS:
        counts = replicates.design.weight > 0
        refuse_unsampled(estimate.statistic, *(np.asarray(column)[counts] for column in columns))
    return estimate


def estimate_statistic(
    replicates: Replicates,
    statistic: str | Callable,
    *columns: ArrayLike,
    domain: ArrayLike | None = None,
    center: str = "full",
    bounds: tuple[float, float] | None = None,
) -> ReplicateEstimate:
    """Return what `replicate_estimate` does, also of labels that do not show the statistic of a population.

    Parameters
    ----------
    replicates, statistic, *columns, domain, center, bounds
        As in `replicate_estimate`.
    """
    design, metric = replicates.design, Metric.of(statistic)
    rows = domain_rows(domain, design.weight)
    totals = metric.totals_of(columns, design.weight.size)
    bounds = _bounds(metric, bounds, columns, totals, rows)
    moments = metric.moments(*columns, design.weight.size) if metric.moments else None
    estimate, values = (
        _from_totals(replicates, totals, rows)
        if totals
        else _from_moments(replicates, moments, rows)
        if moments
        else _from_weights(replicates, metric, columns, rows)
    )
    if not math.isfinite(estimate):
        raise statistics.UndefinedError(
            f"{metric.name} is undefined: {metric.empty or f'it is {estimate}'}"
            + ("" if domain is None else " in the domain")
        )
    variance, undefined = _variance(replicates, metric.name, estimate, values, center)
    of_domain = np.flatnonzero(np.bincount(design.psu_of_item[rows]))
    base = (
        rows if totals is None or totals.denominator is None else rows & (totals.denominator != 0)
    )
    if moments and moments.possible is not None:
        (averaged, bounds), parts = moments.linear(design.weight * rows), [rows]
    else:
        averaged, parts = (
            metric.parts_of(columns, totals, rows, design.weight) if bounds else (base, [base])
        )
    sample = Sample.of_items(design, averaged, parts)
    found = ReplicateEstimate(
        metric.name,
        estimate,
        variance,
        replicate_values=values,
        undefined=undefined,
        kind="bounded" if bounds and metric.name == "mean" else metric.kind,
        items=int(rows.sum()),
        psus=of_domain.size,
        strata=np.unique(design.stratum_of_psu[of_domain]).size,
        counted=int(base.sum()),
        **_told(replicates, sample),
        method=replicates.method,
        bounds=bounds,
        **_of_clusters(replicates, metric, sample, variance, bounds) if bounds else {},
        ranks=auc_ranks(parts[0][rows], np.asarray(columns[1])[rows])
        if len(parts) > 1 and is_independent(replicates, rows)
        else None,
        counts=sampled_counts(replicates, metric, totals, rows),
        moments=sampled_values(replicates, metric, totals, rows, bounds),
        steps=_steps(columns[0], rows, design.weight) if metric.name == "median" else None,
    )
    return replace(found, notes=tuple(estimate_notes(found)))


# estimates


def domain_rows(domain: ArrayLike | None, weight: np.ndarray) -> np.ndarray:
    """Return the items that count as a mask: those of the domain, all where none is given, with a weight above 0."""
    if domain is None:
        return weight > 0
    rows = checks.zero_one("domain", domain, size=weight.size) & (weight > 0)
    if not rows.any():
        raise checks.WrongValue("domain", f"must hold an item; none of the {weight.size} is in it")
    return rows


def _from_totals(replicates: Replicates, totals: Totals, rows: np.ndarray) -> tuple:
    """Return estimate and replicate values of a ratio of totals; items outside the domain are 0."""
    design = replicates.design
    if totals.denominator is None:
        z = design.totals((totals.numerator * rows)[:, None])
        return float(z.sum()), replicates.totals_of_psus(z)[:, 0]
    full, found = replicates.ratios(
        *design.totals(np.stack([totals.numerator * rows, totals.denominator * rows], 1)).T
    )
    return float(full), found


def _from_moments(replicates: Replicates, moments: Moments, rows: np.ndarray) -> tuple:
    z = replicates.design.totals(np.column_stack([rows, moments.columns * rows[:, None]]))
    return float(moments.of_totals(z.sum(0))), moments.of_totals(replicates.totals_of_psus(z))


def _steps(y: ArrayLike, rows: np.ndarray, weight: np.ndarray) -> np.ndarray:
    values, place = np.unique(np.asarray(y, float)[rows], return_inverse=True)
    below = np.cumsum(np.bincount(place, weight[rows]))
    return np.stack([values, below / below[-1]])


def _from_weights(
    replicates: Replicates, metric: Metric, columns: Sequence, rows: np.ndarray
) -> tuple:
    """Return estimate and replicate values of a statistic that needs every weight of the domain."""
    names = metric.arguments or [f"column {k}" for k in range(1, len(columns) + 1)]
    for name, column in zip(names, columns, strict=True):
        if np.ndim(column) and len(column) != rows.size:
            raise ValueError(f"{name} must have {rows.size} entries; got {len(column)}")
    of_domain = [
        checks.plain_array(name, column, "item")[rows] if np.ndim(column) else column
        for name, column in zip(names, columns, strict=True)
    ]
    values = metric.values(*of_domain, int(rows.sum()))
    return float(values(replicates.design.weight[None, rows])[0]), replicates.values(values, rows)


def _variance(
    replicates: Replicates, name: str, estimate: float, values: np.ndarray, center: str
) -> tuple:
    defined = np.isfinite(values)
    undefined = int((~defined).sum())
    if undefined > MOST_UNDEFINED * values.size:
        remedy = (
            "the statistic hangs on single PSUs"
            if replicates.rho > 0
            else "take method 'fay' or 'generalized', whose replicates keep every item"
        )
        raise statistics.UnstableError(
            f"{name} is undefined (0/0) in {undefined} of "
            f"{checks.counted(values.size, 'replicate')}, more than 5%: {remedy}"
        )
    middle = estimate if center == "full" else values[defined].mean()
    return float(replicates.variances(values, middle)), undefined


def psus_holding(design: SurveyDesign, shares: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return how many PSUs hold a part, and less their strata, at least 1, (...) each: of the part with the fewest.

    Parameters
    ----------
    design : SurveyDesign
    shares : (K, P, ...) array
        Of each of K parts in each PSU.
    """
    held = shares > 0
    strata = np.add.reduceat(held, design.first_psu, 1, dtype=int) > 0
    return held.sum(1).min(0), np.maximum(1, (held.sum(1) - strata.sum(1)).min(0))


def _told(replicates: Replicates, sample: Sample) -> dict:
    """Return how much the PSUs tell, the fields of a `ReplicateEstimate` from `df` to `effective_df`."""
    design, most = replicates.design, replicates.most_df
    holding, df = psus_holding(design, sample.shares)
    effective_df, effective_psus = degrees(design, sample.shares, most)
    return {
        "df": int(np.minimum(df, np.inf if most is None else most)),
        "informative_psus": int(holding),
        "effective_psus": float(effective_psus),
        "effective_df": float(effective_df),
    }


def _of_clusters(
    replicates: Replicates, metric: Metric, sample: Sample, variance: float, bounds: tuple
) -> dict:
    """Return what the interval is made of."""
    ratio = 1.0
    if len(sample.shares) == 1:
        drawn, by_replicates = replicates.jackknife, variance
        mean, values = sample.replicated(drawn)
        variance, other = (
            float(drawn.variances(of(values), of(mean))) for of in (np.asarray, metric.of_mean)
        )
        ratio = other / by_replicates if by_replicates > 0 else math.inf if other > 0 else 1.0
    told = clusters(replicates.design, sample, variance, bounds, most_df=replicates.most_df)
    sides = np.concatenate([told.skewness, told.bounded, told.carriers, told.unseen])
    return {
        "clusters": np.array([told.mean, told.variance, *sides], float),
        "free": float(told.free),
        "variance_ratio": ratio,
    }


def _bounds(
    metric: Metric, bounds: Any, columns: Sequence, totals: Any, rows: np.ndarray
) -> tuple[float, float] | None:
    if metric.is_share:
        if bounds is not None:
            raise checks.WrongValue(
                "bounds", f"belong to 'mean'; {metric.name} lies between 0 and 1"
            )
        return 0.0, 1.0
    if bounds is None:
        return metric.ends(*columns) if metric.ends else None
    if metric.name != "mean":
        raise checks.WrongValue("bounds", f"belong to 'mean'; got statistic {metric.name!r}")
    low, high = checks.bounds(bounds)
    for k in np.flatnonzero(rows & ((totals.numerator < low) | (totals.numerator > high)))[:1]:
        raise checks.WrongValue(
            "bounds",
            f"must hold all values; item {k} is {totals.numerator[k]:g}, bounds are "
            f"{low:g} to {high:g}",
        )
    return low, high


def estimate_notes(found: ReplicateEstimate, *, brief: bool = False) -> Iterator[Note]:
    """Yield what the reader has to know before they quote the estimate or its standard error.

    Parameters
    ----------
    found : ReplicateEstimate
    brief : bool
        Leave out how few PSUs carry it, so that notes of many estimates are alike.
    """
    if found.undefined:
        made = checks.counted(found.replicate_values.size, "replicate")
        are, were = ("is", "was") if found.undefined == 1 else ("are", "were")
        yield Note(
            "undefined",
            f"{found.undefined} of {made} {are} undefined (0/0) and {were} left out: take method "
            "'fay' or 'generalized'",
        )
    if found.variance == 0 and found.free > 0:
        yield Note(
            "unreliable",
            "every replicate gave the same value: a standard error of 0 is not knowledge",
        )
    if found.effective_df < FEW_DF and found.method == "brr" and found.kind == "share":
        yield Note(
            "unreliable",
            f"few strata: brr's standard error of {found.statistic} is often too large and "
            "depends on the order of the strata; 'fay' and 'jkn' are steadier",
        )
    if found.counts is not None:
        if not is_exact(found.counts):
            size, labeled = found.counts[1:3]
            yield from intervals.few_notes(size, labeled.astype(int))
        return
    if found.is_rough:
        yield Note("unreliable", ROUGH if brief else _few(found))
    elif (
        found.clusters is not None
        and found.variance > 0
        and found.clusters[6:8].min() < FEW_CARRIERS
    ):
        yield Note("unreliable", SELDOM)
    if abs(found.variance_ratio - 1) > UNLIKE:
        yield Note("remark", OTHER_VARIANCE)
    if found.method.startswith("imported") and found.bounds:
        yield Note("assumption", FOREIGN)
    if found.bounds is None and found.statistic != "quantile":
        yield Note("assumption", UNBOUNDED.get(found.kind, SKEWED))


def _few(found: ReplicateEstimate) -> str:
    """Say how little carries the estimate."""
    psus = (
        f"{checks.counted(found.informative_psus, 'PSU')} carry"
        if found.informative_psus != 1
        else "1 PSU carries"
    )
    return (
        f"{psus} the information, worth {found.effective_psus:.3g} of equal weight, {found.effective_df:.3g} "
        f"degree{'' if found.effective_df == 1 else 's'} of freedom: the standard error is rough, and one unlike "
        "them may be unseen"
    )


# intervals


def _interval_notes(found: ReplicateEstimate, method: str) -> Iterator[Note]:
    """Yield what the reader has to know of an interval by this method."""
    if method in ("t", "logit", "wilson") and found.bounds and found.effective_df < FEW_DF:
        yield Note(
            "unreliable",
            f"{found.effective_df:.3g} effective degrees of freedom, few: the default covers what "
            f"it says, {method!r} can cover too little",
        )


def limits(
    method: str,
    estimate: float | np.ndarray,
    variance: float | np.ndarray,
    t: float | np.ndarray,
    items: int | np.ndarray,
    effective_psus: float | np.ndarray,
) -> tuple:
    """Return lower and upper limits of estimates with these variances, arrays that broadcast.

    "logit" gives Wilson's limits where the estimate is 0 or 1 or the variance 0.
    """
    if method == "t":
        half = t * np.sqrt(variance)
        return estimate - half, estimate + half
    inside = (estimate > 0) & (estimate < 1) & (variance > 0)
    p, v = np.where(inside, estimate, 0.5), np.where(inside, variance, 1.0)
    n = np.where(inside, np.minimum(p * (1 - p) / v, items), effective_psus)
    wilson = intervals.wilson(estimate, n, t)
    if method == "wilson":
        return wilson
    half = t * np.sqrt(v) / (p * (1 - p))
    return tuple(
        np.where(inside, scipy.special.expit(scipy.special.logit(p) + side * half), limit)
        for side, limit in zip((-1, 1), wilson, strict=True)
    )
