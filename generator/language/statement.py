"""A function as the statement of an action: the class that says the same."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from ..errors import ExpressionError
from .parameters import Parameter, parameter
from .place import Place, at_their_line
from .symbols import Complex, Real


def class_of(function: Callable[..., Any]) -> type:
    """The class whose `dirac` is a function of the fields, and whose parameters are the numbers that it takes.

    Numbers have their default, or what `parameter` says of them: `mass: Real = parameter(help="mass")`.

    Raises:
        ExpressionError: an annotation means nothing.
    """
    code = function.__code__
    place = Place(code.co_filename, code.co_firstlineno)
    with at_their_line(place):
        signature = inspect.signature(function, eval_str=True)
    numbers, fields = {}, []
    for p in signature.parameters.values():
        if p.annotation not in (Real, Complex):
            fields.append(p.replace(default=p.empty))
            continue
        if p.default is None:
            raise ExpressionError(f"{place}: {p.name} of {function.__name__}: its default is None; leave it out")
        default = None if p.default is p.empty else p.default
        if not isinstance(default, Parameter):
            default = parameter(default, help=f"{p.name} of {function.__name__}")
        numbers[p.name] = (p.annotation, default)

    def dirac(self: Any, *given: Any) -> Any:
        values = {f.name: g for f, g in zip(fields, given, strict=True)}
        return function(**values, **{name: getattr(self, name) for name in numbers})

    # Messages name the line of the function.
    dirac.__code__ = dirac.__code__.replace(co_filename=code.co_filename, co_firstlineno=code.co_firstlineno)
    own = inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY)
    takes = [own, *(f.replace(kind=f.POSITIONAL_ONLY) for f in fields)]
    dirac.__signature__ = inspect.Signature(takes, return_annotation=signature.return_annotation)  # type: ignore[attr-defined]
    members = {name: stated for name, (_, stated) in numbers.items()}
    annotations = {name: kind for name, (kind, _) in numbers.items()}
    name = "".join(word.capitalize() for word in function.__name__.split("_"))
    texts = {"__doc__": function.__doc__, "__module__": function.__module__, "__annotations__": annotations}
    return type(name, (), {**texts, **members, "dirac": dirac})
