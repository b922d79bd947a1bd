"""Reports: run a notebook with the user's parameters and write it as one HTML file.

`build_report` is the function to start from. `run_notebook` executes the cells with papermill,
and `checked_targets` and `write_targets` check and write the output files.
"""

import builtins
import contextlib
import datetime
import functools
import hashlib
import importlib
import inspect
import os
import platform
import shlex
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from workbench import checks, imports
from workbench.checks import suggestion
from workbench.reports import outputs, parameters
from workbench.reports.outputs import ReportWarning, checked_output, find_chromium
from workbench.reports.pages import body, headings, one_line, plain
from workbench.reports.parameters import ReportError, WrongParameter, find_notebook, refusing, tags
from workbench.reports.records import add_recording, take_records, write_json
from workbench.reports.tables import checked_tables, table_paths, write_tables
from workbench.reports.templates import render
from workbench.results import RECORDING
from workbench.results.limits import LimitReached, printed_limits

__all__ = [
    "ReportWarning",
    "build_files",
    "build_report",
    "checked_output",
    "checked_targets",
    "find_chromium",
    "package_version",
    "write_targets",
]

LEFT_OUT = {"lesson", "exercise", "solution", "interactive"}
# cells with these tags are in a report only if something is given, or only if it is not: a
# parameter, or the class or an attribute of the result of the reading function
IF, UNLESS = "if:", "unless:"
CELL_LIMIT, LONGEST_LIMIT, START_LIMIT = 600, 1_000_000, 60
KERNEL_OPTIONS = ["--InteractiveShellApp.ignore_cwd=True", "--log-level=CRITICAL"]
KERNEL_ENVIRONMENT = {"PYTHONWARNINGS": "", "TQDM_DISABLE": "1", "OMP_NUM_THREADS": "1"}
# a report made in a lesson must not inherit the marks of a kernel that serves a page
NOT_SERVED = {"JPY_SESSION_NAME": "", "SERVER_SOFTWARE": ""}
LIMIT_NAME = "WORKBENCH_CELL_TIMEOUT"
PACKAGES = ("numpy", "scipy", "scikit-learn")
UNUSABLE = (ValueError, TypeError, OSError, ImportError)  # what reading a file may raise


def build_report(
    topic_or_path: Path | str,
    parameters: dict | None = None,
    output: str = "report.html",
    *,
    progress: bool = True,
    pdf: bool = False,
    json: str | None = None,
    tables: str | None = None,
    notebooks: None = None,
    command: None = None,
    timeout: None = None,
) -> Path:
    """Run a notebook with parameters and write it as one HTML file that needs no network.

    Some cells are left out before the run:

    - cells tagged lesson, exercise, solution or interactive;
    - cells tagged if:NAME, if parameter NAME is empty;
    - cells tagged unless:NAME, if parameter NAME is not empty.

    NAME can also be the class or an attribute of the object that the notebook's reading function
    returns. The output is written only if the whole run succeeds; otherwise an older report stays
    unchanged.

    Parameters
    ----------
    topic_or_path : str or Path
        A topic of `topics()` or the path of a notebook with a cell tagged `parameters`.
    parameters : dict, optional
        Values by parameter name; text is read as the parameter's type.
    output : str or Path
        Path of the HTML file. It must end in .html and be in an existing folder.
    progress : bool
        Show a progress bar on a terminal, or else one line per section.
    pdf : bool
        Also write a PDF next to the HTML file. This needs an installed Chromium.
    json : str or Path, optional
        Also write inputs, parameters and results to this file. `workbench.reports.records`
        documents its schema.
    tables : str or Path, optional
        Also write every table as a CSV file in this folder, or all tables to one file that ends
        in .xlsx (needs XlsxWriter).
    notebooks : str or Path, optional
        Folder of the topics, instead of the installed one.
    command : str, optional
        Command line to print in the report, instead of one made from the arguments.
    timeout : int, optional
        Limit of the running time of a cell, in seconds. The default is the environment variable
        WORKBENCH_CELL_TIMEOUT, or 600.

    Returns
    -------
    Path
        The HTML file.

    Raises
    ------
    ReportError
        If a name, type, file or column is wrong, or if a cell fails.
    """
    return build_files(
        topic_or_path,
        parameters,
        output,
        progress=progress,
        pdf=pdf,
        json=json,
        tables=tables,
        notebooks=notebooks,
        command=command,
        timeout=timeout,
    )[0]


