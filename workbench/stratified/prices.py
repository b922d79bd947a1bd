"""Labels needed for a given half-width of an accuracy, from scores alone."""

import functools
import itertools

import numpy as np
from numpy import ndarray
from numpy.typing import ArrayLike

from workbench import checks, intervals
from workbench.allocation import rules
from workbench.data.scored_items import ScoredItems
from workbench.results import Result, html_table, percent, rows_of
from workbench.stratified import accuracy
from workbench.stratified.default_plan import AUTO, KEPT, check_trusted, doubt, favors, regimes
from workbench.stratified.strata import STRATIFIERS, strata_of

FINEST = 1e-9  # a half-width that needs labels for all items, whatever their number
HALF_WIDTHS = (0.01, 0.02, 0.03, 0.05, 0.1)
TWICE = 2  # no interval that is reported is half as wide as the default


class LabelPrices(Result):
    """Labels needed for several half-widths of the interval of an accuracy.

    `label_prices` returns this result.

    Attributes
    ----------
    half_width : (E,) array of float
        Half-widths of the interval.
    labeled : (E,) array of int
        Labels with which the interval has the half-width on average. About half of the samples give
        a shorter interval.
    assured : (E,) array of int
        Labels with which the proportion `assurance` of all samples has the half-width.
    assurance : float
        Probability that the interval is as short as planned with `assured` labels.
    allocation : str
        Allocation of the labels to the strata; "auto" is the workbench's allocation.
    interval_method : str
        Method of the interval.
    level : float
        Confidence level of the interval.

    See Also
    --------
    label_prices : Return the labels needed for several half-widths, from scores alone.
    BudgetPlan : Number of labels needed for an interval of a given half-width.
    """

    half_width: ndarray
    labeled: ndarray
    assured: ndarray
    assurance: float
    allocation: str
    interval_method: str
    level: float

    def headline(self) -> str:
        """Return the labels needed for the first and the last half-width in one sentence."""
        widths = [_points(half_width) for half_width in self.half_width]
        labels = [checks.counted(count, "label") for count in self.labeled]
        first, last = self.assured[[0, -1]].tolist()
        assured = f"{first:,} for {percent(self.assurance)} of samples"
        text = (
            f"If the scores are calibrated, a half-width of {widths[0]} needs {labels[0]} for half "
            f"of samples and {assured}"
        )
        if len(widths) > 1:
            text += f"; a half-width of {widths[-1]} needs {labels[-1]} and {last:,}"
        rule = "default plan" if self.allocation == AUTO else self.allocation
        interval = f"{percent(self.level)} {self.interval_method} interval"
        return f"{text} ({interval}, {rule})"

    def rows(self) -> list[dict]:
        """Return one row per half-width: the labels it takes on average, and with assurance."""
        return rows_of(
            half_width=self.half_width,
            labeled=self.labeled,
            assured=self.assured,
        )

    def _repr_html_(self) -> str:
        assured = f"labels, for {percent(self.assurance)} of samples"
        table = []
        for row in self.rows():
            cells = {
                "half_width": f"±{_points(row['half_width'])}",
                "labels, for half of samples": f"{row['labeled']:,}",
                assured: f"{row['assured']:,}",
            }
            table.append(cells)
        return html_table(table, self.headline())


def _points(half_width: float) -> str:
    points = 100 * half_width
    noun = "point" if round(points, 9) == 1 else "points"
    return f"{points:.3g} {noun}"


