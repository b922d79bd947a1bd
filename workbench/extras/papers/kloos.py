"""Kloos: the mixed estimator of a proportion under prior probability shift.

References
----------
.. [1] Kloos, A new generic method to improve machine learning applications in official statistics,
   Statistical Journal of the IAOS 37, 2021.
"""

import itertools
import operator
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy import ndarray
from numpy.random import default_rng

from workbench.extras.papers.claims import Correction, bound, every, number
from workbench.extras.papers.items import Claims, Figure, Paper, Setting, drawn
from workbench.misclassification import theory
from workbench.misclassification.confusion import ConfusionCounts
from workbench.misclassification.setting import rate_variance
from workbench.simulations.misclassification import (
    PAPER_STUDIES,
    simulate_prevalence,
    simulate_shifts,
)

PAPER = Paper(
    "kloos",
    "A new generic method to improve machine learning applications in official statistics",
    "Kloos, 2021",
    {
        "1": "table1",
        "2": "table2 table3",
        "3": "lemma1 theorem1 fig1 fig2 fig3",
        "4": "section4",
        "appendix": "appendix",
    },
)
item = PAPER.item
N, SIZE, RUNS, LARGE = 1000, 300_000, 10_000, 100_000
FIVE = ("baseline", "classify_and_count", "subtracted_bias", "misclassification", "calibration")
SHOWN = ("calibration", "misclassification", "mixed")
WORDS = ("no", "very low", "low", "medium", "large")
# table 2 and table 3: words for bias and variance
FIXED_RATE = {
    "baseline": ("no", "large"),
    "classify_and_count": ("large", "very low"),
    "subtracted_bias": ("medium", "low"),
    "misclassification": ("very low", "large"),
    "calibration": ("no", "medium"),
}
SHIFTED = FIXED_RATE | {"baseline": ("large", "large"), "calibration": ("medium", "medium")}
READING = (
    "{}. The table has no numbers: the strict order is our reading, decided for this study only"
)
# new base rates of figures 1 to 3, which the text does not list
NEW_RATES = (
    (0.3, 0.4, 0.45, 0.5, 0.55, 0.6, 0.7),
    (0.9, 0.92, 0.94, 0.96, 0.97, 0.98, 0.99),
    (0.25, 0.4, 0.5, 0.6, 0.7, 0.75, 0.9),
)


@item(
    "table1",
    "Confusion matrices of population and test set: 10% of roofs have solar panels, 17% are "
    "counted",
)
def _table1() -> Claims:
    audit = ConfusionCounts([[8280, 720], [20, 980]])
    yield number("roofs that are counted as having panels", "1700", 1000 * 0.98 + 9000 * (1 - 0.92))
    yield number(
        "classify-and-count estimate in percent",
        "17",
        100 * (audit.table[:, 1].sum() / audit.table.sum()),
    )
    yield bound(
        "miscounted items of a classifier with 10 and 10 errors, minus those of one with 9 and 5",
        "less misclassification bias",
        (10 - 10) - (9 - 5),
        high=-1,
    )


@item(
    "table2",
    "The size of bias and variance of five estimators without a shift",
    draw=drawn("bars", "study", "size", "method", panel="of", columns=1, same_scale=False),
)
def _table2(setting: Setting) -> Claims:
    shifts = [(base, base, p00, p11) for base, p00, p11 in PAPER_STUDIES]
    yield from _words_hold(shifts, FIXED_RATE)
    base, p00, p11 = PAPER_STUDIES[0]
    study = simulate_prevalence(base, base, p00, p11, N, SIZE, runs=setting.runs(RUNS, RUNS), rng=1)
    share = base * p11 + (1 - base) * (1 - p00)
    expected = p11 * share + (1 - p00) * (1 - share)  # of a count with this proportion of class 1
    for method in ("baseline", "calibration"):
        yield bound(
            f"bias of {method} in study 1",
            "no",
            study.bias[method],
            low=0,
            high=0,
            error=study.bias_error[method],
        )
    yield number(
        "subtracted-bias in study 1: the count minus its estimated bias, by the equation of "
        "the table",
        expected,
        share - (expected - share),
        correction=Correction(
            "the equation adds the bias; subtracting it gives 2 a* minus the equation",
            printed=2 * share - expected,
        ),
    )


