"""Lesson 1, stratified accuracy: its questions, their answers, and the forms to label.

The live charts are in `scenes`.
"""

import functools
import itertools
import re
from typing import Any

import numpy as np

from workbench import checks, registry
from workbench.audits.accuracy import accuracy_audit
from workbench.charts.stratified import scenes as scene_charts
from workbench.course import lesson_data
from workbench.course.lesson_data import (
    about_digits,
    are_digits,
    comments,
    lesson_forms,
    named,
    only_for_digits,
)
from workbench.intervals.shares import stratified_interval
from workbench.lessons.content import lesson_texts
from workbench.lessons.stratified import scenes
from workbench.results import Table
from workbench.simulations import stratified as simulations
from workbench.stratified import accuracy
from workbench.widgets import questions
from workbench.widgets.chart_view import ChartView
from workbench.widgets.questions import Explanation, Prediction, Reveal
from workbench.widgets.ranges import check_ranges

TEXTS = lesson_texts("stratified")
ANALYSTS = 200
NARROW = 0.03  # half-width in the question about a large population


LEAST_ITEMS = 700  # 600 labels are the most that a scene takes
FIFTHS = 5  # strata in the scenes


def use(path: Any, positive: Any = "") -> Any:
    """Show a file of your own in the scenes of this lesson.

    Parameters
    ----------
    path : str, path, data frame or None
        With the columns `truth`, `prediction` and `score`, the stated probability that the
        prediction is correct. The column `margin`, a second score, is optional. The file needs at
        least 700 rows. None shows the digit forms again.
    positive : object
        The positive class of the `labeled` method of the result.

    Returns
    -------
    workbench.course.lesson_data.LessonItems
        The items that the code cells call `forms`.
    """
    items = lesson_data.use_items(path, needs=("score",), positive=positive)
    lesson_data.check_size(LEAST_ITEMS, 1)
    lesson_data.check_predictions(1)
    scores = np.unique(items.confidence).size
    strata = accuracy_audit(items.items(), 100, n_strata=FIFTHS).labeled.size if scores > 1 else 1
    if strata < FIFTHS:
        lesson_data.use_items(None)
        raise ValueError(
            f"Lesson 1 needs scores that divide the rows into {FIFTHS} strata. {items.name} has "
            f"{checks.counted(scores, 'different score')}, which give {strata}."
        )
    if hasattr(items, "margin") and np.ptp(items.margin) == 0:
        lesson_data.use_items(None)
        raise ValueError(
            f"{items.name}: column 'margin' must contain at least 2 different numbers."
        )
    return items


def how_sure() -> ChartView:
    """Return a chart of the program's stated confidence.

    Examples
    --------
    Build a similar scene:

    >>> import ipywidgets
    >>> import workbench as wb
    >>> from workbench.charts.stratified import scenes as charts
    >>> from workbench.widgets import image
    >>> def scene(power=1):
    ...     return image(charts.confidence(wb.digit_forms().confidence**power))
    >>> scene(2)  # doctest: +ELLIPSIS
    Chart: On average over 1,797 forms, the program says it is 95.0% sure. ...
    >>> ipywidgets.interact(scene, power=(1, 10))  # doctest: +SKIP
    """
    return ChartView(scene_charts.confidence(lesson_forms().confidence))


@about_digits
def label_ten(seed: int = 1) -> questions.Told:
    """Return a labeling desk with ten forms of the lowest and ten of the highest fifth.

    Parameters
    ----------
    seed : int
        Seed of the sampled forms and their order.

    Returns
    -------
    workbench.extras.sessions.lesson.LabelTen
        The desk.
    """
    return registry.load(registry.SCENES["label_ten"])(seed)


def predict_gain() -> Prediction:
    """Return the question about the gain of five strata."""
    return TEXTS.predict("1-gain")


def reveal_shares(**ranges: Any) -> Reveal:
    """Return a view of strata and allocation with the learner's prediction, once it is locked."""
    check_ranges(scenes.strata_and_shares, ranges)
    return questions.reveal(
        "1-gain",
        lambda predicted: [
            scenes.strata_and_shares(TEXTS.value("1-gain", predicted), **ranges),
            questions.look(comments(TEXTS.feedback("1-gain")), predicted, seen_shares),
            *only_for_digits(explain_strata()),
        ],
    )


