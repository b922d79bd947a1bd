"""A stratified sample of a stream that keeps the variance of the estimated mean small: S-VOILA.

Every record has a stratum and a random key. Both are packed into one number of 64 bits, the stratum
first, so that sorting these numbers orders the records by stratum and then by key.

References
----------
.. [1] Nguyen, Shih, Srivastava, Tirthapura & Xu, Stratified random sampling from streaming and
   stored data, EDBT 2019, section 5.
.. [2] Chan, Golub & LeVeque, Algorithms for computing the sample variance, The American
   Statistician 37, 1983: means and sums of squares of parts, combined.
.. [3] Cochran, Sampling techniques, 3rd ed., 1977, theorem 5.3.
"""

import contextlib
import numbers
from collections.abc import Callable, Iterable, Iterator, Mapping

import numpy as np
from numpy import ndarray
from numpy.random import Generator
from numpy.typing import ArrayLike

from workbench import checks
from workbench.allocation import rules, samples
from workbench.allocation.streams.estimates import StreamEstimate, moments
from workbench.checks import WrongValue
from workbench.data.numbers import first_repeat
from workbench.labeling.draws import KEY_BITS as HASH_BITS
from workbench.labeling.draws import random_keys
from workbench.results import Note

SCHEMA = 1
KEY_BITS = 44
SHIFT = np.uint64(HASH_BITS - KEY_BITS)
NOTHING_REJECTED = 2**KEY_BITS
MOST_STRATA = 2 ** (64 - KEY_BITS) - 1
FEW = 2**12
SHOWN = 3
SETTINGS = ("budget", "minimum", "seed", "_quota")
SMALL = 0.9
# state of each stratum: type of number, and value before its first record
STATE = {
    "_size": (np.int64, 0),
    "_mean": (np.float64, 0),
    "_squares": (np.float64, 0),
    "_threshold": (np.uint64, NOTHING_REJECTED),
}


