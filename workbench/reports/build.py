"""Reports: run a notebook with the user's parameters and write it as one HTML file.

`build_report` is the function to start from. It checks the user's values, then `run_report` runs
the notebook and writes the files. Extras that ship a notebook of their own call `run_report`.
"""

import builtins
import contextlib
import datetime
import hashlib
import importlib
import inspect
import os
import platform
import shlex
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from workbench import checks, imports
from workbench.checks import suggestion
from workbench.reports import outputs, parameters
from workbench.reports.outputs import ReportWarning, checked_output, find_chromium
from workbench.reports.pages import body, headings, one_line, plain
from workbench.reports.parameters import ReportError, WrongParameter, find_notebook, refusing, tags
from workbench.reports.records import Record, add_recording, take_records, write_json
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
    "run_report",
]

LEFT_OUT = {"lesson", "exercise", "solution", "interactive"}
# cells with these tags are in a report only if something is given, or only if it is not: a
# parameter, or the class or an attribute of the result of the reading function
IF, UNLESS = "if", "unless"
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
    topic_or_path: Path | str,
    assigned: dict | None,
    output: Path | str,
    *,
    progress: bool,
    pdf: bool,
    json: str | None = None,
    tables: str | None = None,
    notebooks: Path | str | None = None,
    command: str | None = None,
    timeout: int | None = None,
) -> list[Path]:
    """Build a report and return all files that were written, the HTML file first."""
    assigned = assigned or {}
    targets, limit = checked_targets(output, pdf, json, tables), _limit(timeout)
    path = find_notebook(topic_or_path, notebooks)
    declared = parameters.notebook_parameters(path)
    values = _checked_values(declared, assigned, targets, bool(parameters.reading_function(path)))
    cells = parameters.load_notebook(path)["cells"]
    names = {name for cell in cells for name, _ in _needs(cell)}
    content = None
    if assigned or not names <= set(values):  # defaults have nothing to check
        files = _paths(declared, values, "file", "output")
        content = _read_first(path, values | {name: str(file) for name, file in files.items()})
    conditions = _conditions(names, values, content)
    del content  # the file, while the kernel reads it again
    if not command:
        command = _command(topic_or_path, assigned, targets)
    inputs = [input_file(name, file) for name, file in _paths(declared, values, "file").items()]
    titles = parameters.own_titles(path)
    title = next((titles[name] for name in conditions if conditions[name] and name in titles), "")
    brief = Brief(title, command, inputs, conditions)
    report = run_report(path, values, targets, brief, progress=progress, limit=limit)
    outputs.warn_if_large(targets.page, 3)
    return report.files


class Targets(NamedTuple):
    """The output files of a report: its page, and optional PDF, JSON file and tables."""

    page: Path
    chromium: str | None
    json: Path | None
    tables: Path | None

    def options(self) -> list[str]:
        """Return the options of a command that name these files."""
        options = ["-o", str(self.page)]
        if self.json:
            options += ["--json", str(self.json)]
        if self.tables:
            options += ["--tables", str(self.tables)]
        return [*options, "--pdf"] if self.chromium else options


class Brief(NamedTuple):
    """What is known about a report before its notebook runs.

    `title` is "" for the first heading of the notebook. `conditions` tells for each name in the
    tags of cells whether it is given. `settings` are further parameters in the JSON file.
    """

    title: str
    command: str
    inputs: list[dict]
    conditions: dict[str, bool]
    settings: Mapping[str, Any] = {}


class Report(NamedTuple):
    """The files that were written, the page first, and the results in the order of the page."""

    files: list[Path]
    records: list[Record]


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


def run_report(
    path: Path,
    values: dict,
    targets: Targets,
    brief: Brief,
    *,
    progress: bool = False,
    limit: int | None = None,
    recorded: bool = False,
) -> Report:
    """Run a notebook with checked values and write its page and its other files.

    The results are recorded if a file needs them or if `recorded` is true.
    """
    declared = parameters.notebook_parameters(path)
    values = {parameter["name"]: parameter["default"] for parameter in declared} | values
    files = _paths(declared, values, "file", "output")
    absolute = values | {name: str(file.absolute()) for name, file in files.items()}
    promised = _paths(declared, values, "output")
    changes = {file: _changed_at(file) for file in promised.values()}
    recorded = recorded or bool(targets.json or targets.tables)
    with contextlib.ExitStack() as undo:
        for file in changes:
            undo.enter_context(outputs.taken_back(file))
        conditions = {name: bool(value) for name, value in values.items()} | brief.conditions
        notebook, records = _execute(
            path, absolute, conditions, progress, limit or _limit(None), recorded
        )
        used = values | {name: "" for name, file in promised.items() if not file.exists()}
        provenance = _provenance(declared, used, brief)
        page, messages = _page(path, notebook, brief.title, provenance)
        versions = {name.lower(): version for name, version in provenance["software"]}
        about = {
            "topic": parameters.topic_name(path),
            "title": brief.title or parameters.notebook_title(path),
            "time": provenance["date"].isoformat(timespec="seconds"),
            "versions": versions,
            "inputs": brief.inputs,
            "parameters": used | brief.settings,
            "messages": messages,
        }
        written = _write(targets, page, records, undo, about)
    written += [file for file, before in changes.items() if _changed_at(file) != before]
    return Report(written, records)


