"""Files written as a whole or not at all: nobody ever reads half of one."""

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
    """A file could not be written; the file that was there before is unchanged.

    Attributes
    ----------
    filename : str
        As the caller wrote it.
    strerror : str
        Why not.
    """

    def __str__(self) -> str:
        return f"cannot write {self.filename!r}: {self.strerror}"


def write_text(path: StrPath, lines: str | Iterable[str], encoding: str = "utf-8") -> None:
    r"""Write a text file as a whole or not at all, its ends of lines as they are given.

    Parameters
    ----------
    path : str or path
    lines : str or iterable of str
        The text, or its pieces.
    encoding : str

    Raises
    ------
    NotWrittenError
        If the folder is missing, may not be written to or is full.

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
    """Let no file be written inside over one of these, by whatever name it is called."""
    files = map(os.stat, paths)
    before = _INPUTS.set((*_INPUTS.get(), *files))
    try:
        yield
    finally:
        _INPUTS.reset(before)


def refuse_kept(path: StrPath) -> None:
    """Raise `NotWrittenError` for a file that is kept."""
    if not os.path.exists(path):
        return
    state = os.stat(path)
    if any(os.path.samestat(state, kept) for kept in _INPUTS.get()):
        problem = "it is also an input; choose another path"
        raise NotWrittenError(errno.EEXIST, problem, os.fspath(path))


@contextlib.contextmanager
def whole_file(path: StrPath, *, new: bool = False) -> Iterator[Path]:
    """Yield a path next to `path` for a file that takes its place if all goes well.

    The new file is on the disk before it takes the place, and keeps the permissions of the old one;
    a link stays a link. Whatever goes wrong, nothing but the old file is left.

    Parameters
    ----------
    path : str or path
        A device or a pipe has no place to take: it is written to as it is.
    new : bool
        Whether a file that is there already, at whatever moment, is left alone.

    Raises
    ------
    NotWrittenError
        If the folder is missing, may not be written to or is full; for a file that is kept, and
        with `new` for any.
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
        with contextlib.suppress(OSError):  # the error that ended it is the one to tell
            part.unlink(missing_ok=True)


def _put_beside(part: Path, target: Path) -> None:
    """Give a file the name of another that may not be there yet, whoever makes it meanwhile."""
    try:
        os.link(part, target)
    except FileExistsError:
        raise
    except OSError:  # a disk that knows no links
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
