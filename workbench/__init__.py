"""Evaluate classifiers with few labels: accuracy, class metrics, class proportions and comparisons.

Most functions return a `Result`. Print it for its finding, and read its caveats in `notes`.
`rows()` and `to_frame()` return its table. `to_dict()` and `from_dict()` save and restore it. Start
with the topic of your question.

*Stratified accuracy.* `accuracy_audit` plans which of your `ScoredItems` to label, writes the
annotation sheet, and estimates the accuracy from the labels. Single steps are `stratify`,
`allocate` and `stratified_accuracy`.

*Allocation.* `plan_labels` divides a budget among the strata of a `StratumSummary`. `sample`
samples rows of any data frame. A `StreamSampler` keeps its sample while items still arrive.

*Replication.* `estimate_metrics` estimates metrics of `LabeledItems` with strata, clusters and
weights. Single steps are `SurveyDesign`, `replicates` and `replicate_estimate`.

*Misclassification.* `ConfusionCounts` of an audit sample correct predicted counts. Use
`estimate_prevalence` for one period, `prevalence_series` for many, and `compare_estimators` to see
all methods.

*Cross-validation.* `kfold_t_test` tests `CVLosses` of one or two models. `compare_tests` applies
every suitable test, and `compare_models` compares all pairs of several models.

Functions whose name begins with `simulate_` repeat an experiment thousands of times. They return a
study with Monte Carlo errors.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
