import subprocess
import sys

import by_hand
import pytest

from workbench.extras.classroom.seeds import Draws, draws, fingerprint
from workbench.extras.classroom.variants import VARIANTS, task_of
from workbench.lessons.checking import judged

SECRET = b"a secret of the lecturer's"
STUDENTS = [f"student{k}" for k in range(25)]


def test_at_least_one_exercise_of_every_lesson_is_graded():
    assert tuple(VARIANTS) == by_hand.EXERCISES


@pytest.mark.parametrize("exercise", VARIANTS)
def test_right_answers_and_named_mistakes_are_told_apart_in_every_variant(exercise):
    slow = exercise in ("2.4", "4.4")
    for student in STUDENTS[:10] if slow else (f"student{k}" for k in range(150)):
        task = task_of(SECRET, student, exercise)
        right, mistaken = by_hand.answers(exercise, task)
        assert judged(exercise, right, **task)[::2] == ("correct", ""), task
        for name, answer in mistaken.items():
            assert judged(exercise, answer, **task)[::2] == ("mistake", name), task


@pytest.mark.parametrize("exercise", VARIANTS)
def test_the_text_holds_the_data_of_the_task(exercise):
    task = task_of(SECRET, "ada", exercise)
    text = VARIANTS[exercise].ask(task).replace(",", "")

    def numbers(value):
        return (
            [number for each in value for number in numbers(each)]
            if isinstance(value, (list, tuple))
            else [value]
        )

    told = {name: task[name][1:] for name in ("frame", "first", "second") if name in task}
    assert [
        n
        for name, value in task.items()
        for n in numbers(told.get(name, value))
        if f"{n:g}" not in text
    ] == []


@pytest.mark.parametrize("exercise", VARIANTS)
def test_variants_belong_to_secret_student_and_exercise(exercise):
    tasks = [task_of(SECRET, student, exercise) for student in STUDENTS]
    assert tasks == [task_of(SECRET, student, exercise) for student in STUDENTS]
    assert len({str(task) for task in tasks}) >= (
        15 if exercise == "2.4" else 24
    )  # 2.4 has 42 variants
    assert tasks != [
        task_of(b"another secret, also long", student, exercise) for student in STUDENTS
    ]


def test_exercises_do_not_share_their_draws():
    assert draws(SECRET, "ada", "1.1").number(0, 1, 9) != draws(SECRET, "ada", "1.2").number(
        0, 1, 9
    )


def test_variants_are_those_that_were_handed_out():
    """Grading months later must find the same tasks: nothing but the promised part of `random` may decide them."""
    assert task_of(SECRET, "ada", "1.1") == {
        "size": [360, 359, 360, 359, 359],
        "labeled": [23, 16, 22, 16, 23],
        "right": [11, 14, 22, 16, 23],
    }
    assert task_of(SECRET, "ada", "3.2") == {
        "size": [12, 131, 983],
        "spread": [63, 7, 2],
        "budget": 69,
    }
    code = "import workbench.extras.classroom.variants as v; print(v.task_of(b'a secret of the lecturer\\'s', 'ada', '5.1'))"
    told = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout
    assert told.strip() == str(task_of(SECRET, "ada", "5.1"))


def test_draws_stay_in_their_ranges_and_reach_their_ends():
    drawn = Draws(1)
    assert {drawn.integer(2, 4) for _ in range(100)} == {2, 3, 4}
    assert {drawn.hits(2, 4, 2) for _ in range(100)} == {0, 1, 2}
    assert (
        Draws(2).hits(7, 7, 5) == 5 and Draws(2).hits(0, 7, 5) == 0 and Draws(2).hits(3, 7, 7) == 3
    )
    assert sum(drawn.hits(200, 400, 20) for _ in range(500)) / 10_000 == pytest.approx(
        0.5, abs=0.02
    )
    assert sum(drawn.flips(0.2, 100) for _ in range(200)) / 20_000 == pytest.approx(0.2, abs=0.012)


def test_the_fingerprint_does_not_hold_the_secret():
    assert fingerprint(SECRET) != fingerprint(SECRET + b"!")
    assert len(fingerprint(SECRET)) == 16 and SECRET.hex()[:8] not in fingerprint(SECRET)
