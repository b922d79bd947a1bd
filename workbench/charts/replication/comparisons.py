"""A chart of the metrics of several models, with their differences next to them."""

import textwrap
from collections import Counter

import altair as alt

from workbench import checks
from workbench.charts import theme
from workbench.charts.replication.words import row_name
from workbench.replication.paired import MetricComparison
from workbench.replication.statistics import METRICS, RANGES
from workbench.results import digits, percent

SHOWN_METRICS = 24
SHOWN_MODELS = len(theme.CATEGORY)
UNDECIDED = "undecided"
WIDTH = 235  # pixels of a panel
LINE, GAP, LEAST = 13, 12, 60  # pixels per model, between metrics, and at least per panel
LETTERS = 34  # letters of an axis title below a panel
LONGEST_NAME = 24
LONGEST_LEGEND, COLUMNS = 70, 3  # most letters in one line of a legend, else columns
LETTER = 7  # pixels


def differences_data(comparison: MetricComparison, most: int | None = None) -> list[dict]:
    """Return the panels of `differences`: metrics of one scale, with the rows of their models.

    For two models, the difference is the first minus the second. For more models, it is each model
    minus the best one of the metric. Differences of percentages are in percentage points.
    """
    panels: dict[str, dict] = {}
    names = _short_names(comparison.names)
    shown_models = _shown_models(comparison)
    of_models = comparison.models()
    for key in _drawn_metrics(comparison, most):
        panel = panels.setdefault(
            _scale_of(key[0]), {"metric": key[0], "models": [], "differences": []}
        )
        for row in of_models:
            if _key(row) == key and row["model"] in shown_models:
                values = {name: row[name] for name in ("estimate", "low", "high")}
                panel["models"].append(_named(row, names[row["model"]]) | values)
        for row in _differences(comparison, key):
            if row["model"] in shown_models:
                color = names.get(row["color"], UNDECIDED)
                values = {name: row[name] for name in ("difference", "low", "high")}
                panel["differences"].append(
                    _named(row, names[row["model"]]) | values | {"color": color}
                )
    return list(panels.values())


def differences_words(comparison: MetricComparison, most: int | None = None) -> tuple[str, str]:
    """Return the title and the text alternative of `differences`."""
    keys = _metrics(comparison)
    drawn = _drawn_metrics(comparison, most)
    cut = f" ({len(drawn)} of {len(keys)} metrics shown)" if len(keys) > len(drawn) else ""
    models = len(comparison.names)
    if models > SHOWN_MODELS:
        cut += f" ({SHOWN_MODELS} of {models} models shown)"
    level = percent(comparison.level)
    of_models = comparison.models()
    texts = "; ".join(_metric_words(comparison, of_models, key) for key in drawn)
    return (
        _title(comparison, keys) + cut,
        f"Metrics of {checks.listed(comparison.names)} with {level} intervals, and their "
        f"differences{cut}. {texts}.",
    )


def differences(comparison: MetricComparison, *, most: int | None = None) -> alt.TopLevelMixin:
    """Return metrics of several models with their intervals, and the differences next to them.

    Parameters
    ----------
    comparison : workbench.MetricComparison
        The comparison. The chart shows its metrics of all items, not those of groups.
    most : int, optional
        Largest number of metrics shown; all have the scale of the first. By default 24 metrics of
        any scale.
    """
    short_names = _short_names(comparison.names)
    shown_models = _shown_models(comparison)
    names = [short_names[name] for name in comparison.names if name in shown_models]
    colors = dict(zip(names, theme.CATEGORY, strict=False))
    panels = differences_data(comparison, most)
    rows = [row for panel in panels for row in panel["differences"]]
    if any(row["color"] == UNDECIDED for row in rows):
        colors[UNDECIDED] = theme.GRAY
    longest = max(len(row["name"]) for row in rows)
    axis = alt.Axis(labelLimit=theme.LABELS, minExtent=min(theme.LABELS, LETTER * longest))
    views = []
    for place, panel in enumerate(panels):
        order = list(dict.fromkeys(row["name"] for row in panel["models"]))
        y = alt.Y("name:N", sort=order, title=None, axis=axis)
        views.append(_panels(place, panel, names, colors, y))
    chart = views[0] if len(views) == 1 else alt.vconcat(*views, spacing=14)
    return theme.finish(chart, *differences_words(comparison, most), width=None, height=None)


