"""How an argument that is refused is called on the command line."""

from collections.abc import Callable, Iterable
from typing import Any

import click

from workbench import checks


class RefusingCommand(click.Command):
    """A command whose user's mistakes are one line, in which an argument is named as it is typed.

    Its help ends with an example, also as it would be typed.
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
    """Return a function from an argument to the option that sets it, as it is typed, or to itself without one."""
    options = {
        name: parameter.opts[-1]
        for parameter in parameters
        if isinstance(parameter, click.Option)
        for name in (parameter.name, parameter.opts[-1].lstrip("-").replace("-", "_"))
    }
    return lambda argument: options.get(argument, argument)


def plain(text: Any) -> str:
    """Return text of a user's file so that a terminal shows it and obeys nothing in it."""
    return "".join(each if each.isprintable() else repr(each)[1:-1] for each in str(text))
