"""A labeling tool is one entry and its file: a made-up one is seen wherever there are tools."""

import json
import subprocess
import sys

import pytest
from audited import created, population

import workbench as wb
from workbench.extras.sessions.annotations import read_annotations
from workbench.extras.sessions.tool import Tool
from workbench.extras.sessions.tools import TOOLS
from workbench.labeling.label_rows import LabelRow

MADE_UP = """
import json, sys
from workbench.extras.sessions import tools
from workbench.extras.sessions.tool import Tool
from workbench.labeling.label_rows import LabelRow

def write(items, labels):
    yield from (json.dumps({"thing": name, "verdict": ""}) + "\\n" for name, _ in items)

def read(number, record):
    yield LabelRow(number, record["thing"], record["verdict"], record.get("who", ""))

TOOL = Tool("made-up", "Made Up", ".jsonl", write, lambda record: "thing" in record, read,
            interface=lambda columns, labels: f"ask for {list(labels)} of {list(columns)}")
"""
REGISTERED = (
    MADE_UP
    + """
tools.TOOLS[TOOL.key] = TOOL
from workbench.commands.main import main
main(sys.argv[1:])
"""
)


@pytest.fixture
def made_up(monkeypatch):
    names = {}
    exec(MADE_UP, names)
    monkeypatch.setitem(TOOLS, "made-up", names["TOOL"])


def test_each_tool_says_its_key_and_name_once():
    assert list(TOOLS) == ["label-studio", "doccano", "prodigy"]
    assert all(isinstance(tool, Tool) and tool.key == key for key, tool in TOOLS.items())
    assert len({tool.name for tool in TOOLS.values()}) == len(TOOLS)


def filled(folder):
    """Answer the tasks of the made-up tool."""
    records = [
        json.loads(line)
        for line in (folder / "tasks.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    lines = [json.dumps(record | {"verdict": "right", "who": "zoe"}) for record in records]
    (folder / "done.jsonl").write_text("\n".join(lines), encoding="utf-8")
    return [record["thing"] for record in records]


def test_tasks_go_out_to_a_tool_that_is_added_and_labels_come_back(made_up, tmp_path):
    with created(tmp_path, population()[0]) as session:
        assert session.export(tmp_path / "tasks.jsonl", 3, "ann", to="made-up") == 3
        names = filled(tmp_path)
        imported = session.import_labels(tmp_path / "done.jsonl")
        assert (imported.recorded, imported.tool, imported.refused) == (3, "Made Up", ())
        assert session.status().labels == {"zoe": 3} and len(names) == 3


def test_a_report_reads_what_a_tool_that_is_added_exported(made_up, tmp_path):
    items = population()[0]
    with created(tmp_path, items) as session:
        session.export(tmp_path / "tasks.jsonl", to="made-up")
    filled(tmp_path)
    audit = wb.accuracy_audit(items, labels=tmp_path / "done.jsonl", n_strata=4, rng=5)
    assert audit.labeled.sum() == 60


def test_messages_name_a_tool_that_is_added(made_up, tmp_path):
    (tmp_path / "x.jsonl").write_text('{"other": 1}')
    with pytest.raises(
        ValueError,
        match=r"nor an export of Label Studio \(JSON\), doccano \(JSONL\), Prodigy "
        r"\(JSONL\) or Made Up \(JSONL\); record 1 has",
    ):
        read_annotations(tmp_path / "x.jsonl")
    with created(tmp_path, population()[0]) as session:
        with pytest.raises(
            ValueError, match="name the tool for .* with to: 'doccano', 'prodigy', 'made-up'"
        ):
            session.export(tmp_path / "t.jsonl")
        with pytest.raises(ValueError, match="to must be one of .*'made-up'"):
            session.export(tmp_path / "t.csv", to="excel")
    assert LabelRow(1).is_answered is False


def test_the_command_line_takes_a_tool_that_is_added(tmp_path):
    (tmp_path / "with_tool.py").write_text(REGISTERED, encoding="utf-8")
    with created(tmp_path, population()[0]):
        pass

    def said(line):
        done = subprocess.run(
            [sys.executable, "with_tool.py", "audit", *line.split()],
            cwd=tmp_path,
            text=True,
            capture_output=True,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert "prodigy|made-up]" in "".join(said("export --help").split())
    told = said("export audit.db tasks.jsonl --to made-up -n 4 --by ann")
    assert (
        "Wrote tasks.jsonl with 4 tasks" in told
        and "ask for ['right', 'wrong'] of ['prediction']" in told
    )
    filled(tmp_path)
    assert said("import audit.db done.jsonl").startswith("4 labels recorded")
