"""Audit sessions: assign items to annotators, record their labels, and estimate as labels come in.

`AuditSession` is the class to start from. `SessionStatus` and `Verification` are results of its
methods, and `AuditItem` is an item to be labeled.
"""

import contextlib
import functools
import itertools
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from os import PathLike
from typing import Any, Self

from numpy.typing import ArrayLike

from workbench import checks
from workbench.data.scored_items import ScoredItems
from workbench.extras.sessions import design as designs
from workbench.extras.sessions import sheets
from workbench.extras.sessions import store as session_store
from workbench.extras.sessions.estimates import (
    SessionEstimate,
    estimates_of,
    methods_for,
    more_labels,
    rates_of,
    second_labels_of,
    seen,
    wave_labels,
)
from workbench.extras.sessions.store import (
    UNNAMED,
    Event,
    SessionError,
    Store,
    check_who,
    create_store,
    digest_of_rows,
)
from workbench.extras.sessions.trail import DECIDING, LABELED, OPEN, SKIPPED, Entry, Trail
from workbench.labeling.draws import id_texts
from workbench.results import Note, Result
from workbench.stratified.default_plan import AUTO
from workbench.stratified.second_labels import SecondLabels

LEASE = timedelta(days=1)
PACE_OF, PAUSE = 50, 1800  # labels, seconds


@dataclass(frozen=True)
class AuditItem:
    """An item to be labeled; each shown column is also an attribute, as in `item.text`.

    Attributes
    ----------
    id : str
        Identifier of the item.
    position : int
        Position in the order of labeling, from 1.
    shown : dict
        The columns that annotators see, and the prediction if the audit shows it.

    See Also
    --------
    AuditSession.next : Assign the next items to an annotator.
    AuditSession.record : Record the label of an item.
    """

    id: str
    position: int
    shown: dict

    def __getattr__(self, name: str) -> Any:
        columns = self.__dict__.get("shown", {})
        if name in columns:
            return columns[name]
        raise AttributeError(
            f"an item has no attribute {name!r}; it has "
            f"{checks.listed(['id', 'position', *columns])}"
        )


class SessionStatus(Result):
    """The progress of an audit session.

    Attributes
    ----------
    question : str
        The question of the audit: "accuracy", "class_metrics" or "difference".
    budget : int
        Number of items to label.
    labeled : int
        Number of labeled items.
    skipped : int
        Number of items that could not be labeled.
    pending : int
        Number of items that are assigned to an annotator and not labeled yet.
    open : int
        Number of other items of the budget without a label.
    labels : dict
        Number of labels of each annotator, including double annotation.
    pace : float
        Labels per hour over the last 50 labels, without pauses of more than half an hour. NaN
        before the second label.
    looks : int
        Number of interim analyses.
    second : int
        Number of items that wait for a second label.
    third : int
        Number of items with two different labels, which wait for a third one.
    wave : int
        Number of waves that were sampled so far, 0 without waves.
    waves : int
        Number of all waves, 0 without waves.
    coming : int
        Number of open items that belong to later waves.

    See Also
    --------
    AuditSession.status : Return the progress of an audit session.
    """

    question: str
    budget: int
    labeled: int
    skipped: int
    pending: int
    open: int
    labels: dict
    pace: float
    looks: int
    second: int = 0
    third: int = 0
    wave: int = 0
    waves: int = 0
    coming: int = 0

    @property
    def wave_is_done(self) -> bool:
        """Return whether all items so far are labeled and the next wave can be sampled."""
        return 0 < self.coming == self.open + self.pending

    def headline(self) -> str:
        """Return the counts in one sentence."""
        pace = f", {self.pace:,.0f} labels per hour" if self.pace == self.pace else ""
        second = f", {self.second} waiting for a second label" if self.second else ""
        third = f", {self.third} waiting for a deciding label" if self.third else ""
        wave = f", wave {self.wave} of {self.waves}" if self.waves else ""
        return (
            f"{self.labeled} of {checks.counted(self.budget, 'item')} labeled, {self.skipped} "
            f"could not be labeled, {self.pending} assigned, {self.open} "
            f"not yet assigned{wave}{second}{third}{pace}, "
            f"{checks.counted(self.looks, 'interim analysis', 'interim analyses')}"
        )

    def rows(self) -> list[dict]:
        """Return one row per annotator."""
        return [{"who": who or "unnamed", "labeled": n} for who, n in self.labels.items()]


