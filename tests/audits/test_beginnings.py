"""Sheets that were filled in part: beginnings, skipped items, and what became of every row."""

import csv
import functools
import itertools
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import refused
from scipy import stats
from thinned import thinned

import workbench as wb
from workbench.data.scored_items import ScoredItems
from workbench.labeling.draws import items_in_turn


def written(folder, items, budget=30, name="sheet.csv", audit=wb.accuracy_audit, **given):
    """Write a sheet of five strata; returns its path, header and rows."""
    path = folder / name
    five = {"n_strata": 5} if audit is wb.accuracy_audit else {}
    audit(items, budget=budget, label_sheet=str(path), **five | given)
    with open(path, encoding="utf-8-sig", newline="") as file:
        header, *rows = csv.reader(file)
    return path, header, rows


def save(path, header, rows, delimiter=",", encoding="utf-8"):
    with open(path, "w", encoding=encoding, newline="") as file:
        csv.writer(file, delimiter=delimiter).writerows([header, *rows])


@pytest.fixture
def items():
    """300 items with identifiers, and who is right."""
    rng = np.random.default_rng(3)
    score = rng.uniform(0.5, 1, 300)
    return ScoredItems(
        np.array([f"{k:04d}" for k in range(300)], object),
        score,
        (rng.random(300) < 0.5).astype(int),
    )


RIGHT = np.random.default_rng(4).random(300) < 0.85


def answered(rows, until, skip=(), yes="1", no="0"):
    """Fill a sheet's rows up to a position."""
    return [
        [
            *row[:-1],
            (yes if RIGHT[int(row[0])] else no)
            if int(row[1]) <= until and int(row[1]) not in skip
            else "",
        ]
        for row in rows
    ]


def test_a_sheet_has_position_and_prediction_and_hides_the_stratum(items, tmp_path):
    path, header, rows = written(
        tmp_path, items, columns={"text": np.array([f"=t{k}" for k in range(300)], object)}
    )
    assert header == ["id", "position", "prediction", "text", "correct"]
    assert [int(row[1]) for row in rows] == list(range(1, 31))
    assert all(
        row[2:] == [str(items.prediction[int(row[0])]), f"'=t{int(row[0])}", ""] for row in rows
    )
    fifths = wb.stratify(items.score, 5, "equal_size").labels
    assert [fifths[int(row[0])] for row in rows] == wb.labeling_order([6] * 5, 30).tolist()


@pytest.mark.parametrize(
    ("allocation", "share"), [("proportional", None), ("neyman", None), ("equal", None)]
)
def test_the_order_changes_no_draw_and_every_beginning_follows_the_planned_shares(
    items, tmp_path, allocation, share
):
    plan = wb.accuracy_audit(
        items, 60, n_strata=5, allocation=allocation, stratifier="equal_width", rng=5
    )
    labels = wb.stratify(items.score, 5, "equal_width", rng=5).labels
    _, _, rows = written(
        tmp_path, items, 60, allocation=allocation, stratifier="equal_width", rng=5
    )
    drawn = [int(row[0]) for row in rows]
    assert sorted(drawn) == (wb.draw_items(labels, plan.labeled, rng=5, id=items.id)).tolist()
    for n in range(10, 61):
        behind = np.abs(np.bincount(labels[drawn[:n]], minlength=5) - n * plan.labeled / 60)
        assert behind.max() < 2.5
    assert drawn != sorted(drawn)


def order_of(score, n_strata, labeled, seed):
    strata = wb.stratify(score, n_strata, "equal_size")
    turns = wb.labeling_order(labeled, sum(labeled))
    return strata.labels, items_in_turn(range(1, len(score) + 1), strata.labels, turns, seed)


def test_the_order_within_a_stratum_is_random():
    places = np.zeros((2, 12))
    for seed in range(1200):
        _, order = order_of(np.linspace(0.5, 1, 12), 2, [3, 3], seed)
        places[0, order[0]] += 1
        places[1, order[-1]] += 1
    assert (
        places[0, 6:].sum() == places[1, :6].sum() == 0
    )  # the first of stratum 0, the last of stratum 1
    assert min(stats.chisquare(places[0, :6]).pvalue, stats.chisquare(places[1, 6:]).pvalue) > 1e-4