@item(
    "table3",
    "The size of bias and variance of five estimators under a shift",
    draw=drawn("bars", "study", "size", "method", panel="of", columns=1, same_scale=False),
)
def _table3(setting: Setting) -> Claims:
    shifts = [
        (base, new[0], p00, p11)
        for (base, p00, p11), new in zip(PAPER_STUDIES, NEW_RATES, strict=True)
    ]
    yield from _words_hold(shifts, SHIFTED)
    study = simulate_prevalence(0.75, 0.5, 0.85, 0.9, N, SIZE, runs=setting.runs(RUNS, RUNS), rng=1)
    yield bound(
        "bias of misclassification in study 3, proportion .75 to .5, over its sd",
        "(asymptotically) unbiased",
        abs(study.bias["misclassification"]) / study.sd["misclassification"],
        high=0.05,
    )


def _words_hold(shifts: list, terms: dict) -> Claims:
    """Yield claims that bias and variance have the order of the words, in each study."""
    rows = []
    for (quantity, part), (study, shift) in itertools.product(
        (("bias", 0), ("variance", 1)), enumerate(shifts, 1)
    ):
        base, new, p00, p11 = shift
        moments = theory.estimator_theory(base, new, p00, p11, N, size=SIZE)
        sizes = {name: abs(getattr(moments, quantity)[name]) for name in FIVE}
        axis = "bias, absolute"
        if quantity == "variance":
            sizes = {name: variance**0.5 for name, variance in sizes.items()}
            axis = "standard deviation"
        printed = {name: terms[name][part] for name in FIVE}
        ranks = {name: WORDS.index(printed[name]) for name in FIVE}
        pairs = [(a, b) for a, b in itertools.permutations(FIVE, 2) if ranks[a] < ranks[b]]
        wrong = [f"{a} above {b}" for a, b in pairs if sizes[a] > sizes[b]]
        yield every(
            f"{quantity} in study {study}, proportion {base:g} to {new:g}: pairs of estimators in "
            "the strict order of the words",
            len(pairs) - len(wrong),
            len(pairs),
            printed=", ".join(printed.values()),
            instead=READING.format(", ".join(wrong).replace("_", " ")),
        )
        rows += [
            {"of": axis, "study": study, "method": name, "size": float(size)}
            for name, size in sizes.items()
        ]
    yield Figure(rows)


@item("lemma1", "The variances of p11 and p00 as estimated from the audit, which are uncorrelated")
def _lemma1(setting: Setting) -> Claims:
    runs = setting.runs(200_000, 1_000_000)
    for k, (base, p00, p11) in enumerate(PAPER_STUDIES, 1):
        rng = default_rng(k)
        ones = rng.binomial(N, base, runs)
        hit, correct = (
            rng.binomial(ones, p11) / ones,
            rng.binomial(N - ones, p00) / np.maximum(N - ones, 1),
        )
        estimable = ones < N
        for name, values, rate, share in (
            ("p11 over equation 2", hit, p11, base),
            ("p00 over equation 3", correct[estimable], p00, 1 - base),
        ):
            printed = rate_variance(rate, share, N)
            spread = ((values - values.mean()) ** 2).std() / values.size**0.5
            slack = (
                8 * rate * (1 - rate) / (N * share) ** 3 / printed
            )  # the order of what the formula leaves out
            yield bound(
                f"study {k}: variance of the estimated {name}",
                "+ O(1/n^3)",
                values.var(ddof=1) / printed,
                low=1 - slack,
                high=1 + slack,
                error=spread / printed,
            )
        yield number(
            f"study {k}: correlation of both, C = 0",
            0.0,
            np.corrcoef(hit[estimable], correct[estimable])[0, 1],
            error=runs**-0.5,
        )


@item(
    "theorem1",
    "Bias and variance of the mixed estimator in closed form",
    seconds=3,
    draw=drawn(
        "lines",
        "new_base_rate",
        "sd",
        "by",
        panel="study",
        y_title="standard deviation of mixed",
        columns=3,
        same_scale=False,
    ),
)
def _theorem1(setting: Setting) -> Claims:
    rows = []
    for k, ((base, p00, p11), rates) in enumerate(zip(PAPER_STUDIES, NEW_RATES, strict=True), 1):
        for new in rates:
            study = simulate_prevalence(
                base, new, p00, p11, N, None, runs=setting.runs(20_000, 400_000), rng=1
            )
            printed, corrected = _variances(base, new, p00, p11, N)
            variances = {
                "simulation": study.sd["mixed"] ** 2,
                "as printed": printed,
                "corrected": corrected,
            }
            rows += [
                {"study": f"study {k}", "new_base_rate": new, "by": by, "sd": float(variance**0.5)}
                for by, variance in variances.items()
            ]
        for new in (rates[0], rates[-1]):
            if abs(new - base) > 0.05:
                runs = setting.runs(400_000, 4_000_000, 20_000)
                name = f"study {k}, proportion {base:g} to {new:g}"
                yield from _of_large_audit(name, base, new, p00, p11, runs)
    yield Figure(rows)


