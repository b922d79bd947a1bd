import base64
import contextlib
import functools
import hashlib
import http.server
import json
import os
import re
import tempfile
import threading
import warnings
from pathlib import Path
from unittest import mock

import nbformat
import pytest
from command import no_kernel
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from workbench.reports import pages, parameters
from workbench.reports.build import ReportWarning, build_report
from workbench.reports.parameters import ReportError, notebook_parameters

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
EXTERNAL = re.compile(
    r"""(?:src|<link[^>]*href)\s*=\s*["']?\s*(?:https?:)?//|@import|url\(|<script""", re.I
)

PARAMETERS = """\
scores = ""  # type: file  what is scored; empty: level = none
score = "score"  # type: column of scores  the confidence
labels = ""  # type: file  labels
truth = ""  # type: column of scores  the true class
label_sheet = ""  # type: output -labels.csv  the items to label
budget = 100  # type: int  labels you can afford
level = 0.95  # type: float  confidence level
drift = False  # type: flag  expect drift
rule = "best"  # type: choice best | worst
shares: list = [1, 2]
note = "a # b"
seed = 0
"""
PICTURE = f"""\
class ChartView:
    def _repr_mimebundle_(self, include=None, exclude=None):
        return {{"image/png": {PIXEL!r}, "text/plain": "ChartView: it rises",
                "application/vnd.jupyter.widget-view+json": {{"model_id": "a", "version_major": 2}}}}, {{
                    "image/png": {{"alt": 'rises "from" <1> to 2'}}}}
ChartView()
"""


TYPES = (
    "int, float, bool, str, list, dict, tuple, file, output, flag, column of NAME, column or file of NAME, "
    "choice A | B, choice of MODULE.NAMES"
)


def code(source, *tags):
    return new_code_cell(source, metadata={"tags": list(tags)})


def text(source, *tags):
    return new_markdown_cell(source, metadata={"tags": list(tags)})


@pytest.fixture(autouse=True)
def where(request):
    """Run the cells in this process, unless a test is about the kernel."""
    with contextlib.nullcontext() if "kernel" in request.fixturenames else no_kernel():
        yield


@pytest.fixture
def notebook(tmp_path, monkeypatch):
    """Write a notebook of the given cells, with a parameters cell, and work beside it."""
    monkeypatch.chdir(tmp_path)

    def write(*cells, parameters=PARAMETERS, name="01-demo.ipynb"):
        cells = [text("# How *good* is $x$?"), code(parameters, "parameters"), *cells]
        nbformat.write(new_notebook(cells=cells), tmp_path / name)
        return tmp_path / name

    return write


