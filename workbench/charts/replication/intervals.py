"""Charts of coverage, of metrics with their intervals, and of clusters by stratum."""

import operator
from collections import Counter
from collections.abc import Sequence
from typing import Any

import altair as alt

from workbench import checks
from workbench.charts import theme
from workbench.charts.replication.half_samples import FEW, HONEST, NAIVE, PREDICTED
from workbench.charts.replication.words import row_name
from workbench.charts.theme import PERCENT, WIDTH, Figure, across, chart, truth, up
from workbench.replication.metrics import MetricEstimates
from workbench.replication.statistics import METRICS
from workbench.results import digits
from workbench.simulations.replication import CoverageStudy

FIRST_INTERVALS = 50
MOST_STRATA = 40
MOST_METRICS = 24
LETTERS = 40  # letters that fit next to each other on a phone
COVERED = ("naive", "z", "t", "logit", "default")
QUANTITIES = {"accuracy": "accuracy", "share": "proportion", "mean": "mean"}
CUT = 0.5  # lower end of the strips of accuracies
KINDS = {"report this": HONEST, "naive": NAIVE}


def coverage(study: CoverageStudy, predicted: float | None = None) -> Figure:
    """Return 50 naive and 50 default intervals, and the coverage of five methods.

    Parameters
    ----------
    study : workbench.simulations.replication.CoverageStudy
        The simulated samples.
    predicted : float, optional
        Predicted coverage of the naive intervals.
    """
    runs, shares, errors = study.runs * (1 - study.refused_share), [], []
    for name in COVERED:
        share = study.coverage(name)
        error = (share * (1 - share) / runs) ** 0.5
        errors.append(error)
        row = {"method": name, "coverage": share, "text": f"{share:.1%}"}
        shares.append(row | {"low": share - 2 * error, "high": share + 2 * error})
    predictions, prediction = [], ""
    if predicted is not None:
        predictions = [{"level": predicted, "text": f"you: {predicted:.0%}"}]
        prediction = f" You predicted {predicted:.0%} for the naive intervals."
    data = {name: _first_runs(study, name) for name in ("naive", "default")}
    data |= {"truth": [{"truth": study.truth}], "promise": [{"level": 0.95}]}
    data |= {"shares": shares, "predicted": predictions}
    naive, default = (f"{shares[k]['coverage']:.0%}" for k in (0, -1))
    title = f"Coverage of 95% intervals: naive {naive}, default {default}"
    listed = ", ".join(f"{row['method']} {row['text']}" for row in shares)
    alternative = (
        f"Coverage of 95% intervals in {study.estimates.size:,} simulated samples: {listed};"
        f" the Monte Carlo standard error is at most {max(errors):.1%}.{prediction} The strips"
        f" show the first {FIRST_INTERVALS} naive and default intervals and the true value"
        f" {study.truth:.3f}."
    )
    return Figure(data, title, alternative, _draw_coverage)


def _first_runs(study: CoverageStudy, method: str) -> list[dict]:
    columns = (*study.limits(method), study.estimates)
    return theme.run_rows(*(column[:FIRST_INTERVALS] for column in columns), study.truth)


