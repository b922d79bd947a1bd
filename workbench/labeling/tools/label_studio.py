"""Label Studio (JSON): a record's item is in `data`, and every annotator's choices are in `annotations`.

Its exports as CSV and as JSON-MIN have a flat record for each annotation: the fields of the task, the choice in a
field that the labeling interface names, `annotator` and `annotation_id`.
"""

import html
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from workbench.data.json_records import choices_in, json_line, kind_of
from workbench.labeling.tools.tool import Items, LabelRow, Tool, item_of, one_label, text_of

FLAT = "annotation_id"  # a field of flat records alone
CHOICE_FIELDS = (
    "verdict",
    "choice",
    "choices",
    "label",
    "labels",
    "answer",
    "class",
    "category",
    "sentiment",
)


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
    lines.append(
        f'  <Choices name="verdict" toName="{variable(first)}" choice="single" required="true">'
    )
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
    return (
        isinstance(record.get("data"), dict)
        or isinstance(record.get("annotations"), list)
        or FLAT in record
    )


def _rows(number: int, task: dict) -> Iterator[LabelRow]:
    if FLAT in task:
        yield _flat(number, task)
        return
    item = item_of(task.get("data"), "item", "id")
    annotations = task.get("annotations") or []
    if not item:
        yield LabelRow(number, problem="has no data.item: import the tasks that the audit exported")
    elif not isinstance(annotations, list):
        yield LabelRow(
            number,
            item,
            problem=f"annotations is {kind_of(annotations)}, not a list: export it again",
        )
    elif not annotations:
        yield LabelRow(number, item)
    else:
        yield from (_annotated(number, item, annotation) for annotation in annotations)


def _flat(number: int, record: dict) -> LabelRow:
    """Return the row of a flat record; a choice may be text, a list, or {"choices": [...]} in a cell of a table."""
    item = item_of(record, "item", "id")
    who = record.get("annotator")
    by = text_of(who.get("id") or who.get("email")) if isinstance(who, dict) else text_of(who)
    if not item:
        return LabelRow(
            number,
            by=by,
            problem="has neither a field item nor id: import the tasks that the audit exported",
        )
    fields = {name.casefold(): name for name in record}
    written = [name for name, value in record.items() if choices_in(value) is not None]
    named = [fields[name] for name in CHOICE_FIELDS if name in fields]
    if not written and not named:
        return LabelRow(
            number,
            item,
            by=by,
            problem="has no field with the choice: none is called "
            f"{', '.join(CHOICE_FIELDS[:-1])} or {CHOICE_FIELDS[-1]}",
        )
    value = record[(written or named)[0]]
    chosen = choices_in(value)
    if chosen is None:
        chosen = value if isinstance(value, list) else [value] if text_of(value) else []
    return one_label(number, item, by, chosen)


def _annotated(number: int, item: str, annotation: Any) -> LabelRow:
    if not isinstance(annotation, dict):
        return LabelRow(
            number, item, problem=f"an annotation is {kind_of(annotation)}, not an object"
        )
    who = annotation.get("completed_by")
    by = text_of(who.get("id") or who.get("email")) if isinstance(who, dict) else text_of(who)
    if annotation.get("was_cancelled"):
        return LabelRow(number, item, by=by, skipped=True)
    picked, problem = _choices(annotation.get("result") or [])
    return (
        LabelRow(number, item, by=by, problem=problem)
        if problem
        else one_label(number, item, by, picked)
    )


def _choices(result: Any) -> tuple[list, str]:
    """Return what was chosen in an annotation's result, and why that cannot be told."""
    if not isinstance(result, list) or not all(isinstance(part, dict) for part in result):
        return [], "an annotation's result is not a list of objects: export it again"
    kinds = [text_of(part.get("type")) for part in result]
    strange = [kind for kind in kinds if kind not in ("choices", "textarea", "rating")]
    if strange:
        return [], (
            f"is labeled with {strange[0] or 'nothing named'!r}, not with choices: give the project one "
            "question with choices"
        )
    values = [
        part.get("value") for part, kind in zip(result, kinds, strict=True) if kind == "choices"
    ]
    choices: list = [value.get("choices") if isinstance(value, dict) else value for value in values]
    for value in choices:
        if not isinstance(value, list):
            return [], f"an annotation's choices are {kind_of(value)}, not a list: export it again"
    return [choice for value in choices for choice in value], ""


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
