"""Sixty generated submissions: the table is exactly as planned, and nothing of a student's runs."""

import csv
import json
import os
import re
import shutil
from pathlib import Path

import by_hand
import pytest
from command import run

from workbench.extras.classroom import grading, pages
from workbench.extras.classroom.keys import key_of
from workbench.extras.classroom.likely_copies import likely_copies
from workbench.extras.classroom.misconceptions import SCENES
from workbench.extras.classroom.submissions import NotPlainError, read_submission
from workbench.extras.classroom.variants import VARIANTS, task_of
from workbench.lessons.checking import is_right, judged, worked
from workbench.reports.pages import headings
from workbench.reports.parameters import load_notebook, notebooks_folder

SECRET = "a secret of the lecturer's"
STUDENTS = [f"s{k:02}" for k in range(60)]
HTML = "<img src=x onerror=alert(1)>=2+5"
NOTHING = {exercise: ("no answer", "") for exercise in VARIANTS}
NOT_PLAIN = dict.fromkeys(VARIANTS, ("not a plain answer", ""))


def write(folder, answers):
    (folder / "answers.json").write_text(json.dumps(answers), encoding="utf-8")


def write_cell(folder, exercise, source):
    """Replace the cell of a graded exercise in a student's notebook."""
    (path,) = folder.glob(f"0{exercise[0]}-*.ipynb")
    notebook = json.loads(path.read_text(encoding="utf-8"))
    (cell,) = [
        cell
        for cell in notebook["cells"]
        if f'check("{exercise}"' in "".join(cell["source"]) and cell["cell_type"] == "code"
    ]
    cell["source"] = source
    path.write_text(json.dumps(notebook), encoding="utf-8")


def all_right(student):
    tasks = {exercise: task_of(SECRET.encode(), student, exercise) for exercise in VARIANTS}
    return {exercise: by_hand.answers(exercise, task)[0] for exercise, task in tasks.items()}


def right(folder):
    write(folder, all_right(folder.name))
    return {exercise: ("correct", "") for exercise in VARIANTS}


def mistaken(folder, which):
    """The `which`-th named mistake of each exercise, counted from the first again where there are fewer."""
    plan = {}
    for exercise in VARIANTS:
        named = by_hand.answers(exercise, task_of(SECRET.encode(), folder.name, exercise))[1]
        plan[exercise] = list(named.items())[which % len(named)]
    write(folder, {exercise: answer for exercise, (_, answer) in plan.items()})
    return {exercise: ("mistake", name) for exercise, (name, _) in plan.items()}


def untouched(folder):
    return NOTHING


def empty(folder):
    shutil.rmtree(folder)
    folder.mkdir()
    return NOTHING


def truncated(folder):
    text = json.dumps(all_right(folder.name))
    (folder / "answers.json").write_text(text[:-20], encoding="utf-8")
    return NOT_PLAIN


def wrong_types(folder):
    strange = [
        {"a": 1},
        [[1, 2], [3]],
        True,
        float("nan"),
        1e308,
        "x" * 501,
        [1] * 51,
        [None],
        [{}],
        float("inf"),
    ]
    write(folder, dict(zip(VARIANTS, strange, strict=True)))
    return NOT_PLAIN


def words_for_numbers(folder):
    write(folder, dict.fromkeys(VARIANTS, "forty-two") | {"9.9": 3, "1.3": [298, "proportional"]})
    return dict.fromkeys(VARIANTS, ("not yet", ""))


def ten_megabytes(folder):
    (folder / "answers.json").write_text(
        json.dumps(all_right(folder.name) | {"more": "x" * 10_000_000})
    )
    return NOT_PLAIN


def deep(folder):
    (folder / "answers.json").write_text("[" * 100_000)
    return NOT_PLAIN


def linked(folder):
    target = folder.parent.parent / "exam.json"
    target.write_text(json.dumps(all_right(folder.name)))
    (folder / "answers.json").symlink_to(target)
    return NOT_PLAIN


def html(folder):
    write(folder, {"1.1": HTML, "5.3": [1.0, 0.5, HTML]})
    return NOTHING | {"1.1": ("not yet", ""), "5.3": ("not yet", "")}


