"""Losses of a cross-validation: which item, in which fold, of which repeat, by which model."""

import copy
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from workbench import checks
from workbench.cross_validation import labels, schemes, sources, tables
from workbench.data import frames
from workbench.results import FILLED, Note, Result

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
    """Losses of one or more models on the test sets of K folds, of R repeats of K folds, or of random splits.

    Tests look at one series: the losses of a single model, or those of the first minus those of the second of two; of
    losses that were made of scores, the scores.

    Attributes
    ----------
    losses : (K, m) array_like, or (n,) or (n, M) with `fold`, or a dict of (n,) with `fold`
        Finite losses, smaller is better; one row per fold, one entry per item, or one column per model. Kept as (n, M).
        The largest has a size of 1e-140 to 1e140, whose square is a number, or all are 0.
    fold : (n,) array_like of labels
        Fold in which each item was tested, whole numbers or text; kept as 0 to K - 1. Every repeat has the same number
        of folds, at least 2.
    models : sequence of str, or str
        M names, or one text with commas between them; by default "A", "B", ...
    item : (n,) array_like of labels, optional
        What each row was measured on; needed to join models and to check repeats.
    repeat : (n,) array_like of labels, optional
        Kept as 0 to R - 1. Every item is tested once in each repeat.
    fold_size : (n,) array_like of int, optional
        Given where each row is the mean over a whole fold, one row per fold and repeat: how many items it had;
        1 throughout where that is not known.
    scores : bool
        The losses are minus scores, of which the larger is better; series, means and tests are of the scores.
    test_share : float, optional
        The proportion of items in a test set, in (0, 1): of random splits, of which each row is the mean of one; of
        folds only where some were left out. Otherwise a fold tests 1/K of the items.
    splits : {"folds", "random"}
        How the test sets were made; "random" needs `test_share`.
    fold_labels, repeat_labels : tuple
        K and R labels in the order of the codes: of numbers by size, of text with the numbers in it by size. Folds that
        are called otherwise in another repeat are 0 to K - 1.

    Raises
    ------
    ValueError
        For NaN losses, fewer than 2 folds, labels that do not fit, an item tested twice, repeats that differ in
        their items or in their number of folds, a fold size for a row that is not a whole fold. Names the item, the
        model, the fold. For more than 20 folds without `item` or `repeat`, which may be those of several
        cross-validations or random splits: give `repeat`, all 0 for one cross-validation, or `test_share`.

    Examples
    --------
    >>> CVLosses([[0, 1, 0], [1, 1, 0], [0, 0, 0]])
    CVLosses(mean loss of A 0.3333; 9 items in 3 folds)
    >>> CVLosses({"tree": [0, 1, 1, 0], "forest": [0, 0, 1, 0]}, [1, 1, 2, 2])
    CVLosses(mean loss of tree 0.5, forest 0.25; 4 items in 2 folds)
    """

    holds_items = True

    losses: np.ndarray
    fold: np.ndarray = FILLED
    models: tuple[str, ...] = ()
    item: np.ndarray | None = None
    repeat: np.ndarray = FILLED
    fold_size: np.ndarray | None = None
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
        for row, column in np.argwhere(~np.isfinite(losses))[:1]:
            raise checks.WrongValue(
                "losses",
                f"must be finite; item {row} of model {models[column]!r} is {losses[row, column]}",
            )
        sources.refuse_extreme("losses", losses)
        n = len(losses)
        runs, repeat = (
            ((0,), np.zeros(n, int))
            if self.repeat is None
            else labels.codes("repeat", self.repeat, n)
        )
        item = None if self.item is None else checks.labels("item", self.item, size=n)
        labels.refuse_twice(item, repeat, runs)
        folds, fold = labels.fold_codes(*labels.codes("fold", fold, n), repeat, runs)
        if self.test_share is None and self.repeat is None and item is None:
            labels.refuse_many(folds)
        splits, share = labels.checked_scheme(self.splits, self.test_share, fold, runs)
        given_size = (
            np.ones(n, int) if share is not None and self.fold_size is None else self.fold_size
        )
        size = (
            None
            if given_size is None
            else labels.checked_sizes(given_size, fold, repeat, folds, runs)
        )
        notes = (*self.notes, *((SCORES,) if self.scores else ()))
        for name, value in {
            "losses": losses,
            "fold": fold,
            "models": models,
            "item": item,
            "repeat": repeat,
            "fold_size": size,
            "notes": notes,
            "scores": bool(self.scores),
            "test_share": share,
            "splits": splits,
            "fold_labels": labels.kept_labels("fold_labels", self.fold_labels, folds),
            "repeat_labels": labels.kept_labels("repeat_labels", self.repeat_labels, runs),
        }.items():
            object.__setattr__(self, name, value)
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
            J = K R mean losses per model, folds of the first repeat first; of a frame each column is a model. A fold
            in which a model has NaN, an undefined metric, is left out for all models, and a note says so.
        n_items : int, optional
            Items n of one repeat; folds are taken as equal, the first n mod K one larger. Without it only ratios of
            fold sizes are known: all equal.
        models : sequence of str
        repeats : int
            R; must divide J.
        higher_is_better : bool
            The means are of scores: a loss is minus the score.
        splits : {"auto", "folds", "random"}
            "folds": one cross-validation of J folds, or `repeats` of them; "random": each mean is of a random split.
            "auto" takes up to 20 means for folds, and asks where there are more.
        test_share : float, optional
            Of random splits the proportion of items in a test set, in (0, 1).

        Raises
        ------
        ValueError
            For more than 20 means of which neither `repeats`, `splits` nor `test_share` says how they were made.

        Examples
        --------
        >>> CVLosses.from_fold_means({"A": [.2, .3, .1], "B": [.1, .1, .1]}, n_items=60)
        CVLosses(mean loss of A 0.2, B 0.1; means of 3 folds)
        >>> CVLosses.from_fold_means({"A": [.2, .3, .1], "B": [.1, .1, .1]}, test_share=.2)
        CVLosses(mean loss of A 0.2, B 0.1; means of 3 random splits)
        """
        repeats = checks.whole("repeats", repeats, 1)
        means = sources.columns_of_frame(means) if sources.is_frame(means) else means
        if isinstance(means, dict):
            models, means = tuple(means), _stacked(means)
        means = sources.as_array("means", means)
        if means.ndim not in (1, 2):
            raise checks.WrongValue(
                "means", f"must be (J,) or (J, M), one row per fold; got shape {means.shape}"
            )
        scheme, share = schemes.checked(splits, test_share)
        if scheme == "random":
            return cls._of_random_splits(means, models, share, higher_is_better, repeats)
        folds, rest = divmod(len(means), repeats)
        if rest:
            raise checks.WrongValue(
                "repeats",
                f"must divide the number of fold means; got {repeats} repeats of {len(means)}",
            )
        if scheme == "auto" and repeats == 1:
            schemes.refuse_unknown_folds(
                folds,
                "say how many with repeats (in CVLosses.from_fold_means, which takes all of these)",
            )
        items = folds if n_items is None else checks.whole("n_items", n_items, folds)
        size = items // max(folds, 1) + (np.arange(folds) < items % max(folds, 1))
        label = {
            "fold": np.tile(np.arange(folds), repeats),
            "repeat": np.repeat(np.arange(repeats), folds),
        }
        means, label, sizes, share, gaps = sources.without_gaps(
            means, label, np.tile(size, repeats), models
        )
        found = cls(
            means, label["fold"], models, None, label.get("repeat"), sizes, test_share=share
        )
        return found._oriented(higher_is_better, gaps, " in CVLosses.from_fold_means")

    @classmethod
    def _of_random_splits(
        cls,
        means: np.ndarray,
        models: Sequence[str],
        share: float | None,
        higher_is_better: bool,
        repeats: int = 1,
    ) -> "CVLosses":
        """Return the means of random splits, those that a model lacks left out."""
        if repeats > 1:
            raise checks.WrongValue(
                "repeats", "must be 1 for random splits, of which all are drawn anew", repeats
            )
        if share is None:
            schemes.ask_share()
        count = len(means)
        means, label, sizes, _, gaps = sources.without_gaps(
            means, {"fold": np.arange(count)}, np.ones(count, int), models
        )
        found = cls(
            means, label["fold"], models, None, None, sizes, test_share=share, splits="random"
        )
        return found._oriented(higher_is_better, gaps, " in CVLosses.from_fold_means")

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
        """Return the fold means in what scikit-learn's `cross_validate` returned, for one or two models.

        Scorers of scikit-learn count up to the best: a loss is minus the score.

        Parameters
        ----------
        first, second : dict
            With "test_<metric>", each (J,); called with `return_indices=True` also "indices", from which fold sizes
            and repeats are read, whether both models were tested on the same folds and trained on all other items, and
            whether test sets overlap, as those of random splits do.
        metric : str
            "score", or the name of one of several scorers.
        models : sequence of str, or str
            One name per result.
        repeats, n_items : int
            As in `from_fold_means`; only looked at where there are no indices.
        splits, test_share
            As in `from_fold_means`; indices tell both.

        Raises
        ------
        ValueError
            If a result has no such metric, too many scores are NaN (fits failed), the models had different folds, or
            a split is neither one of K folds nor random, as in splits of time series; for more than 20 scores without
            indices of which nothing says how they were made.

        Examples
        --------
        >>> CVLosses.from_cross_validate({"test_score": [.8, .9]}, {"test_score": [.7, .9]})
        CVLosses(mean score of A 0.85, B 0.8; means of 2 folds)
        """
        results = [first] if second is None else [first, second]
        names = _names(models)
        names = names[: len(results)] if names == MODEL_NAMES else names
        _refuse_names(names, len(results))
        scores = [
            sources.scores_of(result, metric, name)
            for result, name in zip(results, names, strict=True)
        ]
        if len(scores) == 2 and scores[0].size != scores[1].size:
            raise checks.WrongValue(
                "models",
                f"must have the same folds; {names[0]} has {scores[0].size}, "
                f"{names[1]} {scores[1].size}",
            )
        known = {
            name: sources.splits_of(result)
            for name, result in zip(names, results, strict=True)
            if "indices" in result
        }
        unchecked = sources.unchecked_folds(names, [*known])
        scheme, share = schemes.checked(splits, test_share)
        if not known:
            found = cls.from_fold_means(
                np.stack(scores, 1),
                n_items=n_items,
                models=names,
                repeats=repeats,
                higher_is_better=True,
                splits=splits,
                test_share=test_share,
            )
            return found._noted(*unchecked)
        tests = [[test for _, test in pairs] for pairs in known.values()]
        sources.refuse_other_folds(tests, names)
        if scheme == "random" or scheme == "auto" and schemes.overlap(tests[0]):
            share = share or sources.share_of_splits([*known.values()][0], names[0])
            found = cls._of_random_splits(np.stack(scores, 1), names, share, True)
            return found._noted(
                *unchecked, Note("data", "the test sets overlap: read as random splits")
            )
        for name, pairs in known.items():
            sources.refuse_other_training(pairs, name)
        size, repeat = sources.sizes_and_repeats(tests[0])
        label = {"fold": np.arange(size.size), "repeat": repeat}
        means, label, size, share, gaps = sources.without_gaps(
            -np.stack(scores, 1), label, size, names
        )
        return cls(
            means,
            label["fold"],
            names,
            None,
            label.get("repeat"),
            size,
            True,
            test_share=share,
            notes=(*unchecked, *gaps),
        )

    @classmethod
    def from_cross_val_predict(
        cls, truth: ArrayLike, predictions: Any, splits: Any, *, loss: str = "zero_one"
    ) -> "CVLosses":
        """Return the losses of out-of-fold predictions, as scikit-learn's `cross_val_predict` returns them.

        Parameters
        ----------
        truth : (n,) array_like
        predictions : (n,) array_like or dict of (n,)
            One model, or one entry per model.
        splits : (n,) array_like of labels, or iterable of (train, test) index pairs
            The fold of each item, or what `splitter.split(X, y)` yields; the test sets hold each item once.
        loss : {"zero_one", "squared", "absolute"} or callable
            A callable takes (truth, prediction), both (n,), and returns (n,).

        Raises
        ------
        TypeError
            For a splitter instead of its splits.
        ValueError
            For items that do not fit, or "zero_one" for a model that predicts no class of the truth.

        Examples
        --------
        >>> CVLosses.from_cross_val_predict([1, 0, 1, 1], {"A": [1, 1, 1, 1], "B": [0, 0, 0, 1]}, [0, 0, 1, 1])
        CVLosses(mean loss of A 0.25, B 0.5; 4 items in 2 folds)
        """
        loss_of = loss if callable(loss) else LOSSES[checks.choice("loss", loss, LOSSES)]
        read = checks.vector if loss in ("squared", "absolute") else checks.labels
        truth = read("truth", truth)
        named = predictions if isinstance(predictions, dict) else {MODEL_NAMES[0]: predictions}
        read_as = {
            name: sources.like_truth(truth, read(f"predictions of {name}", given), name)
            for name, given in named.items()
        }
        if loss == "zero_one":
            sources.refuse_no_classes(truth, read_as)
        losses = {
            name: np.asarray(loss_of(truth, prediction), float)
            for name, prediction in read_as.items()
        }
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
        """Return losses from a file with one row per item (or per fold) and one column per model, or in long form.

        Parameters
        ----------
        source : str, path or data frame
            As in `workbench.read_scores`: csv, parquet, json or a data frame.
        fold : str
            Column of fold labels; without one called "fold" a column called `cv_fold`, `split` and the like is used.
        item, repeat : str
            Columns; those called "item" and "repeat" are used where the file has them, any other name must be there.
            Without a column "repeat" one called seed, rep, run, trial, attempt, iteration or epoch is used where each
            of its values comes with the same number of folds; a note names it. Without items and with one row per
            fold, rows are fold means; a fold in which a model has no score is left out for all models, with a note.
        models : sequence of str, or str, optional
            Columns with losses, or one text with commas between them; by default (None or "") all others that can be
            scores of one kind. Names that scikit-learn gives to other things (fit_time, n_test, rank_..., std_...) are
            never models. Columns that leave it open, as a flag next to fractions, are asked for.
        higher_is_better : bool
            The columns hold scores: a loss is minus the score.
        size : str, optional
            Column with the number of test items of each fold, where rows are fold means; by default folds are equal.
        model : str
            Column of the models' names in a file in long form, one row per model and item (or fold). A column called
            "model" is one unless `models` lists it. `models` then chooses among the names.
        value : str
            In long form the column of losses; "" for the only one that has no other role.
        folds : int
            Of what scikit-learn's `cross_validate` or the `cv_results_` of a search hold, the splits of one repetition;
            0 where all splits are. There `value` is the metric.
        splits : {"auto", "folds", "random"}
            "folds": K folds, or repeats of them where a column tells repeats; "random": random splits. "auto" goes by
            the columns, and asks where there are more than 20 folds or a column called split and no repeats.
        test_share : float, optional
            Of random splits the proportion of items in a test set, in (0, 1); by default that of columns called n_train
            and n_test.

        Raises
        ------
        ValueError
            For a missing column or cell, a model that lacks a row or has it twice, a fold that is not a label,
            identifiers among the losses, or items that do not fit; names column and row.

        Examples
        --------
        >>> CVLosses.read_csv({"item": [1, 2, 3, 4], "fold": [1, 2, 1, 2], "tree": [0., 1, 0, 1], "svm": [0., 1, 1, 1]})
        CVLosses(mean loss of tree 0.5, svm 0.75; 4 items in 2 folds)
        >>> CVLosses.read_csv({"fold": [1, 2], "n": [30, 10], "tree": [.2, .4]}, size="n")
        CVLosses(mean loss of tree 0.25; means of 2 folds)
        >>> CVLosses.read_csv({"model": ["tree", "tree", "svm", "svm"], "fold": [1, 2, 1, 2], "loss": [.2, .4, .1, .3]})
        CVLosses(mean loss of tree 0.3, svm 0.2; means of 2 folds)
        """
        roles = {"fold": fold, "item": item, "repeat": repeat}
        for role, name in (roles | {"size": size, "model": model, "value": value}).items():
            if not (name is None or isinstance(name, str)):
                raise TypeError(f"{role} must be the name of a column; got {name!r}")
        folds = checks.whole("folds", folds, 0)
        scheme, share = schemes.checked(splits, test_share)
        read = tables.read_losses(
            source, roles, models, size or "", model, value, folds, scheme, share
        )
        label = read.label
        found = cls(
            read.scores,
            label["fold"],
            (),
            label.get("item"),
            label.get("repeat"),
            read.sizes,
            test_share=read.test_share,
            splits=read.splits,
            notes=read.notes,
        )
        return found._oriented(higher_is_better, tuple(_guessed(found, label)))

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
        """How the test sets were made, in words."""
        return schemes.words(self.splits, self.folds, self.repeats, self.test_share)

    @property
    def noun(self) -> str:
        """What a test set is called: "fold" or "random split"."""
        return "random split" if self.splits == "random" else "fold"

    @property
    def has_items(self) -> bool:
        """Whether losses of single items are known, not only means over folds."""
        return self.fold_size is None

    @property
    def zero_one(self) -> bool:
        """Whether the losses (or scores) of all items are 0 or 1."""
        return self.has_items and bool(
            ((self.losses == 0) | (self.losses == (-1 if self.scores else 1))).all()
        )

    @property
    def like_scores(self) -> bool:
        """Whether losses may well be scores: all from 0 to 1, and above 0.5 on average."""
        return bool(
            self.losses.min() >= 0 and self.losses.max() <= 1 and self.mean_losses().min() > 0.5
        )

    @property
    def one_sign(self) -> bool:
        """Whether no loss is below 0, or all scores are on one side of it, as no differences of two models are."""
        return bool((self.losses >= 0).all() or (self.scores and (self.losses <= 0).all()))

    @cached_property
    def sizes(self) -> np.ndarray:
        """Items per fold, (R, K) int."""
        sizes = self._per_fold(
            np.ones(len(self.fold)) if self.has_items else self.fold_size
        ).astype(int)
        sizes.setflags(write=False)
        return sizes

    @property
    def equal_folds(self) -> bool:
        """Whether all folds have the same number of items."""
        return bool(np.ptp(self.sizes) == 0)

    @property
    def label(self) -> str:
        """What `series` is, in words."""
        if len(self.models) == 2:
            return f"{self.models[0]} minus {self.models[1]}"
        return self.models[0]

    @property
    def kind(self) -> str:
        """What the numbers are: "loss" or "score"."""
        return KINDS[self.scores][0]

    @property
    def kinds(self) -> str:
        """The plural of `kind`."""
        return KINDS[self.scores][1]

    def series(self) -> np.ndarray:
        """Return the tested numbers (n,): losses (scores) of the one model, or of the first minus the second of two."""
        if len(self.models) > 2:
            raise ValueError(
                f"a test compares two models; there are {len(self.models)}: choose with "
                f".pair({self.models[0]!r}, {self.models[1]!r}), or use compare_models"
            )
        return self._shown(self.losses[:, 0] - (self.losses[:, 1] if len(self.models) == 2 else 0))

    def fold_means(self) -> np.ndarray:
        """Return the means of `series` over folds, (R, K)."""
        return self._means_of(self.series())

    def pair(self, first: str, second: str) -> "CVLosses":
        """Return the losses of two models.

        Parameters
        ----------
        first, second : str
            Names in `models`.
        """
        columns = [
            self.models.index(checks.choice(argument, name, self.models))
            for argument, name in (("first", first), ("second", second))
        ]
        return self._chosen(columns, (first, second))

    def joined(self, other: "CVLosses") -> "CVLosses":
        """Return the models of both side by side; rows are matched by item and repeat, folds must agree.

        Parameters
        ----------
        other : CVLosses
            Other models on the same items and folds.

        Raises
        ------
        ValueError
            If the items or the folds differ, a model is in both, or one has losses and the other scores.
        """
        if self.scores != other.scores:
            ours, theirs = ("scores", "losses") if self.scores else ("losses", "scores")
            raise checks.WrongValue(
                "models",
                f"must all have losses, or all scores; {', '.join(self.models)} has "
                f"{ours}, {', '.join(other.models)} {theirs}: read both with the same "
                "higher_is_better",
            )
        if (self.splits, self.test_share) != (other.splits, other.test_share):
            raise checks.WrongValue(
                "models",
                f"must be tested on the same splits; {', '.join(self.models)} has "
                f"{self.scheme}, {', '.join(other.models)} {other.scheme}",
            )
        here, there = self._rows_by_item(), other._rows_by_item()
        _refuse_other_items(self, other, here, there)
        rows = there[np.argsort(here)]
        if not _same_partition(self, other, rows):
            raise checks.WrongValue(
                "models",
                f"must be tested on the same folds; {', '.join(self.models)} and "
                f"{', '.join(other.models)} were not: give both the same splits",
            )
        return replace(
            self,
            losses=np.hstack([self.losses, other.losses[rows]]),
            models=(*self.models, *other.models),
            notes=(*self.notes, *other.notes),
        )

    def mean_losses(self) -> np.ndarray:
        """Return the mean loss of each model, (M,); of fold means weighted by the folds' items."""
        return self._mean_losses.copy()

    def fold_means_of_models(self) -> np.ndarray:
        """Return the mean loss of each model in each fold of each repeat, (M, R K)."""
        return np.array([self._means_of(column).ravel() for column in self.losses.T])

    @cached_property
    def _mean_losses(self) -> np.ndarray:
        return np.array(
            [np.average(self._means_of(column), weights=self.sizes) for column in self.losses.T]
        )

    def headline(self) -> str:
        """Return mean losses (or scores), items, folds and repeats."""
        shown = list(zip(self.models, self._shown(self.mean_losses()), strict=True))
        means = checks.listed((f"{name} {mean:.4g}" for name, mean in shown), MOST_NAMED)
        items = (
            f"{self.sizes[0].sum():,} items in {self.folds} folds"
            if self.has_items
            else f"means of {checks.counted(self.folds, self.noun)}"
        )
        return f"mean {self.kind} of {means}; {items}" + (
            f", {self.repeats} repeats" if self.repeats > 1 else ""
        )

    def rows(self) -> list[dict]:
        """Return one row per fold: repeat, fold, items where known, mean loss (or score) per model.

        The losses of a model that is called "fold" are in the column "loss of fold" (or "score of fold").
        """
        names = [
            f"{self.kind} of {name}" if name in ("repeat", "fold", "items") else name
            for name in self.models
        ]
        means = [self._shown(self._means_of(column)).tolist() for column in self.losses.T]
        sizes = self.sizes.tolist()
        known = self.fold_size is None or self.fold_size.max() > 1
        return [
            {"repeat": run, "fold": fold}
            | ({"items": sizes[r][k]} if known else {})
            | {name: mean[r][k] for name, mean in zip(names, means, strict=True)}
            for r, run in enumerate(self.repeat_labels)
            for k, fold in enumerate(self.fold_labels)
        ]

    def _chosen(self, columns: list[int], models: tuple) -> "CVLosses":
        """Return some models of the same rows, which need not be looked at again."""
        found, losses = copy.copy(self), self.losses[:, columns]
        losses.setflags(write=False)
        vars(found).update(losses=losses, models=models, _mean_losses=self._mean_losses[columns])
        return found

    def _shown(self, losses: np.ndarray) -> np.ndarray:
        return 0.0 - losses if self.scores else losses

    def _oriented(self, higher_is_better: Any, notes: Any, where: Any = "") -> Any:
        """Return numbers as they were read with their notes, as minus scores or as losses that may be scores."""
        if higher_is_better:
            return replace(self, losses=-self.losses, scores=True, notes=self.notes + notes)
        asked = Note(
            "data",
            "read as losses, the smaller is better: for scores such as accuracies say that higher is "
            f"better (--better higher; higher_is_better{where})",
        )
        return self._noted(*notes, *((asked,) if self.like_scores else ()))

    @cached_property
    def _cells(self) -> np.ndarray:
        return self.repeat * self.folds + self.fold

    @cached_property
    def _first_rows(self) -> np.ndarray:
        return np.unique(self._cells, return_index=True)[1]

    def _per_fold(self, values: Any) -> np.ndarray:
        return np.bincount(self._cells, values, self.repeats * self.folds).reshape(
            self.repeats, self.folds
        )

    def _means_of(self, values: np.ndarray) -> np.ndarray:
        if not self.has_items:
            return self._per_fold(values)
        # a fold's first loss is taken off and put back: equal losses then have exactly their common value as mean
        first = values[self._first_rows]
        return (
            first.reshape(self.repeats, -1)
            + self._per_fold(values - first[self._cells]) / self.sizes
        )

    def _rows_by_item(self) -> np.ndarray:
        item = np.arange(len(self.fold)) if self.item is None else self.item
        return np.lexsort(
            (self.fold, self.repeat)
            if self.item is None and not self.has_items
            else (item, self.repeat)
        )


