"""Charts of replication for reports; those of the lesson are in `arrays`, `half_samples` and `intervals`."""
from workbench.charts.replication.half_samples import replicate_plot, replicate_plot_words
from workbench.charts.replication.intervals import (
    metrics,
    metrics_data,
    metrics_words,
    psu_data,
    psu_plot,
    psu_words,
)
