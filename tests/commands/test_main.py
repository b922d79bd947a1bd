import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import click
import nbformat
import pytest
from click.testing import CliRunner
from command import no_kernel
from command import workbench as command
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

import workbench
from workbench.commands import main
from workbench.reports.parameters import DATA, notebooks_folder, topics

PARAMETERS = """\
scores = ""  # type: file  what is scored
score = "score"  # type: column of scores  the confidence
budget = 100  # type: int  labels you can afford
n_strata = 5  # type: int  how many strata
quiet = 1  # type: int  a name the command line keeps for itself
"""


LONG = "x" * 300


def write(path, title, *sources, tags=("parameters",)):
    cells = [new_markdown_cell(f"# {title}"), *[new_code_cell(source) for source in sources]]
    cells[1].metadata["tags"] = list(tags)
    nbformat.write(new_notebook(cells=cells), path)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Work in an empty folder, with notebooks in `installed` beside it that need no kernel."""
    installed = tmp_path / "installed"
    installed.mkdir()
    write(installed / "00-start.ipynb", "Start", "1", tags=())
    write(
        installed / "01-first-topic.ipynb",
        "First *topic*",
        PARAMETERS,
        "print(budget, n_strata, quiet)",
    )
    write(installed / "02-second.ipynb", "Second", "n = 1")
    (installed / "data").mkdir()
    (installed / "data" / "my.csv").write_text("p\n.5\n")
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setattr("workbench.reports.parameters.notebooks_folder", lambda: installed)
    with no_kernel():
        yield tmp_path / "here"


def run(*arguments):
    """Return the exit code of the command line run in this process."""
    with pytest.raises(SystemExit) as stopped:
        main.main([str(argument) for argument in arguments])
    return stopped.value.code or 0


def refused(capsys, *arguments):
    """Return the one line of a mistake that ended with exit code 2 before anything was written."""
    before = sorted(Path(".").rglob("*"))
    assert run(*arguments) == 2
    assert sorted(Path(".").rglob("*")) == before
    shown = capsys.readouterr()
    assert shown.out == "" and shown.err.startswith("Error: ") and shown.err.count("\n") == 1
    return shown.err.removeprefix("Error: ").strip()


def test_list_shows_topics_and_titles(folder, capsys):
    assert run("list") == 0
    assert capsys.readouterr().out == "first-topic  First topic\nsecond       Second\n"


def test_params_shows_name_type_default_and_help(folder, capsys):
    assert run("params", "first-topic") == 0
    assert capsys.readouterr().out.splitlines()[:3] == [
        "scores    file              ''       what is scored",
        "score     column of scores  'score'  the confidence",
        "budget    int               100      labels you can afford",
    ]


def test_help_lists_the_parameters_of_the_topic(folder, capsys):
    assert run("report", "first-topic", "--help") == 0
    shown = capsys.readouterr().out
    assert "--n-strata INT" in shown and "how many strata  [5]" in shown and "[empty]" in shown
    assert "--scores FILE" in shown and "--score COLUMN OF SCORES" in shown
    assert run("report", "--help") == 0
    assert "--n-strata" not in capsys.readouterr().out


def test_options_go_before_pairs_and_pairs_before_the_file(folder, capsys):
    (folder / "p.yaml").write_text("budget: 1\nn_strata: 2\nquiet: 3\n")
    assert (
        run(
            "report",
            "--budget",
            "30",
            "first-topic",
            "--params",
            "p.yaml",
            "-p",
            "budget",
            "20",
            "-p",
            "n_strata",
            "21",
            "--quiet",
        )
        == 0
    )
    assert ">30 21 3</pre>" in (folder / "report.html").read_text()
    assert capsys.readouterr() == ("Wrote report.html\n", "")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["report"], "TOPIC is missing. Topics: first-topic, second"),
        (
            ["report", "first-topc", "--budget", "3"],
            "no topic 'first-topc' (did you mean 'first-topic'?); topics: first-topic, second",
        ),
        (["report", "second", "--budget", "3"], "No such option"),
        (["report", "first-topic", "--budget"], "Option '--budget' requires an argument."),
        (
            ["report", "first-topic", "--budget", "abc"],
            "--budget must be a whole number; got 'abc'",
        ),
        (
            ["report", "first-topic", "-p", "buget", "3"],
            "no parameter 'buget' (did you mean 'budget'?); "
            "parameters: scores, score, budget, n_strata, quiet",
        ),
        (["report", "first-topic", "--scores", "s.csv"], "scores: no such file: 's.csv'"),
        (["report", "first-topic", "second"], "Got unexpected extra argument (second)"),
        (["report", "first-topic", "-o", "r.txt"], "--output must end in .html; got 'r.txt'"),
        (
            ["report", "--all", "-p", "n", "2"],
            "--all reports every topic with its defaults; remove the topic and the parameters",
        ),
        (
            ["report", "--all", "-o", "r.html"],
            "with --all, --output must be a folder; got 'r.html'",
        ),
        (
            ["report", "--all", "-o", "installed.txt/x"],
            "cannot make the folder 'installed.txt/x': Not a directory",
        ),
        (["report", "--all", "-o", LONG], f"cannot make the folder '{LONG}': File name too long"),
        (["report", "--all", "-o", "x\0"], "cannot make the folder 'x\\x00': embedded null byte"),
        (
            ["report", "second", "-o", LONG + ".html"],
            f"output '{LONG}.html' cannot be written: File name too long",
        ),
        (["report", "second", "--params", "x\0"], "cannot read 'x\\x00': embedded null byte"),
        (["report", LONG + ".ipynb"], f"notebook '{LONG}.ipynb' does not exist"),
        (["lab", "x\0", "--copy-only"], "cannot copy to 'x\\x00': embedded null byte"),
        (
            ["params", "secnd"],
            "no topic 'secnd' (did you mean 'second'?); topics: first-topic, second",
        ),
        (["lsit"], "No such command 'lsit'."),
    ],
)
def test_mistakes_are_one_line(folder, capsys, arguments, message):
    (folder / "installed.txt").write_text("a file")
    assert refused(capsys, *arguments).startswith(message)


def test_a_flag_needs_no_value(folder, capsys):
    write(
        folder / "n.ipynb", "N", "higher = False  # type: flag  larger is better", "print(higher)"
    )
    for words, shown in (
        (["--higher"], True),
        (["--higher", "true"], True),
        (["--no-higher"], False),
        ([], False),
    ):
        assert run("report", "n.ipynb", *words, "--quiet") == 0
        assert f">{shown}</pre>" in (folder / "report.html").read_text()


@pytest.mark.parametrize("misspelled", ["--n-strat", "--n_strata"])
def test_a_misspelled_option_suggests_one(folder, capsys, misspelled):
    message = refused(capsys, "report", "first-topic", misspelled, "3")
    assert (
        message.startswith("No such option") and misspelled in message and "Did you mean" in message
    )
    assert "--n-strata" in message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "budget: 3\nn_strata: [1\n",
            "p.yaml, line 3: expected ',' or ']', but got '<stream end>'",
        ),
        (
            "budget: 3\n\tn: 1\n",
            "p.yaml, line 2: found character '\\t' that cannot start any token",
        ),
        ("- 1\n", "p.yaml must hold one parameter per line, in the form name: value"),
        ("", "p.yaml must hold one parameter per line, in the form name: value"),
        ("budget: 2020-13-45\n", "p.yaml is not valid YAML: month must be in 1..12"),
        ("budget: abc\n", "budget must be a whole number; got 'abc'"),
        ("1: 2\n", "no parameter '1'; parameters:"),
        ("budget:\n", "budget must be a whole number; got None"),
    ],
)
def test_mistakes_in_a_parameter_file_are_one_line(folder, capsys, text, message):
    (folder / "p.yaml").write_text(text)
    assert refused(capsys, "report", "first-topic", "--params", "p.yaml").startswith(message)


def test_a_parameter_file_that_cannot_be_read_is_one_line(folder, capsys):
    message = refused(capsys, "report", "second", "--params", "no.yaml")
    assert message == "cannot read 'no.yaml': No such file or directory"
    (folder / "p.yaml").write_bytes(b"\xff\xfe\x00\xd8")
    assert refused(capsys, "report", "second", "--params", "p.yaml").startswith(
        "p.yaml is not valid YAML"
    )


def test_all_reports_every_topic(folder, capsys):
    assert run("report", "--all", "-o", "out", "--quiet") == 0
    assert sorted(path.name for path in (folder / "out").iterdir()) == [
        "first-topic.html",
        "second.html",
    ]
    assert run("report", "all", "--quiet") == 0
    assert (folder / "reports" / "second.html").exists()


def test_a_large_report_is_a_warning_line(folder, capsys):
    write(folder / "big.ipynb", "Big", "n = 1", "print('x' * 1_200_000)")
    assert run("report", "big.ipynb", "--quiet") == 0
    assert (
        capsys.readouterr().err
        == "Warning: report.html has 1.2 MB; a report should stay below 1 MB, to be easy to send\n"
    )


def test_lab_copies_and_never_overwrites(folder, capsys):
    assert run("lab", "--copy-only") == 0
    out = capsys.readouterr().out
    assert out == "Copied 3 notebooks and 1 data file to workbench-notebooks\n"
    mine = folder / "workbench-notebooks" / "02-second.ipynb"
    data = folder / "workbench-notebooks" / "data" / "my.csv"
    assert data.read_text() == "p\n.5\n"
    mine.write_text("mine")
    data.write_text("my own")
    (folder / "workbench-notebooks" / "00-start.ipynb").unlink()
    assert run("lab", "--copy-only") == 0
    assert capsys.readouterr().out == (
        "Copied 1 notebook and 0 data files to workbench-notebooks; "
        "kept 01-first-topic.ipynb, 02-second.ipynb, data/my.csv\n"
    )
    assert (mine.read_text(), data.read_text()) == ("mine", "my own")
    settings = json.loads((folder / "workbench-notebooks" / "voila.json").read_text())
    assert settings["MappingKernelManager"]["cull_idle_timeout"] == 600
    (folder / "file").write_text("")
    assert refused(capsys, "lab", "file", "--copy-only") == "cannot copy to 'file': File exists"


def test_lab_starts_this_interpreter_at_the_first_notebook(folder, monkeypatch):
    class ReplacedError(Exception):
        pass

    def replace(program, words, environment):
        raise ReplacedError(
            program, words[1:], Path.cwd(), environment["JUPYTER_CONFIG_PATH"].split(os.pathsep)
        )

    monkeypatch.setattr(os, "execve", replace)
    monkeypatch.setenv("JUPYTER_CONFIG_PATH", "/mine")
    start = "--LabApp.default_url=/lab/tree/00-start.ipynb"
    for given, there, words in (
        (["mine", "--no-browser", "--", "--port=9999"], "mine", ["--no-browser", "--port=9999"]),
        (["--", "--allow-root"], "workbench-notebooks", ["--allow-root"]),
    ):
        monkeypatch.chdir(folder)
        with pytest.raises(ReplacedError) as replaced:
            main.main(["lab", *given])
        program, said, cwd, paths = replaced.value.args
        assert program == sys.executable and said == [
            "-m",
            "workbench.commands.lab_server",
            start,
            *words,
        ]
        assert cwd == folder / there
        assert (
            paths == [str(main.LAB_SETTINGS), "/mine"]
            and (main.LAB_SETTINGS / "labconfig").is_dir()
        )


def test_the_command_reports_a_failing_cell_with_exit_code_2(tmp_path, kernel):
    write(tmp_path / "n.ipynb", "N", "n = 1", "if n > 1: raise ValueError('n must be at most 1')")
    (tmp_path / "r.html").write_text("old")
    done = command(tmp_path, "report", "n.ipynb", "-p", "n", "2", "-o", "r.html", "--quiet")
    assert (done.returncode, done.stdout, done.stderr) == (2, "", "Error: n must be at most 1\n")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["n.ipynb", "r.html"]
    assert (tmp_path / "r.html").read_text() == "old"


def test_the_command_writes_a_report_that_quotes_it(tmp_path, kernel):
    write(tmp_path / "n.ipynb", "N", "n = 1\ns = ''")
    done = command(tmp_path, "report", "n.ipynb", "--s", "a b", "-o", "r.html")
    assert (done.returncode, done.stdout, done.stderr) == (0, "Wrote r.html\n", "N\n")
    assert (
        "<code>workbench report n.ipynb --s &#39;a b&#39; -o r.html</code>"
        in (tmp_path / "r.html").read_text()
    )


def test_the_command_shows_version_and_help(tmp_path):
    done = command(tmp_path, "--version")
    assert done.returncode == 0 and done.stdout.startswith("workbench ")
    assert command(tmp_path).stdout.startswith("Usage: workbench")
    assert command(tmp_path, "no").returncode == 2


def test_an_interruption_of_the_command_is_one_line(folder, capsys, monkeypatch):
    def interrupt(*details, **more):
        raise KeyboardInterrupt

    monkeypatch.setattr("workbench.reports.build.build_files", interrupt)
    assert run("report", "second") == 130
    assert capsys.readouterr().err.strip() == "Stopped."


def test_the_command_line_starts_without_the_heavy_libraries():
    code = (
        "import sys, workbench.commands.main\n"
        "print({'papermill', 'nbformat', 'nbconvert', 'altair', 'jinja2', 'duckdb'} & set(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"PYTHONPATH": str(Path(workbench.__file__).parents[1])},
    )
    assert done.stdout == "set()\n"


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("workbench rep", {"plain,report"}),
        ("workbench pa", {"plain,papers", "plain,params"}),
        ("workbench course g", {"plain,grade"}),
        ("workbench course grade --grade", {"plain,--gradebook"}),
        ("workbench course grade --gradebook exp", {"file,exp"}),
        ("workbench audit new a.csv --from pl", {"file,pl"}),
        ("workbench report mis", {"plain,misclassification-correction"}),
        ("workbench params sta", {"plain,start"}),
        ("workbench report stratified-accuracy --bud", {"plain,--budget"}),
        ("workbench report stratified-accuracy --scores my", {"file,my"}),
        ("workbench course slides mis", {"plain,misclassification-correction"}),
        ("workbench course slides my", {"file,my"}),
        ("workbench papers replay l", {"plain,list"}),
        ("workbench papers replay kloos", {"plain,kloos", "plain,kloos/fig1"}),
        ("workbench papers data l", {"plain,letter"}),
        ("workbench report no-topic --qu", {"plain,--quiet"}),
    ],
)
def test_a_shell_completes_commands_topics_options_and_files(words, expected):
    variables = {
        "_WORKBENCH_COMPLETE": "bash_complete",
        "COMP_WORDS": words,
        "COMP_CWORD": str(len(words.split()) - 1),
    }
    done = CliRunner().invoke(main.commands, prog_name="workbench", env=variables)
    lines = set(done.output.split("\n"))
    assert expected <= lines


def leaves(command, words=()):
    """Yield every command and group with the words that name it."""
    yield words, command
    for name, member in getattr(command, "commands", {}).items():
        yield from leaves(member, (*words, name))


def test_at_most_twelve_names_stand_at_the_top():
    assert len(main.commands.commands) <= 12
    assert {name for (name, *_), _ in list(leaves(main.commands))[1:]} == set(
        main.commands.commands
    )


@pytest.mark.parametrize("words", [words for words, _ in leaves(main.commands)], ids=" ".join)
def test_every_help_has_examples_that_can_be_parsed(words, capsys):
    assert run(*words, "--help") == 0
    shown = capsys.readouterr().out
    examples = re.findall(r"^  workbench (.+?)(?:  .*)?$", shown, re.M)
    assert examples
    for example in examples:
        typed = shlex.split(example)
        assert typed[: len(words)] == list(words)
        command, context = main.commands, None
        while isinstance(command, click.Group):
            context = click.Context(command, parent=context, info_name=command.name)
            command = command.commands[typed.pop(0)]
        with command.make_context(command.name, typed, parent=context) as context:
            assert bool(context.params) == bool(command.params)


@pytest.mark.parametrize("topic", topics())
def test_the_help_of_a_topic_has_an_example_of_its_own(topic, capsys):
    assert run("report", topic, "--help") == 0
    example = capsys.readouterr().out.partition("Example:\n  workbench report ")[2]
    named, *typed = shlex.split(example)
    assert named == topic and "\n" not in example.strip()
    with main.report.make_context("report", [named, *typed]) as context:
        values = [value for name, value in context.params.items() if name.startswith("parameter_")]
    files = [value for value in filter(None, values) if value.endswith((".csv", ".parquet"))]
    assert bool(files) == (topic != "start")
    assert all((notebooks_folder() / DATA / file).is_file() for file in files)


@pytest.mark.parametrize("group", ["", "audit", "course", "papers", "sample"])
def test_a_group_without_a_command_shows_its_help(group, capsys):
    assert run(*group.split()) == 0
    shown = capsys.readouterr()
    assert "Commands:" in shown.out and shown.err == ""