def as_losses(cv: CVLosses | ArrayLike) -> CVLosses:
    """Return `cv` as CVLosses; an array is taken as (K, m) losses.

    Examples
    --------
    >>> as_losses([[0, 1], [1, 1]]).folds
    2
    """
    return cv if isinstance(cv, CVLosses) else CVLosses(cv)


def _columns(losses: Any, fold: list | np.ndarray | None, models: str | tuple) -> tuple:
    """Return losses (n, M), fold labels (n,) and model names."""
    sources.refuse_frame("losses", losses)
    checks.refuse_masked("losses", losses)
    if isinstance(losses, dict):
        if fold is None:
            raise checks.WrongValue(
                "fold",
                "must be given with a dict of losses, one label per loss; for means of "
                "folds use CVLosses.from_fold_means",
            )
        models, losses = tuple(map(str, losses)), _stacked(losses)
    try:
        losses = np.asarray(losses)
    except ValueError:
        raise checks.WrongValue(
            "losses",
            "must have folds of equal size to be an array (K, m); give unequal folds "
            "as (n,) losses with (n,) fold labels",
        ) from None
    if losses.size == 0:
        raise checks.WrongValue("losses", "must not be empty")
    if losses.dtype.kind not in "biuf":
        raise checks.WrongType("losses", "must hold numbers", told=f"got {losses.dtype}")
    if fold is None:
        losses, fold = _by_fold(losses)
    if losses.ndim not in (1, 2):
        raise checks.WrongValue(
            "losses", f"must be (n,) or (n, M) with fold labels; got shape {losses.shape}"
        )
    # no negative zeros, and each model's losses beside each other
    losses = np.add(losses.reshape(len(losses), -1), 0.0, dtype=float, order="F")
    losses.setflags(write=False)
    models = _names(models) or sources.default_names(losses.shape[1])
    _refuse_names(models, losses.shape[1])
    return losses, fold, models


