"""Live views of lesson 2: replicate variance, balanced half-samples and orthogonal arrays.

A view is a panel of controls and a chart. The controls set the arguments of a function of
`workbench`, and the chart shows its result. `predict_...` asks for a prediction, `seen_...` waits
for it and shows the view, and `explain_...` asks for an explanation afterwards.
"""

import itertools
import math
from typing import Any

import ipywidgets
import numpy as np

from workbench import checks
from workbench.charts.replication import arrays as array_charts
from workbench.charts.replication import half_samples as box_charts
from workbench.charts.replication import intervals as interval_charts
from workbench.charts.theme import Figure
from workbench.course import lesson_data
from workbench.course.digit_forms import digit_forms
from workbench.course.lesson_data import (
    about_digits,
    are_digits,
    lesson_forms,
    named,
    only_for_digits,
)
from workbench.lessons.content import lesson_texts
from workbench.lessons.replication import exercises
from workbench.replication import arrays, estimates, galois, replicates
from workbench.replication.designs import SurveyDesign
from workbench.replication.metrics import naive
from workbench.results import Table
from workbench.simulations import replication as simulations
from workbench.widgets import questions
from workbench.widgets.chart_view import ChartView, Panel, drive_figure, stops
from workbench.widgets.questions import Explanation, Prediction, Reveal
from workbench.widgets.ranges import adjustable, check_ranges

TEXTS = lesson_texts("replication")
SCHEMES = [
    ("all 128", "all"),
    ("balanced 8", "balanced"),
    ("at random", "random"),
    ("balanced 8 without the first", "one less"),
    ("as printed in the paper", "printed"),
]
PRINTED = ("++-+---", "+-+--++", "++--++-", "+--++++", "--++-+-", "-++++--", "+++++++")
RANDOM_COUNTS = [2**k for k in range(2, 12)]
DRAWS = 40
PER_BOX: list[Any] = [10, 15, 20, 30, 40, 50, 60, 70, 80, 90, 100, 114, "all"]
ARRAYS = [("linear forms", "linear"), ("the paper's shifts", "paper")]
FIELDS = [
    ("GF(2^3)", (2, 3)),
    ("GF(2^4)", (2, 4)),
    ("GF(3^2)", (3, 2)),
    ("GF(3^3)", (3, 3)),
    ("GF(5^2)", (5, 2)),
]
ITEMS = [1, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 40, 60, 80, 100, 127, 150, 200]
CORRELATIONS = [
    0,
    0.0025,
    0.005,
    0.0075,
    0.01,
    0.0125,
    0.015,
    0.0181,
    0.02,
    0.03,
    0.04,
    0.05,
    0.06,
    0.07,
    0.08,
    0.09,
    0.1,
    0.12,
    0.14,
    0.16,
    0.18,
    0.2,
    0.3,
    0.45,
]
SIZES = [("all alike", 0.0), ("somewhat", 0.5), ("much", 1.0)]
WORSE = [("no", 0.0), ("somewhat", -0.5), ("much", -1.0)]
MOST_PSUS = 35_000
CITY = {"strata": 7, "psus": 2, "items": 127, "icc": 0.0181, "size_spread": 0.0, "size_effect": 0.0}
WEIGHTS = {
    "strata": 483,
    "psus": 2,
    "items": 1,
    "weight_spread": 0.7,
    "weight_effect": 0.65,
    "runs": 1000,
}


# ---------------------------------------------------------------- effective sample size of boxes


LEAST_CLUSTERS, LEAST_IN_CLUSTER = 4, 10