def label_prices(
    items: ScoredItems,
    half_widths: ArrayLike = HALF_WIDTHS,
    *,
    n_strata: int | str = AUTO,
    stratifier: str = "equal_size",
    allocation: str = AUTO,
    trust_scores: bool = False,
    interval: str = "default",
    level: float = 0.95,
    assurance: float = 0.8,
    rng: int = 0,
) -> LabelPrices:
    """Return the labels needed for several half-widths of an accuracy, from scores alone.

    Use it before you label anything, to see what a precise answer costs. It takes the scores as
    calibrated: the mean score of a stratum is its expected accuracy.

    Parameters
    ----------
    items : ScoredItems
        Items whose scores are probabilities that the prediction is correct.
    half_widths : (E,) array_like of float, default (0.01, 0.02, 0.03, 0.05, 0.1)
        Half-widths, above 0 and below 0.5; 0.02 means two percentage points.
    n_strata : int or "auto", default "auto"
        Number of strata, as in `accuracy_audit`.
    stratifier : str, default "equal_size"
        Method that cuts the scores into strata, as in `stratify`.
    allocation : {"auto", "proportional", "equal"}, default "auto"
        Allocation of the labels to the strata; "auto" is the workbench's allocation.
    trust_scores : bool, default False
        Whether you checked the calibration of the scores. If so, the workbench's allocation follows
        them more closely.
    interval : {"default", "short", "guaranteed", "wilson", "wald"}, default "default"
        Interval that you will report, as in `stratified_interval`.
    level : float, default 0.95
        Confidence level of the interval, between 0 and 1.
    assurance : float, default 0.8
        Probability of reaching the half-width, at least 0.5 and below 1.
    rng : int, default 0
        Seed that orders equal scores when strata are cut.

    Returns
    -------
    LabelPrices
        Two numbers of labels for each half-width: on average, and with the assurance.

    Raises
    ------
    ValueError
        If the scores are margins, or a half-width is outside its domain.

    See Also
    --------
    plan_budget : Find the number of labels for known strata and expected accuracies.
    accuracy_audit : Plan, simulate or analyze an accuracy audit.

    Examples
    --------
    >>> import workbench as wb
    >>> label_prices(wb.digit_forms().items(), .05)     # doctest: +NORMALIZE_WHITESPACE
    LabelPrices(If the scores are calibrated, a half-width of 5 points needs 58 labels for half of
    samples and 71 for 80% of samples (95% default interval, default plan))
    """
    checks.instance("items", items, ScoredItems)
    checks.choice("interval", interval, intervals.METHODS)
    checks.choice("stratifier", stratifier, STRATIFIERS)
    checks.choice("allocation", allocation, (AUTO, *rules.METHODS))
    if allocation in rules.NEED_SD:
        raise checks.WrongValue(
            "half_width",
            "plans for allocation 'auto', 'proportional' or 'equal', whose interval "
            f"follows from the scores; got {allocation!r}",
        )
    if items.score_is != "confidence":
        reason = "margins are not" if items.score_is == "margin" else "there are none"
        raise checks.WrongValue(
            "half_width",
            f"needs scores that are probabilities; {reason}: give {{0}}",
            others=("budget",),
        )
    if allocation == AUTO != n_strata:
        allocation = "proportional"
    trust_scores = check_trusted(trust_scores, allocation == AUTO, items)
    if n_strata == AUTO and interval == "wald":
        raise checks.WrongValue(
            "interval",
            "'wald' is planned by a formula, which needs the number of strata: give {0}",
            others=("n_strata",),
        )
    widths = checks.vector("half_widths", np.atleast_1d(checks.floats("half_widths", half_widths)))
    for width in widths.tolist():
        checks.number("half_width", width, 0, 0.5, open_ends=True)
    assurance = checks.assurance(assurance)
    level = checks.level(level)
    favored = allocation == AUTO and favors(items)
    rule = "voila" if favored else allocation.replace(AUTO, "proportional")
    share = KEPT[trust_scores] if favored else 0.0

    @functools.cache
    def design(least: int, n_strata: int) -> accuracy.LabelDesign:
        strata = strata_of(items, n_strata, stratifier, rng=rng)
        mean_score = np.bincount(strata.labels, items.score) / strata.sizes
        rate = mean_score.clip(0, 1)
        sd = doubt(items, strata)
        return accuracy.LabelDesign(
            strata.sizes,
            rate,
            rule,
            level,
            least=least,
            sd=sd,
            rounded=np.ceil,
        )

    def reaches(
        half_width: float,
        least: int,
        most: int,
        n_strata: int,
    ) -> bool:
        plan = design(least, n_strata)
        if most < plan.fewest or plan.expected(most, share, "default")[0] > TWICE * half_width:
            return False
        return plan.expected(most, share, interval)[0] <= half_width

    def labels(half_width: float) -> tuple[int, int]:
        first, *smaller = reversed(list(regimes(items, n_strata)))
        reaching = itertools.takewhile(lambda budgets: reaches(half_width, *budgets), smaller)
        least, most, strata = [first, *reaching][-1]
        plan = design(least, strata)
        return _labels(plan, most, share, half_width, interval, assurance)

    budgets = [labels(width) for width in np.maximum(widths, FINEST).tolist()]
    labeled, assured = np.transpose(budgets)
    return LabelPrices(widths, labeled, assured, assurance, allocation, interval, level)


def _labels(
    design: accuracy.LabelDesign,
    most: int,
    share: float,
    half_width: float,
    interval: str,
    assurance: float,
) -> tuple:
    """Return the smallest budgets of a half-width, on average and with the assurance."""
    if interval == "wald":
        plan = accuracy.plan_budget(
            design.size,
            design.rate,
            half_width,
            method=design.method,
            interval=interval,
            level=design.level,
            assurance=assurance,
        )
        return plan.budget, plan.assured
    least = accuracy.least_budget(design, share, half_width, interval, most)
    expected = design.expected(least, share, interval)[0]
    assured = design.assured(least, share, assurance, half_width, expected)
    return design.spent(least, share, interval), assured
