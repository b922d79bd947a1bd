"""Lesson 1, stratified accuracy: its questions, what they reveal, and ten forms to label.

The pictures that are revealed are in `stratified_scenes`.
"""

import functools
import re
from typing import Any

from workbench import registry
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
from workbench.lessons.stratified import scenes
from workbench.results import Table
from workbench.simulations import stratified as simulations
from workbench.stratified import accuracy
from workbench.widgets import questions
from workbench.widgets.chart_view import ChartView
from workbench.widgets.questions import Explanation, Prediction, Reveal

ANALYSTS = 200
# what must not be on the screen before a prediction is locked, its button pressed (look) or an exercise answered
ANSWERS = {
    "1-gain": (".0281", "0.0281", "12%", "31%"),
    "1-gain look": ("3.04", "5.24", "1.04"),
    "1-robot": ("45%", "53%", "66%"),
    "1-robot look": ("2.57", "4.03"),
    "1-looking": ("19.5%",),
    "1-twin": ("462",),
    "1-twin look": ("4,146", "1,254"),
    "1.1": (".02875", ".0288"),
    "1.2": ("42 / 30", "42, 30"),
    "1.3": ("298", "188"),
    "1.4": ("40/28", "40, 28"),
}
GAIN = {
    "0%": "That holds only for groups that are all alike. These differ, and to fix how many labels come from each "
    "takes away the luck of drawing too many easy forms.",
    "10%": "That is right for equal labels per group: the differences between groups are fixed, those within stay.",
    "30%": "So much would the best shares save, and they need what nobody has before labeling: the truth.",
    "50%": "More than any shares among these five groups could save: within a group the labels still differ.",
}
ROBOT = {
    "40": "That is right: it grows surer of an estimate that stays too high.",
    "80": "As if labels made no difference. They do: the intervals shrink, and what they shrink around is wrong.",
    "90": "More labels would help, if they went where the error is. The robot never goes back there.",
    "95": "So the interval says of itself. It holds for labels that were not shared out by what the labels said.",
}
LOOKING = {
    "about 5": "Fewer than at a single look, for which alone 10 of 200 are promised.",
    "about 10": "So many would lose the truth at one look, fixed beforehand. Each further look is another chance.",
    "about 20": "Looking costs more than that: 58 looks are many chances, although they are much alike.",
    "about 40": "That is right: each look is another chance to lose the truth, and one is enough.",
}
TWIN = {
    "about 370": "Nearly as many as before. But the 1,797 had help: with 367 labels a fifth of them was known.",
    "about 460": "That is right: precision comes from the number of labels, hardly from the share of forms labeled.",
    "about 7,000": "As if labels were needed in proportion to something of the population's size. They are not.",
    "about 140,000": "The same share of the forms. But a soup is tasted with a spoon, however large the pot.",
}
NARROW = 0.03  # the half-width for which the learner says what the twin needs


LEAST_ITEMS = 700  # 600 labels are the most that a scene takes


def use(path: Any, positive: Any = "") -> Any:
    """Show a file of your own in the scenes of this lesson.

    Parameters
    ----------
    path : str, path, data frame or None
        With the columns `truth`, `prediction` and `score`, the stated probability that the prediction is correct;
        `margin`, a second score, may be there. At least 700 rows. None shows the digit forms again.
    positive : object
        The class that `labeled` is about.

    Returns
    -------
    workbench.course.lesson_data.LessonItems
        The `forms` of the code cells.
    """
    items = lesson_data.use_items(path, needs=("score",), positive=positive)
    lesson_data.check_size(LEAST_ITEMS, 1)
    return items


def how_sure() -> ChartView:
    """Return how sure the program says it is of each form."""
    return ChartView(scene_charts.confidence(lesson_forms().confidence))


@about_digits
def label_ten(seed: int = 1) -> questions.Told:
    """Return the desk at which the learner reads ten forms of each end, before the program's readings are shown.

    Parameters
    ----------
    seed : int
        Seed of the sampled forms and their order.

    Returns
    -------
    workbench.extras.sessions.lesson.LabelTen
    """
    return registry.load(registry.SCENES["label_ten"])(seed)


def predict_gain() -> Prediction:
    """Return the question that the learner answers before they cut anything."""
    return questions.predict(
        "1-gain", "Five strata, still 100 labels: by how much does the standard error fall?", GAIN
    )


def reveal_shares(**ranges: Any) -> Reveal:
    """Return strata and shares with the learner's prediction, once it is locked."""
    return questions.reveal(
        "1-gain",
        lambda said: [
            scenes.strata_and_shares(_number(said, 100), **ranges),
            questions.look(comments(GAIN), said, seen_shares),
            *only_for_digits(explain_strata()),
        ],
    )


