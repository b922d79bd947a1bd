"""JupyterLab as `workbench lab` runs it: from its address on, an interrupt ends it in order."""

import signal
import sys
from typing import Any

from jupyterlab.labapp import main


def end(number: int, frame: Any) -> None:
    """Ask for an end, which Jupyter hears while it starts too and answers once its loop runs."""
    signal.raise_signal(signal.SIGTERM)


if __name__ == "__main__":
    # at a terminal Jupyter asks whether it shall end; elsewhere it would leave an interrupt to its loop alone
    if not (sys.stdin and sys.stdin.isatty()):
        signal.signal(signal.SIGINT, end)
    sys.exit(main())
