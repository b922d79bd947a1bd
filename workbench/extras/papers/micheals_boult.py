"""Micheals & Boult: evaluation of recognizers in strata, half-samples and orthogonal arrays.

References
----------
.. [1] Micheals & Boult, A stratified methodology for classifier and recognizer evaluation, 2001.
.. [2] Cochran, Sampling techniques, 3rd ed., 1977, section 3.12: sites without bacilli per patient.
.. [3] Kish, Confidence intervals for clustered samples, American Sociological Review 22, 1957.
"""

import itertools
import operator
from typing import Any

import numpy as np
from numpy import ndarray
from numpy.random import default_rng
from scipy import special

from workbench.extras.papers.claims import Correction, bound, equal, every, number, unchecked
from workbench.extras.papers.items import Claims, Figure, Paper, Setting, drawn
from workbench.replication.arrays import check_balance, hadamard, orthogonal_array, smallest_runs
from workbench.replication.designs import SurveyDesign
from workbench.replication.estimates import replicate_estimate
from workbench.replication.galois import GaloisField
from workbench.replication.identification import identification_candidates, identification_ranks
from workbench.replication.replicates import replicates
from workbench.simulations.replication import simulate_coverage, simulate_random_halves

PAPER = Paper(
    "micheals-boult",
    "A stratified methodology for classifier and recognizer evaluation",
    "Micheals & Boult, 2001",
    {
        "2.2": "section2.2",
        "3": "criterion1 criterion2 criterion3",
        "5.1": "kish cochran section5.1",
        "6": "eq1 eq2 eq3",
        "7.1": "section7.1 eq4 eq5 eq6 eq7 eq8 eq9 eq10",
        "7.2": "eq11 eq12 eq13 eq14 eq15",
        "7.3": "eq16 eq17 eq18 section7.3",
        "7.4": "section7.4",
        "A": "eq19 eq20 eq21",
        "B.1": "definition eq22 eq23 eq24",
        "B.2": "fig1 fig2",
        "B.3": "eq25",
    },
)
item = PAPER.item
# patients by the number of their six sites that were negative, 0 to 6
LEPROSY = (17, 11, 4, 4, 7, 14, 4)
SITES = 6
# all half-samples of five strata, (32, 5) of +1 and -1
HALVES = np.array(list(itertools.product((1, -1), repeat=5)))
# equation 12 as printed: seven rows for eight replicates
PRINTED_ARRAY = np.array(
    [
        [1 if sign == "+" else -1 for sign in row]
        for row in ("++-+---", "+-+--++", "++--++-", "+--++++", "--++-+-", "-++++--", "+++++++")
    ]
)
# the array as it must be: rotations of its first row, and a row of +
BALANCED = np.array([*(np.roll(PRINTED_ARRAY[0], -k) for k in range(7)), np.ones(7, int)])
THIRD = (2, 1, 2, 2, 2, 1, 2)
# figure 1: coefficients of the powers of g, highest first, by exponent
PRINTED_POWERS = {
    1: (2, 2, 0, 0, 2),
    2: (2, 1, 0, 0, 2),
    3: (1, 2, 2, 0, 2),
    241: (2, 2, 1, 1, 1),
    242: (0, 0, 0, 0, 1),
}
NAMED, MENDED = (1, 2, 0, 0, 0, 1), (1, 0, 1, 0, 1, 1)
G = 218


# samples of sections 6 and 7


class _Sample:
    """A stratified sample: weights (L,), values (L, n), mean and textbook variance."""

    def __init__(self, strata: int = 5, units: int = 2) -> None:
        rng = default_rng(0)
        self.weight = rng.dirichlet(np.ones(strata))
        self.values = rng.normal(size=(strata, units))
        self.mean = self.weight @ self.values.mean(1)
        squares = self.weight**2 * self.values.var(1, ddof=1)
        self.variance = float(squares.sum() / units)

    def estimates(self, units: ndarray) -> ndarray:
        """Return the estimates of replicates from the unit that each keeps per stratum."""
        return self.values[np.arange(len(self.weight)), units] @ self.weight

    def misses(self, signs: ndarray) -> ndarray:
        """Return the differences of half-samples from the full estimate."""
        return self.estimates(_units(signs)) - self.mean


