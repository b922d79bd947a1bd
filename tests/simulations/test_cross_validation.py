import dataclasses
import types

import numpy as np
import pytest
from refusals import refused
from scipy import stats
from scipy.spatial import distance
from sklearn import datasets
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.model_selection import (
    GridSearchCV,
    PredefinedSplit,
    cross_val_predict,
    cross_val_score,
)
from sklearn.naive_bayes import MultinomialNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor, NearestCentroid
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from thinned import thinned

import workbench as wb
from workbench.checks import WrongType
from workbench.cross_validation import learners
from workbench.cross_validation.kfold import half_sample_rho, kfold_t_test
from workbench.cross_validation.learners import (
    Population,
    Samples,
    estimator_losses,
    exchangeable_population,
    gaussian_population,
    nearest_centroid,
    nearest_neighbor,
)
from workbench.cross_validation.model_tests import (
    five_by_two_f_test,
    five_by_two_t_test,
    mcnemar_test,
    nested_cv_interval,
)
from workbench.cross_validation.populations import openml_population
from workbench.results import Note
from workbench.simulations.cross_validation import (
    CHEAP_TESTS,
    COUNTING,
    NESTED_REPEATS,
    TESTS,
    ComparisonStudy,
    TypeOneStudy,
    _Plan,
    simulate_comparison,
    simulate_type_one,
)

TEN_DIGITS = datasets.load_digits(return_X_y=True)
DIGITS = TEN_DIGITS[0], TEN_DIGITS[1] >= 5
U, V = range(4), range(4, 8)


def samples_of(population, n, runs=6, seed=0):
    population = Population.of(population)
    return Samples(
        population, np.random.default_rng(seed).integers(len(population.y), size=(runs, n))
    )


# learners against scikit-learn


@pytest.mark.filterwarnings("ignore:The priors do not sum", "ignore:self.within_class_std_dev_")
@pytest.mark.parametrize("population", [DIGITS, TEN_DIGITS], ids=["two classes", "ten classes"])
@pytest.mark.parametrize("n, folds", [(40, 10), (53, 5), (60, 2)])
@pytest.mark.parametrize(
    "ours, theirs",
    [
        (nearest_neighbor, KNeighborsClassifier(1, algorithm="brute")),
        (nearest_centroid, NearestCentroid()),
    ],
    ids=["1nn", "centroid"],
)
def test_fold_errors_are_those_of_scikit_learn(population, n, folds, ours, theirs):
    samples = samples_of(population, n)
    fold = np.random.default_rng(1).permutation(n) % folds
    found = ours(samples, fold)
    for rows, losses in zip(samples.rows, found, strict=True):
        X, y = samples.population.X[rows], samples.population.y[rows]
        predicted = cross_val_predict(theirs, X, y, cv=PredefinedSplit(fold))
        assert (losses == (predicted != y)).all()


@pytest.mark.parametrize(
    "ours, theirs",
    [(nearest_neighbor, KNeighborsClassifier(1)), (nearest_centroid, NearestCentroid())],
    ids=["1nn", "centroid"],
)
def test_learners_see_only_their_columns(ours, theirs):
    X, y = gaussian_population(5000)  # too large to keep all distances
    samples, fold, columns = samples_of((X, y), 40), np.arange(40) % 5, [0, 3, 9]
    for rows, losses in zip(samples.rows, ours(samples, fold, columns), strict=True):
        predicted = cross_val_predict(
            theirs, X[rows][:, columns], y[rows], cv=PredefinedSplit(fold)
        )
        assert (losses == (predicted != y[rows])).all()


@pytest.mark.parametrize("size", [1000, 4000], ids=["kept distances", "distances per sample"])
@pytest.mark.parametrize("learner", [nearest_neighbor, nearest_centroid])
def test_features_far_from_zero_keep_their_digits(learner, size):
    """Coordinates in meters east of a meridian: only their differences matter."""
    X, y = gaussian_population(size, features=2)
    grid = np.round(X * 64) / 64  # so that adding 1e8 is exact
    rows, fold = np.random.default_rng(3).integers(size, size=(200, 40)), np.arange(40) % 10
    near, far = (
        learner(Samples(Population.of((grid + shift, y)), rows), fold)
        for shift in (0, [1e8, -3e8, 0, 1e6])
    )
    assert (near == far).all() and 0 < near.mean() < 0.5


def test_equal_distances_stay_equal():
    X = np.random.default_rng(0).integers(0, 17, (60, 8))
    exact = ((X[:, None] - X) ** 2).sum(-1)
    for scale, shift in (
        (1, 0),
        (1, 10**9),
        (1 / 8, 0),
        (1 / 8, 1000.125),
        (2.0**-40, 0),
        (2.0**-30, 0.25),
    ):
        assert (learners.squared_distances(X * scale + shift) / scale**2 == exact).all()
    assert (learners.squared_distances(np.full((3, 2), 0.3)) == 0).all()


