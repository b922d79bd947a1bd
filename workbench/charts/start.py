"""The chart of the start page: how sure a program is, and how often it is right."""

import altair as alt

from workbench.charts import theme


def sureness(says: float, right: float, predicted: float | None = None) -> alt.TopLevelMixin:
    """Return the mean confidence beside the accuracy and, where there is one, the learner's guess of it.

    Parameters
    ----------
    says, right : float
        Mean confidence and accuracy, shares.
    predicted : float, optional
        The guess of the accuracy, a share.
    """
    bars = [("the program says", says), ("you predicted", predicted), ("it is right", right)]
    rows = [
        {"who": who, "share": share, "text": f"{share:.1%}"}
        for who, share in bars
        if share is not None
    ]
    base = theme.Chart(theme.rows("bars", rows)).encode(
        y=alt.Y("who:N", title=None, sort=None),
        x=alt.X(
            "share:Q",
            title="share of the forms",
            axis=theme.percents(values=[k / 5 for k in range(6)]),
            scale=theme.span(0, 1.1),
        ),
    )
    colors = {
        "the program says": theme.GRAY,
        "you predicted": theme.OKABE_ITO["purple"],
        "it is right": theme.ESTIMATE,
    }
    guess = "" if predicted is None else f" You predicted {predicted:.0%}."
    return theme.finish(
        theme.bars(base, "who", colors, dx=6),
        f"It says {says:.1%}; it is right in {right:.1%}",
        f"The program is {says:.1%} sure on average and right in {right:.1%} of the forms.{guess}",
        height=150,
    )
