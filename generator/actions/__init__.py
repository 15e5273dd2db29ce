"""The actions of the project, one statement a file. docs/howto-operator.md explains how to add one."""

from __future__ import annotations

import importlib
import pkgutil

from generator.errors import ExpressionError
from generator.language import Action
from generator.language.place import Place, at_their_line


def _found() -> tuple[dict[str, Action], dict[str, str]]:
    """All actions by name; and by name the files that cannot be read, with the reason.

    Raises:
        ExpressionError: two actions have one name.
    """
    actions: dict[str, Action] = {}
    unread = {}
    for module in sorted(m.name for m in pkgutil.iter_modules(__path__)):
        try:
            with at_their_line(Place(f"{__path__[0]}/{module}.py", 1)):
                values = list(vars(importlib.import_module(f"{__name__}.{module}")).values())
        except ExpressionError as error:
            unread[module] = str(error)
            continue
        for value in values:
            stated = vars(value).get("action") if isinstance(value, type) else None
            if not isinstance(stated, Action):
                continue
            other = actions.setdefault(stated.name, stated)
            if other is not stated:
                raise ExpressionError(
                    f"{stated.place}: {stated.name} is the name of the action at {other.place} too; rename one"
                )
    return dict(sorted(actions.items(), key=lambda item: len(item[1].statement.__mro__))), unread


_STATEMENTS, UNREAD = _found()
ACTIONS: dict[str, Action] = {name: a for name, a in _STATEMENTS.items() if a.has_matrix}
"""All actions by name, those that others build on first."""
SMEARINGS: dict[str, Action] = {name: a for name, a in _STATEMENTS.items() if not a.has_matrix}
"""Statements that make links and nothing else: smearings that any action can be given."""
