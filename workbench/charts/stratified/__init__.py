"""Charts of audits for reports; those of the lesson are in `scenes`."""

from workbench.charts.stratified.audits import audit, finding, intervals
