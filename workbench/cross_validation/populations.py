"""The paper's two populations: fetched or read from a file, known by their values, kept in a folder.

References
----------
.. [1] Grandvalet & Bengio, Hypothesis testing for cross-validation, Technical Report 1285, Universite de Montreal,
   2006, section 5: Letter and Forest as problems of two classes.
.. [2] Frey & Slate, Letter recognition using Holland-style adaptive classifiers, Machine Learning 6, 1991.
.. [3] Blackard & Dean, Comparative accuracies of artificial neural networks and discriminant analysis in predicting
   forest cover types, Computers and Electronics in Agriculture 24, 1999.
"""

import gzip
import hashlib
import os
import re
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

import numpy as np

from workbench import checks
from workbench.data.whole_files import whole_file

FOLDER = "workbench"
LETTER_A = ord("A")


@dataclass(frozen=True)
class Known:
    """A population of the paper.

    Attributes
    ----------
    title : str
    items, features : int
    first : range
        Classes, as numbers, of the first of two.
    digest : str
        SHA-256 of its sorted rows, 16-bit numbers, the last one 0 for the first class and 1 for the second.
    names : str
        Pattern of the names that files with it have in archives.
    fetch : callable
        Returns features and classes by scikit-learn's own fetcher, from the network or its folder.
    """

    title: str
    items: int
    features: int
    first: range
    digest: str
    names: str
    fetch: Callable[[], tuple]


def _fetch_letter() -> tuple:
    from sklearn import datasets

    found = datasets.fetch_openml("letter", version=1, as_frame=False, parser="liac-arff")
    return found.data, np.array([ord(letter) - LETTER_A for letter in found.target])


def _fetch_forest() -> tuple:
    from sklearn import datasets

    found = datasets.fetch_covtype()
    return found.data, found.target


KNOWN = {
    "letter": Known(
        "Letter",
        20_000,
        16,
        range(13),
        "60e5ec12bb38900864f5641db791db582040bfb016cdc66336b8e0d8e4d95fc1",
        r"letter(-recognition)?\.(csv|dat|data)",
        _fetch_letter,
    ),
    "forest": Known(
        "Forest",
        581_012,
        54,
        range(2, 3),
        "9279dac5852ad7d25339a1d191c6726be59f4751b82861dd5f4e00487742411a",
        r"covtype\.(csv|data)(\.gz)?",
        _fetch_forest,
    ),
}


def kept_file(name: str, folder: str | PathLike[str] | None = None) -> Path:
    """Return where a population is kept, by default beside what scikit-learn keeps.

    Parameters
    ----------
    name : {"letter", "forest"}
    folder : str or path, optional
    """
    home = os.environ.get("SCIKIT_LEARN_DATA", os.path.join("~", "scikit_learn_data"))
    return Path(
        os.path.expanduser(folder or os.path.join(home, FOLDER)),
        f"{checks.choice('name', name, KNOWN)}.npz",
    )


