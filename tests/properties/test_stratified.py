import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.stratified.accuracy import accuracy_variance, estimated_variance, stratified_accuracy


@st.composite
def samples(draw):
    rows = []
    for _ in range(draw(st.integers(1, 6))):
        size = draw(st.integers(2, 10**6))
        n = draw(st.integers(2, min(size, 500)))
        rows.append((size, n, draw(st.integers(0, n))))
    return tuple(map(list, zip(*rows, strict=True)))


@given(samples())
def test_estimates_are_shares_and_mirror(sample):
    size, labeled, correct = sample
    found = stratified_accuracy(size, labeled, correct)
    wrong = stratified_accuracy(size, labeled, np.subtract(labeled, correct))
    assert 0 <= found.estimate <= 1 + 1e-12 and found.variance >= 0
    assert found.estimate + wrong.estimate == pytest.approx(1) and found.variance == pytest.approx(
        wrong.variance
    )
    assert estimated_variance(size, labeled, correct, form="paper") >= found.variance


@given(samples())
def test_cutting_nothing_off_changes_nothing(sample):
    """Strata that share a rate and sampling fraction 1: the estimate is the population's, without variance."""
    size, _, _ = sample
    right = [n // 2 for n in size]
    found = stratified_accuracy(size, size, right)
    assert found.estimate == pytest.approx(sum(right) / sum(size)) and found.variance == 0
    assert accuracy_variance(size, right, size) == 0
