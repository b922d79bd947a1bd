"""How labeled items were sampled: strata, primary sampling units (PSUs) within them, weights."""

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
    """A sample that is no design; its parts let a caller name rows and the remedy in other words.

    Attributes
    ----------
    kind : {"repeated", "alone", "fpc"}
    seen : str
        What is wrong, as "0 holds 1".
    items : tuple of int
        Two items that contradict each other, counted from 0; () for none.
    join : tuple
        Of "alone": strata with one PSU, and last one that they may be joined to, or None.
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
    """How labeled items were sampled: strata, PSUs within strata, weights.

    Parameters
    ----------
    stratum : (n,) array_like
        Label of each item's stratum, text or numbers.
    psu : (n,) array_like, optional
        Label of each item's primary sampling unit (person, site, class): what was drawn at random
        within the stratum. A PSU lies in one stratum. By default every item is one.
    weight : (n,) array_like, optional
        Items of the population that each stands for, 1 by default. An item of weight 0 lies outside
        the population that is estimated; it counts in the design only.
    collapse : dict, optional
        Renames strata, {"b": "a"} joins b to a: the remedy for a stratum with one PSU. Choose the
        neighbor before the outcome is seen; the variance is then, on average, too large rather than
        too small.
    fpc : (n,) array_like of int, optional
        PSUs of the population in each item's stratum, N_h >= n_h: the finite-population factor 1 -
        n_h / N_h of PSUs drawn without replacement. By default none, as if drawn with replacement.
        A stratum whose one PSU is the only one in the population was not drawn at random: it adds
        no variance.
    nest : bool
        PSU labels start again in every stratum: 1 of one stratum is not 1 of another.

    Attributes
    ----------
    strata : (H,) array
        Names in sorted order.
    psus_per_stratum : (H,) array of int
        n_h >= 2, or 1 where `fpc` says that there is no other.
    psu_of_item : (n,) array of int
        0 .. P - 1, PSUs numbered stratum by stratum, within a stratum as they first appear.
    stratum_of_psu : (P,) array of int
    df : int
        Degrees of freedom, P - H.
    free : (H,) array of float
        1 - n_h / N_h; 1 without `fpc`.

    Raises
    ------
    DesignError
        If a PSU is in two strata, or alone in its stratum though there are others, or `fpc` not one
        number per stratum, at least its sampled PSUs.
    ValueError
        If a label is missing, a weight below 0, or every one 0; if every stratum is one PSU, the
        only one there is.

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
            checked["fpc"] = checks.counts(
                "fpc",
                self.fpc,
                size=size,
                low=1,
                what="item",
            )
        vars(self).update(checked)
        super().__post_init__()
        if self.fpc is not None:
            self._refuse_populations()
        self._refuse_lone_psus()

    @property
    def strata(self) -> ndarray:
        """Names of the strata, sorted."""
        return self._order[0]

    @property
    def psu_of_item(self) -> ndarray:
        """Number of each item's PSU."""
        return self._order[1]

    @property
    def stratum_of_psu(self) -> ndarray:
        """Number of each PSU's stratum, rising."""
        return self._order[2]

    @cached_property
    def psus_per_stratum(self) -> ndarray:
        """n_h."""
        return np.bincount(self.stratum_of_psu, minlength=self.strata.size)

    @cached_property
    def first_psu(self) -> ndarray:
        """Number of each stratum's first PSU."""
        return np.cumsum(self.psus_per_stratum) - self.psus_per_stratum

    @cached_property
    def groups(self) -> list[tuple[int, ndarray]]:
        """For each n_h that occurs the PSUs of its strata, (strata, n_h)."""
        n = self.psus_per_stratum
        groups = []
        for m in np.unique(n).tolist():
            first = self.first_psu[n == m]
            groups.append((m, first[:, None] + np.arange(m)))
        return groups

    @property
    def df(self) -> int:
        """Degrees of freedom: PSUs less strata."""
        return self.stratum_of_psu.size - self.strata.size

    @cached_property
    def free(self) -> ndarray:
        """1 - n_h / N_h."""
        return 1 - self.psus_per_stratum / self.population

    @cached_property
    def certain(self) -> ndarray:
        """Whether a stratum, (H,), is one PSU and the population has no other there."""
        return (self.psus_per_stratum == 1) & (self.population == 1)

    @cached_property
    def certain_psus(self) -> ndarray:
        """Whether a PSU, (P,), is the only one of its stratum in the population."""
        return self.certain[self.stratum_of_psu]

    @cached_property
    def varying(self) -> "SurveyDesign":
        """The design of the other PSUs, whose replicates differ; weights are 1."""
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
        """
        psu = self.psu_of_item
        psus = self.stratum_of_psu.size
        weighted = self.weight * np.transpose(values)
        totals = [np.bincount(psu, column, psus) for column in weighted]
        return np.stack(totals, 1)

    def headline(self) -> str:
        """Return items, PSUs, strata and degrees of freedom."""
        strata = checks.counted(self.strata.size, "stratum", "strata")
        psus = f"{self.stratum_of_psu.size:,} PSUs in {strata} ({sizes(self.psus_per_stratum)})"
        df = checks.counted(self.df, "degree")
        return f"{self.stratum.size:,} items, {psus}, {df} of freedom"

    def rows(self) -> list[dict]:
        """Return one row per stratum: PSUs, items, total weight."""
        of_item = self.stratum_of_psu[self.psu_of_item]
        items = np.bincount(of_item)
        weight = np.bincount(of_item, self.weight)
        return rows_of(
            stratum=self.strata,
            psus=self.psus_per_stratum,
            items=items,
            weight=weight,
        )

    @cached_property
    def _order(self) -> tuple:
        """Names of the strata, PSU of each item, stratum of each PSU."""
        names, of_item = np.unique(_collapsed(self.stratum, self.collapse), return_inverse=True)
        _, first, code = np.unique(self._units, return_index=True, return_inverse=True)
        self._refuse_psus_in_two_strata(first[code])
        order = np.lexsort((first, of_item[first]))
        return names, np.argsort(order)[code], of_item[first][order]

    @property
    def _units(self) -> ndarray:
        """Labels that no two PSUs share."""
        if self.psu is None:
            return np.arange(self.stratum.size)
        if not self.nest:
            return self.psu
        names, psu = np.unique(np.asarray(self.psu), return_inverse=True)
        return np.unique(self.stratum, return_inverse=True)[1] * names.size + psu

    @cached_property
    def population(self) -> ndarray:
        """N_h, PSUs of the population in each stratum; infinite without `fpc`."""
        if self.fpc is None:
            return np.full(self.strata.size, np.inf)
        names, first = np.unique(self.stratum, return_index=True)
        analyzed = np.searchsorted(self.strata, _collapsed(names, self.collapse))
        return np.bincount(analyzed, self.fpc[first], self.strata.size)

    def _refuse_lone_psus(self) -> None:
        """Raise if a stratum has one PSU, and `fpc` does not say that there is no other."""
        if self.certain.all():
            raise WrongValue(
                "fpc",
                "must leave PSUs that were not sampled; every stratum is one PSU, the only one "
                "there is, so nothing varies and a metric is what the labels say",
            )
        alone = (self.psus_per_stratum == 1) & ~self.certain
        if not alone.any():
            return
        names = self.strata[alone].tolist()
        neighbors = self.strata[1:] if alone.all() else self.strata[~alone]
        neighbor = neighbors[0].item() if neighbors.size else None
        remedy = (
            "join each to another stratum that was chosen before the outcome was seen, such as "
            f"collapse={{{names[0]!r}: {neighbor!r}}}"
        )
        if neighbor is None:
            remedy = "there is no other to join it to"
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
        """Raise if `fpc` differs within a stratum or is below the PSUs that were sampled there."""
        _, first, code = np.unique(self.stratum, return_index=True, return_inverse=True)
        fpc = np.asarray(self.fpc)
        first_of_item = first[code]
        for item in np.flatnonzero(fpc != fpc[first_of_item])[:1]:
            before = first_of_item[item]
            name = _quoted(self.stratum[item])
            raise DesignError(
                "fpc",
                "fpc",
                "must be one number per stratum, its PSUs in the population",
                f"stratum {name} has {fpc[before]} and {fpc[item]}",
                (before, item),
            )
        for h in np.flatnonzero(self.population < self.psus_per_stratum)[:1]:
            name = _quoted(self.strata[h])
            raise DesignError(
                "fpc",
                "fpc",
                "must be at least the PSUs sampled",
                f"stratum {name} has {self.population[h]:g} in the population and "
                f"{self.psus_per_stratum[h]} in the sample",
            )

    def _refuse_psus_in_two_strata(self, first: ndarray) -> None:
        """Raise if two items of a PSU lie in different strata, before strata are joined."""
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
                "if the numbers start again in every stratum, say nest=True",
            )


def weights(weight: ArrayLike, size: int | None = None) -> ndarray:
    """Return weights of items, none below 0 and some above, or raise."""
    weight = checks.vector("weight", weight, size=size, what="item")
    checks.refuse(
        "weight",
        weight,
        weight < 0,
        "must be at least 0",
        "item",
    )
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
    """Raise if one of some strata is not among the names of all."""
    for name in strata:
        if name not in names.tolist():
            text = isinstance(name, str) and names.dtype.kind == "U"
            close = checks.suggestion(name, names.tolist()) if text else ""
            raise WrongValue(
                "collapse",
                f"must rename strata of the design; {_quoted(name)} is none of {_named(names)}"
                f"{close}",
            )


def _last(name: int | str, collapse: dict) -> int | str:
    """Return where a chain of renamings ends."""
    for _ in collapse:
        name = collapse.get(name, name)
    return name


def _quoted(name: object) -> str:
    return repr(name.item() if isinstance(name, np.generic) else name)


def _named(names: ndarray) -> str:
    return checks.listed(names.tolist(), NAMED, quoted=True)


def sizes(n: ndarray) -> str:
    """Return how many strata hold how many PSUs."""
    values, counts = np.unique(n, return_counts=True)
    if values.size == 1:
        return f"{values[0]:,} each"
    texts = []
    for value, count in zip(values.tolist(), counts.tolist(), strict=True):
        strata = checks.counted(count, "stratum", "strata")
        texts.append(f"{strata} of {value:,}")
    return ", ".join(texts[:NAMED]) + (", ..." if len(texts) > NAMED else "")
