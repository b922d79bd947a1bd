"""The constraints of `make lowest`."""

import tomllib

import pytest
from lowest import PYPROJECT, constraints


def test_every_dependency_has_a_lowest_version():
    project = tomllib.loads(PYPROJECT.read_text())["project"]
    lines = constraints(project)
    extras = project["optional-dependencies"]
    expected = [*project["dependencies"], *extras["test"], *extras["voila"]]
    assert len(lines) == len(expected)
    assert {"numpy==2.2", "duckdb==2", "dask==2025.1", "pytest==8"} <= set(lines)


def test_a_dependency_without_a_lowest_version_is_refused():
    with pytest.raises(ValueError, match="numpy<3 has no lowest version"):
        constraints(
            {"dependencies": ["numpy<3"], "optional-dependencies": {"test": [], "voila": []}}
        )
