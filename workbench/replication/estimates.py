"""A statistic of items that come in strata and clusters, with its replicate variance and an honest interval.

References
----------
.. [1] Wolter, Introduction to Variance Estimation, 2nd edition, Springer 2007.
.. [2] Korn & Graubard, Confidence intervals for proportions with small expected number of positive counts estimated
   from survey data, Survey Methodology 24, 1998: effective sample size.
.. [3] Satterthwaite, An approximate distribution of estimates of variance components, Biometrics Bulletin 2, 1946.
"""
from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy
from numpy.typing import ArrayLike

from workbench import checks, intervals
from workbench.replication import statistics
from workbench.replication.bounded_intervals import Clusters, Spread
from workbench.replication.designs import SurveyDesign
from workbench.replication.replicates import Replicates
from workbench.replication.statistics import Metric, Totals
from workbench.results import Estimate, Interval, Note, html_table, note_list, percent

INTERVALS = ("default", "beta", "t", "logit", "wilson")
MOST_UNDEFINED = 0.05   # the others stand for those left out; beyond it that would be most of a tail
ROUNDING = 1e-12
FEW_DF = 30             # t is 4% above the normal quantile
LEAST_DF = 5            # t is 31% above it, and a standard error is known to a third
FEW_PSUS = 30           # from here on no searched design covers less than 93% where 95% is nominal
ROUGH = "few clusters tell about it: the standard error is rough; the interval allows for it"
SKEWED = ("no bounds are known, so the interval takes the PSUs' sums as normal: with skewed values it covers too "
          "little (means of 30 lognormal PSUs of log-sd 1: 88% at 95%, of log-sd 2: 65%)")


