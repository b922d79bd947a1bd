"""Folds, repeats of folds and random splits: what tells them apart, what is asked, and the numbers by other code."""

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn.datasets import load_iris
from sklearn.model_selection import (
    KFold,
    RepeatedKFold,
    ShuffleSplit,
    TimeSeriesSplit,
    cross_validate,
)
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

import workbench as wb
from workbench.charts import cross_validation as charts
from workbench.cross_validation.losses import CVLosses
from workbench.reports.inputs.cross_validation import read

RNG = np.random.default_rng(5)
OLD = RNG.normal(0.80, 0.02, 250).round(3)
NEW = (OLD + RNG.normal(0.004, 0.02, 250)).round(3)
TABLE = {"fold": np.arange(250), "old": OLD, "new": NEW}
FOLDS, REPEATS = np.tile(np.arange(10), 10), np.repeat(np.arange(10), 10)
TEN = {"A": OLD[:100], "B": NEW[:100]}
ASKED = "^splits must be 'random' or 'folds', because "


def corrected(differences, ratio, level=0.95):
    """Return t, p and limits of Nadeau and Bengio's test, variance factor 1/J + ratio and J - 1 degrees of freedom."""
    count = len(differences)
    error = ((1 / count + ratio) * np.var(differences, ddof=1)) ** 0.5
    t, reach = np.mean(differences) / error, stats.t.ppf((1 + level) / 2, count - 1) * error
    return (
        t,
        2 * stats.t.sf(abs(t), count - 1),
        np.mean(differences) - reach,
        np.mean(differences) + reach,
    )


def numbers(test, level=0.95):
    return (test.statistic, test.pvalue, *test.interval(level))


# random splits


@pytest.mark.parametrize(("share", "ratio"), [(0.2, 0.25), (0.5, 1), (0.1, 1 / 9), (1 / 3, 0.5)])
@pytest.mark.parametrize("count", [3, 20, 250])
def test_random_splits_are_tested_with_the_ratio_of_test_to_training_items(share, ratio, count):
    gaps = OLD[:count] - NEW[:count]
    cv = CVLosses.from_fold_means({"old": OLD[:count], "new": NEW[:count]}, test_share=share)
    expected = corrected(gaps, ratio)
    for rho in ("auto", "nadeau_bengio"):
        assert numbers(wb.kfold_t_test(cv, rho=rho)) == pytest.approx(expected)
    assert wb.nadeau_bengio_test(gaps, 1 - share, share).pvalue == pytest.approx(expected[1])
    found = wb.compare_tests(cv)
    assert numbers(found.test) == pytest.approx(expected) and found.test.df == count - 1
    assert 2 * min(
        wb.bayesian_correlated_t(gaps, test_share=share).left,
        wb.bayesian_correlated_t(gaps, test_share=share).right,
    ) == pytest.approx(expected[1])
    lines = {row["test"]: row for row in found.table}
    assert lines["t of random splits, Nadeau-Bengio"]["pvalue"] == pytest.approx(expected[1])
    assert {row["about"] for row in found.table} == {
        "learning methods"
    }  # no McNemar, no central limit
    assert [*found.posterior.interval()] == pytest.approx(expected[2:])
    naive = stats.ttest_rel(OLD[:count], NEW[:count])
    assert wb.kfold_t_test(cv, rho="naive").pvalue == pytest.approx(naive.pvalue)


@pytest.mark.parametrize("count", [3, 4, 250])
@pytest.mark.parametrize("share", [0.1, 0.2, 0.5, 0.9])
def test_the_verdict_of_random_splits_flips_at_rho_alpha(count, share):
    shift = np.linspace(-1, 1, count) + 3
    test = wb.kfold_t_test(CVLosses.from_fold_means(shift, test_share=share))
    flips = test.rho_alpha()
    assert (
        math.isfinite(flips) and test.at(flips - 1e-6).pvalue < 0.05 < test.at(flips + 1e-6).pvalue
    )
    assert test.at(flips).pvalue == pytest.approx(0.05)