def build_files(
    topic_or_path: Any,
    given: Any,
    output: Any,
    *,
    progress: Any,
    pdf: Any,
    json: Any = None,
    tables: Any = None,
    notebooks: Any = None,
    command: Any = None,
    timeout: Any = None,
) -> list:
    """Build a report and return all files that were written, the HTML file first."""
    targets, limit = checked_targets(output, pdf, json, tables), _limit(timeout)
    path = find_notebook(topic_or_path, notebooks)
    declared = parameters.notebook_parameters(path)
    with contextlib.ExitStack() as undo:
        values = _checked_values(
            declared, given or {}, targets, bool(parameters.reading_function(path))
        )
        named = _paths(declared, values, "file", "output")
        tagged = _tagged_names(path)
        content = None
        if given or not tagged <= set(values):  # defaults have nothing to check
            content = _read_first(path, values | {name: str(file) for name, file in named.items()})
        conditions = _conditions(tagged, values, content)
        del content  # the file, while the kernel reads it again
        inputs = [input_file(name, file) for name, file in _paths(declared, values, "file").items()]
        command = command or _command(topic_or_path, given or {}, targets)
        promised = _paths(declared, values, "output")
        made = {file: _changed_at(file) for file in promised.values()}
        for file in made:
            undo.enter_context(outputs.taken_back(file))
        absolute = values | {name: str(file.absolute()) for name, file in named.items()}
        recorded = bool(targets.json or targets.tables)
        notebook, records = _execute(path, absolute, conditions, progress, limit, recorded)
        used = values | {name: "" for name, file in promised.items() if not file.exists()}
        about = _provenance(declared, used, inputs, command)
        own_title = _own_title(path, conditions)
        page, messages = _page(path, notebook, about, own_title)
        written = write_targets(
            targets,
            page,
            records,
            undo,
            _about(about | {"path": path, "own_title": own_title, "messages": messages}),
        )
    outputs.warn_if_large(targets.page, 3)
    return [*written, *(file for file, before in made.items() if _changed_at(file) != before)]


class Targets(NamedTuple):
    """The output files of a report: its page, and optional PDF, JSON file and tables."""

    page: Path
    chromium: str | None
    json: Path | None
    tables: Path | None


def checked_targets(
    output: Path | str, pdf: bool = False, json: str | None = None, tables: str | None = None
) -> Targets:
    """Return the output files of a report, or raise ReportError if one cannot be written."""
    page, chromium = checked_output(output), find_chromium() if pdf else None
    if pdf:
        outputs.check_written("PDF", page.with_suffix(".pdf"))
    return Targets(
        page,
        chromium,
        None if json is None else checked_output(json, "json", ".json"),
        None if tables is None else checked_tables(tables),
    )


def write_targets(
    targets: Targets, page: str, records: list, undo: contextlib.ExitStack, about: dict
) -> list[Path]:
    """Write the output files and return their paths, the page first.

    `about` holds the entries of the JSON file other than the results.
    """
    written = [
        targets.page,
        *[targets.page.with_suffix(".pdf")] * bool(targets.chromium),
        *([targets.json] if targets.json else []),
        *(table_paths(targets.tables, records) if targets.tables else []),
    ]
    for file in [targets.tables or targets.page.parent, *written]:
        undo.enter_context(outputs.taken_back(file))
    outputs.write_page(page, targets.page, targets.chromium)
    if targets.json:
        write_json(targets.json, records, **about)
    if targets.tables:
        write_tables(targets.tables, records, targets.page.name)
    return written


def _limit(timeout: None) -> int:
    name, value = (
        ("timeout", timeout)
        if timeout is not None
        else (LIMIT_NAME, os.environ.get(LIMIT_NAME) or CELL_LIMIT)
    )
    try:
        return checks.whole(name, int(value) if str(value).isdecimal() else value, 1, LONGEST_LIMIT)
    except checks.WrongArgument as error:
        raise WrongParameter.of(error) from None


def package_version() -> str:
    """Return the version of the installed workbench."""
    return _version("evaluation-workbench") or "(source tree)"


