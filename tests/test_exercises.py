import pytest

from workbench import exercises


@pytest.fixture(autouse=True)
def fresh():
    exercises.start_over()


@pytest.mark.parametrize(("number", "answer", "verdict", "message"), [
    ("1.1", None, "no answer", "answer with (estimate, standard error)"),
    ("1.1", (0.88, 0.02875), "right", "0.880 and 0.02875"),
    ("1.1", [0.8799, 0.0287], "right", "0.880 and 0.02875"),
    ("1.1", (0.88, 0.02958), "mistake",
     "no finite-population factor: 20 of 360 are labeled, so 340 of 360 are unknown"),
    ("1.1", (0.9, 0.02875), "not yet", "the estimate is the weighted mean of the five rates"),
    ("1.1", (0.88, 0.05), "not yet", "the estimate is right, the standard error is not"),
    ("1.1", "many", "not yet", "answer with (estimate, standard error)"),
    ("1.1", 3, "not yet", "answer with (estimate, standard error)"),
    ("1.2", [42, 30, 17, 9, 2], "right", "42 / 30 / 17 / 9 / 2"),
    ("1.2", [43, 30, 16, 9, 2], "right", "42 / 30 / 17 / 9 / 2"),
    ("1.2", [20] * 5, "mistake", "equal shares: where a stratum varies more, it needs more"),
    ("1.2", [43, 31, 17, 9, 0], "mistake", "a stratum with fewer than 2 labels has no variance estimate"),
    ("1.2", [42, 30, 17, 9, 20], "mistake", "budget not spent exactly: your labels add up to 118"),
    ("1.2", [2, 9, 17, 30, 42], "not yet", "shares in proportion to size times standard deviation, at least 2 each"),
    ("1.3", (298, "proportional"), "right", "298 proportional labels lose least under drift"),
    ("1.3", (188, "neyman with floor"), "right", "188 with a floor, and a new plan when the rates move"),
    ("1.3", (188, "neyman"), "mistake", "pure Neyman trusts last month's rates and leaves 2 labels in the top fifth"),
    ("1.3", (461, "random"), "mistake",
     "no finite-population factor: this counts as if there were endlessly many forms"),
    ("1.3", (367, "random"), "mistake", "random sampling needs 367; strata need fewer"),
    ("1.3", (500, "proportional"), "not yet", "the design can work; the number is off"),
    ("1.3", 298, "not yet", "answer with (labels, 'random', 'proportional', 'neyman' or 'neyman with floor')"),
    ("1.4", ("equal_size", [40, 28, 16, 9, 7]), "right", "gold, SE 0.0228"),
    ("1.4", ("equal_size", [20] * 5), "right", "SE 0.0281; .0245 would be gold"),
    ("1.4", ("equal_size", [2, 2, 2, 2, 92]), "not yet",
     "SE 0.0911; at most .0295 is wanted, random sampling has .0319"),
    ("1.4", ("equal_width", [20] * 5), "mistake", "there are 5 strata of sizes [6, 41, 39, 47, 1664]"),
    ("1.4", ("by luck", [50, 50]), "mistake", "'by luck' is none of the seven stratifiers"),
    ("1.4", ("equal_size", [99, 1]), "mistake", "100 labels in total, at least 2 in each stratum"),
])
def test_verdicts(number, answer, verdict, message):
    feedback = exercises.check(number, answer)
    assert (feedback.verdict, feedback.message) == (verdict, message)
    assert bool(feedback.hint) == (verdict not in ("right", "no answer"))
    assert bool(feedback.explanation) == (verdict == "right")


def test_explanation_comes_after_three_tries():
    given = [exercises.check("1.2", [20] * 5).explanation for _ in range(3)]
    assert given[:2] == ["", ""] and given[2].startswith("the pure stratum still gets 2")


def test_no_answer_is_no_try():
    for _ in range(5):
        exercises.check("1.2", None)
    assert exercises.check("1.2", [20] * 5).explanation == ""


def test_drift_in_the_explanation():
    told = exercises.check("1.3", (298, "proportional")).explanation
    assert "pure Neyman reaches ±0.088, with a 30% floor ±0.047, proportional ±0.033" in told


def test_answers_are_escaped():
    assert "<script>" not in exercises.check("1.4", ("<script>", [50, 50]))._repr_html_()


def test_unknown_exercise():
    with pytest.raises(ValueError, match="exercise must be one of '1.1', '1.2', '1.3', '1.4'; got '9.9'"):
        exercises.check("9.9", 1)
