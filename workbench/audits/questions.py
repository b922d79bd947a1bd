"""The questions of audits: accuracy, the metrics of a class, two models, two models under a judge.

Read `Question` first; `QUESTIONS` has one for each. `AuditDesign` holds the settings that decide,
together with the items, which items are sampled. Plan files and sessions share it.
"""

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from workbench import checks
from workbench.allocation import rules
from workbench.data.classes import refuse_free_text
from workbench.data.judged_items import WHICH
from workbench.data.scored_items import ScoredItems
from workbench.labeling import draws
from workbench.labeling.answers import class_texts, named_classes
from workbench.results import Interval, Note
from workbench.stratified.accuracy import stratified_accuracy, stratum_variance
from workbench.stratified.class_metrics import METRICS, SHARE_OF_PREDICTED, class_metrics
from workbench.stratified.default_plan import AUTO, default_labels, strata_wanted
from workbench.stratified.differences import paired_difference
from workbench.stratified.judged import LEAST, JudgedDifference, judged_difference, judged_labels
from workbench.stratified.sequential import ROUNDS, labeling_order
from workbench.stratified.strata import Strata, refuse_given, strata_of, stratify_part

NAMES = ("A", "B")  # of two models
DIFFERING = "on which the models differ"


@dataclass(frozen=True)
class AuditDesign:
    """The settings of an audit that decide, together with the items, which items are sampled.

    Attributes
    ----------
    question : {"accuracy", "class_metrics", "difference"}
        What is estimated.
    metrics_of : str
        The class of "class_metrics", else "".
    n_strata : int or "auto"
        Number of strata.
    stratifier : str
        Method that divides the items into strata.
    allocation : str
        Method that allocates the labels to the strata.
    trust_scores : bool
        Whether the calibration of the scores was checked.
    seed : int
        Seed of the sample.
    asks : {"correct", "truth", "which"}
        What annotators answer. With "which", a judge labeled the items of a "difference".
    """

    question: str
    metrics_of: str = ""
    n_strata: int | str = AUTO
    stratifier: str = "equal_size"
    allocation: str = AUTO
    trust_scores: bool = False
    seed: int = 0
    asks: str = "correct"

    @property
    def entry(self) -> "Question":
        """Return the entry of `QUESTIONS`."""
        return question_of(self.question, self.asks)

    def settings(self) -> dict[str, Any]:
        """Return the settings that a plan file keeps."""
        settings = dataclasses.asdict(self)
        del settings["asks"]
        return settings

    def frame(self, items: ScoredItems, budget: int) -> "Frame":
        """Return the items to sample from, their strata, and the allocation of the budget."""
        question = self.entry
        items = question.population(items)
        strata = question.strata(items, self, question.n_strata(items, self, budget))
        return question.frame(items, self, strata, budget)


@dataclass(frozen=True)
class Frame:
    """The items to sample from, their strata, and the allocation of the labels.

    Attributes
    ----------
    items : ScoredItems
        Items to sample from.
    strata : Strata
        Strata of these items.
    share : (H,) array, optional
        Proportions of the labels in the strata. None is in proportion to size.
    allotted : (H,) array of int, optional
        Labels of each stratum, if they do not depend on the number of labels.
    notes : sequence of Note
        Notes on the allocation.
    """

    items: ScoredItems
    strata: Strata
    share: np.ndarray | None = None
    allotted: np.ndarray | None = None
    notes: Sequence[Note] = ()

    def turns(self, n: int) -> np.ndarray:
        """Return the stratum of each of the first n labels."""
        if self.allotted is not None:
            return labeling_order(self.allotted, int(self.allotted.sum()))
        return labeling_order(self.strata.sizes, n, share=self.share)

    def order(self, turns: np.ndarray, seed: int) -> np.ndarray:
        """Return the positions of the items in the order of labeling."""
        return draws.items_in_turn(draws.id_texts(self.items), self.strata.labels, turns, seed)


