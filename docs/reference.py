"""The pages of the site that are made from the package: public names, commands, options and recorded results."""

import ast
import functools
import importlib
import itertools
import json
import math
import re
import tomllib
from pathlib import Path

import click

from workbench.commands import main
from workbench.reports import parameters

ROOT = Path(__file__).resolve().parent.parent
RECORDS = {
    "shares": "search_shares",
    "streams": "search_streams",
    "bounded": "search_values",
    "waves": "search_waves",
    "second_labels": "search_second_labels",
    "replication": "search_replication",
    "auc": "search_auc",
    "accuracy": "search_coverage",
    "hull": "hull_coverage",
    "judged": "judged_coverage",
    "judge": "search_judged",
    "agreement": "agreement_coverage",
}
NOT_SEARCHED = {
    "plain",
    "named",
}  # a peer that a record holds beside ours, and designs that were chosen
TOPICS = {
    "stratified": "Accuracy from few labels",
    "audits": "Audits",
    "sessions": "Audit sessions",
    "intervals": "Intervals",
    "labeling": "Annotation sheets",
    "data": "Scored items",
    "allocation": "Allocation, streams and files",
    "replication": "Clusters and replicate weights",
    "misclassification": "Proportions from predicted counts",
    "compare": "Models on the same items",
    "cross_validation": "Cross-validation",
    "simulations": "Simulation studies",
    "papers": "The papers, replayed",
    "course": "Data of the lessons",
    "lessons": "Answers in lessons",
    "widgets": "Predictions in lessons",
    "results": "Results",
}


def version():
    """Return the version of the package."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"][
        "version"
    ]


def homes():
    """Return the public names by subpackage."""
    lines = ast.parse((ROOT / "workbench" / "__init__.pyi").read_text(encoding="utf-8")).body
    names = [
        (line.module.removeprefix("extras.").split(".")[0], alias.name)
        for line in lines
        if isinstance(line, ast.ImportFrom)
        for alias in line.names
    ]
    return {
        room: [name for _, name in group]
        for room, group in itertools.groupby(sorted(names), lambda pair: pair[0])
    }


def pages():
    """Return the reference's pages by name: one per topic and per public name, and one of all commands."""
    made = {}
    for room, names in homes().items():
        made[f"reference/{room}.md"] = topic(room, names)
        made |= {f"reference/{page_of(name)}.rst": entry(name) for name in names}
    made["reference/commands.md"] = commands()
    listed = "\n".join(["commands", *(room for room in TOPICS if room in homes())])
    made["reference/index.md"] = (
        "# Reference\n\nEach topic has a table of its functions and classes. Every name links to its own page. "
        "The commands have one page, with the text of their `--help`.\n\n"
        f"```{{toctree}}\n:maxdepth: 1\n\n{listed}\n```\n"
    )
    return made


def topic(room, names):
    """Return the page of a topic: tables of its functions, its classes and its building blocks."""
    blocks = [name for name in names if name in building_blocks()]
    classes = [name for name in names if is_class(name)]
    functions = [name for name in names if name not in blocks + classes]
    page = f"# {TOPICS[room]}\n\n"
    page += table("Functions", functions) + table("Classes", classes)
    if blocks:
        text = "These functions are for your own code. No lesson, report or command calls them.\n\n"
        page += table("Building blocks", blocks, text)
    listed = "\n".join(page_of(name) for name in sorted(names, key=str.lower))
    return f"{page}```{{toctree}}\n:hidden:\n:maxdepth: 1\n\n{listed}\n```\n"


def table(title, names, text=""):
    """Return a section that lists names, each with the first line of its docstring."""
    if not names:
        return ""
    lines = "\n".join(f"   {name}" for name in sorted(names, key=str.lower))
    return (
        f"## {title}\n\n{text}```{{eval-rst}}\n.. currentmodule:: workbench\n\n"
        f".. autosummary::\n   :nosignatures:\n\n{lines}\n```\n\n"
    )


def page_of(name):
    """Return the page of a public name; file systems may not tell `Balance` from `balance`."""
    return f"names/{name}-class" if is_class(name) else f"names/{name}"


def is_class(name):
    """Return True if a public name is a class."""
    import workbench

    return isinstance(getattr(workbench, name), type)


def entry(name):
    """Return the page of a public name: what autodoc is asked for."""
    directive = (
        f".. autoclass:: {name}\n   :members:\n"
        if is_class(name)
        else f".. autofunction:: {name}\n"
    )
    return f"{name}\n{'=' * len(name)}\n\n.. currentmodule:: workbench\n\n{directive}"


