"""The report of an audit session: one self-contained HTML page, and its numbers as files."""

import contextlib
import math
import os
import platform
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.checks import counted
from workbench.extras.sessions.estimates import BY_FIRST, CORRECTED, limited, shown
from workbench.extras.sessions.store import now
from workbench.reports.build import checked_targets, package_version, write_targets
from workbench.reports.looks import COLORS, finding_picture, looks_picture
from workbench.reports.records import Record
from workbench.reports.templates import render
from workbench.results import Interval, Result, Table, percent
from workbench.results.vocabulary import metric_words

if TYPE_CHECKING:
    from workbench.extras.sessions.estimates import SessionEstimate
    from workbench.extras.sessions.session import AuditSession, SessionStatus
    from workbench.extras.sessions.store import Event

SHOWN_LOOKS = 100
FEW_STRATA = 20
EXPLAINED = {
    "planned": "is valid at any interim analysis, and shortest at the planned end",
    "anytime": "is valid at any interim analysis, and whenever you stop",
    "looks": "is valid at planned interim analyses, or at every 10 labels from 30 to 600",
    "fixed": "is valid if the number of labels does not depend on interim analyses",
    "waves": "is available once all planned labels are recorded",
    CORRECTED: "is valid with label errors, if the number of labels was fixed beforehand",
}
TITLES = {
    "accuracy": "How accurate are the predictions?",
    "class_metrics": "How good are the predictions of class {metrics_of}?",
    "difference": "Which of two models is more accurate?",
}
NAMES = {"difference": "A minus B", BY_FIRST: "first labels"}


def write_session(
    session: "AuditSession",
    output: str,
    by: str | None = None,
    *,
    json: str | None = None,
    tables: str | None = None,
) -> "tuple[SessionEstimate, list[Path]]":
    """Write the report of a session and return its estimate and its files.

    The report is written completely or not at all. It counts as one interim analysis.
    """
    targets = checked_targets(output, json=json, tables=tables)
    estimates, rates = session.overview(by)
    design, status = session.design, session.status()
    shared: dict[str, Any] = {
        "title": TITLES[design["question"]].format_map(design),
        "date": now(),
        "strata": session.strata(),
        "strata_caption": "Strata"
        + ", by the answer that the judge labels correct" * ("judged" in design),
        "file": os.path.basename(session.path),
        "skipped": [{"id": item} for item in session.skipped()],
        "settings": list(_settings(design, session.events(), session.last_hash)),
    }
    tabled = {
        "strata": shared["strata_caption"],
        "rates": "First labels per stratum",
        "skipped": "Items that could not be labeled",
        "looks_taken": "Interim analyses",
        "settings": "Settings",
    }
    values = shared | {"rates": rates, "looks_taken": list(_look_rows(session.looks, design))}
    records = [
        *_records(estimates, status),
        *(_table(name, values[name], caption) for name, caption in tabled.items() if values[name]),
    ]
    about = {
        "topic": "audit",
        "title": shared["title"],
        "time": shared["date"].isoformat(timespec="seconds"),
        "versions": {"workbench": package_version(), "python": platform.python_version()},
        "inputs": [],
        "parameters": {"audit": shared["file"], **design},
        "messages": [],
    }
    with contextlib.ExitStack() as undo:
        return estimates[0], write_targets(
            targets, _page(session, estimates, status, rates, shared), records, undo, about
        )


def _page(
    session: "AuditSession",
    estimates: "list[SessionEstimate]",
    status: "SessionStatus",
    rates: list[dict],
    shared: dict[str, Any],
) -> str:
    estimate, design, looks = estimates[0], session.design, session.looks
    headline, pictured, drawn = estimate.headline(), list(_pictured(looks)), _drawn(estimate, rates)
    undone = sum(event.kind == "undone" for event in session.events())
    unit = "" if design["question"] == "difference" else "%"
    return render(
        "session.html.j2",
        **shared,
        estimate=estimate,
        headline=f"{headline[0].upper()}{headline[1:]}",
        drawn=finding_picture(drawn, unit) if drawn else None,
        drawn_title=_drawn_title(design, drawn),
        basis=list(_basis(estimate, status, design, shared["file"])),
        said=list(_said(estimates)),
        explained={row["method"]: _how(row["method"], status) for row in _said(estimates)},
        further=list(_further(estimates)),
        status=status,
        people=status.rows(),
        undone=undone and counted(undone, "label or skip was", "labels or skips were"),
        looked=f"There were {counted(len(looks), 'interim analysis', 'interim analyses')} up to "
        f"{counted(status.labeled, 'label')}. The file records each of them. The last one is this "
        "report."
        if len(looks) != 1
        else "This report is the only interim analysis so far.",
        picture=looks_picture(pictured, design, unit) if len(pictured) > 1 else None,
        looks=list(_look_rows(looks[-SHOWN_LOOKS:], design)),
        looks_caption=f"The last of {counted(len(looks), 'interim analysis', 'interim analyses')}",
    )


