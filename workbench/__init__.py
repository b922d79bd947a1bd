"""Evaluate classifiers honestly with few labels.

One evaluation, from scores to a report: `read_scores` the items, `stratify` them, `allocate` the labels,
estimate with `stratified_accuracy` and quote `.interval()`; or let `accuracy_audit` do all of it.
"""
from workbench.adaptive import WaveEstimate, next_wave, wave_accuracy
from workbench.allocation import Allocation, allocate, allocation_variance, reduce_sample
from workbench.audit import AccuracyAudit, accuracy_audit, compare_intervals, load_items
from workbench.exercises import Feedback, check
from workbench.frame_samples import FrameSample, StratumSummary, sample, summarize
from workbench.galois import GaloisField
from workbench.intervals import stratified_interval
from workbench.label_plans import LabelPlan, draw_rows, load_strata, plan_labels
from workbench.labeling import SheetLabels, draw_items, read_label_sheet, write_label_sheet
from workbench.metrics import LabeledItems, MetricAudit, load_labeled, metric_audit
from workbench.orthogonal import Balance, check_balance, hadamard, orthogonal_array
from workbench.populations import (
    DigitForms,
    ScoredItems,
    digit_forms,
    digit_twin,
    read_scores,
    register_errors,
    synthetic_scores,
)
from workbench.replication import ReplicateEstimate, Replicates, replicate_estimate, replicates
from workbench.results import Interval, Result
from workbench.simulations.allocation import StreamStudy, jump_stream, simulate_stream
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
    "AccuracyAudit", "Allocation", "Balance", "BudgetPlan", "CoverageStudy", "DesignStudy", "DigitForms",
    "Feedback", "FrameSample", "GaloisField", "Interval", "LabelPlan", "LabeledItems", "LabelingGrid",
    "LabelingStudy", "MetricAudit", "PlanCurve", "RandomHalvesStudy", "ReplicateEstimate", "Replicates", "Result",
    "ScoredItems", "SheetLabels", "Strata", "StratifiedEstimate", "StratumSummary", "StreamStudy", "SurveyDesign",
    "WaveEstimate", "accuracy_audit", "accuracy_variance", "allocate", "allocation_variance", "check",
    "check_balance", "compare_intervals", "digit_forms", "digit_twin", "draw_items", "draw_rows",
    "estimated_variance", "hadamard", "jump_stream", "load_items", "load_labeled", "load_strata", "metric_audit",
    "next_wave", "orthogonal_array", "plan_budget", "plan_curve", "plan_labels", "read_label_sheet", "read_scores",
    "reduce_sample", "register_errors", "replicate_estimate", "replicates", "sample", "simulate_coverage",
    "simulate_grid", "simulate_labeling", "simulate_random_halves", "simulate_stream", "stratified_accuracy",
    "stratified_interval", "stratify", "study_design", "summarize", "synthetic_scores", "wave_accuracy",
    "write_label_sheet",
]
