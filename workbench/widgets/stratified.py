"""Live views of lesson 1: stratified accuracy.

Each function returns a panel: controls, the function of `workbench` that they drive, and a chart that is fed with
its result.
"""
from __future__ import annotations

import base64
import functools
import html
import os
from typing import TYPE_CHECKING

import ipywidgets
import numpy as np

from workbench.charts import stratified as charts
from workbench.course.digit_forms import digit_forms, digit_twin
from workbench.data.images import png_of
from workbench.data.scored_items import ScoredItems
from workbench.inputs.desk import drawn_form, passing_folder
from workbench.simulations import stratified as simulations
from workbench.stratified import accuracy
from workbench.stratified.sessions import AuditSession
from workbench.stratified.strata import stratify
from workbench.widgets import questions
from workbench.widgets.chart_view import ChartView, drive
from workbench.widgets.desk import desk

if TYPE_CHECKING:
    from workbench.widgets.chart_view import Panel
    from workbench.widgets.questions import Prediction

STRATIFIERS = [("equal size", "equal_size"), ("equal width", "equal_width"), ("cum sqrt f", "cum_sqrt_f"),
               ("cum cbrt f", "cum_cbrt_f"), ("weighted mean", "weighted_mean"), ("k-means", "kmeans"),
               ("mixture", "gmm")]
SHARES = [("proportional", "proportional"), ("equal", "equal"), ("Neyman (knows the truth)", "neyman")]
POPULATIONS = [("1,797 digit forms", "forms"), ("700,000, their synthetic twin", "twin")]
HALF_WIDTHS = np.round(np.arange(0.01, 0.1001, 0.001), 3)
FIFTHS = {"least sure": 0, "surest": 4}
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


class LabelTen(ipywidgets.VBox):
    """The desk with ten digits from each end of the confidence, and at its end a table: you, program, truth."""

    def __init__(self, seed):
        self._ten, self._rates = _ends(seed)
        forms, chosen = digit_forms(), np.concatenate([*self._ten.values()])
        items = ScoredItems(chosen + 1, forms.confidence[chosen], forms.read_a[chosen])
        # one stratum: the two ends come in mixed order
        self.session = AuditSession.create(os.path.join(passing_folder(), "ten-of-each.db"), items, n_strata=1,
                                           budget=items.size, asks="truth", seed=seed)
        self.desk, self.told = desk(self.session, render=drawn_form, looks=False), ipywidgets.HTML()
        super().__init__([self.desk, self.told])
        self.desk.observe(self._tell, "done")

    def _tell(self, change):
        self.told.value = compared(self._ten, self._mine(), self._rates) if change["new"] else ""

    def _mine(self):
        """Return what was said of each form, "" for a skipped one."""
        with AuditSession.open(self.session.path) as session:      # as a kernel may answer in another thread
            said = {k: session.history(k + 1)[-1].label for k in np.concatenate([*self._ten.values()])}
        return {k: label or "" for k, label in said.items()}

    def __repr__(self) -> str:
        return f"{self.desk!r}, ten of the least sure and ten of the surest fifth"

    def _repr_mimebundle_(self, **kwargs):
        return super()._repr_mimebundle_(**kwargs) | {"text/plain": repr(self)}


def label_ten(seed: int = 1) -> LabelTen:
    """Return the desk at which the learner reads ten forms of each end, before they see what the program read.

    Parameters
    ----------
    seed : int
        Draws the forms and their order.

    Returns
    -------
    LabelTen
        A VBox.
    """
    return LabelTen(seed)


def _ends(seed):
    """Return ten forms of the lowest and of the highest fifth, and the share that is misread in each."""
    forms, rng = digit_forms(), np.random.default_rng(seed)
    strata = stratify(forms.confidence, 5, "equal_size")
    fifths = {name: np.flatnonzero(strata.labels == k) for name, k in FIFTHS.items()}
    rates = {name: float((forms.read_a != forms.digit)[each].mean()) for name, each in fifths.items()}
    return {name: rng.choice(each, 10, replace=False) for name, each in fifths.items()}, rates


def compared(ten: dict, mine: dict, rates: dict) -> str:
    """Return a table of what a learner, the program and the official label say of each form, and what it comes to.

    Parameters
    ----------
    ten : dict of str to (10,) array of int
        Forms, counted from 0, by the name of their fifth.
    mine : dict of int to str
        What the learner said of each form.
    rates : dict of str to float
        Share of wrong readings in the whole fifth.
    """
    forms, rows, told = digit_forms(), "", ""
    for name, chosen in ten.items():
        program, truth = forms.read_a[chosen], forms.digit[chosen]
        rows += f"<tr><th scope='rowgroup' colspan='4'>The {name} fifth</th></tr>" + "".join(
            f"<tr><td>{_drawing(k)}</td><td>{_marked(mine[k], t)}</td><td>{_marked(p, t)}</td><td>{t}</td></tr>"
            for k, p, t in zip(chosen.tolist(), program, truth, strict=True))
        yours = sum(mine[k] not in ("", str(t)) for k, t in zip(chosen.tolist(), truth, strict=True))
        told += (f"<p>The {name} fifth: the program misread {(program != truth).sum()} of these ten, you {yours}. In "
                 f"the whole fifth it misreads {rates[name]:.1%}, so expect {10 * rates[name]:.1f} of ten.</p>")
    heads = "".join(f"<th scope='col'>{name}</th>" for name in ("form", "you", "program", "official label"))
    return (f"<div role='status'>{told}<p>Where you differ from the official label: a label is a reading, too.</p>"
            "</div><table style='border-spacing: 20px 2px; text-align: left'>"
            f"<caption>\u2717 differs from the official label</caption><thead><tr>{heads}</tr></thead>"
            f"<tbody>{rows}</tbody></table>")


def _marked(reading, truth):
    text = html.escape(str(reading)) or "skipped"
    return text if text == str(truth) else f"<strong>{text} \u2717</strong>"


def _drawing(k):
    picture = base64.b64encode(png_of(1 - digit_forms().image[k] / 16)).decode()
    return (f"<img alt='form {k + 1}' width='32' height='32' style='image-rendering: pixelated' "
            f"src='data:image/png;base64,{picture}'>")


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
