"""promptfoo, OpenAI evals, DeepEval, the harness without names of filters, and JSON tables by row."""

import csv
import json

import command
import numpy as np
import pytest

import workbench as wb
from workbench.data import frames
from workbench.data.json_records import by_column

RNG = np.random.default_rng(8)
PASSED = (RNG.random((30, 2)) < [0.5, 0.8]).astype(int)
PROMPT = "Answer: {{question}}"


def promptfoo_csv(
    path,
    passed,
    *,
    new=False,
    prompts=(PROMPT, PROMPT),
    providers=("small", "large"),
    variables=None,
):
    extra = ["Status", "Score", "Named Scores", "Grader Reason", "Comment"] if new else []
    heads = [
        [f"[openai:{provider}] {prompt}", *extra]
        for provider, prompt in zip(providers, prompts, strict=True)
    ]
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["question", *heads[0], *heads[1]])
        for k, row in enumerate(passed):
            cells = []
            for good in row:
                verdict = {1: "PASS", 0: "FAIL", -1: "ERROR"}[int(good)]
                text = f"it is, so\nline {k}"
                cells += (
                    [text, verdict, f"{max(good, 0):.2f}", "", "because", ""]
                    if new
                    else [f"[{verdict}] " + ("" if good == 1 else "Expected output\n---\n") + text]
                )
            writer.writerow(
                [(variables or [f"question {j}" for j in range(len(passed))])[k], *cells]
            )
    return path


def promptfoo_json(path, passed, *, lines=False, **more):
    results = [
        {
            "cost": 0,
            "gradingResult": {"pass": bool(good), "score": int(good), "reason": "r"},
            "id": f"{k}-{m}",
            "prompt": {"raw": "q", "label": "q"},
            "promptIdx": m,
            "failureReason": 0 if good else 1,
            "provider": {"id": f"openai:{name}", "label": ""},
            "response": {"output": "x"},
            "score": int(good),
            "success": bool(good),
            "testIdx": k,
            "vars": {"q": f"question {k}"},
        }
        | more
        for k, row in enumerate(passed)
        for m, (name, good) in enumerate(zip(("small", "large"), row, strict=True))
    ]
    path.write_text(
        "\n".join(map(json.dumps, results))
        if lines
        else json.dumps(
            {
                "evalId": "eval-1",
                "results": {"version": 3, "timestamp": "2026", "prompts": [], "results": results},
                "config": {},
            }
        )
    )
    return path


@pytest.mark.parametrize(
    "write",
    [
        lambda folder: promptfoo_csv(folder / "p.csv", PASSED),
        lambda folder: promptfoo_csv(folder / "p.csv", PASSED, new=True),
        lambda folder: promptfoo_json(folder / "p.json", PASSED),
        lambda folder: promptfoo_json(folder / "p.jsonl", PASSED, lines=True),
    ],
)
def test_promptfoo_compares_the_models_in_its_file(tmp_path, write):
    path = write(tmp_path)
    found = wb.read_item_scores(path)
    assert found.models == ("openai:small", "openai:large") and np.array_equal(found.score, PASSED)
    done = command.run(tmp_path, "doctor", path.name)
    assert f"workbench compare {path.name}\n" in done.stdout, done.stderr


def test_prompts_tell_models_apart_where_providers_do_not(tmp_path):
    path = promptfoo_csv(
        tmp_path / "p.csv", PASSED, prompts=("Short: {{q}}", "Long: {{q}}"), providers=("m", "m")
    )
    assert wb.read_item_scores(path).models == ("Short: {{q}}", "Long: {{q}}")


