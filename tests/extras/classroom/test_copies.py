import json
import re
import zipfile
from pathlib import Path

import by_hand
import numpy as np
import pytest
from command import run

from workbench.extras.classroom.students import read_students
from workbench.extras.classroom.variants import VARIANTS, task_of
from workbench.lessons import checking
from workbench.reports.pages import source
from workbench.reports.parameters import ReportError

ROOT = Path(__file__).parents[3]
SECRET = "a secret of the lecturer's"
ROSTER = "id;name\nada;Ada\n0042;Bob\ncy@uni.ch;=1+1\n"


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """A folder in which a course for three was written to `out`."""
    folder = tmp_path_factory.mktemp("course")
    (folder / "ids.csv").write_text(ROSTER, encoding="utf-8")
    (folder / "secret").write_text(SECRET + "\n", encoding="utf-8")
    done = run(folder, "course", "make", "--students", "ids.csv", "--secret", "secret", "-o", "out")
    assert (done.returncode, done.stdout, done.stderr) == (0, "Wrote 3 folders to out\n", "")
    return folder


def cells(path):
    return json.loads(path.read_text(encoding="utf-8"))["cells"]


def test_there_is_one_folder_per_student_and_no_other(course):
    assert sorted(path.name for path in (course / "out").iterdir()) == ["0042", "ada", "cy@uni.ch"]
    for folder in (course / "out").iterdir():
        assert [path.name[:2] for path in sorted(folder.iterdir())] == [
            "00",
            "01",
            "02",
            "03",
            "04",
            "05",
            "06",
            "da",
        ]


def test_a_copy_holds_the_example_files(course):
    data = sorted((ROOT / "notebooks" / "data").iterdir())
    copied = sorted((course / "out" / "ada" / "data").iterdir())
    assert [path.name for path in copied] == [path.name for path in data]
    assert [path.read_bytes() for path in copied] == [path.read_bytes() for path in data]
    assert sum(path.stat().st_size for path in copied) < 320_000, "a class has sixty copies"


def test_no_solution_and_no_output_is_in_a_copy(course):
    for path in (course / "out").rglob("*.ipynb"):
        for cell in cells(path):
            assert "solution" not in cell["metadata"].get("tags", [])
            assert not re.search(r"\bSolutions?\b", source(cell))
            assert cell["cell_type"] != "code" or (cell["outputs"], cell["execution_count"]) == (
                [],
                None,
            )


def test_a_copy_keeps_the_cells_of_code(course):
    for path in sorted((ROOT / "notebooks").glob("0*.ipynb")):
        copied, given = (
            [source(cell) for cell in cells(place) if "code" in cell["metadata"].get("tags", [])]
            for place in (course / "out" / "ada" / path.name, path)
        )
        assert copied == given


def test_every_graded_exercise_is_asked_with_the_students_data_and_recorded(course):
    for student in ("ada", "0042"):
        texts = [
            source(cell)
            for path in (course / "out" / student).glob("*.ipynb")
            for cell in cells(path)
        ]
        for exercise, variant in VARIANTS.items():
            asked = variant.ask(task_of(SECRET.encode(), student, exercise))
            assert sum(f"**{exercise}** *(graded)* {asked}" in text for text in texts) == 1
            assert (
                sum(
                    f'wb.check("{exercise}", answer, record="answers.json")' in text
                    for text in texts
                )
                == 1
            )
        assert sum("answer, record=" in text for text in texts) == len(VARIANTS)
        assert (
            sum('wb.check("1.3", answer)' in text for text in texts) == 1
        )  # practice stays practice
        assert sum("Hand in the whole folder" in text for text in texts) == 5


def test_lessons_differ_from_the_originals_in_nothing_else(course):
    from workbench.reports.parameters import notebooks_folder

    for path in notebooks_folder().glob("*.ipynb"):
        mine = {cell["id"]: source(cell) for cell in cells(course / "out" / "ada" / path.name)}
        for cell in cells(path):
            tags = cell["metadata"].get("tags", [])
            if "exercise" not in tags and "solution" not in tags:
                assert mine.pop(cell["id"]) == source(cell)
        assert all(re.search(r"\*\*\d\.\d\*\*|wb\.check\(", text) for text in mine.values())


def test_no_accepted_answer_is_in_a_copy(course):
    """The numbers of the right answer, as a student would type them, stand nowhere together in a copy."""
    for folder in (course / "out").iterdir():
        text = "\n".join(path.read_text(encoding="utf-8") for path in folder.glob("*.ipynb"))
        for exercise in VARIANTS:
            right, _ = by_hand.answers(exercise, task_of(SECRET.encode(), folder.name, exercise))
            assert not stands(right, text), (folder.name, exercise)
        assert SECRET not in text and SECRET.encode().hex() not in text


