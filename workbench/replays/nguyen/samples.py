"""Nguyen et al.: variance-optimal stratified samples of stored data and of streams, VOILA and S-VOILA.

References
----------
.. [1] Nguyen, Shih, Srivastava, Tirthapura & Xu, Stratified random sampling from streaming and stored data, EDBT 2019.
"""

import itertools
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from workbench.allocation.rules import allocate, reduce_sample
from workbench.allocation.streams.sampler import StreamSampler
from workbench.replays import figures
from workbench.replays import printed_algorithms as printed
from workbench.replays.claims import Correction, bound, equal, every, number, unchecked
from workbench.replays.items import Paper
from workbench.simulations.allocation import jump_stream, simulate_stream
from workbench.simulations.streams import adversarial_stream, streaming_lower_bound

PAPER = Paper("nguyen", "Variance-optimal offline and streaming stratified random sampling")
FIRST, SECOND = (1, 2, 4, 2, 1), (1000, 1050, 1200, 1300)
EXACT = "printed is the variance of samples with replacement"
BYSTANDERS = "a bound on time for any input, which no run can show"


# section 1 and theory

@PAPER.item("introduction", "Nine values: stratified samples of two have 46 times less variance, three still less; "
            "Neyman wants 917 of 100")
def _introduction(setting: Any) -> tuple:
    y, total = np.array([*FIRST, *SECOND], float), sum((*FIRST, *SECOND))
    uniform = np.var([9 * np.mean(s) for s in itertools.combinations(y, 2)])
    two, three = (np.var([5 * np.mean(a) + 4 * np.mean(b) for a in itertools.combinations(FIRST, 1)
                          for b in itertools.combinations(SECOND, k)]) for k in (1, 2))
    size, sd = [100] + 9 * [1000], [100] + 9 * [.1]
    wanted = 1000 * np.array(size) * sd / np.dot(size, sd)
    held = allocate(size, 1000, "voila", stratum_sd=sd, minimum=0)
    return [number("variance of the sum from two of nine, all 36 samples", "1.3e7", float(uniform),
                   correction=Correction(EXACT, ours=float(81 * y.var() / 2))),
            number("variance from one of each stratum, all 20", "2e5", float(two)),
            number("how many times smaller", "46", float(uniform / two)),
            number("variance from one and two, all 30", "1e5", float(three)),
            number("mean over all samples of two, against the sum", float(total),
                   float(np.mean([9 * np.mean(s) for s in itertools.combinations(y, 2)]))),
            number("Neyman's records of stratum 1, which has 100", "917", float(wanted[0])),
            number("Neyman's records of each other stratum", "9", float(wanted[1])),
            number("VOILA's records of stratum 1", "100", float(held.labeled[0]))], []


