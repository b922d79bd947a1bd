"""Live views of lesson 1: stratified accuracy.

Each function returns a panel: controls, the function of `workbench` that they drive, and a chart that is fed with
its result.
"""
from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import ipywidgets
import numpy as np

from workbench.charts import stratified as charts
from workbench.course.digit_forms import digit_forms, digit_twin
from workbench.simulations import stratified as simulations
from workbench.stratified import accuracy
from workbench.stratified.strata import stratify
from workbench.widgets import questions
from workbench.widgets.chart_view import ChartView, drive, panel

if TYPE_CHECKING:
    from workbench.widgets.chart_view import Panel
    from workbench.widgets.questions import Prediction

STRATIFIERS = [("equal size", "equal_size"), ("equal width", "equal_width"), ("cum sqrt f", "cum_sqrt_f"),
               ("cum cbrt f", "cum_cbrt_f"), ("weighted mean", "weighted_mean"), ("k-means", "kmeans"),
               ("mixture", "gmm")]
SHARES = [("proportional", "proportional"), ("equal", "equal"), ("Neyman (knows the truth)", "neyman")]
POPULATIONS = [("1,797 digit forms", "forms"), ("700,000, their synthetic twin", "twin")]
HALF_WIDTHS = np.round(np.arange(0.01, 0.1001, 0.001), 3)
ROBOT_RUNS = 2000
INTERVALS = [("95%, for a fixed number", "fixed"), ("99.5% at every look", "looks"), ("anytime", "anytime")]


def strata_and_shares() -> Panel:
    """Return the view of strata and shares: which items to label, and what that is worth.

    Returns
    -------
    workbench.widgets.Panel
        Controls: stratifier, score (confidence or margin), strata, labels, shares, population.
    """
    controls = {
        "stratifier": ipywidgets.Dropdown(options=STRATIFIERS, description="Stratifier"),
        "score": ipywidgets.Dropdown(options=["confidence", "margin"], description="Score"),
        "n_strata": ipywidgets.IntSlider(5, 2, 12, description="Strata"),
        "budget": ipywidgets.IntSlider(100, 24, 600, description="Labels"),
        "method": ipywidgets.Dropdown(options=SHARES, description="Shares"),
        "population": ipywidgets.Dropdown(options=POPULATIONS, description="Population"),
    }
    known = {}

    def items(population, score):
        if (population, score) not in known:
            known[population, score] = _scored(population, score)
        return known[population, score]

    def answer(stratifier, score, n_strata, budget, method, population):
        scores, correct, wrong, strata = items(population, score)
        if (stratifier, n_strata) not in strata:
            strata[stratifier, n_strata] = stratify(scores, n_strata, stratifier)
        study = simulations.weigh_design(strata[stratifier, n_strata], scores, correct, budget, method)
        return charts.design_data(study, wrong), charts.design_words(study)

    scores, correct, wrong, _ = items("forms", "confidence")
    return drive(controls, answer, ChartView(charts.design(simulations.study_design(scores, correct, 100), wrong)))


def papers_robot() -> Panel:
    """Return the view of the paper's adaptive robot (OPT-A2): what it claims and what it does.

    Returns
    -------
    workbench.widgets.Panel
        Controls: labels, pilot per stratum, batch, smoothing (labels of each kind added to a stratum).
    """
    scores, correct, _, _ = _scored("forms", "confidence")
    strata = stratify(scores, 5, "equal_size")
    right = np.bincount(strata.labels, correct, 5).astype(int)
    controls = {
        "budget": ipywidgets.IntSlider(100, 40, 300, 10, description="Labels"),
        "pilot": ipywidgets.IntSlider(5, 2, 20, description="Pilot per stratum"),
        "step": ipywidgets.IntSlider(10, 5, 50, 5, description="Batch"),
        "laplace": ipywidgets.FloatSlider(0, min=0, max=4, step=0.5, description="Smoothing c"),
    }

    def study(budget=100, pilot=5, step=10, laplace=0.0):
        return simulations.simulate_labeling(strata.sizes, right, budget, "opt_a2", runs=ROBOT_RUNS, pilot=pilot,
                                             step=step, laplace=laplace)

    def answer(**values):
        found = study(**values)
        return charts.robot_data(found), charts.robot_words(found)

    return drive(controls, answer, ChartView(charts.robot(study())))


def stop_when_it_looks_good() -> Panel:
    """Return the view of 200 analysts who look while they label.

    Returns
    -------
    workbench.widgets.Panel
        Controls: interval (fixed, at 99.5%, anytime), labels between looks.
    """
    scores, correct, _, _ = _scored("forms", "confidence")
    strata = stratify(scores, 5, "equal_size")
    right = np.bincount(strata.labels, correct, 5).astype(int)
    controls = {
        "method": ipywidgets.Dropdown(options=INTERVALS, description="Interval"),
        "every": ipywidgets.Dropdown(options=[10, 30, 95, 190, 570], description="Look every"),
    }

    @functools.cache
    def study(method="fixed", every=10):
        return simulations.simulate_looking(strata.sizes, right, method=method, every=every)

    def answer(**values):
        found = study(**values)
        return charts.looking_data(found), charts.looking_words(found)

    return drive(controls, answer, ChartView(charts.looking(study())))


