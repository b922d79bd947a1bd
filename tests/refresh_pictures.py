"""Draw the picture that the README begins with, and write its finding into it."""

import re
from pathlib import Path

import workbench as wb
from workbench.audits.accuracy import accuracy_audit
from workbench.charts import stratified
from workbench.widgets import image

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
PICTURE = ROOT / "docs" / "stratified-accuracy.png"
LINE = re.compile(r"!\[(.*)\]\(docs/stratified-accuracy\.png\)")


def audited():
    """Return finding and chart of README's example: 5,000 payments, 100 labels."""
    data = ROOT / "notebooks" / "data"
    items = wb.read_scores(data / "my.csv", score="p", prediction="yhat", id="item")
    audit = accuracy_audit(items, labels=data / "my-labels.csv")
    return audit.finding(), stratified.finding(audit)


def main():
    """Write the picture, and the finding as its text alternative."""
    finding, chart = audited()
    PICTURE.write_bytes(image(chart).png())
    text = README.read_text(encoding="utf-8")
    README.write_text(LINE.sub(f"![{finding}](docs/{PICTURE.name})", text), encoding="utf-8")


if __name__ == "__main__":
    main()
