"""The actions of the project, one statement a file. docs/howto-operator.md tells how to add one."""

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


ACTIONS: dict[str, Action] = _found()
"""All actions by name, those that others build on first."""
