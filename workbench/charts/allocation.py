"""Charts of allocation: labels against the size of each stratum, standard errors, priorities, streams.

As for stratified accuracy there are three functions for each picture: `..._data` gives its rows, `..._words` its
title and text alternative, and the picture itself is an altair chart built from both.
"""
from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import altair as alt
import numpy as np

from workbench import checks
from workbench.allocation.rules import allocation_variance, priorities
from workbench.charts import theme
from workbench.course.digit_forms import PLACES

if TYPE_CHECKING:
    from workbench.allocation.rules import Allocation
    from workbench.simulations.allocation import StreamStudy

METHODS = {"random": "random sampling", "proportional": "proportional", "equal": "equal shares",
           "neyman": "capped Neyman", "neyman_plus": "Neyman+", "voila": "VOILA"}
STREAMED = {"voila": "VOILA", "s_voila": "S-VOILA", "s_voila_printed": "S-VOILA as printed", "neyman": "Neyman",
            "neyman_plus": "Neyman+", "uniform": "uniform", "reservoir": "reservoir"}
STREAM_COLORS = {"VOILA": theme.GRAY, "S-VOILA": theme.OKABE_ITO["blue"],
                 "S-VOILA as printed": theme.OKABE_ITO["vermilion"], "Neyman": theme.OKABE_ITO["green"],
                 "Neyman+": theme.OKABE_ITO["orange"], "uniform": theme.OKABE_ITO["purple"],
                 "reservoir": theme.OKABE_ITO["sky"]}
STREAM_DASHES = {"VOILA": [1, 0], "S-VOILA": [1, 0], "S-VOILA as printed": [6, 2], "Neyman": [9, 5],
                 "Neyman+": [2, 4], "uniform": [1, 0], "reservoir": [6, 2]}
KINDS = {"labeled in part": theme.LABELED, "labeled completely": theme.OKABE_ITO["blue"],
         "Neyman's wish": theme.MISS, "size of the stratum": theme.GRAY}
STRATUM_COLORS = [theme.OKABE_ITO[name] for name in ("sky", "orange", "green", "vermilion", "blue", "purple")]
TURN = {"gets the next label": theme.OKABE_ITO["blue"], "waits": theme.GRAY}
SHOWN_STRATA = 30
NAMED_STRATA = 12
ROW = 20
TENS = [10 ** k for k in range(13)]
COUNT_AXIS = alt.Axis(format=",d", tickMinStep=1, tickCount=6)


# labels against the size of each stratum

def allocation_data(rows: Sequence[dict], most: int = SHOWN_STRATA) -> dict:
    """Return the rows of `allocation`: bars, Neyman's wishes, and sizes within reach; of at most 30 strata."""
    largest = sorted(range(len(rows)), key=lambda h: -rows[h]["labeled"])[:most]
    shown = [rows[h] | {"stratum": str(rows[h]["stratum"])} for h in sorted(largest)]
    reach = 1.15 * max(max(row["labeled"], row["neyman"]) for row in shown)
    bars = [{"stratum": row["stratum"], "labels": row["labeled"],
             "text": f"{_count(row['labeled'])} of {row['size']:,}",
             "kind": "labeled completely" if row["labeled"] >= row["size"] else "labeled in part",
             "end": max(row["labeled"], row["neyman"], row["size"] if row["size"] <= reach else 0)} for row in shown]
    return {"bars": bars, "wishes": [{"stratum": row["stratum"], "neyman": row["neyman"]} for row in shown],
            "sizes": [{"stratum": row["stratum"], "size": row["size"]} for row in shown if row["size"] <= reach]}


def allocation_words(rows: Sequence[dict]) -> tuple[str, str]:
    """Return title and text alternative of `allocation`."""
    total, neyman = (sum(row[name] for row in rows) for name in ("labeled", "neyman"))
    full = sum(row["labeled"] >= row["size"] for row in rows)
    exhausted = f"{full or 'none'} of {checks.counted(len(rows), 'stratum', 'strata')} labeled completely"
    left = f"; Neyman would leave {_count(total - neyman)} unused" if total - neyman >= 0.5 else ""
    shown = sorted(rows, key=lambda row: -row["labeled"])[:NAMED_STRATA]
    table = "; ".join(f"{row['stratum']} {_count(row['labeled'])} of {row['size']:,} (Neyman {_count(row['neyman'])})"
                      for row in rows if row in shown)
    cut = f"The {NAMED_STRATA} of {len(rows):,} strata with most labels" if len(rows) > NAMED_STRATA else \
        "Labels per stratum"
    return f"{_labels(_count(total))}, {exhausted}{left}", f"{cut}: {table}."


