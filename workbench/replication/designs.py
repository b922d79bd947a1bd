"""Sampling designs of labeled items: strata, primary sampling units (PSUs) within them, weights.

`SurveyDesign` describes a design and checks it. `DesignError` reports a sample that is no design.
"""

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy import ndarray
from numpy.typing import ArrayLike

from workbench import checks
from workbench.checks import WrongValue
from workbench.results import FILLED, Note, Result, rows_of

NAMED = 5


class DesignError(WrongValue):
    """Error for a sample that is no valid design.

    Its attributes let a caller name the rows and the remedy in its own words.

    Attributes
    ----------
    kind : {"repeated", "alone", "fpc"}
        Kind of problem.
    seen : str
        Description of the problem, such as "0 holds 1".
    items : tuple of int
        Two items that contradict each other, counted from 0; () for none.
    join : tuple
        For "alone": strata with one PSU, and as last entry a stratum that they may be merged with,
        or None.
    """

    def __init__(
        self,
        kind: str,
        argument: str,
        rule: str,
        seen: str,
        items: Sequence[int] = (),
        remedy: str = "",
        join: Sequence = (),
    ) -> None:
        problem = seen
        if items:
            problem += f" (items {items[0]} and {items[1]}, counted from 0)"
        if remedy:
            problem += f": {remedy}"
        super().__init__(argument, rule, told=problem)
        self.kind = kind
        self.seen = seen
        self.items = tuple(items)
        self.join = tuple(join)


