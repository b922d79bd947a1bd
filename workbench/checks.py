"""Argument checks; what they raise holds the argument, the rule and the value, and its message says them."""

import contextlib
import copyreg
import difflib
import math
import numbers
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

LARGEST = 2**53
LARGEST_SIZE = 1e150  # whose square is a number too
NAN = "nan"  # how numpy and pandas write NaN where they make text of it
BLANK = ("", NAN, b"", NAN.encode())
SHARES = {
    "level": 0.5,
    "assurance": 0.5,
    "half_width": 0.001,
}  # the least that somebody means by a percentage


class WrongArgument(Exception):
    """An argument that is refused; raised as `WrongValue` or `WrongType`.

    Attributes
    ----------
    argument : str
        The name of the argument, as the caller wrote it.
    rule : str
        What must hold, as "must be a whole number of at least 0"; "{0}" stands for the first of `others`.
    value : object
        What was given, or the first entry of it that is wrong; an Ellipsis where no single value is wrong.
    place : tuple of (str, object) or None
        Where the value stands, as ("stratum", 3).
    told : str or None
        What the message says of the value, as "got 0".
    others : tuple of str
        Names of other arguments that the rule is about.

    Examples
    --------
    >>> error = WrongValue("budget", "must be above 0", 0)
    >>> print(error)
    budget must be above 0; got 0
    >>> print(error.called({"budget": "Labels"}.get))
    Labels must be above 0; got 0
    """

    def __init__(
        self,
        argument: str,
        rule: str,
        value: Any = ...,
        *,
        place: tuple[str, Any] | None = None,
        told: str | None = None,
        others: tuple[str, ...] = (),
    ) -> None:
        self.argument, self.rule, self.place, self.others = argument, rule, place, others
        self.value = value.item() if isinstance(value, np.generic) else value
        self.told = told if told is not None or value is ... else f"got {_text(self.value)}"
        super().__init__(str(self))

    def __reduce__(self) -> tuple:
        return copyreg.__newobj__, (type(self), *self.args), vars(self)  # type: ignore[attr-defined]

    def __str__(self) -> str:
        return self.called(str)

    def called(self, rename: Callable[[str], str]) -> str:
        """Return the message with arguments under other names, as those of options or controls."""
        rule = self.rule.format(*map(rename, self.others)) if self.others else self.rule
        return f"{rename(self.argument)} {rule}" + (f"; {self.told}" if self.told else "")


class WrongValue(WrongArgument, ValueError):
    """An argument with a wrong value."""


class WrongType(WrongArgument, TypeError):
    """An argument of a wrong type."""


@contextlib.contextmanager
def naming(**names: str) -> Iterator[None]:
    """Give arguments that are refused inside the names by which the caller knows them.

    Examples
    --------
    >>> with naming(rng="seed"):
    ...     generator(-1)
    Traceback (most recent call last):
    workbench.checks.WrongValue: seed must be a whole number of at least 0; got -1
    """
    try:
        yield
    except WrongArgument as error:
        error.argument, *others = (
            names.get(name, name) for name in (error.argument, *error.others)
        )
        error.others = tuple(others)
        raise


def not_both(**given: Any) -> None:
    """Raise where two arguments that exclude each other are given, none of them empty."""
    if all(given.values()):
        first, second = given
        raise WrongValue(first, "must not be given with {0}", others=(second,))


def whole(
    name: str, value: Any, low: int | None = None, high: int | None = None, *, most: int = LARGEST
) -> int:
    """Return `value` as an int within [low, high], or raise; where `high` is None it is at most `most`."""
    if (
        isinstance(value, bool)
        or not _is_real(value)
        or not (_is_integral(value) or _as_float(value).is_integer())
    ):
        raise _wrong(name, f"a whole number{_range(low, high)}", value)
    if high is None and value > most:
        high = most
    if (low is not None and value < low) or (high is not None and value > high):
        raise WrongValue(name, f"must be a whole number{_range(low, high)}", value)
    return int(value)