def in_the_notebook(folder):
    """No file of answers: one literal as an argument, one through a name, one computed, one in no Python."""
    answers = all_right(folder.name)
    write_cell(folder, "2.1", f'wb.check("2.1", {answers["2.1"]!r})')
    write_cell(
        folder,
        "5.3",
        f'answer = {tuple(answers["5.3"])!r}  # mine\nwb.check("5.3", answer, record="a")\n',
    )
    write_cell(
        folder, "1.1", 'import workbench\nanswer = sum([0.8, 0.08]), 0.02\nwb.check("1.1", answer)'
    )
    write_cell(folder, "3.2", '%time answer = [1, 2, 3]\nwb.check("3.2", answer)')
    return NOTHING | {
        "2.1": ("correct", ""),
        "5.3": ("correct", ""),
        "1.1": ("not a plain answer", ""),
        "3.2": ("not a plain answer", ""),
    }


def hostile(folder):
    """Every place from which a careless reader would run code, write outside or never come back."""
    marker = str(folder.parent.parent / "marker")
    write_cell(
        folder,
        "1.1",
        f'open({marker!r}, "w")\nanswer = __import__("os").system("touch {marker}")\n'
        'wb.check("1.1", answer)',
    )
    write_cell(folder, "2.1", f'wb.check("2.1", (lambda: open({marker!r}, "w"))())')
    write_cell(folder, "3.1", f'wb.check("3.1", eval("open({marker!r}, chr(119))"))')
    write_cell(folder, "4.1", 'wb.check("4.1", 9**9**9**9)')
    write_cell(folder, "5.1", f'wb.check("5.1", {"(" * 5000}1{")" * 5000})')
    write_cell(folder, "1.2", f'wb.check("1.2", {"9" * 5000})')
    write_cell(folder, "2.4", f'# {"x" * 30_000}\nwb.check("2.4", 1)\n')
    write_cell(folder, "5.3", 'wb.check("5.3", (1.0, 0.5, "\\ud800"))')
    return (
        NOTHING
        | dict.fromkeys(("1.1", "2.1", "3.1", "4.1", "5.1", "1.2"), ("not a plain answer", ""))
        | {"5.3": ("not yet", "")}
    )


def strange_notebooks(folder):
    for path, text in zip(
        sorted(folder.glob("*.ipynb")),
        ("[]", "{", '{"cells": [3, {"cell_type": "code"}]}', "null", '{"cells": {}}', "\x00", "3"),
        strict=True,
    ):
        path.write_text(text)
    return NOTHING


def in_percent(folder):
    """Every share as a percentage: t stays t."""
    answers = all_right(folder.name)
    shares = {
        "1.1": (0, 1),
        "2.1": (0,),
        "2.4": (0, 1, 2, 3),
        "4.1": (0,),
        "4.4": (0, 1),
        "5.1": (1, 3),
        "5.3": (1,),
    }
    for exercise, places in shares.items():
        entries = answers[exercise] if isinstance(answers[exercise], list) else [answers[exercise]]
        answers[exercise] = [
            100 * entry if place in places else entry for place, entry in enumerate(entries)
        ]
    write(folder, answers)
    return {
        exercise: ("mistake", "the answer is in percent") if exercise in shares else ("correct", "")
        for exercise in VARIANTS
    }


def partly(exercise, wrong):
    """One exercise right but for some entries."""

    def make(folder):
        answers = all_right(folder.name)
        answers[exercise] = [
            wrong.get(place, entry) for place, entry in enumerate(answers[exercise])
        ]
        write(folder, answers)
        return {other: ("not yet" if other == exercise else "correct", "") for other in VARIANTS}

    return make


def copied(source, *exercises):
    """What another wrote, in some exercises or in all."""

    def make(folder):
        theirs, task = all_right(source), {}
        chosen = exercises or tuple(VARIANTS)
        write(folder, all_right(folder.name) | {exercise: theirs[exercise] for exercise in chosen})
        for exercise in chosen:
            mine, other = (
                task_of(SECRET.encode(), name, exercise) for name in (folder.name, source)
            )
            task[exercise] = ("correct", "") if mine == other else ("somebody else's", "")
        return {exercise: task.get(exercise, ("correct", "")) for exercise in VARIANTS}

    return make


