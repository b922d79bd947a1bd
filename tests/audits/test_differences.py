import dataclasses

import numpy as np
import pytest
from refusals import refused

import workbench as wb
from workbench.data.scored_items import ScoredItems


@pytest.fixture
def readers():
    forms = wb.digit_forms()
    return dataclasses.replace(forms.items(), rival=forms.read_b)


def test_a_census_of_the_disagreement_says_the_truth(readers):
    found = wb.difference_audit(readers, 500)
    differ = int((readers.prediction != readers.rival).sum())
    truth = readers.correct.mean() - (readers.rival == readers.truth).mean()
    assert found.labeled.sum() == differ and found.agreeing == 1797 - differ
    assert (
        found.interval().low
        == found.interval().high
        == pytest.approx(truth)
        == pytest.approx(found.truth)
    )
    assert (
        wb.Note(
            "design",
            f"the models differ on {differ} items. All of them are labeled; {500 - differ} labels "
            "of the budget are not needed",
        )
        in found.notes
    )
    assert not [note for note in found.notes if note.kind == "unreliable"]


def test_few_labels_are_told_however_many_items_agree(readers):
    found = wb.difference_audit(readers, 12)
    assert "only 12 labels: the default interval was only checked with 20 or more" in map(
        str, found.notes
    )
    few = wb.paired_difference([60, 60], [[2, 0, 3], [2, 0, 3]], agreeing=9000).interval()
    assert [note.kind for note in few.notes] == ["unreliable"]


def test_a_stratum_that_alone_decides_is_measured_by_labels_that_were_made():
    """Items on which the models agree are no labels, though they are known."""
    even = wb.paired_difference([600, 400], [[8, 3, 14], [5, 2, 18]], agreeing=9000).interval()
    assert even.limiting_stratum is None and even.notes == ()
    heavy = wb.paired_difference([900, 100], [[0, 5, 0], [15, 0, 10]], agreeing=9000).interval()
    assert heavy.limiting_stratum == 0
    assert heavy.notes[0].text == (
        "this stratum alone decides a limit: it holds 90.0% of the items but 16.7% of the labels, so more labels there would help most"
    )


def test_a_plan_promises_the_width_of_models_that_are_right_equally_often(readers):
    plan = wb.difference_audit(
        dataclasses.replace(readers, truth=None, correct=None), 80, n_strata=2
    )
    size, n = plan.stratum_size, plan.labeled
    expected = wb.paired_difference(
        size, [[k // 2, 0, k - k // 2] for k in n], agreeing=1797 - int(size.sum())
    )
    assert plan.expected_half_width == expected.interval().half_width and plan.mode == "plan"
    assert (
        f"half-width of the difference {100 * plan.expected_half_width:.1f} percentage points"
        in plan.headline()
    )


def test_items_without_identifiers_keep_their_row_numbers(readers, tmp_path):
    items = dataclasses.replace(readers, id=None, truth=None, correct=None)
    sheet = tmp_path / "sheet.csv"
    plan = wb.difference_audit(items, 40, label_sheet=str(sheet))
    assert "the true class of each item" in plan.next_step()
    assert "into the column truth of" in plan.next_step()
    header, *rows = sheet.read_text(encoding="utf-8-sig").splitlines()
    index = [int(row.split(",")[0].strip('"')) - 1 for row in rows]
    assert (items.prediction != items.rival)[index].all() and header == "id,position,truth"
    sheet.write_text(
        "\n".join(
            [header, *(row + str(readers.truth[i]) for row, i in zip(rows, index, strict=True))]
        )
    )
    found, known = wb.difference_audit(items, labels=str(sheet)), wb.difference_audit(readers, 40)
    assert (
        found.difference.counts.tolist() == known.difference.counts.tolist()
        and found.mode == "analyzed"
    )
    assert tuple(found.interval()) == tuple(known.interval()) and found.unmatched == ()


def test_a_class_that_neither_model_predicts_is_a_tie(tmp_path):
    items = ScoredItems(
        None, np.linspace(0.5, 1, 40), np.array(["a", "b"] * 20), rival=np.array(["b", "a"] * 20)
    )
    sheet = tmp_path / "sheet.csv"
    wb.difference_audit(items, 40, n_strata=1, label_sheet=str(sheet))
    sheet.write_text(
        "id,truth\n" + "".join(f"{i},{'other' if i % 4 == 0 else 'a'}\n" for i in range(1, 41))
    )
    found = wb.difference_audit(items, n_strata=1, labels=str(sheet))
    assert found.difference.counts.tolist() == [[10, 10, 20]]
    assert found.interval().low == found.interval().high == found.difference.estimate == 0.25


def test_difference_audits_serialize_without_loss(readers):
    for found in (
        wb.difference_audit(readers, 60),
        wb.difference_audit(dataclasses.replace(readers, truth=None, correct=None), 60),
    ):
        again = wb.Result.from_dict(found.to_dict())
        assert again.to_dict() == found.to_dict() and again._repr_html_() == found._repr_html_()


@pytest.mark.parametrize(
    ("change", "settings", "argument", "rule", "told"),
    [
        ({"rival": None}, {}, "items", "must hold the predictions of two models. Name their", ""),
        ({"truth": None}, {}, "items", "must hold the true classes to simulate labels for two", ""),
        (
            {},
            {"allocation": "neyman"},
            "allocation",
            "must be one of 'proportional', 'equal'",
            "got 'neyman'",
        ),
        ({}, {"interval": "wald"}, "interval", "must be 'default' for a difference", "got 'wald'"),
        ({}, {"budget": 9}, "budget", "must be a whole number from 10 to 189", "got 9"),
        ({}, {"budget": 0}, "budget", "must be a whole number of at least 1", "got 0"),
    ],
)
def test_messages(readers, change, settings, argument, rule, told):
    items, given = dataclasses.replace(readers, **change), {"budget": 100, **settings}
    refused(lambda: wb.difference_audit(items, **given), argument, rule, told)


def test_one_model_twice_is_refused(readers):
    with pytest.raises(ValueError, match="^prediction and rival are the same for every item, so"):
        wb.difference_audit(dataclasses.replace(readers, rival=readers.prediction), 100)
