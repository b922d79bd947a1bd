"""Charts of orthogonal arrays and of the steps of a Galois field."""

from typing import Any

import altair as alt
import numpy as np

from workbench import checks
from workbench.charts import theme
from workbench.charts.replication.half_samples import SIGNS, TICKS
from workbench.charts.theme import GRAY, MISS, OKABE_ITO, Figure, chart, stacked
from workbench.replication import arrays, galois
from workbench.replication.galois import GaloisField
from workbench.results import rows_of

FIRST_RUNS = 81
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


def array(array: np.ndarray, levels: int, i: int, j: int, note: str = "") -> Figure:
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
    runs, columns = array.shape
    unbalanced = unbalanced_pairs(array, levels)
    pairs = [
        {"i": a + 1, "j": b + 1, "pair": "not balanced" if unbalanced[a, b] else "balanced"}
        for a, b in zip(*np.triu_indices(columns, 1), strict=True)
    ]
    crosses = [row for row in pairs if row["pair"] == "not balanced"]
    counts = np.bincount(array[:, i - 1] * levels + array[:, j - 1], minlength=levels**2)
    table = []
    for (a, b), number in np.ndenumerate(counts.reshape(levels, levels)):
        ratio = number / (runs / levels**2)
        off, dark = max(-1.0, min(1.0, float(ratio - 1))), int(ratio >= 1.55 or ratio <= 0.45)
        table.append({"a": a, "b": b, "count": int(number), "off": off, "dark": dark})
    tiles = [
        {"run": run + 1, "column": column + 1, "level": int(level)}
        for (run, column), level in np.ndenumerate(array[:FIRST_RUNS])
    ]
    numbers = range(1, columns + 1)
    labels = [f"column {number}" for number in numbers]
    data = {"tiles": tiles, "table": table, "pairs": pairs, "crosses": crosses}
    data["columns"] = rows_of(column=numbers, pick=numbers, label=labels)
    data["chosen"] = [{"column": i}, {"column": j}]
    data["pair"] = [{"i": min(i, j), "j": max(i, j)}]
    data["note"] = [{"text": note}]
    shape = f"{checks.counted(runs, 'run')}, {columns} columns, {levels} units per stratum"
    title = f"{shape}: {_balance(pairs, crosses, arrays.smallest_runs(levels, columns))}"
    alternative = f"An array of {title}. Columns {i} and {j} show "
    if np.ptp(counts) == 0:
        alternative += f"each pair of numbers {checks.counted(counts[0], 'time')}."
    else:
        alternative += f"the pairs of numbers between {counts.min()} and {counts.max()} times."
    if runs > FIRST_RUNS:
        alternative += f" The chart shows the first {FIRST_RUNS} runs."
    if note:
        alternative += f" {note[0].upper()}{note[1:]}."
    return Figure(data, title, alternative, _draw_array)


def _balance(pairs: list[dict], crosses: list[dict], needed: int) -> str:
    """Return a text that names the pairs of columns that are not balanced."""
    total = len(pairs)
    if not crosses:
        columns = f"all {total} pairs of columns are"
        return f"{'the one pair of columns is' if total == 1 else columns} balanced"
    names = ", ".join(f"{row['i']} and {row['j']}" for row in crosses[:NAMED_PAIRS])
    if len(crosses) > NAMED_PAIRS:
        names += ", …"
    verb = "is" if len(crosses) == 1 else "are"
    return (
        f"{len(crosses)} of {checks.counted(total, 'pair')} {verb} not balanced ({names}); "
        f"{needed:,} runs are needed"
    )


def _draw_array(data: dict) -> Any:
    layers = {name: chart(data, name) for name in data}
    orange = OKABE_ITO["orange"]
    tall = {"y": 0, "y2": "height"}
    column = alt.X("column:O", title="column (stratum)", axis=TICKS)
    level = alt.Color("level:O", title="unit that is kept", scale=alt.Scale(scheme="viridis"))
    run = alt.Y("run:O", title="run", axis=TICKS)
    tiles = layers["tiles"].mark_rect().encode(x=column, y=run, color=level)
    chosen = layers["chosen"].mark_rect(filled=False, stroke=orange, strokeWidth=3, **tall)
    columns = layers["columns"].mark_rect(opacity=0, **tall)
    tiles += chosen.encode(x="column:O")
    tiles += columns.encode(x="column:O")
    table = layers["table"].encode(
        x=alt.X("b:O", title="number in the second column", axis=TICKS),
        y=alt.Y("a:O", title="number in the first column"),
    )
    off = alt.Color("off:Q", legend=None, scale={"domain": [-1, 0, 1], "range": SIGNS})
    counts = table.mark_rect(stroke="#808080", strokeWidth=0.5).encode(color=off)
    counts += table.mark_text().encode(text="count:Q", color=theme.ink())
    colors = {"balanced": OKABE_ITO["sky"], "not balanced": MISS}
    crosses = layers["crosses"].mark_point(
        shape="cross", angle=45, size=30, color="#ffffff", filled=True
    )
    pairs = layers["pairs"].mark_rect()
    pairs = pairs.encode(
        x=alt.X("j:O", title="second column", axis=TICKS),
        y=alt.Y("i:O", title="first column", axis=TICKS),
        color=theme.color("pair", colors),
    )
    chosen_pair = layers["pair"].mark_square(size=16, color=OKABE_ITO["black"])
    note = layers["note"].mark_text(align="left", baseline="bottom", x=4, y=146, style="note")
    pairs += crosses.encode(x="j:O", y="i:O")
    pairs += chosen_pair.encode(x="j:O", y="i:O")
    pairs += note.encode(text="text:N")
    apart = {"color": "independent"}
    right = stacked(190, (counts.resolve_scale(**apart), 170), (pairs, 150))
    tiles = tiles.properties(width=270, height=400)
    return alt.hconcat(tiles, right.resolve_scale(**apart)).resolve_scale(**apart)


