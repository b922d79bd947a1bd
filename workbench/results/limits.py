"""Limits of a page that a command prints before it starts the work."""

import contextlib
import warnings
from collections.abc import Iterator
from contextvars import ContextVar

_PRINTED: ContextVar[bool] = ContextVar("printed", default=False)


class LimitReached(UserWarning):
    """What a page will leave out or assume."""


@contextlib.contextmanager
def printed_limits() -> Iterator[None]:
    """Warn of limits while the context lasts: a command reads its files to check them."""
    before = _PRINTED.set(True)
    try:
        yield
    finally:
        _PRINTED.reset(before)


def warn_of_limit(message: str) -> None:
    """Warn of a limit in a command; elsewhere tables and pictures name it."""
    if _PRINTED.get():
        warnings.warn(message, LimitReached, stacklevel=2)
