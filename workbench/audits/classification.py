"""Accuracy, class proportions and the metrics of every class, from one confusion table and counts.

Read `classification_table` first, then `ClassificationTable`. `_by_prediction` and `_by_truth` have
the estimates of the two designs. `plan_classification_table` at the end plans the labels.

References
----------
.. [1] Olofsson, Foody, Herold, Stehman, Woodcock & Wulder, Good practices for estimating area and
   assessing accuracy of land change, Remote Sensing of Environment 148, 2014: equations 1 to 11.
.. [2] Cochran, Sampling techniques, 3rd ed., 1977, sections 5A.9 (stratification after sampling)
   and 6.5 (ratios).
.. [3] Rogan & Gladen, Estimating prevalence from the results of a screening test, American Journal
   of Epidemiology 107, 1978.
"""

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy import ndarray
from numpy.typing import ArrayLike

from workbench import checks, intervals
from workbench.misclassification import designs, methods
from workbench.misclassification.confusion import ConfusionCounts, check_counts
from workbench.misclassification.limits import hull, percentiles, restricted
from workbench.misclassification.prevalence import estimate_prevalence
from workbench.results import (
    FILLED,
    Estimate,
    Interval,
    Note,
    Result,
    digits,
    html_table,
    note_list,
    percent,
    rows_of,
)
from workbench.results.vocabulary import metric_words
from workbench.stratified.accuracy import expected_half_width, plan_budget, stratified_accuracy
from workbench.stratified.class_metrics import METRICS, class_metrics

PROPORTION = "proportion"
QUANTITIES = (PROPORTION, *METRICS)
FIGURES = ("", "_standard_error", "_low", "_high")  # ends of the keys of a quantity
UNBROKEN_TO = "\N{NO-BREAK SPACE}to\N{NO-BREAK SPACE}"  # limits stay on one line of a narrow column
MOST_NAMED = 6  # classes of a finding; its table has all
DRAWS = 2000
LEAST_FITTING = 40  # draws: with fewer the counts contradict the rates
ALL_CHOICES = 3  # classes up to which every combination of unseen items is drawn
LEAST = 2  # labels of a predicted class, without which its variance is not known
NEXT_TO_NONE = 1e-9  # of an item, so that the parameters of a Dirichlet distribution are above 0
TWO_OF_EACH = (
    "must have at least 2 items of every predicted class that was not labeled completely. Of the "
    "{items:,} items predicted {label!r}, {labels}. Label 2 or more of them, chosen at random"
)
ALL_AGREE = (
    "all labels agree, so the estimated standard error of its precision is 0. Use the confidence "
    "interval, which accounts for this"
)
MISFIT = Note(
    "undefined",
    "accuracy, precision and F1 cannot be estimated: almost none of the rates P(prediction | "
    "truth) that are consistent with the audit fit the predicted counts. Check that both are of "
    "the same classifier, and how the items were sampled. If there are many rare classes, label "
    "more items of each or merge some of them",
)
# `tests/peers/classification_coverage.py` made the search
DRAWN = Note(
    "assumption",
    "the audit was sampled by truth, so accuracy, precision and F1 follow from the rates "
    "P(prediction | truth). These must also be the rates of the counted items. The intervals come "
    "from simulated rates, with one additional item in the least favorable place for each limit. "
    "In a search over 60 random designs of 2 to 4 classes, the 95% intervals covered the true "
    "value in at least 94.5% of samples, and in 98.7% on average. Each design had 200 samples",
)


class ClassificationAccuracy(Estimate, Result):
    """The accuracy of a classification; part of a `ClassificationTable`.

    Attributes
    ----------
    estimate, variance : float
        Estimate of the accuracy and its variance; NaN if the audit gives no estimate.
    limits : Interval
        Confidence interval at the level of the table.

    See Also
    --------
    ClassificationTable : Accuracy, proportions and metrics of every class.
    """

    estimate: float
    variance: float
    limits: Interval

    def interval(self) -> Interval:
        """Return the confidence interval of the accuracy, `limits`."""
        return self.limits

    def headline(self) -> str:
        """Return the accuracy, its standard error and its interval."""
        low, high = self.limits
        ends = f"{percent(self.limits.level)} from {low:.4g} to {high:.4g}"
        return f"accuracy {self.estimate:.4g} (SE {self.standard_error:.4g}), {ends}"

    def rows(self) -> list[dict]:
        """Return one row: estimate, standard error and limits."""
        low, high = self.limits
        return [
            {
                "estimate": self.estimate,
                "standard_error": self.standard_error,
                "low": low,
                "high": high,
            }
        ]


