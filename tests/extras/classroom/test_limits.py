"""What a student's folder may cost: notebooks are read one by one, and none takes more room than it should."""

import json
import tracemalloc

from workbench.extras.classroom import submissions

EMPTY = '{"cells":[' + ",".join(["{}"] * 1_500_000) + "]}"


def answer(exercise, value):
    return json.dumps(
        {"cells": [{"cell_type": "code", "source": f'wb.check("{exercise}", {value})'}]}
    )


def test_seven_notebooks_of_empty_cells_take_no_more_room_than_one_of_them(tmp_path):
    lessons = [f"{k}.ipynb" for k in range(7)]
    for name in lessons[:-1]:
        (tmp_path / name).write_text(EMPTY)
    (tmp_path / lessons[-1]).write_text(answer("1.1", 0.5))
    tracemalloc.start()
    try:
        found = submissions.read_submission(tmp_path, lessons)
        assert tracemalloc.get_traced_memory()[1] < 50e6
    finally:
        tracemalloc.stop()
    assert [remark for remark in found.remarks if "parts" in remark] == [
        f"{name} has more than 2,000,000 parts" for name in lessons[:-1]
    ]
    assert found.answers["1.1"] == 0.5


def test_a_students_notebooks_have_a_limit_together(tmp_path, monkeypatch):
    monkeypatch.setattr(submissions, "MOST_STUDENT_BYTES", 150)
    (tmp_path / "a.ipynb").write_text(answer("1.1", 1) + " " * 60)
    (tmp_path / "b.ipynb").write_text(answer("1.2", 2) + " " * 60)
    found = submissions.read_submission(tmp_path, ["a.ipynb", "b.ipynb"])
    size = (tmp_path / "a.ipynb").stat().st_size
    assert found.answers["1.1"] == 1 and found.answers["1.2"] is None
    assert found.remarks[0] == f"b.ipynb has {size} bytes; the limit is {150 - size}"
