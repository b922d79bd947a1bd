"""How far people who label the same items agree: coefficients with intervals, who differs about what, what to settle.

Every coefficient is 1 - D / E: the mean distance of two labels of an item over the distance that chance expects.
Two labels that differ are 1 apart; in a weighted coefficient grades that are close are less far apart.
"""

import itertools
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import scipy

from workbench import checks, intervals
from workbench.data.numbers import GONE
from workbench.results import Interval, Note, Result

FOR_ALL = ("raw", "fleiss", "ac1", "alpha")
FOR_PAIRS = ("kappa",)
WEIGHTED_KAPPA = ("kappa_linear", "kappa_quadratic")
SCALES = {
    "nominal": "alpha",
    "ordinal": "alpha_ordinal",
    "interval": "alpha_interval",
}  # the alpha of each
METRICS = (*FOR_ALL, "alpha_ordinal", "alpha_interval", *FOR_PAIRS, *WEIGHTED_KAPPA)
FEWEST, RAREST, LOWEST, HIGHEST = 30, 0.1, 0.6, 0.97  # where the search went
NOMINAL = None  # distances of classes without order
ASSUMED = Note(
    "assumption",
    "intervals take the items as a random sample, each labeled for itself, and the people as "
    "they are: others may agree more or less",
)


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
    scale : {"nominal", "ordinal", "interval"}
        What is known of the classes; the headline has the alpha of this scale.
    """

    entries: tuple
    differing: tuple
    unsettled: np.ndarray
    items: int
    people: tuple
    classes: tuple
    level: float
    scale: str = "nominal"

    def entry(self, metric: str, group: str = "", label: Any = "") -> dict:
        """Return the row of a coefficient.

        Parameters
        ----------
        metric : str
            "raw", "fleiss", "ac1", "alpha" or "kappa"; of grades also "alpha_ordinal" or "alpha_interval" by the
            scale, "kappa_linear" and "kappa_quadratic".
        group : str
            Of a kappa the two people, as "A & B"; empty for everybody.
        label : object
            A class; empty for all of them. Two classes have the coefficients of all.
        """
        wanted = checks.choice("metric", metric, METRICS), group, label
        for row in self.entries:
            if (row["metric"], row["group"], row["label"]) == wanted:
                return row
        if all(row["metric"] != metric for row in self.entries):
            scale = {alpha: scale for scale, alpha in SCALES.items()}.get(metric, "ordinal")
            raise checks.WrongValue(
                "metric",
                f"must be one that was computed: ask for agreement(..., scale={scale!r})",
                metric,
            )
        raise checks.WrongValue(
            "group",
            "must be two of the people, and label one of three or more classes",
            (group, label),
        )

    def interval(self, metric: str = "alpha", group: str = "", label: Any = "") -> Interval:
        """Return the interval of a coefficient.

        Parameters
        ----------
        metric : str
            "raw", "fleiss", "ac1", "alpha" or "kappa"; of grades also "alpha_ordinal" or "alpha_interval" by the
            scale, "kappa_linear" and "kappa_quadratic".
        group : str
            Of a kappa the two people, as "A & B"; empty for everybody.
        label : object
            A class; empty for all of them.
        """
        row = self.entry(metric, group, label)
        return Interval(row["low"], row["high"], self.level, "pseudo-labels", notes=self.notes)

    def headline(self) -> str:
        """Return raw agreement and Krippendorff's alpha of the scale with their intervals."""
        raw, alpha = self.entry("raw"), self.entry(SCALES[self.scale])
        name = "alpha" if self.scale == "nominal" else f"{self.scale} alpha"
        return (
            f"{len(self.people)} people agree in {raw['estimate']:.1%} of pairs of labels ({raw['low']:.1%} to "
            f"{raw['high']:.1%}); {name} {alpha['estimate']:.3g} ({alpha['low']:.3g} to {alpha['high']:.3g}); "
            f"{checks.counted(self.items, 'item')} with two labels or more, {len(self.unsettled):,} to settle"
        )

    def rows(self) -> list[dict]:
        """Return one row per coefficient, pair of people and class."""
        return list(self.entries)

    def who_differs(self) -> list[dict]:
        """Return one row per two people and what each of them said, where they differ, the most frequent first."""
        return list(self.differing)


