"""Imports of other libraries that take a second for something nobody asks for."""

import contextlib
import importlib
import sys
from collections.abc import Iterator
from importlib import util
from types import ModuleType

GRAMMARS = "rfc3987_syntax"


@contextlib.contextmanager
def without_grammars() -> Iterator[None]:
    """Import altair or nbformat, and the grammars of international web addresses only once somebody checks one.

    jsonschema, which both import, loads them where they are installed; that takes a second.
    """
    if GRAMMARS in sys.modules or not util.find_spec(GRAMMARS):
        yield
        return
    stand_in = ModuleType(GRAMMARS)
    stand_in.is_valid_syntax = _valid_address  # type: ignore[attr-defined]
    sys.modules[GRAMMARS] = stand_in
    try:
        yield
    finally:
        del sys.modules[GRAMMARS]


def _valid_address(rule: str, text: str) -> bool:
    return importlib.import_module(GRAMMARS).is_valid_syntax(rule, text)
