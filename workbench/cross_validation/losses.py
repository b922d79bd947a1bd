"""Losses of a cross-validation, by item, fold, repeat and model.

Read the docstring of `CVLosses` first, then its class methods, which read the results of other
tools. The module `labels` checks labels of folds and repeats, `sources` reads results of other
tools, and `tables` reads files.
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
SCORES = Note("data", "the values are scores: larger is better")


class CVLosses(Result):
    """Losses of one or more models in a cross-validation or in random splits.

    The losses come from K folds, from R repeats of K folds, or from random splits into training and
    test items. A test uses one series of numbers: the losses of a single model, or the losses of
    the first of two models minus those of the second. If the losses were made from scores, the
    series holds scores.

    Attributes
    ----------
    losses : (K, m) array_like, or (n,) or (n, M) with `fold`, or a dict of (n,) with `fold`
        Finite losses; smaller is better. Without `fold`, rows are folds and columns are items. With
        `fold`, rows are items and columns are models. Stored as (n, M). The largest absolute value
        is between 1e-140 and 1e140, or all losses are 0.
    fold : (n,) array_like of labels
        Fold in which each item was tested: whole numbers or text. Stored as 0 to K - 1. Every
        repeat has the same number of folds, at least 2.
    models : sequence of str, or str
        Names of the M models, or one text with commas between the names. Default "A", "B" and so
        on.
    item : (n,) array_like of labels, optional
        Item to which each row belongs. Needed to join models and to check repeats.
    repeat : (n,) array_like of labels, optional
        Repeat to which each row belongs. Stored as 0 to R - 1. Every repeat tests every item once.
    fold_size : (n,) array_like of int, optional
        Number of items in each fold, if each row is the mean of a whole fold. All sizes are 1 if
        these numbers are unknown.
    scores : bool
        Whether the losses are scores multiplied by -1. Series, means and tests are then those of
        the scores, and larger is better.
    test_share : float, optional
        Proportion of items in a test set, in (0, 1). Given for random splits, and for folds if some
        folds were left out. Otherwise a fold tests 1/K of the items.
    splits : {"folds", "random"}
        How the test sets were made. "random" needs `test_share`.
    fold_labels, repeat_labels : tuple
        Labels of the K folds and of the R repeats, in the order of their codes. Numbers are sorted
        by size, also numbers inside text. If repeats use different labels for their folds,
        `fold_labels` is 0 to K - 1.

    Raises
    ------
    ValueError
        If a loss is NaN, there are fewer than 2 folds, labels do not fit the losses, or an item is
        tested twice. Also if repeats differ in their items or in their number of folds, or if
        `fold_size` is given for rows that are not means of whole folds. Without `item` and
        `repeat`, more than 20 folds are refused, because they may belong to several
        cross-validations or to random splits. Then give `repeat` (all 0 for one cross-validation)
        or `test_share`.

    See Also
    --------
    kfold_t_test : Test the mean of the folds.
    compare_tests : Apply every suitable test to two models.
    compare_models : Test all pairs of several models.

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
        """Build losses from the mean loss of each fold.

        Use it if the losses of single items are not available.

        Parameters
        ----------
        means : (J,) or (J, M) array_like, dict of (J,) or data frame
            Mean losses of J = K R folds per model, with the folds of the first repeat first. In a
            data frame, each column is a model. A fold with NaN (an undefined metric) for one model
            is left out for all models, and a note says so.
        n_items : int, optional
            Number of items n in one repeat. Folds are then assumed to have equal sizes, except that
            the first n mod K folds have one item more. Without it, all folds have the same weight.
        models : sequence of str, optional
            Names of the models. Default "A", "B" and so on, or the names in `means`.
        repeats : int, default 1
            Number of repeats R; must divide J.
        higher_is_better : bool, default False
            Whether the means are scores. A loss is then minus the score.
        splits : {"auto", "folds", "random"}, default "auto"
            "folds": the means belong to one cross-validation of J folds, or to `repeats` of them.
            "random": each mean belongs to a random split. "auto" treats up to 20 means as folds and
            raises an error if there are more.
        test_share : float, optional
            Proportion of items in a test set of random splits, in (0, 1).

        Returns
        -------
        CVLosses
            Losses with one row per fold or random split.

        Raises
        ------
        ValueError
            If there are more than 20 means, and neither `repeats`, `splits` nor `test_share` says
            how the test sets were made.

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
                "means",
                f"must have shape (J,) or (J, M), one row per fold; got shape {means.shape}",
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
                    "give their number as repeats (in CVLosses.from_fold_means, which accepts all "
                    "of these arguments)",
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
        """Build losses from results of scikit-learn's `cross_validate`.

        For scorers of scikit-learn larger is better, so a loss is minus the score.

        Parameters
        ----------
        first, second : dict
            Results with the key "test_<metric>", each (J,). If `cross_validate` was called with
            `return_indices=True`, the key "indices" gives fold sizes and repeats. The indices also
            show whether both models used the same folds, whether they were trained on all other
            items, and whether test sets overlap, as in random splits.
        metric : str, default "score"
            "score", or the name of one of several scorers.
        models : sequence of str, or str
            One name per result.
        repeats, n_items : int, optional
            As in `from_fold_means`. Used only if the results have no indices.
        splits : {"auto", "folds", "random"}, default "auto"
            As in `from_fold_means`. By default, the indices decide.
        test_share : float, optional
            As in `from_fold_means`. By default, the indices decide.

        Returns
        -------
        CVLosses
            Fold means of one or two models.

        Raises
        ------
        ValueError
            If a result lacks the metric, too many scores are NaN because fits failed, or the models
            had different folds. Also if the splits are neither K folds nor random, as in time
            series. Without indices, more than 20 scores are refused unless an argument says how the
            test sets were made.

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
            notes.append(Note("data", "the test sets overlap, so they were read as random splits"))
            scheme = "random"
            size = np.ones(size.size, int)
        else:
            sources.refuse_other_training(indices, test_sets)
            if repeat is None:
                raise WrongValue(
                    "splits",
                    "must test every item once per repeat, as K-fold splitters do. For random "
                    "splits, use splits='random'",
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
        """Build losses from out-of-fold predictions, as `cross_val_predict` returns them.

        Parameters
        ----------
        truth : (n,) array_like
            True class or value of each item.
        predictions : (n,) array_like or dict of (n,)
            Predictions of one model, or a dict with one entry per model.
        splits : (n,) array_like of labels, or iterable of (train, test) index pairs
            Fold of each item, or the pairs that `splitter.split(X, y)` yields. Each item must be in
            exactly one test set.
        loss : {"zero_one", "squared", "absolute"} or callable, default "zero_one"
            Loss of a prediction. A callable takes (truth, prediction), both (n,), and returns (n,).

        Returns
        -------
        CVLosses
            Losses of single items.

        Raises
        ------
        TypeError
            If `splits` is a splitter instead of its splits.
        ValueError
            If the numbers of items differ, or if the loss is "zero_one" and a model predicts none
            of the true classes.

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
        """Read losses from a file with one row per item or per fold.

        The file either has one column per model, or it is in long form: one row per model and item
        (or fold), with a column of model names.

        Parameters
        ----------
        source : str, path or data frame
            As in `workbench.read_scores`: csv, parquet, json or a data frame.
        fold : str, default "fold"
            Column of fold labels. If there is no column "fold", a column with a similar name such
            as `cv_fold` or `split` is used.
        item, repeat : str, default "item" and "repeat"
            Columns of items and repeats. The default columns are used if they exist; any other name
            must exist. Instead of "repeat", a column called seed, rep, run, trial,
            attempt, iteration or epoch is used if each of its values comes with the same number of
            folds; a note names it. Without items and with one row per fold, the rows are fold
            means. A fold without a score for one model is left out for all models, and a note says
            so.
        models : sequence of str, or str, optional
            Columns of losses, or one text with commas between the names. By default (None or ""),
            all other columns that can be scores of one kind. Names that scikit-learn uses for other
            things (such as `fit_time`, `n_test`, `rank_x`, `std_x`) are never models. If it is
            unclear which columns are models, for example if a flag stands next to fractions, an
            error asks for `models`. Columns such as `diff` and `p_value` are left out. Columns of
            errors next to columns of accuracies are refused.
        higher_is_better : bool, default False
            Whether the columns hold scores. A loss is then minus the score.
        size : str, optional
            Column with the number of test items of each fold, if rows are fold means. By default, a
            column called `n_test` is used, or one called `n`, `size`, `items`, `support` or the
            like if its numbers differ; a note names it. An error asks for `size` if these numbers
            count rows or differ by more than a factor of 2. With "", only `n_test` is used. Without
            sizes, all folds have the same weight.
        model : str, default "model"
            Column of model names in a file in long form. A column called "model" is used this way
            unless `models` lists it. In long form, `models` chooses among the names in this column.
        value : str, default ""
            Column of losses in a file in long form. "" chooses the only column without another
            role. For results of scikit-learn, the metric.
        folds : int, default 0
            Number of splits in one repetition, if no column identifies repetitions. The splits are
            those of scikit-learn's `cross_validate` or `cv_results_` of a search, or the numbers in
            `fold`, consecutive over all repetitions. Without a column of folds, every row (of a
            model) is a split, as in columns of `cross_val_score`. 0 means that all splits belong to
            one repetition.
        splits : {"auto", "folds", "random"}, default "auto"
            "folds": K folds, or repeats of K folds if a column distinguishes the repeats. "random":
            random splits. "auto" decides from the columns. It raises an error if there are more
            than 20 folds, or a column called split and no repeats.
        test_share : float, optional
            Proportion of items in a test set of random splits, in (0, 1). By default, it is
            computed from columns called n_train and n_test.

        Returns
        -------
        CVLosses
            Losses of the models in the file.

        Raises
        ------
        ValueError
            If a column or a cell is missing, a model lacks a row or has it twice, or items do not
            fit. Also if a fold is not a label, or a column of losses contains identifiers. The
            message names the column and the row.

        Examples
        --------
        >>> table = {"fold": [1, 2, 1, 2], "tree": [0., 1, 0, 1], "svm": [0., 1, 1, 1]}
        >>> CVLosses.read_csv({"item": [1, 2, 3, 4], **table})
        CVLosses(mean loss of tree 0.5, svm 0.75; 4 items in 2 folds)
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
            size,
            model,
            value,
            folds,
            scheme,
            share,
            higher_is_better,
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
        """Return losses or scores, leaving out folds in which a model has no score.

        `label` has the labels of rows by role. `where` names the function in which a reader can
        state that higher is better.
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
        if cv.repeats > 1:
            labels.refuse_copies(cv.fold_means_of_models().reshape(-1, cv.repeats, cv.folds))
        if cv.scores or not cv.like_scores:
            return cv
        text = (
            "the values were read as losses, so smaller is better. If they are scores such as "
            f"accuracies, say that higher is better (--better higher; higher_is_better{where})"
        )
        return cv._noted(Note("data", text))

    @cached_property
    def folds(self) -> int:
        """Return the number of folds K in one repeat."""
        return int(self.fold.max()) + 1

    @cached_property
    def repeats(self) -> int:
        """Return the number of repeats R of the cross-validation."""
        return int(self.repeat.max()) + 1

    @property
    def scheme(self) -> str:
        """Return a description of how the test sets were made."""
        return schemes.words(self.splits, self.folds, self.repeats, self.test_share)

    @property
    def noun(self) -> str:
        """Return the name of a test set: "fold" or "random split"."""
        return "random split" if self.splits == "random" else "fold"

    @property
    def has_items(self) -> bool:
        """Return True if losses of single items are known, not only fold means."""
        return self.fold_size is None

    @property
    def zero_one(self) -> bool:
        """Return True if the losses (or scores) of all items are 0 or 1."""
        largest = -1 if self.scores else 1
        binary = (self.losses == 0) | (self.losses == largest)
        return self.has_items and bool(binary.all())

    @property
    def like_scores(self) -> bool:
        """Return True if the losses may be scores: all from 0 to 1, with means above 0.5."""
        in_range = self.losses.min() >= 0 and self.losses.max() <= 1
        return bool(in_range and self.mean_losses().min() > 0.5)

    @property
    def one_sign(self) -> bool:
        """Return True if no loss is below 0, or if all scores are on one side of 0."""
        if (self.losses >= 0).all():
            return True
        return self.scores and bool((self.losses <= 0).all())

    @cached_property
    def sizes(self) -> ndarray:
        """Return the number of items in each fold, (R, K) int."""
        size = np.ones(len(self.fold)) if self.fold_size is None else self.fold_size
        sizes = self._per_fold(size).astype(int)
        sizes.setflags(write=False)
        return sizes

    @property
    def equal_folds(self) -> bool:
        """Return True if all folds have the same number of items."""
        return bool(np.ptp(self.sizes) == 0)

    @property
    def label(self) -> str:
        """Return a description of `series`: the name of the model, or "A minus B"."""
        return " minus ".join(self.models) if len(self.models) == 2 else self.models[0]

    @property
    def kind(self) -> str:
        """Return the kind of the numbers: "loss" or "score"."""
        return KINDS[self.scores][0]

    @property
    def kinds(self) -> str:
        """Return the plural of `kind`."""
        return KINDS[self.scores][1]

    def series(self) -> ndarray:
        """Return the losses or scores that a test uses, (n,).

        For two models, these are the numbers of the first minus those of the second.

        Returns
        -------
        (n,) array of float
            One number per row.

        Raises
        ------
        ValueError
            If there are more than two models.
        """
        if len(self.models) > 2:
            pair = ", ".join(map(repr, self.models[:2]))
            raise ValueError(
                f"a test compares two models, but there are {len(self.models)}. Choose two with "
                f".pair({pair}), or use compare_models"
            )
        first, *second = self.losses.T
        return self._shown(first - second[0] if second else first)

    def fold_means(self) -> ndarray:
        """Return the means of `series` in each fold, (R, K)."""
        return self._means_of(self.series())

    def pair(self, first: str, second: str) -> "CVLosses":
        """Return the losses of two of the models.

        Parameters
        ----------
        first, second : str
            Names in `models`.

        Returns
        -------
        CVLosses
            The same rows with these two models.
        """
        checks.choice("first", first, self.models)
        checks.choice("second", second, self.models)
        columns = list(map(self.models.index, (first, second)))
        losses = self.losses[:, columns]
        losses.setflags(write=False)
        pair = copy.copy(self)  # already checked
        vars(pair).update(
            losses=losses,
            models=(first, second),
            _mean_losses=self._mean_losses[columns],
        )
        return pair

    def joined(self, other: "CVLosses") -> "CVLosses":
        """Return one object with the models of both; rows are matched by item and repeat.

        Parameters
        ----------
        other : CVLosses
            Losses of other models on the same items and folds.

        Returns
        -------
        CVLosses
            The models of this object, then those of `other`.

        Raises
        ------
        ValueError
            If the items or the folds differ, a model is in both objects, or one holds losses and
            the other scores.
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
                "models", "must be tested on the same folds: use the same splits for both"
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
        """Return the mean loss of each model, (M,); fold means are weighted by fold size."""
        return self._mean_losses.copy()

    def fold_means_of_models(self) -> ndarray:
        """Return the mean loss of each model in each fold of each repeat, (M, R K)."""
        return np.array([self._means_of(column).ravel() for column in self.losses.T])

    @cached_property
    def _mean_losses(self) -> ndarray:
        return np.average(self.fold_means_of_models(), axis=1, weights=self.sizes.ravel())

    def headline(self) -> str:
        """Return mean losses (or scores) and the numbers of items, folds and repeats."""
        means = zip(self.models, self._shown(self.mean_losses()), strict=True)
        of_models = listed((f"{name} {mean:.4g}" for name, mean in means), MOST_NAMED)
        rows = f"means of {counted(self.folds, self.noun)}"
        if self.has_items:
            rows = f"{self.sizes[0].sum():,} items in {self.folds} folds"
        repeats = f", {self.repeats} repeats" if self.repeats > 1 else ""
        return f"mean {self.kind} of {of_models}; {rows}{repeats}"

    def rows(self) -> list[dict]:
        """Return one row per fold with the mean loss (or score) of each model.

        A row also has the repeat, the fold and, if it is known, the number of items. The losses of
        a model called "fold" are in the column "loss of fold" (or "score of fold").
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
        """Return a description of the rows, in which joined models must agree."""
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
    """Return `cv` as CVLosses; an array must hold (K, m) losses.

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
                "must be given with a dict of losses, one label per loss. For fold means, use "
                "CVLosses.from_fold_means",
            )
        models = tuple(losses)
        losses = _stacked(losses)
    losses = checks.floats("losses", losses)
    if losses.ndim not in ((1, 2) if fold is not None else (2,)) or not losses.size:
        rule = "must have shape (K, m) with one row per fold, or be given with fold labels"
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
    """Return the losses of all models as one column per model, (n, M)."""
    if not columns:
        raise WrongValue("models", "must contain at least one model; there is no column of losses")
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
