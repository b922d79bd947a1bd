"""How long lessons take, counted from what is in them: words, formulas, questions, controls, tasks, exercises.

    python tests/counted_minutes.py              # the table of notebooks/instructor/scenes.md
    python tests/counted_minutes.py --write      # and put it there

Counted, not observed: nobody was timed. Words are read at 138 a minute, at which readers who want to remember a text
read it (Carver, Reading Rate, 1990). The other rates are guesses for a student who meets the subject first: three
minutes for a formula and for two written lines, one and a half for a prediction, two for each live picture and for each
numbered task, six for an exercise.
"""

import re
import sys
from pathlib import Path

from workbench import lessons

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "notebooks" / "instructor" / "scenes.md"
WORDS_A_MINUTE = 138
MINUTES = {
    "formulas": 3,
    "predictions": 1.5,
    "written": 3,
    "controls": 2,
    "tasks": 2,
    "exercises": 6,
}
HEADER = ["lesson", "words", *MINUTES, "minutes in class", "with all exercises"]


def counts(path):
    """Return what is in a lesson, optional scenes, paper boxes and the report left out, by the names of `MINUTES`."""
    import nbformat

    cells = _of_the_class(nbformat.read(path, as_version=4).cells)
    text = "\n\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    text = re.sub(r'\]\(#Words "[^"]*"\)', "]", text)
    prose = re.sub(r"\$\$.*?\$\$|\$[^$]*\$", " ", text, flags=re.DOTALL)
    (views,) = (
        module for module in lessons.parts("views") if f".{_topic(path)}." in module.__name__
    )
    return {
        "words": len(re.findall(r"[A-Za-z]{2,}", prose)),
        "formulas": len(re.findall(r"\$\$.+?\$\$", text, re.DOTALL)),
        "predictions": sum(name.startswith("predict_") for name in vars(views)),
        "written": sum(name.startswith("explain_") for name in vars(views)),
        "controls": sum("interactive" in cell.metadata.get("tags", []) for cell in cells),
        "tasks": len(re.findall(r"(?m)^\d\. ", text)),
        "exercises": len(re.findall(r"(?m)^\*\*\d\.\d\*\*", text)),
    }


def _topic(path):
    return next(topic for topic, name in lessons.LESSONS.items() if name == path.stem)


def _of_the_class(cells):
    """Return the cells of a lesson's scenes."""
    kept, skipped = [], False
    for cell in cells:
        if cell.cell_type == "markdown" and (heading := re.search(r"(?m)^##+ (.*)", cell.source)):
            if heading[1] == "Your own data":
                break
            skipped = "(optional)" in heading[1] or heading[1].startswith("Paper box")
        kept += (
            [] if skipped or {"solution", "code"} & set(cell.metadata.get("tags", [])) else [cell]
        )
    return kept


def row(path):
    """Return a lesson's line of the table."""
    found = counts(path)
    whole = found["words"] / WORDS_A_MINUTE + sum(
        minutes * found[name] for name, minutes in MINUTES.items()
    )
    class_ = whole - MINUTES["exercises"] * max(0, found["exercises"] - 1)
    return [path.stem[1], *found.values(), round(class_), round(whole)]


def table():
    """Return the table as Markdown."""
    lines = [
        HEADER,
        ["---"] * len(HEADER),
        *map(row, sorted((ROOT / "notebooks").glob("0[1-5]*.ipynb"))),
    ]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)


if __name__ == "__main__":
    print(table())
    if "--write" in sys.argv:
        page = PAGE.read_text(encoding="utf-8")
        PAGE.write_text(
            re.sub(r"(?m)^\| lesson \| words \|(.*\n)(\|.*\n)+", table() + "\n", page),
            encoding="utf-8",
        )
