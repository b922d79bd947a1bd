"""Charts of coverage, of metrics with their intervals, and of clusters by stratum."""

import operator
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import altair as alt

from workbench import checks
from workbench.charts import theme
from workbench.charts.replication.half_samples import FEW, HONEST, NAIVE, PREDICTED
from workbench.charts.replication.words import row_name
from workbench.replication.metrics import MetricEstimates
from workbench.replication.statistics import METRICS
from workbench.results import digits
from workbench.simulations.replication import CoverageStudy

SHOWN_INTERVALS = 50
SHOWN_STRATA = 40
SHOWN_METRICS = 24
LETTERS = 40  # letters that fit next to each other on a phone
COVERED = ("naive", "z", "t", "logit", "default")
QUANTITIES = {"accuracy": "accuracy", "share": "proportion", "mean": "mean"}
CUT = 0.5  # lower end of the strips of accuracies


@lru_cache(2)
def _covered(study: CoverageStudy) -> dict:
    """Return the coverage of each method and its Monte Carlo standard error."""
    shares = {name: study.coverage(name) for name in COVERED}
    runs = study.runs * (1 - study.refused_share)
    return {name: (share, (share * (1 - share) / runs) ** 0.5) for name, share in shares.items()}


def coverage_data(study: CoverageStudy, predicted: float | None = None) -> dict:
    """Return the rows of `coverage`: 50 naive and default intervals, coverage of five methods."""
    strips = {
        method: theme.run_rows(
            *(values[:SHOWN_INTERVALS] for values in (*study.limits(method), study.estimates)),
            study.truth,
        )
        for method in ("naive", "default")
    }
    shares = [
        {
            "method": name,
            "coverage": share,
            "text": f"{share:.1%}",
            "low": share - 2 * error,
            "high": share + 2 * error,
        }
        for name, (share, error) in _covered(study).items()
    ]
    return {
        **strips,
        "truth": [{"truth": study.truth}],
        "shares": shares,
        "predicted": (
            [] if predicted is None else [{"level": predicted, "text": f"you: {predicted:.0%}"}]
        ),
    }


def coverage_words(study: CoverageStudy, predicted: float | None = None) -> tuple[str, str]:
    """Return the title and the text alternative of `coverage`."""
    covered = _covered(study)
    shares = ", ".join(f"{name} {share:.1%}" for name, (share, _) in covered.items())
    error = max(error for _, error in covered.values())
    yours = "" if predicted is None else f" You predicted {predicted:.0%} for the naive intervals."
    return (
        (
            f"Coverage of 95% intervals: naive {covered['naive'][0]:.0%}, default "
            f"{covered['default'][0]:.0%}"
        ),
        (
            f"Coverage of 95% intervals in {study.estimates.size:,} simulated samples: {shares};"
            f" the Monte Carlo standard error is at most {error:.1%}.{yours} The strips show the"
            f" first {SHOWN_INTERVALS} naive and default intervals and the true value"
            f" {study.truth:.3f}."
        ),
    )


def coverage(study: CoverageStudy, predicted: float | None = None) -> alt.TopLevelMixin:
    """Return 50 naive and 50 default intervals, and the coverage of five methods.

    Parameters
    ----------
    study : workbench.simulations.replication.CoverageStudy
        The simulated samples.
    predicted : float, optional
        Predicted coverage of the naive intervals.
    """
    data = coverage_data(study, predicted)
    strips = alt.hconcat(*(_strip(name, data) for name in ("naive", "default"))).resolve_scale(
        y="shared"
    )
    shares = theme.chart(data, "shares").encode(y=alt.Y("method:N", sort=list(COVERED), title=None))
    along = alt.X(
        "low:Q",
        title="coverage (bars: ± two Monte Carlo standard errors)",
        axis=theme.percents(tickCount=5),
        scale=alt.Scale(domain=[0, 1]),
    )
    bars = shares.mark_rule(strokeWidth=2).encode(x=along, x2="high:Q")
    colors = {name: NAIVE if name == "naive" else HONEST for name in COVERED}
    dots = shares.mark_square(size=90).encode(
        x="coverage:Q", color=theme.color("method", colors, legend=None)
    )
    text = shares.mark_text(align="left", x=6).encode(text="text:N")
    promise = (
        theme.Chart(theme.rows("promise", [{"level": 0.95}]))
        .mark_rule(style="truth")
        .encode(x="level:Q")
    )
    below = (promise + bars + dots + text + _expected(data)).properties(
        width=theme.WIDTH - 40, height=120
    )
    both = alt.vconcat(strips, below).resolve_scale(color="independent", strokeDash="independent")
    return theme.finish(both, *coverage_words(study, predicted))