@pytest.mark.parametrize(
    ("until", "delimiter", "encoding"),
    [(10, ",", "utf-8"), (17, ";", "utf-8-sig"), (30, "\t", "utf-16")],
)
def test_a_beginning_says_what_its_labels_say(items, tmp_path, until, delimiter, encoding):
    path, header, rows = written(tmp_path, items)
    filled = answered(rows, until, yes="Right", no="wrong")
    save(path, header, sorted(filled, key=lambda row: row[0][::-1]), delimiter, encoding)
    found = wb.accuracy_audit(items, n_strata=5, labels=str(path))
    stratum = wb.stratify(items.score, 5, "equal_size").labels
    reached = np.array([int(row[0]) for row in rows[:until]])
    n = np.bincount(stratum[reached], minlength=5)
    x = np.bincount(stratum[reached], RIGHT[reached], 5).astype(int)
    assert found.labeled.tolist() == n.tolist() and found.estimate.correct.tolist() == x.tolist()
    assert tuple(found.interval()) == tuple(wb.stratified_interval([60] * 5, n, x))
    assert found.row_counts == {"labeled": until} | (
        {"not reached": 30 - until} if until < 30 else {}
    )
    told = [note.text for note in found.notes if note.kind == "assumption"]
    assert told == (
        [
            f"the first {until} of 30 rows in the order of labeling were reached. The interval is "
            "valid if the decision to stop did not depend on the labels seen"
        ]
        if until < 30
        else []
    )
    assert "did not depend on the labels seen" in found.next_step() or until == 30


def test_fewer_than_two_rounds_are_refused(items, tmp_path):
    path, header, rows = written(tmp_path, items)
    save(path, header, answered(rows, 7))
    with pytest.raises(ValueError) as error:
        wb.accuracy_audit(items, n_strata=5, labels=str(path))
    assert str(error.value) == (
        "the labels end at position 7 of the order of labeling, but two rounds through 5 strata "
        "are needed. Label 3 more, up to position 10"
    )


def test_skipped_items_are_wrong_below_and_right_above(items, tmp_path):
    path, header, rows = written(tmp_path, items)
    save(path, header, answered(rows, 20, skip=(3, 9, 14)))
    found = wb.accuracy_audit(items, n_strata=5, labels=str(path))
    assert found.row_counts == {"labeled": 17, "skipped": 3, "not reached": 10}
    assert found.skipped == tuple(rows[k - 1][0] for k in (3, 9, 14)) == found.unlabeled[:3]
    ends = []
    for answer in "01":
        filled = [
            [*row[:-1], row[-1] or (answer if int(row[1]) < 20 else "")]
            for row in answered(rows, 20, skip=(3, 9, 14))
        ]
        save(tmp_path / "sheet.csv", header, filled)
        ends.append(wb.accuracy_audit(items, n_strata=5, labels=str(path)))
    low, high = ends
    assert tuple(found.interval()) == (low.interval().low, high.interval().high)
    assert found.estimate.bounds == (low.estimate.estimate, high.estimate.estimate)
    assert np.isnan(found.estimate.estimate) and np.isnan(found.estimate.variance)
    assert found.headline() == (
        f"Accuracy {100 * low.estimate.estimate:.1f}% to {100 * high.estimate.estimate:.1f}% "
        f"(95% confidence "
        f"interval {100 * low.interval().low:.1f}% to {100 * high.interval().high:.1f}%), 17 "
        "labels (3 more items could not be labeled), 5 strata"
    )
    for one, (a, b) in zip(
        wb.compare_intervals(found).intervals,
        zip(*(wb.compare_intervals(end).intervals for end in ends), strict=True),
        strict=True,
    ):
        assert tuple(one) == (a.low, b.high)
    assert [row["skipped"] for row in found.rows()] == found.estimate.skipped.tolist()
    assert wb.Result.from_dict(found.to_dict()).to_dict() == found.to_dict()


