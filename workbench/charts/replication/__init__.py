"""Charts of replication: half-samples, arrays and fields of the lesson, metrics of a report."""
from workbench.charts.replication.arrays import (
    array,
    array_data,
    array_words,
    field,
    field_data,
    field_words,
    unbalanced_pairs,
)
from workbench.charts.replication.half_samples import (
    boxes,
    boxes_data,
    boxes_words,
    cross_terms,
    first_look,
    first_look_words,
    halves,
    halves_data,
    halves_words,
    naive,
    replicate_plot,
    replicate_plot_words,
    values_data,
)
from workbench.charts.replication.intervals import (
    coverage,
    coverage_data,
    coverage_words,
    metrics,
    metrics_data,
    metrics_words,
    psu_data,
    psu_plot,
    psu_words,
)

__all__ = [
    "array", "array_data", "array_words", "boxes", "boxes_data", "boxes_words", "coverage", "coverage_data",
    "coverage_words", "cross_terms", "field", "field_data", "field_words", "first_look", "first_look_words",
    "halves", "halves_data", "halves_words",
    "metrics", "metrics_data", "metrics_words", "naive", "psu_data", "psu_plot", "psu_words", "replicate_plot",
    "replicate_plot_words", "unbalanced_pairs", "values_data",
]
