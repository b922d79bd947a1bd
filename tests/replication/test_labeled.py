"""Labeled items as files have them: PSU numbers that start again, no strata, many classes, published weights."""

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, f1_score

import workbench as wb
from workbench.replication.metrics import check_settings

RNG = np.random.default_rng(2)
STRATUM, PERSON = np.repeat(["n", "s", "w"], 40), np.tile(np.repeat(np.arange(8), 5), 3)
TRUTH = RNG.choice(["cat", "cow", "dog"], 120)
FRAME = {
    "truth": TRUTH,
    "prediction": np.where(RNG.random(120) < 0.8, TRUTH, "cow"),
    "stratum": STRATUM,
    "person": PERSON,
    "w": RNG.uniform(1, 2, 120).round(3),
    "g": RNG.choice(["x", "y"], 120),
}


def test_nested_numbers_are_the_joined_labels():
    joined = np.char.add(STRATUM, PERSON.astype(str))
    nested = wb.SurveyDesign(STRATUM, psu=PERSON, nest=True)
    one = wb.SurveyDesign(STRATUM, psu=joined)
    assert nested.psu_of_item.tolist() == one.psu_of_item.tolist() and nested.df == one.df == 21
    joint = wb.SurveyDesign(STRATUM, psu=PERSON, nest=True, collapse={"s": "n"})
    assert joint.psus_per_stratum.tolist() == [16, 8]
    found, expected = (
        wb.estimate_metrics(wb.load_labeled(FRAME | {"joined": joined}, **names), "accuracy").rows()
        for names in ({"psu": "person", "nest": True}, {"psu": "joined"})
    )
    assert found == expected


def test_clusters_of_nested_numbers_are_told_apart():
    rows = wb.load_labeled(FRAME, psu="person", nest=True).clusters()
    right = FRAME["truth"] == FRAME["prediction"]
    assert {(row["stratum"], row["psu"]): row["accuracy"] for row in rows} == {
        (s, str(p)): right[(STRATUM == s) & (PERSON == p)].mean() for s in "nsw" for p in range(8)
    }


def test_nested_weights_are_written_with_numbers_that_do_not_repeat(tmp_path):
    made = wb.replicates(
        wb.SurveyDesign(STRATUM, psu=PERSON, nest=True, collapse={"s": "n"}), "jkn"
    )
    made.write_csv(tmp_path / "w.csv")
    lines = (tmp_path / "w.csv").read_text(encoding="utf-8-sig").splitlines()[1:]
    assert len({tuple(line.split(",")[:2]) for line in lines}) == 24


@pytest.mark.parametrize(
    ("change", "said"),
    [({"drop": "stratum"}, "no column 'stratum'"), ({"stratum": ""}, "no strata")],
)
def test_without_strata_there_is_one_and_the_page_says_so(change, said):
    frame = {name: column for name, column in FRAME.items() if name != change.get("drop")}
    items = wb.load_labeled(
        frame, **{name: value for name, value in change.items() if name != "drop"}
    )
    assert items.notes == (
        wb.Note("assumption", f"{said}: the whole sample is treated as one stratum"),
    )
    found = wb.estimate_metrics(items, "accuracy")
    assert "120 PSUs in 1 stratum" in found.design
    n, right = 120, (FRAME["truth"] == FRAME["prediction"]).mean()
    assert found.estimates[0].variance == pytest.approx(right * (1 - right) / (n - 1), rel=1e-9)


def test_a_column_of_almost_that_name_is_asked_for():
    frame = {"Strata" if name == "stratum" else name: column for name, column in FRAME.items()}
    with pytest.raises(
        ValueError,
        match="^stratum must name the column of strata; there is no 'stratum' "
        r"\(did you mean 'Strata'\?\): if the sample has no strata, use ''$",
    ):
        wb.load_labeled(frame)
    assert wb.load_labeled(frame, stratum="").stratum[0] == "all"


