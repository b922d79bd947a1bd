"""The design of an audit session: strata, the order of labeling, and hashes to check both.

Within a stratum, items are labeled in the order of `workbench.labeling.draws`. Strata take turns as
in `labeling_order`, within each wave if the audit has waves. An item gets double annotation if the
key of "second:id", divided by 2^60, is below `second_share`.

`new_design` makes a design, and `refuse_senseless` checks one that was read from a file.
"""

import functools
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from workbench import checks
from workbench.audits.questions import (
    QUESTIONS,
    AuditDesign,
    Frame,
    Question,
    audited_class,
    question_of,
    refuse_shown,
    verdict_columns,
)
from workbench.data import numbers
from workbench.data.judged_items import WHICH
from workbench.data.scored_items import ScoredItems
from workbench.extras.sessions.store import SessionError, StoredItem, digest_of_rows
from workbench.labeling import draws
from workbench.labeling import ids as sheet_ids
from workbench.labeling.answers import ANSWERS, class_texts
from workbench.labeling.plans import item_digest
from workbench.labeling.sheets import check_columns
from workbench.results import Note
from workbench.results import plain as json_value
from workbench.stratified.default_plan import AUTO, STRATA, check_trusted
from workbench.stratified.sequential import ROUNDS, labeling_order
from workbench.stratified.strata import STRATIFIERS
from workbench.stratified.waves import next_wave, wave_totals

NAMES = ("accuracy", "class_metrics", "difference")
MOST_LOOKS = 10
OF_WAVES = Note(
    "remark",
    "in simulations, the error of an audit in waves was .91 to 1.07 times that of proportional "
    "allocation, and up to 1.25 times if the scores are misleading. Its interval was .99 to 1.40 "
    "times as wide",
)
KEPT, KEPT_PER_LABEL = 5000, 10
_PLAIN_NAME = re.compile(r"(?![=+\-@'\s])[^\",;|]+")
OWN_COLUMNS = {"id", "position", "stratum", "prediction", *ANSWERS}


def question_in(design: Mapping[str, Any]) -> Question:
    """Return the question of a design."""
    return question_of(design["question"], design["asks"])


def frame_of(items: ScoredItems, design: Mapping[str, Any]) -> Frame:
    """Return the items to label, the strata and the allocation of a design."""
    audit = AuditDesign(
        design["question"],
        design["metrics_of"] or "",
        design["n_strata"],
        design["stratifier"],
        AUTO if design["n_strata"] == AUTO else "proportional",
        design.get("trust_scores", False),
        design["seed"],
        design["asks"],
    )
    frame = audit.frame(items, design["budget"])
    return replace(frame, notes=[OF_WAVES]) if design.get("waves") else frame


def next_labels(design: Mapping[str, Any], labeled: np.ndarray, correct: np.ndarray) -> np.ndarray:
    """Return the labels per stratum of the next wave, (H,)."""
    size, waves, prior = design["stratum_size"], design["waves"], design["prior"]
    wave = int(np.searchsorted(np.cumsum(waves), labeled.sum(), side="right"))
    return next_wave(size, labeled, correct, waves[wave], stratum_score=prior).labeled


def turns_of(frame: Frame, design: Mapping[str, Any], n: int) -> np.ndarray:
    """Return the stratum of each of the first n items that the file keeps.

    With waves, these are the first wave, and then the items that later waves may sample.
    """
    waves = design.get("waves")
    if not waves:
        return frame.turns(n)
    size = frame.strata.sizes
    first = next_labels(design, np.zeros_like(size), np.zeros_like(size))
    later = np.minimum(size - first, sum(waves[1:]))
    turns = labeling_order(first, waves[0]), np.repeat(np.arange(size.size), later)
    return np.concatenate(turns)[:n]


def kept_items(frame: Frame, design: Mapping[str, Any], budget: int) -> int:
    """Return the number of items that the file keeps, for later waves and extensions."""
    size = frame.items.size
    if design.get("waves"):
        return turns_of(frame, design, len(design["waves"]) * size).size
    return min(max(KEPT, KEPT_PER_LABEL * budget), size)


def order_of_labeling(frame: Frame, design: Mapping[str, Any], n: int) -> np.ndarray:
    """Return the positions of the first n items in the order of labeling."""
    return frame.order(turns_of(frame, design, n), design["seed"])


def doubled(ids: Sequence[str], seed: int, share: float) -> np.ndarray:
    """Return for each item whether it gets double annotation."""
    return draws.random_keys(ids, f"{seed}:second") < share * 2.0**draws.KEY_BITS


