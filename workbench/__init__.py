"""Evaluate classifiers honestly with few labels.

One evaluation, from scores to a report: `read_scores` the items, `stratify` them, `allocate` the labels,
estimate with `stratified_accuracy` and quote `.interval()`; or let `accuracy_audit` do all of it.
"""
from workbench.adaptive import WaveEstimate, next_wave, wave_accuracy
from workbench.allocation import Allocation, allocate, allocation_variance
from workbench.audit import AccuracyAudit, accuracy_audit, compare_intervals, load_items
from workbench.exercises import Feedback, check
from workbench.galois import GaloisField
from workbench.intervals import stratified_interval
from workbench.labeling import SheetLabels, draw_items, read_label_sheet, write_label_sheet
from workbench.metrics import LabeledItems, MetricAudit, load_labeled, metric_audit
from workbench.orthogonal import Balance, check_balance, hadamard, orthogonal_array
from workbench.populations import DigitForms, ScoredItems, digit_forms, digit_twin, read_scores, synthetic_scores
from workbench.replication import ReplicateEstimate, Replicates, replicate_estimate, replicates
from workbench.results import Interval, Result
from workbench.simulations.replication import (
    CoverageStudy,
    RandomHalvesStudy,
    simulate_coverage,
    simulate_random_halves,
)
from workbench.simulations.stratified import (
    DesignStudy,
    LabelingGrid,
    LabelingStudy,
    simulate_grid,
    simulate_labeling,
    study_design,
)
from workbench.stratification import Strata, stratify
from workbench.stratified import (
    BudgetPlan,
    PlanCurve,
    StratifiedEstimate,
    accuracy_variance,
    estimated_variance,
    plan_budget,
    plan_curve,
    stratified_accuracy,
)
from workbench.survey_design import SurveyDesign

__all__ = [
    "AccuracyAudit", "Allocation", "Balance", "BudgetPlan", "CoverageStudy", "DesignStudy", "DigitForms", "Feedback",
    "GaloisField", "Interval", "LabeledItems", "LabelingGrid", "LabelingStudy", "MetricAudit", "PlanCurve",
    "RandomHalvesStudy", "ReplicateEstimate", "Replicates", "Result", "ScoredItems", "SheetLabels", "Strata",
    "StratifiedEstimate", "SurveyDesign", "WaveEstimate", "accuracy_audit", "accuracy_variance", "allocate",
    "allocation_variance", "check", "check_balance", "compare_intervals", "digit_forms", "digit_twin", "draw_items",
    "estimated_variance", "hadamard", "load_items", "load_labeled", "metric_audit", "next_wave", "orthogonal_array",
    "plan_budget", "plan_curve", "read_label_sheet", "read_scores", "replicate_estimate", "replicates",
    "simulate_coverage", "simulate_grid", "simulate_labeling", "simulate_random_halves", "stratified_accuracy",
    "stratified_interval", "stratify", "study_design", "synthetic_scores", "wave_accuracy", "write_label_sheet",
]
