"""Files in common shapes: the command says how it reads them, and reports what it cannot read in one line."""

import csv
import json

import duckdb
import pandas as pd
import pytest
from command import costs_one_line, ods, page_of, run, run_unseen
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, RepeatedKFold, cross_validate
from sklearn.tree import DecisionTreeClassifier

import workbench as wb
from workbench.data.json_records import by_column

N = 60
SCORED = [(f"i{k}", round(0.6 + 0.005 * k, 3), "ab"[k % 3 > 0], "ab"[k % 4 > 0]) for k in range(N)]
HEADER = ("id", "p", "read", "true")
NAMED = ("--score", "p", "--prediction", "read", "--id", "id", "--score-is", "confidence")


def write(folder, rows, name="a.csv", header=HEADER, delimiter=",", above=""):
    with open(folder / name, "w", newline="", encoding="utf-8") as file:
        file.write(above)
        csv.writer(file, delimiter=delimiter).writerows([header, *rows])


def planned(folder, *options, source="a.csv"):
    """Return the output of the command that plans an audit."""
    done = run(folder, "audit", "new", source, "a.db", "--budget", "20", *options)
    assert done.returncode == 0, done.stderr
    return done.stdout


def refused(folder, *options, source="a.csv"):
    done = run(folder, "audit", "new", source, "a.db", "--budget", "20", *options)
    assert (
        done.returncode == 2
        and len(done.stderr.splitlines()) == 1
        and not (folder / "a.db").exists()
    )
    return done.stderr


def test_a_column_of_probabilities_per_class(tmp_path):
    write(
        tmp_path,
        [
            (f"i{k}", *((0.5, 0.5, 0) if k == 3 else (0.5 + k / 400, 0.25, 0.25 - k / 400)))
            for k in range(N)
        ],
        header=("id", "p_cat", "p_dog", "p_0x"),
    )
    said = planned(tmp_path, "--probabilities", "p_*", "--id", "id")
    assert (
        "prediction and confidence come from the highest of 3 columns of probabilities"
        in said.replace("\n", " ")
    )
    assert "in 1 row, several classes have the highest probability" in said
    items = wb.read_scores(tmp_path / "a.csv", score="score", probabilities="p_*")
    assert set(items.prediction) == {"cat"} and items.score.tolist() == [
        0.5 + k / 400 * (k != 3) for k in range(N)
    ]


@pytest.mark.parametrize(
    "row, options, message",
    [
        (
            (".5", ".6"),
            ["--probabilities", "p_*"],
            "probabilities 'p_a', 'p_b' must sum to 1, but in row 3 they sum to 1.1",
        ),
        (
            ("1.5", "-.5"),
            ["--probabilities", "p_*"],
            "column 'p_a', row 3: 1.5 is not a probability from 0 to 1",
        ),
        (
            ("", "1"),
            ["--probabilities", "p_*"],
            "column 'p_a', row 3 is empty. Fill the cell or delete the row",
        ),
        (
            (".5", ".5"),
            ["--probabilities", "p"],
            "must have one asterisk in place of the class",
        ),
        (
            (".5", ".5"),
            ["--probabilities", "q_*"],
            "it matches none of the columns 'id', 'p_a', 'p_b'",
        ),
        (
            (".5", ".5"),
            ["--probabilities", "p_*", "--prediction", "id"],
            "must not be given with --prediction",
        ),
        (
            (".5", ".5"),
            [],
            "If 'p_a', 'p_b' are probabilities of classes, use --probabilities 'p_*' instead",
        ),
    ],
)
def test_probabilities_that_cannot_be_read(tmp_path, row, options, message):
    write(
        tmp_path, [("x", ".5", ".5"), ("y", *row), ("z", ".3", ".7")], header=("id", "p_a", "p_b")
    )
    assert message in refused(tmp_path, *options)


