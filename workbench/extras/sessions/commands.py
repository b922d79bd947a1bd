"""The commands of `workbench audit`, which run an audit session from the plan to the report."""

import os
import shlex
import subprocess
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import click

from workbench import checks
from workbench.commands.options import Group, RefusingCommand
from workbench.commands.options import plain as printable
from workbench.extras.sessions.agreement_command import agreement, print_notes
from workbench.extras.sessions.tools import TOOLS
from workbench.results import sentences

if TYPE_CHECKING:
    from workbench.data.scored_items import ScoredItems
    from workbench.extras.sessions.session import AuditSession
    from workbench.extras.sessions.sheets import SheetImport

TOLD_ROWS, TOLD_CHANGES = 200, 5
METHODS = ("planned", "anytime", "looks", "fixed")


class AuditGroup(Group):
    """A group of commands that report a mistake of the user in one line."""

    def invoke(self, context: click.Context) -> Any:
        """Run a command and report the errors of its input as mistakes of the user."""
        try:
            return super().invoke(context)
        except ValueError as error:
            raise click.ClickException(str(error)) from error
        except BrokenPipeError:
            raise
        except OSError as error:
            raise click.ClickException(
                f"cannot use {error.filename or 'the file'}: {error.strerror}"
            ) from error


def _typed(*arguments: str) -> str:
    """Return words as they are typed in a terminal, quoted if needed."""
    return subprocess.list2cmdline(arguments) if os.name == "nt" else shlex.join(arguments)


STEPS = (
    "workbench audit new scores.csv audit.db --budget 300 --score p --prediction yhat --id item",
    "workbench audit export audit.db sheet.csv        (then fill the last column)",
    "workbench audit import audit.db sheet.csv",
    "workbench audit desk audit.db                    (or label in the browser)",
    "workbench audit status audit.db",
    "workbench audit report audit.db -o audit.html",
)


@click.group(
    cls=AuditGroup,
    help="\n".join(
        [
            "Run an audit: plan it, label items, and report the result.\n",
            "All labels are kept in one file. A typical audit takes these steps:\n",
            "\b",
            *STEPS,
        ]
    ),
)
def audit() -> None:
    """Run an audit."""


audit.add_command(agreement)
BY = click.Option(
    ["--by"],
    metavar="NAME",
    envvar="WORKBENCH_BY",
    help="Your name, required with several annotators.  [env: WORKBENCH_BY]",
)
FILE = click.Argument(["file"], metavar="AUDIT.DB")
DASHES = {"ignore_unknown_options": True}  # an identifier may begin with a dash


def command(
    name: str, example: str, *before: click.Argument, by: bool = True, **settings: Any
) -> Callable:
    """Return a decorator that makes a command for the file of an audit.

    The arguments `before` come before the file. The last option is the name of the annotator.
    """

    def decorate(function: Callable) -> click.Command:
        decorated = audit.command(
            name, cls=RefusingCommand, example=example, params=[*before, FILE], **settings
        )(function)
        decorated.params += [BY] * by
        return decorated

    return decorate


