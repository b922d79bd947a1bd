"""The chart of the start page: mean confidence and accuracy of a program."""

import altair as alt

from workbench.charts import theme


def sureness(says: float, right: float, predicted: float | None = None) -> alt.TopLevelMixin:
    """Return bars of the mean confidence, the accuracy, and the learner's prediction, if any.

    Parameters
    ----------
    says, right : float
        Mean confidence and accuracy, as proportions.
    predicted : float, optional
        The predicted accuracy, as a proportion.
    """
    bars = [("mean confidence", says), ("your prediction", predicted), ("accuracy", right)]
    rows = [
        {"who": who, "share": share, "text": f"{share:.1%}"}
        for who, share in bars
        if share is not None
    ]
    base = theme.Chart(theme.rows("bars", rows)).encode(
        y=alt.Y("who:N", title=None, sort=None),
        x=alt.X(
            "share:Q",
            title="percentage of the forms",
            axis=theme.percents(values=[k / 5 for k in range(6)]),
            scale=theme.span(0, 1.1),
        ),
    )
    colors = {
        "mean confidence": theme.GRAY,
        "your prediction": theme.OKABE_ITO["purple"],
        "accuracy": theme.ESTIMATE,
    }
    guess = "" if predicted is None else f" You predicted {predicted:.0%}."
    return theme.finish(
        theme.bars(base, "who", colors, dx=6),
        f"It claims {says:.1%}; it is correct on {right:.1%}",
        f"The mean confidence is {says:.1%}. The program is correct on {right:.1%} of the "
        f"forms.{guess}",
        height=150,
    )
