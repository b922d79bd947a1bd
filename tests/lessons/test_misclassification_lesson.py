"""Lesson 4 shows the numbers it tells a learner to discover, in the widgets and not only in the library."""

import csv
import doctest
import functools
import math
import re
from pathlib import Path

import code_cells
import ipywidgets
import nbformat
import numpy as np
import pytest
import traitlets
from nbclient import NotebookClient
from panels import controls, heading, settle, status
from scipy import stats

import workbench as wb
from workbench.charts.misclassification import lines, scenes
from workbench.course import solar
from workbench.lessons.checking import judged
from workbench.lessons.misclassification import views as live
from workbench.widgets import saved_answers as keeping
from workbench.widgets.chart_view import ChartView

A, P00, P11 = 180 / 1797, 1552 / 1617, 153 / 180
D = P00 + P11 - 1
COUNTED = [218, 618, 651, 675, 673, 691, 720, 741, 761, 783, 801, 809]
LATER_SHARES = [0.10, 0.105, 0.11, 0.115, 0.12, 0.125, 0.13, 0.135, 0.14, 0.145, 0.15]


def rows(shown, name):
    """Return the named rows of a panel's picture, or of a view's."""
    return getattr(shown, "view", shown).picture["data"][name]


def stop(panel, name, value):
    """The stop of a slider that is nearest to a value."""
    control = next(c for text, c in controls(panel).items() if text.startswith(name))
    return min((option for _, option in control.options), key=lambda option: abs(option - value))


# ---------------------------------------------------------------- the story's data


def test_month_one_and_its_audit():
    forms = wb.digit_forms()
    truth, read = solar.solar_forms()
    assert ((truth == "panels") == (forms.digit == 9)).all() and (
        (read == "panels") == (forms.read_a == 9)
    ).all()
    drawn = np.random.default_rng(1).choice(1797, 400, replace=False)
    nine, read_nine = forms.digit[drawn] == 9, forms.read_a[drawn] == 9
    table = [[np.sum((nine == t) & (read_nine == r)) for r in (False, True)] for t in (False, True)]
    assert solar.solar_audit().table.tolist() == table == [[331, 18], [7, 44]]
    assert solar.solar_audit().labels == ("no panels", "panels")
    assert solar.solar_rates() == pytest.approx((A, P00, P11), rel=1e-12)
    assert solar.solar_audit(1797).table.tolist() == [[1552, 65], [27, 153]]
    assert solar.solar_audit(100, rng=7).table.tolist() != solar.solar_audit(100).table.tolist()


def test_an_audit_larger_than_month_one_is_refused():
    with pytest.raises(ValueError, match="^n must be a whole number from 1 to 1797; got 1798$"):
        solar.solar_audit(1798)


def test_twelve_months():
    months, rng = solar.solar_months(), np.random.default_rng(2026)
    later = [
        rng.binomial(n, 153 / 180) + rng.binomial(5000 - n, 1 - 1552 / 1617)
        for n in (500, 525, 550, 575, 600, 625, 650, 675, 700, 725, 750)
    ]
    assert months.counts[:, 1].tolist() == [218, *later] == COUNTED
    assert months.counts.sum(1).tolist() == [1797] + [5000] * 11
    assert months.true_shares.tolist() == pytest.approx([A, *LATER_SHARES])
    assert months.counted_shares[-1] == 809 / 5000
    assert months.rows()[5] == {"month": 6, "items": 5000, "counted": 691, "true_share": 0.12}
    assert not (months.counts.flags.writeable or months.true_shares.flags.writeable)


# ---------------------------------------------------------------- mosaic


def test_mosaic_counts_1213():
    panel = live.mosaic()
    assert (f"{218 / 1797:.4f}", f"{218 / 1797 - 180 / 1797:.4f}") == ("0.1213", "0.0211")
    assert panel.view.alternative == (
        "The proportion of forms with panels is 10.02%: 8.51% are counted and 1.50% are missed. The "
        "proportion of other forms is 89.98%: 3.62% are counted by mistake. Counted 12.13%, true "
        "10.02%: 2.11 points too many."
    )
    assert panel.view.spec["params"][0]["value"] == [
        "Counted 12.13%, true 10.02%: 2.11 points too many"
    ]
    assert [round(row["share"] * 1797) for row in rows(panel, "cells")] == [153, 27, 65, 1552]


def test_the_stopped_clock_is_right_once():
    panel, share = live.mosaic(), (65 / 1617) / (65 / 1617 + 27 / 180)
    assert f"{share:.4f}" == "0.2113"
    settle(panel, True_proportion=stop(panel, "True proportion", share))
    assert heading(panel) == "Counted 21.13%, true 21.13%: misses and false positives cancel"
    assert rows(panel, "arrow")[0]["bias"] == pytest.approx(0, abs=1e-12)
    settle(panel, True_proportion=stop(panel, "True proportion", 0.4))
    assert heading(panel).endswith(f"{100 * (0.4 * 27 / 180 - 0.6 * 65 / 1617):.2f} points too few")


