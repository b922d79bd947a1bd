"""The live charts of lesson 1: each function returns controls and the chart that they change."""

import functools
from dataclasses import replace
from typing import Any

import ipywidgets
import numpy as np

from workbench.charts.stratified import scenes as charts
from workbench.charts.theme import Figure
from workbench.course.digit_forms import digit_twin
from workbench.course.lesson_data import are_digits, cached, lesson_forms, named
from workbench.lessons.stratified import exercises
from workbench.simulations import stratified as simulations
from workbench.stratified import accuracy
from workbench.stratified.strata import Strata, stratify
from workbench.widgets.chart_view import ChartView, Panel, drive_figure, narrow, set_to
from workbench.widgets.ranges import adjustable

BY_HAND = "by_hand"
STRATIFIERS = [(title, name) for name, title in exercises.NAMES.items()]
SHARES = [("proportional", "proportional"), ("equal", "equal")]
HAND = [("by hand", BY_HAND)]
TWIN = ("700,000 synthetic items", "twin")
HALF_WIDTHS = np.round(np.arange(0.01, 0.1001, 0.001), 3)
LEAST_LABELS = 40
LEAST = 2  # least number of items and of labels in a stratum set by hand
INTERVALS = [
    ("95%, for a fixed number", "fixed"),
    ("99.5% at every check", "looks"),
    ("anytime", "anytime"),
]


class _Design:
    """A design of strata and allocation, set by rules or by hand."""

    def __init__(self, predicted: float | None) -> None:
        self._predicted = predicted
        self.cuts = self.labels = np.array(
            [], int
        )  # of the shown strata: items up to each cut, and labels
        self.controls: dict[str, Any] = {
            "stratifier": ipywidgets.Dropdown(
                options=STRATIFIERS + HAND, description=named("Cut the forms by")
            ),
            "score": ipywidgets.Dropdown(options=_scores(), description="Sorted by"),
            "n_strata": ipywidgets.IntSlider(5, 2, 12, description="Strata"),
            "budget": ipywidgets.IntSlider(100, 30, 600, 10, description="Labels"),
            "method": ipywidgets.Dropdown(options=SHARES + HAND, description="Allocate the labels"),
        }
        self._scored, self._cut = functools.cache(_scored), functools.cache(self._by_rule)
        # registered before the panel, which shows the result
        for name in ("stratifier", "score", "n_strata", "budget"):
            self.controls[name].observe(functools.partial(self._forget, name), "value")
        self.panel = drive_figure(self.controls, self._figure)
        self.panel.view.on_drag(self._dragged)

    def _figure(self, **values: Any) -> Figure:
        wrong = self._scored(values["score"])[2]
        return charts.design(self._study(**values), wrong, predicted=self._predicted)

    def _study(self, stratifier: Any, score: Any, n_strata: Any, budget: Any, method: Any) -> Any:
        scores, correct, _ = self._scored(score)
        strata = (
            self._by_hand(scores)
            if stratifier == BY_HAND
            else self._cut(score, stratifier, n_strata)
        )
        rule = "proportional" if method == BY_HAND else method
        study = simulations.weigh_design(strata, scores, correct, budget, rule)
        if method == BY_HAND:
            variance = accuracy.accuracy_variance(study.stratum_size, study.correct, self.labels)
            study = replace(
                study, method=BY_HAND, labeled=self.labels, standard_error=float(variance) ** 0.5
            )
        self.cuts, self.labels = strata.sizes.cumsum()[:-1], np.array(study.labeled)
        return study

    def _by_rule(self, score: str, stratifier: str, n_strata: int) -> Strata:
        return stratify(self._scored(score)[0], n_strata, stratifier)

    def _by_hand(self, scores: np.ndarray) -> Strata:
        labels = np.searchsorted(
            self.cuts, np.argsort(np.argsort(scores, kind="stable")), side="right"
        )
        return Strata(labels, np.bincount(labels), None, self.cuts.size + 1, BY_HAND)

    def _forget(self, name: str, change: Any) -> None:
        """Return to the rules if the strata or the number of labels change."""
        if change["new"] == BY_HAND:
            return
        if name == "n_strata" and self.controls["stratifier"].value == BY_HAND:
            self.controls["stratifier"].value = "equal_size"
        if self.controls["method"].value == BY_HAND:
            self.controls["method"].value = "proportional"

    def _dragged(self, point: dict) -> None:
        kind, number = point["drag"].split()
        move, control = {
            "cut": (self._move_cut, "stratifier"),
            "labels": (self._move_labels, "method"),
        }[kind]
        move(int(number), point["x"])
        if self.controls[control].value != BY_HAND:
            self.controls[control].value = BY_HAND  # draws
            return
        self.panel.view.show_figure(self._figure(**set_to(self.controls)))

    def _move_cut(self, number: int, share: float) -> None:
        size = len(self._scored(self.controls["score"].value)[0])
        room = (
            self.labels
            if self.controls["method"].value == BY_HAND
            else np.full(self.labels.size, LEAST)
        )
        ends = np.concatenate([[0], self.cuts, [size]])
        low, high = ends[number - 1] + room[number - 1], ends[number + 1] - room[number]
        self.cuts = self.cuts.copy()
        self.cuts[number - 1] = max(low, min(high, round(share * size)))

    def _move_labels(self, number: int, share: float) -> None:
        size = len(self._scored(self.controls["score"].value)[0])
        items = np.diff(np.concatenate([[0], self.cuts, [size]]))[number - 1 : number + 1]
        both = int(self.labels[number - 1 : number + 1].sum())
        target = round(share * self.labels.sum()) - int(self.labels[: number - 1].sum())
        first = max(LEAST, both - items[1], min(both - LEAST, items[0], target))
        self.labels[number - 1 : number + 1] = first, both - first


