"""All operators by name: those of the actions, expressions, vector updates, conversions."""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
import traceback
from pathlib import Path
from types import ModuleType
from typing import Any

from generator.actions import ACTIONS
from generator.language.operator import Expression
from generator.launch import launched
from generator.operator import Operator
from generator.operators.blas import UPDATES
from generator.operators.block import BLOCK_KERNELS
from generator.operators.convert import SITE_KERNELS
from generator.operators.forces import force_operators
from generator.operators.gauge import GAUGE_KERNELS
from generator.operators.stated import stated_operators
from generator.spec import KernelSpec, SpecError


def _modules() -> list[Operator]:
    names = sorted(m.name for m in pkgutil.iter_modules(__path__))
    loaded = [importlib.import_module(f"{__name__}.{name}") for name in names]
    alone = [m.OPERATOR for m in loaded if hasattr(m, "OPERATOR")]
    stated = stated_operators(ACTIONS.values())
    return [
        *stated,
        *force_operators(stated, ACTIONS.values()),
        *alone,
        *(e for m in loaded for e in _expressions(m)),
    ]


def _expressions(module: ModuleType) -> list[Expression]:
    return [value for value in vars(module).values() if isinstance(value, Expression)]


OPERATORS: dict[str, Operator] = {
    o.name: o for o in (*_modules(), *UPDATES, *BLOCK_KERNELS, *SITE_KERNELS, *GAUGE_KERNELS)
}
"""All operators by name."""


def add_expressions(file: Path) -> list[Expression]:
    """Makes the expressions of a user's file known under their names.

    Raises:
        SpecError: the file cannot be run, or holds none.
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
    found = _expressions(module)
    if not found:
        raise SpecError(f"{file} holds no expression; write @expression above a function (docs/expressions.md)")
    for e in found:
        other = OPERATORS.get(e.name)
        if other is not None and not isinstance(other, Expression):
            raise SpecError(f"{e.definition.place}: {e.name} is the name of another operator; rename the function")
        OPERATORS[e.name] = e
    return found


def find_operator(name: str) -> Operator:
    """The operator of that name.

    Raises:
        SpecError: there is none.
    """
    if name not in OPERATORS:
        raise SpecError(f"operator '{name}' is unknown; use one of {', '.join(sorted(OPERATORS))}")
    return OPERATORS[name]


def kernel(operator: str, *axes: Any, **named: Any) -> KernelSpec:
    """The record of a kernel of an operator given by name.

    Raises:
        SpecError: the operator or a value is unknown.
    """
    return launched(KernelSpec(find_operator(operator), *axes, **named))
