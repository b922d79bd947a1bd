import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.polynomials import PRIME_POWERS

from workbench.replication.arrays import linear_array, orthogonal_array, smallest_runs
from workbench.replication.totals import kept_totals, signed_totals

LEVELS = [*PRIME_POWERS, 25, 27]


def kept_one_by_one(values):
    """Look every run of the array up, stratum by stratum."""
    strata, levels, variables = values.shape
    array = orthogonal_array(levels, strata)
    return np.array(
        [sum((values[h, run[h]] for h in range(strata)), np.zeros(variables)) for run in array]
    )


def signed_one_by_one(contrasts):
    return (1 - 2 * orthogonal_array(2, len(contrasts))) @ contrasts


@pytest.mark.parametrize("levels", LEVELS)
@pytest.mark.parametrize("more", [-1, 0, 1])
def test_kept_totals_are_those_of_every_run(levels, more):
    """As many strata as the array of levels^2 runs has columns, one fewer, one more; integers are exact up to noise."""
    strata = levels + 1 + more if levels < 20 else levels + more
    values = np.random.default_rng(levels).integers(-9, 10, (strata, levels, 3)).astype(float)
    found = kept_totals(values)
    assert found.shape == (smallest_runs(levels, strata), 3) and found.dtype == float
    np.testing.assert_allclose(found, kept_one_by_one(values), rtol=0, atol=1e-11)


@pytest.mark.parametrize("strata", [1, 2, 3, 4, 7, 8, 15, 16, 100, 1023, 1024])
def test_signed_totals_are_those_of_every_run(strata):
    contrasts = np.random.default_rng(strata).integers(-9, 10, (strata, 2)).astype(float)
    np.testing.assert_allclose(
        signed_totals(contrasts), signed_one_by_one(contrasts), rtol=0, atol=1e-9
    )


@given(
    st.sampled_from([2, 3, 4, 5, 7, 8, 9]),
    st.integers(1, 40),
    st.integers(1, 3),
    st.integers(0, 2**32 - 1),
)
@settings(deadline=None, max_examples=60)
def test_totals_of_any_shape(levels, strata, variables, seed):
    values = np.random.default_rng(seed).normal(size=(strata, levels, variables))
    np.testing.assert_allclose(
        kept_totals(values), kept_one_by_one(values), rtol=0, atol=1e-12 * strata
    )


def test_two_levels_are_signed_totals_of_half_differences():
    """Keeping unit 0 or 1 is half the sum plus or minus half the difference."""
    values = np.random.default_rng(0).normal(size=(50, 2, 4))
    expected = values.sum((0, 1)) / 2 + signed_totals((values[:, 0] - values[:, 1]) / 2)
    np.testing.assert_allclose(kept_totals(values), expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize(("levels", "strata"), [(3, 500), (4, 400), (5, 156), (9, 91)])
def test_many_strata_through_the_whole_array(levels, strata):
    values = np.random.default_rng(1).normal(size=(strata, levels, 1))
    array = linear_array(levels, strata)
    dense = sum((array == unit) @ values[:, unit] for unit in range(levels))
    np.testing.assert_allclose(kept_totals(values), dense, rtol=0, atol=1e-11)


def test_values_are_left_as_they_were():
    values = np.random.default_rng(2).normal(size=(4, 3, 2))
    before = values.copy()
    kept_totals(values)
    signed_totals(values[:, 0])
    assert (values == before).all()


def test_the_sum_over_runs_holds_every_unit_equally_often():
    """Eq. 15: the mean of the replicates is the full total."""
    values = np.random.default_rng(3).normal(size=(30, 5, 1))
    assert kept_totals(values).mean() == pytest.approx(values.sum() / 5, rel=1e-12)
    assert signed_totals(values[:, 0]).sum() == pytest.approx(0, abs=1e-11)
