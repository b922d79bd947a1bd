"""Reports: a notebook run with the user's parameters, written as one self-contained HTML file."""
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
import shutil
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

from workbench import checks
from workbench.checks import suggestion
from workbench.reports.kernels import START_LIMIT, KernelDiedError, KernelStartError, kernel_managers
from workbench.reports.pages import body, headings, plain, without_escapes
from workbench.reports.parameters import (
    ReportError,
    find_notebook,
    notebook_parameters,
    notebook_title,
    own_title,
    parse_parameters,
    reading_function,
    reason,
    shown_help,
    shown_type,
    tags,
)

LEFT_OUT = {"lesson", "exercise", "solution", "interactive"}
# cells with these tags stand in a report only if a parameter is given, or only if it is not
IF, UNLESS = "if:", "unless:"
SIZE_LIMIT = 1_000_000
CHROMIUMS = ("chromium", "chromium-browser", "google-chrome", "chrome",
             "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome")
CELL_LIMIT, LONGEST_LIMIT = 600, 1_000_000
LIMIT_NAME = "WORKBENCH_CELL_TIMEOUT"
PACKAGES = ("numpy", "scipy", "scikit-learn")


class ReportWarning(UserWarning):
    """What the user should know about a report that was written."""


def build_report(topic_or_path, parameters=None, output="report.html", *, progress=True, pdf=False,
                 notebooks=None, command=None, timeout=None):
    """Run a notebook with parameters and write it as one HTML file that needs no network.

    Cells tagged lesson, exercise, solution or interactive are left out before the run, those tagged
    if:NAME where parameter NAME is empty, those tagged unless:NAME where it is not. The output appears
    only when everything went well; an older report stays as it is otherwise.

    Parameters
    ----------
    topic_or_path : str or Path
        A topic of `topics()` or the path of a notebook with a cell tagged `parameters`.
    parameters : dict, optional
        Values by parameter name; text is read as the parameter's type.
    output : str or Path
        Where to write, ending in .html, in a folder that exists.
    progress : bool
        Show a bar on a terminal, else one line per section.
    pdf : bool
        Write a PDF beside the HTML file, with the Chromium of this machine.
    notebooks : str or Path, optional
        The folder to look topics up in, instead of the installed one.
    command : str, optional
        The command line to print in the report, instead of one made from the arguments.
    timeout : int, optional
        Seconds after which a cell that has shown nothing ends the run; WORKBENCH_CELL_TIMEOUT of the
        environment, or 600.

    Returns
    -------
    Path
        The HTML file.

    Raises
    ------
    ReportError
        A wrong name, type, file or column, or the message of the cell that failed.
    """
    return build_files(topic_or_path, parameters, output, progress=progress, pdf=pdf, notebooks=notebooks,
                       command=command, timeout=timeout)[0]


def build_files(topic_or_path, parameters, output, *, progress, pdf, notebooks=None, command=None, timeout=None):
    """Return all files that `build_report` wrote, the HTML file first."""
    output, limit = checked_output(output), _limit(timeout)
    chromium = find_chromium() if pdf else None
    path = find_notebook(topic_or_path, notebooks)
    declared = notebook_parameters(path)
    values = _checked_values(declared, parameters or {}, output)
    command = command or _command(topic_or_path, parameters or {}, output, pdf)
    _check_by_reading(path, values | _texts(_files(declared, values) | _outputs(declared, values)))
    inputs = _inputs(declared, values)
    made = {file: _changed_at(file) for file in _outputs(declared, values).values()}
    with contextlib.ExitStack() as undo:
        for written in made:
            undo.enter_context(_new_file(written))
        notebook = _execute(path, _for_kernel(declared, values), progress, limit)
        page = _page(path, notebook, _provenance(declared, _used(declared, values), inputs, command))
        _write(page, output, chromium)
    _warn_if_large(output)
    return [output, *[output.with_suffix(".pdf")] * pdf,
            *(file for file, before in made.items() if _changed_at(file) != before)]


def checked_output(output):
    """Return the path of a report that can be written, or raise ReportError."""
    path = _path(output)
    if path.suffix.lower() != ".html":
        raise ReportError(f"output must end in .html; got {str(output)!r}")
    _check_written("output", path)
    return path


