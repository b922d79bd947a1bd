"""Whether a display is on a live page, or in a file that must work without a kernel."""

import os
import sys

IN_BROWSER = sys.platform == "emscripten"  # Python itself runs in the page, as in JupyterLite


def is_live() -> bool:
    """Return whether this kernel serves a page with widgets, as in JupyterLab or Voila."""
    is_voila = os.environ.get("SERVER_SOFTWARE", "").startswith("voila/")
    return IN_BROWSER or is_voila or bool(os.environ.get("JPY_SESSION_NAME"))
