"""Search for the designs where an interval covers least, and keep what was found.

    python tests/peers/search_coverage.py --seed 1 --minutes 3            # search, print the table
    python tests/peers/search_coverage.py --seed 1 --minutes 20 --write   # and record it
    python tests/peers/search_coverage.py --recheck                       # recorded designs, fresh draws

Each family of designs is searched by random restarts and local moves. Coverage is enumerated where few
outcomes are likely, otherwise simulated. The lowest of many noisy values is too low, so candidates are
narrowed down in two rounds, each with fresh draws, and the one that is left is drawn again for the table.
`--minutes` is shared by the families; a family's draws follow from the seed and the number of evaluations
alone, so `--evaluations` with the recorded number repeats its search.
"""

import argparse
import json
import platform
import time
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from pathlib import Path

import numpy as np
import scipy
from scipy.special import expit, logit

from workbench import intervals
from workbench.allocation import rules
from workbench.data import scored_items
from workbench.simulations.stratified import simulate_labeling
from workbench.stratified import accuracy
from workbench.stratified.strata import STRATIFIERS, stratify

RECORD = Path(__file__).with_suffix(".json")
LEVEL = 0.95
LARGE = 10**6
MAX_STRATA = 10
BUDGETS = 20, 300
CLAIMED_BUDGETS = 30, 300
ACCURACIES = (
    0.55,
    0.6,
    0.65,
    0.7,
    0.75,
    0.8,
    0.85,
    0.88,
    0.9,
    0.92,
    0.94,
    0.95,
    0.96,
    0.97,
    0.98,
    0.985,
    0.99,
    0.995,
)
ITEMS = 2_000, 20_000
SOURCES = "calibrated", "overconfident", "noisy"
FIXED = *rules.METHODS, "score neyman", "score voila"
SCREENING = 2_000
SLOW_SCREENING = 200
NEGLIGIBLE = 1e-10
CANDIDATES = 24
PATIENCE = 25
STARTS = 8


@dataclass(frozen=True)
class Design:
    """One population and how it is labeled: `labeled` fixed, or `budget` labels in `waves`."""

    size: tuple
    right: tuple
    labeled: tuple = ()
    budget: int = 0
    waves: int = 0
    stratum_score: tuple | None = None
    recipe: str = ""

    @property
    def accuracy(self):
        """True share of right items."""
        return sum(self.right) / sum(self.size)


@dataclass(frozen=True)
class Recipe:
    """A design as a user of the workbench makes it."""

    source: str
    accuracy: float
    items: int
    stratifier: str
    strata: int
    rule: str
    budget: int
    waves: int = 0


@dataclass(frozen=True)
class Arbitrary:
    """Weights (logarithms), labels and rates of any strata; `waves` as in `Design`."""

    weight: np.ndarray
    labeled: np.ndarray
    rate: np.ndarray
    population: int = LARGE
    waves: int = 0

    def but(self, name, k, value):
        """Return a copy with one entry changed."""
        changed = getattr(self, name).copy()
        changed[k] = value
        return replace(self, **{name: changed})

    @property
    def share(self):
        """Weights that add up to one."""
        weight = np.exp(self.weight - self.weight.max())
        return weight / weight.sum()


# coverage


def coverage(design, method, rng, draws, enumerated, screen=False):
    """Return coverage and its standard error, 0 where enumerated."""
    if design.waves:
        return wave_coverage(design, rng, draws)
    size, right, labeled = map(np.array, (design.size, design.right, design.labeled))
    outcomes = enumerate_outcomes(size, right, labeled, enumerated)
    exact = outcomes is not None
    counts, mass = outcomes if exact else draw_outcomes(size, right, labeled, rng, draws)
    share = float(mass[covers(size, labeled, counts, design.accuracy, method, screen)].sum())
    return share, 0.0 if exact else float(np.sqrt(max(share * (1 - share), 0) / draws))


def wave_coverage(design, rng, draws):
    """Return coverage of the waves' default interval and its standard error."""
    shares = []
    for part in np.diff(np.arange(0, draws + 5_000, 5_000).clip(max=draws)):
        study = simulate_labeling(
            design.size,
            design.right,
            design.budget,
            "waves",
            runs=int(part),
            waves=design.waves,
            stratum_score=design.stratum_score,
            rng=rng,
        )
        shares.append(study.coverage(level=LEVEL) * part / draws)
    share = sum(shares)
    return share, float(np.sqrt(share * (1 - share) / draws))