@pytest.mark.parametrize(
    ("p00", "p11", "share"),
    [(1, 1, 0.5), (0.7, 0.7, 0), (0.92, 0.98, 0.14), (1, 0.7, 1), (0.7, 1, 0.3)],
)
def test_mosaic_areas_add_up(p00, p11, share):
    panel = live.mosaic()
    said = settle(panel, Others=p00, Panels=p11, True_proportion=share)
    cells = {row["area"]: row for row in rows(panel, "cells")}
    counted = cells["panels, counted"]["share"] + cells["others, counted"]["share"]
    arrow = rows(panel, "arrow")[0]
    assert sum(row["share"] for row in cells.values()) == pytest.approx(1)
    assert arrow["bias"] == pytest.approx(counted - share) and arrow["way"] == (
        "up" if counted >= share else "down"
    )
    assert f"Counted {counted:.2%}, true {share:.2%}" in said and status(panel) == ""
    line = [row["bias"] for row in rows(panel, "line")]
    assert line == pytest.approx([1 - p00, p11 - 1])


def test_a_reader_without_errors_is_always_right():
    panel = live.mosaic()
    assert settle(panel, Others=1, Panels=1).endswith(
        "Counted 10.02%, true 10.02%: no form is misread."
    )


# ---------------------------------------------------------------- later months


@pytest.fixture(scope="module")
def drawn():
    """RMSE of the paper's estimators by draws written out here, with the frame's own rates."""
    rng, runs = np.random.default_rng(77), 200_000
    ones = rng.hypergeometric(180, 1617, 400, runs)
    hits, misses = rng.hypergeometric(153, 27, ones), rng.hypergeometric(65, 1552, 400 - ones)
    p11, p00 = hits / ones, 1 - misses / (400 - ones)
    c11, c10 = hits / (hits + misses), (ones - hits) / (400 - hits - misses)

    def errors(new):
        items = round(5000 * new)
        share = (rng.binomial(items, P11, runs) + rng.binomial(5000 - items, 1 - P00, runs)) / 5000
        calibrated = c11 * share + c10 * (1 - share)
        mixed = c11 * 218 / 1797 + c10 * 1579 / 1797 + (share - 218 / 1797) / (p00 + p11 - 1)
        return {
            name: (np.mean(values - new), np.sqrt(np.mean((values - new) ** 2)))
            for name, values in (
                ("raw count", share),
                ("calibration", calibrated),
                ("mixed", mixed),
            )
        }

    return errors


@pytest.mark.parametrize(
    ("new", "figures"),
    [
        (A, ("2.14", "0.92", "0.97")),
        (0.15, ("1.21", "2.48", "1.10")),
        (0.05, ("3.08", "2.36", "0.94")),
    ],
)
def test_errors_of_the_lesson(drawn, new, figures):
    panel = live.months()
    settle(panel, New_true_proportion=0.4)
    settle(panel, New_true_proportion=stop(panel, "New true proportion", new))
    shown = {row["estimator"]: row for row in rows(panel, "answers")}
    assert tuple(row["text"] for row in shown.values()) == figures
    for name, (bias, rmse) in drawn(new).items():
        assert shown[name]["rmse"] == pytest.approx(rmse, rel=0.015)
        assert shown[name]["bias"] == pytest.approx(bias, abs=4e-4)
    seen, picture = live._three_months()
    assert {row["line"] for row in rows(picture, "lines")} == {
        "truth",
        "raw count",
        "calibration",
        "mixed",
    }
    assert figures in [tuple(row.values())[1:] for row in seen.rows()]


@pytest.mark.parametrize("new", [0.05, 0.15, 0.40])
def test_each_reports_its_share_of_a_change(new):
    panel = live.months()
    settle(panel, New_true_proportion=0.3)
    said = settle(panel, New_true_proportion=new, Estimators=tuple(scenes.names()))
    mcc2 = (D * A * (1 - A)) ** 2 / (A * (1 - A) * 218 / 1797 * 1579 / 1797)
    reported = dict(re.findall(r"[:,] ([a-z ]+) (-?\d+)%", heading(panel)))
    expected = {
        "raw count": D,
        "calibration": mcc2,
        "mixed": 1,
        "mle": 1,
        "misclassification": 1,
        "subtracted bias": (2 - D) * D,
        "audit proportion": 0,
    }
    assert {name: int(value) for name, value in reported.items()} == {
        n: round(100 * v) for n, v in expected.items()
    }
    assert f"{mcc2:.2f}" == "0.55"
    assert f"part of a {'rise' if new > A else 'fall'} by " in heading(panel)
    assert "misclassification" in said and len(rows(panel, "answers")) == 7


