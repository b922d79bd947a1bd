import contextlib
import html
import re

import browser
import nbformat
import pytest
from command import run

from workbench.extras.classroom.slides import slides, slides_page
from workbench.lessons.checking import exercises
from workbench.reports.pages import headings
from workbench.reports.parameters import ReportError, load_notebook, topics

TOPICS = topics()
# where one is, how many slides are seen, what sticks out, whether there is more than a title, whether it can be read
SHOWN = """() => {
    const slide = document.querySelector('.slide.now'), {right, bottom} = slide.getBoundingClientRect();
    const scale = /scale\\((.+)\\)/.exec(slide.querySelector('.fit').style.transform)?.[1] ?? 1;
    return [document.querySelector('#place').innerText,
        [...document.querySelectorAll('.slide')].filter(slide => slide.getBoundingClientRect().height).length,
        [...slide.querySelectorAll('.fit, .fit *')].map(part => [part, part.getBoundingClientRect()])
            .filter(([part, box]) => box.right > right + 1 || box.bottom > bottom + 1)
            .map(([part]) => part.outerHTML.slice(0, 80)),
        slide.innerText.trim() !== slide.querySelector('h1, h2').innerText || !!slide.querySelector('img'),
        scale >= .55];
}"""
SIZES = (1280, 720), (1920, 1080)


@pytest.fixture(scope="module")
def decks():
    return {topic: slides_page(topic, reveal=topic == "start") for topic in TOPICS}


@pytest.mark.kernel
def test_slides_reveal_what_learners_must_predict(decks):
    page, locked = decks["start"], slides_page("start", reveal=False)
    assert (
        "What percentage of the 1,797 forms does it read correctly?" in page
        and "Make your prediction first" not in page
    )
    assert (
        'alt="The mean confidence is 97.1%. The program is correct on 87.7% of the forms."' in page
    )
    assert "Make your prediction first" in locked and "87.7%" not in locked


def test_a_lesson_that_fails_is_one_line(tmp_path):
    broken = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_markdown_cell("# T"), nbformat.v4.new_code_cell("1 / 0")]
    )
    nbformat.write(broken, tmp_path / "b.ipynb")
    with pytest.raises(
        ReportError, match="^a cell of b.ipynb failed: ZeroDivisionError: division by zero$"
    ):
        slides_page(str(tmp_path / "b.ipynb"))


def test_every_scene_of_every_lesson_has_a_slide_and_solutions_have_none(decks):
    assert len(decks) == 6
    for topic, page in decks.items():
        titles = [html.unescape(title) for title in re.findall(r"<h[12]>(.*?)</h[12]>", page)]
        cells = [
            cell
            for cell in load_notebook(TOPICS[topic])["cells"]
            if not any(
                tag == "solution" or tag.startswith("if:")
                for tag in cell["metadata"].get("tags", [])
            )
        ]
        scenes = [text for _, text in headings(cells)]
        assert list(dict.fromkeys(titles)) == [text.replace("$", "") for text in scenes]
        asked = sum(number[0] == str(list(decks).index(topic)) for number in exercises())
        assert "Solutions" not in titles and titles.count("Exercises") == (
            0 if topic == "start" else 1 + asked
        )


def test_slides_need_nothing_from_outside(decks):
    for topic, page in decks.items():
        assert "default-src 'none'" in page and len(page) < 2_000_000
        assert not re.search(r"""(src|href|url)\s*[=(]\s*["']?\s*(https?:)?//""", page)
        pictures = re.findall(r"<img [^>]*>", page)
        assert len(pictures) >= (0 if topic == "start" else 3)
        assert all('src="data:image/png;base64,' in tag and 'alt="' in tag for tag in pictures)


def test_lists_are_shown_prose_and_code_are_said():
    text = "# A title\n\nFirst.\n\nSecond.\n\n- a list\n\n```\ncode\n\n# no heading\n```\n\n## Next\n\n$$a\n\n= b$$"
    cells = [nbformat.v4.new_markdown_cell(text), nbformat.v4.new_code_cell("f(1)")]
    first, second = slides(cells)
    assert [cell["source"] for cell in first.content] == [
        "First.",
        "- a list",
    ] and first.title == "A title"
    assert [cell["source"] for cell in first.notes] == ["Second.", "```\ncode\n\n# no heading\n```"]
    assert [cell["source"] for cell in second.content] == ["$$a\n\n= b$$"]
    assert [cell["source"] for cell in second.notes] == ["```python\nf(1)\n```"]


def test_a_picture_has_a_slide_of_its_own():
    picture = nbformat.v4.new_output(
        "display_data", {"image/png": "iVBOR", "text/plain": "Chart: a line"}
    )
    cells = [
        nbformat.v4.new_markdown_cell("# T\n\nText."),
        nbformat.v4.new_code_cell("draw()", outputs=[picture]),
        nbformat.v4.new_markdown_cell("1. look"),
    ]
    assert [len(slide.content) for slide in slides(cells)] == [1, 1, 1]