@command(
    "new",
    "workbench audit new scores.csv audit.db --budget 300 --score p --prediction yhat --id item "
    "--columns text\nworkbench audit new samples_qa.jsonl qa.db --budget 50 --strata-by "
    "doc.subject\nworkbench audit new scores.csv audit.db --from report-labels.plan.json",
    click.Argument(["scores"]),
)
@click.option("--budget", type=int, help="Planned number of labels.  [required without --from]")
@click.option(
    "--from",
    "plan",
    metavar="PLAN",
    help="Continue a report's audit: its plan or annotation sheet, with settings and labels.",
)
@click.option("--score", default="score", show_default=True, help="Column of scores.")
@click.option("--prediction", default="", help="Column of predicted classes.")
@click.option(
    "--id", "identifier", default="", help="Column of identifiers.  [default: row numbers]"
)
@click.option(
    "--score-is",
    default="auto",
    show_default=True,
    type=click.Choice(["auto", "confidence", "class1", "margin", "log_confidence"]),
    help="Meaning of the score; auto guesses it from the file and reports it.",
)
@click.option("--positive", default="", help="Class whose probability is the score.")
@click.option(
    "--classes",
    default="auto",
    show_default=True,
    type=click.Choice(["auto", "text", "numbers"]),
    help="Whether classes such as 01 and 1 differ (text) or not (numbers); auto rejects them.",
)
@click.option(
    "--rival",
    default="",
    help="Column or file of a second model's predictions, for --question difference.",
)
@click.option(
    "--judge",
    default="",
    metavar="A,B",
    help="Columns of judge labels on the answers of two models, for --question difference. Show "
    "the answers with --columns; annotators do not see the judge labels.",
)
@click.option(
    "--probabilities",
    default="",
    metavar='"P_*"',
    help="Columns of probabilities, one per class, instead of --score and --prediction.",
)
@click.option(
    "--model",
    default="",
    metavar="COLUMN",
    help="Column of models, if two models have one row each per item.",
)
@click.option(
    "--leave-out",
    default="",
    type=click.Choice(["", "missing"]),
    metavar="missing",
    help="Leave out rows without a score or a prediction, and list them.",
)
@click.option(
    "--strata-by",
    default="",
    metavar="COLUMN",
    help="Column whose values are the strata, instead of strata by score.",
)
@click.option(
    "--question",
    type=click.Choice(["accuracy", "class-metrics", "difference"]),
    default="accuracy",
    show_default=True,
    help="Accuracy; precision, recall and F1 of a class; or the difference of two models.",
)
@click.option(
    "--metrics-of", default="", metavar="CLASS", help="Class, for --question class-metrics."
)
@click.option(
    "--asks",
    type=click.Choice(["correct", "truth", "which"]),
    help="correct: annotators see the prediction and label it as correct or not; truth: they give "
    "the true class; which: they choose the correct answer of two models.  "
    "[default: correct; truth for a difference; which with a judge]",
)
@click.option(
    "--columns", default="", metavar='"A B"', help="Columns of the file that annotators see."
)
@click.option(
    "--strata",
    "n_strata",
    type=int,
    help="Number of strata by score, with labels in proportion to stratum size.  "
    "[default: by the budget]",
)
@click.option("--stratifier", default="equal_size", show_default=True, help="Rule for the strata.")
@click.option(
    "--trust-scores",
    is_flag=True,
    help="Allocate more labels by the scores. Use it if you checked that they are calibrated.",
)
@click.option(
    "--expected",
    type=float,
    default=0.85,
    show_default=True,
    help="Expected accuracy; a close value shortens the interval before the planned end.",
)
@click.option(
    "--looks",
    default="",
    metavar="N,N,...",
    help="Numbers of labels for planned interim analyses, at most 10.",
)
@click.option(
    "--second-share",
    type=float,
    default=0.0,
    show_default=True,
    help="Proportion of items with double annotation, for accuracy. Fewer items with 1 (all of "
    "them) are better than more items with less.",
)
@click.option(
    "--waves",
    type=int,
    default=1,
    show_default=True,
    help="Number of waves, each allocated to the most uncertain strata so far. For accuracy, with "
    "5 strata by default.",
)
@click.option("--level", type=float, default=0.95, show_default=True, help="Confidence level.")
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the random sample.")
@click.pass_context
def new(
    context: Any, scores: Any, file: Any, plan: Any, looks: Any, by: Any, **settings: Any
) -> Any:
    """Plan an audit of the rows of SCORES and write AUDIT.DB.

    SCORES is a table (csv, xlsx, parquet, json) or the log of an evaluation: a .json or .eval file
    of Inspect, or samples_*.jsonl of lm-evaluation-harness. Write log.json#NAME for one scorer or
    filter of a log.
    """
    from workbench.audits.questions import QUESTIONS
    from workbench.extras.sessions.design import frame_of
    from workbench.extras.sessions.session import AuditSession
    from workbench.reports.inputs.stratified import shown_columns
    from workbench.stratified.second_labels import ADVICE

    if plan:
        plan, sheet = _plan_beside(plan)
        settings |= _planned(plan, context)
    elif settings["budget"] is None:
        raise click.UsageError("Missing option '--budget'.", context)
    source = {name: settings.pop(name) for name in SOURCE}
    items = _read_items(scores, source)
    if plan:
        _refuse_others(items, plan, sheet)
    question = settings.pop("question").replace("-", "_")
    columns = settings.pop("columns")
    if source["judge"] and question != "difference":
        raise checks.WrongValue("judge", "needs --question difference")
    asks = "which" if source["judge"] else QUESTIONS[question].answers[0]
    settings["asks"] = settings["asks"] or asks
    if settings["n_strata"] is None:
        settings["n_strata"] = "auto"
    source["left_out"] = items.left_out
    with AuditSession.create(
        file,
        items,
        question=question,
        looks=_whole_numbers(looks),
        by=by,
        source=source,
        columns=shown_columns(scores, columns, items),
        **settings,
    ) as session:
        imported = _imported(session, sheet, by) if plan and os.path.exists(sheet) else None
        frame = frame_of(items, session.design)
    strata = checks.counted(frame.strata.n_strata, "stratum", "strata")
    if settings["waves"] > 1:
        strata += f" and {settings['waves']} waves"
    total = checks.counted(frame.items.size, "item")
    click.echo(f"Wrote {file}: {settings['budget']:,} of {total} to label, in {strata}.")
    if imported:
        _tell_import(imported, sheet)
        click.echo(f"From {sheet}: {imported.headline()}.")
    elif plan:
        click.echo(f"No labels were imported, because there is no {sheet}.")
    if items.read_as:
        click.echo(f"Scores were read as {items.read_as}.")
    if items.left_out:
        click.echo(f"{items.left_out}.")
    notes = [*items.notes, *frame.strata.notes, *frame.notes]
    if 0 < settings["second_share"] < 1:
        notes.append(ADVICE)
    print_notes(notes)
    file = _typed(file)
    click.echo(f"Next: workbench audit next {file}, or workbench audit export {file} sheet.csv")


