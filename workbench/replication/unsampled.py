"""Metrics that labeled items cannot show: items of one kind were not sampled, or the score is of another class.

`SampledClasses` looks at labeled items as a whole, `refuse_unsampled` at two columns of labels, and `score_notes` at
scores.
"""

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
    """Predictions and truths that labeled items show, and whether others exist that were not sampled.

    Attributes
    ----------
    predicted, true : list
        Classes of the labeled items.
    by_prediction, by_truth : bool
        Whether items of other predictions, or of other truths, exist and were not sampled alike.
    """

    predicted: list
    true: list
    by_prediction: bool
    by_truth: bool

    @classmethod
    def of_columns(
        cls,
        truth: ndarray,
        prediction: ndarray,
        *,
        several: bool = False,
        unlike_others: bool | None = None,
    ) -> "SampledClasses":
        """Return what two columns of labels show.

        Parameters
        ----------
        truth, prediction : (n,) array
        several : bool
            Whether more than one class is known to exist.
        unlike_others : bool, optional
            Whether the predictions differ from those of items that nobody labeled; None where none are known.
        """
        true, predicted = np.unique(truth).tolist(), np.unique(prediction).tolist()
        several = several or len({*true, *predicted}) > 1
        if unlike_others is not None:
            return cls(predicted, true, unlike_others, False)
        return cls(predicted, true, several and len(predicted) == 1, several and len(true) == 1)

    def shows(self, metric: str, label: Any = None) -> bool:
        """Return whether the sample shows a metric, of a class where it is about one."""
        if not (self.by_prediction or self.by_truth) or metric in OF_NUMBERS:
            return True
        if metric == "precision" and self.by_prediction:
            return label in self.predicted
        return (
            metric == "recall" and self.by_truth and not self.by_prediction and label in self.true
        )

    @property
    def reason(self) -> str:
        """What is missing, and what to label."""
        kind, names = ("predicted", self.predicted) if self.by_prediction else ("truly", self.true)
        shown = checks.listed(names, SHOWN, quoted=True)
        if len(names) > 1:
            return (
                "the predictions of the labeled items differ from those of the other items more than chance "
                "allows, so the labeled items are no random sample: draw items at random and label them, or name "
                "the column of sampling weights (--weight, weight=)"
            )
        text = f"every labeled item is {kind} {shown}, and other items were not sampled"
        remedy = f"label a random sample of the items that are {kind} something else, too"
        if self.by_prediction and not self.by_truth:
            remedy += f" (if the classifier predicts nothing else, accuracy equals the precision of {shown})"
        return f"{text}: {remedy}"


def differs_from_rest(labeled: ndarray, unlabeled: ndarray) -> bool:
    """Return whether predictions of labeled items are unlike those of the others beyond chance.

    Of N items n were labeled: the number of labeled ones with a prediction is hypergeometric if they were drawn at
    random. Both tails are taken, and as many tests as there are predictions.

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
    """Raise where a statistic of two columns of labels needs items that were not sampled.

    Parameters
    ----------
    metric : str
    truth, prediction : (n,) array
        Labels; 0 and 1, or booleans, for what is about a class.
    """
    of_class = METRICS[metric].about == "class"
    sampled = SampledClasses.of_columns(truth, prediction, several=of_class)
    if not sampled.shows(metric, True if of_class else None):
        raise UndefinedError(f"{title_of(metric)} is unknown, as {sampled.reason}")


def unknown_words(names: Iterable[str], reason: str) -> str:
    """Return a sentence that says which metrics are unknown, and why.

    Parameters
    ----------
    names : iterable of str
    reason : str

    Examples
    --------
    >>> unknown_words(["recall", "F1"], "every labeled item is predicted 'a'")
    "recall, F1: unknown, as every labeled item is predicted 'a'"
    """
    return f"{', '.join(names)}: unknown, as {reason}"


def score_notes(items: Any, metrics: Iterable[str]) -> Iterator[Note]:
    """Yield a note where the score seems to be that of another class, or the confidence in the predicted class.

    Parameters
    ----------
    items : LabeledItems
    metrics : iterable of str
    """
    titles = [title_of(metric) for metric in OF_SCORES if metric in metrics]
    if not titles or items.score is None or items.positive is None:
        return
    truth = items.truth == items.positive
    if truth.all() or not truth.any():
        return
    auc, error = naive_auc(truth, items.score)
    if _is_confidence(items):
        yield Note(
            "unreliable",
            f"{', '.join(titles)}: every score is at least 0.5, whatever the prediction, so the "
            f"score seems to be the confidence in the predicted class; the probability of {items.positive!r} is "
            "needed, which is 1 less the confidence where another class is predicted",
        )
    elif auc < 0.5 - ERRORS * error and _agrees(items, truth):
        known = (
            "" if items.prediction is None else ", although the predictions agree with the truth"
        )
        shown, other = digits.percents(auc, 1 - auc)
        yield Note(
            "unreliable",
            f"{', '.join(titles)}: the AUC of the score is {shown}, far below 50%{known}, so the "
            f"score seems to be that of another class than {items.positive!r}: {_other_class(items)} for an AUC "
            f"of {other}",
        )


def _is_confidence(items: Any) -> bool:
    if items.prediction is None or np.unique(items.prediction).size < 2:
        return False
    predicted = items.prediction == items.positive
    if items.score.min() < 0.5 or items.score.max() > 1 or predicted.all() or not predicted.any():
        return False
    return 0.05 < naive_auc(predicted, items.score)[0] < 0.95


def _agrees(items: Any, truth: ndarray) -> bool:
    """Return whether the class is more frequent among the items that are predicted so; True without predictions."""
    if items.prediction is None:
        return True
    predicted = items.prediction == items.positive
    if predicted.all() or not predicted.any():
        return False
    return bool(truth[predicted].mean() > truth[~predicted].mean())


def _other_class(items: Any) -> str:
    others = [name for name in np.unique(items.truth).tolist() if name != items.positive]
    if len(others) == 1:
        return f"name that class (--positive {others[0]}, positive={str(others[0])!r})"
    return "take 1 less the score"
