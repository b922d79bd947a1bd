"""Answers to the graded exercises as a student would find them: right ones, and one per named misconception.

Everything is recomputed from the task's data with numpy, scipy and enumeration; only the standard error of 4.4 comes
from the library, whose own tests are elsewhere.
"""

import itertools

import numpy as np
import scipy.stats
from sklearn.datasets import load_digits

import workbench as wb

EXERCISES = ("1.1", "1.2", "2.1", "2.4", "3.1", "3.2", "4.1", "4.4", "5.1", "5.3")


def answers(exercise, task):
    """Return the right answer, and {misconception: answer}."""
    return {
        "1.1": estimate,
        "1.2": shares,
        "2.1": districts,
        "2.4": f1,
        "3.1": nine,
        "3.2": three,
        "4.1": share,
        "4.4": change,
        "5.1": folds,
        "5.3": colleague,
    }[exercise](**task)


def estimate(size, labeled, right):
    size, labeled, p = np.array(size), np.array(labeled), np.array(right) / labeled
    weight = size / size.sum()
    variance = weight**2 * p * (1 - p) / (labeled - 1)
    point = float(weight @ p)
    return [point, float((variance * (1 - labeled / size)).sum() ** 0.5)], {
        "the finite-population correction is missing": [point, float(variance.sum() ** 0.5)]
    }


def shares(size, spread):
    wanted = np.array(size) * spread
    labels = np.maximum(2, np.floor(98 * wanted / wanted.sum())).astype(int)
    labels[np.argsort(labels - 98 * wanted / wanted.sum())[: 100 - labels.sum()]] += 1
    labels = labels.tolist()
    return labels, {
        "the labels do not add up to the budget": [*labels[:-1], labels[-1] + 5],
        "every stratum has the same number of labels": [20] * 5,
        "a stratum has fewer than two labels": [labels[0] + labels[-1], *labels[1:-1], 0],
    }


def districts(differences):
    error = float(np.sqrt(np.square(differences).sum()) / 2 / len(differences))
    return error, {
        "the sum over districts was not divided by their number": error * len(differences),
        "the variance of the mean of two boxes was not divided by four": 2 * error,
    }


def f1(code, left_out):
    forms, truth = wb.digit_forms(), load_digits().target == code
    kept = (forms.box - 1) // 2 + 1 != left_out
    box, truth, read = forms.box[kept], truth[kept], forms.read_a[kept] == code
    both = 2.0 * (truth & read)
    either = truth.astype(float) + read

    def ratio(weight):
        return (weight * both).sum() / (weight * either).sum()

    point = ratio(np.ones(box.size))
    squares = [
        (
            ratio(
                np.where(
                    box == gone, 0, np.where(box == 2 * ((gone - 1) // 2) + 1 + gone % 2, 2, 1)
                )
            )
            - point
        )
        ** 2
        for gone in np.unique(box)
    ]
    error = np.sqrt(np.sum(squares) / 2)
    reach = scipy.stats.t.ppf(0.975, 6) * error / (point * (1 - point))
    limits = scipy.special.expit(scipy.special.logit(point) + np.array([-reach, reach]))
    naive = np.sqrt(np.square((both - point * either) / either.sum()).sum())
    return [float(point), float(error), *limits.tolist()], {
        "the labels were treated as independent, without clusters": [
            float(point),
            float(naive),
            *limits.tolist(),
        ]
    }


def nine(parts):
    together = parts[0] + parts[1]
    random = float(np.var([4.5 * sum(pair) for pair in itertools.combinations(together, 2)]))
    strata = float(np.var([5 * a + 4 * b for a, b in itertools.product(*parts)]))
    replaced = float(np.var([4.5 * sum(pair) for pair in itertools.product(together, repeat=2)]))
    return [random, strata, random / strata], {
        "the variance is that of sampling with replacement": [replaced, strata, replaced / strata]
    }


def three(size, spread, budget):
    tried = [
        (a, b, budget - a - b) for a in range(2, size[0] + 1) for b in range(2, budget - a - 1)
    ]
    variance = [
        sum(n * (n - k) * s**2 / k for n, s, k in zip(size, spread, labels, strict=True))
        for labels in tried
    ]
    best = list(tried[int(np.argmin(variance))])
    return best, {
        "the labels do not add up to the budget": [best[0], best[1], best[2] - 3],
        "a stratum has a negative number of labels": [best[0], budget - best[0] + 11, -11],
        "a stratum has more labels than items": [
            size[0] + 2,
            best[1],
            budget - size[0] - 2 - best[1],
        ],
    }


def share(p00, p11, base, counted):
    read = base * p11 + (1 - base) * (1 - p00)
    return (counted + p00 - 1) / (p00 + p11 - 1), {
        "calibration was used although the true proportion has changed": counted * base * p11 / read
        + (1 - counted) * base * (1 - p11) / (1 - read),
        "the classify-and-count estimate was taken as the true proportion": counted,
    }


def change(audit, frame, first, second):
    (a, b), (c, d) = audit
    found = (second[1] - first[1]) / 5000 / (a / (a + b) + d / (c + d) - 1)
    months = wb.prevalence_series(
        wb.ConfusionCounts(audit),
        frame,
        {"6": first, "12": second},
        method="mixed",
        rates="frame",
        sampled_by="random",
    )
    errors = [
        wb.estimate_prevalence(
            wb.ConfusionCounts(audit),
            month,
            frame,
            method="mixed",
            rates="frame",
            sampled_by="random",
        ).standard_error
        for month in (first, second)
    ]
    return [found, months.change("6", "12").standard_error], {
        "the errors of the two months were treated as independent": [
            found,
            float(np.hypot(*errors)),
        ]
    }


def folds(folds):
    found = scipy.stats.ttest_1samp(folds, 0)
    t, p = float(found.statistic), float(found.pvalue)
    shrunk = t * 0.3**0.5
    second = [shrunk, float(2 * scipy.stats.t.sf(shrunk, 9))]
    return [t, p, *second], {
        "the variance was divided by K instead of K minus one": [t * (10 / 9) ** 0.5, p, *second],
        "the normal distribution was used instead of the t distribution": [
            t,
            float(2 * scipy.stats.norm.sf(t)),
            *second,
        ],
        "the p-value is one-sided": [t, p / 2, *second],
        "t was multiplied by one minus rho instead of its square root": [
            t,
            p,
            0.3 * t,
            float(2 * scipy.stats.t.sf(0.3 * t, 9)),
        ],
    }


def colleague(naive_t):
    t = naive_t * (0.01 / (0.01 + 1 / 9)) ** 0.5
    p, once = (float(2 * scipy.stats.t.sf(t, df)) for df in (99, 9))
    said = "yes" if p < 0.05 else "no"
    ten = naive_t * (0.1 / (0.1 + 1 / 9)) ** 0.5
    return [t, p, said], {
        "the repeats were treated as if they used new forms": [ten, p, said],
        "the degrees of freedom are those of a single repeat": [t, once, said],
    }
