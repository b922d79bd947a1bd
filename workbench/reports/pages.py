"""A notebook's cells and outputs as the body of an HTML page that asks for nothing from outside."""
import contextlib
import functools
import html
import re
import types

WIDGET = "application/vnd.jupyter.widget-view+json"
_NUMBER = re.compile(r"[-+\u2212]?\d[\d,]*(\.\d+)?(e[-+]?\d+)?%?")
_REMOTE = re.compile(r"""(?i)(<[a-z][^<>]*\s)(?:src|srcset|poster|data)(\s*=\s*["']?\s*(?:https?:)?//)""")
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


def body(notebook, folder):
    """Return a notebook as HTML, code left out, and what its cells wrote to stderr by section."""
    parts, messages, section = [], [], ""
    for cell in notebook.cells:
        section = next((plain(text) for _, text in reversed(list(headings([cell])))), section)
        if cell.cell_type == "markdown":
            parts.append(_markdown(cell.source, folder=folder, attachments=cell.get("attachments")))
        for output in cell.get("outputs", []):
            parts.append(_output(output))
            messages.extend((section, text) for text in _messages(output))
    return _REMOTE.sub(r"\1data-left-out\2", "\n".join(filter(None, parts))), messages


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
    tables = re.sub(r"(?s)<table\b.*?</table>", lambda match: _align(match[0]), text)
    return f'<div class="output">{tables}</div>'


def _align(table):
    lines = re.findall(r"(?s)<tr\b.*?</tr>", table)
    rows = [re.findall(r"(?s)<t[dh]\b[^>]*>\s*(.*?)\s*</t[dh]>", line) for line in lines]
    columns = zip(*(row for row in rows[1:] if len(row) == len(rows[0])), strict=True)
    right = " ".join(str(k) for k, column in enumerate(columns, 1) if k > 1 and _numeric(column))
    return table.replace("<table", f'<table data-right="{right}"', 1)


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
    size = "".join(f' {side}="{int(metadata[side])}"' for side in ("width", "height") if side in metadata)
    source = f"data:{kind};base64,{''.join(content.split())}"
    return f'<figure role="img" aria-label="{alt}"><img src="{source}" alt="{alt}"{size}></figure>'


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
    return re.sub(r"(?s)<table\b.*?</table>", lambda match: _align(match[0]), parser.render(source))


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