def test_without_a_positive_class_every_class_has_its_own_f1():
    rows = wb.estimate_metrics(wb.load_labeled(FRAME, weight="w")).rows()
    assert [(row["metric"], row["label"]) for row in rows] == [
        ("accuracy", None),
        ("macro_f1", None),
        ("f1", "cat"),
        ("f1", "cow"),
        ("f1", "dog"),
    ]
    given = FRAME["truth"], FRAME["prediction"]
    expected = [
        accuracy_score(*given, sample_weight=FRAME["w"]),
        f1_score(*given, average="macro", sample_weight=FRAME["w"]),
        *f1_score(*given, average=None, sample_weight=FRAME["w"]),
    ]
    assert [row["estimate"] for row in rows] == pytest.approx(expected, rel=1e-12)
    assert "label" not in wb.estimate_metrics(wb.load_labeled(FRAME, positive="cow")).rows()[0]
    assert "F1 of cow" in wb.estimate_metrics(wb.load_labeled(FRAME))._repr_html_()


def test_a_class_that_was_never_predicted_has_no_precision_and_that_is_said():
    frame = FRAME | {
        "prediction": np.where(FRAME["prediction"] == "dog", "cow", FRAME["prediction"])
    }
    found = wb.estimate_metrics(wb.load_labeled(frame), "precision")
    assert [row["label"] for row in found.rows()] == ["cat", "cow"]
    assert (
        "metric precision of dog: precision is undefined: no item was predicted positive"
    ) in "; ".join(wb.sentences(found.notes))


def test_ids_taken_for_classes_leave_the_accuracy():
    frame = FRAME | {"truth": np.arange(120), "prediction": np.arange(120) % 110}
    assert [row["metric"] for row in wb.estimate_metrics(wb.load_labeled(frame)).rows()] == [
        "accuracy"
    ]
    with pytest.raises(
        ValueError,
        match="^f1 takes at most 100 classes; got 120: use accuracy, or name the positive",
    ):
        wb.estimate_metrics(wb.load_labeled(frame), "f1")


def test_naive_intervals_stay_within_0_and_1_in_every_group():
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 60)
    frame = {
        "truth": truth,
        "score": truth + rng.normal(0, 0.35, 60),
        "stratum": np.repeat(np.arange(6), 10),
        "prediction": truth,
        "g": np.repeat(list("abcde"), 12),
    }
    items = wb.load_labeled(frame, score="score", group="g")
    for row in wb.estimate_metrics(items, "auc accuracy f1").rows():
        assert (
            0 <= row["naive_low"] <= row["naive_high"] <= 1 and 0 <= row["low"] <= row["high"] <= 1
        ), row
    auc = [row for row in wb.estimate_metrics(items, "auc").rows() if row["naive_high"] == 1]
    assert auc, "no interval reached 1: the test lost its point"