def use(path: Any, positive: Any = "") -> Any:
    """Show a file of your own in the scenes of this lesson.

    Parameters
    ----------
    path : str, path, data frame or None
        With the columns `truth`, `prediction` and `cluster`: at least 4 clusters of at least 10
        rows each. Each pair of clusters that follow each other in the file forms a stratum. None
        shows the digit forms again.
    positive : object
        The positive class of the `labeled` method of the result.

    Returns
    -------
    workbench.course.lesson_data.LessonItems
        The items that the code cells call `forms`.
    """
    items = lesson_data.use_items(path, needs=("cluster",), positive=positive)
    sizes = np.bincount(items.box)[1:]
    if sizes.size < LEAST_CLUSTERS or sizes.min() < LEAST_IN_CLUSTER:
        lesson_data.use_items(None)
        clusters = checks.counted(sizes.size, "cluster")
        rows = checks.counted(sizes.max(), "row")
        if sizes.min() < sizes.max():
            rows = f"{sizes.min():,} to {rows}"
        raise ValueError(
            f"Lesson 2 needs at least {LEAST_CLUSTERS} clusters of at least {LEAST_IN_CLUSTER} "
            f"rows each. {items.name} has {clusters} of {rows}."
        )
    lesson_data.check_predictions(2)
    return items


def first_look() -> ChartView:
    """Return a chart of fourteen boxes, with the band that contains most of them by chance alone.

    Examples
    --------
    The same chart for simulated boxes, with a control for how much the boxes differ:

    >>> import ipywidgets
    >>> from workbench.charts.replication.half_samples import first_look
    >>> from workbench.widgets import image
    >>> def scene(correlation=0.02):
    ...     rng = np.random.default_rng(1)
    ...     spread = 1 / correlation - 1
    ...     accuracy = rng.beta(0.877 * spread, 0.123 * spread, 14)
    ...     return image(first_look(rng.binomial(128, accuracy), np.full(14, 128)))
    >>> scene(0.001)  # doctest: +ELLIPSIS
    Chart: 14 boxes of about 128 forms. ...
    >>> ipywidgets.interact(scene, correlation=(0.001, 0.1, 0.001))  # doctest: +SKIP
    """
    forms = lesson_forms()
    return ChartView(box_charts.first_look(*_counts(forms.box, forms.read_a == forms.digit)))


def predict_worth() -> Prediction:
    """Return the question about the effective sample size, asked before the intervals appear."""
    labels, boxes = lesson_forms().digit.size, lesson_forms().box.max()
    question = named(TEXTS.question("2-worth", labels=labels, boxes=boxes))
    return questions.predict("2-worth", question, _worths())


def _worths() -> dict[str, int]:
    """Return the choices of `predict_worth`: all labels, two thirds, a third, and one per box."""
    if are_digits():
        return TEXTS.values("2-worth")
    labels, boxes = lesson_forms().digit.size, int(lesson_forms().box.max())
    choices = (labels, round(labels * 2 / 3), round(labels / 3), boxes)
    return {f"{worth:,}": worth for worth in choices}


def seen_boxes(**ranges: Any) -> Reveal:
    """Return the view of the fourteen boxes; it appears once `predict_worth` is answered."""
    check_ranges(fourteen_boxes, ranges)
    return questions.reveal(
        "2-worth",
        lambda predicted: [
            *only_for_digits(*TEXTS.answered("2-worth", predicted)),
            fourteen_boxes(_worths().get(predicted), **ranges),
        ],
    )