def seen_shares() -> Table:
    """Return the standard errors and relative variances of the scene's designs."""
    forms = lesson_forms()
    study = functools.partial(
        simulations.study_design, correct=forms.read_a == forms.digit, budget=100
    )
    wide = functools.partial(study, stratifier="equal_width", method="equal")
    fifths, ten = study(forms.confidence), wide(forms.confidence, n_strata=10)
    errors = {
        "none: random sampling": fifths.random_error,
        "five of equal size, proportional allocation": fifths.standard_error,
        "five of equal width, equal allocation": wide(forms.confidence).standard_error,
        "ten of equal width, equal allocation": ten.standard_error,
    }
    if hasattr(forms, "margin"):
        by_margin = wide(forms.margin)
        errors["five of equal width by margin, equal allocation"] = by_margin.standard_error
    errors["five of equal size, best allocation"] = fifths.best_error
    rows = []
    for name, error in errors.items():
        ratio = error / fifths.random_error
        rows.append(
            {
                "strata": name,
                "standard error": f"{error:.4f}",
                "relative to random sampling": f"{ratio:.0%}",
                "variance relative to random sampling": f"{ratio**2:.2f} times",
            }
        )
    return Table(rows, "Standard errors with 100 labels")


def explain_strata() -> Explanation:
    """Return the question why strata help or harm."""
    return TEXTS.explain("1-why-strata")


def belief_of_sureness() -> Table:
    """Return Neyman's allocation from the confidences, and its standard error."""
    sizes, correct = scenes.fifths()
    audit = accuracy_audit(lesson_forms().items(), 100, n_strata=5, allocation="neyman")
    variance = accuracy.accuracy_variance(sizes, correct, audit.labeled)
    random = accuracy.accuracy_variance([sizes.sum()], [correct.sum()], [100])
    return Table(
        [
            {
                "labels per fifth": ", ".join(map(str, audit.labeled)),
                "standard error": f"{variance**0.5:.4f}",
                "variance relative to random sampling": f"{variance / random:.2f} times",
            }
        ],
        "Neyman's rule with confidence in place of accuracy",
    )


def belief_of_five() -> Table:
    """Return the probability of five correct labels in a row in each fifth."""
    sizes, correct = scenes.fifths()
    return Table(
        [
            {"fifth": k, "accuracy": f"{rate:.1%}", "five correct in a row": f"{rate**5:.2f}"}
            for k, rate in enumerate(correct / sizes, 1)
        ],
        "Probability of five correct labels in a row",
    )


def belief_of_width() -> Table:
    """Return the Wald and the default interval of 25 labels that are all correct."""
    intervals = [
        stratified_interval([1797], [25], [25], method=method) for method in ("wald", "default")
    ]
    return Table([interval.rows()[0] for interval in intervals], "25 of 25 labels correct")


def predict_robot() -> Prediction:
    """Return the question about the robot with more labels."""
    few = "81" if are_digits() else f"{100 * scenes.robot_studies()[0].coverage('wald'):.0f}"
    return TEXTS.predict("1-robot", few=few)


def reveal_robot(**ranges: Any) -> Reveal:
    """Return the robot with the learner's prediction, once it is locked."""
    check_ranges(scenes.papers_robot, ranges)
    return questions.reveal(
        "1-robot",
        lambda predicted: [
            scenes.robots(TEXTS.value("1-robot", predicted)),
            scenes.papers_robot(**ranges),
            questions.look(comments(TEXTS.feedback("1-robot")), predicted, seen_robots),
            explain_robot(),
        ],
    )


def seen_robots() -> Table:
    """Return coverage and variances of the robot, Neyman's rule and two waves."""
    rules = [
        ("Neyman's rule with the true accuracies", "neyman", 200),
        ("two waves with a floor", "waves", 100),
    ]
    studies = [("robot", study) for study in scenes.robot_studies()]
    studies += [
        (name, simulations.simulate_labeling(*scenes.fifths(), n, rule, runs=20_000))
        for name, rule, n in rules
    ]
    return Table(
        [
            {
                "design": name,
                "labels": study.budget,
                "contain the truth": f"{study.coverage('wald'):.0%}",
                "claimed variance": f"{study.estimated_variance_ratio:.2f} times",
                "actual variance": f"{study.variance_ratio:.2f} times",
            }
            for name, study in studies
        ],
        "95% Wald intervals, 20,000 runs each; variances relative to random sampling",
    )


