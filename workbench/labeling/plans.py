"""The plan of an annotation sheet: a small file next to it, with the settings of the sample.

`report-labels.csv` has the plan `report-labels.plan.json`, a JSON object with

- `kind` (a fixed text), `schema` 1 and the `budget`;
- `settings`: question, metrics_of (a class), n_strata, stratifier, allocation, trust_scores, seed;
- `source`: file and columns of the items, and the meaning of the scores, as far as known;
- `asks`: "correct", "truth" or "which";
- `columns`: the columns of the items that the sheet shows;
- `data`: SHA-256 of the identifiers, scores and predicted classes.
"""

import hashlib
import json
import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from workbench import checks
from workbench.data import numbers
from workbench.data.scored_items import ScoredItems
from workbench.data.whole_files import write_text
from workbench.labeling import draws
from workbench.labeling.answers import ANSWERS, class_texts
from workbench.labeling.tables import AnyPath

KIND = "plan of a label sheet"
SCHEMA = 1
PART = 100_000  # identifiers that are hashed at once
PLAN_ENDING = ".plan.json"
CHANGED = {
    "id": "identifiers",
    "score": "scores",
    "prediction": "predictions",
    "rival": "rival's predictions",
    "by": "given strata",
}


def plan_path(sheet: AnyPath) -> str:
    """Return the path of the plan of a sheet.

    Examples
    --------
    >>> plan_path("audits/report-labels.csv")
    'audits/report-labels.plan.json'
    """
    return os.path.splitext(os.path.expanduser(sheet))[0] + PLAN_ENDING


def write_plan(sheet: AnyPath, plan: Mapping[str, Any]) -> None:
    """Write the plan of a sheet that was just written."""
    plan = {"kind": KIND, "schema": SCHEMA, **plan}
    text = json.dumps(
        plan,
        indent=1,
        ensure_ascii=False,
        default=_json_value,
    )
    write_text(plan_path(sheet), [text, "\n"])


def read_plan(sheet: AnyPath) -> dict | None:
    """Return the plan of a sheet, or None where there is none."""
    path = plan_path(sheet)
    if not os.path.isfile(path):
        return None
    try:
        with open(path, encoding="utf-8-sig") as file:
            plan = json.load(file)
        if plan["kind"] != KIND or plan["schema"] != SCHEMA:
            raise ValueError(f"kind {plan['kind']!r}, schema {plan['schema']!r}")
        for name in ("settings", "source", "data"):
            checks.instance(name, plan[name], dict)
        checks.choice("asks", plan["asks"], ANSWERS)
        checks.instance("columns", plan["columns"], list)
        return plan | {"budget": checks.whole("budget", plan["budget"], 1)}
    except (ValueError, TypeError, KeyError) as error:
        problem = " ".join(str(error).split())
        raise ValueError(
            f"{path!r} is not the plan of an annotation sheet ({problem}). Move the file away"
        ) from None


def refuse_changed(sheet: AnyPath, plan: Mapping[str, Any], now: Mapping[str, Any]) -> None:
    """Raise if the settings or the items are not those of the plan, and name the changes.

    The same items may come from another file or column.
    """
    data = _differing(plan["data"], now["data"])
    changes = _changes(plan["settings"], now["settings"])
    if data:
        changes += _changes(plan["source"], now["source"])
    where = f"(see {os.path.basename(plan_path(sheet))!r})"
    if changes:
        raise ValueError(
            f"{'; '.join(changes)} {where}. Use the settings of the plan, or write a new sheet"
        )
    if data:
        what = checks.listed(CHANGED[name] for name in data)
        raise ValueError(
            f"the {what} have changed since the sheet was written {where}. Use the file of the "
            "plan, or write a new sheet"
        )


def _differing(then: Mapping, now: Mapping) -> list:
    return [name for name, value in now.items() if then.get(name, value) != value]


def _changes(then: Mapping, now: Mapping) -> list:
    return [
        f"{name} was {then[name]!r} when the sheet was written and is {now[name]!r} now"
        for name in _differing(then, now)
    ]


def _json_value(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else str(value)


def item_digests(items: ScoredItems) -> dict[str, str]:
    """Return the SHA-256 of identifiers, scores, predicted classes and given strata.

    Values are in the order of the items. A number and a text of the same spelling are equal.
    """
    scores = np.asarray(items.score, "<f8").tobytes()
    digests = {"score": hashlib.sha256(scores).hexdigest()}
    digests["id"] = _digest(draws.id_texts(items))
    if items.prediction is not None:
        digests["prediction"] = _digest(class_texts(items.prediction).tolist())
    if items.rival is not None:
        digests["rival"] = _digest(class_texts(items.rival).tolist())
    if items.by is not None:
        digests["by"] = _digest(numbers.as_text(items.by))
    return digests


def _digest(texts: list[str]) -> str:
    """Return the SHA-256 of the JSON of a list of texts, computed in parts to save memory."""
    digest = hashlib.sha256(b"[")
    for start in range(0, len(texts), PART):
        if start:
            digest.update(b", ")
        part = texts[start : start + PART]
        digest.update(json.dumps(part, ensure_ascii=False)[1:-1].encode())
    digest.update(b"]")
    return digest.hexdigest()


def item_digest(items: ScoredItems) -> str:
    """Return one SHA-256 of all values of `item_digests`."""
    return hashlib.sha256(json.dumps(item_digests(items), sort_keys=True).encode()).hexdigest()
