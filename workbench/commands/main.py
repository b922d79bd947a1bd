"""The command line: report, list, params and lab, and the commands that extras add.

`main` runs a command. `ReportCommand` adds the parameters of a notebook as options.
"""

import gc
import importlib.util
import os
import shlex
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

from workbench import registry
from workbench.checks import counted
from workbench.commands.doctor import doctor
from workbench.commands.options import TextOrFile, as_typed, complete_files
from workbench.commands.streams import reduce, stream
from workbench.commands.uses import TOPICS
from workbench.data.whole_files import write_text
from workbench.reports import parameters
from workbench.reports.parameters import ReportError, WrongParameter, refusing

FIXED = {"output", "param", "params", "all", "pdf", "json", "tables", "quiet", "help"}
PARAMETER = "parameter_"
OUTPUTS = {"output", "json", "json_file", "tables", "checkpoint"}
SOLUTIONS = "solutions"
START, SHOWN = "00-start.ipynb", "lab/tree"
# defaults for JupyterLab: it fetches no news and does not ask; a user's settings take precedence
LAB_SETTINGS = Path(__file__).parents[1] / "lab_settings"
VOILA = "voila.json"
# kernels end when their browser is gone; Voila reads this in the folder where it starts
VOILA_SETTINGS = """{"VoilaConfiguration": {"template": "workbench"},
 "MappingKernelManager": {"cull_idle_timeout": 600, "cull_interval": 60}}
"""


def main(arguments: Any = None) -> Any:
    """Run the command line and report a mistake of the user in one line on stderr.

    Exit codes of all commands:

    - 0: success
    - 1: a crash, or the reader of the output closed it
    - 2: a mistake of the user
    - 3 and 4: a gate failed or is undecided
    - 130: stopped by an interrupt
    """
    gc.set_threshold(
        100_000
    )  # a command ends soon: searching its objects for reference cycles would only cost time
    try:
        sys.exit(commands.main(arguments, prog_name="workbench", standalone_mode=False))
    except (click.ClickException, ReportError) as error:
        message = error.format_message() if isinstance(error, click.ClickException) else str(error)
        click.echo(f"Error: {' '.join(message.split())}", err=True)
        sys.exit(2)
    except click.Abort:
        click.echo("Stopped.", err=True)
        sys.exit(130)


def _show_version(context: Any, option: Any, wanted: bool) -> None:
    if wanted:
        from workbench.reports.build import package_version

        click.echo(f"workbench {package_version()}")
        context.exit()


@click.group(
    context_settings={"help_option_names": ["-h", "--help"]},
    no_args_is_help=False,
    invoke_without_command=True,
)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_show_version,
    help="Show the version and exit.",
)
@click.pass_context
def commands(context: Any) -> None:
    """Evaluate classifiers honestly with few labels, and learn how."""
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


class ReportCommand(click.Command):
    """The command `report`, whose options include the parameters of the topic's notebook."""

    def parse_args(self, context: Any, args: list) -> list:
        """Read the parameters of the notebook first, because they define the options."""
        try:
            context.meta["parameters"] = _options_for(args)
        except ReportError:
            if not context.resilient_parsing:  # the shell completes names while they are typed
                raise
        return super().parse_args(context, _joined(args, context.meta.get("parameters", [])))

    def get_params(self, context: Any) -> list:
        """Return the fixed options and one per parameter of the notebook."""
        fixed = super().get_params(context)
        named = map(_option, context.meta.get("parameters", []))
        return [*fixed[:-1], *named, *fixed[-1:]]

    def invoke(self, context: Any) -> None:
        """Run the command; an error names the option as it is typed, and suggests the doctor."""
        try:
            return super().invoke(context)
        except ReportError as error:
            given_apart = context.params["pairs"] or context.params["params_file"]
            options = [
                parameter
                for parameter in self.get_params(context)
                if not given_apart or context.params.get(parameter.name) is not None
            ]
            said = (
                error.called(as_typed(options)) if isinstance(error, WrongParameter) else str(error)
            )
            raise click.ClickException(said + _doctor_of(context)) from error