def test_rows_that_lack_a_score_are_left_out_and_the_page_says_so(tmp_path):
    write(
        tmp_path,
        [
            (id, "NaN" if k % 9 == 4 else p, "" if k == 7 else read, true)
            for k, (id, p, read, true) in enumerate(SCORED)
        ],
    )
    assert "column 'read', row 9 is empty. Fill the cell or delete the row" in refused(
        tmp_path, *NAMED
    )
    done = run_unseen(
        tmp_path,
        "report",
        "stratified-accuracy",
        "--scores",
        "a.csv",
        *NAMED[:4],
        "--truth",
        "true",
        "--leave-out",
        "missing",
        "-o",
        "r.html",
        "--budget",
        "20",
        "--score-is",
        "confidence",
    )
    page = page_of(done, tmp_path)
    assert (
        "8 of 60 rows were left out because they have no score or prediction: rows 6, 9, 15, 24, 33 and 3 more"
        in page
    )
    assert "8 of 60 rows were left out" in planned(tmp_path, *NAMED, "--leave-out", "missing")
    items = wb.read_scores(
        tmp_path / "a.csv", score="p", prediction="read", leave_out="missing", score_is="confidence"
    )
    assert items.size == 52 and items.id.tolist()[:8] == [1, 2, 3, 4, 6, 7, 9, 10]


def test_a_second_model_in_a_file_of_its_own(tmp_path):
    write(tmp_path, SCORED)
    write(tmp_path, [(f"i{N - k}", "ab"[k % 7 > 2]) for k in range(N)], "b.csv", ("id", "read"))
    both = (*NAMED, "--rival", "b.csv", "--question", "difference")
    assert "b.csv has no row for 1 of 60 items: 'i0'" in refused(tmp_path, *both)
    said = planned(tmp_path, *both, "--leave-out", "missing")
    assert (
        "the second model's predictions come from column 'read' of b.csv; rows are matched by 'id'"
        in said
    )
    assert "b.csv has 1 row whose identifier belongs to no item: 'i60'" in said
    items = wb.read_scores(
        tmp_path / "a.csv",
        score="p",
        prediction="read",
        id="id",
        rival=str(tmp_path / "b.csv"),
        leave_out="missing",
        score_is="confidence",
    )
    assert dict(zip(items.id, items.rival, strict=True)) == {
        f"i{N - k}": "ab"[k % 7 > 2] for k in range(1, N)
    }


def test_a_rival_that_is_a_column_and_a_file_is_asked_for(tmp_path):
    write(tmp_path, [(*row, "a") for row in SCORED], header=(*HEADER, "b.csv"))
    write(tmp_path, [("i0", "a")], "b.csv", ("id", "read"))
    assert "--rival must be either a column or a file; columns:" in refused(
        tmp_path, *NAMED, "--rival", "b.csv"
    )
    write(tmp_path, SCORED)
    write(tmp_path, [("i0", "a"), ("i0", "b")], "b.csv", ("id", "read"))
    assert "b.csv has id 'i0' twice" in refused(tmp_path, *NAMED, "--rival", "b.csv")


def test_models_that_spell_classes_in_two_ways_are_not_compared(tmp_path):
    write(tmp_path, SCORED)
    write(tmp_path, [(id, read * 2) for id, _, read, _ in SCORED], "b.csv", ("id", "read"))
    both = (*NAMED, "--rival", "b.csv", "--question", "difference")
    assert (
        "the two models have no class in common: 'a', 'b' against 'aa', 'bb'. Check the names of the columns, or use the same spelling in both"
        in refused(tmp_path, *both)
    )
    write(
        tmp_path,
        [(id, "A" if read == "a" else "b") for id, _, read, _ in SCORED],
        "b.csv",
        ("id", "read"),
    )
    assert "'a' looks like 'A' in column 'predictions of b.csv'. Spell them alike" in refused(
        tmp_path, *both
    )
    assert "first model's class 'a' is never predicted by the second model (20 items)" in planned(
        tmp_path, *both, "--classes", "text"
    )


