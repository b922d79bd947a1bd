"""The file of an audit session: an SQLite database to which events are only added.

The table `items` has the items that may be labeled, in the order of labeling. The table `events`
has all events, each with its time, the person, and a hash of the event and of the previous hash.
The first event holds the design. The hashes detect accidental changes. Somebody with access to the
file could compute them again.
"""

import contextlib
import hashlib
import json
import os
import sqlite3
import urllib.parse
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from os import PathLike
from typing import Any

from workbench import checks
from workbench.data.whole_files import NotWrittenError, whole_file

APPLICATION = 0x57424153  # identifies the file as an audit session
OLDEST, FORMAT = 1, 2  # 2: audits in waves
UNNAMED = "an unnamed annotator"
PATIENCE = 30.0  # seconds that a process waits while another one writes
_HEADER = b"SQLite format 3\0"
_SCHEMA = (
    """CREATE TABLE items (position INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE,
                    stratum INTEGER NOT NULL, prediction TEXT, rival TEXT, shown TEXT NOT NULL)""",
    """CREATE TABLE events (number INTEGER PRIMARY KEY, time TEXT NOT NULL, who TEXT NOT NULL,
                     kind TEXT NOT NULL, body TEXT NOT NULL, hash TEXT NOT NULL)""",
)
_REASONS = {
    sqlite3.SQLITE_FULL: "the disk is full; this step was not recorded, earlier labels are safe",
    sqlite3.SQLITE_IOERR: "the disk cannot be written (full or removed?); this step was not "
    "recorded, earlier labels are safe",
    sqlite3.SQLITE_READONLY: "the file or its folder may not be written; nothing was recorded",
    sqlite3.SQLITE_PERM: "the file or its folder may not be written; nothing was recorded",
    sqlite3.SQLITE_CANTOPEN: "the file or its folder may not be written; nothing was recorded",
    sqlite3.SQLITE_BUSY: "another process has been writing to it for half a minute; try again",
    sqlite3.SQLITE_NOTADB: "it is not an audit session",
    sqlite3.SQLITE_CORRUPT: "it is damaged; restore a copy of the file",
}


class SessionError(ValueError):
    """The file of an audit session cannot be used, or a step does not fit its state."""


@dataclass(frozen=True)
class StoredItem:
    """An item that may be labeled; `shown` holds the columns that annotators see."""

    id: str
    stratum: int
    prediction: str | None
    rival: str | None
    shown: dict


@dataclass(frozen=True)
class Event:
    """One event of the audit."""

    number: int
    time: str
    who: str
    kind: str
    body: dict


def now() -> datetime:
    """Return the current time."""
    return datetime.now(UTC)


def canonical(value: Any) -> str:
    """Return a value as JSON text in the form that is hashed."""
    return json.dumps(
        value, ensure_ascii=False, separators=(",", ":"), sort_keys=True, allow_nan=False
    )


def digest_of_rows(items: Iterable[StoredItem]) -> str:
    """Return the SHA-256 of items in this order."""
    digest = hashlib.sha256()
    for item in items:
        digest.update(
            canonical([item.id, item.stratum, item.prediction, item.rival, item.shown]).encode()
            + b"\n"
        )
    return digest.hexdigest()


def create_store(
    path: str | PathLike[str], design: dict, items: Sequence[StoredItem], who: str = ""
) -> None:
    """Write the file of a new session completely or not at all; never change an existing file."""
    path = os.path.expanduser(os.fspath(path))
    if os.path.exists(path):
        raise SessionError(f"{path!r} already exists; choose another name for the new audit")
    try:
        with (
            whole_file(path, new=True) as part,
            _told(path),
            contextlib.closing(sqlite3.connect(part, isolation_level=None)) as connection,
            connection,
        ):
            _set_up(connection)
            connection.execute("BEGIN IMMEDIATE")
            for statement in _SCHEMA:
                connection.execute(statement)
            connection.execute(f"PRAGMA application_id = {APPLICATION}")
            connection.execute(f"PRAGMA user_version = {FORMAT}")
            _insert_items(connection, 1, items)
            _insert_events(connection, "", 0, [(who, "created", design)])
    except NotWrittenError as error:
        raise SessionError(str(error)) from error


