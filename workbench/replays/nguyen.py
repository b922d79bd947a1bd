"""Nguyen et al.: variance-optimal stratified samples of stored data and of streams, VOILA and S-VOILA.

References
----------
.. [1] Nguyen, Shih, Srivastava, Tirthapura & Xu, Stratified random sampling from streaming and stored data, EDBT 2019.
"""
from __future__ import annotations

import functools
import itertools
import math

import numpy as np

from workbench.allocation.rules import allocate, reduce_sample
from workbench.allocation.stream import StreamSampler
from workbench.replays import figures
from workbench.replays import printed_algorithms as printed
from workbench.replays.claims import Correction, bound, equal, every, number, unchecked
from workbench.replays.items import Paper
from workbench.simulations.allocation import jump_stream, simulate_stream
from workbench.simulations.streams import STRATA, adversarial_stream, air_quality_stream, streaming_lower_bound

PAPER = Paper("nguyen", "Variance-optimal offline and streaming stratified random sampling")
TWIN = "synthetic twin of OpenAQ"
DAYS, SHOWN = 366, 11
METHODS = ("voila", "s_voila", "neyman", "neyman_plus", "uniform", "reservoir")
FIRST, SECOND = (1, 2, 4, 2, 1), (1000, 1050, 1200, 1300)
EXACT = Correction("exact for samples without replacement, with N - 1; printed is the formula with replacement")
BYSTANDERS = "a bound on time for any input, which no run can show"


# section 1 and theory

@PAPER.item("introduction", "Nine values: stratified samples of two have 46 times less variance, three still less; "
            "Neyman wants 917 of 100")
def introduction(setting):
    y, total = np.array([*FIRST, *SECOND], float), sum((*FIRST, *SECOND))
    uniform = np.var([9 * np.mean(s) for s in itertools.combinations(y, 2)])
    two, three = (np.var([5 * np.mean(a) + 4 * np.mean(b) for a in itertools.combinations(FIRST, 1)
                          for b in itertools.combinations(SECOND, k)]) for k in (1, 2))
    size, sd = [100] + 9 * [1000], [100] + 9 * [.1]
    wanted = 1000 * np.array(size) * sd / np.dot(size, sd)
    held = allocate(size, 1000, "voila", stratum_sd=sd, minimum=0)
    return [number("variance of the sum from two of nine, all 36 samples", "1.3e7", float(uniform), correction=Correction(
                EXACT.how, printed=float(81 * y.var() / 2), ours=float(81 * y.var() / 2))),
            number("variance from one of each stratum, all 20", "2e5", float(two)),
            number("how many times smaller", "46", float(uniform / two)),
            number("variance from one and two, all 30", "1e5", float(three)),
            number("mean over all samples of two, against the sum", float(total),
                   float(np.mean([9 * np.mean(s) for s in itertools.combinations(y, 2)]))),
            number("Neyman's records of stratum 1, which has 100", "917", float(wanted[0])),
            number("Neyman's records of each other stratum", "9", float(wanted[1])),
            number("VOILA's records of stratum 1", "100", float(held.labeled[0]))], []