def allocation(rows: Sequence[dict], *, most: int = SHOWN_STRATA) -> alt.TopLevelMixin:
    """Return the labels of each stratum against its size and Neyman's; of many strata those with most labels.

    Parameters
    ----------
    rows : list of dict
        stratum, size, labeled, neyman (labels under Neyman's allocation, cut at the size).
    most : int
        Strata that are drawn.
    """
    height = max(3, min(len(rows), most)) * ROW
    title = "stratum" if len(rows) <= most else f"the {most} strata with most labels"
    bars = _allocation(allocation_data(rows, most), title, {"Neyman's wish": "Neyman, cut at the size"})
    return theme.finish(bars, *allocation_words(rows), width=theme.WIDTH - 120, height=height)


def _allocation(data, title, renamed=()):
    names = {kind: dict(renamed).get(kind, kind) for kind in KINDS}
    colors = theme.scale({names[kind]: color for kind, color in KINDS.items()})
    along = alt.Y("stratum:N", sort=None, title=title, axis=alt.Axis(labelLimit=160))
    across = {"title": "labels", "axis": COUNT_AXIS, "scale": alt.Scale(zero=True)}
    bars = alt.Chart(theme.rows("bars", data["bars"])).encode(y=along)
    labels = bars.mark_bar(height={"band": 0.55}).encode(
        x=alt.X("labels:Q", **across), color=alt.Color("kind:N", title=None, scale=colors,
                                                       legend=alt.Legend(columns=2, labelLimit=240)))
    texts = bars.mark_text(align="left", dx=8).encode(x=alt.X("end:Q", **across), text="text:N")
    wishes = alt.Chart(theme.rows("wishes", data["wishes"])).mark_point(
        shape="diamond", size=80, strokeWidth=2, fill="#ffffff").encode(
        y=along, x=alt.X("neyman:Q", **across), color=alt.datum(names["Neyman's wish"]))
    sizes = alt.Chart(theme.rows("sizes", data["sizes"])).mark_tick(
        orient="vertical", thickness=3, height={"band": 0.95}).encode(
        y=along, x=alt.X("size:Q", **across), color=alt.datum(names["size of the stratum"]))
    return labels + sizes + wishes + texts


# standard errors of methods

def methods_data(rows: Sequence[dict], recommended: str = "voila") -> dict[str, list[dict]]:
    """Return the rows of `methods`: one bar per method, the best first, and the recommended one's error."""
    best = _error_of(rows, recommended)
    bars = [{"method": METHODS.get(row["method"], row["method"]), "error": row["standard_error"],
             "start": row["standard_error"] if math.isfinite(row["standard_error"]) else best,
             "kind": "recommended" if row["method"] == recommended else "other",
             "text": _against(row["standard_error"], best)}
            for row in sorted(rows, key=lambda row: row["standard_error"])]
    return {"methods": bars, "best": [{"error": best}]}


def methods_words(rows: Sequence[dict], recommended: str = "voila") -> tuple[str, str]:
    """Return title and text alternative of `methods`."""
    best, name = _error_of(rows, recommended), METHODS.get(recommended, recommended)
    table = "; ".join(f"{METHODS.get(row['method'], row['method'])} {_against(row['standard_error'], best)}"
                      for row in sorted(rows, key=lambda row: row["standard_error"]))
    others = [row for row in rows if row["method"] != recommended]
    if not others:
        return f"{name}: standard error {_error(best)}", f"Standard error of the estimate: {table}."
    next_best = min(others, key=lambda row: row["standard_error"])
    second = METHODS.get(next_best["method"], next_best["method"])
    if not math.isfinite(best):
        return f"{name}: infinite standard error, a stratum that varies has no label", \
            f"Standard error of the estimate: {table}."
    change = best / next_best["standard_error"] - 1 if next_best["standard_error"] else 0.0
    verdict = f"as good as {second}" if abs(change) < 5e-4 else \
        f"{abs(change):.1%} {'below' if change < 0 else 'above'} that of {second}"
    return f"{name}: standard error {_error(best)}, {verdict}", f"Standard error of the estimate: {table}."