def test_estimators_see_the_features_as_given():
    """Counts stay counts: a multinomial model refuses negative numbers."""
    samples, fold = samples_of(DIGITS, 40, runs=2), np.arange(40) % 10
    found = estimator_losses(MultinomialNB(), samples, fold)
    for rows, losses in zip(samples.rows, found, strict=True):
        X, y = samples.population.X[rows], samples.population.y[rows]
        assert (
            losses == (cross_val_predict(MultinomialNB(), X, y, cv=PredefinedSplit(fold)) != y)
        ).all()


def test_estimators_are_fitted_fold_by_fold():
    samples, fold = samples_of(DIGITS, 40, runs=3), np.arange(40) % 10
    found = estimator_losses(DecisionTreeClassifier(random_state=3), samples, fold)
    for rows, losses in zip(samples.rows, found, strict=True):
        X, y = samples.population.X[rows], samples.population.y[rows]
        predicted = cross_val_predict(
            DecisionTreeClassifier(random_state=3), X, y, cv=PredefinedSplit(fold)
        )
        assert (losses == (predicted != y)).all()


def test_random_estimators_follow_the_seed():
    fold, random = np.arange(40) % 10, DecisionTreeClassifier(max_features=1)
    samples = [dataclasses.replace(samples_of(DIGITS, 40), seed=seed) for seed in (0, 0, 9)]
    one, same, other = (estimator_losses(random, drawn, fold) for drawn in samples)
    assert (one == same).all() and (one != other).any()


def test_a_training_set_of_one_class_predicts_it():
    """Logistic regression refuses one class; samples with replacement have some."""
    samples = Samples(
        Population.of(([[0.0], [1], [2], [3]], [0, 0, 1, 1])), np.array([[0, 1, 0, 2]])
    )
    fold = np.array([0, 0, 1, 1])
    for learner in (
        nearest_neighbor,
        nearest_centroid,
        lambda s, f: estimator_losses(LogisticRegression(), s, f),
    ):
        losses = learner(samples, fold)
        assert losses[0, 2:].tolist() == [False, True]  # trained on two items of class 0


def test_subsets_keep_their_distances():
    samples = samples_of(DIGITS, 40)
    samples.distances(None)
    items = np.array([3, 7, 1, 30, 22, 15])
    fresh = Samples(samples.population, samples.rows[:, items])
    assert (samples.subset(items).distances(None) == fresh.distances(None)).all()


# populations


def test_exchanged_halves_make_an_exact_null():
    X, y = gaussian_population(400, features=4)
    half = len(y) // 2
    assert (X[half:] == np.hstack([X[:half, 4:], X[:half, :4]])).all() and (
        y[:half] == y[half:]
    ).all()
    rows = np.random.default_rng(0).integers(400, size=(300, 40))
    mirrored = (rows + half) % 400
    fold = np.arange(40) % 10
    population = Population.of((X, y))
    for learner in (nearest_neighbor, nearest_centroid):
        first = learner(Samples(population, rows), fold, U)
        assert (first == learner(Samples(population, mirrored), fold, V)).all()


def test_an_advantage_helps_the_second_learner():
    study = simulate_comparison(
        gaussian_population(advantage=1),
        ("centroid", range(8)),
        ("centroid", range(8, 16)),
        40,
        runs=200,
    )
    assert study.errors[0].mean() > study.errors[1].mean() + 0.08


def test_the_papers_populations_come_from_openml(monkeypatch):
    asked = {}

    def fetch(name, **how):
        asked.update(how, name=name)
        target = ["A", "M", "N", "Z"] if name == "letter" else ["1", "2", "7", "2"]
        return types.SimpleNamespace(
            data=np.arange(8.0).reshape(4, 2), target=np.array(target, object)
        )

    monkeypatch.setattr(datasets, "fetch_openml", fetch)
    X, y = openml_population("letter", cache="somewhere")
    assert y.tolist() == [0, 0, 1, 1] and X.shape == (4, 2)
    assert asked == {
        "name": "letter",
        "version": 1,
        "data_home": "somewhere",
        "as_frame": False,
        "parser": "liac-arff",
    }
    assert openml_population("covertype")[1].tolist() == [0, 1, 0, 1]
    simulate_type_one(openml_population("letter"), "1nn", 20, runs=100)
    with pytest.raises(ValueError) as error:
        openml_population("leter")
    assert (
        str(error.value)
        == "name must be one of 'letter', 'covertype'; got 'leter' (did you mean 'letter'?)"
    )


# a row of Table 2


@pytest.fixture(scope="module")
def neighbors():
    return simulate_type_one("digits", "1nn", 20, rng=1)


