"""The notebooks that can become reports, and their parameters.

`topics` lists the notebooks, `notebook_parameters` the parameters of one.
"""

import ast
import contextlib
import importlib
import io
import json
import os
import re
import shutil
import tokenize
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from workbench import checks
from workbench.checks import suggestion
from workbench.reports.pages import headings, plain, source

_RULES = {
    "int": "a whole number",
    "float": "a finite number",
    "bool": "true or false",
    "str": "text",
}
DATA = "data"  # folder of the example files, next to the notebooks
_CONTAINERS = ("list", "dict", "tuple")
_PLAIN = (*_RULES, *_CONTAINERS)
FILE_TOO = "column or file"
_TYPES = (
    *_PLAIN,
    "file",
    "output",
    "flag",
    "column of NAME",
    f"{FILE_TOO} of NAME",
    "choice A | B",
    "choice of MODULE.NAMES",
)


class ReportError(ValueError):
    """An error that tells the user in one line what to change."""


class WrongParameter(checks.WrongArgument, ReportError):
    """A parameter of a notebook with a wrong value."""

    @classmethod
    def of(cls, error: Any) -> "WrongParameter":
        """Return the error about an argument as an error about the parameter of that name."""
        return cls(
            error.argument,
            error.rule,
            error.value,
            place=error.place,
            told=error.told,
            others=error.others,
        )


def reason(error: Any) -> str:
    """Return the system's message about a file, without error number and file name."""
    return getattr(error, "strerror", None) or str(error)


@contextlib.contextmanager
def refusing(
    mistake: str = "",
    kinds: tuple[type[Exception], ...] = (OSError, ValueError),
    message: Callable[[Any], str] = reason,
) -> Iterator[None]:
    """Raise ReportError instead of other errors, with `mistake` before their message."""
    try:
        yield
    except kinds as error:
        raise ReportError(f"{mistake}: {message(error)}" if mistake else str(error)) from error


def notebooks_folder() -> Path:
    """Return the folder of the notebooks, in the installed package or in the source tree."""
    package = Path(__file__).resolve().parents[1]
    installed, in_source = package / "notebooks", package.parent / "notebooks"
    return in_source if in_source.is_dir() and not installed.is_dir() else installed


def data_files() -> list[Path]:
    """Return the paths of the example files that readers can try the reports on."""
    return sorted(path for path in (notebooks_folder() / DATA).glob("[!.]*") if path.is_file())


def copy_data(folder: Path) -> None:
    """Copy the example files into a folder of notebooks."""
    (folder / DATA).mkdir(exist_ok=True)
    for path in data_files():
        shutil.copyfile(path, folder / DATA / path.name)


def topics(notebooks: Any = None) -> Any:
    """Return {topic: path} of the notebooks that can become reports, in the order of their numbers.

    Such a notebook has a parameters cell, and its metadata do not contain
    `{"workbench": {"report": false}}`.
    """
    paths = {}
    for path in sorted(Path(notebooks or notebooks_folder()).glob("*.ipynb")):
        notebook = load_notebook(path)
        if _setting(notebook, "report", True) is not False and _parameters_cell(notebook):
            paths[topic_name(path)] = path
    return paths


def _setting(notebook: dict, key: str, default: Any = None) -> Any:
    """Return an entry of the workbench in a notebook's metadata."""
    return notebook.get("metadata", {}).get("workbench", {}).get(key, default)


def topic_name(path: Path) -> str:
    """Return the topic of a notebook: its file name without number and ending."""
    return re.sub(r"^\d+-", "", Path(path).stem)


def find_notebook(topic_or_path: Any, notebooks: Any = None) -> Path:
    """Return the path of a topic's notebook, or of a notebook given by its path."""
    installed, path = topics(notebooks), Path(topic_or_path)
    if str(topic_or_path) in installed:
        return installed[str(topic_or_path)]
    if path.suffix == ".ipynb":
        if os.path.isfile(path):
            return path
        raise ReportError(f"notebook {str(path)!r} does not exist")
    listed = f"topics: {', '.join(installed)}" if installed else "no topics are installed"
    raise ReportError(f"no topic {str(path)!r}{suggestion(path, installed)}; {listed}")


