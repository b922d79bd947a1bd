"""Files that are odd: names that repeat, bytes that are no text, lines without end; and what DuckDB may not do."""

import json
import os
import re
import tempfile
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet
import pytest

import workbench as wb
from workbench.data import engine
from workbench.data.frames import column_names, read_columns, scan

NO_TEXT = ", despite its name. Save the table as text in UTF-8"
MALFORMED = (
    "is not well-formed. A quote is not closed, text follows a closing quote, a cell has more than "
    "2,000,000 bytes, or line ends are mixed"
)
NESTED = pa.array([{"a": 1, "b": {"a": 2}}, {"a": 3, "b": None}])


def csv(path, names, rows):
    path.write_text("\n".join(",".join(map(str, row)) for row in [names, *rows]) + "\n")


def parquet(path, names, rows):
    columns = [pa.array(column) for column in zip(*rows, strict=True)]
    pyarrow.parquet.write_table(pa.table(columns, names=list(names)), path)


def as_json(path, names, rows):
    lines = [
        "{"
        + ",".join(f"{json.dumps(name)}:{cell}" for name, cell in zip(names, row, strict=True))
        + "}"
        for row in rows
    ]
    path.write_text("[" + ",".join(lines) + "]")


def ndjson(path, names, rows):
    as_json(path, names, rows)
    path.write_text(path.read_text()[1:-1].replace("},{", "}\n{"))


WRITERS = {"csv": csv, "parquet": parquet, "json": as_json, "ndjson": ndjson}


@pytest.fixture(params=WRITERS)
def written(request, tmp_path):
    """Write a table of whole numbers as one kind of file."""

    def write(names, *rows):
        path = tmp_path / f"t.{request.param}"
        WRITERS[request.param](path, names, rows)
        return str(path)

    return write


def numbers(path, *names):
    return {
        name: [int(cell) for cell in column]
        for name, column in read_columns(path, names)[0].items()
    }


def test_names_that_differ_only_by_case_are_told_apart(written):
    path = written(["a", "A", "b.c", "A_1"], (1, 2, 3, 4), (5, 6, 7, 8))
    assert column_names(path) == ("a", "A", "b.c", "A_1")
    assert numbers(path, "A", "a", "A_1", "b.c") == {
        "A": [2, 6],
        "a": [1, 5],
        "A_1": [4, 8],
        "b.c": [3, 7],
    }


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_name_that_repeats_is_refused_where_it_is_asked_for(kind, tmp_path):
    path = str(tmp_path / f"t.{kind}")
    WRITERS[kind](tmp_path / f"t.{kind}", ["a", "b", "a", "A"], [(1, 2, 3, 4)])
    assert column_names(path).count("a") == 2 and sorted(column_names(path)) == ["A", "a", "a", "b"]
    assert numbers(path, "A", "b") == {"A": [4], "b": [2]}
    with pytest.raises(
        ValueError, match=re.escape(f"{path!r} has 2 columns named 'a'. Rename all but one")
    ):
        read_columns(path, ["a"])
    with pytest.raises(ValueError, match="has no column 'a_1'; available columns: 'a', "):
        read_columns(path, ["a_1"])


@pytest.mark.parametrize("kind", ["json", "ndjson"])
def test_a_record_that_repeats_a_field_is_refused(kind, tmp_path):
    path = tmp_path / f"t.{kind}"
    WRITERS[kind](path, ["b", "a", "a"], [(1, 2, 3)])
    with pytest.raises(ValueError, match="has a record with two fields 'a'. Rename one"):
        read_columns(path, ["b"])


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_scan_tells_names_apart_and_refuses_what_duckdb_cannot_hold(kind, tmp_path):
    path = tmp_path / f"t.{kind}"
    WRITERS[kind](path, ["g", "y", "Y"], [(1, 2, 30), (1, 4, 50)])
    assert wb.summarize(path, "g", "Y").mean.tolist() == [40]
    message = (
        "has columns 'y' and 'Y', which differ in upper and lower case only. Rename one of them"
    )
    with pytest.raises(ValueError, match=re.escape(f"{str(path)!r} {message}")):
        wb.summarize(path, "y", "Y")
    WRITERS[kind](path, ["g", "y", "y"], [(1, 2, 3)])
    with pytest.raises(
        ValueError, match=re.escape(f"{str(path)!r} has 2 columns named 'y'. Rename all but one")
    ):
        wb.summarize(path, "g", "y")


def test_columns_of_parquet_may_hold_columns(tmp_path):
    path = tmp_path / "t.parquet"
    table = pa.table([NESTED, pa.array([[1], [2, 3]]), pa.array([5, 6])], names=["s", "l", "a"])
    pyarrow.parquet.write_table(table, path)
    assert column_names(path) == ("s", "l", "a", "s.a", "s.b", "s.b.a")
    assert read_columns(path, ["s.b.a"])[0]["s.b.a"].tolist() == [2, None]
    assert numbers(path, "a") == {"a": [5, 6]}


def test_keys_of_json_are_any_text(tmp_path):
    path = tmp_path / "t.json"
    path.write_text(
        json.dumps(
            [{"a/b~c.d\"e'": 1.5, "": True, "$x": "t"}, {"": False, "late": [1, {"x": None}]}]
        )
    )
    assert column_names(path) == ("a/b~c.d\"e'", "", "$x", "late")
    found = {
        name: column.tolist() for name, column in read_columns(path, column_names(path))[0].items()
    }
    assert found == {
        "a/b~c.d\"e'": [1.5, None],
        "": [True, False],
        "$x": ["t", None],
        "late": [None, [1, {"x": None}]],
    }


