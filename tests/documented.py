"""What README and the pages of the site say, in one line."""

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


def said():
    """Return all text with one blank for any white space."""
    return " ".join(" ".join(path.read_text(encoding="utf-8") for path in PAGES).split())