def _error_of(rows, recommended):
    errors = {row["method"]: row["standard_error"] for row in rows}
    return errors[checks.choice("recommended", recommended, list(errors))]


def _against(error, best):
    if not math.isfinite(error):
        return "infinite: a stratum that varies has no label"
    ratio = error / best if best else 1.0
    more = "" if abs(ratio - 1) < 5e-4 else f" ({ratio - 1:+.1%})" if ratio < 2 else f" ({ratio:.1f} times)"
    return _error(error) + more


def _error(error):
    return f"{error:,.0f}" if error >= 1000 else f"{error:.4g}"


def methods(rows: Sequence[dict], *, recommended: str = "voila") -> alt.TopLevelMixin:
    """Return the standard error of each method as bars, against the recommended one.

    Parameters
    ----------
    rows : list of dict
        method (as in `workbench.allocate`, or "random"), "standard_error" (may be infinite).
    recommended : str
        One of the methods.
    """
    data = methods_data(rows, recommended)
    base = alt.Chart(theme.rows("methods", data["methods"])).encode(
        y=alt.Y("method:N", sort=None, title=None), x=alt.X("error:Q", title="standard error of the estimate",
                                                            axis=alt.Axis(tickCount=6, format=",.12~g")))
    bars = base.mark_bar(height={"band": 0.65}).encode(color=alt.Color("kind:N", legend=None, scale=theme.scale(
        {"recommended": theme.STRATIFIED, "other": theme.GRAY})))
    texts = base.mark_text(align="left", dx=6).encode(text="text:N", x="start:Q")
    best = alt.Chart(theme.rows("best", data["best"])).mark_rule(style="truth").encode(x="error:Q")
    return theme.finish(bars + best + texts, *methods_words(rows, recommended), width=theme.WIDTH - 160,
                        height=max(3, len(rows)) * 26)


# place value

def place_value_data(plans: Mapping[str, Allocation], method: str, random_error: float) -> dict:
    """Return the rows of `place_value`: as in `allocation`, and the standard error of the total per method."""
    plan, wish = _chosen(plans, method), wished(plans["voila"])
    size = plan.stratum_size
    shares = _budget(plans) * size / size.sum() if method == "random" else plan.labeled
    rows = [{"stratum": name, "size": int(n), "labeled": float(labels), "neyman": float(want)}
            for name, n, labels, want in zip(PLACES, size, shares, wish, strict=True)]
    errors = _total_errors(plans, random_error)
    return allocation_data(rows) | {"errors": [
        {"method": METHODS[name], "error": error, "text": f"{error:,.0f}",
         "kind": "shown above" if name == method else "other"} for name, error in errors.items()]}




def wished(plan: Allocation) -> np.ndarray:
    """Return what Neyman's allocation would label without regard to sizes, M N_h S_h / sum N_h S_h."""
    spread = plan.stratum_size * plan.stratum_sd
    return (plan.labeled.sum() + plan.unused) * spread / spread.sum()


def _chosen(plans, method):
    return plans["voila" if method == "random" else method]


def _budget(plans):
    return int(plans["voila"].labeled.sum() + plans["voila"].unused)


def _total_errors(plans, random_error):
    """Return the standard error of the total per method."""
    items = int(plans["voila"].stratum_size.sum())
    return {"random": random_error, **{name: items * math.sqrt(plan.variance) for name, plan in plans.items()}}


def place_value_words(plans: Mapping[str, Allocation], method: str, random_error: float) -> tuple[str, str]:
    """Return title and text alternative of `place_value`."""
    budget, errors = _budget(plans), _total_errors(plans, random_error)
    wish, size, unused = wished(plans["voila"]), plans["voila"].stratum_size, plans["neyman"].unused
    digits = 0 if unused >= 1 else 1
    beyond = " and ".join(f"{want:.{digits}f} of the {n} {name}" for name, n, want in
                          zip(PLACES, size, wish, strict=True) if want > n)
    wants = f"Neyman wants {beyond} and leaves {_labels(f'{unused:.{digits}f}')} unused" if beyond else \
        "Neyman wants no more of any place than there is"
    beaten = "; equal shares beat it" if errors["equal"] < errors["neyman"] else ""
    table = ", ".join(f"{METHODS[name]} {error:,.0f}" for name, error in errors.items())
    plan = _chosen(plans, method)
    shares = budget * size / size.sum() if method == "random" else plan.labeled
    given = ", ".join(f"{_count(n)} of {total:,} {name}" for name, n, total in
                      zip(PLACES, shares, size, strict=True))
    return (f"{_labels(budget)}: {_verdict(method, errors, wants + beaten if beyond else '')}",
            f"Labels by {METHODS[method]}: {given}. {wants}{beaten}. Standard error of the register total: {table}.")


