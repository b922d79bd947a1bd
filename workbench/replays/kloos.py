"""Kloos: the mixed estimator of a share under prior probability shift.

References
----------
.. [1] Kloos, A new generic method to improve machine learning applications in official statistics, Statistical
   Journal of the IAOS 37, 2021.
"""

import operator
from collections.abc import Iterator
from typing import Any

import numpy as np

from workbench.misclassification import theory
from workbench.misclassification.confusion import ConfusionCounts
from workbench.misclassification.setting import rate_variance
from workbench.replays.claims import Correction, bound, equal, every, number
from workbench.replays.items import Paper, drawn
from workbench.simulations.misclassification import PAPER_STUDIES, simulate_prevalence, simulate_shifts

PAPER = Paper("kloos", "A new generic method to improve machine learning applications in official statistics")
N, SIZE, RUNS, LARGE = 1000, 300_000, 10_000, 100_000
FIVE = ("baseline", "classify_and_count", "subtracted_bias", "misclassification", "calibration")
SHOWN = ("calibration", "misclassification", "mixed")
WORDS = ("no", "very low", "low", "medium", "large")
# table 2 and table 3: what is said of bias and of variance
FIXED_RATE = {"baseline": ("no", "large"), "classify_and_count": ("large", "very low"),
              "subtracted_bias": ("medium", "low"), "misclassification": ("very low", "large"),
              "calibration": ("no", "medium")}
SHIFTED = FIXED_RATE | {"baseline": ("large", "large"), "calibration": ("medium", "medium")}
# new base rates of figures 1 to 3, which the text does not list
NEW_RATES = ((.3, .4, .45, .5, .55, .6, .7), (.9, .92, .94, .96, .97, .98, .99), (.25, .4, .5, .6, .7, .75, .9))


@PAPER.item("table1", "Confusion matrices of population and test set; roofs with solar panels: 10% are counted as 17%")
def _table1(setting: Any) -> list:
    audit = ConfusionCounts([[8280, 720], [20, 980]])
    return [number("roofs that are counted as having panels", "1700", 1000 * .98 + 9000 * (1 - .92)),
            number("counted share in percent", "17", 100 * (audit.table[:, 1].sum() / audit.table.sum())),
            bound("items miscounted by the classifier with 10 and 10 errors less that of the one with 9 and 5",
                  "fewer", (10 - 10) - (9 - 5), high=-1)]


@PAPER.item("table2", "Five estimators without a shift: how large bias and variance are", draw=drawn(
    "bars", "study", "size", "method", panel="of", columns=1, same_scale=False))
def _table2(setting: Any) -> tuple:
    claims, rows = _words_hold([(base, base, p00, p11) for base, p00, p11 in PAPER_STUDIES], FIXED_RATE)
    base, p00, p11 = PAPER_STUDIES[0]
    study = simulate_prevalence(base, base, p00, p11, N, SIZE, runs=setting.runs(RUNS, RUNS), rng=1)
    return [*claims, *(number(f"bias of {method} in study 1", 0.0, study.bias[method], error=study.bias_error[method])
                       for method in ("baseline", "calibration"))], rows


@PAPER.item("table3", "Five estimators under a shift: how large bias and variance are", draw=drawn(
    "bars", "study", "size", "method", panel="of", columns=1, same_scale=False))
def _table3(setting: Any) -> tuple:
    shifts = [(base, new[0], p00, p11) for (base, p00, p11), new in zip(PAPER_STUDIES, NEW_RATES, strict=True)]
    claims, rows = _words_hold(shifts, SHIFTED)
    study = simulate_prevalence(.75, .5, .85, .9, N, SIZE, runs=setting.runs(RUNS, RUNS), rng=1)
    return [*claims, bound("bias of misclassification in study 3, share .75 to .5, over its sd", "(asymptotically) 0",
                           abs(study.bias["misclassification"]) / study.sd["misclassification"], high=.05)], rows


def _words_hold(shifts: list, said: dict) -> tuple:
    """Return claims that bias and variance are ordered as the words are, in each study, and the figures."""
    claims, rows = [], []
    for which, part in (("bias", 0), ("variance", 1)):
        for study, (base, new, p00, p11) in enumerate(shifts, 1):
            found = theory.estimator_theory(base, new, p00, p11, N, size=SIZE)
            size = {name: abs(getattr(found, which)[name]) ** (.5 if which == "variance" else 1) for name in FIVE}
            pairs = [(a, b) for a in FIVE for b in FIVE if WORDS.index(said[a][part]) < WORDS.index(said[b][part])]
            claims.append(every(f"{which} in study {study}: pairs of estimators in the order that the words say",
                                sum(size[a] <= size[b] for a, b in pairs), len(pairs), printed="in all"))
            rows += [{"of": "bias, absolute" if which == "bias" else "standard deviation", "study": study,
                      "method": name, "size": float(value)} for name, value in size.items()]
    return claims, rows


