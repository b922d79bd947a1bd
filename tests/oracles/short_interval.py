"""The short interval by listing every outcome: slow, exact, from its definition alone."""

import math

import numpy as np
from scipy import optimize, stats


def profile_rates(size, labeled, correct, share, pseudo):
    """Rates of largest (pseudo-)likelihood with weighted mean `share`, by a search over the multiplier."""
    weight = [n / sum(size) for n in size]
    x = [c + pseudo * share for c in correct]
    m = [n + pseudo for n in labeled]

    def rate(k, multiplier):
        # stationary point of x log q + (m - x) log(1 - q) - multiplier W q in [0, 1]
        def slope(q):
            return x[k] * (1 - q) - (m[k] - x[k]) * q - multiplier * weight[k] * q * (1 - q)

        a, b, c = multiplier * weight[k], -(m[k] + multiplier * weight[k]), x[k]
        if abs(a) < 1e-13:
            return c / -b
        roots = [
            r.real
            for r in np.roots([a, b, c])
            if abs(r.imag) < 1e-7 and -1e-9 <= r.real <= 1 + 1e-9
        ]
        inside = [min(max(r, 0.0), 1.0) for r in roots]

        def gain(q):
            first = x[k] * math.log(q) if x[k] > 0 and q > 0 else (0.0 if x[k] == 0 else -math.inf)
            rest = m[k] - x[k]
            second = (
                rest * math.log(1 - q) if rest > 0 and q < 1 else (0.0 if rest == 0 else -math.inf)
            )
            return first + second - multiplier * weight[k] * q

        return max(inside + [0.0, 1.0], key=gain)

    def excess(multiplier):
        return sum(w * rate(k, multiplier) for k, w in enumerate(weight)) - share

    reach = 1.0
    while excess(-reach) < 0 and reach < 1e9:
        reach *= 4
    top = 1.0
    while excess(top) > 0 and top < 1e9:
        top *= 4
    multiplier = optimize.brentq(excess, -reach, top, xtol=1e-12, rtol=1e-14)
    return [rate(k, multiplier) for k in range(len(size))]


def interpolated_pmf(size, rate, n):
    """Hypergeometric probabilities, linear between whole numbers of right items."""
    right = size * rate
    whole = min(math.floor(right + 1e-12), size - 1)
    part = right - whole
    x = np.arange(n + 1)
    return (1 - part) * stats.hypergeom.pmf(x, size, whole, n) + part * stats.hypergeom.pmf(
        x, size, whole + 1, n
    )


def lower_tail(size, labeled, correct, share):
    """The larger of the two estimated mid-P values that the estimate is no larger than seen."""
    weight = [n / sum(size) for n in size]
    seen = sum(w * x / n for w, x, n in zip(weight, correct, labeled, strict=True))
    estimate = np.zeros(())
    for w, n in zip(weight, labeled, strict=True):
        estimate = estimate[..., None] + w * np.arange(n + 1) / n
    tails = []
    for pseudo in (0, 1):
        rates = profile_rates(size, labeled, correct, share, pseudo)
        mass = np.ones(())
        for n, q, m in zip(size, rates, labeled, strict=True):
            mass = mass[..., None] * interpolated_pmf(n, q, m)
        below, tied = estimate < seen - 1e-9, np.abs(estimate - seen) <= 1e-9
        tails.append(mass[below].sum() + mass[tied].sum() / 2)
    return max(tails)


def two_sided(size, labeled, correct, share):
    """Both tails at a share: (P of no more, P of no less), each the larger over the pseudo-counts."""
    wrong = [n - x for n, x in zip(labeled, correct, strict=True)]
    return lower_tail(size, labeled, correct, share), lower_tail(size, labeled, wrong, 1 - share)
