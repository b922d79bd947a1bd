"""The scenes of the lessons with a lecturer's file: another size, other classes, other clusters."""

import csv
import json
import re

import numpy as np
import pytest

import workbench
from workbench.course import lesson_data
from workbench.course.digit_forms import digit_forms
from workbench.lessons import checking
from workbench.lessons.cross_validation import views as cross_validation
from workbench.lessons.misclassification import views as misclassification
from workbench.lessons.replication import views as replication
from workbench.lessons.stratified import scenes
from workbench.lessons.stratified import views as stratified
from workbench.reports.parameters import notebooks_folder
from workbench.widgets import questions

SIZE, CLUSTERS = 910, 11
HEADER = ["truth", "prediction", "score", "margin", "second", "cluster", "x_age", "x_size", "note"]


def made_up():
    """Rows of a file with three classes and 11 clusters of different accuracy."""
    rng = np.random.default_rng(5)
    truth = rng.choice(["ham", "spam", "news"], SIZE, p=[0.6, 0.2, 0.2])
    cluster = np.arange(SIZE) * CLUSTERS // SIZE
    chance = np.clip(rng.uniform(0.6, 1, SIZE) - 0.02 * cluster, 0, 1)
    other = rng.choice(["ham", "spam", "news"], SIZE)
    prediction = np.where(rng.random(SIZE) < chance, truth, other)
    second = np.where(rng.random(SIZE) < 0.7, truth, "news")
    features = rng.normal(size=(SIZE, 2)) + np.stack([truth == "spam", truth == "news"], 1)
    columns = (chance.round(4), (chance**2).round(4), second, [f"site {c}" for c in cluster])
    return [*zip(truth, prediction, *columns, *features.T.round(3), "x" * SIZE, strict=True)]


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    found = tmp_path_factory.mktemp("items") / "my_items.csv"
    with open(found, "w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([HEADER, *made_up()])
    return str(found)


def fewer_runs(function, runs):
    return lambda *values, **settings: function(*values, **settings | {"runs": runs})


@pytest.fixture
def quick(monkeypatch):
    """Simulations with fewer runs."""
    for name in ("simulate_labeling", "simulate_looking"):
        module = scenes.simulations
        monkeypatch.setattr(module, name, fewer_runs(getattr(module, name), 60))
    monkeypatch.setattr(misclassification, "RUNS", 500)
    monkeypatch.setattr(cross_validation, "RUNS", 400)


@pytest.fixture(autouse=True)
def digits_again(monkeypatch):
    monkeypatch.setenv(questions.REVEAL, "all")
    yield
    lesson_data.use_items(None)


def columns():
    return dict(zip(HEADER, map(np.array, zip(*made_up(), strict=True)), strict=True))


def words(shown):
    """All that a scene says: texts, tables, titles, labels of controls."""
    if hasattr(shown, "parts"):
        return " ".join(map(words, shown.parts))
    if isinstance(shown, (list, tuple)):
        return " ".join(map(words, shown))
    view = getattr(shown, "view", shown)
    if hasattr(view, "picture"):
        labels = [control.description for control in getattr(shown, "controls", {}).values()]
        return json.dumps([view.spec, view.picture, labels])
    return repr(shown) + (json.dumps(shown.rows()) if hasattr(shown, "rows") else "")


# ---------------------------------------------------------------- the file


def test_the_attributes_are_those_of_the_digit_forms(path):
    forms, table = stratified.use(path, positive="spam"), columns()
    assert forms.digit.tolist() == table["truth"].tolist()
    assert forms.read_a.tolist() == table["prediction"].tolist()
    assert forms.read_b.tolist() == table["second"].tolist()
    np.testing.assert_allclose(forms.confidence, table["score"].astype(float))
    np.testing.assert_allclose(forms.margin, table["margin"].astype(float))
    assert forms.box.tolist() == [int(site.split()[1]) + 1 for site in table["cluster"]]
    assert forms.features.shape == (SIZE, 2)
    right = table["truth"] == table["prediction"]
    assert forms.items().correct.mean() == right.mean() == (forms.read_a == forms.digit).mean()
    assert forms.items("b").correct.mean() == (table["truth"] == table["second"]).mean()
    assert "of class spam" in repr(forms.labeled()) and "of class ham" in repr(forms.labeled("ham"))
    assert repr(forms).startswith("LessonItems(my_items.csv: 910 items, accuracy ")


def test_none_shows_the_digit_forms_again(path):
    assert stratified.use(path) is lesson_data.lesson_forms()
    assert stratified.use(None) is digit_forms() is lesson_data.lesson_forms()
    assert "1,797 forms" in repr(stratified.how_sure())


def written(folder, header, rows):
    path = folder / "small.csv"
    path.write_text(
        "\n".join([",".join(header), *[",".join(map(str, row)) for row in rows]]) + "\n"
    )
    return path


@pytest.mark.parametrize(
    ("lesson", "header", "rows", "message"),
    [
        (stratified, ["truth", "yhat"], [[1, 1]] * 800, "small.csv has no column 'prediction'. Its columns: truth, yhat."),
        (stratified, ["truth", "prediction"], [[1, 1]] * 800, "small.csv has no column 'score'"),
        (stratified, ["truth", "prediction", "score"], [[1, 1, 0.5], [0, 1, 0.5]] * 50, "Lesson 1 needs at least 700 rows; small.csv has 100."),
        (stratified, ["truth", "prediction", "score"], [[1, 1, 1.5], [0, 1, 0.5]] * 500, "score"),
        (stratified, ["truth", "prediction", "score"], [[1, 1, 0.5], ["", 1, 0.5]] * 500, "small.csv: column 'truth' is empty in row 3. Every row needs a value in this column."),
        (stratified, ["truth", "prediction", "score"], [[1, 1, 0.5], [0, 1, ""]] * 500, "small.csv: column 'score' is empty in row 3."),
        (stratified, ["truth", "prediction", "score"], [[1, 1, 0.5], [0, 0, 0.7]] * 500, "Lesson 1 needs correct and incorrect predictions of at least 2 classes; small.csv has 2 predicted classes and an accuracy of 100%."),
        (stratified, ["truth", "prediction", "score"], [[1, 1, 0.5], [0, 1, 0.5]] * 500, "Lesson 1 needs correct and incorrect predictions of at least 2 classes; small.csv has 1 predicted class and an accuracy of 50%."),
        (stratified, ["truth", "prediction", "score"], [[1, 1, 0.5], [0, 0, 0.9], [0, 1, 0.9]] * 300, "Lesson 1 needs scores that divide the rows into 5 strata. small.csv has 2 different scores, which give 2."),
        (stratified, ["truth", "prediction", "score", "margin"], [[1, 1, k / 900, 2] if k % 3 else [1, 0, k / 900, 2] for k in range(900)], "small.csv: column 'margin' must contain at least 2 different numbers."),
        (replication, ["truth", "prediction", "cluster"], [[1, 1, k // 100] for k in range(900)], "Lesson 2 needs correct and incorrect predictions"),
        (misclassification, ["truth", "prediction", "period"], [[1, 1, 1], [1, 0, 2], [0, 0, ""], [0, 1, 3], [0, 0, 1]] * 300, "small.csv: column 'period' is empty in row 4."),
        (replication, ["truth", "prediction"], [[1, 1]] * 800, "small.csv has no column 'cluster'"),
        (replication, ["truth", "prediction", "cluster"], [[1, 1, 1], [0, 1, 2]] * 50, "Lesson 2 needs at least 4 clusters of at least 10 rows each. small.csv has 2 clusters of 50 rows."),
        (replication, ["truth", "prediction", "cluster"], [[1, 1, 1], [0, 1, 1]] * 1000, "small.csv has 1 cluster of 2,000 rows."),
        (replication, ["truth", "prediction", "cluster"], [[1, 1, 1], [0, 1, 1]] * 1000 + [[1, 1, 2]] * 900, "small.csv has 2 clusters of 900 to 2,000 rows."),
        (misclassification, ["truth", "prediction"], [[1, 1], [0, 0]] * 500, "Lesson 4 needs a positive class with 2% to 40% of the rows, predicted better than by chance, with mistakes of both"),
        (cross_validation, ["truth", "prediction", "x_a"], [[1, 1, 3], [0, 0, 4]] * 500, "small.csv needs at least 2 columns of numbers whose names begin with 'x_'"),
        (cross_validation, ["truth", "prediction", "x_a", "x_b"], [[1, 1, 3, "much"], [0, 0, 4, 5]] * 500, "column 'x_b', row 2: 'much' is not a number"),
    ],
)  # fmt: skip
def test_a_file_that_a_lesson_cannot_show_is_refused_with_the_reason(
    tmp_path, lesson, header, rows, message
):
    with pytest.raises(ValueError, match=re.escape(message)):
        lesson.use(written(tmp_path, header, rows))
    assert lesson_data.are_digits()


@pytest.mark.parametrize(
    ("truth", "positive", "expected"),
    [([0, 1, 1, 1], "", 1), ([0, 1, 1, 1], 0, 0), (["a", "b", "b"], None, "a"), ([2, 3, 3], 3, 3)],
)
def test_the_positive_class_is_the_one_that_is_named_or_class_1_or_the_rarest(
    truth, positive, expected
):
    table = {"truth": truth, "prediction": truth}
    assert lesson_data.use_items(table, positive=positive).positive == expected


def test_columns_may_be_in_capitals_and_numbers_have_decimal_commas(tmp_path):
    header = [name.upper() for name in HEADER]
    rows = [[str(cell).replace(".", ",") for cell in row] for row in made_up()]
    path = tmp_path / "capitals.csv"
    with open(path, "w", encoding="utf-8", newline="") as file:
        csv.writer(file, delimiter=";").writerows([header, *rows])
    forms, table = cross_validation.use(str(path)), columns()
    np.testing.assert_allclose(forms.margin, table["margin"].astype(float))
    np.testing.assert_allclose(forms.features[:, 0], table["x_age"].astype(float))
    assert forms.read_b.tolist() == table["second"].tolist()


def test_the_readers_of_the_digits_are_shown_where_a_file_has_no_second_model(tmp_path, capsys):
    before = words(misclassification.seen_reader())
    rows = [[1, 1], [1, 1], [1, 0], [0, 0], [0, 0], [0, 0], [0, 0], [0, 1]] * 200
    misclassification.use(written(tmp_path, ["truth", "prediction"], rows))
    assert words(misclassification.seen_reader()) == before
    assert "180 forms" in repr(misclassification.predict_reader())
    assert capsys.readouterr().out.count("This scene is about the digit forms") == 2


CODE_CELLS = [
    (replication, "02-brr-orthogonal-arrays", ("code-boxes", "code-design", "code-worth")),
    (misclassification, "04-misclassification-correction", ("code-counted", "code-reader")),
]


@pytest.mark.parametrize(("lesson", "notebook", "names"), CODE_CELLS)
def test_code_cells_run_on_the_file(path, lesson, notebook, names):
    text = (notebooks_folder() / f"{notebook}.ipynb").read_text(encoding="utf-8")
    cells = {cell["id"]: "".join(cell["source"]) for cell in json.loads(text)["cells"]}
    space = {"np": np, "wb": workbench, "forms": lesson.use(path, positive="spam")}
    for name in names:
        exec(cells[name], space)
    if lesson is replication:
        table = columns()
        right = table["truth"] == table["prediction"]
        rates = [right[table["cluster"] == site].mean() for site in set(table["cluster"])]
        assert space["estimate"].estimate == pytest.approx(np.mean(rates))
    else:
        assert space["true"] == np.mean(columns()["truth"] == "spam")


def test_a_class_that_is_not_there_is_refused(path):
    with pytest.raises(ValueError, match="positive must be one of"):
        misclassification.use(path, positive="junk")


def test_what_the_file_does_not_hold_is_named(tmp_path):
    rows = [[1, 1], [1, 1], [1, 0], [0, 0], [0, 0], [0, 0], [0, 0], [0, 1]] * 200
    forms = misclassification.use(written(tmp_path, ["truth", "prediction"], rows))
    with pytest.raises(
        AttributeError, match="small.csv has no column 'second', which `read_b` needs"
    ):
        forms.read_b  # noqa: B018
    with pytest.raises(AttributeError, match="`image` exists for the digit forms only"):
        forms.image  # noqa: B018
    assert forms.positive == 1


# ---------------------------------------------------------------- the scenes


def test_lesson_1_shows_the_file(path, quick):
    forms = stratified.use(path)
    right = forms.read_a == forms.digit
    order = np.argsort(forms.confidence, kind="stable")
    sizes, found = scenes.fifths()
    assert sizes.tolist() == [182] * 5
    assert found.tolist() == [int(part.sum()) for part in np.split(right[order], 5)]
    assert f"{forms.confidence.mean():.1%}" in repr(stratified.how_sure())
    panel = scenes.strata_and_shares()
    text = words(panel)
    error = (right.var() * (1 - 100 / SIZE) * SIZE / (SIZE - 1) / 100) ** 0.5
    assert f"{error:.4f} for random sampling" in text
    robot = scenes.robot_studies()[0].coverage("wald")
    assert f"in {100 * robot:.0f} of 100 runs" in repr(stratified.predict_robot())
    twin = repr(stratified.predict_twin())
    assert "910 items" in twin and "1,797" not in twin
    assert "all 910 items" in words(scenes.labels_needed())


def test_lesson_2_shows_the_file_with_an_odd_number_of_clusters(path):
    forms = replication.use(path)
    right = forms.read_a == forms.digit
    rates = [right[forms.box == box].mean() for box in range(1, CLUSTERS + 1)]
    first = repr(replication.first_look())
    assert "11 clusters of about 83 items" in first
    assert f"{min(rates):.0%} of the items in cluster {int(np.argmin(rates)) + 1}" in first
    boxes = replication.fourteen_boxes()
    shown = [row["accuracy"] for row in boxes.view.picture["data"]["boxes"]]
    np.testing.assert_allclose(shown, rates)
    assert max(value for value in boxes.controls["per_box"].options if value != "all") < 82
    question = replication.predict_worth()
    assert repr(question) == (
        "Prediction: What is the effective sample size of the 910 labels in 11 clusters?"
    )
    assert question.control.options == ("910", "607", "303", "11")


def test_lesson_4_shows_the_rates_of_the_class_that_is_named(path, quick):
    forms = misclassification.use(path, positive="spam")
    truth, counted = forms.digit == "spam", forms.read_a == "spam"
    text = repr(misclassification.mosaic())
    assert f"Counted {counted.mean():.2%}, true {truth.mean():.2%}" in text
    reader = misclassification.seen_reader()
    rows = reader.parts[0].rows()
    assert [row["counts"] for row in rows] == [
        int((read == "spam").sum()) for read in (forms.read_a, forms.read_b)
    ]
    assert f"{truth.sum()} items are of class spam" in repr(misclassification.predict_reader())
    study = misclassification._study(0.3, 400)
    assert (study.base_rate, study.size) == (truth.mean(), SIZE)


def test_lesson_4_compares_the_periods_of_a_file(tmp_path, capsys):
    rng = np.random.default_rng(2)
    period = np.repeat(["2025-Q4", "2026-Q1", "2026-Q2"], [400, 500, 600])
    truth = rng.random(1500) < np.repeat([0.15, 0.2, 0.35], [400, 500, 600])
    read = np.where(rng.random(1500) < 0.9, truth, ~truth)
    rows = list(zip(truth.astype(int), read.astype(int), period, strict=True))
    misclassification.use(written(tmp_path, ["truth", "prediction", "period"], rows))
    counts, shares = misclassification._periods()
    quarters = [period == quarter for quarter in dict.fromkeys(period.tolist())]
    assert counts.tolist() == [[int((~read[q]).sum()), int(read[q].sum())] for q in quarters]
    np.testing.assert_allclose(shares, [truth[q].mean() for q in quarters])
    panel = misclassification.change()
    controls = panel.controls
    assert (controls["first"].value, controls["last"].value) == (1, 3)
    assert (controls["n"].max, controls["n"].value) == (400, 400)
    change = truth[quarters[2]].mean() - truth[quarters[0]].mean()
    assert f"the true change is {100 * change:+.2f} points" in panel.view.alternative
    levels = panel.view.picture["data"]["levels"]
    ends = panel.view.spec["hconcat"][0]["layer"][0]["encoding"]["y"]["scale"]["domain"]
    assert ends[0] <= min(row["low"] for row in levels)
    assert ends[1] >= max(row["high"] for row in levels) > 0.3
    text = words(panel) + words(misclassification.predict_change())
    assert re.findall(r"\b(?:forms?|panels?|[Mm]onths?)\b", text.replace('"month', "")) == []
    assert "from period 1 to period 3" in text
    question = misclassification.predict_change()
    halves = [
        float(re.search(r"about (.*?) points", option)[1]) for option in question.control.options
    ]
    low, high = misclassification._series(400).change(1, 3).limits
    assert halves[2] == pytest.approx(50 * (high - low), abs=0.06) and halves[2] < halves[0]
    assert "You predicted" not in words(misclassification.seen_change())
    assert capsys.readouterr().out == ""


def test_one_period_alone_is_refused(tmp_path):
    rows = [[1, 1, 1], [1, 0, 1], [0, 0, 1], [0, 0, 1], [0, 0, 1], [0, 1, 1]] * 200
    path = written(tmp_path, ["truth", "prediction", "period"], rows)
    with pytest.raises(ValueError, match="Lesson 4 needs at least 2 periods"):
        misclassification.use(path)


def test_lesson_5_cross_validates_on_the_features(path, quick):
    from sklearn.neighbors import KNeighborsClassifier

    forms = cross_validation.use(path)
    study = cross_validation._experiments("1nn", 40)
    nearest = KNeighborsClassifier(1).fit(forms.features[:450], forms.digit[:450])
    error = 1 - nearest.score(forms.features[450:], forms.digit[450:])
    assert abs(study.mean - error) < 0.08
    assert "samples of 40 items" in repr(cross_validation.experiments())
    assert "200 items in 10 folds" in repr(cross_validation.seen_skeptic())


DRIVEN = [
    (
        stratified,
        "how_sure predict_gain reveal_shares belief_of_sureness belief_of_five predict_robot",
    ),
    (stratified, "reveal_robot predict_looking reveal_looking predict_twin reveal_needed"),
    (replication, "first_look predict_worth seen_boxes seen_worth"),
    (misclassification, "mosaic predict_reader seen_reader predict_best seen_months held_constant"),
    (cross_validation, "experiments seen_skeptic"),
]


@pytest.mark.parametrize(
    ("lesson", "name"), [(lesson, name) for lesson, names in DRIVEN for name in names.split()]
)
def test_no_scene_of_the_file_speaks_of_forms_boxes_or_panels(path, quick, capsys, lesson, name):
    lesson.use(path, positive="spam")
    text = words(getattr(lesson, name)())
    assert (
        re.findall(r"\b(?:forms?|Forms|panels?|digits?|1,797|14 boxes|of box|reader)\b", text) == []
    )
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("lesson", "name"),
    [
        (stratified, "label_ten"),
        (replication, "predict_eight"),
        (replication, "seen_halves"),
        (misclassification, "predict_line"),
        (misclassification, "seen_change"),
        (cross_validation, "ten_folds"),
        (cross_validation, "predict_flip"),
    ],
)
def test_scenes_of_the_digits_say_so_and_stay_as_they_are(path, capsys, lesson, name):
    before = words(getattr(lesson, name)())
    assert capsys.readouterr().out == ""
    lesson.use(path, positive="spam")
    after = words(getattr(lesson, name)())
    assert capsys.readouterr().out == (
        "This scene is about the digit forms of the course, not about my_items.csv.\n"
    )
    assert re.sub(r"0x\w+", "", after) == re.sub(r"0x\w+", "", before)


def test_comments_that_quote_figures_of_the_digits_are_left_out(path):
    assert questions.answered(lesson_data.comments(replication.TEXTS.feedback("2-worth")), "14")
    replication.use(path)
    assert (
        questions.answered(lesson_data.comments(replication.TEXTS.feedback("2-worth")), "14") == []
    )


def test_exercises_stay_about_the_digits(path):
    checking._tries.clear()
    stratified.use(path)
    assert checking.check("1.2", [42, 30, 17, 9, 2]).verdict == "correct"
    assert checking.check("2.3", 33).message == "33 per box: effective sample size 1,182"
    assert checking.check("4.2", None).verdict == "no answer"
