"""Logs of evaluations as tables, by their content: Inspect (.json, .eval), lm-evaluation-harness (samples_*.jsonl),
OpenAI evals (.jsonl) and DeepEval (.json).

A row is a sample: `id`, `score`, `input`, `answer`, `target`, of multiple choice `choices`, and what else the log says
of it, such as `metadata.document` or `doc.question`. "log.json#NAME" names the scorer, or the filter, where a log has
several; "#epoch=2" and "#metric=acc_norm" say the rest, with commas between.
"""

import errno
import json
import math
import re
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from workbench import checks
from workbench.data.choices import continued, lettered, weighed
from workbench.data.columns import TableSource
from workbench.data.json_records import json_line, json_records, json_text, kind_of
from workbench.data.numbers import objects
from workbench.data.text_files import zstandard
from workbench.extras.compare.log_samples import EvaluationLog, Sample
from workbench.extras.compare.other_logs import DEEPEVAL, OPENAI, deepeval_log, openai_log
from workbench.results import Note

EVAL = ".eval"
SHOWN = (
    "input",
    "choices",
    "answer",
    "target",
)  # what people see of a sample where nothing else is said
PEEKED = 1 << 16
_INSPECT = re.compile(
    r'\s*\{\s*("version"\s*:\s*[0-9]+\s*,\s*"status"\s*:|'
    r'"status"\s*:\s*"[a-z]+"\s*,\s*"eval"\s*:\s*\{)'
)
_LISTED = re.compile(
    r'\s*\[\s*\{\s*"doc_id"\s*:\s*[0-9]+\s*,\s*"doc"\s*:'
)  # the harness until 0.4.2
_HARNESS = re.compile(r'\s*\{.*"(filtered_resps|resps|doc_hash)"\s*:', re.DOTALL)
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
_ADDED = {"id", "source", "internal"}  # to a message, by a run
_OWN = {
    "doc_id",
    "doc",
    "target",
    "arguments",
    "resps",
    "filtered_resps",
    "filter",
    "metrics",
    "doc_hash",
    "prompt_hash",
    "target_hash",
}


def scores_of(samples: Sequence[Sample]) -> list[str]:
    """Return the names of the scores that any of the samples has."""
    return list(
        dict.fromkeys(
            name for each in samples for name, value in each.scores.items() if value is not None
        )
    )


def is_log(text: str, ending: str) -> bool:
    """Return whether the beginning of a JSON text is that of a log.

    Examples
    --------
    >>> is_log('{"version": 2, "status": "success",', ".json"), is_log('{"id": 1, "score": 0.5}', ".json")
    (True, False)
    """
    if ending == ".json":
        return any(start.match(text) for start in (_INSPECT, _LISTED, DEEPEVAL))
    first = text.split("\n", 1)[0]
    return bool(_LISTED.match(text) or _HARNESS.match(first) or OPENAI.match(first))


def read_log(path: str, label: str) -> EvaluationLog:
    """Read a log of Inspect, the harness, OpenAI evals or DeepEval.

    Raises
    ------
    ValueError
        If it is cut off, a record lacks what it must have, or a score cannot be understood; names the record.
    """
    with open(path, "rb") as file:
        packed = file.read(2) == b"PK"
    if packed:
        return _inspect(label, *_unzipped(path, label))
    text = json_text(path, label)
    if OPENAI.match(text.split("\n", 1)[0]):
        return openai_log(label, json_records(text, label))
    if not _INSPECT.match(text) and DEEPEVAL.match(text):
        return deepeval_log(label, _whole(text, label))
    if not _INSPECT.match(text):
        return _harness(label, json_records(text, label))
    try:
        log = json.loads(text)
    except (json.JSONDecodeError, RecursionError):
        raise ValueError(
            f"{label} is cut off or damaged: write the log again (inspect log dump LOG)"
        ) from None
    samples = log.get("samples")
    if not isinstance(samples, list) or not samples:
        raise ValueError(
            f"{label} has no samples, only a header: write the log with them (inspect log dump LOG)"
        )
    return _inspect(label, log, samples)


