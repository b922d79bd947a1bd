"""Pages from templates: all but HTML made here is escaped, and no page asks for anything from outside."""

import base64
import functools
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from markupsafe import Markup

from workbench.results import html_table, note_list

FOLDER = Path(__file__).parent / "template"
NARROW = (
    "screen and (max-width: 44rem)"  # where a picture as wide as the page would have small type
)


def render(template: str, folder: Path = FOLDER, **values: Any) -> str:
    """Return a page; what is not `Markup` is text.

    Parameters
    ----------
    template : str
        The name of a file in `folder`, or in this room's, whose `base.html.j2` gives it head, policy and style.
    folder : Path
    **values
        By the template's names; one that is missing is an error.
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
    templates.filters |= {"notes": lambda listed: Markup(note_list(listed)), "table": table}
    return templates


def table(rows: Sequence[dict], caption: str, shown: int | None = None) -> Markup:
    """Return rows as a table of a page, all of them or the first `shown`."""
    return Markup(
        f'<div class="output">{html_table(rows, caption, len(rows) if shown is None else shown)}</div>'
    )


def picture(
    kind: str, content: bytes | str, alternative: str, size: Mapping[str, Any] | None = None
) -> Markup:
    """Return a picture that stands in the page itself, with its text alternative.

    Parameters
    ----------
    kind : str
        Such as image/png.
    content : bytes or str
        Text is base64 already.
    alternative : str
    size : dict, optional
        `width` and `height` in pixels on screen, `narrow`: another picture for phones, by its kind, with its own.
    """
    text = (
        base64.b64encode(content).decode()
        if isinstance(content, bytes)
        else "".join(content.split())
    )
    macro = _templates(FOLDER).get_template("picture.html.j2").module.picture
    return macro(kind, text, " ".join(alternative.split()), size or {}, NARROW)
