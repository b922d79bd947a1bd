"""Live views of lesson 5: two equal clerks, one slider for all t-tests, ten thousand experiments, power, forty models.

Each function returns a panel: controls, the function of `workbench` that they drive, and a chart that is fed with
its result.
"""

import dataclasses
import functools
import math
from typing import Any

import ipywidgets
import numpy as np

from workbench import registry
from workbench.charts.cross_validation import studies as charts
from workbench.course import clerks, lesson_data
from workbench.course.lesson_data import about_digits, are_digits, cached, lesson_forms
from workbench.cross_validation.kfold import kfold_t_test, rho_from_r
from workbench.cross_validation.learners import (
    Population,
    exchangeable_population,
    gaussian_population,
)
from workbench.cross_validation.model_tests import mcnemar_test
from workbench.results import Table
from workbench.simulations.cross_validation import simulate_comparison, simulate_type_one
from workbench.widgets import questions
from workbench.widgets.chart_view import ChartView, Panel, drive_chart, stops
from workbench.widgets.questions import Explanation, Prediction, Reveal
from workbench.widgets.ranges import adjustable

# what must not be on the screen before a prediction is locked, its button pressed (look) or an exercise answered
ANSWERS = {
    "5-repeats": ("8.1%", "57%", "60.0%"),
    "5-repeats look": ("0.0143", "0.014"),
    "5-flip": (".112",),
    "5-flip look": (".112", ".133", ".221"),
    "5-skeptic": ("30%", "0.30"),
    "5-chosen": ("10.0 points", "73%"),
    "5-winner": ("92.0%", "92%"),
    "5-winner look": ("92.0%", "88.8%"),
    "5.1": ("2.847", "1.559"),
    "5.2": (".368", ".189"),
    "5.3": ("1.437", "1.44"),
}
SHOWN = 40
CHOICES = (1, 2, 5, 10, 20, 40)
LONG_RUN = 400
ALARMED = 360  # the block of forty studies with the most false alarms, and the lesson says so
RUNS = 10_000
LEARNERS = {"nearest neighbor": "1nn", "centroid": "centroid"}
TESTS = tuple(charts.TEST_COLORS)
EQUAL, DIFFERENT = "equal clerks", "averages or nearest neighbor"
BOARD_TESTS = (
    "naive t",
    "Nadeau-Bengio",
    "rho 0.7",
    "half-sample rho",
    "Nadeau-Bengio, repeated",
    "5x2cv t",
    "5x2cv F",
    "McNemar, pooled",
    "McNemar, one third held out",
)
BOARD_RUNS = {
    40: 600,
    60: 400,
    100: 200,
}  # fewer where a run costs more: an answer comes within two seconds
HALF_RUNS = 1000
FEATURES = 8
GUESSES = {"5%": 0.05, "10%": 0.1, "25%": 0.25, "50% or more": 0.5}
OF_GUESSES = {
    "5%": "So the level says, for answers that are independent. A hundred folds of the same forms are not.",
    "10%": "So it is with one cross-validation, nearly. Each repeat adds folds, and no new form.",
    "25%": "So it is after two repeats or three. With ten it is worse.",
    "50% or more": "That is right: the believed error shrinks with each repeat, the real one hardly.",
}
OF_FLIPS = {
    "about .1": "That is right: it takes little hidden dependence to overturn a p of .040.",
    "about .4": "Earlier. A p of .040 is close to .05, and has little to give away.",
    "about .7": "Much earlier: a p of .040 is close to .05. So much does a skeptic assume.",
    "never: p is .040": "p is .040 for one belief only, that the folds hide nothing from each other.",
}
POWERS = {"about 95%": 0.95, "about 60%": 0.6, "about 30%": 0.3, "about 5%": 0.05}
OF_POWERS = {
    "about 95%": "Half of the errors gone is a lot, and yet 200 forms hold only a few dozen errors to tell it by.",
    "about 60%": "So often the naive test finds it, which raises false alarms as well.",
    "about 30%": "That is right: in two of three studies the careful test misses a reader who halves the errors.",
    "about 5%": "So few would be found if the readers were equally good. Caution costs much, but not all.",
}
OF_CHOSEN = {
    "not at all": "Each study is honest on its own. But luck makes some striking, and these are the ones chosen.",
    "by about a tenth": "So little it is not even if you choose the better one of two studies.",
    "by about three quarters": "That is right: the most striking study is also the luckiest.",
    "to three times its size": "Not so far: the studies vary, but the difference is larger than its luck.",
}
OF_WINNERS = {
    "about 88%, like all of them": "So do they in the long run. But the best is chosen for its luck on these forms.",
    "about 92%": "That is right: the luckiest of forty has a third of its errors less, and nothing that lasts.",
    "about 96%": "So lucky none of them is: two thirds of its errors would have to be gone.",
    "about 99%": "So lucky none of them is: nearly all of its errors would have to be gone.",
}