COPIED = [
    ("s00",),
    ("s00",),
    ("s03",),
    ("s01", "1.1", "5.1"),
    ("s02", "1.1"),
    ("s02", "3.2", "1.2"),
    ("s04", "4.1"),
]
PLAN = (
    [right] * 9
    + [lambda folder, k=k: mistaken(folder, k) for k in range(4)] * 3
    + [
        *(copied(*words) for words in COPIED),
        *[in_percent] * 5,
        partly("1.1", {1: 0.2}),
        partly("5.3", {2: "maybe"}),
        partly("5.1", {2: 9.9, 3: 0.5}),
    ]
    + [
        untouched,
        empty,
        truncated,
        wrong_types,
        words_for_numbers,
        ten_megabytes,
        deep,
        linked,
        html,
        in_the_notebook,
        hostile,
        strange_notebooks,
    ]
    * 2
)


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """The folder in which sixty submissions were graded, the plan, what the command said and how long it took."""
    folder = tmp_path_factory.mktemp("class")
    (folder / "ids.csv").write_text("\n".join(["id", *STUDENTS]), encoding="utf-8")
    (folder / "secret").write_text(SECRET)
    assert (
        run(
            folder, "course", "make", "--students", "ids.csv", "--secret", "secret", "-o", "in"
        ).returncode
        == 0
    )
    plan = {
        student: make(folder / "in" / student) for student, make in zip(STUDENTS, PLAN, strict=True)
    }
    for name in ("..\\evil", "=1+1", ".hidden", "__MACOSX"):
        (folder / "in" / name).mkdir()
        write(folder / "in" / name, {"1.1": [0.8, 0.1]})
    (folder / "in" / "link").symlink_to(folder)
    (folder / "in" / "ids.csv").write_text("id\n")
    begun = spent()
    done = run(folder, "course", "grade", "in", "--secret", "secret", "-o", "grades.csv")
    return folder, plan, done, spent() - begun


def spent():
    """Return the processor time of the commands that have ended."""
    times = os.times()
    return times.children_user + times.children_system


def table(folder):
    lines = (folder / "grades.csv").read_text(encoding="utf-8-sig").splitlines()
    return {row["id"]: row for row in csv.DictReader(lines)}


def test_the_table_is_exactly_as_planned(graded):
    folder, plan, done, _ = graded
    assert done.returncode == 0
    rows = table(folder)
    assert list(rows) == STUDENTS
    for student, marks in plan.items():
        row, planned = rows[student], {}
        for exercise, (verdict, name) in marks.items():
            parts = (
                right_parts(folder / "in" / student, exercise)
                if verdict in ("mistake", "not yet")
                else []
            )
            worth = (
                1
                if verdict == "correct"
                else round(sum(WORTH[exercise][part] for part in parts), 6)
            )
            named = [NAMES[exercise][part] for part in parts]
            planned[exercise] = (
                worth,
                (name or verdict) + (f" (correct: {', '.join(named)})" if named else ""),
            )
        told = {
            exercise: (float(row[exercise]), row[f"{exercise} feedback"]) for exercise in VARIANTS
        }
        assert told == planned, student
        assert float(row["points"]) == pytest.approx(sum(worth for worth, _ in planned.values()))
        assert row["maximum"] == "10.0"


WORTH = {
    "1.1": (0.5, 0.5),
    "2.4": (0.25,) * 4,
    "3.1": (0.4, 0.4, 0.2),
    "4.4": (0.5, 0.5),
    "5.1": (0.25,) * 4,
    "5.3": (0.4, 0.4, 0.2),
}
NAMES = {
    "1.1": ("estimate", "standard error"),
    "2.4": ("F1", "standard error", "lower limit", "upper limit"),
    "3.1": ("at random", "with strata", "ratio"),
    "4.4": ("change", "standard error"),
    "5.1": ("t", "p", "t at rho .7", "p at rho .7"),
    "5.3": ("t", "p", "verdict"),
}


def right_parts(folder, exercise):
    """Places of a written answer at which it is what it should be."""
    file = folder / "answers.json"
    answer = json.loads(file.read_text())[exercise] if exercise in WORTH and file.exists() else 0
    best = all_right(folder.name)[exercise]
    if not isinstance(answer, list) or len(answer) != len(best):
        return []
    return [
        place
        for place, (mine, wanted) in enumerate(zip(answer, best, strict=True))
        if mine == wanted
    ]


