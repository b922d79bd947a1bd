"""The points of each part of a graded exercise, in a table that the lecturer can change."""

from pathlib import Path

from workbench import checks
from workbench.data import safe_csv
from workbench.data.whole_files import StrPath
from workbench.extras.classroom.students import csv_rows
from workbench.extras.classroom.variants import graded
from workbench.lessons.checking import OWN
from workbench.reports.parameters import ReportError, refusing

# exercise -> part -> points, with parts in the order of the answer
Weights = dict[str, dict[str, float]]
WEIGHTS: Weights = {
    "1.1": {"estimate": 0.5, "standard error": 0.5},
    "1.2": {"labels": 1.0},
    "2.1": {"standard error": 1.0},
    "2.4": {"F1": 0.25, "standard error": 0.25, "lower limit": 0.25, "upper limit": 0.25},
    "3.1": {"at random": 0.4, "with strata": 0.4, "ratio": 0.2},
    "3.2": {"labels": 1.0},
    "4.1": {"share": 1.0},
    "4.4": {"change": 0.5, "standard error": 0.5},
    "5.1": {"t": 0.25, "p": 0.25, "t at rho .7": 0.25, "p at rho .7": 0.25},
    "5.3": {"t": 0.4, "p": 0.4, "verdict": 0.2},
}
HEADER = ["part", "points"]


def all_weights() -> Weights:
    """Return the points of each part of all graded exercises."""
    return {number: WEIGHTS.get(number) or _own_points(number) for number in graded()}


def _own_points(number: str) -> dict[str, float]:
    """Return the points of an exercise that the lecturer added, equal for all parts."""
    count = len(OWN[number].answer)
    names = ["answer"] if count == 1 else [f"part {k}" for k in range(1, count + 1)]
    return dict.fromkeys(names, OWN[number].points / count)


def _rows() -> list[tuple[str, float]]:
    """Return the name of each part, with the exercise before it, and its points."""
    return [
        (f"{exercise} {part}", points)
        for exercise, parts in all_weights().items()
        for part, points in parts.items()
    ]


def write_weights(path: StrPath) -> None:
    """Write the points per part as a CSV file, unless it exists."""
    if not Path(path).exists():
        with refusing():
            safe_csv.write_rows(path, HEADER, _rows())


def read_weights(path: str) -> Weights:
    """Return the points per exercise and part from a file; an error names every wrong row."""
    _, *lines = csv_rows(path) or [[]]
    weights = {line[0].strip(): _points("".join(line[1:2])) for line in lines if any(line)}
    names = dict(_rows())
    problems = [
        f"{name!r} must be a number of at least 0" for name in names if weights.get(name, 0) is None
    ]
    problems += [f"there is no part {name!r}" for name in weights if name not in names]
    missing = [name for name in names if name not in weights]
    if missing:
        are_missing = checks.counted(len(missing), "part is missing", "parts are missing")
        problems.append(f"{are_missing}: {checks.listed(missing, len(missing), quoted=True)}")
    if problems:
        raise ReportError(f"{path}: {checks.listed(problems, len(problems))}")
    return {
        exercise: {part: weights[f"{exercise} {part}"] or 0.0 for part in parts}
        for exercise, parts in all_weights().items()
    }


def _points(text: str) -> float | None:
    """Return the number in a cell, None if it is not a number of at least 0."""
    try:
        points = float(text.replace(",", "."))
    except ValueError:
        return None
    return points if 0 <= points < float("inf") else None
