"""Nguyen et al., section 6: S-VOILA and other samplers on measurements of a year and on a stream.

The standard deviation of a stratum of the stream jumps.

References
----------
.. [1] Nguyen, Shih, Srivastava, Tirthapura & Xu, Stratified random sampling from streaming and
   stored data, EDBT 2019.
"""

import functools
import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy import ndarray

from workbench.extras.papers.claims import bound, number, put_in
from workbench.extras.papers.items import Claims, Figure, Setting, drawn
from workbench.extras.papers.nguyen_samples import PAPER
from workbench.simulations.allocation import jump_stream, simulate_stream
from workbench.simulations.streams import STRATA, air_quality_stream

item = PAPER.item
STAND_IN = "synthetic stand-in for OpenAQ"
CONSTANTS = "a constant of the stand-in: the strata that are new in each month"
RECIPE = "the stream is generated in this way"
DAYS, SHOWN, QUARTERS = 366, 11, (3, 6, 9, 12)
METHODS = ("voila", "s_voila", "neyman", "neyman_plus", "uniform", "reservoir")
AS_PRINTED = "s_voila_printed"
QUERIED = ("voila", "s_voila", "uniform", "reservoir")
stand_in_bound, stand_in_number = (
    functools.partial(claim, stand_in=STAND_IN) for claim in (bound, number)
)


# the stand-in for OpenAQ


def _large(setting: Setting) -> int:
    """Return a tenth of the paper's records, for minibatches."""
    return DAYS * 8470 if setting.scale >= 1 else _records(setting)


def _records(setting: Setting) -> int:
    """Return a hundredth of the paper's records, for single records.

    With `full` it is a tenth.
    """
    return DAYS * (8470 if setting.full else max(100, round(847 * setting.scale)))


@functools.cache
def _stream(records: int) -> tuple:
    return air_quality_stream(records, rng=1)


@functools.cache
def _year(records: Any, batch: Any, methods: Any = METHODS, share: Any = 31) -> Any:
    """Return a study of a year of the stand-in, with ten days between checkpoints.

    The sample is the paper's proportion of the records.
    """
    day = records // DAYS
    stratum, values = _stream(records)
    return simulate_stream(
        stratum,
        values,
        records // share,
        methods=methods,
        every=10 * day,
        batch=day if batch == "day" else batch,
        runs=2,
        rng=1,
        progress=False,
    )


def _days(setting: Setting) -> Any:
    """Return the year in minibatches of a day."""
    return _year(_large(setting), "day")


def _month(study: Any) -> ndarray:
    return study.checkpoint / study.checkpoint[-1] * 12


def _at(month: float, study: Any) -> int:
    """Return the position of the checkpoint that is closest to a month."""
    return int(np.argmin(abs(_month(study) - month)))


def _cosine(study: Any, method: str) -> ndarray:
    """Return the cosine distance of a method's allocation from VOILA's, (C,), mean of runs."""
    a, b = study.sampled[method], study.sampled["voila"]
    with np.errstate(invalid="ignore"):
        return (1 - (a * b).sum(-1) / ((a**2).sum(-1) * (b**2).sum(-1)) ** 0.5).mean(0)


def _over_time(study: Any, values: ndarray, series: str) -> list[dict]:
    return [
        {"month": float(month), "value": float(value), "series": series}
        for month, value in zip(_month(study), values, strict=True)
        if np.isfinite(value)
    ]


def _largest(
    matrix: ndarray, study: Any, panel: str, by: ndarray | None = None, over: str = "month"
) -> Iterator[dict]:
    """Yield rows of an area chart: the strata with the largest values, and all others together."""
    order = np.argsort(-(matrix if by is None else by).sum(0))
    time, step = (_month(study), 3) if over == "month" else (study.checkpoint, 12)
    for c in range(0, len(matrix), step):
        series = [(f"stratum {h}", matrix[c, h]) for h in order[:SHOWN]]
        series.append(("others", matrix[c, order[SHOWN:]].sum()))
        for name, value in series:
            yield {over: float(time[c]), "stratum": name, "value": float(value), "panel": panel}


