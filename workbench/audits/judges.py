"""Proportions, or mean grades, from a judge's labels of all items and human labels of some.

A judge labels every item at almost no cost, such as a language model that grades answers. Read
`judge_audit` first, then `JudgeAudit`.
"""

import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import scipy
from numpy.typing import ArrayLike

from workbench import checks, intervals
from workbench.data.classes import looks, read_classes, usual_spellings, verdict_of
from workbench.intervals.values import value_interval
from workbench.misclassification.confusion import ConfusionCounts
from workbench.misclassification.methods import RATES
from workbench.misclassification.prevalence import estimate_prevalence
from workbench.results import (
    Interval,
    Note,
    Result,
    bounded_words,
    digits,
    percent,
    rows_of,
    with_bounded,
)
from workbench.stratified.class_metrics import class_metrics

MORE = 100
LEAST, MOST = 5, 10  # labels of a stratum of grades; strata
SPREAD = 0.001  # of labels over verdicts, by chance
ENDLESS = 10**9  # items: no finite-population correction
VERDICT, LABEL = "verdict", "label"
CORRECTED, PEOPLE, JUDGE = "corrected", "human labels alone", "judge alone"
PEOPLE_EARLIER = "human labels, earlier batch"
SAME = Note(
    "assumption",
    "the estimate assumes that the labeled items were sampled at random, among all items or among "
    "those with each judge label, and that the human labels are correct. It does not matter how "
    "often the judge errs, because both kinds of labels are of the same items. The result says "
    "nothing about later items",
)
EARLIER = Note(
    "assumption",
    "the estimate assumes that the judge errs on this batch as often as on the earlier one: "
    "same judge, same prompt, and items that are as hard to judge. If the judge has changed since, "
    "the corrected value is wrong, and nothing here would show it. Human labels of this batch "
    "would not need this assumption",
)


