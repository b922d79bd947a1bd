"""Whatever is compared: estimates inside their intervals, possible limits, p-values that agree, pictures as texts."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import workbench as wb
from workbench.extras.compare import charts as comparisons

SLACK = 1e-9


@st.composite
def compared(draw):
    """A comparison of 1 to 4 models: bounded scores with gaps, clusters, independent samples, few or equal items."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    models, items = draw(st.integers(1, 4)), draw(st.integers(4, 40))
    low, high = bounds = draw(st.sampled_from([(0, 1), (-2, 3), (0, 100)]))
    share = draw(st.sampled_from([0, 0.05, 0.5, 0.95, 1]))
    kind = draw(st.sampled_from(["binary", "graded", "steps"]))
    unit = {
        "binary": rng.random((items, models)) < share,
        "graded": rng.random((items, models)) ** (1 + 5 * share),
        "steps": np.round(rng.random((items, models)) * 4) / 4,
    }[kind]
    score = low + (high - low) * unit.astype(float)
    score[rng.random(score.shape) < draw(st.sampled_from([0, 0.1, 0.4]))] = np.nan
    cluster = np.arange(items) % draw(st.integers(2, items)) if draw(st.booleans()) else None
    sample = np.arange(items) % models if draw(st.booleans()) and items >= 4 * models else None
    if sample is not None:
        score[sample[:, None] != np.arange(models)] = np.nan
    better = draw(st.sampled_from(["higher", "lower"]))
    try:
        scores = wb.ItemScores(
            score,
            [f"m{k}" for k in range(models)],
            range(items),
            cluster,
            bounds,
            better,
            sample=sample,
        )
        return wb.compare_items(
            scores,
            level=draw(st.sampled_from([0.5, 0.8, 0.95, 0.999])),
            adjust=draw(st.sampled_from(["holm", "none"])),
        )
    except ValueError as error:  # too few scores, said so
        assert "at least 2" in str(error)
        return None


@settings(max_examples=150, deadline=None)
@given(compared())
def test_every_result_is_possible(found):
    if found is None:
        return
    low, high = found.bounds
    reach = high - low
    assert (found.score >= low - SLACK).all() and (found.score <= high + SLACK).all()
    assert (found.own[:, 0] >= low - SLACK).all() and (found.own[:, 1] <= high + SLACK).all()
    assert (found.own[:, 0] <= found.score + SLACK).all() and (
        found.score <= found.own[:, 1] + SLACK
    ).all()
    for limits in (found.limits, found.alone, found.naive):
        assert (np.abs(limits) <= reach + SLACK).all()
        assert (limits[:, 0] <= found.difference + SLACK).all() and (
            found.difference <= limits[:, 1] + SLACK
        ).all()
    shown = (found.limits[:, 0] > 0) | (found.limits[:, 1] < 0)
    assert (shown == (found.adjusted < 1 - found.level)).all()
    assert (found.pvalue >= 0).all() and (found.pvalue <= 1 + SLACK).all()
    sign = -1 if found.better == "lower" else 1
    assert (sign * found.difference >= -SLACK).all()
    figure = comparisons.ranks(found)
    drawn = figure.data["models"]
    for row, bar in zip(found.ranks(), drawn, strict=True):
        assert {key: bar[key] for key in ("score", "low", "high", "best_rank", "worst_rank")} == {
            key: row[key] for key in ("score", "low", "high", "best_rank", "worst_rank")
        }
        assert 1 <= row["best_rank"] <= row["worst_rank"] <= len(found.names)
    assert (
        figure.title
        and figure.alternative
        and found.finding()
        and wb.Result.from_dict(found.to_dict()).names == found.names
    )


@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
def test_one_model_and_independent_samples_have_a_picture(level):
    one = wb.compare_items(wb.ItemScores(np.ones((9, 1)), ["m"], range(9)), level=level)
    figure = comparisons.ranks(one)
    assert figure.title == "m: mean score 1"
    assert f"{one.own[0, 0]:.3g}"[:4] in figure.alternative
    assert figure.to_dict()["title"]
