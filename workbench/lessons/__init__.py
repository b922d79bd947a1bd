"""Lessons: a folder per topic with its `views` and `exercises`, and the list `LESSONS`.

`views` has the functions that a notebook calls to show a scene, `exercises` the questions that
`workbench.check` judges. `checking` judges answers, and `own_exercises` adds exercises of a
lecturer.

The metadata of a notebook name the function that reads its inputs, as in
`{"workbench": {"read": "workbench.reports.inputs.stratified.read"}}`. The command line calls this
function before it starts a kernel, so that it reports mistakes at once. It passes False for a
parameter `write`, because only the notebook may write files.
"""

import importlib
from importlib import util
from types import ModuleType

# topic -> notebook of the lesson, in order; a new lesson needs an entry here and a folder
LESSONS = {
    "start": "00-start",
    "stratified": "01-stratified-accuracy",
    "replication": "02-brr-orthogonal-arrays",
    "allocation": "03-voila-vs-neyman",
    "misclassification": "04-misclassification-correction",
    "cross_validation": "05-cross-validation-t-tests",
}


def parts(name: str) -> list[ModuleType]:
    """Return the modules named `name`, such as "views", of all lessons that have one, in order."""
    homes = (f"{__name__}.{topic}" for topic in LESSONS)
    return [
        importlib.import_module(f"{home}.{name}")
        for home in homes
        if util.find_spec(f"{home}.{name}")
    ]
