"""The report of a single period: a table of all classes instead of a series."""

import json

import pytest
from command import page_of, run_here

from workbench.reports.inputs.misclassification import read

TOPIC = ("report", "misclassification-correction")
CLASSES = ["bog", "dry land", "forest", "lake"]
# rows are mapped classes
POINTS = [[66, 0, 5, 4], [0, 55, 8, 12], [1, 0, 153, 11], [2, 1, 9, 313]]
PIXELS = [200_000, 150_000, 3_200_000, 6_450_000]


@pytest.fixture
def files(tmp_path):
    lines = ["map,reference"]
    for mapped, counts in zip(CLASSES, POINTS, strict=True):
        for true, count in zip(CLASSES, counts, strict=True):
            lines += [f"{mapped},{true}"] * count
    (tmp_path / "points.csv").write_text("\n".join(lines), encoding="utf-8")
    lines = [f"{name},{pixels}" for name, pixels in zip(CLASSES, PIXELS, strict=True)]
    (tmp_path / "areas.csv").write_text("\n".join(["class,area", *lines]), encoding="utf-8")
    return tmp_path


def one_period(folder, **more):
    names = {"truth": "reference", "prediction": "map"}
    sources = {"audit": str(folder / "points.csv"), "counts": str(folder / "areas.csv")}
    return read(**sources, **names, **more)


def test_a_single_period_is_a_table_of_classes(files):
    classes = one_period(files).classes
    share = 0.02 * 66 / 75 + 0.32 / 165 + 0.645 * 2 / 325
    assert classes.proportion[0, 0] == pytest.approx(share)
    assert classes.sampled_by == "prediction"
    texts = [note.text for note in classes.notes]
    assert "column 'area' holds the number of items of each row, 10,000,000 in total" in texts
    assert "predicted classes are read from column 'class', which holds classes of the audit" in (
        texts
    )
    random = one_period(files, sampled_by="random").classes
    assert random.accuracy.estimate == classes.accuracy.estimate


def test_a_method_of_your_choice_is_a_series(files):
    *_, series = one_period(files, method="calibration", sampled_by="prediction")
    assert series.basis().startswith("From 640 audited items and the predicted counts of 1 period")
    assert "of 4 classes, the largest one" in series.basis()


def test_too_few_labels_of_a_predicted_class(files):
    audit = files / "points.csv"
    pairs = ["a,a"] * 50 + ["b,b"] * 30 + ["a,b"] * 5 + ["b,a"] * 4 + ["c,c"]
    audit.write_text("\n".join(["map,reference", *pairs]), encoding="utf-8")
    (files / "areas.csv").write_text("class,area\na,5500\nb,3400\nc,110\n", encoding="utf-8")
    *_, series = one_period(files)
    texts = [note.text for note in series.notes]
    assert any(text.startswith("no table of accuracy, precision and recall: the") for text in texts)
    with pytest.raises(ValueError, match="Of the 110 items predicted 'c', 1 has a label"):
        one_period(files, sampled_by="prediction")


def test_a_half_width_that_is_none_is_refused_before_the_run(files):
    with pytest.raises(ValueError, match=r"half_width must be a number in \(0, 0.5\)"):
        one_period(files, half_width=2)
    with pytest.raises(ValueError, match="half_width needs items that were sampled by prediction"):
        one_period(files, half_width=0.05, sampled_by="truth")


def test_from_files_to_page(files):
    names = ("--audit", "points.csv", "--counts", "areas.csv", "--truth", "reference")
    options = ("--prediction", "map", "--half-width", "0.05", "--json", "r.json")
    page = page_of(run_here(files, *TOPIC, *names, *options, "-o", "r.html", "--quiet"), files)
    finding = "Accuracy 94.7% (95% confidence interval 92.4% to 96.3%). Class proportions: bog 2.35% (1.69% to 3.49%), "
    assert finding in page and "assumed to be sampled by prediction" in page
    assert "How accurate are the classes" in page and "Labels needed for a given half-width" in page
    for other in (
        "changed most",
        "Changes between periods",
        "Compare the estimators",
        "The series",
    ):
        assert other not in page
    results = {each["name"]: each for each in json.loads((files / "r.json").read_text())["results"]}
    rows = results["classes"]["rows"]
    assert [row["label"] for row in rows] == CLASSES
    assert rows[1]["precision"] == pytest.approx(55 / 75)
    assert results["classification_plan"]["rows"][1]["to_label"] > 200
