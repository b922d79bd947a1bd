"""Learners that cross-validate many samples at once, and the populations of these samples.

One matrix of squared distances gives the losses of all folds, halves and repeats of a sample: the
training set of a fold is all columns but its own. Read `Population` and `Samples` first, then
`as_learner`, which turns every learner into a function of samples and folds.
"""

import functools
import importlib.util
import math
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy import ndarray
from numpy.typing import ArrayLike

from workbench import checks
from workbench.checks import WrongType, WrongValue, counted, listed
from workbench.cross_validation.losses import LOSSES
from workbench.cross_validation.sources import refuse_extreme

POPULATIONS = ("digits", "ten_digits")
MOST_KEPT = 3000
MOST_NUMBERS = 2**28
CHUNK = 2**24


@dataclass(frozen=True, eq=False)
class Population:
    """Items from which samples are drawn.

    Attributes
    ----------
    X : (N, p) array of float
        Features.
    y : (N,) array of int
        Class, 0 to C - 1.
    name : str
        Name of the population.
    distances : dict
        Squared distances (N, N) by columns, stored for small populations.
    target : (N,) array or None
        Values that regressors learn, as the caller passed them; None if they are y.
    """

    X: ndarray
    y: ndarray
    name: str
    distances: dict = field(default_factory=dict)
    target: ndarray | None = None

    @classmethod
    def of(cls, population: Any) -> "Population":
        """Return a population from its name, or from (X, y)."""
        if isinstance(population, Population):
            return population
        if isinstance(population, str):
            return _digits(checks.choice("population", population, POPULATIONS))
        if not isinstance(population, (tuple, list)) or len(population) != 2:
            rule = f"must be one of {listed(POPULATIONS, quoted=True)}, or (X, y)"
            raise WrongType("population", f"{rule}; got {type(population).__name__}")
        X = checks.floats("X of the population", population[0])
        if X.ndim != 2 or not X.size:
            rule = "must be (X, y) with items as rows and features as columns of X"
            raise WrongValue("population", f"{rule}; got shape {X.shape}")
        checks.refuse_infinite("population", X, "item", "feature")
        refuse_extreme("population", X)
        target = checks.labels("y", population[1], size=len(X))
        classes, y = np.unique(target, return_inverse=True)
        if classes.size < 2:
            rule = f"must have at least 2 classes; all items are {classes[0].item()!r}"
            raise WrongValue("population", rule)
        return cls(X, y, "given data", target=target)

    @property
    def classes(self) -> int:
        """Return the number of classes."""
        return int(self.y.max()) + 1

    def numbers(self) -> ndarray:
        """Return the numbers (N,) that a regressor learns."""
        target = self.y if self.target is None else self.target
        if target.dtype.kind not in "biuf":
            rule = "must hold numbers if the learner is a regressor"
            raise WrongValue("y", rule, told=f"got text such as {target[0].item()!r}")
        target = checks.vector("y", target, what="item", copy=False)
        refuse_extreme("y", target)
        return target

    def between(self, rows: ndarray, columns: Sequence[int] | None) -> ndarray:
        """Return squared distances (B, n, n) between the items of each sample, rows (B, n)."""
        n = rows.shape[1]
        refuse_large("n", n, n)
        X = self.features(columns)
        if len(X) > MOST_KEPT:
            step = max(1, CHUNK // (n * X.shape[1]))
            distances = []
            for start in range(0, len(rows), step):
                part = rows[start : start + step]
                distances.append(squared_distances(X[part]))
            return np.concatenate(distances)
        key = _key(columns)
        if key not in self.distances:
            self.distances[key] = _from_products(_single_where_exact(_centered(X)))
        first = rows[:, :, None]
        second = rows[:, None, :]
        return np.take(self.distances[key].ravel(), first * len(X) + second)

    def features(self, columns: Sequence[int] | None) -> ndarray:
        """Return the named columns of X (None is all)."""
        if columns is None:
            return self.X
        features = self.X.shape[1]
        if np.min(columns) < 0 or np.max(columns) >= features:
            rule = f"must be from 0 to {features - 1}, the features of the population"
            raise WrongValue("columns", rule, told=f"got {np.min(columns)} to {np.max(columns)}")
        return self.X[:, columns]


@dataclass(frozen=True, eq=False)
class Samples:
    """Samples of one size from a population.

    Attributes
    ----------
    population : Population
        Population of the samples.
    rows : (B, n) array of int
        Rows of the population in each sample.
    seed : int
        Seed for estimators that use random numbers.
    known : dict
        Squared distances (B, n, n) by columns.
    """

    population: Population
    rows: ndarray
    seed: int = 0
    known: dict = field(default_factory=dict)

    @property
    def y(self) -> ndarray:
        """Return the classes of the samples, (B, n)."""
        return self.population.y[self.rows]

    def distances(self, columns: Sequence[int] | None) -> ndarray:
        """Return squared distances (B, n, n) in the named columns (None is all)."""
        key = _key(columns)
        if key not in self.known:
            self.known[key] = self.population.between(self.rows, columns)
        return self.known[key]

    def subset(self, items: ndarray) -> "Samples":
        """Return the same items of every sample, with the distances computed so far."""
        distances = {}
        for key, between in self.known.items():
            part = between[:, items][:, :, items]
            distances[key] = np.ascontiguousarray(part)
        return Samples(self.population, self.rows[:, items], self.seed, distances)


def _key(columns: Sequence[int] | None) -> tuple | None:
    return None if columns is None else tuple(columns)


def refuse_large(name: str, *shape: int) -> None:
    """Raise if an array would have more than `MOST_NUMBERS` numbers.

    Examples
    --------
    >>> refuse_large("n", 10**5, 10**5)
    Traceback (most recent call last):
    ValueError: n would need an array of 100,000 x 100,000 numbers; the limit is 268,435,456
    """
    if math.prod(shape) > MOST_NUMBERS:
        size = " x ".join(f"{length:,}" for length in shape)
        raise ValueError(
            f"{name} would need an array of {size} numbers; the limit is {MOST_NUMBERS:,}"
        )


def squared_distances(X: ndarray) -> ndarray:
    """Return squared distances (..., n, n) between the rows of an array (..., n, p).

    They are exact for whole numbers.

    Examples
    --------
    >>> squared_distances(np.array([[0., 0], [3, 4]])).tolist()
    [[0.0, 25.0], [25.0, 0.0]]
    >>> squared_distances(np.array([[1e8, 0.25], [1e8 + 1, 0]])).tolist()
    [[0.0, 1.0625], [1.0625, 0.0]]
    """
    return _from_products(_centered(X))


def _from_products(X: ndarray) -> ndarray:
    length = (X**2).sum(-1)
    distances = X @ X.swapaxes(-1, -2)  # changing it in place is a third faster
    distances *= -2
    distances += length[..., :, None]
    distances += length[..., None, :]
    return distances


def _centered(X: ndarray) -> ndarray:
    """Return X (..., n, p) minus the means of its features, because large means cost digits.

    Means are rounded to a power of two of at most 1 and at most the feature's range. Whole numbers
    then stay whole, and equal distances stay equal.
    """
    spread = np.clip(np.ptp(X, -2, keepdims=True), 2.0**-500, 1)
    step = np.exp2(np.floor(np.log2(spread)))
    return X - np.round(X.mean(-2, keepdims=True) / step) * step


def _single_where_exact(X: ndarray) -> ndarray:
    """Return small whole numbers in single precision, in which their distances are exact."""
    exact = (X == np.floor(X)).all() and 4 * (X**2).sum(-1).max() < 2**24
    return X.astype(np.float32) if exact else X


def nearest_neighbor(
    samples: Samples, fold: ndarray, columns: Sequence[int] | None = None
) -> ndarray:
    """Return 0/1 losses (B, n) of the class of the nearest item outside the fold.

    The first of several nearest items is used.

    Examples
    --------
    >>> population = Population.of(([[0], [1], [5], [6]], [0, 0, 1, 1]))
    >>> samples = Samples(population, np.array([[0, 1, 2, 3]]))
    >>> nearest_neighbor(samples, np.array([0, 1, 0, 1])).tolist()
    [[False, False, False, False]]
    """
    distances = samples.distances(columns)
    y = samples.y
    own = np.where(fold[:, None] == fold, np.inf, 0.0).astype(distances.dtype)
    return np.take_along_axis(y, (distances + own).argmin(-1), 1) != y


def nearest_centroid(
    samples: Samples, fold: ndarray, columns: Sequence[int] | None = None
) -> ndarray:
    """Return 0/1 losses (B, n) of the class whose mean outside the fold is nearest.

    Examples
    --------
    >>> population = Population.of(([[0], [1], [5], [6]], [0, 0, 1, 1]))
    >>> samples = Samples(population, np.array([[0, 1, 2, 3]]))
    >>> nearest_centroid(samples, np.array([0, 1, 0, 1])).tolist()
    [[False, False, False, False]]
    """
    X = _centered(samples.population.features(columns)[samples.rows])
    y = samples.y
    classes = np.arange(samples.population.classes)
    member = (y[:, None, :] == classes[:, None]).astype(float)
    total = member @ X
    count = member.sum(-1)
    loss = np.empty(y.shape, bool)
    for k in np.unique(fold):
        own = fold == k
        inside = X[:, own]
        member_inside = member[:, :, own]
        train_count = count - member_inside.sum(-1)
        with np.errstate(invalid="ignore"):
            mean = (total - member_inside @ inside) / train_count[..., None]
        # without the squared length of the item, which is the same for every class
        squares = (mean**2).sum(-1)
        distance = squares[:, None] - 2 * inside @ mean.swapaxes(1, 2)
        distance[np.isnan(distance)] = np.inf
        nearest = distance.argmin(-1)
        loss[:, own] = nearest != y[:, own]
    return loss


def estimator_losses(
    estimator: Any,
    samples: Samples,
    fold: ndarray,
    columns: Sequence[int] | None = None,
) -> ndarray:
    """Return losses (B, n) of a scikit-learn estimator.

    These are 0/1 losses of a classifier, or squared errors of a regressor. If the training items
    have only one class, that class is predicted.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> population = Population.of(([[0], [1], [5], [6]], [0, 0, 1, 1]))
    >>> samples = Samples(population, np.array([[0, 1, 2, 3]]))
    >>> estimator_losses(DecisionTreeClassifier(), samples, np.array([0, 1, 0, 1])).tolist()
    [[False, False, False, False]]
    """
    from sklearn import base

    loss = loss_of(estimator)
    features = samples.population.features(columns)
    target = samples.population.y if loss == "zero_one" else samples.population.numbers()
    losses = np.empty(samples.rows.shape, bool if loss == "zero_one" else float)
    splits = []
    for k in np.unique(fold):
        own = fold == k
        splits.append((np.flatnonzero(~own), np.flatnonzero(own)))
    model = base.clone(estimator)
    unseeded = model.get_params().get("random_state", 0) is None
    for b, rows in enumerate(samples.rows):
        X = features[rows]
        y = target[rows]
        if unseeded:
            model.set_params(random_state=(samples.seed + b) % 2**32)
        for train, test in splits:
            predicted = y[train[0]]
            if loss == "squared" or np.any(y[train] != predicted):
                model.fit(X[train], y[train])
                predicted = model.predict(X[test])
            losses[b, test] = LOSSES[loss](y[test], np.ravel(predicted))
    return losses


def loss_of(learner: Any) -> str:
    """Return the loss of a learner, or of a (learner, columns) pair.

    It is "squared" for a regressor and "zero_one" for all others.

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> loss_of((LinearRegression(), [0, 1])), loss_of("1nn")
    ('squared', 'zero_one')
    """
    learner = learner[0] if isinstance(learner, tuple) else learner
    if hasattr(learner, "__sklearn_tags__"):
        from sklearn import base

        regressor = base.is_regressor(learner)
    else:  # scikit-learn before 1.6, and estimators of other libraries
        regressor = getattr(learner, "_estimator_type", None) == "regressor"
    return "squared" if regressor else "zero_one"


LEARNERS = {"1nn": nearest_neighbor, "centroid": nearest_centroid}


def as_learner(name: str, learner: Any) -> tuple[Callable, str]:
    """Return losses(samples, fold) and a label from a learner or a (learner, columns) pair.

    Examples
    --------
    >>> as_learner("first", ("1nn", [0, 2]))[1]
    '1nn on 2 features'
    """
    learner, columns = learner if isinstance(learner, tuple) else (learner, None)
    part = ""
    if columns is not None:
        columns = checks.plain_array(f"columns of {name}", columns)
        if columns.ndim != 1 or not columns.size or columns.dtype.kind not in "iu":
            rule = "must be a list of feature numbers"
            told = f"got {columns.dtype} of shape {columns.shape}"
            raise WrongValue(f"columns of {name}", rule, told=told)
        part = f" on {counted(columns.size, 'feature')}"
    if isinstance(learner, str):
        losses_of = LEARNERS[checks.choice(name, learner, LEARNERS)]
        return lambda samples, fold: losses_of(samples, fold, columns), learner + part
    if not (hasattr(learner, "fit") and hasattr(learner, "predict")):
        rule = f"must be one of {listed(LEARNERS, quoted=True)} or have fit and predict"
        raise WrongType(name, rule, learner)
    label = type(learner).__name__ + part
    return lambda samples, fold: estimator_losses(learner, samples, fold, columns), label


def named_learner(text: str) -> Any:
    """Return a learner from its name or from "module:object".

    A class is called without arguments.

    Examples
    --------
    >>> named_learner("1nn"), named_learner("sklearn.tree:DecisionTreeClassifier")
    ('1nn', DecisionTreeClassifier())
    """
    if text in LEARNERS:
        return text
    module, _, name = text.partition(":")
    try:
        learner = functools.reduce(getattr, name.split("."), importlib.import_module(module))
    except (ImportError, AttributeError, ValueError) as error:
        rule = f"must be one of {listed(LEARNERS, quoted=True)} or module:object"
        raise WrongValue("learner", rule, told=f"got {text!r}: {error}") from error
    return learner() if isinstance(learner, type) else learner


def gaussian_population(
    size: int = 20_000,
    *,
    features: int = 8,
    separation: float = 1.0,
    advantage: float = 0.0,
    rng: int | np.random.Generator = 0,
) -> tuple[ndarray, ndarray]:
    """Simulate a population of two classes that two learners see through different features.

    Use it to study tests of two learners whose true difference is known.

    Parameters
    ----------
    size : int, default 20,000
        Number of items N, at least 2.
    features : int, default 8
        Number of features p per learner. The first learner sees columns 0 to p - 1, the second p to
        2p - 1.
    separation : float, default 1
        Distance of the class means in the columns of the first learner, in standard deviations.
    advantage : float, default 0
        Additional distance in the columns of the second learner. At 0, every row is followed by the
        same row with exchanged halves, so that two equal learners have exactly the same expected
        error.
    rng : int or numpy.random.Generator
        Seed or generator of the random numbers.

    Returns
    -------
    X : (N, 2 p) array
        Features of the items.
    y : (N,) array of int
        Class of each item, 0 or 1.

    See Also
    --------
    exchangeable_population : Make two learners exactly equal in any population.
    simulate_type_one : Error rates of tests in such a population.

    Examples
    --------
    >>> X, y = gaussian_population(1000, features=3)
    >>> bool((X[500:, :3] == X[:500, 3:]).all())
    True
    """
    size = checks.whole("size", size, 2)
    features = checks.whole("features", features, 1)
    separation = checks.number("separation", separation, 0)
    advantage = checks.number("advantage", advantage)
    rng = checks.generator(rng)
    refuse_large("size and features", size, 2 * features)
    drawn = size if advantage else size // 2
    y = np.arange(drawn) % 2
    shift = np.repeat([separation, separation + advantage], features) / features**0.5
    X = rng.normal(size=(drawn, 2 * features))
    X += np.where(y[:, None], shift, -shift) / 2
    return (X, y) if advantage else exchangeable_population(X, y)


def exchangeable_population(X: ArrayLike, y: ArrayLike) -> tuple[ndarray, ndarray]:
    """Append a copy of every row of (X, y) with the two halves of its features exchanged.

    Equal learners, one on the first and one on the second half of the columns, then have the same
    expected error, whatever X and y are. The null hypothesis is thus exactly true.

    Parameters
    ----------
    X : (N, 2 p) array_like
        Features, finite numbers.
    y : (N,) array_like
        Classes, or numbers for regressors; none may be missing.

    Returns
    -------
    X : (2 N, 2 p) array
        Features of the given rows, then of the rows with exchanged halves.
    y : (2 N,) array
        Classes or numbers, repeated.

    See Also
    --------
    gaussian_population : Simulate a population of two classes.
    simulate_type_one : Error rates of tests in such a population.

    Examples
    --------
    >>> exchangeable_population([[1, 2]], [0])[0].tolist()
    [[1, 2], [2, 1]]
    """
    X = checks.plain_array("X", X)
    if X.ndim != 2 or X.shape[1] % 2 or X.dtype.kind not in "biuf":
        raise ValueError(
            "X must contain numbers and have an even number of features, half for each learner; "
            f"got {X.dtype} of shape {X.shape}"
        )
    checks.refuse_infinite("X", X, "item", "feature")
    y = checks.labels("y", y, size=len(X))
    exchanged = np.roll(X, X.shape[1] // 2, axis=1)
    return np.vstack([X, exchanged]), np.concatenate([y, y])


@functools.cache
def _digits(name: str) -> Population:
    if name == "digits":  # the same items in two classes, so they share their distances
        ten = _digits("ten_digits")
        return Population(ten.X, (ten.y >= 5).astype(int), name, ten.distances)
    sklearn: Any = importlib.util.find_spec("sklearn")  # importing scikit-learn takes seconds
    folder = os.path.dirname(sklearn.origin)
    path = os.path.join(folder, "datasets", "data", "digits.csv.gz")
    rows = np.loadtxt(path, delimiter=",")
    return Population(rows[:, :-1], rows[:, -1].astype(int), name)