def stands(answer, text):
    """Whether the numbers of an answer stand one after the other, to four digits."""
    wanted = [
        n for n in (answer if isinstance(answer, list) else [answer]) if not isinstance(n, str)
    ]
    found = np.array([float(number) for number in re.findall(r"\d*\.\d+|\d+", text)])
    windows = np.lib.stride_tricks.sliding_window_view(found, len(wanted))
    return bool((np.abs(windows - np.abs(wanted)) <= 2e-4 * np.abs(wanted)).all(1).any())


def test_the_search_finds_an_answer_that_is_there():
    assert stands([0.8803, 0.0287], "so it is (0.8803, .02870)") and stands(
        [42, 30, 2], "42 / 30 / 2"
    )
    assert not stands([0.8803, 0.0287], "0.8803 and 0.0301")


def test_students_can_be_added_and_folders_are_kept(course, tmp_path):
    (tmp_path / "secret").write_text(SECRET)
    (tmp_path / "ids.csv").write_text("id\nada\n")
    words = ("course", "make", "--students", "ids.csv", "--secret", "secret", "-o", "out")
    assert run(tmp_path, *words).stdout == "Wrote 1 folder to out\n"
    (tmp_path / "out" / "ada" / "answers.json").write_text("{}")
    (tmp_path / "ids.csv").write_text("id\nada\n0042\n")
    assert run(tmp_path, *words).stdout == "Wrote 1 folder to out; kept ada\n"
    assert (tmp_path / "out" / "ada" / "answers.json").read_text() == "{}"
    for name in ("01-stratified-accuracy.ipynb", "04-misclassification-correction.ipynb"):
        assert (tmp_path / "out" / "0042" / name).read_bytes() == (
            course / "out" / "0042" / name
        ).read_bytes()


def test_another_secret_is_noticed_before_the_class_is_mixed(course, tmp_path):
    (tmp_path / "other").write_text("another secret of the lecturer")
    (tmp_path / "ids.csv").write_text("id\nada\nnew\n")
    words = ("course", "make", "--students", "ids.csv", "--secret", "other", "-o", course / "out")
    done = run(tmp_path, *words)
    assert done.returncode == 2 and done.stderr.count("\n") == 1
    assert "has folders that were made with another secret: ada" in done.stderr
    assert not (course / "out" / "new").exists()


@pytest.mark.parametrize(
    "content",
    [
        "id;name\nada;Müller\n0042;Ö\n".encode("cp1252"),
        "id\tname\nada\tMüller\n0042\tÖ\n".encode("utf-16"),
        "id;name\r\nada;Müller\r\n0042;Ö\r\n".encode("utf-8-sig"),
        "id,name\rada,Müller\r0042,Ö\r".encode("utf-16-be"),
        b'"name, first";"also, this";"id"\n"a, b";"";"ada"\n"";"";"0042"\n',
    ],
)
def test_rosters_are_read_as_spreadsheets_save_them(tmp_path, content):
    (tmp_path / "ids.csv").write_bytes(content)
    assert read_students(str(tmp_path / "ids.csv")) == ["ada", "0042"]


def test_a_workbook_is_told_to_be_saved_as_text(tmp_path):
    with zipfile.ZipFile(tmp_path / "ids.xlsx", "w") as book:
        book.writestr("xl/workbook.xml", "")
    with pytest.raises(
        ReportError, match="ids.xlsx is not a valid CSV file: .*Save the table as text in UTF-8"
    ):
        read_students(str(tmp_path / "ids.xlsx"))