def _checked_values(declared: Any, given: Any, targets: Any, read_later: bool) -> dict:
    from workbench.data.files import existing_file

    values = {each["name"]: each["default"] for each in declared} | parameters.parse_parameters(
        declared, given
    )
    files = _paths(declared, values, "file")
    for name, path in files.items():
        with refusing(name, UNUSABLE, one_line):
            existing_file(path)
    inputs = {path.resolve() for path in files.values()}
    values |= _beside(declared, values, targets.page, inputs)
    promised = _paths(declared, values, "output")
    for name, path in (promised | {"json": targets.json, "tables": targets.tables}).items():
        if path and os.path.exists(path) and any(map(path.samefile, inputs)):
            raise ReportError(f"{name}: {str(path)!r} is also an input; choose another path")
    for name, path in promised.items():
        outputs.check_written(f"{name}:", path)
    _check_files(
        [each for each in declared if not read_later or values[each["name"]] != each["default"]],
        values,
    )
    return values


def _beside(declared: list, values: dict, output: Path, inputs: set) -> dict:
    """Return {name: path} of the outputs that go next to the report by default."""
    paths = {
        each["name"]: output.with_name(output.stem + each["detail"])
        for each in declared
        if each["role"] == "output" and each["detail"] and not values[each["name"]]
    }
    return {name: str(path) for name, path in paths.items() if path.resolve() not in inputs}


def _read_first(path: Path, values: dict) -> Any:
    """Return the result of the notebook's reading function, None without one.

    It reports wrong files and parameters before a kernel starts.
    """
    named = parameters.reading_function(path)
    if not named:
        return None
    module, _, function = named.rpartition(".")
    with warnings.catch_warnings(), _importable(os.getcwd()), printed_limits():
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", LimitReached)
        try:
            read = getattr(importlib.import_module(module), function)
            taken = inspect.signature(read).parameters
            takes_all = any(argument.kind is argument.VAR_KEYWORD for argument in taken.values())
            arguments = {
                name: value for name, value in values.items() if takes_all or name in taken
            }
            if "write" in taken:
                arguments["write"] = False
            return read(**arguments)
        except checks.WrongArgument as error:
            raise WrongParameter.of(error) from error
        except Exception as error:
            raise ReportError(_message(type(error).__name__, str(error))) from error


@contextlib.contextmanager
def _importable(folder: str) -> Iterator[None]:
    """Make the modules of a folder importable, as for a kernel that starts in it."""
    sys.path.insert(0, folder)
    try:
        yield
    finally:
        sys.path.remove(folder)


def _paths(declared: list[dict], values: dict, *roles: str) -> dict[str, Path]:
    """Return {name: path} of the given files, or of those that the notebook will write."""
    either = {each["name"] for each in declared if each["role"] == parameters.FILE_TOO}
    given = {
        each["name"]: outputs.home_path(values[each["name"]])
        for each in declared
        if values[each["name"]]
        and each["role"] in (*roles, *[parameters.FILE_TOO] * ("file" in roles))
    }
    return {name: path for name, path in given.items() if name not in either or path.is_file()}


def _check_files(declared: list, values: dict) -> None:
    from workbench.data.columns import crossed_names, spelled
    from workbench.data.frames import column_names

    found = {}
    for name, path in _paths(declared, values, "file").items():
        with refusing(name, UNUSABLE, one_line):
            found[name] = list(column_names(str(path)))
    for parameter in declared:
        name, file = parameter["name"], parameter["detail"]
        if parameter["role"] != "column" or not values[name] or file not in found:
            continue
        for column in crossed_names(values[name], found[file]):
            if "*" in column:  # a pattern of several columns
                continue
            if spelled(column, found[file]) not in found[file]:
                raise WrongParameter(
                    name,
                    f"is {column!r}, but {values[file]} has no such column"
                    f"{suggestion(column, found[file])}",
                    column,
                    told=f"columns: {checks.listed(found[file], 20)}",
                )


def _changed_at(path: Path) -> int | None:
    return path.stat().st_mtime_ns if path.exists() else None


def _tagged_names(path: Path) -> set[str]:
    """Return the names on which cells of a notebook depend by their tags."""
    tagged = set().union(*map(tags, parameters.load_notebook(path)["cells"]))
    conditional = (tag for tag in tagged if tag.startswith((IF, UNLESS)))
    return {tag.removeprefix(IF).removeprefix(UNLESS) for tag in conditional}


