"""A stratified sample of a stream that keeps the variance of the estimated mean small: S-VOILA.

References
----------
.. [1] Nguyen, Shih, Srivastava, Tirthapura & Xu, Stratified random sampling from streaming and stored
   data, EDBT 2019, section 5.
.. [2] Chan, Golub & LeVeque, Algorithms for computing the sample variance, The American Statistician 37,
   1983: means and sums of squares of parts, combined.
.. [3] Cochran, Sampling techniques, 3rd ed., 1977, theorem 5.3.
"""

import numbers
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from workbench import checks
from workbench.allocation import rules, samples
from workbench.allocation.streams.estimates import StreamEstimate, moments
from workbench.allocation.streams.packing import (
    KEY_BITS,
    MOST_STRATA,
    NOTHING_REJECTED,
    SHIFT,
    Run,
    key_of,
    pack,
    stratum_of,
)
from workbench.labeling.draws import random_keys
from workbench.results import Note

SCHEMA = 1
FEW = 2**12
WIDEST_TABLE = 2**20
SHOWN = 3
SETTINGS = ("budget", "minimum", "seed", "_quota")
SMALL = 0.9


class StreamSampler:
    """A stratified sample of at most `budget` records of a stream, whose strata are not known beforehand.

    Every record gets a uniform random key; the sample of a stratum is the records whose key is below the
    stratum's threshold, the smallest key it ever turned away. After each minibatch the sample is cut to the
    budget in whole numbers so that the variance of the estimated mean grows least (`reduce_sample`), with the
    sizes and standard deviations seen so far.

    Parameters
    ----------
    budget : int
        Records to keep, at least `minimum` for every stratum that will come.
    minimum : int
        Floor per stratum, at least 1, so that no variance is ever infinite; with 1 the sample cannot tell its
        own variance. The paper's rule has none and evicts a new stratum's first record at once. Where rare
        values make a stratum vary, its sd is 0 until the first: choose a larger floor.
    rng : int or numpy.random.Generator
        Samplers to be merged need different seeds.
    seed : int, optional
        In the place of random keys every record has the hash of its identifier, that of `sample`: the sample of a
        stratum is then the records of the smallest hashes, however they are spread over minibatches and samplers, and
        samplers to be merged need the same seed.

    Notes
    -----
    S-VOILA [1]_ with two corrections: the exact whole-number cut instead of the derivative, and the floor.
    The weighted mean of the sample is exactly unbiased. A stratum's sample is uniform only nearly: given its
    size, late records are a little more likely to be in it, because the size could only grow by accepting late
    ones. The variance formula for given sizes is then an approximation. A stratum that was cut cannot be refilled
    from the past: where its spread jumps, the sample lags behind the optimum (`allocation`).

    Partitions of the data, on one machine or many, each get a sampler, and `merge` joins them. Where they disagree
    about which stratum varies the merged sample is small; `second_pass` then samples again, with hindsight.

    Time per minibatch of b records and H strata is O(b + H) and a cut of what was added; memory is
    O(budget + H + b).

    References
    ----------
    .. [1] Nguyen et al., Stratified random sampling from streaming and stored data, EDBT 2019, section 5.

    Examples
    --------
    >>> sampler = StreamSampler(4, rng=1)
    >>> sampler.update(["a", "b", "a"], [1.0, 5.0, 2.0])
    StreamSampler(3 of 3 records, 2 strata; budget 4)
    >>> sampler.update("b", 9.0).update(["b", "a"], [7.0, 1.5])
    StreamSampler(4 of 6 records, 2 strata; budget 4)
    >>> sampler.sizes()
    {'a': 2, 'b': 2}
    """

    def __init__(
        self,
        budget: int,
        *,
        minimum: int = 2,
        rng: int | np.random.Generator = 0,
        seed: int | None = None,
    ) -> None:
        self.budget = checks.whole("budget", budget, 1)
        self.minimum = checks.whole("minimum", minimum, 1)
        self.seed = None if seed is None else checks.seed("seed", seed)
        start = checks.generator(rng).integers(0, 2**63, 2).tolist()
        self._bits = np.random.PCG64(start)
        self._sources = {tuple(start)} if seed is None else set[tuple]()
        self._quota: dict | None = None
        self._seen = 0
        self._item_kind: str | None = None
        self._labels, self._index = list[Any](), dict[Any, int]()
        self._table, self._base = np.empty(0, np.int64), 0
        self._size, self._mean, self._squares = np.empty(0, np.int64), np.empty(0), np.empty(0)
        self._threshold = np.empty(0, np.uint64)
        self._bag, self._bagged = list[Any](), 0
        self._runs = [self._run(np.empty(0, np.uint64))]

    @classmethod
    def with_sizes(cls, sizes: Mapping, *, rng: int | np.random.Generator = 0) -> "StreamSampler":
        """Return a sampler that keeps `sizes` records per stratum, fewer only where there are fewer.

        Parameters
        ----------
        sizes : dict of str or int to int
            At least 1 for every stratum that will come.
        rng : int or numpy.random.Generator

        Examples
        --------
        >>> StreamSampler.with_sizes({"a": 1, "b": 2}).update(list("aabbbb"), range(6)).sizes()
        {'a': 1, 'b': 2}
        """
        quota = {
            label: checks.whole(f"sizes[{label!r}]", size, 1) for label, size in dict(sizes).items()
        }
        if not quota:
            raise checks.WrongValue("sizes", "must name at least one stratum")
        sampler = cls(sum(quota.values()), minimum=1, rng=rng)
        sampler._quota = quota
        return sampler

    def second_pass(self, *, rng: int | np.random.Generator = 1) -> "StreamSampler":
        """Return an empty sampler for a second pass over the data, which keeps what `allocation` says.

        For data in partitions: merge the samplers of the first pass, give each partition a second-pass sampler
        of the merged one with a seed of its own, and merge these. The sizes are those of VOILA and the sample of
        each stratum is a simple random one, so the variance formula is exact; the price is reading twice.

        Parameters
        ----------
        rng : int or numpy.random.Generator

        Examples
        --------
        >>> parts = [(list("aabb"), [1, 9, 4, 4]), (list("bbab"), [5, 5, 5, 4])]
        >>> first, other = (StreamSampler(4, rng=seed).update(*part) for seed, part in enumerate(parts))
        >>> first.merge(other).allocation().labeled.tolist()
        [2, 2]
        >>> second, other = (first.second_pass(rng=9 + seed).update(*part) for seed, part in enumerate(parts))
        >>> second.merge(other).sizes()
        {'a': 2, 'b': 2}
        """
        # in the order of the labels, and without the last digits of sums: the same whatever the partitions were
        self._check_not_empty()
        order = sorted(
            range(len(self._labels)),
            key=lambda k: (isinstance(self._labels[k], str), self._labels[k]),
        )
        sd = [float(f"{self._sd()[k]:.12g}") for k in order]
        labeled = rules.allocate(
            self._size[order], self.budget, stratum_sd=sd, minimum=self.minimum
        ).labeled
        second = self.with_sizes(
            {self._labels[k]: n for k, n in zip(order, labeled.tolist(), strict=True)}, rng=rng
        )
        if self.seed is not None:
            second.seed, second._sources = self.seed, set()
        return second

    def update(
        self, strata: ArrayLike, values: ArrayLike, keys: ArrayLike | None = None
    ) -> "StreamSampler":
        """Take a minibatch of any size, or a single record, and return this sampler.

        Parameters
        ----------
        strata : (b,) array_like of int or str, or one of them
        values : (b,) array_like of float, or one of them
            Finite.
        keys : (b,) array_like of int or str, or one of them, optional
            Identifiers by which `rows` lets you find the records again, in every minibatch or in none; without `seed`
            they have no influence on the sample. Without them records are numbered 0, 1, ... as they come.

        Raises
        ------
        ValueError
            For a missing stratum or value (names the row), unequal lengths, keys that repeat within the minibatch,
            or a budget too small for the strata; the sampler then is as before.
        """
        strata, values = (
            np.atleast_1d(_column("strata", strata)),
            np.atleast_1d(checks.plain_array("values", values, "row")),
        )
        if strata.size == 0 and values.size == 0:
            return self
        if values.ndim != 1 or values.dtype != float or not np.isfinite(values).all():
            values = checks.vector("values", values, what="row")
        if strata.shape != values.shape:
            raise checks.WrongValue(
                "strata", f"must have {_entries(values.size)}, one per value", strata.size
            )
        items = (
            None
            if keys is None
            else _identifiers(np.atleast_1d(_column("keys", keys)), values.size)
        )
        if items is None and self.seed is not None:
            raise checks.WrongValue(
                "keys", "must be given where a seed is: the sample is chosen by their hashes"
            )
        kind = self._kind_of(items)
        codes, new = self._codes(strata)
        self._check_budget(codes, new)
        self._item_kind = kind
        self._register(new)
        hashes = (
            None
            if items is None or self.seed is None
            else random_keys(items.tolist(), self.seed).view(np.uint64) >> SHIFT
        )
        taken = [self._take(part, codes, values, hashes) for part in rules.blocks(values.size)]
        packed, values, rows = (np.concatenate(parts) for parts in zip(*taken, strict=True))
        if rows.size:
            self._accept(packed, values, rows + self._seen if items is None else items[rows])
            self._shrink()
        self._seen += codes.size
        return self

    def add(
        self, summary: Mapping[str, np.ndarray], below: Callable[[np.ndarray], dict]
    ) -> "StreamSampler":
        """Take a minibatch that stays where it is, of a sampler with a seed, and return this sampler.

        Parameters
        ----------
        summary : dict of (H,) array
            Its strata, each once, and their size, mean and sd.
        below : callable
            From a bound (H,) of the keys of each stratum to the rows below it, a dict of arrays: place of the stratum,
            key of 60 bits, id, and the value as "column 0".
        """
        labels, size = summary["stratum"].tolist(), summary["size"]
        new = [label for label in labels if label not in self._index]
        index = self._index | _numbered(new, len(self._labels))
        place = np.array([index[label] for label in labels], np.int64)
        self._check_budget(place, new, size)
        threshold = np.append(self._threshold, np.full(len(new), NOTHING_REJECTED, np.uint64))[
            place
        ]
        rows = _enough(below, size, self._most(labels), (threshold << SHIFT).view(np.int64))
        items = _identifiers(rows["id"], rows["id"].size)
        kind = self._kind_of(items) if items.size else self._item_kind
        self._item_kind = kind
        self._register(new)
        self._add_statistics(place, size, summary["mean"], summary["sd"] ** 2 * (size - 1))
        if items.size:
            packed = pack(place[rows["place"]], rows["key"].astype(np.uint64) >> SHIFT)
            self._accept(packed, rows["column 0"].astype(float), items)
            self._shrink()
        self._seen += int(size.sum())
        return self

    def merge(self, other: "StreamSampler") -> "StreamSampler":
        """Merge the sample of another part of the stream into this one and return this sampler.

        Thresholds become the smaller of the two, and the union below them is cut to the budget. Records without
        keys are numbered as if `other` came after this one. Where two parts disagree about which stratum varies,
        few records stay below both thresholds: `estimate` notes it, and `second_pass` samples again.

        Parameters
        ----------
        other : StreamSampler
            Of the same budget and minimum, from another rng or of the same seed; it is left as it is.
        """
        self._check_mergeable(other)
        self._register([label for label in other._labels if label not in self._index])
        place = np.array([self._index[label] for label in other._labels], np.int64)
        self._add_statistics(place, other._size, other._mean, other._squares)
        self._threshold[place] = np.minimum(self._threshold[place], other._threshold)
        packed, values, items = other._sample()
        items = items + self._seen if other._item_kind == "position" else items
        self._bag.append((pack(place[stratum_of(packed)], key_of(packed)), values, items))
        self._item_kind = self._item_kind or other._item_kind
        self._seen += other._seen
        self._sources |= other._sources
        self._rebuild()
        self._shrink()
        return self

    @property
    def seen(self) -> int:
        """Records so far."""
        return self._seen

    def is_like(self, other: "StreamSampler") -> bool:
        """Return whether another sampler has the same budget, minimum and seed.

        Parameters
        ----------
        other : StreamSampler
        """
        return all(getattr(self, name) == getattr(other, name) for name in SETTINGS)

    def sizes(self) -> dict:
        """Return the number of sampled records per stratum, a dict in order of appearance."""
        return dict(zip(self._labels, self._live().tolist(), strict=True))

    def rows(self) -> list[dict]:
        """Return the sampled records as a list of dicts: stratum, item, value and weight n_i / s_i."""
        packed, values, items = self._sample()
        codes = stratum_of(packed)
        weight = (self._size / np.maximum(self._live(), 1))[codes]
        return samples.rows_of(
            stratum=tuple(self._labels[code] for code in codes),
            item=items,
            value=values,
            weight=weight,
        )

    def allocation(self) -> rules.Allocation:
        """Return the `Allocation` that knows all records so far (VOILA); strata in order of appearance."""
        self._check_not_empty()
        return rules.allocate(self._size, self.budget, stratum_sd=self._sd(), minimum=self.minimum)

    def estimate(self) -> StreamEstimate:
        """Return the mean of the stream estimated from the sample, a `StreamEstimate`.

        The estimate is unbiased; its variance is that of a stratified random sample of these sizes [1]_, which
        holds approximately (see the class). A stratum with one sampled record of several makes it NaN; one whose
        sampled values are all equal though its records vary makes it too small; `notes` name both, and say where
        merged samplers disagreed so that much of the budget is unused. Its `interval` takes bounds of the values.

        References
        ----------
        .. [1] Cochran, Sampling techniques, 3rd ed., 1977, theorem 5.3.
        """
        self._check_not_empty()
        packed, values, items = self._sample()
        if self.seed is not None:
            _identifiers(items, items.size)
        sampled, mean, squares = moments(stratum_of(packed), values, self._size.size)
        census = sampled == self._size
        with np.errstate(invalid="ignore", divide="ignore"):
            sd = np.where(self._size == 1, 0.0, np.sqrt(squares / (sampled - 1)))
            terms = np.where(census, 0.0, self._size * (self._size - sampled) * sd**2 / sampled)
        total = int(self._size.sum())
        return StreamEstimate(
            float(self._size @ mean / total),
            float(terms.sum() / total**2),
            tuple(self._labels),
            self._size,
            sampled,
            mean,
            sd,
            values,
            items=items,
            stream_mean=float(self._size @ self._mean / total),
            design_variance=rules.allocation_variance(self._size, self._sd(), sampled),
            notes=tuple(self._notes(sampled, sd, census)),
        )

    def to_dict(self) -> dict:
        """Return a dict of plain JSON values; `from_dict` continues from it as if nothing had happened."""
        packed, values, items = self._sample()
        return {
            "kind": "StreamSampler",
            "schema": SCHEMA,
            "budget": self.budget,
            "minimum": self.minimum,
            "seed": self.seed,
            "seen": self._seen,
            "sources": sorted(map(list, self._sources)),
            "generator": self._bits.state,
            "quota": self._quota and [[label, size] for label, size in self._quota.items()],
            "labels": list(self._labels),
            "size": self._size.tolist(),
            "mean": self._mean.tolist(),
            "squares": self._squares.tolist(),
            "threshold": self._threshold.tolist(),
            "packed": packed.tolist(),
            "values": values.tolist(),
            "items": items.tolist(),
            "item_kind": self._item_kind,
        }

    @classmethod
    def from_dict(cls, data: dict) -> "StreamSampler":
        """Restore a sampler from what `to_dict` returned, without loss.

        Parameters
        ----------
        data : dict
            As `to_dict` returned it.
        """
        if data.get("kind") != "StreamSampler" or data.get("schema") != SCHEMA:
            raise checks.WrongValue(
                "data",
                f"must be a StreamSampler of schema {SCHEMA} written by to_dict; got "
                f"kind {data.get('kind')!r}, schema {data.get('schema')!r}",
            )
        sampler = cls(data["budget"], minimum=data["minimum"], seed=data.get("seed"))
        sampler._quota = data["quota"] and dict(map(tuple, data["quota"]))
        sampler._register(data["labels"])
        sampler._sources = set(map(tuple, data["sources"]))
        sampler._bits.state = data["generator"]
        sampler._seen, sampler._item_kind = data["seen"], data["item_kind"]
        sampler._size[:], sampler._mean[:], sampler._squares[:] = (
            data["size"],
            data["mean"],
            data["squares"],
        )
        sampler._threshold = np.array(data["threshold"], np.uint64)
        items = np.array(data["items"], str if data["item_kind"] == "text" else np.int64)
        sampler._bag = [
            (np.array(data["packed"], np.uint64), np.array(data["values"], float), items)
        ]
        sampler._rebuild()
        return sampler

    def __repr__(self) -> str:
        records, strata = (
            checks.counted(self._seen, "record"),
            checks.counted(len(self._labels), "stratum", "strata"),
        )
        return (
            f"StreamSampler({self._live().sum():,} of {records}, {strata}; budget {self.budget:,})"
        )

    # arguments

    def _kind_of(self, items: np.ndarray | None) -> str:
        kind = "position" if items is None else "text" if items.dtype.kind == "U" else "number"
        if self._item_kind not in (None, kind):
            raise checks.WrongValue(
                "keys",
                "must be of one kind in every minibatch, number, text or position (none "
                f"given); got {kind} after {self._item_kind}",
            )
        return kind

    def _codes(self, strata: Any) -> tuple:
        """Return the number of each record's stratum, new strata numbered on, and the labels that are new."""
        if strata.dtype.kind in "iu" and self._covers(strata):
            return self._looked_up(strata)
        labels = _checked_labels(strata)
        new = [label for label in dict.fromkeys(labels) if label not in self._index]
        index = self._index | _numbered(new, len(self._labels)) if new else self._index
        return np.fromiter(map(index.__getitem__, labels), np.int64, len(labels)), new

    def _looked_up(self, strata: np.ndarray) -> tuple:
        table, codes, new = self._table, np.empty(strata.size, np.int64), list[Any]()
        for part in rules.blocks(strata.size):
            place = np.subtract(strata[part], self._base, dtype=np.int64, casting="unsafe")
            if np.take(table, place, out=codes[part], mode="clip").min() < 0:
                distinct, first = np.unique(place[codes[part] < 0], return_index=True)
                distinct = distinct[np.argsort(first)]
                table = table.copy()
                table[distinct] = np.arange(distinct.size) + len(self._labels) + len(new)
                new += (distinct + self._base).tolist()
                codes[part] = table[place]
        return codes, new

    def _covers(self, strata: np.ndarray) -> bool:
        """Widen the table of whole-number labels to the range of these, unless it would become too wide."""
        low, high = int(strata.min()), int(strata.max())
        if self._base <= low and high < self._base + self._table.size:
            return True
        known = [label for label in self._labels if isinstance(label, int)]
        low, high = min([low, *known]), max([high, *known])
        if high - low >= WIDEST_TABLE or high >= 2**62 or low <= -(2**62):
            return False
        self._base, self._table = low, np.full(high - low + 1, -1, np.int64)
        for label in known:
            self._table[label - low] = self._index[label]
        return True

    def _most(self, labels: list) -> np.ndarray:
        """Return the most records that strata can keep."""
        return np.array(
            [self.budget if self._quota is None else self._quota[label] for label in labels],
            np.int64,
        )

    def _check_budget(self, codes: np.ndarray, new: list, times: np.ndarray | None = None) -> None:
        strata = len(self._labels) + len(new)
        if self._quota is not None:
            for label in [label for label in new if label not in self._quota][:1]:
                raise checks.WrongValue(
                    "strata", f"must be among the given sizes; {label!r} is not"
                )
        elif strata * self.minimum > self.budget:
            size = np.bincount(codes, times, strata).astype(np.int64)
            size[: self._size.size] += self._size
            rules.refuse_less(
                self.budget, int(np.minimum(size, self.minimum).sum()), self.minimum, strata
            )
        if strata > MOST_STRATA:
            raise checks.WrongValue("strata", f"must be at most {MOST_STRATA:,}; got {strata:,}")

    def _check_mergeable(self, other: "StreamSampler") -> None:
        if not isinstance(other, StreamSampler):
            raise checks.WrongType(
                "other", "must be a StreamSampler", told=f"got {type(other).__name__}"
            )
        for name in SETTINGS:
            mine, its = getattr(self, name), getattr(other, name)
            if mine != its:
                raise checks.WrongValue(
                    "other",
                    f"must have the same {name.strip('_').replace('quota', 'sizes')}; "
                    f"got {its} and {mine}",
                )
        if self._sources & other._sources:
            raise checks.WrongValue(
                "other",
                "must have been started from another rng; samples with shared keys are "
                "not independent (is it a copy, or merged already?)",
            )
        if self.seed is not None and np.isin(self._sample()[2], other._sample()[2]).any():
            raise checks.WrongValue(
                "other",
                "must hold other records; some are in both (is it a copy, or merged already?)",
            )
        if self._item_kind and other._item_kind and self._item_kind != other._item_kind:
            raise checks.WrongValue(
                "other",
                f"must have keys of the same kind; got {other._item_kind} and {self._item_kind}",
            )
        labels = [*self._labels, *(label for label in other._labels if label not in self._index)]
        index = _numbered(labels, 0)
        place = np.array([index[label] for label in other._labels], np.int64)
        self._check_budget(place, labels[len(self._labels) :], other._size)

    def _check_not_empty(self) -> None:
        if not self._seen:
            raise ValueError("the stream must have at least one record; update the sampler first")

    # statistics

    def _register(self, labels: list) -> None:
        if not labels:
            return
        self._index.update(_numbered(labels, len(self._labels)))
        self._labels.extend(labels)
        for label in labels:
            if isinstance(label, int) and 0 <= label - self._base < self._table.size:
                self._table[label - self._base] = self._index[label]
        more = len(labels)
        self._size = np.append(self._size, np.zeros(more, np.int64))
        self._mean, self._squares = (
            np.append(column, np.zeros(more)) for column in (self._mean, self._squares)
        )
        self._threshold = np.append(self._threshold, np.full(more, NOTHING_REJECTED, np.uint64))
        self._runs = [self._run(run.packed) for run in self._runs]

    def _take(
        self, part: Any, codes: np.ndarray, values: np.ndarray, hashes: np.ndarray | None
    ) -> tuple:
        """Count a part of a minibatch; return packed keys, values and rows of what lies below the thresholds."""
        codes, values = codes[part], values[part]
        self._add_statistics(slice(None), *moments(codes, values, self._size.size))
        keys = (
            self._bits.random_raw(codes.size) >> np.uint64(64 - KEY_BITS)
            if hashes is None
            else hashes[part]
        )
        rows = np.flatnonzero(keys < self._threshold[codes])
        return pack(codes[rows], keys[rows]), values[rows], rows + part.start

    def _add_statistics(
        self, place: Any, size: np.ndarray, mean: np.ndarray, squares: np.ndarray
    ) -> None:
        """Add counts, means and sums of squared deviations (Chan, Golub & LeVeque)."""
        before = self._size[place]
        total = np.maximum(before + size, 1)
        difference = mean - self._mean[place]
        self._mean[place] += difference * size / total
        self._squares[place] += squares + difference**2 * (before / total * size)
        self._size[place] += size

    def _sd(self) -> np.ndarray:
        return np.sqrt(self._squares / np.maximum(self._size - 1, 1))

    # the sample: a bag of records, and their keys in a few sorted runs. What a threshold excludes is dropped later,
    # all at once, because the live records of a stratum are the first of its keys in every run.

    def _run(self, packed: np.ndarray) -> Run:
        first = np.arange(len(self._labels), dtype=np.uint64) << np.uint64(KEY_BITS)
        return Run(
            packed, np.searchsorted(packed, first), np.searchsorted(packed, first + self._threshold)
        )

    def _live(self) -> np.ndarray:
        return sum((run.live for run in self._runs), np.zeros(len(self._labels), np.int64))

    def _accept(self, packed: np.ndarray, values: np.ndarray, items: np.ndarray) -> None:
        self._bag.append((packed, values, items))
        self._bagged += packed.size
        merged = np.sort(packed)
        while len(self._runs) > 1 and self._runs[-1].packed.size < max(FEW, 4 * merged.size):
            merged = np.sort(np.concatenate([self._runs.pop().packed, merged]), kind="stable")
        self._runs.append(self._run(merged))

    def _shrink(self) -> None:
        """Lower the thresholds until the sample fits the budget."""
        live = self._live()
        excess = live - self._target(live)
        if excess.any():
            tops = [np.minimum(excess, run.live) for run in self._runs]
            keys = [
                run.packed[_ranges(run.end - top, top)]
                for run, top in zip(self._runs, tops, strict=True)
            ]
            cut = np.flatnonzero(excess)
            limit = np.sort(np.concatenate(keys))[(np.cumsum(sum(tops)) - excess)[cut]]
            self._threshold[cut] = key_of(limit)
            for run, top, highest in zip(self._runs, tops, keys, strict=True):
                run.end[cut] += np.searchsorted(highest, limit) - np.cumsum(top)[cut]
        if self._bagged > 3 * self.budget + FEW:
            self._compact()

    def _target(self, live: np.ndarray) -> np.ndarray:
        if self._quota is not None:
            return np.minimum(live, [self._quota[label] for label in self._labels])
        if live.sum() <= self.budget:
            return live
        return rules.reduced(
            self._size, self._sd(), live, self.budget, np.minimum(live, self.minimum)
        )

    def _compact(self) -> None:
        """Drop what the thresholds exclude."""
        packed, values, items = (np.concatenate(parts) for parts in zip(*self._bag, strict=True))
        live = np.flatnonzero(packed < self._limit()[stratum_of(packed)])
        self._bag, self._bagged = [(packed[live], values[live], items[live])], live.size
        merged = np.concatenate([run.packed[_ranges(run.start, run.live)] for run in self._runs])
        self._runs = [self._run(np.sort(merged, kind="stable"))]

    def _rebuild(self) -> None:
        """Make the runs anew from the bag."""
        self._runs = [self._run(np.sort(np.concatenate([packed for packed, _, _ in self._bag])))]
        self._compact()

    def _limit(self) -> np.ndarray:
        return (
            np.arange(len(self._labels), dtype=np.uint64) << np.uint64(KEY_BITS)
        ) + self._threshold

    def _sample(self) -> tuple:
        """Return packed keys, values and items of the sample, by stratum and key."""
        if not self._bag:
            return np.empty(0, np.uint64), np.empty(0), np.empty(0, np.int64)
        packed, values, items = (np.concatenate(parts) for parts in zip(*self._bag, strict=True))
        order = np.argsort(packed, kind="stable")
        order = order[(packed < self._limit()[stratum_of(packed)])[order]]
        return packed[order], values[order], items[order]

    def _notes(self, sampled: Any, sd: Any, census: Any) -> Any:
        single, flat = (
            (sampled == 1) & ~census,
            (sampled > 1) & ~census & (sd == 0) & (self._squares > 0),
        )
        if single.any():
            yield Note(
                "undefined",
                "the variance is not estimable: one sampled record of several in "
                f"{self._named(single)}; choose minimum=2 or more",
            )
        if flat.any():
            yield Note(
                "unreliable",
                "the variance is too small: all sampled values are equal, though the records "
                f"vary, in {self._named(flat)}",
            )
        held, wanted = int(sampled.sum()), min(self.budget, self._seen)
        if self._quota is not None:
            wanted = int(
                np.minimum(self._size, [self._quota[label] for label in self._labels]).sum()
            )
        if held < SMALL * wanted:
            yield Note(
                "design",
                f"only {held:,} of {checks.counted(wanted, 'record')} within the budget are kept: the "
                "merged samplers disagreed about which stratum varies; second_pass samples again",
            )

    def _named(self, chosen: np.ndarray) -> str:
        labels = [self._labels[code] for code in np.flatnonzero(chosen)]
        return ("stratum " if len(labels) == 1 else "strata ") + checks.listed(
            labels, SHOWN, quoted=True
        )


