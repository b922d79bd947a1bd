"""Scenes of lesson 5: equal clerks, one slider for all t-tests, power, experiments, all tests.

Read the functions in the order of the lesson. `predict_*` returns a question, `reveal_*` and
`seen_*` wait for its answer, and `explain_*` returns a question that is answered in two lines. All
other functions return a chart with its controls. Their examples show how to build a similar scene
with `ipywidgets.interact`.
"""

import dataclasses
import functools
import itertools
import math
from typing import Any

import ipywidgets
import numpy as np

from workbench import registry
from workbench.charts import theme
from workbench.charts.cross_validation import studies as charts
from workbench.course import clerks, lesson_data
from workbench.course.lesson_data import about_digits, are_digits, cached, lesson_forms
from workbench.cross_validation.kfold import kfold_t_test, rho_from_r
from workbench.cross_validation.learners import (
    Population,
    exchangeable_population,
    gaussian_population,
)
from workbench.cross_validation.model_tests import mcnemar_test
from workbench.lessons.content import lesson_texts
from workbench.results import Table
from workbench.simulations.cross_validation import simulate_comparison, simulate_type_one
from workbench.widgets import questions
from workbench.widgets.chart_view import ChartView, Panel, drive_figure, stops
from workbench.widgets.questions import Explanation, Prediction, Reveal
from workbench.widgets.ranges import adjustable, check_ranges

TEXTS = lesson_texts("cross_validation")
SHOWN = 40
CHOICES = (1, 2, 5, 10, 20, 40)
LONG_RUN = 400
ALARMED = 360  # the forty studies with the most false alarms, as the lesson says
RUNS = 10_000
LEARNERS = {"nearest neighbor": "1nn", "centroid": "centroid"}
TESTS = tuple(charts.TEST_COLORS)
EQUAL, DIFFERENT = "equal clerks", "averages, nearest neighbor"
BOARD_TESTS = (
    "naive t",
    "Nadeau-Bengio",
    "rho 0.7",
    "half-sample rho",
    "Nadeau-Bengio, repeated",
    "5x2cv t",
    "5x2cv F",
    "McNemar, pooled",
    "McNemar, one third held out",
)
BOARD_RUNS = {
    40: 600,
    60: 400,
    100: 200,
}  # runs by sample size: each chart takes at most two seconds
HALF_RUNS = 1000
FEATURES = 8


LEAST_ITEMS = 400  # rows of a file


def use(path: Any, positive: Any = "") -> Any:
    """Show a file of your own in the scenes of this lesson that cross-validate two learners.

    Parameters
    ----------
    path : str, path, data frame or None
        With the columns `truth` and `prediction`, and at least 2 columns of numbers whose names
        begin with `x_`, which the learners see. At least 400 rows. None shows the digit forms
        again.
    positive : object
        The positive class of the `labeled` method of the result.

    Returns
    -------
    workbench.course.lesson_data.LessonItems
        The items that the code cells call `forms`.
    """
    items = lesson_data.use_items(path, needs=("features",), positive=positive)
    lesson_data.check_size(LEAST_ITEMS, 5)
    return items


@about_digits
def ten_folds() -> ChartView:
    """Return the first chart of the lesson: the difference of two clerks in each of ten folds.

    Examples
    --------
    A similar chart of any study:

    >>> import ipywidgets
    >>> import workbench as wb
    >>> from workbench.charts.cross_validation import studies as charts
    >>> from workbench.widgets import image
    >>> def scene(study=971):
    ...     folds = wb.clerk_losses(study).fold_means()[0]
    ...     return image(charts.hook(folds, wb.kfold_t_test(folds, rho="naive").pvalue))
    >>> scene(4)  # doctest: +ELLIPSIS
    Chart: Ten folds of ten forms. ... The t-test over the ten folds gives p = 0.168.
    >>> ipywidgets.interact(scene, study=(960, 980))  # doctest: +SKIP
    """
    test = kfold_t_test(clerks.clerk_losses(), rho="naive")
    return ChartView(charts.hook(clerks.clerk_losses().fold_means()[0], test.pvalue))


@about_digits
def predict_repeats() -> Prediction:
    """Return the question about false alarms after ten repeats of a cross-validation."""
    return TEXTS.predict("5-repeats")


@about_digits
def reveal_clerks(**ranges: Any) -> Reveal:
    """Return `two_clerks` with the learner's prediction, once it is locked."""
    check_ranges(two_clerks, ranges)
    return questions.reveal(
        "5-repeats", lambda guess: two_clerks(TEXTS.value("5-repeats", guess), **ranges)
    )


