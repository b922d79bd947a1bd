"""Charts of orthogonal arrays and of the steps of a Galois field."""

import altair as alt
import numpy as np

from workbench import checks
from workbench.charts import theme
from workbench.charts.replication.half_samples import SIGNS, TICKS
from workbench.replication import arrays, galois
from workbench.replication.galois import GaloisField

SHOWN_RUNS = 81
NAMED_PAIRS = 6


def unbalanced_pairs(array: np.ndarray, levels: int) -> np.ndarray:
    """Return a mask of the pairs of columns that are not balanced, (columns, columns) of bool."""
    runs, columns = np.shape(array)
    holds = (np.asarray(array)[:, :, None] == np.arange(levels)).astype(np.float32)
    flat = holds.reshape(runs, -1)
    counts = (flat.T @ flat).reshape(columns, levels, columns, levels)
    bad = (counts * levels**2 != runs).any((1, 3))
    np.fill_diagonal(bad, False)
    return bad


def _pairs(array: np.ndarray, levels: int, i: int, j: int) -> np.ndarray:
    """Return the counts of each pair of levels in two columns, (levels, levels)."""
    return np.bincount(array[:, i - 1] * levels + array[:, j - 1], minlength=levels**2).reshape(
        levels, levels
    )


def array_data(array: np.ndarray, levels: int, i: int, j: int, note: str = "") -> dict:
    """Return the rows of `array`: tiles, chosen columns, their counts of pairs, all pairs."""
    bad = unbalanced_pairs(array, levels)
    tiles = [
        {"run": r + 1, "column": c + 1, "level": level}
        for r, row in enumerate(array[:SHOWN_RUNS].tolist())
        for c, level in enumerate(row)
    ]
    even = len(array) / levels**2
    table = [
        {
            "a": a,
            "b": b,
            "count": int(n),
            "off": max(-1.0, min(1.0, float(n / even - 1))),
            "dark": int(n / even >= 1.55 or n / even <= 0.45),
        }
        for (a, b), n in np.ndenumerate(_pairs(array, levels, i, j))
    ]
    pairs = [
        {"i": a + 1, "j": b + 1, "pair": "not balanced" if bad[a, b] else "balanced"}
        for a, b in zip(*np.triu_indices(bad.shape[0], 1), strict=True)
    ]
    columns = [
        {"column": c + 1, "pick": c + 1, "label": f"column {c + 1}"} for c in range(array.shape[1])
    ]
    return {
        "tiles": tiles,
        "columns": columns,
        "chosen": [{"column": i}, {"column": j}],
        "table": table,
        "pairs": pairs,
        "crosses": [row for row in pairs if row["pair"] == "not balanced"],
        "pair": [{"i": min(i, j), "j": max(i, j)}],
        "note": [{"text": note}],
    }


def array_words(array: np.ndarray, levels: int, i: int, j: int, note: str = "") -> tuple[str, str]:
    """Return the title and the text alternative of `array`."""
    runs, columns = array.shape
    bad = np.argwhere(np.triu(unbalanced_pairs(array, levels))) + 1
    counts = _pairs(array, levels, i, j)
    total = columns * (columns - 1) // 2
    names = ", ".join(f"{a} and {b}" for a, b in bad[:NAMED_PAIRS]) + (
        ", …" if len(bad) > NAMED_PAIRS else ""
    )
    shape = f"{checks.counted(runs, 'run')}, {columns} columns, {levels} units per stratum"
    even = "the one pair of columns is" if total == 1 else f"all {total} pairs of columns are"
    odd = f"{len(bad)} of {checks.counted(total, 'pair')} {'is' if len(bad) == 1 else 'are'}"
    verdict = (
        f"{odd} not balanced ({names}); {arrays.smallest_runs(levels, columns):,} runs are needed"
        if len(bad)
        else f"{even} balanced"
    )
    seen = (
        f"Columns {i} and {j} show"
        f" {'each pair of numbers' if np.ptp(counts) == 0 else 'the pairs of numbers'} "
    )
    how = (
        f"{checks.counted(counts[0, 0], 'time')}."
        if np.ptp(counts) == 0
        else f"between {counts.min()} and {counts.max()} times."
    )
    cut = f" The chart shows the first {SHOWN_RUNS} runs." if runs > SHOWN_RUNS else ""
    note_sentence = f" {note[0].upper()}{note[1:]}." if note else ""
    return f"{shape}: {verdict}", f"An array of {shape}: {verdict}. {seen}{how}{cut}{note_sentence}"


