"""What a half-width costs: labels against the precision of an accuracy, from scores alone."""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from workbench import checks, intervals
from workbench.allocation import rules
from workbench.data.scored_items import ScoredItems
from workbench.results import Result, html_table, percent
from workbench.stratified import accuracy
from workbench.stratified.strata import METHODS as STRATIFIERS
from workbench.stratified.strata import strata_of

HALF_WIDTHS = (0.01, 0.02, 0.03, 0.05, 0.1)


@dataclass(frozen=True, eq=False, repr=False)
class LabelPrices(Result):
    """Labels against half-widths of the accuracy's interval; made by `label_prices`.

    Attributes
    ----------
    half_width : (E,) array of float
        Wanted.
    labeled : (E,) array of int
        Labels in total.
    allocation, interval_method : str
    level : float
    """

    half_width: np.ndarray
    labeled: np.ndarray
    allocation: str
    interval_method: str
    level: float

    def headline(self) -> str:
        """Return what the finest and the coarsest half-width cost."""
        ends = dict.fromkeys([int(self.half_width.argmin()), int(self.half_width.argmax())])
        said = " and ".join(f"{checks.counted(self.labeled[k], 'label')} for ±{_points(self.half_width[k])}"
                            for k in ends)
        return f"If the scores are honest, {said} ({percent(self.level)}, {self.interval_method}, {self.allocation})"

    def rows(self) -> list[dict]:
        """Return one row per half-width: how many labels it takes."""
        return [{"half_width": float(e), "labeled": int(n)} for e, n in zip(self.half_width, self.labeled, strict=True)]

    def _repr_html_(self) -> str:
        return html_table([{"half_width": f"±{_points(row['half_width'])}", "labeled": f"{row['labeled']:,}"}
                           for row in self.rows()], self.headline())


def _points(half_width: float) -> str:
    return f"{100 * half_width:.3g} point" + ("" if round(100 * half_width, 9) == 1 else "s")


def label_prices(items: ScoredItems, half_widths: ArrayLike = HALF_WIDTHS, *, n_strata: int = 5,
                 stratifier: str = "equal_size", allocation: str = "proportional", interval: str = "default",
                 level: float = 0.95, rng: int = 0) -> LabelPrices:
    """Return how many labels each half-width of the accuracy's interval takes, if the scores are honest.

    Parameters
    ----------
    items : ScoredItems
        Whose scores are probabilities of being right.
    half_widths : (E,) array_like of float
        In (0, 0.5); .02 is two points.
    n_strata, stratifier
        As in `workbench.accuracy_audit`.
    allocation : {"proportional", "equal"}
    interval, level, rng
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
    >>> print(label_prices(wb.digit_forms().items(), [.02, .05]).headline())
    If the scores are honest, 261 labels for ±2 points and 59 labels for ±5 points (95%, default, proportional)
    """
    checks.instance("items", items, ScoredItems)
    checks.choice("interval", interval, intervals.METHODS)
    checks.choice("stratifier", stratifier, STRATIFIERS)
    checks.choice("allocation", allocation, rules.METHODS)
    if allocation in rules.NEED_SD:
        raise checks.WrongValue("half_width", "plans for allocation 'proportional' or 'equal', whose interval follows "
                                f"from the scores; got {allocation!r}")
    if items.score_is != "confidence":
        given = "margins are none" if items.score_is == "margin" else "there are none"
        raise checks.WrongValue("half_width", f"needs scores that are probabilities; {given}: give a budget")
    widths = [checks.number("half_width", width, 0, 0.5, open_ends=True)
              for width in np.atleast_1d(np.asarray(half_widths, float)).tolist()]
    strata = strata_of(items, n_strata, stratifier, rng=rng)
    expected = np.clip(np.bincount(strata.labels, items.score) / strata.sizes, 0, 1)
    labeled = [accuracy.plan_budget(strata.sizes, expected, width, method=allocation, interval=interval,
                                    level=level).budget for width in widths]
    return LabelPrices(np.array(widths), np.array(labeled), allocation, interval, float(level))