def enumerate_outcomes(size, right, labeled, most):
    """Return outcomes (R, K) and their mass, or None where there are more than `most`.

    Outcomes less likely than `NEGLIGIBLE` are left out and count as not covered.
    """
    counts, mass = np.zeros((1, 0), int), np.ones(1)
    for n_items, n_right, n in zip(size, right, labeled, strict=True):
        pmf = intervals.hypergeometric_pmf(float(n_items), np.array([n_right]), int(n))[0]
        joint = mass[:, None] * pmf
        row, x = np.nonzero(joint > NEGLIGIBLE)
        if row.size > 4 * most:
            return None
        counts, mass = np.column_stack([counts[row], x]), joint[row, x]
    return (counts, mass) if mass.size <= most else None


def draw_outcomes(size, right, labeled, rng, draws):
    """Return distinct outcomes and their share of the draws."""
    counts = accuracy.draw_counts(size, right, labeled, rng.random((draws, size.size)))
    distinct, times = np.unique(counts, axis=0, return_counts=True)
    return distinct, times / draws


def covers(size, labeled, counts, accuracy, method, screen):
    """Return which outcomes' intervals contain the accuracy (R,).

    While screening, outcomes within 0.8 estimated standard errors of the truth count as covered: that saves
    half the time. Final figures test every outcome.
    """
    inside = np.zeros(len(counts), bool)
    if screen:
        rate = counts / labeled
        weight = size / size.sum()
        variance = (
            weight**2 * (1 - labeled / size) * rate * (1 - rate) / np.maximum(labeled - 1, 1)
        ).sum(1)
        inside = (rate @ weight - accuracy) ** 2 < 0.64 * variance
    low, high = limits(size, labeled, counts[~inside], method)
    inside[~inside] = (low <= accuracy + 1e-12) & (accuracy - 1e-12 <= high)
    return inside


def limits(size, labeled, counts, method):
    """Return lower and upper limits of every outcome."""
    if method != "default":
        found = [
            intervals.stratified_interval(size, labeled, x, level=LEVEL, method=method)
            for x in counts
        ]
        return np.array([tuple(interval) for interval in found]).reshape(-1, 2).T
    cells = intervals.stratum_cells(size, labeled, counts)
    low, high = intervals.default_limits(cells, size.sum(), (1 - LEVEL) / 2)
    least, most = intervals.proven_limits(size.sum(), labeled, counts)
    return np.maximum(low, least), np.minimum(high, most)


# designs of the workbench


def start_recipe(rng, waves=(0,)):
    """Return a random recipe."""
    stratifier, strata = pick(rng, STRATIFIERS), int(rng.integers(2, MAX_STRATA + 1))
    return Recipe(
        pick(rng, SOURCES),
        pick(rng, ACCURACIES),
        pick(rng, ITEMS),
        stratifier,
        strata,
        pick(rng, FIXED),
        random_budget(rng, CLAIMED_BUDGETS),
        pick(rng, waves),
    )


def start_wave_recipe(rng):
    """Return a random recipe for two or three waves, with or without the scores as prior."""
    return replace(start_recipe(rng, (2, 3)), rule=pick(rng, ("no prior", "score prior")))


def move_recipe(recipe, rng):
    """Return a recipe with one ingredient changed, the budget most often."""
    fresh = start_wave_recipe(rng) if recipe.waves else start_recipe(rng)
    name = pick(rng, ("budget", *Recipe.__dataclass_fields__))
    if name == "budget" and rng.random() < 0.7:
        near = round(recipe.budget * np.exp(rng.normal(0, 0.15))) + int(rng.integers(-1, 2))
        return replace(recipe, budget=int(np.clip(near, *CLAIMED_BUDGETS)))
    return replace(recipe, **{name: getattr(fresh, name)})


def build_recipe(recipe):
    """Return the design of a recipe, or None where the budget is too small for it."""
    size, right, score = cut_population(
        recipe.source, recipe.accuracy, recipe.items, recipe.stratifier, recipe.strata
    )
    note = " ".join(str(value) for value in asdict(recipe).values())
    if recipe.budget < 2 * size.size * max(recipe.waves, 1):
        return None
    if recipe.waves:
        prior = tuple(score.tolist()) if recipe.rule == "score prior" else None
        return Design(whole(size), whole(right), (), recipe.budget, recipe.waves, prior, note)
    rate = score if recipe.rule.startswith("score") else right / size
    sd = np.sqrt(accuracy.stratum_variance(size, rate))
    labeled = rules.allocate(size, recipe.budget, recipe.rule.split()[-1], stratum_sd=sd).labeled
    return Design(whole(size), whole(right), whole(labeled), recipe=note)


