"""Charts of the register: its places, labels moved by hand, rules compared, one label at a time."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import numpy as np

from workbench import checks
from workbench.allocation.rules import Allocation, allocation_variance, priorities
from workbench.charts import theme
from workbench.charts.allocation.plans import COUNTS, allocation_data, bars
from workbench.charts.allocation.words import METHODS, PREDICTED, TENS, count
from workbench.charts.theme import (
    GRAY,
    LABELED,
    OKABE_ITO,
    STRATIFIED,
    WIDTH,
    Figure,
    across,
    beside,
    chart,
    span,
    stacked,
)
from workbench.course.digit_forms import PLACES
from workbench.results import rows_of

TURN = {"gets the next label": OKABE_ITO["blue"], "waits": GRAY}
LABEL_COLORS = {"your labels": LABELED, "labeled completely": OKABE_ITO["blue"]} | PREDICTED
METHOD_COLORS = {"shown above": STRATIFIED, "other": GRAY}
# the axes hold whatever the controls of the lesson can ask for
BY_HAND, BY_RULE = 66, 165
TOTAL_ERROR = "standard error of the total (log scale)"
COLUMNS = {
    "digits": "digits in the register",
    "misread": "misread digits, in percent",
    "cost": "average error of a misread digit",
}


def _log_axis(field: str, title: str, low: float, high: float) -> alt.X:
    scale, values = span(low, high, type="log"), [m * t for t in TENS for m in (1, 3)]
    return across(field, title, scale=scale, format=",d", values=values, labelOverlap=True)


# the register


def register(error: Sequence[np.ndarray]) -> Figure:
    """Return the digits, the percentage of misread digits and their average error in each place.

    Parameters
    ----------
    error : list of (N_h,) array
        Errors of the readings, one array per place.
    """
    rows, parts = [], []
    for name, errors in zip(PLACES, error, strict=True):
        misread = np.abs(errors[errors != 0])
        percentage, cost = 100 * misread.size / errors.size, float(misread.mean())
        row = {"place": name, "digits": errors.size, "misread": percentage, "cost": cost}
        texts = f"{errors.size:,}", f"{percentage:.0f}%", f"{cost:,.0f}"
        rows.append(
            row | {f"{column}_text": text for column, text in zip(COLUMNS, texts, strict=True)}
        )
        parts.append("{} {}, {} misread, each by {} on average".format(texts[0], name, *texts[1:]))
    return Figure(
        {"places": rows},
        "100 labels for 1,797 digits: which place needs them most?",
        f"{'. '.join(parts)}. Which of the four places needs the labels most?",
        _draw_register,
    )


def _draw_register(data: dict) -> Any:
    views = []
    for name, title in COLUMNS.items():
        base = chart(data, "places").encode(
            y=theme.names("place"), x=across(name, title, tickCount=3, format=",d")
        )
        texts = base.mark_text(align="left", dx=5).encode(text=f"{name}_text:N")
        views.append((base.mark_bar(height={"band": 0.55}, color=GRAY) + texts, 4 * 22))
    return stacked(WIDTH - 100, *views)


# labels moved by hand


def placed(best: Allocation, labeled: np.ndarray, predicted: int | None = None) -> Figure:
    """Return labels as bars that can be dragged, and the standard error of the total.

    Parameters
    ----------
    best : workbench.Allocation
        Best allocation of the whole budget to the four places.
    labeled : (4,) array of int
        Labels of each place.
    predicted : int, optional
        Labels that a learner predicted for the thousands.
    """
    sizes, budget, spent = best.stratum_size, int(best.labeled.sum()), int(labeled.sum())
    rows, parts = [], []
    for h, (name, size, labels) in enumerate(zip(PLACES, sizes, labeled.tolist(), strict=True)):
        text = f"{labels} of {size:,}"
        parts.append(f"{text} {name}")
        rows.append(
            {
                "place": name,
                "labels": labels,
                "text": text,
                "drag": h,
                "step": 1,
                "kind": "labeled completely" if labels == size else "your labels",
                "label": f"labels for the {name}: {text}, arrow keys move them",
            }
        )
    error, least = _total_error(best, labeled), _total_error(best, best.labeled)
    error_text, least_text = f"{error:,.0f}", f"{least:,.0f}"
    wish, prediction = [], ""
    if predicted is not None:
        wish = [{"place": PLACES[-1], "labels": predicted, "kind": "you predicted"}]
        limit = f", and there are only {sizes[-1]}" if predicted > sizes[-1] else ""
        prediction = f" You predicted {predicted} for the thousands{limit}."
    unused = f", {checks.counted(budget - spent, 'label')} not used yet" if spent < budget else ""
    verdict = f"{error / least:.2f} times the least possible"
    if error <= least * (1 + 1e-9):
        verdict = "the least possible"
    data = {"held": rows, "sizes": _sizes(sizes, "place", BY_HAND), "wish": wish}
    data["error"] = [{"row": "now", "error": error, "text": error_text}]
    data["least"] = [{"error": least, "text": f"least possible: {least_text}"}]
    title = f"Standard error of the total {error_text}: {verdict}{unused}"
    alternative = (
        f"You label {', '.join(parts)}{unused}. The standard error of the register total is "
        f"{error_text}; the least possible with {checks.counted(budget, 'label')} is "
        f"{least_text}.{prediction}"
    )
    return Figure(data, title, alternative, _draw_placed)


def _sizes(sizes: np.ndarray, key: str, most: int) -> list[dict]:
    """Return the places whose number of digits lies on an axis."""
    pairs = zip(PLACES, sizes.tolist(), strict=True)
    return [{key: name, "size": size} for name, size in pairs if size <= most]


def _total_error(best: Allocation, labeled: np.ndarray) -> float:
    """Return the standard error of the total."""
    variance = allocation_variance(best.stratum_size, best.stratum_sd, labeled)
    return best.stratum_size.sum() * math.sqrt(variance)


def _draw_placed(data: dict) -> Any:
    labels, sizes, wish = (
        chart(data, name).encode(y=theme.names("place")) for name in ("held", "sizes", "wish")
    )
    title = "labels (drag the end of a bar)"
    x, size = (across(name, title, (0, BY_HAND), **COUNTS) for name in ("labels", "size"))
    look = {"x": x, "color": theme.color("kind", LABEL_COLORS)}
    tick, sizes = {"orient": "vertical"}, sizes.encode(x=size)
    bars = labels.mark_bar(height={"band": 0.5}).encode(**look)
    ends = sizes.mark_tick(thickness=3, height={"band": 0.95}, color=GRAY, **tick)
    notes = sizes.mark_text(align="left", dx=6, style="note", dy=-13)
    notes = notes.encode(text=alt.value("size of the place"))
    handles = labels.mark_point(size=260, fill="#ffffff", strokeWidth=3).encode(**look)
    guess = wish.mark_tick(thickness=4, height={"band": 1.1}, **tick).encode(**look)
    upper = bars + ends + notes + handles + guess + beside(labels, 10, x="width")
    error = _log_axis("error", TOTAL_ERROR, 3_000, 80_000)
    now = chart(data, "error").encode(y=alt.Y("row:N", axis=None), x=error)
    least = chart(data, "least").encode(x=error)
    lower = (
        least.mark_rule(style="truth")
        + beside(least, 6, y=10, style="note")
        + now.mark_circle(size=160, color=STRATIFIED)
        + beside(now, 12)
    )
    return stacked(WIDTH - 150, (upper, 4 * 38), (lower, 56))


# rules compared


def place_value(
    plans: Mapping[str, Allocation], method: str, random_error: float, predicted: Sequence[str] = ()
) -> Figure:
    """Return the labels and the size of each place, and the standard error of the register total.

    Parameters
    ----------
    plans : dict of str to workbench.Allocation
        Allocations "equal", "neyman", "neyman_plus", "neyman_iterated" and "voila" to the four
        places, with the same budget.
    method : str
        Method whose labels are shown: one of these, or "random".
    random_error : float
        Standard error of the total from a simple random sample.
    predicted : list of str
        Methods that a learner predicted to be best. They get a ring.
    """
    best = plans["voila"]
    sizes, budget = best.stratum_size, int(best.labeled.sum() + best.unused)
    # random sampling gives fractions
    labeled = budget * sizes / sizes.sum() if method == "random" else plans[method].labeled
    spread = sizes * best.stratum_sd
    neyman = budget * spread / spread.sum()  # without a cap
    rows = rows_of(stratum=PLACES, size=sizes, labeled=labeled.astype(float), neyman=neyman)
    errors = {"random": random_error}
    errors |= {name: int(sizes.sum()) * math.sqrt(plan.variance) for name, plan in plans.items()}
    texts = {name: f"{error:,.0f}" for name, error in errors.items()}
    dots = [
        {
            "method": METHODS[name],
            "error": error,
            "text": texts[name],
            "kind": "shown above" if name == method else "other",
        }
        for name, error in errors.items()
    ]
    data = allocation_data(rows) | {
        "sizes": _sizes(sizes, "stratum", BY_RULE),
        "errors": dots,
        "rings": [{"method": METHODS[name], "error": errors[name]} for name in predicted],
    }
    parts = [f"{count(row['labeled'])} of {row['size']:,} {row['stratum']}" for row in rows]
    demand = _demand(rows, int(plans["neyman"].unused))
    if errors["equal"] < errors["neyman"]:
        demand += "; equal shares are better"
    prediction = ""
    if len(predicted) == 1:
        expected = METHODS[predicted[0]]
        prediction = f" You predicted that {expected} would be better with 150 labels."
    elif predicted:
        prediction = " You predicted no difference with 150 labels."
    verdict = _compared(method, errors)
    if method == "neyman":
        verdict = "every place has enough digits; VOILA differs by rounding only"
        if plans["neyman"].unused:
            verdict = demand
    listed = ", ".join(f"{METHODS[name]} {text}" for name, text in texts.items())
    return Figure(
        data,
        f"{checks.counted(budget, 'label')}: {verdict}",
        f"Labels with {METHODS[method]}: {', '.join(parts)}. {demand}. "
        f"Standard error of the register total: {listed}.{prediction}",
        _draw_place_value,
    )


def _demand(rows: list[dict], unused: int) -> str:
    """Return a text that names the places in which Neyman's rule asks for too many digits."""
    if not unused:
        return "Neyman's rule asks for no more digits than each place has"
    parts = [
        f"{row['neyman']:.0f} of the {row['size']} {row['stratum']}"
        for row in rows
        if row["neyman"] > row["size"]
    ]
    labels = checks.counted(unused, "label")
    return f"Neyman's rule asks for {' and '.join(parts)} and leaves {labels} unused"


