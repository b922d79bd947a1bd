"""A lesson as slides: one HTML file from the text and pictures of its notebook."""

import itertools
import re
from dataclasses import dataclass, field
from typing import Any

from workbench.extras.classroom.pages import html_of, page
from workbench.reports.build import CELL_LIMIT, kernel_manager_class, run_notebook
from workbench.reports.pages import WIDGET, headings, plain, source
from workbench.reports.parameters import ReportError, find_notebook, notebook_title, tags
from workbench.widgets.questions import REVEAL

LEFT_OUT = {"solution", "parameters"}
CODE = "code"  # tag of cells with the same in code, for the speaker
SPOKEN = {"exercise", CODE}  # their outputs are not shown
REPORT = "Your own data"  # heading after the last scene of a lesson
PICTURES = ("image/png", "image/svg+xml")
_REPR = re.compile(r"\w+\(")
_LINKED = re.compile(r'\[([^\]]+)\]\(#Words "[^"]*"\)')  # a term to its definition
_ASKED = re.compile(r"Prediction: (.+)")
_SEEN = re.compile(
    r"\s*([-*+] |\d+\. |\||\$\$|>)"
)  # beginning of a list, a table, a formula or a quotation


@dataclass
class Slide:
    """A slide and its speaker's notes.

    Attributes
    ----------
    title : str
        Heading of the scene.
    shown : list of dict
        Cells with the text and outputs of the slide.
    said : list of dict
        Cells of the speaker's notes.
    """

    title: str
    shown: list[dict] = field(default_factory=list)
    said: list[dict] = field(default_factory=list)


def slides_page(lesson: str, *, reveal: bool = True) -> str:
    """Return the slides of a lesson as a self-contained page.

    Parameters
    ----------
    lesson : str
        A topic, or the path of a notebook.
    reveal : bool
        Whether to run the lesson with all answers revealed. Otherwise, the slides show the saved
        outputs of the notebook, in which answers are hidden.

    Raises
    ------
    ReportError
        If the lesson does not exist, or a cell fails.
    """
    import nbformat

    path = find_notebook(lesson)
    folder = path.parent
    title, notebook = notebook_title(path), nbformat.read(path, as_version=4)
    if reveal:
        _run(notebook, path)
    return page(
        "slides.html.j2",
        title=title,
        slides=[
            {
                "title": plain(slide.title),
                "shown": html_of(slide.shown, folder),
                "said": html_of(slide.said, folder),
            }
            for slide in slides(notebook.cells)
        ],
    )


def _run(notebook: Any, path: Any) -> Any:
    """Run a lesson in place, with all answers revealed."""
    revealed = kernel_manager_class({REVEAL: "all"})
    try:
        executed = run_notebook(
            notebook, {}, CELL_LIMIT, kernel_manager_class=revealed, cwd=str(path.parent)
        )
    except ReportError as error:
        raise ReportError(f"a cell of {path.name} failed: {error}") from error
    notebook.cells = executed.cells
    for cell in notebook.cells:
        cell["outputs"] = [
            output for output in cell.get("outputs", ()) if not _control(output.get("data", {}))
        ]


def _control(data: dict) -> bool:
    """Remove the live control from an output; return whether nothing else is left."""
    return data.pop(WIDGET, None) is not None and all(
        kind == "text/plain" and _REPR.match(text) for kind, text in data.items()
    )


def slides(cells: list[dict]) -> list[Slide]:
    """Return the slides of a notebook's cells: one per heading, per exercise and per picture.

    Slides show lists, tables, formulas and the first paragraph. Other paragraphs and the code are
    speaker's notes.
    """
    found: list[Slide] = []
    for cell in cells:
        if any(tag in LEFT_OUT or tag.startswith("if:") for tag in tags(cell)):
            continue
        if cell["cell_type"] == "markdown" and CODE in tags(cell) and found:
            found[-1].said.append(_markdown(_LINKED.sub(r"\1", source(cell))))
        elif cell["cell_type"] == "markdown":
            _add_text(found, cell)
        elif cell["cell_type"] == "code" and found:
            if cell.get("outputs") and not SPOKEN & set(tags(cell)):
                _show(found, cell | {"source": ""})
            found[-1].said.append(_markdown(f"```python\n{source(cell)}\n```"))
    for place, slide in enumerate(found):
        if not slide.shown:
            slide.shown = _contents(
                list(itertools.takewhile(lambda later: later.shown, found[place + 1 :]))
            )
    return found


def _contents(part: list[Slide]) -> list[dict]:
    """Return the content of a part's first slide: its first question and its scenes."""
    said = (
        output.get("data", {}).get("text/plain", "")
        for slide in part
        for cell in slide.shown
        for output in cell.get("outputs", ())
    )
    asked = [f"**{question[1]}**" for text in said if (question := _ASKED.match(text))]
    titles = itertools.takewhile(
        lambda title: title != REPORT, dict.fromkeys(slide.title for slide in part)
    )
    scenes = "\n".join(f"- {title}" for title in titles)
    return [_markdown(text) for text in (*asked[:1], scenes) if text]


def _add_text(found: list, cell: Any) -> None:
    for block in _blocks(_LINKED.sub(r"\1", source(cell))):
        heading = next((text for level, text in headings([_markdown(block)]) if level < 4), None)
        asked = re.match(r"\*\*\d\.\d\*\*", block)
        if heading or asked or not found:
            found.append(Slide(heading or found[-1].title if heading or found else ""))
        if heading:
            continue
        if asked or not found[-1].shown or _SEEN.match(block):
            _show(found, _markdown(block))
        else:
            found[-1].said.append(_markdown(block))


def _show(found: list, cell: dict) -> None:
    """Show a cell on the last slide, or on its own slide if either has a picture."""
    if found[-1].shown and (_drawn(cell) or any(map(_drawn, found[-1].shown))):
        found.append(Slide(found[-1].title))
    found[-1].shown.append(cell)


def _drawn(cell: dict) -> bool:
    return any(
        kind in output.get("data", {}) for output in cell.get("outputs", []) for kind in PICTURES
    )


def _blocks(text: str) -> list[str]:
    """Return the blocks of a Markdown text between blank lines; code and formulas stay whole."""
    fences = r"(?ms)^(```|~~~).*?^\1[ \t]*$|^\$\$.*?\$\$[ \t]*$"
    whole = re.sub(fences, lambda block: block[0].replace("\n\n", "\n\0"), text)
    return [
        block.replace("\0", "\n").strip("\n")
        for block in re.split(r"\n\s*\n", whole)
        if block.strip()
    ]


def _markdown(text: str) -> dict:
    return {"cell_type": "markdown", "metadata": {}, "source": text}
