"""`workbench sample stream` and `workbench sample reduce`, as they are typed, against other ways to draw and to count."""

import csv
import itertools
import json
import os
import shutil
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest
from command import ROOT, costs_one_line, run

import workbench as wb
from workbench.commands import streams
from workbench.labeling.draws import random_keys

STREAM = [
    "sample",
    "stream",
    "records.csv",
    "--strata-by",
    "segment",
    "--value",
    "amount",
    "--id",
    "item",
]
REDUCE = [
    "sample",
    "reduce",
    "sample.csv",
    "--strata-by",
    "segment",
    "--value",
    "amount",
    "--id",
    "item",
]
# batches of 200 rows, and a moment after each in which the process can be killed
SLOWLY = """
import time
from workbench.allocation.streams import batches
from workbench.commands import main, streams
write = batches.Checkpoint.write
batches.Checkpoint.write = lambda *words: (write(*words), time.sleep(.05))
streams.ROWS = 200
main.main({words!r})
"""


@pytest.fixture(scope="module")
def records():
    rng = np.random.default_rng(9)
    segment = np.minimum(rng.geometric(0.5, 4_000), 4)
    return pd.DataFrame(
        {
            "item": [f"item-{k}" for k in range(4_000)],
            "segment": [f"s{h}" for h in segment],
            "amount": rng.normal(0, segment**2.0).round(3),
        }
    )


@pytest.fixture
def folder(tmp_path, records, monkeypatch):
    records.to_csv(tmp_path / "records.csv", index=False)
    monkeypatch.setattr("workbench.data.whole_files._to_disk", lambda path: None)
    monkeypatch.setattr(streams, "ROWS", 700)
    return tmp_path