def seen_shares() -> Table:
    """Return what the designs of the scene are worth: standard error, and variance against random sampling."""
    forms = lesson_forms()
    study = functools.partial(
        simulations.study_design, correct=forms.read_a == forms.digit, budget=100
    )
    fifths = study(forms.confidence)
    wide = {"stratifier": "equal_width", "method": "equal"}
    designs = [
        ("five of equal size, proportional labels", fifths),
        ("five of equal width, equal labels", study(forms.confidence, **wide)),
        ("ten of equal width, equal labels", study(forms.confidence, n_strata=10, **wide)),
    ]
    if hasattr(forms, "margin"):
        by_margin = study(forms.margin, **wide)
        designs.append(("five of equal width of the margin, equal labels", by_margin))
    rows = [
        (named("none, forms drawn at random"), fifths.random_error, 1.0),
        *((name, found.standard_error, found.variance_ratio) for name, found in designs),
        (
            "five of equal size, best possible labels",
            fifths.best_error,
            (fifths.best_error / fifths.random_error) ** 2,
        ),
    ]
    return Table(
        [
            {
                "strata": name,
                "standard error": f"{error:.4f}",
                "against random": f"{error / fifths.random_error:.0%}",
                "variance against random": f"{ratio:.2f} times",
            }
            for name, error, ratio in rows
        ],
        "100 labels",
    )


def explain_strata() -> Explanation:
    """Return the question why strata help, or harm."""
    return questions.explain(
        "1-why-strata",
        "Why do strata help only when their accuracies differ? And why did equal width with equal "
        "labels do worse than no strata at all?",
        "The estimate is wrong because a sample holds too many easy forms, or too few. Strata fix how many come from "
        "each group, so only differences inside a group still move it; groups that are all alike fix nothing. With "
        "equal width one stratum holds 93% of the forms and gets a fifth of the labels: its few labels decide nearly "
        "everything.",
        [
            '"More groups are more precise." Ten strata of equal width did worse than five.',
            '"Every group deserves as many labels." A label speaks for the forms of its stratum: one of them in '
            "the smallest, 72 in the largest.",
            '"The score is bad." The same score, cut into groups of equal size, helped.',
        ],
    )


def belief_of_sureness() -> Table:
    """Return what Neyman's rule does where it takes the program's confidence for its accuracy."""
    sizes, right = scenes.fifths()
    sure = accuracy_audit(lesson_forms().items(), 100, n_strata=5, allocation="neyman")
    variance = accuracy.accuracy_variance(sizes, right, sure.labeled)
    random = accuracy.accuracy_variance([sizes.sum()], [right.sum()], [100])
    return Table(
        [
            {
                "labels per fifth": ", ".join(map(str, sure.labeled)),
                "standard error": f"{variance**0.5:.4f}",
                "variance against random": f"{variance / random:.2f} times",
            }
        ],
        "Neyman's rule, fed with confidence in place of accuracy",
    )


def belief_of_five() -> Table:
    """Return how likely five right labels in a row are in each fifth."""
    sizes, right = scenes.fifths()
    return Table(
        [
            {"fifth": k, "right": f"{rate:.1%}", "five right labels in a row": f"{rate**5:.2f}"}
            for k, rate in enumerate(right / sizes, 1)
        ],
        "Chance of five right labels in a row",
    )


def predict_robot() -> Prediction:
    """Return the question whether more labels repair the robot."""
    few = "81" if are_digits() else f"{100 * scenes.robot_studies()[0].coverage('wald'):.0f}"
    return questions.predict(
        "1-robot",
        f"With 40 labels the robot's 95% intervals contain the truth in {few} of 100 runs. "
        "You give it 300 labels. In how many of 100 runs now?",
        ROBOT,
    )


def reveal_robot(**ranges: Any) -> Reveal:
    """Return the robot with the learner's prediction, once it is locked."""
    return questions.reveal(
        "1-robot",
        lambda said: [
            scenes.robots(_number(said, 100)),
            scenes.papers_robot(**ranges),
            questions.look(comments(ROBOT), said, seen_robots),
            explain_robot(),
        ],
    )


def seen_robots() -> Table:
    """Return what the robot claims and does with more and more labels, beside Neyman's rule and two honest waves."""
    others = [
        ("Neyman, who knows every label", "neyman", 200),
        ("two waves with a floor", "waves", 100),
    ]
    studies = [("robot", study) for study in scenes.robot_studies()]
    studies += [
        (name, simulations.simulate_labeling(*scenes.fifths(), n, rule, runs=20_000))
        for name, rule, n in others
    ]
    return Table(
        [
            {
                "design": name,
                "labels": found.budget,
                "contain the truth": f"{found.coverage('wald'):.0%}",
                "claimed variance against random": f"{found.estimated_variance_ratio:.2f} times",
                "true variance against random": f"{found.variance_ratio:.2f} times",
            }
            for name, found in studies
        ],
        "95% Wald intervals, 20,000 runs each",
    )


def explain_robot() -> Explanation:
    """Return the question why more labels make the robot worse."""
    return questions.explain(
        "1-why-robot",
        "The robot got more labels, and its intervals contained the truth less often. Why?",
        "A stratum whose first five labels are all right looks as if it had no spread, so the robot never goes back: "
        "its lucky estimate of 100% stays for ever. All further labels go elsewhere and make the interval shorter, "
        "around a value that stays too high.",
        [
            '"300 labels are still too few." With more labels it gets worse, not better.',
            '"The Wald formula is the problem." It is rough with few labels; but here the estimate itself is biased.',
            '"It was bad luck." These are 20,000 runs.',
        ],
    )


