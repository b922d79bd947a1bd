"""Whether somebody looks at a page while its cells run."""
from __future__ import annotations

import os


def is_live() -> bool:
    """Return whether a browser shows what this kernel displays: JupyterLab started it, or Voila.

    Examples
    --------
    >>> is_live()
    False
    """
    return "JPY_SESSION_NAME" in os.environ or os.environ.get("SERVER_SOFTWARE", "").startswith("voila/")
