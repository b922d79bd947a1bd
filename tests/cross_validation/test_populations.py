"""The paper's populations: from any source the same rows, known by a hash that is computed here on its own."""

import gzip
import hashlib
import os
import random
import struct
import types
import zipfile

import numpy as np
import pytest
from command import run
from sklearn import datasets

from workbench.cross_validation import populations
from workbench.cross_validation.learners import (
    Population,
    Samples,
    gaussian_population,
    nearest_centroid,
)
from workbench.cross_validation.populations import (
    KNOWN,
    keep_population,
    kept_file,
    kept_population,
    recognized,
)

ROWS = [
    (letter, *(7 * k % 11 + column for column in range(3))) for k, letter in enumerate("ZAMNBYQC")
]
TREES = [(*(5 * k % 7 + column - 2 for column in range(2)), k % 7 + 1) for k in range(9)]


def digest(rows):
    """SHA-256 of sorted rows of 16-bit numbers, low byte first."""
    return hashlib.sha256(
        b"".join(struct.pack(f"<{len(row)}h", *row) for row in sorted(rows))
    ).hexdigest()


@pytest.fixture(autouse=True)
def small(monkeypatch, tmp_path):
    """Letter and Forest with a few rows."""
    letter = digest([(*row[1:], int(row[0] > "M")) for row in ROWS])
    forest = digest([(*row[:-1], int(row[-1] != 2)) for row in TREES])
    fields = {name: vars(KNOWN[name]) for name in KNOWN}
    monkeypatch.setitem(
        KNOWN,
        "letter",
        type(KNOWN["letter"])(**fields["letter"] | {"items": 8, "features": 3, "digest": letter}),
    )
    monkeypatch.setitem(
        KNOWN,
        "forest",
        type(KNOWN["forest"])(**fields["forest"] | {"items": 9, "features": 2, "digest": forest}),
    )
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path / "home"))


def text(rows, header=""):
    return header + "".join(",".join(map(str, row)) + "\n" for row in rows)


def archived(path, name, content):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("package/data/other.csv", "1,2\n")
        archive.writestr(f"package/data/{name}", content)


SOURCES = {
    "as published": lambda path: path.write_text(text(ROWS)),
    "class last, shuffled": lambda path: path.write_text(
        text(random.Random(1).sample([(*row[1:], row[0]) for row in ROWS], 8))
    ),
    "with a header, quoted": lambda path: path.write_text(
        text([(f'"{row[0]}"', *row[1:]) for row in ROWS], '"lettr","x.box","y.box","width"\n')
    ),
    "with remarks": lambda path: path.write_text(
        text([(*row[1:], row[0]) for row in ROWS], "@relation letter\n@data\n")
    ),
    "packed": lambda path: path.write_bytes(gzip.compress(text(ROWS).encode())),
    "a wheel": lambda path: archived(path, "letter.dat", text(ROWS)),
}


@pytest.mark.parametrize("source", SOURCES)
def test_every_source_gives_the_same_rows(tmp_path, source):
    SOURCES[source](tmp_path / "source")
    path = keep_population("letter", source=tmp_path / "source")
    assert path == tmp_path / "home" / "workbench" / "letter.npz" == kept_file("letter")
    X, y = kept_population("letter")
    assert [*map(tuple, np.column_stack([X, y]).tolist())] == sorted(
        (*row[1:], row[0] > "M") for row in ROWS
    )


def test_what_is_fetched_is_checked_and_kept(monkeypatch):
    def fetch_letter(name, **how):
        assert (name, how["version"]) == ("letter", 1)
        return types.SimpleNamespace(
            data=np.array([row[1:] for row in ROWS], float),
            target=np.array([row[0] for row in ROWS], object),
        )

    monkeypatch.setattr(datasets, "fetch_openml", fetch_letter)
    monkeypatch.setattr(
        datasets,
        "fetch_covtype",
        lambda: types.SimpleNamespace(
            data=np.array(TREES, float)[::-1, :-1],
            target=np.array([row[-1] for row in TREES[::-1]]),
        ),
    )
    assert kept_population("forest") is None
    keep_population("letter"), keep_population("forest")
    assert kept_population("letter")[1].sum() == sum(row[0] > "M" for row in ROWS) == 4
    X, y = kept_population("forest")
    assert [*map(tuple, np.column_stack([X, y]).tolist())] == sorted(
        (*row[:-1], row[-1] != 2) for row in TREES
    )


@pytest.mark.parametrize(
    "content, message",
    [
        (
            text(ROWS[:-1]),
            "source must contain 8 items of Letter with 3 features and a class; got 7 rows of 4 columns",
        ),
        (
            text([*ROWS[:-1], ("C", 1, 2, 3)]),
            "source must contain the values of Letter. The numbers of rows and columns agree, but some values differ",
        ),
        (
            text([*ROWS[:-1], ("C", *ROWS[-1][1:-1], 0.5 + ROWS[-1][-1])]),
            "source must contain the values of Letter. The numbers of rows and columns agree, but some values differ",
        ),
        (
            text([("N", *row[1:]) if row[0] == "C" else row for row in ROWS]),
            "source must contain the values of Letter. The numbers of rows and columns agree, but some values differ",
        ),
    ],
)
def test_other_values_are_refused_and_nothing_is_kept(tmp_path, content, message):
    (tmp_path / "letter.csv").write_text(content)
    with pytest.raises(ValueError) as caught:
        keep_population("letter", source=tmp_path / "letter.csv")
    assert str(caught.value) == message and not kept_file("letter").exists()


def test_a_kept_file_that_was_changed_is_named(tmp_path):
    (tmp_path / "letter.csv").write_text(text(ROWS))
    path = keep_population("letter", tmp_path, source=tmp_path / "letter.csv")
    np.savez_compressed(path, table=np.load(path)["table"] + 1)
    with pytest.raises(ValueError, match="letter.npz must contain the values of Letter"):
        kept_population("letter", tmp_path)


