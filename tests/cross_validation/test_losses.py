import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_iris
from sklearn.model_selection import (
    KFold,
    RepeatedKFold,
    StratifiedKFold,
    TimeSeriesSplit,
    cross_val_predict,
    cross_validate,
)
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

import workbench as wb
from workbench.cross_validation import tables
from workbench.cross_validation.losses import CVLosses
from workbench.reports.records import Variables
from workbench.results import Note
from workbench.results.limits import LimitReached, printed_limits

X, Y = load_iris(return_X_y=True)
X = X[:, :2]
TREE, NEIGHBOR = DecisionTreeClassifier(random_state=0), KNeighborsClassifier(1)
ROWS = {
    "item": [1, 2, 3, 4, 5, 6],
    "fold": [1, 2, 3, 1, 2, 3],
    "tree": [0.0, 1, 0, 0.5, 0, 1],
    "svm": [0, 0, 1.0, 1, 0, 1],
}


def splits(seed=0):
    return list(KFold(10, shuffle=True, random_state=seed).split(X, Y))


# ways in


def test_an_array_has_one_row_per_fold():
    cv = CVLosses([[1, 2, 3], [4, 5, 9]])
    assert cv.fold_means().tolist() == [[2, 6]] and (cv.folds, cv.repeats, cv.models) == (
        2,
        1,
        ("A",),
    )
    labelled = CVLosses([1, 4, 2, 5, 3, 9], ["x", "y", "x", "y", "x", "y"])
    assert labelled.fold_means().tolist() == [[2, 6]] and labelled.sizes.tolist() == [[3, 3]]


def test_two_models_are_compared_by_their_difference():
    cv = CVLosses({"tree": [0, 1, 1, 0], "svm": [0, 0, 0, 1]}, [1, 1, 2, 2])
    assert cv.series().tolist() == [0, 1, 1, -1] and cv.label == "tree minus svm"
    assert cv.pair("svm", "tree").series().tolist() == [0, -1, -1, 1]
    assert [row["svm"] for row in cv.rows()] == [0, 0.5]


def test_from_cross_validate_knows_sizes_and_folds():
    found = [cross_validate(m, X, Y, cv=splits(), return_indices=True) for m in (TREE, NEIGHBOR)]
    cv = CVLosses.from_cross_validate(*found, models=("tree", "1nn"))
    expected = found[0]["test_score"] - found[1]["test_score"]
    assert cv.fold_means()[0] == pytest.approx(expected) and cv.sizes.tolist() == [[15] * 10]
    assert cv.notes == (SCORES,) and not cv.has_items
    assert wb.kfold_t_test(cv, rho="naive").statistic == pytest.approx(
        expected.mean() / (expected.std(ddof=1) / 10**0.5)
    )


def test_from_cross_validate_finds_repeats_and_unequal_folds():
    result = cross_validate(
        TREE,
        X,
        Y,
        cv=RepeatedKFold(n_splits=4, n_repeats=3, random_state=0),
        return_indices=True,
        scoring=["accuracy", "f1_macro"],
    )
    cv = CVLosses.from_cross_validate(result, metric="f1_macro")
    assert (cv.repeats, cv.folds) == (3, 4) and cv.sizes[0].tolist() == [38, 38, 37, 37]
    assert cv.fold_means().ravel() == pytest.approx(result["test_f1_macro"])


def test_from_cross_validate_without_indices_says_what_it_could_not_check():
    cv = CVLosses.from_cross_validate(
        *[cross_validate(m, X, Y, cv=splits()) for m in (TREE, NEIGHBOR)]
    )
    assert cv.notes[:-1] == (
        Note(
            "assumption",
            "it was not checked that both models had the same folds. To check it, call "
            "cross_validate with return_indices=True",
        ),
    )
    assert cv.notes[0] in wb.kfold_t_test(cv).notes


def test_from_cross_val_predict_gives_the_same_folds_as_cross_validate():
    predictions = {
        "tree": cross_val_predict(TREE, X, Y, cv=splits()),
        "1nn": cross_val_predict(NEIGHBOR, X, Y, cv=splits()),
    }
    items = CVLosses.from_cross_val_predict(Y, predictions, splits())
    folds = CVLosses.from_cross_validate(
        *[cross_validate(m, X, Y, cv=splits()) for m in (TREE, NEIGHBOR)]
    )
    assert items.fold_means() == pytest.approx(-folds.fold_means())
    fold = np.empty(150, int)
    for k, (_, test) in enumerate(splits()):
        fold[test] = k
    labelled = CVLosses.from_cross_val_predict(Y, predictions, fold)
    assert labelled.fold_means() == pytest.approx(items.fold_means())


@pytest.mark.parametrize(
    "loss, expected",
    [
        ("squared", [0.25, 1]),
        ("absolute", [0.5, 1]),
        (lambda truth, prediction: truth > prediction, [1, 0]),
    ],
)
def test_losses_of_predictions(loss, expected):
    cv = CVLosses.from_cross_val_predict([1, 0], np.array([0.5, 1]), [0, 1], loss=loss)
    assert cv.losses.ravel().tolist() == expected


def test_a_file_with_one_row_per_item(tmp_path):
    path = tmp_path / "losses.csv"
    path.write_text(
        "item;fold;tree;svm\n"
        + "\n".join(
            f"{i};{f};{a};{b}".replace(".", ",") for i, f, a, b in zip(*ROWS.values(), strict=True)
        )
    )
    cv = CVLosses.read_csv(path)
    assert cv.losses.T.tolist() == [ROWS["tree"], ROWS["svm"]] and cv.models == ("tree", "svm")
    assert cv.fold.tolist() == [0, 1, 2, 0, 1, 2] and cv.has_items
    assert CVLosses.read_csv(path, models=["svm"]).models == ("svm",)


def test_a_file_with_one_row_per_fold_and_scores():
    cv = CVLosses.read_csv(
        {"fold": [1, 2, 3], "tree": [0.8, 0.9, 0.7], "svm": [0.9, 0.9, 0.9]}, higher_is_better=True
    )
    assert cv.fold_means()[0] == pytest.approx([-0.1, 0, -0.2]) and not cv.has_items
    assert cv.notes == (ASSUMED_FOLDS, SCORES)


def test_a_file_with_repeats_numbers_folds_within_them():
    cv = CVLosses.read_csv(
        {
            "item": [1, 2, 3, 4, 4, 3, 2, 1],
            "repeat": [1] * 4 + [2] * 4,
            "fold": [1, 1, 2, 2, 3, 3, 4, 4],
            "a": np.arange(8.0),
        },
        models="a",
    )
    assert (cv.repeats, cv.folds) == (2, 2) and cv.fold_means().tolist() == [[0.5, 2.5], [4.5, 6.5]]


def test_leave_one_out_needs_the_items_to_be_named():
    cv = CVLosses.read_csv({"item": [1, 2, 3], "fold": [1, 2, 3], "a": [0.5, 0.25, 0]})
    assert cv.has_items and cv.sizes.tolist() == [[1, 1, 1]]


@pytest.mark.slow
def test_a_million_rows(tmp_path):
    n, path = 1_000_000, tmp_path / "losses.csv"
    fold, loss = np.arange(n) % 10, (np.arange(n) * 7919 % 1000) / 1000
    path.write_text(
        "item,fold,a\n"
        + "".join(
            f"{i},{f},{x}\n"
            for i, (f, x) in enumerate(zip(fold.tolist(), loss.tolist(), strict=True))
        )
    )
    cv = CVLosses.read_csv(path)
    assert cv.sizes.tolist() == [[100_000] * 10]
    assert wb.variance_estimates(cv).theta5 == pytest.approx(loss.var(ddof=1) / n, rel=1e-9)


