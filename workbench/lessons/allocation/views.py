"""Live views of lesson 3: labels moved by hand, rules compared, one label at a time, and streams.

Each function returns a question, or a chart with its controls. A chart that would give an answer
away appears only after the learner's prediction, which `workbench.widgets.questions.reveal` passes
to it.
"""

import dataclasses
import functools
import itertools
from collections.abc import Iterable
from typing import Any

import ipywidgets
import numpy as np

from workbench import checks
from workbench.allocation import rules
from workbench.allocation.plans import plan_labels
from workbench.charts.allocation import places as place_charts
from workbench.charts.allocation import streams as stream_charts
from workbench.charts.allocation.words import METHODS as METHOD_NAMES
from workbench.charts.allocation.words import STREAMED, count
from workbench.charts.theme import Figure
from workbench.course.digit_forms import PLACES, digit_forms, register_errors
from workbench.lessons.content import lesson_texts
from workbench.results import Table
from workbench.simulations import allocation as simulations
from workbench.widgets import questions
from workbench.widgets.chart_view import ChartView, Panel, drive_figure, narrow, panel, stops
from workbench.widgets.questions import Explanation, Prediction, Reveal
from workbench.widgets.ranges import adjustable

TEXTS = lesson_texts("allocation")
LABELS, MINIMUM = 100, 2
# finer where a place runs out and where equal shares become better
BUDGETS = sorted({*range(20, 201, 5), *range(57, 63), *range(141, 148)})
BY_HAND = 60
COMPARED = ("equal", "neyman", "neyman_plus", "neyman_iterated", "voila")
METHODS = [(METHOD_NAMES[name], name) for name in ("random", *COMPARED)]
BETTER = {
    "capped Neyman": ("neyman",),
    "equal shares": ("equal",),
    "no difference": ("neyman", "equal"),
}
ORDERS = [("random", "random"), ("thousands last", "late")]
RULES = [("as printed in the paper", "s_voila_printed"), ("exact, with a floor", "s_voila")]
EVERY, FLOORS, STREAMS, BATCH_OF_STREAMS = 20, (2, 10, 15), 400, 100
JUMPS = (1, 2, 5, 10, 20, 40)
JUMPING = 11
SHORT_STREAM = {"records": 5000, "jump_at": 1000}
SHORT_RUNS = 2
DRAWN = [(STREAMED[name], name) for name in STREAMED if name != "s_voila_printed"]


# predictions and explanations


def predict_thousands() -> Prediction:
    """Return the question about the thousands, which comes before any allocation is shown."""
    return TEXTS.predict("3-thousands")


def predict_better() -> Prediction:
    """Return the question which of two rules has the smaller error with 150 labels."""
    return TEXTS.predict("3-better")


def predict_infinite() -> Prediction:
    """Return the question how often the sample of a stream loses a place that has errors."""
    return TEXTS.predict("3-infinite")


def predict_following() -> Prediction:
    """Return the question about the variance long after a standard deviation has jumped."""
    return TEXTS.predict("3-following")


def explain_greedy() -> Explanation:
    """Return the question why giving one label at a time is not short-sighted."""
    return TEXTS.explain("3-greedy")


def explain_floor() -> Explanation:
    """Return the question why a stream throws away the stratum that matters most."""
    return TEXTS.explain("3-floor")


# the register


def register() -> ChartView:
    """Return a chart of the register: digits, misread digits and average error of each place.

    Examples
    --------
    A similar scene, in which you choose how many of 100 thousands are misread:

    >>> import ipywidgets
    >>> import numpy as np
    >>> from workbench.charts.allocation import places
    >>> from workbench.widgets import image
    >>> def scene(misread=14):
    ...     counts = zip([1, 10, 100, 1000], [13, 12, 11, misread])
    ...     errors = [np.repeat([worth, 0], [n, 100 - n]) for worth, n in counts]
    ...     return image(places.register(errors))
    >>> scene(20)  # doctest: +ELLIPSIS
    Chart: 100 ones, 13% misread, ... 100 thousands, 20% misread, each by 1,000 on average. ...
    >>> _ = ipywidgets.interact(scene, misread=(1, 50))  # doctest: +SKIP
    """
    return ChartView(place_charts.register(_errors()))