def test_the_row_repeats_the_test_on_every_sample(neighbors):
    study = simulate_type_one("digits", "1nn", 20, runs=300, rng=5)
    rng = np.random.default_rng(5)
    rows = rng.integers(1797, size=(300, 20))
    losses = nearest_neighbor(Samples(Population.of("digits"), rows), np.arange(20) % 10)
    means = losses.reshape(300, 2, 10).mean(1)
    mu, rejected, refused = means.mean(), {0: 0, 0.7: 0}, 0
    for row in means:
        for rho in rejected:
            try:
                rejected[rho] += kfold_t_test(row, rho=rho, mean=mu).pvalue < 0.05
            except wb.ZeroVarianceError:
                refused += 1
    assert study.mean == pytest.approx(mu)
    assert study.zero_share == refused / 2 / 300
    for rho, count in rejected.items():
        assert study.type_one(rho, zero_variance="refuse") == count / 300
        assert study.type_one(rho) == pytest.approx((count + refused / 2) / 300)
    assert study.rho == pytest.approx(
        1 - (means.var(1, ddof=1) / 10).mean() / means.mean(1).var(ddof=1)
    )


def test_monte_carlo_error_of_rho_by_repetition():
    found = [simulate_type_one("digits", "centroid", 20, runs=500, rng=seed) for seed in range(60)]
    spread = np.std([study.rho for study in found], ddof=1)
    assert np.mean([study.rho_error for study in found]) == pytest.approx(spread, rel=0.3)
    assert found[0].rho_error == pytest.approx(2**0.5 * (1 - found[0].rho) / 500**0.5, rel=0.15)


def test_without_learning_folds_are_independent_and_the_naive_test_keeps_its_level():
    """A constant prediction has independent losses: rho is 0."""
    rng = np.random.default_rng(0)
    population = np.zeros((1000, 1)), (rng.random(1000) < 0.5).astype(int)
    study = simulate_type_one(
        population, DummyClassifier(strategy="constant", constant=1), 100, runs=600
    )
    assert study.rho == pytest.approx(0, abs=4 * study.rho_error)
    assert study.type_one() == pytest.approx(0.05, abs=4 * study.type_one_error())


@thinned("runs", 120, 400)
def test_a_tree_on_the_digits_has_the_rho_of_the_papers_letters(runs):
    """Grandvalet & Bengio 2006, Table 2, n = 20: rho 52.45%, type I 16.4% at rho 0 and 3.1% at .7."""
    study = simulate_type_one("digits", DecisionTreeClassifier(), 20, runs=runs, rng=2)
    assert study.rho == pytest.approx(0.52, abs=4 * study.rho_error)
    assert study.type_one() == pytest.approx(0.17, abs=4 * study.type_one_error())
    assert study.type_one(0.7) < 0.1
    assert study.learner == "DecisionTreeClassifier" and len(study.rows()) == 3


def test_equal_folds_make_most_rejections_at_rho_07(neighbors):
    """0/1 losses on few items: t is infinite in some samples, which is what rejects at all."""
    assert neighbors.type_one(0.7) > 3 * neighbors.type_one(0.7, zero_variance="refuse")
    assert neighbors.type_one(0.7) - neighbors.type_one(
        0.7, zero_variance="refuse"
    ) == pytest.approx(neighbors.zero_share)


def test_the_share_jumps_with_the_tested_mean():
    """At n = 40 'exactly one error' sits on the critical value at rho = .7: sqrt(.3) t0 = -2.26 to -2.28."""
    study = simulate_type_one("digits", "1nn", 40, rng=3)
    one_error = [
        kfold_t_test([0.25] + [0] * 9, rho=0.7, mean=mean).statistic for mean in (0.128, 0.129)
    ]
    assert one_error == pytest.approx([-2.26, -2.28], abs=0.01)
    assert stats.t.ppf(0.025, 9) == pytest.approx(-2.262, abs=1e-3)
    jump = study.type_one(0.7, mean=0.129) - study.type_one(0.7, mean=0.127)
    assert jump == pytest.approx((study.estimates == 0.025).mean(), abs=0.005) and jump > 0.02
    share = study.type_one(0.7, mean=0.129, zero_variance="refuse")
    assert study.type_one_error(0.7, mean=0.129, zero_variance="refuse") == pytest.approx(
        (share * (1 - share) / study.runs) ** 0.5
    )


def test_results_depend_on_the_seed_only():
    tree = DecisionTreeClassifier()
    alone, two = (
        simulate_type_one("digits", tree, 20, runs=100, rng=1, jobs=jobs) for jobs in (None, 2)
    )
    assert (alone.estimates == two.estimates).all() and (alone.theta3 == two.theta3).all()
    assert (
        simulate_type_one("digits", tree, 20, runs=100, rng=2).estimates != alone.estimates
    ).any()
    again = wb.Result.from_dict(alone.to_dict())
    assert isinstance(again, TypeOneStudy) and repr(again) == repr(alone)


# all tests on pairs of learners


