"""Evaluate classifiers honestly with few labels: five questions, one set of nouns.

*Stratified accuracy.* `ScoredItems` are cut into `Strata`; an `Allocation` says how many labels each gets; labels make
a `StratifiedEstimate`, whose `interval()` is an `Interval`. `accuracy_audit` does all of it, with a label sheet.

*Allocation.* A `StratumSummary` of any data frame and a budget make an `Allocation` or a `LabelPlan`; `sample` draws
a `FrameSample` on every engine; a `StreamSampler` keeps its sample while items still arrive.

*Replication.* A `SurveyDesign` of strata and clusters makes `Replicates` of its weights; `replicate_estimate` takes
them to any metric and returns a `ReplicateEstimate`. `estimate_metrics` does it for `LabeledItems`.

*Misclassification.* `ConfusionCounts` of an audited sample correct predicted counts: a `PrevalenceEstimate` of one
period, a `PrevalenceSeries` of many, an `EstimatorComparison` of the methods.

*Cross-validation.* `CVLosses` of one or more models go into a `KFoldTTest` or another `ModelTest`; `ComparedTests` and
`ModelComparison` say which conclusions stand.

Every answer is a `Result`: it prints its finding (`headline()`), has `rows()` and `to_frame()`, survives `to_dict()`
and `from_dict()`, and carries each caveat as a `Note` in `notes`. Questions about a result are its methods. Functions
whose name begins with `simulate_` repeat an experiment thousands of times and return a study with Monte Carlo errors.
"""
import typing

from workbench import stopping  # noqa: F401 - first: Ctrl-C while the rest is imported
from workbench.allocation.label_estimates import ValueEstimate, estimate_values
from workbench.allocation.plans import LabelPlan, budget_for_error, draw_rows, load_strata, plan_labels
from workbench.allocation.rules import Allocation, allocate, allocation_variance, reduce_sample
from workbench.allocation.samples import FrameSample, StratumSummary, sample, summarize
from workbench.allocation.stream import StreamSampler
from workbench.allocation.stream_estimates import StreamEstimate
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
from workbench.misclassification.audit_plans import plan_next_audit
from workbench.misclassification.confusion import AuditComparison, ConfusionCounts, compare_audits, pool_audits
from workbench.misclassification.files import counts_at_audit, load_audit, load_periods
from workbench.misclassification.prevalence import (
    EstimatorComparison,
    PrevalenceEstimate,
    compare_estimators,
    estimate_prevalence,
)
from workbench.misclassification.series import PrevalenceChange, PrevalenceSeries, prevalence_series
from workbench.misclassification.theory import AuditPlan, EstimatorTheory, estimator_theory, plan_audit, rate_variance
from workbench.replication.arrays import Balance, check_balance, hadamard, orthogonal_array
from workbench.replication.designs import SurveyDesign
from workbench.replication.estimates import ReplicateEstimate, replicate_estimate
from workbench.replication.galois import GaloisField
from workbench.replication.identification import identification_candidates, identification_ranks
from workbench.replication.imported import imported_replicates
from workbench.replication.macro import MacroEstimate, macro_f1
from workbench.replication.metrics import (
    LabeledItems,
    MetricAudit,
    MetricEstimates,
    estimate_metrics,
    load_labeled,
    metric_audit,
)
from workbench.replication.replicates import Replicates, replicates
from workbench.results import Interval, Note, Result, Table, sentences
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
    LookingStudy,
    simulate_grid,
    simulate_labeling,
    simulate_looking,
    study_design,
)
from workbench.simulations.streams import adversarial_stream, air_quality_stream, streaming_lower_bound
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
from workbench.stratified.anytime import anytime_interval
from workbench.stratified.audit import AccuracyAudit, accuracy_audit, compare_intervals, load_items
from workbench.stratified.class_audit import ClassAudit, class_audit
from workbench.stratified.class_metrics import ClassMetrics, allocate_to_class, class_metrics
from workbench.stratified.difference_audit import DifferenceAudit, difference_audit
from workbench.stratified.differences import PairedDifference, paired_difference
from workbench.stratified.prices import LabelPrices, label_prices
from workbench.stratified.sequential import labeling_order
from workbench.stratified.session_estimates import SecondLabels, SessionEstimate
from workbench.stratified.session_sheets import SheetImport
from workbench.stratified.sessions import AuditItem, AuditSession, SessionStatus, Verification
from workbench.stratified.strata import Strata, stratify
from workbench.stratified.waves import WaveEstimate, next_wave, wave_accuracy
from workbench.value_intervals import value_interval

