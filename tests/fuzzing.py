"""Calls of public functions with arguments that are wrong in all the ways that happen, and files that are damaged.

What is wrong may be refused, with a ValueError or a TypeError that the workbench itself raises, or answered. Run as a
program it makes many calls and reads many files, with a seed or 0: `python tests/fuzzing.py 50000 2000 7`.
"""

import gzip
import math
import signal
import sys
import tempfile
import traceback
import warnings
from pathlib import Path

import numpy as np
import polars
import xlsxwriter
from calls import (
    AUDIT,
    CALLS,
    CV,
    DESIGN,
    FRAME,
    ITEMS,
    JUDGED,
    LABELED,
    MODELS,
    SCORE,
    SIZE,
    STRATA,
    TABLE,
    VERDICTS,
    ZERO_ONE,
)
from command import ods

import workbench as wb

ROOM = str(Path(__file__).parents[1] / "workbench")
SECONDS = 5  # of processor time
SIMILAR = [[0.9, 0.1, 0.2], [0.3, 0.8, 0.1], [0.2, 0.7, 0.6]]
ROWS = polars.DataFrame({"g": ["a", "b"] * 20, "v": [*range(40)]})
CALLED = [
    (
        wb.load_strata,
        ({"stratum": ["a", "b"], "size": [1000, 600], "sd": [0.5, 0.1]},),
        {"stratum": "stratum"},
    ),
    (wb.allocation_variance, (SIZE, [0.5, 0.2, 0.1], LABELED), {}),
    (wb.reduce_sample, (SIZE, [0.5, 0.2, 0.1], LABELED, 30), {"minimum": 2}),
    (wb.summarize, (ROWS, "g", "v"), {}),
    (wb.sample, (ROWS, "g", {"a": 3, "b": 2}), {"id": "v", "seed": 0}),
    (wb.estimate_values, (STRATA, ["a", "a", "b", "b"], [1.0, 2.0, 3.0, 4.0]), {"bounds": (0, 9)}),
    (wb.digit_twin, (SCORE, ZERO_ONE), {"size": 500}),
    (wb.solar_audit, (400,), {"rng": 1}),
    (wb.clerk_losses, (971, 100), {"repeats": 1}),
    (wb.reader_losses, (2, 200), {}),
    (wb.compare_tests, (CV,), {"rho": 0.7, "rope": 0.01, "level": 0.95}),
    (wb.r_from_rho, (0.3, 10), {}),
    (wb.rho_from_r, (0.3, 10), {}),
    (wb.variance_estimates, ([[0.1, 0.2], [0.15, 0.3], [0.2, 0.2]],), {}),
    (wb.exchangeable_population, ([[1.0, 2.0], [2.0, 1.0], [0.0, 3.0]], [0, 1, 0]), {}),
    (
        wb.gaussian_population,
        (200,),
        {"features": 3, "separation": 1.0, "advantage": 0.0, "rng": 0},
    ),
    (wb.bayesian_correlated_t, ([0.1, 0.2, 0.05],), {"rope": 0.01, "runs": 1}),
    (wb.five_by_two_t_test, ([[0.1, 0.2]] * 4 + [[0.3, 0.1]],), {}),
    (wb.five_by_two_f_test, ([[0.1, 0.2]] * 4 + [[0.3, 0.1]],), {}),
    (
        wb.nested_cv_interval,
        (np.full((3, 2), 0.1), np.arange(12.0).reshape(3, 4) / 10),
        {"level": 0.95},
    ),
    (wb.value_interval, (SIZE, [[2, 18], [5, 15], [10, 20]], [0, 1]), {"level": 0.95}),
    (wb.draw_items, ([0, 1, 0, 1, 2, 2], [1, 1, 2]), {"rng": 0}),
    (wb.pool_audits, (AUDIT, AUDIT), {}),
    (wb.rate_variance, (0.7, 0.5, 100), {}),
    (wb.check_balance, ([[1, 1], [1, -1], [-1, 1], [-1, -1]],), {}),
    (wb.hadamard, (12,), {}),
    (wb.identification_candidates, (SIMILAR, 2), {}),
    (wb.identification_ranks, (SIMILAR, [0, 1, 2]), {}),
    (wb.macro_f1, (wb.replicates(DESIGN, "fay"), [1, 0, 1, 0], [1, 0, 0, 0]), {}),
    (wb.load_labeled, (TABLE,), {"truth": "truth", "positive": "1"}),
    (wb.load_audit, (TABLE,), {"truth": "truth", "prediction": "prediction", "labels": "0,1"}),
    (
        wb.jump_stream,
        (300,),
        {"strata": 4, "jumping": 2, "jump_at": 100, "sd": 20.0, "runs": 2, "rng": 0},
    ),
    (wb.simulate_random_halves, ([1.0, 2.0, 3.0], 4), {"runs": 20, "rng": 0}),
    (wb.adversarial_stream, (3, 4), {}),
    (wb.air_quality_stream, (1000,), {"rng": 0}),
    (wb.streaming_lower_bound, (3, 4, 20), {}),
    (wb.plan_curve, (SIZE, [0.6, 0.9, 0.9], [0.05, 0.1]), {"level": 0.95}),
    (wb.stratified_accuracy, (SIZE, LABELED, [12, 20, 29]), {"skipped": [1, 0, 0]}),
    (wb.anytime_interval, (SIZE, [0, 1, 2, 0], [1, 1, 0, 1]), {"expected": 0.85, "level": 0.95}),
    (wb.allocate_to_class, (SIZE, [1, 0, 0], 60), {"share": 0.3, "minimum": 2}),
    (wb.class_metrics, (SIZE, [1, 0, 0], LABELED, [12, 20, 29]), {}),
    (wb.paired_difference, (SIZE, [[2, 15, 3], [1, 18, 1], [0, 30, 0]]), {"agreeing": 10}),
    (wb.judged_labels, (JUDGED[0], 100), {}),
    (wb.judged_items, (VERDICTS, "on_a, on_b"), {}),
    (wb.judged_audit, (wb.judged_items(VERDICTS, "on_a, on_b"), 40), {"level": 0.95}),
    (
        wb.second_labels,
        (SIZE, [[1, 9], [2, 8], [3, 10]], [[[[3, 0, 0], [0, 1, 1]], [[1, 0, 1], [0, 5, 0]]]] * 3),
        {"level": 0.95},
    ),
    (wb.labeling_order, (SIZE, 20), {}),
    (wb.wave_accuracy, (SIZE, [LABELED], [[12, 20, 29]]), {}),
    (wb.counts_at_audit, ({"Jan": FRAME}, "Jan"), {}),
    (wb.sentences, ([],), {}),
    (wb.compare_intervals, (wb.accuracy_audit(ITEMS),), {}),
    (wb.agreement, ([["a", "b", "a"], ["a", "a", None], ["b", "b", "b"]] * 4,), {"level": 0.95}),
    (wb.detectable_difference, (400, 0.2), {"clusters": 40, "icc": 0.1, "power": 0.8}),
    (wb.items_to_detect, (0.05, 0.2), {"cluster_size": 4, "icc": 0.1, "power": 0.8}),
    (wb.gate, (MODELS, "a > b - .1"), {"level": 0.95}),
    (wb.pair_interval, (MODELS, "a", "b"), {"level": 0.95}),
    (wb.worth_reading, (MODELS,), {"most": 3}),
    (wb.sample_stream, (ROWS, 10), {"by": "g", "value": "v", "id": "v", "passes": 2, "minimum": 2}),
    (wb.stream_batches, (wb.StreamSampler(10, seed=0),), {"by": "g"}),
    (wb.check, ("1.1", "12"), {}),
    (wb.exercise, ("3.5", "How many?"), {"answer": 80, "mistakes": {40: "half of them"}}),
    (wb.reveal, ("0-sure", 0.877), {}),
    (wb.read_by_next_box, (), {}),
    (wb.register_errors, (), {}),
]
TAKING = [call[:3] for call in (*CALLS, *CALLED) if call[1] or call[2]]
WRONG = [
    None,
    True,
    "x",
    "",
    b"x",
    1j,
    math.nan,
    math.inf,
    -math.inf,
    -1,
    0,
    0.5,
    7,
    10**400,
    1e308,
    5e-324,
    [],
    [[]],
    [math.nan],
    [math.inf, -math.inf],
    [[1, 2], [3, 4]],
    ["a", None],
    {},
    {"a": [1]},
    {1, 2},
    object(),
    len,
    np.array([]),
    np.zeros((2, 0)),
    np.ma.array([1.0, 2.0], mask=[0, 1]),
    np.array([1 + 2j]),
    np.datetime64("2026-01-01"),
    np.array(3.0),
    range(3),
    [10**30],
    "9" * 400,
    [-1, 2],
    [0.5, 1.5],
    [[math.nan, 1], [1, 1]],
]


