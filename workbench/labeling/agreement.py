"""How far people who label the same items agree: coefficients with intervals, who differs about what, what to settle.

Every coefficient is 1 - D / E: the share of pairs of labels that differ over what chance expects of it.
"""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import scipy

from workbench import checks, intervals
from workbench.results import Interval, Note, Result

FOR_ALL = ("raw", "fleiss", "ac1", "alpha")
FEWEST, RAREST, LOWEST, HIGHEST = 30, 0.1, 0.6, 0.97       # where the search went
ASSUMED = Note("assumption", "intervals take the items as a random sample, each labeled for itself, and the people as "
               "they are: others may agree more or less")


class Agreement(Result):
    """How far people agree; made by `agreement`.

    Attributes
    ----------
    entries : tuple of dict
        As `rows` returns them.
    differing : tuple of dict
        As `who_differs` returns them.
    unsettled : (U,) array of int
        Indices of the items whose labels differ, those where most pairs of labels differ first: the next to settle.
    items : int
        Items with at least two labels.
    people, classes : tuple
    level : float
    """

    entries: tuple
    differing: tuple
    unsettled: np.ndarray
    items: int
    people: tuple
    classes: tuple
    level: float

    def entry(self, metric: str, group: str = "", label: Any = "") -> dict:
        """Return the row of a coefficient.

        Parameters
        ----------
        metric : {"raw", "fleiss", "ac1", "alpha", "kappa"}
        group : str
            Of "kappa" the two people, as "A & B"; empty for everybody.
        label : object
            A class; empty for all of them. Two classes have the coefficients of all.
        """
        wanted = checks.choice("metric", metric, (*FOR_ALL, "kappa")), group, label
        for row in self.entries:
            if (row["metric"], row["group"], row["label"]) == wanted:
                return row
        raise checks.WrongValue("group", "must be two of the people, and label one of three or more classes",
                                (group, label))

    def interval(self, metric: str = "alpha", group: str = "", label: Any = "") -> Interval:
        """Return the interval of a coefficient.

        Parameters
        ----------
        metric : {"raw", "fleiss", "ac1", "alpha", "kappa"}
        group : str
            Of "kappa" the two people, as "A & B"; empty for everybody.
        label : object
            A class; empty for all of them.
        """
        row = self.entry(metric, group, label)
        return Interval(row["low"], row["high"], self.level, "pseudo-labels", notes=self.notes)

    def headline(self) -> str:
        """Return raw agreement and Krippendorff's alpha with their intervals."""
        raw, alpha = self.entry("raw"), self.entry("alpha")
        return (f"{len(self.people)} people agree in {raw['estimate']:.1%} of pairs of labels ({raw['low']:.1%} to "
                f"{raw['high']:.1%}); alpha {alpha['estimate']:.3g} ({alpha['low']:.3g} to {alpha['high']:.3g}); "
                f"{checks.counted(self.items, 'item')} with two labels or more, {len(self.unsettled):,} to settle")

    def rows(self) -> list[dict]:
        """Return one row per coefficient, pair of people and class."""
        return list(self.entries)

    def who_differs(self) -> list[dict]:
        """Return one row per two people and what each of them said, where they differ, the most frequent first."""
        return list(self.differing)