@pytest.mark.parametrize(
    "command, header, rows",
    [
        (
            ("cross-validation-t-tests", "--better", "higher", "--losses"),
            ("fold", "tree", "svm"),
            [(k, 0.8 + k / 100, 0.7) for k in range(5)] + [("mean", 0.82, 0.7)],
        ),
        (
            ("voila-vs-neyman", "--strata"),
            ("stratum", "size", "sd"),
            [("a", 50, 1), ("b", 70, 2), ("Total", 120, 3)],
        ),
        (
            (
                "misclassification-correction",
                "--truth",
                "t",
                "--prediction",
                "p",
                "--audit",
                "audit.csv",
                "--counts",
            ),
            ("period", "a", "b"),
            [("2026-01", 60, 40), ("2026-02", 50, 50), ("Summe", 110, 90)],
        ),
    ],
    ids=["folds", "strata", "periods"],
)
def test_a_row_about_the_others_is_refused(tmp_path, command, header, rows):
    write(tmp_path, [("ab"[k % 3 > 0], "ab"[k % 4 > 0]) for k in range(N)], "audit.csv", ("t", "p"))
    write(tmp_path, rows, header=header)
    costs_one_line(
        tmp_path,
        f"{rows[-1][0]!r} summarizes other rows. Remove this row",
        "report",
        *command,
        "a.csv",
    )


def test_a_row_per_item_and_model(tmp_path):
    rows = [
        (id, model, p, said)
        for id, p, read, true in SCORED
        for model, said in (("old", read), ("new", true))
    ]
    write(tmp_path, rows, header=("id", "who", "p", "read"))
    said = planned(tmp_path, *NAMED, "--model", "who", "--rival", "new", "--question", "difference")
    assert "Its predictions are compared with those of 'new'; rows are matched by 'id'" in said
    items = wb.read_scores(
        tmp_path / "a.csv", score="p", prediction="read", id="id", model="who", rival="new"
    )
    assert items.rival.tolist() == [true for *_, true in SCORED]
    (tmp_path / "a.db").unlink()
    assert "did you mean 'new'" in refused(tmp_path, *NAMED, "--model", "who", "--rival", "neu")
    assert "--id must be named" in refused(
        tmp_path, "--score", "p", "--model", "who", "--rival", "new"
    )


@pytest.mark.parametrize("ending", ["jsonl", "json", "parquet"])
def test_nested_columns_by_dots(tmp_path, ending):
    records = [{"id": id, "out": {"p": p, "label": {"text": read}}} for id, p, read, _ in SCORED]
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, records)))
    (tmp_path / "a.json").write_text(json.dumps(records))
    duckdb.sql(f"COPY (FROM read_json('{tmp_path}/a.jsonl')) TO '{tmp_path}/a.parquet'")
    planned(
        tmp_path,
        "--score",
        "out.p",
        "--prediction",
        "out.label.text",
        "--score-is",
        "confidence",
        source=f"a.{ending}",
    )
    items = wb.read_scores(
        tmp_path / f"a.{ending}", score="out.p", prediction="out.label.text", score_is="confidence"
    )
    assert items.prediction.tolist() == [read for _, _, read, _ in SCORED]


@pytest.mark.parametrize("orient", ["columns", "split", "records", "list"])
def test_json_as_pandas_writes_it(tmp_path, orient):
    frame = pd.DataFrame(SCORED, columns=HEADER)
    text = json.dumps(frame.to_dict("list")) if orient == "list" else frame.to_json(orient=orient)
    (tmp_path / "a.json").write_text(text)
    items = wb.read_scores(
        tmp_path / "a.json", score="p", prediction="read", id="id", score_is="confidence"
    )
    assert items.id.tolist() == frame.id.tolist() and items.score.tolist() == frame.p.tolist()
    assert by_column({"id": 7, "read": {"a": 1}}) == by_column({"a": [1], "b": [1, 2]}) == {}


def test_points_that_may_separate_thousands_are_asked_for(tmp_path):
    write(
        tmp_path,
        [(v, k % 2) for k, v in enumerate(["1.216", "980", "2.418", "3.158"] * 9)],
        header=("v", "y"),
        delimiter=";",
    )
    costs_one_line(
        tmp_path,
        "'1.216' may be 1216 or 1.216",
        "report",
        "brr-orthogonal-arrays",
        "--items",
        "a.csv",
        "--truth",
        "y",
        "--prediction",
        "y",
        "--weight",
        "v",
    )


