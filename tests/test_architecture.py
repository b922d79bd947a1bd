import ast
import dataclasses
import doctest
import functools
import importlib
import inspect
import pydoc
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import workbench
from workbench import registry
from workbench.lessons import LESSONS

ROOT = Path(workbench.__file__).parent
# from the ground up; a file imports its own floor or one below
FLOORS = (
    "registry",
    "imports",
    "checks",
    "results",
    "intervals",
    "data",
    "labeling",
    "topics",
    "course",
    "audits",
    "simulations",
    "charts",
    "widgets",
    "lessons",
    "reports",
    "commands",
    "extras",
    "__main__",
)
# what the files of a topic may import of other topics, on every floor
TOPICS = {
    "stratified": {"allocation"},
    "allocation": set(),
    "replication": set(),
    "misclassification": set(),
    "cross_validation": set(),
}
RANK = {
    room: rank
    for rank, floor in enumerate(FLOORS)
    for room in (TOPICS if floor == "topics" else floor.split())
}
MODULES = sorted(path.relative_to(ROOT.parent).with_suffix("").parts for path in ROOT.rglob("*.py"))
NUMERIC = RANK["simulations"]


def name_of(parts):
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@functools.cache
def tree(parts):
    return ast.parse(ROOT.parent.joinpath(*parts).with_suffix(".py").read_text(encoding="utf-8"))


def imported(parts):
    """Names of workbench modules that a file imports anywhere: in functions and for types, too."""
    for node in ast.walk(tree(parts)):
        if isinstance(node, ast.Import):
            yield from (
                alias.name for alias in node.names if alias.name.split(".")[0] == "workbench"
            )
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name_of(parts)} imports relatively"
            if node.module.split(".")[0] == "workbench":
                for alias in node.names:
                    full = f"{node.module}.{alias.name}"
                    known = (*full.split("."),) in MODULES or (
                        *full.split("."),
                        "__init__",
                    ) in MODULES
                    yield full if known else node.module


@functools.cache
def graph():
    return {name_of(parts): set(imported(parts)) for parts in MODULES}


def floor(name):
    return RANK[name.split(".")[1]]


def topic(name):
    """The topic that a module belongs to, on whatever floor, or None."""
    return next((part for part in name.split(".")[1:] if part in TOPICS), None)


def test_every_module_has_a_floor():
    assert {parts[1] for parts in MODULES} - {"__init__"} == set(RANK)


def test_the_architecture_page_lists_every_room_in_order_and_stays_short():
    page = (ROOT.parent / "ARCHITECTURE.md").read_text(encoding="utf-8")
    assert re.findall(r"^\|[^|]*\| `(\w+)` \|", page, re.M) == list(RANK)
    assert len(page.splitlines()) <= 110


def test_the_architecture_page_lists_the_files_of_every_room():
    page = (ROOT.parent / "ARCHITECTURE.md").read_text(encoding="utf-8")
    listed = set()
    for room, entry in re.findall(r"^- \*\*(\w+)\*\*: (`.*?)(?=\n\n|\n- )", page, re.M | re.S):
        inner = re.findall(r"`(\w+)` \(([^)]*)\)", entry)
        listed |= {
            (room, name, file) for name, files in inner for file in re.findall(r"`(\w+)`", files)
        }
        listed |= {(room, name) for name in re.findall(r"`(\w+)`", re.sub(r"\([^)]*\)", "", entry))}
    found = {parts[1:] for parts in MODULES if parts[-1] != "__init__" and len(parts) > 2}
    found |= {parts[1:-1] for parts in MODULES if parts[-1] == "__init__" and len(parts) > 3}
    assert listed == found


def test_tasks_start_where_the_architecture_page_says():
    page = (ROOT.parent / "ARCHITECTURE.md").read_text(encoding="utf-8")
    starts = re.findall(r"an entry to `([A-Z]+)` of `([\w.]+)`", page)
    assert len(starts) >= 3
    for name, home in starts:
        assert isinstance(getattr(importlib.import_module(f"workbench.{home}"), name), dict)


def test_every_topic_has_its_place_on_every_floor():
    homes = set(graph())
    for room in ("simulations", "charts", "lessons"):
        assert {
            name.split(".")[2] for name in homes if name.startswith(f"workbench.{room}.")
        } >= set(TOPICS)


def test_every_room_is_installed():
    settings = tomllib.loads((ROOT.parent / "pyproject.toml").read_text(encoding="utf-8"))
    folders = {
        path.parent.relative_to(ROOT.parent).as_posix().replace("/", ".")
        for path in ROOT.rglob("__init__.py")
    }
    assert set(settings["tool"]["setuptools"]["packages"]) == folders | {"workbench.notebooks"}


