"""A statistic of items in strata and clusters, with its replicate variance and interval.

`replicate_estimate` computes a `ReplicateEstimate`, whose method `interval` returns the limits.

References
----------
.. [1] Wolter, Introduction to Variance Estimation, 2nd edition, Springer 2007.
.. [2] Korn & Graubard, Confidence intervals for proportions with small expected number of positive
   counts estimated from survey data, Survey Methodology 24, 1998: effective sample size.
.. [3] Woodruff, Confidence intervals for medians and other position measures, JASA 47, 1952.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import scipy
from numpy import ndarray
from numpy.typing import ArrayLike

from workbench import checks, intervals
from workbench.checks import WrongValue
from workbench.intervals.limits import unskewed
from workbench.intervals.sampled import SampledMoments
from workbench.intervals.unseen import bounded_notes
from workbench.replication.bounded_intervals import Clusters, Sample, clusters, degrees
from workbench.replication.designs import SurveyDesign
from workbench.replication.independent import (
    auc_jackknife,
    auc_limits,
    auc_ranks,
    is_exact,
    is_independent,
    mean_skewness,
    sampled_counts,
    sampled_values,
)
from workbench.replication.moments import Bounds
from workbench.replication.replicates import Replicates
from workbench.replication.statistics import (
    RANGES,
    Metric,
    Totals,
    UndefinedError,
    UnstableError,
)
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

# the scale on which Student's t is used: the function, its inverse and its slope
LOGARITHM = (np.log, np.exp, lambda x: 1 / x)
ARCTANH = (np.arctanh, np.tanh, lambda r: 1 / (1 - r * r))
SCALES: dict[str, tuple] = {"positive": LOGARITHM, "correlation": ARCTANH}
INTERVALS = (
    "default",
    "bounded",
    "beta",
    "t",
    "logit",
    "wilson",
)
OF_LABELS = ("truth", "prediction")
MOST_UNDEFINED = 0.05  # more replicates left out would be most of a tail
FEW_DF = 30  # t is 4% above the normal quantile
LEAST_DF = 5  # t is 31% above it, and a standard error is known to a third
FEW_CARRIERS = 3
UNLIKE = 0.05  # relative difference allowed between the variances of interval and standard error
ROUGH = (
    "few clusters: the standard error is rough, and other kinds may be missing. Use the interval"
)
SELDOM = (
    "fewer than 3 clusters differ from the rest, or the differences are small compared with the "
    "known bounds. If clusters outside the sample may differ more, report the bounded interval"
)
OTHER_VARIANCE = (
    "the interval uses the jackknife variance, which differs by more than 5% from the replicate "
    "variance"
)
FOREIGN = (
    "replicate weights do not show the strata, and show clusters only in part. Items with the same "
    "factors in all replicates count as one cluster, and all clusters as one stratum"
)
UNBOUNDED = {
    "positive": "the values have no upper bound, so the interval uses Student's t on the "
    "logarithmic scale. In simulations, the 95% interval covered the true value in 93% to 96% of "
    "samples. It covered an RMSE in 92% with 12 clusters, and in 90% with heavy-tailed errors "
    "(t, 4 df)",
    "correlation": "the values have no bounds, so the interval uses Student's t on the scale of "
    "arctanh. In simulations, the 95% interval covered the true value in 92% to 95% of samples, "
    "least with heavy-tailed errors (t, 4 df)",
}
ONE_MORE = (
    "no bounds are known, so the interval allows for one more item like the most extreme one, and "
    "for a more extreme one if few items differ"
)
SKEWED = (
    "no bounds are known, so the interval assumes that the sums of the clusters are normally "
    "distributed. With skewed values its coverage is below the level. For means of 30 lognormal "
    "clusters, the 95% interval covered the true mean in 88% of samples with log-sd 1, and in 65% "
    "with log-sd 2"
)


JOINED = (
    "no bounds are known, so the interval combines Student's t with Hall's interval for skewed "
    "values. Neither allows for rare large values that the sample lacks. For means of 30 lognormal "
    "values, the 95% interval covered the true mean in 94% of samples with log-sd 1, and in 88% "
    "with log-sd 2"
)

KEEPING = "use method 'fay' or 'generalized', whose replicates keep every item"
# their replicates change the weights too little to move a median as another sample would
SMALL_CHANGES = ("generalized", "jkn", "jk1", "jk2")


class Replicated(Estimate):
    """Mixin of estimates that were computed again in every replicate."""

    def _summary(self, limits: Interval) -> str:
        """Return the estimate, its standard error and its limits as text."""
        value = f"{self.estimate:.4g} (SE {self.standard_error:.4g})"
        interval = f"{percent(limits.level)} confidence interval"
        return f"{value}, {interval} {limits.low:.4g} to {limits.high:.4g}"


class ReplicateEstimate(Replicated, Result):
    """A statistic with its replicate variance.

    `replicate_estimate` returns this result. Its method `interval` computes confidence intervals.
    "PSU" stands for primary sampling unit, the cluster that was sampled.

    Attributes
    ----------
    statistic : str
        Name of the statistic.
    estimate, variance : float
        Estimate and its variance. The replicates of "generalized" and of a jackknife hardly move a
        median. Its variance is then Woodruff's: the square of half the distance that the median
        moves if the proportion below it changes by one standard error in either direction.
    df : int
        Degrees of freedom, at least 1: clusters minus strata, among the clusters with an item of
        the denominator. For an AUC it is the smaller of the values for positives and for negatives;
        for F1 only members of the class count.
    replicate_values : (R,) array of float
        Value of each replicate, NaN if it is undefined (0/0).
    undefined : int
        Number of undefined replicates. Their coefficients are spread over the other replicates.
    kind : {"proportion", "share", "agreement", "correlation", "positive", "bounded", "number"}
        Range of the statistic. Accuracy, precision and recall are proportions. F1, AUC and Brier
        score are other numbers from 0 to 1 ("share"). Kappa and mcc are "agreement". Log loss and
        RMSE are positive. A mean with `bounds` is bounded.
    items, psus, strata : int
        Number of items, clusters and strata in the domain.
    counted : int
        Items of the domain that the denominator counts: all for an accuracy, the predicted
        positives for a precision.
    informative_psus : int
        Clusters with an item of the denominator; for an AUC the smaller of the numbers with
        positives and with negatives.
    effective_psus, effective_df : float
        Effective number of clusters, as if they had equal weights, and their degrees of freedom.
        See `workbench.replication.bounded_intervals.degrees`.
    method : str
        Replication method.
    bounds : (float, float) or None
        Smallest and largest possible value of the items whose mean the statistic is. Kappa and mcc
        are such means to first order.
    clusters : (10,) array or None
        Moments of the clusters from which the interval is computed, if bounds are known: value,
        variance, and skewness, bounded, carriers and unseen of both limits. See
        `workbench.replication.bounded_intervals.Clusters`. For F1 they are those of J = F1 / (2 -
        F1).
    free : float
        Finite-population correction: 1 - n_h / N_h, averaged over the clusters with their squared
        weights. It is 1 without `fpc`.
    variance_ratio : float
        Jackknife variance, on which the interval rests, divided by the replicate variance. It is 1
        if both are the same.
    ranks : (4,) array or None
        Numbers of an AUC's interval, for items sampled one by one without strata and with equal
        weights. See `workbench.replication.independent.auc_ranks`.
    counts : (4, H) array or None
        Counts of the interval of a proportion, precision, recall or F1 without clusters. See
        `workbench.replication.independent.sampled_counts`.
    moments : (14, H) array or None
        Moments of the interval of a mean of values without clusters. See
        `workbench.intervals.sampled.SampledMoments`.
    steps : (2, V) array or None
        For a median: the distinct values in ascending order, and the proportion of the weight up to
        each.
    skewness : float or None
        Skewness of a mean without bounds, for items sampled one by one without strata and with
        equal weights. See `workbench.replication.independent.mean_skewness`.

    See Also
    --------
    replicate_estimate : Compute a statistic with its replicate variance.
    MacroEstimate : Mean of the F1 or recall of all classes.
    Replicates : The replicates from which the variance is computed.
    """

    statistic: str
    estimate: float
    variance: float
    df: int
    replicate_values: ndarray
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
    clusters: ndarray | None = None
    free: float = 1.0
    variance_ratio: float = 1.0
    ranks: ndarray | None = None
    counts: ndarray | None = None
    moments: ndarray | None = None
    steps: ndarray | None = None
    skewness: float | None = None

    def interval(self, level: float = 0.95, method: str = "default") -> Interval:
        """Return a confidence interval, with the notes of the estimate and its own.

        Parameters
        ----------
        level : float, default 0.95
            Confidence level, between 0 and 1.
        method : {"default", "bounded", "t", "logit", "wilson"}, default "default"
            - "default": the bounded interval if bounds are known, but shorter where the clusters
              show the range of the values. Without clusters it is the interval of `value_interval`.
              Without bounds it is "t" with `effective_df`. The Notes list the exceptions.
            - "bounded": quantiles of beta distributions that allow for a cluster unlike those that
              were sampled. Needs known bounds. "beta" is another name for it. See
              `workbench.replication.bounded_intervals.Clusters.limits`.
            - "t": estimate -+ t SE, with `df` degrees of freedom, within the range of the
              statistic.
            - "logit": the same on the logit scale, logit p -+ t SE / (p (1 - p)), for statistics
              from 0 to 1.
            - "wilson": Wilson's interval with t and the effective number of items [1]_, for
              statistics from 0 to 1. The effective number is p (1 - p) / v, at most `counted`, or
              `effective_psus` if v = 0.

        Returns
        -------
        Interval
            Lower and upper limit, with the method that was used and notes.

        Raises
        ------
        ValueError
            If the method does not suit the statistic.

        Notes
        -----
        The bounded interval uses the variance of the jackknife that leaves out one cluster at a
        time. For an AUC and for imported weights it uses the variance of the replicates. For a
        median the limits are those of the proportion below it, and the interval consists of the
        values at them [2]_.

        The default has these special cases:

        - positive statistics without an upper bound: t on the logarithmic scale;
        - a correlation r: t on the scale of arctanh r;
        - a mean without bounds, of items sampled one by one: the outer limits of "t" and of Hall's
          interval for skewed values [4]_, as in `workbench.estimate_values`;
        - an AUC of items sampled one by one: `workbench.replication.independent.auc_limits`;
        - precision, recall and F1 of items sampled one by one: the exact interval of the hits among
          the items of the denominator [3]_;
        - a proportion of items sampled one by one, or in strata with equal weights in each: the
          interval of `workbench.stratified_accuracy`.

        In a finite population the intervals of AUC, precision, recall and F1 are shortened by the
        same factor as the standard error. The default uses `effective_df`, because t with `df`
        covers far less than its level if a few strata hold most of the weight.

        References
        ----------
        .. [1] Korn & Graubard, Confidence intervals for proportions with small expected number of
           positive counts estimated from survey data, Survey Methodology 24, 1998: effective sample
           size.
        .. [2] Woodruff, Confidence intervals for medians and other position measures, JASA 47,
           1952.
        .. [3] Clopper & Pearson, The use of confidence or fiducial limits, Biometrika 26, 1934.
        .. [4] Hall, On the removal of skewness by transformation, Journal of the Royal Statistical
           Society B 54, 1992.
        """
        checks.choice("method", method, INTERVALS)
        tail = (1 - checks.level(level)) / 2
        default = method == "default"
        if default and self.counts is not None:
            return self._of_counts(level)
        notes = list(self.notes)
        df = self.effective_df
        if method in ("t", "logit", "wilson") and self.bounds and df < FEW_DF:
            text = (
                f"only {df:.3g} effective degrees of freedom: method {method!r} can cover less "
                "than its level. Use the default interval"
            )
            notes.insert(0, Note("unreliable", text))
        name = method
        limits: Sequence[float] | ndarray
        bounded: Bounds | None = None
        if default and self.ranks is not None:
            name = "default: ranks"
            limits = self._shortened(auc_limits(self.estimate, np.asarray(self.ranks), tail))
        elif default and (self.bounds or self.moments is not None):
            name = "default: beta"
            limits = self._limits(tail, False)
            if self.bounds:
                bounded = self._limits(tail, True)
                notes.extend(bounded_notes(tuple(limits), bounded))
        elif method in ("bounded", "beta"):
            limits = self._limits(tail, True)
        else:
            limits = self._by_standard_error(tail, method)
            if default:
                name = "default: t"
            if default and self.skewness is not None:
                name = "default: t, Hall"
                t = float(scipy.special.stdtrit(df, 1 - tail))
                below, above = (self.standard_error * unskewed(x, self.skewness) for x in (t, -t))
                low, high = limits
                limits = min(low, self.estimate - below), max(high, self.estimate - above)
        low, high = map(float, limits)
        if bounded == (low, high):
            bounded = None
        return Interval(low, high, float(level), name, bounded=bounded, notes=notes)

    def _of_counts(self, level: float) -> Interval:
        """Return the interval of hits without clusters, from their counts in the strata."""
        counts = np.asarray(self.counts)
        interval = intervals.weighted_interval(*counts, level=level)
        limits = Metric.of(self.statistic).of_mean(np.array([*interval]))
        name = "default: stratified"
        if is_exact(counts):
            name = "default: exact"
            if self.free < 1:
                limits = self._shortened(limits)
                name += ", finite population"
        low, high = map(float, limits)
        return Interval(
            low,
            high,
            interval.level,
            name,
            interval.limiting_stratum,
            notes=[*interval.notes, *self.notes],
        )

    def _shortened(self, limits: Sequence[float] | ndarray) -> ndarray:
        """Return limits shortened by the finite-population correction of the standard error."""
        distances = np.subtract(limits, self.estimate)
        return self.estimate + math.sqrt(self.free) * distances

    def _limits(self, tail: float, bounded: bool) -> Bounds:
        """Return the limits from values without clusters, or from clusters."""
        if self.moments is not None:
            return SampledMoments.of_table(np.asarray(self.moments)).limits(tail, bounded=bounded)
        if self.bounds is None:
            raise ValueError(
                f"method 'bounded' needs known bounds; {self.statistic} has none: use 't'"
            )
        mean, variance, *sides = np.asarray(self.clusters)
        pairs = np.reshape(sides, (-1, 2))
        if len(pairs) == 3:  # saved before there was a shorter default
            pairs = pairs[[0, 1, 2, 1]]
        sample = Clusters(mean, variance, self.effective_df, self.effective_psus, self.free, *pairs)
        limits = np.array(sample.limits(tail, self.bounds, bounded=bounded))
        if self.steps is None:
            limits = Metric.of(self.statistic).of_mean(limits)
        else:
            limits = _values_at(limits, self.steps)
        low, high = limits.tolist()
        return low, high

    def _by_standard_error(self, tail: float, method: str) -> Bounds:
        """Return limits by Student's t, or by "logit" or "wilson" for statistics from 0 to 1."""
        if method in ("logit", "wilson") and self.kind not in ("proportion", "share"):
            raise ValueError(
                f"method {method!r} is for statistics from 0 to 1; {self.statistic} is not one: "
                "use 't'"
            )
        if method == "logit" and not (0 < self.estimate < 1 and self.variance > 0):
            raise ValueError(
                f"method 'logit' needs an estimate between 0 and 1 and a variance above 0; got "
                f"{self.estimate:g} and {self.variance:g}: use 'wilson'"
            )
        default = method == "default"
        t = float(scipy.special.stdtrit(self.effective_df if default else self.df, 1 - tail))
        if default and self.kind in SCALES and self.variance > 0:
            function, inverse, slope = SCALES[self.kind]
            middle = function(self.estimate)
            half = t * self.standard_error * slope(self.estimate)
            return inverse(middle - half), inverse(middle + half)
        pair = limits(
            "t" if default else method,
            self.estimate,
            self.variance,
            t,
            self.counted,
            self.effective_psus,
        )
        ends = self.bounds if self.kind == "bounded" else RANGES[self.kind]
        return tuple(np.clip(pair, *ends))  # type: ignore[misc]

    @property
    def is_rough(self) -> bool:
        """Return whether few clusters carry the estimate, so that its standard error is rough."""
        return self.effective_df < LEAST_DF

    def headline(self) -> str:
        """Return the estimate, its standard error, its interval and the design."""
        limits = self.interval()
        psus = checks.counted(self.psus, "PSU")
        strata = checks.counted(self.strata, "stratum", "strata")
        interval = f"({limits.method}){limits.bounded_words()}; {psus}, {strata}"
        drawn = checks.counted(self.replicate_values.size, f"{self.method} replicate")
        return f"{self.statistic} {self._summary(limits)} {interval}, {drawn}"

    def rows(self) -> list[dict]:
        """Return one row: statistic, estimate, standard error, df, limits and interval method."""
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
    bounds: Bounds | None = None,
) -> ReplicateEstimate:
    """Compute a statistic and its replicate variance.

    Use it for a statistic of your own, or for a domain (a part of the items). For the usual metrics
    of a classifier, `estimate_metrics` chooses the replicates for you.

    Parameters
    ----------
    replicates : Replicates
        Replicates of the design, from `replicates` or `imported_replicates`.
    statistic : str or callable
        A name with its columns from the list in the Notes, or a function `(weight, *columns)` that
        returns a number.
    *columns : (n,) array_like
        Values of the items, in the order that the statistic names. Truth and prediction are 0 and 1
        or booleans. Accuracy, kappa and mcc also take other labels; rmse and correlation take
        numbers.
    domain : (n,) array_like of bool, optional
        The items that count. The design remains that of all items.
    center : {"full", "mean"}, default "full"
        Whether deviations of the replicates are from the full estimate or from their mean.
    bounds : (float, float), optional
        For "mean": the smallest and the largest value that any item of the population can have,
        such as (-1, 1) for the difference of two models. Without bounds, values that were not
        sampled are unlimited.

    Returns
    -------
    ReplicateEstimate
        Estimate, variance and degrees of freedom; `interval()` gives the confidence interval.

    Raises
    ------
    ValueError
        If a column does not fit, a value lies outside `bounds`, or the domain is empty. Also if the
        statistic is undefined (0/0) in the sample or in more than 5% of the replicates. Also if all
        items share a prediction or a truth and the statistic needs others. For example, predicted
        positives alone show no recall, F1 or accuracy.

    See Also
    --------
    replicates : Make replicates of a design.
    estimate_metrics : Estimate the usual metrics of a classifier.
    macro_f1 : Estimate the mean F1 of all classes.

    Notes
    -----
    These are the names of statistics and their columns:

    - "proportion"(y) and "identified"(y): y is 0 or 1;
    - "mean"(y), "total"(y) and "median"(y): y is a number;
    - "ratio"(y, x): the total of y divided by the total of x;
    - "quantile"(y, q): q is one number from 0 to 1;
    - "mean_rank"(y, most): y is a rank from 1 to `most`;
    - "accuracy", "precision", "recall", "f1", "kappa", "mcc", "rmse" and "correlation"(truth,
      prediction);
    - "auc", "brier" and "log_loss"(truth, score): for the last two the score is a probability;
    - "micro_f1", "micro_precision", "micro_recall", "exact_match" and "hamming_loss"(true_labels,
      predicted_labels): 0 and 1 or booleans, (n, L).

    Examples
    --------
    >>> from workbench import SurveyDesign, replicates
    >>> design = SurveyDesign([1, 1, 2, 2, 3, 3], weight=[20] * 6)
    >>> y = [.95, .85, .87, .93, .90, .86]
    >>> estimate = replicate_estimate(replicates(design), "mean", y)
    >>> round(estimate.estimate, 4), round(estimate.standard_error, 5), estimate.interval()
    (0.8933, 0.02055, Interval(0.8279 to 0.9587, 0.95 default: t))
    """
    checks.instance("replicates", replicates, Replicates)
    checks.choice("center", center, ("full", "mean"))
    estimate = estimate_statistic(
        replicates,
        statistic,
        *columns,
        domain=domain,
        center=center,
        bounds=bounds,
    )
    if Metric.of(statistic).arguments == OF_LABELS:
        counts = replicates.design.weight > 0
        truth, prediction = (np.asarray(column)[counts] for column in columns)
        refuse_unsampled(estimate.statistic, truth, prediction)
    return estimate


