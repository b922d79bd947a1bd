"""Every public signature keeps the rules: documented as it is, typed, `rng` by name only."""

import ast
import contextlib
import dataclasses
import functools
import importlib
import inspect
import pkgutil
import re
import subprocess
import sys
import typing
from pathlib import Path

import pytest

import workbench

# the report engine and the command line take what click and papermill hand over
UNTYPED = ("workbench.reports", "workbench.commands.main", "workbench.__main__")
ROOT = Path(workbench.__file__).parents[1]
CONTAINED = (staticmethod, classmethod)


def modules():
    names = [info.name for info in pkgutil.walk_packages(workbench.__path__, "workbench.")]
    return [
        importlib.import_module(name)
        for name in names
        if not name.startswith("workbench.notebooks") and not name.endswith("__main__")
    ]


def methods(kind):
    """Name and function of each public method and property that a class defines."""
    for name, value in vars(kind).items():
        found = (
            value.__func__
            if isinstance(value, CONTAINED)
            else getattr(value, "fget", None) or getattr(value, "func", value)
        )
        if not name.startswith("_") and inspect.isfunction(found):
            yield name, found


def defined(module):
    """Name and function of every public function and method that a module defines."""
    for name, value in vars(module).items():
        if name.startswith("_") or getattr(value, "__module__", None) != module.__name__:
            continue
        if inspect.isfunction(value):
            yield name, value
        elif inspect.isclass(value):
            yield from ((f"{name}.{method}", function) for method, function in methods(value))


FUNCTIONS = {
    f"{module.__name__}.{name}": function
    for module in modules()
    for name, function in defined(module)
}
EXPORTED = {
    f"{value.__module__}.{value.__name__}"
    for name in workbench.__all__
    for value in [getattr(workbench, name)]
}
SHOWN = [name for name in FUNCTIONS if name in EXPORTED or name.rpartition(".")[0] in EXPORTED]


def parameters(function):
    return {
        name: each
        for name, each in inspect.signature(function).parameters.items()
        if name not in ("self", "cls")
    }


def documented(function):
    """Names in the numpydoc section Parameters, in order, or None without one."""
    text = inspect.cleandoc(function.__doc__ or "")
    section = re.search(r"^Parameters\n-+\n(.*?)(?=^\S[^\n]*\n-{3,}\n|\Z)", text, re.M | re.S)
    if section is None:
        return None
    heads = [line.partition(" : ")[0] for line in section[1].splitlines() if line[:1].strip()]
    return [name.strip().lstrip("*") for head in heads for name in head.split(",")]


def test_the_walk_finds_the_library():
    assert len(FUNCTIONS) > 700 and len(SHOWN) > 250
    assert {
        "workbench.stratified.strata.stratify",
        "workbench.results.result.Result.from_dict",
        "workbench.results.result.Estimate.standard_error",
        "workbench.checks.level",
    } <= set(FUNCTIONS)


def test_rng_is_passed_by_name():
    wrong = [
        name
        for name, function in FUNCTIONS.items()
        if "rng" in parameters(function)
        and parameters(function)["rng"].kind is not inspect.Parameter.KEYWORD_ONLY
    ]
    assert wrong == []
    with pytest.raises(TypeError, match="positional"):
        workbench.draw_items([0, 1], [1, 1], 0)


def test_every_parameter_is_documented_in_order():
    wrong = {
        name: (documented(function), list(parameters(function)))
        for name, function in FUNCTIONS.items()
        if (documented(function) or []) != list(parameters(function))
        and (name in SHOWN or documented(function) is not None)
    }
    assert wrong == {}


@functools.cache
def docstrings():
    """Name and text of every docstring, private ones too."""
    trees = [
        (path.stem, ast.parse(path.read_text(encoding="utf-8")))
        for path in Path(workbench.__file__).parent.rglob("*.py")
    ]
    kinds = ast.Module, ast.ClassDef, ast.FunctionDef
    return [
        (f"{stem}.{getattr(node, 'name', '')}", text)
        for stem, tree in trees
        for node in ast.walk(tree)
        for text in [isinstance(node, kinds) and ast.get_docstring(node)]
        if text
    ]


