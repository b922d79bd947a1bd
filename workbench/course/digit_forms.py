"""The digit forms of the lessons: handwritten digits in boxes, read by two readers."""

import functools
import hashlib

import numpy as np
from numpy.typing import ArrayLike

from workbench import checks
from workbench.allocation.samples import StratumSummary
from workbench.cross_validation.learners import Population
from workbench.data.scored_items import ScoredItems
from workbench.replication.metrics import LabeledItems, positive_class
from workbench.results import Result, rows_of

PLACES = ("ones", "tens", "hundreds", "thousands")
BOX_EDGES = (0, 130, 256, 386, 516, 646, 776, 915, 1029, 1157, 1287, 1415, 1545, 1667, 1797)
FORMS_DIGEST = "104b93b98a88225c96acbe3d3bea3db7ef2c0aa62645161b3d2eba9b35bacfac"
SOFTMAX_SCALE = 6 / 256
NEIGHBORS = 5


class DigitForms(Result):
    """The 1,797 handwritten digits of scikit-learn as forms in 14 boxes, read by two readers.

    The images, the readers and their errors are real. The boxes are reconstructed blocks of
    writers, and the decimal places are invented. Each reader learned from the other 13 boxes before
    it read a form.

    Attributes
    ----------
    box : (1797,) ndarray of int
        Box of the form, 1 to 14.
    place : (1797,) ndarray of int
        Decimal place of the digit in a register, 0 to 3: the digit counts 10 ** place times.
    image : (1797, 8, 8) ndarray of float
        Gray values, whole numbers from 0 to 16.
    digit : (1797,) ndarray of int
        The true digit.
    read_a : (1797,) ndarray of int
        Digit that reader A reads, the nearest of ten average images.
    confidence : (1797,) ndarray of float
        Confidence of reader A, in [0, 1].
    margin : (1797,) ndarray of float
        Difference of the two smallest squared distances of reader A, divided by 256.
    read_b : (1797,) ndarray of int
        Digit that reader B reads, by five nearest neighbors.
    vote_share : (1797,) ndarray of float
        Weight of the winning digit of reader B, divided by the total weight.
    positive : int
        The digit that lesson 4 counts, 9.

    See Also
    --------
    digit_forms : Return these data.
    ScoredItems : Items with a prediction and a score.

    Examples
    --------
    >>> digit_forms().items("b")
    ScoredItems(1,797 items, mean confidence 0.9643, accuracy 0.9616)
    """

    holds_items = True

    box: np.ndarray
    place: np.ndarray
    image: np.ndarray
    digit: np.ndarray
    read_a: np.ndarray
    confidence: np.ndarray
    margin: np.ndarray
    read_b: np.ndarray
    vote_share: np.ndarray

    @property
    def positive(self) -> int:
        """Return the digit that is counted, 9; data of a lecturer have their own class here."""
        return 9

    def items(self, reader: str = "a") -> ScoredItems:
        """Return the forms as scored items of one reader, numbered from 1.

        Parameters
        ----------
        reader : {"a", "b"}, default "a"
            The score is `confidence` for reader A and `vote_share` for reader B.

        Returns
        -------
        ScoredItems
            Items with score, prediction and truth.
        """
        first = checks.choice("reader", reader, ("a", "b")) == "a"
        read, score = (self.read_a, self.confidence) if first else (self.read_b, self.vote_share)
        numbers = np.arange(1, self.digit.size + 1)
        return ScoredItems(numbers, score, read, self.digit, read == self.digit)

    def labeled(self, positive: int | str = 9) -> LabeledItems:
        """Return the forms, all labeled, as reader A reads them.

        Boxes are the clusters (primary sampling units). Districts of two boxes are the strata.

        Parameters
        ----------
        positive : int or str, default 9
            The digit of precision, recall and F1.

        Returns
        -------
        LabeledItems
            Labeled items of a survey sample.

        Examples
        --------
        >>> digit_forms().labeled()
        LabeledItems(1,797 labeled items, 10 classes, 10.0% of class 9)
        """
        return LabeledItems(
            self.digit,
            self.read_a,
            None,
            positive_class(str(positive), self.digit),
            (self.box - 1) // 2 + 1,
            self.box,
            None,
            truth_name="digit",
        )

    def register(self) -> StratumSummary:
        """Return the register of the forms as a summary of strata.

        The strata are the decimal places. The values are the errors that misread digits cause in
        the total of the register.

        Returns
        -------
        StratumSummary
            Size, mean and standard deviation of each stratum.

        Examples
        --------
        >>> digit_forms().register().size
        array([1000,  600,  160,   37])
        """
        error = self.register_errors()
        places = [error[self.place == k] for k in range(4)]
        size, mean, sd = np.transpose([(e.size, e.mean(), e.std(ddof=1)) for e in places])
        return StratumSummary(np.array(PLACES), size.astype(int), mean, sd)

    def register_errors(self) -> np.ndarray:
        """Return the error that each form causes in the total of the register.

        Returns
        -------
        (1797,) array of float
            10 ** place times the difference between the digit of reader A and the true digit.
        """
        return (self.read_a - self.digit) * 10.0**self.place

    def headline(self) -> str:
        """Return the number of forms and the confidence of reader A, but not its accuracy."""
        forms = checks.counted(self.digit.size, "form")
        boxes = checks.counted(self.box.max(), "box", "boxes")
        confidence = self.confidence.mean()
        return f"{forms} in {boxes}, mean confidence of reader A {confidence:.4g}"

    def rows(self) -> list[dict]:
        """Return one row per form, without its image."""
        names = ("box", "place", "read_a", "confidence", "margin", "read_b", "vote_share", "digit")
        return rows_of(**{name: getattr(self, name) for name in names})


