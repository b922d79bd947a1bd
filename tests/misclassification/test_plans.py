"""The size of a next audit, against the interval that an audit of this size gives."""

import numpy as np
import pytest
from command import page_of, run_here

import workbench as wb

AUDIT, FIRST, LATER = wb.ConfusionCounts([[331, 18], [7, 44]]), [8787, 1213], [8100, 1900]


@pytest.mark.parametrize(
    ("quantity", "half_width"), [("change", 0.015), ("change", 0.02), ("level", 0.03)]
)
def test_an_audit_of_this_size_gives_about_the_half_width(quantity, half_width):
    plan = wb.plan_next_audit(AUDIT, LATER, FIRST, half_width, quantity=quantity)
    rng, widths = np.random.default_rng(2), []
    rates = (AUDIT.table + 0.5) / (AUDIT.table + 0.5).sum(1, keepdims=True)
    share = wb.estimate_prevalence(AUDIT, FIRST, FIRST).estimate
    cells = np.array([1 - share, share])[:, None] * rates
    for _ in range(60):
        table = rng.multinomial(plan.audited, cells.ravel()).reshape(2, 2)
        series = wb.prevalence_series(
            wb.ConfusionCounts(table), FIRST, {"first": FIRST, "later": LATER}, sampled_by="random"
        )
        row = series.changes(0.95)[0] if quantity == "change" else series.levels(0.95)[1]
        low, high = (row["low"], row["high"])
        widths.append((high - low) / 2)
    assert np.median(widths) == pytest.approx(half_width, rel=0.1)


def test_more_classes_have_no_plan_yet():
    with pytest.raises(
        ValueError, match="^half_width can be planned for two classes only; the audit has 3$"
    ):
        wb.plan_next_audit(
            wb.ConfusionCounts(np.eye(3, dtype=int) * 20 + 2), [9, 9, 9], [9, 9, 9], 0.02
        )


def test_the_page_says_how_many(tmp_path):
    done = run_here(
        tmp_path,
        "report",
        "misclassification-correction",
        "--half-width",
        ".04",
        "-o",
        "r.html",
        "--quiet",
    )
    page = page_of(done, tmp_path)
    assert (
        "Size of the next audit" in page
        and "audited items for a 95% confidence interval of ±0.04 for the change (mle:" in page
    )
