"""Lesson 4 shows the numbers it tells a learner to discover, in the widgets and not only in the library."""
import math
import re

import ipywidgets
import numpy as np
import pytest
from panels import controls, heading, rows, settle, status
from scipy import stats

import workbench as wb
from workbench.charts.misclassification import scenes
from workbench.course import solar
from workbench.widgets import misclassification as live

A, P00, P11 = 180 / 1797, 1552 / 1617, 153 / 180
D = P00 + P11 - 1
COUNTED = [218, 618, 651, 675, 673, 691, 720, 741, 761, 783, 801, 809]
LATER_SHARES = [.10, .105, .11, .115, .12, .125, .13, .135, .14, .145, .15]

def stop(panel, name, value):
    """The stop of a slider that is nearest to a value."""
    control = next(c for text, c in controls(panel).items() if text.startswith(name))
    return min((option for _, option in control.options), key=lambda option: abs(option - value))


# ---------------------------------------------------------------- the story's data

def test_month_one_and_its_audit():
    forms = wb.digit_forms()
    truth, read = solar.solar_forms()
    assert ((truth == "panels") == (forms.digit == 9)).all() and ((read == "panels") == (forms.read_a == 9)).all()
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
    later = [rng.binomial(n, 153 / 180) + rng.binomial(5000 - n, 1 - 1552 / 1617)
             for n in (500, 525, 550, 575, 600, 625, 650, 675, 700, 725, 750)]
    assert months.counts[:, 1].tolist() == [218, *later] == COUNTED
    assert months.counts.sum(1).tolist() == [1797] + [5000] * 11
    assert months.true_shares.tolist() == pytest.approx([A, *LATER_SHARES])
    assert months.counted_shares[-1] == 809 / 5000
    assert months.rows()[5] == {"month": 6, "items": 5000, "counted": 691, "true_share": 0.12}
    assert not (months.counts.flags.writeable or months.true_shares.flags.writeable)


# ---------------------------------------------------------------- mosaic

def test_mosaic_counts_1213_and_is_unbiased_at_2113():
    panel = live.mosaic()
    assert (f"{218 / 1797:.4f}", f"{(65 / 1617) / (65 / 1617 + 27 / 180):.4f}") == ("0.1213", "0.2113")
    said = panel.view.alternative
    assert said == ("Of 10.02% with panels 8.51% are counted and 1.50% missed; of 89.98% others 3.62% are counted by "
                    "mistake. Counted 12.13%, true 10.02%: +2.11 points. Counted and true share agree only where the "
                    "true share is 21.13%.")
    assert panel.view.spec["params"][0]["value"] == ["Counted 12.13%, true 10.02%: unbiased only at 21.13%"]
    assert [round(row["share"] * 1797) for row in rows(panel, "cells")] == [153, 27, 65, 1552]


def test_the_stopped_clock_is_right_once():
    panel = live.mosaic()
    settle(panel, True_share=stop(panel, "True share", 0.2113))
    assert heading(panel) == "Counted 21.13%, true 21.13%: misses and false alarms just cancel"
    assert rows(panel, "arrow")[0]["bias"] == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize(("p00", "p11", "share"), [(1, 1, .5), (.5, .5, 0), (.92, .98, .15), (1, .5, 1), (.5, 1, .3)])
def test_mosaic_areas_add_up(p00, p11, share):
    panel = live.mosaic()
    said = settle(panel, p00=p00, p11=p11, True_share=share)
    cells = {row["area"]: row for row in rows(panel, "cells")}
    counted = cells["panels, counted"]["share"] + cells["others, counted"]["share"]
    arrow = rows(panel, "arrow")[0]
    assert sum(row["share"] for row in cells.values()) == pytest.approx(1)
    assert arrow["bias"] == pytest.approx(counted - share) and arrow["way"] == ("up" if counted >= share else "down")
    assert f"Counted {counted:.2%}, true {share:.2%}" in said and status(panel) == ""
    line = [row["bias"] for row in rows(panel, "line")]
    assert line == pytest.approx([1 - p00, p11 - 1])


def test_a_reader_without_errors_is_always_right():
    panel = live.mosaic()
    assert settle(panel, p00=1, p11=1).endswith(" agree for every true share.")
    assert heading(panel).endswith("a reader without errors") and rows(panel, "unbiased") == []


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
        return {name: (np.mean(values - new), np.sqrt(np.mean((values - new) ** 2))) for name, values in
                (("raw count", share), ("calibration", calibrated), ("mixed", mixed))}
    return errors


@pytest.mark.parametrize(("new", "figures"), [(A, ("0.0214", "0.0092", "0.0097")),
                                              (.15, ("0.0121", "0.0248", "0.0110")),
                                              (.05, ("0.0308", "0.0236", "0.0094"))])