SOURCE = (
    "score",
    "prediction",
    "identifier",
    "score_is",
    "positive",
    "classes",
    "rival",
    "strata_by",
    "probabilities",
    "model",
    "leave_out",
    "judge",
)


def _plan_beside(path: str) -> tuple[dict, str]:
    """Return a plan and the path of its sheet, from the path of either."""
    from workbench.labeling.plans import PLAN_ENDING, read_plan

    stem = path.removesuffix(PLAN_ENDING)
    paths = [path] if stem == path else [stem + ".csv", stem + ".xlsx"]
    sheet, *further = [name for name in paths if os.path.exists(name)] or paths[:1]
    plan = read_plan(sheet)
    if plan is None:
        raise click.ClickException(
            f"--from must name the plan of an annotation sheet, {PLAN_ENDING}, or a sheet with its "
            f"plan next to it; there is no plan for {path!r}"
        )
    allocation = plan["settings"]["allocation"]
    usual = "auto" if plan["settings"]["n_strata"] == "auto" else "proportional"
    if allocation != usual and plan["asks"] != "which":
        raise click.ClickException(
            f"--from must name a plan with proportional or default allocation; {path!r} has the "
            f"allocation {allocation!r}"
        )
    if further:
        raise click.ClickException(
            f"--from must name one of the two sheets {sheet!r} and {further[0]!r}"
        )
    return plan, sheet


def _imported(session: "AuditSession", sheet: str, by: str | None) -> "SheetImport":
    """Return the result of importing a sheet; delete the session if the sheet cannot be read."""
    try:
        return session.import_labels(sheet, by)
    except BaseException:
        session.close()
        os.remove(session.path)
        raise


def _planned(plan: dict, context: click.Context) -> dict:
    """Return the settings of a plan.

    Raise an error if an option contradicts the plan. Options for columns are allowed.
    """
    options = {
        option.name: option.opts[-1]
        for option in context.command.params
        if context.get_parameter_source(option.name) is not click.core.ParameterSource.DEFAULT
    }
    names = "question", "metrics_of", "n_strata", "stratifier", "seed"
    decided = {
        "budget": plan["budget"],
        "asks": plan["asks"],
        "waves": 1,
        **{name: plan["settings"][name] for name in names},
        "trust_scores": plan["settings"].get("trust_scores", False),
    }
    for name in decided.keys() & options:
        raise click.ClickException(f"give --from or {options[name]}, not both; the plan sets it")
    read_as = plan["source"] | {"columns": ",".join(plan["columns"])}
    if "id" in read_as:
        read_as["identifier"] = read_as["id"]
    names = {*SOURCE, "columns"} & read_as.keys() - options.keys()
    return decided | {name: read_as[name] for name in names}


def _refuse_others(items: "ScoredItems", plan: dict, sheet: str) -> None:
    """Raise an error if items are not those of a plan."""
    from workbench.audits.questions import question_of
    from workbench.labeling.plans import item_digests, refuse_changed

    question = question_of(plan["settings"]["question"], plan["asks"])
    refuse_changed(sheet, plan, plan | {"data": item_digests(question.population(items))})


