"""Live views of lesson 5: two equal clerks, one slider for all t-tests, ten thousand experiments, power.

Each function returns a panel: controls, the function of `workbench` that they drive, and a chart that is fed with
its result.
"""
from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import ipywidgets

from workbench.charts.cross_validation import studies as charts
from workbench.course import clerks
from workbench.cross_validation.kfold import kfold_t_test, rho_from_r
from workbench.cross_validation.learners import Population, gaussian_population
from workbench.simulations.cross_validation import simulate_comparison, simulate_type_one
from workbench.widgets import questions
from workbench.widgets.chart_view import ChartView, drive

if TYPE_CHECKING:
    from workbench.widgets.chart_view import Panel
    from workbench.widgets.questions import Prediction

SHOWN = 40
LONG_RUN = 400
RUNS = 10_000
OFFSETS = tuple(k / 2000 for k in range(-8, 9))
LEARNERS = {"nearest neighbor": "1nn", "centroid": "centroid"}
TESTS = tuple(charts.TEST_COLORS)
EQUAL, DIFFERENT = "equal clerks", "averages or nearest neighbor"
BOARD_TESTS = ("naive t", "Nadeau-Bengio", "rho 0.7", "half-sample rho", "Nadeau-Bengio, repeated", "5x2cv t",
               "5x2cv F", "McNemar, pooled", "McNemar, one third held out")
BOARD_RUNS = 600
FEATURES = 8
ADVANTAGE = 1.0
WIDE = ipywidgets.Layout(width="420px")


def two_clerks() -> Panel:
    """Return the view of two clerks who read equally well: which of 40 studies call them different.

    Returns
    -------
    workbench.widgets.Panel
        Controls: forms, repeats, test, which studies.
    """
    controls = {"n": ipywidgets.IntSlider(100, 50, 200, step=10, description="Forms n"),
                "repeats": ipywidgets.IntSlider(1, 1, 10, description="Repeats of the cross-validation"),
                "test": ipywidgets.ToggleButtons(options=list(clerks.TESTS), description="Test"),
                "first": ipywidgets.IntSlider(0, 0, LONG_RUN - SHOWN, step=SHOWN, description="Studies from")}

    def studies(n=100, repeats=1, test="naive t", first=0):
        return (clerks.clerk_studies(first, SHOWN, n, repeats), clerks.clerk_studies(0, LONG_RUN, n, repeats), test)

    return _driven(controls, studies, charts.clerks_data, charts.clerks_words, charts.clerks(*studies()))


def one_slider() -> Panel:
    """Return the view of one test with one unknown: the interval and the p-value of ten folds for any rho.

    Returns
    -------
    workbench.widgets.Panel
        Controls: a number from 0 to .95, and whether it is rho or the correlation r of two folds.
    """
    nadeau_bengio = rho_from_r(1 / len(clerks.TEN_FOLDS), len(clerks.TEN_FOLDS))
    stops = sorted({k / 100 for k in range(96)} | {nadeau_bengio, .368})
    controls = {"value": ipywidgets.SelectionSlider(options=[(f"{stop:.3f}", stop) for stop in stops], value=0,
                                                    description="Number", layout=WIDE),
                "scale": ipywidgets.ToggleButtons(options=["rho", "r"], description="It is")}

    def tested(value=0, scale="rho"):
        rho = value if scale == "rho" else rho_from_r(value, len(clerks.TEN_FOLDS))
        return clerks.TEN_FOLDS, kfold_t_test(clerks.TEN_FOLDS, rho=rho)

    return _driven(controls, tested, charts.slider_data, charts.slider_words, charts.slider(*tested()))


