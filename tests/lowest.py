"""Print the lowest version that pyproject.toml declares for every dependency, as constraints for pip."""

import re
import tomllib
from pathlib import Path

PYPROJECT = Path(__file__).resolve().parents[1] / "pyproject.toml"
_REQUIREMENT = re.compile(r"([A-Za-z0-9._-]+)(?:\[[^\]]*\])?>=([0-9.]+)(?:,<[0-9.]+)?(?:; .*)?")


def constraints(project):
    """Return lines `name==version` for the dependencies and those of the extras `test` and `voila`."""
    extras = project["optional-dependencies"]
    return list(map(_lowest, [*project["dependencies"], *extras["test"], *extras["voila"]]))


def _lowest(requirement):
    found = _REQUIREMENT.fullmatch(requirement)
    if not found:
        raise ValueError(f"{requirement} has no lowest version")
    return f"{found[1]}=={found[2]}"


if __name__ == "__main__":
    print("\n".join(constraints(tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))["project"])))
