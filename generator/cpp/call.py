"""Calls of expressions in C++: typed functions, and what bodies make of the arguments of a launch."""

from __future__ import annotations

from typing import Any

from ..language.formula import Definition
from ..lower.propagators import gamma_products
from .expressions import statements_of
from .names import cpp_name

FIELD_POOL = ("x", "y", "z", "w", "in", "term", "links", "out", *(f"more[{n}]" for n in range(4)))
"""Members of runtime/kernels/arguments.hpp that hold fields."""
NUMBER_POOL = ("a", "b", "c", *(f"numbers[{n}]" for n in range(6)))
"""Members that hold complex numbers, or two real ones each."""
VALUES = ("real", "complex", "direction", "gamma")
"""Kinds of arguments that are passed by value."""
_CPP_TYPES = {
    "real": "double",
    "complex": "Complex64",
    "spinor": "SpinorField",
    "fermion": "SpinorField",
    "propagator": "SpinorField",
    "staggered_propagator": "SpinorField",
    "direction": "LatticeDirection",
    "gamma": "GammaProduct",
}
_BODY_TYPES = {
    "Spinors": "SpinorView<Codec, S, W>",
    "Links": "LinkView<LinkCodec, Storage, W>",
    "Matrices": "LinkView<LinkCodec, R18, W>",
    "Momenta": "LinkView<LinkCodec, A8, W>",
    "Numbers": "NumberView<LinkCodec, W>",
    "R": "Lanes<typename LinkCodec::Element, W>",
}


def body_types(two_rows: bool) -> list[tuple[str, str]]:
    """Names that statements of a body use, and what they are there: links of which two rows are enough, or all."""
    types = _BODY_TYPES | ({"Links": f"TwoRows<{_BODY_TYPES['Links']}, R12>"} if two_rows else {})
    return list(types.items())


def number_of_call(name: str, kind: str, where: str) -> str:
    """The statement of a body that reads a number of the call, or a direction, from its place in the arguments."""
    if kind == "direction":
        place = int(where)
        return f"const int {name} = a.direction{f' >> {2 * place}' if place else ''} & 3;"
    if kind == "gamma":
        flips, units = gamma_products()
        words = f"{flips:#x}u, {{{', '.join(f'{u:#x}ull' for u in units)}}}"
        return f"const GammaElements {cpp_name(name)} = {{a.direction >> {2 * int(where)} & 15, {words}}};"
    if kind == "complex":
        return f"const auto {cpp_name(name)} = complex_scalar<R>(a.{where});"
    return f"const R {cpp_name(name)} = R{{}} + scalar<R>(a.{where});"


def typed_call(name: str, definition: Definition, *, sums: bool, has_settings: bool) -> dict[str, Any]:
    """Data of the typed C++ call of an expression."""
    inputs, outputs = definition.inputs, definition.outputs
    given, written = (", ".join(cpp_name(n) for n, _ in some) for some in (inputs, outputs))
    parameters = [_parameter(cpp_name(n), k) for n, k in inputs]
    parameters += [f"{_cpp_type(k)}& {cpp_name(n)}" for n, k in outputs]
    settings = ""
    if has_settings:
        parameters.append("const ExpressionSettings& settings")
        settings = ", settings"
    returns, before = ("std::vector<double>", "return ") if sums else ("void", "")
    return {
        "name": name,
        "text": statements_of(definition.text),
        "declaration": f"inline {returns} {cpp_name(name)}({', '.join(parameters)})",
        "evaluation": f'{before}evaluate("{name}", {{{given}}}, {{{written}}}{settings})',
    }


def _cpp_type(kind: str) -> str:
    return _CPP_TYPES.get(kind, "LinkField")


def _parameter(name: str, kind: str) -> str:
    return f"{_cpp_type(kind)} {name}" if kind in VALUES else f"const {_cpp_type(kind)}& {name}"
