import pytest
from refusals import refused

from workbench.extras.papers import box


@pytest.mark.parametrize(
    ("paper", "item"),
    [("kloos", "table1"), ("grandvalet-bengio", "lemma1"), ("micheals-boult", "section2.2")],
)
def test_a_click_runs_the_chosen_item_and_shows_its_claims(paper, item):
    widget = box.replay_box(paper)
    chosen, (button, status), shown = (
        widget.children[0],
        widget.children[1].children,
        widget.children[2],
    )
    chosen.value = f"{paper}/{item}"
    button.click()
    assert "<table" in shown.children[0].value and f"{paper}/{item}" in shown.children[0].value
    assert not button.disabled and status.value == ""
    assert all(option[1].startswith(f"{paper}/") for option in chosen.options)


def test_a_figure_is_shown_with_its_text_alternative():
    widget = box.replay_box("nguyen")
    widget.children[0].value = "nguyen/fig2"
    widget.children[1].children[0].click()
    _, picture = widget.children[2].children
    assert picture.alternative


def test_an_unknown_paper_is_refused():
    told = "got 'kloss' (did you mean 'kloos'?)"
    refused(lambda: box.replay_box("kloss"), "paper", "must be one of", told)
