"""Comparison of two or more models on the same labeled items, by any metric.

Start with `compare_metrics`. The difference of a metric between two models is one statistic of the
sample. Its standard error comes from the same replicates as the metrics themselves. It therefore
accounts for strata, clusters and weights, and errors that the models share cancel.
"""

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import scipy
from numpy import ndarray

from workbench import checks
from workbench.data.classes import class_notes
from workbench.intervals import quantile
from workbench.intervals.adjusted import ADJUSTMENTS, adjustment, consistent
from workbench.intervals.unseen import bounded_notes
from workbench.replication import metrics as of_one
from workbench.replication.bounded_intervals import Sample
from workbench.replication.caveats import (
    refuse_missing_columns,
    refuse_other_classes,
    shared_notes,
    shown_by_samples,
    undefined_note,
)
from workbench.replication.estimates import (
    ReplicateEstimate,
    estimate_of_sample,
    estimate_statistic,
)
from workbench.replication.independent import is_independent, sampled_values
from workbench.replication.labeled import LabeledItems
from workbench.replication.linear import Linearized, linearized
from workbench.replication.macro import estimate_mean_of_classes
from workbench.replication.metrics import (
    MetricEstimates,
    capitalized,
    place_of,
    row_title,
    sample_text,
)
from workbench.replication.moments import Bounds
from workbench.replication.replicates import Replicates, replicates
from workbench.replication.statistics import (
    METRICS,
    RANGES,
    Totals,
    UndefinedError,
    UnstableError,
)
from workbench.replication.unsampled import score_notes
from workbench.results import Note, Result, digits, html_table, note_list, percent, with_bounded

JACKKNIFE = "jkn"
MANY_WEIGHTS = 2**28  # of replicates times items; an AUC is then linearized
SAME = 1e-12
OF_ONE_MODEL = ("mean", "proportion", "median", "identified", "mean_rank")
LEAST_TAIL = 1e-15
NAMED = 6
IN_A_SENTENCE = 4  # differences


