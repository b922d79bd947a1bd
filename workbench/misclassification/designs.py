"""How the items of an audit were sampled, and which estimators each design allows.

Read `Design` first, then `read_design`. The margins of the audit's table say how it was sampled. A
random sample has the predicted shares of the items that it was drawn from, up to chance. A sample
by the truth has the numbers of true items that somebody chose, such as 50 and 50, and other
predicted shares. A sample by the prediction has chosen numbers of predicted items.

Method "misclassification" is right for random samples and for samples by the truth. A random sample
that is taken for one by the truth therefore loses precision, but no correctness.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from workbench import checks
from workbench.misclassification import methods
from workbench.misclassification.confusion import ConfusionCounts, check_counts
from workbench.misclassification.periods import STRANGE, check_audit, check_frame, fit_pvalue
from workbench.results import Note

AUTO, RANDOM, TRUTH, PREDICTION = "auto", "random", "truth", "prediction"
WITHOUT_AUDIT = "classify_and_count"  # every design allows it, so it asks only for the design
DESIGNS = (AUTO, TRUTH, PREDICTION, RANDOM)
METHOD_OF = {RANDOM: "mle", TRUTH: "misclassification", PREDICTION: "calibration"}
PLACE = ("audit", "design")  # of the notes
EQUAL, ROUND = 2, 1
ROUND_NUMBERS = (10, 25)
# Of random samples of 50 to 300 items, less than 1% have chosen margins and a misfit below these p-values.
# `tests/misclassification/test_designs.py` simulates them.
TRUTH_MISFIT, BENIGN_MISFIT, PREDICTION_MISFIT = 0.05, 0.2, 0.01
REMEDY = (
    "say sampled_by='truth' (--sampled-by truth) if known true classes were chosen, here or elsewhere, "
    "'prediction' if the items were chosen by their predicted class, or 'random'"
)


@dataclass(frozen=True)
class Design:
    """What an audit is taken for.

    Attributes
    ----------
    sampled_by : {"random", "truth", "prediction"}
    method : str
        An entry of `methods.METHODS` that the design allows.
    frame : (K,) array of int or None
        The counts of the items that the audit was drawn from, where the design uses them.
    notes : tuple of Note
        What was decided by the margins.
    """

    sampled_by: str
    method: str
    frame: np.ndarray | None
    notes: tuple[Note, ...]


def read_design(
    audit: ConfusionCounts,
    counts_at_audit: ArrayLike | None,
    method: str,
    rates: str,
    sampled_by: str,
) -> Design:
    """Return the design of an audit, or raise where the method, the counts and the design do not fit.

    Parameters
    ----------
    audit : ConfusionCounts
    counts_at_audit : (K,) array_like of int or None
    method : str
        "auto" for the method of the design: "mle", "misclassification" or "calibration".
    rates : {"process", "frame"}
    sampled_by : {"auto", "truth", "prediction", "random"}
    """
    check_choices(method, rates, sampled_by)
    if AUTO not in (method, sampled_by):
        _refuse_method(sampled_by, method, sampled_by, ())
    check_audit(audit, counts_at_audit, WITHOUT_AUDIT if method == AUTO else method)
    frame = None
    weighted = isinstance(audit, ConfusionCounts) and audit.weighted is not None
    if (
        weighted
    ):  # the margins show the weights, and only the rates P(prediction | truth) are weighted
        sampled_by = RANDOM if sampled_by == AUTO else sampled_by
        method = METHOD_OF[TRUTH] if method == AUTO else method
    elif counts_at_audit is not None:
        frame = check_counts("counts_at_audit", counts_at_audit, audit.labels)
    notes: tuple[Note, ...] = ()
    design = sampled_by
    if sampled_by == AUTO:
        design, notes = _design_of_margins(audit, frame, method)
    chosen = METHOD_OF[design] if method == AUTO else method
    _refuse_method(design, chosen, sampled_by, notes)
    if design == TRUTH:
        frame = None
    elif frame is not None:
        check_frame(frame, audit)
    check_audit(audit, frame, chosen)
    return Design(design, chosen, frame, notes)


def check_choices(method: str, rates: str, sampled_by: str) -> None:
    """Raise unless the method, the rates and the design are among those that there are."""
    if method != AUTO:
        checks.choice("method", method, methods.METHODS)
    checks.choice("rates", rates, methods.RATES)
    checks.choice("sampled_by", sampled_by, DESIGNS)


def design_of_several(
    audits: Sequence[ConfusionCounts], sampled_by: str
) -> tuple[str, tuple[Note, ...]]:
    """Return the design of the audits of several periods, and what to say of it.

    Those of which every one has equal or round numbers of true items were sampled by the truth.
    """
    if sampled_by == PREDICTION:
        raise checks.WrongValue(
            "sampled_by", "must be 'random' or 'truth' for audits of several periods", sampled_by
        )
    if sampled_by != AUTO:
        return sampled_by, ()
    chosen = [_neatness(audit.table.sum(1)) > _neatness(audit.table.sum(0)) for audit in audits]
    if len(audits) < 2 or not all(chosen) or any(audit.weighted is not None for audit in audits):
        return RANDOM, ()
    return TRUTH, (_taken(TRUTH, audits[0], None),)


def why_not_allowed(design: str, method: str) -> str:
    """Return why a design does not allow a method, or ''."""
    if design in methods.METHODS[method].designs:
        return ""
    allowed = [name for name, entry in methods.METHODS.items() if design in entry.designs]
    return (
        f"method {method!r} needs a random audit; one sampled by {design} allows "
        f"{checks.listed(allowed, quoted=True)}"
    )


def _refuse_method(design: str, method: str, sampled_by: str, notes: tuple[Note, ...]) -> None:
    problem = why_not_allowed(design, method)
    if not problem:
        return
    if sampled_by != AUTO:
        raise checks.WrongValue("method", f"must fit how the audit was sampled: {problem}")
    seen = notes[0].text
    raise checks.WrongValue("sampled_by", f"must be given: {problem}; {seen}")


def _design_of_margins(
    audit: ConfusionCounts, frame: np.ndarray | None, method: str
) -> tuple[str, tuple[Note, ...]]:
    """Return the design that the margins of the audit show, and what to say of it.

    The page on the method of shares has the table of decisions.
    """
    truth, prediction = (_neatness(audit.table.sum(axis)) for axis in (1, 0))
    if frame is None:
        return _design_without_counts(audit, truth, prediction, method)
    contained = bool((audit.table.sum(0) <= frame).all())
    pvalue = fit_pvalue(audit, frame) if contained else 0.0
    benign = method == AUTO and truth == EQUAL
    if truth > prediction and pvalue < (BENIGN_MISFIT if benign else TRUTH_MISFIT):
        return TRUTH, (_taken(TRUTH, audit, frame),)
    if prediction > 0 == truth and contained and pvalue < PREDICTION_MISFIT:
        return PREDICTION, (_taken(PREDICTION, audit, frame),)
    both = prediction >= truth > 0 and pvalue < PREDICTION_MISFIT
    indifferent = method != AUTO and TRUTH in methods.METHODS[method].designs
    if contained and not indifferent and (pvalue < STRANGE or both):
        misfit = _misfit(audit, frame)
        raise checks.WrongValue(
            "sampled_by",
            f"must be given, as the audit can hardly be a random sample of the counts at audit time: "
            f"{misfit}; {REMEDY}; or the counts are of another period, or classes are swapped",
        )
    if STRANGE <= pvalue < PREDICTION_MISFIT or truth == EQUAL > prediction:
        return RANDOM, (_taken(RANDOM, audit, frame),)
    if pvalue < TRUTH_MISFIT:  # 1 random audit in 20, so a note is enough
        return RANDOM, (Note("assumption", f"the audit is {_taken(RANDOM, audit, frame).text}"),)
    return RANDOM, ()


def _design_without_counts(
    audit: ConfusionCounts, truth: int, prediction: int, method: str
) -> tuple[str, tuple[Note, ...]]:
    if method in (AUTO, WITHOUT_AUDIT):
        if truth > prediction:
            return TRUTH, (_taken(TRUTH, audit, None),)
        return RANDOM, ()
    designs = methods.METHODS[method].designs
    chosen = RANDOM
    if truth == EQUAL > prediction:
        chosen = TRUTH
    elif prediction == EQUAL > truth:
        chosen = PREDICTION
    if chosen in designs:
        return RANDOM, ()
    margins = audit.table.sum(1 if chosen == TRUTH else 0)
    text = (
        f"one with exactly {margins[0]:,} items of every {_adjective(chosen)} class: method {method!r} is "
        f"wrong if they were chosen so (then say sampled_by={chosen!r})"
    )
    return RANDOM, (Note("assumption", text, PLACE),)


def _neatness(margins: np.ndarray) -> int:
    """Return whether margins look chosen: EQUAL, ROUND or 0."""
    if margins.min() == 0:
        return 0
    if (margins == margins[0]).all():
        return EQUAL
    return ROUND if any((margins % number == 0).all() for number in ROUND_NUMBERS) else 0


def _adjective(design: str) -> str:
    return "true" if design == TRUTH else "predicted"


def _taken(design: str, audit: ConfusionCounts, frame: np.ndarray | None) -> Note:
    """Return the note that says what the audit is taken for, why, and how to say otherwise."""
    misfit = "" if frame is None else f"; {_misfit(audit, frame)}"
    if design == RANDOM:
        text = (
            f"taken as a random sample of the counts at audit time{_chosen(TRUTH, audit)}{misfit}: "
            "if its items were chosen by their true class, say sampled_by='truth' "
            "(--sampled-by truth)"
        )
        return Note("assumption", text, PLACE)
    why = f"{_chosen(design, audit)}{misfit}"
    text = (
        f"taken as sampled by {design}{why}; say sampled_by='random' "
        "(--sampled-by random) if it was drawn at random"
    )
    return Note("assumption", text, PLACE)


def _chosen(design: str, audit: ConfusionCounts) -> str:
    """Return the margins that look chosen, in words, or ''."""
    margins = audit.table.sum(1 if design == TRUTH else 0)
    if not _neatness(margins):
        return ""
    numbers = checks.listed(
        [f"{items:,} {label}" for items, label in zip(margins, audit.labels, strict=True)]
    )
    return f", as its {_adjective(design)} classes have {numbers} items"


def _misfit(audit: ConfusionCounts, frame: np.ndarray) -> str:
    """Return the predicted share that differs most between the audit and the counts, in words."""
    audited, counted = audit.table.sum(0) / audit.n, frame / frame.sum()
    k = int(np.abs(audited - counted).argmax())
    return (
        f"{audited[k]:.0%} of it are predicted {audit.labels[k]!r} and {counted[k]:.0%} are counted"
    )