def _expected(data: dict) -> Any:
    yours = theme.chart(data, "predicted").encode(x="level:Q")
    line = yours.mark_rule(strokeWidth=3, strokeDash=[4, 3], color=PREDICTED)
    return line + yours.mark_text(align="right", dx=-5, y=112, color=PREDICTED).encode(
        text="text:N"
    )


def _strip(name: str, data: dict) -> Any:
    across = alt.X(
        "run:Q",
        title=f"{name} (the first {SHOWN_INTERVALS})",
        axis=alt.Axis(grid=False),
        scale=theme.span(0, SHOWN_INTERVALS + 1),
    )
    up = alt.Y(
        "low:Q",
        title=f"accuracy (cut at {CUT:.0%})" if name == "naive" else None,
        axis=theme.percents(),
        scale=theme.span(CUT, 1),
    )
    return theme.runs(data, name, across, up, 5, clip=True).properties(width=250, height=200)


def _on_one_axis(found: MetricEstimates, most: int) -> list[dict]:
    """Return the rows whose metrics fit on the axis of the first: proportions, or others."""
    rows = found.rows()
    return [row for row in rows if _is_share(row) == _is_share(rows[0])][:most]


def _is_share(row: dict) -> bool:
    return METRICS[row["metric"]].is_share


def metrics_data(found: MetricEstimates, most: int = SHOWN_METRICS) -> list[dict]:
    """Return the rows of `metrics`: the recommended and the naive interval of each metric."""
    return [
        {"name": row_name(row), "kind": kind, "estimate": estimate, "low": low, "high": high}
        for row in _on_one_axis(found, most)
        for kind, estimate, low, high in (
            ("report this", row["estimate"], row["low"], row["high"]),
            (
                "naive",
                row.get("naive_estimate", row["estimate"]),
                row["naive_low"],
                row["naive_high"],
            ),
        )
    ]


def metrics_words(found: MetricEstimates, most: int = SHOWN_METRICS) -> tuple[str, str]:
    """Return the title and the text alternative of `metrics`."""
    every, rows = found.rows(), _on_one_axis(found, most)
    widths = [
        ((row["high"] - row["low"]) / (row["naive_high"] - row["naive_low"]), row)
        for row in rows
        if row["naive_high"] > row["naive_low"]
    ]
    texts = "; ".join(
        "{} {}, {} to {} (naive {} to {})".format(row_name(row), *_shown(row)) for row in rows
    )
    cut = f" ({len(rows)} of {len(every)} shown)" if len(every) > len(rows) else ""
    title = "All naive intervals have width 0"
    if widths:
        ratio, row = max(widths, key=lambda pair: pair[0])
        title = (
            f"The interval of {row_name(row)} is {ratio:.1f} times as wide as the naive one"
            if ratio > 1.05
            else (
                f"No interval is wider than the naive one; that of {row_name(row)} is {ratio:.2f}"
                " times as wide"
            )
        )
    return title + cut, f"Estimates and intervals{cut}: {texts}."


def _shown(row: dict) -> tuple[str, ...]:
    """Return estimate, limits and naive limits with three decimals; only 1 itself reads 1."""
    values = [row[name] for name in ("estimate", "low", "high", "naive_low", "naive_high")]
    return digits.shares(*values) if _is_share(row) else tuple(f"{value:.3f}" for value in values)


def metrics(found: MetricEstimates, *, most: int = SHOWN_METRICS) -> alt.TopLevelMixin:
    """Return metrics with their intervals next to the naive ones.

    Parameters
    ----------
    found : workbench.MetricEstimates
        The metrics, or any object whose `rows()` have "metric", "estimate", "low", "high",
        "naive_low" and "naive_high".
    most : int
        Largest number of metrics shown.
    """
    rows = metrics_data(found, most)
    order = list(dict.fromkeys(row["name"] for row in rows))
    base = theme.Chart(theme.rows("metrics", rows)).encode(
        y=alt.Y("name:N", sort=order, title=None, axis=alt.Axis(labelLimit=160)),
        yOffset=alt.YOffset("kind:N", sort=["report this", "naive"]),
        color=theme.color("kind", {"report this": HONEST, "naive": NAIVE}),
    )
    bars = base.mark_rule(strokeWidth=4).encode(
        x2="high:Q",
        x=alt.X(
            "low:Q",
            title="estimate and interval",
            scale=alt.Scale(zero=False),
            axis=(
                theme.percents(tickCount=6) if _is_share(found.rows()[0]) else alt.Axis(tickCount=6)
            ),
        ),
    )
    ticks = base.mark_tick(orient="vertical", thickness=3, height=12).encode(x="estimate:Q")
    return theme.finish(
        bars + ticks,
        *metrics_words(found, most),
        width=theme.WIDTH - 80,
        height=40 * max(2, len(order)),
    )


