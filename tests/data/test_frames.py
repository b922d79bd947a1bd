import re

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.data.frames import column_names, read_columns
from workbench.data.numbers import as_text, to_ids, to_labels, to_numbers
from workbench.results import Note

MALFORMED = (
    "is not well-formed. A quote is not closed, text follows a closing quote, a cell has more than "
    "2,000,000 bytes, or line ends are mixed"
)
TABLE = {
    "id": ["007", "b", "c"],
    "score": [0.5, None, 0.1],
    "flag": [True, False, True],
    "n": [1, 2, 3],
}


def relation():
    return duckdb.sql("""SELECT * FROM (VALUES ('007', 0.5::DOUBLE, true, 1), ('b', NULL, false, 2),
                         ('c', 0.1::DOUBLE, true, 3)) t(id, score, flag, n)""")


def written(folder, kind):
    path = str(folder / f"table.{kind}")
    if kind == "parquet":
        relation().write_parquet(path)
    else:
        pl.DataFrame(TABLE).write_ndjson(path) if kind == "ndjson" else pd.DataFrame(TABLE).to_json(
            path, orient="records"
        )
    return path


ENGINES = {
    "pandas": lambda folder: pd.DataFrame(TABLE),
    "polars": lambda folder: pl.DataFrame(TABLE),
    "lazy": lambda folder: pl.LazyFrame(TABLE),
    "pyarrow": lambda folder: pa.table(TABLE),
    "duckdb": lambda folder: relation(),
    "dict": lambda folder: {**TABLE, "score": np.array(TABLE["score"], object)},
    "parquet": lambda folder: written(folder, "parquet"),
    "json": lambda folder: written(folder, "json"),
    "ndjson": lambda folder: written(folder, "ndjson"),
}


def save(folder, content, name="a.csv"):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def text_column(*cells):
    return np.array(cells, object)


@pytest.mark.parametrize("engine", ENGINES)
def test_every_engine_gives_the_same_columns(engine, tmp_path):
    source = ENGINES[engine](tmp_path)
    assert column_names(source) == ("id", "score", "flag", "n")
    columns, notes = read_columns(source, ["score", "id", "flag", "n"])
    assert list(columns) == ["score", "id", "flag", "n"]
    assert {name: values.tolist() for name, values in columns.items()} == TABLE
    assert all(isinstance(values, np.ndarray) for values in columns.values())
    assert notes == ()


@pytest.mark.parametrize("engine", ENGINES)
def test_every_engine_names_a_missing_column(engine, tmp_path):
    message = "has no column 'scor'; available columns: 'id', 'score', 'flag', 'n' (did you mean 'score'?)"
    with pytest.raises(ValueError, match=re.escape(message)):
        read_columns(ENGINES[engine](tmp_path), ["scor"])


@pytest.mark.parametrize("delimiter", [";", "\t", ",", "|"])
@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("bom", ["", "\ufeff"])
def test_text_files_of_every_delimiter(delimiter, line_end, bom, tmp_path):
    rows = ['id|"a;b,c,d\te"|score', '007|"x;,\t y"|0.5', '"new\nline"||1']
    text = bom + line_end.join(row.replace("|", delimiter) for row in rows) + line_end
    columns, notes = read_columns(save(tmp_path, text), ["id", "a;b,c,d\te", "score"])
    assert columns["id"].tolist() == ["007", "new\nline"]
    assert columns["a;b,c,d\te"].tolist() == ["x;,\t y", None]
    assert columns["score"].tolist() == ["0.5", "1"]
    assert notes == ()


@pytest.mark.parametrize(
    "encoding, name",
    [
        ("cp1252", "Windows-1252"),
        ("utf-16", "UTF-16"),
        ("utf-16-le", "UTF-16"),
        ("utf-16-be", "UTF-16"),
    ],
)
def test_other_encodings_are_read_and_noted(encoding, name, tmp_path):
    path = save(tmp_path, "größe;id\nüber;007\n".encode(encoding))
    columns, notes = read_columns(path, ["größe", "id"])
    assert columns["größe"].tolist() == ["über"]
    assert columns["id"].tolist() == ["007"]
    assert notes == (Note("data", f"{str(path)!r} is not UTF-8; it was read as {name}"),)


