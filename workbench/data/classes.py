"""True and predicted classes held against each other: one spelled in two ways is two classes."""

import difflib
from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike

from workbench import checks
from workbench.results import Note

SHOWN_CLASSES = 5
CLOSE = 0.8             # of difflib's likeness: one letter in five


def class_notes(truth: ArrayLike, *predictions: ArrayLike) -> Iterator[Note]:
    r"""Yield a note on classes that only the truth or only the predictions know.

    Parameters
    ----------
    truth, *predictions : (n,) array_like
        Classes, all text or all numbers.

    Raises
    ------
    ValueError
        If the truth and the predictions, both text, share no class.

    Examples
    --------
    >>> print(*class_notes(["Spam", "ham", "ham"], ["spam", "ham", "ham"]), sep="\n")
    true class 'Spam' is never predicted (1 item); did you mean 'spam'?
    predicted class 'spam' is never true (1 item); did you mean 'Spam'?
    """
    columns = np.asarray(truth), np.concatenate([np.ravel(each) for each in predictions])
    true, predicted = map(np.unique, columns)
    if true.dtype.kind == "U" and not np.isin(true, predicted).any():
        raise ValueError(f"truth and prediction share no class: true are {checks.listed(true.tolist(), quoted=True)}, "
                         f"predicted {checks.listed(predicted.tolist(), quoted=True)}; spell them alike")
    yield from _one_sided(true, predicted, columns[0], "true", "predicted")
    yield from _one_sided(predicted, true, columns[1], "predicted", "true")


def _closest(names: list[str], options: list[str]) -> list:
    """Return the options spelled almost like one of the names, whatever their case."""
    spelled = {option.strip().casefold(): option for option in options}
    close = [difflib.get_close_matches(name.strip().casefold(), spelled, 1, CLOSE) for name in names]
    return list(dict.fromkeys(spelled[found[0]] for found in close if found))


def _one_sided(known: np.ndarray, others: np.ndarray, column: np.ndarray, is_kind: str, never: str) -> Iterator[Note]:
    unseen = known[~np.isin(known, others)].tolist()
    if not unseen:
        return
    items = checks.counted(int(np.isin(column, unseen).sum()), "item")
    meant = _closest(unseen, others.tolist()) if known.dtype.kind == others.dtype.kind == "U" else []
    ask = f"; did you mean {checks.listed(meant, SHOWN_CLASSES, quoted=True)}?" if meant else ""
    shown = checks.listed(unseen, SHOWN_CLASSES, quoted=True)
    yield Note("data", f"{is_kind} class {shown} is never {never} ({items}){ask}" if len(unseen) == 1 else
               f"{len(unseen)} {is_kind} classes are never {never} ({items}): {shown}{ask}")
