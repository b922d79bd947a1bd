"""Random numbers of a student's exercise, from secret, id and exercise alone."""

import hashlib
import hmac
import os
import random
import secrets
from pathlib import Path

from workbench.data import whole_files
from workbench.data.whole_files import StrPath
from workbench.reports.parameters import ReportError, refusing

SHORTEST_SECRET = 16


class Draws:
    """Random numbers that are the same in every version of Python and numpy.

    They use only `random.Random.random`, whose sequence Python guarantees.

    Parameters
    ----------
    seed : int
        The seed.

    Examples
    --------
    >>> draws = Draws(1)
    >>> draws.integer(1, 6), draws.number(0, 1, 2)
    (1, 0.85)
    """

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed).random

    def integer(self, low: int, high: int) -> int:
        """Return a whole number from low to high, including both."""
        return low + int(self._random() * (high - low + 1))

    def number(self, low: float, high: float, digits: int) -> float:
        """Return a number from low to high, rounded."""
        return round(low + self._random() * (high - low), digits) + 0.0  # no -0.0

    def hits(self, successes: int, size: int, drawn: int) -> int:
        """Return the number of successes in a sample of `drawn` of `size` items."""
        hits = 0
        for remaining in range(size, size - drawn, -1):
            hits += self._random() * remaining < successes - hits
        return hits

    def flips(self, probability: float, count: int) -> int:
        """Return the number of successes in `count` independent trials."""
        return sum(self._random() < probability for _ in range(count))


def draws(secret: bytes, student: str, exercise: str) -> Draws:
    """Return the random numbers of a student's exercise.

    Parameters
    ----------
    secret : bytes
        Secret of the course.
    student : str
        Id of the student.
    exercise : str
        Number of the exercise.
    """
    return Draws(int.from_bytes(_digest(secret, f"{student}\n{exercise}"), "big"))


def fingerprint(secret: bytes) -> str:
    """Return a text that identifies a secret without revealing it."""
    return _digest(secret, "course").hex()[:16]


def _digest(secret: bytes, text: str) -> bytes:
    return hmac.new(secret, text.encode(), hashlib.sha256).digest()


def read_secret(path: str) -> bytes:
    """Return the secret of a course from its file, or raise ReportError."""
    with refusing(f"cannot read the secret {path!r}"):
        secret = Path(path).read_bytes().strip()
    if len(secret) < SHORTEST_SECRET:
        raise ReportError(
            f"the secret {path!r} must have at least {SHORTEST_SECRET} characters; got "
            f"{len(secret)}"
        )
    return secret


def beside(folder: StrPath, ending: str) -> str:
    """Return the path of a file for the lecturer: next to the folder, with the folder's name.

    Examples
    --------
    >>> beside("course/", "secret.txt")
    'course-secret.txt'
    """
    path = os.path.normpath(folder)
    return f"{os.path.abspath(path) if path.endswith('.') else path}-{ending}"


def new_secret(folder: StrPath) -> str:
    """Return the path of a course's secret, and create it for a new course."""
    path = beside(folder, "secret.txt")
    if not os.path.exists(path) and not (os.path.isdir(folder) and os.listdir(folder)):
        with refusing():
            whole_files.write_text(path, f"{secrets.token_hex()}\n")
            os.chmod(path, 0o600)
    return path
