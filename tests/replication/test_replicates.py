import csv
import itertools
import json
import math
import re
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn import metrics

from workbench.replication.arrays import check_balance, hadamard, linear_array, orthogonal_array
from workbench.replication.estimates import (
    ReplicateEstimate,
    estimate_statistic,
    replicate_estimate,
)
from workbench.replication.galois import GaloisField
from workbench.replication.replicates import SurveyDesign, replicates
from workbench.results import Result, sentences

PRIME_POWERS = 2, 3, 4, 5, 7, 8, 9
MIXTURE = [2, 5, 3, 4, 2, 6, 9]


# ---------------------------------------------------------------- samples and oracles, written out


def sample(units, seed=0, items=(1, 5)):
    """Items of PSUs in strata of `units` PSUs each: unequal clusters and weights, text labels, random order."""
    rng = np.random.default_rng(seed)
    owner = [(f"stratum {h}", f"{h}/{i}") for h, n in enumerate(units) for i in rng.permutation(n)]
    size = rng.integers(*items, len(owner), endpoint=True)
    order = rng.permutation(np.repeat(np.arange(len(owner)), size))
    truth = rng.random(order.size) < 0.5
    score = np.round(np.clip(0.5 + 0.4 * (truth - 0.5) + rng.normal(0, 0.3, order.size), 0, 1), 1)
    x = rng.random(order.size) + 0.5
    return SimpleNamespace(
        stratum=[owner[k][0] for k in order],
        psu=[owner[k][1] for k in order],
        weight=rng.lognormal(0, 1, order.size),
        y=5 + 3 * x + rng.normal(size=order.size),
        x=x,
        truth=truth.astype(int),
        prediction=(score >= 0.5).astype(int),
        score=score,
        n=order.size,
        domain=rng.random(order.size) < 0.6,
    )


def design_of(data):
    return SurveyDesign(data.stratum, psu=data.psu, weight=data.weight)


def textbook_variance(data, values):
    """sum_h n_h / (n_h - 1) sum_i (z_hi - mean_h)^2 of the weighted PSU totals z, unit by unit."""
    total = {}
    for stratum, psu, weight, value in zip(
        data.stratum, data.psu, data.weight, values, strict=True
    ):
        units = total.setdefault(stratum, {})
        units[psu] = units.get(psu, 0) + weight * value
    variance = 0
    for units in total.values():
        n, mean = len(units), math.fsum(units.values()) / len(units)
        variance += n / (n - 1) * math.fsum((z - mean) ** 2 for z in units.values())
    return variance


def exactly(expected):
    return pytest.approx(expected, rel=1e-12, abs=0)


def total_variance(data, *args, **how):
    return replicate_estimate(replicates(design_of(data), *args, **how), "total", data.y).variance


