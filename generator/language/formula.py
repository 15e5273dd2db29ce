"""Functions over lattice fields: the decorator `expression`, and what a function is for symbols in place of fields."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from re import fullmatch
from typing import Any

from ..errors import ExpressionError, SpecError
from .graph import FIFTH, NAMES, Direction, Node, check_size, make
from .place import Place, at_their_line, here
from .printed import digest_of, printed
from .symbols import (
    FIELDS,
    PARAMETERS,
    PROPAGATORS,
    SPINORS,
    Algebra,
    Sum,
    symbol,
)


@dataclass(frozen=True)
class Definition:
    """A function, called once with symbols.

    Attributes:
        name: of the expression and its kernels.
        place: where it stands.
        text: its docstring's first line.
        inputs: (name, kind) of fields, numbers and directions, in the order of the function: those of PARAMETERS.
        outputs: (name, kind) of fields it writes.
        results: for each output its components (one for a spinor, a dictionary by direction for matrices: all four, or
            those of directions that come with the call).
        sums: numbers of the whole lattice, as `total` makes them.
    """

    name: str
    place: Place
    text: str
    inputs: tuple[tuple[str, str], ...]
    outputs: tuple[tuple[str, str], ...]
    results: tuple[Any, ...]
    sums: tuple[Node, ...] = ()


@dataclass(frozen=True, eq=False)
class Formula:
    """A function over lattice fields under a name.

    Attributes:
        name: of its kernels: small letters and digits.
        make: gives its definition, when that is first asked for.
        group: the translation unit that it shares with others; empty for its own.
        function: as it was written; None for what follows from others.
    """

    name: str
    make: Callable[[], Definition]
    group: str = ""
    function: Callable[..., Any] | None = None

    def __post_init__(self) -> None:
        if not fullmatch(r"[a-z]\w*", self.name, re.ASCII):
            where = f"{self.place}: " if self.function else ""
            raise SpecError(f"{where}{self.name!r} is part of names of kernels; use small letters and digits")

    @property
    def place(self) -> Place:
        """Where the function stands."""
        return _place(self.function)

    def __call__(self, *arguments: Any) -> Any:
        """The function itself: expressions may use each other."""
        assert self.function is not None
        return self.function(*arguments)

    @cached_property
    def definition(self) -> Definition:
        """The result of the function, called with symbols.

        Raises:
            ExpressionError: at the line of the user that is wrong.
        """
        return self.make()


def expression(function: Callable[..., Any] | str = "", *, group: str = "") -> Any:
    """Decorator: makes a function over lattice fields an expression; `@expression` or `@expression("name")`.

    Small ones of one `group` share a translation unit.
    """
    if isinstance(function, str):
        return lambda inner: named(inner, function, group)
    if not inspect.isfunction(function):
        raise ExpressionError(f"{here()}: {function!r} is no function; write @expression above `def`")
    return named(function)


def named(function: Callable[..., Any], name: str = "", group: str = "") -> Formula:
    """A function as a formula; by default under its own name."""
    name = name or function.__name__
    return Formula(name, lambda: define(function, name), group, function)


def define(function: Callable[..., Any], name: str = "") -> Definition:
    """Calls a function with symbols and checks what it returns.

    Raises:
        ExpressionError: an annotation is missing, or the results are not what the annotation says.
    """
    function = functools.partial(function) if not hasattr(function, "__code__") else function
    inner = getattr(function, "func", function)
    place = _place(inner)
    with at_their_line(place):
        signature = inspect.signature(function, eval_str=True)
    name = name or inner.__name__
    symbols, inputs = [], []
    for parameter in signature.parameters.values():
        kind = PARAMETERS.get(parameter.annotation)
        if kind is None:
            known = ", ".join(c.__name__ for c in PARAMETERS)
            raise ExpressionError(f"{place}: parameter {parameter.name} of {name} needs an annotation: {known}")
        if parameter.name in ("i", "identity") or fullmatch(r"part\d+", parameter.name) or not parameter.name.isascii():
            raise ExpressionError(f"{place}: {parameter.name} means something else in formulas; rename the parameter")
        if parameter.kind != parameter.POSITIONAL_OR_KEYWORD or parameter.default is not parameter.empty:
            raise ExpressionError(f"{place}: {parameter.name} of {name}: parameters are plain and have no default")
        inputs.append((parameter.name, kind))
        given = _direction(place, parameter.name) if kind == "direction" else symbol(parameter.name, kind)
        symbols.append(replace(given, place=place) if isinstance(given, Node) else given)
    with at_their_line(place):
        value = function(*symbols)
    if value is None:
        raise ExpressionError(f"{place}: {name} returns nothing; end it with `return` and the result")
    results = value if isinstance(value, tuple) else (value,)
    returns = signature.return_annotation
    kinds = returns if isinstance(returns, tuple) else getattr(returns, "__args__", (returns,))
    doc = (inspect.getdoc(inner) or "").partition("\n\n")[0].replace("\n", " ")
    for r in results:
        for node in r.values() if isinstance(r, dict) else (r,):
            if isinstance(node, Node):
                check_size(node)
    added = [isinstance(r, Node) and r.kind == "sum" for r in results]
    fields = added.count(False)
    sums = results[fields:]
    if any(added[:fields]):
        raise ExpressionError(f"{place}: {name} returns sums before fields; return fields first")
    if fields == 0:
        return Definition(name, place, doc, tuple(inputs), (), (), sums)
    if sums and (len(kinds) != len(results) or any(kind is not Sum for kind in kinds[fields:])):
        raise ExpressionError(f"{place}: {name} returns {len(sums)} sums after {fields} fields; annotate each with Sum")
    outputs = _outputs(place, name, kinds[:fields], results[:fields], {n for n, _ in inputs})
    return Definition(name, place, doc, tuple(inputs), outputs, results[:fields], sums)


def _place(function: Any) -> Place:
    return Place(function.__code__.co_filename, function.__code__.co_firstlineno)


def _direction(place: Place, name: str) -> Direction:
    if name not in NAMES[4:FIFTH]:
        raise ExpressionError(f"{place}: directions of a call are called mu, nu, rho and sigma; rename {name}")
    return Direction(NAMES.index(name))


def _outputs(
    place: Place, name: str, kinds: tuple[Any, ...], results: tuple[Any, ...], taken: set[str]
) -> tuple[tuple[str, str], ...]:
    """Names and kinds of the fields written: `out`, or `out_1`, `out_2`, ..."""
    written = [c for c in FIELDS if FIELDS[c] not in ("scalars", "phases")]
    if len(kinds) != len(results) or any(k not in written for k in kinds):
        known = ", ".join(c.__name__ for c in written)
        raise ExpressionError(f"{place}: {name} returns {len(results)} values; annotate each with one of {known}")
    outputs = []
    for n, (kind, result) in enumerate(zip(kinds, results, strict=True)):
        out = "out" if len(results) == 1 else f"out_{n + 1}"
        while out in taken:
            out += "_"
        outputs.append((out, FIELDS[kind]))
        if FIELDS[kind] in SPINORS:
            if not (isinstance(result, Node) and result.kind == "spinor"):
                raise ExpressionError(f"{place}: {name} promises a Spinor and returns {result}")
        elif FIELDS[kind] in PROPAGATORS:
            if not (isinstance(result, Node) and result.kind == symbol("", FIELDS[kind]).kind):
                raise ExpressionError(f"{place}: {name} promises a {kind.__name__} and returns {result}")
        else:
            _check_matrices(place, name, result, algebra=kind is Algebra)
    return tuple(outputs)


def _check_matrices(place: Place, name: str, result: Any, *, algebra: bool) -> None:
    keys = list(result) if isinstance(result, dict) else [None]
    called = [isinstance(d, Direction) and d.comes_with_call for d in keys]
    if not (keys and all(called)) and {getattr(d, "index", -1) for d in keys} != set(range(4)):
        raise ExpressionError(
            f"{place}: {name} promises matrices; return a dictionary {{mu: matrix}} of all four, or of directions "
            "that come with the call"
        )
    for mu, given in result.items():
        if not isinstance(given, Node) or given.kind != "matrix" or (algebra and not given.algebra):
            what = "an element of the algebra; use ta(...)" if algebra else "a matrix"
            where = given.place if isinstance(given, Node) and given.place.line else place
            raise ExpressionError(f"{where}: {name}, direction {mu.name}: {given} is not {what}")


def parameter_symbol(name: str, kind: str = "real") -> Node:
    """A number that comes with the call."""
    return make("parameter", kind, (), name)


def digest_of_formula(definition: Definition) -> str:
    """Of what it computes and of how it is called."""
    return digest_of(*map(str, (definition.inputs, definition.outputs)), statements_of_formula(definition))


def statements_of_formula(definition: Definition) -> str:
    """The formula as written, statement by statement."""
    roots: list[tuple[str, Node]] = []
    for (output, _), result in zip(definition.outputs, definition.results, strict=True):
        if isinstance(result, dict):
            ordered = sorted(result.items(), key=lambda item: item[0].index)
            roots += [(f"{output}[{mu.name}] = ", m) for mu, m in ordered]
        else:
            roots.append((f"{output} = ", result))
    return printed([*roots, *(("", s) for s in definition.sums)])
