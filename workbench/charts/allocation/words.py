"""Names, colors and numbers as the charts of allocation show them."""

from workbench.charts import theme

METHODS = {
    "random": "random sampling",
    "proportional": "proportional",
    "equal": "equal shares",
    "neyman": "capped Neyman",
    "neyman_plus": "Neyman+",
    "neyman_iterated": "iterated Neyman",
    "voila": "VOILA",
}
STREAMED = {
    "voila": "VOILA",
    "s_voila": "S-VOILA",
    "s_voila_printed": "S-VOILA as printed",
    "neyman": "Neyman",
    "neyman_plus": "Neyman+",
    "uniform": "uniform",
    "reservoir": "reservoir",
}
PREDICTED = {"you predicted": theme.OKABE_ITO["purple"]}
TENS = [10**k for k in range(13)]


def count(labels: float) -> str:
    """Return a number of labels as text, with one decimal unless it is whole.

    Examples
    --------
    >>> count(1037), count(10.14), count(2.0)
    ('1,037', '10.1', '2')
    """
    return f"{labels:,.0f}" if abs(labels - round(labels)) < 0.05 else f"{labels:,.1f}"


def error_text(error: float) -> str:
    """Return a standard error as text: whole from 1,000 on, else with four digits.

    Examples
    --------
    >>> error_text(4148.2), error_text(0.012346)
    ('4,148', '0.01235')
    """
    return f"{error:,.0f}" if error >= 1000 else f"{error:.4g}"


def times(ratio: float) -> str:
    """Return a ratio as text: with three digits, or whole if it is large.

    Examples
    --------
    >>> times(248.2), times(1.0123)
    ('248 times', '1.01 times')
    """
    return f"{ratio:,.0f} times" if ratio >= 100 else f"{ratio:.3g} times"
