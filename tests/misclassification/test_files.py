"""Audits and monthly counts from files of every shape an office sends."""

import numpy as np
import pytest

import workbench as wb
from workbench.misclassification import files
from workbench.results.limits import LimitReached, printed_limits


def columns(**named):
    return {name: np.array(values, object) for name, values in named.items()}


def test_items_and_table_are_the_same_audit():
    items = columns(
        truth=["no"] * 349 + ["yes"] * 51,
        prediction=["no"] * 331 + ["yes"] * 18 + ["no"] * 7 + ["yes"] * 44,
    )
    table = columns(truth=["yes", "no"], no=["7", "331"], yes=["44", "18"])
    assert wb.load_audit(items).table.tolist() == [[331, 18], [7, 44]]
    assert wb.load_audit(table, labels="no, yes").table.tolist() == [[331, 18], [7, 44]]
    assert wb.load_audit(table, labels="yes,no").table.tolist() == [[44, 7], [18, 331]]


@pytest.mark.parametrize("gap", ["", None, "NA", "-", "unlabeled", float("nan")])
def test_rows_without_a_label_are_not_audited(gap):
    truth, prediction = (
        ["no", gap, "yes", "yes", gap, "no"],
        ["no", "yes", "yes", "no", "no", "yes"],
    )
    audit = wb.load_audit(columns(truth=np.array(truth, object), prediction=prediction))
    assert audit.labels == ("no", "yes") and audit.table.tolist() == [[1, 1], [1, 1]]
    assert "audit rows: the 4 labeled rows of 6" in map(str, audit.notes)


def test_numbered_classes_stay_numbers():
    audit = wb.load_audit(columns(truth=["0", "1", "1"], prediction=["0", "1", "0"]), labels="1, 0")
    assert audit.labels == (1, 0) and audit.table.tolist() == [[1, 1], [0, 1]]


@pytest.mark.parametrize(
    ("audit", "message"),
    [
        (
            columns(truth=["a", "b"], a=[1, 2]),
            "audit must have the column of prediction, or be a confusion matrix with a row",
        ),
        (columns(truth=["a", "b"], prediction=["a", "c"]), None),
        (columns(truth=["a"], prediction=["a"]), "at least two classes; only 'a' occurs"),
        (columns(truth=["a", "b"], prediction=["a", None]), "column 'prediction', data row 2"),
        (
            columns(truth=["", None], prediction=["a", "b"]),
            "truth must have a label in some rows; column 'truth' has none",
        ),
    ],
)
def test_audits_that_do_not_fit_say_why(audit, message):
    if message is None:
        assert wb.load_audit(audit).labels == ("a", "b", "c")
        return
    with pytest.raises(ValueError) as caught:
        wb.load_audit(audit)
    assert message in str(caught.value)


@pytest.mark.parametrize("thousands", ["1,500", "1.500"])
def test_cells_of_a_table_are_whole(thousands):
    table = columns(truth=["no", "yes"], no=["331", "7"], yes=[thousands, "44"])
    assert wb.load_audit(table).table.tolist() == [[331, 1500], [7, 44]]


def test_classes_that_are_written_otherwise_than_in_the_audit_are_told():
    def told(*classes):
        rows = columns(period=["Jan"] * 3, prediction=classes)
        return [
            note.text
            for note in files.read_periods(
                rows,
                labels=(0, 1),
                period="period",
                total="n",
                counted="counted",
                predicted="prediction",
            )[1]
        ]

    assert (
        told("01", "0", "01") == ["in column 'prediction' '01' is class 1"]
        and told("1", "0", "1") == []
    )


def test_counts_by_class_or_as_total_and_counted():
    by_class = columns(period=["Jan", "Feb"], no=["1579", "4000"], yes=["218", "1000"])
    totals = columns(period=["Jan", "Feb"], n=["1797", "5000"], counted=["218", "1000"])
    for counts in (by_class, totals):
        assert wb.load_periods(counts, labels=("no", "yes")) == {
            "Jan": (1579, 218),
            "Feb": (4000, 1000),
        }


