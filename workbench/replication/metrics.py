"""Metrics of labeled items with honest intervals, from a file to a table: accuracy, precision, recall, F1, AUC.

References
----------
.. [1] Kish, Survey Sampling, Wiley 1965: design effect.
.. [2] DeLong, DeLong & Clarke-Pearson, Comparing the areas under two or more correlated receiver operating
   characteristic curves, Biometrics 44, 1988: variance of the AUC of independent items.
"""
from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from workbench import checks, digits, intervals
from workbench.data import frames, numbers
from workbench.data.classes import class_notes
from workbench.replication import statistics
from workbench.replication.designs import SurveyDesign, sizes
from workbench.replication.estimates import LEAST_DF, replicate_estimate
from workbench.replication.galois import as_prime_power
from workbench.replication.replicates import METHODS as REPLICATE_METHODS
from workbench.replication.replicates import replicates
from workbench.results import Note, Result, html_table, note_list, notes_as_text, percent

METRICS = ("accuracy", "precision", "recall", "f1", "auc")
BINARY = ("precision", "recall", "f1", "auc")
METHODS = ("auto", *REPLICATE_METHODS)
MOST_UNITS = 9
MOST_GROUPS = 50
MANY_WEIGHTS = 2 ** 28


@dataclass(frozen=True, eq=False, repr=False)
class LabeledItems(Result):
    """Items with their true class, as they were sampled; made by `load_labeled`.

    Attributes
    ----------
    truth : (n,) array
    prediction, score : (n,) array or None
        Predicted class; for AUC a number that is larger the likelier the positive class.
    positive : label or None
        The class that precision, recall, F1 and AUC are about.
    stratum, psu, weight, group, fpc : (n,) array or None
        As for `workbench.SurveyDesign`; the group is what results are broken down by.
    """

    truth: np.ndarray
    prediction: np.ndarray | None
    score: np.ndarray | None
    positive: object
    stratum: np.ndarray
    psu: np.ndarray | None
    weight: np.ndarray | None
    group: np.ndarray | None = None
    fpc: np.ndarray | None = None

    def headline(self) -> str:
        """Return how many items there are and what they hold."""
        classes = np.unique(self.truth).size
        share = np.mean(self.truth == self.positive)
        about = "" if self.positive is None else f", {share:.1%} of class {self.positive}"
        items = checks.counted(self.truth.size, "labeled item")
        return f"{items}, {checks.counted(classes, 'class', 'classes')}{about}"

    def rows(self) -> list[dict]:
        """Return one row per true class: items, and how many were predicted so."""
        names, counts = np.unique(self.truth, return_counts=True)
        table = [{"label": name, "items": int(count)} for name, count in zip(names.tolist(), counts, strict=True)]
        if self.prediction is not None:
            table = [row | {"predicted": int((self.prediction == row["label"]).sum())} for row in table]
        return table

    def clusters(self) -> list[dict]:
        """Return one row per PSU (per stratum where there are no PSUs): accuracy and items."""
        units = self.stratum if self.psu is None else self.psu
        names, first, code, items = np.unique(units, return_index=True, return_inverse=True, return_counts=True)
        right = np.bincount(code, self.truth == _given("accuracy", "prediction", self.prediction))
        return [{"stratum": str(self.stratum[k]), "psu": str(name), "accuracy": float(r / n), "items": int(n)}
                for name, k, r, n in zip(names, first, right, items, strict=True)]

    def columns(self, metric: str) -> tuple[np.ndarray, ...]:
        """Return the columns that `workbench.replicate_estimate` takes for a metric.

        Parameters
        ----------
        metric : str
            As in `metric_audit`.
        """
        if metric in BINARY and self.positive is None:
            raise ValueError(f"{metric} needs the positive class; name one of {checks.listed(np.unique(self.truth))}")
        if metric == "auc":
            return self.truth == self.positive, _given("auc", "score", self.score)
        prediction = _given(metric, "prediction", self.prediction)
        if metric == "accuracy":
            return self.truth, prediction
        return self.truth == self.positive, prediction == self.positive


