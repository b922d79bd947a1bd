"""True class proportions in many periods from one audit: levels, changes and growth rates.

All periods share the errors of one audit, so the errors of their levels are correlated. The
difference of two levels therefore varies far less than their intervals suggest, and it has an
interval of its own [1]_.

Read `PrevalenceSeries` and `prevalence_series` first.

References
----------
.. [1] Scholtus & van Delden, On the accuracy of estimators based on a binary classifier, Discussion
   Paper 202006, Statistics Netherlands, 2020: differences and growth rates.
"""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy import ndarray
from numpy.typing import ArrayLike

from workbench.checks import WrongValue, choice, counted, each, instance, listed, suggestion
from workbench.checks import level as check_level
from workbench.misclassification import audits as of_periods
from workbench.misclassification import calendar, designs
from workbench.misclassification.calendar import named_period
from workbench.misclassification.confusion import (
    ConfusionCounts,
    CountsError,
    pool_audits,
    read_counts,
)
from workbench.misclassification.designs import RANDOM, read_design
from workbench.misclassification.methods import METHODS
from workbench.misclassification.periods import AuditError, Periods, diagonal
from workbench.misclassification.prevalence import (
    OfClasses,
    intervals_of,
    one_or_all,
    reported_labels,
)
from workbench.results import Interval, Note, Result, digits, percent
from workbench.results.vocabulary import method_words

DRAWN = 200  # periods; a page leaves out some periods of a longer series
LISTED = 100  # number of changes that a page lists of a long series
RUNS = 50  # runs of neighbors in a long series; a page shows two periods of each
DIFFER = 0.05  # rates of several audits are not pooled if a test has a smaller p-value
_AUDITED = {
    "one": "both from one audit",
    "pooled": "both from the pooled rates",
    "own": "each from its own audit",
}
LEVEL = (  # first what a phone shows without scrolling
    "estimate",
    "low",
    "high",
    "standard_error",
    "counted",
)
CHANGE = (
    "label",
    "change",
    "standard_error",
    "low",
    "high",
    "growth",
    "growth_low",
    "growth_high",
)
NO_LINK = "because the audit shows too weak a link between prediction and truth"
Shares = float | ndarray
Intervals = Interval | tuple[Interval, ...]


class PrevalenceChange(OfClasses, Result):
    """Change of the class proportions between two periods; made by `PrevalenceSeries.change`.

    Attributes
    ----------
    first, last : label
        Names of the two periods.
    estimate : float or (K,) array
        Proportion in `last` minus proportion in `first`, both restricted to possible values. With
        two classes it is that of `labels[1]`.
    variance : float or (K, K) array
        Variance of the change, which allows for the shared errors of the audit.
    limits : Interval or tuple of K Interval
        Confidence interval of the change.
    growth : float or (K,) array
        Change divided by the proportion in `first`; NaN if that proportion is not clearly above 0.
    growth_limits : Interval or tuple of K Interval
        Confidence interval of the growth rate.
    naive_standard_error : float or (K,) array
        Standard error that would hold if the errors of the two levels were independent. Do not use
        it; it is for comparison.
    labels : tuple
        Class labels.
    audit_rates : {"one", "pooled", "own"}
        Use of the audits, as in `PrevalenceSeries`.

    See Also
    --------
    PrevalenceSeries.change : Make this change.
    prevalence_series : Estimate many periods.
    """

    first: object
    last: object
    estimate: Shares
    variance: Shares
    limits: Intervals
    growth: Shares
    growth_limits: Intervals
    naive_standard_error: Shares
    labels: tuple
    audit_rates: str = "one"

    def interval(self) -> Intervals:
        """Return the confidence interval of the change, `limits`.

        Returns
        -------
        Interval or tuple of K Interval
            One interval with two classes, else one per class.
        """
        return self.limits

    def headline(self) -> str:
        """Return the change and its interval in one sentence."""
        parts = []
        figures = self.by_class(self.estimate, self.standard_error, self.limits)
        for label, change, error, limits in figures:
            part = ": no estimate, every change is possible (see notes)"
            if np.isfinite(change):
                ends = f"confidence interval {limits.low:+.4f} to {limits.high:+.4f}"
                part = f" {change:+.4f} (SE {error:.4f}, {percent(limits.level)} {ends})"
            parts.append(f"class {label}{part}")
        periods = f"{self.first} to {self.last}"
        changes = "; ".join(parts)
        return f"{periods}: {changes}; {_AUDITED[self.audit_rates]}"

    def rows(self) -> list[dict]:
        """Return one row per class; with two classes one row, for `labels[1]`."""
        figures = self.by_class(
            self.estimate, self.standard_error, self.limits, self.growth, self.growth_limits
        )
        periods = {"first_period": self.first, "last_period": self.last}
        rows = []
        for label, change, error, limits, growth, growth_limits in figures:
            cells = (
                label,
                change,
                error,
                *limits,
                growth,
                *growth_limits,
            )
            rows.append(periods | dict(zip(CHANGE, cells, strict=True)))
        return rows


