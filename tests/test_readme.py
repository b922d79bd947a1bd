"""README and site: their blocks run, their commands and links exist, their numbers are those that were recorded."""

import contextlib
import functools
import json
import math
import re
import shlex
import shutil
from pathlib import Path

import blocks
import click
import documented
import duckdb
import example_files
import pytest
import reference
import refresh_pictures
from command import run_unseen

import workbench as wb
from workbench.commands import main
from workbench.reports import parameters

ROOT = Path(__file__).parent.parent
PEERS = ROOT / "tests" / "peers"
TEXTS = {
    path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in documented.PAGES
}
LINKED = [*TEXTS, "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md"]
PROGRAM = {words[1:]: command for words, command in reference.walk()}
NOT_OURS = {"--nbval", "--template", "--help"}


@pytest.mark.slow
@pytest.mark.parametrize("name", [*blocks.pages(), "README"])
def test_every_block_that_starts_no_kernel_runs(name, tmp_path, monkeypatch):
    text = blocks.pages().get(name) or "<!-- files: my.csv my-labels.csv -->\n" + TEXTS["README.md"]
    monkeypatch.chdir(tmp_path)
    outputs = [printed or findings for printed, findings in blocks.run(text, kernel=False)]
    assert len(outputs) == len(re.findall(r"^```(?:sh|python)$|^<!-- picture:", text, re.M))
    assert all(outputs) or blocks.KERNEL.search(text)


QUESTIONS = re.findall(r"^\| \[.*`(workbench report .*)` \|$", TEXTS["README.md"], re.M)


@pytest.mark.slow
@pytest.mark.parametrize("line", QUESTIONS)
def test_the_command_of_each_question_runs_on_the_example_data(line, tmp_path):
    assert len(QUESTIONS) == 5
    for path in parameters.data_files():
        shutil.copy(path, tmp_path)
    done = run_unseen(tmp_path, *shlex.split(line)[1:], "-o", "report.html")
    assert done.returncode == 0, done.stderr


MADE = [path for path in parameters.data_files() if path.name in example_files.FILES]


@pytest.mark.parametrize("path", MADE, ids=lambda path: path.name)
def test_the_notebooks_data_are_the_example_files_of_the_pages(path, tmp_path):
    afresh = tmp_path / path.name
    example_files.FILES[path.name](afresh)
    if path.suffix == ".parquet":
        assert duckdb.sql(f"from '{afresh}'").fetchall() == duckdb.sql(f"from '{path}'").fetchall()
    else:
        assert afresh.read_bytes() == path.read_bytes()


def commands(text):
    """Yield the words of each command of the program, in blocks and in sentences."""
    for block in re.findall(r"^```[a-z]*\n(.*?)^```$", text, re.M | re.S):
        for line in block.replace("\\\n", " ").splitlines():
            if line.startswith("workbench "):
                yield shlex.split(line, comments=True)[1:]
    for line in re.findall(
        r"`workbench ([^`]+)`", re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S)
    ):
        yield shlex.split(" ".join(line.split()))


def options(words):
    """Return the command that the words name, and its options, with those of a report's topic."""
    name = max((name for name in PROGRAM if tuple(words[: len(name)]) == name), key=len)
    return name, typed(PROGRAM[name].params) | (
        of_topic(words[1]) if name == ("report",) and len(words) > 1 else set()
    )


def typed(params):
    """Return options as they are typed."""
    return {option for each in params for option in (*each.opts, *each.secondary_opts)}


@functools.cache
def of_topic(topic):
    """Return the options of a report."""
    with click.Context(PROGRAM["report",], info_name="report") as context:
        context.meta["parameters"] = main._options_for(topic)
        return typed(PROGRAM["report",].get_params(context))


@pytest.mark.parametrize("page", LINKED[: len(TEXTS)])
def test_every_command_and_option_is_one_of_the_program(page):
    for words in commands(TEXTS[page]):
        name, known = options(words)
        assert name, words
        assert {word for word in words if re.match(r"--?[a-z]", word)} - known == set(), words


def test_every_option_of_a_sentence_is_one_of_the_program():
    every = set().union(
        *(typed(command.params) for command in PROGRAM.values()),
        *map(of_topic, parameters.topics()),
    )
    told = {
        option
        for page, text in TEXTS.items()
        for option in re.findall(
            r"(?<![\w-])(--[a-z][a-z-]+)", re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S)
        )
        if not page.startswith(("docs/evidence/searches", "docs/evidence/scoreboard"))
    }
    assert len(told) > 40
    assert told - every - NOT_OURS == set()


