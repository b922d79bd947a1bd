"""The claims say what the records of simulations and searches hold; tests of the rooms compare the others."""

import json
import math
from pathlib import Path

import documented
import pytest

from workbench.extras.papers import replay_list

PEERS = Path(__file__).parent / "peers"


def record(name):
    return json.loads((PEERS / f"{name}.json").read_text(encoding="utf-8"))


def two(share):
    return f"{share:.2f}".removeprefix("0")


def three(share, cut=math.floor):
    """A share as it is said: a least one is cut, a largest one is not."""
    return f"{cut(1e3 * share + 1e-9 * (cut is math.floor)) / 1e3:.3f}".removeprefix("0")


def percent(share):
    return f"{math.floor(1e3 * share) / 10:.1f}%"


def ratios(cells, *kinds):
    found = [cell["ratio"] for cell in cells if cell["kind"] in kinds]
    return two(min(found)), two(max(found))


def plans():
    found = record("default_plan")
    usual = "sharp", "calibrated", "over-confident", "under-confident"
    (low, high), (trusted, most) = ratios(found["cells"], *usual), ratios(found["trusted"], *usual)
    guess, wrong = (
        ratios(found["cells"], "useless", "shuffled")[1],
        ratios(found["cells"], "reversed")[1],
    )
    guesses, wrongs = (
        ratios(found["trusted"], "useless", "shuffled")[1],
        ratios(found["trusted"], "reversed")[1],
    )
    budgets = sorted({cell["budget"] for cell in found["cells"]})
    populations = {(cell["kind"], cell["items"], cell["accuracy"]) for cell in found["cells"]}
    delivered = sorted(plan["delivered"] for plan in found["promises"])
    yield (
        f"interval is {low} to {high} times as wide. This holds for sharp, calibrated, over-confident and "
        f"under-confident scores. It is up to {guess} times as wide if scores are useless or shuffled, and up to "
        f"{wrong} times if they are reversed. With `--trust-scores` the figures are {trusted} to {most}, {guesses} "
        f"and {wrongs}. | Simulation of {len(populations)} populations with {budgets[0]} to {budgets[-1]:,} labels "
        f"(from {min(each['budget'] for each in found['trusted'])} labels on with `--trust-scores`)"
    )
    yield (
        f"Simulation of {len(delivered)} plans: {three(delivered[0])} to {three(delivered[-2], math.ceil)}, and "
        f"{delivered[-1]:g} where a single label decides"
    )


def comparisons():
    cells = [
        each
        for kind in ("pairs", "clusters")
        for each in record("comparison_coverage")[kind]["cells"].values()
    ]
    runs = record("comparison_coverage")["pairs"]["runs"]
    covered = [each["t_coverage"] for each in cells]
    yield (
        f"Student's t covers {three(min(covered))} to {max(covered):g} and has no width in up to "
        f"{max(each['zero_t'] for each in cells) / runs:.0%} of samples"
    )


def unbounded():
    wrong, t = {}, []
    for name, each in record("unbounded_values")["settings"].items():
        kind = name.partition(",")[0]
        wrong[kind] = max(wrong.get(kind, 0), each["workbench wrong"])
        t.append(each["t wrong"])
    few, heavy = wrong.pop("2% are 20 larger"), wrong.pop("lognormal(2)")
    yield (
        f"wrong in at most {max(wrong.values()):.0%} of samples. There are two exceptions: {heavy:.0%} for "
        f"lognormal(2) values, and up to {few:.0%} if 2% of the values are far off and 5 to 60 labels do not show "
        f"them. Student's t is wrong in up to {max(t):.0%}"
    )


def second_labels():
    found = record("second_labels_grid")
    heavy = [
        each["coverage"] for name, each in found["named"].items() if name.startswith("15% each")
    ]
    mild = [
        each["coverage"] for name, each in found["named"].items() if not name.startswith("15% each")
    ]
    yield (
        f"{found['cells']} settings: least {three(found['minimum'])}; named settings: least "
        f"{three(min(heavy))} if both annotators err in 15%, {three(min(mild))} otherwise"
    )
    each = [
        found["named"][f"3% each, {case}, accuracy 0.95"]["width"]
        for case in ("390 items, 100% twice", "600 items, 30% twice")
    ]
    yield (
        f"390 items, the interval is {100 * each[0]:.1f} percentage points wide. With 780 labels of 600 items, 30% of "
        f"them labeled twice, it is {100 * each[1]:.1f} points wide"
    )


