"""The interval that may be looked at after every label, against enumeration and plain loops."""

import functools
import itertools
import math

import numpy as np
import pytest
import scipy.optimize
from anytime_coverage import SETTINGS, draw, miss_rate, missed, width_ratio
from refusals import refused

from workbench import anytime_interval, labeling_order
from workbench.stratified import anytime
from workbench.stratified.anytime import log_evidence, log_winnings

# sizes, strata of the labels, labels, expectation, limits: computed by another program
GOLDEN = [
    ([60], "0" * 20, "11111111101110111110", None, (0.5833, 0.9500)),
    ([40, 60], "1" * 15, "110111110111111", 0.85, (0.3500, 0.9800)),
    (
        [4, 36, 80],
        "012012012012222222221221221221",
        "111011110011111110111111111111",
        0.85,
        (0.7250, 0.9667),
    ),
]


def digits(text):
    return [int(each) for each in text]


@pytest.mark.parametrize("size, stratum, label, expected, limits", GOLDEN)
def test_known_intervals(size, stratum, label, expected, limits):
    assert tuple(
        anytime_interval(size, digits(stratum), digits(label), expected=expected)
    ) == pytest.approx(limits, abs=1e-4)


def test_known_evidence():
    found = [log_evidence([60], [0] * 20, digits(GOLDEN[0][2]), total) for total in (34, 35, 57)]
    assert found == pytest.approx([3.4701, 2.9277, 0.3339], abs=3e-4)


def test_without_the_worst_composition_the_interval_is_too_short(monkeypatch):
    monkeypatch.setattr(
        anytime, "_worst_composition", lambda path, total, atoms: np.zeros(atoms.size)
    )
    size, stratum, label, expected, limits = GOLDEN[1]
    low, _ = anytime_interval(size, digits(stratum), digits(label), expected=expected)
    assert low == pytest.approx(0.57, abs=0.005)
    assert low - limits[0] > 0.2


def terms(size, stratum, label, total, p):
    """Per label: m, and what C adds to it, by the definition word by word."""
    drawn, good, seen, found = [0] * len(size), [0] * len(size), 0, []
    for t, (h, y) in enumerate(zip(stratum, label, strict=True)):
        m = (total - seen) / (sum(size) - t)
        bet = (p - m) / (m * (1 - m)) if 0 < m < 1 else 0.0
        found.append((m, bet, h, good[h], size[h] - drawn[h], y))
        drawn[h], good[h], seen = drawn[h] + 1, good[h] + y, seen + y
    return found, drawn, good


def gamma(size, stratum, label, total, p):
    """The largest denominator over all compositions, by a general optimizer from several starts."""
    found, drawn, good = terms(size, stratum, label, total, p)

    def negative(c):
        return -sum(math.log(1 + bet * ((c[h] - x) / left - m)) for m, bet, h, x, left, _ in found)

    box = [(x, n - d + x) for x, n, d in zip(good, size, drawn, strict=True)]
    same = {"type": "eq", "fun": lambda c: sum(c) - total}
    starts = [[low + share * (high - low) for low, high in box] for share in (0.2, 0.5, 0.8)]
    return -min(
        scipy.optimize.minimize(
            negative,
            start,
            bounds=box,
            constraints=same,
            method="SLSQP",
            options={"maxiter": 300, "ftol": 1e-12},
        ).fun
        for start in starts
    )


@pytest.mark.parametrize(
    "size, stratum, label, total",
    [
        ([8, 12], "111011", "110111", 11),
        ([3, 5, 9], "21202212", "11011101", 12),
        ([6, 7], "0101010101", "1011010011", 9),
        ([6, 12], "1010101011", "0001000100", 9),
    ],
)
def test_evidence_by_plain_loops_and_a_general_optimizer(size, stratum, label, total, monkeypatch):
    stratum, label, atoms = digits(stratum), digits(label), np.array([0.2, 0.6, 0.9])
    monkeypatch.setattr(anytime, "ATOMS", atoms)
    weight = np.sqrt(atoms * (1 - atoms))
    log_e = 0
    for share, p in zip(weight / weight.sum(), atoms, strict=True):
        wins = math.prod(
            p / m if y else (1 - p) / (1 - m)
            for m, *_, y in terms(size, stratum, label, total, p)[0]
        )
        log_e += share * wins * math.exp(-gamma(size, stratum, label, total, p))
    assert log_evidence(size, stratum, label, total) == pytest.approx(math.log(log_e), abs=2e-4)


def sequences(size, right, order):
    """Every sequence of labels with its chance, when items come at random within their strata."""
    for label in itertools.product((0, 1), repeat=len(order)):
        left, good, chance = list(size), list(right), 1.0
        for h, y in zip(order, label, strict=True):
            chance *= (good[h] if y else left[h] - good[h]) / left[h]
            left[h], good[h] = left[h] - 1, good[h] - y
        if chance:
            yield list(label), chance


@pytest.mark.parametrize("right", [(3, 4), (1, 4), (4, 0), (0, 2)])
def test_the_bets_are_a_martingale_and_bound_the_evidence(right):
    size, order = [4, 5], [0, 1, 0, 1, 1, 0, 1]
    mean = np.zeros(len(order))
    for label, chance in sequences(size, right, order):
        won = log_winnings(size, right, order, label, expected=0.85)
        mean += chance * np.exp(won)
        assert log_evidence(size, order, label, sum(right), expected=0.85) <= won[-1] + 1e-9
    assert mean == pytest.approx(1)