class PrevalenceSeries(Result):
    """True class proportions in many periods; made by `prevalence_series`.

    Attributes
    ----------
    periods : tuple
        Names of the T periods.
    counts : (T, K) array of float
        Predicted counts; NaN in periods that cannot be reported.
    estimates : (T,) or (T, K) array
        Estimated proportions, of `labels[1]` with two classes, else of every class. They are not
        clipped (`restricted_estimates` are). NaN in periods that cannot be reported.
    standard_errors : (T,) or (T, K) array
        Standard errors of the estimates.
    raw : (T,) or (T, K) array
        Classify-and-count estimates.
    bias : (T,) or (T, K) array
        Expected error of each estimate, as in `PrevalenceEstimate`.
    method : str
        Name of the estimator.
    rates : str
        Whether later periods share the "process" or the "frame" of the audit.
    labels : tuple
        Class labels.
    audit : ConfusionCounts
        The audit, or the sum of all audits.
    counts_at_audit : (K,) array of int or None
        Predicted counts of the audited frame, if they were used.
    sampled_by : {"random", "truth", "prediction"}
        Assumed sampling design of the audit.
    notes : tuple of Note
        Notes at ("period", name) concern one period. A note of kind "refused" gives the reason why
        the period cannot be reported.
    audit_rates : {"one", "pooled", "own"}
        Whether there is one audit, or several whose rates are pooled, or one that is used for its
        own period only.
    audits : tuple of ConfusionCounts or None
        With several audits, that of each period, or None if the period was not audited. Otherwise
        empty.
    audited : int or None
        Position of the audited period, if it was named. None means the first period whose counts
        equal `counts_at_audit`.

    See Also
    --------
    prevalence_series : Estimate many periods.
    PrevalenceChange : Change between two periods.
    """

    periods: tuple
    counts: ndarray
    estimates: ndarray
    standard_errors: ndarray
    raw: ndarray
    bias: ndarray
    method: str
    rates: str
    labels: tuple
    audit: ConfusionCounts
    counts_at_audit: ndarray | None
    sampled_by: str = RANDOM
    audit_rates: str = "one"
    audits: tuple = ()
    audited: int | None = None

    @property
    def problems(self) -> tuple[str, ...]:
        """Return the reason why each period cannot be reported; an empty text where it can."""
        return tuple(map("".join, self._texts(refused=True)))

    def _texts(self, *, refused: bool) -> list[list[str]]:
        """Return the texts of the notes on each period: those of kind "refused", or the others."""
        texts = defaultdict(list)
        for note in self.notes:
            if note.where and note.where[0] == "period" and (note.kind == "refused") == refused:
                texts[note.where[1]].append(note.text)
        return [texts[period] for period in self.periods]

    @property
    def assumption(self) -> str:
        """Return the assumption that the estimates rest on, in words."""
        if self.audit_rates == "own" and self.sampled_by == designs.TRUTH:
            return "the audit of each period measures its rates P(prediction | truth)"
        if self.audit_rates == "own":
            return "the audit of each period is a random sample of its counted items"
        assumption = METHODS[self.method].assumes
        if self.audits:
            return assumption.replace("the same as in the audit", "the same in all periods")
        return assumption

    @property
    def audit_period(self) -> str | None:
        """Return the label of the period that is the audited frame itself, or None."""
        if self.audits:
            return None
        places = self._reported[self._usable.own]
        return self.periods[places[0]] if places.size else None

    @property
    def restricted_estimates(self) -> ndarray:
        """Return the possible proportions nearest to `estimates`, (T,) or (T, K)."""
        return _placed(self._usable.restricted, self._reported, self.counts.shape)

    @cached_property
    def _reported(self) -> ndarray:
        return np.flatnonzero(~np.isnan(self.counts).any(1))

    @cached_property
    def _usable(self) -> Any:
        """Return the estimates of the reported periods."""
        counts = self.counts[self._reported].astype(np.int64)
        method = self.method
        rates = self.rates
        sampled_by = self.sampled_by
        if self.audit_rates != "own":
            frame = self.counts_at_audit
            return Periods(
                self.audit,
                frame,
                counts,
                method,
                rates,
                sampled_by=sampled_by,
                audited=self._audited,
            )
        parts = []
        for t, row in zip(self._reported, counts, strict=True):
            audit = self.audits[t]
            parts.append(of_periods.own_periods(audit, row, method, rates, sampled_by))
        return of_periods.OwnAudits(tuple(parts))

    @property
    def _audited(self) -> int | None:
        """Return the position of the named audited period among the reported ones, or None."""
        places = np.flatnonzero(self._reported == self.audited)
        return int(places[0]) if places.size else None

    @property
    def _reported_periods(self) -> list:
        return [self.periods[t] for t in self._reported]

    def levels(self, level: float = 0.95, *, notes: bool = True) -> list[dict]:
        """Return one row per period and class: estimate, standard error, limits, flags and problem.

        Parameters
        ----------
        level : float, default 0.95
            Confidence level of the intervals, in (0, 1).
        notes : bool, default True
            Whether the rows have the keys `flags` and `problem`. Leave them out for a narrow table
            next to the notes.

        Returns
        -------
        list of dict
            The rows.
        """
        limits = self._usable.level_limits(check_level(level))
        low, high = (_placed(limit, self._reported, self.counts.shape) for limit in limits)
        columns = (
            self.restricted_estimates,
            low,
            high,
            self.standard_errors,
            self.raw,
        )
        shape = len(self.periods), len(reported_labels(self.labels))
        cells = np.stack([column.reshape(shape) for column in columns], -1).tolist()
        flags = self._texts(refused=False)
        problems = self.problems
        rows = []
        for t, items in enumerate(self.counts.sum(1).tolist()):
            for label, figures in zip(reported_labels(self.labels), cells[t], strict=True):
                row = {"period": self.periods[t], "label": label}
                row |= zip(LEVEL, figures, strict=True)
                row["items"] = None if np.isnan(items) else int(items)
                if notes:
                    row |= {"flags": "; ".join(flags[t]), "problem": problems[t]}
                rows.append(row)
        return rows

    def changes(self, level: float = 0.95) -> list[dict]:
        """Return one row per class and pair of consecutive reported periods, with its change.

        Parameters
        ----------
        level : float, default 0.95
            Confidence level of the intervals, in (0, 1).

        Returns
        -------
        list of dict
            The rows.
        """
        names = ("first_period", "last_period", *CHANGE[:5])
        return [{name: row[name] for name in names} for row in self._differences(level)]

    def growth_rates(self, level: float = 0.95) -> list[dict]:
        """Return one row per class and pair of consecutive reported periods, with its growth rate.

        The growth rate is NaN if the interval of the earlier proportion includes 0.

        Parameters
        ----------
        level : float, default 0.95
            Confidence level of the intervals, in (0, 1).

        Returns
        -------
        list of dict
            The rows.
        """
        names = (
            "first_period",
            "last_period",
            "label",
            "growth",
        )
        rows = []
        for change in self._differences(level):
            row = {name: change[name] for name in names}
            rows.append(row | {"low": change["growth_low"], "high": change["growth_high"]})
        return rows

    def _differences(self, level: float) -> list[dict]:
        if check_level(level) not in self._differences_by_level:
            places = np.arange(len(self._reported))
            changes = self._between(places[:-1], places[1:], level)
            rows = [row for change in changes for row in change.rows()]
            self._differences_by_level[level] = rows
        return self._differences_by_level[level]

    @cached_property
    def _differences_by_level(self) -> dict:
        return {}

    def drawn(self) -> tuple[int, ...]:
        """Return the positions of the periods that a page shows.

        All periods are shown if there are at most 200. A longer series is divided into 50 runs of
        neighbors. A page then shows the lowest and the highest period of each run, the first and
        the last period, and that of the audit.

        Returns
        -------
        tuple of int
            Positions in `periods`.
        """
        count = len(self.periods)
        if count <= DRAWN:
            return tuple(range(count))
        column = -1 if len(self.labels) == 2 else self.labels.index(self.leading)
        share = self.estimates.reshape(count, -1)[:, column]
        places = {0, count - 1}
        if self.audit_period is not None:
            places.add(self.periods.index(self.audit_period))
        for run in np.array_split(np.arange(count), RUNS):
            lowest = np.nan_to_num(share[run], nan=np.inf).argmin()
            highest = np.nan_to_num(share[run], nan=-np.inf).argmax()
            places |= {int(run[lowest]), int(run[highest])}
        return tuple(sorted(places))

    def shown_levels(self) -> tuple[int, ...]:
        """Return the positions in `levels()` that a page shows: those of the periods in `drawn()`.

        Returns
        -------
        tuple of int
            Positions of rows.
        """
        classes = len(reported_labels(self.labels))
        return tuple(t * classes + k for t in self.drawn() for k in range(classes))

    def shown_changes(self, level: float = 0.95) -> tuple[int, ...]:
        """Return the positions in `changes(level)` that a page shows.

        All changes are shown if there are at most 200 periods. Of a longer series a page shows 100
        changes: first those that differ significantly from 0, then the others, both by size.

        Parameters
        ----------
        level : float, default 0.95
            Confidence level of the intervals, in (0, 1).

        Returns
        -------
        tuple of int
            Positions of rows.
        """
        rows = self._differences(level)
        if len(self.periods) <= DRAWN:
            return tuple(range(len(rows)))

        def rank(place: int) -> tuple[bool, float]:
            row = rows[place]
            return row["low"] <= 0 <= row["high"], -abs(row["change"])

        order = sorted(range(len(rows)), key=rank)
        return tuple(sorted(order[:LISTED]))

    def change(
        self,
        first: object,
        last: object,
        level: float = 0.95,
    ) -> PrevalenceChange:
        """Estimate the change between two periods.

        Parameters
        ----------
        first, last : label
            Entries of `periods`.
        level : float, default 0.95
            Confidence level of the interval, in (0, 1).

        Returns
        -------
        PrevalenceChange
            The change with its interval and growth rate.

        Raises
        ------
        ValueError
            If a period is not in the series or cannot be reported.
        """
        places = []
        for name, period in (("first", first), ("last", last)):
            if period not in self.periods:
                close = suggestion(period, map(str, self.periods))
                raise ValueError(f"{name} must be a period of the series; got {period!r}{close}")
            t = self.periods.index(period)
            if t not in self._reported:
                problem = self.problems[t]
                raise ValueError(
                    f"{name} must be a period that can be reported; {period!r}: {problem}"
                )
            places.append(np.flatnonzero(self._reported == t))
        return self._between(places[0], places[1], check_level(level))[0]

    def _between(
        self,
        first: ndarray,
        last: ndarray,
        level: float,
    ) -> list[PrevalenceChange]:
        """Return the changes from the reported periods at the places `first` to those at `last`."""
        usable = self._usable
        periods = self._reported_periods
        change = usable.restricted[last] - usable.restricted[first]
        covariance = usable.change_covariance(first, last)
        variances = diagonal(usable.covariance)
        naive = np.sqrt(variances[first] + variances[last])
        limits = zip(*usable.change_limits(first, last, level), strict=True)
        growth_limits = np.array(usable.growth_limits(first, last, level))
        with np.errstate(divide="ignore", invalid="ignore"):
            growth = change / usable.restricted[first]
        growth[np.isnan(growth_limits[0])] = np.nan
        changes = []
        for c, ends in enumerate(limits):
            interval = intervals_of(*ends, level, usable)
            growth_interval = intervals_of(*growth_limits[:, c], level, usable)
            between = PrevalenceChange(
                periods[first[c]],
                periods[last[c]],
                one_or_all(change[c]),
                one_or_all(covariance[c]),
                interval,
                one_or_all(growth[c]),
                growth_interval,
                one_or_all(naive[c]),
                self.labels,
                self.audit_rates,
                notes=usable.doubts,
            )
            changes.append(between)
        return changes

    def headline(self, level: float = 0.95) -> str:
        """Return the number of reported periods, and the change from the first to the last.

        Parameters
        ----------
        level : float, default 0.95
            Confidence level of the interval, in (0, 1).

        Returns
        -------
        str
            One sentence.
        """
        reported = self._reported_periods
        periods = counted(len(self.periods), "period")
        text = f"{len(reported)} of {periods} estimated by {method_words(self.method)}"
        if len(reported) > 1:
            text += f"; {self.change(reported[0], reported[-1], level).headline()}"
        if self._usable.undefined:
            text += "; no estimates (see notes)"
        items = counted(self.audit.n, "audited item")
        return f"{text}; assuming {self.assumption}; {items}"

    def finding(self, level: float = 0.95) -> str:
        """Return the change over all periods in one sentence, without technical terms.

        With more than two classes the sentence is about the class that changed most.

        Parameters
        ----------
        level : float, default 0.95
            Confidence level of the interval, in (0, 1).

        Returns
        -------
        str
            One sentence.
        """
        reported = self._reported_periods
        if len(reported) == 1:
            return self._level_finding(reported[0], level)
        first = reported[0]
        last = reported[-1]
        rows = self.change(first, last, level).rows()
        rows = [row for row in rows if not digits.nothing(row["low"], row["high"])]
        when = f"from {named_period(first)} to {named_period(last)}"
        if not rows or self._usable.undefined:
            return f"No result: nearly every change {when} is possible, {NO_LINK}"
        row = max(rows, key=lambda row: abs(row["change"]))
        change = row["change"]
        low = row["low"]
        high = row["high"]
        subject = f"The proportion of class {row['label']}"
        interval = f"{percent(level)} confidence interval"
        error = (high - low) / 2
        if low <= 0 <= high:
            points, least, most = digits.points(change, low, high, error=error, signed=True)
            limits = f"{points} percentage points, {interval} {least} to {most}"
            return f"{subject} did not change significantly {when} ({limits})"
        nearer, farther = sorted((abs(low), abs(high)))
        points, least, most = digits.points(abs(change), nearer, farther, error=error)
        verb = "rose" if low > 0 else "fell"
        limits = f"{interval} {least} to {most}"
        return f"{subject} {verb} by {points} percentage points ({limits}) {when}"

    @property
    def leading(self) -> object:
        """Return the class of `finding`: the second of two, or the one that changed most."""
        if len(self.labels) == 2:
            return self.labels[1]
        shares = self._usable.restricted
        moved = shares[0]
        if len(shares) > 1:
            moved = np.abs(shares[-1] - moved)
        return self.labels[int(np.nan_to_num(moved).argmax())]

    def _level_finding(self, period: Any, level: float) -> str:
        rows = [row for row in self.levels(level) if row["period"] == period]
        row = max(rows, key=lambda row: row["estimate"])
        estimate = row["estimate"]
        low = row["low"]
        high = row["high"]
        subject = f"The proportion of class {row['label']}"
        period = named_period(period)
        if self._usable.undefined or digits.nothing(low, high):
            return f"No result: nearly every proportion is possible in {period}, {NO_LINK}"
        if high - low < digits.ROUNDING:
            return f"{subject} was {digits.percents(estimate)[0]} in {period}, known exactly"
        share, least, most = digits.percents(estimate, low, high, error=(high - low) / 2)
        interval = f"{percent(level)} confidence interval {least} to {most}"
        return f"{subject} was {share} ({interval}) in {period}"

    @property
    def taken(self) -> str:
        """Return the assumed sampling design of the audit; "" for an undoubted random sample."""
        texts = [f"The audit is {note.text}." for note in self.notes if note.where == designs.PLACE]
        if not texts and self.sampled_by != RANDOM:
            return f"The audit was sampled by {self.sampled_by}."
        return " ".join(texts)

    def basis(self, level: float = 0.95) -> str:
        """Return the data and the assumption behind the finding in one line.

        Parameters
        ----------
        level : float, default 0.95
            Confidence level of the interval, in (0, 1).

        Returns
        -------
        str
            One line.
        """
        items = counted(self.audit.n, "audited item")
        reported = counted(len(self._reported), "period")
        text = f"From {items}"
        if self.audit.weighted is not None:
            text += ", weighted by their sampling weights,"
        if self.audits:
            audited = sum(audit is not None for audit in self.audits)
            own = self.audit_rates == "own"
            use = "each used for its own period" if own else "their rates are pooled"
            text += f" of {counted(audited, 'period')} ({use})"
        text += f" and the predicted counts of {reported}"
        text += f", corrected by {method_words(self.method)}"
        if len(self.labels) > 2:
            chosen = "the one that changed most" if len(self._reported) > 1 else "the largest one"
            text += f"; of {len(self.labels)} classes, {chosen} is named"
        text += f"; {percent(level)} confidence interval."
        lacking = [
            (name, why) for name, why in zip(self.periods, self.problems, strict=True) if why
        ]
        if len(lacking) > 3:
            text += f" {len(lacking)} periods have no estimate; the notes say why."
        else:
            text += "".join(f" Period {name} has no estimate: {why}." for name, why in lacking)
        return f"{text} The result assumes that {self.assumption}."

    def rows(self) -> list[dict]:
        """Return `levels()`."""
        return self.levels()