@pytest.fixture(scope="module")
def null():
    return simulate_comparison(
        gaussian_population(),
        ("1nn", range(8)),
        ("1nn", range(8, 16)),
        100,
        tests="all",
        repeats=10,
        runs=300,
        rng=1,
    )


@pytest.fixture(scope="module")
def power():
    return simulate_comparison(
        gaussian_population(advantage=0.8),
        ("1nn", range(8)),
        ("1nn", range(8, 16)),
        100,
        tests="all",
        repeats=10,
        runs=300,
        rng=1,
    )


def test_no_test_is_best_everywhere(null, power):
    """The pattern for nearest neighbors: naive and repeated naive are liberal, larger rho is safe and weak."""
    alarms, found = ({test: study.rejection(test) for test in TESTS} for study in (null, power))
    assert alarms["naive t"] > 0.07 and alarms["naive t, repeated"] > 0.4
    assert alarms["Nadeau-Bengio"] < 0.06 and alarms["rho 0.7"] < 0.03
    assert alarms["half-sample rho"] < 0.12 and alarms["McNemar, one third held out"] < 0.07
    assert (
        found["naive t"]
        > found["half-sample rho"]
        > found["Nadeau-Bengio"]
        > found["rho 0.7"]
        > alarms["rho 0.7"]
    )
    assert found["McNemar, pooled"] > found["McNemar, one third held out"]
    assert min(found[test] - alarms[test] for test in TESTS if test != "naive t, repeated") > 0.05


def test_rejections_have_the_error_of_a_share(null):
    """Of 300 runs that are called different or not."""
    called = null.pvalue("naive t") < 0.05
    row = next(row for row in null.rows() if row["test"] == "naive t")
    assert row["rejects"] == called.mean() and row["rejects_error"] == pytest.approx(
        called.std() / 300**0.5
    )


def test_repeating_shrinks_the_stated_error_but_not_the_true_one(null):
    assert null.naive_errors[1].mean() < 0.4 * null.naive_errors[0].mean()
    assert null.estimates[1].std() > 0.85 * null.estimates[0].std()
    assert 0.2 < null.rho < 0.65


@thinned("runs", 5, 10)
def test_half_sample_rho_has_power_between_naive_and_nadeau_bengio_for_trees(runs):
    """A small run of what the documentation states with 900 samples."""
    tree = DecisionTreeClassifier()
    study = simulate_comparison(
        gaussian_population(features=4, separation=1.5, advantage=1.5),
        (tree, U),
        (tree, V),
        40,
        tests=("naive t", "half-sample rho", "Nadeau-Bengio"),
        runs=runs,
    )
    rates = [study.rejection(test) for test in study.tests]
    assert rates == sorted(rates, reverse=True) and not np.isnan(study.pvalues).any()


def one_by_one(population, n, first, second, rows):
    """The same tests by the functions for a single study, on fold labels i mod 10."""
    fold = np.arange(n) % 10
    for sample in rows:
        samples = Samples(population, sample[None])
        yield (
            nearest_neighbor(samples, fold, first)[0].astype(float),
            nearest_neighbor(samples, fold, second)[0].astype(float),
            fold,
        )


def test_p_values_are_those_of_the_single_tests():
    population = Population.of(gaussian_population(600, features=4))
    rows = np.random.default_rng(0).integers(600, size=(25, 60))
    study = simulate_comparison(population, ("1nn", U), ("1nn", V), 60, samples=rows)
    for k, (a, b, fold) in enumerate(one_by_one(population, 60, U, V, rows)):
        cv = wb.CVLosses({"a": a, "b": b}, fold)
        found = {test: study.pvalue(test)[k] for test in CHEAP_TESTS}
        assert study.errors[:, k] == pytest.approx([a.mean(), b.mean()])
        assert study.estimates[0, k] == pytest.approx((a - b).mean(), abs=1e-12)
        assert found["McNemar, pooled"] == pytest.approx(
            mcnemar_test(int((a > b).sum()), int((b > a).sum())).pvalue
        )
        if np.ptp(cv.fold_means()) == 0:
            assert np.isnan(found["naive t"])
            continue
        for test, rho in (("naive t", 0), ("Nadeau-Bengio", "nadeau_bengio"), ("rho 0.7", 0.7)):
            assert found[test] == pytest.approx(kfold_t_test(cv, rho=rho).pvalue)
        posterior = wb.bayesian_correlated_t(cv.fold_means()[0], rope=0.01)
        assert found["Bayes, ROPE"] == pytest.approx(1 - max(posterior.left, posterior.right))
        z = (a - b).mean() / (np.std(a - b, ddof=1) / 60**0.5)
        assert found["central limit theorem"] == pytest.approx(2 * stats.norm.sf(abs(z)))


