"""Statistics of weighted items, one entry of `METRICS` each.

`Metric` describes a statistic. `Metric.of` returns the entry of a name.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy import ndarray
from numpy.typing import ArrayLike

from workbench import checks
from workbench.replication import moments
from workbench.replication.moments import Bounds, Moments
from workbench.results.vocabulary import metric_words

EstimateAndError = tuple[float, float]


class UndefinedError(ValueError):
    """Error for a statistic that is undefined (0/0)."""


class UnstableError(ValueError):
    """Error for a statistic that is 0/0 in too many replicates for a variance."""


@dataclass(frozen=True)
class Totals:
    """Columns of a ratio of totals: `numerator`, (n,), and `denominator`, (n,) or None."""

    numerator: ndarray
    denominator: ndarray | None


@dataclass(frozen=True)
class Metric:
    """A statistic of weighted items, with everything that other modules need; see `METRICS`.

    Attributes
    ----------
    name : str
    arguments : tuple of str
        Names of its columns; () for a callable, which takes any columns.
    totals : callable or None
        (*columns, size) -> Totals, for a total or a ratio of two totals.
    values : callable or None
        (*columns, size) -> function, for a statistic that needs every weight. The function turns a
        block of weights, (r, size), into its r values, NaN if undefined.
    moments : callable or None
        (*columns, size) -> Moments, for a function of several means.
    kind : {"proportion", "share", "agreement", "correlation", "positive", "bounded", "number"}
        Range of the statistic. A proportion is the mean of zeros and ones. A "share" is another
        number from 0 to 1. Agreement and correlation lie from -1 to 1. "positive" has no upper
        bound. "bounded" has its own `ends`.
    empty : str
        Meaning of a denominator of 0; "" if there is none.
    about : {"", "items", "class", "classes", "sets", "label", "value", "rank", "ranks"}
        Property of the labeled items from which it is computed:

        - "": not computed from labeled items;
        - "items": their labels;
        - "class": whether these are one class;
        - "classes": every class in turn, then the mean over classes;
        - "sets": sets of labels, for items that can have several;
        - "label": whether the true label alone is one class;
        - "value": the true value alone, a number;
        - "rank": whether the true class is among the first candidates;
        - "ranks": the rank of the true class among all candidates.
    of_each : str
        The statistic of a class of which this is the mean, for "classes".
    title : str
        Name in a sentence, if it is neither `name` nor in the vocabulary.
    meaning : str
        Description in a finding, if there is one.
    parts : callable or None
        (*columns, rows, weight) -> values (n,) and masks (n,) of the items whose mean value the
        statistic is. A mask may also hold how often an item counts. By default these are the parts
        of a ratio: numerator divided by denominator, for the items that the denominator counts.
    of_mean : callable
        Increasing function from the mean of its parts to the statistic.
    ends : callable or None
        (*columns) -> smallest and largest value of an item of its parts, if these exist and it is
        not from 0 to 1.
    naive : callable or None
        (*columns) -> the metric and its standard error for independent items of equal weight. By
        default it is that of a ratio by the delta method.
    lower_is_better : bool
    """

    name: str
    arguments: tuple[str, ...]
    totals: Callable[..., Totals] | None = None
    values: Any = None
    moments: Callable[..., Moments] | None = None
    kind: str = "number"
    empty: str = "no item is left"
    about: str = ""
    of_each: str = ""
    title: str = ""
    meaning: str = ""
    parts: Callable[..., tuple] | None = None
    of_mean: Callable[[Any], Any] = np.asarray
    ends: Callable[..., Bounds] | None = None
    naive: Callable[..., EstimateAndError] | None = None
    lower_is_better: bool = False

    @classmethod
    def of(cls, statistic: str | Callable) -> "Metric":
        """Return the entry of a name, or an entry for a function (weight, *columns) -> number."""
        if callable(statistic):
            name = getattr(statistic, "__name__", "statistic")
            return cls(name, (), values=_by_row(statistic), empty="")
        names = [name for name in METRICS if METRICS[name].is_one]
        return METRICS[checks.choice("statistic", statistic, names)]

    @property
    def is_one(self) -> bool:
        """Return whether this is one statistic and not the mean of one per class."""
        return self.about != "classes"

    @property
    def is_share(self) -> bool:
        """Return whether the statistic lies from 0 to 1."""
        return self.kind in ("proportion", "share")

    @property
    def counts_hits(self) -> bool:
        """Return whether it is a function of the proportion of hits in its denominator."""
        return self.kind == "proportion" or self.name == "f1"

    @property
    def per_class(self) -> bool:
        """Return whether it is defined for every class or rank; a score belongs to one class."""
        if self.about == "class":
            return "prediction" in self.arguments
        return self.about in ("label", "rank")

    @property
    def of_truth(self) -> bool:
        """Return whether it uses the true labels alone, without a prediction or a score."""
        return self.about in ("label", "value") or self.arguments == ("truth",)

    def totals_of(self, columns: Sequence, size: int) -> Totals | None:
        """Return the two columns whose totals make the statistic, or None.

        Parameters
        ----------
        columns : sequence
            Arguments of the statistic, (size,) each. y and x are numbers, and an accuracy takes any
            labels. For a metric about a class, truth and prediction are 0 and 1 or booleans.
        size : int
            Number of items.
        """
        if self.arguments and len(columns) != len(self.arguments):
            count = checks.counted(len(self.arguments), "column")
            names = " and ".join(self.arguments)
            raise TypeError(f"{self.name} takes {count}, {names}; got {len(columns)}")
        return self.totals(*columns, size) if self.totals else None

    def parts_of(
        self, columns: Sequence, totals: Any, rows: ndarray, weight: ndarray
    ) -> tuple[ndarray, list]:
        """Return the values that the statistic averages, and the items over which it averages them.

        Parameters
        ----------
        columns : sequence
            As in `totals_of`.
        totals : Totals or None
        rows : (n,) array of bool
            The items that count.
        weight : (n,) array

        Returns
        -------
        values : (n,) array
        parts : list of (n,) arrays of bool
            One for a mean, two for an AUC. For F1 the items are those that are positive, truly or
            predicted, and the value is whether both are true. With the mean J of these values, F1 =
            2 J / (1 + J).
        """
        if self.parts:
            return self.parts(*columns, rows, weight)
        values = ratio(totals.numerator, totals.denominator)
        return values, [rows & (totals.denominator != 0)]

    def naive_of(self, *columns: ndarray) -> EstimateAndError:
        """Return estimate and standard error as if items were independent and had equal weights."""
        if self.naive:
            return self.naive(*columns)
        size = len(columns[0])
        if self.moments:
            values, _ = self.moments(*columns, size).linear(np.ones(size))
            return float(values.mean()), float(values.std() / np.sqrt(size))
        totals: Any = self.totals_of(columns, size)
        total = totals.denominator.sum()
        estimate = totals.numerator.sum() / total
        residuals = totals.numerator - estimate * totals.denominator
        return float(estimate), float(np.sqrt((residuals**2).sum()) / total)


def title_of(name: str) -> str:
    """Return the name of a statistic as it appears in a sentence.

    Examples
    --------
    >>> title_of("macro_f1"), title_of("recall")
    ('macro F1', 'recall')
    """
    title = METRICS[name].title if name in METRICS else ""
    return title or metric_words(name)


def placements(parts: Sequence[ndarray], score: ndarray, weight: ndarray) -> ndarray:
    """Return, for each item, the proportion of the other class that is ordered correctly.

    For a positive item these are the negatives with lower scores, for a negative item the positives
    with higher scores.

    Parameters
    ----------
    parts : (positive, negative), (n,) arrays of bool
    score, weight : (n,) array
        Equal scores count half. Proportions are of the weight.
    """
    placed = np.zeros(score.size)
    for part, other, side in zip(parts, reversed(parts), (1, -1), strict=True):
        order = np.argsort(side * score[other], kind="stable")
        sorted_scores = side * score[other][order]
        cumulated = np.append(0.0, np.cumsum(weight[other][order]))
        below, up_to = (
            np.searchsorted(sorted_scores, side * score[part], end) for end in ("left", "right")
        )
        placed[part] = (cumulated[below] + cumulated[up_to]) / (2 * cumulated[-1])
    return placed


def ratio(numerator: float | ndarray, denominator: float | ndarray) -> ndarray:
    """Return numerator / denominator, NaN if the denominator is 0."""
    defined = np.asarray(denominator) != 0
    return np.where(defined, numerator / np.where(defined, denominator, 1), np.nan)


def _proportion(y: ArrayLike, size: int) -> Totals:
    return Totals(binary("y", y, size), np.ones(size))


def _mean(y: ArrayLike, size: int) -> Totals:
    return Totals(checks.vector("y", y, size=size), np.ones(size))


def _mean_rank(y: ArrayLike, most: int, size: int) -> Totals:
    high = checks.whole("most", most, 1)
    return Totals(checks.vector("y", y, size=size, low=1, high=high), np.ones(size))


def _total(y: ArrayLike, size: int) -> Totals:
    return Totals(checks.vector("y", y, size=size), None)


def _ratio_of(y: ArrayLike, x: ArrayLike, size: int) -> Totals:
    return Totals(checks.vector("y", y, size=size), checks.vector("x", x, size=size))


def _accuracy(truth: ArrayLike, prediction: ArrayLike, size: int) -> Totals:
    truth, prediction = moments.alike_labels(truth, prediction, size)
    return Totals((truth == prediction).astype(float), np.ones(size))


def _label_sets(true: ArrayLike, predicted: ArrayLike, size: int) -> tuple[ndarray, ndarray]:
    """Return the true and the predicted labels of items, (n, L) of bool each, or raise."""
    sets = []
    for name, values in (("true_labels", true), ("predicted_labels", predicted)):
        array = checks.floats(name, values, "item")
        if array.ndim != 2 or len(array) != size or not np.isin(array, (0, 1)).all():
            rule = f"must be 0 and 1, a row for each of {size} items and a column for each label"
            raise checks.WrongValue(name, rule, told=f"got shape {array.shape}")
        sets.append(array == 1)
    true_sets, predicted_sets = sets
    if true_sets.shape != predicted_sets.shape:
        columns = f"got {predicted_sets.shape[1]} for {true_sets.shape[1]}"
        rule = "must have a column for each of the {0}"
        raise checks.WrongValue("predicted_labels", rule, told=columns, others=("true_labels",))
    return true_sets, predicted_sets


def _binaries(truth: ArrayLike, prediction: ArrayLike, size: int) -> tuple[ndarray, ndarray]:
    """Return two columns of 0 and 1 as arrays (n, 1)."""
    return binary("truth", truth, size)[:, None], binary("prediction", prediction, size)[:, None]


def _hits_of(of_true: int, of_predicted: int, read: Callable = _binaries) -> Callable[..., Totals]:
    """Return a function for hits over members, which are true, predicted, or both kinds."""

    def totals(truth: ArrayLike, prediction: ArrayLike, size: int) -> Totals:
        true, predicted = read(truth, prediction, size)
        hits = (of_true + of_predicted) * (true * predicted).sum(1)
        members = of_true * true.sum(1) + of_predicted * predicted.sum(1)
        return Totals(hits.astype(float), members.astype(float))

    return totals


def _exact_match(true: ArrayLike, predicted: ArrayLike, size: int) -> Totals:
    true, predicted = _label_sets(true, predicted, size)
    return Totals((true == predicted).all(1).astype(float), np.ones(size))


def _hamming_loss(true: ArrayLike, predicted: ArrayLike, size: int) -> Totals:
    true, predicted = _label_sets(true, predicted, size)
    return Totals((true != predicted).mean(1), np.ones(size))


def _parts_of_sets(of_true: int, of_predicted: int) -> Callable[..., tuple]:
    """Return a function for the proportion of hits among each item's labels, and their number."""

    def parts(
        true: ArrayLike, predicted: ArrayLike, rows: ndarray, weight: ndarray
    ) -> tuple[ndarray, list]:
        true, predicted = _label_sets(true, predicted, rows.size)
        members = true if of_true else predicted
        if of_true and of_predicted:
            members = true | predicted
        count = members.sum(1)
        return ratio((true & predicted).sum(1), count), [np.where(rows, count, 0)]

    return parts


