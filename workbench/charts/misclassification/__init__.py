"""Charts of misclassification correction for reports; those of the lesson are in `lines` and `scenes`."""
from workbench.charts.misclassification.estimators import (
    audit_matrix,
    audit_matrix_data,
    audit_matrix_words,
    estimators,
    estimators_data,
    estimators_words,
)
from workbench.charts.misclassification.periods import (
    changes,
    changes_data,
    changes_words,
    series,
    series_data,
    series_words,
)