def estimate_statistic(
    replicates: Replicates,
    statistic: str | Callable,
    *columns: ArrayLike,
    domain: ArrayLike | None = None,
    center: str = "full",
    bounds: Bounds | None = None,
) -> ReplicateEstimate:
    """Return the estimate of `replicate_estimate`, without the check for unsampled classes.

    Parameters
    ----------
    replicates, statistic, *columns, domain, center, bounds
        As in `replicate_estimate`.
    """
    design = replicates.design
    size = design.weight.size
    metric = Metric.of(statistic)
    rows = domain_rows(domain, design.weight)
    totals = metric.totals_of(columns, size)
    moments = metric.moments(*columns, size) if metric.moments else None
    bounds = _bounds(metric, bounds, columns, totals, rows)
    if totals:
        estimate, values = _from_totals(replicates, totals, rows)
    elif moments:
        z = design.totals(np.column_stack([rows, moments.columns * rows[:, None]]))
        estimate = float(moments.of_totals(z.sum(0)))
        values = moments.of_totals(replicates.totals_of_psus(z))
    else:
        estimate, values = _from_weights(replicates, metric, columns, rows)
    if not math.isfinite(estimate):
        reason = metric.empty or f"it is {estimate}"
        where = "" if domain is None else " in the domain"
        raise UndefinedError(f"{metric.name} is undefined: {reason}{where}")
    variance, undefined = _variance(replicates, metric.name, estimate, values, center)
    in_base = rows
    if totals and totals.denominator is not None:
        in_base = rows & (totals.denominator != 0)
    averaged: Any = in_base
    parts = [in_base]
    if moments and moments.possible is not None:
        averaged, bounds = moments.linear(design.weight * rows)
    elif bounds:
        averaged, parts = metric.parts_of(columns, totals, rows, design.weight)
    sample = Sample.of_items(design, averaged, parts)
    fields: dict = {
        "counts": sampled_counts(replicates, metric, totals, rows),
        "moments": sampled_values(replicates, metric, totals, rows, bounds),
    }
    independent = is_independent(replicates, rows)
    if len(parts) > 1 and independent:
        fields["ranks"] = auc_ranks(parts[0][rows], np.asarray(columns[1])[rows])
    if metric.name == "mean" and bounds is None and independent:
        y = np.asarray(columns[0], float)[rows]
        fields["skewness"] = mean_skewness(y, variance, design.free[0])
    if metric.name == "median":
        y = np.asarray(columns[0], float)[rows]
        distinct, code = np.unique(y, return_inverse=True)
        below = np.cumsum(np.bincount(code, design.weight[rows]))
        fields["steps"] = np.stack([distinct, below / below[-1]])
    return estimate_of_sample(
        replicates,
        metric,
        sample,
        rows,
        estimate,
        variance,
        values,
        bounds,
        counted=int(in_base.sum()),
        undefined=undefined,
        **fields,
    )