class JudgeAudit(Result):
    """Estimate from judge labels, corrected by human labels; made by `judge_audit`.

    Attributes
    ----------
    entries : tuple of dict
        Estimates, as `rows` returns them.
    rates : tuple of dict
        Sensitivity and specificity of the judge, as `rate_rows` returns them.
    strata : tuple of dict
        Counts and estimates by judge label, as `stratum_rows` returns them.
    positive : str or None
        Class whose proportion is estimated. With three or more classes it is the first in the
        results. None for the mean of grades.
    earlier : bool
        Whether the human labels are of an earlier batch.
    items : int
        Items with a judge label.
    labeled : int
        Items with a human label.
    correlation : float
        Correlation of judge labels and human labels. NaN for three or more classes that are not
        numbers.
    half_width_more : float
        Expected half-width of the corrected value with 100 more human labels.
    level : float
        Confidence level of the intervals.

    See Also
    --------
    judge_audit : Estimate a proportion or a mean grade from judge labels and human labels.
    judged_audit : Compare two models whose answers a judge has labeled.
    """

    entries: tuple
    rates: tuple
    strata: tuple
    positive: str | None
    earlier: bool
    items: int
    labeled: int
    correlation: float
    half_width_more: float
    level: float

    def rows(self) -> list[dict]:
        """Return rows with the corrected value and the values of human labels and the judge alone.

        With three or more classes there are three rows for every class, those of `positive` first.
        """
        return list(self.entries)

    def rate_rows(self) -> list[dict]:
        """Return rows with sensitivity and specificity of the judge and their limits.

        Grades have none.
        """
        return list(self.rates)

    def stratum_rows(self) -> list[dict]:
        """Return one row per judge label, or group of grades: items, human labels and estimate."""
        return list(self.strata)

    def interval(self) -> Interval:
        """Return the confidence interval of the corrected value."""
        row = self.entries[0]
        limits, bounded = (row["low"], row["high"]), _bounded_limits(row)
        return Interval(
            *limits,
            self.level,
            "default",
            bounded=None if bounded == limits else bounded,
            notes=self.notes,
        )

    def shown(self, *values: float, error: float) -> tuple[str, ...]:
        """Return proportions in percent, or means of grades, as text.

        Parameters
        ----------
        *values : float
            Proportions or means.
        error : float
            Half-width that decides the number of digits.

        Returns
        -------
        tuple of str
            One text per value.
        """
        if self.positive is not None:
            return digits.percents(*values, error=error)
        return tuple("undefined" if np.isnan(value) else f"{value:.3g}" for value in values)

    @property
    def what(self) -> str:
        """Return the name of the estimated quantity."""
        if self.positive is None:
            return "the mean human grade"
        if verdict_of(self.positive):
            return "the proportion that is correct"
        return f"the proportion of {self.positive}"

    def headline(self) -> str:
        """Return the corrected value and those of human labels and the judge in one sentence."""
        estimates = "; ".join(
            f"{who_says(row)} {self._with_limits(row)}{self._bounded(row)}" for row in self.entries
        )
        return f"{self.what}: {estimates}; {self._labels()}"

    def _labels(self) -> str:
        labels = checks.counted(self.labeled, "human label")
        of = "of an earlier batch for" if self.earlier else "of"
        return f"{labels} {of} {checks.counted(self.items, 'item')}"

    def _with_limits(self, row: dict) -> str:
        figures = row["estimate"], row["low"], row["high"]
        value, low, high = self.shown(*figures, error=_half(row))
        return value if np.isnan(row["low"]) else f"{value} ({low} to {high})"

    def _bounded(self, row: dict) -> str:
        texts = self.shown(row["low"], row["high"], *_bounded_limits(row), error=_half(row))
        return bounded_words(texts[:2], texts[2:])

    def finding(self) -> str:
        """Return the corrected value and that of the judge labels alone in one plain sentence."""
        corrected = self.entries[0]
        judge = next(row for row in self.entries if row["who"] == JUDGE)
        figures = (*(corrected[key] for key in ("estimate", "low", "high")), judge["estimate"])
        value, low, high, alone = self.shown(*figures, error=_half(corrected))
        name = f"{self.what[0].upper()}{self.what[1:]}"
        if self.positive is not None and digits.nothing(corrected["low"], corrected["high"]):
            return (
                f"No result: {self._labels()} are too few to estimate {self.what}. "
                f"The judge labels alone give {alone}"
            )
        by_judge = "" if np.isnan(judge["estimate"]) else f". The judge labels alone give {alone}"
        classes = [
            f"{row['label']} {self._with_limits(row)}"
            for row in self.entries[1:]
            if row["who"] == CORRECTED
        ]
        rest = f". Proportions of the other classes: {checks.listed(classes)}" if classes else ""
        interval = f"{percent(self.level)} confidence interval {low} to {high}"
        return f"{name} is {value} ({interval}){by_judge}{rest}"

    def basis(self) -> str:
        """Return one line on the labels of the finding, and the gain from more of them."""
        row = self.entries[0]
        now, then = map(self._half_text, (_half(row), self.half_width_more))
        return (
            f"From {self._labels()} with judge labels; {percent(self.level)} confidence interval, "
            f"±{now}. With {MORE} more human labels it would be about ±{then}."
        )

    def _half_text(self, half: float) -> str:
        if self.positive is None or not half:
            return f"{half:.2g}"
        return digits.points(half, error=half)[0] + " percentage points"


def _half(row: dict) -> float:
    return (row["high"] - row["low"]) / 2


def _bounded_limits(row: dict) -> tuple[float, float]:
    """Return the bounded limits of a row, or its limits in a result that was saved without them."""
    return row.get("bounded_low", row["low"]), row.get("bounded_high", row["high"])


def who_says(row: dict) -> str:
    """Return the source of the estimate in a row of `JudgeAudit.rows`, and its class if any."""
    return f"{row['who']}, {row['label']}" if "label" in row else row["who"]


