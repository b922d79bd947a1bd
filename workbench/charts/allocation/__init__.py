"""Charts of allocation for reports; `places` and `streams` have those of the lesson.

There are three functions for each chart: `..._data` returns its rows, `..._words` its title and
text alternative, and the third builds an altair chart from both.
"""

from workbench.charts.allocation.plans import allocation, methods