def estimate_of_sample(
    replicates: Replicates,
    metric: Metric,
    sample: Sample,
    rows: ndarray,
    estimate: float,
    variance: float,
    replicate_values: ndarray,
    bounds: Bounds | None,
    **fields: Any,
) -> ReplicateEstimate:
    """Return an estimate with the fields that its interval needs.

    Parameters
    ----------
    replicates : Replicates
    metric : Metric
    sample : Sample
        The values whose mean the estimate is.
    rows : (n,) array of bool
        The items that count.
    estimate, variance : float
    replicate_values : (R,) array
    bounds : (float, float) or None
        Bounds of the values.
    **fields
        Other fields of `ReplicateEstimate`.
    """
    design = replicates.design
    holding, df = psus_holding(design, sample.shares)
    effective_df, effective_psus = degrees(design, sample.shares, replicates.most_df)
    if bounds is not None:
        fields |= _of_clusters(replicates, metric, sample, variance, bounds)
        if metric.name == "median":
            fields["variance_ratio"] = 1.0
            if replicates.method.removeprefix("imported ") in SMALL_CHANGES:
                error = math.sqrt(fields["clusters"][1])
                low, high = _values_at(np.array([0.5 - error, 0.5 + error]), fields["steps"])
                variance = float((high - low) / 2) ** 2
    elif not design.free.any():
        fields["free"] = 0.0
    psus = np.unique(design.psu_of_item[rows])
    if replicates.most_df is not None:
        df = np.minimum(df, replicates.most_df)
    is_bounded = bounds and metric.name == "mean"
    result = ReplicateEstimate(
        metric.name,
        estimate,
        variance,
        int(df),
        replicate_values,
        kind="bounded" if is_bounded else metric.kind,
        items=int(rows.sum()),
        psus=psus.size,
        strata=np.unique(design.stratum_of_psu[psus]).size,
        informative_psus=int(holding),
        effective_psus=float(effective_psus),
        effective_df=float(effective_df),
        method=replicates.method,
        bounds=bounds,
        **fields,
    )
    return replace(result, notes=tuple(estimate_notes(result)))


