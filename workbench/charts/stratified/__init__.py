"""Charts of audits for reports; those of the lesson are in `scenes`."""
from workbench.charts.stratified.audits import (
    audit,
    audit_data,
    audit_words,
    finding,
    finding_data,
    finding_words,
    intervals,
    intervals_words,
)
