"""All operators by name: those of the actions, expressions, vector updates, conversions."""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from ..actions import ACTIONS, SMEARINGS, WRONG_FILES
from ..alias import called_generator
from ..errors import SpecError
from ..language import Action, Formula
from ..language.place import Place, at_their_line
from ..launch import launched
from ..lower.record import Lowered, Refused, try_lower
from ..spec import KernelSpec, Operator
from .blas import UPDATES
from .block import BLOCK_KERNELS
from .coarse import COARSE_KERNELS
from .contractions import CONTRACTIONS
from .convert import SITE_KERNELS
from .expression import Expression
from .gauge import GAUGE_KERNELS
from .represent import REPRESENT
from .stated import stated_operators


def _expressions(module: ModuleType) -> list[Expression]:
    """Expressions of a module: functions with the decorator `expression`, and Expression objects."""
    found = [Expression(value) if isinstance(value, Formula) else value for value in vars(module).values()]
    return [e for e in found if isinstance(e, Expression)]


def _of_no_action() -> list[Operator]:
    names = sorted(m.name for m in pkgutil.iter_modules(__path__))
    modules = [importlib.import_module(f"{__name__}.{name}") for name in names]
    expressions = [e for m in modules for e in _expressions(m)]
    return [
        *expressions,
        *CONTRACTIONS,
        *UPDATES,
        *BLOCK_KERNELS,
        *COARSE_KERNELS,
        *SITE_KERNELS,
        *GAUGE_KERNELS,
        *REPRESENT,
    ]


_OTHERS = _of_no_action()


def _statements() -> tuple[dict[str, Lowered], dict[str, Refused]]:
    """Records of all actions and smearings by name, and why others have none: others are unaffected."""
    found = {name: try_lower(action) for name, action in (ACTIONS | SMEARINGS).items()}
    for name in {o.name for o in _OTHERS} & set(found):
        place = (ACTIONS | SMEARINGS)[name].place
        found[name] = Refused(f"{place}: {name} is the name of an operator of the library; rename the class")
    lowered = {n: r for n, r in found.items() if isinstance(r, Lowered)}
    refused = {n: r for n, r in found.items() if isinstance(r, Refused)}
    return lowered, refused | {n: Refused(why) for n, why in WRONG_FILES.items()}


RECORDS, REFUSED = _statements()
"""Records of all statements by name; and the statements that could not be lowered, with the reason."""


def _library() -> dict[str, Operator]:
    found: dict[str, Operator] = {}
    for operator in (*stated_operators(RECORDS.values()), *_OTHERS):
        if found.setdefault(operator.name, operator) is not operator:
            raise SpecError(f"two operators are called {operator.name}; rename the action or expression")
    return found


OPERATORS: dict[str, Operator] = _library()
"""All operators by name."""
_LIBRARY = frozenset(OPERATORS)


def add_expressions(file: Path) -> list[Expression]:
    """Makes the expressions of a user's file known under their names.

    Raises:
        SpecError: the file cannot be run, holds none, or one has the name of an operator of the library.
    """
    spec = importlib.util.spec_from_file_location(file.stem, file)
    if spec is None or spec.loader is None or not file.is_file():
        raise SpecError(f"{file} is no Python file")
    module = importlib.util.module_from_spec(spec)
    with called_generator(), at_their_line(Place(str(spec.origin), 1)):
        spec.loader.exec_module(module)
    found = [e for e in _expressions(module) if getattr(OPERATORS.get(e.name), "stated", None) is not e.stated]
    if not found:
        raise SpecError(f"{file} holds no expression; write @expression above a function (docs/expressions.md)")
    _check_names(found)
    OPERATORS.update({e.name: e for e in found})
    return found


def _check_names(found: list[Expression]) -> None:
    """Names are neither those of the library nor those of expressions of other files."""
    read_before = {name: e for name, e in OPERATORS.items() if name not in _LIBRARY and isinstance(e, Expression)}
    for e in found:
        place = e.stated.place
        if e.name in _LIBRARY:
            raise SpecError(f"{place}: {e.name} is the name of an operator of the library; rename the function")
        same = read_before.get(e.name, e).stated.place
        others = [o.stated.place for o in found if o.name == e.name and o is not e]
        if others or same.file != place.file:
            raise SpecError(f"{place}: {e.name} is the name of another expression at {[*others, same][0]}; rename one")


def add_expression(formula: Formula) -> Expression:
    """Makes an expression of a program known; it takes the place of another one of its name that was made known so.

    Raises:
        SpecError: it has the name of an operator of the library.
    """
    if formula.name in _LIBRARY:
        raise SpecError(
            f"{formula.place}: {formula.name} is the name of an operator of the library; rename the function"
        )
    made = Expression(formula)
    OPERATORS[made.name] = made
    return made


def add_action(action: Action) -> list[str]:
    """Makes an action of a program known; it takes the place of another one of its name that was made known so.

    Returns:
        the names of its operators, and of those that it had before.

    Raises:
        SpecError: nothing follows from its statement, or its names are those of others.
    """
    if action.name in ACTIONS | SMEARINGS:
        raise SpecError(f"{action.place}: {action.name} is an action of the library; use another name")
    record = try_lower(action)
    if isinstance(record, Refused):
        raise SpecError(str(record))
    if not (action.has_matrix and action.parameters):
        raise SpecError(f"{action.place}: {action.name} has no dirac or no parameter; give it one, such as a mass")
    others = {name: r for name, r in RECORDS.items() if name != action.name}
    known = {o.name for o in stated_operators(others.values())}
    made = {o.name: o for o in stated_operators([*others.values(), record]) if o.name not in known}
    before = _OF_ACTIONS.get(action.name, [])
    for name in made.keys() & OPERATORS.keys() - set(before):
        raise SpecError(f"{action.place}: {name} of {action.name} is the name of another operator; use another name")
    for name in before:
        del OPERATORS[name]
    RECORDS[action.name], _OF_ACTIONS[action.name] = record, list(made)
    OPERATORS.update(made)
    return list(dict.fromkeys([*made, *before]))


_OF_ACTIONS: dict[str, list[str]] = {}
"""Operators of actions that were added, by the name of the action."""


def find_operator(name: str) -> Operator:
    """The operator of that name.

    Raises:
        SpecError: there is none.
    """
    if name not in OPERATORS and name in REFUSED:
        raise SpecError(f"operator '{name}': {REFUSED[name]}")
    if name not in OPERATORS:
        raise SpecError(f"operator '{name}' is unknown; use one of {', '.join(sorted(OPERATORS))}")
    return OPERATORS[name]


def kernel(operator: str, *axes: Any, **named: Any) -> KernelSpec:
    """The record of a kernel of an operator given by name.

    Raises:
        SpecError: the operator or a value is unknown.
    """
    return _record(find_operator(operator), axes, tuple(named.items()))


@cache
def _record(operator: Operator, axes: tuple[Any, ...], named: tuple[tuple[str, Any], ...]) -> KernelSpec:
    """Made once: what a profile includes asks for each some two hundred times."""
    return launched(KernelSpec(operator, *axes, **dict(named)))
