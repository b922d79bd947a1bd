"""Charts of misclassification correction: scenes of the lesson, series and estimators of a report."""
from workbench.charts.misclassification.estimators import (
    audit_matrix,
    audit_matrix_data,
    audit_matrix_words,
    estimators,
    estimators_data,
    estimators_words,
)
from workbench.charts.misclassification.lines import (
    HEIGHTS,
    drawing,
    drawing_data,
    drawing_words,
    published,
    published_data,
    published_words,
)
from workbench.charts.misclassification.periods import (
    changes,
    changes_data,
    changes_words,
    series,
    series_data,
    series_words,
)
from workbench.charts.misclassification.scenes import (
    HOLDS,
    NAMES,
    RANGE,
    READING,
    answer_slopes,
    change,
    change_data,
    change_words,
    held_constant,
    held_constant_data,
    held_constant_words,
    months,
    months_data,
    months_words,
    mosaic,
    mosaic_data,
    mosaic_words,
    reported_change,
)

__all__ = [
    "HEIGHTS", "HOLDS", "NAMES", "RANGE", "READING",
    "answer_slopes", "audit_matrix", "audit_matrix_data", "audit_matrix_words", "change", "change_data",
    "change_words", "changes", "changes_data", "changes_words", "drawing", "drawing_data", "drawing_words",
    "estimators", "estimators_data", "estimators_words", "held_constant", "held_constant_data",
    "held_constant_words", "months", "months_data", "months_words", "mosaic", "mosaic_data", "mosaic_words",
    "published", "published_data", "published_words", "reported_change", "series", "series_data", "series_words",
]
