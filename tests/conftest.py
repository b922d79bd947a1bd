"""What every test relies on: marks by what a test needs, groups that share a fixture, nothing left behind."""

import asyncio
import collections
import functools
import subprocess
import sys
from pathlib import Path

import browser
import hypothesis
import psutil
import pytest

from workbench.reports import build

ROOT = Path(__file__).parents[1]
# a test is marked by what it asks for
NEEDS = {"chromium": "browser", "kernel": "kernel"}
# folders, and what else is listed
SLOW = ("simulations", "charts", "properties")
LISTED = set((ROOT / "tests" / "slow.txt").read_text(encoding="utf-8").splitlines()[1:])
# how many cases of a test are run, where not all are asked for
FEW = {
    name: int(few)
    for few, name in (
        line.split()
        for line in (ROOT / "tests" / "thinned.txt").read_text(encoding="utf-8").splitlines()[1:]
    )
}
# what someone may write while the tests run
WRITTEN = (".py", ".md", ".toml")
# the longest first
ORDER = ("browser", "kernel", "java", "slow")
# how long an example takes depends on what else the machine does
hypothesis.settings.register_profile("untimed", deadline=None)
hypothesis.settings.load_profile("untimed")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Mark each test, keep those together that share an expensive fixture, and put the longest first."""
    cases = collections.defaultdict(list)
    for item in items:
        cases[_of(item)].append(item)
        for name in NEEDS.keys() & set(getattr(item, "fixturenames", ())):
            item.add_marker(NEEDS[name])
        if item.path.parent.name in SLOW or {_of(item), _of(item).partition("::")[0]} & LISTED:
            item.add_marker("slow")
        if _shares(item):
            item.add_marker(pytest.mark.xdist_group(item.path.stem))
    for name in FEW.keys() & cases.keys():
        for item in set(cases[name]) - set(cases[name][:: -(-len(cases[name]) // FEW[name])]):
            item.add_marker("full")
    items.sort(key=_rank)


def _of(item):
    """Return a test's file and name, as lists of tests name it."""
    return f"{_file(item.path)}::{getattr(item, 'originalname', item.name)}"


@functools.cache
def _file(path):
    return (
        path.relative_to(ROOT / "tests").as_posix() if path.is_relative_to(ROOT / "tests") else ""
    )


def _shares(item):
    """Whether a test uses a fixture that is made once for its module."""
    found = getattr(item, "_fixtureinfo", None)
    return found is not None and any(
        fixture.scope == "module"
        for fixtures in found.name2fixturedefs.values()
        for fixture in fixtures
    )


def _rank(item):
    return next(
        (rank for rank, name in enumerate(ORDER) if item.get_closest_marker(name)), len(ORDER)
    )


@pytest.fixture(scope="session")
def kernel():
    """Asked for by what starts a kernel: the test is marked, and no kernel may outlive it."""


@pytest.fixture(autouse=True)
def no_exercise_of_another_test():
    """Forget the exercises that a test adds to the course."""
    yield
    checking = sys.modules.get("workbench.lessons.checking")
    if checking:
        checking.OWN.clear()


@pytest.fixture(scope="session")
def chromium():
    """The path of the system's Chromium."""
    return browser.chromium() or pytest.skip(browser.missing())


@pytest.fixture(scope="session")
def started(chromium):
    """A Chromium that reaches no other machine."""
    if browser.missing():
        pytest.skip(browser.missing())
    with browser.start() as started:
        yield started


@pytest.fixture(scope="session")
def chrome(started):
    """The same, for tests that start something else: a process has one."""
    return started


@pytest.fixture(scope="session")
def lab(tmp_path_factory, started, kernel):
    """One JupyterLab, with a folder for each notebook that it shows."""
    folder = tmp_path_factory.mktemp("lab")
    with browser.lab(folder) as address:
        yield browser.Site(folder, address, started)


@pytest.fixture(scope="session")
def voila(tmp_path_factory, started, kernel):
    """One Voila, with a folder for each notebook that it shows."""
    if browser.missing_voila():
        pytest.skip(browser.missing_voila())
    folder = tmp_path_factory.mktemp("voila")
    with browser.voila(folder) as address:
        yield browser.Site(folder, address, started)


@pytest.fixture(scope="session")
def axe():
    """The package that holds axe-core."""
    pytest.importorskip(
        "axe_playwright_python", reason="axe-playwright-python is missing: pip install it"
    )


@pytest.fixture(autouse=True)
def _no_loop_of_the_browser(request):
    """Playwright's loop counts as running while its Chromium is open: kernels of other tests would wait in a thread."""
    loop = asyncio._get_running_loop()
    if request.node.get_closest_marker("browser"):
        yield
    else:
        asyncio._set_running_loop(None)
        yield
        asyncio._set_running_loop(loop)


@pytest.fixture(autouse=True)
def _kernels(request, monkeypatch):
    if request.node.get_closest_marker("kernel"):
        yield
        assert _running() == []
    else:
        monkeypatch.setattr(build, "kernel_manager_class", _unasked)
        yield


def _unasked(*details):
    raise AssertionError("a test that starts a kernel asks for the fixture kernel")


def _running():
    children = (child for child in psutil.Process().children() if child.is_running())
    return [
        child for child in children if "--InteractiveShellApp.ignore_cwd=True" in child.cmdline()
    ]


@pytest.fixture(scope="session", autouse=True)
def _nothing_left():
    """No test leaves a file in the repository."""
    before = _untracked()
    yield
    assert _untracked() <= before


def _untracked():
    told = subprocess.run(
        ["git", "status", "--porcelain", "--untracked-files=all"],
        cwd=ROOT,
        text=True,
        capture_output=True,
        check=False,
    )
    return {
        line
        for line in told.stdout.splitlines()
        if line.startswith("??") and not line.endswith(WRITTEN)
    }


@pytest.fixture(scope="session", autouse=True)
def _no_data_at_hand(tmp_path_factory):
    """What someone fetched for themselves changes no test."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SCIKIT_LEARN_DATA", str(tmp_path_factory.mktemp("data")))
        yield