def judge_audit(
    verdict: ArrayLike,
    label: ArrayLike,
    *,
    earlier: ArrayLike | None = None,
    classes: str = "",
    rates: str = "process",
    level: float = 0.95,
) -> JudgeAudit:
    r"""Estimate a proportion or a mean grade from the labels of a judge and a few human labels.

    Use it for a language model that grades answers, or any other judge that errs. The judge labels
    all items. Human labels of some items correct its errors. The result has the corrected estimate
    with its interval.

    Parameters
    ----------
    verdict : (N,) array_like
        Judge label of each item: two or more classes, or grades that are numbers. None may be
        missing.
    label : (N,) array_like
        Human label of each item, None or "" for an item without one. With two classes of judge
        labels, the human labels have the same two classes. With three or more, either the human or
        the judge labels contain all classes. Labels may also be grades. With `earlier`, give the
        labels of the items of the earlier batch, (M,). Words that differ only in capitals or blanks
        are one class, as a note says.
    earlier : (M,) array_like, optional
        Judge labels of the items of an earlier batch, of two classes. By default the human labels
        are of the same items as `verdict`.
    classes : str, default ""
        The classes in order, separated by commas. The results begin with the proportion of the last
        class. By default the last class is the one that means correct, such as 1, yes or pass, or
        else the last in alphabetical order.
    rates : {"process", "frame"}, default "process"
        Population of the error rates for an earlier batch, as in `workbench.estimate_prevalence`.
    level : float, default 0.95
        Confidence level in (0, 1).

    Returns
    -------
    JudgeAudit
        Corrected estimate with its interval, and the estimates of human labels alone and of the
        judge alone.

    Raises
    ------
    ValueError
        If judge labels and human labels do not fit each other, or all judge labels are the same.

    See Also
    --------
    judged_audit : Compare two models whose answers a judge has labeled.
    estimate_prevalence : Estimate class proportions from an earlier audit sample.
    stratified_accuracy : Estimate an accuracy from counts of labels per stratum.

    Notes
    -----
    If the labels are of the same items, the judge labels are the strata. Neighboring grades are
    merged into strata with enough labels. The estimate is the weighted mean of the human labels
    [1]_. Its interval is that of `stratified_interval` for proportions and that of `value_interval`
    for grades. Sensitivity and specificity are the recall of the two classes, as in
    `class_metrics`.

    With an earlier batch, the estimate is that of `estimate_prevalence` by "hull". If that batch
    has more judge labels than human labels, the estimate by "mle" comes first.

    The judge helps if its labels correlate with the human labels by more than about
    :math:`1 / \sqrt{n - 2}` [2]_.

    References
    ----------
    .. [1] Cochran, Sampling techniques, 3rd ed., 1977, chapter 5A: stratification after sampling.
    .. [2] arXiv 2505.20178, 2025: when predictions help few labels.

    Examples
    --------
    >>> verdict = ["pass"] * 700 + ["fail"] * 300
    >>> of_pass = ["pass"] * 60 + ["fail"] * 10 + [None] * 630
    >>> of_fail = ["pass"] * 3 + ["fail"] * 27 + [None] * 270
    >>> audit = judge_audit(verdict, of_pass + of_fail)
    >>> print(audit.finding())     # doctest: +NORMALIZE_WHITESPACE
    The proportion of pass is 63.0% (95% confidence interval 55.5% to 70.0%). The judge labels
    alone give 70.0%
    """
    checks.choice("rates", rates, RATES)
    checks.instance("classes", classes, str)
    checks.level(level)
    judged, before, index, labels, order, notes = _read(verdict, label, earlier, classes)
    level = float(level)
    if before is not None:
        audit = _of_an_earlier(judged, before, index, labels, order, rates, level)
    elif len(order) > 2:
        audit = _of_several(judged, index, labels, order, level)
    else:
        values = labels == order[1] if order else labels
        audit = _of_the_same(judged, index, values.astype(float), order, level)
    return replace(audit, notes=(*notes, *audit.notes)) if notes else audit


def _read(verdict: ArrayLike, label: ArrayLike, earlier: ArrayLike | None, classes: str) -> tuple:
    """Return judge labels, those of an earlier batch, human labels, classes and notes.

    The second is None without an earlier batch. Human labels are positions of the labeled items and
    their labels. The classes are in order, and () for grades.
    """
    cells, label_cells = _cells(VERDICT, verdict), _cells(LABEL, label)
    before = cells[:0] if earlier is None else _cells("earlier", earlier)
    size = cells.size if earlier is None else before.size
    if label_cells.shape != (size,):
        raise checks.WrongValue(
            LABEL, f"must have an entry for each of {size:,} items", label_cells.size
        )
    index = np.flatnonzero([not checks.is_missing(cell) for cell in label_cells.tolist()])
    if not index.size:
        raise checks.WrongValue(
            LABEL, "must hold the human label of at least one item; all are empty"
        )
    judged = read_classes({VERDICT: np.concatenate([cells, before])})[0][VERDICT]
    labels = read_classes({LABEL: label_cells[index]})[0][LABEL]
    columns = [judged, labels]
    texts = [column for column in columns if column.dtype.kind == "U"]
    spellings, notes = usual_spellings(itertools.chain(*(column.tolist() for column in texts)))
    if notes:
        judged, labels = (_respelled(column, spellings) for column in columns)
    labels, order = _in_words_of(judged, labels, classes)
    earlier_verdicts = None if earlier is None else judged[cells.size :]
    return judged[: cells.size], earlier_verdicts, index, labels, order, notes