def test_copies_are_a_table_for_the_lecturer_and_no_student_is_told_whose(graded):
    folder, plan, _, _ = graded
    text = (
        (folder / "grades-pages" / "class.html")
        .read_text(encoding="utf-8")
        .split("Likely copies")[1]
    )
    told = re.findall(
        r'<tr><th scope="row">(s\d\d)</th><td>(s\d\d)</td><td>([^<]+)</td><td class="right">([^<]+)</td>',
        text,
    )
    others = {
        student: tuple(
            exercise for exercise, (verdict, _) in marks.items() if verdict == "somebody else's"
        )
        for student, marks in plan.items()
    }
    copiers = [student for student, exercises in others.items() if exercises]
    assert len(copiers) == 7
    assert {
        (student, source, tuple(exercises.split(", "))) for student, source, exercises, _ in told
    } == {
        (student, words[0], others[student]) for student, words in zip(copiers, COPIED, strict=True)
    }
    assert all(float(chance.removeprefix("&lt; ")) <= 0.05 for *_, chance in told)
    for student, words in zip(copiers, COPIED, strict=True):
        page = (folder / "grades-pages" / "students" / f"{student}.html").read_text(
            encoding="utf-8"
        )
        assert "correct for numbers that are not yours" in page and words[0] not in page
        assert f"correct for '{words[0]}'" in table(folder)[student]["remarks"]


def test_sixty_are_graded_in_little_processor_time(graded):
    assert graded[3] < 30


def test_no_code_of_a_student_ran_and_nothing_was_written_elsewhere(graded):
    folder, _, _, _ = graded
    inside = {path.name for path in folder.iterdir()}
    assert inside == {
        "exam.json",
        "grades-pages",
        "grades.csv",
        "ids.csv",
        "in",
        "in-weights.csv",
        "secret",
    }
    pages_folder = folder / "grades-pages"
    written = {path.relative_to(pages_folder).as_posix() for path in pages_folder.rglob("*.html")}
    assert written == {"class.html", *(f"students/{student}.html" for student in STUDENTS)}


def test_folders_that_are_no_students_are_left_out_and_named(graded):
    folder, _, done, _ = graded
    told = done.stderr.splitlines()
    assert [line.split("'")[1] for line in told] == ["..\\\\evil", "=1+1", "link"]
    assert told[2] == "Left out: 'link' is a link"
    assert "Left out" in (folder / "grades-pages" / "class.html").read_text(encoding="utf-8")


def test_a_students_text_is_shown_as_text(graded):
    folder, plan, _, _ = graded
    html_students = [student for student, make in zip(STUDENTS, PLAN, strict=True) if make is html]
    for path in (folder / "grades-pages").rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        assert "<img" not in text and "default-src 'none'" in text
        assert ("&lt;img src=x onerror=alert(1)&gt;=2+5" in text) == (path.stem in html_students)
    assert not re.search(
        r'(?m)(^|[,;"])[=+@-]', (folder / "grades.csv").read_text(encoding="utf-8-sig")
    )


def test_the_page_of_the_class_counts_traps_and_names_the_scene(graded):
    folder, plan, _, _ = graded
    text = (folder / "grades-pages" / "class.html").read_text(encoding="utf-8")
    rows = re.findall(
        r'<tr><th scope="row">([^<]+)</th><td>([\d.]+)</td><td class="right">(\d+)</td>', text
    )
    planned = {
        (name, exercise, str(sum(marks[exercise] == ("mistake", name) for marks in plan.values())))
        for exercise, name in [
            *SCENES,
            *((exercise, "the answer is in percent") for exercise in VARIANTS),
        ]
    }
    assert set(rows) == {row for row in planned if row[2] != "0"} and len(rows) == len(SCENES) + 7
    assert [int(count) for *_, count in rows] == sorted(
        (int(count) for *_, count in rows), reverse=True
    )
    assert re.search(r"Repeat this scene first: <strong>(.+?)</strong>", text)[1] in SCENES.values()
    right_row = re.search(r'<th scope="row">1.1</th>' + r'<td class="right">(\d+)</td>' * 6, text)
    assert tuple(map(int, right_row.groups())) == (13, 17, 5, 5, 14, 6)


