"""Lessons, a folder per topic: `read`, `views` and `exercises`; `LESSONS` is the list of them.

`read` has one function of that name, which the notebook calls with its parameters and which its metadata names, as in
`{"workbench": {"read": "workbench.reports.inputs.stratified.read"}}`. The command line calls it too, with those
parameters that it takes, before it starts a kernel: a mistake that it refuses is told at once. A function with a
parameter `write` gets False there, since only the notebook may write files.
"""

import importlib
from importlib import util
from types import ModuleType

# topic -> the notebook of its lesson, in the order of the lessons; to add one is an entry and its folder
LESSONS = {
    "start": "00-start",
    "stratified": "01-stratified-accuracy",
    "replication": "02-brr-orthogonal-arrays",
    "allocation": "03-voila-vs-neyman",
    "misclassification": "04-misclassification-correction",
    "cross_validation": "05-cross-validation-t-tests",
}


def parts(name: str) -> list[ModuleType]:
    """Return the modules of this name, such as "views", of all lessons that have one, in the order of the lessons."""
    homes = (f"{__name__}.{topic}" for topic in LESSONS)
    return [
        importlib.import_module(f"{home}.{name}")
        for home in homes
        if util.find_spec(f"{home}.{name}")
    ]
