"""Faster imports of libraries that would load large modules which the workbench never uses."""

import contextlib
import importlib
import sys
from collections.abc import Iterator
from importlib import util
from types import ModuleType

GRAMMARS = "rfc3987_syntax"


@contextlib.contextmanager
def without_grammars() -> Iterator[None]:
    """Import altair or nbformat inside the block without the grammars of web addresses.

    Both import jsonschema, which loads these grammars if they are installed. This takes a second.
    With this function the time is spent only when an address is checked.
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


def optional_module(name: str, extra: str, purpose: str) -> ModuleType:
    """Return a module that is not always installed, or raise an error that tells how to install it.

    Parameters
    ----------
    name : str
        Name of the module.
    extra : str
        Extra of this package that installs the module.
    purpose : str
        The purpose of the module, such as "reading 'scores.xlsx'".

    Raises
    ------
    ValueError
        If the module is not installed.
    """
    try:
        return importlib.import_module(name)
    except ImportError:
        raise ValueError(
            f"{purpose} needs {name}: pip install 'evaluation-workbench[{extra}]'"
        ) from None
