"""A class in Voila: predictions come back by name, are voted on, and kernels of browsers that are gone end."""

import contextlib
import http.client
import json
import re
from urllib.parse import urlsplit

import browser
import nbformat
import psutil
import pytest
from command import run
from nbconvert.exporters.templateexporter import TemplateExporter
from playwright.sync_api import expect

from workbench.extras.classroom.votes import lesson_questions

ASKED = ("0-sure", "1-gain", "3-thousands", "5-repeats")
QUESTIONS = """from workbench.extras.classroom.votes import lesson_questions
display(*(asked for asked in lesson_questions() if asked.name in {asked!r}))"""
TOPS = """[...document.querySelectorAll('main .widget-radio-box label')].map(label => {
    const text = document.createRange();
    text.selectNodeContents(label.firstChild);
    return [label.querySelector('input').getBoundingClientRect().top, text.getBoundingClientRect()];
})"""
CHART = """import altair as alt
from workbench.charts import theme
from workbench.widgets.chart_view import ChartView
bars = alt.Chart(theme.rows("bars", [{"n": 3}])).mark_bar().encode(x="n:Q")
ChartView(theme.finish(bars, "Three", "One bar: 3."))"""


@contextlib.contextmanager
def serving(folder):
    """Serve a folder as a lecturer does: `voila`, started in it."""
    if browser.missing_voila():
        pytest.skip(browser.missing_voila())
    with browser.voila(folder) as address:
        yield address


@pytest.fixture
def folder(tmp_path):
    """What `workbench lab --copy-only` makes."""
    assert run(tmp_path, "lab", "class", "--copy-only").returncode == 0
    return tmp_path / "class"


def locked(page):
    """Wait for the questions; return what each says was predicted."""
    page.wait_for_selector("button:has-text('Lock my prediction')", timeout=60_000)
    page.wait_for_function("document.querySelectorAll('main .widget-radio-box').length === 4")
    return re.findall(r"You predicted (.+?) \(saved for (\w+)\)", page.inner_text("main"))


def choices():
    questions = {asked.name: asked for asked in lesson_questions()}
    return {name: questions[name].control.options[number % 2] for number, name in enumerate(ASKED)}


def test_four_predictions_come_back_after_reloads_and_a_restart_and_are_votes(
    folder, started, tmp_path
):
    browser.notebook(folder / "99-asked.ipynb", QUESTIONS.replace("{asked!r}", repr(ASKED)))
    wanted = choices()
    with (
        serving(folder) as address,
        browser.page(f"{address}99-asked.ipynb?learner=Ada", started) as page,
    ):
        expect(page.locator("#learner")).to_contain_text("saved for Ada")
        assert locked(page) == []
        asked = page.locator("main .widget-vbox:has(> .widget-radio)").all()
        for box, choice in zip(asked, wanted.values(), strict=True):
            box.get_by_label(choice, exact=True).check()
            box.locator("button:has-text('Lock my prediction'):not([disabled])").click()
        page.get_by_text("You predicted").nth(3).wait_for()
        for _ in range(2):
            page.reload()
            page.get_by_text("You predicted").nth(3).wait_for(timeout=60_000)
            assert locked(page) == [(choice, "ada") for choice in wanted.values()]
        assert page.outside == [] == page.console_errors
    with (
        serving(folder) as address,
        browser.page(f"{address}99-asked.ipynb?learner=ada", started) as page,
    ):
        page.get_by_text("You predicted").nth(3).wait_for(timeout=60_000)
    done = run(tmp_path, "course", "votes", folder / "learners")
    assert (done.returncode, done.stdout) == (0, "4 questions with predictions\nWrote votes.html\n")
    told = (tmp_path / "votes.html").read_text(encoding="utf-8")
    assert (
        told.count("1 prediction, 0 missing.") >= 4
        and "ada" not in re.sub('base64,[^"]+', "", told).lower()
    )


