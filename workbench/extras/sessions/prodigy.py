"""Prodigy (JSONL): the item of a record is in `meta`.

The field `answer` accepts, rejects or ignores a label or a choice.
"""

from collections.abc import Iterator, Sequence

from workbench.data.json_records import json_line
from workbench.extras.sessions import tool
from workbench.extras.sessions.tool import Items, item_of, text_of
from workbench.labeling.label_rows import ACCEPT, REJECT, LabelRow

IGNORE = "ignore"


def _written(items: Items, labels: Sequence[str]) -> Iterator[str]:
    options = [{"id": label, "text": label} for label in labels]
    for identifier, columns in items:
        text, rest = tool.text_and_others(identifier, columns)
        task = {"text": text, "meta": {"item": identifier, **rest}, "options": options}
        yield json_line(task) + "\n"


def _owns(record: dict) -> bool:
    return bool({"answer", "_view_id", "_input_hash", "_task_hash", "options"} & set(record))


def _rows(number: int, record: dict) -> Iterator[LabelRow]:
    item = item_of(record.get("meta"), "item", "id") or item_of(record, "item", "id")
    by = text_of(record.get("_annotator_id")) or text_of(record.get("_session_id"))
    answer = record.get("answer")
    problem = ""
    if not item:
        problem = "has no meta.item; annotate the tasks that the audit exported"
    elif answer not in (None, ACCEPT, REJECT, IGNORE):
        problem = f"its answer is {answer!r}, not accept, reject or ignore"
    elif record.get("spans") or record.get("relations"):
        view = record.get("_view_id")
        problem = f"is labeled with spans ({view!r}); annotate with choice or classification"
    if problem or answer in (None, IGNORE):
        skipped = answer == IGNORE and not problem
        yield LabelRow(number, item, by=by, skipped=skipped, problem=problem)
    else:
        yield _verdict(number, item, by, record)


def _verdict(number: int, item: str, by: str, record: dict) -> LabelRow:
    """Return the row of a record that was accepted or rejected.

    An accepted choice without options gives no label.
    """
    answer = record["answer"]
    picked = record.get("accept") or []
    if not (picked or "options" in record or record.get("_view_id") == "choice"):
        return LabelRow(number, item, text_of(record.get("label")), by, verdict=answer)
    row = tool.one_label(number, item, by, picked if isinstance(picked, list) else [picked])
    if row.problem or not (row.label or answer == REJECT):
        return row
    return LabelRow(number, item, row.label, by, verdict=answer, chosen=True)


TOOL = tool.Tool("prodigy", "Prodigy", ".jsonl", _written, _owns, _rows)