def _verdict(method, errors, wants):
    if method == "neyman":
        return wants or "no place is exhausted, Neyman is VOILA but for rounding"
    here, other = errors[method], errors["neyman"]
    change = here / other - 1
    against = f"level with capped Neyman's {other:,.0f}" if abs(change) < 0.005 else \
        f"{abs(change):.0%} {'below' if change < 0 else 'above'} capped Neyman's" if here < 2 * other else \
        f"{here / other:.1f} times capped Neyman's"
    return f"SE {here:,.0f} by {METHODS[method]}, {against}"


def place_value(plans: Mapping[str, Allocation], method: str, random_error: float) -> alt.TopLevelMixin:
    """Return the labels of each place against how many there are, and the standard error of the register total.

    Parameters
    ----------
    plans : dict of str to workbench.Allocation
        "equal", "neyman", "neyman_plus", "voila" of the four places, with the same budget.
    method : str
        One of these, or "random": the one whose labels are shown.
    random_error : float
        Standard error of the total, of a simple random sample.
    """
    data = place_value_data(plans, method, random_error)
    base = alt.Chart(theme.rows("errors", data["errors"])).encode(
        y=alt.Y("method:N", sort=None, title=None), x=alt.X(
            "error:Q", title="standard error of the register total (log scale)", scale=alt.Scale(type="log"),
            axis=alt.Axis(format=",d", values=[m * t for t in TENS for m in (1, 3)], labelOverlap=True)))
    dots = base.mark_circle(size=120).encode(color=alt.Color("kind:N", legend=None, scale=theme.scale(
        {"shown above": theme.STRATIFIED, "other": theme.GRAY})))
    texts = base.mark_text(align="left", dx=10).encode(text="text:N")
    width = theme.WIDTH - 130
    both = alt.vconcat(_allocation(data, None).properties(width=width, height=150),
                       (dots + texts).properties(width=width, height=120)).resolve_scale(color="independent")
    return theme.finish(both, *place_value_words(plans, method, random_error), width=None, height=None)


# one label at a time

def next_label_data(best: Allocation, labeled: np.ndarray) -> dict:
    """Return the rows of `next_label`: priorities, labels so far, sizes within reach.

    `best` is the optimum for the whole budget, `labeled` what has been given so far.
    """
    worth, budget = priorities(best.stratum_size, best.stratum_sd, labeled), int(best.labeled.sum())
    chosen = int(worth.argmax()) if labeled.sum() < budget else -1
    rows = [{"place": name, "priority": float(p), "labels": int(k), "text": f"{p:,.0f}" if k < n else "all labeled",
             "count": f"{k} of {n:,}", "best": int(b), "turn": "gets the next label" if h == chosen else "waits"}
            for h, (name, p, k, n, b) in enumerate(zip(PLACES, worth, labeled, best.stratum_size, best.labeled,
                                                       strict=True))]
    return {"places": rows}


def next_label_words(best: Allocation, labeled: np.ndarray) -> tuple[str, str]:
    """Return title and text alternative of `next_label`."""
    budget, given = int(best.labeled.sum()), int(labeled.sum())
    worth = priorities(best.stratum_size, best.stratum_sd, labeled)
    shares, optimum = (" + ".join(map(str, counts)) for counts in (labeled.tolist(), best.labeled.tolist()))
    error = best.stratum_size.sum() * math.sqrt(allocation_variance(best.stratum_size, best.stratum_sd, labeled))
    table = ", ".join(f"{name} {p:,.0f}" if p else f"{name} none left" for name, p in zip(PLACES, worth, strict=True))
    state = f"Given so far: {shares}. Priorities of the next label: {table}. Standard error of the total {error:,.0f}."
    if given < budget:
        h = int(worth.argmax())
        return (f"Label {given + 1} of {budget} goes to the {PLACES[h]}, where it is worth most",
                f"{state} The optimum of {budget} labels is {optimum}.")
    same = "exactly the optimum" if shares == optimum else f"but the optimum is {optimum}"
    return f"All {budget} labels are given: {shares}, {same}", f"{state} Greedy: {shares}; the optimum: {optimum}."


