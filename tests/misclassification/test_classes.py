"""Theory and simulation of the shares of any number of classes: against each other and the closed forms of two."""

import numpy as np
import pytest

import workbench as wb
from workbench.misclassification.methods import estimators
from workbench.simulations.misclassification import draw_classes, whole_items

SHARES, NEW = [0.5, 0.3, 0.2], [0.35, 0.3, 0.35]
READING = np.array([[0.88, 0.08, 0.04], [0.1, 0.8, 0.1], [0.03, 0.07, 0.9]])
N, SIZE, NEW_SIZE, RUNS = 600, 30_000, 15_000, 6_000


@pytest.mark.parametrize("rates, size", [("process", None), ("frame", 4 * 10**6)])
@pytest.mark.parametrize(
    "base, new, p00, p11", [(0.3, 0.6, 0.9, 0.8), (0.75, 0.5, 0.85, 0.9), (0.98, 0.9, 0.94, 0.97)]
)
def test_two_classes_are_those_of_the_closed_forms(base, new, p00, p11, rates, size):
    n = 10**6  # what is of second order is a millionth of the rest
    closed = wb.estimator_theory(base, new, p00, p11, n, size=size, new_size=10**5, rates=rates)
    found = wb.shares_theory(
        [1 - base, base],
        [1 - new, new],
        [[p00, 1 - p00], [1 - p11, p11]],
        n,
        size=size,
        new_size=10**5,
        rates=rates,
    )
    for method in estimators():
        assert found.variance[method][1] == pytest.approx(closed.variance[method], rel=2e-4), method
        assert found.bias[method].sum() == pytest.approx(0, abs=1e-9)
        if method != "mle":
            assert found.bias[method][1] == pytest.approx(
                closed.bias[method], rel=1e-3, abs=2e-10
            ), method


def simulated(rates):
    return wb.simulate_shares(
        SHARES, NEW, READING, N, SIZE, new_size=NEW_SIZE, runs=RUNS, rng=1, rates=rates
    )


@pytest.mark.slow
@pytest.mark.parametrize("rates", ["process", "frame"])
def test_theory_of_three_classes_is_what_is_simulated(rates):
    study = simulated(rates)
    theory = wb.shares_theory(SHARES, NEW, READING, N, size=SIZE, new_size=NEW_SIZE, rates=rates)
    for method in estimators():
        assert not study.undefined[method].any()
        off = study.bias[method][0] - theory.bias[method]
        assert np.abs(off / study.bias_error[method][0]).max() < 4, method
        ratio = study.sd[method][0] / theory.variance[method] ** 0.5
        assert (
            np.abs(ratio - 1).max() < 0.03 + 4 * (study.sd_error[method] / study.sd[method]).max()
        ), method


def test_a_bias_of_order_one_over_n_is_seen():
    """Few audited items: simulated biases of what divides are those of theory, and far from 0."""
    study = wb.simulate_shares(SHARES, NEW, READING, 150, 10**6, runs=40_000, rng=2)
    theory = wb.shares_theory(SHARES, NEW, READING, 150)
    bias, error = study.bias["mixed"][0], study.bias_error["mixed"][0]
    assert np.abs(bias - theory.bias["mixed"]).max() < 4 * error.max()
    assert np.abs(theory.bias["mixed"]).max() > 5 * error.max()


def test_periods_have_the_same_audits():
    study = wb.simulate_shares(SHARES, [NEW, SHARES], READING, N, SIZE, runs=300, rng=3)
    alone = wb.simulate_shares(SHARES, NEW, READING, N, SIZE, runs=300, rng=3)
    assert study.bias["mle"][0].tolist() == alone.bias["mle"][
        0
    ].tolist() and study.new_shares.shape == (2, 3)
    assert len(study.rows()) == 2 * len(estimators()) * 3
    rmse = np.sqrt((study.rmse["calibration"] ** 2).sum(1))
    assert rmse[1] < rmse[0] / 3  # without a shift calibration is right