@pytest.mark.parametrize(
    ("roster", "message"),
    [
        (
            "id\n../evil\n",
            "ids.csv, row 2: id '../evil' must hold only letters A to Z and a to z, digits and . _ - @, "
            "begin with a letter or digit, and not end with a dot",
        ),
        ("id\nada\n..\\evil\n", "ids.csv, row 3: id '..\\\\evil' must hold only"),
        ("id,name\n,Ada\n", "ids.csv, row 2: id '' is empty"),
        ("id\nada\nbob\nada\n", "ids.csv, row 4: id 'ada' is already in row 2"),
        ("id\nAda\nada\n", "ids.csv, row 3: id 'ada' differs only by case from 'Ada' in row 2"),
        ("id\n" + "a" * 65 + "\n", "must have at most 64 characters"),
        ("id\ncon\n", "ids.csv, row 2: id 'con' is a name that Windows reserves"),
        ("id\nLPT1.txt\n", "is a name that Windows reserves"),
        ("id\nada.\n", "not end with a dot"),
        ("id\n-o\n", "begin with a letter or digit"),
        ("id\n/etc\n", "must hold only"),
        ("id\na\x00b\n", "must hold only"),
        ("id\nzoë\n", "must hold only"),
        ("id\n=1+1\n", "must hold only"),
        ("name\nada\n", "ids.csv must have one column 'id'; it has 'name'"),
        ("id,id\na,b\n", "ids.csv must have one column 'id'; it has 'id', 'id'"),
        (
            "name,id\nLovelace, Ada,ada\n",
            "row 2: 3 entries, but the header has 2; text with the separator needs",
        ),
        ("", "ids.csv must have one column 'id'; it has none"),
        ("id\n\n", "ids.csv has no students"),
        ('id\n"ada\n', "ids.csv is not a valid CSV file: unexpected end of data"),
    ],
)
def test_ids_are_checked_before_a_folder_is_made(tmp_path, roster, message):
    (tmp_path / "ids.csv").write_text(roster, encoding="utf-8")
    (tmp_path / "secret").write_text(SECRET)
    done = run(
        tmp_path, "course", "make", "--students", "ids.csv", "--secret", "secret", "-o", "out"
    )
    assert done.returncode == 2 and message in done.stderr and done.stderr.count("\n") == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["ids.csv", "secret"]


def test_a_missing_list_of_students_is_not_called_an_invalid_one(tmp_path):
    done = run(tmp_path, "course", "make", "--students", "none.csv", "-o", "out")
    assert done.stderr == "Error: cannot read 'none.csv': No such file or directory\n"


def test_every_wrong_row_is_told_at_once(tmp_path):
    (tmp_path / "ids.csv").write_text("id,name\n../a,A\nada,Ada\nbob,B, C\n,D\nada,E\nbob,F\n")
    with pytest.raises(ReportError) as told:
        read_students(str(tmp_path / "ids.csv"))
    assert re.findall(r"row (\d): ", str(told.value)) == ["2", "4", "5", "6", "7"]
    assert "row 5: id '' is empty; row 6: id 'ada' is already in row 3; row 7" in str(told.value)


def test_a_secret_is_made_beside_a_new_course_and_found_again(tmp_path):
    (tmp_path / "ids.csv").write_text("id\nada\n")
    words = ("course", "make", "--students", "ids.csv", "-o", "out")
    assert run(tmp_path, *words).returncode == 0
    secret = tmp_path / "out-secret.txt"
    assert len(secret.read_bytes()) == 65 and secret.stat().st_mode & 0o077 == 0
    task = task_of(secret.read_bytes().strip(), "ada", "1.1")
    assert any(
        VARIANTS["1.1"].ask(task) in source(cell)
        for path in (tmp_path / "out" / "ada").glob("*.ipynb")
        for cell in cells(path)
    )
    (tmp_path / "ids.csv").write_text("id\nada\nbob\n")
    before = secret.read_bytes(), (tmp_path / "out-weights.csv").write_text("mine")
    assert run(tmp_path, *words).stdout == "Wrote 1 folder to out; kept ada\n"
    assert (secret.read_bytes(), len((tmp_path / "out-weights.csv").read_text())) == before
    secret.unlink()
    done = run(tmp_path, *words)
    assert (
        done.returncode == 2
        and "cannot read the secret 'out-secret.txt'" in done.stderr
        and not secret.exists()
    )


@pytest.mark.parametrize(
    ("secret", "message"),
    [
        (b"short\n", "the secret 'secret' must have at least 16 characters; got 5"),
        (None, "cannot read the secret 'secret': No such file or directory"),
    ],
)
def test_a_secret_is_long_enough(tmp_path, secret, message):
    (tmp_path / "ids.csv").write_text("id\nada\n")
    if secret is not None:
        (tmp_path / "secret").write_bytes(secret)
    done = run(
        tmp_path, "course", "make", "--students", "ids.csv", "--secret", "secret", "-o", "out"
    )
    assert done.returncode == 2 and message in done.stderr and not (tmp_path / "out").exists()


