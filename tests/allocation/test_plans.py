"""Where the labels go, against figures worked out elsewhere."""

import numpy as np
import polars
import pytest
from refusals import refused

import workbench as wb
from workbench.results import Result


@pytest.fixture
def records():
    rng = np.random.default_rng(4)
    group = np.repeat(["a", "b", "c"], [500, 80, 6])
    value = rng.normal(0, 1, 586) * np.where(group == "c", 50, 1)
    return polars.DataFrame({"id": np.arange(586), "g": group, "y": value})


def methods(plan):
    return {row["method"]: row for row in plan.methods()}


def test_the_register_gives_the_lesson_figures():
    plan = wb.plan_labels(wb.digit_forms().register(), 100)
    error = {name: row["standard_error"] for name, row in methods(plan).items()}
    assert plan.labeled.tolist() == [3, 18, 42, 37]
    assert [
        round(error[name])
        for name in (
            "VOILA",
            "capped Neyman",
            "Neyman+",
            "iterated Neyman",
            "equal shares",
            "at random",
        )
    ] == [4148, 5750, 4470, 4148, 8997, 47149]
    assert methods(plan)["capped Neyman"]["unused"] == 27 and plan.wish.unused == pytest.approx(
        27.48, abs=0.01
    )
    assert plan.size.sum() * plan.wish.variance**0.5 == pytest.approx(5789, abs=0.5)


@pytest.mark.parametrize(
    ("budget", "equal_wins"), [(141, False), (143, False), (144, True), (150, True)]
)
def test_from_144_whole_labels_equal_shares_beat_capped_neyman(budget, equal_wins):
    error = methods(wb.plan_labels(wb.digit_forms().register(), budget))
    assert (
        error["equal shares"]["standard_error"] < error["capped Neyman"]["standard_error"]
    ) == equal_wins


def test_no_cap_binds_up_to_57_labels():
    neyman = [
        wb.plan_labels(wb.digit_forms().register(), budget, minimum=0).wish.unused
        for budget in (57, 58)
    ]
    assert neyman[0] == 0 < neyman[1]


def test_random_variance_is_that_of_the_whole_population(records):
    plan = wb.plan_labels(wb.load_strata(records, stratum="g", value="y"), 60)
    y = records["y"].to_numpy()
    assert plan.random_variance == pytest.approx((1 - 60 / 586) * y.var(ddof=1) / 60, rel=1e-12)


def test_a_table_of_strata_is_planned_without_means():
    table = {"name": ["x", "y"], "N": [1000, 50], "S": [1.0, 40.0]}
    plan = wb.plan_labels(wb.load_strata(table, stratum="name", size="N", sd="S"), 60)
    assert plan.labeled.tolist() == wb.allocate([1000, 50], 60, stratum_sd=[1, 40]).labeled.tolist()
    assert "at random" not in methods(plan) and "nan" not in plan.headline()


def test_rows_drawn_are_those_of_the_plan_and_the_sheet_lists_them(records, tmp_path):
    plan = wb.plan_labels(wb.load_strata(records, stratum="g", value="y"), 40)
    sheet = tmp_path / "sheet.csv"
    drawn = wb.draw_rows(plan, records, stratum="g", label_sheet=str(sheet), seed=3)
    assert drawn.drawn.tolist() == plan.labeled.tolist()
    lines = sheet.read_text(encoding="utf-8-sig").splitlines()
    assert lines[0] == "id,stratum,value" and len(lines) == 41
    sheet.write_text("\n".join([lines[0], lines[1] + "7", *lines[2:]]))
    with pytest.raises(ValueError, match="already contains 1 label and"):
        wb.draw_rows(plan, records, stratum="g", label_sheet=str(sheet))


