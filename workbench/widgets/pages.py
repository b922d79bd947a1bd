"""Where a display ends up: on a live page, or in a file that must show something without a kernel."""

import os
import sys

# variables by which a Jupyter server and Voila mark their kernels; reports clear them for theirs
SERVED = {"JPY_SESSION_NAME": "", "SERVER_SOFTWARE": ""}


def is_live() -> bool:
    """Return whether this kernel serves a page with widgets: in JupyterLab, Voila or JupyterLite."""
    if sys.platform == "emscripten":
        return True
    is_voila = os.environ.get("SERVER_SOFTWARE", "").startswith("voila/")
    return is_voila or bool(os.environ.get("JPY_SESSION_NAME"))
