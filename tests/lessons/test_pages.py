"""Whole pages in a real browser: Voila's, answers typed into text boxes, and what axe-core says of every kind."""

import json
import time

import browser
import psutil
import pytest
import walking
from command import run, run_here

# what is predicted in each lesson, None where a line is drawn; how many pictures it then shows
PREDICTED = {
    "02-brr-orthogonal-arrays.ipynb": (("1,200", "by about 10%", "none", "85"), 9),
    "03-voila-vs-neyman.ipynb": (("25", "capped Neyman", "5%", "2.5 times"), 10),
    "04-misclassification-correction.ipynb": (
        (
            None,
            "both are equally close",
            "mixed",
            "about 2 points to either side, as for one month",
            "80%: subtract 20 points, then divide by .6",
        ),
        11,
    ),
    "05-cross-validation-t-tests.ipynb": (
        ("25%", "about .1", "about 60%", "not at all", "about 96%"),
        8,
    ),
}
IN_JUPYTERLAB = {
    "00-start.ipynb": (("93%",), 1),
    "01-stratified-accuracy.ipynb": (("30%", "95", "about 10", "about 7,000"), 9),
}
WORDS = "# How sure?\n\n## A <b>part</b>"
FIRST = "import workbench as wb"
WAITING = "import pathlib, time\nwhile not pathlib.Path('seen').exists(): time.sleep(.05)"
PRACTICE = 'answer = None\nwb.check("1.1", answer)'
GRADED = 'answer = None\nwb.check("1.2", answer, record="answers.json")'
WIDE = "wb.allocate(range(10, 40), 60, stratum_sd=range(1, 31))"
PHONE = 390, 800
# what sticks out to the right, where nothing scrolls
BEYOND = """[...document.querySelectorAll('#rendered_cells *')].filter(part => part.getBoundingClientRect().right
    > innerWidth + 1 && !part.closest('svg, table, pre, mjx-container')).map(part => part.outerHTML.slice(0, 200))"""


# of a chart: plots narrower than 100 px, texts below 11 px, names in legends
CROWDED = """chart => [
    [...chart.querySelectorAll('path.background')].filter(plot => !plot.closest('.role-legend'))
        .map(plot => plot.getBoundingClientRect().width).filter(width => width && width < 100),
    [...chart.querySelectorAll('svg text')].filter(text => parseFloat(getComputedStyle(text).fontSize)
        * text.ownerSVGElement.getBoundingClientRect().width / text.ownerSVGElement.getAttribute('width') < 11)
        .map(text => text.textContent),
    chart.querySelectorAll('.role-legend-label text').length]"""
SCENES = (
    "from workbench.lessons.cross_validation import views as cross_validation\n"
    "from workbench.lessons.misclassification import views as misclassification\ncross_validation.power(.6)",
    "cross_validation.scoreboard()",
    "misclassification.months('mixed')",
)


def boxes(page, count):
    """Wait for the text boxes and return them."""
    page.wait_for_function(
        "n => document.querySelectorAll('.workbench-answer form').length === n",
        arg=count,
        timeout=90_000,
    )
    return page.locator(".workbench-answer").all()


def says(box, text):
    """Wait until a text box says something that begins so."""
    box.page.wait_for_function(
        "([box, text]) => box.querySelector('.told').innerText.startsWith(text)",
        arg=[box.element_handle(), text],
    )
    return box.locator(".told").inner_text()


def predicts(page, choice):
    """Choose, or draw a line's first point higher, and lock it."""
    asked = page.locator(".widget-vbox:has(> button:has-text('Lock my prediction'))")
    asked = asked.filter(
        has=page.get_by_label(choice, exact=True) if choice else page.locator(".picture")
    ).first
    if choice:
        asked.get_by_label(choice, exact=True).check()
    else:
        asked.locator(".picture [role=button]").first.press("ArrowUp")
    asked.locator("button:has-text('Lock my prediction'):not([disabled])").click()
    asked.get_by_text("You predicted").wait_for(timeout=60_000)


def test_the_waiting_page_says_what_is_computed_and_what_comes(voila, axe):
    folder, address = voila.write(WAITING, "1 + 1", words=WORDS)
    context = voila.started.new_context(viewport={"width": PHONE[0], "height": PHONE[1]})
    page = context.new_page()
    page.goto(address, wait_until="commit")
    page.wait_for_function("document.querySelector('#loading_progress')?.value === 1")
    assert page.inner_text("#loading h1") == "How sure?"
    assert page.inner_text("#loading_text") == "Computing: cell 2 of 3."
    assert page.inner_text("#loading li") == "A <b>part</b>"
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE[0]
    assert browser.faults(page) == []
    (folder / "seen").touch()
    page.wait_for_selector("#loading", state="detached", timeout=60_000)
    assert "How sure?" in page.inner_text("main") and "time.sleep" not in page.inner_text("body")
    context.close()


