"""Scenes of lesson 4: counted and true proportions, and how an audit corrects the counts.

A scene has controls, a function of `workbench` that computes its numbers, and a chart that shows
them. `predict_...` asks a question, `seen_...` shows the answer once the prediction is locked, and
`explain_...` asks for an explanation of two lines.
"""

from typing import Any

import ipywidgets
import numpy as np

from workbench import checks, intervals
from workbench.charts import theme
from workbench.charts.misclassification import lines
from workbench.charts.misclassification import scenes as charts
from workbench.charts.misclassification.words import names
from workbench.course import lesson_data
from workbench.course.digit_forms import digit_forms, read_by_next_box
from workbench.course.lesson_data import (
    about_digits,
    about_digits_without,
    are_digits,
    comments,
    lesson_forms,
    named,
    only_for_digits,
)
from workbench.course.solar import ITEMS, solar_audit, solar_months, solar_rates
from workbench.lessons.content import lesson_texts
from workbench.lessons.misclassification.drawn_line import DrawnLine
from workbench.misclassification.confusion import ConfusionCounts
from workbench.misclassification.series import prevalence_series
from workbench.misclassification.theory import estimator_theory, unbiased_share
from workbench.results import Table
from workbench.simulations.misclassification import simulate_prevalence
from workbench.widgets import questions
from workbench.widgets.chart_view import ChartView, Panel, drive_figure, stops
from workbench.widgets.questions import Explanation, Prediction, Reveal
from workbench.widgets.ranges import adjustable, check_ranges, fit_axes

TEXTS = lesson_texts("misclassification")
THREE = ("classify_and_count", "calibration", "mixed")
SHOWN = {"raw count, calibration, mixed": THREE, "all estimators": tuple(names())}
RUNS = 20_000
# With this seed, the errors that the lesson quotes agree with those of 400,000 audits to four
# digits.
SEED = 9
AUDITED = 400
LATER = 0.15
MONTHS = (3, 8)
MODELS = ("the first model", "the second model", "both are equally close")
GOOD = 0.8


LEAST_IN_FIRST_PERIOD = 200
LEAST_ITEMS, LEAST_INFORMATION = 900, 0.1  # rows; p00 + p11 - 1


def use(path: Any, positive: Any = "") -> Any:
    """Show a file of your own in the scenes of this lesson.

    Parameters
    ----------
    path : str, path, data frame or None
        With the columns `truth` and `prediction`. The columns `second` (predictions of a second
        model) and `period` are optional. The file needs at least 900 rows, with 2% to 40% in the
        positive class. None shows the digit forms again.
    positive : object
        The class that is counted. By default class 1, or the rarest class.

    Returns
    -------
    workbench.course.lesson_data.LessonItems
        The items that the code cells call `forms`.
    """
    items = lesson_data.use_items(path, positive=positive)
    lesson_data.check_size(LEAST_ITEMS, 4)
    base_rate, p00, p11 = _rates()
    low, high = charts.RANGE
    can_be_counted = low <= base_rate <= high and p00 + p11 - 1 >= LEAST_INFORMATION
    if not can_be_counted or max(p00, p11) == 1:
        lesson_data.use_items(None)
        raise ValueError(
            f"Lesson 4 needs a positive class with {low:.0%} to {high:.0%} of the rows, predicted "
            f"better than by chance, with mistakes of both kinds. In {items.name}, "
            f"{base_rate:.1%} of the rows are of class {items.positive}. The model predicts this "
            f"class for {p11:.1%} of them and for {1 - p00:.1%} of the other rows. Name another "
            "class by positive=..."
        )
    sizes = np.bincount(items.period)[1:] if hasattr(items, "period") else np.array([])
    if sizes.size == 1 or 0 < sizes[:1].sum() < LEAST_IN_FIRST_PERIOD:
        lesson_data.use_items(None)
        raise ValueError(
            f"Lesson 4 needs at least 2 periods and {LEAST_IN_FIRST_PERIOD} rows in the first "
            f"period. {items.name} has {checks.counted(sizes.size, 'period')}, the first with "
            f"{sizes[0]} rows."
        )
    return items


def _rates() -> tuple[float, float, float]:
    """Return the true proportion of positives, p00 and p11."""
    if are_digits():
        return solar_rates()
    forms = lesson_forms()
    truth, read = forms.digit == forms.positive, forms.read_a == forms.positive
    return float(truth.mean()), float(1 - read[~truth].mean()), float(read[truth].mean())


def _later_share() -> float:
    """Return the true proportion of the later months: 1.5 times that of the first month."""
    return LATER if are_digits() else round(min(1.5 * _rates()[0], charts.RANGE[1]), 2)


