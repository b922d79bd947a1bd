"""The output files of a report.

They are checked before any work, written completely or not at all, and removed if the run fails.
"""

import contextlib
import os
import shutil
import subprocess
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path

from workbench.data import whole_files
from workbench.reports.pages import one_line
from workbench.reports.parameters import ReportError, WrongParameter, refusing

SIZE_LIMIT = 1_000_000
CHROMIUMS = (
    "chromium-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome",
    "chrome",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
)


class ReportWarning(UserWarning):
    """A warning about a report that was written."""


def checked_output(output: Path | str, what: str = "output", ending: str = ".html") -> Path:
    """Return the path of a file that can be written, or raise ReportError."""
    path = home_path(output)
    if path.suffix.lower() != ending:
        if str(output) and os.path.isdir(path):
            raise WrongParameter(
                what, f"{str(output)!r} is a folder; name a file in it that ends in {ending}"
            )
        raise WrongParameter(what, f"must end in {ending}", str(output))
    check_written(what, path)
    return path


def home_path(value: Path | str) -> Path:
    """Return a path in which "~" at the beginning is the user's home folder."""
    return Path(os.path.expanduser(value))


def check_written(what: str, path: Path) -> None:
    """Raise an error unless a file can be written at `path`."""
    check_name(what, path)
    with refusing(kinds=(whole_files.NotWrittenError,)):
        whole_files.refuse_kept(path)
    if path.is_dir():
        raise ReportError(f"{what} {str(path)!r} is a folder")
    if path.is_file() or not path.exists():  # devices and pipes need no check of their folder
        check_folder(f"{what} folder", path.parent)


def check_name(what: str, path: Path) -> None:
    """Raise an error if the system does not accept the file name."""
    with (
        refusing(f"{what} {str(path)!r} cannot be written"),
        contextlib.suppress(FileNotFoundError, NotADirectoryError),
    ):
        os.lstat(path)


def check_folder(what: str, folder: Path) -> None:
    """Raise an error unless a folder exists and files can be created in it."""
    if not folder.is_dir():
        raise ReportError(f"{what} {str(folder)!r} does not exist; create it first")
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
    except FileNotFoundError as error:  # a folder of the system, such as /proc
        raise ReportError(
            f"{what} {str(folder)!r} cannot hold files; choose another folder"
        ) from error
    except OSError as error:
        raise ReportError(
            f"{what} {str(folder)!r} cannot be written to: {error.strerror}"
        ) from error


def find_chromium() -> str:
    """Return the path of Chromium: the environment variable CHROMIUM, or the first one found."""
    chosen = os.environ.get("CHROMIUM")
    for program in [chosen] if chosen else CHROMIUMS:
        path = shutil.which(program)
        if path:
            return path
    problem = "--pdf needs Chromium, which was not found"
    if chosen:
        problem = f"CHROMIUM is {chosen!r}, but there is no such program"
    raise ReportError(
        f"{problem}; install one (apt-get install chromium), set CHROMIUM to its path, "
        "or print the HTML report from your browser"
    )


@contextlib.contextmanager
def taken_back(path: Path) -> Iterator[None]:
    """Remove a new file or a new empty folder if the code of the block fails."""
    new = not path.exists()
    try:
        yield
    except BaseException:
        with contextlib.suppress(OSError):  # report the error that stopped the run, not this one
            if new and path.is_dir():
                path.rmdir()
            elif new:
                path.unlink(missing_ok=True)
        raise


@contextlib.contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Yield the path of a temporary file that replaces `path` if the block succeeds."""
    with refusing(kinds=(whole_files.NotWrittenError,)), whole_files.whole_file(path) as part:
        yield part


def write_page(page: str, output: Path, chromium: str | None = None) -> None:
    """Write a page, and its PDF if `chromium` is given, completely or not at all."""
    with whole_file(output) as part:
        part.write_text(page, encoding="utf-8")
        if chromium:
            with whole_file(output.with_suffix(".pdf")) as pdf:
                _print(chromium, part, pdf)


def warn_if_large(output: Path, level: int) -> None:
    """Warn about a page that is too large to send."""
    size = output.stat().st_size
    if size > SIZE_LIMIT:
        message = (
            f"{output} has {size / 1e6:.1f} MB; a report should stay below 1 MB, to be easy to send"
        )
        warnings.warn(message, ReportWarning, stacklevel=level + 1)


def _print(chromium: str, page: Path, pdf: Path) -> None:
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        command = [
            chromium,
            "--headless",
            "--disable-gpu",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            f"--user-data-dir={profile}",
            "--no-pdf-header-footer",
            f"--print-to-pdf={pdf.absolute()}",
            page.absolute().as_uri(),
        ]
        if getattr(os, "geteuid", lambda: 1)() == 0:
            command.insert(1, "--no-sandbox")
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=120)
        except subprocess.TimeoutExpired:
            raise ReportError(
                f"{chromium} did not finish the PDF within 120 seconds; print the HTML report "
                "instead"
            ) from None
    if done.returncode or not pdf.is_file() or pdf.read_bytes()[:5] != b"%PDF-":
        *_, message = ["no message", *done.stderr.strip().splitlines()]
        raise ReportError(
            f"{chromium} did not write a PDF (exit code {done.returncode}): {one_line(message)}"
        )
