"""A judge's verdicts corrected by people's labels: against hand calculation, published figures and its parts."""

import math

import numpy as np
import pytest
from refusals import refused

import workbench as wb
from workbench.audits.judges import judge_audit
from workbench.stratified.class_metrics import class_metrics

FEW = "must be given for at least 2 items of every judge label"
TWO = "must be one of two classes, 'fail', 'pass'"
VERDICTS = ["pass"] * 700 + ["fail"] * 300
LABELS = ["pass"] * 60 + ["fail"] * 10 + [None] * 630 + ["pass"] * 3 + ["fail"] * 27 + [None] * 270


def notes(found):
    return " ".join(note.text for note in found.notes)


def test_the_same_items_by_hand():
    """.7 x 60/70 + .3 x 3/30 = .63; people alone 63 of 100; the judge 700 of 1,000."""
    found = judge_audit(VERDICTS, LABELS)
    corrected, people, judge = found.rows()
    assert corrected["estimate"] == pytest.approx(0.7 * 60 / 70 + 0.3 * 3 / 30)
    assert (people["estimate"], judge["estimate"]) == pytest.approx((0.63, 0.7))
    assert math.isnan(judge["low"]) and math.isnan(judge["high"])
    limits = wb.stratified_interval([300, 700], [30, 70], [3, 60])
    assert (corrected["low"], corrected["high"]) == pytest.approx((*limits,))
    assert (people["low"], people["high"]) == pytest.approx(
        (*wb.stratified_interval([1000], [100], [63]),)
    )
    assert corrected["high"] - corrected["low"] < people["high"] - people["low"]


def test_the_value_that_is_reported_first_is_the_corrected_one():
    assert judge_audit(VERDICTS, LABELS).rows()[0]["who"] == "corrected"


def test_sensitivity_and_specificity_weigh_the_verdicts():
    """Sensitivity .7 x 60/70 over itself plus .3 x 3/30; of passes missed 3 of 30, weighed as 30 of 300."""
    sensitivity, specificity = judge_audit(VERDICTS, LABELS).rate_rows()
    assert sensitivity["estimate"] == pytest.approx(600 / (600 + 30))
    assert specificity["estimate"] == pytest.approx(270 / (270 + 100))
    limits = class_metrics([700, 300], [True, False], [70, 30], [60, 27]).interval("recall")
    assert (sensitivity["low"], sensitivity["high"]) == pytest.approx((*limits,))


def test_right_and_wrong_are_put_into_the_words_of_the_verdicts():
    said = [None if label is None else int(label == "pass") for label in LABELS]
    assert str(judge_audit(VERDICTS, said).rows()) == str(judge_audit(VERDICTS, LABELS).rows())
    other = ["x" if verdict == "pass" else "y" for verdict in VERDICTS]
    assert str(judge_audit(other, said, classes="y,x").rows()) == str(
        judge_audit(VERDICTS, LABELS).rows()
    )


def test_the_second_of_named_classes_is_reported():
    corrected, *_ = judge_audit(VERDICTS, LABELS, classes="pass,fail").rows()
    assert corrected["estimate"] == pytest.approx(1 - 0.63)


def test_grades_are_strata_of_neighbors_with_enough_labels():
    """Grades 1 to 4 of 100 items each, labeled 4, 6, 5 and 5: the first two are one stratum, as none may have 4."""
    grade, labeled = np.repeat([1, 2, 3, 4], 100), (4, 6, 5, 5)
    right = (0, 2, 3, 5)
    label = [None] * 400
    for k, (n, x) in enumerate(zip(labeled, right, strict=True)):
        label[100 * k : 100 * k + n] = [1] * x + [0] * (n - x)
    found = judge_audit(grade, label)
    assert [(row["verdict"], row["size"], row["labeled"]) for row in found.stratum_rows()] == [
        ("1 to 2", 200, 10),
        ("3", 100, 5),
        ("4", 100, 5),
    ]
    corrected, _, judge = found.rows()
    assert corrected["estimate"] == pytest.approx(0.5 * 2 / 10 + 0.25 * 3 / 5 + 0.25 * 5 / 5)
    assert math.isnan(judge["estimate"]) and found.rate_rows() == []
    assert "the judge alone" not in found.finding()