@adjustable(
    ones=(MINIMUM, BY_HAND),
    tens=(MINIMUM, BY_HAND),
    hundreds=(MINIMUM, BY_HAND),
    thousands=(MINIMUM, 37),
)
def place_labels(predicted: str | None = None) -> Panel:
    """Return a view in which a learner moves 100 labels between the places, by sliders or bars.

    Parameters
    ----------
    predicted : str, optional
        Number of labels predicted for the thousands. It is marked, and the thousands start with
        this number of labels, or with as many as they have digits.
    **ranges
        Ranges of controls by their names: `ones`, `tens`, `hundreds`, `thousands`.

    Returns
    -------
    workbench.widgets.Panel
        Controls: labels per place. Button: start again.

    Examples
    --------
    A similar scene, in which you choose a rule instead of moving labels:

    >>> import ipywidgets
    >>> import workbench as wb
    >>> from workbench.charts.allocation import places
    >>> from workbench.widgets import image
    >>> plans = wb.plan_labels(wb.digit_forms().register(), 100).others
    >>> def scene(rule="equal"):
    ...     return image(places.placed(plans["voila"], plans[rule].labeled))
    >>> scene("neyman")  # doctest: +ELLIPSIS
    Chart: You label 2 of 1,000 ones, 10 of 600 tens, 24 of 160 hundreds, 37 of 37 thousands...
    >>> _ = ipywidgets.interact(scene, rule=list(plans))  # doctest: +SKIP
    """
    return _Hand(None if predicted is None else int(predicted)).panel


class _Hand:
    """100 labels in four places: a place gets at most as many labels as it has digits."""

    def __init__(self, wish: int | None) -> None:
        self.best, self.wish = _allocated(LABELS), wish
        size = self.best.stratum_size
        last = int(min(25 if wish is None else wish, size[3]))
        self.start = [
            *rules.allocate(size[:3], LABELS - last, "equal", minimum=0).labeled.tolist(),
            last,
        ]
        self.sliders = [
            ipywidgets.IntSlider(k, MINIMUM, min(BY_HAND, n), description=name)
            for name, n, k in zip(PLACES, size.tolist(), self.start, strict=True)
        ]
        self.status = ipywidgets.HTML()
        again = ipywidgets.Button(description="Start again")
        again.on_click(self.restart)
        self.view = ChartView(place_charts.placed(self.best, self.labeled(), wish))
        self.view.on_drag(lambda point: self.move(int(point["drag"]), point["x"]))
        for h, slider in enumerate(self.sliders):
            slider.observe(functools.partial(self.moved, h), "value")
        controls = dict(zip(PLACES, self.sliders, strict=True))
        self.panel = panel({**controls, "again": again}, self.view, self.status)

    def labeled(self) -> Any:
        return np.array([slider.value for slider in self.sliders])

    def move(self, h: int, labels: int) -> None:
        slider = self.sliders[h]
        slider.value = int(np.clip(round(labels), slider.min, slider.max))

    def moved(self, h: int, _: Any) -> None:
        over = int(self.labeled().sum()) - LABELS
        if over > 0:
            self.status.value = (
                f"All {LABELS} labels are in use. Take some from another place first."
            )
            self.sliders[h].value -= over
            return
        if over < 0:
            self.status.value = ""
        self.view.show_figure(place_charts.placed(self.best, self.labeled(), self.wish))

    def restart(self, _: Any) -> None:
        for slider in self.sliders:
            slider.value = MINIMUM
        for slider, labels in zip(self.sliders, self.start, strict=True):
            slider.value = labels