# estimates


def domain_rows(domain: ArrayLike | None, weight: ndarray) -> ndarray:
    """Return a mask of the items that count: those of the domain, or all, with a weight above 0."""
    if domain is None:
        return weight > 0
    rows = checks.zero_one("domain", domain, size=weight.size) & (weight > 0)
    if not rows.any():
        raise WrongValue("domain", f"must contain at least one item; it has none of {weight.size}")
    return rows


def _from_totals(replicates: Replicates, totals: Totals, rows: ndarray) -> tuple[float, ndarray]:
    """Return estimate and replicate values of a ratio of totals; items outside the domain are 0."""
    design = replicates.design
    if totals.denominator is None:
        z = design.totals((totals.numerator * rows)[:, None])
        return float(z.sum()), replicates.totals_of_psus(z)[:, 0]
    columns = np.stack([totals.numerator, totals.denominator], 1)
    z = design.totals(columns * rows[:, None])
    estimate, values = replicates.ratios(*z.T)
    return float(estimate), values


def _from_weights(
    replicates: Replicates,
    metric: Metric,
    columns: Sequence,
    rows: ndarray,
) -> tuple[float, ndarray]:
    """Return estimate and replicate values of a statistic that needs every weight of the domain."""
    of_domain = []
    for k, column in enumerate(columns):
        if np.ndim(column):
            name = metric.arguments[k] if metric.arguments else f"column {k + 1}"
            if len(column) != rows.size:
                raise ValueError(f"{name} must have {rows.size} entries; got {len(column)}")
            column = checks.plain_array(name, column, "item")[rows]
        of_domain.append(column)
    values_of = metric.values(*of_domain, int(rows.sum()))
    estimate = float(values_of(replicates.design.weight[None, rows])[0])
    values = None
    if math.isfinite(estimate):
        values = auc_jackknife(replicates, metric, columns, rows)
    if values is None:
        values = replicates.values(values_of, rows)
    return estimate, values