def _names(models: Any) -> tuple:
    return tuple(map(str, sources.named_models(models)))


def _refuse_names(models: tuple, count: int) -> None:
    if len(models) != count or len(set(models)) != len(models):
        noun = "one name" if count == 1 else f"{count} different names"
        raise checks.WrongValue("models", f"must be {noun}; got {', '.join(map(repr, models))}")


def _by_fold(losses: np.ndarray) -> tuple:
    if losses.ndim != 2:
        raise checks.WrongValue(
            "losses",
            "must have shape (K, m), one row per fold, or come with fold labels; got "
            f"shape {losses.shape}",
        )
    checks.refuse_infinite("losses", losses, "fold", "item")
    return losses.ravel(), np.repeat(np.arange(len(losses)), losses.shape[1])


def _stacked(columns: dict) -> np.ndarray:
    arrays = {
        name: sources.as_array(f"losses of {name}", values) for name, values in columns.items()
    }
    if len({array.shape for array in arrays.values()}) > 1:
        shown = ", ".join(f"{name} has {array.size}" for name, array in arrays.items())
        raise checks.WrongValue("models", f"must be tested on the same items; {shown}")
    if not arrays:
        raise checks.WrongValue("losses", "must hold at least one model")
    for name, array in arrays.items():
        if array.ndim != 1:
            raise ValueError(f"losses of {name} must be one-dimensional; got shape {array.shape}")
    return np.array(list(arrays.values())).T


