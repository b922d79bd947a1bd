"""doccano (JSONL): a record's item stands beside its text, and each annotator has a file of their own."""

from collections.abc import Iterator, Sequence

from workbench.data.json_records import fields_of, json_line
from workbench.labeling.tools.tool import Items, LabelRow, Tool, item_of, one_label, text_and_others

COLLABORATIVE = "all"  # the file of a project whose annotations have no annotator
_SPANS = "is labeled with spans of the text: export a project of text classification"


def _written(items: Items, labels: Sequence[str]) -> Iterator[str]:
    for identifier, shown in items:
        text, others = text_and_others(identifier, shown)
        yield json_line({"text": text, "label": [], "item": identifier, **others}) + "\n"


def _owns(record: dict) -> bool:
    return (
        isinstance(record.get("label"), list)
        or {"text", "label"} <= set(record)
        or bool({"entities", "relations", "Comments"} & set(record))
    )


def _rows(number: int, record: dict) -> Iterator[LabelRow]:
    item = item_of(record, "item")
    label = record.get("label")
    labels = label if isinstance(label, list) else [label]
    if not item:
        yield LabelRow(
            number, problem="has no field item: import the tasks that the audit exported"
        )
    elif {"entities", "relations"} & set(record) or any(
        isinstance(each, (list, dict)) for each in labels
    ):
        yield LabelRow(number, item, problem=_SPANS)
    elif "label" not in record:
        yield LabelRow(
            number,
            item,
            problem=f"has no field label, it has {fields_of(record)}: export a project of "
            "text classification",
        )
    else:
        yield one_label(number, item, "", labels)


def _person(name: str) -> str:
    name = name[len("doccano_") :] if name.lower().startswith("doccano_") else name
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
