"""Logs of evaluations as tables, recognized by their content.

`read_log` reads logs of Inspect (.json, .eval), lm-evaluation-harness (samples_*.jsonl), OpenAI
evals (.jsonl) and DeepEval (.json). The last two are in `other_logs`.

`open_log` returns a log as a table with a row per sample. Its columns are `id`, `score`, `input`,
`answer`, `target`, `choices` for multiple choice, and the other data of the log, such as
`metadata.document` or `doc.question`.

If a log has several scorers or filters, "log.json#NAME" selects one. "#epoch=2" and
"#metric=acc_norm" select an epoch or a metric. Separate several selections by commas.
"""

import json
import math
import re
import zipfile
import zlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from workbench import checks
from workbench.data.choices import continued, lettered, weighed
from workbench.data.columns import TableSource
from workbench.data.json_records import json_line, json_records, json_text, table_of
from workbench.data.numbers import first_repeat, objects
from workbench.data.text_files import zstandard
from workbench.extras.compare.log_samples import EvaluationLog, Sample
from workbench.extras.compare.other_logs import (
    DEEPEVAL,
    OPENAI,
    deepeval_log,
    openai_log,
    text_of,
)
from workbench.results import Note

EVAL = ".eval"
PEEKED = 1 << 16
_INSPECT = re.compile(
    r'\s*\{\s*("version"\s*:\s*[0-9]+\s*,\s*"status"\s*:|'
    r'"status"\s*:\s*"[a-z]+"\s*,\s*"eval"\s*:\s*\{)'
)
_LISTED = re.compile(
    r'\s*\[\s*\{\s*"doc_id"\s*:\s*[0-9]+\s*,\s*"doc"\s*:'
)  # the harness until 0.4.2
_HARNESS = re.compile(r'\s*\{.*"(filtered_resps|resps|doc_hash)"\s*:', re.DOTALL)
_HEADERS = ("header.json", "_journal/start.json")
ZSTANDARD = 93  # number of the method in the ZIP specification (APPNOTE 6.3.8, 4.4.5)
_MEMBER = re.compile(r"header\.json|_journal/start\.json|samples/.+\.json")
_LETTERS = {
    "C": 1.0,
    "I": 0.0,
    "P": 0.5,
    "N": 0.0,
    "yes": 1.0,
    "true": 1.0,
    "no": 0.0,
    "false": 0.0,
}
# fields of a record of the harness that are no metrics
_OWN = set(
    "doc_id doc target arguments resps filtered_resps filter metrics doc_hash prompt_hash "
    "target_hash".split()
)


def scores_of(samples: Sequence[Sample]) -> list[str]:
    """Return the names of the scores that at least one sample has."""
    names: dict = {}
    for sample in samples:
        for name, value in sample.scores.items():
            if value is not None:
                names[name] = None
    return list(names)


def is_log(text: str, ending: str) -> bool:
    """Return whether a JSON text begins like a log.

    Examples
    --------
    >>> is_log('{"version": 2, "status": "success",', ".json")
    True
    >>> is_log('{"id": 1, "score": 0.5}', ".json")
    False
    """
    if ending == ".json":
        return any(start.match(text) for start in (_INSPECT, _LISTED, DEEPEVAL))
    line = text.split("\n", 1)[0]
    return bool(_LISTED.match(text) or _HARNESS.match(line) or OPENAI.match(line))


def read_log(path: str, label: str) -> EvaluationLog:
    """Read a log of Inspect, the harness, OpenAI evals or DeepEval.

    Raises
    ------
    ValueError
        If the log is cut off, a record lacks a required field, or a score is not understood. The
        message names the record.
    """
    with open(path, "rb") as file:
        if file.read(2) == b"PK":
            return _inspect(label, *_unzipped(path, label))
    text = json_text(path, label)
    if OPENAI.match(text.split("\n", 1)[0]):
        return openai_log(label, json_records(text, label))
    is_inspect = _INSPECT.match(text)
    if not is_inspect and not DEEPEVAL.match(text):
        return _harness(label, json_records(text, label))
    try:
        log = json.loads(text)
    except (json.JSONDecodeError, RecursionError):
        raise _damaged(label) from None
    return _inspect(label, log, log.get("samples")) if is_inspect else deepeval_log(label, log)


def _damaged(label: str) -> ValueError:
    return ValueError(f"{label} is cut off or damaged; copy it again")


