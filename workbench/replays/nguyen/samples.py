"""Nguyen et al.: variance-optimal stratified samples of stored data and of streams, VOILA and S-VOILA.

References
----------
.. [1] Nguyen, Shih, Srivastava, Tirthapura & Xu, Stratified random sampling from streaming and stored data, EDBT 2019.
"""

import contextlib
import itertools
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from workbench.allocation.rules import allocate, reduce_sample
from workbench.allocation.streams.sampler import StreamSampler
from workbench.replays import printed_algorithms as printed
from workbench.replays.claims import Correction, bound, equal, every, number, unchecked
from workbench.replays.items import Paper, drawn
from workbench.simulations.allocation import jump_stream, simulate_stream
from workbench.simulations.streams import adversarial_stream, streaming_lower_bound

PAPER = Paper("nguyen", "Variance-optimal offline and streaming stratified random sampling")
FIRST, SECOND = (1, 2, 4, 2, 1), (1000, 1050, 1200, 1300)
EXACT = "printed is the variance of samples with replacement"
BYSTANDERS = "a bound on time for any input, which no run can show"


# section 1 and theory

@PAPER.item("introduction", "Nine values: stratified samples of two have 46 times less variance, three still less; "
            "Neyman wants 917 of 100")
def _introduction(setting: Any) -> list:
    y = np.array([*FIRST, *SECOND], float)
    totals = [9 * np.mean(s) for s in itertools.combinations(y, 2)]
    uniform = np.var(totals)
    two, three = (np.var([5 * np.mean(a) + 4 * np.mean(b) for a in itertools.combinations(FIRST, 1)
                          for b in itertools.combinations(SECOND, k)]) for k in (1, 2))
    size, sd = [100] + 9 * [1000], [100] + 9 * [.1]
    wanted = 1000 * np.array(size) * sd / np.dot(size, sd)
    held = allocate(size, 1000, "voila", stratum_sd=sd, minimum=0)
    return [number("variance of the sum from two of nine, all 36 samples", "1.3e7", uniform,
                   correction=Correction(EXACT, ours=81 * y.var() / 2)),
            number("variance from one of each stratum, all 20", "2e5", two),
            number("how many times smaller", "46", uniform / two),
            number("variance from one and two, all 30", "1e5", three),
            number("mean over all samples of two, against the sum", y.sum(), np.mean(totals)),
            number("Neyman's records of stratum 1, which has 100", "917", wanted[0]),
            number("Neyman's records of each other stratum", "9", wanted[1]),
            number("VOILA's records of stratum 1", "100", held.labeled[0])]


