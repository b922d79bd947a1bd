"""Names and numbers as the charts of replication show them."""

TEXTBOOK = 1e-12


def row_name(row):
    """Return what a row of metrics is about."""
    name = statistic_name(row["statistic"])
    return name if row.get("group") is None else f"{name} in {row['group']}"


def statistic_name(statistic):
    """Return a statistic as it is written in text."""
    return {"f1": "F1", "auc": "AUC"}.get(statistic, statistic)


def short_mean(value):
    """Return a mean of signs at two digits, "0" and "1" without."""
    return f"{value:.2g}" if abs(value - round(value)) < TEXTBOOK else f"{round(value, 2) + 0.0:.2f}"