def field(field: GaloisField, k: int) -> Figure:
    """Return the powers x, x^2, ... x^k as coefficients, and the array that they fill.

    Parameters
    ----------
    field : workbench.GaloisField
        A field whose smallest primitive element is x.
    k : int
        Power, from 1 to size - 1.
    """
    size, degree, p = field.size - 1, field.degree, field.p
    digits = field.coefficients(field.powers(field.primitive_element))
    columns = size // (p - 1)
    names = [galois.polynomial(unit) for unit in np.eye(degree, dtype=int)]
    terms = [
        {"power": r + 1, "place": d, "name": names[d], "digit": int(digit)}
        for (r, d), digit in np.ndenumerate(digits)
    ]
    cells = [
        {"row": row + 1, "column": column + 1} for row, column in np.ndindex(size + 1, columns)
    ]
    filled = []
    for cell in cells:
        power = (cell["row"] + cell["column"] - 2) % size
        if cell["row"] <= size and power < k:
            filled.append(cell | {"digit": int(digits[power, 0])})
        elif cell["row"] > size and k == size:
            filled.append(cell | {"digit": 0})
    data = {
        "terms": terms[: k * degree],
        "cells": filled,
        "empty terms": [{"power": row["power"], "name": row["name"]} for row in terms],
        "empty cells": cells,
        "now": [{"power": k}],
    }
    name = f"GF({p}{_raised(degree)})"
    power = galois.polynomial(field.coefficients(field.power(field.primitive_element, k)))
    title = f"{name}, step {k} of {size}: x{_raised(k)} = {power}"
    rest = (
        f"The picture shows {k} of {size} powers. Column 1 of the array holds their constant"
        " coefficients. The other columns are column 1, moved up."
    )
    if k == size:
        title = (
            f"{name}: {size} powers and a row of zeros make {field.size} runs for {columns} columns"
        )
        rest = f"Power {size} is 1: every element except 0 has occurred once."
        if p > 2:
            rest += " A further column would repeat column 1, up to a factor."
    return Figure(
        data,
        title,
        f"{name}: coefficients modulo {p}, polynomials modulo {galois.polynomial(field.modulus)}. "
        f"{_step(field, k, power)} {rest}",
        _draw_field,
    )


def _step(field: GaloisField, k: int, power: str) -> str:
    """Return a sentence that computes power k of x from power k - 1."""
    lower = field.coefficients(field.power(field.primitive_element, k - 1))
    begin = f"x{_raised(k)} = x ({galois.polynomial(lower)}) = {galois.polynomial([0, *lower])}"
    if lower[-1] == 0:
        return f"{begin}: no reduction is needed."
    rule = galois.polynomial(-np.array(field.modulus[:-1]) % field.p)
    return f"{begin}; with x{_raised(field.degree)} = {rule} this is {power}."


def _raised(k: int) -> str:
    return "" if k == 1 else f"^{k}"


def _draw_field(data: dict) -> Any:
    digit = alt.Color("digit:O", title="coefficient", scale=alt.Scale(scheme="viridis"))
    power = alt.Y("power:O", title="power of x", axis=TICKS)
    term = alt.X("name:N", title="coefficient of", sort=None, axis=TICKS)
    row = alt.Y("row:O", title="run", axis=TICKS)
    column = alt.X("column:O", title="column of the array", axis=TICKS)
    now = chart(data, "now").mark_rect(filled=False, stroke=MISS, strokeWidth=3, x=0, x2="width")
    powers = alt.layer(*_tiles(data, "terms", term, power, digit), now.encode(y=power))
    cells = alt.layer(*_tiles(data, "cells", column, row, digit))
    return alt.hconcat(
        powers.properties(width=140, height=380), cells.properties(width=320, height=380)
    )


def _tiles(data: dict, name: str, x: alt.X, y: alt.Y, color: alt.Color) -> list[alt.Chart]:
    """Return gray tiles at all places, and colored tiles at those that are filled."""
    edge = {"stroke": "#ffffff", "strokeWidth": 0.5}
    empty = chart(data, f"empty {name}").mark_rect(opacity=0.15, color=GRAY, **edge)
    filled = chart(data, name).mark_rect(**edge)
    return [empty.encode(x=x, y=y), filled.encode(x=x, y=y, color=color)]