def to_do(status: "SessionStatus", file: str) -> list[str]:
    """Return which items to label again, with the commands that assign them; `file` as typed."""
    third = "a third annotator must label {} with two different labels", "third.csv", status.third
    second = "a second annotator must label {}", "second.csv", status.second
    wave = (
        f"wave {status.wave} of {status.waves} is labeled: sample the next one with workbench "
        f"audit next {file}, or with export"
    )
    return [
        f"{who.format(counted(n, 'item'))}: workbench audit export {file} {sheet} -n {n} --by NAME"
        for who, sheet, n in (third, second)
        if n
    ] + [wave] * status.wave_is_done


def _how(method: str, status: "SessionStatus") -> str:
    return EXPLAINED["waves" if method == "planned" and status.waves else method]


def _basis(
    estimate: "SessionEstimate", status: "SessionStatus", design: Mapping[str, Any], file: str
) -> Iterator[str]:
    """Yield the sample behind the finding, and the next step."""
    items = counted(design["items"], "item")
    if design["question"] == "difference" and design["asks"] == "truth":
        items = (
            f"the {sum(design['stratum_size']):,} of {items} with different predictions of the "
            f"models"
        )
    strata = counted(len(design["stratum_size"]), "stratum", "strata")
    strata += f" and {counted(status.waves, 'wave')} that depend on earlier labels" * bool(
        status.waves
    )
    left_out = design["source"].get("left_out")
    how = _how(CORRECTED if estimate.is_corrected else estimate.method, status)
    labels = f"{estimate.labeled:,} of {counted(estimate.planned, 'planned label')}"
    yield (
        f"From {labels}, sampled at random from {items} within {strata}. The "
        f"{percent(design['level'])} interval {how}."
    )
    yield from [f"{left_out}."] * bool(left_out)
    yield from (f"Next step: {line}" for line in to_do(status, shlex.quote(file)))


def _drawn_title(design: Mapping[str, Any], drawn: Sequence[Mapping]) -> str:
    rates = (
        ", and correct labels per stratum, from low to high score"
        if drawn and drawn[-1]["low"] is None
        else ""
    )
    points = ", in points" if design["question"] == "difference" else ""
    several = "s" * (sum(row["low"] is not None for row in drawn) > 1)
    return f"{percent(design['level'])} confidence interval{several}{points}{rates}"


def _drawn(estimate: "SessionEstimate", rates: Sequence[Mapping]) -> list[dict]:
    """Return the rows of the finding's chart: estimates, and proportions correct per stratum."""
    known = limited([*estimate.quoted, *(estimate.by_labels if estimate.is_corrected else [])])
    rows = [
        {
            "name": NAMES.get(name, metric_words(name)),
            "ends": (low, high),
            "low": limits.low,
            "high": limits.high,
            "text": "{} ({} to {})".format(*shown(name, low, high, limits, limits.half_width)),
        }
        for name, low, high, limits in known
    ]
    return rows and rows + [
        {
            "name": ", ".join(f"{key} {row[key]}" for key in ("wave", "stratum") if key in row),
            "ends": (row["correct"] / row["labeled"],),
            "low": None,
            "high": None,
            "text": f"{row['correct']:,} of {row['labeled']:,} correct",
        }
        for row in rates
        if row["labeled"] and len(rates) <= FEW_STRATA
    ]


def _said(estimates: "list[SessionEstimate]") -> Iterator[dict]:
    """Yield a row per method and metric, the corrected one first."""
    first = [(CORRECTED, *each) for each in estimates[0].quoted if estimates[0].is_corrected]
    for method, name, low, high, limits in [
        *first,
        *((estimate.method, *each) for estimate in estimates for each in estimate.by_labels),
    ]:
        value, *ends = shown(name, low, high, limits, limits.half_width if limits else 0)
        metric = (
            "accuracy" if name in (BY_FIRST, CORRECTED) else NAMES.get(name, metric_words(name))
        )
        yield {
            "method": method,
            "metric": metric,
            "estimate": "not yet known" if math.isnan(low) else value,
            "limits": " to ".join(ends) if limits else "none yet",
            "labeled": estimates[0].labeled,
        }


