from fixed import PAIRED, SIMPLE, Z, around
from lm_eval.api.metrics import mean_stderr

DOC = "https://github.com/EleutherAI/lm-evaluation-harness/blob/main/lm_eval/api/metrics.py"
COMPARED = (
    "https://github.com/EleutherAI/lm-evaluation-harness/blob/main/scripts/model_comparator.py"
)


def limits(d):
    return around(d.y.mean(), 1.96 * mean_stderr(d.y.tolist()))


def compared(d):
    error = (mean_stderr(d.a.tolist()) ** 2 + mean_stderr(d.b.tolist()) ** 2) ** 0.5
    return around(d.a.mean() - d.b.mean(), 1.96 * error)


ROWS = {
    ("Q1", "mean, 1.96 stderr"): (limits, DOC),
    ("Q3", "mean, 1.96 stderr, clusters ignored"): (limits, DOC),
    ("Q6", "model_comparator.py: z of two stderr"): (compared, COMPARED),
}
CHECKED = [
    ("z interval of 8 of 10, by hand", lambda: limits(SIMPLE), around(0.8, Z * 0.4 / 3), 1e-4),
    # shares .7 and .5 of 20: variances .21 / 19 and .25 / 19
    (
        "z of two means, by hand",
        lambda: compared(PAIRED),
        around(0.2, Z * (0.46 / 19) ** 0.5),
        1e-4,
    ),
]
