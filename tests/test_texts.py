"""Pages, help texts, docstrings and messages are short sentences in the terms of the field."""

import ast
import json
import re
from pathlib import Path

import pytest
import reference
import texts

from workbench.reports import parameters

ROOT = Path(__file__).parent.parent
FOLDERS = ("docs", "docs/howto", "docs/methods", "docs/evidence", "notebooks/instructor")
PAGES = [
    *(
        ROOT / name
        for name in (
            "README.md",
            "ARCHITECTURE.md",
            "CONTRIBUTING.md",
            "SECURITY.md",
            "CHANGELOG.md",
        )
    ),
    *sorted(
        page
        for folder in FOLDERS
        for page in (ROOT / folder).glob("*.md")
        if page.name != "records.md"  # a table that is made
    ),
]
SUBPACKAGES = sorted(path.parent for path in ROOT.glob("workbench/*/__init__.py"))
MEDIAN, MOST_OF_TWENTY, MOST = 18, 30, 40
FILE_FORMATS = {"plan of a label sheet"}  # written in plan files


def assert_short(sentences):
    lengths = sorted(len(sentence.split()) for sentence in sentences)
    assert not lengths or lengths[-1] <= MOST, max(sentences, key=lambda text: len(text.split()))
    if len(lengths) >= 5:
        assert lengths[len(lengths) // 2] <= MEDIAN
        assert lengths[int(0.95 * len(lengths))] <= MOST_OF_TWENTY


def left_out(text):
    prose = re.sub(r"(?ms)^```.*?^```\s*$|`[^`]*`", "", text)
    return [word for word in texts.LEFT_OUT if re.search(word, prose, re.I)]


def in_code(folder):
    """Return the docstrings and the messages of a subpackage."""
    docstrings, messages = [], []
    for path in sorted(folder.rglob("*.py")):
        source = path.read_text(encoding="utf-8")
        documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
        nodes = [node for node in ast.walk(ast.parse(source)) if isinstance(node, documented)]
        docstrings += [text for node in nodes if (text := ast.get_docstring(node))]
        messages += texts.messages(source)
    return docstrings, messages


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_pages(page):
    text = page.read_text(encoding="utf-8")
    assert_short(texts.sentences(text))
    assert left_out(text) == []


@pytest.mark.parametrize(
    "notebook", sorted(ROOT.glob("notebooks/**/*.ipynb")), ids=lambda notebook: notebook.stem
)
def test_notebooks(notebook):
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    text = "\n\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
    text = re.sub(r"(?m)^\*\*References\.\*\*.*$", "", text)
    assert_short(texts.sentences(text))
    assert left_out(text) == []


@pytest.mark.parametrize("folder", SUBPACKAGES, ids=lambda folder: folder.name)
def test_docstrings(folder):
    docstrings, _ = in_code(folder)
    prose = [texts.prose(docstring) for docstring in docstrings]
    assert_short([sentence for text in prose for sentence in texts.sentences(text)])
    assert [text for text in prose if left_out(text)] == []


@pytest.mark.parametrize("folder", SUBPACKAGES, ids=lambda folder: folder.name)
def test_messages(folder):
    _, messages = in_code(folder)
    assert_short([sentence for text in messages for sentence in texts.sentences(text)])
    assert {text for text in messages if left_out(text)} - FILE_FORMATS == set()


def test_help_texts():
    examples = re.compile(r"(?s)\x08\n.*?(?=\n\n|$)")
    helps = [examples.sub("", command.help) for _, command in reference.walk()]
    helps += [
        option.help
        for _, command in reference.walk()
        for option in command.params
        if getattr(option, "help", None)
    ]
    helps += [
        parameters.shown_help(parameter)
        for topic in parameters.topics()
        for parameter in parameters.notebook_parameters(parameters.find_notebook(topic))
    ]
    assert len(helps) > 100
    assert_short([sentence for text in helps for sentence in texts.sentences(text)])
    assert [text for text in helps if left_out(text)] == []


def test_a_long_sentence_and_a_list_are_counted():
    page = "# Title\n\nOne two. Three four five.\n\n- six seven\n- eight `code` nine\n\n| a | b |\n"
    assert texts.lengths(page) == [2, 2, 3, 3]
    assert texts.lengths(" ".join(["word"] * 41) + ".") == [41]


def test_the_prose_of_a_docstring_leaves_out_examples_and_types():
    docstring = (
        "Add.\n\nParameters\n----------\na : int\n    One of two numbers.\n\n"
        "Notes\n-----\nThe sum is\n\n    a + b.\n\nExamples\n--------\n>>> add(1, 2)\n3\n"
    )
    assert texts.prose(docstring).split() == "Add. The sum is One of two numbers.".split()


def test_messages_are_the_texts_of_code_without_docstrings():
    source = (
        'def f(n):\n    "Not this one, it is prose."\n    return f"{n} items have no label here"\n'
    )
    assert texts.messages(source) == ["X items have no label here"]