def test_names_of_models_may_be_one_text():
    assert CVLosses.read_csv(ROWS, models="svm, tree").models == ("svm", "tree")
    assert CVLosses.read_csv(ROWS, models="").models == ("tree", "svm")
    assert CVLosses([[0, 1], [1, 1]], models="tree").models == ("tree",)
    scores = {"test_score": np.array([0.5, 0.75])}
    assert CVLosses.from_cross_validate(scores, scores, models="tree, svm").models == (
        "tree",
        "svm",
    )
    assert CVLosses.from_fold_means([0.5, 0.75], models="tree").models == ("tree",)
    many = CVLosses.from_fold_means(np.eye(30)[:, :28], models=(), splits="folds")
    assert many.models[25:] == ("Z", "model 27", "model 28")


UNEQUAL = {"fold": [1, 2, 3], "n": [50, 30, 20], "tree": [0.1, 0.2, 0.4], "svm": [0.2, 0.2, 0.2]}


def test_sizes_of_folds_weigh_their_means():
    """(5 + 6 + 8) / 100 = .19, where equal folds would give .2333."""
    cv = CVLosses.read_csv(UNEQUAL, size="n")
    assert cv.mean_losses() == pytest.approx([0.19, 0.2]) and cv.sizes.tolist() == [[50, 30, 20]]
    assert cv.headline() == "mean loss of tree 0.19, svm 0.2; means of 3 folds"
    assert [row["tree"] for row in cv.rows()] == [0.1, 0.2, 0.4] and [
        row["items"] for row in cv.rows()
    ] == [50, 30, 20]
    assert cv.fold_means()[0] == pytest.approx([-0.1, 0, 0.2])
    assert wb.kfold_t_test(cv).estimate == pytest.approx(-0.01)
    assert cv.notes == (
        Note("data", "one row per fold, so rows were read as fold means, weighted by their items"),
    )
    equal = CVLosses.read_csv(UNEQUAL, models="tree, svm", size="")
    assert equal.mean_losses() == pytest.approx([0.7 / 3, 0.2])


@pytest.mark.parametrize("models", [None, "tree, svm"])
@pytest.mark.parametrize("name", ["n", "N Items", "fold_size", "support", "count"])
def test_sizes_of_folds_are_found_by_name(name, models):
    """(4 + 6 + 8) / 90 = .2."""
    table = {name: [40, 30, 20]} | {key: UNEQUAL[key] for key in ("fold", "tree", "svm")}
    text = f"column {name!r} was read as the number of items in each test set"
    with printed_limits(), pytest.warns(LimitReached, match=f"^{text}$"):
        cv = CVLosses.read_csv(table, models=models)
    assert cv.mean_losses() == pytest.approx([0.2, 0.2])
    assert cv.notes[0] == Note("data", text)
    rows = [
        (model, fold, size, loss)
        for model in ("tree", "svm")
        for fold, size, loss in zip(table["fold"], table[name], table[model], strict=True)
    ]
    long = dict(zip(("model", "fold", name, "loss"), zip(*rows, strict=True), strict=True))
    assert CVLosses.read_csv(long).mean_losses() == pytest.approx([0.2, 0.2])


@pytest.mark.parametrize("n", [[1, 2, 3], [41, 42, 43], [41, 20, 30]])
def test_a_column_of_other_whole_numbers_is_not_taken_for_sizes(n):
    """Row numbers and numbers of features would change the means of folds of equal size."""
    with pytest.raises(ValueError, match="^size must be given, because column 'n' may hold"):
        CVLosses.read_csv({**UNEQUAL, "n": n})
    weighted = np.average(UNEQUAL["tree"], weights=n)
    named = CVLosses.read_csv({**UNEQUAL, "n": n}, size="n")
    assert named.mean_losses()[0] == pytest.approx(weighted)


@pytest.mark.parametrize("n", [[30, 30, 30], [50, 0, 20], [0.5, 0.3, 0.2], ["a", "b", "c"]])
def test_a_column_that_holds_no_sizes_is_not_read(n):
    cv = CVLosses.read_csv({**UNEQUAL, "n": n})
    assert cv.mean_losses() == pytest.approx([0.7 / 3, 0.2])
    assert "columns read as models: tree, svm; not read: n. " in cv.notes[0].text
    rows = {"model": list("aabb"), "fold": [1, 2, 1, 2], "loss": [0.2, 0.4, 0.1, 0.1]}
    of_models = CVLosses.read_csv({**rows, "n": [10, 30, 20, 50]})
    assert of_models.mean_losses() == pytest.approx([0.3, 0.1])


def test_repeats_that_are_copies_are_refused():
    """Ten folds once, five times, and once more with a single value changed."""
    fold = np.tile(np.arange(10), 5)
    table = {"repeat": np.repeat(range(5), 10), "fold": fold}
    old, new = (np.tile(values, 5) for values in (np.arange(10) / 16, np.arange(10) % 3 / 16))
    with pytest.raises(ValueError, match="^all 5 repeats have the same values in every fold"):
        CVLosses.read_csv({**table, "old": old, "new": new})
    with pytest.raises(ValueError, match="^all 5 repeats have the same values in every fold"):
        CVLosses.from_fold_means({"old": old, "new": new}, repeats=5)
    new[-1] = 0.25
    assert CVLosses.read_csv({**table, "old": old, "new": new}).repeats == 5
    assert CVLosses.read_csv({**table, "perfect": np.zeros(50)}).repeats == 5
    pairs = {"repeat": np.repeat(range(5), 2), "fold": [1, 2] * 5, "old": [0.25, 0.5] * 5}
    assert CVLosses.read_csv(pairs).repeats == 5


def test_sizes_of_folds_with_repeats():
    cv = CVLosses.read_csv(
        {"fold": [1, 2, 1, 2], "repeat": [1, 1, 2, 2], "n": [3, 1, 1, 3], "a": [0.0, 1, 0.5, 0.25]},
        size="n",
    )
    assert cv.sizes.tolist() == [[3, 1], [1, 3]] and cv.mean_losses() == pytest.approx(
        [(0 + 1 + 0.5 + 0.75) / 8]
    )


@pytest.mark.parametrize(
    "change, message",
    [
        (
            {"n": [50, 2.5, 20]},
            "column 'n', data row 2: the size of a fold must be a whole number of at least 1; got 2.5",
        ),
        (
            {"n": [50, 30, 0]},
            "column 'n', data row 3: the size of a fold must be a whole number of at least 1; got 0",
        ),
        (
            {"n": ["50", "", "20"]},
            "column 'n', data row 2 is empty. Fill the cell or delete the row",
        ),
        (
            {"fold": [1, 1, 2]},
            "column 'n' can hold sizes of folds only if there is one row per fold and no column "
            "of items. Is a repeat column missing?",
        ),
    ],
)
def test_wrong_sizes(change, message):
    with pytest.raises(ValueError) as error:
        CVLosses.read_csv(UNEQUAL | change, size="n")
    assert str(error.value) == message


# what was not said

SCORES = Note("data", "the values are scores: larger is better")
EQUAL_FOLDS = Note("data", "one row per fold, so rows were read as fold means of equal folds")
ASSUMED_FOLDS = Note(
    "data",
    f"{EQUAL_FOLDS.text}. For random splits (ShuffleSplit), give test_share, because the interval "
    "must then be longer",
)


@pytest.mark.parametrize("folds", [20, 21])
def test_many_folds_may_be_repeats(folds):
    table = {"fold": [f"{k}" for k in range(folds)], "tree": [0.25] * folds}
    assert CVLosses.read_csv({**table, "item": range(folds)}).notes == ()
    assert CVLosses.read_csv(table, splits="folds").notes == (EQUAL_FOLDS,)
    if folds == 20:
        assert CVLosses.read_csv(table).notes == (ASSUMED_FOLDS,)
        return
    with pytest.raises(
        ValueError, match="^splits must be 'random' or 'folds', because 21 folds may be one"
    ):
        CVLosses.read_csv(table)