@PAPER.item("lemma1", "The variance of the audited p11 and p00, and that they are uncorrelated")
def _lemma1(setting: Any) -> Iterator[dict]:
    runs = setting.runs(200_000, 1_000_000)
    for k, (base, p00, p11) in enumerate(PAPER_STUDIES, 1):
        rng = np.random.default_rng(k)
        ones = rng.binomial(N, base, runs)
        hit, correct = rng.binomial(ones, p11) / ones, rng.binomial(N - ones, p00) / np.maximum(N - ones, 1)
        known = ones < N
        for name, values, rate, share in (("p11 over equation 2", hit, p11, base),
                                          ("p00 over equation 3", correct[known], p00, 1 - base)):
            printed = rate_variance(rate, share, N)
            spread = ((values - values.mean()) ** 2).std() / values.size ** .5
            left = 8 * rate * (1 - rate) / (N * share) ** 3 / printed      # the order of what the formula leaves out
            yield bound(f"study {k}: variance of the estimated {name}", "1, up to 1/n^3", values.var(ddof=1) / printed,
                        low=1 - left, high=1 + left, error=spread / printed)
        yield number(f"study {k}: correlation of the two", 0.0, np.corrcoef(hit[known], correct[known])[0, 1],
                     error=runs ** -.5)


@PAPER.item("theorem1", "Bias and variance of the mixed estimator in closed form", seconds=3, draw=drawn(
    "lines", "new_base_rate", "sd", "by", panel="study", y_title="standard deviation of mixed", columns=3,
    same_scale=False))
def _theorem1(setting: Any) -> tuple:
    claims, rows = _same_as_library(), []
    for k, ((base, p00, p11), rates) in enumerate(zip(PAPER_STUDIES, NEW_RATES, strict=True), 1):
        for new in rates:
            study = simulate_prevalence(base, new, p00, p11, N, None, runs=setting.runs(20_000, 400_000), rng=1)
            rows += [{"study": f"study {k}", "new_base_rate": new, "by": by, "sd": float(variance ** .5)}
                     for by, variance in zip(("simulation", "as printed", "corrected"), (
                         study.sd["mixed"] ** 2, *_variances(base, new, p00, p11, N)), strict=True)]
        for new in (rates[0], rates[-1]):
            claims += _checked(f"study {k}, share {base:g} to {new:g}", base, new, p00, p11,
                               setting.runs(400_000, 4_000_000, 20_000))
    return [*claims, *_compared()], rows


def _checked(name: Any, base: Any, new: Any, p00: Any, p11: Any, runs: Any) -> list:
    """Return claims about bias and variance with an audit so large that only terms of 1/n are left."""
    study = simulate_prevalence(base, new, p00, p11, LARGE, None, runs=runs, rng=1)
    printed, corrected = _variances(base, new, p00, p11, LARGE)
    sd, left = study.sd["mixed"], 10 * _slope(base, p00, p11, LARGE)
    error = 2 * sd * study.sd_error["mixed"]
    bias = (new - base) * _slope(base, p00, p11, LARGE)
    return [bound(f"{name}: simulated over printed variance, n = 100,000", "1, up to 1/n^2", sd ** 2 / printed,
                  error=error / printed, low=1 - left, high=1 + left,
                  correction=Correction("the covariance of equation 63 counts twice, as in equation 20",
                                        ours=sd ** 2 / corrected, error=error / corrected, low=1 - left,
                                        high=1 + left)),
            number(f"{name}: bias times n, equation 4", LARGE * bias, LARGE * study.bias["mixed"],
                   error=LARGE * study.bias_error["mixed"])]


def _slope(base: float, p00: float, p11: float, n: int) -> float:
    """Return (V(p00) + V(p11)) / (p00 + p11 - 1)^2."""
    return (rate_variance(p00, 1 - base, n) + rate_variance(p11, base, n)) / (p00 + p11 - 1) ** 2


