"""Calls of public functions that are right, with the parameters of each that take one of a few words."""

import dataclasses

import workbench as wb

FORMS = wb.digit_forms()
ITEMS = FORMS.items()
RIVAL = dataclasses.replace(ITEMS, rival=FORMS.read_b)
AUDIT = wb.ConfusionCounts([[331, 18], [7, 44]])
CV = wb.CVLosses.from_fold_means(
    {"A": [0.2, 0.1, 0.2, 0.3, 0.15, 0.2], "B": [0.1, 0.1, 0.05, 0.15, 0.1, 0.15]}
)
SIZE, LABELED, CORRECT, RIGHT = [360, 359, 30], [20, 20, 30], [12, 20, 29], [300, 340, 29]
SCORE, ZERO_ONE = [0.5, 0.6, 0.7, 0.8, 0.9, 1.0] * 20, [0, 1, 1, 1, 1, 1] * 20
FRAME = (8100, 1900)
DESIGN = wb.SurveyDesign(["a", "a", "b", "b"], psu=[1, 2, 3, 4])
TABLE = {"truth": [1, 0, 1, 1], "prediction": [1, 0, 0, 1], "stratum": ["a", "a", "b", "b"]}
STRATA = wb.load_strata({"stratum": ["a", "b"], "size": [1000, 600], "sd": [0.5, 0.1]})
ESTIMATE = wb.replicate_estimate(wb.replicates(DESIGN), "mean", [1.0, 2.0, 3.0, 4.0], bounds=(0, 5))
SHARES = wb.simulate_prevalence(0.2, 0.3, 0.9, 0.8, 100, 1000, runs=20)
LABELING = wb.simulate_labeling(SIZE, RIGHT, 60, "proportional", runs=20)
MODELS = wb.ItemScores([[1, 0], [1, 1]], ["a", "b"], [1, 2], columns={"part": ["x", "x"]})
SMALL = {"runs": 20, "rng": 0}
STREAM = {"progress": False, "runs": 2, "every": 50}
DESIGNED = ("stratifier", "allocation", "interval")
VERDICTS = {"on_a": [1, 1, 0, 0, 1] * 20, "on_b": [1, 0, 1, 0, 1] * 20}
JUDGED = [1400, 250, 200, 150], [[55, 4, 2, 1], [5, 9, 1, 2], [4, 1, 7, 1], [0, 1, 0, 7]]

