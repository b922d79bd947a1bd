"""Docstrings of public names follow numpydoc: what goes in, what comes out, related names, examples."""

import dataclasses
import inspect
import re

import pytest
import reference
from numpydoc.validate import validate

import workbench

# not asked of anything: a second paragraph; a description of each related name
NEVER = {"ES01", "SA04"}
# a one-line docstring of a method or property says what it returns; its class shows how to use it
MEMBERS = NEVER | {"EX01", "RT01", "SA01"}
# results are made by functions: the section Attributes describes their fields
CLASSES = NEVER | {"EX01", "PR01"}


def complaints(name, left_out):
    return [
        f"{name}: {code} {text}"
        for code, text in validate(f"workbench.{name}")["errors"]
        if code not in left_out
    ]


def members(name):
    kinds = property, classmethod, staticmethod
    return [
        f"{name}.{key}"
        for key, value in vars(getattr(workbench, name)).items()
        if not key.startswith("_") and (isinstance(value, kinds) or inspect.isroutine(value))
    ]


def undescribed_fields(name):
    kind = getattr(workbench, name)
    fields = dataclasses.fields(kind) if dataclasses.is_dataclass(kind) else ()
    names = [field.name for field in fields if field.name != "notes" and field.name[0] != "_"]
    described = re.findall(r"(?m)^([\w, ]+) : ", inspect.getdoc(kind))
    return sorted(set(names) - {each for line in described for each in line.split(", ")})


@pytest.mark.parametrize("subpackage", sorted(reference.homes()))
def test_docstrings_follow_numpydoc(subpackage):
    found = []
    for name in reference.homes()[subpackage]:
        if reference.is_class(name):
            found += complaints(name, CLASSES)
            found += [f"{name}: {field}" for field in undescribed_fields(name)]
            found += [text for member in members(name) for text in complaints(member, MEMBERS)]
        else:
            found += complaints(name, NEVER)
    assert found == []


def test_a_missing_section_is_a_complaint(monkeypatch):
    def stratified_accuracy(labels):
        """Estimate."""

    monkeypatch.setattr(workbench, "stratified_accuracy", stratified_accuracy, raising=False)
    codes = " ".join(complaints("stratified_accuracy", NEVER))
    assert "PR01" in codes and "SA01" in codes and "EX01" in codes