class StreamSampler:
    """A stratified sample of a stream that is kept while records arrive.

    The sampler keeps at most `budget` records. The strata, their sizes and their standard
    deviations need not be known beforehand. After each minibatch it drops records so that the
    variance of the estimated mean grows least. `estimate` returns the mean at any time.

    Parameters
    ----------
    budget : int
        Records to keep, at least `minimum` for every stratum that will appear.
    minimum : int, default 2
        Floor: records that every stratum keeps at least, 1 or more. With 1 the sample cannot
        estimate its own variance. Choose a larger floor if rare values make a stratum vary: its
        standard deviation is 0 until the first of them appears.
    rng : int or numpy.random.Generator, default 0
        Seed or generator of the random keys. Samplers to be merged need different ones.
    seed : int, optional
        Seed of keys that are hashes of the records' identifiers, as in `sample`, instead of random
        keys. Then the sample does not depend on how records are divided into minibatches and
        samplers, except through its sizes. Samplers to be merged need the same seed.

    See Also
    --------
    sample_stream : Sample batches of records within strata, and estimate the mean.
    stream_batches : Return a function that lets a sampler take each batch once.
    reduce_sample : Reduce a stratified sample so that the variance grows least.

    Notes
    -----
    **Method.** Every record gets a uniform random key. The sample of a stratum has the records
    whose keys are below the threshold of the stratum. This threshold is the smallest key that was
    ever rejected. After each minibatch, `reduce_sample` cuts the sample to the budget, given the
    sizes and standard deviations seen so far. This is S-VOILA [1]_ with two corrections. The cut is
    exact in whole numbers, and there is a floor. Without a floor, the first record of a new stratum
    is dropped at once.

    **Properties.** The weighted mean of the sample is exactly unbiased. The sample of a stratum is
    nearly uniform. Given its size, late records are slightly more likely to be in it, because the
    size can only grow by accepting late records. So the variance formula for given sizes is an
    approximation. A stratum that was cut cannot get earlier records back. If its standard deviation
    jumps, the sample lags behind the optimum, which is `allocation`.

    **Partitions.** Use one sampler per partition of the data, and join them with `merge`. If the
    samplers disagree about which stratum varies, the merged sample is small. `second_pass` then
    samples again with the optimal sizes.

    **Cost.** For a minibatch of b records and H strata, the time is O(b + H) plus that of a cut.
    Memory is O(budget + H + b).

    References
    ----------
    .. [1] Nguyen et al., Stratified random sampling from streaming and stored data, EDBT 2019,
       section 5.

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

    _size: ndarray
    _mean: ndarray
    _squares: ndarray
    _threshold: ndarray

    def __init__(
        self,
        budget: int,
        *,
        minimum: int = 2,
        rng: int | Generator = 0,
        seed: int | None = None,
    ) -> None:
        self.budget = checks.whole("budget", budget, 1)
        self.minimum = checks.whole("minimum", minimum, 1)
        self.seed = None if seed is None else checks.seed("seed", seed)
        start = checks.generator(rng).integers(0, 2**63, 2).tolist()
        self._bits = np.random.PCG64(start)
        self._sources = {tuple(start)} if seed is None else set()
        self._quota: dict | None = None
        self._seen = 0
        self._item_kind: str | None = None
        self._index: dict[int | str, int] = {}
        for name, (kind, _) in STATE.items():
            setattr(self, name, np.empty(0, kind))
        # records in the order they came, and their packed keys in a few sorted arrays; those
        # above the thresholds are dropped later, all at once
        no_keys = np.empty(0, np.uint64)
        self._bag = [(no_keys, np.empty(0), np.empty(0, int))]
        self._runs = [no_keys]

    @classmethod
    def with_sizes(
        cls,
        sizes: Mapping,
        *,
        rng: int | Generator = 0,
    ) -> "StreamSampler":
        """Return a sampler with a fixed number of records per stratum.

        A stratum with fewer records keeps all of them.

        Parameters
        ----------
        sizes : dict of str or int to int
            Records to keep, at least 1 for every stratum that will appear.
        rng : int or numpy.random.Generator, default 0
            Seed or generator of the random keys.

        Returns
        -------
        StreamSampler
            Empty sampler.

        Examples
        --------
        >>> StreamSampler.with_sizes({"a": 1, "b": 2}).update(list("aabbbb"), range(6)).sizes()
        {'a': 1, 'b': 2}
        """
        quota = {}
        for label, size in dict(sizes).items():
            quota[label] = checks.whole(f"sizes[{label!r}]", size, 1)
        if not quota:
            raise WrongValue("sizes", "must name at least one stratum")
        sampler = cls(sum(quota.values()), minimum=1, rng=rng)
        sampler._quota = quota
        return sampler

    def second_pass(self, *, rng: int | Generator = 1) -> "StreamSampler":
        """Return an empty sampler for a second pass over the data, with the optimal sizes.

        The sizes are those of `allocation`. The sample of each stratum is a simple random sample,
        so the variance formula is exact. The data must be read twice.

        If the data are in partitions, merge the samplers of the first pass. Make one second-pass
        sampler per partition from the merged one, each with its own `rng`, and merge these.

        Parameters
        ----------
        rng : int or numpy.random.Generator, default 1
            Seed or generator of the random keys.

        Returns
        -------
        StreamSampler
            Empty sampler with fixed sizes.

        Examples
        --------
        >>> parts = [(list("aabb"), [1, 9, 4, 4]), (list("bbab"), [5, 5, 5, 4])]
        >>> first, other = (
        ...     StreamSampler(4, rng=seed).update(*part) for seed, part in enumerate(parts))
        >>> first.merge(other).allocation().labeled.tolist()
        [2, 2]
        >>> second, other = (
        ...     first.second_pass(rng=9 + seed).update(*part) for seed, part in enumerate(parts))
        >>> second.merge(other).sizes()
        {'a': 2, 'b': 2}
        """
        self._check_not_empty()
        # in the order of the labels and with rounded sds: the same whatever the partitions were
        labels = sorted(self._index, key=lambda label: (isinstance(label, str), label))
        order = [self._index[label] for label in labels]
        sd = [float(f"{spread:.12g}") for spread in self._sd()[order]]
        best = rules.allocate(self._size[order], self.budget, stratum_sd=sd, minimum=self.minimum)
        quota = dict(zip(labels, best.labeled.tolist(), strict=True))
        second = self.with_sizes(quota, rng=rng)
        if self.seed is not None:
            second.seed = self.seed
            second._sources = set()
        return second

    def update(
        self,
        strata: ArrayLike,
        values: ArrayLike,
        keys: ArrayLike | None = None,
    ) -> "StreamSampler":
        """Take a minibatch of any size, or a single record, and return this sampler.

        Parameters
        ----------
        strata : (b,) array_like of int or str, or a single one
            Stratum of each record.
        values : (b,) array_like of float, or a single float
            Value of each record, finite.
        keys : (b,) array_like of int or str, or a single one, optional
            Identifiers of the records, in every minibatch or in none. `rows` returns them, so that
            you can find the records again. They influence the sample only if there is a `seed`.
            Without identifiers, records are numbered from 0 in the order of arrival.

        Returns
        -------
        StreamSampler
            This sampler.

        Raises
        ------
        ValueError
            If a stratum or value is missing, lengths differ, keys repeat within the minibatch, or
            the budget is too small for the strata. The sampler is then unchanged.
        """
        strata = _column("strata", strata)
        values = np.atleast_1d(checks.plain_array("values", values, "row"))
        if strata.size == 0 and values.size == 0:
            return self
        values = checks.vector("values", values, what="row", copy=False)
        _check_length("strata", strata, values.size)
        items = hashes = None
        if keys is not None:
            items = _identifiers(_column("keys", keys), values.size)
            if self.seed is not None:
                long_hashes = random_keys(items.tolist(), self.seed)
                hashes = long_hashes.view(np.uint64) >> SHIFT
        elif self.seed is not None:
            raise WrongValue(
                "keys", "must be given if the sampler has a seed: their hashes choose the sample"
            )
        with self._as_before_if_refused():
            self._check_kind(items)
            codes = self._codes(strata)
            self._check_budget(codes)
        self._add_statistics(slice(None), *moments(codes, values, self._size.size))
        if hashes is None:
            hashes = self._bits.random_raw(codes.size) >> np.uint64(64 - KEY_BITS)
        rows = np.flatnonzero(hashes < self._threshold[codes])
        chosen = rows + self._seen if items is None else items[rows]
        packed = pack(codes[rows], hashes[rows])
        self._accept(packed, values[rows], chosen)
        self._seen += codes.size
        return self

    def add(
        self,
        summary: Mapping[str, ndarray],
        below: Callable[[ndarray], dict],
    ) -> "StreamSampler":
        """Take a minibatch that stays where it is stored, and return this sampler.

        The sampler needs a seed. `sample_stream` uses this method.

        Parameters
        ----------
        summary : dict of (H,) array
            Strata of the minibatch, each once, with their size, mean and sd.
        below : callable
            Function from a bound on the keys of each stratum, (H,), to the rows below it. These are
            a dict of arrays: "place" (index of the stratum), "key" of 60 bits, "id", and the value
            as "column 0".

        Returns
        -------
        StreamSampler
            This sampler.
        """
        size = summary["size"]
        with self._as_before_if_refused():
            codes = self._registered(summary["stratum"].tolist())
            self._check_budget(codes, size)
            threshold = (self._threshold[codes] << SHIFT).view(int)
            n = np.minimum(self._most()[codes], size) + 1
            rows = samples.smallest_keys(below, n, size, threshold)
            items = _identifiers(rows["id"], rows["id"].size)
            if items.size:
                self._check_kind(items)
        squares = summary["sd"] ** 2 * (size - 1)
        self._add_statistics(codes, size, summary["mean"], squares)
        keys = rows["key"].astype(np.uint64) >> SHIFT
        packed = pack(codes[rows["place"]], keys)
        self._accept(packed, rows["column 0"].astype(float), items)
        self._seen += int(size.sum())
        return self

    def merge(self, other: "StreamSampler") -> "StreamSampler":
        """Merge the sample of another part of the stream into this one, and return this sampler.

        The thresholds become the smaller ones of both samplers. The records below them are cut to
        the budget. Records without identifiers are numbered as if `other` came after this sampler.

        If the two parts disagree about which stratum varies, few records are below both thresholds.
        A note of `estimate` says so, and `second_pass` samples again.

        Parameters
        ----------
        other : StreamSampler
            Sampler with the same budget and minimum, and with another `rng` or the same `seed`. It
            is not changed.

        Returns
        -------
        StreamSampler
            This sampler.
        """
        checks.instance("other", other, StreamSampler)
        if rule := self._obstacle(other):
            raise WrongValue("other", rule)
        with self._as_before_if_refused():
            codes = self._registered(other._index)
            self._check_budget(codes, other._size)
        self._add_statistics(codes, other._size, other._mean, other._squares)
        self._threshold[codes] = np.minimum(self._threshold[codes], other._threshold)
        packed, values, items = other._sample()
        if other._item_kind == "position":
            items = items + self._seen
        packed = pack(codes[stratum_of(packed)], key_of(packed))
        self._bag.append((packed, values, items))
        self._item_kind = self._item_kind or other._item_kind
        self._seen += other._seen
        self._sources |= other._sources
        self._compact()
        self._shrink()
        return self

    @property
    def seen(self) -> int:
        """Return the number of records so far."""
        return self._seen

    def is_like(self, other: "StreamSampler") -> bool:
        """Return whether another sampler has the same budget, minimum and seed.

        Parameters
        ----------
        other : StreamSampler
            Sampler to compare with.

        Returns
        -------
        bool
            True if the settings are the same.
        """
        return all(getattr(self, name) == getattr(other, name) for name in SETTINGS)

    def sizes(self) -> dict:
        """Return the number of sampled records per stratum, in order of appearance."""
        return dict(zip(self._index, self._live().tolist(), strict=True))

    def rows(self) -> list[dict]:
        """Return one row per sampled record: stratum, item, value and weight.

        The weight is the number of records that the sampled record stands for.
        """
        packed, values, items = self._sample()
        labels = list(self._index)
        codes = stratum_of(packed)
        weight = self._size / np.maximum(self._live(), 1)
        return samples.rows_of(
            stratum=[labels[code] for code in codes],
            item=items,
            value=values,
            weight=weight[codes],
        )

    def allocation(self) -> rules.Allocation:
        """Return the optimal allocation for all records so far, in order of appearance."""
        self._check_not_empty()
        return rules.allocate(self._size, self.budget, stratum_sd=self._sd(), minimum=self.minimum)

    def estimate(self) -> StreamEstimate:
        """Return the mean of the stream, estimated from the sample.

        Returns
        -------
        StreamEstimate
            Unbiased estimate with its variance and intervals. Its notes name strata whose variance
            is unknown or too small, and say if merged samplers left much of the budget unused.

        Notes
        -----
        The variance is that of a stratified random sample of these sizes [1]_, which is
        approximately correct (see `StreamSampler`). It is NaN if a stratum has one sampled record
        of several. It is too small if all sampled values of a stratum are equal although its
        records vary.

        References
        ----------
        .. [1] Cochran, Sampling techniques, 3rd ed., 1977, theorem 5.3.
        """
        self._check_not_empty()
        packed, values, items = self._sample()
        if self.seed is not None:
            _identifiers(items, items.size)
        size = self._size
        total = int(size.sum())
        sampled, mean, squares = moments(stratum_of(packed), values, size.size)
        with np.errstate(invalid="ignore", divide="ignore"):
            sd = np.sqrt(squares / (sampled - 1))
            sd[size == 1] = 0.0
            terms = size * (size - sampled) * sd**2 / sampled
        terms[sampled == size] = 0.0
        notes = tuple(self._notes(sampled, sd))
        estimate = size @ mean / total
        variance = terms.sum() / total**2
        stream_mean = size @ self._mean / total
        design_variance = rules.allocation_variance(size, self._sd(), sampled)
        return StreamEstimate(
            estimate,
            variance,
            tuple(self._index),
            size,
            sampled,
            mean,
            sd,
            values,
            items=items,
            stream_mean=stream_mean,
            design_variance=design_variance,
            notes=notes,
        )

    def to_dict(self) -> dict:
        """Return a dict of plain JSON values, from which `from_dict` continues without loss."""
        data: dict = {"kind": "StreamSampler", "schema": SCHEMA}
        for name in ("budget", "minimum", "seed"):
            data[name] = getattr(self, name)
        data["quota"] = self._quota and list(map(list, self._quota.items()))
        data["sources"] = sorted(map(list, self._sources))
        data["generator"] = self._bits.state
        data["seen"] = self._seen
        data["item_kind"] = self._item_kind
        data["labels"] = list(self._index)
        for name in STATE:
            data[name.strip("_")] = getattr(self, name).tolist()
        packed, values, items = self._sample()
        data["packed"] = packed.tolist()
        data["values"] = values.tolist()
        data["items"] = items.tolist()
        return data

    @classmethod
    def from_dict(cls, data: dict) -> "StreamSampler":
        """Restore a sampler from a dict, without loss.

        Parameters
        ----------
        data : dict
            Dict that `to_dict` returned.

        Returns
        -------
        StreamSampler
            Sampler with the same state.
        """
        if data.get("kind") != "StreamSampler" or data.get("schema") != SCHEMA:
            rule = f"must be a StreamSampler of schema {SCHEMA} written by to_dict"
            raise WrongValue("data", rule)
        sampler = cls(data["budget"], minimum=data["minimum"], seed=data.get("seed"))
        sampler._quota = data["quota"] and dict(data["quota"])
        sampler._sources = set(map(tuple, data["sources"]))
        sampler._bits.state = data["generator"]
        sampler._seen = data["seen"]
        sampler._item_kind = data["item_kind"]
        sampler._registered(data["labels"])
        for name, (kind, _) in STATE.items():
            setattr(sampler, name, np.array(data[name.strip("_")], kind))
        id_type = str if data["item_kind"] == "text" else int
        items = np.array(data["items"], id_type)
        packed = np.array(data["packed"], np.uint64)
        values = np.array(data["values"], float)
        sampler._bag.append((packed, values, items))
        sampler._compact()
        return sampler

    def __repr__(self) -> str:
        records = checks.counted(self._seen, "record")
        strata = checks.counted(len(self._index), "stratum", "strata")
        sampled = f"{self._live().sum():,} of {records}, {strata}"
        return f"StreamSampler({sampled}; budget {self.budget:,})"

    # arguments

    @contextlib.contextmanager
    def _as_before_if_refused(self) -> Iterator[None]:
        """Forget new strata if a minibatch is refused. Nothing is changed in place before that."""
        before = vars(self).copy()
        try:
            yield
        except Exception:
            vars(self).update(before)
            raise

    def _check_kind(self, items: ndarray | None) -> None:
        if items is None:
            kind = "position"
        else:
            kind = "text" if items.dtype.kind == "U" else "number"
        if self._item_kind not in (None, kind):
            raise WrongValue(
                "keys",
                "must be of one kind in every minibatch, number, text or position (none "
                f"given); got {kind} after {self._item_kind}",
            )
        self._item_kind = kind

    def _codes(self, strata: ndarray) -> ndarray:
        """Return the number of the stratum of each record; new strata get the next numbers."""
        if strata.dtype.kind in "iu" and strata.dtype != np.uint64 and strata.ndim == 1:
            if int(strata.max()) - int(strata.min()) < FEW + strata.size:
                return self._looked_up(strata.astype(int))
        labels = _labels("strata", strata)
        self._registered(dict.fromkeys(labels))
        codes = map(self._index.__getitem__, labels)
        return np.fromiter(codes, int, len(labels))

    def _looked_up(self, strata: ndarray) -> ndarray:
        """Return `_codes` for whole numbers that are close to each other, from a table."""
        low = int(strata.min())
        offsets = strata - low
        present = np.flatnonzero(np.bincount(offsets))
        if any(label not in self._index for label in (present + low).tolist()):
            first = np.empty(present[-1] + 1, int)
            falling = np.arange(offsets.size)[::-1]
            first[offsets[falling]] = falling
            present = present[np.argsort(first[present])]
        table = np.empty(present.max() + 1, int)
        table[present] = self._registered((present + low).tolist())
        return table[offsets]

    def _registered(self, labels: Iterable) -> ndarray:
        """Return the numbers of strata, each given once; new strata get the next numbers."""
        new = [label for label in labels if label not in self._index]
        if new:
            if self._quota is not None and not self._quota.keys() >= set(new):
                strange = next(label for label in new if label not in self._quota)
                raise WrongValue("strata", f"must be among the given sizes; {strange!r} is not")
            codes = {label: code for code, label in enumerate(new, len(self._index))}
            self._index = self._index | codes
            for name, (kind, start) in STATE.items():
                more = np.full(len(new), start, kind)
                setattr(self, name, np.append(getattr(self, name), more))
        return np.array([self._index[label] for label in labels], int)

    def _most(self) -> ndarray:
        """Return the largest number of records that each stratum can keep."""
        if self._quota is None:
            return np.full(len(self._index), self.budget)
        return np.array([self._quota[label] for label in self._index], int)

    def _check_budget(
        self,
        codes: ndarray,
        times: ndarray | None = None,
    ) -> None:
        """Raise an error if more records need a larger budget; `times` counts them per code."""
        strata = len(self._index)
        if self._quota is None and strata * self.minimum > self.budget:
            size = self._size + np.bincount(codes, times, strata)
            least = int(np.minimum(size, self.minimum).sum())
            rules.refuse_less(self.budget, least, self.minimum, strata)
        if strata > MOST_STRATA:
            raise WrongValue("strata", f"must be at most {MOST_STRATA:,}; got {strata:,}")

    def _obstacle(self, other: "StreamSampler") -> str:
        """Return the rule that another sampler breaks so that it cannot be merged, or ""."""
        for name in SETTINGS:
            mine = getattr(self, name)
            theirs = getattr(other, name)
            if mine != theirs:
                setting = name.replace("_quota", "sizes")
                return f"must have the same {setting}; got {theirs} and {mine}"
        if self._sources & other._sources:
            return (
                "must have been started from another rng, because samples with shared keys are "
                "not independent (is it a copy, or merged already?)"
            )
        if self.seed is not None and np.isin(self._sample()[2], other._sample()[2]).any():
            return "must have other records; some are in both (is it a copy, or merged already?)"
        if len({other._item_kind, self._item_kind, None}) == 3:
            return f"must have keys of the same kind; got {other._item_kind} and {self._item_kind}"
        return ""

    def _check_not_empty(self) -> None:
        if not self._seen:
            raise ValueError("the stream must have at least one record; update the sampler first")

    # statistics

    def _add_statistics(
        self,
        codes: ndarray | slice,
        size: ndarray,
        mean: ndarray,
        squares: ndarray,
    ) -> None:
        """Add counts, means and sums of squared deviations (Chan, Golub & LeVeque)."""
        before = self._size[codes]
        total = np.maximum(before + size, 1)
        difference = mean - self._mean[codes]
        self._mean[codes] += difference * size / total
        weight = before / total * size
        self._squares[codes] += squares + difference**2 * weight
        self._size[codes] += size

    def _sd(self) -> ndarray:
        return np.sqrt(self._squares / np.maximum(self._size - 1, 1))

    # the sample

    def _spans(self) -> tuple[ndarray, ndarray]:
        """Return the start and end of the sampled keys of each stratum in every sorted array."""
        first = pack(np.arange(len(self._index)), np.uint64(0))
        limits = first + self._threshold
        starts = np.array([np.searchsorted(run, first) for run in self._runs])
        ends = np.array([np.searchsorted(run, limits) for run in self._runs])
        return starts, ends

    def _live(self) -> ndarray:
        """Return the number of sampled records of each stratum."""
        starts, ends = self._spans()
        return (ends - starts).sum(axis=0)

    def _accept(
        self,
        packed: ndarray,
        values: ndarray,
        items: ndarray,
    ) -> None:
        """Take records below the thresholds, and cut the sample to the budget."""
        if not packed.size:
            return
        self._bag.append((packed, values, items))
        merged = np.sort(packed)
        while self._runs and self._runs[-1].size < max(FEW, 4 * merged.size):
            merged = np.concatenate([self._runs.pop(), merged])
            merged.sort(kind="stable")
        self._runs.append(merged)
        self._shrink()
        if sum(run.size for run in self._runs) > 3 * self.budget + FEW:
            self._compact()

    def _shrink(self) -> None:
        """Lower the thresholds until the sample fits the budget."""
        starts, ends = self._spans()
        live = (ends - starts).sum(axis=0)
        excess = live - self._target(live)
        if not excess.any():
            return
        tops = np.minimum(excess, ends - starts)
        of_runs = zip(self._runs, ends - tops, tops, strict=True)
        highest = [run[_ranges(start, top)] for run, start, top in of_runs]
        keys = np.sort(np.concatenate(highest))
        first_cut = np.cumsum(tops.sum(axis=0)) - excess
        cut = np.flatnonzero(excess)
        self._threshold[cut] = key_of(keys[first_cut[cut]])

    def _target(self, live: ndarray) -> ndarray:
        """Return the number of sampled records of each stratum to keep."""
        if self._quota is not None:
            return np.minimum(live, self._most())
        if live.sum() <= self.budget:
            return live
        floor = np.minimum(live, self.minimum)
        return rules.reduced(self._size, self._sd(), live, self.budget, floor)

    def _compact(self) -> None:
        """Drop the records above the thresholds."""
        self._bag = [self._sample()]
        self._runs = [self._bag[0][0]]

    def _sample(self) -> tuple:
        """Return packed keys, values and items of the sample, by stratum and key."""
        bag = [part for part in self._bag if part[0].size] or self._bag
        packed, values, items = (np.concatenate(parts) for parts in zip(*bag, strict=True))
        threshold = self._threshold[stratum_of(packed)]
        live = np.flatnonzero(key_of(packed) < threshold)
        order = live[np.argsort(packed[live], kind="stable")]
        return packed[order], values[order], items[order]

    def _notes(self, sampled: ndarray, sd: ndarray) -> Iterator[Note]:
        single = (sampled == 1) & (self._size > 1)
        if single.any():
            yield Note(
                "undefined",
                "the variance cannot be estimated: there is one sampled record of several in "
                f"{self._named(single)}. Choose minimum=2 or more",
            )
        incomplete = (sampled > 1) & (sampled < self._size)
        alike = incomplete & (sd == 0) & (self._squares > 0)
        if alike.any():
            yield Note(
                "unreliable",
                "the estimated variance is too small: all sampled values are equal, although the "
                f"records vary, in {self._named(alike)}",
            )
        n = sampled.sum()
        most = np.minimum(self._size, self._most())
        within = min(self.budget, most.sum())
        if n < SMALL * within:
            yield Note(
                "design",
                f"only {n:,} of {checks.counted(within, 'record')} within the budget are kept, "
                "because the merged samplers disagreed about which stratum varies. Sample again "
                "with second_pass",
            )

    def _named(self, chosen: ndarray) -> str:
        labels = np.array(list(self._index), object)[chosen]
        strata = "stratum" if len(labels) == 1 else "strata"
        return f"{strata} {checks.listed(labels, SHOWN, quoted=True)}"


def pack(codes: ndarray, keys: ndarray | np.uint64) -> ndarray:
    """Return numbers that hold stratum and key, and sort by stratum and then by key."""
    return (codes.view(np.uint64) << np.uint64(KEY_BITS)) | keys


def stratum_of(packed: ndarray) -> ndarray:
    """Return the strata of packed numbers."""
    return (packed >> np.uint64(KEY_BITS)).view(int)


def key_of(packed: ndarray) -> ndarray:
    """Return the keys of packed numbers."""
    return packed & np.uint64(NOTHING_REJECTED - 1)


def _ranges(start: ndarray, length: ndarray) -> ndarray:
    """Return length[0] numbers from start[0] on, then length[1] numbers from start[1] on, ..."""
    shift = start - np.cumsum(length) + length
    return np.arange(length.sum()) + np.repeat(shift, length)


def _column(name: str, entries: ArrayLike) -> ndarray:
    """Return an array in which whole numbers stay numbers and text stays text."""
    checks.refuse_masked(name, entries, "row")
    array = checks.cells(name, entries)
    if array.dtype.kind == "f" and not hasattr(entries, "__array__"):
        array = np.asarray(entries, object)  # whole numbers that are too large for 64 bits
    return np.atleast_1d(array)


def _labels(name: str, cells: ndarray) -> list:
    """Return whole numbers or texts as a list of int and str, or raise an error with the row."""
    checks.labels(name, cells, what="row")
    labels = cells.tolist()
    if cells.dtype.kind in "iuU":
        return labels
    for row, label in enumerate(labels):
        if isinstance(label, bool) or not isinstance(label, (str, numbers.Integral)):
            raise TypeError(f"{name} must be whole numbers or text; row {row} is {label!r}")
    return [label if isinstance(label, str) else int(label) for label in labels]


def _check_length(name: str, entries: ndarray, size: int) -> None:
    if entries.shape != (size,):
        expected = f"{size} {'entry' if size == 1 else 'entries'}"
        raise WrongValue(name, f"must have {expected}, one per value", entries.size)


def _identifiers(keys: ndarray, size: int) -> ndarray:
    """Return identifiers as an array of numbers or of text, or raise an error if one repeats."""
    _check_length("keys", keys, size)
    if keys.dtype.kind != "i" and size:
        labels = _labels("keys", keys)
        texts = sum(isinstance(label, str) for label in labels)
        if 0 < texts < size:
            raise checks.WrongType("keys", "must be all whole numbers or all text")
        try:
            keys = np.array(labels, str if texts else int)
        except OverflowError:
            largest = max(labels, key=abs)
            raise WrongValue("keys", "must lie within 2 ** 63, or be text", largest) from None
    if repeat := first_repeat(keys.tolist()):
        raise WrongValue("keys", f"must not repeat; {keys[repeat[0]].item()!r} does")
    return keys.astype(int) if keys.dtype.kind == "i" else keys