def judged():
    found, climbed = record("judged_coverage"), record("search_judged")
    likely, wide = found["searched"], found["searched anywhere"]
    own, alike = (
        min(likely[name]["least"], wide[name]["least"], climbed[f"two models, {drawn}"]["coverage"])
        for name, drawn in (("own", "by verdicts"), ("random", "at random"))
    )
    yield (
        f"at least {percent(own)} of samples if labels are sampled by the judge's labels. It covers in at least "
        f"{percent(alike)} if labels are sampled from all items alike ({percent(likely['random']['least'])} in "
        f"likely designs). | Simulation of {likely['designs'] + wide['designs']:,} designs"
    )
    yield (
        f"Search for the worst designs: {three(climbed['same items']['coverage'])} (the same items), "
        f"{three(climbed['hull']['coverage'])} (an earlier batch)"
    )


def agreement():
    kinds = record("agreement_coverage")
    least = {
        kind: min(each["least"] for each in found.values() if isinstance(each, dict))
        for kind, found in kinds.items()
    }
    inside = [least[kind] for kind in ("searched", "three classes", "five classes")]
    yield (
        f"cover in at least {math.floor(100 * min(inside))}% of samples at 95%, with 30 to 500 items, 2 to 5 "
        "annotators and up to 30% of labels missing. Beyond that (rarer classes, 10 to 30 items, agreement near "
        f"100%) they cover in at least {percent(min(least.values()))}. | Simulation of "
        f"{sum(found['settings'] for found in kinds.values())} settings with {kinds['searched']['runs']:,} samples"
    )


def metrics():
    found = record("metric_coverage")
    low = {
        name: min(each["metrics"][name]["coverage"] for each in found.values())
        for name in ("log_loss", "correlation", "rmse")
    }
    yield (
        f"Log loss {three(low['log_loss'])}, correlation {three(low['correlation'])}, RMSE {three(low['rmse'])}; "
        "the last two with errors of heavy tails"
    )
    kinds = record("replication_families")
    yield f"on average {kinds['sizes']['width_over_t']:.1f} times as wide as t, also if large clusters are not worse"


def anytime():
    found = record("anytime_coverage")
    yield (
        f"{len(found['misses'])} settings x {found['runs']:,} runs, `make audits`: at most "
        f"{max(found['misses']):.1%}"
    )
    yield f"{min(found['widths']):.1f} to {max(found['widths']):.1f} times as wide as the interval for a fixed number"
    widths = found["default_plan_widths"]
    yield f"default plan it is {min(widths):.1f} to {max(widths):.1f} times as wide"


def small_populations():
    found = record("exact_values")
    yield (
        f"Exact for {found['designs']:,} populations of at most 60 items, with integer and other values: least "
        f"{three(found['least'])}"
    )


def differences():
    least = min(each["coverage"] for each in record("exact_differences")["least"]["0.95"])
    yield f"covers in at least {percent(least)} of samples, with 10 to 500 labels of one stratum"


def installation():
    found = record("installed")
    yield (
        f"saves {found['lab']['packages'] - found['']['packages']} packages and "
        f"{found['lab']['MB'] - found['']['MB']} of {found['lab']['MB']} MB"
    )


def claims():
    found = [
        verdict
        for item in json.loads((PEERS / "replay_verdicts.json").read_text()).values()
        for verdict in item
    ]
    count = {verdict: found.count(verdict) for verdict in {*found}}
    yield (
        f"Of {len(found) - count['put in']} claims {count['holds']} hold, "
        f"{count['wrong as printed, right when corrected']} are wrong as printed and right when a slip is corrected"
        f", {count['does not hold']} do not hold and {count['not decided here']} are not decided here"
    )


MADE = (
    plans,
    comparisons,
    unbounded,
    second_labels,
    judged,
    agreement,
    metrics,
    anytime,
    small_populations,
    differences,
    installation,
    claims,
)
SENTENCES = [sentence for made in MADE for sentence in made()]


@pytest.mark.parametrize("sentence", SENTENCES)
def test_what_is_said_is_what_was_recorded(sentence):
    assert sentence in documented.said()


def test_every_item_of_the_papers_has_recorded_verdicts():
    assert list(record("replay_verdicts")) == [row["name"] for row in replay_list().rows()]