def find_chromium():
    """Return the path of a Chromium: CHROMIUM of the environment, or the first one found."""
    named = os.environ.get("CHROMIUM")
    found = next(filter(None, map(shutil.which, [named] if named else CHROMIUMS)), None)
    if found is None:
        what = f"CHROMIUM is {named!r}, which is no program" if named else "--pdf needs Chromium, none found"
        raise ReportError(f"{what}; install one (apt-get install chromium), set CHROMIUM to its path, "
                          "or print the HTML report from your browser")
    return found


def _limit(timeout):
    name, value = LIMIT_NAME, os.environ.get(LIMIT_NAME) or CELL_LIMIT
    if timeout is not None:
        name, value = "timeout", timeout
    try:
        return checks.whole(name, int(value) if str(value).isdecimal() else value, 1, LONGEST_LIMIT)
    except (ValueError, TypeError) as error:
        raise ReportError(str(error)) from None


def package_version():
    """Return the version of the installed workbench."""
    return _version("evaluation-workbench") or "(source tree)"


def _checked_values(declared, given, output):
    values = {parameter["name"]: parameter["default"] for parameter in declared}
    values |= parse_parameters(declared, given)
    _check_files(declared, values)
    inputs = {path.resolve() for path in _files(declared, values).values()}
    values |= _beside(declared, values, output, inputs)
    for name, path in _outputs(declared, values).items():
        _check_written(f"{name}:", path)
        if path.resolve() in inputs:
            raise ReportError(f"{name}: {str(path)!r} is also an input; choose another path")
    return values


def _beside(declared, values, output, inputs):
    """Return {name: path} of the outputs that stand beside the report unless they are given."""
    endings = {each["name"]: each["detail"] for each in declared if each["role"] == "output" and each["detail"]}
    paths = {name: output.with_name(output.stem + ending) for name, ending in endings.items() if not values[name]}
    return {name: str(path) for name, path in paths.items() if path.resolve() not in inputs}


def _check_by_reading(path, values):
    """Call the function that the notebook's metadata names; what it refuses is told before a kernel starts."""
    named = reading_function(path)
    if not named:
        return
    module, _, function = named.rpartition(".")
    with warnings.catch_warnings(), _importable(os.getcwd()):
        warnings.simplefilter("ignore")
        try:
            read = getattr(importlib.import_module(module), function)
            taken = inspect.signature(read).parameters
            read(**{name: value for name, value in (values | {"write": False}).items() if name in taken})
        except Exception as error:
            raise ReportError(_message(type(error).__name__, str(error))) from error


@contextlib.contextmanager
def _importable(folder):
    """Import from a folder too, as a kernel started in it does."""
    sys.path.insert(0, folder)
    try:
        yield
    finally:
        sys.path.remove(folder)


def _path(value):
    return Path(os.path.expanduser(value))


def _check_written(what, path):
    """Raise unless a file can be written at `path`; only a file that is written shows it."""
    problem = _name_problem(path)
    if problem:
        raise ReportError(f"{what} {str(path)!r} cannot be written: {problem}")
    if path.is_dir():
        raise ReportError(f"{what} {str(path)!r} is a folder")
    if not path.parent.is_dir():
        raise ReportError(f"{what} folder {str(path.parent)!r} does not exist; make it first")
    try:
        with tempfile.TemporaryFile(dir=path.parent):
            pass
    except OSError as error:
        raise ReportError(f"{what} folder {str(path.parent)!r} cannot be written to: {error.strerror}") from error


def _name_problem(path):
    try:
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError) as error:
        return reason(error)


def _files(declared, values):
    return _paths(declared, values, "file")


def _outputs(declared, values):
    """Return {name: path} of the files that the notebook will write."""
    return _paths(declared, values, "output")


def _paths(declared, values, role):
    names = [parameter["name"] for parameter in declared if parameter["role"] == role]
    return {name: _path(values[name]) for name in names if values[name]}


def _check_files(declared, values):
    found = {name: _column_names(name, path) for name, path in _files(declared, values).items()}
    for parameter in declared:
        name, file = parameter["name"], parameter["detail"]
        if parameter["role"] == "column" and values[name] and file in found and values[name] not in found[file]:
            raise ReportError(f"{name} is {values[name]!r}, which is no column of {values[file]}"
                              f"{suggestion(values[name], found[file])}; columns: {checks.listed(found[file], 20)}")


