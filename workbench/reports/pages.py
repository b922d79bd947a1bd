"""The cells and outputs of a notebook as the body of a self-contained HTML page.

`body` is the function to start from.
"""

from __future__ import annotations

import contextlib
import functools
import re
import types
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from markupsafe import Markup, escape

from workbench.reports import templates
from workbench.results import NOTES, alignment, vocabulary

if TYPE_CHECKING:
    import bs4

    Part = Markup | bs4.BeautifulSoup  # of a page: HTML that stays as it is, or a tree

FINDING = "finding"  # tag of the cell with the finding
WIDGET = "application/vnd.jupyter.widget-view+json"
_TITLE = re.compile(r"(?s)\s*(#[ \t][^\n]*|)(.*)")
_UNMARKED = {"a", "code", "pre", "h1", "h2", "h3", "h4", "th", "math", "figcaption", "style"}
_STEMS = {
    "PSUs": "PSU",
    "strata": "stratum",
    "thetas": "theta",
    "Wald": "wald",
    "Precision": "precision",
    "Recall": "recall",
} | {f"theta{k}": "theta" for k in range(1, 6)}
_WORDS = re.compile(
    rf"(?<![\w-])(?:{'|'.join(map(re.escape, [*_STEMS, *vocabulary.EXPLAINED]))})(?![\w-])"
)
_ESCAPE_CODE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
# tags, attributes and addresses that load something, redirect or run code
_ACTIVE = ["base", "embed", "iframe", "link", "meta", "object"]
_LOADING = {"src", "srcset", "poster", "data", "background"}
_RUNNING = ("javascript:", "vbscript:")
_PICTURES = ("image/svg+xml", "image/png", "image/jpeg")


def source(cell: Any) -> str:
    """Return a cell's text, which may be a list of lines in the file."""
    return "".join(cell.get("source", ""))


def headings(cells: list) -> Iterator[tuple]:
    """Yield level and text of the headings in Markdown cells, except in code blocks."""
    for cell in cells:
        if cell["cell_type"] == "markdown":
            text = re.sub(r"(?ms)^(```|~~~).*?^\1", "", source(cell))
            for marks, heading in re.findall(r"(?m)^ {0,3}(#{1,6})[ \t]+(.+?)[ \t#]*$", text):
                yield len(marks), heading


def last_heading(cell: Any, default: str) -> str:
    """Return the last heading of a cell without its markup, or `default` if it has none."""
    texts = [text for _, text in headings([cell])]
    return plain(texts[-1]) if texts else default


def plain(markdown: str) -> str:
    """Return a line of Markdown without its markup."""
    text = re.sub(r"!?\[(.*?)\]\(.*?\)", r"\1", markdown)
    return re.sub(r"\\([^\w\s])|[*`$]", r"\1", text).strip()


def without_escapes(text: str) -> str:
    """Return text without a terminal's color codes."""
    return _ESCAPE_CODE.sub("", text)


def one_line(text: Any) -> str:
    """Return a text or an error as one line without a terminal's color codes."""
    return " ".join(without_escapes(str(text)).split())


def body(notebook: Any, folder: Any, title: str = "", explain: bool = True) -> Any:
    """Return the parts of a page, without code.

    With `explain`, words of the vocabulary link to their explanations.

    Returns
    -------
    types.SimpleNamespace
        Its attributes are:

        - heading: HTML of `title`, or of the first heading of the notebook; may be empty
        - finding: the output of the cell tagged `finding`
        - content: everything else
        - words: the words that the page explains, with their explanations
        - messages: the text that cells wrote to stderr, with its section
    """
    finding: list[Part] = []
    content: list[Part] = []
    heading, messages, section = "", list[tuple[str, str]](), ""
    for cell in notebook.cells:
        section = last_heading(cell, section)
        if cell.cell_type == "markdown":
            text = cell.source
            if not content and not heading:
                heading, text = _TITLE.findall(text)[0]
            content.append(_markdown(text, folder=folder, attachments=cell.get("attachments")))
        stated = FINDING in cell.get("metadata", {}).get("tags", [])
        for output in cell.get("outputs", []):
            (finding if stated else content).append(_stated(output) if stated else _output(output))
            messages.extend((section, text) for text in _messages(output))
    _leave_out_repeated_notes(content)
    meanings = _explain([*finding, *content]) if explain else {}
    explained = sorted(meanings, key=str.lower)
    own_title = Markup("<h1>{}</h1>").format(title) if title and heading else ""
    return types.SimpleNamespace(
        heading=own_title or _joined([_markdown(heading)]),
        finding=_joined(finding),
        content=_joined(content),
        messages=messages,
        words=[(_anchor(word), word, meanings[word]) for word in explained],
    )


