"""Items to be labeled as the tasks of an annotation tool: Label Studio (JSON), doccano and Prodigy (JSONL).

What people see stays as it is, text in fields that these tools show as text; nothing is written into a field for HTML.
"""
from __future__ import annotations

import html
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from os import PathLike

from workbench import checks
from workbench.data.annotations import read_annotations
from workbench.data.sheet_files import write_lines

Items = Iterable[tuple[str, Mapping[str, str]]]
ENDINGS = {"label-studio": ".json", "doccano": ".jsonl", "prodigy": ".jsonl"}
RESERVED = {"label-studio": {"item"}, "doccano": {"item", "label", "comments"}, "prodigy": {"item"}}


def write_tasks(path: str | PathLike[str], tool: str, items: Items,
                labels: Sequence[str]) -> None:
    """Write items as tasks, in their order; never over a file that holds labels, or that is something else.

    Parameters
    ----------
    path : str or path
        Ends in .json for Label Studio, in .jsonl for doccano and Prodigy.
    tool : {"label-studio", "doccano", "prodigy"}
    items : iterable of (str, dict)
        Identifiers, and what people see. A column `text` is the task's text; without one, all columns are.
    labels : sequence of str
        What can be answered.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_tasks(folder + "/tasks.jsonl", "doccano", [("c-1", {"text": "Snow is white."})], ["right", "wrong"])
    ...     print(pathlib.Path(folder, "tasks.jsonl").read_text(), end="")
    {"text": "Snow is white.", "label": [], "item": "c-1"}
    """
    path = os.path.expanduser(os.fspath(path))
    ending = ENDINGS[checks.choice("to", tool, tuple(ENDINGS))]
    if not path.lower().endswith(ending):
        raise ValueError(f"path must end in {ending} for to={tool!r}; got {path!r}")
    items = list(items)
    columns = [name for _, shown in items[:1] for name in shown]
    fields = [variable(name) if tool == "label-studio" else name for name in columns]
    taken = next((name for name, its in zip(columns, fields, strict=True)
                  if its.casefold() in RESERVED[tool] or fields.count(its) > 1), None)
    if taken is not None:
        raise ValueError(f"column {taken!r} has the name of another field in {tool}: choose another tool, or make the "
                         "audit with the column renamed")
    _refuse_labeled(path)
    write_lines(path, _LINES[tool](items, labels))


def label_studio_interface(columns: Iterable[str], labels: Iterable[str]) -> str:
    """Return the labeling interface that the tasks need in Label Studio, to be pasted into the project's settings.

    Examples
    --------
    >>> print(label_studio_interface(["text"], ["right", "wrong"]))
    <View>
      <Text name="text" value="$text"/>
      <Choices name="verdict" toName="text" choice="single" required="true">
        <Choice value="right"/>
        <Choice value="wrong"/>
      </Choices>
    </View>
    """
    columns = list(columns) or ["item"]
    first = "text" if "text" in columns else columns[0]
    lines = ["<View>"]
    for name in columns:
        lines += [] if name == "text" else [f'  <Header value="{html.escape(name)}"/>']
        lines.append(f'  <Text name="{variable(name)}" value="${variable(name)}"/>')
    lines.append(f'  <Choices name="verdict" toName="{variable(first)}" choice="single" required="true">')
    lines += [f'    <Choice value="{html.escape(each)}"/>' for each in labels]
    return "\n".join([*lines, "  </Choices>", "</View>"])


def variable(column: str) -> str:
    """Return a column's name as Label Studio can refer to it: it takes a point for a step into an object.

    Examples
    --------
    >>> variable("doc.question")
    'doc_question'
    """
    return re.sub(r"\W", "_", column)


def text_of(identifier: str, shown: Mapping[str, str]) -> str:
    """Return the text of a task: the column of that name, else all that is shown, else the identifier."""
    if "text" in shown:
        return shown["text"]
    return "\n".join(f"{name}: {value}" for name, value in shown.items()) or identifier


def _refuse_labeled(path):
    """Raise unless a file at `path` is an export of tasks that nobody has labeled."""
    if not os.path.exists(path) or os.path.getsize(path) == 0:
        return
    try:
        found = read_annotations(path)
    except ValueError as error:
        raise ValueError(f"{path!r} exists and holds no tasks ({error}); choose another path") from None
    if found is None or any(row.problem for row in found.rows):
        raise ValueError(f"{path!r} exists and holds no tasks; choose another path")
    filled = sum(row.is_answered for row in found.rows)
    if filled:
        raise ValueError(f"{path!r} already holds {checks.counted(filled, 'annotation')} and is not overwritten; "
                         "choose another path, or move the file away")


def _label_studio(items: Items, labels: Sequence[str]) -> Iterator[str]:
    yield "["
    for k, (identifier, shown) in enumerate(items):
        yield (",\n " if k else "") + _json({"data": {
            "item": identifier, **{variable(name): value for name, value in shown.items()}}})
    yield "]\n"


def _doccano(items: Items, labels: Sequence[str]) -> Iterator[str]:
    for identifier, shown in items:
        others = {name: value for name, value in shown.items() if name != "text"}
        yield _json({"text": text_of(identifier, shown), "label": [], "item": identifier, **others}) + "\n"


def _prodigy(items: Items, labels: Sequence[str]) -> Iterator[str]:
    options = [{"id": each, "text": each} for each in labels]
    for identifier, shown in items:
        others = {name: value for name, value in shown.items() if name != "text"}
        yield _json({"text": text_of(identifier, shown), "meta": {"item": identifier, **others},
                     "options": options}) + "\n"


def _json(value):
    return json.dumps(value, ensure_ascii=False)


_LINES = {"label-studio": _label_studio, "doccano": _doccano, "prodigy": _prodigy}