def test_grades_of_people_have_a_mean():
    """Two strata of 50: means 2 and 4, so the mean is 3; the judge's own is 1.5 too high."""
    grade = np.repeat([3.0, 6.0], 50)
    label = np.full(100, None, object)
    label[[0, 1, 2, 3, 4, 5]] = [1, 2, 3, 2, 2, 2]
    label[[50, 51, 52, 53, 54, 55]] = [4, 4, 3, 5, 4, 4]
    found = judge_audit(grade, label)
    corrected, people, judge = found.rows()
    assert (corrected["estimate"], people["estimate"], judge["estimate"]) == pytest.approx(
        (3, 3, 4.5)
    )
    counts = [[1, 4, 1, 0, 0], [0, 0, 1, 4, 1]]
    limits = wb.value_interval([50, 50], counts, [1, 2, 3, 4, 5])
    assert (corrected["low"], corrected["high"]) == pytest.approx((*limits,))
    assert "mean human grade" in found.finding()


def test_a_judge_that_does_not_help_is_called_so():
    """60 of 100 right under either verdict: no correlation; 1/sqrt(98) = .10."""
    label = ([1] * 30 + [0] * 20 + [None] * 450) * 2
    found = judge_audit([1] * 500 + [0] * 500, label)
    assert found.correlation == pytest.approx(0)
    assert "the judge does not help" in notes(found) and "1/sqrt(n - 2) = 0.10" in notes(found)
    assert "does not help" not in notes(judge_audit(VERDICTS, LABELS))


@pytest.mark.parametrize(("right", "helps"), [((30, 26), False), ((31, 25), True)])
def test_the_bound_of_the_correlation(right, helps):
    """Of 50 + 50 labels: 30 and 26 right correlate by .081, 31 and 25 by .121; the bound is .101."""
    label = [each for x in right for each in [1] * x + [0] * (50 - x) + [None] * 450]
    found = judge_audit([1] * 500 + [0] * 500, label)
    (a, c), n = right, 50
    phi = (a * (n - c) - (n - a) * c) / math.sqrt((a + c) * (2 * n - a - c) * n * n)
    assert found.correlation == pytest.approx(phi)
    assert ("does not help" not in notes(found)) == helps


def test_classes_that_are_swapped_are_asked_about():
    swapped = [{"pass": "fail", "fail": "pass"}.get(each) for each in LABELS]
    assert "Are the classes swapped" in notes(judge_audit(VERDICTS, swapped))


def test_human_labels_that_only_correct_the_judge_are_asked_about():
    corrections = [
        label if label != verdict else None for verdict, label in zip(VERDICTS, LABELS, strict=True)
    ]
    assert "are the human labels only corrections of the judge?" in notes(
        judge_audit(VERDICTS, corrections)
    )
    assert "corrections" not in notes(judge_audit(VERDICTS, LABELS))


def test_labels_that_follow_the_verdict_are_no_sample_of_all():
    label = (
        ["pass"] * 8 + ["fail"] * 2 + [None] * 690 + ["pass"] * 30 + ["fail"] * 60 + [None] * 210
    )
    found = judge_audit(VERDICTS, label)
    assert "not distributed over the judge labels like a random sample" in notes(found)
    assert found.rows()[0]["estimate"] == pytest.approx(0.7 * 0.8 + 0.3 / 3)
    assert "not distributed" not in notes(judge_audit(VERDICTS, LABELS))


def test_a_hundred_more_labels():
    """Twice the labels that say the same: the interval that these would have."""
    found = judge_audit(VERDICTS, LABELS)
    assert found.half_width_more == pytest.approx(
        wb.stratified_interval([300, 700], [60, 140], [6, 120]).half_width
    )
    assert "With 100 more human labels" in found.basis()