def prevalence_series(
    audit: ConfusionCounts | Mapping,
    counts_at_audit: ArrayLike | str | None,
    counts_by_period: Any,
    *,
    method: str = "auto",
    rates: str = "process",
    sampled_by: str = "auto",
    audit_rates: str = "auto",
) -> PrevalenceSeries:
    """Estimate the true class proportions of many periods from one audit or several.

    Use it for counts that a classifier makes period after period. It returns levels, changes
    between periods and growth rates, each with its own interval.

    Parameters
    ----------
    audit : ConfusionCounts or mapping of period to ConfusionCounts
        Simple random sample, without replacement, of the frame (the items that were counted at
        audit time), or a sample of the design that `sampled_by` names. Or the audits of several
        periods, by the names of the periods. Dates may be written in another form than in the
        counts.
    counts_at_audit : str, (K,) array_like of int or None
        Name of the audited period, or the predicted counts of the frame in the order of
        `audit.labels`. None with audits of several periods, and for methods that do not need it.
    counts_by_period : mapping of period to (K,) counts, or (T, K) array_like or data frame
        Predicted counts. Without a mapping the periods are called 1 to T. If no audited period is
        named, it is the first period whose counts equal `counts_at_audit`. A period that cannot be
        reported keeps its place, with a note on the reason.
    method : str, default "auto"
        Estimator, as in `estimate_prevalence`. With audits of several periods, "auto" and "mle"
        mean "misclassification" if the rates are pooled or the audits were sampled by the truth.
        For random audits that are each used for their own period, they mean "calibration", which is
        then post-stratification by the counts of the period.
    rates : {"process", "frame"}, default "process"
        Whether later periods share the process or exactly the rates of the frame, as in
        `estimate_prevalence`.
    sampled_by : {"auto", "truth", "prediction", "random"}, default "auto"
        How the audited items were chosen, as in `estimate_prevalence`.
    audit_rates : {"auto", "pooled", "own"}, default "auto"
        How audits of several periods are used:

        - "pooled": the rates P(prediction | truth) are pooled over the periods;
        - "own": each audit is used for its own period only; appropriate if the rates drift;
        - "auto": pooled, unless a test finds at the 5% level that the rates differ.

    Returns
    -------
    PrevalenceSeries
        Levels of all periods, from which changes and growth rates follow.

    Raises
    ------
    ValueError
        If the audit does not allow the method, or if no period can be reported.

    See Also
    --------
    estimate_prevalence : Estimate one period.
    load_periods : Read predicted counts from a file.
    compare_audits : Test whether the rates of two audits differ.

    Examples
    --------
    >>> audit = ConfusionCounts([[331, 18], [7, 44]])
    >>> months = {"Jan": [1579, 218], "Jun": [4280, 720], "Jul": [0, 0], "Dec": [4191, 809]}
    >>> series = prevalence_series(audit, "Jan", months)
    >>> series.problems[2]
    'no items were counted'
    >>> series.change("Jun", "Dec")      # doctest: +NORMALIZE_WHITESPACE
    PrevalenceChange(Jun to Dec: class 1 +0.0226 (SE 0.0066, 95% confidence interval +0.0100 to
    +0.0359); both from one audit)
    >>> first, last = ConfusionCounts([[95, 5], [4, 16]]), ConfusionCounts([[90, 6], [2, 22]])
    >>> audits = {"Jan": first, "Dec": last}
    >>> prevalence_series(audits, None, months).estimates.round(3).tolist()
    [0.081, 0.109, nan, 0.131]
    """
    choice("audit_rates", audit_rates, of_periods.AUDIT_RATES)
    if isinstance(audit, Mapping):
        if counts_at_audit is not None:
            raise WrongValue("counts_at_audit", "must be None for audits of several periods")
        return _from_audits(
            audit,
            counts_by_period,
            method,
            rates,
            sampled_by,
            audit_rates,
        )
    instance("audit", audit, ConfusionCounts)
    periods, counts = _read_periods(counts_by_period, audit.labels)
    audited = None
    if isinstance(counts_at_audit, str):
        audited = periods.index(choice("counts_at_audit", counts_at_audit, periods))
        counts_at_audit = counts[audited]
        if isinstance(counts_at_audit, CountsError):
            raise counts_at_audit
    design = read_design(audit, counts_at_audit, method, rates, sampled_by)
    return _series(
        audit,
        design.frame,
        periods,
        counts,
        design.method,
        rates,
        design.notes,
        sampled_by=design.sampled_by,
        audited=audited,
    )