def _small_cases(count, seed=0, strata=3, most=4):
    """Yield spreads, sizes held and a smaller total of small random samples."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        held = rng.integers(1, most + 1, strata)
        yield np.exp(rng.normal(0, 1, strata)), held, int(rng.integers(strata, held.sum())) if held.sum() > strata else 0


def _evictions(count):
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
def definition1(setting):
    return [unchecked("the term", "a definition, which claims nothing")], []


@PAPER.item("definition2", "The array Q of strata, sorted by s / (n sigma)")
def definition2(setting):
    return [unchecked("the term", "a definition, which claims nothing")], []


@PAPER.item("lemma1", "Taking a record where n sigma / s is least raises the variance least")
def lemma1(setting):
    right, exact = _evictions(2000)
    return [every("random samples of 2 to 11 per stratum, near the optimum", right, 2000, correction=Correction(
        "where n^2 sigma^2 / (s (s - 1)) is least"), corrected_right=exact)], []


@PAPER.item("algorithm1", "SingleSSR returns that stratum")
def algorithm1(setting):
    right, exact = _evictions(2000)
    empties = sum(printed.single_ssr(np.ones(3), spread, np.array([1, 2, 3])) == 0 for spread in
                  np.exp(np.random.default_rng(2).normal(0, 1, (1000, 3))))
    return [every("random samples in which it costs least", right, 2000, correction=Correction(
                "with the exact cost n^2 sigma^2 / (s (s - 1))"), corrected_right=exact),
            bound("share of samples with one record in a stratum that varies which it empties", "0",
                  empties / 1000, high=0)], []


@PAPER.item("lemma2", "Only oversized strata lose records in an optimal reduction", seconds=1)
def lemma2(setting):
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


def _reduced(spread, held, total):
    """Return the optimal reduction in real numbers of the library, for strata with N = 10^9 records each."""
    return np.asarray(reduce_sample(np.full(len(spread), 10 ** 9), spread, held, total, minimum=0, integer=False).labeled)


@PAPER.item("lemma3", "The oversized strata are reduced as if they were alone")
def lemma3(setting):
    differences = []
    for spread, held, total in _small_cases(400, seed=3, strata=5):
        over = held > total * spread / spread.sum()
        if total and over.any():
            alone = _reduced(spread[over], held[over], total - held[~over].sum())
            differences.append(np.abs(_reduced(spread, held, total)[over] - alone).max())
    return [equal(f"sizes in {len(differences)} random samples", differences)], []


@PAPER.item("lemma4", "The strata that are not oversized are the first of Q")
def lemma4(setting):
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
def observation1(setting):
    rng, differences = np.random.default_rng(5), []
    for _ in range(300):
        spread = np.exp(rng.normal(0, 1, 5))
        share = 40 * spread / spread.sum()
        held = np.ceil(share) + rng.integers(1, 9, 5)
        differences.append(np.abs(_reduced(spread, held.astype(int), 40) - share).max())
    return [equal("sizes in 300 random samples", differences)], []


def _matches(algorithm, cases):
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


def _hard_cases(count):
    """Return samples of which some have no spread, or are not reduced at all."""
    cases = []
    for k, (spread, held, total) in enumerate(_small_cases(count, seed=6, strata=4, most=9)):
        spread = np.where(np.arange(4) == k % 4, 0, spread) if k % 3 == 0 else spread
        cases.append((spread, held, int(held.sum()) if k % 3 == 1 else total))
    return [case for case in cases if case[2]]


@PAPER.item("theorem1", "SSR finds an optimal reduction, in time O(r^2)")
def theorem1(setting):
    plain = [case for case in _small_cases(500, seed=7, strata=5, most=9) if case[2]]
    return [every("random reductions that are optimal in real numbers", _matches(printed.ssr, plain), len(plain)),
            unchecked("time O(r^2)", BYSTANDERS)], []


@PAPER.item("algorithm2", "SSR, recursive")
def algorithm2(setting):
    plain = [case for case in _small_cases(500, seed=8, strata=6, most=9) if case[2]]
    return [every("random reductions that are optimal in real numbers", _matches(printed.ssr, plain), len(plain)),
            *_rounded(plain[:150])], []


def _rounded(cases):
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
def theorem2(setting):
    plain = [case for case in _small_cases(500, seed=9, strata=5, most=9) if case[2]]
    return [every("random reductions that are optimal in real numbers, spreads above 0",
                  _matches(printed.fast_ssr, plain), len(plain)),
            unchecked("time O(r log r)", BYSTANDERS)], []


@PAPER.item("algorithm3", "FastSSR, without recursion")
def algorithm3(setting):
    hard = _hard_cases(300)
    plain = [case for case in hard if (case[0] > 0).all() and case[2] < case[1].sum()]
    right = _matches(printed.fast_ssr, hard)
    only = _matches(printed.fast_ssr, plain)
    return [every("reductions, some with a stratum of equal values, some of nothing", right, len(hard),
                  correction=Correction("for spreads above 0 and a total below what is held, of which it solves "
                                        f"{only} of {len(plain)}"),
                  corrected_right=len(hard) if only == len(plain) else only)], []


@PAPER.item("theorem3", "VOILA gives the least variance of all allocations")
def theorem3(setting):
    return _voila(10), []


@PAPER.item("algorithm4", "VOILA is FastSSR of everything")
def algorithm4(setting):
    return _voila(11), []


def _voila(seed):
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


@PAPER.item("theorem4", "A streaming sampler's variance is in the worst case r times the best", seconds=8,
            data="the stream of the proof", draw=figures.lines("strata", "ratio", "what", log="xy", x_title="r, strata",
                                                              y_title="V / V*"))
def theorem4(setting):
    budget = copies = 1024
    sizes, rows, claims = (4, 16, 64, 256), [], []
    ratios, bounds = [], []
    for r in sizes:
        stream = adversarial_stream(r, copies)
        study = simulate_stream(*stream, budget, methods=["s_voila"], batch=1, every=r * copies, runs=2, progress=False)
        ratios.append(float(study.ratio("s_voila")[-1]))
        bounds.append(streaming_lower_bound(r, copies, budget))
        rows += [{"strata": r, "what": "S-VOILA", "ratio": ratios[-1]}, {"strata": r, "what": "bound", "ratio": bounds[-1]},
                 {"strata": r, "what": "r / 3", "ratio": r / 3}]
        claims.append(bound(f"V / V* of S-VOILA, r = {r}, alpha = M = {budget}", f"at least {bounds[-1]:.3g}, of order r",
                            ratios[-1], low=bounds[-1]))
    slope = np.polyfit(np.log(sizes), np.log(ratios), 1)[0]
    return [*claims, bound("power of r with which V / V* grows", "1", float(slope), low=.9, high=1.25),
            bound("power of r with which the bound grows from r = 64 to 256", "1",
                  math.log(bounds[3] / bounds[2]) / math.log(4), low=.7, high=1.05),
            *_inequalities(), *_uniform()], rows


def _inequalities():
    right, cases = 0, 0
    for r, a in itertools.product(range(3, 40), range(3, 40)):
        step, cases = 1 / (r - 1), cases + 1
        first = [1.0] * (a - 1) + [1 + step, 2 - step]
        spread, others = len(first) * np.std(first), (r - 1) * (a - 1) ** .5 * step
        right += a ** .5 / 2 - 1e-9 <= spread <= a ** .5 and a ** .5 / 2 <= others <= a ** .5
    return [every("inequalities 8 to 10, r and alpha from 3 to 39", right, cases)]


def _uniform():
    size, sd, budget = [10, 1000], [1, 1e-6], 14
    variance = [allocate(size, budget, method, stratum_sd=sd, minimum=0).variance for method in ("equal", "voila")]
    return [bound("variance of uniform allocation over the best, strata of 10 (sd 1) and 1,000 (sd 1e-6), M = 14",
                  "at most r = 2", variance[0] / variance[1], high=2)]


@PAPER.item("lemma5", "Each stratum's sample is uniform", seconds=5)
def lemma5(setting):
    strata, values = [0, 0, 0, 1, 1, 1, 1, 0, 0], [0., 1, 0, 0, 10, 0, 10, 100, -100]
    counted, estimates = {}, []
    first, second = ([t for t, h in enumerate(strata) if h == k] for k in (0, 1))
    for one in itertools.permutations(range(len(first))):
        for two in itertools.permutations(range(len(second))):
            keys = dict(zip([*first, *second], [*one, *(10 + k for k in two)], strict=True))
            held = printed.stream_sample(strata, values, [keys[t] for t in range(9)], 4, 1)
            mine = tuple(t for t in held if strata[t] == 0)
            counted.setdefault(len(mine), []).append(mine)
            estimates.append(sum(len(rows) * np.mean([values[t] for t in held if t in rows])
                                 for rows in (first, second)) / 9)
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
def theorem5(setting):
    return [unchecked("the times", BYSTANDERS)], []


@PAPER.item("algorithm5", "S-VOILA begins with the first M records")
def algorithm5(setting):
    stratum, values = jump_stream(1000, runs=1, rng=1)
    sampler = StreamSampler(1000).update(stratum[0], values[0])
    return [equal("estimate of the mean while all records fit", sampler.estimate().estimate - values.mean()),
            number("records held", "1000", float(sum(sampler.sizes().values())))], []


@PAPER.item("algorithm6", "S-VOILA keeps a stratified sample of a stream", seconds=2, data="simulated stream")
def algorithm6(setting):
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


# the twin of OpenAQ

def _records(setting):
    return DAYS * (8470 if setting.full else max(40, round(847 * setting.scale)))


@functools.cache
def _stream(records):
    return air_quality_stream(records, rng=1)


@functools.cache
def _year(records, batch, methods=METHODS, share=31):
    """Return a year of the twin, ten days between checkpoints; the sample is the paper's share of the records."""
    day = records // DAYS
    return simulate_stream(*_stream(records), records // share, methods=methods, every=10 * day,
                           batch=day if batch == "day" else batch, runs=2, rng=1, progress=False)


