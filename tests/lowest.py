"""Print the lowest version that pyproject.toml declares for every dependency, as constraints for pip."""
import re
import tomllib
from pathlib import Path

PYPROJECT = Path(__file__).resolve().parents[1] / "pyproject.toml"
_REQUIREMENT = re.compile(r"([A-Za-z0-9._-]+)(?:\[[^\]]*\])?>=([0-9.]+)(?:,<[0-9.]+)?")


def constraints(project):
    """Return lines `name==version` for the dependencies and those of the extra `test`."""
    requirements = [*project["dependencies"], *project["optional-dependencies"]["test"]]
    return ["{}=={}".format(*_REQUIREMENT.fullmatch(requirement).groups()) for requirement in requirements]


if __name__ == "__main__":
    with PYPROJECT.open("rb") as file:
        print("\n".join(constraints(tomllib.load(file)["project"])))