if typing.TYPE_CHECKING:
    from workbench.replays import replay, replay_list

__all__ = [
    # every topic: results, caveats, answers to exercises
    "Feedback", "Interval", "Note", "Result", "Table", "check", "sentences",
    # stratified accuracy: which items to label, and what accuracy with what interval
    "AccuracyAudit", "AuditItem", "AuditSession", "BudgetPlan", "ClassAudit", "ClassMetrics", "DesignStudy",
    "DifferenceAudit", "LabelPrices", "LabelingGrid", "LabelingStudy", "LookingStudy", "PairedDifference",
    "PlanCurve", "ScoredItems", "SecondLabels", "SessionEstimate", "SessionStatus", "SheetImport", "SheetLabels",
    "Strata", "StratifiedEstimate", "Verification", "WaveEstimate", "accuracy_audit", "accuracy_variance",
    "allocate_to_class", "anytime_interval", "class_audit", "class_metrics", "compare_intervals",
    "difference_audit", "draw_items", "estimated_variance", "label_prices", "labeling_order", "load_items",
    "next_wave", "paired_difference", "plan_budget", "plan_curve", "read_label_sheet", "read_scores",
    "simulate_grid", "simulate_labeling", "simulate_looking", "stratified_accuracy", "stratified_interval",
    "stratify", "study_design", "synthetic_scores", "value_interval", "wave_accuracy", "write_label_sheet",
    # allocation: where the labels go, on frames of any size and on streams
    "Allocation", "FrameSample", "LabelPlan", "StratumSummary", "StreamEstimate", "StreamSampler", "StreamStudy",
    "ValueEstimate", "adversarial_stream", "air_quality_stream", "allocate", "allocation_variance",
    "budget_for_error", "draw_rows", "estimate_values", "jump_stream", "load_strata", "plan_labels",
    "reduce_sample", "sample", "simulate_stream", "streaming_lower_bound", "summarize",
    # replication: intervals for any metric when items come in strata and clusters
    "Balance", "CoverageStudy", "GaloisField", "LabeledItems", "MacroEstimate", "MetricAudit", "MetricEstimates",
    "RandomHalvesStudy", "ReplicateEstimate", "Replicates", "SurveyDesign", "check_balance", "estimate_metrics",
    "hadamard", "identification_candidates", "identification_ranks", "imported_replicates", "load_labeled",
    "macro_f1", "metric_audit", "orthogonal_array", "replicate_estimate", "replicates", "simulate_coverage",
    "simulate_random_halves",
    # misclassification: true shares behind predicted counts, month after month
    "AuditComparison", "AuditPlan", "ConfusionCounts", "EstimatorComparison", "EstimatorTheory", "PrevalenceChange",
    "PrevalenceEstimate", "PrevalenceSeries", "PrevalenceStudy", "ShiftStudy", "compare_audits", "compare_estimators",
    "counts_at_audit", "estimate_prevalence", "estimator_theory", "load_audit", "load_periods", "plan_audit",
    "plan_next_audit", "pool_audits", "prevalence_series", "rate_variance", "simulate_prevalence",
    "simulate_shifts",
    # cross-validation: is model A really better than model B
    "BayesianTTest", "CVLosses", "ComparedTests", "ComparisonStudy", "KFoldTTest", "ModelComparison", "ModelTest",
    "NestedInterval", "TypeOneStudy", "VarianceEstimates", "ZeroVarianceError", "bayesian_correlated_t",
    "compare_models", "compare_tests", "exchangeable_population", "five_by_two_f_test", "five_by_two_t_test",
    "gaussian_population", "half_sample_rho", "kfold_t_test", "mcnemar_test", "nadeau_bengio_test",
    "nested_cv_interval", "openml_population", "r_from_rho", "rho_from_r", "simulate_comparison", "simulate_type_one",
    "variance_estimates",
    # the papers behind all of it, run again; loaded when asked for
    "replay", "replay_list",
    # the data of the lessons
    "ClerkStudies", "DigitForms", "SolarMonths", "clerk_losses", "clerk_studies", "digit_forms", "digit_twin",
    "read_by_next_box", "reader_losses", "register_errors", "solar_audit", "solar_months", "solar_rates",
]


def __getattr__(name: str) -> typing.Any:
    """Load what replays the papers when it is asked for: it stands above the charts."""
    if name in ("replay", "replay_list"):
        from workbench import replays
        return getattr(replays, name)
    raise AttributeError(f"module 'workbench' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), "replay", "replay_list"})
