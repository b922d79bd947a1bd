"""Long enumerations: `make test` runs a few of them, `make full` runs them whole, with the same assertions."""

import pytest


def thinned(names, few, whole):
    """Parametrize a test by its size: `few` always, `whole` where tests marked `full` are asked for."""
    return pytest.mark.parametrize(
        names,
        [
            pytest.param(*_values(few), id="few"),
            pytest.param(*_values(whole), id="whole", marks=pytest.mark.full),
        ],
    )


def _values(size):
    return size if isinstance(size, tuple) else (size,)