def test_rows_that_were_deleted_count_as_skipped_or_not_reached(items, tmp_path):
    path, header, rows = written(tmp_path, items)
    save(path, header, [row for row in answered(rows, 20) if int(row[1]) not in (5, 25, 26)])
    found = wb.accuracy_audit(items, n_strata=5, labels=str(path))
    assert found.skipped == (rows[4][0],) and found.row_counts == {"labeled": 19, "not reached": 8}
    assert len(found.unlabeled) == 11
    assert (
        wb.Note(
            "data",
            "3 sampled items have no row in the annotation sheet, and so no label: "
            + ", ".join(repr(rows[k][0]) for k in (4, 24, 25)),
        )
        in found.notes
    )


def test_columns_that_were_sorted_apart_are_noticed(items, tmp_path):
    path, header, rows = written(tmp_path, items)
    filled = answered(rows, 30)
    save(
        path,
        header,
        [
            [ident, *rest]
            for ident, (_, *rest) in zip(sorted(row[0] for row in rows), filled, strict=True)
        ],
    )
    with pytest.raises(
        ValueError,
        match=r"id '\d{4}' \(row \d+\) has position '\d+' in the sheet, but \d+ in the "
        r"plan. Columns of the sheet may have been sorted separately",
    ):
        wb.accuracy_audit(items, n_strata=5, labels=str(path))


def test_an_old_sheet_filled_from_the_top_is_bounded(items, tmp_path):
    """It was sorted by stratum, so that what came last in it lies all over the order of labeling."""
    path, _, rows = written(tmp_path, items)
    (tmp_path / "sheet.plan.json").unlink()
    stratum = wb.stratify(items.score, 5, "equal_size").labels
    old = sorted((int(stratum[int(row[0])]), row[0]) for row in rows)
    save(
        path,
        ["id", "stratum", "correct"],
        [
            [ident, k, int(RIGHT[int(ident)]) if place < 15 else ""]
            for place, (k, ident) in enumerate(old)
        ],
    )
    found = wb.accuracy_audit(items, n_strata=5, labels=str(path))
    assert (
        found.row_counts["labeled"] == 15 and sum(found.row_counts.values()) == 30 and found.skipped
    )
    assert (
        found.labeled.tolist() == [6, 6, 3, 0, 0]
        and found.interval().low < 0.3 < 0.9 < found.interval().high
    )


CHANGES = [
    ({"rng": 1}, {}, "seed was 0 when the sheet was written and is 1 now"),
    (
        {"n_strata": 4, "rng": 2},
        {},
        "n_strata was 5 when the sheet was written and is 4 now; seed was 0 when the "
        "sheet was "
        "written and is 2 now",
    ),
    (
        {"stratifier": "equal_width"},
        {},
        "stratifier was 'equal_size' when the sheet was written and is 'equal_width' now",
    ),
    (
        {"allocation": "equal"},
        {},
        "allocation was 'proportional' when the sheet was written and is 'equal' now",
    ),
]


@pytest.mark.parametrize(("given", "source", "message"), CHANGES)
def test_what_changed_between_plan_and_analysis_is_told_by_name(
    items, tmp_path, given, source, message
):
    path, header, rows = written(tmp_path, items)
    save(path, header, answered(rows, 30))
    with pytest.raises(ValueError) as error:
        wb.accuracy_audit(items, labels=str(path), **{"n_strata": 5} | given)
    assert (
        str(error.value)
        == f"{message} (see 'sheet.plan.json'). Use the settings of the plan, or write a new sheet"
    )