@lru_cache(maxsize=4096)
def cut_population(source, accuracy, items, stratifier, strata):
    """Return sizes, right items and mean score per stratum of a simulated population."""
    score, correct = population(source, accuracy, items)
    cut = stratify(score, strata, stratifier)
    right, total = (np.bincount(cut.labels, values, cut.n_strata) for values in (correct, score))
    return cut.sizes, np.rint(right).astype(int), total / cut.sizes


@lru_cache(maxsize=256)
def population(source, accuracy, items):
    """Return scores and correctness."""
    scored = scored_items.synthetic_scores(source, size=items, accuracy=accuracy, rng=7)
    return scored.score, scored.correct


# arbitrary designs


def start_one(rng):
    """Return one stratum, of any size."""
    return replace(
        start_finite(rng, (1, 1)),
        population=pick(rng, (LARGE, start_finite(rng, (1, 1)).population)),
    )


def start_arbitrary(rng, strata=(2, MAX_STRATA)):
    """Return random weights, labels and rates."""
    k = int(rng.integers(strata[0], strata[1] + 1))
    weight = np.log(rng.dirichlet(np.full(k, pick(rng, (0.3, 1.0, 3.0)))) + 1e-4)
    share = rng.dirichlet(np.full(k, pick(rng, (0.5, 2.0, 10.0))))
    labeled = np.maximum(2, np.rint(share * random_budget(rng, BUDGETS))).astype(int)
    return Arbitrary(weight, labeled, np.array([random_rate(rng) for _ in range(k)]))


def start_giant(rng):
    """Return strata of which one is heavy and lightly labeled."""
    state = start_arbitrary(rng)
    heavy = np.log(np.exp(state.weight[1:]).sum()) + logit(rng.uniform(0.5, 0.98))
    return state.but("weight", 0, heavy).but("labeled", 0, int(rng.integers(2, 21)))


def start_few(rng):
    """Return strata that have 2 to 5 labels, all but one or two."""
    state = start_arbitrary(rng, (3, MAX_STRATA))
    labeled = rng.integers(2, 6, state.labeled.size)
    labeled[: pick(rng, (1, 2))] = int(np.exp(rng.uniform(np.log(5), np.log(150))))
    return replace(state, labeled=labeled)


def start_finite(rng, strata=(2, 6)):
    """Return small populations of which 5% to 100% are labeled."""
    state = start_arbitrary(rng, strata)
    fraction = np.exp(rng.uniform(np.log(0.05), 0))
    return replace(state, population=int(np.ceil(state.labeled.sum() / fraction)))


def start_arbitrary_waves(rng, strata=(2, MAX_STRATA)):
    """Return arbitrary strata labeled in two or three waves."""
    return replace(
        start_arbitrary(rng, strata),
        population=int(np.exp(rng.uniform(np.log(400), np.log(50_000)))),
        waves=pick(rng, (2, 3)),
    )


def start_one_in_waves(rng):
    """Return one stratum labeled in two or three waves."""
    return start_arbitrary_waves(rng, (1, 1))


def move_arbitrary(state, rng):
    """Return a neighbor: a weight, label count, rate or the population changed, a stratum gone or doubled."""
    k = int(rng.integers(state.weight.size))
    step = rng.random()
    if step < 0.3:
        return state.but("weight", k, state.weight[k] + rng.normal(0, 0.7))
    if step < 0.6:
        near = round(state.labeled[k] * np.exp(rng.normal(0, 0.4))) + int(rng.integers(-1, 2))
        return state.but("labeled", k, max(2, near))
    if step < 0.85:
        return state.but("rate", k, near_rate(state.rate[k], rng))
    if step < 0.9 and state.population < LARGE:
        return replace(
            state, population=max(20, round(state.population * np.exp(rng.normal(0, 0.3))))
        )
    chosen = np.arange(state.weight.size)
    if chosen.size == 1:
        return replace(state, rate=rng.random(1))
    chosen = np.append(chosen, k) if rng.random() < 0.5 else np.delete(chosen, k)
    return replace(
        state, weight=state.weight[chosen], labeled=state.labeled[chosen], rate=state.rate[chosen]
    )


def build_arbitrary(state):
    """Return the design in whole items, or None where it is outside the searched domain."""
    n = int(state.labeled.sum())
    if state.weight.size > MAX_STRATA or not BUDGETS[0] <= n <= BUDGETS[1]:
        return None
    size = np.maximum(np.rint(state.share * state.population).astype(int), state.labeled)
    right = np.rint(size * state.rate).astype(int)
    if not state.waves:
        return Design(whole(size), whole(right), whole(state.labeled))
    if n < 2 * state.waves * size.size or n > size.sum() / 2:
        return None
    return Design(whole(size), whole(right), budget=n, waves=state.waves)


