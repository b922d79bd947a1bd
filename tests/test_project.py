"""What a fresh machine relies on: pins, commands, scripts, documentation."""

import ast
import json
import re
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import documented
import pytest
import reference
import yaml
from packaging.requirements import Requirement

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
MAKE = (ROOT / "Makefile").read_text()


def pins():
    lines = (ROOT / "binder" / "requirements.txt").read_text().splitlines()
    return [line for line in lines if not line.startswith("#")]


def test_binder_pins_are_exact_and_plain():
    assert all(re.fullmatch(r"[A-Za-z0-9._-]+==[A-Za-z0-9.+!]+", pin) for pin in pins())
    assert (ROOT / "binder" / "runtime.txt").read_text() == "python-3.11\n"


def test_binder_pins_every_dependency_within_its_bounds():
    pinned = {
        name.lower().replace("_", "-"): version
        for name, version in (pin.split("==") for pin in pins())
    }
    wanted = [
        Requirement(r) for r in PROJECT["dependencies"] + PROJECT["optional-dependencies"]["voila"]
    ]
    assert {r.name for r in wanted} <= set(pinned)
    assert [r.name for r in wanted if not r.specifier.contains(pinned[r.name])] == []


def test_a_codespace_installs_what_there_is_and_opens_the_start_page():
    path = ROOT / ".devcontainer" / "devcontainer.json"
    settings = json.loads(path.read_text(encoding="utf-8"))
    # properties of the specification, containers.dev
    assert set(settings) == {"name", "image", "postCreateCommand", "waitFor", "customizations"}
    assert settings["waitFor"] == "postCreateCommand"
    python = re.search(r":(3\.\d+)", settings["image"])[1]
    assert (ROOT / "binder" / "runtime.txt").read_text() == f"python-{python}\n"
    extra = re.search(r"--editable '\.\[(\w+)\]'$", settings["postCreateCommand"])[1]
    assert extra in PROJECT["optional-dependencies"]
    (start,) = settings["customizations"]["codespaces"]["openFiles"]
    assert (ROOT / start).is_file()


def test_scripts_parse():
    for script in (".ci/run", "binder/postBuild"):
        assert subprocess.run(["bash", "-n", ROOT / script]).returncode == 0
        assert (ROOT / script).stat().st_mode & 0o111


def test_workflows_call_what_there_is():
    flows = [
        yaml.safe_load(path.read_text(encoding="utf-8"))
        for path in ROOT.glob(".github/workflows/*.yml")
    ]
    runs = [
        step["run"]
        for flow in flows
        for job in flow["jobs"].values()
        for step in job["steps"]
        if "run" in step
    ]
    targets = set(re.findall(r"^([a-z]+):", MAKE, re.M))
    assert {run for run in runs if run.startswith("make ")} == {
        "make lowest",
        "make docs",
        "make release",
    }
    assert all(
        (ROOT / run).exists() if run == ".ci/run" else run.split()[1] in targets for run in runs
    )
    assert {flow["name"] for flow in flows} == {"test", "docs", "release"}


def test_make_help_lists_every_target():
    told = subprocess.run(
        ["make", "--no-print-directory", "help"], cwd=ROOT, capture_output=True, text=True
    ).stdout
    targets = set(re.findall(r"^([a-z]+):", MAKE, re.M))
    assert targets == set(re.findall(r"^  make ([a-z]+)", told, re.M))


def test_make_targets_that_pages_name_exist():
    named = set(
        re.findall(r"make ([a-z]+)[`  \n]", " ".join(re.findall(r"(?s)`.*?`", documented.said())))
    )
    assert (
        {"report", "lab", "docs", "search"} <= named <= set(re.findall(r"^([a-z]+):", MAKE, re.M))
    )
    for extra in ("test", "voila", "spark", "dask", "peers"):
        assert PROJECT["optional-dependencies"][extra]