class MetricComparison(Result):
    """Differences of metrics between two or more models on the same items.

    `compare_metrics` returns this result.

    Attributes
    ----------
    names : tuple of str
        Names of the models, in the order in which they were given.
    estimates : tuple of MetricEstimates
        Metrics of each model, as `estimate_metrics` returns them.
    metrics, labels, groups : (D,) tuple
        Metric, class and group of each difference. Class and group may be None.
    pairs : (D, 2) array of int
        Positions of the two models in `names`.
    differences : (D,) tuple of ReplicateEstimate
        Metric of the first model minus that of the second. `differences[k].interval(level, "t")` is
        Student's t interval.
    limits, bounded : (D, 2) array of float
        Default and bounded limits of each difference at its `pair_level`.
    pair_level : (D,) array of float
        Confidence level of each difference. It equals `level`; with more than two models it is the
        level of Holm's procedure [1]_.
    pvalue : (D,) array of float
        p-value of each difference, from inverting the interval: at level 1 - p the interval just
        excludes 0.
    adjusted : (D,) array of float
        p-values adjusted for all pairs of models within a metric, not for the number of metrics.
    level : float
        Confidence level.
    adjust : {"holm", "none"}
        Method of adjustment.
    caveats : tuple of str
        Warnings to read before the numbers.

    See Also
    --------
    compare_metrics : Compare two or more models on the same items.
    MetricEstimates : Metrics of one model.

    References
    ----------
    .. [1] Holm, A simple sequentially rejective multiple test procedure, Scandinavian Journal of
       Statistics 6, 1979.
    """

    names: tuple
    estimates: tuple
    metrics: tuple
    labels: tuple
    groups: tuple
    pairs: ndarray
    differences: tuple
    limits: ndarray
    bounded: ndarray
    pair_level: ndarray
    pvalue: ndarray
    adjusted: ndarray
    level: float
    adjust: str
    caveats: tuple = ()

    def rows(self) -> list[dict]:
        """Return one row per metric, class, group and pair of models."""
        table = []
        for index, difference in enumerate(self.differences):
            first, second = (self.names[model] for model in self.pairs[index])
            low, high = self.limits[index].tolist()
            row = {
                "metric": self.metrics[index],
                "label": self.labels[index],
                "group": self.groups[index],
                "first": first,
                "second": second,
                "difference": difference.estimate,
                "standard_error": difference.standard_error,
                "low": low,
                "high": high,
                "pvalue": float(self.pvalue[index]),
                "adjusted_pvalue": float(self.adjusted[index]),
            }
            table.append(row | with_bounded(self.bounded[index]))
        return _without_empty(table)

    def models(self) -> list[dict]:
        """Return one row per model and metric, with the columns of `MetricEstimates.rows`."""
        of_models = zip(self.names, self.estimates, strict=True)
        return [{"model": name} | row for name, of_model in of_models for row in of_model.rows()]

    def ranks(self) -> list[dict]:
        """Return the possible ranks of each model by each metric, valid together at `level`.

        The best model of a metric comes first. The best rank of a model is 1 plus the number of
        models that are shown to be better. Its worst rank is the number of models minus the number
        of those that are shown to be worse.
        """
        table = []
        for key, places in self._by_metric():
            pairs = self._decided(places)
            winners = [winner for winner, _ in pairs]
            losers = [loser for _, loser in pairs]
            for model in self._ordered(places):
                row = dict(zip(("metric", "label", "group"), key, strict=True))
                row |= {
                    "model": self.names[model],
                    "best_rank": 1 + losers.count(model),
                    "worst_rank": len(self.names) - winners.count(model),
                }
                table.append(row)
        return _without_empty(table)

    def sample_size(self, difference: float, *, power: float = 0.8) -> list[dict]:
        """Return the number of items needed to show a given difference with a given power.

        The items of this comparison serve as the pilot sample. With clusters, the result also
        contains the number of clusters of the same sizes.

        Parameters
        ----------
        difference : float
            Difference to detect, above 0 and below the range of the metric, in its units: 0.05 is 5
            percentage points of F1.
        power : float, default 0.8
            Proportion of samples that show the difference, at least .5 and below 1.

        Returns
        -------
        list of dict
            One row per metric, class and pair of models, without groups: `metric`, `first`,
            `second`, `standard_error` of the pilot, `items`, and `clusters` if there are any.
            `items` is None if the pilot has no standard error.

        Notes
        -----
        Let r^2 be the number of items in the pilot divided by the number needed. The standard error
        S of the pilot becomes S r. The half-width h of the default interval exceeds z S by an
        amount that falls in proportion to r^2. The result is the sample size for which the
        difference equals::

            S r z(power) + z S r + (h - z S) r^2.

        With more than two models, z and h are those of the first step of Holm's procedure.
        """
        span = min(map(_range_of_differences, self.metrics))
        if checks.number("difference", difference) <= 0:
            raise checks.WrongValue("difference", "must be above 0", difference)
        if difference >= span:
            rule = f"must be below {span:g}, such as 0.05 for 5 points"
            raise checks.WrongValue("difference", rule, difference)
        power = checks.assurance(power)
        table = []
        for index, row in enumerate(self.rows()):
            if self.groups[index] is not None:
                continue
            pilot = self.differences[index]
            root = self._root_of_sizes(pilot, float(difference), power)
            sizes = {"items": pilot.items}
            if pilot.psus != pilot.items:
                sizes["clusters"] = pilot.psus
            keys = [key for key in ("metric", "label", "first", "second") if key in row]
            entry = {key: row[key] for key in (*keys, "standard_error")}
            for unit, size in sizes.items():
                entry[unit] = None if root is None else math.ceil(size / root**2)
            table.append(entry)
        return table

    def _root_of_sizes(
        self, pilot: ReplicateEstimate, difference: float, power: float
    ) -> float | None:
        """Return the root r of the pilot's size divided by the size that is needed."""
        error = pilot.standard_error
        if not error > 0:
            return None
        level = self.level
        if self.adjust == "holm":
            level = 1 - (1 - level) / math.comb(len(self.names), 2)
        z = quantile(level)
        linear = error * (z + float(scipy.special.ndtri(power)))
        square = max(pilot.interval(level).half_width - z * error, 0.0)
        if square == 0:
            return difference / linear
        return (math.sqrt(linear**2 + 4 * square * difference) - linear) / (2 * square)

    def finding(self) -> str:
        """Return the caveats, then which model is better by which metrics, and by how much."""
        caveats = [f"{capitalized(caveat)}." for caveat in self.caveats]
        if len(self.names) == 2:
            return "\n".join([*caveats, self._of_two()])
        titles: dict[str, list[str]] = {}
        for (metric, label, group), places in self._by_metric():
            if group is None:
                title = row_title({"metric": metric, "label": label})
                titles.setdefault(self._verdict(places), []).append(title)
        sentences = [f"{capitalized(', '.join(names))}: {text}" for text, names in titles.items()]
        return "\n".join([*caveats, *sentences])

    def headline(self) -> str:
        """Return the finding in one line, with the number of items."""
        sentences = " ".join(self.finding().splitlines())
        return f"{sentences} {sample_text(self.differences[0], 'item', '')}"

    def basis(self) -> str:
        """Return a description of the sample that the finding rests on, in one line."""
        sample = sample_text(self.differences[0])
        text = f"All models predicted the same {sample}; {percent(self.level)} confidence intervals"
        if len(self.names) > 2 and self.adjust == "holm":
            text += ", adjusted for all pairs of models"
        return f"{text}."

    def _repr_html_(self) -> str:
        table = [self.cells(row) for row in self.rows()]
        return html_table(table, self.headline(), shown=len(table)) + note_list(self.notes)

    def cells(self, row: dict) -> dict:
        """Return a row as a page shows it.

        Parameters
        ----------
        row : dict
            A row of `rows`.
        """
        ends = [row["low"], row["high"], row["bounded_low"], row["bounded_high"]]
        values = row["difference"], row["standard_error"], *ends
        difference, error, *limits = _texts(row["metric"], ends, *values)
        unit = " points" if METRICS[row["metric"]].is_share else ""
        group = {"group": row["group"]} if "group" in row else {}
        cells = {
            "metric": capitalized(row_title(row)),
            **group,
            "models": f"{row['first']} minus {row['second']}",
            "difference": difference + unit,
            f"{percent(self.level)} interval": " to ".join(limits[:2]),
            "standard_error": error,
            "pvalue": digits.short_p(row["pvalue"]),
            "adjusted_pvalue": digits.short_p(row["adjusted_pvalue"]),
            "bounded interval": "" if limits[:2] == limits[2:] else " to ".join(limits[2:]),
        }
        if len(self.names) == 2:
            del cells["adjusted_pvalue"]
        return cells

    def _by_metric(self) -> Iterator[tuple[tuple, list[int]]]:
        """Yield metric, class and group with the positions of their pairs, in order."""
        keys = list(zip(self.metrics, self.labels, self.groups, strict=True))
        for key in dict.fromkeys(keys):
            yield key, [index for index, other in enumerate(keys) if other == key]

    def _better(self, index: int) -> tuple[int, int] | None:
        """Return the better and the worse model of a pair, or None if no difference is shown."""
        if self.adjusted[index] >= 1 - self.level:
            return None
        first, second = self.pairs[index].tolist()
        is_higher = self.differences[index].estimate > 0
        lower_is_better = METRICS[self.metrics[index]].lower_is_better
        return (second, first) if is_higher == lower_is_better else (first, second)

    def _decided(self, places: list[int]) -> list[tuple[int, int]]:
        """Return the better and the worse model of each pair with a difference that is shown."""
        return list(filter(None, map(self._better, places)))

    def _of_two(self) -> str:
        """Return the finding for two models, one sentence per better model."""
        better: dict[tuple, list[str]] = {}
        undecided = []
        for (metric, label, group), (index, *_) in self._by_metric():
            if group is not None:
                continue
            title = row_title({"metric": metric, "label": label})
            pair = self._better(index)
            if pair is None:
                undecided.append(f"{title} ({_span(metric, self.limits[index])})")
                continue
            direction = "lower" if METRICS[metric].lower_is_better else "higher"
            distance = _span(metric, np.sort(np.abs(self.limits[index])))
            better.setdefault(pair, []).append(f"{title} {direction} by {distance}")
        first, second = self.names
        if not better:
            return (
                f"Neither {first} nor {second} is shown to be better. Differences, {first} minus "
                f"{second}: {checks.listed(undecided, IN_A_SENTENCE)}."
            )
        verb = "is better than" if len(better) == 1 else "is partly better than"
        sentences = []
        for (winner, loser), texts in better.items():
            names = f"{self.names[winner]} {verb} {self.names[loser]}"
            sentences.append(f"{names}: {checks.listed(texts, IN_A_SENTENCE)}.")
        if undecided:
            sentences.append(
                f"No difference is shown for {checks.listed(undecided, IN_A_SENTENCE)}."
            )
        return "\n".join(sentences)

    def _ordered(self, places: list[int]) -> list[int]:
        """Return the models by a metric, the best first: no model comes after one that it beats."""
        scores = np.zeros(len(self.names))
        for index in places:
            scores[self.pairs[index]] += np.array([1, -1]) * self.differences[index].estimate
        if not METRICS[self.metrics[places[0]]].lower_is_better:
            scores = -scores
        losers = {loser for _, loser in self._decided(places)}
        return sorted(range(scores.size), key=lambda model: (model in losers, scores[model]))

    def _verdict(self, places: list[int]) -> str:
        """Return the models that the best of several models is shown to beat by a metric."""
        best, *rest = self._ordered(places)
        beaten = {loser for winner, loser in self._decided(places) if winner == best}
        if not beaten:
            return "no model is shown to be the best."
        names = checks.listed([self.names[model] for model in sorted(beaten)], NAMED)
        text = f"{self.names[best]} is better than {names}"
        equals = [self.names[model] for model in sorted(rest) if model not in beaten]
        if equals:
            text += f"; not shown to be better than {checks.listed(equals, NAMED)}"
        return f"{text}."


