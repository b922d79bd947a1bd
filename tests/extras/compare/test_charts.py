"""The picture of ranks says what the comparison says."""

import numpy as np

import workbench as wb
from workbench.extras.compare import charts as comparisons


def drawn(found):
    """The rows of the models and of their groups."""
    scores, ranks = comparisons.ranks(found).to_dict()["hconcat"]
    return scores["data"]["values"] if "data" in scores else scores["layer"][0]["data"][
        "values"
    ], ranks["layer"][-1]["data"]["values"]


def test_ranks_and_groups_are_drawn():
    score = np.random.default_rng(0).random((500, 5)) < [0.9, 0.8, 0.79, 0.6, 0.3]
    found = wb.compare_items(wb.ItemScores(score, ["v/a", "v/b", "v/c", "w/d", "e"], range(500)))
    bars, groups = drawn(found)
    assert [(row["model"], row["best_rank"], row["worst_rank"]) for row in bars] == [
        (row["model"].split("/")[-1], row["best_rank"], row["worst_rank"]) for row in found.ranks()
    ]
    tied = [group for group in found.groups if len(group) > 1]
    assert tied and [row["model"] for row in groups] == [
        name.split("/")[-1] for group in tied for name in group
    ]
    assert groups[0]["middle"] == np.mean([found.names.index(name) + 1 for name in tied[0]])
    certain = sum(row["best_rank"] == row["worst_rank"] for row in found.ranks())
    figure = comparisons.ranks(found)
    assert figure.title == f"{certain} of 5 ranks are certain"
    assert "rank 2 to 3" in figure.alternative


def test_names_that_would_be_alike_stay_whole():
    found = wb.compare_items(wb.ItemScores(np.ones((9, 2)), ["one/m", "two/m"], range(9)))
    assert [row["model"] for row in drawn(found)[0]] == ["one/m", "two/m"]
    assert comparisons.ranks(found).title == "No rank is certain"
