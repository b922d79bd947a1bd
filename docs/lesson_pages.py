"""The site's pages of the lessons: predictions as questions, and what waits for them folded.

`page` makes a page from a notebook. `revealed` runs the notebook with everything revealed, once for each version of the
package and the notebooks.
"""

import base64
import html
import json
import logging
import re
import tomllib
from pathlib import Path

import blocks

from workbench.lessons import LESSONS
from workbench.reports.build import kernel_manager_class
from workbench.reports.pages import WIDGET, source
from workbench.reports.parameters import tags
from workbench.widgets.questions import REVEAL

ROOT = Path(__file__).resolve().parent.parent
OPENING = "```{raw} html\n<details><summary>Show what there was to see</summary>\n```"
CLOSING = "```{raw} html\n</details>\n```"
CONTROL = "Here the lesson has a control that works in JupyterLab."
STATE = "application/vnd.jupyter.widget-state+json"
_CHART = re.compile(r"Chart(?:View)?: (.+)")
_QUESTION = re.compile(r"(Prediction|Explain in two lines): (.+)")
_REPR = re.compile(r"\w+\(")
_VIEWS = re.compile(r"\b(lesson|replay_box)\b[.(]")  # a scene that is one call, no code to read


def page(path):
    """Return the text of a lesson's page: a notebook that Sphinx reads.

    Parameters
    ----------
    path : Path
        Of the notebook.
    """
    notebook = json.loads(path.read_text(encoding="utf-8"))
    scenes = revealed(path) if path.stem in LESSONS.values() else {}
    title, *others = notebook["cells"]
    cells = [title, _markdown("open", how_to_open(path.name))]
    for cell in others:
        cells += site_cells(cell, scenes.get(cell["id"]), path.stem)
    notebook["cells"] = joined(cells)
    notebook["metadata"].pop("widgets", None)
    return json.dumps(notebook)


def joined(cells):
    """Return cells, of which folded ones that follow each other are one."""
    kept = []
    for cell in cells:
        text = source(cell)
        if kept and text.startswith(OPENING) and source(kept[-1]).endswith(CLOSING):
            before = source(kept[-1]).removesuffix(CLOSING)
            kept[-1] = kept[-1] | {"source": before + text.removeprefix(OPENING).lstrip()}
        else:
            kept.append(cell)
    return kept


def how_to_open(name):
    """Return the line that says how a notebook is opened; Binder needs the repository's address."""
    line = f"*To open this lesson, run `workbench lab` and choose `{name}`.*"
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    repository = project["urls"]["Repository"].removeprefix("https://github.com/")
    if repository == "OWNER/REPOSITORY":
        return line
    address = f"https://mybinder.org/v2/gh/{repository}/HEAD?urlpath=lab/tree/notebooks/{name}"
    return f"{line} *Or [open it on Binder]({address}), where nothing is installed.*"


def site_cells(cell, scene, name):
    """Return the cells that stand for a notebook's cell on the site.

    Parameters
    ----------
    cell : dict
    scene : dict or None
        From `revealed`; None where the cell's own outputs are shown.
    name : str
        Of the notebook, without its ending.
    """
    if cell["cell_type"] == "markdown":
        text = re.sub(r"\]\(#[^\s)]+", lambda link: link[0].lower(), source(cell))
        return [cell | {"source": text}]
    if scene is None:
        return [cell]
    calls_a_view = _VIEWS.search(source(cell)) is not None
    parts = shown(scene, f"../../build/outputs/lessons/{name}", as_printed=not calls_a_view)
    if said(cell["outputs"]) != scene["said"]:  # it waits for a prediction
        parts = [OPENING, *parts, CLOSING]
    text = _markdown(f"{cell['id']}-shown", "\n\n".join(parts))
    return [text] if calls_a_view else [cell | {"outputs": []}, text]


