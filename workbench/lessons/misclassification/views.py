"""Live views of lesson 4: what is counted, what is true, and what an audit makes of it month after month.

A view is a panel: controls, the function of `workbench` that they drive, and a chart that is fed with its result.
`predict_` asks, `seen_` shows what was asked once the prediction is locked, `explain_` asks for two written lines.
"""

from typing import Any

import ipywidgets
import numpy as np

from workbench import checks
from workbench.charts.misclassification import lines
from workbench.charts.misclassification import scenes as charts
from workbench.charts.misclassification.words import names
from workbench.course import lesson_data
from workbench.course.digit_forms import read_by_next_box
from workbench.course.lesson_data import (
    about_digits,
    are_digits,
    comments,
    lesson_forms,
    named,
    only_for_digits,
)
from workbench.course.solar import CODE, ITEMS, solar_audit, solar_months, solar_rates
from workbench.lessons.misclassification.drawn_line import DrawnLine
from workbench.misclassification.series import prevalence_series
from workbench.misclassification.theory import estimator_theory, unbiased_share
from workbench.results import Table
from workbench.simulations.misclassification import simulate_prevalence
from workbench.widgets import questions
from workbench.widgets.chart_view import ChartView, Panel, drive_chart, stops
from workbench.widgets.questions import Explanation, Prediction, Reveal
from workbench.widgets.ranges import adjustable

# what must not be on the screen before a prediction is locked, its button pressed (look) or an exercise answered
ANSWERS = {
    "4-line": ("12.8%", "55%"),
    "4-reader": ("183",),
    "4-best": ("16.2%", "1.21", "1.10", "2.48"),
    "4-best look": ("3.08", "2.36", "0.94"),
    "4-change": ("1.2 points",),
    "4-judge": ("adds .8 - .2",),
    "4.1": (".150",),
    "4.2": (".1542", ".1322"),
    "4.5": (".596",),
    "4.4": (".0291", ".0062"),
}
THREE = ("classify_and_count", "calibration", "mixed")
SHOWN = {"raw count, calibration, mixed": THREE, "all estimators": tuple(names())}
RUNS = 20_000
# of this seed the errors that the lesson quotes agree with those of 400,000 audits to four digits
SEED = 9
AUDITED = 400
LATER = 0.15
MONTHS = (3, 8)
READERS = (
    "the program: 88% right counts better than 78%",
    "the trainee, although he makes more mistakes",
    "both equally well",
)
MODELS = ("the first model", "the second model", "both equally well")
BEST = {
    "calibration: best today, best tomorrow": "calibration",
    "mixed": "mixed",
    "the raw count: no correction at all": "classify_and_count",
}
REACH = {
    "about 2.8 points either way: two uncertain numbers are subtracted": 0.028,
    "about 2 points either way, as for one month": 0.020,
    "about 1.2 points either way, less than for one month": 0.012,
}
GOOD = 0.8
PASSED = (
    "68%: it has looked at every answer",
    "88%: it errs in 20%, so these are added",
    "80%: less 20 points, divided by .6",
    "54%: of those that it passes 80% are good",
)
OF_PASSED = dict(
    zip(
        PASSED,
        (
            "It passes 80% of the good ones and 20% of the bad ones. Only where half are good does that come to their number.",
            "Its errors go both ways: bad answers pass, good ones fail. What it errs in is no number to add.",
            "That is right: if none were good it would pass 20%, and every good answer adds .8 - .2 = .6 to what passes.",
            "Of those that it passes more are good when more are good at all: 80% of the good ones pass, which is the other "
            "way round.",
        ),
        strict=True,
    )
)
OF_READERS = dict(
    zip(
        READERS,
        (
            "Better read, worse counted: it adds more others than it misses panels.",
            "That is right, and it is luck: his mistakes happen to cancel.",
            "They read differently well, and one of them happens to miss as many as he adds.",
        ),
        strict=True,
    )
)
OF_BEST = dict(
    zip(
        BEST,
        (
            "It was best while nothing had changed. What it holds constant, P(true | read), moves with the share.",
            "That is right: it adds the counted change, turned back into the true one.",
            "Nearly: at this share the two mistakes of counting almost cancel. At another share they do not.",
        ),
        strict=True,
    )
)
OF_REACH = dict(
    zip(
        REACH,
        (
            "So it would be if the two months had errors of their own. Both have the error of the one audit.",
            "You expected that part of the error cancels. More of it does.",
            "That is right: the error of the audit is in both months and nearly cancels in their difference.",
        ),
        strict=True,
    )
)