@adjustable(budget=(8, 1797))
def place_value(predicted: str | None = None) -> Panel:
    """Return a view of the rules: the labels of each place, and the standard error of the total.

    Parameters
    ----------
    predicted : str, optional
        The rule that a learner expects to be better with 150 labels, from `predict_better`. It is
        marked, and the view starts with 150 labels.
    **ranges
        Ranges of controls by their names: `budget`, `method`.

    Returns
    -------
    workbench.widgets.Panel
        Controls: labels, method.

    Examples
    --------
    A similar scene with two strata of your own:

    >>> import ipywidgets
    >>> import workbench as wb
    >>> from workbench.charts import allocation as charts
    >>> from workbench.widgets import image
    >>> strata = wb.load_strata({"stratum": ["small", "large"], "size": [900, 50], "sd": [1, 40]})
    >>> def scene(budget=100, rule="voila"):
    ...     plan = wb.plan_labels(strata, budget, method=rule)
    ...     return image(charts.allocation(plan.rows()))
    >>> scene(90, "equal")
    Chart: Labels per stratum: small 45 of 900 (Neyman 27.9); large 45 of 50 (Neyman 50).
    >>> _ = ipywidgets.interact(scene, budget=(20, 200), rule=["voila", "equal"])  # doctest: +SKIP
    """
    rings = BETTER.get(predicted, ())
    start = 150 if rings else LABELS
    controls = {
        "budget": stops(BUDGETS, start, "Labels", 480),
        "method": ipywidgets.Dropdown(options=METHODS, value="neyman", description="Rule"),
    }

    def figure(budget: int, method: str) -> Figure:
        return place_charts.place_value(allocations(budget), method, random_error(budget), rings)

    return drive_figure(controls, figure)


def allocations(budget: int) -> dict[str, rules.Allocation]:
    """Return the allocation of each rule to the four places, with at least two labels in each.

    Parameters
    ----------
    budget : int
        Number of labels.

    Returns
    -------
    dict of str to workbench.Allocation
        The allocation of every rule in `COMPARED`.

    Examples
    --------
    >>> allocations(100)["voila"].labeled
    array([ 3, 18, 42, 37])
    """
    return {method: _allocated(budget, method) for method in COMPARED}


def _allocated(budget: int, method: str = "voila", minimum: int = MINIMUM) -> rules.Allocation:
    size, sd = _places()
    return rules.allocate(size, budget, method, stratum_sd=sd, minimum=minimum)


def random_error(budget: int) -> float:
    """Return the standard error of the register total with a simple random sample of the digits.

    Examples
    --------
    >>> round(random_error(100))
    47149
    """
    register = digit_forms().register()
    return float(register.size.sum() * np.sqrt(plan_labels(register, budget).random_variance))


def seen_hand() -> Reveal:
    """Return a button for 100 labels allocated by hand, after `predict_thousands`."""

    def show() -> Table:
        size, sd = _places()
        products, best = size * sd, _allocated(LABELS)
        remaining = (LABELS - size[3]) * products[:3] / products[:3].sum()
        allocations = {
            "Neyman's rule for 100 labels": LABELS * products / products.sum(),
            "all thousands, and Neyman's rule for the other 63 labels": [*remaining, size[3]],
            "the best whole numbers": best.labeled,
        }
        rows = [
            {"allocation": name} | dict(zip(PLACES, map(count, labels), strict=True))
            for name, labels in allocations.items()
        ]
        least = best.stratum_size.sum() * best.variance**0.5
        return Table(
            rows, f"{LABELS} labels: the smallest standard error of the total is {least:,.0f}"
        )

    return questions.compare("3-thousands", TEXTS.feedback("3-thousands"), show)


def seen_rules() -> Reveal:
    """Return a button for the standard error of each rule, after `predict_better`."""
    return questions.compare("3-better", TEXTS.feedback("3-better"), _rules)


def _rules() -> list:
    plans = {budget: allocations(budget) for budget in range(BUDGETS[0], BUDGETS[-1] + 1)}
    first_unused = min(budget for budget, plan in plans.items() if plan["neyman"].unused)
    first_worse = min(
        budget for budget, plan in plans.items() if plan["equal"].variance < plan["neyman"].variance
    )
    rows = []
    for budget, method in itertools.product((LABELS, 150), COMPARED):
        plan = plans[budget][method]
        rows.append(
            {
                "budget": budget,
                "method": METHOD_NAMES[method],
                "labeled": int(plan.labeled.sum()),
                "unused": int(plan.unused),
                "standard_error": plan.stratum_size.sum() * plan.variance**0.5,
            }
        )
    return [
        f"From {first_unused} labels on, Neyman's rule asks for more thousands than there are. If "
        f"you only cap its numbers, some labels are not used. From {first_worse} labels on, this "
        "rule has a larger standard error than equal shares. If you allocate the unused labels to "
        "the other places, as the textbook says, the standard error is that of VOILA except for "
        "rounding.",
        Table(rows, "The register total, by budget and rule"),
    ]