@pytest.fixture
def scores(tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text("id,confidence\n1,0.5\n2,0.75\n")
    return path


def build(path, *, output="r.html", **parameters):
    return build_report(path, parameters, output, progress=False).read_text(encoding="utf-8")


def written():
    """Return all files here but those that Python keeps of what it imported."""
    return {
        file: file.read_bytes()
        for file in Path(".").rglob("*")
        if file.is_file() and file.suffix != ".pyc"
    }


def refused(path, *, output="r.html", **parameters):
    """Return the one-line message; nothing may have been run or written."""
    before = written()
    with pytest.raises(ReportError) as caught:
        build(path, output=output, **parameters)
    assert written() == before
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_parameters_are_read_with_type_default_and_help(notebook):
    found = {each.pop("name"): each for each in notebook_parameters(notebook())}
    plain = {"role": None, "detail": None}
    assert found["scores"] == {
        "type": "str",
        "default": "",
        "help": "what is scored; empty: level = none",
        "role": "file",
        "detail": None,
    }
    assert found["score"] == {
        "type": "str",
        "default": "score",
        "help": "the confidence",
        "role": "column",
        "detail": "scores",
    }
    assert found["label_sheet"] == {
        "type": "str",
        "default": "",
        "help": "the items to label",
        "role": "output",
        "detail": "-labels.csv",
    }
    assert found["drift"] == {
        "type": "bool",
        "default": False,
        "help": "expect drift",
        "role": "flag",
        "detail": None,
    }
    assert found["rule"] == {
        "type": "str",
        "default": "best",
        "help": "",
        "role": "choice",
        "detail": ("best", "worst"),
    }
    assert found["shares"] == {"type": "list", "default": [1, 2], "help": "", **plain}
    assert found["note"] == {"type": "str", "default": "a # b", "help": "", **plain}
    assert found["seed"]["type"] == "int"


def test_only_the_type_says_what_a_parameter_is(notebook):
    """The help may begin as it likes."""
    path = notebook(
        parameters='a = ""  # type: str  file of scores\nb = ""  # column of a: the score\n'
        'c = ""  # type: str  where to write it\nd = []  # type: list\n'
    )
    assert [(each["type"], each["role"], each["help"]) for each in notebook_parameters(path)] == [
        ("str", None, "file of scores"),
        ("str", None, "column of a: the score"),
        ("str", None, "where to write it"),
        ("list", None, ""),
    ]
    assert "<h1" in build(path, a="nowhere.csv", b="q", c="no/r.csv")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            "n = 1  # type: int number of items",
            f"n has the type 'int number of items'; use {TYPES}, with two spaces before the help",
        ),
        (
            "n = ''  # type: fiel  scores",
            f"n has the type 'fiel'; use {TYPES}, with two spaces before the help",
        ),
        (
            "n = ''  # type: choice a  scores",
            f"n has the type 'choice a'; use {TYPES}, with two spaces before the help",
        ),
        ("n = 'c'  # type: choice a | b  q", "n must be one of a, b; got 'c'"),
        (
            "n = 1  # type: flag  q",
            "n has the type 'flag', so its default must be true or false; got 1",
        ),
        (
            "n = 1  # type: file  scores",
            "n has the type 'file', so its default must be text; got 1",
        ),
        (
            "n = None  # type: column of s  q",
            "n has the type 'column of s', so its default must be text; got None",
        ),
        (
            "n = ''  # type: column of s  q",
            "n is a column of 's', but 's' is not a parameter of type file",
        ),
    ],
)
def test_a_type_that_is_none_is_refused(notebook, line, message):
    assert refused(notebook(parameters=line)) == f"01-demo.ipynb: parameter {message}"


def test_a_parameter_that_is_no_literal_is_refused(notebook):
    path = notebook(parameters="import os\nhome = os.getcwd()\n")
    assert refused(path) == "01-demo.ipynb: parameter home is not a plain literal"
    path = notebook(parameters="a = 1\nb = = 2\n")
    assert refused(path) == "01-demo.ipynb: line 2 of the parameters cell: invalid syntax"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            {"buget": 4},
            "no parameter 'buget' (did you mean 'budget'?); parameters: scores, score, labels, truth, "
            "label_sheet, budget, level, drift, rule, shares, note, seed",
        ),
        ({"budget": "abc"}, "budget must be a whole number; got 'abc'"),
        ({"budget": "4.0"}, "budget must be a whole number; got '4.0'"),
        ({"budget": "1_000"}, "budget must be a whole number; got '1_000'"),
        ({"budget": 4.5}, "budget must be a whole number; got 4.5"),
        ({"budget": True}, "budget must be a whole number; got True"),
        ({"budget": None}, "budget must be a whole number; got None"),
        ({"level": "nan"}, "level must be a finite number; got 'nan'"),
        ({"level": "1e999"}, "level must be a finite number; got inf"),
        ({"level": float("nan")}, "level must be a finite number; got nan"),
        ({"drift": "yes"}, "drift must be true or false; got 'yes'"),
        ({"shares": "1,2"}, "shares must be a list; got '1,2'"),
        ({"score": 7}, "score must be text; got 7; quote it: '7'"),
        (
            {"rule": "bets"},
            "rule must be one of 'best', 'worst'; got 'bets' (did you mean 'best'?)",
        ),
        ({"rule": 1}, "rule must be text; got 1; quote it: '1'"),
        ({"scores": "score.csv"}, "scores: no such file: 'score.csv' (did you mean 'scores.csv'?)"),
        (
            {"scores": "scores.csv"},
            "score is 'score', but scores.csv has no such column; columns: id, confidence",
        ),
        (
            {"scores": "scores.csv", "score": "confidense"},
            "score is 'confidense', but scores.csv has no such column (did you mean 'confidence'?); columns: id, confidence",
        ),
    ],
)
def test_wrong_parameters_are_refused_before_the_run(notebook, scores, given, message):
    assert refused(notebook(code("open('ran', 'w')")), **given) == message