def next_label(best: Allocation, labeled: np.ndarray) -> alt.TopLevelMixin:
    """Return the priority of each place for the next label, and the labels it has so far.

    Parameters
    ----------
    best : workbench.Allocation
        The optimum of the whole budget, of the four places.
    labeled : (4,) array of int
        Labels given so far.
    """
    data = next_label_data(best, labeled)
    places = alt.Chart(theme.rows("places", data["places"])).encode(y=alt.Y("place:N", sort=None, title=None))
    turn = alt.Color("turn:N", title=None, scale=theme.scale(TURN))
    worth = places.encode(x=alt.X("priority:Q", title="priority, N S / √(k (k + 1))",
                                  axis=alt.Axis(format=",d", tickCount=4)))
    bars = worth.mark_bar(height={"band": 0.6}).encode(color=turn)
    texts = worth.mark_text(align="left", dx=6).encode(text="text:N")
    labels = places.encode(y=alt.Y("place:N", sort=None, title=None, axis=None))
    counts = labels.encode(x=alt.X("labels:Q", title="labels so far, k (tick: the optimum)", axis=COUNT_AXIS))
    bars_so_far = counts.mark_bar(height={"band": 0.6}, color=theme.LABELED)
    optimum = labels.mark_tick(orient="vertical", thickness=3, height={"band": 0.9}, color=theme.GRAY).encode(
        x="best:Q")
    count_texts = labels.mark_text(align="left", dx=8).encode(x="end:Q", text="count:N").transform_calculate(
        end="max(datum.labels, datum.best)")
    both = alt.hconcat((bars + texts).properties(width=240, height=150),
                       (bars_so_far + optimum + count_texts).properties(width=200, height=150), spacing=70)
    return theme.finish(both, *next_label_words(best, labeled), width=None, height=None)


# a stream, one run

def stream_data(study: StreamStudy, method: str, seen: int, names: Sequence[str]) -> dict:
    """Return the rows of `stream`: sample sizes, variance over VOILA's, infinite ones; up to `seen` records."""
    known = study.checkpoint <= seen
    at = study.checkpoint[known].tolist()
    ratio, infinite = study.ratio(method), study.infinite(method)
    top = _top(ratio)
    areas = [{"records": records, "stratum": names[h], "order": -h, "sampled": float(s)}
             for records, held in zip(at, study.sampled[method][0][known], strict=True) for h, s in enumerate(held)]
    return {"areas": areas, "budget": [{"budget": study.budget}],
            "ratios": [{"records": records, "ratio": float(r) if np.isfinite(r) else None}
                       for records, r in zip(at, ratio[known], strict=True)],
            "infinite": [{"records": records, "ratio": top} for records, share in zip(at, infinite[known], strict=True)
                         if share],
            "frame": [{"ratio": 1.0, "name": "VOILA"}, {"ratio": top, "name": "infinite"}],
            "now": [{"records": at[-1]}]}


def _top(ratio):
    """Return where infinity is drawn: above the power of ten that no finite ratio exceeds."""
    finite = ratio[np.isfinite(ratio)]
    return 3.0 * 10.0 ** max(1, math.ceil(math.log10(finite.max()))) if finite.size else 30.0


def stream_words(study: StreamStudy, method: str, seen: int, names: Sequence[str]) -> tuple[str, str]:
    """Return title and text alternative of `stream`."""
    known = study.checkpoint <= seen
    ratio, infinite = study.ratio(method)[known], study.infinite(method)[known]
    finite = ratio[np.isfinite(ratio)]
    share, last = np.count_nonzero(infinite), "infinite" if infinite[-1] else f"{_times(ratio[-1])} VOILA's"
    checkpoints = checks.counted(infinite.size, "checkpoint")
    records = checks.counted(study.checkpoint[known][-1], "record")
    verdict = f"variance infinite at {share} of {checkpoints} ({share / infinite.size:.0%})" if share \
        else f"never infinite, variance at most {_times(finite.max())} VOILA's" if finite.max() >= 1.005 \
        else "variance as small as VOILA's so far"
    rule = STREAMED[method] if method == "s_voila_printed" else f"{STREAMED[method]}, {study.minimum} of each kept"
    held = ", ".join(f"{s:.0f} of {n:,} {names[h]}" for h, (s, n) in enumerate(
        zip(study.sampled[method][0][known][-1], study.stratum_size[0][known][-1], strict=True)))
    best = " + ".join(f"{s:.0f}" for s in study.sampled["voila"][0][known][-1])
    return (f"{rule}: {verdict}",
            f"After {records} the sample of {study.budget} holds {held}; VOILA with hindsight {best}. Variance now: "
            f"{last}. Of {checkpoints} {share} had an infinite variance; the largest finite variance is "
            f"{_times(finite.max())} VOILA's.")


