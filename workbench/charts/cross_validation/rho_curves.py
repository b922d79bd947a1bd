"""A chart of the p-value for every value of rho, the hidden dependence of the folds."""

import functools
import math
from typing import Any

import altair as alt
import numpy as np

from workbench.charts import theme
from workbench.charts.theme import GRAY, OKABE_ITO, WIDTH, Figure, across, beside, chart, span, up
from workbench.cross_validation.kfold import KFoldTTest
from workbench.results import percent
from workbench.results.digits import decimal, share, short_p

RULES = {
    "naive": OKABE_ITO["vermilion"],
    "Nadeau-Bengio": OKABE_ITO["blue"],
    "0.7": OKABE_ITO["green"],
    "used": OKABE_ITO["purple"],
}
RULE_SHAPES = ["triangle-up", "circle", "square", "diamond"]
MOST_RHO = 0.95
LEAST_P = 1e-15
NEAR = 0.07
CURVE_SIZE = (WIDTH, 240)
# relative widths for which texts are placed: on a phone, as in CURVE_SIZE, on the widest page
WIDTHS = (0.45, 1, 1.8)
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


def rho_curve(test: KFoldTTest, *, level: float = 0.95) -> Figure:
    """Return the p-value by rho, with the rho of each test and the spot of the level.

    Parameters
    ----------
    test : workbench.KFoldTTest
        The test.
    level : float
        Confidence level; 1 minus it is the significance level.
    """
    rows, flips, risk = test.rows(), test.rho_alpha(level), percent(1 - level)
    least, most = min(0.0, test.rho), max(row["rho"] for row in rows)
    ends = least, max(MOST_RHO, most + 0.4 * (1 - most))
    now = f"p {short_p(test.pvalue)} at rho {share(test.rho, flips)}"
    if flips <= least:
        title = f"Not significant at {risk} for any rho, not even at {share(least)}; {now}"
        flip = "It is not significant for any rho of 0 or more"
    else:
        bound = f"rho below {share(flips, test.rho)}"
        title = f"Not significant at {risk}: {now}; it would be for {bound}"
        if test.pvalue < 1 - level:
            title = f"Significant at {risk}: {now}, and for any {bound}"
        flip = f"The verdict changes at rho {decimal(flips, test.rho)}"
    tests = []
    for row in rows:
        p = f"{row['pvalue']:.4g}" if row["pvalue"] >= 1e-300 else short_p(row["pvalue"])
        tests.append(f"{row['test']} (rho {decimal(row['rho'])}, r {decimal(row['r'])}): p {p}")
    meaning = ""
    if test.repeats > 1:
        meaning = f" rho is that of one of the {test.repeats} repeats."
    elif test.of_one:
        meaning = " rho is that of one cross-validation with test sets of this size."
    side = "" if test.alternative == "two-sided" else f", one-sided ({test.alternative})"
    folds = test.folds if test.test_share is None else 1 / test.test_share
    data = curve_rows(test, level, ends, CURVE_SIZE)
    rules = [point["rule"] for point in data["points"]]
    return Figure(
        data,
        title,
        f"p-value of the t-test of {test.label}{side} over {test.scheme} for every rho. "
        f"{'; '.join(tests)}. {flip}.{meaning}",
        functools.partial(draw_curve, folds, ends, rules),
        height=CURVE_SIZE[1],
    )