class ClassificationTable(Result):
    """Accuracy, and proportion and metrics of every class; made by `classification_table`.

    Attributes
    ----------
    labels : tuple
        The classes.
    accuracy : ClassificationAccuracy
        Accuracy with its standard error and interval.
    proportion, precision, recall, f1 : (K, 4) array of float
        Estimate, standard error, lower and upper limit of every class; NaN if there is no estimate.
        For a map, `precision` is user's accuracy and `recall` is producer's accuracy.
    counts : (K,) array of int
        Items of the population by predicted class.
    audit : ConfusionCounts
        The labeled items.
    sampled_by : {"random", "truth", "prediction"}
        Design of the audit sample that the estimates assume.
    level : float
        Confidence level of the intervals.

    See Also
    --------
    classification_table : Compute this table.
    plan_classification_table : Plan the labels of every predicted class.
    """

    labels: tuple
    accuracy: ClassificationAccuracy
    proportion: ndarray
    precision: ndarray
    recall: ndarray
    f1: ndarray
    counts: ndarray
    audit: ConfusionCounts
    sampled_by: str
    level: float

    @property
    def counted(self) -> ndarray:
        """Return the proportion of items predicted in each class, (K,)."""
        return self.counts / self.counts.sum()

    @property
    def labeled(self) -> ndarray:
        """Return the number of labeled items, (K,).

        They are counted by true class if the audit was sampled by truth, else by predicted class.
        """
        return self.audit.table.sum(1 if self.sampled_by == designs.TRUTH else 0)

    @property
    def complete(self) -> bool:
        """Return True if all items were labeled, so that everything is known exactly."""
        return self.sampled_by != designs.TRUTH and self.audit.n == self.counts.sum()

    def headline(self) -> str:
        """Return the accuracy with its interval, and the number of classes and labels."""
        classes = checks.counted(len(self.labels), "class", "classes")
        labels = checks.counted(self.audit.n, "label")
        return f"{self.accuracy.headline()}; {classes}, {labels}"

    def finding(self) -> str:
        """Return accuracy and class proportions with their intervals in plain words."""
        proportions = self._proportions()
        accuracy = self._accuracy()
        if self.sampled_by == designs.TRUTH:
            return f"{proportions}. {accuracy}"
        return f"{accuracy}. {proportions}"

    def _accuracy(self) -> str:
        low, high = self.accuracy.limits
        if digits.nothing(low, high):
            return f"No result for accuracy: it may be anything from {low:.0%} to {high:.0%}"
        error = (high - low) / 2
        value, least, most = digits.percents(self.accuracy.estimate, low, high, error=error)
        if self.complete:
            return f"Accuracy {value}, known exactly"
        return f"Accuracy {value} ({percent(self.level)} confidence interval {least} to {most})"

    def _proportions(self) -> str:
        shares = np.nan_to_num(self.proportion[:, 0])
        largest = np.argsort(-shares, kind="stable")[:MOST_NAMED]
        texts = []
        for k in sorted(largest):
            name = str(self.labels[k])
            name = name if name[:1].isalpha() else f"class {name}"
            texts.append(f"{name} {self._in_words(PROPORTION, k)}")
        rest = len(self.labels) - len(texts)
        if rest:
            texts.append(f"{checks.counted(rest, 'smaller class', 'smaller classes')} in the table")
        return f"Class proportions: {checks.listed(texts, len(texts))}"

    def _in_words(self, quantity: str, k: int) -> str:
        """Return an estimate with its limits, in percent."""
        estimate, _, low, high = getattr(self, quantity)[k].tolist()
        if np.isnan(estimate):
            return "unknown" if high - low > digits.WHOLE else f"{low:.1%} to {high:.1%}"
        value, least, most = digits.percents(estimate, low, high, error=(high - low) / 2)
        if self.complete:
            return value
        return f"{value} ({least} to {most})"

    def basis(self) -> str:
        """Return the basis of the finding in one line."""
        ways = {
            designs.TRUTH: "chosen by their true class",
            designs.PREDICTION: "chosen at random within each predicted class",
            designs.RANDOM: "chosen at random",
        }
        labels = checks.counted(self.audit.n, "labeled item")
        items = f"the predicted classes of {checks.counted(self.counts.sum(), 'item')}"
        assumes = "The result is valid if the human labels are correct"
        if self.sampled_by == designs.TRUTH:
            assumes += " and P(prediction | truth) is what it was in the audit"
        text = f"From {labels}, {ways[self.sampled_by]}, and {items}"
        return f"{text}; {percent(self.level)} confidence intervals. {assumes}."

    def plan(self, half_width: float) -> "ClassificationPlan":
        """Plan how many items of each predicted class to label in total, from the estimates so far.

        Parameters
        ----------
        half_width : float
            Half-width of the interval of each precision, as in `plan_classification_table`.

        Returns
        -------
        ClassificationPlan
            Labels of every predicted class, and how many of them are still to be made.
        """
        if self.sampled_by == designs.TRUTH:
            rule = "needs items that were sampled by prediction or at random, not by truth"
            raise checks.WrongValue("half_width", rule)
        labeled = self.labeled
        precision = (np.diag(self.audit.table) + 1) / (labeled + 2)
        plan = plan_classification_table(
            dict(zip(self.labels, self.counts, strict=True)),
            precision,
            half_width,
            level=self.level,
        )
        return replace(plan, to_label=np.maximum(plan.labeled - labeled, 0))

    def rows(self) -> list[dict]:
        """Return one row per class: labels, predicted proportion and all estimates with limits."""
        rows = []
        for k, label in enumerate(self.labels):
            row = {
                "label": label,
                "size": int(self.counts[k]),
                "labeled": int(self.labeled[k]),
                "counted": float(self.counted[k]),
            }
            for quantity in QUANTITIES:
                figures = getattr(self, quantity)[k].tolist()
                names = (quantity + end for end in FIGURES)
                row |= zip(names, figures, strict=True)
            rows.append(row)
        return rows

    def _repr_html_(self) -> str:
        rows = []
        for k, label in enumerate(self.labels):
            row: dict[str, Any] = {
                "label": label,
                "predicted": digits.percents(self.counted[k])[0],
            }
            for quantity in QUANTITIES:
                text = self._in_words(quantity, k)
                text = text.replace("% to ", UNBROKEN_TO).replace("%)", ")")
                row[metric_words(quantity)] = text.replace("> ", ">\N{NO-BREAK SPACE}")
            rows.append(row)
        caption = f"Every class, in percent, with {percent(self.level)} confidence intervals"
        notes = note_list(self.notes) if self.notes else ""
        return html_table(rows, caption, shown=len(rows)) + notes