def _doctor_of(context: click.Context) -> str:
    """Return the hint to run the doctor on the files of a report that failed."""
    given = [
        context.params.get(PARAMETER + each["name"])
        for each in context.meta["parameters"]
        if each["role"] == "file" and context.params["topic"] in TOPICS
    ]
    files = dict.fromkeys(shlex.quote(file) for file in given if file and os.path.isfile(file))
    if not files:
        return ""
    return f" (to see which commands fit a file, run workbench doctor {' or '.join(files)})"


def _options_for(args: list) -> list:
    known = parameters.topics()
    first = args[:1] if args and not args[0].startswith("-") and args[0] != "all" else []
    topic = next(
        (word for word in args if word in known or word.endswith(".ipynb")), *first or [None]
    )
    if topic is None:
        return []
    declared = parameters.notebook_parameters(parameters.find_notebook(topic))
    return [parameter for parameter in declared if parameter["name"] not in FIXED]


def _joined(args: list, declared: list) -> list:
    """Return the words of a command, in which a flag may be followed by true or false."""
    switches = [_option_name(parameter) for parameter in declared if parameter["type"] == "bool"]
    joined: list = []
    for word in args:
        if joined and joined[-1] in switches and word.lower() in ("true", "false"):
            joined[-1] = f"--{'no-' if word.lower() == 'false' else ''}{joined[-1][2:]}"
        else:
            joined.append(word)
    return joined


def _option_name(parameter: dict) -> str:
    """Return the option of a parameter."""
    return f"--{parameter['name'].replace('_', '-')}"


def _option(parameter: dict) -> Any:
    default, option = parameter["default"], _option_name(parameter)
    text = f"{parameters.shown_help(parameter)}  [{'empty' if default == '' else default}]".strip()
    named = PARAMETER + parameter["name"]
    if parameter["type"] == "bool":
        return click.Option([f"{option}/--no-{option[2:]}", named], default=None, help=text)
    return click.Option(
        [option, named],
        type=TextOrFile(),
        metavar=parameters.shown_type(parameter).upper(),
        help=text,
    )


