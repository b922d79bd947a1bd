"""Scores of items from logs and tables: the tools' own logs, shapes of tables, epochs, and what is refused."""

import functools
import json
import zipfile
from pathlib import Path

import numpy as np
import pytest
from refusals import refused

import workbench as wb

LOGS = Path(__file__).parents[2] / "fixtures" / "logs"
CHOICE = LOGS / "inspect-0.3.285-choice.eval"


def inspect_log(path, scores, *, model="m", status="success", **more):
    """Write a log of Inspect; scores are (id, epoch, value), and `more` belongs to every sample."""
    header = {
        "version": 2,
        "status": status,
        "eval": {"model": model},
        "results": {"scores": [{"name": "match"}]},
    }
    samples = [
        {
            "id": item,
            "epoch": epoch,
            "input": f"about {item}",
            "target": "",
            "metadata": {"text": f"t{item[0]}"},
            "scores": {"match": {"value": value}},
        }
        | more
        for item, epoch, value in scores
    ]
    if path.suffix == ".eval":
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("header.json", json.dumps(header))
            for sample in samples:
                archive.writestr(
                    f"samples/{sample['id']}_epoch_{sample['epoch']}.json", json.dumps(sample)
                )
    else:
        path.write_text(json.dumps(header | {"samples": samples}))
    return path


def harness_log(path, scores, **more):
    path.write_text(
        "\n".join(
            json.dumps(
                {
                    "doc_id": k,
                    "doc": {"question": f"{k}?"},
                    "target": "",
                    "arguments": [],
                    "resps": [],
                    "filtered_resps": [],
                    "filter": "none",
                    "metrics": ["acc"],
                    "acc": score,
                }
                | more
            )
            for k, score in enumerate(scores)
        )
    )
    return path


def test_the_logs_of_the_tools_are_read():
    """What was right stands in the script that made them: of q2 the first epoch of two, of q1 both."""
    old = LOGS / "inspect-0.3.100-choice.json"
    found = wb.read_item_scores(f"new={CHOICE}", f"old={old}", score="choice")
    assert found.models == ("new", "old") and found.values == (0, 0.5, 1)
    assert found.score.tolist() == [[1, 1], [0.5, 0.5], [0.5, 0.5], [1, 1], [0.5, 0.5]]
    assert found.item == ("q1", "q2", "q3", "q4", "q5") and found.finished
    assert {
        "setting": "every run finished",
        "value": "yes, according to the logs",
    } in wb.compare_items(found).conditions()
    harness = [LOGS / f"samples_lm-eval-{version}-texts.jsonl" for version in ("0.4.3", "0.4.13")]
    for score, right in (("acc", [1, 0, 0, 0, 1]), ("acc_norm", [1, 1, 0, 0, 1])):
        found = wb.read_item_scores(*harness, score=score)
        assert found.score.T.tolist() == [right, right] and not found.finished


@pytest.mark.parametrize(
    ("repeats", "scores", "values"),
    [
        ("mean", [1, 2 / 3, 1 / 3, 0], [0, 1 / 3, 2 / 3, 1]),
        ("majority", [1, 1, 0, 0], [0, 1]),
        ("pass^2", [1, 1 / 3, 0, 0], [0, 1 / 3, 1]),
        ("pass@2", [1, 1, 2 / 3, 0], [0, 2 / 3, 1]),
        ("pass^3", [1, 0, 0, 0], [0, 1]),
        ("pass@1", [1, 2 / 3, 1 / 3, 0], [0, 1 / 3, 2 / 3, 1]),
    ],
)
def test_epochs_become_one_score(tmp_path, repeats, scores, values):
    """Of three epochs 3, 2, 1 and 0 are right; pairs counted by hand."""
    epochs = [
        (f"q{k}", epoch, "C" if epoch <= 3 - k else "I") for k in range(4) for epoch in (1, 2, 3)
    ]
    files = [inspect_log(tmp_path / name, epochs, model=name[0]) for name in ("a.json", "b.eval")]
    found = wb.read_item_scores(*files, repeats=repeats)
    assert found.score.T.tolist() == [pytest.approx(scores)] * 2 and found.values == pytest.approx(
        values
    )


