"""Every metric of every kind of sample: the estimate lies in its interval, which lies within what the metric can be."""

import math

import numpy as np
import pytest

import workbench as wb
from workbench.charts.replication import intervals as charts
from workbench.replication.statistics import METRICS, RANGES

OF_CLASSES = "accuracy precision recall f1 macro_f1 balanced_accuracy kappa mcc auc brier"
KINDS = (
    "few",
    "clusters",
    "weights",
    "all right",
    "all wrong",
    "nearly all right",
    "rare",
    "census",
    "certain",
)
SEEDS = range(3)


def sample(kind, seed):
    """Return labeled items of a kind, some of them extreme."""
    rng = np.random.default_rng([KINDS.index(kind), seed])
    n = {"few": 6, "nearly all right": 200}.get(kind, 40)
    truth = rng.integers(0, 2, n)
    truth[:2] = 0, 1
    if kind == "rare":
        truth = np.append([0, 1, 1], np.zeros(n - 3, int))
    wrong = rng.random(n) < {"all right": 0, "all wrong": 1, "nearly all right": 1 / n}.get(
        kind, 0.25
    )
    data = {
        "truth": truth,
        "prediction": np.where(wrong, 1 - truth, truth),
        "stratum": np.repeat([0, 1], n // 2),
        "score": np.round(np.clip(truth * 0.4 + rng.normal(0.3, 0.3, n), 0, 1), 2),
    }
    roles = {"score": "score", "positive": "1"}
    if kind in ("clusters", "census", "certain"):
        data["psu"] = data["stratum"] * 100 + np.arange(n) // 4
        roles["psu"] = "psu"
    if kind == "weights":
        data["weight"] = rng.lognormal(0, 1.5, n).round(3) * (rng.random(n) < 0.9)
        roles["weight"] = "weight"
    if kind == "census":
        data["fpc"] = np.where(data["stratum"] == 0, 5, 9)
    if kind == "certain":
        data["stratum"][-4:], data["psu"][-4:] = 2, 999
        data["fpc"] = np.where(data["stratum"] == 2, 1, 50)
    if "fpc" in data:
        roles["fpc"] = "fpc"
    return wb.load_labeled(data, **roles)


def check(row, spread):
    low, high = spread
    estimate = row["estimate"]
    assert low <= row["low"] <= estimate + 1e-12 and estimate - 1e-12 <= row["high"] <= high, row
    assert low <= row["naive_low"] <= row["naive_estimate"] + 1e-12, row
    assert row["naive_estimate"] - 1e-12 <= row["naive_high"] <= high, row
    assert row["standard_error"] >= 0 and math.isfinite(row["standard_error"])


@pytest.mark.parametrize("level", [0.5, 0.95, 0.9999])
@pytest.mark.parametrize("kind", KINDS)
def test_estimates_lie_in_intervals_that_can_be(kind, level):
    for seed in SEEDS:
        found = wb.estimate_metrics(sample(kind, seed), OF_CLASSES, level=level)
        assert {row["metric"] for row in found.rows()} <= {*OF_CLASSES.split()}
        for row in found.rows():
            check(row, RANGES[METRICS[row["metric"]].kind])
        missing = {*OF_CLASSES.split()} - {row["metric"] for row in found.rows()}
        said = "; ".join(
            wb.sentences([note for note in found.notes if note.kind in ("undefined", "refused")])
        )
        for name in missing:
            assert name in said or METRICS[name].title in said, (name, said)


@pytest.mark.parametrize("method", ["t", "logit", "wilson", "beta", "default"])
@pytest.mark.parametrize("kind", KINDS)
def test_every_way_of_making_limits_stays_within_what_can_be(kind, method):
    for seed in SEEDS:
        for estimate in wb.estimate_metrics(
            sample(kind, seed), "accuracy precision recall f1 kappa auc"
        ).estimates:
            low, high = RANGES[estimate.kind]
            try:
                limits = estimate.interval(0.95, method)
            except ValueError as error:
                assert (
                    method in ("logit", "wilson")
                    and "use 't'" in str(error)
                    or "use 'wilson'" in str(error)
                )
                continue
            assert low <= limits.low <= estimate.estimate + 1e-9, (estimate.statistic, limits)
            assert estimate.estimate - 1e-9 <= limits.high <= high, (estimate.statistic, limits)


@pytest.mark.parametrize("seed", SEEDS)
def test_numbers_without_an_end_above(seed):
    rng = np.random.default_rng(seed)
    truth = rng.lognormal(0, 1.5, 40).round(2)
    data = {"truth": truth, "prediction": (truth * rng.lognormal(0, 0.3, 40)).round(2)}
    found = wb.estimate_metrics(wb.load_labeled(data, stratum=""), "rmse correlation median")
    for row in found.rows():
        assert row["low"] <= row["estimate"] <= row["high"]
        low, high = RANGES[METRICS[row["metric"]].kind]
        assert low <= row["low"] and row["high"] <= high


@pytest.mark.parametrize("kind", KINDS)
def test_the_picture_shows_the_numbers_of_the_table(kind):
    found = wb.estimate_metrics(sample(kind, 1), OF_CLASSES)
    drawn = {(row["name"], row["kind"]): row for row in charts.metrics(found).data["metrics"]}
    words = charts.metrics(found).alternative
    for row in found.rows():
        name = charts.row_name(row)
        if (name, "naive") not in drawn:  # on another scale: the table has it
            continue
        assert [drawn[name, "report this"][key] for key in ("estimate", "low", "high")] == [
            row[key] for key in ("estimate", "low", "high")
        ]
        assert [drawn[name, "naive"][key] for key in ("estimate", "low", "high")] == [
            row[f"naive_{key}"] for key in ("estimate", "low", "high")
        ]
        for value in (row["estimate"], row["low"], row["high"]):
            assert f"{value:.3f}" in words or "> 0.999" in words or "< 0.001" in words
        assert ("1.000" in words) == any(
            round(value, 12) == 1
            for row in found.rows()
            if charts.row_name(row) in {name for name, _ in drawn}
            for value in (
                row["estimate"],
                row["low"],
                row["high"],
                row["naive_low"],
                row["naive_high"],
            )
        )
