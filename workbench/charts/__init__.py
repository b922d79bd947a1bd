"""Charts of results: one file per topic, each function takes a result and returns a figure."""

import importlib

from workbench import imports

with imports.without_grammars():
    importlib.import_module("altair")