def _joined(parts: Iterable[Part]) -> Markup:
    texts = (
        part if isinstance(part, str) else part.decode(formatter=_formatter()) for part in parts
    )
    return Markup("\n".join(filter(None, texts)).replace("\0", "\ufffd"))


@functools.cache
def _formatter() -> bs4.formatter.HTMLFormatter:
    from bs4.dammit import EntitySubstitution
    from bs4.formatter import HTMLFormatter

    return HTMLFormatter(EntitySubstitution.substitute_xml, void_element_close_prefix="")


def _trees(parts: Iterable[Part]) -> Iterator[bs4.BeautifulSoup]:
    return (part for part in parts if not isinstance(part, str))


def _leave_out_repeated_notes(parts: Iterable[Part]) -> None:
    texts = set()
    for tree in _trees(parts):
        for listed in tree.find_all(class_=NOTES):
            for note in listed.find_all("li"):
                if note.get_text() in texts:
                    note.decompose()
                else:
                    texts.add(note.get_text())
            if listed.li is None:
                listed.decompose()


def _explain(parts: Iterable[Part]) -> dict[str, str]:
    """Link the first mention of each word of the vocabulary; return the words and explanations."""
    meanings: dict[str, str] = {}
    for tree in _trees(parts):
        for text in tree.find_all(string=_WORDS):
            if _UNMARKED.isdisjoint(parent.name for parent in text.parents):
                text.replace_with(*_first_mentions(text, meanings, tree))
    return meanings


def _first_mentions(
    text: str, meanings: dict[str, str], tree: bs4.BeautifulSoup
) -> Iterator[str | bs4.Tag]:
    """Yield the text in pieces, with new words as links; add these words to `meanings`."""
    end = 0
    for match in _WORDS.finditer(text):
        word = _STEMS.get(match[0], match[0])
        if word not in meanings:
            meanings[word] = vocabulary.EXPLAINED[word]
            yield text[end : match.start()]
            attributes = {"class": "word", "href": f"#{_anchor(word)}"}
            yield tree.new_tag("a", attrs=attributes, string=match[0])
            end = match.end()
    yield text[end:]


def _anchor(word: str) -> str:
    return "word-" + re.sub(r"\W+", "-", word).strip("-")


def _tree(text: str) -> bs4.BeautifulSoup:
    """Return HTML as a tree without parts that load or run something, with scrolling tables."""
    import bs4

    tree = bs4.BeautifulSoup(text, "html.parser")
    comments = tree.find_all(string=lambda string: isinstance(string, bs4.Comment))
    for part in [*comments, *tree.find_all(_ACTIVE)]:
        part.extract()
    for tag in tree.find_all(True):
        tag.attrs = {
            name: value for name, value in tag.attrs.items() if not _acts(name, "".join(value))
        }
    for table in tree.find_all("table"):
        if not table.find_parent(class_="scroll"):
            _let_scroll(table, tree)
    return tree


def _acts(name: str, value: str) -> bool:
    """Return whether an attribute loads something from outside or runs code."""
    address = "".join(value.split()).lower()
    return (
        name.startswith("on")
        or address.startswith(_RUNNING)
        or name in _LOADING
        and "//" in address
        and not address.startswith("data:")
    )


def _let_scroll(table: bs4.Tag, tree: bs4.BeautifulSoup) -> None:
    """Lay out a table like the tables of results: aligned numbers, and a caption that stays put."""
    rows = []
    for row in table.find_all("tr"):
        rows.append([cell.get_text(" ", strip=True) for cell in row.find_all(["td", "th"])])
    complete = [row for row in rows[1:] if len(row) == len(rows[0])]
    table.attrs |= alignment(zip(*complete, strict=True))
    box = table.wrap(tree.new_tag("div", attrs={"class": "scroll"}))
    if table.caption:
        figure = box.wrap(tree.new_tag("figure", attrs={"class": "table"}))
        caption = table.caption.extract()
        caption.name = "figcaption"
        figure.insert(0, caption)


def _stated(output: Any) -> Part:
    """Return an output of the cell with the finding, each printed line as a paragraph."""
    if output.output_type == "stream" and output.name == "stdout":
        lines = filter(str.strip, _text(output.text).splitlines())
        return _tree(Markup().join(map(Markup("<p>{}</p>").format, lines)))
    return _output(output)


