"""The actions of the project, one statement a file. docs/howto-operator.md explains how to add one."""

from __future__ import annotations

import importlib
import pkgutil

from ..alias import called_generator
from ..errors import ExpressionError
from ..language import Action
from ..language.place import Place, at_their_line


def _found() -> tuple[dict[str, Action], dict[str, str]]:
    """All actions by name; and by the names of files, and of actions stated twice, why there are none."""
    actions: dict[str, Action] = {}
    wrong = {}
    for module in sorted(m.name for m in pkgutil.iter_modules(__path__)):
        try:
            with called_generator(), at_their_line(Place(f"{__path__[0]}/{module}.py", 1)):
                values = list(vars(importlib.import_module(f"{__name__}.{module}")).values())
        except ExpressionError as error:
            wrong[module] = str(error)
            continue
        for value in values:
            a = vars(value).get("action") if isinstance(value, type) else None
            if isinstance(a, Action) and (other := actions.setdefault(a.name, a)) is not a:
                wrong[a.name] = f"{a.place}: {a.name} is also the action of {other.place}; rename one of the classes"
    stated = sorted(actions.items(), key=lambda item: len(item[1].statement.__mro__))
    return {name: a for name, a in stated if name not in wrong}, wrong


_STATEMENTS, WRONG_FILES = _found()
"""Statements, and why others are none: those are unaffected."""
ACTIONS: dict[str, Action] = {name: a for name, a in _STATEMENTS.items() if a.has_matrix}
"""All actions by name, each after those that it builds on."""
SMEARINGS: dict[str, Action] = {name: a for name, a in _STATEMENTS.items() if not a.has_matrix}
"""Statements that make links and nothing else: smearings that any action can be given."""
