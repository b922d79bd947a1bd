"""Help for all commands: errors that name the option as typed, and completion of file names.

`RefusingCommand` is a command that reports errors in this way.
"""

from collections.abc import Callable, Iterable
from typing import Any

import click
from click.shell_completion import CompletionItem

from workbench import checks


class RefusingCommand(click.Command):
    """A command that reports a mistake of the user in one line, with the option as it is typed.

    Its help ends with an example.
    """

    def __init__(self, *arguments: Any, example: str, **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self.example = example

    def invoke(self, context: click.Context) -> Any:
        """Run the command."""
        try:
            return super().invoke(context)
        except checks.WrongArgument as error:
            raise click.ClickException(error.called(as_typed(self.params))) from error
        except ValueError as error:
            raise click.ClickException(str(error)) from error

    def format_epilog(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the example."""
        with formatter.section("Example"):
            for line in self.example.splitlines():
                formatter.write(f"  {line}\n")


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


def complete_files(command: click.Command) -> None:
    """Let the shell complete file names for arguments and options that take any text."""
    for parameter in command.params:
        if type(parameter.type) is click.types.StringParamType:
            parameter.type = TextOrFile()


def plain(text: Any) -> str:
    """Return text of a user's file with its control characters escaped for a terminal."""
    return "".join(each if each.isprintable() else repr(each)[1:-1] for each in str(text))
