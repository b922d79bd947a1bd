"""The report of an audit session: what its notebook shows, and the function that runs it."""

import math
import os
import platform
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.audits.questions import compared_models, which_is_which
from workbench.checks import counted
from workbench.extras.sessions.charts import name_of
from workbench.extras.sessions.estimates import (
    BY_FIRST,
    CORRECTED,
    SessionEstimate,
    methods_for,
    shown,
)
from workbench.extras.sessions.store import check_who
from workbench.reports.build import Brief, checked_targets, package_version, run_report
from workbench.reports.templates import UnrecordedHtml
from workbench.results import Interval, Note, Table, percent

if TYPE_CHECKING:
    from workbench.extras.sessions.session import AuditSession, SessionStatus
    from workbench.extras.sessions.store import Event

NOTEBOOK = Path(__file__).with_name("audit.ipynb")
SHOWN_LOOKS = 100
MEANING = {
    "planned": "is valid at any interim analysis, and shortest at the planned end",
    "anytime": "is valid at any interim analysis, and whenever you stop",
    "looks": "is valid at planned interim analyses, or at every 10 labels from 30 to 600",
    "fixed": "is valid if the number of labels does not depend on interim analyses",
    "at the end": "is available once all planned labels are recorded",
    "at planned looks": "is valid at interim analyses that were planned at the start",
    CORRECTED: "is valid with label errors, if the number of labels was fixed beforehand",
}
TITLES = {
    "accuracy": "How accurate are the predictions?",
    "class_metrics": "How good are the predictions of class {metrics_of}?",
    "difference": "Which of two models is more accurate?",
}

SETTINGS = {
    "question": "question",
    "class": "metrics_of",
    "planned labels": "budget",
    "confidence level": "level",
    "strata": "n_strata",
    "stratification rule": "stratifier",
    "expected accuracy": "expected",
    "planned interim analyses": "looks",
    "labels of each wave": "waves",
    "proportion with double annotation": "second_share",
    "annotators' answers": "asks",
    "annotators see": "columns",
    "seed": "seed",
    "SHA-256 of the scores": "scores",
    "events": "events",
    "last hash": "last_hash",
    "created": "created",
    "last event": "last_event",
    "software": "software",
}
PERCENTAGES = ("level", "expected", "second_share")


def write_session(
    session: "AuditSession",
    output: str,
    by: str | None = None,
    *,
    json: str | None = None,
    tables: str | None = None,
) -> tuple[SessionEstimate, list[Path]]:
    """Write the report of a session and return its estimate and its files.

    The report is written completely or not at all. It counts as one interim analysis.
    """
    targets = checked_targets(output, json=json, tables=tables)
    design, who = session.design, check_who(by)
    command = ["workbench", "audit", "report", session.path, *targets.options()]
    if who:
        command += ["--by", who]
    title = TITLES[design["question"]].format_map(design)
    is_doubled = design["question"] == "accuracy" and design["second_share"] > 0
    settings = {"audit": os.path.basename(session.path), **design}
    brief = Brief(title, shlex.join(command), [], {"second_labels": is_doubled}, settings)
    values = {"audit": session.path, "by": who}
    report = run_report(NOTEBOOK, values, targets, brief, recorded=True)
    return SessionEstimate.from_dict(report.records[0].result), report.files