def _units(signs: ndarray) -> ndarray:
    """Return the unit that a half-sample keeps per stratum, 0 for + and 1 for -."""
    return np.where(signs > 0, 0, 1)


SAMPLE = _Sample()
WEIGHT, VALUES, MEAN = SAMPLE.weight, SAMPLE.values, SAMPLE.mean
DESIGN = SurveyDesign(np.repeat(np.arange(5), 2), weight=np.repeat(WEIGHT / 2, 2))


def _even_pairs(array: ndarray) -> tuple:
    """Return the number of orthogonal pairs of columns, and the number of pairs."""
    products = (array.T @ array)[np.triu_indices(array.shape[1], 1)]
    return int((products == 0).sum()), products.size


# sections 2 to 5


@item(
    "section2.2",
    "The rank of a probe, its relative rank, and n candidates",
    draw=drawn(
        "lines",
        "n",
        "share",
        "what",
        x_title="n, candidates",
        y_title="proportion of probes with their class among n candidates",
    ),
)
def _section2_2() -> Claims:
    rng, m = default_rng(0), 60
    similarity = rng.normal(size=(m, m)) + 2 * np.eye(m)
    ranks = identification_ranks(similarity, np.arange(m))
    expected = np.array([sum(other >= row[k] for other in row) for k, row in enumerate(similarity)])
    shares = [
        float(np.mean([k in row for k, row in enumerate(identification_candidates(similarity, n))]))
        for n in range(1, m + 1)
    ]
    larger = identification_ranks(np.eye(2 * m), np.arange(2 * m), relative=True)
    first, second = {"Ann 1", "Bob 1"}, {"Ann 2", "Bob 2"}
    yield equal(
        "rank: number of scores in the gallery that are at least as large as that of the "
        "class, 60 probes",
        ranks - expected,
    )
    yield equal(
        "proportion with the class among n candidates, minus that with ranks up to n, n = 1 to 60",
        np.array(shares) - [(ranks <= n).mean() for n in range(1, m + 1)],
        printed="the top n",
    )
    yield bound(
        "best relative rank of 120 probes over that of 60",
        "a lower best rank",
        larger.min() * m,
        high=1 - 1e-9,
    )
    yield bound(
        "images in the union of two equally representative sets, each with an image of two people",
        "empty",
        len(first | second),
        high=0,
        correction=Correction("the intersection is empty", ours=len(first & second), high=0),
    )
    yield Figure(
        [{"n": n, "share": share, "what": "identified"} for n, share in enumerate(shares, 1)]
    )


@item("criterion1", "Make few statistical assumptions")
def _criterion1() -> Claims:
    yield unchecked("minimal assumptions are to be preferred", "a principle, without a number")


@item(
    "criterion2",
    "Account for clusters: intervals that ignore them cover too little",
    data="simulated classes and people",
)
def _criterion2(setting: Setting) -> Claims:
    study = simulate_coverage(50, 2, 6, icc=0.45, runs=setting.runs(2000, 10_000), rng=1)
    yield bound(
        "coverage of the 95% binomial interval, six images of each of 100 people",
        "serious consequences",
        study.coverage("naive"),
        high=0.9,
        error=study.coverage_error("naive"),
    )
    yield bound(
        "coverage of the 95% interval from replicates",
        "account for clusters",
        study.coverage(),
        low=0.93,
        high=0.98,
        error=study.coverage_error(),
    )


@item("criterion3", "Use the estimator of the design: without replacement, counts are not binomial")
def _criterion3() -> Claims:
    size, right, n = 10, 4, 5
    exact = np.var(
        [sum(chosen) for chosen in itertools.combinations([1] * right + [0] * (size - right), n)]
    )
    binomial = n * right / size * (1 - right / size)
    yield equal(
        "variance of a count, all samples of 5 from 10 with 4 correct, minus the "
        "hypergeometric one",
        exact - binomial * (size - n) / (size - 1),
        printed="hypergeometric",
    )
    yield bound(
        "binomial variance over the exact one", "a better choice", binomial / exact, low=1.01
    )