def test_a_sheet_in_the_home_folder_is_not_overwritten_either(records, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    recorded = "id,stratum,value\n0,a,17\n"
    (tmp_path / "sheet.csv").write_text(recorded)
    plan = wb.plan_labels(wb.load_strata(records, stratum="g", value="y"), 40)
    with pytest.raises(ValueError, match="already contains 1 label and was not overwritten"):
        wb.draw_rows(plan, records, stratum="g", label_sheet="~/sheet.csv")
    assert (tmp_path / "sheet.csv").read_text() == recorded


def test_the_plan_is_written_and_harmless_to_spreadsheets(tmp_path):
    table = {"stratum": ["=1+1", "b"], "size": [1000, 50], "sd": [1.0, 40.0]}
    plan = wb.plan_labels(wb.load_strata(table), 60)
    plan.write_csv(tmp_path / "plan.csv")
    assert (tmp_path / "plan.csv").read_text(encoding="utf-8-sig").splitlines() == [
        "stratum,size,labels",
        f'"\'=1+1",1000,{plan.labeled[0]}',
        f'"b",50,{plan.labeled[1]}',
    ]


def test_warnings_say_what_the_reader_must_know():
    warn = wb.sentences(wb.plan_labels(wb.digit_forms().register(), 100).notes)
    assert (
        warn[0]
        == "Neyman's rule asks for more labels than there are items in thousands. If its numbers are "
        "only capped, 27 labels of the budget are not used"
    )
    assert "every item of thousands is labeled" in warn
    table = {"stratum": [1, 2, 3], "size": [1000, 5, 900], "sd": [1.0, 3.0, 0.0]}
    warn = " ".join(wb.sentences(wb.plan_labels(wb.load_strata(table), 100, minimum=4).notes))
    assert "the standard deviation of 3 is 0." in warn
    assert "there are fewer than 10 items in 2: their standard deviations are uncertain" in warn
    floor = wb.sentences(wb.plan_labels(wb.digit_forms().register(), 100, minimum=15).notes)
    assert any("the floor of 15 makes the variance 25% larger" in w for w in floor)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (
            {"stratum": ["a", "a"], "size": [3, 4], "sd": [1, 1]},
            "column 'stratum' must name every stratum once; 'a' repeats",
        ),
        (
            {"stratum": ["a", "b"], "size": [3, 0], "sd": [1, 1]},
            r"column 'size', data row 2 \(stratum b\): a size must be a whole number of at least 1; got 0",
        ),
        (
            {"stratum": ["a", "b"], "size": [3, 4], "sd": [1, -1]},
            r"column 'sd', data row 2 \(stratum b\): a standard deviation must be at least 0; got -1",
        ),
        (
            {
                "stratum": ["a", "b"],
                "size": np.array(["1.000", "4"], object),
                "sd": np.array(["1.5", "1"], object),
            },
            "column 'size', data row 1: '1.000' may be 1000 or 1.000, because its point may "
            "separate thousands or decimals. Write it without a point",
        ),
        ({"stratum": ["a", "b"], "sd": [1, 1]}, "size"),
    ],
)
def test_bad_tables_are_refused(table, message):
    with pytest.raises(ValueError, match=message):
        wb.load_strata(table)


def test_budget_below_the_floor_is_refused():
    strata, rule = wb.digit_forms().register(), "must be at least 8, 2 for each of 4 strata"
    refused(lambda: wb.plan_labels(strata, 7), "budget", rule, "got 7")


def test_no_rule_beats_the_optimum_under_the_same_constraints():
    rng = np.random.default_rng(9)
    for _ in range(40):
        table = {
            "stratum": np.arange(30),
            "size": rng.integers(1, 400, 30),
            "sd": rng.lognormal(0, 2, 30),
        }
        plan = wb.plan_labels(wb.load_strata(table), int(rng.integers(60, 600)))
        assert min(row["variance_ratio"] for row in plan.methods()) >= 1 - 1e-12


def test_a_stratum_of_one_item_needs_no_spread(tmp_path):
    path = tmp_path / "strata.csv"
    path.write_text("stratum,size,sd\na,100,2\none,1,\nsolo,1,7\n")
    strata = wb.load_strata(str(path))
    assert strata.sd.tolist() == [2, 0, 0]
    assert wb.allocation_variance([100, 1], [2, np.nan], [10, 1]) == wb.allocation_variance(
        [100, 1], [2, 0], [10, 1]
    )


