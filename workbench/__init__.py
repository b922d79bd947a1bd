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

from workbench import stopping  # noqa: F401, I001 - first: Ctrl-C while the rest is imported

import ast
import importlib.util
from pathlib import Path
from typing import Any

_HOMES = {
    alias.name: line.module
    for line in ast.parse(Path(__file__).with_suffix(".pyi").read_text(encoding="utf-8")).body
    if isinstance(line, ast.ImportFrom)
    for alias in line.names
}
__all__ = list(_HOMES)


def __getattr__(name: str) -> Any:
    """Load a public name, or a room, when it is first used."""
    room = f"{__name__}.{name}"
    if name in _HOMES:
        value = getattr(importlib.import_module(_HOMES[name]), name)
    elif not name.startswith("_") and importlib.util.find_spec(room):
        value = importlib.import_module(room)
    else:
        from workbench import checks

        meant = (
            "" if name.startswith("_") else checks.suggestion(name, __all__)
        )  # tools ask for many such names
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}{meant}")
    return globals().setdefault(name, value)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
