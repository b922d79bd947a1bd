"""The commands of `workbench audit`: one audit from the plan to the report, in one file."""
from __future__ import annotations

import functools
import os
import shlex
import subprocess
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from workbench import checks
from workbench.checks import counted
from workbench.results import sentences

if TYPE_CHECKING:
    from workbench.stratified.sessions import AuditSession

TOLD_ROWS = 200
QUESTIONS = ("accuracy", "class-metrics", "difference")
METHODS = ("planned", "anytime", "looks", "fixed")


class AuditGroup(click.Group):
    """Commands whose user's mistakes are one line."""

    def invoke(self, context: click.Context) -> Any:
        """Run a command, and tell what it refuses as a mistake of the user."""
        try:
            return super().invoke(context)
        except ValueError as error:
            raise click.ClickException(str(error)) from error
        except BrokenPipeError:         # whoever read the output has seen enough
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return context.exit(1)
        except OSError as error:
            raise click.ClickException(f"cannot use {error.filename or 'the file'}: {error.strerror}") from error


class ExampleCommand(click.Command):
    """A command whose help ends with an example as it would be typed."""

    def __init__(self, *arguments: Any, example: str, **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self.example = example

    def invoke(self, context: click.Context) -> Any:
        """Run the command; an argument that is refused is named as it is typed."""
        try:
            return super().invoke(context)
        except ValueError as error:
            raise click.ClickException(_as_typed(str(error), self.params)) from error

    def format_epilog(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the example."""
        with formatter.section("Example"):
            for line in self.example.splitlines():
                formatter.write(f"  {line}\n")


def _as_typed(text, parameters):
    """Return what the library refuses with the option in the place of the argument that it begins with."""
    name, _, rest = text.partition(" ")
    options = {known: each.opts[-1] for each in parameters if isinstance(each, click.Option)
               for known in (each.name, each.opts[-1].lstrip("-"))}
    return f"{options[name]} {rest}" if name in options and rest.startswith(("must ", "belongs ")) else text


def _typed(*words):
    """Return words as they are typed in a terminal, in quotes where they must be."""
    return subprocess.list2cmdline(words) if os.name == "nt" else shlex.join(words)


@click.group(cls=AuditGroup, help="""Carry out an audit: plan, hand out, record, look, report; nothing recorded is lost.

\b
workbench audit new scores.csv audit.db --budget 300 --score p --prediction yhat --id item
workbench audit export audit.db sheet.csv        (fill its last column, then)
workbench audit import audit.db sheet.csv        (or label at a desk in the browser)
workbench audit desk audit.db
workbench audit status audit.db
workbench audit report audit.db -o audit.html
""")
def audit():
    """Carry out an audit."""


def command(name: str, example: str, **settings: Any) -> Callable:
    """Return a decorator that makes a command with an example."""
    return functools.partial(audit.command, name, cls=ExampleCommand, example=example, **settings)()


BY = click.option("--by", metavar="NAME", envvar="WORKBENCH_BY",
                  help="Who does this; needed where several people label. WORKBENCH_BY of the environment sets it.")
FILE = click.argument("file", metavar="AUDIT.DB")
DASHES = {"ignore_unknown_options": True}       # an identifier may begin with a dash


def columns_of(function: Callable) -> Callable:
    """Add the options that say what the columns of a file of scores are."""
    options = [
        click.option("--score", default="score", show_default=True, help="Column of the scores."),
        click.option("--prediction", default="", help="Column of the predicted classes."),
        click.option("--id", "identifier", default="", help="Column of identifiers; without it rows are numbered."),
        click.option("--score-is", default="auto", show_default=True,
                     type=click.Choice(["auto", "confidence", "class1", "margin"]),
                     help="What the score is; auto: seen from the file, and said."),
        click.option("--positive", default="", help="The class whose probability the score is."),
        click.option("--rival", default="", help="Column of a second model's predictions (--question difference)."),
        click.option("--strata-by", default="", metavar="COLUMN",
                     help="Column whose values are the strata, in the place of strata cut from the scores.")]
    for option in reversed(options):
        function = option(function)
    return function


@command("new", "workbench audit new scores.csv audit.db --budget 300 --score p --prediction yhat --id item "
                "--columns text\n"
                "workbench audit new samples_qa.jsonl qa.db --budget 50 --strata-by doc.subject")
@click.argument("scores")
@FILE
@click.option("--budget", type=int, required=True, help="Labels that are planned.")
@columns_of
@click.option("--question", type=click.Choice(QUESTIONS), default="accuracy", show_default=True,
              help="What is asked: accuracy; precision, recall and F1 of a class; or two models' difference.")
@click.option("--metrics-of", default="", metavar="CLASS", help="The class, for --question class-metrics.")
@click.option("--asks", type=click.Choice(["correct", "truth"]),
              help="People see the prediction and write right or wrong, or they do not and write the true class. "
                   "[correct; truth for a difference]")
@click.option("--columns", default="", metavar='"A B"', help="Columns of the file that people see.")
@click.option("--strata", "n_strata", type=int, default=5, show_default=True, help="How many strata of the scores.")
@click.option("--stratifier", default="equal_size", show_default=True, help="The rule that cuts them.")
@click.option("--expected", type=float, default=0.85, show_default=True,
              help="Accuracy that you expect: shortens the interval before the planned end where it is near.")
@click.option("--looks", default="", metavar="N,N,...", help="Numbers of labels at which you will look, at most 10.")
@click.option("--second-share", type=float, default=0.0, show_default=True,
              help="Share of the items that somebody else labels too.")
@click.option("--level", type=float, default=0.95, show_default=True, help="Level of the intervals.")
@click.option("--seed", type=int, default=0, show_default=True, help="Draws the items.")
@BY
def new(scores, file, budget, columns, looks, question, metrics_of, asks, by, **settings):
    """Plan an audit of the rows of SCORES and write AUDIT.DB.

    SCORES is a table (csv, xlsx, parquet, json), or the log of an evaluation: Inspect's .json or .eval, or
    samples_*.jsonl of lm-evaluation-harness; log.json#NAME is that of one scorer or filter.
    """
    from workbench.inputs.stratified import shown_columns
    from workbench.stratified.session_design import frame_of
    from workbench.stratified.sessions import AuditSession
    source = {name: settings.pop(name) for name in SOURCE}
    items = _read_items(scores, source)
    asks = asks or ("truth" if question == "difference" else "correct")
    with AuditSession.create(file, items, budget=budget, question=question.replace("-", "_"), asks=asks,
                             metrics_of=metrics_of or None, looks=_whole_numbers(looks), by=by, source=source,
                             columns=shown_columns(scores, columns), **settings) as session:
        total = sum(session.design["stratum_size"])
        strata = counted(len(session.design["stratum_size"]), "stratum", "strata")
        notes = sentences([*items.notes, *frame_of(items, session.design).strata.notes])
    click.echo(f"Wrote {file}: {budget:,} of {counted(total, 'item')} to label, in {strata}.")
    if items.read_as:
        click.echo(f"Scores were read as {items.read_as}.")
    for note in notes:
        click.echo(f"Note: {plain(note)}.")
    click.echo(f"Next: workbench audit next {_typed(file)}, or workbench audit export {_typed(file)} sheet.csv")


SOURCE = ("score", "prediction", "identifier", "score_is", "positive", "rival", "strata_by")


def _read_items(scores, source):
    from workbench.data.scored_items import read_scores
    return read_scores(scores, score=source["score"], prediction=source["prediction"], id=source["identifier"],
                       score_is=source["score_is"], positive=source["positive"], rival=source["rival"],
                       by=source.get("strata_by", ""))


def _whole_numbers(text):
    words = [word.strip() for word in text.split(",") if word.strip()]
    wrong = [word for word in words if not word.isdecimal()]
    if wrong:
        raise click.ClickException(f"--looks takes whole numbers with commas, such as 100,200,300; got {wrong[0]!r}")
    return [int(word) for word in words]


def _opened(file: str) -> AuditSession:
    from workbench.stratified.sessions import AuditSession
    return AuditSession.open(file)


def plain(text: Any) -> str:
    """Return text of a user's file so that a terminal shows it and obeys nothing in it."""
    return "".join(each if each.isprintable() else repr(each)[1:-1] for each in str(text))


@command("next", "workbench audit next audit.db -n 5 --by ann")
@FILE
@click.option("-n", "count", type=int, default=1, show_default=True, help="How many.")
@BY
def next_items(file, count, by):
    """Show the next items to label: those that you have already, then new ones, yours for a day."""
    count = checks.whole("n", count, 1)
    with _opened(file) as session:
        items = session.held(by)[:count]
        if len(items) < count:
            items += session.next(count - len(items), by)
        asks = session.design["asks"]
        done = session.status()
    for item in items:
        click.echo(f"{plain(item.id)}" + "".join(f"\n    {plain(name)}: {plain(value)}"
                                                 for name, value in item.shown.items()))
    if not items:
        click.echo(f"Nothing to hand out: {done.headline()}.")
    else:
        what = "1 (right) or 0 (wrong)" if asks == "correct" else "the true class"
        click.echo(f"Then: workbench audit record {_typed(file)} ID LABEL, where LABEL is {what}")


@command("record", "workbench audit record audit.db item-17 1 --by ann", context_settings=DASHES)
@FILE
@click.argument("identifier", metavar="ID")
@click.argument("label", metavar="LABEL")
@BY
def record(file, identifier, label, by):
    """Record the LABEL of item ID: 1 (right) or 0 (wrong), or the true class where the audit asks for it."""
    with _opened(file) as session:
        said = session.record(identifier, label, by)
        status = session.status()
    told = {"recorded": "Recorded", "corrected": "Corrected, the label before is kept in the history",
            "known": "Known already"}
    click.echo(f"{told[said]}: {plain(identifier)} is {plain(label)}. {status.headline()}.")


@command("skip", "workbench audit skip audit.db item-17 --by ann", context_settings=DASHES)
@FILE
@click.argument("identifier", metavar="ID")
@BY
def skip(file, identifier, by):
    """Record that item ID cannot be labeled: every interval then holds whatever its label would be."""
    with _opened(file) as session:
        session.skip(identifier, by)
        click.echo(f"Skipped: {plain(identifier)}. {session.status().headline()}.")


@command("undo", "workbench audit undo audit.db --by ann")
@FILE
@BY
def undo(file, by):
    """Take back your last label or skip; the history keeps both."""
    with _opened(file) as session:
        click.echo(f"Taken back: the last word on {plain(session.undo(by))}.")


@command("desk", "workbench audit desk audit.db --images photos --by ann")
@FILE
@click.option("--images", default="", metavar="DIR", help="A folder of images: each item shows one from below it.")
@click.option("--image", default="", metavar="COLUMN",
              help="The shown column that names the image's file.  [image; without such a column the identifier]")
@click.option("--port", type=click.IntRange(1, 65535), metavar="N", help="Of the page, on this machine.  [a free one]")
@click.option("--no-browser", is_flag=True, help="Only print the address.")
@BY
def desk(file, images, image, port, no_browser, by):
    """Open the labeling desk in the browser: one item at a time, a key for each label; Ctrl-C ends it."""
    from workbench.audits.desk import refuse_without_voila, serve
    refuse_without_voila()
    with _opened(file) as session:
        from workbench.widgets.desk import desk as seat
        seat(session, images=images, image=image, by=by)        # what the desk refuses is told before it is shown
    given = {"audit": os.path.abspath(os.path.expanduser(file)), "image": image, "by": by or "",
             "images": images and os.path.abspath(os.path.expanduser(images))}
    serve(given, port=port, browser=not no_browser, say=click.echo)


@command("import", "workbench audit import audit.db sheet.csv --by ann\n"
                   "workbench audit import audit.db exported.json")
@FILE
@click.argument("sheet")
@BY
def import_sheet(file, sheet, by):
    """Record the labels of a filled SHEET, or of what Label Studio, doccano or Prodigy exported.

    Rows that are refused are listed with the reason, and the good ones recorded.
    """
    with _opened(file) as session:
        found = session.import_labels(sheet, by)
        status = session.status()
    for row, identifier, reason in found.refused[:TOLD_ROWS]:
        where = f"Row {row}" if found.row_is == "row" else f"{plain(os.path.basename(sheet))}, record {row}"
        click.echo(f"{where} (id {plain(identifier)!r}) was not recorded: {plain(reason)}", err=True)
    if len(found.refused) > TOLD_ROWS:
        click.echo(f"and {len(found.refused) - TOLD_ROWS} more {found.row_is}s", err=True)
    for note in sentences(found.notes):
        click.echo(f"Note: {plain(note)}.")
    click.echo(f"{found.headline()}. {status.headline()}.")


@command("export", "workbench audit export audit.db sheet.csv -n 50 --by ann\n"
                   "workbench audit export audit.db tasks.json --to label-studio")
@FILE
@click.argument("sheet")
@click.option("--to", type=click.Choice(["csv", "xlsx", "label-studio", "doccano", "prodigy"]),
              help="A sheet, or tasks for a tool.  [a sheet, as the ending tells]")
@click.option("-n", "count", type=int,
              help="Hand out so many items in the sheet.  [the whole budget, nothing handed out]")
@BY
def export(file, sheet, to, count, by):
    """Write a label SHEET or tasks: the next items for somebody, or the whole budget with all labels so far.

    Tasks for a tool are without -n what is still to be labeled.
    """
    from workbench.data.annotation_tasks import ENDINGS, label_studio_interface
    from workbench.stratified.session_sheets import answers_of, shown_names
    with _opened(file) as session:
        design, count = session.design, session.export(sheet, count, by, to=to)
    if to not in ENDINGS:
        click.echo(f"Wrote {sheet} with {counted(count, 'item')}: fill the column {design['asks']}, then "
                   f"workbench audit import {_typed(file, sheet)}")
        return
    answers = answers_of(design)
    click.echo(f"Wrote {sheet} with {counted(count, 'task')}; one label each: {plain(', '.join(answers))}. Then "
               f"workbench audit import {_typed(file)} and what {to} exports.")
    if to == "label-studio":
        click.echo(f"The project's labeling interface:\n{label_studio_interface(shown_names(design), answers)}")


@command("status", "workbench audit status audit.db --within 2")
@FILE
@click.option("--method", type=click.Choice(METHODS), default="planned", show_default=True,
              help="How the interval allows for looking.")
@click.option("--within", type=float, metavar="POINTS",
              help="How many more labels for an interval of ± so many points?")
@BY
def status(file, method, within, by):
    """Show progress, pace and the interval; that you looked is recorded."""
    with _opened(file) as session:
        more = None if within is None else _more_labels(session, within)
        before, found = session.status(), session.estimate(method, by)
        people = [f"{plain(who) or 'Nobody named'}: {counted(labels, 'label')}."
                  for who, labels in before.labels.items()]
        lines = [found.headline(), *sentences(found.notes)]
        if session.design["second_share"] and session.design["question"] == "accuracy":
            second = session.second_labels(by)
            lines += [second.headline(), *sentences(second.notes)]
    if more is not None:
        lines.append(f"about {counted(more, 'more label')} for ±{within:g} points, if the rates stay")
    click.echo("\n".join([f"{before.headline()}.", *people * (len(people) > 1)]))
    for line in lines:
        click.echo(f"{line[0].upper()}{line[1:]}.")


def _more_labels(session, within):
    within = checks.number("--within", within, 0, 50, open_ends=True)
    try:
        return session.more_labels(within / 100)
    except ValueError as error:
        raise click.ClickException(str(error).replace("half_width", "--within")) from error


@command("extend", "workbench audit extend audit.db 100")
@FILE
@click.argument("count", type=int, metavar="N")
@click.option("--scores", help="The file of scores again, needed beyond the items that the audit keeps.")
@BY
def extend(file, count, scores, by):
    """Add N labels to the budget; the order of labeling goes on as it would have gone."""
    from workbench.inputs.stratified import shown_columns
    with _opened(file) as session:
        items, columns = None, None
        if scores:
            items = _read_items(scores, session.design["source"])
            columns = shown_columns(scores, ",".join(session.design["columns"]))
        budget = session.extend(count, items, columns=columns, by=by)
    click.echo(f"The budget is now {counted(budget, 'label')}.")


@command("report", "workbench audit report audit.db -o audit.html")
@FILE
@click.option("-o", "--output", default="audit.html", show_default=True, help="The HTML file.")
@BY
def report(file, output, by):
    """Write the finding as one HTML page: interval, every look, what was skipped, and where it all comes from."""
    from workbench.audits.pages import write_page
    with _opened(file) as session:
        said = write_page(session, output, by)
    click.echo(f"{said}.")
    click.echo(f"Wrote {output}")


@command("verify", "workbench audit verify audit.db --scores scores.csv")
@FILE
@click.option("--scores", help="The file of scores again: strata and order of labeling are then computed from it.")
def verify(file, scores):
    """Check that the file is as it was written."""
    with _opened(file) as session:
        source = session.design["source"]
        found = session.verify(_read_items(scores, source) if scores else None)
    headline = found.headline()
    click.echo(f"{headline[0].upper()}{headline[1:]}.")
