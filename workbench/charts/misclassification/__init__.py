"""Charts of misclassification correction for reports.

The charts of the lesson are in `lines` and `scenes`.
"""

from workbench.charts.misclassification.estimators import audit_matrix, estimators
from workbench.charts.misclassification.judged import judged
from workbench.charts.misclassification.periods import changes, series
from workbench.charts.misclassification.proportions import class_proportions
