"""Calls that are refused: the argument and the rule that the error holds, and how its message ends."""

import pytest

from workbench.checks import WrongValue


def refused(call, argument, rule, told="", kind=WrongValue):
    """Check that a call raises an error of the kind, about the argument, by a rule that begins so.

    The message ends with what was got or where it is, which begins as `told` does, if given.
    """
    with pytest.raises(kind) as caught:
        call()
    error = caught.value
    found = error.rule.format(*error.others) if error.others else error.rule
    assert error.argument == argument and rule and found.startswith(rule), str(error)
    assert (error.told or "").startswith(told) and str(error).startswith(f"{argument} {rule}")