def agreement(
    labels: Any, *, level: float = 0.95, scale: str = "nominal", order: Sequence | None = None
) -> Agreement:
    r"""Say how far people agree who labeled the same items.

    Parameters
    ----------
    labels : (N, P) array_like, or dict of name to (N,) array_like
        The class that each of two or more people gave each item. A label is missing where the entry is None, NaN,
        masked, "", "nan" or the missing value of a data frame. People of an array are called 1, 2 and so on.
    level : float
        Nominal coverage in (0, 1).
    scale : {"nominal", "ordinal", "interval"}
        What is known of the classes. "nominal": two labels are alike or not. "ordinal": classes have an order, as
        grades have. "interval": classes are numbers whose differences mean something.
    order : sequence, optional
        All classes from the least to the most, also those that nobody used; for text whose order is not that of
        numbers, such as ("poor", "fair", "good"). With scale "ordinal" only.

    Returns
    -------
    Agreement
        - "raw": share of pairs of labels of an item that are alike;
        - "kappa": Cohen's [1]_, of two people, by the items that both labeled;
        - "fleiss": Fleiss' [2]_, "ac1": Gwet's AC1 [3]_, both as [3]_ has them where labels are missing;
        - "alpha": Krippendorff's, for classes without order [4]_;

        over all classes and, with more than two, for each class against the others. For grades (another scale than
        "nominal") also, over all classes:

        - "kappa_linear", "kappa_quadratic": weighted kappa [6]_ of two people;
        - "alpha_ordinal" or "alpha_interval": Krippendorff's alpha of the scale [4]_.

    Raises
    ------
    ValueError
        If there are fewer than two people or classes, or no item has two labels; for grades, if the classes are text
        that is no number and `order` does not name all of them.

    Notes
    -----
    With D the share of differing pairs, a mean over items, and p and q (K,) mean shares of the classes, a coefficient
    is 1 - D / E,

    .. math:: E = 1 - p \cdot q, \quad E_{AC1} = 1 - \frac{1 - p \cdot p}{K - 1}, \quad E_{raw} = 1;

    p and q are those of the two people for kappa, the same for the others. Items weigh alike, but for alpha by their
    labels, of n in all, and there D / E is multiplied by (n - 1) / n.

    In a weighted coefficient D is the mean distance d of two labels of an item, and :math:`E = p^T d q`. With v the
    values of the classes, 1 to K for ordinal ones and the numbers themselves for interval ones, :math:`d = |v_i - v_j|`
    for linear weights and :math:`(v_i - v_j)^2` for quadratic ones and for alpha of interval classes. For alpha of
    ordinal classes :math:`d = (r_i - r_j)^2`, with :math:`r_k = p_1 + ... + p_{k-1} + p_k / 2`.

    The interval adds z^2 / 3 items with two labels that are alike, evenly of all classes, and as many that differ,
    evenly of all pairs of classes, as [5]_ do for proportions (for alpha each with the mean weight of an item); it is
    the estimate that results -+ t times its first-order standard error, t of n - 1 degrees of freedom for n items with
    two labels. It has a width where all labels are alike, holds the estimate, and is the whole range where there is
    none. It has no proof: in 100 settings of two classes (30 to 500 items, 2 to 5 people, the rarer class .1 to .5,
    agreement .6 to .97, up to 30% missing) it covered at least .93; notes say where a sample lies beyond them.
    Weighted coefficients have the same interval; in 40 settings of three to five grades (30 to 300 items, 2 or 3
    people) it covered at least .93 of 1,000 samples.

    References
    ----------
    .. [1] Cohen, A coefficient of agreement for nominal scales, Educational and Psychological Measurement 20, 1960.
    .. [2] Fleiss, Measuring nominal scale agreement among many raters, Psychological Bulletin 76, 1971.
    .. [3] Gwet, Handbook of inter-rater reliability, 4th ed., 2014.
    .. [4] Krippendorff, Computing Krippendorff's alpha-reliability, University of Pennsylvania, 2011.
    .. [5] Agresti & Coull, Approximate is better than "exact" for interval estimation of binomial proportions, The
       American Statistician 52, 1998.
    .. [6] Cohen, Weighted kappa, Psychological Bulletin 70, 1968.

    Examples
    --------
    >>> found = agreement({"Ann": ["a", "a", "b", "b", "a", None], "Ben": ["a", "b", "b", "b", "a", "a"]})
    >>> round(found.entry("kappa", "Ann & Ben")["estimate"], 4), found.unsettled.tolist()
    (0.6154, [1])
    >>> found.who_differs()
    [{'first': 'Ann', 'second': 'Ben', 'first_label': 'a', 'second_label': 'b', 'count': 1}]
    """
    checks.choice("scale", scale, tuple(SCALES))
    checks.level(level)
    people, codes, classes = _read(labels, scale, order)
    paired = _labeled(codes) >= 2
    if not paired.any():
        raise checks.WrongValue("labels", "must hold an item with labels of two people")
    differ = _pairs_that_differ(_of_classes(codes, len(classes)).sum(1))
    by_dispute = np.argsort(-differ, kind="stable")
    entries = tuple(_rows(codes, people, classes, level, scale))
    return Agreement(
        entries,
        tuple(_who_differs(codes, people, classes)),
        by_dispute[differ[by_dispute] > 0],
        int(paired.sum()),
        people,
        classes,
        float(level),
        scale,
        notes=[ASSUMED, *_doubts(codes, classes, entries, scale)],
    )