@pytest.mark.parametrize(
    ("items", "counted", "noted"),
    [
        # sums of similar months
        ([5000, 10200, 15000, 20100, 25000], [1170, 2467, 3775, 5361, 6400], True),
        ([5000, 11200, 18000, 23100, 31000], [1170, 2467, 3775, 5361, 6400], True),
        ([5000, 5200, 4800, 5100, 5000], [1170, 1297, 1308, 1586, 1170], False),
        ([5000, 10200, 15000, 20100], [1170, 2467, 3775, 5361], False),
        ([5000, 10200, 15000, 20100, 25000], [1170, 2467, 2400, 5361, 6400], False),
        ([5000, 10200, 15000, "", 25000], [1170, 2467, 3775, 5361, 6400], False),
        # 30% and 50% more a month, and 75% of the first month
        ([1000, 1300, 1690, 2197, 2856], [100, 130, 169, 220, 286], False),
        ([1000, 1500, 2250, 3375, 5062], [100, 150, 225, 338, 506], False),
        ([1000, 1750, 2500, 3250, 4000], [100, 175, 250, 325, 400], False),
        ([1000, 2000, 4000, 8000, 16000], [100, 200, 400, 800, 1600], False),
    ],
)
def test_running_totals_are_noted(items, counted, noted):
    counts = columns(
        period=[f"2026-0{k + 1}" for k in range(len(items))],
        n=list(map(str, items)),
        counted=list(map(str, counted)),
    )
    columns_read = {"period": "period", "total": "n", "counted": "counted"}
    notes = files.read_periods(
        counts, labels=("no", "yes"), predicted="prediction", **columns_read
    )[1]
    texts = [note.text for note in notes if note.kind == "unreliable"]
    assert len(texts) == noted
    if noted:
        assert f"5,000 items in '2026-01' to {items[-1]:,} in '2026-05'. If these are" in texts[0]


def test_a_bad_month_is_named_and_the_others_are_reported():
    counts = columns(
        period=list("abcdef"),
        n=["1797", "0", "1", "x", "5000", None],
        counted=["218", "0", "0,12", "3", "809", "5"],
    )
    months = wb.load_periods(counts, labels=("no", "yes"))
    series = wb.prevalence_series(wb.solar_audit(), months["a"], months)
    assert [bool(problem) for problem in series.problems] == [False, True, True, True, False, True]
    assert (
        series.problems[1] == "no items were counted"
        and "These look like proportions" in series.problems[2]
    )
    assert "must be a number; got 'x'" in series.problems[3] and "is missing" in series.problems[5]
    alone = wb.estimate_prevalence(wb.solar_audit(), (4191, 809), (1579, 218))
    assert series.estimates[4] == pytest.approx(alone.estimate, rel=1e-12)


@pytest.mark.parametrize(
    ("counts", "message"),
    [
        (
            columns(period=["a", "a"], n=[10, 10], counted=[1, 2]),
            "column 'period' must name every period once; 'a' repeats",
        ),
        (
            columns(period=["a"], items=[10], counted=[1]),
            "counts must have a column for every class of the audit, 'no', 'yes'",
        ),
        (
            columns(period=["a"], items=[10], flagged=[1]),
            "Available columns: 'period', 'items', 'flagged'. Name columns with other names: the "
            "number of all items with total (--total), the number of items in class 'yes', "
            "the second of classes (--classes), with counted (--counted), predicted classes",
        ),
        (columns(n=[10, 20], counted=[1, 2]), "period"),
    ],
)
def test_counts_that_do_not_fit_say_why(counts, message):
    with pytest.raises(ValueError) as caught:
        wb.load_periods(counts, labels=("no", "yes"))
    assert message in str(caught.value)


def test_counts_with_other_names_are_named():
    counts = columns(month=["a"], items=[10], flagged=[1])
    names = {"period": "month", "total": "items", "counted": "flagged"}
    assert wb.load_periods(counts, labels=("no", "yes"), **names) == {"a": (9, 1)}


def test_the_audited_period_is_the_first_unless_named():
    months = {"Jan": (1, 2), "Feb": (3, 4)}
    assert wb.counts_at_audit(months) == (1, 2) and wb.counts_at_audit(months, "Feb") == (3, 4)
    with pytest.raises(
        ValueError, match=r"the period of the audit, 'Mar', the first \(use .*\): no items were"
    ):
        wb.counts_at_audit({"Mar": (0, 0), "Apr": (1, 2)})
    with pytest.raises(
        ValueError,
        match="audit_period must be a period of the counts; got 'Fe' .did you mean 'Feb'",
    ):
        wb.counts_at_audit(months, "Fe")


