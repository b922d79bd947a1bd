"""Printed numbers of the papers, each computed here from scratch, against the row that a replay has for it.

Nothing of the replays' own code is used: a row is found by its item and its printed number, and what it says is
compared with enumeration, scipy.stats or arithmetic written out below.
"""

import functools
import itertools
import math

import numpy as np
import pytest
from scipy import stats

import workbench as wb

NINE = (1, 1000, 2, 4, 2, 1050, 1200, 1, 1300)
LOW, HIGH = [v for v in NINE if v < 100], [v for v in NINE if v > 100]
# negative sites of six, per patient: 61 patients, 153 sites
LEPROSY = [0] * 17 + [1] * 11 + [2] * 4 + [3] * 4 + [4] * 7 + [5] * 14 + [6] * 4
STUDIES = ((0.5, 0.6, 0.7), (0.98, 0.94, 0.97), (0.75, 0.85, 0.9))
NEW = ((0.3, 0.7), (0.9,), (0.25, 0.9))  # the ends that are far from the share at the audit


@functools.cache
def rows(name):
    return wb.replay(name).rows()


def stratified_variance(first, second):
    totals = [
        5 * np.mean(a) + 4 * np.mean(b)
        for a in itertools.combinations(LOW, first)
        for b in itertools.combinations(HIGH, second)
    ]
    return np.var(totals)


def random_variance():
    return np.var([9 * np.mean(pair) for pair in itertools.combinations(NINE, 2)])


def patient_error():
    shares = np.array(LEPROSY) / 6
    return 100 * shares.std(ddof=1) / len(shares) ** 0.5


def binomial_error():
    return 100 * (153 / 366 * (1 - 153 / 366) / 366) ** 0.5


def naive_size(rho, folds=10):
    critical = stats.t.ppf(0.975, folds - 1)
    return 200 * stats.t.sf(critical * (1 - rho) ** 0.5, folds - 1)


def alleged_p(rho, folds=10):
    critical = stats.t.ppf(0.975, folds - 1)
    return 200 * stats.t.sf(critical / (1 - rho) ** 0.5, folds - 1)


def times(a, b, modulus):
    """Product of polynomials over the integers modulo 3, lowest coefficient first."""
    product = [0] * (2 * len(a))
    for (i, x), (j, y) in itertools.product(enumerate(a), enumerate(b)):
        product[i + j] = (product[i + j] + x * y) % 3
    for k in range(len(product) - 1, len(a) - 1, -1):
        factor = product[k]
        for j, c in enumerate(modulus):
            product[k - len(modulus) + 1 + j] = (product[k - len(modulus) + 1 + j] - factor * c) % 3
    return product[: len(a)]


def order(element, modulus):
    power, k = list(element), 1
    while power != [1, 0, 0, 0, 0]:
        power, k = times(power, element, modulus), k + 1
    return k


def with_replacement(right, size, n):
    return np.var(
        [np.mean(s) for s in itertools.product([1] * right + [0] * (size - right), repeat=n)]
    )


def two_strata():
    """Variance of the stratified share, all samples with replacement of 3 of 5 (3 right) and 2 of 4 (1 right)."""
    first = [np.mean(s) for s in itertools.product([1, 1, 1, 0, 0], repeat=3)]
    second = [np.mean(s) for s in itertools.product([1, 0, 0, 0], repeat=2)]
    return np.var([(5 * a + 4 * b) / 9 for a, b in itertools.product(first, second)])


