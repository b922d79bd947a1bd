import pytest

from workbench.extras.papers import box


@pytest.mark.parametrize(
    ("paper", "item"),
    [("kloos", "table1"), ("grandvalet-bengio", "lemma1"), ("micheals-boult", "section2.2")],
)
def test_a_click_runs_the_chosen_item_and_shows_its_claims(monkeypatch, paper, item):
    shown = []
    monkeypatch.setattr("IPython.display.display", lambda *each: shown.extend(each))
    widget = box.replay_box(paper)
    chosen, (button, told), _ = widget.children[0], widget.children[1].children, widget.children[2]
    chosen.value = f"{paper}/{item}"
    button.click()
    assert (
        shown[0].name == f"{paper}/{item}"
        and shown[0].rows()
        and not button.disabled
        and told.value == ""
    )
    assert all(option[1].startswith(f"{paper}/") for option in chosen.options)


def test_a_figure_is_shown_with_its_text_alternative(monkeypatch):
    shown = []
    monkeypatch.setattr("IPython.display.display", lambda *each: shown.extend(each))
    widget = box.replay_box("nguyen")
    widget.children[0].value = "nguyen/fig2"
    widget.children[1].children[0].click()
    assert len(shown) == 2 and shown[1].alternative


def test_an_unknown_paper_is_refused():
    with pytest.raises(
        ValueError, match=r"paper must be one of .*; got 'kloss' \(did you mean 'kloos'\?\)"
    ):
        box.replay_box("kloss")
