"""A chart of the p-value for every value of rho, the hidden dependence of the folds."""

import math
from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np

from workbench.charts import theme
from workbench.cross_validation.kfold import KFoldTTest
from workbench.results import percent
from workbench.results.digits import decimal, share, short_p

RULES = {
    "naive": theme.OKABE_ITO["vermilion"],
    "Nadeau-Bengio": theme.OKABE_ITO["blue"],
    "0.7": theme.OKABE_ITO["green"],
    "used": theme.OKABE_ITO["purple"],
}
RULE_SHAPES = ["triangle-up", "circle", "square", "diamond"]
MOST_RHO = 0.95
LEAST_P = 1e-15
NEAR = 0.07
CURVE_SIZE = (theme.WIDTH, 240)
LETTER, LINE = 5.8, 14
PLACES = [
    (-10, -12, "right"),
    (10, 12, "left"),
    (10, -12, "left"),
    (-10, 12, "right"),
    (0, -19, "center"),
    (0, 19, "center"),
    (14, 0, "left"),
    (-14, 0, "right"),
    (-14, -14, "right"),
    (14, 14, "left"),
    (14, -14, "left"),
    (-14, 14, "right"),
    (3, 17, "left"),
    (3, -17, "left"),
]
FLIP_PLACE = {"left": (6, -8, "left"), "right": (-6, -8, "right")}


def rho_curve_data(
    test: KFoldTTest,
    *,
    level: float = 0.95,
    domain: tuple[float, float] | None = None,
    size: tuple[int, int] = CURVE_SIZE,
) -> dict:
    """Return the rows of `rho_curve`: curve, named points, level, and where the verdict changes."""
    low, high = domain or _rho_range(test)
    curve = [
        {"rho": rho, "p": max(test.at(rho).pvalue, LEAST_P)}
        for rho in np.linspace(low, high, 121).tolist()
    ]
    flips = test.rho_alpha(level)
    inside = (
        [
            {
                "rho": flips,
                "text": f"changes at {share(flips)}",
                "side": "left" if flips < (low + high) / 2 else "right",
            }
        ]
        if low < flips < high
        else []
    )
    points = _placed(_points(test), curve, 1 - level, inside, size)
    return {
        "curve": curve,
        "points": points,
        "level": [{"p": 1 - level, "text": percent(1 - level)}],
        "flips": inside,
    }


def _points(test: KFoldTTest) -> list:
    """Return the named points; a p-value that reads like that of a close point is written once."""
    names = ("naive", "Nadeau-Bengio", "0.7", "used")
    points = [
        {
            "rho": row["rho"],
            "p": max(row["pvalue"], LEAST_P),
            "rule": name,
            "chosen": int(abs(row["rho"] - test.rho) < 1e-9),
            "text": f"p {short_p(row['pvalue'])}",
        }
        for name, row in zip(names, test.rows(), strict=False)
    ]
    first = sorted(points, key=lambda point: -point["chosen"])
    for k, point in enumerate(first):
        if any(
            abs(other["rho"] - point["rho"]) < NEAR
            for other in first[:k]
            if other["text"] == point["text"]
        ):
            point["text"] = ""
    return points


def _placed(points: list, curve: list, risk: float, flips: list, size: tuple) -> list:
    """Return the points with places for their texts that cross as few lines and texts as possible.

    A place is given in pixels from the point, or from the line where the verdict changes, at rho
    `label_rho`. Places are tried in the order of PLACES, on a page and on a phone. The chosen point
    comes first.
    """
    drawn = [
        _Drawn(points, curve, risk, flips, (size[0] * part, size[1])) for part in (0.45, 1, 1.8)
    ]  # relative widths: on a phone, as given, on the widest page
    placed = {}
    for k in sorted(range(len(points)), key=lambda k: -points[k]["chosen"]):
        places = [(points[k]["rho"], *place) for place in PLACES]
        places += [
            (flip["rho"], 6, dy, "left")
            for flip in flips
            if flip["rho"] > points[k]["rho"]
            for dy in (0, 14)
        ]
        best = min(places, key=lambda place: sum(picture.cost(k, *place) for picture in drawn))
        placed[k] = dict(zip(("label_rho", "dx", "dy", "align"), best, strict=True))
        for picture in drawn:
            picture.take(k, *best)
    return [point | placed[k] for k, point in enumerate(points)]


