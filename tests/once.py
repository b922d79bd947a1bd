"""What computes the same from the same need compute it only once for all tests."""

import functools
import inspect
import json


def once(function):
    """Return a function that keeps its answers: to a picture, and to who expects the same of it."""
    form, found = inspect.signature(function), {}

    @functools.wraps(function)
    def kept(*values, **named):
        given = form.bind(*values, **named)
        given.apply_defaults()
        key = json.dumps(given.arguments, sort_keys=True, default=_plain)
        if key not in found:
            found[key] = function(*values, **named)
        return found[key]

    return kept


def _plain(array):
    return [array.dtype.str, array.shape, array.tobytes().hex()]
