"""Bias and variance of the estimators of a share in closed form, for two classes, to first order in 1/n.

Notation: base rates a (when audited) and t (new); d = p00 + p11 - 1; b1 = a p11 + (1 - a)(1 - p00) the predicted share,
b0 = 1 - b1; c11 = a p11 / b1 and c10 = a (1 - p11) / b0, P(true | predicted 1 and 0).

References
----------
.. [1] Kloos, A new generic method to improve machine learning applications in official statistics, Statistical
   Journal of the IAOS 37, 2021. Its equations 5 and 64 have the covariance of equation 63 once; equation 20 has it
   twice, and so do simulations.
"""

from types import SimpleNamespace
from typing import Any

import numpy as np

from workbench import checks, intervals


def setting(
    a: Any,
    t: Any,
    p00: Any,
    p11: Any,
    n: Any,
    size: Any = None,
    new_size: Any = None,
    rates: str = "process",
) -> SimpleNamespace:
    """Return what the formulas have in common; all arguments may be arrays.

    Parameters
    ----------
    a, t, p00, p11 : float
        True share of class 1 when the audit was drawn, and now; P(predicted right | true class 0 and 1).
    n, size, new_size : int
        Audited items, and those counted at audit time and now; None for very many.
    rates : {"process", "frame"}

    Returns
    -------
    SimpleNamespace
        Beside a, t, p00, p11 and n: the change delta; d, b1, c11 and c10 as above; t1, the predicted share now; phi2,
        the squared Matthews correlation; m, the items of an audit without the finite-population factor, infinite where
        the whole frame was audited; v1 and v0, the variances of the estimated p11 and p00; slope, the squared
        coefficient of variation of the estimated d; new_counts and frame_counts, the variances of the predicted shares
        now and at audit time; zero, in the shape of the setting.
    """
    d, b1, t1 = p00 + p11 - 1, counted_share(a, p00, p11), counted_share(t, p00, p11)
    drawn = 1 - n / size if rates == "frame" and size else 1.0
    with np.errstate(divide="ignore"):
        m = np.divide(n, drawn)
    v1, v0 = (drawn * _rate_variance(p, share, n) for p, share in ((p11, a), (p00, 1 - a)))
    of_item = [share * p11 * (1 - p11) + (1 - share) * p00 * (1 - p00) for share in (t, a)]
    return SimpleNamespace(
        a=a,
        t=t,
        p00=p00,
        p11=p11,
        n=n,
        m=m,
        delta=t - a,
        d=d,
        b1=b1,
        t1=t1,
        c11=a * p11 / b1,
        c10=a * (1 - p11) / (1 - b1),
        phi2=d * d * a * (1 - a) / ((1 - b1) * b1),
        v1=v1,
        v0=v0,
        slope=(v0 + v1) / d**2,
        new_counts=of_item[0] / (np.inf if new_size is None else new_size),
        frame_counts=of_item[1] / (size if size and rates == "process" else np.inf),
        zero=0 * (a + t + p00 + p11),
    )


def counted_share(base_rate: Any, p00: Any, p11: Any) -> Any:
    """Return the share that is counted, expected: a p11 + (1 - a)(1 - p00) of a true share a.

    Examples
    --------
    >>> round(counted_share(0.1, 0.92, 0.98), 3)
    0.17
    """
    return base_rate * p11 + (1 - base_rate) * (1 - p00)


LEAST = 1e-9  # share of a class that is about somebody


def rate_variance(rate: Any, share: Any, n: Any) -> Any:
    """Return the variance of an audited rate, such as the estimate of p11, to second order in 1/n: lemma 1 of [1]_.

    Parameters
    ----------
    rate : float or array of float
        P(predicted right) of the class, p11 or p00.
    share : float or array of float
        True share of that class among the audited items, in (0, 1].
    n : int or array of int
        Audited items.

    Returns
    -------
    float or array of float
        rate (1 - rate) / (n share) [1 + (1 - share) / (n share)].

    References
    ----------
    .. [1] Kloos, A new generic method to improve machine learning applications in official statistics, Statistical
       Journal of the IAOS 37, 2021.

    Examples
    --------
    >>> round(rate_variance(0.7, 0.5, 1000) ** 0.5, 5)
    0.0205
    """
    rate, share, n = (
        checks.floats(name, value) for name, value in (("rate", rate), ("share", share), ("n", n))
    )
    for name, value, right, rule in (
        ("rate", rate, (rate >= 0) & (rate <= 1), "must be from 0 to 1"),
        ("share", share, (share >= LEAST) & (share <= 1), f"must be from {LEAST:g} to 1"),
        ("n", n, (n >= 1) & (n <= checks.LARGEST), "must be at least 1"),
    ):
        if not np.all(right):
            raise checks.WrongValue(name, rule, value[~right].flat[0] if value.ndim else value[()])
    variance = _rate_variance(rate, share, n)
    return variance if variance.ndim else float(variance)


def _rate_variance(rate: Any, share: Any, n: Any) -> Any:
    return rate * (1 - rate) / (n * share) * (1 + (1 - share) / (n * share))