def _respelled(column: np.ndarray, spellings: dict[str, str]) -> np.ndarray:
    if column.dtype.kind != "U":
        return column
    return np.array([spellings[text] for text in column.tolist()])


def _cells(name: str, values: ArrayLike) -> np.ndarray:
    checks.refuse_masked(name, values, "item")
    cells = np.asarray(values, object)
    if cells.ndim != 1 or not cells.size:
        raise checks.WrongValue(
            name, f"must be one-dimensional and hold an item; got shape {cells.shape}"
        )
    return cells


def _in_words_of(judged: np.ndarray, human: np.ndarray, classes: str) -> tuple[np.ndarray, tuple]:
    """Return human labels in the classes of the judge, and the classes in order, () for grades."""
    verdicts, labels = np.unique(judged).tolist(), np.unique(human).tolist()
    if len(verdicts) < 2:
        raise checks.WrongValue(
            VERDICT,
            f"must hold different judge labels; all {judged.size:,} are {verdicts[0]!r}. Use the "
            "human labels alone, or check the column",
        )
    are_numbers = judged.dtype.kind != "U" and human.dtype.kind != "U"
    if len(labels) > 2 and are_numbers:
        return human, ()
    order_given = _named(classes, verdicts, labels)
    are_nested = {*labels} <= {*verdicts} or {*verdicts} <= {*labels}
    if are_nested and len(order_given) > 2 and {*order_given} == {*verdicts, *labels}:
        return human, order_given
    if are_nested and len(labels) > 2:
        return human, _order_of_several(labels, order_given)
    meant = {label: _meaning(label) for label in labels}
    right_and_wrong = _right_and_wrong(verdicts)
    translates = not {*labels} <= {*verdicts} and None not in meant.values()
    if translates and {*order_given} <= {*verdicts} and (order_given or right_and_wrong):
        order = order_given or right_and_wrong
        return np.array([order[int(meant[label] == 1)] for label in human.tolist()]), order
    own = verdicts if len(verdicts) == 2 else labels
    order = order_given or _ordered(own)
    strange = [label for label in labels if label not in order]
    if len(order) == 1:
        raise checks.WrongValue(
            "classes",
            f"must name two classes, such as fail,pass: every human label is {labels[0]!r}, and "
            f"the judge labels are {checks.listed(verdicts, quoted=True)}",
            told="none are named",
        )
    if strange or len(order) != 2:
        raise checks.WrongValue(
            LABEL,
            f"must be one of two classes, {checks.listed(own, quoted=True)}, like the judge "
            "labels, or numbers",
            told=f"got {(strange or labels)[0]!r}. Labels may also be correct or incorrect (1 or "
            "0) if you name two classes in order, of which the second means correct, such as "
            "fail,pass",
        )
    return human, order


def _order_of_several(labels: list, order: tuple) -> tuple:
    """Return three or more classes in order; the results begin with the last one."""
    if order and {*order} != {*labels}:
        classes = checks.listed(labels, quoted=True)
        raise checks.WrongValue(
            "classes",
            f"must name all classes of the human labels, {classes}",
            ", ".join(map(str, order)),
        )
    return order or tuple(sorted(labels, key=lambda label: (_meaning(label) == 1, str(label))))


