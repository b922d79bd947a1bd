"""The default plan against its rule written out, and assured budgets against exact probabilities."""

import json

import default_plan as simulated
import numpy as np
import pytest
from refusals import refused
from scipy import stats

import workbench as wb
from workbench.data.scored_items import ScoredItems
from workbench.stratified import default_plan

RNG = np.random.default_rng(7)
SCORE = RNG.beta(6, 1, 3_000)
ITEMS = ScoredItems(None, SCORE, score_is="confidence")
FOUND = json.loads(simulated.RECORD.read_text())


def by_hand(score, strata, budget, kept):
    """Every stratum keeps a share of its labels, rounded up; each other label goes where it gains most."""
    size = np.array([(strata == h).sum() for h in range(strata.max() + 1)])
    rate = np.array([min(max(score[strata == h].mean(), 0.02), 0.98) for h in range(size.size)])
    even, left = divmod(budget, size.size)
    assert (size == size[0]).all() and not left
    labeled = np.full(size.size, max(-int(-kept * even * 1_000 // 1_000), 2))
    while labeled.sum() < budget:
        gain = rate * (1 - rate) * (1 / labeled - 1 / (labeled + 1))
        labeled[gain.argmax()] += 1
    return labeled


@pytest.mark.parametrize(
    ("budget", "strata"), [(50, 10), (80, 10), (120, 10), (190, 10), (200, 20), (300, 20)]
)
@pytest.mark.parametrize("trust", [False, True])
def test_labels_follow_the_rule(budget, strata, trust):
    audit = wb.accuracy_audit(ITEMS, budget, trust_scores=trust)
    labels = wb.stratify(SCORE, strata, "equal_size").labels
    expected = by_hand(SCORE, labels, budget, 0.75 if trust else 0.9)
    assert audit.labeled.size == strata
    assert audit.labeled.tolist() == expected.tolist()


@pytest.mark.parametrize(
    ("budget", "strata"), [(2, 1), (3, 1), (7, 3), (19, 9), (20, 10), (199, 10), (200, 20)]
)
def test_every_stratum_has_two_labels(budget, strata):
    audit = wb.accuracy_audit(ITEMS, budget)
    assert (
        audit.labeled.size == strata and audit.labeled.min() >= 2 and audit.labeled.sum() == budget
    )
    few = wb.accuracy_audit(ScoredItems(None, SCORE[:13], score_is="confidence"), 13)
    assert few.labeled.tolist() == few.stratum_size.tolist() and few.stratum_size.min() >= 2


def test_labels_go_in_proportion_where_scores_say_nothing():
    margins = wb.accuracy_audit(ScoredItems(None, SCORE, score_is="margin"), 400)
    assert (
        margins.labeled.tolist() == [20] * 20
        and "the scores are not probabilities" in margins.notes[-1].text
    )
    given = wb.accuracy_audit(
        ScoredItems(None, SCORE, score_is="confidence", by=np.repeat(["a", "b"], 1_500)), 400
    )
    assert given.labeled.tolist() == [200, 200]
    assert "too few labels" in wb.accuracy_audit(ITEMS, 60).notes[-1].text
    assert (
        "At least 90% of the labels are allocated in proportion"
        in wb.accuracy_audit(ITEMS, 300).notes[-1].text
    )
    assert "At least 75%" in wb.accuracy_audit(ITEMS, 300, trust_scores=True).notes[-1].text


@pytest.mark.parametrize(
    ("items", "given"),
    [
        (ITEMS, {"n_strata": 5}),
        (ITEMS, {"allocation": "equal"}),
        (ScoredItems(None, SCORE, score_is="margin"), {}),
    ],
)
def test_trust_without_effect_is_refused(items, given):
    rule = "can be used only with the default plan of an accuracy and scores that are"
    refused(lambda: wb.accuracy_audit(items, 300, trust_scores=True, **given), "trust_scores", rule)


@pytest.mark.parametrize(
    ("budget", "trust"), [(15, False), (60, False), (130, False), (130, True), (260, False)]
)
def test_a_session_labels_the_items_of_a_sheet(tmp_path, budget, trust):
    items = ScoredItems(None, SCORE, np.ones(SCORE.size, int), score_is="confidence")
    wb.accuracy_audit(items, budget, trust_scores=trust, label_sheet=str(tmp_path / "a.csv"), rng=3)
    sheet = [
        line.split(",")[0].strip('"')
        for line in (tmp_path / "a.csv").read_text("utf-8-sig").splitlines()[1:]
    ]
    settings = {"budget": budget, "n_strata": "auto", "trust_scores": trust, "seed": 3}
    with wb.AuditSession.create(tmp_path / "a.db", items, **settings) as session:
        assert [item.id for item in session.next(budget)] == sheet
        session.extend(20)
        assert session.verify(items).scores
        assert len({item.id for item in session.next(20)} - set(sheet)) == 20


def test_prices_are_those_of_the_plan():
    for width in (0.06, 0.025):
        least = int(wb.label_prices(ITEMS, width).labeled[0])
        half = [wb.accuracy_audit(ITEMS, n).expected_half_width for n in (least - 1, least)]
        assert half[1] <= width < half[0]


def test_every_budget_belongs_to_one_regime():
    for n in (1, 3, 25, 3_000):
        items = ScoredItems(None, SCORE[:n], score_is="confidence")
        found = [
            (budget, strata)
            for first, last, strata in default_plan.regimes(items, "auto")
            for budget in range(first, last + 1)
        ]
        assert found == [
            (budget, default_plan.strata_wanted("auto", budget, items))
            for budget in range(1, n + 1)
        ]


def exact(n, rate, half_width):
    """The chance that Clopper-Pearson's interval has the half-width."""
    x = np.arange(n + 1)
    low = np.where(x > 0, stats.beta.ppf(0.025, np.maximum(x, 1), n - x + 1), 0)
    high = np.where(x < n, stats.beta.ppf(0.975, x + 1, np.maximum(n - x, 1)), 1)
    return stats.binom.pmf(x, n, rate) @ ((high - low) / 2 <= half_width)


@pytest.mark.parametrize(
    ("rate", "half_width", "assurance"), [(0.9, 0.05, 0.8), (0.8, 0.05, 0.9), (0.97, 0.02, 0.8)]
)
def test_one_stratum_is_assured_with_the_exact_probability(rate, half_width, assurance):
    plan = wb.plan_budget([10**7], [rate], half_width, assurance=assurance)
    assert assurance - 0.03 < exact(plan.assured, rate, half_width) < assurance + 0.05
    assert exact(plan.budget, rate, half_width) < 0.6 < exact(plan.assured, rate, half_width)
    fraction = "4 of 5" if assurance == 0.8 else "9 of 10"
    assert f"; {fraction} samples reach it with {plan.assured:,}" in plan.headline()


def test_assured_is_never_less_and_ends_with_all_items():
    size, rate = [30] * 4, [0.5, 0.7, 0.9, 1]
    for width in (0.02, 0.15):
        plans = [wb.plan_budget(size, rate, width, assurance=share) for share in (0.5, 0.8, 0.99)]
        assured = [plan.assured for plan in plans]
        assert plans[0].budget <= assured[0] <= assured[1] <= assured[2] <= 120
    certain = "must be below 1, because only labels for all items are certain to be enough"
    refused(lambda: wb.plan_budget(size, rate, 0.05, assurance=1), "assurance", certain)


def test_the_record_holds_what_is_claimed():
    cells = [cell for cell in FOUND["cells"] if cell["kind"] != "reversed"]
    assert {cell["budget"] for cell in cells} == {50, 100, 200, 400, 1_000} and len(cells) == 120
    assert (
        max(cell["ratio"] for cell in cells) <= 1.06
        and min(cell["coverage"] for cell in cells) >= 0.95
    )
    assert (
        all(0.78 <= each["delivered"] for each in FOUND["promises"]) and len(FOUND["promises"]) >= 8
    )


@pytest.mark.parametrize(
    ("kind", "budget"), [("sharp", 400), ("over-confident", 100), ("shuffled", 200)]
)
def test_fresh_draws_are_as_recorded(kind, budget):
    then = next(cell for cell in FOUND["cells"] if (cell["kind"], cell["budget"]) == (kind, budget))
    now = simulated.cell(
        kind, then["items"], then["accuracy"], budget, np.random.default_rng(3), 400
    )
    assert now["ratio"] == pytest.approx(then["ratio"], abs=0.04)
    assert now["coverage"] == pytest.approx(then["coverage"], abs=0.035)
