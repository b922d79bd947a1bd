"""The notebooks are executed, thin and tagged; nbval compares their outputs (`make test`)."""

import ast
import builtins
import dataclasses
import importlib
import inspect
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

FOLDER = Path(__file__).parent.parent / "notebooks"
PATHS = sorted(FOLDER.glob("*.ipynb"))
SOLUTIONS = sorted(FOLDER.glob("solutions/*.ipynb"))
LESSONS = PATHS[1:6]
KINDS = {"OnePeriod", "models"}  # class and attribute of what reading functions return
TAGS = {"finding", "parameters", "lesson", "exercise", "interactive", "code"}
OF_SETUP = {"np", "wb", "replay_box", "lesson", "forms"}  # what the setup cell defines


@pytest.fixture(params=PATHS, ids=lambda path: path.stem)
def notebook(request):
    return nbformat.read(request.param, as_version=4)


@pytest.fixture(params=PATHS + SOLUTIONS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def any_notebook(request):
    return nbformat.read(request.param, as_version=4)


def code(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def lines(cell):
    return [line for line in cell.source.splitlines() if line.strip()]


def test_there_are_notebooks():
    assert [path.stem for path in PATHS] == [
        "00-start",
        "01-stratified-accuracy",
        "02-brr-orthogonal-arrays",
        "03-voila-vs-neyman",
        "04-misclassification-correction",
        "05-cross-validation-t-tests",
        "06-labeling-desk",
    ]


def test_every_cell_was_executed_in_order(any_notebook):
    assert [cell.execution_count for cell in code(any_notebook)] == list(
        range(1, len(code(any_notebook)) + 1)
    )


def test_no_cell_ends_in_an_error_or_a_warning(any_notebook):
    outputs = [output for cell in code(any_notebook) for output in cell.outputs]
    assert not [o for o in outputs if o.output_type == "error" or o.get("name") == "stderr"]


def test_code_is_thin(any_notebook):
    counts = sorted(
        len(lines(cell))
        for cell in code(any_notebook)
        if "parameters" not in cell.metadata.get("tags", [])
    )
    assert counts[-1] <= 12 and counts[len(counts) // 2] <= 4
    assert not [
        cell for cell in code(any_notebook) if re.search(r"^\s*(def|class) ", cell.source, re.M)
    ]
    long = [line for cell in code(any_notebook) for line in lines(cell) if len(line) > 110]
    assert all(" # type: choice " in line and len(line) <= 130 for line in long)


def test_one_parameters_cell_of_literals_with_help(notebook):
    (cell,) = [cell for cell in code(notebook) if "parameters" in cell.metadata.get("tags", [])]
    kinds = r"(str|int|float|flag|file|output( \S+)?|column( or file)? of \w+|choice \w+( ?\| ?\w+)+|choice of [\w.]+)"
    assert all(re.fullmatch(rf"\w+ = .+  # type: {kinds}  .+", line) for line in lines(cell))


def test_its_parameters_are_read_by_the_function_that_the_metadata_names(notebook):
    module, _, function = notebook.metadata["workbench"]["read"].rpartition(".")
    read = getattr(importlib.import_module(module), function)
    (parameters,) = [
        cell for cell in code(notebook) if "parameters" in cell.metadata.get("tags", [])
    ]
    declared = dict(re.findall(r"(?m)^(\w+) = (.+?)  # type: ", parameters.source))
    call = re.search(r"\bread\((.*?)\)$", "\n".join(cell.source for cell in code(notebook)), re.M)[
        1
    ]
    if of_class := re.fullmatch(r"\*\*(\w+)\.values\(globals\(\)\)", call):
        fields = dataclasses.fields(getattr(importlib.import_module(module), of_class[1]))
        taken = {field.name: field.default for field in fields}
        assert all(type(field.default) is field.type for field in fields)
    else:
        signature = inspect.signature(read).parameters
        taken = {name: parameter.default for name, parameter in signature.items()}
        assert call == ", ".join(f"{name}={name}" for name in declared)
    defaults = {name: ast.literal_eval(default) for name, default in declared.items()}
    assert [*taken.items()] == [*defaults.items()]


def test_tags_are_known_and_report_cells_come_in_both(notebook):
    tags = {tag for cell in notebook.cells for tag in cell.metadata.get("tags", [])}
    (parameters,) = [
        cell for cell in code(notebook) if "parameters" in cell.metadata.get("tags", [])
    ]
    known = set(re.findall(r"(?m)^(\w+) = ", parameters.source))
    assert tags <= TAGS | {f"{mark}:{name}" for mark in ("if", "unless") for name in known | KINDS}
    assert any(not cell.metadata.get("tags") for cell in code(notebook))


def test_no_widget_state_no_foreign_address_no_path(any_notebook):
    text = json.dumps(any_notebook)
    assert "widgets" not in any_notebook.metadata and len(text) < 1_000_000
    assert not re.search(r"https?://(?!mybinder)", text)
    assert not re.search(r'"/(home|root|work|tmp|Users)/', text)


def test_pictures_have_words(notebook):
    pictures = [
        o.data for cell in code(notebook) for o in cell.outputs if "image/png" in o.get("data", {})
    ]
    assert all(re.match(r"Chart(View)?: .{20}", data["text/plain"]) for data in pictures)


def test_solutions_answer_every_exercise_of_their_lesson():
    assert [path.name for path in SOLUTIONS] == [path.name for path in LESSONS]
    for lesson, solution in zip(LESSONS, SOLUTIONS, strict=True):
        cells = code(nbformat.read(lesson, as_version=4))
        asked = re.findall(
            r'wb\.check\("([\d.]+)", answer\)', "\n".join(cell.source for cell in cells)
        )
        solved = [
            cell
            for cell in code(nbformat.read(solution, as_version=4))
            if "wb.check(" in cell.source
        ]
        assert (
            list(
                dict.fromkeys(
                    re.findall(
                        r'wb\.check\("([\d.]+)", ', "\n".join(cell.source for cell in solved)
                    )
                )
            )
            == asked
            != []
        )
        shown = [output.data["text/plain"] for cell in solved for output in cell.outputs]
        assert len(shown) >= len(asked) and all(" correct: " in text for text in shown)


def test_lessons_end_with_the_readers_own_data_and_begin_without_code():
    for path in LESSONS:
        cells = nbformat.read(path, as_version=4).cells
        tagged = [set(cell.metadata.get("tags", [])) for cell in cells]
        own = next(k for k, cell in enumerate(cells) if cell.source.startswith("## Your own data"))
        assert all({"lesson", "exercise", "unless:judge"} & tags for tags in tagged[1:own]), (
            "the report comes last"
        )
        report = [tags for tags in tagged[own + 2 : -2] if "code" not in tags]
        assert not any({"lesson", "exercise"} & tags for tags in report), "but for the words"
        first = next(k for k, tags in enumerate(tagged) if "interactive" in tags)
        for cell in (cell for cell in cells[:first] if cell.cell_type == "code"):
            assert cell.id == "setup" or re.match(r"lesson\.\w+\(\)", cell.source)


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_a_word_leads_to_what_it_means(path):
    """A term is linked once, its definition is the link's title, and stands among the words at the lesson's end."""
    cells = [
        cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "markdown"
    ]
    words = dict(re.findall(r"(?m)^- \*\*(.+):\*\* (.+)$", cells[-1].source))
    assert (
        cells[-2].source == "## Words"
        and len(words) >= 4
        and list(words) == sorted(words, key=str.casefold)
    )
    linked = [
        (term.strip("*").lower(), told, cell)
        for cell in cells
        for term, told in re.findall(r'\[([^\]]+)\]\(#Words "([^"]+)"\)', cell.source)
    ]
    assert sorted((term, told) for term, told, _ in linked) == sorted(
        (name.lower(), told) for name, told in words.items()
    ), path.name
    assert all({"lesson", "exercise"} & set(cell.metadata.tags) for _, _, cell in linked)


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_a_cell_needs_the_setup_cell_only(path):
    """A cell may use what the setup cell or its own scene defines, and says so."""
    made = set()
    for cell in nbformat.read(path, as_version=4).cells:
        if cell.source.startswith("## Your own data"):
            break
        if cell.cell_type == "markdown":
            made = set() if cell.source.startswith("##") else made
            continue
        if cell.id != "setup":
            assert re.search(r"(?mi)# run the setup cell first", cell.source), cell.source
        tree = [*ast.walk(ast.parse(cell.source))]
        names = [node for node in tree if isinstance(node, ast.Name)]
        made |= {node.id for node in names if isinstance(node.ctx, ast.Store)}
        made |= {node.name for node in tree if isinstance(node, ast.ExceptHandler)}
        imported = {
            node.asname or node.name.split(".")[0] for node in tree if isinstance(node, ast.alias)
        }
        assert {node.id for node in names} <= {
            *dir(builtins),
            "display",
        } | OF_SETUP | made | imported, cell.source


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_every_scene_is_a_section_and_all_but_the_first_are_folded(path):
    cells = nbformat.read(path, as_version=4).cells
    headings = [
        cell
        for cell in cells
        if cell.cell_type == "markdown" and re.search(r"(?m)^##+ ", cell.source)
    ]
    assert all(re.fullmatch("##+ .*", cell.source) for cell in headings), (
        "a heading folds the cells below its own"
    )
    folded = ["jp-MarkdownHeadingCollapsed" in cell.metadata for cell in headings]
    unfolded = folded.index(True)
    assert all(folded[unfolded:]) and 1 < unfolded + (headings[0].source[3:7] != "Part") <= 3
    assert all(
        cell.source.startswith("### ")
        for here, cell in zip(folded, headings, strict=True)
        if here
        and "Part" not in cell.source
        and cells.index(cell)
        < next(k for k, each in enumerate(cells) if each.source == "## Exercises")
    )


def test_what_waits_for_a_prediction_is_locked(notebook):
    for cell in code(notebook):
        if re.search(r"\blesson\.(reveal|seen)_|\bwb\.reveal\(", cell.source):
            assert [output.data["text/plain"] for output in cell.outputs] == [
                "Make your prediction first."
            ]


@pytest.mark.full
def test_comparison_fails_when_an_output_changes(tmp_path, kernel):
    notebook = nbformat.read(FOLDER / "00-start.ipynb", as_version=4)
    said = [
        o for cell in code(notebook) for o in cell.outputs if "It claims 96.4%" in o.get("text", "")
    ]
    said[0]["text"] = said[0]["text"].replace("96.2%", "97.2%")
    nbformat.write(notebook, tmp_path / "changed.ipynb")
    run = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "--nbval",
            "-q",
            "-W",
            "default",
            "-p",
            "no:cacheprovider",
            "-c",
            "/dev/null",
            str(tmp_path / "changed.ipynb"),
        ],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": str(FOLDER.parent)},
    )
    assert run.returncode == 1 and "97.2%" in run.stdout and "1 failed, 6 passed" in run.stdout
