"""Every item runs, at a tenth of its default size: claims, verdicts, figure, saved form."""

import functools
import json
import warnings

import pytest

import workbench as wb
from workbench.extras.papers import claims, registry, run
from workbench.extras.papers.items import Setting
from workbench.extras.papers.page import as_json
from workbench.results import vocabulary

pytestmark = pytest.mark.xdist_group("papers")  # an item runs once for all its tests
NAMES = [row["name"] for row in wb.replay_list().rows()]
FIGURES = [name for name in NAMES if "/fig" in name]
# figures without series: two cases in words, a table of a field's elements, a program
WITHOUT_CHART = {"kumar-raj/fig1", "micheals-boult/fig1", "micheals-boult/fig2"}


@functools.cache
def found(name):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return run(registry.find(name), Setting(scale=0.1))


@pytest.mark.parametrize("name", NAMES)
def test_every_claim_has_a_verdict(name):
    rows = found(name).rows()
    assert rows and {row["verdict"] for row in rows} <= {*claims.VERDICTS, claims.PUT_IN}
    assert all(
        list(row) == ["claim", "printed", "ours", "corrected", "reach", "error", "verdict", "why"]
        for row in rows
    )
    assert len({row["claim"] for row in rows}) == len(rows)
    assert set(rows[0]) <= vocabulary.KEYS
    for row in rows:
        assert (
            row["verdict"] in ("not decided here", claims.PUT_IN)
            or row["ours"] is not None
            and row["reach"]
        )
        assert (row["corrected"] is not None) == (row["verdict"] == claims.CORRECTED)
        assert row["why"] or row["verdict"] in ("holds", "does not hold")
        assert row["printed"] != "" or row["verdict"] in ("holds", "not decided here")
        assert row["verdict"] != "holds" or not row["why"]


@pytest.mark.parametrize("name", NAMES)
def test_it_is_saved_and_comes_back(name):
    again = wb.Result.from_dict(json.loads(json.dumps(found(name).to_dict(), allow_nan=False)))
    assert repr(again) == repr(found(name)) and again.rows() == found(name).rows()
    assert json.loads(as_json([again]))[0]["name"] == name


@pytest.mark.parametrize("name", NAMES)
def test_its_chart_says_what_it_shows(name):
    chart = found(name).chart()
    if name in WITHOUT_CHART:
        assert chart is None
    elif name in FIGURES or chart is not None:
        drawn = chart.to_dict()
        assert (
            len(drawn["description"]) > 40 and drawn["datasets"]
            if "datasets" in drawn
            else drawn["description"]
        )


def test_what_needs_missing_data_is_not_decided():
    needed = [
        row
        for name in NAMES
        for row in found(name).rows()
        if "stand-in" in row["why"] and "/fig" in name
    ]
    assert len(needed) > 80 and {row["verdict"] for row in needed} <= {
        "not decided here",
        claims.PUT_IN,
    }


def test_the_column_printed_has_no_words_of_ours():
    ours = {
        "not said",
        "none has",
        "in all",
        "at each new share",
        "some",
        "above 0",
        "above 1",
        "below 0",
    }
    assert [
        (name, row["claim"])
        for name in NAMES
        for row in found(name).rows()
        if row["printed"] in ours
    ] == []


def test_no_verdict_is_written_by_hand():
    """Only the module of claims knows the names of verdicts that numbers decide."""
    from pathlib import Path

    import workbench.extras.papers

    for path in Path(workbench.extras.papers.__file__).parent.glob("*.py"):
        if path.name not in ("claims.py", "page.py"):
            text = path.read_text(encoding="utf-8")
            assert not any(f'"{verdict}"' in text for verdict in claims.VERDICTS), path.name