def test_percent_logarithms_and_words(tmp_path):
    words = [("richtig", "falsch"), ("Vrai", "Faux"), ("sí", "no"), ("juste", "faux")]
    for right, wrong in words:
        write(
            tmp_path,
            [
                (id, f"{100 * p:.1f} %".replace(".", ","), right if k % 3 else wrong)
                for k, (id, p, *_) in enumerate(SCORED)
            ],
            "a.csv",
            ("id", "p", "ok"),
            ";",
            "sep=;\n",
        )
        items = wb.read_scores(tmp_path / "a.csv", score="p", truth="ok")
        assert items.correct.tolist() == [k % 3 > 0 for k in range(N)] and items.score[1] == 0.605
        told = " ".join(map(str, items.notes))
        assert (
            f"'{wrong}' means incorrect" in told
            and "is in percent: '60,0 %' is read as 0.6" in told
        )
    write(
        tmp_path,
        [(id, -k / 100, "a") for k, (id, *_) in enumerate(SCORED)],
        header=("id", "p", "read"),
    )
    assert "If all are logarithms of probabilities" in refused(
        tmp_path, "--score", "p", "--score-is", "confidence"
    )
    assert "scores are natural logarithms of the confidence: -0.59 becomes 0.5543" in planned(
        tmp_path, "--score", "p", "--score-is", "log_confidence"
    )


def test_an_open_document(tmp_path):
    ods(tmp_path / "a.ods", [("All of May",), HEADER, *SCORED])
    assert "the header is row 2" in planned(tmp_path, *NAMED, source="a.ods#May")
    ods(tmp_path / "b.ods", [HEADER, *SCORED[:2], ("i2", "#DIV/0!", "a", "b")])
    (tmp_path / "a.db").unlink()
    assert "column 'p', row 4: '#DIV/0!' is not a number" in refused(
        tmp_path, *NAMED, source="b.ods"
    )


@pytest.fixture(scope="module")
def searched():
    X, y = make_classification(80, random_state=0)
    once = GridSearchCV(LogisticRegression(), {"C": [0.01, 1]}, cv=5).fit(X, y).cv_results_
    folds = RepeatedKFold(n_splits=4, n_repeats=3, random_state=0)
    often = GridSearchCV(
        DecisionTreeClassifier(random_state=0),
        {"max_depth": [1, 3]},
        cv=folds,
        refit=False,
        scoring=["accuracy", "f1"],
    ).fit(X, y)
    models = {"lr": LogisticRegression(), "tree": DecisionTreeClassifier(random_state=0)}
    return (
        once,
        often.cv_results_,
        {name: cross_validate(model, X, y, cv=5) for name, model in models.items()},
    )


def test_what_scikit_learn_writes(tmp_path, searched):
    once, often, results = searched
    frame = pd.DataFrame(once)
    frame.to_csv(tmp_path / "a.csv")
    frame.to_json(tmp_path / "a.json")
    for name in ("a.csv", "a.json"):
        found = wb.CVLosses.read_csv(tmp_path / name, higher_is_better=True)
        assert found.losses[:, 1].tolist() == [-once[f"split{k}_test_score"][1] for k in range(5)]
    pd.DataFrame(often).to_csv(tmp_path / "b.csv")
    found = wb.CVLosses.read_csv(tmp_path / "b.csv", value="f1", folds=4)
    assert (found.folds, found.repeats) == (4, 3) and found.losses[5, 0] == often["split5_test_f1"][
        0
    ]
    (tmp_path / "c.json").write_text(
        json.dumps(
            {
                name: {key: cells.tolist() for key, cells in each.items()}
                for name, each in results.items()
            }
        )
    )
    pd.concat([pd.DataFrame(each).assign(model=name) for name, each in results.items()]).to_csv(
        tmp_path / "c.csv"
    )
    for name in ("c.json", "c.csv"):
        found = wb.CVLosses.read_csv(tmp_path / name)
        assert (
            found.models == ("lr", "tree")
            and found.losses[:, 0].tolist() == results["lr"]["test_score"].tolist()
        )