def _series(
    audit: ConfusionCounts,
    frame: ndarray | None,
    periods: tuple,
    rows: list,
    method: str,
    rates: str,
    notes: tuple[Note, ...],
    **of_audits: Any,
) -> PrevalenceSeries:
    """Return the series of periods; `rows` has the counts of each period, or its error."""
    refused = [isinstance(row, CountsError) for row in rows]
    if all(refused):
        problem = f"must hold at least one period that can be reported; {periods[0]!r}: {rows[0]}"
        raise WrongValue("counts_by_period", problem)
    reported = np.flatnonzero(np.logical_not(refused))
    labels = audit.labels
    counts = np.full((len(periods), len(labels)), np.nan)
    counts[reported] = [rows[t] for t in reported]
    unknown = (np.full(len(periods), np.nan),) * 4
    series = PrevalenceSeries(
        periods,
        counts,
        *unknown,
        method,
        rates,
        labels,
        audit,
        frame,
        **of_audits,
    )
    usable = series._usable
    notes += calendar.backward_notes([str(period) for period in periods])
    if series.audit_period not in (None, periods[0]):
        text = (
            f"the audit belongs to period {series.audit_period!r}, not to the first period, "
            f"{periods[0]!r}; its rates are assumed to hold for earlier periods too"
        )
        notes += (Note("assumption", text),)
    where = [("period", period) for period in periods]
    notes += tuple(usable.audit_notes())
    notes += usable.period_notes([where[t] for t in reported])
    problems = (Note("refused", str(rows[t]), where[t]) for t in np.flatnonzero(refused))
    errors = np.sqrt(diagonal(usable.covariance))
    figures = (
        usable.estimate,
        errors,
        usable.shares,
        usable.bias,
    )
    estimates, errors, raw, bias = (_placed(figure, reported, counts.shape) for figure in figures)
    return replace(
        series,
        estimates=estimates,
        standard_errors=errors,
        raw=raw,
        bias=bias,
        notes=(*notes, *problems),
    )


