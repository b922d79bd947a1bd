"""Charts of cross-validation: folds, rho, posterior and pairs; the studies of the lesson."""

from workbench.charts.cross_validation.fold_means import folds, folds_title
from workbench.charts.cross_validation.many_models import pairs
from workbench.charts.cross_validation.regions import posterior
from workbench.charts.cross_validation.rho_curves import rho_curve