class Question:
    """A question of audits, here the accuracy.

    Attributes
    ----------
    answers : tuple of str
        What annotators may be asked, the default first.
    metrics : tuple of str
        The estimated metrics.
    values : tuple of int
        Values of labels, in the order of a table of counts.
    ends : (int, int)
        Values of a label with which the estimate is smallest and largest.
    merges : bool
        Whether strata with few labels are merged if no plan sampled the labels.
    least_labels : int
        Labels that each stratum needs of a sample without a plan; 0 if their number does not limit
        the number of strata.
    among : str
        Words for the population, such as " on which the models differ".
    is_accuracy : bool
        Whether an accuracy is estimated. Only then are there anytime intervals, waves and double
        annotation.
    needs : tuple of str
        Values of the design of a session that only this question has.
    """

    answers: tuple[str, ...] = ("correct", "truth")
    metrics: tuple[str, ...] = ("accuracy",)
    values: tuple[int, ...] = (0, 1)
    ends: tuple[int, int] = (0, 1)
    merges = True
    least_labels = 0
    among = ""
    is_accuracy = True
    needs: tuple[str, ...] = ()

    def population(self, items: ScoredItems) -> ScoredItems:
        """Return the items to sample from."""
        return items

    def parts(self, items: ScoredItems, design: AuditDesign) -> np.ndarray | None:
        """Return the part (N,) of each item if strata lie within parts, else None."""
        return None

    def n_strata(self, items: ScoredItems, design: AuditDesign, labels: int) -> int:
        """Return the number of strata for a number of labels."""
        if self.is_accuracy:
            return strata_wanted(design.n_strata, labels, items)
        return int(design.n_strata)

    def strata(self, items: ScoredItems, design: AuditDesign, n_strata: int) -> Strata:
        """Return the strata of the items."""
        return strata_of(items, n_strata, design.stratifier, rng=design.seed)

    def frame(self, items: ScoredItems, design: AuditDesign, strata: Strata, budget: int) -> Frame:
        """Return items and strata with the allocation of the budget."""
        if design.allocation == AUTO:
            trusted = design.trust_scores
            share, notes = default_labels(items, strata, budget, trust_scores=trusted)
            return Frame(items, strata, share, notes=notes)
        return _allocated(items, strata, design.allocation, budget)

    def details(self, items: ScoredItems, design: Mapping[str, Any], strata: Strata) -> dict:
        """Return the values of the design of a session that depend on the question."""
        return {}

    def value(self, design: Mapping[str, Any], item: Any, label: Any) -> int:
        """Return the value of a label of an item with a `prediction` and a `rival`."""
        return int(label == item.prediction) if design["asks"] == "truth" else label

    def estimate(self, design: Mapping[str, Any], counts: np.ndarray, skipped: ArrayLike) -> Any:
        """Return the estimate from the number of labels with each value per stratum, (H, V).

        `design` has the size of the strata, and what else the question needs.
        """
        sizes = design["stratum_size"]
        return stratified_accuracy(sizes, counts.sum(1), counts[:, 1], skipped=skipped)

    def bounds(self, estimate: Any) -> list[tuple[float, float]]:
        """Return the smallest and the largest estimate of each metric."""
        return [estimate.bounds]

    def limits(self, estimate: Any, level: float) -> list[Interval]:
        """Return the interval of each metric."""
        return [estimate.interval(level)]


