"""The scoreboard: its samples are what they are said to be, its sums right, and the record holds what it promises."""

import json
from pathlib import Path

import measure
import numpy as np
import page
import pytest
import r_calls
import run
import speed
from questions import AUC, BY, QUESTIONS, fold_differences, nearest_mean, said

RECORD = json.loads(run.RECORD.read_text(encoding="utf-8"))
CELLS = [cell for rows in RECORD["rows"].values() for row in rows for cell in row["cells"].values()]


def samples(name, setting, runs, seed=7):
    return list(QUESTIONS[name].draws(setting, seed, 0, runs))


def test_there_are_twelve_questions_and_96_settings_that_differ():
    assert {name.rstrip("abcdefgprs") for name in QUESTIONS} == {f"Q{k}" for k in range(1, 13)}
    listed = [
        (name, said(setting))
        for name, question in QUESTIONS.items()
        for setting in question.settings(name)
    ]
    assert len(set(listed)) == len(listed) >= 96


@pytest.mark.parametrize("name", QUESTIONS)
def test_every_value_of_a_grid_is_drawn_as_often_as_the_others_or_once_more(name):
    question = QUESTIONS[name]
    settings = question.settings(name)
    assert settings == question.settings(name) and all(
        question.fits(**setting) for setting in settings
    )
    for key, values in question.grid.items():
        times = [sum(setting[key] == value for setting in settings) for value in values]
        assert max(times) - min(times) <= 1


@pytest.mark.parametrize("name", QUESTIONS)
def test_a_run_is_the_same_however_it_is_reached(name):
    question, setting = QUESTIONS[name], QUESTIONS[name].settings(name)[0]
    last = list(question.draws(setting, 3, 0, 4))[-1]
    again = next(question.draws(setting, 3, 3, 4))
    for key, value in vars(last).items():
        if not callable(value):
            np.testing.assert_array_equal(value, vars(again)[key])


def within(values, truth):
    values = np.asarray(values, float)
    assert abs(values.mean() - truth) < 4 * values.std() / values.size**0.5 + 1e-12


def test_unbiased_estimates_meet_the_truths():
    one = samples("Q1", {"N": 500, "n": 50, "p": 0.9}, 400)
    within([d.y.mean() for d in one], 0.9)
    strata = samples(
        "Q2", {"accuracy": 0.9, "n": 60, "strata": 3, "labels": "equal", "sizes": "one heavy"}, 400
    )
    within(
        [(d.sizes * np.bincount(d.stratum, d.y) / d.labeled).sum() / 10_000 for d in strata],
        strata[0].truth,
    )
    pair = samples("Q6c", {"C": 20, "m": 10, "differing": 0.2, "difference": 0.04, "icc": 0.2}, 400)
    within([(d.a - d.b).mean() for d in pair], 0.04)
    for kind in ("grades, jumps of 5", "continuous", "independent", "rare drops"):
        scores = samples("Q6g", {"kind": kind, "n": 200}, 400)
        within([(d.a - d.b).mean() for d in scores], scores[0].truth)
    for sizes in ("equal", "lognormal", "geometric"):
        setting = {"C": 30, "sizes": sizes, "differing": 0.25, "difference": 0.02, "icc": 0.1}
        within([(d.a - d.b - d.truth).sum() for d in samples("Q6s", setting, 400)], 0)
    for accuracy in ("0.96", "lower in large ones"):
        setting = {"C": 30, "sizes": "lognormal", "icc": 0.1, "accuracy": accuracy}
        within([(d.y - d.truth).sum() for d in samples("Q3s", setting, 400)], 0)
    cells = samples("Q4f", {"share": 0.1, "recall": 0.8, "precision": 0.5, "n": 300}, 400)
    assert cells[0].truth == pytest.approx(2 * 0.8 * 0.5 / 1.3, abs=1e-4)
    within([(d.t * d.p).sum() for d in cells], 300 * 0.1 * 0.8)
    values = samples("Q11", {"kind": "one heavy", "strata": 5, "N": 50, "n": 5}, 400)
    within([10 * d.y.sum() for d in values], values[0].truth)
    judged = samples("Q8", {"p": 0.8, "n": 100, "sensitivity": 0.9, "specificity": 0.7}, 2)
    assert judged[0].verdict.mean() == 0.8 * 0.9 + 0.2 * 0.3 and judged[0].truth == 0.8