def explain_robot() -> Explanation:
    """Return the question why the robot covers less with more labels."""
    return TEXTS.explain("1-why-robot")


def predict_looking() -> Prediction:
    """Return the question about analysts who check their intervals many times."""
    return TEXTS.predict("1-looking")


def reveal_looking(**ranges: Any) -> Reveal:
    """Return the analysts with the learner's prediction, once it is locked."""
    check_ranges(scenes.stop_when_it_looks_good, ranges)
    return questions.reveal(
        "1-looking",
        lambda predicted: [
            scenes.stop_when_it_looks_good(TEXTS.value("1-looking", predicted), **ranges),
            questions.look(comments(TEXTS.feedback("1-looking")), predicted, seen_looking),
            explain_stopping(),
        ],
    )


def seen_looking() -> Table:
    """Return the proportion of analysts who miss the truth, by interval."""
    intervals = [
        ("95%, for a fixed number of labels", "fixed", 2000),
        ("99.5% at every check", "looks", ANALYSTS),
        ("anytime", "anytime", ANALYSTS),
    ]
    studies = [
        (name, simulations.simulate_looking(*scenes.fifths(), method=method, runs=runs))
        for name, method, runs in intervals
    ]
    return Table(
        [
            {
                "interval": name,
                "analysts": study.runs,
                "missed the truth": f"{study.missed[-1]:.1%}",
                "half-width at 600 labels": f"{100 * study.half_width:.2f} points",
            }
            for name, study in studies
        ],
        "58 checks, after every 10 labels from 30 to 600",
    )


def explain_stopping() -> Explanation:
    """Return the question about two reasons for stopping."""
    return TEXTS.explain("1-why-stopping")


def predict_twin() -> Prediction:
    """Return the question whether a large population needs a large sample."""
    if are_digits():
        return TEXTS.predict("1-twin")
    curves, size = scenes.plan_curves(), lesson_forms().digit.size
    larger = curves["twin", True].population
    needed, infinite = (
        curves["forms", finite].at(NARROW)["simple_random"] for finite in (True, False)
    )
    question = TEXTS.question(
        "1-twin-of-a-file", needed=needed, size=size, larger=larger, times=larger / size
    )
    choices = (needed, infinite, 20 * needed, needed / size * larger)
    rounded = dict.fromkeys(f"about {int(float(f'{count:.1e}')):,}" for count in choices)
    return questions.predict("1-twin", question, rounded)


def reveal_needed(**ranges: Any) -> Reveal:
    """Return the labels needed, with the learner's prediction, once it is locked."""
    check_ranges(scenes.labels_needed, ranges)
    return questions.reveal(
        "1-twin",
        lambda predicted: [
            scenes.labels_needed(
                None if predicted is None else (NARROW, float(re.sub(r"\D", "", predicted))),
                **ranges,
            ),
            questions.look(comments(TEXTS.feedback("1-twin")), predicted, seen_needed),
        ],
    )


def seen_needed() -> list:
    """Return the labels for both populations, and the labels for ±5 points with two intervals."""
    sizes, correct = scenes.fifths()
    rows = []
    cases = [
        (NARROW, "forms", True),
        (NARROW, "twin", True),
        (0.01, "forms", False),
        (0.01, "forms", True),
    ]
    for width, population, finite in cases:
        curve = scenes.plan_curves()[population, finite]
        rows.append(
            {
                "half-width in points": f"{100 * width:g}",
                named("forms"): f"{curve.population:,}",
                "finite-population correction": "with" if finite else "without",
                "random labels": f"{curve.at(width)['simple_random']:,}",
            }
        )
    plans = []
    for interval, method in itertools.product(
        ("wald", "default"), ("simple_random", "proportional")
    ):
        plan = accuracy.plan_budget(sizes, correct / sizes, 0.05, method=method, interval=interval)
        design = method.replace("simple_random", "random")
        plans.append({"interval": interval, "design": design, "labels": plan.budget})
    return [
        Table(rows, "Random labels needed (Wald interval)"),
        Table(plans, named(f"Labels for ±5 points of the {sizes.sum():,} forms")),
    ]
