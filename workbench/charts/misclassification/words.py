"""Names, colors and numbers as the charts of misclassification show them."""
from __future__ import annotations

import altair as alt


def ink() -> alt.Color:
    """Return the color of text on a cell that is dark or not."""
    return alt.Color("dark:O", legend=None, scale=alt.Scale(domain=[0, 1], range=["#000000", "#ffffff"]))


def class_name(label: object) -> str:
    """Return a class as an axis calls it: a number alone would say nothing.

    Examples
    --------
    >>> class_name("panels"), class_name(1)
    ('panels', 'class 1')
    """
    return text if (text := str(label))[:1].isalpha() else f"class {text}"


def short_share(value: float, digits: int = 4) -> str:
    """Return a share below 1 without its leading zero."""
    text = f"{value:.{digits}f}"
    return text[1:] if text.startswith("0.") else text


def points(change: float) -> str:
    """Return a change in percentage points."""
    return f"{100 * change:+.2f} points"