def test_every_named_mistake_has_a_scene_that_is_in_its_lesson():
    named = {
        (exercise, name)
        for exercise in VARIANTS
        for name in by_hand.answers(exercise, task_of(b"s" * 16, "ada", exercise))[1]
    }
    assert named == set(SCENES)
    for (exercise, _), scene in SCENES.items():
        (path,) = notebooks_folder().glob(f"0{exercise[0]}-*.ipynb")
        assert scene in [text for _, text in headings(load_notebook(path)["cells"])]


def test_the_strip_of_the_class_is_one_command(graded, tmp_path):
    folder, _, _, _ = graded
    done = run(tmp_path, "course", "strip", folder / "in", "--secret", folder / "secret")
    assert done.returncode == 0 and done.stderr == ""
    assert re.fullmatch(
        r"\d of our 26 intervals missed the true accuracy\nWrote strip.html\n", done.stdout
    )
    page = (tmp_path / "strip.html").read_text(encoding="utf-8")
    assert (
        "29 students gave no estimate" in page
        and "5 answers were left out, because they are for another student&#39;s audit" in page
    )


def test_a_class_list_gives_everyone_a_row(graded, tmp_path):
    folder, _, _, _ = graded
    (tmp_path / "ids.csv").write_text("id\ns03\nzoe\n")
    done = run(
        tmp_path,
        "course",
        "grade",
        folder / "in",
        "--secret",
        folder / "secret",
        "--students",
        "ids.csv",
    )
    rows = table(tmp_path)
    assert list(rows) == ["s03", "zoe"]
    assert rows["zoe"]["remarks"] == "nothing handed in" and rows["s03"]["points"] == "10.0"
    assert "Left out: 's00' is not among the students" in done.stderr.splitlines()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("in", "--secret", "other"), "the lessons in 'in' were made with another secret"),
        (
            ("none", "--secret", "secret"),
            "cannot read the folder 'none': No such file or directory",
        ),
        (("bare", "--secret", "secret"), "'bare' has no student's folder"),
        (("in",), "cannot read the secret 'in-secret.txt': No such file"),
        (("in", "--secret", "secret", "-o", "in"), "path must end in .csv; got 'in'"),
        (("in", "--secret", "secret", "-o", "bare.csv"), "cannot write 'bare.csv': Is a directory"),
    ],
)
def test_mistakes_of_the_lecturer_cost_one_line(graded, words, message):
    folder = graded[0]
    for name in ("bare", "bare.csv"):
        (folder / name).mkdir(exist_ok=True)
    (folder / "other").write_text("another secret of a lecturer")
    done = run(folder, "course", "grade", *words)
    (folder / "other").unlink()
    for name in ("bare", "bare.csv"):
        (folder / name).rmdir()
    assert done.returncode == 2 and done.stderr.startswith("Error: ") and message in done.stderr


@pytest.mark.parametrize("command", ["grade", "keys", "strip", "votes"])
def test_a_missing_folder_is_named_before_its_secret(tmp_path, command):
    done = run(tmp_path, "course", command, "none")
    assert done.stderr == "Error: cannot read the folder 'none': No such file or directory\n"


def test_what_was_recorded_counts_before_what_a_cell_says(tmp_path):
    cell = {"cell_type": "code", "source": ["answer = 3\n", 'wb.check("2.1", answer)']}
    (tmp_path / "02.ipynb").write_text(
        json.dumps({"cells": [cell], "metadata": {"workbench": {"course": "x"}}})
    )
    assert read_submission(tmp_path, ["02.ipynb"]).answers["2.1"] == 3
    assert read_submission(tmp_path, ["01.ipynb"]).answers["2.1"] is None
    write(tmp_path, {"2.1": 4, "2.4": None})
    found = read_submission(tmp_path, ["02.ipynb"])
    assert found.answers["2.1"] == 4 and found.answers["2.4"] is None and found.course == "x"
    if hasattr(os, "mkfifo"):
        (tmp_path / "answers.json").unlink()
        os.mkfifo(tmp_path / "answers.json")
        assert isinstance(read_submission(tmp_path, []).answers["2.1"], NotPlainError)