@dataclass(frozen=True, eq=False, repr=False)
class ReplicateEstimate(Estimate):
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
    kind : {"proportion", "share", "bounded", "number"}
        Accuracy, precision and recall are proportions; F1 and AUC other shares from 0 to 1; a mean with `bounds` is
        bounded.
    items, psus, strata : int
        Of the domain.
    counted : int
        Items of the domain that the denominator counts: all for an accuracy, the predicted positives for a precision.
    informative_psus : int
        PSUs with an item of the denominator, for an AUC the fewer of those with positives and with negatives, for F1
        those with a member of the class.
    effective_psus : float
        Kish's (sum W)^2 / sum W^2 of the weights W of these PSUs, the number of equally heavy PSUs.
    effective_df : float
        Satterthwaite's [1]_ degrees of freedom were all PSUs of a stratum equally spread: (sum a)^2 / sum a^2 /
        (n_h - 1) with a = W_h^2 / n_h and W_h the weight of the denominator in stratum h; at most that of all items of
        the domain and `informative_psus` less 1, at least 1.
    cautious_psus : float
        Where the denominator is random (a precision, a recall, an F1), `effective_psus` were there one more PSU, unseen
        and as heavy as the heaviest, all of it counted; at most `effective_psus`.
    carriers : (2,) array of float
        Over how many PSUs the variance is spread, (sum d^2)^2 / sum d^4 with d what a PSU adds to the estimate's error,
        less the mean of its stratum; infinite where no PSU differs or no bounds are known. First for the lower limit,
        then for the upper one: of a mean at most the PSUs with an item nearer to that bound than to the mean, since of
        values that were hardly seen nobody knows whether they come in clusters.
    pooled_variance : float
        The variance were the PSUs of all strata equally spread: s^2 sum_h (1 - n_h / N_h) n_h w_h^2 with w_h the mean
        weight of the stratum's PSUs and s^2 the variance of d / w_h within strata; 0 where the strata or bounds are not
        known.
    method : str
        Of the replicates.
    bounds : (float, float) or None
        Smallest and largest value that the statistic can have.
    spread : (3, C) array or None
        Kish's effective number of items and second and third moments of what a bounded statistic averages: see
        `workbench.replication.bounded_intervals.Spread`.
    free : float
        Finite-population factor, 1 - n_h / N_h averaged over the PSUs by the square of their weight; 1 without `fpc`.

    References
    ----------
    .. [1] Satterthwaite, An approximate distribution of estimates of variance components, Biometrics Bulletin 2, 1946.
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
    cautious_psus: float
    carriers: np.ndarray
    pooled_variance: float
    method: str
    bounds: tuple | None = None
    spread: np.ndarray | None = None
    free: float = 1.0

    def interval(self, level: float = 0.95, method: str = "default") -> Interval:
        """Return a confidence interval; its notes are those of the estimate and its own.

        Parameters
        ----------
        level : float
        method : {"default", "beta", "t", "logit", "wilson"}
            - "beta": limits of `workbench.value_interval` for the independent items that the sample is worth, for
              shares those of Korn and Graubard [1]_; t with `effective_df`. Needs known bounds.
            - "t": estimate +- t SE, t with `df` degrees of freedom.
            - "logit": the same on the logit scale, logit p +- t SE / (p (1 - p)); shares only.
            - "wilson": Wilson's interval at t for the effective number of items, p (1 - p) / v but at most
              `counted` [1]_; where v = 0 for `effective_psus`; shares only.
            - "default": "beta" where bounds are known, otherwise "t" with `effective_df`: where a few strata hold
              most of the weight, t at `df` covers far less than it says.

        Returns
        -------
        Interval

        References
        ----------
        .. [1] Korn & Graubard, Confidence intervals for proportions with small expected number of positive counts
           estimated from survey data, Survey Methodology 24, 1998: effective sample size.
        """
        checks.choice("method", method, INTERVALS)
        tail = (1 - checks.level(level)) / 2
        if method == "beta" or method == "default" and self.bounds:
            low, high = self._beta(tail)
        else:
            low, high = self._by_standard_error(tail, method)
        name = f"default: {'beta' if self.bounds else 't'}" if method == "default" else method
        notes = *_interval_notes(self, method), *self.notes
        return Interval(float(low), float(high), float(level), name, notes=notes)

    def _beta(self, tail: float) -> tuple:
        if self.bounds is None:
            raise ValueError(f"method 'beta' needs known bounds; {self.statistic} has none, take 't'")
        clusters = Clusters(self.cautious_psus, self.effective_df, self.carriers, self.pooled_variance)
        return Metric.of(self.statistic).limits(self.estimate, self.variance, Spread(*np.asarray(self.spread)),
                                                clusters, tail, bounds=self.bounds, free=self.free)

    def _by_standard_error(self, tail: float, method: str) -> tuple:
        if method in ("logit", "wilson") and self.kind in ("number", "bounded"):
            raise ValueError(f"method {method!r} is for shares between 0 and 1; {self.statistic} is none, take 't'")
        if method == "logit" and not (0 < self.estimate < 1 and self.variance > 0):
            raise ValueError(f"method 'logit' needs an estimate between 0 and 1 and a variance above 0; got "
                             f"{self.estimate:g} and {self.variance:g}: take 'wilson'")
        rule, df = ("t", self.effective_df) if method == "default" else (method, self.df)
        t = float(scipy.special.stdtrit(df, 1 - tail))
        return limits(rule, self.estimate, self.variance, t, self.counted, self.effective_psus)

    @property
    def is_rough(self) -> bool:
        """Whether so few PSUs carry the estimate that its standard error is rough."""
        return self.effective_df < LEAST_DF or self.df < LEAST_DF and self.informative_psus < FEW_PSUS

    def headline(self) -> str:
        """Return estimate, standard error, interval and design."""
        limits = self.interval()
        design = f"{checks.counted(self.psus, 'PSU')}, {checks.counted(self.strata, 'stratum', 'strata')}"
        return (f"{self.statistic} {self.estimate:.4g} (SE {self.standard_error:.4g}), {percent(limits.level)} from "
                f"{limits.low:.4g} to {limits.high:.4g} ({limits.method}); {design}, "
                f"{checks.counted(self.replicate_values.size, f'{self.method} replicate')}")

    def rows(self) -> list[dict]:
        """Return one row: statistic, estimate, standard error, df, limits and how they were made."""
        limits = self.interval()
        return [{"quantity": self.statistic, "estimate": self.estimate, "standard_error": self.standard_error,
                 "df": self.df, "low": limits.low, "high": limits.high, "interval_method": limits.method}]

    def _repr_html_(self) -> str:
        return html_table(self.rows(), self.headline()) + note_list(self.interval().notes)


