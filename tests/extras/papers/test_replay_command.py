"""The command `workbench papers replay`: list, one item, a paper, files, mistakes."""

import json
import re
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner
from command import costs_one_line, run

import workbench as wb
from workbench.commands import main
from workbench.extras.papers.claims import number, put_in
from workbench.extras.papers.result import Replay

REMOTE = re.compile(r"""(?:src|href|url)\s*[=(]\s*["']?https?:""")


def test_list_prints_one_line_per_item_that_begins_with_its_name(tmp_path):
    done = run(tmp_path, "papers", "replay", "list")
    names = [line.split()[0] for line in done.stdout.splitlines()]
    assert done.returncode == 0 and names == [row["name"] for row in wb.replay_list().rows()]


def test_an_item_prints_its_claims(tmp_path):
    done = run(tmp_path, "papers", "replay", "micheals-boult/kish", "--quiet")
    assert done.returncode == 0 and done.stderr == "" and list(tmp_path.iterdir()) == []
    assert "holds: proportion of errors; printed 0.074, ours 0.07358 (± 0.0005)" in done.stdout


def test_a_slip_of_the_print_is_told_with_the_corrected_number(tmp_path):
    done = run(tmp_path, "papers", "replay", "nguyen/section3.2", "--quiet")
    assert done.stdout.splitlines()[1] == (
        "  wrong as printed, right when corrected: ways to take 5 records from 3 strata, all counted; printed 35, ours "
        "21, corrected 21 (exact); C(beta + r - 1, r - 1)"
    )


def test_a_page_stands_alone_with_the_verdicts_on_top(tmp_path):
    done = run(
        tmp_path,
        "papers",
        "replay",
        "grandvalet-bengio/table1",
        "-o",
        "page.html",
        "--json",
        "found.json",
        "--quiet",
    )
    page, found = (
        (tmp_path / "page.html").read_text(),
        json.loads((tmp_path / "found.json").read_text()),
    )
    assert done.returncode == 0 and done.stdout.splitlines() == [
        "Wrote page.html",
        "Wrote found.json",
    ]
    assert not REMOTE.search(page) and "<script" not in page
    assert page.index("holds: 5") < page.index('id="contents"') < page.index("bias of theta 1")
    assert (
        "<h1>Table 1 of “Hypothesis testing for cross-validation”, replayed (Grandvalet &amp; Bengio, 2006)"
        in page
    )
    assert [each["name"] for each in found] == ["grandvalet-bengio/table1"]
    assert found[0]["claims"] == wb.replay("grandvalet-bengio/table1").rows()


def test_a_paper_makes_one_page_with_its_figures(tmp_path):
    items = [row["name"] for row in wb.replay_list().rows() if row["name"].startswith("kloos/")]
    done = run(tmp_path, "papers", "replay", "kloos", "-o", "kloos.html", "--quiet")
    page = (tmp_path / "kloos.html").read_text()
    assert done.returncode == 0 and all(
        page.count(f'"{prefix}{name.replace("/", "-")}"') == 1
        for name in items
        for prefix in ("#", "")
    )
    assert page.count("data:image/svg+xml;base64,") == 6 and len(page) < 1_000_000


def test_progress_is_one_line_per_item(tmp_path):
    done = run(tmp_path, "papers", "replay", "nguyen/introduction")
    assert re.fullmatch(r"nguyen/introduction: holds \d.* \(\d+\.\d s\)\n", done.stderr)


def test_a_file_of_letters_replaces_the_twin(tmp_path):
    import numpy as np

    rng = np.random.default_rng(0)
    letters = rng.permuted(np.tile(list("ABCDEFGHIJKLMNOPQRSTUVWXYZ"), 12))
    features = rng.integers(0, 16, (312, 16))
    lines = [",".join(["letter", *(f"x{k}" for k in range(16))])]
    lines += [
        ",".join([letter, *map(str, row)]) for letter, row in zip(letters, features, strict=True)
    ]
    (tmp_path / "letter.csv").write_text("\n".join(lines))
    from workbench.extras.papers import grandvalet_bengio

    X, y = grandvalet_bengio.read_population(str(tmp_path / "letter.csv"))
    assert (y == (letters >= "N")).all() and (X == features).all()
    found = run_item("grandvalet-bengio/table2", tmp_path / "letter.csv")
    assert found.data.endswith("letter.csv")
    checked = [row for row in found.rows() if row["ours"] is not None]
    assert {row["verdict"] for row in checked} == {
        "not decided here"
    }  # not the 20,000 items of the paper
    assert all(row["why"].startswith("the file given for Letter; ") for row in checked)


def run_item(name, path):
    from workbench.extras.papers import registry, run
    from workbench.extras.papers.items import Setting

    return run(registry.find(name), Setting(data=str(path), scale=0.1))