def _write(
    targets: Targets, page: str, records: list[Record], undo: contextlib.ExitStack, about: dict
) -> list[Path]:
    """Write the output files and return their paths, the page first.

    `about` holds the entries of the JSON file other than the results.
    """
    written = [targets.page]
    with_rows = [record for record in records if record.table.entries]  # others hold notes alone
    if targets.chromium:
        written.append(targets.page.with_suffix(".pdf"))
    if targets.json:
        written.append(targets.json)
    if targets.tables:
        written += table_paths(targets.tables, with_rows)
    for file in [targets.tables or targets.page.parent, *written]:
        undo.enter_context(outputs.taken_back(file))
    outputs.write_page(page, targets.page, targets.chromium)
    if targets.json:
        write_json(targets.json, records, **about)
    if targets.tables:
        write_tables(targets.tables, with_rows, targets.page.name)
    return written


def _limit(timeout: int | None) -> int:
    name: str = "timeout"
    value: Any = timeout
    if timeout is None:
        name, value = LIMIT_NAME, os.environ.get(LIMIT_NAME) or CELL_LIMIT
    try:
        return checks.whole(name, int(value) if str(value).isdecimal() else value, 1, LONGEST_LIMIT)
    except checks.WrongArgument as error:
        raise WrongParameter.of(error) from None


def package_version() -> str:
    """Return the version of the installed workbench."""
    return _version("evaluation-workbench") or "(source tree)"


def _checked_values(declared: list, assigned: dict, targets: Targets, read_later: bool) -> dict:
    from workbench.data.files import existing_file

    defaults = {parameter["name"]: parameter["default"] for parameter in declared}
    values = defaults | parameters.parse_parameters(declared, assigned)
    files = _paths(declared, values, "file")
    for name, path in files.items():
        with refusing(name, UNUSABLE, one_line):
            existing_file(path)
    inputs = {path.resolve() for path in files.values()}
    values |= _default_outputs(declared, values, targets.page, inputs)
    promised = _paths(declared, values, "output")
    written: dict[str, Path | None] = {**promised, "json": targets.json, "tables": targets.tables}
    for name, file in written.items():
        if file and os.path.exists(file) and any(map(file.samefile, inputs)):
            raise ReportError(f"{name}: {str(file)!r} is also an input; choose another path")
    for name, path in promised.items():
        outputs.check_written(f"{name}:", path)
    unchecked = {name for name in values if read_later and values[name] == defaults[name]}
    _check_columns([entry for entry in declared if entry["name"] not in unchecked], values)
    return values


def _default_outputs(declared: list, values: dict, output: Path, inputs: set) -> dict:
    """Return {name: path} of the outputs that go next to the report by default."""
    paths = {
        parameter["name"]: output.with_name(output.stem + parameter["detail"])
        for parameter in declared
        if parameter["role"] == "output" and parameter["detail"] and not values[parameter["name"]]
    }
    return {name: str(path) for name, path in paths.items() if path.resolve() not in inputs}


def _read_first(path: Path, values: dict) -> Any:
    """Return the result of the notebook's reading function, None without one.

    It reports wrong files and parameters before a kernel starts.
    """
    function = parameters.reading_function(path)
    if not function:
        return None
    module, _, name = function.rpartition(".")
    with warnings.catch_warnings(), _importable(os.getcwd()), printed_limits():
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", LimitReached)
        try:
            read = getattr(importlib.import_module(module), name)
            accepted = inspect.signature(read).parameters
            takes_all = any(argument.kind is argument.VAR_KEYWORD for argument in accepted.values())
            arguments = {
                name: value for name, value in values.items() if takes_all or name in accepted
            }
            if "write" in accepted:
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
    """Return {name: path} of the files that were named, or that the notebook will write."""
    paths = {}
    for parameter in declared:
        name, role = parameter["name"], parameter["role"]
        if values[name] and role in (*roles, parameters.FILE_TOO):
            path = outputs.home_path(values[name])
            if role in roles or ("file" in roles and path.is_file()):
                paths[name] = path
    return paths


def _check_columns(declared: list, values: dict) -> None:
    from workbench.data.columns import crossed_names, spelled
    from workbench.data.frames import column_names

    columns = {}
    for name, path in _paths(declared, values, "file").items():
        with refusing(name, UNUSABLE, one_line):
            columns[name] = list(column_names(str(path)))
    for parameter in declared:
        name, file = parameter["name"], parameter["detail"]
        if parameter["role"] != "column" or not values[name] or file not in columns:
            continue
        for column in crossed_names(values[name], columns[file]):
            # a name with * is a pattern of several columns
            if "*" not in column and spelled(column, columns[file]) not in columns[file]:
                raise WrongParameter(
                    name,
                    f"is {column!r}, but {values[file]} has no such column"
                    f"{suggestion(column, columns[file])}",
                    column,
                    told=f"columns: {checks.listed(columns[file], 20)}",
                )


