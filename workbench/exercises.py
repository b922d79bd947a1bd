"""Check an answer to an exercise: right, a named mistake, or not yet; then a hint, then the explanation.

Answers are recomputed from the digit forms; nothing is stored.
"""
import numbers
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from workbench import allocation, checks, orthogonal, populations, replication, stratification, stratified
from workbench.metrics import naive
from workbench.results import Result
from workbench.survey_design import SurveyDesign

TRIES_BEFORE_EXPLANATION = 3
_tries = {}


@dataclass(frozen=True, eq=False, repr=False)
class Feedback(Result):
    """What an answer earned.

    Attributes
    ----------
    exercise : str
    verdict : {"right", "mistake", "not yet", "no answer"}
    message : str
        What is right, the mistake by its name, or what to answer with.
    hint, explanation : str
        The hint comes after a miss; the explanation after success or three tries.
    """

    exercise: str
    verdict: str
    message: str
    hint: str = ""
    explanation: str = ""

    def headline(self):
        """Return verdict, message and what help is due."""
        parts = [f"{self.exercise} {self.verdict}: {self.message}"]
        parts += [f"Hint: {self.hint}"] if self.hint else []
        parts += [f"Why: {self.explanation}"] if self.explanation else []
        return " ".join(parts)

    def rows(self):
        """Return one row."""
        return [{"exercise": self.exercise, "verdict": self.verdict, "message": self.message, "hint": self.hint,
                 "explanation": self.explanation}]

    def _repr_html_(self):
        import html
        mark = {"right": "&#10003;", "mistake": "&#10007;", "not yet": "&#8230;", "no answer": "?"}[self.verdict]
        help_lines = "".join(f"<br><em>{name}</em> {html.escape(text)}" for name, text in
                             (("Hint:", self.hint), ("Why:", self.explanation)) if text)
        return (f"<p role='status'><strong>{mark} {html.escape(self.exercise)} {self.verdict}</strong>: "
                f"{html.escape(self.message)}{help_lines}</p>")


def check(exercise, answer):
    """Check an answer to an exercise of the course.

    Parameters
    ----------
    exercise : str
        Its number, such as "1.1".
    answer : object
        What the exercise asks for; None for no answer yet.

    Returns
    -------
    Feedback

    Examples
    --------
    >>> check("1.1", (0.88, 0.0288)).verdict
    'right'
    """
    checks.choice("exercise", exercise, _EXERCISES)
    judge, form, hint, explanation = _EXERCISES[exercise]
    if answer is None:
        return Feedback(exercise, "no answer", f"answer with {form}")
    verdict, message = judge(answer, form)
    _tries[exercise] = _tries.get(exercise, 0) + 1
    due = verdict == "right" or _tries[exercise] >= TRIES_BEFORE_EXPLANATION
    return Feedback(exercise, verdict, message, "" if verdict == "right" else hint, explanation() if due else "")


def start_over():
    """Forget all tries, as for the next student at the same machine."""
    _tries.clear()


@lru_cache(1)
def fifths():
    """Return sizes, right ones and items of the digit forms' five equal-size strata."""
    items = populations.digit_forms().items()
    strata = stratification.stratify(items.score, 5, "equal_size")
    return strata.sizes, np.bincount(strata.labels, items.correct, 5).astype(int), items


def _spread():
    size, right, _ = fifths()
    return np.sqrt(stratified.stratum_variance(size, right / size))


def _numbers(answer, count):
    try:
        values = list(answer)
    except TypeError:
        values = [answer]
    if len(values) == count and all(isinstance(v, numbers.Real) and np.isfinite(v) for v in values):
        return [float(v) for v in values]
    return None