def iterated_or_best(predicted: str | None = None) -> Table:
    """Return a table of what VOILA's whole numbers gain over the textbook's rule in the register.

    Parameters
    ----------
    predicted : str, optional
        Prediction from `predict_thousands`. The table appears once it is locked.
    """
    budgets = range(BUDGETS[0], BUDGETS[-1] + 1)
    most = max(budgets, key=lambda budget: _rounding_costs(budget, MINIMUM))
    rows = []
    for budget, minimum in ((LABELS, MINIMUM), (most, MINIMUM), (12, 0)):
        row: dict[str, Any] = {"budget": budget, "floor": minimum}
        for name in ("neyman_iterated", "voila"):
            labeled = _allocated(budget, name, minimum).labeled
            row[METHOD_NAMES[name]] = " / ".join(map(str, labeled))
        ratio = _rounding_costs(budget, minimum)
        row["standard error, VOILA = 1"] = f"{ratio:.4f}" if np.isfinite(ratio) else "infinite"
        rows.append(row)
    return Table(
        rows,
        f"Iterated Neyman and VOILA. Of {budgets[0]} to {budgets[-1]} labels, "
        f"VOILA gains most with {most}.",
    )


def _rounding_costs(budget: int, minimum: int) -> float:
    """Return the standard error of iterated Neyman, divided by that of VOILA."""
    iterated, best = (
        _allocated(budget, name, minimum).variance for name in ("neyman_iterated", "voila")
    )
    return (iterated / best) ** 0.5


@adjustable(budget=(8, 1797))
def one_label_at_a_time() -> Panel:
    """Return a view in which each label goes to the place where its gain is largest.

    Parameters
    ----------
    **ranges
        Ranges of controls by their names: `budget`.

    Returns
    -------
    workbench.widgets.Panel
        Control: labels. Buttons: next label, next ten, give all, start again. Every place starts
        with two labels.

    Examples
    --------
    A similar scene, in which a slider gives the labels:

    >>> import ipywidgets
    >>> import workbench as wb
    >>> from workbench.charts.allocation import places
    >>> from workbench.widgets import image
    >>> plans = {n: wb.plan_labels(wb.digit_forms().register(), n) for n in range(8, 101)}
    >>> def scene(labels=8):
    ...     return image(places.next_label(plans[100].others["voila"], plans[labels].labeled))
    >>> scene(8)  # doctest: +ELLIPSIS
    Chart: ... ones 713, tens 4,248, hundreds 9,916, thousands 27,007. ...
    >>> _ = ipywidgets.interact(scene, labels=(8, 100))  # doctest: +SKIP
    """
    size, sd = _places()
    budget = stops(BUDGETS, LABELS, "Labels", 480)
    single, ten, rest, again = (
        ipywidgets.Button(description=text)
        for text in ("Next label", "Next ten", "Give all", "Start again")
    )
    state = {"labeled": np.full(4, MINIMUM)}

    def now() -> Figure:
        return place_charts.next_label(_allocated(budget.value), state["labeled"])

    def give(labels: int) -> None:
        for _ in range(min(labels, budget.value - int(state["labeled"].sum()))):
            state["labeled"][rules.priorities(size, sd, state["labeled"]).argmax()] += 1
        show()

    def restart(_: Any = None) -> None:
        state["labeled"] = np.full(4, MINIMUM)
        show()

    def show() -> None:
        for button in (single, ten, rest):
            button.disabled = int(state["labeled"].sum()) >= budget.value
        view.show_figure(now())

    def all_labels(budget: int) -> tuple:
        figure = place_charts.next_label(_allocated(budget), _allocated(budget).labeled)
        return figure.data, (figure.title, figure.alternative)

    view = ChartView(now())
    single.on_click(lambda _: give(1))
    ten.on_click(lambda _: give(10))
    rest.on_click(lambda _: give(budget.value))
    again.on_click(restart)
    budget.observe(restart, "value")
    buttons = {"one": single, "ten": ten, "rest": rest, "again": again}
    scene = panel({"budget": budget, **buttons}, view)
    scene.answer = all_labels
    return scene


