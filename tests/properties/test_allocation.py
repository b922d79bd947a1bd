import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.allocation.rules import METHODS, allocate


@st.composite
def problems(draw):
    n_strata = draw(st.integers(1, 12))
    size = draw(st.lists(st.integers(1, 10**6), min_size=n_strata, max_size=n_strata))
    sd = draw(st.lists(st.just(0.0) | st.floats(1e-6, 1e6), min_size=n_strata, max_size=n_strata))
    minimum = draw(st.integers(0, 20))
    least = max(sum(min(minimum, n) for n in size), 1)
    return np.array(size), np.array(sd), draw(st.integers(least, sum(size) + 5)), minimum


@pytest.mark.parametrize("method", METHODS)
@given(problem=problems())
@settings(max_examples=150, deadline=None)
def test_floors_caps_and_budget_are_kept(method, problem):
    size, sd, budget, minimum = problem
    found = allocate(size, budget, method, stratum_sd=sd, minimum=minimum)
    assert (found.labeled >= np.minimum(minimum, size)).all() and (found.labeled <= size).all()
    assert found.labeled.sum() + found.unused == budget
    if method != "neyman":
        assert found.labeled.sum() == min(budget, size.sum())


@given(problem=problems())
@settings(max_examples=150, deadline=None)
def test_no_trade_of_one_label_improves_voila(problem):
    size, sd, budget, minimum = problem
    n = allocate(size, budget, stratum_sd=sd, minimum=minimum).labeled.astype(float)
    spread = (size * sd) ** 2
    with np.errstate(divide="ignore", invalid="ignore"):
        loss = np.where(
            (n > np.minimum(minimum, size)) & (spread > 0), spread / (n * (n - 1)), np.inf
        )
        loss = np.where((n > np.minimum(minimum, size)) & (spread == 0), 0, loss)
        gain = np.where((n < size) & (spread > 0), np.where(n > 0, spread / (n * (n + 1)), 0), 0)
    for h in range(size.size):
        others = np.delete(loss, h)
        if others.size and np.isfinite(others.min()):
            assert gain[h] <= others.min() * (1 + 1e-9)


@given(problem=problems(), order=st.randoms(use_true_random=False))
@settings(max_examples=100, deadline=None)
def test_the_order_of_the_strata_does_not_change_the_variance(problem, order):
    size, sd, budget, minimum = problem
    places = list(range(size.size))
    order.shuffle(places)
    for method in ("voila",):
        found = allocate(size, budget, method, stratum_sd=sd, minimum=minimum)
        moved = allocate(size[places], budget, method, stratum_sd=sd[places], minimum=minimum)
        assert moved.variance == pytest.approx(found.variance, rel=1e-9)
