"""Evaluate classifiers honestly with few labels.

One evaluation, from scores to a report: `read_scores` the items, `stratify` them, `allocate` the labels,
estimate with `stratified_accuracy` and quote `.interval()`; or let `accuracy_audit` do all of it.
"""
from workbench.adaptive import WaveEstimate, next_wave, wave_accuracy
from workbench.allocation import Allocation, allocate, allocation_variance
from workbench.audit import AccuracyAudit, accuracy_audit, compare_intervals, load_items
from workbench.confusion import AuditComparison, ConfusionCounts, compare_audits, pool_audits
from workbench.exercises import Feedback, check
from workbench.galois import GaloisField
from workbench.intervals import stratified_interval
from workbench.labeling import SheetLabels, draw_items, read_label_sheet, write_label_sheet
from workbench.metrics import LabeledItems, MetricAudit, load_labeled, metric_audit
from workbench.misclassification import (
    EstimatorComparison,
    PrevalenceEstimate,
    compare_estimators,
    estimate_prevalence,
)
from workbench.orthogonal import Balance, check_balance, hadamard, orthogonal_array
from workbench.populations import DigitForms, ScoredItems, digit_forms, digit_twin, read_scores, synthetic_scores
from workbench.prevalence_series import PrevalenceChange, PrevalenceSeries, prevalence_series
from workbench.prevalence_theory import AuditPlan, EstimatorTheory, estimator_theory, plan_audit
from workbench.replication import ReplicateEstimate, Replicates, replicate_estimate, replicates
from workbench.results import Interval, Result
from workbench.simulations.misclassification import (
    PrevalenceStudy,
    ShiftStudy,
    simulate_prevalence,
    simulate_shifts,
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
    "AccuracyAudit", "Allocation", "AuditComparison", "AuditPlan", "Balance", "BudgetPlan", "ConfusionCounts",
    "DesignStudy", "DigitForms", "EstimatorComparison", "EstimatorTheory", "Feedback", "GaloisField", "Interval",
    "LabeledItems", "LabelingGrid", "LabelingStudy", "MetricAudit", "PlanCurve", "PrevalenceChange",
    "PrevalenceEstimate", "PrevalenceSeries", "PrevalenceStudy", "ReplicateEstimate", "Replicates", "Result",
    "ScoredItems", "SheetLabels", "ShiftStudy", "Strata", "StratifiedEstimate", "SurveyDesign", "WaveEstimate",
    "accuracy_audit", "accuracy_variance", "allocate", "allocation_variance", "check", "check_balance",
    "compare_audits", "compare_estimators", "compare_intervals", "digit_forms", "digit_twin", "draw_items",
    "estimate_prevalence", "estimated_variance", "estimator_theory", "hadamard", "load_items", "load_labeled",
    "metric_audit", "next_wave", "orthogonal_array", "plan_audit", "plan_budget", "plan_curve", "pool_audits",
    "prevalence_series", "read_label_sheet", "read_scores", "replicate_estimate", "replicates", "simulate_grid",
    "simulate_labeling", "simulate_prevalence", "simulate_shifts", "stratified_accuracy", "stratified_interval",
    "stratify", "study_design", "synthetic_scores", "wave_accuracy", "write_label_sheet",
]
