"""True shares month after month from one audit: levels, changes and growth rates.

All periods share the error of one audit: their levels move together. The difference of two levels therefore varies
far less than their intervals suggest, and its interval must be its own [1]_.

References
----------
.. [1] Scholtus & van Delden, On the accuracy of estimators based on a binary classifier, Discussion Paper 202006,
   Statistics Netherlands, 2020: differences and growth rates.
"""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from workbench import checks
from workbench.misclassification import audits as of_periods
from workbench.misclassification import calendar, designs, methods
from workbench.misclassification.confusion import (
    ConfusionCounts,
    CountsError,
    pool_audits,
    read_counts,
)
from workbench.misclassification.periods import AuditError, Periods
from workbench.misclassification.prevalence import OfClasses, intervals_of, one_or_all
from workbench.results import Interval, Note, Result, digits, percent
from workbench.results.vocabulary import method_words

DRAWN, LISTED = (
    200,
    100,
)  # of long series: periods from which on some are left out, and changes that are shown
DIFFER = 0.05  # rates of several audits are not pooled where a test has a smaller p-value
RUNS = 50  # of neighbors, of each of which two periods are left
_AUDITED = {
    "one": "one audit for both",
    "pooled": "one set of rates for both",
    "own": "an audit for each",
}
NO_LINK = "as the audit shows too little of a link between prediction and truth"


class PrevalenceChange(OfClasses, Result):
    """The change between two periods; made by `PrevalenceSeries.change`.

    Attributes
    ----------
    first, last : label
        The periods.
    estimate : float or (K,) array
        Share in `last` minus share in `first`, of `labels[1]` with two classes, both restricted to possible shares.
    variance : float or (K, K) array
        With the shared error of the audit.
    limits : Interval or tuple of K Interval
    growth : float or (K,) array
        Change / share in `first`; NaN where that is not clearly above 0.
    growth_limits : Interval or tuple of K Interval
    naive_standard_error : float or (K,) array
        What the errors of the two levels would give if they were independent: do not use it.
    labels : tuple
    audit_rates : {"one", "pooled", "own"}
        As in `PrevalenceSeries`.
    """

    first: object
    last: object
    estimate: float | np.ndarray
    variance: float | np.ndarray
    limits: Interval | tuple[Interval, ...]
    growth: float | np.ndarray
    growth_limits: Interval | tuple[Interval, ...]
    naive_standard_error: float | np.ndarray
    labels: tuple
    audit_rates: str = "one"

    def interval(self) -> Interval | tuple[Interval, ...]:
        """Return `limits`."""
        return self.limits

    def headline(self) -> str:
        """Return the change and its interval."""
        parts = [
            f"class {label} {change:+.4f} (SE {error:.4f}, {percent(i.level)} from {i.low:+.4f} to {i.high:+.4f})"
            if np.isfinite(change)
            else f"class {label}: no estimate, every change is possible (see notes)"
            for label, change, error, i in self.by_class(
                self.estimate, self.standard_error, self.limits
            )
        ]
        return f"{self.first} to {self.last}: {'; '.join(parts)}; {_AUDITED[self.audit_rates]}"

    def rows(self) -> list[dict]:
        """Return one row per class (two classes: `labels[1]`)."""
        figures = self.by_class(
            self.estimate, self.standard_error, self.growth, self.limits, self.growth_limits
        )
        return [
            {
                "first_period": self.first,
                "last_period": self.last,
                "label": label,
                "change": change,
                "standard_error": error,
                "low": i.low,
                "high": i.high,
                "growth": rate,
                "growth_low": g.low,
                "growth_high": g.high,
            }
            for label, change, error, rate, i, g in figures
        ]


