"""A chart of the posterior of the mean difference and its regions."""

import textwrap
from collections.abc import Sequence

import altair as alt
import numpy as np
import scipy

from workbench import checks
from workbench.charts import theme
from workbench.charts.cross_validation.fold_means import FIRST, SECOND, SIDES
from workbench.charts.cross_validation.words import short_names, values_axis
from workbench.cross_validation.losses import KINDS
from workbench.cross_validation.model_tests import BayesianTTest
from workbench.results.digits import number, probability

REGIONS = {"first better": FIRST, "practically equal": theme.GRAY, "second better": SECOND}
MOST_LETTERS = 50
LETTER = 7.5  # pixels
REACH = 8.0


def posterior_data(result: BayesianTTest, models: Sequence[str] = SIDES) -> dict:
    """Return the rows of `posterior`: the density in each region, and the names of the regions."""
    low, high = _posterior_range(result)
    cuts, chance = _cuts(result), result.regions
    names = [name for name in chance if result.half_width or name != "practically equal"]
    points, ends = (
        _density_points(result, low, high),
        np.clip([low, *cuts, high], low, high).tolist(),
    )
    density = [
        {"difference": x, "density": y, "region": name}
        for name, start, end in zip(names, ends[:-1], ends[1:], strict=True)
        if start < end
        for xs in [points[(start <= points) & (points <= end)]]
        for x, y in zip(xs.tolist(), result.density(xs).tolist(), strict=True)
    ]
    where = dict(
        zip(
            names,
            ("left", "middle", "right") if result.half_width else ("left", "right"),
            strict=True,
        )
    )
    return {
        "density": density,
        "rope": [{"difference": cut} for cut in cuts if low < cut < high],
        "names": [
            {"text": [who, f"{what} {probability(chance[name])}"], "at": where[name]}
            for name in names
            for who, what in [_region_lines(name, models)]
        ],
        "notes": _not_drawn(result, low, high),
    }


def _cuts(result: BayesianTTest) -> tuple:
    """Return the ends of the region of practical equivalence, or 0 if there is none."""
    return (-result.half_width, result.half_width) if result.half_width else (0.0,)


def _density_points(result: BayesianTTest, low: float, high: float) -> np.ndarray:
    """Return the points of the density: dense near its peak, and the ends and cuts of the axis."""
    near = result.estimate + result.standard_error * np.linspace(-REACH, REACH, 201)
    points = np.unique([*near, *np.linspace(low, high, 41), *_cuts(result), result.estimate])
    return np.unique([low, *points[(low <= points) & (points <= high)], high])


def _posterior_range(result: BayesianTTest) -> tuple:
    """Return the ends of the axis, which contains the density and the cuts near it."""
    reach = result.standard_error * min(float(scipy.special.stdtrit(result.df, 0.998)), REACH)
    near = [cut for cut in _cuts(result) if abs(cut - result.estimate) <= 3 * reach]
    low, high = min([result.estimate - reach, *near]), max([result.estimate + reach, *near])
    return low - 0.1 * reach * (low in near), high + 0.1 * reach * (high in near)


def _not_drawn(result: BayesianTTest, low: float, high: float) -> list:
    """Return a text on what lies beyond the axis, and the corner with room for it."""
    hidden = [cut for cut in _cuts(result) if not low < cut < high]
    if not hidden:
        return []
    far = "right" if hidden[0] > result.estimate else "left"
    within = f"practically equal: from {number(-result.half_width)} to {number(result.half_width)}"
    if not result.half_width:
        text = f"0, no difference, is far to the {far}"
    elif abs(result.estimate) < result.half_width:
        text = f"the whole chart is {within}" if len(hidden) == 2 else within
    else:
        text = f"{within}, far to the {far}" if len(hidden) == 2 else within
    return [
        {
            "text": textwrap.wrap(text, 26),
            "at": "right" if result.estimate - low < 0.4 * (high - low) else "left",
        }
    ]


def _region_lines(region: str, models: tuple) -> tuple:
    """Return the name of a region in two lines: the model that is better there, if any."""
    names = dict(zip(("first better", "second better"), short_names(models), strict=True))
    return (names[region], "better") if region in names else ("practically", "equal")


def posterior_words(result: BayesianTTest, models: Sequence[str] = SIDES) -> tuple[str, str]:
    """Return the title and the text alternative of `posterior`."""
    low, high = result.interval()
    rope = f", practically equal {probability(result.rope)}" if result.half_width else ""
    within = (
        f", practically equal (within {number(result.half_width)}) with {result.rope:.3f}"
        if rope
        else ""
    )
    first, second = short_names(models)
    df = checks.counted(result.df, "degree of freedom", "degrees of freedom")
    beyond = "".join(
        f" {' '.join(note['text']).capitalize()}."
        for note in _not_drawn(result, *_posterior_range(result))
    )
    ours, theirs = (result.regions[f"{side} better"] for side in SIDES)
    return (
        f"Probability that {first} is better {probability(ours)}{rope}, "
        f"{second} {probability(theirs)}",
        f"Posterior of the mean difference {models[0]} minus {models[1]}, a t with {df} around "
        f"{number(result.estimate)}, 95% credible interval {number(low)} to {number(high)}. "
        f"{models[0]} is better "
        f"with probability {ours:.3f}{within}, {models[1]} with {theirs:.3f}.{beyond}",
    )


def posterior(result: BayesianTTest, models: Sequence[str] = SIDES) -> alt.TopLevelMixin:
    """Return the posterior density of the mean difference, shaded by the model that is better.

    Parameters
    ----------
    result : workbench.BayesianTTest
        The posterior.
    models : pair of str
        Names of the two models.
    """
    data = posterior_data(result, models)
    named = models if sum(map(len, models)) <= MOST_LETTERS else short_names(models)
    x = alt.X(
        "difference:Q",
        title=f"mean difference in {KINDS[result.scores][0]}: {' minus '.join(named)}",
        axis=values_axis([row["difference"] for row in data["density"]]),
        scale=alt.Scale(nice=False),
    )
    density = theme.chart(data, "density")
    areas = density.mark_area(opacity=0.55).encode(
        x=x,
        y=alt.Y("density:Q", axis=None, stack=None),
        color=theme.color("region", REGIONS, legend=None),
    )
    line = density.mark_line(strokeWidth=1.5, color=theme.GRAY).encode(x=x, y="density:Q")
    rules = theme.chart(data, "rope").mark_rule(strokeDash=[4, 3]).encode(x="difference:Q")
    # over its region, but next to the names at the ends
    wide = LETTER * max(len(line) for row in data["names"] for line in row["text"])
    middle = {
        "expr": f"clamp(scale('x', 0), min({1.5 * wide}, width / 2), max(width - {1.5 * wide}, width / 2))"
    }
    texts = [
        theme.chart(data, name)
        .mark_text(x=place, y=y, align=align, baseline="top", lineHeight=15, limit=theme.WIDTH // 3)
        .encode(text="text:N")
        .transform_filter(alt.datum.at == at)
        for name, y in (("names", -32), ("notes", 6))
        for at, place, align in (
            ("left", 0, "left"),
            ("middle", middle, "center"),
            ("right", "width", "right"),
        )
    ]
    return theme.finish(
        alt.layer(areas, line, rules, *texts), *posterior_words(result, models), height=220
    )