@item(
    "kish", "If rho (n - 1) is .2, a 95% interval misses the true value in 7.4% of cases, not in 5%"
)
def _kish() -> Claims:
    errs = 2 * special.ndtr(special.ndtri(0.025) / 1.2**0.5)
    yield number("proportion of errors", "0.074", errs)
    yield bound(
        "increase of errors in percent", "nearly 50", 100 * (errs / 0.05 - 1), low=40, high=50
    )


@item(
    "cochran",
    "Leprosy: 41.8% of 366 sites negative, standard error 4.65% instead of 2.58%",
    data="Cochran's counts of 61 patients",
    draw=drawn("bars", "negative", "patients", "series", x_title="negative sites of six"),
)
def _cochran() -> Claims:
    patients = np.repeat(np.arange(SITES + 1), LEPROSY)
    total = SITES * patients.size
    share = patients.sum() / total
    binomial = 100 * (share * (1 - share) / total) ** 0.5
    clusters = 100 * (patients.std(ddof=1) / patients.size**0.5 / SITES)
    y = (np.tile(np.arange(SITES), patients.size) < np.repeat(patients, SITES)).astype(int)
    design = SurveyDesign(np.zeros(total, int), psu=np.repeat(np.arange(patients.size), SITES))
    jackknife = 100 * replicate_estimate(replicates(design, "jkn"), "proportion", y).standard_error
    expected = [
        float(patients.size * special.comb(SITES, k) * share**k * (1 - share) ** (SITES - k))
        for k in range(SITES + 1)
    ]
    yield number("sites", "366", total)
    yield number("negative sites", "153", patients.sum())
    yield number("percent negative", "41.8", 100 * share)
    yield number("standard error from the binomial formula, in percent", "2.58", binomial)
    yield number("standard error with patients as clusters, in percent", "4.65", clusters)
    yield number("the same standard error from the jackknife of `replicates`", "4.65", jackknife)
    yield number("ratio of both standard errors", "1.8", clusters / binomial)
    rows = []
    for series, counts in (("observed", LEPROSY), ("binomial", expected)):
        rows += [
            {"negative": negative, "patients": count, "series": series}
            for negative, count in enumerate(counts)
        ]
    yield Figure(rows)


@item(
    "section5.1",
    "Probabilities that vary within a trial decrease the standard error; between trials, they "
    "increase it",
)
def _section5_1() -> Claims:
    p = np.array([0.2, 0.5, 0.8, 0.9])
    n = p.size
    common = n * p.mean() * (1 - p.mean())
    between = n * (p - p**2).mean() + n**2 * p.var()
    yield bound(
        "variance of the count of a trial with four different probabilities, over the binomial one",
        "reduced",
        (p * (1 - p)).sum() / common,
        high=1,
    )
    yield bound(
        "the same if each trial has one of these probabilities",
        "increased",
        between / common,
        low=1,
    )


# section 6


@item("eq1", "The stratified mean is unbiased")
def _eq1() -> Claims:
    population = [np.array([1.0, 4, 7]), np.array([2.0, 3, 10, 11])]
    weight = np.array([3, 4]) / 7
    means = [np.array([np.mean(s) for s in itertools.combinations(y, 2)]) for y in population]
    estimates = [weight @ pair for pair in itertools.product(*means)]
    yield equal(
        "mean over all 18 samples of two per stratum, minus the mean of the population",
        np.mean(estimates) - np.concatenate(population).mean(),
        printed="unbiased",
    )


@item("eq2", "The mean of a stratum's sample")
def _eq2() -> Claims:
    estimate = replicate_estimate(replicates(DESIGN, "brr"), "mean", VALUES.ravel()).estimate
    yield equal(
        "weighted sum of the means of the strata, minus `replicate_estimate`", estimate - MEAN
    )


@item("eq3", "With proportional samples, the stratified mean is the plain mean")
def _eq3() -> Claims:
    rng, sizes = default_rng(0), np.array([2, 4, 6])
    values = [rng.normal(size=n) for n in sizes]
    stratified = (sizes / sizes.sum()) @ [y.mean() for y in values]
    yield equal(
        "difference of both means, samples of 2, 4 and 6",
        stratified - np.concatenate(values).mean(),
    )


