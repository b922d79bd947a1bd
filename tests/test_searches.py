"""The designs that the searches found hardest are covered as often as their records say, with fresh draws."""

import json

import documented
import interval_constants
import numpy as np
import pytest
import search_auc
import search_judged
import search_replication
import search_second_labels
import search_shares
import search_streams
import search_values
import search_waves
from thinned import thinned

import workbench as wb

MODULES = (
    search_auc,
    search_judged,
    search_replication,
    search_second_labels,
    search_shares,
    search_streams,
    search_values,
    search_waves,
)
RECORDED = [
    (module.SEARCHED[name], found, f"{module.__name__} {name}")
    for module in MODULES
    for name, found in json.loads(module.RECORD.read_text()).items()
]


@pytest.mark.parametrize(
    ("family", "found"), [entry[:2] for entry in RECORDED], ids=[entry[2] for entry in RECORDED]
)
@thinned("runs", 100, 1_000)
@pytest.mark.slow
def test_a_recorded_design_is_covered_as_recorded(family, found, runs):
    runs = min(runs, family.runs[1])
    again = family.coverage(family.load(found["design"]), np.random.default_rng(0), runs)
    spread = 4 * max(found["coverage"] * (1 - found["coverage"]), 0.01) ** 0.5
    assert again == pytest.approx(
        found["coverage"], abs=spread * (1 / runs + 1 / family.runs[2]) ** 0.5
    )


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_every_family_has_a_record(module):
    assert set(json.loads(module.RECORD.read_text())) == set(module.SEARCHED)


# Kinds of designs as the claims name them where the default interval covers less than .93.
LOW, NAMED_LOW = (
    0.93,
    {
        "5 to 10 PSUs, sizes and quality": "5 to 10 clusters of unequal sizes, quality changes with the size",
        "sizes": "15 to 80 clusters of unequal sizes",
        "sizes and quality": "15 to 80 clusters of unequal sizes, quality changes with the size",
        "Pareto sizes": "Pareto sizes of index 2 or 3",
        "Pareto sizes without variance": "Pareto sizes of index 1.25",
        "a tenth of the PSUs ten times as large": "a tenth of the clusters is ten times as large",
        "two kinds of PSUs": "clusters of two kinds",
        "two kinds, one rare": "clusters of two kinds, one of them a twentieth",
        "AUC": "AUC in 8 or 25 clusters, sizes equal or not, quality changes with the size",
    },
)
SEARCHED_LOW = {
    "f1 few": "search: F1 of about six positives, with three equally heavy clusters",
    "mean few": "search: a difference in 13 clusters of three items, models differ in 7%",
}


@pytest.mark.parametrize("interval", interval_constants.TRIED)
def test_every_constant_is_recorded_halved_and_doubled(interval):
    rows = json.loads(interval_constants.RECORD.read_text())["rows"][interval]
    module, names = interval_constants.TRIED[interval][:2]
    assert set(rows) == {"as it is"} | {
        f"{name} x {factor:g}" for name in names for factor in interval_constants.FACTORS
    }
    assert all(hasattr(module, name) for name in names)


def test_the_claims_name_every_kind_in_which_the_default_covers_less():
    said, kinds = documented.said(), json.loads(search_replication.KINDS.read_text())
    low = {name: found for name, found in kinds.items() if found["coverage"] < LOW}
    assert set(low) == set(NAMED_LOW)
    for name, found in low.items():
        assert (
            f"| {NAMED_LOW[name]} | {documented.floored(found['coverage'])} | {documented.floored(found['bounded_coverage'])} |"
            in said
        ), name
    held = {name for name in low if name not in search_replication.UNKNOWABLE}
    assert all(low[name]["coverage"] >= 0.9 for name in held)


def test_the_claims_name_every_searched_family_in_which_the_default_covers_less():
    said, searched = documented.said(), json.loads(search_replication.RECORD.read_text())
    low = {name: found for name, found in searched.items() if found["coverage"] < LOW}
    assert set(low) == set(SEARCHED_LOW)
    for name, found in low.items():
        row = f"{SEARCHED_LOW[name]} | {documented.floored(found['coverage'])} | {documented.floored(found['bounded_coverage'])} |"
        assert f"| {row}" in said, name


def test_the_readme_says_of_clusters_what_the_records_hold():
    said = documented.said()
    kinds = json.loads(search_replication.KINDS.read_text())
    searched = json.loads(search_replication.RECORD.read_text())
    assert set(kinds) == set(search_replication.kinds())
    held = {
        name: found for name, found in kinds.items() if name not in search_replication.UNKNOWABLE
    }
    easy = [kinds[name]["width_over_t"] for name in ("easy shares", "easy differences")]
    many, few = (
        min(found["coverage"] for name, found in searched.items() if name.endswith(size))
        for size in ("many", "few")
    )
    cells = sum(found["cells"] for found in held.values())
    least, bounded = (
        min(found[key] for found in held.values()) for key in ("coverage", "bounded_coverage")
    )
    assert (
        f"{cells:,} designs of {len(held)} kinds, 2,000 samples each (AUC 1,000): least {documented.floored(least)} "
        f"(bounded {documented.floored(bounded)}). Search: least {documented.floored(many)} if at least 30 equally heavy clusters "
        f"carry the information, {documented.floored(few)} otherwise"
    ) in said
    assert (
        f"on average {easy[0]:.2f} times as wide as t for proportions and {easy[1]:.2f} times for differences"
        in said
    )


@pytest.mark.parametrize("statistic", ["accuracy", "precision", "recall", "f1", "mean", "share"])
def test_limits_from_counts_are_those_of_the_items(statistic):
    design = search_replication.Design(6, 3, 8, 0.7, 0.5, 0.3, 0.3, 0.2, 0.8, 0.1, 0.1, 1.2, 0.3, 1)
    low, high, answered, noted, *_ = search_replication.outcomes(
        design, statistic, np.random.default_rng(2), 4
    )
    counts = np.array(search_replication.draw(design, statistic, np.random.default_rng(2), 4)[1:])
    for run in range(4):
        items = counts[0, :, run]
        psu = np.repeat(np.arange(18), items)
        survey = wb.SurveyDesign(psu // 3, psu=psu, weight=design.survey().weight[psu])
        drawn = wb.replicates(survey, search_replication.method_of(design))
        labels = [
            expanded(*psu_counts, m)
            for psu_counts, m in zip(counts[1:, :, run].T, items, strict=True)
        ]
        truth, prediction = np.concatenate(labels, 1)
        found = (
            wb.replicate_estimate(drawn, "mean", prediction - truth, bounds=(-1, 1))
            if statistic == "mean"
            else wb.replicate_estimate(drawn, "proportion", truth)
            if statistic == "share"
            else wb.replicate_estimate(drawn, statistic, truth, prediction)
        )
        assert answered[run] and (low[run], high[run]) == pytest.approx(tuple(found.interval()))
        assert noted[run] == any(note.kind in search_replication.UNSURE for note in found.notes)


def expanded(positive, hit, alarm, items):
    """Return truth and prediction of a PSU's items."""
    place = np.arange(items)
    return np.stack(
        [place < positive, (place < hit) | (place >= positive) & (place < positive + alarm)]
    ).astype(int)