def classification_table(
    audit: ConfusionCounts,
    counts: ArrayLike | Mapping,
    *,
    sampled_by: str = "auto",
    level: float = 0.95,
) -> ClassificationTable:
    r"""Estimate accuracy, and the proportion, precision, recall and F1 of every class.

    Use it for a map, or for any classifier, if you know the number of items of each predicted class
    and some items were labeled. The table has an interval for every estimate.

    Parameters
    ----------
    audit : ConfusionCounts
        The labeled items, without sampling weights.
    counts : (K,) array_like of int, or mapping or pandas series of label to int
        Items of the population by predicted class, in the order of `audit.labels`. They include the
        labeled items, unless these were sampled by truth. A class that is not in the mapping is
        never predicted.
    sampled_by : {"auto", "truth", "prediction", "random"}, default "auto"
        How the labeled items were chosen. "truth": a fixed number of each true class. "prediction":
        a fixed number of each predicted class. "random": at random from all items. "auto" infers it
        from the totals of the table and adds a note, or raises an error if they do not show it.
    level : float, default 0.95
        Confidence level in (0, 1).

    Returns
    -------
    ClassificationTable
        Accuracy, and proportion, precision, recall and F1 of every class, with intervals.

    Raises
    ------
    ValueError
        If the counts do not fit the audit, a predicted class with more items has fewer than 2
        labels, the design cannot be inferred, or the audit has sampling weights.

    See Also
    --------
    plan_classification_table : Plan the labels of every predicted class.
    class_audit : Estimate the metrics of one class from strata of scores.
    estimate_prevalence : Estimate class proportions from an audit sample and predicted counts.

    Notes
    -----
    If items were sampled by prediction or at random, the predicted classes are the strata. The
    estimates are those of [1]_, with

    - weight :math:`W_i = N_i / N` of the predicted class i,
    - joint proportion :math:`p_{ij} = W_i n_{ij} / n_i` of predicted class i and true class j,
    - accuracy :math:`\sum p_{ii}`,
    - proportion :math:`p_{\cdot j} = \sum_i p_{ij}` of class j,
    - precision :math:`n_{jj} / n_j` and recall :math:`p_{jj} / p_{\cdot j}` of class j.

    Standard errors are those of stratified sampling with the finite-population correction. Those of
    recall and F1 use linearization [2]_. The intervals are those of `stratified_accuracy` and
    `class_metrics`.

    If items were sampled by truth, proportions are those of `estimate_prevalence` by
    "misclassification" [3]_, and recall is a binomial proportion. Precision, F1 and accuracy follow
    from both.

    References
    ----------
    .. [1] Olofsson et al., Remote Sensing of Environment 148, 2014.
    .. [2] Cochran, Sampling techniques, 3rd ed., 1977.
    .. [3] Rogan & Gladen, American Journal of Epidemiology 107, 1978.

    Examples
    --------
    >>> audit = ConfusionCounts([[40, 8], [10, 92]], ["forest", "field"])
    >>> table = classification_table(audit, [20_000, 80_000], sampled_by="prediction")
    >>> print(table.finding())      # doctest: +NORMALIZE_WHITESPACE
    Accuracy 89.6% (95% confidence interval 83.4% to 93.9%). Class proportions: forest 22.4%
    (17.5% to 28.5%), field 77.6% (71.5% to 82.5%)
    >>> round(table.rows()[0]["recall"], 3)
    0.714
    """
    checks.instance("audit", audit, ConfusionCounts)
    level = checks.level(level)
    if audit.weighted is not None:
        rule = "must have no sampling weights: items are weighted by the counts of their class"
        raise checks.WrongValue("audit", rule)
    sizes = _read_counts(counts, audit.labels)
    with checks.naming(counts_at_audit="counts"):
        sampled_by, notes = designs.read_sampling(audit, sizes, sampled_by)
    estimate = _by_truth if sampled_by == designs.TRUTH else _by_prediction
    accuracy, quantities, more = estimate(audit, sizes, level)
    fields = (audit.labels, accuracy, *quantities, sizes, audit, sampled_by, level)
    return ClassificationTable(*fields, notes=(*notes, *more))


