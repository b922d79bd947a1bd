"""The story of lesson 4: reader A counts forms with code 9, "has solar panels", month after month.

Month 1 consists of the 1,797 real forms. The later months are simulated from a superpopulation
that reader A reads with exactly the rates of month 1.
"""

import functools

import numpy as np

from workbench import checks
from workbench.course.digit_forms import digit_forms
from workbench.misclassification.confusion import ConfusionCounts
from workbench.results import Result, rows_of

CODE = 9
LABELS = ("no panels", "panels")
ITEMS = 5000
LATER_SHARES = tuple(round(0.1 + 0.005 * k, 3) for k in range(11))
SEED = 2026


class SolarMonths(Result):
    """Twelve months of counts by reader A, and the truth; made by `solar_months`.

    Attributes
    ----------
    counts : (12, 2) array of int
        Forms read as without and with panels.
    true_shares : (12,) array of float
        True proportions of forms with panels.

    See Also
    --------
    solar_months : Return these counts.
    prevalence_series : Estimate the true proportions from such counts.
    """

    counts: np.ndarray
    true_shares: np.ndarray

    @property
    def counted_shares(self) -> np.ndarray:
        """Return the proportions of forms read as with panels, (12,)."""
        return self.counts[:, 1] / self.counts.sum(1)

    def periods(self) -> dict[str, tuple[int, int]]:
        """Return the counts by the number of the month as text, for `prevalence_series`.

        Returns
        -------
        dict of str to (int, int)
            Forms read as without and with panels.

        Examples
        --------
        >>> solar_months().periods()["1"]
        (1579, 218)
        """
        return {str(t): tuple(row) for t, row in enumerate(self.counts.tolist(), 1)}

    def headline(self) -> str:
        """Return the first and the last month, counted and true."""
        rows = self.rows()
        first, last = (
            f"{row['counted']:,} of {row['items']:,} counted ({row['true_share']:.4f} true)"
            for row in (rows[0], rows[-1])
        )
        return f"month 1: {first}; month {len(rows)}: {last}"

    def rows(self) -> list[dict]:
        """Return one row per month."""
        return rows_of(
            month=range(1, len(self.counts) + 1),
            items=self.counts.sum(1),
            counted=self.counts[:, 1],
            true_share=self.true_shares,
        )


def solar_forms() -> tuple[np.ndarray, np.ndarray]:
    """Return the true class of the forms of month 1, and the class that reader A reads.

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
    truth, read = (np.where(digit == CODE, *LABELS[::-1]) for digit in (forms.digit, forms.read_a))
    return truth, read


def solar_audit(n: int = 400, *, rng: int | np.random.Generator = 1) -> ConfusionCounts:
    """Audit a simple random sample of the 1,797 forms of month 1.

    Parameters
    ----------
    n : int, default 400
        Number of audited forms, from 1 to 1,797.
    rng : int or numpy.random.Generator, default 1
        Seed or generator of the sample.

    Returns
    -------
    ConfusionCounts
        The confusion table of the audited forms.

    See Also
    --------
    solar_months : The counts of twelve months.
    solar_rates : The rates that the audit estimates.

    Examples
    --------
    >>> solar_audit().table.tolist()
    [[331, 18], [7, 44]]
    """
    truth, read = solar_forms()
    n = checks.whole("n", n, 1, truth.size)
    sampled = checks.generator(rng).choice(truth.size, n, replace=False)
    return ConfusionCounts.from_labels(truth[sampled], read[sampled], LABELS)


@functools.lru_cache(maxsize=1)
def solar_months() -> SolarMonths:
    """Return the counts of twelve months, the later ones with 5,000 forms each.

    Returns
    -------
    SolarMonths
        Counts and true proportions. The true proportion is .1002 in month 1 and .10 in month 2. It
        then rises by half a percentage point a month to .15.

    See Also
    --------
    solar_audit : An audit of month 1.
    prevalence_series : Estimate the true proportions from the counts.

    Notes
    -----
    In each later month, the numbers of panels that reader A finds, and of other forms that it reads
    as panels, are binomial.

    Examples
    --------
    >>> solar_months()      # doctest: +NORMALIZE_WHITESPACE
    SolarMonths(month 1: 218 of 1,797 counted (0.1002 true); month 12: 809 of 5,000 counted
    (0.1500 true))
    """
    base_rate, p00, p11 = solar_rates()
    _, read = solar_forms()
    rng = np.random.default_rng(SEED)
    counts = [[int((read == label).sum()) for label in LABELS]]
    for share in LATER_SHARES:
        panels = round(share * ITEMS)
        predicted = rng.binomial(panels, p11) + rng.binomial(ITEMS - panels, 1 - p00)
        counts.append([ITEMS - predicted, predicted])
    return SolarMonths(np.array(counts), np.array([base_rate, *LATER_SHARES]))


@functools.lru_cache(maxsize=1)
def solar_rates() -> tuple[float, float, float]:
    """Return the true proportion of month 1 and the rates of reader A, from all forms.

    Returns
    -------
    (base_rate, p00, p11) : tuple of float
        Proportion of forms with panels, and the probabilities of a correct reading without and with
        panels.

    See Also
    --------
    solar_audit : Estimate the rates from a sample.
    estimator_theory : Compute the errors of the estimators for such rates.

    Examples
    --------
    >>> [round(rate, 4) for rate in solar_rates()]
    [0.1002, 0.9598, 0.85]
    """
    table = ConfusionCounts.from_labels(*solar_forms(), LABELS).table
    (p00, _), (_, p11) = table / table.sum(1, keepdims=True)
    return float(table[1].sum() / table.sum()), float(p00), float(p11)