def array(array: np.ndarray, levels: int, i: int, j: int, note: str = "") -> alt.TopLevelMixin:
    """Return an array as tiles, the counts of two of its columns, and the pairs not balanced.

    Parameters
    ----------
    array : (runs, columns) array of int
        The array.
    levels : int
        Number of levels.
    i, j : int
        Two columns, counted from 1.
    note : str
        Text in the empty half of the table of pairs.
    """
    data = array_data(array, levels, i, j, note)
    tiles = (
        theme.chart(data, "tiles")
        .mark_rect()
        .encode(
            x=alt.X("column:O", title="column (stratum)", axis=TICKS),
            y=alt.Y("run:O", title="run", axis=TICKS),
            color=alt.Color(
                "level:O",
                title="unit that is kept",
                scale=alt.Scale(scheme="viridis"),
            ),
        )
    )
    chosen = (
        theme.chart(data, "chosen")
        .mark_rect(filled=False, stroke=theme.OKABE_ITO["orange"], strokeWidth=3, y=0, y2="height")
        .encode(x="column:O")
    )
    touched = (
        theme.chart(data, "columns").mark_rect(opacity=0, y=0, y2="height").encode(x="column:O")
    )
    table = theme.chart(data, "table").encode(
        x=alt.X("b:O", title="number in the second column", axis=TICKS),
        y=alt.Y("a:O", title="number in the first column"),
    )
    cells = table.mark_rect(stroke="#808080", strokeWidth=0.5).encode(
        color=alt.Color("off:Q", legend=None, scale=alt.Scale(domain=[-1, 0, 1], range=list(SIGNS)))
    )
    counts = table.mark_text().encode(text="count:Q", color=theme.ink())
    pairs = (
        theme.chart(data, "pairs")
        .mark_rect()
        .encode(
            x=alt.X("j:O", title="second column", axis=TICKS),
            y=alt.Y("i:O", title="first column", axis=TICKS),
            color=theme.color(
                "pair", {"balanced": theme.OKABE_ITO["sky"], "not balanced": theme.MISS}
            ),
        )
    )
    here = (
        theme.chart(data, "pair")
        .mark_square(size=16, color=theme.OKABE_ITO["black"])
        .encode(x="j:O", y="i:O")
    )
    crosses = (
        theme.chart(data, "crosses")
        .mark_point(shape="cross", angle=45, size=30, color="#ffffff", filled=True)
        .encode(x="j:O", y="i:O")
    )
    beside = (
        theme.chart(data, "note")
        .mark_text(align="left", baseline="bottom", x=4, y=146, style="note")
        .encode(text="text:N")
    )
    right = alt.vconcat(
        (cells + counts).resolve_scale(color="independent").properties(width=190, height=170),
        (pairs + crosses + here + beside).properties(width=190, height=150),
    ).resolve_scale(color="independent")
    left = (tiles + chosen + touched).properties(width=270, height=400)
    both = alt.hconcat(left, right).resolve_scale(color="independent")
    return theme.finish(both, *array_words(array, levels, i, j, note))


def field_data(field: GaloisField, k: int) -> dict:
    """Return the rows of `field`: powers of x up to k, and the part of the array they fill."""
    size, degree = field.size - 1, field.degree
    digits = field.coefficients(field.powers(field.primitive_element))
    columns = size // (field.p - 1)
    places = [galois.polynomial(np.eye(degree, dtype=int)[d]) for d in range(degree)]
    terms = [
        {"power": r + 1, "place": d, "name": places[d], "digit": int(digits[r, d])}
        for r in range(k)
        for d in range(degree)
    ]
    cells = [
        {"row": r + 1, "column": c + 1, "digit": int(digits[(r + c) % size, 0])}
        for r in range(size)
        for c in range(columns)
        if (r + c) % size < k
    ]
    zeros = [
        {"row": size + 1, "column": c + 1, "digit": 0} for c in range(columns if k == size else 0)
    ]
    return {
        "terms": terms,
        "cells": cells + zeros,
        "empty terms": [{"power": r + 1, "name": name} for r in range(size) for name in places],
        "empty cells": [
            {"row": r + 1, "column": c + 1} for r in range(size + 1) for c in range(columns)
        ],
        "now": [{"power": k}],
    }