def _read_counts(counts: ArrayLike | Mapping, labels: tuple) -> ndarray:
    """Return the counts in the order of the labels, or raise."""
    names = [str(label) for label in labels]
    of_class = _by_label("counts", counts)
    if isinstance(of_class, Mapping) and any(str(label) in names for label in of_class):
        counts = of_class
    if not isinstance(counts, Mapping):
        return check_counts("counts", counts, labels)
    of_class = {str(label): items for label, items in counts.items()}
    for name in of_class:
        if name not in names:
            classes = checks.listed(names, quoted=True)
            rule = f"must be of classes of the audit, {classes}; {name!r} is none of them"
            ending = checks.suggestion(name, names) or ". Audit items of this class, too"
            raise checks.WrongValue("counts", rule + ending)
    return check_counts("counts", [of_class.get(name, 0) for name in names], labels)


def _by_label(name: str, values: Any) -> Any:
    """Return a pandas series as a mapping, and other values as they are."""
    if not (hasattr(values, "index") and hasattr(values, "to_dict")):
        return values
    if not values.index.is_unique:
        raise checks.WrongValue(name, "must name every class once; add up the rows of a class")
    return values.to_dict()


def _by_prediction(audit: ConfusionCounts, counts: ndarray, level: float) -> tuple:
    """Return accuracy, quantities and notes, with the predicted classes as strata."""
    table = audit.table
    labeled = table.sum(0)
    _refuse_few(audit.labels, counts, labeled)
    occurs = np.flatnonzero(counts)
    size = counts[occurs]
    n = labeled[occurs]
    overall = stratified_accuracy(size, n, np.diag(table)[occurs])
    limits = overall.interval(level)
    accuracy = ClassificationAccuracy(overall.estimate, overall.variance, limits)
    quantities = np.full((len(QUANTITIES), len(counts), len(FIGURES)), np.nan)
    notes = list(_stratum_notes(audit.labels, occurs, [*overall.notes, *limits.notes]))
    for k, label in enumerate(audit.labels):
        true = table[k, occurs]
        proportion = stratified_accuracy(size, n, true)
        ends = proportion.interval(level)
        quantities[0, k] = proportion.estimate, proportion.standard_error, *ends
        member = occurs == k
        metrics = class_metrics(size, member, n, np.where(member, true, n - true))
        errors = _standard_errors(size, n, true, member, metrics.recall, metrics.f1)
        for row, (metric, error) in enumerate(zip(METRICS, errors, strict=True), 1):
            ends = metrics.interval(metric, level)
            quantities[row, k] = getattr(metrics, metric), error, *ends
        notes += [Note("undefined", note.text, ("class", str(label))) for note in metrics.notes]
    return accuracy, quantities, notes