def _compared(method: str, errors: dict[str, float]) -> str:
    """Return the error of a method, compared with that of Neyman's rule, iterated for VOILA."""
    rival = "neyman_iterated" if method == "voila" else "neyman"
    error, other, name = errors[method], errors[rival], METHODS[rival]
    change = error / other - 1
    if abs(change) < 0.005:
        compared = f"as with {name} ({other:,.0f})"
    elif error < 2 * other:
        compared = f"{abs(change):.0%} {'below' if change < 0 else 'above'} {name}"
    else:
        compared = f"{error / other:.1f} times that of {name}"
    return f"standard error {error:,.0f} with {METHODS[method]}, {compared}"


def _draw_place_value(data: dict) -> Any:
    x = _log_axis("error", TOTAL_ERROR, 1_800, 150_000)
    methods = {"domain": [row["method"] for row in data["errors"]]}
    y = alt.Y("method:N", title=None, scale=methods)
    errors, rings = (chart(data, name).encode(y=y, x=x) for name in ("errors", "rings"))
    rings = rings.mark_point(size=420, strokeWidth=2)
    rings = rings.encode(color=alt.value(PREDICTED["you predicted"]))
    dots = errors.mark_point(filled=True, size=130, opacity=1).encode(
        shape=theme.shape("kind", METHOD_COLORS, ["square", "circle"], legend=None),
        color=theme.color("kind", METHOD_COLORS, legend=None),
    )
    lower = rings + dots + beside(errors, 16)
    views = stacked(WIDTH - 130, (bars(data, None, most=BY_RULE), 4 * 34), (lower, 6 * 26))
    return views.resolve_scale(color="independent", shape="independent")