def binary(name: str, values: ArrayLike, size: int) -> ndarray:
    """Return 0/1 labels or booleans as floats; an error shows the values found instead."""
    array = checks.labels(name, values, size=size)
    if array.dtype.kind in "biuf" and np.isin(array, (0, 1)).all():
        return array.astype(float)
    labels = np.unique(array)
    examples = [*map(repr, labels[:5].tolist())]
    if labels.size > 5:
        examples.append("...")
    count = checks.counted(labels.size, "label")
    raise ValueError(
        f"{name} must hold 0 and 1 (1 the positive class); got {count}: {', '.join(examples)}; "
        "compare with the positive class first"
    )


def _probabilities(truth: ArrayLike, score: ArrayLike, size: int) -> tuple[ndarray, ndarray]:
    probabilities = checks.vector("score", score, size=size, low=0, high=1)
    return binary("truth", truth, size), probabilities


def _brier(truth: ArrayLike, score: ArrayLike, size: int) -> Totals:
    """Return the totals of the Brier score, the mean squared error of the probability [1]_.

    The error is the distance from 1 for items of the class, and from 0 for others.

    References
    ----------
    .. [1] Brier, Verification of forecasts expressed in terms of probability, Monthly Weather
       Review 78, 1950.
    """
    truth, score = _probabilities(truth, score, size)
    return Totals((score - truth) ** 2, np.ones(size))