LEAST_ITEMS, LEAST_INFORMATION = 900, 0.1  # rows; p00 + p11 - 1


def use(path: Any, positive: Any = "") -> Any:
    """Show a file of your own in the scenes of this lesson.

    Parameters
    ----------
    path : str, path, data frame or None
        With the columns `truth` and `prediction`; `second`, what a second model predicts, may be there. At least 900
        rows, of which the positive class is 2% to 40%. None shows the digit forms again.
    positive : object
        The class that is counted; by default class 1, or the rarest.

    Returns
    -------
    workbench.course.lesson_data.LessonItems
        The `forms` of the code cells.
    """
    items = lesson_data.use_items(path, positive=positive)
    lesson_data.check_size(LEAST_ITEMS, 4)
    base_rate, p00, p11 = _rates()
    low, high = charts.RANGE
    can_be_counted = low <= base_rate <= high and p00 + p11 - 1 >= LEAST_INFORMATION
    if not can_be_counted or max(p00, p11) == 1:
        lesson_data.use_items(None)
        raise ValueError(
            f"Lesson 4 needs a positive class with {low:.0%} to {high:.0%} of the rows, predicted better than by chance, "
            f"with mistakes of both kinds; {items.name} has {base_rate:.1%} of class {items.positive}, of which "
            f"{p11:.1%} are predicted, and {1 - p00:.1%} of the others are predicted by mistake. Name another class by "
            "positive=..."
        )
    return items


def _rates() -> tuple[float, float, float]:
    """Return the true share of the positive class, and how often negatives and positives are predicted correctly."""
    if are_digits():
        return solar_rates()
    forms = lesson_forms()
    truth, counted = forms.digit == forms.positive, forms.read_a == forms.positive
    return float(truth.mean()), float(1 - counted[~truth].mean()), float(counted[truth].mean())


def _later_share() -> float:
    """Return the true share of the later months: half as much again as in the first."""
    return LATER if are_digits() else round(min(1.5 * _rates()[0], charts.RANGE[1]), 2)


@about_digits
def predict_line() -> Prediction:
    """Return the question that the learner answers by drawing the published line."""
    return questions.Prediction(
        "4-line",
        "The true share rises from 10% to 15%. Draw the share that the office "
        "publishes, month after month.",
        DrawnLine(0.10, solar_months().true_shares.tolist()),
    )


@about_digits
def seen_line() -> Reveal:
    """Return the published lines, the learner's among them."""
    true_shares = solar_months().true_shares.tolist()
    return questions.reveal(
        "4-line",
        lambda drawn: [
            *_of_line(drawn),
            ChartView(
                lines.published(
                    _theory_of(solar_rates(), LATER), true_shares, drawn, ["calibration"]
                )
            ),
        ],
    )


OF_LINES = {  # share of the true rise that was drawn, at most -> what is said
    0.25: "You let the office miss the rise. It does see more panels counted, so it publishes part of the rise.",
    0.8: "You let the office stay behind the truth, and so it does.",
    1.2: "You let the office follow the truth. But its shares of the audit belong to month 1, and hold it back.",
    float(
        "inf"
    ): "You let the office publish more than the rise. But its shares of the audit belong to month 1, and "
    "hold it back below the truth.",
}


def _of_line(drawn: Any) -> list[str]:
    """Return what is said of a drawn line: whether it moves, stays behind, follows the truth or exceeds it."""
    if not isinstance(drawn, list):
        return []
    share = (drawn[-1] - drawn[0]) / (LATER - solar_rates()[0])
    return [next(said for most, said in OF_LINES.items() if share < most)]


