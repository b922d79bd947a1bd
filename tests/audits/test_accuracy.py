import dataclasses

import numpy as np
import pytest
from refusals import refused

import workbench as wb
from workbench.charts.stratified import audits as charts
from workbench.charts.stratified import scenes
from workbench.checks import WrongType
from workbench.data.scored_items import ScoredItems
from workbench.widgets import image


@pytest.fixture
def unlabeled():
    forms = wb.digit_forms()
    return ScoredItems(np.arange(1, 1798), forms.confidence, forms.read_a)


def identifier(row):
    """The id of a line of a sheet, without its quotes."""
    return row.split(",")[0].strip('"')


def fill(sheet, answer):
    rows = sheet.read_text(encoding="utf-8-sig").splitlines()
    filled = [rows[0]] + [row + answer(int(identifier(row))) for row in rows[1:]]
    sheet.write_text("\n".join(filled) + "\n", encoding="utf-8")


def test_plan_sheet_and_analysis_agree_with_the_estimator(unlabeled, tmp_path):
    sheet = tmp_path / "sheet.csv"
    plan = wb.accuracy_audit(unlabeled, 100, label_sheet=str(sheet), rng=7)
    assert (
        plan.mode == "plan"
        and plan.estimate is None
        and (plan.labeled >= 9).all()
        and plan.labeled.sum() == 100
    )
    right = wb.digit_forms().items().correct
    fill(sheet, lambda item: "1" if right[item - 1] else "0")
    found = wb.accuracy_audit(unlabeled, labels=str(sheet), rng=7)
    known = wb.accuracy_audit(wb.digit_forms().items(), 100, rng=7)
    assert found.mode == "analyzed" and known.mode == "simulated"
    assert found.estimate.correct.tolist() == known.estimate.correct.tolist()
    assert tuple(found.interval()) == tuple(known.interval()) == tuple(known.estimate.interval())


def test_sheet_of_other_strata_is_refused(unlabeled, tmp_path):
    sheet = tmp_path / "sheet.csv"
    wb.accuracy_audit(unlabeled, 100, label_sheet=str(sheet))
    fill(sheet, lambda item: "1")
    with pytest.raises(ValueError) as error:
        wb.accuracy_audit(unlabeled, labels=str(sheet), n_strata=4)
    assert str(error.value) == (
        "n_strata was 'auto' when the sheet was written and is 4 now; allocation was 'auto' "
        "when the sheet was written and is 'proportional' now (see 'sheet.plan.json'). Use the "
        "settings of the plan, or write a new sheet"
    )
    old = tmp_path / "old.csv"  # as sheets were, without a plan beside them
    fifths = wb.stratify(unlabeled.score, 5, "equal_size").labels
    old.write_text(
        "id,stratum,correct\n" + "".join(f"{i + 1},{fifths[i]},1\n" for i in range(0, 1797, 18))
    )
    with pytest.raises(
        ValueError,
        match=r"id '1' \(row 2\) has stratum '4' in the sheet, but 3 now. Use the settings",
    ):
        wb.accuracy_audit(unlabeled, labels=str(old), n_strata=4)


def test_what_does_not_match_is_shown(unlabeled, tmp_path):
    sheet = tmp_path / "sheet.csv"
    wb.accuracy_audit(unlabeled, 100, label_sheet=str(sheet))
    fill(sheet, lambda item: "" if item % 10 == 0 else "1")
    with open(sheet, "a") as file:
        file.write("<b>ghost</b>,,,1\n")
    found = wb.accuracy_audit(unlabeled, labels=str(sheet))
    assert (
        found.unmatched == ("<b>ghost</b>",)
        and len(found.unlabeled) == 100 - found.labeled.sum() > 0
    )
    shown = found._repr_html_()
    assert (
        "&lt;b&gt;ghost&lt;/b&gt;" in shown and "<b>" not in shown and found.unlabeled[0] in shown
    )
    missing, ghost = len(found.unlabeled), "1 id of the annotation sheet is not among the items"
    assert found.skipped == found.unlabeled
    assert found.notes[0] == wb.Note("refused", f"{ghost}: '<b>ghost</b>'")
    assert (
        wb.Note(
            "data",
            f"{missing} items could not be labeled: their labels may be anything, so the estimate "
            "is a range. The lower limit of the interval assumes the worst labels for these items, "
            "the upper limit the best",
        )
        in found.notes
    )
    assert "Do not quote this yet" in found.next_step()
    assert (
        f"<p>{ghost} and was not used: &lt;b&gt;ghost&lt;/b&gt;</p><p>{missing} items could not be "
        "labeled: " in shown
    )
    assert (
        f"<p>The annotation sheet has 101 rows: {100 - missing} labeled, {missing} could not be "
        "labeled, 1 unmatched.</p>" in shown
    )
    assert shown.count("<p>Notes:</p>") == 1 and shown.count("their labels may be anything") == 1


