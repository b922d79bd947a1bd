"""Bias and variance of the estimators of the proportion of one of two classes, to order 1/n.

`setting` computes the terms that the formulas share. Below it are the formulas in closed form, one
function per estimator. Notation:

- a and t: base rates when audited and now;
- d: p00 + p11 - 1;
- b1 = a p11 + (1 - a)(1 - p00): the predicted proportion of class 1; b0 = 1 - b1;
- c11 = a p11 / b1 and c10 = a (1 - p11) / b0: P(true 1 | predicted 1) and P(true 1 | predicted 0).

References
----------
.. [1] Kloos, A new generic method to improve machine learning applications in official statistics,
   Statistical Journal of the IAOS 37, 2021. Its equations 5 and 64 contain the covariance of
   equation 63 once. Equation 20 contains it twice, and simulations agree with equation 20.
"""

from types import SimpleNamespace as Terms
from typing import Any

import numpy as np
from numpy import ndarray

from workbench.checks import LARGEST, WrongValue, floats
from workbench.intervals import quantile

LEAST = 1e-9  # the smallest proportion of a class: one item in a billion
Pair = tuple[Any, Any]


def setting(
    a: Any,
    t: Any,
    p00: Any,
    p11: Any,
    n: Any,
    size: Any = None,
    new_size: Any = None,
    rates: str = "process",
) -> Terms:
    """Return the terms that the formulas have in common; all arguments may be arrays.

    Parameters
    ----------
    a, t : float
        True proportion of class 1 when the audit was sampled, and now.
    p00, p11 : float
        P(predicted correctly | true class 0) and P(predicted correctly | true class 1).
    n : int
        Number of audited items.
    size, new_size : int
        Number of items counted at audit time and now; None for very many.
    rates : {"process", "frame"}

    Returns
    -------
    SimpleNamespace
        The arguments a, t, p00, p11 and n, the terms d, b1, b0, c11 and c10 of this module, and

        - a0, t0: 1 - a and 1 - t;
        - delta: the change t - a;
        - t1: the predicted proportion now;
        - phi2: the squared Matthews correlation;
        - left_out: the finite-population correction;
        - m: the size of an audit with the same variance and no finite-population correction; it is
          infinite if the whole frame was audited;
        - v1, v0: the variances of the estimated p11 and p00;
        - slope: the squared coefficient of variation of the estimated d;
        - new_counts, frame_counts: the variances of the predicted proportions now and at audit
          time;
        - zero: 0 in the shape of the setting.
    """
    s = Terms(
        a=a,
        t=t,
        p00=p00,
        p11=p11,
        n=n,
    )
    s.delta = t - a
    s.a0 = 1 - a
    s.t0 = 1 - t
    s.zero = 0 * (a + t + p00 + p11)
    s.d = p00 + p11 - 1
    s.b1 = counted_share(a, p00, p11)
    s.b0 = 1 - s.b1
    s.t1 = counted_share(t, p00, p11)
    s.c11 = a * p11 / s.b1
    s.c10 = a * (1 - p11) / s.b0
    explained = s.d * s.d * a * s.a0
    s.phi2 = explained / (s.b0 * s.b1)
    s.left_out = 1 - n / size if rates == "frame" and size else 1.0
    with np.errstate(divide="ignore"):
        s.m = np.divide(n, s.left_out)
    s.v1 = s.left_out * _rate_variance(p11, a, n)
    s.v0 = s.left_out * _rate_variance(p00, s.a0, n)
    s.slope = (s.v0 + s.v1) / s.d**2
    spread1 = _item_variance(p11)
    spread0 = _item_variance(p00)
    new_spread = t * spread1 + s.t0 * spread0
    s.new_counts = new_spread / (np.inf if new_size is None else new_size)
    frame_spread = a * spread1 + s.a0 * spread0
    s.frame_counts = frame_spread / (size if size and rates == "process" else np.inf)
    return s


def counted_share(base_rate: Any, p00: Any, p11: Any) -> Any:
    """Return the expected predicted proportion for a true one, a p11 + (1 - a)(1 - p00).

    Examples
    --------
    >>> round(counted_share(0.1, 0.92, 0.98), 3)
    0.17
    """
    return base_rate * p11 + (1 - base_rate) * (1 - p00)