def _times(ratio):
    return f"{ratio:,.0f} times" if ratio >= 100 else f"{ratio:.3g} times"


def stream(study: StreamStudy, method: str, seen: int, names: Sequence[str]) -> alt.TopLevelMixin:
    """Return the sample sizes of a streamed method over one stream, and its variance over VOILA's.

    Parameters
    ----------
    study : workbench.simulations.allocation.StreamStudy
        Of one run.
    method : str
        "s_voila" or "s_voila_printed".
    seen : int
        Records up to which the stream is drawn, at least the first checkpoint.
    names : sequence of str
        Of the strata.
    """
    data, colors = stream_data(study, method, seen, names), dict(zip(names, STRATUM_COLORS, strict=False))
    across = alt.X("records:Q", title="records seen", axis=alt.Axis(format=",d", tickCount=8),
                   scale=alt.Scale(domain=[0, int(study.checkpoint[-1])], nice=False))
    areas = alt.Chart(theme.rows("areas", data["areas"])).mark_area().encode(
        x=across, y=alt.Y("sampled:Q", stack="zero", title="records in the sample"), order="order:Q",
        color=alt.Color("stratum:N", title=None, sort=list(names), scale=theme.scale(colors)))
    budget = alt.Chart(theme.rows("budget", data["budget"])).mark_rule(style="truth").encode(y="budget:Q")
    now = alt.Chart(theme.rows("now", data["now"])).mark_rule(strokeWidth=1).encode(x=across)
    up = alt.Y("ratio:Q", title="variance / VOILA's (log scale)", axis=alt.Axis(values=TENS, format=",d"),
               scale=alt.Scale(type="log", nice=False))
    line = alt.Chart(theme.rows("ratios", data["ratios"])).mark_line(point={"size": 14}).encode(
        x=across, y=up, color=alt.value(theme.STRATIFIED))
    marks = alt.Chart(theme.rows("infinite", data["infinite"])).mark_square(size=30).encode(
        x=across, y=up, color=alt.value(theme.MISS))
    frame = alt.Chart(theme.rows("frame", data["frame"]))
    limits = frame.mark_rule(strokeDash=[3, 3], color=theme.GRAY).encode(y=up)
    labels = frame.mark_text(align="left", dx=6, x="width", style="note").encode(y=up, text="name:N")
    width = theme.WIDTH - 60
    both = alt.vconcat((areas + budget + now).properties(width=width, height=170),
                       (limits + line + marks + labels).properties(width=width, height=150))
    return theme.finish(both, *stream_words(study, method, seen, names), width=None, height=None)


# streams of many strata, averaged

def jump_data(study: StreamStudy, stratum: int | str, methods: Sequence[str]) -> dict[str, list[dict]]:
    """Return the rows of `jump`: mean sample size of a stratum, mean variance, one row per checkpoint and method."""
    h = study.stratum.index(stratum)
    shown = [name for name in STREAMED if name in methods]
    sizes = [{"records": int(records), "method": STREAMED[name], "sampled": float(s)}
             for name in shown for held in [study.sampled[name][..., h].mean(0)]
             for records, s in zip(study.checkpoint, held, strict=True)]
    variances = [{"records": int(records), "method": STREAMED[name],
                  "variance": float(v) if 0 < v < np.inf else None}
                 for name in shown for records, v in zip(study.checkpoint, study.variance[name].mean(0), strict=True)]
    return {"sizes": sizes, "variances": variances}


