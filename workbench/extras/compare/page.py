"""The HTML page of a comparison of models, and its results as JSON and tables."""

import contextlib
import platform
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.checks import counted
from workbench.reports import templates
from workbench.reports.build import input_file, package_version, write_targets
from workbench.reports.records import Record
from workbench.results import Result, Table, percent
from workbench.results.digits import short_p

if TYPE_CHECKING:
    from markupsafe import Markup

    from workbench.extras.compare.comparison import ItemComparison
    from workbench.extras.compare.gates import Gate
    from workbench.reports.build import Targets

TITLE, TITLE_OF_ONE = "Which of these models is better?", "How good is this model?"
SHOWN_PAIRS = 66


def write_comparison(
    found: "ItemComparison",
    targets: "Targets",
    *,
    files: Sequence[str],
    settings: Mapping[str, Any],
    command: str,
    gate: "Gate | None" = None,
    slices: Table | None = None,
    reading: Sequence[dict] = (),
) -> list[Path]:
    """Write the page of a comparison, and its results as JSON and tables if requested.

    Parameters
    ----------
    found : ItemComparison
    targets : Targets
    files : list of str
        Files that were read.
    settings : dict
        Options of the command by name.
    command : str
    gate : Gate, optional
    slices : Table, optional
    reading : list of dict
        Items worth reading.

    Returns
    -------
    list of Path
        Files that were written.
    """
    now, inputs = datetime.now(UTC), [input_file("file", Path(file), rows=False) for file in files]
    tables = {
        "ranks": Table(tuple(found.ranks()), "Ranks"),
        "conditions": Table(tuple(found.conditions()), "Conditions of this comparison"),
        **({"slices": slices} if slices else {}),
        **(
            {"reading": Table(tuple(reading), "Items on which the best model scores lower")}
            if reading
            else {}
        ),
    }
    records = [
        _record("comparison", "Pairs", found),
        *([_record("gate", "Gate", gate)] if gate else []),
        *(_record(name, table.caption, table) for name, table in tables.items()),
    ]
    values: dict[str, Any] = {name: [*map(_readable, each.rows())] for name, each in tables.items()}
    title = TITLE if len(found.names) > 1 else TITLE_OF_ONE
    page = templates.render(
        "comparison.html.j2",
        title=title,
        date=now,
        found=found,
        basis=found.basis(),
        gate=gate,
        pairs=[*map(_readable, found.rows())],
        picture=_picture(found),
        **{"slices": [], "reading": []} | values,
        slice_notes=slices.notes if slices else (),
        shows=_shows(found),
        shown=SHOWN_PAIRS,
        level=percent(found.level),
        inputs=inputs,
        command=command,
        settings=[
            {"setting": name, "value": value}
            for name, value in settings.items()
            if value not in ("", None)
        ],
    )
    about = {
        "topic": "compare",
        "title": title,
        "time": now.isoformat(timespec="seconds"),
        "messages": [],
        "versions": {"workbench": package_version(), "python": platform.python_version()},
        "inputs": inputs,
        "parameters": dict(settings),
    }
    with contextlib.ExitStack() as undo:
        return write_targets(targets, page, records, undo, about)


def _record(name: str, section: str, result: Result) -> Record:
    return Record(
        name,
        section,
        Table(tuple(result.rows()), result.headline(), notes=result.notes),
        result.to_dict(),
    )


def _readable(row: dict) -> dict:
    """Return a row as the page shows it.

    The verdict of a pair comes before its numbers, and its p-value is short. Scores of an item are
    unchanged.
    """
    if "item" in row:
        return {
            name: f"{cell:g}" if isinstance(cell, float) else cell for name, cell in row.items()
        }
    if "pvalue" not in row:
        return row
    names = [name for name in row if name not in ("verdict", "pvalue")]
    names.insert(names.index("second") + 1, "verdict")
    return {name: row[name] for name in names} | {
        "adjusted_pvalue": short_p(row["adjusted_pvalue"])
    }


def _picture(found: "ItemComparison") -> "Markup":
    from workbench.extras.compare.charts import ranks
    from workbench.widgets.chart_view import image

    drawn = image(ranks(found))
    data, metadata = drawn._repr_mimebundle_()
    return templates.picture(
        "image/png", data["image/png"], drawn.alternative, metadata["image/png"]
    )


def _shows(found: "ItemComparison") -> str:
    """Return a sentence on the difference that as many items show, "" for one model."""
    if len(found.names) == 1:
        return ""
    difference = found.detectable()
    said = found.units(difference, error=difference / 10)
    return (
        f"With {counted(found.size, 'item')} such as these, a difference of {said} between two "
        "models is shown in 80% of samples, if only this pair is compared. Half this difference "
        "takes four times as many items."
    )
