"""What README and the pages of the site say, in one line."""

import math
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGES = [
    ROOT / "README.md",
    *sorted(
        path
        for path in (ROOT / "docs").rglob("*.md")
        if path.relative_to(ROOT / "docs").parts[0] != "reference"
        and path.name not in ("records.md", "installed.md")
    ),
]


def floored(share):
    """Return a least proportion with three decimals, rounded down so that "at least" holds."""
    return f"{math.floor(1000 * share + 1e-9) / 1000:.3f}".removeprefix("0")


def said():
    """Return all text with one blank for any white space."""
    return " ".join(" ".join(path.read_text(encoding="utf-8") for path in PAGES).split())