@pytest.mark.parametrize(
    "encoding, notes",
    [
        ("utf-8", ()),
        ("utf-8-sig", ()),
        ("utf-16", ("{} is not UTF-8; it was read as UTF-16",)),
        ("cp1252", ("{} is not UTF-8; it was read as Windows-1252",)),
    ],
)
@pytest.mark.parametrize(
    "name, text", [("t.json", '[{"é":"ü"}]'), ("t.ndjson", '{"é":"ü"}\n{"é":"x"}\n')]
)
def test_json_may_begin_with_a_byte_order_mark(name, text, encoding, notes, tmp_path):
    path = tmp_path / name
    path.write_bytes(text.encode(encoding))
    columns, found = read_columns(path, ["é"])
    assert columns["é"][0] == "ü" and column_names(path) == ("é",)
    assert tuple(map(str, found)) == tuple(note.format(repr(str(path))) for note in notes)


@pytest.mark.parametrize(
    "text, message",
    [
        ("[[1, 2], {}]", ", record 1 is a list, not a record"),
        ('{"a": 1}\n7\n', ", record 2 is a number, not a record"),
        ("[]", " contains an empty list"),
        ('[{"a": 1}]', " has no column 'b'; available columns: 'a'"),
    ],
)
def test_json_that_is_no_table(text, message, tmp_path):
    path = tmp_path / "t.json"
    path.write_text(text)
    with pytest.raises(ValueError) as error:
        read_columns(path, ["b"])
    assert str(error.value) == f"{str(path)!r}{message}"


@pytest.mark.parametrize(
    "content, message",
    [
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", " is a PNG picture" + NO_TEXT),
        (b"PK\x03\x04\x14\0\6\0", " is a zip archive or a workbook" + NO_TEXT),
        (b"PAR1\x15\4\x15", " is a Parquet file" + NO_TEXT),
        (
            b"id,\x02a\n1,2\n",
            ", line 1 is blank or contains control characters. The first line must name the columns",
        ),
        (
            b"id,t\n1," + b"x" * 2_000_000 + b"\n2,y\n",
            f", line 2 {MALFORMED}",
        ),
        (
            b'id,t\n1,"' + b"x" * 10_000_000 + b'"\n2,y\n',
            f", line 2 {MALFORMED}",
        ),
        (
            b'id,"' + b"x" * 2_000_000 + b'"\n1,2\n',
            ", line 1: a column name is too long, or a quote is not closed",
        ),
        (
            b"id," + b"x" * 140_000 + b"\n1,2\n",
            ", line 1: a column name is too long, or a quote is not closed",
        ),
        (
            b'id,a"b\nc"d\n1,2\n',
            ", line 1: a column name is too long, or a quote is not closed",
        ),
    ],
    ids=range(9),
)
def test_text_files_that_are_none(content, message, tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(content)
    with pytest.raises(ValueError) as error:
        read_columns(path, ["id"])
    assert str(error.value) == f"{str(path)!r}{message}"


def test_many_column_names_are_cut(written):
    path = written([f"c{k}" for k in range(1200)], range(1200))
    listed = ", ".join(repr(name) for name in column_names(path)[:20])
    with pytest.raises(
        ValueError,
        match=re.escape(f"{path!r} has no column 'q'; available columns: {listed} and 1,180 more"),
    ):
        read_columns(path, ["q"])


@pytest.mark.parametrize("cell", ["1_000", "1_0,5", "_1", "1e5_0"])
def test_digits_with_underscores_are_no_numbers(cell, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(f"g;y\na;2\na;{cell}\n")
    with pytest.raises(ValueError, match=f"column 'y', row 3: '{cell}' is not a number"):
        wb.read_scores(path, score="y", score_is="margin")
    with pytest.raises(
        ValueError, match=f"{re.escape(repr(str(path)))}(, a cell)?: '{cell}' is not a number"
    ):
        wb.summarize(path, "g", "y")


@pytest.mark.parametrize("name", ["file", "no such folder/file", "f\0ile", "f" * 300])
def test_names_of_files_that_are_not_there(name):
    with pytest.raises(ValueError, match=re.escape(f"no such file: {name + '.csv'!r}")):
        read_columns(name + ".csv", ["a"])


@pytest.mark.parametrize("name", ["t.csv", "t.parquet"])
def test_duckdb_reads_this_file_and_nothing_else(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for other in (name, f"other-{name}"):
        WRITERS[name.split(".")[1]](tmp_path / other, ["a"], [(1,)])
    os.symlink(name, f"link-{name}")
    with scan(f"link-{name}", ["a"]) as rows:
        assert rows.native.fetchall() in ([("1",)], [(1,)])
    with engine.connected("'t'", name) as connection:
        settings = dict(connection.execute("SELECT name, value FROM duckdb_settings()").fetchall())
        for forbidden in (f"other-{name}", "https://example.invalid/t.csv"):
            with pytest.raises(duckdb.PermissionException):
                connection.sql(f"SELECT * FROM '{forbidden}'").fetchall()
    assert [settings[f"{verb}_known_extensions"] for verb in ("autoinstall", "autoload")] == [
        "false",
        "false",
    ]


def test_duckdb_spills_into_the_temporary_folder_and_cleans_up(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    Path("temporary").mkdir()
    with engine.connected("'t'", "t.csv") as connection:
        connection.execute("SET memory_limit = '60MB'")
        connection.execute("SET threads = 1")
        connection.execute(
            "CREATE TABLE t AS SELECT range AS k, hash(range)::VARCHAR AS text FROM range(2_000_000)"
        )
        assert {path.parts[0] for path in Path().rglob("*.tmp")} == {"temporary"}
    assert list(Path().rglob("*")) == [Path("temporary")]
