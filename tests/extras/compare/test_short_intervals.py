"""Where Student's t is close to right, the default interval covers and is not much wider."""

import json

import documented
import numpy as np
import pytest
import short_intervals

RECORD = json.loads(short_intervals.RECORD.read_text(encoding="utf-8"))
CELLS = RECORD["cells"]
LEAST = {30: 0.93, 60: 0.94, 200: 0.94, 1_000: 0.94}
LEAST_IN_CLUSTERS = {8: 0.90, 12: 0.92, 30: 0.93, 80: 0.93}
EXCEPTIONS = {"30 items, one-sided 8%": 0.87} | {
    f"12 clusters, {sizes} sizes, large ones worse": 0.90 for sizes in short_intervals.SIZES
}


def least_coverage(name):
    number, unit = name.replace(",", "").split()[:2]
    least = (LEAST if unit == "items" else LEAST_IN_CLUSTERS)[int(number)]
    return EXCEPTIONS.get(name, least)


def test_every_cell_is_recorded():
    assert set(CELLS) == set(short_intervals.cells())
    assert RECORD["runs"] == 2_000


@pytest.mark.parametrize("name", CELLS)
def test_the_default_covers(name):
    least = least_coverage(name)
    error = np.sqrt(least * (1 - least) / RECORD["runs"])
    assert CELLS[name]["default"] >= least - 2 * error
    assert CELLS[name]["bounded"] >= CELLS[name]["default"]


@pytest.mark.parametrize(
    "name", ["60 items, continuous", "12 clusters, geometric sizes, accuracy .8"]
)
def test_fresh_samples_agree(name):
    again = short_intervals.cells()[name](np.random.default_rng(0), 400)
    for method in ("t", "default", "bounded"):
        assert again[method] == pytest.approx(CELLS[name][method], abs=4 * np.sqrt(0.06 / 400))
    for number in ("default_over_t", "bounded_over_t", "carriers"):
        assert again[number] == pytest.approx(CELLS[name][number], rel=0.1)


def wide_rows():
    """Yield the rows of the claims' table of cells that are wider than is wanted."""
    widths = {
        "target, at most": [f"{width:g}" for width in short_intervals.WIDEST_CLUSTERS.values()]
    }
    for name, cell in CELLS.items():
        number, _, kind = name.replace(" clusters, ", "|", 1).partition("|")
        if "heavy" in cell and cell["default_over_t"] > short_intervals.widest(name):
            row = widths.setdefault(kind, [""] * len(short_intervals.CLUSTERS))
            mark = "" if short_intervals.few_carry(cell) else " *"
            column = short_intervals.CLUSTERS.index(int(number))
            row[column] = f"{cell['default_over_t']:.2f}{mark}"
    for kind, row in widths.items():
        yield " ".join(f"| {kind} | {' | '.join(row)} |".split())


def wide_items():
    """Yield graded cells that are wider than is wanted, and the width."""
    for name, cell in CELLS.items():
        if "heavy" not in cell and cell["default_over_t"] > short_intervals.widest(name):
            assert short_intervals.few_carry(cell)
            yield f"{cell['default_over_t']:.2f} ({name})"


@pytest.mark.parametrize("words", [*wide_rows(), *wide_items()])
def test_the_claims_name_every_cell_that_is_wider_than_wanted(words):
    assert words in documented.said()


def least_recorded(unit):
    """Return the least coverage with 60 items or more, or with 30 clusters or more."""
    small = ("30 items", "8 clusters", "12 clusters")
    return min(
        cell["default"]
        for name, cell in CELLS.items()
        if unit in name and not name.startswith(small)
    )


def test_the_claims_hold_the_least_coverage():
    graded, clustered = (documented.floored(least_recorded(unit)) for unit in ("items", "clusters"))
    words = f"graded {graded} with 60 items or more, clusters {clustered} with 30 or more"
    assert f"{len(CELLS)} cells, 2,000 samples each: {words}" in documented.said()
