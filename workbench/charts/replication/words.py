"""Names and numbers as the charts of replication show them."""
from __future__ import annotations

from collections.abc import Mapping

TEXTBOOK = 1e-12


def row_name(row: Mapping) -> str:
    """Return what a row of metrics is about."""
    name = statistic_name(row["metric"]) + ("" if row.get("label") is None else f" of {row['label']}")
    return name if row.get("group") is None else f"{name} in {row['group']}"


def statistic_name(statistic: str) -> str:
    """Return a statistic as it is written in text."""
    return {"f1": "F1", "macro_f1": "macro F1", "auc": "AUC"}.get(statistic, statistic)


def short_mean(value: float) -> str:
    """Return a mean of signs at two digits, "0" and "1" without.

    Examples
    --------
    >>> short_mean(-0.125), short_mean(0.001), short_mean(-1.0)
    ('-.12', '.00', '-1')
    """
    return f"{value:.2g}" if abs(value - round(value)) < TEXTBOOK else f"{round(value, 2) + 0.0:.2f}".replace("0.", ".")
