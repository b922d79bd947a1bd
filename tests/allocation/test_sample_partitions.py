"""Frames in parts: Dask on two worker processes, and one stream sampler per partition."""

import functools
import os

import numpy as np
import pandas as pd
import pytest

import workbench as wb
from workbench.allocation.streams.sampler import StreamSampler

pytestmark = pytest.mark.slow
ROWS, PARTS, BUDGET = 40_000, 4, 1000
SD = np.array([5.0, 1.0, 0.2, 0.0])


def table(parts=PARTS, sd=SD):
    """Rows of four strata in random order; `sd` may differ from part to part, (H,) or (parts, H)."""
    rng = np.random.default_rng(11)
    stratum = rng.choice(4, ROWS, p=[0.1, 0.2, 0.3, 0.4])
    part = np.arange(ROWS) * parts // ROWS
    spread = np.broadcast_to(sd, (parts, 4))[part, stratum]
    value = 10 * stratum + spread * rng.normal(size=ROWS)
    return pd.DataFrame(
        {"stratum": np.array(list("abcd"))[stratum], "value": value, "id": rng.permutation(ROWS)}
    )


def sampled(part, number):
    columns = (part[name].to_numpy() for name in ("stratum", "value", "id"))
    return os.getpid(), StreamSampler(BUDGET, rng=number).update(*columns)


def partitioned(rows):
    from dask import dataframe  # seconds, which only the worker spends that needs it

    return dataframe.from_pandas(rows, npartitions=PARTS, sort=False)


def merged_over(frame):
    import dask

    parts = [dask.delayed(sampled)(part, number) for number, part in enumerate(frame.to_delayed())]
    processes, samplers = zip(*dask.compute(*parts), strict=True)
    return set(processes), functools.reduce(StreamSampler.merge, samplers)


@pytest.fixture(scope="module")
def client():
    from distributed import Client

    with Client(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address="127.0.0.1:0"
    ) as client:
        yield client


def with_process(part):
    return part.assign(process=os.getpid())


def test_two_processes_draw_what_one_frame_draws(client):
    rows = table()
    frame = partitioned(rows).map_partitions(with_process)
    found, expected = (
        wb.summarize(frame, "stratum", "value"),
        wb.summarize(rows, "stratum", "value"),
    )
    assert found.stratum.tolist() == list("abcd") and found.size.tolist() == expected.size.tolist()
    assert found.sd == pytest.approx(expected.sd, rel=1e-12)
    plan = wb.allocate(found.size, BUDGET, stratum_sd=found.sd)
    drawn = wb.sample(frame, "stratum", plan, id="id", columns=["value", "process"])
    alone = wb.sample(rows, "stratum", plan, id="id", columns=["value"])
    assert drawn.id.tolist() == alone.id.tolist() and drawn.id.size == BUDGET
    assert drawn.columns["value"].tolist() == alone.columns["value"].tolist()
    processes = set(drawn.columns["process"].tolist())
    assert len(processes) == 2 and os.getpid() not in processes


def test_one_sampler_per_partition_merged(client):
    rows = table()
    processes, merged = merged_over(partitioned(rows))
    assert len(processes) == 2 and os.getpid() not in processes
    found = wb.summarize(rows, "stratum", "value")
    best = wb.allocate(found.size, BUDGET, stratum_sd=found.sd)
    sizes = merged.sizes()
    labeled = [sizes[stratum] for stratum in found.stratum.tolist()]
    assert sum(labeled) == BUDGET
    assert wb.allocation_variance(found.size, found.sd, labeled) < 1.05 * best.variance
    by_id = rows.set_index("id")
    for row in merged.rows():
        assert by_id.loc[row["item"], "value"] == row["value"]
    estimate = merged.estimate()
    assert abs(estimate.estimate - rows["value"].mean()) < 4 * estimate.standard_error


def test_partitions_that_disagree_need_two_passes(client):
    disagreeing = np.array([[10, 0.1, 1, 1], [0.1, 10, 1, 1]] * 2)
    rows = table(sd=disagreeing)
    frame = partitioned(rows)
    found = wb.summarize(frame, "stratum", "value")
    plan = wb.allocate(found.size, BUDGET, stratum_sd=found.sd)
    sizes = merged_over(frame)[1].sizes()
    merged = wb.allocation_variance(
        found.size, found.sd, [sizes[stratum] for stratum in found.stratum.tolist()]
    )
    assert merged > 2 * plan.variance
    drawn = wb.sample(frame, "stratum", plan, id="id", columns=["value"])
    assert drawn.drawn.tolist() == plan.labeled.tolist()
    means = np.bincount(drawn.stratum_index, drawn.columns["value"]) / drawn.drawn
    assert abs(found.size @ means / ROWS - rows["value"].mean()) < 4 * plan.variance**0.5


LAYOUTS = {
    "even": [0, 10_000, 20_000, 30_000, ROWS],
    "skewed": [0, 5, 5, 39_000, 39_000, ROWS],
    "one": [0, ROWS],
}


def laid_out(rows, bounds):
    """A frame of Dask with these partitions, empty ones too."""
    import dask
    from dask import dataframe

    parts = [
        dask.delayed(rows.iloc[start:end]) for start, end in zip(bounds, bounds[1:], strict=False)
    ]
    return dataframe.from_delayed(parts, meta=rows.iloc[:0])


def streamed(frame, **settings):
    return wb.sample_stream(frame, BUDGET, by="stratum", value="value", id="id", **settings)


def kept(found):
    return sorted((row["stratum"], row["id"], row["value"]) for row in found.sample_rows())


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_sample_of_two_passes_is_the_same_in_any_layout(layout):
    rows = table()
    expected = streamed(rows, passes=2)
    found = streamed(laid_out(rows, LAYOUTS[layout]), passes=2)
    assert kept(found) == kept(expected) and len(kept(found)) == BUDGET
    assert found.estimate == pytest.approx(expected.estimate, rel=1e-12)
    once = streamed(laid_out(rows, LAYOUTS[layout]))
    assert len(kept(once)) <= BUDGET and sum(once.size) == ROWS
    by_id = rows.set_index("id")
    assert all(by_id.loc[row["id"], "value"] == row["value"] for row in once.sample_rows()[:50])


def test_many_samplers_are_merged_by_a_tree():
    rows = table().iloc[:2000]
    found = streamed(laid_out(rows, [*range(0, 2001, 50)]), passes=2)  # 40 partitions: two levels
    assert kept(found) == kept(streamed(rows, passes=2))


def test_an_empty_frame_of_partitions_is_refused():
    rows = table().iloc[:0]
    with pytest.raises(ValueError, match="must have at least one record"):
        streamed(laid_out(rows, [0, 0, 0]))