def test_a_plan_overwrites_only_a_plan(tmp_path):
    plan = wb.plan_labels(wb.digit_forms().register(), 100)
    path = tmp_path / "plan.csv"
    plan.write_csv(path)
    plan.write_csv(path)
    path.write_text("id,stratum,value\n1,a,5\n")
    with pytest.raises(
        ValueError, match="exists, but its columns are not stratum, size, labels. Choose another"
    ):
        plan.write_csv(path)
    assert path.read_text() == "id,stratum,value\n1,a,5\n"


def test_drawing_needs_identifiers(records):
    plan = wb.plan_labels(wb.load_strata(records, stratum="g", value="y"), 40)
    rule = "must name the column that identifies a record"
    refused(lambda: wb.draw_rows(plan, records, stratum="g", id=""), "id", rule)


def test_notes_name_the_stratum():
    table = {"stratum": ["a", "b", "c"], "size": [50, 60, 70], "sd": [1.0, 3.0, 2.0]}
    plan = wb.plan_labels(wb.load_strata(table), 2, minimum=0)
    assert plan.notes[0] == wb.Note(
        "undefined", "varies and has no label: the variance is infinite", ("stratum", "a")
    )
    assert (
        wb.sentences(plan.notes)[0]
        == "stratum a: varies and has no label: the variance is infinite"
    )


def test_strata_named_by_numbers_keep_their_names():
    table = {"stratum": [7, 0, 3], "size": [50, 60, 70], "sd": [1.0, 3.0, 2.0]}
    plan = wb.plan_labels(wb.load_strata(table), 2, minimum=0)
    assert plan.notes[0].where == ("stratum", "7")
    assert wb.sentences(plan.notes)[0].startswith("stratum 7: varies and has no label")
    assert [row["stratum"] for row in plan.rows()] == [7, 0, 3]


def test_a_census_does_not_blame_neyman():
    assert wb.plan_labels(wb.digit_forms().register(), 1797).notes == ()


def test_round_trip():
    plan = wb.plan_labels(wb.digit_forms().register(), 100)
    again = Result.from_dict(plan.to_dict())
    assert again.headline() == plan.headline() and again.methods() == plan.methods()


def test_text_is_escaped():
    table = {"stratum": ["<b>", "c"], "size": [1000, 50], "sd": [0.0, 40.0]}
    page = wb.plan_labels(wb.load_strata(table), 60)._repr_html_()
    assert "<b>" not in page and "&lt;b&gt;" in page


def test_places_are_the_digit_forms_errors():
    forms, strata = wb.digit_forms(), wb.digit_forms().register()
    total = (10.0**forms.place * (forms.read_a - forms.digit)).sum()
    assert strata.size @ strata.mean == pytest.approx(total) and round(total) == -14692


@pytest.mark.parametrize("method", ["voila", "equal", "proportional", "neyman_plus"])
@pytest.mark.parametrize("wanted", [30.0, 120.0, 700.0])
def test_the_least_budget_for_a_standard_error_is_found_by_trying_all(method, wanted):
    strata = wb.load_strata(
        {"stratum": ["a", "b", "c"], "size": [100, 40, 12], "sd": [3.0, 10.0, 50.0]}
    )

    def error(budget):
        n = wb.allocate(strata.size, budget, method, stratum_sd=strata.sd).labeled
        return np.sqrt((strata.size**2 * (1 - n / strata.size) * strata.sd**2 / n).sum())

    errors = {budget: error(budget) for budget in range(6, 153)}
    found = wb.budget_for_error(strata, wanted, method=method)
    assert errors[found] <= wanted < errors.get(found - 1, np.inf)
    if method == "voila":
        assert found == min(budget for budget, error in errors.items() if error <= wanted)


def test_a_rule_that_leaves_labels_unused_may_never_reach_it():
    strata = wb.load_strata({"stratum": ["a", "b"], "size": [10, 1000], "sd": [1.0, 1.0]})
    rule = "must be a number above 0"
    refused(lambda: wb.budget_for_error(strata, 0), "standard_error", rule, "got 0")
    assert wb.budget_for_error(strata, 1e9) == 4


