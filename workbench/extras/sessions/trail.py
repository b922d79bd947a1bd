"""The state of an audit session that follows from its events.

`Trail` holds the current labels, the assigned items, and the progress in the order of labeling.
"""

import itertools
from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np

from workbench.extras.sessions.design import doubled, is_count, is_number
from workbench.extras.sessions.store import Event, SessionError, StoredItem
from workbench.labeling.answers import answer_reader
from workbench.stratified.sequential import labeling_order

OPEN, SKIPPED, LABELED = "open", "skipped", "labeled"
DECIDING = 3  # number of the label that decides between two different ones


@dataclass(frozen=True)
class Entry:
    """A label of an item, or None if it was skipped, with the annotator and the time."""

    number: int
    time: str
    who: str
    label: Any


class Trail:
    """The state of a session; `apply` updates it by an event."""

    def __init__(self, path: str, created: Event, items: Sequence[StoredItem]) -> None:
        self.design: dict = created.body
        self.started = created.time
        self.kept: list[StoredItem] = []
        self.items = self.kept  # in the order of labeling; a wave changes the order
        self.add_items(items)
        self.waves: list[int] = self.design.get("waves", [])
        self.wave = min(len(self.waves), 1)
        self.budget: int = self.waves[0] if self.waves else self.design["budget"]
        self.looks: list[Event] = []
        self._path = path
        self._reads = answer_reader(
            self.design["asks"], self.design["classes"] and np.array(self.design["classes"])
        )
        self._entries: dict[int, list[Entry]] = {}
        self._handed: dict[int, tuple[str, datetime]] = {}
        self._steps: dict[
            str, list[tuple[int, int]]
        ] = {}  # who: (event, item) that can be undone, in order

    def add_items(self, items: Sequence[StoredItem]) -> None:
        """Add further items in the order of labeling."""
        self.kept += items
        self._number()
        self.doubled = doubled(
            [item.id for item in self.items], self.design["seed"], self.design["second_share"]
        )

    def _number(self) -> None:
        self.place = {item.id: k for k, item in enumerate(self.items)}

    def apply(self, event: Event) -> None:
        """Update the state by one event."""
        try:
            _APPLY[event.kind](self, event)
        except (KeyError, IndexError, TypeError, ValueError, AttributeError, OverflowError):
            raise SessionError(
                f"{self._path!r}: event {event.number} ({event.kind}) is not valid; restore a copy "
                "of the file"
            ) from None

    def labels(self, k: int) -> list[Entry]:
        """Return the current labels of an item: the last of each annotator, in order of time."""
        return list(
            {
                entry.who: entry for entry in self._entries.get(k, ()) if entry.label is not None
            }.values()
        )

    def history(self, k: int) -> list[Entry]:
        """Return all labels of an item that were not undone, including corrected ones."""
        return list(self._entries.get(k, ()))

    def status(self, k: int) -> str:
        """Return whether an item is open, skipped or labeled."""
        return LABELED if self.labels(k) else SKIPPED if self._entries.get(k) else OPEN

    def wants_another(self, k: int, more: Sequence[Entry] = ()) -> int:
        """Return which label an item waits for: 2 a second one, 3 a deciding one, or 0 none.

        `more` are labels in addition to those of the item.
        """
        labels = [entry.label for entry in (*self.labels(k), *more)] if self.doubled[k] else []
        return (
            len(labels) + 1
            if len(labels) == 1 or (len(labels) == 2 and labels[0] != labels[1])
            else 0
        )

    def may_have_another(self, k: int, who: str, labels: Sequence[Entry]) -> bool:
        """Return whether an unplanned label of another annotator can be kept; all need names."""
        return bool(who) and all(entry.who for entry in labels) and not self.doubled[k]

    def holder(self, k: int, now: datetime) -> str | None:
        """Return the annotator to whom an item is assigned now, or None."""
        who, until = self._handed.get(k, ("", None))
        return who if until is not None and now < until else None

    def held(self, who: str, now: datetime) -> list[int]:
        """Return the items that are assigned to an annotator now, in the order of labeling."""
        return [k for k in sorted(self._handed) if self.holder(k, now) == who]

    def pending(self, now: datetime) -> list[int]:
        """Return all items that are assigned now."""
        return [k for k in sorted(self._handed) if self.holder(k, now) is not None]

    def available(self, who: str, now: datetime) -> Iterator[int]:
        """Yield the next items for an annotator; those that wait for a deciding label are first."""
        disputed = [
            k for k in range(self.budget) if self.doubled[k] and self.wants_another(k) == DECIDING
        ]
        for k in dict.fromkeys([*disputed, *range(self.budget)]):
            if self.holder(k, now) is None and (
                self.status(k) == OPEN
                or (self.wants_another(k) and all(entry.who != who for entry in self.labels(k)))
            ):
                yield k

    def beginning(self) -> int:
        """Return the number of first items that are all labeled or skipped."""
        return next((k for k in range(self.budget) if not self._entries.get(k)), self.budget)

    def countable(self) -> int:
        """Return the number of first items that count; with waves, those of whole waves."""
        done = self.beginning()
        return (
            max(end for end in (0, *itertools.accumulate(self.waves)) if end <= done)
            if self.waves
            else done
        )

    def wave_is_done(self) -> bool:
        """Return whether there is a next wave, and all items before it are labeled or skipped."""
        return self.wave < len(self.waves) and self.beginning() == self.budget

    def last_step(self, who: str) -> tuple[int, int] | None:
        """Return event and item of the last step of an annotator that was not undone."""
        return next(reversed(self._steps.get(who, [])), None)

    def _give(self, event: Event) -> None:
        until = datetime.fromisoformat(event.body["until"])
        _must(until.tzinfo is not None and isinstance(event.body["ids"], list))
        for name in event.body["ids"]:
            self._handed[self.place[name]] = event.who, until

    def _release(self, event: Event) -> None:
        for name in event.body["ids"]:
            self._handed.pop(self.place[name], None)

    def _say(self, event: Event) -> None:
        k = self.place[event.body["id"]]
        label = event.body["label"] if event.kind == "labeled" else None
        _must(k < self.budget and (event.kind == "skipped" or self._is_label(label)))
        self._entries.setdefault(k, []).append(Entry(event.number, event.time, event.who, label))
        self._steps.setdefault(event.who, []).append((event.number, k))
        if self._handed.get(k, ("",))[0] == event.who or not self.wants_another(k):
            self._handed.pop(k, None)

    def _is_label(self, label: Any) -> bool:
        if self.design["asks"] == "correct":
            return type(label) is int and label in (0, 1)
        return isinstance(label, str) and self._reads(label) == label

    def _take_back(self, event: Event) -> None:
        number, k = self._steps[event.who].pop()
        _must(number == event.body["event"])
        self._entries[k] = [entry for entry in self._entries[k] if entry.number != number]

    def _look(self, event: Event) -> None:
        _must(
            isinstance(event.body["method"], str)
            and is_count(event.body["labeled"], most=self.budget)
        )
        for limits in event.body.get("intervals", {}).values():
            _must(
                limits is None
                or len(limits) == 2
                and all(map(is_number, limits))
                and limits[0] <= limits[1]
            )
        self.looks.append(event)

    def _draw(self, event: Event) -> None:
        """Add a wave: the next items of each stratum, with strata taking turns."""
        labels = event.body["labels"]
        _must(
            self.wave_is_done()
            and all(map(is_count, labels))
            and sum(labels) == self.waves[self.wave]
        )
        behind: defaultdict = defaultdict(deque)
        for item in self.items[self.budget :]:
            behind[item.stratum].append(item)
        drawn = [behind[h].popleft() for h in labeling_order(labels, sum(labels)).tolist()]
        self.items = [*self.items[: self.budget], *drawn, *itertools.chain(*behind.values())]
        self._number()
        self.wave, self.budget = self.wave + 1, self.budget + len(drawn)

    def _extend(self, event: Event) -> None:
        budget = event.body["budget"]
        _must(
            not self.waves and is_count(budget, self.budget + 1, sum(self.design["stratum_size"]))
        )
        self.budget = budget


def _must(makes_sense: bool) -> None:
    if not makes_sense:
        raise ValueError


_APPLY: dict = {
    "handed": Trail._give,
    "released": Trail._release,
    "labeled": Trail._say,
    "skipped": Trail._say,
    "undone": Trail._take_back,
    "looked": Trail._look,
    "extended": Trail._extend,
    "wave": Trail._draw,
    **dict.fromkeys(("imported", "exported"), lambda trail, event: None),
}
