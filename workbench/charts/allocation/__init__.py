"""Charts of allocation for reports; `places` and `streams` have those of the lesson."""

from workbench.charts.allocation.plans import allocation, methods
