"""Charts of replication for reports; the lesson adds `arrays`, `half_samples` and `intervals`."""

from workbench.charts.replication.comparisons import differences
from workbench.charts.replication.half_samples import replicate_plot
from workbench.charts.replication.intervals import metrics, psu_plot
