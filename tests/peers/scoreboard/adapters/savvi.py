import numpy as np
from fixed import SIMPLE
from savvi.multinomial import Multinomial

DOC = "https://assuncaolfi.github.io/savvi/examples/"


def looked(d):
    at = np.array([0, *d.looks])
    batch = [np.array([part.size - part.sum(), part.sum()]) for part in np.split(d.y, at[1:-1])]
    return Multinomial(0.05, np.array([0.5, 0.5])).batch(batch)[-1].conf_int[1]


def share(d):
    made = Multinomial(0.05, np.array([0.5, 0.5]))
    made.update(np.array([d.y.size - d.y.sum(), d.y.sum()]))
    return made.estimate[1]


ROWS = {("Q12", "Multinomial, batches of 10"): (looked, DOC)}
CHECKED = [("estimate of 8 of 10", lambda: share(SIMPLE), 0.8, 1e-9)]
