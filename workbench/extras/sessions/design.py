"""The design of an audit session: strata, the order of labeling, and hashes to check both.

Within a stratum, items are labeled in the order of `workbench.labeling.draws`. Strata take turns as
in `labeling_order`, within each wave if the audit has waves. An item gets double annotation if the
key of "second:id", divided by 2^60, is below `second_share`.

`new_design` makes a design, and `refuse_senseless` checks one that was read from a file.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from workbench import checks
from workbench.audits.classes import audited_class, label_shares, nested_strata
from workbench.audits.differences import differing_items
from workbench.audits.judged import judged_strata, pair_sizes, refuse_shown, verdict_columns
from workbench.data import numbers
from workbench.data.judged_items import WHICH
from workbench.data.scored_items import ScoredItems
from workbench.extras.sessions.store import SessionError, StoredItem, digest_of_rows
from workbench.labeling import draws
from workbench.labeling import ids as sheet_ids
from workbench.labeling.answers import ANSWERS, class_texts
from workbench.labeling.plans import item_digest
from workbench.labeling.sheets import check_columns
from workbench.results import Note, plain
from workbench.stratified.default_plan import (
    AUTO,
    STRATA,
    check_trusted,
    default_labels,
    strata_wanted,
)
from workbench.stratified.judged import PAIRS
from workbench.stratified.sequential import ROUNDS, labeling_order
from workbench.stratified.strata import STRATIFIERS, Strata, refuse_given, strata_of, stratify_part
from workbench.stratified.waves import next_wave, wave_totals

QUESTIONS = ("accuracy", "class_metrics", "difference")
MOST_LOOKS = 10
OF_WAVES = Note(
    "remark",
    "waves: in simulations, the error of the estimate was .91 to 1.07 times that of proportional "
    "allocation, and up to 1.25 times if the scores are misleading. The interval was .99 to 1.40 "
    "times as wide",
)
KEPT, KEPT_PER_LABEL = 5000, 10
_PLAIN_NAME = re.compile(r"(?![=+\-@'\s])[^\",;|]+")
OWN_COLUMNS = {"id", "position", "stratum", "prediction", *ANSWERS}


@dataclass(frozen=True)
class Frame:
    """The items to label, their strata, and the allocation of labels.

    Attributes
    ----------
    items : ScoredItems
        Items to label.
    strata : Strata
        Strata of the items.
    share : ndarray, optional
        Proportions of the labels in the strata. None is in proportion to size.
    predicted : ndarray, optional
        Whether each stratum has predicted members of the class.
    agreeing : int
        Number of items with the same prediction of both models.
    notes : sequence of Note
        Notes on the default plan.
    waves : sequence of int
        Labels of each wave, empty without waves.
    prior : ndarray, optional
        Mean score of each stratum, if scores are probabilities.
    """

    items: ScoredItems
    strata: Strata
    share: np.ndarray | None = None
    predicted: np.ndarray | None = None
    agreeing: int = 0
    notes: Sequence[Note] = ()
    waves: Sequence[int] = ()
    prior: np.ndarray | None = None

    def turns(self, n: int) -> np.ndarray:
        """Return the stratum of each of the first n items that are kept.

        With waves, these are the first wave, and then the items that later waves may sample.
        """
        size = self.strata.sizes
        if not self.waves:
            return labeling_order(size, n, share=self.share)
        first = next_labels(size, self.waves, self.prior, np.zeros_like(size), np.zeros_like(size))
        later = np.minimum(size - first, sum(self.waves[1:]))
        return np.concatenate(
            [labeling_order(first, self.waves[0]), np.repeat(np.arange(size.size), later)]
        )[:n]

    def kept(self, budget: int) -> int:
        """Return the number of items that the file keeps, for later waves and extensions."""
        most = self.items.size
        return (
            self.turns(len(self.waves) * most).size
            if self.waves
            else min(max(KEPT, KEPT_PER_LABEL * budget), most)
        )


def next_labels(
    size: Any, waves: Sequence[int], prior: Any, labeled: np.ndarray, correct: np.ndarray
) -> np.ndarray:
    """Return the labels per stratum of the next wave, (H,)."""
    wave = int(np.searchsorted(np.cumsum(waves), labeled.sum(), side="right"))
    return next_wave(size, labeled, correct, waves[wave], stratum_score=prior).labeled


def order_of_labeling(frame: Frame, seed: int, n: int) -> np.ndarray:
    """Return the positions of the first n items in the order of labeling."""
    return draws.items_in_turn(
        draws.id_texts(frame.items), frame.strata.labels, frame.turns(n), seed
    )


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
    settings = {
        "question": checks.choice("question", question, QUESTIONS),
        "asks": asks,
        "level": checks.level(level),
        "budget": budget,
        "seed": checks.seed("seed", seed),
        "stratifier": checks.choice("stratifier", stratifier, STRATIFIERS),
        "metrics_of": None,
        "expected": None if expected is None else checks.number("expected", expected, 0, 1),
        "second_share": checks.number("second_share", second_share, 0, 1),
        "source": dict(source),
    }
    waves = checks.whole("waves", waves, 1)
    automatic = n_strata == AUTO and question == "accuracy" and waves == 1
    if automatic:
        checks.whole("budget", budget, min(ROUNDS, items.size), items.size)
    settings["n_strata"] = (
        AUTO if automatic else checks.whole("n_strata", STRATA if n_strata == AUTO else n_strata, 1)
    )
    settings["trust_scores"] = check_trusted(trust_scores, automatic, items)
    if second_share and question != "accuracy":
        raise checks.WrongValue(
            "second_share",
            "must be 0 for this question, because double annotation corrects an accuracy only",
            second_share,
        )
    if question == "class_metrics":
        settings["metrics_of"] = _class_for(items, metrics_of, asks)
    elif metrics_of not in (None, ""):
        raise checks.WrongValue("metrics_of", "needs question='class_metrics'", metrics_of)
    judged = question == "difference" and asks == "which"
    if question == "difference" and asks == "correct":
        raise checks.WrongValue(
            "asks",
            "must be 'truth' for a difference, or 'which' with a judge, because a label of one "
            "model's prediction as incorrect does not show whether the other's is correct",
        )
    if asks == "which" and not judged:
        raise checks.WrongValue("asks", "can be 'which' only for two models with a judge", asks)
    if asks == "truth" and items.prediction is None and question != "difference":
        raise checks.WrongValue(
            "asks",
            "must be 'correct' for items without predictions, because a true class could not be "
            "compared with anything",
        )
    shown = _shown_columns(columns, items)
    refuse_shown(shown, verdict_columns(source))
    if waves > 1:
        _refuse_beside_waves(waves, settings, looks)
    frame = frame_of(items, settings)
    least, most = waves * int(np.minimum(ROUNDS, frame.strata.sizes).sum()), frame.items.size
    budget = checks.whole("budget", budget, least, most)
    if waves > 1:
        settings |= {"waves": wave_totals(budget, waves).tolist(), "expected": None}
        frame = frame_of(items, settings)
    rows = stored_rows(frame, items, settings, shown, frame.kept(budget))
    labels = [each for each in (items.prediction, items.rival) if each is not None]
    design = settings | {
        "budget": budget,
        "kept": len(rows),
        "looks": _declared(looks, budget),
        "items": items.size,
        "stratum_size": frame.strata.sizes.tolist(),
        "agreeing": frame.agreeing,
        "columns": list(shown),
        "share": plain(frame.share),
        "predicted": plain(frame.predicted),
        "prior": plain(frame.prior),
        **({"judged": pair_sizes(items).tolist()} if judged else {}),
        "classes": np.unique(np.concatenate(labels)).tolist() if labels else None,
        "scores": item_digest(items),
        "rows": digest_of_rows(rows),
    }
    return design, rows


def refuse_senseless(design: Mapping[str, Any], rows: Sequence[StoredItem]) -> None:
    """Raise an error if a design is not a valid result of `new_design` or items do not fit it.

    A missing entry raises a KeyError.
    """
    sizes, given = design["stratum_size"], design.get("waves", [])
    strata, budget = len(sizes), design["budget"]
    sensible = {
        "question": design["question"] in QUESTIONS,
        "asks": design["asks"] in ANSWERS,
        "level": is_number(design["level"]) and 0 < design["level"] < 1,
        "seed": is_count(design["seed"], 0, 10**300),
        "stratifier": isinstance(design["stratifier"], str),
        "expected": design["expected"] is None or is_number(design["expected"], 0, 1),
        "second_share": is_number(design["second_share"], 0, 1),
        "n_strata": design["n_strata"] == AUTO or is_count(design["n_strata"], 1),
        "stratum_size": strata > 0 and all(is_count(size, 1) for size in sizes),
        "items": sum(sizes) + design["agreeing"] == design["items"]
        and is_count(design["agreeing"]),
        "budget": is_count(budget, 1, len(rows)) and len(rows) <= sum(sizes),
        "kept": is_count(design["kept"], budget),
        "waves": isinstance(given, list)
        and all(is_count(n, 1) for n in given)
        and sum(given) in (0, budget),
        "looks": design["looks"] == _declared(design["looks"], sum(sizes)),
        "columns": len({*design["columns"]}) == len(design["columns"]),
        "metrics_of": isinstance(design["metrics_of"], str)
        == (design["question"] == "class_metrics"),
        "predicted": _of_strata(
            design["predicted"],
            strata,
            lambda each: isinstance(each, bool),
            design["question"] == "class_metrics",
        ),
        "share": _of_strata(design["share"], strata, is_number),
        "prior": _of_strata(design.get("prior"), strata, is_number),
        "judged": _of_strata(design.get("judged"), len(PAIRS), is_count, design["asks"] == "which"),
        "classes": _are_classes(design["classes"], design["asks"] == "truth"),
        "source": all(isinstance(text, str) for pair in design["source"].items() for text in pair),
        "hashes": isinstance(design["scores"], str) and isinstance(design["rows"], str),
    }
    wrong = [name for name, right in sensible.items() if not right]
    if wrong or not all(_fits(row, design) for row in rows):
        raise ValueError(f"{wrong or 'items'}")


def is_count(value: Any, least: int = 0, most: float = checks.LARGEST) -> bool:
    """Return whether a value of a file is a whole number in a range; True and 1.0 are not."""
    return type(value) is int and least <= value <= most


def is_number(value: Any, least: float = -checks.LARGEST, most: float = checks.LARGEST) -> bool:
    """Return whether a value of a file is a finite number in a range."""
    return type(value) in (int, float) and least <= value <= most


def _of_strata(
    values: Any, strata: int, is_right: Callable[[Any], bool], needed: bool = False
) -> bool:
    return not needed if values is None else len(values) == strata and all(map(is_right, values))


def _are_classes(values: Any, needed: bool) -> bool:
    if values is None:
        return not needed
    return (
        bool(values)
        and len({type(value) for value in values}) == 1
        and all(isinstance(value, (str, bool)) or is_number(value) for value in values)
    )


def _fits(row: StoredItem, design: Mapping[str, Any]) -> bool:
    """Return whether stratum, shown columns and predictions of an item fit a design."""
    judged = design["asks"] == "which"
    wants = (
        row.prediction is not None
        or judged
        or design["asks"] == "correct"
        and design["question"] == "accuracy"
    )
    return (
        is_count(row.stratum, 0, len(design["stratum_size"]) - 1)
        and list(row.shown) == sorted(design["columns"])
        and all(isinstance(text, str) for text in row.shown.values())
        and wants
        and (row.rival is not None or judged or design["question"] != "difference")
    )


def frame_of(items: ScoredItems, design: Mapping[str, Any]) -> Frame:
    """Return the items to label, the strata and the allocation of a design."""
    n_strata, rule, seed = design["n_strata"], design["stratifier"], design["seed"]
    if design["question"] == "accuracy":
        strata = strata_of(items, strata_wanted(n_strata, design["budget"], items), rule, rng=seed)
        if design.get("waves"):
            score = np.bincount(strata.labels, items.score) / strata.sizes
            prior = score if items.score_is == "confidence" else None
            return Frame(items, strata, notes=[OF_WAVES], waves=design["waves"], prior=prior)
        if n_strata != AUTO:
            return Frame(items, strata)
        share, notes = default_labels(
            items, strata, design["budget"], trust_scores=design["trust_scores"]
        )
        return Frame(items, strata, share, notes=notes)
    if design["asks"] == "which":
        by_verdicts, labels = judged_strata(items)
        return Frame(items, by_verdicts, labels(design["budget"]))
    refuse_given(items)
    if design["question"] == "difference":
        differ = differing_items(items)
        return Frame(
            differ,
            stratify_part(differ.score, n_strata, rule, "on which the models differ", rng=seed),
            agreeing=items.size - differ.size,
        )
    strata, predicted = nested_strata(items, design["metrics_of"], n_strata, rule, rng=seed)
    return Frame(items, strata, label_shares(strata.sizes, predicted), predicted)


def stratum_rows(design: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return number (or label of the judge) and size of each stratum."""
    if "judged" in design:
        return [
            {"verdict": said, "size": size}
            for said, size in zip(WHICH, design["judged"], strict=True)
            if size
        ]
    return [{"stratum": h, "size": size} for h, size in enumerate(design["stratum_size"], 1)]