def test_a_frame_with_the_very_rates_never_varies():
    items, rng = np.array([50, 30, 20]), np.random.default_rng(0)
    table, counted = draw_classes(items, READING, 40, 200, rates="frame", rng=rng)
    cells = np.stack([whole_items(READING[i], items[i]) for i in range(3)])
    assert (
        (table <= cells).all()
        and (table.sum((1, 2)) == 40).all()
        and (counted == cells.sum(0)).all()
    )
    assert table.mean(0) == pytest.approx(0.4 * cells, abs=0.6)
    table, counted = draw_classes(items, READING, 40, 200, rng=rng)
    assert (
        (counted.sum(1) == 100).all()
        and np.ptp(counted[:, 0]) > 5
        and (table.sum(1) <= counted).all()
    )


def test_a_matrix_that_cannot_be_inverted_leaves_what_needs_no_inverse():
    same = np.array([[0.6, 0.2, 0.2], [0.6, 0.2, 0.2], [0.1, 0.1, 0.8]])
    theory = wb.shares_theory(SHARES, NEW, same, N)
    lost = {method for method in estimators() if np.isnan(theory.bias[method]).any()}
    assert lost == {"misclassification", "mixed", "mle"}
    assert (
        "least error classify_and_count" in theory.headline()
        and "largest baseline" in theory.headline()
    )


def test_an_audit_is_studied_at_other_shares():
    audit = wb.ConfusionCounts(
        (1000 * np.array(SHARES)[:, None] * READING).round().astype(int), ["a", "b", "c"]
    )
    rows = wb.shift_study(audit, [14_000, 9_000, 7_000], ".35, .3, .35; .5, .3, .2", runs=2000)
    assert len(rows) == 2 * len(estimators()) * 3
    for row in rows:
        assert row["bias"] == pytest.approx(row["simulated_bias"], abs=4 * row["sd"] / 2000**0.5)
        assert row["sd"] == pytest.approx(row["simulated_sd"], rel=0.12)
    baseline = [row for row in rows if row["method"] == "baseline" and row["period"] == 1]
    assert [(row["label"], round(row["bias"], 3)) for row in baseline] == [
        ("a", 0.15),
        ("b", 0),
        ("c", -0.15),
    ]


@pytest.mark.parametrize(
    "wrong, message",
    [
        (
            {"shares": [0.5, 0.5, 0]},
            "shares must hold at least two proportions, all above 0; got [0.5, 0.5, 0.0]",
        ),
        (
            {"shares": [0.5, 0.3, 0.3]},
            "shares must hold proportions, none below 0, that add up to 1; got [0.5, 0.3, 0.3]",
        ),
        (
            {"new_shares": [0.5, 0.5]},
            "new_shares and reading must have 3 classes, as many as shares; got shapes (2,) and (3, ",
        ),
        ({"reading": 2 * READING}, "reading must hold proportions, none below 0, that add up to 1"),
        ({"n": 1}, "n must be a whole number of at least 2; got 1"),
        ({"rates": "both"}, "rates must be one of 'process', 'frame'; got 'both'"),
    ],
)
def test_mistakes_are_told(wrong, message):
    with pytest.raises(ValueError) as caught:
        wb.shares_theory(
            **{"shares": SHARES, "new_shares": NEW, "reading": READING, "n": N} | wrong
        )
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    "text, message",
    [
        (
            ".5, x, .2",
            "new_shares must be proportions separated by commas, with periods separated by semicolons; got '.5, x, .2'",
        ),
        (
            ".5, .3, .2; 1",
            "new_shares must have the same number of proportions in every period; got '.5, .3, .2; 1'",
        ),
        (".5, .5", "new_shares must have one proportion per class (0, 1, 2); got '.5, .5'"),
    ],
)
def test_mistakes_in_text_are_told(text, message):
    with pytest.raises(ValueError) as caught:
        wb.shift_study(wb.ConfusionCounts(np.full((3, 3), 20)), [100, 100, 100], text)
    assert str(caught.value) == message
