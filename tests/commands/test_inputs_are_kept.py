"""No command writes over a file that it reads, by whatever name the file is called."""
import json
import os

import click
import pytest
from command import run

import workbench as wb
from workbench.commands import main
from workbench.data import whole_files

ROWS = [{"id": f"i{k}", "p": .5 + k / 400, "read": "ab"[k % 3 > 0], "true": "ab"[k % 4 > 0]} for k in range(200)]


def leaves(command):
    """Return the commands that a group holds, and those of the groups in it."""
    return [leaf for each in command.commands.values() for leaf in leaves(each)] if isinstance(command, click.Group) \
        else [command]


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "a.json").write_text(json.dumps(ROWS), encoding="utf-8")
    os.link(tmp_path / "a.json", tmp_path / "same.json")
    (tmp_path / "link.json").symlink_to("a.json")
    return tmp_path


@pytest.mark.parametrize("name", ["a.json", "same.json", "link.json", "../{}/a.json"])
@pytest.mark.parametrize("words", [
    "report stratified-accuracy --scores a.json --score p --prediction read --json {}",
    "report stratified-accuracy --scores a.json --score p --prediction read --labels {}",
    "audit export a.db {} --to label-studio", "audit report a.db --json {}"])
def test_an_output_is_never_an_input(folder, words, name):
    name = name.format(folder.name)
    if words.startswith("audit"):       # the audit itself is what is read
        with wb.AuditSession.create(folder / "a.db", wb.read_scores(folder / "a.json", score="p"), budget=20):
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
        with pytest.raises(whole_files.NotWrittenError, match="it is also an input; choose another path"):
            whole_files.write_text(folder / "a.json", "lost")
        whole_files.write_text(folder / "x.html", "written")
        tried.append(given)
    for command in leaves(main.commands):
        monkeypatch.setattr(command, "callback", overwrites)
        context = click.Context(command)
        context.params = {"first": "text", "some": str(folder / "link.json"), "output": str(folder / "x.html"),
                          "pairs": (), "params_file": None}
        command.invoke(context)
    assert len(tried) > 20 and json.loads((folder / "a.json").read_text(encoding="utf-8")) == ROWS