def _without_empty(table: list[dict]) -> list[dict]:
    """Return rows without the columns for class and group if no row has one."""
    empty = [name for name in ("label", "group") if all(row[name] is None for row in table)]
    return [{key: row[key] for key in row if key not in empty} for row in table]


def _span(metric: str, limits: ndarray) -> str:
    """Return two limits as text, with the unit of the metric."""
    unit = " points" if METRICS[metric].is_share else ""
    return " to ".join(_texts(metric, limits, *limits)) + unit


def _texts(metric: str, ends: Sequence[float] | ndarray, *values: float) -> Sequence[str]:
    """Return differences as text: percentages in points, other metrics as numbers.

    A limit that would read as 0 but is not 0 gets one more digit, because it decides the finding.
    """
    error = (ends[1] - ends[0]) / 2
    write = digits.points if METRICS[metric].is_share else digits.numbers
    for text, end in zip(write(*ends, error=error), ends, strict=True):
        if end != 0 and text.strip("-0.") == "":
            return write(*values, error=error / 10)
    return write(*values, error=error)


def compare_metrics(
    items: LabeledItems,
    metrics: str | Sequence[str] | None = None,
    *,
    method: str = "auto",
    level: float = 0.95,
    adjust: str = "holm",
    collapse: dict | str | None = None,
    rho: float | str | None = None,
    coefficients: Any = None,
    rng: int | np.random.Generator = 0,
) -> MetricComparison:
    """Compare two or more models by any metric on the same labeled items.

    Use it to find out which model is better, and by how much, from one labeled sample. The result
    contains the difference of every metric for every pair of models, with intervals and p-values.

    Parameters
    ----------
    items : LabeledItems
        Labeled items with several models: `load_labeled(..., prediction="old,new")`.
    metrics : str or sequence of str, optional
        Names of metrics, as in `estimate_metrics`. By default accuracy, precision, recall and F1
        with a positive class, and accuracy and macro F1 without one. With scores also the AUC.
    method : str, default "auto"
        Replication method, as in `replicates`. "auto" is the jackknife that leaves out one PSU at a
        time ("jkn"). If a metric is then undefined, "auto" keeps at least half of every weight
        instead. The AUC of independent items uses DeLong's covariance [1]_.
    level : float, default 0.95
        Confidence level, between 0 and 1.
    adjust : {"holm", "none"}, default "holm"
        Adjustment for all pairs of models within a metric.
    collapse, rho, coefficients, rng : optional
        As in `estimate_metrics`.

    Returns
    -------
    MetricComparison
        Differences of all metrics between all pairs of models.

    Raises
    ------
    ValueError
        If the items have one model, a metric needs a column that they do not have, or no metric is
        defined for two models.

    See Also
    --------
    estimate_metrics : Estimate the metrics of one model.
    compare_items : Compare two models by the mean score of items.
    paired_difference : Estimate the difference of two accuracies from a stratified sample.

    Notes
    -----
    Each metric is linearized: it becomes a weighted mean of one value per item, the metric plus the
    influence of the item. The interval of a difference is that of the mean of the differences of
    these values. Independent items use the interval of `workbench.value_interval`. Clusters use
    that of `workbench.replication.bounded_intervals`.

    We simulated 24 settings with at least 60 items or 12 clusters. The 95% interval covered the
    true difference in at least 95.6% of samples for metrics of classes and AUC. It covered in at
    least 93.3% for log loss and in at least 93.0% for the Brier score.

    References
    ----------
    .. [1] DeLong, DeLong & Clarke-Pearson, Comparing the areas under two or more correlated
       receiver operating characteristic curves, Biometrics 44, 1988.

    Examples
    --------
    >>> import workbench as wb
    >>> truth = [1] * 40 + [0] * 40
    >>> old = [1] * 24 + [0] * 16 + [1] * 12 + [0] * 28
    >>> new = [1] * 36 + [0] * 4 + [1] * 8 + [0] * 32
    >>> items = wb.load_labeled(
    ...     {"truth": truth, "old": old, "new": new}, prediction="old,new", stratum=""
    ... )
    >>> print(wb.compare_metrics(items, "f1").finding())
    new is better than old: F1 higher by 12 to 35 points.
    """
    settings: dict[str, Any] = {
        "method": method,
        "level": level,
        "collapse": collapse,
        "rho": rho,
        "coefficients": coefficients,
        "rng": rng,
    }
    checks.choice("adjust", adjust, ADJUSTMENTS)
    metrics, level, steady = check_comparison(items, metrics, **settings)
    drawn = replicates(steady.design, JACKKNIFE) if method == "auto" else steady
    models = {name: items.model(name) for name in items.models}
    estimates = tuple(_of_model(name, model, metrics, settings) for name, model in models.items())
    of_models = list(models.values())
    metrics_to_estimate, caveats = shown_by_samples(items, of_models, metrics)
    notes = shared_notes(items, estimates)
    for name, model in models.items():
        if model.prediction is not None:
            notes += _located(class_notes(model.truth, model.prediction), ("model", name))
        caveats += _located(score_notes(model, metrics, compared=True), ("model", name))
    keys, pairs, differences = [], [], []
    for group in of_one.groups_of(items):
        rows = of_one.rows_of_group(items, group)
        rows = np.ones(items.truth.size, bool) if rows is None else rows
        for metric, label in metrics_to_estimate:
            key = metric, label, group
            where = ("metric", place_of(*key))
            undefined = undefined_note(items.models, estimates, key, where)
            if undefined:
                of_all = label is None and group is None
                (caveats if of_all else notes).append(undefined)
                continue
            columns = [model.columns(metric, label) for model in of_models]
            try:
                of_pairs = _differences(metric, columns, rows, drawn, steady)
            except (UndefinedError, UnstableError) as error:
                caveats.append(Note("undefined", str(error), where))
                continue
            for pair, difference in of_pairs.items():
                keys.append(key)
                pairs.append(pair)
                differences.append(difference)
                notes += _located(difference.notes, where)
    if not differences:
        reasons = [note for note in [*notes, *caveats] if note.kind in ("undefined", "refused")]
        raise UndefinedError(f"no metric can be estimated for every model: {reasons[-1]}")
    pvalue = np.array([pvalue_of(difference) for difference in differences])
    adjusted, pair_level = np.empty((2, pvalue.size))
    for key in dict.fromkeys(keys):
        same = [key == other for other in keys]
        adjusted[same], pair_level[same] = adjustment(pvalue[same], level, adjust)
    limits, bounded = np.empty((2, pvalue.size, 2))
    for index, difference in enumerate(differences):
        interval = difference.interval(float(pair_level[index]))
        span = _range_of_differences(keys[index][0])
        limits[index] = np.clip([*interval], -span, span)
        bounded[index] = np.clip(interval.bounded or [*interval], -span, span)
    adjusted, limits = consistent(adjusted, limits, level)
    first, second = (items.models[model] for model in pairs[0])
    of_first = f"{place_of(*keys[0])}, {first} minus {second},"
    notes += bounded_notes(limits[0].tolist(), bounded[0].tolist(), of=of_first)
    if len({*keys}) > 1:
        text = f"the level of {percent(level)} holds for each metric, not for all metrics at once"
        notes.append(Note("remark", text))
    names_of_metrics, labels, groups = zip(*keys, strict=True)
    return MetricComparison(
        items.models,
        estimates,
        names_of_metrics,
        labels,
        groups,
        np.array(pairs),
        tuple(differences),
        limits,
        bounded,
        pair_level,
        pvalue,
        adjusted,
        level,
        adjust,
        of_one.texts_to_read_first(items, caveats),
        notes=[*items.notes, *notes, *caveats],
    )