@adjustable()
def two_clerks(predicted: float | None = None) -> Panel:
    """Return a view of 40 studies of two equal clerks: intervals, and proportion of false alarms.

    Parameters
    ----------
    predicted : float, optional
        The predicted proportion of false alarms with ten repeats.
    **ranges
        Ranges of controls by their names: `n`, `repeats`, `test`, `first`.

    Returns
    -------
    workbench.widgets.Panel
        Controls: forms, repeats, test, which studies.

    Examples
    --------
    A similar scene with one slider, for fewer studies:

    >>> import ipywidgets
    >>> import workbench as wb
    >>> from workbench.charts.cross_validation import studies as charts
    >>> from workbench.widgets import image
    >>> def scene(repeats=1):
    ...     studies = wb.clerk_studies(0, 20, n=50, repeats=repeats)
    ...     return image(charts.clerks(studies, studies, "naive t"))
    >>> scene(3)  # doctest: +ELLIPSIS
    Chart: 95% intervals of the naive t test ... 6 of these 20 studies ...
    >>> ipywidgets.interact(scene, repeats=(1, 5))  # doctest: +SKIP
    """
    controls = {
        "n": _sizes(charts.SIZES, 100, "Forms per study"),
        "repeats": stops([1, 2, 3, 5, 10], 1, "Repeats of the cross-validation", 480),
        "test": ipywidgets.ToggleButtons(options=list(clerks.TESTS), description="Test"),
        "first": stops(
            [(f"{first}–{first + SHOWN - 1}", first) for first in range(0, LONG_RUN, SHOWN)],
            ALARMED,
            "Studies shown",
        ),
    }

    def figure(n: int, repeats: int, test: str, first: int) -> theme.Figure:
        studies = clerks.clerk_studies(first, SHOWN, n, repeats)
        everyone = clerks.clerk_studies(0, LONG_RUN, n, repeats)
        return charts.clerks(studies, everyone, test, predicted)

    return drive_figure(controls, figure)


@about_digits
def seen_repeats() -> Reveal:
    """Return a table of the first study with one and with ten repeats, after `predict_repeats`."""
    return questions.compare(
        "5-repeats",
        TEXTS.feedback("5-repeats"),
        lambda: Table(
            [_repeated(1), _repeated(10)],
            (
                f"Study {clerks.HOOK} with one and with ten repeats. The estimated standard error "
                f"shrinks. The standard deviation (sd) of the differences of {LONG_RUN} studies "
                "hardly changes"
            ),
        ),
    )


def _repeated(repeats: int) -> dict:
    test = kfold_t_test(clerks.clerk_losses(repeats=repeats), rho="naive")
    return {
        "repeats": repeats,
        "difference": test.estimate,
        "standard_error": test.standard_error,
        "pvalue": test.pvalue,
        "sd": float(clerks.clerk_studies(repeats=repeats).differences.std(ddof=1)),
    }


@about_digits
def explain_repeats() -> Explanation:
    """Return the question which part of the error repeats remove."""
    return TEXTS.explain("5-explain-repeats")


@about_digits
def predict_flip() -> Prediction:
    """Return the question at which rho the verdict on the first study changes."""
    return TEXTS.predict("5-flip")


@about_digits
def reveal_slider(**ranges: Any) -> Reveal:
    """Return `one_slider` and a button for the table of three tests, after `predict_flip`."""
    check_ranges(one_slider, ranges)
    return questions.reveal(
        "5-flip",
        lambda guess: [
            one_slider(**ranges),
            questions.look(TEXTS.feedback("5-flip"), guess, _three_tests),
        ],
    )


def _three_tests() -> Table:
    test = kfold_t_test(clerks.clerk_losses())
    rows = [{name: row[name] for name in ("test", "rho", "pvalue")} for row in test.rows()]
    return Table(
        rows,
        f"The ten folds of study {clerks.HOOK}: the difference is significant up to rho "
        f"{test.rho_alpha():.3f}",
    )