def test_an_encoding_that_shows_late_is_found(tmp_path):
    path = save(tmp_path, b"id;name\n" + b"1;plain\n" * 300_000 + "2;größe\n".encode("cp1252"))
    columns, notes = read_columns(path, ["name"])
    assert columns["name"][-1] == "größe" and len(notes) == 1


def test_bytes_that_are_no_text(tmp_path):
    message = "is not text in UTF-8, UTF-16 or Windows-1252. Save it as UTF-8"
    with pytest.raises(ValueError, match=re.escape(message)):
        read_columns(save(tmp_path, b"a\n\x81\n"), ["a"])


@pytest.mark.parametrize(
    "content, message",
    [
        ("", "is empty"),
        ("\ufeff", "is empty"),
        ("a;b\n", "has no data rows"),
        (
            "\na;b\n1;2\n",
            "line 1 is blank or contains control characters. The first line must name the columns",
        ),
        ("a;a;b\n1;2;3\n", "has 2 columns named 'a'. Rename all but one"),
        ("a;b\n1;2\n3\n", "line 3: the header has 2 columns, but this line has 1"),
        ("a;b\n1;2\n3;4;5\n", "line 3: the header has 2 columns, but this line has more"),
        ("a,b,c\n1,2,3\n1,2,3,4,5,6\n", "line 3: the header has 3 columns, but this line has more"),
        (
            'a\tb\n1\t2\n"3\t3"\t4\t5\t6\n',
            "line 3: the header has 2 columns, but this line has more",
        ),
        ('a;b\n1;2\n3;"4\n', f"line 3 {MALFORMED}"),
        ('a;b\n1;"2"x\n3;4\n', f"line 2 {MALFORMED}"),
        ('"a;b\n1;2\n', "line 1: a column name is too long, or a quote is not closed"),
        ("a;b\n1;2\r\n3;4\r\n", MALFORMED),
    ],
)
def test_malformed_text_files(content, message, tmp_path):
    path = save(tmp_path, content)
    with pytest.raises(ValueError) as error:
        read_columns(path, ["a"])
    assert str(error.value) in (f"{str(path)!r} {message}", f"{str(path)!r}, {message}")


def test_a_repeated_column_that_is_not_requested_does_no_harm(tmp_path):
    assert read_columns(save(tmp_path, "a;a;b\n1;2;3\n"), ["b"])[0]["b"].tolist() == ["3"]


@pytest.mark.parametrize(
    "content, name, message",
    [
        (b"{", "a.json", "is cut off or damaged at line 1, column 2. Export it again"),
        (b"xx", "a.parquet", "cannot be read: "),
        (b'[{"a":}]', "b.json", "is cut off or damaged at line 1, column 7. Export it again"),
    ],
)
def test_malformed_data_files_take_one_line(content, name, message, tmp_path):
    with pytest.raises(ValueError, match=message) as error:
        read_columns(save(tmp_path, content, name), ["a"])
    assert "\n" not in str(error.value)


def test_file_names_are_escaped_and_taken_literally(tmp_path):
    with pytest.raises(ValueError, match=re.escape("no such file: 'nowhere\\n.csv'")):
        read_columns("nowhere\n.csv", ["a"])
    with pytest.raises(
        ValueError, match=re.escape("must end in one of .csv, .tsv, .txt, .parquet, .json")
    ):
        read_columns(save(tmp_path, "a", "a.doc"), ["a"])
    save(tmp_path, "a\nwrong\n", "ab.csv")
    assert read_columns(save(tmp_path, "a\nright\n", "a[b]'*.csv"), ["a"])[0]["a"].tolist() == [
        "right"
    ]
    assert column_names(save(tmp_path, "a\n1\n", "a?.csv")) == ("a",)