def _estimate_and_error(answer, form):
    values = _numbers(answer, 2)
    if values is None:
        return "not yet", f"answer with {form}"
    found = stratified.stratified_accuracy([360, 359, 360, 359, 359], [20] * 5, [12, 17, 19, 20, 20])
    without = stratified.estimated_variance(found.stratum_size, found.labeled, found.correct, form="paper") ** 0.5
    if abs(values[0] - found.estimate) > 6e-4:
        return "not yet", "the estimate is the weighted mean of the five rates"
    if abs(values[1] - found.standard_error) <= 1e-4:
        return "right", f"{found.estimate:.3f} and {found.standard_error:.5f}"
    if abs(values[1] - without) <= 2e-4:
        return "mistake", "no finite-population factor: 20 of 360 are labeled, so 340 of 360 are unknown"
    return "not yet", "the estimate is right, the standard error is not"


def _why_estimate():
    random = stratified.estimated_variance([1797], [100], [88]) ** 0.5
    return (f"pure strata add nothing to the standard error, 88 of 100 at random would have {random:.4f}; yet the "
            "interval is wide below, for what a pure stratum hides: see the default interval beside Wald's")


def _neyman_shares(answer, form):
    values = _numbers(answer, 5)
    if values is None:
        return "not yet", f"answer with {form}"
    size, _, _ = fifths()
    optimum = allocation.allocate(size, 100, "neyman", stratum_sd=_spread()).labeled
    if sum(values) != 100:
        return "mistake", f"budget not spent exactly: your labels add up to {sum(values):g}"
    if min(values) < 2:
        return "mistake", "a stratum with fewer than 2 labels has no variance estimate"
    if np.abs(np.array(values) - optimum).max() <= 1:
        return "right", " / ".join(map(str, optimum))
    if max(values) - min(values) <= 1:
        return "mistake", "equal shares: where a stratum varies more, it needs more"
    return "not yet", "shares in proportion to size times standard deviation, at least 2 each"


def _plan(answer, form):
    try:
        labels, design = answer
    except (TypeError, ValueError):
        return "not yet", f"answer with {form}"
    if not isinstance(labels, numbers.Real) or design not in ("random", "proportional", "neyman", "neyman with floor"):
        return "not yet", f"answer with {form}"
    size, right, _ = fifths()
    wald = {m: stratified.plan_budget(size, right / size, 0.03, method=m, interval="wald").budget
            for m in ("simple_random", "proportional", "neyman")}
    endless = stratified.plan_budget(size, right / size, 0.03, method="simple_random", interval="wald", finite=False)
    if abs(labels - endless.budget) <= 1:
        return "mistake", "no finite-population factor: this counts as if there were endlessly many forms"
    if design == "neyman":
        return "mistake", "pure Neyman trusts last month's rates and leaves 2 labels in the top fifth"
    if design == "random":
        return "mistake", f"random sampling needs {wald['simple_random']}; strata need fewer"
    if design == "proportional" and abs(labels - wald["proportional"]) <= 4:
        return "right", f"{wald['proportional']} proportional labels lose least under drift"
    if design == "neyman with floor" and abs(labels - wald["neyman"]) <= 3:
        return "right", f"{wald['neyman']} with a floor, and a new plan when the rates move"
    return "not yet", "the design can work; the number is off"


def _why_plan():
    size, right, _ = fifths()
    reach = {m: 1.96 * np.sqrt(allocation.allocation_variance(size, _drifted(), labeled))
             for m, labeled in _drift_designs(size, right).items()}
    plan = stratified.plan_budget(size, right / size, 0.03)
    return (f"if the top fifth falls to .90, pure Neyman reaches ±{reach['neyman']:.3f}, with a 30% floor "
            f"±{reach['floor']:.3f}, proportional ±{reach['proportional']:.3f} (Wald); the default interval that you "
            f"would report needs {plan.budget} proportional labels")


def _drifted():
    size, right, _ = fifths()
    rate = right / size
    rate[-1] = 0.90
    return np.sqrt(stratified.stratum_variance(size, rate))


def _drift_designs(size, right):
    neyman = allocation.allocate(size, 188, "neyman", stratum_sd=_spread(), minimum=0, integer=False).labeled
    return {"neyman": allocation.allocate(size, 188, "neyman", stratum_sd=_spread()).labeled,
            "floor": 0.7 * neyman + 0.3 * 188 * size / size.sum(),
            "proportional": allocation.allocate(size, 298, "proportional").labeled}


