import re

import by_hand
import numpy as np
import pytest
import vl_convert

import workbench as wb
from workbench.extras.classroom.grading import OTHERS, Assessment, Graded, Grades
from workbench.extras.classroom.strip import chart, class_strip, strip_page
from workbench.extras.classroom.variants import AUDIT, task_of
from workbench.reports.parameters import ReportError

SECRET = b"a secret of the lecturer's"
STUDENTS = [f"s{k:02}" for k in range(60)]
TRUTH = 1576 / 1797


def answers():
    return {
        student: by_hand.answers(AUDIT, task_of(SECRET, student, AUDIT))[0] for student in STUDENTS
    }


def grades(given):
    return Grades(
        tuple(Graded(student, (), (), {AUDIT: answer}) for student, answer in given.items()), ()
    )


@pytest.fixture(scope="module")
def strip():
    unusable = {"none": None, "word": "high", "far": [7.0, 0.1], "three": [1, 2, 3]}
    return class_strip(grades(answers() | unusable), SECRET)


def test_it_counts_the_intervals_that_miss(strip):
    given = np.array(list(answers().values()))
    missed = int((np.abs(given[:, 0] - TRUTH) > 1.959964 * given[:, 1]).sum())
    assert strip.truth == pytest.approx(TRUTH) and (len(strip.rows), strip.left_out) == (60, 4)
    assert strip.missed == missed and 0 < missed < 15
    assert sorted(row["estimate"] for row in strip.rows) == sorted(given[:, 0].tolist())
    title, words = strip.texts()
    assert (
        title == f"{missed} of our 60 intervals missed the true accuracy"
        and "about 3 would" in words
        and "4 students gave" in words
    )


def test_it_counts_the_default_intervals_from_the_same_labels(strip):
    tasks = [task_of(SECRET, student, AUDIT) for student in STUDENTS]
    found = [
        wb.stratified_accuracy(task["size"], task["labeled"], task["right"]).interval()
        for task in tasks
    ]
    assert strip.default_missed == sum(not low <= TRUTH <= high for low, high in found)


def test_the_audits_of_a_class_are_random_samples_of_the_forms():
    """Their estimates scatter around the truth as much as their standard errors say."""
    given = np.array(list(answers().values()))
    assert given[:, 0].mean() == pytest.approx(TRUTH, abs=4 * 0.029 / 60**0.5)
    assert given[:, 0].std(ddof=1) == pytest.approx(given[:, 1].mean(), rel=0.35)


def test_it_names_nobody(strip):
    assert [row["audit"] for row in strip.rows] == list(range(1, 61))
    assert [row["estimate"] for row in strip.rows] != [answer[0] for answer in answers().values()]
    text = strip_page(strip)
    assert (
        not re.search(r"\bs\d\d\b", re.sub(r"base64,[^\"]+", "", text))
        and "data:image/png;base64,iVBOR" in text
    )
    drawn = chart(strip).to_dict()
    assert drawn["description"] == strip.texts()[1] and "s00" not in str(drawn)


def test_answers_to_somebody_elses_audit_leave_the_strip():
    given = dict(list(answers().items())[:10])
    own = class_strip(grades(given), SECRET)
    copy = Graded("copier", (Assessment(AUDIT, OTHERS),), (), {AUDIT: given["s03"]})
    found = class_strip(Grades((*grades(given).students, copy), ()), SECRET)
    assert (found.rows, found.left_out, found.copied) == (own.rows, 0, 1)
    assert found.texts()[1].endswith(
        " 1 answer was left out, because it is for another student's audit."
    )


def test_a_class_without_audits_is_told():
    with pytest.raises(
        ReportError, match=r"no student gave an estimate with its standard error in exercise 1\.1"
    ):
        class_strip(grades({"ada": None}), SECRET)


@pytest.mark.parametrize("students", [1, 2, 3, 60])
def test_its_ticks_are_audits_and_the_page_has_the_title_once(students):
    given = dict(list(answers().items())[:students])
    found = class_strip(grades(given), SECRET)
    texts = re.findall(r">([^<>]+)</text>", vl_convert.vegalite_to_svg(chart(found).to_json()))
    audits = texts[: texts.index("one audit per student, in random order")]
    assert set(audits) <= {str(k) for k in range(1, students + 1)} and str(students) in audits
    assert found.texts()[0] in texts
    assert "<h1>The audits of the class</h1>" in strip_page(found)
