"""Evaluate classifiers honestly with few labels.

One evaluation, from scores to a report: `read_scores` the items, `stratify` them, `allocate` the labels,
estimate with `stratified_accuracy` and quote `.interval()`; or let `accuracy_audit` do all of it.
"""
from workbench.allocation.plans import LabelPlan, draw_rows, load_strata, plan_labels
from workbench.allocation.rules import Allocation, allocate, allocation_variance, reduce_sample
from workbench.allocation.samples import FrameSample, StratumSummary, sample, summarize
from workbench.allocation.stream import StreamEstimate, StreamSampler
from workbench.course.clerks import ClerkStudies, clerk_losses, clerk_studies, reader_losses
from workbench.course.digit_forms import DigitForms, digit_forms, digit_twin, read_by_next_box, register_errors
from workbench.course.solar import SolarMonths, solar_audit, solar_months, solar_rates
from workbench.cross_validation.comparison import ComparedTests, ModelComparison, compare_models, compare_tests
from workbench.cross_validation.kfold import (
    KFoldTTest,
    VarianceEstimates,
    ZeroVarianceError,
    half_sample_rho,
    kfold_t_test,
    r_from_rho,
    rho_from_r,
    variance_estimates,
)
from workbench.cross_validation.learners import exchangeable_population, gaussian_population, openml_population
from workbench.cross_validation.losses import CVLosses
from workbench.cross_validation.model_tests import (
    BayesianTTest,
    ModelTest,
    NestedInterval,
    bayesian_correlated_t,
    five_by_two_f_test,
    five_by_two_t_test,
    mcnemar_test,
    nadeau_bengio_test,
    nested_cv_interval,
)
from workbench.data.label_sheets import SheetLabels, draw_items, read_label_sheet, write_label_sheet
from workbench.data.scored_items import ScoredItems, read_scores, synthetic_scores
from workbench.exercises import Feedback, check
from workbench.intervals import stratified_interval
from workbench.misclassification.confusion import AuditComparison, ConfusionCounts, compare_audits, pool_audits
from workbench.misclassification.files import counts_at_audit, load_audit, load_periods
from workbench.misclassification.prevalence import (
    EstimatorComparison,
    PrevalenceEstimate,
    compare_estimators,
    estimate_prevalence,
)
from workbench.misclassification.series import PrevalenceChange, PrevalenceSeries, prevalence_series
from workbench.misclassification.theory import AuditPlan, EstimatorTheory, estimator_theory, plan_audit
from workbench.replication.arrays import Balance, check_balance, hadamard, orthogonal_array
from workbench.replication.designs import SurveyDesign
from workbench.replication.galois import GaloisField
from workbench.replication.metrics import LabeledItems, MetricAudit, load_labeled, metric_audit
from workbench.replication.replicates import ReplicateEstimate, Replicates, replicate_estimate, replicates
from workbench.results import Interval, Note, Result, Table
from workbench.simulations.allocation import StreamStudy, jump_stream, simulate_stream
from workbench.simulations.cross_validation import ComparisonStudy, TypeOneStudy, simulate_comparison, simulate_type_one
from workbench.simulations.misclassification import PrevalenceStudy, ShiftStudy, simulate_prevalence, simulate_shifts
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
from workbench.stratified.accuracy import (
    BudgetPlan,
    PlanCurve,
    StratifiedEstimate,
    accuracy_variance,
    estimated_variance,
    plan_budget,
    plan_curve,
    stratified_accuracy,
)
from workbench.stratified.audit import AccuracyAudit, accuracy_audit, compare_intervals, load_items
from workbench.stratified.strata import Strata, stratify
from workbench.stratified.waves import WaveEstimate, next_wave, wave_accuracy

__all__ = [
    "AccuracyAudit", "Allocation", "AuditComparison", "AuditPlan", "Balance", "BayesianTTest", "BudgetPlan",
    "CVLosses", "ClerkStudies", "ComparedTests", "ComparisonStudy", "ConfusionCounts", "CoverageStudy",
    "DesignStudy", "DigitForms", "EstimatorComparison", "EstimatorTheory", "Feedback", "FrameSample", "GaloisField",
    "Interval", "KFoldTTest", "LabelPlan", "LabeledItems", "LabelingGrid", "LabelingStudy", "MetricAudit",
    "ModelComparison", "ModelTest", "NestedInterval", "Note", "PlanCurve", "PrevalenceChange", "PrevalenceEstimate",
    "PrevalenceSeries", "PrevalenceStudy", "RandomHalvesStudy", "ReplicateEstimate", "Replicates", "Result",
    "ScoredItems", "SheetLabels", "ShiftStudy", "SolarMonths", "Strata", "StratifiedEstimate", "StratumSummary",
    "StreamEstimate", "StreamSampler", "StreamStudy", "SurveyDesign", "Table", "TypeOneStudy", "VarianceEstimates",
    "WaveEstimate", "ZeroVarianceError", "accuracy_audit", "accuracy_variance", "allocate", "allocation_variance",
    "bayesian_correlated_t", "check", "check_balance", "clerk_losses", "clerk_studies", "compare_audits",
    "compare_estimators", "compare_intervals", "compare_models", "compare_tests", "counts_at_audit", "digit_forms",
    "digit_twin", "draw_items", "draw_rows", "estimate_prevalence", "estimated_variance", "estimator_theory",
    "exchangeable_population", "five_by_two_f_test", "five_by_two_t_test", "gaussian_population", "hadamard",
    "half_sample_rho", "jump_stream", "kfold_t_test", "load_audit", "load_items", "load_labeled", "load_periods",
    "load_strata", "mcnemar_test", "metric_audit", "nadeau_bengio_test", "nested_cv_interval", "next_wave",
    "openml_population", "orthogonal_array", "plan_audit", "plan_budget", "plan_curve", "plan_labels",
    "pool_audits", "prevalence_series", "r_from_rho", "read_by_next_box", "read_label_sheet", "read_scores",
    "reader_losses", "reduce_sample", "register_errors", "replicate_estimate", "replicates", "rho_from_r", "sample",
    "simulate_comparison", "simulate_coverage", "simulate_grid", "simulate_labeling", "simulate_prevalence",
    "simulate_random_halves", "simulate_shifts", "simulate_stream", "simulate_type_one", "solar_audit",
    "solar_months", "solar_rates", "stratified_accuracy", "stratified_interval", "stratify", "study_design",
    "summarize", "synthetic_scores", "variance_estimates", "wave_accuracy", "write_label_sheet",
]
