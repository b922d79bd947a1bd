"""Execute the notebooks in place, without widget state, the way they are committed."""
import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient

NOTEBOOKS = Path(__file__).parent.parent / "notebooks"


def refresh(path):
    """Execute one notebook and write its outputs back, without execution times."""
    notebook = nbformat.read(path, as_version=4)
    NotebookClient(notebook, store_widget_state=False, record_timing=False,
                   resources={"metadata": {"path": str(path.parent)}}).execute()
    notebook.metadata.pop("widgets", None)
    notebook.metadata["language_info"] = {"name": "python"}
    nbformat.write(notebook, path)


if __name__ == "__main__":
    for name in sys.argv[1:] or sorted(NOTEBOOKS.glob("*.ipynb")):
        refresh(Path(name))
        print(name)
