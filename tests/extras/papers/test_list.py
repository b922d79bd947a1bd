"""Every numbered item of the papers can be replayed; kept here as the papers number them."""

import pytest

import workbench as wb
from workbench.extras.papers import registry


def numbered(kind, last, first=1):
    return [f"{kind}{k}" for k in range(first, last + 1)]


# tables, figures, algorithms, lemmas, theorems, propositions, remarks, definitions, criteria; of Micheals & Boult
# equations too
ITEMS = {
    "kumar-raj": [
        "eq13",
        "eq14",
        "lemma1",
        *numbered("proposition", 4),
        *numbered("remark", 2),
        *numbered("algorithm", 2),
        *numbered("fig", 9),
    ],
    "micheals-boult": [*numbered("criterion", 3), *numbered("eq", 25), *numbered("fig", 2)],
    "nguyen": [
        "eq1",
        "eq2",
        "eq5",
        "eq6",
        *numbered("lemma", 5),
        *numbered("theorem", 5),
        *numbered("definition", 2),
        "observation1",
        *numbered("algorithm", 6),
        *numbered("fig", 15),
    ],
    "kloos": [*numbered("table", 3), "lemma1", "theorem1", *numbered("fig", 3)],
    "grandvalet-bengio": [
        *numbered("lemma", 2),
        "theorem1",
        *numbered("proposition", 2),
        *numbered("table", 2),
    ],
}
# what has no number there but a name
UNNUMBERED = {
    "kumar-raj/abstract",
    "kumar-raj/section3.5",
    "kumar-raj/section4.3",
    "micheals-boult/section2.2",
    "micheals-boult/cochran",
    "micheals-boult/kish",
    "micheals-boult/section5.1",
    "micheals-boult/section7.1",
    "micheals-boult/section7.3",
    "micheals-boult/section7.4",
    "micheals-boult/definition",
    "nguyen/introduction",
    "nguyen/section3.2",
    "kloos/section4",
    "kloos/appendix",
    "grandvalet-bengio/section3",
    "grandvalet-bengio/section5",
}
# some of the papers' own places
SECTIONS = {
    "kumar-raj/fig8": ("4.3.1", "Figure 8"),
    "micheals-boult/eq12": ("7.2", "Equation 12"),
    "micheals-boult/kish": ("5.1", "Kish"),
    "nguyen/theorem4": ("5.1", "Theorem 4"),
    "nguyen/section3.2": ("3.2", "Section 3.2"),
    "kloos/appendix": ("appendix", "Appendix"),
    "grandvalet-bengio/proposition2": ("4.2", "Proposition 2"),
}


def test_the_list_is_that_of_the_papers():
    names = [row["name"] for row in wb.replay_list().rows()]
    wanted = {f"{paper}/{item}" for paper, items in ITEMS.items() for item in items}
    assert set(names) == wanted | UNNUMBERED and len(names) == len(set(names))


@pytest.mark.parametrize("name", SECTIONS)
def test_an_item_says_where_the_paper_has_it_and_what_people_call_it(name):
    item = registry.find(name)
    assert (item.section, item.heading) == SECTIONS[name]


def test_papers_stand_together_in_their_order():
    papers = [row["name"].split("/")[0] for row in wb.replay_list().rows()]
    assert list(dict.fromkeys(papers)) == list(ITEMS)
    assert papers == sorted(papers, key=list(ITEMS).index)


def test_each_item_says_what_is_claimed_what_it_takes_and_on_what_it_is_run():
    rows = wb.replay_list().rows()
    assert all(row["claim"].strip() and row["data"].strip() and row["seconds"] >= 1 for row in rows)
    assert sum(row["seconds"] for row in rows) < 600


@pytest.mark.parametrize(
    "wrong, text",
    [
        (
            "kloos/fig9",
            "name must be an item of `workbench papers replay list`; got 'kloos/fig9' (did you mean 'kloos/fig3'?)",
        ),
        ("nothing", "name must be an item of `workbench papers replay list`; got 'nothing'"),
    ],
)
def test_an_unknown_name_is_told(wrong, text):
    with pytest.raises(ValueError) as caught:
        wb.replay(wrong)
    assert str(caught.value) == text


def test_a_file_is_refused_where_none_is_taken():
    with pytest.raises(
        ValueError, match="^data must not be given for kloos/table1, which takes no file"
    ):
        wb.replay("kloos/table1", data="letter.csv")


def test_the_library_does_not_load_them_before_they_are_asked_for():
    import subprocess
    import sys

    code = (
        "import sys, workbench; print('workbench.extras.papers' in sys.modules); workbench.replay; "
        "print('altair' in sys.modules)"
    )
    assert subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split() == ["False", "False"]
    with pytest.raises(AttributeError, match="replays_of"):
        wb.replays_of  # noqa: B018