@adjustable()
def strata_and_shares(predicted: float | None = None) -> Panel:
    """Return a view of strata and allocation with the standard error of the design.

    A reader can drag the cuts between strata and the labels below them. The control then says
    "by hand".

    Parameters
    ----------
    predicted : float, optional
        Proportion by which the learner predicted that the standard error falls.
    **ranges
        Ranges of controls by their names: `stratifier`, `score`, `n_strata`, `budget`, `method`.

    Returns
    -------
    workbench.widgets.Panel
        Controls: stratifier, score (confidence or margin), strata, labels, allocation.

    Examples
    --------
    Build a similar scene:

    >>> import ipywidgets
    >>> import workbench as wb
    >>> from workbench.charts.stratified import scenes as charts
    >>> from workbench.widgets import image
    >>> items = wb.digit_forms().items()
    >>> def scene(n_strata=5):
    ...     study = wb.study_design(items.score, items.correct, 100, n_strata=n_strata)
    ...     return image(charts.design(study, charts.wrong_by_rank(items.score, items.correct)))
    >>> scene(n_strata=2)  # doctest: +ELLIPSIS
    Chart: Standard error 0.0301 for this design, 0.0319 for random sampling, ...
    >>> ipywidgets.interact(scene, n_strata=(2, 9))  # doctest: +SKIP
    """
    design = _Design(predicted)
    stratify(
        lesson_forms().confidence, 5, "kmeans"
    )  # its library takes a second to load, so load it before a control moves
    return design.panel


