import numpy as np
import pytest

import workbench as wb
from workbench.charts import stratified as charts
from workbench.data.scored_items import ScoredItems
from workbench.widgets import image


@pytest.fixture
def unlabeled():
    forms = wb.digit_forms()
    return ScoredItems(np.arange(1, 1798), forms.confidence, forms.read_a)


def fill(sheet, answer):
    rows = sheet.read_text(encoding="utf-8-sig").splitlines()
    filled = [rows[0]] + [row + answer(int(row.split(",")[0])) for row in rows[1:]]
    sheet.write_text("\n".join(filled) + "\n", encoding="utf-8")


def test_plan_sheet_and_analysis_agree_with_the_estimator(unlabeled, tmp_path):
    sheet = tmp_path / "sheet.csv"
    plan = wb.accuracy_audit(unlabeled, 100, label_sheet=str(sheet), rng=7)
    assert plan.mode == "plan" and plan.estimate is None and plan.labeled.tolist() == [20] * 5
    right = wb.digit_forms().items().correct
    fill(sheet, lambda item: "1" if right[item - 1] else "0")
    found = wb.accuracy_audit(unlabeled, labels=str(sheet), rng=7)
    known = wb.accuracy_audit(wb.digit_forms().items(), 100, rng=7)
    assert found.mode == "analyzed" and known.mode == "simulated"
    assert found.estimate.correct.tolist() == known.estimate.correct.tolist()
    assert tuple(found.interval) == tuple(known.interval) == tuple(known.estimate.interval())


def test_sheet_of_other_strata_is_refused(unlabeled, tmp_path):
    sheet = tmp_path / "sheet.csv"
    wb.accuracy_audit(unlabeled, 100, label_sheet=str(sheet))
    fill(sheet, lambda item: "1")
    with pytest.raises(ValueError, match="use the n_strata, stratifier and seed with which the sheet was written"):
        wb.accuracy_audit(unlabeled, labels=str(sheet), n_strata=4)


def test_what_does_not_match_is_shown(unlabeled, tmp_path):
    sheet = tmp_path / "sheet.csv"
    wb.accuracy_audit(unlabeled, 100, label_sheet=str(sheet))
    fill(sheet, lambda item: "" if item % 10 == 0 else "1")
    with open(sheet, "a") as file:
        file.write("<b>ghost</b>,0,1\n")
    found = wb.accuracy_audit(unlabeled, labels=str(sheet))
    assert found.unmatched == ("<b>ghost</b>",) and len(found.unlabeled) == 100 - found.labeled.sum() > 0
    shown = found._repr_html_()
    assert "&lt;b&gt;ghost&lt;/b&gt;" in shown and "<b>" not in shown and found.unlabeled[0] in shown
    assert any("have no label" in w for w in found.warnings) and "label them" in found.next_step()


def test_hand_picked_labels_are_warned_of(unlabeled, tmp_path):
    sheet = tmp_path / "sheet.csv"
    wb.accuracy_audit(unlabeled, 100, label_sheet=str(sheet))
    fill(sheet, lambda item: "1")
    assert not any("are not the ones" in w for w in wb.accuracy_audit(unlabeled, labels=str(sheet)).warnings)
    rows = sheet.read_text().splitlines()
    sheet.write_text("\n".join(rows[:1] + rows[1::2]) + "\n")
    told = [w for w in wb.accuracy_audit(unlabeled, labels=str(sheet)).warnings if "are not the ones" in w]
    assert len(told) == 1 and "for a sheet of 50 rows" in told[0]


def test_pure_strata_are_warned_of():
    items = ScoredItems(None, np.linspace(0.5, 1, 1000), correct=np.ones(1000, bool))
    audit = wb.accuracy_audit(items, 100)
    assert audit.estimate.standard_error == 0 and audit.interval.low < 0.97
    assert any(w.startswith("no mix of right and wrong was seen in strata 0, 1, 2, 3, 4") for w in audit.warnings)