def _located(notes: Iterable[Note], where: tuple) -> list[Note]:
    """Return notes with another place."""
    return [replace(note, where=where) for note in notes]


def check_comparison(
    items: LabeledItems, metrics: str | Sequence[str] | None = None, **settings: Any
) -> tuple[Sequence[str], float, Replicates]:
    """Check the settings of `compare_metrics`; return metrics, level and replicates.

    Parameters
    ----------
    items : LabeledItems
    metrics : str or sequence of str, optional
    **settings
        As in `compare_metrics`, without `adjust`.
    """
    checks.instance("items", items, LabeledItems)
    if len(items.models) < 2:
        raise checks.WrongValue(
            "items",
            "must hold two or more models: read them with load_labeled(..., prediction='old,new')",
        )
    if metrics is None:
        metrics = _usual(items)
    refuse_missing_columns(items, metrics)
    first = items.model(items.models[0])
    metrics, level, _, steady = of_one.check_settings(first, metrics, **settings)
    for metric in metrics:
        if metric in OF_ONE_MODEL:
            rule = "must be computed from the predictions or scores of a model"
            raise checks.WrongValue("metrics", rule, metric)
    refuse_other_classes(items, metrics)
    return metrics, level, steady


def _range_of_differences(metric: str) -> float:
    """Return the largest possible difference of a metric, infinite without bounds."""
    low, high = RANGES[METRICS[metric].kind]
    return high - low


