"""Execute the notebooks in place, without widget state, the way they are committed."""

import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient

WIDGET = "application/vnd.jupyter.widget-view+json"
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
    "voila": {"template": "workbench"},
}
NOTEBOOKS = Path(__file__).parent.parent / "notebooks"


def refresh(path):
    """Execute one notebook and write its outputs back: pictures instead of widgets that have no kernel yet."""
    notebook = nbformat.read(path, as_version=4)
    NotebookClient(
        notebook,
        store_widget_state=False,
        record_timing=False,
        coalesce_streams=True,
        resources={"metadata": {"path": str(path.parent)}},
    ).execute()
    for output in (o for cell in notebook.cells for o in cell.get("outputs", ())):
        output.get("data", {}).pop(WIDGET, None)
        output.get("metadata", {}).get("image/png", {}).pop(
            "narrow", None
        )  # reports make their own
    own = {
        name: value for name, value in notebook.metadata.items() if name == "workbench"
    }  # solutions have none
    notebook.metadata = METADATA | own
    nbformat.write(notebook, path)


if __name__ == "__main__":
    for name in sys.argv[1:] or sorted(
        [*NOTEBOOKS.glob("*.ipynb"), *NOTEBOOKS.glob("solutions/*.ipynb")]
    ):
        refresh(Path(name))
        print(name)