def test_repeats_that_are_named_are_not_asked_for():
    table = {
        "fold": [*range(10)] * 10,
        "repeat": np.repeat(range(10), 10),
        "tree": np.arange(100) % 7 / 16,
    }
    assert CVLosses.read_csv(table).notes == (EQUAL_FOLDS,)
    means = {"tree": table["tree"]}
    assert CVLosses.from_fold_means(means, repeats=10).notes == ()
    scores = {"test_score": np.array(means["tree"])}
    for ask in (
        lambda: CVLosses.from_fold_means(means),
        lambda: wb.kfold_t_test([0.25, -0.125] * 50),
        lambda: CVLosses.from_cross_validate(scores),
        lambda: wb.compare_models(means | {"svm": [0.5, 0.25] * 50}),
        lambda: wb.bayesian_correlated_t([0.25, -0.125] * 50),
    ):
        with pytest.raises(
            ValueError,
            match="^splits must be 'random' or 'folds', because 100 folds may be one",
        ):
            ask()
    assert CVLosses.from_cross_validate(scores, repeats=10).notes == (SCORES,)


def test_rows_without_items_are_different_items():
    table = {"fold": np.arange(1000) % 10, "tree": np.arange(1000) % 7 % 2}
    assert CVLosses.read_csv(table).notes == (
        Note(
            "assumption",
            "no item column, so 1,000 rows were read as different items. If the cross-validation "
            "was repeated, name item and repeat",
        ),
    )
    assert CVLosses.read_csv({**table, "item": range(1000)}).notes == ()
    assert CVLosses.read_csv({**table, "repeat": np.repeat([1, 2], 500)}).notes == ()


def test_columns_that_were_read_as_models_are_named():
    note = Note(
        "data",
        "columns read as models: tree, svm, knn. To leave some out, list the others in models",
    )
    assert CVLosses.read_csv({**ROWS, "knn": [1, 1, 0, 0, 1, 1]}).notes == (note,)
    with pytest.raises(
        ValueError,
        match="^models must list the columns of losses or scores, because columns 'age' and 'tree' differ",
    ):
        CVLosses.read_csv({**ROWS, "age": [41, 52, 63, 41, 52, 63]})
    assert (
        CVLosses.read_csv({**ROWS, "age": [41, 52, 63, 41, 52, 63]}, models="tree,svm,age").notes
        == ()
    )
    assert CVLosses.read_csv(ROWS).notes == ()


@pytest.mark.parametrize(
    "values, asked",
    [
        ([0.75, 0.5, 1], True),
        ([0.5, 0.5, 0.5], False),
        ([0.75, 1.5, 1], False),
        ([0.75, -0.125, 1], False),
        ([0.25, 0.5, 0.125], False),
    ],
)
def test_losses_that_look_like_accuracies_are_doubted(values, asked):
    note = (
        "the values were read as losses, so smaller is better. If they are scores such as "
        "accuracies, say that higher is better (--better higher; higher_is_better{})"
    )
    asked, where = [
        (Note("data", note.format(place)),) * asked
        for place in ("", " in CVLosses.from_fold_means")
    ]
    table = {"fold": [1, 2, 3], "tree": values, "svm": [0.875, 0.875, 0.75]}
    assert CVLosses.read_csv(table).notes == (ASSUMED_FOLDS, *asked)
    assert CVLosses.read_csv(table, higher_is_better=True).notes == (ASSUMED_FOLDS, SCORES)
    means = {"tree": values, "svm": table["svm"]}
    assert CVLosses.from_fold_means(means).notes == where
    assert CVLosses.from_fold_means(means, higher_is_better=True).notes == (SCORES,)


# scores

ACCURACIES = {"A": [0.75, 0.875, 0.9375], "B": [0.75, 0.75, 0.8125]}


def accuracies():
    return CVLosses.from_fold_means(ACCURACIES, n_items=48, higher_is_better=True)


def test_scores_are_shown_as_they_were_given():
    cv = accuracies()
    assert cv.headline() == "mean score of A 0.8542, B 0.7708; means of 3 folds"
    assert [row["A"] for row in cv.rows()] == ACCURACIES["A"] and [
        row["B"] for row in cv.rows()
    ] == ACCURACIES["B"]
    assert cv.mean_losses() == pytest.approx([-2.5625 / 3, -2.3125 / 3]) and cv.label == "A minus B"
    assert (
        math.copysign(1, CVLosses.from_fold_means([0.0, 0.5], higher_is_better=True).rows()[0]["A"])
        == 1
    )
    named = CVLosses.from_fold_means({"fold": [0.5, 0.25]}, higher_is_better=True)
    assert named.rows()[0] == {"repeat": 0, "fold": 0, "score of fold": 0.5}
    assert (
        CVLosses.from_fold_means({"A": [-1.0, -2]}).headline()
        == "mean loss of A -1.5; means of 2 folds"
    )


def test_scores_stay_scores():
    cv = accuracies()
    alone = cv.pair("B", "A")
    again = wb.Result.from_dict(cv.to_dict())
    both = cv.joined(
        CVLosses.from_fold_means({"C": [0.5, 0.25, 0.75]}, n_items=48, higher_is_better=True)
    )
    for found in (alone, again, both):
        assert found.scores and found.notes == (SCORES,)
    assert both.headline() == "mean score of A 0.8542, B 0.7708, C 0.5; means of 3 folds"
    for first, second, message in (
        (
            cv,
            "C",
            "models must have the same rows; A, B has scores of 3 fold means in one cross-validation of 3 folds, C "
            "losses of 3 fold means in one cross-validation of 3 folds",
        ),
        (
            "C",
            cv,
            "models must have the same rows; C has losses of 3 fold means in one cross-validation of 3 folds, A, B "
            "scores of 3 fold means in one cross-validation of 3 folds",
        ),
    ):
        losses = CVLosses.from_fold_means({"C": [0.5, 0.25, 0.75]}, n_items=48)
        pair = [losses if side == "C" else side for side in (first, second)]
        with pytest.raises(ValueError) as error:
            pair[0].joined(pair[1])
        assert str(error.value) == message


def test_zeros_and_ones_are_known_as_losses_and_as_scores():
    right = {
        "item": range(6),
        "fold": [1, 2, 3] * 2,
        "a": [0, 1, 1, 1, 0, 1],
        "b": [1, 0, 0, 1, 1, 1],
    }
    for higher in (False, True):
        assert CVLosses.read_csv(right, higher_is_better=higher).zero_one
        assert not CVLosses.read_csv(
            right | {"a": [0, 1, 1, -1, 0, 1]}, higher_is_better=higher
        ).zero_one
    assert not CVLosses.read_csv(right | {"a": [-1, 0, 0, -1, 0, 0]}).zero_one
    assert not CVLosses.from_fold_means([0, 1, 1]).zero_one


# labels of folds


@given(st.permutations(["1", "2", "3", "10", "11", "20"]))
def test_numbers_in_text_sort_as_numbers(numbers):
    losses = np.array(numbers, float)
    for label in ("{}", "Teil {}", "{} von 20", "a{}b7"):
        rows = CVLosses(losses, [label.format(number) for number in numbers]).rows()
        assert [(row["fold"], row["A"]) for row in rows] == [
            (label.format(k), k) for k in (1, 2, 3, 10, 11, 20)
        ]