AREAS = drawn("areas", "month", "value", "stratum", panel="panel", y_title="proportion")
RECORDS = drawn("areas", "records", "value", "stratum", panel="panel", y_title="proportion")
MONTHS = drawn("lines", "month", "value", "series", y_title="variance", log="y")


@item(
    "fig1",
    "OpenAQ: 177 strata at the end; frequencies and standard deviations change",
    seconds=5,
    data=STAND_IN,
    draw=AREAS,
)
def _fig1(setting: Setting) -> Claims:
    study = _days(setting)
    size, sd = study.stratum_size[0], study.stratum_sd[0]
    first = int(np.searchsorted(_month(study), 1))
    early = size[first] > 0
    neyman = study.budget * size[first] * sd[first] / (size[first] * sd[first]).sum()
    share = size / size.sum(1, keepdims=True)
    moved = np.abs(share[-1] - share[first])[early].max() / share[first][early].max()
    for when, printed in (
        ("at the end", str(STRATA)),
        ("after a month", "60"),
        ("in March, November and December", "appear"),
    ):
        yield put_in(f"strata {when}", CONSTANTS, printed)
    yield stand_in_number(
        "strata after a month with fewer records than Neyman's rule needs",
        "11",
        (neyman > size[first])[early].sum(),
    )
    yield stand_in_bound(
        "largest change of a relative frequency, over the largest frequency",
        "significantly",
        moved,
        low=0.1,
    )
    yield Figure(
        [*_largest(share, study, "relative frequency"), *_largest(sd, study, "standard deviation")]
    )


@item(
    "fig2",
    "The synthetic stream: equal frequencies, and stratum 12 jumps from 1 to 20 after 10,000 "
    "records",
    draw=RECORDS,
)
def _fig2(setting: Setting) -> Claims:
    study = _jump(setting, 1)
    size, sd = study.stratum_size.mean(0), study.stratum_sd.mean(0)
    share = size / size.sum(1, keepdims=True)
    for text, printed in (
        ("relative frequencies of the 20 strata", "equal"),
        ("standard deviation before the jump", "1"),
        ("standard deviation of stratum 12 after it", "20"),
    ):
        yield put_in(text, RECIPE, printed)
    yield Figure(
        [
            *_largest(share, study, "relative frequency", over="records"),
            *_largest(sd, study, "standard deviation", over="records"),
        ]
    )


@item(
    "fig3",
    "After nine months, the sizes of S-VOILA follow VOILA, those of reservoir the volume; those of "
    "uniform are equal",
    data=STAND_IN,
    draw=drawn("bars", "stratum", "records", "method", x_title="stratum, the ten largest"),
)
def _fig3(setting: Setting) -> Claims:
    study = _days(setting)
    c = _at(9, study)
    sizes = {
        name: study.sampled[name][:, c].mean(0)
        for name in ("voila", "s_voila", "reservoir", "uniform")
    }
    volume, even = study.stratum_size[0, c], sizes["uniform"]
    rows = [
        {"stratum": f"{h}", "method": name, "records": float(sizes[name][h])}
        for h, name in itertools.product(np.argsort(-sizes["voila"])[:10], sizes)
    ]
    yield stand_in_bound(
        "correlation of the sizes of S-VOILA and VOILA",
        "quite closely",
        np.corrcoef(sizes["s_voila"], sizes["voila"])[0, 1],
        low=0.98,
    )
    yield stand_in_bound(
        "correlation of the sizes of reservoir and the numbers of records",
        "proportional",
        np.corrcoef(sizes["reservoir"], volume)[0, 1],
        low=0.999,
    )
    yield stand_in_bound(
        "largest proportion in the sample of uniform over 1 / r, strata with enough records",
        "the same",
        even.max() / np.median(even[volume > even.max()]),
        high=1.01,
    )
    yield Figure(rows)


