"""Replicate variance: an interval for any statistic of items that come in strata and clusters.

Each replicate reweights the primary sampling units (PSUs) of a design, the statistic is computed again with these
weights, and the spread of the R values around the full one is its variance, v = sum_r c_r (t_r - t)^2. Balanced
repeated replication takes the weights from an orthogonal array: then v is the textbook variance for every linear
statistic, sum_h n_h / (n_h - 1) sum_i (z_hi - mean_h)^2 for a total of PSU totals z.

References
----------
.. [1] McCarthy, Pseudo-replication: half samples, Review of the International Statistical Institute 37, 1969.
.. [2] Gurney & Jewett, Constructing orthogonal replications for variance estimation, JASA 70, 1975: p units per
   stratum.
.. [3] Micheals & Boult, A stratified methodology for classifier and recognizer evaluation, 2001: eqs. 9 to 17.
.. [4] Fay, Theory and application of replicate weighting for variance calculations, Proceedings of the Section on
   Survey Research Methods, American Statistical Association 1989.
.. [5] Rao & Wu, Resampling inference with complex survey data, JASA 83, 1988.
.. [6] Wolter, Introduction to Variance Estimation, 2nd edition, Springer 2007.
.. [7] Korn & Graubard, Confidence intervals for proportions with small expected number of positive counts estimated
   from survey data, Survey Methodology 24, 1998: effective sample size.
"""
import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import scipy

from workbench import checks, intervals
from workbench.data import label_sheets
from workbench.replication import arrays, statistics
from workbench.replication.designs import SurveyDesign, sizes
from workbench.replication.galois import as_prime_power
from workbench.replication.totals import kept_totals, signed_totals
from workbench.results import Estimate, Interval, Note, Result, html_table, note_list, percent, sentences

METHODS = ("brr", "fay", "generalized", "jkn", "bootstrap")
BALANCED = ("brr", "fay")
INTERVALS = ("default", "t", "logit", "wilson")
LARGEST_HADAMARD = 1024
LARGEST_WEIGHTS = 2 ** 31
MOST_EVALUATIONS = 2 ** 33
MOST_UNDEFINED = 0.05
ROUNDING = 1e-12
FEW_DF = 30
VERY_FEW_DF = 10
BLOCK = 2 ** 22