class _Drawn:
    """The chart at one width in pixels: positions of points and lines, and occupied boxes."""

    def __init__(self, points: list, curve: list, risk: float, flips: list, size: tuple) -> None:
        self.size, self.start, self.end = size, curve[0]["rho"], curve[-1]["rho"]
        self.least, self.points = math.log(_least_p(curve)), points
        flip_at = [self._across(flip["rho"]) for flip in flips]
        across, down = (np.arange(round(side) + 1) for side in size)
        drawn = np.interp(
            across, *np.array([self._pixels(row["rho"], row["p"]) for row in curve]).T
        )
        self.lines = [
            (across, drawn),
            (across, np.full(across.shape, self._pixels(self.start, risk)[1])),
            *((np.full(down.shape, x), down) for x in flip_at),
        ]
        self.taken = [
            _box(*self._pixels(point["rho"], point["p"]), 2 * (6 + 3 * point["chosen"]))
            for point in points
        ]
        self.taken += [
            _text_box(x, size[1], *FLIP_PLACE[flip["side"]], flip["text"])
            for x, flip in zip(flip_at, flips, strict=True)
        ]

    def _across(self, rho: float) -> float:
        return (rho - self.start) / (self.end - self.start) * self.size[0]

    def _pixels(self, rho: float, p: float) -> tuple:
        return self._across(rho), math.log(p) / self.least * self.size[1]

    def _label(self, k: int, rho: float, dx: int, dy: int, align: str) -> tuple:
        return _text_box(
            self._across(rho),
            self._pixels(rho, self.points[k]["p"])[1],
            dx,
            dy,
            align,
            self.points[k]["text"],
        )

    def cost(self, k: int, *place: float | str) -> int:
        """Return the cost of a text at a place: lines and edges crossed, boxes covered."""
        left, top, right, bottom = self._label(k, *place)
        crossed = [(left <= x) & (x <= right) & (top <= y) & (y <= bottom) for x, y in self.lines]
        covered = [
            left < box[2] and box[0] < right and top < box[3] and box[1] < bottom
            for box in self.taken
        ]
        outside = left < 0 or top < -LINE or right > self.size[0] or bottom > self.size[1]
        return int(np.concatenate(crossed).sum()) + 100 * sum(covered) + 1000 * int(outside)

    def take(self, k: int, *place: float | str) -> None:
        """Keep the place for the text of a point."""
        self.taken += [self._label(k, *place)] if self.points[k]["text"] else []


def _box(x: float, y: float, width: float, height: int | None = None) -> tuple:
    half = (height or width) / 2
    return x - width / 2, y - half, x + width / 2, y + half


def _text_box(x: float, y: float, dx: int, dy: int, align: str, text: str) -> tuple:
    """Return the left, top, right and bottom edges of a text in pixels."""
    width = LETTER * len(text)
    return _box(
        x + dx + {"left": 0.5, "center": 0, "right": -0.5}[align] * width, y + dy, width + 4, LINE
    )


def _least_p(curve: list) -> float:
    """Return the lower end of the axis of p, a little below the curve."""
    return min(min(row["p"] for row in curve) ** 1.15 / 1.5, 0.03)


def _rho_range(test: KFoldTTest) -> tuple:
    most = max(row["rho"] for row in test.rows())
    return min(0.0, test.rho), max(MOST_RHO, most + 0.4 * (1 - most))


def rho_curve_words(test: KFoldTTest, *, level: float = 0.95) -> tuple[str, str]:
    """Return the title and the text alternative of `rho_curve`."""
    flips, risk, least = test.rho_alpha(level), percent(1 - level), min(0.0, test.rho)
    now = f"p {short_p(test.pvalue)} at rho {share(test.rho, flips)}"
    bound = share(flips, test.rho) if flips > least else ""
    if flips <= least:
        title = f"Not significant at {risk} for any rho, not even at {share(least)}; {now}"
    elif test.pvalue < 1 - level:
        title = f"Significant at {risk}: {now}, and for any rho below {bound}"
    else:
        title = f"Not significant at {risk}: {now}; it would be for rho below {bound}"
    rows = "; ".join(
        f"{row['test']} (rho {decimal(row['rho'])}, r {decimal(row['r'])}): p "
        + (f"{p:.4g}" if (p := row["pvalue"]) >= 1e-300 else short_p(p))
        for row in test.rows()
    )
    whole = (
        f" rho is that of one of the {test.repeats} repeats."
        if test.repeats > 1
        else " rho is that of one cross-validation with test sets of this size."
        if test.of_one
        else ""
    )
    side = "" if test.alternative == "two-sided" else f", one-sided ({test.alternative})"
    where = (
        f"The verdict changes at rho {decimal(flips, test.rho)}"
        if flips > least
        else "It is not significant for any rho of 0 or more"
    )
    tested = f"p-value of the t-test of {test.label}{side} over {test.scheme} for every rho"
    return title, f"{tested}. {rows}. {where}.{whole}"