def _read(labels: Any, scale: str, order: Sequence | None) -> tuple[tuple, np.ndarray, tuple]:
    """Return the people, codes of classes (N, P), -1 for none, and the classes."""
    named = isinstance(labels, Mapping)
    if named:
        columns = [checks.cells_and_gaps("labels", column) for column in labels.values()]
    else:
        array, missing = checks.cells_and_gaps("labels", labels)
        columns = list(zip(array.T, missing.T, strict=True)) if array.ndim == 2 else []
    lengths = {column.shape for column, _ in columns}
    if len(columns) < 2 or len(lengths) > 1 or any(len(shape) != 1 for shape in lengths):
        raise checks.WrongValue(
            "labels", "must hold the labels of two or more people, one for each item or None"
        )
    table = [
        [None if gap else label for label, gap in zip(column.tolist(), gaps.tolist(), strict=True)]
        for column, gaps in columns
    ]
    seen: set[Any] = {label for column in table for label in column} - {None}
    if len({isinstance(label, str) for label in seen}) > 1:
        raise checks.WrongValue("labels", "must be all text or all numbers", told="got both")
    meaning = (
        {label: label for label in seen}
        if scale == "nominal" or order is not None
        else _numbers_of(seen, scale)
    )
    classes = (
        tuple(sorted(set(meaning.values()))) if order is None else _in_order(order, seen, scale)
    )
    if len(classes) < 2:
        raise checks.WrongValue(
            "labels", "must hold at least two classes", told=f"got {len(classes)}"
        )
    place = {label: k for k, label in enumerate(classes)}
    code = {label: place[value] for label, value in meaning.items()} | {None: -1}
    people = tuple(map(str, labels)) if named else tuple(map(str, range(1, len(table) + 1)))
    return people, np.array([[code[label] for label in column] for column in table]).T, classes