def _usual(items: LabeledItems) -> tuple[str, ...]:
    """Return the default metrics of the items."""
    if items.predictions is None:
        return ("auc",)
    if items.positive is None:
        return "accuracy", "macro_f1"
    return of_one.USUAL if items.scores is None else (*of_one.USUAL, "auc")


def _of_model(
    name: str, model: LabeledItems, metrics: Sequence[str], settings: dict[str, Any]
) -> MetricEstimates:
    """Return the metrics of one of the models; an error names the model."""
    try:
        return of_one.estimate_metrics(model, metrics, **settings)
    except UndefinedError as error:
        raise UndefinedError(f"model {name}: {error}") from None
    except checks.WrongValue as error:
        error.told = ", ".join(filter(None, [error.told, f"model {name}"]))
        raise


def _differences(
    metric: str,
    columns: Sequence[tuple],
    rows: ndarray,
    drawn: Replicates,
    steady: Replicates,
) -> dict[tuple[int, int], ReplicateEstimate]:
    """Return the difference of a metric for every pair of models.

    If a replicate is undefined, the `steady` replicates are used.
    """
    weight = drawn.design.weight * rows
    values: list[Any] = [None] * len(columns)
    # the standard error of an AUC may need no replicates, such as DeLong's
    many_weights = drawn.count * rows.size > MANY_WEIGHTS
    if not METRICS[metric].values or not (many_weights or is_independent(drawn, rows)):
        try:
            values = [_replicate_values(metric, column, rows, drawn) for column in columns]
        except UnstableError:
            drawn = steady
            values = [_replicate_values(metric, column, rows, drawn) for column in columns]
    elif np.unique(columns[0][0][weight > 0]).size == 1:
        raise UndefinedError(f"{metric} is undefined: {METRICS[metric].empty}")
    linear = [linearized(metric, list(map(np.asarray, column)), weight) for column in columns]
    differences = {}
    for first, second in itertools.combinations(range(len(linear)), 2):
        of_replicates = None
        if values[first] is not None:
            of_replicates = values[first] - values[second]
        differences[first, second] = _difference(
            drawn, linear[first], linear[second], of_replicates, rows
        )
    return differences


