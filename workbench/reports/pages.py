"""A notebook's cells and outputs as the body of an HTML page that asks for nothing from outside."""
import contextlib
import functools
import html
import re
import types

from workbench import vocabulary

FINDING = "finding"     # the tag of the cell that states it
WIDGET = "application/vnd.jupyter.widget-view+json"
_NUMBER = re.compile(r"(?:&[lg]t; )?[-+\u2212]?\d[\d,]*(\.\d+)?(e[-+]?\d+)?%?")
_REMOTE = re.compile(r"""(?i)(<[a-z][^<>]*\s)(?:src|srcset|poster|data)(\s*=\s*["']?\s*(?:https?:)?//)""")
SHORT = 12              # letters of a cell that stay in a line
NARROW = "screen and (max-width: 44rem)"       # where a picture as wide as the page would have small type
_TITLE = re.compile(r"(?s)\s*(#[ \t][^\n]*|)(.*)")
_UNMARKED = {"a", "code", "pre", "h1", "h2", "h3", "h4", "th", "math", "figcaption", "style"}
_STEMS = {"PSUs": "PSU", "strata": "stratum", "thetas": "theta", "Wald": "wald", "Precision": "precision",
          "Recall": "recall"} | {f"theta{k}": "theta" for k in range(1, 6)}
_WORDS = re.compile(rf"(?<![\w-])(?:{'|'.join(map(re.escape, [*_STEMS, *vocabulary.EXPLAINED]))})(?![\w-])")
_ESCAPE_CODE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def source(cell):
    """Return a cell's text, which a file may hold as a list of lines."""
    return "".join(cell.get("source", ""))


def headings(cells):
    """Yield level and text of the headings in Markdown cells, outside of code blocks."""
    for cell in cells:
        if cell["cell_type"] == "markdown":
            text = re.sub(r"(?ms)^(```|~~~).*?^\1", "", source(cell))
            for marks, heading in re.findall(r"(?m)^ {0,3}(#{1,6})[ \t]+(.+?)[ \t#]*$", text):
                yield len(marks), heading


def plain(markdown):
    """Return a line of Markdown without its marks."""
    text = re.sub(r"!?\[(.*?)\]\(.*?\)", r"\1", markdown)
    return re.sub(r"\\([^\w\s])|[*`$]", r"\1", text).strip()


def without_escapes(text):
    """Return text without a terminal's color codes."""
    return _ESCAPE_CODE.sub("", text)


def one_line(text):
    """Return a text or an error as one line without a terminal's color codes."""
    return " ".join(without_escapes(str(text)).split())


def body(notebook, folder, title="", explain=True):
    """Return what a page is made of, code left out; without `explain` no word leads to what it means.

    Returns
    -------
    types.SimpleNamespace
        heading (HTML of `title`, else of the heading that the notebook begins with; empty where it begins with none),
        finding (what the cell tagged `finding` shows), content (all else), words (that the page explains, with what
        they mean) and messages (what cells wrote to stderr, by section).
    """
    heading, finding, parts, messages, section = "", [], [], [], ""
    for cell in notebook.cells:
        section = next((plain(text) for _, text in reversed(list(headings([cell])))), section)
        if cell.cell_type == "markdown":
            first, text = _TITLE.match(cell.source).groups() if not parts and not heading else ("", cell.source)
            heading = first or heading
            parts.append(_markdown(text, folder=folder, attachments=cell.get("attachments")))
        stated = FINDING in cell.get("metadata", {}).get("tags", [])
        for output in cell.get("outputs", []):
            (finding if stated else parts).append(_stated(output) if stated else _output(output))
            messages.extend((section, text) for text in _messages(output))
    answer, rest = ("\n".join(filter(None, found)).replace("\0", "\ufffd") for found in (finding, parts))
    page = f"{answer}\0{_notes_once(rest)}"
    marked, words = _explained(page) if explain else (page, [])
    answer, rest = _REMOTE.sub(r"\1data-left-out\2", marked).split("\0")
    heading = f"<h1>{html.escape(title)}</h1>" if title and heading else _markdown(heading)
    return types.SimpleNamespace(heading=heading, finding=answer, content=rest, words=words, messages=messages)