def _read_items(scores: str, source: dict) -> "ScoredItems":
    from workbench.data.scored_items import read_scores
    from workbench.reports.inputs.stratified import read_judged

    if source.get("judge"):
        return read_judged(scores, source["judge"], source["identifier"], source)
    with checks.naming(by="strata_by", id="identifier"):
        arguments = {"identifier": "id", "strata_by": "by"}
        return read_scores(
            scores,
            **{arguments.get(name, name): source[name] for name in SOURCE[:-1] if name in source},
        )


def _whole_numbers(text: str) -> list:
    numbers = [word.strip() for word in text.split(",") if word.strip()]
    wrong = [word for word in numbers if not word.isdecimal()]
    if wrong:
        raise checks.WrongValue(
            "looks", "must be whole numbers with commas, such as 100,200,300", wrong[0]
        )
    return [int(word) for word in numbers]


def _opened(file: str) -> "AuditSession":
    from workbench.extras.sessions.session import AuditSession

    return AuditSession.open(file)


LABELS = {
    "correct": "1 (correct) or 0 (incorrect)",
    "truth": "the true class",
    "which": "A, B, both or neither",
}


@command("next", "workbench audit next audit.db -n 5 --by ann")
@click.option("-n", "count", type=int, default=1, show_default=True, help="Number of items.")
def next_items(file: str, count: int, by: str | None) -> None:
    """Show the next items to label.

    Items that are already assigned to you come first. New items are assigned to you for one day.
    """
    count = checks.whole("n", count, 1)
    with _opened(file) as session:
        items = session.held(by)[:count]
        if len(items) < count:
            items += session.next(count - len(items), by)
        asks = session.design["asks"]
        done = session.status()
    for item in items:
        click.echo(printable(item.id))
        for name, value in item.shown.items():
            click.echo(f"    {printable(name)}: {printable(value)}")
    if not items:
        click.echo(f"No item is left to assign: {done.headline()}.")
        return
    click.echo(
        f"Next: workbench audit record {_typed(file)} ID LABEL, where LABEL is {LABELS[asks]}"
    )


@command("record", "workbench audit record audit.db item-17 1 --by ann", context_settings=DASHES)
@click.argument("identifier", metavar="ID")
@click.argument("label", metavar="LABEL")
def record(file: str, identifier: str, label: str, by: str | None) -> None:
    """Record the LABEL of item ID.

    LABEL is 1 (correct) or 0 (incorrect). If the audit asks for it, LABEL is the true class, or
    which answer is correct: A, B, both or neither.
    """
    with _opened(file) as session:
        outcome = session.record(identifier, label, by)
        status = session.status()
    messages = {
        "recorded": "Recorded",
        "corrected": "Corrected (the earlier label is kept in the history)",
        "known": "Already recorded",
    }
    click.echo(
        f"{messages[outcome]}: {printable(identifier)} is {printable(label)}. {status.headline()}."
    )


@command("skip", "workbench audit skip audit.db item-17 --by ann", context_settings=DASHES)
@click.argument("identifier", metavar="ID")
def skip(file: str, identifier: str, by: str | None) -> None:
    """Record that item ID cannot be labeled.

    Intervals then cover every label that the item could have.
    """
    with _opened(file) as session:
        session.skip(identifier, by)
        click.echo(f"Skipped: {printable(identifier)}. {session.status().headline()}.")


@command("undo", "workbench audit undo audit.db --by ann")
def undo(file: str, by: str) -> None:
    """Undo your last label or skip. The file keeps a record of it."""
    with _opened(file) as session:
        click.echo(f"Your last label or skip, of item {printable(session.undo(by))}, was undone.")


@command("desk", "workbench audit desk audit.db --images photos --by ann")
@click.option(
    "--images",
    default="",
    metavar="DIR",
    help="Folder of images; each item shows one of them.",
)
@click.option(
    "--image",
    default="",
    metavar="COLUMN",
    help="Shown column with the name of the image file.  [default: image, or the identifier]",
)
@click.option(
    "--port",
    type=click.IntRange(1, 65535),
    metavar="N",
    help="Port of the page on this machine.  [default: a free port]",
)
@click.option("--no-browser", is_flag=True, help="Only print the address.")
def desk(file: str, images: str, image: str, port: None, no_browser: bool, by: str) -> None:
    """Label items in the browser.

    The page shows one item at a time, with a key for each label. Press Ctrl-C in the terminal to
    stop.
    """
    from workbench.extras.sessions.desk_command import refuse_without_voila, serve

    refuse_without_voila()
    with _opened(file) as session:
        from workbench.extras.sessions.desk import desk as seat

        seat(
            session, images=images, image=image, by=by
        )  # errors of the desk appear before the page opens
    parameters = {
        "audit": os.path.abspath(os.path.expanduser(file)),
        "image": image,
        "by": by or "",
        "images": images and os.path.abspath(os.path.expanduser(images)),
    }
    serve(parameters, port=port, browser=not no_browser, say=click.echo)