@about_digits
def predict_line() -> Prediction:
    """Return the question that the learner answers by drawing the published line."""
    return questions.Prediction(
        "4-line",
        TEXTS.question("4-line"),
        DrawnLine(0.10, solar_months().true_shares.tolist()),
    )


@about_digits
def seen_line() -> Reveal:
    """Return the true and the published proportions with the learner's line."""
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


def _of_line(drawn: Any) -> list[str]:
    """Return the feedback on a drawn line: flat, below the truth, close to it or above it."""
    if not isinstance(drawn, list):
        return []
    share = (drawn[-1] - drawn[0]) / (LATER - solar_rates()[0])
    kind = next(kind for kind, most in TEXTS.values("4-line").items() if share < most)
    return [TEXTS.feedback("4-line")[kind]]


@adjustable(p00=(0.51, 1), p11=(0.51, 1), base_rate=(0, 1))
def mosaic() -> Panel:
    """Return a scene of one month: areas of true and read classes, and the bias of the count.

    Parameters
    ----------
    **ranges
        Ranges of controls by their names: `p00`, `p11`, `base_rate`.

    Returns
    -------
    workbench.widgets.Panel
        Controls: p00, p11, the true proportion.

    Examples
    --------
    You can build a similar scene with your own numbers:

    >>> import ipywidgets
    >>> from workbench.charts.misclassification.scenes import mosaic
    >>> from workbench.widgets import image
    >>> def scene(true=0.3, p00=0.9, p11=0.8):
    ...     return image(mosaic(true, p00, p11))
    >>> scene()  # doctest: +ELLIPSIS
    Chart: ... Counted 31.00%, true 30.00%: 1.00 points too many.
    >>> ipywidgets.interact(scene, true=(0, 1, 0.1), p00=(0.6, 1), p11=(0.6, 1))  # doctest: +SKIP
    """
    base_rate, p00, p11 = _rates()
    positives = "Panels" if are_digits() else named("panels").capitalize()
    controls = {
        "p00": _slider("Others read correctly (p00)", p00, 70, 100),
        "p11": _slider(f"{positives} read correctly (p11)", p11, 70, 100),
        "base_rate": _slider(
            named("True proportion of panels (α)"),
            base_rate,
            0,
            100,
            unbiased_share(p00, p11),
            step=2,
        ),
    }
    return drive_figure(controls, charts.mosaic)


def explain_stopped_clock() -> Explanation:
    """Return the question why the count is correct at one proportion."""
    return TEXTS.explain("4-clock")


@about_digits_without("read_b")
def predict_reader() -> Prediction:
    """Return the question whether the better reader counts better."""
    if not _shows_models():
        return TEXTS.predict("4-reader")
    positive = lesson_forms().positive
    count = int(np.sum(lesson_forms().digit == positive))
    question = TEXTS.question("4-reader-of-a-file", count=count, positive=positive)
    return questions.predict("4-reader", question, MODELS)


@about_digits_without("read_b")
def seen_reader() -> Reveal:
    """Return the accuracy and the counts of the program and of the trainee."""

    def show(predicted: str | None) -> list:
        rows = _readings()
        best = min(rows, key=lambda row: abs(row["counts"] - row["true"]))
        cancel = "" if _shows_models() else " These errors nearly cancel."
        return [
            *([] if _shows_models() else TEXTS.answered("4-reader", predicted)),
            Table(rows, "Accuracy and counts of two readers"),
            f"The {best[_in_words('reader')]} misses {best[_in_words('panels missed')]} "
            f"{_in_words('forms with panels')} and counts {best['others counted']} other "
            f"{_in_words('forms')}.{cancel} The bias of a count depends on the balance of the two "
            "kinds of errors, not on their number.",
        ]

    return questions.reveal("4-reader", show)


def _shows_models() -> bool:
    """Return whether the scene of two readers shows the two models of a file."""
    return not are_digits() and hasattr(lesson_forms(), "read_b")


def _in_words(text: str) -> str:
    """Return a text about the two readers, in words that fit the items of the scene."""
    return named(text) if _shows_models() else text


def _readings() -> list[dict]:
    """Return the accuracy and the counts of program and trainee, or of the two models in a file."""
    if _shows_models():
        forms = lesson_forms()
        return [_reading("first model", forms.read_a), _reading("second model", forms.read_b)]
    program = digit_forms().read_a
    return [_reading("program", program), _reading("trainee", read_by_next_box())]