def test_5x2_p_values_are_those_of_the_single_tests(monkeypatch):
    seen = []
    from workbench.cross_validation import model_tests

    genuine = model_tests.five_by_two
    monkeypatch.setattr(
        model_tests, "five_by_two", lambda values: (seen.append(values), genuine(values))[1]
    )
    study = simulate_comparison(
        gaussian_population(600, features=4),
        ("1nn", U),
        ("1nn", V),
        60,
        runs=10,
        tests=("5x2cv t", "5x2cv F"),
    )
    monkeypatch.undo()
    for column, single in ((0, five_by_two_t_test), (1, five_by_two_f_test)):
        assert study.pvalues[column] == pytest.approx([single(d).pvalue for d in seen[column]])


# the batched plan against one sample at a time, with the same permutations


@pytest.fixture(scope="module")
def plan():
    both = tuple(learners.as_learner("learner", ("1nn", columns))[0] for columns in (U, V))
    return _Plan(both, (), 10, 3, 0)


@pytest.fixture(scope="module")
def batch():
    population = Population.of(gaussian_population(3000, features=4))
    return Samples(population, np.random.default_rng(0).integers(3000, size=(6, 60)), seed=7)


def alone(batch, row, fold):
    """Differences of one sample's losses, item by item: the nearest by scipy's distances of those in other folds."""
    X, y = batch.population.X[row], batch.population.y[row]
    same = np.where(fold[:, None] == fold, np.inf, 0)
    wrong = [y[(distance.cdist(X[:, c], X[:, c]) + same).argmin(1)] != y for c in (U, V)]
    return wrong[0] * 1.0 - wrong[1]


def test_repeats_average_over_folds_that_are_shuffled_anew(plan, batch):
    _, _, estimates, naive = dataclasses.replace(plan, tests=("naive t",)).run(batch)
    rng, fold = np.random.default_rng(7), np.arange(60) % 10
    shuffled = [np.arange(60), rng.permutation(60), rng.permutation(60)]
    for k, row in enumerate(batch.rows):
        means = []
        for order in shuffled:
            again = np.empty(60, int)
            again[order] = fold
            difference = alone(batch, row, again)
            means += [difference[again == j].mean() for j in range(10)]
        assert estimates[1, k] == pytest.approx(np.mean(means), abs=1e-12)
        assert naive[1, k] == pytest.approx((np.var(means, ddof=1) / 30) ** 0.5)


def test_half_samples_of_a_batch_are_those_of_one_sample(plan, batch):
    def losses_of(row, y, rng):
        return alone(batch, row, np.arange(30) % 10).reshape(3, 10).T

    found = plan.rho_of_halves(batch, np.random.default_rng(3))
    expected = [
        half_sample_rho(losses_of, row, row, rng=np.random.default_rng(3)) for row in batch.rows[:2]
    ]
    assert found[:2] == pytest.approx(expected)


def test_nested_cross_validation_of_a_batch(plan, batch):
    found = plan.nested(batch, np.random.default_rng(3))
    rng, fold = np.random.default_rng(3), np.arange(60) % 10
    orders = [rng.permutation(60) for _ in range(NESTED_REPEATS)]
    outer, inner = [], []
    for order in orders:
        row = batch.rows[0][order]
        outer.append([alone(batch, row, fold)[fold == k] for k in range(10)])
        inner.append([alone(batch, row[fold != k], fold[fold != k]) for k in range(10)])
    interval = nested_cv_interval(outer, inner)
    assert found[0] == pytest.approx(
        2 * stats.norm.sf(abs(interval.estimate / interval.standard_error))
    )


def test_one_third_is_held_out(plan, batch):
    found = plan.held_out(batch)
    for k, row in enumerate(batch.rows):
        difference = alone(batch, row, (np.arange(60) >= 40).astype(int))[40:]
        assert found[k] == pytest.approx(
            mcnemar_test(int((difference > 0).sum()), int((difference < 0).sum())).pvalue
        )


def test_the_lessons_two_clerks():
    """One clerk sees image columns 0, 2, 4, 6, one the rest; exact expected errors .2020 and .2033."""
    column = np.arange(64) % 8
    even = np.isin(column, (0, 2, 4, 6))
    rows = np.stack(
        [np.random.default_rng(seed).choice(1797, 100, replace=False) for seed in range(400)]
    )
    study = simulate_comparison(
        "ten_digits",
        ("1nn", np.flatnonzero(even)),
        ("1nn", np.flatnonzero(~even)),
        100,
        samples=rows,
        repeats=10,
        tests=("naive t", "naive t, repeated", "Nadeau-Bengio"),
    )
    error = study.errors.std(1) / 20
    assert abs(study.errors.mean(1) - (0.2020, 0.2033)) == pytest.approx(
        [0, 0], abs=4 * error.max()
    )
    assert study.rejection("naive t") == pytest.approx(0.081, abs=4 * 0.0136)
    assert study.rejection("naive t, repeated") == pytest.approx(0.57, abs=4 * 0.025)
    assert study.rejection("Nadeau-Bengio") < 0.05


