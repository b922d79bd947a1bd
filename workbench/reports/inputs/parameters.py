"""The base of the parameters of a report."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Parameters:
    """Parameters of a report; a subclass for each topic has them as fields."""

    def only(self, *names: str) -> dict[str, Any]:
        """Return some of the parameters by name."""
        return {name: getattr(self, name) for name in names}

    @classmethod
    def values(cls, namespace: Mapping[str, Any]) -> dict[str, Any]:
        """Return the parameters by name that the cells of a notebook have set."""
        return {field.name: namespace[field.name] for field in fields(cls)}