def _quantity(rows: Sequence[dict]) -> str:
    """Return the key of the values in the rows of `psu_plot`."""
    return next(key for key in QUANTITIES if key in rows[0])


def _value_text(row: dict, decimals: int) -> str:
    """Return the value of a row as text: a mean as a number, others in percent with 1 decimal."""
    value = row[_quantity([row])]
    if "mean" in row:
        return f"{value:,.4g}"
    return f"{value:.1%}" if decimals == 1 else f"{value:.3f}"


def psu_data(rows: list[dict]) -> list[dict]:
    """Return the rows of `psu_plot`: the clusters of the 40 strata with the lowest values."""
    return [
        row | {"place": place}
        for place, name in enumerate(_lowest_strata(rows)[:SHOWN_STRATA])
        for row in rows
        if row["stratum"] == name
    ]


def psu_words(rows: list[dict]) -> tuple[str, str]:
    """Return the title and the text alternative of `psu_plot`."""
    order, quantity = _lowest_strata(rows), _quantity(rows)
    worst, best = (pick(rows, key=operator.itemgetter(quantity)) for pick in (min, max))
    are_strata = all(row["psu"] == row["stratum"] for row in rows)
    units = checks.counted(len(rows), *(("stratum", "strata") if are_strata else ("cluster",)))
    what = QUANTITIES[quantity].capitalize()
    cut = (
        f" (the {SHOWN_STRATA} lowest of {len(order):,} strata shown)"
        if len(order) > SHOWN_STRATA
        else ""
    )
    return (
        (
            f"{what} from {_value_text(worst, 1)} to {_value_text(best, 1)} in {units}; lowest in "
            f"{_unit_name(worst)}{cut}"
        ),
        (f"{what} of {units}, ordered by stratum: {_value(worst)} to {_value(best)}{cut}."),
    )


def _value(row: dict) -> str:
    items = checks.counted(row["items"], "item")
    return f"{_value_text(row, 3)} in {_unit_name(row)} ({items})"


def _unit_name(row: dict) -> str:
    stratum = f"stratum {row['stratum']}"
    return stratum if row["psu"] == row["stratum"] else f"cluster {row['psu']} of {stratum}"


def psu_plot(rows: Sequence[dict]) -> alt.TopLevelMixin:
    """Return a dot per cluster with its accuracy, by stratum.

    If there are more than 40 strata, the chart shows those with the lowest accuracy.

    Parameters
    ----------
    rows : list of dict
        `stratum`, `psu`, `items` and `accuracy` (or `share`, or `mean`), as in the rows of
        `workbench.replication.metrics.LabeledItems.clusters`.
    """
    shown = psu_data(rows)
    order = list(dict.fromkeys(str(row["stratum"]) for row in shown))
    quantity = _quantity(rows)
    axis = alt.Axis() if quantity == "mean" else theme.percents()
    angle = -90 if len(order) > FEW else -45 if sum(map(len, order)) > LETTERS else 0
    dots = (
        theme.Chart(theme.rows("psus", [row | {"stratum": str(row["stratum"])} for row in shown]))
        .mark_circle(color=theme.LABELED)
        .encode(
            x=alt.X(
                "stratum:N",
                sort=order,
                title=f"stratum, from low to high {QUANTITIES[quantity]}",
                axis=alt.Axis(labelAngle=angle, labelLimit=100),
            ),
            y=alt.Y(
                f"{quantity}:Q",
                title=QUANTITIES[quantity],
                scale=alt.Scale(zero=False),
                axis=axis,
            ),
            size=alt.Size(
                "items:Q",
                title="items",
                scale=alt.Scale(range=[0, 110], zero=True),
                legend=alt.Legend(tickCount=3),
            ),
        )
    )
    return theme.finish(dots, *psu_words(rows))


def _lowest_strata(rows: list) -> list[str]:
    """Return the strata in order of the mean of their items, the lowest first."""
    quantity = _quantity(rows)
    totals, items = dict[Any, Any](), dict[Any, Any]()
    for row in rows:
        totals[row["stratum"]] = totals.get(row["stratum"], 0) + row[quantity] * row["items"]
        items[row["stratum"]] = items.get(row["stratum"], 0) + row["items"]
    return sorted(items, key=lambda name: totals[name] / items[name])