def notebook_title(path: Path) -> str:
    """Return the first heading of a notebook as plain text, or its file name without one."""
    texts = [text for _, text in headings(load_notebook(path)["cells"])]
    return plain(texts[0]) if texts else Path(path).stem


def own_titles(path: Path) -> dict[str, str]:
    """Return special titles of a report by the parameter, class or attribute that they need.

    The notebook's metadata define them, for example
    `{"workbench": {"titles": {"rival": "Which of two models is better?"}}}`. A name is that of a
    parameter, or of the class or an attribute of the reading function's result.
    """
    return _setting(load_notebook(path), "titles", {})


def notebook_parameters(path: Path) -> list:
    """Return the parameters of a notebook.

    They are the assignments of plain literals in its cell tagged `parameters`. A comment gives type
    and help, two spaces apart, as in `n = 50  # type: int  labels you can afford`. The types are:

    - str, int, float, list, dict, tuple: types of Python
    - flag: a bool that the command line takes as --name or --no-name
    - choice A | B: one of these words
    - choice of MODULE.NAMES: one of the words that a module lists
    - file: an input file
    - column of NAME: a column of the file in parameter NAME
    - column or file of NAME: such a column, or a file
    - output: a file that the notebook writes
    - output -labels.csv: the same, by default next to the report as report-labels.csv

    Returns
    -------
    list of dict
        Each has these keys:

        - name, type (of Python), default and help
        - role: "file", "output", "column", "column or file", "choice", "flag" or None
        - detail: the file of a column, the words of a choice, the ending of an output, or None
    """
    cell = _parameters_cell(load_notebook(path))
    if cell is None:
        raise ReportError(
            f"{Path(path).name} has no cell tagged 'parameters'; tag the cell that sets the "
            "parameters"
        )
    text = source(cell)
    try:
        tree, tokens = ast.parse(text), list(tokenize.generate_tokens(io.StringIO(text).readline))
    except SyntaxError as error:
        where = f"{Path(path).name}: line {error.lineno} of the parameters cell"
        raise ReportError(f"{where}: {error.msg}") from error
    comments: dict = {
        token.start[0]: token.string for token in tokens if token.type == tokenize.COMMENT
    }
    declared = [
        _parameter(node, comments.get(node.end_lineno, ""), path)
        for node in tree.body
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value
    ]
    _check_roles(declared, path)
    return declared


def shown_type(parameter: dict) -> str:
    """Return a parameter's type for display, such as "int", "column of scores" or "choice"."""
    role = parameter["role"]
    if role in ("column", FILE_TOO):
        return f"{role} of {parameter['detail']}"
    return role or parameter["type"]


def shown_help(parameter: dict) -> str:
    """Return a parameter's help, preceded by the words of a choice."""
    choices = ", ".join(parameter["detail"]) if parameter["role"] == "choice" else ""
    return "; ".join(filter(None, [choices, parameter["help"]]))


def reading_function(path: Path) -> str | None:
    """Return the dotted name of the function that reads a notebook's parameters, or None.

    The notebook's metadata name it: `{"workbench": {"read": "package.module.function"}}`.
    """
    return _setting(load_notebook(path), "read")


def parse_parameters(declared: list, values: dict) -> dict:
    """Return the given values in the types of their parameters, or raise ReportError."""
    by_name = {parameter["name"]: parameter for parameter in declared}
    for name in values:
        if name not in by_name:
            allowed = f"parameters: {', '.join(by_name)}" if by_name else "the notebook has none"
            raise ReportError(f"no parameter {str(name)!r}{suggestion(name, by_name)}; {allowed}")
    return {name: _typed(by_name[name], value) for name, value in values.items()}


def load_notebook(path: Path) -> dict:
    """Return a notebook file as nested dicts and lists."""
    try:
        notebook = json.loads(Path(path).read_text(encoding="utf-8"))
        if isinstance(notebook["cells"], list):
            return notebook
    except (OSError, ValueError, KeyError, TypeError):
        pass
    raise ReportError(f"{str(path)!r} is not a notebook of format 4")


def tags(cell: Any) -> set | set[str]:
    """Return a cell's tags."""
    return set(cell.get("metadata", {}).get("tags", []))