def test_no_shift_calibration_is_best_but_only_there():
    panel = live.months()
    said = settle(panel, New_true_proportion=stop(panel, "New true proportion", A))
    assert (
        heading(panel)
        == "No change. Typical errors in points: calibration 0.92, mixed 0.97, raw count 2.14"
    )
    assert "Smallest typical error: calibration." in said
    assert said.endswith("unless the true proportion is between 9.2% and 10.7%.")
    calibration, mixed = (
        {row["share"]: row["rmse"] for row in rows(panel, "curves") if row["estimator"] == name}
        for name in ("calibration", "mixed")
    )
    better = [share for share in mixed if calibration[share] < mixed[share]]
    assert better == pytest.approx([0.095, 0.1, 0.105])


def test_doing_nothing_beats_mixed_between_155_and_305():
    panel = live.months()
    raw, mixed = (
        [row["rmse"] for row in rows(panel, "curves") if row["estimator"] == name]
        for name in ("raw count", "mixed")
    )
    better = scenes.GRID[np.array(raw) < mixed]
    assert (better[0], better[-1]) == pytest.approx((0.16, 0.30)) and better.size == 29


def test_a_larger_audit_errs_less_but_not_the_raw_count():
    panel, found = live.months(), []
    for n in (100, 900):
        settle(panel, Forms_audited=n)
        found.append({row["estimator"]: row["rmse"] for row in rows(panel, "answers")})
    assert found[1]["mixed"] < found[0]["mixed"] / 2
    assert found[1]["raw count"] == pytest.approx(found[0]["raw count"], rel=0.02)


def test_the_estimator_that_was_chosen_is_marked():
    shown = {row["name"]: row["text"] for row in rows(live.months("calibration"), "answers")}
    assert shown == {"raw count": "1.21", "calibration (you)": "2.48", "mixed": "1.10"}


# ---------------------------------------------------------------- change


def change_by_hand(no_panels, panels, drawn):
    """Change (q12 - q6) / d and what audit and readings add to its error; counts (right, audited) per class."""
    p00, p11 = (right / audited for right, audited in (no_panels, panels))
    d = p00 + p11 - 1
    v0, v1 = p00 * (1 - p00), p11 * (1 - p11)
    change = (809 - 691) / 5000 / d
    audit = change / d * math.sqrt((v0 / no_panels[1] + v1 / panels[1]) * drawn)
    months = [
        218 / 1797 * 44 / 62 + 1579 / 1797 * 7 / 338 + (q - 218 / 1797) / d
        for q in (691 / 5000, 809 / 5000)
    ]
    return change, audit, math.sqrt(sum(t * v1 + (1 - t) * v0 for t in months) / 5000) / d


def test_change_from_six_to_twelve():
    panel = live.change()
    settle(panel, From_month=6, To_month=12)
    change, audit, reading = change_by_hand((331, 349), (44, 51), 1)
    assert (f"{change:.4f}", f"{audit:.4f}", f"{reading:.4f}") == ("0.0291", "0.0018", "0.0060")
    assert f"{math.hypot(audit, reading):.4f}" == "0.0062"
    found = rows(panel, "differences")
    assert [row["estimate"] for row in found] == pytest.approx([change, change])
    halves = change_by_hand((331.5, 350), (44.5, 52), 1 - 400 / 1797)
    own = (found[1]["high"] - found[1]["low"]) / 2 / stats.norm.ppf(0.975)
    assert own == pytest.approx(math.hypot(*halves[1:]), rel=0.005) and f"{own:.4f}" == "0.0063"
    assert rows(panel, "true change") == [{"change": pytest.approx(0.03)}]
    assert (
        heading(panel)
        == "Month 6 to 12: +2.91 points, standard error 0.63; with independent errors 1.50"
    )
    assert "the true change is +3.00 points" in panel.view.alternative


def test_level_bands_are_the_root_of_both_levels():
    panel = live.change()
    settle(panel, From_month=6, To_month=12)
    levels = {row["month"]: row for row in rows(panel, "levels")}
    half = math.hypot(*((levels[m]["high"] - levels[m]["low"]) / 2 for m in (6, 12)))
    naive = rows(panel, "differences")[0]
    assert (naive["high"] - naive["low"]) / 2 == pytest.approx(half, rel=1e-6)
    assert [row["truth"] for row in levels.values()] == pytest.approx([A, *LATER_SHARES])
    assert half / stats.norm.ppf(0.975) == pytest.approx(0.0150, abs=5e-5)