def agreement(labels: Any, *, level: float = 0.95) -> Agreement:
    r"""Say how far people agree who labeled the same items.

    Parameters
    ----------
    labels : (N, P) array_like, or dict of name to (N,) array_like
        The class that each of two or more people gave each item; None or NaN where somebody gave none. People of an
        array are called 1, 2 and so on.
    level : float
        Nominal coverage in (0, 1).

    Returns
    -------
    Agreement
        - "raw": share of pairs of labels of an item that are alike;
        - "kappa": Cohen's [1]_, of two people, by the items that both labeled;
        - "fleiss": Fleiss' [2]_, "ac1": Gwet's AC1 [3]_, both as [3]_ has them where labels are missing;
        - "alpha": Krippendorff's, for classes without order [4]_;

        over all classes and, with more than two, for each class against the others.

    Raises
    ------
    ValueError
        If there are fewer than two people or classes, or no item has two labels.

    Notes
    -----
    With D the share of differing pairs, a mean over items, and p and q (K,) mean shares of the classes, a coefficient
    is 1 - D / E,

    .. math:: E = 1 - p \cdot q, \quad E_{AC1} = 1 - \frac{1 - p \cdot p}{K - 1}, \quad E_{raw} = 1;

    p and q are those of the two people for kappa, the same for the others. Items weigh alike, but for alpha by their
    labels, of n in all, and there D / E is multiplied by (n - 1) / n.

    The interval adds z^2 / 3 items with two labels that are alike, evenly of all classes, and as many that differ,
    evenly of all pairs of classes, as [5]_ do for proportions (for alpha each with the mean weight of an item); it is
    the estimate that results -+ t times its first-order standard error, t of n - 1 degrees of freedom for n items with
    two labels. It has a width where all labels are alike, holds the estimate, and is the whole range where there is
    none. It has no proof: in 100 settings of two classes (30 to 500 items, 2 to 5 people, the rarer class .1 to .5,
    agreement .6 to .97, up to 30% missing) it covered at least .93; notes say where a sample lies beyond them.

    References
    ----------
    .. [1] Cohen, A coefficient of agreement for nominal scales, Educational and Psychological Measurement 20, 1960.
    .. [2] Fleiss, Measuring nominal scale agreement among many raters, Psychological Bulletin 76, 1971.
    .. [3] Gwet, Handbook of inter-rater reliability, 4th ed., 2014.
    .. [4] Krippendorff, Computing Krippendorff's alpha-reliability, University of Pennsylvania, 2011.
    .. [5] Agresti & Coull, Approximate is better than "exact" for interval estimation of binomial proportions, The
       American Statistician 52, 1998.

    Examples
    --------
    >>> found = agreement({"Ann": ["a", "a", "b", "b", "a", None], "Ben": ["a", "b", "b", "b", "a", "a"]})
    >>> round(found.entry("kappa", "Ann & Ben")["estimate"], 4), found.unsettled.tolist()
    (0.6154, [1])
    >>> found.who_differs()
    [{'first': 'Ann', 'second': 'Ben', 'first_label': 'a', 'second_label': 'b', 'count': 1}]
    """
    people, codes, classes = _read(labels)
    checks.level(level)
    paired = _labeled(codes) >= 2
    if not paired.any():
        raise checks.WrongValue("labels", "must hold an item with labels of two people")
    differ = _pairs_that_differ(_of_classes(codes, len(classes)).sum(1))
    order = np.argsort(-differ, kind="stable")
    entries = tuple(_rows(codes, people, classes, level))
    return Agreement(entries, tuple(_who_differs(codes, people, classes)), order[differ[order] > 0],
                     int(paired.sum()), people, classes, float(level),
                     notes=[ASSUMED, *_doubts(codes, classes, entries)])


def _read(labels: Any) -> tuple[tuple, np.ndarray, tuple]:
    """Return the people, codes of classes (N, P), -1 for none, and the classes."""
    named = isinstance(labels, Mapping)
    table = [checks.plain_array("labels", column) for column in (
        labels.values() if named else checks.plain_array("labels", labels).T)]
    if len(table) < 2 or any(column.shape != table[0].shape or column.ndim != 1 for column in table):
        raise checks.WrongValue("labels", "must hold the labels of two or more people, one for each item or None")
    given = [[None if checks.is_missing(label) else label for label in column.tolist()] for column in table]
    seen: set[Any] = {label for column in given for label in column} - {None}
    if len({isinstance(label, str) for label in seen}) > 1:
        raise checks.WrongValue("labels", "must be all text or all numbers", told="got both")
    classes = tuple(sorted(seen))
    if len(classes) < 2:
        raise checks.WrongValue("labels", "must hold at least two classes", told=f"got {len(classes)}")
    code = {label: k for k, label in enumerate(classes)} | {None: -1}
    people = tuple(map(str, labels)) if named else tuple(map(str, range(1, len(table) + 1)))
    return people, np.array([[code[label] for label in column] for column in given]).T, classes


def _labeled(codes: np.ndarray) -> np.ndarray:
    """Return the labels of each item, (N,)."""
    return (codes >= 0).sum(1)


def _of_classes(codes: np.ndarray, classes: int) -> np.ndarray:
    """Return which class each label is, (N, P, K) of 0 and 1."""
    return (codes[..., None] == np.arange(classes)) * 1.0


def _pairs_that_differ(given: np.ndarray) -> np.ndarray:
    """Return the share (N,) of an item's pairs of labels that differ, from labels per class; 0 without a pair."""
    m = given.sum(1)
    return 1 - (given * (given - 1)).sum(1) / np.maximum(m * (m - 1), 1) - (m < 2)


def _rows(codes: np.ndarray, people: tuple, classes: tuple, level: float) -> Iterator[dict]:
    """Yield the coefficients of everybody and of pairs, of all classes and of each."""
    pairs = list(itertools.combinations(range(len(people)), 2))
    groups = [(metric, "", codes) for metric in FOR_ALL] + \
        [("kappa", f"{people[i]} & {people[j]}", codes[:, [i, j]]) for i, j in pairs]
    for k, label in enumerate(("", *(classes if len(classes) > 2 else ()))):
        for metric, group, part in groups:
            of_class = np.where(part < 0, -1, part == k - 1) if k else part
            found = limits_of(metric, of_class, np.ones(len(part)), 2 if k else len(classes), level)
            estimate, low, high, n = map(float, found)
            yield {"metric": metric, "group": group, "label": label, "estimate": estimate, "low": low, "high": high,
                   "n": int(n)}


