"""Losses of a cross-validation: which item, in which fold, of which repeat, by which model."""
from dataclasses import dataclass

import numpy as np

from workbench import checks, frames
from workbench.results import Result

LOSSES = {"zero_one": lambda truth, prediction: truth != prediction,
          "squared": lambda truth, prediction: (truth - prediction) ** 2,
          "absolute": lambda truth, prediction: np.abs(truth - prediction)}
MODEL_NAMES = ("A", "B")
TABLE_COLUMNS = ("repeat", "fold", "items")
LEAST_SIZE, MOST_SIZE = 1e-140, 1e140
MINUS_SCORES = "losses are minus the scores: the smaller loss is the larger score"


@dataclass(frozen=True, eq=False, repr=False)
class CVLosses(Result):
    """Losses of one or more models on the items of one K-fold cross-validation, or of R repeats of it.

    Tests look at one series: the losses of a single model, or those of the first minus those of the second of two.

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
        Given where each row is the mean over a whole fold, one row per fold and repeat: how many items it had.
    notes : tuple of str
        What the reader has to know.

    Raises
    ------
    ValueError
        For NaN losses, fewer than 2 folds, labels that do not fit, an item tested twice, repeats that differ in
        their items or in their number of folds, a fold size for a row that is not a whole fold. Names the item, the
        model, the fold.

    Examples
    --------
    >>> CVLosses([[0, 1, 0], [1, 1, 0], [0, 0, 0]])
    CVLosses(mean loss of A 0.3333; 9 items in 3 folds)
    >>> CVLosses({"tree": [0, 1, 1, 0], "forest": [0, 0, 1, 0]}, [1, 1, 2, 2])
    CVLosses(mean loss of tree 0.5, forest 0.25; 4 items in 2 folds)
    """

    losses: np.ndarray
    fold: np.ndarray | None = None
    models: tuple = ()
    item: np.ndarray | None = None
    repeat: np.ndarray | None = None
    fold_size: np.ndarray | None = None
    notes: tuple = ()

    def __post_init__(self):
        losses, fold, models = _columns(self.losses, self.fold, self.models)
        _refuse_unfit(losses, models)
        n = len(losses)
        repeat = np.zeros(n, int) if self.repeat is None else _codes("repeat", self.repeat, n)
        item = None if self.item is None else checks.labels("item", self.item, size=n)
        _refuse_twice(item, repeat)
        fold = _fold_codes(_codes("fold", fold, n), repeat)
        size = None if self.fold_size is None else _checked_sizes(self.fold_size, fold, repeat)
        for name, value in {"losses": losses, "fold": fold, "models": models, "item": item, "repeat": repeat,
                            "fold_size": size, "notes": tuple(self.notes)}.items():
            object.__setattr__(self, name, value)
        super().__post_init__()

    @classmethod
    def from_fold_means(cls, means, *, n_items=None, models=(), repeats=1):
        """Return losses of which only the means over folds are known.

        Parameters
        ----------
        means : (J,) or (J, M) array_like, or dict of (J,)
            J = K R mean losses per model, folds of the first repeat first.
        n_items : int, optional
            Items n of one repeat; folds are taken as equal, the first n mod K one larger. Without it only ratios of
            fold sizes are known: all equal.
        models : sequence of str
        repeats : int
            R; must divide J.

        Examples
        --------
        >>> CVLosses.from_fold_means({"A": [.2, .3, .1], "B": [.1, .1, .1]}, n_items=60)
        CVLosses(mean loss of A 0.2, B 0.1; means of 3 folds)
        """
        repeats = checks.whole("repeats", repeats, 1)
        if isinstance(means, dict):
            models, means = tuple(means), _stacked(means)
        means = as_array("means", means)
        if means.ndim not in (1, 2):
            raise ValueError(f"means must be (J,) or (J, M), one row per fold; got shape {means.shape}")
        folds, rest = divmod(len(means), repeats)
        if rest:
            raise ValueError(f"repeats must divide the number of fold means; got {repeats} repeats of {len(means)}")
        size = _equal_sizes(folds, n_items)
        return cls(means, np.tile(np.arange(folds), repeats), models, None, np.repeat(np.arange(repeats), folds),
                   np.tile(size, repeats))

    @classmethod
    def from_cross_validate(cls, first, second=None, *, metric="score", models=MODEL_NAMES, repeats=1, n_items=None):
        """Return the fold means in what scikit-learn's `cross_validate` returned, for one or two models.

        Scorers of scikit-learn count up to the best, so a loss is minus the score.

        Parameters
        ----------
        first, second : dict
            With "test_<metric>", each (J,); called with `return_indices=True` also "indices", from which fold sizes
            and repeats follow, and that both models were tested on the same folds.
        metric : str
            "score", or the name of one of several scorers.
        models : sequence of str, or str
            One name per result.
        repeats, n_items : int
            As in `from_fold_means`; only looked at where there are no indices.

        Raises
        ------
        ValueError
            If a result has no such metric, a score is NaN (a fit failed), or the models had different folds.

        Examples
        --------
        >>> CVLosses.from_cross_validate({"test_score": [.8, .9]}, {"test_score": [.7, .9]})
        CVLosses(mean loss of A -0.85, B -0.8; means of 2 folds)
        """
        results = [first] if second is None else [first, second]
        names = _names(models)
        names = names[:len(results)] if names == MODEL_NAMES else names
        _refuse_names(names, len(results))
        means = [-_scores(result, metric, name) for result, name in zip(results, names, strict=True)]
        if len(means) == 2 and means[0].size != means[1].size:
            raise ValueError(f"models must have the same folds; {names[0]} has {means[0].size}, "
                             f"{names[1]} {means[1].size}")
        tests = [_test_items(result) for result in results]
        if None in tests:
            notes = (MINUS_SCORES,) + ("that both models had the same folds was not checked: call cross_validate with "
                                       "return_indices=True",) * (len(results) - 1)
            found = cls.from_fold_means(np.stack(means, 1), n_items=n_items, models=names, repeats=repeats)
            return cls(found.losses, found.fold, names, None, found.repeat, found.fold_size, notes)
        _refuse_other_folds(tests, names)
        size, repeat = _sizes_and_repeats(tests[0])
        return cls(np.stack(means, 1), np.arange(size.size), names, None, repeat, size, (MINUS_SCORES,))

    @classmethod
    def from_cross_val_predict(cls, truth, predictions, splits, *, loss="zero_one"):
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

        Examples
        --------
        >>> CVLosses.from_cross_val_predict([1, 0, 1, 1], {"A": [1, 1, 1, 1], "B": [0, 0, 0, 1]}, [0, 0, 1, 1])
        CVLosses(mean loss of A 0.25, B 0.5; 4 items in 2 folds)
        """
        read = checks.vector if loss in ("squared", "absolute") else checks.labels
        truth = read("truth", truth)
        named = predictions if isinstance(predictions, dict) else {MODEL_NAMES[0]: predictions}
        loss_of = loss if callable(loss) else LOSSES[checks.choice("loss", loss, LOSSES)]
        losses = {name: np.asarray(loss_of(truth, _like(truth, read(f"predictions of {name}", given), name)), float)
                  for name, given in named.items()}
        return cls(losses, _fold_of(splits, truth.size), item=np.arange(truth.size))

    @classmethod
    def read_csv(cls, source, *, fold="fold", item="item", repeat="repeat", models=None, higher_is_better=False,
                 size=None):
        """Return losses from a file with one row per item (or per fold) and one column per model.

        Parameters
        ----------
        source : str, path or data frame
            As in `workbench.read_scores`: csv, parquet, json or a data frame.
        fold : str
            Column of fold labels.
        item, repeat : str
            Columns; those called "item" and "repeat" are used where the file has them, any other name must be there.
            Without items and with one row per fold, rows are fold means.
        models : sequence of str, or str, optional
            Columns with losses, or one text with commas between them; by default (None or "") all others.
        higher_is_better : bool
            The columns hold scores: a loss is minus the score.
        size : str, optional
            Column with the number of test items of each fold, where rows are fold means; by default folds are equal.

        Raises
        ------
        ValueError
            For a missing column or cell, a fold that is not a label, identifiers among the losses, or items that do
            not fit; names column and row.

        Examples
        --------
        >>> CVLosses.read_csv({"item": [1, 2, 3, 4], "fold": [1, 2, 1, 2], "tree": [0., 1, 0, 1], "svm": [0., 1, 1, 1]})
        CVLosses(mean loss of tree 0.5, svm 0.75; 4 items in 2 folds)
        >>> CVLosses.read_csv({"fold": [1, 2], "n": [30, 10], "tree": [.2, .4]}, size="n")
        CVLosses(mean loss of tree 0.25; means of 2 folds)
        """
        names = frames.column_names(source)
        roles = {role: name for role, name in (("fold", fold), ("item", item), ("repeat", repeat))
                 if role == "fold" or name != role or name in names}
        used = roles | ({"size": size} if size else {})
        every = models is None or (isinstance(models, str) and not models.strip())
        chosen = [name for name in names if name not in used.values()] if every else _listed(models)
        _refuse_shared(used, chosen)
        data, notes = frames.read_columns(source, [*used.values(), *chosen])
        if not chosen:
            raise ValueError("there must be a column of losses beside " + ", ".join(map(repr, used.values())))
        scores = {name: frames.to_numbers(name, data[name]) for name in chosen}
        if every:
            _refuse_identifiers(scores)
        losses = {name: -values if higher_is_better else values for name, values in scores.items()}
        label = {role: frames.to_labels(name, data[name]) for role, name in roles.items()}
        _refuse_mixed_up(label, roles)
        fold_size, read_as = _sizes_of_rows(label, roles, size, data[size] if size else None)
        notes = (*notes, *read_as, *((MINUS_SCORES,) if higher_is_better else ()))
        return cls(losses, label["fold"], (), label.get("item"), label.get("repeat"), fold_size, notes)

    @property
    def folds(self):
        """Folds K of one repeat."""
        return int(self.fold.max()) + 1

    @property
    def repeats(self):
        """Repeats R of the cross-validation."""
        return int(self.repeat.max()) + 1

    @property
    def has_items(self):
        """Whether losses of single items are known, not only means over folds."""
        return self.fold_size is None

    @property
    def sizes(self):
        """Items per fold, (R, K) int."""
        return self._per_fold(np.ones(len(self.fold)) if self.has_items else self.fold_size).astype(int)

    @property
    def equal_folds(self):
        """Whether all folds have the same number of items."""
        return bool(np.ptp(self.sizes) == 0)

    @property
    def label(self):
        """What `series` is, in words."""
        return f"{self.models[0]} minus {self.models[1]}" if len(self.models) == 2 else self.models[0]

    def series(self):
        """Return the tested numbers (n,): losses of the one model, or of the first minus the second of two."""
        if len(self.models) > 2:
            raise ValueError(f"a test compares two models; there are {len(self.models)}: choose with "
                             f".pair({self.models[0]!r}, {self.models[1]!r}), or use compare_models")
        return self.losses[:, 0] if len(self.models) == 1 else self.losses[:, 0] - self.losses[:, 1]

    def fold_means(self):
        """Return the means of `series` over folds, (R, K)."""
        return self._means_of(self.series())

    def pair(self, first, second):
        """Return the losses of two models."""
        columns = [self.models.index(checks.choice("model", name, self.models)) for name in (first, second)]
        return CVLosses(self.losses[:, columns], self.fold, (first, second), self.item, self.repeat, self.fold_size,
                        self.notes)

    def joined(self, other):
        """Return the models of both side by side; rows are matched by item and repeat, folds must agree.

        Raises
        ------
        ValueError
            If the items or the folds differ, or a model is in both.
        """
        here, there = self._rows_by_item(), other._rows_by_item()
        _refuse_other_items(self, other, here, there)
        rows = there[np.argsort(here)]
        if not _same_partition(self, other, rows):
            raise ValueError(f"models must be tested on the same folds; {', '.join(self.models)} and "
                             f"{', '.join(other.models)} were not: give both the same splits")
        return CVLosses(np.hstack([self.losses, other.losses[rows]]), self.fold, (*self.models, *other.models),
                        self.item, self.repeat, self.fold_size, tuple(dict.fromkeys(self.notes + other.notes)))

    def mean_losses(self):
        """Return the mean loss of each model, (M,); of fold means weighted by the folds' items."""
        sizes = self.sizes
        return np.array([np.average(self._means_of(column), weights=sizes) for column in self.losses.T])

    def headline(self):
        """Return mean losses, items, folds and repeats."""
        means = ", ".join(f"{name} {mean:.4g}" for name, mean in zip(self.models, self.mean_losses(), strict=True))
        items = (f"{self.sizes[0].sum():,} items in {self.folds} folds" if self.has_items
                 else f"means of {self.folds} folds")
        return f"mean loss of {means}; {items}" + (f", {self.repeats} repeats" if self.repeats > 1 else "")

    def rows(self):
        """Return one row per fold: repeat, fold, items, mean loss per model; a model "fold" is in "loss of fold"."""
        names = [f"loss of {name}" if name in TABLE_COLUMNS else name for name in self.models]
        sizes, means = self.sizes.tolist(), [self._means_of(column).tolist() for column in self.losses.T]
        return [{"repeat": r, "fold": k, "items": sizes[r][k]}
                | {name: mean[r][k] for name, mean in zip(names, means, strict=True)}
                for r in range(self.repeats) for k in range(self.folds)]

    def _cells(self):
        return self.repeat * self.folds + self.fold

    def _per_fold(self, values):
        return np.bincount(self._cells(), values, self.repeats * self.folds).reshape(self.repeats, self.folds)

    def _means_of(self, values):
        if not self.has_items:
            return self._per_fold(values)
        # a fold's first loss is taken off and put back: equal losses then have exactly their common value as mean
        cell, first = self._cells(), np.empty(self.repeats * self.folds)
        first[cell[::-1]] = values[::-1]
        return first.reshape(self.repeats, -1) + self._per_fold(values - first[cell]) / self.sizes

    def _rows_by_item(self):
        item = np.arange(len(self.fold)) if self.item is None else self.item
        return np.lexsort((self.fold, self.repeat) if self.item is None and not self.has_items
                          else (item, self.repeat))