def test_a_table_is_recognized_whatever_its_order():
    table = np.array([(*row[1:], row[0] > "M") for row in ROWS], float)
    name, X, y = recognized(table[:, :-1], table[:, -1].astype(int))
    assert name == "letter" and X.tolist() == sorted(X.tolist()) and y.sum() == 4
    assert recognized(table[:, :-1] + 1, table[:, -1].astype(int)) is None
    assert recognized(table[:, :2], table[:, -1].astype(int)) is None


@pytest.mark.parametrize(
    "message, words",
    [
        (
            "--from must contain Letter, but other.whl has no file of that name",
            ["letter", "--from", "other.whl"],
        ),
        (
            "--from must contain numbers separated by commas; text.csv: ",
            ["letter", "--from", "text.csv"],
        ),
        ("'letter', 'forest'; got 'leter' (did you mean 'letter'?)", ["leter"]),
        (
            "the data could not be downloaded (use --from to name a file that holds them): ",
            ["forest", "kept"],
        ),
    ],
)
def test_a_mistake_costs_the_command_one_line(tmp_path, monkeypatch, message, words):
    archived(tmp_path / "other.whl", "iris.csv", "1,2\n")
    (tmp_path / "text.csv").write_text("A;1;2;3\n")
    monkeypatch.setenv("https_proxy", "http://127.0.0.1:9")  # nobody listens there
    done = run(tmp_path, "papers", "data", *words)
    assert done.returncode == 2 and message in done.stderr and len(done.stderr.splitlines()) == 1
    assert not (tmp_path / "kept").exists()


def test_the_command_says_what_it_wrote(tmp_path):
    archived(tmp_path / "some.whl", "letter.dat", text(ROWS))
    done = run(tmp_path, "papers", "data", "letter", "kept", "--from", "some.whl")
    path = f"kept{os.sep}letter.npz"
    assert (
        done.stdout
        == f"Wrote {path}: Letter, 8 items of 3 features; all values are the known ones\n"
    )
    assert kept_population("letter", tmp_path / "kept")[0].shape == (8, 3)


def test_the_known_sizes_are_those_of_the_paper():
    from workbench.extras.papers.grandvalet_bengio import PRINTED

    assert [known.title for known in populations.KNOWN.values()] == list(PRINTED)


@pytest.mark.parametrize(("features", "advantage"), [(1, 0), (4, 0), (4, 0.5), (9, 1)])
def test_class_means_lie_as_far_apart_as_asked(features, advantage):
    X, y = gaussian_population(
        40_000, features=features, separation=0.8, advantage=advantage, rng=1
    )
    apart = np.abs(X[y == 1].mean(0) - X[y == 0].mean(0)).reshape(2, -1)
    assert np.linalg.norm(apart, axis=1) == pytest.approx([0.8, 0.8 + advantage], abs=0.06)


@pytest.mark.parametrize("name", ["letter", "covertype"])
def test_openml_gives_arrays_of_the_version_of_the_paper(name, monkeypatch):
    """A sparse table, or one of text, is made an array of numbers; class 2 or a letter from N on is 1."""
    asked = []

    def fetch(title, **how):
        asked.append((title, how["version"], how["as_frame"]))
        data = np.array([["1", "2"], ["3", "4"], ["5", "6"]], object)
        return types.SimpleNamespace(
            data=data, target=np.array({"letter": ["A", "N", "Z"]}.get(title, [1, 2, 2]))
        )

    monkeypatch.setattr(datasets, "fetch_openml", fetch)
    X, y = populations.openml_population(name)
    assert asked == [(name, {"letter": 1, "covertype": 3}[name], False)]
    assert X.tolist() == [[1, 2], [3, 4], [5, 6]] and y.tolist() == [0, 1, 1]


def test_a_regressor_learns_the_numbers_that_were_given():
    X = [[0.0], [1], [2], [3]]
    given = Population.of((X, [5.5, -2, 5.5, 9]))
    assert given.numbers().tolist() == [5.5, -2, 5.5, 9] and given.y.tolist() == [1, 0, 1, 2]
    assert Population(np.array(X), np.array([0, 1, 1, 0]), "made").numbers().tolist() == [
        0,
        1,
        1,
        0,
    ]


@pytest.mark.parametrize("columns", [None, [0], [0, 1]])
def test_distances_of_samples_are_those_of_their_items(columns):
    """Some distances are whole numbers, the others are as exact."""
    X = np.array([[0.0, 0], [1, 0], [0, 2], [0.1, 0.3], [1 / 3, 2]])
    rows = np.array([[0, 1, 2, 3, 4], [4, 4, 0, 1, 3]])
    found = Population(X, np.arange(5) % 2, "made").between(rows, columns)
    kept = X if columns is None else X[:, columns]
    assert found == pytest.approx(
        ((kept[rows][:, :, None] - kept[rows][:, None]) ** 2).sum(-1), abs=1e-14
    )


def test_an_item_between_two_means_gets_the_class_of_the_nearer_one():
    """Left out, 4.5 is 4.5 from the mean of one class and 5.5 from that of its own."""
    population = Population.of(([[0.0]] * 6 + [[10], [10], [4.5]], [0] * 6 + [1] * 3))
    losses = nearest_centroid(Samples(population, np.arange(9)[None]), np.arange(9))
    assert losses.tolist() == [[False] * 8 + [True]]


def test_a_population_that_no_memory_holds_is_refused_with_its_size():
    with pytest.raises(
        ValueError, match="^size and features would need an array of 1,000,000,000,000 x 4 numbers"
    ):
        gaussian_population(10**12, features=2)
