"""Where a display ends up: in a live page, or in a file that must show something without a kernel."""

import os
from typing import Any

SERVERS = {"JPY_SESSION_NAME": "", "SERVER_SOFTWARE": "voila/"}


def is_live() -> bool:
    """Return whether this kernel was started by a Jupyter server or by Voila for a page that shows widgets.

    A kernel that a report starts from within such a kernel inherits its environment, but serves no page.
    """
    import psutil

    ours = _served(os.environ)
    try:
        return bool(ours) and ours != _served(psutil.Process(os.getppid()).environ())
    except psutil.Error:  # what started the kernel is gone, or another user's
        return bool(ours)


def _served(environment: Any) -> dict:
    return {
        name: environment[name]
        for name, start in SERVERS.items()
        if name in environment and environment[name].startswith(start)
    }
