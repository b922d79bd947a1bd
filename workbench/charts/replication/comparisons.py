"""A chart of the metrics of several models, with their differences next to them."""

import functools
import textwrap
from collections import Counter
from typing import Any

import altair as alt

from workbench import checks
from workbench.charts import theme
from workbench.charts.replication.words import row_name
from workbench.charts.theme import CATEGORY, LABELS, Figure, across, chart, truth
from workbench.replication.paired import MetricComparison
from workbench.replication.statistics import METRICS, RANGES
from workbench.results import digits, percent

MOST_METRICS = 24
MOST_MODELS = len(CATEGORY)
UNDECIDED = "undecided"
WIDTH = 235  # pixels of a panel
LINE, GAP, LEAST = 13, 12, 60  # pixels per model, between metrics, and at least per panel
LETTERS = 34  # letters of an axis title below a panel
LONGEST_NAME = 24
LONGEST_LEGEND, COLUMNS = 70, 3  # most letters in one line of a legend, else columns
LETTER = 7  # pixels


def differences(comparison: MetricComparison, *, most: int | None = None) -> Figure:
    """Return metrics of several models with their intervals, and the differences next to them.

    The chart has a panel for the metrics of each scale. For two models, the difference is the first
    minus the second. For more models, it is each model minus the best one of the metric.
    Differences of percentages are in percentage points.

    Parameters
    ----------
    comparison : workbench.MetricComparison
        The comparison. The chart shows its metrics of all items, not those of groups.
    most : int, optional
        Largest number of metrics shown; all have the scale of the first. By default 24 metrics of
        any scale.
    """
    pairs, estimates, ranks = (
        _by_metric(rows) for rows in (comparison.rows(), comparison.models(), comparison.ranks())
    )
    keys = _first_metrics(list(pairs), most)
    scales = list(dict.fromkeys(_scale_of(metric) for metric, _ in keys))
    models = [row["model"] for row in next(iter(ranks.values()))][:MOST_MODELS]
    names, texts = _short_names(comparison.names), []
    data: dict[str, list[dict]] = {}
    for k in range(len(scales)):
        data |= {f"models {k}": [], f"differences {k}": [], f"zero {k}": [{"zero": 0}]}
    for key in keys:
        k, name = scales.index(_scale_of(key[0])), row_name(pairs[key][0])
        for row in estimates[key]:
            if row["model"] in models:
                values = {field: row[field] for field in ("estimate", "low", "high")}
                labels = {"name": name, "model": names[row["model"]]}
                data[f"models {k}"].append(labels | values)
        for row in _differences(pairs[key], ranks[key]):
            if row["model"] in models:
                labels = {"name": name, "model": names[row["model"]]}
                color = names.get(row["color"], UNDECIDED)
                data[f"differences {k}"].append(row | labels | {"color": color})
        texts.append(f"{name}: {', '.join(_metric_texts(comparison, estimates[key], pairs[key]))}")
    cut = ""
    if len(pairs) > len(keys):
        cut = f" ({len(keys)} of {len(pairs)} metrics shown)"
    if len(names) > MOST_MODELS:
        cut += f" ({MOST_MODELS} of {len(names)} models shown)"
    metrics = [next(metric for metric, _ in keys if _scale_of(metric) == scale) for scale in scales]
    order = [names[name] for name in comparison.names if name in models]
    alternative = (
        f"Metrics of {checks.listed(comparison.names)} with {percent(comparison.level)} intervals, "
        f"and their differences{cut}. {'; '.join(texts)}."
    )
    draw = functools.partial(_draw, metrics=metrics, order=order)
    title = _title(pairs, ranks) + cut
    return Figure(data, title, alternative, draw, width=None, height=None)


def _by_metric(rows: list[dict]) -> dict[tuple, list[dict]]:
    """Return the rows about all items by their metric and class."""
    groups: dict[tuple, list[dict]] = {}
    for row in rows:
        if row.get("group") is None:
            groups.setdefault((row["metric"], row.get("label")), []).append(row)
    return groups


def _first_metrics(keys: list[tuple], most: int | None) -> list[tuple]:
    """Return the pairs of metric and class that the chart shows."""
    if most is None:
        return keys[:MOST_METRICS]
    scale = _scale_of(keys[0][0])
    return [key for key in keys if _scale_of(key[0]) == scale][: max(1, most)]


def _scale_of(metric: str) -> str:
    """Return a name for the axis of a metric: metrics with the same ends share one."""
    entry = METRICS[metric]
    if entry.lower_is_better:
        return "error" if entry.is_share else metric
    ends = RANGES[entry.kind]
    if entry.is_share or ends == RANGES["correlation"]:
        return str(ends)
    return metric


def _short_names(names: tuple) -> dict[str, str]:
    """Return short names, long ones without their middle, unless two would be the same."""
    half = LONGEST_NAME // 2
    short = {
        name: name if len(name) <= LONGEST_NAME else f"{name[:half]}…{name[-half:]}"
        for name in names
    }
    return short if len({*short.values()}) == len(short) else {name: name for name in names}


def _winner(ranks: list[dict]) -> str | None:
    """Return the model that is shown to be better than every other by a metric."""
    return ranks[0]["model"] if ranks[0]["worst_rank"] == 1 else None