@adjustable(per_box=(1, 1000))
def fourteen_boxes(predicted: int | None = None) -> Panel:
    """Return a view of the fourteen boxes: intervals and effective sample size.

    Parameters
    ----------
    predicted : int, optional
        Effective sample size that the learner predicted.
    **ranges
        Ranges of controls by their names: `per_box`.

    Returns
    -------
    workbench.widgets.Panel
        Control: labels per box, sampled at random, or all. A larger sample contains the smaller
        one.

    Examples
    --------
    A similar scene for the first labels of each box:

    >>> import ipywidgets
    >>> import workbench as wb
    >>> from workbench.charts.replication import replicate_plot
    >>> from workbench.widgets import image
    >>> forms = wb.digit_forms()
    >>> def scene(per_box=114):
    ...     boxes = [np.flatnonzero(forms.box == box) for box in range(1, 15)]
    ...     rows = np.concatenate([box[:per_box] for box in boxes])
    ...     design = wb.SurveyDesign((forms.box[rows] - 1) // 2, psu=forms.box[rows])
    ...     correct = forms.read_a[rows] == forms.digit[rows]
    ...     estimate = wb.replicate_estimate(wb.replicates(design), "proportion", correct)
    ...     return image(replicate_plot(estimate))
    >>> scene(20)  # doctest: +ELLIPSIS
    Chart: 8 brr replicates of proportion from ...
    >>> ipywidgets.interact(scene, per_box=(10, 114, 8))  # doctest: +SKIP
    """
    forms = lesson_forms()
    correct, icc, turn = (
        forms.read_a == forms.digit,
        intracluster_correlation(),
        _turn_within(forms.box),
    )
    least = int(np.bincount(forms.box)[1:].min())
    per_box = [stop for stop in PER_BOX if stop == "all" or stop <= least]
    controls = {"per_box": stops(per_box, "all", named("Labels per box"))}

    def labels_of(per_box: int | str) -> tuple:
        drawn = np.ones(turn.size, bool) if per_box == "all" else turn < per_box
        return forms.box[drawn], correct[drawn]

    def figure(per_box: int | str) -> Figure:
        box, labels = labels_of(per_box)
        estimate = estimates.replicate_estimate(_replicates_by_boxes(box), "proportion", labels)
        right, items = _counts(box, labels)
        size = predicted if per_box == "all" else None
        return box_charts.boxes(right, items, estimate, size, icc=icc, reach=reach)

    shares = [right / items for right, items in (_counts(*labels_of(stop)) for stop in per_box)]
    reach = (float(np.min(shares)) - 0.05, 1.0)
    return drive_figure(controls, figure)


def seen_worth() -> Reveal:
    """Return a button for the effective sample sizes by labels per box, after `predict_worth`."""

    def show() -> Table:
        boxes = int(lesson_forms().box.max())
        icc, mean = intracluster_correlation(), lesson_forms().box.size / boxes
        effects = {m: 1 + (m - 1) * icc for m in (1, 10, 50, mean)}
        rows = [
            {
                named("labels per box"): f"{m:.0f}",
                "labeled": round(boxes * m),
                "design_effect": f"{effect:.2f}",
                "effective sample size": round(boxes * m / effect),
            }
            for m, effect in effects.items()
        ]
        title = f"Labels in {boxes} boxes, intracluster correlation {icc:.4f}"
        return Table(rows, named(title))

    return questions.compare("2-worth", {}, show)


def explain_worth() -> Explanation:
    """Return the question why a further label from the same box adds little."""
    return TEXTS.explain("2-why-worth")


# ---------------------------------------------------------------- half-samples


@about_digits
def predict_eight() -> Prediction:
    """Return the question how close the standard error of eight half-samples is to that of 128."""
    return TEXTS.predict("2-eight")


@about_digits
def seen_halves(**ranges: Any) -> Reveal:
    """Return the view of half-samples; it appears once `predict_eight` is answered."""
    check_ranges(half_samples, ranges)
    return questions.reveal(
        "2-eight", lambda predicted: half_samples(TEXTS.value("2-eight", predicted), **ranges)
    )


