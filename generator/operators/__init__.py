"""All operators by name: those of the actions, expressions, vector updates, conversions."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import os
import pkgutil
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from ..actions import ACTIONS, SMEARINGS, WRONG_FILES
from ..alias import called_generator
from ..errors import SpecError
from ..language import Action, Formula
from ..language.formula import digest_of_formula
from ..language.place import Place, at_their_line
from ..launch import launched
from ..lazy import Lazy
from ..lower.record import Lowered, Refused, try_lower
from ..spec import KernelSpec, Operator
from .blas import UPDATES
from .block import BLOCK_KERNELS
from .coarse import COARSE_KERNELS
from .contractions import CONTRACTIONS
from .convert import SITE_KERNELS
from .expression import Expression
from .gauge import GAUGE_KERNELS
from .programs import ENDS
from .represent import REPRESENT
from .stated import SHARED, operators_of_record, place_in_profiles, stated_operators


def _expressions(module: ModuleType) -> list[Expression]:
    """Expressions of a module: functions with the decorator `expression`, and Expression objects."""
    found = [Expression(value) if isinstance(value, Formula) else value for value in vars(module).values()]
    return [e for e in found if isinstance(e, Expression)]


def names_of(*modules: str) -> tuple[str, ...]:
    """Names of all expressions of some modules of this folder."""
    return tuple(e.name for m in modules for e in _expressions(importlib.import_module(f"{__name__}.{m}")))


def _of_no_action() -> list[Operator]:
    names = sorted(m.name for m in pkgutil.iter_modules(__path__))
    modules = [importlib.import_module(f"{__name__}.{name}") for name in names]
    expressions = [e for m in modules for e in _expressions(m)]
    return [
        *expressions,
        *ENDS,
        *CONTRACTIONS,
        *UPDATES,
        *BLOCK_KERNELS,
        *COARSE_KERNELS,
        *SITE_KERNELS,
        *GAUGE_KERNELS,
        *REPRESENT,
    ]


REFUSED: dict[str, Refused] = {name: Refused(why) for name, why in WRONG_FILES.items()}
"""Statements that could not be lowered, with the reason, of those that were asked for: others are unaffected."""
UNPRINTED: dict[str, str] = {}
"""Kernels of forces that no kernel can hold, with the reason: their actions are solved for all the same."""


@cache
def _lower(action: Action) -> None:
    """Puts the record of a statement into RECORDS, or into REFUSED why it has none."""
    record, name = try_lower(action), action.name
    if name in _OF_NO_ACTION:
        record = Refused(f"{action.place}: {name} is the name of an operator of the library; rename the class")
    elif isinstance(record, Lowered) and record.own_digest:  # those of the project are tested
        record = _printed(record)
    if isinstance(record, Lowered):
        RECORDS[name] = record
    else:
        REFUSED[name] = record


def _lower_named(name: str) -> None:
    if action := (ACTIONS | SMEARINGS).get(name):
        _lower(action)


RECORDS: Lazy[Lowered] = Lazy(lambda: ACTIONS | SMEARINGS, _lower_named)
"""Records of all statements by name, each lowered when it is asked for."""


def _printed(record: Lowered) -> Lowered | Refused:
    """The record, or why its M is in no kernel; what its force lacks is noted."""
    try:
        with at_their_line(record.action.place):
            operators = stated_operators([record])
    except SpecError as error:
        return Refused(str(error))
    for operator in operators:
        try:
            with at_their_line(record.action.place):
                _ = operator.signature if isinstance(operator, Expression) else ""
        except SpecError as error:
            if not operator.name.startswith(("force_", "back_", "derivative_")):
                return Refused(str(error))
            UNPRINTED[operator.name] = f"{error}; without it rows of {record.name} serve solves, not `hmc`"
    return record


def alike(record: Lowered) -> Iterator[Lowered]:
    """Records with as many spins, lowered one by one, and the given one: what `first_alike` chooses from."""
    for action in sorted(ACTIONS.values(), key=lambda a: place_in_profiles(a.name)):
        with suppress(SpecError):  # of those that are refused
            if action.spins == record.action.spins and action.name in RECORDS:
                yield RECORDS[action.name]
    yield from (r for r in [*RECORDS.made.values(), record] if r.name not in ACTIONS)


@cache
def _operators_of(record: Lowered) -> list[Operator]:
    return [o for o in operators_of_record(record, alike) if o.name not in UNPRINTED]


@cache
def _make_operators(record: Lowered) -> None:
    """Puts the operators of a statement into OPERATORS."""
    for operator in _operators_of(record):
        _add(operator)


def _add(operator: Operator) -> None:
    if OPERATORS.made.setdefault(operator.name, operator) is not operator:
        raise SpecError(f"two operators are called {operator.name}; rename the action or expression")
    _LIBRARY.add(operator.name)


def _find(name: str) -> None:
    """Puts the operator of a name into OPERATORS: it has the name of its statement, or is shared by several."""
    own = [n for n in ACTIONS | SMEARINGS if f"_{n}_" in f"_{name}_"]
    shared = ACTIONS | SMEARINGS if SHARED.fullmatch(name) else ()
    for statement in (*own, *shared):
        if (statement in own or name not in OPERATORS.made) and (record := RECORDS.get(statement)):
            _make_operators(record)


OPERATORS: Lazy[Operator] = Lazy(lambda: ACTIONS | SMEARINGS, _find)
"""All operators by name; those of statements are made when they are asked for."""
_LIBRARY: set[str] = set()
"""Names of those that are no program's, as far as they were made."""
for _operator in _of_no_action():
    _add(_operator)
_OF_NO_ACTION = frozenset(_LIBRARY)


def _in_library(name: str) -> bool:
    return name in OPERATORS and name in _LIBRARY


