"""The questions of the scoreboard: what is asked, on which known truth, with the same samples for every tool.

A question declares a grid. Which of its settings are measured a seed decides, nobody chooses. `draws` yields the
samples of a setting one after the other: run r is the same for every tool, in whatever order they ask. Only numpy is
imported, so that every tool's environment can read this file.
"""

import math
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from types import SimpleNamespace as Sample

import numpy as np

SETTINGS, SEED = 6, 1
ITEMS = 100_000  # of a class that is rare, scored and partly labeled
JUDGED = 2_000
MONTH = 1_000


@dataclass(frozen=True)
class Question:
    """A question: its grid, and how a setting's samples are drawn.

    `make(**setting)` returns a function from a generator to a sample, which holds `truth` and what a tool is given.
    `bounds` are the least and the largest possible answer; `fits` says which combinations of the grid are meant.
    """

    title: str
    estimand: str
    make: Callable
    grid: dict = field(repr=False)
    bounds: tuple | None = (0, 1)
    fits: Callable = lambda **setting: True
    uses: tuple = ()  # functions that adapters take from here
    note: str = ""  # what a reader of the table has to know

    def settings(self, name, count=SETTINGS, seed=SEED):
        """Return settings of the grid: each value of each key as often as the others, or once more, in random order."""
        rng = np.random.default_rng([seed, zlib.crc32(name.encode())])
        while True:
            columns = [
                rng.permutation(np.resize(rng.permutation(len(values)), count))
                for values in self.grid.values()
            ]
            listed = [
                {key: values[k] for (key, values), k in zip(self.grid.items(), row, strict=True)}
                for row in np.transpose(columns)
            ]
            if len({said(setting) for setting in listed}) == count and all(
                self.fits(**setting) for setting in listed
            ):
                return listed

    def draws(self, setting, seed, first, last):
        """Yield the samples of runs first to last - 1."""
        draw = self.make(**setting)
        for run in range(first, last):
            yield draw(np.random.default_rng([seed, run]))


def said(setting):
    """Return a setting in a few words, which name it in the record."""
    return ", ".join(f"{key} {value}" for key, value in setting.items())


def simple(N, n, p):
    """Draw n of N items at random, round(N p) of which are right."""
    right = round(N * p)

    def draw(rng):
        y = rng.permutation(np.arange(n) < rng.hypergeometric(right, N - right, n)).astype(int)
        return Sample(y=y, N=N, truth=right / N)

    return draw


