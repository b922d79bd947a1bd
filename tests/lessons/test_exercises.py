import itertools
import re

import by_hand
import numpy as np
import pytest

from workbench.course.digit_forms import digit_forms
from workbench.extras.classroom.variants import task_of
from workbench.lessons import checking


@pytest.fixture(autouse=True)
def fresh():
    checking._tries.clear()


@pytest.mark.parametrize(
    ("number", "answer", "verdict", "message"),
    [
        ("1.1", None, "no answer", "answer with (estimate, standard error)"),
        ("1.1", (0.88, 0.02875), "correct", "0.880 and 0.02875"),
        ("1.1", [0.8799, 0.0287], "correct", "0.880 and 0.02875"),
        (
            "1.1",
            (0.88, 0.02958),
            "mistake",
            "no finite-population correction: 20 of 360 forms are labeled, so 340 of 360 are unknown",
        ),
        (
            "1.1",
            (0.9, 0.02875),
            "not yet",
            "the estimate is the weighted mean of the five stratum accuracies",
        ),
        ("1.1", (0.88, 0.05), "not yet", "the estimate is correct, the standard error is not"),
        ("1.1", "many", "not yet", "answer with (estimate, standard error)"),
        ("1.1", 3, "not yet", "answer with (estimate, standard error)"),
        ("1.2", [42, 30, 17, 9, 2], "correct", "42 / 30 / 17 / 9 / 2"),
        ("1.2", [43, 30, 16, 9, 2], "correct", "42 / 30 / 17 / 9 / 2"),
        (
            "1.2",
            [20] * 5,
            "mistake",
            "all strata have the same number of labels, but a stratum that varies more needs more",
        ),
        (
            "1.2",
            [43, 31, 17, 9, 0],
            "mistake",
            "a stratum with fewer than 2 labels has no variance estimate",
        ),
        (
            "1.2",
            [42, 30, 17, 9, 20],
            "mistake",
            "your labels add up to 118, not to 100",
        ),
        (
            "1.2",
            [2, 9, 17, 30, 42],
            "not yet",
            "allocate the labels in proportion to size times standard deviation, at least 2 each",
        ),
        (
            "1.3",
            (298, "proportional"),
            "correct",
            "298 proportional labels lose least if the accuracies change",
        ),
        (
            "1.3",
            (188, "neyman with floor"),
            "correct",
            "188 by Neyman's rule, and 204 labels with a floor of 30% of them; make a new plan if the "
            "accuracies change",
        ),
        (
            "1.3",
            (204, "neyman with floor"),
            "correct",
            "188 by Neyman's rule, and 204 labels with a floor of 30% of them; make a new plan if the "
            "accuracies change",
        ),
        (
            "1.3",
            (188, "neyman"),
            "mistake",
            "Neyman without a floor relies on last month's accuracies and puts only 2 labels into the top fifth",
        ),
        (
            "1.3",
            (461, "random"),
            "mistake",
            "no finite-population correction: this is the number for an infinite population",
        ),
        (
            "1.3",
            (367, "random"),
            "mistake",
            "random sampling needs 367 labels; a stratified sample needs fewer",
        ),
        (
            "1.3",
            (500, "proportional"),
            "not yet",
            "the design can work, but the number of labels is incorrect",
        ),
        (
            "1.3",
            298,
            "not yet",
            "answer with (labels, 'random', 'proportional', 'neyman' or 'neyman with floor')",
        ),
        ("1.4", ("equal_size", [40, 28, 16, 9, 7]), "correct", "gold, standard error 0.0228"),
        ("1.4", ("equal_size", [20] * 5), "correct", "standard error 0.0281; .0245 earns gold"),
        (
            "1.4",
            ("equal_size", [2, 2, 2, 2, 92]),
            "not yet",
            "standard error 0.0911; the limit is .0295, and random sampling has .0319",
        ),
        (
            "1.4",
            ("equal_width", [20] * 5),
            "mistake",
            "your labels do not fit: this stratifier gives 5 strata of sizes [6, 41, 39, 47, 1664]",
        ),
        (
            "1.4",
            ("by luck", [50, 50]),
            "mistake",
            "'by luck' is not one of the seven stratifiers: equal size, "
            "equal width, cum sqrt f, cum cbrt f, weighted mean, k-means, mixture",
        ),
        (
            "1.4",
            ("equal_size", [99, 1]),
            "mistake",
            "use 100 labels in total and at least 2 in each stratum",
        ),
        ("2.1", 0.0205, "correct", "0.0205"),
        (
            "2.1",
            0.0616,
            "mistake",
            "divide by the number of districts: each is only 1/3 of the mean",
        ),
        ("2.1", 0.0411, "mistake", "the variance of a mean of two boxes is d^2 / 4, not d^2"),
        (
            "2.1",
            0.03,
            "not yet",
            "add up the squared differences, divide by 4 and by the square of the number of districts",
        ),
        ("2.1", "small", "not yet", "answer with the standard error"),
        ("2.2", 81, "correct", "81"),
        (
            "2.2",
            27,
            "mistake",
            "the paper's rule allows 3^3 - 1 = 26 columns, but only (27 - 1) / (3 - 1) = 13 are balanced",
        ),
        (
            "2.2",
            54,
            "mistake",
            "such an array exists (from a difference matrix), but it is not linear",
        ),
        (
            "2.2",
            29,
            "mistake",
            "no array has fewer runs (Rao's bound, 1 + 14 x 2), but a linear array has a power of 3",
        ),
        ("2.2", 9, "mistake", "nine runs have room for (9 - 1) / (3 - 1) = 4 columns"),
        (
            "2.2",
            243,
            "mistake",
            "this array is balanced, but the next smaller power of 3 also has room for 14 columns",
        ),
        ("2.2", 14, "not yet", "find the smallest power of 3 with room for 14 columns"),
        ("2.2", None, "no answer", "answer with a whole number"),
        ("2.3", 33, "correct", "33 per box: effective sample size 1,182"),
        ("2.3", 24, "correct", "24 per box: effective sample size 1,155"),
        (
            "2.3",
            127,
            "mistake",
            "127 labels from one box resemble each other: the effective sample size is only 790",
        ),
        (
            "2.3",
            5,
            "not yet",
            "5 per box: effective sample size 559, because most of the money goes into boxes",
        ),
        ("2.3", (1, 2), "not yet", "answer with labels per box"),
        ("2.4", (0.7688, 0.0432, 0.652, 0.855), "correct", "0.7688, SE 0.0432, 0.652 to 0.855"),
        ("2.4", (0.7688, 0.0457, 0.644, 0.859), "correct", "0.7688, SE 0.0457, 0.644 to 0.859"),
        (
            "2.4",
            (0.7688, 0.0235, 0.72, 0.81),
            "mistake",
            "this is the standard error of independent forms, but the boxes differ",
        ),
        (
            "2.4",
            (0.7688, 0.06, 0.65, 0.86),
            "not yet",
            "F1 is correct, but its standard error is not",
        ),
        (
            "2.4",
            (0.7688, 0.0432, 0.70, 0.84),
            "not yet",
            "compute the interval on the logit scale, with Student's t at 7 degrees of freedom",
        ),
        (
            "2.4",
            (0.877, 0.0432, 0.652, 0.855),
            "not yet",
            "F1 needs three counts: forms read as 9, forms that are a 9, and forms that are both",
        ),
        ("2.4", 0.77, "not yet", "answer with (F1, standard error, lower, upper limit)"),
        ("2.3", -5, "not yet", "answer with labels per box"),
        ("3.1", (1.151e7, 2.275e5, 50.6), "correct", "1.151e+07, 2.275e+05, ratio 50.6"),
        (
            "3.1",
            (1.315e7, 2.275e5, 57.8),
            "mistake",
            "this is the variance with replacement; you never sample the same number twice, so multiply by "
            "(1 - 2/9) and use ddof=1",
        ),
        (
            "3.1",
            (2e7, 2.275e5, 50.6),
            "not yet",
            "the first estimate is 9 times the mean of two of the nine numbers",
        ),
        (
            "3.1",
            (1.151e7, 1e5, 50.6),
            "not yet",
            "the second estimate is 5 times one number plus 4 times the other",
        ),
        (
            "3.1",
            (1.151e7, 2.275e5, 46),
            "not yet",
            "the ratio is the first variance divided by the second",
        ),
        ("3.1", 5, "not yet", "answer with (variance at random, variance with strata, ratio)"),
        ("3.2", [10, 17, 33], "correct", "10 / 17 / 33"),
        ("3.2", [20, 20, 20], "mistake", "the first stratum has only 10 items"),
        ("3.2", [10, 17, 30], "mistake", "the budget is 60; your labels add up to 57"),
        (
            "3.2",
            [10, 25, 25],
            "not yet",
            "label the first stratum completely, then allocate the rest in proportion to N S",
        ),
        (
            "3.3",
            (15, "five of 37 are misread"),
            "correct",
            "15; compare your reason with the explanation",
        ),
        (
            "3.3",
            (2, "the default is two"),
            "mistake",
            "2 of the thousands may well include no misread digit; then their standard deviation is 0, and "
            "the rule throws the others away",
        ),
        (
            "3.3",
            (25, "more is always better"),
            "mistake",
            "a floor of 25 costs more but hardly protects better: choose a smaller floor",
        ),
        ("3.3", 15, "not yet", "answer with (floor, 'your reason in a sentence')"),
        ("3.4", [5, 32, 76, 37], "correct", "SE 2,808"),
        (
            "3.4",
            [6, 32, 75, 37],
            "correct",
            "SE 2,808.2; the best whole numbers reach 2,807.8",
        ),
        ("3.4", [10, 33, 70, 37], "not yet", "SE 2,853.4; an SE of 2,807.8 is possible"),
        ("3.4", [5, 32, 75, 38], "mistake", "there are only 37 thousands"),
        ("3.4", [38, 38, 37, 36], "mistake", "the budget is 150 labels; your labels add up to 149"),
        ("3.4", [5, 32, 76.5, 36.5], "mistake", "give whole numbers"),
        (
            "3.3",
            (float("nan"), "a b c"),
            "not yet",
            "answer with (floor, 'your reason in a sentence')",
        ),
        ("3.2", [-10, 17, 53], "mistake", "give each stratum at least 0 labels"),
        ("3.4", [0, 37, 76, 37], "mistake", "give at least 2 labels to each place"),
        ("4.1", 0.15, "correct", "0.150"),
        (
            "4.1",
            0.126,
            "mistake",
            "this is calibration, which assumes that P(true | read) is constant and reports "
            "too small a change",
        ),
        (
            "4.1",
            0.215,
            "mistake",
            "this is the counted proportion, but 8% of the others are read as panels",
        ),
        (
            "4.1",
            0.2,
            "not yet",
            "counted = true x p11 + (1 - true) x (1 - p00); solve for true",
        ),
        ("4.1", "many", "not yet", "answer with the proportion"),
        ("4.2", (0.1540, 0.1321), "correct", "0.1542 and 0.1322"),
        ("4.2", (0.1322, 0.1542), "mistake", "the two numbers are correct, but in the wrong order"),
        (
            "4.2",
            (0.1618, 0.1322),
            "not yet",
            "mixed = calibration at the time of the audit, plus the counted change / (p00 + p11 - 1)",
        ),
        (
            "4.2",
            (0.1542, 0.1618),
            "not yet",
            "calibration multiplies the counted proportions by P(true | read), from the columns of "
            "the audit table",
        ),
        ("4.2", 0.15, "not yet", "answer with (mixed, calibration)"),
        ("4.3", ("mixed", "Calibration", "neither"), "correct", "mixed / calibration / neither"),
        ("4.3", "mixed, calibration, neither", "correct", "mixed / calibration / neither"),
        ("4.3", "mixed/calibration;neither", "correct", "mixed / calibration / neither"),
        ("4.3", "mixed calibration neither", "correct", "mixed / calibration / neither"),
        (
            "4.3",
            "mixed, calibration",
            "not yet",
            "answer with three of 'mixed', 'calibration', 'neither'",
        ),
        ("4.3", ("mixed", "mixed", "neither"), "not yet", "think again about: lost forms"),
        (
            "4.3",
            ("raw", "mixed", "neither"),
            "not yet",
            "answer with three of 'mixed', 'calibration', 'neither'",
        ),
        ("4.3", 3, "not yet", "answer with three of 'mixed', 'calibration', 'neither'"),
        ("4.4", (0.0291, 0.0062), "correct", "0.0291 and 0.0062"),
        ("4.4", (0.0300, 0.0067), "correct", "0.0300 and 0.0067"),
        (
            "4.4",
            (0.0291, 0.0171),
            "mistake",
            "this treats the errors of the two months as independent, but both months use the same "
            "audit",
        ),
        ("4.4", (0.0291, 0.003), "not yet", "the change is correct, but its standard error is not"),
        (
            "4.4",
            (0.0236, 0.0062),
            "not yet",
            "the change is the counted change divided by p00 + p11 - 1",
        ),
        ("4.4", 0.03, "not yet", "answer with (change, standard error)"),
        ("4.5", 0.596, "correct", "0.596"),
        (
            "4.5",
            0.66,
            "mistake",
            "this is the proportion that the judge passes; some of these answers are bad, and some "
            "that it fails are good",
        ),
        (
            "4.5",
            0.86,
            "mistake",
            "the judge errs in both directions: it passes bad answers and fails good ones",
        ),
        (
            "4.5",
            0.46,
            "mistake",
            "the judge errs in both directions: it passes bad answers and fails good ones",
        ),
        (
            "4.5",
            0.4947,
            "mistake",
            "this corrects twice: the proportions of good answers per judge label already correct the "
            "judge's errors",
        ),
        (
            "4.5",
            0.59,
            "not yet",
            "this is the proportion in the 200 labeled answers; weight the judge labels by their "
            "proportions in all answers",
        ),
        (
            "4.5",
            0.7,
            "not yet",
            "what proportion of the passed answers is good, and what proportion of the failed ones?",
        ),
        ("5.1", (2.847, 0.0192, 1.559, 0.153), "correct", "2.847, 0.0192; 1.559, 0.153"),
        (
            "5.1",
            (3.001, 0.015, 1.64, 0.135),
            "mistake",
            "you divided by 10 instead of 9: the variance of ten folds has nine degrees of freedom",
        ),
        (
            "5.1",
            (2.847, 0.0044, 1.559, 0.119),
            "mistake",
            "you used the normal distribution; a t distribution with nine degrees of freedom has heavier tails",
        ),
        (
            "5.1",
            (2.847, 0.0096, 1.559, 0.077),
            "mistake",
            "your p is one-sided; use the two-sided p",
        ),
        (
            "5.1",
            (2.847, 0.0192, 0.854, 0.415),
            "mistake",
            "rho is a proportion of a variance: multiply t by the square root of 1 - rho",
        ),
        (
            "5.1",
            (2.847, 0.0192, 1.96, 0.082),
            "not yet",
            "the naive test is correct, the test at rho = .7 is not",
        ),
        ("5.1", (1, 0.3, 1, 0.3), "not yet", "t = mean / sqrt(variance / 10)"),
        (
            "5.1",
            (2.847, 0.3, 1, 0.3),
            "not yet",
            "t is correct, p is not: use a two-sided test with nine degrees of freedom",
        ),
        ("5.1", 2.847, "not yet", "answer with (t, p, t at rho .7, p at rho .7)"),
        ("5.2", (0.368, 0.189), "correct", "0.368 and 0.189"),
        (
            "5.2",
            (0.368, 0.7),
            "mistake",
            "rho is not r: rho is a proportion of the variance of a mean, r is the correlation of two folds",
        ),
        ("5.2", (0.368, 0.1), "not yet", "rho_alpha is correct, r is not"),
        (
            "5.2",
            (0.632, 0.189),
            "not yet",
            "at which rho is sqrt(1 - rho) t equal to the critical value of t with 9 degrees of freedom?",
        ),
        ("5.2", "?", "not yet", "answer with (rho_alpha, r)"),
        ("5.3", (1.437, 0.154, "No"), "correct", "t 1.437, p 0.154: no"),
        (
            "5.3",
            (3.44, 0.0009, "yes"),
            "mistake",
            "you corrected for ten folds; here ten repeats use the same 100 forms, so there are 100 folds",
        ),
        (
            "5.3",
            (1.437, 0.1846, "no"),
            "mistake",
            "100 folds have 99 degrees of freedom; a single repeat has 9",
        ),
        (
            "5.3",
            (5, 0.001, "yes"),
            "not yet",
            "the naive test multiplies the variance of one fold by 1/100; multiply it by 1/100 + 1/9",
        ),
        (
            "5.3",
            (1.437, 0.5, "no"),
            "not yet",
            "t is correct, p is not: use a two-sided test with 99 degrees of freedom",
        ),
        (
            "5.3",
            (1.437, 0.154, "yes"),
            "not yet",
            "t and p are correct; compare p = 0.154 with the level of .05",
        ),
        ("5.3", (1.437, 0.154, "maybe"), "not yet", "answer with (t, p, 'yes' or 'no')"),
        ("5.3", "no", "not yet", "answer with (t, p, 'yes' or 'no')"),
        (
            "5.4",
            (5, 0.005, 0.030, 0.071, 0.634, "buy"),
            "correct",
            "buy, with p 0.030 and rho_alpha 0.634",
        ),
        (
            "5.4",
            (5, 0.005, 0.030, 0.071, 0.634, "do not buy"),
            "mistake",
            "the rule is to buy if Nadeau-Bengio's p is below .05 and the nearest neighbor reads better; "
            "p is 0.030, averages minus nearest neighbor +0.075",
        ),
        (
            "5.4",
            (5, 0.005, 0.071, 0.030, 0.634, "buy"),
            "not yet",
            "not correct: Nadeau-Bengio p, p at .7",
        ),
        ("5.1", (2.85, 0.019, 1.56, 0.15), "correct", "2.847, 0.0192; 1.559, 0.153"),
        ("5.3", (1.44, 0.15, "no"), "correct", "t 1.437, p 0.154: no"),
        (
            "5.4",
            (5, 0.005, 0.030, 0.071, 0.63, "Buy!"),
            "correct",
            "buy, with p 0.030 and rho_alpha 0.634",
        ),
        (
            "5.4",
            (2, 0.0192, 0.0818, 0.1534, 0.368, "Don't buy."),
            "mistake",
            "study 2 is the study of the lesson, which was chosen for its result: use another study number",
        ),
        (
            "1.1",
            [88, 2.875],
            "mistake",
            "88, 2.875 in percent: give proportions, such as 0.88, or write the percent sign into the "
            "text box",
        ),
        (
            "1.1",
            [88, 0.02875],
            "mistake",
            "88 in percent: give proportions, such as 0.88, or write the percent sign into the text box",
        ),
        (
            "4.1",
            15,
            "mistake",
            "15 in percent: give proportions, such as 0.15, or write the percent sign into the text box",
        ),
        (
            "4.4",
            (2.91, 0.62),
            "mistake",
            "2.91, 0.62 in percent: give proportions, such as 0.0291, or write the percent sign into "
            "the text box",
        ),
        ("1.2", [41.5, 30.5, 17, 9, 2], "mistake", "the labels per stratum must be whole numbers"),
        ("3.2", [10, 16.7, 33.3], "mistake", "give whole numbers"),
        ("1.4", ("equal size", [40, 28, 16, 9, 7]), "correct", "gold, standard error 0.0228"),
        (
            "1.4",
            ("k-means", [99, 1]),
            "mistake",
            "use 100 labels in total and at least 2 in each stratum",
        ),
        (
            "1.3",
            (298, "In proportion."),
            "correct",
            "298 proportional labels lose least if the accuracies change",
        ),
        (
            "2.4",
            (0.7688, 0.0432, 0.855, 0.652),
            "mistake",
            "the lower limit is above the upper limit: swap them",
        ),
        (
            "3.3",
            (15, "x x x"),
            "not yet",
            "give your reason in a sentence: at least three different words",
        ),
        (
            "1.1",
            (88, 2.9),
            "mistake",
            "88, 2.9 in percent: give proportions, such as 0.88, or write the percent sign into the text box",
        ),
        ("5.5", (3, 1, 3, 0.9324), "correct", "3 pairs, B from 1 to 3; 0.932"),
        ("5.5", (3, 1, 3, 0.9310), "correct", "3 pairs, B from 1 to 3; 0.932"),
        (
            "5.5",
            (4, 1, 2, 0.9324),
            "mistake",
            "you counted the pairs with an unadjusted p below .05; six tests need an adjustment",
        ),
        (
            "5.5",
            (2, 1, 3, 0.9324),
            "mistake",
            "you multiplied every p by 6; Holm's rule multiplies the second smallest by 5, the third by 4",
        ),
        (
            "5.5",
            (3, 2, 2, 0.9324),
            "mistake",
            "this is the rank of B's score; a rank set contains every rank that the tests do not exclude",
        ),
        (
            "5.5",
            (3, 1, 3, 0.9),
            "mistake",
            "each of the forty models scores this on average; the best of them was lucky and scores more",
        ),
        (
            "5.5",
            (3, 1, 3, 0.9294),
            "mistake",
            "1.96 is a limit for a single number; the largest of forty is 2.16 on average",
        ),
        (
            "5.5",
            (3, 1, 3, 0.95),
            "not yet",
            "the ranks are correct, the score is not: it is 2.16 standard errors above the true accuracy",
        ),
        (
            "5.4",
            (5, 0.005, 0.030, 0.071, 0.634, "perhaps"),
            "not yet",
            "the numbers are correct; answer 'buy' or 'do not buy'",
        ),
        (
            "5.4",
            (0.5, 0.005, 0.071, 0.030, 0.634, "buy"),
            "not yet",
            "study must be a whole number of at least 0; got 0.5",
        ),
        (
            "5.4",
            "buy",
            "not yet",
            "answer with (study, naive p, Nadeau-Bengio p, p at .7, rho_alpha, 'buy' or 'do not buy')",
        ),
    ],
)
def test_verdicts(number, answer, verdict, message):
    feedback = checking.check(number, answer)
    assert (feedback.verdict, feedback.message) == (verdict, message)
    assert bool(feedback.hint) == (verdict not in ("correct", "no answer"))
    assert bool(feedback.explanation) == (verdict == "correct")


