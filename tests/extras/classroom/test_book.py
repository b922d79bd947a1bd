"""The instructor's book: its tables agree with the lessons, its minutes add up, its links and commands work."""

import os
import re
import shlex
import subprocess
from pathlib import Path
from unittest import mock

import counted_minutes
import numpy as np
import pytest
from command import run

from workbench import lessons
from workbench.commands.main import commands
from workbench.extras.classroom.concept_test import KEY, concept_gain
from workbench.extras.classroom.misconceptions import SCENES
from workbench.extras.classroom.variants import VARIANTS
from workbench.extras.classroom.votes import lesson_questions
from workbench.lessons import checking, content
from workbench.lessons.allocation import views as allocation
from workbench.lessons.cross_validation import views as cross_validation
from workbench.lessons.misclassification import views as misclassification
from workbench.lessons.replication import views as replication
from workbench.lessons.stratified import views as stratified
from workbench.reports.pages import headings, source
from workbench.reports.parameters import load_notebook, topics

ROOT = Path(__file__).parents[3]
BOOK = ROOT / "notebooks" / "instructor"
PAGES = {path.stem: path.read_text(encoding="utf-8") for path in BOOK.glob("*.md")}
LESSONS = sorted((ROOT / "notebooks").glob("*.ipynb"))


def sections(page):
    """Return {heading: rows of the table below it}."""
    parts = re.split(r"(?m)^## (.*)\n", PAGES[page])
    return {heading: rows(text) for heading, text in zip(parts[1::2], parts[2::2], strict=True)}


def rows(text):
    lines = [
        [entry.strip() for entry in line.strip("|").split("|")]
        for line in text.splitlines()
        if line[:1] == "|"
    ]
    return [line for line in lines[2:] if line]


def cells(lesson):
    return load_notebook(LESSONS[lesson])["cells"]


def test_every_page_is_linked_and_every_link_leads_somewhere():
    linked = set(re.findall(r"\]\(([^)]+)\)", PAGES["README"]))
    assert linked == {path.name for path in BOOK.glob("*.md")} - {"README.md"}
    for text in PAGES.values():
        assert all((BOOK / link).is_file() for link in re.findall(r"\]\(([^)]+)\)", text))


def test_scenes_are_those_of_the_lessons_in_their_order():
    for lesson, (heading, table) in enumerate(sections("scenes").items()):
        assert heading == (f"Lesson {lesson}" if lesson else "Start page")
        there = [text for level, text in headings(cells(lesson)) if level > 1]
        places = [there.index(scene) for scene, _, _ in table]
        assert places == sorted(places)
        asked = [
            text
            for cell in cells(lesson)
            if "interactive" in cell["metadata"].get("tags", [])
            for _, text in headings([last_heading(lesson, cell)])
        ]
        assert set(asked) <= {scene for scene, _, _ in table}, (
            "a scene with a control has its minutes"
        )


def last_heading(lesson, cell):
    before = cells(lesson)
    place = next(k for k, each in enumerate(before) if each["id"] == cell["id"])
    text = [
        line
        for each in before[:place]
        if each["cell_type"] == "markdown"
        for line in source(each).splitlines()
        if line.startswith("#")
    ][-1]
    return {"cell_type": "markdown", "source": text}


def test_minutes_of_the_scenes_add_up_to_those_of_the_lesson():
    told = [sum(int(minutes) for _, minutes, _ in table) for table in sections("scenes").values()]
    texts = ["".join(map(source, cells(lesson))) for lesson in range(1, 6)]
    promised = [int(re.search(r"about (\d+) minutes", text)[1]) for text in texts]
    assert told == [10, *promised]


def test_minutes_of_the_plans_add_up():
    whole = {
        heading: sum(int(minutes) for _, minutes in table)
        for heading, table in sections("scenes").items()
        for table in [[row[:2] for row in table]]
    }
    scenes = {
        (heading, scene) for heading, table in sections("scenes").items() for scene, *_ in table
    }
    plans = sections("plans")
    assert [int(heading.split()[0]) for heading in plans] == [2, 6, 12]
    for heading, table in plans.items():
        assert sum(int(minutes) for _, minutes in table) == 60 * int(heading.split()[0])
        for part, minutes in table:
            lesson, _, scene = part.partition(", ")
            if lesson in whole and not scene:
                assert int(minutes) == whole[lesson], part
            elif lesson in whole:
                assert (lesson, scene) in scenes, part


