"""What simulations recorded of comparisons: it holds what is claimed, fresh draws agree, and the README says it."""

import json

import comparison_coverage
import documented
import numpy as np
import pytest

RECORD = json.loads(comparison_coverage.RECORD.read_text())
README = documented.said()


def cells(kind):
    return RECORD[kind]["cells"].values()


def test_every_cell_is_recorded():
    assert {kind: set(found["cells"]) for kind, found in RECORD.items()} == {
        kind: set(named) for kind, (named, _) in comparison_coverage.KINDS.items()
    }
    assert all(found["runs"] == 2_000 for found in RECORD.values())


def test_what_is_claimed_holds():
    assert min(each["coverage"] for each in cells("pairs")) >= 0.94
    assert min(each["coverage"] for each in cells("clusters")) >= 0.93
    assert min(each["coverage"] for each in cells("ranks")) >= 0.94
    assert all(0.78 <= each["power"] <= 0.88 for each in cells("plans"))
    for each in [*cells("pairs"), *cells("clusters")]:
        assert each["zero"] == 0 and each["decided_at_margin"] == pytest.approx(
            1 - each["coverage"]
        )
        assert max(each["fails_above"], each["passes_below"]) <= 0.025


def test_the_readme_says_what_is_recorded():
    least = {
        kind: documented.floored(min(each["coverage"] for each in cells(kind)))
        for kind in RECORD
        if kind != "plans"
    }
    power = [f"{end(each['power'] for each in cells('plans')):.2f}"[1:] for end in (min, max)]
    assert (
        f"{len(cells('pairs'))} settings of pairs, {len(cells('clusters'))} in clusters and {len(cells('ranks'))} of "
        f"ranks, 2,000 samples each: least {least['pairs']}, {least['clusters']} and {least['ranks']}. "
        f"{len(cells('plans'))} plans: {power[0]} to {power[1]}"
    ) in README


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("pairs", "n 200, discordant 0.03, D 0.03"),
        ("clusters", "50 clusters of 40, discordant 0.02, D 0.02, ICC 0.3"),
    ],
)
def test_fresh_draws_agree(kind, name):
    named, measure = comparison_coverage.KINDS[kind]
    again, found = measure(named[name], np.random.default_rng(0), 400), RECORD[kind]["cells"][name]
    for share in ("coverage", "t_coverage"):
        assert again[share] == pytest.approx(found[share], abs=4 * (0.12 / 400) ** 0.5)
    assert again["over_t"] == pytest.approx(found["over_t"], rel=0.2)