def _refuse_few(labels: tuple, counts: ndarray, labeled: ndarray) -> None:
    """Raise if a predicted class has too few labels to estimate its variance."""
    few = (labeled < LEAST) & (labeled < counts)
    if few.any():
        k = int(few.argmax())
        number = "none has a label" if labeled[k] == 0 else f"{labeled[k]} has a label"
        rule = TWO_OF_EACH.format(items=counts[k], label=labels[k], labels=number)
        raise checks.WrongValue("audit", rule)


def _stratum_notes(labels: tuple, occurs: ndarray, notes: list[Note]) -> Iterator[Note]:
    """Yield notes on strata as notes on predicted classes."""
    for note in notes:
        if note.where is None:
            yield note
            continue
        text = ALL_AGREE if note.kind == "unreliable" else note.text
        yield Note(note.kind, text, ("class", str(labels[occurs[note.where[1]]])))


def _standard_errors(
    size: ndarray,
    labeled: ndarray,
    true: ndarray,
    member: ndarray,
    recall: float,
    f1: float,
) -> tuple[float, float, float]:
    """Return the standard errors of precision, recall and F1 of one class, by linearization.

    Parameters
    ----------
    size, labeled, true : (H,) array of int
        Of the strata; `true` are labels of the class.
    member : (H,) array of bool
        Whether items of a stratum are predicted to be of the class.
    recall, f1 : float
    """
    rate = true / np.maximum(labeled, 1)
    unlabeled = 1 - labeled / size
    variance = unlabeled * rate * (1 - rate) / np.maximum(labeled - 1, 1)
    total = size @ rate
    predicted = size[member].sum()

    def error(slope: ndarray, divisor: float) -> float:
        """Return the standard error of a sum of labels that weigh `slope`, over the divisor."""
        if not divisor:
            return np.nan
        return float(np.sqrt(((size * slope) ** 2) @ variance) / divisor)

    precision_error = error(member.astype(float), predicted)
    recall_error = error(member - recall, total)
    return precision_error, recall_error, error(2 * member - f1, predicted + total)