def _column_names(name, path):
    if not os.path.exists(path):
        raise ReportError(f"{name}: no file {str(path)!r}{suggestion(path.name, _names_beside(path))}")
    from workbench.data.frames import column_names
    try:
        return list(column_names(str(path)))
    except (ValueError, TypeError, OSError, ImportError) as error:
        raise ReportError(f"{name}: {_one_line(error)}") from error


def _names_beside(path):
    try:
        return os.listdir(path.parent)
    except (OSError, ValueError):       # no folder, no access: no suggestion
        return []


def _for_kernel(declared, values):
    paths = _files(declared, values) | _outputs(declared, values)
    return values | _texts({name: path.absolute() for name, path in paths.items()})


def _texts(paths):
    return {name: str(path) for name, path in paths.items()}


def _changed_at(path):
    return path.stat().st_mtime_ns if path.exists() else None


@contextlib.contextmanager
def _new_file(path):
    new = not path.exists()
    try:
        yield
    except BaseException:
        if new:
            _remove(path)
        raise


def _remove(path):
    with contextlib.suppress(OSError):      # the error that ended the run is the one to tell
        path.unlink(missing_ok=True)


def _one_line(error):
    return " ".join(without_escapes(str(error)).split())


def _execute(path, values, progress, limit):
    import nbformat
    with _quiet(), _progress(progress) as started, kernel_managers() as manager_class:
        notebook = nbformat.read(path, as_version=4)
        notebook.cells = [cell for cell in notebook.cells if _belongs(tags(cell), values)]
        started(total=len(notebook.cells) + 1)
        done = _run(notebook, values, limit, kernel_manager_class=manager_class, on_cell_start=started)
    if done.metadata.papermill.exception:
        raise ReportError("the notebook stopped before its end")
    return done


def _belongs(tagged, values):
    """Return whether a cell with these tags stands in a report with these parameters."""
    wanted = [(tag.removeprefix(mark), mark == IF) for mark in (IF, UNLESS) for tag in tagged if tag.startswith(mark)]
    unknown = [name for name, _ in wanted if name not in values]
    if unknown:
        raise ReportError(f"a cell is tagged for a parameter {unknown[0]!r}, which the notebook does not have"
                          f"{suggestion(unknown[0], values)}")
    return not LEFT_OUT & tagged and all(bool(values[name]) == given for name, given in wanted)


def _run(notebook, values, limit, **options):
    import papermill
    from nbclient.exceptions import CellTimeoutError, DeadKernelError
    run = functools.partial(
        papermill.execute_notebook, notebook, None, values, kernel_name="python3", language="python",
        progress_bar=False, store_widget_state=False, execution_timeout=limit, iopub_timeout=limit,
        start_timeout=START_LIMIT, **options)
    try:
        try:
            return run()
        except KernelDiedError:     # its ports are chosen before it binds them: another process may have taken one
            return run()
    except papermill.PapermillExecutionError as error:
        raise ReportError(_message(error.ename, error.evalue)) from error
    except CellTimeoutError as error:
        raise ReportError(f"a cell has shown nothing for {checks.counted(limit, 'second')}, so the run was ended; "
                          f"{LIMIT_NAME} sets another limit") from error
    except KernelStartError as error:
        raise ReportError(f"Python did not start for this run within {checks.counted(START_LIMIT, 'second')}, or "
                          "ended before it answered; run it again, or see what "
                          f"`{sys.executable} -m ipykernel --version` says") from error
    except DeadKernelError as error:
        raise ReportError("the run was killed before its end; often memory is too small") from error


def _message(name, text):
    """Return an error's text, its class before it where no user is meant to see it."""
    message, unforeseen = _one_line(text), vars(builtins).keys() - {"ValueError", "TypeError"}
    if not message:
        return name
    return f"{name}: {message}" if name in unforeseen else message


@contextlib.contextmanager
def _quiet():
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
def _progress(wanted):
    if not wanted:
        yield lambda **event: None
    elif sys.stderr.isatty():
        from tqdm import tqdm
        with tqdm(file=sys.stderr, unit="cell", leave=False, desc="Starting") as bar:
            yield functools.partial(_advance, bar)
    else:
        yield _announce