class TooLong(Exception):
    """A call that takes more than its time."""


def _too_long(*_):
    raise TooLong


def spoiled(value, rng):
    """Return something in the place of an argument, or the argument with one entry that is wrong."""
    if isinstance(value, (list, tuple, np.ndarray)) and len(value) and rng.random() < 0.5:
        kind = rng.integers(4)
        entries = list(value)
        if kind == 0:
            entries[rng.integers(len(entries))] = WRONG[rng.integers(len(WRONG))]
        elif kind == 1:
            entries.pop()
        elif kind == 2:
            entries += entries[:1]
        else:
            entries = [entries]
        return tuple(entries) if isinstance(value, tuple) else entries
    return WRONG[rng.integers(len(WRONG))]


def wrong_call(rng):
    """Return a function and arguments of which one is spoiled."""
    call, args, kwargs = TAKING[rng.integers(len(TAKING))]
    args, kwargs = list(args), dict(kwargs)
    names = [*range(len(args)), *kwargs]
    name = names[rng.integers(len(names))]
    where = args if isinstance(name, int) else kwargs
    where[name] = spoiled(where[name], rng)
    return call, args, kwargs


def problem_of(call, args, kwargs):
    """Return the fault in how a call ends, "" if there is none."""
    signal.signal(signal.SIGVTALRM, _too_long)
    signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            call(*args, **kwargs)
    except (ValueError, TypeError) as error:
        raised = traceback.extract_tb(error.__traceback__)[-1].filename
        return "" if raised.startswith(ROOM) else f"{type(error).__name__} of {raised}: {error}"
    except Exception as error:  # which is what is looked for
        return f"{type(error).__name__}: {error}"
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    return ""


