"""Voila that stops when its standard input ends, because its parent process was killed."""

import os
import signal
import sys
import threading

from voila.app import main


def _end_with_input() -> None:
    sys.stdin.buffer.read()
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    threading.Thread(target=_end_with_input, daemon=True).start()
    main()
