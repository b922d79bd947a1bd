"""What the lessons read first; what it refuses is told in one line, before any kernel starts."""

import re
import subprocess
import sys
from unittest import mock

import pytest

import workbench as wb
from workbench.commands.main import main
from workbench.reports.inputs import (
    allocation,
    cross_validation,
    misclassification,
    replication,
    start,
    stratified,
)

SCORES = "id,p,read,rival,y\n" + "".join(
    f"i{k},{0.5 + k / 50},{'ab'[k % 2]},{'ab'[k % 3 > 0]},{'ab'[k % 2]}\n" for k in range(24)
)
ITEMS = "truth,prediction,stratum,psu,weight\n" + "".join(
    f"{k % 2},{k % 3 % 2},{k // 8},{k // 2},1\n" for k in range(24)
)
STRATA = "stratum,size,sd\na,100,1\nb,200,.5\n"
RECORDS = "id,stratum,v\n" + "".join(f"{k},{'ab'[k % 2]},{k % 5}\n" for k in range(20))
AUDIT = "truth,prediction\n" + "0,0\n" * 30 + "1,1\n" * 9 + "0,1\n" * 4
COUNTS = "period,n,counted\nJan,900,200\nFeb,910,240\n"
LOSSES = "fold,tree,svm\n" + "".join(
    f"{k},{0.2 + k / 50},{0.1 + (k * 7 % 5) / 50}\n" for k in range(10)
)


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("SCORES", "ITEMS", "STRATA", "RECORDS", "AUDIT", "COUNTS", "LOSSES"):
        (tmp_path / f"{name.lower()}.csv").write_text(globals()[name])
    return tmp_path