def keep_population(
    name: str,
    folder: str | PathLike[str] | None = None,
    *,
    source: str | PathLike[str] | None = None,
) -> Path:
    """Fetch a population of the paper, or read it from a file; check its values and keep it.

    Parameters
    ----------
    name : {"letter", "forest"}
        Letters A to M against N to Z [1]_; lodgepole pine against the other trees [2]_.
    folder : str or path, optional
        As in `kept_file`; made where it is missing.
    source : str or path, optional
        A text with commas, packed or not, or an archive that holds one, such as a wheel. By default it is fetched.

    Returns
    -------
    Path
        The file that holds it, whatever the order of the rows and the format were.

    Raises
    ------
    ValueError
        If the values are not the known ones.

    References
    ----------
    .. [1] Frey & Slate, Letter recognition using Holland-style adaptive classifiers, Machine Learning 6, 1991.
    .. [2] Blackard & Dean, Comparative accuracies of artificial neural networks and discriminant analysis in
       predicting forest cover types, Computers and Electronics in Agriculture 24, 1999.
    """
    path = kept_file(name, folder)
    X, classes = _read(KNOWN[name], Path(source)) if source else KNOWN[name].fetch()
    table = _checked(
        "source", KNOWN[name], np.column_stack([X, ~np.isin(classes, KNOWN[name].first)])
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(path) as part:
        np.savez_compressed(part, table=table)
    return path


def kept_population(
    name: str, folder: str | PathLike[str] | None = None
) -> tuple[np.ndarray, np.ndarray] | None:
    """Return features and classes of a population that `keep_population` kept, None where it is not there.

    Parameters
    ----------
    name, folder
        As in `kept_file`.

    Returns
    -------
    X : (N, p) array of float
    y : (N,) array of int
        In the order of the values, which no source changes.
    """
    path = kept_file(name, folder)
    return (
        _cut(_checked(os.fspath(path), KNOWN[name], np.load(path)["table"]))
        if path.exists()
        else None
    )


def recognized(X: np.ndarray, y: np.ndarray) -> tuple[str, np.ndarray, np.ndarray] | None:
    """Return name, features and classes, in the order of the values, where these are a population of the paper.

    Parameters
    ----------
    X : (N, p) array of float
    y : (N,) array of int
        0 or 1.
    """
    name = next(
        (name for name, known in KNOWN.items() if X.shape == (known.items, known.features)), None
    )
    table = None if name is None else _sorted(np.column_stack([X, y]))
    return (
        (name, *_cut(table))
        if name and table is not None and _digest(table) == KNOWN[name].digest
        else None
    )


def _cut(table: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return table[:, :-1].astype(float), table[:, -1].astype(int)


def _checked(source: str, known: Known, table: np.ndarray) -> np.ndarray:
    """Return the sorted rows of a population, or raise where they are not the known ones."""
    if table.shape != (known.items, known.features + 1):
        raise checks.WrongValue(
            source,
            f"must hold the {known.items:,} items of {known.title}, {known.features} "
            f"features and a class; got {len(table):,} rows of {table.shape[1]} columns",
        )
    ordered = _sorted(table)
    if ordered is None or _digest(ordered) != known.digest:
        raise checks.WrongValue(
            source,
            f"must hold the values of {known.title}; its rows and columns are as many, "
            "but some values differ",
        )
    return ordered


def _sorted(table: np.ndarray) -> np.ndarray | None:
    """Return the rows in the order of their values; None where these are no 16-bit whole numbers."""
    small = table.astype("<i2")
    return small[np.lexsort(small.T[::-1])] if np.array_equal(small, table) else None


def _digest(table: np.ndarray) -> str:
    return hashlib.sha256(table.tobytes()).hexdigest()


def _read(known: Known, path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Return features and classes, letters as numbers, from a text with commas or an archive that holds it."""
    text = _unpacked(known, path)
    # names of columns and comments are what has small letters
    lines = [line for line in text.splitlines() if line.strip() and not re.search("[a-z]", line)]
    ahead = bool(lines) and lines[0].lstrip('" ')[:1].isalpha()
    numbers = (
        [re.sub('"?([A-Z])"?', lambda found: str(ord(found[1]) - LETTER_A), line) for line in lines]
        if known.title == "Letter"
        else lines
    )
    try:
        table = np.loadtxt(numbers, delimiter=",", ndmin=2)
    except ValueError as error:
        raise checks.WrongValue(
            "source", f"must hold numbers with commas between them; {path.name}: {error}"
        ) from None
    return (table[:, 1:], table[:, 0]) if ahead else (table[:, :-1], table[:, -1])


def _unpacked(known: Known, path: Path) -> str:
    content = path.read_bytes()
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            found = [
                name
                for name in archive.namelist()
                if re.fullmatch(known.names, name.rsplit("/", 1)[-1])
            ]
            if not found:
                raise checks.WrongValue(
                    "source", f"must hold {known.title}; {path.name} holds no file of its name"
                )
            content = archive.read(found[0])
    return (gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content).decode("latin-1")


OPENML = {
    "letter": ("letter", 1, lambda y: y >= "N"),
    "covertype": ("covertype", 3, lambda y: y == "2"),
}


def openml_population(
    name: str, *, cache: str | PathLike[str] | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Fetch one of the paper's populations from OpenML, once; scikit-learn keeps it on disk.

    Parameters
    ----------
    name : {"letter", "covertype"}
        Letters A to M against N to Z [1]_, 20,000 items of 16 features; lodgepole pine against the rest [2]_, some
        hundred thousand items.
    cache : str or path, optional
        Folder; by default scikit-learn's.

    Returns
    -------
    X : (N, p) array of float
    y : (N,) array of int

    References
    ----------
    .. [1] Frey & Slate, Letter recognition using Holland-style adaptive classifiers, Machine Learning 6, 1991.
    .. [2] Blackard & Dean, Comparative accuracies of artificial neural networks and discriminant analysis in
       predicting forest cover types, Computers and Electronics in Agriculture 24, 1999.

    Examples
    --------
    >>> X, y = openml_population("letter")      # doctest: +SKIP
    """
    from sklearn import datasets

    title, version, second = OPENML[checks.choice("name", name, OPENML)]
    found = datasets.fetch_openml(
        title, version=version, data_home=cache, as_frame=False, parser="liac-arff"
    )
    X = found.data.toarray() if hasattr(found.data, "toarray") else np.asarray(found.data, float)
    return X, second(np.asarray(found.target).astype(str)).astype(int)