def test_no_periods_have_none_of_the_audit():
    with pytest.raises(
        ValueError,
        match="^periods must hold the period from whose items the audit was ",
    ):
        wb.counts_at_audit({})
    with pytest.raises(TypeError, match="^periods must be of class Mapping; got list$"):
        wb.counts_at_audit([(1, 2)])


@pytest.mark.parametrize("labels", [["no", "yes"], 5, None])
def test_labels_are_text_with_commas(labels):
    with pytest.raises(
        TypeError, match=f"^labels must be of class str; got {type(labels).__name__}$"
    ):
        wb.load_audit(columns(truth=["no", "yes"], no=[331, 7], yes=[18, 44]), labels=labels)


def test_a_class_that_was_not_audited_is_not_left_out_silently():
    counts = columns(period=["Jan"], no=["15"], yes=["5"], maybe=["3"], n=["20"])
    with pytest.raises(ValueError, match="classes of the audit only, unlike 'maybe'"):
        wb.load_periods(counts, labels=("no", "yes"))
    named = columns(period=["Jan"], no=["15"], yes=["5"], remark=["fine"], n=["20"])
    assert wb.load_periods(named, labels=("no", "yes")) == {"Jan": (15, 5)}


def test_a_misspelled_prediction_is_no_table():
    items = columns(truth=["no", "yes", "no"], pred=["no", "yes", "yes"])
    with pytest.raises(
        ValueError,
        match="audit must have the column of prediction, or be .* Available columns: 'truth', 'pred'",
    ):
        wb.load_audit(items)


def test_the_course_is_the_default():
    assert wb.solar_audit().table.tolist() == [[331, 18], [7, 44]]
    months = wb.solar_months().periods()
    assert months["1"] == (1579, 218) and months["12"][1] == 809 and len(months) == 12
    trainee, forms = wb.read_by_next_box(), wb.digit_forms()
    assert ((trainee == 9) == (forms.digit == 9)).mean() == pytest.approx(0.935, abs=5e-4)


GAPS_OF_A_CLASS = [0, None, "", "NA", "-", "n/a", float("nan"), " ", "\N{EN DASH}"]


@pytest.mark.parametrize("gap", GAPS_OF_A_CLASS)
@pytest.mark.parametrize("column", [("m1", "m2"), ("m2", "m1")])
def test_a_class_that_was_not_audited_is_refused_with_gaps_as_with_zeros(gap, column):
    """90 of 870 items of a month are of class c, which is in the other month not counted."""
    counts = {"period": list(column), "a": [440, 380], "b": [400, 400], "c": [gap, 90]}
    with pytest.raises(
        ValueError, match="classes of the audit only, unlike 'c': its items would be left out"
    ):
        files.load_periods(counts, labels=("a", "b"))


@pytest.mark.parametrize("cells", [(None, "90"), ("", "1,090"), ("-", "90"), ("NA", "0")])
def test_a_class_that_was_not_audited_is_refused_in_a_file(tmp_path, cells):
    rows = "\n".join(f'm{k},{440 - k},400,"{cell or ""}"' for k, cell in enumerate(cells))
    (tmp_path / "counts.csv").write_text(f"period,a,b,c\n{rows}\n")
    with pytest.raises(ValueError, match="unlike 'c'"):
        files.load_periods(str(tmp_path / "counts.csv"), labels=("a", "b"))


def test_columns_that_are_no_class_stay_out():
    counts = {
        "period": ["m1", "m2"],
        "a": [440, 380],
        "b": [400, 400],
        "remark": ["", "90 new forms"],
        "rate": [0.5, None],
        "c": [None, "-"],
    }
    assert files.load_periods(counts, labels=("a", "b")) == {"m1": (440, 400), "m2": (380, 400)}


def test_a_total_that_holds_more_items_than_the_classes():
    counts = {"period": ["m1", "m2"], "a": [440, 380], "b": [400, 400], "n": [840, 870]}
    with pytest.raises(
        ValueError,
        match="column 'n' has 870 in period 'm2', but the classes 'a', 'b' add up to 780",
    ):
        files.load_periods(counts, labels=("a", "b"))
    counts["n"] = [840, 780]
    assert files.load_periods(counts, labels=("a", "b"))["m2"] == (380, 400)


