"""Logs of OpenAI evals and DeepEval, and tables of promptfoo, known by their content.

OpenAI evals writes a line per event, of which those of kind "match" or "metrics" hold a score of a sample. DeepEval
writes a JSON object of test cases, each with the scores of its metrics. promptfoo compares several models in one file:
JSON, JSON Lines or CSV, with "[PASS] answer" in a cell or a column "Status" next to it.
"""

import csv
import io
import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from workbench import checks
from workbench.data.json_records import json_line
from workbench.extras.compare.log_samples import EvaluationLog, Sample

OPENAI = re.compile(
    r'\s*\{\s*"spec"\s*:\s*\{.*"(completion_fns|eval_name)"\s*:|'
    r'\s*\{(?=.*"event_id"\s*:)(?=.*"sample_id"\s*:)(?=.*"type"\s*:).*"data"\s*:'
)
DEEPEVAL = re.compile(
    r'\s*\{.*"(testCases|test_results|testResults)"\s*:\s*\[.*"(metricsData|metrics_data)"\s*:',
    re.DOTALL,
)
PROMPTFOO = re.compile(
    r'\s*[\[{](?=.*"promptIdx"\s*:)(?=.*"testIdx"\s*:).*"(success|gradingResult)"\s*:', re.DOTALL
)
PROMPTFOO_CSV = re.compile(
    r'(^|[,"])\s*\[(PASS|FAIL|ERROR)\] |,"?Status"?,"?Score"?,"?Named Scores"?,', re.MULTILINE
)
_SCORED = ("match", "metrics", "accuracy")
_VERDICT = re.compile(r"\s*\[(PASS|FAIL|ERROR)\]")
_POINTS = {"PASS": 1.0, "FAIL": 0.0, "ERROR": None}


def openai_log(label: str, records: Sequence[tuple[int, Any, str]]) -> EvaluationLog:
    """Return a log of OpenAI evals.

    Parameters
    ----------
    label : str
    records : list of (int, dict, str)
        As of `json_records`.
    """
    spec: dict = {}
    asked: dict[str, str] = {}
    samples = []
    for number, record, problem in records:
        if problem:
            raise ValueError(f"{label}, record {number} {problem}")
        spec = record["spec"] if isinstance(record.get("spec"), dict) else spec
        data, identifier = record.get("data"), record.get("sample_id")
        if not isinstance(data, dict) or identifier is None:
            continue
        if record.get("type") == "sampling":
            asked.setdefault(str(identifier), _text(data.get("prompt")))
        if record.get("type") in _SCORED:
            samples.append(_openai_sample(number, str(identifier), data))
    if not samples:
        raise ValueError(
            f"{label} has no event of kind {checks.listed(_SCORED, quoted=True)}: it holds no scores"
        )
    samples = [
        Sample(
            each.number,
            each.id,
            "",
            each.scores,
            each.cells | {"input": asked.get(each.id, "")},
            content=(asked.get(each.id, ""), each.cells["target"]),
        )
        for each in samples
    ]
    names = list(dict.fromkeys(name for each in samples for name in each.scores))
    models = spec.get("completion_fns") or []
    return EvaluationLog(
        label,
        tuple(samples),
        "correct" if "correct" in names else "",
        "epoch",
        "metric",
        model=str(models[0]) if models else "",
        task=str(spec.get("eval_name") or ""),
    )


def _openai_sample(number: int, identifier: str, data: dict) -> Sample:
    scores = {
        name: number_of(value)
        for name, value in data.items()
        if isinstance(value, (bool, int, float))
    }
    cells = {
        "input": "",
        "answer": _text(data.get("picked", data.get("sampled"))),
        "target": _text(data.get("expected")),
    }
    return Sample(number, identifier, "", scores, cells)


