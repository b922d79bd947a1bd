"""A lecturer's folder with a new exercise, new data and a new range: copied for a class, answered, graded."""

import csv
import json
import shutil

import pytest
from command import run

from workbench.extras.classroom import variants
from workbench.reports.parameters import ReportError, notebooks_folder

EXERCISES = """
from pathlib import Path

import workbench as wb

items = Path("data/my_items.csv").read_text().count("\\n") - 1  # beside this file
wb.exercise("3.5", "How many labels do 40 strata need?", answer=items + 79, points=2, hint="SECRET-hint",
            mistakes={40: "one label per stratum leaves its variance unknown"}, explanation="two in each")
wb.exercise("3.6", "Rule and error?", answer=("voila", 0.25), mistakes={("neyman", 0.75): "the wrong rule"})
"""
ANSWERS = {
    "ada": {"3.5": 80, "3.6": ["VOILA", 0.2501]},
    "bob": {"3.5": 40, "3.6": ["voila", 0.5]},
    "cy": {"3.6": {"no": "plain answer"}},
}


def added_cell(*lines):
    text = "\n".join(lines)
    return {
        "cell_type": "code",
        "id": "mine",
        "metadata": {},
        "execution_count": 1,
        "outputs": [{"output_type": "stream", "name": "stdout", "text": "80 is the answer"}],
        "source": text,
    }


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """A folder in which a lecturer's course for three was written to `course`."""
    folder = tmp_path_factory.mktemp("lecturer")
    mine = folder / "mine"
    mine.mkdir()
    shutil.copy(notebooks_folder() / "03-voila-vs-neyman.ipynb", mine)
    path = mine / "03-voila-vs-neyman.ipynb"
    notebook = json.loads(path.read_text(encoding="utf-8"))
    notebook["cells"].append(added_cell("answer = None", 'wb.check("3.5", answer)'))
    notebook["cells"].append(added_cell('items = open("data/my_items.csv").read()', '"ids.csv"'))
    path.write_text(json.dumps(notebook), encoding="utf-8")
    (mine / "data").mkdir()
    (mine / "data" / "my_items.csv").write_text("truth,prediction\n1,1\n", encoding="utf-8")
    (mine / "notes.txt").write_text("not for students", encoding="utf-8")
    (mine / "my_exercises.py").write_text(EXERCISES, encoding="utf-8")
    (folder / "ids.csv").write_text("id\nada\nbob\ncy\n", encoding="utf-8")
    done = run(
        folder, "course", "make", "--students", "ids.csv", "--lessons", "mine", "-o", "course"
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "Wrote 3 folders to course\n", "")
    for student, answers in ANSWERS.items():
        (folder / "course" / student / "answers.json").write_text(json.dumps(answers))
    return folder


def test_students_get_lessons_named_data_and_questions_without_answers(course):
    home = course / "course" / "ada"
    found = {path.relative_to(home).as_posix() for path in home.rglob("*") if path.is_file()}
    added = {"data/my_items.csv", "my_exercises.py", "answers.json"}
    examples = {f"data/{path.name}" for path in (notebooks_folder() / "data").iterdir()}
    assert found == {"03-voila-vs-neyman.ipynb"} | examples | added
    questions = (home / "my_exercises.py").read_text(encoding="utf-8")
    assert "How many labels do 40 strata need?" in questions
    for text in ("80", "SECRET", "unknown", "two in each", "voila", "0.25"):
        assert text not in questions
    notebook = json.loads((home / "03-voila-vs-neyman.ipynb").read_text(encoding="utf-8"))
    cell = notebook["cells"][-2]
    assert "".join(cell["source"]).endswith('wb.check("3.5", answer, record="answers.json")')
    assert "80 is the answer" not in json.dumps(notebook)


def test_the_answers_stay_beside_the_course(course):
    text = (course / "course-exercises.py").read_text(encoding="utf-8")
    assert "answer=[80]" in text and "{(40,): 'one label per stratum leaves" in text
    assert "read_columns" not in text and "my_items" not in text
    weights = (course / "course-weights.csv").read_text(encoding="utf-8").splitlines()
    assert weights[-3:] == ['"3.5 answer",2.0', '"3.6 part 1",0.5', '"3.6 part 2",0.5']