class Verification(Result):
    """The confirmation that the file of an audit is unchanged.

    `AuditSession.verify` returns it, and raises an error if something was changed.

    Attributes
    ----------
    events : int
        Number of events whose hashes were checked.
    items : int
        Number of items whose hash was checked.
    scores : bool
        Whether strata and order of labeling were computed again from the scores.
    population : int or None
        Number of items that the audit is about. The file keeps only the first of them in the order
        of labeling.
    last_hash : str
        Hash of the last event. Keep it in another place to detect later whether the events until
        now were changed.

    See Also
    --------
    AuditSession.verify : Check that the file of an audit is unchanged.
    """

    events: int
    items: int
    scores: bool
    population: int | None = None
    last_hash: str = ""

    def headline(self) -> str:
        """Return the checks in one sentence."""
        again = "; to check strata and order of labeling as well, give the scores"
        if self.scores:
            again = "; strata and order of labeling agree with the scores and the seed"
        items = checks.counted(self.items, "item")
        if self.population not in (None, self.items):
            items += (
                f" (the file keeps only the first of {self.population:,} items in the order of "
                "labeling)"
            )
        advice = (
            f". Keep the last hash in another place: {self.last_hash}" if self.last_hash else ""
        )
        return (
            f"unchanged: {checks.counted(self.events, 'event')} and {items} are as they were "
            f"recorded{again}. This check finds accidental changes; somebody with access to the "
            f"file could still rewrite all of it{advice}"
        )

    def rows(self) -> list[dict]:
        """Return one row."""
        return [{"records": self.events, "items": self.items}]