def handed_in(tmp_path, *students):
    (tmp_path / "ids.csv").write_text("\n".join(["id", *students]))
    (tmp_path / "secret").write_text(SECRET)
    assert (
        run(
            tmp_path, "course", "make", "--students", "ids.csv", "--secret", "secret", "-o", "in"
        ).returncode
        == 0
    )
    for student in students:
        write(tmp_path / "in" / student, all_right(student))
    return tmp_path / "in"


def test_what_may_hold_answers_and_is_not_read_is_said(tmp_path):
    folder = handed_in(tmp_path, "ada", "bob", "cy", "dan", "eve", "fay")
    (folder / "ada").rename(folder / "x")
    (folder / "ada").mkdir()
    (folder / "x").rename(folder / "ada" / "Ada's lessons")
    (folder / "ada" / "__MACOSX").mkdir()
    for name in ("bob", "cy"):
        (folder / name / "answers.json").unlink()
    (folder / "bob" / "02-brr-orthogonal-arrays.ipynb").rename(folder / "bob" / "<b>mine.ipynb")
    shutil.rmtree(folder / "dan")
    (folder / "dan").mkdir()
    shutil.make_archive(str(folder / "eve"), "zip", folder / "eve")
    shutil.rmtree(folder / "eve")
    (folder / "fay" / "answers.json").write_text("[1")
    done = run(tmp_path, "course", "grade", "in", "--secret", "secret", "-o", "new/g.csv")
    assert done.stderr == "Left out: 'eve.zip' is a packed file; unpack it\n"
    assert "2.0 of 10 points on average; remarks on bob, dan, fay\n" in done.stdout
    lines = (tmp_path / "new/g.csv").read_text("utf-8-sig").splitlines()
    rows = {row["id"]: (row["points"], row["remarks"]) for row in csv.DictReader(lines)}
    assert rows == {
        "ada": ("10.0", ""),
        "cy": ("0", ""),
        "bob": ("0", "no answers.json; ignored: '<b>mine.ipynb'"),
        "dan": ("0", "the folder has neither a lesson nor answers.json"),
        "fay": ("0", "answers.json is not valid JSON"),
    }
    page = (tmp_path / "new/g-pages/students/bob.html").read_text()
    assert "Remark: no answers.json; ignored: &#39;&lt;b&gt;mine" in page


def test_a_folder_of_another_student_earns_nothing_and_is_named(tmp_path):
    folder = handed_in(tmp_path, "ada", "bob")
    shutil.rmtree(folder / "bob")
    shutil.copytree(folder / "ada", folder / "bob")
    found = grading.grade(folder, SECRET.encode()).students
    copied = f"correct for 'ada': {', '.join(VARIANTS)}"
    assert [(student.points, student.remarks, student.about_others) for student in found] == [
        (10, (), ()),
        (0, (), ("the lessons were made for 'ada'", copied)),
    ]
    assert "ada" not in pages.student_page(found[1])


def test_a_table_among_the_folders_is_refused(tmp_path):
    """Its pages would be a student in the next round."""
    handed_in(tmp_path, "ada")
    for output in ("in/grades.csv", "in/sub/../grades.csv"):
        done = run(tmp_path, "course", "grade", "in", "--secret", "secret", "-o", output)
        assert done.returncode == 2 and done.stderr.count("\n") == 1
        assert f"'{output}' must not be in 'in', among the folders of the students" in done.stderr
    assert [path.name for path in (tmp_path / "in").iterdir()] == ["ada"]


@pytest.mark.parametrize(
    ("source", "answer"),
    [
        ("answer: float = 0.5\nwb.check('2.1', answer)", 0.5),
        ("answer = None\nanswer = -0.5\ndisplay(wb.check('2.1', answer))", -0.5),
        ("told = check('2.1', answer=[0.5])", [0.5]),
        ("answer = 1\nanswer += 1\nwb.check('2.1', answer)", NotPlainError),
        ("answer = 1\nfor answer in range(3): pass\nwb.check('2.1', answer)", NotPlainError),
        ("answer = 1\nif True:\n    answer = 2 * 3\nwb.check('2.1', answer)", NotPlainError),
        ("answer = 1\n(answer, other) = 3, 4\nwb.check('2.1', answer)", NotPlainError),
        ("answer = 1\ndel answer\nwb.check('2.1', answer)", NotPlainError),
        ("answer = answer\nwb.check('2.1', answer)", NotPlainError),
    ],
)
def test_a_cell_is_read_as_it_would_run(tmp_path, source, answer):
    """A value that the cell changes later is not the answer."""
    (tmp_path / "02.ipynb").write_text(
        json.dumps({"cells": [{"cell_type": "code", "source": source}]})
    )
    found = read_submission(tmp_path, ["02.ipynb"]).answers["2.1"]
    assert isinstance(found, NotPlainError) if answer is NotPlainError else found == answer


