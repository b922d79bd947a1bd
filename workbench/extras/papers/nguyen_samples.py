"""Nguyen et al.: variance-optimal stratified samples of stored data and streams: VOILA, S-VOILA.

References
----------
.. [1] Nguyen, Shih, Srivastava, Tirthapura & Xu, Stratified random sampling from streaming and
   stored data, EDBT 2019.
"""

import contextlib
import itertools
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy import ndarray
from numpy.random import default_rng

from workbench.allocation.rules import allocate, reduce_sample
from workbench.allocation.streams.sampler import StreamSampler
from workbench.extras.papers import printed_algorithms as printed
from workbench.extras.papers.claims import Correction, bound, equal, every, number, unchecked
from workbench.extras.papers.items import Claims, Figure, Paper, Setting, drawn
from workbench.simulations.allocation import jump_stream, simulate_stream
from workbench.simulations.streams import adversarial_stream, streaming_lower_bound

PAPER = Paper(
    "nguyen",
    "Variance-optimal offline and streaming stratified random sampling",
    "Nguyen, Shih, Srivastava, Tirthapura & Xu, 2019",
    {
        "1": "introduction",
        "2.1": "eq1",
        "3": "eq2",
        "3.1": "eq5 lemma1 algorithm1",
        "3.2": "section3.2 definition1 lemma2 eq6 lemma3 observation1 theorem1 algorithm2",
        "3.2.1": "definition2 lemma4 theorem2 algorithm3",
        "4": "theorem3 algorithm4",
        "5.1": "theorem4",
        "5.2": "algorithm5 algorithm6 lemma5 theorem5",
        "6.2": "fig1 fig2",
        "6.3": "fig3 fig4 fig5",
        "6.4": "fig6 fig7 fig8 fig9 fig10",
        "6.5": "fig11 fig12",
        "6.6": "fig13 fig14 fig15",
    },
)
item = PAPER.item
STRATA = (8, 32, 128, 512, 2048)
FIRST, SECOND = (1, 2, 4, 2, 1), (1000, 1050, 1200, 1300)
EXACT = "the printed number is the variance of samples with replacement"


# section 1 and theory


@item(
    "introduction",
    "Nine values: the variance of stratified samples of two is 46 times smaller, and of three even "
    "smaller; Neyman's rule needs 917 records of 100",
)
def _introduction() -> Claims:
    y = np.array([*FIRST, *SECOND], float)
    totals = [9 * np.mean(s) for s in itertools.combinations(y, 2)]
    uniform = np.var(totals)
    of_first = [5 * np.mean(sample) for sample in itertools.combinations(FIRST, 1)]
    of_second = (
        [4 * np.mean(sample) for sample in itertools.combinations(SECOND, k)] for k in (1, 2)
    )
    two, three = (np.var(np.add.outer(of_first, sums)) for sums in of_second)
    size, sd = [100] + 9 * [1000], [100] + 9 * [0.1]
    neyman = 1000 * np.array(size) * sd / np.dot(size, sd)
    yield number(
        "variance of the sum from two of nine, all 36 samples",
        "1.3e7",
        uniform,
        correction=Correction(EXACT, ours=81 * y.var() / 2),
    )
    yield number("variance of the sum from one of each stratum, all 20 samples", "2e5", two)
    yield number("ratio of both variances", "46", uniform / two)
    yield number("variance of the sum from one and two, all 30 samples", "1e5", three)
    yield number("records of stratum 1 by Neyman's rule, which has 100", "917", neyman[0])
    yield number("records of each other stratum by Neyman's rule", "9", neyman[1])


@item("eq1", "The variance of the mean of a stratified sample without replacement")
def _eq1() -> Claims:
    strata, n = [np.array(values, float) for values in (FIRST, SECOND)], 9
    means = [[y.size * np.mean(s) for s in itertools.combinations(y, 2)] for y in strata]
    exact = np.var([sum(pair) / n for pair in itertools.product(*means)])

    def printed(ddof: int) -> float:
        return sum(y.size * (y.size - 2) * y.var(ddof=ddof) / 2 for y in strata) / n**2

    yield number(
        "variance for nine values in two strata, two of each, all 60 samples",
        printed(0),
        exact,
        correction=Correction(
            "sigma^2 with the divisor n_i - 1; the paper's sigma (section 5.1) has n_i",
            printed=printed(1),
        ),
    )