def test_several_models_in_random_splits_are_adjusted_for_their_pairs():
    third = OLD - 0.01
    cv = CVLosses.from_fold_means(
        {"old": OLD, "new": NEW, "third": third}, test_share=0.2, higher_is_better=True
    )
    ranking = wb.compare_models(cv)
    raw = {
        frozenset(pair): corrected(a - b, 0.25)[1]
        for pair, a, b in ((("old", "new"), OLD, NEW), (("new", "third"), NEW, third))
    }
    for pair, test in zip(ranking.pairs, ranking.tests, strict=True):
        if frozenset(pair) in raw:
            assert test.pvalue == pytest.approx(raw[frozenset(pair)])
    assert "From 250 random splits, 20% of the items in each test set, 3 models" in ranking.basis()
    many = CVLosses.from_fold_means(RNG.normal(size=(30, 101)), test_share=0.25)
    assert wb.compare_models(many).compared == 101 * 100 // 2


def test_a_file_of_random_splits_needs_an_answer_and_names_it():
    for table in (
        TABLE,
        {"Split": np.arange(10), "old": OLD[:10], "new": NEW[:10]},
        {"seed": np.arange(10), "old": OLD[:10], "new": NEW[:10]},
        {"resample": [f"Boot{k:02}" for k in range(10)], "old": OLD[:10], "new": NEW[:10]},
        {
            "model": np.repeat(["old", "new"], 250),
            "fold": np.tile(np.arange(250), 2),
            "acc": np.r_[OLD, NEW],
        },
    ):
        count = len(next(iter(table.values()))) // (2 if "model" in table else 1)
        with pytest.raises(ValueError, match=ASKED):
            CVLosses.read_csv(table, higher_is_better=True)
        with pytest.raises(ValueError, match="^test_share must be given for random splits"):
            CVLosses.read_csv(table, higher_is_better=True, splits="random")
        cv = CVLosses.read_csv(table, higher_is_better=True, test_share=0.2)
        assert wb.kfold_t_test(cv).pvalue == pytest.approx(
            corrected(OLD[:count] - NEW[:count], 0.25)[1]
        )
        assert cv.scheme == f"{count} random splits, 20% of the items in each test set"
        one = CVLosses.read_csv(table, higher_is_better=True, splits="folds")
        assert one.scheme == f"one cross-validation of {count} folds"


@pytest.mark.parametrize(
    "sizes",
    [
        {"n_train": [800] * 250, "n_test": [200] * 250},
        {"test_size": [0.2] * 250},
        {"N_Train": ["800"] * 250, "N-test": ["200"] * 250},
    ],
)
def test_columns_of_sizes_tell_random_splits(sizes):
    cv = CVLosses.read_csv(TABLE | sizes, higher_is_better=True)
    assert wb.kfold_t_test(cv).pvalue == pytest.approx(corrected(OLD - NEW, 0.25)[1])
    assert any(
        "show that the test sets overlap" in note.text for note in cv.notes
    ) and cv.models == ("old", "new")
    ten = {
        name: column[:10]
        for name, column in (TABLE | {"n_train": [900] * 250, "n_test": [100] * 250}).items()
    }
    assert CVLosses.read_csv(ten).scheme == "one cross-validation of 10 folds"


def test_items_of_random_splits_are_averaged_and_come_back():
    item = np.array([0, 1, 2, 1, 2, 3, 0, 3, 4])
    table = {
        "split": np.repeat([1, 2, 3], 3),
        "item": item,
        "a": [0, 1, 0, 1, 1, 0, 0, 0, 1.0],
        "b": [1.0] * 6 + [0] * 3,
    }
    cv = CVLosses.read_csv(table, splits="random", test_share=0.6)
    assert cv.fold_means().tolist() == pytest.approx(np.array([[-2 / 3, -1 / 3, 1 / 3]]))
    seeded = {"seed": [1, 1, 2, 2], "split": [0, 1, 0, 1], "a": [0.1, 0.2, 0.3, 0.5]}
    assert (
        CVLosses.read_csv(seeded, test_share=0.2).scheme
        == "4 random splits, 20% of the items in each test set"
    )


def test_random_splits_survive_a_round_trip_and_join_only_their_like():
    cv = CVLosses.from_fold_means({"a": [0.1, 0.2, 0.4]}, test_share=0.2)
    again = wb.Result.from_dict(cv.to_dict())
    assert (again.test_share, again.splits, repr(again)) == (0.2, "random", repr(cv))
    test = wb.Result.from_dict(wb.kfold_t_test(cv).to_dict())
    assert test.at("naive").pvalue == pytest.approx(wb.kfold_t_test(cv, rho="naive").pvalue)
    with pytest.raises(
        ValueError,
        match="^models must have the same rows; a has losses of 3 fold means in 3 random",
    ):
        cv.joined(CVLosses.from_fold_means({"b": [0.1, 0.2, 0.4]}))


