"""All operators by name: those of the actions, expressions, vector updates, conversions."""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
import traceback
from pathlib import Path
from types import ModuleType
from typing import Any

from generator.actions import ACTIONS, SMEARINGS, WRONG_FILES
from generator.errors import SpecError
from generator.language import Formula
from generator.launch import launched
from generator.lower.record import Lowered, Refused, try_lower
from generator.operators.blas import UPDATES
from generator.operators.block import BLOCK_KERNELS
from generator.operators.convert import SITE_KERNELS
from generator.operators.expression import Expression
from generator.operators.gauge import GAUGE_KERNELS
from generator.operators.represent import REPRESENT
from generator.operators.stated import stated_operators
from generator.spec import KernelSpec, Operator


def _statements() -> tuple[dict[str, Lowered], dict[str, Refused]]:
    """Records of all actions and smearings by name, and why others have none: others are unaffected."""
    found = {name: try_lower(action) for name, action in (ACTIONS | SMEARINGS).items()}
    lowered = {n: r for n, r in found.items() if isinstance(r, Lowered)}
    refused = {n: r for n, r in found.items() if isinstance(r, Refused)}
    return lowered, refused | {n: Refused(why) for n, why in WRONG_FILES.items()}


RECORDS, REFUSED = _statements()
"""By name what follows from each statement; and those from which nothing does, with the reason."""


def _expressions(module: ModuleType) -> list[Expression]:
    """What a module states: functions with the decorator `expression`, and expressions with more said of them."""
    found = [Expression(value) if isinstance(value, Formula) else value for value in vars(module).values()]
    return [e for e in found if isinstance(e, Expression)]


def _library() -> dict[str, Operator]:
    names = sorted(m.name for m in pkgutil.iter_modules(__path__))
    modules = [importlib.import_module(f"{__name__}.{name}") for name in names]
    all_operators = [
        *stated_operators(RECORDS.values()),
        *(e for m in modules for e in _expressions(m)),
        *(*UPDATES, *BLOCK_KERNELS, *SITE_KERNELS, *GAUGE_KERNELS, *REPRESENT),
    ]
    found: dict[str, Operator] = {}
    for operator in all_operators:
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
    try:
        spec.loader.exec_module(module)
    except SpecError:
        raise
    except Exception as error:
        line = traceback.extract_tb(error.__traceback__)[-1]
        raise SpecError(f"{line.filename}:{line.lineno}: {type(error).__name__}: {error}") from error
    found = [e for e in _expressions(module) if getattr(OPERATORS.get(e.name), "stated", None) is not e.stated]
    if not found:
        raise SpecError(f"{file} holds no expression; write @expression above a function (docs/expressions.md)")
    for e in found:
        if e.name in _LIBRARY:
            raise SpecError(
                f"{e.definition.place}: {e.name} is the name of an operator of the library; rename the function"
            )
        OPERATORS[e.name] = e
    return found


def find_operator(name: str) -> Operator:
    """The operator of that name.

    Raises:
        SpecError: there is none.
    """
    if name in REFUSED:
        raise SpecError(f"operator '{name}': {REFUSED[name]}")
    if name not in OPERATORS:
        raise SpecError(f"operator '{name}' is unknown; use one of {', '.join(sorted(OPERATORS))}")
    return OPERATORS[name]


def kernel(operator: str, *axes: Any, **named: Any) -> KernelSpec:
    """The record of a kernel of an operator given by name.

    Raises:
        SpecError: the operator or a value is unknown.
    """
    return launched(KernelSpec(find_operator(operator), *axes, **named))
