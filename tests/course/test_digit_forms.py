import dataclasses

import numpy as np
from refusals import refused

from workbench.course.digit_forms import DigitForms, digit_forms


def test_digit_forms_are_the_published_ones():
    forms = digit_forms()
    first, second = forms.items(), forms.items("b")
    assert (int(first.correct.sum()), int(second.correct.sum())) == (1576, 1728)
    assert int(np.sum(first.correct & ~second.correct)) == 13
    assert int(np.sum(~first.correct & second.correct)) == 165
    assert round(forms.confidence.mean(), 3) == 0.971
    assert int(np.sum(np.round(forms.confidence, 6) == 1)) == 655
    assert first.id[[0, -1]].tolist() == [1, 1797]
    assert np.array_equal(second.score, forms.vote_share)
    assert np.bincount(forms.place).tolist() == [1000, 600, 160, 37]
    assert forms.image.shape == (1797, 8, 8) and set(forms.box.tolist()) == set(range(1, 15))
    assert forms.margin.min() > 0 and 0 < forms.vote_share.min() < forms.vote_share.max() <= 1
    assert forms is digit_forms() and len(forms.rows()) == 1797
    refused(lambda: forms.items("c"), "reader", "must be one of 'a', 'b'", "got 'c'")


def test_digit_forms_fifths():
    items = digit_forms().items()
    right = items.correct[np.argsort(items.score, kind="stable")]
    cuts = -(-np.arange(6) * 1797 // 5)
    fifths = [round(right[low:high].mean(), 3) for low, high in zip(cuts, cuts[1:], strict=False)]
    assert fifths == [0.581, 0.855, 0.961, 0.989, 1.0]


def test_a_changed_fingerprint_is_an_error(monkeypatch):
    monkeypatch.setattr("workbench.course.digit_forms.FORMS_DIGEST", "0")
    refused(digit_forms.__wrapped__, "digit_forms", "must have SHA-256 0; got 104b93b98a")


def test_one_form_in_one_box_is_spoken_of_in_the_singular():
    forms = digit_forms()
    one = DigitForms(
        *(
            getattr(forms, field.name)[:1]
            for field in dataclasses.fields(forms)
            if field.name != "notes"
        )
    )
    assert one.headline().startswith("1 form in 1 box, ")
