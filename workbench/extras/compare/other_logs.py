"""Logs of OpenAI evals and DeepEval, and tables of promptfoo, recognized by their content.

- OpenAI evals writes a line per event. Events of kind "match", "metrics" or "accuracy" hold a score
  of a sample.
- DeepEval writes a JSON object of test cases, each with the scores of its metrics.
- promptfoo compares several models in one file: JSON, JSON Lines or CSV. In CSV, a cell holds
  "[PASS] answer", or the column "Status" is next to it.
"""

import csv
import io
import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from workbench import checks
from workbench.data.json_records import json_line, table_of
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
    r'(^|[,"])\s*\[(PASS|FAIL|ERROR)\] |,"?Status"?,"?Score"?,"?Named Scores"?,',
    re.MULTILINE | re.IGNORECASE,
)
_SCORED = ("match", "metrics", "accuracy")
_VERDICT = re.compile(r"\s*\[(PASS|FAIL|ERROR)\]", re.IGNORECASE)
_TITLE = re.compile(r"\s*(?:\[([^\]]+)\])?\s*(.*)", re.DOTALL)  # "[provider] prompt"
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
    prompts: dict[str, str] = {}
    first: dict[str, tuple[int, dict]] = {}  # number and data of the first event of each sample
    scores: dict[str, dict[str, float]] = {}
    for number, record, problem in records:
        if problem:
            raise ValueError(f"{label}, record {number} {problem}")
        spec = record.get("spec") or spec
        kind, data, identifier = (record.get(name) for name in ("type", "data", "sample_id"))
        if not isinstance(data, dict) or identifier is None:
            continue
        item = str(identifier)
        if kind == "sampling":
            prompts.setdefault(item, text_of(data.get("prompt")))
        if kind not in _SCORED:
            continue
        first.setdefault(item, (number, data))
        of_item = scores.setdefault(item, {})
        for name, cell in data.items():
            value = number_of(cell)
            if value is None:
                continue
            if name in of_item:
                raise ValueError(
                    f"{label} has two scores {name!r} of sample {item!r}, in records "
                    f"{first[item][0]} and {number}: keep one run in each file"
                )
            of_item[name] = value
    if not first:
        kinds = checks.listed(_SCORED, quoted=True)
        raise ValueError(f"{label} has no event of kind {kinds}: it holds no scores")
    samples = []
    for item, (number, data) in first.items():
        answer = data.get("picked", data.get("sampled"))
        prompt = prompts.get(item, "")
        samples.append(_sample(number, item, scores[item], prompt, answer, data.get("expected")))
    has_correct = any("correct" in names for names in scores.values())
    models = spec.get("completion_fns") or [""]
    return EvaluationLog(
        label,
        tuple(samples),
        "correct" if has_correct else "",
        "epoch",
        "metric",
        model=str(models[0]),
        task=str(spec.get("eval_name") or ""),
    )


def _sample(
    number: int,
    identifier: str,
    scores: dict,
    question: Any,
    answer: Any,
    target: Any,
) -> Sample:
    cells = {"input": text_of(question), "answer": text_of(answer), "target": text_of(target)}
    content = cells["input"], cells["target"]
    return Sample(
        number,
        identifier,
        "",
        scores,
        cells,
        content=content,
    )


def deepeval_log(label: str, log: dict) -> EvaluationLog:
    """Return a log of DeepEval.

    Parameters
    ----------
    label : str
    log : dict
    """
    holders = filter(_cases, (log, *log.values()))
    holder: dict = next(holders, {})
    cases = _cases(holder)
    if not cases:
        raise ValueError(f"{label} has no test cases")
    names = [str(case.get("name") or "") for case in cases]
    if not all(names) or len(set(names)) < len(names):
        names = [str(number) for number in range(1, len(names) + 1)]
    samples = []
    for number, case in enumerate(cases, 1):
        scores = {}
        for metric in _either(case, "metricsData", "metrics_data") or []:
            score = None if metric.get("error") else number_of(metric.get("score"))
            scores[str(metric.get("name"))] = score
        answer = _either(case, "actualOutput", "actual_output")
        target = _either(case, "expectedOutput", "expected_output")
        question = case.get("input")
        samples.append(
            _sample(
                number,
                names[number - 1],
                scores,
                question,
                answer,
                target,
            )
        )
    settings = holder.get("hyperparameters")
    model = settings.get("model") if isinstance(settings, dict) else None
    model = model if isinstance(model, str) else ""
    return EvaluationLog(
        label,
        tuple(samples),
        "",
        "epoch",
        "metric",
        model=model,
    )