def test_every_import_is_declared():
    groups = [PROJECT["dependencies"], *PROJECT["optional-dependencies"].values()]
    declared = {
        re.sub(r"[-_.]+", "-", Requirement(each).name).lower() for group in groups for each in group
    }
    owners = metadata.packages_distributions()
    imported = set()
    for path in ROOT.glob("workbench/**/*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = (
                [alias.name for alias in node.names]
                if isinstance(node, ast.Import)
                else ([node.module] if isinstance(node, ast.ImportFrom) else [])
            )
            imported |= {name.partition(".")[0] for name in names}
    others = {
        name: {re.sub(r"[-_.]+", "-", owner).lower() for owner in owners[name]}
        for name in imported - set(sys.stdlib_module_names) - {"workbench"}
        if name in owners
    }
    assert {"traitlets", "threadpoolctl", "numpy"} <= set(others)
    assert {name for name, owned in others.items() if not owned & declared} == set()


def test_direct_dependencies_are_few_and_each_has_a_reason():
    names = {Requirement(line).name for line in PROJECT["dependencies"]}
    assert names == set(reference.DEPENDENCIES) and len(names) <= 24


def test_the_change_log_is_short_and_knows_this_version():
    assert len((ROOT / "CHANGELOG.md").read_text().splitlines()) <= 25
    assert f"## {PROJECT['version']}" in (ROOT / "CHANGELOG.md").read_text()


def test_every_name_that_is_promised_exists():
    """What README, changelog, notebooks and docstrings call wb.something is public."""
    import workbench as wb

    places = ("*.md", "docs/**/*.md", "notebooks/*.ipynb", "workbench/**/*.py")
    texts = [path.read_text(encoding="utf-8") for place in places for path in ROOT.glob(place)]
    names = {name for text in texts for name in re.findall(r"\bwb\.([A-Za-z_]\w*)", text)}
    assert len(names) > 40
    assert sorted(name for name in names if name not in wb.__all__) == []


def test_the_citation_says_what_the_project_says():
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    told = {
        "title": PROJECT["name"],
        "abstract": PROJECT["description"],
        "version": PROJECT["version"],
        "license": PROJECT["license"].split(" AND ")[0],
    }
    assert {key: cited[key] for key in told} == told
    assert all(author["name"] in (ROOT / "LICENSE").read_text() for author in cited["authors"])


def test_commits_are_checked_with_what_the_project_installs():
    hooks = [
        hook
        for repo in yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"]
        for hook in repo["hooks"]
        if repo["repo"] == "local"
    ]
    tools = [hook["entry"].split()[0].removeprefix(".venv/bin/") for hook in hooks]
    assert {hook["language"] for hook in hooks} == {"system"} and set(tools) == {
        "ruff",
        "codespell",
        "mypy",
    }
    assert set(tools) <= {Requirement(r).name for r in PROJECT["optional-dependencies"]["test"]}


@pytest.mark.full
def test_tests_of_a_group_share_a_worker(tmp_path):
    """pytest-xdist writes the group into a test's name; pytest 9.2 does not let it, and the groups are scattered."""
    (tmp_path / "test_two.py").write_text("""import pytest
@pytest.mark.xdist_group("group")
@pytest.mark.parametrize("k", range(6))
def test_one(k): pass
def test_other(): pass
""")
    run = [
        sys.executable,
        "-m",
        "pytest",
        "-v",
        "-p",
        "no:cacheprovider",
        "-n",
        "2",
        "--dist",
        "loadgroup",
        tmp_path,
    ]
    told = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True).stdout
    workers = re.findall(r"\[(gw\d)\].*PASSED.*test_one", told)
    assert len(workers) == 6 and len(set(workers)) == 1, told


@pytest.mark.full
@pytest.mark.parametrize("name", ["slow.txt", "thinned.txt"])
def test_a_list_of_tests_names_what_there_is(name):
    lines = [
        line.split()[-1]
        for line in (ROOT / "tests" / name).read_text(encoding="utf-8").splitlines()[1:]
    ]
    texts = {
        line: (ROOT / "tests" / line.partition("::")[0]).read_text(encoding="utf-8")
        for line in lines
    }
    assert lines == sorted(lines)
    assert [
        line
        for line in lines
        if "::" in line and f"def {line.partition('::')[2]}(" not in texts[line]
    ] == []


def test_types_are_shipped():
    shipped = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"][
        "package-data"
    ]
    assert "py.typed" in shipped["workbench"] and (ROOT / "workbench" / "py.typed").exists()