@dataclass(frozen=True, eq=False, repr=False)
class MetricEstimates(Result):
    """Metrics with intervals that know of strata, clusters and weights, beside the naive ones; see `estimate_metrics`.

    Attributes
    ----------
    estimates : tuple of ReplicateEstimate
        One per metric, then one per metric and group.
    groups : tuple
        Group of each estimate, None for all items.
    naive, naive_error : (M,) array of float
        Estimates of the same metrics and their standard errors if items were independent and of equal weight.
    level : float
    design : str
        The design in words.
    method : str
        Of the replicates.
    """

    estimates: tuple
    groups: tuple
    naive: np.ndarray
    naive_error: np.ndarray
    level: float
    design: str
    method: str

    warnings = notes_as_text
    _old_kinds = ("MetricAudit",)

    def headline(self) -> str:
        """Return the first metric with its interval, and what the labels are worth."""
        first = self.rows()[0]
        worth = "" if np.isnan(first["worth"]) else \
            f"; {self.estimates[0].items:,} labels are worth {first['worth']:,.0f}"
        shown = digits.shares(*(first[name] for name in ("estimate", "low", "high", "naive_low", "naive_high")))
        return "{} {}, {} interval {} to {} (naive {} to {}){}".format(
            _TITLES[first["metric"]], shown[0], percent(self.level), *shown[1:], worth)

    def finding(self) -> str:
        """Return the first metric with its interval, in a sentence without jargon."""
        first = self.rows()[0]
        name, low, high = _TITLES[first["metric"]], first["low"], first["high"]
        shown = digits.percents(first["estimate"], low, high, error=(high - low) / 2)
        if digits.nothing(low, high):
            return (f"No result: {name} may be anything between {shown[1]} and {shown[2]}, as the sample says too "
                    "little of it")
        return f"{name} {shown[0]}, between {shown[1]} and {shown[2]}"

    def basis(self) -> str:
        """Return what the finding rests on, in a line."""
        found, worth = self.estimates[0], self.rows()[0]["worth"]
        items, clusters = checks.counted(found.items, "labeled item"), checks.counted(found.psus, "cluster")
        drawn = "" if found.psus == found.items else f" in {clusters} (PSUs)"
        alike = "" if np.isnan(worth) else f", worth {worth:,.0f} separate ones"
        strata = checks.counted(found.strata, "stratum", "strata")
        return (f"From {items}{drawn} of {strata}{alike}; {percent(self.level)} intervals, "
                f"{found.replicate_values.size:,} replicates by {self.method}.")

    def rows(self) -> list[dict]:
        """Return one row per metric (and group): estimate, SE, df, interval, naive interval, design effect, worth.

        The design effect [1]_ is the variance over that of as many independent items; the labels are worth their
        number over it (NaN with fewer than 5 effective degrees of freedom, where it cannot be told).

        References
        ----------
        .. [1] Kish, Survey Sampling, Wiley 1965: design effect.
        """
        z = intervals.quantile(self.level)
        table = []
        for found, group, naive, error in zip(self.estimates, self.groups, self.naive, self.naive_error, strict=True):
            low, high = found.interval(self.level)
            effect = float(found.variance / error ** 2) if error > 0 and found.variance > 0 else float("nan")
            worth = found.items / effect if found.effective_df >= LEAST_DF else float("nan")
            table.append(({"group": group} if any(g is not None for g in self.groups) else {})
                         | {"metric": found.statistic, "estimate": found.estimate,
                            "standard_error": found.standard_error, "df": found.df, "low": low, "high": high,
                            "naive_low": float(naive - z * error), "naive_high": float(naive + z * error),
                            "design_effect": effect,
                            "worth": worth})
        return table

    def _repr_html_(self) -> str:
        table = [self._shown(row) for row in self.rows()]
        return html_table(table, self.headline(), shown=len(table)) + note_list(self.notes)

    def _shown(self, row):
        """Return a row as a page shows it: shares as percentages, limits side by side."""
        names = ("estimate", "standard_error", "low", "high", "naive_low", "naive_high")
        found, error, *limits = digits.percents(*(row[name] for name in names), error=(row["high"] - row["low"]) / 2)
        return {"metric": _TITLES[row["metric"]], **({"group": row["group"]} if "group" in row else {}),
                "estimate": found, f"{percent(self.level)} interval": f"{limits[0]} to {limits[1]}",
                "standard_error": error, "naive": f"{limits[2]} to {limits[3]}", "df": f"{row['df']:,}",
                "design_effect": row["design_effect"],
                "worth": "" if np.isnan(row["worth"]) else f"{row['worth']:,.0f}"}


_KIND_OF_ERROR = {statistics.UndefinedError: "undefined", statistics.UnstableError: "refused"}
_TITLES = {"accuracy": "Accuracy", "precision": "Precision", "recall": "Recall", "f1": "F1", "auc": "AUC"}