def open_log(path: str, label: str, choice: str = "") -> TableSource:
    """Return a log as a source of columns: its scored samples, or all if none has a score."""
    log = read_log(path, label)
    chosen = _Choice(log, choice)
    samples = chosen.distinct_samples()
    score = chosen.score(samples)
    scored = [sample for sample in samples if sample.scores.get(score) is not None]
    remarks = _remarks(log, score, samples, scored)
    notes = tuple(Note("data", text) for text in remarks)
    rows = []
    for sample in scored or samples:
        row: dict = {"id": sample.id}
        if score:
            row["score"] = sample.scores.get(score)
        row |= sample.cells
        row["answer"] = sample.answers.get(score, sample.cells["answer"])
        row |= {f"scores.{name}": value for name, value in sample.scores.items()}
        rows.append(row)
    columns = table_of(rows)

    def fetch(names: Any) -> Any:
        return {name: objects(columns[name]) for name in names}, notes

    return TableSource(label, tuple(columns), fetch)


def chosen_score(log: EvaluationLog, choice: str) -> tuple[list[Sample], str]:
    """Return the samples of a log, each as often as it has epochs, and the name of its score.

    Parameters
    ----------
    log : EvaluationLog
    choice : str
        The text after "#".
    """
    chosen = _Choice(log, choice)
    samples = chosen.distinct_samples() if log.part_is == "filter" else chosen.samples()
    return samples, chosen.score(samples)


class _Choice:
    """The part and the score of a log that the text after "#" selects."""

    def __init__(self, log: EvaluationLog, text: str) -> None:
        self.log = log
        self.parts = list(dict.fromkeys(sample.part for sample in log.samples))
        self.values = {}
        for word in filter(None, text.split(",")):
            key, sign, value = word.partition("=")
            if not sign:
                key = self._key_of(word)
                value = word
            if key not in (log.part_is, log.score_is):
                keys = f"{log.part_is}= or {log.score_is}="
                raise ValueError(f"{log.label}: {key!r} cannot be selected; use {keys}")
            self.values[key] = value

    def _key_of(self, word: str) -> str:
        is_part = word in self.parts or word not in scores_of(self.log.samples)
        return "filter" if is_part and self.log.part_is == "filter" else self.log.score_is

    def samples(self) -> list[Sample]:
        """Return the samples of the selected part, or all samples."""
        part = self._value(self.log.part_is, self.parts)
        return [sample for sample in self.log.samples if part in ("", sample.part)]

    def distinct_samples(self) -> list[Sample]:
        """Return the samples of the selected part, or raise an error if one occurs twice."""
        samples = self.samples()
        kind = self.log.part_is
        repeat = first_repeat([sample.id for sample in samples])
        if repeat is None:
            return samples
        first, second = (samples[k] for k in repeat)
        name = "doc_id" if kind == "filter" else "id"
        records = f"in records {first.number} and {second.number}"
        advice = ": keep one"
        if first.part != second.part:
            advice = f"; select one {kind}: {self._options(kind, self.parts)}"
        raise ValueError(f"{self.log.label}: {name} {first.id} occurs twice, {records}{advice}")

    def score(self, samples: Sequence[Sample]) -> str:
        """Return the selected score, the log's own, or its only one; "" without scores."""
        kind = self.log.score_is
        names = scores_of(samples)
        if not names:
            return ""
        chosen = self._value(kind, names)
        if chosen:
            return chosen
        if self.log.score in names:
            return self.log.score
        if len(names) > 1:
            options = self._options(kind, names)
            raise ValueError(
                f"{self.log.label} has {len(names)} {kind}s; select one {kind}: {options}"
            )
        return names[0]

    def _value(self, key: str, values: Sequence[str]) -> str:
        value = self.values.get(key, "")
        if value and value not in values:
            options = f"{checks.listed(values, quoted=True)}{checks.suggestion(value, values)}"
            raise ValueError(f"{self.log.label} has no {key} {value!r}; it has {options}")
        return value

    def _options(self, key: str, values: Sequence[str]) -> str:
        """Return the names of the log with the text after "#" that selects each value."""
        path = self.log.label[1:-1].split("#")[0]
        texts = []
        for value in values[:5]:
            chosen = self.values | {key: value}
            choices = ",".join(f"{name}={text}" for name, text in chosen.items())
            texts.append(choices)
        return " or ".join(repr(f"{path}#{text}") for text in texts)


def _remarks(
    log: EvaluationLog,
    score: str,
    samples: list,
    scored: list,
) -> list[str]:
    """Return remarks on the samples and the score of a log's table."""
    label = log.label
    name = f"{log.score_is} {score!r}"
    texts = []
    if log.unfinished:
        status = f"(status {log.unfinished!r}), so samples may be missing"
        texts.append(f"the run of {label} did not finish {status}")
    if not scored:
        return [*texts, f"{label} has no score"]
    if log.unnamed_parts and len(samples) < len(log.samples):
        texts.append(unnamed_part(log, samples[0].part))
    unused = [other for other in scores_of(samples) if other != score]
    rest = f", not {checks.listed(unused, quoted=True)}" if unused else ""
    texts.append(f"the score is that of {name}{rest}")
    unscored = [sample.id for sample in samples if sample.scores.get(score) is None]
    if unscored:
        ids = checks.listed(unscored, 5, quoted=True)
        many = checks.counted(len(unscored), "sample has", "samples have")
        used = "is" if len(unscored) == 1 else "are"
        texts.append(f"{many} no score of {name} and {used} not used: {ids}")
    unfit = [sample.id for sample in scored if score in sample.unfit]
    if unfit:
        many = checks.counted(len(unfit), "sample")
        ids = checks.listed(unfit, 5, quoted=True)
        texts.append(f"{name} contradicts the most probable choice of {many}: {ids}")
    return texts