def _values_at(shares: ndarray, steps: ndarray) -> ndarray:
    """Return the values up to which given proportions of the weight lie."""
    values, below = steps
    return values[np.minimum(np.searchsorted(below, shares), values.size - 1)]


def _variance(
    replicates: Replicates,
    name: str,
    estimate: float,
    values: ndarray,
    center: str,
) -> tuple[float, int]:
    """Return the variance and the number of undefined replicates, or raise if there are many."""
    defined = values[np.isfinite(values)]
    undefined = values.size - defined.size
    if undefined > MOST_UNDEFINED * values.size:
        remedy = KEEPING if replicates.rho == 0 else "the statistic depends on single clusters"
        count = checks.counted(values.size, "replicate")
        raise UnstableError(
            f"{name} is undefined (0/0) in {undefined} of {count}, more than 5%: {remedy}"
        )
    middle = estimate if center == "full" else defined.mean()
    return float(replicates.variances(values, middle)), undefined


def psus_holding(design: SurveyDesign, shares: ndarray) -> tuple[ndarray, ndarray]:
    """Return the number of PSUs that hold a part, and that number minus their strata, (...) each.

    Both are for the part with the fewest PSUs. The second is at least 1.

    Parameters
    ----------
    design : SurveyDesign
    shares : (K, P, ...) array
        Weight of each of K parts in each PSU.
    """
    holding = shares > 0
    strata = np.add.reduceat(holding, design.first_psu, 1, dtype=int) > 0
    psus = holding.sum(1)
    df = (psus - strata.sum(1)).min(0)
    return psus.min(0), np.maximum(1, df)


