"""The short interval of a paired difference, against its definition and exact coverage."""

import json

import exact_differences
import numpy as np
import pytest
from refusals import refused

import workbench as wb


def test_golden_values():
    # 6 labels only A, 2 only B, 40 in all, at 95%: z^2 / 3 = 1.2805, m = 42.5610, D = 4 / m = .093983,
    # v = (10.5610 / m - D^2) / m = .0056227, t(39) = 2.022691: .093983 +- .151671
    found = wb.paired_difference([10**9], [[2, 32, 6]]).interval(method="short")
    assert tuple(found) == pytest.approx((-0.057688, 0.245654), abs=2e-6)
    assert (found.method, found.level, found.notes[0].kind) == ("short", 0.95, "unreliable")


@pytest.mark.parametrize("level", exact_differences.LEVELS)
def test_it_covers_what_the_record_says(level):
    record = json.loads(exact_differences.RECORD.read_text())["least"][f"{level:g}"]
    least, *_ = sorted(record, key=lambda each: each["coverage"])
    few = min(record, key=lambda each: each["labels"])
    assert (
        f"{np.floor(1e3 * least['coverage']) / 10:.1f}% at level {level:.0%}"
        in wb.paired_difference([99], [[2, 32, 6]]).interval(method="short").notes[0].text
    )
    n, truth = few["labels"], few["only_a"] - few["only_b"]
    a, b = exact_differences.outcomes(n)
    chance = exact_differences.chances(n, a, b, few["only_a"], few["only_b"])
    covered = [
        truth in wb.paired_difference([10**12], [[y, n - x - y, x]]).interval(level, "short")
        for x, y in zip(a.tolist(), b.tolist(), strict=True)
    ]
    assert chance.sum() == pytest.approx(1) and chance @ covered == pytest.approx(
        few["coverage"], abs=1e-9
    )


def test_it_is_shorter_and_never_empty():
    for counts in ([0, 40, 0], [1, 38, 1], [9, 20, 11], [0, 0, 40]):
        found = wb.paired_difference([10**7], [counts])
        assert 0 < found.interval(method="short").half_width < found.interval().half_width
        assert tuple(found.interval()) == tuple(found.interval(method="default"))


def test_items_on_which_the_models_agree_scale_it_and_what_is_proved_cuts_it():
    alone, among = (
        wb.paired_difference([900], [[2, 32, 6]], agreeing=more).interval(0.99, "short")
        for more in (0, 8100)
    )
    assert tuple(among) == pytest.approx(np.array(tuple(alone)) / 10)
    assert tuple(
        wb.paired_difference([41], [[2, 32, 6]]).interval(method="short")
    ) == pytest.approx((3 / 41, 5 / 41))
    assert tuple(
        wb.paired_difference([40], [[2, 32, 6]]).interval(method="short")
    ) == pytest.approx((0.1, 0.1))


def test_skipped_items_widen_it():
    low, high = (
        wb.paired_difference([900], [counts]).interval(method="short")
        for counts in ([5, 32, 6], [2, 32, 9])
    )
    found = wb.paired_difference([900], [[2, 32, 6]], skipped=[3]).interval(method="short")
    assert tuple(found) == (low.low, high.high)


@pytest.mark.parametrize(("sizes", "level"), [([900, 400], 0.95), ([900], 0.9), ([900], 0.9499)])
def test_elsewhere_it_is_refused_and_the_default_named(sizes, level):
    found = wb.paired_difference(sizes, [[2, 32, 6]] * len(sizes))
    several = "must be 'default' with several strata or a level below 0.95"
    refused(lambda: found.interval(level, "short"), "method", several, "got")
    refused(lambda: found.interval(level, "wald"), "method", "must be one of 'default', 'short'")