def test_explanation_comes_after_three_tries():
    given = [checking.check("1.2", [20] * 5).explanation for _ in range(3)]
    assert given[:2] == ["", ""] and given[2].startswith("The stratum without errors still gets 2")


def test_no_answer_is_no_try():
    for _ in range(5):
        checking.check("1.2", None)
    assert checking.check("1.2", [20] * 5).explanation == ""


def test_drift_in_the_explanation():
    told = checking.check("1.3", (298, "proportional")).explanation
    assert re.findall(r"0\.\d+", told) == ["0.088", "0.047", "0.033"]


def test_labels_per_box_by_hand():
    correlation, m = 0.0181162, np.arange(1, 200)
    worth = 3000 / (20 + m) * m / (1 + (m - 1) * correlation)
    assert m[worth.argmax()] == 33 and worth.max() == pytest.approx(1182, abs=1)
    told = checking.check("2.3", 40).explanation
    assert re.findall(r"32\.9|1,182|127|790", told) == ["32.9", "1,182", "127", "790"]


def test_the_halves_of_three_districts_give_the_same_error():
    told = checking.check("2.1", 0.0205).explanation
    halves = np.array([float(x) for x in re.findall(r"0\.\d{3}", told)])
    assert np.sqrt(((halves - 5.36 / 6) ** 2).mean()) == pytest.approx(0.0205, abs=2e-4)


