"""Numbers of a statement: sums of constants times functions of the action's parameters."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import frexp

from ..language.graph import Node, make
from ..language.printed import literal

Product = tuple[float, tuple[Node, ...]]
"""A constant and the numbers that multiply it."""
LEVELS = {"add": 1, "sub": 1, "neg": 3, "mul": 2, "div": 2}
"""Precedence of arithmetic operators."""


def collected(rows: Iterable[Product]) -> tuple[Product, ...]:
    """The sum with terms of equal numbers collected, in their original order."""
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
    if node.op == "div" and node.args[0].op == "neg":
        return _taken_apart((-constant, (make("div", node.kind, (node.args[0].args[0], node.args[1])),)))
    if node.op == "div" and node.args[1].op == "mul" and node.args[1].args[0].op == "constant":
        size, rest = node.args[1].args
        if not isinstance(size.data, complex) and frexp(size.data)[0] == 0.5 and node.args[0].op != "constant":
            return _taken_apart((constant / size.data, (make("div", node.kind, (node.args[0], rest)),)))
    if node.op == "mul" and node.args[0].op == "constant" and not isinstance(node.args[0].data, complex):
        return _taken_apart((constant * node.args[0].data, node.args[1:]))
    return [row]


def printed_sum(rows: Iterable[Product]) -> str:
    """A sum for people."""
    return written([(c, [_text(n) for n in numbers]) for c, numbers in collected(rows)], " ", "0")


def written(
    terms: Sequence[tuple[float, list[str]]], times: str, nothing: str, write: Callable[[float], str] = literal
) -> str:
    """Constants times factors, one after the other with their signs."""
    text = ""
    for constant, factors in terms:
        size = abs(constant)
        term = times.join(([write(size)] if size != 1 or not factors else []) + factors)
        sign = "-" if constant < 0 else "+" if text else ""
        text += f" {sign} {term}" if text else f"{sign}{term}"
    return text or nothing


def _text(node: Node) -> str:
    printed = str(node)
    return f"({printed})" if LEVELS.get(node.op, 9) < 2 or printed.startswith("-") else printed