def as_losses(cv):
    """Return `cv` as CVLosses; an array is taken as (K, m) losses.

    Examples
    --------
    >>> as_losses([[0, 1], [1, 1]]).folds
    2
    """
    return cv if isinstance(cv, CVLosses) else CVLosses(cv)


def _columns(losses, fold, models):
    """Return losses (n, M), fold labels (n,) and model names."""
    if isinstance(losses, dict):
        if fold is None:
            raise ValueError("fold must be given with a dict of losses, one label per loss; for means of folds use "
                             "CVLosses.from_fold_means")
        models, losses = tuple(map(str, losses)), _stacked(losses)
    try:
        losses = np.asarray(losses)
    except ValueError:
        raise ValueError("losses must have folds of equal size to be an array (K, m); give unequal folds as (n,) "
                         "losses with (n,) fold labels") from None
    if losses.size == 0:
        raise ValueError("losses must not be empty")
    if losses.dtype.kind not in "biuf":
        raise TypeError(f"losses must hold numbers; got {losses.dtype}")
    if fold is None:
        losses, fold = _by_fold(losses)
    if losses.ndim not in (1, 2):
        raise ValueError(f"losses must be (n,) or (n, M) with fold labels; got shape {losses.shape}")
    losses = losses.astype(float).reshape(len(losses), -1) + 0.0        # no negative zeros
    models = _names(models) or default_names(losses.shape[1])
    _refuse_names(models, losses.shape[1])
    return losses, fold, models