def test_every_reference_resolves_in_the_docstring_that_cites_it():
    cited = {
        name: (
            set(re.findall(r"\[(\w+)\]_", text)),
            set(re.findall(r"^\.\. \[(\w+)\] \w", text, re.M)),
        )
        for name, text in docstrings()
    }
    assert sum(len(names) for names, _ in cited.values()) > 40
    assert {name: names - found for name, (names, found) in cited.items() if names - found} == {}


def exists(name):
    parts = name.split(".")
    for end in range(len(parts), 0, -1):
        with contextlib.suppress(ImportError):
            found = importlib.import_module(".".join(parts[:end]))
            return (
                functools.reduce(lambda value, part: getattr(value, part, None), parts[end:], found)
                is not None
            )
    return False


def test_every_name_that_a_docstring_refers_to_exists():
    named = {
        (place, name)
        for place, text in docstrings()
        for name in re.findall(r"\bworkbench(?:\.\w+)+", text)
    }
    assert len(named) > 80
    assert sorted((place, name) for place, name in named if not exists(name)) == []


def test_every_public_function_is_annotated():
    """The type checker asks this only of all definitions or of none; private ones may stay without."""

    def missing(function):
        hints = function.__annotations__
        return [name for name in (*parameters(function), "return") if name not in hints]

    wrong = {
        name: missing(function)
        for name, function in FUNCTIONS.items()
        if not name.startswith(UNTYPED) and function.__name__ != "<lambda>" and missing(function)
    }
    assert wrong == {}


def test_the_fields_of_results_are_annotated_with_types_that_exist():
    kinds = [
        value for name in workbench.__all__ if inspect.isclass(value := getattr(workbench, name))
    ]
    for kind in filter(dataclasses.is_dataclass, kinds):
        assert {field.name for field in dataclasses.fields(kind)} <= set(
            typing.get_type_hints(kind)
        )


PROGRAM = """
import numpy as np
import workbench as wb

audit = wb.ConfusionCounts([[331, 18], [7, 44]])
print(wb.estimate_prevalence(audit, [1579, 218], (1579, 218)).interval())
low, high = wb.stratified_interval([360, 360], [20, 20], np.array([12, 19]))
print(low + high, wb.compare_models({"a": [.1, .2], "b": [.2, .4]}))
made = wb.replicates(wb.SurveyDesign(["a", "a", "b", "b"], psu=[1, 2, 3, 4]), "brr")
print(wb.replicate_estimate(made, "mean", [1.0, 2, 3, 4]).standard_error)
cv = wb.CVLosses({"tree": [0, 1, 1, 0], "forest": [0, 0, 1, 0]}, [1, 1, 2, 2])
print(wb.kfold_t_test(cv, rho="naive").pvalue + wb.kfold_t_test([.1, .2, .3]).pvalue)
print(wb.draw_items([0, 0, 1, 1], wb.allocate([2, 2], 4, "equal").labeled, rng=1))
print(wb.StratifiedEstimate.from_dict({}).variance, wb.GaloisField(3, modulus=[1, 1]))
"""
# what `mypy --strict` asks of a program
STRICT = [
    "disallow-any-generics",
    "disallow-subclassing-any",
    "disallow-untyped-calls",
    "disallow-untyped-defs",
    "disallow-untyped-decorators",
    "warn-return-any",
    "warn-unused-ignores",
    "strict-equality",
    "extra-checks",
]


@pytest.fixture(scope="module")
def complaints(tmp_path_factory):
    """What the type checker has to say, of the library and of a program that uses it, in one run with its cache."""
    program = tmp_path_factory.mktemp("program") / "program.py"
    program.write_text("\n".join([f"# mypy: {option}" for option in STRICT]) + PROGRAM)
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "mypy",
            "--cache-dir",
            ".mypy_cache/tests",
            "--sqlite-cache",
            "--no-error-summary",
            "workbench",
            program,
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode in (0, 1) and not done.stderr, done.stdout + done.stderr
    return done.stdout.splitlines()


@pytest.mark.slow
def test_the_type_checker_has_nothing_to_say(complaints):
    assert [line for line in complaints if "program.py:" not in line] == []


@pytest.mark.slow
def test_a_program_that_uses_the_library_passes_the_strict_type_checker(complaints):
    assert [line for line in complaints if "program.py:" in line] == []