def new_design(
    items: ScoredItems,
    *,
    budget: int,
    question: str,
    other: ArrayLike | None,
    metrics_of: Any,
    n_strata: int | str,
    stratifier: str,
    trust_scores: bool,
    expected: float | None,
    looks: Any,
    second_share: float,
    asks: str,
    columns: Mapping[str, ArrayLike] | None,
    level: float,
    seed: int,
    waves: int,
    source: Mapping[str, Any],
) -> tuple[dict, list[StoredItem]]:
    """Return the design of a new audit as a dict of plain values, and the items to keep."""
    items = with_rival(checks.instance("items", items, ScoredItems), question, other)
    checks.choice("asks", asks, ANSWERS)
    design: dict[str, Any] = {
        "question": checks.choice("question", question, NAMES),
        "asks": asks,
        "level": checks.level(level),
        "budget": budget,
        "seed": checks.seed("seed", seed),
        "stratifier": checks.choice("stratifier", stratifier, STRATIFIERS),
        "metrics_of": None,
        "expected": None,
        "second_share": checks.number("second_share", second_share, 0, 1),
        "source": dict(source),
    }
    if expected is not None:
        design["expected"] = checks.number("expected", expected, 0, 1)
    is_accuracy = QUESTIONS[question].is_accuracy
    waves = checks.whole("waves", waves, 1)
    automatic = n_strata == AUTO and is_accuracy and waves == 1
    if automatic:
        checks.whole("budget", budget, min(ROUNDS, items.size), items.size)
    elif n_strata == AUTO:
        n_strata = STRATA
    design["n_strata"] = AUTO if automatic else checks.whole("n_strata", n_strata, 1)
    design["trust_scores"] = check_trusted(trust_scores, automatic, items)
    if second_share and not is_accuracy:
        raise checks.WrongValue(
            "second_share",
            "must be 0 for this question, because double annotation corrects an accuracy only",
            second_share,
        )
    if question == "class_metrics":
        design["metrics_of"] = _class_for(items, metrics_of, asks)
    elif metrics_of not in (None, ""):
        raise checks.WrongValue("metrics_of", "is for the metrics of a class only", metrics_of)
    _refuse_answers(asks, question, items)
    shown_columns = _shown_columns(columns, items)
    refuse_shown(shown_columns, verdict_columns(source))
    if waves > 1:
        _refuse_with_waves(waves, is_accuracy, second_share, looks)
    frame = frame_of(items, design)
    sizes = frame.strata.sizes
    least = waves * int(np.minimum(ROUNDS, sizes).sum())
    budget = checks.whole("budget", budget, least, frame.items.size)
    prior = None
    if waves > 1:
        design |= {"waves": wave_totals(budget, waves).tolist(), "expected": None}
        if items.score_is == "confidence":
            prior = np.bincount(frame.strata.labels, items.score) / sizes
    labels = [column for column in (items.prediction, items.rival) if column is not None]
    design |= {"budget": budget, "looks": _declared(looks, budget), "items": items.size}
    design |= {
        "stratum_size": sizes.tolist(),
        "agreeing": items.size - frame.items.size,
        "columns": list(shown_columns),
        "share": json_value(frame.share),
        "predicted": None,
        "prior": json_value(prior),
        "classes": np.unique(np.concatenate(labels)).tolist() if labels else None,
        "scores": item_digest(items),
    }
    design |= question_in(design).details(items, design, frame.strata)
    rows = stored_rows(frame, items, design, shown_columns, kept_items(frame, design, budget))
    return design | {"kept": len(rows), "rows": digest_of_rows(rows)}, rows


def _refuse_answers(asks: str, question: str, items: ScoredItems) -> None:
    """Raise an error if annotators cannot be asked this."""
    if question == "difference" and asks == "correct":
        raise checks.WrongValue(
            "asks",
            "must be 'truth' for a difference, or 'which' with a judge, because a label of one "
            "model's prediction as incorrect does not show whether the other's is correct",
        )
    if question != "difference" and asks == "which":
        raise checks.WrongValue("asks", "can be 'which' only for two models with a judge", asks)
    if question != "difference" and asks == "truth" and items.prediction is None:
        raise checks.WrongValue(
            "asks",
            "must be 'correct' for items without predictions, because a true class could not be "
            "compared with anything",
        )


def is_count(value: Any, least: int = 0, most: float = checks.LARGEST) -> bool:
    """Return whether a value of a file is a whole number in a range; True and 1.0 are not."""
    return type(value) is int and least <= value <= most


def is_number(value: Any, least: float = -checks.LARGEST, most: float = checks.LARGEST) -> bool:
    """Return whether a value of a file is a finite number in a range."""
    return type(value) in (int, float) and least <= value <= most


def is_text(value: Any) -> bool:
    """Return whether a value of a file is a text."""
    return isinstance(value, str)