# section 7: half-samples


@item("section7.1", "Two units per stratum: two sets, 2^L half-samples, one degree of freedom")
def _section7_1(setting: Setting) -> Claims:
    runs, means = setting.runs(100_000, 400_000), VALUES.mean(0)
    squares = (default_rng(0).standard_normal((runs, 2)) @ [0.5, -0.5]) ** 2
    df = 2 * squares.mean() ** 2 / squares.var()
    yield equal(
        "equal weights: mean of the means of the two sets, minus the stratified mean",
        means.mean() - VALUES.mean(1).mean(),
    )
    yield number("half-samples of five strata, 2^L", float(2**5), len(np.unique(HALVES, axis=0)))
    yield bound(
        "degrees of freedom of (first - second)^2 / 4, two normal means",
        "only one",
        df,
        low=1,
        high=1,
        error=df * (20 / runs) ** 0.5,
    )


@item("eq4", "A half-sample's estimate keeps one unit per stratum")
def _eq4() -> Claims:
    ours = replicate_estimate(
        replicates(DESIGN, "brr", array=HALVES), "total", VALUES.ravel()
    ).replicate_values
    yield equal(
        "equation 4 minus `replicate_estimate`, all 32 half-samples",
        SAMPLE.estimates(_units(HALVES)) - ours,
    )


@item("eq5", "The replicate estimate is the mean of all half-samples")
def _eq5() -> Claims:
    yield equal(
        "mean of 32 half-samples minus the stratified mean",
        SAMPLE.estimates(_units(HALVES)).mean() - MEAN,
    )


@item("eq6", "The mean of all half-samples is the full estimate")
def _eq6() -> Claims:
    yield equal(
        "sum of W (y1 + y2) 2^(L-1) / 2^L, minus the stratified mean",
        (WEIGHT * VALUES.sum(1)).sum() * 2**4 / 2**5 - MEAN,
    )


@item("eq7", "Signs give the unit that a half-sample keeps")
def _eq7() -> Claims:
    yield equal("the sign minus (2 delta - 1)", HALVES - (2 * (HALVES > 0) - 1))


@item("eq8", "A half-sample differs from the estimate by half the signed differences")
def _eq8() -> Claims:
    yield equal(
        "difference minus the sum of W delta d / 2, all half-samples",
        SAMPLE.misses(HALVES) - HALVES @ (WEIGHT * (VALUES[:, 0] - VALUES[:, 1])) / 2,
    )


@item("eq9", "The variance over all half-samples is a sum of squares and cross terms")
def _eq9() -> Claims:
    terms = WEIGHT * (VALUES[:, 0] - VALUES[:, 1]) / 2
    squares = (HALVES @ terms) ** 2
    cross = np.outer(terms, terms).sum() - (terms**2).sum()
    yield equal(
        "squared difference of one half-sample, minus squares and cross terms",
        squares[0] - ((terms**2).sum() + cross),
    )
    yield bound(
        "squared difference over the variance, for the half-sample with the largest difference",
        "equals",
        squares.max() / SAMPLE.variance,
        low=1,
        high=1,
        correction=Correction(
            "the mean over all 2^L half-samples, in which cross terms cancel, is missing",
            ours=squares.mean() / SAMPLE.variance,
            low=1,
            high=1,
        ),
    )


