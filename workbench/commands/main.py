"""The command line: report, list, params and lab, and the other commands of `workbench.registry`.

`main` runs a command. `ReportCommand` adds the parameters of a notebook as options.
"""

import gc
import importlib.util
import os
import shlex
import subprocess
import sys
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click

from workbench import checks, registry
from workbench.commands.options import Command, Group, TextOrFile, as_typed, completion
from workbench.commands.uses import ACCURACY, CLUSTERS, MODELS, SHARES, TOPICS, VALUES
from workbench.data.whole_files import write_text
from workbench.reports import parameters
from workbench.reports.parameters import ReportError, WrongParameter, refusing

FIXED = {"output", "param", "params", "all", "pdf", "json", "tables", "quiet", "help"}
PARAMETER = "parameter_"
WITHOUT_COLUMNS = {  # parameters of text that name no columns
    "audit_period",
    "bounds",
    "classes",
    "collapse",
    "every",
    "metrics",
    "positive",
    "rho",
    "separator",
    "shift",
}
# the question that each report answers, and the options of its example on the example data
QUESTIONS = {
    ACCURACY: "How accurate is the model?",
    CLUSTERS: "How precise are F1, AUC and other metrics, also in clusters?",
    VALUES: "Which strata get the labels?",
    SHARES: "What are the true proportions behind predicted counts?",
    MODELS: "Is one model better in cross-validation?",
}
EXAMPLES = {
    ACCURACY: "--scores my.csv --score p --prediction yhat --budget 300",
    CLUSTERS: "--items labeled.csv --truth y --prediction yhat --stratum district --psu person "
    "--weight w",
    VALUES: "--strata records.parquet --stratum segment --value amount --budget 500",
    SHARES: "--audit audit.csv --counts months.csv --classes other,complaint",
    MODELS: "--losses losses.csv --models old,new --rho nadeau_bengio",
}
REPORT_HELP = [
    "Run the notebook of TOPIC and write a report in HTML.\n",
    "The report is one file that needs no network. Each TOPIC answers a question:\n",
    "\b",
    *(f"{topic:<28}  {question}" for topic, question in QUESTIONS.items()),
    "",
    "Add --help after a TOPIC to list its parameters. You can set a parameter by its option, by -p "
    "or in the --params file. If it is set more than once, the option takes precedence over -p, "
    "and -p over the file.",
]
SOLUTIONS = "solutions"
START, IN_LAB = "00-start.ipynb", "lab/tree"
# defaults for JupyterLab: it fetches no news and does not ask; a user's settings take precedence
LAB_SETTINGS = Path(__file__).parents[1] / "lab_settings"
VOILA = "voila.json"
# kernels end when their browser is gone; Voila reads this in the folder where it starts
VOILA_SETTINGS = """{"VoilaConfiguration": {"template": "workbench"},
 "MappingKernelManager": {"cull_idle_timeout": 600, "cull_interval": 60}}
"""


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and report a mistake of the user in one line on stderr.

    Exit codes of all commands:

    - 0: success
    - 1: a crash, or the reader of the output closed it
    - 2: a mistake of the user
    - 3 and 4: a gate failed or is undecided
    - 130: stopped by an interrupt
    """
    # a command ends soon: searching its objects for reference cycles would only cost time
    gc.set_threshold(100_000)
    try:
        sys.exit(commands.main(arguments, prog_name="workbench", standalone_mode=False))
    except (click.ClickException, ReportError) as error:
        message = error.format_message() if isinstance(error, click.ClickException) else str(error)
        click.echo(f"Error: {' '.join(message.split())}", err=True)
        sys.exit(2)
    except click.Abort:
        click.echo("Stopped.", err=True)
        sys.exit(130)


def _show_version(context: click.Context, option: click.Parameter, is_set: bool) -> None:
    if is_set:
        from workbench.reports.build import package_version

        click.echo(f"workbench {package_version()}")
        context.exit()


def _group(name: str) -> Group:
    """Return a group of the registry with its commands and an example of the first one."""
    group = registry.COMMANDS[name]
    members = list(map(registry.load, group.commands))
    example = members[0].example.partition("\n")[0]
    return Group(name, commands=members, help=group.help, example=example)


commands = _group("")
commands.context_settings = {"help_option_names": ["-h", "--help"]}
commands.params = [
    click.Option(
        ["--version"],
        is_flag=True,
        is_eager=True,
        expose_value=False,
        callback=_show_version,
        help="Show the version and exit.",
    )
]
for name in filter(None, registry.COMMANDS):
    commands.add_command(_group(name))


class ReportCommand(Command):
    """The command `report`, whose options include the parameters of the topic's notebook."""

    def parse_args(self, context: click.Context, args: list[str]) -> list[str]:
        """Read the parameters of the notebook first, because they define the options."""
        try:
            topic = _topic_of(args)
            context.meta["topic"] = topic
            context.meta["parameters"] = _options_for(topic)
        except ReportError:
            if not context.resilient_parsing:  # the shell completes names while they are typed
                raise
        return super().parse_args(context, _joined(args, _declared(context)))

    def get_params(self, context: click.Context) -> list[click.Parameter]:
        """Return the fixed options and one per parameter of the notebook."""
        *fixed, help_option = super().get_params(context)
        return [*fixed, *map(_option, _declared(context)), help_option]

    def format_epilog(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the example of the topic, or the general ones if no topic is named."""
        topic = context.meta.get("topic")
        if not topic:
            super().format_epilog(context, formatter)
            return
        options = f"{EXAMPLES.get(topic, '')} -o report.html".lstrip()
        with formatter.section("Example"):
            formatter.write(f"  workbench report {shlex.quote(topic)} {options}\n")

    def outputs(self, context: click.Context) -> set[str]:
        """Return the names of the parameters that name files to write."""
        declared = _declared(context)
        of_notebook = {PARAMETER + row["name"] for row in declared if row["role"] == "output"}
        return super().outputs(context) | of_notebook

    def invoke(self, context: click.Context) -> None:
        """Run the command; an error names the option as it is typed, and may suggest the doctor."""
        argument = ""
        try:
            return super().invoke(context)
        except WrongParameter as error:
            values = context.params
            options = self.get_params(context)
            if values["pairs"] or values["params_file"]:
                options = [option for option in options if values.get(option.name) is not None]
            message = error.called(as_typed(options))
            argument = error.argument
        except ReportError as error:
            message = str(error)
        raise click.ClickException(message + _doctor_hint(context, argument))


def _declared(context: click.Context) -> list[dict]:
    """Return the parameters of the notebook that become options."""
    return context.meta.get("parameters", [])


def _doctor_hint(context: click.Context, argument: str) -> str:
    """Return the hint to run the doctor on the files, unless a plain value is wrong."""
    declared = {row["name"]: row for row in _declared(context)}
    row = declared.get(argument, {})
    is_number = row.get("type") in ("int", "float")
    is_value = is_number or row.get("role") == "choice" or argument in WITHOUT_COLUMNS
    if context.params["topic"] not in TOPICS or is_value:
        return ""
    names = [PARAMETER + row["name"] for row in _declared(context) if row["role"] == "file"]
    paths = filter(None, map(context.params.get, names))
    files = dict.fromkeys(shlex.quote(path) for path in paths if os.path.isfile(path))
    if not files:
        return ""
    return f" (to see which commands fit a file, run workbench doctor {' or '.join(files)})"


def _topic_of(args: list[str]) -> str:
    """Return the topic or notebook that the arguments of `report` name, "" for none."""
    topics = parameters.topics()
    notebooks = [word for word in args if word in topics or word.endswith(".ipynb")]
    if not notebooks and args and not args[0].startswith("-") and args[0] != "all":
        notebooks = args
    return notebooks[0] if notebooks else ""


def _options_for(topic: str) -> list[dict]:
    """Return the parameters of a topic's notebook that become options."""
    if not topic:
        return []
    declared = parameters.notebook_parameters(parameters.find_notebook(topic))
    return [parameter for parameter in declared if parameter["name"] not in FIXED]


def _joined(args: list[str], declared: list[dict]) -> list[str]:
    """Return the arguments of a command, in which a flag may be followed by true or false."""
    switches = [_option_name(parameter) for parameter in declared if parameter["type"] == "bool"]
    joined: list[str] = []
    for word in args:
        if joined and joined[-1] in switches and word.lower() in ("true", "false"):
            prefix = "--no-" if word.lower() == "false" else "--"
            joined[-1] = prefix + joined[-1].removeprefix("--")
        else:
            joined.append(word)
    return joined


def _option_name(parameter: dict) -> str:
    """Return the option of a parameter."""
    return f"--{parameter['name'].replace('_', '-')}"


def _option(parameter: dict) -> click.Option:
    """Return the option that sets a parameter of a notebook."""
    option = _option_name(parameter)
    default = "empty" if parameter["default"] == "" else parameter["default"]
    text = f"{parameters.shown_help(parameter)}  [{default}]".strip()
    name = PARAMETER + parameter["name"]
    if parameter["type"] == "bool":
        return click.Option([f"{option}/--no-{option[2:]}", name], default=None, help=text)
    metavar = parameters.shown_type(parameter).upper()
    return click.Option([option, name], type=TextOrFile(), metavar=metavar, help=text)


_matching_topics = completion(parameters.topics)


@commands.command(
    cls=ReportCommand,
    help="\n".join(REPORT_HELP),
    example=f"workbench report {ACCURACY} {EXAMPLES[ACCURACY]}\nworkbench report --all -o reports",
)
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
    pairs: tuple[tuple[str, str], ...],
    params_file: str | None,
    everything: bool,
    **options: Any,
) -> None:
    """Run the notebook of TOPIC and write a report in HTML."""
    values = _yaml(params_file) if params_file else {}
    values |= dict(pairs)
    for name in [name for name in options if name.startswith(PARAMETER)]:
        value = options.pop(name)
        if value is not None:
            values[name.removeprefix(PARAMETER)] = value
    if not everything and topic != "all":
        if topic is None:
            raise ReportError(f"TOPIC is missing. Topics: {', '.join(parameters.topics())}")
        _report(topic, values, "report.html" if output is None else output, **options)
        return
    if values or (everything and topic):
        raise ReportError(
            "--all reports every topic with its defaults; remove the topic and the parameters"
        )
    if options["json"] or options["tables"]:
        raise ReportError("--json and --tables need a single topic; remove --all")
    folder = Path(output or "reports")
    if folder.suffix == ".html" or (os.path.exists(folder) and not folder.is_dir()):
        raise ReportError(f"with --all, --output must be a folder; got {str(folder)!r}")
    with refusing(f"cannot make the folder {str(folder)!r}"):
        folder.mkdir(parents=True, exist_ok=True)
    for each_topic in parameters.topics():
        _report(each_topic, {}, folder / f"{each_topic}.html", **options)