def _month(study):
    return study.checkpoint / study.checkpoint[-1] * 12


def _cosine(study, method):
    """Return the cosine distance between a method's allocation and VOILA's, (C,), mean over runs."""
    a, b = study.sampled[method], study.sampled["voila"]
    with np.errstate(invalid="ignore"):
        return (1 - (a * b).sum(-1) / ((a ** 2).sum(-1) * (b ** 2).sum(-1)) ** .5).mean(0)


def _over_time(study, values, series, panel=""):
    return [{"month": float(month), "value": float(value), "series": series} | ({"panel": panel} if panel else {})
            for month, value in zip(_month(study), values, strict=True) if np.isfinite(value)]


def _largest(matrix, study, panel, every_nth=3):
    """Return rows of an area chart: the strata with the largest shares, and all others together."""
    order = np.argsort(-matrix.sum(0))
    rows = []
    for c in range(0, len(matrix), every_nth):
        shown = [(f"stratum {h}", matrix[c, h]) for h in order[:SHOWN]] + [("others", matrix[c, order[SHOWN:]].sum())]
        rows += [{"month": float(_month(study)[c]), "stratum": name, "value": float(value), "panel": panel}
                 for name, value in shown]
    return rows


AREAS = figures.areas("month", "value", "stratum", panel="panel", y_title="share", columns=2)
MONTHS = figures.lines("month", "value", "series", y_title="variance", log="y")