def deepeval_log(label: str, log: dict) -> EvaluationLog:
    """Return a log of DeepEval.

    Parameters
    ----------
    label : str
    log : dict
    """
    holder = next(
        (each for each in (log, *log.values()) if isinstance(each, dict) and _cases(each)), {}
    )
    cases = [each for each in _cases(holder) if isinstance(each, dict)]
    if not cases:
        raise ValueError(f"{label} has no test cases")
    names = [str(case.get("name") or "") for case in cases]
    named = all(names) and len(set(names)) == len(names)
    samples = []
    for number, case in enumerate(cases, 1):
        metrics = [
            each
            for each in _either(case, "metricsData", "metrics_data") or []
            if isinstance(each, dict)
        ]
        scores = {
            str(each.get("name")): None if each.get("error") else number_of(each.get("score"))
            for each in metrics
        }
        cells = {
            "input": _text(case.get("input")),
            "answer": _text(_either(case, "actualOutput", "actual_output")),
            "target": _text(_either(case, "expectedOutput", "expected_output")),
        }
        identifier = names[number - 1] if named else str(number)
        samples.append(
            Sample(number, identifier, "", scores, cells, content=(cells["input"], cells["target"]))
        )
    settings = holder.get("hyperparameters")
    model = settings.get("model") if isinstance(settings, dict) else None
    return EvaluationLog(
        label, tuple(samples), "", "epoch", "metric", model=model if isinstance(model, str) else ""
    )


def _cases(log: dict) -> list:
    cases = _either(log, "testCases", "test_results", "testResults")
    return cases if isinstance(cases, list) else []


def _either(record: dict, *names: str) -> Any:
    return next((record[name] for name in names if record.get(name) is not None), None)


def number_of(value: Any) -> float | None:
    """Return a score as a number, None where there is none.

    Examples
    --------
    >>> number_of(True), number_of("0.5"), number_of(None), number_of(float("nan"))
    (1.0, None, None, None)
    """
    if not isinstance(value, (bool, int, float)) or not math.isfinite(value):
        return None
    return float(value)


def _text(value: Any) -> str:
    return "" if value is None else value if isinstance(value, str) else json_line(value)


def promptfoo_results(value: Any) -> list[dict]:
    """Return the results in a JSON value of promptfoo, [] where there are none.

    Parameters
    ----------
    value : dict or list
        A whole file, or its records.
    """
    while isinstance(value, dict):
        value = value.get("results")
    results = [each for each in value or [] if isinstance(each, dict)]
    return (
        results if results and all({"promptIdx", "testIdx"} <= {*each} for each in results) else []
    )


def promptfoo_table(results: Sequence[dict]) -> dict[str, list]:
    """Return results of promptfoo as columns: id, repeat, model, score, passed, output and the variables of each test.

    Parameters
    ----------
    results : list of dict
        As of `promptfoo_results`.
    """
    prompts = {int(each["promptIdx"]): _prompt(each) for each in results}
    providers = {int(each["promptIdx"]): _provider(each) for each in results}
    names = model_names([(providers[place], prompts[place]) for place in sorted(prompts)])
    model = dict(zip(sorted(prompts), names, strict=True))
    tests = {
        int(each["testIdx"]): json_line(each["vars"]) if each.get("vars") else ""
        for each in results
    }
    ids, repeats = _identified([(asked,) for _, asked in sorted(tests.items())])
    item = dict(zip(sorted(tests), zip(ids, repeats, strict=True), strict=True))
    rows = []
    for each in results:
        identifier, repeat = item[int(each["testIdx"])]
        score = None if _failed_to_run(each) else number_of(each.get("score", each.get("success")))
        response = each.get("response")
        rows.append(
            {
                "id": identifier,
                "repeat": repeat,
                "model": model[int(each["promptIdx"])],
                "score": score,
                "passed": None if _failed_to_run(each) else number_of(each.get("success")),
                "output": _text(response.get("output")) if isinstance(response, dict) else "",
            }
            | {f"vars.{name}": _text(value) for name, value in (each.get("vars") or {}).items()}
        )
    columns = dict.fromkeys(name for row in rows for name in row)
    return {name: [row.get(name) for row in rows] for name in columns}


def _failed_to_run(result: dict) -> bool:
    """Return whether a result is that of a call that failed: promptfoo numbers this reason 2."""
    return (
        result.get("failureReason") == 2
        or bool(result.get("error"))
        and not result.get("gradingResult")
    )