def test_errors_of_promptfoo_are_missing_and_repeats_are_averaged(tmp_path):
    passed = PASSED[:8].copy()
    passed[0, 0] = -1
    found = wb.read_item_scores(promptfoo_csv(tmp_path / "p.csv", passed))
    assert np.isnan(found.score[0, 0]) and found.unscored == 1
    variables = [f"question {k // 2}" for k in range(8)]
    found = wb.read_item_scores(promptfoo_csv(tmp_path / "r.csv", PASSED[:8], variables=variables))
    assert found.score == pytest.approx(PASSED[:8].reshape(4, 2, 2).mean(1))
    failed = promptfoo_json(tmp_path / "e.json", PASSED[:4], failureReason=2)
    with pytest.raises(ValueError, match="has no score"):
        wb.read_item_scores(failed)


def test_runs_of_promptfoo_are_joined_by_their_variables(tmp_path):
    order = RNG.permutation(30)
    promptfoo_csv(tmp_path / "a.csv", PASSED)
    names = [f"question {k}" for k in order]
    promptfoo_csv(tmp_path / "b.csv", PASSED[order], providers=("old", "new"), variables=names)
    found = wb.read_item_scores(tmp_path / "a.csv", tmp_path / "b.csv")
    assert np.array_equal(found.score, np.hstack([PASSED, PASSED]))


def test_a_file_of_one_run_in_two_formats(tmp_path):
    """The interval of a difference of 0 would be wide if questions were joined by position."""
    promptfoo_json(tmp_path / "a.json", PASSED[::-1])
    names = [f"question {k}" for k in reversed(range(30))]
    promptfoo_csv(tmp_path / "b.csv", PASSED, providers=("s", "l"), variables=names)
    found = wb.read_item_scores(tmp_path / "a.json", tmp_path / "b.csv")
    assert np.array_equal(found.score[:, :2], found.score[:, 2:])


def test_named_scores_of_promptfoo(tmp_path):
    path = promptfoo_json(tmp_path / "p.json", PASSED, namedScores={"brief": 0.25, "kind": True})
    assert (wb.read_item_scores(path, score="brief").score == 0.25).all()
    assert (wb.read_item_scores(path, score="scores.kind").score == 1).all()
    rule = "score must name a score of .*: 'score', 'passed', 'brief', 'kind'; got 'bief'"
    with pytest.raises(ValueError, match=rule):
        wb.read_item_scores(path, score="bief")


def test_scores_of_promptfoo_in_columns_of_their_own(tmp_path):
    path = tmp_path / "p.csv"
    promptfoo_csv(path, PASSED, new=True)
    cells = path.read_text().replace(",PASS,1.00,,", ',pass,0.80,"{""brief"": 0.5}",')
    path.write_text(cells)
    found = wb.read_item_scores(path)
    assert np.array_equal(found.score, PASSED * 0.8)
    named = wb.read_item_scores(path, score="brief").score
    assert np.array_equal(np.isnan(named), PASSED == 0) and np.nanmax(named) == 0.5


def test_verdicts_of_promptfoo_in_any_capitals(tmp_path):
    path = promptfoo_csv(tmp_path / "p.csv", PASSED)
    path.write_text(path.read_text().replace("[PASS]", "[pass]"))
    assert np.array_equal(wb.read_item_scores(path).score, PASSED)
    path.write_text(path.read_text().replace("[FAIL]", "FAIL", 1))
    with pytest.raises(ValueError, match=r"'FAIL Expected.* does not begin with \[PASS\]"):
        wb.read_item_scores(path)


def openai(path, right, *, model="gpt", kind="match", spec=True):
    events = [
        {
            "run_id": "1",
            "event_id": k,
            "sample_id": f"t.{k}",
            "type": kind,
            "created_by": "",
            "created_at": "",
            "data": {"correct": bool(good), "expected": "a", "picked": "b", "sampled": "b"}
            if kind == "match"
            else {"accuracy": float(good)},
        }
        for k, good in enumerate(right)
    ]
    asked = [
        {
            "run_id": "1",
            "event_id": 900 + k,
            "sample_id": f"t.{k}",
            "type": "sampling",
            "created_by": "",
            "created_at": "",
            "data": {"prompt": [{"role": "user", "content": f"{k}?"}], "sampled": ["b"]},
        }
        for k in range(len(right))
    ]
    head = (
        [
            {
                "spec": {
                    "completion_fns": [model],
                    "eval_name": "t.dev.v0",
                    "base_eval": "t",
                    "split": "dev",
                    "run_config": {},
                },
                "run_id": "1",
            }
        ]
        if spec
        else []
    )
    path.write_text(
        "\n".join(
            map(
                json.dumps,
                [*head, {"final_report": {"accuracy": 0.5}}, *asked, *events][0 if spec else 1 :],
            )
        )
    )
    return path


