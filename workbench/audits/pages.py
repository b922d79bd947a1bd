"""The report of an audit session: one HTML page that asks for nothing from outside."""
from __future__ import annotations

import html
import os
import platform
import secrets
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench import reports
from workbench.audits.pictures import looks_picture
from workbench.checks import counted
from workbench.reports.build import checked_output, package_version
from workbench.results import Table, html_table, note_list, percent
from workbench.stratified.session_estimates import METHODS
from workbench.stratified.session_store import now

if TYPE_CHECKING:
    from workbench.stratified.sessions import AuditSession

SHOWN_LOOKS = 100
EXPLAINED = {
    "planned": "holds whenever one looks; shortest at the planned end", "anytime": "holds whenever one looks or stops",
    "looks": "holds at the looks that were declared, or at every 10 labels from 30 to 600",
    "fixed": "holds if the number of labels was not chosen by looking"}
POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"


def write_page(session: AuditSession, output: str, by: str | None = None) -> str:
    """Write the report of a session, as a whole or not at all, and return its finding in a sentence."""
    path = checked_output(output)
    # the fixed interval first: what the report itself looks at is no reason to stop
    estimates = [session.estimate(method, by) for method in reversed(_methods(session))][::-1]
    page = _page(session, estimates, _sections(session, estimates, by))
    temporary = path.with_name(f"workbench-{os.getpid()}-{secrets.token_hex(4)}.part.html")
    try:
        temporary.write_text(page, encoding="utf-8")
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)
    return estimates[0].headline()


def _methods(session):
    return METHODS if session.design["question"] == "accuracy" else tuple(each for each in METHODS if each != "anytime")


def _page(session, estimates, sections):
    import jinja2
    folder = Path(reports.__file__).parent / "template"
    style = jinja2.Environment(loader=jinja2.FileSystemLoader(folder)).get_template("report.css").render()
    title = html.escape(f"Audit {os.path.basename(session.path)}")
    body = "\n".join(sections)
    return (f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
            f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            '<meta name="color-scheme" content="light dark">\n'
            f"<title>{title}</title>\n<style>\n{style}\n</style>\n</head>\n<body>\n<header>"
            f'<p class="kicker">Audit report <span>{now():%Y-%m-%d}</span></p><h1>{title}</h1></header>\n'
            f"<main>\n{body}\n</main>\n</body>\n</html>\n")


def _sections(session, estimates, by):
    first, status, looks = estimates[0], session.status(), session.looks
    yield _paragraph(f"{first.headline()}.")
    yield note_list(first.notes)
    yield "<h2>What may be said</h2>"
    yield _output(Table(tuple(_rows(estimates)), "The same labels, by how the interval allows for looking"))
    known = set(first.notes)
    for each in estimates[1:]:
        more = [note for note in each.notes if note not in known]
        yield f"<h3>{html.escape(each.method)}</h3>{note_list(more)}" if more else ""
    if session.design["second_share"] and session.design["question"] == "accuracy":
        second = session.second_labels(by)
        yield f"<h2>Second labels</h2>{_paragraph(second.headline() + '.')}{note_list(second.notes)}"
    yield "<h2>The work</h2>"
    yield _paragraph(f"{status.headline()}.")
    yield _output(Table(tuple(session.strata()), "Strata"))
    yield from _words(session)
    yield f"<h2>Every look</h2>{_paragraph(_looked(looks, status))}"
    if len(_pictured(looks)) > 1:
        yield f"<figure>{looks_picture(_pictured(looks), session.design)}</figure>"
    yield _output(Table(tuple(_look_rows(looks[-SHOWN_LOOKS:])), f"The last of {counted(len(looks), 'look')}"))
    yield "<h2>How this was made</h2>"
    yield html_table(list(_settings(session)), "Settings")


def _paragraph(text):
    return f"<p>{html.escape(text)}</p>"


def _output(table):
    return f'<div class="output">{table._repr_html_()}</div>'


def _rows(estimates):
    for each in estimates:
        for row in each.rows():
            yield {name: row[name] for name in ("method", "metric", "estimate", "low", "high", "labeled")} | {
                "use": EXPLAINED[each.method]}


def _words(session):
    """Yield what was corrected, taken back and skipped."""
    events = session.events()
    undone = sum(event.kind == "undone" for event in events)
    if undone:
        yield _paragraph(f"{counted(undone, 'label or skip was', 'labels or skips were')} taken back; the file keeps "
                         "them.")
    skipped = session.skipped()
    if skipped:
        yield _output(Table(tuple({"id": each} for each in skipped), "Skipped items"))


def _looked(looks, status):
    labels = counted(status.labeled, "label")
    return (f"Estimates were looked at {counted(len(looks), 'time')} on the way to {labels}; each look is in the file, "
            "and those of this report are among them.")


def _pictured(looks):
    """Return number of labels and limits of the looks that had an interval for one number."""
    found = []
    for look in looks:
        limits = look.get("intervals") or {}
        values = [each for each in limits.values() if each]
        if len(limits) == 1 and values and look["method"] in METHODS:
            found.append({"labeled": look["labeled"], "low": values[0][0], "high": values[0][1],
                          "method": look["method"]})
    return found


def _look_rows(looks):
    for look in looks:
        limits = "; ".join(f"{metric} {100 * each[0]:.1f}% to {100 * each[1]:.1f}%"
                           for metric, each in (look.get("intervals") or {}).items() if each)
        yield {"time": look["time"][:19].replace("T", " "), "who": look["who"], "method": look["method"],
               "labeled": look["labeled"], "limits": limits or "no interval"}


def _strata_words(design):
    column = design["source"].get("strata_by")
    return {"strata": len(design["stratum_size"]) if column else design["n_strata"],
            "rule of the strata": f"the values of {column!r}" if column else design["stratifier"]}


def _settings(session):
    design, events = session.design, session.events()
    shown: dict[str, Any] = {
        "question": design["question"], "class": design["metrics_of"], "planned labels": design["budget"],
        "level": percent(design["level"]), **_strata_words(design),
        "expected accuracy": design["expected"], "declared looks": ", ".join(map(str, design["looks"])),
        "share of second labels": design["second_share"], "people write": design["asks"],
        "people see": ", ".join(design["columns"]), "seed": design["seed"], "SHA-256 of the scores": design["scores"],
        "events": len(events), "made": events[0].time, "last event": events[-1].time,
        "software": f"workbench {package_version()}, Python {platform.python_version()}"}
    return ({"setting": name, "value": value} for name, value in shown.items() if value not in (None, ""))