def _panels(
    place: int, panel: dict, names: list[str], colors: dict[str, str], y: alt.Y
) -> alt.HConcatChart:
    """Return the panels of estimates and of differences, for metrics on the same scale."""
    metric = METRICS[panel["metric"]]
    metrics = {row["name"] for row in panel["models"]}
    height = max(LEAST, (LINE * len(names) + GAP) * len(metrics))
    legend = alt.Legend()
    if len("".join(colors)) > LONGEST_LEGEND:
        legend = alt.Legend(columns=COLUMNS)
    lines = alt.YOffset("model:N", sort=names)
    base = theme.chart({f"models {place}": panel["models"]}, f"models {place}")
    left = _intervals(
        base.encode(y=y, yOffset=lines, color=theme.color("model", colors, legend=legend)),
        "estimate",
        "each model separately" + ("; lower is better" if metric.lower_is_better else ""),
        theme.percents(tickCount=5) if metric.is_share else alt.Axis(tickCount=5),
    )
    title = (
        f"{names[0]} minus {names[1]}" if len(names) == 2 else "minus the best model of each metric"
    )
    if metric.is_share:
        title += ", percentage points"
    base = theme.chart({f"differences {place}": panel["differences"]}, f"differences {place}")
    colored = base.encode(y=y, color=theme.color("color", colors, legend=legend))
    if len(names) > 2:
        colored = colored.encode(yOffset=lines)
    right = _intervals(colored, "difference", title, alt.Axis(tickCount=5))
    zero = theme.Chart(theme.rows(f"zero {place}", [{"zero": 0}])).mark_rule(style="truth")
    views = (left, zero.encode(x="zero:Q") + right)
    return alt.hconcat(*(view.properties(width=WIDTH, height=height) for view in views), spacing=14)


def _intervals(base: alt.Chart, value: str, title: str, axis: alt.Axis) -> alt.LayerChart:
    """Return a line from low to high, and a point at the value."""
    x = alt.X(
        "low:Q",
        title=textwrap.wrap(title, LETTERS),
        scale=alt.Scale(zero=False, nice=False, padding=8),
        axis=axis,
    )
    rules = base.mark_rule(strokeWidth=3).encode(x=x, x2="high:Q")
    points = base.mark_point(filled=True, size=60, opacity=1).encode(x=f"{value}:Q")
    return rules + points


def _metrics(comparison: MetricComparison) -> list[tuple]:
    """Return pairs of metric and class that are compared among all items."""
    rows = [row for row in comparison.rows() if row.get("group") is None]
    return list(dict.fromkeys(map(_key, rows)))


def _drawn_metrics(comparison: MetricComparison, most: int | None) -> list[tuple]:
    """Return the pairs of metric and class that the chart shows."""
    keys = _metrics(comparison)
    if most is None:
        return keys[:SHOWN_METRICS]
    scale = _scale_of(keys[0][0])
    return [key for key in keys if _scale_of(key[0]) == scale][: max(1, most)]


def _key(row: dict) -> tuple | None:
    """Return the metric and the class of a row, or None if the row is about a group."""
    return (row["metric"], row.get("label")) if row.get("group") is None else None


def _scale_of(metric: str) -> str:
    """Return a name for the axis of a metric: metrics with the same ends share one."""
    entry = METRICS[metric]
    if entry.lower_is_better:
        return "error" if entry.is_share else metric
    ends = RANGES[entry.kind]
    if entry.is_share or ends == RANGES["correlation"]:
        return str(ends)
    return metric