class _ClassMetrics(Question):
    """Precision, recall and F1 of a class: strata within the predicted class and the others."""

    metrics = METRICS
    is_accuracy = False
    least_labels = 2 * ROUNDS  # there are two parts
    needs = ("metrics_of", "predicted")

    def parts(self, items: ScoredItems, design: AuditDesign) -> np.ndarray:
        return predicted_members(items, design.metrics_of).astype(np.int64)

    def strata(self, items: ScoredItems, design: AuditDesign, n_strata: int) -> Strata:
        refuse_given(items)
        checks.whole("n_strata", n_strata, 1, items.size)
        member = predicted_members(items, design.metrics_of)
        parts = {f"predicted {design.metrics_of!r}": member, "predicted otherwise": ~member}
        notes: list[Note] = []
        labels, sizes = np.zeros(items.size, np.int64), np.empty(0, np.int64)
        for text, part in parts.items():
            if part.any():
                score = items.score[part]
                cut = stratify_part(score, n_strata, design.stratifier, text, rng=design.seed)
                labels[part] = sizes.size
                labels[part] += cut.labels
                sizes = np.append(sizes, cut.sizes)
                notes += cut.notes
        return Strata(labels, sizes, None, sizes.size, design.stratifier, notes=notes)

    def frame(self, items: ScoredItems, design: AuditDesign, strata: Strata, budget: int) -> Frame:
        predicted = strata_of_class(items, design.metrics_of, strata)
        return Frame(items, strata, label_shares(strata.sizes, predicted))

    def details(self, items: ScoredItems, design: Mapping[str, Any], strata: Strata) -> dict:
        return {"predicted": strata_of_class(items, design["metrics_of"], strata).tolist()}

    def value(self, design: Mapping[str, Any], item: Any, label: Any) -> int:
        if design["asks"] == "correct":
            return label
        name = design["metrics_of"]
        return int((label == name) == (item.prediction == name))

    def estimate(self, design: Mapping[str, Any], counts: np.ndarray, skipped: ArrayLike) -> Any:
        sizes, labeled = design["stratum_size"], counts.sum(1)
        return class_metrics(sizes, design["predicted"], labeled, counts[:, 1], skipped=skipped)

    def bounds(self, estimate: Any) -> list[tuple[float, float]]:
        return [estimate.bounds(metric) for metric in METRICS]

    def limits(self, estimate: Any, level: float) -> list[Interval]:
        return [estimate.interval(metric, level) for metric in METRICS]


class _Difference(Question):
    """The difference of two models' accuracies: strata of the items on which they differ."""

    answers = ("truth",)
    metrics = ("difference",)
    values = (-1, 0, 1)
    ends = (-1, 1)
    is_accuracy = False
    least_labels = ROUNDS
    among = f" {DIFFERING}"

    def population(self, items: ScoredItems) -> ScoredItems:
        refuse_given(items)
        return items_at(items, differing(items))

    def strata(self, items: ScoredItems, design: AuditDesign, n_strata: int) -> Strata:
        return stratify_part(items.score, n_strata, design.stratifier, DIFFERING, rng=design.seed)

    def value(self, design: Mapping[str, Any], item: Any, label: Any) -> int:
        return int(label == item.prediction) - int(label == item.rival)

    def estimate(self, design: Mapping[str, Any], counts: np.ndarray, skipped: ArrayLike) -> Any:
        sizes, agreeing = design["stratum_size"], design["agreeing"]
        return paired_difference(sizes, counts, agreeing=agreeing, skipped=skipped)


class _Judged(Question):
    """The difference of two models under a judge: the strata are the pairs of judge labels."""

    answers = ("which",)
    metrics = ("difference",)
    values = tuple(range(len(WHICH)))
    ends = WHICH.index("B"), WHICH.index("A")
    merges = False
    is_accuracy = False
    needs = ("judged",)

    def strata(self, items: ScoredItems, design: AuditDesign, n_strata: int) -> Strata:
        size = pair_sizes(items)
        occurs = np.flatnonzero(size)
        order = np.argsort(WHICH)
        pairs = order[np.searchsorted(np.array(WHICH)[order], np.asarray(items.by))]
        labels = np.searchsorted(occurs, pairs)
        sizes = checks.listed(f"{WHICH[k]} ({size[k]:,})" for k in occurs)
        note = Note("design", f"strata are by the answer that the judge labels correct: {sizes}")
        return Strata(labels, size[occurs], None, occurs.size, "given", notes=[note])

    def frame(self, items: ScoredItems, design: AuditDesign, strata: Strata, budget: int) -> Frame:
        sizes = pair_sizes(items)
        least = int(np.minimum(LEAST, sizes).sum())
        share = judged_labels(sizes, max(budget, least))[sizes > 0]
        return Frame(items, strata, share)

    def details(self, items: ScoredItems, design: Mapping[str, Any], strata: Strata) -> dict:
        return {"judged": pair_sizes(items).tolist()}

    def value(self, design: Mapping[str, Any], item: Any, label: Any) -> int:
        return WHICH.index(label)

    def estimate(
        self, design: Mapping[str, Any], counts: np.ndarray, skipped: ArrayLike
    ) -> JudgedDifference:
        sizes = np.asarray(design["judged"])
        occurs, pairs = sizes > 0, len(WHICH)
        table, unlabeled = np.zeros((pairs, pairs), np.int64), np.zeros(pairs, np.int64)
        table[occurs], unlabeled[occurs] = counts, skipped
        return judged_difference(sizes, table, skipped=unlabeled)