def number(
    name: str,
    value: Any,
    low: float | None = None,
    high: float | None = None,
    *,
    open_ends: bool = False,
) -> float:
    """Return `value` as a finite float within [low, high] (or (low, high)), or raise."""
    if isinstance(value, bool) or not _is_real(value) or not math.isfinite(_as_float(value)):
        raise _wrong(name, f"a finite number{_range(low, high, open_ends)}", value)
    ends = (low, high) if open_ends else ()
    if (low is not None and value < low) or (high is not None and value > high) or value in ends:
        raise WrongValue(
            name,
            f"must be a number{_range(low, high, open_ends)}",
            value,
            told=f"got {_text(value)}{_of_percent(name, value, high)}",
        )
    return float(value)


def _of_percent(name: str, value: Any, high: float | None) -> str:
    """Return ' (did you mean ...?)' where a share was given in percent, or in points, else ''."""
    share = _as_float(value) / 100
    meant = high is not None and value > 1 and SHARES.get(name, 1) <= share < high
    return f" (did you mean {share:g}?)" if meant else ""


def level(value: Any) -> float:
    """Return a confidence level in (0, 1)."""
    return number("level", value, 0, 1, open_ends=True)


def assurance(value: Any) -> float:
    """Return a share of samples in [0.5, 1)."""
    if number("assurance", value, 0.5, 1) == 1:
        raise WrongValue(
            "assurance", "must be below 1: only labels for all items are sure to do", value
        )
    return float(value)


def choice(name: str, value: Any, options: Collection) -> Any:
    """Return `value` if it is one of `options`; the message lists them all."""
    if isinstance(value, str) and value in options:
        return value
    raise WrongValue(
        name,
        f"must be one of {', '.join(map(repr, options))}",
        value,
        told=f"got {value!r}{suggestion(value, options)}",
    )


def each(name: str, values: Any) -> tuple:
    """Return a list, or what else can be gone through but a text, as a tuple, or raise."""
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise WrongType(name, "must be a list", values)
    return tuple(values)


def choices(name: str, values: Any, options: Collection[str]) -> tuple:
    """Return one or more of `options` as a tuple."""
    values = (values,) if isinstance(values, str) else each(name, values)
    return tuple(choice(name, value, options) for value in values)


def instance(name: str, value: Any, *kinds: type) -> Any:
    """Return `value` if it is of one of the classes, or raise naming them."""
    if isinstance(value, kinds):
        return value
    wanted = " or ".join(kind.__name__ for kind in kinds)
    raise WrongType(name, f"must be of class {wanted}", value, told=f"got {type(value).__name__}")


def suggestion(value: Any, options: Iterable) -> str:
    """Return ' (did you mean ...?)' where an option is close to `value`, else ''."""
    close = difflib.get_close_matches(str(value), list(options), 1)
    return f" (did you mean {close[0]!r}?)" if close else ""


def vector(
    name: str,
    values: ArrayLike,
    *,
    size: int | None = None,
    low: float | None = None,
    high: float | None = None,
    what: str = "entry",
    copy: bool = True,
) -> np.ndarray:
    """Return `values` as a finite 1-d float array within [low, high], or raise naming the entry."""
    array = _one_dimensional(name, values, size, what)
    if array.dtype.kind not in "biuf":
        raise WrongType(
            name, "must hold numbers", array[0], told=f"got {array.dtype} such as {array[0]!r}"
        )
    array = array.astype(float, copy=copy)
    if low == 0 and high is None:  # a size or a spread, whose ratio to the largest is a number too
        least = 1 / LARGEST_SIZE
        refuse(name, array, (array > 0) & (array < least), f"must be 0 or at least {least:g}", what)
    if _within(array, low, high):
        return array
    refuse(name, array, ~np.isfinite(array), "must be finite", what)
    refuse(
        name, array, np.abs(array) > LARGEST_SIZE, f"must be at most {LARGEST_SIZE:g} in size", what
    )
    if low is not None:
        refuse(name, array, array < low, f"must be at least {low:g}", what)
    if high is not None:
        refuse(name, array, array > high, f"must be at most {high:g}", what)
    return array


