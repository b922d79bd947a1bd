"""Checks and notes of a comparison of models, before the models are compared.

`refuse_missing_columns` and `refuse_other_classes` check the columns. `shown_by_samples`,
`shared_notes` and `undefined_note` collect notes from the metrics of the single models.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from workbench import checks
from workbench.replication import metrics as of_one
from workbench.replication.labeled import LabeledItems
from workbench.replication.metrics import MetricEstimates
from workbench.replication.statistics import METRICS
from workbench.results import Note

NAMED = 6
OF_NUMBERS = ("rmse", "correlation")  # their predictions need not be classes of the truth


def refuse_missing_columns(items: LabeledItems, metrics: str | Sequence[str]) -> None:
    """Raise if a metric needs predictions or scores that the items do not have."""
    available = {"prediction": items.predictions, "score": items.scores}
    missing = [role for role, columns in available.items() if columns is None]
    for metric in of_one.metric_names(metrics):
        entry = METRICS.get(metric) if isinstance(metric, str) else None
        for role in missing:
            if entry and role in entry.arguments:
                rule = f"must suit the named columns; {metric} needs a {{0}} column for each model"
                raise checks.WrongValue("metrics", rule, others=(role,))


def refuse_other_classes(items: LabeledItems, metrics: Sequence[str]) -> None:
    """Raise if none of a model's predictions is ever true, for example because they are scores."""
    if items.predictions is None or {*metrics} <= {*OF_NUMBERS}:
        return
    for name, predicted in zip(items.models, items.predictions.T, strict=True):
        if not np.isin(predicted, items.truth).any():
            wrong, right = (
                checks.listed(np.unique(values).tolist(), NAMED, quoted=True)
                for values in (predicted, items.truth)
            )
            raise checks.WrongValue(
                "prediction",
                "must hold classes that occur in the truth; if these numbers are scores, name them "
                "with {0}",
                others=("score",),
                told=f"column {name!r} holds {wrong}, the truth {right}",
            )


def shown_by_samples(
    items: LabeledItems, of_models: Sequence[LabeledItems], metrics: Sequence[str]
) -> tuple[list[tuple], list[Note]]:
    """Return pairs of metric and class that the sample can show for every model, and notes."""
    pairs = of_one.metrics_and_classes(items, metrics)
    of_each_model = [of_one.shown_by_sample(model, pairs) for model in of_models]
    times = Counter(note for _, notes in of_each_model for note in notes)
    caveats: list[Note] = []
    for name, (shown_pairs, notes) in zip(items.models, of_each_model, strict=True):
        pairs = [pair for pair in pairs if pair in shown_pairs]
        for note in notes:
            of_all = times[note] == len(of_models)
            caveats.append(note if of_all else replace(note, where=("model", name)))
    return pairs, list(dict.fromkeys(caveats))


def shared_notes(items: LabeledItems, estimates: Sequence[MetricEstimates]) -> list[Note]:
    """Return the assumptions about the sample that appear in the notes of every model."""
    first, *more = (set(of_model.notes) for of_model in estimates)
    shared = first.intersection(*more).difference(items.notes)
    notes = filter(shared.__contains__, estimates[0].notes)
    return [note for note in notes if note.kind == "assumption" and note.where is None]


def undefined_note(
    names: Sequence[str], estimates: Sequence[MetricEstimates], key: tuple, where: tuple
) -> Note | None:
    """Return a note if a metric of some class and group is undefined for a model."""
    for name, of_model in zip(names, estimates, strict=True):
        labels = of_model.labels or (None,) * len(of_model.estimates)
        metrics = [estimate.statistic for estimate in of_model.estimates]
        if key in zip(metrics, labels, of_model.groups, strict=True):
            continue
        for note in of_model.notes:
            if note.kind in ("undefined", "refused") and note.where == where:
                return replace(note, text=f"{note.text} (model {name})")
        return Note("undefined", f"undefined for model {name}", where)
    return None
