"""Text of a user is text on every page, and HTML of others loads and runs nothing."""

import datetime
import re
from html.parser import HTMLParser

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from workbench import results
from workbench.extras.classroom import pages as classroom_pages
from workbench.extras.classroom.grading import Assessment, Graded
from workbench.extras.papers.claims import put_in
from workbench.extras.papers.page import page as replay_page
from workbench.extras.papers.result import Replay
from workbench.reports import pages, templates

PIXEL = "iVBORw0KGgo"
ATTACKS = (
    "<script>window.bad = 1</script>",
    '"><img src=x onerror="window.bad = 1">',
    "'><svg onload=window.bad=1>",
    '<a href="java&#10;script:window.bad=1">a</a>',
    '<iframe srcdoc="<script>parent.bad=1</script>"></iframe>',
    '<meta http-equiv="refresh" content="0; url=http://x.invalid/"><base href="http://x.invalid/">',
    "<!--><img src=x onerror=window.bad=1>-->",
    '<form action="javascript:window.bad=1"><button>b</button></form>',
    "<svg><style><img src=x onerror=window.bad=1></style></svg>",
    "{{ 7 * 7 }}{% include 'report.css' %}",
    "</style><script>window.bad = 1</script>",
    "\0<img src=x onerror=window.bad=1>",
)


class Parsed(HTMLParser):
    """What a page has that loads, runs or leads away."""

    def __init__(self, page):
        super().__init__()
        self.bad = []
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.bad += [tag] if tag in ("script", "iframe", "base", "form", "object", "svg") else []
        self.bad += [
            (tag, name, value)
            for name, value in attributes
            if name.startswith("on")
            or (
                name in ("src", "href", "action", "srcset")
                and "script:" in "".join((value or "").split())
            )
        ]


def hostile_notebook(attack):
    rows = [{attack: attack, "x": 0.5}, {attack: attack, "x": 0.25}]
    shown = results.Table(rows, attack, notes=[results.Note("data", attack)])
    picture = new_output(
        "display_data",
        {"image/png": PIXEL, "text/plain": attack},
        metadata={"image/png": {"alt": attack}},
    )
    outputs = [
        new_output("display_data", {"text/html": shown._repr_html_()}),
        picture,
        new_output("stream", name="stdout", text=attack),
        new_output("display_data", {"text/plain": attack}),
        new_output("stream", name="stderr", text=attack),
        new_output("display_data", {"text/latex": attack}),
    ]
    stated = new_code_cell("", outputs=outputs[2:3], metadata={"tags": ["finding"]})
    return new_notebook(
        cells=[new_markdown_cell("# T"), stated, new_code_cell("", outputs=outputs)]
    )


def hostile_pages(attack):
    """Yield every kind of page that text of a user goes to."""
    about = {
        "title": attack,
        "titled": False,
        "inputs": [],
        "seed": None,
        "command": attack,
        "date": datetime.datetime.now(datetime.UTC),
        "software": [(attack, attack)],
        "parameters": [{"name": attack, "value": attack, "meaning": attack, "role": "file"}],
    }
    yield templates.render(
        "page.html.j2", **vars(pages.body(hostile_notebook(attack), ".", attack)), **about
    )
    row = put_in(attack, attack, attack)
    yield replay_page([Replay("kloos/table1", attack, (row,), (), False, attack)], attack)
    yield classroom_pages.page(
        "votes.html.j2",
        title=attack,
        votes=[
            {
                "question": attack,
                "words": attack,
                "picture": templates.picture("image/png", PIXEL, attack),
            }
        ],
    )
    yield classroom_pages.student_page(
        Graded(attack, (Assessment("1.1", "no answer", attack, attack),), (attack,), {})
    )


@pytest.mark.parametrize("attack", ATTACKS)
def test_no_text_becomes_markup_on_any_page(attack):
    for page in map(str, filter(None, hostile_pages(attack))):
        assert Parsed(page).bad == []
        assert attack not in page.replace("{{ 7 * 7 }}", "")


@pytest.mark.parametrize("attack", ATTACKS)
def test_html_of_others_loads_and_runs_nothing(attack):
    foreign = new_output(
        "display_data", {"text/html": f"<p title='t'>{attack}</p><table><tr><td>{attack}</table>"}
    )
    page = pages.body(new_notebook(cells=[new_code_cell("", outputs=[foreign])]), ".").content
    assert [each for each in Parsed(page).bad if each not in ("svg", "form")] == []


def test_html_of_others_is_closed_and_its_tables_scroll_below_their_caption():
    table = "<div><b>open<table class='dataframe'><caption>c</caption><tr><th>a<td>b</tr><tr><td>x<td>1,000</table>"
    cells = [new_code_cell("", outputs=[new_output("display_data", {"text/html": table})])]
    assert pages.body(new_notebook(cells=cells), ".").content.endswith(
        "</table></div></figure></b></div></div>"
    )
    figure = re.search(r"<figure.*</figure>", pages.body(new_notebook(cells=cells), ".").content)[0]
    assert figure.startswith(
        '<figure class="table"><figcaption>c</figcaption><div class="scroll"><table class="dataf'
    )


def test_a_note_is_said_once_and_an_empty_list_of_notes_not_at_all():
    note, other = results.Note("data", "is <b>odd</b>"), results.Note("data", "is odd too")
    shown = [
        results.Table([{"k": 1}], "t", notes=notes)._repr_html_()
        for notes in ([note], [note], [note, other])
    ]
    outputs = [
        new_output("display_data", {"text/html": text})
        for text in [*shown, "<p>Notes:</p><ul><li>mine</ul>"]
    ]
    page = pages.body(new_notebook(cells=[new_code_cell("", outputs=outputs)]), ".").content
    assert re.findall(r"<li>(.*?)</li>", page) == [
        "is &lt;b&gt;odd&lt;/b&gt;",
        "is odd too",
        "mine",
    ]
    assert page.count("<p>Notes:</p>") == 3