@command(
    "import",
    "workbench audit import audit.db sheet.csv --by ann\n"
    "workbench audit import audit.db exported.json",
)
@click.argument("sheet")
@click.option(
    "--correct",
    is_flag=True,
    help="Rows may change earlier labels of the same annotator; the history keeps them.",
)
def import_sheet(file: str, sheet: str, correct: bool, by: str | None) -> None:
    """Record the labels of a filled SHEET.

    SHEET can also be an export of Label Studio, doccano or Prodigy. The command records all valid
    rows, and lists each rejected row with the reason.
    """
    with _opened(file) as session:
        imported = session.import_labels(sheet, by, correct=correct)
        status = session.status()
    _tell_import(imported, sheet)
    if imported.changes:
        count = len(imported.changes)
        rows = imported.row_is if count == 1 else f"{imported.row_is}s"
        numbers = checks.listed(imported.changes, TOLD_CHANGES)
        by_whom = ["--by", by] if by else []
        again = _typed("workbench", "audit", "import", file, sheet, *by_whom, "--correct")
        click.echo(
            f"{count:,} {rows} would change a label ({rows} {numbers}). To correct the recorded "
            f"labels (the history keeps them): {printable(again)}",
            err=True,
        )
    click.echo(f"{imported.headline()}. {status.headline()}.")


def _tell_import(imported: "SheetImport", sheet: str) -> None:
    """Print the rejected rows and the notes."""
    refused = [row for row in imported.refused if row[0] not in imported.changes]
    for row, identifier, reason in refused[:TOLD_ROWS]:
        where = f"Row {row}"
        if imported.tool:
            where = f"{printable(os.path.basename(sheet))}, record {row}"
        name, reason = printable(identifier), printable(reason)
        click.echo(f"{where} (id {name!r}) was not recorded: {reason}", err=True)
    if len(refused) > TOLD_ROWS:
        click.echo(f"and {len(refused) - TOLD_ROWS} more {imported.row_is}s", err=True)
    if len(refused) > imported.recorded + imported.repeated:
        report = _typed("workbench", "report", "stratified-accuracy", "--labels", sheet)
        click.echo(
            "An audit uses only labels of items that it sampled. If the labels are another random "
            f"sample of the scored items, use: {printable(report)} --scores SCORES",
            err=True,
        )
    print_notes(imported.notes)


@command("release", "workbench audit release audit.db --by ann")
@click.argument("identifiers", metavar="[ID]...", nargs=-1)
def release(file: str, identifiers: tuple[str, ...], by: str | None) -> None:
    """Release items that are assigned to you.

    Others can label them then. Without an ID, the command releases all of them.
    """
    with _opened(file) as session:
        count = session.release(identifiers or None, by)
    click.echo(f"Released {checks.counted(count, 'item')}.")


@command(
    "export",
    "workbench audit export audit.db sheet.csv -n 50 --by ann\n"
    "workbench audit export audit.db tasks.json --to label-studio",
)
@click.argument("sheet")
@click.option(
    "--to",
    type=click.Choice(["csv", "xlsx", *TOOLS]),
    help="Format: a sheet, or tasks for a tool.  [default: by the ending]",
)
@click.option(
    "-n",
    "count",
    type=int,
    help="Number of items to assign.  [default: the whole budget, none assigned]",
)
def export(file: str, sheet: str, to: str | None, count: int | None, by: str | None) -> None:
    """Write an annotation SHEET, or tasks for an annotation tool.

    With -n, it has the next items for an annotator. Without -n, a sheet has the whole budget with
    all labels so far, and tasks are the items without a label.
    """
    from workbench.extras.sessions.sheets import answers_of, shown_names

    with _opened(file) as session:
        design, count = session.design, session.export(sheet, count, by, to=to)
    if to not in TOOLS:
        items = checks.counted(count, "item")
        click.echo(
            f"Wrote {sheet} with {items}. Fill the column {design['asks']}, then run: workbench "
            f"audit import {_typed(file, sheet)}"
        )
        return
    answers = answers_of(design)
    click.echo(
        f"Wrote {sheet} with {checks.counted(count, 'task')}. Each gets one label: "
        f"{printable(', '.join(answers))}. Then run workbench audit import {_typed(file)} with the "
        f"export of {to}."
    )
    interface = TOOLS[to].interface
    if interface is not None:
        click.echo(f"Labeling interface of the project:\n{interface(shown_names(design), answers)}")