def rows_of(path):
    with open(path, encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def test_a_file_is_sampled_in_batches_as_the_library_samples_them(folder, records):
    done = run(
        folder, *STREAM, "--budget", 90, "--minimum", 10, "--seed", 4, "--json", "found.json"
    )
    assert done.returncode == 0, done.stderr
    parts = [part.to_dict("list") for _, part in records.groupby(np.arange(4_000) // 700)]
    found = wb.sample_stream(parts, 90, by="segment", value="amount", id="item", seed=4, minimum=10)
    written = rows_of(folder / "sample.csv")
    assert [
        (row["item"], row["segment"], float(row["amount"]), float(row["weight"])) for row in written
    ] == [(row["id"], row["stratum"], row["value"], row["weight"]) for row in found.sample_rows()]
    amount = records.set_index("item").amount
    assert all(amount[row["item"]] == float(row["amount"]) for row in written)
    data = json.loads((folder / "found.json").read_text(encoding="utf-8"))
    assert (data["topic"], data["inputs"], data["parameters"]["file"]) == (
        "stream",
        [],
        "records.csv",
    )
    row, limits = data["results"][0]["rows"][0], found.interval()
    assert (row["estimate"], row["low"], row["high"]) == pytest.approx((found.estimate, *limits))
    assert [each["size"] for each in data["results"][1]["rows"]] == found.size.tolist()
    assert (
        done.stdout.startswith("Wrote sample.csv: 90 records of 4,000.\nMean ")
        and "95% confidence interval" in done.stdout
    )
    assert sorted(path.name for path in folder.iterdir()) == [
        "found.json",
        "records.csv",
        "sample.csv",
    ]
    bounded = run(folder, *STREAM, "--budget", 90, "--bounds", "-80, 80", "-o", "other.csv")
    assert (
        bounded.returncode == 0 and "Note: no bounds of the values are known" not in bounded.stdout
    )


def test_a_killed_stream_goes_on_where_it_was(folder):
    words = [*STREAM, "--budget", "70", "--minimum", "5"]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}

    def started(name):
        return subprocess.Popen(
            [sys.executable, "-c", SLOWLY.format(words=[*words, "-o", name])],
            cwd=folder,
            env=environment,
            stdout=subprocess.DEVNULL,
        )

    assert started("whole.csv").wait(120) == 0
    counts, path, rng = [0], folder / "killed.csv.checkpoint", np.random.default_rng(3)
    while not (folder / "killed.csv").exists():
        process, end = started("killed.csv"), time.monotonic() + 60
        while process.poll() is None and time.monotonic() < end and seen(path) < counts[-1] + 800:
            time.sleep(0.005)
        time.sleep(float(rng.uniform(0, 0.1)))
        process.kill()
        process.wait()
        counts.append(seen(path))
    assert (
        len(counts) > 3
        and (folder / "killed.csv").read_bytes() == (folder / "whole.csv").read_bytes()
    )
    assert not path.exists()


def seen(checkpoint):
    return (
        json.loads(checkpoint.read_text(encoding="utf-8"))["sampler"]["seen"]
        if checkpoint.exists()
        else 0
    )


def test_a_checkpoint_of_a_file_that_changed_is_refused(folder, monkeypatch):
    with monkeypatch.context() as stopping:
        stopping.setattr("workbench.data.safe_csv.write_rows", lambda *details: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            streams.stream.main(
                [*STREAM[2:], "--budget", "50", "-o", str(folder / "sample.csv")],
                standalone_mode=False,
            ) if os.chdir(folder) is None else None
    assert seen(folder / "sample.csv.checkpoint") == 4_000
    with open(folder / "records.csv", "a", encoding="utf-8") as file:
        file.write("late,s1,1.5\n")
    done = run(folder, *STREAM, "--budget", 50, "-o", folder / "sample.csv")
    assert (
        done.returncode == 2
        and "to other columns or to another file; remove it to start anew" in done.stderr
    )


def variance(size, sd, labeled):
    return sum(n * (n - k) * s**2 / k for n, s, k in zip(size, sd, labeled, strict=True))


def test_a_smaller_sample_is_the_best_of_all_and_keeps_the_smallest_hashes(folder, records):
    assert run(folder, *STREAM, "--budget", 24, "--minimum", 4).returncode == 0
    done = run(folder, *REDUCE, "--budget", 13, "--seed", 2)
    assert done.stdout.startswith("Wrote smaller.csv: 13 of 24 records.\nRecords per stratum: "), (
        done.stderr
    )
    large, small = rows_of(folder / "sample.csv"), rows_of(folder / "smaller.csv")
    strata = sorted({row["segment"] for row in large})
    values = {h: [float(row["amount"]) for row in large if row["segment"] == h] for h in strata}
    size = [int((records.segment == h).sum()) for h in strata]
    sd = [np.std(values[h], ddof=1) for h in strata]
    most = [len(values[h]) for h in strata]
    every = [ks for ks in itertools.product(*(range(2, n + 1) for n in most)) if sum(ks) == 13]
    kept = tuple(sum(row["segment"] == h for row in small) for h in strata)
    assert variance(size, sd, kept) == pytest.approx(min(variance(size, sd, ks) for ks in every))
    for h, k, n in zip(strata, kept, size, strict=True):
        ids = [row["item"] for row in large if row["segment"] == h]
        first = {ids[place] for place in np.argsort(random_keys(ids, 2))[:k]}
        rows = [row for row in small if row["segment"] == h]
        assert {row["item"] for row in rows} == first and sum(
            float(row["weight"]) for row in rows
        ) == pytest.approx(n)
    amounts = {row["item"]: float(row["amount"]) for row in large}
    assert (
        all(float(row["amount"]) == amounts[row["item"]] for row in small)
        and min(amounts.values()) < 0
    )


def test_a_smaller_sample_by_a_table_of_strata_and_of_ids_that_look_like_formulas(folder):
    (folder / "sample.csv").write_text(
        "Item,segment,note\n"
        + "".join(f'"\'-{k}",{"-1" if k < 6 else "b"},n{k}\n' for k in range(12)),
        encoding="utf-8",
    )
    (folder / "strata.csv").write_text("stratum,size,sd\nb,100,1\n-1,300,2\n", encoding="utf-8")
    words = [*REDUCE[:5], "--id", "item", "--strata", "strata.csv", "--budget", 7]
    assert run(folder, *words).returncode == 0
    kept = rows_of(folder / "smaller.csv")
    assert list(kept[0]) == ["Item", "segment", "note", "weight"] and len(kept) == 7
    labels = ["-1", "b"]
    counts = [sum(row["segment"].strip("'") == h for row in kept) for h in labels]
    assert counts == wb.reduce_sample([300, 100], [2, 1], [6, 6], 7).labeled.tolist()
    for h, ids, k in zip(
        labels, ([f"-{j}" for j in range(6)], [f"-{j}" for j in range(6, 12)]), counts, strict=True
    ):
        first = {ids[place] for place in np.argsort(random_keys(ids, 0))[:k]}
        assert {row["Item"].strip("'") for row in kept if row["segment"].strip("'") == h} == first
    shutil.move(folder / "smaller.csv", folder / "sample.csv")  # a smaller one can be made smaller
    assert run(folder, *words[:-1], 5).returncode == 0 and len(rows_of(folder / "smaller.csv")) == 5


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([*STREAM, "--budget", 5], "--budget must be at least 8, 2 for each of 4 strata; got 5"),
        ([*STREAM, "--budget", 0], "--budget must be a whole number of at least 1; got 0"),
        ([*STREAM[:3], "--strata-by", "none", *STREAM[5:], "--budget", 50], "has no column 'none'"),
        (
            ["sample", "stream", "text.csv", *STREAM[3:], "--budget", 50],
            "'text.csv': 'many' is not a number",
        ),
        (
            [*STREAM, "--budget", 50, "--bounds", "1"],
            '--bounds must be the smallest and the largest value, as "0, 1"',
        ),
        ([*STREAM, "--budget", 50, "--level", 95], "--level must be"),
        (
            [*STREAM, "--budget", 50, "-o", "records.csv"],
            "cannot write 'records.csv': it is also an input",
        ),
        (
            [*STREAM, "--budget", 50, "-o", "./link.csv"],
            "cannot write 'link.csv': it is also an input",
        ),
        (
            [*STREAM, "--budget", 50, "-o", "other.csv"],
            "exists, but its columns are not item, segment, amount, weight",
        ),
        (
            [*STREAM, "--budget", 50, "--json", "sample.csv"],
            "two outputs have the same path 'sample.csv'; choose different files",
        ),
        (
            [*STREAM, "--budget", 50, "--json", "no/found.json"],
            "json folder 'no' does not exist; create it first",
        ),
        (
            [*STREAM, "--budget", 50, "--minimum", 1],
            "--minimum must be a whole number of at least 2; got 1",
        ),
        (
            [
                "sample",
                "stream",
                "one.csv",
                *STREAM[3:5],
                "--value",
                "weight",
                *STREAM[7:],
                "--budget",
                50,
            ],
            "the columns of the sample must have different names; "
            "got item, segment, weight, weight; rename one",
        ),
        (
            ["sample", "reduce", "one.csv", *REDUCE[3:], "--budget", 5, "--minimum", 0],
            "--minimum must be a whole number of at",
        ),
        (["sample", "stream", "none.csv", *STREAM[3:], "--budget", 50], "no such file: 'none.csv'"),
        (
            ["sample", "reduce", "records.csv", *REDUCE[3:], "--budget", 50],
            "--weight must name a column of the sample",
        ),
        (
            ["sample", "reduce", "few.csv", *REDUCE[3:], "--budget", 5],
            "--weight must add up to the number of records in each stratum",
        ),
        (
            ["sample", "reduce", "few.csv", *REDUCE[3:], "--budget", 5, "--strata", "few.csv"],
            "--strata must have a column 'size'",
        ),
        (
            ["sample", "reduce", "one.csv", *REDUCE[3:], "--budget", 5],
            "must have at least two records of each stratum",
        ),
        (
            ["sample", "reduce", "one.csv", *REDUCE[3:], "--budget", 5, "-o", "one.csv"],
            "'one.csv': it is also an input",
        ),
    ],
)
def test_mistakes_are_one_line_and_leave_nothing(folder, words, message):
    os.symlink(folder / "records.csv", folder / "link.csv")
    for name, lines in (
        ("text", ["item,segment,amount", "a,s,many"]),
        ("other", ["a,b", "1,2"]),
        ("one", ["item,segment,amount,weight", "a,s,1,3", "b,t,1,1"]),
        ("few", ["item,segment,amount,weight", "a,s,1,3.5", "b,s,2,3"]),
    ):
        (folder / f"{name}.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    costs_one_line(folder, message, *words, runs=lambda where, *given: run(where, *given[:-1]))


@pytest.mark.parametrize("name", ["stream", "reduce"])
def test_the_help_ends_with_an_example(folder, name):
    said = run(folder, "sample", name, "--help").stdout
    assert f"Example:\n  workbench sample {name} " in said and "--strata-by COLUMN" in said
