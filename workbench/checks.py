"""Checks of arguments, the errors that they raise, and the wording of lists and counts.

`WrongArgument` comes first: it holds the argument, the rule and the value. Checks of single values
follow, then checks of arrays, then the wording of lists and counts.
"""

import contextlib
import difflib
import math
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
from numpy import ndarray
from numpy.typing import ArrayLike

LARGEST = 2**53
LARGEST_FLOAT = sys.float_info.max
LARGEST_SIZE = 1e150  # its square is still a float
NAN = "nan"  # the text into which numpy and pandas turn NaN
BOUNDS_RULE = "must be the smallest and the largest value"
BLANK = (
    "",
    NAN,
    b"",
    NAN.encode(),
)
# the smallest values of arguments that look like a percentage, where a proportion is expected
PERCENTAGES = {"level": 50, "assurance": 50, "half_width": 1}


@dataclass(eq=False, repr=False)
class WrongArgument(Exception):
    """An error about an argument; raised as `WrongValue` or `WrongType`.

    Attributes
    ----------
    argument : str
        Name of the argument, as the caller wrote it.
    rule : str
        The condition, such as "must be a whole number of at least 0". "{0}" stands for the first
        of `others`.
    value : object
        The wrong value or the first wrong entry, or an Ellipsis if no single value is wrong.
    place : tuple of (str, object) or None
        Position of the value, such as ("stratum", 3).
    told : str or None
        The end of the message, such as "got 0".
    others : tuple of str
        Names of other arguments in the rule.

    Examples
    --------
    >>> error = WrongValue("budget", "must be above 0", 0)
    >>> print(error)
    budget must be above 0; got 0
    >>> print(error.called({"budget": "Labels"}.get))
    Labels must be above 0; got 0
    """

    argument: str
    rule: str
    value: Any = ...
    _: KW_ONLY
    place: tuple[str, Any] | None = None
    told: str | None = None
    others: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if isinstance(self.value, np.generic):
            self.value = self.value.item()
        if self.told is None and self.value is not ...:
            self.told = f"got {_text(self.value)}"

    def __str__(self) -> str:
        return self.called(str)

    def called(self, rename: Callable[[str], str]) -> str:
        """Return the message with other names of arguments, such as those of options."""
        rule = self.rule
        if self.others:
            rule = rule.format(*map(rename, self.others))
        ending = f"; {self.told}" if self.told else ""
        return f"{rename(self.argument)} {rule}{ending}"


class WrongValue(WrongArgument, ValueError):
    """An argument with a wrong value."""


class WrongType(WrongArgument, TypeError):
    """An argument of a wrong type."""