def default_names(count):
    """Return "A", "B", ..., after 26 "model 27" and so on.

    Examples
    --------
    >>> default_names(2), default_names(27)[-1]
    (('A', 'B'), 'model 27')
    """
    return tuple(chr(ord("A") + i) if i < 26 else f"model {i + 1}" for i in range(count))


def as_array(name, values):
    """Return an array, or say that its rows have several lengths.

    Examples
    --------
    >>> as_array("means", [[1, 2], [3]])
    Traceback (most recent call last):
    ValueError: means must be an array of numbers; its rows have different lengths
    """
    try:
        return np.asarray(values)
    except ValueError:
        raise ValueError(f"{name} must be an array of numbers; its rows have different lengths") from None


def refuse_extreme(name, values):
    """Raise where squares of the numbers would be infinite, or all be zero without any number being it.

    Examples
    --------
    >>> refuse_extreme("losses", np.array([0, 1e-300, 1]))
    """
    most = np.abs(values).max()
    if most and not LEAST_SIZE <= most <= MOST_SIZE:
        raise ValueError(f"{name} must have their largest size from {LEAST_SIZE:g} to {MOST_SIZE:g}, so that squares "
                         f"are numbers; got {most:g}: use another unit")


def _listed(models):
    return [name.strip() for name in models.split(",") if name.strip()] if isinstance(models, str) else list(models)


