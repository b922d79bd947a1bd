"""The plan of a label sheet, a small file beside it: the settings that drew its items.

`report-labels.csv` has the plan `report-labels.plan.json`: a JSON object with

- `kind` "plan of a label sheet", `schema` 1 and the `budget`;
- `settings`: question, metrics_of (a class), n_strata, stratifier, allocation, trust_scores and seed;
- `source`: file and columns that the items were read from and what the scores were taken for, as far as known;
- `asks`, "correct", "truth" or "which", and `columns`, what the sheet shows of the items;
- `data`: SHA-256 of the identifiers, scores and predicted classes.
"""

import hashlib
import json
import os
import re
from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any

import numpy as np

from workbench import checks
from workbench.data import numbers
from workbench.data.scored_items import ScoredItems
from workbench.data.whole_files import write_text
from workbench.labeling import draws
from workbench.labeling.answers import ANSWERS, class_texts

KIND = "plan of a label sheet"
SCHEMA = 1
PART = 100_000  # identifiers that are hashed at once
_PLAIN = re.compile(
    r"[ !#-\[\]-~]*"
)  # texts of it are their own JSON, which takes less time to write
PLAN_ENDING = ".plan.json"
CHANGED = {
    "id": "identifiers",
    "score": "scores",
    "prediction": "predictions",
    "rival": "rival's predictions",
    "by": "given strata",
}


def plan_path(sheet: str | PathLike[str]) -> str:
    """Return the path of the plan of a sheet.

    Examples
    --------
    >>> plan_path("audits/report-labels.csv")
    'audits/report-labels.plan.json'
    """
    return os.path.splitext(os.path.expanduser(os.fspath(sheet)))[0] + PLAN_ENDING


def write_plan(sheet: str | PathLike[str], plan: Mapping[str, Any]) -> None:
    """Write the plan of a sheet that was just written."""
    said = {"kind": KIND, "schema": SCHEMA, **plan}
    write_text(
        plan_path(sheet), [json.dumps(said, indent=1, ensure_ascii=False, default=_plain), "\n"]
    )


def read_plan(sheet: str | PathLike[str]) -> dict | None:
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
        raise ValueError(
            f"{path!r} is not the plan of a label sheet ({' '.join(str(error).split())}); move it "
            "away"
        ) from None


def refuse_changed(
    sheet: str | PathLike[str], plan: Mapping[str, Any], now: Mapping[str, Any]
) -> None:
    """Raise where the settings or the items are not those of the plan; names what changed.

    Where the same items come from another file or column, nothing is said.
    """
    changed = _changed(plan["settings"], now["settings"])
    data = [
        name for name, digest in now["data"].items() if plan["data"].get(name, digest) != digest
    ]
    if data:
        changed += _changed(plan["source"], now["source"])
    if changed:
        raise ValueError(
            "; ".join(
                f"{name} was {then!r} when the sheet was written and is {value!r} now"
                for name, then, value in changed
            )
            + f" (see {os.path.basename(plan_path(sheet))!r}); use the settings of then, or write a new "
            "sheet"
        )
    if data:
        what = checks.listed(CHANGED[name] for name in data)
        raise ValueError(
            f"the {what} are not those for which the sheet was written (see "
            f"{os.path.basename(plan_path(sheet))!r}); use the file of then, or write a new sheet"
        )


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else str(value)


def _changed(then: dict, now: dict) -> list:
    return [
        (name, then[name], now[name]) for name in now if name in then and then[name] != now[name]
    ]


def item_digests(items: ScoredItems) -> dict[str, str]:
    """Return the SHA-256 of identifiers, scores, predicted classes and given strata, each in the items' order.

    Numbers and text of the same spelling are the same, whatever file they were read from.
    """
    columns: Any = (
        ("id", items, draws.id_texts),
        ("prediction", items.prediction, class_texts),
        ("rival", items.rival, class_texts),
        ("by", items.by, numbers.as_text),
    )
    return {
        "score": hashlib.sha256(np.asarray(items.score, "<f8").tobytes()).hexdigest(),
        **{name: _digest(texts(values)) for name, values, texts in columns if values is not None},
    }


def _digest(texts: Sequence[str] | np.ndarray) -> str:
    """Return the SHA-256 of the JSON of a list of texts, which is never whole in memory."""
    digest = hashlib.sha256(b"[")
    for start in range(0, len(texts), PART):
        part = np.asarray(texts[start : start + PART], object).tolist()
        plain = _PLAIN.fullmatch("".join(part))
        text = (
            '"' + '", "'.join(part) + '"' if plain else json.dumps(part, ensure_ascii=False)[1:-1]
        )
        digest.update((", " * bool(start) + text).encode())
    digest.update(b"]")
    return digest.hexdigest()


def item_digest(items: ScoredItems) -> str:
    """Return one SHA-256 of all that `item_digests` names."""
    return hashlib.sha256(json.dumps(item_digests(items), sort_keys=True).encode()).hexdigest()