def _draw_coverage(data: dict) -> Any:
    strips = []
    for name, title in (("naive", f"accuracy (cut at {CUT:.0%})"), ("default", None)):
        ends = (0, FIRST_INTERVALS + 1)
        run = across("run", f"{name} (the first {FIRST_INTERVALS})", ends, grid=False)
        accuracy = up("low", title, (CUT, 1), format=PERCENT)
        strip = theme.runs(data, name, run, accuracy, 5, clip=True)
        strips.append(strip.properties(width=250, height=200))
    shares = chart(data, "shares").encode(y=theme.names("method", COVERED))
    title, scale = "coverage (bars: ± two Monte Carlo standard errors)", {"domain": [0, 1]}
    low = across("low", title, scale=scale, format=PERCENT, tickCount=5)
    colors = {name: NAIVE if name == "naive" else HONEST for name in COVERED}
    color = theme.color("method", colors, legend=None)
    predicted = chart(data, "predicted").encode(x="level:Q")
    texts = predicted.mark_text(align="right", dx=-5, y=112, color=PREDICTED)
    guess = predicted.mark_rule(strokeWidth=3, strokeDash=[4, 3], color=PREDICTED)
    guess += texts.encode(text="text:N")
    bars = shares.mark_rule(strokeWidth=2).encode(x=low, x2="high:Q")
    dots = shares.mark_square(size=90).encode(x="coverage:Q", color=color)
    texts = shares.mark_text(align="left", x=6).encode(text="text:N")
    below = truth(data, "promise", x="level:Q") + bars + dots + texts + guess
    return alt.vconcat(
        alt.hconcat(*strips).resolve_scale(y="shared"),
        below.properties(width=WIDTH - 40, height=120),
    ).resolve_scale(color="independent", strokeDash="independent")


def metrics(estimates: MetricEstimates, *, most: int = MOST_METRICS) -> Figure:
    """Return metrics with their intervals next to the naive ones.

    Parameters
    ----------
    estimates : workbench.MetricEstimates
        The metrics, or any object whose `rows()` have "metric", "estimate", "low", "high",
        "naive_low" and "naive_high".
    most : int
        Largest number of metrics shown.
    """
    table = estimates.rows()
    # the metrics that fit on the axis of the first: proportions, or others
    is_share = METRICS[table[0]["metric"]].is_share
    drawn = [row for row in table if METRICS[row["metric"]].is_share == is_share][:most]
    rows, texts, ratios = [], [], []
    for row in drawn:
        name = row_name(row)
        limits = [row[field] for field in ("low", "high", "naive_low", "naive_high")]
        low, high, naive_low, naive_high = limits
        estimate = {"name": name, "kind": "report this", "estimate": row["estimate"]}
        rows.append(estimate | {"low": low, "high": high})
        naive = {"name": name, "kind": "naive", "low": naive_low, "high": naive_high}
        rows.append(naive | {"estimate": row.get("naive_estimate", row["estimate"])})
        values = [row["estimate"], *limits]
        written = digits.shares(*values) if is_share else [f"{value:.3f}" for value in values]
        texts.append("{} {}, {} to {} (naive {} to {})".format(name, *written))
        if naive_high > naive_low:
            ratios.append(((high - low) / (naive_high - naive_low), name))
    title = "All naive intervals have width 0"
    if ratios:
        ratio, name = max(ratios, key=operator.itemgetter(0))
        title = f"The interval of {name} is {ratio:.1f} times as wide as the naive one"
        if ratio <= 1.05:
            title = (
                f"No interval is wider than the naive one; that of {name} is {ratio:.2f} times as "
                "wide"
            )
    cut = f" ({len(drawn)} of {len(table)} shown)" if len(table) > len(drawn) else ""
    names = list(dict.fromkeys(row["name"] for row in rows))

    def draw(data: dict) -> Any:
        axis = {"format": PERCENT} if is_share else {}
        base = chart(data, "metrics").encode(
            y=theme.names("name", names, labelLimit=160),
            yOffset=alt.YOffset("kind:N", sort=list(KINDS)),
            color=theme.color("kind", KINDS),
        )
        low = across("low", "estimate and interval", scale={"zero": False}, tickCount=6, **axis)
        ticks = base.mark_tick(orient="vertical", thickness=3, height=12)
        return base.mark_rule(strokeWidth=4).encode(x=low, x2="high:Q") + ticks.encode(
            x="estimate:Q"
        )

    return Figure(
        {"metrics": rows},
        title + cut,
        f"Estimates and intervals{cut}: {'; '.join(texts)}.",
        draw,
        width=WIDTH - 80,
        height=40 * max(2, len(names)),
    )