@pytest.mark.parametrize("exercise", VARIANTS)
def test_judges_take_every_plain_answer(exercise):
    """A plain answer may be any number or text: none of them may stop the grading of a class."""
    task = task_of(b"s" * 16, "ada", exercise)
    entries = (0, -1, 1e299, -1e299, 10**299, 1e-299, 0.5, "", "yes", "\U0001f600")
    for answer in (
        *entries,
        [],
        *([entry] * count for entry in entries for count in (1, 2, 3, 4, 5, 10)),
        [1.0, 2.0, 3],
        [0.5, 0.1, "no"],
        [0.5, "no", 0.1],
    ):
        assert judged(exercise, answer, **task).verdict in ("not yet", "mistake", "correct")


def test_a_table_holds_no_formula(tmp_path):
    assessment = grading.Assessment("1.1", "no answer")
    grades = grading.Grades((grading.Graded("=cmd()", (assessment,), ("@x",), {}),), ())
    pages.write_grades(grades, tmp_path / "g.csv")
    assert (tmp_path / "g.csv").read_text("utf-8-sig").splitlines()[
        1
    ] == '"\'=cmd()",0,0,0,"no answer","\'@x"'
    assert Path(pages.__file__).with_name("template").is_dir()


def test_an_answer_that_chance_may_fit_is_no_copy(tmp_path):
    """A share to three digits is right for some other student of sixty more often than not."""
    students = {student: task_of(SECRET.encode(), student, "4.1") for student in STUDENTS}
    shares = {student: by_hand.answers("4.1", task)[0] for student, task in students.items()}
    answers = {student: {"4.1": round(share, 3)} for student, share in shares.items()}
    apart = [
        (mine, other)
        for mine in STUDENTS
        for other in STUDENTS
        if abs(shares[mine] - shares[other]) > 0.003 and len(f"{shares[other]:.15g}") > 12
    ]
    for mine, other in apart[:200]:
        wrong = answers | {mine: {"4.1": round(shares[other], 3)}}
        assert (
            likely_copies(
                mine, wrong, ["4.1"], lambda _, share, who: abs(share - shares[who]) <= 1e-3
            )
            == []
        )
        exact = {student: {"4.1": share} for student, share in shares.items()} | {
            mine: {"4.1": shares[other]}
        }
        (found,) = likely_copies(
            mine, exact, ["4.1"], lambda _, share, who: abs(share - shares[who]) <= 1e-3
        )
        assert shares[found.source] == shares[other] and found.chance < 1e-6


def test_a_lecturers_weights_are_the_points_and_their_mistakes_cost_one_line(graded, tmp_path):
    folder, plan, _, _ = graded
    text = (folder / "in-weights.csv").read_text("utf-8-sig")
    assert len(text.splitlines()) == 23 and '"1.1 estimate",0.5' in text
    (tmp_path / "w.csv").write_text(
        text.replace('"1.1 estimate",0.5', "1.1 estimate;2,5")
        .replace(",", ";", 99)
        .replace("2;5", "2,5")
    )
    words = ("course", "grade", folder / "in", "--secret", folder / "secret", "--weights", "w.csv")
    (tmp_path / "ids.csv").write_text("id\ns00\ns33\n")
    assert run(tmp_path, *words, "--students", "ids.csv").returncode == 0
    rows = table(tmp_path)
    assert [(row["points"], row["maximum"]) for row in rows.values()] == [
        ("12.0", "12.0"),
        ("11.5", "12.0"),
    ]
    (tmp_path / "w.csv").write_text("part,points\n1.1 estimate,much\n1.7 luck,3\n")
    done = run(tmp_path, *words)
    assert (
        done.returncode == 2
        and "w.csv: '1.1 estimate' must be a number of at least 0, there is no" in done.stderr
    )
    assert (
        "there is no part '1.7 luck', 21 parts are missing: '1.1 standard error', '" in done.stderr
    )
    assert done.stderr.count("missing") == done.stderr.count("\n") == 1
    (tmp_path / "w.csv").write_text("".join(text.splitlines(keepends=True)[:-1]))
    assert "w.csv: 1 part is missing: '5.3 verdict'\n" in run(tmp_path, *words).stderr