def test_what_scikit_learn_writes_and_leaves_open(tmp_path, searched):
    _, often, results = searched
    pd.DataFrame(often).to_csv(tmp_path / "b.csv")
    pd.DataFrame(results["lr"]).to_csv(tmp_path / "d.csv")
    for name, options, message in (
        ("b.csv", {}, "value must name one of the metrics 'accuracy', 'f1'"),
        ("b.csv", {"value": "f1"}, "folds must say how many of the 12 splits"),
        ("b.csv", {"value": "f1", "folds": 5}, "folds must say how many of the 12 splits"),
        ("d.csv", {}, "there are 1 model with 5 splits"),
    ):
        with pytest.raises(ValueError, match=message):
            wb.CVLosses.read_csv(tmp_path / name, **options)


def test_rows_of_scikit_learn_are_named_by_their_models(searched):
    once, _, _ = searched
    scores = {f"split{k}_test_score": list(once[f"split{k}_test_score"]) for k in range(5)}
    named = {"model": ["logistic", "strong"], **scores}
    assert wb.CVLosses.read_csv(named).models == ("logistic", "strong")
    twice = {name: cells * 2 for name, cells in scores.items()}
    models = {"model": ["a", "a", "b", "b"], "params": ["{'C': 1}", "{'C': 2}"] * 2}
    cv = wb.CVLosses.read_csv(models | twice)
    assert cv.models == ("a C=1", "a C=2", "b C=1", "b C=2")
    assert cv.losses[0].tolist() == [*scores["split0_test_score"]] * 2
    with pytest.raises(ValueError, match="every row must be a different model, but 'C=1' is in"):
        wb.CVLosses.read_csv({"params": models["params"], **twice})


def test_columns_of_scikit_learn_may_be_models(searched):
    *_, results = searched
    scores = {f"test_{name}": result["test_score"] for name, result in results.items()}
    with pytest.raises(ValueError, match="list their columns in models: test_lr, test_tree; got"):
        wb.CVLosses.read_csv(scores, folds=5)
    cv = wb.CVLosses.read_csv(scores, models="test_tree,test_lr", folds=5)
    assert cv.models == ("test_tree", "test_lr")
    assert cv.losses[:, 1].tolist() == results["lr"]["test_score"].tolist()


def test_models_of_scikit_learn_are_chosen_and_splits_are_doubted(tmp_path, searched):
    *_, results = searched
    lists = {
        name: {"test_score": result["test_score"].tolist()} for name, result in results.items()
    }
    path = tmp_path / "cv.json"
    path.write_text(json.dumps({**lists, "other": lists["lr"]}))
    cv = wb.CVLosses.read_csv(path, models="tree,lr")
    assert cv.models == ("tree", "lr")
    assert cv.losses[:, 0].tolist() == results["tree"]["test_score"].tolist()
    with pytest.raises(ValueError, match="models must be one of 'lr', 'tree', 'other'; got 'svm'"):
        wb.CVLosses.read_csv(path, models="svm,lr")
    doubted = [
        any("For random splits (ShuffleSplit)" in note.text for note in of_scheme.notes)
        for of_scheme in (cv, wb.CVLosses.read_csv(path, splits="folds"))
    ]
    assert doubted == [True, False]


def test_tables_with_a_count_in_a_column(tmp_path):
    pairs = [("a", "a", 122), ("a", "b", 17), ("b", "a", 21), ("b", "b", 80)]
    write(tmp_path, pairs, header=("truth", "prediction", "n"))
    counts = [
        ("2026-01", "a", 700),
        ("2026-01", "b", 300),
        ("2026-02", "a", 650),
        ("2026-02", "b", 350),
    ]
    write(tmp_path, counts, "b.csv", ("period", "prediction", "n"))
    page = page_of(
        run_unseen(
            tmp_path,
            "report",
            "misclassification-correction",
            "--audit",
            "a.csv",
            "--counts",
            "b.csv",
            "--sampled-by",
            "random",
            "-o",
            "r.html",
        ),
        tmp_path,
    )
    assert "column 'n' holds the number of items of each row, 2,000 in total" in page
    audited = wb.load_audit(str(tmp_path / "a.csv"))
    assert audited.table.tolist() == [[122, 17], [21, 80]]
    assert wb.load_periods(str(tmp_path / "b.csv"), labels=("a", "b")) == {
        "2026-01": (700, 300),
        "2026-02": (650, 350),
    }
    write(tmp_path, [*pairs[:3], ("b", "b", "many")], header=("truth", "prediction", "n"))
    costs_one_line(
        tmp_path,
        "column 'n', row 5: 'many' is not a number of items",
        "report",
        "misclassification-correction",
        "--audit",
        "a.csv",
        "--counts",
        "b.csv",
    )


