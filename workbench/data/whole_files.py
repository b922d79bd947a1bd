"""Files that are written as a whole or not at all, so that nobody reads half a file."""

import contextlib
import errno
import os
import secrets
import stat
import sys
from collections.abc import Iterable, Iterator
from contextvars import ContextVar
from pathlib import Path

StrPath = str | os.PathLike[str]
_INPUTS: ContextVar[tuple[os.stat_result, ...]] = ContextVar("inputs", default=())


class NotWrittenError(OSError, ValueError):
    """Error for a file that could not be written; an earlier file of that name is unchanged.

    Attributes
    ----------
    filename : str
        Name of the file as the caller wrote it.
    strerror : str
        Reason of the failure.
    """

    def __str__(self) -> str:
        return f"cannot write {self.filename!r}: {self.strerror}"


def write_text(path: StrPath, lines: str | Iterable[str], encoding: str = "utf-8") -> None:
    r"""Write a text file as a whole or not at all; line ends stay as they are given.

    Parameters
    ----------
    path : str or path
        File to write.
    lines : str or iterable of str
        Text, or its pieces.
    encoding : str
        Encoding of the file.

    Raises
    ------
    NotWrittenError
        If the folder is missing, read-only or full.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_text(folder + "/notes.txt", "one\ntwo\n")
    ...     Path(folder, "notes.txt").read_text()
    'one\ntwo\n'
    """
    with whole_file(path) as part, open(part, "w", encoding=encoding, newline="") as file:
        file.writelines([lines] if isinstance(lines, str) else lines)


@contextlib.contextmanager
def keeping(paths: Iterable[StrPath]) -> Iterator[None]:
    """Protect files from being overwritten inside the block, whatever name is used for them."""
    files = map(os.stat, paths)
    before = _INPUTS.set((*_INPUTS.get(), *files))
    try:
        yield
    finally:
        _INPUTS.reset(before)


def refuse_kept(path: StrPath) -> None:
    """Raise `NotWrittenError` for a protected file."""
    if not os.path.exists(path):
        return
    state = os.stat(path)
    if any(os.path.samestat(state, protected) for protected in _INPUTS.get()):
        problem = "it is also an input. Choose another path"
        raise NotWrittenError(errno.EEXIST, problem, os.fspath(path))


@contextlib.contextmanager
def whole_file(path: StrPath, *, new: bool = False) -> Iterator[Path]:
    """Yield a path next to `path` for a file that replaces it if all goes well.

    The new file is on the disk before it replaces the old one. It keeps the permissions of the old
    file, and a link stays a link. If anything goes wrong, only the old file is left.

    Parameters
    ----------
    path : str or path
        File to write. A device or a pipe cannot be replaced, so it is written to directly.
    new : bool
        Whether a file that exists already, at any moment, is left alone.

    Raises
    ------
    NotWrittenError
        If the folder is missing, read-only or full, or if the file is protected. With `new`, also
        if the file exists.
    """
    refuse_kept(path)
    if os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path):
        yield Path(path)
        return
    target = Path(os.path.realpath(path))
    part = target.with_name(f"workbench-{os.getpid()}-{secrets.token_hex(4)}.part{target.suffix}")
    try:
        if not target.parent.is_dir():
            raise FileNotFoundError(2, f"no such folder: {os.path.dirname(path)!r}")
        yield part
        _to_disk(part)
        if target.is_file():
            part.chmod(stat.S_IMODE(target.stat().st_mode))
        replace = _put_beside if new else os.replace
        replace(part, target)
        _to_disk(target.parent)
    except NotWrittenError:
        raise
    except OSError as error:
        problem = error.strerror or str(error)
        raise NotWrittenError(error.errno, problem, os.fspath(path)) from error
    finally:
        with contextlib.suppress(OSError):  # report the first error, not this one
            part.unlink(missing_ok=True)


def _put_beside(part: Path, target: Path) -> None:
    """Give a file its final name, unless another file gets that name first."""
    try:
        os.link(part, target)
    except FileExistsError:
        raise
    except OSError:  # the disk has no links
        if target.exists():
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(target)) from None
        os.replace(part, target)


def _to_disk(path: Path) -> None:
    """Wait until a file, or the list of names in a folder, would survive a power cut."""
    if path.is_dir() and (os.name != "posix" or sys.platform == "emscripten"):
        return
    handle = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
