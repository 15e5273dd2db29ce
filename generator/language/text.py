"""The text of expressions, as a user would write them."""

from __future__ import annotations

from typing import Any

Node = Any
"""A node of generator/language/graph.py, whose nodes print themselves with this module."""

NAMES = ("x", "y", "z", "t", "mu", "nu", "rho", "sigma", "s")
"""Directions of the lattice, then those that come with a call, and the fifth dimension."""

_LEVEL = {"add": 1, "sub": 1, "neg": 2, "mul": 2, "div": 2}


def text(node: Node, names: dict[int, str] | None = None, *, level: int = 0, depth: int = -1) -> str:
    """The expression as a user would write it; nodes that have a name (by id), or stand too deep, are printed short."""
    if names and id(node) in names:
        return names[id(node)]
    if depth == 0 and node.args:
        return "..."
    if node.op == "promote":
        return text(node.args[0], names, level=level, depth=depth - 1)
    if node.op in ("load", "parameter"):
        return node.data if isinstance(node.data, str) else f"{node.data[0]}[{NAMES[node.data[1]]}]"
    if node.op == "constant":
        return _number_text(node.data)
    if node.op in ("identity", "gamma5"):
        return node.op
    if node.op in ("gamma", "tau"):
        return f"{node.op}[{NAMES[node.data] if node.op == 'gamma' else node.data}]"
    if node.op == "sign":
        return f"sign({', '.join(NAMES[mu] for mu in node.data)})"
    if node.op == "spin":
        rows = (", ".join(_number_text(c if c.imag else c.real) for c in row) for row in node.data)
        return f"spin({', '.join(rows)})"
    if node.op == "element":
        return f"{text(node.args[0], names, level=3, depth=depth - 1)}[{node.data[0]}, {node.data[1]}]"
    if node.op in _LEVEL:
        parts = [text(a, names, level=_LEVEL[node.op] + (i > 0), depth=depth - 1) for i, a in enumerate(node.args)]
        signs = {"add": " + ", "sub": " - ", "mul": "*", "div": "/"}
        written = f"-{parts[0]}" if node.op == "neg" else signs[node.op].join(parts)
        return f"({written})" if _LEVEL[node.op] < level else written
    arguments = [text(a, names, depth=depth - 1) for a in node.args]
    if node.op == "shift":
        arguments = [arguments[0], str(node.data), *(f"wall={wall}" for wall in arguments[1:])]
    return f"{node.op}({', '.join(arguments)})"


def _number_text(value: complex) -> str:
    if isinstance(value, complex):
        return f"({value.real!r} + {value.imag!r}*i)"
    return f"({value!r})" if value < 0 else repr(value)