def test_one_item_without_a_label_is_spoken_of_in_the_singular(unlabeled, tmp_path):
    sheet = tmp_path / "sheet.csv"
    wb.accuracy_audit(unlabeled, 100, label_sheet=str(sheet))
    first = identifier(sheet.read_text(encoding="utf-8-sig").splitlines()[1])
    fill(sheet, lambda item: "" if str(item) == first else "1")
    found = wb.accuracy_audit(unlabeled, labels=str(sheet))
    assert "shorter once the item without a label is labeled" in found.next_step()
    assert f"<p>1 item could not be labeled: {first}</p>" in found._repr_html_()
    assert any(
        note.text.startswith("1 item could not be labeled: its label may be anything")
        for note in found.notes
    )


def test_hand_picked_labels_are_warned_of(unlabeled, tmp_path):
    sheet = tmp_path / "sheet.csv"
    wb.accuracy_audit(unlabeled, 100, label_sheet=str(sheet))
    (tmp_path / "sheet.plan.json").unlink()
    fill(sheet, lambda item: "1")
    drawn = wb.accuracy_audit(unlabeled, labels=str(sheet))
    assert {note.kind for note in drawn.notes} == {"unreliable"}
    assert drawn.next_step() == (
        "All rows of the annotation sheet are labeled. Quote the interval with the estimate."
    )
    rows = [row.split(",")[0] + ",1" for row in sheet.read_text().splitlines()[1::2]]
    sheet.write_text("\n".join(["id,correct", *rows]) + "\n")
    known = wb.accuracy_audit(
        unlabeled, 100, labels=str(sheet)
    )  # of a plan for 100: half of it has no row
    assert "refused" not in {note.kind for note in known.notes} and len(known.unlabeled) == 50
    found = wb.accuracy_audit(unlabeled, 50, labels=str(sheet))
    assert "refused" not in {note.kind for note in found.notes}
    assert found.finding().startswith(
        "This assumes that the 50 labeled items are a random sample of all 1,797. Accuracy "
    )
    assert found.notes[-1].text.startswith("the 50 labeled items were not sampled by a plan")
    assert "say how the labeled items were chosen" in found.next_step()


def test_a_label_that_the_plan_did_not_draw_is_left_out_and_named(unlabeled, tmp_path):
    sheet = tmp_path / "sheet.csv"
    plan = wb.accuracy_audit(unlabeled, 100, n_strata=5, label_sheet=str(sheet))
    rows = sheet.read_text(encoding="utf-8-sig").splitlines()
    drawn = set(map(identifier, rows[1:]))
    fifths = wb.stratify(unlabeled.score, 5, "equal_size").labels
    other = next(i for i in range(1797) if fifths[i] == 0 and str(i + 1) not in drawn)
    sheet.write_text(
        "\n".join([rows[0], f"{other + 1},,,1", *(row + "1" for row in rows[2:])]) + "\n"
    )
    found = wb.accuracy_audit(unlabeled, n_strata=5, labels=str(sheet))
    assert (
        wb.Note(
            "data",
            "1 labeled item was not sampled by the plan and not used, because the interval is "
            f"valid only for the items that were sampled at random: '{other + 1}'",
        )
        in found.notes
    )
    assert found.labeled.sum() == found.estimate.correct.sum() == 99 and found.premise == ""
    assert found.row_counts == {"labeled": 99, "not drawn": 1}
    assert plan.notes == () and len(found.skipped) == 1


def test_pure_strata_are_warned_of():
    items = ScoredItems(None, np.linspace(0.5, 1, 1000), correct=np.ones(1000, bool))
    audit = wb.accuracy_audit(items, 100, n_strata=5)
    assert audit.estimate.standard_error == 0 and audit.interval().low < 0.97
    assert (
        audit.notes
        == audit.estimate.notes
        == tuple(
            wb.Note(
                "unreliable",
                "all labels agree, so the estimated standard error is 0; use the confidence interval, which accounts for this",
                ("stratum", k),
            )
            for k in range(5)
        )
    )
    assert wb.sentences(audit.notes) == (
        "strata 1, 2, 3, 4, 5: all labels agree, so the estimated standard error is 0; use the confidence interval, "
        "which accounts for this",
    )


