"""Replicates of a design: weights that represent other samples of strata and clusters.

Each replicate reweights the primary sampling units (PSUs) of a design. The statistic is computed
again with these weights. The variance is the spread of the R values t_r around the full one t,::

    v = sum_r c_r (t_r - t)^2.

Balanced repeated replication takes the weights from an orthogonal array. Then v is the textbook
variance for every linear statistic. For a total of PSU totals z it is::

    sum_h n_h / (n_h - 1) sum_i (z_hi - mean_h)^2.

`replicates` makes a `Replicates`.
"""

from collections.abc import Callable
from functools import cached_property
from os import PathLike

import numpy as np
from numpy import ndarray
from numpy.typing import ArrayLike

from workbench import checks
from workbench.checks import WrongValue
from workbench.labeling import sheets
from workbench.replication import arrays
from workbench.replication.designs import SurveyDesign, sizes
from workbench.replication.galois import as_prime_power
from workbench.replication.statistics import ratio
from workbench.replication.totals import kept_totals, signed_totals
from workbench.results import Result

METHODS = (
    "brr",
    "fay",
    "generalized",
    "jkn",
    "jk2",
    "bootstrap",
)
BALANCED = ("brr", "fay")
LARGEST_HADAMARD = 1024
LARGEST_WEIGHTS = 2**31
MOST_EVALUATIONS = 2**33
BLOCK = 2**20
ROUNDING = 1e-12


