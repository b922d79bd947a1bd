"""How the test sets of a cross-validation were made: folds, repeats of folds, or random splits.

Read `checked` first: it lists the possible answers. `ask` raises an error that asks for the answer
if it would change the result.
"""

from typing import Any, NoReturn

from workbench import checks
from workbench.checks import WrongValue, counted
from workbench.results import digits

SPLITS = ("auto", "folds", "random")
MOST_FOLDS = 20  # usual are 5, 10 or 20; more are likely several cross-validations

IF_RANDOM = (
    "For random splits (ShuffleSplit), give test_share, because the interval must then be longer"
)


def checked(splits: Any, test_share: Any) -> tuple[str, float | None]:
    """Return the scheme and the proportion of items in a test set (None if not given).

    Parameters
    ----------
    splits : {"auto", "folds", "random"}
        How the test sets were made.
    test_share : float or None
        Proportion of items in a test set, in (0, 1). 0 counts as not given. If it is given, "auto"
        becomes "random".

    Examples
    --------
    >>> checked("auto", 0.2), checked("folds", None), checked("auto", 0)
    (('random', 0.2), ('folds', None), ('auto', None))
    """
    checks.choice("splits", splits, SPLITS)
    if test_share is None or test_share == 0:
        return splits, None
    share = checks.number("test_share", test_share, 0, 1, open_ends=True)
    if splits == "folds":
        raise WrongValue(
            "test_share",
            "is only for random splits. Leave it out for folds, which test 1/K of the items each",
            share,
        )
    return "random", share


def ask(why: str, remedy: str = "name the column of repeats with {1}") -> NoReturn:
    """Raise an error that asks how the test sets were made.

    Parameters
    ----------
    why : str
        Reason for the question.
    remedy : str
        How to say that there are repeats of folds.
    """
    raise WrongValue(
        "splits",
        f"must be 'random' or 'folds', because {why}, and the answer changes the result. For "
        "random splits (ShuffleSplit, bootstrap), use 'random' and set {0} to the proportion of "
        f"items in a test set. For repeats of k folds, {remedy}. For one cross-validation that "
        "tests every item once, use 'folds'",
        others=("test_share", "repeat", "folds"),
    )


def ask_share() -> NoReturn:
    """Raise an error that asks how large the test sets of random splits are."""
    raise WrongValue(
        "test_share",
        "must be given for random splits. It is the proportion of items in a test set, such as "
        "0.2 for 80/20 splits. Columns n_train and n_test can replace it",
    )


def refuse_unknown_folds(folds: int, remedy: str) -> None:
    """Raise if there are so many folds that they may be repeats of folds, or random splits.

    Examples
    --------
    >>> refuse_unknown_folds(10, "say repeats")
    """
    if folds > MOST_FOLDS:
        why = f"{folds} folds may be one cross-validation, repeats, or random splits"
        ask(why, remedy)


def words(
    splits: str,
    folds: int,
    repeats: int,
    test_share: float | None,
) -> str:
    """Return a description of the scheme.

    Examples
    --------
    >>> words("random", 250, 1, 0.2), words("folds", 10, 5, None)
    ('250 random splits, 20% of the items in each test set', '5 repeats of 10 folds')
    >>> words("folds", 9, 1, 0.1), words("folds", 10, 1, None)
    ('9 folds, each of 10% of the items', 'one cross-validation of 10 folds')
    """
    if test_share is not None:
        percentage = f"{digits.level(100 * test_share, 100, 3)}%"
        if splits == "random":
            count = counted(folds, "random split")
            return f"{count}, {percentage} of the items in each test set"
        return f"{counted(folds, 'fold')}, each of {percentage} of the items"
    if repeats > 1:
        return f"{repeats} repeats of {folds} folds"
    return f"one cross-validation of {counted(folds, 'fold')}"