def _messages(output: Any) -> list[str]:
    if output.output_type == "stream" and output.name == "stderr":
        text = re.sub(
            r"(?m)^\S.*?:\d+: (\w*Warning: .*)\n(?:  .*\n?)?", r"\1\n", _text(output.text)
        )
        return [text.strip()] if text.strip() else []
    data = output.get("data", {})
    bar = re.search(r"\d%\||\dit \[", data.get("text/plain", ""))
    if WIDGET in data and not bar and not _output(output):
        return ["An interactive control was left out because it has no static picture."]
    return []


def _output(output: Any) -> Part:
    if output.output_type == "stream":
        return _preformatted(output.text) if output.name == "stdout" else Markup()
    data = output.get("data", {})
    if "text/html" in data:
        tree = _tree(f'<div class="output">{data["text/html"]}</div>')
        if not tree.script:
            return tree
    if "text/markdown" in data:
        return _markdown(data["text/markdown"], trusted=False)
    for kind in _PICTURES:
        if kind in data:
            return _picture(kind, data, output.get("metadata", {}).get(kind, {}))
    if "text/latex" in data:
        return Markup(_math(data["text/latex"].strip().strip("$"), "block"))
    if "text/plain" in data and WIDGET not in data:
        return _preformatted(data["text/plain"])
    return Markup()


def _picture(kind: str, data: Any, metadata: Any) -> Markup:
    content, printed = data[kind], data.get("text/plain", "").strip()
    alternative = metadata.get("alt") or ("" if printed.startswith("<") else printed)
    return templates.picture(
        kind,
        content.encode() if kind == "image/svg+xml" else content,
        alternative or "Picture without a description",
        metadata,
    )


def _text(text: str) -> str:
    lines = without_escapes(text).replace("\r\n", "\n").split("\n")
    return "\n".join(line.rstrip("\r").rsplit("\r", 1)[-1] for line in lines)


def _preformatted(text: str) -> Markup:
    text = _text(text).rstrip()
    kind = "output" if re.search(r"\S {2,}|\t", text) else "output prose"
    return Markup('<pre class="{}">{}</pre>').format(kind, text)


def _markdown(
    source: str, *, trusted: bool = True, folder: Any = ".", attachments: Any = None
) -> bs4.BeautifulSoup:
    tools = _markdown_tools()
    renderer = tools.Renderer(
        escape=not trusted,
        allow_harmful_protocols=False,
        embed_images=trusted,
        exclude_anchor_links=True,
        path=str(folder),
        attachments=attachments,
    )
    parser = tools.Markdown(renderer, block=tools.Block(), inline=tools.Inline(hard_wrap=False))
    return _tree(parser.render(source))


@functools.cache
def _markdown_tools() -> Any:
    """Return Jupyter's Markdown parser, with formulas as MathML and dollar amounts unchanged."""
    from nbconvert.filters import markdown_mistune as mistune

    class Renderer(mistune.IPythonRenderer):
        def inline_math(self, body: str) -> str:
            return _math(body, "inline")

        def block_math(self, body: str) -> str:
            return _math(body, "block")

        def latex_environment(self, name: str, body: str) -> str:
            return _math(f"\\begin{{{name}}}{body}\\end{{{name}}}", "block")

    class Inline(mistune.MathInlineParser):
        INLINE_MATH_TEX = (
            r"(?<![$\\])\$(?!\s)(?P<math_inline_tex>(?:\\.|[^$\\`\n]|\n(?!\s*\n))+?)"
            r"(?<!\s)\$(?![\d$])"
        )
        SPECIFICATION = mistune.MathInlineParser.SPECIFICATION | {
            "inline_math_tex": INLINE_MATH_TEX
        }

    class Block(mistune.MathBlockParser):
        SPECIFICATION = mistune.MathBlockParser.SPECIFICATION | {
            "multiline_math": rf"^ {{0,3}}(?:{mistune.MathBlockParser.MULTILINE_MATH})[ \t]*$"
        }

    return types.SimpleNamespace(
        Renderer=Renderer, Inline=Inline, Block=Block, Markdown=mistune.MarkdownWithMath
    )


def _math(latex: str, display: str) -> str:
    from xml.etree import ElementTree

    from latex2mathml.converter import convert

    source = (
        re.sub(r"\b(?:aligned|align)\b", "align*", latex)
        .replace("<", r"\lt ")
        .replace(">", r"\gt ")
    )
    with contextlib.suppress(Exception):
        mathml = convert(source, display=display)
        ElementTree.fromstring(mathml)
        if "\\" not in mathml:
            return mathml
    return f'<code class="math {display}">{escape(latex.strip())}</code>'