def counts(
    name: str,
    values: ArrayLike,
    *,
    size: int | None = None,
    low: int | None = 0,
    what: str = "stratum",
    copy: bool = True,
) -> np.ndarray:
    """Return `values` as a 1-d int array of at least `low`, or raise naming the entry."""
    array = _one_dimensional(name, values, size, what)
    if array.dtype.kind in "iu" and _within(array, low, LARGEST):
        return array.astype(np.int64, copy=copy)
    array = vector(name, array, what=what)
    refuse(name, array, array != np.floor(array), "must be a whole number", what)
    refuse(name, array, array < low, f"must be at least {low}", what)
    refuse(name, array, array > LARGEST, f"must be at most {LARGEST}", what)
    return array.astype(np.int64)


def bounds(values: Sequence[float]) -> tuple[float, float]:
    """Return the smallest and the largest possible value, two finite numbers that rise, or raise."""
    least, most = vector("bounds", values, size=2, what="entry").tolist()
    if not least < most:
        raise WrongValue(
            "bounds",
            "must be the smallest and the largest value",
            (least, most),
            told=f"got {least:g} and {most:g}",
        )
    return least, most


def bounds_of(text: str) -> tuple[float, float]:
    """Return the bounds that a text such as "0, 1" says, or raise."""
    try:
        return bounds([float(part) for part in text.split(",")])
    except ValueError:
        raise WrongValue(
            "bounds", 'must be the smallest and the largest value, as "0, 1"', text
        ) from None


def at_most(
    name: str, values: np.ndarray, limit_name: str, limits: np.ndarray, *, what: str = "stratum"
) -> None:
    """Raise unless values <= limits, entry by entry; names the first entry that is not."""
    for k in np.flatnonzero(np.asarray(values) > np.asarray(limits) + 1e-9)[:1].tolist():
        raise WrongValue(
            name,
            f"must be at most {limit_name}",
            values[k],
            place=(what, k),
            told=f"{what} {k} has {values[k]:.15g} of {limits[k]:.15g}",
        )


def zero_one(
    name: str, values: ArrayLike, *, size: int | None = None, what: str = "entry"
) -> np.ndarray:
    """Return `values` as a 1-d bool array; only 0/1 and booleans are accepted."""
    array = vector(name, values, size=size, what=what)
    refuse(name, array, (array != 0) & (array != 1), "must be 0 or 1", what)
    return array.astype(bool)


def labels(
    name: str, values: ArrayLike, *, size: int | None = None, what: str = "item"
) -> np.ndarray:
    """Return `values` as a 1-d array of numbers or text, or raise naming the first that is missing.

    `cells_and_gaps` decides which values are missing.
    """
    refuse_masked(name, values, what)
    array, gaps = cells_and_gaps(name, values)
    _refuse_shape(name, array, size)
    if gaps.any():
        k = int(np.flatnonzero(gaps)[0])
        raise WrongValue(
            name, "must not be missing", array[k], place=(what, k), told=f"{what} {k} is"
        )
    if array.dtype.kind == "O" and all(isinstance(value, numbers.Real) for value in array):
        return np.array(array.tolist())
    return array if array.dtype.kind in "biufUS" else array.astype(str)


