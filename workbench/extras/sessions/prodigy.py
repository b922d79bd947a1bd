"""Prodigy (JSONL): a record's item is in `meta`, and its `answer` accepts, rejects or ignores a label or a choice."""

from collections.abc import Iterator, Sequence

from workbench.data.json_records import json_line
from workbench.extras.sessions import tool
from workbench.extras.sessions.tool import ACCEPT, REJECT, Items, LabelRow, item_of, text_of

IGNORE = "ignore"


def _written(items: Items, labels: Sequence[str]) -> Iterator[str]:
    options = [{"id": label, "text": label} for label in labels]
    for identifier, shown in items:
        text, others = tool.text_and_others(identifier, shown)
        yield (
            json_line({"text": text, "meta": {"item": identifier, **others}, "options": options})
            + "\n"
        )


def _owns(record: dict) -> bool:
    return bool({"answer", "_view_id", "_input_hash", "_task_hash", "options"} & set(record))


def _rows(number: int, record: dict) -> Iterator[LabelRow]:
    item = item_of(record.get("meta"), "item", "id") or item_of(record, "item", "id")
    by = text_of(record.get("_annotator_id")) or text_of(record.get("_session_id"))
    answer = record.get("answer")
    if not item:
        yield LabelRow(
            number, by=by, problem="has no meta.item: annotate the tasks that the audit exported"
        )
    elif answer not in (None, ACCEPT, REJECT, IGNORE):
        yield LabelRow(
            number, item, by=by, problem=f"its answer is {answer!r}, not accept, reject or ignore"
        )
    elif record.get("spans") or record.get("relations"):
        yield LabelRow(
            number,
            item,
            by=by,
            problem=f"is labeled with spans ({record.get('_view_id')!r}): "
            "annotate with choice or classification",
        )
    elif answer in (None, IGNORE):
        yield LabelRow(number, item, by=by, skipped=answer == IGNORE)
    else:
        yield _verdict(number, item, by, record)


def _verdict(number: int, item: str, by: str, record: dict) -> LabelRow:
    """Return the row of a record that was accepted or rejected; to accept a choice of nothing says nothing."""
    if not (record.get("accept") or "options" in record or record.get("_view_id") == "choice"):
        return LabelRow(number, item, text_of(record.get("label")), by, verdict=record["answer"])
    picked = record.get("accept") or []
    row = tool.one_label(number, item, by, picked if isinstance(picked, list) else [picked])
    if row.problem or not (row.label or record["answer"] == REJECT):
        return row
    return LabelRow(number, item, row.label, by, verdict=record["answer"], chosen=True)


TOOL = tool.Tool("prodigy", "Prodigy", ".jsonl", _written, _owns, _rows)
