"""The files that the pages of the site work on, made here, and the people who fill their sheets."""

import csv
import functools
import json
import shutil
from pathlib import Path

import duckdb
import numpy as np

ITEMS = 5000
# Olofsson et al., Remote Sensing of Environment 148, 2014, section 5: labels by mapped class
LAND_COVER = ("deforestation", "forest gain", "stable forest", "stable nonforest")
LABELED_PIXELS = ((66, 0, 5, 4), (0, 55, 8, 12), (1, 0, 153, 11), (2, 1, 9, 313))


@functools.cache
def scored():
    """Return items with the chance of fraud, two models' predictions and the truth, which the file does not hold."""
    rng = np.random.default_rng(11)
    truth = rng.random(ITEMS) < 0.08
    score = np.clip(rng.beta(np.where(truth, 3, 1.2), np.where(truth, 2, 6)), 0.0005, 0.9995).round(
        4
    )
    rival = np.where(rng.random(ITEMS) < 0.05, ~truth, score >= 0.42)
    return [
        (str(k), p, classes(p >= 0.5), classes(new), f"payment {k}", classes(true))
        for k, (p, new, true) in enumerate(zip(score.tolist(), rival, truth, strict=True), 1)
    ]


def classes(fraud):
    """Return the class of an item in words."""
    return "fraud" if fraud else "fine"


def my(path):
    """Write scored items without their truth."""
    table(path, ["item", "p", "yhat", "yhat_new", "text"], [row[:-1] for row in scored()])


def my_labels(path):
    """Copy 100 filled labels of items of my.csv, sampled by `workbench report`."""
    shutil.copyfile(Path(__file__).parents[1] / "notebooks" / "data" / "my-labels.csv", path)


def samples_qa(path):
    """Write a log as lm-evaluation-harness does: 1,200 questions of two subjects and the scorer's verdict."""
    rng = np.random.default_rng(12)
    with path.open("w", encoding="utf-8") as file:
        for k, verdict in enumerate((rng.random(1200) < 0.7).astype(float).tolist()):
            file.write(
                json.dumps(
                    {
                        "doc_id": k,
                        "doc": {"question": f"question {k}", "subject": ("law", "logic")[k % 2]},
                        "target": "yes",
                        "resps": [["Yes."]],
                        "arguments": {
                            "gen_args_0": {"arg_0": f"question {k}", "arg_1": {"until": ["\n"]}}
                        },
                        "filtered_resps": ["Yes."],
                        "filter": "strict-match",
                        "metrics": ["exact_match"],
                        "doc_hash": str(k),
                        "exact_match": verdict,
                    }
                )
                + "\n"
            )


def records(path):
    """Write invoices of four segments with their amounts."""
    rng = np.random.default_rng(13)
    segment = rng.choice(["small", "medium", "large", "huge"], 20_000, p=[0.8, 0.15, 0.045, 0.005])
    spread = {"small": 1, "medium": 6, "large": 40, "huge": 300}
    amount = [round(float(rng.lognormal(3, 0.5) * spread[name]), 2) for name in segment]
    rows = path.with_suffix(".csv")
    table(
        rows,
        ["item", "segment", "amount", "correct", "text"],
        [
            (k, name, value, int(k % 7 > 0), f"invoice {k}")
            for k, (name, value) in enumerate(zip(segment, amount, strict=True))
        ],
    )
    duckdb.sql(f"copy (from '{rows}') to '{path}' (format parquet, compression zstd)")
    rows.unlink()


def audit(path):
    """Write 500 audited letters of the first month, true and predicted class."""
    cells = {
        ("other", "other"): 361,
        ("other", "complaint"): 24,
        ("complaint", "other"): 16,
        ("complaint", "complaint"): 99,
    }
    table(
        path, ["truth", "prediction"], [pair for pair, count in cells.items() for _ in range(count)]
    )


def months(path):
    """Write how many of 4,000 letters a month were predicted to be complaints."""
    counted = (985, 1002, 968, 940, 902, 871)
    table(
        path,
        ["period", "n", "counted"],
        [(f"2026-{k:02}", 4000, count) for k, count in enumerate(counted, 1)],
    )


def validation(path):
    """Write 100 known negatives and 100 known positives of a validation study, and what a test says of them."""
    cells = {("neg", "neg"): 90, ("neg", "pos"): 10, ("pos", "neg"): 5, ("pos", "pos"): 95}
    table(
        path, ["truth", "prediction"], [pair for pair, count in cells.items() for _ in range(count)]
    )


def herd(path):
    """Write how many of 150 animals tested positive."""
    table(path, ["period", "n", "counted"], [("herd", 150, 4)])


def points(path):
    """Write the labeled pixels of a published land-cover map: mapped and true class."""
    rows = []
    for mapped, counts in zip(LAND_COVER, LABELED_PIXELS, strict=True):
        for true, count in zip(LAND_COVER, counts, strict=True):
            rows += [(mapped, true)] * count
    table(path, ["map", "reference"], rows)


