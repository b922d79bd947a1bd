"""The forms of the course, read by one of its two programs."""

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
        Ten average images, or the five nearest neighbors.
    """

    reader: str = "b"


def read(**parameters: Any) -> tuple[DigitForms, ScoredItems]:
    """Return the digit forms and their items as a program reads them.

    Parameters
    ----------
    **parameters
        Fields of `StartParameters`.

    Returns
    -------
    forms : DigitForms
    items : ScoredItems

    Examples
    --------
    >>> forms, items = read()
    >>> items
    ScoredItems(1,797 items, mean confidence 0.9643, accuracy 0.9616)
    """
    inputs = StartParameters(**parameters)
    forms = digit_forms.digit_forms()
    return forms, forms.items(inputs.reader)
