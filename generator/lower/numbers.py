"""Numbers of a statement as C++: sums of constants times functions of the action's parameters."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from generator.emit.cpp import literal
from generator.language.graph import ExpressionError, Node

Product = tuple[float, tuple[Node, ...]]
"""A constant and the numbers that multiply it."""
_SIGNS = {"add": "+", "sub": "-", "mul": "*", "div": "/"}
_LEVELS = {"add": 1, "sub": 1, "neg": 3, "mul": 2, "div": 2}


def collected(rows: Iterable[Product]) -> tuple[Product, ...]:
    """The same sum with terms of equal numbers added up, in the order in which they were met."""
    found: dict[tuple[str, ...], Product] = {}
    for constant, numbers in (part for row in rows for part in _taken_apart(row)):
        key = tuple(map(str, numbers))
        before = found[key][0] if key in found else 0.0
        found[key] = (before + constant, numbers)
    return tuple(row for row in found.values() if row[0] != 0)


def _taken_apart(row: Product) -> list[Product]:
    """A constant times one sum as several terms."""
    constant, numbers = row
    if len(numbers) != 1:
        return [row]
    (node,) = numbers
    if node.op == "constant" and not isinstance(node.data, complex):
        return [(constant * node.data, ())]
    if node.op == "neg":
        return _taken_apart((-constant, node.args))
    if node.op in ("add", "sub"):
        second = -constant if node.op == "sub" else constant
        return [*_taken_apart((constant, node.args[:1])), *_taken_apart((second, node.args[1:]))]
    if node.op == "mul" and node.args[0].op == "constant" and not isinstance(node.args[0].data, complex):
        return _taken_apart((constant * node.args[0].data, node.args[1:]))
    return [row]


def cpp_sum(rows: Iterable[Product], parameters: Sequence[str]) -> str:
    """A C++ expression of the values `p[n]` of the parameters."""
    return _written([(c, [_cpp(n, parameters, 2) for n in numbers]) for c, numbers in collected(rows)], " * ", "0")


def printed_sum(rows: Iterable[Product]) -> str:
    """The same for people."""
    return _written([(c, [_text(n) for n in numbers]) for c, numbers in collected(rows)], " ", "0")


def _written(terms: Sequence[tuple[float, list[str]]], times: str, nothing: str) -> str:
    written = ""
    for constant, factors in terms:
        size = abs(constant)
        term = times.join(([literal(size)] if size != 1 or not factors else []) + factors)
        sign = "-" if constant < 0 else "+" if written else ""
        written += f" {sign} {term}" if written else f"{sign}{term}"
    return written or nothing


def _text(node: Node) -> str:
    printed = str(node)
    return f"({printed})" if _LEVELS.get(node.op, 9) < 2 else printed


def _cpp(node: Node, parameters: Sequence[str], level: int = 0) -> str:
    """An expression of a number; in parentheses where it stands in one that binds more strongly.

    Raises:
        ExpressionError: it is complex, or no function of the parameters.
    """
    if node.op == "parameter":
        return f"p[{parameters.index(node.data)}]"
    if node.op == "constant" and not isinstance(node.data, complex):
        return literal(node.data) if node.data >= 0 else f"({literal(node.data)})"
    if node.op == "exp":
        return f"std::exp({_cpp(node.args[0], parameters)})"
    own = _LEVELS.get(node.op, 0)
    if not own:
        raise ExpressionError(f"{node.place}: {node}: numbers of an action are real functions of its parameters")
    parts = [_cpp(a, parameters, own + (n > 0)) for n, a in enumerate(node.args)]
    written = f"-{parts[0]}" if node.op == "neg" else f" {_SIGNS[node.op]} ".join(parts)
    return f"({written})" if own < level else written
