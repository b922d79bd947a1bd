"""Label Studio (JSON): a record's item is in `data`, and every annotator's choices are in `annotations`."""

import html
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from workbench.data.json_records import json_line, kind_of
from workbench.labeling.tools.tool import Items, LabelRow, Tool, item_of, one_label, text_of


def interface(columns: Iterable[str], labels: Iterable[str]) -> str:
    """Return the labeling interface that the tasks need, to be pasted into the project's settings.

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
    lines = ["<View>"]
    for name in columns:
        lines += [] if name == "text" else [f'  <Header value="{html.escape(name)}"/>']
        lines.append(f'  <Text name="{variable(name)}" value="${variable(name)}"/>')
    lines.append(f'  <Choices name="verdict" toName="{variable(first)}" choice="single" required="true">')
    lines += [f'    <Choice value="{html.escape(label)}"/>' for label in labels]
    return "\n".join([*lines, "  </Choices>", "</View>"])


def variable(column: str) -> str:
    """Return a column's name as Label Studio can refer to it: it takes a point for a step into an object.

    Examples
    --------
    >>> variable("doc.question")
    'doc_question'
    """
    return re.sub(r"\W", "_", column)


def _written(items: Items, labels: Sequence[str]) -> Iterator[str]:
    yield "["
    for k, (identifier, shown) in enumerate(items):
        data = {"item": identifier} | {variable(name): value for name, value in shown.items()}
        yield (",\n " if k else "") + json_line({"data": data})
    yield "]\n"


def _owns(record: dict) -> bool:
    return isinstance(record.get("data"), dict) or isinstance(record.get("annotations"), list)


def _rows(number: int, task: dict) -> Iterator[LabelRow]:
    item = item_of(task.get("data"), "item", "id")
    annotations = task.get("annotations") or []
    if not item:
        yield LabelRow(number, problem="has no data.item: import the tasks that the audit exported")
    elif not isinstance(annotations, list):
        yield LabelRow(number, item, problem=f"annotations is {kind_of(annotations)}, not a list: export it again")
    elif not annotations:
        yield LabelRow(number, item)
    else:
        yield from (_annotated(number, item, annotation) for annotation in annotations)


def _annotated(number: int, item: str, annotation: Any) -> LabelRow:
    if not isinstance(annotation, dict):
        return LabelRow(number, item, problem=f"an annotation is {kind_of(annotation)}, not an object")
    who = annotation.get("completed_by")
    by = text_of(who.get("id") or who.get("email")) if isinstance(who, dict) else text_of(who)
    if annotation.get("was_cancelled"):
        return LabelRow(number, item, by=by, skipped=True)
    picked, problem = _choices(annotation.get("result") or [])
    return LabelRow(number, item, by=by, problem=problem) if problem else one_label(number, item, by, picked)


def _choices(result: Any) -> tuple[list, str]:
    """Return what was chosen in an annotation's result, and why that cannot be told."""
    if not isinstance(result, list) or not all(isinstance(part, dict) for part in result):
        return [], "an annotation's result is not a list of objects: export it again"
    kinds = [text_of(part.get("type")) for part in result]
    strange = [kind for kind in kinds if kind not in ("choices", "textarea", "rating")]
    if strange:
        return [], (f"is labeled with {strange[0] or 'nothing named'!r}, not with choices: give the project one "
                    "question with choices")
    values = [part.get("value") for part, kind in zip(result, kinds, strict=True) if kind == "choices"]
    choices: list = [value.get("choices") if isinstance(value, dict) else value for value in values]
    for value in choices:
        if not isinstance(value, list):
            return [], f"an annotation's choices are {kind_of(value)}, not a list: export it again"
    return [choice for value in choices for choice in value], ""


def _remedy(record: dict) -> str:
    return "export it as JSON, not as JSON-MIN" if {"annotation_id", "annotator"} & set(record) else ""


TOOL = Tool("label-studio", "Label Studio", ".json", _written, _owns, _rows, variable=variable, interface=interface,
            remedy=_remedy)
