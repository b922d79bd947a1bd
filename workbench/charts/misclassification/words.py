"""Names, colors and numbers as the charts of misclassification show them."""
from __future__ import annotations

import altair as alt


def ink() -> alt.Color:
    """Return the color of text on a cell that is dark or not."""
    return alt.Color("dark:O", legend=None, scale=alt.Scale(domain=[0, 1], range=["#000000", "#ffffff"]))


def short_share(value: float, digits: int = 4) -> str:
    """Return a share below 1 without its leading zero."""
    text = f"{value:.{digits}f}"
    return text[1:] if text.startswith("0.") else text


def points(change: float) -> str:
    """Return a change in percentage points."""
    return f"{100 * change:+.2f} points"
