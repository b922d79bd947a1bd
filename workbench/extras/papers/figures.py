"""Charts of replayed figures: lines, boxes, bars and areas, in panels as in the paper."""

import itertools
from typing import Any

import altair as alt

from workbench import checks
from workbench.charts import theme

PANEL = (250, 190)
SERIES = 6
# lines with at most this many points have marks; the text alternative covers them
MARKED = 15


def lines(
    title: str,
    rows: list[dict],
    x: str,
    y: str,
    color: str,
    *,
    panel: str = "",
    x_title: str = "",
    y_title: str = "",
    log: str = "",
    columns: int = 2,
    same_scale: bool = True,
) -> Any:
    """Return a chart with one line per value of `color`.

    Parameters
    ----------
    title : str
    rows : list of dict
    x, y, color : str
        Keys of the rows.
    panel : str
        Key of the panels; "" for a single panel.
    x_title, y_title : str
        Titles of the axes, by default the keys in words.
    log : {"", "x", "y", "xy"}
        Axes with a logarithmic scale. Rows with y = 0 are left out on a logarithmic axis.
    columns : int
        Number of panels next to each other.
    same_scale : bool
        Whether the panels share the y-axis.
    """
    rows = [row for row in rows if "y" not in log or row[y] > 0]
    x_axis = alt.X(
        f"{x}:Q",
        title=x_title or _words(x),
        scale=_scale("x" in log),
        axis=alt.Axis(labelOverlap=True),
    )
    y_axis = alt.Y(f"{y}:Q", title=y_title or _words(y), scale=_scale("y" in log))
    marks = {"size": 14, "aria": False} if len({row[x] for row in rows}) <= MARKED else False
    series = _hues(rows, color)
    chart = theme.Chart().mark_line(point=marks, aria=False).encode(x=x_axis, y=y_axis, **series)
    text = _line_text(rows, x, y, color, panel)
    return _finished(chart, title, rows, text, panel, columns, same_scale)


def boxes(title: str, rows: list[dict], x: str, color: str, *, y_title: str) -> Any:
    """Return box plots of rows with "low", "q1", "median", "q3" and "high".

    Parameters
    ----------
    title, rows
        As in `lines`.
    x, color : str
        Keys of the rows: groups along the axis, and the boxes within a group.
    y_title : str
    """
    hue = _hues(rows, color, dash=False)
    base = theme.Chart().encode(
        alt.X(f"{x}:O", title=_words(x), axis=alt.Axis(labelAngle=0)),
        xOffset=alt.XOffset(f"{color}:N", sort=_distinct(rows, color)),
    )
    whiskers = base.mark_rule(aria=False).encode(alt.Y("low:Q", title=y_title), y2="high:Q", **hue)
    middle = base.mark_bar(size=9, aria=False).encode(
        y=alt.Y("q1:Q", title=y_title), y2="q3:Q", **hue
    )
    line = base.mark_tick(size=9, color="black", thickness=1.5, aria=False)
    chart = alt.layer(whiskers, middle, line.encode(y=alt.Y("median:Q", title=y_title)))
    medians = [
        f"{row[color]} at {_short(row[x])}: median {_short(row['median'])}, middle half "
        f"{_short(row['q1'])} to {_short(row['q3'])}"
        for row in rows[:6]
    ]
    return _finished(chart, title, rows, f"Box plots against {_words(x)}. {'; '.join(medians)}.")


