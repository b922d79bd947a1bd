"""The site's pages of the lessons: predictions as questions, and what waits for them folded.

`page` makes a page from a notebook. `revealed` runs the notebook with everything revealed, once for each version of the
package and the notebooks.
"""

import base64
import html
import itertools
import json
import logging
import re
import tempfile
import tomllib
from pathlib import Path

import blocks

from workbench.lessons import LESSONS
from workbench.reports.build import kernel_manager_class
from workbench.reports.pages import WIDGET, source
from workbench.reports.parameters import copy_data, tags
from workbench.widgets.questions import REVEAL

ROOT = Path(__file__).resolve().parent.parent
OPENING = "```{raw} html\n<details><summary>Show the result</summary>\n```"
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
    merged = []
    for cell in cells:
        text = source(cell)
        if merged and text.startswith(OPENING) and source(merged[-1]).endswith(CLOSING):
            before = source(merged[-1]).removesuffix(CLOSING)
            merged[-1] = merged[-1] | {"source": before + text.removeprefix(OPENING).lstrip()}
        else:
            merged.append(cell)
    return merged


def how_to_open(name):
    """Return the line that says how a notebook is opened; Binder needs the repository's address."""
    line = f"*To open this lesson, run `workbench lab` and choose `{name}`.*"
    if Path(name).stem in LESSONS.values():
        address = f"../lite/lab/index.html?path={name}"
        line += f' *Or <a href="{address}">run it in your browser</a>, where nothing is installed.*'
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    repository = project["urls"]["Repository"].removeprefix("https://github.com/")
    if repository == "OWNER/REPOSITORY":
        return line
    address = f"https://mybinder.org/v2/gh/{repository}/HEAD?urlpath=lab/tree/notebooks/{name}"
    return f"{line} *Or [open it on Binder]({address}).*"


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
    parts = blocks_of(scene, f"../../build/outputs/lessons/{name}", as_printed=not calls_a_view)
    if text_of(cell["outputs"]) != scene["text"]:  # it waits for a prediction
        parts = [OPENING, *parts, CLOSING]
    text = _markdown(f"{cell['id']}-shown", "\n\n".join(parts))
    return [text] if calls_a_view else [cell | {"outputs": []}, text]


def blocks_of(scene, folder, as_printed):
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
    if question := _QUESTION.fullmatch(scene["text"]):
        return [_question(question[1], question[2], scene["choices"])]
    if as_printed and not scene["pictures"] and not scene["tables"]:
        return [f"```text\n{scene['text'].rstrip()}\n```"]
    lines = scene["text"].splitlines()
    charts = [chart[1] for line in lines if (chart := _CHART.match(line))]
    texts = [line for line in lines if not _CHART.match(line) and not _REPR.match(line)]
    pictures = itertools.zip_longest(scene["pictures"], charts[: len(scene["pictures"])])
    parts = [_picture(f"{folder}/{name}", alternative or "") for name, alternative in pictures]
    parts += [_raw(f"<p>{html.escape(text)}</p>") for text in texts if text]
    parts += [_raw(table) for table in scene["tables"]]
    return parts or [_raw(f"<p>{CONTROL}</p>")]


def _question(kind, text, choices):
    task = kind.replace("Prediction", "Predict")
    listed = "".join(f"<li>{html.escape(choice)}</li>" for choice in choices)
    below = f"<ul>{listed}</ul>" if choices else ""
    return _raw(f"<p><strong>{task}:</strong> {html.escape(text)}</p>{below}")


def _picture(path, alternative):
    return f"```{{image}} {path}\n:alt: {json.dumps(alternative, ensure_ascii=False)}\n```"


def _raw(text):
    return f"```{{raw}} html\n{text}\n```"


def _markdown(name, text):
    return {"cell_type": "markdown", "id": name, "metadata": {}, "source": text}


def revealed(path):
    """Return what each scene and each code cell of a lesson shows once everything is revealed, by the cell's id.

    The result and its pictures are stored; the next call with the same package and notebooks reads them.
    """
    folder = blocks.OUTPUTS / "lessons" / path.stem
    stamp = blocks.stamp_of(path.read_text(encoding="utf-8") + Path(__file__).read_text("utf-8"))
    stored_scenes = folder / "scenes.json"
    if stored_scenes.exists():
        stored = json.loads(stored_scenes.read_text(encoding="utf-8"))
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
    stored_scenes.write_text(
        json.dumps({"stamp": stamp, "scenes": scenes}, indent=1), encoding="utf-8"
    )
    return scenes


def executed(path):
    """Return a notebook, run with everything revealed, with the states of its widgets.

    It runs in a fresh folder, where no prediction is kept.
    """
    import nbformat
    from nbclient import NotebookClient

    logging.getLogger("traitlets").setLevel(logging.WARNING)  # it tells of every kernel
    notebook = nbformat.read(path, as_version=4)
    with tempfile.TemporaryDirectory() as folder:
        copy_data(Path(folder))
        client = NotebookClient(
            notebook,
            kernel_manager_class=kernel_manager_class({REVEAL: "all"}),
            coalesce_streams=True,
            resources={"metadata": {"path": folder}},
        )
        return client.execute()


def scene_of(name, outputs, models, folder):
    """Return what the outputs of a cell show, and write its pictures.

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
    names = [f"{name}-{number}.png" for number in range(len(pictures))]
    for picture, content in zip(names, pictures, strict=True):
        (folder / picture).write_bytes(base64.b64decode(content))
    scene = {"text": text_of(outputs), "choices": [], "pictures": names, "tables": tables}
    widgets = [bundle[WIDGET]["model_id"] for bundle in bundles if WIDGET in bundle]
    for widget in descendants(widgets, models):
        scene["choices"] += widget.get("_options_labels", []) if "index" in widget else []
        value = str(widget.get("value", ""))
        if not tables and "<table" in value:
            scene["tables"] = [*scene["tables"], value]
    return scene


def text_of(outputs):
    """Return the outputs of a cell as text."""
    texts = [
        output.get("text") or output.get("data", {}).get("text/plain", "") for output in outputs
    ]
    return "\n".join("".join(text).rstrip("\n") for text in texts)


def descendants(names, models):
    """Yield the states of widgets and of the widgets inside them."""
    for name in names:
        state = models[name.removeprefix("IPY_MODEL_")]["state"]
        yield state
        yield from descendants(state.get("children", []), models)