def _variances(base: float, new: float, p00: float, p11: float, n: int) -> tuple:
    """Return the variance as equation 5 prints it and with the covariance twice, for infinitely many items."""
    b1 = base * p11 + (1 - base) * (1 - p00)
    c11, c00 = base * p11 / b1, (1 - base) * p00 / (1 - b1)
    d, shift, A, B = p00 + p11 - 1, new - base, p00 * (1 - p00), p11 * (1 - p11)
    calibrated = base * p11 / n * (1 - c11) + (1 - base) * p00 / n * (1 - c00)
    covariance = shift * ((base * A * (1 - p11) + (1 - base) * p00 * B) / (n * (1 - b1) * d)
                          - (base * A * p11 + (1 - base) * (1 - p00) * B) / (n * b1 * d))
    rest = calibrated + shift ** 2 * _slope(base, p00, p11, n)
    return rest + covariance, rest + 2 * covariance


def _same_as_library() -> list:
    """Return a claim that the corrected formula is what `estimator_theory` returns, up to 1/n^2."""
    differences = []
    for base, new, p00, p11 in _settings(200):
        library = theory.moments(base, new, p00, p11, N)[1]["mixed"]
        c = theory.moments(base, base, p00, p11, N)[1]["mixed"] - _variances(base, base, p00, p11, N)[1]
        differences.append((library - c) / _variances(base, new, p00, p11, N)[1] - 1)
    return [equal("corrected equation 5 and estimator_theory, 200 settings, without its term of 1/n^2", differences)]


def _settings(count: int) -> list:
    rng = np.random.default_rng(7)
    return np.stack([rng.uniform(*ends, count) for ends in 2 * [(.05, .95)] + 2 * [(.55, .99)]], 1).tolist()


def _compared() -> list:
    """Return the claims of section 3 and 4 that compare variances, over random settings."""
    found = [((a, t), theory.moments(a, t, p00, p11, N)[1]) for a, t, p00, p11 in _settings(4000)]
    less = [v["mixed"] < v["misclassification"] for _, v in found]
    near = [v["mixed"] < v["misclassification"] for (a, t), v in found if t >= a / 2 and 1 - t >= (1 - a) / 2]
    few, right = [v["mixed"] <= v["calibration"] for _, v in found], len(found) if all(near) else sum(near)
    return [every("the variance of mixed is below that of misclassification, any setting", sum(less), len(less),
                  correction=Correction("where the share does not fall below half, on either side", ours=right)),
            every("mixed has less variance than calibration, any setting", sum(few), len(few),
                  correction=Correction("less than misclassification is meant, and that where no share is halved",
                                        ours=right)),
            every("no estimator does better: the variance of mixed is at most that of maximum likelihood",
                  sum(v["mixed"] <= v["mle"] * (1 + 1e-9) for _, v in found), len(found), printed="in any dataset")]


def _shifts(figure: int, runs: int) -> Any:
    base, p00, p11 = PAPER_STUDIES[figure - 1]
    return simulate_shifts(base, NEW_RATES[figure - 1], p00, p11, N, SIZE, runs=runs, rng=figure, rates="frame")


def _boxes(shifts: Any) -> Iterator[dict]:
    for study in shifts.studies:
        for method in SHOWN:
            error = study.estimates[method] - study.new_base_rate
            q1, median, q3 = np.nanquantile(error, (.25, .5, .75)).tolist()
            inside = error[(error >= q1 - 1.5 * (q3 - q1)) & (error <= q3 + 1.5 * (q3 - q1))]
            yield {"new_base_rate": round(study.new_base_rate, 3), "method": method, "low": float(inside.min()),
                   "q1": q1, "median": median, "q3": q3, "high": float(inside.max())}


def _better(shifts: Any, quantity: str, text: str, *rivals: str) -> Iterator[dict]:
    """Yield claims that mixed has the smaller sd or RMSE at each new share, or at each that differs from the old."""
    for rival in rivals:
        wins = [(getattr(study, quantity)["mixed"] < getattr(study, quantity)[rival],
                 abs(study.new_base_rate - study.base_rate) > 1e-6) for study in shifts.studies]
        yield every(f"{text} below that of {rival}", sum(won for won, _ in wins), len(wins),
                    printed="at each new share", correction=Correction(
                        "where the share has changed at all", ours=sum(won or not moved for won, moved in wins)))


BOXES = drawn("boxes", "new_base_rate", "method", y_title="estimate minus new base rate")


@PAPER.item("fig1", "A poor classifier, share .5: mixed has almost no bias and much less variance than "
            "misclassification", draw=BOXES)