def _differences(pairs: list[dict], ranks: list[dict]) -> list[dict]:
    """Return one row per difference shown, with the model that gives its line and color."""
    unit = 100 if METRICS[pairs[0]["metric"]].is_share else 1
    best = ranks[0]["model"]
    rows = []
    for pair in pairs:
        low, difference, high = (unit * pair[name] for name in ("low", "difference", "high"))
        model = color = pair["first"]
        if len(ranks) == 2:
            color = _winner(ranks)
        elif model == best:
            model = color = pair["second"]
            low, difference, high = -high, -difference, -low
        elif pair["second"] != best:
            continue
        row = {"difference": difference, "low": low, "high": high}
        rows.append(row | {"model": model, "color": color})
    if len(ranks) > 2:
        zeros = dict.fromkeys(("difference", "low", "high"), 0.0)
        rows.append(zeros | {"model": best, "color": best})
    return rows


def _metric_texts(
    comparison: MetricComparison, estimates: list[dict], pairs: list[dict]
) -> list[str]:
    """Return a metric of every model, and the differences, as texts."""
    is_share = METRICS[pairs[0]["metric"]].is_share
    form, texts = digits.percents if is_share else digits.numbers, []
    for row in estimates:
        values = (row["estimate"], row["low"], row["high"])
        estimate, low, high = form(*values, error=(row["high"] - row["low"]) / 2)
        texts.append(f"{row['model']} {estimate} ({low} to {high})")
    for row in pairs:
        cells = comparison.cells(row)
        interval = cells[f"{percent(comparison.level)} interval"]
        texts.append(f"{cells['models']} {cells['difference']} ({interval})")
    return texts


def _title(pairs: dict[tuple, list[dict]], ranks: dict[tuple, list[dict]]) -> str:
    """Return the title: the number of metrics by which a model is better than all rivals."""
    winners = Counter(filter(None, map(_winner, ranks.values())))
    better = "better" if all(len(rows) == 2 for rows in ranks.values()) else "best"
    if not winners:
        return f"No metric shows which model is {better}"
    metrics = checks.counted(len(pairs), "metric")
    (first, count), *rivals = winners.most_common()
    if rivals:
        rest = ", ".join(f"{name} by {number}" for name, number in rivals)
        return f"{first} is {better} by {count} and {rest} of {metrics}"
    if len(pairs) == 1:
        (rows,) = pairs.values()
        return f"{first} is {better} by {row_name(rows[0])}"
    every = "all " if count == len(pairs) else f"{count} of "
    return f"{first} is {better} by {every}{metrics}"


def _draw(data: dict, metrics: list[str], order: list[str]) -> Any:
    """Return a row of two panels for the metrics on each scale, named by the first of them."""
    colors = dict(zip(order, CATEGORY, strict=False))
    panels = [(data[f"models {k}"], data[f"differences {k}"]) for k in range(len(metrics))]
    if any(row["color"] == UNDECIDED for _, rows in panels for row in rows):
        colors[UNDECIDED] = theme.GRAY
    legend = alt.Legend()
    if len("".join(colors)) > LONGEST_LEGEND:
        legend = alt.Legend(columns=COLUMNS)
    lines = alt.YOffset("model:N", sort=order)
    longest = max(len(row["name"]) for _, rows in panels for row in rows)
    extent, views = min(LABELS, LETTER * longest), []
    for k, (rows, _) in enumerate(panels):
        metric = METRICS[metrics[k]]
        names = list(dict.fromkeys(row["name"] for row in rows))
        y = theme.names("name", names, labelLimit=LABELS, minExtent=extent)
        color = theme.color("model", colors, legend=legend)
        models = chart(data, f"models {k}").encode(y=y, yOffset=lines, color=color)
        title = "each model separately" + ("; lower is better" if metric.lower_is_better else "")
        axis = {"format": theme.PERCENT} if metric.is_share else {}
        pair = [_intervals(models, "estimate", title, axis)]
        color = theme.color("color", colors, legend=legend)
        differences = chart(data, f"differences {k}").encode(y=y, color=color)
        title = f"{order[0]} minus {order[-1]}"
        if len(order) > 2:
            title = "minus the best model of each metric"
            differences = differences.encode(yOffset=lines)
        if metric.is_share:
            title += ", percentage points"
        zero = truth(data, f"zero {k}", x="zero:Q")
        pair.append(zero + _intervals(differences, "difference", title, {}))
        size = {"width": WIDTH, "height": max(LEAST, (LINE * len(order) + GAP) * len(names))}
        views.append(alt.hconcat(*(view.properties(**size) for view in pair), spacing=14))
    return views[0] if len(views) == 1 else alt.vconcat(*views, spacing=14)


def _intervals(base: alt.Chart, value: str, title: str, axis: dict) -> Any:
    """Return a line from low to high, and a point at the value."""
    scale = {"zero": False, "nice": False, "padding": 8}
    x = across("low", textwrap.wrap(title, LETTERS), scale=scale, tickCount=5, **axis)
    points = base.mark_point(filled=True, size=60, opacity=1)
    return base.mark_rule(strokeWidth=3).encode(x=x, x2="high:Q") + points.encode(x=f"{value}:Q")
