import numpy as np
from fixed import unlabeled
from judgy import estimate_success_rate

DOC = "https://github.com/ai-evals-course/judgy#quick-start"
TOSSES = 2_000  # of 20,000 by default: a call then takes a second


def same_items(d):
    rest = d.verdict[unlabeled(d, d.N)]
    return estimate_success_rate(d.human, d.verdict[d.index], rest, bootstrap_iterations=TOSSES)[1:]


def shifted(d):
    return estimate_success_rate(d.y0, d.v0, d.v, bootstrap_iterations=TOSSES)[1:]


ROWS = {
    ("Q8", "estimate_success_rate, 2,000 resamples"): (same_items, DOC),
    ("Q9", "estimate_success_rate, 2,000 resamples"): (shifted, DOC),
}
CHECKED = [
    # the README's data: 3 of 4 passes and 3 of 4 failures recognized, 5 of 8 pass: (.625 + .75 - 1) / (1.5 - 1)
    (
        "README's data, Rogan-Gladen by hand",
        lambda: estimate_success_rate(
            [1, 1, 0, 0, 1, 0, 1, 0], [1, 0, 0, 1, 1, 0, 1, 0], np.array([1, 1, 0, 1, 0, 1, 0, 1])
        )[0],
        0.75,
        1e-9,
    ),
]