def _reading(name: str, read: np.ndarray) -> dict:
    forms = lesson_forms() if _shows_models() else digit_forms()
    truth, positive = forms.digit == forms.positive, read == forms.positive
    counts = {
        "panels missed": truth & ~positive,
        "others counted": positive & ~truth,
        "counts": positive,
        "true": truth,
    }
    row: dict[str, Any] = {
        "reader": name,
        "codes read correctly": f"{np.mean(read == forms.digit):.0%}",
        "panels or not, correct": f"{np.mean(positive == truth):.1%}",
    }
    row |= {title: int(flags.sum()) for title, flags in counts.items()}
    return {_in_words(title): value for title, value in row.items()}


def predict_best() -> Prediction:
    """Return the question which estimator is best after a change."""
    if are_digits():
        return TEXTS.predict("4-best")
    question = TEXTS.question("4-best-of-a-file", base=_rates()[0], later=_later_share())
    return questions.predict("4-best", question, TEXTS.feedback("4-best"))


def seen_months(**ranges: Any) -> Reveal:
    """Return the scene of later months, with the estimator that the learner chose marked."""
    check_ranges(months, ranges)
    return questions.reveal(
        "4-best",
        lambda predicted: [
            months(TEXTS.value("4-best", predicted) or "", **ranges),
            questions.look(comments(TEXTS.feedback("4-best")), predicted, _three_months),
        ],
    )


def _three_months() -> list:
    studies = [_study(share, AUDITED) for share in (_rates()[0], _later_share(), 0.05)]
    table = Table(
        [
            {
                "true proportion": f"{study.new_base_rate:.2%}",
                **{names()[name]: f"{100 * study.rmse[name]:.2f}" for name in THREE},
            }
            for study in studies
        ],
        "Typical errors (RMSE), in points",
    )
    published = lines.published(
        _theory_of(solar_rates(), LATER), solar_months().true_shares.tolist()
    )
    return [table, *only_for_digits(ChartView(published))]


@adjustable(new_base_rate=charts.RANGE)
def months(predicted: str = "") -> Panel:
    """Return a scene of later months: the estimators' answers and their errors.

    Parameters
    ----------
    predicted : str
        The estimator that is marked as the learner's choice.
    **ranges
        Ranges of controls by their names: `new_base_rate`, `n`, `methods`.

    Returns
    -------
    workbench.widgets.Panel
        Controls: the new true proportion, the size of the audit, the estimators.

    Examples
    --------
    A similar scene for a program with other rates:

    >>> import ipywidgets
    >>> import workbench as wb
    >>> from workbench.charts.misclassification.scenes import months
    >>> from workbench.widgets import image
    >>> def scene(new=0.3, audited=500):
    ...     study = wb.simulate_prevalence(0.2, new, 0.9, 0.8, audited, 5000, runs=200)
    ...     return image(months(study, ("calibration", "mixed")))
    >>> scene()  # doctest: +ELLIPSIS
    Chart: The true proportion was 20.00% when 500 forms were audited. Now it is 30.00%. ...
    >>> ipywidgets.interact(scene, new=(0.05, 0.4), audited=(100, 900))  # doctest: +SKIP
    """
    controls = {
        "new_base_rate": _later_slider(),
        "n": _audit_slider(named("Forms audited (n)")),
        "methods": ipywidgets.Dropdown(
            options=list(SHOWN.items()), value=THREE, description="Estimators"
        ),
    }

    def figure(methods: tuple, new_base_rate: float, n: int) -> theme.Figure:
        return charts.months(_study(new_base_rate, n), methods, predicted)

    return drive_figure(controls, figure)


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
    """Return the scene of the assumption, once the learner has drawn the line that it explains."""
    check_ranges(held_constant, ranges)
    return questions.reveal("4-line", lambda _: held_constant(**ranges))


@adjustable(new_base_rate=charts.RANGE)
def held_constant() -> Panel:
    """Return a scene of the assumption: two answers to the same counts, of which one is correct.

    Parameters
    ----------
    **ranges
        Ranges of controls by their names: `constant`, `new_base_rate`.

    Returns
    -------
    workbench.widgets.Panel
        Controls: the rate that is constant, the new true proportion.

    Examples
    --------
    A similar scene for a program with other rates:

    >>> import ipywidgets
    >>> import workbench as wb
    >>> from workbench.charts.misclassification.scenes import held_constant
    >>> from workbench.widgets import image
    >>> def scene(new=0.3, p11=0.8):
    ...     theory = wb.estimator_theory(0.2, new, 0.9, p11, 400)
    ...     return image(held_constant(theory, "P(read | true)"))
    >>> scene(p11=0.9)  # doctest: +ELLIPSIS
    Chart: ... Mixed reports 100% of the change, calibration 53%. ...
    >>> ipywidgets.interact(scene, new=(0.05, 0.4), p11=(0.5, 0.95))  # doctest: +SKIP
    """
    controls = {
        "constant": ipywidgets.ToggleButtons(
            options=list(charts.HOLDS), description="What stays constant"
        ),
        "new_base_rate": _later_slider(),
    }

    def figure(constant: str, new_base_rate: float) -> theme.Figure:
        return charts.held_constant(_theory(new_base_rate), constant)

    return drive_figure(controls, figure)