def test_the_true_auc_is_that_of_normal_scores():
    d = samples("Q5", {"n": 20_000, "share": 0.3, "distance": 1.5}, 1)[0]
    up, down = d.score[d.t == 1], np.sort(d.score[d.t == 0])
    assert np.searchsorted(down, up).mean() / down.size == pytest.approx(d.truth, abs=0.01)


@pytest.mark.parametrize("metric", BY)
def test_true_metrics_of_two_models_are_those_of_very_many_items(metric):
    items = {"n": 40_000, "share": 0.3, "distance": 1.0, "shared": 0.8}
    patients = {"C": 8_000, "m": 4, "share": 0.3, "distance": 1.0, "icc": 0.3}
    for name, setting in (("Q6d", items), ("Q6p", patients)):
        d = samples(name, {"metric": metric} | setting, 1)[0]
        models = zip((d.a, d.b), (d.predicted_a, d.predicted_b), strict=True)
        if d.metric == AUC:
            first, second = (auc_of(d.t, score) for score, _ in models)
        else:
            first, second = (2 * (d.t @ y) / (d.t + y).sum() for _, y in models)
        assert first - second == pytest.approx(d.truth, abs=0.012)
        assert (d.truth == 0) == metric.endswith("equal")
        assert d.t.mean() == pytest.approx(0.3, abs=0.02)


def auc_of(members, score):
    """Return the share of pairs of a member and another item in which the member scores above."""
    others = np.sort(score[members == 0])
    return np.searchsorted(others, score[members == 1]).mean() / others.size


def test_scores_of_two_models_share_what_is_hard():
    setting = {"metric": BY[0], "n": 20_000, "share": 0.5, "distance": 2.0}
    for shared in (0.3, 0.8):
        d = samples("Q6d", setting | {"shared": shared}, 1)[0]
        others = np.corrcoef(d.a[d.t == 0], d.b[d.t == 0])[0, 1]
        assert others == pytest.approx(shared, abs=0.03)
    patients = {"metric": BY[0], "C": 5_000, "m": 4, "share": 0.5, "distance": 2.0, "icc": 0.3}
    d = samples("Q6p", patients, 1)[0]
    rest = d.a - 2 * d.t
    first = np.flatnonzero(np.diff(d.cluster) == 0)  # an item and the next of the same patient
    assert np.corrcoef(rest[first], rest[first + 1])[0, 1] == pytest.approx(0.3, abs=0.05)
    assert rest.var() == pytest.approx(1, abs=0.05)


def test_accuracies_of_eight_models_are_those_that_are_said():
    for clusters in (0, 20):
        drawn = samples("Q7", {"models": "near", "n": 1000, "clusters": clusters}, 200)
        for model, truth in enumerate(drawn[0].truth):
            within([d.right[:, model].mean() for d in drawn], truth)


def test_learners_of_folds_are_told_apart_by_nothing():
    assert list(
        nearest_mean(np.array([[0.0], [2]]), np.array([0, 1]), np.array([[0.9], [1.1]]))
    ) == [0, 1]
    found = [
        fold_differences(d).mean()
        for d in samples("Q10", {"n": 40, "columns": 5, "gap": 1.0, "k": 5}, 200)
    ]
    within(found, 0)
    assert np.std(found) > 0


def test_answers_are_judged():
    two = measure.judged((0.2, 0.4), 0.3, (0, 1))
    assert (two["covered"], two["below"], two["above"], two["outside"]) == (1, 0, 0, 0)
    assert two["width"] == pytest.approx(0.2)
    assert (
        measure.judged((0.2, 0.4), 0.5, (0, 1))["below"] == 1
        and measure.judged((-0.1, 0), -0.2, (0, 1))["outside"] == 1
    )
    assert measure.judged((0.5, 0.5), 0.5, None)["zero"] == 1
    assert (
        measure.judged((0, np.inf), 0.5, None) == {"refused": 1} == measure.judged(np.nan, 0, None)
    )
    assert (
        measure.judged(0.04, 0, None)["covered"] == 0
        and measure.judged(0.06, 0, None)["covered"] == 1
    )
    order = measure.judged(
        np.array([[0, 1, 1], [0, 0, 0], [0, 0, 0]]), np.array([0.7, 0.6, 0.8]), None
    )
    assert order["covered"] == 0 and order["width"] == pytest.approx((1 + 2 + 2) / 3)


