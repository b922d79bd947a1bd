"""Charts of the register: its places, labels moved by hand, rules compared, one label at a time."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import numpy as np

from workbench import checks
from workbench.allocation.rules import Allocation, allocation_variance, priorities
from workbench.charts import theme
from workbench.charts.allocation.plans import COUNT_AXIS, allocation_data, bars
from workbench.charts.allocation.words import METHODS, PREDICTED, TENS, count
from workbench.course.digit_forms import PLACES

TURN = {"gets the next label": theme.OKABE_ITO["blue"], "waits": theme.GRAY}
HELD = {"your labels": theme.LABELED, "labeled completely": theme.OKABE_ITO["blue"]} | PREDICTED
ALONG = alt.Y("place:N", sort=None, title=None)
# the axes hold whatever the controls of the lesson can ask for
BY_HAND, BY_RULE = 66, 165
TOTAL_ERROR = "standard error of the total (log scale)"


def _error_scale(domain: tuple) -> dict:
    return {
        "scale": theme.span(*domain, type="log"),
        "axis": alt.Axis(
            format=",d", values=[m * t for t in TENS for m in (1, 3)], labelOverlap=True
        ),
    }


# the register


def register(error: Sequence[np.ndarray]) -> alt.TopLevelMixin:
    """Return the digits, the percentage of misread digits and their average error in each place.

    Parameters
    ----------
    error : list of (N_h,) array
        Errors of the readings, one array per place.
    """
    wrong = [np.abs(values[values != 0]) for values in error]
    rows = [
        {
            "place": name,
            "digits": values.size,
            "misread": 100 * w.size / values.size,
            "cost": float(w.mean()),
            "digits_text": f"{values.size:,}",
            "misread_text": f"{100 * w.size / values.size:.0f}%",
            "cost_text": f"{w.mean():,.0f}",
        }
        for name, values, w in zip(PLACES, error, wrong, strict=True)
    ]
    titles = {
        "digits": "digits in the register",
        "misread": "misread digits, in percent",
        "cost": "average error of a misread digit",
    }
    places = ". ".join(
        f"{row['digits_text']} {row['place']}, {row['misread_text']} misread, each by "
        f"{row['cost_text']} on average"
        for row in rows
    )
    return theme.finish(
        alt.vconcat(*(_column(rows, *named) for named in titles.items())),
        "100 labels for 1,797 digits: which place needs them most?",
        f"{places}. Which of the four places needs the labels most?",
    )


def _column(rows: list, name: str, title: str) -> Any:
    base = theme.Chart(theme.rows("places", rows)).encode(
        y=ALONG, x=alt.X(f"{name}:Q", title=title, axis=alt.Axis(tickCount=3, format=",d"))
    )
    return (
        base.mark_bar(height={"band": 0.55}, color=theme.GRAY)
        + base.mark_text(align="left", dx=5).encode(text=f"{name}_text:N")
    ).properties(width=theme.WIDTH - 100, height=4 * 22)


# labels moved by hand


def placed_data(best: Allocation, labeled: np.ndarray, predicted: int | None) -> dict:
    """Return the rows of `placed`: labels, sizes, the prediction, the standard error."""
    size = best.stratum_size
    rows = [
        {
            "place": name,
            "labels": int(k),
            "text": f"{k} of {n:,}",
            "drag": h,
            "step": 1,
            "kind": "labeled completely" if k == n else "your labels",
            "label": f"labels for the {name}: {k} of {n:,}, arrow keys move them",
        }
        for h, (name, n, k) in enumerate(zip(PLACES, size, labeled, strict=True))
    ]
    error, least = _error_of(best, labeled), _error_of(best, best.labeled)
    return {
        "held": rows,
        "sizes": [
            {"place": name, "size": int(n)}
            for name, n in zip(PLACES, size, strict=True)
            if n <= BY_HAND
        ],
        "wish": []
        if predicted is None
        else [{"place": PLACES[-1], "labels": predicted, "kind": "you predicted"}],
        "error": [{"row": "now", "error": error, "text": f"{error:,.0f}"}],
        "least": [{"error": least, "text": f"least possible: {least:,.0f}"}],
    }


def _error_of(best: Allocation, labeled: np.ndarray) -> float:
    """Return the standard error of the total."""
    return best.stratum_size.sum() * math.sqrt(
        allocation_variance(best.stratum_size, best.stratum_sd, labeled)
    )


def placed_words(best: Allocation, labeled: np.ndarray, predicted: int | None) -> tuple[str, str]:
    """Return the title and the text alternative of `placed`."""
    budget, spent = int(best.labeled.sum()), int(labeled.sum())
    error, least = _error_of(best, labeled), _error_of(best, best.labeled)
    unused = f", {checks.counted(budget - spent, 'label')} not used yet" if spent < budget else ""
    verdict = f"{error / least:.2f} times the least possible"
    if error <= least * (1 + 1e-9):
        verdict = "the least possible"
    size = best.stratum_size
    parts = [f"{k} of {n:,} {name}" for name, n, k in zip(PLACES, size, labeled, strict=True)]
    prediction = ""
    if predicted is not None:
        only = f", and there are only {size[-1]}" if predicted > size[-1] else ""
        prediction = f" You predicted {predicted} for the thousands{only}."
    return (
        f"Standard error of the total {error:,.0f}: {verdict}{unused}",
        f"You label {', '.join(parts)}{unused}. The standard error of the register total is "
        f"{error:,.0f}; the least possible with {checks.counted(budget, 'label')} is "
        f"{least:,.0f}.{prediction}",
    )


def placed(
    best: Allocation, labeled: np.ndarray, predicted: int | None = None
) -> alt.TopLevelMixin:
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
    data = placed_data(best, labeled, predicted)
    across = {
        "title": "labels (drag the end of a bar)",
        "axis": COUNT_AXIS,
        "scale": theme.span(0, BY_HAND),
    }
    held, sized, wish = (
        theme.chart(data, name).encode(y=ALONG) for name in ("held", "sizes", "wish")
    )
    sized = sized.encode(x=alt.X("size:Q", **across))
    labels = {"x": alt.X("labels:Q", **across), "color": theme.color("kind", HELD)}
    upper = (
        held.mark_bar(height={"band": 0.5}).encode(**labels)
        + sized.mark_tick(orient="vertical", thickness=3, height={"band": 0.95}, color=theme.GRAY)
        + sized.mark_text(align="left", dx=6, style="note", dy=-13).encode(
            text=alt.value("size of the place")
        )
        + held.mark_point(size=260, fill="#ffffff", strokeWidth=3).encode(**labels)
        + wish.mark_tick(orient="vertical", thickness=4, height={"band": 1.1}).encode(**labels)
        + held.mark_text(align="left", dx=10, x="width").encode(text="text:N")
    )
    error = alt.X("error:Q", title=TOTAL_ERROR, **_error_scale((3_000, 80_000)))
    now = theme.chart(data, "error").encode(y=alt.Y("row:N", axis=None), x=error)
    least = theme.chart(data, "least").encode(x=error)
    lower = (
        least.mark_rule(style="truth")
        + least.mark_text(align="left", dx=6, y=10, style="note").encode(text="text:N")
        + now.mark_circle(size=160, color=theme.STRATIFIED)
        + now.mark_text(align="left", dx=12).encode(text="text:N")
    )
    width = theme.WIDTH - 150
    both = alt.vconcat(
        upper.properties(width=width, height=4 * 38), lower.properties(width=width, height=56)
    )
    return theme.finish(both, *placed_words(best, labeled, predicted))


# rules compared


def place_value_data(
    plans: Mapping[str, Allocation], method: str, random_error: float, predicted: Sequence[str] = ()
) -> dict:
    """Return the rows of `place_value`: labels, standard errors of the rules, predicted rules."""
    size, shares, wish = plans["voila"].stratum_size, _labels(plans, method), wished(plans["voila"])
    rows = [
        {"stratum": name, "size": int(n), "labeled": float(labels), "neyman": float(want)}
        for name, n, labels, want in zip(PLACES, size, shares, wish, strict=True)
    ]
    errors = _total_errors(plans, random_error)
    dots = [
        {
            "method": METHODS[name],
            "error": error,
            "text": f"{error:,.0f}",
            "kind": "shown above" if name == method else "other",
        }
        for name, error in errors.items()
    ]
    return allocation_data(rows) | {
        "sizes": [
            {"stratum": name, "size": int(n)}
            for name, n in zip(PLACES, size, strict=True)
            if n <= BY_RULE
        ],
        "errors": dots,
        "rings": [{"method": METHODS[name], "error": errors[name]} for name in predicted],
    }


def wished(plan: Allocation) -> np.ndarray:
    """Return the labels by Neyman's rule without a cap, M N_h S_h / sum N_h S_h."""
    spread = plan.stratum_size * plan.stratum_sd
    return (plan.labeled.sum() + plan.unused) * spread / spread.sum()


