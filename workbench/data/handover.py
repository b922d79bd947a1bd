"""What a command has read of files: opened and read once, and handed to the process that it starts."""

import contextlib
import hashlib
import os
import pickle
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from typing import Any

HANDED = (
    "WORKBENCH_HANDED"  # of the environment: the folder where a process finds what was read for it
)
_FOLDER, _OPENED, _HANDING = "folder", "opened", "handing"
_PLAIN = (str, int, float, bool, type(None), type)
_KEPT: ContextVar[dict | None] = ContextVar("kept", default=None)


@contextlib.contextmanager
def reading(folder: str) -> Iterator[None]:
    """Keep what is opened and read of files while the context lasts, and write what is read to a private folder."""
    with contextlib.ExitStack() as opened:
        token = _KEPT.set({_FOLDER: folder, _OPENED: opened})
        opened.callback(_KEPT.reset, token)
        yield
    _remove_empty(folder)


def once(make: Callable[[], Any], *key: str) -> Any:
    """Return what `make` makes; within `reading` it is made only once."""
    kept = _KEPT.get()
    if kept is None:
        return make()
    if key not in kept:
        kept[key] = make()
    return kept[key]


@contextlib.contextmanager
def opened_once(make: Callable[[], contextlib.AbstractContextManager], *key: str) -> Iterator[Any]:
    """Yield what the context manager of `make` opens; within `reading` it is opened once and closed at the end."""
    kept = _KEPT.get()
    if kept is None:
        with make() as opened:
            yield opened
    else:
        yield once(lambda: kept[_OPENED].enter_context(make()), *key)


def handed(
    function: Callable,
    file: str,
    source: str,
    arguments: Mapping[str, Any],
    make: Callable[[], Any],
) -> Any:
    """Return what a function has read of a source, be it in the process that started this one.

    Of functions that call each other the outermost hands its result on.
    """
    place = _place(function, file, source, arguments)
    if place and os.path.exists(place):
        with open(place, "rb") as file_read:
            result = pickle.load(file_read)
        if (
            _KEPT.get() is None
        ):  # it stays with nobody, even if this process and its parent are killed
            os.unlink(place)
            _remove_empty(os.path.dirname(place))
        return result
    kept = _KEPT.get()
    outermost = kept is not None and kept.setdefault(_HANDING, function) is function
    try:
        result = make()
    finally:
        if kept is not None and outermost:
            del kept[_HANDING]
    if place and outermost:
        with open(place, "wb") as out:
            pickler = pickle.Pickler(out, pickle.HIGHEST_PROTOCOL)
            pickler.fast = (
                True  # a result holds no circle, and a million identifiers need not be remembered
            )
            pickler.dump(result)
    return result


class LimitReached(UserWarning):
    """What a page will leave out, told before the work starts."""


def tell_first(message: str) -> None:
    """Warn of a limit where a command reads its files; where the work is done, tables and pictures say it."""
    if _KEPT.get() is not None:
        warnings.warn(message, LimitReached, stacklevel=2)


def _remove_empty(folder: str) -> None:
    with contextlib.suppress(OSError):
        os.rmdir(folder)


def _place(function: Callable, file: str, source: str, arguments: Mapping[str, Any]) -> str | None:
    """Return where the result of these arguments and this state of the file stands, None where it is not handed on."""
    kept = _KEPT.get()
    folder = kept[_FOLDER] if kept is not None else os.environ.get(HANDED)
    if not folder or not _is_private(folder) or not all(map(_is_plain, arguments.values())):
        return None
    try:
        state = os.stat(file)
    except (OSError, ValueError):  # told by who reads it
        return None
    told = (
        function.__module__,
        function.__qualname__,
        os.path.abspath(source),
        state.st_dev,
        state.st_ino,
        state.st_size,
        state.st_mtime_ns,
        sorted(arguments.items()),
    )
    return os.path.join(
        folder, hashlib.sha256(repr(told).encode("utf-8", "surrogateescape")).hexdigest()
    )


def _is_plain(value: Any) -> bool:
    """Return whether a value's `repr` says all of it."""
    return (
        isinstance(value, _PLAIN) or isinstance(value, (list, tuple)) and all(map(_is_plain, value))
    )


def _is_private(folder: str) -> bool:
    """Return whether a folder is this user's and nobody else may write there."""
    if not os.path.isdir(folder):
        return False
    state = os.stat(folder)
    return os.name == "nt" or state.st_uid == os.getuid() and not state.st_mode & 0o077
