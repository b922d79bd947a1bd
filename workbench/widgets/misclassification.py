"""Live views of lesson 4: what is counted, what is true, and what an audit makes of it month after month.

Each function returns a panel: controls, the function of `workbench` that they drive, and a chart that is fed with
its result.
"""
from __future__ import annotations

from typing import TYPE_CHECKING

import ipywidgets

from workbench.charts import misclassification as charts
from workbench.course.solar import ITEMS, solar_audit, solar_forms, solar_months, solar_rates
from workbench.misclassification.series import prevalence_series
from workbench.misclassification.theory import counted_share, estimator_theory, unbiased_share
from workbench.simulations.misclassification import simulate_prevalence
from workbench.widgets import questions
from workbench.widgets.chart_view import ChartView, drive

if TYPE_CHECKING:
    from workbench.widgets.chart_view import Panel
    from workbench.widgets.questions import Prediction

ESTIMATORS = [(name, method) for method, name in charts.NAMES.items()]
SHOWN_AT_FIRST = ("classify_and_count", "calibration", "mixed")
RUNS = 20_000
# of this seed the errors that the lesson quotes agree with those of 400,000 audits to four digits
SEED = 9
AUDITED = 400
LATER = 0.15


def mosaic() -> Panel:
    """Return the view of one month: true by read class as areas, the counted share against the true one.

    Returns
    -------
    workbench.widgets.Panel
        Controls: p00, p11, the true share.
    """
    base_rate, p00, p11 = solar_rates()
    controls = {"p00": _slider("p00 (others read right)", p00, 0.5, 1),
                "p11": _slider("p11 (panels read right)", p11, 0.5, 1),
                "base_rate": _slider("True share α", base_rate, 0, 1, unbiased_share(p00, p11))}

    def answer(**values):
        return charts.mosaic_data(**values), charts.mosaic_words(**values)

    return drive(controls, answer, ChartView(charts.mosaic(base_rate, p00, p11)))


def months() -> Panel:
    """Return the view of later months: what the estimators answer, how far they are off, how much they report.

    Returns
    -------
    workbench.widgets.Panel
        Controls: the new true share, the size of the audit, the estimators.
    """
    controls = {
        "new_base_rate": _later_slider(),
        "n": _audit_slider(),
        "methods": ipywidgets.SelectMultiple(options=ESTIMATORS, value=SHOWN_AT_FIRST, rows=len(ESTIMATORS),
                                             description="Estimators"),
    }

    def study(new_base_rate=LATER, n=AUDITED):
        base_rate, p00, p11 = solar_rates()
        return simulate_prevalence(base_rate, new_base_rate, p00, p11, n, solar_forms()[0].size, new_size=ITEMS,
                                   runs=RUNS, rng=SEED, rates="frame")

    def answer(methods, **values):
        if not methods:
            raise ValueError("choose at least one estimator")
        found = study(**values)
        return charts.months_data(found, methods), charts.months_words(found, methods)

    return drive(controls, answer, ChartView(charts.months(study(), SHOWN_AT_FIRST)))


def change() -> Panel:
    """Return the view of twelve months: levels with bands, and a difference with its own.

    Returns
    -------
    workbench.widgets.Panel
        Controls: the two months, the size of the audit.
    """
    later = solar_months()
    controls = {"months": ipywidgets.IntRangeSlider(value=(6, 12), min=1, max=len(later.counts),
                                                    description="From month to month",
                                                    layout=ipywidgets.Layout(width="420px")),
                "n": _audit_slider()}

    def estimated(months=(6, 12), n=AUDITED):
        if months[0] == months[1]:
            raise ValueError(f"choose two different months; both are {months[0]}")
        found = prevalence_series(solar_audit(n), later.counts[0], later.counts, method="mixed", rates="frame")
        return found, *months, later.true_shares

    def answer(**values):
        found = estimated(**values)
        return charts.change_data(*found), charts.change_words(*found)

    return drive(controls, answer, ChartView(charts.change(*estimated())))


def held_constant() -> Panel:
    """Return the view of the assumption: two answers to the same counts, one right.

    Returns
    -------
    workbench.widgets.Panel
        Controls: which rate is constant, the new true share.
    """
    controls = {"constant": ipywidgets.ToggleButtons(options=list(charts.HOLDS), description="Constant"),
                "new_base_rate": _later_slider()}

    def theory(new_base_rate=LATER):
        base_rate, p00, p11 = solar_rates()
        return estimator_theory(base_rate, new_base_rate, p00, p11, AUDITED)

    def answer(constant, new_base_rate):
        found = theory(new_base_rate)
        return charts.held_constant_data(found, constant), charts.held_constant_words(found, constant)

    return drive(controls, answer, ChartView(charts.held_constant(theory(), charts.READING)))


def predict_line() -> Prediction:
    """Return the question that the learner answers before they see the published line."""
    base_rate, p00, p11 = solar_rates()
    kept = estimator_theory(base_rate, LATER, p00, p11, AUDITED).retained_change
    published = base_rate + kept * (LATER - base_rate)
    return questions.predict("The share of solar panels rises from 10% to 15%. Each month the office applies what the "
                             "audit of month 1 says: which share of the forms read as panels, and of the others, "
                             "really have them. What does it publish?",
                             ["10.0%", "12.8%", "15.0%", "16.2%"],
                             f"{published:.1%}: it reports {kept:.0%} of any change, the squared Matthews "
                             f"correlation. The raw count says {counted_share(LATER, p00, p11):.1%}.")


def _slider(description, value, low, high, *others):
    """Return a slider by half points that also stops at exact values; a page rounds a float to a slider's step."""
    stops = {*(k / 200 for k in range(round(200 * low), round(200 * high) + 1)), value, *others}
    return ipywidgets.SelectionSlider(options=[(f"{stop:.4f}", stop) for stop in sorted(stops)], value=value,
                                      description=description, layout=ipywidgets.Layout(width="420px"))


def _later_slider():
    return _slider("New true share α′", LATER, *charts.RANGE, solar_rates()[0])


def _audit_slider():
    return ipywidgets.IntSlider(AUDITED, 100, 900, step=50, description="Audited n")
