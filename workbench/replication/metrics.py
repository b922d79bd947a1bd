"""Metrics of labeled items, such as accuracy and F1, with intervals that account for the design.

Start with `estimate_metrics`, which returns a `MetricEstimates`. `naive` computes the same metrics
as if the items were a simple random sample.

References
----------
.. [1] Kish, Survey Sampling, Wiley 1965: design effect.
.. [2] DeLong, DeLong & Clarke-Pearson, Comparing the areas under two or more correlated receiver
   operating characteristic curves, Biometrics 44, 1988: variance of the AUC of independent items.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy import ndarray
from numpy.typing import ArrayLike

from workbench import checks, intervals
from workbench.checks import WrongValue, listed
from workbench.intervals.unseen import bounded_notes
from workbench.replication import imported
from workbench.replication.designs import SurveyDesign, refuse_unknown_strata, sizes
from workbench.replication.estimates import (
    LEAST_DF,
    ReplicateEstimate,
    estimate_notes,
    estimate_statistic,
)
from workbench.replication.galois import as_prime_power
from workbench.replication.independent import is_independent
from workbench.replication.label_sets import ABOUT_LABELS
from workbench.replication.labeled import LABELS_IN, LabeledItems, load_labeled, positive_class
from workbench.replication.macro import MacroEstimate, estimate_mean_of_classes
from workbench.replication.moments import MOST_CLASSES, refuse_many_classes
from workbench.replication.replicates import METHODS as REPLICATE_METHODS
from workbench.replication.replicates import Replicates, replicates
from workbench.replication.statistics import (
    METRICS,
    RANGES,
    EstimateAndError,
    UndefinedError,
    UnstableError,
    title_of,
)
from workbench.replication.unsampled import score_notes
from workbench.results import (
    Note,
    Result,
    bounded_words,
    digits,
    html_table,
    note_list,
    percent,
    with_bounded,
)
from workbench.results.vocabulary import method_words

__all__ = [
    "LabeledItems",
    "MetricEstimates",
    "estimate_metrics",
    "load_labeled",
    "naive",
    "positive_class",
]
USUAL = (
    "accuracy",
    "precision",
    "recall",
    "f1",
)  # where there is a positive class
OF_LABELS = (
    "micro_f1",
    "micro_precision",
    "micro_recall",
    "macro_f1",
    "exact_match",
    "f1",
    "precision",
    "recall",
    "hamming_loss",
)  # where items have several labels
METHODS = ("auto", *REPLICATE_METHODS)
MOST_UNITS = 9
MOST_GROUPS = 50
MANY_WEIGHTS = 2**28
SOME_WEIGHTS = 2**21  # they take some tenths of a second
NUMBERS = (
    "estimate",
    "low",
    "high",
    "naive_low",
    "naive_high",
    "bounded_low",
    "bounded_high",
)


class MetricEstimates(Result):
    """Metrics of one model with confidence intervals that account for the design.

    The intervals account for strata, clusters and weights. `estimate_metrics` returns this result.

    Attributes
    ----------
    estimates : tuple of ReplicateEstimate
        One per metric, then one per metric and group. Macro F1 and balanced accuracy are of type
        MacroEstimate.
    groups : tuple
        Group of each estimate, None for all items.
    naive, naive_error : (M,) array of float
        Estimates of the same metrics and their standard errors, computed as if items were
        independent and had equal weights.
    level : float
        Confidence level of the intervals.
    design : str
        The design in words.
    method : str
        Replication method.
    labels : tuple
        Class that each estimate is about; None for the positive class or all classes. For a mean it
        is the column, for a proportion the column and the class, such as "y = 1". Empty if every
        entry is None.
    caveats : tuple of str
        Warnings to read before the numbers: rows without labels, metrics that the sample cannot
        show, a score that seems to belong to another class. The notes contain them, too.

    See Also
    --------
    estimate_metrics : Estimate metrics of one model.
    MetricComparison : Differences of metrics between models.
    ReplicateEstimate : One statistic with its replicate variance.
    """

    estimates: tuple
    groups: tuple
    naive: ndarray
    naive_error: ndarray
    level: float
    design: str
    method: str
    labels: tuple = ()
    caveats: tuple = ()

    def headline(self) -> str:
        """Return the first metric with its interval and the effective sample size."""
        row = self.rows()[0]
        estimate, *limits = _texts(row, *NUMBERS, exact=True)
        low, high, naive_low, naive_high, *bounded = limits
        interval = f"{percent(self.level)} confidence interval {low} to {high}"
        interval += bounded_words((low, high), bounded)
        worth = ""
        if not np.isnan(row["worth"]):
            noun = "items" if METRICS[row["metric"]].about == "sets" else "labels"
            worth = (
                f"; effective sample size {row['worth']:,.0f} "
                f"for {self.estimates[0].items:,} {noun}"
            )
        lead = _heading(row) + _colon(row)
        return f"{lead} {estimate}, {interval} (naive {naive_low} to {naive_high}){worth}"

    def finding(self) -> str:
        """Return the caveats, then the first metric with its interval in a sentence."""
        row = self.rows()[0]
        name = _heading(row)
        estimate, low, high = _texts(row, *NUMBERS[:3])
        interval = f"{percent(self.level)} confidence interval {low} to {high}"
        finding = f"{name}{_colon(row)} {estimate} ({interval})"
        if METRICS[row["metric"]].meaning:
            finding += f": {METRICS[row['metric']].meaning}"
        if METRICS[row["metric"]].is_share and digits.nothing(row["low"], row["high"]):
            finding = (
                f"No result: {name} may be anything between {low} and {high}, because the sample "
                "contains too little information about it"
            )
        caveats = (f"{caveat[0].upper()}{caveat[1:]}." for caveat in self.caveats)
        return "\n".join([*caveats, finding])

    def basis(self) -> str:
        """Return a description of the sample that the finding rests on, in one line."""
        first = self.estimates[0]
        worth = self.rows()[0]["worth"]
        sample = checks.counted(first.items, "labeled item")
        if first.psus != first.items:
            sample += f" in {checks.counted(first.psus, 'cluster')} (PSUs)"
        sample += f" of {checks.counted(first.strata, 'stratum', 'strata')}"
        if not np.isnan(worth):
            sample += f", effective sample size {worth:,.0f}"
        method = method_words(self.method.removeprefix("imported "))
        replicates = f"{first.replicate_values.size:,} replicates by {method}"
        return f"From {sample}; {percent(self.level)} confidence intervals, {replicates}."

    def rows(self) -> list[dict]:
        """Return one row per metric, group and class, with intervals and design effect.

        Naive intervals are cut at the limits of the metric's range, such as 0 and 1. `bounded_low`
        and `bounded_high` are the limits if the population contains values or clusters unlike those
        in the sample. The design effect [1]_ is the variance divided by that of as many independent
        items. `worth` is the effective sample size: the number of labels divided by the design
        effect. It is NaN with fewer than 5 effective degrees of freedom, because it is then too
        uncertain.

        References
        ----------
        .. [1] Kish, Survey Sampling, Wiley 1965: design effect.
        """
        z = intervals.quantile(self.level)
        labels = self.labels or (None,) * len(self.estimates)
        grouped = any(group is not None for group in self.groups)
        table: list[dict] = []
        of_estimates = zip(
            self.estimates,
            self.groups,
            labels,
            self.naive,
            self.naive_error,
            strict=True,
        )
        for estimate, group, label, naive, error in of_estimates:
            interval = estimate.interval(self.level)
            effect = worth = math.nan
            if error > 0 and estimate.variance > 0:
                effect = float(estimate.variance / error**2)
            if estimate.effective_df >= LEAST_DF:
                worth = estimate.items / effect
            limits = [naive - z * error, naive + z * error]
            naive_low, naive_high = np.clip(limits, *RANGES[estimate.kind])
            row = {"group": group, "metric": estimate.statistic, "label": label}
            if not grouped:
                del row["group"]
            if not self.labels:
                del row["label"]
            row |= {
                "estimate": estimate.estimate,
                "standard_error": estimate.standard_error,
                "df": estimate.df,
                "low": interval.low,
                "high": interval.high,
            }
            row |= {
                "naive_estimate": float(naive),
                "naive_low": float(naive_low),
                "naive_high": float(naive_high),
                "design_effect": effect,
                "worth": worth,
            }
            table.append(row | with_bounded(interval))
        return table

    def _repr_html_(self) -> str:
        table = [self._cells(row) for row in self.rows()]
        return html_table(table, self.headline(), shown=len(table)) + note_list(self.notes)

    def _cells(self, row: dict) -> dict:
        """Return a row as a page shows it: proportions as percentages, limits side by side."""
        estimate, *limits, error = _texts(row, *NUMBERS, "standard_error")
        pairs = zip(limits[::2], limits[1::2], strict=True)
        interval, naive, bounded = (f"{low} to {high}" for low, high in pairs)
        if bounded == interval:
            bounded = ""
        group = {"group": row["group"]} if "group" in row else {}
        worth = "" if np.isnan(row["worth"]) else f"{row['worth']:,.0f}"
        interval_title = f"{percent(self.level)} interval"
        return {
            "metric": _heading(row),
            **group,
            "estimate": estimate,
            interval_title: interval,
            "standard_error": error,
            "bounded interval": bounded,
            "naive": naive,
            "df": f"{row['df']:,}",
            "design_effect": row["design_effect"],
            "worth": worth,
        }


def _texts(row: dict, *names: str, exact: bool = False) -> tuple[str, ...]:
    """Return entries of a row as text: proportions as percentages, or as decimals if `exact`.

    A mean of values has one digit more than its interval needs.
    """
    values = [row[name] for name in names]
    error = (row["high"] - row["low"]) / 2
    if METRICS[row["metric"]].about == "value":
        error /= 10
    if not METRICS[row["metric"]].is_share:
        return digits.numbers(*values, error=error)
    if exact:
        return digits.shares(*values)
    return digits.percents(*values, error=error)


def row_title(row: Mapping) -> str:
    """Return the title of a row of metrics as it appears in a sentence.

    Examples
    --------
    >>> row_title({"metric": "f1", "label": 9})
    'F1 of 9'
    """
    title = title_of(row["metric"])
    if row.get("label") is None:
        return title
    joint = " " if METRICS[row["metric"]].about == "rank" else " of "
    return f"{title}{joint}{row['label']}"


def _heading(row: Mapping) -> str:
    title = row_title(row)
    return title[0].upper() + title[1:]


def _colon(row: Mapping) -> str:
    """Return the separator between a title that ends in a class, such as "y = 1", and a number."""
    return ":" if METRICS[row["metric"]].about == "label" else ""


def estimate_metrics(
    items: LabeledItems,
    metrics: str | Sequence[str] | None = None,
    *,
    method: str = "auto",
    level: float = 0.95,
    collapse: dict | str | None = None,
    rho: float | str | None = None,
    coefficients: ArrayLike | str | None = None,
    rng: int | np.random.Generator = 0,
) -> MetricEstimates:
    """Estimate metrics of one model, with intervals that account for how the items were sampled.

    Use it for a labeled sample with or without strata, clusters and weights. The result has one
    estimate with its interval per metric, class and group. To compare several models, use
    `compare_metrics`.

    Parameters
    ----------
    items : LabeledItems
        Labeled items of one model, from `load_labeled`.
    metrics : str or sequence of str, optional
        Names of metrics; the headline shows the first one. The Notes list the defaults.

        - "accuracy", "precision", "recall", "f1", "macro_f1", "balanced_accuracy", "kappa" and
          "mcc" compare the prediction with the truth.
        - "micro_f1", "micro_precision", "micro_recall", "exact_match" and "hamming_loss" are for
          items with several labels. The accuracy of such items is "exact_match".
        - "auc" needs a score. "brier" and "log_loss" need a score that is the probability of the
          positive class.
        - "rmse" and "correlation" need numbers as truth and prediction.
        - "mean", "median" and "proportion" describe the truth alone and need no prediction.
        - "identified" is the proportion of items whose true class is among the first 1, 2, ...
          candidates. "mean_rank" needs every true class among the candidates.

        Precision, recall, F1 and the proportion are about the positive class. Without a positive
        class there is one estimate per class or label.
    method : str, default "auto"
        Replication method, as in `replicates`. "auto" selects "fay" if all strata have the same
        number of PSUs, a prime power up to 9, and "generalized" otherwise. Both keep at least half
        of every weight, so no replicate loses a class. If this would take too long for an AUC or
        a median, that metric uses "bootstrap". For items with replicate weights, name the method by
        which the weights were made, as in `imported_replicates`.
    level : float, default 0.95
        Confidence level, between 0 and 1.
    collapse : dict or str, optional
        Strata to merge, as in `SurveyDesign`. Text such as "b=a, c=a" works, too.
    rho, coefficients : optional
        As in `imported_replicates`, only for items with replicate weights. Text works, too: ".5"
        for rho, and one coefficient for all replicates or one for each, separated by commas.
    rng : int or numpy.random.Generator, default 0
        Seed or random generator for "bootstrap".

    Returns
    -------
    MetricEstimates
        Estimates and intervals; `rows()` returns them as a table.

    Raises
    ------
    ValueError
        If a setting is not valid, a metric needs a column that the items do not have, or no metric
        is defined.

    See Also
    --------
    load_labeled : Read labeled items from a file or a data frame.
    compare_metrics : Compare two or more models on the same items.
    replicate_estimate : Estimate one statistic from given replicates.

    Notes
    -----
    The default metrics depend on the items:

    - with a positive class: accuracy, precision, recall and F1;
    - without one: accuracy, macro F1 and the F1 of every class;
    - with several labels per item: all metrics for such items;
    - with scores but no predictions: AUC;
    - with candidates: accuracy and "identified";
    - with the truth alone: the mean of numbers, or the proportion of each class. A column of 0 and
      1 holds classes.

    Examples
    --------
    >>> import workbench as wb
    >>> estimate_metrics(wb.digit_forms().labeled())      # doctest: +ELLIPSIS
    MetricEstimates(Accuracy 0.877, 95% confidence interval 0.838 to 0.911 (naive ...); ...)
    """
    requested = metrics
    metrics, level, design, drawn = check_settings(
        items,
        metrics,
        method=method,
        level=level,
        collapse=collapse,
        rho=rho,
        coefficients=coefficients,
        rng=rng,
    )
    of_auc = _of_auc(drawn, method)
    weighted = [name for name in metrics if METRICS[name].values]
    if of_auc is not drawn:
        weighted = [name for name in weighted if name != "auc"]
    fewer = _with_fewer(drawn, method, weighted, rng)
    rows_to_estimate, caveats = shown_by_sample(items, metrics_and_classes(items, metrics))
    notes = [*items.notes, *_design_notes(design, drawn, fewer, weighted)]
    if requested is None and items.truth_alone and items.candidates is None:
        notes.append(_usual_note(items, metrics[0]))
    if items.labels and not items.truth_alone:
        notes += ABOUT_LABELS
    results = []
    estimate: ReplicateEstimate | MacroEstimate
    about: Iterable[Note]
    for group in groups_of(items):
        rows = rows_of_group(items, group)
        for metric, label in rows_to_estimate:
            columns = items.columns(metric, label)
            entry = METRICS[metric]
            title_label = items.title_label(metric, label)
            suffix = "" if title_label is None else f" of {title_label}"
            suffix += "" if group is None else f" in group {group}"
            where = ("metric", metric + suffix)
            try:
                if entry.is_one:
                    of_metric = fewer if metric in weighted else drawn
                    if metric == "auc" and of_auc is not drawn:
                        of_metric = of_auc
                    estimate = estimate_statistic(of_metric, metric, *columns, domain=rows)
                    about = [*estimate_notes(estimate, brief=True), *_t_note(estimate, level)]
                    _refuse_alike(estimate, drawn)
                else:
                    estimate = estimate_mean_of_classes(
                        drawn,
                        metric,
                        *columns,
                        domain=rows,
                        labels=items.labels,
                    )
                    about = estimate.notes
            except (UndefinedError, UnstableError) as error:
                kind = "undefined" if isinstance(error, UndefinedError) else "refused"
                where_all = caveats if group is None and label is None else notes
                where_all.append(Note(kind, str(error), where))
                continue
            results.append(
                (
                    estimate,
                    group,
                    title_label,
                    *naive(metric, *columns, rows=rows),
                )
            )
            notes += [Note(note.kind, note.text, where) for note in about]
    if not results:
        raise UndefinedError(f"no metric can be estimated: {_why_none([*notes, *caveats])}")
    estimates, groups, labels, naive_estimates, naive_errors = zip(*results, strict=True)
    caveats += score_notes(items, {metric for metric, _ in rows_to_estimate})
    notes += caveats
    interval = estimates[0].interval(level)
    if interval.bounded:
        notes += bounded_notes(tuple(interval), interval.bounded, of=estimates[0].statistic)
    unlabeled = [note for note in items.notes if note.where and note.where[0] == LABELS_IN]
    first_to_read = [str(note) for note in [*unlabeled, *caveats]]
    sample = design if items.replicate_weights is None else drawn
    if all(label is None for label in labels):
        labels = ()
    return MetricEstimates(
        estimates,
        groups,
        np.array(naive_estimates),
        np.array(naive_errors),
        level,
        sample.headline(),
        drawn.method,
        labels,
        tuple(first_to_read),
        notes=notes,
    )


def check_settings(
    items: LabeledItems,
    metrics: str | Sequence[str] | None = None,
    *,
    method: str = "auto",
    level: float = 0.95,
    collapse: dict | str | None = None,
    rho: float | str | None = None,
    coefficients: ArrayLike | str | None = None,
    rng: int | np.random.Generator = 0,
) -> tuple:
    """Check the settings of `estimate_metrics`; return metrics, level, design and replicates."""
    checks.instance("items", items, LabeledItems)
    if items.models:
        raise WrongValue(
            "items",
            f"must hold one model; they hold {listed(items.models, quoted=True)}: use "
            f"compare_metrics, or items.model({items.models[0]!r})",
        )
    if items.truth.size < 2:
        raise WrongValue("items", "must hold at least 2 labeled items; there is 1")
    level = checks.level(level)
    if metrics is None:
        metrics = _usual(items)
    if isinstance(metrics, str):
        metrics = metrics.replace(",", " ").split()
    metrics = checks.each("metrics", metrics)
    if items.labels:
        metrics = tuple("exact_match" if name == "accuracy" else name for name in metrics)
    names = [name for name, metric in METRICS.items() if metric.about]
    if not metrics:
        raise WrongValue("metrics", f"must name at least one of {', '.join(names)}")
    for metric in metrics:
        checks.choice("metrics", metric, names)
        _refuse_many_classes(items, metric)
    metrics = tuple(dict.fromkeys(metrics))
    for metric, label in metrics_and_classes(items, metrics):
        items.columns(metric, label)
    if items.replicate_weights is not None:
        drawn = _imported(items, method, collapse, rho, coefficients)
        return metrics, level, drawn.design, drawn
    for name, value in (("rho", rho), ("coefficients", coefficients)):
        if _numbers(name, value) is not None:
            raise WrongValue(name, "needs {0}, which were not given", others=("replicate_weights",))
    if method in imported.METHODS and method not in METHODS:
        rule = f"must be one of {', '.join(map(repr, METHODS))} without {{0}}"
        raise WrongValue("method", rule, method, others=("replicate_weights",))
    checks.choice("method", method, METHODS)
    renamed = _renamed(collapse, items.stratum)
    design = SurveyDesign(
        items.stratum,
        psu=items.psu,
        weight=items.weight,
        fpc=items.fpc,
        nest=items.nest,
        collapse=renamed,
    )
    if method == "auto":
        n = design.varying.psus_per_stratum
        most = int(n.max())
        balanced = np.ptp(n) == 0 and most <= MOST_UNITS and as_prime_power(most)
        method = "fay" if balanced else "generalized"
    return metrics, level, design, replicates(design, method, rng=rng)


def naive(
    metric: str,
    truth: ArrayLike,
    other: ArrayLike | None = None,
    *,
    rows: Any = None,
) -> EstimateAndError:
    """Return a metric and its standard error as if items were independent and had equal weights.

    Parameters
    ----------
    metric : str
        Name of a metric, as in `workbench.estimate_metrics`.
    truth, other : (n,) array_like
        The arguments of the metric:

        - truth and prediction for metrics of predictions;
        - truth and score for AUC, Brier score and log loss;
        - the truth alone for a median, a mean and a proportion (of 0 and 1);
        - the ranks and the largest possible rank for a mean rank;
        - true and predicted labels, (n, L), for items with several labels.
    rows : (n,) array_like of bool, optional
        The items that count.

    Returns
    -------
    estimate, standard_error : float
        The standard error is that of the delta method; for AUC that of DeLong [1]_.

    References
    ----------
    .. [1] DeLong, DeLong & Clarke-Pearson, Comparing the areas under two or more correlated
       receiver operating characteristic curves, Biometrics 44, 1988: variance of the AUC of
       independent items.

    Examples
    --------
    >>> import workbench as wb
    >>> forms = wb.digit_forms()
    >>> "{:.4f} {:.4f}".format(*naive("accuracy", forms.digit, forms.read_a))
    '0.8770 0.0077'
    """
    checks.choice("metric", metric, [name for name in METRICS if METRICS[name].about])
    columns: list = [truth] if other is None else [truth, other]
    if rows is not None:
        columns = [np.asarray(column)[rows] if np.ndim(column) else column for column in columns]
    return METRICS[metric].naive_of(*columns)


def shown_by_sample(items: LabeledItems, pairs: list[tuple]) -> tuple[list[tuple], list[Note]]:
    """Return the pairs of metric and class that the sample can show, and notes on the others."""
    sampled = items.sampled
    notes = []
    shown_pairs, unknown = [], []
    for metric, label in pairs:
        of_class = items.positive if label is None else label
        if sampled.shows(metric, of_class):
            shown_pairs.append((metric, label))
        else:
            unknown.append(row_title({"metric": metric, "label": label}))
    if unknown:
        text = f"{', '.join(unknown)} cannot be estimated, because {sampled.reason}"
        notes.append(Note("undefined", text))
    if not (sampled.by_prediction or sampled.by_truth):
        notes += _always_predicted(items)
    if sampled.predicted == sampled.true and len(sampled.true) == 1 and items.unlike_others is None:
        notes.append(
            Note(
                "assumption",
                f"every labeled item is predicted and truly {sampled.true[0]!r}. The results "
                "assume that the items are a random sample of all. If only items of this class "
                "were chosen, the results do not apply to other items",
            )
        )
    return shown_pairs, notes


def _always_predicted(items: LabeledItems) -> Iterator[Note]:
    """Yield a note on labels that all items have, or that were predicted for all items."""
    if not items.labels:
        return
    rows = rows_of_group(items, None)
    for sets, verb in ((items.predicted_labels, "predicted as"), (items.true_labels, "truly")):
        if sets is None:
            continue
        of_population = sets if rows is None else sets[rows]
        always = [
            label
            for label, items_with_label in zip(items.labels, of_population.T, strict=True)
            if items_with_label.all()
        ]
        if always:
            names = checks.listed(always, quoted=True)
            yield Note(
                "assumption",
                f"every labeled item is {verb} {names}. The results assume that the items are a "
                "random sample of all. If only such items were chosen, the results do not apply to "
                "other items",
            )


def rows_of_group(items: LabeledItems, group: object) -> ndarray | None:
    """Return a mask of a group's items in the population, or None if all items count."""
    rows = None if group is None else np.asarray(items.group) == group
    if items.weight is None or items.weight.all():
        return rows
    if rows is None:
        return items.weight > 0
    return rows & (items.weight > 0)