@PAPER.item("fig1", "OpenAQ: 177 strata in the end; frequencies and standard deviations change", seconds=12,
            data=TWIN, draw=AREAS)
def fig1(setting):
    study = _year(_records(setting), "day")
    size, sd = study.stratum_size[0], study.stratum_sd[0]
    first = int(np.searchsorted(_month(study), 1))
    known = size[first] > 0
    wanted = study.budget * size[first] * sd[first] / (size[first] * sd[first]).sum()
    share = size / size.sum(1, keepdims=True)
    moved = np.abs(share[-1] - share[first])[known].max() / share[first][known].max()
    return [number("strata at the end", str(STRATA), float((size[-1] > 0).sum()), twin=TWIN),
            number("strata after a month", "60", float(known.sum()), twin=TWIN),
            number("of them bounded: Neyman wants more than there is", "11", float((wanted[known] > size[first][known])
                                                                                    .sum()), twin=TWIN),
            bound("largest change of a relative frequency, over the largest", "significant", float(moved), low=.1,
                  twin=TWIN)], [*_largest(share, study, "relative frequency"), *_largest(sd, study, "standard deviation")]


@PAPER.item("fig2", "The synthetic stream: equal frequencies, and stratum 12 jumps from 1 to 20 after 10,000 records",
            draw=AREAS)