def test_imports_go_one_direction_only():
    wrong = [
        f"{name} imports {other}"
        for name, others in graph().items()
        if name != "workbench"
        for other in others
        if other == "workbench" or floor(other) > floor(name)
    ]
    assert wrong == []


EXTRAS = "workbench.extras."


def test_the_core_imports_no_extra_and_extras_do_not_import_each_other():
    wrong = [
        f"{name} imports {other}"
        for name, others in graph().items()
        for other in others
        if other.startswith(EXTRAS) and name.split(".")[1:3] != other.split(".")[1:3]
    ]
    assert wrong == []


def test_the_registry_names_what_the_extras_have():
    tables = [value for name, value in vars(registry).items() if name.isupper()]
    texts = [
        entry for table in tables for entry in (table if isinstance(table, tuple) else [table])
    ]
    texts += registry.SCENES.values()
    texts += [name for group in registry.COMMANDS.values() for name in group.commands]
    names = [text for text in texts if isinstance(text, str) and text.startswith(EXTRAS)]
    assert len(names) == len({*names}) > 15
    assert all(callable(registry.load(name)) for name in names)


def test_topics_do_not_know_each_other():
    wrong = [
        f"{name} imports {other}"
        for name, others in graph().items()
        for other in others
        if topic(name) and topic(other) and topic(other) not in {topic(name)} | TOPICS[topic(name)]
    ]
    assert wrong == []


def test_widgets_reports_and_the_command_line_know_no_topic():
    wrong = [
        f"{name} imports {other}"
        for name, others in graph().items()
        for other in others
        if name.split(".")[1:2] in (["widgets"], ["reports"])
        and not name.startswith("workbench.reports.inputs")
        and (topic(other) or "lessons" in other)
    ]
    assert wrong == []


def test_the_list_of_lessons_is_that_of_the_folders_the_notebooks_and_the_topics():
    folders = {path.parent.name for path in ROOT.glob("lessons/*/__init__.py")}
    assert folders == set(LESSONS) == {"start", *TOPICS}
    notebooks = {path.stem for path in (ROOT.parent / "notebooks").glob("*.ipynb")}
    assert (
        notebooks - set(LESSONS.values()) == {"06-labeling-desk"}
        and set(LESSONS.values()) <= notebooks
    )


def test_nothing_but_lessons_and_their_floors_needs_the_course():
    assert [
        name
        for name, others in graph().items()
        if name != "workbench" and floor(name) < RANK["course"]
        for other in others
        if other.startswith("workbench.course")
    ] == []


def test_tests_import_helpers_but_no_other_test():
    tests = ROOT.parent / "tests"
    names = {path.stem for path in tests.rglob("test_*.py")}
    for path in tests.rglob("*.py"):
        nodes = [
            node
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            if isinstance(node, (ast.Import, ast.ImportFrom))
        ]
        found = {
            alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names
        }
        found |= {node.module for node in nodes if isinstance(node, ast.ImportFrom)}
        assert not {name for name in found if name and name.split(".")[-1] in names}, path


def test_tests_mirror_the_library():
    tests = ROOT.parent / "tests"
    rooms = {
        path.name for path in tests.iterdir() if path.is_dir() and list(path.rglob("test_*.py"))
    }
    packages = {path.name for path in ROOT.iterdir() if (path / "__init__.py").exists()}
    assert rooms - {"properties"} == packages


def test_modules_stay_short():
    for parts in MODULES:
        statements = sum(isinstance(node, ast.stmt) for node in ast.walk(tree(parts)))
        assert statements <= 500, name_of(parts)


def test_no_two_modules_import_each_other():
    """Imports in functions and for types count. That a module of a package loads the package's `__init__` does not."""
    edges, done = graph(), set()

    def visit(name, path):
        assert name not in path, " -> ".join((*path, name))
        if name not in done:
            for other in edges.get(name, ()):
                visit(other, (*path, name))
            done.add(name)

    for name in edges:
        visit(name, ())
    assert len(done) > 10


def test_the_bottom_knows_nothing_of_the_rest():
    edges = graph()
    assert [
        edges[f"workbench.{name}"] for name in ("checks", "results.vocabulary", "results.digits")
    ] == [set()] * 3
    assert edges["workbench.results.result"] == {
        "workbench.checks",
        "workbench.results.vocabulary",
        "workbench.results.digits",
    }
    assert edges["workbench.intervals.limits"] == set()
    assert edges["workbench.intervals.shares"] == {
        "workbench.checks",
        "workbench.results",
        "workbench.intervals.limits",
    }