def _replicate_values(
    metric: str, columns: Sequence[Any], rows: ndarray, drawn: Replicates
) -> ndarray:
    """Return the metric of each replicate, or raise if one is undefined."""
    estimate_of = estimate_statistic if METRICS[metric].is_one else estimate_mean_of_classes
    estimate = estimate_of(drawn, metric, *columns, domain=rows)
    if estimate.undefined:
        count = checks.counted(drawn.count, "replicate")
        raise UnstableError(f"{metric} is undefined (0/0) in {estimate.undefined} of {count}")
    return np.asarray(estimate.replicate_values)


def _difference(
    drawn: Replicates,
    linear: Linearized,
    other: Linearized,
    of_replicates: ndarray | None,
    rows: ndarray,
) -> ReplicateEstimate:
    """Return the difference of a metric of two models."""
    difference = linear.estimate - other.estimate
    values = linear.values - other.values
    shares = (linear.shares + other.shares) / 2
    sample, deviations = _sample_of_shares(drawn, linear, other, shares, rows)
    if of_replicates is None:
        of_replicates = np.empty(0)
        variance = _linear_variance(drawn, shares, values - difference, rows)
    else:
        variance = float(drawn.variances(of_replicates, difference))
    bounds = moments = None
    if deviations is not None:
        bounds = _reaching(difference, deviations, sample.values)
    if np.ptp(values[rows]) > 0 or bounds is not None:
        moments = _moments(drawn, linear, other, rows)
    return estimate_of_sample(
        drawn,
        METRICS["mean"],
        sample,
        rows,
        difference,
        variance,
        of_replicates,
        bounds,
        counted=int(rows.sum()),
        undefined=0,
        moments=moments,
    )