def _numbers_of(labels: set, scale: str) -> dict:
    """Return the number that each label is, or raise where one is text that is no number."""
    numbers = {label: _number_of(label) for label in labels}
    for label in sorted(label for label, number in numbers.items() if number is None)[:1]:
        remedy = (
            ": name all classes from the least to the most in {0}" if scale == "ordinal" else ""
        )
        raise checks.WrongValue(
            "labels", f"must be numbers for scale {scale!r}{remedy}", label, others=("order",)
        )
    return numbers


def _number_of(label: Any) -> float | None:
    """Return the finite number that a label is or that its text says, else None."""
    try:
        number = float(label)
    except (TypeError, ValueError):
        return None
    if not np.isfinite(number):
        return None
    return int(number) if number.is_integer() else number


def _in_order(order: Sequence, seen: set, scale: str) -> tuple:
    """Return the classes in the order that is given, or raise where it is not one of all of them."""
    classes = checks.each("order", order)
    if scale != "ordinal":
        raise checks.WrongValue("order", "belongs to scale 'ordinal'", told=f"scale is {scale!r}")
    if len(set(classes)) < len(classes):
        raise checks.WrongValue("order", "must name every class once", classes)
    unnamed = [label for label in seen if label not in classes]
    if unnamed:
        raise checks.WrongValue(
            "order",
            "must name every class of the labels",
            told=f"{checks.listed(sorted(unnamed), quoted=True)} is not among them",
        )
    return classes


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


def _rows(
    codes: np.ndarray, people: tuple, classes: tuple, level: float, scale: str
) -> Iterator[dict]:
    """Yield the coefficients of everybody and of pairs, of all classes and of each."""
    pairs = list(itertools.combinations(range(len(people)), 2))
    on_scale = scale != "nominal"
    groups = [(metric, "", codes) for metric in (*FOR_ALL, *[SCALES[scale]] * on_scale)]
    for i, j in pairs:
        of_pair = (f"{people[i]} & {people[j]}", codes[:, [i, j]])
        groups += [(metric, *of_pair) for metric in (*FOR_PAIRS, *WEIGHTED_KAPPA[: 2 * on_scale])]
    values = np.array(classes, float) if scale == "interval" else np.arange(len(classes))
    for k, label in enumerate(("", *(classes if len(classes) > 2 else ()))):
        for metric, group, part in groups:
            if k and metric not in (*FOR_ALL, *FOR_PAIRS):
                continue
            of_class = np.where(part < 0, -1, part == k - 1) if k else part
            limits = limits_of(
                metric,
                of_class,
                np.ones(len(part)),
                2 if k else len(classes),
                level,
                None if k else values,
            )
            estimate, low, high, n = map(float, limits)
            yield {
                "metric": metric,
                "group": group,
                "label": label,
                "estimate": estimate,
                "low": low,
                "high": high,
                "n": int(n),
            }


def limits_of(
    metric: str,
    codes: np.ndarray,
    weight: np.ndarray,
    classes: int,
    level: float,
    values: np.ndarray | None = None,
) -> tuple:
    """Return a coefficient, its limits, and the number of items with two labels, (...,) each; as `coefficient`."""
    pairs, least = (
        np.array(list(itertools.product(range(classes), repeat=2))),
        0.0 if metric == "raw" else -1.0,
    )
    k = intervals.added_labels(level)
    added = np.where(pairs[:, 0] == pairs[:, 1], k / classes, k / (classes * (classes - 1)))
    more = np.vstack([codes, np.pad(pairs, ((0, 0), (0, codes.shape[1] - 2)), constant_values=-1)])
    m, (estimate, _) = _labeled(codes), coefficient(metric, codes, weight, classes, values)
    n = weight @ (m >= 2)
    by_labels = metric.startswith("alpha")
    size = weight @ (m * (m >= 2)) / np.maximum(2 * n, 1) if by_labels else np.ones_like(n)
    weights = np.concatenate([weight, np.multiply.outer(size, added)], -1)
    center, variance = coefficient(metric, more, weights, classes, values)
    reach = scipy.special.stdtrit(np.maximum(n - 1, 1), (1 + level) / 2) * np.sqrt(variance)
    known = (n >= 2) & ~np.isnan(estimate)
    return (
        estimate,
        np.where(known, np.clip(center - reach, least, estimate), least),
        np.where(known, np.clip(center + reach, estimate, 1.0), 1.0),
        n,
    )