def _conditions(tagged: set[str], values: dict, content: Any) -> dict[str, bool]:
    """Return for each parameter, and for each other name in tags, whether it is given."""
    conditions = {name: bool(value) for name, value in values.items()}
    for name in sorted(tagged - set(values)):
        if name[:1].isupper():
            conditions[name] = type(content).__name__ == name
            continue
        if not hasattr(content, name):
            raise ReportError(
                f"a cell has a tag for parameter {name!r}, but the notebook has no such parameter"
                f"{suggestion(name, values)}"
            )
        conditions[name] = bool(getattr(content, name))
    return conditions


def _execute(
    path: Path,
    values: dict,
    conditions: dict[str, bool],
    progress: bool,
    limit: int,
    recorded: bool,
) -> tuple:
    with imports.without_grammars():
        import nbformat
    environment = {RECORDING: "1"} if recorded else {}
    with _quiet():
        notebook = nbformat.read(path, as_version=4)
        notebook.cells = [cell for cell in notebook.cells if _belongs(tags(cell), conditions)]
        if recorded:
            add_recording(notebook)
        with _progress(progress, len(notebook.cells) + 1) as started:
            kernels = kernel_manager_class(environment)
            done = run_notebook(
                notebook, values, limit, kernel_manager_class=kernels, on_cell_start=started
            )
    if done.metadata.papermill.exception:
        raise ReportError("the notebook stopped before its last cell")
    return done, take_records(done) if recorded else []


def _belongs(tagged: set[str], conditions: dict[str, bool]) -> bool:
    """Return whether a cell with these tags belongs in a report under these conditions."""
    if LEFT_OUT & tagged:
        return False
    needed = [conditions[tag.removeprefix(IF)] for tag in tagged if tag.startswith(IF)]
    excluded = [conditions[tag.removeprefix(UNLESS)] for tag in tagged if tag.startswith(UNLESS)]
    return all(needed) and not any(excluded)


def run_notebook(notebook: Any, values: dict, limit: int, **options: Any) -> Any:
    """Run a notebook with papermill and return it with its outputs, or raise `ReportError`."""
    import papermill

    run = functools.partial(
        papermill.execute_notebook,
        notebook,
        None,
        values,
        kernel_name="python3",
        language="python",
        progress_bar=False,
        store_widget_state=False,
        execution_timeout=limit,
        iopub_timeout=limit,
        start_timeout=START_LIMIT,
        shutdown_kernel="immediate",
        **options,
    )
    try:
        return run()
    except papermill.PapermillExecutionError as error:
        raise ReportError(_message(error.ename, error.evalue)) from error
    except TimeoutError as error:  # nbclient's CellTimeoutError
        raise ReportError(
            f"a cell ran longer than {checks.counted(limit, 'second')}, so the run was stopped; "
            f"set the environment variable {LIMIT_NAME} to a higher limit"
        ) from error
    except RuntimeError as error:
        if type(error).__name__ == "DeadKernelError":  # of nbclient
            raise ReportError(
                "the run was killed before it finished, probably for lack of memory; close other "
                "programs or use fewer rows"
            ) from error
        # raised by jupyter_client if a kernel does not answer
        raise ReportError(
            f"Python did not start within {checks.counted(START_LIMIT, 'second')}, or stopped "
            "before it answered; run the command again, or check the installation with "
            f"`{sys.executable} -m ipykernel --version`"
        ) from error


def kernel_manager_class(environment: dict | None = None) -> type:
    """Return a class of kernel managers that always start this interpreter.

    Registered kernels are ignored. The kernels get `environment` in addition to the variables of
    this process.
    """
    from ipykernel.kernelspec import get_kernel_dict
    from jupyter_client.kernelspec import KernelSpec
    from jupyter_client.manager import AsyncKernelManager

    spec = KernelSpec(**get_kernel_dict(KERNEL_OPTIONS))
    spec.env = KERNEL_ENVIRONMENT | NOT_SERVED | _python_path() | (environment or {})

    class ThisInterpreter(AsyncKernelManager):
        kernel_spec = spec

    return ThisInterpreter


def _python_path() -> dict[str, str]:
    """Return the variable that lets a kernel import the workbench from its source tree."""
    root = Path(__file__).resolve().parents[2]
    if root.name in ("site-packages", "dist-packages"):
        return {}
    paths = [str(root), os.environ.get("PYTHONPATH")]
    return {"PYTHONPATH": os.pathsep.join(filter(None, paths))}