@adjustable(value=(0, 0.99))
def one_slider() -> Panel:
    """Return a view of the interval and the p-value of ten folds for any assumed rho.

    Parameters
    ----------
    **ranges
        Ranges of controls by their names: `value`, `scale`.

    Returns
    -------
    workbench.widgets.Panel
        Controls: a value from 0 to .95, and whether it is rho or the correlation r of two folds.

    Examples
    --------
    A similar scene for ten other folds:

    >>> import ipywidgets
    >>> import workbench as wb
    >>> from workbench.charts.cross_validation import studies as charts
    >>> from workbench.widgets import image
    >>> folds = wb.reader_losses(5).fold_means()[0]
    >>> def scene(rho=0.0):
    ...     return image(charts.slider(folds, wb.kfold_t_test(folds, rho=rho)))
    >>> scene(0.5)  # doctest: +ELLIPSIS
    Chart: The mean difference of 10 folds is 0.075. With rho 0.500, ...
    >>> ipywidgets.interact(scene, rho=(0.0, 0.9, 0.05))  # doctest: +SKIP
    """
    folds = clerks.clerk_losses().fold_means()[0]
    values = sorted(
        {
            *(k / 20 for k in range(20)),
            rho_from_r(1 / folds.size, folds.size),
            math.floor(1000 * kfold_t_test(folds).rho_alpha()) / 1000,
        }
    )
    controls = {
        "value": stops(values, 0, "Assumed value", form="{:.3f}"),
        "scale": ipywidgets.ToggleButtons(
            options=[
                ("rho, the hidden proportion", "rho"),
                ("r, the correlation of two folds", "r"),
            ],
            description="The value is",
            style={"button_width": "auto"},
        ),
    }

    def figure(value: float, scale: str) -> theme.Figure:
        rho = value if scale == "rho" else rho_from_r(value, folds.size)
        return charts.slider(folds, kfold_t_test(folds, rho=rho))

    return drive_figure(controls, figure)


def explain_rho() -> Explanation:
    """Return the question which assumption a single p-value hides."""
    return TEXTS.explain("5-explain-rho")


@about_digits
def predict_skeptic() -> Prediction:
    """Return the question about the power of the Nadeau-Bengio test."""
    return TEXTS.predict("5-skeptic")


@about_digits
def reveal_power(**ranges: Any) -> Reveal:
    """Return `power` with the learner's prediction, once it is locked."""
    check_ranges(power, ranges)
    return questions.reveal(
        "5-skeptic",
        lambda guess: [
            *TEXTS.answered("5-skeptic", guess),
            power(TEXTS.value("5-skeptic", guess), **ranges),
        ],
    )


@adjustable()
def power(predicted: float | None = None) -> Panel:
    """Return a view of four tests: false alarms for equal clerks, power for unequal readers.

    Parameters
    ----------
    predicted : float, optional
        The predicted power of Nadeau and Bengio's test with 200 forms.
    **ranges
        Ranges of controls by their names: `test`.

    Returns
    -------
    workbench.widgets.Panel
        Control: the test in the foreground.

    Examples
    --------
    A similar scene for simulated data; the slider makes the second learner better:

    >>> import ipywidgets
    >>> import workbench as wb
    >>> from workbench.charts.cross_validation import studies as charts
    >>> from workbench.widgets import image
    >>> pair = ("1nn", range(4)), ("1nn", range(4, 8))
    >>> def study(advantage):
    ...     data = wb.gaussian_population(2000, features=4, advantage=advantage)
    ...     return wb.simulate_comparison(data, *pair, 50, tests=["naive t"], runs=100)
    >>> def scene(advantage=1.0):
    ...     studies = {("equal", 50): study(0), ("different", 50): study(advantage)}
    ...     return image(charts.power(studies))
    >>> scene(2.0)  # doctest: +ELLIPSIS
    Chart: 100 studies of 50 forms. ... naive t: 0.86, false alarms 0.110. ...
    >>> ipywidgets.interact(scene, advantage=(0.0, 3.0))  # doctest: +SKIP
    """
    controls = {
        "test": ipywidgets.ToggleButtons(options=TESTS, value="Nadeau-Bengio", description="Test")
    }

    def figure(test: str) -> theme.Figure:
        situations = itertools.product((EQUAL, DIFFERENT), charts.SIZES)
        studies = {(situation, n): _readers(situation, n) for situation, n in situations}
        return charts.power(studies, test, predicted)

    return drive_figure(controls, figure)


def seen_skeptic() -> Reveal:
    """Return the p-values of two tests for the study that was chosen, after `predict_skeptic`."""
    return questions.reveal("5-skeptic", lambda _: _improvement())


@about_digits
def predict_chosen() -> Prediction:
    """Return the question how much the largest of 20 differences exaggerates."""
    return TEXTS.predict("5-chosen")


@about_digits
def seen_chosen() -> Reveal:
    """Return a table of the mean of the largest of several differences, after `predict_chosen`."""
    return questions.reveal(
        "5-chosen", lambda guess: [*TEXTS.answered("5-chosen", guess), _chosen()]
    )