# one label at a time


def next_label(best: Allocation, labeled: np.ndarray) -> Figure:
    """Return the gain of the next label in each place, and the labels so far.

    Parameters
    ----------
    best : workbench.Allocation
        Best allocation of the whole budget to the four places.
    labeled : (4,) array of int
        Labels so far.
    """
    sizes, budget, spent = best.stratum_size, int(best.labeled.sum()), int(labeled.sum())
    gains = priorities(sizes, best.stratum_sd, labeled)
    next_place = PLACES[int(gains.argmax())] if spent < budget else None
    rows, parts = [], []
    for name, gain, labels, size in zip(
        PLACES, gains.tolist(), labeled.tolist(), sizes.tolist(), strict=True
    ):
        text = f"{gain:,.0f}" if labels < size else "none left"
        parts.append(f"{name} {text}")
        rows.append(
            {
                "place": name,
                "priority": gain if labels < size else None,
                "labels": labels,
                "text": text,
                "count": f"{labels} of {size:,}",
                "turn": "gets the next label" if name == next_place else "waits",
            }
        )
    labels, optimum = (
        " + ".join(map(str, counts)) for counts in (labeled.tolist(), best.labeled.tolist())
    )
    alternative = (
        f"Labels so far, of {budget}: {labels}. Gain of the next label: {', '.join(parts)}. "
        f"Standard error of the total {_total_error(best, labeled):,.0f}."
    )
    title = f"Label {spent + 1} of {budget} goes to the {next_place}, where its gain is largest"
    if next_place is None:
        verdict = "exactly the optimum" if labels == optimum else f"but the optimum is {optimum}"
        title = f"All {budget} labels are used: {labels}, {verdict}"
        alternative += f" The optimum: {optimum}."
    return Figure({"places": rows}, title, alternative, _draw_next_label)


def _draw_next_label(data: dict) -> Any:
    places = chart(data, "places").encode(y=theme.names("place"))
    gains = places.mark_point(filled=True, size=170, opacity=1).encode(
        x=_log_axis("priority", "gain of the next label (log scale)", 200, 40_000),
        color=theme.color("turn", TURN),
        shape=theme.shape("turn", TURN, ["square", "circle"]),
    )
    labels = places.mark_bar(height={"band": 0.6}, color=LABELED).encode(
        x=across("labels", "labels so far", (0, BY_RULE), **COUNTS)
    )
    texts = places.mark_text(align="left", dx=8, x="width")
    return stacked(
        WIDTH - 150,
        (gains + texts.encode(text="text:N"), 4 * 28),
        (labels + texts.encode(text="count:N"), 4 * 28),
    )