def test_an_unreadable_file_is_refused(notebook, tmp_path):
    (tmp_path / "scores.xlsx").write_bytes(b"PK\x03\x04")
    assert refused(notebook(), scores="scores.xlsx").startswith(
        "scores: 'scores.xlsx' cannot be read as a workbook: "
    )


@pytest.mark.parametrize(
    ("output", "message"),
    [
        ("r.pdf", "output must end in .html; got 'r.pdf'"),
        ("no/r.html", "output folder 'no' does not exist; create it first"),
        ("d.html", "output 'd.html' is a folder"),
        ("a\0.html", "output 'a\\x00.html' cannot be written: embedded null byte"),
        (f"{'r' * 300}.html", f"output '{'r' * 300}.html' cannot be written: File name too long"),
        (
            "~nobody-of-this-name/r.html",
            "output folder '~nobody-of-this-name' does not exist; create it first",
        ),
    ],
)
def test_wrong_outputs_are_refused(notebook, tmp_path, output, message):
    (tmp_path / "d.html").mkdir()
    assert refused(notebook(), output=output) == message


def test_a_folder_that_cannot_be_written_to_is_told_before_the_run(notebook, monkeypatch):
    def full(**details):
        raise OSError(30, "Read-only file system")

    path = notebook(code("open('ran', 'w')"))
    monkeypatch.setattr(tempfile, "TemporaryFile", full)
    assert refused(path) == "output folder '.' cannot be written to: Read-only file system"


def test_a_folder_that_turns_read_only_is_one_line(notebook, monkeypatch):
    def refuse(self, *details, **more):
        raise OSError(30, "Read-only file system")

    def turn(*details):
        monkeypatch.setattr(Path, "write_text", refuse)
        monkeypatch.setattr(Path, "unlink", refuse)
        return "", []

    monkeypatch.setattr("workbench.reports.build._page", turn)
    assert refused(notebook(code("1"))) == "cannot write 'r.html': Read-only file system"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"label_sheet": "no/l.csv"}, "label_sheet: folder 'no' does not exist; create it first"),
        ({"label_sheet": "folder.csv"}, "label_sheet: 'folder.csv' is a folder"),
        (
            {"label_sheet": f"{'l' * 300}.csv"},
            f"label_sheet: '{'l' * 300}.csv' cannot be written: File name too long",
        ),
        (
            {"label_sheet": "l\0.csv"},
            "label_sheet: 'l\\x00.csv' cannot be written: embedded null byte",
        ),
        ({"scores": f"{'s' * 300}.csv"}, f"scores: no such file: '{'s' * 300}.csv'"),
        ({"scores": "s\0.csv"}, "scores: no such file: 's\\x00.csv' (did you mean 'scores.csv'?)"),
        ({"scores": "a\0/s.csv"}, "scores: no such file: 'a\\x00/s.csv'"),
    ],
)
def test_impossible_file_names_are_refused(notebook, scores, tmp_path, given, message):
    (tmp_path / "folder.csv").mkdir()
    assert refused(notebook(code("open('ran', 'w')")), **given) == message