QUESTIONS: dict[str, Question] = {
    "accuracy": Question(),
    "class_metrics": _ClassMetrics(),
    "difference": _Difference(),
    "judged": _Judged(),
}


def question_of(name: str, asks: str) -> Question:
    """Return the entry of `QUESTIONS` for a question and the answers of annotators."""
    return QUESTIONS["judged" if asks == "which" else name]


def count_labels(question: Question, strata: int, stratum: np.ndarray, values: Any) -> np.ndarray:
    """Return the number of labels of each stratum with each value, (H, V)."""
    counts = np.zeros((strata, len(question.values)), np.int64)
    np.add.at(counts, (stratum, np.asarray(values, np.int64) - question.values[0]), 1)
    return counts


def _allocated(items: ScoredItems, strata: Strata, method: str, budget: int) -> Frame:
    """Return the frame of an allocation by one of the methods of `allocate`."""
    if method == "proportional":  # with a larger budget, the order begins in the same way
        return Frame(items, strata)
    if method not in rules.NEED_SD:
        return Frame(items, strata, allotted=rules.allocate(strata.sizes, budget, method).labeled)
    if items.score_is != "confidence":
        without = "with margins" if items.score_is == "margin" else "without scores"
        raise checks.WrongValue(
            "allocation",
            f"{method!r} needs scores that are probabilities. Use 'proportional' or 'equal' "
            f"{without}",
        )
    score = np.bincount(strata.labels, items.score) / strata.sizes
    sd = np.sqrt(stratum_variance(strata.sizes, np.clip(score, 0, 1)))
    plan = rules.allocate(strata.sizes, budget, method, stratum_sd=sd)
    trusted = Note(
        "assumption",
        f"allocation {method} treats the scores as probabilities: if the classifier is "
        "overconfident, too few labels go to the strata that look safe",
    )
    notes = [trusted, *rules.unused_notes(plan.unused, budget)]
    return Frame(items, strata, allotted=plan.labeled, notes=notes)


def audited_class(items: ScoredItems, metrics_of: Any) -> tuple[str, str]:
    """Return the text of the class, and what annotators have to answer at least."""
    if items.prediction is None:
        raise checks.WrongValue(
            "metrics_of", f"{str(metrics_of)!r} needs predictions. Name their column as prediction"
        )
    texts, class_named = named_classes(items.prediction)
    name = class_named(str(metrics_of).strip())
    if name is None:
        raise checks.WrongValue(
            "metrics_of",
            "must be a class that is predicted: "
            f"{checks.listed(texts, quoted=True)}; got "
            f"{str(metrics_of)!r}{checks.suggestion(metrics_of, texts)}",
        )
    return name, "correct" if len(texts) <= 2 else "truth"


def predicted_members(items: ScoredItems, name: str) -> np.ndarray:
    """Return whether each item is predicted as a class, (N,)."""
    return class_texts(np.asarray(items.prediction)) == name


def strata_of_class(items: ScoredItems, name: str, strata: Strata) -> np.ndarray:
    """Return whether the items of each stratum are predicted as a class, (H,)."""
    return np.bincount(strata.labels, predicted_members(items, name), strata.n_strata) > 0


