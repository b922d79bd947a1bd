"""Lessons run with the packages that Python in a browser has, and files are read without DuckDB."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

import workbench as wb
from workbench.data import engine, files, frames, text_files
from workbench.misclassification import files as count_files

NOTEBOOKS = sorted((Path(__file__).parents[2] / "notebooks").glob("0[0-5]*.ipynb"))
SCRIPT = Path(__file__).with_name("in_browser.py")
TEXTS = {
    "plain": "id,score\n1,0.5\n2,0.75\n",
    "quoted": 'id;text\n1;"a;b"\n2;"say ""no"""\n',
    "gaps": "id,score\n\n1,\n,2\n",
    "one column": "id\n1\n\n2\n",
    "comments": "# made by hand\nid\tscore\n1\t2\n",
    "separator": "sep=;\nid;score\n1;2,5\n",
    "Windows": "id,name\n1,M\u00fcller\n",
}


@pytest.fixture
def without_duckdb(monkeypatch):
    for module in (engine, files, text_files, count_files):
        monkeypatch.setattr(module, "has_duckdb", lambda: False)


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_lesson_runs_without_what_a_browser_lacks(tmp_path, path):
    folder = shutil.copytree(path.parent, tmp_path / "notebooks")
    run = subprocess.run(
        [sys.executable, SCRIPT, folder / path.name],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).parents[2],
    )
    assert json.loads(run.stdout.splitlines()[-1]) == {"failed": {}, "loaded": []}


@pytest.mark.parametrize("name", TEXTS)
def test_a_text_file_is_read_as_by_duckdb(tmp_path, monkeypatch, name):
    path = tmp_path / "t.csv"
    path.write_bytes(TEXTS[name].encode("cp1252" if name == "Windows" else "utf-8"))
    names = frames.column_names(path)
    expected, expected_notes = frames.read_columns(path, names)
    monkeypatch.setattr(text_files, "has_duckdb", lambda: False)
    columns, notes = frames.read_columns(path, names)
    assert {k: v.tolist() for k, v in columns.items()} == {
        k: v.tolist() for k, v in expected.items()
    }
    assert notes == expected_notes


def test_a_ragged_line_is_named_as_by_duckdb(tmp_path, monkeypatch):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n1,2\n3\n")
    messages = []
    for has_duckdb in (True, False):
        monkeypatch.setattr(text_files, "has_duckdb", lambda has=has_duckdb: has)
        with pytest.raises(ValueError, match="line 3: the header has 2 columns") as error:
            frames.read_columns(path, ["a"])
        messages.append(str(error.value))
    assert messages[0] == messages[1]


def test_a_quote_that_is_not_closed_is_refused(tmp_path, without_duckdb):
    path = tmp_path / "t.csv"
    path.write_text('a,b\n1,"2\n')
    with pytest.raises(ValueError, match="not well-formed"):
        frames.read_columns(path, ["a"])


def test_parquet_and_decimal_commas_are_summarized(tmp_path, without_duckdb):
    values = np.array([1.5, 2.5, 4.0])
    pa.parquet.write_table(pa.table({"s": ["a", "a", "b"], "v": values}), tmp_path / "t.parquet")
    (tmp_path / "t.csv").write_text("s;v\na;1,5\na;2,5\nb;4\n")
    for name in ("t.parquet", "t.csv"):
        summary = wb.summarize(tmp_path / name, "s", "v")
        assert summary.size.tolist() == [2, 1]
        np.testing.assert_allclose(summary.mean, [values[:2].mean(), 4])
        np.testing.assert_allclose(summary.sd[0], values[:2].std(ddof=1))


def test_predicted_classes_are_counted_by_period(tmp_path, without_duckdb):
    path = tmp_path / "t.csv"
    path.write_text("month,yhat\nJan,a\nJan,b\nFeb,b\nJan,b\n")
    counts = wb.load_periods(path, labels=["a", "b"], period="month", predicted="yhat")
    assert counts == {"Jan": (1, 2), "Feb": (0, 1)}


def test_a_file_is_read_in_parts_with_duckdb_only(tmp_path, without_duckdb):
    path = tmp_path / "t.csv"
    path.write_text("id\n1\n2\n")
    with frames.scan(path, ["id"]) as rows:
        with pytest.raises(ValueError, match="t.csv' can be read in parts only where DuckDB"):
            list(frames.slices(rows, 1))


@pytest.mark.parametrize(
    ("name", "module", "extra"),
    [("t.xlsx", "python_calamine", "xlsx"), ("t.csv.zst", "backports.zstd", "zstd")],
)
def test_an_error_says_how_to_install_what_is_optional(tmp_path, monkeypatch, name, module, extra):
    if extra == "zstd" and sys.version_info >= (3, 14):
        pytest.skip("Python reads Zstandard by itself from 3.14 on")
    monkeypatch.setitem(sys.modules, module, None)
    (tmp_path / name).write_bytes(b"no table")
    with pytest.raises(ValueError) as error:
        frames.read_columns(tmp_path / name, ["id"])
    assert f"{name}' needs {module}: pip install 'evaluation-workbench[{extra}]'" in str(
        error.value
    )


def test_without_any_library_for_tables_the_error_names_them(tmp_path, monkeypatch, without_duckdb):
    monkeypatch.setattr(engine, "find_spec", lambda name: None)
    (tmp_path / "t.parquet").write_bytes(b"PAR1")
    with pytest.raises(
        ValueError, match="t.parquet' needs DuckDB or one of polars, pyarrow, pandas"
    ):
        wb.summarize(tmp_path / "t.parquet", "s", "v")
