"""Live views of lesson 2: replicate variance, balanced half-samples and orthogonal arrays.

Each function returns a panel: controls, the function of `workbench` that they drive, and a chart that is fed with
its result.
"""
from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING

import ipywidgets
import numpy as np

from workbench.charts import replication as charts
from workbench.course.digit_forms import digit_forms
from workbench.replication import arrays, estimates, galois, replicates
from workbench.replication.designs import SurveyDesign
from workbench.simulations import replication as simulations
from workbench.widgets import questions
from workbench.widgets.chart_view import ChartView, drive

if TYPE_CHECKING:
    from workbench.widgets.chart_view import Panel
    from workbench.widgets.questions import Prediction

SCHEMES = [("all 128", "all"), ("balanced 8", "balanced"), ("random k", "random"),
           ("as printed in the paper", "printed")]
PRINTED = ("++-+---", "+-+--++", "++--++-", "+--++++", "--++-+-", "-++++--", "+++++++")
RANDOM_COUNTS = [2 ** k for k in range(2, 12)]
ARRAYS = [("linear forms", "linear"), ("the paper's shifts", "paper")]
FIELDS = [("GF(2^3)", (2, 3)), ("GF(2^4)", (2, 4)), ("GF(3^2)", (3, 2)), ("GF(3^3)", (3, 3)), ("GF(5^2)", (5, 2))]
MOST_PSUS = 100_000
COVERAGE_RUNS = 10_000


def fourteen_boxes() -> Panel:
    """Return the view of the fourteen boxes: what labels that come in clusters are worth.

    Returns
    -------
    workbench.widgets.Panel
        Control: labels per box, drawn at random (the same ones stay as more are drawn), or all.
    """
    forms = digit_forms()
    correct, icc = forms.read_a == forms.digit, intracluster_correlation()
    turn = _turn_within(forms.box)
    most = int(np.bincount(forms.box)[1:].min())
    controls = {"per_box": ipywidgets.SelectionSlider(options=[*range(1, most + 1), "all"], value="all",
                                                      description="Labels per box",
                                                      layout=ipywidgets.Layout(width="420px"))}

    def sampled(per_box="all"):
        drawn = np.ones(turn.size, bool) if per_box == "all" else turn < per_box
        box, right = forms.box[drawn], correct[drawn]
        estimate = estimates.replicate_estimate(replicates.replicates(_by_boxes(box)), "proportion", right)
        return np.bincount(box, right)[1:].astype(int), np.bincount(box)[1:], estimate

    def answer(per_box):
        found = sampled(per_box)
        return charts.boxes_data(*found), charts.boxes_words(*found, icc)

    return drive(controls, answer, ChartView(charts.boxes(*sampled(), icc)))


def half_samples() -> Panel:
    """Return the view of half-samples: all, a balanced few, random ones, and those the paper prints.

    Returns
    -------
    workbench.widgets.Panel
        Controls: half-samples, their number and the draw where they are random.
    """
    forms = digit_forms()
    correct, design = forms.read_a == forms.digit, _by_boxes(forms.box)
    differences = _box_accuracies()[::2] - _box_accuracies()[1::2]
    textbook = math.sqrt((differences ** 2).sum()) / 14
    controls = {
        "scheme": ipywidgets.Dropdown(options=SCHEMES, value="balanced", description="Half-samples"),
        "count": ipywidgets.SelectionSlider(options=RANDOM_COUNTS, value=8, description="Random k"),
        "seed": ipywidgets.IntSlider(1, 1, 100, description="Draw"),
    }

    def draw_only_random(_=None):
        for name in ("count", "seed"):
            controls[name].disabled = controls["scheme"].value != "random"

    def estimated(scheme="balanced", count=8, seed=1):
        made = replicates.replicates(design, array=half_sample_array(scheme, count, seed), require_balance=False)
        return made, estimates.replicate_estimate(made, "proportion", correct)

    def answer(**values):
        made, estimate = estimated(**values)
        return charts.halves_data(made, estimate, reach), charts.halves_words(made, estimate, textbook)

    draw_only_random()
    controls["scheme"].observe(draw_only_random, "value")
    made, estimate = estimated()
    farthest = np.abs(differences).sum() / 14 * 1.03
    reach = (estimate.estimate - farthest, estimate.estimate + farthest)
    return drive(controls, answer, ChartView(charts.halves(made, estimate, textbook, reach)))