def _named(classes: str, verdicts: list, labels: list) -> tuple:
    """Return the named classes as they are written in the columns."""
    names = {looks(_plain(label)): label for label in (*labels, *verdicts)}
    texts = [looks(text) for text in classes.split(",")] if classes else []
    for text in texts:
        if text not in names or len(texts) not in (2, len(labels), len(names)):
            possible = checks.listed(map(_plain, names.values()), quoted=True)
            raise checks.WrongValue(
                "classes",
                f"must be two classes, or all of the human labels, out of {possible}",
                classes,
            )
    return tuple(names[text] for text in texts)


def _plain(label: Any) -> str:
    return str(label).removesuffix(".0")


def _meaning(label: Any) -> Any:
    """Return 1 for a word that means correct, 0 for one that means incorrect, else None."""
    word = _plain(label).strip().lower()
    return {"pass": 1, "fail": 0}.get(word, verdict_of(word))


def _right_and_wrong(classes: list) -> tuple:
    """Return the class that means incorrect and the one that means correct.

    The result is () if there is not exactly one of each. Among numbers only 0 and 1 have these
    meanings. A judge may also use words that mean neither.
    """
    if len(classes) > 2 and not isinstance(classes[0], str):
        return ()
    wrong = [label for label in classes if _meaning(label) == 0]
    right = [label for label in classes if _meaning(label) == 1]
    return (*wrong, *right) if len(wrong) == len(right) == 1 else ()


def _ordered(labels: list) -> tuple:
    """Return the classes; if one means correct, it is the last."""
    order = _right_and_wrong(labels) if len(labels) == 2 else ()
    return order or tuple(labels)


def _of_the_same(
    judged: np.ndarray, index: np.ndarray, human: np.ndarray, order: tuple, level: float
) -> JudgeAudit:
    """Return the audit of grades, or of two classes; `human` are grades, or 0 and 1."""
    verdicts, code = np.unique(judged, return_inverse=True)
    stratum, names = _strata(verdicts, code, index)
    values = np.array([0.0, 1.0]) if order else np.unique(human)
    counts = np.zeros((len(names), values.size), int)
    np.add.at(counts, (stratum[index], np.searchsorted(values, human)), 1)
    size, labeled, n = np.bincount(stratum), counts.sum(1), index.size
    _refuse_one_verdict(size, labeled, names)
    rate = counts @ values / np.maximum(labeled, 1)
    limits = _limits(size, counts, values, level)
    people = _limits(size.sum()[None], counts.sum(0)[None], values, level)
    binary = len(order) == 2 and {*order} == {*verdicts.tolist()}
    alone = np.nan
    if not order:
        alone = judged.mean()
    elif binary or (verdicts.dtype.kind == "U" and order[1] in verdicts.tolist()):
        alone = np.mean(judged == order[1])
    entries = (
        _entry(CORRECTED, size @ rate / size.sum(), limits, n),
        _entry(PEOPLE, counts.sum(0) @ values / n, people, n),
        _entry(JUDGE, alone, None, 0),
    )
    rates = tuple(_recall(size, counts, verdicts, order, k, level) for k in (1, 0) if binary)
    strata = _stratum_rows(names, size, labeled, rate, "share" if order else "mean")
    more = _limits(size, _grown(size, counts), values, level)
    correlation = _correlation(judged[index], human, order)
    return JudgeAudit(
        entries,
        rates,
        strata,
        positive=_plain(order[1]) if order else None,
        earlier=False,
        items=judged.size,
        labeled=n,
        correlation=correlation,
        half_width_more=more.half_width,
        level=level,
        notes=[SAME, *limits.notes, *_remarks(correlation, n), *_uneven(size, labeled)],
    )


def _stratum_rows(names: Any, size: Any, labeled: Any, value: Any, key: str) -> tuple[dict, ...]:
    return tuple(rows_of(**{"verdict": names, "size": size, "labeled": labeled, key: value}))


def _of_several(
    judged: np.ndarray, index: np.ndarray, labels: np.ndarray, order: tuple, level: float
) -> JudgeAudit:
    """Return the proportions of three or more classes, each against all others, by judge label."""
    entries: list[dict] = []
    strata: list[dict] = []
    rates: list[dict] = []
    audits = []
    for label in reversed(order):
        two = f"not {_plain(label)}", label
        audit = _of_the_same(judged, index, (labels == label).astype(float), two, level)
        of_label = {"label": _plain(label)}
        entries += [row | of_label for row in audit.entries]
        entries[-1]["estimate"] = float(np.mean(judged == label))
        strata += [row | of_label for row in audit.strata]
        rates += audit.rates
        audits.append(audit)
    notes = dict.fromkeys(note for audit in audits for note in audit.notes)
    return replace(
        audits[0],
        entries=tuple(entries),
        rates=tuple(rates),
        strata=tuple(strata),
        notes=tuple(notes),
    )