def coefficient(
    metric: str,
    codes: np.ndarray,
    weight: np.ndarray,
    classes: int,
    values: np.ndarray | None = None,
) -> tuple[Any, Any]:
    """Return a coefficient and its first-order variance, (...,), NaN where nothing would differ by chance.

    Parameters
    ----------
    metric : str
    codes : (N, P) array of int
        -1 for no label; of a kappa two people.
    weight : (..., N) array
        How often there is each item.
    classes : int
    values : (K,) array, optional
        Of the classes, for a weighted coefficient; by default 0 to K - 1.
    """
    one = _of_classes(codes, classes)
    given = one.sum(1)
    m = given.sum(1)
    by_labels, of_pair = metric.startswith("alpha"), metric.startswith("kappa")
    paired = (m >= 2) * (m if by_labels else 1.0)
    pool = (m >= 1) * 1.0 if metric in ("fleiss", "ac1") else paired
    share = given / np.maximum(m, 1)[:, None]
    first, second = (one[:, 0], one[:, 1]) if of_pair else (share, share)
    pairs, pooled = (weight @ paired)[..., None], (weight @ pool)[..., None]
    with np.errstate(divide="ignore", invalid="ignore"):
        p, q = ((weight * pool) @ part / pooled for part in (first, second))
        distance = _distances(metric, np.arange(classes) if values is None else values, p)
        differ = (
            _pairs_that_differ(given)
            if distance is NOMINAL
            else ((given @ distance) * given).sum(-1) / np.maximum(m * (m - 1), 1)
        )
        observed = (weight * paired * differ).sum(-1, keepdims=True) / pairs
        p_apart, q_apart = (
            part.sum(-1, keepdims=True) - part
            if distance is NOMINAL
            else (part[..., None, :] @ distance)[..., 0, :]
            for part in (p, q)
        )
        apart = (p * q_apart).sum(-1, keepdims=True)
        by_apart = {"raw": 0.0, "ac1": -1 / (classes - 1)}.get(metric, 1.0)
        expected = {"raw": 1.0, "ac1": 1.0}.get(metric, 0.0) + by_apart * apart
        expected = np.where(expected > 1e-12, expected, np.nan)
        slope = -paired * (differ - observed) / (pairs * expected)
        slope = slope + observed / expected**2 * by_apart * pool / pooled * (
            q_apart @ first.T + p_apart @ second.T - 2 * apart
        )
        if metric == "alpha_ordinal":
            labels = weight * paired / np.maximum(m * (m - 1), 1)
            observed_pairs = np.einsum("...n,nc,nk->...ck", labels, given, given) / pairs[..., None]
            excess = (observed / expected**2)[..., None] * p[..., None] * p[
                ..., None, :
            ] - observed_pairs / expected[..., None]
            slope = slope + pool / pooled * _by_ridits(excess, p, share)
    fewer = 1 - 1 / (weight @ paired) if by_labels else 1.0
    return 1 - fewer * (observed / expected)[..., 0], (weight * slope**2).sum(-1)


def _distances(metric: str, values: np.ndarray, p: np.ndarray) -> Any:
    """Return how far two classes are apart, (..., K, K) from 0 to 1; `NOMINAL` where all that differ are 1 apart."""
    if metric == "alpha_ordinal":
        positions = p @ _before(p.shape[-1]).T
        return (positions[..., None] - positions[..., None, :]) ** 2
    if metric not in ("alpha_interval", *WEIGHTED_KAPPA):
        return NOMINAL
    span = np.abs(np.subtract.outer(values, values)) / np.ptp(values)
    return span if metric == "kappa_linear" else span**2


