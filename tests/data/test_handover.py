"""What the check of a report has read is handed to its kernel, and to nobody else."""

import os
import stat
import subprocess
import sys
from pathlib import Path
from unittest import mock

import numpy as np
import pytest

import workbench as wb
from workbench.data import engine, frames, handover, text_files

ROOT = Path(wb.__file__).parents[1]
ROWS = "id,score,fold,tree,stratum,size,sd,truth,prediction,period,n,counted\n" + "".join(
    f"i{k},0.{k},{k % 2},{k % 3},s{k},{100 + k},0.{k},{k % 2},{k % 2},2024-0{k},100,{k}\n"
    for k in range(1, 9)
)
READERS = {
    "scores": lambda path: wb.read_scores(
        path, score="score", prediction="prediction", id="id", score_is="confidence"
    ),
    "losses": lambda path: wb.CVLosses.read_csv(path, item="id", models="tree"),
    "strata": lambda path: wb.load_strata(path),
    "labeled": lambda path: wb.load_labeled(path),
    "audit": lambda path: wb.load_audit(path),
    "periods": lambda path: wb.load_periods(path, labels=(0, 1)),
}


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "items.csv"
    path.write_text(ROWS)
    return str(path)


@pytest.fixture
def folder(tmp_path):
    path = tmp_path / "handed"
    path.mkdir(mode=0o700)
    return str(path)


def same(one, other):
    """Whether two results say the same; NaN is like NaN."""
    return repr(one) == repr(other) and repr(getattr(one, "rows", str)()) == repr(
        getattr(other, "rows", str)()
    )


@pytest.mark.parametrize("reader", READERS.values(), ids=READERS)
def test_what_was_read_is_what_another_process_gets_without_reading(
    reader, file, folder, monkeypatch
):
    alone = reader(file)
    with handover.reading(folder):
        assert same(reader(file), alone)
    assert len(os.listdir(folder)) == 1
    monkeypatch.setenv(handover.HANDED, folder)
    with mock.patch.object(frames, "read_columns", side_effect=AssertionError("read again")):
        assert same(reader(file), alone)
    assert not os.path.exists(folder)  # it is taken once, and nothing stays


def test_a_relative_path_and_its_absolute_one_are_one_file(file, folder, monkeypatch):
    monkeypatch.chdir(Path(file).parent)
    with handover.reading(folder):
        READERS["scores"]("items.csv")
    monkeypatch.setenv(handover.HANDED, folder)
    with mock.patch.object(frames, "read_columns", side_effect=AssertionError("read again")):
        assert READERS["scores"](file).size == 8


def test_other_arguments_and_a_changed_file_are_read(file, folder, monkeypatch):
    with handover.reading(folder):
        READERS["scores"](file)
    monkeypatch.setenv(handover.HANDED, folder)
    assert wb.read_scores(file, score="score", score_is="confidence").prediction is None
    Path(file).write_text(ROWS + "i9,0.9,1,1,s9,109,0.9,1,1,2024-09,100,9\n")
    assert READERS["scores"](file).size == 9
    assert len(os.listdir(folder)) == 1  # who is handed something writes nothing


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such modes")
def test_nothing_is_taken_from_a_folder_that_others_can_write_to(file, folder, monkeypatch):
    with handover.reading(folder):
        READERS["scores"](file)
    (place,) = Path(folder).iterdir()
    place.write_bytes(b"not what was read")
    os.chmod(folder, stat.S_IRWXU | stat.S_IWGRP)
    monkeypatch.setenv(handover.HANDED, folder)
    assert READERS["scores"](file).size == 8


def test_a_check_opens_a_file_once(file, folder):
    opened, probed = (
        mock.Mock(wraps=engine._connection),
        mock.Mock(wraps=text_files.encoding_of_start),
    )
    with (
        mock.patch.object(engine, "_connection", opened),
        mock.patch.object(text_files, "encoding_of_start", probed),
        handover.reading(folder),
    ):
        frames.column_names(file)
        READERS["scores"](file)
        assert frames.row_count(file) == 8
    assert opened.call_count == probed.call_count == 1


def test_frames_and_arrays_are_never_handed(folder):
    with handover.reading(folder):
        wb.read_scores({"p": np.array([0.5, 0.75])}, score="p")
    assert not os.path.exists(folder)


def test_the_row_of_a_mistake_is_told_as_before(file, folder):
    Path(file).write_text(ROWS.replace("0.3", "x"))
    with handover.reading(folder), pytest.raises(ValueError, match="row 4"):
        READERS["scores"](file)
    assert not os.path.exists(folder)


@pytest.mark.kernel
def test_a_report_reads_a_file_once_and_leaves_nothing(file, tmp_path, monkeypatch):
    folder = tmp_path / "temporary"
    folder.mkdir()
    trace = tmp_path / "trace"
    (tmp_path / "sitecustomize.py").write_text(
        "import sys\n"
        f"sys.addaudithook(lambda event, details: event == 'import' and details[0] == 'duckdb' and "
        f"open({str(trace)!r}, 'a').write('duckdb\\n'))\n"
    )
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "workbench",
            "report",
            "stratified-accuracy",
            "--scores",
            file,
            "--prediction",
            "prediction",
            "--score-is",
            "confidence",
            "--budget",
            "6",
            "--n-strata",
            "2",
            "--quiet",
        ],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}", "TMPDIR": str(folder)},
    )
    assert done.returncode == 0, done.stderr
    assert trace.read_text() == "duckdb\n"  # in the command alone: the kernel has nothing to read
    assert os.listdir(folder) == []
