"""The story of lesson 4: code 9 on a digit form means "has solar panels", and reader A counts them month after month.

Month 1 are the 1,797 real forms; the later months are simulated from a superpopulation that reader A reads with
exactly the rates it has in month 1.
"""

import functools

import numpy as np

from workbench import checks
from workbench.course.digit_forms import digit_forms
from workbench.misclassification.confusion import ConfusionCounts
from workbench.results import Result

CODE = 9
LABELS = ("no panels", "panels")
ITEMS = 5000
LATER_SHARES = tuple(round(0.1 + 0.005 * k, 3) for k in range(11))
SEED = 2026


class SolarMonths(Result):
    """Twelve months read by reader A, and what is true; made by `solar_months`.

    Attributes
    ----------
    counts : (12, 2) array of int
        Forms read as without and with panels.
    true_shares : (12,) array of float
        Forms that have panels, as a share.
    """

    counts: np.ndarray
    true_shares: np.ndarray

    @property
    def counted_shares(self) -> np.ndarray:
        """Forms read as with panels, as a share, (12,)."""
        return self.counts[:, 1] / self.counts.sum(1)

    def periods(self) -> dict[str, tuple[int, int]]:
        """Return the counts of the months by their numbers as text, for `workbench.prevalence_series`.

        Examples
        --------
        >>> solar_months().periods()["1"]
        (1579, 218)
        """
        return {str(t): tuple(row) for t, row in enumerate(self.counts.tolist(), 1)}

    def headline(self) -> str:
        """Return the first and the last month, counted and true."""
        first, last = (
            f"{self.counts[t, 1]:,} of {self.counts[t].sum():,} counted ({self.true_shares[t]:.4f} true)"
            for t in (0, -1)
        )
        return f"month 1: {first}; month {len(self.counts)}: {last}"

    def rows(self) -> list[dict]:
        """Return one row per month."""
        return [
            {
                "month": t + 1,
                "items": int(counts.sum()),
                "counted": int(counts[1]),
                "true_share": share,
            }
            for t, (counts, share) in enumerate(
                zip(self.counts, self.true_shares.tolist(), strict=True)
            )
        ]


def solar_forms() -> tuple[np.ndarray, np.ndarray]:
    """Return what is true and what reader A reads of the forms of month 1.

    Returns
    -------
    (truth, read) : two (1797,) arrays of str
        "no panels" or "panels".

    Examples
    --------
    >>> truth, read = solar_forms()
    >>> int((truth == "panels").sum()), int((read == "panels").sum())
    (180, 218)
    """
    forms = digit_forms()
    return np.where(forms.digit == CODE, *LABELS[::-1]), np.where(
        forms.read_a == CODE, *LABELS[::-1]
    )


def solar_audit(n: int = 400, *, rng: int | np.random.Generator = 1) -> ConfusionCounts:
    """Audit n of the 1,797 forms of month 1, drawn without replacement.

    Parameters
    ----------
    n : int
        From 1 to 1,797.
    rng : int or numpy.random.Generator

    Returns
    -------
    ConfusionCounts

    Examples
    --------
    >>> solar_audit().table.tolist()
    [[331, 18], [7, 44]]
    """
    truth, read = solar_forms()
    drawn = checks.generator(rng).choice(
        truth.size, checks.whole("n", n, 1, truth.size), replace=False
    )
    return ConfusionCounts.from_labels(truth[drawn], read[drawn], LABELS)


@functools.lru_cache(maxsize=1)
def solar_months() -> SolarMonths:
    """Return the twelve months, of 5,000 forms each after the first.

    Returns
    -------
    SolarMonths
        The true share is .1002 in month 1, .10 in month 2 and rises by half a point a month to .15. Of each later
        month reader A finds binomially many of the panels, then takes binomially many others for panels.

    Examples
    --------
    >>> solar_months()
    SolarMonths(month 1: 218 of 1,797 counted (0.1002 true); month 12: 809 of 5,000 counted (0.1500 true))
    """
    base_rate, p00, p11 = solar_rates()
    draw, counted = np.random.default_rng(SEED), [int((solar_forms()[1] == LABELS[1]).sum())]
    for share in LATER_SHARES:
        ones = round(share * ITEMS)
        counted.append(draw.binomial(ones, p11) + draw.binomial(ITEMS - ones, 1 - p00))
    items = np.array([solar_forms()[0].size] + [ITEMS] * len(LATER_SHARES))
    return SolarMonths(
        np.stack([items - counted, counted], 1), np.array([base_rate, *LATER_SHARES])
    )


@functools.lru_cache(maxsize=1)
def solar_rates() -> tuple[float, float, float]:
    """Return the true share of month 1 and reader A's rates, all forms looked up.

    Returns
    -------
    (base_rate, p00, p11) : tuple of float

    Examples
    --------
    >>> [round(rate, 4) for rate in solar_rates()]
    [0.1002, 0.9598, 0.85]
    """
    table = ConfusionCounts.from_labels(*solar_forms(), LABELS).table
    (p00, _), (_, p11) = table / table.sum(1, keepdims=True)
    return float(table[1].sum() / table.sum()), float(p00), float(p11)