@item(
    "eq10",
    "Random half-samples: the variance estimate is biased",
    draw=drawn(
        "lines",
        "half_samples",
        "value",
        "what",
        log="x",
        x_title="half-samples",
        y_title="over the textbook variance",
    ),
)
def _eq10(setting: Setting) -> Claims:
    sample = _Sample(20)
    differences = sample.weight * (sample.values[:, 0] - sample.values[:, 1]) / 2
    runs, rows = setting.runs(4000, 40_000), []
    for count in (8, 16, 32, 64, 128):
        study = simulate_random_halves(differences, count, runs=runs, rng=count)
        if count == 32:
            cv = study.cv
        for name, value in (("mean", study.mean_ratio), ("coefficient of variation", study.cv)):
            rows.append({"half_samples": count, "what": name, "value": value})
    pairs = list(itertools.combinations((SAMPLE.misses(HALVES) ** 2).tolist(), 2))
    yield bound(
        "relative bias of the variance, all 496 subsets of two of 32 half-samples",
        "biased",
        abs(np.mean(pairs) / SAMPLE.variance - 1),
        low=1e-6,
        instead="it is unbiased but unstable: the coefficient of variation of 32 random "
        "half-samples "
        f"of 20 strata is {cv:.2f}",
    )
    yield Figure(rows)


@item("eq11", "Balanced half-samples give the variance of all half-samples")
def _eq11() -> Claims:
    for strata in (7, 11, 20):
        sample = _Sample(strata)
        order = next(n for n in range(4, 100, 4) if n > strata)
        missed = sample.misses(hadamard(order)[:, 1 : strata + 1])
        yield equal(
            f"{strata} strata, {order} half-samples: variance over the textbook variance, minus 1",
            (missed**2).mean() / sample.variance - 1,
        )


@item("eq12", "An 8 x 7 orthogonal array")
def _eq12() -> Claims:
    agree = (np.delete(BALANCED, 2, axis=0) == PRINTED_ARRAY).all(1).sum()
    yield number(
        "rows",
        "8",
        len(PRINTED_ARRAY),
        correction=Correction(
            "the third row, which equation 13 quotes, is missing in our copy of the text",
            ours=len(BALANCED),
        ),
    )
    yield every(
        "pairs of columns that are orthogonal",
        *_even_pairs(PRINTED_ARRAY),
        printed="orthogonal",
        correction=Correction(
            "rotations of the first row and a row of +; the third row is missing, others have "
            "wrong signs",
            ours=_even_pairs(BALANCED)[0] if check_balance(BALANCED).full else 0,
        ),
        instead=f"{agree} of the 7 rows are correct",
    )
    yield Figure(
        [
            {"row": k, "corrected": "".join("+" if s > 0 else "-" for s in row)}
            for k, row in enumerate(BALANCED, 1)
        ]
    )


@item("eq13", "The third half-sample keeps units 2, 1, 2, 2, 2, 1, 2")
def _eq13() -> Claims:
    units = np.where(BALANCED[2] > 0, 1, 2)
    agree = int((units == THIRD).sum())
    yield every(
        "units that agree with the third row",
        agree,
        7,
        printed="y(7,2)",
        correction=Correction(
            "the seventh is unit 1", ours=agree + int(units[6] == 1 and THIRD[6] == 2)
        ),
    )


@item("eq14", "The mean of balanced half-samples need not be the estimate")
def _eq14() -> Claims:
    yield bound(
        "difference of both, 8 strata and a matrix with a constant column",
        "does not imply",
        _off_the_mean(hadamard(8)),
        low=1e-6,
    )


def _off_the_mean(signs: ndarray) -> float:
    """Return the difference of the mean of half-samples from the full estimate.

    There are as many strata as columns.
    """
    sample = _Sample(signs.shape[1])
    return abs(sample.estimates(_units(signs)).mean() - sample.mean)


@item(
    "eq15",
    "The mean is the estimate if every column sums to 0; 512 half-samples suffice for 483 strata",
)
def _eq15() -> Claims:
    off = _off_the_mean(BALANCED)
    yield equal("mean of the balanced half-samples minus the estimate, 7 strata", off)
    yield bound(
        "difference of both if columns 2 to L sum to 0",
        "1 < h",
        _off_the_mean(hadamard(8)),
        high=0,
        correction=Correction("column 1 must sum to 0 too: 1 <= h", ours=off, high=1e-9),
    )
    yield number("half-samples for 483 strata, a power of two", "512", smallest_runs(2, 483))
    yield bound(
        "half-samples that are enough for 483 strata",
        "512 suffice",
        len(hadamard(484)),
        high=512,
    )
    yield every(
        "pairs of the 8 rows that are orthogonal",
        *_even_pairs(BALANCED.T),
        printed="every collection of rows",
        correction=Correction(
            "every collection of columns", ours=28 if _even_pairs(BALANCED) == (21, 21) else 0
        ),
    )