@adjustable(p00=(0.51, 1), p11=(0.51, 1), base_rate=(0, 1))
def mosaic() -> Panel:
    """Return the view of one month: true by read class as areas, the counted share against the true one.

    Parameters
    ----------
    **ranges
        Ranges of controls by their names: `p00`, `p11`, `base_rate`.

    Returns
    -------
    workbench.widgets.Panel
        Controls: p00, p11, the true share.
    """
    base_rate, p00, p11 = _rates()
    counted = "Panels" if are_digits() else named("panels").capitalize()
    controls = {
        "p00": _slider("Others read rightly (p00)", p00, 70, 100),
        "p11": _slider(f"{counted} read rightly (p11)", p11, 70, 100),
        "base_rate": _slider(
            named("True share of panels (α)"), base_rate, 0, 100, unbiased_share(p00, p11), step=2
        ),
    }

    def rates(base_rate: float, p00: float, p11: float) -> tuple:
        return base_rate, p00, p11

    return drive_chart(controls, rates, charts.mosaic_data, charts.mosaic_words, charts.mosaic)


def explain_stopped_clock() -> Explanation:
    """Return the question why counting is right at one share."""
    return questions.explain(
        "4-clock",
        "At one true share, counting is exactly right. Is it right there because the program is good?",
        "No. At that share the panels that are missed happen to be as many as the others that are counted by mistake. "
        "A stopped clock is right twice a day, too: at any other share the same program counts wrongly.",
        [
            "Yes, at that share it reads best. It reads equally well at every share: p00 and p11 stay as they were.",
            "Yes, because most forms are read rightly. That holds at every share; only the balance of the mistakes "
            "changes.",
        ],
    )


def predict_reader() -> Prediction:
    """Return the question whether the better reader counts better."""
    if not are_digits():
        true = int(np.sum(lesson_forms().digit == lesson_forms().positive))
        question = (
            f"{true:,} items are of class {lesson_forms().positive}. Who comes closer to {true:,}?"
        )
        return questions.predict("4-reader", question, MODELS)
    return questions.predict("4-reader", "180 forms have panels. Who comes closer to 180?", READERS)


def seen_reader() -> Reveal:
    """Return how program and trainee read and count."""

    def show(predicted: str | None) -> list:
        rows = _readings()
        best = min(rows, key=lambda row: abs(row["counts"] - row["true"]))
        cancel = ": the mistakes happen to cancel" if are_digits() else ""
        return [
            *questions.answered(comments(OF_READERS), predicted),
            Table(rows, "Who reads better, who counts better"),
            f"The {best[named('reader')]} misses {best[named('panels missed')]} and adds "
            f"{best['others counted']}{cancel}. A count is as good as the balance of the errors, not as their number.",
        ]

    return questions.reveal("4-reader", show)


def _readings() -> list[dict]:
    """Return how program and trainee read and count, or the two models of a file."""
    forms = lesson_forms()
    if are_digits():
        return [_reading("program", forms.read_a), _reading("trainee", read_by_next_box())]
    return [_reading("first model", forms.read_a), _reading("second model", forms.read_b)]


def _reading(name: str, read: np.ndarray) -> dict:
    forms = lesson_forms()
    code = CODE if are_digits() else forms.positive
    truth, counted = forms.digit == code, read == code
    return {
        named("reader"): name,
        "all codes right": f"{np.mean(read == forms.digit):.0%}",
        named("panels or not, right"): f"{np.mean(counted == truth):.1%}",
        named("panels missed"): int(np.sum(truth & ~counted)),
        "others counted": int(np.sum(counted & ~truth)),
        "counts": int(np.sum(counted)),
        "true": int(truth.sum()),
    }


def predict_best() -> Prediction:
    """Return the question which estimator is best after a change."""
    if not are_digits():
        return questions.predict(
            "4-best",
            f"The true share changes from {_rates()[0]:.1%} to {_later_share():.0%}, and the audit stays the same. Which "
            "of the three has the smallest typical error then?",
            BEST,
        )
    return questions.predict(
        "4-best",
        "In month 1, calibration has the smallest typical error of the three. Then the true share rises to "
        "15%, and the audit is the same. Which one has the smallest typical error now?",
        BEST,
    )


def seen_months(**ranges: Any) -> Reveal:
    """Return the view of later months with the estimator that the learner chose; on a click, what there was to see."""
    return questions.reveal(
        "4-best",
        lambda predicted: [
            months(BEST.get(predicted, ""), **ranges),
            questions.look(comments(OF_BEST), predicted, _three_months),
        ],
    )


