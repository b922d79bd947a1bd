"""How the site is built: Sphinx settings, and the pages that are made from the package itself."""

import sys
from pathlib import Path

import latex2mathml.converter

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent
sys.path[:0] = [str(DOCS), str(ROOT)]

import blocks  # noqa: E402
import lesson_pages  # noqa: E402
import reference  # noqa: E402

import workbench  # noqa: E402, F401

project, author = "Evaluation workbench", "the Workbench founders"
release = version = reference.version()
extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "numpydoc"]
exclude_patterns = ["__pycache__"]
suppress_warnings = []
nitpicky = True
# types of other packages and words of docstrings; names of our own are never ignored
nitpick_ignore_regex = [(r"py:.*", r"(?!(workbench|wb)\b).*")]
default_role = "literal"
html_theme = "furo"
html_title = project
html_show_search_summary = False
html_show_sphinx = html_copy_source = False
html_static_path = ["style"]
html_css_files = ["site.css"]
html_math_renderer = "mathml"
myst_enable_extensions = ["dollarmath", "amsmath", "substitution", "deflist"]
myst_heading_anchors = 3
myst_url_schemes = ["http", "https", "mailto"]
myst_substitutions = {
    "least": {name: reference.percentages(name) for name in reference.RECORDS},
    "designs": {name: reference.design_counts(name) for name in reference.RECORDS},
}
nb_execution_mode = "off"
nb_ipywidgets_js = {}
nb_mime_priority_overrides = [
    ("html", "image/png", 5),
    ("html", "application/vnd.jupyter.widget-view+json", None),
]
autodoc_typehints = "none"
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
autosummary_generate = False
numpydoc_validation_checks = set()
html_extra_path = []


def mathml(self, node):
    """Write a formula as MathML, which needs no script."""
    display = "block" if node.tagname == "math_block" else "inline"
    self.body.append(latex2mathml.converter.convert(node.astext(), display=display))
    from docutils.nodes import SkipNode

    raise SkipNode


def add_outputs(app, name, source):
    """Put what a page's blocks gave below them."""
    if name in blocks.pages():
        source[0] = blocks.with_outputs(name, source[0])


def make_pages(app):
    """Write the pages that are made: the reference, the lessons, the records of the searches."""
    for name, text in (reference.pages() | reference.records() | reference.installed()).items():
        write(DOCS / name, text)
    for path in sorted(ROOT.glob("notebooks/0*.ipynb")):
        write(DOCS / "lessons" / path.name, lesson_pages.page(path))


def write(path, text):
    """Write a page, if it changes."""
    path.parent.mkdir(exist_ok=True)
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def setup(app):
    """Register what is made here."""
    app.connect("builder-inited", make_pages)
    app.connect("source-read", add_outputs)
    app.add_html_math_renderer("mathml", (mathml, None), (mathml, None))