def test_topics_import_only_numpy_and_scipy_special_at_the_top():
    allowed = set(sys.stdlib_module_names) | {"numpy", "workbench"}
    for parts in MODULES:
        if parts[1] == "__init__" or floor(".".join(parts)) > NUMERIC:
            continue
        for node in tree(parts).body:
            names = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                names = [
                    f"scipy.{alias.name}" if node.module == "scipy" else node.module
                    for alias in node.names
                ]
            for name in names:
                assert name.split(".")[0] in allowed or name in ("scipy", "scipy.special"), (
                    f"{name_of(parts)}: {name}"
                )


def test_importing_the_package_loads_nothing_heavy():
    code = "import sys; before = {*sys.modules}; import workbench; print(*sorted({*sys.modules} - before))"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT.parent
    ).stdout.split()
    assert {name for name in loaded if name.startswith("workbench")} == {"workbench"}
    light = {"workbench", "lazy_loader", "packaging"}
    assert {name.partition(".")[0] for name in loaded} <= set(sys.stdlib_module_names) | light


def test_every_public_name_is_loaded_from_its_home_when_it_is_first_used():
    stub = ast.parse((ROOT / "__init__.pyi").read_text(encoding="utf-8"))
    homes = {alias.name: line.module for line in stub.body for alias in getattr(line, "names", ())}
    assert set(homes) == set(workbench.__all__)
    for name, home in homes.items():
        value = getattr(importlib.import_module(f"workbench.{home}"), name)
        assert getattr(workbench, name) is value
    assert dir(workbench) == workbench.__all__
    starred: dict = {}
    exec("from workbench import *", starred)
    assert set(workbench.__all__) <= set(starred)


def test_help_lists_every_public_name():
    text = pydoc.plain(pydoc.render_doc(workbench))
    assert [name for name in workbench.__all__ if name not in text] == []


def test_wrong_names_are_refused():
    with pytest.raises(AttributeError, match="stratfy"):
        _ = workbench.stratfy
    with pytest.raises(ImportError, match="Resutl"):
        exec("from workbench import Resutl")


LOOKS = {"startswith", "endswith", "find", "index", "count", "partition"}
EDITS = {"replace", "removeprefix", "removesuffix", "translate", "rpartition"}
SENTENCES = re.compile(
    r"(each_)?(note|warning|flag|message|sentence|caveat|headline)s?|reason|problem|help"
)


def is_sentence(node):
    """Whether an expression is, by its name, a text for people: a note, `note.text`, `str(error)`, `row["help"]`."""
    if (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "str"
        and node.args
    ):
        return isinstance(node.args[0], ast.Name) and (
            node.args[0].id == "error" or is_sentence(node.args[0])
        )
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return node.func.attr in ("headline", "finding", "basis", "next_step")
    if isinstance(node, ast.Subscript):
        return is_sentence(node.slice) or is_sentence(node.value)
    name = {ast.Name: "id", ast.Attribute: "attr", ast.Constant: "value"}.get(type(node))
    return name is not None and (
        SENTENCES.fullmatch(str(getattr(node, name))) is not None
        or (name == "attr" and node.attr == "text")
    )


def looks_inside(node):
    """Whether a node searches or edits a sentence: `x in note`, `note.replace(x, y)`, `re.sub(x, y, note)`."""
    if isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.In, ast.NotIn)):
        return is_sentence(node.comparators[0])
    if isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.Eq, ast.NotEq)):
        sides = (node.left, node.comparators[0])
        texts = [isinstance(side, ast.Constant) and bool(side.value) for side in sides]
        return any(texts) and any(
            is_sentence(side) for side, text in zip(sides, texts, strict=True) if not text
        )
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
        return False
    if isinstance(node.func.value, ast.Name) and node.func.value.id == "re":
        return any(map(is_sentence, node.args))
    return node.func.attr in LOOKS | EDITS and is_sentence(node.func.value)


def test_no_code_looks_inside_a_sentence():
    found = [
        f"{name_of(parts)}:{node.lineno}: {ast.unparse(node)}"
        for parts in MODULES
        for node in ast.walk(tree(parts))
        if looks_inside(node)
    ]
    # what DuckDB says of a file it cannot read comes as a sentence and as nothing else
    assert [each for each in found if not each.startswith("workbench.data.engine:")] == []


