"""Intervals of a weighted mean: of shares of 0 and 1, and of values of any kind."""
from workbench.intervals.shares import (
    METHODS,
    UNDERSAMPLED,
    Cells,
    beta_moments,
    candidate_quantiles,
    check_sample,
    default_limits,
    exact_notes,
    few_notes,
    holm,
    hypergeometric_pmf,
    limiting_notes,
    monotone_limit,
    proven_limits,
    quantile,
    refuse_few,
    stratified_interval,
    stratum_cells,
    teaching_note,
    three_moment_quantile,
    wilson,
)

__all__ = [
    "METHODS", "UNDERSAMPLED", "Cells", "beta_moments", "candidate_quantiles", "check_sample", "default_limits",
    "exact_notes", "few_notes", "holm", "hypergeometric_pmf", "limiting_notes", "monotone_limit", "proven_limits",
    "quantile", "refuse_few", "stratified_interval", "stratum_cells", "teaching_note", "three_moment_quantile",
    "wilson",
]