# section 7.3: more than two units


def _replicates_of(units: int) -> ndarray:
    """Return all replicates of four strata."""
    return np.array(list(itertools.product(range(units), repeat=4)))


@item("eq16", "With n units per stratum, a replicate keeps one of them")
def _eq16() -> Claims:
    sample = _Sample(4, 3)
    estimates, full = sample.estimates(_replicates_of(3)), sample.mean
    yield bound(
        "one replicate minus the full estimate, the largest of 81",
        "theta_st",
        abs(estimates - full).max(),
        high=1e-9,
        correction=Correction(
            "it is the estimate of replicate alpha; the mean over all replicates is the full one",
            ours=abs(estimates.mean() - full),
            high=1e-9,
        ),
    )


@item("eq17", "The mean over all n^L replicates is the full estimate")
def _eq17() -> Claims:
    for n in (3, 5):
        sample = _Sample(4, n)
        yield equal(
            f"mean minus the full estimate, n = {n}, 4 strata",
            sample.estimates(_replicates_of(n)).mean() - sample.mean,
        )


@item(
    "eq18",
    "The variance of replicates is the textbook one; 729 are enough for 256 strata of three",
)
def _eq18() -> Claims:
    for n, strata in ((3, 4), (5, 6), (4, 5), (9, 10)):
        sample = _Sample(strata, n)
        missed = sample.estimates(orthogonal_array(n, strata)) - sample.mean
        yield equal(
            f"n = {n}, {strata} strata, orthogonal array: variance over the textbook variance, "
            "minus 1",
            (missed**2).mean() / (n - 1) / sample.variance - 1,
        )
    yield number("replicates for 256 strata of three units", "729", smallest_runs(3, 256))
    yield number(
        "strata of three units for which 243 = 3^5 replicates are enough, n^b - 1",
        242.0,
        smallest_room(3, 5),
        correction=Correction("(n^b - 1) / (n - 1)", printed=(3**5 - 1) / 2),
    )


def smallest_room(levels: int, power: int) -> int:
    """Return the largest number of factors for which levels^power runs are enough, by trying.

    Parameters
    ----------
    levels, power : int
    """
    return next(
        factors
        for factors in itertools.count(1)
        if smallest_runs(levels, factors + 1) > levels**power
    )


@item("section7.3", "More units per stratum: the factor 1 / (n - 1) helps to reduce the variance")
def _section7_3() -> Claims:
    for n in (3, 5):
        sample = _Sample(4, n)
        squares = (sample.estimates(_replicates_of(n)) - sample.mean) ** 2
        ratio = squares.mean() / sample.variance
        yield bound(
            f"n = {n}: mean square of all replicates times 1 / (n - 1), over the textbook variance",
            "smaller variance",
            ratio / (n - 1),
            high=1 - 1e-6,
            instead=f"the squares are {ratio:.3g} times the variance, which the factor undoes. "
            "The "
            "variance itself decreases like 1 / n",
        )


@item(
    "section7.4",
    "Intervals with Student's t and L degrees of freedom are adequate from 6 or 12 strata on",
    data="simulated classes",
)
def _section7_4(setting: Setting) -> Claims:
    for strata in (6, 12, 50):
        study = simulate_coverage(
            strata, 2, 20, accuracy=0.8, icc=0.05, runs=setting.runs(3000, 20_000), rng=strata
        )
        yield bound(
            f"coverage of the 95% t interval, {strata} strata of two units",
            "adequate",
            study.coverage("t"),
            low=0.93,
            high=0.97,
            error=study.coverage_error("t"),
        )
    design = SurveyDesign(np.repeat(np.arange(50), 2))
    yield number(
        "degrees of freedom, 50 strata of two units, L", 50.0, replicates(design, "brr").df
    )
    yield bound(
        "width of the interval with 50 degrees of freedom over that with 100",
        "not significantly",
        np.divide(*special.stdtrit([50, 100], 0.975)),
        low=0.95,
        high=1.05,
    )