def test_the_list_of_lessons_is_plain_links_and_asks_no_other_host(tmp_path, started, kernel):
    if browser.missing_voila():
        pytest.skip(browser.missing_voila())
    (tmp_path / "more & more").mkdir()
    browser.notebook(tmp_path / "00-start.ipynb", "print(6 * 7)")
    with (
        browser.voila(tmp_path, "--template=workbench") as address,
        browser.page(address.removesuffix("voila/render/"), started) as page,
    ):
        assert page.locator("a").all_inner_texts() == ["00-start", "more & more"]
        page.get_by_text("more & more").click()
        page.wait_for_url("**/voila/tree/more%20%26%20more")
        page.go_back()
        page.get_by_text("00-start").click()
        page.wait_for_selector("main pre")
        assert page.inner_text("main pre").strip() == "42"
        assert page.outside == [] == page.console_errors


def test_voila_shows_one_scene_at_a_time(voila, axe):
    texts = [
        "# Title",
        "Hello [term](#Second).",
        "## Part 1",
        "### First",
        "One.",
        "### Second",
        "Two.",
    ]
    folder, address = voila.write("print('seen')")
    nb = json.loads((folder / "lesson.ipynb").read_text())
    nb["cells"] = [
        {"cell_type": "markdown", "id": f"t{k}", "metadata": {}, "source": text}
        for k, text in enumerate(texts)
    ] + nb["cells"]
    (folder / "lesson.ipynb").write_text(json.dumps(nb))
    with browser.page(address.removesuffix("#all"), voila.started, size=PHONE) as page:
        page.wait_for_selector("#loading", state="detached", timeout=60_000)

        told = [text.lstrip("# ").replace("[term](#Second)", "term") for text in texts]

        def seen():
            return page.inner_text("#scenes span"), [
                text for text in told if page.locator(".jp-Cell", has_text=text).first.is_visible()
            ]

        assert seen() == ("1 of 3: Title", ["Title", "Hello term."])
        page.get_by_role("link", name="term").click()
        assert seen()[0] == "3 of 3: Second"
        page.get_by_role("button", name="Back").click()
        assert seen()[0] == "1 of 3: Title"
        assert page.get_by_role("button", name="Back").is_disabled()
        page.get_by_role("button", name="Next").click()
        assert seen() == ("2 of 3: First", ["Part 1", "First", "One."])
        page.get_by_role("button", name="Next").click()
        assert (
            seen() == ("3 of 3: Second", ["Second", "Two."])
            and page.get_by_text("seen", exact=True).is_visible()
        )
        assert page.get_by_role("button", name="Next").is_disabled() and browser.faults(page) == []
        page.reload()
        page.wait_for_selector("#loading", state="detached", timeout=60_000)
        assert seen()[0] == "3 of 3: Second"
        page.get_by_role("button", name="All on one page").click()
        assert seen()[1] == told
        page.get_by_role("button", name="One scene at a time").click()
        page.get_by_role("button", name="Back").click()
        assert seen()[0] == "2 of 3: First" and page.console_errors == [] == page.outside


def test_closing_the_page_ends_its_kernel(voila):
    _, address = voila.write(
        "import os\nprint('kernel', os.getpid())", f"import workbench as wb\n{PRACTICE}"
    )
    context = voila.started.new_context()
    other, page = context.new_page(), context.new_page()
    page.goto(address)
    boxes(page, 1)
    kernel = psutil.Process(int(page.inner_text("main pre").split()[1]))
    page.close(run_before_unload=True)
    end = time.monotonic() + 20
    while kernel.is_running() and time.monotonic() < end:
        other.wait_for_timeout(50)  # the page's requests pass through this process
    assert not kernel.is_running()
    context.close()