def _enough(below: Callable, size: np.ndarray, most: np.ndarray, threshold: np.ndarray) -> dict:
    """Return the rows below a threshold of each stratum, (H,), or more of the smallest keys than it can keep."""
    slack = 6.0
    while True:
        bound = np.minimum(samples.bounds(np.minimum(most, size) + 1, size, slack), threshold)
        rows = below(bound)
        if ((np.bincount(rows["place"], minlength=size.size) > most) | (bound == threshold)).all():
            return rows
        slack *= 4


def _numbered(labels: Any, first: Any) -> dict:
    return {label: code for code, label in enumerate(labels, first)}


def _ranges(start: np.ndarray, length: np.ndarray) -> np.ndarray:
    """Return start[0], start[0] + 1, ..., length[0] of them, then those of start[1], ..."""
    return np.arange(length.sum()) + np.repeat(start - np.cumsum(length) + length, length)


def _column(name: str, entries: Any) -> np.ndarray:
    """Return an array in which whole numbers stay numbers and text stays text."""
    if isinstance(entries, (str, numbers.Integral)) or hasattr(entries, "__array__"):
        return checks.plain_array(name, entries, "row")
    entries = (
        entries
        if isinstance(entries, (list, tuple)) or not hasattr(entries, "__iter__")
        else list(entries)
    )
    plain, array = np.asarray(entries, object), np.asarray(entries)
    whole = array.dtype.kind in "iu" and all(
        isinstance(entry, numbers.Integral) for entry in plain.ravel()
    )
    return array if whole else plain