def test_sources_that_are_no_table():
    with pytest.raises(TypeError, match="source must be a path or a data frame; got int"):
        read_columns(3, ["a"])
    with pytest.raises(TypeError, match="columns must be a list of names; got 'a'"):
        read_columns({"a": [1]}, "a")
    with pytest.raises(ValueError, match="columns must name at least one column"):
        read_columns({"a": [1]}, [])
    with pytest.raises(ValueError, match="the data frame repeats column names"):
        read_columns(pd.DataFrame([[1, 2]], columns=["a", "a"]), ["a"])
    with pytest.raises(ValueError, match="the data frame has no data rows"):
        read_columns(pl.DataFrame({"a": []}), ["a"])
    with pytest.raises(ValueError, match="columns must be of equal length; 'a' has 1, 'b' has 2"):
        read_columns({"a": [1], "b": [1, 2]}, ["a"])


def test_json_keeps_text_and_numbers_apart(tmp_path):
    text = '[{"id":"007","day":"2024-01-01","x":1},{"id":"8","x":0.1},{"x":2,"late":1}]'
    path = save(tmp_path, text, "a.json")
    columns, _ = read_columns(path, ["id", "day", "x", "late"])
    assert columns["id"].tolist() == ["007", "8", None]
    assert columns["day"].tolist() == ["2024-01-01", None, None]
    assert columns["x"].tolist() == [1, 0.1, 2]
    assert columns["late"].tolist() == [None, None, 1]


def test_categories_are_text(tmp_path):
    path = str(tmp_path / "a.parquet")
    duckdb.sql("SELECT 'u'::ENUM('u', 'v') AS \"q\"\"x\"").write_parquet(path)
    for source in (
        path,
        pd.DataFrame({'q"x': pd.Categorical(["u"])}),
        pl.DataFrame({'q"x': ["u"]}, schema={'q"x': pl.Categorical}),
    ):
        assert to_labels("q", read_columns(source, ['q"x'])[0]['q"x']).tolist() == ["u"]


@pytest.mark.parametrize(
    "cells, message",
    [
        (("1", "abc"), "data row 2: 'abc' is not a number. Correct the cell"),
        (("1", None), "data row 2 is empty. Fill the cell or delete the row"),
        (("1", "  "), "data row 2 is empty. Fill the cell or delete the row"),
        (("1", "nan"), "data row 2 is empty. Fill the cell or delete the row"),
        (("1", "1_0"), "data row 2: '1_0' is not a number. Correct the cell"),
        (("1", "1e400"), "data row 2: 1e400 is not a finite number"),
        (
            ("1", "12,34,567"),
            "data row 2: '12,34,567' is not a number. Correct the cell",
        ),
        (
            ("1", "0,123,456"),
            "data row 2: '0,123,456' is not a number. Correct the cell",
        ),
        (("1", "1,234,56"), "data row 2: '1,234,56' is not a number. Correct the cell"),
        (("1", "1 23"), "data row 2: '1 23' is not a number. Correct the cell"),
        (
            ("2", "1,234"),
            "data row 2: '1,234' may be 1234 or 1.234, because its comma may separate thousands "
            "or decimals. Write it without a comma",
        ),
        (
            ("1.234,5", "1,234.5"),
            "data row 1: '1.234,5' has a decimal comma, but data row 2: '1,234.5' has a decimal "
            "point. Use the same mark in all cells",
        ),
        (
            ("1.234", "1,234"),
            "data row 1: '1.234' may be 1234 or 1.234, because its point may separate thousands "
            "or decimals. Write it without a point",
        ),
        (
            ("0.5", "0,6"),
            "data row 2: '0,6' has a decimal comma, but data row 1: '0.5' has a decimal point. Use the same mark in all cells",
        ),
        (
            ("1", "x" * 99),
            "data row 2: '" + "x" * 57 + "...' is not a number. Correct the cell",
        ),
    ],
)
def test_cells_that_are_no_number(cells, message):
    with pytest.raises(ValueError) as error:
        to_numbers("score", text_column(*cells))
    assert str(error.value) == f"column 'score', {message}"


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_numbers_that_are_not_finite(value):
    with pytest.raises(
        ValueError, match=f"column 'score', data row 2: {value:g} is not a finite number"
    ):
        to_numbers("score", np.array([1, value]))


