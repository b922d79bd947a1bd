"""Charts of cross-validation: folds, rho, posterior and pairs; the studies of the lesson."""

from workbench.charts.cross_validation.fold_means import (
    folds,
    folds_data,
    folds_title,
    folds_words,
    stacked,
)
from workbench.charts.cross_validation.many_models import pairs, pairs_data, pairs_words
from workbench.charts.cross_validation.regions import posterior, posterior_data, posterior_words
from workbench.charts.cross_validation.rho_curves import (
    curve,
    rho_curve,
    rho_curve_data,
    rho_curve_words,
)
