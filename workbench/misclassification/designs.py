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

from numpy import ndarray
from numpy.typing import ArrayLike

from workbench.checks import WrongValue, choice, instance, listed
from workbench.misclassification.confusion import ConfusionCounts, check_counts
from workbench.misclassification.doubts import misfit
from workbench.misclassification.methods import METHODS, RATES
from workbench.misclassification.periods import STRANGE, check_audit, check_frame, fit_pvalue
from workbench.results import Note

AUTO, RANDOM, TRUTH, PREDICTION = "auto", "random", "truth", "prediction"
WITHOUT_AUDIT = "classify_and_count"  # every design allows it, so it asks only for the design
DESIGNS = (
    AUTO,
    TRUTH,
    PREDICTION,
    RANDOM,
)
METHOD_OF = {RANDOM: "mle", TRUTH: "misclassification", PREDICTION: "calibration"}
PLACE = ("audit", "design")  # of the notes
EQUAL, ROUND = 2, 1  # margins of an audit that look chosen
Notes = tuple[Note, ...]
ROUND_NUMBERS = (10, 25)
SMALLEST_ROUND, MANY = 5, 4  # so many classes are multiples of 5 by chance in 1 of 600 audits
NO_WEIGHTS = (
    "must not be 'prediction' for an audit with sampling weights; leave the weights out, as the "
    "counts of the predicted classes are the weights"
)
ADJECTIVES = {TRUTH: "true", PREDICTION: "predicted"}
# Of random samples of 50 to 300 items, less than 1% have chosen margins and a misfit below these
# p-values. `tests/misclassification/test_designs.py` simulates them.
TRUTH_MISFIT, BENIGN_MISFIT, PREDICTION_MISFIT = 0.05, 0.2, 0.01
REMEDY = (
    "say sampled_by='truth' (--sampled-by truth) if known true classes were chosen, here or "
    "elsewhere, 'prediction' if the items were chosen by their predicted class, or 'random'"
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
    frame: ndarray | None
    notes: Notes


def read_design(
    audit: ConfusionCounts,
    counts_at_audit: ArrayLike | None,
    method: str,
    rates: str,
    sampled_by: str,
) -> Design:
    """Return the design of an audit, or raise if method, counts and design do not fit.

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
    instance("audit", audit, ConfusionCounts)
    if audit.weighted is not None and sampled_by == PREDICTION:
        raise WrongValue("sampled_by", NO_WEIGHTS)
    if AUTO not in (method, sampled_by):
        _refuse_method(sampled_by, method)
    if method != AUTO:
        check_audit(audit, counts_at_audit, method)
    notes: Notes = ()
    frame = None
    design = sampled_by
    # the margins of weighted audits show the weights, and only P(prediction | truth) is weighted
    if audit.weighted is not None:
        design = RANDOM if design == AUTO else design
        method = METHOD_OF[TRUTH] if method == AUTO else method
    elif counts_at_audit is not None:
        frame = check_counts("counts_at_audit", counts_at_audit, audit.labels)
    if design == AUTO:
        design, notes = _design_of_margins(audit, frame, method)
    chosen = METHOD_OF[design] if method == AUTO else method
    _refuse_method(design, chosen, notes)
    if design == TRUTH:
        frame = None
    elif frame is not None:
        check_frame(frame, audit)
    check_audit(audit, frame, chosen)
    return Design(design, chosen, frame, notes)


def read_sampling(audit: ConfusionCounts, counts: ndarray, sampled_by: str) -> tuple[str, Notes]:
    """Return how the items of an audit of the counted items were sampled, and notes on it.

    Parameters
    ----------
    audit : ConfusionCounts
    counts : (K,) array of int
    sampled_by : {"auto", "truth", "prediction", "random"}

    Raises
    ------
    ValueError
        If the margins of the audit do not show the design, or the audited items cannot be among the
        counted ones.
    """
    choice("sampled_by", sampled_by, DESIGNS)
    notes: Notes = ()
    if sampled_by == AUTO:
        sampled_by, notes = _design_of_margins(audit, counts, AUTO)
    if sampled_by != TRUTH:
        check_frame(counts, audit)
    return sampled_by, notes


def check_choices(method: str, rates: str, sampled_by: str) -> None:
    """Raise unless the method, the rates and the design are among those that there are."""
    if method != AUTO:
        choice("method", method, METHODS)
    choice("rates", rates, RATES)
    choice("sampled_by", sampled_by, DESIGNS)


def design_of_several(audits: Sequence[ConfusionCounts], sampled_by: str) -> tuple[str, Notes]:
    """Return the design of the audits of several periods, and a note on it.

    Audits that all have equal or round numbers of true items were sampled by the truth.
    """
    if sampled_by == PREDICTION:
        rule = "must be 'random' or 'truth' for audits of several periods"
        raise WrongValue("sampled_by", rule, sampled_by)
    if sampled_by != AUTO:
        return sampled_by, ()
    chosen = [
        audit.weighted is None and _neatness(audit, TRUTH) > _neatness(audit, PREDICTION)
        for audit in audits
    ]
    if len(audits) < 2 or not all(chosen):
        return RANDOM, ()
    return TRUTH, (_taken(TRUTH, audits[0], None),)


def why_not_allowed(design: str, method: str) -> str:
    """Return the reason why a design does not allow a method, or ''."""
    if design in METHODS[method].designs:
        return ""
    allowed = [name for name, entry in METHODS.items() if design in entry.designs]
    return (
        f"method {method!r} needs a random audit; one sampled by {design} allows "
        f"{listed(allowed, quoted=True)}"
    )


def _refuse_method(design: str, method: str, notes: Notes = ()) -> None:
    """Raise where the design does not allow the method; `notes` say how the design was found."""
    problem = why_not_allowed(design, method)
    if problem and notes:
        raise WrongValue("sampled_by", f"must be given: {problem}; {notes[0].text}")
    if problem:
        raise WrongValue("method", f"must fit how the audit was sampled: {problem}")


def _design_of_margins(
    audit: ConfusionCounts, frame: ndarray | None, method: str
) -> tuple[str, Notes]:
    """Return the design that the margins of the audit show, and a note on it.

    The page on the method of shares has the table of decisions.
    """
    truth = _neatness(audit, TRUTH)
    prediction = _neatness(audit, PREDICTION, frame)
    if frame is None:
        return _design_without_counts(audit, truth, prediction, method)
    contained = (audit.table.sum(0) <= frame).all()
    pvalue = fit_pvalue(audit, frame) if contained else 0.0
    limit = BENIGN_MISFIT if method == AUTO and truth == EQUAL else TRUTH_MISFIT
    if truth > prediction and pvalue < limit:
        return TRUTH, (_taken(TRUTH, audit, frame),)
    unlikely = pvalue < PREDICTION_MISFIT
    if contained and unlikely and prediction > 0 == truth:
        return PREDICTION, (_taken(PREDICTION, audit, frame),)
    doubtful = pvalue < STRANGE or (unlikely and prediction >= truth > 0)
    indifferent = method != AUTO and TRUTH in METHODS[method].designs
    if contained and doubtful and not indifferent:
        raise WrongValue(
            "sampled_by",
            "must be given, as the audit can hardly be a random sample of the counts at audit "
            f"time: {misfit(audit, frame)}; {REMEDY}; or the counts are of another period, or "
            "classes are swapped",
        )
    note = _taken(RANDOM, audit, frame)
    if STRANGE <= pvalue < PREDICTION_MISFIT or truth == EQUAL > prediction:
        return RANDOM, (note,)
    if pvalue < TRUTH_MISFIT:  # 1 random audit in 20, so a note is enough
        return RANDOM, (Note("assumption", f"the audit is {note.text}"),)
    return RANDOM, ()


def _design_without_counts(
    audit: ConfusionCounts,
    truth: int,
    prediction: int,
    method: str,
) -> tuple[str, Notes]:
    if method in (AUTO, WITHOUT_AUDIT):
        if truth > prediction:
            return TRUTH, (_taken(TRUTH, audit, None),)
        return RANDOM, ()
    design = RANDOM
    if EQUAL in (truth, prediction) and truth != prediction:
        design = TRUTH if truth == EQUAL else PREDICTION
    if design in METHODS[method].designs:
        return RANDOM, ()
    items = _margins(audit, design)[0]
    text = (
        f"one with exactly {items:,} items of every {ADJECTIVES[design]} "
        f"class: method {method!r} is wrong if they were chosen so (then say sampled_by={design!r})"
    )
    return RANDOM, (Note("assumption", text, PLACE),)


def _margins(audit: ConfusionCounts, design: str) -> ndarray:
    """Return the numbers of audited items by true class, or by predicted class."""
    return audit.table.sum(1 if design == TRUTH else 0)


def _neatness(audit: ConfusionCounts, design: str, frame: ndarray | None = None) -> int:
    """Return whether the margins look chosen: EQUAL, ROUND or 0.

    Classes that are never predicted do not count.
    """
    margins = _margins(audit, design)
    if design == PREDICTION and frame is not None and (frame > 0).sum() > 1:
        margins = margins[frame > 0]
    if margins.min() == 0:
        return 0
    if (margins == margins[0]).all():
        return EQUAL
    numbers = [*ROUND_NUMBERS]
    if len(margins) >= MANY:
        numbers.append(SMALLEST_ROUND)
    return ROUND if any((margins % number == 0).all() for number in numbers) else 0


def _taken(design: str, audit: ConfusionCounts, frame: ndarray | None) -> Note:
    """Return the note on the design that is assumed, why, and how to say otherwise."""
    basis = TRUTH if design == RANDOM else design
    why = ""
    if _neatness(audit, basis, frame):
        pairs = zip(_margins(audit, basis), audit.labels, strict=True)
        numbers = listed(f"{items:,} {label}" for items, label in pairs)
        why = f", as its {ADJECTIVES[basis]} classes have {numbers} items"
    if frame is not None:
        why += f"; {misfit(audit, frame)}"
    if design == RANDOM:
        text = (
            f"taken as a random sample of the counts at audit time{why}: if its items were chosen "
            "by their true class, say sampled_by='truth' (--sampled-by truth)"
        )
    else:
        text = (
            f"taken as sampled by {design}{why}; say sampled_by='random' (--sampled-by random) if "
            "it was drawn at random"
        )
    return Note("assumption", text, PLACE)