def build_balanced(state):
    """Return the design if there are three strata and none holds more than half of the items."""
    return build_arbitrary(state) if state.weight.size > 2 and state.share.max() <= 0.5 else None


def build_giant(state):
    """Return the design if one stratum holds half of the items and at most half its share of the labels."""
    heaviest = int(state.share.argmax())
    share = state.share[heaviest]
    light = state.labeled[heaviest] <= share / 2 * state.labeled.sum()
    return build_arbitrary(state) if light and share >= 0.5 else None


def build_few(state):
    """Return the design if all but two strata have at most 5 labels."""
    most = state.weight.size > 2 and (state.labeled > 5).sum() <= 2
    return build_arbitrary(state) if most else None


def random_rate(rng):
    """Return a rate: pure, nearly pure or any."""
    kind = rng.random()
    if kind < 0.3:
        return float(kind < 0.25)
    return 1 - 10 ** rng.uniform(-3.5, -0.5) if kind < 0.7 else rng.random()


def near_rate(rate, rng):
    """Return a rate nearby, or sometimes any."""
    if rng.random() < 0.2 or not 0 < rate < 1:
        return random_rate(rng)
    return float(expit(logit(rate) + rng.normal(0, 0.7)))


def random_budget(rng, ends):
    """Return a budget, log-uniform."""
    return int(np.exp(rng.uniform(*np.log(ends))))


def pick(rng, options):
    """Return one of the options."""
    return options[int(rng.integers(len(options)))]


def whole(values):
    """Return a tuple of plain ints."""
    return tuple(int(value) for value in values)


FAMILIES = {
    "one stratum": (start_one, move_arbitrary, build_arbitrary),
    "workbench": (start_recipe, move_recipe, build_recipe),
    "arbitrary": (start_arbitrary, move_arbitrary, build_arbitrary),
    "giant light stratum": (start_giant, move_arbitrary, build_giant),
    "2 to 5 labels": (start_few, move_arbitrary, build_few),
    "finite population": (start_finite, move_arbitrary, build_arbitrary),
    "waves": (start_wave_recipe, move_recipe, build_recipe),
    "arbitrary waves": (start_arbitrary_waves, move_arbitrary, build_arbitrary),
    "one stratum, waves": (start_one_in_waves, move_arbitrary, build_arbitrary),
    "no heavy stratum": (start_arbitrary, move_arbitrary, build_balanced),
}


# search