def _labels(plans: Any, method: Any) -> np.ndarray:
    """Return the labels of each place by a rule; random sampling gives fractions."""
    size = plans["voila"].stratum_size
    return _budget(plans) * size / size.sum() if method == "random" else plans[method].labeled


def _budget(plans: dict) -> int:
    return int(plans["voila"].labeled.sum() + plans["voila"].unused)


def _total_errors(plans: dict, random_error: float) -> dict:
    """Return the standard error of the total of each method."""
    items = int(plans["voila"].stratum_size.sum())
    return {
        "random": random_error,
        **{name: items * math.sqrt(plan.variance) for name, plan in plans.items()},
    }


def place_value_words(
    plans: Mapping[str, Allocation], method: str, random_error: float, predicted: Sequence[str] = ()
) -> tuple[str, str]:
    """Return the title and the text alternative of `place_value`."""
    budget, errors = _budget(plans), _total_errors(plans, random_error)
    size = plans["voila"].stratum_size
    asked = _asked(plans)
    better = "; equal shares are better" if errors["equal"] < errors["neyman"] else ""
    error_parts = [f"{METHODS[name]} {error:,.0f}" for name, error in errors.items()]
    labels = zip(PLACES, _labels(plans, method), size, strict=True)
    label_parts = [f"{count(n)} of {total:,} {name}" for name, n, total in labels]
    prediction = ""
    if len(predicted) == 1:
        expected = METHODS[predicted[0]]
        prediction = f" You predicted that {expected} would be better with 150 labels."
    elif predicted:
        prediction = " You predicted no difference with 150 labels."
    verdict = _verdict(method, errors, asked + better if plans["neyman"].unused else "")
    return (
        f"{checks.counted(budget, 'label')}: {verdict}",
        f"Labels with {METHODS[method]}: {', '.join(label_parts)}. {asked}{better}. "
        f"Standard error of the register total: {', '.join(error_parts)}.{prediction}",
    )