def limits_of(metric: str, codes: np.ndarray, weight: np.ndarray, classes: int, level: float) -> tuple:
    """Return a coefficient, its limits, and the number of items with two labels, (...,) each; as `coefficient`."""
    pairs, least = np.array(list(itertools.product(range(classes), repeat=2))), 0.0 if metric == "raw" else -1.0
    k = intervals.added_labels(level)
    added = np.where(pairs[:, 0] == pairs[:, 1], k / classes, k / (classes * (classes - 1)))
    more = np.vstack([codes, np.pad(pairs, ((0, 0), (0, codes.shape[1] - 2)), constant_values=-1)])
    m, (estimate, _) = _labeled(codes), coefficient(metric, codes, weight, classes)
    n = weight @ (m >= 2)
    size = weight @ (m * (m >= 2)) / np.maximum(2 * n, 1) if metric == "alpha" else np.ones_like(n)
    weights = np.concatenate([weight, np.multiply.outer(size, added)], -1)
    center, variance = coefficient(metric, more, weights, classes)
    reach = scipy.special.stdtrit(np.maximum(n - 1, 1), (1 + level) / 2) * np.sqrt(variance)
    known = (n >= 2) & ~np.isnan(estimate)
    return (estimate, np.where(known, np.clip(center - reach, least, estimate), least),
            np.where(known, np.clip(center + reach, estimate, 1.0), 1.0), n)


def coefficient(metric: str, codes: np.ndarray, weight: np.ndarray, classes: int) -> tuple[Any, Any]:
    """Return a coefficient and its first-order variance, (...,), NaN where nothing would differ by chance.

    Parameters
    ----------
    metric : str
    codes : (N, P) array of int
        -1 for no label; of "kappa" two people.
    weight : (..., N) array
        How often there is each item.
    classes : int
    """
    one = _of_classes(codes, classes)
    given = one.sum(1)
    m, differ = given.sum(1), _pairs_that_differ(given)
    paired = (m >= 2) * (m if metric == "alpha" else 1.0)
    pool = (m >= 1) * 1.0 if metric in ("fleiss", "ac1") else paired
    share = given / np.maximum(m, 1)[:, None]
    first, second = (one[:, 0], one[:, 1]) if metric == "kappa" else (share, share)
    pairs, pooled = (weight @ paired)[..., None], (weight @ pool)[..., None]
    with np.errstate(divide="ignore", invalid="ignore"):
        observed = (weight @ (paired * differ))[..., None] / pairs
        p, q = ((weight * pool) @ part / pooled for part in (first, second))
        alike = (p * q).sum(-1, keepdims=True)
        by_alike = {"raw": 0.0, "ac1": 1 / (classes - 1)}.get(metric, -1.0)
        expected = {"raw": 1.0, "ac1": 1 - by_alike}.get(metric, 1.0) + by_alike * alike
        expected = np.where(expected > 1e-12, expected, np.nan)
        slope = -paired * (differ - observed) / (pairs * expected)
        slope = slope + observed / expected**2 * by_alike * pool / pooled * (q @ first.T + p @ second.T - 2 * alike)
    fewer = 1 - 1 / (weight @ paired) if metric == "alpha" else 1.0
    return 1 - fewer * (observed / expected)[..., 0], (weight * slope**2).sum(-1)


def _who_differs(codes: np.ndarray, people: tuple, classes: tuple) -> list[dict]:
    found = []
    for i, j in itertools.combinations(range(len(people)), 2):
        both = codes[(codes[:, i] >= 0) & (codes[:, j] >= 0) & (codes[:, i] != codes[:, j])][:, [i, j]]
        for (a, b), count in zip(*np.unique(both, axis=0, return_counts=True), strict=True):
            found.append({"first": people[i], "second": people[j], "first_label": classes[a],
                          "second_label": classes[b], "count": int(count)})
    return sorted(found, key=lambda row: -row["count"])


def _doubts(codes: np.ndarray, classes: tuple, entries: Sequence[dict]) -> Iterator[Note]:
    """Yield where intervals were not searched, and coefficients that do not exist."""
    few = [row["group"] or "everybody" for row in entries if row["label"] == "" and row["n"] < FEWEST]
    if few:
        yield Note("unreliable", f"fewer than {FEWEST} items have two labels or more: intervals may be too short",
                   ("people", checks.listed(dict.fromkeys(few))))
    share = np.bincount(codes[codes >= 0], minlength=len(classes)) / (codes >= 0).sum()
    for k in np.flatnonzero(share < RAREST):
        yield Note("unreliable", f"fewer than {RAREST:.0%} of the labels: intervals of what chance expects may be too "
                   "short", ("class", classes[k]))
    raw = entries[0]["estimate"]
    if not LOWEST <= raw <= HIGHEST:
        yield Note("unreliable", f"{raw:.1%} of pairs of labels are alike; intervals were tried from {LOWEST:.0%} to "
                   f"{HIGHEST:.0%}")
    for row in entries:
        if np.isnan(row["estimate"]):
            yield Note("undefined", f"no {row['metric']}: no item has two labels, or chance expects no difference",
                       ("people", row["group"] or "everybody"))