def half_sample_array(scheme: str, count: int = 8, seed: int = 1) -> np.ndarray:
    """Return which of the two boxes of seven districts each half-sample keeps.

    Parameters
    ----------
    scheme : {"all", "balanced", "random", "printed"}
        "printed" are the seven rows of eq. 12 of Micheals & Boult, A stratified methodology for classifier and
        recognizer evaluation, 2001.
    count, seed : int
        Of "random", drawn with replacement.

    Returns
    -------
    (R, 7) array of int
        0 the first, 1 the second box.
    """
    if scheme == "all":
        return np.array(list(itertools.product((0, 1), repeat=7)))
    if scheme == "balanced":
        return (1 - arrays.hadamard(8)[:, 1:]) // 2
    if scheme == "printed":
        return np.array([[int(sign == "-") for sign in row] for row in PRINTED])
    return np.random.default_rng(seed).integers(0, 2, (count, 7))


def array_builder() -> Panel:
    """Return the view that builds an orthogonal array and counts the pairs of two of its columns.

    Returns
    -------
    workbench.widgets.Panel
        Controls: levels, columns, construction, the two columns.
    """
    controls = {
        "levels": ipywidgets.IntSlider(3, 2, 9, description="Levels s"),
        "columns": ipywidgets.IntSlider(8, 2, 40, description="Columns"),
        "method": ipywidgets.Dropdown(options=ARRAYS, description="Construction"),
        "i": ipywidgets.IntSlider(1, 1, 8, description="Column i"),
        "j": ipywidgets.IntSlider(2, 1, 8, description="Column j"),
    }

    def limit(change):
        for name in ("i", "j"):
            controls[name].max = change.new

    def built(levels=3, columns=8, method="linear", i=1, j=2):
        if i == j:
            raise ValueError(f"column i and column j must differ; both are {i}")
        needed = arrays.smallest_runs(levels, columns)
        array = papers_shifts(levels, columns) if method == "paper" else arrays.orthogonal_array(levels, columns)
        return array, levels, min(i, columns), min(j, columns), needed

    def answer(**values):
        array, levels, i, j, needed = built(**values)
        return charts.array_data(array, levels, i, j), charts.array_words(array, levels, i, j, needed)

    controls["columns"].observe(limit, "value")
    return drive(controls, answer, ChartView(charts.array(*built())))


def papers_shifts(levels: int, columns: int) -> np.ndarray:
    """Return the array of as many shifts of one column as the paper allows, which is too many.

    It takes n^b runs where columns <= n^b - 1; beyond (n^b - 1) / (n - 1) shifts two columns repeat each other up to
    a factor (Micheals & Boult 2001, section 7.3 and appendix B.3).

    Parameters
    ----------
    levels : int
        A prime power n.
    columns : int

    Returns
    -------
    (n^b, columns) array of int

    Examples
    --------
    >>> papers_shifts(3, 8)[:, [0, 4]].T
    array([[0, 1, 2, 2, 0, 2, 1, 1, 0],
           [0, 2, 1, 1, 0, 1, 2, 2, 0]])
    """
    dimension = 1
    while levels ** dimension - 1 < columns:
        dimension += 1
    enough = (levels ** dimension - 1) // (levels - 1)
    first = arrays.orthogonal_array(levels, enough, method="rotation")[:-1, 0]
    shifts = np.stack([np.roll(first, -k) for k in range(columns)], 1)
    return np.concatenate([shifts, np.zeros((1, columns), np.int64)])