X, Y = load_iris(return_X_y=True)
X = X[:, :2]


def measured(splitter, **options):
    splits = list(splitter.split(X, Y))
    return [
        cross_validate(model, X, Y, cv=splits, return_indices=True, **options)
        for model in (DecisionTreeClassifier(random_state=0), KNeighborsClassifier(1))
    ]


@pytest.mark.parametrize(
    ("splitter", "ratio"),
    [
        (ShuffleSplit(30, test_size=0.2, random_state=0), 0.25),
        (ShuffleSplit(12, test_size=0.5, random_state=1), 1),
        (ShuffleSplit(25, test_size=0.2, train_size=0.4, random_state=0), 0.5),
    ],
)
def test_indices_tell_random_splits(splitter, ratio):
    results = measured(splitter)
    cv = CVLosses.from_cross_validate(*results)
    gaps = results[0]["test_score"] - results[1]["test_score"]
    assert cv.splits == "random" and numbers(wb.kfold_t_test(cv)) == pytest.approx(
        corrected(gaps, ratio)
    )
    assert any(
        note.text == "the test sets overlap, so they were read as random splits"
        for note in cv.notes
    )


def test_indices_tell_repeats_and_refuse_time_series():
    results = measured(RepeatedKFold(n_splits=5, n_repeats=6, random_state=0))
    cv = CVLosses.from_cross_validate(*results)
    gaps = results[0]["test_score"] - results[1]["test_score"]
    assert cv.scheme == "6 repeats of 5 folds"
    assert numbers(wb.kfold_t_test(cv, rho="nadeau_bengio")) == pytest.approx(
        corrected(gaps, 1 / 4)
    )
    for splits in ("auto", "random"):
        with pytest.raises(ValueError, match="time series"):
            CVLosses.from_cross_validate(*measured(TimeSeriesSplit(5)), splits=splits)
    plain = [{"test_score": result["test_score"]} for result in results]
    with pytest.raises(ValueError, match=ASKED):
        CVLosses.from_cross_validate(*plain)
    assert CVLosses.from_cross_validate(*plain, repeats=6).scheme == cv.scheme
    assert (
        CVLosses.from_cross_validate(*measured(KFold(30))).scheme
        == "one cross-validation of 30 folds"
    )


# repeats of folds


def test_the_same_hundred_numbers_never_give_two_verdicts_silently():
    with_column = CVLosses.read_csv({"repeat": REPEATS, "fold": FOLDS} | TEN)
    expected = corrected(TEN["A"] - TEN["B"], 1 / 9)
    assert numbers(wb.kfold_t_test(with_column, rho="nadeau_bengio")) == pytest.approx(expected)
    assert numbers(wb.compare_tests(with_column, rho="nadeau_bengio").test) == pytest.approx(
        expected
    )
    stated = CVLosses.from_fold_means(TEN, repeats=10)
    assert wb.kfold_t_test(stated).pvalue == pytest.approx(wb.kfold_t_test(with_column).pvalue)
    for rho in (
        "naive",
        "nadeau_bengio",
        0.3,
        0.7,
    ):  # repeats of folds are random splits of this size to the tests
        splits = CVLosses.from_fold_means(TEN, test_share=0.1)
        assert wb.kfold_t_test(splits, rho=rho).pvalue == pytest.approx(
            wb.kfold_t_test(stated, rho=rho).pvalue
        )
    flat = {"fold": np.arange(100)} | TEN
    for ask in (
        lambda: CVLosses.read_csv(flat),
        lambda: CVLosses.read_csv({"fold": FOLDS} | TEN),
        lambda: CVLosses.from_fold_means(TEN),
        lambda: wb.compare_models(TEN),
        lambda: wb.kfold_t_test(TEN["A"] - TEN["B"]),
        lambda: wb.bayesian_correlated_t(TEN["A"] - TEN["B"]),
    ):
        with pytest.raises(ValueError, match=ASKED):
            ask()
    with pytest.raises(ValueError, match="^repeat must be given for 100 folds without item"):
        CVLosses(TEN, np.arange(100))


