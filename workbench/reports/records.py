"""The results of a report as one JSON file.

The file of `workbench report TOPIC --json FILE` holds one object of schema 1:

- `format`, "workbench report", and `schema`, 1;
- `topic` and `title` of the page, `time` of the run (UTC, ISO 8601);
- `versions` of workbench, Python and the numerical packages;
- `inputs`: for each input file `parameter`, `file` (its name), `rows`, `bytes` and `sha256`;
- `parameters`: the value of every parameter by name;
- `results`: a list of results in the order of the page (see below);
- `notes`: all caveats as sentences, the most important first, without repetition;
- `messages`: the messages that the run wrote to stderr, with their sections.

Each result has these entries:

- `name`: the name of the notebook's variable. Without one, it is made from the section of a table,
  or from the kind of the result. Names are unique and stable.
- `section`: the heading above the result.
- `finding`: the main result in one sentence.
- `rows`: its table, a list of objects with the keys of `workbench.results.vocabulary`.
- `notes`: its caveats, the most important first, with `kind`, `text` and `where`.
- `result`: its `to_dict()`. `workbench.Result.from_dict` restores the result from it without loss.

`workbench audit report --json FILE` writes the same schema for an audit session. Its topic is
"audit", its parameters are the design, and it has no inputs. The first result is the estimate that
the page quotes. `workbench sample stream --json FILE` writes topic "stream" with the results
`estimate` and `strata`.

The file is strict JSON in UTF-8. In `rows` and `parameters`, null is a missing value or a number
that is not finite. In `result`, such a number is {"float": "nan"}, "inf" or "-inf", so that nothing
is lost. The same inputs give the same file except for `time`.
"""

import ast
import itertools
import json
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from workbench.reports.outputs import whole_file
from workbench.reports.pages import last_heading
from workbench.results import RECORD, Result, Table, record, sentences
from workbench.results import plain as plain_values

SCHEMA = 1
_UNRUN = {"parameters", "injected-parameters"}


class Record(NamedTuple):
    """A result of a page: its name, its section, its table and its `to_dict()`."""

    name: str
    section: str
    table: Table
    result: dict


class Variables:
    """The named variables of a notebook that hold results; the last value of a recorded run."""

    def __init__(self, values: dict, names: Iterable[str]) -> None:
        results = {name: values[name] for name in names if isinstance(values.get(name), Result)}
        self.results = {name: result for name, result in results.items() if not result.holds_items}

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict:
        return {RECORD: {name: record(result) for name, result in self.results.items()}}


def add_recording(notebook: Any) -> None:
    """Add a cell that returns the variables with results; `take_records` removes it."""
    from nbformat.v4 import new_code_cell

    names = dict.fromkeys(
        name for cell in filter(_is_run, notebook.cells) for name in _used_names(cell.source)
    )
    source = "from workbench.reports.records import Variables\n\nVariables(globals(), {!r})"
    notebook.cells.append(new_code_cell(source.format([*names])))


def take_records(notebook: Any) -> list[Record]:
    """Return the results of an executed notebook, in the order in which it shows or uses them."""
    variables = next(_displayed(notebook.cells.pop()), {})
    names = {
        id(result): _variable(result, variables)
        for cell in notebook.cells
        for result in _displayed(cell)
    }
    hidden = variables.keys() - names.values()
    results, section = list[tuple[str, str, dict]](), ""
    for cell in notebook.cells:
        section = last_heading(cell, section)
        if _is_run(cell):
            used = [name for name in _used_names(cell.source) if name in hidden]
            results += [(name, section, variables[name]) for name in used]
            for result in _displayed(cell):
                name = names[id(result)]
                results.append((name, section, variables.get(name, result)))
    return _named(results)


def write_json(path: Path, records: list[Record], *, messages: list, **about: Any) -> None:
    """Write the JSON file of a report completely or not at all."""
    notes = sentences(note for entry in records for note in entry.table.notes)
    content = {
        "format": "workbench report",
        "schema": SCHEMA,
        **plain_values(about),
        "results": [_entry(*entry) for entry in records],
        "notes": list(notes),
        "messages": [{"section": section, "text": text} for section, text in messages],
    }
    text = json.dumps(content, ensure_ascii=False, allow_nan=False, indent=1) + "\n"
    with whole_file(path) as part:
        part.write_text(text, encoding="utf-8")


def _entry(name: str, section: str, table: Table, result: dict) -> dict:
    notes = [
        {"kind": note.kind, "text": note.text, "where": plain_values(note.place)}
        for note in table.notes
    ]
    return {
        "name": name,
        "section": section,
        "finding": table.caption,
        "rows": plain_values(table.entries),
        "notes": notes,
        "result": result,
    }


def _is_run(cell: Any) -> bool:
    return cell.cell_type == "code" and _UNRUN.isdisjoint(cell.metadata.get("tags", []))


def _used_names(source: str) -> list[str]:
    """Return the variables that a cell reads, in the order of its lines."""
    python = re.sub(r"(?m)^[ \t]*[%!].*$", "", source)  # without commands of IPython
    names = [node for node in ast.walk(ast.parse(python)) if isinstance(node, ast.Name)]
    names.sort(key=lambda node: (node.lineno, node.col_offset))
    return [*dict.fromkeys(node.id for node in names if isinstance(node.ctx, ast.Load))]


def _displayed(cell: Any) -> Iterator[dict]:
    for output in cell.get("outputs", []):
        if RECORD in output.get("data", {}):
            yield output["data"][RECORD]


def _variable(displayed: dict, variables: dict[str, dict]) -> str:
    """Return the variable that holds a displayed result or its rows, "" for none."""
    for name, variable in variables.items():
        if displayed["result"] == variable["result"]:
            return name
        if displayed["result"]["kind"] == Table.__name__ and _rows(displayed) == _rows(variable):
            return name
    return ""


def _rows(displayed: dict) -> dict:
    return displayed["table"]["values"]["entries"]


def _named(results: list[tuple[str, str, dict]]) -> list[Record]:
    """Return results without repetitions, each with a name of its own."""
    records, taken = list[Record](), {name for name, *_ in results}
    for name, section, displayed in results:
        table, result = displayed["table"], displayed["result"]
        if all(result != record.result for record in records):
            name = name or free_name(_default_name(section, result["kind"]), taken)
            taken.add(name)
            records.append(Record(name, section, Table.from_dict(table), result))
    return records


def _default_name(section: str, kind: str) -> str:
    """Return a name for a result without a variable: the section of a table, or the kind."""
    text = section if kind == Table.__name__ else re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", kind)
    return re.sub(r"\W+", "_", text.lower()).strip("_") or "table"


def free_name(name: str, taken: set[str], alike: Callable[[str], str] = str) -> str:
    """Return a name that is not taken, with a number added if needed.

    `alike` changes a name before it is compared, for example to lower case.
    """
    names = itertools.chain([name], (f"{name}_{k}" for k in itertools.count(2)))
    return next(name for name in names if alike(name) not in taken)
