import math

import numpy as np
import pytest
from oracles import strata as oracle
from refusals import refused
from sklearn.mixture import GaussianMixture

import workbench as wb
from workbench.checks import WrongType
from workbench.course.digit_forms import digit_forms
from workbench.results import Note
from workbench.stratified.strata import METHODS, strata_of, stratify

TIES_TOGETHER = tuple(m for m in METHODS if m != "equal_size")


def scores(kind, size, seed=0):
    rng = np.random.default_rng(seed)
    return {
        "uniform": lambda: rng.random(size),
        "beta": lambda: 0.5 + 0.5 * rng.beta(5, 1, size),
        "two humps": lambda: np.r_[
            rng.normal(-3, 1, size // 2), rng.normal(3, 0.5, size - size // 2)
        ],
        "exponential": lambda: rng.exponential(1, size),
        "margin": lambda: np.abs(rng.normal(0, 1, size)),
        "rounded": lambda: np.round(0.5 + 0.5 * rng.beta(3, 1, size), 1),
    }[kind]()


def consistent(score, found):
    """What every stratification has to fulfil."""
    score = np.asarray(score)
    assert found.labels.shape == score.shape and found.n_strata == found.sizes.size
    assert sorted(set(found.labels.tolist())) == list(range(found.n_strata))
    assert found.sizes.tolist() == [int((found.labels == k).sum()) for k in range(found.n_strata)]
    assert found.sizes.sum() == score.size
    means = [score[found.labels == k].mean() for k in range(found.n_strata)]
    assert all(a <= b for a, b in zip(means, means[1:], strict=False))
    if found.edges is not None:
        assert found.edges.shape == (found.n_strata + 1,)
        assert found.edges[0] == score.min() and found.edges[-1] == score.max()
        for s, k in zip(score, found.labels, strict=True):
            assert found.edges[k] < s <= found.edges[k + 1] or k == 0 and s == found.edges[0]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    "kind", ["uniform", "beta", "two humps", "exponential", "margin", "rounded"]
)
@pytest.mark.parametrize("n_strata", [2, 5, 10])
def test_every_rule_gives_a_stratification(method, kind, n_strata):
    score = np.abs(scores(kind, 400))
    found = stratify(score, n_strata, method)
    consistent(score, found)
    assert found.method == method
    if method != "equal_size":
        for value in np.unique(score):
            assert len(set(found.labels[score == value].tolist())) == 1
    if found.n_strata < n_strata:
        dropped = n_strata - found.n_strata
        was = "was" if dropped == 1 else "were"
        assert found.notes == (
            Note("design", f"{dropped} of {n_strata} strata {was} empty and dropped"),
        )
    elif method != "equal_size":
        assert found.notes == ()
    assert (found.edges is None) == (
        method == "gmm" or method == "equal_size" and bool(found.notes)
    )


# each rule against its definition


@pytest.mark.parametrize("method, power", [("cum_sqrt_f", 1 / 2), ("cum_cbrt_f", 1 / 3)])
@pytest.mark.parametrize("kind", ["uniform", "beta", "two humps", "exponential", "margin"])
@pytest.mark.parametrize("n_strata", [2, 5, 9])
def test_equal_steps_of_the_root_of_scipys_kernel_density(method, power, kind, n_strata):
    score = scores(kind, 600)
    cuts = oracle.root_density(score, n_strata, power)
    found = stratify(score, n_strata, method)
    span = np.ptp(score)
    expected = oracle.cells(score, cuts)
    if found.n_strata == n_strata:
        assert found.edges[1:-1] == pytest.approx(cuts, abs=1e-3 * span)
    near = np.min(np.abs(score[:, None] - cuts), axis=1) < 1e-3 * span
    assert near.mean() < 0.05
    assert (found.labels[~near] == expected[~near]).all()


@pytest.mark.parametrize("kind", ["uniform", "beta", "exponential", "rounded"])
@pytest.mark.parametrize("n_strata", [2, 5, 9])
def test_weighted_mean_cuts_at_equal_totals(kind, n_strata):
    score = scores(kind, 300)
    assert (
        stratify(score, n_strata, "weighted_mean").labels.tolist()
        == oracle.equal_totals(score, n_strata).tolist()
    )


