"""The report of an audit session: one HTML page that asks for nothing from outside."""

import os
import platform
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from workbench.audits.sessions.estimates import METHODS
from workbench.audits.sessions.store import now
from workbench.checks import counted
from workbench.reports.build import package_version
from workbench.reports.looks import looks_picture
from workbench.reports.outputs import checked_output, write_page
from workbench.reports.templates import render
from workbench.results import percent
from workbench.results.digits import percents

if TYPE_CHECKING:
    from workbench.audits.sessions.estimates import SessionEstimate
    from workbench.audits.sessions.session import AuditSession
    from workbench.audits.sessions.store import Event

SHOWN_LOOKS = 100
EXPLAINED = {
    "planned": "holds whenever one looks; shortest at the planned end", "anytime": "holds whenever one looks or stops",
    "looks": "holds at the looks that were declared, or at every 10 labels from 30 to 600",
    "fixed": "holds if the number of labels was not chosen by looking"}


def write_session_page(session: "AuditSession", output: str, by: str | None = None) -> str:
    """Write the report of a session, as a whole or not at all, and return its finding in a sentence."""
    path = checked_output(output)
    accuracy = session.design["question"] == "accuracy"
    # the fixed interval first: what the report itself looks at is no reason to stop
    estimates = [session.estimate(method, by) for method in reversed(METHODS) if accuracy or method != "anytime"][::-1]
    design, events, looks, status = session.design, session.events(), session.looks, session.status()
    undone, pictured = sum(event.kind == "undone" for event in events), _pictured(looks)
    second = session.second_labels(by) if design["second_share"] and accuracy else None
    write_page(render(
        "session.html.j2", title=f"Audit {os.path.basename(session.path)}", date=now(), estimate=estimates[0],
        said=_rows(estimates), further=list(_further(estimates)), second=second, status=status,
        strata=session.strata(), undone=undone and counted(undone, "label or skip was", "labels or skips were"),
        skipped=[{"id": item} for item in session.skipped()],
        looked=f"Estimates were looked at {counted(len(looks), 'time')} on the way to "
               f"{counted(status.labeled, 'label')}; each look is in the file, and those of this report are among "
               "them.",
        picture=looks_picture(pictured, design) if len(pictured) > 1 else None,
        looks=list(_look_rows(looks[-SHOWN_LOOKS:])), looks_caption=f"The last of {counted(len(looks), 'look')}",
        settings=list(_settings(design, events))), path)
    return estimates[0].headline()


def _further(estimates: "list[SessionEstimate]") -> Iterator[tuple[str, list]]:
    """Yield the notes of the other methods that the first one does not have."""
    known = set(estimates[0].notes)
    for estimate in estimates[1:]:
        more = [note for note in estimate.notes if note not in known]
        if more:
            yield estimate.method, more


def _rows(estimates: "list[SessionEstimate]") -> list[dict]:
    names = "method", "metric", "estimate", "low", "high", "labeled"
    return [{name: row[name] for name in names} | {"use": EXPLAINED[estimate.method]}
            for estimate in estimates for row in estimate.rows()]


def _pictured(looks: Sequence[Mapping]) -> list[dict]:
    """Return number of labels and limits of the looks that had an interval for one number."""
    found = []
    for look in looks:
        limits = list((look.get("intervals") or {}).values())
        if len(limits) == 1 and limits[0] and look["method"] in METHODS:
            found.append({"labeled": look["labeled"], "low": limits[0][0], "high": limits[0][1],
                          "method": look["method"]})
    return found


def _look_rows(looks: Sequence[Mapping]) -> Iterator[dict]:
    for look in looks:
        limits = "; ".join(f"{metric} {' to '.join(percents(*ends))}"
                           for metric, ends in (look.get("intervals") or {}).items() if ends)
        yield {"time": look["time"][:19].replace("T", " "), "who": look["who"], "method": look["method"],
               "labeled": look["labeled"], "limits": limits or "no interval"}


def _strata_words(design: Mapping[str, Any]) -> dict[str, Any]:
    column = design["source"].get("strata_by")
    cut = isinstance(design["n_strata"], int) and not column
    return {"strata": design["n_strata"] if cut else len(design["stratum_size"]),
            "rule of the strata": f"the values of {column!r}" if column else design["stratifier"]}


def _settings(design: Mapping[str, Any], events: "Sequence[Event]") -> Iterator[dict]:
    shown: dict[str, Any] = {
        "question": design["question"], "class": design["metrics_of"], "planned labels": design["budget"],
        "level": percent(design["level"]), **_strata_words(design),
        "expected accuracy": design["expected"], "declared looks": ", ".join(map(str, design["looks"])),
        "share of second labels": design["second_share"], "people write": design["asks"],
        "people see": ", ".join(design["columns"]), "seed": design["seed"], "SHA-256 of the scores": design["scores"],
        "events": len(events), "made": events[0].time, "last event": events[-1].time,
        "software": f"workbench {package_version()}, Python {platform.python_version()}"}
    return ({"setting": name, "value": value} for name, value in shown.items() if value not in (None, ""))