def _whole(text: str, label: str) -> dict:
    try:
        return json.loads(text)
    except (json.JSONDecodeError, RecursionError):
        raise ValueError(f"{label} is cut off or damaged; copy it again") from None


def open_log(path: str, label: str, choice: str = "") -> TableSource:
    """Return a log as a source of columns: its scored samples, or all where none has a score."""
    log = read_log(path, label)
    name_of = _Names(log, choice)
    samples = _distinct(log, name_of.samples(), name_of)
    score = name_of.score(samples)
    scored = [each for each in samples if each.scores.get(score) is not None]
    notes = tuple(_notes(log, score, samples, scored))
    rows = [
        {
            "id": each.id,
            **({"score": each.scores[score]} if score else {}),
            **each.cells,
            "answer": each.answers.get(score, each.cells["answer"]),
            **{f"scores.{name}": value for name, value in each.scores.items()},
        }
        for each in scored or samples
    ]

    def fetch(wanted: Any) -> Any:
        return {name: objects([row.get(name) for row in rows]) for name in wanted}, notes

    return TableSource(label, tuple(dict.fromkeys(name for row in rows for name in row)), fetch)


def chosen_score(log: EvaluationLog, choice: str) -> tuple[list[Sample], str]:
    """Return the samples of a log, each as often as it has epochs, and the name of its score; of one filter.

    Parameters
    ----------
    log : EvaluationLog
    choice : str
        What is written after "#".
    """
    name_of = _Names(log, choice)
    samples = name_of.samples()
    if log.part_is == "filter":
        _distinct(log, samples, name_of)
    return samples, name_of.score(samples)


class _Names:
    """What is written after "#", compared with what the log has."""

    def __init__(self, log: EvaluationLog, choice: str) -> None:
        self.log, self.parts = log, list(dict.fromkeys(each.part for each in log.samples))
        self.said, self.bare = {}, log.score_is if log.part_is == "epoch" else log.part_is
        for word in filter(None, choice.split(",")):
            key, sign, value = word.partition("=")
            bare = (
                self.bare
                if word in self.parts or len(self.parts) > 1 and word not in scores_of(log.samples)
                else log.score_is
            )
            self.said[key if sign else bare] = value if sign else word
        strange = next((key for key in self.said if key not in (log.part_is, log.score_is)), None)
        if strange is not None:
            raise ValueError(
                f"{log.label}: {strange!r} is nothing to choose; say {log.part_is}= or {log.score_is}="
            )

    def samples(self) -> list[Sample]:
        """Return the samples of the part that was chosen, or all."""
        part = self._known(self.log.part_is, self.parts)
        return [each for each in self.log.samples if part in ("", each.part)]

    def score(self, samples: Sequence[Sample]) -> str:
        """Return the score that was chosen, the log's own, or its only one; "" where there is none."""
        known = scores_of(samples)
        if not known:
            return ""
        if said := self._known(self.log.score_is, known):
            return said
        only = self.log.score if self.log.score in known else known[0] if len(known) == 1 else ""
        if not only:
            raise ValueError(
                f"{self.log.label} has {len(known)} {self.log.score_is}s; name one: "
                f"{self.listed(self.log.score_is, known)}"
            )
        return only

    def listed(self, key: str, values: Sequence[str]) -> str:
        """Return how each value would be chosen."""
        path, sign = self.log.label[1:-1].split("#")[0], "" if key == self.bare else f"{key}="
        kept = "".join(f"{other}={value}," for other, value in self.said.items() if other != key)
        return " or ".join(repr(f"{path}#{kept}{sign}{value}") for value in values[:5])

    def _known(self, key: str, values: list) -> str:
        said = self.said.get(key, "")
        if said and said not in values:
            raise ValueError(
                f"{self.log.label} has no {key} {said!r}; it has {checks.listed(values, quoted=True)}"
                f"{checks.suggestion(said, values)}"
            )
        return said