def _why_none(notes: list[Note]) -> str:
    """Return why no metric is defined: what the sample cannot show, or else the last note."""
    reasons = [note for note in notes if note.kind in ("undefined", "refused")]
    of_sample = [note for note in reasons if note.where is None]
    return str((of_sample or reasons)[-1])


def _usual(items: LabeledItems) -> tuple[str, ...]:
    """Return the default metrics of the items; the one that the sample can show comes first."""
    if items.candidates is not None:
        return "accuracy", "identified"
    if items.truth_alone:
        return ("mean" if items.has_values and not items.named_positive else "proportion",)
    if items.prediction is None:
        return ("auc",)
    if items.positive is not None:
        return USUAL
    if items.labels:
        return _usual_of_labels(items)
    of_all = ("accuracy", "macro_f1", "f1")
    if items.sampled.by_prediction:
        return "precision", *of_all
    if items.sampled.by_truth:
        return "recall", *of_all
    if len(items.classes) <= MOST_CLASSES:
        return of_all
    return ("accuracy",)


def _usual_note(items: LabeledItems, metric: str) -> Note:
    """Return a note that there is no prediction, and on the metric that is used instead."""
    other = "proportion" if metric == "mean" else "mean"
    return Note(
        "assumption",
        f"there is no prediction and no score, so the {metric} of column {items.truth_name!r} was "
        f"estimated. For others, name metrics such as {other!r}",
    )