def psu_plot(rows: Sequence[dict]) -> Figure:
    """Return a dot per cluster with its accuracy, by stratum.

    If there are more than 40 strata, the chart shows those with the lowest accuracy.

    Parameters
    ----------
    rows : list of dict
        `stratum`, `psu`, `items` and `accuracy` (or `share`, or `mean`), as in the rows of
        `workbench.replication.metrics.LabeledItems.clusters`.
    """
    key = next(key for key in QUANTITIES if key in rows[0])
    quantity = QUANTITIES[key]
    totals: dict = {}
    for row in rows:
        total, items = totals.get(row["stratum"], (0, 0))
        totals[row["stratum"]] = total + row[key] * row["items"], items + row["items"]
    strata = sorted(totals, key=lambda stratum: operator.truediv(*totals[stratum]))
    psus = [
        row | {"place": rank, "stratum": str(stratum)}
        for rank, stratum in enumerate(strata[:MOST_STRATA])
        for row in rows
        if row["stratum"] == stratum
    ]
    equal = Counter((row["stratum"], row[key]) for row in psus)
    placed: Counter = Counter()
    for row in psus:  # equal clusters of a stratum stand next to each other
        place = row["stratum"], row[key]
        row["shift"] = placed[place] - (equal[place] - 1) / 2
        placed[place] += 1
    widest = max(4, *equal.values()) / 2
    by_value = operator.itemgetter(key)
    worst, best = min(rows, key=by_value), max(rows, key=by_value)
    are_strata = all(row["psu"] == row["stratum"] for row in rows)
    units = checks.counted(len(rows), *(("stratum", "strata") if are_strata else ("cluster",)))
    cut = ""
    if len(strata) > MOST_STRATA:
        cut = f" (the {MOST_STRATA} lowest of {len(strata):,} strata shown)"
    form, exact = (",.4g", ",.4g") if key == "mean" else (".1%", ".3f")

    def draw(data: dict) -> Any:
        order = [str(stratum) for stratum in strata[:MOST_STRATA]]
        angle = 0
        if len(order) > FEW:
            angle = -90
        elif sum(map(len, order)) > LETTERS:
            angle = -45
        title = f"stratum, from low to high {quantity}"
        axis = {"labelAngle": angle, "labelLimit": 100}
        sizes = {"range": [0, 110], "zero": True}
        value = alt.Y(
            f"{key}:Q",
            title=quantity,
            scale={"zero": False},
            axis=alt.Axis() if key == "mean" else theme.percents(),
        )
        legend = {"tickCount": 3} if len({row["items"] for row in psus}) > 1 else None
        circles = chart(data, "psus").mark_circle(color=theme.LABELED)
        return circles.encode(
            x=alt.X("stratum:N", sort=order, title=title, axis=axis),
            xOffset=alt.XOffset("shift:Q", scale={"domain": [-widest, widest]}),
            y=value,
            size=alt.Size("items:Q", title="items", scale=sizes, legend=legend),
        )

    others = sum(row[key] == worst[key] for row in rows) - 1
    lowest = _unit_name(worst) + (f" and {checks.counted(others, 'other')}" if others else "")
    title = f"{quantity.capitalize()} from {worst[key]:{form}} to {best[key]:{form}} in {units}"
    low, high = (
        f"{row[key]:{exact}} in {_unit_name(row)} ({checks.counted(row['items'], 'item')})"
        for row in (worst, best)
    )
    return Figure(
        {"psus": psus},
        f"{title}; lowest in {lowest}{cut}",
        f"{quantity.capitalize()} of {units}, ordered by stratum: {low} to {high}{cut}.",
        draw,
    )


def _unit_name(row: dict) -> str:
    stratum = f"stratum {row['stratum']}"
    return stratum if row["psu"] == row["stratum"] else f"cluster {row['psu']} of {stratum}"