def _three_months() -> list:
    found = [_study(share, AUDITED) for share in (_rates()[0], _later_share(), 0.05)]
    table = Table(
        [
            {
                "true share": f"{each.new_base_rate:.2%}",
                **{names()[name]: f"{100 * each.rmse[name]:.2f}" for name in THREE},
            }
            for each in found
        ],
        "Typical errors, in points",
    )
    published = lines.published(
        _theory_of(solar_rates(), LATER), solar_months().true_shares.tolist()
    )
    return [table, *only_for_digits(ChartView(published))]


@adjustable(new_base_rate=charts.RANGE)
def months(predicted: str = "") -> Panel:
    """Return the view of later months: what the estimators answer, how far they are off, how much they report.

    Parameters
    ----------
    predicted : str
        The estimator that is marked as the learner's choice.
    **ranges
        Ranges of controls by their names: `new_base_rate`, `n`, `methods`.

    Returns
    -------
    workbench.widgets.Panel
        Controls: the new true share, the size of the audit, the estimators.
    """
    controls = {
        "new_base_rate": _later_slider(),
        "n": _audit_slider(named("Forms audited (n)")),
        "methods": ipywidgets.Dropdown(
            options=list(SHOWN.items()), value=THREE, description="Estimators"
        ),
    }

    def answered(methods: tuple, new_base_rate: float, n: int) -> tuple:
        return _study(new_base_rate, n), methods, predicted

    return drive_chart(controls, answered, charts.months_data, charts.months_words, charts.months)


def _study(new_base_rate: Any, n: Any) -> Any:
    base_rate, p00, p11 = _rates()
    return simulate_prevalence(
        base_rate,
        new_base_rate,
        p00,
        p11,
        n,
        lesson_forms().digit.size,
        new_size=ITEMS,
        runs=RUNS,
        rng=SEED,
        rates="frame",
    )


def seen_constant(**ranges: Any) -> Reveal:
    """Return the view of the assumption, once the line is predicted: its picture tells what calibration publishes."""
    return questions.reveal("4-line", lambda _: held_constant(**ranges))


@adjustable(new_base_rate=charts.RANGE)
def held_constant() -> Panel:
    """Return the view of the assumption: two answers to the same counts, one right.

    Parameters
    ----------
    **ranges
        Ranges of controls by their names: `constant`, `new_base_rate`.

    Returns
    -------
    workbench.widgets.Panel
        Controls: which rate is constant, the new true share.
    """
    controls = {
        "constant": ipywidgets.ToggleButtons(
            options=list(charts.HOLDS), description="What stays constant"
        ),
        "new_base_rate": _later_slider(),
    }

    def held(constant: str, new_base_rate: float) -> tuple:
        return _theory(new_base_rate), constant

    return drive_chart(
        controls, held, charts.held_constant_data, charts.held_constant_words, charts.held_constant
    )


def _theory(new_base_rate: float = LATER) -> Any:
    return _theory_of(_rates(), new_base_rate)


def _theory_of(rates: tuple, new_base_rate: float) -> Any:
    base_rate, p00, p11 = rates
    return estimator_theory(base_rate, new_base_rate, p00, p11, AUDITED)


@about_digits
def explain_lag() -> Explanation:
    """Return the question why calibration stays behind."""
    return questions.explain(
        "4-lag",
        "Why does P(true | read) change when more houses get panels, although the program reads as before?",
        "Of the forms read as panels, some are panels rightly read and some are others misread. With more panels "
        "around, there are more of the first and fewer of the second, so a form that is read as panels has them more "
        "often. Calibration keeps the old, lower share and stays behind.",
        [
            "Because the program reads worse: it does not, p00 and p11 are the same.",
            "Because the audit was too small: with an audit of all 1,797 forms calibration stays behind just as much.",
            "It does not change: only P(read | true) stays, the other one mixes it with how many panels there are.",
        ],
    )


@about_digits
def predict_change() -> Prediction:
    """Return the question how well a change is known."""
    first, last = MONTHS
    return questions.predict(
        "4-change",
        f"How far does the 95% interval of the change from month {first} to month {last} reach?",
        REACH,
    )


@about_digits
def seen_change(**ranges: Any) -> Reveal:
    """Return the view of a change with the interval that the learner predicted."""
    return questions.reveal(
        "4-change",
        lambda predicted: [
            *questions.answered(OF_REACH, predicted),
            change(REACH.get(predicted), **ranges),
        ],
    )