def _t_note(estimate: ReplicateEstimate, level: float) -> Iterator[Note]:
    """Yield a note with the limits of Student's t alone, if Hall's limits are wider."""
    if estimate.skewness is None:
        return
    low, high = estimate.interval(level)
    limits = (*estimate.interval(level, "t"), low, high)
    low_text, high_text, *joined = digits.numbers(*limits, error=(high - low) / 20)
    if joined != [low_text, high_text]:
        yield Note("remark", f"the interval by Student's t alone is {low_text} to {high_text}")


def _refuse_alike(estimate: ReplicateEstimate, drawn: Replicates) -> None:
    """Raise if a mean without bounds does not vary: it then has no interval."""
    of_values = METRICS[estimate.statistic].about == "value"
    if of_values and estimate.variance == 0 and drawn.design.free.any():
        raise UndefinedError(
            f"the mean is {estimate.estimate:.6g} in every replicate, so the sample does not show "
            "how far other values are from it. The mean has no interval; a proportion has one"
        )


def _usual_of_labels(items: LabeledItems) -> tuple[str, ...]:
    """Return the metrics of all labels together, and of each label if there are not too many."""
    if len(items.labels) > MOST_CLASSES:
        return tuple(name for name in OF_LABELS if METRICS[name].about == "sets")
    return OF_LABELS


