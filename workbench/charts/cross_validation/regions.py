"""A chart of the posterior of the mean difference and its regions."""

import functools
import textwrap
from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np
import scipy

from workbench import checks
from workbench.charts import theme
from workbench.charts.cross_validation.fold_means import FIRST, SECOND, SIDES
from workbench.charts.cross_validation.words import short_names, values_axis
from workbench.charts.theme import GRAY, WIDTH, Figure, across, chart
from workbench.cross_validation.losses import KINDS
from workbench.cross_validation.model_tests import BayesianTTest
from workbench.results import rows_of
from workbench.results.digits import number, probability

REGIONS = {"first better": FIRST, "practically equal": GRAY, "second better": SECOND}
MOST_LETTERS = 50
LETTER = 7.5  # pixels
REACH = 8.0


def posterior(result: BayesianTTest, models: Sequence[str] = SIDES) -> Figure:
    """Return the posterior density of the mean difference, shaded by the model that is better.

    Parameters
    ----------
    result : workbench.BayesianTTest
        The posterior.
    models : pair of str
        Names of the two models.
    """
    short = short_names(models)
    first, second = (result.regions[f"{side} better"] for side in SIDES)
    # region, name in two lines, probability, and place of the name
    regions = [
        ("first better", [short[0], f"better {probability(first)}"], "left"),
        ("second better", [short[1], f"better {probability(second)}"], "right"),
    ]
    cuts, equal, within = [0.0], "", ""
    if result.half_width:
        cuts, rope = [-result.half_width, result.half_width], probability(result.rope)
        regions.insert(1, ("practically equal", ["practically", f"equal {rope}"], "middle"))
        equal = f", practically equal {rope}"
        within = f", practically equal (within {number(result.half_width)}) with {result.rope:.3f}"
    low, high = _ends(result, cuts)
    points = _density_points(result, cuts, low, high)
    edges = np.clip([low, *cuts, high], low, high).tolist()
    density = []
    for (region, *_), start, end in zip(regions, edges[:-1], edges[1:], strict=True):
        if start < end:
            x = points[(start <= points) & (points <= end)]
            density += rows_of(difference=x, density=result.density(x), region=[region] * x.size)
    notes = []
    hidden = _hidden(result, cuts, low, high)
    if hidden:
        side = "right" if result.estimate - low < 0.4 * (high - low) else "left"
        notes.append({"text": textwrap.wrap(hidden, 26), "at": side})
        hidden = f" {hidden.capitalize()}."
    data = {"density": density, "rope": [{"difference": cut} for cut in cuts if low < cut < high]}
    data["names"] = [{"text": text, "at": at} for _, text, at in regions]
    data["notes"] = notes
    lower, upper = result.interval()
    df = checks.counted(result.df, "degree of freedom", "degrees of freedom")
    distribution = f"a t with {df} around {number(result.estimate)}"
    name, other = models
    alternative = (
        f"Posterior of the mean difference {name} minus {other}, {distribution}, 95% credible "
        f"interval {number(lower)} to {number(upper)}. {name} is better with probability "
        f"{first:.3f}{within}, {other} with {second:.3f}.{hidden}"
    )
    title = f"Probability that {short[0]} is better {probability(first)}{equal}, "
    title += f"{short[1]} {probability(second)}"
    names = models if sum(map(len, models)) <= MOST_LETTERS else short
    axis = f"mean difference in {KINDS[result.scores][0]}: {' minus '.join(names)}"
    return Figure(data, title, alternative, functools.partial(_draw, axis), height=220)


def _density_points(result: BayesianTTest, cuts: list, low: float, high: float) -> np.ndarray:
    """Return the points of the density: dense near its peak, and the ends and cuts of the axis."""
    near = result.estimate + result.standard_error * np.linspace(-REACH, REACH, 201)
    points = np.unique([*near, *np.linspace(low, high, 41), *cuts, result.estimate])
    return np.unique([low, *points[(low <= points) & (points <= high)], high])


def _ends(result: BayesianTTest, cuts: list) -> tuple[float, float]:
    """Return the ends of the axis, which contains the density and the cuts near it."""
    reach = result.standard_error * min(float(scipy.special.stdtrit(result.df, 0.998)), REACH)
    near = [cut for cut in cuts if abs(cut - result.estimate) <= 3 * reach]
    low, high = min([result.estimate - reach, *near]), max([result.estimate + reach, *near])
    return low - 0.1 * reach * (low in near), high + 0.1 * reach * (high in near)


def _hidden(result: BayesianTTest, cuts: list, low: float, high: float) -> str:
    """Return a text on the cuts that lie beyond the axis, "" if there is none."""
    hidden = [cut for cut in cuts if not low < cut < high]
    if not hidden:
        return ""
    side = "right" if hidden[0] > result.estimate else "left"
    if not result.half_width:
        return f"0, no difference, is far to the {side}"
    text = f"practically equal: from {number(cuts[0])} to {number(cuts[1])}"
    if len(hidden) == 1:
        return text
    if abs(result.estimate) < result.half_width:
        return f"the whole chart is {text}"
    return f"{text}, far to the {side}"


def _draw(title: str, data: dict) -> Any:
    differences = [row["difference"] for row in data["density"]]
    scale = {"nice": False}
    density = chart(data, "density").encode(
        x=across("difference", title, scale=scale, **values_axis(differences))
    )
    areas = density.mark_area(opacity=0.55).encode(
        y=alt.Y("density:Q", axis=None, stack=None),
        color=theme.color("region", REGIONS, legend=None),
    )
    line = density.mark_line(strokeWidth=1.5, color=GRAY).encode(y="density:Q")
    rules = chart(data, "rope").mark_rule(strokeDash=[4, 3]).encode(x="difference:Q")
    # over its region, but next to the names at the ends
    width = LETTER * max(len(line) for row in data["names"] for line in row["text"])
    least, most = f"min({1.5 * width}, width / 2)", f"max(width - {1.5 * width}, width / 2)"
    places = (
        ("left", 0, "left"),
        ("middle", {"expr": f"clamp(scale('x', 0), {least}, {most})"}, "center"),
        ("right", "width", "right"),
    )
    look = {"baseline": "top", "lineHeight": 15, "limit": WIDTH // 3}
    texts = []
    for name, y in (("names", -32), ("notes", 6)):
        base = chart(data, name).encode(text="text:N")
        for side, x, align in places:
            text = base.mark_text(x=x, y=y, align=align, **look)
            texts.append(text.transform_filter(alt.datum.at == side))
    return alt.layer(areas, line, rules, *texts)