def test_a_folder_of_logs_with_clusters(tmp_path):
    for name, right in (("a", "CCII"), ("b", "CIII")):
        inspect_log(
            tmp_path / f"{name}.json",
            [(f"{k}", 1, value) for k, value in enumerate(right)],
            model=f"v/{name}",
        )
    (tmp_path / "notes.json").write_text('{"a": 1}')
    found = wb.read_item_scores(tmp_path, cluster="metadata.text", columns=["input"])
    assert found.models == ("v/a", "v/b") and found.cluster.tolist() == ["t0", "t1", "t2", "t3"]
    assert found.columns["input"].tolist() == ["about 0", "about 1", "about 2", "about 3"]


def test_models_without_a_name_are_called_by_their_folder_or_file(tmp_path):
    for name in ("x", "y"):
        (tmp_path / name).mkdir()
        harness_log(tmp_path / name / "samples_t.jsonl", [1, 0])
        harness_log(tmp_path / f"samples_{name}.jsonl", [1, 0])
    assert wb.read_item_scores(*(tmp_path / name / "samples_t.jsonl" for name in "xy")).models == (
        "x",
        "y",
    )
    (tmp_path / "runs").mkdir()
    for name in ("x", "y"):
        (tmp_path / name).rename(tmp_path / "runs" / name)
    assert wb.read_item_scores(tmp_path / "runs").models == ("x", "y")
    assert wb.read_item_scores(*(tmp_path / f"samples_{name}.jsonl" for name in "xy")).models == (
        "samples_x",
        "samples_y",
    )


WIDE = {
    "id": ["q1", "q2", "q3"],
    "doc": ["d", "d", "e"],
    "a": ["1", "0", "1"],
    "b": ["1", "", "0.5"],
}
LONG = {"item": ["q1", "q2", "q1", "q2"], "who": ["a", "a", "b", "b"], "right": [1, 0, 1, 1]}


def test_tables_are_read(tmp_path):
    found = wb.read_item_scores(WIDE, cluster="doc")
    assert found.models == ("a", "b") and found.cluster.tolist() == ["d", "d", "e"]
    assert np.array_equal(found.score, [[1, 1], [0, np.nan], [1, 0.5]], equal_nan=True)
    assert wb.read_item_scores(WIDE, model="b, a").models == ("b", "a")
    found = wb.read_item_scores(LONG, model="who", score="right")
    assert found.models == ("a", "b") and found.score.tolist() == [[1, 1], [0, 1]]
    for name in "ab":
        (tmp_path / f"{name}.csv").write_text(f"id,right\nq1,1\nq2,{int(name == 'b')}\n")
    found = wb.read_item_scores(tmp_path / "a.csv", f"B={tmp_path / 'b.csv'}", score="right")
    assert found.models == ("a", "B") and found.score.tolist() == [[1, 1], [0, 1]]


def test_the_order_of_files_and_rows_does_not_matter(tmp_path):
    rng = np.random.default_rng(0)
    rows = {
        name: [(f"q{k}", 1, "CI"[int(rng.random() < 0.4)]) for k in range(30)] for name in "abc"
    }
    files = [
        inspect_log(tmp_path / f"{name}.json", each, model=name) for name, each in rows.items()
    ]
    again = [
        inspect_log(
            tmp_path / f"{name}2.json", [rows[name][k] for k in rng.permutation(30)], model=name
        )
        for name in "cab"
    ]
    one, two = (wb.compare_items(wb.read_item_scores(*each)).rows() for each in (files, again))
    for before, after in zip(one, two, strict=True):
        assert after == {
            key: pytest.approx(value) if isinstance(value, float) else value
            for key, value in before.items()
        }


def test_items_that_not_all_models_have_can_be_left_out(tmp_path):
    files = [
        inspect_log(
            tmp_path / "a.json",
            [("1", 1, "C"), ("2", 1, "I"), ("3", 1, "C"), ("4", 1, None)],
            model="a",
        ),
        inspect_log(tmp_path / "b.json", [("1", 1, "C"), ("2", 1, "C"), ("4", 1, "I")], model="b"),
    ]
    rule = (
        "must be set, as the models were not run on the same items: b lacks 1 item. It uses the "
        "3 items that all have. If equal identifiers denote different items, set independent"
    )
    refused(lambda: wb.read_item_scores(*files), "common", rule)
    found = wb.read_item_scores(*files, common=True)
    assert found.score.tolist() == [[1, 1], [0, 1]]
    assert [note.text for note in found.notes] == [
        "1 of 4 items was left out, because not all models were run on it: b lacks 1 item",
        "1 item was left out, because not every model has a score",
    ]