@pytest.mark.parametrize(
    ("size", "sd", "wanted"),
    [
        ([1000, 600, 160, 37], [1.7, 17, 150, 1800], 4_000),
        ([5000] * 10, range(1, 11), 4_000),
        ([300, 2000, 50], [1, 9, 40], 1_500),
    ],
)
@pytest.mark.parametrize("assurance", [0.8, 0.95])
def test_an_assured_budget_gives_its_standard_error_in_that_share_of_normal_samples(
    size, sd, wanted, assurance
):
    rng, size, sd = np.random.default_rng(0), np.array(size), np.array(sd, float)
    strata = wb.load_strata({"stratum": [*map(str, range(size.size))], "size": size, "sd": sd})
    budget = wb.budget_for_error(strata, wanted, assurance=assurance)
    labeled = wb.allocate(size, budget, "voila", stratum_sd=sd).labeled
    spread = sd**2 * rng.chisquare(labeled - 1, (20_000, size.size)) / (labeled - 1)
    error = (size * (size - labeled) / labeled * spread).sum(1) ** 0.5
    assert assurance - 0.01 < (error <= wanted).mean() < assurance + 0.03


def test_an_assured_budget_needs_two_labels_per_stratum():
    strata = wb.digit_forms().register()
    rule = "must be a whole number of at least 2"
    refused(lambda: wb.budget_for_error(strata, 4148, minimum=1, assurance=0.8), "minimum", rule)
    refused(lambda: wb.budget_for_error(strata, 4148, assurance=1), "assurance", "must be below 1")


THREE = {"stratum": ["a", "b", "c"], "size": [100, 40, 12], "sd": [3.0, 10.0, 50.0]}


def test_standard_errors_of_the_mean_are_those_of_the_total_by_item():
    plan = wb.plan_labels(wb.load_strata(THREE), 30, minimum=3)
    n, size, sd = plan.labeled, np.array(THREE["size"]), np.array(THREE["sd"])
    error = np.sqrt((size**2 * (1 - n / size) * sd**2 / n).sum())
    assert methods(plan)["VOILA"]["standard_error"] == pytest.approx(error)
    assert methods(plan)["VOILA"]["mean_standard_error"] == pytest.approx(error / 152)
    assert plan.minimum == 3 and Result.from_dict(plan.to_dict()).minimum == 3


def test_the_finding_tells_the_error_of_the_plan():
    """10 of 100 items of sd 2: 100 sqrt(.9 * 4 / 10) = 60, .6 an item."""
    plan = wb.plan_labels(wb.load_strata({"stratum": ["a"], "size": [100], "sd": [2.0]}), 10)
    assert (
        plan.finding()
        == "Label 10 of 100 items: standard error of the total about 60, of the mean about 0.60"
    )


@pytest.mark.parametrize(
    ("means", "begins"),
    [
        ((1, 1), "Too few labels for a useful result: 10 labels leave the total of about "),
        ((1, -3), "Label 10 of 200 items. The expected total is about -"),
    ],
)
def test_a_total_whose_error_is_as_large_may_still_be_a_result_where_means_differ_in_sign(
    means, begins
):
    """Then it may be near 0 by what cancels, and an error is no percentage of it."""
    values = np.concatenate([mean + 9 * np.tile([-1.0, 1.0], 50) for mean in means])
    strata = wb.load_strata({"g": np.repeat(["a", "b"], 100), "y": values}, stratum="g", value="y")
    found = wb.plan_labels(strata, 10).finding()
    assert found.startswith(begins) and ("%" in found) == (means == (1, 1))


def test_what_the_largest_budget_of_a_wasteful_rule_gives_is_within_reach():
    """The other labels of a budget of everything go to a stratum of 10 items, which Neyman's rule only cuts."""
    strata = wb.load_strata({"stratum": ["a", "b"], "size": [10, 100], "sd": [1000.0, 1.0]})

    def error(budget):
        return (
            110 * wb.allocate(strata.size, budget, "neyman", stratum_sd=strata.sd).variance ** 0.5
        )

    least = error(110)
    assert least > 0
    assert wb.budget_for_error(strata, least, method="neyman") == min(
        budget for budget in range(4, 111) if error(budget) <= least
    )
    less = least * (1 - 1e-9)
    rule = f"{less:g} cannot be reached: method 'neyman' leaves labels unused"
    refused(lambda: wb.budget_for_error(strata, less, method="neyman"), "standard_error", rule)
