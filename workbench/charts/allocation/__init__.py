"""Charts of allocation for reports. `places` and `streams` hold those of the lesson and of streams.

There are three functions for each picture, as for stratified accuracy: `..._data` returns its rows,
`..._words` returns its title and text alternative, and the third builds an altair chart from both.
"""

from workbench.charts.allocation.plans import allocation, methods
