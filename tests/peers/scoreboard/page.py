"""What the cells say: which rows cover, how much wider than the shortest that covers they are, and the page of it."""

import textwrap
from statistics import median

LEAST, WIDER, FEWEST = 0.93, 1.15, 40
OURS, TEXTBOOK = "workbench", "textbook"
# the page of a method whose limits say why its row loses a cell
METHODS = {
    "stratified_accuracy": "accuracy",
    "class_metrics": "class-metrics",
    "replicate_estimate auc": "auc",
    "replicate_estimate": "clusters",
    "paired_difference": "difference",
    "judged_difference": "judged-difference",
    "compare_items": "comparisons",
    "compare_metrics": "comparisons",
    "estimate_prevalence": "shares",
    "prevalence_series": "shares",
    "kfold_t_test": "folds",
    "estimate_values": "values",
    "anytime_interval": "anytime",
}
EQUAL_MODELS = "models equal"
FAILURES = {
    "refused": "refused",
    "crashed": "crashed",
    "zero": "zero width",
    "outside": "outside possible values",
}


READING = f"""\
## How to read the tables

A seed samples the settings from declared grids. Every tool gets the same samples. A cell is one call in one setting,
and a run is one sample of it. The columns are:

- **call**: the call that the tool's documentation shows for the question, with a link.
- **least coverage**: the proportion of runs whose interval contains the true value, with its Monte Carlo standard
  error, in the setting where this proportion is least. A run without a finite interval does not cover. With a few
  hundred runs per cell, the least of six coverages is somewhat below the true one.
- **width, covers everywhere**: the width relative to that of the shortest row that covers in *all* settings. The figure
  is the median over the settings.
- **width, covers there**: the width relative to that of the shortest row that covers in the same setting. The figure is
  the median over the settings.
- **false alarms**: the proportion of samples in which the call finds a difference between equal models. It finds one if
  the interval excludes 0 or p is below .05. The figure is the largest over the settings with equal models.
- **failed**: each type of failure, with its largest proportion over the settings.
- **what it means**: the consequence if you use the call.

A row covers in a setting if its coverage is at least {LEAST} less two standard errors, in {FEWEST} runs or more. A row
"own allocation" has as many labels, but uses [the workbench's allocation](../glossary.md). It is left out of the ratios
of widths. A row "by verdict" divides the items by their judge labels.

The settings use these names:

| name | meaning |
|---|---|
| n, N | labeled items, items of the population (Q10: n items; Q11: n and N per stratum) |
| C, m | clusters, mean number of items per cluster |
| p, accuracy | the true accuracy |
| icc | intraclass correlation |
| share | the proportion of the class |
| distance | mean score of the class minus that of the other items, in standard deviations |
| shared | the proportion of the variance of the scores that both models share |
| differing, difference | the proportion of items on which the models differ, the true difference |
| gap (Q8d), gap (Q10) | the true difference, the distance of the two classes |
| lenient | by how much more often the judge passes errors of model A |
| sensitivity, specificity | the rates at which the judge or classifier recognizes positives and negatives |
| audit, before, after | audited items, the proportion in the month of the audit, the proportion in the next month |
| columns, k | features of each learner, folds |
""".splitlines()


def judged(found):
    """Return the record with what follows from its cells: rows that cover, ratios of widths, and our red cells."""
    for rows in found["rows"].values():
        for row in rows:
            row["covers"] = all(enough(cell) for cell in row["cells"].values())
        for setting in {name for row in rows for name in row["cells"]}:
            compared(rows, setting, "ratio", lambda row, cell: row["covers"])
            compared(rows, setting, "ratio_in_setting", lambda row, cell: enough(cell))
    found["red"] = [
        red
        for name, rows in found["rows"].items()
        for row in rows
        if row["tool"] == OURS
        for red in reds(name, row)
    ]
    return found


def enough(cell):
    """Return whether a cell covers, as far as its runs can tell; a few runs tell nothing."""
    return cell["runs"] >= FEWEST and cell["coverage"] >= LEAST - 2 * cell["error"]


def own(row):
    """Return whether a row draws other labels than the question's."""
    return row["row"].endswith("own allocation")


def compared(rows, setting, name, covers):
    """Give the cells of a setting the ratio of their width to the shortest of those that cover."""
    answered = [(row, row["cells"][setting]) for row in rows if setting in row["cells"]]
    for _, cell in answered:
        cell.pop(name, None)
    wide = [(row, cell) for row, cell in answered if cell["width"] and not own(row)]
    widths = [cell["width"] for row, cell in wide if covers(row, cell)]
    if widths:
        for _, cell in wide:
            cell[name] = round(cell["width"] / min(widths), 3)


def wrapped(text):
    """Return a paragraph in lines of at most 120 characters."""
    return textwrap.fill(text, 120, break_on_hyphens=False, break_long_words=False)


