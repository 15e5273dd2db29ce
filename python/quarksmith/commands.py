"""A function for each command, made from the table of its options."""

from collections.abc import Callable
from typing import Any

from .calls import call
from .table import Command, read_table


def _function(command: Command) -> Callable[..., Any]:
    signature = command.signature()

    def function(*args: Any, **kwargs: Any) -> Any:
        try:
            arguments = signature.bind(*args, **kwargs).arguments
        except TypeError as error:
            raise TypeError(f"{command.name}(): {error}") from None
        return call(command, arguments)

    function.__name__ = function.__qualname__ = command.name
    function.__module__ = __name__
    function.__doc__ = command.doc()
    function.__signature__ = signature  # type: ignore[attr-defined]
    return function


TABLE = read_table()
__all__ = [c.name for c in TABLE]
globals().update({c.name: _function(c) for c in TABLE})