def _of_clusters(
    replicates: Replicates,
    metric: Metric,
    sample: Sample,
    variance: float,
    bounds: tuple,
) -> dict:
    """Return the fields from which the interval is computed."""
    ratio = 1.0
    if len(sample.shares) == 1:
        drawn = replicates.jackknife
        by_replicates = variance
        mean, values = sample.replicated(drawn)
        variance = float(drawn.variances(values, mean))
        other = float(drawn.variances(metric.of_mean(values), metric.of_mean(mean)))
        if by_replicates > 0:
            ratio = other / by_replicates
        elif other > 0:
            ratio = math.inf
    moments = clusters(replicates.design, sample, variance, bounds, most_df=replicates.most_df)
    sides = moments.skewness, moments.bounded, moments.carriers, moments.unseen
    return {
        "clusters": np.hstack([moments.mean, moments.variance, *sides]),
        "free": float(moments.free),
        "variance_ratio": ratio,
    }


def _bounds(
    metric: Metric,
    bounds: Bounds | None,
    columns: Sequence,
    totals: Totals | None,
    rows: ndarray,
) -> Bounds | None:
    if bounds is None:
        if metric.is_share:
            return 0.0, 1.0
        return metric.ends(*columns) if metric.ends else None
    if metric.name != "mean" or totals is None:
        raise WrongValue("bounds", f"are only for statistic 'mean'; got {metric.name!r}")
    low, high = checks.bounds(bounds)
    values = totals.numerator
    for k in np.flatnonzero(rows & ((values < low) | (values > high)))[:1]:
        raise WrongValue(
            "bounds",
            f"must include all values; item {k} is {values[k]:g}, bounds are {low:g} to {high:g}",
        )
    return low, high


