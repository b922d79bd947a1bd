"""Charts of results: one file per topic, each function takes a result and returns an altair chart."""
from __future__ import annotations

import importlib
import sys
from importlib import util
from types import ModuleType

GRAMMARS = "rfc3987_syntax"


def _valid_address(rule: str, text: str) -> bool:
    return importlib.import_module(GRAMMARS).is_valid_syntax(rule, text)


def _import_altair() -> None:
    """Import altair, and the grammars of international web addresses only once somebody checks one.

    jsonschema, which altair imports, loads them where they are installed; that takes a second.
    """
    if GRAMMARS in sys.modules or not util.find_spec(GRAMMARS):
        return
    stand_in = ModuleType(GRAMMARS)
    stand_in.is_valid_syntax = _valid_address      # type: ignore[attr-defined]
    sys.modules[GRAMMARS] = stand_in
    try:
        importlib.import_module("altair")
    finally:
        del sys.modules[GRAMMARS]


_import_altair()
