"""A function for each command, made from the table of its arguments."""

from collections.abc import Callable
from typing import Any

from .calls import call
from .table import Command, read_table


def _function(name: str) -> Callable[..., Any]:
    def function(*args: Any, **kwargs: Any) -> Any:
        kwargs = with_action(kwargs)
        command = TABLE[name]
        return call(command, command.bind(args, kwargs))

    function.__name__ = function.__qualname__ = name
    function.__module__ = __name__
    return function


def with_action(given: dict[str, Any]) -> dict[str, Any]:
    """Arguments with the action in place of the file that states it: `mine.py`, or `mine.py:name`."""
    if ".py" not in str(given.get("action", "")):
        return given
    from .cells import action_of_file

    return given | {"action": action_of_file(str(given["action"]))}


def refresh() -> None:
    """Reads the table anew, where an action was added: its parameters are arguments."""
    TABLE.update({c.name: c for c in read_table()})
    for name, command in TABLE.items():
        function = globals().setdefault(name, _function(name))
        function.__doc__ = command.doc()
        function.__signature__ = command.signature()


TABLE: dict[str, Command] = {}
refresh()
__all__ = [*TABLE]