def _provider(result: dict) -> str:
    provider = result.get("provider")
    if isinstance(provider, dict):
        return str(provider.get("label") or provider.get("id") or "")
    return str(provider or "")


def _prompt(result: dict) -> str:
    prompt = result.get("prompt")
    return (
        str(prompt.get("label") or prompt.get("raw") or "")
        if isinstance(prompt, dict)
        else str(prompt or "")
    )


def model_names(columns: Sequence[tuple[str, str]]) -> list[str]:
    """Return a name for each pair of a provider and a prompt: what tells them apart.

    Parameters
    ----------
    columns : list of (str, str)

    Examples
    --------
    >>> model_names([("small", "p"), ("large", "p")]), model_names([("small", "p"), ("small", "q")])
    (['small', 'large'], ['p', 'q'])
    """
    providers, prompts = ([" ".join(pair[side].split()) for pair in columns] for side in (0, 1))
    both = [
        f"{provider} {prompt}".strip() for provider, prompt in zip(providers, prompts, strict=True)
    ]
    for names in (providers, prompts, both):
        if all(names) and len(set(names)) == len(names):
            return names
    return [
        f"{name} ({number})" if name else f"prompt {number}" for number, name in enumerate(both, 1)
    ]


def promptfoo_csv(text: str) -> dict[str, list]:
    r"""Return the table of promptfoo's CSV file as `promptfoo_table` does, {} where a text is no such file.

    Tests that are the same in all variables are repeats of one item; `repeat` counts them.

    Parameters
    ----------
    text : str

    Examples
    --------
    >>> table = promptfoo_csv('q,[small] Say {{q}},[large] Say {{q}}\none,[PASS] 1,[FAIL] no')
    >>> table["model"], table["score"]
    (['small', 'large'], [1.0, 0.0])
    """
    header, *rows = csv.reader(io.StringIO(text, newline="")) if text.strip() else [[]]
    rows = [row + [""] * (len(header) - len(row)) for row in rows if any(row)]
    places = dict(_outputs(header, rows))
    if not places:
        return {}
    first = min(places)
    names = model_names([_split(header[place]) for place in places])
    ids, repeats = _identified([tuple(row[:first]) for row in rows])
    table: dict[str, list] = {
        name: []
        for name in (
            "id",
            "repeat",
            "model",
            "score",
            "output",
            *(f"vars.{name}" for name in header[:first]),
        )
    }
    for row, identifier, repeat in zip(rows, ids, repeats, strict=True):
        for (place, status), model in zip(places.items(), names, strict=True):
            verdict = _VERDICT.match(f"[{row[status].upper()}]" if status != place else row[place])
            values = [
                identifier,
                repeat,
                model,
                _POINTS[verdict[1]] if verdict else None,
                row[place],
                *row[:first],
            ]
            for name, value in zip(table, values, strict=True):
                table[name].append(value)
    return table


def _outputs(header: list[str], rows: list[list[str]]) -> Iterator[tuple[int, int]]:
    """Yield the place of each column of answers and that of its verdicts, the same or the column "Status" after it."""
    for place, name in enumerate(header):
        cells = [row[place] for row in rows if row[place]]
        if header[place + 1 : place + 3] == ["Status", "Score"]:
            yield place, place + 1
        elif name and cells and all(_VERDICT.match(cell) for cell in cells):
            yield place, place


def _split(name: str) -> tuple[str, str]:
    found = re.fullmatch(r"\s*\[([^\]]+)\]\s*(.*)", name, re.DOTALL)
    return (found[1], found[2]) if found else ("", name)


def _identified(variables: list[tuple[str, ...]]) -> tuple[list[str], list[str]]:
    """Return an identifier for each row, the place of the first row that is like it, and which repeat it is."""
    first: dict[tuple[str, ...], str] = {}
    times: Counter = Counter()
    ids, repeats = [], []
    for place, values in enumerate(variables):
        key = values if any(values) else (str(place),)
        times[key] += 1
        ids.append(first.setdefault(key, str(place)))
        repeats.append(str(times[key]))
    return ids, repeats