def test_long_names_of_reports_and_long_texts_are_no_problem(notebook, tmp_path):
    """A text that is no file is not looked up as one, and what is written for the time being has a short name."""
    text = ", ".join(f"stratum {k}=stratum {k + 1}" for k in range(30))
    output = f"{'r' * 245}.html"
    path = notebook(code("print(note)"))
    assert f">{text}</pre>" in build(path, output=output, note=text, label_sheet="s.csv")
    assert sorted(file.name for file in tmp_path.iterdir()) == ["01-demo.ipynb", output]
    (tmp_path / "file.txt").write_text("x")
    assert "None. The report uses the example data of the notebook." in build(path, note="file.txt")


def test_many_columns_are_cut(notebook, tmp_path):
    (tmp_path / "s.csv").write_text(",".join(f"c{k}" for k in range(20_000)) + "\n")
    listed = ", ".join(f"c{k}" for k in range(20))
    message = f"score is 'q', but s.csv has no such column; columns: {listed} and 19,980 more"
    assert refused(notebook(), scores="s.csv", score="q") == message


def test_wrong_topics_are_refused(notebook, tmp_path):
    path = notebook()
    notebook(name="00-start.ipynb", parameters="x = 1")
    with pytest.raises(
        ReportError, match=r"^no topic 'dmo' \(did you mean 'demo'\?\); topics: start, demo$"
    ):
        build_report("dmo", notebooks=tmp_path)
    assert parameters.find_notebook("demo", tmp_path) == path
    assert refused("x.ipynb") == "notebook 'x.ipynb' does not exist"
    assert refused(f"{'x' * 300}.ipynb") == f"notebook '{'x' * 300}.ipynb' does not exist"
    assert refused("x\0.ipynb") == "notebook 'x\\x00.ipynb' does not exist"
    (tmp_path / "y.ipynb").write_text("[]")
    assert refused("y.ipynb") == "'y.ipynb' is not a notebook of format 4"
    nbformat.write(new_notebook(), tmp_path / "z.ipynb")
    assert (
        refused("z.ipynb")
        == "z.ipynb has no cell tagged 'parameters'; tag the cell that sets the parameters"
    )


def test_topics_are_the_notebooks_with_parameters(notebook, tmp_path):
    path = notebook()
    nbformat.write(new_notebook(), tmp_path / "00-start.ipynb")
    assert parameters.topics(tmp_path) == {"demo": path}
    assert parameters.notebook_title(path) == "How good is x?"


def test_text_values_arrive_as_their_types(notebook, kernel):
    shown = build(
        notebook(code("print([budget, level, drift, shares, note])")),
        budget="007",
        level="9e-1",
        drift="True",
        shares="[3]",
        note="{x}",
    )
    assert "[7, 0.9, True, [3], &#39;{x}&#39;]" in shown


def test_a_failing_cell_is_one_line_and_the_old_report_stays(notebook, tmp_path, kernel):
    (tmp_path / "r.html").write_text("old")
    path = notebook(
        code("print('half')"), code("raise ValueError(f'budget must be\\nat most {level}')")
    )
    assert refused(path) == "budget must be at most 0.95"
    assert refused(notebook(code("1 / 0"))) == "ZeroDivisionError: division by zero"
    assert (
        refused(notebook(code("raise SystemExit"))) == "the notebook stopped before its last cell"
    )
    assert refused(notebook(code("import os; os._exit(1)"))).startswith(
        "the run was killed before it finished"
    )


def test_tagged_cells_are_neither_run_nor_shown(notebook, tmp_path):
    left_out = ("lesson", "exercise", "solution", "interactive")
    cells = [text(f"secret {tag}", tag) for tag in left_out]
    cells += [code(f"open({tag!r}, 'w'); print('secret {tag}')", tag) for tag in left_out]
    shown = build(notebook(*cells, text("kept")))
    assert "kept" in shown and "secret" not in shown
    assert not [tag for tag in left_out if (tmp_path / tag).exists()]


