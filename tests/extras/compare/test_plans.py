"""Planned differences against enumerated samples, a published size and a simulation of another kind of clusters."""

from unittest import mock

import numpy as np
import pytest
from refusals import refused
from scipy import stats

import workbench as wb
from workbench.extras.compare import plans


def enumerated_power(items, difference, discordance):
    """The chance that the interval lies above 0, over every number of items that either model alone gets right."""
    chance = 0.0
    for differ in range(items + 1):
        weight = stats.binom.pmf(differ, items, discordance)
        if weight < 1e-7:
            continue
        better = np.arange(differ + 1)
        shown = [
            tuple(wb.value_interval([10**9], [[differ - a, items - differ, a]], [-1, 0, 1]))[0]
            > -2e-9
            for a in better
            if 2 * a > differ
        ]
        chance += (
            weight
            * (
                stats.binom.pmf(
                    better[2 * better > differ], differ, (1 + difference / discordance) / 2
                )
                * shown
            ).sum()
        )
    return chance


@pytest.mark.parametrize(("items", "discordance"), [(30, 0.4), (60, 0.15)])
def test_independent_items_have_the_power_of_enumeration(items, discordance):
    found = wb.detectable_difference(items, discordance)
    assert enumerated_power(items, found, discordance) == pytest.approx(0.8, abs=0.01)


def test_published_sizes():
    """969 for .03 and 1/9 by the normal formula (Miller 2024); ours is for the longer interval that is reported."""
    assert 969 < wb.items_to_detect(0.03, 1 / 9) < 1.1 * 969
    assert wb.detectable_difference(wb.items_to_detect(0.03, 1 / 9), 1 / 9) == pytest.approx(
        0.03, rel=0.01
    )


def test_clusters_whose_items_are_all_alike_count_as_one():
    alike = wb.detectable_difference(200, 0.3, clusters=40, icc=0.999)
    alone = wb.detectable_difference(40, 0.3)
    assert alike == pytest.approx(alone, rel=0.15) and alike > 2 * wb.detectable_difference(
        200, 0.3
    )
    assert wb.items_to_detect(0.2, 0.4, cluster_size=5, icc=0.5) % 5 == 0


def test_what_cannot_be_shown():
    assert np.isnan(wb.detectable_difference(20, 0.05))


@pytest.mark.parametrize(
    ("call", "argument", "rule", "told"),
    [
        (lambda: wb.detectable_difference(1, 0.1), "items", "must be a whole number of at least 2", "got 1"),
        (lambda: wb.detectable_difference(100, 0), "discordance", "must be above 0", "got 0"),
        (lambda: wb.detectable_difference(100, 10), "discordance", "must be a number from 0 to 1.0", "got 10"),
        (lambda: wb.detectable_difference(100, 0.1, icc=0.2), "icc", "needs clusters", "got 0.2"),
        (lambda: wb.detectable_difference(100, 0.1, clusters=101), "clusters", "must be a whole number from 2 to 100", "got 101"),
        (lambda: wb.detectable_difference(10**6, 0.2, clusters=10_001, icc=0.1), "clusters", "must be a whole number from 2 to 10000", "got 10001"),
        (lambda: wb.items_to_detect(0.2, 0.1), "difference", "must be a number from 0 to 0.1", "got 0.2"),
        (lambda: wb.items_to_detect(1e-6, 0.5), "difference", "must be large enough for 10,000,000 items to show it", "got 1e-06"),
        (lambda: wb.items_to_detect(5e-324, 0.2), "difference", "must be large enough for 10,000,000 items to show it", "got 5e-324"),
        (lambda: wb.items_to_detect(5e-324, 0.2, cluster_size=4, icc=0.1), "difference", "must be large enough for 40,000 items to show it", "got 5e-324"),
    ],
)  # fmt: skip
def test_plans_that_are_none_are_refused(call, argument, rule, told):
    refused(call, argument, rule, told)


def test_numbers_next_to_0_are_answered():
    assert wb.detectable_difference(400, 0.2, clusters=40, icc=5e-324) == wb.detectable_difference(
        400, 0.2, clusters=40
    )


@pytest.mark.parametrize("power", [0.5, 0.8, 0.99])
@pytest.mark.parametrize(
    ("difference", "discordance"),
    [(0.0048, 0.01), (0.0069, 0.05), (1, 1), (0.0139, 0.5), (3e-4, 0.01)],
)
def test_the_items_are_found_in_few_steps(difference, discordance, power):
    with mock.patch.object(plans, "_chance_shown", wraps=plans._chance_shown) as asked:
        found = wb.items_to_detect(difference, discordance, power=power)
    assert asked.call_count <= 40
    chances = [
        plans._chance_shown(n, None, 0, 0.95)(difference, discordance)
        for n in (found, max(2, int(0.97 * found)))
    ]
    assert chances[0] >= power and (chances[1] < power + 0.01 or found < 20)
