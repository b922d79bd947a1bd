"""The wave estimate by explicit sums, and every history of a small wave design."""

import itertools

from scipy import stats


def estimate(size, labeled, correct):
    """sum_t m_t/n sum_k [earlier right + (items left) * share right in this wave] / N, and its variance estimate."""
    total, n = sum(size), sum(map(sum, labeled))
    value = variance = 0.0
    for t, (wave_n, wave_x) in enumerate(zip(labeled, correct, strict=True)):
        share = sum(wave_n) / n
        for k, n_all in enumerate(size):
            before = sum(labeled[s][k] for s in range(t))
            right = sum(correct[s][k] for s in range(t))
            left = n_all - before
            m, x = wave_n[k], wave_x[k]
            a = x / m if m else 0.0
            value += share * (right + left * a) / total
            if m > 1:
                variance += share**2 * (left / total) ** 2 * (1 - m / left) * a * (1 - a) / (m - 1)
    return value, variance


def histories(size, right, allocate, waves, path=()):
    """Yield (probability, labeled, correct) of every history; allocate(labeled, correct) gives the next wave."""
    if len(path) == waves:
        yield 1.0, [n for n, _ in path], [x for _, x in path]
        return
    n_before = [sum(n[k] for n, _ in path) for k in range(len(size))]
    x_before = [sum(x[k] for _, x in path) for k in range(len(size))]
    labeled = [int(n) for n in allocate(n_before, x_before, len(path))]
    left = [a - b for a, b in zip(size, n_before, strict=True)]
    good = [a - b for a, b in zip(right, x_before, strict=True)]
    for x in itertools.product(*[range(n + 1) for n in labeled]):
        mass = 1.0
        for k, n in enumerate(labeled):
            mass *= stats.hypergeom.pmf(x[k], left[k], good[k], n)
        if mass > 0:
            for p, ns, xs in histories(size, right, allocate, waves, (*path, (labeled, x))):
                yield mass * p, ns, xs