def _log_loss(truth: ArrayLike, score: ArrayLike, size: int) -> Totals:
    """Return the totals of the log loss, the mean of -log of the true class's probability."""
    truth, score = _probabilities(truth, score, size)
    chance = np.where(truth == 1, score, 1 - score)
    for item in np.flatnonzero(chance == 0)[:1]:
        rule = (
            "must not give an item's true class the probability 0: its log loss is infinite; "
            f"item {item} is {score[item]:g}"
        )
        raise checks.WrongValue("score", rule)
    return Totals(-np.log(chance), np.ones(size))


def _auc(truth: ArrayLike, score: ArrayLike, size: int) -> Callable:
    """Return a function for the AUC, in which ties count half [1]_.

    References
    ----------
    .. [1] Bamber, The area above the ordinal dominance graph and the area below the receiver
       operating characteristic graph, Journal of Mathematical Psychology 12, 1975: AUC as a
       probability, ties counted half.
    """
    positive = binary("truth", truth, size)
    score = checks.vector("score", score, size=size)
    order = np.argsort(score, kind="stable")
    starts = np.flatnonzero(np.diff(score[order], prepend=np.nan))
    is_positive = positive[order]

    def values(weight: Any) -> Any:
        ordered = weight[:, order]
        up = np.add.reduceat(ordered * is_positive, starts, 1)
        down = np.add.reduceat(ordered * (1 - is_positive), starts, 1)
        above = (up * (np.cumsum(down, 1) - down / 2)).sum(1)
        return ratio(above, up.sum(1) * down.sum(1))

    return values


