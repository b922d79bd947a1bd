"""No command writes over a file that it reads, by whatever name the file is called."""

import json
import os
from pathlib import Path

import click
import pytest
from command import run

import workbench as wb
from workbench.commands import main
from workbench.data import whole_files
from workbench.extras.classroom import pages
from workbench.reports.parameters import ReportError

ROWS = [
    {"id": f"i{k}", "p": 0.5 + k / 400, "read": "ab"[k % 3 > 0], "true": "ab"[k % 4 > 0]}
    for k in range(200)
]


def leaves(command):
    """Return the commands that a group holds, and those of the groups in it."""
    return (
        [leaf for each in command.commands.values() for leaf in leaves(each)]
        if isinstance(command, click.Group)
        else [command]
    )


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "a.json").write_text(json.dumps(ROWS), encoding="utf-8")
    os.link(tmp_path / "a.json", tmp_path / "same.json")
    (tmp_path / "link.json").symlink_to("a.json")
    return tmp_path


@pytest.mark.parametrize("name", ["a.json", "same.json", "link.json", "../{}/a.json"])
@pytest.mark.parametrize(
    "words",
    [
        "report stratified-accuracy --scores a.json --score p --prediction read --json {}",
        "report stratified-accuracy --scores a.json --score p --prediction read --labels {}",
        "audit export a.db {} --to label-studio",
        "audit report a.db --json {}",
    ],
)
def test_an_output_is_never_an_input(folder, words, name):
    name = name.format(folder.name)
    if words.startswith("audit"):  # the audit itself is what is read
        with wb.AuditSession.create(
            folder / "a.db", wb.read_scores(folder / "a.json", score="p"), budget=20
        ):
            pass
        (folder / "a.json").unlink()
        os.rename(folder / "a.db", folder / "a.json")
        words = words.replace("a.db", "a.json")
        if name == "same.json":
            (folder / name).unlink()
            os.link(folder / "a.json", folder / name)
    before = (folder / "a.json").read_bytes()
    done = run(folder, *words.format(name).split())
    assert done.returncode == 2 and len(done.stderr.splitlines()) == 1, done.stderr
    assert (folder / "a.json").read_bytes() == before


def test_every_command_keeps_what_it_reads(folder, monkeypatch):
    tried = []

    def overwrites(**given):
        with pytest.raises(
            whole_files.NotWrittenError, match="it is also an input. Choose another path"
        ):
            whole_files.write_text(folder / "a.json", "lost")
        whole_files.write_text(folder / "x.html", "written")
        tried.append(given)

    for command in leaves(main.commands):
        monkeypatch.setattr(command, "callback", overwrites)
        context = click.Context(command)
        context.params = {
            "first": "text",
            "some": str(folder / "link.json"),
            "output": str(folder / "x.html"),
            "pairs": (),
            "params_file": None,
        }
        command.invoke(context)
    assert len(tried) > 20 and json.loads((folder / "a.json").read_text(encoding="utf-8")) == ROWS


@pytest.fixture
def desk(folder, monkeypatch):
    """A folder with what every command reads."""
    monkeypatch.chdir(folder)
    with wb.AuditSession.create("a.db", wb.read_scores("a.json", score="p", id="id"), budget=20):
        pass
    (folder / "rows.csv").write_text(
        "id,g,v\n" + "".join(f"i{k},{'ab'[k % 2]},{k}\n" for k in range(40))
    )
    for name in ("one.csv", "two.csv"):
        (folder / name).write_text(
            "item,model,score\n" + "".join(f"q{k},{name[:3]},{k % 2}\n" for k in range(20))
        )
    (folder / "ids.csv").write_text("id\nada\n")
    (folder / "secret.txt").write_text("0123456789abcdef" * 4 + "\n")
    (folder / "book.csv").write_text("Email address\nada\n")
    (folder / "weights.csv").write_text("part,points\n1.1 estimate,1\n")
    (folder / "class" / "ada").mkdir(parents=True)
    (folder / "class" / "ada" / "predictions.json").write_text("{}")
    return folder