def problems(calls, seed):
    """Yield a line for each call that ends as none should."""
    rng = np.random.default_rng(seed)
    for _ in range(calls):
        call, args, kwargs = wrong_call(rng)
        problem = problem_of(call, args, kwargs)
        if problem:
            yield f"{call.__qualname__}({', '.join(map(_short, args))}; {kwargs!s:.200}): {problem}"


def sound_files(folder):
    """Write a small file of every kind that is read, and return their paths."""
    frame = polars.DataFrame(
        {
            "id": [f"i{k}" for k in range(40)],
            "p": [0.5 + k / 100 for k in range(40)],
            "read": ["ab"[k % 2] for k in range(40)],
        }
    )
    paths = [
        folder / f"items.{ending}"
        for ending in ("csv", "tsv", "json", "jsonl", "parquet", "xlsx", "ods")
    ]
    frame.write_csv(paths[0])
    frame.write_csv(paths[1], separator="\t")
    frame.write_json(paths[2])
    frame.write_ndjson(paths[3])
    frame.write_parquet(paths[4])
    with xlsxwriter.Workbook(paths[5]) as book:
        book.add_worksheet().add_table(
            0,
            0,
            40,
            2,
            {"data": frame.rows(), "columns": [{"header": name} for name in frame.columns]},
        )
    ods(paths[6], [frame.columns, *frame.rows()])
    packed = [folder / "items.csv.gz", folder / "items.jsonl.gz"]
    for path, plain in zip(packed, (paths[0], paths[3]), strict=True):
        path.write_bytes(gzip.compress(plain.read_bytes()))
    return [*paths, *packed, *(Path(__file__).parent / "fixtures" / "logs").glob("*.eval")]


def damage(content, rng):
    """Return a file's bytes with some of them changed, left out, doubled or added."""
    content = bytearray(content)
    for _ in range(rng.integers(1, 6)):
        place, kind = int(rng.integers(len(content) or 1)), rng.integers(5)
        if kind == 0 and content:
            content[place] ^= 1 << int(rng.integers(8))
        elif kind == 1:
            del content[place:]
        elif kind == 2:
            del content[place : place + int(rng.integers(1, 50))]
        elif kind == 3:
            content[place:place] = content[place : place + int(rng.integers(1, 200))]
        else:
            content[place:place] = rng.bytes(int(rng.integers(1, 20)))
    return bytes(content)


def problems_of_files(files, seed):
    """Yield a line for each damaged file whose reading ends as none should."""
    rng = np.random.default_rng(seed)
    with tempfile.TemporaryDirectory() as folder:
        sound = sound_files(Path(folder))
        for k in range(files):
            path = Path(folder, f"damaged-{sound[k % len(sound)].name}")
            path.write_bytes(damage(sound[k % len(sound)].read_bytes(), rng))
            problem = problem_of(wb.read_scores, (str(path),), {"score": "p", "prediction": "read"})
            if problem:
                yield f"file {k} of seed {seed}, {path.name}: {problem}"


def _short(value):
    return f"{value!r:.60}"


if __name__ == "__main__":
    calls, files, seed = map(int, [*sys.argv[1:], "0"][:3])
    found = [*problems(calls, seed), *problems_of_files(files, seed)]
    sys.stdout.write("".join(f"{line}\n" for line in found))
    sys.exit(bool(found))