class Search:
    """The search of one family: counts evaluations and keeps the lowest candidates."""

    def __init__(self, family, method, seed, seconds, evaluations):
        self.start, self.move, self.build = FAMILIES[family]
        self.method, self.most = method, evaluations
        self.rng, self.fresh = np.random.default_rng([seed, list(FAMILIES).index(family)]).spawn(2)
        self.deadline = time.process_time() + seconds
        self.draws = SCREENING if method == "default" else SLOW_SCREENING
        self.evaluations, self.restarts, self.pool = 0, 0, []

    def going(self):
        """Return whether there is time, or an evaluation, left."""
        if self.most is not None:
            return self.evaluations < self.most
        return time.process_time() < self.deadline

    def screen(self, state):
        """Return a quick coverage of a state, 1 for none."""
        design = self.build(state)
        if design is None:
            return 1.0
        self.evaluations += 1
        draws = self.draws // 2 if design.waves else self.draws
        share = coverage(design, self.method, self.rng, draws, 3 * draws // 2, screen=True)[0]
        self._keep(share, design)
        return share

    def _keep(self, share, design):
        if all(design != kept for _, _, kept in self.pool):
            self.pool = sorted([*self.pool, (share, repr(design), design)])[:CANDIDATES]

    def climb(self):
        """Take the best of a few random starts and improve it until nothing helps."""
        self.restarts += 1
        starts = [self.start(self.rng) for _ in range(STARTS)]
        current, state = min(
            [(self.screen(state), state) for state in starts], key=lambda pair: pair[0]
        )
        failures = 0
        while failures < PATIENCE and self.going():
            neighbor = self.move(state, self.rng)
            share = self.screen(neighbor)
            failures = 0 if share < current else failures + 1
            if share < current:
                current, state = share, neighbor

    def lowest(self):
        """Return coverage, standard error and design after three rounds of fresh draws."""
        kept, scale = [design for _, _, design in self.pool], 1 if self.method == "default" else 20
        for draws, left in ((5_000 // scale, 5), (20_000 // scale, 1)):
            again = [coverage(design, self.method, self.fresh, draws, draws)[0] for design in kept]
            kept = [kept[i] for i in np.argsort(again, kind="stable")[:left]]
        return *coverage(kept[0], self.method, self.fresh, 40_000 // scale, 40_000 // scale), kept[
            0
        ]


def search(family, method, seed, seconds, evaluations=None):
    """Search one family and return its row of the table."""
    began = time.process_time()
    found = Search(family, method, seed, seconds, evaluations)
    while found.going():
        found.climb()
    share, error, design = found.lowest()
    figures = {
        "coverage": round(share, 5),
        "standard_error": round(error, 5),
        "accuracy": round(design.accuracy, 5),
    }
    effort = {
        "evaluations": found.evaluations,
        "restarts": found.restarts,
        "cpu_seconds": round(time.process_time() - began),
    }
    return {
        "family": family,
        "method": method,
        "seed": seed,
        **effort,
        **figures,
        "design": asdict(design),
        "versions": versions(),
    }


def versions():
    """Return the versions that the figures depend on."""
    return {
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
    }


# table and record


def line(row):
    """Return one row as text."""
    how = "exact" if row["standard_error"] == 0 else f"s.e. {row['standard_error']:.4f}"
    return (
        f"{row['family']:20} {row['method']:10} {row['evaluations']:>8,} {row['coverage']:.4f} {how:11} "
        f"{row['accuracy']:.4f}  {row['seed']:>4}  {shown(row['design'])}"
    )


def shown(design):
    """Return a design in one line."""
    size = np.array(design["size"])
    parts = [f"[{design['recipe']}]"] if design["recipe"] else []
    parts += ["W=" + listed(size / size.sum()), "q=" + listed(np.array(design["right"]) / size)]
    labels = (
        f"{design['budget']} in {design['waves']} waves"
        if design["waves"]
        else list(design["labeled"])
    )
    return " ".join([*parts, f"n={labels}", f"N={size.sum():,}"])


def listed(values):
    """Return rounded values in brackets."""
    return "[" + ", ".join(f"{value:.4g}" for value in values) + "]"


def recorded():
    """Return the recorded rows."""
    return json.loads(RECORD.read_text())["rows"] if RECORD.exists() else []


def record(rows):
    """Replace the recorded rows of the same family, method and seed."""

    def key(row):
        return list(FAMILIES).index(row["family"]), row["method"], row["seed"]

    kept = {key(row): row for row in [*recorded(), *rows]}
    text = ",\n".join(json.dumps(kept[k]) for k in sorted(kept))
    RECORD.write_text(f'{{"level": {LEVEL}, "rows": [\n{text}\n]}}\n')


def recheck(seed):
    """Return the recorded rows with their coverage drawn again."""
    for row in recorded():
        stored = {name: tuple(v) if isinstance(v, list) else v for name, v in row["design"].items()}
        rng, draws = (
            np.random.default_rng([seed, 99]),
            40_000 if row["method"] == "default" else 2_000,
        )
        share, error = coverage(Design(**stored), row["method"], rng, draws, draws)
        yield {**row, "coverage": share, "standard_error": error, "seed": seed}


def arguments():
    """Return the command line."""
    parser = argparse.ArgumentParser(
        description="Search for the designs where an interval covers least."
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--minutes", type=float, default=3, help="of processor time, shared by the families"
    )
    parser.add_argument(
        "--evaluations", type=int, help="per family, instead of --minutes; repeats a search"
    )
    parser.add_argument("--families", nargs="+", choices=FAMILIES, default=list(FAMILIES))
    parser.add_argument("--method", choices=("default", "short", "guaranteed"), default="default")
    parser.add_argument("--write", action="store_true", help=f"record the rows in {RECORD.name}")
    parser.add_argument(
        "--recheck", action="store_true", help="only draw the recorded designs again"
    )
    return parser.parse_args()


def found_rows(args):
    """Yield a row per family; the waves have the default interval only."""
    families = [f for f in args.families if args.method == "default" or "waves" not in f]
    for family in families:
        yield search(
            family, args.method, args.seed, 60 * args.minutes / len(families), args.evaluations
        )


def main():
    """Search or recheck, print the table, record it if asked."""
    args = arguments()
    print(
        f"{'family':20} {'method':10} {'designs':>8} lowest  {'':10} accuracy  seed  design",
        flush=True,
    )
    rows = []
    for row in recheck(args.seed) if args.recheck else found_rows(args):
        rows.append(row)
        print(line(row), flush=True)
    if args.write and not args.recheck:
        record(rows)


if __name__ == "__main__":
    main()