def test_a_predicted_class_without_a_row_of_the_confusion_table():
    table = {"truth": ["a", "b"], "a": [40, 4], "b": [5, 35]}
    for cells in ([0, 3], [0, 0], [None, "-"]):
        with pytest.raises(ValueError, match="column 'c' has no row; the rows are 'a', 'b'"):
            files.load_audit({**table, "c": cells})
    assert (
        files.load_audit({"truth": ["a", "b"], "a": [40, 4], "b": [5, 35], "total": [45, 39]}).n
        == 84
    )


def test_items_of_a_class_that_was_not_audited():
    with pytest.raises(ValueError, match="'c' is not a class of the audit"):
        files.load_periods({"period": ["m1", "m2"], "prediction": ["a", "c"]}, labels=("a", "b"))


def test_a_confusion_matrix_is_an_audit():
    matrix = {"": ["no", "yes", "All"], "yes": [18, 44, 62], "no": [331, 7, 338]}
    matrix["All"] = [349, 51, 400]
    audit = wb.load_audit(matrix)
    assert audit.labels == ("no", "yes") and audit.table.tolist() == [[331, 18], [7, 44]]
    assert "rows were read as true classes" in str(audit.notes[0])
    turned = wb.load_audit(matrix, rows="prediction", labels="yes,no")
    assert turned.labels == ("yes", "no") and turned.table.tolist() == [[44, 18], [7, 331]]
    predicted = {"prediction": ["no", "yes"], "no": [331, 7], "yes": [18, 44]}
    assert wb.load_audit(predicted).table.tolist() == [[331, 7], [18, 44]]
    with pytest.raises(ValueError, match="labels must be the classes of the audit; .* 'no', 'yes'"):
        wb.load_audit(matrix, labels="no,maybe")
    with pytest.raises(ValueError, match="truth must name a column"):
        wb.load_audit(predicted, truth="")
    with pytest.raises(ValueError, match="weight can be used only with a file of one row per item"):
        wb.load_audit(predicted, weight="no")


def test_the_number_of_items_of_a_pair_as_other_programs_call_it():
    pairs = {"truth": ["a", "a", "b"], "prediction": ["a", "b", "b"], "Freq": [40, 5, 35]}
    assert wb.load_audit(pairs).table.tolist() == [[40, 5], [0, 35]]
    with pytest.raises(ValueError, match="column 'Freq', data row 2: 'x' is not a number of items"):
        wb.load_audit({**pairs, "Freq": [40, "x", 35]})


@pytest.mark.parametrize("name", ["Freq", "count"])
def test_rows_of_a_pair_that_repeats_are_added_up(name):
    pairs = {"day": [1, 1, 2, 2], "truth": ["a", "b", "a", "b"], "prediction": ["a", "b"] * 2}
    text = f"column {name!r} was read as the number of items in a row, 82 in all"
    with printed_limits(), pytest.warns(LimitReached, match=text):
        audit = wb.load_audit({**pairs, name: [40, 5, 35, 2]})
    assert audit.table.tolist() == [[75, 0], [0, 7]]
    assert text in str(audit.notes)
    items = {**pairs, "day": [1, 2, 3, 4], name: [40, 5, 35, 2]}
    assert wb.load_audit(items).table.tolist() == [[2, 0], [0, 2]]


def test_the_length_of_each_item_is_no_count():
    items = {"truth": [*"aabb"] * 10, "prediction": [*"aabb"] * 9 + [*"abab"]}
    lengths = [7, 12, 9, 30] * 10
    for columns in (
        {"n": lengths},
        {"count": lengths},
        {"premise": [k // 4 for k in range(40)], "n": lengths},
    ):
        assert wb.load_audit(items | columns).table.tolist() == [[19, 1], [1, 19]]
    pairs = {"premise": [k // 2 for k in range(40)], "truth": [*"ab"] * 20, "n": lengths}
    audit = wb.load_audit({**pairs, "prediction": [*"abbbaaba"] * 5})
    assert audit.table.tolist() == [[10, 10], [10, 10]]