@adjustable()
def papers_robot() -> Panel:
    """Return a view of the paper's robot (OPT-A2): intervals, claimed and actual error.

    Parameters
    ----------
    **ranges
        Ranges of controls by their names: `budget`, `pilot`, `step`, `laplace`.

    Returns
    -------
    workbench.widgets.Panel
        Controls: labels, pilot per stratum, labels per round, smoothing.

    Examples
    --------
    Build a similar scene:

    >>> import ipywidgets
    >>> import workbench as wb
    >>> from workbench.charts.stratified import scenes as charts
    >>> from workbench.widgets import image
    >>> def scene(budget=40):
    ...     study = wb.simulate_labeling([900, 100], [880, 60], budget, "opt_a2", runs=500)
    ...     return image(charts.robot(study))
    >>> scene(100)  # doctest: +ELLIPSIS
    Chart: OPT-A2 with 100 labels: 95% Wald intervals contain the true accuracy 0.9400 in ...
    >>> ipywidgets.interact(scene, budget=(20, 200, 20))  # doctest: +SKIP
    """
    sizes, right = fifths()
    budget = ipywidgets.IntSlider(100, LEAST_LABELS, 300, 10, description="Labels in total")
    pilot = ipywidgets.IntSlider(5, 2, 20, description="Pilot labels per stratum")
    controls = {
        "budget": budget,
        "pilot": pilot,
        "step": ipywidgets.IntSlider(10, 5, 50, 5, description="Labels per round"),
        "laplace": ipywidgets.FloatSlider(
            0,
            min=0,
            max=4,
            step=0.5,
            readout_format=".1f",
            description="Smoothing: correct and incorrect labels added",
            layout=ipywidgets.Layout(width="520px"),
        ),  # its name is long
    }

    def fit(change: Any) -> None:
        narrow(budget, low=sizes.size * change["new"])  # the pilot labels are part of the labels

    @functools.lru_cache(maxsize=256)
    def figure(budget: int, **settings: Any) -> Figure:
        study = simulations.simulate_labeling(sizes, right, budget, "opt_a2", runs=2000, **settings)
        return charts.robot(study)

    pilot.observe(fit, "value")
    return drive_figure(controls, figure)


def robots(predicted: float | None = None) -> ChartView:
    """Return a chart of the coverage of the robot's intervals by number of labels.

    Parameters
    ----------
    predicted : float, optional
        Proportion of the runs that the learner predicted for 300 labels.

    Examples
    --------
    Build a similar scene:

    >>> import ipywidgets
    >>> import workbench as wb
    >>> from workbench.charts.stratified import scenes as charts
    >>> from workbench.widgets import image
    >>> strata, budgets = ([900, 100], [880, 60]), (40, 80, 160)
    >>> def scene(pilot=5):
    ...     studies = [wb.simulate_labeling(*strata, n, "opt_a2", pilot=pilot) for n in budgets]
    ...     return image(charts.robots(studies))
    >>> scene(10)  # doctest: +ELLIPSIS
    Chart: Proportion of 95% Wald intervals that contain the true accuracy: ...
    >>> ipywidgets.interact(scene, pilot=(2, 20))  # doctest: +SKIP
    """
    return ChartView(charts.robots(robot_studies(), predicted=predicted))


@cached
def robot_studies() -> list[simulations.LabelingStudy]:
    """Return 20,000 simulated runs of the robot for 40, 60, 100, 200 and 300 labels."""
    return [
        simulations.simulate_labeling(*fifths(), n, "opt_a2", runs=20_000)
        for n in (40, 60, 100, 200, 300)
    ]


@adjustable()
def stop_when_it_looks_good(predicted: float | None = None) -> Panel:
    """Return a view of 200 analysts who check their intervals while they label.

    Parameters
    ----------
    predicted : float, optional
        Proportion of the analysts who miss the truth, as the learner predicted.
    **ranges
        Ranges of controls by their names: `method`, `every`.

    Returns
    -------
    workbench.widgets.Panel
        Controls: interval (fixed, at 99.5%, anytime), labels between checks.

    Examples
    --------
    Build a similar scene:

    >>> import ipywidgets
    >>> import workbench as wb
    >>> from workbench.charts.stratified import scenes as charts
    >>> from workbench.widgets import image
    >>> def scene(every=10):
    ...     study = wb.simulate_looking([900, 100], [850, 50], every=every, last=300, runs=50)
    ...     return image(charts.looking(study))
    >>> scene(every=90)  # doctest: +ELLIPSIS
    Chart: 95% interval for a fixed number of labels, 4 checks: proportion of 50 analysts ...
    >>> ipywidgets.interact(scene, every=[10, 30, 90, 270])  # doctest: +SKIP
    """
    sizes, right = fifths()
    controls = {
        "method": ipywidgets.Dropdown(options=INTERVALS, description="Interval"),
        "every": ipywidgets.Dropdown(
            options=[10, 30, 95, 190, 570], description="Labels between checks"
        ),
    }

    @functools.cache
    def figure(**settings: Any) -> Figure:
        return charts.looking(simulations.simulate_looking(sizes, right, **settings), predicted)

    return drive_figure(controls, figure)


