"""Charts of allocation for reports; those of the lesson and of streams are in `places` and `streams`.

As for stratified accuracy there are three functions for each picture: `..._data` gives its rows, `..._words` its
title and text alternative, and the picture itself is an altair chart built from both.
"""

from workbench.charts.allocation.plans import allocation, methods