def test_errors_of_the_lesson(drawn, new, figures):
    panel = live.months()
    settle(panel, New_true_share=0.4)
    settle(panel, New_true_share=stop(panel, "New true share", new))
    shown = {row["estimator"]: row for row in rows(panel, "answers")}
    assert tuple(row["text"] for row in shown.values()) == figures
    for name, (bias, rmse) in drawn(new).items():
        assert shown[name]["rmse"] == pytest.approx(rmse, rel=0.015)
        assert shown[name]["expected"] == pytest.approx(new + bias, abs=4e-4)


@pytest.mark.parametrize("new", [.05, .15, .40])
def test_each_reports_its_share_of_a_change(new):
    panel = live.months()
    settle(panel, New_true_share=.3)
    said = settle(panel, New_true_share=new, Estimators=tuple(scenes.NAMES))
    mcc2 = (D * A * (1 - A)) ** 2 / (A * (1 - A) * 218 / 1797 * 1579 / 1797)
    reported = dict(re.findall(r"[:,] ([a-z ]+) (-?\d+)%", heading(panel)))
    expected = {"raw count": D, "calibration": mcc2, "mixed": 1, "mle": 1, "misclassification": 1,
                "subtracted bias": (2 - D) * D, "audit share": 0}
    assert {name: int(value) for name, value in reported.items()} == {n: round(100 * v) for n, v in expected.items()}
    assert f"{mcc2:.2f}" == "0.55" and heading(panel).startswith(f"Of a {'rise' if new > A else 'fall'} by ")
    assert "misclassification" in said and len(rows(panel, "answers")) == 7


def test_no_shift_calibration_is_best_but_only_there():
    panel = live.months()
    said = settle(panel, New_true_share=stop(panel, "New true share", A))
    assert heading(panel) == "No shift: RMSE of calibration .0092, mixed .0097, raw count .0214"
    assert said.endswith("Least error: calibration. By theory mixed beats calibration outside .092 to .107.")
    calibration, mixed = ({row["share"]: row["rmse"] for row in rows(panel, "curves") if row["estimator"] == name}
                          for name in ("calibration", "mixed"))
    better = [share for share in mixed if calibration[share] < mixed[share]]
    assert better == pytest.approx([.095, .1, .105])


def test_doing_nothing_beats_mixed_between_155_and_305():
    panel = live.months()
    raw, mixed = ([row["rmse"] for row in rows(panel, "curves") if row["estimator"] == name]
                  for name in ("raw count", "mixed"))
    better = scenes.GRID[np.array(raw) < mixed]
    assert (better[0], better[-1]) == pytest.approx((.16, .30)) and better.size == 29


def test_a_larger_audit_errs_less_but_not_the_raw_count():
    panel, found = live.months(), []
    for n in (100, 900):
        settle(panel, Audited_n=n)
        found.append({row["estimator"]: row["rmse"] for row in rows(panel, "answers")})
    assert found[1]["mixed"] < found[0]["mixed"] / 2
    assert found[1]["raw count"] == pytest.approx(found[0]["raw count"], rel=.02)


def test_no_estimator_is_told_in_the_status_line():
    panel = live.months()
    before = panel.view.picture
    settle(panel, Estimators=())
    assert status(panel) == "<strong role='alert'>choose at least one estimator</strong>"
    assert panel.view.picture == before
    settle(panel, Estimators=("mle",))
    assert status(panel) == "" and heading(panel) == "Of a rise by 5.0 points they report: mle 100%"


# ---------------------------------------------------------------- change

def change_by_hand(no_panels, panels, drawn):
    """Change (q12 - q6) / d and what audit and readings add to its error; counts (right, audited) per class."""
    p00, p11 = (right / audited for right, audited in (no_panels, panels))
    d = p00 + p11 - 1
    v0, v1 = p00 * (1 - p00), p11 * (1 - p11)
    change = (809 - 691) / 5000 / d
    audit = change / d * math.sqrt((v0 / no_panels[1] + v1 / panels[1]) * drawn)
    months = [218 / 1797 * 44 / 62 + 1579 / 1797 * 7 / 338 + (q - 218 / 1797) / d for q in (691 / 5000, 809 / 5000)]
    return change, audit, math.sqrt(sum(t * v1 + (1 - t) * v0 for t in months) / 5000) / d