def _fig1(setting: Any) -> tuple:
    shifts = _shifts(1, setting.runs(RUNS, RUNS))
    away = {study: abs(study.new_base_rate - study.base_rate) for study in shifts.studies}
    bias = max(abs(study.bias["mixed"]) / study.sd["mixed"] for study in away)
    pairs = [a.sd["mixed"] < b.sd["mixed"] for a in away for b in away if away[b] - away[a] > .01]
    far = max(away, key=away.__getitem__)
    return [bound("largest bias of mixed over its sd", "almost no bias", bias, high=.1),
            *_better(shifts, "sd", "sd of mixed", "misclassification"),
            *_better(shifts, "rmse", "RMSE of mixed", "misclassification", "calibration"),
            bound(f"bias of calibration at {far.new_base_rate:g} over its sd", "biased",
                  abs(far.bias["calibration"]) / far.sd["calibration"], low=3),
            every("pairs of new shares of which the more distant one has the larger sd of mixed", sum(pairs),
                  len(pairs))], _boxes(shifts)


@PAPER.item("fig2", "A share of .98: mixed has outliers too, some beyond 1, but is the best of the three", draw=BOXES)
def _fig2(setting: Any) -> tuple:
    shifts = _shifts(2, setting.runs(RUNS, RUNS))
    mixed, rival = ([np.mean((study.estimates[method] < 0) | (study.estimates[method] > 1))
                     for study in shifts.studies] for method in ("mixed", "misclassification"))
    tails = [np.abs(study.estimates["misclassification"] - study.new_base_rate).max() for study in shifts.studies]
    return [bound("share of mixed estimates outside [0, 1], the most over new shares", "some", max(mixed), low=1e-4),
            every("mixed leaves [0, 1] no more often than misclassification", sum(map(operator.le, mixed, rival)),
                  len(mixed), printed="at each new share"),
            bound("largest error of misclassification at .90 over that at .98", "more extreme outliers",
                  tails[0] / tails[5], low=1),
            *_better(shifts, "sd", "sd of mixed", "misclassification"),
            *_better(shifts, "rmse", "RMSE of mixed", "misclassification", "calibration")], _boxes(shifts)


@PAPER.item("fig3", "A good classifier and large shifts: mixed is like misclassification, and consistently better",
            draw=BOXES)
def _fig3(setting: Any) -> tuple:
    shifts = _shifts(3, setting.runs(RUNS, RUNS))
    first = shifts.studies[0]
    return [bound(f"sd of mixed over that of misclassification at {first.new_base_rate:g}", "similar",
                  first.sd["mixed"] / first.sd["misclassification"], low=.75, high=1.33),
            *_better(shifts, "rmse", "RMSE of mixed", "misclassification")], _boxes(shifts)


@PAPER.item("section4", "Rates that differ within a class: constant on average is enough, harder newcomers are not")
def _section4(setting: Any) -> list:
    base, new, p00, p11, runs = .5, .35, .85, .8, setting.runs(RUNS, RUNS)
    easy, hard = .95, .65
    audit = simulate_prevalence(base, new, p00, p11, N, SIZE, runs=runs, rng=1)
    rng = np.random.default_rng(2)
    frame = (rng.binomial(SIZE // 4, easy, runs) + rng.binomial(SIZE // 4, hard, runs)
             + rng.binomial(SIZE // 2, 1 - p00, runs)) / SIZE

    def estimate(easy_share: float) -> tuple:
        ones = round(new * SIZE)
        counted = (rng.binomial(round(ones * easy_share), easy, runs)
                   + rng.binomial(ones - round(ones * easy_share), hard, runs)
                   + rng.binomial(SIZE - ones, 1 - p00, runs)) / SIZE
        table = audit.table.astype(float)
        d = table[:, 0, 0] / table[:, 0].sum(1) + table[:, 1, 1] / table[:, 1].sum(1) - 1
        calibrated = (table[:, 1, 0] / table[:, :, 0].sum(1) * (1 - frame)
                      + table[:, 1, 1] / table[:, :, 1].sum(1) * frame)
        error = calibrated + (counted - frame) / d - new
        return float(error.mean()), float(error.std() / runs ** .5)
    same, fewer = estimate(.5), estimate(.25)
    predicted = new * .25 * (hard - easy) / (p00 + p11 - 1)
    left = (new - base) * _slope(base, p00, p11, N)
    return [bound("bias of mixed, half of the class easy (.95) and half hard (.65) in both periods, less equation 4",
                  "unbiased up to 1/n", same[0] - left, low=-5e-4, high=5e-4, error=same[1]),
            number("bias of mixed where three quarters of the new period's class are hard, against the fall of the "
                   "mean rate over p00 + p11 - 1", predicted, fewer[0] - left, error=fewer[1])]
