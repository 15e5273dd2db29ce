"""Numbers of a statement as functions of its parameters in C++."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..errors import ExpressionError
from ..language.graph import Node
from ..language.printed import literal
from ..lower.numbers import LEVELS, Product, collected, written

_SIGNS = {"add": "+", "sub": "-", "mul": "*", "div": "/"}
_FUNCTIONS = {"exp": "std::exp({})", "adj": "std::conj({})", "re": "Value({}.real())", "im": "Value({}.imag())"}


def number_function(rows: Iterable[Product], parameters: Sequence[str], *, is_complex: bool = False) -> str:
    """The text of a C++ lambda that computes a sum from the values `p[n]` of the parameters, real or complex."""
    rows = collected(rows)
    if not is_complex and any(_is_complex(n) for _, numbers in rows for n in numbers):
        is_complex = True
    terms = [(c, [_cpp(n, parameters, is_complex, 2) for n in numbers]) for c, numbers in rows]
    code = written(terms, " * ", "0", repr if is_complex else literal)
    p = " p" if "p[" in code else ""
    if is_complex:
        return f"+[](const Value*{p}) -> Value {{ return {code}; }}"
    return f"+[](const double*{p}) -> double {{ return {code}; }}"


def is_one(rows: Iterable[Product]) -> bool:
    """Whether a sum is the number 1."""
    return collected(rows) == ((1.0, ()),)


def _is_complex(node: Node) -> bool:
    return node.kind == "complex" or any(map(_is_complex, node.args))


def _cpp(node: Node, parameters: Sequence[str], is_complex: bool, level: int = 0) -> str:
    """A number as a C++ expression, in parentheses if it binds less strongly than `level`, that of its surroundings.

    Raises:
        ExpressionError: the number depends on more than the parameters.
    """
    if node.op == "parameter":
        return f"p[{parameters.index(node.data)}]"
    if node.op == "constant":
        return _constant(node.data, is_complex)
    if node.op == "promote":
        return _cpp(node.args[0], parameters, is_complex, level)
    if node.op in _FUNCTIONS:
        return _FUNCTIONS[node.op].format(_cpp(node.args[0], parameters, is_complex))
    own = LEVELS.get(node.op, 0)
    if not own:
        raise ExpressionError(f"{node.place}: {node}: numbers of an action are functions of its parameters")
    parts = [_cpp(a, parameters, is_complex, own + (n > 0)) for n, a in enumerate(node.args)]
    code = f"-{parts[0]}" if node.op == "neg" else f" {_SIGNS[node.op]} ".join(parts)
    return f"({code})" if own < level else code


def _constant(value: complex, is_complex: bool) -> str:
    if isinstance(value, complex) and value.imag:
        return f"Value({value.real!r}, {value.imag!r})"
    real = value.real
    code = repr(float(real)) if is_complex else literal(real)
    return code if real >= 0 else f"({code})"