def _chosen() -> Table:
    study = _readers(DIFFERENT, 200)
    difference, p = study.estimates[0], study.pvalue("Nadeau-Bengio")
    rows = []
    for count in CHOICES:
        groups = difference.reshape(-1, count)
        best = np.arange(len(groups)) * count + groups.argmax(1)
        published = difference[best].mean()
        rows.append(
            {
                "studies made": count,
                "difference published": f"{100 * published:.1f} points",
                "exaggerated": f"{published / difference.mean() - 1:.0%}",
                "significant by Nadeau-Bengio": f"{(p[best] < 0.05).mean():.0%}",
            }
        )
    return Table(
        rows,
        f"The mean of the largest of several differences. The mean of all {study.runs} studies is "
        f"{100 * difference.mean():.1f} points; study {clerks.DISAGREEING} has "
        f"{100 * difference[clerks.DISAGREEING]:.1f} points",
    )


@about_digits
def predict_winner() -> Prediction:
    """Return the question about the score of the best of forty equal models."""
    return TEXTS.predict("5-winner")


@about_digits
def reveal_winner(**ranges: Any) -> Reveal:
    """Return the ranks of forty models, and the score of the best, after `predict_winner`."""
    check_ranges(registry.load(registry.SCENES["winners"]), ranges)
    return questions.reveal(
        "5-winner",
        lambda guess: [
            *TEXTS.answered("5-winner", guess),
            registry.load(registry.SCENES["winners"])(**ranges),
            questions.on_click(questions.LOOK, registry.load(registry.SCENES["best_of_many"])),
        ],
    )


def _improvement() -> Table:
    losses = clerks.reader_losses() if are_digits() else clerks.losses_of(*_features())
    differences = losses.series()
    better, worse = int((differences > 0).sum()), int((differences < 0).sum())
    items, readers = ("forms", "readers") if are_digits() else ("items", "models")
    rows = [
        {
            "test": "K-fold t, Nadeau-Bengio",
            "pvalue": kfold_t_test(losses, rho="nadeau_bengio").pvalue,
            "about": "these learning methods",
        },
        {
            "test": f"McNemar, {better} against {worse} {items}",
            "pvalue": mcnemar_test(better, worse).pvalue,
            "about": f"these two fitted {readers}",
        },
    ]
    return Table(rows, f"{losses.headline()}: the two tests answer different questions")


def live_experiments(**ranges: Any) -> Reveal:
    """Return a button that shows `experiments`."""
    check_ranges(experiments, ranges)
    return questions.on_click(f"Run {RUNS:,} cross-validations", lambda: experiments(**ranges))


@adjustable(rho=(0, 0.99))
def experiments() -> Panel:
    """Return a view of the t-values of ten thousand cross-validations against the true error.

    Parameters
    ----------
    **ranges
        Ranges of controls by their names: `learner`, `n`, `rho`, `offset`.

    Returns
    -------
    workbench.widgets.Panel
        Controls: learner, items per sample, assumed rho, and tested error minus the mean error of
        all runs.

    Examples
    --------
    A similar scene with fewer runs and five folds:

    >>> import ipywidgets
    >>> import workbench as wb
    >>> from workbench.charts.cross_validation import studies as charts
    >>> from workbench.widgets import image
    >>> study = wb.simulate_type_one("ten_digits", "centroid", 50, folds=5, runs=500)
    >>> def scene(rho=0.0):
    ...     return image(charts.experiments(study, rho))
    >>> scene(0.5)  # doctest: +ELLIPSIS
    Chart: 500 cross-validations of centroid on samples of 50 ten_digits. ...
    >>> ipywidgets.interact(scene, rho=(0.0, 0.9))  # doctest: +SKIP
    """
    controls = {
        "learner": ipywidgets.ToggleButtons(options=LEARNERS, description="Learner"),
        "n": _sizes([20, 40, 80], 40, "Items per sample"),
        "rho": ipywidgets.FloatSlider(0, min=0, max=0.95, step=0.05, description="Assumed rho"),
        "offset": stops(
            [k / 2000 for k in range(-8, 9)],
            0.0,
            "Tested error minus true error",
            480,
            form="{:+.4f}",
        ),
    }

    def figure(learner: str, n: int, rho: float, offset: float) -> theme.Figure:
        study = _experiments(learner, n)
        return charts.experiments(study, rho, study.mean + offset)

    return drive_figure(controls, figure)


def type_one_table() -> Reveal:
    """Return a button that shows the proportion of false alarms for three sample sizes."""

    def show() -> Table:
        rows = []
        for n, rho in itertools.product((20, 40, 80), (0.0, 0.7)):
            study = _experiments("1nn", n)
            rows.append(
                {
                    "items": n,
                    "true_rho": study.rho,
                    "rho": rho,
                    "type_one": study.type_one(rho),
                    "zero_variance_refused": study.type_one(rho, zero_variance="refuse"),
                }
            )
        return Table(
            rows, "False alarms at rho 0 and .7, with and without the runs in which all folds agree"
        )

    return questions.on_click("Compute the table", show)


