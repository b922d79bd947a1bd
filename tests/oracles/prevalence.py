"""Estimators of a share and their theory, one number at a time, from the papers' formulas; the MLE by maximization.

n[i][j] counts audited items of true class i predicted j.
"""

import numpy as np
from scipy import optimize


def binary(n, q0, q):
    """The seven estimators of the share of class 1, from predicted shares q0 (audit time) and q."""
    (n00, n01), (n10, n11) = n
    p00, p11 = n00 / (n00 + n01), n11 / (n10 + n11)
    c10, c11 = n10 / (n00 + n10), n11 / (n01 + n11)
    first = c10 * (1 - q0) + c11 * q0
    right, wrong = c11 * q0 / first, (1 - c11) * q0 / (1 - first)
    return {
        "baseline": (n10 + n11) / (n00 + n01 + n10 + n11),
        "classify_and_count": q,
        "subtracted_bias": q * (3 - p00 - p11) - (1 - p00),
        "misclassification": (q + p00 - 1) / (p00 + p11 - 1),
        "calibration": c10 * (1 - q) + c11 * q,
        "mixed": first + (q - q0) / (p00 + p11 - 1),
        "mle": first + (q - q0) / (right - wrong),
    }


def several(n, q0, q):
    """The seven estimators of K shares, by solving linear systems."""
    n, q0, q = (np.array(x, float) for x in (n, q0, q))
    k = len(n)
    rows = np.array([n[i] / sum(n[i]) for i in range(k)])
    columns = np.array([[n[i, j] / sum(n[:, j]) for j in range(k)] for i in range(k)])
    joint = np.array([[columns[i, j] * q0[j] for j in range(k)] for i in range(k)])
    adjusted = np.array([joint[i] / sum(joint[i]) for i in range(k)])
    return {
        "baseline": n.sum(1) / n.sum(),
        "classify_and_count": q,
        "subtracted_bias": q - (rows.T @ q - q),
        "misclassification": np.linalg.solve(rows.T, q),
        "calibration": columns @ q,
        "mixed": columns @ q0 + np.linalg.solve(rows.T, q - q0),
        "mle": columns @ q0 + np.linalg.solve(adjusted.T, q - q0),
    }


def maximum_likelihood(n, frame_positive, frame_size):
    """(share, p00, p11) that maximize the likelihood of an audit and of the other items' predictions."""
    (n00, n01), (n10, n11) = n
    rest1 = frame_positive - n01 - n11
    rest0 = frame_size - frame_positive - n00 - n10

    def loss(z):
        a, p00, p11 = 1 / (1 + np.exp(-z))
        b = a * p11 + (1 - a) * (1 - p00)
        return (
            -(
                n00 * np.log((1 - a) * p00)
                + n01 * np.log((1 - a) * (1 - p00))
                + n10 * np.log(a * (1 - p11))
                + n11 * np.log(a * p11)
                + rest1 * np.log(b)
                + rest0 * np.log(1 - b)
            )
            / frame_size
        )

    start = np.array([(n10 + n11) / (n00 + n01 + n10 + n11), n00 / (n00 + n01), n11 / (n10 + n11)])
    found = optimize.minimize(
        loss, np.log(start / (1 - start)), method="BFGS", options={"gtol": 1e-12}
    )
    return 1 / (1 + np.exp(-found.x))


def theory(a, t, p00, p11, n, size=np.inf, new_size=np.inf, covariances=2):
    """(bias, variance) of the seven estimators as the papers print them, with `covariances` times equation 63."""
    d, A, B = p00 + p11 - 1, p00 * (1 - p00), p11 * (1 - p11)
    beta1 = a * p11 + (1 - a) * (1 - p00)
    beta0 = (1 - a) * p00 + a * (1 - p11)
    new1 = t * p11 + (1 - t) * (1 - p00)
    new0 = (1 - t) * p00 + t * (1 - p11)
    c11, c10 = a * p11 / beta1, a * (1 - p11) / beta0
    V1 = B / (n * a) * (1 + (1 - a) / (n * a))
    V0 = A / (n * (1 - a)) * (1 + a / (n * (1 - a)))
    Vc11 = c11 * (1 - c11) / (n * beta1) * (1 + beta0 / (n * beta1))
    Vc10 = c10 * (1 - c10) / (n * beta0) * (1 + beta1 / (n * beta0))
    reading, frame = (t * B + (1 - t) * A) / new_size, (a * B + (1 - a) * A) / size
    # equation 21 as printed
    calibrated = (beta1 / n + beta0 / n**2) * c11 * (1 - c11) + (beta0 / n + beta1 / n**2) * (
        1 - a
    ) * p00 / beta0 * (1 - (1 - a) * p00 / beta0)
    # equation 63 as printed
    C = (t - a) * (
        (a * A * (1 - p11) + (1 - a) * p00 * B) / (n * (p00 - a * d) * d)
        - (a * A * p11 + (1 - a) * (1 - p00) * B) / (n * ((1 - a) * (1 - p00) + a * p11) * d)
    )
    w1 = t / a * (1 - p11) - (1 - t) / (1 - a) * p00
    w0 = -t / a * p11 + (1 - t) / (1 - a) * (1 - p00)
    mle = (beta1 * c11 * (1 - c11) * w1**2 + beta0 * c10 * (1 - c10) * w0**2) / (
        n * d**2
    ) + reading / d**2
    bias = {
        "baseline": a - t,
        "classify_and_count": t * (p11 - 1) + (1 - t) * (1 - p00),
        "subtracted_bias": (1 - p00) * (1 - d) - t * (1 - d) ** 2,
        "misclassification": (t * V1 - (1 - t) * V0) / d**2,
        "calibration": (c10 * new0 + c11 * new1) - t,
        "mixed": (t - a) * (V0 + V1) / d**2,
    }
    variance = {
        "baseline": a * (1 - a) / n,
        "classify_and_count": reading,
        "subtracted_bias": new0**2 * V0 + new1**2 * V1 + reading * ((2 - d) ** 2 + V0 + V1),
        "misclassification": ((1 - t) ** 2 * V0 + t**2 * V1 + reading) / d**2,
        "calibration": new0**2 * Vc10 + new1**2 * Vc11 + reading * (c11 - c10) ** 2,
        "mixed": calibrated
        + (t - a) ** 2 * (V0 + V1) / d**2
        + covariances * C
        + reading / d**2
        + frame * (c11 - c10 - 1 / d) ** 2,
    }
    return bias, variance, mle
