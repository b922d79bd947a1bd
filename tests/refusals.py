"""Calls that are refused: the argument and the rule that the error holds, and how its message ends."""

import re

import pytest

from workbench.checks import WrongValue


def refused(call, argument, rule, told="", kind=WrongValue):
    """Check that a call raises an error of the kind, about the argument, by a rule that begins so.

    The message ends with what was got or where it is, which begins as `told` does, if given. A
    number at the end of a beginning is whole: "got 1" is not the beginning of "got 10".
    """
    with pytest.raises(kind) as caught:
        call()
    error = caught.value
    full = error.rule.format(*error.others) if error.others else error.rule
    assert error.argument == argument and rule and str(error).startswith(f"{argument} {rule}")
    for text, beginning in ((full, rule), (error.told or "", told)):
        assert text.startswith(beginning), str(error)
        assert not re.match(r"\d(\.?\d)", beginning[-1:] + text[len(beginning) :]), str(error)
