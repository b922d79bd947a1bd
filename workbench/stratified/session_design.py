"""The design of an audit session: strata, the order of labeling, and hashes by which both can be checked anywhere.

Within a stratum items are labeled in the order of the first 8 bytes of SHA-256 of "seed:id", in UTF-8; strata follow
each other as in `labeling_order`. An item gets a second label where the same of "seed:second:id", as a fraction of
2^64, is below the share of second labels.
"""
from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from workbench import checks
from workbench.data import numbers
from workbench.data.answers import OTHER, class_texts, named_classes
from workbench.data.scored_items import ScoredItems
from workbench.stratified.class_audit import audited_class, nested_strata
from workbench.stratified.class_metrics import SHARE_OF_PREDICTED
from workbench.stratified.difference_audit import differing_items
from workbench.stratified.sequential import labeling_order
from workbench.stratified.session_store import SessionError, StoredItem, digest_of_rows
from workbench.stratified.strata import METHODS as STRATIFIERS
from workbench.stratified.strata import Strata, refuse_given, strata_of, stratify_part

QUESTIONS = ("accuracy", "class_metrics", "difference")
ASKS = ("correct", "truth")
MOST_LOOKS = 10
KEPT, KEPT_PER_LABEL = 5000, 10
_PLAIN_NAME = re.compile(r"(?![=+\-@'\s])[^\",;|]+")
OWN_COLUMNS = {"id", "position", "stratum", "prediction", *ASKS}


@dataclass(frozen=True)
class Frame:
    """What is labeled, of which strata, and the shares of the labels (None: in proportion).

    `predicted` says which strata hold predicted members of the class; on `agreeing` items two models do not differ.
    """

    items: ScoredItems
    strata: Strata
    share: np.ndarray | None = None
    predicted: np.ndarray | None = None
    agreeing: int = 0


def id_texts(items: ScoredItems) -> list[str]:
    """Return identifiers as text, or row numbers from 1 where items have none; raise where one repeats."""
    if items.id is None:
        return list(map(str, range(1, items.size + 1)))
    ids = numbers.as_text(items.id)
    if len(set(ids)) < len(ids):
        raise ValueError(f"items.id must be unique; {Counter(ids).most_common(1)[0][0]!r} repeats")
    return ids


def hash_of_scores(items: ScoredItems) -> str:
    """Return the SHA-256 of identifiers, scores and predictions, in their order."""
    found = hashlib.sha256()
    columns = [id_texts(items), *(None if labels is None else class_texts(labels).tolist()
                                  for labels in (items.prediction, items.rival))]
    columns += [] if items.by is None else [items.by.tolist()]
    for column in columns:
        found.update(json.dumps(column, ensure_ascii=False, separators=(",", ":")).encode() + b"\n")
    found.update(np.asarray(items.score, "<f8").tobytes())
    return found.hexdigest()


def keys(texts: Iterable[str]) -> np.ndarray:
    """Return the first 8 bytes of SHA-256 of each text, as whole numbers."""
    return np.frombuffer(b"".join(hashlib.sha256(text.encode()).digest()[:8] for text in texts), ">u8")


def order_of_labeling(frame: Frame, seed: int, n: int) -> np.ndarray:
    """Return the positions of the first n items to label."""
    ids = id_texts(frame.items)
    strata = labeling_order(frame.strata.sizes, n, share=frame.share)
    key = keys(f"{seed}:{each}" for each in ids)
    order = np.empty(n, np.int64)
    for h, taken in enumerate(np.bincount(strata, minlength=frame.strata.n_strata)):
        members = np.flatnonzero(frame.strata.labels == h)
        order[strata == h] = members[np.argsort(key[members], kind="stable")[:taken]]
    return order


def doubled(ids: Sequence[str], seed: int, share: float) -> np.ndarray:
    """Return which items get a second label."""
    return keys(f"{seed}:second:{each}" for each in ids) < share * 2.0 ** 64