@functools.cache
def building_blocks():
    """Return the public functions that no notebook, no page with examples and no other subpackage names."""
    callers = [
        *ROOT.glob("notebooks/**/*.ipynb"),
        *ROOT.glob("docs/howto/*.md"),
        *ROOT.glob("docs/*.md"),
        *ROOT.glob("workbench/*/**/*.py"),
    ]
    named = {path: names_in(path.read_text(encoding="utf-8")) for path in callers}
    return {
        name
        for room, names in homes().items()
        for name in names
        if name[0].islower()
        and not any(
            name in others
            for path, others in named.items()
            if path.parent != ROOT / "workbench" / room
        )
    }


def names_in(text):
    """Return the names that a text calls, takes from a module or imports."""
    imported = " ".join(re.findall(r"import .*", text))
    used = re.findall(r"(?<=\w\.)\w+|\b\w+(?=\()", text)
    return {*used, *re.findall(r"\w+", imported)}


def walk(command=main.commands, words=("workbench",)):
    """Yield every command with its words."""
    context = click.Context(command, info_name=words[-1])
    if isinstance(command, click.Group):
        yield words, command
        for name in command.list_commands(context):
            yield from walk(command.get_command(context, name), (*words, name))
    else:
        yield words, command


def commands():
    """Return the page of all commands, with the `--help` text of each."""
    made = [
        "# Commands\n\nThis page lists every command and every report with its options, as `--help` prints them.\n"
    ]
    for words, command in walk():
        with click.Context(
            command, info_name=" ".join(words), terminal_width=100, max_content_width=100
        ) as context:
            made.append(
                f"## {' '.join(words)}\n\n```text\n{command.get_help(context).rstrip()}\n```\n"
            )
    report = dict(walk())["workbench", "report"]
    for topic in parameters.topics():
        with click.Context(
            report, info_name=f"workbench report {topic}", max_content_width=100
        ) as context:
            context.meta["topic"] = topic
            context.meta["parameters"] = main._options_for(topic)
            made.append(
                f"## workbench report {topic}\n\n```text\n{report.get_help(context).rstrip()}\n```\n"
            )
    return "\n".join(made)


def coverages(name):
    """Return the least coverage of each family of a search, as people read it."""
    stored = json.loads(
        (ROOT / "tests" / "peers" / f"{RECORDS[name]}.json").read_text(encoding="utf-8")
    )
    if "rows" in stored:
        stored = {f"{row['family']}, {row['method']}": row for row in stored["rows"]}
    return dict(leasts("", stored))


def leasts(family, found):
    """Yield each family that a record holds, with its least coverage, rounded down."""
    least = found.get("least", found.get("coverage"))
    if least is not None:
        yield family, f"{math.floor(1000 * least + 1e-9) / 1000:.3f}"
    else:
        for name, each in found.items():
            if isinstance(each, dict) and name not in NOT_SEARCHED:
                yield from leasts(f"{family}, {name}".removeprefix(", "), each)


def percentages(name):
    """Return the least coverage of each family of a search, as a percentage."""
    return {family: f"{100 * float(coverage):.1f}%" for family, coverage in coverages(name).items()}


def design_counts(name):
    """Return the number of designs in each family of a search, with thousands separators."""
    stored = json.loads(
        (ROOT / "tests" / "peers" / f"{RECORDS[name]}.json").read_text(encoding="utf-8")
    )
    if "rows" in stored:
        stored = {f"{row['family']}, {row['method']}": row for row in stored["rows"]}
    return {
        family: f"{count:,}"
        for family, record in stored.items()
        if isinstance(record, dict) and (count := _design_count(record))
    }


def _design_count(record):
    """Return how many designs a recorded family has; None if the record does not state it."""
    names = ("evaluations", "designs", "settings")
    return next((record[name] for name in names if name in record), None)


def records():
    """Return the page of the recorded results of the searches."""
    rows = [
        f"| {name.replace('_', ' ')} | {family} | {coverage} |"
        for name in RECORDS
        for family, coverage in coverages(name).items()
    ]
    return {
        "evidence/records.md": "# Least coverage found by each search\n\nThis page lists the least coverage that each search "
        "found per family of designs. Use it to check the figures of [the claims](claims.md). The designs, seeds, "
        "minutes and standard errors are in `tests/peers/*.json`.\n\n"
        "| search | family | coverage |\n|---|---|---|\n" + "\n".join(rows) + "\n"
    }