def _notes_once(content):
    """Return a page on which no note of a list is said twice."""
    said = set()

    def once(match):
        fresh = [note for note in re.findall(r"(?s)<li>.*?</li>", match[1]) if note not in said]
        said.update(fresh)
        return f"<p>Notes:</p><ul>{''.join(fresh)}</ul>" if fresh else ""

    return re.sub(r"(?s)<p>Notes:</p><ul>(.*?)</ul>", once, content)


def _explained(page):
    """Return a page whose first mention of each word of the vocabulary leads to what it means, and these words."""
    words, inside, pieces = {}, [], re.split(r"(<[^>]*>)", page)
    for place, piece in enumerate(pieces):
        tag = re.match(r"<(/?)(\w+)", piece) if place % 2 else None
        if tag and tag[2] in _UNMARKED:
            inside = inside[:-1] if tag[1] else [*inside, tag[2]]
        elif not place % 2 and not inside:
            pieces[place] = _WORDS.sub(functools.partial(_first_mention, words), piece)
    return "".join(pieces), [(_place(word), word, words[word]) for word in sorted(words, key=str.lower)]


def _first_mention(words, match):
    word = _STEMS.get(match[0], match[0])
    if word in words:
        return match[0]
    words[word] = vocabulary.EXPLAINED[word]
    return f'<a class="word" href="#{_place(word)}">{match[0]}</a>'


def _place(word):
    return "word-" + re.sub(r"\W+", "-", word).strip("-")


def _stated(output):
    """Return an output of the finding's cell: each printed line is a paragraph."""
    if output.output_type == "stream" and output.name == "stdout":
        return "".join(f"<p>{html.escape(line)}</p>" for line in _text(output.text).splitlines() if line.strip())
    return _output(output)


def _messages(output):
    if output.output_type == "stream" and output.name == "stderr":
        text = re.sub(r"(?m)^\S.*?:\d+: (\w*Warning: .*)\n(?:  .*\n?)?", r"\1\n", _text(output.text))
        return [text.strip()] if text.strip() else []
    data = output.get("data", {})
    bar = re.search(r"\d%\||\dit \[", data.get("text/plain", ""))
    if WIDGET in data and not bar and not _output(output):
        return ["An interactive control without a static picture was left out."]
    return []


def _output(output):
    if output.output_type == "stream":
        return _preformatted(output.text) if output.name == "stdout" else ""
    data = dict(output.get("data", {}))
    if "<script" in data.get("text/html", "").lower():
        del data["text/html"]
    if WIDGET in data and not data.keys() & _SHOW.keys() - {"text/plain"}:
        return ""
    kind = next((kind for kind in _SHOW if kind in data), None)
    return _SHOW[kind](data[kind], data, output.get("metadata", {}).get(kind, {})) if kind else ""


def _html_output(text, data, metadata):
    return f'<div class="output">{_tables(text)}</div>'


def _tables(page):
    """Return a page whose tables alone scroll: what stands above a table stays where it is."""
    return re.sub(r"(?s)<table\b.*?</table>", lambda match: _scrolling(_align(match[0])), page)


def _scrolling(table):
    caption = re.search(r"(?s)<caption>(.*?)</caption>", table)
    if not caption:
        return f'<div class="scroll">{table}</div>'
    rest = table.replace(caption[0], "", 1)
    return f'<figure class="table"><figcaption>{caption[1]}</figcaption><div class="scroll">{rest}</div></figure>'


def _align(table):
    lines = re.findall(r"(?s)<tr\b.*?</tr>", table)
    rows = [re.findall(r"(?s)<t[dh]\b[^>]*>\s*(.*?)\s*</t[dh]>", line) for line in lines]
    columns = list(enumerate(zip(*(row for row in rows[1:] if len(row) == len(rows[0])), strict=True), 1))
    right = " ".join(str(k) for k, column in columns if k > 1 and _numeric(column))
    short = " ".join(str(k) for k, column in columns if max(map(len, column)) <= SHORT)
    return table.replace("<table", f'<table data-right="{right}" data-short="{short}"', 1)


def _numeric(entries):
    filled = list(filter(None, entries))
    return bool(filled) and all(map(_NUMBER.fullmatch, filled))