@dataclass(frozen=True, eq=False, repr=False)
class Replicates(Result):
    """Replicates of a design; made by `replicates`.

    Attributes
    ----------
    design : SurveyDesign
    method : str
    rho : float
        No weight is multiplied by less, 0 for "brr".
    coefficients : (R,) array of float
        c_r of v = sum_r c_r (t_r - t)^2.
    array : (R, J) array of int or None
        Unit that each replicate keeps in each stratum, or 0/1 for each of the J contrasts of "generalized"; None
        for the linear array of `workbench.orthogonal.linear_array`, which is not stored.
    draws : (R, P) array of int or None
        How often each bootstrap replicate drew each PSU.
    """

    design: SurveyDesign
    method: str
    rho: float
    coefficients: np.ndarray
    array: np.ndarray | None = None
    draws: np.ndarray | None = None

    @property
    def count(self):
        """Number of replicates R."""
        return self.coefficients.size

    @property
    def df(self):
        """Degrees of freedom of the design."""
        return self.design.df

    def weights(self):
        """Return the replicate weights of the items, (n, R).

        In R: `svrepdesign(weights=, repweights=, type="other", scale=1, rscales=, combined.weights=TRUE, mse=TRUE)`
        with `coefficients` as rscales.

        Raises
        ------
        ValueError
            If they would take more than 2 GiB.
        """
        needed = 8 * self.count * self.design.weight.size
        if needed > LARGEST_WEIGHTS:
            raise ValueError(f"weights must fit into {LARGEST_WEIGHTS:,} bytes; {self.design.weight.size:,} items "
                             f"times {self.count:,} replicates need {needed:,}: estimate with replicate_estimate, "
                             "which does not store them")
        factors = self.factors(slice(None))
        return self.design.weight[:, None] * factors.T[self.design.psu_of_item]

    def write_csv(self, path):
        """Write stratum, psu, weight, replicate_1 .. replicate_R of every item to a CSV file; see `weights` for R.

        The file is written whole or not at all, in UTF-8 with a byte-order mark (`fileEncoding="UTF-8-BOM"` in R).
        A name that a spreadsheet would execute gets a leading apostrophe.

        Parameters
        ----------
        path : str or path
            Ends in .csv.

        Raises
        ------
        ValueError
            If the file exists and has other columns, or the weights would take more than 2 GiB.
        """
        design = self.design
        header = ["stratum", "psu", "weight", *(f"replicate_{r}" for r in range(1, self.count + 1))]
        label_sheets.refuse_other(path, header)
        stratum = design.strata[design.stratum_of_psu[design.psu_of_item]]
        psu = design.psu_of_item if design.psu is None else design.psu
        columns = zip(stratum.tolist(), psu.tolist(), design.weight.tolist(), self.weights(), strict=True)
        label_sheets.write_rows(path, header, ([*row, *weights.tolist()] for *row, weights in columns))

    def totals(self, values):
        """Return the replicate totals, (R, C), of item values (n, C), without making the weights.

        Examples
        --------
        >>> design = SurveyDesign(["a", "a", "b", "b"])
        >>> replicates(design, "brr").totals([[1.0], [2.0], [4.0], [8.0]]).ravel()
        array([10., 12., 18., 20.])
        """
        return self.totals_of_psus(self.design.totals(values))

    def totals_of_psus(self, z):
        """Return the replicate totals, (R, C), of PSU totals (P, C)."""
        n = self.design.psus_per_stratum
        if self.method == "jkn":
            of_psu = self.design.stratum_of_psu
            starts = np.cumsum(n) - n
            stratum_totals = np.add.reduceat(z, starts)
            return z.sum(0) + (stratum_totals[of_psu] - n[of_psu, None] * z) / (n[of_psu, None] - 1)
        if self.method == "bootstrap":
            return np.concatenate([self.factors(rows) @ z for rows in self._blocks(len(z))])
        if self._two_level:
            contrasts = np.concatenate([_contrasts(z[units]).reshape(-1, z.shape[1]) for _, units in self._groups])
            signed = signed_totals(contrasts) if self.array is None else \
                (1.0 - 2 * self.array) @ contrasts
            return z.sum(0) + self._step * signed
        units = z.reshape(n.size, n[0], -1)
        kept = kept_totals(units) if self.array is None else \
            sum((self.array == i).astype(float) @ units[:, i] for i in range(n[0]))
        return z.sum(0) + (1 - self.rho) * (n[0] * kept - z.sum(0))

    def factors(self, rows):
        """Return what the replicates `rows` (a slice) multiply the weight of each PSU by, (r, P)."""
        n, of_psu = self.design.psus_per_stratum, self.design.stratum_of_psu
        if self.method == "jkn":
            left_out = np.arange(of_psu.size)[rows, None]
            same, n = of_psu[left_out] == of_psu, n[of_psu]
            return 1.0 + same / (n - 1) - (left_out == np.arange(of_psu.size)) * n / (n - 1)
        if self.method == "bootstrap":
            return self.draws[rows] * (n / (n - 1.0))[of_psu]
        if self._two_level:
            signs = 1.0 - 2 * self._array_rows(rows)
            found, column = np.ones((len(signs), of_psu.size)), 0
            for m, units in self._groups:
                part = signs[:, column:column + units.shape[0] * (m - 1)].reshape(len(signs), -1, m - 1)
                found[:, units] += self._step * _spread(part)
                column += units.shape[0] * (m - 1)
            return found
        unit = np.tile(np.arange(n[0]), n.size)
        kept = self._array_rows(rows)[:, of_psu] == unit
        return 1 + (1 - self.rho) * (n[0] * kept - 1.0)

    def headline(self):
        """Return method, number of replicates and the design."""
        how = f" rho {self.rho:g}" if self.method in ("fay", "generalized") else ""
        return f"{self.method}{how}, {checks.counted(self.count, 'replicate')}; {self.design.headline()}"

    def rows(self):
        """Return one row: method, replicates, PSUs, strata, degrees of freedom."""
        return [{"method": self.method, "replicates": self.count, "PSUs": self.design.stratum_of_psu.size,
                 "strata": self.design.strata.size, "df": self.df}]

    @property
    def _two_level(self):
        return self.method == "generalized" or self.method in BALANCED and self.design.psus_per_stratum[0] == 2

    @cached_property
    def _groups(self):
        """For each n_h that occurs the PSUs of its strata, (strata, n_h)."""
        n = self.design.psus_per_stratum
        starts = np.cumsum(n) - n
        return [(int(m), starts[n == m][:, None] + np.arange(m)) for m in np.unique(n)]

    @property
    def _step(self):
        return _largest_step(self.design.psus_per_stratum) * (1 - self.rho)

    def _array_rows(self, rows):
        if self.array is not None:
            return self.array[rows]
        n, runs = self.design.psus_per_stratum, np.arange(self.count)[rows]
        return arrays.linear_array(2, (n - 1).sum(), runs) if self._two_level else \
            arrays.linear_array(n[0], n.size, runs)

    def _blocks(self, width):
        """Slices of replicates whose factors or weights, `width` each, fit into a block."""
        step = max(1, BLOCK // width)
        return [slice(start, start + step) for start in range(0, self.count, step)]

    def values(self, function, rows):
        """Return what `function` makes of each replicate's weights of the items `rows` (a mask), (R,)."""
        psu, weight = self.design.psu_of_item[rows], self.design.weight[rows]
        if self.count * weight.size > MOST_EVALUATIONS:
            raise ValueError(f"statistic must need at most {MOST_EVALUATIONS:,} weights; {weight.size:,} items times "
                             f"{self.count:,} replicates are {self.count * weight.size:,}: take method 'bootstrap', "
                             "or fewer PSUs")
        width = max(self.design.stratum_of_psu.size, weight.size)
        return np.concatenate([function(weight * self.factors(block)[:, psu]) for block in self._blocks(width)])


def replicates(design, method="brr", *, rho=0.5, array=None, require_balance=True, count=500, rng=0):
    """Return the replicates of a design.

    Parameters
    ----------
    design : SurveyDesign
    method : {"brr", "fay", "generalized", "jkn", "bootstrap"}
        - "brr": each replicate keeps one PSU per stratum, at n times its weight. The same number n of PSUs in every
          stratum, a prime power: an orthogonal array says which ([1]_ for n = 2, [2]_, [3]_).
        - "fay": the PSUs that are not kept keep the share rho of their weight, so that no replicate loses a class.
        - "generalized": any n_h >= 2, one column of a Hadamard matrix per contrast of a stratum's PSUs [4]_.
        - "jkn": leaves out one PSU at a time; the rest of its stratum stands in for it [6]_.
        - "bootstrap": draws n_h - 1 of the n_h PSUs with replacement [5]_.
    rho : float
        Bound below which no factor of "fay" and "generalized" falls, 0 <= rho < 1; "fay" reaches it.
    array : (R, H) array_like of int, optional
        For "brr" and "fay": the unit, 0 .. n - 1, that each replicate keeps in each stratum (strata sorted, units as
        they first appear); for two units also +1 and -1, +1 the first. By default up to 1,023 two-unit strata take
        the smallest Hadamard matrix there is, all others the linear array of fewest runs.
    require_balance : bool
        Refuse an array that is not in full balance; False shows what then happens.
    count : int
        Replicates of "bootstrap".
    rng : int or numpy.random.Generator
        For "bootstrap".

    Returns
    -------
    Replicates

    Raises
    ------
    ValueError
        If the design does not suit the method, rho is out of range or the array not in balance.

    Examples
    --------
    >>> design = SurveyDesign([1, 1, 2, 2, 3, 3], weight=[2, 2, 1, 1, 1, 1])
    >>> replicates(design).weights().T
    array([[4., 0., 2., 0., 2., 0.],
           [0., 4., 2., 0., 0., 2.],
           [4., 0., 0., 2., 0., 2.],
           [0., 4., 0., 2., 2., 0.]])
    """
    checks.instance("design", design, SurveyDesign)
    checks.choice("method", method, METHODS)
    rho = checks.number("rho", rho)
    if not 0 <= rho < 1:
        raise ValueError(f"rho must be at least 0 and below 1; got {rho:g}")
    if array is not None and method not in BALANCED:
        raise ValueError(f"array belongs to the methods 'brr' and 'fay'; got method {method!r}")
    n = design.psus_per_stratum
    if method == "jkn":
        return Replicates(design, method, 0.0, ((n - 1) / n)[design.stratum_of_psu])
    if method == "bootstrap":
        count = checks.whole("count", count, 2)
        return Replicates(design, method, 0.0, np.full(count, 1 / count), draws=_draws(n, count, rng))
    if method == "generalized":
        array, runs = _two_level_array(int((n - 1).sum()))
        step = _largest_step(n) * (1 - rho)
        return Replicates(design, method, rho, np.full(runs, 1 / (runs * step ** 2)), array)
    rho = 0.0 if method == "brr" else rho
    _refuse_unequal(method, n)
    units = int(n[0])
    if array is not None:
        array = _kept_units(array, units, n.size, require_balance)
        runs = len(array)
    elif units == 2:
        array, runs = _two_level_array(n.size)
    else:
        _refuse_no_field(method, units)
        runs = arrays.smallest_runs(units, n.size)
    return Replicates(design, method, rho, np.full(runs, 1 / (runs * (units - 1) * (1 - rho) ** 2)), array)


@dataclass(frozen=True, eq=False, repr=False)
class ReplicateEstimate(Estimate):
    """A statistic with its replicate variance.

    Attributes
    ----------
    statistic : str
    estimate, variance : float
    df : int
        Degrees of freedom: PSUs less strata among the PSUs that hold an item of the domain, at least 1.
    replicate_values : (R,) array of float
        NaN where a replicate is undefined (0/0).
    undefined : int
        How many are; their coefficients are spread over the others.
    kind : {"proportion", "share", "number"}
        Accuracy, precision, recall and means of 0/1 are proportions; F1 and AUC other shares from 0 to 1.
    items, psus, strata : int
        Of the domain.
    counted : int
        Items of the domain that the denominator counts: all for an accuracy, the predicted positives for a precision.
    effective_psus : float
        Kish's (sum W)^2 / sum W^2 of the weights W of the PSUs in the denominator, the number of equally heavy PSUs.
    effective_df : float
        Satterthwaite's degrees of freedom were all PSUs of a stratum equally spread: (sum a)^2 / sum a^2 / (n_h - 1)
        with a = W_h^2 / n_h and W_h the weight of the domain in stratum h; at most the PSUs of the domain less 1.
        `df` for all items if the strata weigh the same.
    method : str
        Of the replicates.
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
    effective_psus: float
    effective_df: float
    method: str

    @classmethod
    def _from_schema_1(cls, values):
        """Return the fields of today: the caveats were not saved but made when asked for."""
        return values | {"notes": tuple(_estimate_notes(cls(**values)))}

    def interval(self, level=0.95, method="default"):
        """Return a confidence interval; its notes are those of the estimate and its own.

        Parameters
        ----------
        level : float
        method : {"default", "t", "logit", "wilson"}
            - "t": estimate +- t SE, t with `df` degrees of freedom.
            - "logit": the same on the logit scale, logit p +- t SE / (p (1 - p)); shares only.
            - "wilson": Wilson's interval at t for the effective number of items, p (1 - p) / v but at most
              `counted` [7]_; where v = 0 for `effective_psus`; shares only.
            - "default": for shares "logit"; "wilson" for proportions with fewer than 30 effective degrees of freedom
              and where v = 0 or the estimate is 0 or 1; for other numbers "t". All at `effective_df`: where a few
              strata hold most of the weight, t at `df` covers far less than it says.

        Returns
        -------
        Interval
        """
        checks.choice("method", method, INTERVALS)
        tail = (1 + checks.level(level)) / 2
        name, df = method, self.df
        inside = 0 < self.estimate < 1 and self.variance > 0
        if method == "default":
            method, df = default_method(self.kind, self.effective_df), self.effective_df
            method = "wilson" if method == "logit" and not inside else method
            name = f"default: {method}"
        if method != "t" and self.kind == "number":
            raise ValueError(f"method {method!r} is for shares between 0 and 1; {self.statistic} is none, take 't'")
        if method == "logit" and not inside:
            raise ValueError(f"method 'logit' needs an estimate between 0 and 1 and a variance above 0; got "
                             f"{self.estimate:g} and {self.variance:g}: take 'wilson'")
        t = float(scipy.special.stdtrit(df, tail))
        low, high = limits(method, self.estimate, self.variance, t, self.counted, self.effective_psus)
        return Interval(float(low), float(high), float(level), name, notes=(*_interval_notes(self), *self.notes))

    def warnings(self):
        """Return the notes of the estimate and of its default interval, as a list of sentences."""
        return list(sentences(self.interval().notes))

    def headline(self):
        """Return estimate, standard error, interval and design."""
        limits = self.interval()
        design = f"{checks.counted(self.psus, 'PSU')}, {checks.counted(self.strata, 'stratum', 'strata')}"
        return (f"{self.statistic} {self.estimate:.4g} (SE {self.standard_error:.4g}), {percent(limits.level)} from "
                f"{limits.low:.4g} to {limits.high:.4g} ({limits.method}); {design}, "
                f"{checks.counted(self.replicate_values.size, f'{self.method} replicate')}")

    def rows(self):
        """Return one row: statistic, estimate, standard error, df, limits and how they were made."""
        limits = self.interval()
        return [{"statistic": self.statistic, "estimate": self.estimate, "standard error": self.standard_error,
                 "df": self.df, "low": limits.low, "high": limits.high, "interval": limits.method}]

    def _repr_html_(self):
        return html_table(self.rows(), self.headline()) + note_list(self.interval().notes)


def replicate_estimate(replicates, statistic, *columns, domain=None, center="full"):
    """Return a statistic with its replicate variance.

    Parameters
    ----------
    replicates : Replicates
    statistic : str or callable
        "mean"(y), "total"(y), "ratio"(y, x) = total y / total x, "accuracy", "precision", "recall" and
        "f1"(truth, prediction), "auc"(truth, score), "quantile"(y, q); or a function (weight, *columns) -> number.
    *columns : (n,) array_like
        Values of the items. 0/1 or booleans for truth and prediction (any labels for an accuracy), numbers for
        y, x and score; q in [0, 1] is one number.
    domain : (n,) array_like of bool, optional
        The items that count; the design stays that of all.
    center : {"full", "mean"}
        Deviations are from the full estimate or from the mean of the replicates.

    Returns
    -------
    ReplicateEstimate

    Raises
    ------
    ValueError
        If a column does not fit, the domain is empty, the statistic undefined (0/0), or undefined in more than 5% of
        the replicates.

    Examples
    --------
    >>> design = SurveyDesign([1, 1, 2, 2, 3, 3], weight=[20] * 6)
    >>> print(replicate_estimate(replicates(design), "mean", [.95, .85, .87, .93, .90, .86]).headline())
    mean 0.8933 (SE 0.02055), 95% from 0.8279 to 0.9587 (default: t); 6 PSUs, 3 strata, 4 brr replicates
    """
    checks.instance("replicates", replicates, Replicates)
    checks.choice("center", center, ("full", "mean"))
    design = replicates.design
    rows = _domain(domain, design.weight.size)
    totals = statistics.totals_of(statistic, columns, design.weight.size)
    name = getattr(statistic, "__name__", "statistic") if callable(statistic) else statistic
    estimate, values = _from_totals(replicates, totals, rows) if totals else \
        _from_weights(replicates, statistic, columns, rows)
    if not math.isfinite(estimate):
        raise statistics.UndefinedError(f"{name} is undefined: {statistics.EMPTY.get(name, f'it is {estimate}')}"
                                        + ("" if domain is None else " in the domain"))
    variance, undefined = _variance(replicates, name, estimate, values, center)
    of_domain = np.flatnonzero(np.bincount(design.psu_of_item[rows]))
    strata = np.count_nonzero(np.bincount(design.stratum_of_psu[of_domain]))
    base = rows if totals is None or totals.denominator is None else rows & (totals.denominator != 0)
    base_weight, weight = (np.bincount(design.psu_of_item[r], design.weight[r], design.stratum_of_psu.size)
                           for r in (base, rows))
    df = max(1, of_domain.size - strata)
    found = ReplicateEstimate(name, estimate, variance, df, values, undefined,
                              _kind(statistic, totals, rows), int(rows.sum()), of_domain.size, strata,
                              int(base.sum()), float(base_weight.sum() ** 2 / (base_weight ** 2).sum()),
                              max(1.0, min(of_domain.size - 1.0, effective_df(design, weight))), replicates.method)
    return replace(found, notes=tuple(_estimate_notes(found)))


# replicates

def _scales(m):
    """Return the factors of Helmert's contrasts of m units, (m - 1,), k = 1 .. m - 1.

    Contrast k is the sum of the first k units less k times the next one. So scaled, the squares of the contrasts add
    up to m times the variance (ddof 1) of the units.
    """
    k = np.arange(1.0, m)
    return np.sqrt(m / ((m - 1) * k * (k + 1)))


def _contrasts(units):
    """Return the contrasts (..., m - 1, C) of units (..., m, C)."""
    m = units.shape[-2]
    k = np.arange(1.0, m)[:, None]
    return _scales(m)[:, None] * (np.cumsum(units, -2)[..., :-1, :] - k * units[..., 1:, :])


def _spread(signs):
    """Return what signed contrasts (..., m - 1) add to the factors of the units, (..., m)."""
    m = signs.shape[-1] + 1
    scaled = signs * _scales(m)
    after = np.cumsum(scaled[..., ::-1], -1)[..., ::-1]
    zero = np.zeros((*scaled.shape[:-1], 1))
    return np.concatenate([after, zero], -1) - np.concatenate([zero, np.arange(1.0, m) * scaled], -1)


def _largest_step(n):
    """Return the step with which no factor 1 + step * (sum of signed contrasts) can fall below 0.

    The first unit can lose most: it is in all contrasts.
    """
    return float(1 / _scales(int(n.max())).sum())


def _two_level_array(columns):
    """Return (array or None for the linear one, runs) for two levels; the smallest Hadamard matrix if not many."""
    if columns >= LARGEST_HADAMARD:
        return None, arrays.smallest_runs(2, columns)
    order = arrays.next_hadamard_order(columns + 1)
    return (arrays.hadamard(order)[:, 1:columns + 1] < 0).astype(np.int8), order


def _draws(n, count, rng):
    rng = checks.generator(rng)
    draws = np.empty((count, n.sum()), np.min_scalar_type(int(n.max())))
    starts = np.cumsum(n) - n
    for m in np.unique(n):
        units = starts[n == m][:, None] + np.arange(m)
        draws[:, units] = rng.multinomial(m - 1, np.full(m, 1 / m), (count, len(units)))
    return draws


def _refuse_unequal(method, n):
    if np.ptp(n):
        raise ValueError(f"method {method!r} needs the same number of PSUs in every stratum; got {sizes(n)}: "
                         "take method 'generalized', exact for any mixture, or 'jkn'")


def _refuse_no_field(method, units):
    if as_prime_power(units) is None:
        raise ValueError(f"method {method!r} needs a prime power of PSUs per stratum; {units} is not a prime power: "
                         "take method 'generalized', exact for any number, or 'jkn'")


def _kept_units(array, units, strata, require_balance):
    """Return a supplied array as unit numbers, or raise saying what is wrong with it."""
    array = checks.plain_array("array", array)
    if array.ndim != 2 or array.shape[1] != strata:
        columns = checks.counted(strata, "column")
        raise ValueError(f"array must have {columns}, one per stratum; got shape {array.shape}")
    balance = arrays.check_balance(array)
    signs = units == 2 and (array == -1).any()
    outside = ~np.isin(array, (-1, 1) if signs else np.arange(units))
    if outside.any():
        row, column = np.argwhere(outside)[0]
        raise ValueError(f"array must hold the units 0 to {units - 1}{', or +1 and -1' if units == 2 else ''}; "
                         f"row {row} column {column} is {array[row, column]:g}")
    if require_balance and not (balance.full and balance.levels == units):
        fault = f"it holds {balance.levels} of the {units} units" if balance.full else balance.problem
        raise ValueError(f"array must be in full balance; {fault}")
    return ((1 - array) // 2 if signs else array).astype(np.min_scalar_type(units))


# estimates

def _domain(domain, size):
    if domain is None:
        return np.ones(size, bool)
    rows = checks.zero_one("domain", domain, size=size)
    if not rows.any():
        raise ValueError(f"domain must hold an item; none of the {size} is in it")
    return rows


def _from_totals(replicates, totals, rows):
    """Return estimate and replicate values of a ratio of totals; items outside the domain are 0."""
    columns = [totals.numerator * rows] if totals.denominator is None else \
        [totals.numerator * rows, totals.denominator * rows]
    z = replicates.design.totals(np.stack(columns, 1))
    full, found = z.sum(0), replicates.totals_of_psus(z)
    if totals.denominator is None:
        return float(full[0]), found[:, 0]
    return float(statistics.ratio(*full)), statistics.ratio(*without_noise(found, full).T)


def without_noise(found, full):
    """Set replicate totals that are 0 but for rounding to 0."""
    return np.where(np.abs(found) > ROUNDING * np.abs(full), found, 0.0)


def _from_weights(replicates, statistic, columns, rows):
    """Return estimate and replicate values of a statistic that needs every weight of the domain."""
    names = statistics.ARGUMENTS.get(statistic) or [f"column {k}" for k in range(1, len(columns) + 1)]
    for name, column in zip(names, columns, strict=True):
        if np.ndim(column) and len(column) != rows.size:
            raise ValueError(f"{name} must have {rows.size} entries; got {len(column)}")
    of_domain = [checks.plain_array(name, column, "item")[rows] if np.ndim(column) else column
                 for name, column in zip(names, columns, strict=True)]
    function = statistics.from_weights(statistic, of_domain, int(rows.sum()))
    return float(function(replicates.design.weight[None, rows])[0]), replicates.values(function, rows)


def _variance(replicates, name, estimate, values, center):
    defined = np.isfinite(values)
    undefined = int((~defined).sum())
    if undefined > MOST_UNDEFINED * values.size:
        remedy = "the statistic hangs on single PSUs" if replicates.rho > 0 else \
            "take method 'fay' or 'generalized', whose replicates keep every item"
        raise statistics.UnstableError(f"{name} is undefined (0/0) in {undefined} of "
                                       f"{checks.counted(values.size, 'replicate')}, more than 5%: {remedy}")
    middle = estimate if center == "full" else values[defined].mean()
    return float(variances(replicates.coefficients, values, middle)), undefined


def variances(coefficients, values, middle):
    """Return sum_r c_r (t_r - middle)^2 down each column of `values`, (R,) or (R, C).

    Where a replicate is NaN its coefficient is spread over the others; differences by rounding count as none.
    """
    defined = np.isfinite(values)
    misses = np.where(defined, values - middle, 0.0)
    misses[np.abs(misses) <= ROUNDING * np.abs(np.where(defined, values, 0.0)).max(0)] = 0.0
    return statistics.ratio(coefficients @ misses ** 2 * coefficients.sum(), coefficients @ defined)


def effective_df(design, psu_weight):
    """Return Satterthwaite's degrees of freedom if the PSUs of every stratum were equally spread, at least 1."""
    n = design.psus_per_stratum
    spread = np.bincount(design.stratum_of_psu, psu_weight) ** 2 / n
    return max(1.0, float(spread.sum() ** 2 / (spread ** 2 / (n - 1)).sum()))


def _kind(statistic, totals, rows):
    if statistic in statistics.PROPORTIONS:
        return "proportion"
    if statistic in statistics.SHARES:
        return "share"
    zero_one = statistic == "mean" and np.isin(totals.numerator[rows], (0, 1)).all()
    return "proportion" if zero_one else "number"


def _estimate_notes(found):
    """Yield what the reader has to know before they quote the estimate or its standard error."""
    if found.undefined:
        made = checks.counted(found.replicate_values.size, "replicate")
        are, were = ("is", "was") if found.undefined == 1 else ("are", "were")
        yield Note("undefined", f"{found.undefined} of {made} {are} undefined (0/0) and {were} left out: take method "
                   "'fay' or 'generalized'")
    if found.variance == 0:
        yield Note("unreliable", "every replicate gave the same value: a standard error of 0 is not knowledge")
    if found.effective_df < FEW_DF and found.method == "brr" and found.kind == "share":
        yield Note("unreliable", f"few strata: brr's standard error of {found.statistic} is often too large and "
                   "depends on the order of the strata; 'fay' and 'jkn' are steadier")
    if found.effective_df < VERY_FEW_DF:
        yield Note("unreliable", "the standard error itself is rough; the interval allows for it")


# intervals

def _interval_notes(found):
    """Yield what the reader has to know of an interval of the estimate, whatever its method."""
    if found.effective_df >= FEW_DF or found.kind == "number":
        return
    df = f"{found.effective_df:.3g}"
    freedom = f"{df} effective degree{'' if df == '1' else 's'} of freedom, few"
    if found.kind == "proportion":
        yield Note("unreliable", f"{freedom}: the default is Wilson's interval, a t or logit interval can cover too "
                   "little")
    else:
        yield Note("remark", f"{freedom}: the interval is wide for it")


def default_method(kind, df):
    """Return the interval method that "default" stands for, with these effective degrees of freedom."""
    if kind == "number":
        return "t"
    return "wilson" if kind == "proportion" and df < FEW_DF else "logit"


def limits(method, estimate, variance, t, items, effective_psus):
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
