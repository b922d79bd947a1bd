"""Answers to graded exercises as plain values in a file next to the notebook."""

import json
import math
from pathlib import Path
from typing import Any

from workbench.course.answers import LONGEST_TEXT
from workbench.data.whole_files import StrPath, write_text

MOST_ENTRIES = 50
BEYOND = 1e300


def plain_answer(answer: Any) -> Any:
    """Return an answer as a number, a text or a flat list of these, or raise ValueError.

    Parameters
    ----------
    answer : object
        Numbers and texts, alone or in one list, tuple or array; None for no answer yet.

    Examples
    --------
    >>> plain_answer((0.88, "buy"))
    [0.88, 'buy']
    """
    answer = answer.tolist() if hasattr(answer, "tolist") else answer
    if isinstance(answer, (list, tuple)) and len(answer) <= MOST_ENTRIES:
        return list(map(_entry, answer))
    return None if answer is None else _entry(answer)


def _entry(value: float | str) -> float | str:
    value = value.item() if hasattr(value, "item") else value
    if isinstance(value, str) and len(value) <= LONGEST_TEXT:
        return value.encode("utf-8", "replace").decode("utf-8")
    if (
        isinstance(value, (int, float))
        and not isinstance(value, bool)
        and abs(value) < BEYOND
        and not math.isnan(value)
    ):
        return value
    raise ValueError(
        f"an answer must be a number, a text of at most {LONGEST_TEXT} characters, or one list of "
        f"at most {MOST_ENTRIES} of these"
    )


def record(path: StrPath, exercise: str, answer: Any) -> Any:
    """Write an answer into a file of answers and return it as written.

    It replaces an earlier answer to the same exercise. The new file replaces the old one in one
    step, so a reader never sees half a file.

    Parameters
    ----------
    path : str or path
        A JSON file. It is created if it does not exist.
    exercise : str
        Name of the exercise.
    answer : object
        As for `plain_answer`.

    Raises
    ------
    ValueError
        If the answer is too long, or if the file is damaged or cannot be written.
    """
    path, answer = Path(path), plain_answer(answer)
    answers = recorded(path) | {exercise: answer}
    try:
        write_text(path, json.dumps(answers, indent=1, ensure_ascii=False))
    except OSError as error:
        raise ValueError(
            f"{path.name} cannot be written: {error.strerror}. The answer was not recorded"
        ) from error
    return answer


def recorded(path: StrPath) -> dict[str, Any]:
    """Return the answers in a file by exercise; none if the file does not exist."""
    path = Path(path)
    try:
        answers = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise ValueError(f"{path.name} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise ValueError(f"{path.name} is damaged ({error}); delete it and answer again") from error
    if not isinstance(answers, dict):
        raise ValueError(
            f"{path.name} must hold one answer per exercise; delete it and answer again"
        )
    return answers