def _grown(size: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return the counts of labels with 100 more labels in the same proportions."""
    grown = np.rint(counts * min(1 + MORE / counts.sum(), size.sum() / counts.sum())).astype(int)
    return np.where((grown.sum(1) > size)[:, None], counts, grown)


def _strata(
    verdicts: np.ndarray, code: np.ndarray, index: np.ndarray
) -> tuple[np.ndarray, list[str]]:
    """Return the stratum (N,) of each item, and the names of the strata.

    A stratum is a judge label, or a group of neighboring grades.
    """
    if verdicts.size == 2 or verdicts.dtype.kind == "U":
        return code, [_plain(verdict) for verdict in verdicts.tolist()]
    labeled = np.bincount(code[index], minlength=verdicts.size)
    least = max(LEAST, -(-index.size // MOST))
    groups: list[list[int]] = [[]]
    for k in range(verdicts.size):
        groups[-1].append(k)
        if labeled[groups[-1]].sum() >= least and labeled[k + 1 :].sum() >= least:
            groups.append([])
    ends = [verdicts[[group[0], group[-1]]] for group in groups]
    names = [f"{low:g}" if low == high else f"{low:g} to {high:g}" for low, high in ends]
    group_of = np.repeat(np.arange(len(groups)), [len(group) for group in groups])
    return group_of[code], names


def _refuse_one_verdict(size: np.ndarray, labeled: np.ndarray, names: list) -> None:
    for few in np.flatnonzero((labeled < 2) & (labeled < size))[:1]:
        have = checks.counted(labeled[few], "has", "have")
        raise checks.WrongValue(
            LABEL,
            f"must be given for at least 2 items of every judge label. Of the {size[few]:,} items "
            f"with judge label {names[few]!r}, {have} a human label. The judge may err on these "
            "items, too, so label some of them, chosen at random",
        )


def _limits(size: np.ndarray, counts: np.ndarray, worth: np.ndarray, level: float) -> Interval:
    if counts.shape[1] == 2:
        return intervals.stratified_interval(size, counts.sum(1), counts[:, 1], level=level)
    return value_interval(size, counts, worth, level=level)


def _entry(who: str, value: float, limits: Any, n: int) -> dict:
    limits = (float("nan"), float("nan")) if limits is None else limits
    return _figures("who", who, value, limits, n) | with_bounded(limits)


def _figures(key: str, name: str, value: float, limits: Any, n: int) -> dict:
    low, high = map(float, limits)
    return {key: name, "estimate": float(value), "low": low, "high": high, "labeled": n}


def _recall(
    size: np.ndarray, counts: np.ndarray, verdicts: np.ndarray, order: tuple, k: int, level: float
) -> dict:
    """Return the row of sensitivity (k = 1) or specificity (k = 0)."""
    predicted = verdicts == order[k]
    correct = np.where(predicted, counts[:, k], counts[:, 1 - k])
    metrics = class_metrics(size, predicted, counts.sum(1), correct)
    limits = metrics.interval("recall", level)
    return _rate(k, order, metrics.recall, limits, int(counts[:, k].sum()))


def _rate(k: int, order: tuple, value: float, limits: Any, n: int) -> dict:
    name = f"{('specificity', 'sensitivity')[k]} ({_plain(order[k])})"
    return _figures("rate", name, value, limits, n)


def _correlation(judged: np.ndarray, human: np.ndarray, order: tuple) -> float:
    if judged.dtype.kind == "U" and not {*np.unique(judged).tolist()} <= {*order}:
        return float("nan")
    codes = judged == order[1] if order and judged.dtype.kind == "U" else judged
    pair = np.stack([codes, human]).astype(float)
    return float(np.corrcoef(pair)[0, 1]) if pair.std(1).all() else 0.0


def _remarks(correlation: float, n: int) -> list[Note]:
    if n < 4 or np.isnan(correlation):
        return []
    least = 1 / np.sqrt(n - 2)
    if correlation >= least:
        return []
    if correlation < -least:
        text = (
            "judge labels and human labels contradict each other (correlation "
            f"{correlation:.2f}). Are the classes swapped in one of the two, or are the human "
            "labels only corrections of the judge? In the second case, also enter the human labels "
            "that agree with the judge"
        )
        return [Note("unreliable", text)]
    text = (
        "the judge does not help: its labels correlate with the human labels by "
        f"{correlation:.2f}, which is below 1/sqrt(n - 2) = {least:.2f}. The human labels alone "
        "are about as precise"
    )
    return [Note("remark", text)]


def _uneven(size: np.ndarray, labeled: np.ndarray) -> list[Note]:
    expected = labeled.sum() * size / size.sum()
    pvalue = scipy.special.chdtrc(size.size - 1, ((labeled - expected) ** 2 / expected).sum())
    if pvalue >= SPREAD or size.sum() == labeled.sum():
        return []
    return [
        Note(
            "assumption",
            "the human labels are not distributed over the judge labels like a random sample of "
            "all items. They are treated as sampled at random within each judge label, so the "
            f"value of the {PEOPLE} is not an estimate",
        )
    ]


def _of_an_earlier(
    judged: np.ndarray,
    before: np.ndarray,
    index: np.ndarray,
    labels: np.ndarray,
    order: tuple,
    rates: str,
    level: float,
) -> JudgeAudit:
    if len(order) != 2 or {*judged.tolist(), *before.tolist()} != {*order}:
        raise checks.WrongValue(
            "earlier",
            "needs judge labels and human labels of the same two classes, such as pass and fail. "
            "For grades or more classes, label items of this batch",
        )
    audit = ConfusionCounts.from_labels(labels, before[index], labels=order)
    counts, frame = (
        [int((verdicts == name).sum()) for name in order] for verdicts in (judged, before)
    )
    settings = {"rates": rates, "sampled_by": "random"}
    hull: Any = estimate_prevalence(audit, counts, method="hull", **settings)
    prevalences: dict[str, Any] = {"hull": hull}
    if index.size < before.size:
        mle = estimate_prevalence(audit, counts, frame, method="mle", **settings)
        prevalences = {"mle": mle, "hull": hull}
    limits: dict[str, Any] = {
        method: result.interval(level) for method, result in prevalences.items()
    }
    best, *_ = prevalences
    table, n, human = audit.table, audit.n, audit.table.sum(1)
    entries = []
    for method, result in prevalences.items():
        who = f"{CORRECTED} ({method})" if len(prevalences) > 1 else CORRECTED
        entries.append(_entry(who, result.restricted_estimate, limits[method], n))
    people = intervals.stratified_interval([before.size], [n], [human[1]], level=level)
    entries.append(_entry(PEOPLE_EARLIER, human[1] / n, people, n))
    entries.append(_entry(JUDGE, counts[1] / sum(counts), None, 0))
    error_rates = []
    for k in (1, 0):
        if human[k] > 1:
            ends = intervals.stratified_interval([ENDLESS], [human[k]], [table[k, k]], level=level)
            error_rates.append(_rate(k, order, audit.reading_rates[k, k], ends, int(human[k])))
    grown = ConfusionCounts(np.rint(table * (1 + MORE / n)).astype(int), order)
    larger: Any = estimate_prevalence(grown, counts, method="hull", **settings)
    more = larger.interval(level).half_width
    if limits["hull"].half_width:
        more *= limits[best].half_width / limits["hull"].half_width
    correlation = _correlation(before[index], labels == order[1], order)
    names = [_plain(name) for name in order]
    strata = _stratum_rows(names, frame, table.sum(0), audit.truth_rates[1], "share")
    notes = [EARLIER, *audit.notes, *prevalences[best].notes, *_remarks(correlation, n)]
    return JudgeAudit(
        tuple(entries),
        tuple(error_rates),
        strata,
        positive=names[1],
        earlier=True,
        items=judged.size,
        labeled=n,
        correlation=correlation,
        half_width_more=float(more),
        level=level,
        notes=notes,
    )
