"""Live views of lesson 3: allocation with caps, one label at a time, and samples of streams.

Each function returns a panel: controls, the function of `workbench` that they drive, and a chart that is fed with
its result.
"""
from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import ipywidgets
import numpy as np

from workbench.allocation import rules
from workbench.allocation.plans import plan_labels
from workbench.charts import allocation as charts
from workbench.course.digit_forms import digit_forms, register_errors
from workbench.simulations import allocation as simulations
from workbench.widgets import questions
from workbench.widgets.chart_view import ChartView, drive, panel

if TYPE_CHECKING:
    from workbench.allocation.rules import Allocation
    from workbench.widgets.chart_view import Panel
    from workbench.widgets.questions import Prediction

BUDGETS = sorted({100, 150, 600, *np.rint(20 * 1.007 ** np.arange(488)).astype(int).tolist()})
METHODS = [(charts.METHODS[name], name) for name in ("random", "equal", "neyman", "neyman_plus", "voila")]
WHOLE = ("voila",)
ORDERS = [("random", "random"), ("thousands last", "late")]
RULES = [("as printed in the paper", "s_voila_printed"), ("exact, with a floor", "s_voila")]
EVERY = 20
JUMPS = (1, 2, 5, 10, 20, 40)
JUMPING = 11
SHORT_STREAM = {"records": 5000, "jump_at": 1000}
SHORT_BUDGET = 100
SHORT_RUNS = 2
DRAWN = [(charts.STREAMED[name], name) for name in charts.STREAMED if name != "s_voila_printed"]


def place_value() -> Panel:
    """Return the view of the register: which of its places get the labels, and what error of the total is left.

    Returns
    -------
    workbench.widgets.Panel
        Controls: labels, method.
    """
    controls = {
        "budget": ipywidgets.SelectionSlider(options=BUDGETS, value=100, description="Labels M",
                                             layout=ipywidgets.Layout(width="480px")),
        "method": ipywidgets.Dropdown(options=METHODS, value="neyman", description="Method"),
    }

    def plans(budget=100, method="neyman"):
        return allocations(budget), method, random_error(budget)

    def answer(**values):
        found = plans(**values)
        return charts.place_value_data(*found), charts.place_value_words(*found)

    return drive(controls, answer, ChartView(charts.place_value(*plans())))


def allocations(budget: int, *, minimum: int = 1) -> dict[str, Allocation]:
    """Return how each method allocates labels to the four places of the register.

    Parameters
    ----------
    budget : int
    minimum : int
        Floor per place.

    Returns
    -------
    dict of str to workbench.Allocation
        "equal", "neyman", "neyman_plus" in real numbers, as in the textbook; "voila" in whole ones.

    Examples
    --------
    >>> allocations(100)["voila"].labeled
    array([ 3, 18, 42, 37])
    """
    size, sd = _places()
    return {method: rules.allocate(size, budget, method, stratum_sd=sd, minimum=minimum, integer=method in WHOLE)
            for method in ("equal", "neyman", "neyman_plus", "voila")}


def random_error(budget: int) -> float:
    """Return the standard error of the register total, estimated from a simple random sample of the digits.

    Examples
    --------
    >>> round(random_error(100))
    47149
    """
    register = digit_forms().register()
    return float(register.size.sum() * np.sqrt(plan_labels(register, budget).random_variance))


def one_label_at_a_time() -> Panel:
    """Return the view in which each label goes where it is worth most, until the budget is spent.

    Returns
    -------
    workbench.widgets.Panel
        Control: labels. Buttons: one label, ten, all of them, start again. Every place starts with one label.
    """
    size, sd = _places()
    budget = ipywidgets.SelectionSlider(options=BUDGETS, value=100, description="Labels M",
                                        layout=ipywidgets.Layout(width="480px"))
    one, ten, rest, again = (ipywidgets.Button(description=text) for text in
                             ("Next label", "Next ten", "Give all M", "Start again"))
    state = {"labeled": np.ones(4, int)}

    def best():
        return rules.allocate(size, budget.value, "voila", stratum_sd=sd, minimum=1)

    def give(labels):
        for _ in range(min(labels, budget.value - int(state["labeled"].sum()))):
            state["labeled"][rules.priorities(size, sd, state["labeled"]).argmax()] += 1
        show()

    def restart(_=None):
        state["labeled"] = np.ones(4, int)
        show()

    def show():
        for button in (one, ten, rest):
            button.disabled = int(state["labeled"].sum()) >= budget.value
        title, words = charts.next_label_words(best(), state["labeled"])
        view.show(charts.next_label_data(best(), state["labeled"]), words, title=title)

    view = ChartView(charts.next_label(best(), state["labeled"]))
    one.on_click(lambda _: give(1))
    ten.on_click(lambda _: give(10))
    rest.on_click(lambda _: give(budget.value))
    again.on_click(restart)
    budget.observe(restart, "value")
    return panel([budget, one, ten, rest, again], view)


