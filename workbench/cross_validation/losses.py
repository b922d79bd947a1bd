"""Losses of a cross-validation: which item, in which fold, of which repeat, by which model.

Read the class docstring of `CVLosses` first, then its class methods, which read what other tools
return. `labels` checks labels of folds and repeats, `sources` what other tools return, and `tables`
reads files.
"""

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import ndarray
from numpy.typing import ArrayLike

from workbench import checks
from workbench.checks import WrongValue, counted, listed
from workbench.cross_validation import labels, long_form, schemes, sources, tables
from workbench.data import frames
from workbench.results import FILLED, Note, Result, rows_of

LOSSES = {
    "zero_one": lambda truth, prediction: truth != prediction,
    "squared": lambda truth, prediction: (truth - prediction) ** 2,
    "absolute": lambda truth, prediction: np.abs(truth - prediction),
}
MODEL_NAMES = ("A", "B")
MOST_NAMED = 20
KINDS = {False: ("loss", "losses"), True: ("score", "scores")}
SCORES = Note("data", "scores: the larger is better")


class CVLosses(Result):
    """Losses of one or more models on the test sets of K folds, of R repeats, or of random splits.

    Tests use one series: the losses of a single model, or those of the first minus those of the
    second of two. Where the losses were made of scores, the series is one of scores.

    Attributes
    ----------
    losses : (K, m) array_like, or (n,) or (n, M) with `fold`, or a dict of (n,) with `fold`
        Finite losses, smaller is better; one row per fold, one entry per item, or one column per
        model. Stored as (n, M). The largest has a size of 1e-140 to 1e140, whose square is a
        number, or all are 0.
    fold : (n,) array_like of labels
        Fold in which each item was tested, whole numbers or text; stored as 0 to K - 1. Every
        repeat has the same number of folds, at least 2.
    models : sequence of str, or str
        M names, or one text with commas between them; by default "A", "B", ...
    item : (n,) array_like of labels, optional
        The item that each row was measured on; needed to join models and to check repeats.
    repeat : (n,) array_like of labels, optional
        Stored as 0 to R - 1. Every item is tested once in each repeat.
    fold_size : (n,) array_like of int, optional
        The number of items in each fold, where each row is the mean over a whole fold, one row per
        fold and repeat; 1 throughout where that number is unknown.
    scores : bool
        The losses are minus scores, of which the larger is better; series, means and tests are of
        the scores.
    test_share : float, optional
        The proportion of items in a test set, in (0, 1): of random splits, of which each row is the
        mean of one; of folds only where some were left out. Otherwise a fold tests 1/K of the
        items.
    splits : {"folds", "random"}
        How the test sets were made; "random" needs `test_share`.
    fold_labels, repeat_labels : tuple
        K and R labels in the order of the codes: of numbers by size, of text with the numbers in it
        by size. Folds that have other labels in another repeat are 0 to K - 1.

    Raises
    ------
    ValueError
        For NaN losses, fewer than 2 folds, labels that do not fit, an item tested twice, repeats
        that differ in their items or in their number of folds, a fold size for a row that is not a
        whole fold. Names the item, the model, the fold. For more than 20 folds without `item` or
        `repeat`, which may be those of several cross-validations or random splits: give `repeat`,
        all 0 for one cross-validation, or `test_share`.

    Examples
    --------
    >>> CVLosses([[0, 1, 0], [1, 1, 0], [0, 0, 0]])
    CVLosses(mean loss of A 0.3333; 9 items in 3 folds)
    >>> CVLosses({"tree": [0, 1, 1, 0], "forest": [0, 0, 1, 0]}, [1, 1, 2, 2])
    CVLosses(mean loss of tree 0.5, forest 0.25; 4 items in 2 folds)
    """

    holds_items = True

    losses: ndarray
    fold: ndarray = FILLED
    models: tuple[str, ...] = ()
    item: ndarray | None = None
    repeat: ndarray = FILLED
    fold_size: ndarray | None = None
    scores: bool = False
    fold_labels: tuple = ()
    repeat_labels: tuple = ()
    test_share: float | None = None
    splits: str = "folds"

    if TYPE_CHECKING:

        def __init__(
            self,
            losses: ArrayLike | Mapping,
            fold: ArrayLike | None = None,
            models: str | Sequence[str] = (),
            item: ArrayLike | None = None,
            repeat: ArrayLike | None = None,
            fold_size: ArrayLike | None = None,
            scores: bool = False,
            fold_labels: tuple = (),
            repeat_labels: tuple = (),
            test_share: float | None = None,
            splits: str = "folds",
            *,
            notes: Sequence[Note] = (),
        ) -> None: ...

    def __post_init__(self) -> None:
        losses, fold, models = _columns(self.losses, self.fold, self.models)
        checks.refuse_infinite("losses", losses, "item", "model")
        sources.refuse_extreme("losses", losses)
        n = len(losses)
        item = None if self.item is None else checks.labels("item", self.item, size=n)
        repeat = np.zeros(n, int) if self.repeat is None else self.repeat
        repeat_labels, repeat = labels.codes("repeat", repeat, n)
        labels.refuse_twice(item, repeat, repeat_labels)
        fold_labels, fold = labels.codes("fold", fold, n)
        fold_labels, fold = labels.fold_codes(fold_labels, fold, repeat)
        if self.test_share is None and self.repeat is None and item is None:
            labels.refuse_many(fold_labels)
        splits, share = labels.checked_scheme(self.splits, self.test_share, repeat_labels)
        size = self.fold_size
        if share is not None and size is None:
            size = np.ones(n, int)
        if size is not None:
            size = checks.counts(
                "fold_size",
                size,
                size=n,
                low=1,
                what="fold",
            )
            labels.refuse_items(fold, repeat)
        vars(self).update(
            losses=losses,
            fold=fold,
            models=models,
            item=item,
            repeat=repeat,
            fold_size=size,
            scores=bool(self.scores),
            fold_labels=tuple(self.fold_labels) or fold_labels,
            repeat_labels=tuple(self.repeat_labels) or repeat_labels,
            test_share=share,
            splits=splits,
        )
        if self.scores:
            vars(self)["notes"] = (*self.notes, SCORES)
        super().__post_init__()

    @classmethod
    def from_fold_means(
        cls,
        means: Any,
        *,
        n_items: int | None = None,
        models: Sequence[str] = (),
        repeats: int = 1,
        higher_is_better: bool = False,
        splits: str = "auto",
        test_share: float | None = None,
    ) -> "CVLosses":
        """Return losses of which only the means over folds are known.

        Parameters
        ----------
        means : (J,) or (J, M) array_like, dict of (J,) or data frame
            J = K R mean losses per model, folds of the first repeat first; of a frame each column
            is a model. A fold in which a model has NaN, an undefined metric, is left out for all
            models, and a note says so.
        n_items : int, optional
            Items n of one repeat; folds are taken as equal, the first n mod K one larger. Without
            it only ratios of fold sizes are known: all equal.
        models : sequence of str
        repeats : int
            R; must divide J.
        higher_is_better : bool
            The means are of scores: a loss is minus the score.
        splits : {"auto", "folds", "random"}
            "folds": one cross-validation of J folds, or `repeats` of them; "random": each mean is
            of a random split. "auto" takes up to 20 means for folds, and asks where there are more.
        test_share : float, optional
            Of random splits the proportion of items in a test set, in (0, 1).

        Raises
        ------
        ValueError
            For more than 20 means of which neither `repeats`, `splits` nor `test_share` says how
            they were made.

        Examples
        --------
        >>> CVLosses.from_fold_means({"A": [.2, .3, .1], "B": [.1, .1, .1]}, n_items=60)
        CVLosses(mean loss of A 0.2, B 0.1; means of 3 folds)
        >>> CVLosses.from_fold_means({"A": [.2, .3, .1], "B": [.1, .1, .1]}, test_share=.2)
        CVLosses(mean loss of A 0.2, B 0.1; means of 3 random splits)
        """
        repeats = checks.whole("repeats", repeats, 1)
        if sources.is_frame(means):
            means = sources.columns_of_frame(means)
        if isinstance(means, dict):
            models = tuple(means)
            means = _stacked(means)
        means = checks.floats("means", means)
        if means.ndim not in (1, 2) or not means.size:
            raise WrongValue(
                "means", f"must be (J,) or (J, M), one row per fold; got shape {means.shape}"
            )
        splits, share = schemes.checked(splits, test_share)
        folds, rest = divmod(len(means), repeats)
        if rest:
            raise WrongValue(
                "repeats",
                f"must divide the number of fold means; got {repeats} repeats of {len(means)}",
            )
        if splits == "auto":
            splits = "folds"
            if repeats == 1:
                schemes.refuse_unknown_folds(
                    folds,
                    "say how many with repeats (in CVLosses.from_fold_means, which takes all of "
                    "these)",
                )
        items = folds
        if n_items is not None and splits == "folds":
            items = checks.whole("n_items", n_items, folds)
        size = items // folds + (np.arange(folds) < items % folds)
        repeat, fold = np.divmod(np.arange(len(means)), folds)
        label = {"fold": fold, "repeat": repeat}
        return cls._read(
            means,
            models,
            label,
            np.tile(size, repeats),
            higher_is_better,
            splits=splits,
            test_share=share,
            where=" in CVLosses.from_fold_means",
        )

    @classmethod
    def from_cross_validate(
        cls,
        first: Any,
        second: Any = None,
        *,
        metric: str = "score",
        models: str | Sequence[str] = MODEL_NAMES,
        repeats: int = 1,
        n_items: int | None = None,
        splits: str = "auto",
        test_share: float | None = None,
    ) -> "CVLosses":
        """Return the fold means in results of scikit-learn's `cross_validate`.

        For scorers of scikit-learn the larger is better: a loss is minus the score.

        Parameters
        ----------
        first, second : dict
            With "test_<metric>", each (J,); called with `return_indices=True` also "indices". Fold
            sizes and repeats are read from the indices. They also show whether both models were
            tested on the same folds and trained on all other items, and whether test sets overlap,
            as those of random splits do.
        metric : str
            "score", or the name of one of several scorers.
        models : sequence of str, or str
            One name per result.
        repeats, n_items : int
            As in `from_fold_means`; used only where there are no indices.
        splits, test_share
            As in `from_fold_means`; by default the indices decide.

        Raises
        ------
        ValueError
            If a result has no such metric, too many scores are NaN (fits failed), the models had
            different folds, or a split is neither one of K folds nor random, as in splits of time
            series; for more than 20 scores without indices of which nothing says how they were
            made.

        Examples
        --------
        >>> CVLosses.from_cross_validate({"test_score": [.8, .9]}, {"test_score": [.7, .9]})
        CVLosses(mean score of A 0.85, B 0.8; means of 2 folds)
        """
        results = [first] if second is None else [first, second]
        names = sources.named_models(models)
        if names == MODEL_NAMES:
            names = names[: len(results)]
        _refuse_names(names, len(results))
        result_of = dict(zip(names, results, strict=True))
        scores = {}
        indices = {}
        for name, result in result_of.items():
            scores[name] = sources.scores_of(result, metric, name)
            if "indices" in result:
                indices[name] = result["indices"]
        means = _stacked(scores)
        notes = sources.unchecked_folds(names, [*indices])
        scheme, share = schemes.checked(splits, test_share)
        if not indices:
            cv = cls.from_fold_means(
                means,
                n_items=n_items,
                models=names,
                repeats=repeats,
                higher_is_better=True,
                splits=splits,
                test_share=test_share,
            )
            return cv._noted(*notes)
        test_sets = sources.same_test_sets(indices)
        size = np.array([len(test) for test in test_sets])
        label = {"fold": np.arange(size.size)}
        repeat = sources.repeats_of(test_sets, size)
        if scheme == "random" or scheme == "auto" and repeat is None:
            name, index = next(iter(indices.items()))
            share = share or sources.share_of_splits(index, name)
            notes.append(Note("data", "the test sets overlap: read as random splits"))
            scheme = "random"
            size = np.ones(size.size, int)
        else:
            sources.refuse_other_training(indices, test_sets)
            if repeat is None:
                raise WrongValue(
                    "splits",
                    "must test every item once per repeat, as K-fold splitters do; for random "
                    "splits say splits='random'",
                )
            scheme = "folds"
            label["repeat"] = repeat
        return cls._read(
            means,
            names,
            label,
            size,
            True,
            splits=scheme,
            test_share=share,
            notes=notes,
        )

    @classmethod
    def from_cross_val_predict(
        cls,
        truth: ArrayLike,
        predictions: Any,
        splits: Any,
        *,
        loss: str | Callable = "zero_one",
    ) -> "CVLosses":
        """Return the losses of out-of-fold predictions, as `cross_val_predict` returns them.

        Parameters
        ----------
        truth : (n,) array_like
        predictions : (n,) array_like or dict of (n,)
            One model, or one entry per model.
        splits : (n,) array_like of labels, or iterable of (train, test) index pairs
            The fold of each item, or what `splitter.split(X, y)` yields; the test sets hold each
            item once.
        loss : {"zero_one", "squared", "absolute"} or callable
            A callable takes (truth, prediction), both (n,), and returns (n,).

        Raises
        ------
        TypeError
            For a splitter instead of its splits.
        ValueError
            For items that do not fit, or "zero_one" for a model that predicts no class of the
            truth.

        Examples
        --------
        >>> predictions = {"A": [1, 1, 1, 1], "B": [0, 0, 0, 1]}
        >>> CVLosses.from_cross_val_predict([1, 0, 1, 1], predictions, [0, 0, 1, 1])
        CVLosses(mean loss of A 0.25, B 0.5; 4 items in 2 folds)
        """
        loss_of = loss if callable(loss) else LOSSES[checks.choice("loss", loss, LOSSES)]
        read = checks.vector if loss in ("squared", "absolute") else checks.labels
        truth = read("truth", truth)
        if not isinstance(predictions, dict):
            predictions = {MODEL_NAMES[0]: predictions}
        losses = {}
        for name, values in predictions.items():
            prediction = read(f"predictions of {name}", values, size=truth.size)
            if loss == "zero_one":
                sources.refuse_no_classes(truth, prediction, name)
            losses[name] = np.asarray(loss_of(truth, prediction), float)
        return cls(losses, sources.fold_of(splits, truth.size), item=np.arange(truth.size))

    @classmethod
    @frames.in_rows_of("source")
    def read_csv(
        cls,
        source: Any,
        *,
        fold: str = "fold",
        item: str = "item",
        repeat: str = "repeat",
        models: str | Sequence[str] | None = None,
        higher_is_better: bool = False,
        size: str | None = None,
        model: str = "model",
        value: str = "",
        folds: int = 0,
        splits: str = "auto",
        test_share: float | None = None,
    ) -> "CVLosses":
        """Return losses from a file with one row per item (or per fold).

        The file has one column per model, or is in long form with a column of the models' names.

        Parameters
        ----------
        source : str, path or data frame
            As in `workbench.read_scores`: csv, parquet, json or a data frame.
        fold : str
            Column of fold labels; without one called "fold" a column called `cv_fold`, `split` and
            the like is used.
        item, repeat : str
            Columns; those called "item" and "repeat" are used where the file has them, any other
            name must be there. Without a column "repeat" one called seed, rep, run, trial, attempt,
            iteration or epoch is used where each of its values comes with the same number of folds;
            a note names it. Without items and with one row per fold, rows are fold means; a fold in
            which a model has no score is left out for all models, with a note.
        models : sequence of str, or str, optional
            Columns with losses, or one text with commas between them; by default (None or "") all
            others that can be scores of one kind. Names that scikit-learn gives to other things
            (such as `fit_time`, `n_test`, `rank_x`, `std_x`) are never models. If other columns
            leave it open, such as a flag next to fractions, an error asks for `models`.
        higher_is_better : bool
            The columns hold scores: a loss is minus the score.
        size : str, optional
            Column with the number of test items of each fold, where rows are fold means; by default
            folds are equal.
        model : str
            Column of the models' names in a file in long form, one row per model and item (or
            fold). A column called "model" is one unless `models` lists it. `models` then chooses
            among the names.
        value : str
            In long form the column of losses; "" for the only one that has no other role.
        folds : int
            Of what scikit-learn's `cross_validate` or the `cv_results_` of a search hold, the
            splits of one repetition; 0 where all splits are. There `value` is the metric.
        splits : {"auto", "folds", "random"}
            "folds": K folds, or repeats of them where a column tells repeats; "random": random
            splits. "auto" goes by the columns, and asks where there are more than 20 folds or a
            column called split and no repeats.
        test_share : float, optional
            Of random splits the proportion of items in a test set, in (0, 1); by default that of
            columns called n_train and n_test.

        Raises
        ------
        ValueError
            For a missing column or cell, a model that lacks a row or has it twice, a fold that is
            not a label, identifiers among the losses, or items that do not fit; names column and
            row.

        Examples
        --------
        >>> table = {"fold": [1, 2, 1, 2], "tree": [0., 1, 0, 1], "svm": [0., 1, 1, 1]}
        >>> CVLosses.read_csv({"item": [1, 2, 3, 4], **table})
        CVLosses(mean loss of tree 0.5, svm 0.75; 4 items in 2 folds)
        >>> CVLosses.read_csv({"fold": [1, 2], "n": [30, 10], "tree": [.2, .4]}, size="n")
        CVLosses(mean loss of tree 0.25; means of 2 folds)
        >>> table = {"model": ["tree", "tree", "svm", "svm"], "fold": [1, 2, 1, 2]}
        >>> CVLosses.read_csv({**table, "loss": [.2, .4, .1, .3]})
        CVLosses(mean loss of tree 0.3, svm 0.2; means of 2 folds)
        """
        roles = {"fold": fold, "item": item, "repeat": repeat}
        for role, name in (roles | {"size": size, "model": model, "value": value}).items():
            if not (name is None or isinstance(name, str)):
                raise TypeError(f"{role} must be the name of a column; got {name!r}")
        folds = checks.whole("folds", folds, 0)
        scheme, share = schemes.checked(splits, test_share)
        read = tables.read_losses(
            source,
            roles,
            models,
            size or "",
            model,
            value,
            folds,
            scheme,
            share,
        )
        losses = np.column_stack(list(read.scores.values()))
        return cls._read(
            losses,
            list(read.scores),
            read.label,
            read.sizes,
            higher_is_better,
            splits=read.splits,
            test_share=read.test_share,
            notes=read.notes,
        )

    @classmethod
    def _read(
        cls,
        losses: ndarray,
        models: long_form.Names,
        label: long_form.Arrays,
        sizes: ndarray | None,
        higher_is_better: bool,
        *,
        splits: str = "folds",
        test_share: float | None = None,
        notes: Sequence[Note] = (),
        where: str = "",
    ) -> "CVLosses":
        """Return losses or scores without the folds that a model lacks.

        `label` has the labels of rows by role. `where` says in which function a reader can state
        that higher is better.
        """
        names = sources.named_models(models) or sources.default_names(losses[0].size)
        losses, label, sizes, share, gaps = sources.without_gaps(losses, label, sizes, names)
        if higher_is_better:
            losses = -losses
        cv = cls(
            losses,
            label["fold"],
            names,
            label.get("item"),
            label.get("repeat"),
            sizes,
            bool(higher_is_better),
            test_share=test_share or share,
            splits=splits,
            notes=[*notes, *gaps],
        )
        if cv.scores or not cv.like_scores:
            return cv
        text = (
            "read as losses, the smaller is better: for scores such as accuracies say that higher "
            f"is better (--better higher; higher_is_better{where})"
        )
        return cv._noted(Note("data", text))

    @cached_property
    def folds(self) -> int:
        """Folds K of one repeat."""
        return int(self.fold.max()) + 1

    @cached_property
    def repeats(self) -> int:
        """Repeats R of the cross-validation."""
        return int(self.repeat.max()) + 1

    @property
    def scheme(self) -> str:
        """A description of how the test sets were made."""
        return schemes.words(self.splits, self.folds, self.repeats, self.test_share)

    @property
    def noun(self) -> str:
        """The name of a test set: "fold" or "random split"."""
        return "random split" if self.splits == "random" else "fold"

    @property
    def has_items(self) -> bool:
        """Whether losses of single items are known, not only means over folds."""
        return self.fold_size is None

    @property
    def zero_one(self) -> bool:
        """Whether the losses (or scores) of all items are 0 or 1."""
        largest = -1 if self.scores else 1
        binary = (self.losses == 0) | (self.losses == largest)
        return self.has_items and bool(binary.all())

    @property
    def like_scores(self) -> bool:
        """Whether losses may well be scores: all from 0 to 1, and above 0.5 on average."""
        in_range = self.losses.min() >= 0 and self.losses.max() <= 1
        return bool(in_range and self.mean_losses().min() > 0.5)

    @property
    def one_sign(self) -> bool:
        """Whether no loss is below 0, or all scores are on one side of it."""
        if (self.losses >= 0).all():
            return True
        return self.scores and bool((self.losses <= 0).all())

    @cached_property
    def sizes(self) -> ndarray:
        """Items per fold, (R, K) int."""
        size = np.ones(len(self.fold)) if self.fold_size is None else self.fold_size
        sizes = self._per_fold(size).astype(int)
        sizes.setflags(write=False)
        return sizes

    @property
    def equal_folds(self) -> bool:
        """Whether all folds have the same number of items."""
        return bool(np.ptp(self.sizes) == 0)

    @property
    def label(self) -> str:
        """A description of `series`: the name of the model, or "A minus B"."""
        return " minus ".join(self.models) if len(self.models) == 2 else self.models[0]

    @property
    def kind(self) -> str:
        """The kind of the numbers: "loss" or "score"."""
        return KINDS[self.scores][0]

    @property
    def kinds(self) -> str:
        """The plural of `kind`."""
        return KINDS[self.scores][1]

    def series(self) -> ndarray:
        """Return the tested numbers (n,), losses or scores.

        They are those of the only model, or of the first minus the second of two.
        """
        if len(self.models) > 2:
            pair = ", ".join(map(repr, self.models[:2]))
            raise ValueError(
                f"a test compares two models; there are {len(self.models)}: choose with "
                f".pair({pair}), or use compare_models"
            )
        first, *second = self.losses.T
        return self._shown(first - second[0] if second else first)

    def fold_means(self) -> ndarray:
        """Return the means of `series` over folds, (R, K)."""
        return self._means_of(self.series())

    def pair(self, first: str, second: str) -> "CVLosses":
        """Return the losses of two models.

        Parameters
        ----------
        first, second : str
            Names in `models`.
        """
        checks.choice("first", first, self.models)
        checks.choice("second", second, self.models)
        columns = list(map(self.models.index, (first, second)))
        losses = self.losses[:, columns]
        losses.setflags(write=False)
        pair = copy.copy(self)  # checked before
        vars(pair).update(
            losses=losses,
            models=(first, second),
            _mean_losses=self._mean_losses[columns],
        )
        return pair

    def joined(self, other: "CVLosses") -> "CVLosses":
        """Return the models of both in one object; rows are matched by item and repeat.

        Parameters
        ----------
        other : CVLosses
            Other models on the same items and folds.

        Raises
        ------
        ValueError
            If the items or the folds differ, a model is in both, or one has losses and the other
            scores.
        """
        _refuse_unlike(self, other, "rows", self._layout, other._layout)
        here = self._rows_by_item()
        there = other._rows_by_item()
        rows = there[np.argsort(here)]
        for name in ("item", "fold_size"):
            values = getattr(self, name)
            if values is not None:
                matched = getattr(other, name)[rows]
                for k in np.flatnonzero(values != matched)[:1]:
                    _refuse_unlike(self, other, name, values[k], matched[k])
        if not long_form.same_partition(self._cells, other._cells[rows]):
            raise WrongValue(
                "models", "must be tested on the same folds: give both the same splits"
            )
        losses = np.hstack([self.losses, other.losses[rows]])
        models = self.models + other.models
        notes = [*self.notes, *other.notes]
        return replace(
            self,
            losses=losses,
            models=models,
            notes=notes,
        )

    def mean_losses(self) -> ndarray:
        """Return the mean loss of each model, (M,); of fold means weighted by the folds' items."""
        return self._mean_losses.copy()

    def fold_means_of_models(self) -> ndarray:
        """Return the mean loss of each model in each fold of each repeat, (M, R K)."""
        return np.array([self._means_of(column).ravel() for column in self.losses.T])

    @cached_property
    def _mean_losses(self) -> ndarray:
        return np.average(self.fold_means_of_models(), axis=1, weights=self.sizes.ravel())

    def headline(self) -> str:
        """Return mean losses (or scores), items, folds and repeats."""
        means = zip(self.models, self._shown(self.mean_losses()), strict=True)
        of_models = listed((f"{name} {mean:.4g}" for name, mean in means), MOST_NAMED)
        rows = f"means of {counted(self.folds, self.noun)}"
        if self.has_items:
            rows = f"{self.sizes[0].sum():,} items in {self.folds} folds"
        repeats = f", {self.repeats} repeats" if self.repeats > 1 else ""
        return f"mean {self.kind} of {of_models}; {rows}{repeats}"

    def rows(self) -> list[dict]:
        """Return one row per fold: repeat, fold, items where known, mean loss (or score) per model.

        The losses of a model called "fold" are in the column "loss of fold" (or "score of fold").
        """
        columns = {"repeat": np.repeat(self.repeat_labels, self.folds)}
        columns["fold"] = np.tile(self.fold_labels, self.repeats)
        taken = ("repeat", "fold", "items")
        if self.fold_size is None or self.fold_size.max() > 1:
            columns["items"] = self.sizes.ravel()
        for name, means in zip(self.models, self.fold_means_of_models(), strict=True):
            column = f"{self.kind} of {name}" if name in taken else name
            columns[column] = self._shown(means)
        return rows_of(**columns)

    @property
    def _layout(self) -> str:
        """A description of the rows, in which joined models must agree."""
        rows = "fold means" if self.fold_size is not None else "items"
        if self.item is not None:
            rows = f"named {rows}"
        return f"{self.kinds} of {len(self.fold):,} {rows} in {self.scheme}"

    def _shown(self, losses: ndarray) -> ndarray:
        return 0.0 - losses if self.scores else losses

    @cached_property
    def _cells(self) -> ndarray:
        return self.repeat * self.folds + self.fold

    @cached_property
    def _first_rows(self) -> ndarray:
        return np.unique(self._cells, return_index=True)[1]

    def _per_fold(self, values: ndarray) -> ndarray:
        return np.bincount(self._cells, values).reshape(self.repeats, self.folds)

    def _means_of(self, values: ndarray) -> ndarray:
        if not self.has_items:
            return self._per_fold(values)
        # subtracting a fold's first loss makes the mean of equal losses exactly their value
        first = values[self._first_rows]
        apart = self._per_fold(values - first[self._cells]) / self.sizes
        return first.reshape(self.repeats, -1) + apart

    def _rows_by_item(self) -> ndarray:
        item = self.item
        if item is None:
            item = np.arange(len(self.fold)) if self.has_items else self.fold
        return np.lexsort((item, self.repeat))


