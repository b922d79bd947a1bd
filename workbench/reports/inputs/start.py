"""Inputs of the start page: the digit forms of the course, read by one of two programs."""

from dataclasses import dataclass
from typing import Any

from workbench.course import digit_forms
from workbench.course.digit_forms import DigitForms
from workbench.data.scored_items import ScoredItems
from workbench.reports.inputs.parameters import Parameters


@dataclass(frozen=True, kw_only=True)
class StartParameters(Parameters):
    """Parameters of the report, in the order of the notebook's cell.

    Parameters
    ----------
    reader : {"a", "b"}
        "a" compares with ten average images, "b" with the five nearest neighbors.
    """

    reader: str = "b"


def read(**parameters: Any) -> tuple[DigitForms, ScoredItems]:
    """Return the digit forms and their items as read by a program.

    Parameters
    ----------
    **parameters
        Fields of `StartParameters`.

    Returns
    -------
    forms : DigitForms
        The digit forms.
    items : ScoredItems
        Predictions and confidences of the program.

    Examples
    --------
    >>> forms, items = read()
    >>> items
    ScoredItems(1,797 items, mean confidence 0.9643, accuracy 0.9616)
    """
    inputs = StartParameters(**parameters)
    forms = digit_forms.digit_forms()
    return forms, forms.items(inputs.reader)