WHAT = {
    "scipy": "quantiles, optima",
    "vl-convert-python": "pictures of charts, without a browser",
    "numpy": "arrays",
    "duckdb": "files of any size, the same rows on every engine",
    "scikit-learn": "digits of the lessons, learners",
    "debugpy": "comes with the kernel that runs a report",
    "jedi": "comes with IPython",
    "altair": "charts",
    "widgetsnbextension": "sliders in notebooks",
    "jupyterlab": "lessons",
    "babel": "comes with JupyterLab",
    "voila": "lessons without code",
    "polars-runtime-32": "tests: frames",
    "pyarrow": "tests: frames",
    "playwright": "tests: a browser",
    "pandas": "tests: frames",
    "mypy": "tests: types",
    "ruff": "tests: style",
    "dask": "tests: an engine",
}
# direct dependency -> what uses it, what it would take without
DEPENDENCIES = {
    "numpy": ("arrays everywhere", "nothing would run"),
    "scipy": ("quantiles, special functions, optima", "our own numerics, with their tests"),
    "lazy-loader": (
        "`import workbench` loads a name when it is first used",
        "a second at each import",
    ),
    "scikit-learn": (
        "digits of the lessons, k-means strata, learners",
        "our own data and learners",
    ),
    "threadpoolctl": (
        "k-means gives the same strata on every machine",
        "results that depend on the number of cores",
    ),
    "altair": ("charts", "specifications of Vega-Lite by hand"),
    "anywidget": ("live charts and text boxes in notebooks", "our own extension of JupyterLab"),
    "vl-convert-python": ("pictures of charts without a browser", "a browser for each report"),
    "ipywidgets": ("sliders, menus and buttons", "lessons without controls"),
    "traitlets": ("state that widgets share with the page", "comes with ipywidgets anyway"),
    "papermill": ("reports run notebooks with parameters", "reports that are not notebooks"),
    "nbconvert": ("Markdown of notebooks as HTML", "a Markdown converter of our own"),
    "nbformat": ("reading and writing notebooks", "comes with papermill anyway"),
    "jupyter-client": (
        "starts the kernel of a report in this Python",
        "reports in any registered kernel",
    ),
    "ipykernel": ("the kernel of a report", "no notebook would run"),
    "jinja2": ("templates of pages", "pages assembled from strings"),
    "markupsafe": ("escapes text of a user's file", "comes with jinja2 anyway"),
    "beautifulsoup4": ("headings, tables and formulas of a page", "comes with nbconvert anyway"),
    "latex2mathml": ("formulas in reports without a network", "formulas as pictures, or none"),
    "click": ("the command line", "comes with papermill anyway"),
    "tqdm": ("progress of simulations and reports", "comes with papermill anyway"),
    "narwhals": ("data frames of any library", "comes with altair anyway"),
    "duckdb": ("files of any size, Parquet, streams", "memory for the whole file"),
    "pyyaml": ("`--params` files", "comes with papermill anyway"),
}
SETS = {
    "": "library and reports: `pip install .`, `make report`",
    "lab": "with JupyterLab: `make lab`",
    "test,voila": "with the tests and Voila: `make test`",
}


def installed():
    """Return the page of the packages and sizes of each installation."""
    found = json.loads((ROOT / "tests" / "peers" / "installed.json").read_text(encoding="utf-8"))
    sets = [
        f"| {SETS[name]} | {each['packages']} | {each['MB']} | {each['seconds']} |"
        for name, each in found.items()
    ]
    first = {
        package: (name, size)
        for name in reversed(SETS)
        for package, size in found[name]["by package"].items()
    }
    large = [
        f"| {package} | {first[package][1]:g} | {WHAT[package]} | {SETS[first[package][0]].partition(':')[0]} |"
        for package in sorted(WHAT, key=lambda package: -first[package][1])
    ]
    return {
        "built/installed.md": "# Installed packages\n\nThis page lists the packages that each installation needs, with their "
        "size. Use it to choose the smallest installation for your purpose. `make report` and `make lab` install only "
        "what they need.\n\nThe megabytes include the files that Python compiles. The seconds are processor time of pip. "
        "`python tests/peers/installed.py` measures them again.\n\n| set | packages | MB | seconds |\n|---|---|---|---|"
        "\n"
        + "\n".join(sets)
        + "\n\n## Large packages\n\n| package | MB | used for | needed by |\n|---|---|---|---|\n"
        + "\n".join(large)
        + "\n\n## Direct dependencies\n\n"
        "The package imports each of these. A browser (`make lite`) leaves out those that `pyproject.toml` marks "
        "with `emscripten`. Workbooks, Zstandard archives and offline bundles need the extras `xlsx`, `zstd` and "
        "`bundle`.\n\n| package | used for | without it |\n|---|---|---|\n"
        + "\n".join(f"| {name} | {use} | {other} |" for name, (use, other) in DEPENDENCIES.items())
        + "\n"
    }


def rooms():
    """Import what the reference needs, so that a name without a module fails."""
    return [importlib.import_module(f"workbench.{room}") for room in homes()]