def _theory(new_base_rate: float = LATER) -> Any:
    return _theory_of(_rates(), new_base_rate)


def _theory_of(rates: tuple, new_base_rate: float) -> Any:
    base_rate, p00, p11 = rates
    return estimator_theory(base_rate, new_base_rate, p00, p11, AUDITED)


@about_digits
def explain_lag() -> Explanation:
    """Return the question why calibration reports too small a change."""
    return TEXTS.explain("4-lag")


@about_digits_without("period")
def predict_change() -> Prediction:
    """Return the question how wide the interval of a change is."""
    if not _shows_periods():
        return TEXTS.predict("4-change")
    first, last = _two_periods()
    question = TEXTS.question("4-change-of-a-file", first=first, last=last)
    return questions.predict("4-change", question, _reaches())


def _reaches() -> dict[str, float]:
    """Return half-widths: with independent errors, of one period, and of the change itself."""
    if not _shows_periods():
        return TEXTS.values("4-change")
    first, last = _two_periods()
    series = _series(_audited())
    change = series.change(first, last)
    level = next(row for row in series.levels() if row["period"] == last)
    low, high = change.limits
    halves = {
        "two uncertain numbers are subtracted": (
            intervals.quantile(0.95) * change.naive_standard_error
        ),
        "as for one period": (level["high"] - level["low"]) / 2,
        "the error is shared": (high - low) / 2,
    }
    return {
        f"about {100 * half:.1f} points to either side: {reason}": half
        for reason, half in halves.items()
    }


def _shows_periods() -> bool:
    return not are_digits() and hasattr(lesson_forms(), "period")


def _two_periods() -> tuple[int, int]:
    """Return the periods that are compared at first: months 3 and 8, or the ends of a file."""
    return (1, int(lesson_forms().period.max())) if _shows_periods() else MONTHS


def _periods() -> tuple[np.ndarray, np.ndarray]:
    """Return predicted counts and true proportions of the periods."""
    if not _shows_periods():
        return solar_months().counts, solar_months().true_shares
    forms = lesson_forms()
    period = forms.period - 1
    items, positives, true = (
        np.bincount(period, flags)
        for flags in (None, forms.read_a == forms.positive, forms.digit == forms.positive)
    )
    return np.stack([items - positives, positives], 1).astype(int), true / items


def _audited() -> int:
    """Return the size of the audit: 400 forms, or as many of a file's first period as there are."""
    return min(AUDITED, int(_periods()[0][0].sum()))


def _audit(n: int) -> ConfusionCounts:
    """Return an audit of n forms of the first period, sampled at random."""
    if not _shows_periods():
        return solar_audit(n)
    forms = lesson_forms()
    rows = np.flatnonzero(forms.period == 1)
    sampled = np.random.default_rng(1).choice(rows, n, replace=False)
    truth, read = (
        (column[sampled] == forms.positive).astype(int) for column in (forms.digit, forms.read_a)
    )
    return ConfusionCounts.from_labels(truth, read, (0, 1))


@about_digits_without("period")
def seen_change(**ranges: Any) -> Reveal:
    """Return the scene of a change with the interval that the learner predicted."""
    check_ranges(change, ranges)
    return questions.reveal(
        "4-change",
        lambda predicted: [
            *TEXTS.answered("4-change", predicted),
            change(_reaches().get(predicted), **ranges),
        ],
    )