class AuditSession:
    """An audit in one file, from the plan to the last label.

    Use it to label items over days or with several annotators, and to look at the interval before
    the end. `AuditSession.create` and `AuditSession.open` return one. When `record` returns, the
    label is safe in the file, even after a crash. Several processes of one machine can use the file
    at the same time. Other machines take part by `export` and `import_labels`. The file records
    every interim analysis.

    Attributes
    ----------
    path : str
        Path of the file.

    See Also
    --------
    accuracy_audit : Plan or evaluate an audit of accuracy in a single step.
    SessionEstimate : An estimate from the labels of an audit session.
    SessionStatus : The progress of an audit session.

    Examples
    --------
    >>> import tempfile
    >>> import workbench as wb
    >>> items = wb.digit_forms().items()
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = folder + "/digits.db"
    ...     audit = wb.AuditSession.create(file, items, budget=40, n_strata=2, seed=1)
    ...     for item in audit.next(40):
    ...         _ = audit.record(item.id, int(items.correct[int(item.id) - 1]))
    ...     print(audit.estimate())  # doctest: +NORMALIZE_WHITESPACE
    ...     audit.close()
    SessionEstimate(Accuracy 87.5% (95% confidence interval 72.6% to 96.2%);
    40 of 40 planned labels, method planned)
    """

    def __init__(self, path: str | PathLike[str]) -> None:
        self._store = Store(path)
        self.path: str = self._store.path
        with contextlib.ExitStack() as opened:
            opened.callback(self._store.close)
            items, events = self._store.items(), self._store.events()
            if not events or events[0].kind != "created":
                raise SessionError(f"{self.path!r} has no first event; restore a copy of the file")
            created = events.pop(0)
            try:
                designs.refuse_senseless(created.body, items)
                self._trail = Trail(self.path, created, items)
            except (ValueError, KeyError, TypeError, AttributeError):
                raise SessionError(
                    f"{self.path!r}: event 1 (created) is not valid; restore a copy of the file"
                ) from None
            self._apply(events)
            recorded = [event.body["rows"] for event in (created, *events) if "rows" in event.body]
            if digest_of_rows(self._trail.kept) != recorded[-1]:
                raise SessionError(
                    f"{self.path!r} was changed by another program: its items differ from the "
                    "recorded ones; restore a copy of the file"
                )
            opened.pop_all()

    @classmethod
    def create(
        cls,
        path: str | PathLike[str],
        items: ScoredItems,
        *,
        budget: int,
        question: str = "accuracy",
        other: ArrayLike | None = None,
        n_strata: int | str = AUTO,
        stratifier: str = "equal_size",
        trust_scores: bool = False,
        expected: float | None = 0.85,
        looks: Sequence[int] = (),
        second_share: float = 0.0,
        asks: str = "correct",
        columns: Mapping[str, ArrayLike] | None = None,
        level: float = 0.95,
        seed: int = 0,
        waves: int = 1,
        metrics_of: Any = None,
        source: Mapping[str, str] | None = None,
        by: str | None = None,
    ) -> Self:
        """Plan an audit and write its file.

        Parameters
        ----------
        path : str or path
            Path of a file that does not exist yet.
        items : ScoredItems
            The items to sample from.
        budget : int
            Planned number of labels, at which the intervals of method "planned" are shortest.
        question : {"accuracy", "class_metrics", "difference"}, default "accuracy"
            What to estimate: the accuracy; precision, recall and F1 of a class; or the accuracy of
            `items` minus that of a second model. For the difference, only items with different
            predictions of the two models are labeled.
        other : (N,) array_like, optional
            The second model's predictions, if they are not in `items.rival`.
        n_strata : int or "auto", default "auto"
            Number of strata by score. "auto" is the default plan of `accuracy_audit` for an
            accuracy, and 5 strata otherwise. With a number, labels are in proportion to
            stratum size. For "class_metrics", this is the number within each of two parts.
        stratifier : str, default "equal_size"
            Rule for the strata, as in `stratify`.
        trust_scores : bool, default False
            As in `accuracy_audit`, with "auto".
        expected : float or None, default 0.85
            Expected accuracy for `anytime_interval`; None for no expectation. The interval is
            always valid. It is shorter if the expectation is close.
        looks : list of int, default ()
            Up to 10 numbers of labels for planned interim analyses, which method "looks" uses.
        second_share : float, default 0
            Proportion of items with double annotation. A third annotator labels the
            items with two different labels. For a given number of labels, the interval is
            shortest with 1: fewer items, each with two labels. For "accuracy" only.
        asks : {"correct", "truth", "which"}, default "correct"
            With "correct", annotators see the prediction and answer correct (1) or incorrect (0).
            With "truth", they do not see it and give the true class. With "which", they say which
            of two models' answers is correct; for a "difference" with items of `judged_items`.
            A difference needs "truth" or "which".
        columns : dict of (N,) array_like, optional
            Other columns that annotators see.
        level : float, default 0.95
            Confidence level in (0, 1).
        seed : int, default 0
            Seed of the random sample. The order of labeling follows from the seed, the identifiers
            and the scores.
        waves : int, default 1
            Number of waves of about equal size. The labels of earlier waves determine
            the allocation of the next one (`next_wave`). It is sampled when all earlier items are
            labeled or skipped and `next` is called. `wave_accuracy` is the estimate. For "accuracy"
            without `looks` and `second_share`. There is an interval at the planned end, and a
            "fixed" one after each wave. Each wave has at least 2 labels per stratum, and "auto" is
            5 strata.
        metrics_of : str or number, optional
            The class for "class_metrics", default 1 if the classes are 0 and 1.
        source : dict of str, optional
            The columns from which the items were read, for later calls of `extend` and `verify`.
        by : str, optional
            Name of the person who creates the audit.

        Returns
        -------
        AuditSession
            The new session, open.

        Raises
        ------
        ValueError
            If an argument is out of its domain, or the file exists or cannot be written.
        """
        design, rows = designs.new_design(
            items,
            budget=budget,
            question=question,
            other=other,
            metrics_of=metrics_of,
            n_strata=n_strata,
            stratifier=stratifier,
            trust_scores=trust_scores,
            expected=expected,
            looks=looks,
            asks=asks,
            second_share=second_share,
            columns=columns,
            level=level,
            seed=seed,
            waves=waves,
            source=source or {},
        )
        create_store(path, design, rows, check_who(by))
        return cls(path)

    @classmethod
    def open(cls, path: str | PathLike[str]) -> Self:
        """Open the file of an audit and check the hashes of all events and items.

        Parameters
        ----------
        path : str or path
            Path of the file.

        Returns
        -------
        AuditSession
            The session.

        Raises
        ------
        ValueError
            If the file does not exist, is not an audit, has another version, is damaged, or was
            changed.
        """
        return cls(path)

    def close(self) -> None:
        """Close the file. All labels are already in it."""
        self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *details: Any) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"AuditSession({os.path.basename(self.path)}: {self.status().headline()})"

    @property
    def design(self) -> dict:
        """Return the design of the audit as a dict of plain values."""
        return dict(self._trail.design)

    @property
    def looks(self) -> list[dict]:
        """Return the interim analyses with time, person, method, number of labels and limits."""
        return [
            {"time": event.time, "who": event.who, **event.body} for event in self._read().looks
        ]

    def next(self, n: int = 1, by: str | None = None) -> list[AuditItem]:
        """Assign the next items in the order of labeling to an annotator for one day.

        Parameters
        ----------
        n : int, default 1
            Largest number of items.
        by : str, optional
            Name of the annotator. Required if the audit has double annotation.

        Returns
        -------
        list of AuditItem
            The items: fewer than `n`, or none, if the rest of the budget is labeled or assigned.
        """
        n, who = checks.whole("n", n, 1), self._who(by)
        self._draw_wave(who)
        with self._step() as steps:
            places = list(itertools.islice(self._trail.available(who, session_store.now()), n))
            if places:
                steps.append((who, "handed", {"ids": self._ids(places), "until": _until()}))
        return [self._item(k) for k in places]

    def held(self, by: str | None = None) -> list[AuditItem]:
        """Return the items that are assigned to an annotator and not labeled yet.

        Parameters
        ----------
        by : str, optional
            Name of the annotator.

        Returns
        -------
        list of AuditItem
            The items in the order of labeling.
        """
        return [self._item(k) for k in self._read().held(check_who(by), session_store.now())]

    def release(self, ids: Iterable | None = None, by: str | None = None) -> int:
        """Release assigned items, so that they can be assigned to others.

        Parameters
        ----------
        ids : list of str, optional
            Identifiers of the items. The default is all items of the annotator.
        by : str, optional
            Name of the annotator.

        Returns
        -------
        int
            Number of released items.
        """
        who = check_who(by)
        with self._step() as steps:
            assigned = self._trail.held(who, session_store.now())
            places = assigned
            if ids is not None:
                ids = checks.each("ids", ids)
                places = [sheets.item_of(self._trail, identifier) for identifier in ids]
            strange = [self._trail.items[k].id for k in places if k not in assigned]
            if strange:
                raise SessionError(f"item {strange[0]!r} is not assigned to {who or UNNAMED}")
            if places:
                steps.append((who, "released", {"ids": self._ids(places)}))
        return len(places)

    def record(self, id: Any, label: Any, by: str | None = None) -> str:
        """Record the label of an item; when the method returns, the label is safe in the file.

        Parameters
        ----------
        id : str or number
            Identifier of the item.
        label : int or str
            1 (correct) or 0 (incorrect); or the true class if the audit asks for it, "other" for a
            class that is never predicted; or "A", "B", "both" or "neither".
        by : str, optional
            Name of the annotator. A different label of the same annotator is a correction, and the
            history keeps both. A label of another annotator is an error unless the item gets double
            annotation.

        Returns
        -------
        {"recorded", "corrected", "known"}
            Whether the label was new, changed an earlier one, or was already recorded.

        Raises
        ------
        ValueError
            If the item is not in the audit, the label is not valid, or another annotator gave a
            different label.
        """
        who, label = self._who(by), sheets.reader(self._trail.design)(label)
        with self._step() as steps:
            k = sheets.item_of(self._trail, id)
            if not self._is_new(k, label, who, correcting=True):
                return "known"
            mine = any(entry.who == who for entry in self._trail.labels(k))
            steps.append((who, "labeled", {"id": self._trail.items[k].id, "label": label}))
        return "corrected" if mine else "recorded"

    def skip(self, id: Any, by: str | None = None) -> None:
        """Record that an item cannot be labeled; intervals then cover every label it could have.

        Parameters
        ----------
        id : str or number
            Identifier of the item.
        by : str, optional
            Name of the annotator.
        """
        who = self._who(by)
        with self._step() as steps:
            k = sheets.item_of(self._trail, id)
            if self._trail.status(k) == LABELED:
                raise SessionError(
                    f"item {self._trail.items[k].id!r} has a label; undo the label first"
                )
            if self._trail.status(k) == OPEN:
                steps.append((who, "skipped", {"id": self._trail.items[k].id}))

    def undo(self, by: str | None = None) -> str:
        """Undo the last label or skip of an annotator; the file keeps a record of it.

        Parameters
        ----------
        by : str, optional
            Name of the annotator.

        Returns
        -------
        str
            Identifier of the item.
        """
        who = self._who(by)
        with self._step() as steps:
            last = self._trail.last_step(who)
            if last is None:
                raise SessionError(f"{who or UNNAMED} has no label or skip to undo")
            steps.append((who, "undone", {"event": last[0]}))
        return self._trail.items[last[1]].id

    def history(self, id: Any) -> list[Entry]:
        """Return all labels of an item that were not undone, including corrected ones.

        Parameters
        ----------
        id : str or number
            Identifier of the item.

        Returns
        -------
        list
            Entries with number, time, who and label (None if skipped), in order of time.
        """
        trail = self._read()
        return trail.history(sheets.item_of(trail, id))

    def estimate(self, method: str = "planned", by: str | None = None) -> SessionEstimate:
        """Return the estimate from the labels so far and record this interim analysis.

        Parameters
        ----------
        method : {"planned", "anytime", "looks", "fixed"}, default "planned"
            Method of the interval. See Notes.
        by : str, optional
            Name of the person who requests the interim analysis.

        Returns
        -------
        SessionEstimate
            The estimate with its interval.

        Notes
        -----
        The methods differ in when the interval is valid:

        - "planned": at any time. At the planned end, it is 4 to 5% wider than the fixed interval.
          Before, it is 1.6 to 2 times as wide if labels are in proportion to stratum size, and up
          to 3.5 times as wide with the default plan.
        - "anytime": at any time, equally good before and after the planned end.
        - "looks": at the planned interim analyses; without planned ones, at every 10 labels from 30
          to 600.
        - "fixed": only if the number of labels does not depend on interim analyses.

        Class metrics and differences have "planned" from the planned end on, and "looks" at planned
        interim analyses. Audits in waves have "planned" from the planned end on, and "fixed".
        """
        return self._look(method, (method,), by)[0]

    def overview(self, by: str | None = None) -> tuple[list[SessionEstimate], list[dict]]:
        """Return the estimates of a report and record one interim analysis.

        Parameters
        ----------
        by : str, optional
            Name of the person who requests the interim analysis.

        Returns
        -------
        estimates : list of SessionEstimate
            Estimates by every method that the question allows, "planned" first.
        rates : list of dict
            Numbers of labels and of correct ones per stratum, or per wave and stratum, for an
            accuracy. Empty for other questions.
        """
        design = self._trail.design
        estimates = self._look("report", methods_for(design), by)
        return estimates, rates_of(self._trail) if designs.question_in(design).is_accuracy else []

    def second_labels(self, by: str | None = None) -> SecondLabels:
        """Return the agreement of double annotation and the accuracy corrected for label errors.

        This is recorded as an interim analysis.

        Parameters
        ----------
        by : str, optional
            Name of the person who requests the interim analysis.

        Returns
        -------
        SecondLabels
            Agreement and corrected accuracy.
        """
        if not designs.question_in(self._trail.design).is_accuracy:
            raise ValueError(
                "double annotation corrects an accuracy, but this audit has another question"
            )
        who = check_who(by)
        with self._step() as steps:
            result = second_labels_of(self._trail)
            body = {"method": "second labels", "labeled": self._trail.beginning()}
            steps.append((who, "looked", body))
        return result

    def _look(self, name: str, methods: Sequence[str], by: str | None) -> list[SessionEstimate]:
        who = check_who(by)
        with self._step() as steps:
            estimates = estimates_of(self._trail, methods)
            body = {
                "method": name,
                "labeled": estimates[0].labeled,
                "skipped": estimates[0].skipped,
                "intervals": seen(estimates),
            }
            steps.append((who, "looked", body))
        return estimates

    def more_labels(self, half_width: float) -> int:
        """Return the expected number of further labels for a given half-width.

        The half-width is that of the "fixed" interval.

        Parameters
        ----------
        half_width : float
            Half-width in (0, 0.5), such as .02 for 2 percentage points.

        Returns
        -------
        int
            Number of labels, 0 if the interval is short enough.
        """
        return more_labels(self._read(), half_width)

    def status(self) -> SessionStatus:
        """Return the progress of the audit, without an estimate."""
        trail = self._read()
        kinds = [trail.status(k) for k in range(trail.budget)]
        labels = [entry for k in range(trail.budget) for entry in trail.labels(k)]
        pace = _pace(sorted(entry.time for entry in labels))
        out = sum(kinds[k] == OPEN for k in trail.pending(session_store.now()))
        waiting = Counter(map(trail.wants_another, range(trail.budget)))
        annotators = Counter(entry.who for entry in labels)
        coming = max(sum(trail.waves) - trail.budget, 0)
        return SessionStatus(
            trail.design["question"],
            trail.budget + coming,
            kinds.count(LABELED),
            kinds.count(SKIPPED),
            out,
            kinds.count(OPEN) - out + coming,
            annotators,
            pace,
            len(trail.looks),
            waiting[2],
            waiting[DECIDING],
            trail.wave,
            len(trail.waves),
            coming,
        )

    def skipped(self) -> list[str]:
        """Return the identifiers of the items that could not be labeled."""
        trail = self._read()
        return [trail.items[k].id for k in range(trail.budget) if trail.status(k) == SKIPPED]

    def strata(self) -> list[dict]:
        """Return a row per stratum with its size and its numbers of items and labels.

        Strata are numbered from 1, or named by the labels of a judge. `items` are those of the
        budget.
        """
        trail = self._read()
        items = [item.stratum for item in trail.items[: trail.budget]]
        labeled = [stratum for k, stratum in enumerate(items) if trail.status(k) == LABELED]
        return [
            {**row, "items": items.count(h), "labeled": labeled.count(h)}
            for h, row in enumerate(designs.stratum_rows(trail.design))
        ]

    def export(
        self,
        path: str | PathLike[str],
        n: int | None = None,
        by: str | None = None,
        *,
        to: str | None = None,
    ) -> int:
        """Write an annotation sheet, or tasks for an annotation tool, in the order of labeling.

        Parameters
        ----------
        path : str or path
            Path that ends in .csv or .xlsx, in .json for Label Studio, or in .jsonl for doccano and
            Prodigy. A file with labels is never overwritten.
        n : int, optional
            Number of items to assign. By default, nothing is assigned: a sheet has the whole budget
            with all labels so far, and a tool's file has the items without a label.
        by : str, optional
            Name of the annotator. In an audit with double annotation, the sheet shows no labels of
            others, and leaves out items that wait for no label.
        to : {"csv", "xlsx", "label-studio", "doccano", "prodigy"}, optional
            Format of the file. The default is a sheet in the format of the ending.

        Returns
        -------
        int
            Number of items in the file.
        """
        who, kind = self._who(by), sheets.kind_of_sheet(path, to)
        n = None if n is None else checks.whole("n", n, 1)
        self._draw_wave(who)
        with self._step() as steps:
            trail = self._trail
            if n is not None:
                places = list(itertools.islice(trail.available(who, session_store.now()), n))
            else:
                places = list(range(trail.budget))
                is_sheet = kind in sheets.SHEETS
                if not is_sheet or (by and trail.design["second_share"]):
                    places = [
                        k
                        for k in places
                        if trail.status(k) == OPEN
                        or trail.wants_another(k)
                        or (is_sheet and who in [label.who for label in trail.labels(k)])
                    ]
            if not places:
                raise SessionError(self._nothing_to_export())
            sheets.write_sheet(path, trail, places, kind, who)
            body = {"file": os.path.basename(os.fspath(path)), "items": len(places)}
            steps.append((who, "exported", body))
            if n is not None:
                steps.append((who, "handed", {"ids": self._ids(places), "until": _until()}))
        return len(places)

    def import_labels(
        self, path: str | PathLike[str], by: str | None = None, *, correct: bool = False
    ) -> sheets.SheetImport:
        """Record the labels of a filled annotation sheet or of an annotation tool's export.

        All valid rows are recorded. If the method fails, none is.

        Parameters
        ----------
        path : str or path
            A sheet with the columns id and correct (or truth), or the export of a tool. See Notes.
        by : str, optional
            Name of the annotator if the file has none, and of the person who imports it.
        correct : bool, default False
            Whether rows may change earlier labels of the same annotator. The history keeps the
            earlier labels.

        Returns
        -------
        SheetImport
            The numbers of recorded and rejected rows. `refused` lists each rejected row with its
            reason.

        Notes
        -----
        In a sheet, an item with an empty cell before the last filled one is recorded as skipped,
        unless it is assigned to somebody else.

        Exports are recognized by their records: Label Studio (JSON, JSON-MIN, CSV), doccano (JSONL,
        one file for each annotator) and Prodigy (JSONL). They name the annotators. An item that an
        annotator passed over is skipped, and one without a label stays open. All labels of an item
        are kept. Without double annotation, estimates use the first one.
        """
        sheet, notes, digest = sheets.read_rows(path, self._trail)
        who = check_who(by)
        if any(row.is_answered and not (row.by or sheet.by) for row in sheet.rows):
            self._who(by)

        def name_of(annotator: str) -> str:
            return check_who(annotator or by or sheet.by or None)

        decide = functools.partial(self._is_new, correcting=correct, keeps_others=bool(sheet.tool))
        with self._step() as steps:
            now, trail = session_store.now(), self._trail
            content = sheets.sorted_rows(sheet, trail, name_of, decide)
            notes += sheets.several_notes(trail, content.labels)
            corrected = sum(
                any(entry.who == annotator for entry in trail.labels(k))
                for k, annotator, _ in content.labels
            )
            if not sheet.tool:
                empty = sheets.left_out(sheet.rows, trail, content)
                content.skips += [(k, who) for k in empty if trail.holder(k, now) in (None, who)]
            for k, annotator, label in content.labels:
                steps.append((annotator, "labeled", {"id": trail.items[k].id, "label": label}))
            for k, annotator in content.skips:
                steps.append((annotator, "skipped", {"id": trail.items[k].id}))
            body = {
                "file": os.path.basename(os.fspath(path)),
                "sha256": digest,
                "recorded": len(content.labels),
                "refused": len(content.refused),
            }
            if correct:
                body["corrected"] = corrected
                notes += sheets.kept_notes(sheet, trail, who)
            steps.append((who, "imported", body))
        if sheet.by and who not in ("", sheet.by):
            text = (
                f"the file name suggests the annotator {sheet.by}; its labels are recorded for "
                f"{who}, as given"
            )
            notes.append(Note("data", text))
        return sheets.SheetImport(
            recorded=len(content.labels) - corrected,
            repeated=content.repeated,
            skipped=len(content.skips),
            refused=tuple(content.refused),
            unlabeled=tuple(content.unlabeled),
            tool=sheet.tool,
            corrected=corrected,
            changes=tuple(content.changes),
            notes=notes,
        )

    def extend(
        self,
        n: int,
        items: ScoredItems | None = None,
        *,
        columns: Mapping[str, ArrayLike] | None = None,
        other: ArrayLike | None = None,
        by: str | None = None,
    ) -> int:
        """Add labels to the budget; the order of labeling stays the same.

        Parameters
        ----------
        n : int
            Number of further labels.
        items : ScoredItems, optional
            The same scores again, needed for more items than the session keeps.
        columns : dict of (N,) array_like, optional
            With `items`, the shown columns again.
        other : (N,) array_like, optional
            With `items`, the second model's predictions again.
        by : str, optional
            Name of the person who extends the audit.

        Returns
        -------
        int
            The new budget.
        """
        n, who = checks.whole("n", n, 1), check_who(by)
        with self._step() as steps:
            trail = self._trail
            if trail.waves:
                raise SessionError(
                    "the budget of an audit in waves cannot be extended, because the waves were "
                    "planned for it"
                )
            budget, most = trail.budget + n, sum(trail.design["stratum_size"])
            if budget > most:
                raise SessionError(
                    f"there are only {most} items to label, and the budget is already "
                    f"{trail.budget}"
                )
            body: dict = {"budget": budget}
            if budget > len(trail.items):
                more = self._more_items(budget, items, columns, other)
                self._store.add_items(len(trail.items) + 1, more)
                body["rows"] = digest_of_rows([*trail.items, *more])
            steps.append((who, "extended", body))
        return budget

    def verify(
        self, items: ScoredItems | None = None, *, other: ArrayLike | None = None
    ) -> Verification:
        """Check that the file of the audit is unchanged.

        The check covers the structure of the file, the events, the items and the order of labeling.

        Parameters
        ----------
        items : ScoredItems, optional
            The scores again, to compute strata and order of labeling from them.
        other : (N,) array_like, optional
            With `items`, the second model's predictions again.

        Returns
        -------
        Verification
            Numbers of checked events and items, and the last hash.

        Raises
        ------
        ValueError
            If something was changed.
        """
        self._read()
        with AuditSession(self.path) as again:
            trail, design = again._trail, again._trail.design
            events = len(again.events())
            again._check_waves()
            last_hash = again._store.last_hash
        if items is not None:
            self._compare(trail, designs.same_scores(items, design, other))
        return Verification(
            events, len(trail.items), items is not None, sum(design["stratum_size"]), last_hash
        )

    @property
    def last_hash(self) -> str:
        """Return the hash of the last event.

        Keep it in another place to detect later whether the file was rewritten.
        """
        self._read()
        return self._store.last_hash

    def events(self) -> list[Event]:
        """Return all events of the audit, from the first one on."""
        with contextlib.closing(Store(self.path)) as store:
            return store.events()

    def _check_waves(self) -> None:
        """Raise an error if the allocation of a wave does not follow from earlier labels."""
        created, *events = self.events()
        trail = Trail(self.path, created, self._store.items())
        for event in events if trail.waves else ():
            if event.kind == "wave" and event.body["labels"] != wave_labels(trail):
                raise SessionError(
                    f"{self.path!r}: the wave of event {event.number} does not follow from the "
                    "earlier labels"
                )
            trail.apply(event)

    def _compare(self, trail: Trail, items: ScoredItems) -> None:
        """Raise an error if strata or order of the kept items do not follow from the scores."""
        frame = designs.frame_of(items, trail.design)
        order = designs.order_of_labeling(frame, trail.design, len(trail.kept))
        ids, strata = id_texts(frame.items, order), frame.strata.labels[order].tolist()
        for k, (item, name, stratum) in enumerate(zip(trail.kept, ids, strata, strict=True), 1):
            if (item.id, item.stratum) != (name, stratum):
                raise SessionError(
                    f"{self.path!r}: item {k} in the order of labeling is {item.id!r}, which does "
                    "not follow from the scores and the seed"
                )

    def _more_items(self, budget: Any, items: Any, columns: Any, other: Any) -> list:
        design, stored = self._trail.design, self._trail.items
        if items is None:
            raise SessionError(
                f"the session keeps {len(stored)} items; give the scores again to label {budget}"
            )
        items = designs.same_scores(items, design, other)
        frame, columns = designs.frame_of(items, design), designs.shown_of(items, design, columns)
        n = designs.kept_items(frame, design, budget)
        return designs.stored_rows(frame, items, design, columns, n)[len(stored) :]

    def _nothing_to_export(self) -> str:
        """Return why no item can be assigned, and how to export the assigned ones."""
        trail, now = self._trail, session_store.now()
        out = dict.fromkeys(trail.holder(k, now) or UNNAMED for k in trail.pending(now))
        if not out:
            return "no item is left to assign: the whole budget is labeled or skipped"
        return (
            f"no item is left to assign: all open items are assigned to {checks.listed(out, 5)}; "
            "export without -n to write them"
        )

    def _is_new(
        self,
        k: Any,
        label: Any,
        who: Any,
        more: Any = (),
        correcting: Any = False,
        keeps_others: bool = False,
    ) -> bool:
        """Return whether a label is new after those in `more`; raise an error if it is not allowed.

        A labeling tool lets several annotators label an item. With `keeps_others`, all their labels
        are kept, even without double annotation of the item.
        """
        trail = self._trail
        labels = [*trail.labels(k), *more]
        mine = next((entry for entry in labels if entry.who == who), None)
        if mine is None:
            unplanned = keeps_others and trail.may_have_another(k, who, labels)
            if not labels or unplanned or trail.wants_another(k, more):
                return True
            if label in [entry.label for entry in labels]:
                return False
        elif label == mine.label:
            return False
        elif correcting:
            return True
        other = mine or labels[0]
        text = (
            f"{other.who or UNNAMED} labeled item {trail.items[k].id!r} as {other.label!r}, not "
            f"{label!r}"
        )
        if mine is None:
            raise SessionError(f"{text}; only this annotator can correct it")
        raise sheets.ChangedLabelError(f"{text}; to correct it, record the new label")

    def _draw_wave(self, who: str) -> None:
        """Sample the next wave if all earlier items are labeled or skipped."""
        if not self._trail.waves:
            return
        with self._step() as steps:
            if self._trail.wave_is_done():
                steps.append((who, "wave", {"labels": wave_labels(self._trail)}))

    def _who(self, by: str | None) -> str:
        who = check_who(by)
        if not who and self._trail.design["second_share"]:
            raise checks.WrongValue(
                "by", "must be a name, because this audit has double annotation"
            )
        return who

    def _item(self, k: int) -> AuditItem:
        item, columns = self._trail.items[k], {}
        if self._trail.design["asks"] == "correct" and item.prediction is not None:
            columns["prediction"] = item.prediction
        return AuditItem(item.id, k + 1, columns | item.shown)

    def _ids(self, places: list) -> list[str]:
        return [self._trail.items[k].id for k in places]

    def _read(self) -> Trail:
        self._apply(self._store.events())
        return self._trail

    def _apply(self, events: list) -> None:
        for event in events:
            self._trail.apply(event)
            if event.kind == "extended" and "rows" in event.body:
                self._trail.add_items(self._store.items()[len(self._trail.items) :])

    @contextlib.contextmanager
    def _step(self) -> Iterator[list]:
        """Read the file, and write the steps of the block safely when it ends."""
        steps: list = []
        with self._store.writing():
            self._read()
            yield steps
            self._store.add(steps)
        self._read()


def _until() -> str:
    return (session_store.now() + LEASE).isoformat(timespec="seconds")


def _pace(times: list) -> float:
    """Return labels per hour of the last 50, without long pauses."""
    moments = [datetime.fromisoformat(text).timestamp() for text in times[-PACE_OF - 1 :]]
    gaps = [after - before for before, after in itertools.pairwise(moments)]
    gaps = [gap for gap in gaps if gap <= PAUSE]
    return 3600 * len(gaps) / sum(gaps) if sum(gaps) else float("nan")