def least_power(base, needed):
    return next(base**b for b in range(1, 20) if (base**b - 1) // (base - 1) >= needed)


def points_of_projective_space(q, dimension):
    vectors = [v for v in itertools.product(range(q), repeat=dimension) if any(v)]
    return len({min(tuple(c * x % q for x in v) for c in range(1, q)) for v in vectors})


def lines_sum(sizes):
    """n times V(random) - V(proportional), all strata half right."""
    N = sum(sizes)
    return 0.25 * N / (N - 1) - sum(m / N * 0.25 * m / (m - 1) for m in sizes)


def neyman(k):
    size, sd = np.array([100] + [1000] * 9), np.array([100] + [0.1] * 9)
    return 1000 * (size * sd / (size * sd).sum())[k]


WRONG = "wrong as printed, right when corrected"
OLD, MENDED, G, X1 = (1, 2, 0, 0, 0, 1), (1, 0, 1, 0, 1, 1), [2, 0, 0, 2, 2], [1, 1, 0, 0, 0]
# item, printed, ours from scratch, verdict
NUMBERS = [
    (
        "micheals-boult/kish",
        0.074,
        lambda: 2 * stats.norm.sf(stats.norm.ppf(0.975) / 1.2**0.5),
        "holds",
    ),
    ("micheals-boult/cochran", 366, lambda: 6 * len(LEPROSY), "holds"),
    ("micheals-boult/cochran", 153, lambda: sum(LEPROSY), "holds"),
    ("micheals-boult/cochran", 41.8, lambda: 100 * 153 / 366, "holds"),
    ("micheals-boult/cochran", 2.58, binomial_error, "holds"),
    ("micheals-boult/cochran", 4.65, patient_error, "holds"),
    ("micheals-boult/cochran", 1.8, lambda: patient_error() / binomial_error(), "holds"),
    ("micheals-boult/eq12", 8, lambda: 7, WRONG),
    ("micheals-boult/eq15", 512, lambda: 2 ** math.ceil(math.log2(483 + 1)), "holds"),
    ("micheals-boult/eq18", 729, lambda: least_power(3, 256), "holds"),
    ("micheals-boult/eq18", 242, lambda: points_of_projective_space(3, 5), WRONG),
    ("micheals-boult/eq19", 3.375, lambda: 27 / 9, WRONG),
    ("micheals-boult/definition", 64, lambda: 3**2, WRONG),
    ("micheals-boult/eq25", 26, lambda: points_of_projective_space(3, 3), WRONG),
    ("micheals-boult/eq25", 24, lambda: points_of_projective_space(5, 2), WRONG),
    ("micheals-boult/eq21", 4, lambda: 2 * 2, "holds"),
    ("micheals-boult/eq21", 16, lambda: 2 * 4, WRONG),
    ("micheals-boult/eq21", 64, lambda: 2 * 8, WRONG),
    ("micheals-boult/fig1", 242, lambda: order(G, OLD), WRONG),
    ("micheals-boult/fig1", 242, lambda: order(X1, OLD), "holds"),
    ("micheals-boult/section7.4", 50, lambda: 50 * 2 - 50, "holds"),
    ("nguyen/introduction", 1.3e7, random_variance, WRONG),
    ("nguyen/introduction", 2e5, lambda: stratified_variance(1, 1), "holds"),
    (
        "nguyen/introduction",
        46,
        lambda: random_variance() / stratified_variance(1, 1),
        "does not hold",
    ),
    ("nguyen/introduction", 1e5, lambda: stratified_variance(1, 2), "holds"),
    ("nguyen/introduction", 917, lambda: neyman(0), "holds"),
    ("nguyen/introduction", 9, lambda: neyman(1), "holds"),
    (
        "nguyen/eq1",
        sum(n * (n - 2) * np.var(y) / 2 for n, y in ((5, LOW), (4, HIGH))) / 81,
        lambda: stratified_variance(2, 2) / 81,
        WRONG,
    ),
    (
        "nguyen/section3.2",
        math.comb(7, 3),
        lambda: sum(1 for a in range(6) for b in range(6 - a)),
        WRONG,
    ),
    ("kloos/table1", 1700, lambda: 1000 * 0.98 + 9000 * 0.08, "holds"),
    ("kloos/table1", 17, lambda: 1700 / 100, "holds"),
    ("grandvalet-bengio/proposition2", 26, lambda: naive_size(0.7), WRONG),
    ("grandvalet-bengio/proposition2", 0.2, lambda: alleged_p(0.7), WRONG),
    ("grandvalet-bengio/proposition2", 0.05, lambda: 0.05, "holds"),
    ("grandvalet-bengio/proposition2", 0.7, lambda: 0.7 / (10 - 9 * 0.7), "does not hold"),
    ("grandvalet-bengio/section3", 16, lambda: 20 - 5 + 1, "holds"),
    (
        "kumar-raj/proposition1",
        8 * 5 / 8 * 3 / 8 / (7 * 3),
        lambda: with_replacement(5, 8, 3),
        WRONG,
    ),
    ("kumar-raj/proposition2", 0.25 * 15 / 16 / 3, lambda: with_replacement(5, 8, 3), "holds"),
    ("kumar-raj/proposition3", 25 / 81 * 0.3 / 3 + 16 / 81 * 0.25 / 2, two_strata, WRONG),
    (
        "kumar-raj/proposition4",
        (25 * with_replacement(3, 5, 3) + 16 * with_replacement(1, 4, 2)) / 81,
        two_strata,
        "holds",
    ),
    ("kumar-raj/eq13", 0.16, lambda: np.std([1] * 8 + [0] * 2), WRONG),
    (
        "kumar-raj/eq14",
        0.25 * -sum((20 - m) / (20 * 19 * (m - 1)) for m in (4, 6, 10)),
        lambda: lines_sum((4, 6, 10)),
        WRONG,
    ),
    ("kumar-raj/fig1", 0.6, lambda: (12 * 1 + 8 * 0) / 20, "holds"),
    ("kumar-raj/section4.3", 10, lambda: 23 - 12.5, "holds"),
    ("kumar-raj/section4.3", 11, lambda: 27 - 16, "holds"),
    ("kloos/table2", 0.565, lambda: 2 * 0.55 - (0.7 * 0.55 + 0.4 * 0.45), WRONG),
]


def printed_number(row):
    try:
        return float(row["printed"])
    except ValueError:
        return math.nan


@pytest.mark.parametrize(
    "item, printed, ours, verdict",
    NUMBERS,
    ids=[f"{item} {printed:.6g} {verdict}" for item, printed, _, verdict in NUMBERS],
)
def test_a_printed_number(item, printed, ours, verdict):
    found = [row for row in rows(item) if printed_number(row) == pytest.approx(printed, rel=1e-12)]
    ours = ours()
    assert verdict in [
        row["verdict"]
        for row in found
        if row["ours"] == pytest.approx(ours, abs=4 * row["error"] + 1e-9 * abs(ours) + 1e-12)
    ]


def rate_variance_exactly(rate, share, n):
    """Variance of hits / ones, ones binomial and at least one of either class."""
    ones = np.arange(1, n)
    weight = stats.binom.pmf(ones, n, share)
    return rate * (1 - rate) * (weight / ones).sum() / weight.sum()


@pytest.mark.parametrize("study", range(3))
def test_the_variances_of_lemma_1(study):
    base, p00, p11 = STUDIES[study]
    found = [row for row in rows("kloos/lemma1") if row["claim"].startswith(f"study {study + 1}:")][
        :2
    ]
    for row, rate, share in zip(found, (p11, p00), (base, 1 - base), strict=True):
        n = 1000
        printed = rate * (1 - rate) / (n * share) * (1 + (1 - share) / (n * share))
        assert wb.rate_variance(rate, share, n) == pytest.approx(printed, rel=1e-12)
        exact = rate_variance_exactly(rate, share, n)
        assert row["verdict"] == "holds" and abs(row["ours"] - exact / printed) < 4 * row["error"]


def mixed(cells, shift_counted):
    """Mixed estimate from cells n00, n01, n10, n11 of an audit, as a function of their shares."""
    n00, n01, n10, n11 = cells
    counted, new = shift_counted
    d = n00 / (n00 + n01) + n11 / (n10 + n11) - 1
    return n10 / (n00 + n10) * (1 - counted) + n11 / (n01 + n11) * counted + (new - counted) / d


@pytest.mark.parametrize(
    "study, end", [(study, end) for study, ends in enumerate(NEW) for end in range(len(ends))]
)
def test_the_variance_of_theorem_1(study, end):
    """The delta method by numerical derivatives: multinomial cells, infinitely many items."""
    base, p00, p11 = STUDIES[study]
    new, n = NEW[study][end], 100_000
    cells = np.array([(1 - base) * p00, (1 - base) * (1 - p00), base * (1 - p11), base * p11])
    counted = tuple(a * p11 + (1 - a) * (1 - p00) for a in (base, new))
    step = 1e-6
    gradient = np.array(
        [
            (mixed(cells + step * e, counted) - mixed(cells - step * e, counted)) / (2 * step)
            for e in np.eye(4)
        ]
    )
    exact = (gradient**2 @ cells - (gradient @ cells) ** 2) / n
    A, B, d = p00 * (1 - p00), p11 * (1 - p11), p00 + p11 - 1
    b1 = counted[0]
    C = (new - base) * base * (1 - base) * (p00 - p11) * d / (n * b1 * (1 - b1))
    assert wb.estimator_theory(base, new, p00, p11, n).variance["mixed"] == pytest.approx(
        exact, rel=2e-3
    )
    text = f"study {study + 1}, proportion {base:g} to {new:g}: "
    row = next(row for row in rows("kloos/theorem1") if row["claim"].startswith(text))
    # as printed the covariance counts once
    assert row["ours"] == pytest.approx(exact / (exact - C), abs=4 * row["error"] + 2e-3)
    assert abs(C) / exact < 0.01 or row["verdict"] == WRONG
    assert A + B > 0


@pytest.mark.parametrize(
    "k, printed",
    [
        (1, "mu2"),
        (2, "-w"),
        (3, "-g"),
        (4, "-m/n w - (n-m)/n g"),
        (5, "-(m-1)/(n-1) w - (n-m)/(n-1) g"),
    ],
)
def test_the_biases_of_table_1(k, printed):
    """Expectations of the estimates from simulated losses with the same covariance, against the replay's numbers."""
    found = rows("grandvalet-bengio/table1")[k - 1]
    rng = np.random.default_rng(0)  # the setting of the table: K = 5, m = 4
    gamma = rng.uniform(0, 0.2)
    omega = gamma + rng.uniform(0, 0.3)
    sigma2, mu, K, m = omega + rng.uniform(0.1, 1), rng.normal(), 5, 4
    n, draws = K * m, 400_000
    rng = np.random.default_rng(1)
    # shared by all, shared by a fold, own
    e = (
        mu
        + gamma**0.5 * rng.standard_normal((draws, 1, 1))
        + (omega - gamma) ** 0.5 * rng.standard_normal((draws, K, 1))
        + (sigma2 - omega) ** 0.5 * rng.standard_normal((draws, K, m))
    )
    folds, mean = e.mean(2), e.mean((1, 2))
    squares, within = (e**2).sum((1, 2)), ((e.sum(2) ** 2) - (e**2).sum(2)).sum(1)
    between = (n * mean) ** 2 - squares - within
    s1, s2, s3 = squares / n, within / (n * (m - 1)), between / (n * (n - m))
    estimate = {
        1: mean**2,
        2: s1 / n - (n + 1 - m) / n * s2 + (n - m) / n * s3,
        3: folds.var(1, ddof=1) / K,
        4: e.var(2, ddof=1).mean(1) / n,
        5: e.reshape(draws, n).var(1, ddof=1) / n,
    }[k]
    theta = (sigma2 + (m - 1) * omega + (n - m) * gamma) / n
    assert found["verdict"] == "holds"
    assert found["ours"] == pytest.approx(
        estimate.mean() - theta, abs=4 * estimate.std() / draws**0.5
    )
    said = {
        1: mu**2,
        2: -omega,
        3: -gamma,
        4: -(m * omega + (n - m) * gamma) / n,
        5: -((m - 1) * omega + (n - m) * gamma) / (n - 1),
    }[k]
    assert found["printed"] == pytest.approx(said, rel=1e-12), printed


def test_the_bound_of_theorem_4():
    """Its two inequalities written out, and the ratio that a best allocation gives, by trying all sizes."""
    for r, copies, budget in ((4, 12, 12), (5, 20, 15)):
        late = copies / 4 / (budget / r + 1) + (copies - 1) / budget
        best = (6 * copies - 3) / budget
        assert wb.streaming_lower_bound(r, copies, budget) == pytest.approx(late / best)
        stratum, values = wb.adversarial_stream(r, copies)
        spread = np.array(
            [(stratum == h).sum() * values[stratum == h].std() for h in range(1, r + 1)]
        )
        assert math.sqrt(copies) / 2 <= spread[0] <= math.sqrt(copies)
        assert math.sqrt(copies) / 2 <= spread[1:].sum() <= math.sqrt(copies)
        assert spread[1:] == pytest.approx(np.full(r - 1, math.sqrt(copies - 1) / (r - 1)))


def test_at_least_forty_numbers_are_checked():
    assert len(NUMBERS) + 6 + 6 + 5 >= 40