def _advance(bar, cell=None, cell_index=None, total=None):
    if total:
        bar.reset(total)
        return
    for _, heading in headings([cell]):
        bar.set_description(plain(heading)[:40])
    bar.update()


def _announce(cell=None, cell_index=None, total=None):
    for _, heading in headings([cell] if cell else []):
        print(plain(heading), file=sys.stderr, flush=True)


def _inputs(declared, values):
    return [_input(name, path) for name, path in _files(declared, values).items()]


def _input(name, path):
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return {"parameter": name, "file": path.name, "rows": _row_count(path), "bytes": path.stat().st_size,
            "sha256": digest}


def _row_count(path):
    from workbench.data.frames import column_names, read_columns
    try:
        first = column_names(path)[0]
        return len(read_columns(path, [first])[0][first])
    except (ValueError, IndexError, ImportError):
        return None


def _used(declared, values):
    """Return the values, without outputs that were not written."""
    return values | {name: "" for name, path in _outputs(declared, values).items() if not path.exists()}


def _provenance(declared, values, inputs, command):
    software = [("workbench", package_version()), *((name, _version(name)) for name in PACKAGES),
                ("Python", platform.python_version())]
    return {"inputs": inputs, "command": command, "software": [pair for pair in software if pair[1]],
            "parameters": [each | {"value": _shown(values[each["name"]]), "meaning": _meaning(each)}
                           for each in declared],
            "seed": values.get("seed"),
            "date": datetime.datetime.now(datetime.UTC)}


def _meaning(parameter):
    return f"{shown_type(parameter)}: {shown_help(parameter)}" if parameter["role"] else parameter["help"]


def _version(package):
    import importlib.metadata
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def _shown(value):
    return value if isinstance(value, str) else repr(value)


def _command(topic, parameters, output, pdf):
    pairs = [("-p", str(name), _shown(value)) for name, value in parameters.items()]
    words = ["workbench", "report", str(topic), *sum(pairs, ()), "-o", str(output), *["--pdf"] * bool(pdf)]
    return shlex.join(words)


def _page(path, notebook, provenance):
    import jinja2
    folder = Path(__file__).parent / "template"
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(folder), autoescape=True, trim_blocks=True, lstrip_blocks=True,
        undefined=jinja2.StrictUndefined)
    given = [parameter["name"] for parameter in provenance["parameters"] if parameter["value"]]
    own = own_title(path, given)
    titled = any(level == 1 for level, _ in headings(notebook.cells))
    return environment.get_template("page.html.j2").render(
        title=own or notebook_title(path), titled=titled, **vars(body(notebook, path.parent, own)), **provenance)


def _write(page, output, chromium):
    part = output.with_name(f"workbench-{os.getpid()}.part.html")
    try:
        part.write_text(page, encoding="utf-8")
        if chromium:
            _print(chromium, part, part.with_suffix(".pdf"))
            os.replace(part.with_suffix(".pdf"), output.with_suffix(".pdf"))
        os.replace(part, output)
    except OSError as error:
        raise ReportError(f"cannot write {str(output)!r}: {error.strerror}") from error
    finally:
        _remove(part)
        _remove(part.with_suffix(".pdf"))


def _print(chromium, page, pdf):
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        words = [chromium, "--headless", "--disable-gpu", "--no-first-run", "--disable-background-networking",
                 "--disable-component-update", "--disable-sync", f"--user-data-dir={profile}",
                 "--no-pdf-header-footer", f"--print-to-pdf={pdf.absolute()}", page.absolute().as_uri()]
        if getattr(os, "geteuid", lambda: 1)() == 0:
            words.insert(1, "--no-sandbox")
        try:
            done = subprocess.run(words, capture_output=True, text=True, timeout=120)
        except subprocess.TimeoutExpired:
            raise ReportError(f"{chromium} did not finish the PDF within 120 seconds") from None
    if done.returncode or not pdf.is_file() or pdf.read_bytes()[:5] != b"%PDF-":
        reason = _one_line((done.stderr.strip().splitlines() or ["no message"])[-1])
        raise ReportError(f"{chromium} made no PDF (exit code {done.returncode}): {reason}")


def _warn_if_large(output):
    size = output.stat().st_size
    if size > SIZE_LIMIT:
        message = f"{output} has {size / 1e6:.1f} MB; a report should stay below 1 MB"
        warnings.warn(message, ReportWarning, stacklevel=3)