def test_numbers_of_many_kinds():
    assert to_numbers("x", text_column("TRUE", "false", "1")).tolist() == [1, 0, 1]
    assert to_numbers("x", np.array([True, False])).tolist() == [1, 0]
    assert to_numbers("x", text_column("0,5", "1,234", "2")).tolist() == [0.5, 1.234, 2]
    assert to_numbers("x", text_column(" .5 ", "-5.", "+1E-3")).tolist() == [0.5, -5, 0.001]
    assert to_numbers("x", text_column(1, "0.5", True)).tolist() == [1, 0.5, 1]


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1))
def test_numbers_are_those_of_python(values):
    assert to_numbers("x", text_column(*map(repr, values))).tolist() == values
    commas = text_column(*(repr(value).replace(".", ",") for value in values), "0,5")
    assert to_numbers("x", commas).tolist() == [*values, 0.5]


def test_labels():
    assert to_labels("y", text_column("01", "1", "1.0")).tolist() == [1, 1, 1]
    assert to_labels("y", text_column("0,5", "1")).tolist() == [0.5, 1]
    assert to_labels("y", text_column(" a", "b ", "1")).tolist() == ["a", "b", "1"]
    assert to_labels("y", text_column("9007199254740993", "9007199254740992")).dtype.kind == "U"
    assert to_labels("y", np.array([1.0, 2.0])).dtype.kind == "i"
    assert to_labels("y", np.array([True, False])).tolist() == [1, 0]
    with pytest.raises(
        ValueError, match="column 'y', data row 2 is empty. Fill the cell or delete the row"
    ):
        to_labels("y", text_column("a", None))
    message = (
        "column 'y', data row 2: a label may have at most 200 characters, but this text has 201"
    )
    with pytest.raises(ValueError, match=message):
        to_labels("y", text_column("a", "b" * 201))


def test_ids():
    assert to_ids("id", np.array([3, 1])).dtype.kind == "i"
    assert to_ids("id", text_column(" 007", "7")).tolist() == ["007", "7"]
    with pytest.raises(
        ValueError,
        match="column 'id': every item needs an id of its own, but 'a' is in data row 1 and data row 3",
    ):
        to_ids("id", text_column("a", "b", "a "))
    with pytest.raises(
        ValueError, match="column 'id', data row 2 is empty. Fill the cell or delete the row"
    ):
        to_ids("id", text_column("a", ""))


def test_as_text_of_numbers():
    assert as_text(text_column(1, 1.5, True, float("nan"))) == ["1", "1.5", "1", ""]


@pytest.mark.slow
def test_many_rows(tmp_path):
    size = 700_000
    score = np.random.default_rng(0).random(size)
    path = tmp_path / "many.csv"
    with open(path, "w") as file:
        file.write("id;score\n")
        file.writelines(f"{i:07d};{value!r}\n" for i, value in enumerate(score.tolist()))
    columns, notes = read_columns(path, ["score", "id"])
    assert np.array_equal(to_numbers("score", columns["score"]), score)
    assert to_ids("id", columns["id"])[[0, -1]].tolist() == ["0000000", "0699999"]
    assert notes == ()


@pytest.mark.parametrize(
    "cell, read",
    [
        ('{""choices"": [""cat""]}', "cat"),
        ('{""choices"":[]}', None),
        ("{'choices': ['cat']}", "cat"),
        ("{choices: [black cat]}", "black cat"),
        ('{""choices"": [""a, b""]}', "a, b"),
    ],
)
def test_cells_of_choices_are_their_choice(tmp_path, cell, read):
    (tmp_path / "x.csv").write_text(
        f'id,choice\n1,"{{""choices"": [""dog""]}}"\n2,"{cell}"\n', encoding="utf-8"
    )
    columns, notes = read_columns(tmp_path / "x.csv", ["id", "choice"])
    assert columns["choice"].tolist() == ["dog", read]
    assert (
        str(notes[0])
        == "column 'choice' contains choices of Label Studio: {\"choices\": [\"dog\"]} is read as 'dog'"
    )


def test_a_column_with_several_choices_in_a_cell_stays_as_it_is(tmp_path):
    (tmp_path / "x.csv").write_text(
        'choice\n"{""choices"": [""a"", ""b""]}"\n"{""choices"": [""a""]}"\n'
    )
    columns, notes = read_columns(tmp_path / "x.csv", ["choice"])
    assert (
        columns["choice"].tolist() == ['{"choices": ["a", "b"]}', '{"choices": ["a"]}']
        and not notes
    )
