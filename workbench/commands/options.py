"""Help for all commands: examples, errors that name the option as typed, completion of file names.

`Command` is the base of all commands and `Group` of all groups. `RefusingCommand` also reports
errors of the library as mistakes of the user.
"""

import os
from collections.abc import Callable, Iterable
from typing import Any

import click
from click.shell_completion import CompletionItem

from workbench import checks

OUTPUTS = {"output", "json", "json_file", "tables", "checkpoint"}  # options that name no input


class _WithExample(click.Command):
    """A command or group whose help ends with an example."""

    def __init__(self, *arguments: Any, example: str = "", **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self.example = example

    def format_epilog(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the example."""
        if self.example:
            with formatter.section("Example"):
                for line in self.example.splitlines():
                    formatter.write(f"  {line}\n")


class Group(_WithExample, click.Group):
    """A group of commands, which shows its help if no command is named."""

    def parse_args(self, context: click.Context, args: list[str]) -> list[str]:
        """Read the name of the command."""
        return super().parse_args(context, args or ["--help"])


class Command(_WithExample):
    """A command that never overwrites a file that it reads.

    The shell completes file names for arguments and options that take any text.
    """

    def get_params(self, context: click.Context) -> list[click.Parameter]:
        """Return the arguments and options."""
        parameters = super().get_params(context)
        for parameter in parameters:
            if type(parameter.type) is click.types.StringParamType:
                parameter.type = TextOrFile()
        return parameters

    def outputs(self, context: click.Context) -> set[str]:
        """Return the names of the parameters that name files to write."""
        return OUTPUTS | {"sheet"} if self.name == "export" else OUTPUTS

    def invoke(self, context: click.Context) -> Any:
        """Run the command while the files that it reads are protected."""
        from workbench.data.whole_files import keeping

        values: list[Any] = []
        for name in context.params.keys() - self.outputs(context):
            value = context.params[name]
            values += value if isinstance(value, tuple) else [value]
        paths = [os.path.expanduser(value) for value in values if isinstance(value, str)]
        with keeping(filter(os.path.isfile, paths)):
            return super().invoke(context)


class RefusingCommand(Command):
    """A command that reports a mistake of the user in one line, with the option as it is typed."""

    def invoke(self, context: click.Context) -> Any:
        """Run the command."""
        try:
            return super().invoke(context)
        except checks.WrongArgument as error:
            raise click.ClickException(error.called(as_typed(self.params))) from error
        except ValueError as error:
            raise click.ClickException(str(error)) from error


def as_typed(parameters: Iterable[click.Parameter]) -> Callable[[str], str]:
    """Return a function from the name of an argument to its option as it is typed.

    The function returns a name unchanged if no option sets it.
    """
    options = {
        name: parameter.opts[-1]
        for parameter in parameters
        if isinstance(parameter, click.Option)
        for name in (parameter.name, parameter.opts[-1].lstrip("-").replace("-", "_"))
    }
    return lambda argument: options.get(argument, argument)


class TextOrFile(click.types.StringParamType):
    """Text, for which the shell completes file names."""

    def shell_complete(
        self, context: click.Context, parameter: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Ask the shell for its own completion of file names."""
        return [CompletionItem(incomplete, type="file")]


def completion(names: Callable[[], Iterable[str]]) -> Callable:
    """Return a completion for the shell: names that begin as typed, and file names without any.

    Parameters
    ----------
    names : function
        Returns the names. It is called only when a shell asks.
    """

    def matching_names(
        context: click.Context, parameter: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        matches = [CompletionItem(name) for name in names() if name.startswith(incomplete)]
        return matches or [CompletionItem(incomplete, type="file")]

    return matching_names


def plain(text: Any) -> str:
    """Return text of a user's file with its control characters escaped for a terminal."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in str(text))