def _matching_topics(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Return the topics that begin as typed; without any, the shell completes file names."""
    topics = [topic for topic in parameters.topics() if topic.startswith(incomplete)]
    return list(map(CompletionItem, topics)) or [CompletionItem(incomplete, type="file")]


@commands.command(cls=ReportCommand)
@click.argument("topic", required=False, shell_complete=_matching_topics)
@click.option(
    "-o",
    "--output",
    help="HTML file to write, or a folder with --all.  [default: report.html; reports]",
)
@click.option(
    "-p",
    "--param",
    "pairs",
    nargs=2,
    multiple=True,
    metavar="NAME VALUE",
    help="Set a parameter of the notebook. Can be repeated.",
)
@click.option("--params", "params_file", metavar="FILE", help="Read parameters from a YAML file.")
@click.option("--all", "everything", is_flag=True, help="Report every topic with its defaults.")
@click.option(
    "--pdf", is_flag=True, help="Also write a PDF next to the HTML file (needs Chromium)."
)
@click.option(
    "--json",
    metavar="FILE",
    help="Also write inputs, parameters and results as JSON. Its schema: "
    "`python -m pydoc workbench.reports.records`.",
)
@click.option(
    "--tables",
    metavar="DIR|X.XLSX",
    help="Also write all tables: CSV files in a folder, or one Excel file.",
)
@click.option("--quiet", is_flag=True, help="Show no progress.")
def report(
    topic: str | None,
    output: str | None,
    pairs: tuple,
    params_file: str | None,
    everything: bool,
    pdf: bool,
    json: str | None,
    tables: None,
    quiet: bool,
    **named: bool | str | None,
) -> None:
    """Run the notebook of TOPIC and write a report in HTML.

    The report is one file that needs no network. `workbench list` shows the topics. Add --help
    after a TOPIC to list its parameters. You can set a parameter by its option, by -p or in the
    --params file. If it is set more than once, the option takes precedence over -p, and -p over the
    file.
    """
    given = _yaml(params_file) if params_file else {}
    given |= dict(pairs)
    given |= {
        key.removeprefix(PARAMETER): value for key, value in named.items() if value is not None
    }
    if everything or topic == "all":
        if given or (everything and topic):
            raise ReportError(
                "--all reports every topic with its defaults; remove the topic and the parameters"
            )
        if json or tables:
            raise ReportError("--json and --tables need a single topic; remove --all")
        _report_all(Path(output or "reports"), pdf, quiet)
    elif topic is None:
        raise ReportError(f"TOPIC is missing. Topics: {', '.join(parameters.topics())}")
    else:
        _report(
            topic,
            given,
            "report.html" if output is None else output,
            quiet,
            pdf=pdf,
            json=json,
            tables=tables,
        )


def _report(topic: Any, given: Any, output: Any, quiet: Any, **wanted: Any) -> Any:
    os.environ.setdefault(
        "OMP_NUM_THREADS", "1"
    )  # threads that wait for small sums cost a tenth of the time
    from workbench.reports.build import ReportWarning, build_files, checked_output

    path = checked_output(output)
    with warnings.catch_warnings():
        warnings.simplefilter("always", ReportWarning)
        warnings.showwarning = lambda message, *details, **more: click.echo(
            f"Warning: {message}", err=True
        )
        written = build_files(
            topic,
            given,
            path,
            progress=not quiet,
            command=shlex.join(["workbench", *sys.argv[1:]]),
            **wanted,
        )
    click.echo("\n".join(f"Wrote {file}" for file in written))


def _report_all(folder: Path, pdf: bool, quiet: bool) -> None:
    if folder.suffix == ".html" or (os.path.exists(folder) and not folder.is_dir()):
        raise ReportError(f"with --all, --output must be a folder; got {str(folder)!r}")
    with refusing(f"cannot make the folder {str(folder)!r}"):
        folder.mkdir(parents=True, exist_ok=True)
    for topic in parameters.topics():
        _report(topic, {}, folder / f"{topic}.html", quiet, pdf=pdf)


def _yaml(file: str) -> dict:
    import yaml

    with refusing(f"cannot read {str(file)!r}"):
        content = Path(file).read_bytes()
    try:
        values = yaml.safe_load(content.decode("utf-8"))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise ReportError(
            f"{file}, line {mark.line + 1}: {error.problem or error.context}"
        ) from error
    except (yaml.YAMLError, ValueError) as error:
        raise ReportError(f"{file} is not valid YAML: {error}") from error
    if not isinstance(values, dict):
        raise ReportError(f"{file} must hold one parameter per line, in the form name: value")
    return values


@commands.command("list")
def list_topics() -> None:
    """List the topics of reports."""
    _show([(topic, parameters.notebook_title(path)) for topic, path in parameters.topics().items()])


@commands.command()
@click.argument("topic", shell_complete=_matching_topics)
def params(topic: str) -> None:
    """List the parameters of TOPIC.

    Each line has the name, type, default and description of a parameter.
    """
    _show(
        [
            (
                each["name"],
                parameters.shown_type(each),
                repr(each["default"]),
                parameters.shown_help(each),
            )
            for each in parameters.notebook_parameters(parameters.find_notebook(topic))
        ]
    )


def _show(rows: list[tuple[str, ...]]) -> None:
    """Print rows in columns."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        click.echo(
            "  ".join(
                f"{entry:<{width}}" for entry, width in zip(row, widths, strict=True)
            ).rstrip()
        )