def load_labeled(items: Any, *, truth: str = "truth", prediction: str = "prediction", score: str = "",
                 stratum: str = "stratum", psu: str = "", weight: str = "", group: str = "", positive: str = "",
                 fpc: str = "") -> LabeledItems:
    """Return labeled items from a file or a data frame.

    Parameters
    ----------
    items : str or data frame
        As in `workbench.read_scores`.
    truth, prediction, score, stratum, psu, weight, group : str
        Column names; "" for none. A prediction or a score is needed.
    positive : str
        The class that precision, recall, F1 and AUC are about; "" for the larger of two classes that are numbers;
        true and false are 1 and 0.
    fpc : str
        Column with the number of PSUs that the population has in the stratum; "" for none.

    Returns
    -------
    LabeledItems

    Raises
    ------
    ValueError
        For a missing column or cell, text against numbers, or a positive class that does not occur.

    Examples
    --------
    >>> load_labeled({"truth": [1, 0, 1, 0], "prediction": [1, 0, 0, 0], "stratum": ["a", "a", "b", "b"]})
    LabeledItems(4 labeled items, 2 classes, 50.0% of class 1)
    """
    roles = {"truth": truth, "prediction": prediction, "score": score, "stratum": stratum, "psu": psu,
             "weight": weight, "group": group, "fpc": fpc}
    named = {role: name for role, name in roles.items() if name}
    for role in ("truth", "stratum"):
        if role not in named:
            raise ValueError(f"{role} must name a column")
    frames.check_source("items", items)
    data, notes = frames.read_columns(items, sorted(set(named.values())))
    read = {role: (numbers.to_numbers if role in ("score", "weight", "fpc") else numbers.to_labels)(name, data[name])
            for role, name in named.items()}
    _refuse_unlike(read, named)
    if "weight" in read and (read["weight"] <= 0).any():
        row = np.flatnonzero(read["weight"] <= 0)[0]
        raise ValueError(f"column {weight!r}, data row {row + 1}: a weight must be above 0; "
                         f"got {read['weight'][row]:g}")
    positive = positive_class(positive, read["truth"])
    if "prediction" in read:
        notes = (*notes, *class_notes(read["truth"], read["prediction"]))
    return LabeledItems(read["truth"], read.get("prediction"), read.get("score"), positive, read["stratum"],
                        read.get("psu"), read.get("weight"), read.get("group"), read.get("fpc"),
                        notes=notes)


def estimate_metrics(items: LabeledItems, metrics: str | Sequence[str] = "accuracy precision recall f1", *,
                     method: str = "auto", level: float = 0.95, collapse: dict | str | None = None,
                     rng: int | np.random.Generator = 0) -> MetricEstimates:
    """Estimate metrics with intervals that know how the items were sampled.

    Parameters
    ----------
    items : LabeledItems
    metrics : str or sequence of str
        Among "accuracy", "precision", "recall", "f1" and "auc"; the first one makes the headline.
    method : str
        As in `workbench.replicates`. "auto" is "fay" where every stratum has the same prime power of PSUs up to 9,
        "generalized" elsewhere; both keep half of every weight, so that no replicate loses a class. An AUC that would
        take too long takes "bootstrap".
    level : float
    collapse : dict or str, optional
        As in `workbench.SurveyDesign`; as text "b=a, c=a".
    rng : int or numpy.random.Generator
        For "bootstrap".

    Returns
    -------
    MetricEstimates

    Examples
    --------
    >>> import workbench as wb
    >>> estimate_metrics(wb.digit_forms().labeled())
    MetricEstimates(Accuracy 0.877, 95% interval 0.840 to 0.908 (naive 0.862 to 0.892); 1,797 labels are worth 554)
    """
    metrics, level, design, made = check_settings(items, metrics, method=method, level=level, collapse=collapse,
                                                  rng=rng)
    weighty = _with_fewer(made, method, metrics, rng)
    found, notes = [], [*items.notes, *_design_notes(design, made, weighty)]
    for group, metric in itertools.product(_groups(items.group), metrics):
        rows, columns = None if group is None else items.group == group, items.columns(metric)
        where = ("metric", metric if group is None else f"{metric} in group {group}")
        try:
            estimate = replicate_estimate(weighty if metric == "auc" else made, metric, *columns, domain=rows)
        except (statistics.UndefinedError, statistics.UnstableError) as error:
            if group is None:
                raise
            notes.append(Note(_KIND_OF_ERROR[type(error)], str(error), where))
            continue
        found.append((estimate, group, *naive(metric, *columns, rows=rows)))
        notes += [Note(note.kind, note.text, where) for note in estimate.interval(level).notes]
    estimates, groups, alone, spread = zip(*found, strict=True)
    return MetricEstimates(estimates, groups, np.array(alone), np.array(spread), level, design.headline(), made.method,
                           notes=notes)


# an audit is a labeled random sample, which this is not: the names of before
MetricAudit, metric_audit = MetricEstimates, estimate_metrics