def _quantile(y: ArrayLike, q: float, size: int) -> Callable:
    """Return a function for the q quantile, type 1 of [1]_.

    It is the smallest y for which at least a proportion q of the weight lies at or below it.

    References
    ----------
    .. [1] Hyndman & Fan, Sample quantiles in statistical packages, The American Statistician 50,
       1996: type 1.
    """
    y = checks.vector("y", y, size=size)
    q = checks.number("q", q, 0, 1)
    order = np.argsort(y, kind="stable")

    def values(weight: Any) -> Any:
        below = np.cumsum(weight[:, order], 1)
        total = below[:, -1:]
        reached = (below >= q * total * (1 - 1e-12)) & (below > 0)
        return np.where(total[:, 0] > 0, y[order][reached.argmax(1)], np.nan)

    return values


def _median(y: ArrayLike, size: int) -> Callable:
    return _quantile(y, 0.5, size)


def below_median(y: ArrayLike, rows: ndarray, weight: ndarray) -> tuple[ndarray, list]:
    """Return 1 below the median and 0 above; values at the median make the mean one half."""
    y = checks.vector("y", y, size=rows.size)
    middle = _median(y[rows], int(rows.sum()))(weight[None, rows])[0]
    weight = weight * rows
    under, at = weight[y < middle].sum(), weight[y == middle].sum()
    share_of_equal = (weight.sum() / 2 - under) / at
    return np.where(y == middle, share_of_equal, y < middle), [rows]


def _naive_median(y: ndarray) -> EstimateAndError:
    """Return the median and half the distance it moves if its proportion changes [1]_.

    The proportion changes by .5 / sqrt(n) in either direction.

    References
    ----------
    .. [1] Woodruff, Confidence intervals for medians and other position measures, JASA 47, 1952.
    """
    error = 0.5 / np.sqrt(y.size)
    shares = np.clip([0.5 - error, 0.5, 0.5 + error], 0.0, 1.0)
    weight = np.ones((1, y.size))
    low, middle, high = (float(_quantile(y, q, y.size)(weight)[0]) for q in shares.tolist())
    return middle, (high - low) / 2


def _number(value: Any) -> float:
    if np.ndim(value) != 0 or value is None:
        raise checks.WrongType("statistic", "must return one number", value)
    return float(value)