def new_design(items: ScoredItems, *, budget: int, question: str, other: ArrayLike | None, metrics_of: Any,
               n_strata: int, stratifier: str, expected: float | None, looks: Any, second_share: float, asks: str,
               columns: Mapping[str, ArrayLike] | None, level: float, seed: int,
               source: Mapping[str, Any]) -> tuple[dict, list[StoredItem]]:
    """Return the design of a new audit as a dict of plain values, and the items that are kept; refuse what is wrong."""
    items = with_rival(checks.instance("items", items, ScoredItems), question, other)
    checks.choice("asks", asks, ASKS)
    settings = {
        "question": checks.choice("question", question, QUESTIONS), "asks": asks, "level": checks.level(level),
        "n_strata": checks.whole("n_strata", n_strata, 1), "seed": checks.seed("seed", seed),
        "stratifier": checks.choice("stratifier", stratifier, STRATIFIERS), "metrics_of": None,
        "expected": None if expected is None else checks.number("expected", expected, 0, 1),
        "second_share": checks.number("second_share", second_share, 0, 1), "source": dict(source)}
    if question == "class_metrics":
        settings["metrics_of"] = _class_for(items, metrics_of, asks)
    elif metrics_of not in (None, ""):
        raise ValueError(f"metrics_of belongs to question='class_metrics'; got {metrics_of!r}")
    if question == "difference" and asks != "truth":
        raise ValueError("asks must be 'truth' for a difference: one model's right or wrong does not tell the other's")
    if asks == "truth" and items.prediction is None and question != "difference":
        raise ValueError("asks must be 'correct' where items have no predictions: a true class has nothing to be "
                         "compared with")
    shown = _shown_columns(columns, items)
    frame = frame_of(items, settings)
    least, most = int(np.minimum(2, frame.strata.sizes).sum()), frame.items.size
    budget = checks.whole("budget", budget, least, most)
    rows = stored_rows(frame, items, settings, shown, kept(budget, most))
    design = settings | {
        "budget": budget, "kept": len(rows), "looks": _declared(looks, budget), "items": items.size,
        "stratum_size": frame.strata.sizes.tolist(), "agreeing": frame.agreeing, "columns": list(shown),
        "share": None if frame.share is None else frame.share.tolist(),
        "predicted": None if frame.predicted is None else frame.predicted.tolist(),
        "classes": _classes(items), "scores": hash_of_scores(items), "rows": digest_of_rows(rows)}
    return design, rows


def frame_of(items: ScoredItems, design: Mapping[str, Any]) -> Frame:
    """Return what is labeled under a design."""
    n_strata, rule, seed = design["n_strata"], design["stratifier"], design["seed"]
    if design["question"] == "accuracy":
        return Frame(items, strata_of(items, n_strata, rule, rng=seed))
    refuse_given(items)
    if design["question"] == "difference":
        differ = differing_items(items)
        return Frame(differ, stratify_part(differ.score, n_strata, rule, "on which the models differ", rng=seed),
                     agreeing=items.size - differ.size)
    strata, predicted = nested_strata(items, design["metrics_of"], n_strata, rule, rng=seed)
    share = strata.sizes / np.where(predicted, strata.sizes[predicted].sum(), strata.sizes[~predicted].sum())
    if predicted.any() and not predicted.all():
        share = share * np.where(predicted, SHARE_OF_PREDICTED, 1 - SHARE_OF_PREDICTED)
    return Frame(items, strata, share, predicted)


def stored_rows(frame: Frame, items: ScoredItems, design: Mapping[str, Any], shown: Mapping[str, Sequence[str]],
                n: int) -> list[StoredItem]:
    """Return the first n items in the order of labeling, with what people see of each."""
    order, ids = order_of_labeling(frame, design["seed"], n), id_texts(frame.items)
    if frame.agreeing:
        place = {each: k for k, each in enumerate(id_texts(items))}
        row = [place[ids[k]] for k in order.tolist()]
    else:
        row = order.tolist()
    prediction, rival = (None if labels is None else class_texts(labels[order])
                         for labels in (frame.items.prediction, frame.items.rival))
    return [StoredItem(ids[k], int(frame.strata.labels[k]), None if prediction is None else str(prediction[t]),
                       None if rival is None else str(rival[t]), {name: cells[row[t]] for name, cells in shown.items()})
            for t, k in enumerate(order.tolist())]