def _changed_at(path: Path) -> int | None:
    return path.stat().st_mtime_ns if path.exists() else None


def _needs(cell: dict) -> list[tuple[str, bool]]:
    """Return the names in the tags of a cell, each with whether it must be given."""
    parts = [tag.partition(":") for tag in tags(cell)]
    return [(name, word == IF) for word, _, name in parts if name and word in (IF, UNLESS)]


def _conditions(names: set[str], values: dict, content: Any) -> dict[str, bool]:
    """Return for each parameter, and for each other name in tags, whether it is given."""
    conditions = {name: bool(value) for name, value in values.items()}
    for name in sorted(names - set(values)):
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
        notebook.cells = [cell for cell in notebook.cells if _belongs(cell, conditions)]
        if recorded:
            add_recording(notebook)
        kernels = kernel_manager_class(environment)
        with _progress(progress, len(notebook.cells) + 1) as announce:
            done = run_notebook(
                notebook, values, limit, kernel_manager_class=kernels, on_cell_start=announce
            )
    if done.metadata.papermill.exception:
        raise ReportError("the notebook stopped before its last cell")
    return done, take_records(done) if recorded else []


def _belongs(cell: Any, conditions: dict[str, bool]) -> bool:
    """Return whether a cell belongs in a report under these conditions."""
    needs = _needs(cell)
    return not LEFT_OUT & tags(cell) and all(conditions[name] == need for name, need in needs)


def run_notebook(notebook: Any, values: dict, limit: int, **options: Any) -> Any:
    """Run a notebook with papermill and return it with its outputs, or raise `ReportError`."""
    import papermill

    try:
        return papermill.execute_notebook(
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
def _progress(visible: bool, total: int) -> Iterator[Callable]:
    """Yield a function that shows the section of a cell on stderr, on a terminal as a bar."""
    from tqdm import tqdm

    is_bar = visible and sys.stderr.isatty()
    bar = tqdm(total=total, file=sys.stderr, unit="cell", leave=False, disable=not is_bar)

    def announce(cell: Any, cell_index: int) -> None:
        for _, heading in headings([cell]):
            if is_bar:
                bar.set_description(plain(heading)[:40])
            elif visible:
                print(plain(heading), file=sys.stderr, flush=True)
        bar.update()

    with bar:
        bar.set_description("Starting")
        yield announce


def input_file(name: str, path: Path, rows: bool = True) -> dict:
    """Return the description of an input file: its name, size, digest and number of rows."""
    from workbench.data.files import file_of
    from workbench.data.frames import row_count

    stored, count = Path(file_of(path)), None
    with stored.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    with contextlib.suppress(ValueError, IndexError, ImportError):
        count = row_count(str(path)) if rows else None
    return {
        "parameter": name,
        "file": path.name,
        "rows": count,
        "bytes": stored.stat().st_size,
        "sha256": digest,
    }


def _provenance(declared: list, values: dict, brief: Brief) -> dict:
    software = {name: _version(name) for name in PACKAGES}
    software = {"workbench": package_version(), **software, "Python": platform.python_version()}
    rows = []
    for parameter in declared:
        meaning = parameters.shown_help(parameter)
        if parameter["role"]:
            meaning = f"{parameters.shown_type(parameter)}: {meaning}"
        value = values[parameter["name"]]
        value = ", ".join(map(str, value)) if isinstance(value, list) else _text(value)
        rows.append(parameter | {"value": value, "meaning": meaning})
    return {
        "inputs": brief.inputs,
        "command": brief.command,
        "software": [(name, version) for name, version in software.items() if version],
        "parameters": rows,
        "seed": values.get("seed"),
        "date": datetime.datetime.now(datetime.UTC),
    }


def _version(package: str) -> str | None:
    import importlib.metadata

    with contextlib.suppress(importlib.metadata.PackageNotFoundError):
        return importlib.metadata.version(package)
    return None


def _text(value: Any) -> str:
    return value if isinstance(value, str) else repr(value)


def _command(topic: Path | str, assigned: dict, targets: Targets) -> str:
    arguments = ["workbench", "report", str(topic)]
    for name, value in assigned.items():
        arguments += ["-p", str(name), _text(value)]
    return shlex.join([*arguments, *targets.options()])


def _page(path: Path, notebook: Any, own_title: str, provenance: dict) -> tuple[str, list]:
    titled = any(level == 1 for level, _ in headings(notebook.cells))
    parts = body(notebook, path.parent, own_title)
    title = own_title or parameters.notebook_title(path)
    page = render("page.html.j2", title=title, titled=titled, **vars(parts), **provenance)
    return page, parts.messages