def _names(models):
    return tuple(map(str, _listed(models)))


def _refuse_names(models, count):
    if len(models) != count or len(set(models)) != len(models):
        noun = "one name" if count == 1 else f"{count} different names"
        raise ValueError(f"models must be {noun}; got {', '.join(map(repr, models))}")


def _checked_sizes(sizes, fold, repeat):
    sizes = checks.counts("fold_size", sizes, size=fold.size, low=1, what="fold")
    rows = np.bincount(repeat * (fold.max() + 1) + fold)
    if rows.max() > 1:
        r, k = divmod(int(rows.argmax()), int(fold.max()) + 1)
        raise ValueError(f"fold_size must be given only where every row is the mean of a whole fold; fold {k} of "
                         f"repeat {r} has {rows.max()} rows: leave it out for losses of single items")
    return sizes


def _by_fold(losses):
    if losses.ndim != 2:
        raise ValueError(f"losses must have shape (K, m), one row per fold, or come with fold labels; "
                         f"got shape {losses.shape}")
    bad = np.argwhere(~np.isfinite(losses.astype(float)))
    if len(bad):
        raise ValueError(f"losses must be finite; fold {bad[0][0]}, item {bad[0][1]} is {losses[tuple(bad[0])]}")
    return losses.ravel(), np.repeat(np.arange(len(losses)), losses.shape[1])