def test_the_lessons_improvement_that_the_sceptic_misses():
    """Averages against nearest neighbors, 200 forms, seed 2: 14.0 against 5.5% errors, discordant 21:4."""
    rows = np.stack(
        [np.random.default_rng(seed).choice(1797, 200, replace=False) for seed in (2, 5)]
    )
    study = simulate_comparison("ten_digits", "centroid", "1nn", 200, samples=rows)
    assert study.errors[:, 0] == pytest.approx([0.14, 0.055])
    found = [
        study.pvalue(test) for test in ("naive t", "Nadeau-Bengio", "rho 0.7", "McNemar, pooled")
    ]
    assert [p[0] for p in found] == pytest.approx([0.0192, 0.0818, 0.1534, 0.0009], abs=6e-5)
    assert [p[1] for p in found[:3]] == pytest.approx([0.005, 0.030, 0.071], abs=6e-4)


def test_studies_survive_a_round_trip(null):
    again = wb.Result.from_dict(null.to_dict())
    assert isinstance(again, ComparisonStudy) and repr(again) == repr(null)
    assert [row["test"] for row in again.rows()] == list(TESTS)


# regressors


@pytest.fixture(scope="module")
def numbers():
    """A population in which two equal regressors, on the two halves of the features, have the same expected error."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 8))
    return exchangeable_population(X, X @ [1, 0.5, 0, 0, 0.5, 0.25, 0.25, 0] + rng.normal(size=200))


def squared_errors(population, row, columns, folds=10):
    """Mean squared errors of the folds, by scikit-learn alone."""
    X, y = population
    fold = np.arange(len(row)) % folds
    splits = [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(folds)]
    return -cross_val_score(
        LinearRegression(), X[row][:, columns], y[row], cv=splits, scoring="neg_mean_squared_error"
    )


@thinned("samples", 25, 60)
def test_regressors_are_judged_by_their_squared_error(numbers, samples):
    """Sample by sample what scikit-learn says, and so the share of false alarms."""
    rows = np.random.default_rng(1).integers(400, size=(samples, 40))
    study = simulate_comparison(
        numbers, (LinearRegression(), U), (LinearRegression(), V), 40, samples=rows
    )
    folds = np.array(
        [[squared_errors(numbers, row, columns) for row in rows] for columns in (U, V)]
    )
    pvalues = stats.ttest_1samp(folds[0] - folds[1], 0, axis=1).pvalue
    assert study.errors == pytest.approx(folds.mean(-1)) and study.pvalue(
        "naive t"
    ) == pytest.approx(pvalues)
    assert study.rejection("naive t") == (pvalues < 0.05).mean() < 0.25
    assert study.loss == "squared" and study.tests == tuple(
        test for test in CHEAP_TESTS if test not in COUNTING
    )
    assert study.notes == (
        Note(
            "refused",
            "left out, because it counts errors, which regressors do not make",
            ("test", "McNemar, pooled"),
        ),
        Note("data", "squared error, because the learners are regressors"),
    )
    assert study.headline().startswith(
        f"squared error {folds[0].mean():.4g} of LinearRegression on 4 features and "
        f"{folds[1].mean():.4g} of LinearRegression on 4 features"
    )
    again = wb.Result.from_dict(study.to_dict())
    assert (repr(again), again.notes, again.loss) == (repr(study), study.notes, "squared")


def test_one_regressor_is_tested_by_its_squared_error(numbers):
    study = simulate_type_one(numbers, (LinearRegression(), U), 40, runs=100, rng=3)
    rows = np.random.default_rng(3).integers(400, size=(100, 40))
    folds = np.array([squared_errors(numbers, row, U) for row in rows])
    p = stats.ttest_1samp(folds, folds.mean(), axis=1).pvalue
    assert study.estimates == pytest.approx(folds.mean(1)) and study.type_one() == (p < 0.05).mean()
    assert study.notes == (Note("data", "squared error, because the learner is a regressor"),)
    assert study.headline().startswith(
        "LinearRegression on 4 features on given data, n = 40, squared error: rho "
    )
    assert simulate_type_one("digits", "1nn", 20, runs=100).notes == ()


@pytest.mark.parametrize("unit", [2.0**-50, 2.0**50])
def test_the_unit_of_the_target_changes_no_test(numbers, unit):
    X, y = numbers
    both, how = (
        [(LinearRegression(), U), (LinearRegression(), V)],
        {"tests": "all", "repeats": 2, "rope": 0},
    )
    found, scaled = (
        simulate_comparison((X, target), *both, 20, folds=5, runs=3, **how)
        for target in (y, y * unit)
    )
    assert scaled.pvalues == pytest.approx(found.pvalues) and not np.isnan(found.pvalues).any()
    alone, other = (
        simulate_type_one((X, target), both[0], 20, folds=2, runs=100) for target in (y, y * unit)
    )
    assert other.type_one() == alone.type_one() and other.zero_share == alone.zero_share == 0


@pytest.mark.parametrize(
    "model",
    [
        KNeighborsRegressor(1),
        make_pipeline(StandardScaler(), Ridge()),
        GridSearchCV(Ridge(), {"alpha": [0.1, 1]}, cv=2),
    ],
    ids=["nearest neighbor", "pipeline", "grid search"],
)
def test_every_kind_of_regressor_is_known(numbers, model):
    samples, fold = samples_of(numbers, 40, runs=2), np.arange(40) % 5
    assert learners.loss_of(model) == learners.loss_of((model, U)) == "squared"
    for row, losses in zip(samples.rows, estimator_losses(model, samples, fold), strict=True):
        X, y = numbers[0][row], numbers[1][row]
        assert losses == pytest.approx(
            (cross_val_predict(model, X, y, cv=PredefinedSplit(fold)) - y) ** 2
        )


def test_random_regressors_follow_the_seed(numbers):
    forest = RandomForestRegressor(2)
    found = [
        simulate_type_one(numbers, forest, 20, folds=2, runs=100, rng=seed).estimates
        for seed in (0, 0, 1)
    ]
    assert (found[0] == found[1]).all() and (found[0] != found[2]).any()


def test_the_classes_of_the_digits_are_numbers_for_a_regressor():
    study = simulate_type_one("ten_digits", Ridge(), 40, runs=100)
    assert 2 < study.mean < 40


@pytest.mark.parametrize(
    "call, message",
    [
        (
            lambda p: simulate_comparison(p, LinearRegression(), "1nn", 20),
            "first and second must both be classifiers or both regressors, because their losses are compared; LinearRegression is "
            "a regressor and 1nn is a classifier",
        ),
        (
            lambda p: simulate_comparison(p, (LogisticRegression(), U), (Ridge(), V), 20),
            "first and second must both be classifiers or both regressors, because their losses are compared; Ridge on 4 features "
            "is a regressor and LogisticRegression on 4 features is a classifier",
        ),
        (
            lambda p: simulate_comparison(p, Ridge(), Ridge(), 20, tests="McNemar, pooled"),
            "tests must name a test that does not count errors, because the learners are regressors; got 'McNemar, pooled'",
        ),
        (
            lambda p: simulate_type_one((p[0], np.where(p[1] > 0, "high", "low")), Ridge(), 20),
            "y must hold numbers if the learner is a regressor; got text such as 'high'",
        ),
        (
            lambda p: simulate_type_one((p[0], p[1] * 1e145), Ridge(), 20),
            "y must have a largest absolute value from 1e-140 to 1e+140, so that squares are "
            "numbers; got LARGEST. Use another unit",
        ),
        (
            lambda p: simulate_type_one((p[0], np.where(p[1] > 0, np.inf, p[1])), Ridge(), 20),
            "y must be finite; item ",
        ),
        (
            lambda p: simulate_type_one((p[0], np.where(p[1] > 0, np.nan, p[1])), Ridge(), 20),
            "y must not be missing; item ",
        ),
    ],
    ids=["mixed", "mixed on features", "McNemar", "text", "too large", "infinite", "missing"],
)
def test_what_regressors_cannot_do(numbers, call, message):
    with pytest.raises(ValueError) as error:
        call(numbers)
    assert str(error.value).startswith(
        message.replace("LARGEST", f"{1e145 * np.abs(numbers[1]).max():g}")
    )


# sizes


@pytest.mark.parametrize(
    "call, message",
    [
        (
            lambda: gaussian_population(features=10**6),
            "size and features would need an array of 20,000 x 2,000,000 numbers; the limit is 268,435,456",
        ),
        (
            lambda: simulate_type_one("digits", "1nn", 20_000, runs=100),
            "n would need an array of 20,000 x 20,000 numbers; the limit is 268,435,456",
        ),
        (
            lambda: simulate_comparison("digits", "1nn", "centroid", 1000, runs=10**9),
            "runs and n would need an array of 1,000,000,000 x 1,000 numbers; the limit is 268,435,456",
        ),
    ],
)
def test_arrays_beyond_any_memory_are_refused(call, message):
    with pytest.raises(ValueError) as error:
        call()
    assert str(error.value) == message


def test_distances_of_many_features_are_made_in_parts(monkeypatch):
    X, y = gaussian_population(3200, features=3)
    samples, fold = samples_of((X, y), 40), np.arange(40) % 5
    whole = samples.distances(None)
    monkeypatch.setattr(learners, "CHUNK", 500)
    assert (Samples(samples.population, samples.rows).distances(None) == whole).all()
    assert nearest_neighbor(samples, fold).shape == (6, 40)


def test_one_feature_is_not_several():
    assert learners.as_learner("learner", ("1nn", [3]))[1] == "1nn on 1 feature"


# refusals


@pytest.mark.parametrize(
    "call, message",
    [
        (
            lambda: exchangeable_population([[1, 2], [3, np.nan]], [0, 1]),
            "X must be finite; item 1, feature 1 is nan",
        ),
        (lambda: exchangeable_population([[1, 2], [3, 4]], [0]), "y must have 2 entries; got 1"),
        (
            lambda: exchangeable_population([[1, 2], [3, 4]], [0, np.nan]),
            "y must not be missing; item 1 is",
        ),
        (
            lambda: simulate_type_one("digit", "1nn", 20),
            "population must be one of 'digits', 'ten_digits'; got 'digit' (did you mean 'digits'?)",
        ),
        (
            lambda: simulate_type_one("digits", "2nn", 20),
            "learner must be one of '1nn', 'centroid'; got '2nn' (did you mean '1nn'?)",
        ),
        (
            lambda: simulate_type_one("digits", "1nn", 25),
            "n must be a multiple of the 10 folds; got 25",
        ),
        (
            lambda: simulate_type_one("digits", "1nn", 20, folds=1),
            "folds must be a whole number of at least 2; got 1",
        ),
        (
            lambda: simulate_type_one("digits", "1nn", 20, runs=5),
            "runs must be a whole number of at least 100; got 5",
        ),
        (
            lambda: simulate_type_one(([[1.0], [np.nan]], [0, 1]), "1nn", 20),
            "population must be finite; item 1, feature 0 is nan",
        ),
        (
            lambda: simulate_type_one(([1.0, 2], [0, 1]), "1nn", 20),
            "population must be (X, y) with items as rows and features as columns of X; got shape (2,)",
        ),
        (
            lambda: simulate_type_one(([[1.0], [2]], [0, 0]), "1nn", 20),
            "population must have at least 2 classes; all items are 0",
        ),
        (lambda: simulate_type_one(([[1.0], [2]], [0]), "1nn", 20), "y must have 2 entries; got 1"),
        (
            lambda: simulate_comparison("digits", "1nn", "centroid", 20, tests="half-sample rho"),
            "n must be at least 40 for half-sample rho, because each half needs 2 items per fold; got 20",
        ),
        (
            lambda: simulate_comparison("digits", "1nn", "centroid", 20, tests=()),
            f"tests must name at least one of {', '.join(map(repr, TESTS))}",
        ),
        (
            lambda: simulate_type_one("digits", "1nn", 20, runs=100).type_one(mean=np.nan),
            "mean must be a number; got nan",
        ),
        (
            lambda: simulate_comparison(
                "digits", "1nn", "centroid", 20, tests=["naive t, repeated"]
            ),
            "repeats must be at least 2 for the repeated tests; got 1",
        ),
        (
            lambda: simulate_comparison(
                "digits", "1nn", "centroid", 20, samples=np.zeros((3, 10), int)
            ),
            "samples must be whole row numbers of shape (runs, 20) with at least 2 runs; got shape (3, 10) of int64",
        ),
        (
            lambda: simulate_comparison(
                "digits", "1nn", "centroid", 20, samples=np.full((3, 20), 1797)
            ),
            "samples must be rows 0 to 1796 of the population; got 1797 to 1797",
        ),
        (
            lambda: simulate_comparison("digits", ("1nn", [2, 64]), "1nn", 20, runs=5),
            "columns must be from 0 to 63, the features of the population; got 2 to 64",
        ),
        (
            lambda: simulate_comparison("digits", ("1nn", []), "1nn", 20, runs=5),
            "columns of first must be a list of feature numbers; got float64 of shape (0,)",
        ),
        (
            lambda: simulate_comparison("digits", "1nn", ("1nn", np.arange(64) < 3), 20, runs=5),
            "columns of second must be a list of feature numbers; got bool of shape (64,)",
        ),
        (
            lambda: simulate_type_one((np.zeros((2, 0)), [0, 1]), "1nn", 20),
            "population must be (X, y) with items as rows and features as columns of X; got shape (2, 0)",
        ),
        (
            lambda: simulate_type_one(([[1e200], [2]], [0, 1]), "1nn", 20),
            "population must have a largest absolute value from 1e-140 to 1e+140, so that "
            "squares are numbers; got 1e+200. Use another unit",
        ),
        (
            lambda: exchangeable_population(np.zeros((3, 3)), [0, 1, 0]),
            "X must contain numbers and have an even number of features, half for each learner; got float64 of shape (3, 3)",
        ),
    ],
)
def test_wrong_arguments(call, message):
    with pytest.raises(ValueError) as error:
        call()
    assert str(error.value) == message


def test_what_is_neither_named_nor_given_is_refused():
    rule = "must be one of 'digits', 'ten_digits', or (X, y); got NoneType"
    refused(lambda: simulate_type_one(None, "1nn", 20), "population", rule, kind=WrongType)
    rule = "must be one of '1nn', 'centroid' or have fit and predict"
    refused(lambda: simulate_type_one("digits", 3, 20), "learner", rule, "got 3", WrongType)