def test_change_from_six_to_twelve():
    panel = live.change()
    change, audit, reading = change_by_hand((331, 349), (44, 51), 1)
    assert (f"{change:.4f}", f"{audit:.4f}", f"{reading:.4f}") == ("0.0291", "0.0018", "0.0060")
    assert f"{math.hypot(audit, reading):.4f}" == "0.0062"
    found = rows(panel, "differences")
    assert [row["estimate"] for row in found] == pytest.approx([change, change])
    halves = change_by_hand((331.5, 350), (44.5, 52), 1 - 400 / 1797)
    own = (found[1]["high"] - found[1]["low"]) / 2 / stats.norm.ppf(.975)
    assert own == pytest.approx(math.hypot(*halves[1:]), rel=.005) and f"{own:.4f}" == "0.0063"
    assert rows(panel, "true change") == [{"change": pytest.approx(.03)}]
    assert panel.view.spec["params"][0]["value"] == ["Month 6 to 12: +0.0291, SE .0063; level bands would say .0150"]
    assert "the true change is +0.0300" in panel.view.alternative


def test_level_bands_are_the_root_of_both_levels():
    panel = live.change()
    levels = {row["month"]: row for row in rows(panel, "levels")}
    half = math.hypot(*((levels[m]["high"] - levels[m]["low"]) / 2 for m in (6, 12)))
    naive = rows(panel, "differences")[0]
    assert (naive["high"] - naive["low"]) / 2 == pytest.approx(half, rel=1e-6)
    assert [row["truth"] for row in levels.values()] == pytest.approx([A, *LATER_SHARES])
    assert half / stats.norm.ppf(.975) == pytest.approx(.0150, abs=5e-5)


@pytest.mark.parametrize("n", range(100, 901, 50))
def test_every_audit_answers(n):
    panel = live.change()
    said = settle(panel, From_month=(2, 9), Audited_n=n)
    assert status(panel) == "" and f"one audit of {n} forms" in said and heading(panel).startswith("Month 2 to 9: +0.0")
    own, naive = (row["high"] - row["low"] for row in rows(panel, "differences")[::-1])
    assert own < naive


def test_a_month_is_not_compared_with_itself():
    panel = live.change()
    settle(panel, From_month=(8, 8))
    assert status(panel) == "<strong role='alert'>choose two different months; both are 8</strong>"


# ---------------------------------------------------------------- what is held constant

def test_calibration_reports_mcc_squared_of_a_change():
    panel = live.held_constant()
    assert panel.view.spec["params"][0]["value"] == [
        "If P(read | true) is constant, calibration reports 55% of a change", "(MCC² = .55): 12.8% at a true 15.0%"]
    forms = wb.digit_forms()
    mcc2 = np.corrcoef(forms.digit == 9, forms.read_a == 9)[0, 1] ** 2
    answers = {row["estimator"]: row["answer"] for row in rows(panel, "now")}
    assert answers == pytest.approx({"mixed": .15, "calibration": A + mcc2 * (.15 - A)})
    assert panel.view.alternative.endswith(f"Squared Matthews correlation {mcc2:.4f}.")


@pytest.mark.parametrize("new", [.02, .05, .3])
def test_the_other_assumption_turns_the_tables(new):
    """Readings that keep P(true | read): the count q solves c11 q + c10 (1 - q) = new."""
    panel = live.held_constant()
    settle(panel, Constant="P(true | read)", New_true_share=new)
    c11, c10 = 153 / 218, 27 / 1579
    q = (new - c10) / (c11 - c10)
    answers = {row["estimator"]: row["answer"] for row in rows(panel, "now")}
    assert answers == pytest.approx({"calibration": new, "mixed": A + (q - 218 / 1797) / D})
    assert heading(panel).startswith("If P(true | read) is constant, mixed reports 180% of a change (1 / MCC² = 1.80)")


def test_prediction_locks_before_it_tells():
    asked = live.predict_line()
    choice, lock, told = asked.children[1:]
    assert choice.options == ("10.0%", "12.8%", "15.0%", "16.2%") and lock.disabled and told.value == ""
    choice.value = "15.0%"
    lock.click()
    assert choice.disabled and "You predicted <strong>15.0%</strong>. 12.8%: it reports 55% of any change" in told.value
    assert f"The raw count says {.15 * P11 + .85 * (1 - P00):.1%}." in told.value and "16.2%" in told.value


@pytest.mark.parametrize("view", [live.mosaic, live.months, live.change, live.held_constant])
def test_every_control_changes_the_words(view):
    panel, said = view(), []
    for control in controls(panel).values():
        said.append(panel.view.alternative)
        if isinstance(control, ipywidgets.SelectMultiple):
            control.value = control.value[:1]
        elif isinstance(control, ipywidgets.IntRangeSlider):
            control.value = (1, 3)
        elif isinstance(control, ipywidgets.IntSlider):
            control.value = control.max
        else:
            control.index += 1 if control.index == 0 else -1
        assert panel.view.alternative not in said and panel.view.alternative.endswith(".") and status(panel) == ""