def rho_curve(test: KFoldTTest, *, level: float = 0.95) -> alt.TopLevelMixin:
    """Return the p-value by rho, with the rho of each test and the place of the level.

    Parameters
    ----------
    test : workbench.KFoldTTest
        The test.
    level : float
        Confidence level; 1 minus it is the significance level.
    """
    data = rho_curve_data(test, level=level)
    folds = test.folds if test.test_share is None else 1 / test.test_share
    chart = curve(data, folds, _rho_range(test), named=[row["rule"] for row in data["points"]])
    return theme.finish(chart, *rho_curve_words(test, level=level), height=CURVE_SIZE[1])


def curve(
    data: dict, folds: float, domain: tuple[float, float], *, named: Sequence[str] = tuple(RULES)
) -> alt.TopLevelMixin:
    """Return p by rho, on an axis that also shows the correlation r of two of `folds` fold means.

    A live chart names all rules, because its points appear and disappear.
    """
    low = min(row["p"] for row in data["curve"])
    legend = alt.Legend(
        values=list(named), labelExpr="datum.label == '0.7' ? 'rho 0.7' : datum.label"
    )
    x = alt.X(
        "rho:Q",
        title="assumed rho (below it: correlation r of two folds)",
        axis=_rho_axis(folds, domain),
        scale=theme.span(*domain),
    )
    least = f", {LEAST_P:g} for all below" if low <= LEAST_P else ""
    y = alt.Y(
        "p:Q",
        title=f"p-value (log scale{least})",
        axis=alt.Axis(values=_p_ticks(low), format="~g"),
        scale=theme.span(_least_p(data["curve"]), 1, type="log"),
    )
    curve = theme.chart(data, "curve").mark_line(strokeWidth=2, color=theme.GRAY).encode(x=x, y=y)
    level = theme.chart(data, "level").encode(y="p:Q")
    name = level.mark_text(x="width", align="left", dx=4, style="note").encode(text="text:N")
    flip = theme.chart(data, "flips").encode(x="rho:Q")
    flips = [flip.mark_rule(style="truth")]
    flips += [
        flip.mark_text(y="height", dx=dx, dy=dy, align=align)
        .encode(text="text:N")
        .transform_filter(alt.datum.side == side)
        for side, (dx, dy, align) in FLIP_PLACE.items()
    ]
    points = theme.chart(data, "points")
    marks = points.mark_point(filled=True).encode(
        x="rho:Q",
        y="p:Q",
        size=alt.Size("chosen:O", legend=None, scale=alt.Scale(domain=[0, 1], range=[90, 230])),
        color=theme.color("rule", RULES, legend=legend),
        shape=theme.shape("rule", RULES, RULE_SHAPES, legend=legend),
    )
    texts = points.mark_text(
        **{name: alt.expr(f"datum.{name}") for name in ("dx", "dy", "align")}
    ).encode(x="label_rho:Q", y="p:Q", text="text:N")
    return alt.layer(level.mark_rule(strokeWidth=1.5), name, curve, *flips, marks, texts)


def _rho_axis(folds: float, domain: tuple) -> Any:
    step = 0.1 if domain[1] - domain[0] < 1.2 else 0.2
    start = math.ceil(domain[0] / step - 1e-9)
    values = [round(k * step, 10) for k in range(start, math.floor(domain[1] / step + 1e-9) + 1)]
    r = f"datum.value / ({folds} - {folds - 1} * datum.value)"
    labels = f"[format(datum.value, '.1f'), format({r}, '.2~g')]"
    return alt.Axis(values=values, labelExpr=labels, grid=False)


def _p_ticks(low: float) -> list:
    decades = math.floor(math.log10(low))
    if decades >= -4:
        return [0.0001, 0.001, 0.01, 0.05, 0.1, 0.5, 1]
    return [10.0**-k for k in range(0, -decades + 1, math.ceil(-decades / 6))]