AUDITED = "stratified-accuracy --scores scores.csv --score p --prediction read --id id"
CLUSTERED = "brr-orthogonal-arrays --items items.csv --psu psu --positive 1"
ALLOTTED = "voila-vs-neyman --strata strata.csv"
CORRECTED = "misclassification-correction --audit audit.csv --counts counts.csv"
TESTED = "cross-validation-t-tests --losses losses.csv --better lower"
MISTAKES = [
    (f"{AUDITED} --budget 1", "--budget must be a whole number from 2 to 24; got 1"),
    (
        "stratified-accuracy --scores items.csv --score truth",
        "--score-is must say what column 'truth' is: 'confidence' for the probability that",
    ),
    (f"{AUDITED} --n-strata 40", "--n-strata must be"),
    (
        f"{AUDITED} --metrics-of c",
        "--metrics-of must be a class that is predicted: 'a', 'b'; got 'c'",
    ),
    (f"{AUDITED} --metrics-of a --rival rival", "--metrics-of must not be given with --rival"),
    (f"{AUDITED} --truth y --labels audit.csv", "--labels must not be given with --truth"),
    (f"{AUDITED} --allocation neymann", "--allocation must be one of"),
    (f"{AUDITED} --level 1", "--level must be a number in (0, 1); got 1.0"),
    (f"{AUDITED} --seed -1", "--seed must be a whole number of at least 0; got -1"),
    (f"{AUDITED} --labels audit.csv", "has no column 'id'"),
    (
        f"{AUDITED} --label-sheet filled.csv",
        "'filled.csv' already contains 1 label and was not overwritten",
    ),
    (f"{CLUSTERED} --positive 7", "--positive must be a class of the truth; got '7'"),
    (f"{CLUSTERED} --metrics acuracy", "--metrics must be one of"),
    (f"{CLUSTERED} --metrics auc", "auc needs a score: name its column"),
    (
        "brr-orthogonal-arrays --items none.csv --psu psu --positive 1",
        "cannot be estimated, because every labeled item is predicted as 0",
    ),
    (f"{CLUSTERED} --psu stratum", "--stratum must hold at least 2 PSUs"),
    (
        f"{CLUSTERED} --stratum weight --psu psu --nest --collapse 1=2",
        "--collapse must rename strata of the design; '2' is none of 1",
    ),
    (
        "brr-orthogonal-arrays --items restart.csv --psu psu --positive 1",
        "--psu must lie in one stratum; 0 is in 0 and 1 "
        "(rows 2 and 10): if the numbers start again in every stratum, use --nest",
    ),
    (
        "brr-orthogonal-arrays --items lone.csv --psu psu --positive 1",
        "--stratum must hold at least 2 PSUs; 0 holds 1: "
        'join each to another stratum, chosen before you saw the results, for example with --collapse "0=1"',
    ),
    (
        "brr-orthogonal-arrays --items lone.csv --psu psu --positive 1 --collapse 0=7",
        "--collapse must rename strata of the design; '7' is none of 0, 1, 2",
    ),
    (
        "brr-orthogonal-arrays --items lone.csv --psu stratum --positive 1 --collapse 2=1",
        "--stratum must hold at least 2 PSUs; 0 holds 1: join each to another stratum, chosen before you saw "
        'the results, for example with --collapse "2=1, 0=1"',
    ),
    (f"{CLUSTERED} --fpc prediction", "--fpc must be at least 1"),
    (f"{CLUSTERED} --fpc psu", "--fpc must be"),
    (
        f"{CLUSTERED} --replicate-weights r*",
        "--replicate-weights must match at least 2 columns; 'r*' matches none",
    ),
    (
        "brr-orthogonal-arrays --items near.csv --psu psu",
        "--stratum must name the column of strata; there is no "
        "'stratum' (did you mean 'Strata'?): if the sample has no strata, use ''",
    ),
    ("brr-orthogonal-arrays --items items.csv --stratum strat", "has no column 'strat'"),
    (f"{CLUSTERED} --rho .5", "--rho needs --replicate-weights, which were not given"),
    (
        f"{CLUSTERED} --weight truth",
        "--weight must be a column other than the classes; got 'truth'",
    ),
    (f"{AUDITED} --half-width .05 --budget 20", "--half-width must not be given with --budget"),
    (
        f"{AUDITED} --half-width .05 --metrics-of a",
        "--half-width must not be given with --metrics-of",
    ),
    (f"{AUDITED} --half-width .05 --rival rival", "--half-width must not be given with --rival"),
    (
        f"{AUDITED} --half-width 5",
        "--half-width must be a number in (0, 0.5); got 5.0 (did you mean 0.05?)",
    ),
    (f"{AUDITED} --level 95", "--level must be a number in (0, 1); got 95.0 (did you mean 0.95?)"),
    (f"{AUDITED} --interval wald --half-width .1", "needs the number of strata: give --n-strata"),
    (
        f"{AUDITED} --half-width .05 --allocation neyman",
        "--half-width plans for allocation 'auto', 'proportional' or 'equal', ",
    ),
    (
        "stratified-accuracy --scores scores.csv --score p --score-is margin --half-width .05",
        "--half-width needs scores that are probabilities; margins are not: give --budget",
    ),
    (
        f"{ALLOTTED} --standard-error 5 --budget 20",
        "--standard-error must not be given with --budget",
    ),
    (f"{ALLOTTED} --standard-error -5", "--standard-error must be a number above 0; got -5.0"),
    (
        f"{CORRECTED} --half-width .001",
        "--half-width 0.001 is too small: the errors of the predicted labels",
    ),
    (f"{CORRECTED} --half-width .7", "--half-width must be a number in (0, 0.5); got 0.7"),
    (f"{ALLOTTED} --budget 1", "--budget must be"),
    (f"{ALLOTTED} --size n", "--size is 'n', but strata.csv has no such column"),
    (
        "voila-vs-neyman --strata records.csv --id id",
        "--strata must have a column 'size' and one row per stratum; there is no such column. Name it with "
        "--size. If the file has one row per record, name the column of values with --value",
    ),
    (f"{ALLOTTED} --method best", "--method must be one of"),
    (f"{ALLOTTED} --minimum 0.5", "--minimum must be a whole number; got '0.5'"),
    ("voila-vs-neyman --label-sheet s.csv", "--strata must be given with --label-sheet"),
    (
        "voila-vs-neyman --strata records.csv --value v --label-sheet s.csv",
        "--id must name the column",
    ),
    ("misclassification-correction --audit audit.csv", "--counts must be given with --audit"),
    (f"{CORRECTED} --audit-period May", "--audit-period must be a period of the counts; got 'May'"),
    (
        f"{CORRECTED} --truth prediction",
        "--truth must be another column than --prediction; both are 'prediction'",
    ),
    ("misclassification-correction --fresh-audit scores.csv --truth read --prediction y", "labels"),
    (
        f"{CORRECTED} --classes 0,2",
        "--classes must name every class of truth and prediction; 1 is not among 0, 2",
    ),
    (f"{CORRECTED} --total all", "--counts must have a column for every class of the audit"),
    (
        "cross-validation-t-tests --losses losses.csv",
        "--better must be given, because the rows are fold means: 'higher' for",
    ),
    (
        "cross-validation-t-tests --losses scores_of_items.csv",
        "--better must be given, because the name of column 'svm_acc' suggests",
    ),
    (f"{TESTED} --better more", "--better must be one of 'auto', 'lower', 'higher'; got 'more'"),
    (f"{TESTED} --rho 1", "--rho must be"),
    (f"{TESTED} --models tree,forest", "'forest'"),
    (f"{TESTED} --rope -1", "--rope must be"),
    (f"{TESTED} --item truth", "'truth'"),
    ("start --reader c", "--reader must be one of 'a', 'b'; got 'c'"),
]


