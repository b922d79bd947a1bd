"""The site's pages of the lessons: what waits for a prediction is folded, exercises stay unanswered."""

import json
import re
from pathlib import Path

import lesson_pages
import pytest

ROOT = Path(__file__).parent.parent
LESSON = ROOT / "notebooks" / "03-voila-vs-neyman.ipynb"
LOCKED = "Make your prediction first."


def output(text, **data):
    return {"output_type": "execute_result", "data": {"text/plain": text, **data}}


def code(name, source, text, *tags):
    return {
        "cell_type": "code",
        "id": name,
        "source": source,
        "metadata": {"tags": ["lesson", *tags]},
        "outputs": [output(text)],
    }


def scene(text, **more):
    return {"text": text, "choices": [], "pictures": [], "tables": []} | more


def test_what_waits_is_folded_and_what_does_not_is_open():
    cell = code("place", 'wb.reveal("3-t", lesson.place)', LOCKED, "interactive")
    drawn = scene("ChartView: A bar <3>.\nTwo & two.", pictures=["place.png"], tables=["<table>"])
    (cell_of_page,) = lesson_pages.site_cells(cell, drawn, "03")
    assert re.findall(r"</?details>|<summary>.*</summary>", cell_of_page["source"]) == [
        "<details>",
        "<summary>Show the result</summary>",
        "</details>",
    ]
    assert '../../build/outputs/lessons/03/place.png\n:alt: "A bar <3>."' in cell_of_page["source"]
    assert "<p>Two &amp; two.</p>" in cell_of_page["source"] and "<table>" in cell_of_page["source"]
    (cell_of_page,) = lesson_pages.site_cells(
        cell | {"outputs": [output(drawn["text"])]}, drawn, "03"
    )
    assert "details" not in cell_of_page["source"] and "place.png" in cell_of_page["source"]


def test_folds_that_follow_each_other_are_one():
    calls = [code(name, "lesson.place()", LOCKED, "interactive") for name in "ab"]
    texts = [scene("First."), scene("Second.")]
    folds = [
        lesson_pages.site_cells(cell, text, "03")[0]
        for cell, text in zip(calls, texts, strict=True)
    ]
    other = {"cell_type": "markdown", "id": "c", "source": ["Text.\n", "More."], "metadata": {}}
    merged = lesson_pages.joined([*folds, other, folds[0]])
    assert [cell["id"] for cell in merged] == ["a-shown", "c", "a-shown"]
    assert re.findall(r"</?details>|<p>.*</p>", merged[0]["source"]) == [
        "<details>",
        "<p>First.</p>",
        "<p>Second.</p>",
        "</details>",
    ]


def test_the_code_is_open_and_its_value_waits():
    cell = code("code-best", 'wb.reveal("3-t", best)', LOCKED, "code")
    lines, cell_of_page = lesson_pages.site_cells(cell, scene("[3, 18, 42, 37]"), "03")
    assert lines == cell | {"outputs": []}
    assert "<details>" in cell_of_page["source"]
    assert "```text\n[3, 18, 42, 37]\n```" in cell_of_page["source"]


def test_a_prediction_is_a_question_with_its_choices():
    question = "Prediction: Of 100 labels, how many?"
    cell = code("ask", "lesson.predict()", question, "interactive")
    (cell_of_page,) = lesson_pages.site_cells(cell, scene(question, choices=["2", "<25"]), "03")
    assert "<strong>Predict:</strong> Of 100 labels, how many?" in cell_of_page["source"]
    assert (
        "<li>2</li><li>&lt;25</li>" in cell_of_page["source"]
        and "<details>" not in cell_of_page["source"]
    )


def test_a_control_without_a_picture_is_named():
    cell = code("desk", "lesson.desk()", "Desk(0 of 20)", "interactive")
    (cell_of_page,) = lesson_pages.site_cells(cell, scene("Desk(0 of 20)"), "03")
    assert lesson_pages.CONTROL in cell_of_page["source"]


def test_a_page_says_how_to_open_the_lesson_and_answers_no_exercise(monkeypatch):
    monkeypatch.setattr(lesson_pages, "revealed", lambda path: {})
    cells = json.loads(lesson_pages.page(LESSON))["cells"]
    assert "`workbench lab`" in cells[1]["source"] and LESSON.name in cells[1]["source"]
    assert "mybinder" not in cells[1]["source"], "its address waits for a repository"
    cells_of_lesson = json.loads(LESSON.read_text(encoding="utf-8"))["cells"]
    exercises = [cell for cell in cells_of_lesson if cell["metadata"].get("tags") == ["exercise"]]
    assert [
        cell for cell in exercises if cell["cell_type"] == "code" and cell not in cells
    ] == [], "as the notebook holds it"


def test_a_repository_has_its_address_on_binder(monkeypatch, tmp_path):
    project = '[project]\nurls = {Repository = "https://github.com/me/course"}\n'
    (tmp_path / "pyproject.toml").write_text(project)
    monkeypatch.setattr(lesson_pages, "ROOT", tmp_path)
    address = "https://mybinder.org/v2/gh/me/course/HEAD?urlpath=lab/tree/notebooks/a.ipynb"
    assert f"({address})" in lesson_pages.how_to_open("a.ipynb")


@pytest.mark.kernel
def test_the_start_page_is_run_once_and_shows_its_picture(monkeypatch, tmp_path):
    monkeypatch.setattr(lesson_pages.blocks, "OUTPUTS", tmp_path)
    path = ROOT / "notebooks" / "00-start.ipynb"
    scenes = lesson_pages.revealed(path)
    question, drawn = scenes["cell-03a"], scenes["cell-03b"]
    assert question["text"].startswith("Prediction: ") and len(question["choices"]) == 4
    picture = tmp_path / "lessons" / "00-start" / drawn["pictures"][0]
    assert picture.read_bytes().startswith(b"\x89PNG") and "87.7%" in drawn["text"]
    monkeypatch.setattr(lesson_pages, "executed", None)
    assert lesson_pages.revealed(path) == scenes