def test_votes_are_the_predictions_of_the_lessons_and_add_up_to_a_hundred():
    asked = [
        stratified.predict_gain(),
        replication.predict_worth(),
        allocation.predict_thousands(),
        misclassification.predict_best(),
        cross_validation.predict_repeats(),
    ]
    *tables, later = sections("votes").values()
    questions = {prediction.name: prediction for prediction in lesson_questions()}
    assert [name for name, *_ in later] == [
        name
        for name in questions
        if name != "4-line" and name not in {prediction.name for prediction in asked}
    ]
    for name, right, tempting in later:
        options = questions[name].control.options
        lured = [option for option in options if tempting.startswith(option)]
        assert right in options and len(lured) == 1 and lured != [right], name
    for prediction, table in zip(asked, tables, strict=True):
        assert [choice.strip("*") for choice, *_ in table] == list(prediction.children[1].options)
        assert sum(int(expected) for _, expected, _ in table) == 100
        assert sum(choice.startswith("**") for choice, *_ in table) == 1


def test_misconceptions_are_those_that_grading_names():
    table = rows(PAGES["misconceptions"])
    assert {(exercise, name): scene for name, exercise, scene, _ in table} == SCENES and len(
        table
    ) == len(SCENES)


def test_the_concept_test_has_ten_questions_four_choices_and_the_key_that_is_used():
    questions = re.findall(r"(?ms)^\*\*(\d+)\.\*\* .*?(?=^\*\*\d|^## )", PAGES["concept-test"])
    assert questions == list(KEY)
    for text in re.split(r"(?m)^\*\*\d+\.\*\*", PAGES["concept-test"].partition("## Key")[0])[1:]:
        assert re.findall(r"(?m)^- ([a-d])\) ", text) == list("abcd")
    table = sections("concept-test")["Key"]
    assert {number: answer for number, answer, _ in table} == KEY
    assert [lesson for *_, lesson in table] == list("1122334455")
    assert max(map("".join(KEY.values()).count, "abcd")) <= 4


def explanations():
    """Return the names of the lines that learners write."""
    with mock.patch.object(content, "Explanation", lambda name, **rest: name):
        return [
            ask()
            for module in lessons.parts("views")
            for name, ask in vars(module).items()
            if name.startswith("explain_")
        ]


def test_each_written_line_has_three_samples_by_its_name():
    assert sorted(sections("rubric")) == sorted(explanations())
    for name, table in sections("rubric").items():
        assert [points for points, _ in table] == ["2", "1", "0"], name
        assert len({sample for _, sample in table}) == 3
    assert f"{2 * len(explanations())} points" in PAGES["syllabus"]


def test_goals_are_asked_by_exercises_and_lines_of_their_lesson():
    for lesson, (heading, table) in enumerate(sections("goals").items(), 1):
        asked = [each.strip("* ") for _, where in table for each in where.split(",")]
        graded = {
            each.strip("* ") for _, where in table for each in where.split(",") if "**" in each
        }
        assert heading == f"Lesson {lesson}" and graded == {
            each for each in VARIANTS if each[0] == str(lesson)
        }
        lines = {name for name in explanations() if name[0] == str(lesson)}
        exercises = {number for number in checking.exercises() if number[0] == str(lesson)}
        assert lines | exercises <= set(asked) <= lines | exercises | {"Predict first"}


def test_the_self_test_has_ten_questions_and_a_key_that_is_right():
    texts = re.split(r"(?m)^\*\*\d+\.\*\*", PAGES["self-test"].partition("## Key")[0])[1:]
    right = {
        number: re.search(rf"(?m)^- {letter}\) (.*)\.$", text)[1]
        for (number, letter, _), text in zip(sections("self-test")["Key"], texts, strict=True)
    }
    assert list(right) == [str(k) for k in range(1, 11)]
    assert [right["1"], right["2"], right["6"], right["7"], right["9"], right["10"]] == [
        f"{np.var([2, 4, 4, 6], ddof=1):.2f}",
        f"{(0.8 * 0.2 / 50) ** 0.5:.3f}"[1:],
        f"{np.hypot(3, 4):g}",
        f"{0.3 * 0.5 + 0.7 * 0.9:.2f}"[1:],
        str(8 + 5),
        str(sum(x > 2 for x in [1, 2, 3, 4])),
    ]


def test_counted_minutes_are_about_those_of_the_lessons():
    table = rows(PAGES["scenes"].partition("## Start page")[0])
    for path, (lesson, *told) in zip(LESSONS[1:6], table, strict=True):
        now = counted_minutes.row(path)
        assert (lesson, len(told)) == (now[0], len(now) - 1)
        assert [float(entry) for entry in told] == pytest.approx(now[1:], rel=0.15, abs=2.5), (
            "run counted_minutes.py"
        )


def test_every_lesson_is_discussed():
    assert list(sections("discussion")) == [f"Lesson {k}" for k in range(1, 6)]