def _parameters_cell(notebook: dict) -> dict | None:
    for cell in notebook["cells"]:
        if cell.get("cell_type") == "code" and "parameters" in tags(cell):
            return cell
    return None


def _parameter(node: Any, comment: str, path: Path) -> dict:
    kind = role = detail = None
    if isinstance(node, ast.AnnAssign):
        name, kind = ast.unparse(node.target), ast.unparse(node.annotation)
    else:
        name = ast.unparse(node.targets[0])
    where = f"{Path(path).name}: parameter {name}"
    try:
        default = ast.literal_eval(node.value)
    except ValueError:
        raise ReportError(f"{where} is not a plain literal") from None
    written, text = re.findall(r"#*\s*(?:type:\s*(.*?)(?:\s{2,}|\s*$))?(.*)", comment)[0]
    if written:
        kind, role, detail = _kind(written, where)
    return {
        "name": name,
        "type": kind or type(default).__name__,
        "default": default,
        "help": text.strip(),
        "role": role,
        "detail": detail,
    }


def _kind(written: str, where: str) -> tuple:
    """Return type, role and detail from the type in a comment."""
    word, _, rest = written.partition(" ")
    if written in _PLAIN:
        return written, None, None
    if written == "flag":
        return "bool", "flag", None
    if written == "file" or word == "output" and " " not in rest:
        return "str", word, rest or None
    if column := re.fullmatch(rf"(column|{FILE_TOO}) of (\w+)", written):
        return "str", *column.groups()
    if word == "choice" and "|" in rest:
        return "str", "choice", tuple(option.strip() for option in rest.split("|"))
    if word == "choice" and (home := re.fullmatch(r"of ([\w.]+)\.(\w+)", rest)):
        return "str", "choice", tuple(getattr(importlib.import_module(home[1]), home[2]))
    raise ReportError(
        f"{where} has the type {written!r}; use {checks.listed(_TYPES, len(_TYPES))}, with two "
        "spaces before the help"
    )


def _check_roles(declared: list, path: Path) -> None:
    files = {parameter["name"] for parameter in declared if parameter["role"] == "file"}
    for parameter in declared:
        where, role = f"{Path(path).name}: parameter {parameter['name']}", parameter["role"]
        default, detail = parameter["default"], parameter["detail"]
        kind = parameter["type"]
        if role and type(default).__name__ != kind:
            raise ReportError(
                f"{where} has the type {shown_type(parameter)!r}, so its default must be "
                f"{_RULES[kind]}; got {default!r}"
            )
        if role in ("column", FILE_TOO) and detail not in files:
            raise ReportError(
                f"{where} is a {role} of {detail!r}, but {detail!r} is not a parameter of type file"
            )
        if role == "choice" and default not in detail:
            raise ReportError(
                f"{where} must be one of {checks.listed(detail, len(detail))}; got {default!r}"
            )


def _typed(parameter: Any, value: Any) -> Any:
    kind = parameter["type"]
    value = _read(kind, value) if isinstance(value, str) else value
    if kind == "float" and type(value) is int:
        value = float(value)
    fits = type(value).__name__ == kind or kind not in _PLAIN
    if not fits or (kind == "float" and not abs(value) < float("inf")):
        hint = f"; quote it: '{value}'" if kind == "str" and value is not None else ""
        raise WrongParameter(
            parameter["name"],
            f"must be {_RULES.get(kind, 'a ' + kind)}",
            value,
            told=f"got {value!r}{hint}",
        )
    if parameter["role"] == "choice":
        try:
            return checks.choice(parameter["name"], value, parameter["detail"])
        except checks.WrongArgument as error:
            raise WrongParameter.of(error) from None
    return value


def _read(kind: str, text: str) -> float | str:
    forms = {
        "int": (r"[-+]?\d+", int),
        "float": (r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?", float),
        "bool": (r"(?i:true|false)", lambda word: word.lower() == "true"),
        "list": (r"\[.*\]", ast.literal_eval),
        "tuple": (r"\(.*\)", ast.literal_eval),
        "dict": (r"\{.*\}", ast.literal_eval),
    }
    form, read = forms.get(kind, (r"(?!)", str))
    if re.fullmatch(form, text, re.ASCII | re.DOTALL):
        with contextlib.suppress(ValueError, SyntaxError):
            return read(text)
    return text