def fig2(setting):
    study = _jump(setting, 1)
    size, sd = study.stratum_size.mean(0), study.stratum_sd.mean(0)
    last = 20 * (.8 * 400 + .2) ** .5 / 20
    share = size / size.sum(1, keepdims=True)
    return [bound("largest less smallest relative frequency at the end", "equal", float(np.ptp(share[-1])), high=.005),
            number("standard deviation of stratum 12 at the end, (.2 + .8 x 400)^.5", last, float(sd[-1, 11]), error=.06),
            number("standard deviation of the others", "1", float(np.delete(sd[-1], 11).mean()))], [
                *_largest(share, study, "relative frequency", 12), *_largest(sd, study, "standard deviation", 12)]


@PAPER.item("fig3", "After nine months S-VOILA's sizes track VOILA's; reservoir's follow volume, uniform's are equal",
            seconds=1, data=TWIN, draw=figures.bars("stratum", "records", "method", x_title="stratum, the ten largest"))
def fig3(setting):
    study = _year(_records(setting), "day")
    c = int(np.argmin(abs(_month(study) - 9)))
    sizes = {name: study.sampled[name][:, c].mean(0) for name in ("voila", "s_voila", "reservoir", "uniform")}
    volume = study.stratum_size[0, c]
    r = [float(np.corrcoef(sizes[name], against)[0, 1]) for name, against in (("s_voila", sizes["voila"]),
                                                                             ("reservoir", volume))]
    rows = [{"stratum": f"{h}", "method": name, "records": float(sizes[name][h])}
            for h in np.argsort(-sizes["voila"])[:10] for name in sizes]
    return [bound("correlation of S-VOILA's sizes with VOILA's", "closely", r[0], low=.98, twin=TWIN),
            bound("correlation of reservoir's sizes with the records", "proportional", r[1], low=.999, twin=TWIN),
            bound("largest share of uniform's sample over 1 / r, of strata with enough records", "the same",
                  float(sizes["uniform"].max() / np.median(sizes["uniform"][volume > sizes["uniform"].max()])),
                  high=1.01, twin=TWIN)], rows


@PAPER.item("fig4", "The sizes of S-VOILA change over time as VOILA's do", seconds=12, data=TWIN, draw=AREAS)
def fig4(setting):
    claims, rows = [], []
    for name, study, method in _three(setting):
        rows += _largest(study.sampled[method].mean(0), study, name)
        if method != "voila":
            claims.append(bound(f"mean cosine distance from VOILA over the year, {name}", "track each other",
                                float(_cosine(study, method).mean()), high=.02, twin=TWIN))
    return claims, rows


def _three(setting):
    """Return VOILA and S-VOILA one by one and by days, as (name, study, method)."""
    day, single = _year(_records(setting), "day"), _year(_records(setting), 1, ("voila", "s_voila"))
    return (("VOILA", day, "voila"), ("S-VOILA, single", single, "s_voila"), ("S-VOILA, days", day, "s_voila"))


@PAPER.item("fig5", "The cosine distance from VOILA's allocation stays below 0.04; less with minibatches", seconds=1,
            data=TWIN, draw=figures.lines("month", "value", "series", y_title="cosine distance"))
def fig5(setting):
    found = {name: _cosine(study, method) for name, study, method in _three(setting)[1:]}
    rows = [row for name, study, _ in _three(setting)[1:] for row in _over_time(study, found[name], name)]
    single, days = found.values()
    return [bound("largest distance, single", "less than 0.04", float(single.max()), high=.04, twin=TWIN),
            bound("largest distance, days", "less than 0.04", float(days.max()), high=.04, twin=TWIN),
            bound("mean distance of days over that of single", "closer, below 1", float(days.mean() / single.mean()),
                  high=1, twin=TWIN)], rows


@PAPER.item("fig6", "Neyman's variance is 1.4 to 50 times VOILA's, Neyman+'s 1.2 to 7.1 times", seconds=1, data=TWIN,
            draw=MONTHS)