def test_a_choice_of_several_lines_is_read_on_a_phone(folder, started):
    browser.notebook(
        folder / "99-asked.ipynb", CHART, QUESTIONS.replace("{asked!r}", "['4-change']")
    )
    with (
        serving(folder) as address,
        browser.page(f"{address}99-asked.ipynb", started, size=(360, 800)) as page,
    ):
        page.wait_for_selector("main .workbench-chart svg")
        page.wait_for_selector("main .widget-radio-box input")
        buttons, texts = zip(*page.evaluate(TOPS), strict=True)
        assert max(text["height"] for text in texts) > 30
        for above, text, button in zip([{"bottom": 0}, *texts], texts, buttons, strict=False):
            assert above["bottom"] <= text["top"] + 1 and abs(button - text["top"]) < 8


def test_the_list_names_no_solutions_and_keeps_the_learners_name(folder, started):
    (folder / "learners").mkdir()
    browser.notebook(folder / "00-start.ipynb", "import os\nprint(os.environ['QUERY_STRING'])")
    with (
        serving(folder) as address,
        browser.page(address.removesuffix("voila/render/"), started) as page,
    ):
        assert [text[:2] for text in page.locator("a").all_inner_texts()] == [
            "00",
            "01",
            "02",
            "03",
            "04",
            "05",
            "06",
        ]
        expect(page.locator("#learner")).to_contain_text("are lost when you leave")
        page.fill("#learner input", "k-17")
        page.click("#learner button")
        page.wait_for_url("**learner=k-17")
        page.get_by_text("00-start").click()
        page.wait_for_selector("main pre")
        assert page.inner_text("main pre").strip() == "learner=k-17"
        assert browser.faults(page) == []


def test_a_kernel_whose_browser_is_gone_ends(folder):
    """The settings as they are written, but for seconds in the place of minutes."""
    settings = json.loads((folder / "voila.json").read_text())
    settings["MappingKernelManager"] = {
        name: seconds // 200 or 1 for name, seconds in settings["MappingKernelManager"].items()
    }
    (folder / "voila.json").write_text(json.dumps(settings))
    browser.notebook(folder / "99-kernel.ipynb", "import os\nprint('kernel', os.getpid())")
    with serving(folder) as address:
        where = urlsplit(f"{address}99-kernel.ipynb")
        with contextlib.closing(
            http.client.HTTPConnection(where.hostname, where.port, timeout=60)
        ) as asked:
            asked.request("GET", where.path)
            kernel = psutil.Process(
                int(re.search(r"kernel (\d+)", asked.getresponse().read().decode())[1])
            )
        assert kernel.is_running()
        assert not psutil.wait_procs([kernel], 40)[1]


@pytest.mark.full
def test_two_students_at_the_same_moment_see_the_same_twenty_times(folder, started):
    browser.notebook(folder / "99-chart.ipynb", CHART)
    with serving(folder) as address, contextlib.ExitStack() as stack:
        for _ in range(20):
            pages = [stack.enter_context(browser.page("about:blank", started)) for _ in range(2)]
            for page in pages:
                page.evaluate(
                    "address => { setTimeout(() => { location.href = address; }, 50); }",
                    f"{address}99-chart.ipynb",
                )
            for page in pages:
                page.wait_for_selector("main .workbench-chart svg", timeout=90_000)
                assert (
                    "Failed to initialize" not in page.inner_text("body")
                    and page.console_errors == []
                )
                page.goto("about:blank")


def test_cells_of_code_are_neither_run_nor_shown(tmp_path):
    if browser.missing_voila():
        pytest.skip(browser.missing_voila())
    from voila.exporter import VoilaExporter

    template = browser.ROOT / "workbench" / "voila_template"
    (tmp_path / "voila" / "templates").mkdir(parents=True)
    (tmp_path / "voila" / "templates" / "workbench").symlink_to(template)
    exporter = VoilaExporter(
        template_name="workbench", extra_template_basedirs=[str(tmp_path / "voila" / "templates")]
    )
    cells = [
        nbformat.v4.new_markdown_cell("**The same in code.**", metadata={"tags": ["code"]}),
        nbformat.v4.new_code_cell("1 / 0", metadata={"tags": ["lesson", "code"]}),
        nbformat.v4.new_code_cell("shown", metadata={"tags": ["lesson"]}),
    ]
    notebook = nbformat.v4.new_notebook(cells=cells)
    left, _ = super(TemplateExporter, exporter).from_notebook_node(notebook)
    assert [cell.source for cell in left.cells] == ["shown"]
