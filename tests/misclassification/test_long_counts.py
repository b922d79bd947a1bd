"""Predicted counts with a row per class, and files that name no period."""

import pytest

import workbench as wb
from workbench.results.limits import LimitReached, printed_limits

CLASSES = ["bog", "dry land", "forest", "lake"]
PIXELS = [200_000, 150_000, 3_200_000, 6_450_000]
WHOLE = {"all items": tuple(PIXELS)}


@pytest.mark.parametrize(
    "counts",
    [
        {"prediction": CLASSES, "n": PIXELS},
        {"Klasse": CLASSES, "Pixel": PIXELS},
        {"prediction": CLASSES[::-1], "pixels": PIXELS[::-1]},
        {"class": CLASSES, "pixels": ["200,000", "150,000", "3,200,000", "6,450,000"]},
        {"id": [1, 2, 3, 4], "class": CLASSES, "pixels": PIXELS},
        {"class": CLASSES, "blocks": [1, 2, 3, 4], "pixels": PIXELS},
        {"class": CLASSES, "percent": [2, 1, 32, 65], "Anzahl": PIXELS},
        {"class": [*CLASSES, "Total"], "pixels": [*PIXELS, sum(PIXELS)]},
        {"class": [*CLASSES, ""], "pixels": [*PIXELS, sum(PIXELS)]},
        {name: [pixels] for name, pixels in zip(CLASSES, PIXELS, strict=True)},
    ],
)
def test_columns_may_have_any_names(counts):
    assert wb.load_periods(counts, labels=CLASSES) == WHOLE


def test_a_column_of_totals_is_no_class():
    counts = {"period": ["May", "June"], "a": [5, 6], "b": [7, 8], "Total": [12, 14]}
    assert wb.load_periods(counts, labels=("a", "b")) == {"May": (5, 7), "June": (6, 8)}
    with pytest.raises(ValueError, match="column 'Total' has 15 in period 'June', but the class"):
        wb.load_periods(counts | {"Total": [12, 15]}, labels=("a", "b"))


def test_a_class_that_is_never_predicted_needs_no_row():
    counts = {"class": CLASSES[:3], "pixels": PIXELS[:3]}
    assert wb.load_periods(counts, labels=CLASSES) == {"all items": (*PIXELS[:3], 0)}


def test_periods_of_rows_per_class():
    counts = {"year": [2010] * 2 + [2020] * 2, "class": ["a", "b"] * 2, "n": [5, 6, 7, 8]}
    periods = wb.load_periods(counts, labels=("a", "b"), period="year")
    assert periods == {"2010": (5, 6), "2020": (7, 8)}


def test_a_file_of_items_without_periods_is_one_period():
    counts = {"prediction": ["a", "b", "a", "a", "b"]}
    assert wb.load_periods(counts, labels=("a", "b")) == {"all items": (3, 2)}


def test_items_that_are_all_predicted_alike_are_no_grid_of_periods():
    counts = {"name": ["u", "v", "w"], "age": [31, 44, 27], "prediction": ["a"] * 3}
    assert wb.load_periods(counts, labels=("a", "b")) == {"all items": (3, 0)}