def _report(topic: str, values: dict, output: str | Path, quiet: bool, **targets: Any) -> None:
    """Write the report of a topic and print the paths of its files."""
    # threads that wait for small sums cost a tenth of the time
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    from workbench.reports.build import ReportWarning, build_files, checked_output

    path = checked_output(output)
    with warnings.catch_warnings():
        warnings.simplefilter("always", ReportWarning)
        warnings.showwarning = lambda message, *details: click.echo(f"Warning: {message}", err=True)
        command = shlex.join(["workbench", *sys.argv[1:]])
        written = build_files(topic, values, path, progress=not quiet, command=command, **targets)
    click.echo("\n".join(f"Wrote {file}" for file in written))


def _yaml(file: str) -> dict:
    """Return the parameters that a YAML file sets."""
    import yaml

    with refusing(f"cannot read {file!r}"):
        content = Path(file).read_bytes()
    try:
        values = yaml.safe_load(content.decode("utf-8"))
    except yaml.MarkedYAMLError as error:
        position = error.problem_mark or error.context_mark
        problem = error.problem or error.context
        raise ReportError(f"{file}, line {position.line + 1}: {problem}") from error
    except (yaml.YAMLError, ValueError) as error:
        raise ReportError(f"{file} is not valid YAML: {error}") from error
    if not isinstance(values, dict):
        raise ReportError(f"{file} must hold one parameter per line, in the form name: value")
    return values


