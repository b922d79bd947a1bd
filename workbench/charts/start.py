"""The chart of the start page: mean confidence and accuracy of a program."""

from typing import Any

from workbench.charts import theme
from workbench.charts.theme import ESTIMATE, GRAY, OKABE_ITO, PERCENT, Figure, across, chart


def sureness(says: float, right: float, predicted: float | None = None) -> Figure:
    """Return bars of the mean confidence, the accuracy, and the learner's prediction, if any.

    Parameters
    ----------
    says, right : float
        Mean confidence and accuracy, as proportions.
    predicted : float, optional
        The predicted accuracy, as a proportion.
    """
    shares = {"mean confidence": says}
    guess = ""
    if predicted is not None:
        shares["your prediction"] = predicted
        guess = f" You predicted {predicted:.0%}."
    shares["accuracy"] = right
    bars = [{"who": who, "share": share, "text": f"{share:.1%}"} for who, share in shares.items()]
    return Figure(
        {"bars": bars},
        f"It claims {says:.1%}; it is correct on {right:.1%}",
        f"The mean confidence is {says:.1%}. The program is correct on {right:.1%} of the "
        f"forms.{guess}",
        _draw,
        height=150,
    )


def _draw(data: dict) -> Any:
    ticks = {"values": [k / 5 for k in range(6)], "format": PERCENT}
    base = chart(data, "bars").encode(
        y=theme.names("who"), x=across("share", "percentage of the forms", (0, 1.1), **ticks)
    )
    colors = {
        "mean confidence": GRAY,
        "your prediction": OKABE_ITO["purple"],
        "accuracy": ESTIMATE,
    }
    return theme.bars(base, "who", colors, dx=6)