def rate_variance(rate: Any, share: Any, n: Any) -> Any:
    """Return the variance of an audited rate to second order in 1/n.

    Parameters
    ----------
    rate : float or array of float
        P(predicted correctly) for items of the class: p11 or p00.
    share : float or array of float
        True proportion of that class among the audited items, in (0, 1].
    n : int or array of int
        Number of audited items, at least 1.

    Returns
    -------
    float or array of float
        The variance rate (1 - rate) / (n share) [1 + (1 - share) / (n share)].

    See Also
    --------
    estimator_theory : Compute bias and variance of the estimators.

    Notes
    -----
    The formula is lemma 1 of [1]_.

    References
    ----------
    .. [1] Kloos, A new generic method to improve machine learning applications in official
       statistics, Statistical Journal of the IAOS 37, 2021.

    Examples
    --------
    >>> round(rate_variance(0.7, 0.5, 1000) ** 0.5, 5)
    0.0205
    """
    rate = floats("rate", rate)
    share = floats("share", share)
    n = floats("n", n)
    _refuse_outside("rate", rate, 0, 1)
    _refuse_outside("share", share, LEAST, 1)
    _refuse_outside("n", n, 1, LARGEST)
    variance = _rate_variance(rate, share, n)
    return variance if variance.ndim else float(variance)


def _refuse_outside(
    name: str,
    values: ndarray,
    least: float,
    most: float,
) -> None:
    outside = values[~((values >= least) & (values <= most))]
    if outside.size:
        raise WrongValue(name, f"must be from {least:g} to {most:g}", outside[0])


def _rate_variance(rate: Any, share: Any, n: Any) -> Any:
    first_order = _item_variance(rate) / (n * share)
    return first_order * (1 + (1 - share) / (n * share))


def _item_variance(probability: Any) -> Any:
    """Return the variance of an item that is 1 with this probability, else 0."""
    return probability * (1 - probability)


def hull(table: ndarray, counts: ndarray, level: float) -> tuple[ndarray, ndarray]:
    """Return limits (...,) of the second class that contain the delta method's and Fieller's.

    z is the normal quantile. Of N counted items, x are predicted in the class. Of n audited items
    of a true class, some are predicted correctly. The two methods add different counts:

    - the delta method uses the rates (correct + 1/2) / (n + 1) with variances over n + 1, and the
      predicted proportion x / N;
    - Fieller's method uses the rates (correct + 1) / (n + 2) with variances over n + 2, and the
      predicted proportion (x + z^2 / 2) / (N + z^2).

    The limits are 0 and 1 if a class was not audited or if d is not clearly above 0.

    Parameters
    ----------
    table : (..., 2, 2) array
        The audit, without added counts.
    counts : (..., 2) array
    level : float
    """
    z = quantile(level)
    audited = table.sum(-1)
    z2 = z * z
    correct = np.einsum("...kk->...k", table)

    def terms(added: float, more: float) -> tuple:
        """Return d, the numerator, and the variances of p00, p11 and the predicted proportion."""
        n = audited + 2 * added
        size = counts.sum(-1) + more
        rates = (correct + added) / n
        share = (counts[..., 1] + more / 2) / size
        v0, v1 = np.moveaxis(_item_variance(rates) / n, -1, 0)
        numerator = share + rates[..., 0] - 1
        return rates.sum(-1) - 1, numerator, v0, v1, _item_variance(share) / size

    with np.errstate(divide="ignore", invalid="ignore"):
        d, u, v0, v1, v_count = terms(0.5, 0)
        center = u / d
        variance = (1 - center) ** 2 * v0 + center**2 * v1 + v_count
        reach = z * np.sqrt(variance) / d
        d, u, v0, v1, v_count = terms(1, z2)
        a = d * d - z2 * (v0 + v1)
        b = u * d - z2 * v0
        c = u * u - z2 * (v_count + v0)
        root = np.sqrt(b * b - a * c)
        low = np.fmin(center - reach, (b - root) / a)
        high = np.fmax(center + reach, (b + root) / a)
    bounded = (a > 0) & (d > 0) & (audited > 0).all(-1)
    low = np.where(bounded, np.clip(low, 0, 1), 0.0)
    return low, np.where(bounded, np.clip(high, 0, 1), 1.0)


