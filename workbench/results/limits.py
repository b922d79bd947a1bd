"""Warnings about the limits of a page, which a command prints before it starts the work."""

import contextlib
import warnings
from collections.abc import Iterator
from contextvars import ContextVar

_PRINTED: ContextVar[bool] = ContextVar("printed", default=False)


class LimitReached(UserWarning):
    """A warning that a page will leave something out or assume something."""


@contextlib.contextmanager
def printed_limits() -> Iterator[None]:
    """Warn of limits while the context lasts, for a command that checks its files."""
    before = _PRINTED.set(True)
    try:
        yield
    finally:
        _PRINTED.reset(before)


def warn_of_limit(message: str) -> None:
    """Warn of a limit in a command; elsewhere the tables and charts name it."""
    if _PRINTED.get():
        warnings.warn(message, LimitReached, stacklevel=2)