@pytest.mark.parametrize(
    "rows, counts, message",
    [
        (
            [("a", 122, 17, 139), ("b", 21, 80, 101), ("All", 144, 97, 240)],
            [("2026-01", "a")],
            "row 'All', column 'a' is 144 and the classes add up to 143. Correct it, drop the",
        ),
        (
            [("a", 122, 17, ""), ("b", 21, 80, "")],
            [("2026-01-01 00:30", "a"), ("2026-01-01 02:30", "b")],
            "'2026-01-01 00:30' has 1 item. If periods are days or hours, combine them with --every month",
        ),
    ],
)
def test_tables_with_margins_and_moments_in_the_place_of_months(tmp_path, rows, counts, message):
    write(tmp_path, rows, header=("truth", "a", "b", "All"))
    write(tmp_path, counts, "b.csv", ("period", "prediction"))
    costs_one_line(
        tmp_path,
        message,
        "report",
        "misclassification-correction",
        "--audit",
        "a.csv",
        "--counts",
        "b.csv",
    )


def test_lines_above_the_names_and_names_among_the_rows(tmp_path):
    write(tmp_path, [*SCORED[:30], HEADER, *SCORED[30:]], above="# exported\n")
    assert "row 33 repeats the names of the columns. Remove it" in refused(tmp_path, *NAMED)
    write(tmp_path, SCORED, above="# exported, by a tool\n\n")
    assert "left out 2 lines above the names of the columns, which begin with '#'" in planned(
        tmp_path, *NAMED
    )


@pytest.mark.parametrize(
    "table",
    [
        lambda rows: {"columns": list(HEADER), "data": rows},
        lambda rows: {"version": "1", "data": records(rows)},
        lambda rows: {
            "features": [{"name": "p"}],
            "rows": [{"row_idx": 0, "row": row} for row in records(rows)],
        },
        lambda rows: json.loads(pd.DataFrame(records(rows)).to_json(orient="table")),
    ],
    ids=["columns", "data", "rows of a viewer", "a table of pandas"],
)
def test_json_that_wraps_its_rows(tmp_path, table):
    (tmp_path / "a.json").write_text(
        json.dumps(table([list(row) for row in SCORED])), encoding="utf-8"
    )
    items = wb.read_scores(
        tmp_path / "a.json", score="p", prediction="read", id="id", score_is="confidence"
    )
    assert items.id.tolist() == [row[0] for row in SCORED] and items.score.tolist() == [
        row[1] for row in SCORED
    ]


def records(rows):
    return [dict(zip(HEADER, row, strict=True)) for row in rows]


def test_values_whose_points_may_separate_thousands_are_asked_for(tmp_path):
    write(
        tmp_path,
        [("ab"[k % 2], v) for k, v in enumerate(["1.216", "980", "2.418"] * 9)],
        header=("g", "v"),
    )
    told = ("report", "voila-vs-neyman", "--strata", "a.csv", "--stratum", "g", "--value", "v")
    costs_one_line(tmp_path, "'1.216' may be 1216 or 1.216", *told)
    write(
        tmp_path,
        [("ab"[k % 2], v) for k, v in enumerate(["1.216", "980", "2.41"] * 9)],
        header=("g", "v"),
    )
    assert wb.summarize(str(tmp_path / "a.csv"), "g", "v").mean.max() < 500


def test_a_sheet_that_was_not_asked_for_is_told(tmp_path):
    with pd.ExcelWriter(tmp_path / "a.xlsx") as book:
        for name in ("May", "June"):
            pd.DataFrame(SCORED, columns=HEADER).to_excel(book, sheet_name=name, index=False)
    assert (
        "sheet 'May' was read, the first of 2. To read another sheet, add for example '#June' to the file name"
        in planned(tmp_path, *NAMED, source="a.xlsx").replace("\n", " ")
    )