def _refuse_many_classes(items: LabeledItems, metric: str) -> None:
    entry = METRICS[metric]
    if entry.about == "label":
        classes = len(items.labels) or np.unique(items.truth).size
        if items.counted_class is None and classes > MOST_CLASSES:
            raise ValueError(
                f"{metric} takes at most {MOST_CLASSES} classes, and column {items.truth_name!r} "
                f"has {classes:,}: name the positive class, or estimate the mean of numbers"
            )
        return
    of_every_class = not entry.is_one or entry.per_class and items.positive is None
    if of_every_class:
        refuse_many_classes(metric, len(items.classes))


def metrics_and_classes(items: LabeledItems, metrics: Sequence[str]) -> list[tuple]:
    """Return pairs of a metric and its class or rank, None for the positive class or for all."""
    pairs: list[tuple] = []
    for metric in metrics:
        labels: Sequence = [None]
        if METRICS[metric].per_class:
            if METRICS[metric].about == "rank" and items.candidates is not None:
                labels = range(1, items.candidates.shape[1] + 1)
            elif METRICS[metric].about == "class" and items.positive is None:
                labels = items.classes
            elif METRICS[metric].about == "label":
                labels = [items.counted_class]
                if items.counted_class is None:
                    labels = items.labels or np.unique(items.truth).tolist()
        pairs += [(metric, label) for label in labels]
    return pairs