def stratified(accuracy, n, strata, labels, sizes):
    """Draw n of 10,000 scored items from strata by score, in proportion or equally many from each."""
    rng, N = np.random.default_rng([2, round(1000 * accuracy)]), 10_000
    score = np.sort(rng.beta(accuracy / (1 - accuracy), 1, N))
    right = (rng.random(N) < score).astype(int)
    light = N // (20 * strata)
    size = np.full(strata, N // strata) if sizes == "equal" else np.full(strata, light)
    size[-1] += N - size.sum()
    stratum = np.repeat(np.arange(strata), size)
    labeled = (
        np.full(strata, n // strata)
        if labels == "equal"
        else np.maximum(np.round(n * size / N).astype(int), 2)
    )
    first = np.cumsum(size) - size

    def draw(rng):
        index = np.concatenate(
            [
                start + rng.choice(items, count, replace=False)
                for start, items, count in zip(first, size, labeled, strict=True)
            ]
        )
        return Sample(
            index=index,
            y=right[index],
            stratum=stratum[index],
            every_stratum=stratum,
            score=score,
            sizes=size,
            labeled=labeled,
            truth=right.mean(),
        )

    return draw


def clustered(C, m, p, icc, sizes):
    """Draw C clusters of m items, or of geometric sizes with mean m; rates of clusters are beta distributed."""
    k = 1 / icc - 1

    def draw(rng):
        rate = rng.beta(p * k, (1 - p) * k, C)
        cluster = np.repeat(np.arange(C), m if sizes == "equal" else rng.geometric(1 / m, C))
        return Sample(
            y=(rng.random(cluster.size) < rate[cluster]).astype(int), cluster=cluster, truth=p
        )

    return draw


def rare(metric):
    """Return the question of a metric of a rare class whose predictions are known for all items."""

    def make(share, recall, precision, n):
        members = round(ITEMS * share)
        hits = round(members * recall)
        lost, false = members - hits, round(hits * (1 / precision - 1))
        cells = [hits, false, lost, ITEMS - hits - false - lost]
        truth = {
            "precision": hits / (hits + false),
            "recall": hits / members,
            "f1": 2 * hits / (2 * hits + false + lost),
        }[metric]

        def own(rng, predicted):
            return [
                int(rng.hypergeometric(hits, false, predicted)),
                int(rng.hypergeometric(cells[3], lost, n - predicted)),
            ]

        def draw(rng):
            found = rng.multivariate_hypergeometric(cells, n)
            return Sample(
                t=np.repeat([1, 0, 1, 0], found),
                p=np.repeat([1, 1, 0, 0], found),
                metric=metric,
                n=n,
                sizes=[hits + false, ITEMS - hits - false],
                own=lambda predicted: own(rng, predicted),
                truth=truth,
            )

        return draw

    return Question(
        f"{metric.capitalize()} of a rare class",
        f"{metric.replace('f1', 'F1')} for the {ITEMS:,} items",
        make,
        {
            "share": [0.02, 0.05, 0.1, 0.2],
            "recall": [0.7, 0.8, 0.9, 0.95],
            "precision": [0.6, 0.7, 0.8, 0.9],
            "n": [200, 300, 600],
        },
        fits=lambda share, n, **_: share * n > 5,
    )


def ranked(n, share, distance):
    """Draw n items with a normal score that is higher for members of the class."""
    truth = 0.5 * (1 + math.erf(distance / 2))

    def draw(rng):
        t = (rng.random(n) < share).astype(int)
        if not 2 <= t.sum() <= n - 2:
            t[:2], t[-2:] = 1, 0
        return Sample(
            t=t, score=1 / (1 + np.exp(-(rng.normal(size=n) + distance * t))), truth=truth
        )

    return draw


def paired(n, differing, difference):
    """Draw n items for two models that are right about the same ones but for a share."""
    chances = [(differing + difference) / 2, (differing - difference) / 2, 0.7, 0.3 - differing]

    def draw(rng):
        kind = rng.choice(4, n, p=chances)
        return Sample(
            a=np.isin(kind, (0, 2)).astype(int),
            b=np.isin(kind, (1, 2)).astype(int),
            truth=difference,
        )

    return draw


def pair_in_clusters(rng, cluster, differing, difference, icc):
    """Draw two models' answers; how often they differ, and which is right, varies by cluster."""
    k, wins, C = 1 / icc - 1, (1 + difference / differing) / 2, cluster[-1] + 1
    often = rng.beta(differing * k, (1 - differing) * k, C)
    better = rng.beta(wins * k, (1 - wins) * k, C) if wins < 1 else np.ones(C)
    differ, first, same = (
        rng.random(cluster.size) < chance for chance in (often[cluster], better[cluster], 0.7)
    )
    return Sample(
        a=np.where(differ, first, same).astype(int),
        b=np.where(differ, ~first, same).astype(int),
        cluster=cluster,
        truth=difference,
    )


def paired_clusters(C, m, differing, difference, icc):
    """Draw C clusters of m items for two models."""
    return lambda rng: pair_in_clusters(rng, np.repeat(np.arange(C), m), differing, difference, icc)


def grades(jump, often):
    """Return the true difference and a maker of grades from 0 to 10; some of B's differ."""
    base = np.arange(11)
    steps = np.array([-jump, -1, 0, 1, jump])
    chances = [0.7 * often, 0.12, 0.8 - often, 0.08, 0.3 * often]

    def scores(rng, n):
        a = rng.choice(base, n)
        return a, np.clip(a + rng.choice(steps, n, p=chances), 0, 10)

    return (base[:, None] - np.clip(base[:, None] + steps, 0, 10)).mean(0) @ chances, scores


def continuous(p, q, loss, tightness):
    """Return the true difference and a maker of beta scores; B's are beta about A's less a loss."""

    def scores(rng, n):
        a = rng.beta(p, q, n)
        return a, rng.beta(tightness * (1 - loss) * a, tightness * (1 - (1 - loss) * a))

    return loss * p / (p + q), scores


def rare_drops(often):
    """Return the true difference and a maker of scores; B's equal A's, or are .1 to .6 lower."""

    def scores(rng, n):
        a = rng.uniform(0.6, 1, n)
        return a, a - (rng.random(n) < often) * rng.uniform(0.1, 0.6, n)

    return 0.35 * often, scores


def independent():
    """Return the true difference and a maker of unrelated scores of two models."""
    return 2 / 3 - 1 / 2, lambda rng, n: (rng.beta(1, 0.5, n), rng.beta(0.5, 0.5, n))


GRADED = {
    "grades, jumps of 2": grades(2, 0.1),
    "grades, jumps of 5": grades(5, 0.05),
    "continuous": continuous(5, 2, 0.03, 40),
    "continuous near 1": continuous(9, 1, 0.05, 15),
    "independent": independent(),
    "rare drops": rare_drops(0.08),
}


GAP = 0.5  # by which the scores of a better model lie farther apart
AUC, F1 = "AUC", "F1"
EQUAL, DIFFERENT = ", models equal", ", A better"
BY = [AUC + EQUAL, AUC + DIFFERENT, F1 + EQUAL, F1 + DIFFERENT]


def two_models(rng, members, cluster, setting):
    """Draw normal scores of two models; what makes an item or a cluster hard is hard for both.

    Scores of members lie around the model's distance, those of others around 0, with variance 1.
    Both models share a part of the variance. Of this part and of the rest, the share `icc` is that
    of the cluster.
    """
    first, second = distances(setting)
    shared, icc = setting["shared"], setting["icc"]
    parts = []
    for models in (1, 2):
        of_cluster = rng.normal(size=(models, cluster[-1] + 1))[:, cluster]
        of_item = rng.normal(size=(models, cluster.size))
        parts.append(icc**0.5 * of_cluster + (1 - icc) ** 0.5 * of_item)
    a, b = shared**0.5 * parts[0] + (1 - shared) ** 0.5 * parts[1]
    a, b = a + first * members, b + second * members
    return Sample(
        t=members,
        a=a,
        b=b,
        predicted_a=(a > first / 2).astype(int),
        predicted_b=(b > second / 2).astype(int),
        cluster=cluster,
        metric=setting["metric"].partition(",")[0],
        truth=true_metric(setting, first) - true_metric(setting, second),
    )


def distances(setting):
    """Return how far members lie from others on average, of the first and the second model."""
    gap = GAP if setting["metric"].endswith(DIFFERENT) else 0.0
    return setting["distance"] + gap, setting["distance"]


def true_metric(setting, distance):
    """Return the AUC of a model, or the F1 of a cut at half the distance."""
    if setting["metric"].startswith(AUC):
        return 0.5 * (1 + math.erf(distance / 2))
    share, correct = setting["share"], 0.5 * (1 + math.erf(distance / 8**0.5))
    predicted = share * correct + (1 - share) * (1 - correct)
    return 2 * share * correct / (share + predicted)


def two_of_each(members):
    """Make the first two items members or the last two others, where a sample has fewer."""
    if not 2 <= members.sum() <= members.size - 2:
        members[:2], members[-2:] = 1, 0
    return members


def scored_items(**setting):
    """Draw n items that two models scored."""
    setting = setting | {"icc": 0.0}

    def draw(rng):
        members = (rng.random(setting["n"]) < setting["share"]).astype(int)
        return two_models(rng, two_of_each(members), np.arange(setting["n"]), setting)

    return draw


def scored_patients(**setting):
    """Draw C patients with a geometric number of items, m on average.

    The chance that an item is a member differs by patient: it is beta distributed.
    """
    setting = setting | {"shared": 0.5}
    share, k = setting["share"], 1 / setting["icc"] - 1

    def draw(rng):
        cluster = np.repeat(np.arange(setting["C"]), rng.geometric(1 / setting["m"], setting["C"]))
        chance = rng.beta(share * k, (1 - share) * k, setting["C"])[cluster]
        members = (rng.random(cluster.size) < chance).astype(int)
        return two_models(rng, two_of_each(members), cluster, setting)

    return draw


def graded(kind, n):
    """Draw n items with a score by each of two models."""
    truth, scores = GRADED[kind]
    bounds = (0, 10) if kind.startswith("grades") else (0, 1)

    def draw(rng):
        a, b = scores(rng, n)
        return Sample(a=a.astype(float), b=b.astype(float), bounds=bounds, truth=truth)

    return draw


FEW, SIZES = [8, 12, 30, 80], ["equal", "lognormal", "geometric"]
LARGE_LOWER = "lower in large ones"


def cluster_sizes(sizes):
    """Return the sizes of the 100,000 clusters that there are."""
    rng, count = np.random.default_rng(6), 100_000
    if sizes == "equal":
        return np.full(count, 10)
    if sizes == "geometric":
        return rng.geometric(0.1, count)
    return np.maximum(1, rng.lognormal(2, 1, count).astype(int))


def unequal(C, sizes, accuracy, icc):
    """Draw C clusters; odds of an error may grow with the size of the cluster, to the power .7."""
    size, lower = cluster_sizes(sizes), accuracy == LARGE_LOWER
    odds = 0.25 * (size / np.exp(np.log(size).mean())) ** 0.7 if lower else 1 / float(accuracy) - 1
    rate, k = np.broadcast_to(1 / (1 + odds), size.shape), 1 / icc - 1
    truth = (size * rate).sum() / size.sum()

    def draw(rng):
        index = rng.integers(0, size.size, C)
        cluster = np.repeat(np.arange(C), size[index])
        right = rng.beta(rate[index] * k, (1 - rate[index]) * k)[cluster]
        y = (rng.random(cluster.size) < right).astype(int)
        return Sample(y=y, cluster=cluster, truth=truth)

    return draw


def unequal_pairs(C, sizes, differing, difference, icc):
    """Draw C clusters of such sizes for two models."""
    size = cluster_sizes(sizes)

    def draw(rng):
        cluster = np.repeat(np.arange(C), size[rng.integers(0, size.size, C)])
        return pair_in_clusters(rng, cluster, differing, difference, icc)

    return draw


ACCURACIES = {
    "equal": np.full(8, 0.7),
    "near": np.array([0.7, 0.7, 0.7, 0.7, 0.72, 0.74, 0.76, 0.8]),
    "spread": np.linspace(0.55, 0.85, 8),
}
PLACES = np.linspace(-4, 4, 4001)
BELOW = np.array([0.5 * (1 + math.erf(place / 2**0.5)) for place in PLACES])


def many(models, n, clusters):
    """Draw which of n items each of eight models gets right; items and, if there are any, clusters are hard or easy."""
    truth, sd = ACCURACIES[models], (1.5, 1, 0.7 * bool(clusters), 0.5 * bool(clusters))
    limit = math.hypot(*sd) * np.interp(truth, BELOW, PLACES)

    def draw(rng):
        cluster = np.sort(rng.integers(0, clusters, n)) if clusters else np.arange(n)
        groups = clusters or n
        z = rng.normal(0, sd[0], (n, 1)) + rng.normal(0, sd[1], (n, 8))
        z += rng.normal(0, sd[2], (groups, 1))[cluster] + rng.normal(0, sd[3], (groups, 8))[cluster]
        return Sample(
            right=(z < limit).astype(int), cluster=cluster if clusters else None, truth=truth
        )

    return draw


def judged(p, n, sensitivity, specificity):
    """Draw n of 2,000 judged items for people; the judge's errors are part of the population."""
    right = round(JUDGED * p)
    y = (np.arange(JUDGED) < right).astype(int)
    v = np.r_[
        np.arange(right) < round(right * sensitivity),
        np.arange(JUDGED - right) >= round((JUDGED - right) * specificity),
    ].astype(int)

    def draw(rng):
        index = rng.choice(JUDGED, n, replace=False)
        passed = int(np.clip(round(n * v.mean()), 2, min(n - 2, v.sum())))
        own = np.concatenate(
            [
                rng.choice(np.flatnonzero(v == verdict), count, replace=False)
                for verdict, count in ((0, n - passed), (1, passed))
            ]
        )
        return Sample(
            verdict=v,
            index=index,
            human=y[index],
            own_index=own,
            own_human=y[own],
            N=JUDGED,
            truth=y.mean(),
        )

    return draw


def judged_twice(accuracy, gap, n, sensitivity, specificity, lenient):
    """Draw n of 2,000 items that two models answered and one judge read; it passes A's errors more often if lenient."""
    rng = np.random.default_rng(3)
    ease = rng.random(JUDGED)
    y = np.array(
        [ease < accuracy, (ease + 0.25 * (rng.random(JUDGED) < 0.5)) % 1 < accuracy - gap], int
    )
    passes = np.array([specificity - lenient, specificity])[:, None]
    v = np.where(y == 1, rng.random(y.shape) < sensitivity, rng.random(y.shape) >= passes).astype(
        int
    )
    pair, z = 2 * v[0] + v[1], y[0] - y[1]

    def draw(rng):
        index = rng.choice(JUDGED, n, replace=False)
        pick = rng.random(JUDGED)
        return Sample(
            va=v[0],
            vb=v[1],
            index=index,
            ha=y[0, index],
            hb=y[1, index],
            n=n,
            z=z,
            pair=pair,
            pick=pick,
            truth=z.mean(),
        )

    return draw


def shifted(change):
    """Return a maker of an audit in one month and counts of it and of the next; asked is the share, or its change."""

    def make(audit, before, after, sensitivity, specificity):
        def month(rng, share):
            y = rng.random(MONTH) < share
            v = np.where(y, rng.random(MONTH) < sensitivity, rng.random(MONTH) >= specificity)
            return y.astype(int), v.astype(int)

        def draw(rng):
            (y0, v0), (y1, v1) = month(rng, before), month(rng, after)
            return Sample(
                y0=y0[:audit], v0=v0[:audit], old=v0, v=v1, truth=y1.mean() - change * y0.mean()
            )

        return draw

    return make


def folds(n, columns, gap, k):
    """Draw two classes and two learners that see half of the columns each: exactly equal, by symmetry."""

    def draw(rng):
        y = rng.permutation(np.arange(n) % 2)
        x = rng.normal(size=(n, 2 * columns)) + gap * y[:, None] / columns**0.5
        return Sample(
            X=x, y=y, columns=columns, k=k, fold=rng.permutation(np.arange(n) % k), truth=0.0
        )

    return draw


def nearest_mean(train, y, test):
    """Return the class whose mean is nearer, per row of test."""
    far = [((test - train[y == label].mean(0)) ** 2).sum(1) for label in (0, 1)]
    return (far[1] < far[0]).astype(int)


def fold_differences(sample):
    """Return, per fold of one cross-validation, the error of the first learner less that of the second."""
    halves = sample.X[:, : sample.columns], sample.X[:, sample.columns :]
    wrong = np.empty((2, sample.y.size))
    for fold in range(sample.k):
        test = sample.fold == fold
        for learner, x in enumerate(halves):
            wrong[learner, test] = (
                nearest_mean(x[~test], sample.y[~test], x[test]) != sample.y[test]
            )
    return np.array([(wrong[0] - wrong[1])[sample.fold == fold].mean() for fold in range(sample.k)])


def totals(kind, strata, N, n):
    """Draw n of the N items of each stratum."""
    rng = np.random.default_rng(5)
    level, first, shape = (
        rng.uniform(2, 8, (strata, 1)),
        np.arange(strata)[:, None] == 0,
        (strata, N),
    )
    values = {
        "normal": lambda: level + rng.normal(size=shape),
        "lognormal": lambda: np.exp(rng.normal(size=shape) + level / 8),
        "rare": lambda: (rng.random(shape) < 0.05).astype(float),
        "shares": lambda: rng.beta(2, 1, shape),
        "one heavy": lambda: np.exp(rng.normal(0, 1.5, shape)) * first + rng.normal(1, 0.1, shape),
    }[kind]()

    def draw(rng):
        index = np.argsort(rng.random(shape), axis=1)[:, :n]
        return Sample(
            y=np.take_along_axis(values, index, 1).ravel(),
            stratum=np.repeat(np.arange(strata), n),
            N=N,
            n=n,
            H=strata,
            bounds=(0.0, 1.0) if kind in ("rare", "shares") else None,
            truth=values.sum(),
        )

    return draw


def looking(N, n, p):
    """Draw n of N items in random order; one looks after every ten."""
    right = round(N * p)

    def draw(rng):
        return Sample(
            y=rng.permutation((np.arange(N) < right).astype(int))[:n],
            N=N,
            looks=range(10, n + 1, 10),
            truth=right / N,
        )

    return draw


SHIFTS = {
    "audit": [50, 100, 200],
    "before": [0.1, 0.5, 0.8, 0.9, 0.95],
    "after": [0.2, 0.5, 0.6, 0.7, 0.85],
    "sensitivity": [0.8, 0.9, 0.95],
    "specificity": [0.7, 0.8, 0.95],
}
SINGLE_INTERVALS = (
    "Some settings ask for the AUC, others for the F1. A call that computes only one of the two is "
    'measured on that one. "Intervals of both models" calls two models different if their separate '
    "intervals do not overlap. Its interval of the difference begins at the lower limit of A minus "
    "the upper limit of B. It ends at the upper limit of A minus the lower limit of B. A call that "
    "returns only a p-value is measured where the models are equal."
)
QUESTIONS = {
    "Q1": Question(
        "Accuracy, simple random sample",
        "proportion of correct items among the N items",
        simple,
        {
            "N": [500, 2_000, 100_000],
            "n": [30, 50, 100, 200, 300],
            "p": [0.6, 0.7, 0.8, 0.9, 0.95, 0.97, 0.99],
        },
    ),
    "Q2": Question(
        "Accuracy, stratified sample",
        "proportion of correct items among the 10,000 items",
        stratified,
        {
            "accuracy": [0.75, 0.9, 0.95, 0.97, 0.99],
            "n": [60, 100, 200],
            "strata": [3, 5, 10],
            "labels": ["proportional", "equal"],
            "sizes": ["equal", "one heavy"],
        },
    ),
    "Q3": Question(
        "Accuracy, clusters",
        "probability that an item of a further cluster is correct",
        clustered,
        {
            "C": [5, 10, 20, 50],
            "m": [10, 20, 40],
            "p": [0.7, 0.8, 0.9, 0.95, 0.97],
            "icc": [0.05, 0.1, 0.2, 0.3],
            "sizes": ["equal", "geometric"],
        },
    ),
    "Q3s": Question(
        "Accuracy, few clusters of unequal size",
        "proportion of correct items in all clusters",
        unequal,
        {"C": FEW, "sizes": SIZES, "icc": [0.05, 0.1], "accuracy": ["0.8", "0.96", LARGE_LOWER]},
        fits=lambda sizes, accuracy, **_: (sizes, accuracy) != ("equal", LARGE_LOWER),
        uses=(cluster_sizes,),
    ),
    "Q4p": rare("precision"),
    "Q4r": rare("recall"),
    "Q4f": rare("f1"),
    "Q5": Question(
        "AUC",
        "probability that an item of the class scores above another item",
        ranked,
        {
            "n": [50, 100, 200, 400],
            "share": [0.05, 0.1, 0.3, 0.5],
            "distance": [0.8, 1.5, 2.5, 3.0],
        },
        fits=lambda n, share, **_: n * share >= 5,
    ),
    "Q6": Question(
        "Two models, the same items",
        "accuracy of A minus that of B, over further items",
        paired,
        {
            "n": [50, 100, 200, 500, 1000],
            "differing": [0.02, 0.05, 0.1, 0.2],
            "difference": [0.0, 0.01, 0.03, 0.05, 0.1],
        },
        (-1, 1),
        lambda differing, difference, **_: difference <= differing,
    ),
    "Q6g": Question(
        "Two models, graded scores",
        "mean score of A minus that of B, over further items",
        graded,
        {"kind": list(GRADED), "n": [30, 60, 200, 1000]},
        None,
        uses=(grades, continuous, rare_drops, independent),
    ),
    "Q6c": Question(
        "Two models, the same items, clusters",
        "accuracy of A minus that of B, over further clusters",
        paired_clusters,
        {
            "C": [5, 10, 20, 50],
            "m": [10, 20, 40],
            "differing": [0.02, 0.1, 0.2],
            "difference": [0.0, 0.02, 0.04],
            "icc": [0.1, 0.2, 0.3],
        },
        (-1, 1),
        lambda differing, difference, **_: difference <= differing,
        (pair_in_clusters,),
    ),
    "Q6s": Question(
        "Two models, few clusters of unequal size",
        "accuracy of A minus that of B, over further clusters",
        unequal_pairs,
        {
            "C": FEW,
            "sizes": SIZES,
            "differing": [0.05, 0.1, 0.25],
            "difference": [0.0, 0.02],
            "icc": [0.1, 0.2],
        },
        (-1, 1),
        uses=(cluster_sizes, pair_in_clusters),
    ),
    "Q6d": Question(
        "Two models by AUC or F1, the same items",
        "AUC or F1 of A minus that of B, over further items",
        scored_items,
        {
            "metric": BY,
            "n": [60, 150, 400],
            "share": [0.1, 0.3, 0.5],
            "distance": [1.0, 2.0],
            "shared": [0.3, 0.8],
        },
        (-1, 1),
        lambda n, share, **_: n * share >= 15,
        (two_models, distances, true_metric, two_of_each),
        SINGLE_INTERVALS,
    ),
    "Q6p": Question(
        "Two models by AUC or F1, several items per patient",
        "AUC or F1 of A minus that of B, over items of further patients",
        scored_patients,
        {
            "metric": BY,
            "C": [12, 30, 80],
            "m": [4, 10],
            "share": [0.2, 0.5],
            "distance": [1.0, 2.0],
            "icc": [0.1, 0.3],
        },
        (-1, 1),
        lambda C, m, share, **_: C * m * share >= 15,
        (two_models, distances, true_metric, two_of_each),
        'Calls are measured as in Q6d. "Patients ignored" treats items as independent.',
    ),
    "Q7": Question(
        "Ranking of eight models",
        "order of the accuracies over further items",
        many,
        {"models": list(ACCURACIES), "n": [300, 1000], "clusters": [0, 20, 50]},
        None,
    ),
    "Q8": Question(
        "A judge on all items, annotators on a few",
        f"proportion of correct items among the {JUDGED:,} items",
        judged,
        {
            "p": [0.6, 0.8, 0.9, 0.95, 0.98],
            "n": [30, 50, 100, 200],
            "sensitivity": [0.85, 0.9, 0.97],
            "specificity": [0.5, 0.7, 0.85, 0.95],
        },
    ),
    "Q8d": Question(
        "Two models, one judge, annotators on a few",
        f"accuracy of A minus that of B, on the {JUDGED:,} items",
        judged_twice,
        {
            "accuracy": [0.75, 0.85, 0.96],
            "gap": [0.0, 0.02, 0.05, 0.1],
            "n": [50, 100, 200],
            "sensitivity": [0.9, 0.97],
            "specificity": [0.7, 0.8, 0.9],
            "lenient": [0.0, 0.2],
        },
        (-1, 1),
    ),
    "Q9": Question(
        "Proportion in a new month, from an earlier audit",
        f"proportion of the class among the month's {MONTH:,} items",
        shifted(False),
        SHIFTS,
    ),
    "Q9c": Question(
        "Change between months, from one audit",
        f"change of that proportion between two months of {MONTH:,} items each",
        shifted(True),
        SHIFTS,
        (-1, 1),
    ),
    "Q10": Question(
        "Cross-validated difference of two learners",
        "difference of the error rates, which is 0 by symmetry",
        folds,
        {"n": [40, 100, 200], "columns": [5, 10, 20], "gap": [0.5, 1.0, 1.5], "k": [5, 10]},
        (-1, 1),
        uses=(fold_differences, nearest_mean),
    ),
    "Q11": Question(
        "Total, small strata",
        "total of the values of all items",
        totals,
        {
            "kind": ["normal", "lognormal", "rare", "shares", "one heavy"],
            "strata": [5, 10],
            "N": [50, 200],
            "n": [2, 3, 5],
        },
        None,
    ),
    "Q12": Question(
        "Interim analyses while labeling",
        "proportion of correct items among the N items, covered at every interim analysis",
        looking,
        {"N": [1_000, 10_000], "n": [100, 200, 300], "p": [0.7, 0.9, 0.95, 0.98]},
    ),
}
