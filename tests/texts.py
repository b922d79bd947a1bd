"""Sentences that people read: pages, docstrings, help texts, and messages in the code."""

import ast
import inspect
import re

from numpydoc.docscrape import NumpyDocString

# words of the old dialect and the term that replaces each
LEFT_OUT = {
    r"who names no": "by default",
    r"labels are worth": "effective sample size",
    r"like scores": "similar scores",
    r"own design": "the workbench's allocation",
    r"stated bounds": "known bounds",
    r"assured budget": "budget with 80% assurance",
    r"reach within which": "tolerance",
    r"how it is known": "evidence",
    r"\bhand(s|ed|ing)? out\b": "assign",
    r"\bbeside\b": "next to, in addition to",
    r"without end": "infinite",
    r"(?<!-)\btwins?\b": "synthetic stand-in",
    r"label sheets?": "annotation sheet",
    r"counted shares?": "classify-and-count estimate",
    r"price of a half": "labels needed for a given half-width",
    r"right or wrong|wrong or right": "correct or incorrect",
    r"for granted": "assumption",
    r"(people|person|those|somebody) who labels?\b": "annotators",
    r"verdicts? of (a|the|its) judge|judge's verdicts?": "judge label",
    r"\b(every|each|first|next|last|planned) looks?\b": "interim analysis",
    r"\b(is|are|was|were) said\b": "say who says it",
}
DESCRIBED = ("Parameters", "Attributes", "Returns", "Yields", "Raises", "Warns", "Methods")


def sentences(markdown):
    """Return the sentences of a page, without code, formulas, tables and headings."""
    text = re.sub(r"(?ms)^(```|~~~).*?^\1\s*$", "", markdown)
    text = re.sub(r"(?s)^\$\$.*?\$\$|<!--.*?-->", "", text, flags=re.M)
    text = re.sub(r"(?m)^> ?", "", text)  # quotations
    found = []
    for block in re.split(r"\n\s*\n", text):
        if block.lstrip().startswith(("#", "|", ":", "<", "{", "%")):
            continue
        for item in re.split(r"(?m)^\s*(?:[-*+]|\d+\.)\s+", block):
            found += _split(item)
    return found


def _split(text):
    text = re.sub(r"\s+", " ", text).strip()
    text = re.sub(r"!\[[^\]]*\]\([^)]*\)", "", text)
    text = re.sub(r"\[([^\]]+)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"\{\{[^}]*\}\}|\{\w+\}`[^`]*`|`[^`]*`|\$[^$]*\$", "X", text)
    text = re.sub(r"\b(e\.g|i\.e|cf|vs|et al|No|Fig|Eq)\.", r"\1", text)
    parts = re.split(r"(?<=[.!?:])\s+(?=[A-Z0-9\"'(*_])", text)
    lists_of_names = re.compile(r"[X(), ]+")
    return [part for part in parts if len(part.split()) > 1 and not lists_of_names.fullmatch(part)]


def lengths(markdown):
    """Return the numbers of words of a page's sentences, in order of size."""
    return sorted(len(sentence.split()) for sentence in sentences(markdown))


def prose(docstring):
    """Return a docstring as paragraphs: summary, notes, and what describes each parameter."""
    sections = NumpyDocString(inspect.cleandoc(docstring))
    described = [
        "\n".join(parameter.desc) for section in DESCRIBED for parameter in sections[section]
    ]
    texts = [sections["Summary"], sections["Extended Summary"], sections["Notes"]]
    blocks = ["\n".join(text) for text in texts] + described
    formulas = re.compile(r"(?m)^(?: {4,}\S|\.\. ).*$|(?<=:):$")
    return "\n\n".join(formulas.sub("", block) for block in blocks)


def messages(source):
    """Return the texts of at least five words in Python code: no docstrings, no lists of names."""
    tree = ast.parse(source)
    parts = {id(statement.value) for statement in ast.walk(tree) if isinstance(statement, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr == "split":
            parts.add(id(node.value))
        if isinstance(node, ast.JoinedStr):
            parts |= {id(part) for part in ast.walk(node) if part is not node}
    texts = [
        _text(node)
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant | ast.JoinedStr) and id(node) not in parts
    ]
    return [text for text in texts if len(text.split()) >= 5]


def _text(node):
    if isinstance(node, ast.JoinedStr):
        return "".join(_text(part) for part in node.values)
    return node.value if isinstance(getattr(node, "value", None), str) else "X"