@pytest.mark.parametrize("level", [0.5, 0.8])
@pytest.mark.parametrize("right", [(3, 4), (1, 4), (2, 2), (4, 1)])
def test_miss_at_any_time_by_enumeration(right, level):
    size, order = [4, 5], labeling_order([4, 5], 8).tolist()
    truth = sum(right) / sum(size)

    @functools.cache
    def holds(label):
        low, high = anytime_interval(size, order[: len(label)], label, expected=0.85, level=level)
        return low - 1e-9 <= truth <= high + 1e-9

    miss = sum(
        chance
        for label, chance in sequences(size, right, order)
        if not all(holds(tuple(label[:t])) for t in range(1, len(label) + 1))
    )
    assert 0 <= miss <= 1 - level
    assert level == 0.8 or miss > 0


@pytest.mark.parametrize("seed", range(12))
def test_what_is_accepted_is_an_interval_and_all_of_it_is_found(seed):
    rng = np.random.default_rng(seed)
    size = rng.integers(2, 30, rng.integers(1, 5))
    n, level = int(rng.integers(1, size.sum())), (0.5, 0.9, 0.95)[seed % 3]
    order = (
        labeling_order(size, n)
        if seed % 2
        else rng.permutation(np.repeat(np.arange(size.size), size))[:n]
    )
    label = (rng.random(n) < rng.uniform(0.3, 1, size.size)[order]).astype(int)
    evidence = np.array(
        [log_evidence(size, order, label, total, expected=0.85) for total in range(size.sum() + 1)]
    )
    accepted = np.flatnonzero(evidence < -math.log(1 - level))
    assert (np.diff(accepted) == 1).all()
    found = anytime_interval(size, order, label, expected=0.85, level=level)
    assert np.array(tuple(found)) * size.sum() == pytest.approx([accepted[0], accepted[-1]])


def test_edges():
    assert tuple(anytime_interval([4, 6], [], [])) == (0, 1)
    assert tuple(anytime_interval([4, 6], [0], [1])) == pytest.approx((0.1, 1))
    assert anytime_interval([40, 60], labeling_order([40, 60], 30), [1] * 30).high == 1
    assert anytime_interval([40, 60], labeling_order([40, 60], 30), [0] * 30).low == 0
    census = labeling_order([3, 4], 7)
    assert tuple(anytime_interval([3, 4], census, [1, 0, 1, 1, 0, 1, 1])) == pytest.approx(
        (5 / 7, 5 / 7)
    )
    low, high = anytime_interval([3, 400], [0, 0, 0, 1], [0, 1, 0, 1])  # one stratum exhausted
    assert 2 / 403 <= low < high <= 401 / 403


def test_expectations_beyond_the_ends_count_as_the_ends():
    label = digits(GOLDEN[1][2])
    pairs = [
        [tuple(anytime_interval([40, 60], [1] * 15, label, expected=e)) for e in pair]
        for pair in ((0, 0.5), (1, 0.97), (0.1, 0.4))
    ]
    assert all(first == second for first, second in pairs) and pairs[0] != pairs[1]


@pytest.mark.parametrize("k", [0, 12])
def test_the_truth_is_lost_in_few_runs_looking_after_every_label(k):
    runs = 200
    assert miss_rate(SETTINGS[k], runs, rng=k) <= 0.05 + 2 * math.sqrt(0.05 * 0.95 / runs)


def test_the_short_way_to_a_miss_agrees_with_looking_at_every_interval():
    size, right, order = [20, 30], [14, 28], labeling_order([20, 30], 40)
    truth, rng, lost = sum(right) / 50, np.random.default_rng(5), []
    for _ in range(12):
        label = draw(size, right, order, rng)
        seen = [
            anytime_interval(size, order[:t], label[:t], expected=0.85, level=0.6)
            for t in range(1, 41)
        ]
        lost.append(any(not low - 1e-9 <= truth <= high + 1e-9 for low, high in seen))
        assert lost[-1] == missed(size, right, order, label, 0.85, 0.4)
    assert any(lost)


@pytest.mark.parametrize("n, most", [(50, 1.4), (100, 1.5), (600, 1.8)])
@pytest.mark.parametrize("setting", [SETTINGS[0], ([1797], [1575], 600, 0.85, None), SETTINGS[3]])
def test_the_price_of_looking(setting, n, most):
    assert 1.2 < width_ratio(setting, n, 9_000 // n, rng=n) <= most  # Monte Carlo error .005 at 50


@pytest.mark.parametrize(
    ("arguments", "argument", "rule", "told"),
    [
        (([4, 6], [0, 2], [1, 1]), "stratum", "must be at most 1", "label 1 is 2"),
        (([4, 6], [0, 1], [1]), "stratum", "must have 1 entry", "got 2"),
        (([4, 6], [0, 1], [1, 2]), "label", "must be 0 or 1", "label 1 is 2"),
        (([1, 6], [0, 0], [1, 0]), "labels", "must be at most strat", "stratum 0 has 2 of 1"),
        (([0, 6], [1], [1]), "stratum_size", "must be at least 1", "stratum 0 is 0"),
    ],
)
def test_refused(arguments, argument, rule, told):
    refused(lambda: anytime_interval(*arguments), argument, rule, told)


def test_an_expectation_that_is_no_rate():
    rate = "must be a number from 0 to 1"
    refused(lambda: anytime_interval([4, 6], [0], [1], expected=85), "expected", rate, "got 85")