def _by_row(statistic: Callable) -> Callable:
    """Return the `Metric.values` of a function that takes one row of weights."""

    def values(*columns_and_size: Any) -> Callable:
        *columns, _ = columns_and_size
        return lambda weight: np.array([_number(statistic(row, *columns)) for row in weight])

    return values


def _auc_parts(
    truth: ArrayLike,
    score: ArrayLike,
    rows: ndarray,
    weight: ndarray,
) -> tuple[ndarray, list]:
    """Return the placements of both classes, and the classes; the AUC is the mean of each [1]_.

    References
    ----------
    .. [1] Bamber, The area above the ordinal dominance graph and the area below the receiver
       operating characteristic graph, Journal of Mathematical Psychology 12, 1975: AUC as a
       probability, ties counted half.
    """
    positive = binary("truth", truth, rows.size) == 1
    parts = positive & rows, ~positive & rows
    score = checks.vector("score", score, size=rows.size)
    return placements(parts, score, weight), list(parts)


def naive_auc(truth: ndarray, score: ndarray) -> EstimateAndError:
    """Return AUC and standard error, from the placements of each class in the other [1]_.

    References
    ----------
    .. [1] DeLong, DeLong & Clarke-Pearson, Comparing the areas under two or more correlated
       receiver operating characteristic curves, Biometrics 44, 1988: variance of the AUC of
       independent items.
    """
    positive = truth == 1
    parts = positive, ~positive
    placed = placements(parts, score, np.ones(score.size))
    variances = [placed[part].var(ddof=1) / part.sum() for part in parts if part.sum() > 1]
    return float(placed[positive].mean()), float(np.sqrt(sum(variances)))


def _naive_macro_f1(truth: ndarray, prediction: ndarray) -> EstimateAndError:
    """Return macro F1 and its standard error for independent items.

    The F1 of a class is 2 hits / (true + predicted). An item changes the F1 of its classes.
    """
    if truth.ndim == 2:
        occurs = (truth | prediction).any(0)
        hits = (truth & prediction)[:, occurs]
        members = (truth.astype(int) + prediction)[:, occurs]
        sizes = members.sum(0)
        f1 = 2 * hits.sum(0) / sizes
        moves = ((2 * hits - f1 * members) / sizes).mean(1)
        return float(f1.mean()), float(np.sqrt((moves**2).sum()))
    names, code = np.unique(np.concatenate([truth, prediction]), return_inverse=True)
    true, predicted = code.reshape(2, -1)
    right = true == predicted
    sizes = np.bincount(code)
    f1 = 2 * np.bincount(true, right, names.size) / sizes
    slopes = f1 / sizes
    moves = 2 * right / sizes[true] - slopes[true] - slopes[predicted]
    return float(f1.mean()), float(np.sqrt((moves**2).sum()) / names.size)


def _naive_balanced_accuracy(truth: ndarray, prediction: ndarray) -> EstimateAndError:
    names, code, size = np.unique(truth, return_inverse=True, return_counts=True)
    recall = np.bincount(code, truth == prediction) / size
    variance = (recall * (1 - recall) / size).sum()
    return float(recall.mean()), float(np.sqrt(variance) / names.size)


_ZERO_TO_ONE = (0.0, 1.0)
_PLUS_MINUS_ONE = (-1.0, 1.0)
_UNBOUNDED = (-np.inf, np.inf)
RANGES = {
    "proportion": _ZERO_TO_ONE,
    "share": _ZERO_TO_ONE,
    "agreement": _PLUS_MINUS_ONE,
    "correlation": _PLUS_MINUS_ONE,
    "positive": (0.0, np.inf),
    "bounded": _UNBOUNDED,
    "number": _UNBOUNDED,
}
_LABELS, _SCORES = ("truth", "prediction"), ("truth", "score")
_SETS = ("true_labels", "predicted_labels")
_ONE_VALUE = "it needs two classes or values"


def _f1_of_jaccard(mean: ndarray) -> ndarray:
    return 2 * mean / (1 + mean)


def _cut(mean: ndarray) -> ndarray:
    return np.clip(mean, *_PLUS_MINUS_ONE)