def shown(scene, folder, as_printed):
    """Return what stands on the page for a scene: a question, or picture, texts and tables in this order.

    Parameters
    ----------
    scene : dict
        From `revealed`.
    folder : str
        Of the pictures, as the page's links name it.
    as_printed : bool
        Whether a result without picture and table is shown as Python prints it.
    """
    if question := _QUESTION.fullmatch(scene["said"]):
        return [_question(question[1], question[2], scene["choices"])]
    if as_printed and not scene["picture"] and not scene["tables"]:
        return [f"```text\n{scene['said'].rstrip()}\n```"]
    lines = scene["said"].splitlines()
    charts = [chart[1] for line in lines if (chart := _CHART.match(line))]
    texts = [line for line in lines if not _CHART.match(line) and not _REPR.match(line)]
    parts = [_picture(f"{folder}/{scene['picture']}", charts)] if scene["picture"] else []
    parts += [_raw(f"<p>{html.escape(text)}</p>") for text in texts if text]
    parts += [_raw(table) for table in scene["tables"]]
    return parts or [_raw(f"<p>{CONTROL}</p>")]


def _question(kind, text, choices):
    asked = kind.replace("Prediction", "Predict")
    listed = "".join(f"<li>{html.escape(choice)}</li>" for choice in choices)
    below = f"<ul>{listed}</ul>" if choices else ""
    return _raw(f"<p><strong>{asked}:</strong> {html.escape(text)}</p>{below}")


def _picture(path, alternatives):
    alternative = json.dumps(alternatives[0] if alternatives else "", ensure_ascii=False)
    return f"```{{image}} {path}\n:alt: {alternative}\n```"


def _raw(text):
    return f"```{{raw}} html\n{text}\n```"


def _markdown(name, text):
    return {"cell_type": "markdown", "id": name, "metadata": {}, "source": text}


def revealed(path):
    """Return what each scene and each code cell of a lesson shows once everything is revealed, by the cell's id.

    Pictures are written beside the kept result, which the same package and notebook find again.
    """
    folder = blocks.OUTPUTS / "lessons" / path.stem
    stamp = blocks.stamp_of(path.read_text(encoding="utf-8") + Path(__file__).read_text("utf-8"))
    kept = folder / "scenes.json"
    if kept.exists():
        stored = json.loads(kept.read_text(encoding="utf-8"))
        if stored["stamp"] == stamp:
            return stored["scenes"]
    folder.mkdir(parents=True, exist_ok=True)
    notebook = executed(path)
    models = notebook.metadata.widgets[STATE]["state"]
    scenes = {
        cell.id: scene_of(cell.id, cell.outputs, models, folder)
        for cell in notebook.cells
        if cell.cell_type == "code" and "lesson" in tags(cell) and cell.outputs
    }
    kept.write_text(json.dumps({"stamp": stamp, "scenes": scenes}, indent=1), encoding="utf-8")
    return scenes


def executed(path):
    """Return a notebook, run with everything revealed, with the states of its widgets."""
    import nbformat
    from nbclient import NotebookClient

    logging.getLogger("traitlets").setLevel(logging.WARNING)  # it tells of every kernel
    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(
        notebook,
        kernel_manager_class=kernel_manager_class({REVEAL: "all"}),
        resources={"metadata": {"path": str(path.parent)}},
    )
    return client.execute()


def scene_of(name, outputs, models, folder):
    """Return what the outputs of a cell show, and write its picture.

    Parameters
    ----------
    name : str
        Of the cell.
    outputs : list of dict
    models : dict
        States of the notebook's widgets, by the widget's id.
    folder : Path
        Of the pictures.
    """
    bundles = [output.get("data", {}) for output in outputs]
    pictures = [bundle["image/png"] for bundle in bundles if "image/png" in bundle]
    tables = [bundle["text/html"] for bundle in bundles if "text/html" in bundle]
    scene = {"said": said(outputs), "choices": [], "picture": "", "tables": tables}
    if pictures:
        scene["picture"] = f"{name}.png"
        (folder / scene["picture"]).write_bytes(base64.b64decode(pictures[0]))
    widgets = [bundle[WIDGET]["model_id"] for bundle in bundles if WIDGET in bundle]
    for widget in descendants(widgets, models):
        scene["choices"] += widget.get("_options_labels", []) if "index" in widget else []
        value = str(widget.get("value", ""))
        if not tables and "<table" in value:
            scene["tables"] = [*scene["tables"], value]
    return scene


def said(outputs):
    """Return what a cell's outputs say as text."""
    texts = [
        output.get("text") or output.get("data", {}).get("text/plain", "") for output in outputs
    ]
    return "".join("".join(text) for text in texts)


def descendants(names, models):
    """Yield the states of widgets and of the widgets inside them."""
    for name in names:
        state = models[name.removeprefix("IPY_MODEL_")]["state"]
        yield state
        yield from descendants(state.get("children", []), models)