def _sample_of_shares(
    drawn: Replicates,
    linear: Linearized,
    other: Linearized,
    shares: ndarray,
    rows: ndarray,
) -> tuple[Sample, Bounds | None]:
    """Return the differences as values of items, weighted by their part in the denominators.

    The second value holds bounds of the deviations of these values from the difference. An item in
    the denominators of one model alone deviates up to twice as much.
    """
    design = drawn.design
    weight = design.weight * rows
    weights = shares.sum(0)
    counts = weights > 0
    weights = weights[counts]
    difference = linear.estimate - other.estimate
    influence = weight * (linear.values - other.values - difference) / weight.sum()
    psu = design.psu_of_item[counts]
    psus = design.stratum_of_psu.size
    sample = Sample(
        difference + influence[counts] / weights,
        np.stack([np.bincount(psu, share[counts], psus) for share in shares]),
        lambda of_psus: of_psus[psu],
        lambda numbers: np.bincount(psu, weights * numbers, psus),
        np.sum,
    )
    if linear.deviations is None or other.deviations is None:
        return sample, None
    if np.array_equal(linear.shares, other.shares):
        return sample, _apart(linear.deviations, other.deviations)
    (low, high), (other_low, other_high) = linear.deviations, other.deviations
    return sample, (2 * min(low, -other_high), 2 * max(high, -other_low))