@item(
    "fig4",
    "The sizes of S-VOILA change over time as those of VOILA do",
    seconds=5,
    data=STAND_IN,
    draw=AREAS,
)
def _fig4(setting: Setting) -> Claims:
    rows: list[dict] = []
    for name, study, method in _three(setting):
        rows += _largest(study.sampled[method].mean(0), study, name, study.sampled["voila"].mean(0))
        if method != "voila":
            yield stand_in_bound(
                f"mean cosine distance from VOILA over the year, {name}",
                "track each other",
                _cosine(study, method).mean(),
                high=0.02,
            )
    yield Figure(rows)


def _three(setting: Setting) -> tuple:
    """Return VOILA, and S-VOILA with single records and with days, as (name, study, method)."""
    day, single = _year(_records(setting), "day"), _year(_records(setting), 1, ("voila", "s_voila"))
    return (
        ("VOILA", day, "voila"),
        ("S-VOILA, single", single, "s_voila"),
        ("S-VOILA, days", day, "s_voila"),
    )


@item(
    "fig5",
    "The cosine distance from the allocation of VOILA is below 0.04, and smaller with minibatches",
    data=STAND_IN,
    draw=drawn("lines", "month", "value", "series", y_title="cosine distance"),
)
def _fig5(setting: Setting) -> Claims:
    rows, distances = [], []
    for name, study, method in _three(setting)[1:]:
        distances.append(_cosine(study, method))
        rows += _over_time(study, distances[-1], name)
    single, days = distances
    yield stand_in_bound(
        "largest distance, single records", "less than 0.04", single.max(), high=0.04
    )
    yield stand_in_bound(
        "largest distance, batches of a day", "less than 0.04", days.max(), high=0.04
    )
    yield stand_in_bound(
        "mean distance with batches of a day over that with single records",
        "closer",
        days.mean() / single.mean(),
        high=1,
    )
    yield Figure(rows)


@item(
    "fig6",
    "The variance of Neyman is 1.4 to 50 times that of VOILA, of Neyman+ 1.2 to 7.1 times",
    data=STAND_IN,
    draw=MONTHS,
)
def _fig6(setting: Setting) -> Claims:
    study = _days(setting)
    claims, below, rows = [], 0, _over_time(study, study.variance["voila"].mean(0), "voila")
    for method, low, high in (("neyman", 1.4, 50), ("neyman_plus", 1.2, 7.1)):
        ratio = study.ratio(method)[np.isfinite(study.ratio(method))]
        claims += [
            stand_in_bound(
                f"{which} variance of {method} over that of VOILA",
                f"{low}x to {high}x",
                value,
                low=low,
                high=high,
            )
            for which, value in (("smallest", ratio.min()), ("largest", ratio.max()))
        ]
        below += (ratio < 1 - 1e-9).any()
        rows += _over_time(study, study.variance[method].mean(0), method)
    yield from claims
    yield stand_in_bound(
        "methods, of both, whose variance is below that of VOILA at some time",
        "always",
        below,
        high=0,
    )
    yield Figure(rows)


@item(
    "fig7",
    "The variance of S-VOILA is typically close to that of VOILA, and smaller with minibatches",
    data=STAND_IN,
    draw=MONTHS,
)
def _fig7(setting: Setting) -> Claims:
    rows, ratios = [], {}
    for name, study, method in _three(setting):
        rows += _over_time(study, study.variance[method].mean(0), name)
        ratios[name] = float(np.median(study.ratio(method)))
    single, days = ratios["S-VOILA, single"], ratios["S-VOILA, days"]
    yield stand_in_bound(
        "median variance over that of VOILA, single records",
        "typically close",
        single,
        high=1.2,
    )
    yield stand_in_bound(
        "median variance over that of VOILA, batches of a day", "very close", days, high=1.1
    )
    yield stand_in_bound(
        "median ratio, batches of a day minus single records",
        "typically worse",
        days - single,
        high=0,
    )
    yield Figure(rows)


