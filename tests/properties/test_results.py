import json
import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from workbench.results import NOTE_KINDS, Interval, Note, Result


class Box(Result):
    value: object

    def headline(self):
        return "a box"

    def rows(self):
        return [{"value": str(self.value)}]


TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)
SHAPES = hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=3)
ARRAYS = st.one_of(
    hnp.arrays(st.sampled_from(["f8", "f4", ">f8"]), SHAPES, elements=st.floats(width=32)),
    hnp.arrays(st.sampled_from(["i8", "u1", "<i2"]), SHAPES, elements=st.integers(0, 100)),
    hnp.arrays(bool, SHAPES),
    hnp.arrays("U4", SHAPES, elements=st.text("aä日 ", max_size=4)),
)
SCALARS = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), TEXT)
PLACES = st.none() | st.tuples(TEXT, st.integers() | TEXT | st.none())
NOTES = st.builds(Note, st.sampled_from(NOTE_KINDS), TEXT.filter(bool), PLACES)
INTERVALS = st.builds(
    Interval,
    st.floats(),
    st.floats(),
    st.floats(),
    TEXT,
    st.none() | st.integers(),
    notes=st.lists(NOTES, max_size=3),
)
VALUES = st.recursive(
    SCALARS | ARRAYS | INTERVALS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(tuple),
        st.dictionaries(TEXT | st.integers(), inner, max_size=3),
    ),
    max_leaves=6,
)


def canonical(value):
    """A value with its types spelled out, equal exactly where nothing was lost."""
    if isinstance(value, (Result, Note)):
        return (type(value).__name__, canonical(vars(value)))
    if isinstance(value, np.ndarray):
        return (
            "array",
            value.dtype.str,
            value.shape,
            [canonical(entry) for entry in value.ravel().tolist()],
        )
    if isinstance(value, dict):
        return ("dict", [(canonical(key), canonical(entry)) for key, entry in value.items()])
    if isinstance(value, tuple):
        return ("tuple", [canonical(entry) for entry in value])
    if isinstance(value, float):
        return ("float", "nan" if math.isnan(value) else value.hex())
    return (type(value).__name__, value)


@given(VALUES)
def test_json_loses_nothing(value):
    box = Box(value)
    text = json.dumps(box.to_dict(), allow_nan=False)
    assert canonical(Result.from_dict(json.loads(text))) == canonical(box)


@given(ARRAYS)
def test_arrays_are_frozen_copies(array):
    box = Box((array, (array,)))
    for kept in (box.value[0], box.value[1][0]):
        assert not kept.flags.writeable and not np.shares_memory(kept, array)