def check_settings(items: LabeledItems, metrics: str | Sequence[str], *, method: str = "auto", level: float = 0.95,
                   collapse: dict | str | None = None, rng: int | np.random.Generator = 0) -> tuple:
    """Return what `estimate_metrics` starts from, metrics, level, design and replicates, or raise."""
    checks.instance("items", items, LabeledItems)
    level = checks.level(level)
    metrics = metrics.replace(",", " ").split() if isinstance(metrics, str) else checks.each("metrics", metrics)
    if not metrics:
        raise ValueError(f"metrics must name at least one of {', '.join(METRICS)}")
    for metric in metrics:
        checks.choice("metrics", metric, METRICS)
        items.columns(metric)
    design = SurveyDesign(items.stratum, psu=items.psu, weight=items.weight, fpc=items.fpc,
                          collapse=_renamed(collapse, items.stratum))
    return metrics, level, design, replicates(design, _method(design, checks.choice("method", method, METHODS)),
                                              rng=rng)


def naive(metric: str, truth: ArrayLike, other: ArrayLike, *, rows: Any = None) -> tuple[float, float]:
    """Return a metric and its standard error as if items were independent and of equal weight.

    Parameters
    ----------
    metric : {"accuracy", "precision", "recall", "f1", "auc"}
    truth, other : (n,) array_like
        Truth, and prediction or (for AUC) score.
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
    truth, other = (np.asarray(column) if rows is None else np.asarray(column)[rows] for column in (truth, other))
    if metric == "auc":
        return _delong(truth == 1, other)
    totals = statistics.totals_of(metric, (truth, other), truth.size)
    estimate = totals.numerator.sum() / totals.denominator.sum()
    rest = totals.numerator - estimate * totals.denominator
    return float(estimate), float(np.sqrt((rest ** 2).sum()) / totals.denominator.sum())


def _delong(positive, score):
    """Variance of the placements of positives among negatives and of negatives among positives."""
    parts = positive, ~positive
    placed = statistics.placements(parts, score, np.ones(score.size))
    spread = sum(placed[part].var(ddof=1) / part.sum() for part in parts if part.sum() > 1)
    return float(placed[positive].mean()), float(np.sqrt(spread))


def _given(metric, role, values):
    if values is None:
        raise ValueError(f"{metric} needs a {role}: name its column")
    return values


def positive_class(positive: Any, truth: np.ndarray) -> Any:
    """Return the positive class as it stands among the true ones."""
    names = np.unique(truth).tolist()
    if positive == "" or positive is None:
        return names[1] if len(names) == 2 and not isinstance(names[0], str) else None
    wanted = {"true": "1", "false": "0"}.get(str(positive).strip().lower(), str(positive).strip())
    match = [name for name in names if name == positive or str(name) == wanted]
    if not match:
        raise ValueError(f"positive must be a true class; got {positive!r}, there are {checks.listed(names)}")
    return match[0]


def _refuse_unlike(read, named):
    if "prediction" in read and (read["prediction"].dtype.kind == "U") != (read["truth"].dtype.kind == "U"):
        shown = " and ".join(f"column {named[role]!r} {read[role][0].item()!r}" for role in ("truth", "prediction"))
        raise ValueError(f"truth and prediction must both be text or both numbers; {shown}")


def _renamed(collapse, stratum):
    """Return a collapse map from text such as "b=a, c=a", names as the strata have them."""
    if not collapse or not isinstance(collapse, str):
        return collapse or None
    as_is = {str(name): name for name in np.unique(stratum).tolist()}
    pairs = [pair.split("=") for pair in collapse.split(",") if pair.strip()]
    wrong = [pair for pair in pairs if len(pair) != 2]
    if wrong:
        raise ValueError(f"collapse must be pairs such as 'b=a, c=a'; got {'='.join(wrong[0])!r}")
    names = [[as_is.get(name.strip(), name.strip()) for name in pair] for pair in pairs]
    return dict(names)


def _groups(group):
    if group is None:
        return [None]
    names = np.unique(group).tolist()
    if len(names) > MOST_GROUPS:
        raise ValueError(f"group must have at most {MOST_GROUPS} different values; got {len(names):,}")
    return [None, *names]


def _method(design, method):
    if method != "auto":
        return method
    n = design.psus_per_stratum
    balanced = np.ptp(n) == 0 and n[0] <= MOST_UNITS and as_prime_power(int(n[0]))
    return "fay" if balanced else "generalized"


def _with_fewer(made, method, metrics, rng):
    """Return replicates for statistics that need every weight: the same, or a bootstrap where those are too many."""
    costly = made.count * made.design.weight.size > MANY_WEIGHTS
    return replicates(made.design, "bootstrap", rng=rng) if method == "auto" and "auc" in metrics and costly else made


def _design_notes(design, made, weighty):
    if design.psu is None:
        yield Note("assumption", "no PSU column: items were taken for independent draws within their stratum")
    if made.method == "generalized":
        yield Note("remark", f"PSUs per stratum: {sizes(design.psus_per_stratum)}; generalized replication is exact "
                   f"for any mixture, {made.count:,} replicates")
    if weighty is not made:
        yield Note("remark", f"{weighty.count} bootstrap replicates, as {made.count:,} would need very many weights",
                   ("metric", "auc"))
