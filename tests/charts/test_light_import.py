import subprocess
import sys

import numpy as np
import pytest
from sklearn.datasets import load_digits

import workbench as wb
from workbench.charts import theme

LESSON = """
import sys
import workbench as wb
from workbench.extras.papers.box import replay_box
from workbench.lessons.stratified import views
wb.digit_forms()
replay_box("kumar-raj")
print(*sorted(sys.modules))
"""
ADDRESSES = """
import workbench.charts.theme
import jsonschema
iri = jsonschema.Draft202012Validator({"format": "iri"},
                                      format_checker=jsonschema.Draft202012Validator.FORMAT_CHECKER)
print(iri.is_valid("https://example.org/\\u00e4"), iri.is_valid("no address"))
"""


def said(code):
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()


def test_the_start_of_a_lesson_imports_neither_scikit_learn_nor_what_it_draws_in():
    loaded = said(LESSON)
    assert "altair" in loaded and "jsonschema" in loaded
    assert not {"sklearn", "scipy.stats", "pandas", "rfc3987_syntax", "vl_convert"} & set(loaded)


def test_addresses_are_checked_as_before_where_their_grammars_are_installed():
    pytest.importorskip("rfc3987_syntax")
    assert said(ADDRESSES) == ["True", "False"]


def test_the_digits_are_those_of_scikit_learn():
    images, digits = load_digits().images, load_digits().target
    forms = wb.digit_forms()
    assert np.array_equal(forms.image, images) and np.array_equal(forms.digit, digits)


def test_rows_become_a_list_again_in_the_specification():
    given = [{"n": 1}, {"n": 2}]
    assert theme.rows("bars", iter(given)).to_dict() == {"values": given, "name": "bars"}