def _checked_labels(strata: np.ndarray, name: str = "strata") -> list:
    """Return whole numbers or texts as a list of int and str, or raise naming the row."""
    if strata.ndim != 1:
        raise ValueError(f"{name} must be one-dimensional; got shape {strata.shape}")
    labels = strata.tolist()
    for row in np.flatnonzero(checks.cells_and_gaps(name, strata)[1])[:1].tolist():
        raise ValueError(f"{name} must not be missing; row {row} is {labels[row]!r}")
    if strata.dtype.kind not in "iuU":
        for row, label in enumerate(labels):
            if isinstance(label, (bool, np.bool_)) or not isinstance(
                label, (str, numbers.Integral)
            ):
                raise TypeError(f"{name} must be whole numbers or text; row {row} is {label!r}")
        labels = [label if isinstance(label, str) else int(label) for label in labels]
    return labels


def _entries(count: int) -> str:
    return f"{count} {'entry' if count == 1 else 'entries'}"


def _identifiers(keys: np.ndarray, size: int) -> np.ndarray:
    """Return identifiers as an array of whole numbers or of text."""
    if keys.dtype.kind == "i" and keys.shape == (size,) == np.unique(keys).shape:
        return keys.astype(np.int64)
    labels = _checked_labels(keys, "keys")
    if len(labels) != size:
        raise checks.WrongValue("keys", f"must have {_entries(size)}, one per value", len(labels))
    kinds = {isinstance(label, str) for label in labels}
    if len(kinds) > 1:
        raise checks.WrongType("keys", "must be all whole numbers or all text")
    for large in [label for label in labels if not isinstance(label, str) and abs(label) >= 2**63][
        :1
    ]:
        raise checks.WrongValue("keys", "must lie within 2 ** 63, or be text", large)
    if len(set(labels)) < size:
        repeated = next(label for label, times in Counter(labels).items() if times > 1)
        raise checks.WrongValue("keys", f"must not repeat; {repeated!r} does")
    return np.array(labels) if kinds == {True} else np.array(labels, np.int64)
