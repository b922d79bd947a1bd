import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import strata as oracle

from workbench.stratified.strata import METHODS, stratify

SCORES = st.lists(st.floats(0, 1).map(lambda s: round(s, 3)), min_size=2, max_size=60).filter(
    lambda values: len(set(values)) > 1
)


@pytest.mark.parametrize("method", METHODS)
@given(score=SCORES, data=st.data())
@settings(max_examples=40, deadline=None)
def test_strata_are_a_partition_by_rising_score(method, score, data):
    n_strata = data.draw(st.integers(1, min(len(score), 8)))
    score = np.array(score)
    found = stratify(score, n_strata, method)
    assert 1 <= found.n_strata <= n_strata
    assert np.bincount(found.labels, minlength=found.n_strata).tolist() == found.sizes.tolist()
    assert found.sizes.min() >= 1 and found.sizes.sum() == score.size
    assert bool(found.notes) == (
        found.n_strata < n_strata or found.edges is None and method == "equal_size"
    )
    means = np.bincount(found.labels, score) / found.sizes
    assert (np.diff(means) >= -1e-12).all()
    if method != "equal_size":
        assert all(len(set(found.labels[score == s].tolist())) == 1 for s in set(score.tolist()))
    if method != "gmm":
        rises = found.labels[np.lexsort((found.labels, score))]
        assert (np.diff(rises) >= 0).all()
    if found.edges is not None:
        assert (np.searchsorted(found.edges[1:-1], score, side="left") == found.labels).all()


@given(score=SCORES, data=st.data())
@settings(max_examples=100, deadline=None)
def test_equal_size_depends_on_ranks_only(score, data):
    n_strata = data.draw(st.integers(2, min(len(score), 8)))
    score = np.array(score)
    found = stratify(score, n_strata, "equal_size")
    assert found.sizes.tolist() == oracle.equal_sizes(score.size, n_strata)
    assert (stratify(np.exp(score) * 7 - 3, n_strata, "equal_size").labels == found.labels).all()


@given(score=SCORES, data=st.data())
@settings(max_examples=100, deadline=None)
def test_weighted_mean_is_its_definition_and_ignores_the_unit(score, data):
    """Whole thousandths, so that totals are exact."""
    n_strata = data.draw(st.integers(2, min(len(score), 8)))
    score = np.round(np.array(score) * 1000)
    found = stratify(score, n_strata, "weighted_mean").labels.tolist()
    assert found == oracle.equal_totals(score, n_strata).tolist()
    assert stratify(score * 4, n_strata, "weighted_mean").labels.tolist() == found
