"""Metrics of labeled items with honest intervals, from a file to a table: accuracy, precision, recall, F1, AUC.

References
----------
.. [1] Kish, Survey Sampling, Wiley 1965: design effect.
.. [2] DeLong, DeLong & Clarke-Pearson, Comparing the areas under two or more correlated receiver operating
   characteristic curves, Biometrics 44, 1988: variance of the AUC of independent items.
"""

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy import ndarray
from numpy.typing import ArrayLike

from workbench import checks, intervals
from workbench.checks import WrongValue
from workbench.intervals.unseen import bounded_notes
from workbench.replication import imported, statistics
from workbench.replication.designs import SurveyDesign, refuse_unknown_strata, sizes
from workbench.replication.estimates import (
    LEAST_DF,
    ReplicateEstimate,
    estimate_notes,
    estimate_statistic,
)
from workbench.replication.galois import as_prime_power
from workbench.replication.labeled import LABELS_IN, LabeledItems, load_labeled, positive_class
from workbench.replication.macro import estimate_mean_of_classes
from workbench.replication.moments import MOST_CLASSES
from workbench.replication.replicates import METHODS as REPLICATE_METHODS
from workbench.replication.replicates import Replicates, replicates
from workbench.replication.statistics import METRICS, RANGES
from workbench.replication.unsampled import score_notes, unknown_words
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
USUAL = ("accuracy", "precision", "recall", "f1")  # where there is a positive class
METHODS = ("auto", *REPLICATE_METHODS)
MOST_UNITS = 9
MOST_GROUPS = 50
MANY_WEIGHTS = 2**28