def test_what_a_tool_raises_is_counted():
    def answer(d):
        raise {0: ValueError, 1: ZeroDivisionError}[d]("so")

    sums = dict(measure.ZERO)
    for fault in (0, 1, 1):
        measure.run(sums, answer, fault, None)
    assert (sums["runs"], sums["refused"], sums["crashed"], sums["covered"]) == (3, 1, 2, 0)
    assert sums["said"] == "ZeroDivisionError: so"


def test_a_cell_is_the_mean_of_its_runs():
    sums = measure.ZERO | {
        "runs": 4,
        "covered": 2,
        "answered": 3,
        "width": 0.6,
        "squares": 0.14,
        "crashed": 1,
        "seconds": 0.008,
    }
    found = run.cell(sums)
    assert (found["coverage"], found["of_answered"], found["width"], found["crashed"]) == (
        0.5,
        0.6667,
        0.2,
        0.25,
    )
    assert found["error"] == 0.25 and found["milliseconds"] == 2
    assert found["width_error"] == pytest.approx(((0.14 - 3 * 0.04) / 3 / 3) ** 0.5, abs=1e-5)


def made(tool, row, coverage, width):
    return {
        "tool": tool,
        "row": row,
        "address": "",
        "cells": {"a": {"coverage": coverage, "error": 0.005, "width": width, "runs": 2000}},
    }


def test_ratios_are_over_the_shortest_that_covers_and_ours_is_red_where_it_loses():
    rows = [
        made("workbench", "one", 0.95, 0.4),
        made("workbench", "two", 0.91, 0.1),
        made("x", "covers", 0.925, 0.2),
        made("x", "covers not", 0.915, 0.1),
        made("x", "own allocation", 0.95, 0.05),
    ]
    found = page.judged({"rows": {"Q1": rows}})
    assert [row["covers"] for row in rows] == [True, False, True, False, True]
    assert [row["cells"]["a"].get("ratio") for row in rows] == [2, 0.5, 1, 0.5, None]
    assert [(red["row"], red["why"], red["value"]) for red in found["red"]] == [
        ("one", "width", 2),
        ("two", "coverage", 0.91),
    ]


def test_false_alarms_are_those_of_equal_models():
    def row(**cell):
        cells = {
            "metric AUC, models equal, n 60": {"of_answered": 0.95, "width": None} | cell,
            "metric AUC, A better, n 60": {"of_answered": 0.5, "width": 0.4, "below": 0.5},
        }
        return {"cells": cells}

    assert page.false_alarms(row(width=0.4, below=0.02, above=0.013)) == "3.3%"
    assert page.false_alarms(row(width=0.4)) == "0.0%"
    assert page.false_alarms(row(of_answered=0.96)) == "4.0%"
    assert page.false_alarms(row(of_answered=None)) == ""


def test_a_call_is_measured_on_its_metric():
    @measure.of_metric("AUC")
    @measure.test_of_zero
    def call(d):
        return 1.0

    question = QUESTIONS["Q6d"]
    asked = [
        setting["metric"]
        for setting in question.settings("Q6d")
        if measure.asked(call, question, setting, 1)
    ]
    assert set(asked) == {"AUC, models equal"}


def test_time_of_another_process_is_that_of_its_clock():
    def answer(d):
        return 0.2, 0.4

    ticks = iter([10.0, 13.0])
    answer.clock = lambda: next(ticks)
    sums = dict(measure.ZERO)
    measure.run(sums, answer, type("Sample", (), {"truth": 0.3}), None)
    assert sums["seconds"] == 3