def hull(table: np.ndarray, counts: np.ndarray, level: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the hull of the delta method's and Fieller's limits (...,) of the second of two classes' share.

    Delta takes the rates (right + 1/2) / (n + 1) with variances over n + 1 and the counted share x / N, Fieller's
    (right + 1) / (n + 2) over n + 2 and (x + z^2 / 2) / (N + z^2). All of 0 to 1 where a class was not audited or d is
    not clearly above 0.

    Parameters
    ----------
    table : (..., 2, 2) array
        The audit, raw.
    counts : (..., 2) array
    level : float
    """
    z, audited = intervals.quantile(level), table.sum(-1)
    right, size = np.moveaxis(np.einsum("...kk->...k", table), -1, 0), counts.sum(-1)

    def parts(added: float, more: float) -> tuple:
        n = np.moveaxis(audited, -1, 0) + 2 * added
        (p00, p11), share = (right + added) / n, (counts[..., 1] + more / 2) / (size + more)
        return (
            p00 + p11 - 1,
            share + p00 - 1,
            p00 * (1 - p00) / n[0],
            p11 * (1 - p11) / n[1],
            share * (1 - share) / (size + more),
        )

    with np.errstate(divide="ignore", invalid="ignore"):
        d, u, v0, v1, counted = parts(0.5, 0)
        center = u / d
        reach = z * np.sqrt((1 - center) ** 2 * v0 + center**2 * v1 + counted) / d
        d, u, v0, v1, counted = parts(1, z * z)
        a, b, c = d * d - z * z * (v0 + v1), u * d - z * z * v0, u * u - z * z * (counted + v0)
        root = np.sqrt(b * b - a * c)
        low, high = np.fmin(center - reach, (b - root) / a), np.fmax(center + reach, (b + root) / a)
    known = (a > 0) & (d > 0) & (audited > 0).all(-1)
    return np.where(known, np.clip(low, 0, 1), 0.0), np.where(known, np.clip(high, 0, 1), 1.0)


def baseline(s: SimpleNamespace) -> tuple[Any, Any]:
    """Return bias and variance of the audit's share."""
    return s.a - s.t + s.zero, s.a * (1 - s.a) / s.m + s.zero


def classify_and_count(s: SimpleNamespace) -> tuple[Any, Any]:
    """Return bias and variance of the raw count."""
    return s.t1 - s.t, s.new_counts + s.zero


def subtracted_bias(s: SimpleNamespace) -> tuple[Any, Any]:
    """Return bias and variance of the count less its bias at its own value."""
    return (1 - s.d) * (s.t1 - s.t), (1 - s.t1) ** 2 * s.v0 + s.t1**2 * s.v1 + s.new_counts * (
        (2 - s.d) ** 2 + s.v0 + s.v1
    )


def misclassification(s: SimpleNamespace) -> tuple[Any, Any]:
    """Return bias and variance of the count turned by the inverse of P(prediction | truth)."""
    return (s.t * s.v1 - (1 - s.t) * s.v0) / s.d**2, (
        (1 - s.t) ** 2 * s.v0 + s.t**2 * s.v1 + s.new_counts
    ) / s.d**2


def calibration(s: SimpleNamespace) -> tuple[Any, Any]:
    """Return bias and variance of the count turned by P(truth | prediction)."""
    vc1, vc0 = (
        c * (1 - c) / (s.m * b) * (1 + (1 - b) / (s.n * b))
        for c, b in ((s.c11, s.b1), (s.c10, 1 - s.b1))
    )
    return -s.delta * (1 - s.phi2), (1 - s.t1) ** 2 * vc0 + s.t1**2 * vc1 + s.new_counts * (
        s.c11 - s.c10
    ) ** 2


def mixed(s: SimpleNamespace) -> tuple[Any, Any]:
    """Return bias and variance of the calibrated share at audit time plus the change over d."""
    return s.delta * s.slope, _mixed_variance(s, s.slope, 1)


def second_order(s: SimpleNamespace) -> Any:
    """Return the variance of "mixed" with the next order of 1/n."""
    spread0, spread1 = s.p00 * (1 - s.p00), s.p11 * (1 - s.p11)
    kappa = (
        spread0 * (1 - 2 * s.p00) / (s.m * (1 - s.a)) ** 2
        + spread1 * (1 - 2 * s.p11) / (s.m * s.a) ** 2
    )
    return _mixed_variance(s, s.slope + 8 * s.slope**2 - 2 * kappa / s.d**3, 1 + 3 * s.slope)


def _mixed_variance(s: SimpleNamespace, slope: Any, weight: Any) -> Any:
    """Return the variance of "mixed" from that of the estimated 1/d, and the weight of its covariance with C."""
    b0, b1 = 1 - s.b1, s.b1
    calibrated = (b1 / s.m + b0 / (s.m * s.n)) * s.c11 * (1 - s.c11) + (
        b0 / s.m + b1 / (s.m * s.n)
    ) * s.c10 * (1 - s.c10)
    covariance = s.delta * s.a * (1 - s.a) * (s.p00 - s.p11) * s.d / (s.m * b0 * b1)
    counts = s.new_counts / s.d**2 + s.frame_counts * (s.c11 - s.c10 - 1 / s.d) ** 2
    return calibrated + s.delta**2 * slope + 2 * covariance * weight + counts


def mle(s: SimpleNamespace) -> tuple[Any, Any]:
    """Return no bias, and the first-order variance: by the cells within predicted classes, and by both shares."""
    odds1, odds0 = s.t / s.a, (1 - s.t) / (1 - s.a)
    audit = frame = 0.0
    for sign, b, truth, given1, given0 in (
        (1, s.b1, s.c11, odds1 * (1 - s.p11), odds0 * s.p00),
        (-1, 1 - s.b1, s.c10, -odds1 * s.p11, -odds0 * (1 - s.p00)),
    ):
        audit = audit + b * truth * (1 - truth) * (given1 - given0) ** 2
        frame = frame - sign * (truth * given1 + (1 - truth) * given0)
    return s.zero + np.nan, (audit / s.m + s.new_counts + s.frame_counts * frame**2) / s.d**2