def test_weighted_mean_by_hand():
    """Two equal items reach the second and the third part of the total together and stay together."""
    found = stratify([0.1, 1, 0.2, 0.3, 1, 0.4], 3, "weighted_mean")
    assert found.labels.tolist() == [0, 1, 0, 0, 1, 0] and found.notes == (
        Note("design", "1 of 3 strata was empty and dropped"),
    )
    # cumulated 1, 3, 6, 11, 21, 31.5; thirds end at 10.5 and 21
    found = stratify([1, 10.5, 2, 3, 10, 5], 3, "weighted_mean")
    assert found.labels.tolist() == [0, 2, 0, 0, 1, 0] and found.edges.tolist() == [1, 5, 10, 10.5]


@pytest.mark.parametrize(
    "kind", ["uniform", "beta", "two humps", "exponential", "margin", "rounded"]
)
@pytest.mark.parametrize("n_strata", [2, 4, 7])
def test_kmeans_is_within_one_percent_of_the_optimum(kind, n_strata):
    score = scores(kind, 700)
    best = oracle.best_inertia(score, n_strata)
    assert oracle.inertia(score, stratify(score, n_strata, "kmeans").labels) <= 1.01 * best + 1e-9


@pytest.mark.slow
def test_kmeans_on_binned_scores_is_within_one_percent_of_the_optimum():
    """3,000 scores are more than the 2,048 bins."""
    score = scores("beta", 3000)
    best = oracle.best_inertia(score, 5)
    assert oracle.inertia(score, stratify(score, 5, "kmeans").labels) <= 1.01 * best


def test_kmeans_survives_an_outlier():
    """One far margin takes a stratum; the other four have to be cut out of the rest."""
    score = np.r_[np.random.default_rng(1).random(2500), 1e5]
    found = stratify(score, 5, "kmeans")
    assert oracle.inertia(score, found.labels) <= 1.01 * oracle.best_inertia(score, 5) + 1e-6
    assert found.n_strata == 5


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["beta", "two humps", "exponential", "margin"])
@pytest.mark.parametrize("n_strata", [2, 3, 5])
def test_the_mixture_is_scikit_learns_on_every_item(kind, n_strata):
    score = scores(kind, 800)
    seed = int(np.random.default_rng(3).integers(2**31))
    fit = GaussianMixture(n_strata, random_state=seed, reg_covar=1e-6 * score.var()).fit(
        np.sort(score)[:, None]
    )
    component = fit.predict(score[:, None])
    order = sorted(set(component.tolist()), key=lambda k: score[component == k].mean())
    expected = np.array([order.index(k) for k in component])
    found = stratify(score, n_strata, "gmm", rng=3)
    assert (found.labels == expected).all()
    assert found.edges is None


@pytest.mark.parametrize(
    "n, n_strata", [(10, 3), (11, 3), (12, 5), (100, 7), (1797, 5), (1797, 12), (5, 5), (9, 2)]
)
def test_equal_size_cuts_the_ranks(n, n_strata):
    score = np.random.default_rng(n).permutation(n) / n
    found = stratify(score, n_strata, "equal_size")
    assert found.sizes.tolist() == oracle.equal_sizes(n, n_strata)
    expected = np.repeat(np.arange(n_strata), found.sizes)
    assert found.labels[np.argsort(score)].tolist() == expected.tolist()
    assert found.edges is not None and found.notes == ()


def test_equal_size_orders_ties_at_random_and_says_so():
    score = [0.5] * 30 + [1.0] * 30
    found = [stratify(score, 3, "equal_size", rng=seed) for seed in range(40)]
    for result in found:
        assert result.sizes.tolist() == [20, 20, 20] and result.edges is None
        assert result.notes == (
            Note(
                "data",
                "some items with equal scores are in different strata, assigned at random",
            ),
        )
        assert set(result.labels[:30].tolist()) == {0, 1} and set(result.labels[30:].tolist()) == {
            1,
            2,
        }
    first = np.mean([result.labels[0] == 0 for result in found])
    assert abs(first - 2 / 3) < 4 * math.sqrt(2 / 9 / 40)
    assert len({tuple(result.labels) for result in found}) == 40
    again = stratify(score, 3, "equal_size", rng=7)
    assert again.labels.tolist() == found[7].labels.tolist()
    halves = stratify(score, 2, "equal_size")
    assert halves.notes == () and halves.edges.tolist() == [0.5, 0.5, 1]