def baseline(s: Terms) -> Pair:
    """Return bias and variance of the proportion in the audit."""
    bias = s.a - s.t
    variance = _item_variance(s.a) / s.m
    return bias + s.zero, variance + s.zero


def classify_and_count(s: Terms) -> Pair:
    """Return bias and variance of the classify-and-count estimate."""
    return s.t1 - s.t, s.new_counts + s.zero


def subtracted_bias(s: Terms) -> Pair:
    """Return bias and variance of the count minus its estimated bias."""
    from_audit = (1 - s.t1) ** 2 * s.v0 + s.t1**2 * s.v1
    from_counts = s.new_counts * ((2 - s.d) ** 2 + s.v0 + s.v1)
    bias = (1 - s.d) * (s.t1 - s.t)
    return bias, from_audit + from_counts


def misclassification(s: Terms) -> Pair:
    """Return bias and variance of the count times the inverse of P(prediction | truth)."""
    bias = s.t * s.v1 - s.t0 * s.v0
    variance = s.t0**2 * s.v0 + s.t**2 * s.v1 + s.new_counts
    d2 = s.d**2
    return bias / d2, variance / d2


def calibration(s: Terms) -> Pair:
    """Return bias and variance of the count times P(truth | prediction)."""
    from_counts = s.new_counts * (s.c11 - s.c10) ** 2
    return -s.delta * (1 - s.phi2), _calibrated_variance(s, s.t1) + from_counts


def _calibrated_variance(s: Terms, share: Any) -> Any:
    """Return the variance of a calibrated proportion that comes from the audit."""
    v1 = share**2 * _rate_variance(s.c11, s.b1, s.n)
    v0 = (1 - share) ** 2 * _rate_variance(s.c10, s.b0, s.n)
    return s.left_out * (v0 + v1)


def mixed(s: Terms) -> Pair:
    """Return bias and variance of the calibrated proportion plus the predicted change over d."""
    return s.delta * s.slope, _mixed_variance(s, s.slope, 1)


def second_order(s: Terms) -> Any:
    """Return the variance of "mixed" with the next order of 1/n."""

    def third_moment(rate: Any, share: Any) -> Any:
        """Return the third central moment of the estimated rate of a class."""
        return _item_variance(rate) * (1 - 2 * rate) / (s.m * share) ** 2

    kappa = third_moment(s.p00, s.a0) + third_moment(s.p11, s.a)
    slope = s.slope + 8 * s.slope**2 - 2 * kappa / s.d**3
    return _mixed_variance(s, slope, 1 + 3 * s.slope)


def _mixed_variance(s: Terms, slope: Any, weight: Any) -> Any:
    """Return the variance of "mixed" from that of 1/d and a weight of the covariance."""
    spread = s.delta * s.a * s.a0 * (s.p00 - s.p11)
    covariance = spread * s.d / (s.m * s.b0 * s.b1)
    of_frame = s.frame_counts * (s.c11 - s.c10 - 1 / s.d) ** 2
    counts = s.new_counts / s.d**2 + of_frame
    calibrated = _calibrated_variance(s, s.b1)
    return calibrated + s.delta**2 * slope + 2 * covariance * weight + counts


def mle(s: Terms) -> Pair:
    """Return NaN for the bias, and the first-order variance by cells and by both counts."""
    odds1 = s.t / s.a
    odds0 = s.t0 / s.a0

    def of_predicted(
        share: Any,
        truth: Any,
        slope1: Any,
        slope0: Any,
    ) -> Pair:
        """Return the variance from the audit and the slope by the frame, for one prediction."""
        variance = share * truth * (1 - truth) * (slope1 - slope0) ** 2
        return variance, truth * slope1 + (1 - truth) * slope0

    audit1, frame1 = of_predicted(s.b1, s.c11, odds1 * (1 - s.p11), odds0 * s.p00)
    audit0, frame0 = of_predicted(s.b0, s.c10, -odds1 * s.p11, -odds0 * (1 - s.p00))
    from_frame = s.frame_counts * (frame0 - frame1) ** 2
    variance = (audit1 + audit0) / s.m + s.new_counts + from_frame
    return s.zero + np.nan, variance / s.d**2