def _imported(
    items: LabeledItems,
    method: str,
    collapse: dict | str | None,
    rho: float | str | None,
    coefficients: ArrayLike | str | None,
) -> Replicates:
    """Return the replicates of weights that were made elsewhere."""
    weights = np.asarray(items.replicate_weights)
    if collapse:
        raise ValueError("collapse merges strata, but replicate weights come without strata")
    if method not in imported.METHODS:
        names = ", ".join(map(repr, imported.METHODS))
        raise WrongValue(
            "method", f"must be the method of the replicate weights, one of {names}", method
        )
    factors = _numbers("coefficients", coefficients)
    shares = _numbers("rho", rho)
    if factors is not None and factors.size == 1:
        factors = np.repeat(factors, weights.shape[1])
    share = None if shares is None else float(shares[0])
    return imported.imported_replicates(
        np.asarray(items.weight),
        weights,
        method=method,
        coefficients=factors,
        rho=share,
    )


def _numbers(name: str, values: ArrayLike | str | None) -> ndarray | None:
    """Return numbers, also from text with commas between them; None for none."""
    if values is None or isinstance(values, str) and not values.strip():
        return None
    entries = values.split(",") if isinstance(values, str) else values
    try:
        return np.atleast_1d(np.array(entries, float))
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be numbers, separated by commas; got {values!r}") from None