@adjustable(count=(2, 100_000), seed=(0, 1_000_000))
def half_samples(predicted: float | None = None) -> Panel:
    """Return a view of half-samples: all, the balanced eight, random ones, the printed ones.

    Parameters
    ----------
    predicted : float, optional
        Relative difference that the learner predicted for the standard error of eight.
    **ranges
        Ranges of controls by their names: `scheme`, `count`, `seed`.

    Returns
    -------
    workbench.widgets.Panel
        Controls: kind of half-samples; for random ones also their number and the random sample.

    Examples
    --------
    A similar scene for random half-samples of four districts:

    >>> import ipywidgets
    >>> import workbench as wb
    >>> from workbench.charts.replication import replicate_plot
    >>> from workbench.widgets import image
    >>> design = wb.SurveyDesign([1, 1, 2, 2, 3, 3, 4, 4])
    >>> def scene(count=8, seed=1):
    ...     kept = np.random.default_rng(seed).integers(0, 2, (count, 4))
    ...     halves = wb.replicates(design, array=kept, require_balance=False)
    ...     accuracy = [0.9, 0.8, 0.7, 0.9, 0.8, 0.9, 0.8, 0.7]
    ...     return image(replicate_plot(wb.replicate_estimate(halves, "mean", accuracy)))
    >>> scene(16)  # doctest: +ELLIPSIS
    Chart: 16 brr replicates of mean from ...
    >>> ipywidgets.interact(scene, count=(2, 64), seed=(1, 20))  # doctest: +SKIP
    """
    forms = digit_forms()
    correct, design = forms.read_a == forms.digit, exercises.by_boxes(forms.box)
    textbook = _textbook_error()
    controls = {
        "scheme": ipywidgets.Dropdown(options=SCHEMES, value="all", description="Half-samples"),
        "count": stops(RANDOM_COUNTS, 8, "How many at random"),
        "seed": ipywidgets.IntSlider(1, 1, DRAWS, description="Random sample number"),
    }
    yours = (
        ()
        if predicted is None
        else tuple(sorted({textbook * (1 - predicted), textbook * (1 + predicted)}))
    )

    def draw_only_random(_: Any = None) -> None:
        for name in ("count", "seed"):
            controls[name].disabled = controls["scheme"].value != "random"

    def estimated(scheme: str, count: int, seed: int) -> tuple:
        array = half_sample_array(scheme, count, seed)
        halves = replicates.replicates(design, array=array, require_balance=False)
        return halves, estimates.replicate_estimate(halves, "proportion", correct)

    def figure(scheme: str, count: int, seed: int) -> Figure:
        predictions = yours if scheme == "balanced" else ()
        halves, estimate = estimated(scheme, count, seed)
        return box_charts.halves(halves, estimate, predictions, textbook=textbook, reach=reach)

    draw_only_random()
    controls["scheme"].observe(draw_only_random, "value")
    middle, farthest = (
        estimated("all", 8, 1)[1].estimate,
        np.abs(_box_differences()).sum() / 14 * 1.03,
    )
    reach = (middle - farthest, middle + farthest)
    return drive_figure(controls, figure)


@about_digits
def seen_schemes() -> Reveal:
    """Return a button for the standard errors digit by digit, after `predict_eight`."""

    def show() -> Table:
        exact = {
            name: f"{_error_of(half_sample_array(scheme)):.15f}" for name, scheme in SCHEMES[:2]
        }
        for count in (RANDOM_COUNTS[1], RANDOM_COUNTS[-1]):
            ratios = simulations.simulate_random_halves(_box_differences(), count).ratios
            low, high = np.sqrt(np.quantile(ratios, (0.05, 0.95))) * _textbook_error()
            exact[f"{count:,} at random"] = f"{low:.4f} to {high:.4f} in 90% of samples"
        return Table(
            [{"half-samples": name, "standard_error": text} for name, text in exact.items()],
            "Standard error of the accuracy",
        )

    return questions.compare("2-eight", TEXTS.feedback("2-eight"), show)


@about_digits
def seen_broken() -> Reveal:
    """Return a button for the standard errors of unbalanced half-samples, after `predict_eight`."""

    def show() -> Table:
        every = half_sample_array("all")
        rows = []
        for name, array in ((name, half_sample_array(scheme)) for name, scheme in SCHEMES[3:]):
            error = _error_of(array)
            repairs = sum(arrays.check_balance(np.vstack([array, row])).full for row in every)
            rows.append(
                {
                    "half-samples": name,
                    "standard_error": f"{error:.4f}",
                    "difference": f"{error / _textbook_error() - 1:+.0%}",
                    "balanced with one more row": "yes" if repairs else "no",
                }
            )
        return Table(rows, "Two arrays of seven rows, compared with the textbook formula")

    return questions.compare("2-eight", {}, show)