class Store:
    """An open session file; `events()` returns the new events since the last call."""

    def __init__(self, path: str | PathLike[str]) -> None:
        self.path: Any = os.path.expanduser(os.fspath(path))
        _check_file(self.path)
        uri = f"file:{urllib.parse.quote(os.path.abspath(self.path))}?mode=rw"
        with contextlib.ExitStack() as opened, _told(self.path):
            self._connection = sqlite3.connect(
                uri, uri=True, isolation_level=None, timeout=PATIENCE
            )
            opened.callback(self._connection.close)
            self._check_format()
            self.check()
            _set_up(self._connection)
            opened.pop_all()
        self._last, self._hash = 0, ""

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def items(self) -> list[StoredItem]:
        """Return all items in the order of labeling."""
        with _told(self.path):
            rows = self._connection.execute(
                "SELECT id, stratum, prediction, rival, shown FROM items ORDER BY position"
            )
            return [self._item(k, *row) for k, row in enumerate(rows, 1)]

    def events(self) -> list[Event]:
        """Return the events since the last call; raise an error if one was changed."""
        with _told(self.path):
            rows = self._connection.execute(
                "SELECT number, time, who, kind, body, hash FROM events WHERE number > ? "
                "ORDER BY number",
                (self._last,),
            ).fetchall()
        events, last, chain = [], self._last, self._hash
        for number, time, who, kind, body, stored in rows:
            if not all(isinstance(text, str) for text in (time, who, kind, body)) or not _is_time(
                time
            ):
                raise self._changed(f"event {last + 1} is different from the recorded one")
            chain = _chained(chain, number, time, who, kind, body)
            if number != last + 1 or stored != chain:
                raise self._changed(f"event {last + 1} is different from the recorded one")
            last = number
            events.append(Event(number, time, who, kind, self._json(body, f"event {number}")))
        self._last, self._hash = last, chain
        return events

    @property
    def last_hash(self) -> str:
        """Return the hash of the last event, which depends on all events before it."""
        return self._hash

    @contextlib.contextmanager
    def writing(self) -> Iterator[None]:
        """Lock the file for a step; its events are safely written when the block ends."""
        with _told(self.path), self._connection:
            self._connection.execute("BEGIN IMMEDIATE")
            yield

    def add(self, steps: Iterable[tuple[str, str, dict]]) -> None:
        """Append events, inside of `writing`, after all events of the file were read."""
        _insert_events(self._connection, self._hash, self._last, steps)

    def add_items(self, first: int, items: Sequence[StoredItem]) -> None:
        """Append items, inside of `writing`."""
        _insert_items(self._connection, first, items)

    def check(self) -> None:
        """Raise an error if SQLite finds damage in the file."""
        with _told(self.path):
            result = self._connection.execute("PRAGMA integrity_check").fetchone()[0]
        if result != "ok":
            raise SessionError(f"{self.path!r} is damaged ({result}); restore a copy of the file")

    def _check_format(self) -> None:
        application, version = (
            self._connection.execute(f"PRAGMA {name}").fetchone()[0]
            for name in ("application_id", "user_version")
        )
        if application != APPLICATION:
            raise SessionError(f"{self.path!r} is not an audit session")
        if not OLDEST <= version <= FORMAT:
            raise SessionError(
                f"{self.path!r} was written by a newer version of the workbench (format {version}; "
                f"this version reads {OLDEST} to {FORMAT}); update the workbench. The file was not "
                "changed"
            )

    def _item(
        self, k: int, name: Any, stratum: Any, prediction: Any, rival: Any, columns: Any
    ) -> StoredItem:
        texts = all(text is None or isinstance(text, str) for text in (prediction, rival))
        if not isinstance(name, str) or not isinstance(stratum, int) or not texts:
            raise self._changed(f"item {k} is different from the recorded one")
        return StoredItem(name, stratum, prediction, rival, self._json(columns, f"item {name!r}"))

    def _json(self, text: Any, what: str) -> dict:
        """Return the JSON object in a text, which must be in the form that this program writes."""
        with contextlib.suppress(ValueError, TypeError, RecursionError):
            value = json.loads(text)
            if isinstance(value, dict) and canonical(value) == text:
                return value
        raise self._changed(f"{what} cannot be read")

    def _changed(self, what: str) -> SessionError:
        return SessionError(
            f"{self.path!r} was changed by another program: {what}; restore a copy of the file"
        )


def _is_time(text: str) -> bool:
    try:
        return datetime.fromisoformat(text).tzinfo is not None
    except ValueError:
        return False


def _check_file(path: str) -> None:
    if not os.path.isfile(path):
        raise SessionError(f"there is no audit {path!r}")
    try:
        with open(path, "rb") as file:
            start = file.read(len(_HEADER))
    except OSError as error:
        raise SessionError(f"cannot read {path!r}: {error.strerror}") from error
    if start != _HEADER:
        raise SessionError(f"{path!r} is not an audit session")


def _set_up(connection: Any) -> None:
    # a label is confirmed only when it would survive a power failure
    for setting in (
        "journal_mode = DELETE",
        "synchronous = FULL",
        "fullfsync = 1",
        "trusted_schema = 0",
    ):
        connection.execute(f"PRAGMA {setting}")


@contextlib.contextmanager
def _told(path: Any) -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        raise SessionError(f"{path!r}: {_REASONS.get(code, str(error))}") from error


def _insert_items(connection: Any, first: Any, items: Any) -> None:
    connection.executemany(
        "INSERT INTO items VALUES (?, ?, ?, ?, ?, ?)",
        (
            (position, item.id, item.stratum, item.prediction, item.rival, canonical(item.shown))
            for position, item in enumerate(items, first)
        ),
    )


def _insert_events(connection: Any, chain: Any, last: Any, steps: Any) -> None:
    time, rows = now().isoformat(timespec="milliseconds"), []
    for number, (who, kind, body) in enumerate(steps, last + 1):
        text = canonical(body)
        chain = _chained(chain, number, time, who, kind, text)
        rows.append((number, time, who, kind, text, chain))
    connection.executemany("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?)", rows)


def _chained(before: str, number: int, time: str, who: str, kind: str, body: str) -> str:
    return hashlib.sha256(canonical([before, number, time, who, kind, body]).encode()).hexdigest()


def check_who(by: Any) -> str:
    """Return a person's name, "" for None, or raise an error."""
    if by is None:
        return ""
    if not isinstance(by, str) or not by.strip() or len(by) > 200 or not by.isprintable():
        raise checks.WrongValue(
            "by", f"must be a name of 1 to 200 printable characters; got {by!r}"
        )
    return by.strip()
