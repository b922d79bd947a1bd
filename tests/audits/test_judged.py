"""An audit of two models under one judge, from the verdicts to the finding: as a sheet, and as a session."""

import csv
import dataclasses
import functools

import numpy as np
import pytest
from command import run_here, run_unseen
from refusals import refused

import workbench as wb

WHICH = ["both", "A", "B", "neither"]
N = 800


@pytest.fixture(scope="module")
def verdicts():
    """Return the verdicts of a judge that passes wrong answers of A, and whose answer is right."""
    rng = np.random.default_rng(4)
    a, b = rng.random(N) < 0.8, rng.random(N) < 0.7
    passed = (
        np.where(a, rng.random(N) < 0.9, rng.random(N) < 0.7),
        np.where(b, rng.random(N) < 0.9, rng.random(N) < 0.1),
    )
    truth = np.array(WHICH)[np.select([a & b, a, b], [0, 1, 2], 3)]
    return {
        "id": [f"q{k}" for k in range(N)],
        "on_a": passed[0].astype(int),
        "on_b": passed[1].astype(int),
        "answer": [f"text {k}" for k in range(N)],
    }, truth


@pytest.fixture(scope="module")
def items(verdicts):
    return wb.judged_items(verdicts[0], "on_a, on_b", id="id")


def filled(sheet, truth, left_out=()):
    """Fill a sheet with what is right, in several spellings; return the places of the items."""
    with open(sheet, encoding="utf-8-sig", newline="") as file:
        header, *rows = csv.reader(file)
    place = [int(row[0][1:]) for row in rows]
    with open(sheet, "w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(
            [
                header,
                *(
                    [*row[:-1], "" if k in left_out else (str, str.upper)[k % 2](truth[k])]
                    for row, k in zip(rows, place, strict=True)
                ),
            ]
        )
    return header, place


def expected(data, truth, place):
    pair = np.array(
        [
            WHICH.index({(1, 1): "both", (1, 0): "A", (0, 1): "B", (0, 0): "neither"}[a, b])
            for a, b in zip(data["on_a"].tolist(), data["on_b"].tolist(), strict=True)
        ]
    )
    answers = np.zeros((4, 4), int)
    for k in place:
        answers[pair[k], WHICH.index(truth[k])] += 1
    return wb.judged_difference(np.bincount(pair, minlength=4), answers), pair


def test_a_sheet_hides_the_verdicts_and_its_labels_give_the_difference(verdicts, items, tmp_path):
    (data, truth), sheet = verdicts, str(tmp_path / "sheet.csv")
    plan = wb.judged_audit(
        items,
        90,
        label_sheet=sheet,
        columns={"answer": data["answer"]},
        source={"judge": "on_a,on_b"},
    )
    header, place = filled(sheet, truth)
    assert (
        header == ["id", "position", "answer", "which"]
        and "A, B, both or neither" in plan.next_step()
    )
    library, pair = expected(data, truth, place)
    assert plan.labeled.tolist() == np.bincount(pair[place]).tolist()
    assert abs(plan.labeled - wb.judged_labels(np.bincount(pair), 90)).max() <= 1
    found = wb.judged_audit(items, labels=sheet, source={"judge": "on_a,on_b"})
    assert tuple(found.interval()) == tuple(library.interval())
    assert found.difference.answers.tolist() == library.answers.tolist()
    assert found.finding().startswith(
        "A (on_a) is better than B (on_b)" if library.interval().low > 0 else "Neither"
    )
    texts = [note.text for note in found.notes]
    assert [note.text for note in library.remarks()] == [
        text
        for text in texts
        if "judge labels alone" in text or text.startswith("the judge treats")
    ]
    assert any("on_a for A" in text and "on_b for B" in text for text in texts)
    assert "specificity" in found._repr_html_()


