"""Skipped items: the default interval holds the intervals of everything that their labels may be."""

import itertools

import numpy as np
import pytest

import workbench as wb


def hull(intervals):
    """Return the least lower and the largest upper limit."""
    lows, highs = zip(*intervals, strict=True)
    return min(lows), max(highs)


@pytest.mark.parametrize(
    ("size", "labeled", "skipped"),
    [
        ((40,), (6,), (3,)),
        ((30, 500), (3, 4), (2, 1)),
        ((900, 20), (2, 5), (1, 3)),
        ((60, 8, 90), (2, 3, 2), (1, 1, 2)),
    ],
)
def test_of_an_accuracy(size, labeled, skipped):
    n = np.add(labeled, skipped)
    for correct in itertools.product(*(range(k + 1) for k in labeled)):
        found = wb.stratified_accuracy(size, labeled, correct, skipped=skipped).interval()
        more = itertools.product(*(range(k + 1) for k in skipped))
        assert tuple(found) == pytest.approx(
            hull(
                wb.stratified_accuracy(size, n, np.add(correct, right)).interval() for right in more
            )
        )


@pytest.mark.parametrize(
    ("counts", "skipped"),
    [
        ([[1, 3, 2]], [2]),
        ([[0, 5, 0]], [3]),
        ([[0, 2, 3], [2, 1, 0]], [1, 2]),
        ([[1, 0, 17], [1, 0, 0]], [0, 1]),
    ],
)
def test_of_a_difference(counts, skipped):
    size = [484, 515][: len(counts)]
    labels = [[(b, k - a - b, a) for a in range(k + 1) for b in range(k + 1 - a)] for k in skipped]
    found = wb.paired_difference(size, counts, agreeing=200, skipped=skipped).interval()
    assert tuple(found) == pytest.approx(
        hull(
            wb.paired_difference(size, np.add(counts, more), agreeing=200).interval()
            for more in itertools.product(*labels)
        )
    )