def all_tests(**ranges: Any) -> Reveal:
    """Return a button that shows `scoreboard`."""
    check_ranges(scoreboard, ranges)
    return questions.on_click("Try all tests", lambda: scoreboard(**ranges))


@adjustable()
def scoreboard() -> Panel:
    """Return a view of the false alarms and the power of nine tests, for two learners.

    Parameters
    ----------
    **ranges
        Ranges of controls by their names: `n`.

    Returns
    -------
    workbench.widgets.Panel
        Control: items per sample.

    Examples
    --------
    A similar scene for one learner and two tests:

    >>> import ipywidgets
    >>> import workbench as wb
    >>> from workbench.charts.cross_validation import studies as charts
    >>> from workbench.widgets import image
    >>> pair, tests = (("centroid", range(4)), ("centroid", range(4, 8))), ["naive t", "5x2cv t"]
    >>> def study(n, advantage):
    ...     data = wb.gaussian_population(2000, features=4, advantage=advantage)
    ...     return wb.simulate_comparison(data, *pair, n, tests=tests, runs=100)
    >>> def scene(n=40):
    ...     studies = {("centroid", "equal"): study(n, 0), ("centroid", "different"): study(n, 1)}
    ...     return image(charts.scoreboard(studies))
    >>> scene(20)  # doctest: +ELLIPSIS
    Chart: False alarms with equal learners ... naive t 0.060 and 0.260; ...
    >>> ipywidgets.interact(scene, n=(20, 100, 20))  # doctest: +SKIP
    """
    controls = {"n": _sizes(list(BOARD_RUNS), 40, "Items per sample")}

    def figure(n: int) -> theme.Figure:
        studies = {}
        for name, learner in LEARNERS.items():
            studies[name, "equal"] = _board(learner, False, n)
            studies[name, "different"] = _board(learner, True, n)
        return charts.scoreboard(studies)

    return drive_figure(controls, figure)


def half_samples() -> Reveal:
    """Return a button that shows the false alarms of a test with an estimated rho."""
    return questions.on_click(f"Run {HALF_RUNS:,} studies", _half_samples)


def _half_samples() -> Table:
    population = exchangeable_population(*gaussian_population(2000, features=4))
    study = simulate_comparison(
        population,
        ("1nn", range(4)),
        ("1nn", range(4, 8)),
        80,
        runs=HALF_RUNS,
        tests=("naive t", "half-sample rho", "Nadeau-Bengio"),
        progress=False,
    )
    return Table(
        study.rows(),
        f"False alarms for two equal learners at the 5% level; the true rho is {study.rho:.2f}",
    )


def _sizes(options: list, value: int, description: str) -> Any:
    """Return buttons that fit next to each other on a phone."""
    return ipywidgets.ToggleButtons(
        options=options, value=value, description=description, style={"button_width": "90px"}
    )


@cached
def _experiments(learner: str, n: int) -> Any:
    population = "digits" if are_digits() else _population_of_the_file()
    return simulate_type_one(population, learner, n, runs=RUNS, progress=False)


def _population_of_the_file() -> Population:
    return dataclasses.replace(Population.of(_features()), name="items")


def _features() -> tuple[np.ndarray, np.ndarray]:
    """Return the features and the classes of the file that the scenes show."""
    items = lesson_forms()
    return items.features, items.digit


@functools.lru_cache(maxsize=6)
def _readers(situation: str, n: int) -> Any:
    pair = (
        [("1nn", columns) for columns in clerks.SEEN.values()]
        if situation == EQUAL
        else ["centroid", "1nn"]
    )
    return simulate_comparison(
        "ten_digits",
        pair[0],
        pair[1],
        n,
        samples=clerks.study_rows(0, LONG_RUN, n),
        tests=TESTS,
        progress=False,
    )


@functools.lru_cache(maxsize=12)
def _board(learner: str, different: bool, n: int) -> Any:
    halves = [(learner, range(start, start + FEATURES)) for start in (0, FEATURES)]
    return simulate_comparison(
        _population(different),
        halves[0],
        halves[1],
        n,
        tests=BOARD_TESTS,
        repeats=10,
        runs=BOARD_RUNS[n],
        progress=False,
    )


@functools.lru_cache(maxsize=2)
def _population(different: Any) -> Population:
    return Population.of(gaussian_population(features=FEATURES, advantage=float(different)))