@contextlib.contextmanager
def naming(**names: str) -> Iterator[None]:
    """Rename the arguments of errors raised inside the block to the caller's names.

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
        error.argument = names.get(error.argument, error.argument)
        error.others = tuple(names.get(other, other) for other in error.others)
        raise


def not_both(**arguments: Any) -> None:
    """Raise if both of two arguments that exclude each other are given."""
    if all(arguments.values()):
        first, second = arguments
        raise WrongValue(first, "must not be given with {0}", others=(second,))


def whole(
    name: str,
    value: Any,
    low: float = -math.inf,
    high: float = math.inf,
    *,
    most: int = LARGEST,
) -> int:
    """Return `value` as an int within [low, high], or raise; `most` is the default of `high`."""
    is_real = isinstance(value, Real) and not isinstance(value, bool)
    if not is_real or not low <= value <= high or value % 1 != 0:
        kind = WrongValue if is_real else WrongType
        raise kind(name, f"must be a whole number{_range(low, high)}", value)
    if high == math.inf and value > most:
        raise WrongValue(name, f"must be at most {_text(most)}", value)
    return int(value)


def number(
    name: str,
    value: Any,
    low: float = -LARGEST_FLOAT,
    high: float = LARGEST_FLOAT,
    *,
    open_ends: bool = False,
) -> float:
    """Return `value` as a finite float within [low, high] (or (low, high)), or raise."""
    is_real = isinstance(value, Real) and not isinstance(value, bool)
    if is_real and low <= value <= high and not (open_ends and value in (low, high)):
        return float(value)
    rule = f"must be a number{_range(low, high, open_ends)}"
    if not is_real:
        raise WrongType(name, rule, value)
    got = f"got {_text(value)}"
    if name in PERCENTAGES and PERCENTAGES[name] <= value < 100 * high:
        got += f" (did you mean {value / 100:g}?)"
    raise WrongValue(name, rule, value, told=got)


def level(value: Any) -> float:
    """Return a confidence level in (0, 1)."""
    return number("level", value, 0, 1, open_ends=True)


def assurance(value: Any) -> float:
    """Return a proportion of samples in [0.5, 1)."""
    if number("assurance", value, 0.5, 1) == 1:
        rule = "must be below 1, because only labels for all items are certain to be enough"
        raise WrongValue("assurance", rule, value)
    return float(value)


def choice(name: str, value: Any, options: Collection) -> Any:
    """Return `value` if it is one of `options`; the message lists them all."""
    if isinstance(value, str) and value in options:
        return value
    rule = f"must be one of {', '.join(map(repr, options))}"
    raise WrongValue(name, rule, value, told=f"got {value!r}{suggestion(value, options)}")


def each(name: str, values: Any) -> tuple:
    """Return a list or another iterable except text as a tuple, or raise."""
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise WrongType(name, "must be a list", values)
    return tuple(values)


def choices(name: str, values: Any, options: Collection[str]) -> tuple:
    """Return one or more of `options` as a tuple."""
    values = (values,) if isinstance(values, str) else each(name, values)
    return tuple(choice(name, value, options) for value in values)


def instance(name: str, value: Any, *kinds: type) -> Any:
    """Return `value` if it is an instance of one of the classes, or raise."""
    if isinstance(value, kinds):
        return value
    classes = " or ".join(kind.__name__ for kind in kinds)
    raise WrongType(name, f"must be of class {classes}", value, told=f"got {type(value).__name__}")


def suggestion(value: Any, options: Iterable) -> str:
    """Return ' (did you mean ...?)' if an option is similar to `value`, else ''."""
    close = difflib.get_close_matches(str(value), list(options), 1)
    return f" (did you mean {close[0]!r}?)" if close else ""


def vector(
    name: str,
    values: ArrayLike,
    *,
    size: int | None = None,
    low: float = -LARGEST_SIZE,
    high: float = LARGEST_SIZE,
    what: str = "entry",
    copy: bool = True,
) -> ndarray:
    """Return `values` as a finite 1-d float array within [low, high], or raise."""
    array = plain_array(name, values, what)
    _refuse_shape(name, array, size)
    if array.dtype.kind not in "biuf":
        got = f"got {array.dtype} such as {array[0]!r}"
        raise WrongType(name, "must hold numbers", array[0], told=got)
    array = array.astype(float, copy=copy)
    if low == 0 and high == LARGEST_SIZE:  # sizes and spreads: 1 / entry must be a float, too
        least = 1 / LARGEST_SIZE
        is_tiny = (array > 0) & (array < least)
        refuse(name, array, is_tiny, f"must be 0 or at least {least:g}", what)
    if not low <= array.min() <= array.max() <= high:
        refuse(name, array, ~np.isfinite(array), "must be finite", what)
        refuse(name, array, array < low, f"must be at least {low:.16g}", what)
        refuse(name, array, array > high, f"must be at most {high:.16g}", what)
    return array


def counts(
    name: str,
    values: ArrayLike,
    *,
    size: int | None = None,
    low: int = 0,
    what: str = "stratum",
    copy: bool = True,
) -> ndarray:
    """Return `values` as a 1-d int array of at least `low`, or raise."""
    array = plain_array(name, values, what)
    _refuse_shape(name, array, size)
    if array.dtype.kind not in "iu" or not low <= array.min() <= array.max() <= LARGEST:
        array = vector(
            name,
            array,
            low=low,
            high=LARGEST,
            what=what,
        )
        refuse(name, array, array != np.floor(array), "must be a whole number", what)
    return array.astype(np.int64, copy=copy)


def bounds(values: Sequence[float]) -> tuple[float, float]:
    """Return the smallest and the largest possible value as floats, or raise."""
    least, most = vector("bounds", values, size=2)
    if least >= most:
        raise WrongValue("bounds", BOUNDS_RULE, told=f"got {least:g} and {most:g}")
    return float(least), float(most)


def bounds_of(text: str) -> tuple[float, float]:
    """Return the bounds written in a text such as "0, 1", or raise."""
    try:
        return bounds([float(part) for part in text.split(",")])
    except ValueError:
        raise WrongValue("bounds", f'{BOUNDS_RULE}, as "0, 1"', text) from None


def at_most(
    name: str,
    values: ArrayLike,
    limit_name: str,
    limits: ArrayLike,
    *,
    what: str = "stratum",
) -> None:
    """Raise unless values <= limits, entry by entry; the message names the first violation."""
    values = np.asarray(values)
    limits = np.asarray(limits)
    rule = f"must be at most {limit_name}"
    refuse(
        name,
        values,
        values > limits + 1e-9,
        rule,
        what,
        limits,
    )


def zero_one(
    name: str,
    values: ArrayLike,
    *,
    size: int | None = None,
    what: str = "entry",
) -> ndarray:
    """Return `values` as a 1-d bool array; only 0/1 and booleans are accepted."""
    array = vector(name, values, size=size, what=what)
    refuse(name, array, (array != 0) & (array != 1), "must be 0 or 1", what)
    return array.astype(bool)


def labels(
    name: str,
    values: ArrayLike,
    *,
    size: int | None = None,
    what: str = "item",
) -> ndarray:
    """Return `values` as a 1-d array of numbers or text, or raise at the first missing entry.

    `cells_and_gaps` decides which values are missing.
    """
    refuse_masked(name, values, what)
    array, gaps = cells_and_gaps(name, values)
    _refuse_shape(name, array, size)
    if gaps.any():
        k = int(gaps.argmax())
        place = what, k
        raise WrongValue(name, "must not be missing", array[k], place=place, told=f"{what} {k} is")
    if array.dtype.kind == "O" and all(isinstance(value, Real) for value in array):
        return np.array(array.tolist())
    return array if array.dtype.kind in "biufUS" else array.astype(str)


def cells_and_gaps(name: str, values: ArrayLike) -> tuple[ndarray, ndarray]:
    """Return labels as an array of any shape, and a mask of those that are missing.

    All arguments that hold labels, strata, clusters or folds use this function. A label is missing
    if `is_missing` returns true for it, or if it is masked in a masked array.

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
        missing = np.array(list(map(is_missing, array.flat)), bool)
        gaps = missing.reshape(array.shape)
    else:
        gaps = array != array
    if isinstance(values, np.ma.MaskedArray):
        gaps = gaps | np.ma.getmaskarray(values)
    return array, gaps