def _message(name: str, text: str) -> str:
    """Return an error's text, preceded by its class if the error is unexpected."""
    message, unforeseen = one_line(text), vars(builtins).keys() - {"ValueError", "TypeError"}
    return ": ".join([name, message] if message and name in unforeseen else [message or name])


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    import logging

    logger = logging.getLogger("papermill")
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.setLevel(level)


@contextlib.contextmanager
def _progress(wanted: bool, total: int) -> Iterator[Callable]:
    if not wanted:
        yield lambda **event: None
    elif sys.stderr.isatty():
        from tqdm import tqdm

        with tqdm(total=total, file=sys.stderr, unit="cell", leave=False, desc="Starting") as bar:
            yield functools.partial(_advance, bar)
    else:
        yield _announce


def _advance(bar: Any, cell: Any, cell_index: int) -> None:
    for _, heading in headings([cell]):
        bar.set_description(plain(heading)[:40])
    bar.update()


def _announce(cell: Any, cell_index: int) -> None:
    for _, heading in headings([cell]):
        print(plain(heading), file=sys.stderr, flush=True)


def input_file(name: str, path: Path, rows: bool = True) -> dict:
    """Return the description of an input file: its name, size, digest and number of rows."""
    from workbench.data.files import file_of

    stored = Path(file_of(path))
    with stored.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return {
        "parameter": name,
        "file": path.name,
        "rows": _row_count(path) if rows else None,
        "bytes": stored.stat().st_size,
        "sha256": digest,
    }


def _row_count(path: Any) -> Any:
    from workbench.data.frames import row_count

    with contextlib.suppress(ValueError, IndexError, ImportError):
        return row_count(str(path))
    return None


def _provenance(declared: list, values: dict, inputs: list, command: str) -> dict:
    software = [
        ("workbench", package_version()),
        *((name, _version(name)) for name in PACKAGES),
        ("Python", platform.python_version()),
    ]
    return {
        "inputs": inputs,
        "command": command,
        "software": [pair for pair in software if pair[1]],
        "used": values,
        "parameters": [
            each | {"value": _shown(values[each["name"]]), "meaning": _meaning(each)}
            for each in declared
        ],
        "seed": values.get("seed"),
        "date": datetime.datetime.now(datetime.UTC),
    }


def _meaning(parameter: dict) -> str:
    kind, text = parameters.shown_type(parameter), parameters.shown_help(parameter)
    return f"{kind}: {text}" if parameter["role"] else text


def _version(package: Any) -> Any:
    import importlib.metadata

    with contextlib.suppress(importlib.metadata.PackageNotFoundError):
        return importlib.metadata.version(package)
    return None


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else repr(value)


def _command(topic: Path | str, given: dict, targets: Targets) -> str:
    words: list[Any] = ["workbench", "report", topic]
    for name, value in given.items():
        words += ["-p", name, _shown(value)]
    words += [
        "-o",
        targets.page,
        *["--json", targets.json] * bool(targets.json),
        *["--tables", targets.tables] * bool(targets.tables),
        *["--pdf"] * bool(targets.chromium),
    ]
    return shlex.join(map(str, words))


def _own_title(path: Path, conditions: dict[str, bool]) -> str:
    """Return the special title of a report with certain parameters, "" for none."""
    titles = parameters.own_titles(path)
    return next((titles[name] for name in conditions if conditions[name] and name in titles), "")


def _page(path: Path, notebook: Any, provenance: dict, own: str) -> tuple:
    titled = any(level == 1 for level, _ in headings(notebook.cells))
    parts = body(notebook, path.parent, own)
    title = own or parameters.notebook_title(path)
    page = render("page.html.j2", title=title, titled=titled, **vars(parts), **provenance)
    return page, parts.messages


def _about(about: dict) -> dict:
    """Return the entries of the JSON file other than the results."""
    return {
        "topic": parameters.topic_name(about["path"]),
        "title": about["own_title"] or parameters.notebook_title(about["path"]),
        "time": about["date"].isoformat(timespec="seconds"),
        "versions": {name.lower(): version for name, version in about["software"]},
        "inputs": about["inputs"],
        "parameters": about["used"],
        "messages": about["messages"],
    }