@dataclass(frozen=True)
class SessionReport:
    """What the report of a session shows; `estimates` are by method, "planned" first."""

    file: str
    design: dict
    estimates: dict[str, SessionEstimate]
    status: "SessionStatus"
    looks: list[dict]
    undone: int
    rates: Table | None
    strata: Table | None
    skipped: Table | None
    settings: Table | None

    def basis(self) -> list[str]:
        """Return the sample behind the finding, and the next steps, as sentences."""
        design, estimate = self.design, self.estimates["planned"]
        items = counted(design["items"], "item")
        if design["question"] == "difference" and design["asks"] == "truth":
            items = (
                f"the {sum(design['stratum_size']):,} of {items} with different predictions of the "
                "models"
            )
        strata = counted(len(design["stratum_size"]), "stratum", "strata")
        if self.status.waves:
            strata += f" and {counted(self.status.waves, 'wave')} that depend on earlier labels"
        labels = f"{estimate.labeled:,} of {counted(estimate.planned, 'planned label')}"
        meaning = self._meaning(CORRECTED if estimate.is_corrected else "planned")
        sentences = [
            f"From {labels}, sampled at random from {items} within {strata}. The "
            f"{percent(design['level'])} interval {meaning}."
        ]
        if design["question"] == "difference" and design["asks"] == "truth":
            sentences.append(f"{which_is_which(compared_models(design['source']))}.")
        if design["source"].get("left_out"):
            sentences.append(f"{design['source']['left_out']}.")
        steps = to_do(self.status, shlex.quote(self.file))
        return [*sentences, *(f"Next step: {step}" for step in steps)]

    def methods(self, *estimates: SessionEstimate | None) -> UnrecordedHtml:
        """Return tables of the estimates and of their methods, which are not recorded."""
        planned = self.estimates["planned"]
        common = set(planned.notes)
        corrected = [(CORRECTED, planned.labeled, planned.quoted)]
        quoted = corrected if planned.is_corrected else []
        notes = []
        for estimate in filter(None, estimates):
            quoted.append((estimate.method, estimate.labeled, estimate.by_labels))
            own_notes = [note for note in estimate.notes if note not in common]
            where = "method", estimate.method
            notes += [Note(note.kind, note.text, note.where or where) for note in own_notes]
        rows = []
        for method, labeled, metrics in quoted:
            for metric, lowest, highest, limits in metrics:
                error = limits.half_width if limits else 0
                value, low, high = shown(metric, lowest, highest, limits, error)
                row = {
                    "method": method,
                    "metric": "accuracy" if metric in (BY_FIRST, CORRECTED) else name_of(metric),
                    "estimate": "not yet known" if math.isnan(lowest) else value,
                    "limits": f"{low} to {high}" if limits else "none yet",
                    "labeled": labeled,
                }
                rows.append(row)
        meanings = [{"method": method, "about": self._meaning(method)} for method, *_ in quoted]
        tables = [
            Table(tuple(rows), planned.headline(), notes=planned.notes),
            Table(tuple(meanings), "When each interval is valid", notes=notes),
        ]
        return UnrecordedHtml("".join(table._repr_html_() for table in tables))

    def _meaning(self, method: str) -> str:
        if "anytime" not in methods_for(self.design):
            method = {"planned": "at the end", "looks": "at planned looks"}.get(method, method)
        return MEANING[method]

    def looked(self) -> str:
        """Return the number of interim analyses in a sentence."""
        if len(self.looks) == 1:
            return "This report is the only interim analysis so far."
        return (
            f"There were {counted(len(self.looks), 'interim analysis', 'interim analyses')} up to "
            f"{counted(self.status.labeled, 'label')}. The file records each of them. The last one "
            "is this report."
        )

    def look_table(self) -> Table:
        """Return a row per interim analysis; of a report, the limits that are valid at any time."""
        rows, kind = [], "difference" if self.design["question"] == "difference" else ""
        for look in self.looks:
            texts = []
            for name, ends in (look.get("intervals") or {}).items():
                visible = look["method"] != "report" or name.startswith(("planned", CORRECTED))
                if ends and visible:
                    limits = Interval(*ends, self.design["level"], "")
                    texts.append(f"{name} {' to '.join(shown(kind, *ends, limits)[1:])}")
            rows.append(
                {
                    "time": look["time"][:19].replace("T", " "),
                    "who": look["who"],
                    "method": look["method"],
                    "labeled": look["labeled"],
                    "limits": "; ".join(texts) or "no interval",
                }
            )
        last = range(max(0, len(rows) - SHOWN_LOOKS), len(rows))
        return Table(tuple(rows), "Interim analyses", tuple(last))


def read(audit: str, by: str = "") -> SessionReport:
    """Record an interim analysis of a session and return what its report shows.

    Parameters
    ----------
    audit : str
        File of the session.
    by : str
        Name of the person who requests the report, "" for none.
    """
    from workbench.extras.sessions.session import AuditSession

    with AuditSession.open(audit) as session:
        estimates, rates = session.overview(by or None)
        by_method = {estimate.method: estimate for estimate in estimates}
        design, status, events = session.design, session.status(), session.events()
        strata = "Strata"
        if "judged" in design:
            strata += ", by the answer that the judge labels correct"
        strata += ": size, items to label, and labels so far"
        skipped = [{"id": item} for item in session.skipped()]
        settings = _settings(design, events, session.last_hash)
        undone = sum(event.kind == "undone" for event in events)
        return SessionReport(
            os.path.basename(session.path),
            design,
            by_method,
            status,
            session.looks,
            undone,
            _table(rates, "First labels per stratum"),
            _table(session.strata(), strata),
            _table(skipped, "Items that could not be labeled"),
            _table(settings, "Settings"),
        )


def _table(rows: Iterable[dict], caption: str) -> Table | None:
    """Return rows as a table, None for no rows."""
    entries = tuple(rows)
    return Table(entries, caption) if entries else None


def to_do(status: "SessionStatus", file: str) -> list[str]:
    """Return which items to label again, with the commands that assign them; `file` as typed."""
    steps = []
    for who, sheet, count in (
        ("a third annotator must label {} with two different labels", "third.csv", status.third),
        ("a second annotator must label {}", "second.csv", status.second),
    ):
        if count:
            command = f"workbench audit export {file} {sheet} -n {count} --by NAME"
            steps.append(f"{who.format(counted(count, 'item'))}: {command}")
    if status.wave_is_done:
        steps.append(
            f"wave {status.wave} of {status.waves} is labeled: sample the next one with workbench "
            f"audit next {file}, or export it with workbench audit export {file} sheet.csv"
        )
    return steps


def _settings(
    design: Mapping[str, Any], events: "Sequence[Event]", last_hash: str
) -> Iterator[dict]:
    values = dict(design)
    column = design["source"].get("strata_by") or design["source"].get("judge")
    if column:
        values["stratifier"] = f"values of {column!r}"
    values["n_strata"] = len(design["stratum_size"])
    values |= {"events": len(events), "last_hash": last_hash}
    values |= {"created": events[0].time, "last_event": events[-1].time}
    values["software"] = f"workbench {package_version()}, Python {platform.python_version()}"
    for setting, name in SETTINGS.items():
        value = values.get(name)
        if isinstance(value, (list, tuple)):
            value = ", ".join(map(str, value))
        if value is not None and name in PERCENTAGES:
            value = percent(value)
        if value not in (None, ""):
            yield {"setting": setting, "value": value}