def test_margins_have_no_expectation_and_no_score_neyman():
    items = wb.synthetic_scores("epsilon", size=2000)
    plan = wb.accuracy_audit(ScoredItems(None, items.score, score_is="margin"), 100)
    assert np.isnan(plan.expected_half_width) and "expected" not in plan.headline()
    assert wb.compare_intervals(plan).assumption == "If half of the predictions are correct"
    calibrated = wb.accuracy_audit(ScoredItems(None, items.score), 100)
    [default, *_] = wb.compare_intervals(calibrated).rows()
    assert default["half_width"] == pytest.approx(calibrated.expected_half_width)
    with pytest.raises(ValueError, match="allocation 'neyman' needs scores that are probabilities"):
        wb.accuracy_audit(items, 100, allocation="neyman")


@pytest.mark.parametrize(
    ("settings", "argument", "rule", "told"),
    [
        ({"budget": 9, "n_strata": 5}, "budget", "must be a whole number from 10 to 1797", "got 9"),
        ({"budget": 1}, "budget", "must be a whole number from 2 to 1797", "got 1"),
        ({"budget": 1798}, "budget", "must be a whole number from 2 to 1797", "got 1798"),
        (
            {"allocation": "best"},
            "allocation",
            "must be one of 'auto', 'proportional'",
            "got 'best'",
        ),
        (
            {"stratifier": "equalsize"},
            "stratifier",
            "must be one of 'cum_sqrt_f', 'cum_cbrt_f'",
            "got 'equalsize' (did you mean 'equal_size'?)",
        ),
        ({"interval": "clopper"}, "interval", "must be one of 'default', 'short'", "got 'clopper'"),
        ({"level": 95}, "level", "must be a number in (0, 1)", "got 95 (did you mean 0.95?)"),
        ({"n_strata": 2.5}, "n_strata", "must be a whole number from 1 to 1797", "got 2.5"),
        ({"rng": -1}, "rng", "must be a whole number of at least 0", "got -1"),
    ],
)
def test_bad_settings(settings, argument, rule, told):
    items, given = wb.digit_forms().items(), {"budget": 100, **settings}
    refused(lambda: wb.accuracy_audit(items, **given), argument, rule, told)


def test_audits_serialize_without_loss(unlabeled):
    for audit in (
        wb.accuracy_audit(unlabeled, 60),
        wb.accuracy_audit(wb.digit_forms().items(), 60),
    ):
        again = wb.Result.from_dict(audit.to_dict())
        assert again.to_dict() == audit.to_dict() and repr(again) == repr(audit)


def pictures():
    items = wb.digit_forms().items()
    design = wb.study_design(items.score, items.correct, 100, stratifier="gmm", n_strata=12)
    robot = wb.simulate_labeling(
        design.stratum_size, design.correct, 100, "opt_a2", runs=60, pilot=2
    )
    curve = wb.plan_curve(design.stratum_size, design.accuracy, np.linspace(0.01, 0.1, 10))
    audit = wb.accuracy_audit(items, 100)
    plan = wb.accuracy_audit(ScoredItems(None, items.score), 100)
    yield scenes.design(design, scenes.wrong_by_rank(items.score, items.correct))
    yield scenes.robot(robot)
    yield scenes.plan(curve, 0.03)
    rival = dataclasses.replace(items, rival=wb.digit_forms().read_b)
    for one in (audit, plan, wb.class_audit(items, "9", 100), wb.difference_audit(rival, 60)):
        yield charts.audit(one)
    for one in (audit, plan):
        yield charts.intervals(wb.compare_intervals(one), one.truth)