def replicate_estimate(replicates: Replicates, statistic: str | Callable, *columns: ArrayLike,
                       domain: ArrayLike | None = None, center: str = "full",
                       bounds: tuple[float, float] | None = None) -> ReplicateEstimate:
    """Return a statistic with its replicate variance.

    Parameters
    ----------
    replicates : Replicates
    statistic : str or callable
        "proportion"(y) of 0 and 1, "mean"(y), "total"(y), "ratio"(y, x) = total y / total x, "accuracy", "precision",
        "recall" and "f1"(truth, prediction), "auc"(truth, score), "quantile"(y, q); or a function (weight, *columns)
        -> number.
    *columns : (n,) array_like
        Values of the items. 0/1 or booleans for truth and prediction (any labels for an accuracy), numbers for
        y, x and score; q in [0, 1] is one number.
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
        undefined in more than 5% of the replicates.

    Examples
    --------
    >>> from workbench import SurveyDesign, replicates
    >>> design = SurveyDesign([1, 1, 2, 2, 3, 3], weight=[20] * 6)
    >>> print(replicate_estimate(replicates(design), "mean", [.95, .85, .87, .93, .90, .86]).headline())
    mean 0.8933 (SE 0.02055), 95% from 0.8279 to 0.9587 (default: t); 6 PSUs, 3 strata, 4 brr replicates
    """
    checks.instance("replicates", replicates, Replicates)
    checks.choice("center", center, ("full", "mean"))
    design, metric = replicates.design, Metric.of(statistic)
    rows = domain_rows(domain, design.weight.size)
    totals = metric.totals_of(columns, design.weight.size)
    bounds = _bounds(metric, bounds, totals, rows)
    estimate, values = _from_totals(replicates, totals, rows) if totals else \
        _from_weights(replicates, metric, columns, rows)
    if not math.isfinite(estimate):
        raise statistics.UndefinedError(f"{metric.name} is undefined: {metric.empty or f'it is {estimate}'}"
                                        + ("" if domain is None else " in the domain"))
    variance, undefined = _variance(replicates, metric.name, estimate, values, center)
    of_domain = np.flatnonzero(np.bincount(design.psu_of_item[rows]))
    strata = int(np.count_nonzero(np.bincount(design.stratum_of_psu[of_domain])))
    base = rows if totals is None or totals.denominator is None else rows & (totals.denominator != 0)
    parts = metric.parts_of(columns, totals, rows, design.weight) if bounds else [(None, base)]
    spread = Spread.of(parts, design.weight).stacked() if bounds else None
    added = _added(design, estimate, totals, rows, parts) if bounds else None
    told = _information(replicates, rows, metric.carrying(columns, parts, rows), added,
                        statistics.ends(estimate, bounds, *parts) if bounds and not metric.is_share else None)
    found = ReplicateEstimate(
        metric.name, estimate, variance, replicate_values=values, undefined=undefined,
        kind="bounded" if bounds and not metric.is_share else metric.kind,
        items=int(rows.sum()), psus=of_domain.size, strata=strata, counted=int(base.sum()), **told,
        method=replicates.method, bounds=bounds, spread=spread, free=_free(design, base))
    return replace(found, notes=tuple(estimate_notes(found)))


# estimates

def domain_rows(domain: ArrayLike | None, size: int) -> np.ndarray:
    """Return the items that count as a mask, all where no domain is given, or raise."""
    if domain is None:
        return np.ones(size, bool)
    rows = checks.zero_one("domain", domain, size=size)
    if not rows.any():
        raise checks.WrongValue("domain", f"must hold an item; none of the {size} is in it")
    return rows