def test_the_site_has_every_public_name_command_and_option():
    made = made_pages()
    assert sorted(name for names in reference.homes().values() for name in names) == sorted(
        wb.__all__
    )
    entries = {
        name
        for page in made.values()
        for name in re.findall(r"\.\. auto(?:function|class):: (\w+)", page)
    }
    assert entries == set(wb.__all__)
    page = made["reference/commands.md"]
    assert set(re.findall(r"^## workbench (.+)$", page, re.M)) >= {
        " ".join(name) for name in PROGRAM if name
    }
    for topic in parameters.topics():
        assert all(option in page for option in of_topic(topic))
    assert all(
        option in page
        for command in PROGRAM.values()
        for each in command.params
        for option in each.opts
        if option.startswith("--")
    )


@functools.cache
def made_pages():
    """Return the pages that are made."""
    return reference.pages() | reference.records() | reference.installed()


def slugs(text):
    """Return what may follow the # of a link to a page."""
    headings = re.findall(r"^#+ (.+)$", text, re.M)
    return {
        re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings
    } | set(re.findall(r"^\((.+)\)=$", text, re.M))


@pytest.mark.parametrize("page", LINKED)
def test_every_link_inside_leads_somewhere(page):
    path = ROOT / page
    text = re.sub(r"^```.*?^```$", "", path.read_text(encoding="utf-8"), flags=re.M | re.S)
    made = {ROOT / "docs" / name for name in made_pages()}
    for link in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`]*`", "", text)):
        if not re.match(r"https?:|mailto:", link):
            file, _, anchor = link.partition("#")
            target = (path.parent / file).resolve() if file else path
            assert target.exists() or target in made, link
            assert not anchor or anchor in slugs(target.read_text(encoding="utf-8")), link


@pytest.mark.parametrize(
    "index", sorted((ROOT / "docs").rglob("index.md")), ids=lambda path: path.parent.name
)
def test_every_page_is_in_a_list_of_contents(index):
    listed = {
        line
        for block in re.findall(r"```{toctree}\n(.*?)```", index.read_text(encoding="utf-8"), re.S)
        for line in block.splitlines()
        if line and not line.startswith(":")
    }
    there = {path.stem for path in index.parent.glob("*.md")} - {"index"}
    assert there <= listed


def recorded(name):
    """Return a function to the least recorded coverage of some families, rounded down."""
    found = json.loads((PEERS / f"{name}.json").read_text(encoding="utf-8"))

    def least(*words):
        held = [
            each["coverage"]
            for family, each in found.items()
            if any(re.fullmatch(word, family) for word in words)
        ]
        return documented.floored(min(held))

    return least


def test_least_coverage_is_rounded_down():
    record = {"a": {"coverage": 0.93065}, "b": {"least": 0.9459}, "c": {"coverage": 0.945}}
    assert dict(reference.leasts("", record)) == {"a": "0.930", "b": "0.945", "c": "0.945"}
    assert reference.percentages("shares")["share"] == "93.0%"


def test_numbers_of_searches_are_those_that_were_recorded():
    values, streams, waves, shares = map(
        recorded, ("search_values", "search_streams", "search_waves", "search_shares")
    )
    pairs, auc = recorded("search_second_labels"), recorded("search_auc")
    grid = json.loads((PEERS / "second_labels_grid.json").read_text(encoding="utf-8"))
    said, settings = documented.said(), documented.floored(grid["minimum"])
    for sentence in (
        f"Search: least {values('.* 0.95', 'mixed.*', 'census')} for values, "
        f"{values('recall', 'f1')} for recall and F1 ({values('.* 0.9')} at 90%, {values('.* 0.99')} at 99%)",
        f"least {streams('bounded, (one stream|merged)')} for values in five uneven steps, "
        f"{streams('0/1, (one stream|merged)')} for correct and incorrect, {streams('.*many strata')} with 20 to 60",
        f"Search: least {waves('.95')}, {waves('.90')} and {waves('.99')} where 95%, 90% and 99% are nominal",
        f"least {shares('share')} (proportions), {shares('change')} (changes), {shares('chain of two')} (months), "
        f"{shares('rarest.*')} (more classes), {shares('chain of three')} (their months)",
        f"least {pairs('.*')}. Simulation of 300 settings: least {settings}",
        f"ties and lost positives: least {auc('.*')}",
    ):
        assert sentence in said, sentence


