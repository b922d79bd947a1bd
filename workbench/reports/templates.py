"""Pages from templates, in which text is escaped and nothing is loaded from outside."""

import base64
import functools
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from markupsafe import Markup

from workbench.results import html_table

FOLDER = Path(__file__).parent / "template"
NARROW = "screen and (max-width: 44rem)"  # where the type of a wide picture would be too small


def render(template: str, folder: Path = FOLDER, **values: Any) -> str:
    """Return a page from a template; values that are not `Markup` are escaped.

    Parameters
    ----------
    template : str
        Name of a file in `folder` or in the folder of this subpackage. The latter has
        `base.html.j2` with head, policy and style.
    folder : Path
        Folder of the template.
    **values
        Values by their names in the template. A missing one is an error.
    """
    return _templates(folder).get_template(template).render(**values)


@functools.cache
def _templates(folder: Path) -> Any:
    import jinja2

    templates = jinja2.Environment(
        loader=jinja2.FileSystemLoader([folder, FOLDER]),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    templates.filters["table"] = table
    return templates


class UnrecordedHtml(Markup):
    """HTML that a notebook displays, but that is not among the results of its report."""

    def _repr_html_(self) -> str:
        return str(self)


def table(rows: Sequence[dict], caption: str, limit: int = sys.maxsize) -> Markup:
    """Return the first rows as an HTML table, by default all."""
    return Markup(f'<div class="output">{html_table(rows, caption, limit)}</div>')


def picture(
    kind: str, content: bytes | str, alternative: str, size: Mapping[str, Any] | None = None
) -> Markup:
    """Return a picture that is embedded in the page, with its alternative text.

    Parameters
    ----------
    kind : str
        Media type, such as image/png.
    content : bytes or str
        The picture as bytes, or as text in base64.
    alternative : str
        Alternative text.
    size : dict, optional
        `width` and `height` in pixels on screen. `narrow` holds another picture for phones by its
        kind, with its own size.
    """
    text = (
        base64.b64encode(content).decode()
        if isinstance(content, bytes)
        else "".join(content.split())
    )
    macro = _templates(FOLDER).get_template("picture.html.j2").module.picture
    return macro(kind, text, " ".join(alternative.split()), size or {}, NARROW)