# appendix A


@item("eq19", "An orthogonal array holds symbols of a finite set; pairs occur 0 or m / 2^|S| times")
def _eq19() -> Claims:
    array = orthogonal_array(3, 13)
    yield every("entries that are symbols", int(np.isin(array, (0, 1, 2)).sum()), array.size)
    yield number(
        "number of times that each pair occurs, 27 rows and three symbols, m / 2^|S|",
        27 / 2**3,
        (array[:, :2] == 0).all(1).sum(),
        correction=Correction("m / |S|^2", printed=27 / 9),
    )


@item("eq20", "H_2 is an orthogonal array; square arrays of +1 and -1 are Hadamard matrices")
def _eq20() -> Claims:
    H2 = np.array([[-1, 1], [1, 1]])
    arrays = list(
        filter(_orthogonal, np.reshape(list(itertools.product((1, -1), repeat=4)), (-1, 2, 2)))
    )
    hadamards = sum(bool((array @ array.T == 2 * np.eye(2)).all()) for array in arrays)
    yield equal("H H' minus 2 I", H2 @ H2.T - 2 * np.eye(2))
    yield every(
        "arrays of order 2 by the definition that are Hadamard matrices",
        hadamards,
        len(arrays),
        printed="is a Hadamard matrix",
        instead="as pairs may occur zero times, [+ +; + +] is an array too",
    )


def _orthogonal(array: ndarray) -> bool:
    """Return whether each ordered pair of symbols occurs zero times or as often as the others.

    This must be so in any two columns.
    """
    return len({array.tolist().count(pair) for pair in array.tolist()}) == 1


@item("eq21", "A Hadamard matrix doubles: H_{n^2}")
def _eq21() -> Claims:
    for n in (2, 4, 8):
        H = hadamard(n)
        doubled = np.block([[H, H], [-H, H]])
        yield equal(
            f"n = {n}: H H' over the order, minus I",
            doubled @ doubled.T / len(doubled) - np.eye(len(doubled)),
        )
        yield number(
            f"n = {n}: order of the doubled matrix",
            float(n**2),
            len(doubled),
            correction=Correction("2 n, not n^2", printed=2.0 * n),
        )


# appendix B

FIELD = GaloisField(3, 5, NAMED)


def _agree(element: Any, printed: tuple) -> int:
    """Return how many coefficients of an element equal the printed ones."""
    return int((FIELD.coefficients(element) == printed).sum())


@item(
    "definition",
    "A Galois field is a set of polynomials of degree at most n with coefficients of at most p",
)
def _definition() -> Claims:
    n, p = 2, 3
    yield number(
        "elements of GF(3^2): polynomials of degree at most n with coefficients of at most p",
        float((p + 1) ** (n + 1)),
        GaloisField(p, n).size,
        correction=Correction("degree below n and coefficients below p", printed=p**n),
    )


@item("eq22", "Sum of two polynomials modulo 3")
def _eq22() -> Claims:
    total = FIELD.add(FIELD.element([0, 1, 1, 2, 0]), FIELD.element([1, 0, 2, 2, 0]))
    yield every(
        "coefficients that agree with the sum",
        _agree(total, (1, 1, 0, 1, 0)),
        5,
        printed="x^3 + x + 1",
    )


@item("eq23", "Product of two polynomials modulo 3: x^3 + x")
def _eq23() -> Claims:
    product = FIELD.multiply(FIELD.element([1, 2, 1, 0, 0]), FIELD.element([1, 1, 0, 0, 0]))
    yield every(
        "coefficients that agree with the product",
        _agree(product, (0, 1, 0, 1, 0)),
        5,
        printed="x^3 + x",
        instead="the product is x^3 + 1",
    )


@item("eq24", "x^5 reduces to x + 2")
def _eq24() -> Claims:
    yield every(
        "coefficients that agree with the remainder",
        _agree(FIELD.power(3, 5), (2, 1, 0, 0, 0)),
        5,
        printed="x + 2",
    )