def jump_words(study: StreamStudy, stratum: int | str, methods: Sequence[str]) -> tuple[str, str]:
    """Return title and text alternative of `jump`."""
    h = study.stratum.index(stratum)
    shown = [name for name in STREAMED if name in methods]
    ends = ", ".join(f"{STREAMED[name]} {_ratio_text(study, name)}" for name in shown if name != "voila")
    told = [f"{STREAMED[name]} holds {study.sampled[name][:, -1, h].mean():.0f}{_worst(study, name)}" for name in shown]
    runs = "one stream" if study.runs == 1 else f"mean of {study.runs} streams"
    records, kept = checks.counted(study.checkpoint[-1], "record"), checks.counted(study.budget, "record")
    strata = checks.counted(len(study.stratum), "stratum", "strata")
    return (f"Variance after {records}, VOILA's = 1: {ends}" if ends else
            f"VOILA with hindsight: {study.sampled['voila'][:, -1, h].mean():.0f} of {kept} are of stratum {h + 1}",
            f"{strata}, {kept} kept, {runs}; Neyman and Neyman+ in real numbers, against VOILA in real numbers. Of "
            f"stratum {h + 1}, at the end: {'; '.join(told)}.")


def _ratio_text(study, name):
    ratio, infinite = study.ratio(name)[-1], study.infinite(name)[-1]
    return "infinite" if infinite == 1 else f"{ratio:.2f}" + (f" (infinite in {infinite:.0%})" if infinite else "")


def _worst(study, name):
    if name == "voila":
        return ""
    ratio, infinite = study.ratio(name), study.infinite(name).mean()
    finite = np.where(np.isfinite(ratio), ratio, 0)
    records = checks.counted(study.checkpoint[finite.argmax()], "record")
    worst = f", at worst {finite.max():.2f} times VOILA's variance, at {records}"
    return worst + (f", infinite at {infinite:.0%} of checkpoints" if infinite else "")


def jump(study: StreamStudy, stratum: int | str, methods: Sequence[str], *,
         jump_at: int | None = None) -> alt.TopLevelMixin:
    """Return what each method holds of one stratum over a stream, and its variance.

    Parameters
    ----------
    study : workbench.simulations.allocation.StreamStudy
    stratum : int or str
        The one whose spread jumps.
    methods : iterable of str
        Those of the study that are drawn.
    jump_at : int, optional
        Records before the jump, marked.
    """
    data, named = jump_data(study, stratum, methods), [STREAMED[name] for name in STREAMED if name in study.methods]
    colors = theme.scale({name: STREAM_COLORS[name] for name in named})
    dashes = alt.Scale(domain=named, range=[STREAM_DASHES[name] for name in named])
    across = alt.X("records:Q", title="records seen", axis=alt.Axis(format=",d", tickCount=8),
                   scale=alt.Scale(domain=[0, int(study.checkpoint[-1])], nice=False))
    look = {"color": alt.Color("method:N", title=None, sort=named, scale=colors, legend=alt.Legend(
                symbolType="stroke", symbolStrokeWidth=3, symbolSize=300, columns=4)),
            "strokeDash": alt.StrokeDash("method:N", title=None, sort=named, scale=dashes),
            "strokeWidth": alt.condition("datum.method == 'VOILA'", alt.value(5), alt.value(2))}
    upper = alt.Chart(theme.rows("sizes", data["sizes"])).mark_line().encode(
        x=across, y=alt.Y("sampled:Q", title=f"of stratum {study.stratum.index(stratum) + 1} in the sample"), **look)
    lower = alt.Chart(theme.rows("variances", data["variances"])).mark_line().encode(x=across, y=alt.Y(
        "variance:Q", title="variance of the mean (log scale)", scale=alt.Scale(type="log", nice=False), axis=alt.Axis(
            format="~g", values=[m / t for t in TENS for m in (1, 2, 5)] + TENS[1:])), **look)
    jumps = alt.Chart(theme.rows("jumps", [] if jump_at is None else [{"records": jump_at}])).mark_rule(
        style="truth").encode(x=across)
    both = alt.vconcat((upper + jumps).properties(width=theme.WIDTH - 40, height=170),
                       (lower + jumps).properties(width=theme.WIDTH - 40, height=170))
    return theme.finish(both, *jump_words(study, stratum, methods), width=None, height=None)


def _count(labels):
    """Return whole labels as such, others at one digit.

    Examples
    --------
    >>> _count(1037), _count(10.14), _count(2.0)
    ('1,037', '10.1', '2')
    """
    return f"{labels:,.0f}" if abs(labels - round(labels)) < 0.05 else f"{labels:,.1f}"


def _labels(count):
    """Return labels, counted or as text, with their noun.

    Examples
    --------
    >>> _labels(1), _labels("10.1")
    ('1 label', '10.1 labels')
    """
    return f"{count} {'label' if str(count) == '1' else 'labels'}"