def field_words(field: GaloisField, k: int) -> tuple[str, str]:
    """Return the title and the text alternative of `field`, with the computation of power k."""
    size, p = field.size - 1, field.p
    name = f"GF({p}{_raised(field.degree)})"
    modulus = galois.polynomial(field.modulus)
    power = galois.polynomial(field.coefficients(field.power(field.primitive_element, k)))
    columns, runs = size // (p - 1), field.size
    if k < size:
        title = f"{name}, step {k} of {size}: x{_raised(k)} = {power}"
        rest = (
            f"The picture shows {k} of {size} powers. Column 1 of the array holds their constant"
            " coefficients. The other columns are column 1, moved up."
        )
    else:
        title = f"{name}: {size} powers and a row of zeros make {runs} runs for {columns} columns"
        rest = (
            f"Power {size} is 1: every element except 0 has occurred once. A further column would"
            " repeat column 1, up to a factor."
            if p > 2
            else f"Power {size} is 1: every element except 0 has occurred once."
        )
    return (
        title,
        f"{name}: coefficients modulo {p}, polynomials modulo {modulus}. {_step(field, k)} {rest}",
    )


def _step(field: GaloisField, k: int) -> str:
    """Return a sentence that computes power k of x from power k - 1."""
    lower = field.coefficients(field.power(field.primitive_element, k - 1))
    power = galois.polynomial(field.coefficients(field.power(field.primitive_element, k)))
    begin = f"x{_raised(k)} = x ({galois.polynomial(lower)}) = {galois.polynomial([0, *lower])}"
    if lower[-1] == 0:
        return f"{begin}: no reduction is needed."
    rule = galois.polynomial(-np.array(field.modulus[:-1]) % field.p)
    return f"{begin}; with x{_raised(field.degree)} = {rule} this is {power}."


def _raised(k: int) -> str:
    return "" if k == 1 else f"^{k}"


def field(field: GaloisField, k: int) -> alt.TopLevelMixin:
    """Return the powers x, x^2, ... x^k as coefficients, and the array that they fill.

    Parameters
    ----------
    field : workbench.GaloisField
        A field whose smallest primitive element is x.
    k : int
        Power, from 1 to size - 1.
    """
    data = field_data(field, k)
    color = alt.Color("digit:O", title="coefficient", scale=alt.Scale(scheme="viridis"))
    up = alt.Y("power:O", title="power of x", axis=TICKS)
    down = alt.Y("row:O", title="run", axis=TICKS)
    terms = alt.X("name:N", title="coefficient of", sort=None, axis=TICKS)
    columns = alt.X("column:O", title="column of the array", axis=TICKS)
    edge = {"stroke": "#ffffff", "strokeWidth": 0.5}
    (empty_terms, full_terms), (empty_cells, cells) = (
        [
            theme.chart(data, f"empty {name}")
            .mark_rect(opacity=0.15, color=theme.GRAY, **edge)
            .encode(x=x, y=y),
            theme.chart(data, name).mark_rect(**edge).encode(x=x, y=y, color=color),
        ]
        for name, x, y in (("terms", terms, up), ("cells", columns, down))
    )
    now = theme.chart(data, "now").mark_rect(
        filled=False, stroke=theme.MISS, strokeWidth=3, x=0, x2="width"
    )
    left = alt.layer(empty_terms, full_terms, now.encode(y=up)).properties(width=140, height=380)
    both = alt.hconcat(left, alt.layer(empty_cells, cells).properties(width=320, height=380))
    return theme.finish(both, *field_words(field, k))