def estimate_notes(estimate: ReplicateEstimate, *, brief: bool = False) -> Iterator[Note]:
    """Yield the caveats of an estimate and its standard error.

    Parameters
    ----------
    estimate : ReplicateEstimate
    brief : bool
        Leave out the number of PSUs that carry the estimate, so that many estimates share one note.
    """
    if estimate.undefined:
        replicates = checks.counted(estimate.replicate_values.size, "replicate")
        verbs = "are undefined (0/0) and were"
        if estimate.undefined == 1:
            verbs = "is undefined (0/0) and was"
        text = f"{estimate.undefined} of {replicates} {verbs} left out"
        yield Note("undefined", f"{text}: {KEEPING}")
    unbounded = estimate.bounds is None
    if estimate.variance == 0 and estimate.free > 0:
        text = "all replicates are equal, so the estimated standard error is 0"
        no_interval = unbounded and estimate.counts is None
        text += ": the true error may be larger" if no_interval else ". Use the interval"
        yield Note("unreliable", text)
    if estimate.effective_df < FEW_DF and estimate.method == "brr" and estimate.kind == "share":
        yield Note(
            "unreliable",
            f"with few strata, the standard error of {estimate.statistic} by 'brr' is often too "
            "large and depends on the order of the strata: use 'fay' or 'jkn'",
        )
    if estimate.counts is not None:
        if not is_exact(estimate.counts):
            _, size, labeled, _ = estimate.counts
            yield from intervals.few_notes(size, labeled.astype(int))
        return
    if estimate.is_rough:
        yield Note("unreliable", ROUGH if brief else _few(estimate))
    elif estimate.moments is None and estimate.clusters is not None and estimate.variance > 0:
        if estimate.clusters[6:8].min() < FEW_CARRIERS:
            yield Note("unreliable", SELDOM)
    if abs(estimate.variance_ratio - 1) > UNLIKE:
        yield Note("remark", OTHER_VARIANCE)
    if estimate.method.startswith("imported") and not unbounded:
        yield Note("assumption", FOREIGN)
    if unbounded and estimate.moments is not None:
        yield Note("assumption", ONE_MORE)
    elif unbounded and estimate.free > 0 and estimate.statistic != "quantile":
        skewed = SKEWED if estimate.skewness is None else JOINED
        yield Note("assumption", UNBOUNDED.get(estimate.kind, skewed))