@pytest.mark.parametrize("n", range(100, 901, 50))
def test_every_audit_answers(n):
    panel = live.change()
    said = settle(panel, To_month=9, From_month=2, Forms_audited=n)
    assert status(panel) == "" and f"one audit of {n} forms" in said
    assert re.match(r"Month 2 to 9: \+[1-4]\.\d\d points", heading(panel))
    own, naive = (row["high"] - row["low"] for row in rows(panel, "differences")[::-1])
    assert own < naive


def test_the_second_month_begins_after_the_first():
    panel = live.change()
    first, last = (controls(panel)[name] for name in ("From month", "To month"))
    for month in (8, 11, 1, 7):
        first.value = month
        assert last.min == month + 1 and last.value > month and status(panel) == ""
        assert heading(panel).startswith(f"Month {month} to {last.value}: ")
        last.value = month  # as typed into the field beside the slider
        assert last.value == month + 1 and heading(panel).startswith(
            f"Month {month} to {month + 1}: "
        )


def test_axes_hold_all_that_the_sliders_reach():
    for n in (100, 900):
        for ends in ((1, 2), (1, 12), (11, 12)):
            panel = live.change()
            settle(panel, From_month=ends[0], To_month=ends[1], Forms_audited=n)
            for name, (low, high) in (
                ("levels", scenes.LEVELS),
                ("differences", scenes.DIFFERENCES),
            ):
                assert all(
                    low <= row["low"] and row["high"] <= high for row in rows(panel, name)
                ), (n, ends)
    panel = live.held_constant()
    for constant in scenes.HOLDS:
        settle(panel, What=constant)
        assert all(
            scenes.ANSWERS[0] <= row["answer"] <= scenes.ANSWERS[1]
            for row in rows(panel, "answers")
        )


# ---------------------------------------------------------------- what is held constant


def test_calibration_reports_mcc_squared_of_a_change():
    panel = live.held_constant()
    assert heading(panel) == (
        "If P(read | true) is constant, calibration reports 55% of a change (MCC² = .55): 12.8% "
        "for a true 15.0%"
    )
    answers = {row["estimator"]: row["answer"] for row in rows(panel, "now")}
    assert answers == pytest.approx({"mixed": 0.15, "calibration": A + mcc2() * (0.15 - A)})
    assert panel.view.alternative.endswith(f" Matthews correlation is {mcc2():.4f}.")


@pytest.mark.parametrize("new", [0.02, 0.05, 0.3])
def test_the_other_assumption_turns_the_tables(new):
    """Readings that keep P(true | read): the count q solves c11 q + c10 (1 - q) = new."""
    panel = live.held_constant()
    settle(panel, What="P(true | read)", New_true_proportion=new)
    c11, c10 = 153 / 218, 27 / 1579
    q = (new - c10) / (c11 - c10)
    answers = {row["estimator"]: row["answer"] for row in rows(panel, "now")}
    assert answers == pytest.approx({"calibration": new, "mixed": A + (q - 218 / 1797) / D})
    assert heading(panel).startswith(
        "If P(true | read) is constant, mixed reports 180% of a change (1 / MCC² = 1.80)"
    )


# ---------------------------------------------------------------- predictions and what they reveal


@pytest.fixture
def learner():
    """Nothing is kept before and after."""
    keeping.saved_answers.cache_clear()
    yield keeping.saved_answers()
    keeping.saved_answers.cache_clear()


def mcc2():
    forms = wb.digit_forms()
    return np.corrcoef(forms.digit == 9, forms.read_a == 9)[0, 1] ** 2


@pytest.mark.parametrize(
    ("last", "said"),
    [
        (0.08, "almost no rise"),
        (0.1, "almost no rise"),
        (0.12, "stay below the truth. This"),
        (0.15, "follow the truth"),
        (0.2, "more than the rise"),
        (0.4, "more than the rise"),
    ],
)
def test_what_is_said_of_a_line_fits_it(last, said):
    (text,) = live._of_line([0.1] * 11 + [last])
    assert said in text


def test_a_line_is_touched_before_it_is_locked(learner):
    asked = live.predict_line()
    line, shown = asked.control, live.seen_line()
    assert (
        line.value is None and asked._lock.disabled and repr(shown) == "Make your prediction first."
    )
    assert [row["drag"] for row in line.view.picture["data"]["drawn"]] == list(range(1, 13))
    line.drag({"drag": 12, "x": 12.0, "y": 0.14})
    assert line.value == [0.1] * 11 + [0.14] and not asked._lock.disabled
    assert (
        line.view.alternative == "Your line: 10.0% in month 1, 10.0% in month 6, 14.0% in month 12."
    )
    asked._lock.click()
    assert "You predicted <strong>a line from 10.0% to 14.0%</strong>" in asked._status.value
    line.drag({"drag": 3, "x": 3.0, "y": 0.2})
    assert line.value[2] == 0.1 and not any(
        "drag" in row for row in line.view.picture["data"]["drawn"]
    )
    assert [
        row["share"] for row in rows(shown.parts[-1], "lines") if row["line"] == "your line"
    ] == line.value


