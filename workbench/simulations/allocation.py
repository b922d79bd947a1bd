"""Simulate sampling from streams: sample sizes and variance over time of S-VOILA and other methods.

Read `simulate_stream` first, then `StreamStudy`. `jump_stream` makes the synthetic stream of the
paper.

References
----------
.. [1] Nguyen, Shih, Srivastava, Tirthapura & Xu, Stratified random sampling from streaming and
   stored data, EDBT 2019, sections 5 and 6.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy import ndarray
from numpy.random import Generator
from numpy.typing import ArrayLike

from workbench import checks
from workbench.allocation import rules
from workbench.results import Result, rows_of

STREAMED = ("s_voila", "s_voila_printed")
FRACTIONAL = ("neyman", "neyman_plus")
STREAM_METHODS = ("voila", *STREAMED, *FRACTIONAL, "uniform", "reservoir")
ORDERS = ("given", "random")


class StreamStudy(Result):
    """The sample of each method at each checkpoint of a stream; made by `simulate_stream`.

    Arrays have R runs, C checkpoints and H strata.

    Attributes
    ----------
    methods : tuple of str
        The methods.
    checkpoint : (C,) array of int
        Number of records seen at each checkpoint.
    stratum : tuple
        Labels of the strata, sorted.
    budget : int
        Size of the sample.
    batch : int
        Number of records per minibatch.
    minimum : int
        Smallest sample size of a stratum.
    runs : int
        Number of runs.
    stratum_size : (R, C, H) array of int
        Records seen per stratum.
    stratum_sd : (R, C, H) array of float
        Standard deviation of these records per stratum.
    sampled : dict of str to (R, C, H) array of float
        Sample sizes by method. Those of the reservoir are expected sizes.
    variance : dict of str to (R, C) array of float
        Variance of the estimated mean of the records seen, given the sample sizes. It is infinite
        if a stratum with different values has no record in the sample.
    error : dict of str to (R, C) array of float
        Estimate minus true mean of the records seen, for the streamed methods. NaN if a stratum has
        no record in the sample.
    fractional_optimum : (R, C) array of float or None
        Variance of VOILA with fractional sample sizes, to compare "neyman" and "neyman_plus" with.
        None without these methods.

    See Also
    --------
    simulate_stream : Run this simulation.
    StreamSampler : Sample from a stream by S-VOILA.
    """

    methods: tuple
    checkpoint: ndarray
    stratum: tuple
    budget: int
    batch: int
    minimum: int
    runs: int
    stratum_size: ndarray
    stratum_sd: ndarray
    sampled: dict
    variance: dict
    error: dict
    fractional_optimum: ndarray | None = None

    def ratio(self, method: str) -> ndarray:
        """Return the ratio of the method's variance to that of VOILA per checkpoint, (C,).

        It is the mean over the runs in which both variances are finite. VOILA has whole sample
        sizes; it has fractional ones to compare "neyman" and "neyman_plus". The ratio is 1 if both
        variances are 0. It is infinite if only that of VOILA is 0, or no run has a finite ratio.

        Parameters
        ----------
        method : str
            A method that was run.

        Returns
        -------
        (C,) ndarray of float
            One ratio per checkpoint.
        """
        return np.ma.masked_invalid(self._ratios(method)).mean(0).filled(np.inf)

    def ratio_error(self, method: str) -> ndarray:
        """Return the Monte Carlo standard error of `ratio`, (C,).

        Parameters
        ----------
        method : str
            A method that was run.

        Returns
        -------
        (C,) ndarray of float
            One error per checkpoint, NaN for fewer than two finite runs.
        """
        ratio = np.ma.masked_invalid(self._ratios(method))
        return (ratio.std(0, ddof=1) / np.sqrt(ratio.count(0))).filled(np.nan)

    def infinite(self, method: str) -> ndarray:
        """Return the proportion of runs with an infinite variance, (C,).

        Parameters
        ----------
        method : str
            A method that was run.

        Returns
        -------
        (C,) ndarray of float
            One proportion per checkpoint.
        """
        return np.isinf(self.variance[self._run(method)]).mean(0)

    def rmse(self, method: str) -> ndarray:
        """Return the root mean squared error of a method's estimate, (C,).

        For a streamed method it is taken over the runs with an estimate. For other methods it is
        the root of the mean variance, which is the error of an unbiased estimate.

        Parameters
        ----------
        method : str
            A method that was run.

        Returns
        -------
        (C,) ndarray of float
            One error per checkpoint.
        """
        if self._run(method) not in self.error:
            return np.sqrt(self.variance[method].mean(0))
        return np.sqrt((np.ma.masked_invalid(self.error[method]) ** 2).mean(0).filled(np.nan))

    def headline(self) -> str:
        """Return the variance ratios at the last checkpoint in one sentence."""
        ratios = []
        for method in self.methods[1:]:  # the first is "voila"
            infinite = self.infinite(method)[-1]
            text = f"{self.ratio(method)[-1]:.3g}" if infinite < 1 else "infinite"
            if 0 < infinite < 1:
                text += f" (infinite in {100 * infinite:.0f}%)"
            ratios.append(f"{method} {text}")
        records = checks.counted(self.checkpoint[-1], "record")
        strata = checks.counted(len(self.stratum), "stratum", "strata")
        return (
            f"{records}, {strata}, {self.budget:,} sampled, {checks.counted(self.runs, 'run')}; "
            f"variance relative to VOILA: {', '.join(ratios)}"
        )

    def rows(self) -> list[dict]:
        """Return one row per checkpoint and method: variance ratio, its error, infinite runs."""
        table = []
        for method in self.methods:
            of_method = rows_of(
                records=self.checkpoint,
                method=[method] * self.checkpoint.size,
                ratio=self.ratio(method),
                ratio_error=self.ratio_error(method),
                infinite=self.infinite(method),
            )
            table += of_method
        return table

    def allocation_rows(self) -> list[dict]:
        """Return one row per checkpoint, method and stratum: mean sample size and records."""
        size = self.stratum_size.mean(0)
        table = []
        for method in self.methods:
            sampled = self.sampled[method].mean(0)
            for c, h in np.ndindex(size.shape):
                row = {
                    "records": int(self.checkpoint[c]),
                    "method": method,
                    "stratum": self.stratum[h],
                    "sampled": float(sampled[c, h]),
                    "size": float(size[c, h]),
                }
                table.append(row)
        return table

    def _run(self, method: str) -> str:
        return checks.choice("method", method, self.methods)

    def _ratios(self, method: str) -> ndarray:
        variance = self.variance[self._run(method)]
        best: Any = self.fractional_optimum if method in FRACTIONAL else self.variance["voila"]
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(np.isclose(variance, best, 1e-12, 0), 1.0, variance / best)


def jump_stream(
    records: int = 50_000,
    *,
    strata: int = 20,
    jumping: int = 11,
    jump_at: int = 10_000,
    sd: float = 20.0,
    runs: int = 5,
    rng: int | Generator = 0,
) -> tuple[ndarray, ndarray]:
    """Simulate a synthetic stream in which one stratum suddenly varies more.

    All strata are equally frequent and have the mean 1. All standard deviations are 1 before the
    jump. Use the stream to see how fast a sampler adapts.

    Parameters
    ----------
    records : int, default 50_000
        Number of records, at least 1.
    strata : int, default 20
        Number of strata, at least 1.
    jumping : int, default 11
        Stratum from 0 to strata - 1 whose standard deviation jumps. The default is stratum 12 of
        Nguyen et al., EDBT 2019.
    jump_at : int, default 10_000
        Number of records before the jump.
    sd : float, default 20.0
        Standard deviation of this stratum after the jump.
    runs : int, default 5
        Number of streams.
    rng : int or numpy.random.Generator, default 0
        Seed or generator.

    Returns
    -------
    stratum : (runs, records) array of int
        Stratum of each record.
    values : (runs, records) array of float
        Value of each record.

    See Also
    --------
    simulate_stream : Sample from streams by several methods.
    air_quality_stream : Simulate a stream like a year of air quality data.

    Examples
    --------
    >>> stratum, values = jump_stream(1000, jump_at=500, runs=2)
    >>> stratum.shape, bool(values[:, 500:].std() > 3 * values[:, :500].std())
    ((2, 1000), True)
    """
    rng = checks.generator(rng)
    shape = checks.whole("runs", runs, 1), checks.whole("records", records, 1)
    strata = checks.whole("strata", strata, 1)
    sd = checks.number("sd", sd, 0, 1e100)
    jumping = checks.whole("jumping", jumping, 0, strata - 1)
    stratum = rng.integers(0, strata, shape)
    after = np.arange(records) >= checks.whole("jump_at", jump_at, 0)
    scale = np.where((stratum == jumping) & after, sd, 1.0)
    return stratum, 1 + rng.standard_normal(shape) * scale


def simulate_stream(
    stratum: ArrayLike,
    values: ArrayLike,
    budget: int,
    *,
    methods: Iterable[str] = STREAM_METHODS,
    order: str = "given",
    last: Iterable = (),
    every: int | None = 200,
    batch: int = 1,
    minimum: int = 2,
    runs: int | None = None,
    rng: int | Generator = 0,
    progress: bool = True,
) -> StreamStudy:
    """Sample from streams by S-VOILA, and compare its sample with those of other methods.

    The result has the sample sizes and the variance of every method at each checkpoint.

    Parameters
    ----------
    stratum : (N,) or (R, N) array_like of int or str
        Stratum of each record. With two dimensions there is one stream per run.
    values : (N,) or (R, N) array_like of float
        Value of each record.
    budget : int
        Size of the sample.
    methods : iterable of str, default all methods
        Names of the methods to compare:

        - "voila": the best whole sample sizes, knowing all records so far; always computed.
        - "s_voila": `StreamSampler`, with at least `minimum` records per stratum.
        - "s_voila_printed": as printed in [1]_. It removes a record of the stratum with the
          smallest N S / s, without a minimum.
        - "neyman", "neyman_plus": fractional sample sizes, knowing all records so far, without a
          minimum.
        - "uniform": equal whole sample sizes of the strata seen so far.
        - "reservoir": one simple random sample, with a mean that is not weighted by stratum.
    order : {"given", "random"}, default "given"
        Order of the records. "random" shuffles them in every run.
    last : iterable, default ()
        Strata whose records come after all others.
    every : int, default 200
        Number of records between checkpoints, a multiple of `batch`. The end of the stream is also
        a checkpoint.
    batch : int, default 1
        Number of records per minibatch. The random keys do not depend on it.
    minimum : int, default 2
        Smallest sample size of a stratum, at least 0.
    runs : int, optional
        Number of runs, by default 5 or the number of streams.
    rng : int or numpy.random.Generator, default 0
        Seed or generator.
    progress : bool, default True
        Whether to show a progress bar if the simulation takes longer than a second.

    Returns
    -------
    StreamStudy
        Sample sizes and variances of every method at each checkpoint.

    See Also
    --------
    StreamSampler : Sample from a stream by S-VOILA.
    jump_stream : Simulate the paper's synthetic stream.
    allocate : Compute the sample sizes of one method from known strata.

    References
    ----------
    .. [1] Nguyen et al., Stratified random sampling from streaming and stored data, EDBT 2019:
       lemma 1 and algorithm 6.

    Examples
    --------
    >>> study = simulate_stream(*jump_stream(3000, jump_at=1000), 200, every=1000, progress=False)
    >>> [round(float(ratio), 2) for ratio in study.ratio("s_voila")]
    [1.0, 2.98, 1.89]
    """
    methods = tuple(dict.fromkeys(("voila", *checks.choices("methods", methods, STREAM_METHODS))))
    labels, codes, values = _streams(stratum, values, runs)
    budget = checks.whole("budget", budget, 1)
    minimum = checks.whole("minimum", minimum, 0)
    rules.refuse_less(budget, minimum * len(labels), minimum, len(labels))
    batch = checks.whole("batch", batch, 1)
    every = checks.whole("every", every, 1)
    if every % batch:
        raise checks.WrongValue("every", f"must be a multiple of batch, {batch}", every)
    rng = checks.generator(rng)
    checks.choice("order", order, ORDERS)
    last = tuple(last)
    for label in last:
        if label not in labels:
            raise checks.WrongValue("last", f"must hold strata of the stream; {label!r} is not one")
    codes, values = _reordered(codes, values, order, [*map(labels.index, last)], rng)
    keys = rng.permuted(np.broadcast_to(np.arange(codes.shape[1]), codes.shape), axis=1)
    stream = _Stream(codes, values, len(labels), keys)
    stops = np.append(np.arange(every, stream.records, every), stream.records)
    size, spread = stream.statistics(stops)
    sampled, variance, errors = {}, {}, {}
    for name in methods:
        if name in STREAMED:
            printed = name == "s_voila_printed"
            sampled[name], errors[name] = _follow(
                stream, stops, budget, batch, printed, minimum, progress
            )
        else:
            integer = name not in FRACTIONAL
            sampled[name] = _hindsight(name, size, spread, budget, integer)
        variance[name] = _variances(size, spread, sampled[name])
    if "reservoir" in methods:
        variance["reservoir"] = _random_variance(values, stops, budget)
    best = None
    if set(FRACTIONAL) & set(methods):
        best = _variances(size, spread, _hindsight("voila", size, spread, budget, False))
    return StreamStudy(
        methods,
        stops,
        labels,
        budget,
        batch,
        minimum,
        len(codes),
        size,
        np.divide(spread, size, out=np.zeros(spread.shape), where=size > 0),
        sampled,
        variance,
        errors,
        best,
    )


def _streams(stratum: Any, values: Any, runs: int | None) -> tuple[tuple, ndarray, ndarray]:
    """Return the labels of the strata, and their codes and the values of each run, (R, N)."""
    checks.refuse_masked("stratum", stratum)
    stratum, values = checks.cells("stratum", stratum), checks.floats("values", values)
    if stratum.shape != values.shape or stratum.ndim not in (1, 2) or not stratum.size:
        raise ValueError(
            f"stratum and values must have the same shape, (N,) or (R, N); got {stratum.shape} and "
            f"{values.shape}"
        )
    if not (np.abs(values) <= checks.LARGEST_SIZE).all():
        rule = f"must be finite, and at most {checks.LARGEST_SIZE:g} in size"
        raise checks.WrongValue("values", rule)
    labels, codes = np.unique(checks.labels("stratum", stratum.ravel()), return_inverse=True)
    codes = codes.reshape(stratum.shape)
    if stratum.ndim == 1:
        runs = 5 if runs is None else checks.whole("runs", runs, 1)
        codes = np.tile(codes, (runs, 1))
        values = np.tile(values, (runs, 1))
    elif runs not in (None, len(codes)):
        raise checks.WrongValue("runs", f"must be the number of streams given, {len(codes)}", runs)
    return tuple(labels.tolist()), codes, values


def _reordered(
    codes: ndarray, values: ndarray, order: str, last: list[int], rng: Generator
) -> tuple[ndarray, ndarray]:
    """Return streams in the given or a random order, with the strata of `last` at the end."""
    if order == "given" and not last:
        return codes, values
    rank = rng.random(codes.shape) if order == "random" else np.linspace(0, 0.5, codes.shape[1])
    ranks = np.argsort(rank + np.isin(codes, last), axis=1, kind="stable")
    return np.take_along_axis(codes, ranks, 1), np.take_along_axis(values, ranks, 1)


class _Stream:
    """R streams with the stratum, value and key of each record, and statistics of its stratum."""

    def __init__(self, codes: ndarray, values: ndarray, strata: int, keys: ndarray) -> None:
        self.values, self.keys, self.strata = values, keys, strata
        self.runs, self.records = codes.shape
        self.cell = codes + strata * np.arange(self.runs)[:, None]
        self.size, self.spread, self.total = statistics = np.zeros((3, *codes.shape))
        for run, strata_of_run in enumerate(codes):
            order = np.argsort(strata_of_run.astype(np.min_scalar_type(strata)), kind="stable")
            ends = np.bincount(strata_of_run, minlength=strata).cumsum()
            for rows in filter(len, np.split(order, ends[:-1])):
                statistics[:, run, rows] = _running(values[run, rows])

    def update(self, latest: ndarray, start: int, end: int) -> None:
        """Update the latest record of each stratum, (R, H), with the records from start to end."""
        records = np.tile(np.arange(start, end), self.runs)
        np.maximum.at(latest.reshape(-1), self.cell[:, start:end].ravel(), records)

    def now(self, column: ndarray, latest: ndarray) -> ndarray:
        """Return a running statistic at the latest records, (R, H); 0 for a stratum without any."""
        first = self.records * np.arange(self.runs)[:, None]
        return np.where(latest >= 0, column.take(first + np.maximum(latest, 0)), 0)

    def statistics(self, stops: ndarray) -> tuple[ndarray, ndarray]:
        """Return records and N S per stratum at the stops, (R, C, H)."""
        size, spread = np.zeros((2, self.runs, stops.size, self.strata))
        latest = np.full((self.runs, self.strata), -1)
        start = 0
        for c, stop in enumerate(stops):
            self.update(latest, start, stop)
            size[:, c] = self.now(self.size, latest)
            spread[:, c] = self.now(self.spread, latest)
            start = stop
        return size.astype(np.int64), spread


def _running(values: ndarray) -> tuple:
    """Return count, N S and sum of a stratum after each of its records."""
    count = np.arange(1.0, values.size + 1)
    center = values.mean()
    centered = values - center
    total, squares = centered.cumsum(), (centered**2).cumsum()
    varied = squares - total**2 / count
    varied = np.where(varied > 1e-12 * squares, varied, 0) / np.maximum(count - 1, 1)
    return count, count * np.sqrt(varied), total + center * count


def _follow(
    stream: _Stream,
    stops: ndarray,
    budget: int,
    batch: int,
    printed: bool,
    minimum: int,
    progress: bool,
) -> tuple[ndarray, ndarray]:
    """Return sample sizes (R, C, H) and errors of the estimate (R, C) of S-VOILA at the stops."""
    from tqdm.auto import tqdm

    samples = _Samples(stream, budget, minimum, printed)
    sampled, errors = [], []
    with tqdm(total=stream.records, desc="records", delay=1, disable=not progress) as bar:
        for stop in stops.tolist():
            samples.receive(stop, batch, bar)
            sampled.append(samples.sampled)
            errors.append(samples.errors())
    return np.stack(sampled, 1).astype(float), np.stack(errors, 1)


class _Samples:
    """The samples of R runs, sorted by run, stratum and key, and reduced after each minibatch."""

    def __init__(self, stream: _Stream, budget: int, minimum: int, printed: bool) -> None:
        self.stream, self.budget, self.printed = stream, budget, printed
        self.minimum = 0 if printed else minimum
        shape = stream.runs, stream.strata
        self.latest = np.full(shape, -1)
        self.sampled = np.zeros(shape, np.int64)
        self.threshold = np.full(shape, stream.records)
        self.cell = np.arange(stream.runs * stream.strata).reshape(shape)
        self.row = np.argsort(stream.keys, axis=1)
        self.codes, self.seen = np.zeros(0, np.int64), 0

    def receive(self, stop: int, batch: int, bar: Any) -> None:
        """Take the records up to stop, and reduce the samples to the budget after a minibatch."""
        stream, ahead = self.stream, batch
        while self.seen < stop:
            start, end = self.seen, min(self.seen + ahead, stop)
            chosen = stream.keys[:, start:end] < self.threshold.take(stream.cell[:, start:end])
            ahead *= 2
            if chosen.any():
                chosen = chosen[:, : (chosen.any(0).argmax() // batch + 1) * batch]
                ahead = batch
            self.seen += chosen.shape[1]
            stream.update(self.latest, start, self.seen)
            if chosen.any():
                cell = stream.cell[:, start : self.seen][chosen]
                key = stream.keys[:, start : self.seen][chosen]
                counts = np.bincount(cell, minlength=self.cell.size)
                self.sampled = self.sampled + counts.reshape(self.cell.shape)
                codes = np.concatenate([self.codes, cell * stream.records + key])
                self.codes = np.sort(codes, kind="stable")
                self.cut(self.within_budget())
            bar.update(self.seen - start)

    def within_budget(self) -> ndarray:
        """Return the sample sizes (R, H) within the budget.

        Records are removed one by one from the stratum where that costs least.
        """
        size = self.stream.now(self.stream.size, self.latest)
        spread = self.stream.now(self.stream.spread, self.latest)
        sampled = self.sampled.copy()
        floor = np.minimum(self.minimum, size)
        while (over := (sampled.sum(1) > self.budget).nonzero()[0]).size:
            s, total = sampled[over], spread[over]
            with np.errstate(divide="ignore", invalid="ignore"):
                if self.printed:
                    cost = total / s
                else:
                    cost = np.where((s == 1) & (total == 0), 0, total**2 / (s * (s - 1)))
            sampled[over, np.where(s > floor[over], cost, np.inf).argmin(1)] -= 1
        return sampled

    def cut(self, sampled: ndarray) -> None:
        """Keep the smallest keys, and lower the thresholds to the smallest key removed."""
        before = self.sampled.ravel()
        first = before.cumsum() - before
        start = first.reshape(self.cell.shape)
        cut = sampled < self.sampled
        offset = self.cell[cut] * self.stream.records
        self.threshold[cut] = self.codes[(start + sampled)[cut]] - offset
        rank = np.arange(self.codes.size) - np.repeat(first, before)
        self.codes = self.codes[rank < np.repeat(sampled, before)]
        self.sampled = sampled

    def errors(self) -> ndarray:
        """Return estimate minus mean of all records so far, (R,).

        It is NaN if a stratum has no record in the sample.
        """
        stream = self.stream
        size, total = (stream.now(column, self.latest) for column in (stream.size, stream.total))
        cell, key = np.divmod(self.codes, stream.records)
        run = cell // stream.strata
        values = stream.values[run, self.row[run, key]]
        sums = np.bincount(cell, values, self.cell.size).reshape(size.shape)
        unknown = np.where(size > 0, np.nan, 0.0)
        mean = np.divide(sums, self.sampled, out=unknown, where=self.sampled > 0)
        return ((mean * size).sum(1) - total.sum(1)) / size.sum(1)


def _hindsight(
    method: str, size: ndarray, spread: ndarray, budget: int, integer: bool = True
) -> ndarray:
    """Return the sample sizes (R, C, H) of a method that knows all records so far."""
    rule = "equal" if method == "uniform" else method
    sampled = np.zeros(size.shape)
    for cell in np.ndindex(size.shape[:2]):
        seen = size[cell] > 0
        n = size[cell][seen]
        best = n
        if n.sum() > budget and method == "reservoir":
            best = budget * n / n.sum()
        elif n.sum() > budget:
            sd = spread[cell][seen] / n
            best = rules.allocate(
                n, budget, rule, stratum_sd=sd, minimum=0, integer=integer
            ).labeled
        sampled[cell][seen] = best
    return sampled


def _variances(size: ndarray, spread: ndarray, sampled: ndarray) -> ndarray:
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(spread > 0, spread**2 * np.maximum(1 / sampled - 1 / size, 0), 0)
    return terms.sum(-1) / size.sum(-1) ** 2.0


def _random_variance(values: ndarray, stops: ndarray, budget: int) -> ndarray:
    """Return the variances (R, C) of a simple random sample's mean at the stops."""
    centered = values - values.mean(1, keepdims=True)
    total, squares = (part.cumsum(1)[:, stops - 1] for part in (centered, centered**2))
    spread = np.maximum(squares - total**2 / stops, 0) / np.maximum(stops - 1, 1)
    return np.where(stops > budget, (1 / budget - 1 / stops) * spread, 0.0)
