"""How an argument that is refused is called on the command line."""

from collections.abc import Callable, Iterable

import click


def as_typed(parameters: Iterable[click.Parameter]) -> Callable[[str], str]:
    """Return a function from an argument to the option that sets it, as it is typed, or to itself without one."""
    options = {name: parameter.opts[-1] for parameter in parameters if isinstance(parameter, click.Option)
               for name in (parameter.name, parameter.opts[-1].lstrip("-").replace("-", "_"))}
    return lambda argument: options.get(argument, argument)
