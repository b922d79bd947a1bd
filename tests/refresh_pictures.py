"""Draw the pictures that README and site open with, one per topic, and write their findings into them.

The data are small and made here, not those of the lessons: what a learner is asked to predict is not shown.
"""

import re
from pathlib import Path

import numpy as np

import workbench as wb
from workbench.allocation.plans import load_strata, plan_labels
from workbench.audits.accuracy import accuracy_audit
from workbench.charts import (
    allocation,
    cross_validation,
    misclassification,
    replication,
    stratified,
)
from workbench.replication.labeled import LabeledItems
from workbench.widgets import image

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", ROOT / "docs" / "index.md"]
LINE = re.compile(r"!\[([^\]]*)\]\((docs/)?([a-z-]+)\.png\)")


def audited():
    """Return the audit of README's example: 5,000 payments, 100 labels."""
    data = ROOT / "notebooks" / "data"
    items = wb.read_scores(data / "my.csv", score="p", prediction="yhat", id="item")
    audit = accuracy_audit(items, labels=data / "my-labels.csv")
    return audit.finding(), stratified.finding(audit)


def allocated():
    """Return the best plan for 400 labels of invoices in four sizes."""
    strata = load_strata(
        {
            "stratum": ["small", "medium", "large", "huge"],
            "size": [52_000, 6_400, 700, 90],
            "sd": [3, 22, 160, 900],
        }
    )
    plan = plan_labels(strata, 400)
    return plan.finding(), allocation.allocation(plan.rows())


def clustered():
    """Return metrics of a class, from 24 clinics in 8 regions with 30 patients each."""
    rng = np.random.default_rng(5)
    clinic = np.repeat(np.arange(24), 30)
    truth = (rng.random(clinic.size) < 0.3).astype(int)
    wrong = rng.random(clinic.size) < np.repeat(rng.beta(2, 10, 24), 30)
    items = LabeledItems(
        truth, np.where(wrong, 1 - truth, truth), None, 1, clinic // 3, clinic, None
    )
    found = wb.estimate_metrics(items)
    return found.finding(), replication.metrics(found)


def corrected():
    """Return the share of complaints in six months, from one audit of 500 letters."""
    audit = wb.ConfusionCounts([[361, 24], [16, 99]], labels=["other", "complaint"])
    months = {
        month: (4000 - read, read)
        for month, read in zip(
            ("Jan", "Feb", "Mar", "Apr", "May", "Jun"), (985, 1002, 968, 940, 902, 871), strict=True
        )
    }
    series = wb.prevalence_series(audit, months["Jan"], months)
    return series.finding(), misclassification.series(series, label=series.leading)


def compared():
    """Return four models in the same ten folds, all pairs."""
    rng = np.random.default_rng(8)
    fold = rng.normal(0, 0.015, 10)
    means = {"linear": 0.21, "tree": 0.24, "forest": 0.17, "boosted": 0.16}
    found = wb.compare_models(
        {name: mean + fold + rng.normal(0, 0.012, 10) for name, mean in means.items()}
    )
    return found.finding(), cross_validation.pairs(found)


PICTURES = {
    "stratified-accuracy": audited,
    "allocation": allocated,
    "replication": clustered,
    "misclassification": corrected,
    "cross-validation": compared,
}


def main():
    """Write the pictures, and the findings as their text alternatives."""
    findings = {}
    for name, made in PICTURES.items():
        findings[name], chart = made()
        (ROOT / "docs" / f"{name}.png").write_bytes(image(chart).png())
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        page.write_text(
            LINE.sub(lambda line: f"![{findings[line[3]]}]({line[2] or ''}{line[3]}.png)", text),
            encoding="utf-8",
        )


if __name__ == "__main__":
    main()
