"""The actions of the project, one statement a file. docs/howto-operator.md explains how to add one."""

from __future__ import annotations

import importlib
import pkgutil
import traceback

from generator.errors import SpecError
from generator.language import Action


def _found() -> tuple[dict[str, Action], dict[str, str]]:
    actions: dict[str, Action] = {}
    wrong = {}
    for module in sorted(m.name for m in pkgutil.iter_modules(__path__)):
        try:
            values = vars(importlib.import_module(f"{__name__}.{module}")).values()
        except SpecError as error:
            wrong[module] = str(error)
            continue
        except Exception as error:
            wrong[module] = f"{_line_of(error)}: {type(error).__name__}: {error}"
            continue
        stated = [vars(v).get("action") for v in values if isinstance(v, type)]
        for a in stated:
            if isinstance(a, Action) and actions.setdefault(a.name, a) is not a:
                wrong[module] = f"{a.place}: {a.name} is also the action of {actions[a.name].place}; rename the class"
    wrong = {f"{name}.py" if name in actions else name: why for name, why in wrong.items()}
    return dict(sorted(actions.items(), key=lambda item: len(item[1].statement.__mro__))), wrong


def _line_of(error: Exception) -> str:
    """Where a file of statements is wrong: its last line on the way to the error."""
    if isinstance(error, SyntaxError):
        return f"{error.filename}:{error.lineno}"
    lines = traceback.extract_tb(error.__traceback__)
    line = next((n for n in reversed(lines) if n.filename.startswith(__path__[0])), lines[-1])
    return f"{line.filename}:{line.lineno}"


_STATEMENTS, WRONG_FILES = _found()
"""Statements, and by their names why files hold none: others are unaffected."""
ACTIONS: dict[str, Action] = {name: a for name, a in _STATEMENTS.items() if a.has_matrix}
"""All actions by name, those that others build on first."""
SMEARINGS: dict[str, Action] = {name: a for name, a in _STATEMENTS.items() if not a.has_matrix}
"""Statements that make links and nothing else: smearings that any action can be given."""
