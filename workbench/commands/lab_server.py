"""JupyterLab as `workbench lab` starts it: an interrupt shuts it down in order."""

import signal
import sys
from typing import Any

from jupyterlab.labapp import main


def end(number: int, frame: Any) -> None:
    """Ask Jupyter to shut down; it notices this even while it starts."""
    signal.raise_signal(signal.SIGTERM)


if __name__ == "__main__":
    # at a terminal Jupyter asks before it shuts down; elsewhere only its loop sees an interrupt
    if not (sys.stdin and sys.stdin.isatty()):
        signal.signal(signal.SIGINT, end)
    sys.exit(main())