def test_groups_have_one_note_for_all_their_rough_standard_errors():
    few = wb.load_labeled(
        {name: column[:40] for name, column in FRAME.items()}
        | {"half": PERSON[:40] // 2 % 2, "quarter": PERSON[:40] // 2},
        stratum="half",
        psu="quarter",
        group="g",
        positive="cow",
    )
    rough = [
        text for text in wb.sentences(wb.estimate_metrics(few).notes) if "error is rough" in text
    ]
    assert len(rough) == 1 and rough[0].startswith(
        "metrics accuracy, precision, recall, f1, accuracy in group x, "
    )


def test_50000_items_in_5000_psus_have_the_errors_of_the_textbook():
    """Taylor's linearization, sum_h n_h / (n_h - 1) sum_i (z_hi - mean_h)^2 with z the weighted residuals of a PSU."""
    rng = np.random.default_rng(3)
    stratum, psu = np.repeat(np.arange(100), 500), np.tile(np.repeat(np.arange(50), 10), 100)
    cluster = rng.normal(size=5000)[stratum * 50 + psu]
    truth = (rng.random(50_000) < 0.15) * 1
    read = np.where(rng.random(50_000) < 1 / (1 + np.exp(-2 - cluster)), truth, 1 - truth)
    weight = rng.lognormal(0, 0.3, 50_000)
    items = wb.load_labeled(
        {"truth": truth, "prediction": read, "s": stratum, "u": psu, "w": weight},
        stratum="s",
        psu="u",
        nest=True,
        weight="w",
    )
    both, either = truth * read, truth + read
    for row, (above, below) in zip(
        wb.estimate_metrics(items).rows(),
        (((truth == read) * 1, np.ones(50_000)), (both, read), (both, truth), (2 * both, either)),
        strict=True,
    ):
        share = (weight * above).sum() / (weight * below).sum()
        z = (
            np.bincount(stratum * 50 + psu, weight * (above - share * below)).reshape(100, 50)
            / (weight * below).sum()
        )
        error = np.sqrt(50 * z.var(axis=1, ddof=1).sum())
        assert row["estimate"] == pytest.approx(share, rel=1e-12), row["metric"]
        assert row["standard_error"] == pytest.approx(error, rel=2e-3), row["metric"]


# replicate weights


@pytest.fixture(params=["brr", "fay", "jkn", "jk1"])
def published(request):
    """A file with weights as a survey publishes them, the design that made them, and what must be said of them."""
    method = request.param
    design = wb.SurveyDesign(
        np.zeros(120) if method == "jk1" else STRATUM,
        weight=FRAME["w"],
        psu=PERSON + 8 * (np.repeat(np.arange(3), 40)),
    )
    made = wb.replicates(
        design, "jkn" if method == "jk1" else method, **({"rho": 0.3} if method == "fay" else {})
    )
    frame = FRAME | {f"repwt_{r}": made.weights()[:, r] for r in range(made.count)}
    one = {
        "coefficients": repr(made.coefficients[0].item())
    }  # eight units a stratum, where "brr" means two
    told = {
        "brr": one,
        "fay": {"rho": ".3"} | one,
        "jkn": {"coefficients": ", ".join(map(repr, made.coefficients.tolist()))},
    }
    return frame, made, {"method": method, **told.get(method, {})}


def test_published_weights_give_the_variance_of_the_design_that_made_them(published):
    frame, made, told = published
    items = wb.load_labeled(frame, weight="w", replicate_weights="repwt_*", positive="cow")
    found = wb.estimate_metrics(items, "accuracy f1", **told)
    cow = FRAME["truth"] == "cow", FRAME["prediction"] == "cow"
    for estimate, (name, columns) in zip(
        found.estimates,
        (("accuracy", (FRAME["truth"], FRAME["prediction"])), ("f1", cow)),
        strict=True,
    ):
        expected = wb.replicate_estimate(made, name, *columns)
        assert (estimate.estimate, estimate.variance) == pytest.approx(
            (expected.estimate, expected.variance), rel=1e-9
        )
    assert found.design.startswith(f"imported {told['method']}, ") and "strat" not in found.design


def test_one_coefficient_serves_all_replicates(published):
    frame, _, _ = published
    items = wb.load_labeled(frame, weight="w", replicate_weights="repwt_*")
    one = wb.estimate_metrics(items, "accuracy", method="brr", coefficients=".05").estimates[0]
    values = one.replicate_values
    assert one.variance == pytest.approx(0.05 * ((values - one.estimate) ** 2).sum(), rel=1e-9)


WEIGHTED = FRAME | {"r1": FRAME["w"] * 2, "r2": FRAME["w"] * np.where(PERSON % 2, 0, 2)}


@pytest.mark.parametrize(
    ("names", "settings", "message"),
    [
        (
            {"replicate_weights": "rep*"},
            {},
            "replicate_weights must match at least 2 columns; 'rep*' matches none",
        ),
        (
            {"replicate_weights": "r1"},
            {},
            "replicate_weights must match at least 2 columns; 'r1' matches 'r1'",
        ),
        (
            {"replicate_weights": "r?", "weight": ""},
            {},
            "replicate_weights need the weight that they modify: name its colu",
        ),
        (
            {"replicate_weights": "r?", "psu": "person"},
            {},
            "replicate_weights must not be given with psu",
        ),
        (
            {"replicate_weights": "r?", "nest": True},
            {},
            "replicate_weights must not be given with nest",
        ),
        (
            {"replicate_weights": "r?"},
            {},
            "method must be the method of the replicate weights, one of 'brr', 'fay', 'jk1', "
            "'jk2', 'jkn', 'bootstrap', 'sdr'; got 'auto'",
        ),
        ({"replicate_weights": "r?"}, {"method": "fay"}, "rho must be given for method 'fay'"),
        (
            {"replicate_weights": "r?"},
            {"method": "fay", "rho": "half"},
            "rho must be numbers, separated by commas; ",
        ),
        (
            {"replicate_weights": "r?"},
            {"method": "brr", "coefficients": "1,2,3"},
            "coefficients must have 2 entries; got",
        ),
        (
            {"replicate_weights": "r?"},
            {"method": "brr", "collapse": "n=s"},
            "collapse merges strata, but replicate weights",
        ),
        ({}, {"rho": ".5"}, "rho needs replicate_weights, which were not given"),
        ({}, {"method": "jk1"}, "method must be one of 'auto', "),
        (
            {},
            {"collapse": "n=x"},
            "collapse must rename strata of the design; 'x' is none of 'n', 's', 'w'",
        ),
    ],
)
def test_what_does_not_fit_together_is_refused(names, settings, message):
    with pytest.raises((ValueError, TypeError)) as caught:
        wb.estimate_metrics(
            wb.load_labeled(WEIGHTED, **{"weight": "w", **names}), "accuracy", **settings
        )
    assert str(caught.value).startswith(message)


def test_right_and_wrong_are_not_read_as_true_classes():
    """Three of four predictions are correct."""
    data = {"yhat": [1, 0, 0, 1], "correct": [1, 1, 0, 1]}
    with pytest.raises(ValueError, match="^column 'correct' holds '0', '1': is it the true class"):
        wb.load_labeled(data, truth="correct", prediction="yhat", stratum="")
    items = wb.load_labeled(data, truth="correct", prediction="", stratum="")
    assert wb.estimate_metrics(items).estimates[0].estimate == 0.75


def test_true_classes_that_agree_with_the_predictions_are_not_refused():
    rng = np.random.default_rng(4)
    is_true = (rng.random(400) < 0.3).astype(int)
    predicted = np.where(rng.random(400) < 0.9, is_true, 1 - is_true)
    is_correct = (is_true == predicted).astype(int)
    items = wb.load_labeled(
        {"yhat": predicted, "ok": is_true}, truth="ok", prediction="yhat", stratum=""
    )
    assert wb.estimate_metrics(items).estimates[0].estimate == pytest.approx(is_correct.mean())
    assert any("was read as the true class" in note.text for note in items.notes)
    with pytest.raises(ValueError, match="^column 'match' holds '0', '1': is it the true class"):
        data = {"yhat": predicted, "match": is_correct}
        wb.load_labeled(data, truth="match", prediction="yhat", stratum="")


def test_the_first_weight_below_0_is_named():
    weight = FRAME["w"].copy()
    weight[[17, 30]] = -2.5, -9
    with pytest.raises(
        ValueError, match=r"^column 'w', .*18.*: a weight must be at least 0; got -2\.5$"
    ):
        wb.load_labeled(FRAME | {"w": weight}, weight="w")


def test_settings_that_nobody_names_are_those_of_the_estimates():
    items = wb.load_labeled(FRAME, psu="person", nest=True)
    metrics, level, design, made = check_settings(items)
    found = wb.estimate_metrics(items)
    assert (level, made.method) == (found.level, found.method) == (0.95, "fay")
    assert tuple(dict.fromkeys(row["metric"] for row in found.rows())) == metrics
    assert design.psus_per_stratum.tolist() == [8, 8, 8]


def test_items_and_metrics_saved_before_they_had_all_fields_load():
    items = wb.load_labeled(FRAME)
    found = wb.estimate_metrics(items, "accuracy")
    for result, later in (
        (items, ("unlabeled", "unlike_others", "named_positive")),
        (found, ("caveats",)),
    ):
        data = result.to_dict()
        values = {name: value for name, value in data["values"].items() if name not in later}
        assert repr(wb.Result.from_dict(data | {"values": values})) == repr(result)


CONFUSED = {"": ["cat", "dog", "bird"], "cat": [41, 4, 1], "dog": [6, 52, 2], "bird": [3, 4, 27]}
PAIRS = [
    (true, name, CONFUSED[name][k])
    for k, true in enumerate(CONFUSED[""])
    for name in CONFUSED
    if name
]


def items_of_pairs():
    true, predicted, counts = zip(*PAIRS, strict=True)
    return np.repeat(true, counts), np.repeat(predicted, counts)


def test_a_confusion_matrix_is_its_items(tmp_path):
    """120 of 140 items are correct; the other metrics are those of scikit-learn for the items."""
    truth, prediction = items_of_pairs()
    text = "\n".join([",cat,dog,bird", "cat,41,6,3", "dog,4,52,4", "bird,1,2,27"])
    (tmp_path / "matrix.csv").write_text(text)
    for source in (CONFUSED, str(tmp_path / "matrix.csv")):
        items = wb.load_labeled(source)
        assert sorted(zip(items.truth, items.prediction, strict=True)) == sorted(
            zip(truth, prediction, strict=True)
        )
        assert [note.kind for note in items.notes] == ["assumption", "assumption"]
    metrics = wb.estimate_metrics(items, ["accuracy", "macro_f1"])
    accuracy, macro_f1 = (row["estimate"] for row in metrics.rows())
    assert accuracy == pytest.approx(120 / 140)
    assert macro_f1 == pytest.approx(f1_score(truth, prediction, average="macro"))


def test_a_turned_matrix_swaps_precision_and_recall():
    rows_are_true = wb.load_labeled(CONFUSED, positive="cat")
    rows_are_predicted = wb.load_labeled(CONFUSED, positive="cat", rows="prediction")
    for items, precision, recall in (
        (rows_are_true, 41 / 46, 41 / 50),
        (rows_are_predicted, 41 / 50, 41 / 46),
    ):
        rows = wb.estimate_metrics(items, ["precision", "recall"]).rows()
        assert [row["estimate"] for row in rows] == pytest.approx([precision, recall])


def test_a_matrix_of_numbers_has_a_positive_class():
    items = wb.load_labeled({"": ["0", "1"], "0": [50, 4], "1": [3, 20]})
    assert items.positive == 1 and items.truth.sum() == 24 and items.prediction.sum() == 23


def test_the_truth_of_a_matrix_alone():
    for corner in ("", "truth"):
        matrix = {corner: CONFUSED[""], **{name: CONFUSED[name] for name in CONFUSED[""]}}
        items = wb.load_labeled(matrix, prediction="")
        assert items.prediction is None and np.sum(items.truth == "cat") == 50
        assert items.truth.size == 140


def test_a_matrix_has_no_design():
    for role in ("psu", "weight", "group", "fpc", "stratum"):
        with pytest.raises(
            ValueError, match=f"{role} needs items with one row per item; this is a"
        ):
            wb.load_labeled(CONFUSED, **{role: "site"})
    with pytest.raises(
        ValueError, match="rows is only for a confusion matrix, but items does not contain one"
    ):
        wb.load_labeled({"truth": [1, 0], "prediction": [1, 1]}, rows="truth")


def test_rows_of_a_matrix_file_are_those_of_the_spreadsheet(tmp_path):
    (tmp_path / "matrix.csv").write_text(",cat,dog\ncat,41,6\ndog,.4,52\n")
    with pytest.raises(ValueError, match="column 'cat', row 3: 0.4 is not a number of items"):
        wb.load_labeled(str(tmp_path / "matrix.csv"))


def test_rows_of_pairs_count_their_items():
    true, predicted, counts = (list(column) for column in zip(*PAIRS, strict=True))
    items = wb.load_labeled({"truth": true, "prediction": predicted, "n": counts})
    truth, prediction = items_of_pairs()
    assert items.truth.tolist() == truth.tolist()
    assert items.prediction.tolist() == prediction.tolist()
    assert "column 'n' is the number of items in a row, 140 in all" in " ".join(
        map(str, items.notes)
    )
    of_r = {"Reference": true, "Prediction": predicted, "Freq": counts}
    named = wb.load_labeled(of_r, truth="Reference", prediction="Prediction")
    assert named.truth.size == 140
    both = {
        "truth": ["a", "a", "b"],
        "old": ["a", "a", "b"],
        "new": ["a", "b", "b"],
        "n": [5, 2, 3],
    }
    assert wb.load_labeled(both, prediction="old,new").truth.tolist() == ["a"] * 7 + ["b"] * 3
    measured = {"truth": [1.5, 2.5, 3.5], "prediction": [1.4, 2.6, 3.3], "count": [7, 8, 9]}
    assert wb.load_labeled(measured).truth.size == 3
    again = {"truth": [*true, "cat"], "prediction": [*predicted, "cat"], "n": [*counts, 1]}
    assert wb.load_labeled(again).truth.size == 141  # a pair repeats: its rows are added up
    for count, message in (("x", "'x' is not a number of items"), (3_000_000, "at most 2,000,000")):
        with pytest.raises(ValueError, match=message):
            wb.load_labeled({"truth": true, "prediction": predicted, "n": [count, *counts[1:]]})


CODES = {
    "-999": ([*range(5, 50), -999, -999], 1),
    "the only negative value": ([*range(0, 90_000, 900), -99, -99], 1),
    "9999": ([*range(5, 50), 9999, 9999], 1),
    "both": ([*range(5, 50), 9999, 9999, -999, -999], 2),
    "once": ([*range(5, 50), -999], 0),
    "within the others": ([*range(0, 90_000, 900), 9999, 9999], 0),
    "other negative values": ([*range(-98, 90_000, 900), -99, -99], 0),
    "classes": ([1, 2, 1, 2, 99, 99], 0),
    "no code": ([*range(5, 50), 7777, 7777], 0),
}


@pytest.mark.parametrize("values, count", CODES.values(), ids=CODES)
def test_codes_of_missing_values_are_noted(values, count):
    items = wb.load_labeled({"truth": values}, prediction="")
    notes = [note for note in items.notes if "means a missing value" in note.text]
    assert len(notes) == count
    assert all(note.kind == "unreliable" for note in notes)


WEIGHTS = {
    "probabilities": ([0.001, 0.002, 0.01, 0.02], 1),
    "shares": ([0.1, 0.2, 0.3, 0.4], 0),
    "percentages": ([0.5] * 100 + [0.4] * 125, 0),
    "mean 1": ([0.5, 0.5, 1.5, 1.5], 0),
    "all alike": ([0.5] * 4, 0),
}


@pytest.mark.parametrize("weights, count", WEIGHTS.values(), ids=WEIGHTS)
def test_weights_that_may_be_probabilities_are_noted(weights, count):
    classes = (["a", "b"] * len(weights))[: len(weights)]
    columns = {"truth": classes, "prediction": classes, "w": weights}
    for notes in (
        wb.load_labeled(columns, weight="w").notes,
        wb.load_audit(columns, weight="w").notes,
    ):
        texts = [note.text for note in notes if note.kind == "unreliable"]
        assert len(texts) == count
        assert all(text.startswith("all weights in column 'w' are below 1.") for text in texts)


def test_groups_that_look_alike_are_noted():
    columns = {"truth": list("abab"), "prediction": list("abab"), "place": ["N", "n ", "S", None]}
    text = "column 'place' contains 'N' and 'n', which were read as different"
    assert text in [note.text for note in wb.load_labeled(columns, group="place").notes]
    columns["place"] = ["N", "N", "S", None]
    notes = wb.load_labeled(columns, group="place").notes
    assert not any("place' contains" in note.text for note in notes)


DAYS = [day for day in range(12) for _ in range(4)]
OF_DAYS = {"truth": list("aabb") * 12, "prediction": list("abab") * 12}
COUNTS = [9, 2, 1, 7] * 12
TWICE = {"truth": [*"aabb"] * 2, "prediction": [*"abab"] * 2}
ONE_OF_A_CLASS = {"truth": [*"ab"] * 24, "prediction": [*"abbbaaba"] * 6}
REPEATED_PAIRS = {
    "days": ({**OF_DAYS, "day": DAYS, "count": COUNTS}, "", 228),
    "days as groups": ({**OF_DAYS, "day": DAYS, "count": COUNTS}, "day", 228),
    "days and regions": ({**OF_DAYS, "day": DAYS, "region": ["n"] * 48, "freq": COUNTS}, "", 228),
    "days in R": ({**OF_DAYS, "day": DAYS, "n": COUNTS}, "", 228),
    "no other column": ({**TWICE, "count": [108, 24, 12, 84, 0, 0, 0, 0]}, "", 228),
    "many rows of a pair": ({**OF_DAYS, "count": COUNTS}, "", 48),
    "lengths of items": ({**OF_DAYS, "n": COUNTS}, "", 48),
    "lengths of pairs of items": (
        {**OF_DAYS, **ONE_OF_A_CLASS, "premise": [k // 2 for k in range(48)], "n": COUNTS},
        "",
        48,
    ),
    "identifiers": ({**OF_DAYS, "id": [*range(48)], "count": COUNTS}, "", 48),
    "few regions": ({**OF_DAYS, "region": ["n", "s"] * 24, "count": COUNTS}, "", 48),
    "row numbers": ({**OF_DAYS, "n": [*range(1, 49)]}, "", 48),
    "a size of the file": ({**OF_DAYS, "n": [48] * 48}, "", 48),
    "no whole numbers": ({**OF_DAYS, "day": DAYS, "count": [0.5, *COUNTS[1:]]}, "", 48),
}


@pytest.mark.parametrize("columns, group, size", REPEATED_PAIRS.values(), ids=REPEATED_PAIRS)
def test_counts_of_pairs_that_repeat_are_added_up(columns, group, size):
    items = wb.load_labeled(columns, group=group)
    assert items.truth.size == size
    agreeing = (items.truth == items.prediction).sum()
    assert agreeing == (24 if size == 48 else 12 * (9 + 7))
    notes = [note for note in items.notes if "were added up" in note.text]
    assert len(notes) == (size > 48 and not group)
    assert all(note.kind == "assumption" for note in notes)


def test_a_row_of_totals_is_no_item_of_a_new_class():
    columns = {"truth": [1, 0] * 8, "old": [1, 1] * 8, "new": [0, 1] * 8}
    totals = {name: [*cells, sum(cells)] for name, cells in columns.items()}
    with pytest.raises(ValueError, match=r"column 'truth', data row 17: 8 is the sum of all rows"):
        wb.load_labeled(totals, prediction="old,new")
    with pytest.raises(ValueError, match="is the sum of all rows above: delete this row"):
        wb.load_labeled(totals, prediction="old")
    assert wb.load_labeled(columns, prediction="old,new").truth.size == 16


@pytest.mark.parametrize("role", ["prediction", "score"])
def test_columns_of_models_are_one_text(role):
    columns = {"truth": [1, 0] * 8, "old": [1, 1] * 8, "new": [0, 1] * 8}
    message = f"^{role} must be text; separate several columns by commas: 'old,new'"
    with pytest.raises(TypeError, match=message):
        wb.load_labeled(columns, **{role: ["old", "new"]})


def test_measurements_are_no_classes_without_a_prediction():
    items = wb.load_labeled({"truth": [1.5, 2.25, 3], "prediction": [1.25, 2.5, 3.5]}, stratum="")
    assert not any("never" in str(note) for note in items.notes)


def test_scores_alone_need_no_column_of_predictions():
    columns = {"truth": [0, 1, 1, 0], "a": [0.1, 0.8, 0.6, 0.3], "b": [0.2, 0.4, 0.9, 0.1]}
    assert wb.load_labeled(columns, score="a").prediction is None
    assert wb.load_labeled(columns, score="a,b").models == ("a", "b")
    with pytest.raises(ValueError, match="no column 'guess'"):
        wb.load_labeled(columns, score="a", prediction="guess")