LEAST_ITEMS = 400  # rows of a file


def use(path: Any, positive: Any = "") -> Any:
    """Show a file of your own in the scenes of this lesson that cross-validate two learners.

    Parameters
    ----------
    path : str, path, data frame or None
        With the columns `truth` and `prediction`, and at least 2 columns of numbers whose names begin with `x_`,
        which the learners see. At least 400 rows. None shows the digit forms again.
    positive : object
        The class that `labeled` is about.

    Returns
    -------
    workbench.course.lesson_data.LessonItems
        The `forms` of the code cells.
    """
    items = lesson_data.use_items(path, needs=("features",), positive=positive)
    lesson_data.check_size(LEAST_ITEMS, 5)
    return items


@about_digits
def ten_folds() -> ChartView:
    """Return the picture that the lesson begins with: ten folds in which clerk A makes fewer errors."""
    test = kfold_t_test(clerks.clerk_losses(), rho="naive")
    return ChartView(charts.hook(clerks.clerk_losses().fold_means()[0], test.pvalue))


@about_digits
def predict_repeats() -> Prediction:
    """Return the question that learners answer before they see what repeating a cross-validation does."""
    return questions.predict(
        "5-repeats",
        "Two clerks who really read equally well are cross-validated once, and then, "
        "to be careful, ten times on the same forms; the t-test takes all 100 folds together. How "
        "often does that test call the equal clerks different at the 5% level?",
        GUESSES,
    )


@about_digits
def reveal_clerks(**ranges: Any) -> Reveal:
    """Return `two_clerks`, which waits for the prediction and shows it."""
    return questions.reveal("5-repeats", lambda guess: two_clerks(GUESSES.get(guess), **ranges))


@adjustable()
def two_clerks(predicted: float | None = None) -> Panel:
    """Return the view of two clerks who read equally well: which of 40 studies call them different.

    Parameters
    ----------
    predicted : float, optional
        The learner's guess of the share of false alarms with ten repeats.
    **ranges
        Ranges of controls by their names: `n`, `repeats`, `test`, `first`.

    Returns
    -------
    workbench.widgets.Panel
        Controls: forms, repeats, test, which studies.
    """
    controls = {
        "n": _sizes(charts.SIZES, 100, "Forms per study"),
        "repeats": stops([1, 2, 3, 5, 10], 1, "Repeats of the cross-validation"),
        "test": ipywidgets.ToggleButtons(options=list(clerks.TESTS), description="Test"),
        "first": stops(
            [(f"{first}–{first + SHOWN - 1}", first) for first in range(0, LONG_RUN, SHOWN)],
            ALARMED,
            "Studies shown",
        ),
    }

    def studies(n: int, repeats: int, test: str, first: int) -> tuple:
        return (
            clerks.clerk_studies(first, SHOWN, n, repeats),
            clerks.clerk_studies(0, LONG_RUN, n, repeats),
            test,
            predicted,
        )

    return drive_chart(controls, studies, charts.clerks_data, charts.clerks_words, charts.clerks)


@about_digits
def seen_repeats() -> Reveal:
    """Return a button, once `predict_repeats` is answered: what repeats did to the study of the beginning."""
    return questions.compare(
        "5-repeats",
        OF_GUESSES,
        lambda: Table(
            [_repeated(1), _repeated(10)],
            (
                f"The study of the beginning, and {LONG_RUN} others: ten repeats shrink the standard error that is believed; "
                "how much the differences really vary (sd) hardly changes"
            ),
        ),
    )


def _repeated(repeats: int) -> dict:
    test = kfold_t_test(clerks.clerk_losses(repeats=repeats), rho="naive")
    return {
        "repeat": repeats,
        "difference": test.estimate,
        "standard_error": test.standard_error,
        "pvalue": test.pvalue,
        "sd": float(clerks.clerk_studies(repeats=repeats).differences.std(ddof=1)),
    }