def areas(path):
    """Write the pixels of each class of the land-cover map."""
    pixels = (200_000, 150_000, 3_200_000, 6_450_000)
    table(path, ["map", "pixels"], zip(LAND_COVER, pixels, strict=True))


def audits(path):
    """Write 100 audited letters of each of four months: month, true and predicted class."""
    cells = [(72, 5, 3, 20), (73, 4, 4, 19), (75, 5, 3, 17), (74, 4, 5, 17)]
    pairs = [
        ("other", "other"),
        ("other", "complaint"),
        ("complaint", "other"),
        ("complaint", "complaint"),
    ]
    table(
        path,
        ["period", "truth", "prediction"],
        [
            (f"2026-{month:02}", *pair)
            for month, counts in enumerate(cells, 1)
            for pair, count in zip(pairs, counts, strict=True)
            for _ in range(count)
        ],
    )


def weighted(path):
    """Write 300 audited letters, complaints by phone audited ten times as often as those by post."""
    pairs = [
        ("other", "other"),
        ("other", "complaint"),
        ("complaint", "other"),
        ("complaint", "complaint"),
    ]
    counts = {1: (108, 6, 5, 31), 10: (110, 8, 5, 27)}
    table(
        path,
        ["truth", "prediction", "weight"],
        [
            (*pair, weight)
            for weight, cells in counts.items()
            for pair, count in zip(pairs, cells, strict=True)
            for _ in range(count)
        ],
    )


def predictions(path):
    """Write the day and the predicted class of 6,000 letters of half a year."""
    rng = np.random.default_rng(5)
    day = np.datetime64("2026-01-01") + rng.integers(0, 181, 6000)
    table(
        path,
        ["date", "prediction"],
        zip(day.astype(str), np.where(rng.random(6000) < 0.24, "complaint", "other"), strict=True),
    )


def labeled(path):
    """Write 720 labeled items of 24 persons in 6 districts."""
    rng = np.random.default_rng(14)
    person = np.repeat(np.arange(24), 30)
    truth = (rng.random(720) < 0.3).astype(int)
    wrong = rng.random(720) < np.repeat(rng.beta(2, 10, 24), 30)
    table(
        path,
        ["y", "yhat", "district", "person", "w"],
        zip(
            truth,
            np.where(wrong, 1 - truth, truth),
            person // 4,
            person,
            (1 + person % 3) / 2,
            strict=True,
        ),
    )


def images(path):
    """Write 480 labeled images of 40 patients with the classes and scores of two models."""
    rng = np.random.default_rng(21)
    patient = np.repeat(np.arange(40), 12)
    truth = (rng.random(480) < 0.3).astype(int)
    hard = 0.7 * rng.normal(size=480) + 0.3 * rng.normal(size=40)[patient]
    scores = [
        (signal * truth + hard + rng.normal(size=480) * 0.7).round(3) for signal in (1.1, 1.6)
    ]
    table(
        path,
        ["patient", "y", "old", "new", "s_old", "s_new"],
        zip(
            patient.tolist(),
            truth.tolist(),
            *((s > cut).astype(int).tolist() for s, cut in zip(scores, (0.6, 0.8), strict=True)),
            *(score.tolist() for score in scores),
            strict=True,
        ),
    )


def topics(path):
    """Write the true and the predicted topics of 200 messages."""
    rng = np.random.default_rng(19)
    names = np.array(["invoice", "refund", "delivery"])
    true = rng.random((200, 3)) < [0.5, 0.3, 0.2]
    predicted = true ^ (rng.random((200, 3)) < 0.1)
    rows = zip(true, predicted, strict=True)
    table(
        path,
        ["id", "topics", "predicted"],
        [(k, ";".join(names[t]), ";".join(names[p])) for k, (t, p) in enumerate(rows, 1)],
    )


def losses(path):
    """Write the 0/1 losses of two models and a third for 400 items in ten folds."""
    rng = np.random.default_rng(15)
    hard = rng.random(400)
    table(
        path,
        ["item", "fold", "old", "new", "third"],
        [
            (
                k,
                k % 10,
                *(
                    int(each < share + noise)
                    for share, noise in zip((0.26, 0.15, 0.2), rng.normal(0, 0.05, 3), strict=True)
                ),
            )
            for k, each in enumerate(hard)
        ],
    )


def answers(path):
    """Write how right three models are about 300 questions on 75 documents."""
    rng = np.random.default_rng(16)
    right = rng.random((300, 3)) < [0.70, 0.80, 0.62] + rng.normal(0, 0.1, (75, 1)).repeat(4, 0)
    table(
        path,
        ["id", "document", "old", "new", "rival"],
        [(f"q{k}", f"d{k // 4}", *map(int, row)) for k, row in enumerate(right)],
    )