def test_a_file_and_a_billion_pixels(tmp_path):
    path = tmp_path / "areas.csv"
    path.write_text("map;pixels\nbog;12000000000\nlake;7\n", encoding="utf-8")
    assert wb.load_periods(str(path), labels=("bog", "lake")) == {"all items": (12 * 10**9, 7)}


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (
            {"class": CLASSES, "share": [0.02, 0.015, 0.32, 0.645]},
            "counts must hold whole numbers of items; column 'share' has 0.02, 0.015 and 2 more. "
            "Give the number of items of each class, not their proportion. Round areas to the "
            "units that were labeled",
        ),
        (
            {"class": CLASSES, "percent": ["2%", "1.5 %", "32%", "64.5%"]},
            "counts must hold whole numbers of items; column 'percent' has 2%, 1.5 % and 2 more",
        ),
        (
            {"class": CLASSES, "area": ["200 px", "1,500 px", "3200 px", "6450 px"]},
            "counts must hold whole numbers of items; column 'area' has 200 px, 1,500 px and 2",
        ),
        (
            {"class": CLASSES, "Percent": [2, 1, 32, 65]},
            "counts must hold whole numbers of items; column 'Percent' has 2, 1 and 2 more. Give",
        ),
        (
            {"class": CLASSES, "a": PIXELS, "b": [1, 2, 3, 4]},
            "total must name the column that counts the items of each row; every row of 'class' "
            "is another class, and the columns 'a', 'b' hold whole numbers",
        ),
        (
            {"class": [*CLASSES, "Total"], "pixels": [*PIXELS, 5]},
            "column 'class', data row 5: 'Total' summarizes other rows. Remove this row",
        ),
        (
            {"class": CLASSES, "pixels": [200_000, None, 3_200_000, 6_450_000]},
            "column 'pixels', data row 2 is missing. The column must be the number of items in a row",
        ),
        (
            {"class": CLASSES, "pixels": ["200000", "many", "3200000", "6450000"]},
            "column 'pixels', data row 2: 'many' is not a number of items",
        ),
        (
            {"class": [*CLASSES, "rock"], "pixels": [*PIXELS, 7]},
            "column 'class', data row 5: 'rock' is not a class of the audit",
        ),
        (
            {"class": [name.title() for name in CLASSES], "pixels": PIXELS},
            "column 'class', data row 1: 'Bog' is not a class of the audit; classes: 'bog', 'dry land', "
            "'forest', 'lake' (did you mean 'bog'?)",
        ),
        (
            {"class": [*CLASSES, "bog"], "pixels": [*PIXELS, 7]},
            "counts must have one row per class; 'bog' has 2 rows in column 'class'. Add up their items",
        ),
        (
            {"class": CLASSES * 3, "count": PIXELS * 3},
            "counts must have one row per class; 'bog' has 3 rows in column 'class'. Add up their items",
        ),
        (
            {"year": [2010] * 4 + [2020] * 4, "class": CLASSES * 2, "pixels": PIXELS * 2},
            "period must name the column that distinguishes the rows of a class, such as 'year'; every class has 2 rows, and column 'pixels' counts items",
        ),
        (
            {"region": ["x"] * 4 + ["y"] * 4, "class": CLASSES * 2, "n": PIXELS * 2},
            "period must name the column that distinguishes the rows of a class; 'bog' has 2 rows "
            "in column 'class', and column 'n' counts their items",
        ),
    ],
)
def test_what_cannot_be_read_is_refused(columns, message):
    with pytest.raises(ValueError) as error:
        wb.load_periods(columns, labels=CLASSES)
    assert str(error.value).startswith(message)


@pytest.mark.parametrize(
    "name, other, months",
    [
        ("count", {}, {"May": (12, 3), "June": (3, 0)}),
        ("n", {"site": ["x", "x", "y", "z"]}, {"May": (2, 1), "June": (1, 0)}),
        ("n", {"site": ["x", "x", "y", "y"]}, {"May": (12, 3), "June": (3, 0)}),
    ],
)
def test_rows_of_a_period_and_class_that_repeat_are_added_up(name, other, months):
    counts = {"period": ["May", "May", "May", "June"], "prediction": ["a", "b", "a", "a"]}
    counts |= {**other, name: [5, 3, 7, 3]}
    assert wb.load_periods(counts, labels=("a", "b")) == months


def test_many_counts_of_a_class_are_added_up_and_printed():
    counts = {"period": ["May"] * 40, "prediction": ["a", "b"] * 20, "count": [5, 3] * 20}
    with printed_limits(), pytest.warns(LimitReached, match="in a row, 160 in all"):
        assert wb.load_periods(counts, labels=("a", "b")) == {"May": (100, 60)}
    lengths = {**counts, "n": counts["count"]}
    del lengths["count"]
    assert wb.load_periods(lengths, labels=("a", "b")) == {"May": (20, 20)}


def test_two_columns_that_may_hold_the_classes_are_asked_for():
    counts = {"rank": [1, 2, 3], "code": [3, 2, 1], "pixels": PIXELS[:3]}
    with pytest.raises(
        ValueError, match=r"'pixels'. If one of them .* with predicted \(--predicted"
    ):
        wb.load_periods(counts, labels=("1", "2", "3"))
    whole = tuple(PIXELS[2::-1])
    assert wb.load_periods(counts, labels=("1", "2", "3"), predicted="code") == {"all items": whole}