def test_folds_keep_their_labels_in_the_order_of_their_numbers():
    parts = [f"Teil {k}" for k in (10, 2, 1, 10, 2, 1)]
    cv = CVLosses.read_csv(ROWS | {"fold": parts})
    assert cv.fold.tolist() == [2, 1, 0, 2, 1, 0]
    assert [(row["fold"], row["tree"]) for row in cv.rows()] == [
        ("Teil 1", 0.5),
        ("Teil 2", 0.5),
        ("Teil 10", 0.25),
    ]
    for same in (wb.Result.from_dict(cv.to_dict()), cv.pair("tree", "svm")):
        assert same.rows() == cv.rows() and same.fold_labels == ("Teil 1", "Teil 2", "Teil 10")
    assert CVLosses([1.0, 2, 3], [10.0, 9.0, 100.0]).fold_labels == (9, 10, 100)


def test_repeats_keep_their_labels_and_folds_theirs_where_they_are_the_same():
    table = {
        "item": [1, 2] * 3,
        "fold": ["a", "b", "b", "a", "a", "b"],
        "repeat": np.repeat([7, 11, 9], 2),
        "m": [0.0, 0.5, 1, 1.5, 2, 2.5],
    }
    shown = [(row["repeat"], row["fold"], row["m"]) for row in CVLosses.read_csv(table).rows()]
    assert shown == [
        (7, "a", 0),
        (7, "b", 0.5),
        (9, "a", 2),
        (9, "b", 2.5),
        (11, "a", 1.5),
        (11, "b", 1),
    ]
    other = CVLosses(table["m"], ["a", "b", "c", "d", "e", "f"], repeat=table["repeat"])
    assert [row["fold"] for row in other.rows()] == [0, 1] * 3
    with pytest.raises(ValueError) as error:
        CVLosses.read_csv(table | {"item": [1, 2, 1, 2, 1, 3]})
    assert str(error.value) == (
        "every repeat must test every item once; repeat 7 tests item 3 0 times. Is a repeat "
        "column missing, or are columns mixed up?"
    )


def test_items_of_a_fold_are_shown_only_where_they_are_known():
    assert "items" not in CVLosses.from_fold_means([0.5, 0.25]).rows()[0]
    assert [row["items"] for row in CVLosses.from_fold_means([0.5, 0.25], n_items=3).rows()] == [
        2,
        1,
    ]
    assert [row["items"] for row in CVLosses([[0.5], [0.25]]).rows()] == [1, 1]


# splits


def test_splits_of_time_series_are_no_folds():
    result = cross_validate(NEIGHBOR, X, Y, cv=TimeSeriesSplit(5), return_indices=True)
    with pytest.raises(ValueError) as error:
        CVLosses.from_cross_validate(result, models="knn")
    assert str(error.value) == (
        "splits must be K folds with training on all items that are not tested, but fold 0 of "
        "knn trains on 25 and tests 25 of 125 items. The t-tests of folds are not valid for "
        "splits of time series. For random splits, use splits='random'"
    )


TRAINED = "splits must be K folds with training on all items that are not tested, but fold 1 of A trains on "
RANDOM = (
    " of 4 items. The t-tests of folds are not valid for splits of time series. For random splits, "
    "use splits='random'"
)


@pytest.mark.parametrize(
    "train, message",
    [
        ([[2, 3], [0]], f"{TRAINED}1 and tests 2{RANDOM}"),
        ([[2, 3], [0, 2]], f"{TRAINED}2 and tests 2{RANDOM}"),
        ([[2, 3], [0, 1, 4]], f"{TRAINED}3 and tests 2{RANDOM}"),
        (
            [[2, 3, 4], [0, 1, 4]],
            TRAINED.replace("fold 1", "fold 0") + f"3 and tests 2{RANDOM}",
        ),
    ],
)
def test_every_training_set_is_all_other_items(train, message):
    def result(train):
        return {
            "test_score": [0.5, 0.75],
            "indices": {"train": train, "test": [np.array([1, 0]), np.array([2, 3])]},
        }

    good = result([[2, 3], [1, 0]])
    assert CVLosses.from_cross_validate(good, good).sizes.tolist() == [[2, 2]]
    for models, name in (([result(train)], "A"), ([good, result(train)], "B")):
        with pytest.raises(ValueError) as error:
            CVLosses.from_cross_validate(*models)
        assert str(error.value) == message.replace(" of A trains", f" of {name} trains")


@pytest.mark.parametrize("which", [0, 1])
def test_indices_of_one_result_are_used(which):
    found = [
        cross_validate(m, X, Y, cv=splits(), return_indices=k == which)
        for k, m in enumerate((TREE, NEIGHBOR))
    ]
    cv = CVLosses.from_cross_validate(*found)
    assert cv.sizes.tolist() == [[15] * 10]
    assert cv.notes == (
        Note(
            "assumption",
            f"only {'AB'[which]} has indices: it was not checked that both models had the same folds. To "
            "check it, call cross_validate with return_indices=True",
        ),
        SCORES,
    )


def test_a_splitter_is_not_its_splits():
    with pytest.raises(TypeError) as error:
        CVLosses.from_cross_val_predict(Y, Y, StratifiedKFold(5))
    assert str(error.value) == (
        "splits must be labels of folds or pairs of index arrays; got StratifiedKFold. Use "
        "list(splitter.split(X, y))"
    )


def test_probabilities_are_no_classes():
    with pytest.raises(ValueError) as error:
        CVLosses.from_cross_val_predict(
            [1, 0, 1, 1], {"lr": [1, 0, 0, 1], "gb": [0.75, 0.25, 0.5, 0.5]}, [0, 0, 1, 1]
        )
    assert str(error.value) == (
        "model 'gb' predicts none of the classes of truth (0.75 where truth is 1). For "
        "probabilities or a regression, use loss='squared' or loss='absolute'"
    )
    assert (
        CVLosses.from_cross_val_predict(
            [1, 0], [0.75, 0.25], [0, 1], loss="squared"
        ).losses.tolist()
        == [[0.0625]] * 2
    )


# data frames


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_columns_of_a_data_frame_are_models_of_fold_means(library):
    frame = pytest.importorskip(library).DataFrame
    cv = CVLosses.from_fold_means(frame({"tree": [0.1, 0.2, 0.3], "svm": [0.3, 0.2, 0.4]}))
    assert cv.models == ("tree", "svm") and cv.fold_means()[0] == pytest.approx([-0.2, 0, -0.1])
    assert wb.compare_models(frame({"tree": [0.1, 0.2, 0.3], "svm": [0.3, 0.2, 0.4]})).models == (
        "tree",
        "svm",
    )
    with pytest.raises(ValueError) as error:
        CVLosses.from_fold_means(frame({"fold": [1, 2], "tree": [0.1, 0.2]}))
    assert str(error.value) == (
        "means must have one column per model, but column 'fold' is not a model. Read the data "
        "frame with CVLosses.read_csv"
    )
    for call, name in (
        (CVLosses, "losses"),
        (wb.compare_tests, "losses"),
        (wb.kfold_t_test, "fold_means"),
        (wb.bayesian_correlated_t, "differences"),
    ):
        with pytest.raises(TypeError) as error:
            call(frame({"tree": [0.1, 0.2, 0.3], "svm": [0.3, 0.2, 0.4]}))
        assert str(error.value) == (
            f"{name} must be an array; got a DataFrame. Read it with CVLosses.read_csv. If every row "
            "is a fold and every column a model, use CVLosses.from_fold_means"
        )


def test_columns_of_a_data_frame_need_names():
    frame = pytest.importorskip("pandas").DataFrame([[0.1, 0.2], [0.3, 0.2]])
    with pytest.raises(TypeError) as error:
        CVLosses.from_fold_means(frame)
    assert (
        str(error.value)
        == "means must have column names that are text: use frame.rename(columns=str)"
    )
    assert CVLosses.from_fold_means(frame.rename(columns=str)).models == ("0", "1")