def _by_truth(audit: ConfusionCounts, counts: ndarray, level: float) -> tuple:
    """Return accuracy, quantities and notes with the rates P(prediction | truth) of the audit."""
    classes = len(counts)
    prevalence = estimate_prevalence(
        audit, counts, method="misclassification", sampled_by=designs.TRUTH
    )
    shares, errors, limits = _of_all_classes(prevalence, level)
    quantities = np.full((len(QUANTITIES), classes, len(FIGURES)), np.nan)
    quantities[0] = np.column_stack([shares, errors, limits])
    quantities[2] = [_binomial(audit.table[k], k, level) for k in range(classes)]
    notes = [DRAWN, *prevalence.notes]
    figures = np.full((2 * classes + 1, len(FIGURES)), (np.nan, np.nan, 0.0, 1.0))
    if np.isfinite(shares).all():
        rates = methods.by_row(audit.table)
        estimates = _derived(rates, shares, counts / counts.sum())
        drawn = _drawn_limits(audit.table, counts, level)
        if drawn is None:
            notes.append(MISFIT)
        else:
            low = np.fmin(drawn[0], estimates)
            high = np.fmax(drawn[1], estimates)
            figures = np.column_stack([estimates, drawn[2], low, high])
    quantities[1] = figures[:classes]
    quantities[3] = figures[classes:-1]
    for k in np.flatnonzero(counts == 0):
        quantities[1, k] = np.nan, np.nan, 0.0, 1.0
        if shares[k] == 0:
            quantities[3, k] = quantities[1, k]
        text = "no item was predicted as this class, so it has no precision"
        notes.append(Note("undefined", text, ("class", str(audit.labels[k]))))
    estimate, error, low, high = figures[-1].tolist()
    interval = Interval(low, high, level, "simulated rates")
    return ClassificationAccuracy(estimate, error**2, interval), quantities, notes


def _of_all_classes(prevalence: Any, level: float) -> tuple[ndarray, ndarray, ndarray]:
    """Return proportions (K,), standard errors (K,) and limits (K, 2) of all classes."""
    shares = prevalence.restricted_estimate
    errors = prevalence.standard_error
    ends = prevalence.interval(level)
    if len(prevalence.labels) > 2:
        return shares, errors, np.array([tuple(interval) for interval in ends])
    low, high = ends
    limits = np.array([(1 - high, 1 - low), (low, high)])
    return np.array([1 - shares, shares]), np.full(2, errors), limits


def _binomial(row: ndarray, k: int, level: float) -> tuple[float, float, float, float]:
    """Return recall, its standard error and its limits from the items of one true class."""
    n = row.sum()
    if n == 0:
        return np.nan, np.nan, 0.0, 1.0
    rate = row[k] / n
    sample = np.ones(1), np.full(1, np.inf), np.array([n]), row[[k]]
    low, high = intervals.weighted_interval(*sample, level=level)
    error = np.sqrt(rate * (1 - rate) / (n - 1)) if n > 1 else np.nan
    return float(rate), float(error), low, high


def _derived(rates: ndarray, shares: ndarray, predicted: ndarray) -> ndarray:
    """Return precision and F1 of every class, then accuracy, (..., 2 K + 1).

    Parameters
    ----------
    rates : (..., K, K) array
        P(prediction | truth).
    shares : (..., K) array
        True proportions.
    counted : (K,) array
        Predicted proportions.
    """
    joint = shares[..., None] * rates
    with np.errstate(divide="ignore", invalid="ignore"):
        precision = np.einsum("...kk->...k", joint) / joint.sum(-2)
    return _with_accuracy(np.nan_to_num(precision), shares, predicted)


def _with_accuracy(precision: ndarray, shares: ndarray, predicted: ndarray) -> ndarray:
    correct = precision * predicted
    total = predicted + shares
    f1 = 2 * correct / np.maximum(total, NEXT_TO_NONE)
    return np.concatenate([precision, f1, correct.sum(-1, keepdims=True)], -1)