def _from_totals(replicates: Replicates, totals: Totals, rows: np.ndarray) -> tuple:
    """Return estimate and replicate values of a ratio of totals; items outside the domain are 0."""
    columns = [totals.numerator * rows] if totals.denominator is None else \
        [totals.numerator * rows, totals.denominator * rows]
    z = replicates.design.totals(np.stack(columns, 1))
    full, found = z.sum(0), replicates.totals_of_psus(z)
    if totals.denominator is None:
        return float(full[0]), found[:, 0]
    return float(statistics.ratio(*full)), statistics.ratio(*without_noise(found, full).T)


def without_noise(found: np.ndarray, full: np.ndarray) -> np.ndarray:
    """Set replicate totals that are 0 but for rounding to 0."""
    return np.where(np.abs(found) > ROUNDING * np.abs(full), found, 0.0)


def _from_weights(replicates: Replicates, metric: Metric, columns: Sequence, rows: np.ndarray) -> tuple:
    """Return estimate and replicate values of a statistic that needs every weight of the domain."""
    names = metric.arguments or [f"column {k}" for k in range(1, len(columns) + 1)]
    for name, column in zip(names, columns, strict=True):
        if np.ndim(column) and len(column) != rows.size:
            raise ValueError(f"{name} must have {rows.size} entries; got {len(column)}")
    of_domain = [checks.plain_array(name, column, "item")[rows] if np.ndim(column) else column
                 for name, column in zip(names, columns, strict=True)]
    values = metric.values(*of_domain, int(rows.sum()))
    return float(values(replicates.design.weight[None, rows])[0]), replicates.values(values, rows)


def _variance(replicates: Replicates, name: str, estimate: float, values: np.ndarray, center: str) -> tuple:
    defined = np.isfinite(values)
    undefined = int((~defined).sum())
    if undefined > MOST_UNDEFINED * values.size:
        remedy = "the statistic hangs on single PSUs" if replicates.rho > 0 else \
            "take method 'fay' or 'generalized', whose replicates keep every item"
        raise statistics.UnstableError(f"{name} is undefined (0/0) in {undefined} of "
                                       f"{checks.counted(values.size, 'replicate')}, more than 5%: {remedy}")
    middle = estimate if center == "full" else values[defined].mean()
    return float(variances(replicates.coefficients, values, middle)), undefined


def variances(coefficients: np.ndarray, values: np.ndarray, middle: float | np.ndarray) -> np.ndarray:
    """Return sum_r c_r (t_r - middle)^2 down each column of `values`, (R,) or (R, C).

    Where a replicate is NaN its coefficient is spread over the others; differences by rounding count as none.
    """
    defined = np.isfinite(values)
    misses = np.where(defined, values - middle, 0.0)
    misses[np.abs(misses) <= ROUNDING * np.abs(np.where(defined, values, 0.0)).max(0)] = 0.0
    return statistics.ratio(coefficients @ misses ** 2 * coefficients.sum(), coefficients @ defined)