@commands.command()
@click.argument("folder", metavar="[DIR]", default="workbench-notebooks")
@click.argument("jupyter", nargs=-1, type=click.UNPROCESSED, metavar="[-- OPTIONS OF JUPYTERLAB]")
@click.option(
    "--no-browser",
    is_flag=True,
    help="Start the server without a browser; it prints the address of the start page.",
)
@click.option("--copy-only", is_flag=True, help="Only copy the notebooks.")
def lab(folder: Any, jupyter: Any, no_browser: Any, copy_only: Any) -> None:
    """Copy the notebooks to DIR and open JupyterLab there.

    The data of the notebooks are copied, too. Existing files are kept. DIR also gets voila.json:
    run `voila` in DIR to show the lessons without code.
    """
    if folder.startswith("-"):
        folder, jupyter = "workbench-notebooks", (folder, *jupyter)
    if not copy_only and importlib.util.find_spec("jupyterlab") is None:
        raise click.ClickException(
            'JupyterLab is not installed. Install it: pip install "evaluation-workbench[lab]"; '
            "or only copy the notebooks: --copy-only"
        )
    folder = Path(os.path.expanduser(folder))
    copied, kept = _copy_notebooks(folder)
    notebooks = [name for name in copied if name.endswith(".ipynb")]
    counts = (
        counted(len(notebooks), "notebook"),
        counted(len(copied) - len(notebooks), "data file"),
    )
    click.echo(
        f"Copied {' and '.join(counts)} to {folder}" + (f"; kept {', '.join(kept)}" if kept else "")
    )
    if not copy_only:
        start = [f"--LabApp.default_url=/{SHOWN}/{START}"] if (folder / START).is_file() else []
        _become_lab(folder, [*start, *["--no-browser"] * no_browser, *jupyter])


def _become_lab(folder: Any, words: Any) -> Any:
    """Replace this process by JupyterLab, so that signals and exit code are those of JupyterLab."""
    words = [sys.executable, "-m", "workbench.commands.lab_server", *words]
    paths = filter(None, [str(LAB_SETTINGS), os.environ.get("JUPYTER_CONFIG_PATH")])
    environment = os.environ | {"JUPYTER_CONFIG_PATH": os.pathsep.join(paths)}
    sys.stdout.flush()
    os.chdir(folder)
    if os.name == "nt":  # there a process cannot be replaced
        sys.exit(subprocess.call(words, env=environment))
    os.execve(words[0], words, environment)


def _copy_notebooks(folder: Any) -> tuple:
    copied, kept, inside = list[str](), list[str](), parameters.notebooks_folder()
    notebooks = sorted([*inside.glob("*.ipynb"), *inside.glob(f"{SOLUTIONS}/*.ipynb")])
    with refusing(f"cannot copy to {str(folder)!r}"):
        for made in (folder, folder / SOLUTIONS, folder / parameters.DATA):
            made.mkdir(parents=True, exist_ok=True)
        for source in (*notebooks, *parameters.data_files()):
            name = source.relative_to(inside).as_posix()
            try:
                with (folder / name).open("xb") as file:
                    file.write(source.read_bytes())
                copied.append(name)
            except FileExistsError:
                kept.append(name)
        if not (folder / VOILA).exists():
            write_text(folder / VOILA, VOILA_SETTINGS)
    return copied, kept


def _keep_inputs(command: click.Command) -> None:
    """Keep a command, or each command of a group, from overwriting a file that it reads.

    The shell also completes file names for it.
    """
    if isinstance(command, click.Group):
        for each in command.commands.values():
            _keep_inputs(each)
        return
    complete_files(command)
    invoke = command.invoke

    def keeping(context: click.Context) -> Any:
        from workbench.data.whole_files import keeping

        written = (
            OUTPUTS
            | ({"sheet"} if command.name == "export" else set())
            | {
                PARAMETER + each["name"]
                for each in context.meta.get("parameters", ())
                if each["role"] == "output"
            }
        )
        given = (
            value
            for name, values in context.params.items()
            if name not in written
            for value in (values if isinstance(values, tuple) else [values])
            if isinstance(value, str)
        )
        with keeping([value for value in map(os.path.expanduser, given) if os.path.isfile(value)]):
            return invoke(context)

    command.invoke = keeping  # type: ignore[method-assign,assignment]


for command in (doctor, stream, reduce, *map(registry.load, registry.COMMANDS)):
    commands.add_command(command)
_keep_inputs(commands)