def unnamed_part(log: EvaluationLog, part: str) -> str:
    """Return a sentence on the selected part of a log that does not name its parts.

    Parameters
    ----------
    log : EvaluationLog
    part : str
    """
    kind = log.part_is
    count = len({sample.part for sample in log.samples})
    names = f"{log.label} does not name its {count} {kind}s"
    return f"{names}: {kind} {part} is number {part} in the order of the file"


def _unzipped(path: str, label: str) -> tuple:
    """Return the header and the samples of an .eval file, which is a zip archive of JSON."""
    zips: Any = zipfile
    damages: tuple = (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError)
    if _has_zstandard(path):
        zstd, zips = zstandard(label)
        damages = (*damages, zips.BadZipFile, zstd.ZstdError)
    try:
        with zips.ZipFile(path) as archive:
            names = filter(_MEMBER.fullmatch, archive.namelist())
            members = {name: json.loads(archive.read(name)) for name in names}
    except NotImplementedError:  # how zipfile refuses an unknown compression method
        convert = f"inspect log convert {path} --to json --output-dir ."
        raise ValueError(
            f"{label} is compressed by an unknown method; write it as JSON: {convert}"
        ) from None
    except damages:
        raise _damaged(label) from None
    headers = [members.pop(name) for name in _HEADERS if name in members]
    if not headers:
        raise ValueError(f"{label} is not a log of Inspect: it has no header")
    return headers[0], [members[name] for name in sorted(members, key=_natural)]


def _has_zstandard(path: str) -> bool:
    """Return whether a member of an archive is compressed by Zstandard."""
    try:
        with zipfile.ZipFile(path) as archive:
            return any(member.compress_type == ZSTANDARD for member in archive.infolist())
    except (zipfile.BadZipFile, OSError, ValueError):  # `_unzipped` reports the problem
        return False


def _natural(name: str) -> list:
    """Return a key that sorts numbers in names by their size."""
    parts = re.split(r"([0-9]+)", name)
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in parts]


def _inspect(label: str, header: Any, samples: Any) -> EvaluationLog:
    if not isinstance(samples, list) or not samples:
        raise ValueError(
            f"{label} has no samples, only a header; write the log with its samples (inspect log "
            "dump LOG)"
        )
    results = _at(header, "results") or {}
    entries = results.get("scores") or [results.get("scorer")]
    names = (str(entry.get("name")) for entry in entries if isinstance(entry, dict))
    scorers = list(dict.fromkeys(names))
    status = header.get("status", "started") if isinstance(header, dict) else ""
    read = []
    for number, sample in enumerate(samples, 1):
        read.append(_inspect_sample(number, sample, scorers, f"{label}, record {number}"))
    return EvaluationLog(
        label,
        tuple(read),
        scorers[0] if len(scorers) == 1 else "",
        "epoch",
        "scorer",
        unfinished="" if status == "success" else str(status),
        model=text_of(_at(header, "eval", "model")),
        task=text_of(_at(header, "eval", "task")),
    )


def _inspect_sample(
    number: int,
    sample: Any,
    scorers: list[str],
    where: str,
) -> Sample:
    if _at(sample, "id") is None:
        raise ValueError(f"{where} has no id, which every sample of a log of Inspect has")
    entries = sample.get("scores") or {}
    texts = sample.get("choices") or []
    if not entries and sample.get("score"):  # logs before version 2
        entries = {(scorers or ["score"])[0]: sample["score"]}
    choices = lettered(map(text_of, texts))
    outputs = _at(sample, "output", "choices") or [None]
    answer = choices.answered(text_of(_at(outputs[0], "message", "content")))
    scores = {}
    answers = {}
    for scorer, entry in entries.items():
        value = entry.get("value") if isinstance(entry, dict) else entry
        if not isinstance(value, dict):
            value = {"": value}
        for part, points in value.items():
            name = f"{scorer}.{part}" if part else scorer
            scores[name] = _number(points, f"{where}: the score of {name!r}")
            answers[name] = choices.meant(text_of(_at(entry, "answer"))) or answer
    target = sample.get("target")
    targets = target if isinstance(target, list) else [target]
    epoch = sample.get("epoch", 1)
    question = text_of(sample.get("input"))
    correct = [choices.meant(text_of(text)) for text in targets]
    cells = {"epoch": epoch, "input": question}
    cells["answer"] = next(iter(answers.values()), answer)
    cells["target"] = text_of(correct)
    if texts:
        cells["choices"] = choices.lines()
    cells |= _flat("metadata", sample.get("metadata"))
    content = question, choices.lines(), text_of(target)
    identifier = text_of(sample["id"])
    return Sample(
        number,
        identifier,
        str(epoch),
        scores,
        cells,
        answers,
        content=content,
    )


