"""Ctrl-C in the first second of the command, while Python still imports: one line instead of a traceback."""

import os
import signal
import sys


def is_command(arguments: list[str], original: list[str]) -> bool:
    """Return whether this process is the command `workbench` or `python -m workbench`.

    Parameters
    ----------
    arguments, original : list of str
        `sys.argv`, which begins with "-m" while the package is looked for, and `sys.orig_argv`.

    Examples
    --------
    >>> is_command(["-m", "list"], ["python", "-m", "workbench", "list"])
    True
    >>> is_command(["bin/workbench"], ["python", "bin/workbench"])
    True
    >>> is_command(["study.py"], ["python", "study.py"])
    False
    """
    if arguments[:1] == ["-m"]:
        return ("-m", "workbench") in zip(original, original[1:], strict=False)
    return os.path.splitext(os.path.basename("".join(arguments[:1])))[0] == "workbench"


def stop(*_: object) -> None:
    """End the process at once."""
    os.write(2, b"Stopped.\n")
    os._exit(130)


def imported() -> None:
    """Give Ctrl-C back to Python: what is under way from now on cleans up after itself."""
    if signal.getsignal(signal.SIGINT) is stop:
        signal.signal(signal.SIGINT, signal.default_int_handler)


if is_command(getattr(sys, "argv", []), sys.orig_argv):
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, stop)