def _small_cases(count: int, seed: int = 0, strata: int = 3, most: int = 4) -> Iterator[tuple]:
    """Yield spreads, sizes held and a smaller total of small random samples, those that hold more than they must."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        held = rng.integers(1, most + 1, strata)
        total = int(rng.integers(strata, held.sum())) if held.sum() > strata else 0
        spread = np.exp(rng.normal(0, 1, strata))
        if total:
            yield spread, held, total


def _oversized(spread: np.ndarray, held: np.ndarray, total: float) -> np.ndarray:
    return held > total * spread / spread.sum()


def _evictions(count: int) -> tuple:
    """Return how often algorithm 1 takes the record that costs least, and how often a^2 / (s (s - 1)) does."""
    rng, right, exact = np.random.default_rng(1), 0, 0
    for _ in range(count):
        held = rng.integers(2, 12, 4)
        spread = held * np.exp(rng.normal(0, .15, 4))
        after = [printed.cost(spread, held - (np.arange(4) == h)) for h in range(4)]
        right += int(np.argmin(after)) == printed.single_ssr(np.ones(4), spread, held)
        exact += int(np.argmin(after)) == int(np.argmin(spread ** 2 / (held * (held - 1))))
    return right, exact


@PAPER.item("definition2", "The array Q of strata, sorted by s / (n sigma)")
@PAPER.item("definition1", "Oversized: a stratum holds more than its Neyman share")
def _definition(setting: Any) -> list:
    return [unchecked("the term", "a definition, which claims nothing")]


@PAPER.item("lemma1", "Taking a record where n sigma / s is least raises the variance least")
def _lemma1(setting: Any) -> list:
    right, exact = _evictions(2000)
    return [every("random samples of 2 to 11 per stratum, near the optimum", right, 2000, correction=Correction(
        "where n^2 sigma^2 / (s (s - 1)) is least", ours=exact))]


@PAPER.item("algorithm1", "SingleSSR returns that stratum")
def _algorithm1(setting: Any) -> list:
    right, exact = _evictions(2000)
    empties = sum(printed.single_ssr(np.ones(3), spread, np.array([1, 2, 3])) == 0 for spread in
                  np.exp(np.random.default_rng(2).normal(0, 1, (1000, 3))))
    return [every("random samples in which it costs least", right, 2000, correction=Correction(
                "with the exact cost n^2 sigma^2 / (s (s - 1))", ours=exact)),
            bound("share of samples with one record in a stratum that varies which it empties", "0",
                  empties / 1000, high=0)]


@PAPER.item("lemma2", "Only oversized strata lose records in an optimal reduction")
def _lemma2(setting: Any) -> list:
    real, whole = list[Any](), list[Any]()
    for spread, held, total in _small_cases(400):
        kept = ~_oversized(spread, held, total)
        real.append((_reduced(spread, held, total)[kept] >= held[kept] - 1e-9).all())
        best, _ = printed.best_in_whole_numbers(spread, held, total)
        whole.append((np.array(best)[kept] == held[kept]).all())
    size = np.array([3, 2, 2])
    best, _ = printed.best_in_whole_numbers(size * [1.21, .32, .17], size, 4)
    return [every("optimal reductions in real numbers", sum(real), len(real)),
            every("optimal reductions in whole numbers, by trying all", sum(whole), len(whole), correction=Correction(
                "in real numbers; a stratum that varies keeps its only record", ours=sum(real))),
            bound("records that stratum 1 of sizes 3, 2, 2 (sd 1.21, .32, .17) keeps of 3, though it is not oversized",
                  "3", best[0], low=3)]


def _reduced(spread: np.ndarray, held: np.ndarray, total: int) -> np.ndarray:
    """Return the optimal reduction in real numbers of the library, for strata with N = 10^9 records each."""
    size = np.full(len(spread), 10 ** 9)
    return np.asarray(reduce_sample(size, spread, held, total, minimum=0, integer=False).labeled)


@PAPER.item("lemma3", "The oversized strata are reduced as if they were alone")
def _lemma3(setting: Any) -> list:
    differences = []
    for spread, held, total in _small_cases(400, seed=3, strata=5):
        over = _oversized(spread, held, total)
        if over.any():
            alone = _reduced(spread[over], held[over], total - held[~over].sum())
            differences.append(np.abs(_reduced(spread, held, total)[over] - alone).max())
    return [equal(f"sizes in {len(differences)} random samples", differences)]


@PAPER.item("lemma4", "The strata that are not oversized are the first of Q")
def _lemma4(setting: Any) -> list:
    prefix, condition, mended = list[Any](), list[Any](), list[Any]()
    for spread, held, total in _small_cases(400, seed=4, strata=5):
        over, filled = _oversized(spread, held, total), held / spread
        prefix.append((np.diff(over[np.argsort(filled)].astype(int)) >= 0).all())
        condition.append(((filled > 1 / spread.sum()) == over).all())
        mended.append(((filled > total / spread.sum()) == over).all())
    return [every("random samples in which they are", sum(prefix), len(prefix)),
            every("oversized just where s / (n sigma) > 1 / D, as in the proof", sum(condition), len(condition),
                  correction=Correction("M / D", ours=sum(mended)))]


@PAPER.item("observation1", "If all are oversized, each is cut to its Neyman share")
def _observation1(setting: Any) -> list:
    rng, differences = np.random.default_rng(5), []
    for _ in range(300):
        spread = np.exp(rng.normal(0, 1, 5))
        share = 40 * spread / spread.sum()
        held = np.ceil(share) + rng.integers(1, 9, 5)
        differences.append(np.abs(_reduced(spread, held.astype(int), 40) - share).max())
    return [equal("sizes in 300 random samples", differences)]


def _matches(algorithm: Callable, cases: list) -> int:
    """Return in how many cases an algorithm gives the optimum in real numbers."""
    right = 0
    for spread, held, total in cases:
        with contextlib.suppress(IndexError):
            found = algorithm(spread, held.astype(float), float(total))
            right += bool(np.isfinite(found).all()
                          and abs(found - _reduced(spread, held, total)).max() <= 1e-8 * max(total, 1))
    return right


def _optimal(algorithm: Callable, cases: Any, which: str = "") -> dict:
    """Return the claim that an algorithm gives the optimum in real numbers in all cases."""
    return every(f"random reductions that are optimal in real numbers{which}", _matches(algorithm, cases), len(cases))


def _hard_cases(count: int) -> Iterator[tuple]:
    """Yield samples of which some have no spread, or are not reduced at all."""
    for k, (spread, held, total) in enumerate(_small_cases(count, seed=6, strata=4, most=9)):
        spread = np.where(np.arange(4) == k % 4, 0, spread) if k % 3 == 0 else spread
        yield spread, held, int(held.sum()) if k % 3 == 1 else total


@PAPER.item("theorem1", "SSR finds an optimal reduction, in time O(r^2)")
def _theorem1(setting: Any) -> list:
    return [_optimal(printed.ssr, list(_small_cases(500, seed=7, strata=5, most=9))),
            unchecked("time O(r^2)", BYSTANDERS)]


@PAPER.item("algorithm2", "SSR, recursive")
def _algorithm2(setting: Any) -> list:
    cases = list(_small_cases(500, seed=8, strata=6, most=9))
    return [_optimal(printed.ssr, cases), _rounded(cases[:150])]


def _rounded(cases: list) -> dict:
    """Return the claim that rounding the real optimum is the best in whole numbers, of the first three strata."""
    rounded, exact = 0, 0
    for spread, held, _ in cases:
        spread, held = spread[:3], held[:3]
        total = int(held.sum()) // 2
        _, least = printed.best_in_whole_numbers(spread, held, total)
        near = np.rint(_reduced(spread, held, total))
        ours = np.asarray(reduce_sample(np.full(3, 10 ** 6), spread, held, total, minimum=0).labeled)
        rounded += near.sum() == total and printed.cost(spread, near) <= least * (1 + 1e-9)
        exact += ours.sum() == total and (printed.cost(spread, ours) <= least * (1 + 1e-9) or np.isinf(least))
    return every("sizes rounded to whole numbers are the best whole numbers", rounded, len(cases), printed="not said",
                 correction=Correction("`reduce_sample` returns the best whole numbers", ours=exact))


@PAPER.item("theorem2", "FastSSR finds it in time O(r log r)")
def _theorem2(setting: Any) -> list:
    return [_optimal(printed.fast_ssr, list(_small_cases(500, seed=9, strata=5, most=9)), ", spreads above 0"),
            unchecked("time O(r log r)", BYSTANDERS)]


@PAPER.item("algorithm3", "FastSSR, without recursion")
def _algorithm3(setting: Any) -> list:
    hard = list(_hard_cases(300))
    plain = [case for case in hard if (case[0] > 0).all() and case[2] < case[1].sum()]
    only = _matches(printed.fast_ssr, plain)
    return [every("reductions, some with a stratum of equal values, some of nothing", _matches(printed.fast_ssr, hard),
                  len(hard), correction=Correction("for spreads above 0 and a total below what is held, of which it "
                                                   f"solves {only} of {len(plain)}",
                                                   ours=len(hard) if only == len(plain) else only))]


@PAPER.item("theorem3", "VOILA gives the least variance of all allocations")
def _theorem3(setting: Any) -> list:
    return _voila(10)


@PAPER.item("algorithm4", "VOILA is FastSSR of everything")
def _algorithm4(setting: Any) -> list:
    return _voila(11)


def _voila(seed: int) -> list:
    rng, differences, textbook, whole, cases = np.random.default_rng(seed), [], [], 0, 150
    for _ in range(cases):
        size, sd = rng.integers(1, 7, 4), np.exp(rng.normal(0, 1, 4))
        total = int(rng.integers(4, size.sum())) if size.sum() > 4 else 4
        if total < size.sum():
            found = printed.fast_ssr(size * sd, size.astype(float), float(total))
            ours = allocate(size, total, "voila", stratum_sd=sd, minimum=0, integer=False).labeled
            differences.append(np.abs(found - ours).max())
            textbook.append(np.abs(_iterated_neyman(size * sd, size, total) - found).max())
        _, least = printed.best_in_whole_numbers(size * sd, size, total)
        mine = allocate(size, total, "voila", stratum_sd=sd, minimum=0).labeled
        whole += printed.cost(size * sd, np.asarray(mine, float)) <= least * (1 + 1e-9)
    return [equal("sizes as printed, in real numbers, against `allocate`", differences),
            equal("the same, against Neyman's rule iterated (Cochran 1977), which is not compared", textbook),
            every("`allocate` in whole numbers against all allocations", whole, cases, printed="not said")]


def _iterated_neyman(spread: np.ndarray, size: np.ndarray, total: int) -> np.ndarray:
    """Return Neyman's shares; strata that have less are taken whole, and the rest is shared again."""
    open_, shares = np.ones(size.size, bool), total * spread / spread.sum()
    while (over := open_ & (shares > size)).any():
        open_ &= ~over
        shares = np.where(open_, (total - size[~open_].sum()) * spread / spread[open_].sum(), size)
    return shares