def test_worked_solutions_lead_to_the_right_answers(graded, tmp_path):
    """Who types the numbers that stand in the steps is right."""
    folder = graded[0]
    done = run(tmp_path, "course", "keys", folder / "in", "--secret", folder / "secret")
    assert (done.returncode, done.stdout) == (0, "Wrote worked solutions for 60 students to keys\n")
    assert len(list((tmp_path / "keys").iterdir())) == 60
    page = (tmp_path / "keys" / "s07.html").read_text(encoding="utf-8")
    assert page.count("<li>") > 30 and "s08" not in page and "$" not in page.split("<main")[1]
    for student in STUDENTS[:8]:
        for exercise in VARIANTS:
            task = task_of(SECRET.encode(), student, exercise)
            answer, steps = key_of(exercise, task), worked(exercise, **task)
            best = by_hand.answers(exercise, task)[0]
            assert answer == pytest.approx(best if isinstance(best, list) else [best], rel=1e-9), (
                student,
                exercise,
            )
            written = re.findall(r"\d*\.?\d+(?:e[+]?\d+)?", " ".join(steps).replace(",", ""))
            numbers = [float(number) for number in written]
            read = [
                wanted
                if isinstance(wanted, str)
                else min(numbers, key=lambda number: abs(number - wanted))
                for wanted in answer
            ]
            assert is_right(exercise, read, **task), (student, exercise, read)
    assert (
        run(
            tmp_path,
            "course",
            "keys",
            folder / "in",
            "--secret",
            folder / "secret",
            "-o",
            folder / "in",
        ).returncode
        == 2
    )


CANVAS = (
    "Student,ID,SIS User ID,SIS Login ID,Section,Homework 1 (77)\n    Points Possible,,,,,10.00\n"
    '"Ada, L.",101,x1,s00,A,7.00\n"Bob, M.",102,x2,S33,B,\n"Test, Student",103,,,A,\n'
)
MOODLE = (
    '"First name","Last name","ID number","Email address","Quiz: one (Real)"\n'
    '"Ada","L",0,s00,-\n"Bob","M",1,s33,-\n'
)


def test_gradebooks_are_filled_in_as_their_documentation_asks(graded, tmp_path):
    """Made after the documentation of Canvas and Moodle; neither was at hand."""
    folder = graded[0]
    words = (
        "course",
        "grade",
        folder / "in",
        "--secret",
        folder / "secret",
        "--students",
        "ids.csv",
        "--gradebook",
        "export.csv",
    )
    (tmp_path / "ids.csv").write_text("id\ns00\ns33\nzoe\n")
    (tmp_path / "export.csv").write_text(CANVAS)
    done = run(tmp_path, *words)
    assert done.returncode == 0 and done.stderr.splitlines()[0] == "Not in export.csv: zoe"
    with (tmp_path / "grades-canvas.csv").open(encoding="utf-8", newline="") as file:
        assert list(csv.reader(file)) == [
            ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "Workbench exercises"],
            ["    Points Possible", "", "", "", "", "10.0"],
            ["Ada, L.", "101", "x1", "s00", "A", "10.0"],
            ["Bob, M.", "102", "x2", "S33", "B", "9.5"],
        ]
    (tmp_path / "export.csv").write_text(MOODLE)
    assert run(tmp_path, *words).returncode == 0
    with (tmp_path / "grades-moodle.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    assert [row[:2] for row in rows] == [
        ["Email address", "Workbench exercises"],
        ["s00", "10.0"],
        ["s33", "9.5"],
    ]
    assert rows[0][2] == "Workbench exercises feedback"
    assert rows[2][2].startswith("1.1 not yet (correct: estimate); 1.2 correct; 2.1 correct")
    (tmp_path / "export.csv").write_text("Email address\nnobody\n")
    done = run(tmp_path, *words)
    assert done.returncode == 2 and "no column of export.csv has an id of a student" in done.stderr