def _distinct(log: EvaluationLog, samples: list, names: _Names) -> list:
    """Return samples, or raise where one occurs twice: in several parts of which one is to be named, or in one."""
    first: dict[str, Sample] = {}
    for each in samples:
        other = first.setdefault(each.id, each)
        if other is each:
            continue
        twice = (
            f"{log.label}: {'doc_id' if log.part_is == 'filter' else 'id'} {each.id} occurs twice"
        )
        if other.part == each.part:
            raise ValueError(f"{twice}, in records {other.number} and {each.number}: keep one")
        counted = (
            f"; this log does not name them, so they are counted in their order ({_means(log)})"
            if log.unnamed_parts
            else ""
        )
        raise ValueError(
            f"{twice}, once per {log.part_is}{counted}; name one: "
            f"{names.listed(log.part_is, names.parts)}"
        )
    return samples


def _means(log: EvaluationLog) -> str:
    """Return the mean score of each part, in words."""
    name = (scores_of(log.samples) or [""])[0]
    values: dict[str, list[float]] = {}
    for sample in log.samples:
        score = sample.scores.get(name)
        values.setdefault(sample.part, []).extend([] if score is None else [score])
    return ", ".join(
        f"mean {name} of {part}: {sum(scores) / len(scores):.4g}"
        for part, scores in values.items()
        if scores
    )


def _notes(log: Any, score: Any, samples: Any, scored: Any) -> Any:
    if log.unfinished:
        yield Note(
            "data",
            f"the run of {log.label} did not finish, its status is {log.unfinished!r}: samples may be "
            "missing",
        )
    if not scored:
        yield Note("data", f"{log.label} has no score")
        return
    of = f"{log.score_is} {score!r}"
    parts = {each.part for each in log.samples}
    if log.unnamed_parts and {each.part for each in samples} != parts:
        yield Note("data", unnamed_part(log, samples[0].part))
    others = [name for name in scores_of(samples) if name != score]
    yield Note(
        "data",
        f"the score is that of {of}"
        + (f", not {checks.listed(others, quoted=True)}" if others else ""),
    )
    left = [each.id for each in samples if each.scores.get(score) is None]
    if left:
        have = "sample has" if len(left) == 1 else "samples have"
        yield Note(
            "data",
            f"{len(left)} {have} no score of {of} and {'is' if len(left) == 1 else 'are'} left out: "
            f"{checks.listed(left, 5, quoted=True)}",
        )
    unfit = [each.id for each in scored if score in each.unfit]
    if unfit:
        yield Note(
            "data",
            f"{of} does not fit the choices of {checks.counted(len(unfit), 'sample')}, where the one "
            f"that weighs most is right though it scores 0, or wrong though it scores 1: "
            f"{checks.listed(unfit, 5, quoted=True)}",
        )


def unnamed_part(log: EvaluationLog, part: str) -> str:
    """Return which part was taken of a log that does not name its parts.

    Parameters
    ----------
    log : EvaluationLog
    part : str
    """
    many = len({each.part for each in log.samples})
    return f"{log.label} does not name its {many} {log.part_is}s: {log.part_is} {part} is number {part} in its order"


def _unzipped(path: str, label: str) -> tuple:
    """Return header and samples of an .eval file, which is a zip archive of JSON."""
    zstd, zips = zstandard()
    try:
        with zips.ZipFile(path) as archive:
            inside = archive.namelist()
            header = next(
                (name for name in ("header.json", "_journal/start.json") if name in inside), None
            )
            samples = sorted(
                (name for name in inside if re.fullmatch(r"samples/.+\.json", name)), key=_natural
            )
            if header is None or not samples:
                raise ValueError(
                    f"{label} is no log of Inspect: it has no {'samples' if header else 'header'}"
                )
            return json.loads(archive.read(header)), [
                json.loads(archive.read(name)) for name in samples
            ]
    except (
        zips.BadZipFile,
        zstd.ZstdError,
        zlib.error,
        EOFError,
        json.JSONDecodeError,
        UnicodeDecodeError,
    ):
        raise ValueError(f"{label} is cut off or damaged; copy it again") from None
    except OSError as error:
        if error.errno != errno.EINVAL:  # a place before the file's beginning
            raise
        raise ValueError(f"{label} is cut off or damaged; copy it again") from None
    except NotImplementedError:
        raise ValueError(
            f"{label} is packed in a way that is not known here; write it as JSON: inspect log convert "
            f"{path} --to json --output-dir ."
        ) from None