SCORES = "stratified-accuracy --scores a.json --score p --prediction read"
STREAM = "sample stream rows.csv --strata-by g --id id --budget 10"
GRADE = "course grade class --secret secret.txt --students ids.csv --weights weights.csv --gradebook book.csv"
WRITE = [
    ("audit new a.json {} --budget 20 --score p", "a.json a.db"),
    ("audit export a.db {}", "a.db"),
    *((f"audit report a.db {option} {{}}", "a.db") for option in ("-o", "--json", "--tables")),
    *(
        (f"report {SCORES} {option} {{}}", "a.json")
        for option in ("-o", "--json", "--tables", "--labels")
    ),
    *((f"{STREAM} {option} {{}}", "rows.csv") for option in ("-o", "--json", "--checkpoint")),
    ("sample reduce rows.csv --strata-by g --id id --budget 5 -o {}", "rows.csv"),
    *(
        (f"compare one.csv two.csv {option} {{}}", "one.csv two.csv")
        for option in ("-o", "--json", "--tables")
    ),
    ("course make --students ids.csv --secret secret.txt -o {}", "ids.csv secret.txt"),
    (f"{GRADE} -o {{}}", "secret.txt ids.csv weights.csv book.csv class/ada/predictions.json"),
    ("course keys class --secret secret.txt -o {}", "secret.txt class"),
    ("course strip class --secret secret.txt -o {}", "secret.txt class/ada/predictions.json"),
    ("course votes class -o {}", "class/ada/predictions.json"),
]


@pytest.mark.parametrize(
    "words, output", [(words, name) for words, names in WRITE for name in names.split()]
)
def test_each_output_as_each_input(desk, words, output):
    def content():
        return {path: path.read_bytes() for path in desk.rglob("*") if path.is_file()}

    before = content()
    done = run(desk, *words.format(output).split())
    assert done.returncode == 2 and done.stderr, done.stdout
    after = content()
    assert {path: after.get(path) for path in before} == before


@pytest.mark.parametrize(
    "files", ["new=logs/log.json two.csv", "logs", "logs/log.json#match two.csv"]
)
def test_a_log_that_is_named_or_found_in_a_folder_is_kept(desk, files):
    log = (
        Path(__file__).parents[1] / "fixtures" / "logs" / "inspect-0.3.100-free.json"
    ).read_bytes()
    (desk / "logs").mkdir()
    (desk / "logs" / "log.json").write_bytes(log)
    done = run(desk, "compare", *files.split(), "-o", "a.html", "--json", "logs/../logs/log.json")
    assert done.returncode == 2 and "it is also an input. Choose another path" in done.stderr
    assert (desk / "logs" / "log.json").read_bytes() == log


@pytest.mark.parametrize("kind, words", [("page", "{}.html"), ("csv", "id,points\n")])
def test_an_older_page_is_replaced_only_by_one_of_its_kind(tmp_path, kind, words):
    path = tmp_path / f"old.{kind}"
    ours = pages.page("text.html.j2", title="A", text="a") if kind == "page" else words
    pages.write_text(path, ours)
    pages.write_text(path, ours.replace("A", "B") + "more")
    path.write_text("<!doctype html>\n<title>A</title>\n" if kind == "page" else "title,text\n")
    before = path.read_bytes()
    with pytest.raises(ReportError, match="was not made by this command; choose another path"):
        pages.write_text(path, ours)
    assert path.read_bytes() == before


def test_grades_replace_grades_only(desk):
    words = ["course", "grade", "class", "--secret", "secret.txt", "-o"]
    assert [run(desk, *words, "grades.csv").returncode for _ in range(2)] == [0, 0]
    done = run(desk, *words, "rows.csv")
    assert done.returncode == 2 and "exists, but its columns are not" in done.stderr
    assert (desk / "rows.csv").read_text().startswith("id,g,v")