def earlier(n00, n01, n10, n11):
    """Return verdicts and labels of an earlier batch, by label and verdict."""
    sizes = (n00, n01, n10, n11)
    return np.repeat([0, 1, 0, 1], sizes), np.repeat([0, 0, 1, 1], sizes).astype(object)


def test_rogan_gladen_of_the_published_example():
    """arXiv 2511.21140: specificity 140 of 200, sensitivity 180 of 200, 400 of 1,000 called right: .1667.

    (.4 + .7 - 1) / (.7 + .9 - 1) = 1/6. They print (.0564, .2627); the hull here is (.0524, .2687), wider by .004 and
    .006: rates with one count added rather than theirs, and the union with the delta method. It holds theirs.
    """
    verdict, label = earlier(140, 60, 20, 180)
    found = judge_audit([1] * 400 + [0] * 600, label, earlier=verdict)
    corrected = found.rows()[0]
    assert corrected["who"] == "corrected" and corrected["estimate"] == pytest.approx(1 / 6)
    assert (corrected["low"], corrected["high"]) == pytest.approx((0.0524, 0.2687), abs=5e-5)
    assert corrected["low"] < 0.0564 < 0.2627 < corrected["high"]
    sensitivity, specificity = found.rate_rows()
    assert (sensitivity["estimate"], specificity["estimate"]) == pytest.approx((0.9, 0.7))


def test_fifty_of_fifty():
    """All of 50 pass a judge that finds .85 of the failing and fails .01 of the others.

    With known rates, Wilson's limits of 0 of 50, [0, .0713], become [0, (.0713 - .01) / .84 = .0730], as published.
    Here the rates are audited, 170 of 200 and 990 of 1,000: the hull begins at 0, and is a little wider.
    """
    low, high = wb.intervals.wilson(0.0, 50, wb.intervals.quantile(0.95))
    assert ((high - 0.01) / 0.84, max(0, (low - 0.01) / 0.84)) == pytest.approx(
        (0.0730, 0), abs=5e-5
    )
    verdict, label = earlier(990, 10, 30, 170)  # 1 is "fails"
    corrected, *_, judge = judge_audit([0] * 50, label, earlier=verdict).rows()
    assert judge["estimate"] == 0 and corrected["estimate"] == 0  # of -.01 / .84
    assert corrected["low"] == 0 and 0.0730 < corrected["high"] < 0.09


def three_verdicts():
    """Verdicts P, F and I on 214, 139 and 47 items, and what people say of some."""
    said = {"P": {"P": 64}, "F": {"F": 23, "P": 7, "I": 1}, "I": {"P": 3, "I": 3, "F": 1}}
    unlabeled = {"P": 150, "F": 108, "I": 40}
    verdict, label = [], []
    for name, labels in said.items():
        given = [text for text, items in labels.items() for _ in range(items)]
        verdict += [name] * (len(given) + unlabeled[name])
        label += [*given, *[None] * unlabeled[name]]
    return verdict, label


def test_three_verdicts_are_three_shares():
    """Post-stratified by hand: 214, 139 and 47 items with verdicts P, F and I."""
    verdict, label = three_verdicts()
    sizes, rates = (
        {"P": 214, "F": 139, "I": 47},
        {
            "P": {"P": 1},
            "F": {"F": 23 / 31, "P": 7 / 31, "I": 1 / 31},
            "I": {"P": 3 / 7, "I": 3 / 7, "F": 1 / 7},
        },
    )
    expected = {k: sum(sizes[v] * rates[v].get(k, 0) for v in sizes) / 400 for k in "PFI"}
    assert expected == pytest.approx({"P": 0.664, "F": 0.275, "I": 0.062}, abs=0.002)
    audit = judge_audit(verdict, label)
    corrected = {row["label"]: row for row in audit.rows() if row["who"] == "corrected"}
    assert {name: row["estimate"] for name, row in corrected.items()} == pytest.approx(expected)
    assert all(row["low"] < row["estimate"] < row["high"] for row in corrected.values())
    alone = {row["label"]: row["estimate"] for row in audit.rows() if row["who"] == "judge alone"}
    assert alone == {"P": 214 / 400, "F": 139 / 400, "I": 47 / 400}
    assert audit.finding().startswith("The proportion of P is 66") and "I 6." in audit.finding()
    assert audit.positive == "P" and "corrected, F 27." in audit.headline()
    last = judge_audit(verdict, label, classes="P,I,F")
    assert last.positive == "F" and last.rows()[0]["estimate"] == pytest.approx(expected["F"])