def cells(name: str, values: ArrayLike) -> ndarray:
    """Return values as an array; numbers in a list that also contains text stay numbers."""
    array = _as_array(name, values)
    if array.dtype.kind not in "US" or isinstance(values, ndarray):
        return array
    entries = np.asarray(values, object)
    all_text = all(isinstance(entry, (str, bytes)) for entry in entries.flat)
    return array if all_text else entries


def listed(values: Iterable, most: int = 8, *, quoted: bool = False) -> str:
    """Return values as text with commas: the first `most`, and the number of the others.

    Examples
    --------
    >>> listed(["a", "b", "c"], 2, quoted=True)
    "'a', 'b' and 1 more"
    """
    texts = list(map(repr if quoted else str, values))
    text = ", ".join(texts[:most])
    more = len(texts) - most
    return f"{text} and {more:,} more" if more > 0 else text


def counted(count: float, one: str, many: str | None = None) -> str:
    """Return a count with its noun, singular or plural.

    Examples
    --------
    >>> counted(1, "item"), counted(1200, "item"), counted(2, "class", "classes")
    ('1 item', '1,200 items', '2 classes')
    """
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def is_missing(value: Any) -> bool:
    """Return whether a value is None, NaN, a data frame's missing value, masked or blank text.

    The text "nan" counts as missing too, because numpy and pandas turn NaN into this text. Any
    other text is a value, including "NA" and "None".

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
    except TypeError:  # a comparison with pandas.NA is neither true nor false
        return True


def seed(name: str, value: Any) -> int:
    """Return a seed, a whole number of at least 0 with any number of digits, or raise."""
    return whole(name, value, 0, most=10**300)


def generator(value: int | np.random.Generator) -> np.random.Generator:
    """Return a `numpy.random.Generator` from a seed (whole number >= 0) or a generator."""
    if isinstance(value, np.random.Generator):
        return value
    return np.random.default_rng(seed("rng", value))


def plain_array(name: str, values: ArrayLike, what: str = "entry") -> ndarray:
    """Return `values` as an array, or raise if it has masked entries.

    Examples
    --------
    >>> plain_array("losses", np.ma.array([0.5, 99], mask=[0, 1]))
    Traceback (most recent call last):
    workbench.checks.WrongValue: losses must not be masked; entry 1 is
    """
    refuse_masked(name, values, what)
    return _as_array(name, values)


def _as_array(name: str, values: ArrayLike) -> ndarray:
    try:
        return np.asarray(values)
    except (TypeError, ValueError):  # rows of unequal length, entries that are arrays
        raise WrongType(name, "must be an array: entries of one kind, rows of one length") from None


def floats(name: str, values: ArrayLike, what: str = "entry") -> ndarray:
    """Return `values` as an array of float of any shape, or raise unless they are real numbers.

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
        raise WrongType(name, "must hold numbers within the range of a float") from None


