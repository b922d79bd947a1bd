"""Table 2 of Grandvalet & Bengio: on one's own data and learner, the paper's where at hand, and recorded."""

import json
import sys

import documented
import numpy as np
import pytest
import sklearn
import table2
from command import costs_one_line, run

from workbench.cross_validation import populations
from workbench.extras.papers import grandvalet_bengio, registry
from workbench.extras.papers import run as run_item
from workbench.extras.papers.items import Setting

NAME = "grandvalet-bengio/table2"
MINE = """from sklearn.base import BaseEstimator, ClassifierMixin


class Sign(ClassifierMixin, BaseEstimator):
    def fit(self, X, y):
        self.classes_ = [0, 1]
        return self

    def predict(self, X):
        return (X[:, 0] > 0).astype(int)
"""


def own_data(folder):
    """Three features and a class that the sign of the first gets right in three of four items."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(400, 3)).round(4)
    y = ((X[:, 0] > 0) ^ (rng.random(400) < 0.25)).astype(int)
    lines = [
        ",".join([*map(repr, row), "ab"[label]]) for row, label in zip(X.tolist(), y, strict=True)
    ]
    (folder / "own.csv").write_text("\n".join(["a,b,c,truth", *lines]) + "\n")
    return X, y


def table_by_hand(wrong, n, runs):
    """rho and the type I errors in percent from who is wrong: rows of the population that this test draws itself."""
    loss = wrong[np.random.default_rng(n).integers(len(wrong), size=(runs, n))].astype(float)
    folds = np.stack([loss[:, k::10].mean(1) for k in range(10)], 1)
    mean, shown = loss.mean(1), folds.var(1, ddof=1) / 10
    off = np.abs(mean - mean.mean())
    rejected = [np.mean(off * (1 - rho) ** 0.5 > 2.262157 * shown**0.5) for rho in (0, 0.7)]
    return [100 * (1 - shown.mean() / mean.var(ddof=1)), *(100 * share for share in rejected)]


def test_a_learner_and_data_of_ones_own_from_the_command_line(tmp_path):
    (tmp_path / "mine.py").write_text(MINE)
    X, y = own_data(tmp_path)
    done = run(
        tmp_path,
        "papers",
        "replay",
        NAME,
        "--data",
        "own.csv",
        "--learner",
        "mine:Sign",
        "--json",
        "found.json",
    )
    assert done.returncode == 0, done.stderr
    found = json.loads((tmp_path / "found.json").read_text())[0]
    assert found["data"] == "own.csv"
    wanted = [
        value for n in (20, 40, 80, 160) for value in table_by_hand((X[:, 0] > 0) != y, n, 500)
    ]
    assert [claim["ours"] for claim in found["claims"]] == pytest.approx(wanted, abs=1e-6)
    assert all(
        claim["why"].startswith(
            "the file given for Letter, mine:Sign instead of the paper's tree; "
        )
        for claim in found["claims"]
    )


@pytest.fixture(autouse=True)
def _as_before(monkeypatch):
    monkeypatch.setattr(sys, "path", list(sys.path))
    yield
    sys.modules.pop("mine", None)


@pytest.mark.parametrize(
    "message, words",
    [
        (
            "learner must be one of '1nn', 'centroid' or module:object; got 'no.such:Tree': No module named 'no'",
            [NAME, "--learner", "no.such:Tree"],
        ),
        (
            "got 'json:Tree': module 'json' has no attribute 'Tree'",
            [NAME, "--learner", "json:Tree"],
        ),
        (
            "learner must be one of '1nn', 'centroid' or have fit and predict",
            [NAME, "--learner", "json:dumps"],
        ),
        (
            "learner must not be given for kloos/fig1, which takes no learner",
            ["kloos/fig1", "--learner", "1nn"],
        ),
        (
            "data must be a file or a folder that `workbench papers data` filled; . holds neither letter.npz nor forest.npz",
            [NAME, "--data", "."],
        ),
    ],
)
def test_a_mistake_costs_one_line(tmp_path, message, words):
    costs_one_line(tmp_path, message, "papers", "replay", *words)


@pytest.fixture
def at_hand(monkeypatch, tmp_path):
    """Letter with 400 items."""
    X, y = own_data(tmp_path)
    known = populations.KNOWN["letter"]
    table, digest = populations._sorted(np.column_stack([(X * 10).round(), y]))
    small = type(known)(**vars(known) | {"items": 400, "features": 3, "digest": digest})
    monkeypatch.setitem(populations.KNOWN, "letter", small)
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path / "home"))
    lines = [
        ",".join([*map(str, row[:-1]), "AN"[row[-1]]])
        for row in np.random.default_rng(0).permutation(table)
    ]
    (tmp_path / "letters.csv").write_text("a,b,c,class\n" + "\n".join(lines) + "\n")
    return tmp_path


def test_it_runs_on_the_papers_data_where_they_are_at_hand(at_hand):
    setting = Setting(scale=0.1, learner="centroid")
    assert run_item(registry.find(NAME), setting).data == grandvalet_bengio.STAND_IN
    done = run(at_hand, "papers", "data", "letter", "--from", "letters.csv")
    assert done.returncode == 0, done.stderr
    found = run_item(registry.find(NAME), setting)
    assert found.data == "Letter" and {row["why"].split(";")[0] for row in found.rows()} == {
        "centroid instead of the paper's tree"
    }
    same = run_item(
        registry.find(NAME),
        Setting(scale=0.1, learner="centroid", data=str(at_hand / "letters.csv")),
    )
    assert same.rows() == found.rows() and same.data.endswith("letters.csv")


def test_the_recorded_rows_are_what_the_program_gives():
    recorded = json.loads(grandvalet_bengio.RECORD.read_text())
    short = next(row for row in recorded if row["data"] == table2.DIGITS)
    again = table2.measured(table2.DIGITS, table2.DIGITS, short["n"], short["runs"])
    assert again.keys() == short.keys() and again["seed"] == short["seed"]
    for what in grandvalet_bengio.MEASURED:
        assert again[what] == pytest.approx(short[what], abs=3 * short[f"{what}, error"]), (
            sklearn.__version__
        )


def test_the_recorded_rows_stand_beside_the_printed_ones():
    recorded = json.loads(grandvalet_bengio.RECORD.read_text())
    found = run_item(registry.find(NAME), Setting(scale=0.1))
    shown = {row["claim"]: row for row in found.rows() if "recorded" in row["claim"]}
    papers = [row for row in recorded if row["data"] in grandvalet_bengio.PRINTED]
    assert len(shown) == 3 * len(papers) and len(
        {(row["data"], row["n"]) for row in papers}
    ) == len(papers)
    for row in papers:
        assert row["seed"] == row["n"] and row["minutes"] > 0
        claim = shown[
            f"{row['data']}, n = {row['n']}: rho in percent, recorded ({row['runs']:,} runs, seed "
            f"{row['n']}, {row['minutes']:.0f} minutes)"
        ]
        assert claim["ours"] == 100 * row["rho"]
        assert claim["printed"] == str(grandvalet_bengio.PRINTED[row["data"]][row["n"]][0])
    said = documented.said()
    agree = sum(claim["verdict"] == "holds" for claim in shown.values())
    assert f"Of their {len(shown)} numbers, {agree} agree with the printed ones" in said
