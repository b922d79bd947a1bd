"""The base of the parameters of a report."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Parameters:
    """Base class of the parameters of a report, which are the fields of a subclass per topic."""

    def only(self, *names: str) -> dict[str, Any]:
        """Return some of the parameters by name."""
        return {name: getattr(self, name) for name in names}

    def changed(self, *names: str) -> list[str]:
        """Return which of some parameters differ from their defaults."""
        return [name for name in names if getattr(self, name) != getattr(type(self), name)]

    @classmethod
    def values(cls, namespace: Mapping[str, Any]) -> dict[str, Any]:
        """Return the parameters by name from the variables of a notebook."""
        return {field.name: namespace[field.name] for field in fields(cls)}