def cells_and_gaps(name: str, values: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Return labels as an array of any shape, and where they are missing.

    This function decides for every argument that holds labels, strata, clusters or folds. Missing is
    what `is_missing` says, and what a masked array hides.

    Examples
    --------
    >>> for values in (["a", float("nan"), ""], np.array(["a", float("nan"), "NA"]), [1, None, 2]):
    ...     print(cells_and_gaps("truth", values)[1].tolist())
    [False, True, True]
    [False, True, False]
    [False, True, False]
    """
    array = cells(name, values)
    if array.dtype.kind in "US":
        text = array.astype(np.str_, copy=False)
        gaps = (text == "") | (text == NAN) | np.strings.isspace(text)
    elif array.dtype.kind == "O":
        gaps = np.array([is_missing(entry) for entry in array.ravel()], bool).reshape(array.shape)
    else:
        gaps = np.asarray(array != array)
    if isinstance(values, np.ma.MaskedArray):
        gaps = gaps | np.ma.getmaskarray(values)
    return array, gaps


def cells(name: str, values: ArrayLike) -> np.ndarray:
    """Return values as an array in which entries that are no text stay what they are among text."""
    array = _as_array(name, values)
    if array.dtype.kind not in "US" or isinstance(values, np.ndarray):
        return array
    entries = np.asarray(values, object)
    all_text = all(isinstance(entry, (str, bytes)) for entry in entries.ravel().tolist())
    return array if all_text else entries


def listed(values: Iterable, most: int = 8, *, quoted: bool = False) -> str:
    """Return values as text with commas: the first `most`, and how many more there are.

    Examples
    --------
    >>> listed(["a", "b", "c"], 2, quoted=True)
    "'a', 'b' and 1 more"
    """
    values = [repr(value) if quoted else str(value) for value in values]
    return ", ".join(values[:most]) + (
        f" and {len(values) - most} more" if len(values) > most else ""
    )


def counted(count: float, one: str, many: str | None = None) -> str:
    """Return a count with its noun, singular or plural.

    Examples
    --------
    >>> counted(1, "item"), counted(1200, "item"), counted(2, "class", "classes")
    ('1 item', '1,200 items', '2 classes')
    """
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def is_missing(value: Any) -> bool:
    """Return whether a value is None, NaN, the missing value of a data frame, a masked entry or blank text.

    The text "nan" is missing, too: numpy and pandas write it where they turn NaN into text. Any other
    text is a value, also "NA" and "None".

    Examples
    --------
    >>> [is_missing(value) for value in (None, float("nan"), " ", "nan", "NA", 0, False)]
    [True, True, True, True, False, False, False]
    """
    if value is None or value is np.ma.masked:
        return True
    if isinstance(value, (str, bytes)):
        return value.strip() in BLANK
    try:
        return bool(value != value)
    except TypeError:  # the missing value of pandas is neither equal to itself nor not
        return True


def seed(name: str, value: Any) -> int:
    """Return a seed, a whole number of at least 0 that may have many digits, or raise."""
    return whole(name, value, 0, most=10**300)


def generator(value: int | np.random.Generator) -> np.random.Generator:
    """Return a `numpy.random.Generator` from a seed (whole number >= 0) or a generator."""
    return (
        value
        if isinstance(value, np.random.Generator)
        else np.random.default_rng(seed("rng", value))
    )


def plain_array(name: str, values: ArrayLike, what: str = "entry") -> np.ndarray:
    """Return `values` as an array, or raise where a masked array hides entries, which numpy would show.

    Examples
    --------
    >>> plain_array("losses", np.ma.array([0.5, 99], mask=[0, 1]))
    Traceback (most recent call last):
    workbench.checks.WrongValue: losses must not be masked; entry 1 is
    """
    refuse_masked(name, values, what)
    return _as_array(name, values)


def _as_array(name: str, values: ArrayLike) -> np.ndarray:
    try:
        return np.asarray(values)
    except (TypeError, ValueError):  # rows of unequal length, entries that are arrays
        raise WrongType(name, "must be an array: entries of one kind, rows of one length") from None


def floats(name: str, values: ArrayLike, what: str = "entry") -> np.ndarray:
    """Return `values` as an array of float of any shape, or raise where they are no real numbers.

    Examples
    --------
    >>> floats("losses", [[0.5, 1j]])
    Traceback (most recent call last):
    workbench.checks.WrongType: losses must hold numbers; got complex128
    """
    array = plain_array(name, values, what)
    if array.dtype.kind not in "biufO":
        raise WrongType(name, "must hold numbers", told=f"got {array.dtype}")
    try:
        return array.astype(float)
    except (TypeError, ValueError, OverflowError):
        raise WrongType(name, "must hold numbers that are no larger than a float can be") from None


def refuse_masked(name: str, values: ArrayLike, what: str = "entry") -> None:
    """Raise where a masked array, or one in a list of arrays, hides entries."""
    if isinstance(values, np.ma.MaskedArray):
        hidden = np.argwhere(np.ma.getmaskarray(values))
        if len(hidden):
            entry = ", ".join(map(str, hidden[0]))
            raise WrongValue(
                name,
                "must not be masked",
                place=(what, entry) if entry else None,
                told=f"{what} {entry} is" if entry else None,
            )
    elif isinstance(values, (list, tuple)) and values and isinstance(values[0], np.ndarray):
        for k, part in enumerate(values):
            refuse_masked(f"{name}[{k}]", part, what)


def refuse(name: str, array: np.ndarray, bad: Any, rule: str, what: str) -> None:
    """Raise where an entry of an array is bad; the message names the first, and what it is an entry of."""
    for k in np.flatnonzero(bad)[:1].tolist():
        raise WrongValue(
            name, rule, array[k], place=(what, k), told=f"{what} {k} is {array[k]:.15g}"
        )


def refuse_infinite(name: str, values: np.ndarray, *axes: str, between: str = ", ") -> None:
    """Raise where an entry is not finite; the message names its place along the axes."""
    for bad in np.argwhere(~np.isfinite(values))[:1]:
        place = between.join(f"{axis} {k}" for axis, k in zip(axes, bad, strict=True))
        raise WrongValue(name, f"must be finite; {place} is {values[tuple(bad)]}")


def _one_dimensional(name: str, values: Any, size: int | None, what: str) -> np.ndarray:
    array = plain_array(name, values, what)
    _refuse_shape(name, array, size)
    return array


def _refuse_shape(name: str, array: np.ndarray, size: int | None) -> None:
    """Raise unless an array is one-dimensional, holds an entry, and has `size` of them."""
    if array.ndim != 1:
        raise WrongValue(name, "must be one-dimensional", told=f"got shape {array.shape}")
    if array.size == 0:
        raise WrongValue(name, "must not be empty")
    if size is not None and array.size != size:
        raise WrongValue(
            name,
            f"must have {size} {'entry' if size == 1 else 'entries'}",
            told=f"got {array.size}",
        )


def _within(array: np.ndarray, low: float | None, high: float | None) -> bool:
    """Return whether all entries are numbers in range; two reductions, since most arguments are right."""
    least, most = array.min(), array.max()
    return bool(
        -LARGEST_SIZE <= least
        and most <= LARGEST_SIZE
        and (low is None or least >= low)
        and (high is None or most <= high)
    )


def _range(low: float | None, high: float | None, open_ends: bool = False) -> str:
    if low is None and high is None:
        return ""
    if high is None:
        return f" above {low}" if open_ends else f" of at least {low}"
    if low is None:
        return f" below {high}" if open_ends else f" of at most {high}"
    return f" in ({low}, {high})" if open_ends else f" from {low} to {_text(high)}"


def _wrong(name: str, rule: str, value: Any) -> Any:
    kind = (
        WrongValue if isinstance(value, numbers.Real) and not isinstance(value, bool) else WrongType
    )
    return kind(name, f"must be {rule}", value)


def _is_real(value: float | None) -> bool:
    return isinstance(value, numbers.Real)


def _is_integral(value: Any) -> bool:
    return isinstance(value, numbers.Integral)


def _as_float(value: float) -> float:
    try:
        return float(value)
    except OverflowError:  # a whole number or fraction beyond all floats
        return math.inf


def _text(value: Any) -> str:
    """Return a value as text; of a whole number with very many digits only its size."""
    if _is_integral(value) and abs(value) >= 10**30:
        return f"about {'-' if value < 0 else ''}1e{math.log10(abs(value)):.0f}"
    return repr(value)
