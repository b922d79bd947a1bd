"""Intervals of a weighted mean: of proportions, and of values of any kind."""

from workbench.intervals.limits import three_moment_quantile
from workbench.intervals.shares import (
    METHODS,
    Cells,
    added_labels,
    check_part,
    check_sample,
    default_limits,
    exact_notes,
    few_notes,
    holm,
    hypergeometric_pmf,
    limiting_notes,
    monotone_limits,
    proven_limits,
    quantile,
    refuse_few,
    stratified_interval,
    stratum_cells,
    teaching_note,
    wald_limits,
    weighted_interval,
    wilson,
)
