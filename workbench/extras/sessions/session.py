"""An audit that is carried out: items handed out, labels recorded so that none is lost, looks taken honestly."""

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
from workbench.stratified.second_labels import SecondLabels

LEASE = timedelta(days=1)
PACE_OF, PAUSE = 50, 1800  # labels, seconds


@dataclass(frozen=True)
class AuditItem:
    """An item to be labeled; what people see of it is also an attribute, as in `item.text`.

    Attributes
    ----------
    id : str
    position : int
        In the order of labeling, from 1.
    shown : dict
        The prediction, where it is shown, and the columns that were chosen when the audit was made.
    """

    id: str
    position: int
    shown: dict

    def __getattr__(self, name: str) -> Any:
        shown = self.__dict__.get("shown", {})
        if name in shown:
            return shown[name]
        raise AttributeError(
            f"an item shows {checks.listed(['id', 'position', *shown])}; not {name!r}"
        )


class SessionStatus(Result):
    """How far an audit is.

    Attributes
    ----------
    question : str
    budget : int
    labeled, skipped, pending, open : int
        Items of the budget by what became of them; a pending one is out with somebody.
    labels : dict
        Labels per person, second ones too.
    pace : float
        Labels per hour of the last 50, pauses of more than half an hour left out; NaN before two.
    looks : int
        How often an estimate was looked at.
    second, third : int
        Items that wait for a second label, and for a third one that decides.
    wave, waves : int
        Waves that are drawn, and all of them; 0 without waves.
    coming : int
        Those of `open` that are in waves to come.
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
        """Whether all waves so far are labeled, and the next one can be drawn."""
        return 0 < self.coming == self.open + self.pending

    def headline(self) -> str:
        """Return the counts in one sentence."""
        pace = f", {self.pace:.0f} labels an hour" if self.pace == self.pace else ""
        second = f", {self.second} without their second label" if self.second else ""
        third = f", {self.third} in dispute" if self.third else ""
        wave = f", wave {self.wave} of {self.waves}" if self.waves else ""
        return (
            f"{self.labeled} of {checks.counted(self.budget, 'item')} labeled, {self.skipped} skipped, "
            f"{self.pending} out, {self.open} open{wave}{second}{third}{pace}, "
            f"{checks.counted(self.looks, 'look')}"
        )

    def rows(self) -> list[dict]:
        """Return one row per person."""
        return [{"who": who or "nobody named", "labeled": n} for who, n in self.labels.items()]


class Verification(Result):
    """That the file of an audit is as it was written; made by `AuditSession.verify`, which raises where it is not.

    Attributes
    ----------
    events, items : int
        Events whose chain of hashes was followed, and items whose hash was compared.
    scores : bool
        Whether strata and order of labeling were computed again from the scores.
    population : int or None
        Items that the audit is about, of which the file keeps those that may be labeled without the scores.
    last_hash : str
        Of the last event: who keeps it elsewhere sees later whether what was recorded until now was rewritten.
    """

    events: int
    items: int
    scores: bool
    population: int | None = None
    last_hash: str = ""

    def headline(self) -> str:
        """Return what was checked in one sentence."""
        again = (
            "; strata and order of labeling follow from the scores and the seed"
            if self.scores
            else "; name the scores to compute strata and order again"
        )
        items = checks.counted(self.items, "item") + (
            ""
            if self.population in (None, self.items)
            else (
                f" (the first of {self.population:,} in the order of labeling; the file keeps no more)"
            )
        )
        kept = f". The last hash, to keep elsewhere: {self.last_hash}" if self.last_hash else ""
        return (
            f"intact: {checks.counted(self.events, 'event')} and {items} are as they were recorded{again}. This "
            f"finds accidents; it does not stop the holder of the file from cheating{kept}"
        )

    def rows(self) -> list[dict]:
        """Return one row."""
        return [{"records": self.events, "items": self.items}]


class AuditSession:
    """One audit in one file, from the plan to the last label.

    Made by `AuditSession.create` or `AuditSession.open`. A label is in the file, safe from a crash, when `record`
    returns. Several processes of one machine may work on a file at once; several machines by `export` and
    `import_labels`. Every estimate that is looked at is recorded.

    Attributes
    ----------
    path : str
        The file.

    Examples
    --------
    >>> import tempfile
    >>> import workbench as wb
    >>> items = wb.digit_forms().items()
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     audit = wb.AuditSession.create(folder + "/digits.db", items, budget=40, n_strata=2, seed=1)
    ...     for item in audit.next(40):
    ...         _ = audit.record(item.id, int(items.correct[int(item.id) - 1]))
    ...     print(audit.estimate())
    ...     audit.close()
    SessionEstimate(Accuracy 87.5% (95% interval: 72.6% to 96.2%); planned, 40 of 40 planned labels)
    """

    def __init__(self, path: str | PathLike[str]) -> None:
        self._store = Store(path)
        self.path: str = self._store.path
        with contextlib.ExitStack() as opened:
            opened.callback(self._store.close)
            items, events = self._store.items(), self._store.events()
            if not events or events[0].kind != "created":
                raise SessionError(f"{self.path!r} has lost its first event; go back to a copy")
            created = events.pop(0)
            try:
                designs.refuse_senseless(created.body, items)
                self._trail = Trail(self.path, created, items)
            except (ValueError, KeyError, TypeError, AttributeError):
                raise SessionError(
                    f"{self.path!r}: event 1 (created) makes no sense; go back to a copy"
                ) from None
            self._apply(events)
            recorded = [event.body["rows"] for event in (created, *events) if "rows" in event.body]
            if digest_of_rows(self._trail.kept) != recorded[-1]:
                raise SessionError(
                    f"{self.path!r} was changed by another program: its items are not those that were "
                    "recorded; go back to a copy"
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
        n_strata: int | str = 5,
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
            A file that does not exist yet.
        items : ScoredItems
            What may be labeled.
        budget : int
            Labels that are planned: "planned" intervals are shortest there.
        question : {"accuracy", "class_metrics", "difference"}
            Accuracy; precision, recall and F1 of a class; or how much more often the predictions of `items` are right
            than those of a second model, for which only items are labeled on which the two differ.
        other : (N,) array_like, optional
            The second model's predictions, where they are not `items.rival`.
        n_strata : int or "auto"
            Strata by the score, labeled in proportion to their size; for "class_metrics" within each of the two parts.
            "auto": as many, and as many labels in each, as in `accuracy_audit`; for other questions 5.
        stratifier : str
            As in `stratify`.
        trust_scores : bool
            With "auto", as in `accuracy_audit`.
        expected : float, optional
            Accuracy that is expected, for `anytime_interval`; None for no expectation. It makes that interval shorter
            where it is near and never wrong.
        looks : list of int
            Up to 10 numbers of labels at which "looks" may be taken, each as valid as one that was planned.
        second_share : float
            Share of the items that get a second label from somebody else, and one from a third person where these
            differ; 0 or, for the shortest interval of so many labels, 1: all items of a smaller budget. For
            "accuracy" only.
        asks : {"correct", "truth", "which"}
            Whether people see the prediction and say right (1) or wrong (0), or do not see it and say the true class.
            "which": for a "difference" of two models under a judge (items of `judged_items`), whose answer is right.
        columns : dict of (N,) array_like, optional
            What else people see of an item.
        level : float
            Nominal coverage in (0, 1).
        seed : int
            Draws the items; the order follows from it, the identifiers and the scores.
        waves : int
            Waves in which the budget is drawn, of about equal size. The labels so far decide how many each stratum
            gets in the next one (`next_wave`), which is drawn when all of a wave are labeled or skipped and more
            are asked for; `wave_accuracy` is the estimate. For "accuracy" without looks and second labels only; the
            interval is known at the planned end, and "fixed" after each wave. At least 2 labels per stratum and wave;
            where "auto" strata are asked for, 5.
        metrics_of : str or number, optional
            The class for "class_metrics"; 1 where the classes are 0 and 1.
        source : dict of str, optional
            From which columns the items were read, kept for who extends or verifies the audit.
        by : str, optional
            Who made the audit.

        Returns
        -------
        AuditSession

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
        """Open the file of an audit; every event and the items are checked against their hashes.

        Parameters
        ----------
        path : str or path

        Returns
        -------
        AuditSession

        Raises
        ------
        ValueError
            If there is no such file, it is no audit, of another version, damaged, or was changed by hand.
        """
        return cls(path)

    def close(self) -> None:
        """Let go of the file; everything is in it already."""
        self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *details: Any) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"AuditSession({os.path.basename(self.path)}: {self.status().headline()})"

    @property
    def design(self) -> dict:
        """How the audit was planned, a dict of plain values."""
        return dict(self._trail.design)

    @property
    def looks(self) -> list[dict]:
        """Every look at an estimate: time, who, method, number of labels, and what was seen."""
        return [
            {"time": event.time, "who": event.who, **event.body} for event in self._read().looks
        ]

    def next(self, n: int = 1, by: str | None = None) -> list[AuditItem]:
        """Hand out the next items in the order of labeling; for a day nobody else is given them.

        Parameters
        ----------
        n : int
            At most so many.
        by : str, optional
            To whom; needed where some items get second labels.

        Returns
        -------
        list of AuditItem
            Fewer than `n`, or none, where the rest of the budget is done or out with somebody.
        """
        n, who = checks.whole("n", n, 1), self._who(by)
        self._draw_wave(who)
        with self._step() as steps:
            places = list(itertools.islice(self._trail.available(who, session_store.now()), n))
            if places:
                steps.append((who, "handed", {"ids": self._ids(places), "until": _until()}))
        return [self._item(k) for k in places]

    def held(self, by: str | None = None) -> list[AuditItem]:
        """Return the items that are out with somebody now.

        Parameters
        ----------
        by : str, optional
            With whom.
        """
        return [self._item(k) for k in self._read().held(check_who(by), session_store.now())]

    def release(self, ids: Iterable | None = None, by: str | None = None) -> int:
        """Give items back that were handed out, so that others can be given them.

        Parameters
        ----------
        ids : list of str, optional
            All that `by` has, where not given.
        by : str, optional

        Returns
        -------
        int
            How many.
        """
        who = check_who(by)
        with self._step() as steps:
            held = self._trail.held(who, session_store.now())
            places = (
                held
                if ids is None
                else [sheets.item_of(self._trail, each) for each in checks.each("ids", ids)]
            )
            strange = [self._trail.items[k].id for k in places if k not in held]
            if strange:
                raise SessionError(f"item {strange[0]!r} is not out with {who or 'nobody named'}")
            if places:
                steps.append((who, "released", {"ids": self._ids(places)}))
        return len(places)

    def record(self, id: Any, label: Any, by: str | None = None) -> str:
        """Record a label; when this returns, it is in the file for good.

        Parameters
        ----------
        id : str or number
        label : int or str
            1 or 0, right or wrong; or the true class, where the audit asks for it ("other" for one never predicted);
            or "A", "B", "both" or "neither".
        by : str, optional
            Who says so. The same person's other label is a correction, of which the history is kept; somebody else's
            is refused unless the item is to have a second label.

        Returns
        -------
        {"recorded", "corrected", "known"}

        Raises
        ------
        ValueError
            If no such item is to be labeled, the label is none, or somebody else gave another one.
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
        """Record that an item cannot be labeled: intervals then hold whatever its label would be.

        Parameters
        ----------
        id : str or number
        by : str, optional
        """
        who = self._who(by)
        with self._step() as steps:
            k = sheets.item_of(self._trail, id)
            if self._trail.status(k) == LABELED:
                raise SessionError(f"item {self._trail.items[k].id!r} has a label; undo it first")
            if self._trail.status(k) == OPEN:
                steps.append((who, "skipped", {"id": self._trail.items[k].id}))

    def undo(self, by: str | None = None) -> str:
        """Take back what somebody did last, a label or a skip; the history keeps both.

        Parameters
        ----------
        by : str, optional

        Returns
        -------
        str
            The item's identifier.
        """
        who = self._who(by)
        with self._step() as steps:
            last = self._trail.last_step(who)
            if last is None:
                raise SessionError(f"{who or 'nobody named'} has no label or skip to take back")
            steps.append((who, "undone", {"event": last[0]}))
        return self._trail.items[last[1]].id

    def history(self, id: Any) -> list[Entry]:
        """Return every label of an item that was not taken back, corrected ones too.

        Parameters
        ----------
        id : str or number
        """
        trail = self._read()
        return trail.history(sheets.item_of(trail, id))

    def estimate(self, method: str = "planned", by: str | None = None) -> SessionEstimate:
        """Look at the estimate; that it was looked at is recorded first.

        Parameters
        ----------
        method : {"planned", "anytime", "looks", "fixed"}
            "planned": holds at any time, at the price of a width that is a third to three quarters larger before the
            planned end, and there 4 to 5% larger than the fixed interval. "anytime": holds at any time, equally good
            before and after the planned end. "looks": at the numbers of labels that were declared, or, undeclared, at
            every 10 from 30 to 600. "fixed": holds if the number of labels was not chosen by looking. Class metrics and
            differences have "planned" from the planned end on, and declared "looks"; waves "planned" from there on, and
            "fixed".
        by : str, optional

        Returns
        -------
        SessionEstimate
        """
        return self._look(method, (method,), by)[0]

    def overview(self, by: str | None = None) -> tuple[list[SessionEstimate], list[dict]]:
        """Look once at all that a report says.

        Parameters
        ----------
        by : str, optional

        Returns
        -------
        estimates : list of SessionEstimate
            By every method that the question allows, "planned" first.
        rates : list of dict
            For an accuracy a row per stratum, or per wave and stratum, counted from 1: labels that count, and right
            ones.
        """
        design = self._trail.design
        estimates = self._look("report", methods_for(design), by)
        return estimates, rates_of(self._trail) if design["question"] == "accuracy" else []

    def second_labels(self, by: str | None = None) -> SecondLabels:
        """Look at how well second labels agree, and at the accuracy corrected for label errors.

        Parameters
        ----------
        by : str, optional

        Returns
        -------
        SecondLabels
        """
        if self._trail.design["question"] != "accuracy":
            raise ValueError("second labels correct the accuracy; this audit asks another question")
        who = check_who(by)
        with self._step() as steps:
            found = second_labels_of(self._trail)
            steps.append(
                (who, "looked", {"method": "second labels", "labeled": self._trail.beginning()})
            )
        return found

    def _look(self, name: str, methods: Sequence[str], by: str | None) -> list[SessionEstimate]:
        who = check_who(by)
        with self._step() as steps:
            found = estimates_of(self._trail, methods)
            steps.append(
                (
                    who,
                    "looked",
                    {
                        "method": name,
                        "labeled": found[0].labeled,
                        "skipped": found[0].skipped,
                        "intervals": seen(found),
                    },
                )
            )
        return found

    def more_labels(self, half_width: float) -> int:
        """Return how many more labels are expected to make the fixed interval that short.

        Parameters
        ----------
        half_width : float
            In (0, 0.5), .02 for two points.
        """
        return more_labels(self._read(), half_width)

    def status(self) -> SessionStatus:
        """Return how far the audit is, without an estimate."""
        trail = self._read()
        kinds = [trail.status(k) for k in range(trail.budget)]
        labels = [entry for k in range(trail.budget) for entry in trail.labels(k)]
        out = sum(kinds[k] == OPEN for k in trail.pending(session_store.now()))
        wanted = Counter(map(trail.wants_another, range(trail.budget)))
        coming = max(sum(trail.waves) - trail.budget, 0)
        return SessionStatus(
            trail.design["question"],
            trail.budget + coming,
            kinds.count(LABELED),
            kinds.count(SKIPPED),
            out,
            kinds.count(OPEN) - out + coming,
            Counter(entry.who for entry in labels),
            _pace(sorted(entry.time for entry in labels)),
            len(trail.looks),
            wanted[2],
            wanted[DECIDING],
            trail.wave,
            len(trail.waves),
            coming,
        )

    def skipped(self) -> list[str]:
        """Return the identifiers of the skipped items, in the order of labeling."""
        trail = self._read()
        return [trail.items[k].id for k in range(trail.budget) if trail.status(k) == SKIPPED]

    def strata(self) -> list[dict]:
        """Return a row per stratum, counted from 1 or called by the verdicts of a judge: items, in budget, labeled."""
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
        """Write a label sheet, or tasks for an annotation tool, in the order of labeling.

        Parameters
        ----------
        path : str or path
            Ends in .csv or .xlsx; in .json for Label Studio; in .jsonl for doccano and Prodigy. A file that holds
            labels is never overwritten.
        n : int, optional
            Hand out the next so many items in it. Without it a sheet holds the whole budget with all labels so far, a
            tool's file what is still to be labeled, and nothing is handed out.
        by : str, optional
            Whose sheet it is: where items get second labels it shows no label of others.
        to : {"csv", "xlsx", "label-studio", "doccano", "prodigy"}, optional
            What is written; without it a sheet, as the ending of `path` tells.

        Returns
        -------
        int
            Items in the file.
        """
        who, kind = self._who(by), sheets.kind_of_sheet(path, to)
        n = None if n is None else checks.whole("n", n, 1)
        self._draw_wave(who)
        with self._step() as steps:
            trail = self._trail
            places = (
                list(itertools.islice(trail.available(who, session_store.now()), n))
                if n is not None
                else [
                    k
                    for k in range(trail.budget)
                    if kind in sheets.SHEETS or trail.status(k) == OPEN or trail.wants_another(k)
                ]
            )
            if not places:
                raise SessionError(self._nothing_to_export())
            sheets.write_sheet(path, trail, places, kind, who)
            steps.append(
                (who, "exported", {"file": os.path.basename(os.fspath(path)), "items": len(places)})
            )
            if n is not None:
                steps.append((who, "handed", {"ids": self._ids(places), "until": _until()}))
        return len(places)

    def import_labels(
        self, path: str | PathLike[str], by: str | None = None, *, correct: bool = False
    ) -> sheets.SheetImport:
        """Record the labels of a filled sheet, or of an annotation tool's export: all good ones or, if it fails, none.

        Parameters
        ----------
        path : str or path
            A file of rows with the columns id and correct (or truth). Items before the last filled row, in the order of
            labeling, whose cell is empty are recorded as skipped, unless they are out with somebody else. Or what Label
            Studio (JSON, JSON-MIN, CSV), doccano (JSONL, one file for each annotator) or Prodigy (JSONL) exported,
            which its records tell: annotators are who said so, what they passed over is skipped, and what has no label
            stays open. Labels of several people for one item are all kept; where the audit plans no second labels, the
            first counts in its estimates.
        by : str, optional
            Who labeled where the file does not say; who imports.
        correct : bool
            Whether rows may change labels that the same person gave before; the history keeps these.

        Returns
        -------
        SheetImport
            Its `refused` names each row that was not recorded, and why.
        """
        sheet, notes, digest = sheets.read_rows(path, self._trail)
        who = check_who(by)
        if any(row.is_answered and not (row.by or sheet.by) for row in sheet.rows):
            self._who(by)

        def name_of(annotator: str) -> str:
            return check_who(annotator or by or sheet.by or None)

        with self._step() as steps:
            now, trail = session_store.now(), self._trail
            found = sheets.sorted_rows(
                sheet,
                trail,
                name_of,
                functools.partial(self._is_new, correcting=correct, keeps_others=bool(sheet.tool)),
            )
            notes += sheets.several_notes(trail, found.labels)
            changed = sum(
                any(each.who == their for each in trail.labels(k)) for k, their, _ in found.labels
            )
            empty = (
                []
                if sheet.tool
                else sheets.left_out(
                    sheet.rows, trail, found, lambda k: trail.holder(k, now) in (None, who)
                )
            )
            skips = [*found.skips, *((k, who) for k in empty)]
            steps += [
                (their, "labeled", {"id": trail.items[k].id, "label": label})
                for k, their, label in found.labels
            ]
            steps += [(their, "skipped", {"id": trail.items[k].id}) for k, their in skips]
            steps.append(
                (
                    who,
                    "imported",
                    {
                        "file": os.path.basename(os.fspath(path)),
                        "sha256": digest,
                        "recorded": len(found.labels),
                        "refused": len(found.refused),
                        **({"corrected": changed} if correct else {}),
                    },
                )
            )
        notes += sheets.kept_notes(sheet, trail, who) if correct else []
        if sheet.by and who not in ("", sheet.by):
            notes.append(
                Note(
                    "data",
                    f"by its name the file is {sheet.by}'s; its labels count as {who}'s, as was "
                    "said",
                )
            )
        return sheets.SheetImport(
            len(found.labels) - changed,
            found.repeated,
            len(skips),
            tuple(found.refused),
            tuple(found.unlabeled),
            sheet.tool,
            changed,
            tuple(found.changes),
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
        """Add labels to the budget; the order goes on as it would have gone.

        Parameters
        ----------
        n : int
            How many more.
        items : ScoredItems, optional
            The scores again, needed beyond the items that the session keeps; they must be the same.
        columns : dict of (N,) array_like, optional
            With `items`, the shown columns again.
        other : (N,) array_like, optional
            With `items`, the second model's predictions again.
        by : str, optional

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
                    "the budget of an audit in waves is fixed: its labels were allocated for it"
                )
            budget, most = trail.budget + n, sum(trail.design["stratum_size"])
            if budget > most:
                raise SessionError(
                    f"there are {most} items to label; the budget is {trail.budget} already"
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
        """Check the file as a whole: its structure, the chain of events, the items, and the order of labeling.

        Parameters
        ----------
        items : ScoredItems, optional
            The scores again, to compute strata and order from them.
        other : (N,) array_like, optional
            With `items`, the second model's predictions again.

        Returns
        -------
        Verification

        Raises
        ------
        ValueError
            Where something is not as it was recorded; names what.
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
        """The hash of the last event, to keep elsewhere: a file that is rewritten with its chain differs in it."""
        self._read()
        return self._store.last_hash

    def events(self) -> list[Event]:
        """Return everything that happened, from the first event on."""
        with contextlib.closing(Store(self.path)) as store:
            return store.events()

    def _check_waves(self) -> None:
        """Raise where the labels of a wave do not follow from those before it."""
        created, *events = self.events()
        trail = Trail(self.path, created, self._store.items())
        for event in events if trail.waves else ():
            if event.kind == "wave" and event.body["labels"] != wave_labels(trail):
                raise SessionError(
                    f"{self.path!r}: the wave of event {event.number} does not follow from the labels "
                    "before it"
                )
            trail.apply(event)

    def _compare(self, trail: Trail, items: ScoredItems) -> None:
        """Raise where strata or order of the items that are kept do not follow from the scores."""
        frame = designs.frame_of(items, trail.design)
        order = designs.order_of_labeling(frame, trail.design["seed"], len(trail.kept))
        ids = id_texts(frame.items)
        wrong = [
            k
            for k, (place, item) in enumerate(zip(order.tolist(), trail.kept, strict=True))
            if (ids[place], int(frame.strata.labels[place])) != (item.id, item.stratum)
        ]
        if wrong:
            raise SessionError(
                f"{self.path!r}: item {wrong[0] + 1} of the order is {trail.kept[wrong[0]].id!r}, but "
                "does not follow from the scores and the seed"
            )

    def _more_items(self, budget: Any, items: Any, columns: Any, other: Any) -> list:
        design, known = self._trail.design, self._trail.items
        if items is None:
            raise SessionError(
                f"the session keeps {len(known)} items; to label {budget} it needs the scores again"
            )
        items = designs.same_scores(items, design, other)
        frame, shown = designs.frame_of(items, design), designs.shown_of(items, design, columns)
        return designs.stored_rows(frame, items, design, shown, frame.kept(budget))[len(known) :]

    def _nothing_to_export(self) -> str:
        """Say why no item can be handed out, and what writes those that are out."""
        trail, now = self._trail, session_store.now()
        out = dict.fromkeys(trail.holder(k, now) or "nobody named" for k in trail.pending(now))
        if not out:
            return "there is nothing to hand out: the rest of the budget is done"
        return (
            f"there is nothing new to hand out: all that is open is out with {checks.listed(out, 5)}; export "
            "without -n writes it"
        )

    def _is_new(
        self,
        k: Any,
        label: Any,
        who: Any,
        said: Any = (),
        correcting: Any = False,
        keeps_others: bool = False,
    ) -> bool:
        """Return whether a label would add something after those `said`, or raise where it must not be recorded.

        A labeling tool lets several people label an item: what each of them said is kept (`keeps_others`), also where
        the audit plans no second label of it.
        """
        labels = [*self._trail.labels(k), *said]
        mine = next((entry for entry in labels if entry.who == who), None)
        unplanned = keeps_others and self._trail.may_have_another(k, who, labels)
        if mine is None and (not labels or unplanned or self._trail.wants_another(k, said)):
            return True
        if label in [entry.label for entry in labels if mine in (None, entry)]:
            return False
        if mine is not None and correcting:
            return True
        other = mine or labels[0]
        said = f"item {self._trail.items[k].id!r} was labeled {other.label!r} by {other.who or 'nobody named'}"
        if mine is not None:
            raise sheets.ChangedLabelError(
                f"{said}, not {label!r}; record the other label to correct it"
            )
        raise SessionError(f"{said}, not {label!r}; only they can correct it")

    def _draw_wave(self, who: str) -> None:
        """Draw the next wave where all before it is labeled or skipped."""
        if not self._trail.waves:
            return
        with self._step() as steps:
            if self._trail.wave_is_done():
                steps.append((who, "wave", {"labels": wave_labels(self._trail)}))

    def _who(self, by: str | None) -> str:
        who = check_who(by)
        if not who and self._trail.design["second_share"]:
            raise checks.WrongValue(
                "by", "must be a name in this audit: second labels come from somebody else"
            )
        return who

    def _item(self, k: int) -> AuditItem:
        item, design = self._trail.items[k], self._trail.design
        seen = (
            {"prediction": item.prediction}
            if design["asks"] == "correct" and item.prediction is not None
            else {}
        )
        return AuditItem(item.id, k + 1, {**seen, **item.shown})

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
        """Let a step be decided on what is in the file now, and let it be durable when the context ends."""
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
    moments = [datetime.fromisoformat(each).timestamp() for each in times[-PACE_OF - 1 :]]
    gaps = [
        gap
        for gap in (after - before for before, after in itertools.pairwise(moments))
        if gap <= PAUSE
    ]
    return 3600 * len(gaps) / sum(gaps) if sum(gaps) else float("nan")