def test_models_without_an_item_that_all_have_are_not_told_to_take_it(tmp_path):
    logs = {"a": ["1", "2"], "b": ["1", "2"], "c": ["3", "4"]}
    files = [
        inspect_log(tmp_path / f"{name}.json", [(item, 1, "C") for item in items], model=name)
        for name, items in logs.items()
    ]
    with pytest.raises(ValueError, match="^the models have 0 items in common, .*set independent"):
        wb.read_item_scores(*files)


GRADED = {"id": ["q1", "q2"], "a": [3, 9], "b": [4, 10]}


TWO = {"id": ["q1", "q2"], "a": [0, 1], "b": [1, 1]}
BRIER = LONG | {"brier": [0.1, 0.2, 0.3, 0.1]}
TWICE = LONG | {"item": ["q1", "q1", "q1", "q2"]}


@pytest.mark.parametrize(
    ("table", "arguments", "argument", "rule", "told"),
    [
        (GRADED, {}, "bounds", "must give the smallest and the largest possible score, as not all scores are between 0 and 1", "they go from 3 to 10"),
        (GRADED, {"bounds": (0, 10)}, "better", "must say which scores are better, higher or lower", ""),
        (GRADED, {"bounds": (0, 5)}, "bounds", "must contain every score; those of 'a' go from 3 to 9", "got 0 and 5"),
        (BRIER, {"model": "who", "score": "brier"}, "better", "must say which scores are better, higher or lower, as 'brier' seems to be an error", ""),
        (LONG, {"score": "right"}, "model", "must name the column of the table that holds the model of each row", ""),
        (TWICE, {"model": "who", "score": "right"}, "epoch", "must distinguish repeated items: the table has item 'q1' twice for a", ""),
        ({"key": [1, 2], "a": [0, 1]}, {}, "item", "must name the column of identifiers in the table; available columns: 'key', 'a'", ""),
        (TWO | {"c": ["x", "x"]}, {"cluster": "c"}, "cluster", "must hold at least 2 clusters", "all 2 items are in 'x'"),
        (WIDE, {"repeats": "best"}, "repeats", "must be mean, majority, pass^k or pass@k, for a number k of epochs", "got 'best'"),
        (WIDE | {"b": [1, 0.5, 0]}, {"model": "a,b", "repeats": "majority"}, "repeats", "must be 'mean' if scores are not 0 or 1", "got 'majority'"),
    ],
)  # fmt: skip
def test_what_is_not_certain_is_refused(table, arguments, argument, rule, told):
    refused(lambda: wb.read_item_scores(table, **arguments), argument, rule, told)


@pytest.mark.parametrize(
    ("table", "arguments", "message"),
    [
        (
            {"id": ["q1", "q2"], "a": [1, 0], "b": [85, 10]},
            {"model": "a,b"},
            "scores of 'b' go up to 85, those of 'a' only up to 1: some seem to be percentages. "
            "Give all scores in the same unit. If 'b' is not a model, name the models' columns by "
            "model",
        ),
        (LONG, {"model": "who", "score": "brier"}, "the dict has no column 'brier'"),
        (
            TWO | {"c": ["x", None]},
            {"cluster": "c"},
            "column 'c', data row 2 is empty. Fill the cell or delete the row",
        ),
        (
            {"model_a": ["x"], "model_b": ["y"], "winner": ["tie"]},
            {},
            "the table holds battles of two models, which give no score per item. To estimate the "
            "win rate of one model, add a column of scores: 1 if it won, 0.5 for a tie and 0 if "
            "it lost",
        ),
        (
            {"id": [1], "model_1": ["x"], "model_2": ["y"], "g1_winner": ["tie"]},
            {},
            "the table holds battles of two",
        ),
    ],
)
def test_tables_that_are_no_scores_are_refused(table, arguments, message):
    with pytest.raises(ValueError) as caught:
        wb.read_item_scores(table, **arguments)
    assert str(caught.value).startswith(message)