def predict_looking() -> Prediction:
    """Return the question that the learner answers before they see the impatient analysts."""
    return questions.predict(
        "1-looking",
        f"{ANALYSTS} analysts look at a 95% interval after every 10 labels, from 30 "
        "to 600. How many of them hold, at some look, an interval without the truth?",
        LOOKING,
    )


def reveal_looking(**ranges: Any) -> Reveal:
    """Return the impatient analysts with the learner's prediction, once it is locked."""
    return questions.reveal(
        "1-looking",
        lambda said: [
            scenes.stop_when_it_looks_good(_number(said, ANALYSTS), **ranges),
            questions.look(comments(LOOKING), said, seen_looking),
            explain_stopping(),
        ],
    )


def seen_looking() -> Table:
    """Return how many analysts lose the truth with each interval, and what looking costs."""
    intervals = [
        ("95%, for a fixed number of labels", "fixed", 2000),
        ("99.5% at every look", "looks", ANALYSTS),
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
                "lost the truth": f"{study.missed[-1]:.1%}",
                "half-width at 600 labels": f"{100 * study.half_width:.2f} points",
            }
            for name, study in studies
        ],
        "58 looks, after every 10 labels from 30 to 600",
    )


def explain_stopping() -> Explanation:
    """Return the question which reason for stopping harms."""
    return questions.explain(
        "1-why-stopping",
        "One analyst stops at 140 labels because the interval is short enough. Another stops because "
        "its lower end has just passed 85%. Whose interval do you trust?",
        "Rather the first one's. How short the interval is depends mainly on the number of labels, hardly on whether "
        "they came out too high. The second waits until luck has lifted the estimate and keeps just that moment. Only "
        "a number fixed beforehand, or an anytime interval, makes both safe.",
        [
            '"Both: each holds a 95% interval." The 95% holds for a number of labels chosen without seeing them.',
            '"Neither: nobody may look." Looking does no harm. Stopping because of what one saw does.',
            '"The second, who has reached something." What was reached is the moment at which luck was best.',
        ],
    )


def predict_twin() -> Prediction:
    """Return the question whether a big population needs a big sample."""
    if not are_digits():
        return _predict_twin_of_a_file()
    return questions.predict(
        "1-twin",
        "For ±3 points the office needs 367 random labels of its 1,797 forms. The "
        "national office has 700,000 such forms, 390 times as many. How many random labels does "
        "it need for ±3 points?",
        TWIN,
    )


def _predict_twin_of_a_file() -> Prediction:
    """Return the question of `predict_twin` with the numbers of the items that the scenes show."""
    curves, size = scenes.plan_curves(), lesson_forms().digit.size
    many = curves["twin", True].population
    needed, endless = (
        curves["forms", finite].at(NARROW)["simple_random"] for finite in (True, False)
    )
    share = needed / size
    choices = {f"about {_rounded(n):,}": None for n in (needed, endless, 20 * needed, share * many)}
    return questions.predict(
        "1-twin",
        f"For ±3 points you need {needed:,} random labels of {size:,} items. Another population has {many:,} such "
        f"items, {many / size:,.0f} times as many. How many random labels does it need for ±3 points?",
        choices,
    )


def _rounded(value: float) -> int:
    """Return a number rounded to two digits."""
    return int(float(f"{value:.1e}"))


def reveal_needed(**ranges: Any) -> Reveal:
    """Return the labels needed, with the learner's prediction, once it is locked."""
    return questions.reveal(
        "1-twin",
        lambda said: [
            scenes.labels_needed(None if said is None else (NARROW, _number(said, 1)), **ranges),
            questions.look(comments(TWIN), said, seen_needed),
        ],
    )


def seen_needed() -> list:
    """Return what both populations need at random, and what the interval to report needs for ±5 points."""
    sizes, right = scenes.fifths()
    rows = [
        {
            "half-width in points": f"{100 * width:g}",
            named("forms"): f"{curve.population:,}",
            "finite-population factor": "with" if finite else "without",
            "random labels": f"{curve.at(width)['simple_random']:,}",
        }
        for width, population, finite in (
            (NARROW, "forms", True),
            (NARROW, "twin", True),
            (0.01, "forms", False),
            (0.01, "forms", True),
        )
        for curve in [scenes.plan_curves()[population, finite]]
    ]
    plans = [
        accuracy.plan_budget(sizes, right / sizes, 0.05, method=method, interval=interval)
        for interval in ("wald", "default")
        for method in ("simple_random", "proportional")
    ]
    return [
        Table(rows, "Random labels needed, textbook (Wald) interval"),
        Table(
            [
                {
                    "interval": plan.interval_method,
                    "design": plan.method.replace("simple_random", "random"),
                    "labels": plan.budget,
                }
                for plan in plans
            ],
            named(f"Labels for ±5 points of the {sizes.sum():,} forms"),
        ),
    ]


def _number(said: Any, unit: Any) -> float | None:
    """Return the number in what a learner said, in a unit; None where nothing was said."""
    return None if said is None else float(re.sub(r"[^0-9]", "", said)) / unit