def curve_rows(
    test: KFoldTTest, level: float, ends: tuple[float, float], size: tuple[int, int]
) -> dict:
    """Return the rows of a curve: p, named points, level, and where the verdict changes."""
    rhos = np.linspace(*ends, 121).tolist()
    curve = [{"rho": rho, "p": max(test.at(rho).pvalue, LEAST_P)} for rho in rhos]
    # A p-value that reads like that of a close point is written once.
    points: list[dict] = []
    for rule, row in zip(RULES, test.rows(), strict=False):
        chosen = int(abs(row["rho"] - test.rho) < 1e-9)
        p, text = max(row["pvalue"], LEAST_P), f"p {short_p(row['pvalue'])}"
        points.append({"rho": row["rho"], "p": p, "rule": rule, "chosen": chosen, "text": text})
    by_weight = sorted(points, key=lambda point: -point["chosen"])
    for k, point in enumerate(by_weight):
        close = [row for row in by_weight[:k] if abs(row["rho"] - point["rho"]) < NEAR]
        if point["text"] in [row["text"] for row in close]:
            point["text"] = ""
    flips, at = [], test.rho_alpha(level)
    if ends[0] < at < ends[1]:
        side = "left" if at < sum(ends) / 2 else "right"
        flips.append({"rho": at, "text": f"changes at {share(at)}", "side": side})
    levels = [{"p": 1 - level, "text": percent(1 - level)}]
    data = {"curve": curve, "points": points, "level": levels, "flips": flips}
    _place_texts(data, by_weight, size)
    return data


def _place_texts(data: dict, points: list[dict], size: tuple[int, int]) -> None:
    """Give each point a place for its text that crosses as few lines and texts as possible.

    A place is given in pixels from the point, or from the line where the verdict changes, at rho
    `label_rho`. Places are tried in the order of PLACES, on a page and on a phone.
    """
    pictures = [_Picture(data, size[0] * width, size[1]) for width in WIDTHS]
    for point in points:
        spots = [(point["rho"], *spot) for spot in PLACES]
        for flip in data["flips"]:
            if flip["rho"] > point["rho"]:
                spots += [(flip["rho"], 6, 0, "left"), (flip["rho"], 6, 14, "left")]
        costs = [sum(picture.cost(point, spot) for picture in pictures) for spot in spots]
        best = spots[costs.index(min(costs))]
        point |= zip(("label_rho", "dx", "dy", "align"), best, strict=True)
        if point["text"]:
            for picture in pictures:
                picture.boxes.append(picture.text_box(point, best))


class _Picture:
    """The chart at one width in pixels: points of its lines, boxes of its marks and texts."""

    def __init__(self, data: dict, width: float, height: int) -> None:
        curve = data["curve"]
        self.width, self.height = width, height
        self.start, self.end = curve[0]["rho"], curve[-1]["rho"]
        self.least = math.log(_least_p(curve))
        x, y = np.arange(round(width) + 1), np.arange(height + 1)
        pixels = np.array([self._at(row["rho"], row["p"]) for row in curve])
        level = self._at(self.start, data["level"][0]["p"])[1]
        lines = [(x, np.interp(x, *pixels.T)), (x, np.full(x.shape, level))]
        self.boxes = []
        for point in data["points"]:
            size = 2 * (6 + 3 * point["chosen"])
            self.boxes.append(_box(*self._at(point["rho"], point["p"]), size, size))
        for flip in data["flips"]:
            at, _ = self._at(flip["rho"], 1)
            lines.append((np.full(y.shape, at), y))
            self.boxes.append(_text_box(at, height, *FLIP_PLACE[flip["side"]], flip["text"]))
        self.lines = np.hstack(lines)

    def _at(self, rho: float, p: float) -> tuple[float, float]:
        x = (rho - self.start) / (self.end - self.start) * self.width
        return x, math.log(p) / self.least * self.height

    def text_box(self, point: dict, spot: tuple) -> tuple:
        """Return the box of the text of a point at a place."""
        rho, *offset = spot
        return _text_box(*self._at(rho, point["p"]), *offset, point["text"])

    def cost(self, point: dict, spot: tuple) -> int:
        """Return the cost of a text at a place: lines and edges crossed, boxes covered."""
        start, top, end, bottom = self.text_box(point, spot)
        x, y = self.lines
        crossed = (start <= x) & (x <= end) & (top <= y) & (y <= bottom)
        starts, tops, ends, bottoms = np.transpose(self.boxes)
        covered = (start < ends) & (starts < end) & (top < bottoms) & (tops < bottom)
        outside = start < 0 or top < -LINE or end > self.width or bottom > self.height
        return crossed.sum() + 100 * covered.sum() + 1000 * outside