@item(
    "fig8",
    "The relative difference increases with new strata in March and November, then decreases",
    data=STAND_IN,
    draw=drawn("lines", "month", "value", "series", y_title="relative difference"),
)
def _fig8(setting: Setting) -> Claims:
    rows = []
    for name, study, method in _three(setting)[1:]:
        difference, month = study.ratio(method) - 1, _month(study)
        rows += _over_time(study, difference, name)
        march, before, later, november = (
            difference[(month >= start) & (month < end)].max()
            for start, end in ((2, 4), (0.7, 2), (8, 10), (10, np.inf))
        )
        yield stand_in_bound(
            f"{name}: largest difference in the two months after new strata, over that before",
            "start increasing",
            march / max(before, 1e-12),
            low=1,
        )
        yield stand_in_bound(
            f"{name}: largest difference six months later, over that after new strata",
            "converge back",
            later / march,
            high=1,
        )
        yield stand_in_bound(
            f"{name}: largest difference after new strata again, over that before",
            "again affected",
            november / later,
            low=1,
        )
    yield Figure(rows)


@item(
    "fig9",
    "The variance of VOILA and S-VOILA decreases as the sample grows",
    seconds=15,
    data=STAND_IN,
    draw=drawn(
        "lines",
        "share",
        "variance",
        "series",
        log="xy",
        x_title="sample, proportion of the records",
    ),
)
def _fig9(setting: Setting) -> Claims:
    records, methods = _records(setting), ("voila", "s_voila")
    rows = []
    variances: dict[str, list] = {"VOILA": [], "S-VOILA, days": [], "S-VOILA, single": []}
    for share in (620, 310, 155, 62, 31):
        if records // share < 2 * STRATA:
            continue
        single = _year(records, 1, methods, share)
        days = _year(records, "day", methods, share) if share > 31 else _year(records, "day")
        studies = (days, "voila"), (days, "s_voila"), (single, "s_voila")
        for (name, values), (study, method) in zip(variances.items(), studies, strict=True):
            values.append(float(study.variance[method][:, _at(9, study)].mean()))
            rows.append({"share": 1 / share, "series": name, "variance": values[-1]})
    for name, values in variances.items():
        yield stand_in_bound(
            f"{name}: largest relative change of the variance to the next larger sample",
            "decreases",
            max(np.diff(values) / values[:-1]),
            high=0,
        )
    yield Figure(rows)


@item(
    "fig10",
    "Batches of 10 are much better than single records, batches of 100 are nearly optimal",
    seconds=10,
    data=STAND_IN,
    draw=drawn(
        "lines",
        "batch",
        "ratio",
        "month",
        log="x",
        x_title="minibatch",
        y_title="variance over that of VOILA",
    ),
)
def _fig10(setting: Setting) -> Claims:
    records, rows, ratios = _records(setting), [], {}
    for batch in (1, 10, 100, 1000, 10_000):
        stratum, values = _stream(records)
        study = simulate_stream(
            stratum,
            values,
            records // 31,
            methods=["s_voila"],
            batch=batch,
            every=30_000 if batch > 1000 else 10_000,
            runs=1,
            rng=1,
            progress=False,
        )
        at = study.checkpoint / records * 12
        for month in QUARTERS:
            ratios[batch, month] = float(study.ratio("s_voila")[np.argmin(abs(at - month))])
            rows.append({"batch": batch, "month": f"month {month}", "ratio": ratios[batch, month]})
    yield stand_in_bound(
        "largest relative reduction of the variance by batches of 10 from single records",
        "significantly better",
        max((ratios[1, m] - ratios[10, m]) / ratios[1, m] for m in QUARTERS),
        low=0.05,
    )
    yield stand_in_bound(
        "largest variance over that of VOILA, batches of 100",
        "nearly equal",
        max(ratios[100, m] for m in QUARTERS),
        high=1.05,
    )
    yield Figure(rows)