def _allocations() -> Iterator[tuple]:
    """Yield sizes and n sigma of four strata, sizes of their samples, and n sigma^2.

    There are 500 random cases.
    """
    rng = default_rng(13)
    for _ in range(500):
        size, sd = rng.integers(20, 90, 4), np.exp(rng.normal(0, 1, 4))
        yield size, size * sd, rng.integers(2, 20, 4), size * sd**2


@item(
    "eq2",
    "The smallest variance has the smallest sum of n^2 sigma^2 / s; without bounds, Neyman's rule "
    "gives it",
)
def _eq2() -> Claims:
    rest, worse = [], 0
    for size, spread, counts, square in _allocations():
        variance = (size * (size - counts) * (spread / size) ** 2 / counts).sum()
        rest.append((variance + square.sum()) / printed.cost(spread, counts) - 1)
        neyman = counts.sum() * spread / spread.sum()
        worse += printed.cost(spread, neyman) <= printed.cost(spread, counts)
    yield equal(
        "equation 1 times n^2 plus sum of n sigma^2, over sum of n^2 sigma^2 / s, minus 1",
        rest,
    )
    yield every(
        "random sizes that are no better than those of Neyman's rule",
        worse,
        500,
        printed="exactly the Neyman allocation",
    )


@item(
    "eq5",
    "The largest derivative, smallest n sigma / s and largest s / M are in the same stratum",
)
def _eq5() -> Claims:
    same = 0
    for _, spread, counts, _ in _allocations():
        neyman = (counts.sum() - 1) * spread / spread.sum()
        same += (
            np.argmax(-(spread**2) / counts**2)
            == np.argmin(spread / counts)
            == np.argmax(counts / neyman)
        )
    yield every("random samples in which they are in the same stratum", int(same), 500, printed="=")