def _design(answer, form):
    try:
        stratifier, labeled = answer
        labeled = [int(n) for n in labeled]
    except (TypeError, ValueError):
        return "not yet", f"answer with {form}"
    if stratifier not in stratification.METHODS:
        return "mistake", f"{stratifier!r} is none of the seven stratifiers"
    if sum(labeled) != 100 or min(labeled) < 2:
        return "mistake", "100 labels in total, at least 2 in each stratum"
    _, _, items = fifths()
    strata = stratification.stratify(items.score, len(labeled), stratifier)
    if strata.n_strata != len(labeled) or (strata.sizes < labeled).any():
        return "mistake", f"there are {strata.n_strata} strata of sizes {strata.sizes.tolist()}"
    right = np.bincount(strata.labels, items.correct, strata.n_strata)
    error = stratified.accuracy_variance(strata.sizes, right, labeled) ** 0.5
    if error <= 0.0245:
        return "right", f"gold, SE {error:.4f}"
    return ("right", f"SE {error:.4f}; .0245 would be gold") if error <= 0.0295 else \
        ("not yet", f"SE {error:.4f}; at most .0295 is wanted, random sampling has .0319")


def _three_districts(answer, form):
    values = _numbers(answer, 1)
    if values is None:
        return "not yet", f"answer with {form}"
    differences = np.array([0.10, -0.06, 0.04])
    right = float(np.sqrt((differences ** 2).sum() / 4) / 3)
    if abs(values[0] - right) <= 2e-4:
        return "right", f"{right:.4f}"
    if abs(values[0] - 3 * right) <= 6e-4:
        return "mistake", "not divided by the number of districts: each weighs a third of the mean"
    if abs(values[0] - 2 * right) <= 4e-4:
        return "mistake", "the variance of a mean of two is d^2 / 4, not d^2"
    return "not yet", "add up the squared differences, divide by 4 and by the square of the number of districts"


def _why_three_districts():
    design = SurveyDesign([1, 1, 2, 2, 3, 3])
    found = replication.replicate_estimate(replication.replicates(design), "mean", [.95, .85, .87, .93, .90, .86])
    halves = ", ".join(f"{value:.3f}" for value in found.replicate_values)
    return f"boxes of .95 and .85, .87 and .93, .90 and .86: the four balanced halves {halves} give the same SE"


def _fewest_runs(answer, form):
    values = _numbers(answer, 1)
    if values is None:
        return "not yet", f"answer with {form}"
    named = {27: ("mistake", "the paper's rule, 3^3 - 1 = 26 columns; only (27 - 1) / (3 - 1) = 13 are balanced"),
             54: ("mistake", "there is such an array, from a difference matrix; it is not linear"),
             16: ("mistake", "two units per stratum: three need more"),
             3 ** 14: ("mistake", "all combinations: balanced, and 59,049 times too many")}
    if values[0] == orthogonal.smallest_runs(3, 14):
        return "right", "81"
    return named.get(values[0], ("not yet", "a power of 3 with room for 14 columns"))