def test_a_point_that_is_swept_along_draws_the_line_between():
    line = live.predict_line().control
    for place in (
        {"x": 2.2, "y": 0.1},
        {"x": 4.9, "y": 0.13},
        {"x": 11.0, "y": 0.1},
        {"x": 30.0, "y": 3.0},
    ):
        line.drag({"drag": 2} | place)
    assert line.value == pytest.approx(
        [0.1, 0.1, 0.11, 0.12, 0.13, 0.125, 0.12, 0.115, 0.11, 0.105, 0.1, 0.2]
    )
    line.drag({"drag": 2, "x": 2, "y": 0.05})  # held anew: nothing between is drawn over
    assert line.value[1:4] == pytest.approx([0.05, 0.11, 0.12])


@pytest.mark.parametrize("damaged", [[0.1] * 11, [0.1] * 11 + [0.9], "heads"])
def test_a_line_changed_by_hand_in_the_file_is_no_line(learner, damaged):
    learner.save("4-line", damaged)
    with pytest.raises((ValueError, traitlets.TraitError), match="line|list"):
        live.predict_line()


@pytest.mark.parametrize(
    ("end", "said"),
    [
        (
            0.15,
            "Your line ends at 15.0%, 2.2 points above the line of calibration, closest to the truth.",
        ),
        (
            0.165,
            "Your line ends at 16.5%, 3.7 points above the line of calibration, closest to the raw count.",
        ),
        (0.13, "Your line ends at 13.0%, like the line of calibration."),
        (0.10, "Your line ends at 10.0%, 2.8 points below the line of calibration."),
        (None, "of the rise."),
    ],
)
def test_published_lines_beside_the_learners(learner, monkeypatch, end, said):
    if end is None:
        monkeypatch.setenv("WORKBENCH_REVEAL", "all")
    else:
        learner.save("4-line", [0.1] * 11 + [end])
    *told, view = live.seen_line().parts
    assert len(told) == (end is not None)
    assert {row["line"] for row in rows(view, "lines")} <= {"truth", "calibration", "your line"}
    view = ChartView(
        lines.published(
            live._theory(live.LATER),
            live.solar_months().true_shares.tolist(),
            None if end is None else [0.1] * 11 + [end],
        )
    )
    found = {
        name: [row["share"] for row in rows(view, "lines") if row["line"] == name]
        for name in ("truth", "raw count", "calibration", "mixed", "your line")
    }
    true = [A, *LATER_SHARES]
    assert found["truth"] == found["mixed"] == pytest.approx(true)
    assert found["raw count"] == pytest.approx([a * P11 + (1 - a) * (1 - P00) for a in true])
    assert found["calibration"] == pytest.approx([A + mcc2() * (a - A) for a in true])
    assert found["your line"] == ([] if end is None else [0.1] * 11 + [end])
    assert [row["text"] for row in rows(view, "ends")] == ["16.2%", "15.0%", "12.8%"]
    assert view.alternative.endswith(
        f"Calibration reports only 55% of the rise. {said}".replace("rise. of the ", "")
    )


def test_the_better_reader_counts_worse(learner):
    choice = next(iter(live.TEXTS.feedback("4-reader")))
    learner.save("4-reader", choice)
    told, table, said = live.seen_reader().parts
    assert told == f"You predicted {choice}. {live.TEXTS.feedback('4-reader')[choice]}"
    program, trainee = table.rows()
    assert [
        program[name] for name in ("codes read correctly", "panels or not, correct", "counts")
    ] == [
        "88%",
        "94.9%",
        218,
    ]
    assert [
        trainee[name] for name in ("codes read correctly", "panels or not, correct", "counts")
    ] == [
        "78%",
        "93.5%",
        183,
    ]
    for row in (program, trainee):
        assert (
            row["counts"] == row["true"] - row["panels missed"] + row["others counted"]
            and row["true"] == 180
        )
    assert "trainee misses 57 forms" in said and "counts 60 other forms" in said


@pytest.mark.parametrize("choice", live.TEXTS.values("4-best"))
def test_best_today_is_not_best_tomorrow(learner, choice):
    learner.save("4-best", choice)
    panel, look = live.seen_months().parts
    look.children[0].click()
    assert look.parts[0] == f"You predicted {choice}. {live.TEXTS.feedback('4-best')[choice]}"
    (marked,) = (
        row["estimator"] for row in rows(panel, "answers") if row["name"].endswith(" (you)")
    )
    assert marked == scenes.names()[live.TEXTS.value("4-best", choice)]