class Replicates(Result):
    """Replicates of a design, from which variances are estimated.

    `replicates` makes them for a design. `imported_replicates` takes weights made elsewhere.

    Attributes
    ----------
    design : SurveyDesign
        The design.
    method : str
        Replication method.
    rho : float
        Smallest factor by which a replicate multiplies a weight; 0 for "brr".
    coefficients : (R,) array of float
        Coefficients c_r of the variance v = sum_r c_r (t_r - t)^2.
    array : (R, J) array of int or None
        Unit that each replicate keeps in each stratum. For "generalized" it is 0 or 1 for each of J
        contrasts. None stands for the linear array of `workbench.replication.arrays.linear_array`,
        which is not stored.
    draws : (R, P) array or None
        Number of times that each bootstrap replicate sampled each PSU. For imported replicates
        their factors.
    most_df : int or None
        Degrees of freedom of imported replicates.

    See Also
    --------
    replicates : Make replicates of a design.
    replicate_estimate : Estimate a statistic with its replicate variance.
    SurveyDesign : Sampling design of labeled items.
    """

    design: SurveyDesign
    method: str
    rho: float
    coefficients: ndarray
    array: ndarray | None = None
    draws: ndarray | None = None
    most_df: int | None = None

    @property
    def count(self) -> int:
        """Return the number of replicates R."""
        return self.coefficients.size

    @property
    def df(self) -> float:
        """Return the degrees of freedom of the design."""
        return self.design.df if self.most_df is None else self.most_df

    @property
    def jackknife(self) -> "Replicates":
        """Return the jackknife of the same design; imported replicates are returned unchanged."""
        return replicates(self.design, "jkn") if self.most_df is None else self

    def weights(self) -> ndarray:
        """Return the replicate weights of the items, (n, R).

        In R, pass them to `svrepdesign(weights=, repweights=, type="other", scale=1, rscales=,
        combined.weights=TRUE, mse=TRUE)`, with `coefficients` as rscales.

        Raises
        ------
        ValueError
            If they would take more than 2 GiB.
        """
        weight = self.design.weight
        needed = 8 * self.count * weight.size
        if needed > LARGEST_WEIGHTS:
            raise WrongValue(
                "weights",
                f"must fit into {LARGEST_WEIGHTS:,} bytes; {weight.size:,} items times "
                f"{self.count:,} replicates need {needed:,}: estimate with replicate_estimate, "
                "which does not store them",
            )
        return weight[:, None] * self.factors(slice(None)).T[self.design.psu_of_item]

    def write_csv(self, path: str | PathLike[str]) -> None:
        """Write stratum, PSU, weight and replicate weights of every item to a CSV file.

        The columns are stratum, psu, weight, replicate_1 .. replicate_R. The file is written
        completely or not at all, in UTF-8 with a byte-order mark (`fileEncoding="UTF-8-BOM"` in R).
        See `weights` for the call in R. A name that a spreadsheet would execute gets a leading
        apostrophe.

        Parameters
        ----------
        path : str or path
            Path of the file, ending in .csv.

        Raises
        ------
        ValueError
            If the file exists and has other columns, or the weights would take more than 2 GiB.
        """
        design = self.design
        numbered = [f"replicate_{r}" for r in range(1, self.count + 1)]
        header = ["stratum", "psu", "weight", *numbered]
        sheets.refuse_other(path, header)
        stratum = design.strata[design.stratum_of_psu[design.psu_of_item]]
        psu = design.psu_of_item if design.psu is None or design.nest else design.psu
        columns = stratum, psu, design.weight, self.weights()
        of_items = zip(*(column.tolist() for column in columns), strict=True)
        sheets.write_rows(path, header, ([*row, *weights] for *row, weights in of_items))

    def totals(self, values: ArrayLike) -> ndarray:
        """Return the replicate totals, (R, C), of item values (n, C), without making the weights.

        Parameters
        ----------
        values : (n, C) array_like of float
            One row per item, one column per variable.

        Examples
        --------
        >>> design = SurveyDesign(["a", "a", "b", "b"])
        >>> replicates(design, "brr").totals([[1.0], [2.0], [4.0], [8.0]]).ravel()
        array([10., 12., 18., 20.])
        """
        return self.totals_of_psus(self.design.totals(values))

    def totals_of_psus(self, z: ndarray) -> ndarray:
        """Return the replicate totals, (R, C), of PSU totals (P, C).

        Parameters
        ----------
        z : (P, C) array of float
            Weighted totals of the PSUs, as `SurveyDesign.totals` returns them.
        """
        if self.draws is not None:
            blocks = self._blocks(len(z))
            return np.concatenate([self.factors(rows) @ z for rows in blocks])
        full = z.sum(0)
        if self.design.fpc is None:
            return full + self._deviations(z)
        varying = z[~self.design.certain_psus]
        return full + self._deviations(self._shrinkage[:, None] * varying)

    @cached_property
    def _shrinkage(self) -> ndarray:
        """Return the factor of a replicate's deviations, sqrt(1 - n_h / N_h), per varying PSU."""
        design = self.design.varying
        return np.sqrt(design.free)[design.stratum_of_psu]

    def _deviations(self, z: ndarray) -> ndarray:
        """Return replicate totals minus full totals, (R, C), if they need no factors."""
        design = self.design.varying
        n = design.psus_per_stratum
        if self.method == "jk2":
            return z[::2] - z[1::2]
        if self.method == "jkn":
            stratum_totals = np.add.reduceat(z, design.first_psu)
            n_of_psu = n[design.stratum_of_psu, None]
            return (stratum_totals[design.stratum_of_psu] - n_of_psu * z) / (n_of_psu - 1)
        if self.method in BALANCED:
            units = z.reshape(n.size, n[0], -1)
            return (1 - self.rho) * (n[0] * self._kept_totals(units) - z.sum(0))
        parts = [np.concatenate(_contrasts(z[units])) for _, units in design.groups]
        contrasts = np.concatenate(parts)
        if self.array is None:
            return self._step * signed_totals(contrasts)
        return self._step * ((1.0 - 2 * self.array) @ contrasts)

    def _kept_totals(self, units: ndarray) -> ndarray:
        """Return the totals (R, C) of the kept units, from units (H, n, C)."""
        if self.array is None:
            return kept_totals(units)
        last = units[:, -1]
        totals = last.sum(0)
        for unit in range(units.shape[1] - 1):
            totals = totals + (self.array == unit).astype(float) @ (units[:, unit] - last)
        return totals

    def ratios(self, total: ndarray, weight: ndarray) -> tuple[ndarray, ndarray]:
        """Return the ratio (...) of two totals and its replicates (R, ...); 0/0 gives NaN.

        Parameters
        ----------
        total, weight : (P, ...) arrays of float
            Numerators and denominators of the PSUs.
        """
        z = np.concatenate([column.reshape(len(weight), -1) for column in (total, weight)], 1)
        full = z.sum(0)
        totals = self.totals_of_psus(z)
        totals[np.abs(totals) <= ROUNDING * np.abs(full)] = 0.0
        shape = weight.shape[1:]
        estimate, values = ratio(*np.split(full, 2)), ratio(*np.split(totals, 2, 1))
        return estimate.reshape(shape), values.reshape(-1, *shape)

    def variances(self, values: ndarray, middle: float | ndarray) -> ndarray:
        """Return sum_r c_r (t_r - middle)^2 for each column of `values`, (R,) or (R, C).

        The coefficient of a replicate that is NaN is spread over the others. Differences due to
        rounding count as zero.

        Parameters
        ----------
        values : (R, ...) array of float
            Values t_r of the statistic in the replicates.
        middle : (...) array of float
            Value from which the deviations are measured, usually the full estimate.
        """
        defined = np.isfinite(values)
        misses = np.where(defined, values - middle, 0.0)
        largest = np.abs(np.where(defined, values, 0.0)).max(0)
        misses[np.abs(misses) <= ROUNDING * largest] = 0.0
        sums = self.coefficients @ misses**2
        return ratio(sums * self.coefficients.sum(), self.coefficients @ defined)

    def factors(self, rows: slice) -> ndarray:
        """Return the factors, (r, P), by which replicates multiply the weight of each PSU.

        Parameters
        ----------
        rows : slice
            The replicates.
        """
        varying = self._factors(rows)
        if self.design.fpc is None:
            return varying
        factors = np.ones((len(varying), self.design.stratum_of_psu.size))
        factors[:, ~self.design.certain_psus] += self._shrinkage * (varying - 1)
        return factors

    def _factors(self, rows: slice) -> ndarray:
        """Return the factors (r, P) of PSUs that vary, for sampling with replacement."""
        design = self.design.varying
        of_psu = design.stratum_of_psu
        psus = np.arange(of_psu.size)
        n = design.psus_per_stratum
        if self.method == "jk2":
            return 1.0 + (of_psu == np.arange(n.size)[rows, None]) * (1 - 2 * (psus % 2))
        if self.method == "jkn":
            left_out = psus[rows, None]
            gained = of_psu[left_out] == of_psu
            lost = n[of_psu] * (left_out == psus)
            return 1.0 + (gained - lost) / (n[of_psu] - 1)
        if self.draws is not None:
            if self.method != "bootstrap":
                return self.draws[rows]
            rescaling = n / (n - 1.0)
            return self.draws[rows] * rescaling[of_psu]
        units = self._array_rows(rows)
        if self.method != "generalized":
            is_kept = units[:, of_psu] == psus % n[0]
            return 1 + (1 - self.rho) * (n[0] * is_kept - 1.0)
        signs = 1.0 - 2 * units
        factors = np.ones((len(signs), psus.size))
        for m, of_group in design.groups:
            part, signs = np.split(signs, [len(of_group) * (m - 1)], 1)
            factors[:, of_group] += self._step * _spread(part.reshape(len(part), -1, m - 1))
        return factors

    def headline(self) -> str:
        """Return the method, the number of replicates and the design."""
        sample = self.design.headline()
        if self.most_df is not None:
            psus = checks.counted(self.design.stratum_of_psu.size, "PSU")
            df = checks.counted(self.df, "degree")
            sample = f"{self.design.stratum.size:,} items, {psus}, {df} of freedom"
        rho = f" rho {self.rho:g}" if self.method in ("fay", "generalized") else ""
        return f"{self.method}{rho}, {checks.counted(self.count, 'replicate')}; {sample}"

    def rows(self) -> list[dict]:
        """Return one row: method, replicates, PSUs, strata and degrees of freedom."""
        return [
            {
                "method": self.method,
                "replicates": self.count,
                "psus": self.design.stratum_of_psu.size,
                "strata": self.design.strata.size,
                "df": self.df,
            }
        ]

    @property
    def _step(self) -> float:
        return _largest_step(self.design.varying.psus_per_stratum) * (1 - self.rho)

    def _array_rows(self, rows: slice) -> ndarray:
        if self.array is not None:
            return self.array[rows]
        n = self.design.varying.psus_per_stratum
        runs = np.arange(self.count)[rows]
        if self.method == "generalized":
            return arrays.linear_array(2, (n - 1).sum(), runs)
        return arrays.linear_array(n[0], n.size, runs)

    def _blocks(self, width: int) -> list[slice]:
        """Return slices of replicates whose factors or weights, `width` each, fit into a block."""
        step = max(1, BLOCK // width)
        return [slice(start, start + step) for start in range(0, self.count, step)]

    def values(self, function: Callable, rows: ndarray) -> ndarray:
        """Return the values, (R,), of a function of each replicate's weights.

        Parameters
        ----------
        function : callable
            Function that takes the weights (r, n) of a block of replicates and returns their values
            (r,).
        rows : (n,) array of bool
            The items whose weights the function takes.
        """
        psu = self.design.psu_of_item[rows]
        weight = self.design.weight[rows]
        needed = self.count * weight.size
        if needed > MOST_EVALUATIONS:
            raise WrongValue(
                "statistic",
                f"must need at most {MOST_EVALUATIONS:,} weights; {weight.size:,} items times "
                f"{self.count:,} replicates are {needed:,}: use method 'bootstrap', or fewer PSUs",
            )
        blocks = self._blocks(max(self.design.stratum_of_psu.size, weight.size))
        return np.concatenate([function(weight * self.factors(block)[:, psu]) for block in blocks])


def replicates(
    design: SurveyDesign,
    method: str = "brr",
    *,
    rho: float = 0.5,
    array: ArrayLike | None = None,
    require_balance: bool = True,
    count: int = 500,
    rng: int | np.random.Generator = 0,
) -> Replicates:
    """Make replicates of a design, from which variances are estimated.

    Pass the result to `replicate_estimate`. `estimate_metrics` chooses the method itself.

    Parameters
    ----------
    design : SurveyDesign
        Strata, primary sampling units (PSUs) and weights of the items.
    method : {"brr", "fay", "generalized", "jkn", "jk2", "bootstrap"}, default "brr"
        - "brr": balanced repeated replication. Each replicate keeps one PSU per stratum, at n times
          its weight. All strata need the same number n of PSUs, a prime power. An orthogonal array
          determines which PSU is kept ([1]_ for n = 2, [2]_, [3]_).
        - "fay": like "brr", but the other PSUs keep the proportion rho of their weight, so no
          replicate loses a class [4]_.
        - "generalized": for any n_h >= 2. Each contrast of a stratum's PSUs gets one column of a
          Hadamard matrix [4]_.
        - "jkn": the jackknife. Each replicate leaves out one PSU, and the rest of its stratum
          represents it [5]_.
        - "jk2": the jackknife for two PSUs in every stratum. There is one replicate per stratum,
          which leaves out the second PSU and doubles the first.
        - "bootstrap": each replicate samples n_h - 1 of the n_h PSUs with replacement [6]_.
    rho : float, default 0.5
        Lower bound of all factors of "fay" and "generalized", 0 <= rho < 1. "fay" reaches it.
    array : (R, H) array_like of int, optional
        For "brr" and "fay": the unit, 0 .. n - 1, that each replicate keeps in each stratum. Strata
        are sorted, and units are numbered in order of first appearance. For two units, +1 and -1
        also work; +1 is the first unit. By default, up to 1,023 strata of two units use the
        smallest Hadamard matrix. All other designs use the linear array with the fewest runs.
    require_balance : bool, default True
        Whether to refuse an array that is not in full balance. Use False to see what happens.
    count : int, default 500
        Number of replicates of "bootstrap".
    rng : int or numpy.random.Generator, default 0
        Seed or random generator for "bootstrap".

    Returns
    -------
    Replicates
        The replicates; `weights()` returns their weights.

    Raises
    ------
    ValueError
        If the design does not suit the method, rho is out of range, or the array is not in balance.

    See Also
    --------
    SurveyDesign : Describe how the items were sampled.
    replicate_estimate : Estimate a statistic with its replicate variance.
    imported_replicates : Use replicate weights that were made elsewhere.

    References
    ----------
    .. [1] McCarthy, Pseudo-replication: half samples, Review of the International Statistical
       Institute 37, 1969.
    .. [2] Gurney & Jewett, Constructing orthogonal replications for variance estimation, JASA 70,
       1975: p units per stratum.
    .. [3] Micheals & Boult, A stratified methodology for classifier and recognizer evaluation,
       2001: eqs. 9 to 17.
    .. [4] Fay, Theory and application of replicate weighting for variance calculations, Proceedings
       of the Section on Survey Research Methods, American Statistical Association 1989.
    .. [5] Wolter, Introduction to Variance Estimation, 2nd edition, Springer 2007.
    .. [6] Rao & Wu, Resampling inference with complex survey data, JASA 83, 1988.

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
    rho = kept_share(rho)
    if array is not None and method not in BALANCED:
        raise WrongValue("array", f"is only for methods 'brr' and 'fay'; got method {method!r}")
    varying = design.varying
    n = varying.psus_per_stratum
    if method == "jkn":
        coefficients = (n - 1) / n
        return Replicates(design, method, 0.0, coefficients[varying.stratum_of_psu])
    if method == "jk2":
        if (n != 2).any():
            raise ValueError(
                f"method 'jk2' needs two PSUs in every stratum; got {sizes(n)}: use method 'jkn', "
                "which leaves out each PSU in turn"
            )
        return Replicates(design, method, 0.0, np.ones(n.size))
    if method == "bootstrap":
        count = checks.whole("count", count, 2)
        draws = _draws(varying, count, checks.generator(rng))
        return Replicates(design, method, 0.0, np.full(count, 1 / count), draws=draws)
    if method == "generalized":
        array, runs = _two_level_array(int((n - 1).sum()))
        scale = (_largest_step(n) * (1 - rho)) ** 2
        return Replicates(design, method, rho, np.full(runs, 1 / (runs * scale)), array)
    if np.ptp(n):
        raise ValueError(
            f"method {method!r} needs the same number of PSUs in every stratum; got {sizes(n)}: "
            "use method 'generalized', which is exact for any numbers, or 'jkn'"
        )
    units = int(n[0])
    if array is not None:
        array = _kept_units(array, units, n.size, require_balance)
        runs = len(array)
    elif units == 2:
        array, runs = _two_level_array(n.size)
    elif as_prime_power(units) is None:
        raise ValueError(
            f"method {method!r} needs a prime power of PSUs per stratum; {units} is not a prime "
            "power: use method 'generalized', which is exact for any number, or 'jkn'"
        )
    else:
        runs = arrays.smallest_runs(units, n.size)
    rho = 0.0 if method == "brr" else rho
    coefficient = 1 / (runs * (units - 1) * (1 - rho) ** 2)
    return Replicates(design, method, rho, np.full(runs, coefficient), array)


# replicates


def kept_share(rho: float) -> float:
    """Return the proportion of its weight that a PSU always keeps, or raise if it is invalid."""
    if not 0 <= checks.number("rho", rho) < 1:
        raise WrongValue("rho", f"must be at least 0 and below 1; got {rho:g}")
    return float(rho)


def _scales(m: int) -> ndarray:
    """Return the factors of Helmert's contrasts of m units, (m - 1,), k = 1 .. m - 1.

    Contrast k is the sum of the first k units minus k times the next one. The factors scale them so
    that their squares add up to m times the variance (ddof 1) of the units.
    """
    k = np.arange(1.0, m)
    return np.sqrt(m / ((m - 1) * k * (k + 1)))


def _contrasts(units: ndarray) -> ndarray:
    """Return the contrasts (..., m - 1, C) of units (..., m, C)."""
    m = units.shape[-2]
    k = np.arange(1.0, m)[:, None]
    sums = np.cumsum(units, -2)[..., :-1, :]
    return _scales(m)[:, None] * (sums - k * units[..., 1:, :])


def _spread(signs: ndarray) -> ndarray:
    """Return the part of the units' factors, (..., m), due to signed contrasts (..., m - 1).

    A unit is in each contrast after its own place, and k times in the one that ends with it.
    """
    m = signs.shape[-1] + 1
    scaled = signs * _scales(m)
    factors = np.zeros((*scaled.shape[:-1], m))
    factors[..., :-1] = np.cumsum(scaled[..., ::-1], -1)[..., ::-1]
    factors[..., 1:] -= np.arange(1.0, m) * scaled
    return factors


def _largest_step(n: ndarray) -> float:
    """Return the largest step for which no factor of a unit falls below 0.

    A factor is 1 + step * (sum of signed contrasts). The first unit can lose most, because it is in
    all contrasts.
    """
    return float(1 / _scales(int(n.max())).sum())


def _two_level_array(columns: int) -> tuple[ndarray | None, int]:
    """Return a two-level array, or None for the linear one, and its number of runs."""
    if columns >= LARGEST_HADAMARD:
        return None, arrays.smallest_runs(2, columns)
    order = arrays.next_hadamard_order(columns + 1)
    signs = arrays.hadamard(order)[:, 1 : columns + 1]
    return (signs < 0).astype(np.int8), order


def _draws(design: SurveyDesign, count: int, rng: np.random.Generator) -> ndarray:
    n = design.psus_per_stratum
    draws = np.empty((count, n.sum()), np.min_scalar_type(int(n.max())))
    for m, units in design.groups:
        draws[:, units] = rng.multinomial(m - 1, np.full(m, 1 / m), (count, len(units)))
    return draws


def _kept_units(array: ArrayLike, units: int, strata: int, require_balance: bool) -> ndarray:
    """Return a given array as unit numbers, or raise with a description of its problem."""
    array = checks.plain_array("array", array)
    if array.ndim != 2 or array.shape[1] != strata:
        columns = checks.counted(strata, "column")
        raise WrongValue("array", f"must have {columns}, one per stratum; got shape {array.shape}")
    balance = arrays.check_balance(array)
    signs = units == 2 and (array == -1).any()
    for row, column in np.argwhere(~np.isin(array, [-1, 1] if signs else np.arange(units)))[:1]:
        or_signs = ", or +1 and -1" if units == 2 else ""
        entry = f"row {row} column {column} is {array[row, column]:g}"
        raise WrongValue("array", f"must hold the units 0 to {units - 1}{or_signs}; {entry}")
    if require_balance and not (balance.full and balance.levels == units):
        fault = balance.problem or f"it holds {balance.levels} of the {units} units"
        raise WrongValue("array", f"must be in full balance; {fault}")
    return ((1 - array) // 2 if signs else array).astype(np.min_scalar_type(units))