def test_the_expected_width_is_that_of_the_spreads_that_labels_are_allocated_for(items):
    plan = wb.judged_audit(items, 90)
    spread = np.array([0.4, 0.6, 0.6, 0.5])
    either = np.rint(spread**2 * plan.labeled / 2).astype(int)
    answers = np.stack([plan.labeled - 2 * either, either, either, 0 * either], 1)
    assert (
        plan.expected_half_width
        == wb.judged_difference(plan.stratum_size, answers).interval().half_width
    )
    assert (
        f"{100 * plan.expected_half_width:.1f} percentage points if human and judge labels differ"
        in plan.headline()
    )


def test_pairs_of_verdicts_that_do_not_occur_are_no_strata(tmp_path):
    """The judge never calls B alone right."""
    items = wb.judged_items(
        {"on_a": [1] * 60 + [1] * 30 + [0] * 10, "on_b": [1] * 60 + [0] * 40}, "on_a,on_b"
    )
    sheet = str(tmp_path / "sheet.csv")
    plan = wb.judged_audit(items, 30, label_sheet=sheet)
    assert plan.verdicts == ("both", "A", "neither") and plan.stratum_size.tolist() == [60, 30, 10]
    with open(sheet, encoding="utf-8-sig", newline="") as file:
        header, *rows = csv.reader(file)
    with open(sheet, "w", newline="") as file:
        csv.writer(file).writerows([header, *([*row[:-1], "A"] for row in rows)])
    found = wb.judged_audit(items, labels=sheet)
    assert found.difference.answers[:, 1].tolist() == [*plan.labeled[:2], 0, plan.labeled[2]]
    assert [row["verdict"] for row in found.rows()] == ["both", "A", "neither"]


def test_a_session_says_what_the_sheet_does_and_skipped_items_widen_it(verdicts, items, tmp_path):
    (data, truth), found = verdicts, {}
    for skipped in ((), 2):
        with wb.AuditSession.create(
            tmp_path / f"{skipped}.db",
            items,
            budget=60,
            question="difference",
            asks="which",
            columns={"answer": data["answer"]},
            source={"judge": "on_a,on_b"},
        ) as session:
            order = [int(item.id[1:]) for item in session.next(60)]
            assert "on_a" not in session.held()[0].shown
            left = order[:skipped] if skipped else []
            for k in order:
                session.skip(f"q{k}") if k in left else session.record(f"q{k}", truth[k])
            found[bool(skipped)] = session.estimate()
            assert session.verify(items).scores
    library, pair = expected(data, truth, order)
    assert tuple(found[False].interval()) == tuple(library.interval())
    assert library.remarks()[0].text in [note.text for note in found[False].notes]
    assert "A (on_a)" in found[False].finding() or found[False].finding().startswith(
        ("Not shown", "Neither model is shown")
    )
    least = np.bincount(pair[left], minlength=4)
    low = wb.judged_difference(
        library.stratum_size, expected(data, truth, order[2:])[0].answers, skipped=least
    )
    assert tuple(found[True].interval()) == pytest.approx(tuple(low.interval()))


def test_the_verdict_is_not_shown_and_the_question_fits(verdicts, items, tmp_path):
    forms, shown = wb.digit_forms().items(), {"on_b": verdicts[0]["on_b"]}
    create = functools.partial(wb.AuditSession.create, tmp_path / "a.db", budget=40)
    ask = functools.partial(create, question="difference")
    audit = functools.partial(wb.judged_audit, budget=40)
    for call, argument, rule in (
        (lambda: audit(items, columns=shown, source={"judge": "on_a,on_b"}), "columns", "must not show a judge label"),
        (lambda: ask(items), "asks", "must be 'truth' for a difference, or 'which' with a judge"),
        (lambda: ask(forms, asks="which"), "items", "must hold the labels of a judge, as judged_items reads them"),
        (lambda: create(forms, asks="which"), "asks", "can be 'which' only for two models with a judge"),
        (lambda: audit(dataclasses.replace(items, by=np.full(N, "x"))), "items", "must hold the labels of a judge"),
    ):  # fmt: skip
        refused(call, argument, rule)