def test_equal_width_by_hand():
    """Cells (low, high]: .625 and .75 belong below their cut."""
    found = stratify([0.5, 0.625, 0.63, 0.75, 0.76, 0.875, 1], 4, "equal_width")
    assert found.labels.tolist() == [0, 0, 1, 1, 2, 2, 3] and found.edges.tolist() == [
        0.5,
        0.625,
        0.75,
        0.875,
        1,
    ]
    found = stratify([0, 0.1, 0.9, 1], 4, "equal_width")
    assert found.labels.tolist() == [0, 0, 1, 1] and found.edges.tolist() == [0, 0.75, 1]
    assert found.notes == (Note("design", "2 of 4 strata were empty and dropped"),)


# the digits


def test_the_digits_in_equal_sizes_and_equal_widths():
    forms = digit_forms()
    right = forms.read_a == forms.digit
    sizes = stratify(forms.confidence, 5, "equal_size")
    assert sizes.sizes.tolist() == [360, 359, 360, 359, 359]
    assert [round(right[sizes.labels == k].mean(), 3) for k in range(5)] == [
        0.581,
        0.855,
        0.961,
        0.989,
        1.0,
    ]
    random = wb.allocation_variance([1797], [right.std(ddof=1)], [100])
    for n_strata, ratio in ((5, 3.04), (10, 5.24)):
        widths = stratify(forms.confidence, n_strata, "equal_width")
        sd = [right[widths.labels == k].std(ddof=1) for k in range(widths.n_strata)]
        found = wb.allocate(widths.sizes, 100, "equal", stratum_sd=sd)
        assert found.variance / random == pytest.approx(ratio, abs=0.005)
    margin = stratify(forms.margin, 5, "equal_width")
    sd = [right[margin.labels == k].std(ddof=1) for k in range(5)]
    assert wb.allocate(
        margin.sizes, 100, "equal", stratum_sd=sd
    ).variance / random == pytest.approx(1.04, abs=0.005)


def test_rounded_confidences_of_the_digits_collapse_strata():
    """655 confidences round to 1.000000 at six decimals."""
    forms = digit_forms()
    rounded = np.round(forms.confidence, 6)
    assert (rounded == 1).sum() == 655
    assert stratify(rounded, 5, "weighted_mean").n_strata == 4
    assert stratify(forms.confidence, 5, "weighted_mean").n_strata == 5


# size, seeds, errors


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_two_hundred_thousand_items(method):
    score = 0.5 + 0.5 * np.random.default_rng(0).beta(5, 1, 200_000)
    found = stratify(score, 10, method, rng=1)
    assert found.n_strata == 10 and found.sizes.sum() == 200_000 and found.notes == ()
    means = np.bincount(found.labels, score) / found.sizes
    assert (np.diff(means) > 0).all()
    if found.edges is not None:
        assert (np.searchsorted(found.edges[1:-1], score, side="left") == found.labels).all()
    if method == "kmeans":
        best = (
            oracle.best_inertia(np.random.default_rng(2).choice(score, 2000, replace=False), 10)
            / 2000
        )
        assert oracle.inertia(score, found.labels) / score.size < 1.06 * best


@pytest.mark.parametrize("method", METHODS)
def test_the_seed_decides_and_the_order_of_items_does_not(method):
    score = scores("beta", 500)
    first, again = (stratify(score, 6, method, rng=5) for _ in range(2))
    assert (first.labels == again.labels).all()
    order = np.random.default_rng(1).permutation(500)
    assert (stratify(score[order], 6, method, rng=5).labels == first.labels[order]).all()


@pytest.mark.parametrize("method", METHODS)
def test_one_stratum_is_everything(method):
    found = stratify([0.3, 0.3, 0.3], 1, method)
    assert (
        found.labels.tolist() == [0, 0, 0]
        and found.sizes.tolist() == [3]
        and found.edges.tolist() == [0.3, 0.3]
    )


@pytest.mark.parametrize("method", TIES_TOGETHER)
def test_two_values_make_at_most_two_strata(method):
    found = stratify([0.5, 0.5, 1, 1, 1], 4, method)
    assert found.labels.tolist() in ([0, 0, 1, 1, 1], [0] * 5)
    assert found.notes == (
        Note("design", f"{4 - found.n_strata} of 4 strata were empty and dropped"),
    )


