"""The groups of commands, and the parts that the extras add to the core, as dotted names.

The core imports no extra. It loads an entry of these tables when it needs one.
"""

import importlib
from typing import Any, NamedTuple


class CommandGroup(NamedTuple):
    """The help of a group of commands, and the dotted names of its commands."""

    help: str
    commands: tuple[str, ...]


# groups by the word that comes before their commands; "" is the program itself
COMMANDS = {
    "": CommandGroup(
        "Evaluate classifiers honestly with few labels, and learn how.",
        (
            "workbench.commands.doctor.doctor",
            "workbench.extras.compare.commands.compare",
            "workbench.extras.compare.commands.power",
            "workbench.extras.sessions.commands.audit",
        ),
    ),
    "course": CommandGroup(
        "Teach a course: copies for students, grades, pages for class.",
        (
            "workbench.extras.classroom.commands.make",
            "workbench.extras.classroom.commands.grade",
            "workbench.extras.classroom.commands.keys",
            "workbench.extras.classroom.commands.strip",
            "workbench.extras.classroom.commands.votes",
            "workbench.extras.classroom.commands.concept_test",
            "workbench.extras.classroom.commands.slides",
            "workbench.extras.classroom.commands.bundle",
        ),
    ),
    "papers": CommandGroup(
        "Replay the papers behind the lessons, and install their data.",
        (
            "workbench.extras.papers.commands.replay",
            "workbench.extras.papers.data_command.data",
        ),
    ),
    "sample": CommandGroup(
        "Sample a large file in one pass, or make such a sample smaller.",
        ("workbench.commands.streams.stream", "workbench.commands.streams.reduce"),
    ),
}
# functions of `workbench doctor`: descriptions of a whole file by an extra, and the uses of a table
DESCRIBED = (
    "workbench.extras.compare.doctor.describe_logs",
    "workbench.extras.sessions.doctor.describe_export",
)
USES = (
    "workbench.extras.compare.doctor.compare_use",
    "workbench.extras.sessions.doctor.agreement_use",
)
# logs of evaluations: their file endings, and the functions that recognize and open them
LOG_ENDINGS = (".eval",)
LOG_COLUMNS = ("input", "choices", "answer", "target")  # columns that annotators see by default
IS_LOG = "workbench.extras.compare.log_files.is_evaluation_log"
OPEN_LOG = "workbench.extras.compare.log_files.open_log_file"
COMPARISON_TABLE = "workbench.extras.compare.log_files.comparison_table"
# reads the export of a labeling tool
EXPORTS = "workbench.extras.sessions.annotations.read_annotations"
SCENES = {
    "best_of_many": "workbench.extras.compare.lesson.best_of_many",
    "label_ten": "workbench.extras.sessions.lesson.label_ten",
    "winners": "workbench.extras.compare.lesson.winners",
}


def load(name: str) -> Any:
    """Return the object of a dotted name, such as "package.module.function"."""
    module, _, attribute = name.rpartition(".")
    return getattr(importlib.import_module(module), attribute)
