"""The two populations of the paper [1]_: fetched or read from a file, checked and stored.

Read `keep_population` first. Letter [2]_ and Forest [3]_ are problems of two classes.

References
----------
.. [1] Grandvalet & Bengio, Hypothesis testing for cross-validation, Technical Report 1285,
   Universite de Montreal, 2006, section 5: Letter and Forest as problems of two classes.
.. [2] Frey & Slate, Letter recognition using Holland-style adaptive classifiers, Machine
   Learning 6, 1991.
.. [3] Blackard & Dean, Comparative accuracies of artificial neural networks and discriminant
   analysis in predicting forest cover types, Computers and Electronics in Agriculture 24, 1999.
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
from numpy import ndarray

from workbench.checks import WrongValue, choice
from workbench.data.whole_files import whole_file

FOLDER = "workbench"


@dataclass(frozen=True)
class Known:
    """A population of the paper.

    Attributes
    ----------
    title : str
        Name of the population in the paper.
    items, features : int
        Numbers of items and of features.
    first : range
        Numbers of the original classes that form the first of two classes.
    digest : str
        SHA-256 of its sorted rows of 16-bit numbers. The last number of a row is 0 for the first
        class and 1 for the second.
    names : str
        Pattern of the names of its files in archives.
    fetch : callable
        Returns features, and whether the class is the second, with scikit-learn's own fetcher.
    """

    title: str
    items: int
    features: int
    first: range
    digest: str
    names: str
    fetch: Callable[[], tuple]


def _fetch_letter() -> tuple:
    return openml_population("letter")


def _fetch_forest() -> tuple:
    from sklearn import datasets

    forest = datasets.fetch_covtype()
    return forest.data, forest.target != 2


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
OPENML = {"letter": (1, lambda y: y >= "N"), "covertype": (3, lambda y: y == "2")}


def kept_file(name: str, folder: str | PathLike[str] | None = None) -> Path:
    """Return the path where a population is stored, by default next to scikit-learn's data.

    Parameters
    ----------
    name : {"letter", "forest"}
        Name of the population.
    folder : str or path, optional
        Folder of the file.
    """
    if not folder:
        home = os.environ.get("SCIKIT_LEARN_DATA", os.path.join("~", "scikit_learn_data"))
        folder = os.path.join(home, FOLDER)
    return Path(folder).expanduser() / f"{choice('name', name, KNOWN)}.npz"


def keep_population(
    name: str,
    folder: str | PathLike[str] | None = None,
    *,
    source: str | PathLike[str] | None = None,
) -> Path:
    """Fetch a population of the paper or read it from a file, check its values, and store it.

    Parameters
    ----------
    name : {"letter", "forest"}
        "letter": letters A to M against N to Z [1]_. "forest": lodgepole pine against the other
        trees [2]_.
    folder : str or path, optional
        As in `kept_file`; it is created if it is missing.
    source : str or path, optional
        Text file with commas, packed or not, or an archive that contains one, such as a wheel. By
        default, the population is fetched.

    Returns
    -------
    Path
        The stored file. It does not depend on the order of the rows or the format of the source.

    Raises
    ------
    ValueError
        If the values are not the known ones.

    References
    ----------
    .. [1] Frey & Slate, Letter recognition using Holland-style adaptive classifiers, Machine
       Learning 6, 1991.
    .. [2] Blackard & Dean, Comparative accuracies of artificial neural networks and discriminant
       analysis in predicting forest cover types, Computers and Electronics in Agriculture 24, 1999.
    """
    path = kept_file(name, folder)
    expected = KNOWN[name]
    X, second = _read(expected, Path(source)) if source else expected.fetch()
    table = _checked("source", expected, np.column_stack([X, second]))
    path.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(path) as part:
        np.savez_compressed(part, table=table)
    return path


def kept_population(
    name: str, folder: str | PathLike[str] | None = None
) -> tuple[ndarray, ndarray] | None:
    """Return features and classes of a population that `keep_population` stored, else None.

    Parameters
    ----------
    name, folder
        As in `kept_file`.

    Returns
    -------
    X : (N, p) array of float
        Features, with rows in the order of their values, which is the same for every source.
    y : (N,) array of int
        Classes, 0 or 1.
    """
    path = kept_file(name, folder)
    if not path.exists():
        return None
    table = _checked(str(path), KNOWN[name], np.load(path)["table"])
    return _features_and_classes(table)


def recognized(X: ndarray, y: ndarray) -> tuple[str, ndarray, ndarray] | None:
    """Return name, features and classes of a population of the paper, or None for other data.

    The rows are in the order of their values.

    Parameters
    ----------
    X : (N, p) array of float
        Features.
    y : (N,) array of int
        Classes, 0 or 1.
    """
    for name, expected in KNOWN.items():
        if X.shape == (expected.items, expected.features):
            table, digest = _sorted(np.column_stack([X, y]))
            if digest == expected.digest:
                return name, *_features_and_classes(table)
    return None


def _features_and_classes(table: ndarray) -> tuple:
    features = table[:, :-1]
    classes = table[:, -1]
    return features.astype(float), classes.astype(int)


def _checked(source: str, expected: Known, table: ndarray) -> ndarray:
    """Return the sorted rows of a population, or raise if they are not the known ones."""
    rows, columns = table.shape
    if (rows, columns - 1) != (expected.items, expected.features):
        size = f"{expected.items:,} items of {expected.title}"
        got = f"got {rows:,} rows of {columns} columns"
        rule = f"must contain {size} with {expected.features} features and a class; {got}"
        raise WrongValue(source, rule)
    ordered, digest = _sorted(table)
    if digest != expected.digest:
        raise WrongValue(
            source,
            f"must contain the values of {expected.title}. The numbers of rows and columns agree, "
            "but some values differ",
        )
    return ordered


def _sorted(table: ndarray) -> tuple:
    """Return the rows in the order of their values, and their digest.

    The digest is "" if a value is not a 16-bit whole number.
    """
    rows = table.astype("<i2")
    ordered = rows[np.lexsort(rows.T[::-1])]
    exact = np.array_equal(rows, table)
    return ordered, hashlib.sha256(ordered.tobytes()).hexdigest() if exact else ""


def _read(expected: Known, path: Path) -> tuple:
    """Return features, and whether the class is the second, from a text file or an archive."""
    content = path.read_bytes()
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            pattern = re.compile(f"(.*/)?{expected.names}")
            names = list(filter(pattern.fullmatch, archive.namelist()))
            if not names:
                rule = f"must contain {expected.title}, but {path.name} has no file of that name"
                raise WrongValue("source", rule)
            content = archive.read(names[0])
    if content.startswith(b"\x1f\x8b"):
        content = gzip.decompress(content)
    # lines with lower-case letters are headers or comments
    text = re.sub(".*[a-z].*", "", content.decode("latin-1")).strip()
    class_first = text.lstrip('" ')[:1].isalpha()
    numbers = re.sub('"?([A-Z])"?', lambda letter: str(ord(letter[1]) - ord("A")), text)
    try:
        table = np.loadtxt(numbers.splitlines(), delimiter=",", ndmin=2)
    except ValueError as error:
        rule = f"must contain numbers separated by commas; {path.name}: {error}"
        raise WrongValue("source", rule) from None
    if class_first:
        table = np.roll(table, -1, axis=1)
    features = table[:, :-1]
    classes = table[:, -1]
    return features, ~np.isin(classes, expected.first)


def openml_population(
    name: str, *, cache: str | PathLike[str] | None = None
) -> tuple[ndarray, ndarray]:
    """Fetch a population of Grandvalet & Bengio's Table 2 from OpenML.

    scikit-learn stores it on disk, so it is downloaded only once.

    Parameters
    ----------
    name : {"letter", "covertype"}
        "letter": letters A to M against N to Z [1]_, 20,000 items with 16 features. "covertype":
        lodgepole pine against the other trees [2]_, several hundred thousand items.
    cache : str or path, optional
        Folder of the stored data; by default that of scikit-learn.

    Returns
    -------
    X : (N, p) array of float
        Features of the items.
    y : (N,) array of int
        Class of each item, 0 or 1.

    See Also
    --------
    simulate_type_one : Error rates of tests in a population.
    gaussian_population : Simulate a population instead.

    References
    ----------
    .. [1] Frey & Slate, Letter recognition using Holland-style adaptive classifiers, Machine
       Learning 6, 1991.
    .. [2] Blackard & Dean, Comparative accuracies of artificial neural networks and discriminant
       analysis in predicting forest cover types, Computers and Electronics in Agriculture 24, 1999.

    Examples
    --------
    >>> X, y = openml_population("letter")      # doctest: +SKIP
    """
    from sklearn import datasets

    version, is_second = OPENML[choice("name", name, OPENML)]
    data = datasets.fetch_openml(
        name,
        version=version,
        data_home=cache,
        as_frame=False,
        parser="liac-arff",
    )
    X = data.data.toarray() if hasattr(data.data, "toarray") else data.data
    target = np.asarray(data.target).astype(str)
    return np.asarray(X, float), is_second(target).astype(int)