class PrevalenceSeries(Result):
    """Shares in many periods from one audit; made by `prevalence_series`.

    Attributes
    ----------
    periods : tuple
        Labels of the T periods.
    counts : (T, K) array of float
        Predicted counts; NaN in periods that cannot be reported.
    estimates, standard_errors, raw, bias : (T,) array, or (T, K) with more than two classes
        Not clipped, `restricted_estimates` are; with two classes of `labels[1]`; NaN where a period cannot be reported.
    method, rates : str
    labels : tuple
    audit : ConfusionCounts
    counts_at_audit : (K,) array of int or None
    sampled_by : {"random", "truth", "prediction"}
        What the audit is taken for.
    notes : tuple of Note
        Those at ("period", name) are about one period; there "refused" says why it cannot be reported.
    audit_rates : {"one", "pooled", "own"}
        Whether one period was audited, or several whose rates are pooled, or each used for its own period.
    audits : tuple of ConfusionCounts or None
        Of audits of several periods that of each period, None where it was not audited; else empty.
    """

    periods: tuple
    counts: np.ndarray
    estimates: np.ndarray
    standard_errors: np.ndarray
    raw: np.ndarray
    bias: np.ndarray
    method: str
    rates: str
    labels: tuple
    audit: ConfusionCounts
    counts_at_audit: np.ndarray | None
    sampled_by: str = designs.RANDOM
    audit_rates: str = "one"
    audits: tuple = ()

    @property
    def problems(self) -> tuple[str, ...]:
        """Why each period cannot be reported, tuple of T str; an empty text where it can."""
        return tuple("".join(self._said(period, refused=True)) for period in self.periods)

    def _said(self, period: Any, *, refused: Any) -> tuple:
        return tuple(
            note.text
            for note in self._notes_of_periods.get(period, ())
            if (note.kind == "refused") == refused
        )

    @cached_property
    def _notes_of_periods(self) -> dict:
        found: dict = {}
        for note in self.notes:
            if note.where is not None and note.where != designs.PLACE:
                found.setdefault(note.where[1], []).append(note)
        return found

    @property
    def assumption(self) -> str:
        """What is held constant, in words."""
        if self.audit_rates == "own" and self.sampled_by == designs.TRUTH:
            return "the audit of each period shows its rates P(prediction | truth)"
        if self.audit_rates == "own":
            return "the audit of each period is a random sample of its counted items"
        assumes = methods.METHODS[self.method].assumes
        return (
            assumes.replace("what it was in the audit", "the same in all periods")
            if self.audits
            else assumes
        )

    @property
    def audit_period(self) -> str | None:
        """Label of the period that is the audited frame itself, or None."""
        if self.audits:
            return None
        places = self._reported[self._usable.own]
        return self.periods[places[0]] if places.size else None

    @property
    def restricted_estimates(self) -> np.ndarray:
        """The possible shares nearest to `estimates`, which tables and charts show: (T,) or (T, K) array."""
        return _placed(self._usable.restricted, self._reported, self.counts.shape)

    @cached_property
    def _reported(self) -> np.ndarray:
        return np.flatnonzero(~np.isnan(self.counts).any(1))

    @cached_property
    def _usable(self) -> Any:
        if self.audit_rates == "own":
            return of_periods.OwnAudits(
                tuple(
                    of_periods.own_periods(
                        self.audits[t],
                        self.counts[t].astype(np.int64),
                        self.method,
                        self.rates,
                        self.sampled_by,
                    )
                    for t in self._reported
                )
            )
        return Periods(
            self.audit,
            self.counts_at_audit,
            self.counts[self._reported].astype(np.int64),
            self.method,
            self.rates,
            sampled_by=self.sampled_by,
        )

    def levels(self, level: float = 0.95, *, notes: bool = True) -> list[dict]:
        """Return one row per period and class: counted share, estimate, standard error, limits, flags, problem.

        Without `notes` the last two are left out, for a narrow table beside the notes.

        Parameters
        ----------
        level : float
            Nominal coverage in (0, 1).
        notes : bool
            Whether the rows have the keys `flags` and `problem`.
        """
        limits = self._usable.level_limits(checks.level(level))
        low, high = (_placed(limit, self._reported, self.counts.shape) for limit in limits)
        columns = {
            "counted": self.raw,
            "estimate": self.restricted_estimates,
            "standard_error": self.standard_errors,
            "low": low,
            "high": high,
        }
        items = [None if np.isnan(total) else int(total) for total in self.counts.sum(1)]
        told = {"flags": ("; ", False), "problem": ("", True)} if notes else {}
        return [
            {
                "period": period,
                "label": label,
                "items": items[t],
                **{name: float(x.reshape(len(items), -1)[t, k]) for name, x in columns.items()},
                **{
                    name: mark.join(self._said(period, refused=refused))
                    for name, (mark, refused) in told.items()
                },
            }
            for t, period in enumerate(self.periods)
            for k, label in enumerate(self.labels[1:] if len(self.labels) == 2 else self.labels)
        ]

    def changes(self, level: float = 0.95) -> list[dict]:
        """Return one row per class and pair of consecutive reported periods: change, standard error, limits.

        Parameters
        ----------
        level : float
            Nominal coverage in (0, 1).
        """
        return [
            {name: value for name, value in row.items() if not name.startswith("growth")}
            for row in self._differences(level)
        ]

    def growth_rates(self, level: float = 0.95) -> list[dict]:
        """Return one row per class and pair of consecutive reported periods: (later - earlier) / earlier, limits.

        NaN where the interval of the earlier share reaches 0.

        Parameters
        ----------
        level : float
            Nominal coverage in (0, 1).
        """
        return [
            {name: row[name] for name in ("first_period", "last_period", "label", "growth")}
            | {"low": row["growth_low"], "high": row["growth_high"]}
            for row in self._differences(level)
        ]

    def _differences(self, level: float) -> list:
        if checks.level(level) not in self._known_differences:
            places = np.arange(len(self._reported))
            found = self._between(places[:-1], places[1:], level)
            self._known_differences[level] = [row for change in found for row in change.rows()]
        return self._known_differences[level]

    @cached_property
    def _known_differences(self) -> dict:
        return {}

    def drawn(self) -> tuple[int, ...]:
        """Return the places of the periods that a page shows: all of up to 200.

        Of more the first, the last, that of the audit, and the lowest and the highest of each of 50 runs
        of neighbors.
        """
        count = len(self.periods)
        if count <= DRAWN:
            return tuple(range(count))
        share = self.estimates.reshape(count, -1)[
            :, -1 if len(self.labels) == 2 else self.labels.index(self.leading)
        ]
        kept = {
            0,
            count - 1,
            *([self.periods.index(self.audit_period)] if self.audit_period is not None else []),
        }
        for run in np.array_split(np.arange(count), RUNS):
            known = run[~np.isnan(share[run])]
            kept |= (
                {int(known[share[known].argmin()]), int(known[share[known].argmax()])}
                if known.size
                else {int(run[0])}
            )
        return tuple(sorted(kept))

    def shown_levels(self) -> tuple[int, ...]:
        """Return the places in `levels()` that a page shows: those of the periods `drawn`."""
        classes = 1 if len(self.labels) == 2 else len(self.labels)
        return tuple(t * classes + k for t in self.drawn() for k in range(classes))

    def shown_changes(self, level: float = 0.95) -> tuple[int, ...]:
        """Return the places in `changes(level)` that a page shows: all of up to 200 periods.

        Of more the 100 largest, those that differ from 0 first.

        Parameters
        ----------
        level : float
            Nominal coverage in (0, 1).
        """
        rows = self._differences(level)
        if len(self.periods) <= DRAWN:
            return tuple(range(len(rows)))
        order = sorted(
            range(len(rows)),
            key=lambda k: (rows[k]["low"] <= 0 <= rows[k]["high"], -abs(rows[k]["change"])),
        )
        return tuple(sorted(order[:LISTED]))

    def change(self, first: object, last: object, level: float = 0.95) -> PrevalenceChange:
        """Return the `PrevalenceChange` between two periods, by their labels.

        Parameters
        ----------
        first, last : label
            Entries of `periods`.
        level : float
            Nominal coverage in (0, 1).

        Raises
        ------
        ValueError
            If a period is not in the series or cannot be reported.
        """
        places = []
        for name, period in (("first", first), ("last", last)):
            if period not in self.periods:
                raise ValueError(
                    f"{name} must be a period of the series; got {period!r}"
                    + checks.suggestion(period, [str(p) for p in self.periods])
                )
            t = self.periods.index(period)
            if t not in self._reported:
                raise ValueError(
                    f"{name} must be a reported period; {period!r}: {self.problems[t]}"
                )
            places.append(np.flatnonzero(self._reported == t))
        return self._between(*places, checks.level(level))[0]

    def _between(self, first: Any, last: Any, level: Any) -> list:
        usable = self._usable
        change = usable.restricted[last] - usable.restricted[first]
        covariance = usable.change_covariance(first, last)
        naive = np.sqrt(
            sum(np.einsum("tkk->tk", usable.covariance[part]) for part in (first, last))
        )
        limits = usable.change_limits(first, last, level)
        growth_limits = usable.growth_limits(first, last, level)
        with np.errstate(divide="ignore", invalid="ignore"):
            growth = np.where(np.isnan(growth_limits[0]), np.nan, change / usable.restricted[first])
        names = [self.periods[t] for t in self._reported]
        return [
            PrevalenceChange(
                names[a],
                names[b],
                one_or_all(change[c]),
                one_or_all(covariance[c]),
                intervals_of(limits[0][c], limits[1][c], level, usable),
                one_or_all(growth[c]),
                intervals_of(growth_limits[0][c], growth_limits[1][c], level, usable),
                one_or_all(naive[c]),
                self.labels,
                self.audit_rates,
                notes=usable.doubts,
            )
            for c, (a, b) in enumerate(zip(first, last, strict=True))
        ]

    def headline(self, level: float = 0.95) -> str:
        """Return how many periods are reported, the first, the last and the change between them.

        Parameters
        ----------
        level : float
            Nominal coverage in (0, 1).
        """
        reported = [self.periods[t] for t in self._reported]
        text = f"{len(reported)} of {checks.counted(len(self.periods), 'period')} by {method_words(self.method)}"
        if len(reported) > 1:
            text += f"; {self.change(reported[0], reported[-1], level).headline()}"
        lost = "; no estimates: see notes" if self._usable.undefined else ""
        return f"{text}{lost}; if {self.assumption}; {self.audit.n:,} audited"

    def finding(self, level: float = 0.95) -> str:
        """Return how much the share changed over all periods, in a sentence without jargon; of several classes the one
        that changed most.

        Parameters
        ----------
        level : float
            Nominal coverage in (0, 1).
        """
        reported = [self.periods[t] for t in self._reported]
        if len(reported) == 1:
            return self._level_found(reported[0], level)
        change = self.change(reported[0], reported[-1], level)
        rows = [row for row in change.rows() if not digits.nothing(row["low"], row["high"])]
        if not rows or self._usable.undefined:
            when = f"from {calendar.named_period(reported[0])} to {calendar.named_period(reported[-1])}"
            return f"No result: nearly every change {when} is possible, {NO_LINK}"
        return _said_change(max(rows, key=lambda row: abs(row["change"])))

    @property
    def leading(self) -> object:
        """The class that `finding` speaks of: the second of two, or the one that changed most."""
        if len(self.labels) == 2:
            return self.labels[1]
        shares = self._usable.restricted
        moved = np.abs(shares[-1] - shares[0]) if len(shares) > 1 else shares[0]
        return self.labels[int(np.nan_to_num(moved).argmax())]

    def _level_found(self, period: str, level: float) -> str:
        row = max(
            (row for row in self.levels(level) if row["period"] == period),
            key=lambda row: row["estimate"],
        )
        if self._usable.undefined or digits.nothing(row["low"], row["high"]):
            return f"No result: nearly every share is possible in {calendar.named_period(period)}, {NO_LINK}"
        if row["high"] - row["low"] < digits.ROUNDING:
            [share] = digits.percents(row["estimate"])
            return f"{_subject(row['label'])}: {share} in {calendar.named_period(period)}, known exactly"
        shown = digits.percents(
            row["estimate"], row["low"], row["high"], error=(row["high"] - row["low"]) / 2
        )
        return "{}: {}, between {} and {}, in {}".format(
            _subject(row["label"]), *shown, calendar.named_period(period)
        )

    @property
    def taken(self) -> str:
        """How the audit is taken to have been sampled, in a sentence; "" for a random sample without a doubt."""
        texts = [note.text for note in self.notes if note.where == designs.PLACE]
        if texts:
            return " ".join(f"The audit is {text}." for text in texts)
        return (
            ""
            if self.sampled_by == designs.RANDOM
            else f"The audit was sampled by {self.sampled_by}."
        )

    def basis(self, level: float = 0.95) -> str:
        """Return the basis of the finding in one line.

        Parameters
        ----------
        level : float
            Nominal coverage in (0, 1).
        """
        items = checks.counted(self.audit.n, "audited item") + self._audited_periods()
        periods = checks.counted(len(self._reported), "period")
        most = (
            f"; of {len(self.labels)} classes the one that changed most"
            if len(self.labels) > 2
            else ""
        )
        return (
            f"From {items} and the predicted counts of {periods}, corrected by {method_words(self.method)}{most}; "
            f"{percent(level)} interval. It holds if {self.assumption}."
        )

    def _audited_periods(self) -> str:
        """Return how weights and audits of several periods are used, in words; "" for one audit without weights."""
        weighted = (
            ", weighted by their sampling weights," if self.audit.weighted is not None else ""
        )
        if not self.audits:
            return weighted
        how = (
            "each for its own period"
            if self.audit_rates == "own"
            else "rates pooled over the periods"
        )
        return f"{weighted} of {checks.counted(sum(audit is not None for audit in self.audits), 'period')} ({how})"

    def rows(self) -> list[dict]:
        """Return `levels()`."""
        return self.levels()