def information(design: SurveyDesign, weight: np.ndarray, base: Sequence[np.ndarray], added: np.ndarray | None = None,
                ends: Sequence | None = None) -> dict:
    """Return what the PSUs of the columns of `base` tell, the least of them: a dict of arrays (...).

    Parameters
    ----------
    design : SurveyDesign
    weight : (P, ...) array
        Weight of each PSU in the domain.
    base : list of (P, ...) arrays
        Weight of each PSU in the parts of the denominator.
    added : (P, ...) array, optional
        What each PSU adds to the estimate's error; without it nothing is known of the variance.
    ends : (2, P, ...) array, optional
        Weight, or number, of the items of each PSU that lie near the lower and near the upper bound.

    Returns
    -------
    dict
        The fields of a `ReplicateEstimate` from `df` to `pooled_variance`.
    """
    of_strata = [np.add.reduceat(w, design.first_psu) for w in (weight, *base)]
    psus = _least(np.count_nonzero(w, 0) for w in base)       # 0 where an F1 has no member
    strata = (np.count_nonzero(w, 0) for w in of_strata[1:])
    df = _least(np.count_nonzero(w, 0) - held for w, held in zip(base, strata, strict=True))
    sampled = _least(w.sum(0) < weight.sum(0) * (1 - ROUNDING) for w in base).astype(bool)
    effective = np.maximum(_least(_kish(w) for w in base), 1.0)
    unseen = _least(_kish(w, weight.max(0)) for w in base)
    carriers, pooled = (np.inf, 0.0) if added is None else _variance_of_psus(design, weight, added)
    at_ends = np.inf if ends is None else np.count_nonzero(ends, 1)
    return {"df": np.maximum(df, 1), "informative_psus": psus, "effective_psus": effective,
            "cautious_psus": np.where(sampled, np.minimum(unseen, effective), effective),
            "effective_df": np.maximum(np.minimum(_least(_satterthwaite(design, w) for w in of_strata), psus - 1.0),
                                       1.0),
            "carriers": np.minimum(np.stack([carriers, carriers]), at_ends), "pooled_variance": np.asarray(pooled)}


def _kish(weight: np.ndarray, unseen: float | np.ndarray = 0.0) -> np.ndarray:
    """Return (sum W)^2 / sum W^2 of PSUs, (P, ...), with one more of weight `unseen`."""
    return statistics.ratio((weight.sum(0) + unseen) ** 2, (weight ** 2).sum(0) + np.square(unseen))


def _variance_of_psus(design: SurveyDesign, weight: np.ndarray, added: np.ndarray) -> tuple:
    """Return over how many PSUs the variance is spread, and what it were if those of all strata were equally spread."""
    n = design.psus_per_stratum.reshape(-1, *[1] * (added.ndim - 1))
    starts, of_psu = design.first_psu, design.stratum_of_psu
    square = (added - (np.add.reduceat(added, starts) / n)[of_psu]) ** 2
    square = np.where(square > ROUNDING * square.max(0), square, 0.0)
    fourth = (square ** 2).sum(0)
    carriers = np.where(fourth > 0, square.sum(0) ** 2 / np.where(fourth > 0, fourth, 1.0), np.inf)
    mean = np.add.reduceat(weight, starts) / n
    held, free = mean > 0, design.free.reshape(n.shape)
    pooled = statistics.ratio((square / np.where(held, mean, 1.0)[of_psu] ** 2).sum(0), (held * (n - 1)).sum(0))
    return carriers, pooled * (free * n * mean ** 2).sum(0)


def _added(design: SurveyDesign, estimate: float, totals: Any, rows: np.ndarray, parts: list) -> np.ndarray:
    """Return what each PSU adds to a statistic's error, (P,)."""
    found = np.zeros(rows.size)
    if totals:
        found[rows] = totals.numerator[rows] - estimate * totals.denominator[rows]
        found *= design.weight / (design.weight[rows] @ totals.denominator[rows])
    else:
        for values, part in parts:
            share = design.weight[part] / design.weight[part].sum()
            found[part] = share * (values[part] - share @ values[part])
    return np.bincount(design.psu_of_item, found)


def _least(arrays: Iterator) -> Any:
    return functools.reduce(np.minimum, (np.nan_to_num(array) for array in arrays))


def _satterthwaite(design: SurveyDesign, weight: np.ndarray) -> np.ndarray:
    """Return the degrees of freedom if the PSUs of every stratum were equally spread; weights (H, ...) of strata."""
    n = design.psus_per_stratum.reshape(-1, *[1] * (weight.ndim - 1))
    spread = weight ** 2 / n
    return statistics.ratio(spread.sum(0) ** 2, (spread ** 2 / (n - 1)).sum(0))