@pytest.mark.parametrize(("kind", "spec"), [("match", True), ("metrics", True), ("match", False)])
def test_openai_evals(tmp_path, kind, spec):
    path = openai(tmp_path / "run.jsonl", PASSED[:, 0], kind=kind, spec=spec)
    found = wb.read_item_scores(path)
    assert found.models == ("gpt" if spec else "run",) and np.array_equal(
        found.score[:, 0], PASSED[:, 0]
    )
    other = openai(tmp_path / "other.jsonl", PASSED[:, 1], model="new", kind=kind, spec=spec)
    both = wb.read_item_scores(path, other)
    assert both.models[1] == ("new" if spec else "other") and np.array_equal(both.score, PASSED)
    data, _ = frames.read_columns(path, ["id", "score", "input"])
    assert data["score"].tolist() == PASSED[:, 0].tolist() and "0?" in data["input"][0]
    assert "Commands that are ready to run" in command.run(tmp_path, "doctor", "run.jsonl").stdout


def test_openai_evals_with_two_kinds_of_events(tmp_path):
    """Events of a sample are one item with several scores; one score twice is refused."""
    path = openai(tmp_path / "run.jsonl", PASSED[:, 0])
    metrics = openai(tmp_path / "metrics.jsonl", PASSED[:, 1], kind="metrics", spec=False)
    both = path.read_text() + "\n" + metrics.read_text()
    path.write_text(both)
    assert np.array_equal(wb.read_item_scores(path).score[:, 0], PASSED[:, 0])
    found = wb.read_item_scores(path, score="accuracy")
    assert np.array_equal(found.score[:, 0], PASSED[:, 1])
    path.write_text(both + "\n" + metrics.read_text())
    with pytest.raises(ValueError, match="two scores 'accuracy' of sample 't.0', in records"):
        wb.read_item_scores(path)


def test_openai_evals_without_scores(tmp_path):
    path = openai(tmp_path / "run.jsonl", [])
    with pytest.raises(
        ValueError, match="has no event of kind 'match', 'metrics', 'accuracy': it holds no scores"
    ):
        wb.read_item_scores(path)


def deepeval(path, scores, *, snake=False, wrapped=False, names=True):
    camel = {
        "metricsData": "metrics_data",
        "actualOutput": "actual_output",
        "testCases": "test_results",
    }
    key = {name: other if snake else name for name, other in camel.items()}
    cases = [
        {
            "name": f"test_case_{k}" if names else None,
            "input": f"{k}?",
            key["actualOutput"]: "x",
            "success": True,
            key["metricsData"]: [
                {
                    "name": "Relevancy",
                    "threshold": 0.5,
                    "success": score > 0.5,
                    "score": score,
                    "reason": "r",
                    "error": None,
                },
                {"name": "Bias", "score": None, "error": "timeout"},
            ],
        }
        for k, score in enumerate(scores)
    ]
    log = {key["testCases"]: cases, "hyperparameters": {"model": path.stem} if not snake else None}
    path.write_text(json.dumps({"testRunData": log} if wrapped else log))
    return path


