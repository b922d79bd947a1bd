"""The places of the register: what a digit costs, labels moved by hand, rules compared, one label after the other."""

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
TOTAL_ERROR = "standard error of the register total (log scale)"


def _error_scale(domain: tuple) -> dict:
    return {
        "scale": theme.span(*domain, type="log"),
        "axis": alt.Axis(
            format=",d", values=[m * t for t in TENS for m in (1, 3)], labelOverlap=True
        ),
    }


# what a misread digit costs


def register(error: Sequence[np.ndarray]) -> alt.TopLevelMixin:
    """Return how many digits each place of the register has, how many are misread, and what a misread one costs.

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
        "misread": "misread, in percent",
        "cost": "a misread digit is off by",
    }
    said = ". ".join(
        f"{row['digits_text']} {row['place']}, {row['misread_text']} misread, each by {row['cost_text']} "
        "on average"
        for row in rows
    )
    return theme.finish(
        alt.vconcat(*(_column(rows, *named) for named in titles.items())),
        "100 labels for 1,797 digits: which place needs them most?",
        f"{said}. Which of the four places needs the labels most?",
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
    """Return the rows of `placed`: labels with a handle each, sizes, the prediction, the error of the total."""
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
    """Return title and text alternative of `placed`."""
    budget, given = int(best.labeled.sum()), int(labeled.sum())
    error, least = _error_of(best, labeled), _error_of(best, best.labeled)
    hand = (
        "" if given == budget else f", {checks.counted(budget - given, 'label')} still in your hand"
    )
    verdict = (
        "nothing is better"
        if error <= least * (1 + 1e-9)
        else f"{error / least:.2f} times the least possible"
    )
    counts = ", ".join(
        f"{k} of {n:,} {name}"
        for name, n, k in zip(PLACES, best.stratum_size, labeled, strict=True)
    )
    told = (
        ""
        if predicted is None
        else f" You predicted {predicted} for the thousands"
        + (
            f", and there are only {best.stratum_size[-1]}."
            if predicted > best.stratum_size[-1]
            else "."
        )
    )
    return (
        f"Standard error of the total {error:,.0f}: {verdict}{hand}",
        f"You label {counts}{hand}. The standard error of the register total is {error:,.0f}; the least possible "
        f"with {checks.counted(budget, 'label')} is {least:,.0f}.{told}",
    )


def placed(
    best: Allocation, labeled: np.ndarray, predicted: int | None = None
) -> alt.TopLevelMixin:
    """Return labels that a hand has placed, as bars that can be dragged, and the standard error of the total.

    Parameters
    ----------
    best : workbench.Allocation
        The optimum of the whole budget, of the four places.
    labeled : (4,) array of int
    predicted : int, optional
        Labels that somebody predicted for the thousands.
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
            text=alt.value("no more exist")
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
    """Return the rows of `place_value`: as in `allocation`, the standard error per method, the predicted methods."""
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
    """Return what Neyman's allocation would label without regard to sizes, M N_h S_h / sum N_h S_h."""
    spread = plan.stratum_size * plan.stratum_sd
    return (plan.labeled.sum() + plan.unused) * spread / spread.sum()


def _labels(plans: Any, method: Any) -> np.ndarray:
    """Return the labels of each place by a rule, in fractions at random."""
    size = plans["voila"].stratum_size
    return _budget(plans) * size / size.sum() if method == "random" else plans[method].labeled


def _budget(plans: dict) -> int:
    return int(plans["voila"].labeled.sum() + plans["voila"].unused)


def _total_errors(plans: dict, random_error: float) -> dict:
    """Return the standard error of the total per method."""
    items = int(plans["voila"].stratum_size.sum())
    return {
        "random": random_error,
        **{name: items * math.sqrt(plan.variance) for name, plan in plans.items()},
    }


def place_value_words(
    plans: Mapping[str, Allocation], method: str, random_error: float, predicted: Sequence[str] = ()
) -> tuple[str, str]:
    """Return title and text alternative of `place_value`."""
    budget, errors = _budget(plans), _total_errors(plans, random_error)
    wish, size, unused = (
        wished(plans["voila"]),
        plans["voila"].stratum_size,
        int(plans["neyman"].unused),
    )
    beyond = (
        " and ".join(
            f"{want:.0f} of the {n} {name}"
            for name, n, want in zip(PLACES, size, wish, strict=True)
            if want > n
        )
        if unused
        else ""
    )
    wants = (
        f"Neyman wants {beyond} and leaves {checks.counted(unused, 'label')} unused"
        if beyond
        else "Neyman wants no more of any place than there is"
    )
    beaten = "; equal shares beat it" if errors["equal"] < errors["neyman"] else ""
    table = ", ".join(f"{METHODS[name]} {error:,.0f}" for name, error in errors.items())
    given = ", ".join(
        f"{count(n)} of {total:,} {name}"
        for name, n, total in zip(PLACES, _labels(plans, method), size, strict=True)
    )
    ringed = (
        f" You predicted that {' or '.join(METHODS[name] for name in predicted)} would be better at 150 labels."
        if len(predicted) == 1
        else " You predicted no difference at 150 labels."
        if predicted
        else ""
    )
    return (
        f"{checks.counted(budget, 'label')}: {_verdict(method, errors, wants + beaten if beyond else '')}",
        f"Labels by {METHODS[method]}: {given}. {wants}{beaten}. Standard error of the register total: {table}."
        f"{ringed}",
    )


