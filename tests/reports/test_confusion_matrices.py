"""Confusion matrices as the file of a report."""

import pytest

from workbench.reports.inputs import misclassification, replication
from workbench.results.limits import LimitReached, printed_limits

MATRIX = ",day,user\nday,331,18\nuser,7,44\n"  # classes named as columns of other files are
ASSUMED = "confusion matrix: rows were read as true classes"


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "matrix.csv").write_text(MATRIX)
    (tmp_path / "counts.csv").write_text("period,day,user\nJan,1579,218\nFeb,4411,589\n")


def test_the_command_says_what_it_assumed_of_a_matrix(files):
    with printed_limits(), pytest.warns(LimitReached) as warned:
        items = replication.read(items="matrix.csv")
    texts = [str(warning.message) for warning in warned]
    assert texts[0].startswith(ASSUMED)
    assert texts[1:] == [
        "confusion matrix: the 400 items that it counts were assumed to be independent of each other"
    ]
    assert items.truth.size == 400
    for metrics in ("accuracy", "proportion"):
        assert replication.read(items="matrix.csv", metrics=metrics).truth.size == 400
    turned = replication.read(items="matrix.csv", rows="prediction")
    assert (turned.prediction == "day").sum() == 349


def test_a_matrix_as_audit_and_as_second_audit(files):
    with printed_limits(), pytest.warns(LimitReached, match=ASSUMED):
        audit, comparison, *_, series = misclassification.read(
            audit="matrix.csv", counts="counts.csv", fresh_audit="matrix.csv"
        )
    assert audit.table.tolist() == [[331, 18], [7, 44]]
    assert comparison is not None and series.periods == ("Jan", "Feb")
    assert not any("unused" in str(note) or "column" in str(note) for note in series.notes)
    turned, comparison, *_ = misclassification.read(
        audit="matrix.csv",
        counts="counts.csv",
        fresh_audit="matrix.csv",
        rows="prediction",
        sampled_by="truth",
    )
    assert turned.table.tolist() == [[331, 7], [18, 44]]