def fig6(setting):
    study = _year(_records(setting), "day")
    claims, rows = [], []
    for method, low, high in (("neyman", 1.4, 50), ("neyman_plus", 1.2, 7.1)):
        ratio = study.ratio(method)
        ratio = ratio[np.isfinite(ratio)]
        claims += [bound(f"least variance of {method} over VOILA's", f"{low} to {high}", float(ratio.min()), low=low,
                         high=high, twin=TWIN),
                   bound(f"largest variance of {method} over VOILA's", f"{low} to {high}", float(ratio.max()), low=low,
                         high=high, twin=TWIN)]
    below = sum(bool((study.ratio(method) < 1 - 1e-9).any()) for method in ("neyman", "neyman_plus"))
    for method in ("voila", "neyman", "neyman_plus"):
        rows += _over_time(study, study.variance[method].mean(0), method)
    return [*claims, bound("methods of the two that are below VOILA anywhere", "none", float(below), high=0)], rows


@PAPER.item("fig7", "The variance of S-VOILA is typically close to VOILA's; less with minibatches", seconds=1, data=TWIN,
            draw=MONTHS)
def fig7(setting):
    rows, ratios = [], {}
    for name, study, method in _three(setting):
        rows += _over_time(study, study.variance[method].mean(0), name)
        ratios[name] = float(np.median(study.ratio(method)))
    return [bound("median variance over VOILA's, single", "close to 1", ratios["S-VOILA, single"], high=1.2, twin=TWIN),
            bound("median variance over VOILA's, days", "very close to 1", ratios["S-VOILA, days"], high=1.1, twin=TWIN),
            bound("days less single", "below 0", ratios["S-VOILA, days"] - ratios["S-VOILA, single"], high=0,
                  twin=TWIN)], rows


@PAPER.item("fig8", "The relative difference rises when new strata come, in March and November, and falls again",
            seconds=1, data=TWIN, draw=figures.lines("month", "value", "series", y_title="relative difference"))
def fig8(setting):
    rows, claims = [], []
    for name, study, method in _three(setting)[1:]:
        difference, month = study.ratio(method) - 1, _month(study)
        rows += _over_time(study, difference, name)
        march, before, later = (float(difference[(month >= a) & (month < b)].max()) for a, b in
                                ((2, 4), (.7, 2), (8, 10)))
        november = float(difference[month >= 10].max())
        claims += [bound(f"{name}: largest difference in March and April over that before", "above 1",
                         march / max(before, 1e-12), low=1, twin=TWIN),
                   bound(f"{name}: that of September and October over March's", "below 1", later / march, high=1,
                         twin=TWIN),
                   bound(f"{name}: that of November and December over September's", "above 1", november / later, low=1,
                         twin=TWIN)]
    return claims, rows


@PAPER.item("fig9", "The variance falls as the sample grows, for VOILA and S-VOILA", seconds=25, data=TWIN,
            draw=figures.lines("share", "variance", "series", log="xy", x_title="sample, share of the records"))
def fig9(setting):
    rows, found, records = [], {}, _records(setting)
    for share in (620, 310, 155, 62, 31):
        for batch in ("day", 1):
            study = _year(records, batch, ("voila", "s_voila"), share) if (batch, share) != ("day", 31) else \
                _year(records, "day")
            c = int(np.argmin(abs(_month(study) - 9)))
            for method, name in (("voila", "VOILA"), ("s_voila", f"S-VOILA, {'days' if batch == 'day' else 'single'}")):
                found.setdefault(name, []).append(float(study.variance[method][:, c].mean()))
                rows.append({"share": 1 / share, "series": name, "variance": found[name][-1]})
    rows = [dict(pairs) for pairs in dict.fromkeys(tuple(row.items()) for row in rows)]
    return [bound(f"{name}: largest step of the variance to a larger sample, relative", "below 0",
                  float(max(np.diff(values) / values[:-1])), high=0, twin=TWIN) for name, values in
            ((name, list(dict.fromkeys(values))) for name, values in found.items())], rows


