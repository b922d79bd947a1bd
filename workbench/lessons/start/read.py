"""The forms of the course, read by one of its two programs."""

from workbench.course import digit_forms
from workbench.course.digit_forms import DigitForms
from workbench.data.scored_items import ScoredItems


def read(*, reader: str = "b") -> tuple[DigitForms, ScoredItems]:
    """Return the digit forms and their items as a program reads them.

    Parameters
    ----------
    reader : {"a", "b"}
        Ten average images, or the five nearest neighbors.

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
    forms = digit_forms.digit_forms()
    return forms, forms.items(reader)