def _stacked(columns):
    arrays = {name: as_array(f"losses of {name}", values) for name, values in columns.items()}
    if len({array.shape for array in arrays.values()}) > 1:
        shown = ", ".join(f"{name} has {array.size}" for name, array in arrays.items())
        raise ValueError(f"models must be tested on the same items; {shown}")
    if not arrays:
        raise ValueError("losses must hold at least one model")
    if next(iter(arrays.values())).ndim != 1:
        name, array = next(iter(arrays.items()))
        raise ValueError(f"losses of {name} must be one-dimensional; got shape {array.shape}")
    return np.stack(list(arrays.values()), 1)


def _refuse_unfit(losses, models):
    bad = np.argwhere(~np.isfinite(losses))
    if len(bad):
        row, column = bad[0]
        raise ValueError(f"losses must be finite; item {row} of model {models[column]!r} is {losses[row, column]}")
    refuse_extreme("losses", losses)


def _codes(name, labels, size):
    labels = checks.labels(name, labels, size=size)
    bad = _no_labels(labels)
    if bad.size:
        raise ValueError(f"{name} must hold whole numbers below 2**53 or text; item {bad[0]} is {labels[bad[0]]:g}")
    return np.unique(labels, return_inverse=True)[1]


def _no_labels(labels):
    """Return where floats are not whole numbers that a float tells from their neighbors."""
    if labels.dtype.kind != "f":
        return np.array([], int)
    return np.flatnonzero((labels != np.floor(labels)) | (np.abs(labels) >= checks.LARGEST))


def _refuse_twice(item, repeat):
    """Every repeat tests every item once."""
    rows = np.bincount(repeat)
    if item is None:
        if np.ptp(rows):
            raise ValueError(f"every repeat must test the same items; repeat 0 has {rows[0]} rows, "
                             f"repeat {np.flatnonzero(rows != rows[0])[0]} has {rows[rows != rows[0]][0]}")
        return
    names, code = np.unique(item, return_inverse=True)
    times = np.bincount(repeat * names.size + code, minlength=rows.size * names.size)
    if (times > 1).any():
        where = int(np.flatnonzero(times > 1)[0])
        raise ValueError(f"every item must be tested once per repeat; item {names[where % names.size]} is tested "
                         f"{times[where]} times in repeat {where // names.size}: is a repeat column missing?")
    if (times < 1).any():
        where = int(np.flatnonzero(times < 1)[0])
        raise ValueError(f"every repeat must test the same items; repeat {where // names.size} "
                         f"lacks item {names[where % names.size]}")


