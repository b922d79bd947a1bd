"""Names, colors and numbers as the charts of misclassification show them."""

from workbench.charts.theme import GRAY, OKABE_ITO
from workbench.misclassification.methods import estimators

# Color and dash of each method. A method that you add takes one of the remaining colors.
LOOKS = {
    "classify_and_count": ("vermilion", [2, 2]),
    "calibration": ("purple", [10, 4]),
    "mixed": ("blue", [1, 0]),
    "mle": ("green", [6, 2, 2, 2]),
    "misclassification": ("sky", [4, 2]),
    "subtracted_bias": ("orange", [1, 3]),
    "baseline": ("gray", [12, 2, 2, 2]),
}
SPARE_COLORS = ("yellow", "black")


def names() -> dict[str, str]:
    """Return the title of each method, in the order of the charts."""
    methods = estimators()
    return {name: methods[name].title for name in [*LOOKS, *methods] if name in methods}


def _looks() -> dict[str, tuple]:
    """Return the color and the dash of each method by its title."""
    added = {
        name: (SPARE_COLORS[k % len(SPARE_COLORS)], [3 + k, 3])
        for k, name in enumerate(sorted(set(estimators()) - set(LOOKS)))
    }
    return {title: (LOOKS | added)[name] for name, title in names().items()}


def colors() -> dict[str, str]:
    """Return the color of each method by its title."""
    return {title: OKABE_ITO.get(color, GRAY) for title, (color, _) in _looks().items()}


def dashes() -> dict[str, list[int]]:
    """Return the dash of each method by its title."""
    return {title: dash for title, (_, dash) in _looks().items()}


def class_name(label: object) -> str:
    """Return the name of a class on an axis; a number gets the word "class" before it.

    Examples
    --------
    >>> class_name("panels"), class_name(1)
    ('panels', 'class 1')
    """
    return text if (text := str(label))[:1].isalpha() else f"class {text}"


def points(change: float) -> str:
    """Return a change in percentage points."""
    return f"{100 * change:+.2f} points"