def _refuse_other_items(first: Any, second: Any, here: np.ndarray, there: np.ndarray) -> None:
    if len(here) != len(there):
        raise checks.WrongValue(
            "models",
            f"must be tested on the same items; {', '.join(first.models)} has "
            f"{len(here):,} rows, {', '.join(second.models)} {len(there):,}",
        )
    if (first.item is None) != (second.item is None):
        raise checks.WrongValue(
            "models", "must be tested on the same items; only one of the two names its items"
        )
    if first.has_items != second.has_items:
        raise checks.WrongValue(
            "models",
            "must be tested on the same items; one of the two has means of folds, the "
            "other losses of single items",
        )
    if first.item is not None:
        for k in np.flatnonzero(first.item[here] != second.item[there])[:1]:
            raise checks.WrongValue(
                "models",
                f"must be tested on the same items; {', '.join(first.models)} has item "
                f"{first.item[here][k]} where {', '.join(second.models)} has "
                f"{second.item[there][k]}",
            )
    if not first.has_items:
        _refuse_other_sizes(first, second, here, there)


def _refuse_other_sizes(first: Any, second: Any, here: np.ndarray, there: np.ndarray) -> None:
    for k in np.flatnonzero(first.fold_size[here] != second.fold_size[there])[:1]:
        row, other = here[k], there[k]
        fold, run = first.fold_labels[first.fold[row]], first.repeat_labels[first.repeat[row]]
        raise checks.WrongValue(
            "models",
            f"must be tested on the same folds; fold {fold} of repeat {run} has "
            f"{checks.counted(first.fold_size[row], 'item')} for {', '.join(first.models)} and "
            f"{second.fold_size[other]:,} for {', '.join(second.models)}: give both the same "
            "sizes (n_items)",
        )


def _same_partition(first: CVLosses, second: CVLosses, rows: np.ndarray) -> bool:
    """Folds may be numbered differently, but must hold the same rows."""
    cell_one, cell_two = first._cells, second._cells[rows]
    pairs = np.unique(cell_one * (cell_two.max() + 1) + cell_two).size
    return pairs == np.unique(cell_one).size == np.unique(cell_two).size


def _guessed(cv: CVLosses, label: dict[str, np.ndarray]) -> Iterator[Note]:
    """Return what a file did not say and was therefore guessed."""
    if cv.has_items and "item" not in label and cv.repeats == 1:
        yield Note(
            "assumption",
            f"no item column: {len(cv.fold):,} rows are taken for different items; if the "
            f"cross-validation was repeated, name item and repeat",
        )