class SurveyDesign(Result):
    """Sampling design of labeled items: strata, clusters within strata, weights.

    Pass it to `replicates` to estimate variances under this design. The clusters are the primary
    sampling units (PSUs): the units that were sampled at random within a stratum.

    Parameters
    ----------
    stratum : (n,) array_like
        Label of each item's stratum, text or numbers.
    psu : (n,) array_like, optional
        Label of each item's PSU, such as a person, a site or a class. A PSU lies in one stratum. By
        default every item is a PSU.
    weight : (n,) array_like, optional
        Number of items of the population that each item represents, 1 by default. An item of weight
        0 lies outside the population of interest; it counts in the design only.
    collapse : dict, optional
        Merges strata: {"b": "a"} merges b with a. This is the remedy for a stratum with one PSU.
        Choose the neighbor before you see the outcome. The variance is then too large on average
        rather than too small.
    fpc : (n,) array_like of int, optional
        Number of PSUs in the population of each item's stratum, N_h >= n_h. It gives the
        finite-population correction 1 - n_h / N_h of sampling without replacement. By default
        there is no correction, as in sampling with replacement. If a stratum's only PSU is the
        only one in the population, it adds no variance.
    nest : bool, default False
        Whether PSU labels start again in every stratum: PSU 1 of one stratum is then not PSU 1 of
        another.

    Attributes
    ----------
    strata : (H,) array
        Names of the strata in sorted order.
    psus_per_stratum : (H,) array of int
        Number n_h of PSUs: at least 2, or 1 if `fpc` states that there is no other.
    psu_of_item : (n,) array of int
        PSU of each item, 0 .. P - 1. PSUs are numbered stratum by stratum, in order of first
        appearance.
    stratum_of_psu : (P,) array of int
        Stratum of each PSU.
    df : int
        Degrees of freedom, P - H.
    free : (H,) array of float
        Finite-population correction 1 - n_h / N_h; 1 without `fpc`.

    Raises
    ------
    DesignError
        If a PSU is in two strata, or alone in its stratum although there are others. Also if `fpc`
        is not one number per stratum, or is below the number of sampled PSUs.
    ValueError
        If a label is missing, a weight is below 0, or all weights are 0. Also if every stratum has
        one PSU, the only one that exists.

    See Also
    --------
    replicates : Make replicates of a design.
    imported_replicates : Use replicate weights that were made elsewhere.
    load_labeled : Read labeled items with their design from a file.

    Examples
    --------
    >>> SurveyDesign(["a", "a", "a", "b", "b"], psu=[1, 1, 2, 3, 4])
    SurveyDesign(5 items, 4 PSUs in 2 strata (2 each), 2 degrees of freedom)
    """

    stratum: ndarray
    psu: ndarray | None = None
    weight: ndarray = FILLED
    collapse: dict | None = None
    fpc: ndarray | None = None
    nest: bool = False

    if TYPE_CHECKING:

        def __init__(
            self,
            stratum: ArrayLike,
            psu: ArrayLike | None = None,
            weight: ArrayLike | None = None,
            collapse: dict | None = None,
            fpc: ArrayLike | None = None,
            nest: bool = False,
            *,
            notes: Sequence[Note] = (),
        ) -> None: ...

    def __post_init__(self) -> None:
        stratum = checks.labels("stratum", self.stratum)
        size = stratum.size
        checked = {"stratum": stratum, "weight": np.ones(size)}
        if self.psu is not None:
            checked["psu"] = checks.labels("psu", self.psu, size=size)
        if self.weight is not None:
            checked["weight"] = weights(self.weight, size)
        if self.fpc is not None:
            checked["fpc"] = checks.counts("fpc", self.fpc, size=size, low=1, what="item")
        vars(self).update(checked)
        super().__post_init__()
        if self.fpc is not None:
            self._refuse_populations()
        self._refuse_lone_psus()

    @property
    def strata(self) -> ndarray:
        """Return the names of the strata, sorted."""
        return self._order[0]

    @property
    def psu_of_item(self) -> ndarray:
        """Return the number of each item's PSU."""
        return self._order[1]

    @property
    def stratum_of_psu(self) -> ndarray:
        """Return the number of each PSU's stratum, in ascending order."""
        return self._order[2]

    @cached_property
    def psus_per_stratum(self) -> ndarray:
        """Return the number of PSUs per stratum, n_h."""
        return np.bincount(self.stratum_of_psu, minlength=self.strata.size)

    @cached_property
    def first_psu(self) -> ndarray:
        """Return the number of each stratum's first PSU."""
        return np.cumsum(self.psus_per_stratum) - self.psus_per_stratum

    @cached_property
    def groups(self) -> list[tuple[int, ndarray]]:
        """Return one array (strata, n_h) for each distinct n_h: the PSUs of its strata."""
        n = self.psus_per_stratum
        first = self.first_psu[:, None]
        return [(m, first[n == m] + np.arange(m)) for m in np.unique(n).tolist()]

    @property
    def df(self) -> int:
        """Return the degrees of freedom: PSUs minus strata."""
        return self.stratum_of_psu.size - self.strata.size

    @cached_property
    def free(self) -> ndarray:
        """Return the finite-population corrections, 1 - n_h / N_h."""
        return 1 - self.psus_per_stratum / self.population

    @cached_property
    def certain(self) -> ndarray:
        """Return a mask of the strata, (H,), whose only PSU is the only one in the population."""
        return (self.psus_per_stratum == 1) & (self.population == 1)

    @cached_property
    def certain_psus(self) -> ndarray:
        """Return a mask of the PSUs, (P,), that are the only one of their stratum's population."""
        return self.certain[self.stratum_of_psu]

    @cached_property
    def varying(self) -> "SurveyDesign":
        """Return the design without `certain_psus`, which do not vary; its weights are 1."""
        if not self.certain.any():
            return self
        of_item = self.stratum_of_psu[self.psu_of_item]
        sampled = ~self.certain[of_item]
        stratum = of_item[sampled]
        return SurveyDesign(
            self.strata[stratum],
            psu=self.psu_of_item[sampled],
            fpc=self.population[stratum],
        )

    def totals(self, values: ArrayLike) -> ndarray:
        """Return weighted totals per PSU, (P, C), of item values (n, C).

        Parameters
        ----------
        values : (n, C) array_like of float
            One row per item, one column per variable.
        """
        psus = self.stratum_of_psu.size
        weighted = self.weight * np.transpose(values)
        return np.stack([np.bincount(self.psu_of_item, column, psus) for column in weighted], 1)

    def headline(self) -> str:
        """Return the numbers of items, PSUs, strata and degrees of freedom."""
        strata = checks.counted(self.strata.size, "stratum", "strata")
        psus = f"{self.stratum_of_psu.size:,} PSUs in {strata} ({sizes(self.psus_per_stratum)})"
        df = checks.counted(self.df, "degree")
        return f"{self.stratum.size:,} items, {psus}, {df} of freedom"

    def rows(self) -> list[dict]:
        """Return one row per stratum: PSUs, items and total weight."""
        of_item = self.stratum_of_psu[self.psu_of_item]
        return rows_of(
            stratum=self.strata,
            psus=self.psus_per_stratum,
            items=np.bincount(of_item),
            weight=np.bincount(of_item, self.weight),
        )

    @cached_property
    def _order(self) -> tuple:
        """Return the names of the strata, the PSU of each item and the stratum of each PSU."""
        names, of_item = np.unique(_collapsed(self.stratum, self.collapse), return_inverse=True)
        _, first, code = np.unique(self._units, return_index=True, return_inverse=True)
        self._refuse_psus_in_two_strata(first[code])
        order = np.lexsort((first, of_item[first]))
        return names, np.argsort(order)[code], of_item[first][order]

    @property
    def _units(self) -> ndarray:
        """Return labels that no two PSUs share."""
        if self.psu is None:
            return np.arange(self.stratum.size)
        if not self.nest:
            return self.psu
        names, psu = np.unique(np.asarray(self.psu), return_inverse=True)
        return np.unique(self.stratum, return_inverse=True)[1] * names.size + psu

    @cached_property
    def population(self) -> ndarray:
        """Return the numbers of PSUs in the population per stratum, N_h; infinite without `fpc`."""
        if self.fpc is None:
            return np.full(self.strata.size, np.inf)
        names, first = np.unique(self.stratum, return_index=True)
        analyzed = np.searchsorted(self.strata, _collapsed(names, self.collapse))
        return np.bincount(analyzed, self.fpc[first], self.strata.size)

    def _refuse_lone_psus(self) -> None:
        """Raise if a stratum has one PSU, unless `fpc` states that there is no other."""
        if self.certain.all():
            raise WrongValue(
                "fpc",
                "must leave PSUs that were not sampled; every stratum has one PSU, the only one in "
                "the population, so there is no sampling error",
            )
        alone = (self.psus_per_stratum == 1) & ~self.certain
        if not alone.any():
            return
        names = self.strata[alone].tolist()
        neighbors = (self.strata[1:] if alone.all() else self.strata[~alone]).tolist()
        neighbor = neighbors[0] if neighbors else None
        remedy = "there is no other stratum to merge it with"
        if neighbors:
            remedy = (
                "merge each with another stratum, chosen before you see the outcome, such as "
                f"collapse={{{names[0]!r}: {neighbor!r}}}"
            )
        verb = "hold" if len(names) > 1 else "holds"
        raise DesignError(
            "alone",
            "stratum",
            "must hold at least 2 PSUs",
            f"{_named(self.strata[alone])} {verb} 1",
            remedy=remedy,
            join=(*names, neighbor),
        )

    def _refuse_populations(self) -> None:
        """Raise if `fpc` differs within a stratum or is below the number of sampled PSUs."""
        _, first, code = np.unique(self.stratum, return_index=True, return_inverse=True)
        fpc = np.asarray(self.fpc)
        first_of_item = first[code]
        for item in np.flatnonzero(fpc != fpc[first_of_item])[:1]:
            before = first_of_item[item]
            name = _quoted(self.stratum[item])
            raise DesignError(
                "fpc",
                "fpc",
                "must be one number per stratum: its number of PSUs in the population",
                f"stratum {name} has {fpc[before]} and {fpc[item]}",
                (before, item),
            )
        for h in np.flatnonzero(self.population < self.psus_per_stratum)[:1]:
            name = _quoted(self.strata[h])
            raise DesignError(
                "fpc",
                "fpc",
                "must be at least the number of sampled PSUs",
                f"stratum {name} has {self.population[h]:g} in the population and "
                f"{self.psus_per_stratum[h]} in the sample",
            )

    def _refuse_psus_in_two_strata(self, first: ndarray) -> None:
        """Raise if two items of a PSU lie in different strata, before strata are merged."""
        for item in np.flatnonzero(self.stratum != self.stratum[first])[:1]:
            items = (first[item], item)
            strata = [_quoted(stratum) for stratum in self.stratum[[*items]]]
            psu = _quoted(np.asarray(self.psu)[item])
            raise DesignError(
                "repeated",
                "psu",
                "must lie in one stratum",
                f"{psu} is in {' and '.join(strata)}",
                items,
                "if the numbers start again in every stratum, set nest=True",
            )