def _small_cases(count: int, seed: int = 0, strata: int = 3, most: int = 4) -> Iterator[tuple]:
    """Yield spreads, sizes held and a smaller total of small random samples."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        held = rng.integers(1, most + 1, strata)
        total = int(rng.integers(strata, held.sum())) if held.sum() > strata else 0
        yield np.exp(rng.normal(0, 1, strata)), held, total


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


@PAPER.item("definition1", "Oversized: a stratum holds more than its Neyman share")
def _definition1(setting: Any) -> tuple:
    return [unchecked("the term", "a definition, which claims nothing")], []


@PAPER.item("definition2", "The array Q of strata, sorted by s / (n sigma)")
def _definition2(setting: Any) -> tuple:
    return [unchecked("the term", "a definition, which claims nothing")], []


@PAPER.item("lemma1", "Taking a record where n sigma / s is least raises the variance least")
def _lemma1(setting: Any) -> tuple:
    right, exact = _evictions(2000)
    return [every("random samples of 2 to 11 per stratum, near the optimum", right, 2000, correction=Correction(
        "where n^2 sigma^2 / (s (s - 1)) is least"), corrected_right=exact)], []


@PAPER.item("algorithm1", "SingleSSR returns that stratum")
def _algorithm1(setting: Any) -> tuple:
    right, exact = _evictions(2000)
    empties = sum(printed.single_ssr(np.ones(3), spread, np.array([1, 2, 3])) == 0 for spread in
                  np.exp(np.random.default_rng(2).normal(0, 1, (1000, 3))))
    return [every("random samples in which it costs least", right, 2000, correction=Correction(
                "with the exact cost n^2 sigma^2 / (s (s - 1))"), corrected_right=exact),
            bound("share of samples with one record in a stratum that varies which it empties", "0",
                  empties / 1000, high=0)], []


@PAPER.item("lemma2", "Only oversized strata lose records in an optimal reduction", seconds=1)
def _lemma2(setting: Any) -> tuple:
    real, whole, cases = 0, 0, 0
    for spread, held, total in _small_cases(400):
        if not total:
            continue
        cases += 1
        over = held > total * spread / spread.sum()
        left = _reduced(spread, held, total)
        real += bool((left[~over] >= held[~over] - 1e-9).all())
        best, _ = printed.best_in_whole_numbers(spread, held, total)
        whole += bool((np.array(best)[~over] == held[~over]).all())
    spread = np.array([3, 2, 2]) * [1.21, .32, .17]
    best, _ = printed.best_in_whole_numbers(spread, np.array([3, 2, 2]), 4)
    return [every("optimal reductions in real numbers", real, cases),
            every("optimal reductions in whole numbers, by trying all", whole, cases, correction=Correction(
                "in real numbers; a stratum that varies keeps its only record"), corrected_right=real),
            bound("records that stratum 1 of sizes 3, 2, 2 (sd 1.21, .32, .17) keeps of 3, though it is not oversized",
                  "3", float(best[0]), low=3)], []


def _reduced(spread: np.ndarray, held: np.ndarray, total: int) -> np.ndarray:
    """Return the optimal reduction in real numbers of the library, for strata with N = 10^9 records each."""
    size = np.full(len(spread), 10 ** 9)
    return np.asarray(reduce_sample(size, spread, held, total, minimum=0, integer=False).labeled)


@PAPER.item("lemma3", "The oversized strata are reduced as if they were alone")
def _lemma3(setting: Any) -> tuple:
    differences = []
    for spread, held, total in _small_cases(400, seed=3, strata=5):
        over = held > total * spread / spread.sum()
        if total and over.any():
            alone = _reduced(spread[over], held[over], total - held[~over].sum())
            differences.append(np.abs(_reduced(spread, held, total)[over] - alone).max())
    return [equal(f"sizes in {len(differences)} random samples", differences)], []


@PAPER.item("lemma4", "The strata that are not oversized are the first of Q")
def _lemma4(setting: Any) -> tuple:
    prefix, condition, mended, cases = 0, 0, 0, 0
    for spread, held, total in _small_cases(400, seed=4, strata=5):
        if total:
            cases += 1
            over = (held > total * spread / spread.sum())
            ordered = over[np.argsort(held / spread)]
            prefix += bool((np.diff(ordered.astype(int)) >= 0).all())
            condition += bool(((held / spread > 1 / spread.sum()) == over).all())
            mended += bool(((held / spread > total / spread.sum()) == over).all())
    return [every("random samples in which they are", prefix, cases),
            every("oversized just where s / (n sigma) > 1 / D, as in the proof", condition, cases,
                  correction=Correction("M / D"), corrected_right=mended)], []


@PAPER.item("observation1", "If all are oversized, each is cut to its Neyman share")
def _observation1(setting: Any) -> tuple:
    rng, differences = np.random.default_rng(5), []
    for _ in range(300):
        spread = np.exp(rng.normal(0, 1, 5))
        share = 40 * spread / spread.sum()
        held = np.ceil(share) + rng.integers(1, 9, 5)
        differences.append(np.abs(_reduced(spread, held.astype(int), 40) - share).max())
    return [equal("sizes in 300 random samples", differences)], []


def _matches(algorithm: Callable, cases: list) -> int:
    """Return in how many cases an algorithm gives the optimum in real numbers."""
    right = 0
    for spread, held, total in cases:
        try:
            found = algorithm(spread, held.astype(float), float(total))
        except IndexError:
            continue
        best = _reduced(spread, held, total)
        right += bool(np.isfinite(found).all() and abs(found - best).max() <= 1e-8 * max(total, 1))
    return right


def _hard_cases(count: int) -> list:
    """Return samples of which some have no spread, or are not reduced at all."""
    cases = []
    for k, (spread, held, total) in enumerate(_small_cases(count, seed=6, strata=4, most=9)):
        spread = np.where(np.arange(4) == k % 4, 0, spread) if k % 3 == 0 else spread
        cases.append((spread, held, int(held.sum()) if k % 3 == 1 else total))
    return [case for case in cases if case[2]]


@PAPER.item("theorem1", "SSR finds an optimal reduction, in time O(r^2)")
def _theorem1(setting: Any) -> tuple:
    plain = [case for case in _small_cases(500, seed=7, strata=5, most=9) if case[2]]
    return [every("random reductions that are optimal in real numbers", _matches(printed.ssr, plain), len(plain)),
            unchecked("time O(r^2)", BYSTANDERS)], []


@PAPER.item("algorithm2", "SSR, recursive")
def _algorithm2(setting: Any) -> tuple:
    plain = [case for case in _small_cases(500, seed=8, strata=6, most=9) if case[2]]
    return [every("random reductions that are optimal in real numbers", _matches(printed.ssr, plain), len(plain)),
            *_rounded(plain[:150])], []


def _rounded(cases: Any) -> list:
    """Return the claim that rounding the real optimum is the best in whole numbers."""
    cases = [(spread[:3], held[:3], int(held[:3].sum()) // 2) for spread, held, _ in cases]
    rounded, exact = 0, 0
    for spread, held, total in cases:
        _, least = printed.best_in_whole_numbers(spread, held, total)
        near = np.rint(_reduced(spread, held, total))
        ours = np.asarray(reduce_sample(np.full(3, 10 ** 6), spread, held, total, minimum=0).labeled)
        rounded += near.sum() == total and printed.cost(spread, near) <= least * (1 + 1e-9)
        exact += ours.sum() == total and (printed.cost(spread, ours) <= least * (1 + 1e-9) or np.isinf(least))
    return [every("sizes rounded to whole numbers are the best whole numbers", rounded, len(cases), printed="not said",
                  correction=Correction("`reduce_sample` returns the best whole numbers"), corrected_right=exact)]


@PAPER.item("theorem2", "FastSSR finds it in time O(r log r)")
def _theorem2(setting: Any) -> tuple:
    plain = [case for case in _small_cases(500, seed=9, strata=5, most=9) if case[2]]
    return [every("random reductions that are optimal in real numbers, spreads above 0",
                  _matches(printed.fast_ssr, plain), len(plain)),
            unchecked("time O(r log r)", BYSTANDERS)], []


@PAPER.item("algorithm3", "FastSSR, without recursion")
def _algorithm3(setting: Any) -> tuple:
    hard = _hard_cases(300)
    plain = [case for case in hard if (case[0] > 0).all() and case[2] < case[1].sum()]
    right = _matches(printed.fast_ssr, hard)
    only = _matches(printed.fast_ssr, plain)
    return [every("reductions, some with a stratum of equal values, some of nothing", right, len(hard),
                  correction=Correction("for spreads above 0 and a total below what is held, of which it solves "
                                        f"{only} of {len(plain)}"),
                  corrected_right=len(hard) if only == len(plain) else only)], []


@PAPER.item("theorem3", "VOILA gives the least variance of all allocations")
def _theorem3(setting: Any) -> tuple:
    return _voila(10), []


@PAPER.item("algorithm4", "VOILA is FastSSR of everything")
def _algorithm4(setting: Any) -> tuple:
    return _voila(11), []


def _voila(seed: int) -> list:
    rng, differences, whole, cases = np.random.default_rng(seed), [], 0, 150
    for _ in range(cases):
        size, sd = rng.integers(1, 7, 4), np.exp(rng.normal(0, 1, 4))
        total = int(rng.integers(4, size.sum())) if size.sum() > 4 else 4
        if total < size.sum():
            found = printed.fast_ssr(size * sd, size.astype(float), float(total))
            ours = allocate(size, total, "voila", stratum_sd=sd, minimum=0, integer=False).labeled
            differences.append(np.abs(found - ours).max())
        _, least = printed.best_in_whole_numbers(size * sd, size, total)
        mine = allocate(size, total, "voila", stratum_sd=sd, minimum=0).labeled
        whole += printed.cost(size * sd, np.asarray(mine, float)) <= least * (1 + 1e-9)
    return [equal("sizes as printed, in real numbers, against `allocate`", differences),
            every("`allocate` in whole numbers against all allocations", whole, cases, printed="not said")]


@PAPER.item("theorem4", "A streaming sampler's variance is in the worst case r times the best", seconds=3,
            data="the stream of the proof", draw=figures.lines("strata", "ratio", "what", log="xy", x_title="r, strata",
                                                              y_title="V / V*"))
def _theorem4(setting: Any) -> tuple:
    budget = copies = 1024 if setting.scale >= 1 else 520
    sizes, rows, claims = (4, 16, 64, 256), [], []
    ratios, bounds = [], []
    for r in sizes:
        stream = adversarial_stream(r, copies)
        study = simulate_stream(*stream, budget, methods=["s_voila"], batch=1, every=r * copies, runs=2, progress=False)
        ratios.append(float(study.ratio("s_voila")[-1]))
        bounds.append(streaming_lower_bound(r, copies, budget))
        rows += [{"strata": r, "what": what, "ratio": value} for what, value in
                 (("S-VOILA", ratios[-1]), ("bound", bounds[-1]), ("r / 3", r / 3))]
        claims.append(bound(f"V / V* of S-VOILA, r = {r}, alpha = M = {budget}", f"at least {bounds[-1]:.3g}",
                            ratios[-1], low=bounds[-1]))
    slope = np.polyfit(np.log(sizes), np.log(ratios), 1)[0]
    return [*claims, bound("power of r with which V / V* grows", "1", float(slope), low=.9, high=1.25),
            bound("power of r with which the bound grows from r = 64 to 256", "1",
                  math.log(bounds[3] / bounds[2]) / math.log(4), low=.7, high=1.05),
            *_inequalities(), *_uniform()], rows


def _inequalities() -> list:
    right, cases = 0, 0
    for r, a in itertools.product(range(3, 40), range(3, 40)):
        step, cases = 1 / (r - 1), cases + 1
        first = [1.0] * (a - 1) + [1 + step, 2 - step]
        spread, others = len(first) * np.std(first), (r - 1) * (a - 1) ** .5 * step
        right += a ** .5 / 2 - 1e-9 <= spread <= a ** .5 and a ** .5 / 2 <= others <= a ** .5
    return [every("inequalities 8 to 10, r and alpha from 3 to 39", right, cases)]


def _uniform() -> list:
    size, sd, budget = [10, 1000], [1, 1e-6], 14
    variance = [allocate(size, budget, method, stratum_sd=sd, minimum=0).variance for method in ("equal", "voila")]
    return [bound("variance of uniform allocation over the best, strata of 10 (sd 1) and 1,000 (sd 1e-6), M = 14",
                  "at most r = 2", variance[0] / variance[1], high=2)]


@PAPER.item("lemma5", "Each stratum's sample is uniform", seconds=5)
def _lemma5(setting: Any) -> tuple:
    strata, values = [0, 0, 0, 1, 1, 1, 1, 0, 0], [0., 1, 0, 0, 10, 0, 10, 100, -100]
    counted, estimates = dict[Any, Any](), []
    first, second = ([t for t, h in enumerate(strata) if h == k] for k in (0, 1))
    for one in itertools.permutations(range(len(first))):
        for two in itertools.permutations(range(len(second))):
            keys = dict(zip([*first, *second], [*one, *(10 + k for k in two)], strict=True))
            held = printed.stream_sample(strata, values, [keys[t] for t in range(9)], 4, 1)
            mine = tuple(t for t in held if strata[t] == 0)
            counted.setdefault(len(mine), []).append(mine)
            estimates.append(float(sum(len(rows) * np.mean([values[t] for t in held if t in rows])
                                 for rows in (first, second))) / 9)
    shares = {size: [np.mean([t in sample for sample in samples]) for t in first] for size, samples in counted.items()}
    right = sum(abs(share - size / 5) < 1e-9 for size, found in shares.items() for share in found)
    widest = max(max(found) - min(found) for found in shares.values())
    return [every("chances of a record, given the sample's size s, that are s / n (2,880 orders of keys)", right,
                  5 * len(shares)),
            bound("largest difference of two records' chances, given the size", "0", float(widest), high=1e-9),
            number("mean of the estimate over all orders, against the mean: unbiased", float(np.mean(values)),
                   float(np.mean(estimates)))], [{"size": size, **{f"record {t}": round(float(share), 4) for t, share in
                                                                   zip(first, found, strict=True)}}
                                                 for size, found in sorted(shares.items())]


@PAPER.item("theorem5", "A record costs O(r) at worst, O(1) expected; a minibatch O(r log r + b)")
def _theorem5(setting: Any) -> tuple:
    return [unchecked("the times", BYSTANDERS)], []


@PAPER.item("algorithm5", "S-VOILA begins with the first M records")
def _algorithm5(setting: Any) -> tuple:
    stratum, values = jump_stream(1000, runs=1, rng=1)
    sampler = StreamSampler(1000).update(stratum[0], values[0])
    return [equal("estimate of the mean while all records fit", sampler.estimate().estimate - values.mean()),
            number("records held", "1000", float(sum(sampler.sizes().values())))], []


@PAPER.item("algorithm6", "S-VOILA keeps a stratified sample of a stream", seconds=2, data="simulated stream")
def _algorithm6(setting: Any) -> tuple:
    rng = np.random.default_rng(1)
    stratum = rng.integers(0, 10, 4000)
    values = rng.standard_normal(4000) * (1 + stratum)
    study = simulate_stream(stratum, values, 100, methods=["s_voila_printed", "s_voila"], last=[7, 8, 9], every=400,
                            runs=setting.runs(20, 200, 10), rng=2, progress=False)
    infinite = float(study.infinite("s_voila_printed").mean())
    return [bound("share of runs and checkpoints with an infinite variance, strata that come late", "none", infinite,
                  high=0, correction=Correction("a floor of two records per stratum",
                                                ours=float(study.infinite("s_voila").mean())), corrected_high=0),
            bound("variance over VOILA's at the end, with the floor", "close to 1", float(study.ratio("s_voila")[-1]),
                  high=1.1)], []