def bars(
    title: str,
    rows: list[dict],
    x: str,
    y: str,
    color: str,
    *,
    panel: str = "",
    x_title: str = "",
    columns: int = 2,
    same_scale: bool = True,
) -> Any:
    """Return a chart of rows as grouped bars.

    Parameters
    ----------
    title, rows, x, y, color, panel, x_title, columns, same_scale
        As in `lines`.
    """
    x_axis = alt.X(
        f"{x}:O",
        title=x_title or _words(x),
        sort=_distinct(rows, x),
        axis=alt.Axis(labelAngle=0),
    )
    y_axis = alt.Y(f"{y}:Q", title=_words(y))
    offset = alt.XOffset(f"{color}:N", sort=_distinct(rows, color))
    hue = _hues(rows, color, dash=False)
    chart = theme.Chart().mark_bar(aria=False).encode(x_axis, y_axis, xOffset=offset, **hue)
    text = _line_text(rows, x, y, color, panel)
    return _finished(chart, title, rows, text, panel, columns, same_scale, own_x=False)


def areas(
    title: str, rows: list[dict], x: str, y: str, color: str, *, panel: str, y_title: str
) -> Any:
    """Return a chart of proportions stacked over time, with one area per value of `color`.

    It has no legend if there are many areas.

    Parameters
    ----------
    title, rows, x, y, color, panel, y_title
        As in `lines`.
    """
    many = len(_distinct(rows, color)) > SERIES
    hue = alt.Color(
        f"{color}:N",
        sort=_distinct(rows, color),
        scale=alt.Scale(scheme="tableau20"),
        legend=None if many else alt.Legend(title=_words(color)),
    )
    chart = (
        theme.Chart()
        .mark_area(aria=False)
        .encode(
            alt.X(f"{x}:Q", title=_words(x)), alt.Y(f"{y}:Q", stack="normalize", title=y_title), hue
        )
    )
    description = (
        f"Stacked proportions of {checks.counted(len(_distinct(rows, color)), color)} over "
        f"{_words(x)}{_in_panels(rows, panel)}."
    )
    return _finished(chart, title, rows, description, panel)


def _finished(
    chart: Any,
    title: str,
    rows: list,
    description: str,
    panel: str = "",
    columns: int = 2,
    same_scale: bool = True,
    own_x: bool = True,
) -> Any:
    data = theme.rows("rows", rows)
    if not panel:
        return theme.finish(chart.properties(data=data), title, description)
    faceted = chart.properties(width=PANEL[0], height=PANEL[1]).facet(
        alt.Facet(f"{panel}:N", sort=_distinct(rows, panel), title=None), columns=columns, data=data
    )
    if not same_scale:
        faceted = faceted.resolve_scale(x="independent" if own_x else "shared", y="independent")
    return theme.finish(faceted, title, description)


def _hues(rows: list, key: str, dash: bool = True) -> dict:
    """Return the encoding of series by color and by dashes, as color alone is not accessible."""
    names = _distinct(rows, key)
    hues = itertools.cycle(
        [*theme.CATEGORY, theme.OKABE_ITO["yellow"], theme.GRAY, theme.OKABE_ITO["black"]]
    )
    hue = {"color": theme.color(key, dict(zip(names, hues, strict=False)), title=_words(key))}
    return (
        hue | {"strokeDash": alt.StrokeDash(f"{key}:N", sort=names, legend=None)} if dash else hue
    )


def _scale(log: bool) -> Any:
    return alt.Scale(type="log") if log else alt.Scale(zero=False)


def _distinct(rows: list, key: str) -> list:
    return list(dict.fromkeys(row[key] for row in rows))


def _words(key: str) -> str:
    return key.replace("_", " ")


def _in_panels(rows: list, panel: str) -> str:
    return f", panels {checks.listed(_distinct(rows, panel), 8)}" if panel else ""


def _line_text(rows: list, x: str, y: str, color: str, panel: str) -> str:
    last = {}
    for row in rows:
        if row[y] is not None:
            last[row.get(panel, ""), row[color]] = row
    values = [
        f"{' '.join(filter(None, map(str, names)))} {_short(row[y])} at {_short(row[x])}"
        for names, row in list(last.items())[:8]
    ]
    panels = _in_panels(rows, panel)
    return f"{_words(y)} against {_words(x)}{panels}; last values: {', '.join(values)}."


def _short(value: float | str) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)