@pytest.mark.parametrize(("line", "message"), MISTAKES, ids=[line for line, _ in MISTAKES])
def test_a_mistake_is_one_line_before_any_kernel(files, capsys, line, message):
    (files / "filled.csv").write_text("id,stratum,correct\ni1,0,1\n")
    (files / "scores_of_items.csv").write_text(
        "item,fold,tree,svm_acc\n" + "".join(f"{k},{k % 4},0,1\n" for k in range(16))
    )
    (files / "none.csv").write_text(re.sub(r"(?m)^(\d),1,", r"\1,0,", ITEMS))
    (files / "restart.csv").write_text(
        "truth,prediction,stratum,psu\n"
        + "".join(f"{k % 2},{k % 3 % 2},{k // 8},{k % 8 // 2}\n" for k in range(24))
    )
    (files / "near.csv").write_text(ITEMS.replace("stratum", "Strata"))
    rows = enumerate(ITEMS.splitlines(True))
    (files / "lone.csv").write_text("".join(row for k, row in rows if k not in range(3, 9)))
    before = {path.name: path.read_bytes() for path in files.iterdir()}
    with mock.patch("papermill.execute_notebook") as kernel, pytest.raises(SystemExit) as ended:
        main(["report", *line.split(), "-o", "r.html"])
    shown = capsys.readouterr()
    assert ended.value.code == 2 and kernel.call_count == 0
    assert len(shown.err.splitlines()) == 1 and message in shown.err, shown.err
    assert shown.err.startswith(f"Error: {message if message.startswith('--') else ''}")
    assert {path.name: path.read_bytes() for path in files.iterdir()} == before


def test_a_mistake_is_told_without_the_heavy_libraries(files):
    code = (
        "import sys\nfrom workbench.commands.main import main\n"
        f"try:\n    main(['report', *{AUDITED.split()!r}, '--budget', '1'])\n"
        "except SystemExit as end:\n"
        "    print(end.code, sorted({'papermill', 'altair', 'nbconvert', 'ipykernel'} & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=files)
    assert done.stdout == "2 []\n", done.stderr


def test_each_reads_a_file_or_the_data_of_the_course(files):
    forms, items = start.read(reader="b")
    assert items.size == forms.digit.size == 1797
    assert repr(stratified.read()[1]) == repr(wb.accuracy_audit(wb.digit_forms().items(), 100))
    audit = stratified.read(
        scores="scores.csv", score="p", prediction="read", metrics_of="a", budget=20
    )[1]
    assert audit.mode == "plan" and audit.labeled.sum() == 20
    assert replication.read(items="items.csv", psu="psu", positive="1").truth.size == 24
    strata, plan, drawn, _ = allocation.read(
        strata="records.csv",
        value="v",
        id="id",
        budget=8,
        label_sheet="s.csv",
        label_plan="p.csv",
        write=False,
    )
    assert drawn.drawn.sum() == plan.labeled.sum() == 8 and not (files / "s.csv").exists()
    allocation.read(
        strata="records.csv", value="v", id="id", budget=8, label_sheet="s.csv", label_plan="p.csv"
    )
    assert (files / "s.csv").exists() and (files / "p.csv").exists()
    audited, comparison, months, series = misclassification.read(
        audit="audit.csv", counts="counts.csv", fresh_audit="audit.csv"
    )
    assert audited.n == comparison.second.n == 43 and list(months) == list(series.periods) == [
        "Jan",
        "Feb",
    ]
    losses, ranking, pair, tests = cross_validation.read(losses="losses.csv", better="lower")
    assert (
        losses.models == pair.models == ("tree", "svm")
        and ranking is None
        and tests.test.folds == 10
    )


@pytest.mark.parametrize(
    ("alike", "bounds", "asked"), [(False, "", False), (True, "", True), (True, "0, 9", False)]
)
def test_values_that_show_too_little_ask_for_bounds_by_the_name_of_the_option(
    files, alike, bounds, asked
):
    rows = [
        f"{stratum}{k},{stratum},{1 if alike else k % 5}\n" for stratum in "ab" for k in range(12)
    ]
    (files / "labels.csv").write_text("id,stratum,value\n" + "".join(rows))
    *_, found = allocation.read(
        strata="strata.csv", size="size", sd="sd", labels="labels.csv", bounds=bounds
    )
    assert any('--bounds "LOW, HIGH"' in note.text for note in found.notes) == asked
    assert found.finding().endswith("; no interval: give bounds") == asked
    assert (
        "all values are equal, so nothing shows"
        in " ".join(note.text for note in found.interval().notes)
    ) == asked


def test_a_plan_writes_its_sheet_only_where_it_may(files):
    given = {
        "scores": "scores.csv",
        "score": "p",
        "prediction": "read",
        "id": "id",
        "budget": 12,
        "label_sheet": "s.csv",
    }
    stratified.read(**given, write=False)
    assert not (files / "s.csv").exists()
    stratified.read(**given)
    assert len((files / "s.csv").read_text().splitlines()) == 13