def _few(estimate: ReplicateEstimate) -> str:
    """Return the caveat that few PSUs carry an estimate."""
    psus = estimate.informative_psus
    df = estimate.effective_df
    carriers = checks.counted(psus, "cluster carries", "clusters carry")
    degrees_noun = "degree" if df == 1 else "degrees"
    return (
        f"{carriers} the information (effective number of clusters {estimate.effective_psus:.3g}, "
        f"{df:.3g} {degrees_noun} of freedom): the standard error is rough, and the sample may "
        "miss other kinds of clusters"
    )


# intervals


def limits(
    method: str,
    estimate: float | ndarray,
    variance: float | ndarray,
    t: float | ndarray,
    items: int | ndarray,
    effective_psus: float | ndarray,
) -> tuple:
    """Return lower and upper limits of estimates with the given variances; the arrays broadcast.

    "logit" gives Wilson's limits where the estimate is 0 or 1 or the variance is 0.
    """
    if method == "t":
        half = t * np.sqrt(variance)
        return estimate - half, estimate + half
    inside = (estimate > 0) & (estimate < 1) & (variance > 0)
    p = np.where(inside, estimate, 0.5)
    v = np.where(inside, variance, 1.0)
    effective_items = np.minimum(p * (1 - p) / v, items)
    n = np.where(inside, effective_items, effective_psus)
    low, high = intervals.wilson(estimate, n, t)
    if method == "wilson":
        return low, high
    middle = scipy.special.logit(p)
    half = t * np.sqrt(v) / (p * (1 - p))
    ends = scipy.special.expit([middle - half, middle + half])
    return tuple(np.where(inside, ends, [low, high]))