METRICS = {
    metric.name: metric
    for metric in (
        Metric("total", ("y",), _total, empty=""),
        Metric("ratio", ("y", "x"), _ratio_of, empty="the total of x is 0"),
        Metric(
            "accuracy",
            _LABELS,
            _accuracy,
            kind="proportion",
            about="items",
        ),
        Metric(
            "precision",
            _LABELS,
            _hits_of(0, 1),
            kind="proportion",
            empty="no item was predicted positive",
            about="class",
        ),
        Metric(
            "recall",
            _LABELS,
            _hits_of(1, 0),
            kind="proportion",
            empty="no item is truly positive",
            about="class",
        ),
        Metric(
            "f1",
            _LABELS,
            _hits_of(1, 1),
            kind="share",
            empty="no item is positive, truly or predicted",
            about="class",
            of_mean=_f1_of_jaccard,
        ),
        Metric(
            "macro_f1",
            _LABELS,
            kind="share",
            about="classes",
            of_each="f1",
            naive=_naive_macro_f1,
            empty="",
        ),
        Metric(
            "balanced_accuracy",
            _LABELS,
            kind="share",
            about="classes",
            of_each="recall",
            naive=_naive_balanced_accuracy,
            empty="",
        ),
        Metric(
            "kappa",
            _LABELS,
            moments=moments.kappa,
            kind="agreement",
            empty=_ONE_VALUE,
            about="items",
            of_mean=_cut,
        ),
        Metric(
            "mcc",
            _LABELS,
            moments=moments.mcc,
            kind="agreement",
            empty=_ONE_VALUE,
            about="items",
            of_mean=_cut,
        ),
        Metric(
            "micro_f1",
            _SETS,
            _hits_of(1, 1, _label_sets),
            kind="share",
            empty="no label is true or predicted",
            about="sets",
            title="micro F1",
            meaning="F1 of all pairs of an item and a label",
            of_mean=_f1_of_jaccard,
            parts=_parts_of_sets(1, 1),
        ),
        Metric(
            "micro_precision",
            _SETS,
            _hits_of(0, 1, _label_sets),
            kind="share",
            empty="no label was predicted",
            about="sets",
            title="micro precision",
            meaning="the proportion of all predicted labels that are true",
            parts=_parts_of_sets(0, 1),
        ),
        Metric(
            "micro_recall",
            _SETS,
            _hits_of(1, 0, _label_sets),
            kind="share",
            empty="no item has a label",
            about="sets",
            title="micro recall",
            meaning="the proportion of all true labels that were predicted",
            parts=_parts_of_sets(1, 0),
        ),
        Metric(
            "exact_match",
            _SETS,
            _exact_match,
            kind="proportion",
            about="sets",
            title="exact match",
            meaning="the proportion of items whose labels are all correct",
        ),
        Metric(
            "hamming_loss",
            _SETS,
            _hamming_loss,
            kind="share",
            about="sets",
            title="Hamming loss",
            meaning="the proportion of pairs of an item and a label that are incorrect",
            lower_is_better=True,
        ),
        Metric("brier", _SCORES, _brier, kind="share", about="class", lower_is_better=True),
        Metric(
            "log_loss",
            _SCORES,
            _log_loss,
            kind="positive",
            about="class",
            lower_is_better=True,
        ),
        Metric(
            "rmse",
            _LABELS,
            moments=moments.rmse,
            kind="positive",
            about="items",
            lower_is_better=True,
        ),
        Metric(
            "correlation",
            _LABELS,
            moments=moments.correlation,
            kind="correlation",
            empty=_ONE_VALUE,
            about="items",
        ),
        Metric(
            "median",
            ("truth",),
            values=_median,
            about="items",
            parts=below_median,
            ends=lambda y: _ZERO_TO_ONE,
            naive=_naive_median,
        ),
        Metric("mean", ("y",), _mean, about="value"),
        Metric(
            "proportion",
            ("y",),
            _proportion,
            kind="proportion",
            about="label",
        ),
        Metric(
            "auc",
            _SCORES,
            values=_auc,
            kind="share",
            empty="it needs both positive and negative items",
            about="class",
            parts=_auc_parts,
            naive=naive_auc,
        ),
        Metric(
            "identified",
            ("y",),
            _proportion,
            kind="proportion",
            about="rank",
            title="identified by rank",
        ),
        Metric(
            "mean_rank",
            ("y", "most"),
            _mean_rank,
            kind="bounded",
            about="ranks",
            title="mean rank",
            ends=lambda y, most: (1.0, float(most)),
            lower_is_better=True,
        ),
        Metric("quantile", ("y", "q"), values=_quantile, empty=""),
    )
}