def _errors(study: Any, truth: Any, methods: tuple = QUERIED) -> dict:
    """Return {method: expected relative error in percent}, (C,) each.

    The error is that of a normal estimate, given the sizes of the sample.
    """
    return {
        method: 100 * (2 / np.pi * study.variance[method].mean(0)) ** 0.5 / np.abs(truth)
        for method in methods
    }


@item(
    "fig11",
    "Relative query errors as the data grow: S-VOILA is close to VOILA, reservoir and uniform are "
    "worse",
    data=STAND_IN,
    draw=drawn("lines", "month", "value", "series", y_title="relative error in percent"),
)
def _fig11(setting: Setting) -> Claims:
    study = _days(setting)
    errors = _errors(study, _running_mean(_stream(_large(setting))[1], study.checkpoint))
    rows = []
    for name, values in errors.items():
        rows += _over_time(study, values, name)
    late = _month(study) > 1
    yield stand_in_bound(
        "mean error of S-VOILA over that of VOILA",
        "very close",
        np.mean(errors["s_voila"][late] / errors["voila"][late]),
        low=0.5,
        high=1.5,
    )
    yield Figure(rows)


def _running_mean(values: ndarray, stops: ndarray) -> ndarray:
    return np.cumsum(values)[stops - 1] / stops


@item(
    "fig12",
    "Relative query errors as the sample grows: the methods have the same order",
    seconds=17,
    data=STAND_IN,
    draw=drawn(
        "lines",
        "share",
        "value",
        "series",
        log="xy",
        x_title="sample, proportion of the records",
        y_title="relative error in percent",
    ),
)
def _fig12(setting: Setting) -> Claims:
    rows, records = [], _large(setting)
    ratios: dict[str, list] = {"reservoir": [], "uniform": []}
    for share in (620, 310, 155, 62):
        if records // share < 2 * STRATA:
            continue
        study = _year(records, "day", QUERIED, share)
        c = _at(9, study)
        errors = _errors(study, _running_mean(_stream(records)[1], study.checkpoint))
        for name, values in errors.items():
            rows.append({"share": 1 / share, "series": name, "value": float(values[c])})
        for name, of_method in ratios.items():
            of_method.append(float(errors[name][c] / errors["voila"][c]))
    for name, of_method in ratios.items():
        yield stand_in_bound(
            f"smallest error of {name} over that of VOILA",
            "significantly better",
            min(of_method),
            low=1.2,
        )
    yield Figure(rows)


# the synthetic stream