def label_shares(size: np.ndarray, predicted: np.ndarray) -> np.ndarray:
    """Return the proportion of the labels that each stratum gets.

    The items predicted as the class together get a fixed proportion. Within these and within the
    other items, labels are in proportion to stratum size.
    """
    share = size / np.where(predicted, size[predicted].sum(), size[~predicted].sum())
    if predicted.any() and not predicted.all():
        share = share * np.where(predicted, SHARE_OF_PREDICTED, 1 - SHARE_OF_PREDICTED)
    return share


def differing(items: ScoredItems) -> np.ndarray:
    """Return the positions of the items on which two models differ."""
    if items.prediction is None or items.rival is None:
        raise checks.WrongValue(
            "items",
            "must hold the predictions of two models. Name their columns as prediction and rival",
        )
    refuse_free_text(items.prediction, items.rival)
    if items.correct is not None and items.truth is None:
        raise checks.WrongValue(
            "items", "must hold the true classes to simulate labels for two models"
        )
    differ = np.flatnonzero(class_texts(items.prediction) != class_texts(items.rival))
    if not differ.size:
        raise ValueError(
            "prediction and rival are the same for every item, so their accuracies are equal and "
            "there is nothing to label. Check that the two columns are of different models"
        )
    return differ


def items_at(items: ScoredItems, index: np.ndarray) -> ScoredItems:
    """Return the items at some positions, with their identifiers among all items."""
    identifiers = np.arange(1, items.size + 1) if items.id is None else items.id
    names = "score", "prediction", "truth", "correct", "rival"
    columns: dict[str, Any] = {name: _at(getattr(items, name), index) for name in names}
    if items.labeled is not None:
        is_labeled = np.isin(items.labeled, index)
        columns["labeled"] = np.searchsorted(index, items.labeled[is_labeled])
        for name in ("labeled_truth", "labeled_correct"):
            columns[name] = _at(getattr(items, name), is_labeled)
    return ScoredItems(score_is=items.score_is, notes=items.notes, id=identifiers[index], **columns)


def _at(values: np.ndarray | None, index: np.ndarray) -> np.ndarray | None:
    return None if values is None else values[index]


def pair_sizes(items: ScoredItems) -> np.ndarray:
    """Return the number of items by pair of judge labels, (4,), in the order of `WHICH`."""
    sizes = np.zeros(len(WHICH), int)
    if items.by is not None:
        sizes = np.array([(items.by == pair).sum() for pair in WHICH])
    if items.prediction is not None or sizes.sum() < items.size:
        raise checks.WrongValue(
            "items", "must hold the labels of a judge, as judged_items reads them"
        )
    return sizes


def compared_models(source: Mapping[str, Any] | None) -> tuple[str, ...]:
    """Return the columns of the predictions of A and B, or "A" and "B" if they are not known."""
    return tuple(
        str((source or {}).get(role) or name)
        for role, name in zip(("prediction", "rival"), NAMES, strict=True)
    )


def which_is_which(models: tuple[str, ...]) -> str:
    """Return in a sentence which model is A and which is B."""
    if models == NAMES:
        return "A is the prediction and B is the second model"
    return f"A is {models[0]} and B is {models[1]}"


def verdict_columns(source: Mapping[str, Any] | None) -> tuple[str, ...]:
    """Return the columns of the judge labels for A and B, or "A" and "B" if they are not known."""
    judge = (source or {}).get("judge")
    return tuple(name.strip() for name in judge.split(",")) if judge else NAMES


def called(columns: Sequence[str]) -> tuple[str, ...]:
    """Return the names of the models, with the columns of their judge labels."""
    return tuple(
        name if name == column else f"{name} ({column})"
        for name, column in zip(NAMES, columns, strict=True)
    )


def refuse_shown(columns: Mapping[str, Any], judged_in: Sequence[str]) -> None:
    """Raise if annotators would see a judge label."""
    for name in columns:
        if name in judged_in:
            raise checks.WrongValue(
                "columns", "must not show a judge label: annotators would be influenced by it", name
            )