def as_losses(cv: CVLosses | ArrayLike) -> CVLosses:
    """Return `cv` as CVLosses; an array is taken as (K, m) losses.

    Examples
    --------
    >>> as_losses([[0, 1], [1, 1]]).folds
    2
    """
    return cv if isinstance(cv, CVLosses) else CVLosses(cv)


def _columns(losses: Any, fold: Any, models: Any) -> tuple:
    """Return losses (n, M), fold labels (n,) and model names."""
    sources.refuse_frame("losses", losses)
    if isinstance(losses, dict):
        if fold is None:
            raise WrongValue(
                "fold",
                "must be given with a dict of losses, one label per loss; for means of folds use "
                "CVLosses.from_fold_means",
            )
        models = tuple(losses)
        losses = _stacked(losses)
    losses = checks.floats("losses", losses)
    if losses.ndim not in ((1, 2) if fold is not None else (2,)) or not losses.size:
        rule = "must have shape (K, m), one row per fold, or come with fold labels"
        raise WrongValue("losses", f"{rule}; got shape {losses.shape}")
    if fold is None:
        checks.refuse_infinite("losses", losses, "fold", "item")
        fold = np.repeat(np.arange(len(losses)), losses.shape[1])
        losses = losses.ravel()
    # no negative zeros, and the losses of each model next to each other in memory
    losses = np.add(losses.reshape(len(losses), -1), 0.0, dtype=float, order="F")
    losses.setflags(write=False)
    models = sources.named_models(models) or sources.default_names(losses.shape[1])
    _refuse_names(models, losses.shape[1])
    return losses, fold, models


def _refuse_names(models: tuple, count: int) -> None:
    if len(models) != count or len(set(models)) != len(models):
        noun = "one name" if count == 1 else f"{count} different names"
        raise WrongValue("models", f"must be {noun}; got {', '.join(map(repr, models))}")


def _stacked(columns: Mapping) -> ndarray:
    """Return one column per model, (n, M)."""
    if not columns:
        raise WrongValue("models", "must be at least one; there is no column of losses")
    arrays = {}
    for name, values in columns.items():
        arrays[name] = sources.as_array(f"losses of {name}", values)
    if len({array.shape for array in arrays.values()}) > 1:
        sizes = ", ".join(f"{name} has {array.size}" for name, array in arrays.items())
        raise WrongValue("models", f"must be tested on the same items; {sizes}")
    return np.stack(list(arrays.values()), 1)


def _refuse_unlike(
    first: CVLosses,
    second: CVLosses,
    name: str,
    value: Any,
    other: Any,
) -> None:
    if value != other:
        names = ", ".join(first.models)
        other_names = ", ".join(second.models)
        rule = f"must have the same {name}; {names} has {value}, {other_names} {other}"
        raise WrongValue("models", rule)