def test_three_verdicts_and_people_who_say_two():
    verdict, label = three_verdicts()
    audit = judge_audit(verdict, [text if text != "I" else None for text in label])
    rates = {"P": 1, "F": 7 / 30, "I": 3 / 4}
    sizes = {"P": 214, "F": 139, "I": 47}
    assert audit.rows()[0]["estimate"] == pytest.approx(
        sum(sizes[v] * rates[v] for v in sizes) / 400
    )
    assert len(audit.rows()) == 3


WORDS = {"P": "pass", "F": "fail", "I": "unclear"}
# (words of the judge, words of people), of which people's I is a fail
WORDINGS = [
    (["pass", "fail", "unclear"], ["pass", "fail"]),
    (["Pass ", "FAIL", "unclear"], ["pass", "fail"]),
    (["pass", "fail", "unclear"], ["PASS", "Fail"]),
    (["pass", "fail", "unclear"], [1, 0]),
    (["pass", "fail", "unclear"], ["yes", "no"]),
]


@pytest.mark.parametrize(("judged", "labeled"), WORDINGS)
def test_a_judge_with_three_verdicts_where_people_say_two(judged, labeled):
    """The verdicts are strata: .535 x 1, .3475 x 7/31 and .1175 x 3/7 of the items pass."""
    verdict, label = three_verdicts()
    words = dict(zip("PFI", judged, strict=True))
    meaning = {"P": labeled[0], "F": labeled[1], "I": labeled[1]}
    audit = judge_audit([words[text] for text in verdict], [meaning.get(text) for text in label])
    corrected, people, judge = audit.rows()
    assert corrected["estimate"] == pytest.approx((214 + 139 * 7 / 31 + 47 * 3 / 7) / 400)
    assert people["estimate"] == pytest.approx(74 / 102)
    assert judge["estimate"] == pytest.approx(214 / 400)
    assert str(audit.positive).casefold() == "pass"


def test_spellings_of_a_verdict_are_one_class():
    verdict, label = three_verdicts()
    spellings = ["Pass", "pass ", "pass"]
    words = {"P": "pass", "F": "Fail", "I": "unclear"}
    mixed = [spellings[k % 3] if text == "P" else WORDS[text] for k, text in enumerate(verdict)]
    audit = judge_audit(mixed, [words.get(text) for text in label])
    plain = judge_audit(verdict, label)
    values = [row["estimate"] for row in audit.rows()]
    by_label = {row["label"]: row for row in audit.stratum_rows()}
    assert sorted(by_label) == ["fail", "pass", "unclear"]
    assert values == pytest.approx([row["estimate"] for row in plain.rows()], nan_ok=True)
    assert "'Pass' in 72 cells is read as 'pass'" in notes(audit)
    assert judge_audit(mixed, [words.get(text) for text in label], classes="Fail,Unclear,PASS")


def test_people_who_say_a_class_that_the_judge_never_says():
    """The judge's I became F: strata of 214 and 186 items, of which people call 4 of 38 I."""
    verdict, label = three_verdicts()
    two = ["P" if text == "P" else "F" for text in verdict]
    rows = [row for row in judge_audit(two, label).rows() if row["label"] == "I"]
    assert rows[0]["estimate"] == pytest.approx(186 / 400 * 4 / 38)
    assert rows[2]["estimate"] == 0


def test_grades_of_a_judge_say_no_share_of_two_classes():
    verdict, label = three_verdicts()
    grade = {"P": 2, "I": 1, "F": 0}
    right = {"P": 1, "I": 0, "F": 0}
    audit = judge_audit([grade[text] for text in verdict], [right.get(text) for text in label])
    assert math.isnan(audit.rows()[2]["estimate"])