def test_margins_have_no_expectation_and_no_score_neyman():
    items = wb.synthetic_scores("epsilon", size=2000)
    plan = wb.accuracy_audit(ScoredItems(None, items.score, score_is="margin"), 100)
    assert np.isnan(plan.expected_half_width) and "expected" not in plan.headline()
    assert wb.compare_intervals(plan).assumption == "If half are right"
    with pytest.raises(ValueError, match="allocation 'neyman' needs scores that are probabilities"):
        wb.accuracy_audit(items, 100, method="neyman")


@pytest.mark.parametrize(("settings", "message"), [
    ({"budget": 9}, "budget must be a whole number from 10 to 1797; got 9"),
    ({"budget": 1798}, "budget must be a whole number from 10 to 1797; got 1798"),
    ({"method": "best"}, "allocation must be one of 'proportional', 'equal', 'neyman', 'neyman_plus', 'voila'; "
                         "got 'best'"),
    ({"stratifier": "equalsize"}, "stratifier must be one of 'cum_sqrt_f', 'cum_cbrt_f', 'weighted_mean', 'kmeans', "
                                  "'gmm', 'equal_size', 'equal_width'; got 'equalsize' (did you mean 'equal_size'?)"),
    ({"interval": "clopper"}, "interval must be one of 'default', 'short', 'guaranteed', 'wald', 'wilson'; "
                              "got 'clopper'"),
    ({"level": 95}, "level must be a number in (0, 1); got 95"),
    ({"n_strata": 2.5}, "n_strata must be a whole number from 1 to 1797; got 2.5"),
    ({"rng": -1}, "rng must be a whole number of at least 0; got -1"),
])
def test_bad_settings(settings, message):
    with pytest.raises(ValueError) as error:
        wb.accuracy_audit(wb.digit_forms().items(), **{"budget": 100, **settings})
    assert str(error.value) == message


def test_audits_serialize_without_loss(unlabeled):
    for audit in (wb.accuracy_audit(unlabeled, 60), wb.accuracy_audit(wb.digit_forms().items(), 60)):
        again = wb.Result.from_dict(audit.to_dict())
        assert again.to_dict() == audit.to_dict() and repr(again) == repr(audit)


def pictures():
    items = wb.digit_forms().items()
    design = wb.study_design(items.score, items.correct, 100, stratifier="gmm", n_strata=12)
    robot = wb.simulate_labeling(design.stratum_size, design.correct, 100, "opt_a2", runs=60, pilot=2)
    curve = wb.plan_curve(design.stratum_size, design.accuracy, np.linspace(0.01, 0.1, 10))
    audit = wb.accuracy_audit(items, 100)
    plan = wb.accuracy_audit(ScoredItems(None, items.score), 100)
    yield charts.design(design, charts.wrong_by_rank(items.score, items.correct)), charts.design_words(design)
    yield charts.robot(robot), charts.robot_words(robot)
    yield charts.plan(curve, 0.03), charts.plan_words(curve, 0.03)
    for one in (audit, plan):
        yield charts.audit(one), charts.audit_words(one)
        comparison = wb.compare_intervals(one)
        yield charts.intervals(comparison, one.truth), charts.intervals_words(comparison, one.truth)


def test_charts_carry_title_words_units_and_data():
    for chart, (title, words) in pictures():
        spec = chart.to_dict()
        heading, = [p for p in spec["params"] if p["name"] == "heading"]
        assert " ".join(heading["value"]) == title and spec["description"] == words
        drawn = [e for view in spec.get("vconcat", [spec]) for layer in view.get("layer", [view])
                 for e in map(layer.get("encoding", {}).get, ("x", "y")) if e and "type" in e]
        assert any(e.get("title") for e in drawn)
        assert image(chart).png().startswith(b"\x89PNG")


def test_design_chart_shows_every_item_once():
    items = wb.digit_forms().items()
    for stratifier in ("gmm", "equal_size", "kmeans"):
        design = wb.study_design(items.score, items.correct, 100, stratifier=stratifier, n_strata=6)
        np.testing.assert_allclose(design.start[1:], design.end[:-1])
        share = np.bincount(design.cell_stratum, design.end - design.start)
        np.testing.assert_allclose(share, design.stratum_size / 1797)
    wrong = charts.wrong_by_rank(items.score, items.correct)
    assert sum(round(w["wrong"] * (w["end"] - w["start"]) * 1797) for w in wrong) == 1797 - 1576