def labels_needed() -> Panel:
    """Return the view of the labels needed for a wanted half-width.

    Returns
    -------
    workbench.widgets.Panel
        Controls: half-width, finite-population factor, population.
    """
    controls = {
        "half_width": ipywidgets.FloatSlider(0.03, min=0.01, max=0.1, step=0.005, readout_format=".3f",
                                             description="Half-width e"),
        "finite": ipywidgets.Checkbox(True, description="Finite-population factor"),
        "population": ipywidgets.Dropdown(options=POPULATIONS, description="Population"),
    }
    known = {}

    def curve(population, finite):
        if (population, finite) not in known:
            scores, correct, _, _ = _scored(population, "confidence")
            strata = stratify(scores, 5, "equal_size")
            rates = np.bincount(strata.labels, correct, 5) / strata.sizes
            known[population, finite] = accuracy.plan_curve(strata.sizes, rates, HALF_WIDTHS, finite=finite)
        return known[population, finite]

    def answer(half_width, finite, population):
        found = curve(population, finite)
        return charts.plan_data(found, half_width), charts.plan_words(found, half_width)

    return drive(controls, answer, ChartView(charts.plan(curve("forms", True), 0.03)))


def label_ten(seed: int = 1) -> ipywidgets.VBox:
    """Return the view in which the learner reads ten forms before they see what the program read.

    Parameters
    ----------
    seed : int
        Of the order in which forms are dealt.

    Returns
    -------
    ipywidgets.VBox
    """
    forms = digit_forms()
    strata = stratify(forms.confidence, 5, "equal_size")
    rng = np.random.default_rng(seed)
    piles = {k: rng.permutation(np.flatnonzero(strata.labels == k)) for k in (0, 4)}
    rates = {k: float((forms.read_a != forms.digit)[strata.labels == k].mean()) for k in piles}
    pile = ipywidgets.Dropdown(options=[("lowest confidence", 0), ("highest confidence", 4)], description="Fifth")
    mine = ipywidgets.Text(description="I read", placeholder="ten digits", continuous_update=False)
    deal, reveal = (ipywidgets.Button(description=text) for text in ("Next ten", "Compare"))

    def hidden():
        return ("Ten forms: what do you read?", f"Ten digit images from the fifth of {pile.label}; the program's "
                "readings are hidden. Type your ten readings and press Compare.")

    view = ChartView(charts.digits(forms.image[piles[0][:10]], hidden()))

    def show_hidden(_):
        piles[pile.value] = np.roll(piles[pile.value], -10)
        title, words = hidden()
        mine.value = ""
        view.show(charts.digits_data(forms.image[piles[pile.value][:10]]), words, title=title)

    def show_readings(_):
        ten = piles[pile.value][:10]
        if len(_digits(mine.value)) != ten.size:
            title, _ = hidden()
            view.show({}, f"Type ten digits before you compare; you typed {len(_digits(mine.value))}.", title=title)
            return
        title, words = compared(mine.value, forms.read_a[ten], forms.digit[ten], rates[pile.value])
        view.show(charts.digits_data(forms.image[ten], forms.read_a[ten]), words, title=title)

    deal.on_click(show_hidden)
    reveal.on_click(show_readings)
    pile.observe(show_hidden, "value")
    return panel([pile, mine, reveal, deal], view)


def compared(mine: str, program: np.ndarray, truth: np.ndarray, rate: float) -> tuple[str, str]:
    """Return title and words that compare a learner's ten readings with the program's.

    Parameters
    ----------
    mine : str
        Ten digits; other characters are ignored.
    program, truth : (10,) array of int
    rate : float
        Share of wrong readings in the whole fifth.
    """
    wrong = int((program != truth).sum())
    told = f"The program misread {wrong} of these ten; in the whole fifth {rate:.1%}, so expect {10 * rate:.1f} of ten."
    yours = int((np.array(_digits(mine)) != truth).sum())
    return (f"The program misread {wrong} of ten, you {yours}",
            f"{told} You differ from the official label in {yours}: a label is a reading too.")


def _digits(text):
    return [int(c) for c in text if c in "0123456789"]


def predict_gain() -> Prediction:
    """Return the question that the learner answers before they move anything."""
    return questions.predict("Five strata, still 100 labels: by how much does the standard error fall?",
                             ["0%", "10%", "30%", "50%"],
                             "By 12% with equal shares of the labels; by 31% with the best shares, which nobody knows "
                             "beforehand.")


def predict_looking() -> Prediction:
    """Return the question that the learner answers before they see the impatient analysts."""
    return questions.predict("200 analysts look at a 95% interval after every 10 labels, from 30 to 600. How many of "
                             "them hold, at some look, an interval without the truth?",
                             ["about 5", "about 10", "about 20", "about 40"],
                             "About 42 on average, 21%: each look is another chance to be wrong, and who stops when "
                             "the number looks good picks just these.")


def _scored(population, score):
    """Return scores, correctness, the share wrong by rank, and a store for stratifications."""
    forms = digit_forms()
    values = forms.confidence if score == "confidence" else forms.margin
    correct = forms.read_a == forms.digit
    if population == "twin":
        twin = digit_twin(values, correct)
        values, correct = twin.score, twin.correct
    return values, correct, charts.wrong_by_rank(values, correct), {}