def add_expressions(file: Path) -> list[Expression]:
    """Makes the expressions of a user's file known under their names.

    Raises:
        SpecError: the file cannot be run, holds none, or one has the name of an operator of the library.
    """
    module = _executed(file)
    found = [e for e in _expressions(module) if getattr(OPERATORS.get(e.name), "stated", None) is not e.stated]
    if not found:
        raise SpecError(f"{file} holds no expression; write @expression above a function (docs/expressions.md)")
    _check_names(found)
    OPERATORS.update({e.name: e for e in found})
    return found


def _executed(file: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(file.stem, file)
    if spec is None or spec.loader is None or not file.is_file():
        raise SpecError(f"{file} is no Python file")
    module = importlib.util.module_from_spec(spec)
    with called_generator(), at_their_line(Place(str(spec.origin), 1)):
        spec.loader.exec_module(module)
    _check_once(file)
    return module


def _check_once(file: Path) -> None:
    """Raises SpecError where a name is stated twice, of which Python keeps the second alone."""
    lines: dict[str, int] = {}
    for d in ast.parse(file.read_bytes()).body:
        if isinstance(d, ast.FunctionDef | ast.ClassDef) and d.decorator_list:
            if d.name in lines:
                raise SpecError(f"{file}:{d.lineno}: {d.name} is stated at line {lines[d.name]} already; rename one")
            lines[d.name] = d.lineno


def action_of_file(file: str) -> Action:
    """The action that a file states; `FILE:NAME` is one of several.

    Raises:
        SpecError: the file cannot be run, or states no action, or several and none is named.
    """
    path, _, name = file.partition(".py:")
    module = _executed(Path(path + ".py" if name else path))
    stated = [vars(v).get("action") for v in vars(module).values() if isinstance(v, type)]
    actions = [a for a in stated if isinstance(a, Action) and a.statement.__module__ == module.__name__]
    found = {a.name: a for a in actions}
    for a in dict.fromkeys(actions):
        if found[a.name] is not a:
            raise SpecError(f"{a.place}: {a.name} is stated at {found[a.name].place} as well; rename one")
    wanted = name.replace("-", "_") or next(iter(found), "")
    if wanted not in found or (len(found) > 1 and not name):
        there = f"it states {', '.join(found)}; give FILE:NAME" if found else "write @action above a class or function"
        raise SpecError(f"{file} is no file of one action; {there} (docs/howto-action.md)")
    return found[wanted]


def _check_names(found: list[Expression]) -> None:
    """Names are neither those of the library nor those of expressions of other files."""
    read_before = {n: e for n, e in OPERATORS.made.items() if n not in _LIBRARY and isinstance(e, Expression)}
    for e in found:
        place = e.stated.place
        if _in_library(e.name):
            raise SpecError(f"{place}: {e.name} is the name of an operator of the library; rename the function")
        same = read_before.get(e.name, e).stated.place
        others = [o.stated.place for o in found if o.name == e.name and o is not e]
        if others or os.path.realpath(same.file) != os.path.realpath(place.file):
            raise SpecError(f"{place}: {e.name} is the name of another expression at {[*others, same][0]}; rename one")


def add_expression(formula: Formula) -> Expression:
    """Makes an expression of a program known; if another one has its name, under that name and its digest.

    Raises:
        SpecError: it has the name of an operator of the library.
    """
    if _in_library(formula.name):
        raise SpecError(
            f"{formula.place}: {formula.name} is the name of an operator of the library; rename the function"
        )
    definition = formula.definition
    digest = digest_of_formula(definition)
    for name in (formula.name, f"{formula.name}_{digest[:8]}"):
        made = OPERATORS.setdefault(name, Expression(replace(formula, name=name, make=lambda: definition)))
        if isinstance(made, Expression) and digest_of_formula(made.definition) == digest:
            return made
    raise SpecError(f"{formula.place}: {formula.name} is the name of another operator; use another name")


def add_action(action: Action, *, with_digest: bool = False) -> Action:
    """Makes an action of a program known; if another statement has its name, under that name and its digest.

    Args:
        action: as it is stated.
        with_digest: in any case, so that other processes know its kernels by the same names.

    Returns:
        the action as it is known.

    Raises:
        SpecError: nothing follows from its statement, or its names are those of others.
    """
    if action.called in ACTIONS | SMEARINGS:
        raise SpecError(f"{action.place}: {action.called} is an action of the library; use another name")
    with at_their_line(action.place):
        says = action.says
    unique = replace(action, name=f"{action.called}_{says[:8]}")
    for known in (unique,) if with_digest else (action, unique):
        if known.name in RECORDS and RECORDS[known.name].action.says == says:
            return RECORDS[known.name].action
    action = unique if with_digest or action.name in RECORDS or action.name in OPERATORS else action
    record = try_lower(action)
    if isinstance(record, Lowered):
        record = _printed(record)
    if isinstance(record, Refused):
        raise SpecError(str(record))
    if not (action.has_matrix and action.parameters):
        raise SpecError(f"{action.place}: {action.name} has no dirac or no parameter; give it one, such as a mass")
    made = {o.name: o for o in _operators_of(record)}
    for name, operator in made.items():  # what others share is one object
        there = (OPERATORS if action.name in name else OPERATORS.made).get(name, operator)
        if there is not operator:
            raise SpecError(
                f"{action.place}: {name} of {action.name} is the name of another operator; use another name"
            )
    RECORDS[action.name] = record
    OPERATORS.update(made)
    return action


def find_operator(name: str) -> Operator:
    """The operator of that name.

    Raises:
        SpecError: there is none.
    """
    if name not in OPERATORS and (why := UNPRINTED.get(name, REFUSED.get(name))):
        raise SpecError(f"operator '{name}': {why}")
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