def _box(x: float, y: float, width: float, height: float) -> tuple[float, float, float, float]:
    """Return the left, top, right and bottom edges of a box around a point."""
    return x - width / 2, y - height / 2, x + width / 2, y + height / 2


def _text_box(x: float, y: float, dx: int, dy: int, align: str, text: str) -> tuple:
    width = LETTER * len(text)
    x += dx + {"left": 0.5, "center": 0, "right": -0.5}[align] * width
    return _box(x, y + dy, width + 4, LINE)


def _least_p(curve: list[dict]) -> float:
    """Return the lower end of the axis of p, a little below the curve."""
    return min(min(row["p"] for row in curve) ** 1.15 / 1.5, 0.03)


def draw_curve(folds: float, ends: tuple[float, float], rules: list[str], data: dict) -> Any:
    """Return p by rho, on an axis that also shows the correlation r of two of `folds` fold means.

    The legend has `rules` only. A live chart names all rules, because its points appear and
    disappear.
    """
    least = min(row["p"] for row in data["curve"])
    step = 0.1 if ends[1] - ends[0] < 1.2 else 0.2
    first, last = math.ceil(ends[0] / step - 1e-9), math.floor(ends[1] / step + 1e-9)
    r = f"datum.value / ({folds} - {folds - 1} * datum.value)"
    x = across(
        "rho",
        "assumed rho (below it: correlation r of two folds)",
        ends,
        values=[round(k * step, 10) for k in range(first, last + 1)],
        labelExpr=f"[format(datum.value, '.1f'), format({r}, '.2~g')]",
        grid=False,
    )
    below = f", {LEAST_P:g} for all below" if least <= LEAST_P else ""
    scale = span(_least_p(data["curve"]), 1, type="log")
    ticks = {"values": _p_ticks(least), "format": "~g"}
    y = up("p", f"p-value (log scale{below})", scale=scale, **ticks)
    curve = chart(data, "curve").mark_line(strokeWidth=2, color=GRAY).encode(x=x, y=y)
    level = chart(data, "level").encode(y="p:Q")
    name = beside(level, 4, x="width", style="note")
    flip = chart(data, "flips").encode(x="rho:Q")
    flips = [flip.mark_rule(style="truth")]
    for side, (dx, dy, align) in FLIP_PLACE.items():
        text = flip.mark_text(y="height", dx=dx, dy=dy, align=align).encode(text="text:N")
        flips.append(text.transform_filter(alt.datum.side == side))
    points = chart(data, "points").encode(y="p:Q")
    names = "datum.label == '0.7' ? 'rho 0.7' : datum.label"
    legend = {"values": rules, "labelExpr": names}
    sizes = {"domain": [0, 1], "range": [90, 230]}
    dots = points.mark_point(filled=True).encode(
        x="rho:Q",
        size=alt.Size("chosen:O", legend=None, scale=sizes),
        color=theme.color("rule", RULES, legend=legend),
        shape=theme.shape("rule", RULES, RULE_SHAPES, legend=legend),
    )
    offset = {name: alt.expr(f"datum.{name}") for name in ("dx", "dy", "align")}
    texts = points.mark_text(**offset).encode(x="label_rho:Q", text="text:N")
    return alt.layer(level.mark_rule(strokeWidth=1.5), name, curve, *flips, dots, texts)


def _p_ticks(least: float) -> list[float]:
    decades = math.floor(math.log10(least))
    if decades >= -4:
        return [0.0001, 0.001, 0.01, 0.05, 0.1, 0.5, 1]
    return [10.0**-k for k in range(0, -decades + 1, math.ceil(-decades / 6))]