def box_worth():
    """Return labels, accuracy by boxes of equal weight, design effect and intraclass correlation of the digit forms."""
    forms = populations.digit_forms()
    per_box = np.bincount(forms.box)[forms.box]
    design = SurveyDesign((forms.box - 1) // 2, psu=forms.box, weight=1 / per_box)
    found = replication.replicate_estimate(replication.replicates(design), "accuracy", forms.digit, forms.read_a)
    effect = found.variance / naive("accuracy", forms.digit, forms.read_a)[1] ** 2
    return forms.box.size, found, effect, (effect - 1) / (forms.box.size / 14 - 1)


def _labels_per_box(answer, form):
    values = _numbers(answer, 1)
    if values is None:
        return "not yet", f"answer with {form}"
    if 24 <= values[0] <= 45:
        return "right", f"{values[0]:g} labels per box are worth {_worth(values[0]):,.0f}"
    if values[0] > 45:
        return "mistake", f"{values[0]:g} labels of one box tell much the same: worth {_worth(values[0]):,.0f} in all"
    return "not yet", f"{values[0]:g} per box are worth {_worth(values[0]):,.0f}: most of the money goes into boxes"


def _worth(per_box, budget=3000, box=20):
    """Return how many independent labels `budget` buys at `per_box` labels in each box."""
    *_, correlation = box_worth()
    return budget / (box + per_box) * per_box / (1 + (per_box - 1) * correlation)


def _why_labels_per_box():
    *_, correlation = box_worth()
    best = np.sqrt(20 * (1 - correlation) / correlation)
    return (f"the best number is the root of box price x (1 - ICC) / ICC = {best:.1f}: worth {_worth(best):,.0f}; "
            f"127 per box would be worth {_worth(127):,.0f}")


@lru_cache(1)
def _nines():
    """Return F1 of code 9, and its SE and 95% logit interval by box under three kinds of replicates."""
    forms = populations.digit_forms()
    design = SurveyDesign((forms.box - 1) // 2, psu=forms.box)
    return [replication.replicate_estimate(replication.replicates(design, method), "f1", forms.digit == 9,
                                           forms.read_a == 9) for method in ("jkn", "fay", "brr")]


def _f1_of_nines(answer, form):
    values = _numbers(answer, 4)
    if values is None:
        return "not yet", f"answer with {form}"
    found = _nines()
    errors = [estimate.standard_error for estimate in found]
    limits = np.array([tuple(e.interval(method=method)) for e in found for method in ("logit", "default")])
    if abs(values[0] - found[0].estimate) > 1e-3:
        return "not yet", "F1 counts forms read as 9, truly 9, and both"
    forms = populations.digit_forms()
    if abs(values[1] - naive("f1", forms.digit == 9, forms.read_a == 9)[1]) <= 1e-3:
        return "mistake", "as if 1,797 forms were independent: the boxes differ"
    if not min(errors) - 0.003 <= values[1] <= max(errors) + 0.001:
        return "not yet", "F1 is right, its standard error is not"
    outside = (limits.min(0) - 0.012 > values[2:]) | (limits.max(0) + 0.012 < values[2:])
    if outside.any():
        return "not yet", "the interval should be made on the logit scale, with t at 7 degrees of freedom"
    return "right", f"{values[0]:.4f}, SE {values[1]:.4f}, {values[2]:.3f} to {values[3]:.3f}"


def _why_f1_of_nines():
    shown = ", ".join(f"{estimate.method} {estimate.standard_error:.4f}" for estimate in _nines())
    return (f"F1 is not linear, so the kinds of replicates differ a little ({shown}); all are about twice the naive "
            "standard error")


_EXERCISES = {
    "1.1": (_estimate_and_error, "(estimate, standard error)",
            "square the weights; multiply each stratum's variance by 1 - n/N and divide by n - 1", _why_estimate),
    "1.2": (_neyman_shares, "five whole numbers", "share in proportion to N_k S_k",
            lambda: "the pure stratum still gets 2, or its rate and variance could not be estimated"),
    "1.3": (_plan, "(labels, 'random', 'proportional', 'neyman' or 'neyman with floor')",
            "what happens to your plan if the top fifth falls to .90?", _why_plan),
    "1.4": (_design, "(stratifier, [labels per stratum])", "look at where the errors live",
            lambda: "proportional shares pass for six of the seven stratifiers; 40/28/16/9/7 on equal-size fifths is "
                    "gold without knowing a label; knowing all of them gives .0221"),
    "2.1": (_three_districts, "the standard error", "each district adds d^2 / 4, weighed by (1/3)^2",
            _why_three_districts),
    "2.2": (_fewest_runs, "a whole number", "27 runs have room for (27 - 1) / (3 - 1) columns",
            lambda: "27 runs carry 13 columns, 81 carry 40"),
    "2.3": (_labels_per_box, "labels per box", "a box costs 20 labels; what is the tenth label in a box worth?",
            _why_labels_per_box),
    "2.4": (_f1_of_nines, "(F1, standard error, lower, upper limit)",
            "boxes are PSUs, districts strata; wb.replicate_estimate(..., 'f1', digit == 9, read == 9)",
            _why_f1_of_nines),
}