@pytest.mark.parametrize(("drift", "kept"), [(True, "with"), (False, "without")])
def test_cells_for_a_parameter_stand_only_where_it_is_given_or_is_not(notebook, drift, kept):
    cells = [
        text("story with", "if:drift"),
        text("story without", "unless:drift"),
        text("never", "if:drift", "lesson"),
    ]
    shown = build(notebook(*cells), drift=drift)
    assert re.findall(r"story \w+", shown) == [f"story {kept}"] and "never" not in shown
    assert refused(notebook(text("a", "if:dirft"))) == (
        "a cell has a tag for parameter 'dirft', but the notebook has no such parameter (did you mean 'drift'?)"
    )


@pytest.mark.parametrize(("names", "kept"), [("", "one"), ("a,b", "several")])
def test_a_tag_and_a_title_may_name_what_the_reading_function_finds(
    notebook, tmp_path, names, kept
):
    (tmp_path / "reading_names.py").write_text(
        "from types import SimpleNamespace\n"
        "def read(note):\n"
        "    return SimpleNamespace(models=[name for name in note.split(',') if name])\n"
    )
    cells = [text("story of one", "unless:models"), text("story of several", "if:models")]
    path = notebook(*cells)
    written_notebook = nbformat.read(path, as_version=4)
    written_notebook.metadata["workbench"] = {
        "read": "reading_names.read",
        "titles": {"models": "Which is better?"},
    }
    nbformat.write(written_notebook, path)
    shown = build(path, note=names)
    assert re.findall(r"story of \w+", shown) == [f"story of {kept}"]
    assert ("Which is better?" in shown) == (kept == "several")


def test_code_is_not_shown(notebook):
    assert "hidden_name" not in build(notebook(code("hidden_name = 1\nhidden_name + 1;")))


def test_user_text_is_escaped_wherever_it_goes(notebook, tmp_path, kernel):
    evil = "<script>alert(1)</script>"
    file = tmp_path / "<script>.csv"
    file.write_text(f"id,score\n1,{evil}\n")
    cells = [
        code("import sys; print(note, open(scores).read())"),
        code("note"),
        code("print(note, file=sys.stderr)"),
        code(
            "from IPython.display import Markdown; Markdown(f'{note} ${note}$ $\\\\text{{{note}}}$')"
        ),
        code(
            "from workbench.results import html_table; from IPython.display import HTML\n"
            "HTML(html_table([{note: note}], note))"
        ),
        code("from IPython.display import Markdown; Markdown('[a](javascript:alert(1))')"),
    ]
    path = notebook(*cells)
    shown = build_report(
        path, {"note": evil, "scores": str(file)}, progress=False, command=f"workbench {evil}"
    ).read_text()
    assert "<script" not in shown and shown.count("&lt;script&gt;") >= 8
    assert "javascript:" not in shown
    assert evil in refused(notebook(code("raise ValueError(note)")), note=evil)


def test_math_becomes_mathml_and_dollars_stay(notebook):
    shown = build(
        notebook(
            text(
                "mean $\\hat A = \\sum_k W_k$, code `$x$`, costs $5 or $6, \\$7 and $8\n\n$$\\frac{a}{b} < 1$$\n\n"
                "\\begin{align}a &= b\\\\c &= d\\end{align}\n\n```\n$$y$$\n```\n\n$\\nosuch{z}$ `$$` and `$$`"
            )
        )
    )
    assert shown.count("<math") == 4 and len(re.findall('<math [^>]*display="block"', shown)) == 2
    for kept in (
        "<code>$x$</code>",
        "costs $5 or $6, $7 and $8",
        "$$y$$",
        "<code>$$</code> and <code>$$</code>",
        '<code class="math inline">\\nosuch{z}</code>',
    ):
        assert kept in shown
    assert "mathjax" not in shown.lower()


def test_pictures_carry_their_alternative(notebook, kernel):
    shown = build(
        notebook(code(PICTURE), code("from IPython.display import SVG; SVG('<svg xmlns=\"s\"/>')"))
    )
    alt = "rises &#34;from&#34; &lt;1&gt; to 2"
    picture = f'<img src="data:image/png;base64,{PIXEL}" alt="{alt}">'
    assert f"<figure>{picture}</figure>" in shown
    svg = re.search(
        r'src="data:image/svg\+xml;base64,([^"]+)" alt="Picture without a description"', shown
    )
    assert b"<svg" in base64.b64decode(svg[1])