def _number(value: Any, what: str) -> float | None:
    """Return a score as a number, None if it is missing."""
    if value is None or isinstance(value, (list, dict)):
        return None
    try:
        number = float(letter_score(value) if isinstance(value, str) else value)
    except ValueError:
        raise ValueError(f"{what} is {value!r}; it must be C, I, P or N, or a number") from None
    return number if math.isfinite(number) else None


def letter_score(text: str) -> float | str:
    """Return the score that a letter or a word stands for, or the text itself.

    Examples
    --------
    >>> letter_score("P"), letter_score("Yes"), letter_score("0.7")
    (0.5, 1.0, '0.7')
    """
    return _LETTERS.get(text, _LETTERS.get(text.lower(), text))


def _at(value: Any, *keys: str) -> Any:
    """Return the value at a path of keys in nested objects, None if there is none."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _harness(label: str, records: list) -> EvaluationLog:
    samples = []
    for number, record, problem in records:
        if problem:
            raise ValueError(f"{label}, record {number} {problem}")
        samples.append(_harness_sample(number, record, f"{label}, record {number}"))
    is_named = any("filter" in record for _, record, _ in records)
    numbered = [] if is_named else _numbered_filters(samples)
    return EvaluationLog(
        label,
        tuple(numbered or samples),
        "",
        "filter",
        "metric",
        unnamed_parts=bool(numbered),
    )


def _harness_sample(number: int, record: dict, where: str) -> Sample:
    if record.get("doc_id") is None:
        raise ValueError(f"{where} has no doc_id: write the samples again (--log_samples)")
    numeric = [name for name, value in record.items() if isinstance(value, (int, float))]
    scores = {}
    for name in record.get("metrics") or [name for name in numeric if name not in _OWN]:
        if name not in record:
            again = "write the samples again (--log_samples)"
            raise ValueError(f"{where} has no {name!r}, although its metrics list it: {again}")
        scores[name] = _number(record[name], f"{where}: {name!r}")
    part = str(record.get("filter", "none"))
    target = text_of(record.get("target"))
    question = weighed(record)
    answers = {}
    unfit = []
    if question:
        for name in scores or [""]:
            answers[name] = question.choices.lines([question.picked(name)])
        unfit = [name for name, value in scores.items() if not question.fits(name, value)]
        cells = question.cells(target) | {"answer": next(iter(answers.values()))}
    else:
        answer = continued(record) or text_of(record.get("filtered_resps"))
        prompt = _first_text(record.get("arguments"))
        cells = {"input": prompt, "target": target, "answer": answer}
    cells = {"filter": part} | cells | _flat("doc", record.get("doc"))
    doc = json_line(record["doc"]) if "doc" in record else ""
    content = doc, text_of(record.get("doc_hash")), target, text_of(record.get("target_hash"))
    identifier = text_of(record["doc_id"])
    return Sample(
        number,
        identifier,
        part,
        scores,
        cells,
        answers,
        tuple(unfit),
        content,
    )


def _numbered_filters(samples: list[Sample]) -> list[Sample]:
    """Return samples with the number of their filter, or none if documents occur unequally often.

    The harness until 0.4.2 wrote every document once per filter, without the filter's name.
    """
    times: Counter[str] = Counter()
    contents = {sample.id: sample.content for sample in samples}
    numbered = []
    for sample in samples:
        if contents[sample.id] != sample.content:
            return []
        times[sample.id] += 1
        part = str(times[sample.id])
        numbered.append(replace(sample, part=part, cells=sample.cells | {"filter": part}))
    counts = set(times.values())
    return numbered if len(counts) == 1 and counts != {1} else []


def _first_text(value: Any) -> str:
    """Return the first text of nested lists and objects, such as the prompt of a request."""
    while isinstance(value, (list, dict)) and value:
        value = next(iter(value.values() if isinstance(value, dict) else value))
    return value if isinstance(value, str) else ""


def _flat(prefix: str, values: Any) -> dict:
    """Return the cells of an object by "prefix.name", nested ones as JSON."""
    cells = {}
    for name, value in values.items() if isinstance(values, dict) else ():
        is_plain = value is None or isinstance(value, (str, int, float))
        cells[f"{prefix}.{name}"] = value if is_plain else json_line(value)
    return cells