@PAPER.item("fig10", "Batches of 10 are much better than single records, of 100 nearly optimal", seconds=30, data=TWIN,
            draw=figures.lines("batch", "ratio", "month", log="x", x_title="minibatch", y_title="variance over VOILA's"))
def fig10(setting):
    records, rows, ratios = _records(setting), [], {}
    for batch in (1, 10, 100, 1000, 10_000):
        study = simulate_stream(*_stream(records), records // 31, methods=["s_voila"], batch=batch, every=30_000
                                if batch > 1000 else 10_000, runs=1, rng=1, progress=False)
        at = study.checkpoint / records * 12
        for month in (3, 6, 9, 12):
            ratios[batch, month] = float(study.ratio("s_voila")[np.argmin(abs(at - month))])
            rows.append({"batch": batch, "month": f"month {month}", "ratio": ratios[batch, month]})
    gain = max((ratios[1, m] - ratios[10, m]) / ratios[1, m] for m in (3, 6, 9, 12))
    return [bound("largest part of the variance that batches of 10 save against single records", "significantly better",
                  gain, low=.05, twin=TWIN),
            bound("largest variance over VOILA's with batches of 100", "nearly 1",
                  max(ratios[100, m] for m in (3, 6, 9, 12)), high=1.05, twin=TWIN)], rows


def _errors(study, truth, name=None):
    """Return {method: expected relative error in percent}, (C,) each."""
    return {method: 100 * (2 / np.pi) ** .5 * study.rmse(method) / np.abs(truth)
            for method in (name or ("voila", "s_voila", "uniform", "reservoir"))}


@PAPER.item("fig11", "Relative query errors as the data grow: S-VOILA near VOILA, reservoir and uniform worse",
            seconds=1, data=TWIN, draw=figures.lines("month", "value", "series", y_title="relative error in percent"))
def fig11(setting):
    study = _year(_records(setting), "day")
    truth = _running_mean(_stream(_records(setting))[1], study.checkpoint)
    errors = _errors(study, truth)
    rows = [row for name, values in errors.items() for row in _over_time(study, values, name)]
    late = _month(study) > 1
    return [bound(f"mean error of {name} over that of VOILA", said, float(np.mean(errors[name][late]
                                                                                / errors["voila"][late])),
                  low=low, high=high, twin=TWIN)
            for name, said, low, high in (("s_voila", "very close to 1", .5, 1.5), ("reservoir", "above 1", 1.2, np.inf),
                                          ("uniform", "above 1", 1.2, np.inf))], rows


def _running_mean(values, stops):
    return np.cumsum(values)[stops - 1] / stops


@PAPER.item("fig12", "Relative query errors as the sample grows: the same order", seconds=8, data=TWIN,
            draw=figures.lines("share", "value", "series", log="xy", x_title="sample, share of the records",
                               y_title="relative error in percent"))
def fig12(setting):
    rows, ratios, records = [], {}, _records(setting)
    for share in (620, 310, 155, 62):
        study = _year(records, "day", ("voila", "s_voila", "uniform", "reservoir"), share)
        c = int(np.argmin(abs(_month(study) - 9)))
        errors = _errors(study, _running_mean(_stream(records)[1], study.checkpoint))
        for name, values in errors.items():
            ratios.setdefault(name, []).append(float(values[c] / errors["voila"][c]))
            rows.append({"share": 1 / share, "series": name, "value": float(values[c])})
    return [bound(f"least error of {name} over VOILA's", "above 1", min(ratios[name]), low=1.2, twin=TWIN)
            for name in ("reservoir", "uniform")], rows


# the synthetic stream