def test_exercises_are_answered_in_voila(voila):
    with voila.show(FIRST, PRACTICE, GRADED, size=PHONE) as page:
        practice, graded = boxes(page, 2)
        assert says(practice, "? 1.1 no answer: answer with (estimate, standard error)")
        field = page.get_by_label("Your answer to 1.1: (estimate, standard error)")
        field.fill("88%, 2.958%")
        field.press("Enter")
        told = says(practice, "✗ 1.1 mistake: no finite-population correction")
        assert "Hint: square the weights" in told and "Why:" not in told
        field.fill('<img src="x" onerror="document.title = 1">')
        practice.get_by_role("button", name="Check 1.1").click()
        says(practice, "… 1.1 not yet")
        field.fill("0.88, 0.02875")
        field.press("Enter")
        assert "Why: " in says(practice, "✓ 1.1 correct: 0.880 and 0.02875")
        assert graded.locator(".told").get_attribute("aria-live") == "polite"
        graded.locator("input").fill("<b>, 2")
        graded.locator("input").press("Enter")
        assert says(graded, "✎ 1.2 recorded: ['<b>', 2]; the exercise asks for five whole numbers")
        assert json.loads((page.folder / "answers.json").read_text()) == {"1.2": ["<b>", 2]}
        (page.folder / "answers.json").write_text("[")
        graded.get_by_role("button").click()
        says(graded, "answers.json is damaged")
        assert page.console_errors == [] == page.outside


@pytest.mark.full
def test_exercises_are_answered_in_lab(lab, axe):
    with lab.show(FIRST, PRACTICE, WIDE) as page:
        browser.run_all(page)
        (box,) = boxes(page, 1)
        box.locator("input").click()
        page.keyboard.type("(0.88, 0.02875)")
        page.keyboard.press("Enter")
        says(box, "✓ 1.1 correct")
        assert browser.faults(page, ".jp-Notebook .jp-OutputArea") == []
        assert page.console_errors == [] == page.outside


@pytest.mark.parametrize(
    "name", [*PREDICTED, *(pytest.param(name, marks=pytest.mark.full) for name in IN_JUPYTERLAB)]
)
def test_lessons_fit_a_phone_in_voila_and_have_no_fault(voila, axe, name):
    choices, pictures = (PREDICTED | IN_JUPYTERLAB)[name]
    with voila.show(path=browser.ROOT / "notebooks" / name, size=PHONE) as page:
        page.locator("button:has-text('Lock my prediction')").first.wait_for(timeout=90_000)
        for choice in choices:
            predicts(page, choice)
        page.locator(walking.LOCKED).first.wait_for(state="detached", timeout=60_000)
        browser.shows_chart(page, pictures)
        browser.still(page)
        assert page.locator(".workbench-chart").count() == pictures
        assert [
            found for index in range(pictures) for found in page.evaluate(walking.FAULTS, index)
        ] == []
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE[0]
        assert page.evaluate(BEYOND) == []
        assert browser.faults(page) == []
        assert page.console_errors == [] == page.outside


def test_pictures_of_several_parts_have_room_on_a_phone(voila):
    with voila.show(*SCENES, size=PHONE) as page:
        browser.shows_chart(page, len(SCENES))
        browser.still(page)
        charts = page.locator(".workbench-chart")
        assert [charts.nth(k).evaluate(CROWDED) for k in range(3)] == [
            [[], [], 4],
            [[], [], 3],
            [[], [], 3],
        ]
        assert [found for index in range(3) for found in page.evaluate(walking.FAULTS, index)] == []
        page.locator("select").select_option(label="all estimators")
        page.wait_for_function(
            "document.querySelectorAll('.workbench-chart')[2].innerText.includes('; audit proportion')"
        )
        assert charts.nth(2).evaluate(CROWDED) == [[], [], 7]
        assert page.outside == [] == page.console_errors


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """A page of each kind that is written, but slides: report, grades of a class and a student, keys, votes."""
    folder = tmp_path_factory.mktemp("written")
    run_here(folder, "report", "stratified-accuracy", "-o", "report.html")
    (folder / "ids.csv").write_text("id\nada\nbob\n")
    (folder / "secret").write_text("a secret of the lecturer's\n")
    run(folder, "course", "make", "--students", "ids.csv", "--secret", "secret", "-o", "out")
    (folder / "out" / "ada" / "answers.json").write_text('{"1.1": [0.88, 0.0288], "5.1": "late"}')
    (folder / "out" / "ada" / "predictions.json").write_text('{"5-repeats": "5%"}')
    run(folder, "course", "keys", "out", "--secret", "secret")
    run(folder, "course", "votes", "out")
    for words in ("grade", "strip"):
        run(
            folder,
            "course",
            words,
            "out",
            "--secret",
            "secret",
            "-o",
            f"{words}.{'csv' if words == 'grade' else 'html'}",
        )
    return folder


def test_written_pages_have_no_fault(written, started, axe):
    pages = sorted(written.rglob("*.html"))
    assert {"report.html", "strip.html", "votes.html"} < {path.name for path in pages} and len(
        pages
    ) >= 7
    found = {}
    for path in pages:
        with browser.page(path.as_uri(), started) as page:
            found[path.name] = browser.faults(page)
    assert found == dict.fromkeys(found, [])