def _drawn_limits(table: ndarray, counts: ndarray, level: float) -> tuple | None:
    """Return lower and upper limits, and standard errors, of the figures of `_derived`, or None.

    The rates of each true class are simulated from its audited items and one more item. This item
    is once correct and once incorrect. The limits are the hull of all these intervals, and of those
    from simulated rates that fit the counts. If almost no simulated rates fit, there are no limits.
    """
    rng = np.random.default_rng(0)
    pairs = []
    fitting = 0
    for unseen in _unseen_items(len(counts)):
        draws, fits = _draws(table + unseen + NEXT_TO_NONE, counts, rng)
        pairs.append(percentiles(draws, level, 0.0))
        fitting = max(fitting, fits.sum())
        if fits.sum() >= LEAST_FITTING:
            pairs.append(percentiles(draws[fits], level, 0.0))
    if fitting < LEAST_FITTING:
        return None
    low, high = hull(pairs)
    return low, high, _draws(table + methods.HALF, counts, rng)[0].std(0)


def _draws(table: ndarray, counts: ndarray, rng: np.random.Generator) -> tuple[ndarray, ndarray]:
    """Return simulated figures (DRAWS, 2 K + 1) of `_derived` for the counted items.

    The second array, (DRAWS,) of bool, says whether the simulated rates fit the counts.
    """
    size = counts.sum()
    predicted = counts / size
    rates = np.stack([rng.dirichlet(row, DRAWS) for row in table], 1)
    mean_rates = methods.by_row(table)
    parts = _possible(_shares(mean_rates, predicted))
    spread = methods.mixture_covariance(mean_rates, parts) / size
    noise = methods.normal_draws(spread, DRAWS, rng=rng)
    raw_shares = _shares(rates, predicted + noise)
    shares = _possible(raw_shares)
    figures = _derived(rates, shares, predicted)
    precision = rng.binomial(counts, figures[:, : len(counts)]) / np.maximum(counts, 1)
    fits = np.all(raw_shares >= 0, axis=-1)
    return _with_accuracy(precision, shares, predicted), np.asarray(fits)


def _shares(rates: ndarray, predicted: ndarray) -> ndarray:
    """Return the true proportions (..., K) by the rates; all are equal if the rates give none."""
    shares = methods.apply(methods.transposed_inverse(rates), predicted)
    return np.where(np.isfinite(shares), shares, 1 / shares.shape[-1])


def _possible(shares: ndarray) -> ndarray:
    """Return the nearest proportions (..., K) of at least 0."""
    return restricted(shares, np.zeros(shares.shape[-1]))


def _unseen_items(classes: int) -> Iterator[ndarray]:
    """Yield tables (K, K) of one more item per true class, correct or spread over the others."""
    correct = np.eye(classes)
    incorrect = (1 - correct) / (classes - 1)
    choices = list(itertools.product((True, False), repeat=min(classes, ALL_CHOICES)))
    if classes > ALL_CHOICES:
        single = np.eye(classes, dtype=bool)
        every = np.ones((1, classes), bool)
        choices = [*every, *~every, *single, *~single]
    for choice in choices:
        yield np.where(np.array(choice)[:, None], correct, incorrect)


class ClassificationPlan(Result):
    """Plan of the labels of every predicted class; made by `plan_classification_table`.

    Attributes
    ----------
    labels : tuple
        The classes.
    counts : (K,) array of int
        Items of each predicted class.
    labeled : (K,) array of int
        Items of each predicted class to label in total.
    expected : (K,) array of float
        Expected precision of each class.
    half_widths : (K,) array of float
        Expected half-width of the interval of each precision; NaN for a class without items.
    accuracy_half_width : float
        Expected half-width of the interval of the accuracy.
    half_width : float
        Requested half-width.
    level : float
        Confidence level of the intervals.
    to_label : (K,) array of int
        Items that are still to be labeled: all of `labeled`, or those without a label so far.

    See Also
    --------
    plan_classification_table : Make this plan.
    plan_budget : Plan the labels for an accuracy.
    """

    labels: tuple
    counts: ndarray
    labeled: ndarray
    expected: ndarray
    half_widths: ndarray
    accuracy_half_width: float
    half_width: float
    level: float
    to_label: ndarray = FILLED

    def headline(self) -> str:
        """Return the number of labels, and the expected half-widths of the intervals."""
        labels = checks.counted(self.labeled.sum(), "label")
        precision = f"precision of every class within ±{self.half_width:.4g}"
        accuracy = f"accuracy within ±{self.accuracy_half_width:.3g}"
        intervals = f"{percent(self.level)} confidence intervals"
        return f"{labels}: {precision} and {accuracy} on average ({intervals})"

    def rows(self) -> list[dict]:
        """Return one row per predicted class: items, labels, expected precision and half-width."""
        return rows_of(
            label=self.labels,
            size=self.counts,
            labeled=self.labeled,
            to_label=self.to_label,
            precision=self.expected,
            half_width=self.half_widths,
        )