@PAPER.item("theorem4", "A streaming sampler's variance is in the worst case r times the best", seconds=3,
            data="the stream of the proof",
            draw=drawn("lines", "strata", "ratio", "what", log="xy", x_title="r, strata", y_title="V / V*"))
def _theorem4(setting: Any) -> tuple:
    budget = copies = 1024 if setting.scale >= 1 else 520
    sizes = (4, 16, 64, 256)
    ratios = [float(simulate_stream(*adversarial_stream(r, copies), budget, methods=["s_voila"], batch=1,
                                    every=r * copies, runs=2, progress=False).ratio("s_voila")[-1]) for r in sizes]
    bounds = [streaming_lower_bound(r, copies, budget) for r in sizes]
    tried = list(zip(sizes, ratios, bounds, strict=True))
    rows = [{"strata": r, "what": what, "ratio": value} for r, ratio, least in tried
            for what, value in (("S-VOILA", ratio), ("bound", least), ("r / 3", r / 3))]
    return [*(bound(f"V / V* of S-VOILA, r = {r}, alpha = M = {budget}", f"at least {least:.3g}", ratio, low=least)
              for r, ratio, least in tried),
            bound("power of r with which V / V* grows", "1", np.polyfit(np.log(sizes), np.log(ratios), 1)[0], low=.9,
                  high=1.25),
            bound("power of r with which the bound grows from r = 64 to 256", "1",
                  math.log(bounds[3] / bounds[2]) / math.log(4), low=.7, high=1.05),
            _inequalities(), _uniform()], rows