def _cases(log: Any) -> list[dict]:
    if not isinstance(log, dict):
        return []
    cases = _either(log, "testCases", "test_results", "testResults")
    return [case for case in cases if isinstance(case, dict)] if isinstance(cases, list) else []


def _either(record: dict, *names: str) -> Any:
    return next((record[name] for name in names if record.get(name) is not None), None)


def number_of(value: Any) -> float | None:
    """Return a score as a number, None if it is missing.

    Examples
    --------
    >>> number_of(True), number_of("0.5"), number_of(None), number_of(float("nan"))
    (1.0, None, None, None)
    """
    is_number = isinstance(value, (bool, int, float)) and math.isfinite(value)
    return float(value) if is_number else None


def text_of(value: Any) -> str:
    """Return a value as text; a list of messages or answers gives a line for each.

    Examples
    --------
    >>> print(text_of([{"role": "user", "content": "Why?"}, "So"]))
    Why?
    So
    """
    if value is None or isinstance(value, str):
        return value or ""
    if not isinstance(value, list):
        return json_line(value)
    texts = []
    for entry in value:
        if isinstance(entry, dict):
            entry = entry.get("content", entry.get("text"))
        texts.append(text_of(entry))
    return "\n".join(texts)


def promptfoo_results(value: Any) -> list[dict]:
    """Return the results in a JSON value of promptfoo, [] if it has none.

    Parameters
    ----------
    value : dict or list
        A whole file, or its records.
    """
    while isinstance(value, dict):
        value = value.get("results")
    results = [result for result in value or [] if isinstance(result, dict)]
    return results if all({"promptIdx", "testIdx"} <= {*result} for result in results) else []


def promptfoo_table(results: Sequence[dict]) -> dict[str, list]:
    """Return results of promptfoo as columns.

    The columns are id, repeat, model, score, passed, output, the variables of each test, and its
    named scores. A test is identified by its variables, so that files of several runs can be
    joined.

    Parameters
    ----------
    results : list of dict
        As returned by `promptfoo_results`.
    """
    prompts = {}
    tests = {}
    for result in results:
        provider = _label(result.get("provider"), "id")
        prompt = _label(result.get("prompt"), "raw")
        prompts[result["promptIdx"]] = provider, prompt
        variables = result.get("vars") or {}
        tests[result["testIdx"]] = {name: text_of(value) for name, value in variables.items()}
    prompts = dict(sorted(prompts.items()))
    tests = dict(sorted(tests.items()))
    models = dict(zip(prompts, model_names([*prompts.values()]), strict=True))
    items = dict(zip(tests, _identified(tests.values()), strict=True))
    rows = []
    for result in results:
        identifier, repeat = items[result["testIdx"]]
        passed = result.get("success")
        response = result.get("response")
        score = result.get("score", passed)
        failed = bool(result.get("error")) and not result.get("gradingResult")
        if failed or result.get("failureReason") == 2:  # promptfoo's code of a call that failed
            passed = score = None
        row = {"id": identifier, "repeat": repeat}
        row["model"] = models[result["promptIdx"]]
        row["score"] = number_of(score)
        row["passed"] = number_of(passed)
        row["output"] = ""
        if isinstance(response, dict):
            row["output"] = text_of(response.get("output"))
        row |= {f"vars.{name}": text for name, text in tests[result["testIdx"]].items()}
        if passed is not None:
            row |= _named_scores(result.get("namedScores"))
        rows.append(row)
    return table_of(rows)


def _named_scores(scores: Any) -> dict[str, float | None]:
    """Return the named scores of a result as columns, from an object or its JSON."""
    if isinstance(scores, str):
        try:
            scores = json.loads(scores)
        except json.JSONDecodeError:
            return {}
    if not isinstance(scores, dict):
        return {}
    return {f"scores.{name}": number_of(value) for name, value in scores.items()}


def _label(value: Any, field: str) -> str:
    """Return the label of a provider or a prompt, or else another field of it."""
    if isinstance(value, dict):
        value = value.get("label") or value.get(field)
    return str(value or "")