def _of_large_audit(
    name: str, base: float, new: float, p00: float, p11: float, runs: int
) -> Iterator[dict]:
    """Yield claims about bias and variance with an audit so large that terms of 1/n dominate."""
    study = simulate_prevalence(base, new, p00, p11, LARGE, None, runs=runs, rng=1)
    printed, corrected = _variances(base, new, p00, p11, LARGE)
    slope = _slope(base, p00, p11, LARGE)
    sd, slack = study.sd["mixed"], 10 * slope
    error = 2 * sd * study.sd_error["mixed"]
    determinant, d = _determinant(study.table.reshape(-1, 4).T), p00 + p11 - 1
    yield bound(
        f"{name}: simulated over printed variance, n = 100,000",
        "+ O(1/n^2)",
        sd**2 / printed,
        error=error / printed,
        low=1 - slack,
        high=1 + slack,
        correction=Correction(
            "the covariance of equation 63 counts twice, as in equation 20",
            ours=sd**2 / corrected,
            low=1 - slack,
            high=1 + slack,
        ),
    )
    yield _near(
        f"{name}: bias over equation 4, if calibration has no bias, n = 100,000",
        (new - base) * (d / determinant - 1 + (determinant - d) / d),
        (new - base) * slope,
        slack,
        "+ O(1/n^2)",
    )


def _determinant(cells: Any) -> ndarray:
    """Return p00 + p11 - 1 of audits from their cells n00, n01, n10 and n11."""
    n00, n01, n10, n11 = cells
    return n00 / (n00 + n01) + n11 / (n10 + n11) - 1


def _slope(base: float, p00: float, p11: float, n: int) -> float:
    """Return (V(p00) + V(p11)) / (p00 + p11 - 1)^2."""
    return (rate_variance(p00, 1 - base, n) + rate_variance(p11, base, n)) / (p00 + p11 - 1) ** 2


def _calibration(base: float, p00: float, p11: float) -> tuple:
    """Return the proportion of items that are counted, and the calibration probabilities."""
    b1 = base * p11 + (1 - base) * (1 - p00)
    return b1, base * p11 / b1, (1 - base) * p00 / (1 - b1)


def _variances(base: float, new: float, p00: float, p11: float, n: int) -> tuple:
    """Return the variance for infinitely many items, as printed in equation 5 and corrected.

    The corrected one counts the covariance twice.
    """
    b1, c11, c00 = _calibration(base, p00, p11)
    d, shift, A, B = p00 + p11 - 1, new - base, p00 * (1 - p00), p11 * (1 - p11)
    calibrated = base * p11 / n * (1 - c11) + (1 - base) * p00 / n * (1 - c00)
    missed = (base * A * (1 - p11) + (1 - base) * p00 * B) / (n * (1 - b1) * d)
    hit = (base * A * p11 + (1 - base) * (1 - p00) * B) / (n * b1 * d)
    covariance = shift * (missed - hit)
    rest = calibrated + shift**2 * _slope(base, p00, p11, n)
    return rest + covariance, rest + 2 * covariance


def _settings(count: int) -> list:
    rng = default_rng(7)
    return np.stack(
        [rng.uniform(*ends, count) for ends in 2 * [(0.05, 0.95)] + 2 * [(0.55, 0.99)]], 1
    ).tolist()


def _shifts(figure: int, runs: int) -> Any:
    base, p00, p11 = PAPER_STUDIES[figure - 1]
    return simulate_shifts(
        base, NEW_RATES[figure - 1], p00, p11, N, SIZE, runs=runs, rng=figure, rates="frame"
    )