def test_packages_of_r_are_missing_without_r(monkeypatch):
    monkeypatch.setenv("PATH", "")
    assert r_calls.installed("pROC") == ""
    assert run.python_of("pROC") == (None, "needs R with pROC 1.18.0")
    assert run.pinned("pROC") == "1.18.0" and run.pinned("MLstatkit") == "0.1.91"


def test_the_second_width_is_over_the_shortest_that_covers_in_that_setting():
    def row(name, *cells):
        return {
            "tool": "x",
            "row": name,
            "address": "",
            "cells": {
                name: {"coverage": coverage, "error": 0.005, "width": width, "runs": 400}
                for name, (coverage, width) in zip("ab", cells, strict=True)
            },
        }

    rows = [
        row("everywhere", (0.95, 0.4), (0.95, 0.6)),
        row("in a", (0.95, 0.2), (0.8, 0.3)),
        row("nowhere", (0.7, 0.1), (0.8, 0.3)),
    ]
    page.judged({"rows": {"Q1": rows}})
    assert [page.ratios(row) for row in rows] == [[1, 1], [0.5, 0.5], [0.25, 0.5]]
    assert [page.ratios(row, "ratio_in_setting") for row in rows] == [[2, 1], [1, 0.5], [0.5, 0.5]]
    assert page.middle(page.ratios(rows[0], "ratio_in_setting")) == "1.50"


def test_an_update_replaces_the_rows_that_were_measured():
    def record(**tables):
        return {"questions": {"Q1": {}, "Q2": {}}, "tools": {}, "rows": tables, "seed": 1}

    old = record(
        Q1=[made("workbench", "old", 0.95, 0.4), made("textbook", "kept", 0.95, 0.2)],
        Q2=[made("workbench", "kept", 0.95, 0.4)],
    )
    new = record(Q1=[made("evalci", "new", 0.95, 0.3), made("workbench", "new", 0.95, 0.3)])
    found = run.updated(old, new)
    assert {
        name: [(row["tool"], row["row"]) for row in rows] for name, rows in found["rows"].items()
    } == {
        "Q1": [("workbench", "new"), ("textbook", "kept"), ("evalci", "new")],
        "Q2": [("workbench", "kept")],
    }
    assert found["rows"]["Q1"][0]["cells"]["a"]["ratio"] == 1.5


def test_two_seeds_differ_where_three_of_their_errors_do_not_reach(capsys):
    def seed(*coverages):
        cells = [{"coverage": p, "error": 0.01} for p in coverages]
        return {
            "rows": {
                name: [
                    {"tool": "x", "row": row, "cells": {"a": cells[k], "b": cells[k + 1]}}
                    for k, row in ((0, "one"), (2, "two"))
                ]
                for name in ("Q1", "Q2")
            }
        }

    run.compare(seed(0.95, 0.95, 0.95, 0.95), seed(0.95, 0.90, 0.91, 0.99))
    assert capsys.readouterr().out == "2 of 8 cells differ by more than three errors\n"


def test_the_record_holds_every_question_and_fifteen_tools():
    assert list(RECORD["rows"]) == list(QUESTIONS)
    assert (
        len(
            {row["tool"] for rows in RECORD["rows"].values() for row in rows}
            - {run.OURS, run.TEXTBOOK}
        )
        >= 15
    )
    assert all(cell["runs"] > 0 for cell in CELLS)
    for name, rows in RECORD["rows"].items():
        settings = [said(setting) for setting in QUESTIONS[name].settings(name)]
        assert all(set(row["cells"]) <= set(settings) for row in rows)
        assert any(row["tool"] == run.OURS and set(row["cells"]) == set(settings) for row in rows)


def test_the_methods_page_says_why_a_cell_is_red():
    for name in {page.method(red) for red in RECORD["red"]}:
        text = (run.ROOT / "docs" / "methods" / f"{name}.md").read_text(encoding="utf-8")
        assert (
            "(../evidence/scoreboard.md)" in text.partition("## Limits")[2].partition("\n## ")[0]
        ), name