def _asked(plans: Mapping[str, Allocation]) -> str:
    """Return a text that names the places in which Neyman's rule asks for too many digits."""
    unused = int(plans["neyman"].unused)
    if not unused:
        return "Neyman's rule asks for no more digits than each place has"
    sizes = zip(PLACES, plans["voila"].stratum_size, wished(plans["voila"]), strict=True)
    parts = [f"{labels:.0f} of the {n} {name}" for name, n, labels in sizes if labels > n]
    unused_labels = checks.counted(unused, "label")
    return f"Neyman's rule asks for {' and '.join(parts)} and leaves {unused_labels} unused"


def _verdict(method: str, errors: dict, asked: str) -> str:
    if method == "neyman":
        return asked or "every place has enough digits; VOILA differs by rounding only"
    other_method = "neyman_iterated" if method == "voila" else "neyman"
    error, other, name = errors[method], errors[other_method], METHODS[other_method]
    change = error / other - 1
    if abs(change) < 0.005:
        compared = f"as with {name} ({other:,.0f})"
    elif error < 2 * other:
        compared = f"{abs(change):.0%} {'below' if change < 0 else 'above'} {name}"
    else:
        compared = f"{error / other:.1f} times that of {name}"
    return f"standard error {error:,.0f} with {METHODS[method]}, {compared}"