def verdicts(path):
    """Write a judge's verdicts on 4,000 answers, and what people say of 200 of them."""
    rng = np.random.default_rng(17)
    right = rng.random(4000) < 0.62
    said, asked = (
        right == (rng.random(4000) < np.where(right, 0.92, 0.7)),
        set(rng.choice(4000, 200, False).tolist()),
    )
    words = np.array(["fail", "pass"])
    table(
        path,
        ["item", "verdict", "truth"],
        [
            (k, words[int(verdict)], words[int(true)] if k in asked else "")
            for k, (verdict, true) in enumerate(zip(said, right, strict=True))
        ],
    )


def judged(path):
    """Write a judge's verdicts on two models' answers to 4,000 items."""
    rng = np.random.default_rng(18)
    on = (rng.random((4000, 2)) < [0.66, 0.7]).astype(int).tolist()
    table(
        path,
        ["item", "on_a", "on_b", "answer_a", "answer_b"],
        [(k, a, b, f"A's answer {k}", f"B's answer {k}") for k, (a, b) in enumerate(on)],
    )


def ids(path):
    """Write a list of sixty students."""
    table(path, ["id"], [(f"student-{k:02}",) for k in range(1, 61)])


def matrix(path):
    """Write a confusion matrix as pandas does: the first cell is empty, rows are true classes."""
    counts = {"cat": (41, 6, 3), "dog": (4, 52, 4), "bird": (1, 2, 27)}
    table(path, ["", *counts], [(name, *row) for name, row in counts.items()])


FILES = {
    "my.csv": my,
    "my-labels.csv": my_labels,
    "samples_qa.jsonl": samples_qa,
    "records.parquet": records,
    "audit.csv": audit,
    "months.csv": months,
    "labeled.csv": labeled,
    "images.csv": images,
    "topics.csv": topics,
    "losses.csv": losses,
    "answers.csv": answers,
    "ids.csv": ids,
    "verdicts.csv": verdicts,
    "judged.csv": judged,
    "audits.csv": audits,
    "weighted.csv": weighted,
    "predictions.csv": predictions,
    "validation.csv": validation,
    "herd.csv": herd,
    "points.csv": points,
    "areas.csv": areas,
    "matrix.csv": matrix,
}


def table(path, header, rows):
    """Write a CSV file."""
    with Path(path).open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([header, *rows])


def true(item):
    """Return the true class of an item of my.csv."""
    return scored()[int(item) - 1][-1]


def right(item):
    """Return 1 where the first model is right about an item of my.csv, else 0."""
    return int(scored()[int(item) - 1][2] == true(item))


@functools.cache
def amounts():
    """Return the amounts of records.parquet by invoice."""
    return dict(duckdb.sql("select item, amount from 'records.parquet'").fetchall())


def values(item):
    """Return the value that a person reads from an invoice of records.parquet."""
    return amounts()[int(item)]


def fill(path, column="correct", answer=right, errs=0.0, seed=0):
    """Fill a column of a sheet as people would, who say the wrong class of two in a share of the rows."""
    rng = np.random.default_rng(seed)
    with Path(path).open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        said = answer(row["id"])
        row[column] = 1 - said if column == "correct" and rng.random() < errs else said
    table(path, list(rows[0]), [row.values() for row in rows])


def lecturer_edits(folder):
    """Edit copies of lessons 1 and 3 as a lecturer does: other data, a range, an exercise."""
    first, third = (next(Path(folder).glob(f"0{lesson}-*.ipynb")) for lesson in (1, 3))
    notebook = json.loads(first.read_text(encoding="utf-8"))
    replace(notebook, "forms = wb.digit_forms()", 'forms = lesson.use("my_items.csv")')
    first.write_text(json.dumps(notebook), encoding="utf-8")
    notebook = json.loads(third.read_text(encoding="utf-8"))
    replace(notebook, "lesson.place_value)", "lesson.place_value, budget=(20, 400, 20))")
    source = 'answer = None\nwb.check("3.5", answer)'
    cell = {"cell_type": "code", "id": "added", "metadata": {}, "source": source}
    notebook["cells"].append(cell | {"outputs": [], "execution_count": None})
    third.write_text(json.dumps(notebook), encoding="utf-8")


def replace(notebook, text, other):
    """Replace a text in the code cells of a notebook, where it must be."""
    cells = [cell for cell in notebook["cells"] if text in "".join(cell["source"])]
    assert cells, text
    for cell in cells:
        cell["source"] = "".join(cell["source"]).replace(text, other)


def class_answers(folder, answers):
    """Answer exercise 3.5 in the folders of students."""
    for student, answer in answers.items():
        path = Path(folder, student, "answers.json")
        path.write_text(json.dumps({"3.5": answer}), encoding="utf-8")
