"""Evaluate classifiers honestly with few labels.

One evaluation, from scores to a report: `read_scores` the items, `stratify` them, `allocate` the labels,
estimate with `stratified_accuracy` and quote `.interval()`; or let `accuracy_audit` do all of it.
"""
from workbench.adaptive import WaveEstimate, next_wave, wave_accuracy
from workbench.allocation import Allocation, allocate, allocation_variance
from workbench.audit import AccuracyAudit, accuracy_audit, compare_intervals, load_items
from workbench.cross_validation import (
    KFoldTTest,
    VarianceEstimates,
    ZeroVarianceError,
    half_sample_rho,
    kfold_t_test,
    r_from_rho,
    rho_from_r,
    variance_estimates,
)
from workbench.cv_losses import CVLosses
from workbench.exercises import Feedback, check
from workbench.galois import GaloisField
from workbench.intervals import stratified_interval
from workbench.labeling import SheetLabels, draw_items, read_label_sheet, write_label_sheet
from workbench.metrics import LabeledItems, MetricAudit, load_labeled, metric_audit
from workbench.model_comparison import ComparedTests, ModelComparison, compare_models, compare_tests
from workbench.model_tests import (
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
from workbench.orthogonal import Balance, check_balance, hadamard, orthogonal_array
from workbench.populations import DigitForms, ScoredItems, digit_forms, digit_twin, read_scores, synthetic_scores
from workbench.replication import ReplicateEstimate, Replicates, replicate_estimate, replicates
from workbench.results import Interval, Result
from workbench.simulations.cross_validation import (
    ComparisonStudy,
    TypeOneStudy,
    simulate_comparison,
    simulate_type_one,
)
from workbench.simulations.learners import exchangeable_population, gaussian_population, openml_population
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
    "AccuracyAudit", "Allocation", "Balance", "BayesianTTest", "BudgetPlan", "CVLosses", "ComparedTests",
    "ComparisonStudy", "CoverageStudy", "DesignStudy", "DigitForms", "Feedback", "GaloisField", "Interval",
    "KFoldTTest", "LabeledItems", "LabelingGrid", "LabelingStudy", "MetricAudit", "ModelComparison", "ModelTest",
    "NestedInterval", "PlanCurve", "RandomHalvesStudy", "ReplicateEstimate", "Replicates", "Result", "ScoredItems",
    "SheetLabels", "Strata", "StratifiedEstimate", "SurveyDesign", "TypeOneStudy", "VarianceEstimates", "WaveEstimate",
    "ZeroVarianceError", "accuracy_audit", "accuracy_variance", "allocate", "allocation_variance",
    "bayesian_correlated_t", "check", "check_balance", "compare_intervals", "compare_models", "compare_tests",
    "digit_forms", "digit_twin", "draw_items", "estimated_variance", "exchangeable_population", "five_by_two_f_test",
    "five_by_two_t_test", "gaussian_population", "hadamard", "half_sample_rho", "kfold_t_test", "load_items",
    "load_labeled", "mcnemar_test", "metric_audit", "nadeau_bengio_test", "nested_cv_interval", "next_wave",
    "openml_population", "orthogonal_array", "plan_budget", "plan_curve", "r_from_rho", "read_label_sheet",
    "read_scores", "replicate_estimate", "replicates", "rho_from_r", "simulate_comparison", "simulate_coverage",
    "simulate_grid", "simulate_labeling", "simulate_random_halves", "simulate_type_one", "stratified_accuracy",
    "stratified_interval", "stratify", "study_design", "synthetic_scores", "variance_estimates", "wave_accuracy",
    "write_label_sheet",
]