def test_the_same_in_code_is_for_the_speaker():
    tagged = {"tags": ["lesson", "code"]}
    printed = nbformat.v4.new_output("display_data", {"image/png": "iVBOR", "text/plain": "4148"})
    cells = [
        nbformat.v4.new_markdown_cell("# T\n\n## Shares"),
        nbformat.v4.new_markdown_cell("**The same in code.** Sums.\n\n- a list", metadata=tagged),
        nbformat.v4.new_code_cell("wb.sum()", metadata=tagged, outputs=[printed]),
        nbformat.v4.new_markdown_cell("Seen."),
    ]
    first, second = slides(cells)
    assert [cell["source"] for cell in first.content] == ["- Shares"]
    assert [cell["source"] for cell in second.content] == ["Seen."]
    assert [cell["source"] for cell in second.notes] == [
        "**The same in code.** Sums.\n\n- a list",
        "```python\nwb.sum()\n```",
    ]


def test_the_command_writes_one_file(tmp_path):
    done = run(tmp_path, "course", "slides", "start", "-o", "out/s.html")
    assert (done.returncode, done.stdout) == (0, "Wrote out/s.html\n") and (
        tmp_path / "out" / "s.html"
    ).is_file()
    done = run(tmp_path, "course", "slides", "voila")
    assert (
        done.returncode == 2
        and done.stderr.startswith("Error: no topic 'voila'")
        and done.stderr.count("\n") == 1
    )
    (tmp_path / "x.ipynb").write_text("{}")
    done = run(tmp_path, "course", "slides", "x.ipynb")
    assert done.returncode == 2 and done.stderr.endswith(
        "'x.ipynb' is not a notebook of format 4\n"
    )


def test_a_part_begins_with_its_question_and_its_scenes():
    asked = nbformat.v4.new_output("display_data", {"text/plain": "Prediction: How many?"})
    cells = [
        nbformat.v4.new_markdown_cell("# T\n\n## Part 1 of 2\n\n## Predict first\n\nAlone."),
        nbformat.v4.new_code_cell("f()", outputs=[asked]),
        nbformat.v4.new_markdown_cell("## Part 2 of 2\n\n## End\n\nx"),
    ]
    shown = {slide.title: [cell["source"] for cell in slide.content] for slide in slides(cells)}
    assert shown["Part 1 of 2"] == ["**How many?**", "- Predict first"] and shown[
        "Part 2 of 2"
    ] == ["- End"]


def test_a_control_that_says_nothing_is_not_shown(tmp_path):
    code = (
        "import ipywidgets\nipywidgets.IntSlider()",
        "import workbench as wb\nwb.allocate([9, 9], 8, 'equal')",
    )
    cells = [nbformat.v4.new_markdown_cell("# T\n\nx"), *map(nbformat.v4.new_code_cell, code)]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), tmp_path / "w.ipynb")
    page = slides_page(str(tmp_path / "w.ipynb"))
    assert "IntSlider(value" not in page and "<table" in page


def all_fit(page):
    """Step through the slides at both sizes; return how many there are."""
    count = page.locator(".slide").count()
    for width, height in SIZES:
        page.set_viewport_size({"width": width, "height": height})
        page.keyboard.press("Home")
        for place in range(1, count + 1):
            assert page.evaluate(SHOWN) == [f"{place} / {count}", 1, [], True, True], (
                page.url,
                place,
                width,
            )
            page.keyboard.press("ArrowRight")
    return count


@pytest.mark.full
def test_every_slide_of_a_lecture_fits(tmp_path, chrome):
    with contextlib.closing(chrome.new_page()) as page:
        for topic in TOPICS:
            (tmp_path / f"{topic}.html").write_text(slides_page(topic), encoding="utf-8")
            page.goto((tmp_path / f"{topic}.html").as_uri())
            all_fit(page)


def test_a_wide_table_is_made_smaller(tmp_path, chrome):
    wide = "|".join(f"word{k}" for k in range(30))
    text = f"# T\n\nx\n\n## Wide\n\n{wide}\n{'|'.join(['---'] * 30)}\n{wide}"
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell(text)])
    nbformat.write(notebook, tmp_path / "w.ipynb")
    (tmp_path / "w.html").write_text(
        slides_page(str(tmp_path / "w.ipynb"), reveal=False), encoding="utf-8"
    )
    with contextlib.closing(chrome.new_page(viewport={"width": 1280, "height": 720})) as page:
        page.goto((tmp_path / "w.html").as_uri())
        page.keyboard.press("ArrowRight")
        assert page.evaluate(SHOWN)[2] == []


def test_keys_step_notes_open_and_every_slide_fits(decks, tmp_path, chrome, axe):
    with contextlib.closing(chrome.new_page()) as page:
        problems = []
        page.on(
            "console",
            lambda message: problems.append(message.text) if message.type == "error" else None,
        )
        page.on("pageerror", lambda error: problems.append(str(error)))
        for topic, text in decks.items():
            (tmp_path / f"{topic}.html").write_text(text, encoding="utf-8")
            page.goto((tmp_path / f"{topic}.html").as_uri())
            count = all_fit(page)
            page.keyboard.press("ArrowLeft")
            assert page.locator("#place").inner_text() == f"{count - 1} / {count}"
            page.keyboard.press("Home")
            assert page.locator("#place").inner_text() == f"1 / {count}"
            assert page.locator(".notes:visible").count() == 0
            page.keyboard.press("n")
            assert page.locator(".notes:visible").count() == 1
        assert browser.faults(page) == []
    assert problems == []