@functools.lru_cache(maxsize=1)
def digit_forms() -> DigitForms:
    """Return the embedded data: handwritten digits in 14 boxes, read by two readers.

    Returns
    -------
    DigitForms
        The same object at every call.

    Raises
    ------
    ValueError
        If the SHA-256 fingerprint of the data or of the readings differs from the published one.

    See Also
    --------
    synthetic_scores : Simulate items with scores.
    digit_twin : A large synthetic population with the same scores and errors.
    register_errors : The errors of the register total.

    Notes
    -----
    Reader A chooses the nearest of the ten average images by squared Euclidean distance d^2. Its
    confidence is the largest softmax(-6 d^2 / 256). Reader B uses five nearest neighbors, with ties
    in the order of the rows. The vote of rank r has weight 1 + 0.001 / r.

    Examples
    --------
    >>> digit_forms()
    DigitForms(1,797 forms in 14 boxes, mean confidence of reader A 0.9706)
    """
    digits = Population.of("ten_digits")
    pixels, digit = digits.X, digits.y.astype(np.int64)
    box = np.repeat(np.arange(1, 15), np.diff(BOX_EDGES))
    decimals = np.repeat([0, 1, 2, 3], [1000, 600, 160, 37])
    decimals = decimals[np.random.default_rng(2026).permutation(1797)]
    parts = []
    for number in range(1, 15):
        inside = box == number
        learned = pixels[~inside], digit[~inside], pixels[inside]
        parts.append((*_nearest_average(*learned), *_nearest_neighbors(*learned)))
    read_a, confidence, margin, read_b, vote_share = map(np.concatenate, zip(*parts, strict=True))
    columns = [box, decimals, digit, read_a, read_b]
    data = b"".join(column.astype("<i8").tobytes() for column in columns)
    digest = hashlib.sha256(data).hexdigest()
    if digest != FORMS_DIGEST:
        raise checks.WrongValue(
            "digit_forms",
            f"must have SHA-256 {FORMS_DIGEST}; got {digest}. scikit-learn's "
            "digits or the arithmetic of this platform differ from the published ones",
        )
    images = pixels.reshape(-1, 8, 8)
    return DigitForms(box, decimals, images, digit, read_a, confidence, margin, read_b, vote_share)


def register_errors() -> tuple[np.ndarray, np.ndarray]:
    """Return the decimal place of each embedded digit and its error in the total of the register.

    Returns
    -------
    place : (1797,) array of int
        Decimal place, 0 to 3.
    error : (1797,) array of float
        10 ** place times the difference between the digit of reader A and the true digit.

    See Also
    --------
    digit_forms : The forms themselves.
    sample : Sample values from strata.

    Examples
    --------
    >>> place, error = register_errors()
    >>> np.bincount(place), float(error.sum())
    (array([1000,  600,  160,   37]), -14692.0)
    """
    forms = digit_forms()
    return forms.place, forms.register_errors()