@commands.command("list", cls=Command, example="workbench list")
def list_topics() -> None:
    """List the topics of reports and the questions that they answer."""
    topics = parameters.topics()
    _print_rows(
        (topic, QUESTIONS.get(topic) or parameters.notebook_title(path))
        for topic, path in topics.items()
    )


@commands.command(cls=Command, example="workbench params stratified-accuracy")
@click.argument("topic", shell_complete=_matching_topics)
def params(topic: str) -> None:
    """List the parameters of TOPIC.

    Each line has the name, type, default and description of a parameter.
    """
    _print_rows(
        (
            parameter["name"],
            parameters.shown_type(parameter),
            repr(parameter["default"]),
            parameters.shown_help(parameter),
        )
        for parameter in parameters.notebook_parameters(parameters.find_notebook(topic))
    )


def _print_rows(rows: Iterable[tuple[str, ...]]) -> None:
    """Print rows in aligned columns."""
    columns = zip(*rows, strict=True)
    padded = [[cell.ljust(max(map(len, column))) for cell in column] for column in columns]
    for cells in zip(*padded, strict=True):
        click.echo("  ".join(cells).rstrip())


@commands.command(
    cls=Command,
    example="workbench lab my-lessons\nworkbench lab my-lessons --copy-only\n"
    "workbench lab my-lessons -- --port=9999",
)
@click.argument("folder", metavar="[DIR]", default="workbench-notebooks")
@click.argument("jupyter", nargs=-1, type=click.UNPROCESSED, metavar="[-- OPTIONS OF JUPYTERLAB]")
@click.option(
    "--no-browser",
    is_flag=True,
    help="Start the server without a browser; it prints the address of the start page.",
)
@click.option("--copy-only", is_flag=True, help="Only copy the notebooks.")
def lab(folder: str, jupyter: tuple[str, ...], no_browser: bool, copy_only: bool) -> None:
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
    path = Path(os.path.expanduser(folder))
    copied, existing = _copy_notebooks(path)
    n_notebooks = sum(name.endswith(".ipynb") for name in copied)
    notebooks = checks.counted(n_notebooks, "notebook")
    data_files = checks.counted(len(copied) - n_notebooks, "data file")
    message = f"Copied {notebooks} and {data_files} to {path}"
    if existing:
        message += f"; kept {', '.join(existing)}"
    click.echo(message)
    if copy_only:
        return
    options = []
    if (path / START).is_file():
        options.append(f"--LabApp.default_url=/{IN_LAB}/{START}")
    if no_browser:
        options.append("--no-browser")
    _become_lab(path, [*options, *jupyter])