@adjustable()
def change(predicted: float | None = None) -> Panel:
    """Return a scene of twelve months, and of a change with its own interval.

    Parameters
    ----------
    predicted : float, optional
        The half-width that the learner expects for the interval of the change.
    **ranges
        Ranges of controls by their names: `first`, `last`, `n`.

    Returns
    -------
    workbench.widgets.Panel
        Controls: the two months, the size of the audit.

    Examples
    --------
    A similar scene with another audit and another estimator:

    >>> import ipywidgets
    >>> import workbench as wb
    >>> from workbench.charts.misclassification.scenes import change
    >>> from workbench.widgets import image
    >>> months = wb.solar_months()
    >>> def scene(audited=400, first=2, last=11):
    ...     audit = wb.solar_audit(audited, rng=5)
    ...     series = wb.prevalence_series(audit, months.counts[0], months.counts)
    ...     return image(change(series, first, last, months.true_shares))
    >>> scene(100)  # doctest: +ELLIPSIS
    Chart: Proportions by mle from one audit of 100 forms, ...
    >>> ipywidgets.interact(scene, audited=(100, 900), first=(1, 6), last=(7, 12))  # doctest: +SKIP
    """
    counts, true_shares = _periods()
    last_month = len(counts)
    rename = named if _shows_periods() else str
    first, last = (
        ipywidgets.IntSlider(month, least, most, description=text)
        for month, least, most, text in zip(
            _two_periods(),
            (1, _two_periods()[0] + 1),
            (last_month - 1, last_month),
            (rename("From month"), rename("To month")),
            strict=True,
        )
    )
    first.observe(lambda moved: setattr(last, "min", moved["new"] + 1), "value")

    def figure(n: int, first: int, last: int) -> theme.Figure:
        return charts.change(_series(n), first, last, true_shares, predicted, rename=rename)

    controls = {"first": first, "last": last, "n": _audit_slider(rename("Forms audited (n)"))}
    if not _shows_periods():
        return drive_figure(controls, figure)
    controls["n"].max = min(controls["n"].max, int(counts[0].sum()))
    return fit_axes(drive_figure(controls, figure), n=100)


def _series(n: int) -> Any:
    counts, _ = _periods()
    return prevalence_series(_audit(n), counts[0], counts, method="mixed", rates="frame")


def predict_judge() -> Prediction:
    """Return the question how many answers are good if a judge passes 68%."""
    return TEXTS.predict("4-judge")


def seen_judge(**ranges: Any) -> Reveal:
    """Return the feedback and the scene of a judge, after `predict_judge`."""
    check_ranges(judge, ranges)
    return questions.reveal(
        "4-judge", lambda predicted: [*TEXTS.answered("4-judge", predicted), judge(**ranges)]
    )


@adjustable(share=(0, 1), right=(0.51, 1))
def judge() -> Panel:
    """Return a scene of a judge: the answers that it passes and the good answers.

    Parameters
    ----------
    **ranges
        Ranges of controls by their names: `share`, `right`.

    Returns
    -------
    workbench.widgets.Panel
        Controls: the proportion of good answers, the proportion of correct grades.

    Examples
    --------
    A similar scene that starts from the passed answers:

    >>> import ipywidgets
    >>> from workbench.charts.misclassification.scenes import judge
    >>> from workbench.widgets import image
    >>> def scene(passed=0.68, correct=0.8):
    ...     good = (passed - (1 - correct)) / (2 * correct - 1)
    ...     return image(judge(good, correct))
    >>> scene(passed=0.5)  # doctest: +ELLIPSIS
    Chart: 50% of the answers are good, the judge passes 50.0%. ...
    >>> ipywidgets.interact(scene, passed=(0.3, 0.7), correct=(0.8, 1))  # doctest: +SKIP
    """
    controls = {
        "share": _slider("Good answers", GOOD, 0, 100),
        "right": _slider("Correct grades", 0.8, 55, 100),
    }
    return drive_figure(controls, charts.judge)


def check_mixed() -> Reveal:
    """Return a button that compares the simulated error of "mixed" with the corrected formula."""

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
        formula, simulated, error = (
            100 * deviations["mixed"] for deviations in (theory.sd, study.sd, study.sd_error)
        )
        return (
            f"Standard deviation of mixed at a true proportion of {later:.0%}: {formula:.3f} "
            f"points by the corrected formula, {simulated:.3f} points in "
            f"{checks.counted(study.runs, 'simulated audit')} (Monte Carlo error {error:.3f})."
        )

    return questions.on_click(f"Simulate {RUNS:,} audits", simulate)


def _slider(
    description: str, value: float, low: int, high: int, *exact: float | None, step: int = 1
) -> Any:
    """Return a slider of whole percentages that also stops at exact values.

    A slider of floats would round an exact value to its step.
    """
    percentages = [k / 100 for k in range(low, high + 1, step)]
    shares = sorted({*percentages, value, *(share for share in exact if share is not None)})
    return stops(shares, value, description, form="{:.2%}")


def _later_slider() -> Any:
    low, high = (round(100 * end) for end in charts.RANGE)
    return _slider("New true proportion (α′)", _later_share(), low, high, _rates()[0])


def _audit_slider(description: str = "Forms audited (n)") -> Any:
    return ipywidgets.IntSlider(AUDITED, 100, 900, step=50, description=description)