def test_people_who_all_say_the_same_of_three_verdicts():
    verdict, label = three_verdicts()
    label = ["P" if text else None for text in label]
    rule = "must name two classes, such as fail,pass: every human label"
    refused(lambda: judge_audit(verdict, label), "classes", rule)
    assert judge_audit(verdict, label, classes="F,P").rows()[0]["estimate"] == 1


def test_all_verdicts_may_be_named_where_people_use_fewer():
    """Each class has its proportion in each verdict, 0 where nobody says it."""
    verdict = ["P"] * 60 + ["F"] * 30 + ["I"] * 10
    label = ["P"] * 8 + ["F"] * 2 + [None] * 50 + ["F"] * 9 + ["P"] + [None] * 20 + ["F"] * 10
    found = judge_audit(verdict, label, classes="F,I,P")
    shares = {row["label"]: row["estimate"] for row in found.rows() if row["who"] == "corrected"}
    right = 0.6 * 8 / 10 + 0.3 * 1 / 10
    assert shares == pytest.approx({"P": right, "I": 0, "F": 1 - right})


def test_of_three_classes_all_are_named_or_none():
    verdict, label = three_verdicts()
    rule = "must name all classes of the human labels, 'F', 'I', 'P'"
    refused(lambda: judge_audit(verdict, label, classes="F,P"), "classes", rule, "got 'F, P'")
    refused(lambda: judge_audit([*verdict, *["U"] * 30], [*label, *[None] * 30]), "label", FEW)


def test_an_earlier_batch_with_all_its_verdicts_takes_them():
    verdict, label = earlier(140, 60, 20, 180)
    more = np.concatenate([verdict, [1] * 300 + [0] * 300])
    found = judge_audit([1] * 400 + [0] * 600, [*label, *[None] * 600], earlier=more)
    first, second, people, judge = found.rows()
    table = wb.ConfusionCounts([[140, 60], [20, 180]])
    mle = wb.estimate_prevalence(table, [600, 400], [460, 540], sampled_by="random")
    assert (first["who"], second["who"]) == ("corrected (mle)", "corrected (hull)")
    assert (first["estimate"], first["low"], first["high"]) == pytest.approx(
        (mle.estimate, *mle.interval())
    )
    assert (
        second["estimate"] == pytest.approx(1 / 6)
        and people["estimate"] == 0.5
        and judge["estimate"] == 0.4
    )
    assert "as often as on the earlier one" in notes(found)


def test_the_two_cases_say_what_they_assume():
    verdict, label = earlier(140, 60, 20, 180)
    assert "sampled at random" in notes(judge_audit(VERDICTS, LABELS))
    assert "has changed since" in notes(judge_audit([0] * 600 + [1] * 400, label, earlier=verdict))


@pytest.mark.parametrize(
    ("verdict", "label", "refusal"),
    [
        (
            ["pass"] * 9,
            ["pass"] * 9,
            ("verdict", "must hold different judge labels; all 9 are 'pass'"),
        ),
        (VERDICTS, [None] * 1000, ("label", "must hold the human label of at least one item")),
        (VERDICTS, LABELS[:-1], ("label", "must have an entry for each of 1,000 items", "got 999")),
        (
            VERDICTS,
            [None] * 700 + LABELS[700:],
            ("label", f"{FEW}. Of the 700 items with judge label 'pass', 0 have a human label"),
        ),
        (VERDICTS, [each and "good" for each in LABELS], ("label", TWO)),
        (VERDICTS, [each and 7 for each in LABELS], ("label", TWO)),
    ],
)
def test_what_does_not_fit_is_refused(verdict, label, refusal):
    refused(lambda: judge_audit(verdict, label), *refusal)


def test_grades_of_an_earlier_batch_are_refused():
    rule = "needs judge labels and human labels of the same two classes"
    refused(lambda: judge_audit([1, 2, 3, 4], [1, 0, 1], earlier=[1, 2, 3]), "earlier", rule)