@pytest.mark.parametrize(
    "name",
    [
        "seed",
        "Seed",
        "SEED",
        "random_state",
        "rep",
        "repetition",
        "run",
        "run_id",
        "trial",
        "attempt",
        "iteration",
        "epoch",
        "cv repeat",
    ],
)
@pytest.mark.parametrize("labels", [range(10), (42, 1337, 7, 8, 9, 10, 11, 12, 13, 99)])
def test_seeds_and_their_like_tell_repeats(name, labels):
    table = {name: np.repeat(labels, 10), "FOLD": FOLDS} | TEN
    for source in (
        table,
        {
            "Model": np.repeat(["A", "B"], 100),
            name: np.tile(table[name], 2),
            "fold": np.tile(FOLDS, 2),
            "auc": np.r_[TEN["A"], TEN["B"]],
        },
    ):
        cv = CVLosses.read_csv(source)
        assert (cv.models, cv.scheme) == (("A", "B"), "10 repeats of 10 folds")
        assert wb.kfold_t_test(cv, rho="nadeau_bengio").pvalue == pytest.approx(
            corrected(TEN["A"] - TEN["B"], 1 / 9)[1]
        )
        assert any(
            note.text.startswith(f"column {name!r} numbers the repeats: 10 repeats")
            for note in cv.notes
        )


def test_seeds_that_tell_no_repeats_are_named_or_asked_for():
    ten = {name: column[:10] for name, column in TEN.items()}
    for seed in ([7] * 10, range(100, 110)):
        cv = CVLosses.read_csv({"fold": range(10), "seed": seed} | ten)
        assert cv.models == ("A", "B") and cv.scheme == "one cross-validation of 10 folds"
        assert any(
            note.text == "column 'seed' is neither a model nor a repeat, so it is not used"
            for note in cv.notes
        )
    with pytest.raises(
        ValueError,
        match="^repeat must name the column of repeats, because columns 'fold', 'seed' do not",
    ):
        CVLosses.read_csv({"fold": FOLDS, "seed": range(100)} | TEN)
    with pytest.raises(
        ValueError,
        match="^repeat must be given, because column 'seed' may number 2 repeats of 5 folds, or be",
    ):
        CVLosses.read_csv({"fold": range(10), "seed": [1] * 5 + [2] * 5} | ten)
    assert (
        CVLosses.read_csv(
            {"fold": range(10), "seed": [1] * 5 + [2] * 5} | ten, repeat="seed"
        ).repeats
        == 2
    )
    assert (
        CVLosses.read_csv(
            {"fold": range(10), "seed": [1] * 5 + [2] * 5} | ten, splits="folds"
        ).repeats
        == 1
    )
    both = {"fold": FOLDS, "seed": REPEATS, "run": REPEATS + 5} | TEN
    assert CVLosses.read_csv(both).repeats == 10
    items = {
        "item": np.tile(range(20), 2),
        "fold": np.tile(range(4), 10),
        "seed": np.repeat([1, 2], 20),
        "a": RNG.integers(0, 2, 40),
    }
    assert CVLosses.read_csv(items).repeats == 2


LONG = {"model": np.repeat(["A", "B"], 100), "score": np.r_[TEN["A"], TEN["B"]]}
BY_ROW = {"model": np.tile(["A", "B"], 100), "score": np.c_[TEN["A"], TEN["B"]].ravel()}
IN_ORDER = "were read in the order of scikit-learn: 10 repeats of 10 folds"
NO_FOLDS = f"there is no column of folds, so rows {IN_ORDER}"


@pytest.mark.parametrize(
    ("table", "note"),
    [
        (TEN, NO_FOLDS),
        (LONG, NO_FOLDS),
        (BY_ROW, NO_FOLDS),
        ({"cv_split": range(100)} | TEN, f"column 'cv_split' numbers all splits, which {IN_ORDER}"),
        ({"fold": range(1, 101)} | TEN, f"column 'fold' numbers all splits, which {IN_ORDER}"),
        (
            {"split": np.tile(range(100), 2)} | LONG,
            f"column 'split' numbers all splits, which {IN_ORDER}",
        ),
    ],
)
def test_folds_of_splits_in_the_order_of_scikit_learn(table, note):
    cv = CVLosses.read_csv(table, folds=10)
    assert (cv.fold.tolist(), cv.repeat.tolist()) == (FOLDS.tolist(), REPEATS.tolist())
    expected = corrected(TEN["A"] - TEN["B"], 1 / 9)
    assert numbers(wb.kfold_t_test(cv, rho="nadeau_bengio")) == pytest.approx(expected)
    assert note in [note.text for note in cv.notes]


