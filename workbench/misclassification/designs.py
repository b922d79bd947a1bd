"""Sampling designs of audits, and the estimators that each design allows.

Read `Design` first, then `read_design`. The margins of the audit's table show how it was sampled:

- A random sample has the predicted proportions of the items from which it was sampled, up to
  chance.
- A sample by the truth has numbers of true items that somebody chose, such as 50 and 50, and other
  predicted proportions.
- A sample by the prediction has chosen numbers of predicted items.

Method "misclassification" is valid for random samples and for samples by the truth. A random sample
that is taken for a sample by the truth therefore loses precision, but stays valid.
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
WITHOUT_AUDIT = "classify_and_count"  # every design allows it
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
SMALLEST_ROUND, MANY = 5, 4  # 4 classes are all multiples of 5 by chance in 1 of 600 audits
NO_WEIGHTS = (
    "must not be 'prediction' for an audit with sampling weights. Leave the weights out: the "
    "counts of the predicted classes serve as weights"
)
ADJECTIVES = {TRUTH: "true", PREDICTION: "predicted"}
# Of random samples of 50 to 300 items, less than 1% have chosen margins and a misfit below these
# p-values. `tests/misclassification/test_designs.py` simulates them.
TRUTH_MISFIT, BENIGN_MISFIT, PREDICTION_MISFIT = 0.05, 0.2, 0.01
REMEDY = (
    "Use sampled_by='truth' (--sampled-by truth) if items were chosen by their true class, here or "
    "elsewhere, 'prediction' if they were chosen by their predicted class, or 'random'"
)


@dataclass(frozen=True)
class Design:
    """The assumed sampling design of an audit, and the method that follows from it.

    Attributes
    ----------
    sampled_by : {"random", "truth", "prediction"}
    method : str
        Name of a method that the design allows, a key of `methods.METHODS`.
    frame : (K,) array of int or None
        Counts of the items from which the audit was sampled, if the design uses them.
    notes : tuple of Note
        Decisions that the margins led to.
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
    """Return the sampling design of an audit of the counted items, and notes on it.

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
    """Raise unless the method, the rates and the design are among the options."""
    if method != AUTO:
        choice("method", method, METHODS)
    choice("rates", rates, RATES)
    choice("sampled_by", sampled_by, DESIGNS)


def design_of_several(audits: Sequence[ConfusionCounts], sampled_by: str) -> tuple[str, Notes]:
    """Return the design of the audits of several periods, and a note on it.

    Audits that all have equal or round numbers of true items count as sampled by the truth.
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
        f"method {method!r} needs a random audit; an audit sampled by {design} allows the methods "
        f"{listed(allowed, quoted=True)}"
    )


def _refuse_method(design: str, method: str, notes: Notes = ()) -> None:
    """Raise if the design does not allow the method; `notes` explain how it was decided."""
    problem = why_not_allowed(design, method)
    if problem and notes:
        raise WrongValue("sampled_by", f"must be given: {problem}. The audit is {notes[0].text}")
    if problem:
        raise WrongValue("method", f"must fit how the audit was sampled: {problem}")


def _design_of_margins(
    audit: ConfusionCounts, frame: ndarray | None, method: str
) -> tuple[str, Notes]:
    """Return the design that the margins of the audit show, and a note on it.

    The page on the method of class proportions has the table of decisions.
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
            "must be given, because the audit is unlikely to be a random sample of the counts at "
            f"audit time: {misfit(audit, frame)}. {REMEDY}. Or check whether the counts are of "
            "another period, or classes are swapped",
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
        f"one with exactly {items:,} items of every {ADJECTIVES[design]} class. If they were "
        f"chosen so, method {method!r} is wrong: use sampled_by={design!r}"
    )
    return RANDOM, (Note("assumption", text, PLACE),)


def _margins(audit: ConfusionCounts, design: str) -> ndarray:
    """Return the numbers of audited items by true class, or by predicted class."""
    return audit.table.sum(1 if design == TRUTH else 0)


def _neatness(audit: ConfusionCounts, design: str, frame: ndarray | None = None) -> int:
    """Return whether the margins are equal or round, as if chosen: EQUAL, ROUND or 0.

    Classes that are never predicted are ignored.
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
    """Return the note on the assumed design, its reason, and how to change it."""
    basis = TRUTH if design == RANDOM else design
    why = ""
    if _neatness(audit, basis, frame):
        pairs = zip(_margins(audit, basis), audit.labels, strict=True)
        numbers = listed(f"{items:,} {label}" for items, label in pairs)
        why = f", because its {ADJECTIVES[basis]} classes have {numbers} items"
    if frame is not None:
        why += f"; {misfit(audit, frame)}"
    if design == RANDOM:
        text = (
            f"assumed to be a random sample of the counts at audit time{why}. If its items were "
            "chosen by their true class, use sampled_by='truth' (--sampled-by truth)"
        )
    else:
        text = (
            f"assumed to be sampled by {design}{why}. If it was sampled at random, use "
            "sampled_by='random' (--sampled-by random)"
        )
    return Note("assumption", text, PLACE)
