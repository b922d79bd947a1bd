"""The pictures of allocation: their rows and sentences against sums written out here."""

import dataclasses
import json
import math

import numpy as np
import pytest
from panels import draws

import workbench as wb
from workbench.allocation.rules import priorities
from workbench.charts.allocation import plans as charts
from workbench.charts.allocation import streams
from workbench.simulations.allocation import jump_stream, simulate_stream

ROWS = [
    {"stratum": "a", "size": 5000, "labeled": 20, "neyman": 20},
    {"stratum": "b", "size": 30, "labeled": 30, "neyman": 30},
    {"stratum": "c", "size": 33, "labeled": 10, "neyman": 4},
]
ERRORS = [
    {"method": "neyman", "standard_error": 5.0},
    {"method": "voila", "standard_error": 4.0},
    {"method": "random", "standard_error": 12.0},
    {"method": "equal", "standard_error": math.inf},
]


# ---------------------------------------------------------------- labels of strata


def test_bars_end_at_their_labels_and_full_strata_are_marked():
    data = charts.allocation(ROWS).data
    assert [(row["stratum"], row["labels"], row["kind"], row["text"]) for row in data["bars"]] == [
        ("a", 20, "labeled in part", "20 of 5,000"),
        ("b", 30, "labeled completely", "30 of 30"),
        ("c", 10, "labeled in part", "10 of 33"),
    ]
    assert [row["neyman"] for row in data["wishes"]] == [20, 30, 4]


def test_sizes_far_beyond_the_labels_do_not_stretch_the_axis():
    data = charts.allocation(ROWS).data
    assert [row["stratum"] for row in data["sizes"]] == ["b", "c"]


def test_allocation_says_what_neyman_leaves():
    figure = charts.allocation(ROWS)
    title, words = figure.title, figure.alternative
    assert title == "60 labels, 1 of 3 strata labeled completely; Neyman would leave 6 unused"
    assert (
        words
        == "Labels per stratum: a 20 of 5,000 (Neyman 20); b 30 of 30 (Neyman 30); c 10 of 33 (Neyman 4)."
    )
    spent = [row | {"neyman": row["labeled"], "size": 9999} for row in ROWS]
    assert charts.allocation(spent).title == "60 labels, none of 3 strata labeled completely"


def test_of_many_strata_those_with_most_labels_are_drawn_and_that_is_said():
    rows = [{"stratum": h, "size": 1000, "labeled": (7 * h) % 101, "neyman": 1} for h in range(101)]
    shown = charts.allocation(rows).data["bars"]
    assert sorted(row["labels"] for row in shown) == list(range(71, 101))
    assert [int(row["stratum"]) for row in shown] == sorted(int(row["stratum"]) for row in shown)
    assert charts.allocation(rows).alternative.startswith(
        "The 12 of 101 strata with the most labels: "
    )
    chart = charts.allocation(rows)
    assert "the 30 strata with the most labels" in json.dumps(chart.to_dict(validate=False))
    draws(chart)


@pytest.mark.parametrize("count", [1, 3])
def test_allocation_draws(count):
    draws(charts.allocation(ROWS[:count]))


# ---------------------------------------------------------------- methods


def test_methods_are_ordered_and_compared_with_the_recommended():
    bars = charts.methods(ERRORS).data["methods"]
    assert [(row["method"], row["text"], row["kind"]) for row in bars] == [
        ("VOILA", "4", "recommended"),
        ("capped Neyman", "5 (+25.0%)", "other"),
        ("random sampling", "12 (3.0 times)", "other"),
        ("equal shares", "infinite: a stratum whose values vary has no label", "other"),
    ]
    assert bars[-1]["start"] == 4.0
    figure = charts.methods(ERRORS)
    title, words = figure.title, figure.alternative
    assert title == "VOILA: standard error 4, 20.0% below that of capped Neyman"
    assert "random sampling 12 (3.0 times)" in words


def test_another_method_can_be_recommended():
    assert (
        charts.methods(ERRORS, recommended="neyman").title
        == "capped Neyman: standard error 5, 25.0% above that of VOILA"
    )
    with pytest.raises(ValueError, match="recommended must be one of"):
        charts.methods(ERRORS, recommended="proportional")


@pytest.mark.parametrize(
    ("errors", "title"),
    [
        ([4148.2], "VOILA: standard error 4,148"),
        ([0.02, 0.02], "VOILA: standard error 0.02, as good as capped Neyman"),
        ([0.0, 0.0], "VOILA: standard error 0, as good as capped Neyman"),
    ],
)
def test_methods_that_are_alone_equal_or_without_error(errors, title):
    rows = [
        {"method": name, "standard_error": e}
        for name, e in zip(("voila", "neyman"), errors, strict=False)
    ]
    assert charts.methods(rows).title == title
    draws(charts.methods(rows))


# ---------------------------------------------------------------- priorities


def test_priorities_are_the_roots_of_what_the_next_label_saves():
    size, sd, k = np.array([1000, 60, 7]), np.array([0.5, 3.0, 8.0]), np.array([4, 1, 6])

    def variance(labeled):
        return size.sum() ** 2 * wb.allocation_variance(size, sd, labeled)

    saved = [variance(k) - variance(k + np.eye(3, dtype=int)[h]) for h in range(3)]
    np.testing.assert_allclose(priorities(size, sd, k) ** 2, saved, rtol=1e-9)