def place_value(
    plans: Mapping[str, Allocation], method: str, random_error: float, predicted: Sequence[str] = ()
) -> alt.TopLevelMixin:
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
    data = place_value_data(plans, method, random_error, predicted)
    error = alt.X("error:Q", title=TOTAL_ERROR, **_error_scale((1_800, 150_000)))
    along = alt.Y(
        "method:N", title=None, scale=alt.Scale(domain=[row["method"] for row in data["errors"]])
    )
    base, ringed = (
        theme.chart(data, name).encode(y=along, x=error) for name in ("errors", "rings")
    )
    dots = base.mark_point(filled=True, size=130, opacity=1).encode(
        shape=theme.shape("kind", ["shown above", "other"], ["square", "circle"], legend=None),
        color=theme.color(
            "kind", {"shown above": theme.STRATIFIED, "other": theme.GRAY}, legend=None
        ),
    )
    texts = base.mark_text(align="left", dx=16).encode(text="text:N")
    rings = ringed.mark_point(size=420, strokeWidth=2).encode(
        color=alt.value(PREDICTED["you predicted"])
    )
    width = theme.WIDTH - 130
    both = alt.vconcat(
        bars(data, None, most=BY_RULE).properties(width=width, height=4 * 34),
        (rings + dots + texts).properties(width=width, height=6 * 26),
    ).resolve_scale(color="independent", shape="independent")
    return theme.finish(both, *place_value_words(plans, method, random_error, predicted))


# one label at a time


def next_label_data(best: Allocation, labeled: np.ndarray) -> dict:
    """Return the rows of `next_label`: gains of the next label, and labels so far.

    `best` is the best allocation of the whole budget, `labeled` the labels so far.
    """
    gain, budget = priorities(best.stratum_size, best.stratum_sd, labeled), int(best.labeled.sum())
    chosen = int(gain.argmax()) if labeled.sum() < budget else -1
    rows = [
        {
            "place": name,
            "priority": float(p) if k < n else None,
            "labels": int(k),
            "text": f"{p:,.0f}" if k < n else "none left",
            "count": f"{k} of {n:,}",
            "turn": "gets the next label" if h == chosen else "waits",
        }
        for h, (name, p, k, n) in enumerate(
            zip(PLACES, gain, labeled, best.stratum_size, strict=True)
        )
    ]
    return {"places": rows}


def next_label_words(best: Allocation, labeled: np.ndarray) -> tuple[str, str]:
    """Return the title and the text alternative of `next_label`."""
    budget, spent = int(best.labeled.sum()), int(labeled.sum())
    gain = priorities(best.stratum_size, best.stratum_sd, labeled)
    labels, optimum = (
        " + ".join(map(str, counts)) for counts in (labeled.tolist(), best.labeled.tolist())
    )
    gains = [
        f"{name} {p:,.0f}" if p else f"{name} none left"
        for name, p in zip(PLACES, gain, strict=True)
    ]
    state = (
        f"Labels so far, of {budget}: {labels}. Gain of the next label: {', '.join(gains)}. "
        f"Standard error of the total {_error_of(best, labeled):,.0f}."
    )
    if spent < budget:
        place = PLACES[int(gain.argmax())]
        title = f"Label {spent + 1} of {budget} goes to the {place}, where its gain is largest"
        return title, state
    same = "exactly the optimum" if labels == optimum else f"but the optimum is {optimum}"
    return f"All {budget} labels are used: {labels}, {same}", f"{state} The optimum: {optimum}."


def next_label(best: Allocation, labeled: np.ndarray) -> alt.TopLevelMixin:
    """Return the gain of the next label in each place, and the labels so far.

    Parameters
    ----------
    best : workbench.Allocation
        Best allocation of the whole budget to the four places.
    labeled : (4,) array of int
        Labels so far.
    """
    places = theme.chart(next_label_data(best, labeled), "places").encode(y=ALONG)
    dots = places.mark_point(filled=True, size=170, opacity=1).encode(
        x=alt.X(
            "priority:Q",
            title="gain of the next label (log scale)",
            **_error_scale((200, 40_000)),
        ),
        color=theme.color("turn", TURN),
        shape=theme.shape("turn", TURN, ["square", "circle"]),
    )
    counts = places.mark_bar(height={"band": 0.6}, color=theme.LABELED).encode(
        x=alt.X("labels:Q", title="labels so far", axis=COUNT_AXIS, scale=theme.span(0, BY_RULE))
    )
    texts = places.mark_text(align="left", dx=8, x="width")
    both = [
        (drawn + texts.encode(text=text)).properties(width=theme.WIDTH - 150, height=4 * 28)
        for drawn, text in ((dots, "text:N"), (counts, "count:N"))
    ]
    return theme.finish(alt.vconcat(*both), *next_label_words(best, labeled))
