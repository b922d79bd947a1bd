"""Names and numbers as the charts of replication show them."""

from collections.abc import Mapping

from workbench.replication.metrics import row_title

TEXTBOOK = 1e-12


def row_name(row: Mapping) -> str:
    """Return the name of a row of metrics, with its group, if any."""
    return row_title(row) if row.get("group") is None else f"{row_title(row)} in {row['group']}"


def short_mean(value: float) -> str:
    """Return a mean of signs with two decimals; whole numbers have none.

    Examples
    --------
    >>> short_mean(-0.125), short_mean(0.001), short_mean(-1.0)
    ('-.12', '.00', '-1')
    """
    return (
        f"{value:.2g}"
        if abs(value - round(value)) < TEXTBOOK
        else f"{round(value, 2) + 0.0:.2f}".replace("0.", ".")
    )