@adjustable(half_width=(0.001, 0.49))
def labels_needed(predicted: tuple[float, float] | None = None) -> Panel:
    """Return a view of the number of labels needed for a given half-width.

    Parameters
    ----------
    predicted : (float, float), optional
        Half-width, and the number of labels that the learner predicted for the synthetic items.
    **ranges
        Ranges of controls by their names: `half_width`, `finite`, `population`.

    Returns
    -------
    workbench.widgets.Panel
        Controls: half-width, finite-population correction, population.

    Examples
    --------
    Build a similar scene:

    >>> import ipywidgets
    >>> import workbench as wb
    >>> from workbench.charts.stratified import scenes as charts
    >>> from workbench.widgets import image
    >>> def scene(accuracy=0.9):
    ...     curve = wb.plan_curve([900, 100], [accuracy, 0.5], [0.02, 0.03, 0.05, 0.1])
    ...     return image(charts.plan(curve, 0.05))
    >>> scene(0.8)  # doctest: +ELLIPSIS
    Chart: Labels for a 95% Wald half-width of 0.05, ...
    >>> ipywidgets.interact(scene, accuracy=(0.5, 1, 0.05))  # doctest: +SKIP
    """
    controls = {
        "half_width": ipywidgets.FloatSlider(
            0.05, min=0.01, max=0.1, step=0.005, readout_format=".3f", description="Half-width"
        ),
        "finite": ipywidgets.Checkbox(True, description="Finite-population correction"),
        "population": ipywidgets.Dropdown(options=[_forms(), TWIN], description="Population"),
    }

    def figure(half_width: float, finite: bool, population: str) -> Figure:
        return charts.plan(plan_curves(half_width)[population, finite], half_width, predicted)

    return drive_figure(controls, figure)


def _forms() -> tuple[str, str]:
    """Return the name and the key of the audited population."""
    kind = "digit forms" if are_digits() else "items"
    return f"{lesson_forms().digit.size:,} {kind}", "forms"


def fifths() -> tuple[np.ndarray, np.ndarray]:
    """Return the sizes of the five equal-size strata, and the correct forms in each."""
    if are_digits():
        return exercises.fifths()[:2]
    items = lesson_forms().items()
    strata = stratify(items.score, 5, "equal_size")
    return strata.sizes, np.bincount(strata.labels, items.correct, 5).astype(int)


@cached
def plan_curves(half_width: float = 0.05) -> dict:
    """Return the labels needed by half-width, per population and finite-population correction."""
    low, high = min(half_width, HALF_WIDTHS[0]), max(half_width, HALF_WIDTHS[-1])
    more = [*np.arange(low, HALF_WIDTHS[0], 0.001), *np.arange(HALF_WIDTHS[-1], high, 0.01)]
    widths = np.unique(np.round([*HALF_WIDTHS, *more, half_width], 6))
    return {
        (population, finite): accuracy.plan_curve(*strata, widths, finite=finite)
        for population, strata in _plan_strata().items()
        for finite in (True, False)
    }


@cached
def _plan_strata() -> dict:
    """Return the sizes and accuracies of the fifths of both populations."""
    forms = lesson_forms()
    twin = digit_twin(forms.confidence, forms.read_a == forms.digit)
    strata = stratify(twin.score, 5, "equal_size")
    return {
        "forms": (fifths()[0], fifths()[1] / fifths()[0]),
        "twin": (strata.sizes, np.bincount(strata.labels, twin.correct, 5) / strata.sizes),
    }


def _scores() -> list[str]:
    """Return the scores by which forms can be sorted."""
    return [name for name in ("confidence", "margin") if hasattr(lesson_forms(), name)]


def _scored(score: str) -> tuple:
    """Return the scores, the correctness, and the proportion of incorrect forms by score rank."""
    forms = lesson_forms()
    values, correct = getattr(forms, score), forms.read_a == forms.digit
    return values, correct, charts.wrong_by_rank(values, correct)