# joining models


def test_models_are_joined_by_item():
    a = CVLosses({"a": [1.0, 2, 0, 3]}, [0, 1, 0, 1], item=[20, 30, 10, 40])
    b = CVLosses({"b": [3.0, 2, 1, 0]}, [7, 7, 5, 5], item=[40, 30, 20, 10])
    assert a.joined(b).losses.tolist() == [[1, 1], [2, 2], [0, 0], [3, 3]]
    assert a.joined(b).fold.tolist() == [0, 1, 0, 1]


def test_repeats_are_joined_repeat_by_repeat():
    item, repeat = [1, 2, 3, 1, 2, 3], [0, 0, 0, 1, 1, 1]
    a = CVLosses({"a": np.arange(6.0)}, [0, 0, 1, 1, 0, 0], item=item, repeat=repeat)
    b = CVLosses(
        {"b": np.arange(6.0)[::-1]}, [1, 2, 2, 0, 1, 1], item=item[::-1], repeat=repeat[::-1]
    )
    with pytest.raises(ValueError, match="^models must be tested on the same folds"):
        a.joined(b)
    b = CVLosses(
        {"b": np.arange(6.0)[::-1]}, [1, 1, 2, 3, 1, 1], item=item[::-1], repeat=repeat[::-1]
    )
    assert (a.joined(b).losses[:, 0] == a.joined(b).losses[:, 1]).all()


UNLIKE = "models must have the same rows; a has losses of 4 named items in one cross-validation of 2 folds, b losses of "


@pytest.mark.parametrize(
    "other, message",
    [
        (
            CVLosses({"b": [3.0, 2, 1]}, [0, 0, 1], item=[10, 20, 30]),
            f"{UNLIKE}3 named items in one cross-validation of 2 folds",
        ),
        (
            CVLosses({"b": [3.0, 2, 1, 0]}, [0, 0, 1, 1], item=[10, 20, 30, 50]),
            "models must have the same item; a has 40, b 50",
        ),
        (
            CVLosses({"b": [3.0, 2, 1, 0]}, [0, 0, 1, 1]),
            f"{UNLIKE}4 items in one cross-validation of 2 folds",
        ),
        (
            CVLosses({"b": [3.0, 2, 1, 0]}, [0, 1, 0, 1], item=[10, 20, 30, 40]),
            "models must be tested on the same folds: use the same splits for both",
        ),
        (
            CVLosses({"a": [3.0, 2, 1, 0]}, [0, 0, 1, 1], item=[10, 20, 30, 40]),
            "models must be 2 different names; got 'a', 'a'",
        ),
        (
            CVLosses(
                {"b": [3.0, 2, 1, 0]}, [0, 1, 2, 3], item=[10, 20, 30, 40], fold_size=[1, 1, 1, 1]
            ),
            f"{UNLIKE}4 named fold means in one cross-validation of 4 folds",
        ),
    ],
)
def test_models_that_do_not_fit(other, message):
    with pytest.raises(ValueError) as error:
        CVLosses({"a": [0.0, 1, 2, 3]}, [0, 0, 1, 1], item=[10, 20, 30, 40]).joined(other)
    assert str(error.value) == message


def test_fold_means_are_joined_only_where_folds_have_the_same_size():
    a, b, c = (
        CVLosses.from_fold_means({name: [0.1, 0.2, 0.3]}, n_items=n)
        for name, n in (("a", 30), ("b", 30), ("c", 31))
    )
    assert a.joined(b).models == ("a", "b") and a.joined(b).sizes.tolist() == [[10, 10, 10]]
    with pytest.raises(ValueError) as error:
        a.joined(c)
    assert str(error.value) == "models must have the same fold_size; a has 10, c 11"


def test_notes_of_joined_losses_are_said_once():
    a, b = (CVLosses.read_csv({"fold": [1, 2], name: [0.1, 0.2]}) for name in "ab")
    assert a.joined(b).notes == (ASSUMED_FOLDS,)
    old = Note("data", "of the old release")
    c = CVLosses([0.1, 0.2], [0, 1], ["c"], fold_size=[1, 1], notes=[old])
    assert a.joined(c).notes == (*a.notes, old)


# numbers of every kind


@st.composite
def any_losses(draw):
    folds, repeats, models = (
        draw(st.integers(2, 6)),
        draw(st.integers(1, 3)),
        draw(st.integers(1, 3)),
    )
    n = draw(st.integers(folds, 15))
    number = st.floats(-1e140, 1e140).filter(lambda x: x == 0 or abs(x) >= 1e-140)
    losses = draw(
        st.lists(
            st.lists(number, min_size=models, max_size=models),
            min_size=n * repeats,
            max_size=n * repeats,
        )
    )
    fold = [draw(st.permutations([i % folds for i in range(n)])) for _ in range(repeats)]
    label = draw(st.sampled_from([str, int, float]))
    return CVLosses(
        losses,
        [label(f) for f in np.ravel(fold)],
        (),
        [f"<{i}>" for i in range(n)] * repeats,
        np.repeat(np.arange(repeats), n),
        notes=[Note("data", "a & b")],
    )


@pytest.mark.slow
@given(any_losses())
def test_every_cross_validation_survives_a_round_trip_and_agrees_with_a_loop(cv):
    again = wb.Result.from_dict(cv.to_dict())
    assert again.rows() == cv.rows() and repr(again) == repr(cv) and again.notes == cv.notes
    assert all(
        (getattr(again, name) == getattr(cv, name)).all()
        for name in ("losses", "fold", "item", "repeat")
    )
    scale = np.abs(cv.losses).max() or 1
    for place, row in enumerate(cv.rows()):
        inside = cv.repeat * cv.folds + cv.fold == place
        assert int(float(row["fold"])) == place % cv.folds and row["items"] == inside.sum()
        for name, column in zip(cv.models, cv.losses.T, strict=True):
            assert row[name] / scale == pytest.approx(
                math.fsum(column[inside] / scale) / inside.sum(), abs=1e-13
            )
    for name, mean in zip(cv.models, cv.mean_losses(), strict=True):
        weighted = math.fsum(row[name] / scale * row["items"] for row in cv.rows()) / len(cv.fold)
        assert mean / scale == pytest.approx(weighted, abs=1e-13)


def test_one_huge_loss_spoils_no_other_fold():
    cv = CVLosses([[1e17, 0], [0.25, 0.5], [0.125, 0.375]])
    assert cv.fold_means()[0, 1:].tolist() == [0.375, 0.25]


def test_a_fold_of_one_item_and_a_thousand_folds():
    assert CVLosses([1.0, 2, 4], ["a", "b", "b"]).fold_means().tolist() == [[1, 3]]
    fold = np.repeat(np.arange(1000), 3)
    with pytest.raises(ValueError, match="^repeat must be given for 1000 folds without item"):
        CVLosses(np.sin(np.arange(3000)), fold)
    cv = CVLosses(np.sin(np.arange(3000)), fold, item=np.arange(3000))
    assert [row["A"] for row in cv.rows()] == pytest.approx(
        np.sin(np.arange(3000)).reshape(1000, 3).mean(1)
    )


def test_models_called_like_columns_of_the_table_keep_their_own():
    cv = CVLosses({"fold": [0.5, 0.25], "items": [1, 2]}, [7, 9])
    assert cv.rows() == [
        {"repeat": 0, "fold": 7, "items": 1, "loss of fold": 0.5, "loss of items": 1},
        {"repeat": 0, "fold": 9, "items": 1, "loss of fold": 0.25, "loss of items": 2},
    ]