@pytest.mark.parametrize("shape", [{}, {"snake": True}, {"wrapped": True}, {"names": False}])
def test_deepeval(tmp_path, shape):
    values = RNG.random((20, 2)).round(3)
    files = [
        deepeval(tmp_path / f"{name}.json", values[:, k].tolist(), **shape)
        for k, name in enumerate("ab")
    ]
    found = wb.read_item_scores(*files, score="Relevancy")
    assert found.models == ("a", "b") and np.array_equal(found.score, values)
    assert np.array_equal(
        wb.read_item_scores(*files).score, values
    )  # of Bias there is no score at all
    assert "workbench compare a.json" in command.run(tmp_path, "doctor", "a.json").stdout


def unnamed_filters(path, first, second):
    rows = [
        {
            "doc_id": k,
            "doc": {"question": f"Q{k}"},
            "target": "1",
            "arguments": [[f"Q{k}", {}]],
            "resps": [["0"]],
            "filtered_resps": ["0"],
            "exact_match": float(score),
        }
        for part in (first, second)
        for k, score in enumerate(part)
    ]
    path.write_text("\n".join(map(json.dumps, rows)))
    return path


def test_filters_without_names_are_chosen_by_their_place(tmp_path):
    path = unnamed_filters(tmp_path / "old.jsonl", PASSED[:, 0], PASSED[:, 1])
    with pytest.raises(ValueError) as caught:
        wb.read_item_scores(path)
    assert str(caught.value).endswith(
        "doc_id 0 occurs twice, in records 1 and 31; select one filter: "
        f"'{path}#filter=1' or '{path}#filter=2'"
    )
    for choice, column in (("1", 0), ("2", 1), ("filter=2", 1)):
        for found in (
            wb.read_item_scores(f"{path}#{choice}"),
            wb.read_item_scores(path, score=choice),
        ):
            assert np.array_equal(found.score[:, 0], PASSED[:, column])
            assert (
                f"does not name its 2 filters: filter {choice[-1]} is number {choice[-1]} in the "
                "order of the file" in str(found.notes)
            )
    scored = wb.read_scores(f"{path}#2", score="score")
    assert "does not name its 2 filters" in str(scored.notes)


def test_documents_that_do_not_occur_equally_often_are_no_filters(tmp_path):
    path = unnamed_filters(tmp_path / "old.jsonl", PASSED[:, 0], PASSED[:7, 1])
    with pytest.raises(ValueError, match="doc_id 0 occurs twice, in records 1 and 31: keep one"):
        wb.read_item_scores(path)


ROWS = {
    "id": ["q1", "q2", "q3", "q4"],
    "score": [0.9, 0.8, 0.7, 0.6],
    "prediction": ["a", "b", "a", "b"],
}


@pytest.mark.parametrize("orient", ["index", "columns", "records", "split", "table"])
@pytest.mark.parametrize("labeled", [False, True])
def test_pandas_orients_are_tables(tmp_path, orient, labeled):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(ROWS)
    if labeled and orient in ("index", "columns"):
        frame = frame.set_index("id")
    frame.to_json(tmp_path / "t.json", orient=orient)
    data, _ = frames.read_columns(tmp_path / "t.json", ["id", "score", "prediction"])
    assert {name: column.tolist() for name, column in data.items()} == ROWS
    read = wb.read_scores(tmp_path / "t.json", score="score", prediction="prediction")
    assert len(read.score) == 4


def test_rows_by_label_may_lack_cells_and_columns_are_still_columns():
    assert by_column({"0": {"a": 1, "b": 2}, "1": {"a": 3}, "2": {"a": 5, "b": 6}}) == {
        "a": [1, 3, 5],
        "b": [2, None, 6],
    }
    assert by_column({"a": {"0": 1, "1": 3, "2": 5}, "b": {"0": 2, "1": 4, "2": 6}}) == {
        "a": [1, 3, 5],
        "b": [2, 4, 6],
    }
    assert by_column({"7": {"a": 1, "b": 2}, "9": {"a": 3, "b": 4}}) == {
        "id": ["7", "9"],
        "a": [1, 3],
        "b": [2, 4],
    }