def _natural(name: str) -> list:
    return [
        (int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"([0-9]+)", name)
    ]


def _inspect(label: Any, header: Any, samples: Any) -> EvaluationLog:
    results = _at(header, "results") or {}
    listed = [
        each for each in results.get("scores") or [results.get("scorer")] if isinstance(each, dict)
    ]
    named = list(dict.fromkeys(str(each.get("name")) for each in listed))
    found = [
        _sample(number, sample, named, f"{label}, record {number}")
        for number, sample in enumerate(samples, 1)
    ]
    status = (
        header.get("status", "started") if isinstance(header, dict) else ""
    )  # a journal's start has none
    return EvaluationLog(
        label,
        tuple(found),
        named[0] if len(named) == 1 else "",
        "epoch",
        "scorer",
        "" if status == "success" else str(status),
        _said(_at(header, "eval", "model")),
        _said(_at(header, "eval", "task")),
    )


def _sample(number: int, sample: Any, named: list[str], where: str) -> Sample:
    if not isinstance(sample, dict) or sample.get("id") is None:
        raise ValueError(f"{where} has no id: each sample of a log of Inspect has one")
    given = sample.get("scores") or (
        {(named or ["score"])[0]: sample["score"]} if sample.get("score") else {}
    )
    if not isinstance(given, dict):
        raise ValueError(f"{where}: scores is {kind_of(given)}, not an object of scorers")
    if not isinstance(texts := sample.get("choices") or [], list):
        raise ValueError(f"{where}: choices is {kind_of(texts)}, not a list")
    found = [
        (scorer, name, value)
        for scorer, each in given.items()
        for name, value in _values(scorer, each, where)
    ]
    choices, epoch = lettered(map(_said, texts)), sample.get("epoch", 1)
    output = _at(sample, "output", "choices")
    said = choices.answered(_said(_at(output[0], "message", "content")) if output else "")
    answers = {scorer: choices.meant(_said(_at(each, "answer"))) for scorer, each in given.items()}
    target = sample.get("target")
    cells = {
        "epoch": epoch,
        "input": _said(sample.get("input")),
        "answer": next(filter(None, answers.values()), said),
        "target": _said(
            [choices.meant(_said(each)) for each in target]
            if isinstance(target, list)
            else choices.meant(_said(target))
        ),
        **({"choices": choices.told()} if choices.texts else {}),
        **_flat("metadata", sample.get("metadata")),
    }
    return Sample(
        number,
        _plain(sample["id"]),
        str(epoch),
        {name: value for _, name, value in found},
        cells,
        {name: answers[scorer] or said for scorer, name, _ in found},
        content=(
            json_line(_asked(sample.get("input"))),
            json_line(texts) if texts else "",
            _said(target),
        ),
    )


def _values(scorer: str, score: dict, where: str) -> Iterator[tuple]:
    value = score.get("value") if isinstance(score, dict) else score
    for name, each in (
        [(f"{scorer}.{key}", each) for key, each in value.items()]
        if isinstance(value, dict)
        else [(scorer, value)]
    ):
        yield name, _number(each, f"{where}: the score of {name!r}")