@about_digits
def explain_eight() -> Explanation:
    """Return the question whether more replicates give a better standard error."""
    return TEXTS.explain("2-why-eight")


def half_sample_array(scheme: str, count: int = 8, seed: int = 1) -> np.ndarray:
    """Return the box that each half-sample keeps from each of seven districts.

    Parameters
    ----------
    scheme : {"all", "balanced", "random", "one less", "printed"}
        Kind of half-samples. "one less" are the balanced ones without the first. "printed" are the
        seven rows of eq. 12 of Micheals & Boult, A stratified methodology for classifier and
        recognizer evaluation, 2001.
    count : int
        Number of half-samples of "random", sampled with replacement.
    seed : int
        Random seed of "random".

    Returns
    -------
    (R, 7) array of int
        0 for the first box, 1 for the second.
    """
    if scheme == "all":
        return np.array(list(itertools.product((0, 1), repeat=7)))
    if scheme in ("balanced", "one less"):
        return (1 - arrays.hadamard(8)[int(scheme == "one less") :, 1:]) // 2
    if scheme == "printed":
        return np.array([[int(sign == "-") for sign in row] for row in PRINTED])
    return np.random.default_rng(seed).integers(0, 2, (count, 7))


# ---------------------------------------------------------------- arrays


def predict_pairs() -> Prediction:
    """Return the question whether the paper's nine runs are enough."""
    return TEXTS.predict("2-pairs")


def seen_pairs(**ranges: Any) -> Reveal:
    """Return the view that builds arrays; it appears once `predict_pairs` is answered."""
    check_ranges(array_builder, ranges)

    def show(predicted: str) -> list:
        bad = np.argwhere(np.triu(array_charts.unbalanced_pairs(papers_shifts(3, 8), 3))) + 1
        failing = f"{len(bad)} of the 28 pairs fail: {', '.join(f'{i} and {j}' for i, j in bad)}."
        builder = array_builder("paper", predicted, **ranges)
        return [*TEXTS.answered("2-pairs", predicted), failing, builder]

    return questions.reveal("2-pairs", show)


@adjustable(columns=(2, 200), i=(1, 200), j=(1, 200))
def array_builder(first: str = "linear", predicted: str | None = None) -> Panel:
    """Return a view that builds an orthogonal array and counts the pairs of two of its columns.

    Parameters
    ----------
    first : {"linear", "paper"}
        The construction to begin with.
    predicted : str, optional
        Number of pairs of the paper's eight columns that the learner expected to fail.
    **ranges
        Ranges of controls by their names: `levels`, `columns`, `method`, `i`, `j`.

    Returns
    -------
    workbench.widgets.Panel
        Controls: units per stratum, columns, construction, the two columns. A click on a column of
        the array makes it the second one, and the second the first.

    Examples
    --------
    A similar scene for three units per stratum:

    >>> import ipywidgets
    >>> import workbench as wb
    >>> from workbench.charts.replication import arrays as charts
    >>> from workbench.widgets import image
    >>> def scene(columns=4, first=1, second=2):
    ...     array = wb.orthogonal_array(3, columns)
    ...     return image(charts.array(array, 3, first, second))
    >>> scene(5)  # doctest: +ELLIPSIS
    Chart: An array of 27 runs, 5 columns, 3 units per stratum: all 10 pairs ...
    >>> ipywidgets.interact(scene, columns=(4, 40), first=(1, 4), second=(1, 4))  # doctest: +SKIP
    """
    controls = {
        "levels": ipywidgets.IntSlider(3, 2, 9, description="Units per stratum s"),
        "columns": ipywidgets.IntSlider(8, 2, 40, description="Columns (strata)"),
        "method": ipywidgets.Dropdown(options=ARRAYS, value=first, description="Construction"),
        "i": ipywidgets.IntSlider(1, 1, 8, description="First column"),
        "j": ipywidgets.IntSlider(2, 1, 8, description="Second column"),
    }

    def figure(levels: int, columns: int, method: str, i: int, j: int) -> Figure:
        array = (
            papers_shifts(levels, columns)
            if method == "paper"
            else arrays.orthogonal_array(levels, columns)
        )
        note = ""
        if predicted is not None and (levels, columns, method) == (3, 8, "paper"):
            note = f"you predicted: {predicted}"
        return array_charts.array(array, levels, min(i, columns), min(j, columns), note)

    def pick(column: dict) -> None:
        if column["pick"] not in (controls["i"].value, controls["j"].value):
            controls["i"].value = controls["j"].value
            controls["j"].value = column["pick"]

    _keep_apart(controls["columns"], controls["i"], controls["j"])
    panel = drive_figure(controls, figure)
    panel.view.on_pick(pick)
    return panel