def test_other_items_are_told_by_their_source_or_as_such(items, tmp_path):
    path, header, rows = written(tmp_path, items, source={"scores": "a.csv", "score_is": "class1"})
    save(path, header, answered(rows, 30))
    same = wb.accuracy_audit(
        items, n_strata=5, labels=str(path), source={"scores": "moved.csv", "score_is": "auto"}
    )
    assert same.mode == "analyzed"  # the same items, however they were read
    other = ScoredItems(items.id, items.score[::-1], items.prediction)
    with pytest.raises(ValueError) as error:
        wb.accuracy_audit(
            other,
            n_strata=5,
            labels=str(path),
            source={"scores": "a.csv", "score_is": "confidence"},
        )
    assert str(error.value) == (
        "score_is was 'class1' when the sheet was written and is 'confidence' now (see "
        "'sheet.plan.json'). Use the settings of the plan, or write a new sheet"
    )
    with pytest.raises(ValueError) as error:
        wb.accuracy_audit(other, n_strata=5, labels=str(path))
    assert str(error.value) == (
        "the scores have changed since the sheet was written (see 'sheet.plan.json'). Use the "
        "file of the plan, or write a new sheet"
    )
    with pytest.raises(
        ValueError,
        match="question was 'accuracy' when the sheet was written and is 'class_metrics' now",
    ):
        wb.class_audit(items, "1", labels=str(path))


def test_a_plan_is_a_small_file_that_stays_beside_a_filled_sheet(items, tmp_path):
    path, header, rows = written(tmp_path, items)
    beside = tmp_path / "sheet.plan.json"
    plan = json.loads(beside.read_text())
    assert plan["budget"] == 30 and plan["settings"] == {
        "question": "accuracy",
        "metrics_of": "",
        "n_strata": 5,
        "stratifier": "equal_size",
        "allocation": "proportional",
        "trust_scores": False,
        "seed": 0,
    }
    assert (plan["asks"], plan["columns"]) == ("correct", [])
    save(path, header, answered(rows, 2))
    with pytest.raises(ValueError, match="already contains 2 labels and was not overwritten"):
        wb.accuracy_audit(items, 40, label_sheet=str(path))
    assert json.loads(beside.read_text()) == plan
    for text in ("[]", "{", '{"kind": "plan of a label sheet", "schema": 1, "budget": "x"}'):
        beside.write_text(text)
        with pytest.raises(
            ValueError,
            match="sheet.plan.json' is not the plan of an annotation sheet .*Move the file away",
        ):
            wb.accuracy_audit(items, n_strata=5, labels=str(path))
        path.unlink()
        with pytest.raises(
            ValueError,
            match="sheet.plan.json' is not the plan of an annotation sheet .*Move the file away",
        ):
            wb.accuracy_audit(items, 40, label_sheet=str(path))
        assert beside.read_text() == text and not path.exists()
        save(path, header, answered(rows, 30))
    beside.unlink()
    path.unlink()
    wb.accuracy_audit(items, 40, n_strata=np.int64(5), label_sheet=str(path))
    assert json.loads(beside.read_text())["settings"]["n_strata"] == 5


def test_ids_that_a_spreadsheet_took_for_numbers_are_matched_and_told(tmp_path):
    ids = [f"{k:03d}" if k % 2 else f"{k + 1}e{k % 7 + 4}" for k in range(60)]
    items = ScoredItems(np.array(ids, object), np.linspace(0.5, 1, 60))
    path, header, rows = written(tmp_path, items, 20, n_strata=2)
    shown = [
        [f"{float(row[0]):.2E}" if "e" in row[0] else str(int(row[0])), row[1], "1"] for row in rows
    ]
    save(path, header, shown)
    for beside in (True, False):
        if not beside:
            (tmp_path / "sheet.plan.json").unlink()
        found = wb.accuracy_audit(items, n_strata=2, labels=str(path))
        assert found.labeled.sum() == 20 and found.unmatched == ()
        changed = [
            (row[0], old[0]) for row, old in zip(shown, rows, strict=True) if row[0] != old[0]
        ]
        assert (
            wb.Note(
                "data",
                f"{len(changed)} ids were changed by a spreadsheet and matched to the only sampled "
                "item that it would show like this: {!r} is {!r}".format(*changed[0]),
            )
            in found.notes
        )