def kept(budget: int, most: int) -> int:
    """Return how many items a session keeps, so that a budget can be extended without the scores."""
    return min(max(KEPT, KEPT_PER_LABEL * budget), most)


def with_rival(items: ScoredItems, question: str, other: ArrayLike | None) -> ScoredItems:
    """Return items with the second model's predictions."""
    if other is None:
        return items
    if question != "difference":
        raise ValueError("other holds a second model's predictions, which belong to question='difference'")
    import dataclasses
    other = checks.labels("other", other, size=items.size)
    if items.prediction is None or (items.prediction.dtype.kind == "U") != (other.dtype.kind == "U"):
        raise ValueError("other must be coded as the predictions of items are, text or numbers")
    return dataclasses.replace(items, rival=other)


def label_reader(classes: Sequence | None) -> Any:
    """Return a function from a text to the class that it names, `OTHER` for one that is never predicted, or None."""
    labels: Any = np.array(classes)
    _, named = named_classes(labels)
    return lambda text: named(text) or (OTHER if text == OTHER else None)


def same_scores(items: ScoredItems, design: Mapping[str, Any], other: ArrayLike | None = None) -> ScoredItems:
    """Return items that are the ones of a session, or raise."""
    items = with_rival(checks.instance("items", items, ScoredItems), design["question"], other)
    if hash_of_scores(items) != design["scores"]:
        raise SessionError("these are not the scores that the audit was made from: identifiers, scores, predictions or "
                           "their order differ")
    return items


def shown_of(items: ScoredItems, design: Mapping[str, Any], columns: Mapping[str, ArrayLike] | None) -> dict:
    """Return the shown columns of a session again, from the items and those columns that the items do not hold."""
    shown = _shown_columns(columns, items)
    if list(shown) != design["columns"]:
        raise ValueError(f"columns must be those that the audit shows, {checks.listed(design['columns'])}; got "
                         f"{checks.listed(shown) or 'none'}")
    return shown


def _class_for(items, metrics_of, asks):
    texts = [] if items.prediction is None else np.unique(class_texts(items.prediction)).tolist()
    if metrics_of in (None, "") and set(texts) <= {"-1", "0", "1"} and "1" in texts:
        metrics_of = "1"
    elif metrics_of in (None, ""):
        raise ValueError(f"metrics_of must name the class for question='class_metrics': "
                         f"{checks.listed(texts, quoted=True) or 'there are no predictions'}")
    name, least = audited_class(items, metrics_of)
    if least == "truth" and asks == "correct":
        raise ValueError(f"asks must be 'truth' for the metrics of class {name!r} where more than two classes are "
                         "predicted: a wrong prediction of another class may be right about this one")
    return name


def _shown_columns(columns, items):
    found = {}
    for name, values in (columns or {}).items():
        plain = isinstance(name, str) and name.isprintable() and _PLAIN_NAME.fullmatch(name)
        if not plain or name.casefold() in OWN_COLUMNS:
            raise ValueError("columns must have names without quotes and delimiters that no spreadsheet executes, "
                             f"other than the sheet's own, {checks.listed(sorted(OWN_COLUMNS))}; got {name!r}")
        if np.shape(values) != (items.size,):
            raise ValueError(f"columns must have {items.size} entries; {name!r} has shape {np.shape(values)}")
        found[name] = numbers.as_text(values)
    return found


def _declared(looks, budget):
    looks = [checks.whole("looks", each, 1, budget) for each in checks.each("looks", looks)]
    if looks != sorted(set(looks)) or len(looks) > MOST_LOOKS:
        raise ValueError(f"looks must be at most {MOST_LOOKS} rising numbers of labels; got {checks.listed(looks, 20)}")
    return looks


def _classes(items):
    labels = [each for each in (items.prediction, items.rival) if each is not None]
    return np.unique(np.concatenate(labels)).tolist() if labels else None