def test_the_nine_numbers_by_enumeration():
    nine = [1, 2, 4, 2, 1, 1000, 1050, 1200, 1300]
    pairs = [4.5 * (a + b) for a, b in itertools.combinations(nine, 2)]
    strata = [5 * a + 4 * b for a in nine[:5] for b in nine[5:]]
    answer = np.var(pairs), np.var(strata), np.var(pairs) / np.var(strata)
    assert checking.check("3.1", answer).verdict == "correct"


def test_answers_are_escaped():
    assert "<script>" not in checking.check("1.4", ("<script>", [50, 50]))._repr_html_()


def test_unknown_exercise():
    with pytest.raises(ValueError, match="exercise must be one of '1.1', '1.2', .*; got '9.9'"):
        checking.check("9.9", 1)


@pytest.mark.parametrize("exercise", by_hand.EXERCISES)
def test_a_worked_solution_has_the_students_own_numbers(exercise):
    """The right answers of drawn tasks, found elsewhere, stand in the steps."""
    for student in ("ada", "ben", "cleo"):
        task = task_of(b"secret", student, exercise)
        right, _ = by_hand.answers(exercise, task)
        steps = checking.worked(exercise, **task)
        found = re.findall(r"-?[\d,]*\.?\d+(?:e[+-]?\d+)?", " ".join(steps))
        said = [float(number.replace(",", "")) for number in found]
        wanted = [
            value
            for value in np.atleast_1d(np.array(right, object)).tolist()
            if not isinstance(value, str)
        ]
        if exercise == "2.4":  # replicates of another kind: the estimate is the same
            wanted = wanted[:1]
        for value in wanted:
            assert min(abs(found - value) / max(abs(value), 1e-4) for found in said) < 1e-2, (
                value,
                steps,
            )