def field_steps() -> Panel:
    """Return the view that builds a field power by power, and the array from it.

    Returns
    -------
    workbench.widgets.Panel
        Controls: field, power of x.
    """
    controls = {
        "size": ipywidgets.Dropdown(options=FIELDS, value=(3, 3), description="Field"),
        "k": ipywidgets.IntSlider(5, 1, 26, description="Power of x"),
    }

    def limit(change):
        controls["k"].max = math.prod([change.new[0]] * change.new[1]) - 1

    def answer(size, k):
        field = galois.GaloisField(*size)
        k = min(k, field.size - 1)
        return charts.field_data(field, k), charts.field_words(field, k)

    controls["size"].observe(limit, "value")
    return drive(controls, answer, ChartView(charts.field(galois.GaloisField(3, 3), 5)))


def coverage() -> Panel:
    """Return the view of simulated intervals: how often naive and honest ones contain the truth.

    Returns
    -------
    workbench.widgets.Panel
        Controls: strata, boxes per stratum, labels per box, intracluster correlation, draw.
    """
    controls = {
        "strata": ipywidgets.IntSlider(7, 3, 50, description="Strata L"),
        "psus": ipywidgets.IntSlider(2, 2, 5, description="Boxes per stratum n"),
        "items": ipywidgets.IntSlider(127, 1, 200, description="Labels per box m"),
        "icc": ipywidgets.FloatSlider(0.0181, min=0, max=0.2, step=0.0001, readout_format=".4f", description="ICC"),
        "seed": ipywidgets.IntSlider(1, 1, 100, description="Draw"),
    }

    def study(strata=7, psus=2, items=127, icc=0.0181, seed=1):
        runs = min(COVERAGE_RUNS, MOST_PSUS // (strata * psus))
        return simulations.simulate_coverage(strata, psus, items, icc=icc, runs=runs, rng=seed)

    def answer(**values):
        found = study(**values)
        return charts.coverage_data(found), charts.coverage_words(found)

    return drive(controls, answer, ChartView(charts.coverage(study())))


def predict_worth() -> Prediction:
    """Return the question that the learner answers before they see the boxes."""
    forms = digit_forms()
    n, icc = forms.box.size, intracluster_correlation()
    effect = 1 + (n / 14 - 1) * icc
    return questions.predict(f"{n:,} labels in 14 boxes are worth how many independent ones?",
                             ["1,800", "1,200", "550"],
                             f"About {n / effect:.0f}: labels of one box resemble each other, so the variance is "
                             f"{effect:.2f} times that of as many independent labels.")


def intracluster_correlation() -> float:
    """Return the intracluster correlation of all labels of the digit forms, from their design effect.

    (deff - 1) / (m - 1), deff the variance by equally weighted boxes over p (1 - p) / n, m = n / 14 labels per box
    (Kish, Survey Sampling, 1965).
    """
    forms = digit_forms()
    correct = forms.read_a == forms.digit
    estimate = estimates.replicate_estimate(replicates.replicates(_by_boxes(forms.box)), "proportion", correct)
    p, n = correct.mean(), correct.size
    return float((estimate.variance / (p * (1 - p) / n) - 1) / (n / 14 - 1))


def _by_boxes(box):
    """Return the design with boxes of equal weight as PSUs, two per district."""
    return SurveyDesign((box - 1) // 2, psu=box, weight=1 / np.bincount(box)[box])


def _box_accuracies():
    forms = digit_forms()
    return np.bincount(forms.box, forms.read_a == forms.digit)[1:] / np.bincount(forms.box)[1:]


def _turn_within(box):
    """Return each form's place, 0, 1, ..., in a random order of its box."""
    order = np.lexsort((np.random.default_rng(0).random(box.size), box))
    turn = np.empty(box.size, int)
    turn[order] = np.concatenate([np.arange(n) for n in np.bincount(box)[1:]])
    return turn
