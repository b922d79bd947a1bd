"""A lesson as slides: one HTML file from the text and pictures of its notebook."""

import itertools
import re
from dataclasses import dataclass, field
from typing import Any

from workbench.extras.classroom.pages import html_of, markdown_cell, page
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
_QUESTION = re.compile(r"Prediction: (.+)")
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
    content : list of dict
        Cells with the text and outputs of the slide.
    notes : list of dict
        Cells of the speaker's notes.
    """

    title: str
    content: list[dict] = field(default_factory=list)
    notes: list[dict] = field(default_factory=list)


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
    title = notebook_title(path)  # refuses a file that is not a notebook
    notebook = nbformat.read(path, as_version=4)
    if reveal:
        _run(notebook, path)
    rows = [
        (plain(slide.title), html_of(slide.content, path.parent), html_of(slide.notes, path.parent))
        for slide in slides(notebook.cells)
    ]
    return page("slides.html.j2", title=title, slides=rows)


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
    result: list[Slide] = []
    for cell in cells:
        cell_tags = set(tags(cell))
        if cell_tags & LEFT_OUT or any(tag.startswith("if:") for tag in cell_tags):
            continue
        text = source(cell)
        if cell["cell_type"] == "markdown":
            text = _LINKED.sub(r"\1", text)
            if CODE in cell_tags and result:
                result[-1].notes.append(markdown_cell(text))
            else:
                _add_text(result, text)
        elif cell["cell_type"] == "code" and result:
            if cell.get("outputs") and not cell_tags & SPOKEN:
                _add_content(result, cell | {"source": ""})
            result[-1].notes.append(markdown_cell(f"```python\n{text}\n```"))
    for index, slide in enumerate(result):
        if not slide.content:
            later = itertools.takewhile(lambda other: other.content, result[index + 1 :])
            slide.content = _contents(list(later))
    return result


def _contents(part: list[Slide]) -> list[dict]:
    """Return the content of a part's first slide: its first question and its scenes."""
    cells = [cell for slide in part for cell in slide.content]
    texts = [output["data"].get("text/plain", "") for cell in cells for output in _with_data(cell)]
    questions = [f"**{match[1]}**" for match in map(_QUESTION.match, texts) if match]
    titles = dict.fromkeys(slide.title for slide in part)
    scenes = [f"- {title}" for title in itertools.takewhile(REPORT.__ne__, titles)]
    return [markdown_cell(text) for text in (*questions[:1], "\n".join(scenes)) if text]


def _with_data(cell: dict) -> list[dict]:
    """Return the outputs of a cell that have data."""
    return [output for output in cell.get("outputs", ()) if "data" in output]


def _add_text(result: list[Slide], text: str) -> None:
    """Add a text to the slides; a heading or an exercise begins a new one."""
    for block in _blocks(text):
        heading = next(
            (title for level, title in headings([markdown_cell(block)]) if level < 4), None
        )
        is_exercise = re.match(r"\*\*\d\.\d\*\*", block)
        if heading or is_exercise or not result:
            previous = result[-1].title if result else ""
            result.append(Slide(heading or previous))
        if heading:
            continue
        if is_exercise or not result[-1].content or _SEEN.match(block):
            _add_content(result, markdown_cell(block))
        else:
            result[-1].notes.append(markdown_cell(block))


def _add_content(result: list[Slide], cell: dict) -> None:
    """Show a cell on the last slide, or on its own slide if either has a picture."""
    slide = result[-1]
    if slide.content and any(map(_has_picture, [cell, *slide.content])):
        slide = Slide(slide.title)
        result.append(slide)
    slide.content.append(cell)


def _has_picture(cell: dict) -> bool:
    return any(not output["data"].keys().isdisjoint(PICTURES) for output in _with_data(cell))


def _blocks(text: str) -> list[str]:
    """Return the blocks of a Markdown text between blank lines; code and formulas stay whole."""
    fences = r"(?ms)^(```|~~~).*?^\1[ \t]*$|^\$\$.*?\$\$[ \t]*$"
    joined = re.sub(fences, lambda block: block[0].replace("\n\n", "\n\0"), text)
    blocks = [block.replace("\0", "\n").strip("\n") for block in re.split(r"\n\s*\n", joined)]
    return [block for block in blocks if block.strip()]