def spreads() -> Table:
    """Return a table of size, standard deviation and their product for each place."""
    size, sd = _places()
    return Table(
        [
            {
                "place": name,
                "digits": int(n),
                "standard deviation": f"{s:,.2f}",
                "size times standard deviation": f"{n * s:,.0f}",
            }
            for name, n, s in zip(PLACES, size, sd, strict=True)
        ],
        "The four places",
    )


def ten_strata() -> Table:
    """Return a table of the labels and variances of three rules for the paper's example."""
    size, sd = [100] + [1000] * 9, [100] + [0.1] * 9
    plans = {
        name: rules.allocate(size, 1000, name, stratum_sd=sd, minimum=0)
        for name in ("neyman", "neyman_iterated", "voila")
    }
    least = plans["voila"].variance
    rows = [
        {
            "method": METHOD_NAMES[name],
            "first stratum": int(plan.labeled[0]),
            "other nine": int(plan.labeled[1:].sum()),
            "unused": int(plan.unused),
            "variance": f"{plan.variance / least:.1f} times VOILA's",
        }
        for name, plan in plans.items()
    ]
    return Table(rows, "1,000 labels for ten strata")


# streams of the register


@adjustable(minimum=(0, 400), seed=(0, 1_000_000), seen=(EVERY, 1797))
def watch_stream(predicted: str | None = None) -> Panel:
    """Return a view of a stream of the digits: the sample that is kept, and its variance.

    Parameters
    ----------
    predicted : str, optional
        Percentage of streams in which a learner expects an infinite variance, from
        `predict_infinite`.
    **ranges
        Ranges of controls by their names: `order`, `rule`, `minimum`, `budget`, `seed`, `seen`.

    Returns
    -------
    workbench.widgets.Panel
        Controls: order, rule, floor (for the exact rule), records kept, stream, records seen. Play
        buttons move the last one.

    Examples
    --------
    A similar scene, in which the digits arrive in the order of the file and you choose the floor:

    >>> import ipywidgets
    >>> import workbench as wb
    >>> from workbench.charts.allocation import streams
    >>> from workbench.simulations.allocation import simulate_stream
    >>> from workbench.widgets import image
    >>> def scene(floor=2):
    ...     study = simulate_stream(*wb.register_errors(), 100, minimum=floor, runs=1)
    ...     return image(streams.stream(study, "s_voila", 1797, ["1", "10", "100", "1000"]))
    >>> scene(15)  # doctest: +ELLIPSIS
    Chart: After 1,797 records the sample of 100 holds 15 of 1,000 1, ...
    >>> _ = ipywidgets.interact(scene, floor=(2, 20))  # doctest: +SKIP
    """
    checked = [*range(EVERY, register_errors()[0].size, EVERY), register_errors()[0].size]
    controls = {
        "order": ipywidgets.Dropdown(options=ORDERS, description="Order of arrival"),
        "rule": ipywidgets.Dropdown(options=RULES, description="Rule"),
        "minimum": ipywidgets.IntSlider(2, 0, 20, description="Floor: keep at least"),
        "budget": ipywidgets.IntSlider(100, 40, 300, 20, description="Records kept"),
        "seed": ipywidgets.IntSlider(1, 1, 50, description="Stream number"),
        "seen": stops(checked, checked[-1], "Records seen", 480),
    }

    def figure(order: str, rule: str, minimum: int, budget: int, seed: int, seen: int) -> Figure:
        floor = 0 if rule == "s_voila_printed" else minimum
        study = _one_stream(order, rule, floor, budget, seed)
        return stream_charts.stream(study, rule, seen, PLACES, predicted)

    def floor_that_counts_and_fits(_: Any = None) -> None:
        controls["minimum"].disabled = controls["rule"].value == "s_voila_printed"
        narrow(controls["minimum"], high=controls["budget"].value // len(PLACES))

    floor_that_counts_and_fits()
    for name in ("rule", "budget"):
        controls[name].observe(floor_that_counts_and_fits, "value")
    scene = drive_figure(controls, figure)
    scene.children[0].children += (_player(controls["seen"]),)
    return scene


@functools.lru_cache(maxsize=64)
def _one_stream(order: str, rule: str, minimum: int, budget: int, seed: int) -> Any:
    last = [3] if order == "late" else []
    return _streams(
        budget, methods=[rule], last=last, every=EVERY, minimum=minimum, runs=1, rng=seed
    )


def _streams(budget: int, **settings: Any) -> Any:
    """Return streams of the digits in random orders."""
    return simulations.simulate_stream(
        *register_errors(), budget, order="random", progress=False, **settings
    )


def _player(slider: Any) -> Any:
    """Return buttons that run a selection slider from the start, in the browser."""
    last = len(slider.options) - 1
    player = ipywidgets.Play(value=last, min=0, max=last, step=1, interval=200, show_repeat=False)
    slider.observe(lambda _: setattr(player, "max", len(slider.options) - 1), "options")
    ipywidgets.jslink((player, "value"), (slider, "index"))
    return player


def seen_streams() -> Reveal:
    """Return a button for the percentage of infinite variances, after `predict_infinite`."""
    return questions.compare(
        "3-infinite",
        TEXTS.feedback("3-infinite"),
        lambda: trouble(questions.saved_answers().get("3-infinite")),
    )


def trouble(predicted: str | None = None) -> ChartView:
    """Return the percentage of 400 streams in which the variance of the paper's rule is infinite.

    Parameters
    ----------
    predicted : str, optional
        The percentage that a learner expects, from `predict_infinite`.

    Examples
    --------
    A similar scene, in which you choose how many records are kept:

    >>> import ipywidgets
    >>> import workbench as wb
    >>> from workbench.charts.allocation import streams
    >>> from workbench.simulations.allocation import simulate_stream
    >>> from workbench.widgets import image
    >>> def scene(kept=100):
    ...     study = simulate_stream(*wb.register_errors(), kept, order="random", runs=4)
    ...     return image(streams.jump(study, 3, ["s_voila_printed", "s_voila"]))
    >>> scene(200)  # doctest: +ELLIPSIS
    Chart: 4 strata, 200 records kept, mean of 4 streams. ...
    >>> _ = ipywidgets.interact(scene, kept=(50, 300, 50))  # doctest: +SKIP
    """
    study = _streams(LABELS, methods=["s_voila_printed"], runs=STREAMS)
    endless = np.isinf(study.variance["s_voila_printed"])
    ever, last = float(endless.any(1).mean()), float(endless[:, -1].mean())
    return ChartView(
        stream_charts.trend(
            dict(zip(study.checkpoint.tolist(), endless.mean(0).tolist(), strict=True)),
            f"The paper's rule: infinite variance at some time in {ever:.0%} of {STREAMS} streams",
            "The variance was checked after every 200 records. It was infinite at least once in "
            f"{ever:.0%} of {STREAMS} streams, and still at the end in "
            f"{last:.0%}.{_prediction(predicted)}",
            name="streams with infinite variance",
            domain=(0, 0.7),
            tick="~%",
            predicted=None if predicted is None else float(predicted.rstrip("%")) / 100,
            answer=(ever, "at some time"),
        )
    )


def _prediction(predicted: str | None) -> str:
    return "" if predicted is None else f" You predicted {predicted}."


def floors() -> Panel:
    """Return a view of three floors: each press runs 100 more streams and shows their errors.

    Examples
    --------
    A similar scene with made-up errors of 50 streams for each of two floors:

    >>> import ipywidgets
    >>> import numpy as np
    >>> from workbench.charts.allocation import streams
    >>> from workbench.widgets import image
    >>> def scene(bias=0):
    ...     errors = np.random.default_rng(1).normal(bias, 5000, (2, 50))
    ...     return image(streams.floors({2: 3 * errors[0], 10: errors[1]}, least=4148))
    >>> scene(0)  # doctest: +ELLIPSIS
    Chart: Root mean squared error of the register total at the end of the stream: ...
    >>> _ = ipywidgets.interact(scene, bias=(0, 10_000, 1000))  # doctest: +SKIP
    """
    least = _total_error(0)
    runs = {floor: np.zeros(0) for floor in FLOORS}
    button = ipywidgets.Button(
        description=f"Run {BATCH_OF_STREAMS} more streams", layout=ipywidgets.Layout(width="auto")
    )
    status = ipywidgets.HTML()
    view = ChartView(stream_charts.floors(runs, least))

    def run(_: Any) -> None:
        button.disabled, status.value = True, "working ..."
        for floor in FLOORS:
            runs[floor] = np.append(
                runs[floor], _errors_of_streams(floor, seed=runs[floor].size // BATCH_OF_STREAMS)
            )
        view.show_figure(stream_charts.floors(runs, least))
        button.disabled, status.value = False, ""

    button.on_click(run)
    return panel([button], view, status)


def _errors_of_streams(floor: int, seed: int) -> np.ndarray:
    """Return the errors of the register total in 100 streams, the same for every floor."""
    records = register_errors()[0].size
    study = _streams(
        LABELS,
        methods=["s_voila"],
        every=records,
        runs=BATCH_OF_STREAMS,
        minimum=floor,
        rng=seed,
    )
    return records * study.error["s_voila"][:, -1]


def premiums() -> Table:
    """Return a table of what a floor costs when all standard deviations are known."""
    errors = {floor: _total_error(floor) for floor in (0, 5, 10, 15, 20)}
    return Table(
        [
            {"floor": floor, "standard_error": error, "increase": f"{error / errors[0] - 1:.1%}"}
            for floor, error in errors.items()
        ],
        "100 labels with hindsight, by floor",
    )


def _total_error(floor: int) -> float:
    """Return the standard error of the register total with 100 labels, hindsight and a floor."""
    plan = _allocated(LABELS, minimum=floor)
    return float(plan.stratum_size.sum() * plan.variance**0.5)


# streams in which a spread jumps


def seen_following() -> Reveal:
    """Return the chart of `following` with the prediction, after `predict_following`."""
    return questions.reveal(
        "3-following", lambda choice: [*TEXTS.answered("3-following", choice), following(choice)]
    )


def following(predicted: str | None = None) -> ChartView:
    """Return a chart of the variance of S-VOILA on the paper's stream, relative to the best sample.

    Parameters
    ----------
    predicted : str, optional
        The ratio that a learner expects at the end, from `predict_following`.

    Examples
    --------
    A similar scene with 2,000 records, in which you choose when the standard deviation jumps:

    >>> import ipywidgets
    >>> from workbench.charts.allocation import streams
    >>> from workbench.simulations.allocation import jump_stream, simulate_stream
    >>> from workbench.widgets import image
    >>> def scene(jump_at=500):
    ...     stream = jump_stream(2000, jump_at=jump_at, runs=1)
    ...     study = simulate_stream(*stream, 100, methods=["s_voila"], every=100, progress=False)
    ...     return image(streams.jump(study, 11, ["voila", "s_voila"], jump_at=jump_at))
    >>> scene(1000)  # doctest: +ELLIPSIS
    Chart: 20 strata, 100 records kept, one stream. ...
    >>> _ = ipywidgets.interact(scene, jump_at=(500, 1500, 100))  # doctest: +SKIP
    """
    study = simulations.simulate_stream(
        *simulations.jump_stream(), 1000, methods=["s_voila"], every=1000, batch=100, progress=False
    )
    ratio = study.ratio("s_voila")
    ratios = ", ".join(
        f"{ratio[at // 1000 - 1]:.2f} after {at:,}" for at in (20_000, 30_000, 40_000, 50_000)
    )
    return ChartView(
        stream_charts.trend(
            dict(zip(study.checkpoint.tolist(), ratio.tolist(), strict=True)),
            f"40,000 records after the jump the variance is {ratio[-1]:.1f} times that of the "
            "best sample",
            "Variance of S-VOILA over that of the best sample with hindsight, mean of "
            f"{study.runs} streams: {ratios} records. The largest ratio is {ratio.max():.2f}. The "
            f"sample adapts, but slowly.{_prediction(predicted)}",
            name="variance, best sample = 1",
            domain=(0.8, 5.2),
            tick="~g",
            predicted=None if predicted is None else float(predicted.split()[0]),
            answer=(float(ratio[-1]), "at the end"),
        )
    )


@adjustable()
def papers_stream(predicted: str | None = None) -> Panel:
    """Return a view of a stream in which one of 20 strata suddenly varies more, as in the paper.

    The stream has a tenth of the paper's size, so that all jumps can be computed at once. It has
    5,000 records, of which 100 are kept, and the chart shows the mean of two streams.
    `workbench.simulations.allocation.jump_stream` makes the paper's own stream.

    Parameters
    ----------
    predicted : str, optional
        Prediction from `predict_following`. The view appears once it is locked.
    **ranges
        Ranges of controls by their names: `jump`, `methods`.

    Returns
    -------
    workbench.widgets.Panel
        Controls: standard deviation after the jump, methods shown.

    Examples
    --------
    A similar scene with a shorter stream, in which you choose how many strata there are:

    >>> import ipywidgets
    >>> from workbench.charts.allocation import streams
    >>> from workbench.simulations.allocation import jump_stream, simulate_stream
    >>> from workbench.widgets import image
    >>> def scene(strata=5):
    ...     stream = jump_stream(1000, strata=strata, jumping=0, jump_at=300, runs=1)
    ...     return image(streams.jump(simulate_stream(*stream, 50), 0, ["voila", "s_voila"]))
    >>> scene(5)  # doctest: +ELLIPSIS
    Chart: 5 strata, 50 records kept, one stream. ...
    >>> _ = ipywidgets.interact(scene, strata=(2, 10))  # doctest: +SKIP
    """
    studies = _jump_studies()
    controls = {
        "jump": stops(JUMPS, 20, "Standard deviation after the jump", 480),
        "methods": ipywidgets.SelectMultiple(
            options=DRAWN,
            value=tuple(name for _, name in DRAWN),
            rows=len(DRAWN),
            description="Methods",
        ),
    }

    axes = _axes(studies.values())

    def figure(jump: int, methods: tuple) -> Figure:
        if not methods:
            raise checks.WrongValue(
                "methods", "must name at least one; choose several with Ctrl or Shift"
            )
        jump_at = SHORT_STREAM["jump_at"]
        return stream_charts.jump(studies[jump], JUMPING, methods, jump_at=jump_at, **axes)

    return drive_figure(controls, figure)


def _axes(studies: Iterable) -> dict:
    """Return the ends of axes that contain all studies."""
    sampled = max(
        counts[..., JUMPING].mean(0).max() for study in studies for counts in study.sampled.values()
    )
    means = np.concatenate([v.mean(0) for study in studies for v in study.variance.values()])
    positive = means[(means > 0) & np.isfinite(means)]
    return {
        "most": float(1.05 * sampled),
        "variances": (float(positive.min() / 1.1), float(1.1 * positive.max())),
    }


@functools.cache
def _jump_studies() -> dict:
    """Return a study per jump; the streams differ only in the standard deviation after the jump."""
    streams = [
        simulations.jump_stream(**SHORT_STREAM, jumping=JUMPING, sd=float(sd), runs=SHORT_RUNS)
        for sd in JUMPS
    ]
    stratum, values = (np.concatenate(arrays) for arrays in zip(*streams, strict=True))
    study = simulations.simulate_stream(
        stratum, values, 100, methods=[name for _, name in DRAWN], every=100, progress=False
    )
    return {
        sd: _runs_of(study, slice(SHORT_RUNS * k, SHORT_RUNS * (k + 1)))
        for k, sd in enumerate(JUMPS)
    }


def _runs_of(study: Any, part: Any) -> Any:
    """Return a study restricted to some of its runs."""
    per_method = {
        name: {method: array[part] for method, array in getattr(study, name).items()}
        for name in ("sampled", "variance", "error")
    }
    per_run = {
        name: getattr(study, name)[part]
        for name in ("fractional_optimum", "stratum_size", "stratum_sd")
    }
    return dataclasses.replace(study, runs=SHORT_RUNS, **per_run, **per_method)


def _places() -> tuple:
    """Return the size and the standard deviation of the errors per place, (4,) each."""
    errors = _errors()
    size = [values.size for values in errors]
    return np.array(size), np.array([values.std(ddof=1) for values in errors])


def _errors() -> list:
    """Return the errors of the readings, one array per place."""
    places, errors = register_errors()
    return [errors[places == h] for h in range(len(PLACES))]