def _keep_apart(columns: Any, i: Any, j: Any) -> None:
    """Keep two columns different and inside the array; two that would be equal swap places."""

    def swap(change: Any) -> None:
        other = j if change.owner is i else i
        if change.new == other.value:
            other.value = change.old

    def limit(change: Any) -> None:
        low, high = sorted((min(i.value, change.new), min(j.value, change.new)))
        i.value, j.value = low - (low == high), high
        i.max = j.max = change.new

    for control in (i, j):
        control.observe(swap, "value")
    columns.observe(limit, "value")


def papers_shifts(levels: int, columns: int) -> np.ndarray:
    """Return the array of shifts of one column that the paper proposes, which has too few runs.

    The paper uses n^b runs for up to n^b - 1 columns. Beyond (n^b - 1) / (n - 1) shifts, columns
    repeat each other up to a factor (Micheals & Boult 2001, section 7.3 and appendix B.3).

    Parameters
    ----------
    levels : int
        Number of levels n, a prime power.
    columns : int
        Number of columns.

    Returns
    -------
    (n^b, columns) array of int
        The array.

    Examples
    --------
    >>> papers_shifts(3, 8)[:, [0, 4]].T
    array([[0, 1, 2, 2, 0, 2, 1, 1, 0],
           [0, 2, 1, 1, 0, 1, 2, 2, 0]])
    """
    dimension = 1
    while levels**dimension - 1 < columns:
        dimension += 1
    first = arrays.orthogonal_array(
        levels, (levels**dimension - 1) // (levels - 1), method="rotation"
    )[:-1, 0]
    shifts = np.stack([np.roll(first, -k) for k in range(columns)], 1)
    return np.concatenate([shifts, np.zeros((1, columns), np.int64)])


@adjustable(k=(1, 26))
def field_steps() -> Panel:
    """Return a view that builds a field power by power, and the array from it.

    Parameters
    ----------
    **ranges
        Ranges of controls by their names: `size`, `k`.

    Returns
    -------
    workbench.widgets.Panel
        Controls: field, power of x.

    Examples
    --------
    A similar scene for the field of 8 elements:

    >>> import ipywidgets
    >>> import workbench as wb
    >>> from workbench.charts.replication import arrays as charts
    >>> from workbench.widgets import image
    >>> field = wb.GaloisField(2, 3)
    >>> def scene(power=1):
    ...     return image(charts.field(field, power))
    >>> scene(3)  # doctest: +ELLIPSIS
    Chart: GF(2^3): coefficients modulo 2, polynomials modulo x^3 + x + 1. ...
    >>> ipywidgets.interact(scene, power=(1, 7))  # doctest: +SKIP
    """
    controls = {
        "size": ipywidgets.Dropdown(options=FIELDS, value=(3, 3), description="Field"),
        "k": ipywidgets.IntSlider(5, 1, 26, description="Power of x, step"),
    }

    def limit(change: Any) -> None:
        controls["k"].max = math.prod([change.new[0]] * change.new[1]) - 1

    def figure(size: tuple, k: int) -> Figure:
        field = galois.GaloisField(*size)
        return array_charts.field(field, min(k, field.size - 1))

    controls["size"].observe(limit, "value")
    return drive_figure(controls, figure)