def model_names(columns: Sequence[tuple[str, str]]) -> list[str]:
    """Return a distinct name for each pair of a provider and a prompt.

    Parameters
    ----------
    columns : list of (str, str)

    Examples
    --------
    >>> model_names([("small", "p"), ("large", "p")])
    ['small', 'large']
    >>> model_names([("small", "p"), ("small", "q")])
    ['p', 'q']
    """
    providers = [" ".join(provider.split()) for provider, _ in columns]
    prompts = [" ".join(prompt.split()) for _, prompt in columns]
    both = [" ".join(pair).strip() for pair in zip(providers, prompts, strict=True)]
    for names in (providers, prompts, both):
        if all(names) and len(set(names)) == len(names):
            return names
    return [f"{name or 'prompt'} ({number})" for number, name in enumerate(both, 1)]


def promptfoo_csv(text: str) -> dict[str, list]:
    r"""Return the table of promptfoo's CSV file as `promptfoo_table` does, {} for any other text.

    Tests with equal variables are repeats of one item, and `repeat` numbers them.

    Parameters
    ----------
    text : str

    Examples
    --------
    >>> header = "q,[small] Say {{q}},[large] Say {{q}}"
    >>> table = promptfoo_csv(f"{header}\none,[PASS] 1,[FAIL] no")
    >>> table["model"], table["score"]
    (['small', 'large'], [1.0, 0.0])
    """
    lines = [line for line in csv.reader(io.StringIO(text, newline="")) if any(line)]
    if len(lines) < 2:
        return {}
    header = lines[0]
    width = len(header)
    cells = [line + [""] * (width - len(line)) for line in lines[1:]]
    outputs = _outputs(header, cells)
    if not outputs:
        return {}
    names = header[: min(outputs)]
    titles = {column: _TITLE.fullmatch(header[column]) for column in outputs}
    results = []
    for test, line in enumerate(cells):
        variables = dict(zip(names, line, strict=False))
        for column, status in outputs.items():
            title = titles[column]
            result: dict = {"promptIdx": column, "testIdx": test, "vars": variables}
            result |= {"provider": title and title[1], "prompt": title and title[2]}
            verdict = line[column] if status == column else f"[{line[status]}]"
            match = _VERDICT.match(verdict)
            points = _POINTS[match[1].upper()] if match else None
            result |= {"success": points, "response": {"output": line[column]}}
            if status != column and points is not None:
                result["score"] = _number_in(line[status + 1], points)
                result["namedScores"] = line[status + 2]
            results.append(result)
    table = promptfoo_table(results)
    del table["passed"]
    return table


def _number_in(text: str, otherwise: float) -> float:
    """Return the finite number that a cell holds, or another one."""
    try:
        number = float(text)
    except ValueError:
        return otherwise
    return number if math.isfinite(number) else otherwise


def _outputs(header: list[str], rows: list) -> dict:
    """Return the columns of answers by position, each with the column of its verdicts.

    Raises
    ------
    ValueError
        If most cells of a column begin with a verdict and others do not.
    """
    columns = {}
    for column, name in enumerate(header):
        filled = {number: row[column] for number, row in enumerate(rows, 2) if row[column]}
        unjudged = [number for number, cell in filled.items() if not _VERDICT.match(cell)]
        following = [cell.strip().title() for cell in header[column + 1 : column + 3]]
        if following == ["Status", "Score"]:
            columns[column] = column + 1
        elif name and filled and not unjudged:
            columns[column] = column
        elif 2 * len(unjudged) < len(filled):
            raise ValueError(
                f"column {name!r}, record {unjudged[0]}: {filled[unjudged[0]][:20]!r} does not "
                "begin with [PASS], [FAIL] or [ERROR], as most cells of the column do"
            )
    return columns


def _identified(tests: Iterable[dict[str, str]]) -> list[tuple[str, str]]:
    """Return the identifier of each test, made of its variables, and the number of its repeat.

    A test without variables is identified by its position.
    """
    times: Counter = Counter()
    pairs = []
    for position, variables in enumerate(tests):
        texts = [f"{name}: {text}" for name, text in sorted(variables.items())]
        if len(variables) == 1:
            texts = list(variables.values())
        item = "; ".join(texts) if any(variables.values()) else str(position)
        times[item] += 1
        pairs.append((item, str(times[item])))
    return pairs