def test_negative_zero_and_truth_values_are_shown_as_numbers():
    cv = CVLosses.from_fold_means(-np.zeros(3))
    assert (
        repr(cv) == "CVLosses(mean loss of A 0; means of 3 folds)"
        and math.copysign(1, cv.losses[0, 0]) == 1
    )
    assert CVLosses([[True, False], [True, True]]).fold_means().tolist() == [[0.5, 1]]


@pytest.mark.parametrize("size", [1e300, 1e-300])
def test_losses_whose_squares_are_no_numbers_are_refused(size):
    with pytest.raises(ValueError) as error:
        CVLosses([[size, 0], [0, size]])
    assert str(error.value) == (
        "losses must have a largest absolute value from 1e-140 to 1e+140, so that squares are "
        f"numbers; got {size:g}. Use another unit"
    )
    assert CVLosses([[1, 1e-300], [0, 1]]).fold_means().tolist() == [[0.5, 0.5]]


# refusals


@pytest.mark.parametrize(
    "make, message",
    [
        (
            lambda: CVLosses({"a": [0.1, 0.2, 0.3], "b": [0.1, 0.1, 0.2]}),
            "fold must be given with a dict of losses, one label per loss. For fold means, use CVLosses.from_fold_means",
        ),
        (
            lambda: CVLosses([0, 1, 1, 0], [1e17, 1e17, 2, 2]),
            "fold must hold whole numbers below 2**53 or text; item 0 is 1e+17",
        ),
        (
            lambda: CVLosses([0, 1, 1, 0], [1, 0.5, 1, 0.5]),
            "fold must hold whole numbers below 2**53 or text; item 1 is 0.5",
        ),
        (
            lambda: CVLosses([0, 1, 1, 0], [1, 2, 1, 2], repeat=[0, 0, 0.5, 0.5]),
            "repeat must hold whole numbers below 2**53 or text; item 2 is 0.5",
        ),
        (
            lambda: CVLosses([0.5, 0.25, 1, 1], [0, 0, 1, 1], fold_size=[2, 2, 2, 2]),
            "fold_size must be given only if every row is the mean of a whole fold. Leave it out "
            "for losses of single items",
        ),
        (
            lambda: CVLosses(
                [0.5, 0.25, 1, 1, 1, 0],
                [0, 1, 2, 0, 1, 1],
                repeat=[0, 0, 0, 1, 1, 1],
                fold_size=[2] * 6,
            ),
            "fold must have the same number of folds in every repeat; got 3, 2",
        ),
        (
            lambda: CVLosses([0.5, 0.25], [0, 1], fold_size=[2]),
            "fold_size must have 2 entries; got 1",
        ),
        (
            lambda: CVLosses([0.5, 0.25], [0, 1], fold_size=[2, 0]),
            "fold_size must be at least 1; fold 1 is 0",
        ),
        (
            lambda: CVLosses([[0, 1], [1, 1]], models=["a", "b"]),
            "models must be one name; got 'a', 'b'",
        ),
        (
            lambda: CVLosses({"a": [[0, 1], [1, 1]]}, [0, 1]),
            "losses must have shape (K, m) with one row per fold, or be given with fold labels; got shape (2, 1, 2)",
        ),
        (
            lambda: CVLosses.from_fold_means(0.5),
            "means must have shape (J,) or (J, M), one row per fold; got shape ()",
        ),
        (
            lambda: CVLosses.from_fold_means([]),
            "means must have shape (J,) or (J, M), one row per fold; got shape (0,)",
        ),
        (lambda: CVLosses([[0, 1], [math.nan, 1]]), "losses must be finite; fold 1, item 0 is nan"),
        (
            lambda: CVLosses({"a": [0, 1], "b": [0, math.inf]}, [0, 1]),
            "losses must be finite; item 1, model 1 is inf",
        ),
        (lambda: CVLosses([[None, 1], [1, 1]]), "losses must be finite; fold 0, item 0 is nan"),
        (
            lambda: CVLosses(np.zeros((0, 3))),
            "losses must have shape (K, m) with one row per fold, or be given with fold labels; got shape (0, 3)",
        ),
        (lambda: CVLosses([[0, 1, 1]]), "fold must have at least 2 folds; got 1"),
        (
            lambda: CVLosses([0, 1, 1]),
            "losses must have shape (K, m) with one row per fold, or be given with fold labels; "
            "got shape (3,)",
        ),
        (lambda: CVLosses([0, 1, 1], [0, 1]), "fold must have 3 entries; got 2"),
        (lambda: CVLosses([0, 1, 1], ["a", None, "b"]), "fold must not be missing; item 1 is"),
        (
            lambda: CVLosses({"a": [0, 1], "b": [0]}, [0, 1]),
            "models must be tested on the same items; a has 2, b has 1",
        ),
        (
            lambda: CVLosses([0.0, 1, 2, 3], [0, 1, 0, 1], item=[1, 2, 1, 2]),
            "every repeat must test every item once; repeat 0 tests item 1 2 times. Is a repeat "
            "column missing, or are columns mixed up?",
        ),
        (
            lambda: CVLosses([0.0, 1, 2, 3], [0, 1, 0, 1], item=[1, 2, 1, 3], repeat=[0, 0, 1, 1]),
            "every repeat must test every item once; repeat 0 tests item 3 0 times. Is a repeat "
            "column missing, or are columns mixed up?",
        ),
        (
            lambda: CVLosses([0.0, 1, 2], [0, 1, 0], repeat=[0, 0, 1]),
            "repeat must have the same number of rows for every repeat; got 2, 1",
        ),
        (
            lambda: CVLosses([0.0, 1, 2, 3, 4, 5], [0, 1, 2, 0, 1, 1], repeat=[0, 0, 0, 1, 1, 1]),
            "fold must have the same number of folds in every repeat; got 3, 2",
        ),
        (
            lambda: CVLosses(np.zeros((4, 3)), [0, 0, 1, 1]).series(),
            "a test compares two models, but there are 3. Choose two with .pair('A', 'B'), or use compare_models",
        ),
        (
            lambda: CVLosses.from_fold_means([1.0, 2, 3], repeats=2),
            "repeats must divide the number of fold means; got 2 repeats of 3",
        ),
    ],
)
def test_wrong_losses(make, message):
    with pytest.raises(ValueError) as error:
        make()
    assert str(error.value) == message