def _records(estimates: "list[SessionEstimate]", status: "SessionStatus") -> list[Record]:
    """Return the results as records of a JSON file, the quoted estimate first."""
    second = (
        [("second_labels", "Double annotation", estimates[0].second)] if estimates[0].second else []
    )
    found: list[tuple[str, str, Result]] = [
        *((each.method, "Estimates and intervals", each) for each in estimates),
        *second,
        ("status", "Labels and strata", status),
    ]
    return [
        Record(
            name,
            section,
            Table(tuple(each.rows()), each.headline(), notes=each.notes),
            each.to_dict(),
        )
        for name, section, each in found
    ]


def _table(name: str, rows: list[dict], caption: str) -> Record:
    table = Table(tuple(rows), caption)
    return Record(name, caption, table, table.to_dict())


def _further(estimates: "list[SessionEstimate]") -> Iterator[tuple[str, list]]:
    """Yield for each other method the notes that the first method does not have."""
    known = set(estimates[0].notes)
    for estimate in estimates[1:]:
        more = [note for note in estimate.notes if note not in known]
        if more:
            yield estimate.method, more


def _pictured(looks: Sequence[Mapping]) -> Iterator[dict]:
    """Yield number, labels and limits of the interim analyses with an interval."""
    for number, look in enumerate(looks, 1):
        for name, limits in _seen(look).items():
            method = name if name in COLORS else look["method"]
            if method in COLORS and name in (*COLORS, "accuracy", "difference"):
                yield {
                    "number": number,
                    "labeled": look["labeled"],
                    "low": limits[0],
                    "high": limits[1],
                    "method": method,
                }


def _seen(look: Mapping[str, Any]) -> dict:
    """Return the limits that an interim analysis showed, by name."""
    return {name: ends for name, ends in (look.get("intervals") or {}).items() if ends}


def _look_rows(looks: Sequence[Mapping], design: Mapping[str, Any]) -> Iterator[dict]:
    """Yield a row per interim analysis; of a report only the limits that are valid at any time."""
    kind = "difference" if design["question"] == "difference" else ""
    for look in looks:
        limits = [
            f"{name} "
            f"{' to '.join(shown(kind, low, high, Interval(low, high, design['level'], ''))[1:])}"
            for name, (low, high) in _seen(look).items()
            if look["method"] != "report" or name.startswith(("planned", CORRECTED))
        ]
        yield {
            "time": look["time"][:19].replace("T", " "),
            "who": look["who"],
            "method": look["method"],
            "labeled": look["labeled"],
            "limits": "; ".join(limits) or "no interval",
        }


def _strata_words(design: Mapping[str, Any]) -> dict[str, Any]:
    column = design["source"].get("strata_by") or design["source"].get("judge")
    cut = isinstance(design["n_strata"], int) and not column
    return {
        "strata": design["n_strata"] if cut else len(design["stratum_size"]),
        "stratification rule": f"values of {column!r}" if column else design["stratifier"],
    }


def _settings(
    design: Mapping[str, Any], events: "Sequence[Event]", last_hash: str
) -> Iterator[dict]:
    shown: dict[str, Any] = {
        "question": design["question"],
        "class": design["metrics_of"],
        "planned labels": design["budget"],
        "confidence level": percent(design["level"]),
        **_strata_words(design),
        "expected accuracy": design["expected"] and percent(design["expected"]),
        "planned interim analyses": ", ".join(map(str, design["looks"])),
        "labels of each wave": ", ".join(map(str, design.get("waves", []))),
        "proportion with double annotation": percent(design["second_share"]),
        "annotators' answers": design["asks"],
        "annotators see": ", ".join(design["columns"]),
        "seed": design["seed"],
        "SHA-256 of the scores": design["scores"],
        "events": len(events),
        "last hash": last_hash,
        "created": events[0].time,
        "last event": events[-1].time,
        "software": f"workbench {package_version()}, Python {platform.python_version()}",
    }
    return (
        {"setting": name, "value": value}
        for name, value in shown.items()
        if value not in (None, "")
    )