@item("fig1", "GF(3^5) from the powers of 2x^4 + 2x^3 + 2")
def _fig1() -> Claims:
    mended = GaloisField(3, 5, MENDED)
    printed = list(PRINTED_POWERS.values())
    columns = {
        "printed": printed,
        "modulo x^5 + 2x + 1": _powers(FIELD),
        "modulo x^5 + x^4 + x^2 + 1": _powers(mended),
    }
    first, second = (_same(printed, _powers(field)) for field in (FIELD, mended))
    candidates = [a for a in range(3, 243) if FIELD.power(a, 242) == 1 and a not in _reducible()]
    yield number(
        "order of g, whose powers should be all elements but 0, modulo x^5 + 2x + 1",
        "242",
        FIELD.order(G),
        correction=Correction(
            "modulo x^5 + x^4 + x^2 + 1, which is not the modulus in the text",
            ours=mended.order(G),
        ),
    )
    yield every(
        "correct rows of the figure",
        first,
        5,
        printed="mod g = 2x^4 + 2x^3 + 2",
        correction=Correction("modulo x^5 + x^4 + x^2 + 1", ours=second),
    )
    yield every(
        "coefficients of g^3 that agree with its label",
        _same(printed[2], (1, 2, 0, 2, 2)),
        5,
        printed="x^4 + 2x^3 + 2x + 2",
        correction=Correction("2x^2 for 2x", ours=_same(printed[2], (1, 2, 2, 0, 2))),
    )
    yield number("order of x + 1 modulo x^5 + 2x + 1", "242", FIELD.order(4))
    yield every(
        "irreducible polynomials with g^242 = 1, g not 1, that generate the field",
        sum(FIELD.order(a) == 242 for a in candidates),
        len(candidates),
        printed="can be generated",
        instead="g^242 = 1 is true for every element but 0; the order of g itself must be 242",
    )
    rows = []
    for position, k in enumerate(PRINTED_POWERS):
        row = {name: " ".join(map(str, powers[position])) for name, powers in columns.items()}
        rows.append({"power": k} | row)
    yield Figure(rows)


def _powers(field: GaloisField) -> list[tuple]:
    """Return the coefficients of the printed powers of g, highest first."""
    return [tuple(field.coefficients(field.power(G, k))[::-1].tolist()) for k in PRINTED_POWERS]


def _same(first: tuple, second: tuple) -> int:
    return sum(map(operator.eq, first, second))


def _reducible() -> set:
    """Return the products, of degree up to 4, of two polynomials of degree 1 to 3."""
    factors = np.arange(3, 81)
    degree = np.digitize(factors, (9, 27)) + 1
    products = np.asarray(FIELD.multiply(factors[:, None], factors))
    return set(products[degree[:, None] + degree <= 4].tolist())


@item("fig2", "Maple code that writes a field")
def _fig2() -> Claims:
    field = GaloisField(3, 3)
    yield unchecked("the code as printed", "needs Maple V, release 3")
    yield every(
        "its output: the powers of a primitive element, which are all elements but 0",
        len(set(field.powers(field.primitive_element).tolist()) - {0}),
        26,
    )


@item("eq25", "Rotations of a field's column give an array of p^n rows and p^n - 1 columns")
def _eq25() -> Claims:
    for p, degree in ((3, 3), (5, 2)):
        field = GaloisField(p, degree)
        column = field.coefficients(field.powers(field.primitive_element))[:, 0]
        size, room = column.size, (p**degree - 1) // (p - 1)
        rotated = np.array([np.roll(column, -k) for k in range(size)]).T
        appended = np.vstack([rotated, np.zeros((1, size), int)])
        widest = max(
            columns
            for columns in range(2, size + 1)
            if check_balance(appended[:, :columns]).strength == 2
        )
        yield number(
            f"GF({p}^{degree}): largest number of balanced columns, p^n - 1",
            float(size),
            widest,
            correction=Correction("(p^n - 1) / (p - 1)", printed=room),
        )
    yield unchecked(
        "the array from GF(3^3)",
        "it is announced, but not printed in our copy of the text",
        "the following is one potential orthogonal matrix",
    )