def test_grades_count_the_new_exercises(course):
    done = run(course, "course", "grade", "course", "-o", "grades.csv")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("Graded 3 students in 12 exercises, 1.2 of 13 points on average")
    with open(course / "grades.csv", encoding="utf-8-sig") as file:
        rows = {row["id"]: row for row in csv.DictReader(file)}
    found = {
        student: [row[name] for name in ("3.5", "3.5 feedback", "3.6", "3.6 feedback", "maximum")]
        for student, row in rows.items()
    }
    mistake = "one label per stratum leaves its variance unknown"
    assert found == {
        "ada": ["2.0", "correct", "1.0", "correct", "13.0"],
        "bob": ["0", mistake, "0.5", "not yet (correct: part 1)", "13.0"],
        "cy": ["0", "no answer", "0", "not a plain answer", "13.0"],
    }
    page = (course / "grades-pages" / "students" / "bob.html").read_text(encoding="utf-8")
    assert page.count(mistake) == 1


def test_files_that_students_got_with_the_lessons_are_not_called_ignored(course, tmp_path):
    shutil.copytree(course / "mine", tmp_path / "mine")
    (tmp_path / "mine" / "my_items.csv").write_text("truth,prediction\n1,1\n", encoding="utf-8")
    path = tmp_path / "mine" / "03-voila-vs-neyman.ipynb"
    notebook = json.loads(path.read_text(encoding="utf-8"))
    notebook["cells"].append(added_cell('items = open("my_items.csv").read()'))
    path.write_text(json.dumps(notebook), encoding="utf-8")
    (tmp_path / "ids.csv").write_text("id\nada\nbob\n")
    words = ("--students", "ids.csv", "--lessons", "mine", "-o", "class")
    assert run(tmp_path, "course", "make", *words).returncode == 0
    assert (tmp_path / "class" / "ada" / "my_items.csv").is_file()
    (tmp_path / "class" / "bob" / "answers.txt").write_text("80")
    assert run(tmp_path, "course", "grade", "class").returncode == 0
    lines = (tmp_path / "grades.csv").read_text("utf-8-sig").splitlines()
    remarks = {row["id"]: row["remarks"] for row in csv.DictReader(lines)}
    assert remarks == {"ada": "", "bob": "no answers.json; ignored: 'answers.txt'"}


def test_keys_hold_question_and_answer(course):
    assert run(course, "course", "keys", "course", "-o", "keys").returncode == 0
    page = (course / "keys" / "ada.html").read_text(encoding="utf-8")
    assert "How many labels do 40 strata need?" in page and "the answer is 80; two in each" in page


def test_an_answer_in_a_cell_is_refused_before_anything_is_written(tmp_path):
    mine = tmp_path / "mine"
    mine.mkdir()
    cell = added_cell('wb.exercise("3.5", "How many?", answer=80)')
    notebook = {"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    (mine / "mine.ipynb").write_text(json.dumps(notebook))
    (tmp_path / "ids.csv").write_text("id\nada\n")
    done = run(
        tmp_path, "course", "make", "--students", "ids.csv", "--lessons", "mine", "-o", "course"
    )
    assert done.returncode != 0 and "move wb.exercise(...) to my_exercises.py" in done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["ids.csv", "mine"]
    (mine / "mine.ipynb").unlink()
    done = run(
        tmp_path, "course", "make", "--students", "ids.csv", "--lessons", "mine", "-o", "course"
    )
    assert "'mine' has no notebooks; create the folder with: workbench lab" in done.stderr


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("import workbench as wb\nwb.exercise('3.5', 'x')", "has no answer to exercise 3.5"),
        (
            "import workbench as wb\nwb.exercise('3.1', 'x', answer=1)",
            "3.1, 3.2, 3.3, 3.4 are taken",
        ),
    ],
)
def test_a_file_of_exercises_that_cannot_be_graded_is_refused(tmp_path, text, message):
    (tmp_path / "my_exercises.py").write_text(text)
    with pytest.raises(ReportError, match=message):
        variants.use_exercises(tmp_path / "my_exercises.py")
    assert variants.graded() == list(variants.VARIANTS)