def prevalence_series(
    audit: ConfusionCounts | Mapping,
    counts_at_audit: ArrayLike | None,
    counts_by_period: Any,
    *,
    method: str = "auto",
    rates: str = "process",
    sampled_by: str = "auto",
    audit_rates: str = "auto",
) -> PrevalenceSeries:
    """Estimate the true shares of many periods from one audit, or from audits of several periods.

    Parameters
    ----------
    audit : ConfusionCounts or mapping of period to ConfusionCounts
        A simple random sample, without replacement, of the frame counted at audit time, or a sample as
        `sampled_by` says. Or the audits of several periods, by the periods of the counts or the same dates written
        otherwise.
    counts_at_audit : (K,) array_like of int or None
        Predicted counts of that frame in the order of `audit.labels`; None only for methods that do not need them,
        and for audits of several periods.
    counts_by_period : mapping of period to (K,) counts, or (T, K) array_like or data frame
        Predicted counts; without a mapping periods are called 1 .. T. The first period with the counts at audit time is
        taken to be the audited frame itself. A period that cannot be used keeps its place, with a note that says why.
    method, rates, sampled_by
        As in `workbench.estimate_prevalence`. With audits of several periods "auto" and "mle" mean "misclassification"
        with pooled rates or a design by truth, and with own ones of random audits post-stratification by the period's
        counts, "calibration".
    audit_rates : {"auto", "pooled", "own"}
        How audits of several periods are used: with rates P(prediction | truth) pooled over the periods, or each
        for its own period alone, where the rates drift. By default pooled, unless a test
        (`workbench.misclassification.audits.same_rates_pvalue`) finds at 5% that they differ.

    Returns
    -------
    PrevalenceSeries

    Raises
    ------
    ValueError
        If the audit does not allow the method, or no period can be reported.

    Examples
    --------
    >>> audit = ConfusionCounts([[331, 18], [7, 44]])
    >>> months = {"Jan": [1579, 218], "Jun": [4280, 720], "Jul": [0, 0], "Dec": [4191, 809]}
    >>> series = prevalence_series(audit, [1579, 218], months)
    >>> series.problems[2]
    'no items were counted'
    >>> series.change("Jun", "Dec")
    PrevalenceChange(Jun to Dec: class 1 +0.0226 (SE 0.0066, 95% from +0.0100 to +0.0359); one audit for both)
    >>> audits = {"Jan": ConfusionCounts([[95, 5], [4, 16]]), "Dec": ConfusionCounts([[90, 6], [2, 22]])}
    >>> prevalence_series(audits, None, months).estimates.round(3).tolist()
    [0.081, 0.109, nan, 0.131]
    """
    checks.choice("audit_rates", audit_rates, of_periods.AUDIT_RATES)
    if isinstance(audit, Mapping):
        if counts_at_audit is not None:
            raise checks.WrongValue("counts_at_audit", "must be None for audits of several periods")
        return _from_audits(audit, counts_by_period, method, rates, sampled_by, audit_rates)
    design = designs.read_design(audit, counts_at_audit, method, rates, sampled_by)
    periods, found = _read_periods(counts_by_period, audit.labels)
    return _series(
        audit,
        design.frame,
        periods,
        found,
        design.method,
        rates,
        design.notes,
        sampled_by=design.sampled_by,
    )