def _before(classes: int) -> np.ndarray:
    """Return (K, K) what a class counts towards the ridit of another: 1 below it, 1/2 for itself, else 0."""
    return np.tri(classes, k=-1) + np.eye(classes) / 2


def _by_ridits(excess: np.ndarray, p: np.ndarray, share: np.ndarray) -> np.ndarray:
    """Return what moves alpha of ordinal classes through the ridits of the classes, (..., N).

    `excess` (..., K, K) is the slope of alpha in each squared distance of two ridits.
    """
    before = _before(p.shape[-1])
    ridits = p @ before.T
    slope_of_ridit = 4 * (excess * (ridits[..., None, :] - ridits[..., None])).sum(-2)
    slope_of_share = slope_of_ridit @ before
    return slope_of_share @ share.T - (slope_of_share * p).sum(-1, keepdims=True)


def _who_differs(codes: np.ndarray, people: tuple, classes: tuple) -> list[dict]:
    found = []
    for i, j in itertools.combinations(range(len(people)), 2):
        both = codes[(codes[:, i] >= 0) & (codes[:, j] >= 0) & (codes[:, i] != codes[:, j])][
            :, [i, j]
        ]
        for (a, b), count in zip(*np.unique(both, axis=0, return_counts=True), strict=True):
            found.append(
                {
                    "first": people[i],
                    "second": people[j],
                    "first_label": classes[a],
                    "second_label": classes[b],
                    "count": int(count),
                }
            )
    return sorted(found, key=lambda row: -row["count"])


def _doubts(
    codes: np.ndarray, classes: tuple, entries: Sequence[dict], scale: str
) -> Iterator[Note]:
    """Yield how classes were taken, where intervals were not searched, and coefficients that do not exist."""
    yield from _doubts_of_classes(codes, classes, scale)
    few = [
        row["group"] or "everybody" for row in entries if row["label"] == "" and row["n"] < FEWEST
    ]
    if few:
        yield Note(
            "unreliable",
            f"fewer than {FEWEST} items have two labels or more: intervals may be too short",
            ("people", checks.listed(dict.fromkeys(few))),
        )
    share = np.bincount(codes[codes >= 0], minlength=len(classes)) / (codes >= 0).sum()
    for k in np.flatnonzero(share < RAREST):
        yield Note(
            "unreliable",
            f"fewer than {RAREST:.0%} of the labels: intervals of what chance expects may be too "
            "short",
            ("class", classes[k]),
        )
    raw = entries[0]["estimate"]
    if not LOWEST <= raw <= HIGHEST:
        yield Note(
            "unreliable",
            f"{raw:.1%} of pairs of labels are alike; intervals were tried from {LOWEST:.0%} to "
            f"{HIGHEST:.0%}",
        )
    for row in entries:
        if np.isnan(row["estimate"]):
            yield Note(
                "undefined",
                f"no {row['metric']}: no item has two labels, or chance expects no difference",
                ("pair", row["group"]) if row["group"] else None,
            )


def _doubts_of_classes(codes: np.ndarray, classes: tuple, scale: str) -> Iterator[Note]:
    """Yield a note on classes that may be gaps, and on numbers whose order counts for nothing."""
    counts = Counter(codes.ravel().tolist())
    for k, label in enumerate(classes):
        if isinstance(label, str) and label.strip().lower() in GONE:
            yield Note(
                "data",
                f"{label!r} ({checks.counted(counts[k], 'label')}) is taken for a class: if it stands "
                "for a missing label, give None or leave the cell empty",
            )
    numeric = all(_number_of(label) is not None for label in classes)
    if scale == "nominal" and len(classes) > 2 and numeric:
        yield Note(
            "data",
            f"the classes are numbers ({checks.listed(classes, 5)}), but labels that nearly agree "
            "count as labels that differ: if the order matters, as that of grades, ask for scale 'ordinal' "
            "(weighted kappa and ordinal alpha)",
        )