def weights(weight: ArrayLike, size: int | None = None) -> ndarray:
    """Return the weights of items, or raise if one is below 0 or all are 0."""
    weight = checks.vector("weight", weight, size=size, what="item")
    checks.refuse("weight", weight, weight < 0, "must be at least 0", "item")
    if not weight.any():
        raise WrongValue("weight", "must be above 0 for some item; all are 0")
    return weight


def _collapsed(stratum: ndarray, collapse: dict | None) -> ndarray:
    if not collapse:
        return stratum
    names, code = np.unique(stratum, return_inverse=True)
    refuse_unknown_strata(collapse, names)
    return np.array([_last(name, collapse) for name in names.tolist()])[code]


def refuse_unknown_strata(strata: Iterable, names: ndarray) -> None:
    """Raise if one of the given strata is not among all names."""
    for name in strata:
        if name not in names.tolist():
            close = ""
            if isinstance(name, str) and names.dtype.kind == "U":
                close = checks.suggestion(name, names.tolist())
            rule = f"must rename strata of the design; {_quoted(name)} is none of {_named(names)}"
            raise WrongValue("collapse", rule + close)


def _last(name: int | str, collapse: dict) -> int | str:
    """Return the name at the end of a chain of renamings."""
    for _ in collapse:
        name = collapse.get(name, name)
    return name


def _quoted(name: object) -> str:
    return repr(name.item() if isinstance(name, np.generic) else name)


def _named(names: ndarray) -> str:
    return checks.listed(names.tolist(), NAMED, quoted=True)


def sizes(n: ndarray) -> str:
    """Return a text with the numbers of strata per number of PSUs."""
    values, counts = (column.tolist() for column in np.unique(n, return_counts=True))
    if len(values) == 1:
        return f"{values[0]:,} each"
    texts = [
        f"{checks.counted(count, 'stratum', 'strata')} of {value:,}"
        for value, count in zip(values, counts, strict=True)
    ]
    return ", ".join([*texts[:NAMED], "..."] if len(texts) > NAMED else texts)
