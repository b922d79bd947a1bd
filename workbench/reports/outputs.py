"""What a report writes: checked before any work, written as a whole, taken back where the run fails."""
import contextlib
import os
import shutil
import subprocess
import tempfile
import warnings
from pathlib import Path

from workbench.reports.pages import one_line
from workbench.reports.parameters import ReportError, reason

SIZE_LIMIT = 1_000_000
CHROMIUMS = ("chromium", "chromium-browser", "google-chrome", "chrome",
             "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome")


class ReportWarning(UserWarning):
    """What the user should know about a report that was written."""


def checked_output(output, what="output", ending=".html"):
    """Return the path of a file that can be written, or raise ReportError."""
    path = home_path(output)
    if path.suffix.lower() != ending and str(output) and os.path.isdir(path):
        raise ReportError(f"{what} {str(output)!r} is a folder; name a file in it that ends in {ending}")
    if path.suffix.lower() != ending:
        raise ReportError(f"{what} must end in {ending}; got {str(output)!r}")
    check_written(what, path)
    return path


def home_path(value):
    """Return a path as the user wrote it, "~" at its beginning for their home."""
    return Path(os.path.expanduser(value))


def check_written(what, path):
    """Raise unless a file can be written at `path`; only a file that is written shows it."""
    check_name(what, path)
    if path.is_dir():
        raise ReportError(f"{what} {str(path)!r} is a folder")
    check_folder(f"{what} folder", path.parent)


def check_name(what, path):
    """Raise where the system takes no such name."""
    try:
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        pass
    except (OSError, ValueError) as error:
        raise ReportError(f"{what} {str(path)!r} cannot be written: {reason(error)}") from error


def check_folder(what, folder):
    """Raise unless a folder exists and files can be made in it."""
    if not folder.is_dir():
        raise ReportError(f"{what} {str(folder)!r} does not exist; make it first")
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
    except FileNotFoundError as error:      # a folder of the system, such as /proc
        raise ReportError(f"{what} {str(folder)!r} takes no files; choose another") from error
    except OSError as error:
        raise ReportError(f"{what} {str(folder)!r} cannot be written to: {error.strerror}") from error


def find_chromium():
    """Return the path of a Chromium: CHROMIUM of the environment, or the first one found."""
    named = os.environ.get("CHROMIUM")
    found = next(filter(None, map(shutil.which, [named] if named else CHROMIUMS)), None)
    if found is None:
        what = f"CHROMIUM is {named!r}, which is no program" if named else "--pdf needs Chromium, none found"
        raise ReportError(f"{what}; install one (apt-get install chromium), set CHROMIUM to its path, "
                          "or print the HTML report from your browser")
    return found


@contextlib.contextmanager
def new_file(path):
    """Remove a file that was not there before, where what is done with it fails."""
    new = not path.exists()
    try:
        yield
    except BaseException:
        if new:
            remove(path)
        raise


def remove(path):
    """Remove a file, or leave it where that is impossible."""
    with contextlib.suppress(OSError):      # the error that ended the run is the one to tell
        path.unlink(missing_ok=True)


@contextlib.contextmanager
def new_folder(path):
    """Remove a folder that was not there before, where what is done with it fails."""
    new = not path.exists()
    try:
        yield
    except BaseException:
        if new:
            with contextlib.suppress(OSError):
                path.rmdir()
        raise


@contextlib.contextmanager
def whole_file(path):
    """Yield the path of a file that takes the place of the one at `path` if all goes well."""
    part = path.with_name(f"workbench-{os.getpid()}.part{path.suffix}")
    try:
        yield part
        os.replace(part, path)
    except OSError as error:
        raise ReportError(f"cannot write {str(path)!r}: {reason(error)}") from error
    finally:
        remove(part)


def write_page(page, output, chromium):
    """Write a page, and with a Chromium its PDF, as a whole or not at all."""
    with whole_file(output) as part:
        part.write_text(page, encoding="utf-8")
        if chromium:
            with whole_file(output.with_suffix(".pdf")) as pdf:
                _print(chromium, part, pdf)


def warn_if_large(output, level):
    """Warn of a page that is too large to be sent around."""
    size = output.stat().st_size
    if size > SIZE_LIMIT:
        message = f"{output} has {size / 1e6:.1f} MB; a report should stay below 1 MB"
        warnings.warn(message, ReportWarning, stacklevel=level + 1)


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
        said = one_line((done.stderr.strip().splitlines() or ["no message"])[-1])
        raise ReportError(f"{chromium} made no PDF (exit code {done.returncode}): {said}")