def _verdict(method: str, errors: dict, wants: str) -> str:
    if method == "neyman":
        return wants or "no place runs out, Neyman is VOILA but for rounding"
    against = "neyman_iterated" if method == "voila" else "neyman"
    here, other, whose = errors[method], errors[against], f"{METHODS[against]}'s"
    change = here / other - 1
    compared = (
        f"level with {whose} {other:,.0f}"
        if abs(change) < 0.005
        else f"{abs(change):.0%} {'below' if change < 0 else 'above'} {whose}"
        if here < 2 * other
        else f"{here / other:.1f} times {whose}"
    )
    return f"standard error {here:,.0f} by {METHODS[method]}, {compared}"


def place_value(
    plans: Mapping[str, Allocation], method: str, random_error: float, predicted: Sequence[str] = ()
) -> alt.TopLevelMixin:
    """Return the labels of each place against how many there are, and the standard error of the register total.

    Parameters
    ----------
    plans : dict of str to workbench.Allocation
        "equal", "neyman", "neyman_plus", "neyman_iterated", "voila" of the four places, with the same budget.
    method : str
        One of these, or "random": the one whose labels are shown.
    random_error : float
        Standard error of the total, of a simple random sample.
    predicted : list of str
        Methods that somebody thought to be best: they get a ring.
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
    """Return the rows of `next_label`: priorities and labels so far.

    `best` is the optimum for the whole budget, `labeled` what has been given so far.
    """
    worth, budget = priorities(best.stratum_size, best.stratum_sd, labeled), int(best.labeled.sum())
    chosen = int(worth.argmax()) if labeled.sum() < budget else -1
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
            zip(PLACES, worth, labeled, best.stratum_size, strict=True)
        )
    ]
    return {"places": rows}


def next_label_words(best: Allocation, labeled: np.ndarray) -> tuple[str, str]:
    """Return title and text alternative of `next_label`."""
    budget, given = int(best.labeled.sum()), int(labeled.sum())
    worth = priorities(best.stratum_size, best.stratum_sd, labeled)
    shares, optimum = (
        " + ".join(map(str, counts)) for counts in (labeled.tolist(), best.labeled.tolist())
    )
    table = ", ".join(
        f"{name} {p:,.0f}" if p else f"{name} none left"
        for name, p in zip(PLACES, worth, strict=True)
    )
    state = (
        f"Given so far, of {budget} labels: {shares}. What the next label is worth: {table}. Standard error of "
        f"the total {_error_of(best, labeled):,.0f}."
    )
    if given < budget:
        return (
            f"Label {given + 1} of {budget} goes to the {PLACES[int(worth.argmax())]}, where it is worth most",
            state,
        )
    same = "exactly the optimum" if shares == optimum else f"but the optimum is {optimum}"
    return f"All {budget} labels are given: {shares}, {same}", f"{state} The optimum: {optimum}."


def next_label(best: Allocation, labeled: np.ndarray) -> alt.TopLevelMixin:
    """Return the priority of each place for the next label, and the labels it has so far.

    Parameters
    ----------
    best : workbench.Allocation
        The optimum of the whole budget, of the four places.
    labeled : (4,) array of int
        Labels given so far.
    """
    places = theme.chart(next_label_data(best, labeled), "places").encode(y=ALONG)
    dots = places.mark_point(filled=True, size=170, opacity=1).encode(
        x=alt.X(
            "priority:Q",
            title="what the next label is worth (log scale)",
            **_error_scale((200, 40_000)),
        ),
        color=theme.color("turn", TURN),
        shape=theme.shape("turn", TURN, ["square", "circle"]),
    )
    counts = places.mark_bar(height={"band": 0.6}, color=theme.LABELED).encode(
        x=alt.X("labels:Q", title="labels so far, k", axis=COUNT_AXIS, scale=theme.span(0, BY_RULE))
    )
    texts = places.mark_text(align="left", dx=8, x="width")
    both = [
        (drawn + texts.encode(text=text)).properties(width=theme.WIDTH - 150, height=4 * 28)
        for drawn, text in ((dots, "text:N"), (counts, "count:N"))
    ]
    return theme.finish(alt.vconcat(*both), *next_label_words(best, labeled))