def _from_audits(
    audits: Mapping,
    counts_by_period: Any,
    method: str,
    rates: str,
    sampled_by: str,
    audit_rates: str,
) -> PrevalenceSeries:
    """Return the series of periods from the audits of several."""
    designs.check_choices(method, rates, sampled_by)
    pooled = pool_audits(*audits.values())
    periods, rows = _read_periods(counts_by_period, pooled.labels)
    by_period = of_periods.matched(audits, periods)
    pvalue = of_periods.same_rates_pvalue([*by_period.values()])
    sampled_by, notes = designs.design_of_several([*by_period.values()], sampled_by)
    of_period = tuple(map(by_period.get, periods))
    differ = audit_rates == "auto" and pvalue < DIFFER
    own = audit_rates == "own" or differ
    notes += (of_periods.choice_note(by_period, audit_rates, pvalue, own=own),)
    if without_counts := [name for name in by_period if name not in periods]:
        use = "these audits are not used" if own else "these audits are used for the rates only"
        names = listed(without_counts, quoted=True)
        notes += (Note("data", f"audited periods without counts: {names}; {use}"),)
    if own:
        method = of_periods.own_method(method, sampled_by)
        rows = [
            _checked(audit, row, method, rates, sampled_by)
            for audit, row in zip(of_period, rows, strict=True)
        ]
    elif method == "mixed":
        raise WrongValue(
            "method",
            "must not be 'mixed', which needs one audit of one period; 'misclassification' pools "
            "the rates of several",
            method,
        )
    else:
        method = "misclassification" if method in (designs.AUTO, "mle") else method
        read_design(pooled, None, method, rates, sampled_by)
    return _series(
        pooled,
        None,
        periods,
        rows,
        method,
        rates,
        notes,
        audit_rates="own" if own else "pooled",
        audits=of_period,
        sampled_by=sampled_by,
    )


