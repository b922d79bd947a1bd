"""The command `workbench replay`: list, one item, a paper, files, mistakes."""
import json
import re

import pytest
from command import costs_one_line, run

import workbench as wb

REMOTE = re.compile(r"""(?:src|href|url)\s*[=(]\s*["']?https?:""")


def test_list_prints_one_line_per_item_that_begins_with_its_name(tmp_path):
    done = run(tmp_path, "replay", "list")
    names = [line.split()[0] for line in done.stdout.splitlines()]
    assert done.returncode == 0 and names == [row["name"] for row in wb.replay_list().rows()]


def test_an_item_prints_its_claims(tmp_path):
    done = run(tmp_path, "replay", "micheals-boult/kish", "--quiet")
    assert done.returncode == 0 and done.stderr == "" and list(tmp_path.iterdir()) == []
    assert "holds: share of errors; printed 0.074, ours 0.07358" in done.stdout


def test_a_page_stands_alone_with_the_verdicts_on_top(tmp_path):
    done = run(tmp_path, "replay", "grandvalet-bengio/table1", "-o", "page.html", "--json", "found.json", "--quiet")
    page, found = (tmp_path / "page.html").read_text(), json.loads((tmp_path / "found.json").read_text())
    assert done.returncode == 0 and done.stdout.splitlines() == ["Wrote page.html", "Wrote found.json"]
    assert not REMOTE.search(page) and "<script" not in page
    assert page.index("Claims by verdict") < page.index("bias of theta 1")
    assert [each["name"] for each in found] == ["grandvalet-bengio/table1"]
    assert found[0]["claims"] == wb.replay("grandvalet-bengio/table1").rows()


def test_a_paper_makes_one_page_with_its_figures(tmp_path):
    items = [row["name"] for row in wb.replay_list().rows() if row["name"].startswith("kloos/")]
    done = run(tmp_path, "replay", "kloos", "-o", "kloos.html", "--quiet")
    page = (tmp_path / "kloos.html").read_text()
    assert done.returncode == 0 and all(f"<h2>{name}</h2>" in page for name in items)
    assert page.count("data:image/svg+xml;base64,") == 6 and len(page) < 1_000_000


def test_progress_is_one_line_per_item(tmp_path):
    done = run(tmp_path, "replay", "nguyen/introduction")
    assert re.fullmatch(r"nguyen/introduction: holds \d.* \(\d+\.\d s\)\n", done.stderr)


def test_a_file_of_letters_replaces_the_twin(tmp_path):
    import numpy as np
    rng = np.random.default_rng(0)
    letters = rng.permuted(np.tile(list("ABCDEFGHIJKLMNOPQRSTUVWXYZ"), 12))
    features = rng.integers(0, 16, (312, 16))
    lines = [",".join(["letter", *(f"x{k}" for k in range(16))])]
    lines += [",".join([letter, *map(str, row)]) for letter, row in zip(letters, features, strict=True)]
    (tmp_path / "letter.csv").write_text("\n".join(lines))
    from workbench.replays import grandvalet_bengio

    X, y = grandvalet_bengio.read_population(str(tmp_path / "letter.csv"))
    assert (y == (letters >= "N")).all() and (X == features).all()
    found = run_item("grandvalet-bengio/table2", tmp_path / "letter.csv")
    assert found.data.endswith("letter.csv")
    checked = [row for row in found.rows() if row["ours"] is not None]
    assert {row["verdict"] for row in checked} == {"on a twin"}     # not the 20,000 items of the paper
    assert all(row["why"].startswith("the file given for Letter; ") for row in checked)


def run_item(name, path):
    from workbench.replays import registry, run
    from workbench.replays.items import Setting
    return run(registry.find(name), Setting(data=str(path), scale=.1))


@pytest.mark.parametrize("message, words", [
    ("name must be an item of `workbench replay list`; got 'kloos/fig7'", ["kloos/fig7"]),
    ("data must not be given for kloos/fig1", ["kloos/fig1", "--data", "x.csv"]),
    ("x.csv", ["grandvalet-bengio/table2", "--data", "x.csv"]),
    ("output folder 'no' does not exist; make it first", ["kloos/table1", "-o", "no/page.html"]),
    ("Missing argument 'NAME'", [])])
def test_a_mistake_costs_one_line(tmp_path, message, words):
    costs_one_line(tmp_path, message, "replay", *words)


def test_a_file_with_two_columns_of_text_is_refused(tmp_path):
    (tmp_path / "two.csv").write_text("a,b,c\nx,y,1\nz,w,2\n")
    costs_one_line_in(tmp_path)


def costs_one_line_in(folder):
    done = run(folder, "replay", "grandvalet-bengio/table2", "--data", "two.csv", "--quiet")
    assert done.returncode == 2 and "text in 'a', 'b'" in done.stderr and len(done.stderr.splitlines()) == 1


def test_what_a_file_is_called_is_escaped(tmp_path):
    from workbench.replays.page import page
    from workbench.replays.result import Replay
    row = {"claim": "<b>", "printed": "", "ours": None, "error": None, "verdict": "holds", "why": "<i>"}
    text = page([Replay("kloos/table1", "a < b", (row,), (), False, "<script>.csv")], "workbench <x>")
    assert "<script>" not in text and "&lt;script&gt;.csv" in text and "&lt;b&gt;" in text and "&lt;i&gt;" in text