CALLS = [
    (wb.agreement, ([[1, 2], [2, 2], [3, 1]],), {"scale": "ordinal"}, ("scale", "order")),
    (wb.accuracy_audit, (ITEMS,), {}, DESIGNED),
    (wb.class_audit, (ITEMS, "9", 200), {"n_strata": 2}, DESIGNED),
    (wb.difference_audit, (RIVAL, 60), {"n_strata": 2}, DESIGNED),
    (wb.judged_difference, JUDGED, {"skipped": [1, 0, 0, 2]}, ["drawn"]),
    (wb.judge_audit, ([0, 1, 1, 1], [0, 1, None, 1]), {"earlier": [0, 1, 0, 1]}, ["rates"]),
    (wb.classification_table, (AUDIT, FRAME), {"level": 0.9}, ["sampled_by"]),
    (wb.plan_classification_table, (FRAME, [0.8, 0.9], 0.1), {"level": 0.9}, []),
    (wb.compare_items, (MODELS,), {}, ["adjust", "method"]),
    (wb.compare_slices, (MODELS, "part"), {}, ["adjust", "method"]),
    (wb.gate, (MODELS, f"{MODELS.models[0]} > {MODELS.models[1]}"), {}, ["method"]),
    (wb.pair_interval, (MODELS, *MODELS.models[:2]), {}, ["method"]),
    (wb.value_interval, ([100], [[3, 4, 5]], [0, 1, 2]), {}, ["method"]),
    (wb.accuracy_variance, (SIZE, RIGHT, LABELED), {}, ["form"]),
    (wb.estimated_variance, (SIZE, LABELED, CORRECT), {}, ["form"]),
    (wb.next_wave, (SIZE, [5, 5, 5], [3, 4, 5], 20), {}, ["rule"]),
    (wb.plan_budget, (SIZE, [0.6, 0.9, 0.9], 0.05), {"interval": "wald"}, ["method", "interval"]),
    (wb.read_scores, ({"s": [0.5, 0.6]},), {"score": "s"}, ["score_is"]),
    (wb.synthetic_scores, (), {"kind": "calibrated", "size": 100}, ["kind"]),
    (wb.simulate_labeling, (SIZE, RIGHT, 60), {"method": "equal", **SMALL}, ["method"]),
    (
        wb.simulate_grid,
        (SCORE, ZERO_ONE, 30),
        {"n_strata": [2], "stratifiers": ["equal_size"], "methods": ["equal"], **SMALL},
        ["stratifiers", "methods", "n_strata"],
    ),
    (wb.simulate_looking, (SIZE, RIGHT), {"last": 60, **SMALL}, ["method"]),
    (wb.study_design, (SCORE, ZERO_ONE, 30), {"n_strata": 2}, ["stratifier", "method"]),
    (wb.stratified_interval, (SIZE, LABELED, CORRECT), {}, ["method"]),
    (wb.stratified_accuracy(SIZE, LABELED, CORRECT).interval, (), {}, ["method"]),
    (LABELING.coverage, (), {}, ["method"]),
    (wb.stratify, (SCORE, 2), {}, ["method"]),
    (wb.allocate, (SIZE, 60), {"stratum_sd": [0.5, 0.2, 0.1]}, ["method"]),
    (wb.allocate(SIZE, 60, stratum_sd=[0.5, 0.2, 0.1]).variance_ratio, (), {}, ["method"]),
    (wb.plan_labels, (STRATA, 50), {}, ["method"]),
    (wb.simulate_stream, (["a", "b"] * 50, list(range(100)), 20), STREAM, ["methods", "order"]),
    (wb.estimate_metrics, (wb.load_labeled(TABLE), "accuracy"), {}, ["method", "metrics"]),
    (
        wb.compare_metrics,
        (wb.load_labeled(TABLE | {"other": TABLE["truth"]}, prediction="prediction,other"), "f1"),
        {},
        ["method", "metrics", "adjust"],
    ),
    (wb.imported_replicates, ([1.0, 1.0], [[2.0, 0.0], [0.0, 2.0]]), {"method": "brr"}, ["method"]),
    (wb.orthogonal_array, (3, 4), {}, ["method"]),
    (wb.replicates, (DESIGN,), {}, ["method"]),
    (
        wb.replicate_estimate,
        (wb.replicates(DESIGN), "mean", [1.0, 2.0, 3.0, 4.0]),
        {},
        ["statistic", "center"],
    ),
    (wb.simulate_coverage, (), SMALL, ["statistic", "method"]),
    (ESTIMATE.interval, (), {}, ["method"]),
    (wb.estimate_prevalence, (AUDIT, FRAME, FRAME), {}, ["method", "rates"]),
    (wb.compare_estimators, (AUDIT, FRAME, FRAME), {}, ["rates"]),
    (wb.prevalence_series, (AUDIT, FRAME, {"May": FRAME}), {}, ["method", "rates"]),
    (wb.estimator_theory, (0.2, 0.3, 0.9, 0.8, 100), {"size": 1000, "new_size": 1000}, ["rates"]),
    (
        wb.plan_next_audit,
        (wb.ConfusionCounts([[331, 18], [7, 44]]), [8100, 1900], [8787, 1213], 0.05),
        {},
        ["quantity", "method", "rates"],
    ),
    (wb.label_prices, (ITEMS, [0.1]), {}, ["stratifier", "allocation", "interval"]),
    (wb.budget_for_error, (STRATA, 50), {}, ["method"]),
    (
        wb.plan_audit,
        (0.2, 0.3, 0.9, 0.8, 0.05),
        {"size": 10_000, "new_size": 10_000},
        ["quantity", "method", "rates"],
    ),
    (wb.compare_audits, (), {"first": AUDIT, "second": AUDIT}, ["first", "second"]),
    (wb.simulate_prevalence, (0.2, 0.3, 0.9, 0.8, 100, 1000), SMALL, ["rates"]),
    (wb.shares_theory, ([0.8, 0.2], [0.7, 0.3], [[0.9, 0.1], [0.2, 0.8]], 100), {}, ["rates"]),
    (
        wb.simulate_shares,
        ([0.8, 0.2], [0.7, 0.3], [[0.9, 0.1], [0.2, 0.8]], 100, 1000),
        SMALL,
        ["rates"],
    ),
    (wb.shift_study, (AUDIT, FRAME, ".7, .3"), {"runs": 20}, ["rates"]),
    (
        wb.simulate_shifts,
        (0.2,),
        {"new_base_rates": [0.3], "p00": 0.9, "p11": 0.8, "n": 100, "size": 1000, **SMALL},
        ["rates", "new_base_rates"],
    ),
    (SHARES.limits, (), {}, ["method", "quantity"]),
    (SHARES.closer, (), {"method": "mle", "other": "mixed"}, ["method", "other"]),
    (wb.compare_models, (CV,), {}, ["adjust", "rho"]),
    (wb.kfold_t_test, (CV,), {}, ["alternative", "rho"]),
    (wb.nadeau_bengio_test, ([0.1, 0.2, 0.05], 90, 10), {}, ["alternative"]),
    (wb.mcnemar_test, (5, 9), {}, ["method"]),
    (
        wb.simulate_comparison,
        ("digits", "1nn", "centroid", 20),
        {"tests": "naive t", "progress": False, **SMALL},
        ["tests"],
    ),
    (CV.pair, (), {"first": "A", "second": "B"}, ["first", "second"]),
]
