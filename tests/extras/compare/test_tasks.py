"""Several tasks per model: the task and the identifier identify an item, and each task is a slice."""

import json
import zipfile

import command
import numpy as np
import pytest

import workbench as wb

SIZES = {"mmlu_law": 70, "mmlu_anatomy": 40}
DATE = "2026-01-05T10-00-00.000000"


def scores_of(seed=0):
    """Scores of both models on each task, in the order of doc_id; B is right more often."""
    rng = np.random.default_rng(seed)
    return {task: (rng.random((size, 2)) < [0.4, 0.65]).astype(int) for task, size in SIZES.items()}


def harness_file(path, task, scores, **more):
    rows = [
        {
            "doc_id": k,
            "doc": {"question": f"{task} {k}"},
            "target": "A",
            "arguments": [[f"{task} {k}", "A"]],
            "resps": [],
            "filtered_resps": [],
            "filter": "none",
            "metrics": ["acc"],
            "doc_hash": f"{task}{k}",
            "acc": float(score),
        }
        | more
        for k, score in enumerate(scores)
    ]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(map(json.dumps, rows)))


def harness_folders(folder, scores, *, name="samples_{task}_" + DATE + ".jsonl", skip=()):
    for model, place in (("modelA", 0), ("modelB", 1)):
        for task, table in scores.items():
            if (model, task) not in skip:
                harness_file(
                    folder / model / name.format(task=task, model=model), task, table[:, place]
                )
        (folder / model / f"results_{DATE}.json").write_text('{"results": {}, "configs": {}}')
    return folder


def inspect_file(path, task, model, scores, asks=""):
    header = {
        "version": 2,
        "status": "success",
        "eval": {"model": model, "task": task},
        "results": {"scores": [{"name": "match"}]},
    }
    samples = [
        {
            "id": k,
            "epoch": 1,
            "input": f"{asks or task} {k}",
            "target": "",
            "scores": {"match": {"value": "IC"[int(score)]}},
        }
        for k, score in enumerate(scores)
    ]
    if path.suffix == ".json":
        path.write_text(json.dumps(header | {"samples": samples}))
        return
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("header.json", json.dumps(header))
        for sample in samples:
            archive.writestr(f"samples/{sample['id']}_epoch_1.json", json.dumps(sample))


def expected(scores):
    """The comparison of the same items by their scores alone."""
    table = np.concatenate([*scores.values()])
    return wb.pair_interval(
        wb.ItemScores(table, ["A", "B"], range(len(table))), "B", "A"
    ), table.mean(0)


@pytest.mark.parametrize("name", ["samples_{task}_" + DATE + ".jsonl", "{task}.jsonl"])
@pytest.mark.parametrize("how", ["folder", "folders", "named"])
def test_folders_of_models_with_several_tasks(tmp_path, name, how):
    scores = scores_of()
    folder = harness_folders(tmp_path / "runs", scores, name=name)
    files = {
        "folder": [folder],
        "folders": [folder / "modelA", folder / "modelB"],
        "named": [f"modelA={folder / 'modelA'}", f"modelB={folder / 'modelB'}"],
    }[how]
    found = wb.read_item_scores(*files)
    assert sorted(found.models) == ["modelA", "modelB"] and len(found.item) == 110
    interval, means = expected(scores)
    assert tuple(wb.pair_interval(found, "modelB", "modelA")) == pytest.approx(tuple(interval))
    rows = {row["slice"]: row for row in wb.compare_slices(found, "task").rows()}
    assert {task: row["items"] for task, row in rows.items()} == SIZES
    for task, table in scores.items():
        row = rows[task]
        sign = 1 if row["first"] == "modelB" else -1
        assert sign * row["difference"] == pytest.approx(np.diff(table.mean(0))[0])
    assert "2 tasks, " in str(found.notes) and "every item has the same weight" in str(found.notes)


def test_a_folder_of_inspect_with_two_tasks_and_two_models(tmp_path):
    scores = scores_of(1)
    for k, model in enumerate("AB"):
        for task, table in scores.items():
            inspect_file(
                tmp_path / f"{k}_{task}.{'json' if k else 'eval'}", task, f"v/{model}", table[:, k]
            )
    found = wb.read_item_scores(tmp_path)
    assert sorted(found.models) == ["v/A", "v/B"] and len(found.item) == 110
    assert tuple(wb.pair_interval(found, "v/B", "v/A")) == pytest.approx(tuple(expected(scores)[0]))
    assert found.columns["task"].tolist().count("mmlu_law") == 70