@pytest.mark.parametrize(
    "message, words",
    [
        (
            "name must be an item of `workbench papers replay list`; got 'kloos/fig7'",
            ["kloos/fig7"],
        ),
        ("data must not be given for kloos/fig1", ["kloos/fig1", "--data", "x.csv"]),
        ("x.csv", ["grandvalet-bengio/table2", "--data", "x.csv"]),
        (
            "output folder 'no' does not exist; create it first",
            ["kloos/table1", "-o", "no/page.html"],
        ),
        ("Missing argument 'NAME'", []),
    ],
)
def test_a_mistake_costs_one_line(tmp_path, message, words):
    costs_one_line(tmp_path, message, "papers", "replay", *words)


def test_a_file_with_two_columns_of_text_is_refused(tmp_path):
    (tmp_path / "two.csv").write_text("a,b,c\nx,y,1\nz,w,2\n")
    costs_one_line_in(tmp_path)


def costs_one_line_in(folder):
    done = run(
        folder, "papers", "replay", "grandvalet-bengio/table2", "--data", "two.csv", "--quiet"
    )
    assert (
        done.returncode == 2
        and "text in 'a', 'b'" in done.stderr
        and len(done.stderr.splitlines()) == 1
    )


def test_what_a_file_is_called_is_escaped(tmp_path):
    from workbench.extras.papers.page import page

    row = put_in("<b>", "<i> `a < b`", "<u>")
    text = page(
        [Replay("kloos/table1", "a < b", (row,), (), False, "<script>.csv")], "workbench <x>"
    )
    assert (
        "<script>" not in text
        and "&lt;script&gt;.csv" in text
        and "&lt;b&gt;" in text
        and "&lt;i&gt;" in text
    )
    assert "&lt;u&gt;" in text and "<code>a &lt; b</code>" in text


def test_the_monte_carlo_error_stands_behind_ours():
    from workbench.extras.papers.page import page

    row = number("share", "5.0", 4.8, error=0.0125)
    assert 'data-name="Ours">4.8 ± 0.013</td>' in page(
        [Replay("kloos/table1", "x", (row,), (), False, "none")], ""
    )


def verdict_first(page):
    rows = re.findall(r"<tr class=\"claim [a-z-]+\">(.*?)</tr>", page, re.DOTALL)
    return rows and all(row.startswith('<td class="verdict"><span class="badge ') for row in rows)


def test_each_claim_has_its_verdict_first_and_the_papers_section(tmp_path):
    run(tmp_path, "papers", "replay", "kumar-raj/eq13", "-o", "page.html", "--quiet")
    page = (tmp_path / "page.html").read_text()
    assert verdict_first(page) and page.count("(section 3.4.1)") == 3
    assert (
        page.count('<tr class="claim corrected">') == 1 and 'data-name="Corrected">0.4</td>' in page
    )
    assert 'id="show-fails"' in page and ".claim:not(.fails)" in page


@pytest.fixture
def quick(monkeypatch):
    """Items that take no time; the names that were run, and at which of them the run is interrupted."""
    ran = SimpleNamespace(names=[], stop=None)

    def run_quickly(item, setting):
        if len(ran.names) + 1 == ran.stop:
            raise KeyboardInterrupt
        ran.names.append(item.name)
        return Replay(
            item.name,
            item.claim,
            (number("digits of the name", float(len(item.name)), len(item.name)),),
            (),
            setting.full,
            item.data,
        )

    monkeypatch.setattr("workbench.extras.papers.run", run_quickly)
    return ran


def replay(*words):
    return CliRunner().invoke(main.commands, ["papers", "replay", *words])


def without_date(page):
    return re.sub(r"20\d\d-[-0-9:T Z]+", "", page)


def test_a_run_interrupted_at_item_30_goes_on_and_ends_the_same(quick, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert replay("micheals-boult", "-o", "page.html", "--json", "whole.json").exit_code == 0
    whole, names = without_date(Path("page.html").read_text()), quick.names[:]
    quick.names, quick.stop = [], 30
    stopped = replay("micheals-boult", "-o", "page.html", "--json", "found.json")
    page = Path("page.html").read_text()
    assert stopped.exit_code == 1 and f"29 of {len(names)} items so far" in page
    assert len(json.loads(Path("found.json").read_text())) == 29 and page.count("<h3 ") == 29
    with open("page.html.part", "a") as part:
        part.write('[["cut sho')
    quick.stop = None
    done = replay("micheals-boult", "-o", "page.html", "--json", "found.json", "--resume")
    assert (
        done.exit_code == 0
        and quick.names == names
        and f"29 of {len(names)} items kept" in done.stderr
    )
    assert without_date(Path("page.html").read_text()) == whole
    assert Path("found.json").read_text() == Path("whole.json").read_text()
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "found.json",
        "page.html",
        "whole.json",
    ]


def test_what_was_run_otherwise_is_run_again(quick, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    quick.stop = 5
    replay("kloos", "-o", "page.html")
    quick.names, quick.stop = [], None
    assert replay("kloos", "-o", "page.html", "--full", "--resume").exit_code == 0
    assert len(quick.names) == 10


def test_a_resumed_run_needs_a_file(tmp_path):
    costs_one_line(
        tmp_path,
        "resume needs an output file: add --output or --json",
        "papers",
        "replay",
        "kloos/table1",
        "--resume",
    )