def _series(
    audit: ConfusionCounts,
    frame: np.ndarray | None,
    periods: tuple,
    found: list,
    method: str,
    rates: str,
    notes: Sequence[Note] = (),
    **of_audits: Any,
) -> PrevalenceSeries:
    """Return the series of periods whose counts, or the errors that say why they cannot be used, are `found`."""
    reported = np.flatnonzero([not isinstance(counts, CountsError) for counts in found])
    if not reported.size:
        raise checks.WrongValue(
            "counts_by_period",
            f"must hold a period that can be reported; {periods[0]!r}: {found[0]}",
        )
    counts = np.full((len(periods), len(audit.labels)), np.nan)
    counts[reported] = [found[t] for t in reported]
    empty = _placed(np.zeros((reported.size, len(audit.labels))), reported, counts.shape)
    usable = PrevalenceSeries(
        periods, counts, *(empty,) * 4, method, rates, audit.labels, audit, frame, **of_audits
    )._usable
    late = [] if of_audits.get("audits") else [periods[t] for t in reported[usable.own] if t]
    places = [("period", periods[t]) for t in reported]
    own = isinstance(usable, of_periods.OwnAudits)
    notes = [
        *notes,
        *calendar.backward_notes([str(period) for period in periods]),
        *(
            Note(
                "assumption",
                f"the audit belongs to period {period!r}, not to the first, {periods[0]!r}: its "
                "rates are held constant for earlier periods too",
            )
            for period in late
        ),
        *(() if own else usable.audit_notes()),
        *usable.period_notes(places),
        *(
            Note("refused", str(why), ("period", period))
            for period, why in zip(periods, found, strict=True)
            if isinstance(why, CountsError)
        ),
    ]
    errors = np.sqrt(np.einsum("tkk->tk", usable.covariance))
    estimates, errors, raw, bias = (
        _placed(values, reported, counts.shape)
        for values in (usable.estimate, errors, usable.shares, usable.bias)
    )
    return PrevalenceSeries(
        periods,
        counts,
        estimates,
        errors,
        raw,
        bias,
        method,
        rates,
        audit.labels,
        audit,
        frame,
        notes=notes,
        **of_audits,
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
    periods, found = _read_periods(counts_by_period, pooled.labels)
    by_period = of_periods.matched(audits, periods)
    pvalue = of_periods.same_rates_pvalue([*by_period.values()])
    sampled_by, taken = designs.design_of_several([*by_period.values()], sampled_by)
    own = audit_rates == "own" or audit_rates == "auto" and pvalue < DIFFER
    notes = [
        *taken,
        of_periods.choice_note(by_period, audit_rates, pvalue, own=own),
        *_without_counts(by_period, periods, own=own),
    ]
    of_audits = {
        "audits": tuple(by_period.get(period) for period in periods),
        "sampled_by": sampled_by,
    }
    if own:
        method = of_periods.own_method(method, sampled_by)
        return _series(
            pooled,
            None,
            periods,
            _own_counts(by_period, periods, found, method, rates, sampled_by),
            method,
            rates,
            notes,
            audit_rates="own",
            **of_audits,
        )
    if method == "mixed":
        raise checks.WrongValue(
            "method",
            "must not be 'mixed', which takes one audit of one period: "
            "'misclassification' pools the rates of several",
            method,
        )
    method = "misclassification" if method in (designs.AUTO, "mle") else method
    designs.read_design(pooled, None, method, rates, sampled_by)
    return _series(
        pooled, None, periods, found, method, rates, notes, audit_rates="pooled", **of_audits
    )


def _without_counts(by_period: Mapping, periods: tuple, *, own: bool) -> list[Note]:
    """Return a note that names the audits of periods without counts."""
    lost = [name for name in by_period if name not in periods]
    if not lost:
        return []
    used = "they are left out" if own else "they are used for the rates only"
    return [
        Note("data", f"audited, but without counts: {checks.listed(lost, quoted=True)}; {used}")
    ]


def _own_counts(
    by_period: Mapping, periods: tuple, found: list, method: str, rates: str, sampled_by: str
) -> list:
    """Return the counts of each period, or why its own audit gives no estimate."""
    checked = []
    for period, counts in zip(periods, found, strict=True):
        if not isinstance(counts, CountsError):
            counts = _own_or_error(by_period.get(period), counts, method, rates, sampled_by)
        checked.append(counts)
    return checked


def _own_or_error(
    audit: ConfusionCounts | None, counts: np.ndarray, method: str, rates: str, sampled_by: str
) -> Any:
    if audit is None:
        return CountsError(
            "it was not audited, and each period is estimated from its own audit; 'pooled' as "
            "audit_rates takes the rates of the others for it"
        )
    try:
        of_periods.own_periods(audit, counts, method, rates, sampled_by)
    except AuditError as error:
        return CountsError(str(error))
    return counts


def _subject(label: int | str) -> str:
    text = str(label)
    return f"Class {text}" if not text[:1].isalpha() else f"{text[0].upper()}{text[1:]}"


def _said_change(row: dict) -> str:
    """Return a change between two periods as a sentence: what rose or fell by how much, or that nothing is shown."""
    low, high, error = row["low"], row["high"], (row["high"] - row["low"]) / 2
    first, last = (calendar.named_period(row[f"{end}_period"]) for end in ("first", "last"))
    name, when = _subject(row["label"]), f"from {first} to {last}"
    if low <= 0 <= high:
        shown = digits.points(row["change"], low, high, error=error, signed=True)
        return "{}: no change is shown {}, {} points, between {} and {}".format(name, when, *shown)
    shown = digits.points(abs(row["change"]), *sorted(map(abs, (low, high))), error=error)
    return "{} {} by {} points, between {} and {}, {}".format(
        name, "rose" if low > 0 else "fell", *shown, when
    )


def _read_periods(counts_by_period: Any, labels: tuple) -> tuple:
    """Return the periods' labels and the counts of each, or the error that says why they cannot be used."""
    if isinstance(counts_by_period, Mapping):
        periods, rows = tuple(counts_by_period), tuple(counts_by_period.values())
    else:
        rows = checks.each(
            "counts_by_period",
            counts_by_period.to_numpy()
            if hasattr(counts_by_period, "to_numpy")
            else counts_by_period,
        )
        periods = tuple(range(1, len(rows) + 1))
    if not rows:
        raise checks.WrongValue("counts_by_period", "must hold at least one period; got none")
    return periods, [_counts_or_error(row, labels) for row in rows]


def _counts_or_error(row: Any, labels: tuple) -> CountsError | np.ndarray:
    try:
        return read_counts(row, labels)
    except CountsError as error:
        return error


def _placed(values: np.ndarray, reported: np.ndarray, shape: tuple) -> np.ndarray:
    """Return values of the reported periods among NaN for the others; with two classes those of the second."""
    placed = np.full(shape, np.nan)
    placed[reported] = values
    return placed[:, 1] if shape[1] == 2 else placed