@command("status", "workbench audit status audit.db --within 2")
@click.option(
    "--method",
    type=click.Choice(METHODS),
    default="planned",
    show_default=True,
    help="Method of the interval, by how it allows for interim analyses.",
)
@click.option(
    "--within",
    type=float,
    metavar="POINTS",
    help="Also show how many more labels give an interval of ± this many points.",
)
def status(file: str, method: str, within: float | None, by: str | None) -> None:
    """Show progress, pace and the interval. This is recorded as an interim analysis."""
    from workbench.extras.sessions.page import to_do

    with _opened(file) as session:
        more = None
        if within is not None:
            points = checks.number("within", within, 0, 50, open_ends=True)
            with checks.naming(half_width="within"):
                more = session.more_labels(points / 100)
        before, estimate = session.status(), session.estimate(method, by)
        people = [
            f"{printable(who) or 'Unnamed'}: {checks.counted(labels, 'label')}."
            for who, labels in before.labels.items()
        ]
        lines = [
            estimate.headline(),
            estimate.uncorrected(),
            estimate.second.headline() if estimate.second else "",
            *sentences(estimate.notes),
            *to_do(before, _typed(file)),
        ]
    if more is not None:
        labels = checks.counted(more, "more label")
        lines.append(
            f"about {labels} for ±{within:g} points on average, if the rates stay the same"
        )
    click.echo(f"{before.headline()}.")
    if len(people) > 1:
        click.echo("\n".join(people))
    _print_lines(lines)


def _print_lines(lines: Iterable[str]) -> None:
    """Print lines that are not empty as sentences."""
    for line in filter(None, lines):
        click.echo(f"{line[0].upper()}{line[1:]}.")


@command("extend", "workbench audit extend audit.db 100")
@click.argument("count", type=int, metavar="N")
@click.option("--scores", help="File of scores, needed for more items than the audit keeps.")
def extend(file: str, count: int, scores: None, by: None) -> None:
    """Add N labels to the budget. The order of labeling stays the same."""
    from workbench.reports.inputs.stratified import shown_columns

    with _opened(file) as session:
        items, columns = None, None
        if scores:
            items = _read_items(scores, session.design["source"])
            columns = shown_columns(scores, ",".join(session.design["columns"]), items)
        budget = session.extend(count, items, columns=columns, by=by)
    click.echo(f"The budget is now {checks.counted(budget, 'label')}.")


@command("report", "workbench audit report audit.db -o audit.html")
@click.option("-o", "--output", default="audit.html", show_default=True, help="HTML file to write.")
@click.option(
    "--json",
    metavar="FILE",
    help="Also write settings and results as JSON. Its schema: "
    "`python -m pydoc workbench.reports.records`.",
)
@click.option(
    "--tables",
    metavar="DIR|X.XLSX",
    help="Also write all tables: CSV files in a folder, or one Excel file.",
)
def report(file: str, output: str, json: str | None, tables: str | None, by: str | None) -> None:
    """Write a report of the audit as one HTML page.

    It has the estimate with its interval, all interim analyses, and the items that could not be
    labeled. The report itself counts as an interim analysis.
    """
    from workbench.extras.sessions.page import to_do, write_session

    with _opened(file) as session:
        estimate, written = write_session(session, output, by, json=json, tables=tables)
        again = to_do(session.status(), _typed(file))
    _print_lines([estimate.headline(), *estimate.reasons(), estimate.uncorrected(), *again])
    click.echo("\n".join(f"Wrote {path}" for path in written))


@command("verify", "workbench audit verify audit.db --scores scores.csv", by=False)
@click.option(
    "--scores",
    help="File of scores, to check strata and order of labeling, too.",
)
def verify(file: str, scores: str) -> None:
    """Check that the file of the audit is unchanged."""
    with _opened(file) as session:
        source = session.design["source"]
        verification = session.verify(_read_items(scores, source) if scores else None)
    _print_lines([verification.headline()])
