"""Pictures of the examples on the pages of methods, for what the package itself does not draw."""

import altair as alt

from workbench.charts import theme


def intervals(rows, title, axis, *, percent=True, line=None):
    """Return estimates with their intervals, one row per (name, estimate, (low, high)).

    `line` is a value to compare them with, such as 0 for a difference.
    """
    values = [
        {"name": name, "estimate": estimate, "low": low, "high": high}
        for name, estimate, (low, high) in rows
    ]
    number = ".1%" if percent else ".3f"
    bottom = alt.Axis(format="%" if percent else "", title=axis)
    x, y = (
        alt.X("low:Q", scale=alt.Scale(zero=False), axis=bottom),
        alt.Y("name:N", sort=None, title=None),
    )
    base = alt.Chart(alt.Data(values=values)).encode(y=y)
    layers = [
        base.mark_rule(strokeWidth=3).encode(x=x, x2="high:Q"),
        base.mark_point(filled=True, size=90).encode(x="estimate:Q"),
        base.mark_text(dy=-12).encode(x="estimate:Q", text=alt.Text("estimate:Q", format=number)),
    ]
    if line is not None:
        compared = alt.Chart(alt.Data(values=[{"x": line}]))
        layers.insert(0, compared.mark_rule(strokeDash=[4, 4]).encode(x="x:Q"))
    described = "; ".join(
        f"{row['name']} {row['estimate']:{number}}, from {row['low']:{number}} to {row['high']:{number}}"
        for row in values
    )
    return theme.finish(
        alt.layer(*layers), title, f"{title}: {described}.", height=60 + 36 * len(values)
    )


def bars(rows, title, axis):
    """Return numbers as bars, one row per (name, number) or (name, group, number)."""
    keys = ("name", "group", "number") if len(rows[0]) == 3 else ("name", "number")
    values = [dict(zip(keys, row, strict=True)) for row in rows]
    encoding = {
        "x": alt.X("number:Q", title=axis),
        "y": alt.Y("name:N", sort=None, title=None),
    }
    if "group" in keys:
        encoding["yOffset"] = alt.YOffset("group:N", sort=None)
        encoding["color"] = alt.Color("group:N", sort=None, title=None)
    chart = alt.Chart(alt.Data(values=values)).mark_bar().encode(**encoding)
    described = "; ".join(" ".join(map(str, row)) for row in rows)
    return theme.finish(chart, title, f"{title}: {described}.", height=22 * len(values) + 40)