def reds(question, row):
    """Yield our cells that cover too little, or are wider than need be."""
    for setting, cell in row["cells"].items():
        if cell["coverage"] + 2 * cell["error"] < LEAST:
            yield {
                "question": question,
                "row": row["row"],
                "setting": setting,
                "why": "coverage",
                "value": cell["coverage"],
                "runs": cell["runs"],
            }
        if cell.get("ratio", 0) > WIDER:
            yield {
                "question": question,
                "row": row["row"],
                "setting": setting,
                "why": "width",
                "value": cell["ratio"],
                "runs": cell["runs"],
            }


def share(value):
    """Return a share without its leading zero."""
    return f"{value:.3f}".removeprefix("0")


def lowest(row):
    """Return the cell of a row that is covered least."""
    return min(row["cells"].values(), key=lambda cell: cell["coverage"])


def ratios(row, name="ratio"):
    """Return the ratios of widths of a row's cells."""
    return [cell[name] for cell in row["cells"].values() if name in cell]


def middle(values):
    """Return the median in words, nothing if there are no values."""
    return f"{median(values):.2f}" if values else ""


def failures(row):
    """Say which failures a row had, and in up to how many of a cell's runs."""
    most = {
        said: max(cell.get(name, 0) for cell in row["cells"].values())
        for name, said in FAILURES.items()
    }
    return ", ".join(f"{said} {value:.0%}" for said, value in most.items() if value >= 0.005)


def false_alarms(row):
    """Return the largest share of samples in which a row says that equal models differ, as text."""
    shares = []
    for setting, cell in row["cells"].items():
        if EQUAL_MODELS not in setting or cell["of_answered"] is None:
            continue
        if cell["width"]:
            shares.append(cell.get("below", 0) + cell.get("above", 0))
        else:
            shares.append(1 - cell["of_answered"])
    return f"{max(shares):.1%}" if shares else ""


def meaning(row):
    """Say in a sentence what a row means for who uses it."""
    low = lowest(row)
    if min(cell["runs"] for cell in row["cells"].values()) < FEWEST:
        return f"Too slow for {FEWEST} runs, so there is no verdict."
    if own(row):
        return f"Uses its own allocation of labels. Least coverage {share(low['coverage'])}."
    if not any(cell["width"] for cell in row["cells"].values()) and low["of_answered"] is not None:
        return f"Gives no interval. Calls equal models different in up to {1 - low['of_answered']:.0%} of samples."
    if row["covers"]:
        wide = ratios(row)
        times = (
            f" {min(wide):.2f} to {max(wide):.2f} times as wide as the shortest row that covers."
            if wide
            else ""
        )
        return f"Covers.{times}"
    if low["of_answered"] is None:
        return "Gives no interval."
    return f"A 95% interval can cover in only {low['coverage']:.0%} of samples."


def line(row, equal=False):
    """Return a row of a question's table, with false alarms where models are equal in a setting."""
    alarms = [false_alarms(row)] if equal else []
    low, runs = lowest(row), [cell["runs"] for cell in row["cells"].values()]
    return (
        "| "
        + " | ".join(
            [
                row["tool"],
                f"[{row['row']}]({row['address']})" if row["address"] else row["row"],
                f"{share(low['coverage'])} ± {share(low['error'])}",
                middle(ratios(row)),
                middle(ratios(row, "ratio_in_setting")),
                *alarms,
                failures(row),
                f"{median(cell['milliseconds'] for cell in row['cells'].values()):.2g}",
                f"{min(runs):,}" if min(runs) == max(runs) else f"{min(runs):,} to {max(runs):,}",
                meaning(row),
            ]
        )
        + " |"
    )