def read_by_next_box() -> np.ndarray:
    """Return the digits as read by a trainee who learned from one box only.

    The trainee uses the method of reader B and learns from the next box.

    Returns
    -------
    (1797,) array of int
        The digits read. Box 14 is read after learning from box 1.

    See Also
    --------
    digit_forms : The forms, as two experienced readers read them.

    Examples
    --------
    >>> forms, trainee = digit_forms(), read_by_next_box()
    >>> float((trainee == forms.digit).mean().round(2)), int((trainee == 9).sum())
    (0.78, 183)
    """
    forms = digit_forms()
    pixels = forms.image.reshape(len(forms.image), -1)
    reads = []
    for number in range(1, 15):
        learned = forms.box == number % 14 + 1
        unread = pixels[forms.box == number]
        reads.append(_nearest_neighbors(pixels[learned], forms.digit[learned], unread)[0])
    return np.concatenate(reads)


def digit_twin(
    score: ArrayLike | None = None, correct: ArrayLike | None = None, *, size: int = 700_000
) -> ScoredItems:
    """Simulate a large synthetic population with the scores and errors of the digit forms.

    Parameters
    ----------
    score : (1797,) array, optional
        Scores, by default the confidence of reader A.
    correct : (1797,) array, optional
        Whether each form is read correctly, by default by reader A.
    size : int, default 700000
        Number of items, at least 1.

    Returns
    -------
    ScoredItems
        The synthetic population.

    See Also
    --------
    digit_forms : The forms themselves.
    synthetic_scores : Simulate items with scores.

    Notes
    -----
    Item i has a uniform random position u among the forms in order of score. Its score is
    interpolated at u. Its correctness is that of the form at rank floor(u).

    Examples
    --------
    >>> digit_twin()
    ScoredItems(700,000 items, mean confidence 0.9705, accuracy 0.8765)
    """
    items = digit_forms().items()
    score = items.score if score is None else checks.vector("score", score, what="item")
    if correct is None:
        correct = items.correct
    else:
        correct = checks.zero_one("correct", correct, size=score.size, what="item")
    order = np.argsort(score, kind="stable")
    size = checks.whole("size", size, 1)
    position = np.random.default_rng(2026).random(size) * score.size
    return ScoredItems(
        None,
        np.interp(position, np.arange(score.size) + 0.5, score[order]),
        correct=np.asarray(correct)[order][position.astype(np.int64)],
    )


def _nearest_average(pixels: np.ndarray, digit: np.ndarray, unread: np.ndarray) -> tuple:
    """Return digit, confidence and margin of images by the nearest of ten average images."""
    average = np.array([pixels[digit == d].mean(axis=0) for d in range(10)])
    squared = np.sum((unread[:, None, :] - average) ** 2, axis=2)
    smallest = np.sort(squared, axis=1)
    weight = np.exp(-SOFTMAX_SCALE * (smallest - smallest[:, :1]))
    margin = (smallest[:, 1] - smallest[:, 0]) / 256
    return squared.argmin(axis=1), 1 / weight.sum(axis=1), margin


def _nearest_neighbors(pixels: np.ndarray, digit: np.ndarray, unread: np.ndarray) -> tuple:
    """Return digit and proportion of votes of images by their nearest neighbors."""
    squared = np.sum(pixels**2, axis=1) - 2 * unread @ pixels.T
    squared = squared + np.sum(unread**2, axis=1)[:, None]
    order = squared * len(pixels) + np.arange(len(pixels))
    nearest = np.sort(np.partition(order, NEIGHBORS, axis=1)[:, :NEIGHBORS], axis=1) % len(pixels)
    weight = 1 + 0.001 / np.arange(1, NEIGHBORS + 1)
    votes = np.zeros((len(unread), 10))
    for rank in range(NEIGHBORS):
        votes[np.arange(len(unread)), digit[nearest[:, rank].astype(int)]] += weight[rank]
    return votes.argmax(axis=1), votes.max(axis=1) / weight.sum()