def refuse_masked(name: str, values: ArrayLike, what: str = "entry") -> None:
    """Raise if a masked array, or one in a list of arrays, has masked entries."""
    if isinstance(values, np.ma.MaskedArray):
        hidden = np.argwhere(np.atleast_1d(np.ma.getmaskarray(values)))
        if len(hidden):
            index = ", ".join(map(str, hidden[0]))
            raise WrongValue(name, "must not be masked", told=f"{what} {index} is")
    elif isinstance(values, (list, tuple)) and values and isinstance(values[0], ndarray):
        for k, part in enumerate(values):
            refuse_masked(f"{name}[{k}]", part, what)


def refuse(
    name: str,
    array: ndarray,
    bad: ArrayLike,
    rule: str,
    what: str,
    limits: ndarray | None = None,
) -> None:
    """Raise if an entry of an array is bad; the message names the first by its index."""
    if not np.any(bad):
        return
    k = int(np.argmax(bad))
    text = f"{what} {k} is {array[k]:.15g}"
    if limits is not None:
        text = f"{what} {k} has {array[k]:.15g} of {limits[k]:.15g}"
    raise WrongValue(name, rule, array[k], place=(what, k), told=text)


def refuse_infinite(
    name: str,
    values: ndarray,
    *axes: str,
    between: str = ", ",
) -> None:
    """Raise if an entry is not finite; the message names its position along the axes."""
    for index in np.argwhere(~np.isfinite(values)):
        pairs = zip(axes, index, strict=True)
        place = between.join(f"{axis} {k}" for axis, k in pairs)
        raise WrongValue(name, f"must be finite; {place} is {values[tuple(index)]}")


def _refuse_shape(name: str, array: ndarray, size: int | None) -> None:
    """Raise unless an array is one-dimensional and not empty, and has `size` entries."""
    if array.ndim != 1:
        raise WrongValue(name, "must be one-dimensional", told=f"got shape {array.shape}")
    if array.size == 0:
        raise WrongValue(name, "must not be empty")
    if size not in (None, array.size):
        entries = counted(size, "entry", "entries")
        raise WrongValue(name, f"must have {entries}", told=f"got {array.size}")


def _range(low: float, high: float, open_ends: bool = False) -> str:
    """Return the words for a range with no limit, one limit or two limits."""
    if low <= -LARGEST_FLOAT and high >= LARGEST_FLOAT:
        return ""
    if low <= -LARGEST_FLOAT:
        return f" below {high}" if open_ends else f" of at most {high}"
    if high >= LARGEST_FLOAT:
        return f" above {low}" if open_ends else f" of at least {low}"
    return f" in ({low}, {high})" if open_ends else f" from {low} to {high}"


def _text(value: Any) -> str:
    """Return a value as text; a whole number with very many digits is rounded."""
    if isinstance(value, int) and abs(value) >= 10**30:
        return f"about {Decimal(value):.0e}"
    return repr(value)