def _information(replicates: Replicates, rows: np.ndarray, masks: list, added: np.ndarray | None,
                 ends: tuple | None) -> dict:
    """Return `information` of masks of items, as numbers; imported replicates say how much they tell at most."""
    design, most = replicates.design, replicates.most_df
    weight, *base = (_of_psus(design, part) for part in (rows, *masks))
    found = information(design, weight, base, added, ends and [_of_psus(design, part) for part in ends])
    found = {name: value if name == "carriers" else value.item() for name, value in found.items()}
    if most is None:
        return found
    return found | {"df": min(found["df"], most), "effective_df": float(min(found["effective_df"], most)),
                    "pooled_variance": 0.0}


def _of_psus(design: SurveyDesign, rows: np.ndarray) -> np.ndarray:
    """Return the weight of these items in every PSU, (P,)."""
    return np.bincount(design.psu_of_item[rows], design.weight[rows], design.stratum_of_psu.size)


def _free(design: SurveyDesign, rows: np.ndarray) -> float:
    """Return the finite-population factor of the PSUs of these items, by the squares of their weights."""
    if design.fpc is None:
        return 1.0
    square = _of_psus(design, rows) ** 2
    return float(square @ design.free[design.stratum_of_psu] / square.sum())


def _bounds(metric: Metric, bounds: Any, totals: Any, rows: np.ndarray) -> tuple[float, float] | None:
    if metric.is_share:
        if bounds is not None:
            raise checks.WrongValue("bounds", f"belong to 'mean'; {metric.name} lies between 0 and 1")
        return 0.0, 1.0
    if bounds is None:
        return None
    if metric.name != "mean":
        raise checks.WrongValue("bounds", f"belong to 'mean'; got statistic {metric.name!r}")
    low, high = checks.bounds(bounds)
    outside = rows & ((totals.numerator < low) | (totals.numerator > high))
    if outside.any():
        k = outside.argmax()
        raise checks.WrongValue("bounds", f"must hold all values; item {k} is {totals.numerator[k]:g}, bounds are "
                                f"{low:g} to {high:g}")
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
        yield Note("undefined", f"{found.undefined} of {made} {are} undefined (0/0) and {were} left out: take method "
                   "'fay' or 'generalized'")
    if found.variance == 0 and found.free > 0:
        yield Note("unreliable", "every replicate gave the same value: a standard error of 0 is not knowledge")
    if found.effective_df < FEW_DF and found.method == "brr" and found.kind == "share":
        yield Note("unreliable", f"few strata: brr's standard error of {found.statistic} is often too large and "
                   "depends on the order of the strata; 'fay' and 'jkn' are steadier")
    if found.is_rough:
        yield Note("unreliable", ROUGH if brief else _few(found))
    if found.bounds is None and found.statistic != "quantile":
        yield Note("assumption", SKEWED)


def _few(found: ReplicateEstimate) -> str:
    """Say how little carries the estimate."""
    psus = f"{checks.counted(found.informative_psus, 'PSU')} carry" if found.informative_psus != 1 else "1 PSU carries"
    return (f"{psus} the information, worth {found.effective_df:.3g} "
            f"degree{'' if found.effective_df == 1 else 's'} of freedom: the standard error is rough; the default "
            "interval allows for it")


# intervals

def _interval_notes(found: ReplicateEstimate, method: str) -> Iterator[Note]:
    """Yield what the reader has to know of an interval by this method."""
    if method in ("t", "logit", "wilson") and found.bounds and found.effective_df < FEW_DF:
        yield Note("unreliable", f"{found.effective_df:.3g} effective degrees of freedom, few: the default covers what "
                   f"it says, {method!r} can cover too little")


def limits(method: str, estimate: float | np.ndarray, variance: float | np.ndarray, t: float | np.ndarray,
           items: int | np.ndarray, effective_psus: float | np.ndarray) -> tuple:
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
    return tuple(np.where(inside, scipy.special.expit(scipy.special.logit(p) + side * half), limit)
                 for side, limit in zip((-1, 1), wilson, strict=True))