class MetricEstimates(Result):
    """Metrics with intervals that know of strata, clusters and weights, beside the naive ones; see `estimate_metrics`.

    Attributes
    ----------
    estimates : tuple of ReplicateEstimate
        One per metric, then one per metric and group; a macro F1 is a MacroEstimate.
    groups : tuple
        Group of each estimate, None for all items.
    naive, naive_error : (M,) array of float
        Estimates of the same metrics and their standard errors if items were independent and of equal weight.
    level : float
    design : str
        The design in words.
    method : str
        Of the replicates.
    labels : tuple
        Class that each estimate is about, None for the positive one or for all; () where every one is None.
    caveats : tuple of str
        What is to be read before the numbers: labels in some rows, metrics that the sample cannot show, a score that
        seems to be of another class. They stand among the notes, too.
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
        """Return the first metric with its interval, and what the labels are worth."""
        first = self.rows()[0]
        worth = (
            ""
            if np.isnan(first["worth"])
            else f"; {self.estimates[0].items:,} labels are worth {first['worth']:,.0f}"
        )
        shown = _texts(
            first,
            "estimate",
            "low",
            "high",
            "naive_low",
            "naive_high",
            "bounded_low",
            "bounded_high",
            share=digits.shares,
        )
        bounded = bounded_words(shown[1:3], shown[5:])
        return "{} {}, {} interval {} to {}{} (naive {} to {}){}".format(
            _heading(first), shown[0], percent(self.level), *shown[1:3], bounded, *shown[3:5], worth
        )

    def finding(self) -> str:
        """Return the first metric with its interval, in a sentence without jargon, after what is to be read first."""
        caveats = (f"{caveat[0].upper()}{caveat[1:]}." for caveat in self.caveats)
        return "\n".join([*caveats, self._first()])

    def _first(self) -> str:
        first = self.rows()[0]
        name, low, high = _heading(first), first["low"], first["high"]
        shown = _texts(first, "estimate", "low", "high")
        if METRICS[first["metric"]].is_share and digits.nothing(low, high):
            return (
                f"No result: {name} may be anything between {shown[1]} and {shown[2]}, as the sample says too "
                "little of it"
            )
        return f"{name} {shown[0]}, between {shown[1]} and {shown[2]}"

    def basis(self) -> str:
        """Return what the finding rests on, in a line."""
        found, worth = self.estimates[0], self.rows()[0]["worth"]
        items, clusters = (
            checks.counted(found.items, "labeled item"),
            checks.counted(found.psus, "cluster"),
        )
        drawn = "" if found.psus == found.items else f" in {clusters} (PSUs)"
        alike = "" if np.isnan(worth) else f", worth {worth:,.0f} separate ones"
        strata = checks.counted(found.strata, "stratum", "strata")
        return (
            f"From {items}{drawn} of {strata}{alike}; {percent(self.level)} intervals, "
            f"{found.replicate_values.size:,} replicates by {method_words(self.method)}."
        )

    def rows(self) -> list[dict]:
        """Return one row per metric (group, class): estimate, SE, df, interval, naive interval, design effect, worth.

        Naive intervals are cut at the ends of what the metric can be, such as 0 and 1. `bounded_low` and
        `bounded_high` are the limits if values or clusters unlike those in the sample exist.
        The design effect [1]_ is the variance over that of as many independent items; the labels are worth their
        number over it (NaN with fewer than 5 effective degrees of freedom, where it cannot be told).

        References
        ----------
        .. [1] Kish, Survey Sampling, Wiley 1965: design effect.
        """
        z = intervals.quantile(self.level)
        table = []
        labels = self.labels or (None,) * len(self.estimates)
        for found, group, label, naive, error in zip(
            self.estimates, self.groups, labels, self.naive, self.naive_error, strict=True
        ):
            interval = found.interval(self.level)
            low, high = interval
            effect = (
                float(found.variance / error**2)
                if error > 0 and found.variance > 0
                else float("nan")
            )
            worth = found.items / effect if found.effective_df >= LEAST_DF else float("nan")
            table.append(
                ({"group": group} if any(g is not None for g in self.groups) else {})
                | {"metric": found.statistic}
                | ({"label": label} if self.labels else {})
                | {
                    "estimate": found.estimate,
                    "standard_error": found.standard_error,
                    "df": found.df,
                    "low": low,
                    "high": high,
                    "naive_estimate": float(naive),
                    **dict(
                        zip(
                            ("naive_low", "naive_high"),
                            np.clip(
                                (naive - z * error, naive + z * error), *RANGES[found.kind]
                            ).tolist(),
                            strict=True,
                        )
                    ),
                    "design_effect": effect,
                    "worth": worth,
                    **with_bounded(interval),
                }
            )
        return table

    def _repr_html_(self) -> str:
        table = [self._shown(row) for row in self.rows()]
        return html_table(table, self.headline(), shown=len(table)) + note_list(self.notes)

    def _shown(self, row: dict) -> dict:
        """Return a row as a page shows it: shares as percentages, limits side by side."""
        found, error, *limits = _texts(
            row,
            "estimate",
            "standard_error",
            "low",
            "high",
            "naive_low",
            "naive_high",
            "bounded_low",
            "bounded_high",
        )
        interval, naive, bounded = (f"{limits[k]} to {limits[k + 1]}" for k in (0, 2, 4))
        return {
            "metric": _heading(row),
            **({"group": row["group"]} if "group" in row else {}),
            "estimate": found,
            f"{percent(self.level)} interval": interval,
            "standard_error": error,
            "bounded interval": "" if bounded == interval else bounded,
            "naive": naive,
            "df": f"{row['df']:,}",
            "design_effect": row["design_effect"],
            "worth": "" if np.isnan(row["worth"]) else f"{row['worth']:,.0f}",
        }


def _texts(
    row: dict, *names: str, share: Callable[..., tuple[str, ...]] | None = None
) -> tuple[str, ...]:
    """Return entries of a row as text: of shares as percentages or as `share` has them, of others as numbers."""
    values, error = [row[name] for name in names], (row["high"] - row["low"]) / 2
    if METRICS[row["metric"]].is_share:
        return share(*values) if share else digits.percents(*values, error=error)
    return digits.numbers(*values, error=error)


_KIND_OF_ERROR = {statistics.UndefinedError: "undefined", statistics.UnstableError: "refused"}


def row_title(row: Mapping) -> str:
    """Return what a row of metrics is about, as it is written in a sentence.

    Examples
    --------
    >>> row_title({"metric": "f1", "label": 9})
    'F1 of 9'
    """
    of = " " if METRICS[row["metric"]].about == "rank" else " of "
    return statistics.title_of(row["metric"]) + (
        "" if row.get("label") is None else f"{of}{row['label']}"
    )


def _heading(row: Mapping) -> str:
    title = row_title(row)
    return title[0].upper() + title[1:]


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
    """Estimate metrics with intervals that know how the items were sampled.

    Parameters
    ----------
    items : LabeledItems
    metrics : str or sequence of str, optional
        Among "accuracy", "precision", "recall", "f1", "macro_f1", "balanced_accuracy", "kappa", "mcc", "brier",
        "log_loss", "rmse", "correlation", "median", "auc", "identified" and "mean_rank"; the first one makes the
        headline. Brier score and log loss take scores that are probabilities of the positive class; RMSE, correlation
        and median take numbers for classes, the median being that of the truth. With candidates an item is identified
        by rank 1, 2 and so on if its true class is among so many; a mean rank needs every true class among all.
        Precision, recall and F1 are of the positive class, without one of every class. By default accuracy, precision,
        recall and F1; without a positive class accuracy, macro F1 and every F1; without predictions AUC; with
        candidates accuracy and what is identified.
    method : str
        As in `workbench.replicates`. "auto" is "fay" where every stratum has the same prime power of PSUs up to 9,
        "generalized" elsewhere; both keep half of every weight, so that no replicate loses a class. An AUC that would
        take too long takes "bootstrap". With replicate weights as in `workbench.imported_replicates`, never "auto".
    level : float
    collapse : dict or str, optional
        As in `workbench.SurveyDesign`; as text "b=a, c=a".
    rho, coefficients : optional
        As in `workbench.imported_replicates`, only with replicate weights; as text ".5", and one coefficient for all
        replicates or one each, with commas.
    rng : int or numpy.random.Generator
        For "bootstrap".

    Returns
    -------
    MetricEstimates

    Examples
    --------
    >>> import workbench as wb
    >>> estimate_metrics(wb.digit_forms().labeled())
    MetricEstimates(Accuracy 0.877, 95% interval 0.838 to 0.911 (naive 0.862 to 0.892); 1,797 labels are worth 554)
    """
    metrics, level, design, made = check_settings(
        items,
        metrics,
        method=method,
        level=level,
        collapse=collapse,
        rho=rho,
        coefficients=coefficients,
        rng=rng,
    )
    weighty = _with_fewer(made, method, metrics, rng)
    asked, caveats = _shown_by_sample(items, _of_classes(items, metrics))
    found, notes = [], [*items.notes, *_design_notes(design, made, weighty, metrics)]
    for group, (metric, label) in itertools.product(_groups(items), asked):
        rows, columns = _rows_of(items, group), items.columns(metric, label)
        where = ("metric", _place(metric, label, group))
        try:
            estimate = (
                estimate_mean_of_classes(made, metric, *columns, domain=rows)
                if not METRICS[metric].is_one
                else estimate_statistic(
                    weighty if METRICS[metric].values else made, metric, *columns, domain=rows
                )
            )
        except (statistics.UndefinedError, statistics.UnstableError) as error:
            missing = Note(_KIND_OF_ERROR[type(error)], str(error), where)
            (caveats if group is None and label is None else notes).append(missing)
            continue
        found.append((estimate, group, label, *naive(metric, *columns, rows=rows)))
        about = (
            estimate_notes(estimate, brief=True)
            if isinstance(estimate, ReplicateEstimate)
            else estimate.notes
        )
        notes += [Note(note.kind, note.text, where) for note in about]
    if not found:
        raise statistics.UndefinedError(f"metrics must exist; {_why_none([*notes, *caveats])}")
    estimates, groups, labels, alone, spread = zip(*found, strict=True)
    caveats += score_notes(items, {metric for metric, _ in asked})
    notes += caveats
    about = labels if any(label is not None for label in labels) else ()
    design = made.headline() if items.replicate_weights is not None else design.headline()
    interval = estimates[0].interval(level)
    if interval.bounded:
        notes += bounded_notes(tuple(interval), interval.bounded, of=estimates[0].statistic)
    first = [note for note in items.notes if note.where and note.where[0] == LABELS_IN]
    return MetricEstimates(
        estimates,
        groups,
        np.array(alone),
        np.array(spread),
        level,
        design,
        made.method,
        about,
        tuple(str(note) for note in [*first, *caveats]),
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
    """Return what `estimate_metrics` starts from, metrics, level, design and replicates, or raise."""
    checks.instance("items", items, LabeledItems)
    level = checks.level(level)
    metrics = _usual(items) if metrics is None else metrics
    metrics = (
        metrics.replace(",", " ").split()
        if isinstance(metrics, str)
        else checks.each("metrics", metrics)
    )
    known = [name for name, metric in METRICS.items() if metric.about]
    if not metrics:
        raise WrongValue("metrics", f"must name at least one of {', '.join(known)}")
    for metric in metrics:
        checks.choice("metrics", metric, known)
        _refuse_many_classes(items, metric)
    for metric, label in _of_classes(items, metrics):
        items.columns(metric, label)
    if items.replicate_weights is not None:
        made = _imported(items, method, collapse, rho, coefficients)
        return metrics, level, made.design, made
    for name, value in (("rho", rho), ("coefficients", coefficients)):
        if value is not None and not (isinstance(value, str) and value == ""):
            raise WrongValue(
                name, "belongs to {0}, which were not given", others=("replicate_weights",)
            )
    design = SurveyDesign(
        items.stratum,
        psu=items.psu,
        weight=items.weight,
        fpc=items.fpc,
        nest=items.nest,
        collapse=_renamed(collapse, items.stratum),
    )
    return (
        metrics,
        level,
        design,
        replicates(design, _method(design, checks.choice("method", method, METHODS)), rng=rng),
    )


def naive(
    metric: str, truth: ArrayLike, other: ArrayLike | None = None, *, rows: Any = None
) -> tuple[float, float]:
    """Return a metric and its standard error as if items were independent and of equal weight.

    Parameters
    ----------
    metric : {"accuracy", "precision", "recall", "f1", "macro_f1", "balanced_accuracy", "kappa", "mcc", "brier", \
"log_loss", "rmse", "correlation", "median", "auc", "identified", "mean_rank"}
    truth, other : (n,) array_like
        Truth, and prediction or (for AUC, Brier score and log loss) score; for a median nothing else; for a mean rank
        the ranks and the largest possible one.
    rows : (n,) array_like of bool, optional
        The items that count.

    Returns
    -------
    estimate, standard_error : float
        The delta method, for AUC [1]_.

    References
    ----------
    .. [1] DeLong, DeLong & Clarke-Pearson, Comparing the areas under two or more correlated receiver operating
       characteristic curves, Biometrics 44, 1988: variance of the AUC of independent items.

    Examples
    --------
    >>> import workbench as wb
    >>> forms = wb.digit_forms()
    >>> "{:.4f} {:.4f}".format(*naive("accuracy", forms.digit, forms.read_a))
    '0.8770 0.0077'
    """
    known = [name for name, entry in METRICS.items() if entry.about]
    columns: Any = (
        column
        if np.ndim(column) == 0
        else np.asarray(column)[slice(None) if rows is None else rows]
        for column in (truth, other)
        if column is not None
    )
    return METRICS[checks.choice("metric", metric, known)].naive_of(*columns)


def _shown_by_sample(items: LabeledItems, asked: list[tuple]) -> tuple[list[tuple], list[Note]]:
    """Return pairs of metric and class that the sample shows, and a note on the others and on what was assumed."""
    sampled, notes = items.sampled, []
    shown = [
        (metric, label)
        for metric, label in asked
        if sampled.shows(metric, items.positive if label is None else label)
    ]
    unknown = [
        row_title({"metric": metric, "label": label})
        for metric, label in asked
        if (metric, label) not in shown
    ]
    if unknown:
        notes.append(Note("undefined", unknown_words(unknown, sampled.reason)))
    if sampled.predicted == sampled.true and len(sampled.true) == 1 and items.unlike_others is None:
        notes.append(
            Note(
                "assumption",
                f"every labeled item is predicted and truly {sampled.true[0]!r}: the items "
                "were taken for a random sample of all; if only items of this class were chosen, these "
                "numbers say nothing of other items",
            )
        )
    return shown, notes


def _rows_of(items: LabeledItems, group: Any) -> ndarray | None:
    """Return the items of a group, without those outside the population; None where all count."""
    rows = None if group is None else items.group == group
    if items.weight is None or items.weight.all():
        return rows
    return items.weight > 0 if rows is None else rows & (items.weight > 0)


def _why_none(notes: list[Note]) -> str:
    """Return why there is no metric at all: what the sample cannot show, or the last that is undefined."""
    reasons = [str(note) for note in notes if note.kind in ("undefined", "refused")]
    whole = [str(note) for note in notes if note.kind == "undefined" and note.where is None]
    return (whole or reasons)[-1]


def _usual(items: LabeledItems) -> tuple[str, ...]:
    """Return the metrics that suit the items; where the sample shows nothing else, precision or recall first."""
    if items.candidates is not None:
        return "accuracy", "identified"
    if items.prediction is None:
        return ("auc",)
    if items.positive is not None:
        return USUAL
    sampled = items.sampled
    if sampled.by_prediction or sampled.by_truth:
        return "precision" if sampled.by_prediction else "recall", "accuracy", "macro_f1", "f1"
    return ("accuracy", "macro_f1", "f1") if len(items.classes) <= MOST_CLASSES else ("accuracy",)


def _refuse_many_classes(items: LabeledItems, metric: str) -> None:
    every = not METRICS[metric].is_one or METRICS[metric].per_class and items.positive is None
    if every and len(items.classes) > MOST_CLASSES:
        raise ValueError(
            f"{metric} takes at most {MOST_CLASSES} classes; got {len(items.classes):,}: take accuracy, "
            "or name the positive class"
        )


def _of_classes(items: LabeledItems, metrics: Sequence[str]) -> list[tuple]:
    """Return pairs of a metric and the class, or the rank, that it is about; None for the positive class or for all."""
    every = {
        "class": items.classes if items.positive is None else [None],
        "rank": [None] if items.candidates is None else range(1, items.candidates.shape[1] + 1),
    }
    return [
        (metric, label)
        for metric in metrics
        for label in (every[METRICS[metric].about] if METRICS[metric].per_class else [None])
    ]


def _place(metric: str, label: Any, group: Any) -> str:
    return (
        metric
        + ("" if label is None else f" of {label}")
        + ("" if group is None else f" in group {group}")
    )


def _imported(items: Any, method: Any, collapse: Any, rho: Any, coefficients: Any) -> Any:
    if collapse:
        raise ValueError("collapse joins strata, and replicate weights are given without them")
    if method not in imported.METHODS:
        raise WrongValue(
            "method",
            "must say how the replicate weights were made, "
            f"{', '.join(map(repr, imported.METHODS))}",
            method,
        )
    given = _numbers("coefficients", coefficients)
    if given is not None and given.size == 1:
        given = np.repeat(given, items.replicate_weights.shape[1])
    rho = _numbers("rho", rho)
    return imported.imported_replicates(
        items.weight,
        items.replicate_weights,
        method=method,
        coefficients=given,
        rho=None if rho is None else float(rho[0]),
    )


def _numbers(name: str, values: str | None) -> ndarray | None:
    """Return numbers, also from text with commas between them; None for none."""
    if values is None or isinstance(values, str) and not values.strip():
        return None
    try:
        return np.atleast_1d(
            np.array(values.split(",") if isinstance(values, str) else values, float)
        )
    except (TypeError, ValueError):
        raise ValueError(
            f"{name} must be numbers, with commas between them; got {values!r}"
        ) from None


def _renamed(collapse: Any, stratum: Any) -> dict | None:
    """Return a collapse map from text such as "b=a, c=a", names as the strata have them."""
    if not collapse or not isinstance(collapse, str):
        return collapse or None
    as_is = {str(name): name for name in np.unique(stratum).tolist()}
    pairs = [pair.split("=") for pair in collapse.split(",") if pair.strip()]
    wrong = [pair for pair in pairs if len(pair) != 2]
    if wrong:
        raise WrongValue("collapse", "must be pairs such as 'b=a, c=a'", "=".join(wrong[0]))
    renamed = dict([as_is.get(name.strip(), name.strip()) for name in pair] for pair in pairs)
    refuse_unknown_strata([*renamed, *renamed.values()], np.unique(stratum))
    return renamed


def _groups(items: LabeledItems) -> list:
    """Return None for all items, and the groups that hold an item of the population."""
    if items.group is None:
        return [None]
    counts = items.group if items.weight is None else items.group[items.weight > 0]
    names = [name for name in np.unique(counts).tolist() if name != ""]
    if len(names) > MOST_GROUPS:
        raise WrongValue(
            "group", f"must have at most {MOST_GROUPS} different values; got {len(names):,}"
        )
    return [None, *names]


def _method(design: SurveyDesign, method: str) -> str:
    if method != "auto":
        return method
    n = design.varying.psus_per_stratum
    balanced = np.ptp(n) == 0 and n[0] <= MOST_UNITS and as_prime_power(int(n[0]))
    return "fay" if balanced else "generalized"


def _with_fewer(made: Replicates, method: str, metrics: Sequence[str], rng: Any) -> Replicates:
    """Return replicates for statistics that need every weight: the same, or a bootstrap where those are too many."""
    costly = made.count * made.design.weight.size > MANY_WEIGHTS and any(
        METRICS[name].values for name in metrics
    )
    return replicates(made.design, "bootstrap", rng=rng) if method == "auto" and costly else made


def _design_notes(
    design: SurveyDesign, made: Replicates, weighty: Replicates, metrics: Sequence[str]
) -> Iterator[Note]:
    if design.psu is None:
        yield Note(
            "assumption",
            "no PSU column: items were taken for independent draws within their stratum",
        )
    if made.method == "generalized":
        yield Note(
            "remark",
            f"PSUs per stratum: {sizes(design.psus_per_stratum)}; generalized replication is exact "
            f"for any mixture, {made.count:,} replicates",
        )
    if weighty is not made:
        for name in metrics:
            if METRICS[name].values:
                yield Note(
                    "remark",
                    f"{weighty.count} bootstrap replicates, as {made.count:,} would need very many "
                    "weights",
                    ("metric", name),
                )