def stored_rows(
    frame: Frame,
    items: ScoredItems,
    design: Mapping[str, Any],
    shown: Mapping[str, Sequence[str]],
    n: int,
) -> list[StoredItem]:
    """Return the first n items in the order of labeling, with their shown columns."""
    order = order_of_labeling(frame, design["seed"], n)
    ids = draws.id_texts(frame.items, order)
    place = (
        dict(zip(ids, order.tolist(), strict=True))
        if frame.items is items
        else sheet_ids.positions(draws.id_texts(items))
    )
    prediction, rival = (
        [None] * len(order) if labels is None else class_texts(labels[order]).tolist()
        for labels in (frame.items.prediction, frame.items.rival)
    )
    return [
        StoredItem(id, stratum, a, b, {name: cells[place[id]] for name, cells in shown.items()})
        for id, stratum, a, b in zip(
            ids, frame.strata.labels[order].tolist(), prediction, rival, strict=True
        )
    ]


def _refuse_beside_waves(waves: int, settings: dict, looks: Any) -> None:
    for beside, why in (
        (settings["question"] != "accuracy", "for this question; waves estimate an accuracy"),
        (
            len(checks.each("looks", looks)),
            "with planned interim analyses; the interval of waves needs a number of labels that "
            "was fixed beforehand",
        ),
        (
            settings["second_share"],
            "with double annotation, which needs an allocation to strata that was fixed beforehand",
        ),
    ):
        if beside:
            raise checks.WrongValue("waves", f"must be 1 {why}", waves)


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
    shown = _shown_columns(columns, items)
    if list(shown) != design["columns"]:
        raise checks.WrongValue(
            "columns",
            f"must be the columns that the audit shows, {checks.listed(design['columns'])}; "
            f"got {checks.listed(shown) or 'none'}",
        )
    return shown


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
    found = {}
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
        found[name] = numbers.as_text(values)
    return found


def _declared(looks: list | tuple, budget: int) -> list:
    looks = [checks.whole("looks", each, 1, budget) for each in checks.each("looks", looks)]
    if looks != sorted(set(looks)) or len(looks) > MOST_LOOKS:
        raise checks.WrongValue(
            "looks",
            f"must be at most {MOST_LOOKS} increasing numbers of labels; got "
            f"{checks.listed(looks, 20)}",
        )
    return looks