@pytest.mark.parametrize(("choice", "reach"), live.TEXTS.values("4-change").items())
def test_a_change_is_better_known_than_its_levels(learner, choice, reach):
    learner.save("4-change", choice)
    said, panel = live.seen_change().parts
    own, yours = (
        next(row for row in rows(panel, "differences") if row["band"] == band)
        for band in (scenes.SHARED, scenes.PREDICTED)
    )
    assert (
        (yours["high"] - yours["low"]) / 2
        == pytest.approx(reach)
        == pytest.approx(float(re.search(r"about (\d(\.\d)?) points", choice)[1]) / 100)
    )
    assert said == f"You predicted {choice}. {live.TEXTS.feedback('4-change')[choice]}"
    assert f"{50 * (own['high'] - own['low']):.1f}" == "1.2"
    naive = rows(panel, "differences")[0]
    assert f"{50 * (naive['high'] - naive['low']):.1f}" == "2.8"


@pytest.mark.parametrize("choice", live.TEXTS.feedback("4-judge"))
def test_a_judge_of_80_percent(learner, choice):
    """(.68 - .2) / (.8 + .8 - 1) = .8; a judge reports .6 of a change and is right at half."""
    learner.save("4-judge", choice)
    said, panel = live.seen_judge().parts
    assert said == f"You predicted {choice}. {live.TEXTS.feedback('4-judge')[choice]}"
    assert ("That is correct" in said) == (choice.startswith("80%")) and (0.68 - 0.2) / (
        0.8 + 0.8 - 1
    ) == pytest.approx(0.8)
    assert [row["value"] for row in rows(panel, "now")] == pytest.approx([0.68, 0.8])
    assert [row["value"] for row in scenes.judge(0.5, 0.8).data["now"]] == pytest.approx([0.5, 0.5])


def test_everything_opens_where_slides_are_made(learner, monkeypatch):
    monkeypatch.setenv("WORKBENCH_REVEAL", "all")
    for seen in (
        live.seen_line,
        live.seen_reader,
        live.seen_months,
        live.seen_constant,
        live.seen_change,
        live.seen_judge,
    ):
        assert "prediction first" not in repr(seen()) and "You predicted" not in repr(seen())


@pytest.mark.parametrize(
    "scene", [live.mosaic, live.months, live.change, live.held_constant, live.judge]
)
def test_the_example_of_a_scene_runs_with_its_controls(scene, capsys):
    """Also the line that doctest skips, as it prints the controls."""
    names = {}
    for example in doctest.DocTestParser().get_examples(scene.__doc__):
        exec(compile(example.source, "example", "single"), names)
    assert "interactive(children=" in capsys.readouterr().out


def test_a_click_simulates_what_the_corrected_formula_says(learner):
    button = live.check_mixed()
    assert repr(button) == "Button: Simulate 20,000 audits"
    button.children[0].click()
    theory, simulated, error = map(float, re.findall(r"\d\.\d{3}", repr(button)))
    assert abs(theory - simulated) < 3 * error


@pytest.mark.parametrize(
    "view", [live.mosaic, live.months, live.change, live.held_constant, live.judge]
)
def test_every_control_changes_the_words(view):
    panel, said = view(), []
    for control in controls(panel).values():
        said.append(panel.view.alternative)
        if isinstance(control, ipywidgets.Dropdown):
            control.index = 1
        elif isinstance(control, ipywidgets.IntSlider):
            control.value += control.step
        else:
            control.index += 1 if control.index == 0 else -1
        assert (
            panel.view.alternative not in said
            and panel.view.alternative.endswith(".")
            and status(panel) == ""
        )


# ---------------------------------------------------------------- the notebook

NOTEBOOK = Path(__file__).parents[2] / "notebooks" / "04-misclassification-correction.ipynb"
MIXED, CALIBRATION, CHANGE, ERROR = 0.1542, 0.1322, 0.0291, 0.0063
# per exercise: an answer with one number of the text in it
ACCEPTS = {
    "4.1": (lambda x: x,),
    "4.2": (lambda x: (x, CALIBRATION), lambda x: (MIXED, x)),
    "4.4": (lambda x: (x, ERROR), lambda x: (CHANGE, x)),
    "4.5": (lambda x: x,),
}


def text_of(cell):
    told = [
        text
        for output in cell.get("outputs", [])
        for text in (
            output.get("text", ""),
            *(output.get("data", {}).get(kind, "") for kind in ("text/plain", "text/html")),
        )
    ]
    return "\n".join([cell.source, *told])