def plan_classification_table(
    counts: ArrayLike | Mapping,
    expected: ArrayLike,
    half_width: float,
    *,
    level: float = 0.95,
) -> ClassificationPlan:
    """Plan how many items of each predicted class to label for a half-width of its precision.

    To plan for the accuracy alone, or for one class proportion, use `plan_budget` with the
    predicted classes as strata.

    Parameters
    ----------
    counts : (K,) array_like of int, or mapping or pandas series of label to int
        Items of the population by predicted class.
    expected : float, or (K,) array_like of float, or mapping or pandas series of label to float
        Precision that you expect of each class, in [0, 1]. The value .5 gives the most labels and
        is safe.
    half_width : float
        Half-width of the interval of each precision, in (0, 0.5). The value .05 means 5 percentage
        points.
    level : float, default 0.95
        Confidence level in (0, 1).

    Returns
    -------
    ClassificationPlan
        Number of items of each predicted class to label.

    Raises
    ------
    ValueError
        If an argument is out of its domain.

    See Also
    --------
    classification_table : Estimate the metrics from the labels.
    plan_budget : Plan the labels for an accuracy.

    Notes
    -----
    Every class is planned by `plan_budget`. The expected half-width is the mean over 1,000
    simulated samples of the half-width that `classification_table` reports.

    Examples
    --------
    >>> plan = plan_classification_table({"forest": 20_000, "field": 80_000}, [.8, .9], .05)
    >>> plan.labeled.tolist(), round(plan.accuracy_half_width, 3)
    ([259, 154], 0.042)
    """
    counts = _by_label("counts", counts)
    names = tuple(counts) if isinstance(counts, Mapping) else None
    sizes = checks.counts("counts", [*counts.values()] if isinstance(counts, Mapping) else counts)
    labels = names or tuple(range(len(sizes)))
    of_class = _by_label("expected", expected)
    by_class = isinstance(of_class, Mapping)
    if by_class and (of_class is expected or {*of_class} & {*labels}):
        if {*of_class} != {*labels}:
            rule = f"must have the classes of the counts, {checks.listed(labels, quoted=True)}"
            raise checks.WrongValue("expected", rule, [*of_class])
        expected = [of_class[label] for label in labels]
    precision = checks.floats("expected", expected)
    if precision.ndim == 0:
        precision = np.full(sizes.size, precision)
    precision = checks.vector(
        "expected",
        precision,
        size=sizes.size,
        low=0,
        high=1,
        what="class",
    )
    half_width = checks.number("half_width", half_width, 0, 0.5, open_ends=True)
    labeled = np.zeros_like(sizes)
    half_widths = np.full(sizes.shape, np.nan)
    occurs = np.flatnonzero(sizes)
    for k in occurs:
        try:
            plan = plan_budget(sizes[[k]], precision[[k]], half_width, level=level)
        except checks.WrongValue as error:  # its advice names an option of that function
            raise checks.WrongValue(error.argument, error.rule.partition(": ")[0]) from None
        labeled[k] = plan.labeled[0]
        half_widths[k] = plan.expected_half_width
    strata = sizes[occurs], precision[occurs], labeled[occurs]
    accuracy, _ = expected_half_width(*strata, level=level)
    widths = half_widths, accuracy, half_width
    return ClassificationPlan(labels, sizes, labeled, precision, *widths, float(level), labeled)