def watch_stream() -> Panel:
    """Return the view of a sampled stream of the digits: what is kept, and what that is worth.

    Returns
    -------
    workbench.widgets.Panel
        Controls: order, rule, floor (of the exact rule), records kept, stream, records seen; a player moves the last.
    """
    place, error = register_errors()
    stops = [*range(EVERY, place.size, EVERY), place.size]
    controls = {
        "order": ipywidgets.Dropdown(options=ORDERS, description="Order"),
        "rule": ipywidgets.Dropdown(options=RULES, description="Rule"),
        "minimum": ipywidgets.IntSlider(2, 0, 20, description="Keep of each at least"),
        "budget": ipywidgets.IntSlider(100, 40, 300, description="Records kept M"),
        "seed": ipywidgets.IntSlider(1, 1, 100, description="Stream"),
        "seen": ipywidgets.SelectionSlider(options=stops, value=stops[-1], description="Records seen",
                                           layout=ipywidgets.Layout(width="480px")),
    }
    known = {}

    def follow(order="random", rule="s_voila_printed", minimum=2, budget=100, seed=1, seen=stops[-1]):
        minimum = 0 if rule == "s_voila_printed" else minimum
        setting = order, rule, minimum, budget, seed
        if setting not in known:
            known.clear()
            known[setting] = simulations.simulate_stream(
                place, error, budget, methods=[rule], order="random", last=[3] if order == "late" else [], every=EVERY,
                minimum=minimum, runs=1, rng=seed, progress=False)
        return known[setting], rule, seen, charts.PLACES

    def answer(**values):
        found = follow(**values)
        return charts.stream_data(*found), charts.stream_words(*found)

    def floor_only_where_it_counts(_=None):
        controls["minimum"].disabled = controls["rule"].value == "s_voila_printed"

    floor_only_where_it_counts()
    controls["rule"].observe(floor_only_where_it_counts, "value")
    made = drive(controls, answer, ChartView(charts.stream(*follow())))
    made.children[0].children += (_player(controls["seen"], len(stops)),)
    return made


def _player(slider, steps):
    """Return buttons that run a selection slider from the start, in the browser; both stand at the end."""
    player = ipywidgets.Play(value=steps - 1, min=0, max=steps - 1, step=1, interval=200, show_repeat=False)
    ipywidgets.jslink((player, "value"), (slider, "index"))
    return player


def papers_stream() -> Panel:
    """Return the view of a stream in which one of twenty strata suddenly varies more, as in the paper.

    A tenth of the paper's size, so that all jumps can be computed at once: 5,000 records, 100 kept, the mean of two
    streams. `workbench.simulations.allocation.jump_stream` makes the paper's own.

    Returns
    -------
    workbench.widgets.Panel
        Controls: standard deviation after the jump, methods drawn.
    """
    studies = _jump_studies()
    controls = {
        "jump": ipywidgets.SelectionSlider(options=JUMPS, value=20, description="Sd after the jump"),
        "methods": ipywidgets.SelectMultiple(options=DRAWN, value=tuple(name for _, name in DRAWN), rows=len(DRAWN),
                                             description="Methods"),
    }

    def answer(jump, methods):
        if not methods:
            raise ValueError("methods must name at least one; choose several with Ctrl or Shift")
        return (charts.jump_data(studies[jump], JUMPING, methods),
                charts.jump_words(studies[jump], JUMPING, methods))

    first = charts.jump(studies[20], JUMPING, controls["methods"].value, jump_at=SHORT_STREAM["jump_at"])
    return drive(controls, answer, ChartView(first))


def _jump_studies():
    """Return a study per jump, all followed at once: every jump has the same streams but for its spread."""
    streams = [simulations.jump_stream(**SHORT_STREAM, jumping=JUMPING, sd=float(sd), runs=SHORT_RUNS) for sd in JUMPS]
    stratum, values = (np.concatenate(arrays) for arrays in zip(*streams, strict=True))
    study = simulations.simulate_stream(stratum, values, SHORT_BUDGET, methods=[name for _, name in DRAWN], every=100,
                                        progress=False)
    return {sd: _runs_of(study, slice(SHORT_RUNS * k, SHORT_RUNS * (k + 1))) for k, sd in enumerate(JUMPS)}


def _runs_of(study, part):
    """Return the study of some of its runs."""
    per_method = {name: {method: array[part] for method, array in getattr(study, name).items()}
                  for name in ("sampled", "variance", "error")}
    per_method["fractional_optimum"] = study.fractional_optimum[part]
    return dataclasses.replace(study, runs=SHORT_RUNS, stratum_size=study.stratum_size[part],
                               stratum_sd=study.stratum_sd[part], **per_method)


def predict_thousands() -> Prediction:
    """Return the question that the learner answers before they see any allocation."""
    size, _ = _places()
    found = allocations(100)
    wish, labeled = charts.wished(found["voila"])[3], found["voila"].labeled[3]
    share = "All" if labeled == size[3] else "Of"
    return questions.predict(
        f"Of 100 labels, how many should go to the {size[3]} thousands?", ["2", "25", "37", "64"],
        f"{share} {labeled}. In proportion to their number they would get {100 * size[3] / size.sum():.0f}, in equal "
        f"shares 25. Neyman's formula asks for {wish:.0f}, more than there are: what it cannot spend there is worth "
        "much elsewhere.")


def _places():
    """Return size and standard deviation of the errors per place, (4,) each."""
    place, error = register_errors()
    size = np.bincount(place)
    return size, np.array([error[place == h].std(ddof=1) for h in range(size.size)])