def _reaching(middle: float, deviations: Bounds, values: ndarray) -> Bounds:
    """Return bounds around a middle that hold all values despite rounding."""
    low = min(middle + deviations[0], float(values.min()))
    high = max(middle + deviations[1], float(values.max()))
    return low, high


def _moments(
    drawn: Replicates, linear: Linearized, other: Linearized, rows: ndarray
) -> ndarray | None:
    """Return the moments of independent items, or None for clusters or unequal weights.

    If the models share a denominator that counts items equally, such as that of a recall, the items
    are those of the denominator. Otherwise they are all items. For a metric without bounds, an
    unseen item lies at most one range of the values beyond them.
    """
    difference = linear.estimate - other.estimate
    values = linear.values - other.values
    shares = linear.shares[0]
    counts = shares > 0
    same = np.array_equal(linear.shares, other.shares) and len(linear.shares) == 1
    if linear.bounds is None or other.bounds is None:
        reach = float(np.ptp(values[rows]))
        bounds = float(values[rows].min()) - reach, float(values[rows].max()) + reach
    elif same and np.ptp(shares[counts]) <= SAME * shares.max():
        values = difference + (values - difference) * counts.sum() / rows.sum()
        rows = counts
        deviations = _apart(linear.deviations, other.deviations)
        bounds = _reaching(difference, deviations, values[rows])
    else:
        if linear.of_class is not None:
            values = difference + _leverage(linear.of_class) * (values - difference)
        bounds = _reaching(0.0, _apart(linear.bounds, other.bounds), values[rows])
    totals = Totals(values, np.ones(values.size))
    return sampled_values(drawn, METRICS["mean"], totals, rows, bounds)


def _apart(bounds: Bounds | None, other: Bounds | None) -> Bounds:
    """Return the bounds of a difference from those of its two terms."""
    (low, high), (other_low, other_high) = bounds, other  # type: ignore[misc]
    return low - other_high, high - other_low


def _leverage(items: ndarray) -> ndarray:
    """Return the factor of the deviations of items whose class has few items.

    Without one of its m items, the mean of a class changes by m / (m - 1) times the item's
    deviation. Student's t with m degrees of freedom has the variance m / (m - 2), which contains
    this factor.
    """
    return items / np.maximum(items - 2, 0.5)


def _linear_variance(
    drawn: Replicates, shares: ndarray, deviations: ndarray, rows: ndarray
) -> float:
    """Return the variance of an AUC difference: DeLong's, or with clusters the linearized one."""
    design = drawn.design
    if not is_independent(drawn, rows):
        totals = drawn.jackknife.totals((deviations * rows)[:, None])
        means = totals[:, 0] / design.weight[rows].sum()
        return float(drawn.jackknife.variances(means, 0.0))
    variance = 0.0
    for share in shares:
        part = share > 0
        placements = deviations[part] * part.sum() / rows.sum()
        variance += placements.var(ddof=1) / part.sum() if part.sum() > 1 else 0.0
    return float(variance * design.free[0])


def pvalue_of(estimate: ReplicateEstimate, method: str = "default") -> float:
    """Return the p-value of a difference: 1 minus the level at which its interval just excludes 0.

    Parameters
    ----------
    estimate : ReplicateEstimate
    method : str
        As in `ReplicateEstimate.interval`.
    """
    if estimate.estimate == 0:
        return 1.0

    def excess(log_tail: float) -> float:
        """Return the distance by which 0 lies outside the interval; it increases with the tail."""
        low, high = estimate.interval(1 - 2 * math.exp(log_tail), method)
        return low if estimate.estimate > 0 else -high

    least, most = math.log(LEAST_TAIL), math.log(0.5 - 1e-9)
    if excess(most) <= 0:
        return 1.0
    if excess(least) >= 0:
        return 2 * LEAST_TAIL
    return 2 * math.exp(scipy.optimize.brentq(excess, least, most, xtol=1e-9))