@about_digits
def explain_repeats() -> Explanation:
    """Return the question of what repeats can and cannot do."""
    return questions.explain(
        "5-explain-repeats",
        "Which part of the error do repeats of a cross-validation remove, and which not?",
        "They average out the luck of the dealing: which form happened to lie in which fold. They do not touch the "
        "luck of the sample: it is the same 100 forms each time, and other forms would have given another difference.",
        [
            "They make ten times as many observations: no, each form is read again, no new form is read.",
            "They remove nothing: a little is removed, the part that comes from the dealing.",
        ],
    )


@about_digits
def predict_flip() -> Prediction:
    """Return the question how much hidden dependence overturns the verdict of the beginning."""
    return questions.predict(
        "5-flip",
        "With rho 0 the ten folds give p = .040, which is significant. From which rho "
        "on is it no longer?",
        OF_FLIPS,
    )


@about_digits
def reveal_slider(**ranges: Any) -> Reveal:
    """Return `one_slider`, which waits for the prediction, and behind a button what three beliefs say."""
    return questions.reveal(
        "5-flip", lambda said: [one_slider(**ranges), questions.look(OF_FLIPS, said, _beliefs)]
    )


def _beliefs() -> Table:
    test = kfold_t_test(clerks.clerk_losses())
    rows = [{name: row[name] for name in ("test", "rho", "pvalue")} for row in test.rows()]
    return Table(
        rows, f"The ten folds of the beginning: significant up to rho {test.rho_alpha():.3f}"
    )


@adjustable(value=(0, 0.99))
def one_slider() -> Panel:
    """Return the view of one test with one unknown: the interval and the p-value of ten folds for any rho.

    Parameters
    ----------
    **ranges
        Ranges of controls by their names: `value`, `scale`.

    Returns
    -------
    workbench.widgets.Panel
        Controls: a value from 0 to .95, and whether it is rho or the correlation r of two folds.
    """
    folds = clerks.clerk_losses().fold_means()[0]
    beliefs = sorted(
        {
            *(k / 20 for k in range(20)),
            rho_from_r(1 / folds.size, folds.size),
            math.floor(1000 * kfold_t_test(folds).rho_alpha()) / 1000,
        }
    )
    controls = {
        "value": stops(beliefs, 0, "You believe in", form="{:.3f}"),
        "scale": ipywidgets.ToggleButtons(
            options=[("rho, the hidden share", "rho"), ("r, the correlation of two folds", "r")],
            description="as",
            style={"button_width": "auto"},
        ),
    }

    def tested(value: float, scale: str) -> tuple:
        return folds, kfold_t_test(
            folds, rho=value if scale == "rho" else rho_from_r(value, folds.size)
        )

    return drive_chart(controls, tested, charts.slider_data, charts.slider_words, charts.slider)


def explain_rho() -> Explanation:
    """Return the question of what a single p-value hides."""
    return questions.explain(
        "5-explain-rho",
        "A report of a ten-fold cross-validation gives one p-value and no rho. What has it decided "
        "for you?",
        "How much of the variance the ten folds hide from each other. The same folds give another p-value for each "
        "rho; the usual test takes rho for 0, which is surely too small, since the folds learn from nearly the same "
        "forms.",
        [
            "That the models differ: it decided how to count, the verdict follows from that.",
            "The level of 5%: that is a second decision, and the report usually states it.",
        ],
    )


@about_digits
def predict_skeptic() -> Prediction:
    """Return the question that learners answer before they see what caution costs."""
    return questions.predict(
        "5-skeptic",
        "In the long run one reader errs on 11.5% of the forms, the other on 5.8%. "
        "How often does the careful Nadeau-Bengio test find this difference, in many studies of "
        "200 forms?",
        POWERS,
    )


@about_digits
def reveal_power(**ranges: Any) -> Reveal:
    """Return `power`, which waits for the prediction and shows it."""
    return questions.reveal(
        "5-skeptic",
        lambda guess: [*questions.answered(OF_POWERS, guess), power(POWERS.get(guess), **ranges)],
    )


@adjustable()
def power(predicted: float | None = None) -> Panel:
    """Return the view of false alarms and power: equal clerks beside readers of whom one is better.

    Parameters
    ----------
    predicted : float, optional
        The learner's guess of the power of Nadeau and Bengio's test with 200 forms.
    **ranges
        Ranges of controls by their names: `test`.

    Returns
    -------
    workbench.widgets.Panel
        Control: the test in the foreground.
    """
    controls = {
        "test": ipywidgets.ToggleButtons(options=TESTS, value="Nadeau-Bengio", description="Test")
    }

    def studies(test: str) -> tuple:
        return (
            {
                (situation, size): _readers(situation, size)
                for situation in (EQUAL, DIFFERENT)
                for size in charts.SIZES
            },
            test,
            predicted,
        )

    return drive_chart(controls, studies, charts.power_data, charts.power_words, charts.power)