@functools.cache
def _jump_study(records, batch, runs):
    return simulate_stream(*jump_stream(records, runs=runs, jump_at=records // 5, rng=1), records // 50,
                           methods=["s_voila", "uniform", "reservoir"], batch=batch, every=max(batch, records // 250),
                           rng=2, progress=False)


def _jump(setting, batch):
    records = 50_000 if setting.scale >= 1 else 10_000
    return _jump_study(records, batch, 20 if setting.full else 5)


@PAPER.item("fig13", "After the jump stratum 12 gets more, in VOILA at once, in S-VOILA slowly", seconds=8,
            data="the paper's synthetic stream", draw=AREAS)
def fig13(setting):
    rows, shares = [], {}
    for name, batch, method in (("VOILA", 1, "voila"), ("S-VOILA, single", 1, "s_voila"),
                                ("S-VOILA, batches of 100", 100, "s_voila")):
        study = _jump(setting, batch)
        rows += _largest(study.sampled[method].mean(0), study, name, 12)
        soon = int(np.searchsorted(study.checkpoint, .24 * study.checkpoint[-1]))
        part = study.sampled[method].mean(0)[:, 11] / study.budget
        shares[name] = float(part[soon]), float(part[-1])
    names = list(shares)
    return [bound("share of stratum 12 just after the jump, VOILA less S-VOILA", "above 0",
                  shares[names[0]][0] - shares[names[1]][0], low=0),
            bound("share of stratum 12 at the end, S-VOILA over VOILA", "catches up, near 1",
                  shares[names[1]][1] / shares[names[0]][1], low=.9, high=1.1),
            bound("share of stratum 12 just after the jump, batches of 100 less single", "closer to VOILA, above 0",
                  shares[names[2]][0] - shares[names[1]][0], low=.005)], rows


@PAPER.item("fig14", "After the jump the variance of S-VOILA rises and comes back; larger minibatches sooner", seconds=1,
            data="the paper's synthetic stream", draw=figures.lines("records", "ratio", "batch", y_title="variance over "
                                                                   "VOILA's"))
def fig14(setting):
    rows, found = [], {}
    for batch in (1, 10, 100):
        study = _jump(setting, batch)
        ratio = study.ratio("s_voila")
        found[batch] = ratio[study.checkpoint % 1000 == 0]
        rows += [{"records": int(n), "ratio": float(value), "batch": f"{batch}"} for n, value in
                 zip(study.checkpoint[::5], ratio[::5], strict=True)]
    before, single = len(found[1]) // 5 - 1, found[1]
    gain = max(1 - found[100][before + 1:] / single[before + 1:])
    return [bound("variance over VOILA's before the jump", "nearly 1", float(single[before]), high=1.1),
            bound("largest variance over VOILA's after the jump, single", "increases faster, above 1",
                  float(single.max()), low=1.5),
            bound("variance over VOILA's at the end, single", "converges, 1", float(single[-1]), high=1.25),
            bound("largest part of the variance that batches of 100 save against single records", "converge the fastest",
                  float(gain), low=.05)], rows


@PAPER.item("fig15", "Query errors on that stream: S-VOILA's rise after the jump, VOILA's less", seconds=1,
            data="the paper's synthetic stream", draw=figures.lines("records", "value", "series",
                                                                   y_title="relative error in percent"))
def fig15(setting):
    rows, errors = [], {}
    for batch in (1, 100):
        study = _jump(setting, batch)
        found = _errors(study, np.ones(1), ("s_voila",) if batch > 1 else None)
        errors |= {(f"s_voila, {batch}" if name == "s_voila" else name): (study.checkpoint, values)
                   for name, values in found.items()}
    for name, (records, values) in errors.items():
        rows += [{"records": int(n), "value": float(v), "series": name} for n, v in
                 zip(records[::8], values[::8], strict=True)]
    after = {name: float(values[(records > .2 * records[-1]) & (records < .4 * records[-1])].mean())
             for name, (records, values) in errors.items()}
    end = {name: float(values[-40:].mean()) for name, (_, values) in errors.items()}
    return [bound("error of S-VOILA soon after the jump over VOILA's", "above 1", after["s_voila, 1"] / after["voila"],
                  low=1),
            bound("error of S-VOILA in batches of 100 over that of single records, at the end", "closer to VOILA, below 1",
                  end["s_voila, 100"] / end["s_voila, 1"], high=.98)], rows
