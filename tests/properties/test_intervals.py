import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.intervals import stratified_interval

HONEST = ("default", "short", "guaranteed")


@st.composite
def samples(draw, max_strata=5):
    size, labeled, correct = [], [], []
    for _ in range(draw(st.integers(1, max_strata))):
        n_all = draw(st.integers(1, 400))
        n = (
            n_all
            if n_all < 2 or draw(st.booleans()) and n_all < 30
            else draw(st.integers(2, min(n_all, 25)))
        )
        x = draw(st.sampled_from([0, n]) | st.integers(0, n))
        size.append(n_all), labeled.append(n), correct.append(x)
    return size, labeled, correct


LEVELS = st.sampled_from([0.8, 0.95, 0.99])


@pytest.mark.parametrize("method", HONEST)
@given(sample=samples(), level=LEVELS)
@settings(max_examples=40, deadline=None)
def test_limits_are_multiples_of_one_item_within_what_the_labels_prove(method, sample, level):
    size, labeled, correct = (np.array(a) for a in sample)
    found = stratified_interval(size, labeled, correct, level=level, method=method)
    total = size.sum()
    for limit in found:
        assert limit * total == pytest.approx(round(limit * total), abs=1e-6)
    assert correct.sum() / total - 1e-12 <= found.low <= found.high + 1e-12
    assert found.high <= 1 - (labeled - correct).sum() / total + 1e-12
    if labeled.sum() < total:
        assert found.high - found.low > 0.5 / total
    else:
        assert found.low == pytest.approx(found.high, abs=1e-12)


@pytest.mark.parametrize("method", ("default", "guaranteed", "wald", "wilson"))
@given(sample=samples())
@settings(max_examples=60, deadline=None)
def test_the_interval_contains_the_estimate(method, sample):
    size, labeled, correct = (np.array(a) for a in sample)
    found = stratified_interval(size, labeled, correct, method=method)
    estimate = (size * correct / labeled).sum() / size.sum()
    assert found.low - 1e-9 <= estimate <= found.high + 1e-9


@pytest.mark.parametrize("method", ("default", "guaranteed", "wald", "wilson"))
@given(sample=samples(), level=LEVELS)
@settings(max_examples=25, deadline=None)
def test_right_and_wrong_mirror_each_other(method, sample, level):
    mirror_each_other(method, sample, level)


@given(sample=samples(3), level=LEVELS)
@settings(max_examples=12, deadline=None)
def test_right_and_wrong_mirror_each_other_in_the_short_interval(sample, level):
    mirror_each_other("short", sample, level)


def mirror_each_other(method, sample, level):
    size, labeled, correct = (np.array(a) for a in sample)
    low, high = stratified_interval(size, labeled, correct, level=level, method=method)
    mirrored = stratified_interval(size, labeled, labeled - correct, level=level, method=method)
    within = 1e-9 if method != "short" else 1.01 / size.sum()
    assert tuple(mirrored) == pytest.approx((1 - high, 1 - low), abs=within)


@pytest.mark.parametrize("method", ("default", "guaranteed", "wald", "wilson"))
@given(sample=samples(), order=st.randoms(use_true_random=False))
@settings(max_examples=25, deadline=None)
def test_the_order_of_the_strata_does_not_matter(method, sample, order):
    do_not_depend_on_the_order(method, sample, order)


@given(sample=samples(3), order=st.randoms(use_true_random=False))
@settings(max_examples=12, deadline=None)
def test_the_order_of_the_strata_does_not_matter_to_the_short_interval(sample, order):
    do_not_depend_on_the_order("short", sample, order)


def do_not_depend_on_the_order(method, sample, order):
    places = list(range(len(sample[0])))
    order.shuffle(places)
    found = stratified_interval(*sample, method=method)
    moved = stratified_interval(*([a[k] for k in places] for a in sample), method=method)
    within = (
        1e-9
        if method in ("wald", "wilson")
        else 1.01 / sum(sample[0])
        if method == "short"
        else 1e-9
    )
    assert tuple(moved) == pytest.approx(tuple(found), abs=within)


@pytest.mark.parametrize("method", ("default", "guaranteed", "wilson"))
@given(sample=samples(4))
@settings(max_examples=40, deadline=None)
def test_a_higher_level_is_never_narrower(method, sample):
    wide, narrow = (
        stratified_interval(*sample, level=level, method=method) for level in (0.99, 0.9)
    )
    assert wide.low <= narrow.low + 1e-9 and narrow.high <= wide.high + 1e-9


@given(st.integers(2, 60), st.integers(0, 400), st.integers(1, 30), st.data())
@settings(max_examples=60, deadline=None)
def test_known_right_items_shift_the_upper_limit_of_a_single_stratum(n, extra, known, data):
    size, x = n + extra, data.draw(st.integers(0, n))
    alone = stratified_interval([size], [n], [x])
    beside = stratified_interval([size, known], [n, known], [x, known])
    assert beside.high == pytest.approx(
        (alone.high * size + known) / (size + known), abs=1.01 / (size + known)
    )
