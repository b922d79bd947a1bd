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

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
