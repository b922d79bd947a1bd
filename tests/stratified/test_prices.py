"""Labels needed for a half-width, against samples from calibrated scores."""

import numpy as np
import pytest
from command import page_of, run_here
from scipy import stats

import workbench as wb
from workbench.reports.inputs import stratified as read

RNG = np.random.default_rng(0)
SCORE = RNG.beta(6, 1, 4000).clip(0.01, 0.99)
ITEMS = wb.read_scores({"p": SCORE}, score="p", score_is="confidence")


@pytest.mark.parametrize("half_width", [0.02, 0.05])
def test_honest_scores_get_the_half_width_they_paid_for(half_width):
    labeled = int(wb.label_prices(ITEMS, half_width).labeled[0])
    rng, widths = np.random.default_rng(1), []
    for _ in range(40):
        right = (rng.random(4000) < SCORE) * 1
        audit = wb.accuracy_audit(
            wb.read_scores({"p": SCORE, "y": right}, score="p", truth="y", score_is="confidence"),
            labeled,
            rng=int(rng.integers(1000)),
        )
        widths.append(audit.interval().half_width)
    assert np.mean(widths) == pytest.approx(half_width, rel=0.06)


def test_one_stratum_is_clopper_pearson():
    half = wb.read_scores({"p": np.full(10**6, 0.5)}, score="p", score_is="confidence")
    n = int(wb.label_prices(half, 0.1, n_strata=1).labeled[0])
    x = np.arange(n + 1)
    high = stats.beta.ppf(0.975, x + 1, np.maximum(n - x, 1e-9))
    low = stats.beta.ppf(0.025, np.maximum(x, 1e-9), n - x + 1)
    assert stats.binom.pmf(x, n, 0.5) @ (high - low) / 2 == pytest.approx(0.1, abs=0.002)


def test_finer_costs_more_and_the_table_says_points():
    prices = wb.label_prices(ITEMS)
    assert (
        prices.half_width.tolist() == [0.01, 0.02, 0.03, 0.05, 0.1]
        and (np.diff(prices.labeled) < 0).all()
    )
    assert [row["labeled"] for row in prices.rows()] == prices.labeled.tolist()
    shown = prices._repr_html_()
    assert "±1 point<" in shown and "±2 points" in shown and f"{prices.labeled[0]:,}" in shown


def test_the_budget_of_a_plan_is_that_of_the_half_width(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s.csv").write_text("p\n" + "".join(f"{p:.6f}\n" for p in SCORE))
    _, audit = read.read(scores="s.csv", score="p", score_is="confidence", half_width=0.03)
    prices = wb.label_prices(ITEMS, 0.03)
    assert audit.labeled.sum() == prices.assured[0] > prices.labeled[0]
    _, average = read.read(
        scores="s.csv", score="p", score_is="confidence", budget=int(prices.labeled[0])
    )
    assert (
        average.expected_half_width == pytest.approx(0.03, rel=0.02)
        and audit.expected_half_width < 0.0295
    )
    line = "report stratified-accuracy --scores s.csv --score p --score-is confidence --half-width .03 -o r.html"
    page = page_of(run_here(tmp_path, *line.split(), "--quiet"), tmp_path)
    assert (
        "Labels needed for a given half-width" in page
        and "±3 points" in page
        and f"Label {audit.labeled.sum():,} of" in page
    )


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"half_widths": [0.02, 0.6]}, r"half_width must be a number in \(0, 0.5\); got 0.6"),
        (
            {"allocation": "voila"},
            "half_width plans for allocation 'auto', 'proportional' or 'equal', whose interval ",
        ),
        ({"interval": "exact"}, "interval must be one of"),
    ],
)
def test_mistakes_are_named(given, message):
    with pytest.raises(ValueError, match=message):
        wb.label_prices(ITEMS, **given)


def test_half_widths_are_one_to_ten_points_where_none_is_named():
    """In one stratum by the textbook formula, n = S^2 / ((e / z)^2 + S^2 / N)."""
    score = np.linspace(0.6, 0.98, 60)
    prices = wb.label_prices(
        wb.read_scores({"p": score}, score="p", score_is="confidence"), n_strata=1, interval="wald"
    )
    assert prices.half_width.tolist() == [0.01, 0.02, 0.03, 0.05, 0.1]
    variance = 60 / 59 * score.mean() * (1 - score.mean())
    error = prices.half_width / stats.norm.ppf(0.975)
    assert prices.labeled.tolist() == np.ceil(variance / (error**2 + variance / 60)).tolist()