def _checked(
    audit: ConfusionCounts | None,
    row: Any,
    method: str,
    rates: str,
    sampled_by: str,
) -> CountsError | ndarray:
    """Return the counts of a period, or an error if its own audit gives no estimate."""
    if isinstance(row, CountsError):
        return row
    try:
        of_periods.own_periods(audit, row, method, rates, sampled_by)
    except AuditError as error:
        return CountsError(str(error))
    return row


def _read_periods(counts_by_period: Any, labels: tuple) -> tuple[tuple, list]:
    """Return the periods, and the counts of each or an error if they cannot be used."""
    if isinstance(counts_by_period, Mapping):
        periods = tuple(counts_by_period)
        rows = tuple(counts_by_period.values())
    else:
        if hasattr(counts_by_period, "to_numpy"):
            counts_by_period = counts_by_period.to_numpy()
        rows = each("counts_by_period", counts_by_period)
        periods = tuple(range(1, len(rows) + 1))
    if not rows:
        raise WrongValue("counts_by_period", "must hold at least one period; got none")
    counts: list[CountsError | ndarray] = []
    for row in rows:
        try:
            counts.append(read_counts(row, labels))
        except CountsError as error:
            counts.append(error)
    return periods, counts


def _placed(values: ndarray, reported: ndarray, shape: tuple) -> ndarray:
    """Return values for all periods, NaN if not reported; with two classes of the second."""
    placed = np.full(shape, np.nan)
    placed[reported] = values
    return placed[:, 1] if shape[1] == 2 else placed