def _inequalities() -> dict:
    right, tried = 0, range(3, 40)
    for r, a in itertools.product(tried, tried):
        step = 1 / (r - 1)
        first = [1.0] * (a - 1) + [1 + step, 2 - step]
        spread, others = len(first) * np.std(first), (r - 1) * (a - 1) ** .5 * step
        right += a ** .5 / 2 - 1e-9 <= spread <= a ** .5 and a ** .5 / 2 <= others <= a ** .5
    return every("inequalities 8 to 10, r and alpha from 3 to 39", right, len(tried) ** 2)


def _uniform() -> dict:
    size, sd, budget = [10, 1000], [1, 1e-6], 14
    variance = [allocate(size, budget, method, stratum_sd=sd, minimum=0).variance for method in ("equal", "voila")]
    return bound("variance of uniform allocation over the best, strata of 10 (sd 1) and 1,000 (sd 1e-6), M = 14",
                 "at most r = 2", variance[0] / variance[1], high=2)


@PAPER.item("lemma5", "Each stratum's sample is uniform", seconds=5)
def _lemma5(setting: Any) -> tuple:
    strata, values = [0, 0, 0, 1, 1, 1, 1, 0, 0], [0., 1, 0, 0, 10, 0, 10, 100, -100]
    counted, estimates = dict[Any, Any](), list[Any]()
    first, second = ([t for t, h in enumerate(strata) if h == k] for k in (0, 1))
    for one, two in itertools.product(itertools.permutations(range(5)), itertools.permutations(range(10, 14))):
        keys = dict(zip([*first, *second], [*one, *two], strict=True))
        held = printed.stream_sample(strata, values, [keys[t] for t in range(9)], 4, 1)
        mine = [t for t in held if t in first]
        counted.setdefault(len(mine), []).append(mine)
        estimates.append(sum(len(rows) * np.mean([values[t] for t in held if t in rows])
                             for rows in (first, second)) / 9)
    shares = {size: [np.mean([t in sample for sample in samples]) for t in first] for size, samples in counted.items()}
    right = sum(abs(share - size / 5) < 1e-9 for size, found in shares.items() for share in found)
    return [every("chances of a record, given the sample's size s, that are s / n (2,880 orders of keys)", right,
                  5 * len(shares)),
            bound("largest difference of two records' chances, given the size", "0",
                  max(np.ptp(found) for found in shares.values()), high=1e-9),
            number("mean of the estimate over all orders, against the mean: unbiased", float(np.mean(values)),
                   np.mean(estimates))], [
                {"size": size, **{f"record {t}": round(float(share), 4) for t, share in zip(first, found, strict=True)}}
                for size, found in sorted(shares.items())]