@adjustable()
def change(predicted: float | None = None) -> Panel:
    """Return the view of twelve months: levels with bands, and a difference with its own.

    Parameters
    ----------
    predicted : float, optional
        How far the learner expects the interval of the change to reach.
    **ranges
        Ranges of controls by their names: `first`, `last`, `n`.

    Returns
    -------
    workbench.widgets.Panel
        Controls: the two months, the size of the audit.
    """
    last_month = len(solar_months().counts)
    first, last = (
        ipywidgets.IntSlider(month, least, most, description=text)
        for month, least, most, text in zip(
            MONTHS,
            (1, MONTHS[0] + 1),
            (last_month - 1, last_month),
            ("From month", "To month"),
            strict=True,
        )
    )
    first.observe(lambda moved: setattr(last, "min", moved["new"] + 1), "value")

    def changed(n: int, first: int, last: int) -> tuple:
        return _series(n), first, last, solar_months().true_shares, predicted

    controls = {"first": first, "last": last, "n": _audit_slider()}
    return drive_chart(controls, changed, charts.change_data, charts.change_words, charts.change)


def _series(n: int) -> Any:
    counts = solar_months().counts
    return prevalence_series(solar_audit(n), counts[0], counts, method="mixed", rates="frame")


def predict_judge() -> Prediction:
    """Return the question what a judge's verdicts amount to."""
    return questions.predict(
        "4-judge",
        "A judge is right about 80% of the good answers and about 80% of the bad ones. "
        "It passes 68%. How many are good?",
        PASSED,
    )


def seen_judge(**ranges: Any) -> Reveal:
    """Return what the correction is, and the view of a judge whose answers get better."""
    return questions.reveal(
        "4-judge", lambda predicted: [*questions.answered(OF_PASSED, predicted), judge(**ranges)]
    )


@adjustable(share=(0, 1), right=(0.51, 1))
def judge() -> Panel:
    """Return the view of a judge: what it says and what is true, at any share of good answers.

    Parameters
    ----------
    **ranges
        Ranges of controls by their names: `share`, `right`.

    Returns
    -------
    workbench.widgets.Panel
        Controls: the share of good answers, how often the judge is right.
    """
    controls = {
        "share": _slider("Good answers", GOOD, 0, 100),
        "right": _slider("The judge is right", 0.8, 55, 100),
    }

    def shown(share: float, right: float) -> tuple:
        return share, right

    return drive_chart(controls, shown, charts.judge_data, charts.judge_words, charts.judge)


def check_mixed() -> Reveal:
    """Return a button that simulates the mixed estimator and compares its spread with the corrected formula."""

    def simulate() -> str:
        base_rate, p00, p11 = _rates()
        later = _later_share()
        theory = estimator_theory(
            base_rate,
            later,
            p00,
            p11,
            AUDITED,
            size=lesson_forms().digit.size,
            new_size=ITEMS,
            rates="frame",
        )
        study = _study(later, AUDITED)
        return (
            f"Mixed at a true share of {later:.0%}: standard deviation {100 * theory.sd['mixed']:.3f} points by "
            f"the corrected formula, {100 * study.sd['mixed']:.3f} in {checks.counted(study.runs, 'audit')} (Monte "
            f"Carlo error {100 * study.sd_error['mixed']:.3f})."
        )

    return questions.on_click(f"Simulate {RUNS:,} audits", simulate)


def _slider(
    description: str, value: float, low: int, high: int, *others: float | None, step: int = 1
) -> Any:
    """Return a slider by whole percents that also stops at exact values; a page rounds a float to a slider's step."""
    exact = [share for share in others if share is not None]
    shares = sorted({*(k / 100 for k in range(low, high + 1, step)), value, *exact})
    return stops(shares, value, description, form="{:.2%}")


def _later_slider() -> Any:
    low, high = (round(100 * end) for end in charts.RANGE)
    return _slider("New true share (α′)", _later_share(), low, high, _rates()[0])


def _audit_slider(description: str = "Forms audited (n)") -> Any:
    return ipywidgets.IntSlider(AUDITED, 100, 900, step=50, description=description)
