"""Metrics that labeled items cannot show, because of unsampled items or a wrong score.

`SampledClasses` checks labeled items as a whole, `refuse_unsampled` two columns of labels, and
`score_notes` scores.
"""

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy
from numpy import ndarray

from workbench import checks
from workbench.replication.statistics import METRICS, UndefinedError, naive_auc, title_of
from workbench.results import Note, digits

CHANCE = 0.001  # a random sample of a file differs so much from it in one file of a thousand
OF_NUMBERS = ("rmse", "correlation", "median")
SHOWN = 3
OF_SCORES = ("auc", "brier", "log_loss")
ERRORS = 3  # standard errors below one half from which an AUC is not so by chance


@dataclass(frozen=True)
class SampledClasses:
    """Classes of the labeled items, and whether items of other classes were not sampled.

    Attributes
    ----------
    predicted, true : list
        Classes of the labeled items.
    by_prediction, by_truth : bool
        Whether items of other predictions, or of other truths, exist and were not sampled in the
        same way. Labels of one class with several predictions were chosen by their truth.
    are_sets : bool
        Whether a class is a list of labels, as text.
    """

    predicted: list
    true: list
    by_prediction: bool
    by_truth: bool
    are_sets: bool = False

    @classmethod
    def of_columns(
        cls,
        truth: ndarray,
        prediction: ndarray,
        *,
        several: bool = False,
        unlike_others: bool | None = None,
        are_sets: bool = False,
    ) -> "SampledClasses":
        """Return the classes in two columns of labels.

        Parameters
        ----------
        truth, prediction : (n,) array
        several : bool
            Whether more than one class is known to exist.
        unlike_others : bool, optional
            Whether the predictions differ from those of unlabeled items; None if there are none.
        are_sets : bool
        """
        true = np.unique(truth).tolist()
        predicted = np.unique(prediction).tolist()
        if unlike_others is not None:
            by_truth = len(true) == 1 < len(predicted)
            by_prediction = unlike_others and not by_truth
            return cls(predicted, true, by_prediction, by_truth, are_sets)
        several = several or len({*true, *predicted}) > 1
        by_prediction, by_truth = (several and len(names) == 1 for names in (predicted, true))
        return cls(predicted, true, by_prediction, by_truth, are_sets)

    def shows(self, metric: str, label: Any = None) -> bool:
        """Return whether the sample can show a metric, for a given class if it is about one."""
        if not (self.by_prediction or self.by_truth) or metric in OF_NUMBERS:
            return True
        if METRICS[metric].about in ("label", "value"):
            return not (self.by_prediction or (self.by_truth and self.predicted))
        classes, metric_shown = self.true, "recall"
        if self.by_prediction:
            classes, metric_shown = self.predicted, "precision"
        if not self.are_sets:
            return metric == metric_shown and label in classes
        if len(classes) > 1:
            return False
        labels = ast.literal_eval(classes[0])
        return metric == f"micro_{metric_shown}" or metric == metric_shown and label in labels

    @property
    def reason(self) -> str:
        """Return a description of what is missing and what to label."""
        kind, names = "truly", self.true
        if self.by_prediction:
            kind, names = "predicted as", self.predicted
        if len(names) > 1:
            return (
                "the predictions of the labeled items differ from those of the other items by more "
                "than chance. The labeled items are therefore not a random sample. Sample items at "
                "random and label them, or name the column of sampling weights (--weight, weight=)"
            )
        label = checks.listed(names, SHOWN, quoted=True)
        text = (
            f"every labeled item is {kind} {label}, and other items were not sampled: also label a "
            f"random sample of the items that are {kind} something else"
        )
        if not self.by_prediction or self.by_truth or self.are_sets:
            return text
        return (
            f"{text} (if the classifier predicts nothing else, accuracy equals the precision of "
            f"{label})"
        )