def is_bool(value: Any) -> bool:
    """Return whether a value of a file is True or False."""
    return isinstance(value, bool)


def _is_class(value: Any) -> bool:
    return is_text(value) or is_bool(value) or is_number(value)


def _is_n_strata(value: Any) -> bool:
    return value == AUTO or _is_positive(value)


_is_positive = functools.partial(is_count, least=1)
_is_proportion = functools.partial(is_number, least=0, most=1)
# the rule of each value of a design, or of each entry of a list; `_agree` compares values
RULES: dict[str, Callable[[Any], bool]] = {
    "question": NAMES.__contains__,
    "asks": ANSWERS.__contains__,
    "level": _is_proportion,
    "seed": functools.partial(is_count, most=10**300),
    "stratifier": is_text,
    "metrics_of": is_text,
    "expected": _is_proportion,
    "second_share": _is_proportion,
    "n_strata": _is_n_strata,
    "stratum_size": _is_positive,
    "agreeing": is_count,
    "budget": _is_positive,
    "kept": _is_positive,
    "waves": _is_positive,
    "columns": is_text,
    "predicted": is_bool,
    "share": is_number,
    "prior": is_number,
    "judged": is_count,
    "classes": _is_class,
    "scores": is_text,
    "rows": is_text,
}
LISTS = {"stratum_size", "waves", "columns", "predicted", "share", "prior", "judged", "classes"}
OPTIONAL = {"metrics_of", "expected", "predicted", "share", "prior", "judged", "classes"}


def _breaks_rule(name: str, value: Any) -> bool:
    if value is None:
        return name not in OPTIONAL
    entries = value if name in LISTS else [value]
    return not isinstance(entries, list) or not all(map(RULES[name], entries))


def refuse_senseless(design: Mapping[str, Any], rows: Sequence[StoredItem]) -> None:
    """Raise an error if a design is not a valid result of `new_design` or items do not fit it.

    A missing entry raises a KeyError.
    """
    design = {"waves": [], "prior": None, "judged": None, **design}
    wrong = [name for name in RULES if _breaks_rule(name, design[name])]
    if wrong or not _agree(design, len(rows)) or not all(_fits(row, design) for row in rows):
        raise ValueError(f"{wrong or 'items'}")


def _agree(design: Mapping[str, Any], rows: int) -> bool:
    """Return whether the values of a design agree with each other."""
    sizes, budget, total = design["stratum_size"], design["budget"], sum(design["stratum_size"])
    of_strata = [design[name] for name in ("predicted", "share", "prior")]
    needed = {*question_in(design).needs}
    if design["asks"] == "truth":
        needed.add("classes")
    numbers_agree = (
        total + design["agreeing"] == design["items"]
        and budget <= min(rows, design["kept"])
        and rows <= total
        and sum(design["waves"]) in (0, budget)
    )
    if not numbers_agree or not 0 < design["level"] < 1:
        return False
    if design["looks"] != _declared(design["looks"], total):
        return False
    if len({*design["columns"]}) < len(design["columns"]):
        return False
    if any(values is not None and len(values) != len(sizes) for values in of_strata):
        return False
    if design["judged"] is not None and len(design["judged"]) != len(WHICH):
        return False
    if design["classes"] is not None and len({type(label) for label in design["classes"]}) != 1:
        return False
    if not all(map(is_text, [*design["source"], *design["source"].values()])):
        return False
    if design["metrics_of"] is not None and "metrics_of" not in needed:
        return False
    return all(design[name] is not None for name in needed)


def _fits(row: StoredItem, design: Mapping[str, Any]) -> bool:
    """Return whether stratum, shown columns and predictions of an item fit a design."""
    question = design["question"]
    needs_prediction = question != "accuracy" or design["asks"] == "truth"
    labels = [row.prediction] * needs_prediction
    if question == "difference":
        labels.append(row.rival)
    if None in labels and design["asks"] != "which":
        return False
    return (
        is_count(row.stratum, 0, len(design["stratum_size"]) - 1)
        and list(row.shown) == sorted(design["columns"])
        and all(map(is_text, row.shown.values()))
    )