def test_logs_that_do_not_belong_together_are_refused(tmp_path):
    good = inspect_log(tmp_path / "good.json", [("1", 1, "C"), ("2", 1, "I")], model="a")
    for name, scores, more, message in [
        (
            "stopped",
            [("1", 1, "C"), ("2", 1, "I")],
            {"status": "error"},
            "status 'error'",
        ),
        (
            "other",
            [("1", 1, "C"), ("2", 1, "I")],
            {"input": "else"},
            "item '1' has different content for 'a' and 'b'",
        ),
        ("again", [("1", 1, "C"), ("1", 1, "I")], {}, "item '1' twice in epoch 1 for b"),
        ("empty", [("1", 1, None), ("2", 1, None)], {}, "has no score"),
    ]:
        bad = inspect_log(tmp_path / f"{name}.json", scores, model="b", **more)
        with pytest.raises(ValueError, match=message):
            wb.read_item_scores(good, bad)
    uneven = inspect_log(
        tmp_path / "uneven.json", [("1", 1, "C"), ("1", 2, "C"), ("2", 1, "I")], model="b"
    )
    twice = inspect_log(
        tmp_path / "twice.json",
        [(item, epoch, "C") for item in "12" for epoch in (1, 2)],
        model="b",
    )
    read = functools.partial(wb.read_item_scores, good)
    for other, told in ((uneven, "b has 1 to 2"), (twice, "b has 2")):
        rule = (
            f"must be 'mean' if items or models differ in their number of epochs; a has 1, {told}"
        )
        call = functools.partial(read, other, repeats="majority")
        refused(call, "repeats", rule, "got 'majority'")
    assert wb.read_item_scores(good, uneven).score.tolist() == [[1, 1], [0, 0]]
    once = inspect_log(tmp_path / "once.json", [("1", 1, "C"), ("2", 1, "I")], model="b")
    rule = "must not need more epochs than there are; a has 1"
    refused(lambda: read(once, repeats="pass@2"), "repeats", rule, "got 'pass@2'")
    rule = "must be of different models. Name those of 'good' as NAME=FILE"
    refused(lambda: read(good), "files", rule)
    moved = inspect_log(
        tmp_path / "moved.json",
        [("1", 1, "C"), ("2", 1, "I")],
        model="b",
        metadata={"text": "else"},
    )
    rule = "must be the same for all models; item '1' is in 'else', 't1'"
    refused(lambda: read(moved, cluster="metadata.text"), "cluster", rule)


def test_scorers_and_filters_must_be_named(tmp_path):
    with pytest.raises(
        ValueError, match=r"has 2 scorers; select one scorer: .*#scorer=choice' or "
    ):
        wb.read_item_scores(CHOICE, LOGS / "inspect-0.3.100-choice.eval")
    lines = [
        json.loads(line)
        for line in harness_log(tmp_path / "a.jsonl", [1, 0]).read_text().splitlines()
    ]
    both = "\n".join(
        json.dumps(line | {"filter": part, "acc": float(part == "flexible")})
        for line in lines
        for part in ("strict", "flexible")
    )
    for name in "ab":
        (tmp_path / f"{name}.jsonl").write_text(both)
    files = [tmp_path / "a.jsonl", tmp_path / "b.jsonl"]
    with pytest.raises(
        ValueError,
        match="doc_id 0 occurs twice, in records .*; select one filter: .*#filter=strict' or ",
    ):
        wb.read_item_scores(*files)
    assert wb.read_item_scores(*files, score="flexible").score.tolist() == [[1, 1]] * 2
    assert (
        wb.read_item_scores(*files, score="filter=strict,metric=acc").score.tolist() == [[0, 0]] * 2
    )


def test_messages_of_two_runs_differ_only_in_what_a_run_adds(tmp_path):
    def asked(run, text="Why?"):
        return [
            {
                "id": run,
                "role": "user",
                "source": "input",
                "content": [{"type": "text", "text": text}],
            }
        ]

    one, two, other = (
        inspect_log(tmp_path / f"{name}.eval", [("1", 1, "C"), ("2", 1, "I")], model=name, **more)
        for name, more in (
            ("a", {"input": asked("x")}),
            ("b", {"input": asked("y")}),
            ("c", {"input": asked("x", "How?")}),
        )
    )
    assert wb.read_item_scores(one, two).models == ("a", "b")
    with pytest.raises(ValueError, match="item '1' has different content for 'a' and 'c'"):
        wb.read_item_scores(one, other)


@pytest.mark.parametrize("name", ["doc_hash", "target", "target_hash"])
def test_items_of_other_hashes_or_targets_are_refused(tmp_path, name):
    logs = [
        harness_log(tmp_path / f"{value}.jsonl", [1, 0], **{name: value})
        for value in ("one", "two")
    ]
    with pytest.raises(ValueError, match="item '0' has different content for 'one' and 'two'"):
        wb.read_item_scores(*logs)
    without = harness_log(tmp_path / "without.jsonl", [1, 0])
    assert wb.read_item_scores(logs[0], without).models == ("one", "without")


