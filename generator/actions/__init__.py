"""The actions of the project, one statement a file. docs/howto-operator.md explains how to add one."""

from __future__ import annotations

import importlib
import pkgutil

from generator.language import Action


def _found() -> dict[str, Action]:
    actions = {}
    for module in sorted(m.name for m in pkgutil.iter_modules(__path__)):
        for value in vars(importlib.import_module(f"{__name__}.{module}")).values():
            stated = vars(value).get("action") if isinstance(value, type) else None
            if isinstance(stated, Action):
                actions[stated.name] = stated
    return dict(sorted(actions.items(), key=lambda item: len(item[1].statement.__mro__)))


_STATEMENTS = _found()
ACTIONS: dict[str, Action] = {name: a for name, a in _STATEMENTS.items() if a.has_matrix}
"""All actions by name, those that others build on first."""
SMEARINGS: dict[str, Action] = {name: a for name, a in _STATEMENTS.items() if not a.has_matrix}
"""Statements that make links and nothing else: smearings that any action can be given."""