def _fold_codes(fold, repeat):
    """Return folds as 0 to K - 1 within their repeat."""
    cells, cell = np.unique(repeat * (fold.max() + 1) + fold, return_inverse=True)
    folds = np.bincount(cells // (fold.max() + 1))
    if folds[0] < 2:
        raise ValueError(f"fold must have at least 2 folds; got {folds[0]}")
    if np.ptp(folds):
        other = np.flatnonzero(folds != folds[0])[0]
        raise ValueError(f"every repeat must have the same number of folds; repeat 0 has {folds[0]}, "
                         f"repeat {other} has {folds[other]}")
    return cell - repeat * folds[0]


def _equal_sizes(folds, n_items):
    if n_items is None:
        return np.ones(folds, int)
    n_items = checks.whole("n_items", n_items, folds)
    return n_items // folds + (np.arange(folds) < n_items % folds)


def _scores(result, metric, name):
    key = f"test_{metric}"
    if not isinstance(result, dict):
        raise TypeError(f"model {name!r} must be a dict, as cross_validate returns it; got {type(result).__name__}: "
                        f"wrap scores in CVLosses.from_fold_means")
    if key not in result:
        known = [k[5:] for k in result if k.startswith("test_")]
        if not known:
            raise ValueError(f"model {name!r} must have test scores, as cross_validate returns them; it has "
                             f"{', '.join(map(repr, result))}")
        raise ValueError(f"metric must be one of {', '.join(map(repr, known))}; got {metric!r}"
                         + checks.suggestion(metric, known))
    scores = as_array(f"scores of {name}", result[key])
    if scores.dtype.kind not in "biuf" or scores.ndim != 1:
        raise ValueError(f"scores must be one number per fold; model {name!r} has {scores.dtype} of shape "
                         f"{scores.shape}")
    scores = scores.astype(float)
    bad = np.flatnonzero(~np.isfinite(scores))
    if bad.size:
        raise ValueError(f"scores must be finite; fold {bad[0]} of model {name!r} is {scores[bad[0]]}: the fit "
                         f"failed, call cross_validate with error_score='raise'")
    return scores


def _test_items(result):
    return [np.sort(test) for test in result["indices"]["test"]] if "indices" in result else None


def _refuse_other_folds(tests, names):
    for k, folds in enumerate(zip(*tests, strict=True)):
        if not all(np.array_equal(folds[0], other) for other in folds):
            raise ValueError(f"models must be tested on the same folds; fold {k} of {names[0]} and of {names[1]} hold "
                             f"different items: give both the same splits, as list(splitter.split(X, y))")


def _sizes_and_repeats(tests):
    """Return items per fold and the repeat each fold belongs to; a repeat ends when all items were tested."""
    size = np.array([test.size for test in tests])
    items = np.unique(np.concatenate(tests)).size
    before = np.concatenate([[0], size.cumsum()[:-1]])
    repeat, at = np.divmod(before, items)
    for r in range(repeat.max() + 1):
        tested = np.concatenate([test for test, of in zip(tests, repeat, strict=True) if of == r])
        if tested.size != items or np.unique(tested).size != items:
            raise ValueError("the test sets must hold every item once per repeat, as K-fold splitters make them; "
                             "for random splits use nadeau_bengio_test")
    return size, repeat


def _fold_of(splits, n):
    """Return the fold of each item from labels or from (train, test) pairs."""
    splits = list(splits)
    if not (splits and isinstance(splits[0], (tuple, list)) and len(splits[0]) == 2):
        return splits
    fold, times = np.zeros(n, int), np.zeros(n, int)
    for k, (_, test) in enumerate(splits):
        test = np.asarray(test, int if len(test) == 0 else None)
        bad = [test.dtype] if test.dtype.kind not in "iu" else test[(test < 0) | (test >= n)]
        if len(bad):
            raise ValueError(f"splits must hold item numbers 0 to {n - 1}; the test set of fold {k} has {bad[0]}")
        fold[test] = k
        times[test] += 1
    if (times != 1).any():
        item = np.flatnonzero(times != 1)[0]
        raise ValueError(f"splits must test every item once; item {item} is in {times[item]} test sets")
    return fold


def _like(truth, prediction, name):
    prediction = np.asarray(prediction)
    if prediction.shape != truth.shape:
        raise ValueError(f"models must be tested on the same items; truth has shape {truth.shape}, "
                         f"model {name!r} {prediction.shape}")
    if (prediction.dtype.kind in "US") != (truth.dtype.kind in "US"):
        raise ValueError(f"truth and prediction must both be text or both numbers; truth "
                         f"{truth.flat[0].item()!r}, model {name!r} {prediction.flat[0].item()!r}")
    return prediction


def _refuse_shared(roles, chosen):
    used = {}
    for role, name in (*roles.items(), *(("a model", name) for name in chosen)):
        if name in used:
            raise ValueError(f"column {name!r} cannot be both {used[name]} and {role}" if used[name] != role else
                             f"models must name each column once; {name!r} repeats")
        used[name] = role


def _refuse_identifiers(columns):
    """Distinct whole numbers in order or without a gap, or many of them, are a key that was not named, not a loss."""
    for name, values in columns.items():
        if values.size < 3 or np.any(values != np.floor(values)) or np.unique(values).size < values.size:
            continue
        if values.size >= 10 or np.all(np.diff(values) > 0) or np.ptp(values) == values.size - 1:
            raise ValueError(f"column {name!r} holds a different whole number in every row, as identifiers do; "
                             f"say item={name!r}, or list the columns of losses in models")


def _refuse_mixed_up(label, roles):
    for role in ("fold", "repeat"):
        labels = label.get(role, np.array([]))
        bad = _no_labels(labels)
        if bad.size:
            raise ValueError(f"column {roles[role]!r}, data row {bad[0] + 1}: a {role} must be a whole number below "
                             f"2**53 or text; got {labels[bad[0]]:g}: are the columns mixed up?")
    item, fold = label.get("item"), label["fold"]
    if item is not None and np.unique(item).size < np.unique(fold).size:
        raise ValueError(f"column {roles['fold']!r} has {np.unique(fold).size:,} folds for the "
                         f"{np.unique(item).size:,} items of column {roles['item']!r}: are the columns mixed up?")


def _sizes_of_rows(label, roles, size, column):
    """Return the items per row where rows are fold means, else None, and how the rows were read."""
    if not size:
        if "item" in label or not _rows_are_folds(label):
            return None, ()
        return np.ones(len(label["fold"]), int), ("one row per fold: read as fold means of equal folds",)
    if "item" in label:
        raise ValueError(f"column {size!r} cannot hold sizes of folds where column {roles['item']!r} names items: "
                         f"rows are means of folds or losses of items; drop one of the two")
    if not _rows_are_folds(label):
        raise ValueError(f"column {size!r} can hold sizes of folds only where there is one row per fold; column "
                         f"{roles['fold']!r} repeats a fold: is a repeat column missing?")
    numbers = frames.to_numbers(size, column)
    bad = np.flatnonzero((numbers != np.floor(numbers)) | (numbers < 1) | (numbers >= checks.LARGEST))
    if bad.size:
        raise ValueError(f"column {size!r}, data row {bad[0] + 1}: the size of a fold must be a whole number of at "
                         f"least 1; got {numbers[bad[0]]:g}")
    return numbers.astype(int), ("one row per fold: read as fold means, weighted by their items",)


def _rows_are_folds(label):
    codes = [np.unique(label[role], return_inverse=True)[1] for role in ("fold", "repeat") if role in label]
    cells = codes[0] if len(codes) == 1 else codes[0] * (codes[1].max() + 1) + codes[1]
    return np.unique(cells).size == cells.size


def _refuse_other_items(first, second, here, there):
    if len(here) != len(there):
        raise ValueError(f"models must be tested on the same items; {', '.join(first.models)} has {len(here)} rows, "
                         f"{', '.join(second.models)} {len(there)}")
    if (first.item is None) != (second.item is None):
        raise ValueError("models must be tested on the same items; only one of the two names its items")
    if first.has_items != second.has_items:
        raise ValueError("models must be tested on the same items; one of the two has means of folds, the other losses "
                         "of single items")
    if first.item is not None:
        unlike = np.flatnonzero(first.item[here] != second.item[there])
        if unlike.size:
            raise ValueError(f"models must be tested on the same items; {', '.join(first.models)} has item "
                             f"{first.item[here][unlike[0]]} where {', '.join(second.models)} has "
                             f"{second.item[there][unlike[0]]}")
    if not first.has_items:
        _refuse_other_sizes(first, second, here, there)


def _refuse_other_sizes(first, second, here, there):
    unlike = np.flatnonzero(first.fold_size[here] != second.fold_size[there])
    if unlike.size:
        row = here[unlike[0]]
        raise ValueError(f"models must be tested on the same folds; fold {first.fold[row]} of repeat "
                         f"{first.repeat[row]} has {first.fold_size[row]} items for {', '.join(first.models)} and "
                         f"{second.fold_size[there[unlike[0]]]} for {', '.join(second.models)}: give both the same "
                         f"sizes (n_items)")


def _same_partition(first, second, rows):
    """Folds may be numbered differently, but must hold the same rows."""
    cell_one = first.repeat * first.folds + first.fold
    cell_two = (second.repeat * second.folds + second.fold)[rows]
    pairs = np.unique(cell_one * (cell_two.max() + 1) + cell_two).size
    return pairs == np.unique(cell_one).size == np.unique(cell_two).size