@pytest.mark.parametrize(
    "change, options, message",
    [
        (
            {"fold": [0.5, 0.25, 1, 0.5, 0.25, 1]},
            {},
            "fold must hold whole numbers below 2**53 or text; item 0 is 0.5",
        ),
        (
            {"fold": [1e17, 1, 2, 1e17, 1, 2]},
            {},
            "fold must hold whole numbers below 2**53 or text; item 0 is 1e+17",
        ),
        (
            {"run": [1, 1, 1.5, 1, 1, 1]},
            {"repeat": "run"},
            "repeat must hold whole numbers below 2**53 or text; item 2 is 1.5",
        ),
        (
            {},
            {"item": "items"},
            "the dict has no column 'items'; available columns: 'item', 'fold', 'tree', 'svm' (did you mean "
            "'item'?)",
        ),
        (
            {},
            {"repeat": "run"},
            "the dict has no column 'run'; available columns: 'item', 'fold', 'tree', 'svm'",
        ),
        (
            {},
            {"size": "n_test"},
            "the dict has no column 'n_test'; available columns: 'item', 'fold', 'tree', 'svm'",
        ),
        (
            {"n": [1] * 6},
            {"size": "n"},
            "column 'n' can hold sizes of folds only if there is one row per fold and no column "
            "of items. Is a repeat column missing?",
        ),
        (
            {},
            {"models": ["tree", "tree"]},
            "column 'tree' must have only one role, or be only one model",
        ),
        (
            {"tree": [*"abcabc"], "svm": [*"abcabc"]},
            {},
            "there must be a column of losses in addition to 'fold', 'item'",
        ),
        (
            {},
            {"fold": "item", "item": "fold"},
            "every repeat must test every item once; repeat 0 tests item 1 2 times. Is a repeat "
            "column missing, or are columns mixed up?",
        ),
        (
            {},
            {"fold": "fold", "item": "fold"},
            "column 'fold' must have only one role, or be only one model",
        ),
        (
            {},
            {"models": ["tree", "fold"]},
            "column 'fold' must have only one role, or be only one model",
        ),
        (
            {},
            {"models": ["tree", "swm"]},
            "the dict has no column 'swm'; available columns: 'item', 'fold', 'tree', 'svm' (did you "
            "mean 'svm'?)",
        ),
        (
            {},
            {"fold": "folds"},
            "the dict has no column 'folds'; available columns: 'item', 'fold', 'tree', 'svm' (did you mean "
            "'fold'?)",
        ),
        (
            {"svm": ["0", "1", "", "0", "1", "1"]},
            {},
            "column 'svm', data row 3 is empty. Fill the cell or delete the row",
        ),
        (
            {"svm": ["0", "1", "b", "0", "1", "1"]},
            {},
            "column 'svm', data row 3: 'b' is not a number. Correct the cell",
        ),
        (
            {"tree": [0, 1, math.nan, 0, 1, 1]},
            {},
            "column 'tree', data row 3: nan is not a finite number",
        ),
        ({"fold": [1] * 6}, {}, "fold must have at least 2 folds; got 1"),
    ],
)
def test_wrong_columns(change, options, message):
    with pytest.raises(ValueError) as error:
        CVLosses.read_csv(ROWS | change, **options)
    assert str(error.value) == message


ARRAY = "must be an array: entries of one kind, rows of one length"


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: CVLosses.from_fold_means([0.1, "a"]), "means must hold numbers; got <U32"),
        (lambda: CVLosses({"a": [[0, 1], [1]]}, [0, 1]), f"losses of a {ARRAY}"),
        (lambda: CVLosses.from_fold_means([[0.1, 0.2], [0.3]]), f"means {ARRAY}"),
        (lambda: wb.bayesian_correlated_t([[1], [2, 3]]), f"differences {ARRAY}"),
        (
            lambda: CVLosses.from_cross_validate({"test_score": ["good", "bad"]}),
            "scores of A must hold numbers; got <U4",
        ),
        (lambda: CVLosses([[0, 1], [1]]), f"losses {ARRAY}"),
        (lambda: CVLosses([[1j, 1], [1, 1]]), "losses must hold numbers; got complex128"),
    ],
)
def test_wrong_types(call, message):
    with pytest.raises(TypeError) as error:
        call()
    assert str(error.value) == message


@pytest.mark.parametrize("role", ["fold", "item", "repeat", "size"])
def test_a_column_is_named_by_text(role):
    with pytest.raises(TypeError) as error:
        CVLosses.read_csv(ROWS, **{role: np.array(["fold", "item"])})
    assert str(error.value).startswith(
        f"{role} must be the name of a column; got array(['fold', 'item']"
    )


def test_labels_and_names_may_be_arrays():
    cv = CVLosses([[0, 1], [1, 1]], models=np.array(["tree"]), fold_labels=np.array(["x", "y"]))
    assert (cv.models, cv.fold_labels) == (("tree",), ("x", "y"))
    with pytest.raises(
        ValueError, match="^loss must be one of 'zero_one', 'squared', 'absolute'; got array"
    ):
        CVLosses.from_cross_val_predict(
            [0, 1], [0, 1], [0, 1], loss=np.array(["squared", "absolute"])
        )


def test_one_row_and_one_item_are_singular():
    with pytest.raises(ValueError) as error:
        CVLosses([0.0, 1, 2], [0, 0, 1], repeat=[0, 1, 1])
    assert str(error.value) == "repeat must have the same number of rows for every repeat; got 1, 2"
    a, b = (
        CVLosses([0.5, 0.25], [0, 1], [name], fold_size=[size, 2])
        for name, size in (("a", 1), ("b", 3))
    )
    with pytest.raises(ValueError, match="^models must have the same fold_size; a has 1, b 3$"):
        a.joined(b)
    with pytest.raises(
        ValueError, match="^every repeat must test every item once; repeat 0 tests item 1 2 times"
    ):
        CVLosses.read_csv({"item": [1, 2], "fold": [1, 1], "a": [0, 1]}, fold="item", item="fold")


@pytest.mark.parametrize(
    "values",
    [
        [1, 2, 3, 4, 5, 6],
        [6, 3, 1, 2, 5, 4],
        [101, 205, 309, 400, 507, 611],
        np.arange(20),
        np.arange(20)[::-1] * 7 % 100,
    ],
    ids=str,
)
def test_identifiers_are_not_taken_for_losses(values):
    n = len(values)
    with pytest.raises(ValueError) as error:
        CVLosses.read_csv({"id": values, "fold": np.arange(n) % 3, "a": np.arange(n) % 2})
    assert str(error.value) == (
        "column 'id' holds a different whole number in every row, so it seems to hold "
        "identifiers. List the columns of losses in models, or use item='id'"
    )


def test_a_column_without_a_name_is_not_read(tmp_path):
    path = tmp_path / "index.csv"
    path.write_text(",fold,a\n" + "".join(f"{k},{k % 3},{k % 2}\n" for k in range(6)))
    assert CVLosses.read_csv(path).models == ("a",)


@pytest.mark.parametrize(
    "values",
    [
        [0, 1, 0, 1, 1, 0],
        [12, 9, 15, 11, 20, 7],
        [3, 3, 4, 5, 6, 7],
        [0.5, 1.5, 2.5, 3.5, 4.5, 5.5],
    ],
    ids=str,
)
def test_zeros_and_ones_and_counts_are_losses(values):
    assert CVLosses.read_csv({"fold": range(6), "a": values}).losses.ravel().tolist() == values
    assert CVLosses.read_csv(
        {"fold": range(6), "a": range(6)}, models="a"
    ).losses.ravel().tolist() == [*range(6)]


@pytest.mark.parametrize("models", [("tree",), ("tree", "svm", "forest"), ("tree", "tree"), "tree"])
def test_one_name_per_result(models):
    scores = {"test_score": np.array([0.5, 0.75])}
    with pytest.raises(ValueError) as error:
        CVLosses.from_cross_validate(scores, scores, models=models)
    got = [models] if isinstance(models, str) else models
    assert str(error.value) == f"models must be 2 different names; got {', '.join(map(repr, got))}"


@pytest.mark.parametrize(
    "change, message",
    [
        (
            {"test_score": np.array([0.5, math.nan])},
            "fold 1 has no score of A (missing, undefined, or a failed fit). Without them, 1 of 2 "
            "folds would be left, which is too few. Use a metric that is defined in every fold, "
            "or fewer and larger folds",
        ),
        (
            {"test_score": np.array([math.nan, math.nan])},
            "folds 0, 1 have no score of A (missing, undefined, or a failed fit). Without them, 0 of "
            "2 folds would be left, which is too few. Use a metric that is defined in every "
            "fold, or fewer and larger folds",
        ),
        (
            {"test_score": np.array([0.5, math.inf])},
            "losses must be finite; item 1, model 0 is -inf",
        ),
        (
            {"test_score": np.array([0.5, 0.5, 0.5])},
            "models must be tested on the same items; A has 3, B has 2",
        ),
        (
            {"indices": {"test": [np.array([0, 2]), np.array([1, 3])]}},
            "models must be tested on the same folds, but fold 0 of A and of B contain different "
            "items. Use the same splits for both, such as list(splitter.split(X, y))",
        ),
    ],
)
def test_wrong_cross_validate_output(change, message):
    good = {
        "test_score": np.array([0.5, 0.75]),
        "indices": {"test": [np.array([0, 1]), np.array([2, 3])]},
    }
    with pytest.raises(ValueError) as error:
        CVLosses.from_cross_validate(good | change, good)
    assert str(error.value) == message


