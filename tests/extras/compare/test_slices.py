"""Slices: each pair as if its slice were all there is, all adjusted together; and the items that are read first."""

import numpy as np
import pytest
from refusals import refused

import workbench as wb
from workbench.intervals import holm


def sliced(cluster=None):
    rng = np.random.default_rng(3)
    score = rng.random((200, 3)) < [0.9, 0.6, 0.3]
    return wb.ItemScores(
        score,
        [*"abc"],
        range(200),
        cluster,
        columns={
            "part": rng.permutation(["x"] * 120 + ["y"] * 79 + ["z"]),
            "input": [f"line one\nof {k} " + "x" * k for k in range(200)],
        },
    )


@pytest.mark.parametrize("cluster", [None, np.arange(200) % 23])
def test_slices_are_compared_alone_and_adjusted_together(cluster):
    scores = sliced(cluster)
    found, whole = wb.compare_slices(scores, "part"), wb.compare_items(scores)
    rows = found.rows()
    assert [row["adjusted_pvalue"] for row in rows] == pytest.approx(
        holm([row["pvalue"] for row in rows])
    )
    assert len(rows) == 6 and any(row["verdict"] == "better" for row in rows)
    for row in rows:
        part = scores.some(scores.columns["part"] == row["slice"])
        alone = {
            frozenset((each["first"], each["second"])): each
            for each in wb.compare_items(part, adjust="none").rows()
        }[frozenset((row["first"], row["second"]))]
        sign = 1 if alone["first"] == row["first"] else -1
        assert row["difference"] == pytest.approx(sign * alone["difference"]) and row[
            "items"
        ] == len(part.item)
        assert row["pvalue"] == pytest.approx(alone["pvalue"])
        assert whole.names.index(row["first"]) < whole.names.index(row["second"])
        assert (row["verdict"] != "not shown") == (row["low"] > 0 or row["high"] < 0)
    assert [note.text for note in found.notes] == [
        "1 slice left out, with fewer than two items or clusters that both models of a pair have "
        "scores for: 'z'"
    ]


def test_items_are_read_first_where_the_best_model_loses_most():
    scores = sliced()
    best, *others = wb.compare_items(scores).names
    rows = wb.worth_reading(scores, 7)
    gaps = [np.mean([row[name] for name in others]) - row[best] for row in rows]
    every = sorted(np.mean(np.delete(scores.score, 0, 1), 1) - scores.score[:, 0])[::-1]
    assert best == "a" and gaps == pytest.approx(every[:7]) and gaps[0] == 1
    assert rows[0]["text"].startswith("line one of ") and all(
        len(row["text"]) <= 161 for row in rows
    )


def test_slices_that_are_none_are_refused():
    rule = "must be one of 'part', 'input'"
    refused(lambda: wb.compare_slices(sliced(), "prat"), "by", rule, "got 'prat'")
    rule = "must have a slice with at least two items and clusters"
    refused(lambda: wb.compare_slices(sliced(), "input"), "by", rule, "got 'input'")