def test_a_full_stratum_has_no_priority_and_an_empty_one_comes_first():
    assert priorities([5, 5, 5], [1.0, 2.0, 3.0], [0, 2, 5]).tolist() == [
        math.inf,
        10 / math.sqrt(6),
        0,
    ]


# ---------------------------------------------------------------- streams


@pytest.fixture(scope="module")
def study():
    stratum, value = jump_stream(1200, strata=4, jumping=2, jump_at=400, runs=1, rng=2)
    return simulate_stream(
        stratum,
        value,
        60,
        methods=["s_voila", "s_voila_printed", "uniform"],
        every=100,
        progress=False,
    )


def test_stream_is_drawn_up_to_the_records_seen(study):
    data = streams.stream(study, "s_voila", 700, "abcd").data
    assert {row["records"] for row in data["areas"]} == set(range(100, 800, 100)) and data[
        "now"
    ] == [{"records": 700}]
    drawn = [row["sampled"] for row in data["areas"]]
    np.testing.assert_array_equal(np.reshape(drawn, (7, 4)), study.sampled["s_voila"][0, :7])
    expected = (study.variance["s_voila"] / study.variance["voila"])[0, :7]
    np.testing.assert_allclose([row["ratio"] for row in data["ratios"]], expected)
    assert data["infinite"] == []


def spoiled(study):
    """The same study, infinite at its second and third checkpoint."""
    variance = study.variance["s_voila"].copy()
    variance[0, 1:3] = math.inf
    return dataclasses.replace(study, variance=study.variance | {"s_voila": variance})


def test_infinite_variances_are_marked_above_all_finite_ones(study):
    found = spoiled(study)
    data = streams.stream(found, "s_voila", 1200, "abcd").data
    top = data["frame"][1]["ratio"]
    assert data["infinite"] == [{"records": 200, "ratio": top}, {"records": 300, "ratio": top}]
    ratios = [row["ratio"] for row in data["ratios"]]
    assert ratios[1] is ratios[2] is None and max(r for r in ratios if r) < top
    figure = streams.stream(found, "s_voila", 1200, "abcd")
    title, words = figure.title, figure.alternative
    assert title == "S-VOILA with a floor of 2: variance infinite at 2 of 12 checkpoints (17%)"
    assert "It was infinite at 2 of 12 checkpoints." in words
    assert (
        streams.stream(found, "s_voila", 300, "abcd").alternative.count(
            "The variance now is infinite."
        )
        == 1
    )
    draws(streams.stream(found, "s_voila", 1200, "abcd"))


def test_stream_counts_what_is_held(study):
    words = streams.stream(study, "s_voila_printed", 1200, "abcd").alternative
    held = ", ".join(
        f"{s:.0f} of {n:,} {name}"
        for s, n, name in zip(
            study.sampled["s_voila_printed"][0, -1], study.stratum_size[0, -1], "abcd", strict=True
        )
    )
    assert words.startswith(
        f"After 1,200 records the sample of 60 holds {held}. VOILA with hindsight: "
    )


def test_jump_shows_the_chosen_methods_in_one_order(study):
    data = streams.jump(study, 2, ("uniform", "voila")).data
    assert list(dict.fromkeys(row["method"] for row in data["sizes"])) == ["VOILA", "uniform"]
    np.testing.assert_allclose(
        [row["sampled"] for row in data["sizes"]],
        np.concatenate([study.sampled[name][0, :, 2] for name in ("voila", "uniform")]),
    )
    np.testing.assert_allclose(
        [row["variance"] for row in data["variances"]],
        np.concatenate([study.variance[name][0] for name in ("voila", "uniform")]),
    )
    ratio = study.variance["uniform"][0] / study.variance["voila"][0]
    figure = streams.jump(study, 2, ("uniform", "voila"))
    title, words = figure.title, figure.alternative
    assert title == f"Variance after 1,200 records, divided by VOILA's: uniform {ratio[-1]:.2f}"
    assert (
        f"uniform 15 (largest variance {ratio.max():.2f} times VOILA's" in words
        and "one stream" in words
    )


def test_jump_draws_and_says_infinite(study):
    view = draws(streams.jump(study, 2, study.methods, jump_at=400))
    assert view.picture["data"]["jumps"] == [{"records": 400}]
    assert (
        "infinite at 17% of checkpoints"
        in streams.jump(spoiled(study), 2, study.methods).alternative
    )
    assert None in [
        row["variance"] for row in streams.jump(spoiled(study), 2, ["s_voila"]).data["variances"]
    ]


def test_one_is_spoken_of_in_the_singular():
    title = charts.allocation([{"stratum": "a", "size": 9, "labeled": 1, "neyman": 1}]).title
    assert title == "1 label, none of 1 stratum labeled completely"
    study = simulate_stream(
        *jump_stream(40, strata=2, jumping=0, jump_at=20, runs=1, rng=2),
        10,
        methods=["s_voila"],
        every=40,
        rng=1,
        progress=False,
    )
    assert "It was never infinite." in streams.stream(study, "s_voila", 40, ("a", "b")).alternative