@functools.cache
def _jump_study(records: int, batch: int, runs: int) -> Any:
    return simulate_stream(
        *jump_stream(records, runs=runs, jump_at=records // 5, rng=1),
        records // 50,
        methods=[AS_PRINTED, "uniform", "reservoir"],
        batch=batch,
        every=max(batch, records // 250),
        rng=2,
        progress=False,
    )


def _jump(setting: Setting, batch: int) -> Any:
    records = 50_000 if setting.scale >= 1 else 10_000
    return _jump_study(records, batch, 20 if setting.full else 5)


@item(
    "fig13",
    "After the jump, VOILA gives stratum 12 more at once, S-VOILA slowly",
    seconds=2,
    data="the paper's synthetic stream",
    draw=RECORDS,
)
def _fig13(setting: Setting) -> Claims:
    rows: list[dict] = []
    soon, end, far = [], [], []
    for name, batch, method in (
        ("VOILA", 1, "voila"),
        ("S-VOILA, single", 1, AS_PRINTED),
        ("S-VOILA, batches of 100", 100, AS_PRINTED),
    ):
        study = _jump(setting, batch)
        sizes, last = study.sampled[method].mean(0), study.checkpoint[-1]
        rows += _largest(sizes, study, name, study.sampled["voila"].mean(0), over="records")
        just_after = np.searchsorted(study.checkpoint, 0.24 * last)
        soon.append(sizes[just_after, 11] / study.budget)
        end.append(sizes[-1, 11] / study.budget)
        far.append(_cosine(study, method)[study.checkpoint > 0.2 * last].mean())
    yield bound(
        "proportion of stratum 12 just after the jump, VOILA minus S-VOILA",
        "more sensitive",
        soon[0] - soon[1],
        low=0,
    )
    yield bound(
        "proportion of stratum 12 in S-VOILA at the end minus just after the jump",
        "more sample space over time",
        end[1] - soon[1],
        low=0,
    )
    yield bound(
        "cosine distance from VOILA after the jump, batches of 100 over single records",
        "visually ... closer",
        far[2] / far[1],
        high=0.95,
    )
    yield Figure(rows)


@item(
    "fig14",
    "After the jump, the variance of S-VOILA increases and recovers, sooner with larger "
    "minibatches",
    data="the paper's synthetic stream",
    draw=drawn("lines", "records", "ratio", "batch", y_title="variance over that of VOILA"),
)
def _fig14(setting: Setting) -> Claims:
    rows, ratios = [], {}
    for batch in (1, 10, 100):
        study = _jump(setting, batch)
        ratio = study.ratio(AS_PRINTED)
        ratios[batch] = ratio[study.checkpoint % 1000 == 0]
        rows += [
            {"records": int(n), "ratio": float(value), "batch": f"{batch}"}
            for n, value in zip(study.checkpoint[::5], ratio[::5], strict=True)
        ]
    before, single = len(ratios[1]) // 5 - 1, ratios[1]
    yield bound(
        "variance over that of VOILA before the jump",
        "nearly optimal",
        single[before],
        high=1.1,
    )
    yield bound(
        "largest variance over that of VOILA after the jump, single records",
        "a faster rate",
        single.max(),
        low=1.5,
    )
    yield bound(
        "variance over that of VOILA at the end, single records",
        "converge",
        single[-1],
        high=1.25,
    )
    yield bound(
        "largest relative reduction of the variance by batches of 100 from single records",
        "converges the fastest",
        max(1 - ratios[100][before + 1 :] / single[before + 1 :]),
        low=0.05,
    )
    yield Figure(rows)


@item(
    "fig15",
    "Query errors on the synthetic stream: S-VOILA increases after the jump, VOILA less",
    data="the paper's synthetic stream",
    draw=drawn("lines", "records", "value", "series", y_title="relative error in percent"),
)
def _fig15(setting: Setting) -> Claims:
    single, batches = _jump(setting, 1), _jump(setting, 100)
    errors = {
        "s_voila, 1" if name == AS_PRINTED else name: (single.checkpoint, values)
        for name, values in _errors(
            single, 1, ("voila", AS_PRINTED, "uniform", "reservoir")
        ).items()
    }
    (in_batches,) = _errors(batches, 1, (AS_PRINTED,)).values()
    errors["s_voila, 100"] = batches.checkpoint, in_batches
    rows, after, end = [], {}, {}
    for name, (records, values) in errors.items():
        rows += [
            {"records": int(n), "value": float(value), "series": name}
            for n, value in zip(records[::8], values[::8], strict=True)
        ]
        is_soon = (records > 0.2 * records[-1]) & (records < 0.4 * records[-1])
        after[name] = float(values[is_soon].mean())
        end[name] = float(values[-40:].mean())
    yield bound(
        "error of S-VOILA soon after the jump over that of VOILA",
        "less affected",
        after["s_voila, 1"] / after["voila"],
        low=1,
    )
    yield bound(
        "error of S-VOILA in batches of 100 over that of single records, at the end",
        "closer",
        end["s_voila, 100"] / end["s_voila, 1"],
        high=0.98,
    )
    yield Figure(rows)
