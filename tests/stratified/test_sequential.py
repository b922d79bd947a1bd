from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import refused

from workbench import labeling_order


def by_the_rule(size, n):
    """The rule, word by word, in exact arithmetic."""
    labeled, order = [0] * len(size), []
    for _ in range(2):
        order += [h for h in range(len(size)) if size[h] > _]
    order = order[:n]
    for h in order:
        labeled[h] += 1
    for t in range(len(order) + 1, n + 1):
        behind = {
            h: Fraction(t * size[h], sum(size)) - labeled[h]
            for h in range(len(size))
            if labeled[h] < size[h]
        }
        order.append(max(behind, key=behind.get))
        labeled[order[-1]] += 1
    return order


@given(st.lists(st.integers(1, 40), min_size=1, max_size=6), st.data())
def test_the_rule_word_by_word(size, data):
    n = data.draw(st.integers(0, sum(size)))
    assert labeling_order(size, n).tolist() == by_the_rule(size, n)


@given(st.lists(st.integers(1, 40), min_size=1, max_size=6), st.data())
def test_a_larger_budget_continues_the_order(size, data):
    n = data.draw(st.integers(0, sum(size)))
    assert labeling_order(size, sum(size))[:n].tolist() == labeling_order(size, n).tolist()


@given(st.lists(st.integers(1, 30), min_size=1, max_size=5))
def test_all_labels_are_a_census(size):
    assert np.bincount(labeling_order(size, sum(size)), minlength=len(size)).tolist() == size


def test_shares_in_place_of_sizes():
    counts = np.bincount(labeling_order([1000, 1000, 1000], 200, share=[3, 1, 0]))
    assert counts[2] == 2 and abs(counts[0] - 148.5) <= 1


@pytest.mark.parametrize(
    ("arguments", "argument", "rule", "told"),
    [
        (([3, 2], 6), "n", "must be a whole number from 0 to 5", "got 6"),
        (([3, -2], 1), "stratum_size", "must be at least 0", "stratum 1 is -2"),
    ],
)
def test_refused(arguments, argument, rule, told):
    refused(lambda: labeling_order(*arguments), argument, rule, told)


def test_shares_that_are_none():
    none = "must have a positive entry; all are 0"
    refused(lambda: labeling_order([3, 2], 2, share=[0, 0]), "share", none)