def test_messages_are_listed_and_controls_left_out(notebook, kernel):
    warn = code("import warnings\nwarnings.warn('few labels')")
    control = code("import ipywidgets; ipywidgets.IntSlider()")
    bar = code("from tqdm.auto import tqdm\nfor i in tqdm(range(3)): pass")
    shown = build(notebook(text("## Part"), warn, control, bar))
    messages = re.findall(r"<li>(.*?)</li>", shown, re.S)
    expected = [
        "UserWarning: few labels",
        "An interactive control was left out because it has no static picture.",
    ]
    assert messages == [f"<strong>Part</strong><pre>{line}</pre>" for line in expected]
    assert "IntSlider" not in shown
    assert "Messages</dt><dd>none" in build(notebook())


def test_html_that_needs_scripts_falls_back_to_text(notebook):
    shown = build(
        notebook(
            code(
                "class V:\n  def _repr_html_(self): return '<script src=\"https://x.org/v.js\"></script>'\n"
                "  def __repr__(self): return 'plain'\nV()"
            )
        )
    )
    assert "x.org" not in shown and ">plain</pre>" in shown


def test_the_page_is_complete_small_and_asks_for_nothing(notebook):
    shown = build(notebook(text("See [the paper](https://example.org)."), code(PICTURE)))
    assert shown.startswith('<!doctype html>\n<html lang="en">') and shown.endswith("</html>")
    assert "<title>How good is x?</title>" in shown and 'name="viewport"' in shown
    assert "default-src 'none'" in shown
    assert not EXTERNAL.search(shown)
    assert len(shown) < 30_000
    assert shown.count("<h1") == 1