@item("eq6", "The sum over all strata increases by as much as that over the oversized ones")
def _eq6() -> Claims:
    differences = []
    for _, spread, counts, _ in _allocations():
        over = _oversized(spread, counts, counts.sum() // 2)
        reduced = np.where(over, (counts + 1) // 2, counts)
        increase = spread**2 / reduced - spread**2 / counts
        differences.append(increase.sum() - increase[over].sum())
    yield equal("equation 6 minus equation 7, 500 random samples", differences)


@item("section3.2", "There are C(beta + r - 1, r) ways to take beta records from r strata")
def _section3_2() -> Claims:
    beta, r = 5, 3
    ways = sum(sum(taken) == beta for taken in itertools.product(range(beta + 1), repeat=r))
    yield number(
        "ways to take 5 records from 3 strata, all counted",
        float(math.comb(beta + r - 1, r)),
        ways,
        correction=Correction("C(beta + r - 1, r - 1)", printed=math.comb(beta + r - 1, r - 1)),
    )


def _small_cases(count: int, seed: int = 0, strata: int = 3, most: int = 4) -> Iterator[tuple]:
    """Yield spreads, sizes held and a smaller total of small random samples.

    Samples that hold just the smallest possible number are left out.
    """
    rng = default_rng(seed)
    for _ in range(count):
        counts = rng.integers(1, most + 1, strata)
        total = int(rng.integers(strata, counts.sum())) if counts.sum() > strata else 0
        spread = np.exp(rng.normal(0, 1, strata))
        if total:
            yield spread, counts, total


def _oversized(spread: ndarray, counts: ndarray, total: float) -> ndarray:
    return counts > total * spread / spread.sum()


def _evictions() -> tuple:
    """Return how often algorithm 1 and a^2 / (s (s - 1)) select the cheapest record, of 2,000."""
    rng, right, exact = default_rng(1), 0, 0
    for _ in range(2000):
        counts = rng.integers(2, 12, 4)
        spread = counts * np.exp(rng.normal(0, 0.15, 4))
        cheapest = np.argmin([printed.cost(spread, counts - row) for row in np.eye(4, dtype=int)])
        right += int(cheapest == printed.single_ssr(np.ones(4), spread, counts))
        exact += int(cheapest == np.argmin(spread**2 / (counts * (counts - 1))))
    return right, exact


@item("definition2", "The array Q of strata, sorted by s / (n sigma)")
@item("definition1", "A stratum is oversized if it holds more than Neyman's rule gives it")
def _definition() -> Claims:
    yield unchecked("the term", "a definition, without a claim")


@item("lemma1", "Removing a record where n sigma / s is smallest increases the variance least")
def _lemma1() -> Claims:
    right, exact = _evictions()
    yield every(
        "random samples of 2 to 11 per stratum, near the optimum, in which it does",
        right,
        2000,
        printed="is minimized",
        instead=f"where n^2 sigma^2 / (s (s - 1)) is smallest: {exact:,} of 2,000",
    )


@item("algorithm1", "SingleSSR returns the stratum with the smallest n sigma / s")
def _algorithm1() -> Claims:
    right, exact = _evictions()
    empties = sum(
        printed.single_ssr(np.ones(3), spread, np.array([1, 2, 3])) == 0
        for spread in np.exp(default_rng(2).normal(0, 1, (1000, 3)))
    )
    yield every(
        "random samples in which removing it increases the variance least",
        right,
        2000,
        printed="Variance-Optimal",
        instead=f"where n^2 sigma^2 / (s (s - 1)) is smallest: {exact:,} of 2,000",
    )
    yield bound(
        "samples, of 1,000 with a single record in a stratum that varies, in which it takes "
        "that record",
        "Variance-Optimal",
        empties,
        high=0,
        instead="the variance is then infinite, although it need not be",
    )


@item("lemma2", "Only oversized strata lose records in an optimal reduction")
def _lemma2() -> Claims:
    real, integer = [], []
    for spread, counts, total in _small_cases(400):
        small = ~_oversized(spread, counts, total)
        real.append((_reduced(spread, counts, total)[small] >= counts[small] - 1e-9).all())
        best, _ = printed.best_in_whole_numbers(spread, counts, total)
        integer.append((np.array(best)[small] == counts[small]).all())
    size = np.array([3, 2, 2])
    best, _ = printed.best_in_whole_numbers(size * [1.21, 0.32, 0.17], size, 4)
    yield every(
        "optimal reductions in real numbers, as in equations 2 to 4",
        sum(real),
        len(real),
        printed="must be",
    )
    yield every(
        "optimal reductions in whole records, by trying all",
        sum(integer),
        len(integer),
        printed="must be",
        instead="for 3, 2 and 2 records (sd 1.21, .32, .17), the best four are {}, {} and {}, "
        "although the first stratum is not oversized".format(*best),
    )


def _reduced(spread: ndarray, counts: ndarray, total: int) -> ndarray:
    """Return the library's optimal reduction in real numbers, for strata with N = 10^9 records."""
    size = np.full(len(spread), 10**9)
    return np.asarray(reduce_sample(size, spread, counts, total, minimum=0, integer=False).labeled)


@item("lemma3", "The oversized strata are reduced as if they were alone")
def _lemma3() -> Claims:
    differences = []
    for spread, counts, total in _small_cases(400, seed=3, strata=5):
        over = _oversized(spread, counts, total)
        if over.any():
            alone = _reduced(spread[over], counts[over], total - counts[~over].sum())
            differences.append(np.abs(_reduced(spread, counts, total)[over] - alone).max())
    yield equal(f"difference of sizes in {len(differences)} random samples", differences)


@item("lemma4", "The strata that are not oversized are the first of Q")
def _lemma4() -> Claims:
    prefix, condition, mended = [], [], []
    for spread, counts, total in _small_cases(400, seed=4, strata=5):
        over, filled = _oversized(spread, counts, total), counts / spread
        prefix.append((np.diff(over[np.argsort(filled)].astype(int)) >= 0).all())
        condition.append(((filled > 1 / spread.sum()) == over).all())
        mended.append(((filled > total / spread.sum()) == over).all())
    yield every(
        "random samples in which they are the first",
        sum(prefix),
        len(prefix),
        printed="a continuous prefix",
    )
    yield every(
        "random samples in which the oversized strata are those with s / (n sigma) > 1 / D",
        sum(condition),
        len(condition),
        printed="if and only if",
        correction=Correction("M / D", ours=sum(mended)),
    )


@item("observation1", "If all strata are oversized, each is reduced to its size by Neyman's rule")
def _observation1() -> Claims:
    rng, differences = default_rng(5), []
    for _ in range(300):
        spread = np.exp(rng.normal(0, 1, 5))
        share = 40 * spread / spread.sum()
        counts = np.ceil(share) + rng.integers(1, 9, 5)
        differences.append(np.abs(_reduced(spread, counts.astype(int), 40) - share).max())
    yield equal("difference of sizes in 300 random samples", differences)


def _matches(algorithm: Callable, cases: list) -> int:
    """Return the number of cases in which an algorithm gives the optimum in real numbers."""
    right = 0
    for spread, counts, total in cases:
        with contextlib.suppress(IndexError):
            sizes = algorithm(spread, counts.astype(float), float(total))
            largest = abs(sizes - _reduced(spread, counts, total)).max()
            right += bool(largest <= 1e-8 * max(total, 1))  # false if a size is NaN
    return right


def _optimal(algorithm: Callable, seed: int, strata: int = 5, which: str = "") -> dict:
    """Return the claim that an algorithm gives the optimum in real numbers in 500 cases."""
    cases = list(_small_cases(500, seed=seed, strata=strata, most=9))
    return every(
        f"random reductions that are optimal in real numbers{which}",
        _matches(algorithm, cases),
        len(cases),
        printed="variance-optimal",
    )


@item("theorem1", "SSR finds an optimal reduction in time O(r^2)")
def _theorem1() -> Claims:
    yield _optimal(printed.ssr, 7)
    yield bound(
        "visited strata over r (r + 1) / 2, samples of 4 to 32 strata that take most rounds",
        "O(r^2)",
        max(sum(_steps(printed.ssr, *_one_by_one(r))) / (r * (r + 1) / 2) for r in (4, 8, 16, 32)),
        high=1,
    )


def _steps(algorithm: Callable, *case: Any) -> list:
    """Return the counts that an algorithm makes on a sample."""
    steps: list[int] = []
    algorithm(*case, steps)
    return steps


def _one_by_one(r: int) -> tuple:
    """Return spreads, sizes and a total that take the most rounds.

    Each round of algorithm 2 finds one stratum that is not oversized.
    """
    spread, share, filled = 0.5 ** np.arange(r), 1.0, [0.5]
    total = spread.sum()
    for k in range(r - 1):
        rest = spread[k:].sum()
        before, share = share, (rest * share - spread[k] * filled[k]) / (rest - spread[k])
        filled.append((before + share) / 2)
    return spread, spread * filled, total


@item("algorithm2", "The recursive algorithm SSR")
def _algorithm2() -> Claims:
    yield _optimal(printed.ssr, 8, strata=6)


@item("theorem2", "FastSSR finds an optimal reduction in time O(r log r)")
def _theorem2() -> Claims:
    yield _optimal(printed.fast_ssr, 9, which=", spreads above 0")
    yield bound(
        "comparisons and steps over r log2 r, random samples of 8 to 2,048 strata",
        "O(r log r)",
        max(_fast_steps(r) / (r * math.log2(r)) for r in STRATA),
        high=3,
    )


def _fast_steps(r: int) -> int:
    """Return the steps of algorithm 3 on a random sample of r strata."""
    rng = default_rng(r)
    return sum(
        _steps(
            printed.fast_ssr,
            np.exp(rng.normal(0, 1, r)),
            rng.integers(1, 50, r).astype(float),
            10.0 * r,
        )
    )


@item("algorithm3", "The algorithm FastSSR, without recursion")
def _algorithm3() -> Claims:
    hard = []
    for k, (spread, counts, total) in enumerate(_small_cases(300, seed=6, strata=4, most=9)):
        if k % 3 == 0:
            spread = np.where(np.arange(4) == k % 4, 0, spread)  # strata of equal values
        hard.append((spread, counts, int(counts.sum()) if k % 3 == 1 else total))
    regular = [case for case in hard if (case[0] > 0).all() and case[2] < case[1].sum()]
    only = _matches(printed.fast_ssr, regular)
    yield every(
        "optimal reductions, of cases with strata of equal values or without a reduction",
        _matches(printed.fast_ssr, hard),
        len(hard),
        printed="the increase of the variance V is minimized",
        instead="if spreads are above 0 and the total is smaller than the sample: "
        f"{only} of {len(regular)}",
    )


@item("theorem3", "VOILA gives the smallest variance of all allocations")
def _theorem3() -> Claims:
    return _voila(10)


@item("algorithm4", "VOILA is FastSSR applied to the whole population")
def _algorithm4() -> Claims:
    return _voila(11)


def _voila(seed: int) -> Claims:
    rng, differences, textbook = default_rng(seed), [], []
    for _ in range(150):
        size, sd = rng.integers(2, 7, 4), np.exp(rng.normal(0, 1, 4))
        total = int(rng.integers(4, size.sum()))
        sizes = printed.fast_ssr(size * sd, size.astype(float), float(total))
        allocated = allocate(size, total, "voila", stratum_sd=sd, minimum=0, integer=False).labeled
        differences.append(np.abs(sizes - allocated).max())
        textbook.append(np.abs(_iterated_neyman(size * sd, size, total) - sizes).max())
    yield equal(
        "sizes as printed, in real numbers, minus those of `allocate`, 150 populations",
        differences,
        printed="variance-optimal",
    )
    yield equal(
        "the same, minus those of Neyman's rule iterated (Cochran 1977), which the paper does not "
        "compare",
        textbook,
        printed="",
    )


def _iterated_neyman(spread: ndarray, size: ndarray, total: int) -> ndarray:
    """Return the shares of Neyman's rule, iterated.

    Strata with fewer records than their share are taken completely, and the rest is allocated
    again.
    """
    partial, shares = np.ones(size.size, bool), total * spread / spread.sum()
    while (partial & (shares > size)).any():
        partial &= shares <= size
        rest = total - size[~partial].sum()
        shares = np.where(partial, rest * spread / spread[partial].sum(), size)
    return shares


@item(
    "theorem4",
    "In the worst case, the variance of a streaming sampler is r times the best one",
    seconds=3,
    data="the stream of the paper's proof",
    draw=drawn("lines", "strata", "ratio", "what", log="xy", x_title="r, strata", y_title="V / V*"),
)
def _theorem4(setting: Setting) -> Claims:
    budget = copies = 1024 if setting.scale >= 1 else 520
    sizes = (4, 16, 64, 256)
    ratios = [
        float(
            simulate_stream(
                *adversarial_stream(r, copies),
                budget,
                methods=["s_voila"],
                batch=1,
                every=r * copies,
                runs=2,
                progress=False,
            ).ratio("s_voila")[-1]
        )
        for r in sizes
    ]
    bounds = [streaming_lower_bound(r, copies, budget) for r in sizes]
    cases = list(zip(sizes, ratios, bounds, strict=True))
    rows = []
    for r, ratio, least in cases:
        for name, value in (("S-VOILA", ratio), ("bound", least), ("r / 3", r / 3)):
            rows.append({"strata": r, "what": name, "ratio": value})
        yield bound(
            f"V / V* of S-VOILA, r = {r}, alpha = M = {budget}", "Omega(r)", ratio, low=least
        )
    yield bound(
        "power of r with which V / V* grows",
        "Omega(r)",
        np.polyfit(np.log(sizes), np.log(ratios), 1)[0],
        low=0.9,
        high=1.25,
    )
    yield bound(
        "power of r with which the bound grows from r = 64 to 256",
        "Omega(r)",
        math.log(bounds[3] / bounds[2]) / math.log(4),
        low=0.7,
        high=1.05,
    )
    right, tried = 0, range(3, 40)
    for r, a in itertools.product(tried, tried):
        step = 1 / (r - 1)
        first = [1.0] * (a - 1) + [1 + step, 2 - step]
        spread, rest = len(first) * np.std(first), (r - 1) * (a - 1) ** 0.5 * step
        right += a**0.5 / 2 - 1e-9 <= spread <= a**0.5 and a**0.5 / 2 <= rest <= a**0.5
    yield every(
        "cases of inequalities 8 to 10, r and alpha from 3 to 39",
        right,
        len(tried) ** 2,
        printed="<=",
    )
    size, sd = [10, 1000], [1, 1e-6]
    uniform, best = (
        allocate(size, 14, method, stratum_sd=sd, minimum=0).variance
        for method in ("equal", "voila")
    )
    yield bound(
        "variance of uniform allocation over the best, strata of 10 (sd 1) and 1,000 (sd 1e-6), M "
        "= 14",
        "within a multiplicative factor of r",
        uniform / best,
        high=2,
    )
    yield Figure(rows)


@item("lemma5", "The sample of each stratum is uniform", seconds=5)
def _lemma5() -> Claims:
    strata, values = [0, 0, 0, 1, 1, 1, 1, 0, 0], [0.0, 1, 0, 0, 10, 0, 10, 100, -100]
    samples_by_size: dict[int, list] = {}
    first, second = ([t for t, h in enumerate(strata) if h == k] for k in (0, 1))
    for first_keys, second_keys in itertools.product(
        itertools.permutations(range(5)), itertools.permutations(range(10, 14))
    ):
        keys = dict(zip([*first, *second], [*first_keys, *second_keys], strict=True))
        sample = printed.stream_sample(strata, values, [keys[t] for t in range(9)], 4, 0)
        mine = [t for t in sample if t in first]
        samples_by_size.setdefault(len(mine), []).append(mine)
    shares = {
        size: [np.mean([t in sample for sample in samples]) for t in first]
        for size, samples in samples_by_size.items()
    }
    right, rows = 0, []
    for size, size_shares in sorted(shares.items()):
        right += int(sum(abs(share - size / 5) < 1e-9 for share in size_shares))
        row: dict[str, float] = {"size": size}
        for t, share in zip(first, size_shares, strict=True):
            row[f"record {t}"] = round(float(share), 4)
        rows.append(row)
    yield every(
        "probabilities of a record, given the sample size s, that are s / n (2,880 orders of keys)",
        right,
        5 * len(shares),
        printed="a chance of |S| / n",
    )
    yield bound(
        "largest difference of the probabilities of two records, given the size",
        "uniformly",
        max(np.ptp(size_shares) for size_shares in shares.values()),
        high=1e-9,
    )
    yield Figure(rows)


@item(
    "theorem5",
    "A record costs O(r) in the worst case and O(1) on average; a minibatch costs O(r log r + b)",
)
def _theorem5() -> Claims:
    rng, r, b = default_rng(14), 6, 100
    steps: list[tuple] = []
    for _ in range(10):
        strata, values = rng.integers(0, r, 300).tolist(), rng.normal(size=300).tolist()
        printed.stream_sample(strata, values, rng.permutation(300).tolist(), 30, 0, steps)
    looked, share = np.transpose(steps)
    yield bound(
        "largest number of visited records and strata per record, over 1 + r",
        "O(r)",
        looked.max() / (1 + r),
        high=1,
    )
    yield bound(
        "mean of that number over the mean of 1 + r s / n",
        "O(1 + r s / n)",
        looked.mean() / (1 + r * share).mean(),
        high=1.1,
    )
    yield bound(
        "b records and the steps of algorithm 3 over r log2 r + b, b = 100 and 8 to 2,048 strata",
        "O(r log r + b)",
        max((_fast_steps(n) + b) / (n * math.log2(n) + b) for n in STRATA),
        high=3,
    )


@item("algorithm5", "S-VOILA begins with the first M records")
def _algorithm5() -> Claims:
    stratum, values = jump_stream(1000, runs=1, rng=1)
    sampler = StreamSampler(1000).update(stratum[0], values[0])
    yield number("records held after the first M = 1,000", 1000.0, sum(sampler.sizes().values()))


@item(
    "algorithm6",
    "S-VOILA keeps a stratified sample of a stream",
    seconds=2,
    data="simulated stream",
)
def _algorithm6(setting: Setting) -> Claims:
    rng = default_rng(1)
    stratum = rng.integers(0, 10, 4000)
    values = rng.standard_normal(4000) * (1 + stratum)
    study = simulate_stream(
        stratum,
        values,
        100,
        methods=["s_voila_printed", "s_voila"],
        last=[7, 8, 9],
        every=400,
        runs=setting.runs(20, 200, 10),
        rng=2,
        progress=False,
    )
    yield bound(
        "proportion of runs and checkpoints with an infinite variance, M = 100, 3 of 10 "
        "strata come late",
        "minimize the variance among all possible re-allocations",
        study.infinite("s_voila_printed").mean(),
        high=0,
        instead=f"with at least two records per stratum: {study.infinite('s_voila').mean():.2g}",
    )
    yield bound(
        "variance over that of VOILA at the end, with at least two records per stratum",
        "typically close",
        study.ratio("s_voila")[-1],
        high=1.1,
    )