@pytest.mark.parametrize(
    ("judge", "cell", "message"),
    [
        ("on_a", "1", "judge must name two columns with a comma between"),
        ("on_a,on_a", "1", "must name two columns"),
        ("on_a,on_b", "7", "column 'on_b', row 3: 7 is not a judge label"),
        ("on_a,on_b", "", "column 'on_b', row 3 is empty. Fill the cell or delete the row"),
        ("on_a,on_c", "1", "has no column 'on_c'"),
    ],
)
def test_verdicts_that_are_none(judge, cell, message, tmp_path):
    path = tmp_path / "v.csv"
    path.write_text(f"on_a,on_b\n1,0\n1,{cell}\n0,1\n")
    with pytest.raises(ValueError, match=message):
        wb.judged_items(path, judge)


def test_pass_and_fail_in_any_capitals_are_judge_labels(tmp_path):
    path = tmp_path / "v.csv"
    path.write_text("on_a,on_b\nPass,PASSED\npass ,FAIL\nfailed,fail\n")
    assert wb.judged_items(path, "on_a,on_b").by.tolist() == ["both", "A", "neither"]


def test_a_report_from_plan_to_finding(verdicts, tmp_path):
    data, truth = verdicts
    with open(tmp_path / "v.csv", "w", newline="") as file:
        csv.writer(file).writerows([list(data), *zip(*data.values(), strict=True)])
    asked = (
        "report",
        "stratified-accuracy",
        "--scores",
        "v.csv",
        "--judge",
        "on_a,on_b",
        "--id",
        "id",
    )
    plan = run_unseen(tmp_path, *asked, "--columns", "answer", "-o", "r.html")
    assert plan.returncode == 0, plan.stderr
    filled(tmp_path / "r-labels.csv", truth)
    run_unseen(tmp_path, *asked, "--labels", "r-labels.csv", "-o", "found.html")
    page = (tmp_path / "found.html").read_text()
    assert "<h1>Which of two models is more accurate?" in page and "Five intervals" not in page
    assert (
        "Difference with a judge: method and assumptions" in page
        and "the judge labels alone give A minus B" in page
    )


def test_from_the_command_line(verdicts, tmp_path):
    data, truth = verdicts
    with open(tmp_path / "v.csv", "w", newline="") as file:
        csv.writer(file).writerows([list(data), *zip(*data.values(), strict=True)])
    under = "--judge", "on_a,on_b"
    made = run_here(
        tmp_path,
        "audit",
        "new",
        "v.csv",
        "a.db",
        "--budget",
        "60",
        "--question",
        "difference",
        *under,
        "--id",
        "id",
        "--columns",
        "answer",
    )
    assert "60 of 800 items to label, in 4 strata" in made.stdout
    run_here(tmp_path, "audit", "export", "a.db", "s.csv")
    filled(tmp_path / "s.csv", truth, left_out=())
    assert "60 labels recorded" in run_here(tmp_path, "audit", "import", "a.db", "s.csv").stdout
    said = run_here(tmp_path, "audit", "status", "a.db").stdout
    assert (
        "Accuracy of A minus accuracy of B" in said
        and "The judge labels alone give A minus B" in said
    )
    run_here(tmp_path, "audit", "report", "a.db", "-o", "a.html")
    page, by = (tmp_path / "a.html").read_text(), np.asarray(wb.judged_items(data, "on_a, on_b").by)
    assert "Strata, by the answer that the judge labels correct" in page
    with wb.AuditSession.open(tmp_path / "a.db") as session:
        assert [(row["verdict"], row["size"]) for row in session.strata()] == [
            (said, np.sum(by == said)) for said in ("both", "A", "B", "neither")
        ]
    for options, message in (
        (("--question", "accuracy", *under), "needs --question difference"),
        (("--question", "difference", *under, "--prediction", "answer"), "must not be given with"),
        (("--question", "difference", *under, "--columns", "on_b"), "must not show a judge label"),
    ):
        refused = run_here(tmp_path, "audit", "new", "v.csv", "b.db", "--budget", "60", *options)
        assert refused.returncode and message in refused.stderr