def _renamed(collapse: dict | str | None, stratum: ndarray) -> dict | None:
    """Return a collapse map from text such as "b=a, c=a", with the names of the strata."""
    if not isinstance(collapse, str):
        return collapse or None
    strata = np.unique(stratum)
    names = {str(name): name for name in strata.tolist()}
    renamed = {}
    for pair in filter(str.strip, collapse.split(",")):
        joined = [names.get(name.strip(), name.strip()) for name in pair.split("=")]
        if len(joined) != 2:
            raise WrongValue("collapse", "must be pairs such as 'b=a, c=a'", pair)
        renamed[joined[0]] = joined[1]
    refuse_unknown_strata([*renamed, *renamed.values()], strata)
    return renamed or None


def groups_of(items: LabeledItems) -> list:
    """Return None for all items, and the groups that hold an item of the population."""
    if items.group is None:
        return [None]
    groups = items.group
    if items.weight is not None:
        groups = groups[items.weight > 0]
    names = [name for name in np.unique(groups).tolist() if name != ""]
    if len(names) > MOST_GROUPS:
        raise WrongValue(
            "group", f"must have at most {MOST_GROUPS} different values; got {len(names):,}"
        )
    return [None, *names]


def _of_auc(drawn: Replicates, method: str) -> Replicates:
    """Return the jackknife for an AUC of many independent items: it needs no replicate weights."""
    many = drawn.count * drawn.design.weight.size > SOME_WEIGHTS
    every_item = np.ones(drawn.design.weight.size, bool)
    if method == "auto" and many and drawn.design.fpc is None:
        if is_independent(drawn, every_item):
            return drawn.jackknife
    return drawn


def _with_fewer(
    drawn: Replicates,
    method: str,
    metrics: Sequence[str],
    rng: int | np.random.Generator,
) -> Replicates:
    """Return replicates for metrics that need every weight: a bootstrap if there are many."""
    costly = drawn.count * drawn.design.weight.size > MANY_WEIGHTS
    if method == "auto" and costly and metrics:
        return replicates(drawn.design, "bootstrap", rng=rng)
    return drawn


def _design_notes(
    design: SurveyDesign,
    drawn: Replicates,
    fewer: Replicates,
    metrics: Sequence[str],
) -> Iterator[Note]:
    if design.psu is None:
        yield Note(
            "assumption",
            "no column of clusters (PSU) was named: items are assumed to be sampled independently "
            "within their stratum",
        )
    if drawn.method == "generalized":
        yield Note(
            "remark",
            f"clusters (PSUs) per stratum: {sizes(design.psus_per_stratum)}. Generalized "
            f"replication is exact for any numbers of clusters; it uses {drawn.count:,} replicates",
        )
    if fewer is not drawn:
        text = (
            f"estimated with {fewer.count} bootstrap replicates, because {drawn.count:,} "
            "replicates would need too many weights"
        )
        for name in metrics:
            yield Note("remark", text, ("metric", name))