def test_a_measure_of_errors_is_known_wherever_its_name_stands(tmp_path):
    logs = [
        harness_log(
            tmp_path / f"{name}.jsonl", [0.2, 0.1], metrics=["brier_score"], brier_score=0.2
        )
        for name in "ab"
    ]
    for files, arguments in (
        (logs, {}),
        (logs, {"score": "metric=brier_score"}),
        ([f"{log}#metric=brier_score" for log in logs], {}),
        ([{"id": [1, 2], "a_loss": [0, 0.5], "b_loss": [0, 0.5]}], {}),
    ):
        with pytest.raises(
            ValueError,
            match="better must say which .*, as '(brier_score|a_loss)' seems to be an error",
        ):
            wb.read_item_scores(*files, **arguments)
        assert wb.read_item_scores(*files, **arguments, better="lower").better == "lower"


def test_a_name_that_is_given_is_kept(tmp_path):
    for name in "xy":
        (tmp_path / name).mkdir()
        inspect_log(tmp_path / name / "log.json", [("1", 1, "C"), ("2", 1, "I")])
        (tmp_path / name / "t.csv").write_text("id,right\n1,1\n2,0\n")
    logs, tables = ([tmp_path / name / file for name in "xy"] for file in ("log.json", "t.csv"))
    assert wb.read_item_scores(f"base={logs[0]}", *logs).models == ("base", "x", "y")
    assert wb.read_item_scores(*tables, score="right").models == ("x", "y")
    with pytest.raises(ValueError, match="files must be of different models. Name those of 'base'"):
        wb.read_item_scores(f"base={logs[0]}", f"base={logs[1]}")


def test_a_log_that_is_cut_off_is_said_to_be(tmp_path):
    whole = inspect_log(tmp_path / "a.eval", [("1", 1, "C"), ("2", 1, "I")])
    (tmp_path / "b.eval").write_bytes(whole.read_bytes()[:-30])
    with pytest.raises(ValueError, match="b.eval' is cut off or damaged; copy it again"):
        wb.read_item_scores(whole, tmp_path / "b.eval")


def test_different_measures_are_refused_unless_they_are_chosen(tmp_path):
    one, two, three = (
        harness_log(tmp_path / f"{name}.jsonl", [1, 0], **more)
        for name, more in (
            ("a", {}),
            ("b", {"metrics": ["exact"], "exact": 1}),
            ("c", {"filter": "strict"}),
        )
    )
    rule = (
        "must name one score for all models: 'a' has acc of filter none, 'b' has exact of filter "
        "none. Or choose it for each file, as in FILE#exact"
    )
    refused(lambda: wb.read_item_scores(one, two), "score", rule)
    rule = "must name one score for all models: 'a' has acc of filter none, 'c' has acc of filter strict"
    refused(lambda: wb.read_item_scores(one, three), "score", rule)
    assert wb.read_item_scores(one, f"{two}#exact").score.tolist() == [[1, 1], [0, 1]]


def test_a_folder_without_logs_is_refused(tmp_path):
    with pytest.raises(ValueError, match="contains no log of an evaluation"):
        wb.read_item_scores(tmp_path)


def test_letters_of_logs_are_scores_in_columns_that_are_named(tmp_path):
    (tmp_path / "t.csv").write_text("id,a,b,hard\nq1,C,Yes,yes\nq2,I,no,no\nq3,P,,no\n")
    found = wb.read_item_scores(tmp_path / "t.csv", model="a,b")
    np.testing.assert_array_equal(found.score, [[1, 1], [0, 0], [0.5, np.nan]])
    with pytest.raises(ValueError, match="'a' holds words"):
        wb.read_item_scores(tmp_path / "t.csv")


def test_one_item_is_too_few(tmp_path):
    (tmp_path / "t.csv").write_text("id,a,b\nq1,1,0\n")
    with pytest.raises(
        ValueError, match="^the models have 1 item in common, but at least 2 are needed$"
    ):
        wb.read_item_scores(tmp_path / "t.csv")


def test_a_number_that_is_none_is_named_by_its_row(tmp_path):
    (tmp_path / "t.csv").write_text("id,a,b\nq1,1,0\nq2,,0\nq3,yes!,1\n")
    with pytest.raises(ValueError, match=r"column 'a', row 4: 'yes!' is not a number"):
        wb.read_item_scores(tmp_path / "t.csv")
    (tmp_path / "t.csv").write_text("id,document,a,b\nq1,d1,1,0\nq2,d1,0,0\n")
    assert wb.read_item_scores(tmp_path / "t.csv").models == ("a", "b")