def picture(question, rows, path):
    """Draw coverage against width, a point a row and setting."""
    import altair as alt

    key, title = (
        ("ratio", "Width, relative to the shortest row that covers everywhere")
        if any(map(ratios, rows))
        else ("width", "Mean width; no row covers everywhere")
    )
    points = [
        {
            "Tool": row["tool"],
            "Call": row["row"],
            "Setting": setting,
            "Coverage": cell["coverage"],
            "Width": cell[key],
            "Kind": row["tool"] if row["tool"] in (OURS, TEXTBOOK) else "others",
        }
        for row in rows
        for setting, cell in row["cells"].items()
        if cell.get(key)
    ]
    kinds = alt.Color(
        "Kind:N",
        title=None,
        scale=alt.Scale(domain=[OURS, "others", TEXTBOOK], range=["#0072B2", "#D55E00", "#808080"]),
    )
    drawn = (
        alt.Chart(alt.Data(values=points))
        .mark_point(filled=True, size=60, opacity=0.7)
        .encode(
            x=alt.X("Width:Q", title=title, scale=alt.Scale(type="log")),
            y=alt.Y("Coverage:Q", title="Coverage", scale=alt.Scale(zero=False)),
            color=kinds,
            shape=alt.Shape(
                "Kind:N", title=None, scale=alt.Scale(domain=[OURS, "others", TEXTBOOK])
            ),
        )
    )
    wanted = alt.Chart(alt.Data(values=[{"y": 0.95}])).mark_rule(strokeDash=[4, 4]).encode(y="y:Q")
    chart = (wanted + drawn).properties(
        title=f"{question['title']}: coverage and width", width=560, height=260
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    chart.save(path)
    return f"![{question['title']}: coverage against width, {len(points)} points]({path.parent.name}/{path.name})"


def section(name, question, rows, folder):
    """Return a question's part of the page."""
    equal = any(EQUAL_MODELS in setting for setting in question["settings"])
    alarms = "| false alarms " if equal else ""
    ordered = sorted(rows, key=lambda row: (row["tool"] != OURS, -lowest(row)["coverage"]))
    return [
        f"## {name} {question['title']}",
        "",
        f"Estimand: the {question['estimand']}. Settings:",
        "",
        *(f"- {setting}" for setting in question["settings"]),
        "",
        *([wrapped(question["note"]), ""] if "note" in question else []),
        picture(question, rows, folder / "scoreboard" / f"{name}.svg"),
        "",
        "| tool | call | least coverage | width, covers everywhere | width, covers there "
        f"{alarms}| failed | ms per call | runs per cell | what it means |",
        "|" + "---|" * (10 if equal else 9),
        *(line(row, equal) for row in ordered),
        "",
    ]


def red_lines(found):
    """Return the list of our cells that lose."""
    if not found["red"]:
        return ["None."]
    return [
        "| question | call | setting | loses in | value | runs | reason |",
        "|---|---|---|---|---|---|---|",
        *(
            f"| {red['question']} | {red['row']} | {red['setting']} | {red['why']} | {red['value']:.3f} | "
            f"{red['runs']:,} | [{method(red)}](../methods/{method(red)}.md#limits) |"
            for red in found["red"]
        ),
    ]


def method(red):
    """Return the page of the method of a red cell."""
    return next(page for call, page in METHODS.items() if red["row"].startswith(call))


def standing(tool, entry, tools):
    """Return a tool's home, or why there are no rows of it."""
    if "not installed" in entry:
        return f"not installed: {entry['not installed']}"
    return entry.get("home", "") + ("" if tool in tools else ": not measured in this record")


def write(found, folder):
    """Write the page and its pictures."""
    cells = [
        cell for rows in found["rows"].values() for row in rows for cell in row["cells"].values()
    ]
    settings = sum(len(question["settings"]) for question in found["questions"].values())
    tools = {row["tool"] for rows in found["rows"].values() for row in rows}
    lines = [
        "# Scoreboard",
        "",
        wrapped(
            f"The scoreboard compares {len(tools)} tools on {len(found['questions'])} questions with {settings} "
            "settings in which the true value is known. Use it to choose a tool, and to see where the workbench "
            "[loses](#where-the-workbench-loses)."
        ),
        "",
        wrapped(
            f"The nominal level is 95%. The last measurement was on {found['date']} with seed {found['seed']}. It has "
            f"{len(cells):,} cells and {sum(cell['runs'] for cell in cells):,} intervals. `make scoreboard` "
            "measures them again."
        ),
        "",
        *READING,
        "",
        *(
            part
            for name, rows in found["rows"].items()
            for part in section(name, found["questions"][name], rows, folder)
        ),
        "## Where the workbench loses",
        "",
        wrapped(
            f"The table lists the cells of the workbench with coverage below {LEAST} by more than two standard errors, "
            f"or with intervals wider than {WIDER} times the shortest that covers. The last column links the section "
            "that explains why."
        ),
        "",
        *red_lines(found),
        "",
        "## Versions",
        "",
        "| tool | version | |",
        "|---|---|---|",
        *(
            f"| {tool} | {entry['version']} | {standing(tool, entry, tools)} |"
            for tool, entry in found["tools"].items()
        ),
        "",
        "## Propose another call",
        "",
        wrapped(
            "You can add a better call, or another tool. Every documented call has a row, so your call is "
            "measured next to the old one."
        ),
        "",
        "1. Add a line to `tests/peers/scoreboard/adapters/<tool>.py`. It holds the question, a name, a function from",
        "   the sample to (low, high), and the address of the documentation that recommends the call.",
        "2. For a new tool, list what is installed in `tools.toml`, in the same folder as `adapters`.",
        "3. End the adapter with inputs for which the correct answer is known.",
        "4. Run `python tests/peers/scoreboard/run.py --tools <tool> --runs 400`.",
        "",
    ]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "scoreboard.md").write_text("\n".join(lines), encoding="utf-8")