def test_ids_that_may_be_two_drawn_items_stay_unmatched(tmp_path):
    items = ScoredItems(
        np.array(["1200000", "1203456", "0007", "11"], object), np.linspace(0.5, 1, 4)
    )
    path, header, rows = written(tmp_path, items, 4, n_strata=1)
    changed = {"1200000": "1.20E+06", "1203456": "1.20E+06", "0007": "7"}
    save(path, header, [[changed.get(row[0], row[0]), row[1], "1"] for row in rows])
    found = wb.accuracy_audit(items, n_strata=1, labels=str(path))
    assert found.unmatched == ("1.20E+06",) and found.labeled.tolist() == [2]
    assert set(found.skipped) == {"1200000", "1203456"} or len(found.unlabeled) == 2


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (
            {"Correct": np.zeros(240)},
            "columns must not be named 'Correct': the annotation sheet has its own column of that name",
        ),
        ({"text": np.zeros(7)}, "columns must have 240 entries; 'text' has shape (7,)"),
    ],
)
def test_columns_that_cannot_be_shown(columns, message):
    for audit in (wb.accuracy_audit, *AUDITS.values()):
        with pytest.raises(ValueError) as error:
            audit(models()[0], budget=40, columns=columns)
        assert str(error.value) == message


def test_the_only_item_is_no_sample():
    one = ScoredItems(None, np.array([0.9]), np.array(["a"]), rival=np.array(["b"]))
    for audit in (wb.accuracy_audit, wb.difference_audit, lambda items: wb.class_audit(items, "a")):
        refused(functools.partial(audit, one), "items", "must be at least two; there is only one")


def models(n=240):
    rng = np.random.default_rng(8)
    truth, classes = rng.choice(["a", "b", "c"], n), np.array(["a", "b", "c"])
    first, second = (np.where(rng.random(n) < 0.6, truth, rng.choice(classes, n)) for _ in range(2))
    return ScoredItems(None, rng.uniform(0.4, 1, n), first, rival=second), truth


AUDITS = {
    "metrics": lambda items, **given: wb.class_audit(items, "a", n_strata=2, **given),
    "difference": lambda items, **given: wb.difference_audit(items, n_strata=2, **given),
}


@pytest.mark.parametrize("question", AUDITS)
def test_other_questions_have_beginnings_and_bounds_too(question, tmp_path):
    items, truth = models()
    audit = AUDITS[question]
    path, header, rows = written(tmp_path, items, 40, audit=audit)
    assert header == ["id", "position", "truth"]  # people are to say what they see
    fill = {row[0]: truth[int(row[0]) - 1] for row in rows}
    save(
        path,
        header,
        [
            [*row[:2], fill[row[0]] if int(row[1]) <= 30 and row[1] not in ("4", "11") else ""]
            for row in rows
        ],
    )
    found = audit(items, labels=str(path))
    assert found.row_counts == {"labeled": 28, "skipped": 2, "not reached": 10}
    assert (
        "28 labels (2 more items could not be labeled)" in found.headline()
        and len(found.skipped) == 2
    )
    ranges = []
    for pair in itertools.product(["a", "b", "c", "other"], repeat=2):
        every = dict(zip(("4", "11"), pair, strict=True))
        save(
            path,
            header,
            [
                [*row[:2], every.get(row[1], fill[row[0]]) if int(row[1]) <= 30 else ""]
                for row in rows
            ],
        )
        ranges.append(audit(items, labels=str(path)))
    if question == "difference":
        ends = np.array([tuple(one.interval()) for one in ranges])
        assert (
            found.interval().low <= ends[:, 0].min() and found.interval().high >= ends[:, 1].max()
        )
        low, high = found.difference.bounds
        estimates = [one.difference.estimate for one in ranges]
        assert low <= min(estimates) and high >= max(estimates)
    else:
        for k, limits in enumerate((found.interval(), *found.limits)):
            ends = np.array([tuple((one.interval(), *one.limits)[k]) for one in ranges])
            assert limits.low == pytest.approx(ends[:, 0].min()) and limits.high == pytest.approx(
                ends[:, 1].max()
            )
        rows_ = found.metric_rows()
        assert all(row["estimate_low"] <= row["estimate_high"] for row in rows_)
    assert wb.Result.from_dict(found.to_dict()).to_dict() == found.to_dict() and found._repr_html_()


