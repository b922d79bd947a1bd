"""Statistics that are functions of several means, such as kappa, correlation and RMSE."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy import ndarray
from numpy.typing import ArrayLike

from workbench import checks

Bounds = tuple[float, float]
MOST_CLASSES = 100
STEP = 1e-100


@dataclass(frozen=True)
class Moments:
    """A function of the means of columns.

    Attributes
    ----------
    columns : (n, C) array
    of : callable
        Function from means (..., C) to the statistic (...). It is not finite where the statistic is
        undefined, and smooth for complex numbers, too.
    possible : (V, C) array or None
        All rows that the columns can have; None if there are infinitely many.
    """

    columns: ndarray
    of: Callable[[ndarray], ndarray]
    possible: ndarray | None = None

    def of_totals(self, totals: ndarray) -> ndarray:
        """Return the statistic (...) from totals (..., 1 + C) of weights and weighted columns."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return self.of(totals[..., 1:] / totals[..., :1])

    def linear(self, weight: ndarray) -> tuple[ndarray, Bounds | None]:
        """Return values (n,) whose weighted mean is the statistic, and their bounds.

        In other samples their mean is the statistic to first order. Slopes are computed by complex
        steps [1]_.

        Parameters
        ----------
        weight : (n,) array
            Weights of the items, 0 for those that do not count.

        References
        ----------
        .. [1] Squire & Trapp, Using complex variables to estimate derivatives of real functions,
           SIAM Review 40, 1998.
        """
        mean = weight @ self.columns / weight.sum()
        with np.errstate(divide="ignore", invalid="ignore"):
            steps = 1j * STEP * np.eye(mean.size)
            slope = np.nan_to_num(self.of(mean + steps).imag / STEP)
            value = self.of(mean)
        values = value + (self.columns - mean) @ slope
        if self.possible is None:
            return values, None
        possible = value + (self.possible - mean) @ slope
        return values, (float(possible.min()), float(possible.max()))


def correlation(truth: ArrayLike, prediction: ArrayLike, size: int) -> Moments:
    """Return the moments of Pearson's correlation of two columns of numbers."""
    x, y = (column - column.mean() for column in _numbers(truth, prediction, size))
    columns = np.stack([x, y, x * x, y * y, x * y], 1)
    return Moments(columns, _correlated)


def _correlated(mean: ndarray) -> ndarray:
    x, y, xx, yy, xy = np.moveaxis(mean, -1, 0)
    covariance = xy - x * y
    return covariance / np.sqrt((xx - x * x) * (yy - y * y))


def rmse(truth: ArrayLike, prediction: ArrayLike, size: int) -> Moments:
    """Return the moments of the root mean squared difference of two columns of numbers."""
    x, y = _numbers(truth, prediction, size)
    squares = (x - y) ** 2
    return Moments(squares[:, None], lambda mean: np.sqrt(mean[..., 0]))


def _numbers(truth: ArrayLike, prediction: ArrayLike, size: int) -> list[ndarray]:
    columns = {"truth": truth, "prediction": prediction}
    return [checks.vector(name, column, size=size) for name, column in columns.items()]


def kappa(truth: ArrayLike, prediction: ArrayLike, size: int) -> Moments:
    """Return the moments of the agreement beyond chance [1]_, (a - e) / (1 - e).

    a is the proportion of items that agree. e is the proportion expected from the class
    proportions.

    References
    ----------
    .. [1] Cohen, A coefficient of agreement for nominal scales, Educational and Psychological
       Measurement 20, 1960.
    """

    def scale(true: ndarray, predicted: ndarray) -> ndarray:
        return 1 - (true * predicted).sum(-1)

    return _of_classes(truth, prediction, size, scale)


def mcc(truth: ArrayLike, prediction: ArrayLike, size: int) -> Moments:
    """Return the moments of Matthews' correlation of K classes [1]_.

    Let a and e be as in `kappa`, and let p be the class proportions of the truth or of the
    predictions. The correlation is a - e divided by the square root of the product of both 1 - sum
    p^2.

    References
    ----------
    .. [1] Gorodkin, Comparing two K-category assignments by a K-category correlation coefficient,
       Computational Biology and Chemistry 28, 2004.
    """

    def scale(true: ndarray, predicted: ndarray) -> ndarray:
        spread_of_true = 1 - (true**2).sum(-1)
        spread_of_predicted = 1 - (predicted**2).sum(-1)
        return np.sqrt(spread_of_true * spread_of_predicted)

    return _of_classes(truth, prediction, size, scale)


def refuse_many_classes(statistic: str, count: int) -> None:
    """Raise if there are too many classes for a mean over classes."""
    if count > MOST_CLASSES:
        raise ValueError(
            f"{statistic} takes at most {MOST_CLASSES} classes; got {count:,}: use accuracy, or "
            "name the positive class"
        )


def alike_labels(truth: ArrayLike, prediction: ArrayLike, size: int) -> tuple[ndarray, ndarray]:
    """Return both columns of labels, or raise if one is text and the other numbers."""
    truth = checks.labels("truth", truth, size=size)
    prediction = checks.labels("prediction", prediction, size=size)
    if (truth.dtype.kind in "US") != (prediction.dtype.kind in "US"):
        raise TypeError(
            f"truth and prediction must both be text or both numbers; got {truth[0].item()!r} "
            f"and {prediction[0].item()!r}"
        )
    return truth, prediction


def _of_classes(
    truth: ArrayLike,
    prediction: ArrayLike,
    size: int,
    scale: Callable[..., ndarray],
) -> Moments:
    """Return agreement beyond chance divided by a scale, a function of the class proportions."""
    labels = np.concatenate(alike_labels(truth, prediction, size))
    names, code = np.unique(labels, return_inverse=True)
    if names.size > MOST_CLASSES:
        raise ValueError(
            f"kappa and mcc take at most {MOST_CLASSES} classes; got {names.size:,}: use accuracy"
        )

    indicators = np.eye(names.size)

    def rows(true: ndarray, predicted: ndarray) -> ndarray:
        return np.column_stack([true == predicted, indicators[true], indicators[predicted]])

    def of_means(mean: ndarray) -> ndarray:
        agreement, true, predicted = np.split(mean, [1, 1 + names.size], -1)
        beyond = agreement[..., 0] - (true * predicted).sum(-1)
        return beyond / scale(true, predicted)

    pairs = np.indices((names.size, names.size))
    possible = rows(*pairs.reshape(2, -1))
    return Moments(rows(*code.reshape(2, -1)), of_means, possible)