def test_people_read_strata_counted_from_1_and_arrays_from_0():
    """Sizes of equal-width strata differ, so each row tells of which stratum it speaks."""
    items = wb.digit_forms().items()
    strata = wb.stratify(items.score, 4, "equal_width")
    counted = [(k + 1, (strata.labels == k).sum()) for k in range(4)]
    audit = wb.accuracy_audit(items, 100, n_strata=4, stratifier="equal_width", allocation="equal")
    budget = wb.plan_budget(strata.sizes, [0.5, 0.8, 0.9, 1], 0.05, interval="wald", minimum=2)
    assert len(set(strata.sizes)) == 4
    for rows in (
        strata.rows(),
        audit.rows(),
        audit.estimate.rows(),
        wb.allocate(strata.sizes, 50, "equal").rows(),
        wb.paired_difference(strata.sizes, [[1, 1, 1]] * 4).rows(),
        wb.study_design(
            items.score, items.correct, 100, n_strata=4, stratifier="equal_width"
        ).rows(),
    ):
        assert [(row["stratum"], row["size"]) for row in rows] == counted
    assert [(row["stratum"], row["labeled"]) for row in budget.rows()] == [
        *enumerate(budget.labeled.tolist(), 1)
    ]
    assert strata.labels.min() == 0 and strata.labels.max() == 3


def test_pictures_count_strata_from_1():
    items = dataclasses.replace(wb.digit_forms().items(), rival=wb.digit_forms().read_b)
    audit, metrics = (
        wb.accuracy_audit(items, 100, n_strata=5),
        wb.class_audit(items, "9", 100, n_strata=2),
    )
    for one, strata in ((audit, 5), (metrics, 4), (wb.difference_audit(items, 60), 5)):
        assert {row["stratum"] for row in charts.audit(one).data["labels"]} == set(
            range(1, strata + 1)
        )
        shown = {row["stratum"]: 0 for row in charts.audit(one).data["labels"]}
        for row in charts.audit(one).data["labels"]:
            shown[row["stratum"]] += row["labels"]
        assert [*shown.values()] == one.labeled.tolist()
    right, labeled = audit.estimate.correct, audit.labeled
    said = "; ".join(f"stratum {k + 1} {right[k]} of {labeled[k]} correct" for k in range(5))
    figure = charts.finding(audit)
    assert figure.alternative.endswith(f"); {said}.")
    kinds = [layer["mark"]["type"] for layer in figure.to_dict()["layer"]]
    assert kinds.count("point") == 1 and "tick" in kinds  # a dot would hide a short interval
    assert "strata 1 to 2 predicted members, then the others" in charts.audit(metrics).alternative
    alone = wb.class_audit(items, "9", 100, n_strata=1)
    assert "stratum 1 predicted members, then the others" in charts.audit(alone).alternative


@pytest.mark.slow
def test_charts_carry_title_words_units_and_data():
    for figure in pictures():
        spec = figure.to_dict()
        (heading,) = [p for p in spec["params"] if p["name"] == "heading"]
        assert " ".join(heading["value"]) == figure.title
        assert spec["description"] == figure.alternative
        drawn = [
            e
            for view in spec.get("vconcat", [spec])
            for layer in view.get("layer", [view])
            for e in map(layer.get("encoding", {}).get, ("x", "y"))
            if e and "type" in e
        ]
        assert any(e.get("title") for e in drawn)
        assert image(figure).png().startswith(b"\x89PNG")


def test_design_chart_shows_every_item_once():
    items = wb.digit_forms().items()
    for stratifier in ("gmm", "equal_size", "kmeans"):
        design = wb.study_design(items.score, items.correct, 100, stratifier=stratifier, n_strata=6)
        np.testing.assert_allclose(design.start[1:], design.end[:-1])
        share = np.bincount(design.cell_stratum, design.end - design.start)
        np.testing.assert_allclose(share, design.stratum_size / 1797)
    wrong = scenes.wrong_by_rank(items.score, items.correct)
    assert sum(round(w["wrong"] * (w["end"] - w["start"]) * 1797) for w in wrong) == 1797 - 1576


@pytest.mark.parametrize(
    ("call", "argument", "kind", "got"),
    [
        (lambda: wb.accuracy_audit({"score": [0.5]}), "items", "ScoredItems", "dict"),
        (lambda: wb.compare_intervals([0.5, 0.6]), "audit", "AccuracyAudit", "list"),
        (lambda: wb.plan_labels({"a": 10}), "strata", "StratumSummary", "dict"),
        (lambda: wb.draw_rows([3, 4], {"id": [1, 2]}), "plan", "LabelPlan", "list"),
    ],
)
def test_an_object_of_another_class_is_named(call, argument, kind, got):
    refused(call, argument, f"must be of class {kind}", f"got {got}", WrongType)
