"""Evaluate classifiers honestly with few labels: five questions, one set of nouns.

*Stratified accuracy.* Divide `ScoredItems` into `Strata`, and spread the labels by an `Allocation`.
The labels give a `StratifiedEstimate`, whose `interval()` is an `Interval`. `accuracy_audit` does
all of it and writes the annotation sheet.

*Allocation.* A `StratumSummary` of any data frame and a budget give an `Allocation` or a
`LabelPlan`. `sample` returns a `FrameSample` on every engine. A `StreamSampler` keeps its sample
while items still arrive.

*Replication.* A `SurveyDesign` of strata and clusters gives `Replicates` of its weights.
`replicate_estimate` takes them to any metric and returns a `ReplicateEstimate`.
`estimate_metrics` does it for `LabeledItems`.

*Misclassification.* The `ConfusionCounts` of an audited sample correct predicted counts: a
`PrevalenceEstimate` of one period, a `PrevalenceSeries` of many, an `EstimatorComparison` of the
methods.

*Cross-validation.* `CVLosses` of one or more models go into a `KFoldTTest` or another `ModelTest`.
`ComparedTests` and `ModelComparison` show which conclusions hold under every test.

Every answer is a `Result`. It prints its finding (`headline()`), has `rows()` and `to_frame()`, is
restored by `from_dict()` from `to_dict()`, and has each caveat as a `Note` in `notes`. Questions
about a result are its methods. Functions whose name begins with `simulate_` repeat an experiment
thousands of times and return a study with Monte Carlo errors.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