def _boxes(shifts: Any) -> Iterator[dict]:
    for study in shifts.studies:
        for method in SHOWN:
            error = study.estimates[method] - study.new_base_rate
            q1, median, q3 = np.nanquantile(error, (0.25, 0.5, 0.75)).tolist()
            inside = error[(error >= q1 - 1.5 * (q3 - q1)) & (error <= q3 + 1.5 * (q3 - q1))]
            yield {
                "new_base_rate": round(study.new_base_rate, 3),
                "method": method,
                "low": float(inside.min()),
                "q1": q1,
                "median": median,
                "q3": q3,
                "high": float(inside.max()),
            }


def _better(
    shifts: Any, quantity: str, printed: str, *rivals: str, unmoved: bool = True
) -> Iterator[dict]:
    """Yield claims that mixed has the smaller sd or RMSE at each new proportion.

    With `unmoved` false, new proportions that equal the old one are left out.
    """
    for rival in rivals:
        wins = [
            getattr(study, quantity)["mixed"] < getattr(study, quantity)[rival]
            for study in shifts.studies
            if unmoved or abs(study.new_base_rate - study.base_rate) > 1e-6
        ]
        yield every(
            f"new proportions{'' if unmoved else ' that differ from the old one'} at which the "
            f"{quantity} of mixed is below that of {rival}",
            sum(wins),
            len(wins),
            printed=printed,
        )


def _outside(estimates: ndarray) -> float:
    """Return the proportion of estimates outside [0, 1]."""
    return float(np.mean((estimates < 0) | (estimates > 1)))


BOXES = drawn("boxes", "new_base_rate", "method", y_title="estimate minus new base rate")


@item(
    "fig1",
    "A poor classifier, proportion .5: mixed has almost no bias and much less variance than "
    "misclassification",
    draw=BOXES,
)
def _fig1(setting: Setting) -> Claims:
    shifts = _shifts(1, setting.runs(RUNS, RUNS))
    away = {study: abs(study.new_base_rate - study.base_rate) for study in shifts.studies}
    bias = max(abs(study.bias["mixed"]) / study.sd["mixed"] for study in away)
    pairs = [
        a.sd["mixed"] < b.sd["mixed"]
        for a, b in itertools.permutations(away, 2)
        if away[b] - away[a] > 0.01
    ]
    far = max(away, key=away.__getitem__)
    yield bound("largest bias of mixed over its sd", "almost no bias", bias, high=0.1)
    yield from _better(shifts, "sd", "much less variance", "misclassification")
    yield from _better(shifts, "rmse", "performs much better", "misclassification")
    yield from _better(shifts, "rmse", "performs much better", "calibration", unmoved=False)
    yield bound(
        f"bias of calibration at {far.new_base_rate:g} over its sd",
        "biased",
        abs(far.bias["calibration"]) / far.sd["calibration"],
        low=3,
    )
    yield every(
        "pairs of new proportions in which the more distant one has the larger sd of mixed",
        sum(pairs),
        len(pairs),
        printed="tends to increase",
    )
    yield Figure(_boxes(shifts))


@item(
    "fig2",
    "A proportion of .98: mixed has outliers too, some above 1, but is the best of the three",
    draw=BOXES,
)
def _fig2(setting: Setting) -> Claims:
    shifts = _shifts(2, setting.runs(RUNS, RUNS))
    mixed, rival = (
        [_outside(study.estimates[method]) for study in shifts.studies]
        for method in ("mixed", "misclassification")
    )
    tails = [
        np.abs(study.estimates["misclassification"] - study.new_base_rate).max()
        for study in shifts.studies
    ]
    yield bound(
        "largest proportion of mixed estimates outside [0, 1] over the new proportions",
        "can predict values outside",
        max(mixed),
        low=1e-4,
    )
    yield every(
        "new proportions at which mixed leaves [0, 1] no more often than misclassification",
        sum(map(operator.le, mixed, rival)),
        len(mixed),
        printed="occurs less often",
    )
    yield bound(
        "largest error of misclassification at .90 over that at .98",
        "more extreme outliers",
        tails[0] / tails[5],
        low=1,
    )
    yield from _better(shifts, "sd", "always lower", "misclassification")
    yield from _better(shifts, "rmse", "best estimator out of the three", "misclassification")
    yield from _better(
        shifts, "rmse", "best estimator out of the three", "calibration", unmoved=False
    )
    yield Figure(_boxes(shifts))