def seen_skeptic() -> Reveal:
    """Return what three tests say about one real improvement."""
    return questions.reveal("5-skeptic", lambda _: _improvement())


@about_digits
def predict_chosen() -> Prediction:
    """Return the question how much the choice of a striking study exaggerates."""
    return questions.predict(
        "5-chosen",
        "Somebody makes 20 such studies and publishes the one with the largest "
        "difference. By how much does it exaggerate, on average?",
        OF_CHOSEN,
    )


@about_digits
def seen_chosen() -> Reveal:
    """Return what the most striking of several studies says, once `predict_chosen` is answered."""
    return questions.reveal(
        "5-chosen", lambda said: [*questions.answered(OF_CHOSEN, said), _chosen()]
    )


def _chosen() -> Table:
    study = _readers(DIFFERENT, 200)
    difference, p = study.estimates[0], study.pvalue("Nadeau-Bengio")
    rows = []
    for many in CHOICES:
        groups = difference.reshape(-1, many)
        best = np.arange(len(groups)) * many + groups.argmax(1)
        rows.append(
            {
                "studies made": many,
                "difference published": f"{100 * difference[best].mean():.1f} points",
                "exaggerated": f"{difference[best].mean() / difference.mean() - 1:.0%}",
                "significant by Nadeau-Bengio": f"{(p[best] < 0.05).mean():.0%}",
            }
        )
    return Table(
        rows,
        f"The largest difference of several studies is published; in the long run of {study.runs} "
        f"studies it is {100 * difference.mean():.1f} points, in study {clerks.DISAGREEING} "
        f"{100 * difference[clerks.DISAGREEING]:.1f}",
    )


@about_digits
def predict_winner() -> Prediction:
    """Return the question how good the best of forty equal models seems."""
    return questions.predict(
        "5-winner",
        "Forty models are equally good: in the long run each reads 87.7% of the forms "
        "right. On average, what share does the best of them read right on the same 200 forms?",
        OF_WINNERS,
    )


@about_digits
def reveal_winner(**ranges: Any) -> Reveal:
    """Return the ranks of forty models, once `predict_winner` is answered, and what choosing the best does."""
    return questions.reveal(
        "5-winner",
        lambda said: [
            *questions.answered(OF_WINNERS, said),
            registry.load(registry.SCENES["winners"])(**ranges),
            questions.on_click(questions.LOOK, registry.load(registry.SCENES["best_of_many"])),
        ],
    )


def _improvement() -> Table:
    losses = clerks.reader_losses() if are_digits() else clerks.losses_of(*_features())
    sign = losses.series()
    better, worse = int((sign > 0).sum()), int((sign < 0).sum())
    tests = [
        (
            "K-fold t, Nadeau-Bengio",
            kfold_t_test(losses, rho="nadeau_bengio").pvalue,
            "these learning methods",
        ),
        (
            f"McNemar, {better} against {worse} {'forms' if are_digits() else 'items'}",
            mcnemar_test(better, worse).pvalue,
            "these two fitted readers" if are_digits() else "these two fitted models",
        ),
    ]
    return Table(
        [{"test": test, "pvalue": p, "about": about} for test, p, about in tests],
        f"{losses.headline()}: two answers to two questions",
    )


def live_experiments(**ranges: Any) -> Reveal:
    """Return a button, and behind it the view of ten thousand cross-validations of one learner."""
    return questions.on_click(f"Run {RUNS:,} cross-validations", lambda: experiments(**ranges))


@adjustable(rho=(0, 0.99))
def experiments() -> Panel:
    """Return the view of ten thousand cross-validations of one learner, tested against its true error.

    Parameters
    ----------
    **ranges
        Ranges of controls by their names: `learner`, `n`, `rho`, `offset`.

    Returns
    -------
    workbench.widgets.Panel
        Controls: learner, items per sample, the assumed rho, how far the tested mean is from that of all runs.
    """
    controls = {
        "learner": ipywidgets.ToggleButtons(options=LEARNERS, description="Learner"),
        "n": _sizes([20, 40, 80], 40, "Items per sample"),
        "rho": ipywidgets.FloatSlider(0, min=0, max=0.95, step=0.05, description="Assumed rho"),
        "offset": stops(
            [k / 2000 for k in range(-8, 9)], 0.0, "Tested error: true error", form="{:+.4f}"
        ),
    }

    def experiment(learner: str, n: int, rho: float, offset: float) -> tuple:
        study = _experiments(learner, n)
        return study, rho, study.mean + offset

    return drive_chart(
        controls, experiment, charts.experiments_data, charts.experiments_words, charts.experiments
    )


