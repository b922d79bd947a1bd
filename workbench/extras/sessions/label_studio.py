"""Label Studio (JSON): a record has its item in `data`, and all choices in `annotations`.

Exports as CSV and JSON-MIN have a flat record for each annotation. It has the fields of the task,
`annotator` and `annotation_id`. The labeling interface names the field of the choice.
"""

import html
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from workbench.data.json_records import choices_in, json_line, kind_of
from workbench.extras.sessions.tool import Items, Tool, item_of, one_label, text_of
from workbench.labeling.label_rows import CHOICE_FIELDS, LabelRow

FLAT = "annotation_id"  # a field of flat records alone


def interface(columns: Iterable[str], labels: Iterable[str]) -> str:
    """Return the labeling interface to paste into the settings of the project.

    Examples
    --------
    >>> print(interface(["text"], ["right", "wrong"]))
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
    target = variable(first)
    lines = ["<View>"]
    for name in columns:
        if name != "text":
            lines.append(f'  <Header value="{html.escape(name)}"/>')
        lines.append(f'  <Text name="{variable(name)}" value="${variable(name)}"/>')
    lines.append(f'  <Choices name="verdict" toName="{target}" choice="single" required="true">')
    lines += [f'    <Choice value="{html.escape(label)}"/>' for label in labels]
    return "\n".join([*lines, "  </Choices>", "</View>"])


def variable(column: str) -> str:
    """Return a column's name as Label Studio can refer to it.

    Label Studio reads a point as a step into an object.

    Examples
    --------
    >>> variable("doc.question")
    'doc_question'
    """
    return re.sub(r"\W", "_", column)


def _written(items: Items, labels: Sequence[str]) -> Iterator[str]:
    yield "["
    for k, (identifier, columns) in enumerate(items):
        data = {"item": identifier} | {variable(name): value for name, value in columns.items()}
        yield (",\n " if k else "") + json_line({"data": data})
    yield "]\n"


def _owns(record: dict) -> bool:
    is_event = "event_id" in record and "sample_id" in record  # of a log of OpenAI evals
    is_task = isinstance(record.get("data"), dict) and not is_event
    return is_task or isinstance(record.get("annotations"), list) or FLAT in record


def _rows(number: int, task: dict) -> Iterator[LabelRow]:
    if FLAT in task:
        yield _flat(number, task)
        return
    item = item_of(task.get("data"), "item", "id")
    annotations = task.get("annotations") or []
    if not item:
        yield LabelRow(number, problem="has no data.item; import the tasks that the audit exported")
    elif not isinstance(annotations, list):
        problem = f"annotations is {kind_of(annotations)}, not a list; export it again"
        yield LabelRow(number, item, problem=problem)
    elif not annotations:
        yield LabelRow(number, item)
    else:
        yield from (_annotated(number, item, annotation) for annotation in annotations)


def _flat(number: int, record: dict) -> LabelRow:
    """Return the row of a flat record.

    A choice may be text, a list, or {"choices": [...]} in a cell of a table.
    """
    item = item_of(record, "item", "id")
    by = _person(record.get("annotator"))
    if not item:
        problem = "has no field item or id; import the tasks that the audit exported"
        return LabelRow(number, by=by, problem=problem)
    for value in record.values():
        choices = choices_in(value)
        if choices is not None:
            return one_label(number, item, by, choices)
    fields = {name.casefold(): value for name, value in record.items()}
    for name in CHOICE_FIELDS:
        if name in fields:
            value = fields[name]
            if not isinstance(value, list):
                value = [value] if text_of(value) else []
            return one_label(number, item, by, value)
    names = f"{', '.join(CHOICE_FIELDS[:-1])} or {CHOICE_FIELDS[-1]}"
    problem = f"has no field with the choice, which should be called {names}"
    return LabelRow(number, item, by=by, problem=problem)


def _person(who: Any) -> str:
    return text_of(who.get("id") or who.get("email")) if isinstance(who, dict) else text_of(who)


def _annotated(number: int, item: str, annotation: Any) -> LabelRow:
    if not isinstance(annotation, dict):
        problem = f"an annotation is {kind_of(annotation)}, not an object"
        return LabelRow(number, item, problem=problem)
    by = _person(annotation.get("completed_by"))
    if annotation.get("was_cancelled"):
        return LabelRow(number, item, by=by, skipped=True)
    choices, problem = _choices(annotation.get("result") or [])
    if problem:
        return LabelRow(number, item, by=by, problem=problem)
    return one_label(number, item, by, choices)


def _choices(result: Any) -> tuple:
    """Return the choices of an annotation's result, and its problem."""
    if not isinstance(result, list) or not all(isinstance(part, dict) for part in result):
        return [], "an annotation's result is not a list of objects; export it again"
    choices = []
    for part in result:
        kind = text_of(part.get("type"))
        if kind not in ("choices", "textarea", "rating"):
            return [], (
                f"is labeled with {kind or 'nothing named'!r}, not with choices; give the project "
                "one question with choices"
            )
        if kind == "choices":
            value = part.get("value")
            if isinstance(value, dict):
                value = value.get("choices")
            if not isinstance(value, list):
                problem = f"an annotation's choices are {kind_of(value)}, not a list"
                return [], f"{problem}; export it again"
            choices += value
    return choices, ""


TOOL = Tool(
    "label-studio",
    "Label Studio",
    ".json",
    _written,
    _owns,
    _rows,
    variable=variable,
    interface=interface,
)