def test_items_with_splits_that_are_numbered_consecutively():
    fold = np.r_[np.arange(40) % 4, 4 + np.arange(40)[::-1] // 10]
    cv = CVLosses.read_csv(
        {"item": np.tile(range(40), 2), "fold": fold, "a": np.arange(80) % 3}, folds=4
    )
    assert (cv.repeat == np.repeat([0, 1], 40)).all() and (cv.fold == fold % 4).all()


@pytest.mark.parametrize("table", [TEN, LONG, BY_ROW])
def test_rows_without_a_column_of_folds_may_be_random_splits(table):
    cv = CVLosses.read_csv(table, test_share=0.2)
    expected = corrected(TEN["A"] - TEN["B"], 0.25)
    assert numbers(wb.kfold_t_test(cv)) == pytest.approx(expected)
    text = "there is no column of folds, so every row was read as a random split"
    assert text in [note.text for note in cv.notes]


@pytest.mark.parametrize(
    ("table", "options", "message"),
    [
        (TEN, {}, "folds must be given, because there is no column of folds. If every row"),
        (LONG, {}, "folds must be given, because there is no column of folds. If every row"),
        (TEN, {"splits": "folds"}, "folds must be given, because there is no column of folds"),
        (TEN, {"folds": 7}, "folds must divide the 100 splits into 1 to 100 repeats; got 7"),
        (TEN, {"folds": 1}, "folds must divide the 100 splits into 1 to 100 repeats; got 1"),
        (
            {"A": OLD[:202] / 2},
            {"folds": 2},
            "folds must divide the 202 splits into 1 to 100 repeats; got 2",
        ),
        (TEN, {"folds": 10, "test_share": 0.1}, "folds is not for random splits; got 10"),
        (
            {"item": range(100)} | TEN,
            {"folds": 10},
            "the dict has no column 'fold'; available columns: 'item', 'A', 'B'",
        ),
        ({"A": FOLDS % 2, "B": REPEATS % 2}, {"folds": 10}, "all values are whole numbers, so"),
        ({"A": FOLDS % 2, "B": REPEATS % 2}, {"test_share": 0.1}, "all values are whole numbers"),
        ({"fold": FOLDS} | TEN, {"folds": 10}, "folds needs a different number for every split"),
        (
            {"fold": np.arange(100) * 2} | TEN,
            {"folds": 10},
            "folds needs whole numbers without a gap in column 'fold'; got 10",
        ),
        (
            {"fold": [f"f{k}" for k in range(100)]} | TEN,
            {"folds": 10},
            "folds needs whole numbers without a gap in column 'fold'; got 10",
        ),
        (
            {"fold": FOLDS, "repeat": REPEATS} | TEN,
            {"folds": 10},
            "folds is only for files without a column of repeats; got 10",
        ),
    ],
)
def test_splits_that_are_not_in_an_order_are_refused(table, options, message):
    with pytest.raises(ValueError) as error:
        CVLosses.read_csv(table, **options)
    assert str(error.value).startswith(message)


def test_inner_folds_and_scores_of_a_nested_cross_validation_are_refused():
    inner = {"outer": np.repeat(range(5), 2), "inner": np.tile(range(2), 5), "A": OLD[:10]}
    with pytest.raises(ValueError, match="^fold must not be of the inner folds of a nested"):
        CVLosses.read_csv(inner, fold="inner", repeat="outer")
    nested = {
        "outer_fold": np.tile(range(5), 2),
        "model": np.repeat(["A", "B"], 5),
        "best_params": ["C=1"] * 10,
        "inner_score": OLD[:10],
        "best_score": OLD[:10],
        "outer_score": NEW[:10],
    }
    with pytest.raises(ValueError, match="^value must not be of the inner folds of a nested"):
        CVLosses.read_csv(nested, value="inner_score")
    outer = CVLosses.read_csv(nested, value="outer_score", higher_is_better=True)
    assert (-outer.losses).T.ravel().tolist() == NEW[:10].tolist()
    best = CVLosses.read_csv(nested, value="best_score")
    kinds = [[note.kind for note in cv.notes if "optimistic" in note.text] for cv in (best, outer)]
    assert kinds == [["unreliable"], []]


# which columns are models


@pytest.mark.parametrize("name", ["estimator", "Algorithm", "classifier", "method"])
def test_a_column_of_model_names_is_asked_for(name):
    table = {
        "rep": np.tile(REPEATS, 2),
        "fold": np.tile(FOLDS, 2),
        name: LONG["model"],
        "acc": LONG["score"],
    }
    asked = f"^model must name the column of model names, which seems to be '{name}'$"
    with pytest.raises(ValueError, match=asked):
        CVLosses.read_csv(table)
    with pytest.raises(ValueError, match=asked):
        CVLosses.read_csv({name: table[name], "acc": table["acc"]}, folds=10)
    cv = CVLosses.read_csv(table, model=name)
    expected = corrected(TEN["A"] - TEN["B"], 1 / 9)
    assert numbers(wb.kfold_t_test(cv, rho="nadeau_bengio")) == pytest.approx(expected)
    of_items = {"fold": FOLDS, name: LONG["model"][::2], "a": FOLDS % 2, "b": REPEATS % 2}
    assert CVLosses.read_csv(of_items).models == ("a", "b")


@pytest.mark.parametrize(
    "name",
    [
        "fit_time",
        "score_time",
        "n_test",
        "n_train",
        "split",
        "rank_test_score",
        "std_test_score",
        "seed",
        "Fit_Time",
        "fit time",
        "N_Test",
        "train_score",
        "duration",
        "param_C",
        "Unnamed: 0",
        "weight",
        "region_id_not_numbers",
    ],
)
def test_columns_with_other_names_are_no_models(name):
    values = {
        "weight": RNG.uniform(1, 2, 10).round(2),
        "region_id_not_numbers": [f"site {k % 3}" for k in range(10)],
        "n_test": [100] * 10,
        "N_Test": [100] * 10,
        "n_train": [900] * 10,
        "split": range(10),
        "seed": range(10),
    }
    table = {
        "fold": np.arange(10),
        "old": OLD[:10],
        "new": NEW[:10],
        name: values.get(name, OLD[10:20] + 0.001),
    }
    cv = CVLosses.read_csv(table)
    assert cv.models == ("old", "new") and cv.scheme == "one cross-validation of 10 folds"
    assert CVLosses.read_csv(table, models="old,new").models == ("old", "new")


@pytest.mark.parametrize(
    ("name", "values", "why"),
    [
        ("is_hard", np.arange(10) % 2, "column 'is_hard' has the name of a property of the rows"),
        (
            "lang",
            np.arange(10) % 2,
            "column 'lang' holds only 0 and 1 next to fractions in 'old', 'new'",
        ),
        (
            "depth",
            np.arange(10) % 4 + 3,
            "column 'depth' holds only whole numbers next to fractions",
        ),
        ("percent", OLD[:10] * 100, "columns 'percent' and 'old' differ too much"),
        (
            "best",
            np.maximum(OLD[:10], NEW[:10]),
            "column 'best' seems to be computed from the other columns",
        ),
        (
            "mean",
            OLD[:10] / 2 + NEW[:10] / 2,
            "column 'mean' seems to be computed from the other columns",
        ),
    ],
)
def test_columns_that_leave_it_open_are_asked_for(name, values, why):
    table = {"fold": np.arange(10), "old": OLD[:10], "new": NEW[:10], name: values}
    with pytest.raises(
        ValueError, match=f"^models must list the columns of losses or scores, because {why}"
    ):
        CVLosses.read_csv(table)
    assert CVLosses.read_csv(table, models=["old", name]).models == ("old", name)


@pytest.mark.parametrize("name", ["diff", "Difference", "new_diff", "p_value", "p-val"])
def test_columns_computed_from_models_are_left_out(name):
    table = {"fold": np.arange(10), "old": OLD[:10], "new": NEW[:10], name: NEW[:10] - OLD[:10]}
    cv = CVLosses.read_csv(table)
    assert cv.models == ("old", "new") and f"not read: {name}. " in cv.notes[0].text
    assert CVLosses.read_csv({"fold": np.arange(10), name: NEW[:10]}).models == (name,)


@pytest.mark.parametrize(
    ("first", "second", "are_mixed"),
    [
        ("old_error", "new_accuracy", True),
        ("AUC new", "rmse.old", True),
        ("neg_log_loss", "loss", True),
        ("neg_log_loss", "accuracy_new", False),
        ("brier_score_old", "brier_score_new", False),
        ("old", "accuracy", False),
        ("error_old", "new", False),
    ],
)
def test_errors_and_accuracies_are_not_compared(first, second, are_mixed):
    table = {"fold": np.arange(10), first: OLD[:10], second: NEW[:10]}
    for models in (None, [first, second]):
        if not are_mixed:
            assert CVLosses.read_csv(table, models=models).models == (first, second)
            continue
        with pytest.raises(ValueError, match="^models must be only losses or only scores, but"):
            CVLosses.read_csv(table, models=models)
    if are_mixed:
        with pytest.raises(ValueError, match="^models must be only losses or only scores, but"):
            CVLosses.read_csv(table, higher_is_better=True)
        cv = CVLosses.read_csv(table, models=[first, second], higher_is_better=True)
        assert cv.mean_losses() == pytest.approx([-OLD[:10].mean(), -NEW[:10].mean()])
        assert [note.kind for note in cv.notes] == ["unreliable", "data", "data"]


@pytest.mark.parametrize("constant", [0, 1])
def test_a_model_may_be_perfect_in_every_fold(constant):
    table = {"fold": np.arange(10), "old": OLD[:10], "perfect": np.full(10, constant)}
    assert CVLosses.read_csv(table).mean_losses() == pytest.approx([OLD[:10].mean(), constant])


def test_metrics_are_no_models():
    with pytest.raises(
        ValueError, match="columns 'accuracy', 'f1' have names of metrics, not of models"
    ):
        CVLosses.read_csv({"fold": np.arange(10), "accuracy": OLD[:10], "f1": NEW[:10]})


# folds that lack a score


@pytest.mark.parametrize("gap", ["", "NA", "nan", None, math.nan])
def test_a_fold_without_a_score_is_left_out_for_all_models(gap):
    cells = [*OLD[:10].tolist()]
    cells[3] = gap
    cv = CVLosses.read_csv({"fold": np.arange(10), "nb": np.array(cells, object), "lr": NEW[:10]})
    kept = np.delete(np.arange(10), 3)
    assert wb.kfold_t_test(cv, rho="nadeau_bengio").pvalue == pytest.approx(
        corrected((OLD - NEW)[kept], 1 / 9)[1]
    )  # each fold was still trained on nine tenths
    assert any(
        note.text
        == "fold 3 has no score of nb (missing, undefined, or a failed fit). It was left out for all "
        "models, so 9 of 10 are left"
        for note in cv.notes
    )


def test_folds_without_a_score_from_python_in_repeats_and_too_many():
    old, new = OLD[:100].copy(), NEW[:100].copy()
    old[13], new[57] = math.nan, math.nan
    kept = np.isfinite(old + new)
    expected = corrected((old - new)[kept], 1 / 9)
    means = CVLosses.from_fold_means({"old": old, "new": new}, repeats=10)
    table = CVLosses.read_csv({"repeat": REPEATS, "fold": FOLDS, "old": old, "new": new})
    long = CVLosses.read_csv(
        {
            "model": np.repeat(["old", "new"], 100),
            "repeat": np.tile(REPEATS, 2),
            "fold": np.tile(FOLDS, 2),
            "f1": np.r_[old, new],
        }
    )
    for cv in (means, table, long):
        assert numbers(wb.kfold_t_test(cv, rho="nadeau_bengio")) == pytest.approx(expected)
        assert any(
            "3 of repeat 1, 7 of repeat 5 have no score of old, new" in note.text
            for note in cv.notes
        )
    splits = CVLosses.from_fold_means({"old": old, "new": new}, test_share=0.2)
    assert numbers(wb.kfold_t_test(splits)) == pytest.approx(corrected((old - new)[kept], 0.25))
    scores = CVLosses.from_cross_validate(
        {"test_score": [0.5, math.nan, 0.75, 0.5]}, {"test_score": [0.5, 0.5, 0.25, 1]}
    )
    assert scores.folds == 3
    with pytest.raises(ValueError, match="1 of 3 folds would be left, which is too few"):
        CVLosses.from_fold_means([0.1, math.nan, math.nan])
    with pytest.raises(
        ValueError, match="column 'a', data row 2 is empty. Fill the cell or delete the row"
    ):  # an item that lacks its loss
        CVLosses.read_csv(
            {"item": range(4), "fold": [1, 1, 2, 2], "a": np.array([1, None, 0, 1], object)}
        )


# what holds of every result


@settings(deadline=None, max_examples=60)
@given(
    st.integers(2, 20),
    st.integers(1, 4),
    st.sampled_from([None, 0.1, 0.2, 0.5]),
    st.integers(0, 2**20),
    st.sampled_from([0.5, 0.9, 0.95, 0.999, 1 - 1e-7]),
    st.sampled_from(["auto", "naive", "nadeau_bengio", 0.9]),
)
def test_estimates_are_inside_and_pictures_show_the_numbers_of_the_text(
    folds, repeats, share, seed, level, rho
):
    rng = np.random.default_rng(seed)
    means = rng.integers(0, 21, (folds * repeats, 2)) / 20
    assume(np.ptp(means[:, 0] - means[:, 1]) > 1e-9)  # beyond rounding
    cv = (
        CVLosses.from_fold_means(means, test_share=share)
        if share
        else CVLosses.from_fold_means(means, repeats=repeats)
    )
    test = wb.compare_tests(cv, rho=rho, level=level).test
    low, high = test.interval(level)
    assert low <= test.estimate <= high
    rows = wb.compare_tests(cv, rho=rho, level=level).rows()
    drawn = charts.folds(cv, rho=rho, level=level).data["intervals"]
    for row in drawn:
        assert row["low"] <= row["estimate"] <= row["high"] and row["estimate"] == pytest.approx(
            test.estimate
        )
        assert any(
            (row["low"], row["high"]) == pytest.approx((line["low"], line["high"])) for line in rows
        )
    assert f"for {['two', 'three'][len(drawn) - 2]} values of rho" in charts.folds_title(
        cv, rho=rho
    )
    assert charts.rho_curve(test, level=level).data["level"][0]["text"] != "0%"
    assert "100%" not in charts.folds(cv, rho=rho, level=level).alternative
    assert "100%" not in wb.compare_tests(cv, rho=rho, level=level).basis()


@settings(deadline=None, max_examples=60)
@given(
    st.integers(2, 6),
    st.integers(2, 5),
    st.integers(1, 2),
    st.integers(0, 2**20),
    st.sampled_from([0.5, 0.95, 0.999]),
)
def test_limits_of_right_and_wrong_stay_within_what_is_possible(folds, items, models, seed, level):
    losses = np.random.default_rng(seed).integers(0, 2, (folds * items, models))
    cv = CVLosses(losses, np.repeat(np.arange(folds), items))
    assume(np.ptp(cv.fold_means()) > 1e-9)  # beyond rounding
    least = 1 - models  # of two models a difference from -1 to 1, of one its loss
    for row in wb.compare_tests(cv, level=level).rows():
        assert not row["low"] < least and not row["high"] > 1
    try:
        low, high = wb.kfold_t_test(cv, rho=0.99).interval(level)
    except wb.ZeroVarianceError:  # apart by no more than rounding
        return
    assert least <= low <= cv.fold_means().mean() <= high <= 1


@pytest.mark.parametrize(
    ("options", "values"),
    [
        ({}, "three"),
        ({"rho": "nadeau_bengio"}, "two"),
        ({"rho": "naive"}, "two"),
        ({"rho": ".4"}, "three"),
    ],
)
def test_the_title_counts_the_intervals_that_are_drawn(options, values):
    *_, pair, _ = read(**options)
    assert charts.folds_title(pair, rho=options.get("rho", "auto")).endswith(
        f"with intervals for {values} values of rho"
    )


def test_a_result_that_was_saved_before_schemes_loads():
    for result in (CVLosses.from_fold_means([0.1, 0.2, 0.4]), wb.kfold_t_test([0.1, 0.2, 0.4])):
        data = result.to_dict()
        values = {
            name: value
            for name, value in data["values"].items()
            if name not in ("test_share", "splits", "possible")
        }
        assert repr(wb.Result.from_dict(data | {"values": values})) == repr(result)


@pytest.mark.parametrize("level", [1 - 1e-7, 1 - 1e-12, 1 - 2**-53, 0.999999])
def test_a_level_below_1_is_never_shown_as_1(level):
    from workbench.results import Interval, percent

    assert percent(level) != "100%" and float(percent(level)[:-1]) < 100
    assert ", 1 " not in Interval(0, 1, level, "t").headline()