def type_one_table() -> Reveal:
    """Return a button, and behind it the false alarms of ten thousand cross-validations for three sample sizes."""
    return questions.on_click(
        "Compute the table",
        lambda: Table(
            [
                {
                    "items": n,
                    "true_rho": study.rho,
                    "rho": rho,
                    "type_one": study.type_one(rho),
                    "zero_variance_refused": study.type_one(rho, zero_variance="refuse"),
                }
                for n in (20, 40, 80)
                for study in [_experiments("1nn", n)]
                for rho in (0.0, 0.7)
            ],
            "False alarms at rho 0 and .7, also without the runs whose folds all agree",
        ),
    )


def all_tests(**ranges: Any) -> Reveal:
    """Return a button, and behind it the view of all tests."""
    return questions.on_click("Try all tests", lambda: scoreboard(**ranges))


@adjustable()
def scoreboard() -> Panel:
    """Return the view of all tests: false alarms and power for two learners.

    Parameters
    ----------
    **ranges
        Ranges of controls by their names: `n`.

    Returns
    -------
    workbench.widgets.Panel
        Control: items per sample.
    """
    controls = {"n": _sizes(list(BOARD_RUNS), 40, "Items per sample")}

    def studies(n: int) -> tuple:
        return (
            {
                (name, situation): _board(learner, situation == "different", n)
                for name, learner in LEARNERS.items()
                for situation in ("equal", "different")
            },
        )

    return drive_chart(
        controls, studies, charts.scoreboard_data, charts.scoreboard_words, charts.scoreboard
    )


def half_samples() -> Reveal:
    """Return a button, and behind it how a rho estimated from half-samples does against two other tests."""
    return questions.on_click(f"Run {HALF_RUNS:,} studies", _half_samples)


def _half_samples() -> Table:
    population = exchangeable_population(*gaussian_population(2000, features=4))
    study = simulate_comparison(
        population,
        ("1nn", range(4)),
        ("1nn", range(4, 8)),
        80,
        runs=HALF_RUNS,
        tests=("naive t", "half-sample rho", "Nadeau-Bengio"),
        progress=False,
    )
    return Table(
        study.rows(), f"False alarms of two equal learners at 5%; the true rho is {study.rho:.2f}"
    )


def _sizes(options: list, value: int, description: str) -> Any:
    """Return buttons that stand beside each other on a phone too."""
    return ipywidgets.ToggleButtons(
        options=options, value=value, description=description, style={"button_width": "90px"}
    )


@cached
def _experiments(learner: str, n: int) -> Any:
    population = "digits" if are_digits() else _population_of_the_file()
    return simulate_type_one(population, learner, n, runs=RUNS, progress=False)


def _population_of_the_file() -> Population:
    return dataclasses.replace(Population.of(_features()), name="items")


def _features() -> tuple[np.ndarray, np.ndarray]:
    """Return features and classes of the file that the scenes show."""
    items = lesson_forms()
    return items.features, items.digit


@functools.lru_cache(maxsize=6)
def _readers(situation: str, n: int) -> Any:
    pair = (
        [("1nn", columns) for columns in clerks.SEEN.values()]
        if situation == EQUAL
        else ["centroid", "1nn"]
    )
    return simulate_comparison(
        "ten_digits",
        pair[0],
        pair[1],
        n,
        samples=clerks.study_rows(0, LONG_RUN, n),
        tests=TESTS,
        progress=False,
    )


@functools.lru_cache(maxsize=12)
def _board(learner: str, different: bool, n: int) -> Any:
    halves = [(learner, range(start, start + FEATURES)) for start in (0, FEATURES)]
    return simulate_comparison(
        _population(different),
        halves[0],
        halves[1],
        n,
        tests=BOARD_TESTS,
        repeats=10,
        runs=BOARD_RUNS[n],
        progress=False,
    )


@functools.lru_cache(maxsize=2)
def _population(different: Any) -> Population:
    return Population.of(gaussian_population(features=FEATURES, advantage=float(different)))