def differs_from_rest(labeled: ndarray, unlabeled: ndarray) -> bool:
    """Return whether predictions of labeled items differ from those of the others beyond chance.

    If the n labeled items are a random sample of all N, the number of them with a given prediction
    is hypergeometric. The test is two-sided, and adjusted for the number of predictions.

    Parameters
    ----------
    labeled, unlabeled : (n,), (m,) array

    Examples
    --------
    >>> differs_from_rest(np.array(["a"] * 30), np.array(["a", "b"] * 50))
    True
    >>> differs_from_rest(np.array(["a"] * 3), np.array(["a", "b"] * 50))
    False
    """
    names, code = np.unique(np.concatenate([labeled, unlabeled]), return_inverse=True)
    everywhere = np.bincount(code, minlength=names.size)
    among_labeled = np.bincount(code[: labeled.size], minlength=names.size)
    drawn = scipy.stats.hypergeom(code.size, everywhere, labeled.size)
    tails = np.minimum(drawn.cdf(among_labeled), drawn.sf(among_labeled - 1))
    return bool(2 * names.size * tails.min() < CHANCE)


def refuse_unsampled(metric: str, truth: ndarray, prediction: ndarray) -> None:
    """Raise if a statistic of two columns of labels needs items that were not sampled.

    Parameters
    ----------
    metric : str
    truth, prediction : (n,) array
        Labels; 0 and 1, or booleans, for a metric about a class.
    """
    of_class = METRICS[metric].about == "class"
    sampled = SampledClasses.of_columns(truth, prediction, several=of_class)
    if not sampled.shows(metric, True if of_class else None):
        raise UndefinedError(f"{title_of(metric)} cannot be estimated, because {sampled.reason}")


def score_notes(items: Any, metrics: Iterable[str], *, compared: bool = False) -> Iterator[Note]:
    """Yield a note if the score seems to belong to another class or to the predicted class.

    Parameters
    ----------
    items : LabeledItems
    metrics : iterable of str
    compared : bool
        Whether other models have scores for the same positive class, which then cannot change.
    """
    titles = ", ".join(title_of(metric) for metric in OF_SCORES if metric in metrics)
    if not titles or items.score is None or items.positive is None:
        return
    truth = items.truth == items.positive
    if not _varies(truth):
        return
    predicted = None if items.prediction is None else items.prediction == items.positive
    if predicted is not None and _varies(predicted):
        auc_of_predictions, _ = naive_auc(predicted, items.score)
        if 0.5 <= items.score.min() and items.score.max() <= 1 and 0.05 < auc_of_predictions < 0.95:
            yield Note(
                "unreliable",
                f"{titles}: every score is at least 0.5, whatever the prediction. The score seems "
                "to be the confidence in the predicted class, but the probability of "
                f"{items.positive!r} is needed. If another class is predicted, this is 1 minus the "
                "confidence",
            )
            return
    auc, error = naive_auc(truth, items.score)
    positives = int(truth.sum())
    products = positives * (truth.size - positives)
    error_of_chance = ((truth.size + 1) / (12 * products)) ** 0.5
    if auc >= 0.5 - ERRORS * max(error, error_of_chance):
        return
    agreeing = ""
    if predicted is not None:
        if not _varies(predicted) or truth[predicted].mean() <= truth[~predicted].mean():
            return
        agreeing = ", although the predictions agree with the truth"
    auc_text, other_text = digits.percents(auc, 1 - auc)
    negatives = np.unique(items.truth[~truth]).tolist()
    remedy = "use 1 minus the score"
    if len(negatives) == 1 and not compared:
        remedy = f"name that class (--positive {negatives[0]}, positive={str(negatives[0])!r})"
    yield Note(
        "unreliable",
        f"{titles}: the AUC of the score is {auc_text}, far below 50%{agreeing}, so the score "
        f"seems to belong to a class other than {items.positive!r}: {remedy} for an AUC of "
        f"{other_text}",
    )


def _varies(mask: ndarray) -> bool:
    return bool(mask.any() and not mask.all())