@pytest.mark.parametrize(
    "line",
    [
        "any('not drawn' in note for note in notes)",
        "re.match('stratum', note)",
        "str(error).endswith('rows')",
        "re.match('file', parameter['help'])",
        "LIKE_SCORES in self.notes",
        "problem.startswith('no')",
        "note.text == 'x'",
        "str(error).replace('a', '--a')",
        "re.sub('a', 'b', str(error))",
        "note.text.removeprefix('a')",
        "audit.headline().replace('a', 'b')",
    ],
)
def test_the_ways_it_was_done_are_found(line):
    assert any(map(looks_inside, ast.walk(ast.parse(line))))


OPTION = re.compile(r"(?<![\w(-])--[a-z][a-z-]+")


def options_named(file):
    """Options of a command line in the texts of a file; of style sheets, `var(--x)` is none."""
    return [
        (node.lineno, option)
        for node in ast.walk(file)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        for option in OPTION.findall(node.value)
    ]


def test_the_library_does_not_speak_of_the_command_line():
    found = {
        name_of(parts): options_named(tree(parts))
        for parts in MODULES
        if parts[1] != "__init__" and floor(".".join(parts)) <= RANK["widgets"]
    }
    assert [name for name, options in found.items() if options] == []


@pytest.mark.parametrize(
    "line", ["'run it again with --labels'", "f'say --nest, {name}'", "'--within'"]
)
def test_an_option_in_a_text_is_found(line):
    assert options_named(ast.parse(line))


PUBLIC = {
    name: value
    for name, value in vars(workbench).items()
    if not name.startswith("_") and not inspect.ismodule(value)
}
PUBLIC |= {
    name: getattr(workbench, name) for name in workbench.__all__
}  # some are loaded when asked for
EXPECTED = {
    "Allocation",
    "allocate",
    "allocation_variance",
    "stratified_interval",
    "Interval",
    "Result",
    "Strata",
    "stratify",
    "BudgetPlan",
    "StratifiedEstimate",
    "plan_budget",
    "stratified_accuracy",
}


def test_the_public_names_are_there():
    assert EXPECTED <= set(PUBLIC)
    exported = getattr(workbench, "__all__", None)
    assert exported is None or EXPECTED <= set(exported) <= set(PUBLIC)


@pytest.mark.parametrize("name", sorted(PUBLIC))
def test_every_public_name_is_documented(name):
    value = PUBLIC[name]
    text = inspect.getdoc(value) or ""
    assert text.splitlines()[0].strip().endswith(".")
    if inspect.isfunction(value):
        given = list(inspect.signature(value).parameters)
        section = re.search(r"Parameters\n-+\n(.*?)(\n\n[A-Z]\w+\n-+|\Z)", text, re.S)
        assert section or not given
        described = section.group(1) if section else ""
        for parameter in given:
            assert re.search(rf"^(\w+, )*\*{{0,2}}{parameter}\b", described, re.M), (
                f"{name}: {parameter}"
            )
        assert "Examples\n--------" in text
        assert doctest.DocTestParser().get_examples(text)
    else:
        fields = (
            {field.name for field in dataclasses.fields(value)}
            if dataclasses.is_dataclass(value)
            else set()
        )
        if (
            inspect.isclass(value)
            and issubclass(value, workbench.Result)
            and value is not workbench.Result
        ):
            fields -= set(workbench.Result.__dataclass_fields__)  # the base class describes them
        for field in fields:
            assert re.search(rf"\b{field}\b", text), f"{name}: {field}"


@pytest.mark.parametrize(
    "name",
    [
        name_of(parts)
        for parts in MODULES
        if parts[1] != "__init__" and floor(".".join(parts)) <= NUMERIC
    ],
)
def test_functions_and_classes_of_each_module_have_a_docstring(name):
    module = importlib.import_module(name)
    assert module.__doc__
    for key, value in vars(module).items():
        if not key.startswith("_") and getattr(value, "__module__", None) == module.__name__:
            assert inspect.getdoc(value), f"{name}.{key}"


@pytest.mark.parametrize("parts", MODULES, ids=name_of)
def test_no_file_refers_to_something_outside_the_project(parts):
    text = ROOT.parent.joinpath(*parts).with_suffix(".py").read_text(encoding="utf-8")
    absolute_path = r"""(?<![\w<.:/*)])/[a-z]+/\w"""
    assert not re.search(rf"{absolute_path}|\.\./\w|\b[a-z-]+/[\w-]+\.(md|txt)\b", text)