def test_a_graded_check_records_plain_values_and_tells_nothing(tmp_path):
    file = tmp_path / "answers.json"
    for exercise, answer in (
        ("1.1", (0.88, 0.0288)),
        ("1.2", np.array([42, 30, 17, 9, 2])),
        ("2.1", np.float64(0.0205)),
        ("5.3", (1.4, 0.15, "no")),
        ("4.1", 0.126),
        ("4.1", 0.15),
    ):
        told = checking.check(exercise, answer, record=str(file))
        assert told.verdict == "recorded" and told.hint == told.explanation == ""
    assert told.message == "0.15; the exercise asks for the proportion"
    assert checking.check("3.1", None, record=str(file)).verdict == "no answer"
    assert json.loads(file.read_text()) == {
        "1.1": [0.88, 0.0288],
        "1.2": [42, 30, 17, 9, 2],
        "2.1": 0.0205,
        "5.3": [1.4, 0.15, "no"],
        "4.1": 0.15,
    }
    for bad in (
        {"a": 1},
        [[1, 2], [3]],
        True,
        float("nan"),
        10**400,
        "x" * 501,
        [1] * 51,
        b"x",
        [None],
    ):
        with pytest.raises(
            ValueError, match="an answer must be a number, a text of at most 500 characters, or one"
        ):
            checking.check("4.1", bad, record=str(file))
    assert json.loads(file.read_text())["4.1"] == 0.15
    assert [path.name for path in tmp_path.iterdir()] == ["answers.json"]


def test_a_damaged_file_of_answers_is_not_overwritten(tmp_path):
    file = tmp_path / "answers.json"
    for text in ('{"1.1": [0.8', "[]"):
        file.write_text(text)
        with pytest.raises(ValueError, match="answers.json .*delete it and answer again"):
            checking.check("4.1", 0.15, record=str(file))
        assert file.read_text() == text


def test_an_answer_that_cannot_be_recorded_is_told(tmp_path):
    """A text box shows the message of a ValueError and nothing else."""
    with pytest.raises(
        ValueError,
        match="^answers.json cannot be written: no such folder: '.*missing'. The answer was not",
    ):
        checking.check("4.1", 0.15, record=str(tmp_path / "missing" / "answers.json"))
    (tmp_path / "answers.json").mkdir()
    with pytest.raises(ValueError, match="^answers.json cannot be read: Is a directory"):
        checking.check("4.1", 0.15, record=str(tmp_path / "answers.json"))


def test_the_start_page_links_to_the_course_on_binder(course):
    address = "https://mybinder.org/v2/gh/me/course/HEAD?urlpath=lab/tree/00-start.ipynb"
    done = run(
        course,
        "course",
        "make",
        "--students",
        "ids.csv",
        "--secret",
        "secret",
        "-o",
        "linked",
        "--binder",
        address,
    )
    assert (done.returncode, done.stderr) == (0, "")
    linked, plain = (cells(course / name / "ada" / "00-start.ipynb") for name in ("linked", "out"))
    assert source(linked[1]).startswith(f"[Open this course on Binder]({address})")
    assert [linked[0], *linked[2:]] == plain
    for path in (course / "out" / "ada").glob("0[1-9]*.ipynb"):
        assert path.read_text() == (course / "linked" / "ada" / path.name).read_text()


@pytest.mark.parametrize(
    "address",
    [
        "mybinder.org/v2/gh/me/course/HEAD",
        "https://example.org/me/course",
        "x",
        "",
        "javascript:alert(1)//v2/gh/x",
        "https://mybinder.org/v2/gh/a) [b](c",
    ],
)
def test_an_address_that_is_no_binder_is_refused_in_one_line(course, address):
    done = run(
        course,
        "course",
        "make",
        "--students",
        "ids.csv",
        "--secret",
        "secret",
        "-o",
        "never",
        "--binder",
        address,
    )
    assert done.returncode == 2 and not (course / "never").exists()
    assert done.stderr.startswith("Error: --binder must be the Binder address of your repository")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("has_start", [True, False])
def test_a_wrong_binder_is_refused_before_a_secret_is_written(tmp_path, has_start):
    (tmp_path / "ids.csv").write_text("id\nada\n")
    address = "foo" if has_start else "https://mybinder.org/v2/gh/me/course/HEAD"
    words = ["course", "make", "--students", "ids.csv", "-o", "class", "--binder", address]
    if not has_start:
        (tmp_path / "mine").mkdir()
        notebook = {"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
        (tmp_path / "mine" / "mine.ipynb").write_text(json.dumps(notebook))
        words += ["--lessons", "mine"]
    before = sorted(tmp_path.iterdir())
    done = run(tmp_path, *words)
    assert done.returncode == 2 and done.stderr.startswith("Error: --binder ")
    assert sorted(tmp_path.iterdir()) == before