def stratum_rows(design: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return number (or label of the judge) and size of each stratum."""
    if design["asks"] == "which":
        pairs = zip(WHICH, design["judged"], strict=True)
        return [{"verdict": verdict, "size": size} for verdict, size in pairs if size]
    return [{"stratum": h, "size": size} for h, size in enumerate(design["stratum_size"], 1)]


def stored_rows(
    frame: Frame,
    items: ScoredItems,
    design: Mapping[str, Any],
    columns: Mapping[str, Sequence[str]],
    n: int,
) -> list[StoredItem]:
    """Return the first n items in the order of labeling, with their shown columns."""
    order = order_of_labeling(frame, design, n)
    ids = draws.id_texts(frame.items, order)
    index = order.tolist()
    if frame.items is not items:
        position_of = sheet_ids.positions(draws.id_texts(items))
        index = [position_of[name] for name in ids]
    prediction, rival = (
        [None] * len(order) if labels is None else class_texts(labels[order]).tolist()
        for labels in (frame.items.prediction, frame.items.rival)
    )
    strata = frame.strata.labels[order].tolist()
    cells_of = [{name: cells[k] for name, cells in columns.items()} for k in index]
    return [*map(StoredItem, ids, strata, prediction, rival, cells_of)]


def _refuse_with_waves(waves: int, is_accuracy: bool, second_share: float, looks: Any) -> None:
    reasons = [
        (not is_accuracy, "for this question; waves estimate an accuracy"),
        (
            len(checks.each("looks", looks)),
            "with planned interim analyses; the interval of waves needs a number of labels that "
            "was fixed beforehand",
        ),
        (
            second_share,
            "with double annotation, which needs an allocation to strata that was fixed beforehand",
        ),
    ]
    for applies, reason in reasons:
        if applies:
            raise checks.WrongValue("waves", f"must be 1 {reason}", waves)


def with_rival(items: ScoredItems, question: str, other: ArrayLike | None) -> ScoredItems:
    """Return items with the second model's predictions."""
    if other is None:
        return items
    if question != "difference":
        raise ValueError(
            "other holds a second model's predictions; use it with question='difference'"
        )
    other = checks.labels("other", other, size=items.size)
    if items.prediction is None or (items.prediction.dtype.kind == "U") != (
        other.dtype.kind == "U"
    ):
        raise checks.WrongValue(
            "other", "must have the same type as the predictions of items, text or numbers"
        )
    return replace(items, rival=other)


def same_scores(
    items: ScoredItems, design: Mapping[str, Any], other: ArrayLike | None = None
) -> ScoredItems:
    """Return items if they are those of a session, or raise an error."""
    items = with_rival(checks.instance("items", items, ScoredItems), design["question"], other)
    if item_digest(items) != design["scores"]:
        raise SessionError(
            "these are not the scores that the audit was made from; identifiers, scores, "
            "predictions or their order differ"
        )
    return items


def shown_of(
    items: ScoredItems, design: Mapping[str, Any], columns: Mapping[str, ArrayLike] | None
) -> dict:
    """Return the shown columns of a session from the items and the given columns."""
    shown_columns = _shown_columns(columns, items)
    if list(shown_columns) != design["columns"]:
        raise checks.WrongValue(
            "columns",
            f"must be the columns that the audit shows, {checks.listed(design['columns'])}; "
            f"got {checks.listed(shown_columns) or 'none'}",
        )
    return shown_columns


def _class_for(items: ScoredItems, metrics_of: str, asks: str) -> str:
    texts = [] if items.prediction is None else np.unique(class_texts(items.prediction)).tolist()
    if metrics_of in (None, "") and set(texts) <= {"-1", "0", "1"} and "1" in texts:
        metrics_of = "1"
    elif metrics_of in (None, ""):
        raise checks.WrongValue(
            "metrics_of",
            "must name a predicted class for question='class_metrics': "
            f"{checks.listed(texts, quoted=True) or 'there are no predictions'}",
        )
    name, least = audited_class(items, metrics_of)
    if least == "truth" and asks == "correct":
        raise checks.WrongValue(
            "asks",
            f"must be 'truth' for the metrics of class {name!r}, because more than two classes are "
            "predicted; 'incorrect' would not show whether an item is of this class",
        )
    return name


def _shown_columns(columns: Any, items: Any) -> dict:
    texts = {}
    for name, values in (columns or {}).items():
        harmless = isinstance(name, str) and name.isprintable() and _PLAIN_NAME.fullmatch(name)
        if not harmless or name.casefold() in OWN_COLUMNS:
            raise checks.WrongValue(
                "columns",
                "must have names without quotes and delimiters that a spreadsheet does not "
                f"execute, different from {checks.listed(sorted(OWN_COLUMNS))}",
                name,
            )
        check_columns({name: values}, items.size)
        texts[name] = numbers.as_text(values)
    return texts


def _declared(looks: list | tuple, budget: int) -> list:
    looks = [checks.whole("looks", n, 1, budget) for n in checks.each("looks", looks)]
    if looks != sorted(set(looks)) or len(looks) > MOST_LOOKS:
        raise checks.WrongValue(
            "looks",
            f"must be at most {MOST_LOOKS} increasing numbers of labels; got "
            f"{checks.listed(looks, 20)}",
        )
    return looks