# ---------------------------------------------------------------- coverage


@about_digits
def predict_coverage() -> Prediction:
    """Return the question how often the naive interval contains the true value."""
    return TEXTS.predict("2-coverage")


@about_digits
def seen_coverage(**ranges: Any) -> Reveal:
    """Return the view of simulated intervals; it appears once `predict_coverage` is answered."""
    check_ranges(coverage, ranges)
    return questions.reveal(
        "2-coverage",
        lambda predicted: [
            *TEXTS.answered("2-coverage", predicted),
            coverage(TEXTS.value("2-coverage", predicted), **ranges),
        ],
    )


@adjustable(strata=(2, 200), psus=(2, 9), seed=(0, 1_000_000))
def coverage(predicted: float | None = None) -> Panel:
    """Return a view of simulated intervals: the coverage of five methods.

    Parameters
    ----------
    predicted : float, optional
        Coverage of the naive intervals that the learner expected for a city like ours.
    **ranges
        Ranges of controls by their names: `strata`, `psus`, `items`, `icc`, `size_spread`,
        `size_effect`, `seed`.

    Returns
    -------
    workbench.widgets.Panel
        Controls: strata, boxes per stratum, labels per box, intracluster correlation, random
        sample, and two switches: boxes differ in size, and large boxes are worse.

    Examples
    --------
    A similar scene with a control for the intracluster correlation only:

    >>> import ipywidgets
    >>> import workbench as wb
    >>> from workbench.charts.replication import intervals as charts
    >>> from workbench.widgets import image
    >>> def scene(correlation=0.0181):
    ...     return image(charts.coverage(wb.simulate_coverage(icc=correlation, runs=200)))
    >>> scene(0.1)  # doctest: +ELLIPSIS
    Chart: Coverage of 95% intervals in 200 simulated ...
    >>> ipywidgets.interact(scene, correlation=(0, 0.2, 0.01))  # doctest: +SKIP
    """
    controls = {
        "strata": ipywidgets.IntSlider(CITY["strata"], 3, 50, description="Districts L"),
        "psus": ipywidgets.IntSlider(CITY["psus"], 2, 5, description="Boxes per district n"),
        "items": stops(ITEMS, CITY["items"], "Labels per box m"),
        "icc": stops(CORRELATIONS, CITY["icc"], "Intracluster correlation", form="{:g}"),
        "size_spread": ipywidgets.Dropdown(
            options=SIZES, value=CITY["size_spread"], description="Sizes differ"
        ),
        "size_effect": ipywidgets.Dropdown(
            options=WORSE, value=CITY["size_effect"], description="Large boxes are worse"
        ),
        "seed": ipywidgets.IntSlider(1, 1, DRAWS, description="Random sample number"),
    }

    def figure(seed: int, **city: Any) -> Figure:
        runs = min(2_500, MOST_PSUS // (city["strata"] * city["psus"]))
        study = simulations.simulate_coverage(**city, runs=runs, rng=seed)
        return interval_charts.coverage(study, predicted if city == CITY else None)

    return drive_figure(controls, figure)


def explain_coverage() -> Explanation:
    """Return the question what the degrees of freedom are for."""
    return TEXTS.explain("2-why-coverage")


def seen_weights() -> Reveal:
    """Return the coverage of intervals that ignore weights, after `predict_coverage`."""

    def show(_: str | None) -> Table:
        study = simulations.simulate_coverage(**WEIGHTS)
        rows = [
            {
                "interval_method": method.replace("_", " "),
                "coverage": f"{study.coverage(method):.1%}",
                "half_width": f"{study.half_width(method):.3f}",
            }
            for method in ("naive", "weighted_naive", "default")
        ]
        return Table(
            rows,
            f"{study.strata} strata, larger weights at higher accuracy, {study.runs:,} simulated"
            " samples",
        )

    return questions.reveal("2-coverage", show)


# ---------------------------------------------------------------- F1


@about_digits
def seen_orders() -> Reveal:
    """Return the standard errors of F1 by order of districts, after `predict_eight`."""

    def show(_: str | None) -> Table:
        forms = digit_forms()
        design = SurveyDesign((forms.box - 1) // 2, psu=forms.box)
        halves = replicates.replicates(design, array=half_sample_array("all"))
        f1 = estimates.replicate_estimate(halves, "f1", forms.digit == 2, forms.read_a == 2)
        numbers = (
            half_sample_array("balanced")[:, list(itertools.permutations(range(7)))]
            @ 2 ** np.arange(7)[::-1]
        )
        squares = (f1.replicate_values - f1.estimate) ** 2
        errors = np.sqrt(squares[numbers].mean(0))
        return Table(
            [
                {"half-samples": "all 128", "standard_error": f"{f1.standard_error:.4f}"},
                {
                    "half-samples": f"balanced 8, {errors.size:,} orders of the districts",
                    "standard_error": f"{errors.min():.4f} to {errors.max():.4f}",
                },
            ],
            "Standard error of F1, digit 2",
        )

    return questions.reveal("2-eight", show)


# ---------------------------------------------------------------- the digit forms by boxes


def intracluster_correlation() -> float:
    """Return the intracluster correlation of all labels, from their design effect.

    `exercises.intracluster_correlation` gives the formula and does the same for the digit forms.
    """
    if are_digits():
        return exercises.intracluster_correlation()
    forms = lesson_forms()
    drawn = _replicates_by_boxes(forms.box)
    accuracy = estimates.replicate_estimate(drawn, "accuracy", forms.digit, forms.read_a)
    _, naive_error = naive("accuracy", forms.digit, forms.read_a)
    design_effect = accuracy.variance / naive_error**2
    return (design_effect - 1) / (forms.box.size / forms.box.max() - 1)


def _replicates_by_boxes(box: np.ndarray) -> replicates.Replicates:
    """Return replicates of boxes of equal weight, two per stratum.

    If the number of boxes is odd, the last box joins the stratum before it.
    """
    boxes = int(box.max())
    if boxes % 2 == 0:
        return replicates.replicates(exercises.by_boxes(box))
    stratum = np.minimum((box - 1) // 2, boxes // 2 - 1)
    design = SurveyDesign(stratum, psu=box, weight=1 / np.bincount(box)[box])
    return replicates.replicates(design, "jkn")


def _counts(box: np.ndarray, right: np.ndarray) -> tuple:
    """Return the number of correct labels and of all labels per box."""
    return np.bincount(box, right)[1:].astype(int), np.bincount(box)[1:]


def _box_differences() -> np.ndarray:
    """Return the difference of the accuracies of the two boxes of each district."""
    forms = digit_forms()
    right, items = _counts(forms.box, forms.read_a == forms.digit)
    return (right / items)[::2] - (right / items)[1::2]


def _textbook_error() -> float:
    """Return the standard error of the mean of 14 boxes by the closed formula."""
    return math.sqrt((_box_differences() ** 2).sum()) / 14


def _error_of(array: np.ndarray) -> float:
    """Return the standard error from half-samples."""
    forms = digit_forms()
    design = exercises.by_boxes(forms.box)
    halves = replicates.replicates(design, array=array, require_balance=False)
    return estimates.replicate_estimate(
        halves, "proportion", forms.read_a == forms.digit
    ).standard_error


def _turn_within(box: np.ndarray) -> np.ndarray:
    """Return the place of each form, 0, 1, ..., in a random order within its box."""
    order = np.lexsort((np.random.default_rng(0).random(box.size), box))
    turn = np.empty(box.size, int)
    turn[order] = np.concatenate([np.arange(n) for n in np.bincount(box)[1:]])
    return turn