def _become_lab(folder: Path, options: list[str]) -> None:
    """Replace this process by JupyterLab, so that signals and exit code are those of JupyterLab."""
    command = [sys.executable, "-m", "workbench.commands.lab_server", *options]
    paths = filter(None, [str(LAB_SETTINGS), os.environ.get("JUPYTER_CONFIG_PATH")])
    environment = os.environ | {"JUPYTER_CONFIG_PATH": os.pathsep.join(paths)}
    sys.stdout.flush()
    os.chdir(folder)
    if os.name == "nt":  # there a process cannot be replaced
        sys.exit(subprocess.call(command, env=environment))
    os.execve(command[0], command, environment)


def _copy_notebooks(folder: Path) -> tuple[list[str], list[str]]:
    """Copy notebooks and data; return the names of the new and of the existing files."""
    copied, existing = [], []
    home = parameters.notebooks_folder()
    notebooks = sorted([*home.glob("*.ipynb"), *home.glob(f"{SOLUTIONS}/*.ipynb")])
    with refusing(f"cannot copy to {str(folder)!r}"):
        for subfolder in ("", SOLUTIONS, parameters.DATA):
            (folder / subfolder).mkdir(parents=True, exist_ok=True)
        for source in (*notebooks, *parameters.data_files()):
            name = source.relative_to(home).as_posix()
            try:
                with (folder / name).open("xb") as file:
                    file.write(source.read_bytes())
                copied.append(name)
            except FileExistsError:
                existing.append(name)
        if not (folder / VOILA).exists():
            write_text(folder / VOILA, VOILA_SETTINGS)
    return copied, existing