@PAPER.item("theorem5", "A record costs O(r) at worst, O(1) expected; a minibatch O(r log r + b)")
def _theorem5(setting: Any) -> list:
    return [unchecked("the times", BYSTANDERS)]


@PAPER.item("algorithm5", "S-VOILA begins with the first M records")
def _algorithm5(setting: Any) -> list:
    stratum, values = jump_stream(1000, runs=1, rng=1)
    sampler = StreamSampler(1000).update(stratum[0], values[0])
    return [equal("estimate of the mean while all records fit", sampler.estimate().estimate - values.mean()),
            number("records held", "1000", sum(sampler.sizes().values()))]


@PAPER.item("algorithm6", "S-VOILA keeps a stratified sample of a stream", seconds=2, data="simulated stream")
def _algorithm6(setting: Any) -> list:
    rng = np.random.default_rng(1)
    stratum = rng.integers(0, 10, 4000)
    values = rng.standard_normal(4000) * (1 + stratum)
    study = simulate_stream(stratum, values, 100, methods=["s_voila_printed", "s_voila"], last=[7, 8, 9], every=400,
                            runs=setting.runs(20, 200, 10), rng=2, progress=False)
    return [bound("share of runs and checkpoints with an infinite variance, strata that come late", "none",
                  study.infinite("s_voila_printed").mean(), high=0, correction=Correction(
                      "a floor of two records per stratum", ours=study.infinite("s_voila").mean(), high=0)),
            bound("variance over VOILA's at the end, with the floor", "close to 1", study.ratio("s_voila")[-1],
                  high=1.1)]