def live_experiments() -> Panel:
    """Return the view of ten thousand cross-validations of one learner, tested against its true error.

    Returns
    -------
    workbench.widgets.Panel
        Controls: learner, items per sample, the assumed rho, how far the tested mean is from that of all runs.
    """
    controls = {"learner": ipywidgets.ToggleButtons(options=LEARNERS, description="Learner"),
                "n": ipywidgets.ToggleButtons(options=[20, 40, 80], value=40, description="Items n"),
                "rho": ipywidgets.FloatSlider(0, min=0, max=.95, step=.05, description="Assumed rho", layout=WIDE),
                "offset": ipywidgets.SelectionSlider(options=[(f"{o:+.4f}", o) for o in OFFSETS], value=0.0,
                                                     description="Tested mean: true error", layout=WIDE)}

    def experiment(learner="1nn", n=40, rho=0.0, offset=0.0):
        study = _experiments(learner, n)
        return study, rho, study.mean + offset

    return _driven(controls, experiment, charts.experiments_data, charts.experiments_words,
                   charts.experiments(*experiment()))


def power() -> Panel:
    """Return the view of false alarms and power: equal clerks beside readers of whom one is better.

    Returns
    -------
    workbench.widgets.Panel
        Controls: forms up to which studies are drawn, the test in the foreground.
    """
    controls = {"n": ipywidgets.ToggleButtons(options=charts.SIZES, value=200, description="Forms up to"),
                "test": ipywidgets.ToggleButtons(options=TESTS, description="Test")}

    def studies(n=200, test=TESTS[0]):
        sizes = [size for size in charts.SIZES if size <= n]
        return {(situation, size): _readers(situation, size) for situation in (EQUAL, DIFFERENT)
                for size in sizes}, test

    return _driven(controls, studies, charts.power_data, charts.power_words, charts.power(*studies()))


def scoreboard() -> Panel:
    """Return the view of all tests: false alarms and power for two learners.

    Returns
    -------
    workbench.widgets.Panel
        Control: items per sample.
    """
    controls = {"n": ipywidgets.ToggleButtons(options=[40, 60, 100], description="Items n")}

    def studies(n=40):
        return ({(name, situation): _board(learner, situation == "different", n)
                 for name, learner in LEARNERS.items() for situation in ("equal", "different")},)

    return _driven(controls, studies, charts.scoreboard_data, charts.scoreboard_words, charts.scoreboard(*studies()))


def predict_repeats() -> Prediction:
    """Return the question that learners answer before they see what repeating a cross-validation does."""
    once, ten = (clerks.clerk_studies(0, LONG_RUN, repeats=repeats).alarms("naive t").mean() for repeats in (1, 10))
    hook = [kfold_t_test(clerks.clerk_losses(repeats=repeats), rho="naive").pvalue for repeats in (1, 10)]
    return questions.predict("Two clerks read equally well. A test of one ten-fold cross-validation, at the 5% level, "
                             f"says p = {hook[0]:.3f}. To be careful, a colleague repeats the cross-validation of the "
                             "same forms ten times and tests all 100 folds. How often does that test call equal "
                             "clerks different?", ["5%", "10%", "25%", "50% or more"],
                             f"{ten:.0%} of {LONG_RUN} studies, against {once:.1%} without repeats: repeats test the "
                             f"same forms again, they are no new evidence. This study gets p = {hook[1]:.0e}.")


def _driven(controls, found, data, words, chart):
    """Return the panel whose controls choose the arguments of a chart's rows and words."""
    def answer(**values):
        arguments = found(**values)
        return data(*arguments), words(*arguments)

    return drive(controls, answer, ChartView(chart))


@functools.lru_cache(maxsize=6)
def _experiments(learner, n):
    return simulate_type_one("digits", learner, n, runs=RUNS, progress=False)


@functools.lru_cache(maxsize=6)
def _readers(situation, n):
    pair = [("1nn", columns) for columns in clerks.SEEN.values()] if situation == EQUAL else ["centroid", "1nn"]
    return simulate_comparison("ten_digits", pair[0], pair[1], n, samples=clerks.study_rows(0, LONG_RUN, n),
                               tests=TESTS, progress=False)


@functools.lru_cache(maxsize=12)
def _board(learner, different, n):
    halves = [(learner, range(start, start + FEATURES)) for start in (0, FEATURES)]
    return simulate_comparison(_population(different), halves[0], halves[1], n, tests=BOARD_TESTS, repeats=10,
                               runs=BOARD_RUNS, progress=False)


@functools.lru_cache(maxsize=2)
def _population(different):
    return Population.of(gaussian_population(features=FEATURES, advantage=ADVANTAGE * different))