def numbers_of_three_digits(text):
    for found in re.findall(r"(?<![\w.])\d[\d,]*(?:\.\d+)?|(?<![\w.])\.\d+", text):
        value = float(found.replace(",", ""))
        if len(found.replace(",", "").replace(".", "").lstrip("0")) >= 3:
            yield from (value, value / 100) if value >= 1 else (value,)  # .0291 and 2.91 points


@pytest.fixture(scope="module")
def executed():
    """The lesson with its outputs, which `make test` compares with those of a kernel."""
    return nbformat.read(NOTEBOOK, as_version=4)


verdict = functools.cache(lambda exercise, answer: judged(exercise, answer).verdict)


def given_away(cells):
    """Return the exercises whose answers stand above them."""
    found = set()
    for place, cell in enumerate(cells):
        for asked in re.findall(r'wb\.check\("([\d.]+)", answer\)', cell.source):
            above = {x for each in cells[:place] for x in numbers_of_three_digits(text_of(each))}
            if any(
                verdict(asked, put(x)) == "correct" for put in ACCEPTS.get(asked, ()) for x in above
            ):
                found.add(asked)
    return found


def test_no_answer_of_an_exercise_stands_above_it(executed):
    assert given_away(executed.cells) == set()
    for number, exercise in (
        ("15.0%", "4.1"),
        (".1320", "4.2"),
        ("2.91 points", "4.4"),
        (".596", "4.5"),
    ):
        told = [nbformat.v4.new_markdown_cell(number), *executed.cells]
        assert given_away(told) == {exercise}


def test_the_lesson_waits_for_its_predictions_and_its_report_stands_last(executed):
    cells = executed.cells
    waiting = [
        cell.source.split("  # ")[0]
        for cell in cells
        if "Make your prediction first." in text_of(cell) and "code" not in cell.metadata.tags
    ]
    assert waiting == [
        f"lesson.seen_{name}()"
        for name in ("line", "reader", "months", "constant", "change", "judge")
    ]
    own = next(
        place for place, cell in enumerate(cells) if cell.source.startswith("## Your own data")
    )
    tags = [set(cell.metadata.get("tags", [])) for cell in cells]
    assert all(tagged & {"lesson", "exercise", "unless:judge"} for tagged in tags[1 : own + 2])
    below = [tagged for tagged in tags[own + 2 :] if "code" not in tagged]
    assert below[0] == {"parameters"} and not any("exercise" in tagged for tagged in below)


# ---------------------------------------------------------------- the same in code


@pytest.fixture(scope="module")
def in_code():
    """What the code cells show once everything is predicted, by their ids."""
    return code_cells.outputs(NOTEBOOK)


def test_code_cells_show_the_figures_of_the_scenes(in_code):
    fifteen = A + mcc2() * (0.15 - A)
    assert f"{fifteen:.1%}" == "12.8%" and f"publishes {fifteen:.1%} " in in_code["code-line"]
    assert in_code["code-constant"] == f"MCC² is {mcc2():.2f}. Calibration answers {fifteen:.1%}."
    rates = f"p00 {P00:.1%}, p11 {P11:.1%}"
    assert in_code["code-counted"] == f"{rates}: counted {218 / 1797:.2%}, true {A:.2%}\n"
    assert in_code["code-back"] == f"counted {218 / 1797:.4f}, corrected {A:.4f}\n"
    assert re.findall(r"\d+", in_code["code-reader"]) == ["57", "60", "183"]
    errors = re.findall(r"\d\.\d\d", in_code["code-errors"])
    assert errors == ["1.21", "2.48", "1.10"]
    subtracted = 218 / 1797 * (3 - P00 - P11) - (1 - P00)
    assert f"{subtracted:.4f}" == "0.1042" and f" {subtracted:.4f}\n" in in_code["code-subtracted"]
    assert re.findall(r"\d\.\d\d", in_code["code-mixed"])[0] == "1.09"
    panel = live.check_mixed()
    panel.children[0].click()
    assert " 1.09" in repr(panel)


def test_code_cells_show_the_change_and_its_interval(in_code):
    d = 331 / 349 + 44 / 51 - 1
    change = (COUNTED[7] - COUNTED[2]) / 5000 / d
    panel = live.change()
    settle(panel, From_month=3, To_month=8)
    own = rows(panel, "differences")[1]
    half_width = (own["high"] - own["low"]) / 2
    text = f"{100 * change:+.1f} points, ±{100 * half_width:.1f} points"
    assert in_code["code-change"] == text == "+2.2 points, ±1.2 points"


