import ast
import doctest
import importlib
import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

import workbench

ROOT = Path(workbench.__file__).parent
# in this order, one direction; topics import each other without cycles
LAYERS = (("checks", "results"), ("intervals",), ("frames", "populations"),
          ("stratification", "allocation", "stratified", "adaptive", "labeling", "audit", "frame_samples", "streaming",
           "label_plans", "galois", "orthogonal", "survey_design", "replicate_totals", "weighted_statistics",
           "replication", "metrics", "confusion", "prevalence_methods", "prevalence_theory", "prevalence_periods",
           "misclassification", "prevalence_series", "solar", "prevalence_files", "cv_sources", "cv_losses",
           "cross_validation", "model_tests", "model_comparison"),
          ("simulations",), ("exercises",), ("charts",), ("widgets",), ("parameters", "pages", "report"), ("cli",),
          ("__main__",))
RANK = {name: rank for rank, layer in enumerate(LAYERS) for name in layer}
HEAVY = ("altair", "ipywidgets", "anywidget", "pandas", "scipy.stats", "sklearn", "duckdb", "narwhals", "polars",
         "pyarrow", "papermill", "nbconvert", "IPython", "matplotlib", "tqdm")
MODULES = sorted(path.relative_to(ROOT.parent).with_suffix("").parts for path in ROOT.rglob("*.py"))
TESTED = ("checks", "results", "intervals", "stratification", "allocation", "stratified", "adaptive",
          "simulations.stratified", "galois", "orthogonal", "survey_design", "replicate_totals", "weighted_statistics",
          "replication", "frame_samples", "streaming", "simulations.allocation", "confusion", "prevalence_methods",
          "prevalence_theory", "prevalence_periods", "misclassification", "prevalence_series",
          "simulations.misclassification", "cv_losses", "cross_validation", "model_tests", "model_comparison",
          "simulations.learners", "simulations.cross_validation", "simulations.clerks")


def name_of(parts):
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported(parts):
    """Names of workbench modules that a file imports anywhere, lazily or not."""
    tree = ast.parse(ROOT.parent.joinpath(*parts).with_suffix(".py").read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.split(".")[0] == "workbench")
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name_of(parts)} imports relatively"
            if node.module.split(".")[0] == "workbench":
                for alias in node.names:
                    full = f"{node.module}.{alias.name}"
                    known = (*full.split("."),) in MODULES or (*full.split("."), "__init__") in MODULES
                    yield full if known else node.module


def graph():
    return {name_of(parts): set(imported(parts)) for parts in MODULES}


def layer(name):
    return RANK[name.split(".")[1]]


def test_every_module_has_a_layer():
    assert {parts[1] for parts in MODULES} - {"__init__"} <= set(RANK)


def test_imports_go_one_direction_only():
    wrong = [f"{name} imports {other}" for name, others in graph().items() if name != "workbench"
             for other in others if other == "workbench" or layer(other) > layer(name)]
    assert wrong == []


def test_no_two_modules_import_each_other():
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
    assert edges["workbench.checks"] == set() and edges["workbench.results"] <= {"workbench.checks"}
    assert edges["workbench.intervals"] == {"workbench.checks", "workbench.results"}


def test_topics_import_only_numpy_and_scipy_special_at_the_top():
    allowed = set(sys.stdlib_module_names) | {"numpy", "workbench"}
    for parts in MODULES:
        if parts[1] == "__init__" or layer(".".join(parts)) > RANK["simulations"]:
            continue
        for node in ast.parse(ROOT.parent.joinpath(*parts).with_suffix(".py").read_text(encoding="utf-8")).body:
            names = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                names = [f"scipy.{alias.name}" if node.module == "scipy" else node.module for alias in node.names]
            for name in names:
                assert name.split(".")[0] in allowed or name in ("scipy", "scipy.special"), f"{name_of(parts)}: {name}"


def test_importing_the_package_loads_nothing_heavy():
    code = "import sys, workbench; print(*sorted(sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True,
                            cwd=ROOT.parent).stdout.split()
    assert "workbench.allocation.rules" in loaded and "numpy" in loaded
    assert [name for name in HEAVY if name in loaded] == []


PUBLIC = {name: value for name, value in vars(workbench).items()
          if not name.startswith("_") and not inspect.ismodule(value)}
EXPECTED = {"Allocation", "allocate", "allocation_variance", "stratified_interval", "Interval", "Result", "Strata",
            "stratify", "BudgetPlan", "StratifiedEstimate", "plan_budget", "stratified_accuracy"}


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
            assert re.search(rf"^(\w+, )*\*?{parameter}\b", described, re.M), f"{name}: {parameter}"
        assert "Examples\n--------" in text
        assert doctest.DocTestParser().get_examples(text)
    else:
        fields = [f for f in getattr(value, "__dataclass_fields__", {})]
        for field in fields:
            assert re.search(rf"\b{field}\b", text), f"{name}: {field}"


@pytest.mark.parametrize("name", TESTED)
def test_functions_and_classes_of_each_module_have_a_docstring(name):
    module = importlib.import_module(f"workbench.{name}")
    assert module.__doc__
    for key, value in vars(module).items():
        if not key.startswith("_") and getattr(value, "__module__", None) == module.__name__:
            assert inspect.getdoc(value), f"{name}.{key}"


@pytest.mark.parametrize("parts", MODULES, ids=name_of)
def test_no_file_refers_to_something_outside_the_project(parts):
    text = ROOT.parent.joinpath(*parts).with_suffix(".py").read_text(encoding="utf-8")
    absolute_path = r"""(?<![\w<.:/*)])/[a-z]+/\w"""
    assert not re.search(rf"{absolute_path}|\.\./\w|\b[a-z-]+/[\w-]+\.(md|txt)\b", text)