def _picture(content, data, metadata, *, kind):
    import base64
    plain = data.get("text/plain", "")
    alternative = re.sub(r"(?s)^Chart(View)?: *", "", plain).strip()
    if not alternative or alternative.startswith("<"):
        alternative = "Picture without a description"
    if kind == "image/svg+xml":
        content = base64.b64encode(content.encode()).decode()
    alt = html.escape(" ".join(alternative.split()))
    image = f'<img src="{_address(kind, content)}" alt="{alt}"{_size(metadata)}>'
    narrow = metadata.get("narrow", {})
    if kind in narrow:
        image = (f'<picture><source media="{NARROW}" srcset="{_address(kind, narrow[kind])}"{_size(narrow)}>{image}'
                 "</picture>")
    return f"<figure>{image}</figure>"


def _address(kind, content):
    return f"data:{kind};base64,{''.join(content.split())}"


def _size(metadata):
    return "".join(f' {side}="{int(metadata[side])}"' for side in ("width", "height") if side in metadata)


def _text(text):
    lines = without_escapes(text).replace("\r\n", "\n").split("\n")
    return "\n".join(line.rstrip("\r").rsplit("\r", 1)[-1] for line in lines)


def _preformatted(text, data=None, metadata=None):
    text = _text(text).rstrip()
    kind = "output" if re.search(r"\S {2,}|\t", text) else "output prose"
    return f'<pre class="{kind}">{html.escape(text)}</pre>'


def _math_output(text, data, metadata):
    return _math(text.strip().strip("$"), "block")


_SHOW = {
    "text/html": _html_output,
    "text/markdown": lambda text, data, metadata: _markdown(text, trusted=False),
    **{kind: functools.partial(_picture, kind=kind) for kind in ("image/svg+xml", "image/png", "image/jpeg")},
    "text/latex": _math_output,
    "text/plain": _preformatted,
}


def _markdown(source, *, trusted=True, folder=".", attachments=None):
    tools = _markdown_tools()
    renderer = tools.Renderer(escape=not trusted, allow_harmful_protocols=False, embed_images=trusted,
                              exclude_anchor_links=True, path=str(folder), attachments=attachments)
    parser = tools.Markdown(renderer, block=tools.Block(), inline=tools.Inline(hard_wrap=False))
    return _tables(parser.render(source))


@functools.cache
def _markdown_tools():
    """Return Jupyter's Markdown with mathematics as MathML and amounts of dollars left alone."""
    from nbconvert.filters import markdown_mistune as mistune

    class Renderer(mistune.IPythonRenderer):
        def inline_math(self, body):
            return _math(body, "inline")

        def block_math(self, body):
            return _math(body, "block")

        def latex_environment(self, name, body):
            return _math(f"\\begin{{{name}}}{body}\\end{{{name}}}", "block")

    class Inline(mistune.MathInlineParser):
        INLINE_MATH_TEX = (r"(?<![$\\])\$(?!\s)(?P<math_inline_tex>(?:\\.|[^$\\`\n]|\n(?!\s*\n))+?)"
                           r"(?<!\s)\$(?![\d$])")
        SPECIFICATION = mistune.MathInlineParser.SPECIFICATION | {"inline_math_tex": INLINE_MATH_TEX}

    class Block(mistune.MathBlockParser):
        SPECIFICATION = mistune.MathBlockParser.SPECIFICATION | {
            "multiline_math": rf"^ {{0,3}}(?:{mistune.MathBlockParser.MULTILINE_MATH})[ \t]*$"}

    return types.SimpleNamespace(Renderer=Renderer, Inline=Inline, Block=Block,
                                 Markdown=mistune.MarkdownWithMath)


def _math(latex, display):
    from xml.etree import ElementTree

    from latex2mathml.converter import convert
    source = re.sub(r"\b(?:aligned|align)\b", "align*", latex).replace("<", r"\lt ").replace(">", r"\gt ")
    with contextlib.suppress(Exception):
        mathml = convert(source, display=display)
        ElementTree.fromstring(mathml)
        if "\\" not in mathml:
            return mathml
    return f'<code class="math {display}">{html.escape(latex.strip())}</code>'