def test_a_title_is_added_when_the_heading_is_left_out(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    cells = [text("# A & B", "lesson"), code("x = 1", "parameters")]
    nbformat.write(new_notebook(cells=cells), tmp_path / "n.ipynb")
    assert "<h1>A &amp; B</h1>" in build("n.ipynb")


def test_provenance_names_data_parameters_software_and_command(notebook, scores):
    path = notebook()
    shown = build(path, scores="scores.csv", score="confidence", budget="7", seed=3)
    footer = re.sub(r"<[^>]+>", " ", shown[shown.index("<footer") :])
    assert hashlib.sha256(scores.read_bytes()).hexdigest() in footer
    words = " ".join(footer.split())
    assert "scores.csv scores 2 27" in words
    assert "budget 7 labels you can afford" in words and "Seed 3" in words
    for name in ("workbench", "numpy", "scipy", "scikit-learn", "Python"):
        assert re.search(rf"{name} \S", words)
    assert re.search(r"Date \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC", words)
    given = "-p scores scores.csv -p score confidence -p budget 7 -p seed 3"
    assert f"workbench report {path} {given} -o r.html" in words


def test_an_output_is_named_after_the_report(notebook, scores, tmp_path):
    path = notebook(code("if not labels: open(label_sheet, 'w').write('id,correct\\n7,\\n')"))
    for _ in range(2):
        page = build(path, scores="scores.csv", score="confidence")
        assert (tmp_path / "r-labels.csv").read_text() == "id,correct\n7,\n"
        assert "r-labels.csv" in page
    page = build(
        path, scores="scores.csv", score="confidence", labels="r-labels.csv", output="s.html"
    )
    assert not (tmp_path / "s-labels.csv").exists() and "s-labels.csv" not in page
    build(
        path, scores="scores.csv", score="confidence", labels="r-labels.csv"
    )  # the input has that name
    assert (tmp_path / "r-labels.csv").read_text() == "id,correct\n7,\n"


READ = """\
def read(scores, level, label_sheet, write=True):
    if level >= 1:
        raise ValueError("level must be below 1")
    if scores:
        open("seen", "a").write(f"{scores} {level} {label_sheet} {write}\\n")
    return {}["no key"] if level < 0 else level
"""


def test_the_function_of_the_metadata_is_called_before_a_kernel_starts(
    notebook, scores, tmp_path, monkeypatch
):
    (tmp_path / "my_inputs.py").write_text(READ)
    path = notebook(
        code("from my_inputs import read\nprint('got', read(scores, level, label_sheet))")
    )
    made = nbformat.read(path, as_version=4)
    made.metadata["workbench"] = {"read": "my_inputs.read"}
    nbformat.write(made, path)
    monkeypatch.syspath_prepend(tmp_path)
    with mock.patch("papermill.execute_notebook", side_effect=AssertionError("a kernel")):
        assert refused(path, level="1") == "level must be below 1"
        assert refused(path, level="-1") == "KeyError: 'no key'"
    assert "got 0.5" in build(path, scores="scores.csv", score="confidence", level=".5")
    assert (tmp_path / "seen").read_text().splitlines() == [
        "scores.csv 0.5 r-labels.csv False",
        f"{tmp_path}/scores.csv 0.5 {tmp_path}/r-labels.csv True",
    ]


def test_a_failed_run_leaves_no_label_sheet(notebook, scores, tmp_path, kernel):
    path = notebook(code("open(label_sheet, 'x')"), code("raise ValueError('no')"))
    assert refused(path, scores="scores.csv", score="confidence") == "no"


def test_relative_paths_and_modules_beside_the_user_are_harmless(
    notebook, scores, tmp_path, monkeypatch, kernel
):
    monkeypatch.delenv("PYTHONPATH", raising=False)
    (tmp_path / "numpy.py").write_text("raise SystemExit('shadowed')")
    path = notebook(
        code("import numpy, os; print(os.path.isabs(scores), open('scores.csv').readline())")
    )
    shown = build(path, scores="scores.csv", score="confidence")
    assert "True id,confidence" in shown


def test_the_kernel_is_this_interpreter_with_python_defaults(notebook, monkeypatch, kernel):
    monkeypatch.setenv("PYTHONWARNINGS", "error")
    monkeypatch.setenv("JUPYTER_PATH", "/nowhere")
    import sys

    shown = build(notebook(code("import sys, warnings; print(sys.executable); warnings.warn('w')")))
    assert f">{sys.executable}</pre>" in shown


def test_a_notebook_without_kernel_metadata_and_ids_runs(tmp_path, monkeypatch, kernel):
    monkeypatch.chdir(tmp_path)
    cell = {
        "cell_type": "code",
        "source": ["x = 1\n", "print(x)"],
        "metadata": {"tags": ["parameters"]},
        "outputs": [],
        "execution_count": None,
    }
    data = {"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    (tmp_path / "n.ipynb").write_text(json.dumps(data))
    assert ">2</pre>" in build("n.ipynb", x="2") or ">1</pre>" in build("n.ipynb", x="1")


def test_progress_is_one_line_per_section(notebook, capfd, kernel):
    build_report(notebook(text("## Part *one*"), code("1")), progress=True)
    assert capfd.readouterr() == ("", "How good is x?\nPart one\n")
    build_report(notebook(), output="s.html", progress=False)
    assert capfd.readouterr() == ("", "")


def test_a_large_report_is_written_with_a_warning(notebook):
    with pytest.warns(ReportWarning, match=r"r.html has 1.1 MB; a report should stay below 1 MB"):
        build(notebook(code("print('x' * 1_100_000)")))


def test_numbers_are_aligned_right_but_the_first_column():
    table = (
        "<table class='w'><thead><tr><th>k</th><th>x</th><th>y</th><th>z</th></tr></thead><tbody>"
        "<tr><td>1</td><td>-0.5</td><td>a</td><td></td></tr><tr><td>2</td><td>1,000</td><td>1</td><td>3%</td>"
        "</tr></tbody></table>"
    )
    aligned = '<div class="scroll"><table class="w" data-right="2 4" data-short="1 2 3 4">'
    assert str(pages._tree(table)).startswith(aligned)


def test_a_missing_chromium_is_told_before_the_run(notebook, monkeypatch):
    monkeypatch.setenv("CHROMIUM", "/no/chromium")
    with pytest.raises(
        ReportError, match="CHROMIUM is '/no/chromium', but there is no such program; install one"
    ):
        build_report(notebook(code("open('ran', 'w')")), pdf=True)
    monkeypatch.delenv("CHROMIUM")
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr("workbench.reports.outputs.CHROMIUMS", ("chromium",))
    with pytest.raises(
        ReportError, match=r"--pdf needs Chromium, which was not found; install one \(apt-get"
    ):
        build_report("01-demo.ipynb", pdf=True)
    assert not os.path.exists("ran")


def test_a_chromium_that_fails_leaves_no_report(notebook, tmp_path, monkeypatch):
    broken = tmp_path / "broken"
    broken.write_text("#!/bin/sh\necho no display >&2\nexit 3\n")
    broken.chmod(0o755)
    monkeypatch.setenv("CHROMIUM", str(broken))
    with pytest.raises(
        ReportError, match=r"broken did not write a PDF \(exit code 3\): no display"
    ):
        build_report(notebook(), pdf=True, progress=False)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["01-demo.ipynb", "broken"]


def test_a_pdf_is_written_beside_the_report(notebook, tmp_path, chromium):
    build_report(notebook(code(PICTURE)), progress=False, pdf=True)
    assert (tmp_path / "report.pdf").read_bytes().startswith(b"%PDF-")
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "01-demo.ipynb",
        "report.html",
        "report.pdf",
    ]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_browser_shows_the_report_and_asks_for_nothing(notebook, tmp_path, scheme, chrome):
    remote = 'HTML(\'<img src="http://x.invalid/a.png"><img src="x:" onerror="window.bad = 1">\')'
    remote = code(f"from IPython.display import HTML; {remote}")
    build(notebook(text("mean $\\frac{a}{b}$ ![](//x.invalid/b.png)"), code(PICTURE), remote))
    size = {"width": 400, "height": 800}
    with contextlib.closing(
        chrome.new_context(color_scheme=scheme, offline=True, viewport=size)
    ) as context:
        page, asked = context.new_page(), []
        page.on("request", lambda request: asked.append(request.url))
        page.goto((tmp_path / "r.html").as_uri())
        assert [url for url in asked if not url.startswith(("data:", "x:"))] == [
            (tmp_path / "r.html").as_uri()
        ]
        assert (
            page.get_by_role("img", name='rises "from" <1> to 2').first.evaluate("e => e.tagName")
            == "IMG"
        )
        assert page.locator("math mfrac").count() == 1
        assert page.evaluate("[document.documentElement.scrollWidth, window.bad]") == [400, None]
        background = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert (background == "rgb(255, 255, 255)") == (scheme == "light")


def test_printing_reaches_no_server(notebook, tmp_path, chromium):
    asked = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)

        def log_message(self, *details):
            pass

    with http.server.HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=functools.partial(server.serve_forever, 0.05))
        thread.start()
        cell = code(
            f"from IPython.display import HTML; HTML('<img src=\"http://127.0.0.1:{server.server_port}/a\">')"
        )
        build_report(notebook(cell), progress=False, pdf=True)
        server.shutdown()
        thread.join()
    assert asked == []


def test_no_warning_of_the_run_escapes(notebook, kernel):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        build(notebook(code("1")))


def test_printed_sentences_are_prose_and_printed_tables_are_not():
    assert (
        pages._preformatted("3 items,\nmean 0.5\n")
        == '<pre class="output prose">3 items,\nmean 0.5</pre>'
    )
    assert pages._preformatted("a  b\n1  2") == '<pre class="output">a  b\n1  2</pre>'
    assert (
        pages._preformatted("10%\r20%\r\n\x1b[31mred\x1b[0m")
        == '<pre class="output prose">20%\nred</pre>'
    )
