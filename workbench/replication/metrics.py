"""Metrics of labeled items, such as accuracy and F1, with intervals that account for the design.

Start with `estimate_metrics`, which returns a `MetricEstimates`. `naive` computes the same metrics
as if the items were a simple random sample.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
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
OF_ALL_LABELS = tuple(name for name in OF_LABELS if METRICS[name].about == "sets")
OF_CLASSES = ("accuracy", "macro_f1", "f1")
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
            items = f"{self.estimates[0].items:,} {noun}"
            worth = f"; effective sample size {row['worth']:,.0f} for {items}"
        return f"{_lead(row)} {estimate}, {interval} (naive {naive_low} to {naive_high}){worth}"

    def finding(self) -> str:
        """Return the caveats, then the first metric with its interval in a sentence."""
        row = self.rows()[0]
        metric = METRICS[row["metric"]]
        estimate, low, high = _texts(row, *NUMBERS[:3])
        finding = (
            f"{_lead(row)} {estimate} ({percent(self.level)} confidence interval {low} to {high})"
        )
        if metric.meaning:
            finding += f": {metric.meaning}"
        if metric.is_share and digits.nothing(row["low"], row["high"]):
            finding = (
                f"No result: {capitalized(row_title(row))} may be anything between {low} and "
                f"{high}, because the sample contains too little information about it"
            )
        return "\n".join([*(f"{capitalized(caveat)}." for caveat in self.caveats), finding])

    def basis(self) -> str:
        """Return a description of the sample that the finding rests on, in one line."""
        first, worth = self.estimates[0], self.rows()[0]["worth"]
        sample = f"{sample_text(first)} of {checks.counted(first.strata, 'stratum', 'strata')}"
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
        keys = zip(self.estimates, self.groups, labels, strict=True)
        table: list[dict] = []
        for k, (estimate, group, label) in enumerate(keys):
            interval = estimate.interval(self.level)
            naive, error = float(self.naive[k]), float(self.naive_error[k])
            naive_limits = np.clip([naive - z * error, naive + z * error], *RANGES[estimate.kind])
            effect = math.nan
            if error > 0 and estimate.variance > 0:
                effect = estimate.variance / error**2
            is_certain = estimate.effective_df >= LEAST_DF
            row = {
                "group": group,
                "metric": estimate.statistic,
                "label": label,
                "estimate": estimate.estimate,
                "standard_error": estimate.standard_error,
                "df": estimate.df,
                "low": interval.low,
                "high": interval.high,
                "naive_estimate": naive,
                "naive_low": float(naive_limits[0]),
                "naive_high": float(naive_limits[1]),
                "design_effect": effect,
                "worth": estimate.items / effect if is_certain else math.nan,
            }
            table.append(row | with_bounded(interval))
        unused = {"label"} if not self.labels else set()
        if not any(group is not None for group in self.groups):
            unused.add("group")
        return [{key: value for key, value in row.items() if key not in unused} for row in table]

    def _repr_html_(self) -> str:
        table = [self._cells(row) for row in self.rows()]
        return html_table(table, self.headline(), shown=len(table)) + note_list(self.notes)

    def _cells(self, row: dict) -> dict:
        """Return a row as a page shows it: proportions as percentages, limits side by side."""
        estimate, *limits, error = _texts(row, *NUMBERS, "standard_error")
        interval, naive, bounded = map(" to ".join, zip(limits[::2], limits[1::2], strict=True))
        group = {"group": row["group"]} if "group" in row else {}
        return {
            "metric": capitalized(row_title(row)),
            **group,
            "estimate": estimate,
            f"{percent(self.level)} interval": interval,
            "standard_error": error,
            "bounded interval": "" if bounded == interval else bounded,
            "naive interval": naive,
            "df": f"{row['df']:,}",
            "design_effect": row["design_effect"],
            "worth": "" if np.isnan(row["worth"]) else f"{row['worth']:,.0f}",
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


def capitalized(text: str) -> str:
    """Return a text that begins with a capital letter."""
    return text[0].upper() + text[1:]


def _lead(row: Mapping) -> str:
    """Return the title of a row before a number; a title that ends in "y = 1" gets a colon."""
    colon = ":" if METRICS[row["metric"]].about == "label" else ""
    return capitalized(row_title(row)) + colon


def sample_text(
    estimate: ReplicateEstimate | MacroEstimate, item: str = "labeled item", psus: str = " (PSUs)"
) -> str:
    """Return the number of items of an estimate, and of their clusters if there are any."""
    items = checks.counted(estimate.items, item)
    if estimate.psus == estimate.items:
        return items
    return f"{items} in {checks.counted(estimate.psus, 'cluster')}{psus}"


def texts_to_read_first(items: LabeledItems, caveats: Iterable[Note]) -> tuple[str, ...]:
    """Return the texts of the notes on rows without a label and of the caveats of a result."""
    unlabeled = [note for note in items.notes if note.where and note.where[0] == LABELS_IN]
    return tuple(str(note) for note in [*unlabeled, *caveats])


def metric_names(metrics: str | Sequence[str]) -> tuple:
    """Return names of metrics, which may be separated by commas or spaces in one text."""
    if isinstance(metrics, str):
        metrics = metrics.replace(",", " ").split()
    return checks.each("metrics", metrics)


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
    by_default = metrics is None
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
    replicates_of = dict.fromkeys(metrics, drawn)
    if method == "auto":
        replicates_of |= _with_fewer_weights(drawn, metrics, rng)
    rows_to_estimate, caveats = shown_by_sample(items, metrics_and_classes(items, metrics))
    notes = [*items.notes, *_design_notes(drawn, replicates_of)]
    if by_default and items.truth_alone and items.candidates is None:
        other = "proportion" if metrics[0] == "mean" else "mean"
        text = (
            f"there is no prediction and no score, so the {metrics[0]} of column "
            f"{items.truth_name!r} was estimated. For others, name metrics such as {other!r}"
        )
        notes.append(Note("assumption", text))
    if items.labels and not items.truth_alone:
        notes += ABOUT_LABELS
    results = []
    estimate: ReplicateEstimate | MacroEstimate
    about: Iterable[Note]
    for group in groups_of(items):
        rows = rows_of_group(items, group)
        for metric, label in rows_to_estimate:
            columns = items.columns(metric, label)
            replicates = replicates_of[metric]
            title_label = items.title_label(metric, label)
            where = ("metric", place_of(metric, title_label, group))
            try:
                if METRICS[metric].is_one:
                    estimate = estimate_statistic(replicates, metric, *columns, domain=rows)
                    about = [*estimate_notes(estimate, brief=True), *_t_note(estimate, level)]
                    _refuse_alike(estimate, drawn)
                else:
                    estimate = estimate_mean_of_classes(
                        replicates, metric, *columns, domain=rows, labels=items.labels
                    )
                    about = estimate.notes
            except (UndefinedError, UnstableError) as error:
                kind = "undefined" if isinstance(error, UndefinedError) else "refused"
                of_all = group is None and label is None
                (caveats if of_all else notes).append(Note(kind, str(error), where))
                continue
            results.append((estimate, group, title_label, *naive(metric, *columns, rows=rows)))
            notes += [replace(note, where=where) for note in about]
    if not results:
        raise UndefinedError(f"no metric can be estimated: {_why_none([*notes, *caveats])}")
    estimates, groups, labels, naive_estimates, naive_errors = zip(*results, strict=True)
    caveats += score_notes(items, {metric for metric, _ in rows_to_estimate})
    notes += caveats
    interval = estimates[0].interval(level)
    if interval.bounded:
        notes += bounded_notes(tuple(interval), interval.bounded, of=estimates[0].statistic)
    sample = design if items.replicate_weights is None else drawn
    return MetricEstimates(
        estimates,
        groups,
        np.array(naive_estimates),
        np.array(naive_errors),
        level,
        sample.headline(),
        drawn.method,
        () if set(labels) == {None} else labels,
        texts_to_read_first(items, caveats),
        notes=notes,
    )


def place_of(metric: str, label: Any, group: Any) -> str:
    """Return a metric with its class and group, as notes name it."""
    text = metric if label is None else f"{metric} of {label}"
    return text if group is None else f"{text} in group {group}"


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
) -> tuple[tuple[str, ...], float, SurveyDesign, Replicates]:
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
    metrics = _usual(items) if metrics is None else metric_names(metrics)
    if items.labels:
        metrics = ["exact_match" if name == "accuracy" else name for name in metrics]
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
    other = ("replicate_weights",)
    for name, value in (("rho", rho), ("coefficients", coefficients)):
        if _numbers(name, value) is not None:
            raise WrongValue(name, "needs {0}, which were not given", others=other)
    if method in imported.METHODS and method not in METHODS:
        rule = f"must be one of {', '.join(map(repr, METHODS))} without {{0}}"
        raise WrongValue("method", rule, method, others=other)
    checks.choice("method", method, METHODS)
    design = SurveyDesign(
        items.stratum,
        psu=items.psu,
        weight=items.weight,
        fpc=items.fpc,
        nest=items.nest,
        collapse=_renamed(collapse, items.stratum),
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
    shown_pairs, titles = [], []
    for metric, label in pairs:
        if sampled.shows(metric, items.positive if label is None else label):
            shown_pairs.append((metric, label))
        else:
            titles.append(row_title({"metric": metric, "label": label}))
    if titles:
        text = f"{', '.join(titles)} cannot be estimated, because {sampled.reason}"
        notes.append(Note("undefined", text))
    alike = []
    if not (sampled.by_prediction or sampled.by_truth):
        alike = [("such items", what) for what in _always_predicted(items)]
    if sampled.predicted == sampled.true and len(sampled.true) == 1 and items.unlike_others is None:
        alike.append(("items of this class", f"predicted and truly {sampled.true[0]!r}"))
    for chosen, what in alike:
        text = (
            f"every labeled item is {what}. The results assume that the items are a random sample "
            f"of all. If only {chosen} were chosen, the results do not apply to other items"
        )
        notes.append(Note("assumption", text))
    return shown_pairs, notes


def _always_predicted(items: LabeledItems) -> Iterator[str]:
    """Yield what all items are, if all have some labels or all were predicted to have them."""
    rows = rows_of_group(items, None)
    for sets, verb in ((items.predicted_labels, "predicted as"), (items.true_labels, "truly")):
        if sets is None:
            continue
        occurs = (sets if rows is None else sets[rows]).all(0)
        if occurs.any():
            labels = [items.labels[k] for k in np.flatnonzero(occurs)]
            yield f"{verb} {checks.listed(labels, quoted=True)}"


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
    return str(([note for note in reasons if note.where is None] or reasons)[-1])


def _usual(items: LabeledItems) -> tuple[str, ...]:
    """Return the default metrics of the items; the one that the sample can show comes first."""
    if items.candidates is not None:
        return "accuracy", "identified"
    if items.truth_alone:
        return ("mean" if items.has_values else "proportion",)
    if items.prediction is None:
        return ("auc",)
    if items.positive is not None:
        return USUAL
    is_many = len(items.classes) > MOST_CLASSES
    if items.labels:
        return OF_ALL_LABELS if is_many else OF_LABELS
    if items.sampled.by_prediction:
        return "precision", *OF_CLASSES
    if items.sampled.by_truth:
        return "recall", *OF_CLASSES
    return OF_CLASSES[:1] if is_many else OF_CLASSES


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


def _refuse_many_classes(items: LabeledItems, metric: str) -> None:
    entry = METRICS[metric]
    if entry.about == "label":
        classes = len(items.labels) or np.unique(items.truth).size
        if items.counted_class is None and classes > MOST_CLASSES:
            raise ValueError(
                f"{metric} takes at most {MOST_CLASSES} classes, and column {items.truth_name!r} "
                f"has {classes:,}: name the positive class, or estimate the mean of numbers"
            )
    elif not entry.is_one or entry.per_class and items.positive is None:
        refuse_many_classes(metric, len(items.classes))


def metrics_and_classes(items: LabeledItems, metrics: Sequence[str]) -> list[tuple]:
    """Return pairs of a metric and its class or rank, None for the positive class or for all."""
    pairs: list[tuple] = []
    for metric in metrics:
        entry = METRICS[metric]
        labels: Sequence = [None]
        if entry.about == "rank" and items.candidates is not None:
            labels = range(1, items.candidates.shape[1] + 1)
        elif entry.about == "class" and entry.per_class and items.positive is None:
            labels = items.classes
        elif entry.about == "label":
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
        rule = f"must be the method of the replicate weights, one of {names}"
        raise WrongValue("method", rule, method)
    factors = _numbers("coefficients", coefficients)
    if factors is not None and factors.size == 1:
        factors = np.repeat(factors, weights.shape[1])
    shares = _numbers("rho", rho)
    return imported.imported_replicates(
        np.asarray(items.weight),
        weights,
        method=method,
        coefficients=factors,
        rho=None if shares is None else float(shares[0]),
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
    names = np.unique(items.group[rows_of_group(items, None)]).tolist()
    names = [name for name in names if name != ""]
    if len(names) > MOST_GROUPS:
        rule = f"must have at most {MOST_GROUPS} different values; got {len(names):,}"
        raise WrongValue("group", rule)
    return [None, *names]


def _with_fewer_weights(
    drawn: Replicates, metrics: Sequence[str], rng: int | np.random.Generator
) -> dict[str, Replicates]:
    """Return other replicates for metrics that would need too many weights.

    The jackknife of an AUC of independent items needs no weights. Others use a bootstrap.
    """
    design = drawn.design
    items = design.weight.size
    weights = drawn.count * items
    costly = [name for name in metrics if METRICS[name].values]
    chosen = {}
    if "auc" in costly and weights > SOME_WEIGHTS and design.fpc is None:
        if is_independent(drawn, np.ones(items, bool)):
            chosen["auc"] = drawn.jackknife
            costly.remove("auc")
    if costly and weights > MANY_WEIGHTS:
        chosen |= dict.fromkeys(costly, replicates(design, "bootstrap", rng=rng))
    return chosen


def _design_notes(drawn: Replicates, replicates_of: dict[str, Replicates]) -> Iterator[Note]:
    if drawn.design.psu is None:
        yield Note(
            "assumption",
            "no column of clusters (PSU) was named: items are assumed to be sampled independently "
            "within their stratum",
        )
    if drawn.method == "generalized":
        yield Note(
            "remark",
            f"clusters (PSUs) per stratum: {sizes(drawn.design.psus_per_stratum)}. Generalized "
            f"replication is exact for any numbers of clusters; it uses {drawn.count:,} replicates",
        )
    for metric, fewer in replicates_of.items():
        if fewer is not drawn and fewer.method == "bootstrap":
            text = (
                f"estimated with {fewer.count} bootstrap replicates, because {drawn.count:,} "
                "replicates would need too many weights"
            )
            yield Note("remark", text, ("metric", metric))