def _number(value: Any, what: Any) -> float | None:
    """Return a score as a number, None where there is none."""
    if value is None or isinstance(value, (list, dict)):
        return None
    try:
        number = float(letter_score(value) if isinstance(value, str) else value)
    except ValueError:
        raise ValueError(f"{what} is {value!r}; a score is C, I, P or N, or a number") from None
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
    """Return what stands in nested objects, None where there is nothing."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _harness(label: str, records: list) -> EvaluationLog:
    found = []
    for number, record, problem in records:
        where = f"{label}, record {number}"
        if problem:
            raise ValueError(f"{where} {problem}")
        if record.get("doc_id") is None:
            raise ValueError(f"{where} has no doc_id: write the samples again (--log_samples)")
        named = record.get("metrics") or [
            name
            for name, value in record.items()
            if name not in _OWN and isinstance(value, (int, float))
        ]
        for name in set(named) - set(record):
            raise ValueError(
                f"{where} has no {name!r}, though its metrics name it: write the samples again "
                "(--log_samples)"
            )
        scores = {name: _number(record[name], f"{where}: {name!r}") for name in named}
        question, part, target = (
            weighed(record),
            str(record.get("filter", "none")),
            _said(record.get("target")),
        )
        picked = (
            {name: question.choices.told([question.picked(name)]) for name in scores or [""]}
            if question
            else {}
        )
        unfit = tuple(
            name for name, value in scores.items() if question and not question.fits(name, value)
        )
        cells = (
            question.cells(target) | {"answer": next(iter(picked.values()))}
            if question
            else {
                "input": _first_text(record.get("arguments")),
                "target": target,
                "answer": continued(record) or _said(record.get("filtered_resps")),
            }
        )
        found.append(
            Sample(
                number,
                _plain(record["doc_id"]),
                part,
                scores,
                {"filter": part, **cells, **_flat("doc", record.get("doc"))},
                picked,
                unfit,
                (
                    json_line(record["doc"]) if "doc" in record else "",
                    _said(record.get("doc_hash")),
                    target,
                    _said(record.get("target_hash")),
                ),
            )
        )
    counted = (
        None if any("filter" in record for _, record, _ in records) else _counted_filters(found)
    )
    return EvaluationLog(
        label, tuple(counted or found), "", "filter", "metric", unnamed_parts=counted is not None
    )


def _counted_filters(samples: list[Sample]) -> list[Sample] | None:
    """Return samples with the number of their filter, or None where documents do not occur equally often.

    The harness until 0.4.2 wrote every document once per filter and left the filter's name out.
    """
    times: Counter = Counter()
    numbered = []
    for sample in samples:
        times[sample.id] += 1
        part = str(times[sample.id])
        numbered.append(replace(sample, part=part, cells=sample.cells | {"filter": part}))
    content = {sample.id: sample.content for sample in samples}
    same = all(content[sample.id] == sample.content for sample in samples)
    return numbered if same and len(set(times.values())) == 1 and times[samples[0].id] > 1 else None


def _first_text(asked: Any) -> str:
    """Return the prompt: the first text of the arguments of a request."""
    while isinstance(asked, (list, dict)) and asked:
        asked = next(iter(asked.values() if isinstance(asked, dict) else asked))
    return asked if isinstance(asked, str) else ""


def _said(value: Any) -> Any:
    """Return what people read: text, or the texts of a list of messages or answers."""
    if isinstance(value, list):
        texts = [
            each.get("content", each.get("text")) if isinstance(each, dict) else each
            for each in value
        ]
        return "\n".join(map(_said, texts))
    return "" if value is None else value if isinstance(value, str) else json_line(value)


def _asked(value: Any) -> Any:
    """Return what a sample asks, of messages without what each run adds, such as identifiers."""
    if isinstance(value, list):
        return [_asked(each) for each in value]
    if isinstance(value, dict):
        return {
            name: _asked(each)
            for name, each in value.items()
            if each is not None and name not in _ADDED
        }
    return value


def _flat(prefix: Any, values: Any) -> dict:
    """Return the cells of an object by "prefix.name"; what is nested deeper as JSON."""
    if not isinstance(values, dict):
        return {}
    return {
        f"{prefix}.{name}": value
        if value is None or isinstance(value, (str, int, float))
        else json_line(value)
        for name, value in values.items()
    }


def _plain(identifier: int | str) -> str:
    return identifier if isinstance(identifier, str) else json_line(identifier)