# what skipped items leave open


@functools.cache
def limits_of(size, labeled, correct, skipped, level, method="default"):
    """Bounds of the estimate and the limits: the same outcome is met again and again."""
    found = wb.stratified_accuracy(size, labeled, correct, skipped=skipped)
    return found.bounds or (found.estimate, found.estimate), tuple(found.interval(level, method))


@pytest.mark.parametrize(
    ("size", "n"), [((20,), (6,)), ((40, 60), (4, 6)), ((30, 30, 30), (3, 3, 3)), ((9, 9), (9, 4))]
)
@pytest.mark.parametrize("method", ["default", "short", "guaranteed"])
@thinned("runs", 4, 12)
def test_bounds_contain_every_completion_where_labels_are_in_proportion(size, n, method, runs):
    rng = np.random.default_rng(0)
    for _ in range(runs // 4 if method == "short" else runs):
        skipped = [int(rng.integers(0, min(k, 3) + 1)) for k in n]
        correct = [int(rng.integers(0, k - s + 1)) for k, s in zip(n, skipped, strict=True)]
        labeled = tuple(np.subtract(n, skipped))
        bounds, (low, high) = limits_of(size, labeled, tuple(correct), tuple(skipped), 0.95, method)
        for more in itertools.product(*(range(s + 1) for s in skipped)):
            (estimate, _), (a, b) = limits_of(
                size, n, tuple(np.add(correct, more)), None, 0.95, method
            )
            assert low <= a and b <= high and bounds[0] <= estimate <= bounds[1]


@pytest.mark.parametrize(("size", "n"), [((12, 12), (4, 4)), ((15, 6), (3, 4))])
@thinned("runs", 3, 10)
def test_bounds_miss_no_more_often_than_the_interval_itself(size, n, runs):
    """Exactly, over all samples: whoever skips what, each limit misses at most as often as it would without skips."""
    rng = np.random.default_rng(1)
    for _ in range(runs):
        right = [int(rng.integers(0, k + 1)) for k in size]
        skips = [
            (int(rng.integers(0, x + 1)), int(rng.integers(0, k - x + 1)))
            for k, x in zip(size, right, strict=True)
        ]
        truth, missed, groups = sum(right) / sum(size), np.zeros(2), []
        for k, x, (a, b), m in zip(size, right, skips, n, strict=True):
            cells = [cell for cell in itertools.product(range(m + 1), repeat=4) if sum(cell) == m]
            chances = stats.multivariate_hypergeom.pmf(
                cells, [x - a, k - x - b, a, b], m
            )  # the last two are skipped
            groups.append(list(zip(cells, chances, strict=True)))
        for cells in itertools.product(*groups):
            chance = np.prod([each[1] for each in cells])
            if chance < 1e-9:
                continue
            r, w, sr, sw = zip(*(each[0] for each in cells), strict=True)
            labeled, skipped = (
                tuple(map(sum, zip(*pair, strict=True))) for pair in ((r, w), (sr, sw))
            )
            low, high = limits_of(size, labeled, r, skipped, 0.9)[1]
            missed += chance * np.array([low > truth + 1e-12, high < truth - 1e-12])
        assert missed.max() <= 0.05 + 1e-9


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: wb.stratified_accuracy([9, 9], [1, 2], [1, 2], skipped=[0, 1]),
            "labeled must be at least 2 in every "
            "stratum "
            "that is not fully labeled; stratum 0 has 1 label for 9 items: label more items there, or use fewer strata",
        ),
        (
            lambda: wb.stratified_accuracy([9], [2], [3], skipped=[2]),
            "correct must be at most labeled; stratum 0 has 3 of 2",
        ),
        (
            lambda: wb.stratified_accuracy([9], [2], [1], skipped=[-1]),
            "skipped must be at least 0; stratum 0 is -1",
        ),
        (
            lambda: wb.class_metrics([9, 9], [1, 0], [2, 2], [3, 1], skipped=[1, 0]),
            "correct must be at most labeled; stratum 0 has 3 of 2",
        ),
        (
            lambda: wb.paired_difference([9], [[2, 0, -1]], skipped=[2]),
            "counts must be at least 0; entry 2 is -1",
        ),
        (
            lambda: wb.paired_difference([3], [[1, 1, 1]], skipped=[2]),
            "labeled must be at most stratum_size; stratum 0 has 5 of 3",
        ),
    ],
)
def test_refused(call, message):
    with pytest.raises(ValueError) as error:
        call()
    assert str(error.value) == message


