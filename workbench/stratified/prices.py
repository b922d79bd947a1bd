"""What a half-width costs: labels against the precision of an accuracy, from scores alone."""

import functools
import itertools
from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike

from workbench import checks, intervals
from workbench.allocation import rules
from workbench.data.scored_items import ScoredItems
from workbench.results import Result, html_table, percent, rows_of
from workbench.stratified import accuracy
from workbench.stratified.default_plan import AUTO, KEPT, check_trusted, doubt, favors, regimes
from workbench.stratified.strata import STRATIFIERS, Strata, strata_of

FINEST = 1e-9  # a half-width for which all items are labeled, whatever their number
HALF_WIDTHS = (0.01, 0.02, 0.03, 0.05, 0.1)
TWICE = 2  # no interval that is reported is half as wide as the default
Plan = tuple[accuracy.LabelDesign, int, float]


class LabelPrices(Result):
    """Labels against half-widths of the accuracy's interval; made by `label_prices`.

    Attributes
    ----------
    half_width : (E,) array of float
        Wanted.
    labeled : (E,) array of int
        Labels in total that have it on average: about half of samples do better.
    assured : (E,) array of int
        Labels in total with which a share `assurance` of samples has it.
    assurance : float
    allocation, interval_method : str
    level : float
    """

    half_width: np.ndarray
    labeled: np.ndarray
    assured: np.ndarray
    assurance: float
    allocation: str
    interval_method: str
    level: float

    def headline(self) -> str:
        """Return what the first and the last half-width cost."""
        ends = dict.fromkeys([0, self.half_width.size - 1])
        wordings = (
            f"±{{}} on average with {{}}, in about half of samples, and in "
            f"{accuracy.share_words(self.assurance)} with {{:,}}",
            "±{} with {} and {:,}",
        )
        said = "; ".join(
            words.format(
                _points(self.half_width[k]),
                checks.counted(self.labeled[k], "label"),
                self.assured[k],
            )
            for words, k in zip(wordings, ends, strict=False)
        )
        rule = "default plan" if self.allocation == AUTO else self.allocation
        return f"If the scores are honest, {said} ({percent(self.level)} {self.interval_method} interval, {rule})"

    def rows(self) -> list[dict]:
        """Return one row per half-width: how many labels it takes on average, and assured."""
        return rows_of(half_width=self.half_width, labeled=self.labeled, assured=self.assured)

    def _repr_html_(self) -> str:
        return html_table(
            [
                {
                    "half_width": f"±{_points(row['half_width'])}",
                    "labels, on average": f"{row['labeled']:,}",
                    f"labels, in {accuracy.share_words(self.assurance)} samples": f"{row['assured']:,}",
                }
                for row in self.rows()
            ],
            self.headline(),
        )


def _points(half_width: float) -> str:
    return f"{100 * half_width:.3g} point" + ("" if round(100 * half_width, 9) == 1 else "s")


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
    """Return how many labels each half-width of the accuracy's interval takes, if the scores are honest.

    Parameters
    ----------
    items : ScoredItems
        Whose scores are probabilities of being right.
    half_widths : (E,) array_like of float
        In (0, 0.5); .02 is two points.
    n_strata, stratifier
        As in `workbench.accuracy_audit`.
    allocation : {"auto", "proportional", "equal"}
    trust_scores, interval, level
        As in `workbench.accuracy_audit`.
    assurance : float
        Share of samples that are to have the half-width, in [.5, 1); .5 is on average.
    rng : int
        As in `workbench.accuracy_audit`.

    Returns
    -------
    LabelPrices
        By `workbench.plan_budget`, with the mean score of a stratum as its expected accuracy.

    Raises
    ------
    ValueError
        If the scores are margins, or a half-width is outside (0, 0.5).

    Examples
    --------
    >>> import workbench as wb
    >>> label_prices(wb.digit_forms().items(), .05)     # doctest: +NORMALIZE_WHITESPACE
    LabelPrices(If the scores are honest, ±5 points on average with 58 labels, in about half of samples, and in 4 of 5
    with 71 (95% default interval, default plan))
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
        given = "margins are none" if items.score_is == "margin" else "there are none"
        raise checks.WrongValue(
            "half_width",
            f"needs scores that are probabilities; {given}: give {{0}}",
            others=("budget",),
        )
    allocation = "proportional" if allocation == AUTO != n_strata else allocation
    trust_scores = check_trusted(trust_scores, allocation == AUTO, items)
    if n_strata == AUTO and interval == "wald":
        raise checks.WrongValue(
            "interval",
            "'wald' is planned for by a formula, for strata that are named: name {0}",
            others=("n_strata",),
        )
    widths = checks.vector(
        "half_widths", np.atleast_1d(checks.floats("half_widths", half_widths))
    ).tolist()
    widths = [
        max(checks.number("half_width", width, 0, 0.5, open_ends=True), FINEST) for width in widths
    ]
    assurance = checks.assurance(assurance)
    ranges = list(regimes(items, n_strata))[::-1]

    @functools.cache
    def plan(first: int, last: int, wanted: int) -> Plan:
        return _plan(
            items,
            strata_of(items, wanted, stratifier, rng=rng),
            first,
            last,
            allocation,
            trust_scores,
            level,
        )

    found = np.array(
        [_labels(itertools.starmap(plan, ranges), width, interval, assurance) for width in widths]
    )
    return LabelPrices(
        np.array(widths), found[:, 0], found[:, 1], assurance, allocation, interval, float(level)
    )


def _plan(
    items: ScoredItems,
    strata: Strata,
    first: int,
    last: int,
    allocation: str,
    trust_scores: bool,
    level: float,
) -> Plan:
    """Return the design of a range of budgets, its last one, and what share of the labels stays in proportion."""
    rate = np.clip(np.bincount(strata.labels, items.score) / strata.sizes, 0, 1)
    favored = allocation == AUTO and favors(items)
    rule = "voila" if favored else "proportional" if allocation == AUTO else allocation
    design = accuracy.LabelDesign(
        strata.sizes,
        rate,
        rule,
        checks.level(level),
        least=first,
        sd=doubt(items, strata),
        rounded=np.ceil,
    )
    return design, last, KEPT[trust_scores] if favored else 1.0


def _labels(
    plans: Iterator[Plan], half_width: float, interval: str, assurance: float
) -> tuple[int, int]:
    """Return the least budgets of a half-width, on average and assured; the plan of most labels comes first."""
    first = next(plans)
    if interval == "wald":
        design = first[0]
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
    reaching = itertools.takewhile(lambda plan: _reaches(*plan, half_width, interval), plans)
    *_, (design, last, share) = first, *reaching
    least = accuracy.least_budget(design, share, half_width, interval, last)
    expected, labels = (
        design.expected(least, share, interval)[0],
        design.spent(least, share, interval),
    )
    return labels, design.assured(
        least, share, assurance, half_width / expected
    ) if expected else labels


def _reaches(
    design: accuracy.LabelDesign, last: int, share: float, half_width: float, interval: str
) -> bool:
    """Return whether the last budget of a range does; a costly interval is computed only where the default is near."""
    return last >= design.fewest and (
        design.expected(last, share, "default")[0] <= TWICE * half_width
        and design.expected(last, share, interval)[0] <= half_width
    )
