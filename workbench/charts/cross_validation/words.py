"""Names, axes and titles of charts, for data of any size."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt

from workbench.charts.theme import Figure, span

LETTERS = 18


@dataclass(frozen=True)
class FramedFigure(Figure):
    """A figure whose title is above labels and plot, so that it stays on the page."""

    width: int | None = None
    height: int | None = None

    def chart(self) -> Any:
        """Return the altair chart with its theme, its title and its text alternative."""
        chart = super().chart()
        chart.title.frame = "bounds"
        return chart


def values_axis(values: Sequence, labeled: bool = True) -> dict[str, Any]:
    """Return the settings of an axis whose labels stay short for losses of any size."""
    largest = max(map(abs, values))
    extreme = largest >= 1e7 or 0 < largest < 1e-3
    return {
        "format": "~e" if extreme else alt.Undefined,
        "labelOverlap": True,
        "tickCount": 7,
        "labelSeparation": 6,
        "labels": labeled,
        "ticks": labeled,
    }


def two_lines() -> dict[str, Any]:
    """Return the settings of an axis that breaks names at their comma, to fit on a phone."""
    second = {"condition": {"test": "indexof(datum.label, ', ') >= 0", "value": -8}, "value": 0}
    return {"labelExpr": "split(datum.label, ', ')", "labelOffset": second}


def padded(values: Sequence) -> alt.Scale:
    """Return a scale with some room around the values, even if they are all equal."""
    low, high = min(values), max(values)
    room = 0.04 * (high - low) or 0.1 * abs(low) or 1.0
    return span(low - room, high + room, zero=False)


def short_names(models: Sequence[str]) -> list[str]:
    """Return the names, shortened to fit a legend but still all different."""
    short = [limited(name, LETTERS) for name in models]
    return [
        name if short.count(name) == 1 else f"{limited(model, LETTERS - 5)} ({k + 1})"
        for k, (name, model) in enumerate(zip(short, models, strict=True))
    ]


def limited(text: str, most: int) -> str:
    """Return a name of at most `most` letters; a longer one loses its middle."""
    return text if len(text) <= most else f"{text[: most - most // 3 - 1]}…{text[-(most // 3) :]}"