def test_numbers_of_differences_of_metrics_are_those_that_were_recorded():
    record = json.loads((PEERS / "difference_coverage.json").read_text(encoding="utf-8"))
    least, most = {}, 0.0
    for setting, metrics in record.items():
        for name, counted in metrics.items():
            least[name] = min(least.get(name, 1.0), counted["coverage"])
            least["t"] = min(least.get("t", 1.0), counted["t_coverage"])
            if setting.endswith("equal"):
                most = max(most, counted["zero_excluded"])
    of_classes = min(least[name] for name in least if name not in ("brier", "log_loss", "t"))
    floors = [
        f"{math.floor(1000 * share + 1e-9) / 10}%"
        for share in (of_classes, least["log_loss"], least["brier"], least["t"])
    ]
    said = documented.said()
    for sentence in (
        f"simulates {len(record)} settings",
        f"in at least {floors[0]} of samples for metrics of classes and AUC",
        f"in at least {floors[1]} for log loss, and in at least {floors[2]} for the Brier score",
        f"Student's t covered in as few as {floors[3]}",
        f"difference of equal models was shown in at most {100 * most:.1f}% of samples",
    ):
        assert sentence in said, sentence


@pytest.mark.parametrize(
    ("question", "number", "call"),
    [
        ("accuracy, stratified sample", "Q2", "stratified_accuracy"),
        ("accuracy, labels in clusters", "Q3", None),
        ("proportion in a new month, from an earlier audit", "Q9", None),
    ],
)
def test_readme_compares_with_the_figures_of_the_scoreboard(question, number, call):
    page = (ROOT / "docs" / "evidence" / "scoreboard.md").read_text(encoding="utf-8")
    (section,) = re.findall(rf"(?ms)^## {number} .*?(?=^## |\Z)", page)
    rows = re.findall(r"(?m)^\| ([^|]+) \| ([^|]+) \| ([\d.]+) ± ", section)
    ours = [float(least) for tool, called, least in rows if tool == "workbench"]
    if call:
        ours = [float(least) for _, called, least in rows if called == call]
    others = [float(least) for tool, _, least in rows if tool != "workbench"]
    line = f"| {question} | {100 * min(ours):.1f}% | {min(others):.0%} to {max(others):.0%} |"
    assert line in TEXTS["README.md"]


def test_readme_is_short():
    assert len(TEXTS["README.md"].splitlines()) <= 130


def test_the_picture_is_there_and_its_words_are_computed():
    finding, _ = refresh_pictures.audited()
    assert refresh_pictures.LINE.findall(TEXTS["README.md"]) == [finding]
    picture = refresh_pictures.PICTURE.read_bytes()
    assert picture.startswith(b"\x89PNG") and 5_000 < len(picture) <= 80_000


def test_a_finding_and_its_picture_are_taken_from_a_page(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("a.html").write_text(
        '<section class="finding"><p>A &lt; B</p>\n<figure><picture><source><img src="data:image/'
        'png;base64,AAEC" alt="x"></picture></figure></section>',
        encoding="utf-8",
    )
    assert blocks.findings("workbench report x -o a.html\n") == [("A < B", b"\x00\x01\x02")]


def test_a_block_that_fails_is_told():
    with pytest.raises(AssertionError, match="No such command"):
        list(blocks.run("```sh\nworkbench nonsense\n```\n"))
    with pytest.raises(NameError), contextlib.chdir(ROOT):
        list(blocks.run("```python\nnonsense\n```\n"))


def test_the_page_on_other_tools_quotes_the_scoreboard():
    page = (ROOT / "docs" / "evidence" / "scoreboard.md").read_text(encoding="utf-8")
    cells = re.findall(r"(?m)^\| ([^|]+) \| \[([^\]]+)\]\([^)]*\) \| ([\d.]+) ± ", page)
    ours = {least for least in re.findall(r"(?m)^\| workbench \| [^|]+ \| ([\d.]+) ± ", page)}
    quoted = re.findall(
        r"(?m)^\| [^|]+ \| (\.\d+) \| (\w[\w-]*) `([^`]+)` \| (\.\d+) \|$",
        TEXTS["docs/evidence/compare.md"],
    )
    assert len(quoted) == 11
    assert {own for own, *_ in quoted} <= ours
    assert {tuple(other) for _, *other in quoted} <= set(cells)
