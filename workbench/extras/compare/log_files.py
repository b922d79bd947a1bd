"""Detection of logs of evaluations and tables of promptfoo, and how to open them."""

import os
import zipfile
from typing import Any

from workbench.data.columns import TableSource
from workbench.data.files import JSON_ENDINGS, existing_file, file_of
from workbench.data.json_records import json_records
from workbench.data.text_files import encoding_of_start, opened_text, text_and_notes
from workbench.extras.compare.evaluation_logs import EVAL, PEEKED, is_log, open_log
from workbench.extras.compare.other_logs import (
    PROMPTFOO,
    PROMPTFOO_CSV,
    promptfoo_csv,
    promptfoo_results,
    promptfoo_table,
)


def open_log_file(file: str, label: str, part: str) -> TableSource | None:
    """Return the source of a log of an evaluation, or None for any other file."""
    if file.lower().endswith(EVAL) and not zipfile.is_zipfile(file):
        raise ValueError(f"{label} is not a log of Inspect: it is cut off or not a zip archive")
    return open_log(file, label, part) if is_evaluation_log(file) else None


def is_evaluation_log(source: Any) -> bool:
    """Return whether a source is a file with the log of an evaluation."""
    if not isinstance(source, (str, os.PathLike)):
        return False
    _, label, ending = existing_file(source)
    if ending not in JSON_ENDINGS:
        return ending == EVAL
    return is_log(_start(file_of(source), label, whole_line=ending != ".json"), ending)


def comparison_table(source: Any) -> dict[str, list]:
    """Return the columns id, model, score and others of a promptfoo file, {} of any other."""
    if not isinstance(source, (str, os.PathLike)):
        return {}
    _, label, ending = existing_file(source)
    file = file_of(source)
    if ending not in (".csv", *JSON_ENDINGS):
        return {}
    is_written_by = PROMPTFOO_CSV.search if ending == ".csv" else PROMPTFOO.match
    if not is_written_by(_start(file, label)):
        return {}
    text, _ = text_and_notes(file, label)
    if ending == ".csv":
        return promptfoo_csv(text)
    records = [record for _, record, _ in json_records(text, label) if record]
    results = promptfoo_results(records[0] if len(records) == 1 else records)
    if not results:
        return {}
    return promptfoo_table(results)


def _start(file: str, label: str, whole_line: bool = False) -> str:
    """Return the beginning of a text, with the whole first line if requested."""
    with opened_text(file, label, encoding_of_start(file, label)) as text:
        line = text.readline() if whole_line else ""
        return line + text.read(PEEKED)