def half_samples(strata, runs=None):
    return hadamard(runs or 4 * (strata // 4 + 1))[:, 1 : strata + 1]


# ---------------------------------------------------------------- the variance of a total is the textbook's


@pytest.mark.parametrize("strata", [1, 5, 11])
@pytest.mark.parametrize("n", PRIME_POWERS)
def test_brr_of_a_total_is_exact(n, strata):
    data = sample([n] * strata, seed=n)
    assert total_variance(data, "brr") == exactly(textbook_variance(data, data.y))


@pytest.mark.parametrize("rho", [0, 0.3, 0.5, 0.99])
@pytest.mark.parametrize("n", PRIME_POWERS)
def test_fay_of_a_total_is_exact(n, rho):
    data = sample([n] * 6, seed=n)
    how = {"rel": 1e-12 / (1 - rho)}  # the replicates differ by 1 - rho of their spread
    assert total_variance(data, "fay", rho=rho) == pytest.approx(
        textbook_variance(data, data.y), **how
    )


@given(st.lists(st.integers(2, 9), min_size=1, max_size=12), st.integers(0, 2**32 - 1))
@settings(deadline=None, max_examples=60)
def test_generalized_and_jackknife_of_a_total_are_exact_for_any_mixture(units, seed):
    data = sample(units, seed)
    expected = textbook_variance(data, data.y)
    for method, how in (("jkn", {}), ("generalized", {"rho": 0}), ("generalized", {})):
        assert total_variance(data, method, **how) == exactly(expected)


@pytest.mark.parametrize("n", [3, 4])
def test_supplied_unit_numbers_give_the_same_variance_as_our_own_array(n):
    data = sample([n] * 5)
    array = orthogonal_array(n, 5, method="rotation")
    assert total_variance(data, "brr", array=array) == exactly(textbook_variance(data, data.y))


@pytest.mark.parametrize(
    ("units", "method"), [([2] * 1024, "brr"), ([3] * 512, "generalized"), ([2] * 1100, "fay")]
)
def test_many_contrasts_are_exact(units, method):
    """1,024 contrasts or more: totals by transform, no array stored."""
    data = sample(units, items=(1, 2))
    drawn = replicates(design_of(data), method)
    assert drawn.array is None and drawn.count == 2048
    assert total_variance(data, method) == exactly(textbook_variance(data, data.y))


@pytest.mark.parametrize("strata", [1023, 1024])
def test_hadamard_matrices_serve_up_to_1023_strata(strata):
    drawn = replicates(SurveyDesign(np.repeat(np.arange(strata), 2)))
    assert (drawn.array is None, drawn.count) == ((True, 2048) if strata == 1024 else (False, 1024))


@pytest.mark.parametrize("units", [[2] * 8, MIXTURE])
def test_bootstrap_of_a_total_is_unbiased(units):
    """The mean of 4,000 squared deviations against its own standard error."""
    data = sample(units)
    drawn = replicates(design_of(data), "bootstrap", count=4000, rng=1)
    found = replicate_estimate(drawn, "total", data.y)
    squares = (found.replicate_values - found.estimate) ** 2
    assert found.variance == pytest.approx(squares.mean(), rel=1e-12)
    error = squares.std(ddof=1) / math.sqrt(squares.size)
    assert abs(found.variance - textbook_variance(data, data.y)) < 4 * error < 0.15 * found.variance


def test_bootstrap_draws_one_unit_less_than_there_are():
    data = sample(MIXTURE)
    design = design_of(data)
    drawn = replicates(design, "bootstrap", count=300, rng=5)
    per_stratum = np.add.reduceat(drawn.draws, np.cumsum(MIXTURE) - MIXTURE, axis=1)
    assert (per_stratum == np.array(MIXTURE) - 1).all() and (drawn.coefficients == 1 / 300).all()
    n = np.repeat(MIXTURE, MIXTURE)
    np.testing.assert_allclose(drawn.factors(slice(None)), drawn.draws * n / (n - 1), rtol=1e-12)
    assert np.array_equal(replicates(design, "bootstrap", count=300, rng=5).draws, drawn.draws)
    assert not np.array_equal(replicates(design, "bootstrap", count=300, rng=6).draws, drawn.draws)
    again = replicates(design, "bootstrap", count=300, rng=np.random.default_rng(5))
    assert np.array_equal(again.draws, drawn.draws)


# ---------------------------------------------------------------- weights

KINDS = {
    "brr 2": ([2] * 7, "brr", {}),
    "fay 2": ([2] * 7, "fay", {"rho": 0.3}),
    "brr 3": ([3] * 7, "brr", {}),
    "fay 4": ([4] * 7, "fay", {"rho": 0.7}),
    "brr 9": ([9] * 3, "brr", {}),
    "fay 5": ([5] * 9, "fay", {}),
    "generalized": (MIXTURE, "generalized", {}),
    "generalized, rho 0": (MIXTURE, "generalized", {"rho": 0}),
    "generalized 2": ([2] * 9, "generalized", {"rho": 0.2}),
    "jkn": (MIXTURE, "jkn", {}),
    "bootstrap": (MIXTURE, "bootstrap", {"count": 60}),
    "signs": ([2] * 7, "brr", {"array": half_samples(7)}),
    "signs, fay": ([2] * 7, "fay", {"array": -half_samples(7, 12), "rho": 0.1}),
    "units of two": ([2] * 3, "brr", {"array": orthogonal_array(2, 3)}),
    "units of three": ([3] * 4, "brr", {"array": orthogonal_array(3, 4)[::-1]}),
    "units of eight, fay": (
        [8] * 5,
        "fay",
        {"array": orthogonal_array(8, 5, method="rotation"), "rho": 0.4},
    ),
}
every_kind = pytest.mark.parametrize("kind", KINDS)


def drawn_by(kind, items=(4, 9)):
    units, method, how = KINDS[kind]
    data = sample(units, seed=3, items=items)
    return data, replicates(design_of(data), method, **how)


def factors_of(data, drawn):
    return drawn.weights() / data.weight[:, None]


@every_kind
def test_no_weight_is_negative_and_each_averages_to_the_full_one(kind):
    data, drawn = drawn_by(kind)
    factors = factors_of(data, drawn)
    assert factors.shape == (data.n, drawn.count) and factors.min() >= -1e-12
    if drawn.method != "bootstrap":
        np.testing.assert_allclose(factors.mean(1), 1, rtol=1e-12)


@every_kind
def test_items_of_one_unit_are_reweighted_alike(kind):
    data, drawn = drawn_by(kind)
    by_psu = {}
    for psu, row in zip(data.psu, factors_of(data, drawn), strict=True):
        np.testing.assert_allclose(row, by_psu.setdefault(psu, row), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    "kind", [k for k, (_, method, _) in KINDS.items() if method in ("brr", "fay")]
)
def test_kept_and_other_units_have_the_two_factors_of_fay(kind):
    """w (1 + (1 - rho) (n delta - 1)): rho for the others, n - (n - 1) rho for the one kept, in every stratum."""
    data, drawn = drawn_by(kind)
    n, rho = KINDS[kind][0][0], KINDS[kind][2].get("rho", 0 if "brr" == KINDS[kind][1] else 0.5)
    assert drawn.rho == rho
    factors = {psu: row for psu, row in zip(data.psu, factors_of(data, drawn), strict=True)}
    for stratum in set(data.stratum):
        rows = np.sort(
            [row for psu, row in factors.items() if f"stratum {psu.split('/')[0]}" == stratum],
            axis=0,
        )
        np.testing.assert_allclose(rows[:-1], rho, rtol=0, atol=1e-12)
        np.testing.assert_allclose(rows[-1], n - (n - 1) * rho, rtol=1e-12)
    assert drawn.coefficients == pytest.approx(1 / (drawn.count * (n - 1) * (1 - rho) ** 2))


@pytest.mark.parametrize("rho", [0, 0.25, 0.5])
@pytest.mark.parametrize("units", [[2, 2, 2], MIXTURE, [9, 9], [3] * 9, [3, 2]])
def test_generalized_factors_do_not_fall_below_rho(units, rho):
    data = sample(units)
    smallest = factors_of(data, replicates(design_of(data), "generalized", rho=rho)).min()
    assert smallest >= rho - 1e-12
    if max(units) <= 3:  # two contrasts show every pair of signs
        assert smallest == pytest.approx(rho, abs=1e-12)


def test_first_unit_of_a_stratum_is_the_one_that_appears_first():
    """+1 and unit 0 keep it, strata in sorted order."""
    design = SurveyDesign(
        ["b", "a", "b", "a", "b"], psu=["z", "y", "x", "w", "z"], weight=[1, 10, 100, 1000, 10000]
    )
    plus = [[1, 1], [1, -1], [-1, 1], [-1, -1]]
    expected = [
        [2, 2, 0, 0],
        [20, 20, 0, 0],
        [0, 0, 200, 200],
        [0, 0, 2000, 2000],
        [20000, 20000, 0, 0],
    ]
    expected[0], expected[2], expected[4] = [2, 0, 2, 0], [0, 200, 0, 200], [20000, 0, 20000, 0]
    assert replicates(design, array=plus).weights().tolist() == expected
    assert replicates(design, array=(1 - np.array(plus)) // 2).weights().tolist() == expected


def test_jackknife_leaves_out_one_unit_and_raises_its_neighbors():
    data = sample([3, 2])
    drawn = replicates(design_of(data), "jkn")
    left_out = {}
    for psu, row in zip(data.psu, factors_of(data, drawn), strict=True):
        left_out[psu] = row
    assert sorted(np.round(np.concatenate(list(left_out.values())), 9).tolist()) == sorted(
        [0] * 5 + [1.5] * 6 + [2] * 2 + [1] * 12
    )
    assert sorted(drawn.coefficients) == pytest.approx([1 / 2] * 2 + [2 / 3] * 3)


@every_kind
def test_weights_go_through_csv(kind, tmp_path):
    data, drawn = drawn_by(kind, items=(1, 2))
    drawn.write_csv(tmp_path / "weights.csv")
    header, *rows = csv.reader(
        (tmp_path / "weights.csv").read_text(encoding="utf-8-sig").splitlines()
    )
    assert header == [
        "stratum",
        "psu",
        "weight",
        *(f"replicate_{r + 1}" for r in range(drawn.count)),
    ]
    assert [row[:2] for row in rows] == [
        list(pair) for pair in zip(data.stratum, data.psu, strict=True)
    ]
    assert np.array_equal(
        np.array([row[2:] for row in rows], float),
        np.concatenate([data.weight[:, None], drawn.weights()], 1),
    )


@pytest.mark.parametrize("wrong", [None, [1, 1, 2, 2], {"stratum": [1, 1]}])
def test_other_objects_are_refused_by_name(wrong):
    got = type(wrong).__name__
    with pytest.raises(TypeError, match=f"^design must be of class SurveyDesign; got {got}$"):
        replicates(wrong)
    with pytest.raises(TypeError, match=f"^replicates must be of class Replicates; got {got}$"):
        replicate_estimate(wrong, "mean", [1, 2])


@pytest.fixture
def spread():
    return replicates(SurveyDesign(["=1+1", "=1+1", "b", "b"], psu=["-u", "@v", "w", "x"]))


def test_names_that_a_spreadsheet_would_execute_are_neutral(spread, tmp_path):
    spread.write_csv(tmp_path / "weights.csv")
    rows = list(csv.reader((tmp_path / "weights.csv").read_text(encoding="utf-8-sig").splitlines()))
    assert [row[:2] for row in rows[1:]] == [
        ["'=1+1", "'-u"],
        ["'=1+1", "'@v"],
        ["b", "w"],
        ["b", "x"],
    ]


def test_only_weights_of_as_many_replicates_are_overwritten(spread, tmp_path):
    path = tmp_path / "weights.csv"
    for _ in range(2):
        spread.write_csv(path)
    written = path.read_bytes()
    with pytest.raises(
        ValueError,
        match="weights.csv' exists, but its columns are not stratum, psu, weight, "
        "replicate_1, replicate_2, replicate_3, replicate_4, replicate_5 and 15 more",
    ):
        replicates(spread.design, "bootstrap", count=20).write_csv(path)
    assert path.read_bytes() == written
    path.write_text("my,own\n1,2\n")
    with pytest.raises(ValueError, match="exists, but its columns are not stratum, psu"):
        spread.write_csv(path)
    assert path.read_text() == "my,own\n1,2\n"
    with pytest.raises(ValueError, match=r"path must end in \.csv; got .*weights\.txt"):
        spread.write_csv(tmp_path / "weights.txt")


def test_weights_are_written_as_a_whole_or_not_at_all(spread, tmp_path, monkeypatch):
    path = tmp_path / "weights.csv"
    spread.write_csv(path)
    written = path.read_bytes()

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("os.fsync", interrupted)
    with pytest.raises(KeyboardInterrupt):
        spread.write_csv(path)
    assert path.read_bytes() == written and [entry.name for entry in tmp_path.iterdir()] == [
        "weights.csv"
    ]


def test_a_path_in_the_home_is_looked_up_there(spread, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    (tmp_path / "weights.csv").write_text("my,own\n1,2\n")
    with pytest.raises(ValueError, match="exists, but its columns are not"):
        spread.write_csv("~/weights.csv")


# ---------------------------------------------------------------- statistics, replicate by replicate


def quantile(weight, y, q):
    return np.quantile(y[weight > 0], q, weights=weight[weight > 0], method="inverted_cdf")


def scored(metric):
    return lambda weight, truth, guess: metric(truth, guess, sample_weight=weight)


STATISTICS = {
    "mean": (("y",), lambda w, y: np.average(y, weights=w)),
    "total": (("y",), lambda w, y: w @ y),
    "ratio": (("y", "x"), lambda w, y, x: w @ y / (w @ x)),
    "accuracy": (("truth", "prediction"), scored(metrics.accuracy_score)),
    "precision": (("truth", "prediction"), scored(metrics.precision_score)),
    "recall": (("truth", "prediction"), scored(metrics.recall_score)),
    "f1": (("truth", "prediction"), scored(metrics.f1_score)),
    "auc": (("truth", "score"), scored(metrics.roc_auc_score)),
    "quantile": (("y", 0.37), quantile),
}


def recomputed(data, weights, name, rows):
    """The statistic on the items `rows` with the full weights and with each column of replicate weights."""
    names, function = STATISTICS[name]
    columns = [
        getattr(data, column)[rows] if isinstance(column, str) else column for column in names
    ]
    weights = np.concatenate([data.weight[:, None], np.maximum(weights, 0)], 1)[rows]
    full, *each = (function(weight, *columns) for weight in weights.T)
    return full, each


def estimated(data, drawn, name, **how):
    columns = [
        getattr(data, column) if isinstance(column, str) else column
        for column in STATISTICS[name][0]
    ]
    return replicate_estimate(drawn, name, *columns, **how)


@pytest.mark.slow
@pytest.mark.parametrize("name", STATISTICS)
@every_kind
def test_values_are_those_with_the_exported_weights(kind, name):
    data, drawn = drawn_by(kind)
    for domain in (None, data.domain):
        rows = np.ones(data.n, bool) if domain is None else domain
        found, some = (
            estimated(data, drawn, name, domain=domain),
            slice(None, None, max(1, drawn.count // 12)),
        )
        full, each = recomputed(data, drawn.weights()[:, some], name, rows)
        assert found.undefined == 0 and found.statistic == name and found.items == rows.sum()
        assert found.estimate == pytest.approx(full, rel=1e-12)
        np.testing.assert_allclose(found.replicate_values[some], each, rtol=1e-11)
        assert found.variance == pytest.approx(
            drawn.coefficients @ (found.replicate_values - full) ** 2, rel=1e-9
        )
        assert found.standard_error == pytest.approx(math.sqrt(found.variance), rel=1e-15)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["mean", "ratio", "f1", "auc", "quantile"])
@pytest.mark.parametrize(
    ("units", "method"),
    [
        ([2] * 1024, "fay"),
        ([3] * 600, "generalized"),
        ([3] * 130, "brr"),
        ([4] * 90, "fay"),
        ([9] * 20, "brr"),
    ],
)
def test_values_of_large_linear_arrays_are_those_with_the_exported_weights(units, method, name):
    data = sample(units, items=(1, 1))
    drawn = replicates(design_of(data), method)
    found, some = estimated(data, drawn, name), slice(None, None, 97)
    full, each = recomputed(data, drawn.weights()[:, some], name, np.ones(data.n, bool))
    assert drawn.array is None and found.estimate == pytest.approx(full, rel=1e-12)
    np.testing.assert_allclose(found.replicate_values[some], each, rtol=1e-10)


@pytest.mark.parametrize("block", [1, 100, 5000])
@pytest.mark.parametrize("kind", ["brr 3", "jkn", "bootstrap", "generalized", "signs"])
def test_values_do_not_depend_on_the_blocks_they_are_computed_in(kind, block, monkeypatch):
    data, drawn = drawn_by(kind)
    whole = {name: estimated(data, drawn, name).replicate_values for name in ("auc", "mean")}
    monkeypatch.setattr("workbench.replication.replicates.BLOCK", block)
    for name, values in whole.items():
        np.testing.assert_allclose(
            estimated(data, drawn, name).replicate_values, values, rtol=1e-12
        )


@every_kind
def test_a_domain_is_the_design_of_all_with_the_others_at_zero(kind):
    """Not a design of the domain's items alone."""
    data, drawn = drawn_by(kind)
    inside = data.domain.astype(float)
    assert estimated(data, drawn, "mean", domain=data.domain).variance == pytest.approx(
        replicate_estimate(drawn, "ratio", data.y * inside, inside).variance, rel=1e-9
    )
    assert estimated(data, drawn, "total", domain=data.domain).variance == pytest.approx(
        replicate_estimate(drawn, "total", data.y * inside).variance, rel=1e-12
    )


def test_deviations_may_be_taken_from_the_mean_of_the_replicates():
    for kind in KINDS:
        data, drawn = drawn_by(kind)
        found = estimated(data, drawn, "f1", center="mean")
        values = found.replicate_values
        assert found.variance == pytest.approx(
            drawn.coefficients @ (values - values.mean()) ** 2, rel=1e-12
        )
        assert found.variance < estimated(data, drawn, "f1").variance


@pytest.mark.parametrize("name", [n for n in STATISTICS if n != "total"])
def test_only_the_total_depends_on_the_scale_of_the_weights(name):
    data = sample([3] * 5, items=(4, 9))
    small, large = (
        replicates(SurveyDesign(data.stratum, psu=data.psu, weight=data.weight * c))
        for c in (1, 1e6)
    )
    a, b = estimated(data, small, name), estimated(data, large, name)
    assert b.estimate == pytest.approx(a.estimate, rel=1e-12) and b.variance == pytest.approx(
        a.variance, rel=1e-9
    )
    assert tuple(b.interval()) == pytest.approx(tuple(a.interval()), rel=1e-9)
    assert estimated(data, large, "total").variance == pytest.approx(
        1e12 * estimated(data, small, "total").variance
    )


@pytest.mark.parametrize("method", ["brr", "fay", "generalized", "jkn", "bootstrap"])
def test_the_order_of_the_items_does_not_matter_where_units_keep_theirs(method):
    """Items sorted by stratum and PSU, PSUs in the order in which they first appear."""
    data = sample([3] * 5)
    first = {psu: k for k, psu in reversed(list(enumerate(data.psu)))}
    order = sorted(range(data.n), key=lambda k: (data.stratum[k], first[data.psu[k]]))
    moved = SimpleNamespace(
        **{key: np.array(value)[order] for key, value in vars(data).items() if key != "n"}
    )
    for name in ("f1", "auc"):
        values = [
            estimated(d, replicates(design_of(d), method), name).replicate_values
            for d in (data, moved)
        ]
        np.testing.assert_allclose(*values, rtol=1e-12)


def test_a_callable_sees_the_items_of_the_domain():
    data, drawn = drawn_by("brr 3")

    def spread(weight, y, power):
        assert weight.shape == y.shape == (data.domain.sum(),) and power == 2
        return weight @ y**power / weight.sum() - (weight @ y / weight.sum()) ** 2

    found = replicate_estimate(drawn, spread, data.y, 2, domain=data.domain)
    weights = drawn.weights()[data.domain]
    assert found.statistic == "spread" and found.kind == "number"
    np.testing.assert_allclose(
        found.replicate_values, [spread(w, data.y[data.domain], 2) for w in weights.T]
    )


def test_a_callable_may_take_a_matrix_of_one_row_per_item():
    data, drawn = drawn_by("fay 2")
    probability = np.stack([data.score, 1 - data.score], 1)

    def brier(weight, p, truth):
        return weight @ (p[:, 0] - truth) ** 2 / weight.sum()

    for domain in (None, data.domain):
        found = replicate_estimate(drawn, brier, probability, data.truth, domain=domain)
        plain = replicate_estimate(drawn, "mean", (data.score - data.truth) ** 2, domain=domain)
        np.testing.assert_allclose(found.replicate_values, plain.replicate_values, rtol=1e-12)


@pytest.mark.parametrize("name", STATISTICS)
def test_columns_hold_every_item_not_only_the_domains(name):
    data, drawn = drawn_by("fay 2")
    columns = [
        getattr(data, c)[data.domain] if isinstance(c, str) else c for c in STATISTICS[name][0]
    ]
    text = f"^{STATISTICS[name][0][0]} must have {data.n} entries; got {data.domain.sum()}$"
    with pytest.raises(ValueError, match=text):
        replicate_estimate(drawn, name, *columns, domain=data.domain)


def test_replicate_totals_are_those_with_the_exported_weights():
    for kind in KINDS:
        data, drawn = drawn_by(kind)
        values = np.stack([data.y, data.x, data.truth], 1)
        np.testing.assert_allclose(drawn.totals(values), drawn.weights().T @ values, rtol=1e-11)


# ---------------------------------------------------------------- kinds, degrees of freedom, effective sizes


def test_kinds():
    data, drawn = drawn_by("fay 2")
    kinds = {name: estimated(data, drawn, name).kind for name in STATISTICS}
    assert kinds == {
        "mean": "number",
        "total": "number",
        "ratio": "number",
        "accuracy": "proportion",
        "precision": "proportion",
        "recall": "proportion",
        "f1": "share",
        "auc": "share",
        "quantile": "number",
    }
    assert replicate_estimate(drawn, "proportion", data.truth).kind == "proportion"
    assert replicate_estimate(drawn, "mean", data.truth).kind == "number", (
        "0 and 1 may be what was drawn by chance"
    )
    assert replicate_estimate(drawn, "mean", data.truth, bounds=(0, 1)).kind == "bounded"
    assert replicate_estimate(drawn, "total", data.truth).kind == "number"


def test_counts_and_degrees_of_freedom_are_those_of_the_domain():
    data, drawn = drawn_by("generalized")
    found = estimated(data, drawn, "mean")
    assert (found.items, found.psus, found.strata, found.df) == (
        data.n,
        sum(MIXTURE),
        7,
        sum(MIXTURE) - 7,
    )
    psu, stratum = np.array(data.psu), np.array(data.stratum)
    domain = np.isin(psu, ["0/0", "1/0", "1/1", "1/3", "3/2", "3/1"])
    found = estimated(data, drawn, "mean", domain=domain)
    assert (found.items, found.psus, found.strata, found.df) == (
        domain.sum(),
        6,
        len(set(stratum[domain])),
        3,
    )
    alone = estimated(
        data, replicates(design_of(data), "generalized", rho=0.9), "mean", domain=psu == "1/0"
    )
    assert (alone.psus, alone.strata, alone.df) == (1, 1, 1)


def test_effective_units_are_kishs():
    data, drawn = drawn_by("generalized")
    weight = {}
    for psu, w in zip(data.psu, data.weight, strict=True):
        weight[psu] = weight.get(psu, 0) + w
    w = np.array(list(weight.values()))
    assert estimated(data, drawn, "mean").effective_psus == pytest.approx(
        w.sum() ** 2 / (w @ w), rel=1e-12
    )
    equal = replicates(SurveyDesign(np.repeat(np.arange(9), 2)))
    assert replicate_estimate(equal, "mean", np.arange(18)).effective_psus == pytest.approx(18)


def test_effective_units_of_a_ratio_are_those_of_its_denominator():
    design = SurveyDesign(np.repeat(np.arange(8), 2), weight=[1, 1] * 4 + [100, 100] * 4)
    truth = [1, 1] * 4 + [0, 0] * 4
    found = replicate_estimate(replicates(design, "fay"), "recall", truth, [1, 0] * 8)
    assert found.effective_psus == pytest.approx(8) and (found.items, found.counted) == (16, 8)
    assert (found.df, found.informative_psus, found.effective_df) == (4, 8, 4)


def test_effective_degrees_of_freedom_are_satterthwaites_or_those_of_the_equally_heavy_psus():
    """(sum a)^2 / sum a^2 / (n_h - 1), a the sum of W^2 in stratum h; at most kappa (C - H) / C."""
    data, drawn = drawn_by("generalized")
    weight, n = {}, np.array(MIXTURE)
    for stratum, psu, w in zip(data.stratum, data.psu, data.weight, strict=True):
        of_stratum = weight.setdefault(int(stratum.split()[1]), {})
        of_stratum[psu] = of_stratum.get(psu, 0) + w
    found = estimated(data, drawn, "mean")
    a = np.array([sum(w**2 for w in weight[h].values()) for h in range(7)])
    kappa = sum(w for psus in weight.values() for w in psus.values()) ** 2 / a.sum()
    assert found.effective_df == pytest.approx(
        min(a.sum() ** 2 / (a**2 / (n - 1)).sum(), kappa * (n.sum() - 7) / n.sum())
    )
    for n in (2, 3, 5):
        equal = replicates(SurveyDesign(np.repeat(np.arange(9), n)), "jkn")
        found = replicate_estimate(equal, "mean", np.arange(9 * n))
        assert found.effective_df == pytest.approx(found.df) and found.df == 9 * (n - 1)


def test_effective_degrees_of_freedom_of_a_domain_do_not_count_units_outside_it():
    """Two of ten units in each of five strata, all of the same weight: ten units, less a tenth for the strata."""
    design = SurveyDesign(np.repeat(np.arange(5), 10))
    found = replicate_estimate(
        replicates(design, "jkn"), "mean", np.arange(50) % 7, domain=[1, 1, *[0] * 8] * 5
    )
    assert found.df == 5 and found.effective_df == 9


def test_effective_degrees_of_freedom_are_at_least_one():
    design = SurveyDesign([1, 1, 2, 2, 3, 3], weight=[1e9, 1e9, 1, 1, 1, 1])
    assert replicate_estimate(
        replicates(design, "fay"), "mean", [1, 2, 3, 4, 5, 6]
    ).effective_df == pytest.approx(1)


# ---------------------------------------------------------------- intervals


def t_interval(p, se, df, level):
    return stats.t.interval(level, df, p, se)


def logit_interval(p, se, df, level):
    odds = stats.t.interval(level, df, stats.logistic.ppf(p), se / (p * (1 - p)))
    return tuple(stats.logistic.cdf(odds))


def wilson_interval(p, n, df, level):
    """Roots of n (p - x)^2 = t^2 x (1 - x)."""
    t2 = stats.t.ppf((1 + level) / 2, df) ** 2
    return tuple(np.sort(np.roots([n + t2, -(2 * n * p + t2), n * p * p]).real))


@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.999])
@pytest.mark.parametrize("name", ["accuracy", "precision", "f1", "auc"])
def test_intervals_by_standard_error_are_those_of_their_formulas(name, level):
    data, drawn = drawn_by("fay 5")
    e = estimated(data, drawn, name)
    p, se, cell = e.estimate, e.standard_error, {"rel": 1e-9}
    assert tuple(e.interval(level, "t")) == pytest.approx(t_interval(p, se, e.df, level), **cell)
    assert tuple(e.interval(level, "logit")) == pytest.approx(
        logit_interval(p, se, e.df, level), **cell
    )
    n = min(p * (1 - p) / e.variance, e.items)
    assert tuple(e.interval(level, "wilson")) == pytest.approx(
        wilson_interval(p, n, e.df, level), **cell
    )
    assert e.interval(level, "t").method == "t" and e.effective_df < e.df
    assert e.interval(level).method == "default: beta"
    assert tuple(e.interval(level, "beta")) == tuple(e.interval(level, "bounded"))


def test_default_of_numbers_is_t():
    data = sample([2] * 120)
    e = estimated(data, replicates(design_of(data), "fay"), "mean")
    assert tuple(e.interval()) == pytest.approx(
        t_interval(e.estimate, e.standard_error, e.effective_df, 0.95)
    )
    assert e.interval().method == "default: t"
    with pytest.raises(
        ValueError, match="method 'bounded' needs known bounds; mean has none: use 't'"
    ):
        e.interval(method="bounded")


def test_wilsons_effective_items_are_at_most_the_items():
    """Units alike in all strata but one: nearly no variance, which is no more knowledge than 80 items give."""
    design = SurveyDesign(np.repeat(np.arange(40), 2))
    e = replicate_estimate(replicates(design), "proportion", [1, 1] * 20 + [0, 0] * 19 + [0, 1])
    assert e.estimate * (1 - e.estimate) / e.variance > 80 == e.items
    assert tuple(e.interval(method="wilson")) == pytest.approx(
        wilson_interval(e.estimate, 80, 40, 0.95)
    )


def test_wilsons_effective_items_are_at_most_those_of_the_denominator():
    """Predicted positive in half of the strata: 40 of 80 items."""
    design = SurveyDesign(np.repeat(np.arange(40), 2))
    prediction = np.repeat([1, 0], 40)
    e = replicate_estimate(
        replicates(design, "fay"), "precision", [1, 1] * 10 + [0, 0] * 9 + [0, 1] * 21, prediction
    )
    assert e.estimate * (1 - e.estimate) / e.variance > 40 == e.counted and e.items == 80
    assert (
        tuple(e.interval(method="wilson"))
        == pytest.approx(wilson_interval(e.estimate, 40, 20, 0.95))
        and e.df == 20
    )


@pytest.mark.parametrize("strata", [6, 40])
@pytest.mark.parametrize("right", [0, 1])
@pytest.mark.parametrize("name", ["accuracy", "proportion"])
def test_all_right_or_all_wrong_is_worth_the_effective_units(name, right, strata):
    """Wilson at the PSUs' effective number; by default one more PSU, as heavy as the heaviest, that is unlike them."""
    design = SurveyDesign(
        np.repeat(np.arange(strata), 4),
        psu=np.repeat(np.arange(2 * strata), 2),
        weight=np.repeat(1.0 + np.arange(strata), 4),
    )
    truth = np.arange(4 * strata) % 2
    columns = (
        (truth, truth if right else 1 - truth) if name == "accuracy" else ([right] * 4 * strata,)
    )
    e = replicate_estimate(replicates(design), name, *columns)
    assert (e.estimate, e.variance) == (right, 0) and e.effective_psus < 2 * strata
    unseen = strata / (strata * (strata + 1) + strata)
    low, high = e.interval()
    assert (high if right else 1 - low) == 1 and 3 * unseen < (
        1 - low if right else high
    ) < 4 * unseen
    assert tuple(e.interval(method="wilson")) == pytest.approx(
        wilson_interval(right, e.effective_psus, e.df, 0.95)
    )
    assert tuple(e.interval(method="t")) == (right, right)
    said = sentences(e.interval().notes)
    assert any("so the estimated standard error is 0" in text for text in said)


PAIRS_OF_ITEMS = SurveyDesign(np.repeat([1, 2, 3], 4), psu=np.repeat(np.arange(6), 2))


def test_f1_of_one_is_not_certain():
    truth = [1, 1] * 49 + [0, 0]
    e = replicate_estimate(
        replicates(SurveyDesign(np.repeat(np.arange(50), 2))), "f1", truth, truth
    )
    assert e.interval().high == 1 > e.interval().low > 0.9


def test_warnings_name_what_is_weak():
    e = replicate_estimate(
        replicates(PAIRS_OF_ITEMS), "proportion", np.repeat([0, 1, 0, 1, 1, 1], 2)
    )
    assert list(sentences(e.interval().notes)) == [
        "6 clusters carry the information (effective number of clusters 6, 3 degrees of freedom): the standard error is rough, and "
        "the sample may miss other kinds of clusters"
    ]
    assert list(sentences(e.interval(method="t").notes)) == [
        "only 3 effective degrees of freedom: method 't' can cover less than its level. Use the default interval",
        *sentences(e.interval().notes),
    ]
    design = SurveyDesign(np.repeat(np.arange(30), 4), psu=np.repeat(np.arange(60), 2))
    many = replicate_estimate(
        replicates(design), "proportion", np.repeat([0, 1] * 25 + [0] * 5 + [1] * 5, 2)
    )
    assert many.notes == () == many.interval(method="logit").notes
    design, columns = (
        SurveyDesign(np.repeat(np.arange(12), 2)),
        ([1, 1] * 12, [1, 1] * 8 + [0, 1] * 4),
    )
    assert estimate_statistic(replicates(design, "fay"), "f1", *columns).notes == ()
    assert list(sentences(estimate_statistic(replicates(design), "f1", *columns).notes)) == [
        "with few strata, the standard error of f1 by 'brr' is often too large and depends on the order of the strata: "
        "use 'fay' or 'jkn'"
    ]


@pytest.mark.parametrize("name", ["mean", "total", "ratio"])
def test_what_has_no_bounds_is_always_noted(name):
    data, drawn = drawn_by("fay 5")
    (note,) = estimated(data, drawn, name).notes
    assert note.kind == "assumption" and note.text.startswith("no bounds are known")
    assert estimated(data, drawn, "quantile").notes == ()


def test_an_interval_has_the_notes_of_the_estimate_and_its_own():
    e = replicate_estimate(
        replicates(PAIRS_OF_ITEMS), "proportion", np.repeat([0, 1, 0, 1, 1, 1], 2)
    )
    (rough,) = e.notes
    for method in ("t", "logit", "wilson"):
        few, second = e.interval(method=method).notes
        assert second == rough and repr(method) in few.text
    assert e.interval().notes == e.notes
    assert f"<li>{rough.text}</li>" in e._repr_html_()
    again = Result.from_dict(json.loads(json.dumps(e.to_dict())))
    assert again.notes == e.notes and sentences(again.interval().notes) == sentences(
        e.interval().notes
    )


# ---------------------------------------------------------------- undefined replicates


def rare_positives(count, strata=64):
    """Positives in `count` strata, in one unit each: a half-sample may lose them all. One other item is no alarm."""
    truth = np.zeros((strata, 2), int)
    truth[:count, 0] = 1
    return (
        SurveyDesign(np.repeat(np.arange(strata), 2)),
        truth.ravel(),
        np.append(np.ones(2 * strata - 1, int), 0),
    )


def test_undefined_replicates_are_counted_and_their_share_goes_to_the_others():
    design, truth, prediction = rare_positives(5)
    prediction = np.where(np.arange(128) == 0, 0, prediction)
    drawn = replicates(design)
    weights = drawn.weights()
    lost = (weights * truth[:, None]).sum(0) == 0
    found = replicate_estimate(drawn, "recall", truth, prediction)
    assert 0 < lost.sum() == found.undefined <= 0.05 * drawn.count
    assert np.isnan(found.replicate_values).tolist() == lost.tolist()
    squares = (found.replicate_values[~lost] - found.estimate) ** 2
    assert found.variance == pytest.approx(squares.mean(), rel=1e-12) and found.estimate == 0.8
    assert found.notes[0].kind == "undefined"
    said = sentences(found.interval().notes)[0]
    assert said == (
        f"{lost.sum()} of {drawn.count} replicates are undefined (0/0) and were left out: use method 'fay' or 'generalized', whose replicates keep every item"
    )


@pytest.mark.parametrize(("n", "strata"), [(2, 1100), (3, 40), (4, 60), (5, 30), (9, 80)])
def test_undefined_replicates_are_found_by_transforms_too(n, strata):
    """A denominator that is 0 but for the rounding of the transform is 0. Run 7 keeps no positive item."""
    array, rng = linear_array(n, strata), np.random.default_rng(n)
    truth = (array[7, :, None] + 1) % n == np.arange(n)
    drawn = replicates(
        SurveyDesign(np.repeat(np.arange(strata), n), weight=rng.lognormal(0, 2, strata * n))
    )
    lost = ~truth[np.arange(strata), array].any(1)
    found = replicate_estimate(drawn, "recall", truth.ravel(), truth.ravel())
    assert drawn.array is None and found.undefined == lost.sum() > 0 and lost[7]
    assert np.isnan(found.replicate_values).tolist() == lost.tolist()


def test_fay_keeps_every_replicate_defined():
    design, truth, prediction = rare_positives(1)
    for method in ("fay", "generalized"):
        assert (
            replicate_estimate(replicates(design, method), "recall", truth, prediction).undefined
            == 0
        )


def test_all_that_a_callable_may_return():
    drawn = replicates(SurveyDesign([1, 1, 2, 2, 3, 3]))
    found = replicate_estimate(drawn, lambda weight: 3)
    assert (found.estimate, found.variance, found.statistic) == (3, 0, "<lambda>")
    with pytest.raises(ValueError, match="^<lambda> is undefined: it is nan$"):
        replicate_estimate(drawn, lambda weight: float("nan"))
    with pytest.raises(
        TypeError, match=re.escape("statistic must return one number; got array([1., 1.,")
    ):
        replicate_estimate(drawn, lambda weight: weight)


# ---------------------------------------------------------------- printing and storing


def test_headlines_and_rows():
    drawn = replicates(SurveyDesign([1, 1, 2, 2, 3, 3]), "fay", rho=0.3)
    assert repr(drawn) == (
        "Replicates(fay rho 0.3, 4 replicates; 6 items, 6 PSUs in 3 strata (2 each), 3 degrees of "
        "freedom)"
    )
    assert drawn.rows() == [{"method": "fay", "replicates": 4, "psus": 6, "strata": 3, "df": 3}]
    found = replicate_estimate(drawn, "mean", [1, 2, 3, 4, 5, 6])
    assert repr(found) == (
        "ReplicateEstimate(mean 3.5 (SE 0.2887), 95% confidence interval 2.581 to 4.419 (default: t); 6 PSUs, "
        "3 strata, 4 fay replicates)"
    )
    (row,) = found.rows()
    assert (row["estimate"], row["df"], row["interval_method"]) == (3.5, 3, "default: t")
    assert (row["low"], row["high"]) == tuple(found.interval())


@every_kind
def test_round_trip_through_json(kind):
    data, drawn = drawn_by(kind)
    again = Result.from_dict(json.loads(json.dumps(drawn.to_dict())))
    assert repr(again) == repr(drawn) and np.array_equal(again.weights(), drawn.weights())
    found = estimated(data, drawn, "f1")
    assert estimated(data, again, "f1").variance == found.variance
    stored = Result.from_dict(json.loads(json.dumps(found.to_dict())))
    assert (
        type(stored) is ReplicateEstimate
        and repr(stored) == repr(found)
        and stored.rows() == found.rows()
    )
    assert np.array_equal(stored.replicate_values, found.replicate_values)


def test_undefined_values_are_stored_too():
    design, truth, prediction = rare_positives(5)
    found = replicate_estimate(replicates(design), "recall", truth, prediction)
    stored = Result.from_dict(json.loads(json.dumps(found.to_dict(), allow_nan=False)))
    assert np.array_equal(stored.replicate_values, found.replicate_values, equal_nan=True)


def test_results_do_not_follow_the_arrays_they_came_from():
    array = half_samples(3)
    drawn = replicates(SurveyDesign([1, 1, 2, 2, 3, 3]), array=array)
    array[:] = 1
    assert check_balance(drawn.array).full
    with pytest.raises(ValueError, match="read-only"):
        drawn.coefficients[0] = 1


# ---------------------------------------------------------------- bad designs, with the text the user reads

PAIRS = SurveyDesign([1, 1, 2, 2, 3, 3])
TRIPLES = SurveyDesign(np.repeat(np.arange(200), 3))
SIGNS = half_samples(3)
TRUTH = [0, 1, 0, 1, 0, 1]


def printed_rotations():
    """The paper's 243 runs for 200 strata of three: rotations of one column beyond the 121 there is room for."""
    field = GaloisField(3, 5)
    column = field.coefficients(field.powers(field.primitive_element))[:, 0]
    rotated = np.array([np.roll(column, -h) for h in range(200)]).T
    return np.concatenate([rotated, np.zeros((1, 200), int)])


def mean_of(design, method="brr", **how):
    return replicate_estimate(
        replicates(design, method, **how), "mean", np.zeros(design.weight.size)
    )


WRONG = {
    "unequal strata": (
        lambda: replicates(SurveyDesign(np.repeat(np.arange(6), [2, 3, 2, 4, 2, 3]))),
        "method 'brr' needs the same number of PSUs in every stratum; got 3 strata of 2, 2 strata of 3, 1 stratum of "
        "4: use method 'generalized', which is exact for any numbers, or 'jkn'",
    ),
    "unequal strata, fay": (
        lambda: replicates(SurveyDesign([1, 1, 2, 2, 2]), "fay"),
        "method 'fay' needs the same number of PSUs in every stratum; got 1 stratum of 2, 1 stratum of 3: use method 'generalized', which is exact for any numbers, or 'jkn'",
    ),
    "six units": (
        lambda: replicates(SurveyDesign(np.repeat([1, 2], 6))),
        "method 'brr' needs a prime power of PSUs per stratum; 6 is not a prime power: use method 'generalized', which is exact for any number, or 'jkn'",
    ),
    "ten units, fay": (
        lambda: replicates(SurveyDesign(np.repeat([1, 2], 10)), "fay"),
        "method 'fay' needs a prime power of PSUs per stratum; 10 is not a prime power: use method 'generalized', which is exact for any number, or 'jkn'",
    ),
    "array of another shape": (
        lambda: replicates(PAIRS, array=SIGNS[:, :2]),
        "array must have 3 columns, one per stratum; got shape (4, 2)",
    ),
    "array of one dimension": (
        lambda: replicates(PAIRS, array=[1, -1, 1]),
        "array must have 3 columns, one per stratum; got shape (3,)",
    ),
    "array with a column that is not even": (
        lambda: replicates(PAIRS, array=hadamard(4)[:, :3]),
        "array must be in full balance; column 1 holds -1 in 0 runs, not 2; columns 1 and 2 hold (-1, -1) "
        "in 0 runs, not 1",
    ),
    "array with two columns alike": (
        lambda: replicates(PAIRS, array=SIGNS[:, [0, 1, 1]]),
        "array must be in full balance; columns 2 and 3 hold (-1, -1) in 2 runs, not 1",
    ),
    "array without a pair of four units": (
        lambda: replicates(
            SurveyDesign(np.repeat([1, 2], 4)), array=np.arange(16)[:, None] % [4, 4]
        ),
        "array must be in full balance; columns 1 and 2 hold (0, 0) in 4 runs, not 1",
    ),
    "array of too many columns": (
        lambda: replicates(TRIPLES, array=printed_rotations()),
        "array must be in full balance; columns 1 and 122 hold (0, 0) in 81 runs, not 27; "
        "at most 121 columns of 3 symbols fit 243 runs",
    ),
    "array of too few units": (
        lambda: replicates(SurveyDesign(np.repeat([1, 2, 3], 3)), array=(1 - SIGNS) // 2),
        "array must be in full balance; it holds 2 of the 3 units",
    ),
    "array of other units": (
        lambda: replicates(PAIRS, array=SIGNS + 3),
        "array must hold the units 0 to 1, or +1 and -1; row 0 column 0 is 4",
    ),
    "array of signs for three units": (
        lambda: replicates(SurveyDesign(np.repeat([1, 2], 3)), array=orthogonal_array(3, 2) - 1),
        "array must hold the units 0 to 2; row 0 column 0 is -1",
    ),
    "array of -1 and 0": (
        lambda: replicates(PAIRS, array=np.minimum(SIGNS, 0)),
        "array must hold the units 0 to 1, or +1 and -1; row 0 column 0 is 0",
    ),
    "array of halves": (
        lambda: replicates(PAIRS, array=np.where(SIGNS > 0, 0.5, -1)),
        "array must hold the units 0 to 1, or +1 and -1; row 0 column 0 is 0.5",
    ),
    "array of -1 and 7": (
        lambda: replicates(PAIRS, array=np.where(SIGNS > 0, 7, -1)),
        "array must hold the units 0 to 1, or +1 and -1; row 0 column 0 is 7",
    ),
    "array of a third sign": (
        lambda: replicates(PAIRS, array=[[-1, 0, 1]] * 4, require_balance=False),
        "array must hold the units 0 to 1, or +1 and -1; row 0 column 1 is 0",
    ),
    "array that is not finite": (
        lambda: replicates(PAIRS, array=[[1, -1, np.nan]] * 4),
        "array must be finite; row 0 column 2 is nan",
    ),
    "array for another method": (
        lambda: replicates(PAIRS, "jkn", array=SIGNS),
        "array is only for methods 'brr' and 'fay'; got method 'jkn'",
    ),
    "rho below 0": (
        lambda: replicates(PAIRS, "fay", rho=-0.1),
        "rho must be at least 0 and below 1; got -0.1",
    ),
    "rho of 1": (
        lambda: replicates(PAIRS, "fay", rho=1),
        "rho must be at least 0 and below 1; got 1",
    ),
    "rho above 1": (
        lambda: replicates(PAIRS, "generalized", rho=1.5),
        "rho must be at least 0 and below 1; got 1.5",
    ),
    "rho not a number": (
        lambda: replicates(PAIRS, "fay", rho=np.nan),
        "rho must be a number; got nan",
    ),
    "method": (
        lambda: replicates(PAIRS, "brrr"),
        "method must be one of 'brr', 'fay', 'generalized', 'jkn', 'jk2', 'bootstrap'; got 'brrr' (did you mean "
        "'brr'?)",
    ),
    "one bootstrap replicate": (
        lambda: replicates(PAIRS, "bootstrap", count=1),
        "count must be a whole number of at least 2; got 1",
    ),
    "seed": (
        lambda: replicates(PAIRS, "bootstrap", rng=-1),
        "rng must be a whole number of at least 0; got -1",
    ),
    "center": (
        lambda: replicate_estimate(replicates(PAIRS), "mean", TRUTH, center="median"),
        "center must be one of 'full', 'mean'; got 'median' (did you mean 'mean'?)",
    ),
    "labels that are not binary": (
        lambda: replicate_estimate(replicates(PAIRS), "f1", ["cat", "dog", "cat"] * 2, TRUTH),
        "truth must hold 0 and 1 (1 the positive class); got 2 labels: 'cat', 'dog'; compare with the positive class "
        "first",
    ),
    "empty domain": (
        lambda: replicate_estimate(replicates(PAIRS), "mean", TRUTH, domain=[0] * 6),
        "domain must contain at least one item; it has none of 6",
    ),
    "domain of another length": (
        lambda: replicate_estimate(replicates(PAIRS), "mean", TRUTH, domain=[1] * 5),
        "domain must have 6 entries; got 5",
    ),
    "domain of other numbers": (
        lambda: replicate_estimate(replicates(PAIRS), "mean", TRUTH, domain=[1, 0, 2, 0, 0, 0]),
        "domain must be 0 or 1; entry 2 is 2",
    ),
    "no positive item": (
        lambda: replicate_estimate(replicates(PAIRS), "f1", [0] * 6, [0] * 6),
        "f1 is undefined: no item is positive, truly or predicted",
    ),
    "no positive item in the domain": (
        lambda: replicate_estimate(replicates(PAIRS), "recall", TRUTH, TRUTH, domain=[1, 0] * 3),
        "recall is undefined: no item is truly positive in the domain",
    ),
    "no predicted positive": (
        lambda: replicate_estimate(replicates(PAIRS), "precision", TRUTH, [0] * 6),
        "precision is undefined: no item was predicted positive",
    ),
    "one class": (
        lambda: replicate_estimate(replicates(PAIRS), "auc", [1] * 6, TRUTH),
        "auc is undefined: it needs both positive and negative items",
    ),
    "ratio to 0": (
        lambda: replicate_estimate(replicates(PAIRS), "ratio", TRUTH, [0] * 6),
        "ratio is undefined: the total of x is 0",
    ),
    "many undefined replicates": (
        lambda: replicate_estimate(replicates(PAIRS), "recall", [0, 0, 0, 0, 0, 1], [1] * 6),
        "recall is undefined (0/0) in 2 of 4 replicates, more than 5%: use method 'fay' or 'generalized', whose "
        "replicates keep every item",
    ),
    "many undefined jackknife replicates": (
        lambda: replicate_estimate(replicates(PAIRS, "jkn"), "recall", [0, 0, 0, 0, 0, 1], [1] * 6),
        "recall is undefined (0/0) in 1 of 6 replicates, more than 5%: use method 'fay' or 'generalized', whose replicates keep every item",
    ),
    "logit of a number": (
        lambda: replicate_estimate(replicates(PAIRS), "mean", [1, 2, 3, 4, 5, 6]).interval(
            method="logit"
        ),
        "method 'logit' is for statistics from 0 to 1; mean is not one: use 't'",
    ),
    "wilson of a number": (
        lambda: replicate_estimate(replicates(PAIRS), "total", TRUTH).interval(method="wilson"),
        "method 'wilson' is for statistics from 0 to 1; total is not one: use 't'",
    ),
    "logit of 1": (
        lambda: replicate_estimate(replicates(PAIRS), "proportion", [1] * 6).interval(
            method="logit"
        ),
        "method 'logit' needs an estimate between 0 and 1 and a variance above 0; got 1 and 0: use 'wilson'",
    ),
    "interval": (
        lambda: mean_of(PAIRS).interval(method="wald"),
        "method must be one of 'default', 'bounded', 'beta', 't', 'logit', 'wilson'; got 'wald'",
    ),
    "level": (lambda: mean_of(PAIRS).interval(1), "level must be a number in (0, 1); got 1"),
    "weights larger than memory": (
        lambda: replicates(SurveyDesign(np.repeat(np.arange(10_000), 2))).weights(),
        "weights must fit into 2,147,483,648 bytes; 20,000 items times 16,384 replicates need 2,621,440,000: estimate "
        "with replicate_estimate, which does not store them",
    ),
    "too many evaluations": (
        lambda: replicate_estimate(
            replicates(SurveyDesign(np.repeat(np.arange(2**18), 2))),
            "quantile",
            np.zeros(2**19),
            0.5,
        ),
        "statistic must need at most 8,589,934,592 weights; 524,288 items times 524,288 replicates are "
        "274,877,906,944: use method 'bootstrap', or fewer PSUs",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_errors_name_argument_rule_value_and_remedy(case):
    call, text = WRONG[case]
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        call()


@pytest.mark.parametrize(
    "call", [lambda r: replicates(r, "generalized"), lambda r: replicates(r, "jkn")]
)
@pytest.mark.parametrize("n", [6, 10, 12])
def test_the_remedies_for_six_units_work(n, call):
    data = sample([n] * 4)
    found = replicate_estimate(call(design_of(data)), "total", data.y)
    assert found.variance == exactly(textbook_variance(data, data.y))


# ---------------------------------------------------------------- what the paper prints, and what holds


def squares(data, array, **how):
    """(theta_alpha - theta)^2 of every replicate of a supplied array, balanced or not."""
    drawn = replicates(design_of(data), array=array, require_balance=False, **how)
    found = replicate_estimate(drawn, "total", data.y)
    return (found.replicate_values - found.estimate) ** 2


@pytest.mark.parametrize(("n", "strata"), [(2, 5), (3, 4), (6, 2)])
def test_equations_9_and_18_are_means_over_all_the_replicates(n, strata):
    """Eq. 9 sets the variance equal to one squared deviation: it is their mean over all 2^L, n^L half-samples."""
    data = sample([n] * strata)
    every = np.array(list(itertools.product(range(n), repeat=strata)))
    found, truth = squares(data, every) / (n - 1), textbook_variance(data, data.y)
    assert len(found) == n**strata and found.mean() == exactly(truth)
    assert (abs(found / truth - 1) > 0.01).all()
    assert total_variance(data, "brr", array=every) == exactly(truth)


def test_random_half_samples_are_unbiased_and_unstable():
    """Text at eq. 10: "biased". 32 of 2^20: the mean of many is right, one is 20% off, balanced ones never are."""
    rng = np.random.default_rng(0)
    data = sample([2] * 20, items=(1, 1))
    data.weight[:] = 1
    truth = textbook_variance(data, data.y)
    found = squares(data, rng.choice([-1, 1], (32 * 4000, 20))).reshape(4000, 32).mean(1) / truth
    assert abs(found.mean() - 1) < 4 * found.std() / math.sqrt(4000) < 0.02
    d = {}
    for stratum, y in zip(data.stratum, data.y, strict=True):
        d[stratum] = abs(d[stratum] - y) if stratum in d else y
    fourth = sum(x**4 for x in d.values()) / sum(x**2 for x in d.values()) ** 2
    assert (
        found.std() == pytest.approx(math.sqrt(2 * (1 - fourth) / 32), rel=0.1)
        and found.std() > 0.15
    )
    assert squares(data, half_samples(20)).mean() == exactly(truth)


def test_equation_12_as_printed_is_refused_and_wrong():
    rows = ["++-+---", "+-+--++", "++--++-", "+--++++", "--++-+-", "-++++--", "+++++++"]
    printed = np.array([[1 if sign == "+" else -1 for sign in row] for row in rows])
    rotated = np.array([np.roll(printed[0], -k) for k in range(7)] + [[1] * 7])
    data = sample([2] * 7)
    truth = textbook_variance(data, data.y)
    text = (
        "array must be in full balance; column 1 holds -1 in 2 runs, not 3.5; columns 1 and 2 hold (-1, -1) "
        "in 1 run, not 1.75; at most 6 columns of 2 symbols fit 7 runs"
    )
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        replicates(design_of(data), array=printed)
    assert abs(squares(data, printed).mean() / truth - 1) > 0.01
    assert total_variance(data, "brr", array=rotated) == exactly(truth)
    assert rotated[2].tolist() == [-1, 1, -1, -1, -1, 1, 1]  # the row that is missing, eq. 13


def test_equation_15_for_the_first_stratum_keeps_the_mean_of_the_replicates():
    """Printed for 1 < h <= L: a constant first column keeps the variance and moves the mean of the replicates."""
    data = sample([2] * 3)
    design = design_of(data)
    constant = replicates(design, array=hadamard(4)[:, :3], require_balance=False)
    full = replicate_estimate(replicates(design), "total", data.y)
    found = replicate_estimate(constant, "total", data.y)
    assert found.variance == exactly(full.variance)
    assert abs(found.replicate_values.mean() - found.estimate) > 0.01 * found.estimate
    assert full.replicate_values.mean() == exactly(full.estimate)


@pytest.mark.parametrize("n", [2, 3, 5])
def test_equation_16_takes_every_unit_from_the_first_to_the_last(n):
    """Printed for 1 < i < n. Without the first and the last the replicates do not average to the estimate (eq. 17)."""
    data = sample([n] * 4)
    drawn = replicates(design_of(data))
    kept = drawn.factors(slice(None)) > 0
    assert (kept.sum(0) == drawn.count / n).all() and (
        kept.reshape(drawn.count, 4, n).sum(2) == 1
    ).all()
    z = drawn.design.totals(data.y[:, None])[:, 0]
    inner = np.tile(np.arange(n) % (n - 1) != 0, 4)
    assert (n * kept @ z).mean() == exactly(z.sum())
    assert (n * kept @ (z * inner)).mean() < 0.9 * z.sum()


@pytest.mark.parametrize("n", [3, 4, 5])
def test_the_factor_of_equation_10_removes_bias_and_tightens_nothing(n):
    """Section 7.3: without 1 / (n - 1) the mean square is n - 1 times the variance; n units alone make it small."""
    data = sample([n] * 6)
    array = orthogonal_array(n, 6)
    assert squares(data, array).mean() == exactly((n - 1) * textbook_variance(data, data.y))
    y = (np.arange(n) - (n - 1) / 2) / np.arange(n).std(ddof=1)  # s^2 = 1 in every stratum
    alike = SurveyDesign(np.repeat(np.arange(6), n))
    assert replicate_estimate(replicates(alike), "mean", np.tile(y, 6)).variance == exactly(
        1 / (6 * n)
    )


@pytest.mark.parametrize(
    ("y", "ratio"),
    [((1, 0, 0), 1 + 2 * 79 / 200), ((-1, 0, 1), 1 + 79 / 200), ((0, -1, 1), 1 - 2 * 79 / 200)],
)
def test_the_printed_243_replicates_of_200_strata_are_wrong(y, ratio):
    """Column h + 121 is twice column h: the cross terms of 79 pairs of strata stay, 729 replicates have none.

    A cross term is the sum of y[i] y[2 i modulo 3] around the mean, as large as a variance for (1, 0, 0).
    """
    values, truth = np.tile(y, 200), 200 * 3 * np.var(y, ddof=1)
    printed = replicates(TRIPLES, array=printed_rotations(), require_balance=False)
    assert replicate_estimate(printed, "total", values).variance / truth == pytest.approx(
        ratio, rel=1e-12
    )
    ours = replicates(TRIPLES)
    assert ours.count == 729 and replicate_estimate(ours, "total", values).variance == exactly(
        truth
    )


def test_worked_examples_of_section_7():
    """L = 483, n = 2: 512 suffice, 484 do too; L = 256, n = 3: 729."""
    assert replicates(SurveyDesign(np.repeat(np.arange(483), 2))).count == 484
    assert (
        replicates(SurveyDesign(np.repeat(np.arange(483), 2)), array=linear_array(2, 483)).count
        == 512
    )
    assert replicates(SurveyDesign(np.repeat(np.arange(256), 3))).count == 729


def test_any_columns_of_an_array_serve_for_fewer_strata():
    """Section 7.2 says rows: any 3 of the 7 columns are exact, 7 of the 8 rows are not."""
    data = sample([2] * 3)
    for columns in itertools.combinations(range(7), 3):
        assert total_variance(data, array=half_samples(7)[:, columns]) == exactly(
            textbook_variance(data, data.y)
        )
    wide = sample([2] * 7)
    truth = textbook_variance(wide, wide.y)
    assert abs(squares(wide, half_samples(7)[1:]).mean() / truth - 1) > 0.001


# ---------------------------------------------------------------- where peers fail


def test_strata_for_which_samplics_has_no_half_samples():
    """samplics 0.6.1 raises IndexError for these; tests/peers shows it."""
    for strata in (4, 8, 12, 28, 29, 31, 32, 50, 64, 483):
        data = sample([2] * strata, items=(1, 2))
        assert total_variance(data) == exactly(textbook_variance(data, data.y))


def test_coefficients_of_fay_hold_the_square_of_what_is_moved():
    """1 / (R (1 - rho)^2), .5102 for rho = .3, L = 3; samplics 0.6.1 multiplies, (1 - rho)^2 / R = .1225."""
    assert replicates(PAIRS, "fay", rho=0.3).coefficients == pytest.approx([0.5102] * 4, abs=1e-4)


@pytest.mark.parametrize("units", [3, 4, 5, 7])
def test_one_stratum_of_several_units_has_the_textbook_variance(units):
    """n^2 s^2 / n of a total; each replicate counts one unit for all."""
    made = replicates(SurveyDesign([0] * units), "brr")
    y = np.random.default_rng(units).normal(size=units)
    weights = made.weights()
    assert sorted(map(tuple, np.unique(weights.T, axis=0))) == sorted(
        map(tuple, units * np.eye(units))
    )
    assert made.coefficients @ (y @ weights - y.sum()) ** 2 == pytest.approx(
        units * y.var(ddof=1), rel=1e-12
    )


@pytest.mark.parametrize("strata", [29, 30])
def test_brr_of_few_strata_is_warned_of_below_30(strata):
    """Strata alike, two units each, as many true and read positives in all: a degree of freedom per stratum."""
    truth, read = np.tile([1, 1, 0, 0], 2 * strata), np.tile([1, 0, 1, 0], 2 * strata)
    design = SurveyDesign(np.repeat(np.arange(strata), 8), psu=np.arange(8 * strata) // 4)
    found = replicate_estimate(replicates(design, "brr"), "f1", truth, read)
    assert found.effective_df == strata
    assert any("by 'brr' is often too large" in note for note in sentences(found.notes)) == (
        strata == 29
    )