def test_code_cells_apply_every_estimator_to_one_audit(in_code):
    shown = re.search(
        r"(0\.\d+) to (0\.\d+) \(classify-and-count (0\.\d+)\)", in_code["code-one-audit"]
    )
    drawn = np.random.default_rng(2).choice(1797, 400, replace=False)
    truth, read = wb.digit_forms().digit[drawn] == 9, wb.digit_forms().read_a[drawn] == 9
    p00, p11 = np.mean(~read[~truth]), np.mean(read[truth])
    counted = 808 / 5000
    inverted = (counted - (1 - p00)) / (p00 + p11 - 1)
    least, most = truth.mean(), inverted
    assert [float(figure) for figure in shown.groups()] == pytest.approx(
        [least, most, counted], abs=5e-5
    )


def test_code_cells_correct_a_judge(in_code):
    assert in_code["code-judge"].startswith(f"{(0.68 - 0.2) / (0.8 + 0.8 - 1):.0%} ")
    first = 0.653 * 558 / 653 + 0.347 * 62 / 347
    now = first + (0.72 - 0.653) / (285 / 380 + 558 / 620 - 1)
    assert f"{now:.4f}" == "0.7231" and f"mixed: proportion {now:.4f} " in in_code["code-week"]
    text = "\n".join(cell.source for cell in nbformat.read(NOTEBOOK, as_version=4).cells)
    assert f"By *mixed*, {now:.1%} of" in text
    audited, half_width = re.search(
        r"\((\d,\d+) audited .*of ±(0\.\d+) for", in_code["code-plan"]
    ).groups()
    assert half_width == "0.02"
    number = int(audited.replace(",", ""))
    assert spread_of_mle(number) * 1.96 == pytest.approx(0.02, abs=1e-4)


def spread_of_mle(n, runs=40_000):
    """Standard deviation of double sampling in the judge's second week, by draws written out here."""
    rng = np.random.default_rng(5)
    good = rng.binomial(n, 0.62, runs)
    hits, alarms = rng.binomial(good, 558 / 620), rng.binomial(n - good, 95 / 380)
    passed = 0.62 * 558 / 620 + 0.38 * 95 / 380
    frame = (hits + alarms + rng.binomial(10_000 - n, passed, runs)) / 10_000
    of_passed, of_failed = hits / (hits + alarms), (good - hits) / (n - hits - alarms)
    share = of_passed * frame + of_failed * (1 - frame)
    p11 = of_passed * frame / share
    false_alarms = (1 - of_passed) * frame / (1 - share)
    later = (rng.binomial(7000, 558 / 620, runs) + rng.binomial(3000, 95 / 380, runs)) / 10_000
    return np.std((later - false_alarms) / (p11 - false_alarms))


def test_the_example_of_the_readers_own_files_runs_alone(in_code):
    with open(NOTEBOOK.parent / "data" / "audit.csv", encoding="utf-8") as file:
        pairs = [
            (row["truth"] == "complaint", row["prediction"] == "complaint")
            for row in csv.DictReader(file)
        ]
    with open(NOTEBOOK.parent / "data" / "months.csv", encoding="utf-8") as file:
        counted = [int(row["counted"]) / int(row["n"]) for row in csv.DictReader(file)]
    truth, read = np.array(pairs).T
    of_read, of_others = truth[read].mean(), truth[~read].mean()
    share = of_read * counted[0] + of_others * (1 - counted[0])
    p11 = of_read * counted[0] / share
    false_alarms = (1 - of_read) * counted[0] / (1 - share)
    change = (counted[-1] - counted[0]) / (p11 - false_alarms)
    assert in_code["code-own-file"].startswith(
        f"The proportion of class complaint fell by {-100 * change:.1f} percentage points"
    )
    source = next(
        cell.source
        for cell in nbformat.read(NOTEBOOK, as_version=4).cells
        if cell.id == "code-own-file"
    )
    assert source.startswith("import workbench as wb\n")


def test_solutions_are_right(kernel, tmp_path):
    lesson, solutions = (
        nbformat.read(path, as_version=4)
        for path in (NOTEBOOK, NOTEBOOK.parent / "solutions" / NOTEBOOK.name)
    )
    NotebookClient(solutions, store_widget_state=False).execute()
    shown = [
        output.data["text/plain"] for cell in solutions.cells for output in cell.get("outputs", [])
    ]
    asked = re.findall(
        r'wb\.check\("([\d.]+)", answer\)', "".join(cell.source for cell in lesson.cells)
    )
    assert [re.match(r"Feedback\(([\d.]+) correct: ", text)[1] for text in shown] == asked


def test_minutes_of_the_scenes_add_up_to_those_of_the_parts():
    text = "\n".join(cell.source for cell in nbformat.read(NOTEBOOK, as_version=4).cells)
    parts = re.split(r"(?m)^## Part \d of 3 .*\((\d+) minutes\)$", text)
    for promised, part in zip(parts[1::2], parts[2::2], strict=True):
        assert sum(map(int, re.findall(r"(?m)^\*(\d+) minutes\.\*", part))) == int(promised) == 25