def sheet(path, answers):
    lines = [
        "id," + ",".join(KEY),
        *(",".join([student, *given]) for student, given in answers.items()),
    ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def test_every_command_of_the_book_runs_in_the_order_it_stands(tmp_path):
    """What the lecturer brings: a list of students, one student's answer, two files of the concept test."""
    (tmp_path / "ids.csv").write_text("id\nada\nbob\n")
    sheet(tmp_path / "before.csv", {"ada": list("abcdabcdab"), "bob": [""] * 10})
    sheet(tmp_path / "after.csv", {"ada": list(KEY.values()), "bob": list("cbcbacdbaA")})
    blocks = [
        line
        for name in ("README", "concept-test")
        for block in re.findall(r"(?ms)^```\n(.*?)^```", PAGES[name])
        for line in block.splitlines()
    ]
    assert len(blocks) == 6
    for line in blocks:
        program, *words = shlex.split(line)
        done = run(tmp_path, *words)
        assert program == "workbench" and done.returncode == 0, done.stderr
        if words[:2] == ["course", "make"]:
            (tmp_path / "course" / "ada" / "answers.json").write_text('{"1.1": [0.88, 0.03]}')
            (tmp_path / "course" / "ada" / "predictions.json").write_text('{"5-repeats": "5%"}')
    written = {path.name for path in tmp_path.iterdir()}
    assert {
        "grades.csv",
        "strip.html",
        "votes.html",
        "grades-pages",
        "keys",
        "course-secret.txt",
    } <= written
    assert done.stdout.splitlines()[-1].startswith(
        "Mean gain of 2 students: +7.50 of 10, 95% confidence interval "
    )


def test_the_commands_of_delivery_are_understood():
    """They take minutes or a network; `test_slides.py` and `test_bundle.py` run them."""
    lines = [
        line
        for block in re.findall(r"(?ms)^```\n(.*?)^```", PAGES["delivery"])
        for line in block.splitlines()
    ]
    assert len(lines) == 6
    for line in lines:
        program, name, *words = shlex.split(line)
        command = commands.commands[name]
        if name == "course":
            name = words.pop(0)
            command = command.commands[name]
        context = command.make_context(name, words)
        assert program == "workbench" and context.params
        assert name != "slides" or context.params["lesson"] in topics()
    assert (ROOT / re.search(r"`python (\S+)`", PAGES["delivery"])[1]).is_file()


def test_the_gain_is_paired_and_its_interval_holds_the_mean(tmp_path):
    rng = np.random.default_rng(0)
    before = {f"s{k}": list(rng.choice(list("abcd"), 10)) for k in range(40)}
    after = {
        student: [
            KEY[str(q + 1)] if rng.random() < 0.6 else letter for q, letter in enumerate(given)
        ]
        for student, given in before.items()
    }
    sheet(tmp_path / "b.csv", before | {"gone": [""] * 10})
    sheet(tmp_path / "a.csv", dict(reversed(after.items())) | {"new": [""] * 10})
    found = concept_gain(str(tmp_path / "b.csv"), str(tmp_path / "a.csv"))
    key = list(KEY.values())
    gains = [
        sum(a == k for a, k in zip(after[s], key, strict=True))
        - sum(b == k for b, k in zip(before[s], key, strict=True))
        for s in before
    ]
    assert found.gains.tolist() == gains and found.without == ("gone", "new")
    low, high = found.interval()
    error = np.std(gains, ddof=1) / 40**0.5
    assert low < np.mean(gains) - 1.9 * error and np.mean(gains) + 1.9 * error < high
    assert high - low < 10 * error
    assert "Only one test of gone, new" in found.lines()


@pytest.mark.parametrize(
    ("after", "message"),
    [
        ("id,1,2\nada,a,b\n", "after.csv must have one column '3'; it has 'id', '1', '2'"),
        (
            "id,1,2,3,4,5,6,7,8,9,10\nada,e\n",
            "after.csv, row 2: question 1 must be a, b, c, d or empty; got 'e'",
        ),
        (
            "id,1,2,3,4,5,6,7,8,9,10\nada,a\n",
            "at least 2 students must be in both before.csv and after.csv; got 1",
        ),
    ],
)
def test_mistakes_in_the_sheets_cost_one_line(tmp_path, after, message):
    sheet(tmp_path / "before.csv", {"ada": list("abcdabcdab"), "bob": [""] * 10})
    (tmp_path / "after.csv").write_text(after)
    done = run(tmp_path, "course", "concept-test", "before.csv", "after.csv")
    assert done.returncode == 2 and message in done.stderr and done.stderr.count("\n") == 1


@pytest.mark.parametrize("image", [True, False])
def test_binder_shows_learners_no_book_and_a_clone_loses_nothing(tmp_path, image):
    """The script runs in an imitated clone, with a `python` that installs nothing."""
    for folder in ("instructor", "solutions", "data"):
        (tmp_path / "notebooks" / folder).mkdir(parents=True)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python").symlink_to("/bin/true")
    settings = {"PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}"}
    if image:
        settings["REPO_DIR"] = str(tmp_path)
    script = ["bash", ROOT / "binder" / "postBuild"]
    subprocess.run(script, cwd=tmp_path, env=settings, check=True)
    left = sorted(path.name for path in (tmp_path / "notebooks").iterdir())
    assert left == (["data"] if image else ["data", "instructor", "solutions"])