def test_splits_may_be_lists():
    cv = CVLosses.from_cross_val_predict([0, 1, 1], [0, 1, 0], [[[1, 2], [0]], [[0], [1, 2]]])
    assert cv.fold.tolist() == [0, 1, 1] and cv.fold_means().tolist() == [[0, 0.5]]


def test_unknown_metrics_and_random_splits_of_unknown_size_are_refused():
    result = {"test_f1": [0.5, 0.75], "test_accuracy": [1, 1]}
    with pytest.raises(ValueError) as error:
        CVLosses.from_cross_validate(result, metric="acuracy")
    assert str(error.value) == (
        "metric must be one of 'f1', 'accuracy'; got 'acuracy' (did you mean 'accuracy'?)"
    )
    with pytest.raises(ValueError, match="^test_share must be given for random splits"):
        CVLosses.from_cross_validate(
            {"test_score": [0.5, 0.75], "indices": {"test": [np.arange(2), np.arange(1, 3)]}}
        )


SCORED = "model 'A' must be a dict with test scores, as cross_validate returns it. For other scores, use CVLosses.from_fold_means"
TESTED = "splits must test each of the items 0 to 1 once, in arrays of whole numbers"


@pytest.mark.parametrize(
    "call, message",
    [
        (
            lambda: CVLosses.from_cross_val_predict([0, 1], [0], [0, 1]),
            "predictions of A must have 2 entries; got 1",
        ),
        (
            lambda: CVLosses.from_cross_val_predict([0, 1], ["0", "1"], [0, 1]),
            "model 'A' predicts none of the classes of truth ('0' where truth is 0). For "
            "probabilities or a regression, use loss='squared' or loss='absolute'",
        ),
        (
            lambda: CVLosses.from_cross_val_predict(
                [0, 1], [0, 1], [(np.array([1]), np.array([0]))] * 2
            ),
            TESTED,
        ),
        (
            lambda: CVLosses.from_cross_val_predict([0, 1], [0, 1], [([0], [5]), ([1], [0])]),
            TESTED,
        ),
        (
            lambda: CVLosses.from_cross_val_predict([0, 1], [0, 1], [([0], [1]), ([1], [-2])]),
            TESTED,
        ),
        (
            lambda: CVLosses.from_cross_val_predict([0, 1], [0, 1], [([0], [1.5]), ([1], [0])]),
            TESTED,
        ),
        (
            lambda: CVLosses.from_cross_validate({"train_score": [0.5]}),
            SCORED,
        ),
        (lambda: CVLosses.from_cross_validate([0.5, 0.6]), SCORED),
        (
            lambda: CVLosses.from_cross_validate({"test_score": [[0.5, 0.25], [0.5, 0.5]]}),
            "means must have shape (J,) or (J, M), one row per fold; got shape (2, 1, 2)",
        ),
    ],
)
def test_wrong_predictions(call, message):
    with pytest.raises(ValueError) as error:
        call()
    assert str(error.value) == message


def test_losses_survive_a_round_trip():
    cv = CVLosses.read_csv(ROWS)
    again = wb.Result.from_dict(cv.to_dict())
    assert repr(again) == repr(cv) and again.rows() == cv.rows() and (again.item == cv.item).all()


def test_losses_of_small_integers_do_not_overflow():
    truth, prediction = np.array([0, 1, 2, 30], "uint8"), np.array([1, 2, 3, 10], "uint8")
    for loss, expected in (("absolute", [1, 1, 1, 20]), ("squared", [1, 1, 1, 400])):
        assert (
            wb.CVLosses.from_cross_val_predict(truth, prediction, [0, 0, 1, 1], loss=loss)
            .losses.ravel()
            .tolist()
            == expected
        )


def test_missing_truth_is_no_error_of_the_model():
    with pytest.raises(ValueError, match="truth must not be missing; item 2 is"):
        wb.CVLosses.from_cross_val_predict([1, 0, np.nan, 0], [1, 0, 1, 0], [0, 0, 1, 1])
    texts = np.array(["a", "b", "a", "b"], object)
    assert (
        wb.CVLosses.from_cross_val_predict(["a", "b", "b", "b"], texts, [0, 0, 1, 1]).losses.mean()
        == 0.25
    )


def test_losses_lie_on_one_side_of_0_and_scores_on_either():
    fold = [1, 1, 2, 2]
    for losses, one, of_scores in (
        ([0, 1, 2, 0], True, True),
        ([0, -1, -2, 0], False, True),
        ([1, -1, 0, 0], False, False),
    ):
        assert CVLosses(losses, fold).one_sign is one
        assert CVLosses(losses, fold, scores=True).one_sign is of_scores


def test_losses_cannot_be_written_over():
    cv = CVLosses({"a": [0.0, 1, 1, 0], "b": [0, 0, 0, 1]}, [1, 1, 2, 2])
    for kept in (cv, cv.pair("b", "a")):
        with pytest.raises(ValueError, match="read-only"):
            kept.losses[0, 0] = 9


@pytest.mark.parametrize("label", [2.0**53, -(2.0**53), 1.5])
def test_labels_that_a_float_cannot_tell_from_the_next_are_none(label):
    """2^53 and 2^53 + 1 are one float; 2^53 - 1 is the last that is not."""
    fold = np.array([1, 1, label, label])
    with pytest.raises(ValueError, match="fold"):
        CVLosses([0, 1, 1, 0], fold)
    assert CVLosses([0, 1, 1, 0], [1.0, 1, 2.0**53 - 1, 2.0**53 - 1]).folds == 2


def test_three_whole_numbers_in_order_are_a_key_and_two_are_not():
    for values, refused in (([1.0, 2, 3], True), ([1.0, 2], False), ([1.0, 2, 2], False)):
        if refused:
            with pytest.raises(
                ValueError, match="^column 'id' holds a different whole number in every row"
            ):
                tables.refuse_identifiers({"id": np.array(values)})
        else:
            tables.refuse_identifiers({"id": np.array(values)})


def test_models_without_items_are_joined_row_by_row_whatever_the_folds_are_called():
    a = CVLosses({"a": [1.0, 2, 0, 3]}, [0, 0, 1, 1])
    b = CVLosses({"b": [5.0, 6, 7, 8]}, [9, 9, 4, 4])
    assert a.joined(b).losses.tolist() == [[1, 5], [2, 6], [0, 7], [3, 8]]
    assert b.joined(a).losses.tolist() == [[5, 1], [6, 2], [7, 0], [8, 3]]


def test_the_models_of_a_search_are_no_columns_that_might_be_none():
    scores = {f"split{k}_test_score": [0.8 - k / 50, 0.7 + k / 40, 0.75] for k in range(4)}
    found = CVLosses.read_csv({"params": ["C=1", "C=9", "C=27"], **scores})
    assert found.models == ("C=1", "C=9", "C=27")
    assert not any("columns read as models" in note for note in wb.sentences(found.notes))


def test_a_page_does_not_record_the_items():
    cv = CVLosses({"a": [0.0, 1, 1, 0, 2, 1], "b": [0, 0, 0, 1, 3, 1]}, [1, 1, 2, 2, 3, 3])
    assert [*Variables({"cv": cv, "test": wb.kfold_t_test(cv)}, ["cv", "test"]).results] == ["test"]
