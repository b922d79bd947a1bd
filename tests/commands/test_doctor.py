"""The doctor of files: roles of columns, commands that a file is ready for, and missing steps."""

import gzip
import json
import re
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from command import costs_one_line, ods, run, run_unseen

LOGS = Path(__file__).parents[1] / "fixtures" / "logs"
N = 80
RNG = np.random.default_rng(3)
SCORED = pd.DataFrame(
    {
        "item": [f"c-{k:03}" for k in range(N)],
        "confidence": RNG.uniform(0.5, 1, N).round(4),
        **{name: RNG.choice(["cat", "dog", "owl"], N) for name in ("predicted", "truth")},
    }
)
CLUSTERED = SCORED.assign(
    region=[f"r{k % 4}" for k in range(N)],
    school=[f"s{k % 16}" for k in range(N)],
    weight=RNG.uniform(1, 9, N).round(2),
)
MONTHLY = SCORED.assign(month=[f"2026-{1 + k % 6:02}" for k in range(N)])
FOLDS = pd.DataFrame(
    {
        "fold": [k % 5 for k in range(N)],
        "item": range(N),
        "tree": RNG.random(N),
        "svm": RNG.random(N),
    }
)
CLASSES = pd.DataFrame(
    {
        "id": range(N),
        "p_a": np.linspace(0.5, 0.7, N).round(4),
        "p_b": np.linspace(0.5, 0.3, N).round(4),
    }
)
SPLITS = pd.DataFrame(
    {"params": ["C=1", "C=2"], **{f"split{k}_test_score": [0.8 + k / 100, 0.7] for k in range(5)}}
)
PLAN, KNOWN = (
    "How accurate is the classifier? Plan",
    "How accurate is the classifier, given the true classes?",
)
DRAWN, MODELS, ITEMS = (
    "Which metrics do the labeled items have",
    "Which model is better",
    "Which of several models is better",
)
WIDE = pd.DataFrame(
    {
        "question_id": [f"q{k}" for k in range(N)],
        "document": [f"d{k // 4}" for k in range(N)],
        "old": [k % 3 // 2 for k in range(N)],
        "new": [k % 5 // 4 for k in range(N)],
    }
)
LONG = WIDE.melt(["question_id", "document"], var_name="model", value_name="correct")
GRADED = pd.DataFrame({"id": range(N), "a": RNG.random(N).round(2), "b": RNG.random(N).round(2)})


def column_json(frame):
    return json.dumps(frame.to_dict("list"))


def lines(frame):
    return frame.to_json(orient="records", lines=True)


def semicolons(frame):
    return frame.to_csv(index=False, sep=";", decimal=",")


def texts(frame, **columns):
    return frame.assign(**columns).to_csv(index=False)


# (file, what is written, roles by column, questions that it is ready for)
FILES = [
    (
        "a.csv",
        SCORED.to_csv(index=False),
        {"item": "identifier", "confidence": "score", "predicted": "prediction", "truth": "truth"},
        {PLAN, KNOWN, DRAWN},
    ),
    ("index.csv", SCORED.to_csv(), {"confidence": "score"}, {PLAN, KNOWN, DRAWN}),
    ("a.tsv", SCORED.to_csv(index=False, sep="\t"), {"truth": "truth"}, {PLAN, KNOWN, DRAWN}),
    ("semi.csv", semicolons(SCORED), {"confidence": "score"}, {PLAN, KNOWN, DRAWN}),
    ("sep.csv", "sep=;\n" + semicolons(SCORED), {"confidence": "score"}, {PLAN, KNOWN, DRAWN}),
    (
        "utf16.csv",
        SCORED.to_csv(index=False).encode("utf-16"),
        {"item": "identifier"},
        {PLAN, KNOWN, DRAWN},
    ),
    (
        "a.csv.gz",
        gzip.compress(SCORED.to_csv(index=False).encode()),
        {"item": "identifier"},
        {PLAN, KNOWN, DRAWN},
    ),
    ("a.jsonl", lines(SCORED), {"predicted": "prediction"}, {PLAN, KNOWN, DRAWN}),
    ("a.json", SCORED.to_json(orient="records"), {"predicted": "prediction"}, {PLAN, KNOWN, DRAWN}),
    ("columns.json", column_json(SCORED), {"predicted": "prediction"}, {PLAN, KNOWN, DRAWN}),
    ("frame.json", SCORED.to_json(), {"predicted": "prediction"}, {PLAN, KNOWN, DRAWN}),
    (
        "nested.jsonl",
        "\n".join(
            json.dumps({"id": k, "out": {"score": 0.6 + k % 300 / 500, "prediction": "abc"[k % 3]}})
            for k in range(N)
        ),
        {"out.score": "score", "out.prediction": "prediction"},
        {PLAN},
    ),
    (
        "scores.csv",
        SCORED[["item", "confidence"]].to_csv(index=False),
        {"confidence": "score"},
        {PLAN},
    ),
    (
        "rare.csv",
        SCORED[["item", "predicted"]].to_csv(index=False),
        {"predicted": "prediction"},
        set(),
    ),
    (
        "percent.csv",
        texts(SCORED, confidence=[f"{100 * p:.2f} %" for p in SCORED.confidence]),
        {"confidence": "score"},
        {PLAN, KNOWN, DRAWN},
    ),
    (
        "words.csv",
        texts(
            SCORED[["item", "confidence"]], ok=["richtig" if k % 4 else "falsch" for k in range(N)]
        ),
        {"ok": "correct or incorrect"},
        {PLAN, KNOWN},
    ),
    (
        "flags.csv",
        texts(
            SCORED[["item", "confidence"]],
            flagged=["yes" if k % 4 else "no" for k in range(N)],
            is_fraud=[("yes" if k % 3 else "no") if k % 2 else "" for k in range(N)],
        ),
        {"flagged": "prediction", "is_fraud": "truth"},
        {DRAWN},
    ),
    (
        "survey.csv",
        texts(
            CLUSTERED[["confidence", "region"]],
            employed=["yes" if k % 4 else "no" for k in range(N)],
            predicted=["yes" if k % 5 else "no" for k in range(N)],
        ),
        {"predicted": "prediction", "employed": "correct or incorrect"},
        {PLAN},
    ),
    (
        "households.csv",
        texts(
            CLUSTERED[["confidence", "region"]],
            employed=["yes" if k % 4 else "no" for k in range(N)],
            predicted=["yes" if k % 4 or k % 3 else "no" for k in range(N)],
        ),
        {"predicted": "prediction", "employed": "truth"},
        {PLAN, KNOWN, DRAWN},
    ),
    (
        "ones.csv",
        texts(SCORED[["item", "confidence"]], correct=[int(k % 4 > 0) for k in range(N)]),
        {"correct": "correct or incorrect"},
        {PLAN, KNOWN},
    ),
    (
        "gaps.csv",
        texts(SCORED, confidence=SCORED.confidence.where(SCORED.index % 9 != 4)),
        {"confidence": "score"},
        {PLAN, KNOWN, DRAWN},
    ),
    (
        "spelled.csv",
        texts(SCORED, predicted=["1" if k % 3 else "01" for k in range(N)]),
        {"predicted": "prediction"},
        set(),
    ),
    (
        "percents.csv",
        texts(SCORED, confidence=SCORED.confidence * 100),
        {"confidence": "score"},
        {DRAWN},
    ),
    (
        "per_class.csv",
        CLASSES.to_csv(index=False),
        {"p_a": "probability of a class", "id": "identifier"},
        {PLAN},
    ),
    (
        "clusters.csv",
        CLUSTERED.to_csv(index=False),
        {"region": "stratum", "school": "cluster", "weight": "weight"},
        {PLAN, KNOWN, DRAWN},
    ),
    (
        "strata.csv",
        CLUSTERED.drop(columns="school").to_csv(index=False),
        {"region": "stratum"},
        {PLAN, KNOWN, DRAWN},
    ),
    ("months.csv", MONTHLY.to_csv(index=False), {"month": "period"}, {PLAN, KNOWN, DRAWN}),
    ("folds.csv", FOLDS.to_csv(index=False), {"fold": "fold", "item": "identifier"}, {MODELS}),
    (
        "means.csv",
        FOLDS.groupby("fold").mean().drop(columns="item").to_csv(),
        {"fold": "fold"},
        {MODELS},
    ),
    ("splits.csv", SPLITS.to_csv(), {"split3_test_score": "score of a split"}, {MODELS}),
    (
        "cv.json",
        json.dumps(
            {
                name: {"fit_time": [1, 2, 3], "test_score": scores}
                for name, scores in (("lr", [0.8, 0.9, 0.7]), ("tree", [0.7, 0.8, 0.6]))
            }
        ),
        {"lr.test_score": "score of a split"},
        {MODELS},
    ),
    ("wide.csv", WIDE.to_csv(index=False), {"document": "cluster"}, {ITEMS}),
    (
        "long.csv",
        LONG.to_csv(index=False),
        {"model": "model", "correct": "correct or incorrect"},
        {ITEMS},
    ),
    ("graded.csv", GRADED.to_csv(index=False), {"a": "score"}, {ITEMS}),
    ("over.csv", GRADED.assign(b=GRADED.b + 1).to_csv(index=False), {"a": "score"}, set()),
    (
        "other.csv",
        pd.DataFrame({"text": [f"some words {k}" for k in range(N)]}).to_csv(index=False),
        {"text": "something else"},
        set(),
    ),
]


def doctor(folder, name):
    done = run(folder, "doctor", name)
    assert done.returncode == 0, done.stderr
    columns, _, told = done.stdout.partition("\n\n")
    ready = (
        told.partition("Commands that need one more step")[0]
        if "Commands that are ready to run" in told
        else ""
    )
    return done.stdout, columns, ready


@pytest.mark.parametrize("name, content, roles, questions", FILES, ids=[name for name, *_ in FILES])
def test_what_a_file_is_ready_for(tmp_path, name, content, roles, questions):
    (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    said, columns, ready = doctor(tmp_path, name)
    for column, seems in roles.items():
        assert any(
            line.split("  ")[1].strip() == column and f"  {seems}" in line
            for line in columns.split("\n")[1:]
        )
    assert {
        question for question in (PLAN, KNOWN, DRAWN, MODELS, ITEMS) if question in ready
    } == questions
    assert len(said.splitlines()) < 40


@pytest.mark.parametrize("ending", ["xlsx", "ods", "parquet"])
def test_workbooks_and_parquet(tmp_path, ending):
    if ending == "ods":
        ods(tmp_path / "a.ods", [tuple(SCORED), *SCORED.itertuples(index=False)])
    elif ending == "xlsx":
        SCORED.to_excel(tmp_path / "a.xlsx", index=False, engine="xlsxwriter")
    else:
        SCORED.to_parquet(tmp_path / "a.parquet")
    assert (
        f"--scores a.{ending} --score confidence --prediction predicted --id item"
        in doctor(tmp_path, f"a.{ending}")[2]
    )


def test_an_audit_and_counts_are_told_apart(tmp_path):
    MONTHLY.to_csv(tmp_path / "audit.csv", index=False)
    MONTHLY.drop(columns="truth").to_csv(tmp_path / "counts.csv", index=False)
    assert (
        "add --counts with the file of all predictions or of their counts: workbench report "
        "misclassification-correction --audit audit.csv --truth truth --prediction predicted "
        "--period-in-audit month\n" in doctor(tmp_path, "audit.csv")[0]
    )
    assert (
        "add --audit with the file of items with true and predicted classes: workbench report "
        "misclassification-correction --counts counts.csv --period month --predicted predicted\n"
        in doctor(tmp_path, "counts.csv")[0]
    )


def test_weights_of_an_audit_dates_and_counts_of_months_are_seen(tmp_path):
    weighted = MONTHLY.drop(columns="month").assign(weight=[1, 20] * (len(MONTHLY) // 2))
    weighted.to_csv(tmp_path / "weighted.csv", index=False)
    assert "--prediction predicted --weight weight\n" in doctor(tmp_path, "weighted.csv")[0]
    dates = pd.date_range("2026-01-01", periods=len(MONTHLY)).strftime("%d.%m.%Y")
    pd.DataFrame({"date": dates, "predicted": MONTHLY["predicted"]}).to_csv(
        tmp_path / "days.csv", index=False
    )
    (tmp_path / "months.csv").write_text("month,n,counted\n2026-01,500,100\n2026-02,500,120\n")
    assert "--counts months.csv --period month\n" in doctor(tmp_path, "months.csv")[0]
    assert "--predicted predicted --every month\n" in doctor(tmp_path, "days.csv")[0]


def table(header, *cells):
    """Return a table of 60 rows, whose cells repeat the texts of each column."""
    rows = [",".join(column[k % len(column)] for column in cells) for k in range(60)]
    return "\n".join([header, *rows])


IDS = [f"i{k}" for k in range(60)]
SURE = [f"0.{k}" for k in range(51, 99)]
TWICE = [f"i{k % 30}" for k in range(60)]
AB, BA, NY, UNIT, PERCENT = (
    ["a", "b", "a"],
    ["b", "a", "a", "b"],
    ["0", "1", "1"],
    [f"{k / 7:.3f}" for k in range(1, 7)],
    [f"{k * 1.5:.1f}" for k in range(60)],
)
HIGH = [f"{0.8 + k / 130:.3f}" for k in range(7)]
ADD_FOLDS = (
    "add --folds with the number of folds in one repetition, or --test-share with the proportion "
    "of items in a test set of random splits (ShuffleSplit)"
)
RARE = [*["ok"] * 11, "fraud"] * 5  # each fifth of the rows has one rare item
WEAK = [
    "fraud",
    *["ok"] * 10,
    "fraud",
] * 5  # finds all, and as many others: most often "ok" is better
ONES = ["0", "1", "1"] * 20
FOLDS = ["0", "1", "2", "3", "4"]
BATTLES = table("id,model_a,model_b,winner", IDS, ["m1"], ["m2"], ["model_a", "tie"])
REPLICATES = ",".join(f"PWGTP{k}" for k in range(1, 5))
# (content, what is printed, what is not)
COMMANDS = [
    (
        table("id,Map,Reference", IDS, AB, BA),
        "add --counts with the file of all predictions or of their counts: workbench report "
        "misclassification-correction --audit x.csv --truth Reference --prediction Map\n",
        "brr-orthogonal-arrays",
    ),
    (
        "map,pixels\nforest,200\nwater,300\nurban,90\n",
        "workbench report misclassification-correction --counts x.csv\n",
        "Commands that are ready to run",
    ),
    (
        "period,forest,water\n2010-2020,200,300\n",
        "workbench report misclassification-correction --counts x.csv --period period\n",
        "Commands that are ready to run",
    ),
    (
        "period,n,counted\nherd,150,4\n",
        "workbench report misclassification-correction --counts x.csv --period period\n",
        "voila-vs-neyman",
    ),
    (
        table("case,verdict,human", IDS, ["P", "F", "I"], ["P", "F", "I", "", "", "", ""]),
        "--counts x.csv --judge verdict --truth human\n",
        "Commands that need one more step",
    ),
    (
        table("case,LLM_grade,human_grade", IDS, ["P", "F", "I"], ["P", "F", "I", "", "", "", ""]),
        "--counts x.csv --judge LLM_grade --truth human_grade\n",
        "Commands that need one more step",
    ),
    (
        table("id,prediction,expert", IDS, AB, BA),
        "Commands that are ready to run\n  Which metrics do the labeled items have, and how certain are they?\n"
        "    workbench report brr-orthogonal-arrays --items x.csv --truth expert",
        "agreement",
    ),
    (
        table("id,human,gpt", IDS, NY, ["1", "0"]),
        "workbench compare x.csv --item id --model human,gpt\n",
        "No command",
    ),
    (
        table("item,human,judge", IDS, list("12345"), list("1232")),
        "Commands that are ready to run\n  How well do annotators agree?\n    workbench audit agreement x.csv\n",
        "Commands that need one more step",
    ),
    (
        ",cat,dog,All\ncat,41,6,47\ndog,4,52,56\n",
        "Commands that are ready to run\n  Which metrics do the labeled items have, and how certain are they?\n"
        "    workbench report brr-orthogonal-arrays --items x.csv\n",
        "agreement",
    ),
    (
        ",cat,dog\ncat,.9,.1\ndog,.2,.8\n",
        "A confusion matrix needs whole numbers of items",
        "Commands that are ready to run",
    ),
    (BATTLES, "add a column of scores: 1 if it won", "Commands that are ready to run"),
    (
        table("q,score", IDS, NY),
        "workbench compare x.csv --item q --score score\n",
        "stratified-accuracy",
    ),
    (
        table("user_input,response,faithfulness,relevancy", IDS, ["r"], UNIT, UNIT[::-1]),
        "workbench compare x.csv --item user_input --score relevancy\n",
        "stratified-accuracy",
    ),
    (
        table("fold,old,new", [str(k) for k in range(60)], UNIT, UNIT[::-1]),
        "--splits must be 'random' or 'folds'",
        "stratified-accuracy",
    ),
    (
        table(f"pred,PWGTP,{REPLICATES},label", AB, ["5"], ["4"], ["6"], ["5"], ["3"], BA),
        "--replicate-weights 'PWGTP*' --method sdr\n",
        "agreement",
    ),
    (
        table("pred,weight,repwt1,repwt2,label", AB, ["5"], ["4"], ["6"], BA),
        "state with --method how the 2 replicate weights were made: ",
        "Commands that are ready to run",
    ),
    (
        table("sid,growth,pw,fpc", IDS, PERCENT, ["30.5"], ["6194"]),
        "Commands that are ready to run\n  What is the mean of 'growth', and how certain is it?\n    workbench report "
        "brr-orthogonal-arrays --items x.csv --truth growth --weight pw --fpc fpc --metrics mean\n",
        "Commands that need one more step",
    ),
    (
        table("id,truth,pred_old,pred_new", IDS, AB, BA, AB[1:]),
        "--items x.csv --truth truth --prediction pred_old,pred_new\n",
        "misclassification-correction",
    ),
    (
        table("id,y,s_score,t_score", IDS, NY, UNIT, UNIT[1:]),
        "--items x.csv --truth y --prediction '' --score s_score,t_score\n",
        "stratified-accuracy",
    ),
    (
        table("case,system,s,pred,y", TWICE, ["A"] * 30 + ["B"] * 30, SURE, AB, BA),
        "--score s --prediction pred --id case --model system --rival A,B --truth y",
        "--score s\n",
    ),
    (
        table("case,system,pred,y", TWICE, ["A"] * 30 + ["B"] * 30, AB, BA),
        "--items x.csv --truth y --prediction pred --group system --psu case\n",
        "stratified-accuracy",
    ),
    (
        table("patient_id,pred,y", TWICE, AB, BA),
        "--items x.csv --truth y --prediction pred --psu patient_id\n",
        "stratified-accuracy",
    ),
    (
        table("true_a,true_b,pred_a,pred_b", NY, NY[1:], NY[:2], NY),
        "--items x.csv --truth 'true_*' --prediction 'pred_*'\n",
        "misclassification-correction",
    ),
    (
        table("truth,prediction,cohort", AB, BA, ["north", "south", ""]),
        "--items x.csv --truth truth --prediction prediction --group cohort\n",
        "agreement",
    ),
    (
        table("score_a,score_b,id", UNIT, UNIT[1:], IDS),
        "workbench compare x.csv --item id --model score_a,score_b\n",
        "probability of a class",
    ),
    (
        table("invoice,region,amount", [str(k) for k in range(60)], AB, PERCENT),
        "--stratum region --value amount\n",
        "--value invoice",
    ),
    (
        table("region,height,width", AB, PERCENT, PERCENT[1:]),
        "name the column of values with --value: 'height', 'width'",
        "Commands that are ready to run",
    ),
    (
        table("item,repeat,fold,y,yhat", IDS[:30], ["0"] * 30 + ["1"] * 30, FOLDS, AB, BA),
        "workbench report brr-orthogonal-arrays --items x.csv --truth y --prediction yhat "
        "--psu item\n",
        "cross-validation-t-tests",
    ),
    (
        table("cv_fold,outer_fold,old,new", IDS, IDS, UNIT, UNIT[1:]),
        "--fold must name the column of folds or splits, because several columns are possible",
        "Commands that are ready to run",
    ),
    (
        table("old,new", HIGH, HIGH[1:]),
        f"{ADD_FOLDS}: workbench report cross-validation-t-tests --losses x.csv --better higher\n",
        "agree",
    ),
    (
        table("old,new", [f"-{cell}" for cell in HIGH], [f"-{cell}" for cell in HIGH[1:]]),
        f"{ADD_FOLDS}: workbench report cross-validation-t-tests --losses x.csv --better higher\n",
        "agree",
    ),
    (
        table("id,old,new", IDS, HIGH, HIGH[1:]),
        "workbench compare x.csv --item id --model old,new\n",
        "agree",
    ),
    (
        table("ann,ben", ["0.5", "1.5", "2.25", "3", "3.75"], ["0.5", "1.5", "2.5", "3", "4"]),
        "How well do annotators agree?\n    workbench audit agreement x.csv\n",
        "scikit",
    ),
    (
        table("fold,estimator,acc", [str(k // 2) for k in range(60)], ["a", "b"], HIGH),
        "--losses x.csv --fold fold --model estimator --better higher\n",
        "agree",
    ),
    (
        table("ref,day,kind", IDS, ["2026-01-01", "2026-01-02"], AB),
        "add --audit with the file of items with true and predicted classes: workbench report "
        "misclassification-correction --counts x.csv --period day --predicted kind\n",
        "No command fits",
    ),
    (
        table("no,checked,guess", IDS, RARE, WEAK),
        "--audit x.csv --truth checked --prediction guess\n",
        "agreement",
    ),
    (
        table("no,kind,guess", IDS, RARE, WEAK),
        "Commands that are ready to run\n  How well do annotators agree?\n",
        "--truth",
    ),
    (
        table("ref,risk,decision,fraud", IDS, UNIT, WEAK, [*RARE[:30], *[""] * 30]),
        "How accurate is the classifier, estimated from the labels of some rows?\n    workbench report "
        "stratified-accuracy --scores x.csv --score risk --prediction decision --truth fraud\n",
        "Plan",
    ),
    (
        table(
            "ref,risk,pred,fraud",
            IDS,
            UNIT,
            ONES,
            [*[f"{text}.0" for text in ONES[:30]], *[""] * 30],
        ),
        "--score risk --prediction pred --truth fraud\n",
        "Plan",
    ),
    (
        table("ref,risk,decision,opened", IDS, UNIT, WEAK, [*WEAK[:30][::-1], *[""] * 30]),
        "How accurate is the classifier? Plan 30 labels\n",
        "--truth",
    ),
    (
        table("ref,old,new,truth", IDS, WEAK, RARE, [*RARE[:40], *[""] * 20]),
        "--items x.csv --truth truth --prediction old,new\n",
        "--prediction new\n",
    ),
    (
        table("ref,s1,a,s2,b,truth", IDS, UNIT, WEAK, UNIT[::-1], RARE, [*RARE[:40], *[""] * 20]),
        "Which of two models is more accurate, estimated from the labels of some rows?\n"
        "    workbench report stratified-accuracy --scores x.csv --score s1 --prediction a --rival "
        "b --truth truth\n",
        "--prediction ''",
    ),
    (
        table("ref,s1,pred_a,s2,pred_b", IDS, UNIT, list("aaabbb"), UNIT[1:], list("aabbb")),
        "How accurate is the classifier? Plan 30 labels\n    workbench report stratified-accuracy "
        "--scores x.csv --score s1 --prediction pred_a --budget 30\n  Which of two models is more "
        "accurate? Plan 30 labels\n    workbench report "
        "stratified-accuracy --scores x.csv --score s1 --prediction pred_a --rival pred_b "
        "--budget 30\n",
        "No command fits",
    ),
    (
        table("id,confidence", ["i7", *IDS[1:]], UNIT),
        "59 values: i7, i1, i2, i3 and 55 more; 1 of them more than once\n",
        "Commands that are ready to run",
    ),
    (
        table("document,truth,prediction", ["i7", *IDS[1:]], AB, BA),
        "--truth truth --prediction prediction --psu document\n",
        "identifier",
    ),
    (
        table("name,text", IDS, IDS),
        "No command fits. A file needs true and predicted classes",
        "Commands that need one more step",
    ),
]


@pytest.mark.parametrize(
    ("content", "printed", "unprinted"),
    COMMANDS,
    ids=[content.split("\n")[0] for content, *_ in COMMANDS],
)
def test_the_command_that_answers_a_file(content, printed, unprinted, tmp_path):
    (tmp_path / "x.csv").write_text(content)
    text = run(tmp_path, "doctor", "x.csv").stdout
    assert printed in text and unprinted not in text


def test_columns_of_replicate_weights_take_one_line(tmp_path):
    (tmp_path / "x.csv").write_text(table("y,pw,rw1,repwt1,repwt2,fpc", NY, *[["5"]] * 5))
    columns = doctor(tmp_path, "x.csv")[1].splitlines()[1:]
    roles = [re.split("  +", line.strip())[:2] for line in columns]
    assert roles == [
        ["y", "truth"],
        ["pw", "weight"],
        ["rw1", "something else"],
        ["repwt1 to repwt2", "replicate weight"],
        ["fpc", "population size"],
    ]


def harness_log(folder, name, filters=("none",)):
    """Write 40 documents of lm-evaluation-harness, half of them correct."""
    records = [
        {
            "doc_id": k,
            "doc": {"q": f"{k}?", "passage": k // 4},
            "target": "a",
            "resps": [["a"]],
            "filter": name,
        }
        | {"filtered_resps": ["a"], "exact_match": k % 2}
        for name in filters
        for k in range(40)
    ]
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).write_text("\n".join(map(json.dumps, records)))


def test_a_log_of_an_evaluation_and_a_folder_of_logs(tmp_path):
    harness_log(tmp_path, "log.jsonl")
    ready = doctor(tmp_path, "log.jsonl")[2]
    assert "workbench report stratified-accuracy --scores log.jsonl --budget 20\n" in ready
    assert "workbench compare log.jsonl --cluster doc.passage\n" in ready
    assert "annotators" not in ready
    harness_log(tmp_path, "two.jsonl", ("strict", "flexible"))
    assert (
        "select one filter: 'two.jsonl#filter=strict'"
        in run(tmp_path, "doctor", "two.jsonl").stderr
    )
    for model in ("a", "b"):
        harness_log(tmp_path, f"runs/{model}.jsonl")
    assert doctor(tmp_path, "runs")[2].endswith("workbench compare runs\n")
    (tmp_path / "nothing").mkdir()
    assert "no log of an evaluation" in run(tmp_path, "doctor", "nothing").stderr


@pytest.mark.parametrize(
    "name", ["gaps.csv", "per_class.csv", "splits.csv", "months.csv", "wide.csv", "long.csv"]
)
def test_a_command_that_it_prints_can_be_pasted(tmp_path, name):
    content = next(content for each, content, *_ in FILES if each == name)
    (tmp_path / name).write_text(content)
    for line in doctor(tmp_path, name)[2].split("\n"):
        if line.startswith("    workbench "):
            quiet = ["--quiet"] * ("report" in line)
            page = ["-o", "r.html"] * ("agreement" not in line)
            done = run_unseen(tmp_path, *shlex.split(line)[1:], *page, *quiet)
            assert done.returncode == 0, (line, done.stderr)


def test_it_says_what_it_has_looked_at_and_costs_one_line(tmp_path, monkeypatch):
    monkeypatch.setattr("workbench.commands.doctor.SAMPLE", 50)
    SCORED.to_csv(tmp_path / "a.csv", index=False)
    assert "a.csv: 80 rows, 4 columns; inspected: the first 50" in doctor(tmp_path, "a.csv")[0]
    for name, message in (
        ("b.csv", "no such file"),
        ("a.doc", "must end in one of"),
        ("empty.csv", "a header but no rows"),
    ):
        (tmp_path / "a.doc").write_text("x")
        (tmp_path / "empty.csv").write_text("a,b\n")
        done = run(tmp_path, "doctor", name)
        assert (
            done.returncode == 2 and message in done.stderr and len(done.stderr.splitlines()) == 1
        )
    report = ("report", "stratified-accuracy", "--scores", "a.csv", "--score")
    hint = "(to see which commands fit a file, run workbench doctor a.csv)"
    costs_one_line(tmp_path, hint, *report, "nothing")
    done = run(tmp_path, *report, "confidence", "--level", "2")
    assert "--level must be" in done.stderr and "doctor" not in done.stderr


CODERS = "item_id,output,coder_1,coder_2\n" + "".join(
    f"m{k},text {k},{'yes' if k % 3 else ''},{'no' if k % 2 else 'yes'}\n" for k in range(20)
).replace("m3,text 3,,", "m3,text 3,no,")
ROWS = "item,annotator,label\n" + "".join(
    f"m{k},{who},{'yes' if k % 2 else 'no'}\n" for k in range(9) for who in ("ann", "ben")
)


@pytest.mark.parametrize("name, content", [("coders.csv", CODERS), ("rows.csv", ROWS)])
def test_labels_of_several_annotators(tmp_path, name, content):
    (tmp_path / name).write_text(content)
    assert (
        f"How well do annotators agree?\n    workbench audit agreement {name}"
        in doctor(tmp_path, name)[2]
    )


def test_labels_of_annotators_for_items_that_repeat(tmp_path):
    rows = [
        f"{k // 2},{k % 2},{'yes' if k % 3 else 'no'},{'yes' if k % 4 else 'no'}" for k in range(20)
    ]
    (tmp_path / "visits.csv").write_text("\n".join(["patient_id,session,ann,ben", *rows]))
    assert (
        "add a column that identifies each row, and name it with --item: workbench audit agreement "
        "visits.csv" in doctor(tmp_path, "visits.csv")[0]
    )


METHODS_OF_ITEMS = ["id,method,truth,prediction", *(f"{k},{'ab'[k % 2]},yes,no" for k in range(40))]
SCORES_OF_MODELS = [
    "id,model,truth,prediction,score",
    *(f"{k // 2},{'ab'[k % 2]},yes,no,{k % 3 % 2}" for k in range(40)),
]


@pytest.mark.parametrize("rows, is_compared", [(METHODS_OF_ITEMS, False), (SCORES_OF_MODELS, True)])
def test_predictions_are_no_scores_of_models(tmp_path, rows, is_compared):
    (tmp_path / "x.csv").write_text("\n".join(rows))
    assert ("workbench compare x.csv" in doctor(tmp_path, "x.csv")[0]) == is_compared


def test_the_export_of_a_labeling_tool(tmp_path):
    tasks = [
        {
            "data": {"item": f"q{k}"},
            "annotations": [
                {
                    "completed_by": who,
                    "was_cancelled": False,
                    "result": [{"type": "choices", "value": {"choices": ["right"]}}],
                }
                for who in (1, 2)
            ],
        }
        for k in range(3)
    ]
    (tmp_path / "tasks.json").write_text(json.dumps(tasks))
    done = run(tmp_path, "doctor", "tasks.json")
    assert done.stdout.startswith("tasks.json: Label Studio, 6 annotations by 2 named annotators\n")
    assert "workbench audit import AUDIT.DB tasks.json" in done.stdout
    assert "workbench audit agreement tasks.json" in done.stdout


def test_texts_with_a_label_and_a_prediction_are_no_export(tmp_path):
    records = [
        {"text": f"t{k}", "label": "pn"[k % 2], "prediction": "pn"[k % 3 // 2]} for k in range(30)
    ]
    (tmp_path / "x.jsonl").write_text("\n".join(map(json.dumps, records)))
    done = run(tmp_path, "doctor", "x.jsonl").stdout
    assert done.startswith("x.jsonl: 30 rows, 3 columns\n")
    assert "--items x.jsonl --truth label --prediction prediction\n" in done


def test_predictions_beside_the_choices_of_label_studio(tmp_path):
    choice = ["pos", "neg", "pos"]
    cells = [f'"{{""choices"": [""{label}""]}}"' for label in choice]
    content = table("id,pred,sentiment,annotator,annotation_id", IDS, choice[1:], cells, ["1"], IDS)
    (tmp_path / "x.csv").write_text(content)
    ready = run(tmp_path, "doctor", "x.csv").stdout.partition("Commands that are ready to run")[2]
    assert "workbench audit import AUDIT.DB x.csv\n" in ready
    assert "--items x.csv --truth sentiment --prediction pred\n" in ready


def test_a_log_of_openai_evals_is_no_export(tmp_path):
    event = {"run_id": "1", "type": "match", "created_by": "", "created_at": ""}
    records = [{"spec": {"completion_fns": ["m"], "eval_name": "x"}, "run_id": "1"}]
    for k in range(20):
        data = {"correct": k % 3 > 0, "expected": "a", "picked": "b"}
        records.append(event | {"event_id": k, "sample_id": f"x.{k}", "data": data})
    (tmp_path / "x.jsonl").write_text("\n".join(map(json.dumps, records)))
    assert doctor(tmp_path, "x.jsonl")[2].endswith("workbench compare x.jsonl\n")
    done = run(tmp_path, "audit", "agreement", "x.jsonl")
    assert done.returncode == 2 and "is neither a sheet" in done.stderr


def test_populations_of_clusters_labels_in_some_rows_and_one_prediction(tmp_path):
    certain = CLUSTERED.assign(fpc=50)
    certain.loc[N - 5 :, ["region", "school", "fpc"]] = "r9", "s99", 1
    certain.to_csv(tmp_path / "certain.csv", index=False)
    assert "--fpc fpc" in doctor(tmp_path, "certain.csv")[2]
    some = CLUSTERED.assign(truth=CLUSTERED["truth"].where(np.arange(N) % 4 > 0))
    some.to_csv(tmp_path / "some.csv", index=False)
    assert DRAWN in doctor(tmp_path, "some.csv")[2]
    SCORED.assign(predicted="cat").to_csv(tmp_path / "one.csv", index=False)
    assert DRAWN in doctor(tmp_path, "one.csv")[2]
    published = CLUSTERED.assign(**{f"repwt_{k}": 1.0 for k in range(4)})
    published.to_csv(tmp_path / "published.csv", index=False)
    said, *_ = doctor(tmp_path, "published.csv")
    assert (
        "state with --method how the 4 replicate weights were made" in said
        and "--replicate-weights 'repwt_*'" in said
    )


@pytest.mark.parametrize(
    ("header", "cells", "options"),
    [
        (
            "question_id,run,gpt,claude,is_hard",
            "{k},{r},{a},{b},{b}",
            "--item question_id --model gpt,claude",
        ),
        (
            "id,document,gpt,claude,n_tokens",
            "{q},d{k},{a},{b},{q}",
            "--item id --cluster document --model gpt,claude",
        ),
        ("id,model,score", "{k},m{r},{a}", "--item id --model model --score score"),
    ],
)
def test_scores_of_models_are_told_from_what_describes_items(tmp_path, header, cells, options):
    rows = [
        cells.format(k=k, r=r, q=2 * k + r, a=(k * r + k) % 2, b=(k + r) % 3 > 0 and 1 or 0)
        for k in range(20)
        for r in range(2)
    ]
    (tmp_path / "t.csv").write_text("\n".join([header, *rows]))
    text = doctor(tmp_path, "t.csv")[0]
    assert f"workbench compare t.csv {options}\n" in text
    done = run(tmp_path, "compare", "t.csv", *options.split())
    assert done.returncode == 0, done.stderr


SCORES_OF_FOLDS = pd.DataFrame(
    {"old": RNG.normal(0.8, 0.01, 50).round(4), "new": RNG.normal(0.8, 0.01, 50).round(4)}
)


@pytest.mark.parametrize(
    ("columns", "told"),
    [
        ({"fold": range(50)}, "--splits must be 'random' or 'folds', because 50 folds may be"),
        (
            {"Split": [k % 10 for k in range(50)], "seed": [k // 10 for k in range(50)]},
            "--fold Split --better higher",
        ),
        (
            {
                "seed": [k // 10 for k in range(50)],
                "fold": [k % 10 for k in range(50)],
                "fit_time": 0.5,
                "n_test": 9,
            },
            "--fold fold --better higher",
        ),
        ({"fold": range(50), "n_train": 80, "n_test": 20}, "--fold fold --better higher"),
        (
            {"cv_fold": [k % 10 for k in range(50)]},
            "--splits must be 'random' or 'folds', because every fold has 5 rows",
        ),
        (
            {"run": [k % 5 for k in range(50)]},
            "name the column of folds or splits with --fold",
        ),
    ],
)
def test_schemes_of_cross_validation_are_seen(columns, told, tmp_path):
    frame = SCORES_OF_FOLDS.assign(**columns)
    frame.to_csv(tmp_path / "x.csv", index=False)
    lines = run(tmp_path, "doctor", "x.csv").stdout.splitlines()
    place = next(k for k, line in enumerate(lines) if MODELS in line)
    assert told in lines[place + 1]
    assert "--better lower" not in lines[place + 1]


def test_a_fold_without_a_score_blocks_nothing(tmp_path):
    frame = SCORES_OF_FOLDS[:10].assign(fold=range(10))
    frame.loc[3, "old"] = None
    frame.to_csv(tmp_path / "x.csv", index=False)
    assert (
        "cross-validation-t-tests --losses x.csv --fold fold --better higher"
        in run(tmp_path, "doctor", "x.csv").stdout
    )


def test_values_and_labels_in_some_rows(tmp_path):
    rows = [f"r{k},{'AB'[k % 2]},{20.5 + k if k % 3 == 0 else ''}" for k in range(60)]
    (tmp_path / "values.csv").write_text("\n".join(["id,segment,audited", *rows]))
    said = run(tmp_path, "doctor", "values.csv").stdout
    assert (
        "workbench report voila-vs-neyman --strata values.csv --stratum segment --value audited --id id\n"
        in said
    )
    (tmp_path / "strata.csv").write_text(
        "sex,status,n\nm,full,90\nm,part,18\nf,full,9\nf,part,63\n"
    )
    assert (
        "--strata strata.csv --stratum sex,status --size n\n"
        in run(tmp_path, "doctor", "strata.csv").stdout
    )
    some = CLUSTERED.assign(truth=CLUSTERED["truth"].where(np.arange(N) % 4 > 0))
    some.to_csv(tmp_path / "some.csv", index=False)
    assert (
        "misclassification-correction --audit some.csv"
        in run(tmp_path, "doctor", "some.csv").stdout
    )
    assert "--counts some.csv" in run(tmp_path, "doctor", "some.csv").stdout


def test_columns_of_the_classes_that_agree_with_the_truth_are_models(tmp_path):
    truth = ["spam", "ham"] * 20
    models = {"old": ["spam", "ham", "ham", "ham"] * 10, "new": truth}
    others = {"opposite": ["ham", "spam"] * 20, "always": ["ham"] * 40}
    columns = {"truth": truth, **models, **others}
    lines = [",".join(row) for row in zip(*columns.values(), strict=True)]
    (tmp_path / "mails.csv").write_text("\n".join([",".join(columns), *lines]))
    done = run(tmp_path, "doctor", "mails.csv")
    assert "--items mails.csv --truth truth --prediction old,new\n" in done.stdout
