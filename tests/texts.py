"""Sentences of the pages that people read, and words that the style of the project leaves out."""

import re

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
}


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