def test_the_page_of_two_models_under_a_judge_says_how_much_wider_it_is():
    rows = {row["row"]: row["cells"] for row in RECORD["rows"]["Q8d"]}
    others = [cells for name, cells in rows.items() if "PPI" in name or "ppi" in name]
    text = (run.ROOT / "docs" / "methods" / "judged-difference.md").read_text(encoding="utf-8")
    for name, said_as in (
        ("judged_difference, own allocation", "up to {:.2f} times as wide as prediction-powered"),
        ("judged_difference", "({:.2f} times with labels"),
    ):
        most = max(
            cell["width"] / min(cells[setting]["width"] for cells in others)
            for setting, cell in rows[name].items()
        )
        assert said_as.format(most) in text


def test_the_table_of_speed_is_that_of_the_record():
    record = json.loads(speed.RECORD.read_text(encoding="utf-8"))
    assert speed.page(record) == speed.PAGE.read_text(encoding="utf-8")
    assert [found["name"] for found in record["operations"]] == [
        operation[1] for operation in speed.OPERATIONS
    ]
    for found in record["operations"]:
        assert len(found["sizes"]) == len(found["seconds"]["ours"]) == 4
        assert found["sizes"][-1] >= 500 * found["sizes"][0]


def test_times_are_said_in_two_digits():
    assert [speed.said(x) for x in (1.234, 0.0456, 7.89e-4, 3e-6)] == [
        "1.2 s",
        "46 ms",
        "790 µs",
        "3 µs",
    ]


def test_the_page_says_what_the_record_holds(tmp_path):
    rows = RECORD["rows"]["Q1"]
    text = "\n".join(page.line(row) for row in rows)
    said = (run.ROOT / "docs" / "evidence" / "scoreboard.md").read_text(encoding="utf-8")
    assert all(line in said for line in text.splitlines())
    assert f"{len(CELLS):,} cells" in said
    written = run.RECORD.read_text(encoding="utf-8") + said
    assert (
        str(Path.home()) + "/" not in written
        and "/tmp/" not in written
        and str(run.ROOT) not in written
    )


@pytest.mark.parametrize("name", ["Q6d", "Q6p"])
def test_the_page_of_two_models_by_auc_or_f1_is_that_of_the_record(name):
    said_of = (run.ROOT / "docs" / "evidence" / "scoreboard.md").read_text(encoding="utf-8")
    part = said_of.partition(f"\n## {name} ")[2].partition("\n## ")[0]
    assert page.wrapped(QUESTIONS[name].note) in part and "| false alarms |" in part
    for row in RECORD["rows"][name]:
        assert page.line(row, equal=True) in part


def test_delong_of_r_and_the_textbook_are_the_same():
    rows = {(row["tool"], row["row"]): row["cells"] for row in RECORD["rows"]["Q6d"]}
    theirs, ours = rows["pROC", "roc.test delong, paired"], rows["textbook", "DeLong, z"]
    assert len(theirs) >= 2
    for setting, cell in theirs.items():
        if cell["runs"] == ours[setting]["runs"]:
            assert cell["coverage"] == ours[setting]["coverage"]
            assert cell["width"] == pytest.approx(ours[setting]["width"], abs=2e-5)


def test_the_page_of_comparisons_says_how_wide_and_how_wrong_metrics_are():
    text = (run.ROOT / "docs" / "methods" / "comparisons.md").read_text(encoding="utf-8")
    text = " ".join(text.split())
    for name in ("Q6d", "Q6p"):
        (ours,) = (row for row in RECORD["rows"][name] if row["tool"] == run.OURS)
        ratios = page.ratios(ours)
        assert f"{min(ratios):.2f} to {max(ratios):.2f} times as wide" in text
    alarms = {"ours": 0.0, "heed": 0.0, "ignore": 0.0}
    for row in RECORD["rows"]["Q6p"]:
        group = "ignore" if "patients ignored" in row["row"] else "heed"
        group = "ours" if row["tool"] == run.OURS else group
        share = page.false_alarms(row).removesuffix("%")
        alarms[group] = max(alarms[group], float(share or 0))
    assert f"at most {alarms['ours']}% of the samples of patients" in text
    assert f"as clusters do so in up to {alarms['heed']}%" in text
    assert f"ignore patients in up to {alarms['ignore']}%" in text