def _shown_models(comparison: MetricComparison) -> list[str]:
    """Return the models that the chart shows: if there are many, the best by the first metric."""
    return [row["model"] for row in _ranked(comparison, _metrics(comparison)[0])][:SHOWN_MODELS]


def _ranked(comparison: MetricComparison, key: tuple) -> list[dict]:
    """Return the ranks of the models by a metric, the best first."""
    return [row for row in comparison.ranks() if _key(row) == key]


def _winner(comparison: MetricComparison, key: tuple) -> str | None:
    """Return the model that is shown to be better than every other by a metric."""
    best = _ranked(comparison, key)[0]
    return best["model"] if best["worst_rank"] == 1 else None


def _differences(comparison: MetricComparison, key: tuple) -> list[dict]:
    """Return one row per difference shown, with the model that gives its line and color."""
    unit = 100 if METRICS[key[0]].is_share else 1
    pairs = [row for row in comparison.rows() if _key(row) == key]
    if len(comparison.names) == 2:
        (row,) = pairs
        values = {name: unit * row[name] for name in ("difference", "low", "high")}
        return [row | values | {"model": row["first"], "color": _winner(comparison, key)}]
    best = _ranked(comparison, key)[0]["model"]
    drawn = []
    for row in pairs:
        if row["second"] == best:
            model = row["first"]
            low, middle, high = row["low"], row["difference"], row["high"]
        elif row["first"] == best:
            model = row["second"]
            low, middle, high = -row["high"], -row["difference"], -row["low"]
        else:
            continue
        values = {"difference": unit * middle, "low": unit * low, "high": unit * high}
        drawn.append(row | values | {"model": model, "color": model})
    zeros = dict.fromkeys(("difference", "low", "high"), 0.0)
    return [*drawn, pairs[0] | zeros | {"model": best, "color": best}]


def _named(row: dict, model: str) -> dict:
    return {"name": row_name(row), "model": model}


def _metric_words(comparison: MetricComparison, of_models: list[dict], key: tuple) -> str:
    """Return the metric of every model, and the differences, as text."""
    texts = []
    for row in of_models:
        if _key(row) == key:
            values = (row["estimate"], row["low"], row["high"])
            written = digits.percents if METRICS[key[0]].is_share else digits.numbers
            estimate, low, high = written(*values, error=(row["high"] - row["low"]) / 2)
            texts.append(f"{row['model']} {estimate} ({low} to {high})")
    for row in comparison.rows():
        if _key(row) == key:
            cells = comparison.cells(row)
            interval = cells[f"{percent(comparison.level)} interval"]
            texts.append(f"{cells['models']} {cells['difference']} ({interval})")
    title = row_name({"metric": key[0], "label": key[1]})
    return f"{title}: {', '.join(texts)}"


def _title(comparison: MetricComparison, keys: list[tuple]) -> str:
    """Return the title: the number of metrics by which a model is better than all others."""
    winners = Counter(filter(None, (_winner(comparison, key) for key in keys)))
    better = "better" if len(comparison.names) == 2 else "best"
    if not winners:
        return f"No metric shows which model is {better}"
    metrics = checks.counted(len(keys), "metric")
    (first, count), *others = winners.most_common()
    if others:
        rest = ", ".join(f"{name} by {number}" for name, number in others)
        return f"{first} is {better} by {count} and {rest} of {metrics}"
    if count == len(keys) == 1:
        return f"{first} is {better} by {row_name({'metric': keys[0][0], 'label': keys[0][1]})}"
    every = "all " if count == len(keys) else f"{count} of "
    return f"{first} is {better} by {every}{metrics}"


def _short_names(names: tuple) -> dict[str, str]:
    """Return short names, long ones without their middle, unless two would be the same."""
    half = LONGEST_NAME // 2
    short = {
        name: name if len(name) <= LONGEST_NAME else f"{name[:half]}…{name[-half:]}"
        for name in names
    }
    return short if len({*short.values()}) == len(short) else {name: name for name in names}
