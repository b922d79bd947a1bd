"""doccano (JSONL): a record has its item next to its text, and each annotator has a file."""

import re
from collections.abc import Iterator, Sequence

from workbench.data.json_records import fields_of, json_line
from workbench.extras.sessions.tool import (
    Items,
    Tool,
    item_of,
    one_label,
    text_and_others,
)
from workbench.labeling.label_rows import LabelRow

COLLABORATIVE = "all"  # the file of a project whose annotations have no annotator
_SPANS = "is labeled with spans of the text; export a project of text classification"


def _written(items: Items, labels: Sequence[str]) -> Iterator[str]:
    for identifier, columns in items:
        text, rest = text_and_others(identifier, columns)
        yield json_line({"text": text, "label": [], "item": identifier, **rest}) + "\n"


def _owns(record: dict) -> bool:
    fields = set(record)
    if isinstance(record.get("label"), list) or {"text", "label"} <= fields:
        return True
    return bool({"entities", "relations", "Comments"} & fields)


def _rows(number: int, record: dict) -> Iterator[LabelRow]:
    item = item_of(record, "item")
    label = record.get("label")
    labels = label if isinstance(label, list) else [label]
    problem = ""
    if not item:
        problem = "has no field item; import the tasks that the audit exported"
    elif {"entities", "relations"} & set(record):
        problem = _SPANS
    elif any(isinstance(span, (list, dict)) for span in labels):
        problem = _SPANS
    elif "label" not in record:
        problem = f"has no field label, but {fields_of(record)}; export a project of text "
        problem += "classification"
    yield (
        LabelRow(number, item, problem=problem) if problem else one_label(number, item, "", labels)
    )


def _person(name: str) -> str:
    name = re.sub("^doccano_", "", name, flags=re.IGNORECASE)
    return "" if name.lower() == COLLABORATIVE else name


TOOL = Tool(
    "doccano",
    "doccano",
    ".jsonl",
    _written,
    _owns,
    _rows,
    frozenset({"item", "label", "comments"}),
    person=_person,
)