@pytest.mark.parametrize(
    ("args", "argument", "rule", "told"),
    [
        (([0.5, math.nan], 2), "score", "must be finite", "item 1 is nan"),
        (([math.inf, 0.5], 2), "score", "must be finite", "item 0 is inf"),
        (([], 1), "score", "must not be empty", ""),
        (([[0.5, 0.6]], 1), "score", "must be one-dimensional", "got shape (1, 2)"),
        (([0.5, 0.6, 0.7], 0), "n_strata", "must be a whole number from 1 to 3", "got 0"),
        (([0.5, 0.6, 0.7], 4), "n_strata", "must be a whole number from 1 to 3", "got 4"),
        (([0.5, 0.6, 0.7], 2.5), "n_strata", "must be a whole number from 1 to 3", "got 2.5"),
        (
            ([0.5, 0.6], 2, "equalsize"),
            "method",
            "must be one of 'cum_sqrt_f', ",
            "got 'equalsize' (",
        ),
    ],
)
def test_the_exact_errors(args, argument, rule, told):
    refused(lambda: stratify(*args), argument, rule, told)


def test_scores_have_to_differ_and_fit_the_method():
    rule = "must differ between items to be cut into 2 strata; all are 0.7. If you have no other"
    refused(lambda: stratify([0.7, 0.7, 0.7], 2), "score", rule)
    rule = "must not be negative for method 'weighted_mean'; item 2 is -0.5"
    refused(lambda: stratify([0.7, 0.1, -0.5], 2, "weighted_mean"), "score", rule)


def test_scores_have_to_be_numbers():
    refused(lambda: stratify(["a", "b"], 2), "score", "must hold numbers", "got ", WrongType)
    seed = "must be a whole number of at least 0"
    refused(lambda: stratify([1, 2], 2, rng=None), "rng", seed, "got None", WrongType)


def test_a_result_states_its_finding():
    found = stratify([0.5, 0.6, 0.8, 0.9, 1, 1], 3, "equal_width")
    assert repr(found) == "Strata(3 strata of 1 to 3 items by equal_width)"
    assert [row["size"] for row in found.rows()] == [2, 1, 3]
    assert [row["up_to"] for row in found.rows()] == pytest.approx([2 / 3, 5 / 6, 1])
    assert all(math.isnan(row["above"]) for row in stratify([0.5, 0.6, 0.8, 1], 2, "gmm").rows())


def test_one_stratum_of_one_item_is_spoken_of_in_the_singular():
    assert stratify([0.5], 1).headline() == "1 stratum of 1 item by cum_sqrt_f"


def test_the_caption_says_the_notes_once():
    shown = stratify([0.5, 0.6, 1], 3, "equal_width")._repr_html_()
    assert shown.count("1 of 3 strata was empty and dropped") == 1


@pytest.mark.parametrize("rng", [0, 1])
def test_few_distinct_scores_are_a_stratum_each(rng):
    score = np.array([1.0, 0, 1, 1, 0.5, 0, 1])
    found = strata_of(
        wb.read_scores({"p": score}, score="p", score_is="confidence"), 5, "equal_size", rng=rng
    )
    assert found.labels.tolist() == [2, 0, 2, 2, 1, 0, 2] and found.sizes.tolist() == [2, 1, 4]
    assert [note.text for note in found.notes] == [
        "there are only 3 distinct scores: each is a stratum, instead of 5 strata"
    ]


@pytest.mark.parametrize("method, power", [("cum_sqrt_f", 1 / 2), ("cum_cbrt_f", 1 / 3)])
def test_few_scores_are_cut_where_the_root_of_their_density_says(method, power):
    """To a tenth of the cells into which the density's scores are put."""
    score = scores("beta", 80)
    edges = stratify(score, 4, method).edges
    assert edges[1:-1] == pytest.approx(
        oracle.root_density(score, 4, power), abs=2e-5 * np.ptp(score)
    )


def test_ties_are_parted_though_one_stratum_has_its_size_without():
    found = stratify([0.1, 0.2, 0.5, 0.5, 0.5, 0.5], 3, "equal_size")
    assert found.sizes.tolist() == np.bincount(found.labels).tolist() == [2, 2, 2]