@item(
    "fig3",
    "A good classifier and large shifts: mixed is similar to misclassification, and consistently "
    "better",
    draw=BOXES,
)
def _fig3(setting: Setting) -> Claims:
    shifts = _shifts(3, setting.runs(RUNS, RUNS))
    first = shifts.studies[0]
    yield bound(
        f"sd of mixed over that of misclassification at {first.new_base_rate:g}",
        "similar",
        first.sd["mixed"] / first.sd["misclassification"],
        low=0.75,
        high=1.33,
    )
    yield from _better(shifts, "rmse", "consistently better", "misclassification")
    yield Figure(_boxes(shifts))


@item(
    "section4",
    "Mixed outperforms calibration, misclassification and all other available estimators",
)
def _section4() -> Claims:
    base, new, p00, p11 = np.transpose(_settings(4000))
    bias, variance, _ = theory.moments(base, new, p00, p11, N)
    square = {name: bias[name] ** 2 + variance[name] for name in SHOWN}

    def better(text: str, printed: str, mixed: Any, rival: Any, instead: str = "") -> dict:
        return every(
            f"random settings in which mixed has {text}",
            int((mixed < rival).sum()),
            len(mixed),
            printed=printed,
            instead=instead,
        )

    yield better(
        "less bias than calibration",
        "less bias",
        *(abs(bias[name]) for name in ("mixed", "calibration")),
    )
    yield better(
        "less variance than calibration",
        "less variance",
        variance["mixed"],
        variance["calibration"],
        "it has less variance than misclassification in "
        f"{(variance['mixed'] < variance['misclassification']).sum():,}",
    )
    for rival in ("calibration", "misclassification"):
        yield better(
            f"a smaller mean squared error than {rival}",
            "in any dataset",
            square["mixed"],
            square[rival],
        )
    yield better(
        "less variance than maximum likelihood",
        "outperforms the estimators currently available",
        variance["mixed"],
        variance["mle"],
    )


@item("appendix", "The moments that make up the variance of mixed", seconds=2)
def _appendix(setting: Setting) -> Claims:
    runs, n = setting.runs(1_000_000, 10_000_000), 2000
    for k, (base, p00, p11) in ((1, PAPER_STUDIES[0]), (3, PAPER_STUDIES[2])):
        rng, d = default_rng(k), p00 + p11 - 1
        shares = [(1 - base) * p00, (1 - base) * (1 - p00), base * (1 - p11), base * p11]
        cells = n00, n01, n10, n11 = rng.multinomial(n, shares, runs).T
        determinant = _determinant(cells)
        V = rate_variance(p00, 1 - base, n) + rate_variance(p11, base, n)
        excess, slack = 1 / determinant - 1 / d + (determinant - d) / d**2, 10 * V / d**2
        yield _near(
            f"equation 12, study {k}, n = 2,000: mean of 1 / (p00 + p11 - 1) minus 1 / d, over "
            "the formula",
            excess,
            V / d**3,
            slack,
            "+ O(n^-2)",
        )
        b1, c11, c00 = _calibration(base, p00, p11)
        missed, hit = n10 / (n00 + n10), n11 / (n01 + n11)
        calibrated = missed * (1 - b1) + hit * b1
        printed = (b1 / n + (1 - b1) / n**2) * c11 * (1 - c11)
        printed += ((1 - b1) / n + b1 / n**2) * c00 * (1 - c00)
        yield _near(
            f"equation 21, study {k}: variance of calibration over the formula",
            (calibrated - calibrated.mean()) ** 2,
            printed,
            slack,
            "+ O(max[1/n^3, 1/(N n)])",
        )
        A, B = base * p00 * (1 - p00), (1 - base) * p11 * (1 - p11)
        inverse = 1 / determinant - 1 / d
        of_missed = (A * (1 - p11) + B * p00) / (n * (1 - b1) ** 2 * d**2)
        of_hit = -(A * p11 + B * (1 - p00)) / (n * b1**2 * d**2)
        for equation, share, printed in ((55, missed, of_missed), (61, hit, of_hit)):
            yield _near(
                f"equation {equation}, study {k}: covariance with 1 / (p00 + p11 - 1) over the "
                "formula",
                (share - share.mean()) * (inverse - inverse.mean()),
                printed,
                slack,
                "approximation",
            )


def _near(text: str, values: ndarray, formula: float, slack: float, printed: str) -> dict:
    """Return the row of a mean and its formula, which may differ by the proportion `slack`.

    The paper prints the remainder as `printed`.
    """
    ratio, error = values.mean() / formula, values.std() / len(values) ** 0.5 / abs(formula)
    return bound(text, printed, ratio, low=1 - slack, high=1 + slack, error=error)