def test_no_skips_change_nothing():
    assert (
        wb.stratified_accuracy([9], [3], [2], skipped=[0]).to_dict()
        == wb.stratified_accuracy([9], [3], [2]).to_dict()
    )
    assert (
        wb.class_metrics([9], [1], [3], [2], skipped=[0]).to_dict()
        == wb.class_metrics([9], [1], [3], [2]).to_dict()
    )
    assert (
        wb.paired_difference([9], [[1, 1, 1]], skipped=[0]).to_dict()
        == wb.paired_difference([9], [[1, 1, 1]]).to_dict()
    )


# coverage and accounting


def test_a_beginning_covers_as_the_whole():
    """Random seeds, stopped at a number that no label decided: the limits miss within what is nominal."""
    rng = np.random.default_rng(0)
    score = np.sort(rng.uniform(0.5, 1, 400))
    right = rng.random(400) < np.linspace(0.6, 1, 400)
    misses, share = np.zeros(3, int), np.zeros(3)
    for seed in range(300):
        strata, order = order_of(score, 4, [15] * 4, seed)
        for k, n in enumerate((20, 37, 60)):
            stratum = strata[order[:n]]
            found = wb.stratified_accuracy(
                [100] * 4,
                np.bincount(stratum, minlength=4),
                np.bincount(stratum, right[order[:n]], 4).astype(int),
            )
            misses[k] += right.mean() not in found.interval()
            share[k] += found.estimate / 300
    assert (misses <= stats.binom.ppf(0.9999, 300, 0.05)).all()
    assert np.abs(share - right.mean()).max() < 4 * 0.09 / np.sqrt(300)


ROWS = st.lists(st.tuples(st.integers(0, 24), st.sampled_from(["1", "1", "1", ""])), max_size=30)


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(ROWS, st.integers(0, 3), st.integers(0, 2), st.randoms(use_true_random=False))
def test_every_row_is_accounted_for(tmp_path_factory, more, ghosts, empty, random):
    """Rows in any order, twice, without a label, of unknown items: each is of one kind."""
    folder = tmp_path_factory.mktemp("rows")
    items = ScoredItems(np.array([f"q{k}" for k in range(60)], object), np.linspace(0.5, 1, 60))
    path, header, rows = written(folder, items, 24, n_strata=3)
    drawn = [row[0] for row in rows]
    kept = [[ident, place, "1" if int(place) <= 6 else ""] for ident, place, _ in rows]
    kept += [[drawn[k], k + 1, said] for k, said in more if k < 24]
    kept += [[f"ghost{k}", "", "1"] for k in range(ghosts)] + [["", "99", ""]] * empty
    random.shuffle(kept)
    save(path, header, kept)
    found = wb.accuracy_audit(items, n_strata=3, labels=str(path))
    said = {ident for ident, _, answer in kept if answer and ident in drawn}
    last = max(drawn.index(ident) for ident in said)
    counts = found.row_counts
    assert sum(counts.values()) == len(kept)
    assert counts["labeled"] == len(said) == found.labeled.sum()
    assert counts.get("skipped", 0) == last + 1 - len(said) == len(found.skipped)
    assert counts.get("not reached", 0) == 23 - last
    assert counts.get("unmatched", 0) == ghosts and counts.get("empty", 0) == empty
    assert counts.get("repeated", 0) == len(kept) - ghosts - empty - 24
    kinds = counts | {"could not be labeled": counts.get("skipped", 0)}
    kinds = {kind: n for kind, n in kinds.items() if n and kind != "skipped"}
    assert all(f"{n} {kind}" in found.sheet_words() for kind, n in kinds.items())