def test_three_misses_bring_the_steps_and_success_does_not():
    told = [checking.check("4.1", 0.3) for _ in range(3)]
    assert [bool(each.steps) for each in told] == [False, False, True]
    assert (
        "Step by step: (1) The program reads .08 of the others and .98 of the panels as panels"
        in told[2].headline()
    )
    assert told[2].headline().index("Step by step") < told[2].headline().index("Why:")
    assert checking.check("4.1", 0.15).steps == ()


@pytest.mark.parametrize("exercise", checking.exercises())
def test_every_exercise_has_steps(exercise):
    assert 2 <= len(checking.worked(exercise)) <= 5


def test_labels_of_exercise_1_3_with_a_floor_are_the_fewest():
    forms = digit_forms()
    order = np.argsort(forms.confidence, kind="stable")
    fifths = np.array_split((forms.read_a == forms.digit)[order], 5)
    size = np.array([360, 359, 360, 359, 359])
    variance = np.array([correct.var(ddof=1) for correct in fifths])

    def half_width(n):
        neyman = n * size * np.sqrt(variance) / (size * np.sqrt(variance)).sum()
        labels = 0.7 * neyman + 0.3 * n * size / size.sum()
        return 1.96 * np.sqrt(((size / 1797) ** 2 * (1 - labels / size) * variance / labels).sum())

    assert half_width(203) > 0.03 >= half_width(204)