def test_a_task_that_a_model_lacks_is_asked_about(tmp_path):
    scores = scores_of()
    folder = harness_folders(tmp_path, scores, skip=[("modelB", "mmlu_law")])
    with pytest.raises(ValueError) as caught:
        wb.read_item_scores(folder)
    assert str(caught.value).startswith(
        "common must be set, as the models were not run on the same items: modelB lacks 70 items, "
        "including all of 'mmlu_law'. It uses the 40 items that all have"
    )
    found = wb.read_item_scores(folder, common=True)
    assert len(found.item) == 40 and "70 of 110 items were left out" in str(found.notes)


def test_models_of_different_tasks_are_not_independent_samples(tmp_path):
    scores = scores_of()
    folder = harness_folders(
        tmp_path, scores, skip=[("modelB", "mmlu_law"), ("modelA", "mmlu_anatomy")]
    )
    with pytest.raises(
        ValueError,
        match="item '0' has different content for 'modelA' and 'modelB'.* set independent",
    ):
        wb.read_item_scores(folder)
    found = wb.read_item_scores(folder, independent=True)
    assert found.sizes == (70, 40)


def test_two_logs_of_one_task_are_refused(tmp_path):
    folder = harness_folders(tmp_path, scores_of())
    harness_file(
        folder / "modelA" / "samples_mmlu_law_2026-02-05T10-00-00.000000.jsonl",
        "mmlu_law",
        [1, 0, 1],
    )
    with pytest.raises(
        ValueError, match="files must be of different models.* one log per task of mmlu_anatomy, "
    ):
        wb.read_item_scores(f"A={folder / 'modelA'}", f"B={folder / 'modelB'}")


def test_variants_of_one_model_on_the_same_items_are_two_models(tmp_path):
    """Inspect calls the runs of two prompts two tasks: the content of the samples tells that they are the same."""
    for name, task in (("plain", "qa_plain"), ("cot", "qa_cot")):
        inspect_file(tmp_path / f"{name}.json", task, "m", [1, 0], asks="qa")
    found = wb.read_item_scores(tmp_path / "plain.json", tmp_path / "cot.json")
    assert found.models == ("plain", "cot") and len(found.item) == 2


def test_tasks_may_have_different_scores(tmp_path):
    scores = scores_of()
    for model, place in (("modelA", 0), ("modelB", 1)):
        harness_file(
            tmp_path / model / f"samples_mmlu_law_{DATE}.jsonl", "law", scores["mmlu_law"][:, place]
        )
        rows = [
            {
                "doc_id": k,
                "doc": {"question": f"sum {k}"},
                "target": "1",
                "arguments": [],
                "resps": [],
                "filtered_resps": [],
                "filter": "none",
                "metrics": ["exact_match"],
                "exact_match": float(score),
            }
            for k, score in enumerate(scores["mmlu_anatomy"][:, place])
        ]
        (tmp_path / model / f"samples_gsm8k_{DATE}.jsonl").write_text(
            "\n".join(map(json.dumps, rows))
        )
    found = wb.read_item_scores(tmp_path)
    assert len(found.item) == 110 and "tasks have different scores: " in str(found.notes)
    assert "gsm8k exact_match" in str(found.notes)


def test_one_model_with_several_tasks_and_the_command(tmp_path):
    scores = scores_of()
    harness_folders(tmp_path, scores)
    done = command.run(tmp_path, "compare", "modelA")
    mean = expected(scores)[1][0]
    assert done.returncode == 0 and done.stdout.startswith(
        f"modelA has a mean score of {mean:.1%}, 95% confidence interval "
    )
    done = command.run_here(
        tmp_path, "compare", "modelA", "modelB", "-o", "c.html", "--gate", "modelB > modelA"
    )
    assert done.returncode in (0, 4), done.stderr
    lines = done.stdout.splitlines()
    start = lines.index("By task:")
    assert {line.split(",")[0].strip() for line in lines[start + 1 : start + 3]} == {*SIZES}
    page = command.page_of(done, tmp_path, "c.html")
    assert "Slices" in page and "mmlu_law" in page and "2 tasks, " in page
